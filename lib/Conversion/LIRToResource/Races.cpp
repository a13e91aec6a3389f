//===- Races.cpp - HBM shared by engines ----------------------------------===//
//
// Compares the bytes that each engine touches in all iterations, and puts
// barriers between commands of different PEs that must not overtake.
//
//===----------------------------------------------------------------------===//

#include "Races.h"
#include "furiosa/Dialect/Resource/Transforms/Dependences.h"
#include "furiosa/Support/ByteRanges.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::resource;

namespace {

using Interval = std::pair<int64_t, int64_t>;

/// One engine's side of one transfer in one HBM buffer, all iterations.
struct EngineBytes {
  IssueOp issue;
  std::pair<int64_t, int64_t> engine;
  bool isWrite;
  bool inLoop;
  /// Loops of the descriptor and those around the command.
  int64_t base = 0;
  SmallVector<int64_t> sizes, strides;
  int64_t packet = 0;

  Interval getHull() const {
    // The verifier has seen that every step stays inside the buffer.
    return {base, base + lir::getReach(sizes, strides).value_or(0) + packet};
  }
};

} // namespace

/// Whether two footprints share a byte; if they are too large to tell, they do.
static bool touchSame(const EngineBytes &a, const EngineBytes &b) {
  Interval hullA = a.getHull(), hullB = b.getHull();
  if (hullA.second <= hullB.first || hullB.second <= hullA.first)
    return false;
  return furiosa::overlap(getByteRanges(a.base, a.sizes, a.strides, a.packet),
                          getByteRanges(b.base, b.sizes, b.strides, b.packet));
}

/// The command or loop of `block` that `op` is, or stands in; null if none.
static Operation *getAncestorIn(Block *block, Operation *op) {
  while (op && op->getBlock() != block)
    op = op->getParentOp();
  return op;
}

/// The innermost block that holds both, and their ancestors in it.
static std::tuple<Block *, Operation *, Operation *>
getCommonBlock(Operation *a, Operation *b) {
  for (Operation *at = a; at; at = at->getParentOp())
    if (Operation *other = getAncestorIn(at->getBlock(), b))
      return {at->getBlock(), at, other};
  llvm_unreachable("commands of one program");
}

/// Puts a barrier in front of `op`: behind all that stands before it, before
/// all that comes.
static void addBarrier(Operation *op) {
  OpBuilder builder(op);
  auto token = TokenType::get(op->getContext());
  auto isBarrier = [](Operation *other) {
    auto loop = dyn_cast<LoopOp>(other);
    return loop && loop.getBarrier() && !loop.isCounted();
  };
  // Other barriers stand for what lies beyond them.
  SmallVector<Value> before;
  for (Operation *at = op->getPrevNode(); at; at = at->getPrevNode()) {
    if (isa<IssueOp, LoopOp>(at))
      before.push_back(at->getResult(0));
    if (isBarrier(at))
      break;
  }
  auto barrier = LoopOp::create(builder, op->getLoc(), token, /*trips=*/1,
                                /*barrier=*/true, before);
  barrier.getBody().emplaceBlock();
  for (Operation *later = op; later; later = later->getNextNode()) {
    if (auto issue = dyn_cast<IssueOp>(later))
      issue.getAfterMutable().append(barrier.getToken());
    else if (auto loop = dyn_cast<LoopOp>(later))
      loop.getAfterMutable().append(barrier.getToken());
    if (isBarrier(later))
      break;
  }
}

/// Orders two commands of different PEs, `a` not behind `b`, by barriers where
/// they have none: in one iteration, and from one to the next.
static void separate(IssueOp a, IssueOp b) {
  auto [block, first, second] = getCommonBlock(a, b);
  if (auto loop = dyn_cast<LoopOp>(block->getParentOp()))
    loop.setBarrier(true);
  if (first == second || hasBarrierBehind(a, first))
    return;
  for (Operation *at = first->getNextNode(); at != second;
       at = at->getNextNode())
    if (hasCertainBarrier(at))
      return;
  addBarrier(second);
}

