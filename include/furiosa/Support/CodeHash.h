//===- CodeHash.h - Hash of tensor contents ---------------------*- C++ -*-===//
//
// FNV-1a over the packed codes of a tensor, for results to be compared by one
// number.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_SUPPORT_CODEHASH_H
#define FURIOSA_SUPPORT_CODEHASH_H

#include "furiosa/Support/NumberFormats.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace furiosa {

/// 64-bit FNV-1a over bytes; `hash` continues an earlier one.
inline constexpr uint64_t fnv1aBasis = 0xCBF29CE484222325u;
inline uint64_t fnv1a64(llvm::ArrayRef<uint8_t> bytes,
                        uint64_t hash = fnv1aBasis) {
  for (uint8_t byte : bytes)
    hash = (hash ^ byte) * 0x00000100000001B3u;
  return hash;
}

/// Hashes codes one by one as if packed into memory: little-endian, 4-bit codes
/// two a byte, low nibble first, an odd last one with a zero nibble above.
class CodeHash {
public:
  explicit CodeHash(ElementType type) : bits(wireBits(type)) {}

  void add(uint32_t code) {
    if (bits == 4) {
      if (half)
        addByte(static_cast<uint8_t>(pending | (code & 0xFu) << 4));
      else
        pending = static_cast<uint8_t>(code & 0xFu);
      half = !half;
      return;
    }
    for (unsigned shift = 0; shift < bits; shift += 8)
      addByte(static_cast<uint8_t>(code >> shift));
  }

  /// Hash of the codes added so far.
  uint64_t value() const { return half ? fnv1a64({pending}, hash) : hash; }

private:
  void addByte(uint8_t byte) { hash = fnv1a64({byte}, hash); }

  uint64_t hash = fnv1aBasis;
  unsigned bits;
  uint8_t pending = 0;
  bool half = false;
};

/// Hash of all `codes` of one tensor.
uint64_t hashCodes(ElementType type, llvm::ArrayRef<uint32_t> codes);

} // namespace furiosa

#endif // FURIOSA_SUPPORT_CODEHASH_H
