//===- KernelVariantsTest.cpp - Kernels the whole way ---------------------===//
//
// Each kernel runs as text in the interpreter and as a binary in the simulator,
// with effects as late and as early as the queue allows. All results are equal
// bit for bit, and equal to a plain loop written here.
//
//===----------------------------------------------------------------------===//

#include "KernelText.h"
#include "Kernels.h"

#include "furiosa/Tools/Compile.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>

using namespace furiosa;
using namespace furiosa::test;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Plain loops
//===----------------------------------------------------------------------===//

static int32_t integerOf(ElementType type, uint32_t code) {
  if (type == ElementType::I4)
    return static_cast<int32_t>(code << 28) >> 28;
  return static_cast<int8_t>(code);
}

/// bf16 of an f32, nearest even, subnormals to zero.
static uint32_t narrow(float value) {
  uint32_t pattern = asPattern(value);
  if (std::isnan(value))
    return 0x7FC0;
  if ((pattern & 0x7F800000u) == 0)
    return (pattern >> 16) & 0x8000;
  uint32_t rest = pattern & 0xFFFF, kept = pattern >> 16;
  if (rest > 0x8000 || (rest == 0x8000 && (kept & 1)))
    ++kept;
  return kept;
}

/// Sum of a[0 … depth) * b[0 … depth): a tree over neighbours within each
/// packet, packets in order from +0.
static float dot(ElementType type, const uint32_t *a, const uint32_t *b,
                 int64_t depth, int64_t packet) {
  float sum = 0.0f;
  for (int64_t at = 0; at < depth; at += packet) {
    std::vector<float> level(packet);
    for (int64_t k = 0; k < packet; ++k)
      level[k] = valueOf(type, a[at + k]) * valueOf(type, b[at + k]);
    while (level.size() > 1) {
      for (size_t k = 0; k < level.size() / 2; ++k)
        level[k] = level[2 * k] + level[2 * k + 1];
      level.resize(level.size() / 2);
    }
    sum += level[0];
  }
  return sum;
}

static Codes plainGemm(const Gemm &gemm, const Codes &a, const Codes &b) {
  Codes c;
  for (int64_t i = 0; i < gemm.rows; ++i)
    for (int64_t j = 0; j < gemm.columns; ++j) {
      const uint32_t *row = &a[i * gemm.depth], *column = &b[j * gemm.depth];
      if (isInteger(gemm.type)) {
        uint32_t sum = 0;
        for (int64_t k = 0; k < gemm.depth; ++k)
          sum += static_cast<uint32_t>(
              (integerOf(gemm.type, row[k]) - gemm.zeroA.value_or(0)) *
              (integerOf(gemm.type, column[k]) - gemm.zeroB.value_or(0)));
        c.push_back(sum);
        continue;
      }
      float sum = dot(gemm.type, row, column, gemm.depth, gemm.packet());
      c.push_back(gemm.castToBf16 ? narrow(sum) : asPattern(sum));
    }
  return c;
}

/// At least 90 % of the results of the tame fills are finite.
static void expectMostlyFinite(const Gemm &gemm, const Codes &codes) {
  if (isInteger(gemm.type))
    return;
  size_t finite = llvm::count_if(codes, [&](uint32_t code) {
    return std::isfinite(gemm.castToBf16 ? asFloat(code << 16) : asFloat(code));
  });
  EXPECT_GE(finite * 10, codes.size() * 9);
}

//===----------------------------------------------------------------------===//
// GEMM
//===----------------------------------------------------------------------===//

class GemmVariant : public testing::TestWithParam<Gemm> {};

TEST_P(GemmVariant, AgreesWithLoops) {
  const Gemm &gemm = GetParam();
  Built built;
  ASSERT_NO_FATAL_FAILURE(build(gemm.text(), built));
  for (StringRef kind : {"bits", "small", "quarter"}) {
    if (kind == "quarter" && isInteger(gemm.type))
      continue;
    std::vector<HostArray> arguments = makeArguments(built, kind);
    Codes expected = plainGemm(gemm, arguments[0].codes, arguments[1].codes);
    if (kind != "bits")
      expectMostlyFinite(gemm, expected);
    ASSERT_NO_FATAL_FAILURE(compare(built, arguments, expected))
        << kind.str() << gemm.text();
  }
}

