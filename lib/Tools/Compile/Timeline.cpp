//===- Timeline.cpp - When the commands of a program run ------------------===//

#include "Timeline.h"

#include "furiosa/Dialect/Resource/Scheduling/Scheduling.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace furiosa::resource;

namespace furiosa::compile {

/// `a + b * c`, or the largest number.
static int64_t multiplyAdd(int64_t a, int64_t b, int64_t c) {
  int64_t product, sum;
  if (llvm::MulOverflow(b, c, product) || llvm::AddOverflow(a, product, sum))
    return INT64_MAX;
  return sum;
}

Timeline::Timeline(ProgramOp program) : program(program) {
  replay(program.getBody().front(), scheduling::getKernelStart());
}

void Timeline::replay(Block &block, int64_t clock) {
  // What was issued last with a tag, or on a context.
  llvm::DenseMap<int64_t, IssueOp> transfers;
  IssueOp contexts[2];
  for (Operation &op : block) {
    if (auto issue = dyn_cast<IssueOp>(op)) {
      llvm::ArrayRef<int64_t> cycles = *issue.getCycles();
      spans[issue] = {cycles[0], cycles[1]};
      if (issue.getEngine() == Engine::Dma)
        transfers[issue.getTag().value_or(0)] = issue;
      else
        contexts[issue.getEngine() == Engine::Sub] = issue;
    } else if (auto wait = dyn_cast<WaitOp>(op)) {
      IssueOp target = wait.getEngine() == Engine::Dma
                           ? transfers.lookup(wait.getTag().value_or(0))
                           : contexts[wait.getEngine() == Engine::Sub];
      targets[wait] = target;
      int64_t begin = clock;
      if (target)
        clock = std::max(clock, spans.lookup(target).second);
      spans[wait] = {begin, clock};
    } else if (auto loop = dyn_cast<LoopOp>(op)) {
      int64_t begin = clock;
      clock = multiplyAdd(clock, loop.getTrips(), loop.getCycles().value_or(0));
      spans[loop] = {begin, clock};
      replay(loop.getBody().front(), 0);
    }
  }
}

uint64_t Timeline::countCommands(Block &block) {
  uint64_t count = 0;
  for (Operation &op : block) {
    if (isa<IssueOp>(op))
      count = llvm::SaturatingAdd<uint64_t>(count, 1);
    else if (auto loop = dyn_cast<LoopOp>(op))
      count = llvm::SaturatingMultiplyAdd<uint64_t>(
          uint64_t(loop.getTrips()), countCommands(loop.getBody().front()),
          count);
  }
  return count;
}

void Timeline::visit(uint64_t most,
                     llvm::function_ref<void(const TimelineEntry &)> visit) {
  bool isShortened = countCommands(program.getBody().front()) > most;
  uint64_t number = 0;
  auto visitBlock = [&](auto &self, Block &block, int64_t base) -> void {
    for (Operation &op : block) {
      if (!isa<IssueOp, WaitOp, LoopOp>(op))
        continue;
      auto [begin, end] = spans.at(&op);
      visit({&op, multiplyAdd(base, begin, 1), multiplyAdd(base, end, 1),
             number++});
      auto loop = dyn_cast<LoopOp>(op);
      if (!loop)
        continue;
      int64_t trips = loop.getTrips();
      int64_t start = multiplyAdd(base, begin, 1);
      // Nested loops that are all shortened still multiply by two a level.
      for (int64_t trip = 0; trip < trips;
           trip = isShortened && trip == 0 && trips > 2 ? trips - 1 : trip + 1)
        self(self, loop.getBody().front(),
             multiplyAdd(start, trip, loop.getCycles().value_or(0)));
    }
  };
  visitBlock(visitBlock, program.getBody().front(), 0);
}

llvm::StringRef getCommandKind(IssueOp issue) {
  Operation &command = issue.getBody().front().front();
  if (auto dma = dyn_cast<lir::DmaOp>(command))
    return dma.getTarget().getType().getTier() == lir::Tier::Hbm ? "DmaStore"
                                                                 : "DmaLoad";
  for (Operation &unit : command.getRegion(0).front()) {
    if (isa<lir::TrfStoreOp>(unit))
      return "StoTrf";
    if (isa<lir::VrfStoreOp>(unit))
      return "StoVrf";
  }
  return "TuExec";
}

bool usesVectorEngine(lir::ExecOp exec) {
  // The cast engine sits on top of the vector engine.
  return llvm::any_of(exec.getBody().getOps(), [](Operation &unit) {
    StringRef name = unit.getName().stripDialect();
    return name.starts_with("vector_") || name == "cast";
  });
}

} // namespace furiosa::compile
