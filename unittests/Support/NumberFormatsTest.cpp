//===- NumberFormatsTest.cpp - The element types of the chip --------------===//
//
// Names, byte buffers, exhaustive round trips, and f32 arithmetic against the
// floating-point unit of the host.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Support/NumberFormats.h"

#include "furiosa/Support/Fill.h"

#include "gtest/gtest.h"

#include <cfenv>
#include <cmath>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

using namespace furiosa;

namespace {

uint32_t patternOf(float value) { return std::bit_cast<uint32_t>(value); }
float floatOf(uint32_t pattern) { return std::bit_cast<float>(pattern); }

uint32_t canonical(uint32_t pattern) {
  return (pattern & 0x7FFFFFFFu) > 0x7F800000u ? canonicalNaN : pattern;
}

/// The host's results, out of reach of the optimiser's own arithmetic.
uint32_t hostAdd(uint32_t a, uint32_t b) {
  volatile float x = floatOf(a), y = floatOf(b);
  volatile float sum = x + y;
  return canonical(patternOf(sum));
}
uint32_t hostMul(uint32_t a, uint32_t b) {
  volatile float x = floatOf(a), y = floatOf(b);
  volatile float product = x * y;
  return canonical(patternOf(product));
}

const uint32_t specials[] = {
    0x00000000, 0x00000001, 0x00000002, 0x00000003, 0x00400000, 0x007FFFFE,
    0x007FFFFF, 0x00800000, 0x00800001, 0x00FFFFFF, 0x01000000, 0x33800000,
    0x33800001, 0x34000000, 0x3EFFFFFF, 0x3F000000, 0x3F7FFFFF, 0x3F800000,
    0x3F800001, 0x3FFFFFFF, 0x40000000, 0x4B800000, 0x4B800001, 0x7EFFFFFF,
    0x7F000000, 0x7F7FFFFE, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000,
    0x7FFFFFFF};

TEST(NumberFormats, Names) {
  for (unsigned i = 0; i < numElementTypes; ++i) {
    auto type = static_cast<ElementType>(i);
    EXPECT_EQ(parseElementType(toString(type)), type);
  }
  EXPECT_EQ(toString(ElementType::F8E4M3), "f8e4m3");
  EXPECT_EQ(toString(ElementType::U8), "u8");
  EXPECT_FALSE(parseElementType("f16"));
  EXPECT_FALSE(parseElementType(""));
  EXPECT_FALSE(isFloat(ElementType::U8));
  EXPECT_TRUE(isFloat(ElementType::F4E2M1));
}

TEST(NumberFormats, Widths) {
  EXPECT_EQ(wireBits(ElementType::I5), 4u);
  EXPECT_EQ(wireBits(ElementType::I9), 8u);
  EXPECT_EQ(codeBits(ElementType::I5), 5u);
  EXPECT_EQ(codeBits(ElementType::I9), 9u);
  EXPECT_EQ(wireBits(ElementType::BF16), 16u);
  EXPECT_EQ(minInteger(ElementType::I9), -256);
  EXPECT_EQ(maxInteger(ElementType::I5), 15);
  EXPECT_EQ(minInteger(ElementType::U8), 0);
  EXPECT_EQ(maxInteger(ElementType::U8), 255);
  EXPECT_EQ(minInteger(ElementType::I32), INT32_MIN);
  EXPECT_EQ(maxInteger(ElementType::I32), INT32_MAX);
}

TEST(NumberFormats, IntegerCodes) {
  EXPECT_EQ(decodeInteger(ElementType::U8, 0xFF), 255);
  EXPECT_EQ(decodeInteger(ElementType::I8, 0xFF), -1);
  EXPECT_EQ(decodeInteger(ElementType::I4, 0xF8), -8);
  EXPECT_EQ(encodeInteger(ElementType::I4, 9), 9u);
  EXPECT_EQ(encodeInteger(ElementType::I9, -1), 0x1FFu);
  EXPECT_EQ(encodeInteger(ElementType::I32, INT32_MIN), 0x80000000u);
}

// TU-8: the zero point lies in the range of the source.
TEST(NumberFormats, ZeroPoint) {
  EXPECT_EQ(subtractZeroPoint(ElementType::I8, -128, 127), -255);
  EXPECT_EQ(subtractZeroPoint(ElementType::I8, 127, -128), 255);
  EXPECT_FALSE(subtractZeroPoint(ElementType::I8, 0, 200));
  EXPECT_FALSE(subtractZeroPoint(ElementType::I4, 0, -9));
  EXPECT_FALSE(subtractZeroPoint(ElementType::I16, 0, 0));
}

TEST(NumberFormats, FloatCodesRoundTrip) {
  for (ElementType type : {ElementType::F4E2M1, ElementType::F8E4M3,
                           ElementType::F8E5M2, ElementType::BF16}) {
    for (uint32_t code = 0; code < 1u << codeBits(type); ++code) {
      if (isNaN(type, code))
        continue;
      // Subnormals of bf16 are flushed both ways.
      if (type == ElementType::BF16 && (code & 0x7F80) == 0)
        EXPECT_EQ(encodeFloat(type, decodeFloat(type, code)), code & 0x8000);
      else
        EXPECT_EQ(encodeFloat(type, decodeFloat(type, code)), code)
            << toString(type).str();
    }
  }
}

// 2.5 and 3.5 lie in the middle, 5 too; beyond 6 saturates.
TEST(NumberFormats, F4Rounding) {
  EXPECT_EQ(f32ToF4E2M1(patternOf(2.5f)), 0x4);
  EXPECT_EQ(f32ToF4E2M1(patternOf(3.5f)), 0x6);
  EXPECT_EQ(f32ToF4E2M1(patternOf(5.0f)), 0x6);
  EXPECT_EQ(f32ToF4E2M1(patternOf(0.25f)), 0x0);
  EXPECT_EQ(f32ToF4E2M1(patternOf(0.75f)), 0x2);
  EXPECT_EQ(f32ToF4E2M1(patternOf(-0.26f)), 0x9);
  EXPECT_EQ(f32ToF4E2M1(patternOf(-1e30f)), 0xF);
}

TEST(NumberFormats, Classes) {
  EXPECT_TRUE(isFinite(ElementType::I8, 0xFF));
  EXPECT_FALSE(isNaN(ElementType::I32, 0x7FC00000));
  EXPECT_FALSE(isFinite(ElementType::F8E4M3, 0x7F));
  EXPECT_TRUE(isFinite(ElementType::F8E4M3, 0x7E));
  EXPECT_FALSE(isFinite(ElementType::F8E5M2, 0x7C));
  EXPECT_FALSE(isNaN(ElementType::F8E5M2, 0x7C));
  EXPECT_TRUE(isNaN(ElementType::F8E5M2, 0xFD));
  EXPECT_FALSE(isFinite(ElementType::F32, 0xFF800000));
  EXPECT_TRUE(isNaN(ElementType::BF16, 0x7F81));
}

// The conversion of integers and fractions to floats on the host rounds to
// nearest even, too.
TEST(NumberFormats, FixedAgainstHost) {
  for (uint64_t n = 0; n < 200000; ++n) {
    uint64_t x = splitMix64(2, n);
    // All magnitudes alike.
    int32_t value = static_cast<int32_t>(x) >> (x >> 32 & 31);
    unsigned width = x >> 40 & 31;
    volatile float direct = static_cast<float>(value);
    float host = std::ldexp(direct, static_cast<int>(width) - 31);
    ASSERT_EQ(fixedToF32(value, width), patternOf(host))
        << value << " width " << width;
    // Back: exact in double, std::round takes half away from zero.
    double scaled = std::round(std::ldexp(double(host), 31 - int(width)));
    int32_t expected = scaled >= 2147483648.0   ? INT32_MAX
                       : scaled < -2147483648.0 ? INT32_MIN
                                                : static_cast<int32_t>(scaled);
    ASSERT_EQ(f32ToFixed(patternOf(host), width), expected);
  }
  EXPECT_EQ(f32ToFixed(patternOf(0.5f), 31), 1);
  EXPECT_EQ(f32ToFixed(patternOf(-0.5f), 31), -1);
  EXPECT_EQ(f32ToFixed(patternOf(0.49999997f), 31), 0);
  EXPECT_EQ(f32ToFixed(0x7FC00000, 31), INT32_MAX);
  EXPECT_EQ(f32ToFixed(0xFFC00000, 31), INT32_MIN);
  EXPECT_EQ(f32ToFixed(0xFF800000, 31), INT32_MIN);
}

TEST(NumberFormats, F64AgainstHost) {
  for (uint64_t n = 0; n < 200000; ++n) {
    uint64_t x = splitMix64(3, n);
    // Exponents around the range of f32, and often few mantissa bits (ties).
    uint64_t exponent = 1023 - 160 + (x >> 32) % 300;
    uint64_t mantissa = splitMix64(4, n) & 0xFFFFFFFFFFFFFu;
    if (x & 1)
      mantissa &= ~uint64_t(0) << 27;
    uint64_t pattern = (x & 2) << 62 | exponent << 52 | mantissa;
    volatile double value = std::bit_cast<double>(pattern);
    volatile float host = static_cast<float>(value);
    ASSERT_EQ(f64ToF32(pattern), patternOf(host)) << std::hex << pattern;
  }
  for (uint32_t special : specials)
    for (uint32_t pattern : {special, special | 0x80000000u}) {
      if ((pattern & 0x7FFFFFFF) > 0x7F800000) {
        EXPECT_EQ(f64ToF32(f32ToF64(pattern)), canonicalNaN);
        continue;
      }
      volatile float value = floatOf(pattern);
      volatile double wide = value;
      EXPECT_EQ(f32ToF64(pattern), std::bit_cast<uint64_t>(double(wide)));
      EXPECT_EQ(f64ToF32(f32ToF64(pattern)), pattern);
    }
  EXPECT_EQ(f64ToF32(1), 0u);
}

TEST(NumberFormats, LookupPairs) {
  EXPECT_EQ(tableLookup(ElementType::F8E4M3, ElementType::BF16, 0x7E), 0x43E0u);
  EXPECT_EQ(tableLookup(ElementType::F4E2M1, ElementType::F8E4M3, 0x8), 0x80u);
  EXPECT_EQ(tableLookup(ElementType::F8E5M2, ElementType::BF16, 0xFF), 0x7FC0u);
  EXPECT_FALSE(tableLookup(ElementType::F4E2M1, ElementType::BF16, 0));
  EXPECT_FALSE(tableLookup(ElementType::F8E5M2, ElementType::F32, 0));
  EXPECT_FALSE(tableLookup(ElementType::I8, ElementType::BF16, 0));
}

TEST(NumberFormats, StorageBytes) {
  EXPECT_EQ(storageBytes(ElementType::F4E2M1, 6), 3u);
  EXPECT_FALSE(storageBytes(ElementType::I4, 5));
  EXPECT_EQ(storageBytes(ElementType::F32, 3), 12u);
  EXPECT_EQ(storageBytes(ElementType::I8, UINT64_MAX), UINT64_MAX);
  EXPECT_FALSE(storageBytes(ElementType::BF16, uint64_t(1) << 63));
}

TEST(NumberFormats, ByteBuffers) {
  EXPECT_EQ(packCodes(ElementType::I4, {1, 2, 0xF, 0x18}),
            (std::vector<uint8_t>{0x21, 0x8F}));
  EXPECT_EQ(packCodes(ElementType::BF16, {0x3F80, 0xC000}),
            (std::vector<uint8_t>{0x80, 0x3F, 0x00, 0xC0}));
  EXPECT_EQ(packCodes(ElementType::I32, {0x12345678}),
            (std::vector<uint8_t>{0x78, 0x56, 0x34, 0x12}));
  EXPECT_FALSE(packCodes(ElementType::F4E2M1, {1}));
  EXPECT_EQ(packCodes(ElementType::I8, {}), std::vector<uint8_t>());

  uint8_t bytes[] = {0x11, 0x22};
  storeCode(ElementType::I4, bytes, 1, 0xA);
  storeCode(ElementType::F4E2M1, bytes, 2, 0x5);
  EXPECT_EQ(bytes[0], 0xA1);
  EXPECT_EQ(bytes[1], 0x25);
  EXPECT_EQ(loadCode(ElementType::I4, bytes, 1), 0xAu);
  EXPECT_EQ(loadCode(ElementType::U8, bytes, 1), 0x25u);
  EXPECT_EQ(loadCode(ElementType::I16, bytes, 0), 0x25A1u);
  // Types that are never stored move their wire bits.
  storeCode(ElementType::I9, bytes, 0, 0x1FE);
  EXPECT_EQ(bytes[0], 0xFE);
  storeCode(ElementType::I5, bytes, 3, 0x1C);
  EXPECT_EQ(bytes[1], 0xC5);

  EXPECT_EQ(unpackCodes(ElementType::I4, {0x21, 0x03}, 3),
            (std::vector<uint32_t>{1, 2, 3}));
  EXPECT_FALSE(unpackCodes(ElementType::I4, {0x21}, 3));
  EXPECT_FALSE(unpackCodes(ElementType::F32, {1, 2, 3}, 1));
  EXPECT_FALSE(unpackCodes(ElementType::F32, {}, UINT64_MAX));
}

TEST(F32Arithmetic, Known) {
  // 2^24 + 1 is a tie to even, 2^24 + 3 to the even one above.
  EXPECT_EQ(addF32(0x4B800000, 0x3F800000), 0x4B800000u);
  EXPECT_EQ(addF32(0x4B800001, 0x3F800000), 0x4B800002u);
  EXPECT_EQ(addF32(0x3F800000, 0xBF800000), 0x00000000u);
  EXPECT_EQ(addF32(0x80000000, 0x80000000), 0x80000000u);
  EXPECT_EQ(addF32(0x80000000, 0x00000000), 0x00000000u);
  EXPECT_EQ(addF32(0x7F7FFFFF, 0x7F7FFFFF), 0x7F800000u);
  EXPECT_EQ(addF32(0x7F000000, 0x7F000002), 0x7F800000u);
  EXPECT_EQ(addF32(0x7F800000, 0xFF800000), 0x7FC00000u);
  EXPECT_EQ(addF32(0xFF800001, 0x00000000), 0x7FC00000u);
  EXPECT_EQ(addF32(0x00000001, 0x007FFFFF), 0x00800000u);
  EXPECT_EQ(mulF32(0x00000000, 0xFF800000), 0x7FC00000u);
  EXPECT_EQ(mulF32(0xBF800000, 0x00000000), 0x80000000u);
  EXPECT_EQ(mulF32(0x00000001, 0x3F000000), 0x00000000u); // tie to even
  EXPECT_EQ(mulF32(0x00000003, 0x3F000000), 0x00000002u); // tie to even
  EXPECT_EQ(mulF32(0x00000001, 0x4B000000), 0x00800000u);
  EXPECT_EQ(mulF32(0x7F7FFFFF, 0x40000000), 0x7F800000u);
  EXPECT_EQ(mulF32(0xFFC12345, 0x3F800000), 0x7FC00000u);
}

/// Pairs of patterns that stress rounding, cancellation and the ends.
template <typename Check>
void forPairs(Check check) {
  for (uint32_t a : specials)
    for (uint32_t b : specials)
      for (uint32_t signs = 0; signs < 4; ++signs)
        check(a | signs << 31, b | (signs & 2) << 30);
  for (uint64_t n = 0; n < 1000000; ++n) {
    uint64_t x = splitMix64(5, n);
    auto a = static_cast<uint32_t>(x), b = static_cast<uint32_t>(x >> 32);
    check(a, b);
    // Exponents close together, few mantissa bits.
    uint64_t y = splitMix64(6, n);
    uint32_t near = (a & 0x7F800000u) + ((y % 64) << 23) - (32u << 23);
    check(a, (b & 0x807FFFFFu) | (near & 0x7F800000u));
    uint32_t mask = ~0u << (y >> 8 & 23);
    check(a & mask, ((b & 0x807FFFFFu) | (near & 0x7F800000u)) & mask);
    // Products around the least normal number.
    uint32_t ea = y >> 16 & 127, eb = 127 - ea + (y >> 24) % 40 - 30;
    check((a & 0x807FFFFFu) | ea << 23, (b & 0x807FFFFFu) | (eb & 255) << 23);
  }
}

TEST(F32Arithmetic, AddAgainstHost) {
  forPairs([](uint32_t a, uint32_t b) {
    ASSERT_EQ(addF32(a, b), hostAdd(a, b)) << std::hex << a << " + " << b;
    ASSERT_EQ(addF32(b, a), addF32(a, b)) << std::hex << a << " + " << b;
  });
}

TEST(F32Arithmetic, MulAgainstHost) {
  forPairs([](uint32_t a, uint32_t b) {
    ASSERT_EQ(mulF32(a, b), hostMul(a, b)) << std::hex << a << " * " << b;
    ASSERT_EQ(mulF32(b, a), mulF32(a, b)) << std::hex << a << " * " << b;
  });
}

TEST(F32Arithmetic, HostHelpers) {
  forPairs([](uint32_t a, uint32_t b) {
    float x = floatOf(a), y = floatOf(b);
    ASSERT_EQ(patternOf(addHostF32(x, y)), addF32(a, b));
    ASSERT_EQ(patternOf(mulHostF32(x, y)), mulF32(a, b));
  });
}

// Another mode of the host changes neither the integer functions nor, inside
// a scope, the helpers.
TEST(F32Arithmetic, RoundingModeOfHost) {
  const uint32_t one = 0x3F800000, tiny = 0x33000000, least = 1;
  ASSERT_EQ(fesetround(FE_UPWARD), 0);
  uint32_t outside = hostAdd(one, tiny);
  uint32_t sum = addF32(one, tiny), product = mulF32(0x3F800001, 0x3F800001);
  uint32_t inside, restored;
  {
    HostF32Scope scope;
    inside = hostAdd(one, tiny);
  }
  restored = hostAdd(one, tiny);
  fesetround(FE_TONEAREST);
  EXPECT_EQ(outside, 0x3F800001u);
  EXPECT_EQ(sum, one);
  EXPECT_EQ(product, 0x3F800002u);
  EXPECT_EQ(inside, one);
  EXPECT_EQ(restored, 0x3F800001u);

#if defined(__SSE__)
  // Flush to zero, and subnormals read as zero.
  unsigned saved = _mm_getcsr();
  _mm_setcsr(saved | 0x8040);
  uint32_t flushed = hostAdd(least, least), kept = addF32(least, least);
  uint32_t scoped;
  {
    HostF32Scope scope;
    scoped = hostAdd(least, least);
  }
  _mm_setcsr(saved);
  EXPECT_EQ(flushed, 0u);
  EXPECT_EQ(kept, 2u);
  EXPECT_EQ(scoped, 2u);
#else
  EXPECT_EQ(addF32(least, least), 2u);
#endif
}

} // namespace
