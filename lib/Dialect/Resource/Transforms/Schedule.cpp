//===- Schedule.cpp - The pass resource-schedule --------------------------===//
//
// Puts a solution of the scheduling library into a program.
//
//===----------------------------------------------------------------------===//

#include "ProblemBuilder.h"
#include "furiosa/Dialect/Resource/Transforms/Passes.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::resource;

namespace furiosa::resource {
#define GEN_PASS_DEF_RESOURCESCHEDULE
#include "furiosa/Dialect/Resource/Transforms/Passes.h.inc"
} // namespace furiosa::resource

namespace {
struct SchedulePass : resource::impl::ResourceScheduleBase<SchedulePass> {
  using Base::Base;
  void runOnOperation() override;

private:
  void addTokens(ProgramProblem &program);
  void report(ProgramProblem &program, const scheduling::Failure &failure);
  void applyBlock(ProgramProblem &program, const scheduling::Solution &solution,
                  unsigned index);
};
} // namespace

/// What the text asks for on top of what the bytes say.
void SchedulePass::addTokens(ProgramProblem &program) {
  for (auto [index, block] : llvm::enumerate(program.problem.blocks)) {
    llvm::DenseMap<Operation *, unsigned> position;
    for (auto [i, op] : llvm::enumerate(program.commands[index])) {
      position[op] = i;
      SmallVectorImpl<unsigned> &after = block.commands[i].after;
      auto issue = dyn_cast<IssueOp>(op);
      for (Value token : issue ? issue.getAfter() : cast<LoopOp>(op).getAfter())
        after.push_back(position.find(token.getDefiningOp())->second);
      llvm::sort(after);
      after.erase(llvm::unique(after), after.end());
    }
  }
}

static StringRef getMemoryName(scheduling::Memory memory) {
  switch (memory) {
  case scheduling::Memory::Dm:
    return "dm";
  case scheduling::Memory::Trf:
    return "trf";
  case scheduling::Memory::Vrf:
    return "vrf";
  case scheduling::Memory::Hbm:
    return "hbm";
  }
  return "";
}

void SchedulePass::report(ProgramProblem &program,
                          const scheduling::Failure &failure) {
  auto bytes = [&](unsigned buffer) {
    return program.problem.buffers[buffer].bytes;
  };
  switch (failure.kind) {
  case scheduling::Failure::Malformed: {
    Operation *op = getOperation();
    if (!failure.buffers.empty())
      op = program.buffers[failure.buffers.front()];
    op->emitOpError("cannot be scheduled: ") << failure.message;
    return;
  }
  case scheduling::Failure::PresetConflict: {
    InFlightDiagnostic diag =
        program.buffers[failure.buffers[1]].emitOpError("address ")
        << failure.addresses[1]
        << " overlaps that of another buffer while both live";
    diag.attachNote(program.buffers[failure.buffers[0]].getLoc())
        << "which takes " << bytes(failure.buffers[0]) << " bytes at "
        << failure.addresses[0];
    return;
  }
  case scheduling::Failure::OutOfMemory: {
    unsigned last = failure.buffers.back();
    InFlightDiagnostic diag =
        program.buffers[last].emitOpError("out of memory: ")
        << getMemoryName(failure.memory) << " holds "
        << scheduling::getCapacity(failure.memory) << " bytes, no room for "
        << bytes(last) << " beside what lives at the same time; at the peak "
        << failure.peak << " live";
    // Of what lives at different times, addresses may overlap.
    for (size_t i = 0; i + 1 < failure.buffers.size(); ++i)
      diag.attachNote(program.buffers[failure.buffers[i]].getLoc())
          << bytes(failure.buffers[i]) << " bytes at " << failure.addresses[i]
          << ", in cycles " << failure.lives[i].first << " to "
          << failure.lives[i].second;
    if (failure.largestFree == 0) {
      diag.attachNote(getOperation().getLoc()) << "beside them nothing is free";
      return;
    }
    diag.attachNote(getOperation().getLoc())
        << "the largest piece that is free has " << failure.largestFree
        << (failure.memory == scheduling::Memory::Trf ? " bytes in each lane"
                                                      : " bytes")
        << ", at " << failure.largestFreeAt;
    return;
  }
  }
}

