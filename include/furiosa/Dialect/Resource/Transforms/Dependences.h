//===- Dependences.h - What commands read and write -------------*- C++ -*-===//
//
// Dependences between commands from the buffers that they touch.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_DIALECT_RESOURCE_TRANSFORMS_DEPENDENCES_H
#define FURIOSA_DIALECT_RESOURCE_TRANSFORMS_DEPENDENCES_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir {
class Operation;
} // namespace mlir

namespace furiosa::resource {

/// One use of a whole buffer.
struct Access {
  mlir::Value buffer;
  bool isWrite;
};

/// What an op and all that is nested in it reads and writes, in order.
llvm::SmallVector<Access> getAccesses(mlir::Operation *op);

/// Collects dependences between commands that are added in program order: read
/// after write, write after read, write after write, per buffer.
class DependenceBuilder {
public:
  /// Adds a command and returns the earlier ones that it must wait for,
  /// ascending and transitively reduced.
  llvm::SmallVector<unsigned> add(llvm::ArrayRef<Access> accesses);

private:
  struct State {
    int lastWriter = -1;
    llvm::SmallVector<unsigned> readers;
  };
  /// Drops those that others of `sources` already imply.
  void reduce(llvm::SmallVectorImpl<unsigned> &sources);

  llvm::DenseMap<mlir::Value, State> states;
  std::vector<llvm::SmallVector<unsigned>> edges;
  /// Marks of the last search, by command.
  std::vector<unsigned> visited;
  unsigned epoch = 0;
};

} // namespace furiosa::resource

#endif // FURIOSA_DIALECT_RESOURCE_TRANSFORMS_DEPENDENCES_H
