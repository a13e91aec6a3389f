//===- InterleaveTest.cpp - Two tensors fetched in turn -------------------===//
//
// Two tensors as one stream: in both contexts, for all places of their axis in
// time, in either order of their addresses, from views, and into the switch,
// the vector engine and the multiplier. Held against plain loops.
//
//===----------------------------------------------------------------------===//

#include "KernelText.h"
#include "Kernels.h"

#include "furiosa/Dialect/LIR/IR/LIR.h"

#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace furiosa;
using namespace furiosa::test;
using llvm::formatv;

namespace {

/// r[I, A, B] of a[A, B] and b[A, B], and once more of b and a: one of the two
/// fetches steps back.
std::string copyText(ElementType type, const std::string &context,
                     const std::string &time, const std::string &flits,
                     const std::string &packet, const std::string &trim) {
  std::string text = formatv(R"(
#axes = #tmap.axes<A = 6, B = 32, C = 4, I = 2>
!h = !visa.hbm<{0}, element "A, C, B", #axes>
!d = !visa.dm<{0}, slice "1 # 256", element "A, C, B", #axes>
!rh = !visa.hbm<{0}, element "I, A, C, B", #axes>
!rd = !visa.dm<{0}, slice "1 # 256", element "I, A, C, B", #axes>
func.func @kernel(%a: !h, %b: !h) -> (!rh, !rh) attributes {{visa.kernel} {{
  %ad = visa.to_dm %a : !h -> !d
  %bd = visa.to_dm %b : !h -> !d
)",
                             mlirName(type));
  for (const char *pair : {"%ad interleave %bd", "%bd interleave %ad"})
    text += formatv(R"(  %r{0} = visa.chain {1} -> !rd {{
    fetch {2} along "I" time "{3}" packet "B" : !d, !d
    collect time "{4}" packet "{5}"
    commit_trim packet "{6}"
    commit element "I, A, C, B"
  }
)",
                    pair[1], context, pair, time, flits, packet, trim);
  return text + R"(  %oa = visa.to_hbm %ra : !rd -> !rh
  %ob = visa.to_hbm %rb : !rd -> !rh
  return %oa, %ob : !rh, !rh
}
)";
}

class Interleave : public testing::TestWithParam<
                       std::tuple<ElementType, const char *, const char *>> {};

TEST_P(Interleave, AgreesWithIndex) {
  auto [type, context, time] = GetParam();
  int64_t flit = 256 / wireBits(type);
  std::string packet = flit == 32  ? "B"
                       : flit > 32 ? "B # " + std::to_string(flit)
                                   : "B % " + std::to_string(flit);
  std::string flits =
      flit < 32 ? std::string(time) + ", B / " + std::to_string(flit) : time;
  std::string text =
      copyText(type, context, time, flits, packet, flit > 32 ? "B" : packet);
  SCOPED_TRACE(text);
  Built built;
  ASSERT_NO_FATAL_FAILURE(build(text, built));
  std::vector<HostArray> arguments = makeArguments(built, "bits"), results;
  ASSERT_EQ(runBoth(built, arguments, results, /*seeds=*/1), "");
  for (unsigned first : {0, 1}) {
    Codes expected = arguments[first].codes;
    expected.insert(expected.end(), arguments[1 - first].codes.begin(),
                    arguments[1 - first].codes.end());
    EXPECT_EQ(results[first].codes, expected) << first;
    EXPECT_EQ(std::count(results[first].defined.begin(),
                         results[first].defined.end(), 0),
              0);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Copies, Interleave,
    testing::Combine(testing::Values(ElementType::I4, ElementType::I8,
                                     ElementType::BF16, ElementType::I32),
                     testing::Values("main", "sub"),
                     testing::Values("I, A, C", "A, I, C", "A, C, I", "C, I, A",
                                     "A / 2, I, C, A % 2")));

/// Tails of tensors: the halves of a and b from their views.
TEST(InterleaveValues, Views) {
  std::string text = R"(
#axes = #tmap.axes<A = 16, B = 8, I = 2>
!h = !visa.hbm<i32, element "A, B", #axes>
!d = !visa.dm<i32, slice "1 # 256", element "A, B", #axes>
!half = !visa.dm<i32, slice "1 # 256", element "A = 8 # 16, B", #axes>
!rh = !visa.hbm<i32, element "I, A = 8, B", #axes>
!rd = !visa.dm<i32, slice "1 # 256", element "I, A = 8, B", #axes>
func.func @kernel(%a: !h, %b: !h) -> !rh attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %ad = visa.to_dm %a : !h -> !d
  %bd = visa.to_dm %b : !h -> !d
  %at = visa.tile %ad[%c8] along "A" take 8 : !d -> !half
  %bt = visa.tile %bd[%c0] along "A" take 8 : !d -> !half
  %r = visa.chain main -> !rd {
    fetch %bt interleave %at along "I" time "A = 8, I" packet "B" : !half, !half
    collect time "A = 8, I" packet "B"
    commit_trim packet "B"
    commit element "I, A = 8, B"
  }
  %o = visa.to_hbm %r : !rd -> !rh
  return %o : !rh
}
)";
  Built built;
  ASSERT_NO_FATAL_FAILURE(build(text, built));
  std::vector<HostArray> arguments = makeArguments(built, "bits");
  // The first half of b, the second half of a.
  Codes expected(arguments[1].codes.begin(), arguments[1].codes.begin() + 64);
  expected.insert(expected.end(), arguments[0].codes.begin() + 64,
                  arguments[0].codes.end());
  compare(built, arguments, expected, /*seeds=*/1);
}

