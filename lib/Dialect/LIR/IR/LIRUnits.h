//===- LIRUnits.h - What the files of lir units share -----------*- C++ -*-===//

#ifndef FURIOSA_LIB_DIALECT_LIR_IR_LIRUNITS_H
#define FURIOSA_LIB_DIALECT_LIR_IR_LIRUNITS_H

#include "furiosa/Dialect/LIR/IR/LIR.h"

namespace furiosa::lir {

/// `[size : stride, …]`, outermost first.
mlir::ParseResult parseLoops(mlir::OpAsmParser &parser,
                             mlir::DenseI64ArrayAttr &sizes,
                             mlir::DenseI64ArrayAttr &strides);
void printLoops(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                mlir::DenseI64ArrayAttr sizes, mlir::DenseI64ArrayAttr strides);

/// LIR-6, MM-6, MM-7: the loops of a sequencer.
llvm::LogicalResult verifyLoops(mlir::Operation *op,
                                llvm::ArrayRef<int64_t> sizes,
                                llvm::ArrayRef<int64_t> strides);

llvm::LogicalResult verifyTier(mlir::Operation *op, llvm::StringRef rule,
                               llvm::StringRef name, MemType type, Tier tier);

/// LIR-7: accesses of `bytes` starting at `base` stay inside a buffer. `hint`
/// ends the message.
llvm::LogicalResult verifyBounds(mlir::Operation *op, int64_t base,
                                 llvm::ArrayRef<int64_t> sizes,
                                 llvm::ArrayRef<int64_t> strides, int64_t bytes,
                                 int64_t capacity, llvm::StringRef hint = "");

/// LIR-26: no engine of a transfer writes what another one touches. The
/// engines' own accesses have been verified.
llvm::LogicalResult verifyEngineRaces(DmaOp dma);

/// LIR-26: an exec whose slices fetch from one another commits nothing that it
/// fetches.
llvm::LogicalResult verifyExchangeRace(FetchSequencerOp fetch,
                                       CommitSequencerOp commit);

/// Whether an op is a unit of the vector engine.
bool isVectorUnit(mlir::Operation *op);

/// LIR-17, LIR-22: the vector units of an exec, which `flits` flits enter; sets
/// it to those that leave.
llvm::LogicalResult verifyVectorUnits(ExecOp exec, int64_t &flits);

} // namespace furiosa::lir

#endif // FURIOSA_LIB_DIALECT_LIR_IR_LIRUNITS_H
