//===- PrintCosts.cpp - The pass resource-print-costs ---------------------===//
//
// Says what each command costs, line by line.
//
//===----------------------------------------------------------------------===//

#include "ProblemBuilder.h"
#include "furiosa/Dialect/Resource/Transforms/Passes.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::resource;

namespace furiosa::resource {
#define GEN_PASS_DEF_RESOURCEPRINTCOSTS
#include "furiosa/Dialect/Resource/Transforms/Passes.h.inc"
} // namespace furiosa::resource

namespace {
struct PrintCostsPass : resource::impl::ResourcePrintCostsBase<PrintCostsPass> {
  using Base::Base;
  void runOnOperation() override;
};
} // namespace

void PrintCostsPass::runOnOperation() {
  ProgramOp op = getOperation();
  markAllAnalysesPreserved();
  FailureOr<ProgramProblem> program = buildProblem(op, /*keepAddresses=*/false);
  if (failed(program))
    return signalPassFailure();
  addDependences(op, *program);
  llvm::DenseMap<Operation *, int64_t> cycles;
  for (auto [block, ops] :
       llvm::zip(program->problem.blocks, program->commands))
    for (auto [command, issue] : llvm::zip(block.commands, ops))
      cycles[issue] = command.cycles;
  // All trips of the loops around count.
  llvm::MapVector<Engine, int64_t> totals;
  op.walk<WalkOrder::PreOrder>([&](Operation *nested) {
    if (auto loop = dyn_cast<LoopOp>(nested))
      emitRemark(loop.getLoc()) << "loop of " << loop.getTrips() << " trips";
    auto issue = dyn_cast<IssueOp>(nested);
    if (!issue)
      return;
    // A line a command: without the op.
    emitRemark(issue.getLoc())
        << stringifyEngine(issue.getEngine()) << " " << cycles.lookup(issue)
        << " cycles = " << program->formulas.lookup(issue);
    int64_t total = cycles.lookup(issue);
    for (LoopOp loop : getEnclosingLoops(issue))
      total = llvm::SaturatingMultiply<uint64_t>(total, loop.getTrips());
    totals[issue.getEngine()] += total;
  });
  InFlightDiagnostic diag = emitRemark(op.getLoc());
  diag << "start " << scheduling::getKernelStart();
  for (auto [engine, total] : totals)
    diag << ", " << stringifyEngine(engine) << " " << total;
  diag << ", end " << scheduling::getKernelEnd()
       << "; no order is shorter than "
       << scheduling::getLowerBound(program->problem);
}
