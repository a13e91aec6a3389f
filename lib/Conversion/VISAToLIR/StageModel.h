//===- StageModel.h - What the lowerings of stages share --------*- C++ -*-===//

#ifndef FURIOSA_LIB_CONVERSION_VISATOLIR_STAGEMODEL_H
#define FURIOSA_LIB_CONVERSION_VISATOLIR_STAGEMODEL_H

#include "furiosa/Conversion/VISAToLIR/VISAToLIR.h"
#include "furiosa/Dialect/LIR/IR/LIR.h"
#include "furiosa/Dialect/VISA/IR/StageLoops.h"

namespace furiosa {

/// Sizes and strides as the two arrays of an op.
struct Arrays {
  llvm::SmallVector<int64_t> sizes, strides;

  explicit Arrays(const loops::LoopNest &nest) {
    for (const loops::Loop &loop : nest) {
      sizes.push_back(loop.size);
      strides.push_back(loop.stride);
    }
  }
};

template <typename Model, typename Op>
using StageModel = LowerStageInterface::ExternalModel<Model, Op>;

/// Stages that mark a place, or that another unit takes along.
template <typename Op>
struct NoUnitLowering : public StageModel<NoUnitLowering<Op>, Op> {
  void lower(mlir::Operation *, const StageLowering &,
             mlir::OpBuilder &) const {}
};

/// Attaches the lowerings of the vector stages.
void registerVectorStages(mlir::MLIRContext &context);

} // namespace furiosa

#endif // FURIOSA_LIB_CONVERSION_VISATOLIR_STAGEMODEL_H
