//===- NumberFormats.h - The element types of the chip ----------*- C++ -*-===//
//
// The scalar formats and every conversion between them, bit for bit. The one
// home of number formats: interpreter, simulator and packing share it.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_SUPPORT_NUMBERFORMATS_H
#define FURIOSA_SUPPORT_NUMBERFORMATS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#ifdef __FAST_MATH__
#error "the number formats need IEEE arithmetic; compile without -ffast-math"
#endif

namespace furiosa {

/// The public scalar set of the chip. i5 and i9 live only between fetch and
/// contraction. Values are stable: EDF files store them.
enum class ElementType : uint8_t {
  I4 = 0,
  I5 = 1,
  I8 = 2,
  I9 = 3,
  I16 = 4,
  I32 = 5,
  U8 = 6,
  F4E2M1 = 7,
  F8E4M3 = 8,
  F8E5M2 = 9,
  BF16 = 10,
  F32 = 11,
};
inline constexpr unsigned numElementTypes = 12;

/// "i8", "f8e4m3", "bf16", … (the vendor's names).
llvm::StringRef toString(ElementType type);
std::optional<ElementType> parseElementType(llvm::StringRef name);

inline bool isFloat(ElementType type) { return type >= ElementType::F4E2M1; }
inline bool isInteger(ElementType type) { return !isFloat(type); }

namespace detail {
inline constexpr uint8_t wireBitsTable[numElementTypes] = {4, 4, 8, 8, 16, 32,
                                                           8, 4, 8, 8, 16, 32};
inline constexpr uint8_t codeBitsTable[numElementTypes] = {4, 5, 8, 9, 16, 32,
                                                           8, 4, 8, 8, 16, 32};
extern const std::array<uint32_t, 16> f4e2m1Patterns;
extern const std::array<uint32_t, 256> f8e4m3Patterns;
extern const std::array<uint32_t, 256> f8e5m2Patterns;
inline constexpr uint32_t signBit = 0x80000000u;
inline constexpr uint32_t absMask = 0x7FFFFFFFu;
inline constexpr uint32_t infinity = 0x7F800000u;
} // namespace detail

/// Bits on the wire and in memory: i5 counts 4, i9 counts 8.
inline unsigned wireBits(ElementType type) {
  return detail::wireBitsTable[static_cast<unsigned>(type)];
}
/// Bits of a code, the type's own width: as wireBits, but 5 for i5, 9 for i9.
inline unsigned codeBits(ElementType type) {
  return detail::codeBitsTable[static_cast<unsigned>(type)];
}

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

// Codes are the low bits of a uint32_t; integer codes are two's complement in
// the type's own width (5 bits for i5, 9 bits for i9).

/// Least and greatest value of an integer type.
int32_t minInteger(ElementType type);
int32_t maxInteger(ElementType type);

/// Value of an integer code, sign extended (u8: zero extended). Bits above the
/// type's width are ignored.
inline int32_t decodeInteger(ElementType type, uint32_t code) {
  assert(isInteger(type) && "not an integer type");
  if (type == ElementType::U8)
    return static_cast<int32_t>(code & 0xFFu);
  unsigned shift = 32 - codeBits(type);
  return static_cast<int32_t>(code << shift) >> shift;
}

/// Low bits of `value` in the type's width.
inline uint32_t encodeInteger(ElementType type, int32_t value) {
  assert(isInteger(type) && "not an integer type");
  return static_cast<uint32_t>(value) & (0xFFFFFFFFu >> (32 - codeBits(type)));
}

/// Zero-point subtraction at fetch: i4 gives i5, i8 gives i9. None for other
/// types and for a zero point outside the range of `type` (TU-8).
std::optional<int32_t> subtractZeroPoint(ElementType type, int32_t value,
                                         int32_t zeroPoint);

/// f32 bit pattern of a float code. bf16 flushes subnormals to signed zero and
/// turns any NaN into 0x7FC00000; f8 and f4 are exact. A NaN of f8e4m3 gives
/// 0x7FC00000, one of f8e5m2 keeps its sign; f32 patterns pass unchanged.
inline uint32_t decodeFloat(ElementType type, uint32_t code) {
  switch (type) {
  case ElementType::F4E2M1:
    return detail::f4e2m1Patterns[code & 0xF];
  case ElementType::F8E4M3:
    return detail::f8e4m3Patterns[code & 0xFF];
  case ElementType::F8E5M2:
    return detail::f8e5m2Patterns[code & 0xFF];
  case ElementType::BF16: {
    uint32_t pattern = code << 16;
    uint32_t magnitude = pattern & detail::absMask;
    if (magnitude < 0x00800000u)
      return pattern & detail::signBit;
    return magnitude > detail::infinity ? 0x7FC00000u : pattern;
  }
  default:
    assert(type == ElementType::F32 && "not a float type");
    return code;
  }
}

/// Round to nearest even; subnormals to signed zero, NaN to 0x7FC0.
inline uint16_t f32ToBf16(uint32_t pattern) {
  uint32_t magnitude = pattern & detail::absMask;
  if (magnitude > detail::infinity)
    return 0x7FC0;
  if (magnitude < 0x00800000u)
    return static_cast<uint16_t>((pattern & detail::signBit) >> 16);
  // The carry may run into the exponent, up to infinity, as it should.
  return static_cast<uint16_t>((pattern + 0x7FFFu + ((pattern >> 16) & 1u)) >>
                               16);
}
/// As f32ToBf16 after NaN: any input with the sign bit becomes +0.
inline uint16_t f32ToBf16Relu(uint32_t pattern) {
  if ((pattern & detail::signBit) &&
      (pattern & detail::absMask) <= detail::infinity)
    return 0;
  return f32ToBf16(pattern);
}
/// Nearest even, saturating at 448, NaN to 0x7F.
uint8_t f32ToF8E4M3(uint32_t pattern);
/// Half away from zero; overflow to infinity, NaN to 0x7E.
uint8_t f32ToF8E5M2(uint32_t pattern);
/// Nearest even, saturating at 6, NaN to +6. No unit of the chip does this; it
/// is for tools that make data.
uint8_t f32ToF4E2M1(uint32_t pattern);
/// An f32 pattern in any float type, by the function of that type.
uint32_t encodeFloat(ElementType type, uint32_t pattern);

/// x · 2^(width − 31), nearest even. `width` in 0 … 31.
uint32_t fixedToF32(int32_t value, unsigned width);
/// x · 2^(31 − width), half away from zero, saturating; NaN by its sign.
int32_t f32ToFixed(uint32_t pattern, unsigned width);

/// The f32 pattern nearest to an f64 pattern (ties to even), NaN canonical.
uint32_t f64ToF32(uint64_t pattern);
/// The f64 pattern of an f32 pattern, exact; the payload of a NaN is kept.
uint64_t f32ToF64(uint32_t pattern);

/// Table lookup at fetch: f4e2m1 -> f8e4m3, f8e5m2; f8e4m3, f8e5m2 -> bf16.
/// Exact in value; a NaN becomes 0x7FC0.
std::optional<uint32_t> tableLookup(ElementType from, ElementType to,
                                    uint32_t code);

/// Whether a float code of `type` is finite (integers always are).
bool isFinite(ElementType type, uint32_t code);
/// Whether a float code of `type` is a NaN (integers never are).
bool isNaN(ElementType type, uint32_t code);

//===----------------------------------------------------------------------===//
// Codes in byte buffers
//===----------------------------------------------------------------------===//

/// Bytes of `count` elements in memory; none if that is not a whole number of
/// bytes (an odd count of a 4-bit type) or does not fit in 64 bits.
std::optional<uint64_t> storageBytes(ElementType type, uint64_t count);

/// Element `index` of a buffer: little-endian; 4-bit types lie two a byte, low
/// nibble first. i5 and i9 are never stored; they move their wire bits.
inline uint32_t loadCode(ElementType type, const uint8_t *bytes,
                         uint64_t index) {
  switch (wireBits(type)) {
  case 4:
    return (bytes[index / 2] >> (4 * (index % 2))) & 0xFu;
  case 8:
    return bytes[index];
  case 16: {
    const uint8_t *p = bytes + 2 * index;
    return p[0] | static_cast<uint32_t>(p[1]) << 8;
  }
  default: {
    const uint8_t *p = bytes + 4 * index;
    return p[0] | static_cast<uint32_t>(p[1]) << 8 |
           static_cast<uint32_t>(p[2]) << 16 |
           static_cast<uint32_t>(p[3]) << 24;
  }
  }
}

/// Stores the low bits of `code` as element `index`; the other nibble of a
/// shared byte stays.
inline void storeCode(ElementType type, uint8_t *bytes, uint64_t index,
                      uint32_t code) {
  switch (wireBits(type)) {
  case 4: {
    unsigned shift = 4 * (index % 2);
    uint8_t &byte = bytes[index / 2];
    byte = static_cast<uint8_t>((byte & ~(0xFu << shift)) |
                                ((code & 0xFu) << shift));
    return;
  }
  case 8:
    bytes[index] = static_cast<uint8_t>(code);
    return;
  case 16: {
    uint8_t *p = bytes + 2 * index;
    p[0] = static_cast<uint8_t>(code);
    p[1] = static_cast<uint8_t>(code >> 8);
    return;
  }
  default: {
    uint8_t *p = bytes + 4 * index;
    p[0] = static_cast<uint8_t>(code);
    p[1] = static_cast<uint8_t>(code >> 8);
    p[2] = static_cast<uint8_t>(code >> 16);
    p[3] = static_cast<uint8_t>(code >> 24);
    return;
  }
  }
}

/// All codes as bytes. None for an odd count of a 4-bit type.
std::optional<std::vector<uint8_t>> packCodes(ElementType type,
                                              llvm::ArrayRef<uint32_t> codes);
/// The first `count` elements of `bytes`; none if `bytes` is shorter.
std::optional<std::vector<uint32_t>>
unpackCodes(ElementType type, llvm::ArrayRef<uint8_t> bytes, uint64_t count);

//===----------------------------------------------------------------------===//
// f32 arithmetic
//===----------------------------------------------------------------------===//

/// The canonical NaN of every f32 operation.
inline constexpr uint32_t canonicalNaN = 0x7FC00000u;

namespace detail {
/// `significand` >> `drop`, nearest even. `drop` in 1 … 63.
inline uint64_t shiftRightNearestEven(uint64_t significand, unsigned drop) {
  uint64_t quotient = significand >> drop;
  uint64_t rest = significand & ((uint64_t(1) << drop) - 1);
  uint64_t half = uint64_t(1) << (drop - 1);
  return quotient + (rest + (quotient & 1) > half);
}
} // namespace detail

/// IEEE f32 arithmetic on patterns, nearest even, with subnormals; a NaN result
/// is canonical. In integers: exact whatever the compiler flags, the target and
/// the rounding mode of the host.
inline uint32_t addF32(uint32_t lhs, uint32_t rhs) {
  using namespace detail;
  if ((lhs & absMask) < (rhs & absMask))
    std::swap(lhs, rhs);
  uint32_t large = lhs & absMask, small = rhs & absMask;
  if (large >= infinity) {
    bool opposite = small == infinity && lhs != rhs;
    return large > infinity || opposite ? canonicalNaN : lhs;
  }
  uint32_t largeExponent = large >> 23, smallExponent = small >> 23;
  uint64_t sum = large & 0x7FFFFFu, addend = small & 0x7FFFFFu;
  if (largeExponent)
    sum |= 0x800000u;
  else
    largeExponent = 1;
  if (smallExponent)
    addend |= 0x800000u;
  else
    smallExponent = 1;
  // Below a quarter of the last place the smaller one never matters; above, 32
  // bits below the last place of the larger one hold all of it.
  uint32_t distance = largeExponent - smallExponent;
  if (distance > 32)
    return lhs;
  sum <<= 32;
  addend = (addend << 32) >> distance;
  sum = (lhs ^ rhs) & signBit ? sum - addend : sum + addend;
  if (sum == 0)
    return lhs & rhs & signBit;
  int top = 63 - std::countl_zero(sum);
  int exponent = static_cast<int>(largeExponent) + top - 55;
  uint32_t magnitude;
  if (exponent >= 1)
    magnitude = (static_cast<uint32_t>(exponent - 1) << 23) +
                static_cast<uint32_t>(shiftRightNearestEven(
                    sum, static_cast<unsigned>(top - 23)));
  else // Only heavy cancellation leads here, so largeExponent < 25.
    magnitude = static_cast<uint32_t>(sum >> (33 - largeExponent));
  if (magnitude > infinity)
    magnitude = infinity;
  return (lhs & signBit) | magnitude;
}

inline uint32_t mulF32(uint32_t lhs, uint32_t rhs) {
  using namespace detail;
  uint32_t sign = (lhs ^ rhs) & signBit;
  uint32_t large = lhs & absMask, small = rhs & absMask;
  if (large < small)
    std::swap(large, small);
  if (large >= infinity)
    return large > infinity || small == 0 ? canonicalNaN : sign | infinity;
  if (small == 0)
    return sign;
  int exponent = static_cast<int>(large >> 23) + static_cast<int>(small >> 23);
  uint32_t a = large & 0x7FFFFFu, b = small & 0x7FFFFFu;
  if (large >= 0x800000u)
    a |= 0x800000u;
  else
    ++exponent;
  if (small >= 0x800000u)
    b |= 0x800000u;
  else
    ++exponent;
  uint64_t product = static_cast<uint64_t>(a) * b;
  int top = 63 - std::countl_zero(product);
  exponent += top - 46 - 127;
  int drop = top - 23;
  uint32_t bias = 0;
  if (exponent >= 1)
    bias = static_cast<uint32_t>(exponent - 1) << 23;
  else
    drop += 1 - exponent;
  if (exponent > 254)
    return sign | infinity;
  if (drop > 48) // Below half of the least subnormal.
    return sign;
  uint32_t magnitude;
  if (drop == 0) // A subnormal times a power of two.
    magnitude = bias + static_cast<uint32_t>(product);
  else
    magnitude = bias + static_cast<uint32_t>(shiftRightNearestEven(
                           product, static_cast<unsigned>(drop)));
  return sign | magnitude;
}

/// As long as one lives, the floating-point unit of the calling thread rounds
/// to nearest even and keeps subnormals. Put it around the loop, not into it.
class HostF32Scope {
public:
  HostF32Scope();
  ~HostF32Scope();
  HostF32Scope(const HostF32Scope &) = delete;
  HostF32Scope &operator=(const HostF32Scope &) = delete;

private:
  uint64_t saved;
};

/// `value` with any NaN made canonical.
inline float canonicalizeF32(float value) {
  uint32_t pattern = std::bit_cast<uint32_t>(value);
  return std::bit_cast<float>(
      (pattern & detail::absMask) > detail::infinity ? canonicalNaN : pattern);
}

/// The same results as addF32 and mulF32 on the unit of the host, for inner
/// loops. Needs a live HostF32Scope wherever the host's mode is not the
/// default one.
inline float addHostF32(float lhs, float rhs) {
  return canonicalizeF32(lhs + rhs);
}
inline float mulHostF32(float lhs, float rhs) {
  return canonicalizeF32(lhs * rhs);
}

} // namespace furiosa

#endif // FURIOSA_SUPPORT_NUMBERFORMATS_H
