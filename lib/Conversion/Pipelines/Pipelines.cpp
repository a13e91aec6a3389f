//===- Pipelines.cpp - From any level to a scheduled program --------------===//

#include "furiosa/Conversion/Pipelines.h"

#include "furiosa/Conversion/Passes.h"
#include "furiosa/Dialect/Resource/IR/Resource.h"
#include "furiosa/Dialect/Resource/Transforms/Passes.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace furiosa;

namespace {
/// Schedules every program that is not scheduled, and checks all of them,
/// however deep the modules around them nest.
struct SchedulePrograms
    : public PassWrapper<SchedulePrograms, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SchedulePrograms)

  void runOnOperation() override {
    SmallVector<resource::ProgramOp> programs;
    getOperation()->walk(
        [&](resource::ProgramOp program) { programs.push_back(program); });
    OpPassManager verify(resource::ProgramOp::getOperationName());
    verify.addPass(resource::createResourceVerifySchedule());
    OpPassManager schedule(resource::ProgramOp::getOperationName());
    schedule.addPass(resource::createResourcePipelineLoops());
    schedule.addPass(resource::createResourceSchedule());
    schedule.addPass(resource::createResourceVerifySchedule());
    // A schedule that is there, hand-edited perhaps, is kept if it holds.
    for (resource::ProgramOp program : programs)
      if (failed(
              runPipeline(program.getMakespan() ? verify : schedule, program)))
        return signalPassFailure();
  }
};
} // namespace

void furiosa::buildFuriosaPipeline(OpPassManager &pm) {
  pm.addPass(createConvertVISAToLIR());
  // Offsets become constants where the loops around allow it.
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createConvertLIRToResource());
  pm.addPass(std::make_unique<SchedulePrograms>());
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