/// In data memory, addresses are given anew when buffers die, in the cycles of
/// one queue: while an engine is in the memory of another PE, all others wait.
static void encloseRemote(IssueOp issue) {
  auto dma = dyn_cast<lir::DmaOp>(issue.getBody().front().front());
  if (!dma)
    return;
  auto isDm = [](Value buffer) {
    return cast<lir::MemType>(buffer.getType()).getTier() == lir::Tier::Dm;
  };
  bool isRemote = false;
  for (auto engine : dma.getEngines().getAsRange<lir::EngineAttr>())
    isRemote |=
        (isDm(dma.getSource()) && lir::isRemoteAddress(engine.getSource())) ||
        (isDm(dma.getTarget()) && lir::isRemoteAddress(engine.getTarget())) ||
        lir::isRemoteAddress(engine.getList());
  if (!isRemote)
    return;
  // The start and the end of a program are barriers, too, but an iteration is
  // followed by the next.
  Operation *previous = issue->getPrevNode();
  bool atStart = !isa<LoopOp>(issue->getParentOp()) &&
                 !isa_and_nonnull<IssueOp, LoopOp>(previous);
  if (!atStart && !(previous && endsWithBarrier(previous)))
    addBarrier(issue);
  if (auto loop = dyn_cast<LoopOp>(issue->getParentOp()))
    loop.setBarrier(true);
  if (Operation *next = issue->getNextNode())
    addBarrier(next);
}

void furiosa::orderPEs(ProgramOp program) {
  SmallVector<IssueOp> issues;
  program.walk([&](IssueOp issue) { issues.push_back(issue); });
  llvm::for_each(issues, encloseRemote);
  llvm::MapVector<Value, std::vector<EngineBytes>> footprints;
  for (IssueOp issue : issues) {
    auto dma = dyn_cast<lir::DmaOp>(issue.getBody().front().front());
    if (!dma)
      continue;
    SmallVector<LoopOp> loops = getEnclosingLoops(issue);
    for (int side : {0, 1, 2}) {
      Value buffer = side == 0   ? dma.getSource()
                     : side == 1 ? dma.getTarget()
                                 : dma.getIndices();
      if (!buffer)
        continue;
      if (cast<lir::MemType>(buffer.getType()).getTier() != lir::Tier::Hbm)
        continue;
      for (Attribute attr : dma.getEngines()) {
        auto engine = cast<lir::EngineAttr>(attr);
        EngineBytes footprint;
        footprint.issue = issue;
        footprint.engine = {engine.getCluster(), engine.getPe()};
        footprint.isWrite = side == 1;
        footprint.inLoop = !loops.empty();
        // Which rows of a table are met, only the run knows.
        int64_t bytes = cast<lir::MemType>(buffer.getType()).getBytes();
        bool isTable = dma.isIndirect() && side == (dma.isGather() ? 0 : 1);
        if (isTable || side == 2) {
          footprint.packet = bytes;
          footprints[buffer].push_back(std::move(footprint));
          continue;
        }
        footprint.base = side ? engine.getTarget() : engine.getSource();
        footprint.packet = engine.getPacket();
        for (auto [base, count, stride] : getMoves(issue, side == 1)) {
          footprint.base += base;
          footprint.sizes.push_back(count);
          footprint.strides.push_back(stride);
        }
        llvm::append_range(footprint.sizes, engine.getSizes());
        llvm::append_range(footprint.strides, side ? engine.getTargetStrides()
                                                   : engine.getSourceStrides());
        // Broadcast does not add bytes.
        for (size_t i = footprint.sizes.size(); i-- > 0;)
          if (footprint.strides[i] == 0 || footprint.sizes[i] == 1) {
            footprint.sizes.erase(footprint.sizes.begin() + i);
            footprint.strides.erase(footprint.strides.begin() + i);
          }
        footprints[buffer].push_back(std::move(footprint));
      }
    }
  }
  for (auto &[buffer, list] : footprints) {
    if (llvm::none_of(list, [](const EngineBytes &f) { return f.isWrite; }))
      continue;
    for (size_t j = 0; j < list.size(); ++j)
      for (size_t i = 0; i < j; ++i) {
        EngineBytes &a = list[i], &b = list[j];
        // The engines of one transfer may carry copies of one value.
        if (a.engine == b.engine || !(a.isWrite || b.isWrite) ||
            (a.issue == b.issue && !b.inLoop) || !touchSame(a, b))
          continue;
        separate(a.issue, b.issue);
      }
  }
}
