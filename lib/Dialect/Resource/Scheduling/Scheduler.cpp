//===- Scheduler.cpp - Order of issues and waits --------------------------===//
//
// Blocks are scheduled innermost first. A block's order comes from list
// schedulers that look one start ahead, is repaired by shaking the priorities,
// and for short blocks is the result of an exact search. Waits follow from the
// order: a command is issued behind those that it needs and no other.
//
//===----------------------------------------------------------------------===//

#include "Allocator.h"
#include "Orders.h"
#include "Shaker.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace furiosa;
using namespace furiosa::scheduling;
namespace machine = furiosa::rngd::machine;

int64_t scheduling::getKernelStart() { return machine::firstDMACycle; }
int64_t scheduling::getKernelEnd() { return machine::endSyncCycles; }

unsigned Command::getResources() const {
  switch (engine) {
  case Engine::Main:
    return resources | MainContext;
  case Engine::Sub:
    return resources | SubContext;
  case Engine::Dma:
    return resources | DmaEngines;
  case Engine::Loop:
    return AllResources;
  }
  return AllResources;
}

std::string scheduling::checkProblem(const Problem &problem) {
  // The cycles of every block with those of its loops' bodies in all trips.
  std::vector<int64_t> total(problem.blocks.size(), 0);
  std::vector<bool> isBody(problem.blocks.size(), false);
  if (problem.blocks.empty())
    return "a problem has at least one block";
  for (const Buffer &buffer : problem.buffers)
    if (buffer.bytes < 1 || buffer.lanes < 1 ||
        buffer.bytes % buffer.lanes != 0 ||
        getCapacity(buffer.memory) % buffer.lanes != 0 ||
        buffer.bytes > getCapacity(buffer.memory))
      return "a buffer has a size that its memory cannot hold";
  for (size_t b = problem.blocks.size(); b-- > 0;) {
    const Block &block = problem.blocks[b];
    for (size_t i = 0; i < block.commands.size(); ++i) {
      const Command &command = block.commands[i];
      for (unsigned before : command.after)
        if (before >= i)
          return "a dependence does not point backwards";
      for (unsigned buffer : command.buffers)
        if (buffer >= problem.buffers.size())
          return "a command touches a buffer that does not exist";
      int64_t cycles = command.cycles;
      if (command.engine == Engine::Loop) {
        if (command.body <= b || command.body >= problem.blocks.size() ||
            isBody[command.body])
          return "a loop has no body of its own";
        if (command.trips < 1)
          return "a loop makes at least one trip";
        isBody[command.body] = true;
        if (llvm::MulOverflow(total[command.body], command.trips, cycles))
          return "the cycles of a loop do not fit in 64 bits";
      }
      if (cycles < 0)
        return "a command has negative cycles";
      if (llvm::AddOverflow(total[b], cycles, total[b]))
        return "the cycles of the commands do not fit in 64 bits";
    }
  }
  if (total[0] > std::numeric_limits<int64_t>::max() / 4)
    return "the cycles of the commands do not fit in 64 bits";
  std::vector<unsigned> parents = getParents(problem);
  for (const Buffer &buffer : problem.buffers)
    if (buffer.body >= problem.blocks.size() ||
        (buffer.body != 0 && !isBody[buffer.body]))
      return "a buffer is of a loop that does not exist";
  for (size_t b = 0; b < problem.blocks.size(); ++b)
    for (const Command &command : problem.blocks[b].commands)
      for (unsigned buffer : command.buffers) {
        unsigned body = problem.buffers[buffer].body;
        bool isAround = command.engine == Engine::Loop &&
                        isWithin(body, command.body, parents);
        if (!isAround && !isWithin(b, body, parents))
          return "a buffer is touched outside of the loop that it is of";
      }
  return "";
}