/// Infinities, NaN, zeros of either sign, the largest and the smallest values,
/// one a row and column.
TEST_P(GemmVariant, SpecialValues) {
  const Gemm &gemm = GetParam();
  Codes special;
  switch (gemm.type) {
  case ElementType::BF16:
    special = {0x7F80, 0xFF80, 0x7FC0, 0xFFC1, 0x8000, 0x0000,
               0x7F7F, 0xFF7F, 0x0001, 0x8001, 0x0080, 0x3F80};
    break;
  case ElementType::F8E4M3:
    special = {0x7F, 0xFF, 0x80, 0x00, 0x7E, 0xFE, 0x01, 0x81, 0x08};
    break;
  case ElementType::F8E5M2:
    special = {0x7C, 0xFC, 0x7E, 0x80, 0x00, 0x7B, 0xFB, 0x01, 0x81};
    break;
  case ElementType::I4:
    special = {0x8, 0x7, 0xF, 0x0};
    break;
  default:
    special = {0x80, 0x7F, 0xFF, 0x00};
    break;
  }
  Built built;
  ASSERT_NO_FATAL_FAILURE(build(gemm.text(), built));
  std::vector<HostArray> arguments = makeArguments(built, "small");
  for (HostArray &array : arguments) {
    int64_t rows = array.shape[0];
    for (int64_t i = 0; i < rows; ++i)
      array.codes[i * gemm.depth + (i * 7) % gemm.depth] =
          special[i % special.size()];
  }
  ASSERT_NO_FATAL_FAILURE(
      compare(built, arguments,
              plainGemm(gemm, arguments[0].codes, arguments[1].codes)))
      << gemm.text();
}

static Gemm gemm(ElementType type, int64_t rows, int64_t columns, int64_t depth,
                 int64_t rowsPerSlice, int64_t columnsPerSlice, int64_t lanes,
                 int64_t flits, bool broadcast = false, bool sequential = false,
                 bool castToBf16 = false) {
  return {type,  rows,  columns,   depth,      rowsPerSlice, columnsPerSlice,
          lanes, flits, broadcast, sequential, castToBf16,   {},
          {}};
}

static Gemm withZeroPoints(Gemm gemm, std::optional<int> zeroA,
                           std::optional<int> zeroB) {
  gemm.zeroA = zeroA;
  gemm.zeroB = zeroB;
  return gemm;
}

static constexpr ElementType I4 = ElementType::I4, I8 = ElementType::I8,
                             BF16 = ElementType::BF16,
                             E4M3 = ElementType::F8E4M3,
                             E5M2 = ElementType::F8E5M2;

