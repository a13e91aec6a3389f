//===- StageTest.cpp - Each stage against values by hand ------------------===//
//
// Layouts are smaller than the chip's, so the kernels are not checked.
//
//===----------------------------------------------------------------------===//

#include "InterpreterTestBase.h"

#include <bit>

using namespace furiosa;
using namespace furiosa::interpreter;
using Codes = std::vector<uint32_t>;

namespace {
class StageTest : public InterpreterTest {
protected:
  /// A kernel that moves its argument to DM, runs `stages` and moves the result
  /// back. `from` and `to` are element types, `source` and `result` element
  /// mappings.
  static std::string chain(llvm::StringRef axes, llvm::StringRef from,
                           llvm::StringRef source, llvm::StringRef to,
                           llvm::StringRef result, llvm::StringRef stages) {
    auto element = [&](llvm::StringRef type, llvm::StringRef mapping) {
      return (type + ", element \"" + mapping + "\", #axes>\n").str();
    };
    auto dm = [&](llvm::StringRef type, llvm::StringRef mapping) {
      return (type + ", slice \"1 # 64\", element \"" + mapping +
              "\", #axes>\n")
          .str();
    };
    return "#axes = #tmap.axes<" + axes.str() + ">\n!a = !visa.hbm<" +
           element(from, source) + "!o = !visa.hbm<" + element(to, result) +
           "!ad = !visa.dm<" + dm(from, source) + "!od = !visa.dm<" +
           dm(to, result) + R"(
func.func @k(%a: !a) -> !o attributes {visa.kernel} {
  %ad = visa.to_dm %a : !a -> !ad
  %r = visa.chain main -> !od {
)" + stages.str() +
           R"(
  }
  %o = visa.to_hbm %r : !od -> !o
  return %o : !o
}
)";
  }

  /// Results of `vector_fxp fn [imm value]` on each of `inputs`.
  Codes fxp(llvm::StringRef fn, int64_t value, std::vector<int32_t> inputs) {
    std::string text =
        chain("A = " + std::to_string(inputs.size()), "i32", "A", "i32", "A",
              "fetch %ad time \"1\" packet \"A\" : !ad\n"
              "collect time \"1\" packet \"A\"\nvector_init\nvector_tag zero\n"
              "vector_fxp " +
                  fn.str() + " [imm " + std::to_string(value) +
                  "]\nvector_final\ncommit_trim packet \"A\"\ncommit element "
                  "\"A\"");
    return runCodes(text, {Codes(inputs.begin(), inputs.end())});
  }

  static Codes codesOf(std::vector<int32_t> values) {
    return Codes(values.begin(), values.end());
  }

  /// c = Σ over K of a · b, for `a` over "I, K" and `b` over "J, K".
  static std::string contraction(llvm::StringRef type, llvm::StringRef sumType,
                                 llvm::StringRef axes, llvm::StringRef time,
                                 llvm::StringRef packet) {
    std::string t = time.str(), p = packet.str();
    return "#axes = #tmap.axes<" + axes.str() + R"(>
!a = !visa.hbm<)" +
           type.str() + R"(, element "I, K", #axes>
!b = !visa.hbm<)" +
           type.str() + R"(, element "J, K", #axes>
!c = !visa.hbm<)" +
           sumType.str() + R"(, element "I, J", #axes>
!ad = !visa.dm<)" +
           type.str() + R"(, slice "I", element "K", #axes>
!bd = !visa.dm<)" +
           type.str() + R"(, slice "I", element "J, K", #axes>
!cd = !visa.dm<)" +
           sumType.str() + R"(, slice "I", element "J", #axes>
!w = !visa.trf<)" +
           type.str() + R"(, slice "I", lane "J", element "K", #axes>
func.func @k(%a: !a, %b: !b) -> !c attributes {visa.kernel} {
  %ad = visa.to_dm %a : !a -> !ad
  %bd = visa.to_dm %b : !b -> !bd
  %w = visa.chain sub -> !w {
    fetch %bd time "J" packet "K" : !bd
    collect time "J" packet "K"
    to_trf lane "J" element "K"
  }
  %r = visa.chain main -> !cd {
    fetch %ad time ")" +
           t + R"(" packet ")" + p + R"(" : !ad
    collect time ")" +
           t + R"(" packet ")" + p + R"("
    contract_outer %w time ")" +
           t + R"(" packet ")" + p + R"(" : !w
    contract_packet packet "1"
    contract_time time "1"
    contract_lane interleaved time "1" packet "J # 8"
    commit_trim packet "J"
    commit element "J"
  }
  %c = visa.to_hbm %r : !cd -> !c
  return %c : !c
}
)";
  }
};

