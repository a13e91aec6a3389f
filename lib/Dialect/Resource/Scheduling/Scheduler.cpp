//===- Scheduler.cpp - Order of issues and waits --------------------------===//
//
// Blocks are scheduled innermost first. A block's order comes from list
// schedulers that look one start ahead, is repaired by shaking the priorities,
// and for short blocks is the result of an exact search. Waits follow from the
// order: a command is issued behind those that it needs and no other.
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
#include <queue>
#include <unordered_map>

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

/// A block with what its commands take: loops count as one command each.
struct Work {
  const Block &block;
  /// Per command.
  std::vector<int64_t> cycles;
  /// Per command, bits of `Resource`; of a loop those of all in its body.
  std::vector<unsigned> resources;
  /// Per command, what waits for it; each once.
  std::vector<llvm::SmallVector<unsigned, 4>> users;
  /// Longest chain of dependences from the start of each command on.
  std::vector<int64_t> tail;
  /// When the queue starts.
  int64_t begin;

  Work(const Problem &problem, unsigned index, const Solution &inner,
       llvm::ArrayRef<unsigned> bodyResources);
  size_t size() const { return block.commands.size(); }
  bool isTransfer(unsigned command) const {
    return block.commands[command].engine == Engine::Dma;
  }
  bool isLoop(unsigned command) const {
    return block.commands[command].engine == Engine::Loop;
  }
  unsigned getAllResources() const {
    unsigned all = 0;
    for (unsigned bits : resources)
      all |= bits;
    return all;
  }
};

/// What later commands can notice of those issued so far: the state that orders
/// are compared by. Waits for what has ended are free, so that cycles follow
/// from the order alone.
class Clock {
public:
  explicit Clock(int64_t begin) : time(begin), end(begin), transfersEnd(begin) {
    freeAt.fill(begin);
    slots.fill(begin);
  }

  /// When the queue passes the waits that a command needs whose dependences end
  /// at `ready`.
  int64_t getIssueTime(const Work &work, unsigned command,
                       int64_t ready) const {
    int64_t when = std::max(time, ready);
    unsigned resources = work.resources[command];
    for (unsigned r = 0; r < numResources; ++r)
      if (resources >> r & 1)
        when = std::max(when, freeAt[r]);
    if (work.isTransfer(command))
      return std::max(when, slots[transfers % slots.size()]);
    return resources & DmaEngines ? std::max(when, transfersEnd) : when;
  }
  /// When it starts: transfers queue up in front of the engines.
  int64_t getStart(const Work &work, unsigned command, int64_t ready) const {
    int64_t when = getIssueTime(work, command, ready);
    return work.isTransfer(command) ? std::max(when, transfersEnd) : when;
  }
  /// Returns its end.
  int64_t issue(const Work &work, unsigned command, int64_t ready) {
    time = getIssueTime(work, command, ready);
    int64_t done = getStart(work, command, ready) + work.cycles[command];
    if (work.isTransfer(command)) {
      transfersEnd = done;
      slots[transfers++ % slots.size()] = done;
    }
    for (unsigned r = 0; r < numResources; ++r)
      if (work.resources[command] >> r & 1)
        if (1u << r != DmaEngines || !work.isTransfer(command))
          freeAt[r] = done;
    if (work.isLoop(command))
      time = done;
    end = std::max(end, done);
    return done;
  }
  /// All of it that counts while no slot of the engines has been used twice.
  llvm::SmallVector<int64_t, 12> getState() const {
    llvm::SmallVector<int64_t, 12> state = {time, end,
                                            std::max(time, transfersEnd)};
    for (int64_t free : freeAt)
      state.push_back(std::max(time, free));
    return state;
  }
  /// Waits for all that has been issued.
  void drain() { time = end; }
  int64_t getTime() const { return time; }
  /// The end of all that has been issued.
  int64_t getEnd() const { return end; }
  /// When a resource is free for a command that starts behind all issued ones.
  int64_t getFreeAt(unsigned resource) const {
    int64_t when = std::max(time, freeAt[resource]);
    return 1u << resource == DmaEngines ? std::max(when, transfersEnd) : when;
  }

private:
  int64_t time, end;
  /// The end of the last transfer; that of others that use the engines stands
  /// in `freeAt`.
  int64_t transfersEnd;
  std::array<int64_t, numResources> freeAt;
  /// Ends of the last transfers: the engines hold only so many.
  std::array<int64_t, machine::tdmaSlots> slots;
  unsigned transfers = 0;
};

