//===- Queue.cpp - Issues and waits of one block --------------------------===//

#include "Queue.h"

#include "llvm/ADT/SmallBitVector.h"

#include <utility>

using namespace furiosa;
using namespace furiosa::scheduling;
namespace machine = furiosa::rngd::machine;

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
  auto isNeeded = [&](unsigned other) {
    return llvm::is_contained(command.after, other);
  };
  // Any transfer that it waits for leaves a slot; if it waits for none, the
  // oldest does.
  bool full = isTransfer && transfers >= machine::tdmaSlots &&
              llvm::none_of(underWay, [&](unsigned other) {
                return work.isTransfer(other) && isNeeded(other);
              });
  llvm::SmallVector<unsigned, 8> waits;
  for (unsigned other : underWay) {
    bool both = isTransfer && work.isTransfer(other);
    if ((!both && (work.resources[index] & work.resources[other])) ||
        (both && std::exchange(full, false)) || isNeeded(other))
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