uint32_t f32(float value) { return std::bit_cast<uint32_t>(value); }
uint32_t bf16(float value) { return f32(value) >> 16; }
} // namespace

TEST_F(StageTest, IdentityByIndex) {
  // However the cells are ordered on the way, cell (a, b) stays cell (a, b).
  std::string text = chain("A = 2, B = 3", "i8", "A, B", "i8", "B, A # 4", R"(
    fetch %ad time "B" packet "A # 4" : !ad
    collect time "B" packet "A # 32"
    commit_trim packet "A # 8"
    commit element "B, A # 4")");
  // The result lists B first.
  EXPECT_EQ(runCodes(text, {{1, 2, 3, 4, 5, 6}}), (Codes{1, 4, 2, 5, 3, 6}));
}

TEST_F(StageTest, SlicesExchange) {
  // A lies over slices on one side, B on the other.
  std::string text = R"(
#axes = #tmap.axes<A = 4, B = 2>
!h = !visa.hbm<i16, element "A, B", #axes>
!x = !visa.dm<i16, slice "A # 64", element "B", #axes>
!t = !visa.hbm<i16, element "B, A", #axes>
!y = !visa.dm<i16, slice "B # 64", element "A", #axes>
func.func @k(%a: !h) -> !h attributes {visa.kernel} {
  %x = visa.to_dm %a : !h -> !x
  %t = visa.to_hbm %x : !x -> !t
  %y = visa.to_dm %t : !t -> !y
  %o = visa.to_hbm %y : !y -> !h
  return %o : !h
}
)";
  EXPECT_EQ(runCodes(text, {{1, 2, 3, 4, 5, 6, 7, 8}}),
            (Codes{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST_F(StageTest, MissingCellsAreUndefined) {
  // Only the first five of eight cells pass.
  ASSERT_TRUE(parse(chain("A = 8", "i32", "A", "i32", "A = 5 # 8", R"(
    fetch %ad time "1" packet "A" : !ad
    collect time "1" packet "A"
    commit_trim packet "A = 4"
    commit element "A = 5 # 8")"),
                    /*check=*/false));
  HostTensor result = run(fill({Fill::iota(1)}))[0];
  EXPECT_EQ(result.codes, (Codes{1, 2, 3, 4, 0}));
  EXPECT_EQ(result.defined, (std::vector<uint8_t>{1, 1, 1, 1, 0}));
}

TEST_F(StageTest, FetchCasts) {
  auto cast = [&](llvm::StringRef from, llvm::StringRef to, Codes codes) {
    return runCodes(chain("A = " + std::to_string(codes.size()), from, "A", to,
                          "A",
                          ("fetch %ad time \"1\" packet \"A\" : !ad\n"
                           "fetch_cast to " +
                           to +
                           "\ncollect time \"1\" packet \"A\"\n"
                           "commit_trim packet \"A\"\ncommit element \"A\"")
                              .str()),
                    {codes});
  };
  EXPECT_EQ(cast("i8", "i32", {0x7F, 0x80, 0xFF, 0}),
            codesOf({127, -128, -1, 0}));
  EXPECT_EQ(cast("i4", "i32", {7, 8, 15, 0}), codesOf({7, -8, -1, 0}));
  EXPECT_EQ(cast("i16", "i32", {0x8000, 0x7FFF}), codesOf({-32768, 32767}));
  // Subnormals become zero of their sign, any NaN the canonical one.
  EXPECT_EQ(cast("bf16", "f32", {0x3F80, 0x8001, 0xFFC1, 0xFF80}),
            (Codes{0x3F800000, 0x80000000, 0x7FC00000, 0xFF800000}));
  EXPECT_EQ(cast("f8E4M3FN", "f32", {0x38, 0x01, 0xFF}),
            (Codes{0x3F800000, 0x3B000000, 0x7FC00000}));
  // 1 + 2^-8 is a tie and goes to even.
  EXPECT_EQ(cast("f32", "bf16", {0x3F808000, 0x3F818000}),
            (Codes{0x3F80, 0x3F82}));
}

TEST_F(StageTest, DigitsThatTheSourceLacksAreBroadcast) {
  // The source holds A % 2 only; the stream asks for all of A.
  std::string text = R"(
#axes = #tmap.axes<A = 6>
!h = !visa.hbm<i32, element "A % 2", #axes>
!o = !visa.hbm<i32, element "A", #axes>
!d = !visa.dm<i32, slice "1 # 64", element "A % 2", #axes>
!e = !visa.dm<i32, slice "1 # 64", element "A", #axes>
func.func @k(%a: !h) -> !o attributes {visa.kernel} {
  %d = visa.to_dm %a : !h -> !d
  %r = visa.chain main -> !e {
    fetch %d time "A / 2" packet "A % 2" : !d
    collect time "A / 2" packet "A % 2"
    commit_trim packet "A % 2"
    commit element "A"
  }
  %o = visa.to_hbm %r : !e -> !o
  return %o : !o
}
)";
  EXPECT_EQ(runCodes(text, {{4, 9}}), (Codes{4, 9, 4, 9, 4, 9}));
}

TEST_F(StageTest, IntegerContraction) {
  EXPECT_EQ(runCodes(contraction("i8", "i32", "I = 2, J = 2, K = 4", "1", "K"),
                     {{1, 2, 3, 4, 0x80, 0x7F, 0xFF, 0},
                      {1, 1, 1, 1, 0x80, 2, 0, 5}}),
            codesOf({10, -128 + 4 + 20, -128 + 127 - 1, 16384 + 254}));
}

TEST_F(StageTest, FloatTreeAddsNeighbours) {
  // (2^24 + 1) + (1 − 2^24) = 2^24 + (1 − 2^24) = 1; in order it would be 0.
  Codes a{bf16(16777216), bf16(1), bf16(1), bf16(-16777216)};
  Codes b{bf16(1), bf16(1), bf16(1), bf16(1)};
  EXPECT_EQ(
      runCodes(contraction("bf16", "f32", "I = 1, J = 1, K = 4", "1", "K"),
               {a, b}),
      (Codes{f32(1)}));
  EXPECT_EQ(
      runCodes(contraction("bf16", "f32", "I = 1, J = 1, K = 4", "K", "1"),
               {a, b}),
      (Codes{f32(0)}));
  EXPECT_EQ(runCodes(contraction("bf16", "f32", "I = 1, J = 1, K = 4", "K / 2",
                                 "K % 2"),
                     {a, b}),
            (Codes{f32(1)}));
}

TEST_F(StageTest, FloatSpecials) {
  auto dot = [&](uint32_t a0, uint32_t a1, uint32_t b0, uint32_t b1) {
    return runCodes(contraction("bf16", "f32", "I = 1, J = 1, K = 2", "1", "K"),
                    {{a0, a1}, {b0, b1}})[0];
  };
  uint32_t one = bf16(1), inf = 0x7F80;
  EXPECT_EQ(dot(0xFFC1, one, one, one), 0x7FC00000u);       // NaN
  EXPECT_EQ(dot(inf, one, one, one), 0x7F800000u);          // +inf
  EXPECT_EQ(dot(inf, 0xFF80, one, one), 0x7FC00000u);       // inf - inf
  EXPECT_EQ(dot(inf, one, 0x0000, one), 0x7FC00000u);       // inf · 0
  EXPECT_EQ(dot(0x8000, 0x8000, one, one), 0x00000000u);    // +0 + (−0)
  EXPECT_EQ(dot(0x0001, one, bf16(16777216), one), f32(1)); // flushed
  // The product of two normal numbers may be subnormal: 2^-140.
  EXPECT_EQ(dot(bf16(0x1p-70f), 0, bf16(0x1p-70f), 0), f32(0x1p-140f));
}

TEST_F(StageTest, KeptAndSummedTimeInterleave) {
  // Time A, K / 2, B with K / 2 summed between two kept axes.
  std::string text = R"(
#axes = #tmap.axes<A = 2, B = 2, K = 4>
!h = !visa.hbm<i8, element "A, B, K", #axes>
!k = !visa.hbm<i8, element "K", #axes>
!o = !visa.hbm<i32, element "A, B", #axes>
!d = !visa.dm<i8, slice "1 # 64", element "A, B, K", #axes>
!kd = !visa.dm<i8, slice "1 # 64", element "K", #axes>
!w = !visa.trf<i8, slice "1 # 64", lane "1", element "K", #axes>
!r = !visa.dm<i32, slice "1 # 64", element "A, B", #axes>
func.func @k(%a: !h, %b: !k) -> !o attributes {visa.kernel} {
  %d = visa.to_dm %a : !h -> !d
  %kd = visa.to_dm %b : !k -> !kd
  %w = visa.chain sub -> !w {
    fetch %kd time "1" packet "K" : !kd
    collect time "1" packet "K"
    to_trf lane "1" element "K"
  }
  %r = visa.chain main -> !r {
    fetch %d time "A, K / 2, B" packet "K % 2" : !d
    collect time "A, K / 2, B" packet "K % 2"
    contract_outer %w time "A, K / 2, B" packet "K % 2" : !w
    contract_packet packet "1"
    contract_time time "A, B"
    contract_lane sequential time "A, B" packet "1 # 8"
    commit_trim packet "1 # 2"
    commit element "A, B"
  }
  %o = visa.to_hbm %r : !r -> !o
  return %o : !o
}
)";
  EXPECT_EQ(
      runCodes(text, {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
                      {1, 10, 100, 1}}),
      codesOf({1 + 20 + 300 + 4, 5 + 60 + 700 + 8, 9 + 100 + 1100 + 12,
               13 + 140 + 1500 + 16}));
}

TEST_F(StageTest, ColumnsAndPartialSums) {
  // The packet keeps K / 2 as two columns; K stays an axis of the result.
  std::string text = R"(
#axes = #tmap.axes<K = 4>
!h = !visa.hbm<i8, element "K", #axes>
!o = !visa.hbm<i32, element "K / 2", #axes>
!d = !visa.dm<i8, slice "1 # 64", element "K", #axes>
!w = !visa.trf<i8, slice "1 # 64", lane "1", element "K", #axes>
!r = !visa.dm<i32, slice "1 # 64", element "K / 2", #axes>
func.func @k(%a: !h, %b: !h) -> !o attributes {visa.kernel} {
  %d = visa.to_dm %a : !h -> !d
  %kd = visa.to_dm %b : !h -> !d
  %w = visa.chain sub -> !w {
    fetch %kd time "1" packet "K" : !d
    collect time "1" packet "K"
    to_trf lane "1" element "K"
  }
  %r = visa.chain main -> !r {
    fetch %d time "1" packet "K" : !d
    collect time "1" packet "K"
    contract_outer %w time "1" packet "K" : !w
    contract_packet packet "K / 2"
    contract_time time "1"
    contract_lane interleaved time "K / 2" packet "1 # 8"
    commit_trim packet "1"
    commit element "K / 2"
  }
  %o = visa.to_hbm %r : !r -> !o
  return %o : !o
}
)";
  ASSERT_TRUE(parse(text, /*check=*/false));
  auto arguments = fill({Fill::iota(1), Fill::iota(10)});
  HostTensor result = run(arguments)[0];
  // The array goes to the largest coordinate, 2; there is no cell at 1.
  EXPECT_EQ(result.codes, (Codes{10 + 22, 0, 36 + 52}));
  EXPECT_EQ(result.defined, (std::vector<uint8_t>{1, 0, 1}));
}

