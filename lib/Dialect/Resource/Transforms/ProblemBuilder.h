//===- ProblemBuilder.h - Programs as scheduling problems -------*- C++ -*-===//
//
// Cycles, resources and buffers of commands as plain data.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_DIALECT_RESOURCE_TRANSFORMS_PROBLEMBUILDER_H
#define FURIOSA_LIB_DIALECT_RESOURCE_TRANSFORMS_PROBLEMBUILDER_H

#include "furiosa/Dialect/Resource/IR/Resource.h"
#include "furiosa/Dialect/Resource/Scheduling/Scheduling.h"
#include "furiosa/Dialect/Resource/Transforms/Dependences.h"

#include "llvm/ADT/MapVector.h"

namespace furiosa::resource {

/// A problem, and which op each of its parts stands for.
struct ProgramProblem {
  scheduling::Problem problem;
  /// Per block the ops of its commands, issues and loops.
  std::vector<llvm::SmallVector<mlir::Operation *>> commands;
  /// Per block the IR block.
  std::vector<mlir::Block *> blocks;
  llvm::SmallVector<BufferOp> buffers;
  /// How the cycles of each issue came about.
  llvm::DenseMap<mlir::Operation *, std::string> formulas;
};

/// Builds all but the dependences. With `keepAddresses`, addresses in the IR
/// are fixed. Emits an error if the cycles of a command do not fit.
llvm::FailureOr<ProgramProblem> buildProblem(ProgramOp program,
                                             bool keepAddresses);

/// The commands of a block that touch a buffer, ascending.
struct BufferUsers {
  unsigned buffer;
  llvm::SmallVector<unsigned> commands;
};
/// Per block the buffers that it touches, in a body of a loop or in several
/// loops of it, and nothing outside of it does. Empty for the program's own.
std::vector<llvm::SmallVector<BufferUsers>>
getBuffersOfBodies(const ProgramProblem &problem);

/// Sets the dependences to those that the bytes demand in the order of the
/// text, and the bodies of buffers.
void addDependences(ProgramOp program, ProgramProblem &problem);

/// Whether barriers stand where engines of different PEs touch the same bytes
/// of HBM, one of them writing, and on both sides of transfers into or out of
/// the data memory of another PE. Emits an error if not.
llvm::LogicalResult verifyBarriers(ProgramOp program);

} // namespace furiosa::resource

#endif // FURIOSA_LIB_DIALECT_RESOURCE_TRANSFORMS_PROBLEMBUILDER_H
