//===- Pipelines.h - From any level to a scheduled program ------*- C++ -*-===//

#ifndef FURIOSA_CONVERSION_PIPELINES_H
#define FURIOSA_CONVERSION_PIPELINES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace furiosa {

/// All passes that a module may still need on the way to scheduled programs;
/// each leaves alone what is past it. Overlapping iterations make kernels
/// faster and larger, by the number of iterations that overlap.
void buildFuriosaPipeline(mlir::OpPassManager &pm, bool pipelineLoops = true);

/// Inlines the helpers that kernels call, and nothing else.
mlir::LogicalResult inlineHelpers(mlir::ModuleOp module);

/// Runs the pipeline; faults are diagnostics of the module's context.
mlir::LogicalResult runFuriosaPipeline(mlir::ModuleOp module);

/// Registers `furiosa-pipeline`.
void registerFuriosaPipelines();

} // namespace furiosa

#endif // FURIOSA_CONVERSION_PIPELINES_H
