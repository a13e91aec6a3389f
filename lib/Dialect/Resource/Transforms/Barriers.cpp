//===- Barriers.cpp - Where PEs wait for one another ----------------------===//
//
// What stands for a barrier, and whether barriers stand where engines of
// different PEs would race.
//
//===----------------------------------------------------------------------===//

#include "ProblemBuilder.h"
#include "furiosa/Support/ByteRanges.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::resource;

bool resource::hasBarrier(Operation *op) {
  return op
      ->walk([](LoopOp loop) {
        return loop.getBarrier() ? WalkResult::interrupt()
                                 : WalkResult::advance();
      })
      .wasInterrupted();
}

bool resource::hasCertainBarrier(Operation *op) {
  return op
      ->walk<WalkOrder::PreOrder>([](LoopOp loop) {
        if (loop.isCounted())
          return WalkResult::skip();
        return loop.getBarrier() ? WalkResult::interrupt()
                                 : WalkResult::advance();
      })
      .wasInterrupted();
}

bool resource::endsWithBarrier(Operation *op) {
  while (auto loop = dyn_cast<LoopOp>(op)) {
    if (loop.isCounted())
      return false;
    if (loop.getBarrier())
      return true;
    SmallVector<Operation *> commands = getCommands(loop.getBody().front());
    if (commands.empty())
      return false;
    op = commands.back();
  }
  return false;
}

bool resource::hasBarrierBehind(Operation *op, Operation *around) {
  for (; op != around; op = op->getParentOp()) {
    for (Operation *later = op->getNextNode(); later;
         later = later->getNextNode())
      if (hasCertainBarrier(later))
        return true;
    if (cast<LoopOp>(op->getParentOp()).getBarrier())
      return true;
  }
  return false;
}

namespace {
/// What one engine of one transfer touches of one HBM buffer in all
/// iterations.
struct Side {
  IssueOp issue;
  std::pair<int64_t, int64_t> pe;
  bool isWrite;
  /// Nothing if there are too many runs to list.
  std::optional<ByteRanges> bytes;
};
} // namespace

static bool isHbm(Value buffer) {
  return cast<lir::MemType>(buffer.getType()).getTier() == lir::Tier::Hbm;
}

/// The bytes of one side of an engine; of a table or a list of rows, of which
/// only the run knows what is met, all.
static std::optional<ByteRanges> getBytes(IssueOp issue, lir::DmaOp dma,
                                          lir::EngineAttr engine, Value buffer,
                                          bool isWrite) {
  if (buffer == dma.getIndices() ||
      (dma.isIndirect() && isWrite != dma.isGather()))
    return ByteRanges{{0, cast<lir::MemType>(buffer.getType()).getBytes()}};
  SmallVector<int64_t> sizes(engine.getSizes());
  SmallVector<int64_t> strides(isWrite ? engine.getTargetStrides()
                                       : engine.getSourceStrides());
  int64_t base = isWrite ? engine.getTarget() : engine.getSource();
  for (auto [start, count, stride] : getMoves(issue, isWrite)) {
    base += start;
    sizes.push_back(count);
    strides.push_back(stride);
  }
  for (size_t i = sizes.size(); i-- > 0;)
    if (strides[i] == 0) {
      sizes.erase(sizes.begin() + i);
      strides.erase(strides.begin() + i);
    }
  return getByteRanges(base, sizes, strides, engine.getPacket());
}

/// Whether `op` stands between two barriers, or an end of the program.
static bool isAlone(Operation *op) {
  Block *block = op->getBlock();
  auto loop = dyn_cast<LoopOp>(block->getParentOp());
  SmallVector<Operation *> commands = getCommands(*block);
  size_t at = llvm::find(commands, op) - commands.begin();
  // The last barrier of an iteration is the first of the next, but nothing is
  // known of what stands in front of the loop.
  bool isAfter = at == 0 ? !loop : endsWithBarrier(commands[at - 1]);
  if (at + 1 == commands.size())
    return isAfter && (!loop || loop.getBarrier());
  auto next = dyn_cast<LoopOp>(commands[at + 1]);
  return isAfter && next && next.getBarrier() && !next.isCounted() &&
         getCommands(next.getBody().front()).empty();
}

/// Whether a barrier lies between any run of `a` and any later one of `b`, and
/// the other way round.
static bool areApart(IssueOp a, IssueOp b) {
  // The innermost block with both; `first` and `second` are or hold them.
  Operation *first = a, *second = nullptr;
  for (;; first = first->getParentOp()) {
    for (second = b; second && second->getBlock() != first->getBlock();)
      second = second->getParentOp();
    if (second)
      break;
  }
  bool isBefore = first != second && first->isBeforeInBlock(second);
  if (first != second && !isBefore) {
    std::swap(first, second);
    std::swap(a, b);
  }
  auto hasAny = [](Operation *begin, Operation *end) {
    for (; begin != end; begin = begin->getNextNode())
      if (hasCertainBarrier(begin))
        return true;
    return false;
  };
  if (first != second && !hasBarrierBehind(a, first) &&
      !hasAny(first->getNextNode(), second))
    return false;
  auto loop = dyn_cast<LoopOp>(first->getBlock()->getParentOp());
  return !loop || loop.getBarrier() ||
         hasAny(&first->getBlock()->front(), first) ||
         hasAny(second->getNextNode(), nullptr);
}

LogicalResult resource::verifyBarriers(ProgramOp program) {
  llvm::MapVector<Value, std::vector<Side>> sides;
  bool isAnyWrong = false;
  program.walk([&](IssueOp issue) {
    auto dma = dyn_cast<lir::DmaOp>(issue.getBody().front().front());
    if (!dma)
      return;
    bool isRemote = false;
    for (auto engine : dma.getEngines().getAsRange<lir::EngineAttr>()) {
      std::pair<int64_t, int64_t> pe = {engine.getCluster(), engine.getPe()};
      for (auto [buffer, base, isWrite] :
           {std::tuple(dma.getSource(), engine.getSource(), false),
            std::tuple(dma.getTarget(), engine.getTarget(), true)}) {
        if (isHbm(buffer))
          sides[buffer].push_back(
              {issue, pe, isWrite,
               getBytes(issue, dma, engine, buffer, isWrite)});
        else
          isRemote |= lir::isRemoteAddress(base);
      }
      Value list = dma.getIndices();
      if (list && isHbm(list))
        sides[list].push_back(
            {issue, pe, false, getBytes(issue, dma, engine, list, false)});
      isRemote |= list && lir::isRemoteAddress(engine.getList());
    }
    if (isRemote && !isAlone(issue)) {
      issue.emitOpError("goes into the data memory of another PE without a "
                        "barrier on either side");
      isAnyWrong = true;
    }
  });
  for (auto &[buffer, list] : sides)
    for (size_t j = 0; j < list.size(); ++j)
      for (size_t i = 0; i < j; ++i) {
        Side &a = list[i], &b = list[j];
        bool isOneRun =
            a.issue == b.issue && !isa<LoopOp>(a.issue->getParentOp());
        if (a.pe == b.pe || !(a.isWrite || b.isWrite) || isOneRun ||
            areApart(a.issue, b.issue) || !overlap(a.bytes, b.bytes))
          continue;
        b.issue.emitOpError("no barrier stands between engines of two PEs that "
                            "touch the same bytes")
                .attachNote(a.issue.getLoc())
            << "the other command is here";
        return failure();
      }
  return failure(isAnyWrong);
}
