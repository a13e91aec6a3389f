//===- Fill.cpp - Generated contents of tensors ---------------------------===//
//
// The rules of Fill and their text form.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Support/Fill.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

namespace furiosa {

/// `value` rounded towards zero, modulo 2^64; 0 if it is not finite.
static uint64_t truncateModulo(double value) {
  constexpr double limit = 18446744073709551616.0; // 2^64
  if (!std::isfinite(value))
    return 0;
  double whole = std::fmod(std::trunc(value), limit);
  return whole < 0 ? 0 - static_cast<uint64_t>(-whole)
                   : static_cast<uint64_t>(whole);
}

static bool isWhole(double value) {
  return std::isfinite(value) && std::trunc(value) == value;
}

/// The low bits of the value in an integer type's width.
static uint32_t encodeModulo(ElementType type, uint64_t value) {
  return encodeInteger(type,
                       static_cast<int32_t>(static_cast<uint32_t>(value)));
}

static uint32_t bitsCode(ElementType type, uint64_t x) {
  uint32_t code =
      static_cast<uint32_t>(x) & (0xFFFFFFFFu >> (32 - codeBits(type)));
  switch (type) {
  case ElementType::F8E4M3:
    return (code & 0x7F) == 0x7F ? code ^ 0x40 : code;
  case ElementType::F8E5M2:
    return (code & 0x7C) == 0x7C ? code ^ 0x40 : code;
  case ElementType::BF16:
    return (code & 0x807Fu) | (119 + (code >> 7 & 15)) << 7;
  case ElementType::F32:
    return (code & 0x807FFFFFu) | (119 + (code >> 23 & 15)) << 23;
  default:
    return code;
  }
}

/// The value of element `n`; `fill` is not Bits.
static double valueOf(const Fill &fill, uint64_t n) {
  switch (fill.kind) {
  case Fill::Kind::Small:
    return static_cast<int>((splitMix64(fill.seed, n) >> 32) % 16) - 8;
  case Fill::Kind::Quarter:
    return (static_cast<int>((splitMix64(fill.seed, n) >> 32) % 33) - 16) / 4.0;
  case Fill::Kind::Positive:
    return (static_cast<int>((splitMix64(fill.seed, n) >> 32) % 64) + 1) / 8.0;
  case Fill::Kind::Iota:
    return fill.start + fill.step * static_cast<double>(n);
  case Fill::Kind::Bits:
  case Fill::Kind::Const:
    break;
  }
  return fill.start;
}

static uint32_t encodeValue(ElementType type, double value) {
  if (isInteger(type))
    return encodeModulo(type, truncateModulo(value));
  return encodeFloat(type, f64ToF32(std::bit_cast<uint64_t>(value)));
}

uint32_t Fill::code(ElementType type, uint64_t n) const {
  if (kind == Kind::Bits)
    return bitsCode(type, splitMix64(seed, n));
  // Whole sequences of integers wrap exactly however far they run.
  if (kind == Kind::Iota && isInteger(type) && isWhole(start) && isWhole(step))
    return encodeModulo(type, truncateModulo(start) + truncateModulo(step) * n);
  return encodeValue(type, valueOf(*this, n));
}

std::vector<uint32_t> Fill::codes(ElementType type, uint64_t count) const {
  std::vector<uint32_t> result(count);
  for (uint64_t n = 0; n < count; ++n)
    result[n] = code(type, n);
  return result;
}

static bool holds(ElementType type, double value) {
  if (isInteger(type))
    return isWhole(value) && value >= minInteger(type) &&
           value <= maxInteger(type);
  uint32_t code = encodeValue(type, value);
  if (std::isnan(value))
    return isNaN(type, code);
  return f32ToF64(decodeFloat(type, code)) == std::bit_cast<uint64_t>(value);
}

bool Fill::isExact(ElementType type, uint64_t count) const {
  if (count == 0 || kind == Kind::Bits)
    return true;
  auto range = [&](int first, int last, double divisor) {
    for (int i = first; i <= last; ++i)
      if (!holds(type, i / divisor))
        return false;
    return true;
  };
  switch (kind) {
  case Kind::Small:
    return range(-8, 7, 1);
  case Kind::Quarter:
    return range(-16, 16, 4);
  case Kind::Positive:
    return range(1, 64, 8);
  case Kind::Iota:
    break;
  case Kind::Bits:
  case Kind::Const:
    return holds(type, start);
  }
  // A sequence leaves an integer type at its ends, if it is one of integers.
  if (isInteger(type)) {
    if (!isWhole(start) || !isWhole(step))
      return count == 1 && holds(type, start);
    return holds(type, start) && holds(type, valueOf(*this, count - 1));
  }
  for (uint64_t n = 0; n < count; ++n) {
    double value = valueOf(*this, n);
    // Rounding in f64 is noticed by the difference to the start.
    if (value - start != step * static_cast<double>(n) || !holds(type, value))
      return false;
  }
  return true;
}

/// A decimal number, `inf` or `nan`.
static std::optional<double> parseNumber(llvm::StringRef text) {
  double value;
  if (text.empty() || text.getAsDouble(value, /*AllowInexact=*/true))
    return std::nullopt;
  return value;
}

std::optional<Fill> parseFill(llvm::StringRef spec) {
  llvm::SmallVector<llvm::StringRef, 3> parts;
  spec.split(parts, ':');
  llvm::StringRef name = parts[0];
  llvm::ArrayRef<llvm::StringRef> args = llvm::ArrayRef(parts).drop_front();

  if (name == "zeros")
    return args.empty() ? std::optional(Fill::constant(0)) : std::nullopt;

  if (name == "iota") {
    if (args.size() > 2)
      return std::nullopt;
    double values[2] = {0, 1};
    for (size_t i = 0; i < args.size(); ++i) {
      std::optional<double> value = parseNumber(args[i]);
      if (!value || !std::isfinite(*value))
        return std::nullopt;
      values[i] = *value;
    }
    return Fill::iota(values[0], values[1]);
  }

  if (args.size() != 1)
    return std::nullopt;
  if (name == "const") {
    std::optional<double> value = parseNumber(args[0]);
    return value ? std::optional(Fill::constant(*value)) : std::nullopt;
  }
  uint64_t seed;
  if (args[0].getAsInteger(0, seed))
    return std::nullopt;
  return llvm::StringSwitch<std::optional<Fill>>(name)
      .Cases({"bits", "random"}, Fill::bits(seed))
      .Case("small", Fill::small(seed))
      .Case("quarter", Fill::quarter(seed))
      .Case("positive", Fill::positive(seed))
      .Default(std::nullopt);
}

} // namespace furiosa
