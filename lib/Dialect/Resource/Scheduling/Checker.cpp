//===- Checker.cpp - What is wrong with a schedule ------------------------===//
//
// Replays the queue of a solution and compares. Shares nothing with the
// scheduler and the allocator but the data they exchange.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/Resource/Scheduling/Scheduling.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

using namespace furiosa;
using namespace furiosa::scheduling;
namespace machine = furiosa::rngd::machine;

namespace {

/// When, in queue positions and in cycles, something uses a buffer.
struct Use {
  int64_t firstStep, lastStep;
  int64_t firstCycle, lastCycle;
};

class Checker {
public:
  Checker(const Problem &problem, const Solution &solution)
      : problem(problem), solution(solution) {}
  std::vector<Fault> run();

private:
  /// Replays a block that starts at `begin`; returns the cycle of its end.
  int64_t replay(unsigned block, int64_t begin);
  void collectUses(unsigned block, int64_t offset, int64_t &step,
                   std::map<unsigned, Use> &uses);
  void checkMemory(const std::map<unsigned, Use> &uses);
  int64_t computeBound(unsigned block);
  bool checkShape();
  /// What a command keeps busy; a loop what its body does.
  unsigned getUsed(const Command &command) const {
    return command.engine == Engine::Loop
               ? usedBy[command.body] | command.resources
               : command.getResources();
  }

  Fault &fault(const llvm::Twine &message, int block = -1, int command = -1) {
    Fault &added = faults.emplace_back();
    added.message = message.str();
    added.block = block;
    added.command = command;
    return added;
  }

  const Problem &problem;
  const Solution &solution;
  /// Resources of each block.
  std::vector<unsigned> usedBy;
  /// Uses of buffers that are of one trip, in the first one.
  std::map<unsigned, Use> inFirstTrip;
  std::vector<Fault> faults;
};

} // namespace

bool Checker::checkShape() {
  std::string malformed = checkProblem(problem);
  if (!malformed.empty()) {
    fault(malformed);
    return false;
  }
  if (solution.blocks.size() != problem.blocks.size()) {
    fault("the solution has another number of blocks");
    return false;
  }
  for (size_t b = 0; b < problem.blocks.size(); ++b) {
    size_t n = problem.blocks[b].commands.size();
    const BlockSchedule &schedule = solution.blocks[b];
    if (schedule.start.size() != n || schedule.end.size() != n ||
        schedule.tag.size() != n) {
      fault("the solution has another number of commands", b);
      return false;
    }
    std::vector<unsigned> issues(n, 0);
    for (const Step &step : schedule.steps) {
      if (step.command >= n) {
        fault("a step names a command that does not exist", b);
        return false;
      }
      if (step.kind == Step::Issue && ++issues[step.command] == 2) {
        fault("the command is issued twice", b, step.command);
        return false;
      }
    }
    for (size_t i = 0; i < n; ++i)
      if (issues[i] == 0) {
        fault("the command is never issued", b, i);
        return false;
      }
  }
  if (solution.placements.size() != problem.buffers.size()) {
    fault("the solution places another number of buffers");
    return false;
  }
  usedBy.assign(problem.blocks.size(), 0);
  for (size_t b = problem.blocks.size(); b-- > 0;)
    for (const Command &command : problem.blocks[b].commands)
      usedBy[b] |= getUsed(command);
  return true;
}