/// The two groups of the vector engine: a + b, below 0 nothing, in bf16 (the
/// layers of a classifier end like this).
TEST(InterleaveValues, GroupsOfTheVectorEngine) {
  std::string text = R"(
#axes = #tmap.axes<E = 4, H = 256, I = 2>
!h = !visa.hbm<bf16, element "H, E", #axes>
!d = !visa.dm<bf16, slice "H", element "E", #axes>
func.func @kernel(%a: !h, %b: !h) -> !h attributes {visa.kernel} {
  %ad = visa.to_dm %a : !h -> !d
  %bd = visa.to_dm %b : !h -> !d
  %r = visa.chain main -> !d {
    fetch %ad interleave %bd along "I" time "I" packet "E" : !d, !d
    fetch_cast to f32
    collect time "I" packet "E # 8"
    vector_init
    vector_unzip axis "I" time "1"
    vector_zip clip add
    vector_clip max [imm 0.0]
    vector_final
    cast to bf16 packet "E # 16"
    commit_trim packet "E"
    commit element "E"
  }
  %o = visa.to_hbm %r : !d -> !h
  return %o : !h
}
)";
  Built built;
  ASSERT_NO_FATAL_FAILURE(build(text, built));
  std::vector<HostArray> arguments = makeArguments(built, "small");
  Codes expected;
  for (size_t i = 0; i < 1024; ++i)
    expected.push_back(
        asPattern(std::max(
            0.0f, valueOf(ElementType::BF16, arguments[0].codes[i]) +
                      valueOf(ElementType::BF16, arguments[1].codes[i]))) >>
        16);
  compare(built, arguments, expected, /*seeds=*/1);
}

/// An axis like any other behind fetch: broadcast over slices, then summed in
/// the multiplier.
TEST(InterleaveValues, SwitchAndContraction) {
  std::string text = R"(
#axes = #tmap.axes<A = 4, C = 256, I = 2, K = 32, R = 8, X = 4>
!h = !visa.hbm<i8, element "C, A, K", #axes>
!d = !visa.dm<i8, slice "C", element "A, K", #axes>
!wh = !visa.hbm<i8, element "R, I, K", #axes>
!wd = !visa.dm<i8, slice "C / 4, X", element "R, I, K", #axes>
!w = !visa.trf<i8, slice "C / 4, X", lane "R", element "I, K", #axes>
!rh = !visa.hbm<i32, element "X, C, A, R", #axes>
!rd = !visa.dm<i32, slice "C / 4, X", element "A, C % 4, R", #axes>
func.func @kernel(%a: !h, %b: !h, %m: !wh) -> !rh attributes {visa.kernel} {
  %ad = visa.to_dm %a : !h -> !d
  %bd = visa.to_dm %b : !h -> !d
  %md = visa.to_dm %m : !wh -> !wd
  %w = visa.chain sub -> !w {
    fetch %md time "R, I" packet "K" : !wd
    collect time "R, I" packet "K"
    to_trf lane "R" element "I, K"
  }
  %r = visa.chain main -> !rd {
    fetch %ad interleave %bd along "I" time "A, I" packet "K" : !d, !d
    switch broadcast1 [4, 1] slice "C / 4, X" time "A, I, C % 4"
    collect time "A, I, C % 4" packet "K"
    contract_outer %w time "A, I, C % 4" packet "K" : !w
    contract_packet packet "1"
    contract_time time "A, C % 4"
    contract_lane interleaved time "A, C % 4" packet "R"
    commit_trim packet "R"
    commit element "A, C % 4, R"
  }
  %o = visa.to_hbm %r : !rd -> !rh
  return %o : !rh
}
)";
  Built built;
  ASSERT_NO_FATAL_FAILURE(build(text, built));
  std::vector<HostArray> arguments = makeArguments(built, "bits");
  auto at = [&](unsigned argument, size_t place) {
    return int32_t(int8_t(arguments[argument].codes[place]));
  };
  Codes expected;
  for (size_t x = 0; x < 4; ++x)
    for (size_t c = 0; c < 256; ++c)
      for (size_t a = 0; a < 4; ++a)
        for (size_t r = 0; r < 8; ++r) {
          int32_t sum = 0;
          for (unsigned i = 0; i < 2; ++i)
            for (size_t k = 0; k < 32; ++k)
              sum += at(i, (c * 4 + a) * 32 + k) * at(2, (r * 2 + i) * 32 + k);
          expected.push_back(uint32_t(sum));
        }
  compare(built, arguments, expected, /*seeds=*/1);
}

} // namespace
