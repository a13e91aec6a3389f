//===- PipelineLoops.cpp - The pass resource-pipeline-loops ---------------===//
//
// Software pipelining of innermost loops with copies of their buffers.
//
// What is right about it: let `s(c)` be the stage of command `c`. Round `k`
// runs command `c` of iteration `k - s(c)`, stages from the last to the first,
// so older iterations come first. Two commands of one iteration that depend on
// each other keep their order since stages never fall along dependences. `a` of
// an iteration and `b` of a later one that share bytes do if `s(a) <= s(b) +
// 1`: checked for all such pairs. Copies of a buffer are used again after as
// many rounds as there are copies, when its last reader has gone by.
//
//===----------------------------------------------------------------------===//

#include "ProblemBuilder.h"
#include "furiosa/Dialect/Resource/Transforms/Passes.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::resource;
using scheduling::Accesses;

namespace furiosa::resource {
#define GEN_PASS_DEF_RESOURCEPIPELINELOOPS
#include "furiosa/Dialect/Resource/Transforms/Passes.h.inc"
} // namespace furiosa::resource

/// More commands than that may not come out of a loop.
static constexpr int64_t maxCommands = 1024;

namespace {

struct PipelineLoopsPass
    : resource::impl::ResourcePipelineLoopsBase<PipelineLoopsPass> {
  using Base::Base;
  void runOnOperation() override;
};

/// One loop and what becomes of it.
class LoopPipeliner {
public:
  LoopPipeliner(LoopOp loop, AccessReader &reader)
      : loop(loop), reader(reader) {}
  /// Whether the loop has been replaced.
  bool run();

private:
  bool readBody();
  void findPrivateBuffers();
  bool findStages();
  void emit(OpBuilder &builder, unsigned command, int64_t iteration,
            int64_t iterationStep);
  void emitRound(OpBuilder &builder, int64_t round, int64_t roundStep);

  LoopOp loop;
  AccessReader &reader;
  SmallVector<IssueOp> commands;
  /// As the body sees them: the loop is around.
  std::vector<Accesses> accesses;
  SmallVector<int64_t> trips;
  std::vector<SmallVector<unsigned, 4>> after;
  SmallVector<int64_t> stages;
  int64_t lastStage = 0;
  /// Buffers of which each iteration may have its own, with the commands that
  /// touch them and their copies.
  llvm::MapVector<Value, SmallVector<unsigned>> users;
  llvm::DenseMap<Value, SmallVector<Value>> copies;
  int64_t numCopies = 1;
};

} // namespace

bool LoopPipeliner::readBody() {
  // Where PEs race, iterations wait for one another. A loop without a barrier
  // has no races in it, in whatever iterations. The rounds in front of a
  // pipelined loop run whatever its trips are.
  if (loop->hasAttr(keepOrderAttrName) || loop.getBarrier() || loop.isCounted())
    return false;
  mlir::Block &body = loop.getBody().front();
  // There are two stages at least, and a round of each at either end.
  if (int64_t(body.getOperations().size()) > maxCommands / 4)
    return false;
  trips = getTripsAround(body);
  for (Operation &op : body) {
    auto issue = dyn_cast<IssueOp>(op);
    if (!issue ||
        !isa<lir::DmaOp, lir::ExecOp>(issue.getBody().front().front()))
      return false;
    commands.push_back(issue);
    accesses.push_back(reader.read(issue));
  }
  after = scheduling::getDependences(accesses, trips);
  return !commands.empty();
}

void LoopPipeliner::findPrivateBuffers() {
  llvm::MapVector<Value, SmallVector<unsigned>> touched;
  for (auto [i, issue] : llvm::enumerate(commands))
    for (const Access &access : getAccesses(issue))
      if (access.buffer.getDefiningOp<BufferOp>() &&
          !llvm::is_contained(touched[access.buffer], i))
        touched[access.buffer].push_back(i);
  for (auto &[buffer, list] : touched) {
    if (buffer.getDefiningOp<BufferOp>().getAddress())
      continue;
    bool isPrivate = llvm::all_of(buffer.getUsers(), [&](Operation *user) {
      auto issue = user->getParentOfType<IssueOp>();
      return issue && issue->getParentOp() == loop;
    });
    // What is read has been written before, in the same iteration.
    if (isPrivate &&
        scheduling::areWrittenFirst(reader.getSpace(buffer), accesses, list))
      users[buffer] = list;
  }
}