int64_t Checker::replay(unsigned index, int64_t begin) {
  const Block &block = problem.blocks[index];
  const BlockSchedule &schedule = solution.blocks[index];
  size_t n = block.commands.size();
  std::vector<int64_t> end(n, 0);
  std::set<unsigned> running;
  std::vector<bool> finished(n, false);
  int64_t clock = begin, dmaIdle = begin, last = 0;

  for (const Step &step : schedule.steps) {
    unsigned c = step.command;
    const Command &command = block.commands[c];
    if (step.kind == Step::Wait) {
      if (!running.count(c) && !finished[c]) {
        fault("a wait stands before the issue of its command", index, c);
        continue;
      }
      running.erase(c);
      finished[c] = true;
      clock = std::max(clock, end[c]);
      continue;
    }

    for (unsigned before : command.after)
      if (!finished[before])
        fault("no wait stands between the command and one that it depends on",
              index, c)
            .otherCommand = before;
    unsigned transfers = 0;
    for (unsigned other : running) {
      const Command &rival = block.commands[other];
      bool bothTransfer =
          command.engine == Engine::Dma && rival.engine == Engine::Dma;
      transfers += rival.engine == Engine::Dma;
      if (bothTransfer) {
        if (schedule.tag[other] == schedule.tag[c])
          fault("two transfers under way have one tag", index, c).otherCommand =
              other;
      } else if (getUsed(command) & getUsed(rival)) {
        fault(command.engine == Engine::Loop
                  ? "a loop is entered with a command under way"
                  : "a command is issued to what another one keeps busy",
              index, c)
            .otherCommand = other;
      }
    }
    bool isTransfer = command.engine == Engine::Dma;
    if (isTransfer && transfers >= machine::tdmaSlots)
      fault("too many transfers are under way", index, c);
    if (isTransfer
            ? schedule.tag[c] < 0 || schedule.tag[c] >= int(machine::dmaTags)
            : schedule.tag[c] != -1)
      fault(isTransfer ? "the transfer has no valid tag"
                       : "only transfers have tags",
            index, c);

    int64_t start = isTransfer ? std::max(clock, dmaIdle) : clock;
    int64_t cycles = command.cycles;
    if (command.engine == Engine::Loop)
      cycles = command.trips * replay(command.body, 0);
    end[c] = start + cycles;
    last = std::max(last, end[c]);
    if (isTransfer)
      dmaIdle = end[c];
    if (schedule.start[c] != start || schedule.end[c] != end[c])
      fault("the command runs from cycle " + llvm::Twine(start) + " to " +
                llvm::Twine(end[c]) + ", found " +
                llvm::Twine(schedule.start[c]) + " to " +
                llvm::Twine(schedule.end[c]),
            index, c);
    if (command.engine == Engine::Loop) {
      finished[c] = true;
      clock = end[c];
    } else {
      running.insert(c);
    }
  }
  for (unsigned c : running)
    fault("nothing waits for the command before its block ends", index, c);
  if (schedule.length != last)
    fault("the block takes " + llvm::Twine(last) + " cycles, found " +
              llvm::Twine(schedule.length),
          index);
  return last;
}

/// The most that a set of users of one resource takes: the earliest start of
/// any of them, their cycles, and the least that follows any of them. `users`
/// are start, cycles, rest. Sets that count have all users from one start on
/// with one rest or more; they grow by falling rest, in a tree by start.
static int64_t getWorstSet(std::vector<std::array<int64_t, 3>> users) {
  llvm::erase_if(users, [](const auto &user) { return user[1] == 0; });
  llvm::sort(users);
  std::vector<size_t> byRest(users.size());
  std::iota(byRest.begin(), byRest.end(), 0);
  llvm::sort(byRest, [&](size_t a, size_t b) {
    return std::tuple(-users[a][2], a) < std::tuple(-users[b][2], b);
  });
  size_t leaves = 1;
  while (leaves < users.size())
    leaves *= 2;
  // Per node the cycles of its users, and the latest end of a set in it.
  std::vector<std::pair<int64_t, int64_t>> tree(2 * leaves, {0, 0});
  int64_t worst = 0;
  for (size_t i : byRest) {
    size_t node = leaves + i;
    tree[node] = {users[i][1], users[i][0] + users[i][1]};
    while (node /= 2) {
      auto [left, right] = std::pair(tree[2 * node], tree[2 * node + 1]);
      tree[node] = {
          left.first + right.first,
          std::max(right.second, left.second ? left.second + right.first : 0)};
    }
    worst = std::max(worst, tree[1].second + users[i][2]);
  }
  return worst;
}

