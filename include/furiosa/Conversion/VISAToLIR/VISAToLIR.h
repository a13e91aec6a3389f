//===- VISAToLIR.h - From virtual ISA kernels to commands -------*- C++ -*-===//
//
// What the lowering of a stage sees, and the registration of the lowerings.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_CONVERSION_VISATOLIR_VISATOLIR_H
#define FURIOSA_CONVERSION_VISATOLIR_VISATOLIR_H

#include "furiosa/Dialect/VISA/IR/KernelCheck.h"

namespace furiosa {

/// A stage within its chain, and where its tensors are.
struct StageLowering : public visa::ChainStage {
  /// The lir buffer of a tensor.
  llvm::function_ref<mlir::Value(mlir::Value)> getBuffer;
  /// The byte at which a tensor begins in its buffer.
  llvm::function_ref<int64_t(mlir::Value)> getStart;
  /// The bytes that the run adds to that; null where there are none.
  llvm::function_ref<mlir::Value(mlir::Value)> getOffset;
  /// The lir buffer that the chain fills.
  mlir::Value result;
};

} // namespace furiosa

#include "furiosa/Conversion/VISAToLIR/LowerStageInterface.h.inc"

namespace furiosa {

/// Attaches the lowerings of all stages to the visa dialect.
void registerVISAToLIRStages(mlir::DialectRegistry &registry);

} // namespace furiosa

#endif // FURIOSA_CONVERSION_VISATOLIR_VISATOLIR_H
