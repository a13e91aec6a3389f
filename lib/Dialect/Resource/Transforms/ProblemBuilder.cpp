//===- ProblemBuilder.cpp - Programs as scheduling problems ---------------===//
//
// Reads counts off lir commands and asks the cost model.
//
//===----------------------------------------------------------------------===//

#include "ProblemBuilder.h"
#include "furiosa/Dialect/Resource/Scheduling/CostModel.h"
#include "furiosa/Dialect/Resource/Transforms/Costs.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <utility>

using namespace mlir;
using namespace furiosa;
using namespace furiosa::resource;
namespace machine = furiosa::rngd::machine;

/// Flits that leave the lane folder; the verifier has bounded them.
static int64_t getDrained(lir::FeedBufferOp feed, lir::PacketReducerOp reducer,
                          lir::TimeReducerOp time, lir::LaneFolderOp folder) {
  int64_t emissions = feed.getTime() / time.getCount();
  int64_t columns = reducer.getColumns();
  if (folder.getMode() == lir::LaneMode::Interleaved)
    return emissions * columns;
  return emissions * folder.getLive() *
         int64_t(llvm::divideCeil(columns, machine::laneFolderElements));
}

/// Cycles of the transpose engine for `flits` that enter (TU 12): up to 16
/// columns one batch is filled while the last one leaves.
static std::optional<int64_t> getTransposeCycles(lir::TransposeOp op,
                                                 int64_t flits) {
  int64_t in = op.getRows() * op.getFlitsPerRow(), out = op.getOutRows();
  int64_t batches = flits / in;
  bool isDouble = op.getColumns() <= int64_t(machine::transposeBufferColumns);
  int64_t each = isDouble ? std::max(in, out) : in + out;
  int64_t cycles;
  if (llvm::MulOverflow(isDouble ? batches - 1 : batches, each, cycles) ||
      (isDouble && llvm::AddOverflow(cycles, in + out, cycles)))
    return std::nullopt;
  return cycles;
}

/// Cycles of an exec, and the bits of what it keeps busy.
static std::optional<scheduling::Cost> describeExec(lir::ExecOp exec,
                                                    unsigned &resources) {
  scheduling::ExecShape shape;
  shape.isSub = exec.getContext() == lir::Context::Sub;
  lir::FeedBufferOp feed;
  lir::PacketReducerOp reducer;
  lir::TimeReducerOp time;
  int64_t sameBank = 1;
  // Flits that leave the unit just passed.
  int64_t flits = 0;
  for (Operation &unit : exec.getBody().getOps()) {
    if (auto op = dyn_cast<lir::FetchSequencerOp>(unit)) {
      shape.reads = lir::getProduct(op.getSizes()).value_or(INT64_MAX);
      flits = shape.flits = op.getFlits();
      sameBank = std::max(
          sameBank, scheduling::getSameBankRun(op.getSizes(), op.getStrides()));
    } else if (auto op = dyn_cast<lir::SwitchOp>(unit)) {
      // Every packet goes once around its ring; all rings turn together.
      int64_t ring = op.getSlices()[1] * op.getSlices()[2];
      if (llvm::MulOverflow(shape.flits, ring, shape.switched))
        return std::nullopt;
      shape.flits *= op.getCopies();
      flits = shape.flits;
    } else if (auto op = dyn_cast<lir::CustomSwitchOp>(unit)) {
      if (llvm::MulOverflow(shape.flits, op.getRing(), shape.switched))
        return std::nullopt;
      shape.flits *= op.getCopies();
      flits = shape.flits;
    } else if (auto op = dyn_cast<lir::TransposeOp>(unit)) {
      std::optional<int64_t> cycles = getTransposeCycles(op, flits);
      if (!cycles)
        return std::nullopt;
      shape.transposed = *cycles;
      resources |= scheduling::TransposeEngine;
    } else if (isa<lir::TrfStoreOp, lir::VrfStoreOp>(unit)) {
      // Both contexts write through the same unit; the vector register file is
      // filled through main as well.
      resources |= scheduling::SubContext;
      if (isa<lir::VrfStoreOp>(unit))
        resources |= scheduling::MainContext;
    } else if (auto op = dyn_cast<lir::FillOp>(unit)) {
      shape.writes = llvm::divideCeil(op.getTarget().getType().getBytes(),
                                      int64_t(machine::subFetchBytes));
    } else if (auto op = dyn_cast<lir::FeedBufferOp>(unit)) {
      feed = op;
      shape.macs = op.getTime();
    } else if (auto op = dyn_cast<lir::PacketReducerOp>(unit)) {
      reducer = op;
    } else if (auto op = dyn_cast<lir::TimeReducerOp>(unit)) {
      time = op;
    } else if (auto op = dyn_cast<lir::LaneFolderOp>(unit)) {
      flits = shape.drained = getDrained(feed, reducer, time, op);
    } else if (unit.getName().getStringRef().starts_with("lir.vector_")) {
      shape.hasVectorPass = true;
      resources |= scheduling::VectorEngine;
      if (auto narrow = dyn_cast<lir::VectorNarrowOp>(unit);
          narrow && narrow.getKind() == lir::NarrowKind::Split &&
          llvm::MulOverflow<int64_t>(flits, 2, shape.beats))
        return std::nullopt;
      if (auto reduce = dyn_cast<lir::VectorSliceReduceOp>(unit))
        shape.reducedSlices = reduce.getSlices();
    } else if (isa<lir::CastOp>(unit)) {
      // The cast engine sits on top of the vector engine.
      resources |= scheduling::VectorEngine;
    } else if (auto op = dyn_cast<lir::CommitSequencerOp>(unit)) {
      shape.writes = lir::getProduct(op.getSizes()).value_or(INT64_MAX);
      sameBank = std::max(
          sameBank, scheduling::getSameBankRun(op.getSizes(), op.getStrides()));
    }
  }
  // MM-40: a transfer beside this many accesses to one bank may time out.
  if (sameBank >= int64_t(machine::dmSameBankAccesses))
    resources |= scheduling::DmaEngines;
  return scheduling::getExecCost(shape);
}

