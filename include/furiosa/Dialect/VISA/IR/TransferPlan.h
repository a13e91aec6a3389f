//===- TransferPlan.h - What the DMA does for a transfer --------*- C++ -*-===//
//
// The commands of a transfer between tensors or views of them. The check of a
// transfer asks whether there is a plan, the lowering writes it down.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_DIALECT_VISA_IR_TRANSFERPLAN_H
#define FURIOSA_DIALECT_VISA_IR_TRANSFERPLAN_H

#include "furiosa/Dialect/VISA/IR/KernelCheck.h"
#include "furiosa/Dialect/VISA/Transfer/Transfer.h"

namespace furiosa::visa {

/// Where a view begins in its buffer, in bytes: a number, and index values
/// that each count by a number of bytes.
struct ViewOffset {
  int64_t constant = 0;
  llvm::SmallVector<std::pair<mlir::Value, int64_t>> terms;
};

/// The DMA commands of one transfer. Bases count from the start of the views.
struct TransferPlan {
  std::vector<TransferCommand> commands;
  ViewOffset source, target;
};

/// The plan of a transfer from `source` into `target`, or into a new tensor of
/// type `targetType` where `target` is null. Fails with what `reporter` has
/// said; without a message where the types are faulty on their own, which
/// KernelChecker::checkTensorType reports.
mlir::FailureOr<TransferPlan> planTransfer(mlir::Value source,
                                           mlir::Value target,
                                           mlir::Type targetType,
                                           FaultReporter &reporter);

} // namespace furiosa::visa

#endif // FURIOSA_DIALECT_VISA_IR_TRANSFERPLAN_H
