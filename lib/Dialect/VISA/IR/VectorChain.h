//===- VectorChain.h - What the vector stages have in common ----*- C++ -*-===//

#ifndef FURIOSA_LIB_DIALECT_VISA_IR_VECTORCHAIN_H
#define FURIOSA_LIB_DIALECT_VISA_IR_VECTORCHAIN_H

#include "furiosa/Dialect/VISA/IR/VectorStages.h"

namespace furiosa::visa {

/// Structure of a stage with an ALU.
mlir::LogicalResult verifyVectorAlu(VectorAluInterface op);
/// Its rules along the chain, and of its unit.
void checkVectorAlu(VectorAluInterface op, StageChecker &checker,
                    Layout &layout);
void checkVectorAluUnit(VectorAluInterface op, FaultReporter &reporter,
                        const ChainStage &stage);

/// The stage of a cluster.
VectorStage getStage(vector::Cluster cluster);

/// VE-6, VE-7, VE-62: strictly forward; a cluster may follow itself.
void enterStage(StageChecker &checker, Layout &layout, VectorStage next,
                llvm::StringRef rule = "VE-6");
/// VE-10, VE-11.
void checkWays(StageChecker &checker, const Layout &layout, bool wantsNarrow);
/// VE-8, VE-9, for a zip VE-52: each ALU runs once in a chain.
void claimAlu(mlir::Operation *op, const vector::Operation *row,
              StageChecker &checker);
/// VE-32: what is wrong with a guard that does not parse.
std::string describeGuardFault(llvm::StringRef guard);
/// How a constant of the stream's type is written, for the end of a message.
llvm::StringRef describeLiteral(ElementType type);
/// Names of a cluster's functions, for a message; `arity` 0 is any.
std::string listFunctions(vector::Cluster cluster, unsigned arity = 0);
/// Compares a clause with what follows from the stream.
void compareClause(StageChecker &checker, llvm::StringRef rule,
                   llvm::StringRef clause, mlir::StringAttr text,
                   const mapping::Mapping &expected);

} // namespace furiosa::visa

#endif // FURIOSA_LIB_DIALECT_VISA_IR_VECTORCHAIN_H