static std::optional<scheduling::Cost> describeDma(lir::DmaOp dma) {
  auto side = [](lir::MemType type) {
    return type.getTier() == lir::Tier::Hbm ? scheduling::Side::Hbm
                                            : scheduling::Side::Dm;
  };
  std::vector<scheduling::EngineShape> engines;
  for (Attribute attr : dma.getEngines()) {
    auto engine = cast<lir::EngineAttr>(attr);
    scheduling::EngineShape &shape = engines.emplace_back();
    shape.source = engine.getSource();
    shape.target = engine.getTarget();
    shape.packet = engine.getPacket();
    shape.sizes.assign(engine.getSizes().begin(), engine.getSizes().end());
    shape.sourceStrides.assign(engine.getSourceStrides().begin(),
                               engine.getSourceStrides().end());
    shape.targetStrides.assign(engine.getTargetStrides().begin(),
                               engine.getTargetStrides().end());
  }
  return scheduling::getDmaCost(side(dma.getSource().getType()),
                                side(dma.getTarget().getType()), engines);
}

namespace {
struct ProblemBuilder {
  ProgramProblem result;
  llvm::DenseMap<Value, unsigned> bufferIndex;

  LogicalResult addBlock(unsigned index, mlir::Block &block);
};
} // namespace

/// Loops nest as deep as the verifier lets them.
LogicalResult ProblemBuilder::addBlock(unsigned index, mlir::Block &block) {
  result.blocks[index] = &block;
  result.problem.blocks[index].keepsOrder =
      block.getParentOp()->hasAttr(keepOrderAttrName);
  std::vector<scheduling::Command> commands;
  for (Operation &op : block) {
    if (!isa<IssueOp, LoopOp>(op))
      continue;
    scheduling::Command command;
    llvm::SetVector<unsigned> touched;
    for (const Access &access : getAccesses(&op))
      if (auto it = bufferIndex.find(access.buffer); it != bufferIndex.end())
        touched.insert(it->second);
    command.buffers.assign(touched.begin(), touched.end());
    if (auto loop = dyn_cast<LoopOp>(op)) {
      command.engine = scheduling::Engine::Loop;
      command.trips = loop.getTrips();
      // All that is under way ends before PEs meet.
      if (loop.getBarrier())
        command.resources = scheduling::AllResources;
      command.body = result.blocks.size();
      result.blocks.push_back(nullptr);
      result.commands.emplace_back();
      result.problem.blocks.emplace_back();
      if (failed(addBlock(command.body, loop.getBody().front())))
        return failure();
    } else {
      auto issue = cast<IssueOp>(op);
      Operation &work = issue.getBody().front().front();
      std::optional<scheduling::Cost> cost;
      if (auto dma = dyn_cast<lir::DmaOp>(work)) {
        command.engine = scheduling::Engine::Dma;
        cost = describeDma(dma);
      } else {
        auto exec = cast<lir::ExecOp>(work);
        command.engine = exec.getContext() == lir::Context::Sub
                             ? scheduling::Engine::Sub
                             : scheduling::Engine::Main;
        cost = describeExec(exec, command.resources);
      }
      if (!cost)
        return op.emitOpError(
            "the cycles of the command do not fit in 64 bits");
      command.cycles = cost->cycles;
      result.formulas[&op] = std::move(cost->formula);
    }
    commands.push_back(std::move(command));
    result.commands[index].push_back(&op);
  }
  result.problem.blocks[index].commands = std::move(commands);
  return success();
}

/// Bytes behind the end of its buffer that a fetch from `base` may read.
static int64_t getSlack(lir::FetchSequencerOp fetch, int64_t base) {
  for (const BaseLoop &loop :
       getStartLoops(fetch->getParentOfType<IssueOp>(), /*isTarget=*/false))
    base += loop.base + (loop.count - 1) * loop.stride;
  int64_t reach =
      lir::getReach(fetch.getSizes(), fetch.getStrides()).value_or(0);
  return std::max<int64_t>(0, base + reach + fetch.getRead() -
                                  fetch.getSource().getType().getBytes());
}

