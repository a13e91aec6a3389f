//===- Scratch.h - Scratch of kernels in HBM --------------------*- C++ -*-===//

#ifndef FURIOSA_DIALECT_RESOURCE_TRANSFORMS_SCRATCH_H
#define FURIOSA_DIALECT_RESOURCE_TRANSFORMS_SCRATCH_H

#include "furiosa/Dialect/Resource/IR/Resource.h"

namespace furiosa::resource {

/// Where the operands of a program that is not scheduled exceed `capacity`
/// bytes of HBM, gives scratch that does not live at a time the same bytes of
/// one operand: placed by life in program order, so that what fits there fits.
/// Otherwise leaves all as it is: sharing orders commands. Tables and lists of
/// gathers and scatters share nothing. MM-5: an error with the memory map where
/// operands do not fit. Dependences must be found anew.
llvm::LogicalResult packScratch(ProgramOp program, int64_t capacity);

} // namespace furiosa::resource

#endif // FURIOSA_DIALECT_RESOURCE_TRANSFORMS_SCRATCH_H