bool LoopPipeliner::findStages() {
  size_t n = commands.size();
  auto getLag = [&](unsigned before, unsigned command) {
    return commands[before].getEngine() != commands[command].getEngine();
  };
  stages.assign(n, 0);
  for (size_t i = 0; i < n; ++i)
    for (unsigned before : after[i])
      stages[i] = std::max(stages[i], stages[before] + getLag(before, i));
  lastStage = *llvm::max_element(stages);
  // As late as those that wait allow: buffers live shorter.
  SmallVector<int64_t> latest(n, INT64_MAX);
  for (size_t i = n; i-- > 0;) {
    if (latest[i] != INT64_MAX)
      stages[i] = latest[i];
    for (unsigned before : after[i])
      latest[before] = std::min(latest[before], stages[i] - getLag(before, i));
  }
  for (auto &[buffer, list] : users) {
    auto isLess = [&](unsigned a, unsigned b) { return stages[a] < stages[b]; };
    int64_t span = stages[*llvm::max_element(list, isLess)] -
                   stages[*std::min_element(list.begin(), list.end(), isLess)];
    numCopies = std::max(numCopies, span + 1);
  }

  // `a` of an iteration, `b` of a later one.
  int64_t count = trips.back();
  size_t depth = trips.size() - 1;
  auto shareLater = [&](const scheduling::Access &a,
                        const scheduling::Access &b) {
    if (a.space != b.space || !(a.isWrite || b.isWrite))
      return false;
    auto getStep = [&](const scheduling::Access &access) {
      return access.advance.size() > depth ? access.advance[depth] : 0;
    };
    scheduling::Access first = a, later = b;
    for (scheduling::Access *access : {&first, &later})
      access->advance.resize(depth, 0);
    for (scheduling::Footprint &footprint : later.footprints) {
      footprint.base += getStep(b);
      footprint.loops.push_back({count - 1, getStep(b)});
    }
    // Apart by the iterations between them if they move alike.
    if (getStep(a) != getStep(b))
      for (scheduling::Footprint &footprint : first.footprints)
        footprint.loops.push_back({count, getStep(a)});
    return scheduling::overlap(first, later, ArrayRef(trips).take_front(depth));
  };
  llvm::DenseSet<unsigned> own;
  for (auto &[buffer, list] : users)
    own.insert(reader.getSpace(buffer));
  for (size_t a = 0; a < n; ++a)
    for (size_t b = 0; b < n; ++b)
      if (stages[a] > stages[b] + 1)
        for (const scheduling::Access &x : accesses[a])
          for (const scheduling::Access &y : accesses[b])
            if (!own.contains(x.space) && shareLater(x, y))
              return false;
  return lastStage > 0;
}

/// Command of one iteration, or of every `iterationStep`th from there on if
/// that is not 0 and `builder` stands in a loop.
void LoopPipeliner::emit(OpBuilder &builder, unsigned command,
                         int64_t iteration, int64_t iterationStep) {
  IRMapping mapping;
  for (auto &[buffer, list] : users)
    mapping.map(buffer, copies[buffer][iteration % numCopies]);
  IssueOp source = commands[command];
  auto issue = cast<IssueOp>(builder.clone(*source, mapping));
  std::optional<ArrayRef<int64_t>> advance = source.getAdvance();
  if (!advance)
    return;
  SmallVector<int64_t> moved(*advance);
  int64_t steps[2] = {moved[moved.size() - 2], moved[moved.size() - 1]};
  moved.truncate(moved.size() - 2);
  if (iterationStep != 0)
    moved.append({steps[0] * iterationStep, steps[1] * iterationStep});
  auto dma = cast<lir::DmaOp>(issue.getBody().front().front());
  SmallVector<Attribute> engines;
  for (Attribute attr : dma.getEngines()) {
    auto engine = cast<lir::EngineAttr>(attr);
    engines.push_back(lir::EngineAttr::get(
        engine.getContext(), engine.getCluster(), engine.getPe(),
        engine.getSource() + iteration * steps[0],
        engine.getTarget() + iteration * steps[1], engine.getSizes(),
        engine.getSourceStrides(), engine.getTargetStrides(),
        engine.getPacket(), engine.getList(), engine.getKeys()));
  }
  dma.setEnginesAttr(builder.getArrayAttr(engines));
  if (llvm::all_of(moved, [](int64_t step) { return step == 0; }))
    issue.removeAdvanceAttr();
  else
    issue.setAdvance(moved);
}

void LoopPipeliner::emitRound(OpBuilder &builder, int64_t round,
                              int64_t roundStep) {
  for (int64_t stage = lastStage; stage >= 0; --stage)
    for (auto [i, own] : llvm::enumerate(stages))
      if (int64_t iteration = round - stage;
          own == stage && iteration >= 0 && iteration < trips.back())
        emit(builder, i, iteration, roundStep);
}

