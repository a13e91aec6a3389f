//===- Dependences.h - Which commands wait for which ------------*- C++ -*-===//
//
// Dependences of the commands of a block from the very bytes that they touch:
// read after write, write after read, write after write.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_DIALECT_RESOURCE_SCHEDULING_DEPENDENCES_H
#define FURIOSA_DIALECT_RESOURCE_SCHEDULING_DEPENDENCES_H

#include "furiosa/Support/Footprint.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <vector>

namespace furiosa::scheduling {

using furiosa::Footprint;
using furiosa::Stride;

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
