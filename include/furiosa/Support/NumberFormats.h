//===- NumberFormats.h - The element types of the chip ----------*- C++ -*-===//
//
// The scalar formats and every conversion between them, bit for bit. The one
// home of number formats: interpreter, simulator and packing share it.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_SUPPORT_NUMBERFORMATS_H
#define FURIOSA_SUPPORT_NUMBERFORMATS_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

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
/// Bits on the wire: i5 counts 4, i9 counts 8.
unsigned wireBits(ElementType type);
bool isFloat(ElementType type);
inline bool isInteger(ElementType type) { return !isFloat(type); }

// Codes are the low bits of a uint32_t; integer codes are two's complement in
// the type's own width (5 bits for i5, 9 bits for i9).

/// Value of an integer code, sign extended (u8: zero extended).
int32_t decodeInteger(ElementType type, uint32_t code);
/// Low bits of `value` in the type's width.
uint32_t encodeInteger(ElementType type, int32_t value);

/// f32 bit pattern of a float code: bf16 flushes subnormals to signed zero,
/// any NaN becomes 0x7FC00000; f8 and f4 are exact.
uint32_t decodeFloat(ElementType type, uint32_t code);

/// Round to nearest even; subnormals to signed zero, NaN to 0x7FC0.
uint16_t f32ToBf16(uint32_t pattern);
/// As f32ToBf16 after NaN: any input with the sign bit becomes +0.
uint16_t f32ToBf16Relu(uint32_t pattern);
/// Nearest even, saturating at 448, NaN to 0x7F.
uint8_t f32ToF8E4M3(uint32_t pattern);
/// Half away from zero; overflow to infinity, NaN to 0x7E.
uint8_t f32ToF8E5M2(uint32_t pattern);
/// An f32 pattern in `type` (BF16, F8E4M3, F8E5M2, F32).
uint32_t encodeFloat(ElementType type, uint32_t pattern);

/// x · 2^(width − 31), nearest even. `width` in 0 … 31.
uint32_t fixedToF32(int32_t value, unsigned width);
/// Half away from zero, saturating; NaN by its sign.
int32_t f32ToFixed(uint32_t pattern, unsigned width);

/// Table lookup at fetch: f4e2m1 -> f8e4m3, f8e5m2; f8e4m3, f8e5m2 -> bf16.
std::optional<uint32_t> tableLookup(ElementType from, ElementType to,
                                    uint32_t code);

/// The canonical NaN of every f32 operation.
inline constexpr uint32_t canonicalNaN = 0x7FC00000u;
/// IEEE f32 arithmetic on patterns, nearest even; a NaN result is canonical.
uint32_t addF32(uint32_t lhs, uint32_t rhs);
uint32_t mulF32(uint32_t lhs, uint32_t rhs);

/// Whether a float code of `type` is finite (integers always are).
bool isFinite(ElementType type, uint32_t code);

} // namespace furiosa

#endif // FURIOSA_SUPPORT_NUMBERFORMATS_H