/// Writes the queue of an order.
class Queue {
public:
  explicit Queue(const Work &work) : work(work), clock(work.begin) {
    schedule.start.assign(work.size(), 0);
    schedule.end.assign(work.size(), 0);
    schedule.tag.assign(work.size(), -1);
  }

  /// Issues the command behind the waits that it needs.
  void issue(unsigned command);
  /// Waits for all that is under way.
  void drain() {
    while (!underWay.empty())
      wait(underWay.front());
    clock.drain();
  }
  BlockSchedule finish() {
    drain();
    schedule.length = work.size() == 0 ? 0 : clock.getEnd();
    return std::move(schedule);
  }

private:
  void wait(unsigned command) {
    schedule.steps.push_back({Step::Wait, command});
    llvm::erase(underWay, command);
  }

  const Work &work;
  Clock clock;
  BlockSchedule schedule;
  /// Commands under way in the order of their issue.
  llvm::SmallVector<unsigned, 8> underWay;
};

} // namespace

Work::Work(const Problem &problem, unsigned index, const Solution &inner,
           llvm::ArrayRef<unsigned> bodyResources)
    : block(problem.blocks[index]), users(block.commands.size()),
      begin(index == 0 ? int64_t(machine::firstDMACycle) : 0) {
  for (auto [i, command] : llvm::enumerate(block.commands)) {
    bool loop = command.engine == Engine::Loop;
    cycles.push_back(loop ? command.trips * inner.blocks[command.body].length
                          : command.cycles);
    resources.push_back(loop ? bodyResources[command.body] | command.resources
                             : command.getResources());
    for (unsigned before : command.after)
      if (!llvm::is_contained(llvm::ArrayRef(users[before]).take_back(1), i))
        users[before].push_back(i);
  }
  tail = cycles;
  for (size_t i = size(); i-- > 0;) {
    int64_t longest = 0;
    for (unsigned user : users[i])
      longest = std::max(longest, tail[user]);
    tail[i] += longest;
  }
}

void Queue::issue(unsigned index) {
  const Command &command = work.block.commands[index];
  bool isTransfer = work.isTransfer(index);
  int64_t ready = work.begin;
  for (unsigned before : command.after)
    ready = std::max(ready, schedule.end[before]);
  // What it must find done, in the order of issue.
  unsigned transfers = llvm::count_if(
      underWay, [&](unsigned other) { return work.isTransfer(other); });
  bool full = isTransfer && transfers >= machine::tdmaSlots;
  llvm::SmallVector<unsigned, 8> waits;
  for (unsigned other : underWay) {
    bool both = isTransfer && work.isTransfer(other);
    if ((!both && (work.resources[index] & work.resources[other])) ||
        (both && std::exchange(full, false)) ||
        llvm::is_contained(command.after, other))
      waits.push_back(other);
  }
  for (unsigned other : waits)
    wait(other);

  if (isTransfer) {
    llvm::SmallBitVector used(machine::dmaTags);
    for (unsigned other : underWay)
      if (schedule.tag[other] >= 0)
        used.set(schedule.tag[other]);
    schedule.tag[index] = used.find_first_unset();
  }
  schedule.start[index] = clock.getStart(work, index, ready);
  schedule.end[index] = clock.issue(work, index, ready);
  schedule.steps.push_back({Step::Issue, index});
  // The queue itself runs a loop's body, which ends drained.
  if (!work.isLoop(index))
    underWay.push_back(index);
}

//===----------------------------------------------------------------------===//
// List scheduling
//===----------------------------------------------------------------------===//