int64_t Checker::computeBound(unsigned index) {
  const std::vector<Command> &commands = problem.blocks[index].commands;
  size_t n = commands.size();
  std::vector<int64_t> cycles(n), earliest(n, 0), rest(n, 0);
  // Per command those that it depends on, or that depend on it, directly or
  // not, with the most that lies between the two.
  using Distances = std::map<unsigned, int64_t>;
  std::vector<Distances> before(n), behind(n);
  bool looksFar = n <= maxCommandsBoundByAncestors;
  auto getWorst = [&](const Distances &others,
                      const std::vector<int64_t> &known) {
    int64_t worst = 0;
    std::vector<std::array<int64_t, 3>> users[numResources];
    for (auto [other, distance] : others) {
      worst = std::max(worst, known[other] + cycles[other] + distance);
      for (unsigned r = 0; looksFar && r < numResources; ++r)
        if (getUsed(commands[other]) & (1u << r))
          users[r].push_back({known[other], cycles[other], distance});
    }
    for (auto &list : users)
      worst = std::max(worst, getWorstSet(std::move(list)));
    return worst;
  };
  for (size_t i = 0; i < n; ++i) {
    cycles[i] = commands[i].cycles;
    if (commands[i].engine == Engine::Loop)
      cycles[i] = commands[i].trips * computeBound(commands[i].body);
    auto note = [&](unsigned other, int64_t distance) {
      int64_t &entry = before[i].try_emplace(other, 0).first->second;
      entry = std::max(entry, distance);
    };
    for (unsigned direct : commands[i].after) {
      note(direct, 0);
      for (auto [other, distance] : before[direct])
        if (looksFar)
          note(other, distance + cycles[direct]);
    }
    earliest[i] = getWorst(before[i], earliest);
    for (auto [other, distance] : before[i])
      behind[other][i] = distance;
  }
  int64_t bound = 0;
  std::vector<std::array<int64_t, 3>> users[numResources];
  for (size_t i = n; i-- > 0;) {
    rest[i] = getWorst(behind[i], rest);
    bound = std::max(bound, earliest[i] + cycles[i] + rest[i]);
    for (unsigned r = 0; r < numResources; ++r)
      if (getUsed(commands[i]) & (1u << r))
        users[r].push_back({earliest[i], cycles[i], rest[i]});
  }
  for (auto &list : users)
    bound = std::max(bound, getWorstSet(std::move(list)));
  return bound;
}

void Checker::collectUses(unsigned index, int64_t offset, int64_t &step,
                          std::map<unsigned, Use> &uses) {
  const Block &block = problem.blocks[index];
  const BlockSchedule &schedule = solution.blocks[index];
  auto join = [&](unsigned buffer, const Use &use) {
    auto [it, isNew] = uses.try_emplace(buffer, use);
    if (isNew)
      return;
    it->second.firstStep = std::min(it->second.firstStep, use.firstStep);
    it->second.lastStep = std::max(it->second.lastStep, use.lastStep);
    it->second.firstCycle = std::min(it->second.firstCycle, use.firstCycle);
    it->second.lastCycle = std::max(it->second.lastCycle, use.lastCycle);
  };
  std::map<unsigned, int64_t> issuedAt;
  for (const Step &entry : schedule.steps) {
    ++step;
    const Command &command = block.commands[entry.command];
    int64_t from = offset + schedule.start[entry.command];
    int64_t to = offset + schedule.end[entry.command];
    if (command.engine == Engine::Loop) {
      int64_t entered = step;
      std::map<unsigned, Use> inside;
      collectUses(command.body, from, step, inside);
      ++step;
      for (auto &[buffer, use] : inside)
        join(buffer, {entered, step, from, to});
      for (unsigned buffer : command.buffers)
        join(buffer, {entered, step, from, to});
    } else if (entry.kind == Step::Issue) {
      issuedAt[entry.command] = step;
    } else if (issuedAt.count(entry.command)) {
      for (unsigned buffer : command.buffers)
        join(buffer, {issuedAt[entry.command], step, from, to});
      // A second wait for the same command proves nothing new.
      issuedAt.erase(entry.command);
    }
  }
  for (auto &[buffer, use] : uses)
    if (index != 0 && problem.buffers[buffer].body == index)
      inFirstTrip[buffer] = use;
}

