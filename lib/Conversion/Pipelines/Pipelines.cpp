//===- Pipelines.cpp - From any level to a scheduled program --------------===//

#include "furiosa/Conversion/Pipelines.h"

#include "furiosa/Conversion/Passes.h"
#include "furiosa/Dialect/Resource/IR/Resource.h"
#include "furiosa/Dialect/Resource/Transforms/Passes.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void furiosa::buildFuriosaPipeline(OpPassManager &pm) {
  pm.addPass(createConvertVISAToLIR());
  // Offsets become constants where the loops around allow it.
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createConvertLIRToResource());
  pm.addNestedPass<resource::ProgramOp>(resource::createResourceSchedule());
  pm.addNestedPass<resource::ProgramOp>(
      resource::createResourceVerifySchedule());
}

LogicalResult furiosa::runFuriosaPipeline(ModuleOp module) {
  PassManager pm(module->getContext());
  buildFuriosaPipeline(pm);
  return pm.run(module);
}

void furiosa::registerFuriosaPipelines() {
  PassPipelineRegistration<>(
      "furiosa-pipeline",
      "Lower kernels of any level to scheduled resource programs",
      buildFuriosaPipeline);
}