INSTANTIATE_TEST_SUITE_P(
    Integration, GemmVariant,
    testing::Values(
        // The depth, with one and two flits.
        gemm(I8, 64, 64, 32, 4, 8, 8, 1), gemm(I8, 64, 64, 64, 4, 8, 8, 1),
        gemm(I8, 64, 64, 64, 4, 8, 8, 2), gemm(I8, 64, 64, 128, 4, 8, 8, 2),
        gemm(I8, 64, 64, 256, 4, 8, 8, 2), gemm(I8, 32, 64, 512, 4, 8, 8, 1),
        gemm(I8, 32, 64, 512, 4, 8, 8, 2),
        // Lanes.
        gemm(I8, 64, 64, 64, 4, 8, 4, 2), gemm(I8, 64, 64, 64, 4, 8, 2, 2),
        gemm(I8, 64, 64, 64, 4, 8, 1, 2), gemm(I8, 64, 64, 64, 4, 32, 8, 2),
        // Padded slices: 12 x 8, 5 x 4, 3 x 3 and a single slice.
        gemm(I8, 48, 64, 64, 4, 8, 8, 2), gemm(I8, 20, 32, 64, 4, 8, 8, 2),
        gemm(I8, 4, 8, 64, 4, 8, 8, 2), gemm(I8, 100, 8, 64, 1, 8, 8, 2),
        // Each packet sent to all groups; sums over an outer time axis.
        gemm(I8, 64, 128, 128, 4, 32, 8, 2, true),
        gemm(I8, 64, 128, 64, 4, 32, 8, 1, true),
        gemm(BF16, 32, 64, 128, 4, 16, 4, 2, true),
        // Sequential lanes.
        gemm(I8, 32, 32, 64, 4, 8, 8, 2, false, true),
        gemm(BF16, 32, 32, 64, 4, 8, 4, 2, false, true),
        // Types.
        gemm(I4, 64, 64, 128, 4, 8, 8, 2), gemm(I4, 64, 64, 64, 4, 8, 8, 1),
        gemm(E4M3, 64, 64, 64, 4, 8, 8, 2), gemm(E5M2, 64, 64, 64, 4, 8, 8, 2),
        gemm(E4M3, 64, 64, 32, 4, 8, 8, 1), gemm(BF16, 64, 64, 32, 4, 8, 8, 1),
        gemm(BF16, 64, 64, 32, 4, 8, 8, 2), gemm(BF16, 64, 64, 128, 4, 8, 8, 2),
        gemm(BF16, 64, 64, 512, 4, 8, 8, 2), gemm(BF16, 64, 64, 64, 4, 8, 2, 2),
        // Zero points subtracted from either side, at the ends of the range.
        withZeroPoints(gemm(I8, 64, 64, 64, 4, 8, 8, 2), 3, {}),
        withZeroPoints(gemm(I8, 64, 64, 64, 4, 8, 8, 1), {}, -128),
        withZeroPoints(gemm(I8, 64, 64, 128, 4, 16, 4, 2, true), 127, -128),
        withZeroPoints(gemm(I4, 64, 64, 128, 4, 8, 8, 2), -8, {}),
        withZeroPoints(gemm(I4, 64, 64, 128, 4, 8, 2, 1), {}, 7),
        withZeroPoints(gemm(I4, 64, 64, 64, 4, 8, 8, 1), 7, -8),
        // Narrowed on the way out.
        gemm(BF16, 64, 64, 64, 4, 32, 8, 2, false, false, true),
        gemm(BF16, 60, 64, 64, 4, 8, 4, 1, false, false, true)));

/// All types, lanes, flits, both lane modes, broadcasts, paddings and zero
/// points together.
TEST(Random, Gemm) {
  Choices choices(8);
  for (int i = 0; i < choices.cases; ++i) {
    Gemm shape;
    shape.type = static_cast<ElementType>(
        choices.pick({int(I4), int(I8), int(E4M3), int(E5M2), int(BF16)}));
    shape.lanes = choices.pick({1, 2, 4, 8});
    shape.flits = choices.pick({1, 2});
    shape.sequential = choices.chance(30);
    shape.broadcast = choices.chance(50);
    shape.castToBf16 = !isInteger(shape.type) && choices.chance(30);
    shape.rowsPerSlice = choices.pick({1, 2, 4});
    shape.rows = shape.rowsPerSlice * choices.pick({1, 3, 7, 16});
    shape.columnsPerSlice = shape.lanes * choices.pick({1, 2, 4});
    shape.columns = shape.columnsPerSlice * choices.pick({1, 2, 8});
    shape.depth = shape.packet() * choices.pick({1, 2, 4});
    if (isInteger(shape.type)) {
      int limit = shape.type == I4 ? 8 : 128;
      for (std::optional<int> *zero : {&shape.zeroA, &shape.zeroB})
        if (choices.chance(30))
          *zero = int(choices.pick({-limit, -1, 0, 3, limit - 1}));
    }
    Built built;
    ASSERT_NO_FATAL_FAILURE(build(shape.text(), built)) << shape.text();
    std::vector<HostArray> arguments = makeArguments(built, "bits");
    ASSERT_NO_FATAL_FAILURE(
        compare(built, arguments,
                plainGemm(shape, arguments[0].codes, arguments[1].codes)))
        << shape.text();
  }
}

//===----------------------------------------------------------------------===//
// GEMV
//===----------------------------------------------------------------------===//

class GemvVariant : public testing::TestWithParam<Gemv> {};

