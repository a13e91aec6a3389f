//===- Dependences.h - What commands read and write -------------*- C++ -*-===//
//
// The bytes that commands touch, and the dependences that follow from them.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_DIALECT_RESOURCE_TRANSFORMS_DEPENDENCES_H
#define FURIOSA_DIALECT_RESOURCE_TRANSFORMS_DEPENDENCES_H

#include "furiosa/Dialect/Resource/IR/Resource.h"
#include "furiosa/Dialect/Resource/Scheduling/Dependences.h"

#include "llvm/ADT/DenseMap.h"

namespace furiosa::resource {

/// One use of a buffer, in whatever bytes.
struct Access {
  mlir::Value buffer;
  bool isWrite;
};

/// What an op and all that is nested in it reads and writes, in order.
llvm::SmallVector<Access> getAccesses(mlir::Operation *op);

/// Reads off the commands of a program which bytes they touch. DM, TRF and VRF
/// buffers are spaces in which slice `s` of cluster `c` begins at
/// `(256 c + s) * 4 MiB`.
class AccessReader {
public:
  explicit AccessReader(ProgramOp program);

  /// Accesses of an issue or a loop, as commands of its block see them: the
  /// loops around it are advances, those inside it loops of the footprints.
  scheduling::Accesses read(mlir::Operation *op);
  /// The number of the space that is a buffer.
  unsigned getSpace(mlir::Value buffer);

private:
  void readIssue(IssueOp issue, size_t around, scheduling::Accesses &accesses);
  /// All bytes of a buffer in all slices that run.
  llvm::SmallVector<scheduling::Footprint, 1> getWhole(mlir::Value buffer);

  int64_t slices;
  llvm::SmallVector<int64_t, 2> clusters;
  llvm::DenseMap<mlir::Value, unsigned> spaces;
};

/// Trips of the loops around the ops of a block, outermost first.
llvm::SmallVector<int64_t> getTripsAround(mlir::Block &block);

/// The issues and loops of a block.
llvm::SmallVector<mlir::Operation *> getCommands(mlir::Block &block);

/// Whether PEs may wait for one another somewhere in an op: nothing of its block
/// moves over it.
bool hasBarrier(mlir::Operation *op);
/// Whether they do, though loops by an argument may make no trip.
bool hasCertainBarrier(mlir::Operation *op);
/// Whether they certainly do last of all.
bool endsWithBarrier(mlir::Operation *op);
/// Whether they do behind `op` before `around`, a command or loop that is `op`
/// or holds it, has made its last trip.
bool hasBarrierBehind(mlir::Operation *op, mlir::Operation *around);

/// Makes each command of a program that is not scheduled wait for the tokens of
/// those that it depends on, in each block. Commands without a token are left
/// out.
void addDependences(ProgramOp program);

} // namespace furiosa::resource

#endif // FURIOSA_DIALECT_RESOURCE_TRANSFORMS_DEPENDENCES_H
