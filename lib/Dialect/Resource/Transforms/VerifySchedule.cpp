//===- VerifySchedule.cpp - The pass resource-verify-schedule -------------===//
//
// Reads a schedule back from a program and has it checked.
//
//===----------------------------------------------------------------------===//

#include "ProblemBuilder.h"
#include "furiosa/Dialect/Resource/Transforms/Passes.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::resource;

namespace furiosa::resource {
#define GEN_PASS_DEF_RESOURCEVERIFYSCHEDULE
#include "furiosa/Dialect/Resource/Transforms/Passes.h.inc"
} // namespace furiosa::resource

namespace {
struct VerifySchedulePass
    : resource::impl::ResourceVerifyScheduleBase<VerifySchedulePass> {
  using Base::Base;
  void runOnOperation() override;

private:
  LogicalResult readBlock(ProgramProblem &program,
                          scheduling::Solution &solution, unsigned index);
  void report(ProgramProblem &program, const scheduling::Fault &fault);
};
} // namespace

using Ranges = std::vector<std::pair<int64_t, int64_t>>;

/// The bytes of an access one run after the other, sorted; empty if there are
/// too many runs to list. `around` are loops on top of those of the footprints.
static std::optional<Ranges> getRanges(const scheduling::Access &access,
                                       ArrayRef<scheduling::Stride> around) {
  constexpr size_t maxRanges = 1 << 14;
  Ranges ranges;
  for (const scheduling::Footprint &footprint : access.footprints) {
    Ranges runs = {{footprint.base, footprint.base + footprint.bytes}};
    auto loops = llvm::to_vector(footprint.loops);
    llvm::append_range(loops, around);
    for (const scheduling::Stride &loop : loops) {
      if (size_t(loop.count) > maxRanges / runs.size())
        return std::nullopt;
      Ranges repeated;
      for (auto [first, last] : runs)
        for (int64_t i = 0; i < loop.count; ++i)
          repeated.emplace_back(first + i * loop.stride,
                                last + i * loop.stride);
      runs = std::move(repeated);
    }
    llvm::append_range(ranges, runs);
  }
  llvm::sort(ranges);
  return ranges;
}

/// Whether two accesses of commands of one block share a byte in an iteration
/// of the loops around. Looks at every run of bytes where those can be listed.
static bool share(const scheduling::Access &a, const scheduling::Access &b,
                  ArrayRef<int64_t> trips) {
  SmallVector<scheduling::Stride> ahead, behind;
  for (auto [i, count] : llvm::enumerate(trips)) {
    int64_t moveA = i < a.advance.size() ? a.advance[i] : 0;
    int64_t moveB = i < b.advance.size() ? b.advance[i] : 0;
    if (moveA > moveB)
      ahead.push_back({count, moveA - moveB});
    if (moveB > moveA)
      behind.push_back({count, moveB - moveA});
  }
  std::optional<Ranges> first = getRanges(a, ahead);
  std::optional<Ranges> second = getRanges(b, behind);
  if (!first || !second)
    return scheduling::overlap(a, b, trips);
  // Runs of one access may overlap: what has been passed reaches this far.
  int64_t reachA = -1, reachB = -1;
  for (auto i = first->begin(), j = second->begin();
       i != first->end() || j != second->end();) {
    bool takeA = j == second->end() || (i != first->end() && *i < *j);
    auto [begin, end] = takeA ? *i++ : *j++;
    if (begin < (takeA ? reachB : reachA))
      return true;
    int64_t &reach = takeA ? reachA : reachB;
    reach = std::max(reach, end);
  }
  return false;
}

static bool conflict(const scheduling::Accesses &a,
                     const scheduling::Accesses &b, ArrayRef<int64_t> trips) {
  for (const scheduling::Access &x : a)
    for (const scheduling::Access &y : b)
      if (x.space == y.space && (x.isWrite || y.isWrite) && share(x, y, trips))
        return true;
  return false;
}