TEST_P(GemvVariant, AgreesWithLoops) {
  const Gemv &gemv = GetParam();
  Built built;
  ASSERT_NO_FATAL_FAILURE(build(gemv.text(), built));
  for (StringRef kind : {"bits", "small", "quarter"}) {
    std::vector<HostArray> arguments = makeArguments(built, kind);
    Codes expected;
    for (int64_t r = 0; r < gemv.tiles * 2048; ++r)
      expected.push_back(asPattern(dot(
          BF16, &arguments[0].codes[r * gemv.depth], arguments[1].codes.data(),
          gemv.depth, std::min<int64_t>(gemv.depth, 32))));
    ASSERT_NO_FATAL_FAILURE(compare(built, arguments, expected))
        << kind.str() << gemv.text();
  }
}

INSTANTIATE_TEST_SUITE_P(Integration, GemvVariant,
                         testing::Values(Gemv{1, 64}, Gemv{2, 32}, Gemv{4, 64},
                                         Gemv{5, 128}, Gemv{9, 32}));

/// The loop is kept: the binary does not grow with its trips.
TEST(Gemv, SizeDoesNotGrowWithTrips) {
  auto sizeOf = [](int64_t tiles) {
    Built built;
    build(Gemv{tiles, 64}.text(), built);
    auto binary = compileKernel(*built.module, built.kernel);
    return llvm::cantFail(rngd::edf::write(*binary)).size();
  };
  // Rounds that stand around a loop depend on the trips that are left over.
  EXPECT_EQ(sizeOf(64), sizeOf(124));
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

static int32_t saturate(int64_t value) {
  return static_cast<int32_t>(std::clamp<int64_t>(value, INT32_MIN, INT32_MAX));
}

static uint32_t apply(StringRef function, int32_t a, int32_t b) {
  int64_t wideA = a, wideB = b;
  if (function == "add")
    return static_cast<uint32_t>(wideA + wideB);
  if (function == "add_sat")
    return saturate(wideA + wideB);
  if (function == "sub")
    return static_cast<uint32_t>(wideA - wideB);
  if (function == "sub_sat")
    return saturate(wideA - wideB);
  if (function == "mul_int")
    return static_cast<uint32_t>(a) * static_cast<uint32_t>(b);
  if (function == "mul_fxp") // floor(a b / 2^31 + 1/2)
    return saturate((wideA * wideB + (int64_t(1) << 30)) >> 31);
  if (function == "shl")
    return static_cast<uint32_t>(a) << b;
  if (function == "shr")
    return static_cast<uint32_t>(a) >> b;
  if (function == "sar")
    return a >> b;
  ADD_FAILURE() << "no loop for " << function.str();
  return 0;
}

class ElementwiseVariant : public testing::TestWithParam<Elementwise> {};

TEST_P(ElementwiseVariant, AgreesWithLoops) {
  const Elementwise &kernel = GetParam();
  Built built;
  ASSERT_NO_FATAL_FAILURE(build(kernel.text(), built));
  std::vector<HostArray> arguments = makeArguments(built, "bits");
  // The ends of the range meet each other.
  Codes &a = arguments[0].codes, &b = arguments[1].codes;
  a[0] = 0x80000000;
  a[1] = 0x7FFFFFFF;
  b[0] = 0x80000000;
  b[1] = 0x7FFFFFFF;
  Codes expected;
  for (size_t i = 0; i < a.size(); ++i)
    expected.push_back(
        apply(kernel.function, a[i],
              kernel.fromRegisterFile ? b[i] : kernel.immediate));
  ASSERT_NO_FATAL_FAILURE(compare(built, arguments, expected)) << kernel.text();
}

INSTANTIATE_TEST_SUITE_P(
    Integration, ElementwiseVariant,
    testing::Values(Elementwise{2048, 8, "add", false, 1},
                    Elementwise{2048, 8, "mul_int", true, 0},
                    Elementwise{4096, 16, "add", false, -7},
                    Elementwise{4096, 16, "mul_int", true, 0},
                    Elementwise{40, 8, "add", false, INT32_MAX},
                    Elementwise{800, 8, "mul_int", true, 0},
                    Elementwise{2048, 64, "sub", true, 0},
                    Elementwise{2048, 8, "add_sat", true, 0},
                    Elementwise{2048, 8, "sub_sat", true, 0},
                    Elementwise{2048, 8, "mul_fxp", true, 0},
                    Elementwise{2048, 8, "shl", false, 31},
                    Elementwise{2048, 8, "shr", false, 5},
                    Elementwise{2048, 8, "sar", false, 13}));
