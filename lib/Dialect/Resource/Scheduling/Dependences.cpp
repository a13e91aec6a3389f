//===- Dependences.cpp - Which commands wait for which --------------------===//
//
// Footprints are compared loop by loop, not byte by byte; what is in force of a
// space is found by the hulls of its footprints.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/Resource/Scheduling/Dependences.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <tuple>

using namespace furiosa;
using namespace furiosa::scheduling;

//===----------------------------------------------------------------------===//
// Footprints
//===----------------------------------------------------------------------===//

void scheduling::coalesce(llvm::SmallVectorImpl<Footprint> &footprints) {
  auto inner = [](const Footprint &f) {
    return llvm::ArrayRef(f.loops).drop_front(f.loops.empty() ? 0 : 1);
  };
  // The order among those that begin at one byte shows in nothing but what is
  // joined.
  std::sort(footprints.begin(), footprints.end(),
            [](const Footprint &a, const Footprint &b) {
              return std::tuple(a.base, a.bytes, a.loops.size()) <
                     std::tuple(b.base, b.bytes, b.loops.size());
            });
  llvm::SmallVector<Footprint, 4> joined;
  for (const Footprint &next : footprints) {
    Footprint *last = joined.empty() ? nullptr : &joined.back();
    if (last && last->bytes == next.bytes && !last->loops.empty() &&
        !next.loops.empty() && inner(*last) == inner(next) &&
        last->loops[0].stride == next.loops[0].stride &&
        next.base - last->base == last->loops[0].count * last->loops[0].stride)
      last->loops[0].count += next.loops[0].count;
    else if (last && last->loops.empty() && next.loops.empty() &&
             next.base <= last->base + last->bytes)
      last->bytes = std::max(last->base + last->bytes, next.base + next.bytes) -
                    last->base;
    else
      joined.push_back(next);
  }
  footprints.assign(joined.begin(), joined.end());
}

bool scheduling::overlap(const Access &a, const Access &b,
                         llvm::ArrayRef<int64_t> trips) {
  if (a.space != b.space)
    return false;
  // In one iteration of a loop around, the two are apart by the difference of
  // what it moves them by: a loop of one of them.
  llvm::SmallVector<Stride, 2> ahead, behind;
  for (size_t i = 0; i < trips.size(); ++i) {
    int64_t difference = (i < a.advance.size() ? a.advance[i] : 0) -
                         (i < b.advance.size() ? b.advance[i] : 0);
    if (difference > 0)
      ahead.push_back({trips[i], difference});
    else if (difference < 0)
      behind.push_back({trips[i], -difference});
  }
  auto widen = [](const Footprint &f, llvm::ArrayRef<Stride> outer) {
    Footprint wide = f;
    llvm::append_range(wide.loops, outer);
    return wide.normalize() ? std::optional(wide) : std::nullopt;
  };
  int budget = 1 << 13;
  for (const Footprint &x : a.footprints) {
    std::optional<Footprint> wideX = widen(x, ahead);
    if (!wideX)
      return true;
    for (const Footprint &y : b.footprints) {
      std::optional<Footprint> wideY = widen(y, behind);
      if (!wideY || meet(*wideX, *wideY, budget))
        return true;
    }
  }
  return false;
}

/// Whether `a` has the bytes of `b`, which stands `delta` bytes behind it.
static bool contains(llvm::ArrayRef<Stride> a, int64_t bytesA,
                     llvm::ArrayRef<Stride> b, int64_t bytesB, int64_t delta,
                     int &budget) {
  if (--budget <= 0)
    return false;
  if (a.empty())
    return delta >= 0 && delta + getExtent(b, bytesB) <= bytesA;
  int64_t stride = a[0].stride;
  if (!b.empty() && b[0].stride > stride) {
    for (int64_t i = 0; i < b[0].count; ++i)
      if (!contains(a, bytesA, b.drop_front(), bytesB, delta + i * b[0].stride,
                    budget))
        return false;
    return true;
  }
  bool inStep = !b.empty() && b[0].stride == stride;
  int64_t first = llvm::divideFloorSigned(delta, stride);
  int64_t steps = inStep ? b[0].count : 1;
  return first >= 0 && first + steps <= a[0].count &&
         contains(a.drop_front(), bytesA, b.drop_front(inStep), bytesB,
                  delta - first * stride, budget);
}

