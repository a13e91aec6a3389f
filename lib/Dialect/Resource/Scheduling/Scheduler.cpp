//===- Scheduler.cpp - Order of issues and waits --------------------------===//
//
// Blocks are scheduled innermost first. A block's order comes from a list
// scheduler and, for short blocks, from a search over all orders; waits are
// derived from the order.
//
//===----------------------------------------------------------------------===//

#include "Allocator.h"
#include "furiosa/Dialect/Resource/Scheduling/Scheduling.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <array>
#include <numeric>

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
    if (buffer.bytes < 1 || buffer.lanes < 1 || buffer.slack < 0 ||
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
  return "";
}

//===----------------------------------------------------------------------===//
// The queue
//===----------------------------------------------------------------------===//

namespace {

/// The queue while commands are put into it.
class Queue {
public:
  Queue(const Block &block, llvm::ArrayRef<int64_t> cycles, int64_t begin)
      : block(block), cycles(cycles), time(begin), freeAt(begin) {
    size_t n = block.commands.size();
    schedule.start.assign(n, 0);
    schedule.end.assign(n, 0);
    schedule.tag.assign(n, -1);
    state.assign(n, Unissued);
  }

  /// When the queue would pass the waits that `command` needs.
  int64_t getIssueTime(unsigned command) const;
  /// Issues the command behind the waits that it needs.
  void issue(unsigned command);
  /// Waits for all that is under way.
  void drain();
  /// Whether everything that the command depends on has been issued.
  bool isReady(unsigned command) const {
    return llvm::all_of(block.commands[command].after, [&](unsigned before) {
      return state[before] != Unissued;
    });
  }
  bool isIssued(unsigned command) const { return state[command] != Unissued; }
  int64_t getTime() const { return time; }
  /// The end of all that has been issued.
  int64_t getEnd() const { return lastEnd; }
  int64_t getFreeAt(unsigned resource) const { return freeAt.at[resource]; }

  BlockSchedule finish() {
    drain();
    schedule.length = lastEnd;
    return std::move(schedule);
  }

private:
  enum State : uint8_t { Unissued, UnderWay, Done };
  struct FreeAt {
    explicit FreeAt(int64_t begin) { at.fill(begin); }
    std::array<int64_t, numResources> at;
  };

  /// Calls `visit` for each command under way that `command` must wait for, in
  /// the order of their issue.
  template <typename Visitor>
  void forEachWait(unsigned command, Visitor visit) const;
  void wait(unsigned command);

  const Block &block;
  llvm::ArrayRef<int64_t> cycles;
  int64_t time;
  FreeAt freeAt;
  int64_t lastEnd = 0;
  BlockSchedule schedule;
  std::vector<State> state;
  /// Commands under way in the order of their issue.
  llvm::SmallVector<unsigned, 8> underWay;
};

} // namespace

template <typename Visitor>
void Queue::forEachWait(unsigned index, Visitor visit) const {
  const Command &command = block.commands[index];
  unsigned resources = command.getResources();
  bool isDma = command.engine == Engine::Dma;
  // Transfers queue up, but the engines hold only so many.
  unsigned transfers = llvm::count_if(underWay, [&](unsigned other) {
    return block.commands[other].engine == Engine::Dma;
  });
  bool full = isDma && transfers >= machine::tdmaSlots;
  for (unsigned other : underWay) {
    bool otherIsDma = block.commands[other].engine == Engine::Dma;
    bool mustWait = llvm::is_contained(command.after, other) ||
                    (!(isDma && otherIsDma) &&
                     (resources & block.commands[other].getResources()) != 0);
    if (full && otherIsDma) {
      mustWait = true;
      full = false;
    }
    if (mustWait)
      visit(other);
  }
}

int64_t Queue::getIssueTime(unsigned command) const {
  int64_t when = time;
  forEachWait(command, [&](unsigned other) {
    when = std::max(when, schedule.end[other]);
  });
  return when;
}

void Queue::wait(unsigned command) {
  schedule.steps.push_back({Step::Wait, command});
  state[command] = Done;
  time = std::max(time, schedule.end[command]);
  llvm::erase(underWay, command);
}