/// Adds to the dependences those on commands under way, where a race would be,
/// found anew, run of bytes by run of bytes.
static void addRaces(ProgramOp op, ProgramProblem &program,
                     const scheduling::Solution &solution) {
  AccessReader reader(op);
  for (auto [index, block] : llvm::enumerate(program.problem.blocks)) {
    SmallVector<int64_t> trips = getTripsAround(*program.blocks[index]);
    std::vector<scheduling::Accesses> accesses;
    for (Operation *command : program.commands[index])
      accesses.push_back(reader.read(command));
    llvm::SetVector<unsigned> underWay;
    for (const scheduling::Step &step : solution.blocks[index].steps) {
      scheduling::Command &command = block.commands[step.command];
      underWay.remove(step.command);
      if (step.kind == scheduling::Step::Wait)
        continue;
      for (unsigned other : underWay)
        if (!llvm::is_contained(command.after, other) &&
            conflict(accesses[other], accesses[step.command], trips))
          command.after.push_back(other);
      if (command.engine != scheduling::Engine::Loop)
        underWay.insert(step.command);
    }
  }
}

/// Adds ranges to sorted ones that lie apart.
static void addRanges(Ranges &ranges, const Ranges &more) {
  Ranges all = std::move(ranges);
  llvm::append_range(all, more);
  llvm::sort(all);
  ranges.clear();
  for (auto range : all)
    if (!ranges.empty() && range.first <= ranges.back().second)
      ranges.back().second = std::max(ranges.back().second, range.second);
    else
      ranges.push_back(range);
}

/// Whether sorted ranges that lie apart have all bytes of another one.
static bool hasRange(const Ranges &ranges, std::pair<int64_t, int64_t> range) {
  auto behind = llvm::partition_point(
      ranges, [&](auto other) { return other.first <= range.first; });
  return behind != ranges.begin() && range.second <= std::prev(behind)->second;
}

/// Whether commands, in their order, read nothing of a space that those before
/// them have not written, run of bytes by run of bytes; nothing where there are
/// too many runs to list.
static std::optional<bool>
areWrittenFirst(unsigned space, ArrayRef<scheduling::Accesses> commands) {
  Ranges written;
  bool isWrittenFirst = true;
  for (const scheduling::Accesses &accesses : commands) {
    Ranges fresh;
    for (const scheduling::Access &access : accesses) {
      if (access.space != space || (access.isWrite && !access.isCertain))
        continue;
      std::optional<Ranges> ranges = getRanges(access, {});
      if (!ranges)
        return std::nullopt;
      if (access.isWrite)
        llvm::append_range(fresh, *ranges);
      else
        isWrittenFirst &= llvm::all_of(
            *ranges, [&](auto range) { return hasRange(written, range); });
    }
    addRanges(written, fresh);
  }
  return isWrittenFirst;
}

/// Finds anew whether iterations write what they read in the buffers that are
/// said to be of one trip. Where that takes too long, footprints must do.
static void checkBodies(ProgramOp op, ProgramProblem &program) {
  AccessReader reader(op);
  for (auto [index, list] : llvm::enumerate(getBuffersOfBodies(program)))
    for (const BufferUsers &users : list) {
      std::vector<scheduling::Accesses> commands;
      for (unsigned user : users.commands)
        commands.push_back(reader.read(program.commands[index][user]));
      unsigned space =
          reader.getSpace(program.buffers[users.buffer].getResult());
      if (!areWrittenFirst(space, commands).value_or(true))
        program.problem.buffers[users.buffer].body = 0;
    }
}

/// Turns the ops of a block into steps of its queue. A wait is for the command
/// of its engine, or with its tag, that has been issued last.
LogicalResult VerifySchedulePass::readBlock(ProgramProblem &program,
                                            scheduling::Solution &solution,
                                            unsigned index) {
  scheduling::BlockSchedule &schedule = solution.blocks[index];
  llvm::DenseMap<int64_t, unsigned> byTag;
  int lastMain = -1, lastSub = -1;
  unsigned next = 0;
  for (Operation &op : *program.blocks[index]) {
    if (auto wait = dyn_cast<WaitOp>(op)) {
      if (wait.getEngine() == Engine::Dma) {
        auto it = byTag.find(*wait.getTag());
        if (it == byTag.end())
          return wait.emitOpError("no transfer with tag ")
                 << *wait.getTag() << " has been issued in this block";
        schedule.steps.push_back({scheduling::Step::Wait, it->second});
        continue;
      }
      // A context that runs nothing is idle.
      int last = wait.getEngine() == Engine::Main ? lastMain : lastSub;
      if (last >= 0)
        schedule.steps.push_back({scheduling::Step::Wait, unsigned(last)});
      continue;
    }
    if (!isa<IssueOp, LoopOp>(op))
      continue;
    unsigned command = next++;
    schedule.steps.push_back({scheduling::Step::Issue, command});
    schedule.tag.push_back(-1);
    if (isa<LoopOp>(op)) {
      // A loop has the cycles of its body, which are read there.
      schedule.start.push_back(-1);
      schedule.end.push_back(-1);
      continue;
    }
    auto issue = cast<IssueOp>(op);
    schedule.start.push_back((*issue.getCycles())[0]);
    schedule.end.push_back((*issue.getCycles())[1]);
    if (issue.getEngine() == Engine::Dma) {
      schedule.tag.back() = *issue.getTag();
      byTag[*issue.getTag()] = command;
    } else {
      (issue.getEngine() == Engine::Main ? lastMain : lastSub) = command;
    }
  }
  return success();
}

