//===- Resource.h - The resource dialect ------------------------*- C++ -*-===//
//
// Issued commands: engines, addresses, cycles, waits.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_DIALECT_RESOURCE_IR_RESOURCE_H
#define FURIOSA_DIALECT_RESOURCE_IR_RESOURCE_H

#include "furiosa/Dialect/LIR/IR/LIR.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "furiosa/Dialect/Resource/IR/ResourceEnums.h.inc"

#include "furiosa/Dialect/Resource/IR/ResourceDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "furiosa/Dialect/Resource/IR/ResourceAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "furiosa/Dialect/Resource/IR/ResourceTypes.h.inc"

#define GET_OP_CLASSES
#include "furiosa/Dialect/Resource/IR/ResourceOps.h.inc"

namespace furiosa::resource {

/// How deep loops may nest: as many as an `advance` can follow (RES-17).
inline constexpr unsigned maxLoopDepth = 8;

/// A unit attribute of programs and loops: their commands keep their order.
inline constexpr llvm::StringLiteral keepOrderAttrName = "resource.keep_order";

/// A unit attribute of programs: iterations of their loops may overlap, in more
/// code.
inline constexpr llvm::StringLiteral pipelineLoopsAttrName =
    "resource.pipeline_loops";

/// The loops around an op, outermost first, up to the program.
llvm::SmallVector<LoopOp> getEnclosingLoops(mlir::Operation *op);

/// What a loop around a DMA, or a number of the host, does to a base: a loop
/// from the lowest one on, of as many trips or numbers.
struct BaseLoop {
  /// Bytes from the base as it is written to the lowest one, not above 0.
  int64_t base;
  int64_t count;
  int64_t stride;
};
/// `count` steps from the base as it is written.
BaseLoop getBaseLoop(int64_t count, int64_t step);
/// Those of numbers, of the source or the target, which RES-28 has bounded.
llvm::SmallVector<BaseLoop> getStartLoops(IssueOp issue, bool isTarget);
/// Those of numbers and of loops; RES-17 has bounded these.
llvm::SmallVector<BaseLoop> getMoves(IssueOp issue, bool isTarget);

/// The range of an argument that is a number of the host; null for others.
mlir::DenseI64ArrayAttr getRange(mlir::Value argument);

} // namespace furiosa::resource

#endif // FURIOSA_DIALECT_RESOURCE_IR_RESOURCE_H
