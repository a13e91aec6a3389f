//===- Dependences.h - Which commands wait for which ------------*- C++ -*-===//
//
// Dependences of the commands of a block from the very bytes that they touch:
// read after write, write after read, write after write.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_DIALECT_RESOURCE_SCHEDULING_DEPENDENCES_H
#define FURIOSA_DIALECT_RESOURCE_SCHEDULING_DEPENDENCES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <vector>

namespace furiosa::scheduling {

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

/// Joins footprints that continue each other. All are normal.
void coalesce(llvm::SmallVectorImpl<Footprint> &footprints);

/// What a command reads or writes in one space.
struct Access {
  unsigned space = 0;
  bool isWrite = false;
  /// No byte of the footprints is left out. Dependences do not ask for that.
  bool isCertain = false;
  /// Normal footprints, of the first iteration of the loops around.
  llvm::SmallVector<Footprint, 1> footprints;
  /// Bytes that each loop around moves them by per iteration, outermost first;
  /// loops that are not listed move nothing.
  llvm::SmallVector<int64_t, 2> advance;
};
using Accesses = llvm::SmallVector<Access, 4>;

/// Whether two accesses share a byte in some iteration of the loops around,
/// which make `trips`. Exact, unless there is too much to compare: then they
/// do.
bool overlap(const Access &a, const Access &b, llvm::ArrayRef<int64_t> trips);

/// Whether `a` has every byte of `b` in every iteration. May miss that.
bool covers(const Access &a, const Access &b);

/// Whether all bytes of a space that some of `commands`, given by ascending
/// numbers, read have been written by those before them. May miss that.
bool areWrittenFirst(unsigned space, llvm::ArrayRef<Accesses> commands,
                     llvm::ArrayRef<unsigned> users);

/// For each command the earlier ones that must be done before it, ascending:
/// those that share a byte with it which one of the two writes, without those
/// that others imply. Near linear in the number of commands and conflicts.
std::vector<llvm::SmallVector<unsigned, 4>>
getDependences(llvm::ArrayRef<Accesses> commands,
               llvm::ArrayRef<int64_t> trips = {});

} // namespace furiosa::scheduling

#endif // FURIOSA_DIALECT_RESOURCE_SCHEDULING_DEPENDENCES_H
