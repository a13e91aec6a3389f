//===- LIR.h - The lir dialect ----------------------------------*- C++ -*-===//
//
// Configured hardware commands in bytes, loops, flits and lanes.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_DIALECT_LIR_IR_LIR_H
#define FURIOSA_DIALECT_LIR_IR_LIR_H

#include "furiosa/Support/VectorOps.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "furiosa/Target/RNGD/Machine.h"

#include "furiosa/Dialect/LIR/IR/LIREnums.h.inc"

#include "furiosa/Dialect/LIR/IR/LIRDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "furiosa/Dialect/LIR/IR/LIRAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "furiosa/Dialect/LIR/IR/LIRTypes.h.inc"

#define GET_OP_CLASSES
#include "furiosa/Dialect/LIR/IR/LIROps.h.inc"

#define GET_OP_CLASSES
#include "furiosa/Dialect/LIR/IR/LIRVectorOps.h.inc"

namespace furiosa::lir {

/// How many steps nested loops take; empty if that overflows.
std::optional<int64_t> getProduct(llvm::ArrayRef<int64_t> sizes);

/// The largest offset that nested loops reach, in the unit of the strides;
/// empty if it overflows. Sizes are at least 1.
std::optional<int64_t> getReach(llvm::ArrayRef<int64_t> sizes,
                                llvm::ArrayRef<int64_t> strides);

/// The type under its name in the machine description.
rngd::FeedType toMachine(FeedType type);

/// Whether an engine's address in data memory lies in the window of a PE that
/// it names, not in its own PE.
bool isRemoteAddress(int64_t address);

/// The first byte within a slice that loops from an address in data memory on
/// reach, and the one behind the last packet. Sizes are those of a descriptor.
std::pair<int64_t, int64_t> getSliceBytes(int64_t base,
                                          llvm::ArrayRef<int64_t> sizes,
                                          llvm::ArrayRef<int64_t> strides,
                                          int64_t packet);

/// Bits of one element in a feed buffer as it is stored (5 and 9 bit integers
/// take 4 and 8); empty for types that no multiplier takes (TU-36).
std::optional<int64_t> getStorageBits(FeedType type);

/// The type in which the multiplier takes `type`: 4 and 8 bit integers grow by
/// a bit, the others stay.
FeedType getPromoted(FeedType type);

} // namespace furiosa::lir

#endif // FURIOSA_DIALECT_LIR_IR_LIR_H
