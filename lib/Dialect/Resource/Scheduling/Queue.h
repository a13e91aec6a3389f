//===- Queue.h - Issues and waits of one block ------------------*- C++ -*-===//
//
// What the queue of a block does with an order of its commands.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_DIALECT_RESOURCE_SCHEDULING_QUEUE_H
#define FURIOSA_LIB_DIALECT_RESOURCE_SCHEDULING_QUEUE_H

#include "furiosa/Dialect/Resource/Scheduling/Scheduling.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <array>

namespace furiosa::scheduling {

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
  std::array<int64_t, rngd::machine::tdmaSlots> slots;
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

} // namespace furiosa::scheduling

#endif // FURIOSA_LIB_DIALECT_RESOURCE_SCHEDULING_QUEUE_H
