//===- ExactSearch.cpp - The best of all orders ---------------------------===//

#include "Orders.h"

#include <unordered_map>

using namespace furiosa;
using namespace furiosa::scheduling;

namespace {

/// Branch and bound over all orders of a short block.
class ExactSearch {
public:
  ExactSearch(const Work &work, TimedOrder &best, int64_t bound)
      : work(work), best(best), bound(bound), end(work.size(), work.begin) {}
  /// Improves `best`; true if nothing better exists.
  bool run() {
    search(Clock(work.begin), 0);
    return budget > 0;
  }

private:
  void search(const Clock &clock, uint32_t issued);
  /// When those of its dependences that are issued have ended; the ends of
  /// others are left from orders tried before.
  int64_t getReady(unsigned command, uint32_t issued) const {
    int64_t ready = work.begin;
    for (unsigned before : work.block.commands[command].after)
      if (issued >> before & 1)
        ready = std::max(ready, end[before]);
    return ready;
  }
  int64_t getBound(const Clock &clock, uint32_t issued) const;
  /// Whether a state was seen that is nowhere later; notes this one.
  bool isDominated(const Clock &clock, uint32_t issued);

  const Work &work;
  TimedOrder &best;
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
    int64_t from = std::max(clock.getTime(), getReady(i, issued));
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
  if (budget == 0 || best.end <= bound)
    return;
  --budget;
  if (order.size() == work.size()) {
    best = {order, clock.getEnd()};
    return;
  }
  // Those that start first are tried first.
  llvm::SmallVector<std::tuple<int64_t, int64_t, unsigned>, 8> candidates;
  for (unsigned i = 0; i < work.size(); ++i)
    if (!(issued >> i & 1) &&
        llvm::all_of(work.block.commands[i].after,
                     [&](unsigned before) { return issued >> before & 1; }))
      candidates.emplace_back(clock.getStart(work, i, getReady(i, issued)),
                              -work.tail[i], i);
  llvm::sort(candidates);
  for (auto [start, negated, command] : candidates) {
    Clock next = clock;
    end[command] = next.issue(work, command, getReady(command, issued));
    uint32_t now = issued | 1u << command;
    if (getBound(next, now) >= best.end || isDominated(next, now))
      continue;
    order.push_back(command);
    search(next, now);
    order.pop_back();
  }
}

bool scheduling::searchExactly(const Work &work, TimedOrder &best,
                               int64_t bound) {
  return ExactSearch(work, best, bound).run();
}
