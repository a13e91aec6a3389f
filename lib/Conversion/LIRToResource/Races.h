//===- Races.h - HBM shared by engines --------------------------*- C++ -*-===//
//
// Waits are local to a PE: two engines that touch the same bytes of HBM, one of
// them writing, are ordered by nothing.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_CONVERSION_LIRTORESOURCE_RACES_H
#define FURIOSA_LIB_CONVERSION_LIRTORESOURCE_RACES_H

#include "furiosa/Dialect/Resource/IR/Resource.h"

namespace furiosa {

/// Emits an error if engines of a program race on HBM.
llvm::LogicalResult checkRaces(resource::ProgramOp program);

} // namespace furiosa

#endif // FURIOSA_LIB_CONVERSION_LIRTORESOURCE_RACES_H