void Queue::issue(unsigned index) {
  llvm::SmallVector<unsigned, 8> waits;
  forEachWait(index, [&](unsigned other) { waits.push_back(other); });
  for (unsigned other : waits)
    wait(other);

  const Command &command = block.commands[index];
  int64_t start = time;
  if (command.engine == Engine::Dma) {
    start = std::max(start, freeAt.at[llvm::Log2_32(DmaEngines)]);
    llvm::SmallBitVector used(machine::dmaTags);
    for (unsigned other : underWay)
      if (schedule.tag[other] >= 0)
        used.set(schedule.tag[other]);
    schedule.tag[index] = used.find_first_unset();
  }
  int64_t end = start + cycles[index];
  schedule.start[index] = start;
  schedule.end[index] = end;
  lastEnd = std::max(lastEnd, end);
  unsigned resources = command.getResources();
  for (unsigned r = 0; r < numResources; ++r)
    if (resources >> r & 1)
      freeAt.at[r] = std::max(freeAt.at[r], end);
  schedule.steps.push_back({Step::Issue, index});
  if (command.engine == Engine::Loop) {
    // The queue itself runs the body.
    state[index] = Done;
    time = end;
  } else {
    state[index] = UnderWay;
    underWay.push_back(index);
  }
}

void Queue::drain() {
  while (!underWay.empty())
    wait(underWay.front());
}

//===----------------------------------------------------------------------===//
// Orders
//===----------------------------------------------------------------------===//

namespace {

enum class Strategy : uint8_t {
  /// The best order found.
  Best,
  /// Program order, waits where needed.
  ProgramOrder,
  /// Program order, one command at a time: buffers live as short as they can.
  OneAtATime,
};

/// Finds an order of one block.
class BlockScheduler {
public:
  BlockScheduler(const Block &block, llvm::ArrayRef<int64_t> cycles,
                 int64_t begin)
      : block(block), cycles(cycles), begin(begin) {}

  BlockSchedule run(Strategy strategy);

private:
  BlockSchedule replay(llvm::ArrayRef<unsigned> order, bool oneAtATime) const;
  void computeTails();
  std::vector<unsigned> listSchedule() const;
  void search(const Queue &queue, std::vector<unsigned> &order);
  int64_t getBound(const Queue &queue) const;

  const Block &block;
  llvm::ArrayRef<int64_t> cycles;
  int64_t begin;
  /// Longest chain of dependences from the start of each command on.
  std::vector<int64_t> tail;
  // State of the search.
  std::vector<unsigned> bestOrder;
  int64_t bestLength = 0;
  unsigned budget = 0;
};

} // namespace

BlockSchedule BlockScheduler::replay(llvm::ArrayRef<unsigned> order,
                                     bool oneAtATime) const {
  Queue queue(block, cycles, begin);
  for (unsigned command : order) {
    queue.issue(command);
    if (oneAtATime)
      queue.drain();
  }
  return queue.finish();
}

void BlockScheduler::computeTails() {
  tail.assign(block.commands.size(), 0);
  for (size_t i = block.commands.size(); i-- > 0;) {
    tail[i] += cycles[i];
    for (unsigned before : block.commands[i].after)
      tail[before] = std::max(tail[before], tail[i]);
  }
}

std::vector<unsigned> BlockScheduler::listSchedule() const {
  // The command that stalls the queue least goes next; among equals the one
  // with most work hanging on it.
  Queue queue(block, cycles, begin);
  size_t n = block.commands.size();
  std::vector<unsigned> order;
  std::vector<unsigned> missing(n);
  std::vector<std::vector<unsigned>> users(n);
  std::vector<unsigned> ready;
  for (unsigned i = 0; i < n; ++i) {
    llvm::SmallVector<unsigned, 4> befores(block.commands[i].after);
    llvm::sort(befores);
    befores.erase(std::unique(befores.begin(), befores.end()), befores.end());
    missing[i] = befores.size();
    for (unsigned before : befores)
      users[before].push_back(i);
    if (missing[i] == 0)
      ready.push_back(i);
  }
  while (!ready.empty()) {
    auto key = [&](unsigned command) {
      return std::tuple(queue.getIssueTime(command), -tail[command], command);
    };
    size_t best = 0;
    auto bestKey = key(ready[0]);
    for (size_t i = 1; i < ready.size(); ++i)
      if (auto other = key(ready[i]); other < bestKey) {
        best = i;
        bestKey = other;
      }
    unsigned command = ready[best];
    ready.erase(ready.begin() + best);
    queue.issue(command);
    order.push_back(command);
    for (unsigned user : users[command])
      if (--missing[user] == 0)
        ready.push_back(user);
  }
  return order;
}

