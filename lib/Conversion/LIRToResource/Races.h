//===- Races.h - Memory shared by engines -----------------------*- C++ -*-===//
//
// Waits are local to a PE: two engines that touch the same bytes, one of them
// writing, are ordered by barriers alone.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_CONVERSION_LIRTORESOURCE_RACES_H
#define FURIOSA_LIB_CONVERSION_LIRTORESOURCE_RACES_H

#include "furiosa/Dialect/Resource/IR/Resource.h"

namespace furiosa {

/// Adds barriers where engines of different PEs would race, on HBM or in the
/// data memory of another PE.
void orderPEs(resource::ProgramOp program);

} // namespace furiosa

#endif // FURIOSA_LIB_CONVERSION_LIRTORESOURCE_RACES_H
