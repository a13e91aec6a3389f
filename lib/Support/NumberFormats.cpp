//===- NumberFormats.cpp - The element types of the chip ------------------===//
//
// Names, tables and the conversions that are not in an inner loop. All of them
// work on bit patterns in integers.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Support/NumberFormats.h"

#include "llvm/Support/MathExtras.h"

#include <cfenv>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace furiosa {

using detail::absMask;
using detail::infinity;
using detail::shiftRightNearestEven;
using detail::signBit;

static constexpr llvm::StringLiteral typeNames[numElementTypes] = {
    "i4", "i5",     "i8",     "i9",     "i16",  "i32",
    "u8", "f4e2m1", "f8e4m3", "f8e5m2", "bf16", "f32"};

llvm::StringRef toString(ElementType type) {
  return typeNames[static_cast<unsigned>(type)];
}

std::optional<ElementType> parseElementType(llvm::StringRef name) {
  for (unsigned i = 0; i < numElementTypes; ++i)
    if (typeNames[i] == name)
      return static_cast<ElementType>(i);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

int32_t minInteger(ElementType type) {
  assert(isInteger(type) && "not an integer type");
  if (type == ElementType::U8)
    return 0;
  return static_cast<int32_t>(llvm::minIntN(codeBits(type)));
}

int32_t maxInteger(ElementType type) {
  assert(isInteger(type) && "not an integer type");
  if (type == ElementType::U8)
    return 255;
  return static_cast<int32_t>(llvm::maxIntN(codeBits(type)));
}

std::optional<int32_t> subtractZeroPoint(ElementType type, int32_t value,
                                         int32_t zeroPoint) {
  if (type != ElementType::I4 && type != ElementType::I8)
    return std::nullopt;
  if (zeroPoint < minInteger(type) || zeroPoint > maxInteger(type) ||
      value < minInteger(type) || value > maxInteger(type))
    return std::nullopt;
  return value - zeroPoint;
}

//===----------------------------------------------------------------------===//
// Decoding tables
//===----------------------------------------------------------------------===//

/// f32 pattern of a finite code with 1 sign bit and the given field widths.
static constexpr uint32_t decodeMinifloat(uint32_t code, unsigned exponentBits,
                                          unsigned mantissaBits) {
  uint32_t sign = (code >> (exponentBits + mantissaBits) & 1) << 31;
  uint32_t exponent = code >> mantissaBits & ((1u << exponentBits) - 1);
  uint32_t mantissa = code & ((1u << mantissaBits) - 1);
  // f32 bias minus that of the format.
  uint32_t rebias = 128 - (1u << (exponentBits - 1));
  if (exponent == 0) {
    if (mantissa == 0)
      return sign;
    // Normal in f32: shift until the implicit bit appears.
    exponent = 1;
    while (!(mantissa >> mantissaBits)) {
      mantissa <<= 1;
      --exponent;
    }
    mantissa &= (1u << mantissaBits) - 1;
  }
  return sign | (exponent + rebias) << 23 | mantissa << (23 - mantissaBits);
}

static constexpr uint32_t decodeF4E2M1(uint32_t code) {
  return decodeMinifloat(code, 2, 1);
}

static constexpr uint32_t decodeF8E4M3(uint32_t code) {
  if ((code & 0x7F) == 0x7F)
    return canonicalNaN;
  return decodeMinifloat(code, 4, 3);
}

static constexpr uint32_t decodeF8E5M2(uint32_t code) {
  uint32_t sign = (code & 0x80) << 24;
  if ((code & 0x7F) > 0x7C)
    return sign | canonicalNaN;
  if ((code & 0x7F) == 0x7C)
    return sign | infinity;
  return decodeMinifloat(code, 5, 2);
}

template <size_t size, typename Decode>
static constexpr std::array<uint32_t, size> makeTable(Decode decode) {
  std::array<uint32_t, size> table{};
  for (size_t code = 0; code < size; ++code)
    table[code] = decode(static_cast<uint32_t>(code));
  return table;
}

namespace detail {
constinit const std::array<uint32_t, 16> f4e2m1Patterns =
    makeTable<16>(decodeF4E2M1);
constinit const std::array<uint32_t, 256> f8e4m3Patterns =
    makeTable<256>(decodeF8E4M3);
constinit const std::array<uint32_t, 256> f8e5m2Patterns =
    makeTable<256>(decodeF8E5M2);
} // namespace detail

//===----------------------------------------------------------------------===//
// Encoders
//===----------------------------------------------------------------------===//

namespace {
/// A normal f32 magnitude on its way to a format with fewer bits.
struct Narrowing {
  /// Code of the exponent without the implicit bit, 0 for a subnormal result.
  uint32_t base;
  uint64_t significand;
  /// Bits of the significand to round away.
  unsigned drop;
};
} // namespace

/// The target has bias 127 − `rebias` and keeps `mantissaBits` of the mantissa.
static Narrowing narrow(uint32_t magnitude, unsigned rebias,
                        unsigned mantissaBits) {
  int exponent = static_cast<int>(magnitude >> 23) - static_cast<int>(rebias);
  uint64_t significand = (magnitude & 0x7FFFFFu) | 0x800000u;
  unsigned drop = 23 - mantissaBits;
  if (exponent >= 1)
    return {static_cast<uint32_t>(exponent - 1) << mantissaBits, significand,
            drop};
  drop += static_cast<unsigned>(1 - exponent);
  // From 26 on every significand rounds to zero.
  return {0, significand, drop < 26 ? drop : 26};
}

uint8_t f32ToF8E4M3(uint32_t pattern) {
  uint32_t sign = pattern >> 24 & 0x80u, magnitude = pattern & absMask;
  if (magnitude > infinity)
    return 0x7F;
  if (magnitude >= 0x43E00000u) // 448
    return static_cast<uint8_t>(sign | 0x7E);
  if (magnitude < 0x00800000u)
    return static_cast<uint8_t>(sign);
  Narrowing n = narrow(magnitude, 120, 3);
  return static_cast<uint8_t>(
      sign | (n.base + shiftRightNearestEven(n.significand, n.drop)));
}

uint8_t f32ToF8E5M2(uint32_t pattern) {
  uint32_t sign = pattern >> 24 & 0x80u, magnitude = pattern & absMask;
  if (magnitude > infinity)
    return 0x7E;
  if (magnitude == infinity)
    return static_cast<uint8_t>(sign | 0x7C);
  if (magnitude < 0x00800000u)
    return static_cast<uint8_t>(sign);
  Narrowing n = narrow(magnitude, 112, 2);
  uint64_t rounded = (n.significand + (uint64_t(1) << (n.drop - 1))) >> n.drop;
  // A subnormal result never rounds up to the least normal number.
  if (magnitude < 0x38800000u && rounded > 3)
    rounded = 3;
  uint64_t code = n.base + rounded;
  return static_cast<uint8_t>(sign | (code < 0x7C ? code : 0x7C));
}

uint8_t f32ToF4E2M1(uint32_t pattern) {
  uint32_t sign = pattern >> 28 & 0x8u, magnitude = pattern & absMask;
  if (magnitude > infinity)
    return 0x7;
  if (magnitude >= 0x40C00000u) // 6
    return static_cast<uint8_t>(sign | 0x7);
  if (magnitude < 0x00800000u)
    return static_cast<uint8_t>(sign);
  Narrowing n = narrow(magnitude, 126, 1);
  return static_cast<uint8_t>(
      sign | (n.base + shiftRightNearestEven(n.significand, n.drop)));
}

uint32_t encodeFloat(ElementType type, uint32_t pattern) {
  switch (type) {
  case ElementType::F4E2M1:
    return f32ToF4E2M1(pattern);
  case ElementType::F8E4M3:
    return f32ToF8E4M3(pattern);
  case ElementType::F8E5M2:
    return f32ToF8E5M2(pattern);
  case ElementType::BF16:
    return f32ToBf16(pattern);
  default:
    assert(type == ElementType::F32 && "not a float type");
    return pattern;
  }
}

//===----------------------------------------------------------------------===//
// Fixed point and f64
//===----------------------------------------------------------------------===//

uint32_t fixedToF32(int32_t value, unsigned width) {
  assert(width <= 31 && "integer width out of range");
  if (value == 0)
    return 0;
  uint32_t sign = value < 0 ? signBit : 0;
  uint64_t magnitude = value < 0 ? 0u - static_cast<uint32_t>(value)
                                 : static_cast<uint32_t>(value);
  unsigned top = 63 - static_cast<unsigned>(std::countl_zero(magnitude));
  // Never subnormal: the least exponent is 2^-31.
  uint32_t base = (top + width + 127 - 31 - 1) << 23;
  uint64_t significand = top > 23 ? shiftRightNearestEven(magnitude, top - 23)
                                  : magnitude << (23 - top);
  return sign | (base + static_cast<uint32_t>(significand));
}

int32_t f32ToFixed(uint32_t pattern, unsigned width) {
  assert(width <= 31 && "integer width out of range");
  bool negative = pattern & signBit;
  int32_t limit = negative ? INT32_MIN : INT32_MAX;
  uint32_t magnitude = pattern & absMask;
  if (magnitude >= infinity)
    return limit;
  if (magnitude < 0x00800000u)
    return 0;
  uint64_t significand = (magnitude & 0x7FFFFFu) | 0x800000u;
  int shift =
      static_cast<int>(magnitude >> 23) - 150 + 31 - static_cast<int>(width);
  if (shift > 8)
    return limit;
  if (shift < -24)
    return 0;
  uint64_t result =
      shift >= 0 ? significand << shift
                 : (significand + (uint64_t(1) << (-shift - 1))) >> -shift;
  if (result > uint64_t(INT32_MAX))
    return limit;
  int32_t value = static_cast<int32_t>(result);
  return negative ? -value : value;
}

uint32_t f64ToF32(uint64_t pattern) {
  uint32_t sign = static_cast<uint32_t>(pattern >> 32) & signBit;
  uint64_t mantissa = pattern & ((uint64_t(1) << 52) - 1);
  int field = static_cast<int>(pattern >> 52 & 0x7FF);
  if (field == 0x7FF)
    return mantissa ? canonicalNaN : sign | infinity;
  int exponent = field - 1023 + 127;
  if (exponent >= 255)
    return sign | infinity;
  uint64_t significand = mantissa | uint64_t(1) << 52;
  uint32_t base = 0;
  int drop = 29;
  if (exponent >= 1)
    base = static_cast<uint32_t>(exponent - 1) << 23;
  else
    drop += 1 - exponent;
  if (drop > 53) // Below half of the least subnormal.
    return sign;
  // The carry may run into the exponent, up to infinity, as it should.
  return sign | (base + static_cast<uint32_t>(shiftRightNearestEven(
                            significand, static_cast<unsigned>(drop))));
}

uint64_t f32ToF64(uint32_t pattern) {
  uint64_t sign = static_cast<uint64_t>(pattern & signBit) << 32;
  uint32_t magnitude = pattern & absMask;
  uint64_t mantissa = magnitude & 0x7FFFFFu;
  uint64_t field = magnitude >> 23;
  if (magnitude == 0)
    return sign;
  if (field == 255)
    return sign | uint64_t(0x7FF) << 52 | mantissa << 29;
  if (field == 0) {
    unsigned shift = static_cast<unsigned>(std::countl_zero(magnitude)) - 8;
    mantissa = (mantissa << shift) & 0x7FFFFFu;
    return sign | uint64_t(1 - shift + 1023 - 127) << 52 | mantissa << 29;
  }
  return sign | (field + 1023 - 127) << 52 | mantissa << 29;
}

//===----------------------------------------------------------------------===//
// Look-up and classes
//===----------------------------------------------------------------------===//

std::optional<uint32_t> tableLookup(ElementType from, ElementType to,
                                    uint32_t code) {
  bool known = false;
  if (from == ElementType::F4E2M1)
    known = to == ElementType::F8E4M3 || to == ElementType::F8E5M2;
  else if (from == ElementType::F8E4M3 || from == ElementType::F8E5M2)
    known = to == ElementType::BF16;
  if (!known)
    return std::nullopt;
  // Every value of the source is one of the target, so no rounding happens.
  return encodeFloat(to, decodeFloat(from, code));
}

bool isFinite(ElementType type, uint32_t code) {
  return isInteger(type) || (decodeFloat(type, code) & absMask) < infinity;
}

bool isNaN(ElementType type, uint32_t code) {
  return isFloat(type) && (decodeFloat(type, code) & absMask) > infinity;
}

//===----------------------------------------------------------------------===//
// Byte buffers
//===----------------------------------------------------------------------===//

std::optional<uint64_t> storageBytes(ElementType type, uint64_t count) {
  unsigned bits = wireBits(type);
  if (bits == 4)
    return count % 2 ? std::nullopt : std::optional<uint64_t>(count / 2);
  bool overflow = false;
  uint64_t bytes =
      llvm::SaturatingMultiply<uint64_t>(count, bits / 8, &overflow);
  return overflow ? std::nullopt : std::optional<uint64_t>(bytes);
}

std::optional<std::vector<uint8_t>> packCodes(ElementType type,
                                              llvm::ArrayRef<uint32_t> codes) {
  std::optional<uint64_t> size = storageBytes(type, codes.size());
  if (!size)
    return std::nullopt;
  std::vector<uint8_t> bytes(*size);
  for (size_t i = 0; i < codes.size(); ++i)
    storeCode(type, bytes.data(), i, codes[i]);
  return bytes;
}

std::optional<std::vector<uint32_t>>
unpackCodes(ElementType type, llvm::ArrayRef<uint8_t> bytes, uint64_t count) {
  uint64_t available = wireBits(type) == 4
                           ? llvm::SaturatingMultiply<uint64_t>(bytes.size(), 2)
                           : bytes.size() / (wireBits(type) / 8);
  if (count > available)
    return std::nullopt;
  std::vector<uint32_t> codes(count);
  for (uint64_t i = 0; i < count; ++i)
    codes[i] = loadCode(type, bytes.data(), i);
  return codes;
}

//===----------------------------------------------------------------------===//
// The floating-point unit of the host
//===----------------------------------------------------------------------===//

#if defined(__SSE__)

HostF32Scope::HostF32Scope() : saved(_mm_getcsr()) {
  // All exceptions masked, nearest even, no flush to zero on either side.
  _mm_setcsr(0x1F80);
}
HostF32Scope::~HostF32Scope() { _mm_setcsr(static_cast<unsigned>(saved)); }

#elif defined(__aarch64__)

HostF32Scope::HostF32Scope() {
  uint64_t value;
  __asm__ volatile("mrs %0, fpcr" : "=r"(value));
  saved = value;
  // RMode, FZ, and FIZ, AH of newer cores.
  value &= ~uint64_t(0x1C00003);
  __asm__ volatile("msr fpcr, %0" : : "r"(value) : "memory");
}
HostF32Scope::~HostF32Scope() {
  __asm__ volatile("msr fpcr, %0" : : "r"(saved) : "memory");
}

#else

HostF32Scope::HostF32Scope() : saved(static_cast<uint64_t>(fegetround())) {
  fesetround(FE_TONEAREST);
}
HostF32Scope::~HostF32Scope() { fesetround(static_cast<int>(saved)); }

#endif

} // namespace furiosa