TEST_F(StageTest, VectorFxpImmediates) {
  const int32_t max = INT32_MAX, min = INT32_MIN;
  EXPECT_EQ(fxp("add", 1, {max, -1}), codesOf({min, 0}));
  EXPECT_EQ(fxp("add_sat", 1, {max, -1}), codesOf({max, 0}));
  EXPECT_EQ(fxp("add_sat", -1, {min, 0}), codesOf({min, -1}));
  EXPECT_EQ(fxp("sub", 1, {min, 5}), codesOf({max, 4}));
  EXPECT_EQ(fxp("sub_sat", 1, {min, 5}), codesOf({min, 4}));
  EXPECT_EQ(fxp("sub_sat", min, {0, -1}), codesOf({max, max}));
  EXPECT_EQ(fxp("shl", 31, {1, 2, -1}), codesOf({min, 0, min}));
  EXPECT_EQ(fxp("shl_sat", 4, {1, max / 8, -1, min}),
            codesOf({16, max, -16, min}));
  EXPECT_EQ(fxp("shl_sat", 31, {1, -1, 0}), codesOf({min, max, 0}));
  EXPECT_EQ(fxp("mul_int", 65537, {65536, -1}), codesOf({65536, -65537}));
  EXPECT_EQ(fxp("mul_fxp", min, {min, 1, -1, max}),
            codesOf({max, -1, 1, -max}));
  // 2^30 · x / 2^31 = x / 2: ties go up.
  EXPECT_EQ(fxp("mul_fxp", 1 << 30, {1, -1, 3, -3}), codesOf({1, 0, 2, -1}));
  EXPECT_EQ(fxp("shr", 4, {-1, 31}), codesOf({0x0FFFFFFF, 1}));
  EXPECT_EQ(fxp("sar", 4, {-1, 31, -32}), codesOf({-1, 1, -2}));
}

