//===- Allocator.h - Addresses of buffers -----------------------*- C++ -*-===//
//
// Places the buffers of a scheduled program.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_DIALECT_RESOURCE_SCHEDULING_ALLOCATOR_H
#define FURIOSA_LIB_DIALECT_RESOURCE_SCHEDULING_ALLOCATOR_H

#include "furiosa/Dialect/Resource/Scheduling/Scheduling.h"

namespace furiosa::scheduling {

/// Fills `solution.placements` from its blocks. If that fails, says why; what
/// fills the memory only if `explains`, which takes longer. With
/// `reusesInTrips`, buffers with a body live within its iterations only.
bool allocate(const Problem &problem, Solution &solution, Failure &failure,
              bool explains, bool reusesInTrips);

} // namespace furiosa::scheduling

#endif // FURIOSA_LIB_DIALECT_RESOURCE_SCHEDULING_ALLOCATOR_H