namespace {

using Order = std::vector<unsigned>;

/// How a list scheduler compares what it could issue next.
struct ListOptions {
  /// Whether the first to start goes first, or the first to be issued. They
  /// differ for transfers, which start later than they are issued.
  bool byStart = true;
  /// Only so many commands from the first one in program order that has not
  /// been issued are looked at. 1 is program order; few keep buffers short
  /// lived.
  size_t window = SIZE_MAX;
};

/// Issues the command that starts first, among equals the one of the highest
/// priority. Commands that use the same are compared in heaps, so that a step
/// costs little more than the number of those kinds.
class ListScheduler {
public:
  ListScheduler(const Work &work, llvm::ArrayRef<int64_t> priority,
                ListOptions options)
      : work(work), priority(priority), options(options), clock(work.begin) {}
  Order run();
  int64_t getEnd() const { return clock.getEnd(); }

private:
  struct Entry {
    int64_t ready, priority;
    unsigned command;
  };
  struct LessUrgent {
    bool operator()(const Entry &a, const Entry &b) const {
      return std::tuple(-a.priority, a.command) >
             std::tuple(-b.priority, b.command);
    }
  };
  struct Later {
    bool operator()(const Entry &a, const Entry &b) const {
      return std::tuple(a.ready, -a.priority, a.command) >
             std::tuple(b.ready, -b.priority, b.command);
    }
  };
  template <typename Less>
  using Heap = std::priority_queue<Entry, std::vector<Entry>, Less>;
  /// Commands of one engine with one set of resources, all of whose dependences
  /// have been issued.
  struct Kind {
    unsigned engine, resources;
    /// Those whose dependences have ended, and those that end later.
    Heap<LessUrgent> now;
    Heap<Later> later;
  };

  void addReady(unsigned command);
  /// Takes the next command out of its heap.
  Entry take();

  const Work &work;
  llvm::ArrayRef<int64_t> priority;
  ListOptions options;
  Clock clock;
  std::vector<Kind> kinds;
  std::vector<unsigned> kindOf;
  /// Per command, the end of its dependences.
  std::vector<int64_t> ready;
};

} // namespace

void ListScheduler::addReady(unsigned command) {
  Kind &kind = kinds[kindOf[command]];
  Entry entry = {ready[command], priority[command], command};
  if (entry.ready <= clock.getTime())
    kind.now.push(entry);
  else
    kind.later.push(entry);
}

ListScheduler::Entry ListScheduler::take() {
  std::tuple<int64_t, int64_t, unsigned> bestKey;
  Kind *best = nullptr;
  bool bestIsNow = false;
  auto consider = [&](Kind &kind, const Entry &entry, bool isNow) {
    int64_t when = options.byStart
                       ? clock.getStart(work, entry.command, entry.ready)
                       : clock.getIssueTime(work, entry.command, entry.ready);
    auto key = std::tuple(when, -entry.priority, entry.command);
    if (best && key >= bestKey)
      return;
    best = &kind;
    bestKey = key;
    bestIsNow = isNow;
  };
  for (Kind &kind : kinds) {
    while (!kind.later.empty() && kind.later.top().ready <= clock.getTime()) {
      kind.now.push(kind.later.top());
      kind.later.pop();
    }
    if (!kind.now.empty())
      consider(kind, kind.now.top(), true);
    if (!kind.later.empty())
      consider(kind, kind.later.top(), false);
  }
  Entry entry = bestIsNow ? best->now.top() : best->later.top();
  if (bestIsNow)
    best->now.pop();
  else
    best->later.pop();
  return entry;
}

