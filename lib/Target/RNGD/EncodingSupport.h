//===- EncodingSupport.h - Words of encodings -------------------*- C++ -*-===//
//
// What readers and writers of encodings say and compute alike. Private to the
// target.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_TARGET_RNGD_ENCODINGSUPPORT_H
#define FURIOSA_LIB_TARGET_RNGD_ENCODINGSUPPORT_H

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MathExtras.h"

namespace furiosa::rngd {

inline llvm::Error makeError(const llvm::Twine &text) {
  return llvm::createStringError(text);
}

inline std::string hex(uint64_t value) {
  return "0x" + llvm::utohexstr(value, /*LowerCase=*/true);
}

/// The bits of a field of `width` bits that begins at bit 0.
inline uint64_t maskOf(unsigned width) {
  return llvm::maskTrailingOnes<uint64_t>(width);
}

// The word `indirect` of a DMA descriptor: dimension in bits 2:0, kind of entry
// in bit 8.
inline constexpr uint64_t indirectDimensionMask = 7;
inline constexpr unsigned indirectListBit = 8;

inline constexpr llvm::StringLiteral dmaOpcodeNames[] = {
    "tensor_loop", "source_indirect", "destination_indirect"};

} // namespace furiosa::rngd

#endif // FURIOSA_LIB_TARGET_RNGD_ENCODINGSUPPORT_H
