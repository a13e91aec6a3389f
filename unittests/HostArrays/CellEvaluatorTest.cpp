//===- CellEvaluatorTest.cpp - Texts and live cells -----------------------===//

#include "furiosa/HostArrays/CellEvaluator.h"

#include "gtest/gtest.h"

using namespace furiosa;

static const std::vector<HostAxis> axes = {
    {"A", 8}, {"B", 3}, {"Big", int64_t(1) << 40}};

static CellEvaluator parse(llvm::StringRef text) {
  auto mapping = CellEvaluator::parse(text, axes);
  if (mapping)
    return *mapping;
  ADD_FAILURE() << llvm::toString(mapping.takeError());
  return *CellEvaluator::parse("1", {});
}

static std::vector<TermCells> termsOf(llvm::StringRef text) {
  auto terms = parse(text).terms(1000);
  if (terms)
    return *terms;
  ADD_FAILURE() << llvm::toString(terms.takeError());
  return {};
}

TEST(CellEvaluator, HugeAxesAreNotWalkedThrough) {
  auto window = termsOf("Big / 1024 = 4 # 1073741824, Big % 1024 = 2 # 1024");
  ASSERT_EQ(window.size(), 2u);
  EXPECT_EQ(window[0].positions, (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(window[0].coordinates, (std::vector<int64_t>{0, 1024, 2048, 3072}));
  EXPECT_EQ(window[1].size, 1024);
  EXPECT_EQ(window[1].positions, (std::vector<int64_t>{0, 1}));
  auto pad = termsOf("[1 # 1099511627776, A = 2] # 4398046511104");
  ASSERT_EQ(pad.size(), 1u);
  EXPECT_EQ(pad[0].coordinates, (std::vector<int64_t>{0, 1}));
  auto digit = termsOf("Big / 536870912 % 4");
  EXPECT_EQ(digit[0].coordinates,
            (std::vector<int64_t>{0, 536870912, 1073741824, 1610612736}));
}

TEST(CellEvaluator, TooManyLiveCells) {
  auto terms = parse("Big").terms(1000);
  ASSERT_FALSE(bool(terms));
  EXPECT_EQ(llvm::toString(terms.takeError()),
            "not yet supported: a mapping term with more than 1000 live cells");
}

TEST(CellEvaluator, CompositeTerm) {
  auto terms = termsOf("[B, A % 2] # 8 / 2");
  ASSERT_EQ(terms.size(), 1u);
  EXPECT_EQ(terms[0].axes, (std::vector<int>{0, 1}));
  EXPECT_EQ(terms[0].positions, (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(terms[0].coordinates, (std::vector<int64_t>{0, 0, 0, 1, 0, 2}));
}

TEST(CellEvaluator, Faults) {
  auto messageOf = [](llvm::StringRef text) {
    auto mapping = CellEvaluator::parse(text, axes);
    if (mapping)
      return std::string();
    return llvm::toString(mapping.takeError());
  };
  EXPECT_EQ(messageOf("A / 3"),
            "mapping \"A / 3\", column 5: 3 does not divide 8");
  EXPECT_EQ(messageOf("C"), "mapping \"C\", column 1: unknown axis 'C'");
  EXPECT_EQ(messageOf("[A"),
            "mapping \"[A\", column 3: expected the closing bracket");
  EXPECT_NE(messageOf("Big, Big"), "");
  EXPECT_NE(messageOf(std::string(1000, '[')), "");
  std::string chain = "A";
  for (int i = 0; i < 5000; ++i)
    chain += " # " + std::to_string(9 + i);
  EXPECT_NE(messageOf(chain), "");
}
