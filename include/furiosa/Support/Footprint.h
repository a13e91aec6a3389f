//===- Footprint.h - The bytes of nested loops, as loops --------*- C++ -*-===//
//
// Bytes that nested loops touch, compared loop by loop: for what is too large
// to be listed as ranges.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_SUPPORT_FOOTPRINT_H
#define FURIOSA_SUPPORT_FOOTPRINT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace furiosa {

/// `count` steps of `stride` bytes.
struct Stride {
  int64_t count;
  int64_t stride;
  bool operator==(const Stride &other) const {
    return count == other.count && stride == other.stride;
  }
};

/// The bytes of a run at `base` that nested loops repeat, in a space of
/// addresses whose slices, if it has any, lie apart from one another.
struct Footprint {
  int64_t base = 0;
  llvm::SmallVector<Stride, 4> loops;
  int64_t bytes = 1;

  /// From the first byte to the last one.
  int64_t getExtent() const;
  /// Drops loops that add no bytes, joins those that continue each other, puts
  /// the widest stride first. False, with nothing changed, if a count or
  /// `bytes` is below 1, a number is negative or the end does not fit in 62
  /// bits.
  bool normalize();
};

/// From the first byte to the last one of runs of `bytes` in nested loops.
int64_t getExtent(llvm::ArrayRef<Stride> loops, int64_t bytes);

/// Whether two normal footprints share a byte. Exact within `budget`, which
/// falls by the steps that were looked at; at 0, says that they do.
bool meet(const Footprint &a, const Footprint &b, int &budget);

} // namespace furiosa

#endif // FURIOSA_SUPPORT_FOOTPRINT_H