/// Whether a switch moves what is fetched to other slices.
static bool isExchanged(lir::FetchSequencerOp fetch) {
  return llvm::any_of(*fetch->getBlock(), [](Operation &unit) {
    return isa<lir::SwitchOp, lir::CustomSwitchOp>(unit);
  });
}

FailureOr<ProgramProblem> resource::buildProblem(ProgramOp program,
                                                 bool keepAddresses) {
  ProblemBuilder builder;
  ProgramProblem &result = builder.result;
  for (BufferOp op : program.getBody().getOps<BufferOp>()) {
    builder.bufferIndex[op.getResult()] = result.buffers.size();
    result.buffers.push_back(op);
    lir::MemType type = op.getResult().getType();
    scheduling::Buffer &buffer = result.problem.buffers.emplace_back();
    buffer.memory = type.getTier() == lir::Tier::Trf   ? scheduling::Memory::Trf
                    : type.getTier() == lir::Tier::Vrf ? scheduling::Memory::Vrf
                                                       : scheduling::Memory::Dm;
    buffer.bytes = type.getBytes();
    buffer.lanes = type.getLanes();
    if (keepAddresses && op.getAddress())
      buffer.preset = *op.getAddress();
  }
  llvm::SetVector<unsigned> exchanged;
  program.walk([&](lir::FetchSequencerOp fetch) {
    for (auto [buffer, base] :
         {std::pair<Value, int64_t>(fetch.getSource(), fetch.getBase()),
          {fetch.getOther(), fetch.getOtherBase()}}) {
      auto it = builder.bufferIndex.find(buffer);
      if (it == builder.bufferIndex.end())
        continue;
      int64_t &slack = result.problem.buffers[it->second].slack;
      slack = std::max(slack, getSlack(fetch, base));
      if (isExchanged(fetch))
        exchanged.insert(it->second);
    }
  });
  // Slices fetch from one another in no order that is known: what they read
  // behind the end must not be what the same exec commits.
  for (unsigned index : exchanged) {
    scheduling::Buffer &buffer = result.problem.buffers[index];
    buffer.bytes += std::exchange(buffer.slack, 0);
  }
  result.blocks.push_back(nullptr);
  result.commands.emplace_back();
  result.problem.blocks.emplace_back();
  if (failed(builder.addBlock(0, program.getBody().front())))
    return failure();
  return std::move(result);
}

/// Nothing of a block moves over a loop with a barrier in it: waits say nothing
/// of other PEs. Takes out what that implies.
static void addFences(ArrayRef<Operation *> ops,
                      std::vector<scheduling::Command> &commands) {
  // The first command behind the last fence; whether another one of that part
  // waits for a command.
  unsigned first = 0;
  std::vector<bool> isWaitedFor(ops.size(), false);
  for (unsigned i = 0; i < ops.size(); ++i) {
    SmallVectorImpl<unsigned> &after = commands[i].after;
    if (hasBarrier(ops[i])) {
      after.clear();
      for (unsigned other = first; other < i; ++other)
        if (!isWaitedFor[other])
          after.push_back(other);
      if (after.empty() && first > 0)
        after.push_back(first - 1);
      first = i + 1;
      continue;
    }
    llvm::erase_if(after, [&](unsigned other) { return other < first; });
    for (unsigned other : after)
      isWaitedFor[other] = true;
    if (after.empty() && first > 0)
      after.push_back(first - 1);
  }
}

void resource::addDependences(ProgramOp program, ProgramProblem &problem) {
  AccessReader reader(program);
  for (auto [index, block] : llvm::enumerate(problem.problem.blocks)) {
    std::vector<scheduling::Accesses> accesses;
    for (Operation *op : problem.commands[index])
      accesses.push_back(reader.read(op));
    auto after = scheduling::getDependences(
        accesses, getTripsAround(*problem.blocks[index]));
    for (auto [command, sources] : llvm::zip(block.commands, after))
      command.after.assign(sources.begin(), sources.end());
    addFences(problem.commands[index], block.commands);
  }
}

FailureOr<llvm::DenseMap<Operation *, CommandFacts>>
resource::getCommandFacts(ProgramOp program) {
  FailureOr<ProgramProblem> problem =
      buildProblem(program, /*keepAddresses=*/false);
  if (failed(problem))
    return failure();
  addDependences(program, *problem);
  llvm::DenseMap<Operation *, CommandFacts> facts;
  for (auto [block, ops] :
       llvm::zip(problem->problem.blocks, problem->commands))
    for (auto [command, op] : llvm::zip(block.commands, ops)) {
      CommandFacts &fact = facts[op];
      fact.cycles = command.cycles;
      fact.formula = problem->formulas.lookup(op);
      for (unsigned before : command.after)
        fact.after.push_back(ops[before]);
    }
  return facts;
}