/// Puts the commands of a block in the order of its queue, with waits between.
void SchedulePass::applyBlock(ProgramProblem &program,
                              const scheduling::Solution &solution,
                              unsigned index) {
  const scheduling::BlockSchedule &schedule = solution.blocks[index];
  const scheduling::Block &problem = program.problem.blocks[index];
  mlir::Block *block = program.blocks[index];
  OpBuilder builder(block, block->end());
  for (auto wait : llvm::make_early_inc_range(block->getOps<WaitOp>()))
    wait.erase();
  // The old ops go when nothing uses their tokens any more.
  for (const scheduling::Step &step : schedule.steps) {
    Operation *op = program.commands[index][step.command];
    const scheduling::Command &command = problem.commands[step.command];
    IntegerAttr tag;
    if (int number = schedule.tag[step.command]; number >= 0)
      tag = builder.getI64IntegerAttr(number);
    if (step.kind == scheduling::Step::Wait) {
      Engine engine = command.engine == scheduling::Engine::Dma ? Engine::Dma
                      : command.engine == scheduling::Engine::Sub
                          ? Engine::Sub
                          : Engine::Main;
      WaitOp::create(builder, op->getLoc(), engine, tag);
      continue;
    }
    Operation *scheduled;
    if (auto loop = dyn_cast<LoopOp>(op)) {
      int64_t cycles = solution.blocks[command.body].length;
      auto next = LoopOp::create(
          builder, loop.getLoc(), Type(), loop.getTripsAttr(),
          loop.getBarrierAttr(), builder.getI64IntegerAttr(cycles),
          loop.getCounts(), loop.getScalesAttr(), loop.getPlusAttr(),
          ValueRange(), loop.getWhenAttr(), loop.getBoundAttr());
      next.getBody().takeBody(loop.getBody());
      scheduled = next;
    } else {
      auto issue = cast<IssueOp>(op);
      auto cycles = builder.getDenseI64ArrayAttr(
          {schedule.start[step.command], schedule.end[step.command]});
      auto next = IssueOp::create(builder, issue.getLoc(), Type(),
                                  issue.getEngineAttr(), tag, cycles,
                                  issue.getAdvanceAttr(), ValueRange(),
                                  issue.getNumbers(), issue.getStartsAttr());
      next.getBody().takeBody(issue.getBody());
      scheduled = next;
    }
    scheduled->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  }
  for (Operation *op : llvm::reverse(program.commands[index]))
    op->dropAllUses();
  for (Operation *op : llvm::reverse(program.commands[index]))
    op->erase();
}

void SchedulePass::runOnOperation() {
  ProgramOp op = getOperation();
  // Addresses of an earlier schedule are its result, not a wish.
  FailureOr<ProgramProblem> program =
      buildProblem(op, /*keepAddresses=*/!op.getMakespan());
  if (failed(program))
    return signalPassFailure();
  addDependences(op, *program);
  // Tokens end with the schedule: what it proves, it proves without them.
  int64_t lowerBound = scheduling::getLowerBound(program->problem);
  addTokens(*program);
  scheduling::Failure failure;
  std::optional<scheduling::Solution> solution =
      scheduling::solve(program->problem, failure);
  if (!solution) {
    report(*program, failure);
    return signalPassFailure();
  }
  // Bodies stand behind their loops: they are rewritten first.
  for (unsigned i = program->problem.blocks.size(); i-- > 0;)
    applyBlock(*program, *solution, i);
  for (auto [buffer, placement] :
       llvm::zip(program->buffers, solution->placements)) {
    buffer.setAddress(placement.address);
    buffer.setLive(ArrayRef<int64_t>{placement.begin, placement.end});
  }
  op.setMakespan(solution->makespan);
  op.setLowerBound(lowerBound);
}
