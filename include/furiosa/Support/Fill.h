//===- Fill.h - Generated contents of tensors -------------------*- C++ -*-===//
//
// Reproducible contents for the arguments of a kernel, named by a short text.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_SUPPORT_FILL_H
#define FURIOSA_SUPPORT_FILL_H

#include "furiosa/Support/NumberFormats.h"

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace furiosa {

/// Number n of the splitmix64 sequence of `seed`, n from 0.
inline uint64_t splitMix64(uint64_t seed, uint64_t n) {
  uint64_t z = seed + (n + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/// A rule that gives every element number a value. Elements are numbered
/// row-major, padding included. With x = splitMix64(seed, n):
///
///   Bits      the low bits of x, kept off NaN and infinity in f8; the exponent
///             field of bf16 and f32 becomes 119 + (field mod 16)
///   Small     (x >> 32) mod 16 − 8
///   Quarter   ((x >> 32) mod 33 − 16) / 4
///   Positive  ((x >> 32) mod 64 + 1) / 8
///   Iota      start + step · n
///   Const     start
struct Fill {
  enum class Kind : uint8_t { Bits, Small, Quarter, Positive, Iota, Const };

  Kind kind = Kind::Const;
  uint64_t seed = 0;
  double start = 0;
  double step = 0;

  static Fill bits(uint64_t seed) { return {Kind::Bits, seed, 0, 0}; }
  static Fill small(uint64_t seed) { return {Kind::Small, seed, 0, 0}; }
  static Fill quarter(uint64_t seed) { return {Kind::Quarter, seed, 0, 0}; }
  static Fill positive(uint64_t seed) { return {Kind::Positive, seed, 0, 0}; }
  static Fill iota(double start = 0, double step = 1) {
    return {Kind::Iota, 0, start, step};
  }
  static Fill constant(double value) { return {Kind::Const, 0, value, 0}; }

  /// Code of element `n`. A value that the type lacks is brought into it: for
  /// an integer type rounded towards zero, then its low bits; for a float type
  /// rounded to f32, then by encodeFloat.
  uint32_t code(ElementType type, uint64_t n) const;

  /// Codes of elements 0 … count − 1.
  std::vector<uint32_t> codes(ElementType type, uint64_t count) const;

  /// Whether `type` holds the values of all elements below `count` exactly.
  bool isExact(ElementType type, uint64_t count) const;
};

/// Reads `bits:SEED`, `random:SEED` (the same), `small:SEED`, `quarter:SEED`,
/// `positive:SEED`, `iota`, `iota:START`, `iota:START:STEP`, `zeros` or
/// `const:VALUE`. Seeds are unsigned integers, decimal or with 0x.
std::optional<Fill> parseFill(llvm::StringRef spec);

} // namespace furiosa

#endif // FURIOSA_SUPPORT_FILL_H