void Checker::checkMemory(const std::map<unsigned, Use> &uses) {
  for (unsigned b = 0; b < problem.buffers.size(); ++b) {
    const Buffer &buffer = problem.buffers[b];
    const Placement &placement = solution.placements[b];
    int64_t lane = getCapacity(buffer.memory) / buffer.lanes;
    // What bits and rows can say: words in DM, rows of registers elsewhere.
    int64_t unit = buffer.memory == Memory::Dm    ? machine::dmWriteGranule
                   : buffer.memory == Memory::Trf ? machine::macWindowBytes
                                                  : machine::vrfRowBytes;
    if (placement.address < 0 || placement.address % unit != 0 ||
        placement.address > lane ||
        placement.address + buffer.bytes / buffer.lanes > lane)
      fault("address " + llvm::Twine(placement.address) +
            " is none of the buffer's memory")
          .buffer = b;
    if (buffer.preset && placement.address != *buffer.preset)
      fault("a fixed address has been moved").buffer = b;
    auto it = uses.find(b);
    int64_t from = it == uses.end() ? 0 : it->second.firstCycle;
    int64_t to = it == uses.end() ? 0 : it->second.lastCycle;
    if (placement.begin != from || placement.end != to)
      fault("the buffer lives from cycle " + llvm::Twine(from) + " to " +
            llvm::Twine(to) + ", found " + llvm::Twine(placement.begin) +
            " to " + llvm::Twine(placement.end))
          .buffer = b;
  }

  // By the step that their lives begin at; those that have ended drop out.
  std::vector<std::pair<unsigned, Use>> byBegin(uses.begin(), uses.end());
  llvm::sort(byBegin, [](const auto &a, const auto &b) {
    return std::tie(a.second.firstStep, a.first) <
           std::tie(b.second.firstStep, b.first);
  });
  std::vector<const std::pair<unsigned, Use> *> living;
  for (const auto &entry : byBegin) {
    const auto *b = &entry;
    llvm::erase_if(living, [&](const auto *a) {
      return a->second.lastStep < b->second.firstStep;
    });
    for (const auto *a : living) {
      const Buffer &x = problem.buffers[a->first];
      const Buffer &y = problem.buffers[b->first];
      if (x.memory != y.memory)
        continue;
      // Ranges of the file of one slice, lane by lane.
      auto covers = [&](const Buffer &buffer, unsigned index, int64_t byte) {
        int64_t lane = getCapacity(buffer.memory) / buffer.lanes;
        int64_t within = byte % lane - solution.placements[index].address;
        return within >= 0 && within < buffer.bytes / buffer.lanes;
      };
      // Two unions of ranges meet where a range of one begins in the other.
      auto beginsIn = [&](const Buffer &u, unsigned i, const Buffer &v,
                          unsigned j) {
        int64_t lane = getCapacity(u.memory) / u.lanes;
        for (int64_t l = 0; l < u.lanes; ++l)
          if (covers(v, j, l * lane + solution.placements[i].address))
            return true;
        return false;
      };
      if (beginsIn(x, a->first, y, b->first) ||
          beginsIn(y, b->first, x, a->first)) {
        Fault &added = fault("two buffers share addresses while both live");
        added.buffer = a->first;
        added.otherBuffer = b->first;
      }
    }
    living.push_back(b);
  }
}

std::vector<Fault> Checker::run() {
  if (!checkShape())
    return faults;
  bool isEmpty = problem.blocks[0].commands.empty();
  int64_t end = replay(0, machine::firstDMACycle);
  int64_t makespan = end + machine::endSyncCycles;
  if (solution.makespan != makespan)
    fault("the makespan is " + llvm::Twine(makespan) + ", found " +
          llvm::Twine(solution.makespan));
  int64_t bound = machine::endSyncCycles;
  if (!isEmpty)
    bound += machine::firstDMACycle + computeBound(0);
  if (solution.lowerBound != bound)
    fault("the lower bound is " + llvm::Twine(bound) + ", found " +
          llvm::Twine(solution.lowerBound));
  if (solution.makespan < bound)
    fault("makespan " + llvm::Twine(solution.makespan) +
          " lies below the lower bound " + llvm::Twine(bound));
  std::map<unsigned, Use> uses;
  int64_t step = 0;
  collectUses(0, 0, step, uses);
  // What one trip leaves in them, nobody reads: they may say so. What says
  // neither is held against what is closer.
  for (auto &[buffer, use] : inFirstTrip) {
    const Placement &placement = solution.placements[buffer];
    // Cycles that a file may say are any number.
    auto getDistance = [&](const Use &other) {
      return std::abs(double(placement.begin) - double(other.firstCycle)) +
             std::abs(double(placement.end) - double(other.lastCycle));
    };
    Use &whole = uses[buffer];
    if (getDistance(use) <= getDistance(whole))
      whole = use;
  }
  checkMemory(uses);
  return faults;
}

std::vector<Fault> scheduling::check(const Problem &problem,
                                     const Solution &solution) {
  return Checker(problem, solution).run();
}
