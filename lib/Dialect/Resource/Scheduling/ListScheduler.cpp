//===- ListScheduler.cpp - Orders by list scheduling ----------------------===//

#include "Orders.h"

#include <queue>

using namespace furiosa;
using namespace furiosa::scheduling;

namespace {

/// Issues the command that starts first, among equals the one of the highest
/// priority. Commands that use the same are compared in heaps, so that a step
/// costs little more than the number of those kinds.
class ListScheduler {
public:
  ListScheduler(const Work &work, llvm::ArrayRef<int64_t> priority,
                ListOptions options)
      : work(work), priority(priority), options(options), clock(work.begin) {}
  TimedOrder run();

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

TimedOrder ListScheduler::run() {
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
  return {std::move(order), clock.getEnd()};
}

TimedOrder scheduling::scheduleByList(const Work &work,
                                      llvm::ArrayRef<int64_t> priority,
                                      ListOptions options) {
  return ListScheduler(work, priority, options).run();
}
