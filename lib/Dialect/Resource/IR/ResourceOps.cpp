//===- ResourceOps.cpp - Verifiers of resource ops ------------------------===//
//
// Structure and numbers; whether a schedule is right is shown by the pass
// `resource-verify-schedule`.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/Resource/IR/Resource.h"
#include "furiosa/Dialect/Utils/Numbers.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::resource;
using lir::MemType;
using lir::Tier;
namespace machine = furiosa::rngd::machine;

SmallVector<LoopOp> resource::getEnclosingLoops(Operation *op) {
  SmallVector<LoopOp> loops;
  for (Operation *parent = op->getParentOp(); parent;
       parent = parent->getParentOp())
    if (auto loop = dyn_cast<LoopOp>(parent))
      loops.push_back(loop);
  std::reverse(loops.begin(), loops.end());
  return loops;
}

BaseLoop resource::getBaseLoop(int64_t count, int64_t step) {
  return {std::min<int64_t>((count - 1) * step, 0), count,
          step < 0 ? -step : step};
}

SmallVector<BaseLoop> resource::getStartLoops(IssueOp issue, bool isTarget) {
  SmallVector<BaseLoop> loops;
  ArrayRef<int64_t> starts = issue.getStarts().value_or(ArrayRef<int64_t>());
  for (auto [i, number] : llvm::enumerate(issue.getNumbers())) {
    ArrayRef<int64_t> range = getRange(number).asArrayRef();
    if (int64_t step = starts[2 * i + isTarget])
      loops.push_back(getBaseLoop(range[1] - range[0] + 1, step));
  }
  return loops;
}

SmallVector<BaseLoop> resource::getMoves(IssueOp issue, bool isTarget) {
  SmallVector<BaseLoop> moves = getStartLoops(issue, isTarget);
  ArrayRef<int64_t> advance = issue.getAdvance().value_or(ArrayRef<int64_t>());
  if (!advance.empty())
    for (auto [i, loop] : llvm::enumerate(getEnclosingLoops(issue)))
      moves.push_back(getBaseLoop(loop.getTrips(), advance[2 * i + isTarget]));
  return moves;
}

DenseI64ArrayAttr resource::getRange(Value argument) {
  auto op = argument.getDefiningOp<ArgumentOp>();
  DenseI64ArrayAttr range = op ? op.getRangeAttr() : DenseI64ArrayAttr();
  // The argument may not have been verified yet.
  return range && isNumberRange(range) ? range : DenseI64ArrayAttr();
}

/// RES-16, RES-13: two cycles in order.
static LogicalResult verifyInterval(Operation *op, StringRef what,
                                    ArrayRef<int64_t> interval) {
  if (interval.size() != 2)
    return op->emitOpError(what)
           << " must hold two cycles, found " << interval.size();
  if (interval[0] < 0 || interval[0] > interval[1])
    return op->emitOpError(what) << " must ascend from 0 on, found "
                                 << interval[0] << " to " << interval[1];
  return success();
}

static LogicalResult verifyTag(Operation *op, StringRef rule, Engine engine,
                               std::optional<int64_t> tag) {
  if (!tag)
    return success();
  if (engine != Engine::Dma)
    return op->emitOpError(rule) << ": only a dma has a tag, found one on "
                                 << stringifyEngine(engine);
  if (*tag < 0 || *tag >= int64_t(machine::dmaTags))
    return op->emitOpError(rule) << ": tag must be 0 to "
                                 << machine::dmaTags - 1 << ", found " << *tag;
  return success();
}