Order ListScheduler::run() {
  size_t n = work.size();
  ready.assign(n, work.begin);
  std::vector<unsigned> missing(n, 0);
  for (unsigned i = 0; i < n; ++i) {
    for (unsigned user : work.users[i])
      ++missing[user];
    unsigned engine = unsigned(work.block.commands[i].engine);
    auto kind = llvm::find_if(kinds, [&](const Kind &k) {
      return k.engine == engine && k.resources == work.resources[i];
    });
    kindOf.push_back(kind - kinds.begin());
    if (kind == kinds.end())
      kinds.push_back({engine, work.resources[i], {}, {}});
  }
  std::vector<bool> issued(n, false);
  size_t firstLeft = 0, visible = 0;
  auto look = [&] {
    while (firstLeft < n && issued[firstLeft])
      ++firstLeft;
    size_t limit =
        options.window > n - firstLeft ? n : firstLeft + options.window;
    for (; visible < limit; ++visible)
      if (missing[visible] == 0)
        addReady(visible);
  };
  Order order;
  for (look(); order.size() < n; look()) {
    Entry next = take();
    int64_t end = clock.issue(work, next.command, next.ready);
    issued[next.command] = true;
    order.push_back(next.command);
    for (unsigned user : work.users[next.command]) {
      ready[user] = std::max(ready[user], end);
      if (--missing[user] == 0 && user < visible)
        addReady(user);
    }
  }
  return order;
}

//===----------------------------------------------------------------------===//
// Exact search
//===----------------------------------------------------------------------===//

namespace {

/// Branch and bound over all orders of a short block.
class ExactSearch {
public:
  /// More commands are not tried. Fewer than the engines have slots.
  static constexpr size_t maxCommands = 24;

  ExactSearch(const Work &work, Order &best, int64_t &bestLength, int64_t bound)
      : work(work), best(best), bestLength(bestLength), bound(bound),
        end(work.size(), work.begin) {}
  /// Improves `best`; true if nothing better exists.
  bool run() {
    search(Clock(work.begin), 0);
    return budget > 0;
  }

private:
  void search(const Clock &clock, uint32_t issued);
  int64_t getReady(unsigned command) const {
    int64_t ready = work.begin;
    for (unsigned before : work.block.commands[command].after)
      ready = std::max(ready, end[before]);
    return ready;
  }
  int64_t getBound(const Clock &clock, uint32_t issued) const;
  /// Whether a state was seen that is nowhere later; notes this one.
  bool isDominated(const Clock &clock, uint32_t issued);

  const Work &work;
  Order &best;
  int64_t &bestLength;
  int64_t bound;
  std::vector<int64_t> end;
  Order order;
  /// States by what has been issued.
  std::unordered_map<uint32_t, std::vector<llvm::SmallVector<int64_t, 12>>>
      seen;
  unsigned budget = 1 << 13;
};

} // namespace

int64_t ExactSearch::getBound(const Clock &clock, uint32_t issued) const {
  int64_t result = clock.getEnd();
  std::array<int64_t, numResources> left = {}, shortest;
  shortest.fill(INT64_MAX);
  for (unsigned i = 0; i < work.size(); ++i) {
    if (issued >> i & 1)
      continue;
    int64_t from = std::max(clock.getTime(), getReady(i));
    result = std::max(result, from + work.tail[i]);
    for (unsigned r = 0; r < numResources; ++r)
      if (work.resources[i] >> r & 1) {
        left[r] += work.cycles[i];
        shortest[r] = std::min(shortest[r], work.tail[i] - work.cycles[i]);
      }
  }
  for (unsigned r = 0; r < numResources; ++r)
    if (shortest[r] != INT64_MAX)
      result = std::max(result, clock.getFreeAt(r) + left[r] + shortest[r]);
  return result;
}

bool ExactSearch::isDominated(const Clock &clock, uint32_t issued) {
  // All that the future depends on; what lies behind the queue is forgotten.
  llvm::SmallVector<int64_t, 12> state = clock.getState();
  for (unsigned i = 0; i < work.size(); ++i)
    if ((issued >> i & 1) && llvm::any_of(work.users[i], [&](unsigned user) {
          return !(issued >> user & 1);
        }))
      state.push_back(std::max(end[i], clock.getTime()));
  std::vector<llvm::SmallVector<int64_t, 12>> &states = seen[issued];
  for (const auto &other : states)
    if (std::equal(state.begin(), state.end(), other.begin(),
                   [](int64_t a, int64_t b) { return b <= a; }))
      return true;
  states.push_back(std::move(state));
  return false;
}

