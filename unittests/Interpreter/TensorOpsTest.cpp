//===- TensorOpsTest.cpp - Functions of tensors against plain loops -------===//
//
// Loops over arrays of the host, written from the ops' definitions.
//
//===----------------------------------------------------------------------===//

#include "InterpreterTestBase.h"

#include <bit>
#include <cmath>

using namespace furiosa;
using namespace furiosa::interpreter;

using Codes = std::vector<uint32_t>;

static uint32_t bits(float value) { return std::bit_cast<uint32_t>(value); }

static uint32_t toBf16(float value) { return bits(value) >> 16; }

/// Values that the sum of rounds: their order shows.
static float mixed(int64_t i) {
  return std::ldexp(static_cast<float>((i * 37) % 61 - 30),
                    static_cast<int>(i * 13 % 11) - 5);
}

static float bf16Value(float value) {
  return std::bit_cast<float>(bits(value) & 0xFFFF0000u);
}

/// a[b, i, k, l] · w[j, b, l, k] over k and l, l last: l is filled up to
/// packets of 32 for each k.
TEST_F(InterpreterTest, ContractOfSeveralAxes) {
  constexpr int64_t B = 2, I = 3, J = 5, K = 4, L = 35;
  Codes a, w;
  for (int64_t i = 0; i < B * I * K * L; ++i)
    a.push_back(toBf16(mixed(i)));
  for (int64_t i = 0; i < J * B * L * K; ++i)
    w.push_back(toBf16(mixed(i + 5)));
  auto A = [&](int64_t b, int64_t i, int64_t k, int64_t l) {
    return l < L ? bf16Value(mixed(((b * I + i) * K + k) * L + l)) : 0.0f;
  };
  auto W = [&](int64_t j, int64_t b, int64_t l, int64_t k) {
    return l < L ? bf16Value(mixed(((j * B + b) * L + l) * K + k + 5)) : 0.0f;
  };
  Codes expected;
  for (int64_t j = 0; j < J; ++j)
    for (int64_t b = 0; b < B; ++b)
      for (int64_t i = 0; i < I; ++i) {
        float sum = 0;
        for (int64_t k = 0; k < K; ++k)
          for (int64_t begin = 0; begin < L; begin += 32) {
            float tree[32];
            for (int64_t n = 0; n < 32; ++n)
              tree[n] = A(b, i, k, begin + n) * W(j, b, begin + n, k);
            for (int width = 16; width > 0; width /= 2)
              for (int n = 0; n < width; ++n)
                tree[n] = tree[2 * n] + tree[2 * n + 1];
            sum += tree[0];
          }
        expected.push_back(bits(sum));
      }
  EXPECT_EQ(runCodes(R"(
#axes = #tmap.axes<B = 2, I = 3, J = 5, K = 4, L = 35>
!a = !tmap.tensor<bf16, "B, I, K, L", #axes>
!w = !tmap.tensor<bf16, "J, B, L, K", #axes>
!c = !tmap.tensor<f32, "J, B, I", #axes>
func.func @kernel(%a: !a, %w: !w) -> !c attributes {visa.kernel} {
  %c = tmap.contract %a, %w over [K, L] : !a, !w -> !c
  return %c : !c
}
)",
                     {a, w}),
            expected);
}

TEST_F(InterpreterTest, ContractOfIntegersWraps) {
  // Two products of 128 · 128, 2^17 times: 2^32 wraps to 0; one more stays.
  Codes a(131073 * 2, 0x80);
  Codes expected = {2u << 14};
  EXPECT_EQ(runCodes(R"(
#axes = #tmap.axes<K = 262146>
!a = !tmap.tensor<i8, "K", #axes>
!c = !tmap.tensor<i32, "1", #axes>
func.func @kernel(%a: !a, %b: !a) -> !c attributes {visa.kernel} {
  %c = tmap.contract %a, %b over [K] : !a, !a -> !c
  return %c : !c
}
)",
                     {a, a}),
            expected);
}