/// RES-19: dependences do not cross blocks; a loop stands for its body.
static LogicalResult verifyTokens(Operation *op, ValueRange after) {
  for (auto [i, token] : llvm::enumerate(after)) {
    Operation *producer = token.getDefiningOp();
    if (!producer || producer->getBlock() != op->getBlock())
      return op->emitOpError("RES-19: token ")
             << i << " must come from the same block";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// ProgramOp
//===----------------------------------------------------------------------===//

/// RES-9: what a schedule adds is there in whole, or not at all.
static LogicalResult verifyScheduled(ProgramOp program) {
  WalkResult result = program.getBody().walk([&](Operation *op) {
    auto refuse = [&](StringRef what) {
      InFlightDiagnostic diag = op->emitOpError("RES-9: a scheduled program ")
                                << what;
      return WalkResult(diag);
    };
    if (auto buffer = dyn_cast<BufferOp>(op)) {
      if (!buffer.getAddress() || !buffer.getLive())
        return refuse("has buffers with address and live");
    } else if (auto issue = dyn_cast<IssueOp>(op)) {
      if (!issue.getCycles())
        return refuse("has commands with cycles");
      if (issue.getEngine() == Engine::Dma && !issue.getTag())
        return refuse("has dma commands with tags");
      if (issue.getToken() || !issue.getAfter().empty())
        return refuse("has waits instead of tokens");
    } else if (auto loop = dyn_cast<LoopOp>(op)) {
      if (!loop.getCycles())
        return refuse("has loops with cycles");
      if (loop.getToken() || !loop.getAfter().empty())
        return refuse("has waits instead of tokens");
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult ProgramOp::verifyRegions() {
  if (getSymName().empty())
    return emitOpError("a program needs a name");
  if (getPes() != 1 && getPes() != 2 && getPes() != 4)
    return emitOpError("RES-3: pes must be 1, 2 or 4, found ") << getPes();
  if (getClusters().empty())
    return emitOpError("RES-3: at least one cluster runs the program");
  int64_t next = 0;
  for (int64_t cluster : getClusters()) {
    if (cluster < next || cluster >= int64_t(machine::clusters))
      return emitOpError("RES-3: clusters must ascend within 0 to ")
             << machine::clusters - 1 << ", found " << cluster;
    next = cluster + 1;
  }
  if (!rngd::parseRelease(getRelease()))
    return emitOpError("RES-8: unknown release \"") << getRelease() << "\"";
  if (getMakespan().has_value() != getLowerBound().has_value())
    return emitOpError("RES-4: makespan and lower_bound come together");
  if (getMakespan() &&
      (*getLowerBound() < 0 || *getLowerBound() > *getMakespan()))
    return emitOpError("RES-4: lower_bound must be 0 to makespan ")
           << *getMakespan() << ", found " << *getLowerBound();

  bool inCommands = false, inResults = false;
  int64_t index = 0;
  uint64_t operandBytes = 0;
  llvm::StringSet<> names;
  for (Operation &op : getBody().getOps()) {
    auto argument = dyn_cast<ArgumentOp>(op);
    if (!argument) {
      if (!isa<BufferOp, IssueOp, WaitOp, LoopOp>(op))
        return op.emitOpError("RES-6: has no place in resource.program");
      inCommands = true;
      continue;
    }
    if (inCommands)
      return argument.emitOpError("RES-5: arguments come first");
    if (argument.getIndex() != index)
      return argument.emitOpError("RES-5: index must be ")
             << index << ", found " << argument.getIndex();
    ++index;
    operandBytes = llvm::SaturatingAdd<uint64_t>(
        operandBytes, argument.getResult().getType().getBytes());
    bool isInput =
        argument.getRole() == Role::Input || argument.getRole() == Role::InOut;
    if (isInput && inResults)
      return argument.emitOpError(
          "RES-5: inputs come before results and scratch");
    inResults |= !isInput;
    if (!names.insert(argument.getName()).second)
      return argument.emitOpError("RES-5: two arguments are named \"")
             << argument.getName() << "\"";
  }

  if (int64_t capacity = MemType::getCapacity(Tier::Hbm);
      operandBytes > uint64_t(capacity))
    return emitOpError("RES-27: arguments need ")
           << operandBytes << " bytes together, hbm holds " << capacity;

  // RES-24: the host keeps what it gives as an input.
  WalkResult writes = getBody().walk([&](MemoryEffectOpInterface op) {
    SmallVector<MemoryEffects::EffectInstance> effects;
    op.getEffects(effects);
    for (const MemoryEffects::EffectInstance &effect : effects) {
      auto argument = effect.getValue()
                          ? effect.getValue().getDefiningOp<ArgumentOp>()
                          : ArgumentOp();
      if (!argument || argument.getRole() != Role::Input ||
          !isa<MemoryEffects::Write>(effect.getEffect()))
        continue;
      InFlightDiagnostic diag = op->emitOpError("RES-24: writes argument \"")
                                << argument.getName()
                                << "\", which is an input only; make it "
                                << stringifyRole(Role::InOut) << " or "
                                << stringifyRole(Role::Output);
      diag.attachNote(argument.getLoc()) << "the argument is declared here";
      return WalkResult(diag);
    }
    return WalkResult::advance();
  });
  if (writes.wasInterrupted())
    return failure();

  // RES-7.
  int64_t slices = getPes() * int64_t(machine::slicesPerPE);
  WalkResult result = getBody().walk([&](Operation *op) {
    if (auto dma = dyn_cast<lir::DmaOp>(op)) {
      for (Attribute attr : dma.getEngines()) {
        auto engine = cast<lir::EngineAttr>(attr);
        if (!llvm::is_contained(getClusters(), engine.getCluster()) ||
            engine.getPe() >= getPes())
          return WalkResult(dma.emitOpError("RES-7: cluster ")
                            << engine.getCluster() << " pe " << engine.getPe()
                            << " does not run the program");
      }
    } else if (auto commit = dyn_cast<lir::CommitSequencerOp>(op)) {
      ArrayRef<int64_t> ranges = commit.getSlices();
      if (!ranges.empty() && ranges.back() >= slices)
        return WalkResult(commit.emitOpError("RES-7: slice ")
                          << ranges.back() << " is none of the " << slices
                          << " that run the program");
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  return getMakespan() ? verifyScheduled(*this) : success();
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

LogicalResult ArgumentOp::verify() {
  MemType type = getResult().getType();
  if (type.getTier() != Tier::Hbm)
    return emitOpError("RES-10: arguments are in hbm, found ")
           << lir::stringifyTier(type.getTier());
  if (getName().empty())
    return emitOpError("RES-10: the name is empty");
  if (getRange()) {
    ArrayRef<int64_t> range = *getRange();
    if (getRole() != Role::Input || !getOperand() ||
        !getOperand()->getElementType().isInteger(32) ||
        !getOperand()->getAxes().empty() || type.getBytes() != 4)
      return emitOpError("RES-25: only an input of one i32 without axes has a "
                         "range");
    if (!isNumberRange(range))
      return emitOpError("RES-25: a range is two numbers of 32 bits that "
                         "ascend");
  }
  if (!getOperand())
    return success();
  if (int64_t bytes = getOperand()->getBytes(); bytes != type.getBytes())
    return emitOpError("RES-11: the operand has ")
           << bytes << " bytes, its buffer " << type.getBytes();
  return success();
}

void BufferOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  effects.emplace_back(MemoryEffects::Allocate::get(),
                       getOperation()->getOpResult(0));
}

LogicalResult BufferOp::verify() {
  MemType type = getResult().getType();
  if (type.getTier() == Tier::Hbm)
    return emitOpError("RES-12: buffers in hbm are arguments");
  if (getLive() && failed(verifyInterval(*this, "RES-13: live", *getLive())))
    return failure();
  if (!getAddress())
    return success();
  int64_t align = type.getTier() == Tier::Trf   ? machine::macWindowBytes
                  : type.getTier() == Tier::Vrf ? machine::vrfRowBytes
                                                : machine::dmWriteGranule;
  int64_t address = *getAddress();
  if (address < 0 || address % align != 0)
    return emitOpError("RES-12: address must be a multiple of ")
           << align << ", found " << address;
  int64_t capacity = MemType::getCapacity(type.getTier()) / type.getLanes();
  if (address > capacity - type.getBytesPerLane())
    return emitOpError("RES-12: ")
           << type.getBytesPerLane() << " bytes at " << address
           << " do not fit in " << capacity << " of "
           << lir::stringifyTier(type.getTier());
  return success();
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

/// RES-28: two steps for each number, which have ranges; of words of 8 bytes on
/// the sides that are `aligned`. Adds to `least` and `most` how far source and
/// target move.
static LogicalResult verifyStarts(IssueOp issue, const bool aligned[2],
                                  int64_t least[2], int64_t most[2]) {
  ArrayRef<int64_t> starts = issue.getStarts().value_or(ArrayRef<int64_t>());
  if (starts.size() != 2 * issue.getNumbers().size())
    return issue.emitOpError("RES-28: starts has two numbers for each of the ")
           << issue.getNumbers().size() << " arguments, found "
           << starts.size();
  for (auto [i, step] : llvm::enumerate(starts)) {
    DenseI64ArrayAttr range = getRange(issue.getNumbers()[i / 2]);
    if (!range)
      return issue.emitOpError(
          "RES-28: only an argument with a range moves a start");
    if (aligned[i % 2] && step % int64_t(machine::dmWriteGranule) != 0)
      return issue.emitOpError("RES-28: starts must be a multiple of ")
             << machine::dmWriteGranule << " bytes, found " << step;
    int64_t reach;
    int64_t *end = step < 0 ? least : most;
    if (llvm::MulOverflow(range[1] - range[0], step, reach) ||
        llvm::AddOverflow(end[i % 2], reach, end[i % 2]))
      return issue.emitOpError(
          "RES-28: starts reach an address that does not fit in 64 bits");
  }
  return success();
}

/// How far a side moves at least and at most, where loops that move it make as
/// many trips as the numbers say that move it, too: what begins later makes
/// fewer trips. With each loop in its first or its last trip that is linear in
/// the numbers. Nothing where it leaves 64 bits or there are too many loops.
static std::optional<std::pair<int64_t, int64_t>> getCountedMoves(IssueOp issue,
                                                                  int side) {
  SmallVector<LoopOp> loops = getEnclosingLoops(issue);
  ArrayRef<int64_t> advance = issue.getAdvance().value_or(ArrayRef<int64_t>());
  ArrayRef<int64_t> starts = issue.getStarts().value_or(ArrayRef<int64_t>());
  SmallVector<size_t> counted;
  std::pair<int64_t, int64_t> fixed(0, 0);
  for (auto [i, loop] : llvm::enumerate(loops)) {
    int64_t step = advance.empty() ? 0 : advance[2 * i + side], reach;
    if (step == 0)
      continue;
    if (loop.isCounted() && !loop.getWhen()) {
      counted.push_back(i);
      continue;
    }
    int64_t &end = step < 0 ? fixed.first : fixed.second;
    if (llvm::MulOverflow(loop.getTrips() - 1, step, reach) ||
        llvm::AddOverflow(end, reach, end))
      return std::nullopt;
  }
  if (counted.size() > maxLoopDepth)
    return std::nullopt;
  std::optional<std::pair<int64_t, int64_t>> moves;
  for (unsigned chosen = 0; chosen < 1u << counted.size(); ++chosen) {
    llvm::SmallMapVector<Value, int64_t, 4> factors;
    int64_t sum = 0;
    auto add = [&](Value number, int64_t factor, int64_t times) {
      int64_t product;
      int64_t &total = factors[number];
      return !llvm::MulOverflow(factor, times, product) &&
             !llvm::AddOverflow(total, product, total);
    };
    auto addConstant = [&](int64_t factor, int64_t times) {
      int64_t product;
      return !llvm::MulOverflow(factor, times, product) &&
             !llvm::AddOverflow(sum, product, sum);
    };
    // Bases count from the least number.
    for (auto [i, number] : llvm::enumerate(issue.getNumbers()))
      if (!add(number, starts[2 * i + side], 1) ||
          !addConstant(-starts[2 * i + side], getRange(number)[0]))
        return std::nullopt;
    for (auto [bit, i] : llvm::enumerate(counted)) {
      if (!(chosen >> bit & 1))
        continue;
      LoopOp loop = loops[i];
      int64_t step = advance[2 * i + side];
      if (!addConstant(loop.getPlus().value_or(0) - 1, step))
        return std::nullopt;
      for (auto [k, number] : llvm::enumerate(loop.getCounts()))
        if (!getRange(number) || !add(number, loop.getScale(k), step))
          return std::nullopt;
    }
    std::pair<int64_t, int64_t> ends(sum, sum);
    for (auto [number, factor] : factors) {
      DenseI64ArrayAttr range = getRange(number);
      int64_t low, high;
      if (llvm::MulOverflow(range[factor < 0], factor, low) ||
          llvm::MulOverflow(range[factor >= 0], factor, high) ||
          llvm::AddOverflow(ends.first, low, ends.first) ||
          llvm::AddOverflow(ends.second, high, ends.second))
        return std::nullopt;
    }
    if (!moves)
      moves = ends;
    moves->first = std::min(moves->first, ends.first);
    moves->second = std::max(moves->second, ends.second);
  }
  if (llvm::AddOverflow(moves->first, fixed.first, moves->first) ||
      llvm::AddOverflow(moves->second, fixed.second, moves->second))
    return std::nullopt;
  return moves;
}

/// RES-17, RES-28: with the counters of all loops at their last trip, and
/// whatever the numbers are, an engine still stays inside the buffer; and every
/// step keeps to words of 8 bytes.
static LogicalResult verifyMoves(IssueOp issue, lir::DmaOp dma) {
  SmallVector<LoopOp> loops = getEnclosingLoops(issue);
  ArrayRef<int64_t> advance = issue.getAdvance().value_or(ArrayRef<int64_t>());
  if (issue.getAdvance() && advance.size() != 2 * loops.size())
    return issue.emitOpError("RES-17: advance has two numbers for each of the ")
           << loops.size() << " loops around, found " << advance.size();
  MemType types[2] = {dma.getSource().getType(), dma.getTarget().getType()};
  int64_t least[2] = {0, 0}, moved[2] = {0, 0};
  bool aligned = types[1].getTier() == Tier::Dm;
  const bool bothAligned[2] = {aligned, aligned};
  if (failed(verifyStarts(issue, bothAligned, least, moved)))
    return failure();
  StringRef rule = issue.getStarts() ? "RES-28: " : "RES-17: ";
  int64_t word = machine::dmWriteGranule;
  for (auto [i, step] : llvm::enumerate(advance)) {
    if (aligned && step % word != 0)
      return issue.emitOpError("RES-17: advance must be a multiple of ")
             << word << " bytes, found " << step;
    if (step != 0 && types[i % 2].getTier() != Tier::Hbm)
      return issue.emitOpError("not yet supported: an advance in ")
             << lir::stringifyTier(types[i % 2].getTier());
    int64_t trips = loops[i / 2].getTrips();
    // The loop itself says so (RES-21).
    if (trips < 1)
      return success();
    int64_t reach;
    int64_t *end = step < 0 ? least : moved;
    if (llvm::MulOverflow(trips - 1, step, reach) ||
        llvm::AddOverflow(end[i % 2], reach, end[i % 2]))
      return issue.emitOpError(
          "RES-17: advance reaches an address that does not fit in 64 bits");
  }
  for (int side : {0, 1})
    if (auto moves = getCountedMoves(issue, side)) {
      least[side] = std::max(least[side], std::min<int64_t>(0, moves->first));
      moved[side] = std::min(moved[side], std::max<int64_t>(0, moves->second));
    }
  for (Attribute attr : dma.getEngines()) {
    auto engine = cast<lir::EngineAttr>(attr);
    for (int side : {0, 1}) {
      // The op's own verifier has bounded everything but the moves.
      int64_t base = side ? engine.getTarget() : engine.getSource();
      ArrayRef<int64_t> strides =
          side ? engine.getTargetStrides() : engine.getSourceStrides();
      std::optional<int64_t> end;
      if (types[side].getTier() != Tier::Hbm) {
        auto [first, last] = lir::getSliceBytes(base, engine.getSizes(),
                                                strides, engine.getPacket());
        base = first;
        end = last;
      } else if (auto reach = lir::getReach(engine.getSizes(), strides)) {
        end = *reach + base + engine.getPacket();
      }
      if (least[side] < -types[side].getBytes() || base + least[side] < 0)
        return issue.emitOpError(rule)
               << (side ? "target" : "source") << " of the engine of cluster "
               << engine.getCluster() << " pe " << engine.getPe()
               << " begins in front of its buffer";
      if (!end || moved[side] > types[side].getBytes() ||
          *end + moved[side] > types[side].getBytes())
        return issue.emitOpError(rule)
               << (side ? "target" : "source") << " of the engine of cluster "
               << engine.getCluster() << " pe " << engine.getPe()
               << " leaves its buffer of " << types[side].getBytes()
               << " bytes in the last iteration";
    }
  }
  return success();
}

/// RES-28: what an exec fetches and commits stays inside the buffers, with all
/// numbers; and the registers hold what numbers of 0 would ask for.
static LogicalResult verifyExecStarts(IssueOp issue, lir::ExecOp exec) {
  const bool aligned[2] = {false, true};
  int64_t least[2] = {0, 0}, moved[2] = {0, 0};
  if (failed(verifyStarts(issue, aligned, least, moved)))
    return failure();
  int64_t atZero[2] = {0, 0};
  for (auto [i, step] : llvm::enumerate(*issue.getStarts())) {
    int64_t first;
    if (llvm::MulOverflow(getRange(issue.getNumbers()[i / 2])[0], step,
                          first) ||
        llvm::SubOverflow(atZero[i % 2], first, atZero[i % 2]))
      return issue.emitOpError(
          "RES-28: starts reach an address that does not fit in 64 bits");
  }
  auto check = [&](int side, MemType type, int64_t base,
                   ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides,
                   int64_t bytes) -> LogicalResult {
    auto refuse = [&]() {
      return issue.emitOpError("RES-28: ")
             << (side ? "commit_sequencer" : "fetch_sequencer");
    };
    int64_t limit = type.getBytes();
    if (least[side] < -limit || base + least[side] < 0)
      return refuse() << " begins in front of its buffer";
    // The unit's own verifier has bounded everything but the moves.
    int64_t end = base + bytes + lir::getReach(sizes, strides).value_or(0);
    if (moved[side] > limit || end + moved[side] > limit)
      return refuse() << " leaves its buffer of " << limit << " bytes";
    if (atZero[side] < -limit || atZero[side] > limit ||
        base + atZero[side] < 0 || base + atZero[side] > limit)
      return refuse() << " would begin outside of its buffer with numbers of 0";
    return success();
  };
  bool found[2] = {false, false};
  for (Operation &unit : exec.getBody().getOps()) {
    LogicalResult result = success();
    if (auto fetch = dyn_cast<lir::FetchSequencerOp>(unit)) {
      if (fetch.getOther())
        return issue.emitOpError("not yet supported: starts of two buffers in "
                                 "turn");
      found[0] = true;
      result = check(0, fetch.getSource().getType(), fetch.getBase(),
                     fetch.getSizes(), fetch.getStrides(), fetch.getRead());
    } else if (auto commit = dyn_cast<lir::CommitSequencerOp>(unit)) {
      found[1] = true;
      result = check(1, commit.getTarget().getType(), commit.getBase(),
                     commit.getSizes(), commit.getStrides(), commit.getWrite());
    } else if (isa<lir::CustomSwitchOp>(unit)) {
      return issue.emitOpError("not yet supported: starts beside a custom "
                               "switch");
    }
    if (failed(result))
      return failure();
  }
  for (int side : {0, 1})
    if (!found[side] && (least[side] != 0 || moved[side] != 0))
      return issue.emitOpError("RES-28: the command has no ")
             << (side ? "commit_sequencer" : "fetch_sequencer") << " to move";
  return success();
}

LogicalResult IssueOp::verifyRegions() {
  auto ops = getBody().getOps();
  if (std::distance(ops.begin(), ops.end()) != 1)
    return emitOpError("RES-14: the region holds one command, found ")
           << std::distance(ops.begin(), ops.end());
  Operation &command = *ops.begin();
  auto dma = dyn_cast<lir::DmaOp>(command);
  auto exec = dyn_cast<lir::ExecOp>(command);
  bool fits = getEngine() == Engine::Dma
                  ? bool(dma)
                  : exec && (exec.getContext() == lir::Context::Main) ==
                                (getEngine() == Engine::Main);
  if (!fits) {
    InFlightDiagnostic diag = emitOpError("RES-14: ")
                              << stringifyEngine(getEngine())
                              << " cannot run this command";
    diag.attachNote(command.getLoc()) << "the command is here";
    return diag;
  }
  if (failed(verifyTag(*this, "RES-15", getEngine(), getTag())))
    return failure();
  if (getCycles() &&
      failed(verifyInterval(*this, "RES-16: cycles", *getCycles())))
    return failure();
  if (failed(verifyTokens(*this, getAfter())))
    return failure();
  bool hasOffset = dma && (dma.getSourceOffset() || dma.getTargetOffset());
  command.walk([&](Operation *unit) {
    if (auto fetch = dyn_cast<lir::FetchSequencerOp>(unit))
      hasOffset |= bool(fetch.getOffset());
    else if (auto commit = dyn_cast<lir::CommitSequencerOp>(unit))
      hasOffset |= bool(commit.getOffset());
  });
  if (hasOffset)
    return emitOpError("RES-18: offsets must be bases, advance and starts, "
                       "found an SSA offset");
  if (!getAdvance() && !getStarts() && getNumbers().empty())
    return success();
  if (!dma && getAdvance())
    return emitOpError("RES-15: only a dma has an advance");
  return dma ? verifyMoves(*this, dma) : verifyExecStarts(*this, exec);
}

LogicalResult WaitOp::verify() {
  if (getEngine() == Engine::Dma && !getTag())
    return emitOpError("RES-20: a wait for a dma needs a tag");
  return verifyTag(*this, "RES-20", getEngine(), getTag());
}

std::optional<std::pair<int64_t, int64_t>> LoopOp::getCountRange() {
  std::pair<int64_t, int64_t> sum(getPlus().value_or(0), getPlus().value_or(0));
  for (auto [i, count] : llvm::enumerate(getCounts())) {
    DenseI64ArrayAttr range = getRange(count);
    if (!range)
      return std::nullopt;
    int64_t scale = getScale(i), least, most;
    if (llvm::MulOverflow(range[scale < 0], scale, least) ||
        llvm::MulOverflow(range[scale >= 0], scale, most) ||
        llvm::AddOverflow(sum.first, least, sum.first) ||
        llvm::AddOverflow(sum.second, most, sum.second))
      return std::nullopt;
  }
  return sum;
}

LogicalResult LoopOp::verifyRegions() {
  if (getTrips() < 1)
    return emitOpError("RES-21: trips must be positive, found ") << getTrips();
  if (getCycles() && *getCycles() < 0)
    return emitOpError("RES-21: cycles must not be negative, found ")
           << *getCycles();
  if (isCounted()) {
    if (getScales() && getScales()->size() != getCounts().size())
      return emitOpError("RES-26: scales has a number for each of the ")
             << getCounts().size() << " arguments, found "
             << getScales()->size();
    for (Value count : getCounts())
      if (!getRange(count))
        return emitOpError(
            "RES-26: only an argument with a range counts trips");
    auto range = getCountRange();
    if (!range)
      return emitOpError("RES-26: the sum that counts the trips does not fit "
                         "in 64 bits");
    if (getWhen() && getTrips() != 1)
      return emitOpError("RES-26: with when there is one trip, found ")
             << getTrips();
    if (!getWhen() && (range->first < 0 || range->second != getTrips()))
      return emitOpError("RES-26: what counts the trips must be from 0 or more "
                         "to ")
             << getTrips() << ", found " << range->first << " to "
             << range->second;
  }
  if (getWhen().has_value() != getBound().has_value() ||
      ((getWhen() || getScales() || getPlus()) && !isCounted()))
    return emitOpError("RES-26: when, scales and plus come with an argument, "
                       "when with a number");
  if (getEnclosingLoops(*this).size() >= maxLoopDepth)
    return emitOpError("RES-22: loops nest at most ")
           << maxLoopDepth << " deep";
  for (Operation &op : getBody().getOps())
    if (!isa<IssueOp, WaitOp, LoopOp>(op))
      return op.emitOpError("RES-22: has no place in resource.loop");
  return verifyTokens(*this, getAfter());
}

#define GET_OP_CLASSES
#include "furiosa/Dialect/Resource/IR/ResourceOps.cpp.inc"
