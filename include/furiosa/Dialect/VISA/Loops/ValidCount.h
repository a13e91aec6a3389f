//===- ValidCount.h - Padding that a reduction must not take ----*- C++ -*-===//
//
// Derives the settings of the valid count generator from the mappings of a
// stream. Plain data, no IR.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_DIALECT_VISA_LOOPS_VALIDCOUNT_H
#define FURIOSA_DIALECT_VISA_LOOPS_VALIDCOUNT_H

#include "furiosa/Dialect/VISA/Loops/Loops.h"

namespace furiosa::loops {

/// Which elements of a flit are no padding of the reduced axis: with `clip`,
/// the first `clip - index` ones, at most `span`; with a filter, all or none:
/// a slice with `slice & mask` below `match` passes, one above it does not if
/// `isMajor`, others do while the index lies below `count`. The loops, over
/// flits, make the index.
struct ValidCount {
  bool isClip = false;
  int64_t mask = 0, match = 0, count = 0;
  bool isMajor = false;
  int64_t clip = 8, span = 8;
  LoopNest loops;

  /// Valid elements of a flit.
  int64_t at(int64_t slice, int64_t flit) const;
};

/// Valid counts of the flits of a stream, by the place of `axis` (VE-58,
/// VE-59); nothing where it has no padding.
mapping::Result<std::optional<ValidCount>>
deriveValidCount(const mapping::Mapping &slice, const mapping::Mapping &time,
                 const mapping::Mapping &packet, int axis);

} // namespace furiosa::loops

#endif // FURIOSA_DIALECT_VISA_LOOPS_VALIDCOUNT_H