std::vector<unsigned> scheduling::getParents(const Problem &problem) {
  std::vector<unsigned> parents(problem.blocks.size(), 0);
  for (size_t b = 0; b < problem.blocks.size(); ++b)
    for (const Command &command : problem.blocks[b].commands)
      if (command.engine == Engine::Loop)
        parents[command.body] = b;
  return parents;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

namespace {

/// How hard a block is worked on.
struct Strategy {
  /// See `ListOptions`; less than all keeps to the list schedulers.
  size_t window = SIZE_MAX;
  /// One command at a time: buffers live as short as they can.
  bool drainsAlways = false;
};

} // namespace

static BlockSchedule replay(const Work &work, llvm::ArrayRef<unsigned> order,
                            bool drainsAlways) {
  Queue queue(work);
  for (unsigned command : order) {
    queue.issue(command);
    if (drainsAlways)
      queue.drain();
  }
  return queue.finish();
}

/// An order as short as we find one. `bound` is one that none beats.
static BlockSchedule scheduleBlock(const Work &work, Strategy strategy,
                                   int64_t bound) {
  TimedOrder best;
  auto attempt = [&](llvm::ArrayRef<int64_t> priority, ListOptions options) {
    TimedOrder found = scheduleByList(work, priority, options);
    bool better = best.order.empty() || found.end < best.end;
    if (better)
      best = std::move(found);
    return better;
  };
  attempt(work.tail, {.window = 1});
  bool proved = best.end <= bound;
  if (strategy.window > 1 && !proved) {
    attempt(work.tail, {.byStart = true, .window = strategy.window});
    attempt(work.tail, {.byStart = false, .window = strategy.window});
  }
  if (strategy.window == SIZE_MAX && work.size() <= maxExactCommands)
    proved = best.end <= bound || searchExactly(work, best, bound);
  // Repair: shaken priorities break the ties and the near ties that the list
  // scheduler gets wrong; what is better is shaken on.
  if (strategy.window == SIZE_MAX && !proved) {
    constexpr size_t effort = 300000;
    Shaker shaker;
    std::vector<int64_t> priority = work.tail;
    size_t rounds = std::min<size_t>(effort / (work.size() + 1), 400);
    for (size_t i = 0; i < rounds && best.end > bound; ++i) {
      std::vector<int64_t> shaken = priority;
      uint64_t share = 1 + shaker.below(4);
      for (int64_t &value : shaken)
        if (shaker.below(4) < share)
          value += int64_t(shaker.below(value / 2 + 64)) - value / 4;
      if (attempt(shaken, {.byStart = shaker.below(4) != 0}))
        priority = std::move(shaken);
    }
    constexpr size_t maxLocalCommands = 1024;
    constexpr int64_t localEffort = 2000000;
    if (best.end > bound && work.size() <= maxLocalCommands)
      searchLocally(work, best, bound, localEffort);
  }
  BlockSchedule schedule = replay(work, best.order, strategy.drainsAlways);
  schedule.isOptimal =
      !strategy.drainsAlways && (proved || schedule.length <= bound);
  return schedule;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

static Solution scheduleBlocks(const Problem &problem, Strategy strategy) {
  Solution solution;
  solution.blocks.resize(problem.blocks.size());
  std::vector<int64_t> bounds = getBlockBounds(problem);
  std::vector<unsigned> resources(problem.blocks.size(), 0);
  for (size_t b = problem.blocks.size(); b-- > 0;) {
    Work work(problem, b, solution, resources);
    resources[b] = work.getAllResources();
    Strategy own = strategy;
    if (problem.blocks[b].keepsOrder)
      own.window = 1;
    solution.blocks[b] = scheduleBlock(work, own, work.begin + bounds[b]);
  }
  int64_t length =
      problem.blocks[0].commands.empty() ? 0 : solution.blocks[0].length;
  solution.makespan = length + machine::endSyncCycles;
  solution.lowerBound = getLowerBound(problem);
  return solution;
}

Solution scheduling::scheduleInProgramOrder(const Problem &problem) {
  return scheduleBlocks(problem, {.window = 1});
}

std::optional<Solution>
scheduling::allocateInProgramOrder(const Problem &problem, Failure &failure) {
  failure = Failure();
  failure.message = checkProblem(problem);
  if (!failure.message.empty())
    return std::nullopt;
  Solution solution =
      scheduleBlocks(problem, {.window = 1, .drainsAlways = true});
  if (!allocate(problem, solution, failure, /*explains=*/true,
                /*reusesInTrips=*/false))
    return std::nullopt;
  return solution;
}

std::optional<Solution> scheduling::solve(const Problem &problem,
                                          Failure &failure) {
  failure = Failure();
  failure.message = checkProblem(problem);
  if (!failure.message.empty())
    return std::nullopt;
  bool hasTrips = llvm::any_of(problem.buffers, [](const Buffer &buffer) {
    return buffer.body != 0;
  });
  // The less a schedule looks ahead, the less lives at a time.
  for (size_t window :
       {SIZE_MAX, size_t(256), size_t(96), size_t(48), size_t(24), size_t(12),
        size_t(6), size_t(3), size_t(1), size_t(0)}) {
    // Last of all one command at a time.
    Strategy strategy = {std::max<size_t>(window, 1), window == 0};
    Solution solution = scheduleBlocks(problem, strategy);
    bool isLast = strategy.drainsAlways;
    if (allocate(problem, solution, failure, isLast && !hasTrips,
                 /*reusesInTrips=*/false) ||
        (hasTrips && allocate(problem, solution, failure, isLast,
                              /*reusesInTrips=*/true)))
      return solution;
    // Fixed addresses may overlap only in what looks too far ahead.
    if (failure.kind == Failure::Malformed)
      break;
  }
  return std::nullopt;
}