/// Groups of four, then in order; the outer axis after the inner one.
TEST_F(InterpreterTest, ReduceInOrder) {
  constexpr int64_t N = 3, T = 7, C = 2;
  Codes x;
  for (int64_t i = 0; i < N * T * C; ++i)
    x.push_back(bits(mixed(i)));
  auto fold = [](std::vector<float> values) {
    while (values.size() % 4)
      values.push_back(0);
    float sum = 0;
    for (size_t i = 0; i < values.size(); i += 4)
      sum += (values[i] + values[i + 1]) + (values[i + 2] + values[i + 3]);
    return sum;
  };
  Codes expected;
  for (int64_t c = 0; c < C; ++c) {
    std::vector<float> rows;
    for (int64_t n = 0; n < N; ++n) {
      std::vector<float> row;
      for (int64_t t = 0; t < T; ++t)
        row.push_back(mixed((n * T + t) * C + c));
      rows.push_back(fold(row));
    }
    expected.push_back(bits(fold(rows)));
  }
  EXPECT_EQ(runCodes(R"(
#axes = #tmap.axes<N = 3, T = 7, C = 2>
!x = !tmap.tensor<f32, "N, T, C", #axes>
!y = !tmap.tensor<f32, "C", #axes>
func.func @kernel(%x: !x) -> !y attributes {visa.kernel} {
  %y = tmap.reduce add %x over [N, T] : !x -> !y
  return %y : !y
}
)",
                     {x}),
            expected);
}

/// 4,100 elements: four parts of 1,032, the last one of 1,004.
TEST_F(InterpreterTest, LongReductionInParts) {
  constexpr int64_t T = 4100, part = 1032;
  Codes x;
  for (int64_t i = 0; i < T; ++i)
    x.push_back(bits(mixed(i)));
  float sum = 0;
  for (int64_t first = 0; first < T; first += part) {
    float partial = 0;
    for (int64_t i = first; i < std::min(first + part, T); i += 4)
      partial += (mixed(i) + mixed(i + 1)) + (mixed(i + 2) + mixed(i + 3));
    sum += partial;
  }
  EXPECT_EQ(runCodes(R"(
#axes = #tmap.axes<T = 4100>
!x = !tmap.tensor<f32, "T", #axes>
!y = !tmap.tensor<f32, "1", #axes>
func.func @kernel(%x: !x) -> !y attributes {visa.kernel} {
  %y = tmap.reduce add %x over [T] : !x -> !y
  return %y : !y
}
)",
                     {x}),
            Codes{bits(sum)});
}

/// Three times 4,100 products of 2 bytes: each index of K is more than 1 KiB,
/// so that L is cut as well. Parts of 288 are the first of at most 512; those
/// of the fourth index of K are empty.
TEST_F(InterpreterTest, LongContractionInParts) {
  constexpr int64_t K = 3, L = 4100, part = 288;
  Codes a, b;
  for (int64_t i = 0; i < K * L; ++i) {
    a.push_back(toBf16(mixed(i)));
    b.push_back(toBf16(mixed(i + 5)));
  }
  float sum = 0;
  for (int64_t k = 0; k < K; ++k)
    for (int64_t first = 0; first < L; first += part) {
      float partial = 0;
      for (int64_t begin = first; begin < std::min(first + part, L);
           begin += 32) {
        float tree[32];
        for (int64_t n = 0; n < 32; ++n)
          tree[n] = begin + n < L ? bf16Value(mixed(k * L + begin + n)) *
                                        bf16Value(mixed(k * L + begin + n + 5))
                                  : 0.0f;
        for (int width = 16; width > 0; width /= 2)
          for (int n = 0; n < width; ++n)
            tree[n] = tree[2 * n] + tree[2 * n + 1];
        partial += tree[0];
      }
      sum += partial;
    }
  EXPECT_EQ(runCodes(R"(
#axes = #tmap.axes<K = 3, L = 4100>
!a = !tmap.tensor<bf16, "K, L", #axes>
!c = !tmap.tensor<f32, "1", #axes>
func.func @kernel(%a: !a, %b: !a) -> !c attributes {visa.kernel} {
  %c = tmap.contract %a, %b over [K, L] : !a, !a -> !c
  return %c : !c
}
)",
                     {a, b}),
            Codes{bits(sum)});
}

