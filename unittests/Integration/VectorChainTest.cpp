//===- VectorChainTest.cpp - Generated chains of vector stages ------------===//
//
// Each kernel is drawn with plain loops over the cells of its stream.
// Interpreter and simulator give what the loops give. With one fault planted in
// its text a kernel is refused, or both semantics agree.
//
// FURIOSA_SEED and FURIOSA_GENERATED_CASES set what is drawn.
//
//===----------------------------------------------------------------------===//

#include "VectorKernel.h"

#include "furiosa/Support/Fill.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

#include <iostream>

using namespace furiosa;
using namespace furiosa::test;
using namespace furiosa::test::vectors;

namespace {

/// Draws kernels such that none of their kinds is rare.
class Source {
public:
  explicit Source(const GeneratedCases &cases)
      : cases(cases), random(cases.first) {
    for (const std::string &kind : getVectorKinds())
      histogram[kind] = 0;
  }

  /// A kernel of the kind that has been drawn least.
  VectorKernel draw() {
    std::vector<std::string> rarest;
    unsigned least = UINT_MAX;
    for (const auto &[kind, count] : histogram)
      least = std::min(least, count);
    for (const auto &[kind, count] : histogram)
      if (count == least)
        rarest.push_back(kind);
    const std::string wanted = rarest[random() % rarest.size()];
    for (unsigned tries = 0; tries < 100000; ++tries) {
      VectorKernel kernel = drawVectorKernel(random);
      if (!kernel.kinds.count(wanted))
        continue;
      for (const std::string &kind : kernel.kinds) {
        auto it = histogram.find(kind);
        EXPECT_NE(it, histogram.end()) << "no kind of the list: " << kind;
        if (it != histogram.end())
          ++it->second;
      }
      return kernel;
    }
    ADD_FAILURE() << "nothing drawn is of kind " << wanted;
    histogram.erase(wanted);
    return drawVectorKernel(random);
  }

  void print() const {
    printHistogram(histogram, cases.count);
    // In few cases not all kinds have their turn.
    if (cases.count < 100)
      return;
    for (const auto &[kind, count] : histogram)
      EXPECT_GE(count * 100, cases.count * 3) << kind;
  }

  GeneratedCases cases;

private:
  std::mt19937_64 random;
  Histogram histogram;
};

/// What differs from the loops, or nothing. Where they give nothing, neither
/// semantics may know a value.
std::string run(const VectorKernel &kernel, unsigned seed) {
  Built built;
  build(kernel.text, built);
  if (testing::Test::HasFatalFailure())
    return "";
  std::vector<HostArray> arguments;
  std::vector<Codes> codes;
  for (auto [index, layout] : llvm::enumerate(built.inputs)) {
    std::string kind = kernel.integers;
    if (layout.type() != ElementType::I32)
      kind = layout.type() == ElementType::F32 ? "quarter" : "bits";
    auto fill =
        parseFill(kind + ":" + std::to_string(seed * 8 + unsigned(index)));
    arguments.push_back(layout.fill(*fill));
    codes.push_back(arguments.back().codes);
  }
  std::vector<HostArray> results;
  if (std::string text = runBoth(built, arguments, results, /*seeds=*/1);
      !text.empty())
    return text;
  std::vector<Value> expected = kernel.expected(codes);
  if (results.size() != 1 || results[0].codes.size() != expected.size())
    return "expected one result of " + std::to_string(expected.size()) +
           " elements";
  for (size_t i = 0; i < expected.size(); ++i)
    if (bool(results[0].defined[i]) != expected[i].has_value() ||
        (expected[i] && results[0].codes[i] != *expected[i]))
      return "element " + std::to_string(i) + " is 0x" +
             llvm::utohexstr(results[0].codes[i]) +
             (results[0].defined[i] ? "" : " (undefined)") + ", expected 0x" +
             llvm::utohexstr(expected[i].value_or(0)) +
             (expected[i] ? "" : " (undefined)");
  return "";
}

TEST(VectorChains, AgreeWithPlainLoops) {
  Source source(GeneratedCases(200));
  unsigned faults = 0;
  for (unsigned i = 0; i < source.cases.count && faults < 20; ++i) {
    VectorKernel kernel = source.draw();
    SCOPED_TRACE("case " + std::to_string(i) + "\n" + kernel.text);
    std::string difference = run(kernel, i);
    if (HasFatalFailure())
      return;
    EXPECT_EQ(difference, "");
    faults += !difference.empty();
  }
  source.print();
}

TEST(VectorChains, MutantsAreRefusedOrAgree) {
  Source source(GeneratedCases(200));
  MutantCounts counts;
  for (unsigned i = 0; i < source.cases.count && !HasFatalFailure(); ++i)
    tryMutants(source.draw().text, i, 3, "quarter", counts);
  std::cout << counts.made << " mutants: " << counts.refused << " refused, "
            << counts.refusedLate << " of them late, " << counts.agreed
            << " agree\n";
  EXPECT_GE(counts.refused, counts.made / 2);
  EXPECT_GE(counts.agreed, counts.made / 25);
}

/// The cases are the same wherever the test is built.
TEST(VectorChains, DrawsTheSameEverywhere) {
  std::mt19937_64 random(0);
  uint64_t hash = 14695981039346656037u;
  for (unsigned i = 0; i < 50; ++i)
    for (char c : drawVectorKernel(random).text)
      hash = (hash ^ uint8_t(c)) * 1099511628211u;
  EXPECT_EQ(hash, 13677857059822489331u);
}

} // namespace
