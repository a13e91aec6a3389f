//===- ClassifierTest.cpp - The last layer of a digit classifier ----------===//
//
// Chains of a classifier as users write them, by the numbers of the corpus: a
// bias spread to one value a slice (J3, J4), the last product (J8), its bias
// (J9), and their sum (J10). Values are plain loops over the arguments.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "gtest/gtest.h"

using namespace furiosa;
using namespace furiosa::test;

namespace {

/// bf16 of an f32, ties to even.
uint32_t narrow(float value) {
  uint32_t pattern = asPattern(value);
  return (pattern + 0x7FFF + (pattern >> 16 & 1)) >> 16;
}

/// Builds and runs a kernel; `expect` says what its arguments give.
void expectResult(
    const std::string &text, llvm::StringRef fill,
    llvm::function_ref<Codes(const std::vector<HostArray> &)> expect) {
  SCOPED_TRACE(text);
  Built built;
  ASSERT_NO_FATAL_FAILURE(build(text, built));
  std::vector<HostArray> arguments = makeArguments(built, fill);
  compare(built, arguments, expect(arguments), /*seeds=*/1);
}

/// The first of eight values becomes that of its slice. Eight slices hold one
/// row of eight; the other rows of the exchange are padding that nobody reads.
TEST(Classifier, J4BiasOfASlice) {
  expectResult(R"(
#axes = #tmap.axes<H = 256, Dummy8 = 8>
!h = !visa.hbm<bf16, element "H", #axes>
!rows = !visa.dm<bf16, slice "H / 8, 1 # 8", element "H % 8", #axes>
!columns = !visa.dm<bf16, slice "H / 8, 1 # 8", element "H % 8, 1 # 8", #axes>
!named = !visa.dm<bf16, slice "H / 8, Dummy8", element "H % 8, 1 # 8", #axes>
!spread = !visa.dm<bf16, slice "H", element "Dummy8 # 16", #axes>
!one = !visa.dm<bf16, slice "H", element "1 # 16", #axes>
func.func @kernel(%b: !h) -> !h attributes {visa.kernel} {
  %d = visa.to_dm %b : !h -> !rows
  %c = visa.chain main -> !columns {
    fetch %d time "1" packet "H % 8" : !rows
    collect time "1" packet "H % 8 # 16"
    transpose time "H % 8" packet "1 # 16"
    commit_trim packet "1 # 8"
    commit element "H % 8, 1 # 8"
  }
  %n = visa.reshape %c : !columns -> !named
  %s = visa.chain main -> !spread {
    fetch %n time "H % 8" packet "1 # 8" : !named
    switch inter_transpose [8, 1, 1] slice "H" time "Dummy8"
    collect time "Dummy8" packet "1 # 16"
    transpose time "Dummy8 / 4" packet "Dummy8 % 4 # 16"
    commit_trim packet "Dummy8 % 4"
    commit element "Dummy8 # 16"
  }
  %f = visa.reshape %s : !spread -> !one
  %o = visa.to_hbm %f : !one -> !h
  return %o : !h
}
)",
               "bits",
               [](const auto &arguments) { return arguments[0].codes; });
}