/// (x[n, h] + b[h]) · 2.5 - s[n], then a transpose to bf16.
TEST_F(InterpreterTest, ElementwiseByAxisName) {
  constexpr int64_t N = 3, H = 5;
  Codes x, b, s;
  for (int64_t i = 0; i < N * H; ++i)
    x.push_back(bits(mixed(i)));
  for (int64_t i = 0; i < H; ++i)
    b.push_back(bits(mixed(i + 3)));
  for (int64_t i = 0; i < N; ++i)
    s.push_back(bits(mixed(i + 7)));
  Codes expected;
  for (int64_t h = 0; h < H; ++h)
    for (int64_t n = 0; n < N; ++n) {
      float sum = mixed(n * H + h) + mixed(h + 3);
      float scaled = sum * 2.5f;
      float value = scaled - mixed(n + 7);
      // To nearest even, on the pattern.
      uint32_t pattern = bits(value);
      expected.push_back((pattern + 0x7FFF + ((pattern >> 16) & 1)) >> 16);
    }
  EXPECT_EQ(runCodes(R"(
#axes = #tmap.axes<N = 3, H = 5>
!x = !tmap.tensor<f32, "N, H", #axes>
!b = !tmap.tensor<f32, "H", #axes>
!s = !tmap.tensor<f32, "N", #axes>
!f = !tmap.tensor<f32, "1", #axes>
!t = !tmap.tensor<f32, "H, N", #axes>
!y = !tmap.tensor<bf16, "H, N", #axes>
func.func @kernel(%x: !x, %b: !b, %s: !s) -> !y attributes {visa.kernel} {
  %u = tmap.elementwise add %x, %b : (!x, !b) -> !x
  %k = tmap.constant 2.5 : f32 : !f
  %v = tmap.elementwise mul %k, %u : (!f, !x) -> !x
  %w = tmap.elementwise sub %v, %s : (!x, !s) -> !x
  %t = tmap.move %w : !x -> !t
  %y = tmap.cast %t : !t -> !y
  return %y : !y
}
)",
                     {x, b, s}),
            expected);
}

/// What a function has no result for is undefined, and all that depends on it.
TEST_F(InterpreterTest, UndefinedSpreads) {
  ASSERT_TRUE(parse(R"(
#axes = #tmap.axes<N = 3>
!x = !tmap.tensor<i32, "N", #axes>
!y = !tmap.tensor<i32, "1", #axes>
func.func @kernel(%x: !x) -> (!x, !y) attributes {visa.kernel} {
  %one = tmap.constant 1 : i32 : !y
  %s = tmap.elementwise shl %one, %x : (!y, !x) -> !x
  %m = tmap.reduce max %s over [N] : !x -> !y
  return %s, %m : !x, !y
}
)",
                    /*check=*/true));
  std::vector<HostTensor> arguments = fill({Fill::constant(0)});
  arguments[0].codes = {3, 32, 31};
  std::vector<HostTensor> results = run(arguments);
  EXPECT_EQ(results[0].defined, (std::vector<uint8_t>{1, 0, 1}));
  EXPECT_EQ(results[0].codes[0], 8u);
  EXPECT_EQ(results[0].codes[2], 0x80000000u);
  EXPECT_EQ(results[1].defined[0], 0);
}

/// A 3 x 3 convolution with steps of 2 and a row of zeros in front, and windows
/// whose taps lie apart: loops over the source with a test of its borders.
TEST_F(InterpreterTest, WindowsOfRowsAndZeros) {
  constexpr int64_t H = 7, W = 9, C = 3, Y = 4, X = 5, R = 3, S = 2;
  Codes x;
  for (int64_t i = 0; i < H * W * C; ++i)
    x.push_back(static_cast<uint32_t>(i * 7 % 251 + 1));
  Codes expected;
  for (int64_t r = 0; r < R; ++r)
    for (int64_t y = 0; y < Y; ++y)
      for (int64_t c = 0; c < C; ++c)
        for (int64_t s = 0; s < S; ++s)
          for (int64_t q = 0; q < X; ++q) {
            int64_t row = 2 * y + r - 1, column = q + 4 * s + 1;
            bool isOutside = row < 0 || row >= H || column >= W;
            expected.push_back(isOutside ? 0 : x[(row * W + column) * C + c]);
          }
  EXPECT_EQ(runCodes(R"(
#axes = #tmap.axes<H = 7, W = 9, C = 3, Y = 4, X = 5, R = 3, S = 2>
!x = !tmap.tensor<i32, "H, W, C", #axes>
!v = !tmap.tensor<i32, "R, Y, C, S, X", #axes>
func.func @kernel(%x: !x) -> !v attributes {visa.kernel} {
  %v = tmap.window %x [H = Y * 2 + R - 1, W = X + S * 4 + 1] : !x -> !v
  return %v : !v
}
)",
                     {x}),
            expected);
}