void ExactSearch::search(const Clock &clock, uint32_t issued) {
  if (budget == 0 || bestLength <= bound)
    return;
  --budget;
  if (order.size() == work.size()) {
    bestLength = clock.getEnd();
    best = order;
    return;
  }
  // Those that start first are tried first.
  llvm::SmallVector<std::tuple<int64_t, int64_t, unsigned>, 8> candidates;
  for (unsigned i = 0; i < work.size(); ++i)
    if (!(issued >> i & 1) &&
        llvm::all_of(work.block.commands[i].after,
                     [&](unsigned before) { return issued >> before & 1; }))
      candidates.emplace_back(clock.getStart(work, i, getReady(i)),
                              -work.tail[i], i);
  llvm::sort(candidates);
  for (auto [start, negated, command] : candidates) {
    Clock next = clock;
    end[command] = next.issue(work, command, getReady(command));
    uint32_t now = issued | 1u << command;
    if (getBound(next, now) >= bestLength || isDominated(next, now))
      continue;
    order.push_back(command);
    search(next, now);
    order.pop_back();
  }
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

/// Numbers that look random and are the same everywhere.
class Shaker {
public:
  /// 0 to `n - 1`.
  uint64_t below(uint64_t n) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % n;
  }

private:
  uint64_t state = 0x9E3779B97F4A7C15;
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
  Order best;
  int64_t bestLength = 0;
  auto attempt = [&](llvm::ArrayRef<int64_t> priority, ListOptions options) {
    ListScheduler scheduler(work, priority, options);
    Order order = scheduler.run();
    bool better = best.empty() || scheduler.getEnd() < bestLength;
    if (better) {
      best = std::move(order);
      bestLength = scheduler.getEnd();
    }
    return better;
  };
  attempt(work.tail, {.window = 1});
  bool proved = bestLength <= bound;
  if (strategy.window > 1 && !proved) {
    attempt(work.tail, {.byStart = true, .window = strategy.window});
    attempt(work.tail, {.byStart = false, .window = strategy.window});
  }
  if (strategy.window == SIZE_MAX && work.size() <= ExactSearch::maxCommands)
    proved =
        bestLength <= bound || ExactSearch(work, best, bestLength, bound).run();
  // Repair: shaken priorities break the ties and the near ties that the list
  // scheduler gets wrong; what is better is shaken on.
  if (strategy.window == SIZE_MAX && !proved) {
    constexpr size_t effort = 300000;
    Shaker shaker;
    std::vector<int64_t> priority = work.tail;
    size_t rounds = std::min<size_t>(effort / (work.size() + 1), 400);
    for (size_t i = 0; i < rounds && bestLength > bound; ++i) {
      std::vector<int64_t> shaken = priority;
      uint64_t share = 1 + shaker.below(4);
      for (int64_t &value : shaken)
        if (shaker.below(4) < share)
          value += int64_t(shaker.below(value / 2 + 64)) - value / 4;
      if (attempt(shaken, {.byStart = shaker.below(4) != 0}))
        priority = std::move(shaken);
    }
  }
  BlockSchedule schedule = replay(work, best, strategy.drainsAlways);
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

std::optional<Solution> scheduling::solve(const Problem &problem,
                                          Failure &failure) {
  failure = Failure();
  failure.message = checkProblem(problem);
  if (!failure.message.empty())
    return std::nullopt;
  // The less a schedule looks ahead, the less lives at a time.
  for (size_t window :
       {SIZE_MAX, size_t(256), size_t(96), size_t(48), size_t(24), size_t(12),
        size_t(6), size_t(3), size_t(1), size_t(0)}) {
    // Last of all one command at a time.
    Strategy strategy = {std::max<size_t>(window, 1), window == 0};
    Solution solution = scheduleBlocks(problem, strategy);
    if (allocate(problem, solution, failure, strategy.drainsAlways))
      return solution;
    if (failure.kind != Failure::OutOfMemory)
      break;
  }
  return std::nullopt;
}