int64_t BlockScheduler::getBound(const Queue &queue) const {
  int64_t bound = queue.getEnd();
  std::array<int64_t, numResources> left = {};
  for (unsigned i = 0; i < block.commands.size(); ++i) {
    if (queue.isIssued(i))
      continue;
    bound = std::max(bound, queue.getTime() + tail[i]);
    unsigned resources = block.commands[i].getResources();
    for (unsigned r = 0; r < numResources; ++r)
      if (resources >> r & 1)
        left[r] += cycles[i];
  }
  for (unsigned r = 0; r < numResources; ++r)
    if (left[r] > 0)
      bound = std::max(bound,
                       std::max(queue.getTime(), queue.getFreeAt(r)) + left[r]);
  return bound;
}

void BlockScheduler::search(const Queue &queue, std::vector<unsigned> &order) {
  if (budget == 0)
    return;
  --budget;
  if (order.size() == block.commands.size()) {
    if (queue.getEnd() < bestLength) {
      bestLength = queue.getEnd();
      bestOrder = order;
    }
    return;
  }
  for (unsigned i = 0; i < block.commands.size(); ++i) {
    if (queue.isIssued(i) || !queue.isReady(i))
      continue;
    Queue next = queue;
    next.issue(i);
    if (getBound(next) >= bestLength)
      continue;
    order.push_back(i);
    search(next, order);
    order.pop_back();
  }
}

BlockSchedule BlockScheduler::run(Strategy strategy) {
  std::vector<unsigned> programOrder(block.commands.size());
  std::iota(programOrder.begin(), programOrder.end(), 0u);
  if (strategy != Strategy::Best)
    return replay(programOrder, strategy == Strategy::OneAtATime);

  BlockSchedule best = replay(programOrder, false);
  computeTails();
  bestOrder = programOrder;
  std::vector<unsigned> listed = listSchedule();
  if (BlockSchedule other = replay(listed, false); other.length < best.length) {
    best = std::move(other);
    bestOrder = listed;
  }
  // Short blocks: look at all orders, cutting those that cannot win.
  constexpr size_t maxSearched = 10;
  if (block.commands.size() > maxSearched)
    return best;
  bestLength = best.length;
  budget = 1 << 14;
  std::vector<unsigned> order;
  Queue queue(block, cycles, begin);
  if (getBound(queue) < bestLength)
    search(queue, order);
  return bestLength < best.length ? replay(bestOrder, false) : best;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

static Solution scheduleBlocks(const Problem &problem, Strategy strategy) {
  Solution solution;
  solution.blocks.resize(problem.blocks.size());
  for (size_t b = problem.blocks.size(); b-- > 0;) {
    const Block &block = problem.blocks[b];
    std::vector<int64_t> cycles;
    for (const Command &command : block.commands)
      cycles.push_back(command.engine == Engine::Loop
                           ? command.trips *
                                 solution.blocks[command.body].length
                           : command.cycles);
    int64_t begin = b == 0 ? int64_t(machine::firstDMACycle) : 0;
    solution.blocks[b] = BlockScheduler(block, cycles, begin).run(strategy);
  }
  solution.makespan = solution.blocks[0].length + machine::endSyncCycles;
  solution.lowerBound = getLowerBound(problem);
  return solution;
}

Solution scheduling::scheduleInProgramOrder(const Problem &problem) {
  return scheduleBlocks(problem, Strategy::ProgramOrder);
}

std::optional<Solution> scheduling::solve(const Problem &problem,
                                          Failure &failure) {
  failure = Failure();
  failure.message = checkProblem(problem);
  if (!failure.message.empty())
    return std::nullopt;
  for (Strategy strategy :
       {Strategy::Best, Strategy::ProgramOrder, Strategy::OneAtATime}) {
    Solution solution = scheduleBlocks(problem, strategy);
    if (allocate(problem, solution, failure))
      return solution;
  }
  return std::nullopt;
}