TEST_F(StageTest, VectorOperandsBroadcastBothWays) {
  // The stream has A, the operand has B: the result is their outer product.
  std::string text = R"(
#axes = #tmap.axes<A = 2, B = 3>
!a = !visa.hbm<i32, element "A", #axes>
!b = !visa.hbm<i32, element "B", #axes>
!o = !visa.hbm<i32, element "A, B", #axes>
!ad = !visa.dm<i32, slice "1 # 64", element "A", #axes>
!bd = !visa.dm<i32, slice "1 # 64", element "B", #axes>
!v = !visa.vrf<i32, slice "1 # 64", element "B", #axes>
!r = !visa.dm<i32, slice "1 # 64", element "A, B", #axes>
func.func @k(%a: !a, %b: !b) -> !o attributes {visa.kernel} {
  %ad = visa.to_dm %a : !a -> !ad
  %bd = visa.to_dm %b : !b -> !bd
  %v = visa.chain sub -> !v {
    fetch %bd time "1" packet "B" : !bd
    collect time "1" packet "B"
    to_vrf element "B"
  }
  %r = visa.chain main -> !r {
    fetch %ad time "B" packet "A" : !ad
    collect time "B" packet "A"
    vector_init
    vector_tag zero
    vector_fxp mul_int [vrf %v] : !v
    vector_fxp sub [vrf %v] : !v
    vector_final
    commit_trim packet "A"
    commit element "A, B"
  }
  %o = visa.to_hbm %r : !r -> !o
  return %o : !o
}
)";
  EXPECT_EQ(runCodes(text, {{2, 3}, {10, 20, 30}}),
            (Codes{10, 20, 30, 20, 40, 60}));
}