bool scheduling::covers(const Access &a, const Access &b) {
  if (a.space != b.space || a.advance != b.advance)
    return false;
  int budget = 1 << 10;
  return llvm::all_of(b.footprints, [&](const Footprint &y) {
    return llvm::any_of(a.footprints, [&](const Footprint &x) {
      return contains(x.loops, x.bytes, y.loops, y.bytes, y.base - x.base,
                      budget);
    });
  });
}

bool scheduling::areWrittenFirst(unsigned space,
                                 llvm::ArrayRef<Accesses> commands,
                                 llvm::ArrayRef<unsigned> users) {
  Access written;
  written.space = space;
  for (unsigned user : users) {
    for (const Access &access : commands[user])
      if (access.space == space && !access.isWrite && !covers(written, access))
        return false;
    for (const Access &access : commands[user])
      if (access.space == space && access.isWrite && access.isCertain)
        llvm::append_range(written.footprints, access.footprints);
    coalesce(written.footprints);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Dependences
//===----------------------------------------------------------------------===//

namespace {

/// The accesses of one kind to one space that later commands may still have to
/// wait for. All that will ever be in force is known beforehand and sorted by
/// where its hull begins; a tree over it knows how far those in force reach.
class InForce {
public:
  void announce(const Access *access, unsigned command, int64_t begin,
                int64_t end) {
    items.push_back({begin, end, command, access});
  }
  /// Nothing is announced any more.
  void freeze() {
    llvm::sort(items, [](const Item &a, const Item &b) {
      return std::tie(a.begin, a.command, a.access) <
             std::tie(b.begin, b.command, b.access);
    });
    leaves = llvm::PowerOf2Ceil(std::max<size_t>(items.size(), 1));
    reach.assign(2 * leaves, -1);
    for (auto [i, item] : llvm::enumerate(items))
      position[item.access] = i;
  }
  void enter(const Access *access) {
    size_t at = position.find(access)->second;
    set(at, items[at].end);
  }
  /// Calls `visit` with each command and access in force whose hull meets the
  /// given one; what it returns true for is no longer in force.
  template <typename Visitor>
  void forEach(int64_t begin, int64_t end, Visitor visit) {
    size_t stop =
        llvm::partition_point(
            items, [&](const Item &item) { return item.begin < end; }) -
        items.begin();
    for (size_t at = next(0, stop, begin); at < stop;
         at = next(at + 1, stop, begin))
      if (visit(items[at].command, *items[at].access))
        set(at, -1);
  }

private:
  struct Item {
    int64_t begin, end;
    unsigned command;
    const Access *access;
  };
  void set(size_t at, int64_t end) {
    at += leaves;
    reach[at] = end;
    while (at /= 2)
      reach[at] = std::max(reach[2 * at], reach[2 * at + 1]);
  }
  /// The first from `at` on, before `stop`, that reaches beyond `begin`.
  size_t next(size_t at, size_t stop, int64_t begin) const {
    if (at >= stop)
      return stop;
    size_t node = at + leaves;
    while (reach[node] <= begin) {
      // Up while this is a right child, then to the right.
      while (node & 1)
        if ((node /= 2) <= 1)
          return stop;
      ++node;
    }
    while (node < leaves)
      node = reach[2 * node] > begin ? 2 * node : 2 * node + 1;
    return std::min(node - leaves, stop);
  }

  std::vector<Item> items;
  llvm::DenseMap<const Access *, size_t> position;
  size_t leaves = 1;
  std::vector<int64_t> reach;
};

struct Space {
  InForce reads, writes;
};

/// Drops from the dependences of a command those that the others imply.
class Reducer {
public:
  void reduce(llvm::SmallVectorImpl<unsigned> &sources);

private:
  std::vector<llvm::SmallVector<unsigned, 4>> edges;
  /// Length of the longest chain of dependences in front of each command.
  std::vector<unsigned> level;
  /// Marks of the last search, by command.
  std::vector<unsigned> visited;
  unsigned epoch = 0;
};

} // namespace

void Reducer::reduce(llvm::SmallVectorImpl<unsigned> &sources) {
  // A path to a source runs through commands of higher levels only. What a long
  // search does not find, stays: it costs nothing but its place.
  unsigned lowest = UINT_MAX, highest = 0;
  for (unsigned source : sources) {
    lowest = std::min(lowest, level[source]);
    highest = std::max(highest, level[source] + 1);
  }
  ++epoch;
  unsigned budget = 1 << 11;
  llvm::SmallVector<unsigned> worklist(sources.begin(), sources.end());
  if (sources.size() < 2)
    worklist.clear();
  while (!worklist.empty()) {
    unsigned node = worklist.pop_back_val();
    if (level[node] <= lowest)
      continue;
    for (unsigned before : edges[node])
      if (visited[before] != epoch && level[before] >= lowest) {
        visited[before] = epoch;
        if (budget == 0)
          continue;
        --budget;
        worklist.push_back(before);
      }
  }
  llvm::erase_if(sources,
                 [&](unsigned source) { return visited[source] == epoch; });
  edges.emplace_back(sources.begin(), sources.end());
  level.push_back(highest);
  visited.push_back(0);
}

std::vector<llvm::SmallVector<unsigned, 4>>
scheduling::getDependences(llvm::ArrayRef<Accesses> commands,
                           llvm::ArrayRef<int64_t> trips) {
  // Hulls over all iterations of the loops around.
  auto getHull = [&](const Access &access) {
    int64_t begin = INT64_MAX, end = 0;
    for (const Footprint &footprint : access.footprints) {
      begin = std::min(begin, footprint.base);
      end = std::max(end, footprint.base + footprint.getExtent());
    }
    for (auto [count, advance] : llvm::zip(trips, access.advance)) {
      int64_t reach;
      int64_t &bound = advance < 0 ? begin : end;
      if (llvm::MulOverflow(count - 1, advance, reach) ||
          llvm::AddOverflow(bound, reach, bound))
        bound = advance < 0 ? INT64_MIN : INT64_MAX;
    }
    return std::pair(begin, end);
  };
  llvm::DenseMap<unsigned, Space> spaces;
  for (auto [i, accesses] : llvm::enumerate(commands))
    for (const Access &access : accesses) {
      auto [begin, end] = getHull(access);
      Space &space = spaces[access.space];
      (access.isWrite ? space.writes : space.reads)
          .announce(&access, i, begin, end);
    }
  // The order of this loop does not matter.
  for (auto &entry : spaces) {
    entry.second.reads.freeze();
    entry.second.writes.freeze();
  }

  Reducer reducer;
  std::vector<llvm::SmallVector<unsigned, 4>> result;
  for (const Accesses &accesses : commands) {
    // First what the command needs, then what it leaves behind: its own
    // accesses do not order it against itself.
    llvm::SmallVector<unsigned, 4> sources;
    for (const Access &access : accesses) {
      auto [begin, end] = getHull(access);
      auto visit = [&](unsigned before, const Access &other) {
        if (!overlap(access, other, trips))
          return false;
        sources.push_back(before);
        // Whoever conflicts with what is overwritten conflicts with this, too.
        return access.isWrite && covers(access, other);
      };
      Space &space = spaces.find(access.space)->second;
      space.writes.forEach(begin, end, visit);
      if (access.isWrite)
        space.reads.forEach(begin, end, visit);
    }
    for (const Access &access : accesses) {
      Space &space = spaces.find(access.space)->second;
      (access.isWrite ? space.writes : space.reads).enter(&access);
    }
    llvm::sort(sources);
    sources.erase(llvm::unique(sources), sources.end());
    reducer.reduce(sources);
    result.push_back(sources);
  }
  return result;
}