bool LoopPipeliner::run() {
  if (!readBody())
    return false;
  findPrivateBuffers();
  if (!findStages())
    return false;
  // Rounds in which all stages run. A loop of less than two trips is none: all
  // rounds stand in a row.
  int64_t count = trips.back();
  int64_t full = count - lastStage;
  int64_t steadyTrips = full < 2 * numCopies ? 0 : full / numCopies;
  if (steadyTrips == 0)
    numCopies = std::min(numCopies, count);
  if (2 * (lastStage + numCopies) > maxCommands / int64_t(commands.size()))
    return false;

  for (auto &[buffer, list] : users) {
    auto op = buffer.getDefiningOp<BufferOp>();
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    copies[buffer].push_back(buffer);
    for (int64_t i = 1; i < numCopies; ++i)
      copies[buffer].push_back(builder.clone(*op)->getResult(0));
  }
  OpBuilder builder(loop);
  int64_t round = 0;
  auto emitUntil = [&](int64_t end) {
    for (; round < end; ++round)
      emitRound(builder, round, 0);
  };
  emitUntil(lastStage);
  if (steadyTrips == 0) {
    emitUntil(count + lastStage);
    loop.erase();
    return true;
  }
  auto steady = LoopOp::create(
      builder, loop.getLoc(), TokenType::get(builder.getContext()), steadyTrips,
      /*barrier=*/false);
  steady->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  OpBuilder inner = OpBuilder::atBlockEnd(&steady.getBody().emplaceBlock());
  for (int64_t i = 0; i < numCopies; ++i)
    emitRound(inner, round + i, numCopies);
  round += steadyTrips * numCopies;
  emitUntil(count + lastStage);
  loop.erase();
  return true;
}

/// Whether tokens say no more than the bytes do. Those that do are an order
/// that somebody asked for.
static bool followsFromBytes(const ProgramProblem &program) {
  for (auto [block, commands] :
       llvm::zip(program.problem.blocks, program.commands)) {
    llvm::DenseMap<Operation *, unsigned> position;
    for (auto [i, command] : llvm::enumerate(commands)) {
      position[command] = i;
      auto issue = dyn_cast<IssueOp>(command);
      for (Value token :
           issue ? issue.getAfter() : cast<LoopOp>(command).getAfter())
        if (!llvm::is_contained(block.commands[i].after,
                                position.lookup(token.getDefiningOp())))
          return false;
    }
  }
  return true;
}

/// Innermost loops with commands in them, in order.
static SmallVector<LoopOp> getInnermostLoops(ProgramOp program) {
  SmallVector<LoopOp> loops;
  program.walk([&](LoopOp loop) {
    mlir::Block &body = loop.getBody().front();
    if (body.getOps<LoopOp>().empty() && !body.getOps<IssueOp>().empty())
      loops.push_back(loop);
  });
  return loops;
}

/// Tokens are made anew for the whole program.
static void dropTokens(ProgramOp program) {
  program.walk([&](Operation *nested) {
    if (auto issue = dyn_cast<IssueOp>(nested))
      issue.getAfterMutable().clear();
    if (auto loop = dyn_cast<LoopOp>(nested))
      loop.getAfterMutable().clear();
  });
}

void PipelineLoopsPass::runOnOperation() {
  ProgramOp op = getOperation();
  // Loops beyond this are changed all at once: each try schedules the program.
  constexpr size_t maxTries = 8;
  size_t loops = getInnermostLoops(op).size();
  if (op.getMakespan() || loops == 0 || op->hasAttr(keepOrderAttrName))
    return markAllAnalysesPreserved();
  FailureOr<ProgramProblem> program = buildProblem(op, /*keepAddresses=*/true);
  if (failed(program))
    return signalPassFailure();
  addDependences(op, *program);
  if (!followsFromBytes(*program))
    return markAllAnalysesPreserved();
  scheduling::Failure failure;
  std::optional<int64_t> makespan;
  if (auto solution = scheduling::solve(program->problem, failure))
    makespan = solution->makespan;
  OwningOpRef<ProgramOp> best;
  size_t step = loops > maxTries ? loops : 1;
  // From the last one on: what takes its place does not move those before it.
  for (size_t first = loops; first > 0;) {
    first -= step;
    OwningOpRef<ProgramOp> changed = (best ? *best : op).clone();
    dropTokens(*changed);
    AccessReader reader(*changed);
    bool any = false;
    SmallVector<LoopOp> innermost = getInnermostLoops(*changed);
    for (LoopOp loop : ArrayRef(innermost).slice(first, step))
      any |= LoopPipeliner(loop, reader).run();
    if (!any)
      continue;
    FailureOr<ProgramProblem> next =
        buildProblem(*changed, /*keepAddresses=*/true);
    if (failed(next))
      return signalPassFailure();
    addDependences(*changed, *next);
    auto solution = scheduling::solve(next->problem, failure);
    if (!solution || (makespan && *makespan <= solution->makespan))
      continue;
    makespan = solution->makespan;
    best = std::move(changed);
  }
  if (!best)
    return markAllAnalysesPreserved();
  op.getBody().takeBody(best->getBody());
  addDependences(op);
}