constexpr const char *types = R"(
#axes = #tmap.axes<C = 16, H = 256, Dummy16 = 16, I = 2>
!x = !visa.hbm<bf16, element "H", #axes>
!w = !visa.hbm<bf16, element "C, H", #axes>
!b = !visa.hbm<bf16, element "C", #axes>
!d = !visa.dm<bf16, slice "C, 1 # 16", element "H", #axes>
!t = !visa.trf<bf16, slice "C, 1 # 16", lane "1", element "H", #axes>
!one = !visa.dm<bf16, slice "C, 1 # 16", element "1 # 16", #axes>
!all = !visa.dm<bf16, slice "1 # 256", element "C", #axes>
!named = !visa.dm<bf16, slice "Dummy16, 1 # 16", element "C", #axes>
!spread = !visa.dm<bf16, slice "C, 1 # 16", element "Dummy16", #axes>
)";
/// J7 and J8: each of C slices has one row of w, and all of x.
constexpr const char *product = R"(
  %xd = visa.to_dm %x : !x -> !d
  %wd = visa.to_dm %w : !w -> !d
  %t = visa.chain sub -> !t {
    fetch %xd time "1" packet "H" : !d
    collect time "H / 16" packet "H % 16"
    to_trf lane "1" element "H"
  }
  %p = visa.chain main -> !one {
    fetch %wd time "H / 16" packet "H % 16" : !d
    collect time "H / 16" packet "H % 16"
    contract_outer %t time "H / 32" packet "H % 32" : !t
    contract_packet packet "1"
    contract_time time "1"
    contract_lane interleaved time "1" packet "1 # 8"
    cast to bf16 packet "1 # 16"
    commit_trim packet "1 # 16"
    commit element "1 # 16"
  }
)";
/// J9: the bias lies in one slice, and each of C slices gets its value.
constexpr const char *bias = R"(
  %bd = visa.to_dm %b : !b -> !all
  %n = visa.reshape %bd : !all -> !named
  %s = visa.chain main -> !spread {
    fetch %n time "C" packet "1 # 4" : !named
    switch inter_transpose [16, 16, 1] slice "C, 1 # 16" time "Dummy16"
    collect time "Dummy16" packet "1 # 16"
    transpose time "Dummy16 / 4" packet "Dummy16 % 4 # 16"
    commit_trim packet "Dummy16 % 4"
    commit element "Dummy16"
  }
  %q = visa.reshape %s : !spread -> !one
)";
/// J10.
constexpr const char *sum = R"(
  %r = visa.chain main -> !one {
    fetch %p interleave %q along "I" time "I" packet "1 # 4" : !one, !one
    fetch_cast to f32
    collect time "I" packet "1 # 8"
    vector_init
    vector_unzip axis "I" time "1"
    vector_zip clip add
    vector_final
    cast to bf16 packet "1 # 16"
    commit_trim packet "1 # 16"
    commit element "1 # 16"
  }
)";

std::string kernel(const std::string &arguments, const std::string &body,
                   const std::string &result) {
  return types + ("func.func @kernel(" + arguments) +
         ") -> !b attributes {visa.kernel} {" + body + "  %o = visa.to_hbm %" +
         result + " : !one -> !b\n  return %o : !b\n}\n";
}

Codes productOf(const HostArray &x, const HostArray &w) {
  Codes codes;
  for (size_t c = 0; c < 16; ++c) {
    float sum = 0;
    for (size_t h = 0; h < 256; ++h)
      sum += valueOf(ElementType::BF16, x.codes[h]) *
             valueOf(ElementType::BF16, w.codes[c * 256 + h]);
    codes.push_back(narrow(sum));
  }
  return codes;
}

TEST(Classifier, J8LastProduct) {
  expectResult(kernel("%x: !x, %w: !w", product, "p"), "small",
               [](const auto &arguments) {
                 return productOf(arguments[0], arguments[1]);
               });
}

TEST(Classifier, J9BiasFromOneSlice) {
  expectResult(kernel("%b: !b", bias, "q"), "bits",
               [](const auto &arguments) { return arguments[0].codes; });
}

TEST(Classifier, J10Logits) {
  expectResult(
      kernel("%x: !x, %w: !w, %b: !b", std::string(product) + bias + sum, "r"),
      "small", [](const auto &arguments) {
        Codes codes = productOf(arguments[0], arguments[1]);
        for (size_t c = 0; c < codes.size(); ++c)
          codes[c] = narrow(valueOf(ElementType::BF16, codes[c]) +
                            valueOf(ElementType::BF16, arguments[2].codes[c]));
        return codes;
      });
}

} // namespace
