//===- Pipelines.cpp - From any level to a scheduled program --------------===//

#include "furiosa/Conversion/Pipelines.h"

#include "furiosa/Conversion/Passes.h"
#include "furiosa/Dialect/Resource/IR/Resource.h"
#include "furiosa/Dialect/Resource/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace furiosa;

namespace {
/// Inlines what kernels call, and drops private functions that nobody calls any
/// more. Kernels stay as they are otherwise.
struct InlineHelpers
    : public PassWrapper<InlineHelpers, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(InlineHelpers)

  void runOnOperation() override {
    ModuleOp module = getOperation();
    bool calls =
        module->walk([](func::CallOp) { return WalkResult::interrupt(); })
            .wasInterrupted();
    if (!calls)
      return;
    OpPassManager inliner(ModuleOp::getOperationName());
    inliner.addPass(createInlinerPass({}, [](OpPassManager &) {}));
    if (failed(runPipeline(inliner, module)))
      return signalPassFailure();
    SymbolTableCollection tables;
    SymbolUserMap users(tables, module);
    module->walk([&](func::FuncOp function) {
      if (function.isPrivate() && !function->hasAttr("visa.kernel") &&
          users.useEmpty(function))
        function.erase();
    });
  }
};

/// Schedules every program that is not scheduled, and checks all of them,
/// however deep the modules around them nest.
struct SchedulePrograms
    : public PassWrapper<SchedulePrograms, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SchedulePrograms)

  explicit SchedulePrograms(bool pipelineLoops)
      : pipelineLoops(pipelineLoops) {}

  void runOnOperation() override {
    SmallVector<resource::ProgramOp> programs;
    getOperation()->walk(
        [&](resource::ProgramOp program) { programs.push_back(program); });
    OpPassManager verify(resource::ProgramOp::getOperationName());
    verify.addPass(resource::createResourceVerifySchedule());
    OpPassManager schedule(resource::ProgramOp::getOperationName());
    schedule.addPass(resource::createResourceSchedule());
    schedule.addPass(resource::createResourceVerifySchedule());
    OpPassManager overlap(resource::ProgramOp::getOperationName());
    overlap.addPass(resource::createResourcePipelineLoops());
    for (resource::ProgramOp program : programs) {
      // A schedule that is there, hand-edited perhaps, is kept if it holds.
      bool isNew = !program.getMakespan();
      auto wish =
          program->getAttrOfType<BoolAttr>(resource::pipelineLoopsAttrName);
      if (isNew && (wish ? wish.getValue() : pipelineLoops) &&
          failed(runPipeline(overlap, program)))
        return signalPassFailure();
      if (failed(runPipeline(isNew ? schedule : verify, program)))
        return signalPassFailure();
    }
  }

  bool pipelineLoops;
};

struct PipelineOptions : public PassPipelineOptions<PipelineOptions> {
  Option<bool> pipelineLoops{
      *this, "pipeline-loops", llvm::cl::init(true),
      llvm::cl::desc("Let iterations of loops overlap, in more code, where "
                     "resource.pipeline_loops does not say")};
};
} // namespace

void furiosa::buildFuriosaPipeline(OpPassManager &pm, bool pipelineLoops) {
  pm.addPass(std::make_unique<InlineHelpers>());
  pm.addPass(createConvertLinalgToTMap());
  pm.addPass(createConvertTMapToVISA());
  pm.addPass(createConvertVISAToLIR());
  // Offsets become constants where the loops around allow it.
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createConvertLIRToResource());
  pm.addPass(std::make_unique<SchedulePrograms>(pipelineLoops));
}

LogicalResult furiosa::inlineHelpers(ModuleOp module) {
  PassManager pm(module->getContext());
  pm.addPass(std::make_unique<InlineHelpers>());
  return pm.run(module);
}

LogicalResult furiosa::runFuriosaPipeline(ModuleOp module) {
  PassManager pm(module->getContext());
  buildFuriosaPipeline(pm);
  return pm.run(module);
}

void furiosa::registerFuriosaPipelines() {
  PassPipelineRegistration<PipelineOptions>(
      "furiosa-pipeline",
      "Lower kernels of any level to scheduled resource programs",
      [](OpPassManager &pm, const PipelineOptions &options) {
        buildFuriosaPipeline(pm, options.pipelineLoops);
      });
}