TEST_F(StageTest, Casts) {
  auto cast = [&](llvm::StringRef from, llvm::StringRef to, Codes codes) {
    return runCodes(chain("A = " + std::to_string(codes.size()), from, "A", to,
                          "A",
                          ("fetch %ad time \"1\" packet \"A\" : !ad\n"
                           "collect time \"1\" packet \"A\"\ncast to " +
                           to +
                           " packet \"A # 32\"\n"
                           "commit_trim packet \"A\"\ncommit element \"A\"")
                              .str()),
                    {codes});
  };
  EXPECT_EQ(cast("i32", "i8", codesOf({300, -1})), (Codes{44, 0xFF}));
  EXPECT_EQ(cast("i32", "i4", codesOf({300, -1})), (Codes{12, 0xF}));
  EXPECT_EQ(cast("i32", "i16", codesOf({70000, -1})), (Codes{4464, 0xFFFF}));
  EXPECT_EQ(cast("f32", "bf16", {0x3F808000, 0x7F7FFFFF, 0x807FFFFF}),
            (Codes{0x3F80, 0x7F80, 0x8000}));
  EXPECT_EQ(cast("f32", "f8E4M3FN", {f32(1), f32(1000)}), (Codes{0x38, 0x7E}));
  EXPECT_EQ(cast("f32", "f8E5M2", {f32(1), f32(1e9f)}), (Codes{0x3C, 0x7C}));
}

TEST_F(StageTest, OvershootIsPadding) {
  // Six cells cut raggedly by four.
  std::string text =
      chain("A = 6", "i32", "A", "i32", "A # 8 / 4, A # 8 % 4", R"(
    fetch %ad time "A # 8 / 4" packet "A # 8 % 4" : !ad
    collect time "A # 8 / 4" packet "A # 8 % 4"
    commit_trim packet "A # 8 % 4"
    commit element "A # 8 / 4, A # 8 % 4")");
  EXPECT_EQ(runCodes(text, {{1, 2, 3, 4, 5, 6}}), (Codes{1, 2, 3, 4, 5, 6}));
}
