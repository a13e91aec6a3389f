//===- VISAToLIR.h - From virtual ISA kernels to commands -------*- C++ -*-===//
//
// What the lowering of a stage sees, and the registration of the lowerings.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_CONVERSION_VISATOLIR_VISATOLIR_H
#define FURIOSA_CONVERSION_VISATOLIR_VISATOLIR_H

#include "furiosa/Dialect/VISA/IR/KernelCheck.h"

namespace furiosa {

/// A stage within its chain.
struct StageLowering {
  /// All stages of the chain with the streams around them.
  llvm::ArrayRef<visa::StageRecord> records;
  /// Which of them it is.
  size_t index = 0;
  /// The lir buffer of a tensor; unset while lowerings are only checked.
  llvm::function_ref<mlir::Value(mlir::Value)> getBuffer;
  /// The lir buffer that the chain fills; null while only checked.
  mlir::Value result;

  const visa::Layout &before() const { return records[index].before; }
  const visa::Layout &after() const { return records[index].after; }
  /// The first stage of kind `Op` in the chain, or null.
  template <typename Op>
  const visa::StageRecord *find() const {
    for (const visa::StageRecord &record : records)
      if (mlir::isa<Op>(record.op))
        return &record;
    return nullptr;
  }
};

} // namespace furiosa

#include "furiosa/Conversion/VISAToLIR/LowerStageInterface.h.inc"

namespace furiosa {

/// Attaches the lowerings of all stages to the visa dialect.
void registerVISAToLIRStages(mlir::DialectRegistry &registry);

} // namespace furiosa

#endif // FURIOSA_CONVERSION_VISATOLIR_VISATOLIR_H
