//===- Costs.h - What the commands of a program cost ------------*- C++ -*-===//
//
// Cycles of each command with the formula behind them, and what it depends on.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_DIALECT_RESOURCE_TRANSFORMS_COSTS_H
#define FURIOSA_DIALECT_RESOURCE_TRANSFORMS_COSTS_H

#include "furiosa/Dialect/Resource/IR/Resource.h"

#include "llvm/ADT/DenseMap.h"

#include <string>

namespace furiosa::resource {

struct CommandFacts {
  /// Of a loop: 0, since they follow from its body.
  int64_t cycles = 0;
  /// "max(reads 512, flits 512) + main 265"; empty for loops.
  std::string formula;
  /// The issues and loops of its block that must be done before it, without
  /// those that others imply.
  llvm::SmallVector<mlir::Operation *> after;
};

/// Of each issue and loop of a program, scheduled or not. Emits an error if the
/// cycles of a command do not fit in 64 bits.
llvm::FailureOr<llvm::DenseMap<mlir::Operation *, CommandFacts>>
getCommandFacts(ProgramOp program);

} // namespace furiosa::resource

#endif // FURIOSA_DIALECT_RESOURCE_TRANSFORMS_COSTS_H