/// The starts of loops are nowhere written: they follow from the steps before.
/// Lengths of blocks are those of their loops, and the makespan's.
static void completeLoops(const ProgramProblem &program,
                          scheduling::Solution &solution, int64_t length) {
  for (unsigned index = program.problem.blocks.size(); index-- > 0;) {
    scheduling::BlockSchedule &schedule = solution.blocks[index];
    const scheduling::Block &block = program.problem.blocks[index];
    if (index == 0)
      schedule.length = length;
    else
      schedule.length =
          *cast<LoopOp>(program.blocks[index]->getParentOp()).getCycles();
    int64_t clock =
        index == 0 ? int64_t(scheduling::getKernelStart()) : int64_t(0);
    for (const scheduling::Step &step : schedule.steps) {
      const scheduling::Command &command = block.commands[step.command];
      if (command.engine == scheduling::Engine::Loop) {
        schedule.start[step.command] = clock;
        int64_t cycles;
        if (llvm::MulOverflow(command.trips,
                              solution.blocks[command.body].length, cycles) ||
            llvm::AddOverflow(clock, cycles, clock))
          clock = -1;
        schedule.end[step.command] = clock;
      } else if (step.kind == scheduling::Step::Wait) {
        clock = std::max(clock, schedule.end[step.command]);
      }
    }
  }
}

void VerifySchedulePass::report(ProgramProblem &program,
                                const scheduling::Fault &fault) {
  Operation *op = getOperation();
  if (fault.buffer >= 0)
    op = program.buffers[fault.buffer];
  else if (fault.command >= 0)
    op = program.commands[fault.block][fault.command];
  else if (fault.block > 0)
    op = program.blocks[fault.block]->getParentOp();
  InFlightDiagnostic diag = op->emitOpError(fault.message);
  if (fault.otherCommand >= 0)
    diag.attachNote(program.commands[fault.block][fault.otherCommand]->getLoc())
        << "the other command is here";
  if (fault.otherBuffer >= 0)
    diag.attachNote(program.buffers[fault.otherBuffer].getLoc())
        << "the other buffer is here";
}

void VerifySchedulePass::runOnOperation() {
  ProgramOp op = getOperation();
  markAllAnalysesPreserved();
  if (!op.getMakespan()) {
    op.emitOpError("is not scheduled");
    return signalPassFailure();
  }
  FailureOr<ProgramProblem> program = buildProblem(op, /*keepAddresses=*/false);
  if (failed(program))
    return signalPassFailure();
  scheduling::Solution solution;
  solution.blocks.resize(program->problem.blocks.size());
  for (unsigned i = 0; i < solution.blocks.size(); ++i)
    if (failed(readBlock(*program, solution, i)))
      return signalPassFailure();
  addDependences(op, *program);
  addRaces(op, *program, solution);
  checkBodies(op, *program);
  solution.makespan = *op.getMakespan();
  solution.lowerBound = *op.getLowerBound();
  completeLoops(*program, solution,
                solution.makespan - scheduling::getKernelEnd());
  for (BufferOp buffer : program->buffers)
    solution.placements.push_back(
        {*buffer.getAddress(), (*buffer.getLive())[0], (*buffer.getLive())[1]});
  std::vector<scheduling::Fault> faults =
      scheduling::check(program->problem, solution);
  for (const scheduling::Fault &fault : faults)
    report(*program, fault);
  bool isRacing = failed(verifyBarriers(op));
  if (!faults.empty() || isRacing)
    signalPassFailure();
}
