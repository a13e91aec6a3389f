//===- ByteRanges.h - The bytes that nested loops touch ---------*- C++ -*-===//
//
// Lists of address ranges, to tell whether two walks share a byte.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_SUPPORT_BYTERANGES_H
#define FURIOSA_SUPPORT_BYTERANGES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace furiosa {

/// Sorted disjoint ranges [first, end).
using ByteRanges = llvm::SmallVector<std::pair<int64_t, int64_t>>;

/// The bytes of `packet`s at `base` plus each offset of nested loops, outermost
/// first; empty if there are too many to list.
std::optional<ByteRanges> getByteRanges(int64_t base,
                                        llvm::ArrayRef<int64_t> sizes,
                                        llvm::ArrayRef<int64_t> strides,
                                        int64_t packet);

/// Whether two lists share a byte; unknown ones do.
bool overlap(const std::optional<ByteRanges> &lhs,
             const std::optional<ByteRanges> &rhs);

} // namespace furiosa

#endif // FURIOSA_SUPPORT_BYTERANGES_H
