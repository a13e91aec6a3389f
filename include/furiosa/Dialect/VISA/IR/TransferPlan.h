//===- TransferPlan.h - What the DMA does for a transfer --------*- C++ -*-===//
//
// The commands of a transfer between tensors or views of them. The check of a
// transfer asks whether there is a plan, the lowering writes it down.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_DIALECT_VISA_IR_TRANSFERPLAN_H
#define FURIOSA_DIALECT_VISA_IR_TRANSFERPLAN_H

#include "furiosa/Dialect/VISA/IR/Views.h"
#include "furiosa/Dialect/VISA/Transfer/Transfer.h"

namespace furiosa::visa {

/// The DMA commands of one transfer. Bases count from the start of the views.
struct TransferPlan {
  std::vector<TransferCommand> commands;
  ViewStart source, target;
  /// Of an indirect transfer: where the index begins, and how many bytes one of
  /// its units moves the table.
  ViewStart index;
  int64_t scale = 1;
};

/// The plan of a transfer from `source` into `target`, or into a new tensor of
/// type `targetType` where `target` is null. Fails with what `reporter` has
/// said; without a message where the types are faulty on their own, which
/// KernelChecker::checkTensorType reports.
mlir::FailureOr<TransferPlan> planTransfer(mlir::Value source,
                                           mlir::Value target,
                                           mlir::Type targetType,
                                           FaultReporter &reporter);

/// The plan of a copy in the sub context, within the slices of data memory: of
/// each command the one engine stands for all slices, its packets are words of
/// 8 bytes.
mlir::FailureOr<TransferPlan> planParallelCopy(mlir::Value source,
                                               mlir::Value target,
                                               FaultReporter &reporter);

/// The plan of a gather or scatter between `rows` (of type `rowsType`, null
/// where they are made) and `table`.
mlir::FailureOr<TransferPlan> planIndirect(mlir::Value table, mlir::Value index,
                                           mlir::Value rows,
                                           mlir::Type rowsType, bool scaled,
                                           FaultReporter &reporter);

} // namespace furiosa::visa

#endif // FURIOSA_DIALECT_VISA_IR_TRANSFERPLAN_H
