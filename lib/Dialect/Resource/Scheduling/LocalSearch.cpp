//===- LocalSearch.cpp - Orders made better command by command ------------===//
//
// Threshold accepting: one command moves to another place, with what it depends
// on or what depends on it if those stand in between. What is not much worse
// stays, less and less so. Integers alone, so that results are the same
// everywhere.
//
//===----------------------------------------------------------------------===//

#include "Orders.h"
#include "Shaker.h"

#include "llvm/ADT/bit.h"

using namespace furiosa;
using namespace furiosa::scheduling;

namespace {

class LocalSearch {
public:
  LocalSearch(const Work &work, TimedOrder &best, int64_t bound)
      : work(work), best(best), bound(bound), order(best.order),
        end(order.size()), clocks(order.size() + 1, Clock(work.begin)) {
    follow(0);
  }
  /// Issues about `effort` commands in all.
  void run(Shaker &shaker, int64_t effort);

private:
  void issue(Clock &clock, unsigned command, std::vector<int64_t> &ends) const {
    int64_t ready = work.begin;
    for (unsigned before : work.block.commands[command].after)
      ready = std::max(ready, ends[before]);
    ends[command] = clock.issue(work, command, ready);
  }
  /// Puts into `moved` what stands between the two places once the command at
  /// `from` has gone to `to`, and whatever must go along.
  void move(size_t from, size_t to);
  /// Whether the order with `moved` at `first` ends by `limit`.
  bool endsBy(size_t first, int64_t limit);
  /// Issues all from `first` on.
  void follow(size_t first);

  const Work &work;
  TimedOrder &best;
  int64_t bound;
  Order order, moved;
  /// Of a move, the commands that go along and those that make room.
  Order along, others;
  /// Per command, when it ends; the same for an order that is looked at.
  std::vector<int64_t> end, trial;
  /// In front of each place of the order, and behind the last.
  std::vector<Clock> clocks;
};

} // namespace

void LocalSearch::move(size_t from, size_t to) {
  // What lies on the way goes along if it depends on what goes or, backwards,
  // if that depends on it.
  along.assign({order[from]});
  others.clear();
  bool isForward = to > from;
  for (size_t i = from; i != to;) {
    i += isForward ? 1 : -1;
    unsigned command = order[i];
    bool goes = llvm::any_of(along, [&](unsigned other) {
      return llvm::is_contained(
          work.block.commands[isForward ? command : other].after,
          isForward ? other : command);
    });
    (goes ? along : others).push_back(command);
  }
  moved.clear();
  if (isForward) {
    llvm::append_range(moved, others);
    llvm::append_range(moved, along);
  } else {
    moved.insert(moved.end(), along.rbegin(), along.rend());
    moved.insert(moved.end(), others.rbegin(), others.rend());
  }
}

bool LocalSearch::endsBy(size_t first, int64_t limit) {
  trial = end;
  Clock clock = clocks[first];
  for (size_t i = first; i < order.size(); ++i) {
    unsigned command = i - first < moved.size() ? moved[i - first] : order[i];
    issue(clock, command, trial);
    if (trial[command] - work.cycles[command] + work.tail[command] > limit)
      return false;
  }
  return true;
}

void LocalSearch::follow(size_t first) {
  for (size_t i = first; i < order.size(); ++i) {
    clocks[i + 1] = clocks[i];
    issue(clocks[i + 1], order[i], end);
  }
}

void LocalSearch::run(Shaker &shaker, int64_t effort) {
  size_t n = order.size();
  // Moves that make it worse by a hundredth are taken half of the time at
  // first, at the end none is.
  int64_t heat = std::max<int64_t>(1, (best.end - work.begin) / 100);
  for (int64_t left = effort; left > 0 && best.end > bound;) {
    size_t from = shaker.below(n), to = shaker.below(n);
    --left;
    if (to == from)
      continue;
    int64_t now = clocks.back().getEnd();
    int64_t allowed = heat * left / effort *
                      llvm::countr_zero(shaker.below(1 << 16) | 1 << 16);
    size_t first = std::min(from, to);
    left -= n - first;
    move(from, to);
    if (!endsBy(first, now + allowed))
      continue;
    llvm::copy(moved, order.begin() + first);
    follow(first);
    if (clocks.back().getEnd() < best.end)
      best = {order, clocks.back().getEnd()};
  }
}

void scheduling::searchLocally(const Work &work, TimedOrder &best,
                               int64_t bound, int64_t effort) {
  if (best.order.size() < 2)
    return;
  Shaker shaker;
  LocalSearch(work, best, bound).run(shaker, effort);
}
