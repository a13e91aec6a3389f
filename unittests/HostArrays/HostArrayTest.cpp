//===- HostArrayTest.cpp - Packing of operands ----------------------------===//

#include "furiosa/HostArrays/HostArray.h"

#include "gtest/gtest.h"

using namespace furiosa;

static OperandLayout layoutOf(ElementType type, std::vector<HostAxis> axes,
                              llvm::StringRef element,
                              llvm::StringRef chip = "1") {
  auto layout = OperandLayout::get(type, axes, chip, element);
  if (layout)
    return *layout;
  ADD_FAILURE() << llvm::toString(layout.takeError());
  return {};
}

static std::string faultOf(ElementType type, std::vector<HostAxis> axes,
                           llvm::StringRef element) {
  auto layout = OperandLayout::get(type, axes, "1", element);
  if (layout)
    return "";
  return llvm::toString(layout.takeError());
}

TEST(OperandLayout, AxesInOrderOfAppearance) {
  auto layout = layoutOf(ElementType::I8, {{"A", 4}, {"B", 6}, {"C", 2}},
                         "B / 2, A, B % 2");
  EXPECT_EQ(layout.axes(), (std::vector<std::string>{"B", "A"}));
  EXPECT_EQ(layout.shape(), (std::vector<int64_t>{6, 4}));
  EXPECT_EQ(layout.sizeInBytes(), 24u);
  EXPECT_EQ(layout.liveCells(), 24u);
}

TEST(OperandLayout, PackAndUnpack) {
  // B outermost by twos, padding behind each row of A.
  auto layout =
      layoutOf(ElementType::I16, {{"A", 3}, {"B", 4}}, "B / 2, A # 4, B % 2");
  HostArray array = layout.makeArray();
  for (int64_t b = 0; b < 4; ++b)
    for (int64_t a = 0; a < 3; ++a) {
      array.codes[b * 3 + a] = 0x100 * b + a;
      array.defined[b * 3 + a] = 1;
    }
  array.defined[3 * 3 + 2] = 0; // B = 3, A = 2
  auto packed = packOperand(layout, array);
  ASSERT_TRUE(bool(packed));
  ASSERT_EQ(packed->bytes.size(), 32u);
  auto word = [&](int64_t b, int64_t a) {
    int64_t at = 2 * ((b / 2 * 4 + a) * 2 + b % 2);
    return packed->bytes[at] + 256 * packed->bytes[at + 1];
  };
  EXPECT_EQ(word(2, 1), 0x201);
  EXPECT_EQ(word(3, 0), 0x300);
  EXPECT_EQ(word(3, 2), 0);
  std::vector<uint8_t> marks(32, 1);
  for (int64_t at : {12, 13, 14, 15, 28, 29, 30, 31}) // A = 3
    marks[at] = 0;
  marks[26] = marks[27] = 0; // the undefined cell
  EXPECT_EQ(packed->defined, marks);

  auto back = unpackOperand(layout, packed->bytes, packed->defined);
  ASSERT_TRUE(bool(back));
  array.codes[11] = 0;
  EXPECT_EQ(back->codes, array.codes);
  EXPECT_EQ(back->defined, array.defined);
}

TEST(OperandLayout, FourBitCells) {
  auto layout = layoutOf(ElementType::I4, {{"A", 3}, {"B", 2}}, "B, A # 4");
  HostArray array = layout.fill(Fill::iota(1));
  auto packed = packOperand(layout, array);
  ASSERT_TRUE(bool(packed));
  EXPECT_EQ(packed->bytes, (std::vector<uint8_t>{0x21, 0x03, 0x65, 0x07}));
  // A byte counts as defined by its live half.
  EXPECT_EQ(packed->defined, (std::vector<uint8_t>{1, 1, 1, 1}));
  auto back = unpackOperand(layout, packed->bytes, packed->defined);
  ASSERT_TRUE(bool(back));
  EXPECT_EQ(back->codes, array.codes);
  array.defined[0] = 0;
  packed = packOperand(layout, array);
  ASSERT_TRUE(bool(packed));
  EXPECT_EQ(packed->defined, (std::vector<uint8_t>{0, 1, 1, 1}));
}

TEST(OperandLayout, FillCountsPositions) {
  // Padding takes numbers: row 1 begins at 4.
  auto layout = layoutOf(ElementType::I32, {{"A", 3}, {"B", 2}}, "B, A # 4");
  EXPECT_EQ(layout.fill(Fill::iota()).codes,
            (std::vector<uint32_t>{0, 1, 2, 4, 5, 6}));
}

TEST(OperandLayout, OvershootIsPadding) {
  auto layout = layoutOf(ElementType::I32, {{"A", 6}}, "A # 8 / 4, A # 8 % 4");
  EXPECT_EQ(layout.shape(), (std::vector<int64_t>{6}));
  EXPECT_EQ(layout.liveCells(), 6u);
  EXPECT_EQ(layout.sizeInBytes(), 32u);
  EXPECT_EQ(layout.fill(Fill::iota()).codes,
            (std::vector<uint32_t>{0, 1, 2, 3, 4, 5}));
}

TEST(OperandLayout, Scalar) {
  auto layout = layoutOf(ElementType::F32, {{"A", 6}}, "1 # 8");
  EXPECT_TRUE(layout.shape().empty());
  EXPECT_EQ(layout.fill(Fill::constant(1)).codes,
            (std::vector<uint32_t>{0x3F800000}));
}

TEST(OperandLayout, Chips) {
  auto layout = layoutOf(ElementType::U8, {{"A", 4}}, "A % 2", "A / 2");
  auto packed = packOperand(layout, layout.fill(Fill::iota(5)));
  ASSERT_TRUE(bool(packed));
  EXPECT_EQ(packed->bytes, (std::vector<uint8_t>{5, 6, 7, 8}));
}

TEST(OperandLayout, Faults) {
  EXPECT_EQ(faultOf(ElementType::I4, {{"A", 3}}, "A"),
            "element \"A\" is no whole number of bytes");
  EXPECT_EQ(faultOf(ElementType::I8, {{"A", int64_t(1) << 40}}, "A"),
            "not yet supported: a mapping term with more than 67108864 live "
            "cells");
  EXPECT_EQ(faultOf(ElementType::I8,
                    {{"A", int64_t(1) << 20}, {"B", int64_t(1) << 20}}, "A, B"),
            "not yet supported: an HBM tensor with more than 67108864 cells");
  auto layout = layoutOf(ElementType::I8, {{"A", 3}}, "A");
  HostArray array = layout.makeArray();
  array.shape = {4};
  EXPECT_EQ(llvm::toString(layout.check(array)),
            "array is i8 [A = 4] with 3 codes, expected i8 [A = 3]");
  auto short_ = unpackOperand(layout, {}, {});
  ASSERT_FALSE(bool(short_));
  llvm::consumeError(short_.takeError());
}

TEST(OperandSummary, ByPosition) {
  auto layout = layoutOf(ElementType::I8, {{"A", 2}, {"B", 2}}, "B, A");
  HostArray array = layout.makeArray();
  array.codes = {1, 2, 3, 4};
  array.defined = {1, 0, 1, 1};
  auto summary = summarize(layout, array, 3);
  ASSERT_TRUE(bool(summary));
  EXPECT_EQ(summary->count, 4u);
  EXPECT_EQ(summary->undefined, 1u);
  EXPECT_EQ(summary->first, (std::vector<uint32_t>{1, 0, 3}));
}
