//===- Allocator.cpp - Addresses of buffers -------------------------------===//
//
// A buffer lives from the issue of the first command that touches it to the
// wait for the last one: only what a wait has proved done may be overwritten.
// It lives through all trips of a loop that touches it, unless each iteration
// writes it anew and there is no room otherwise.
// Buffers are placed one after the other at the lowest address that fits;
// orders are tried until all find a place: by life, by size, by area, with what
// did not fit moved to the front, all orders if there are few, and last of all
// by a search. What an order finds depends on lives and sizes alone, not on how
// buffers are numbered.
//
//===----------------------------------------------------------------------===//

#include "Allocator.h"
#include "Packing.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <array>
#include <numeric>

using namespace furiosa;
using namespace furiosa::scheduling;
namespace machine = furiosa::rngd::machine;

int64_t scheduling::getCapacity(Memory memory) {
  switch (memory) {
  case Memory::Dm:
    return machine::dmSliceBytes;
  case Memory::Trf:
    return machine::trfSliceBytes;
  case Memory::Vrf:
    return machine::vrfSliceBytes;
  case Memory::Hbm:
    return machine::hbmBytes;
  }
  return 0;
}

int64_t scheduling::getAlignment(Memory memory) {
  switch (memory) {
  case Memory::Dm:
    // A flit, so that a row of flits starts in the first word of a bank turn.
    return machine::flitBytes;
  case Memory::Trf:
    return machine::macWindowBytes;
  case Memory::Vrf:
    return machine::vrfRowBytes;
  case Memory::Hbm:
    return machine::hbmBufferAlignment;
  }
  return 1;
}

namespace {

/// Life of a buffer in positions of the whole queue, loops unfolded once, and
/// in cycles.
struct Life {
  bool isUsed = false;
  int64_t first = 0, last = 0;
  int64_t begin = 0, end = 0;

  void extend(int64_t newFirst, int64_t newLast, int64_t newBegin,
              int64_t newEnd) {
    first = isUsed ? std::min(first, newFirst) : newFirst;
    last = isUsed ? std::max(last, newLast) : newLast;
    begin = isUsed ? std::min(begin, newBegin) : newBegin;
    end = isUsed ? std::max(end, newEnd) : newEnd;
    isUsed = true;
  }
};

class Allocator {
public:
  Allocator(const Problem &problem, Solution &solution, Failure &failure,
            bool reusesInTrips)
      : problem(problem), solution(solution), failure(failure),
        lives(problem.buffers.size()), neighbours(problem.buffers.size()),
        address(problem.buffers.size(), -1) {
    if (reusesInTrips)
      parents = getParents(problem);
  }
  /// Does not say what fills the memory unless `explains`.
  bool run(bool explains);

private:
  using Order = std::vector<unsigned>;

  void findLives(unsigned block, int64_t &position, int64_t base,
                 std::vector<unsigned> &touched);
  /// The most bytes of each memory that live at a time.
  std::array<int64_t, numMemories> getPeaks() const;
  void findNeighbours();
  bool placePresets();
  bool allocate(Memory memory, bool searches);
  /// Places all of `order` or says which one has no place.
  std::optional<unsigned> place(llvm::ArrayRef<unsigned> order,
                                bool prefersHalves);
  /// Places all buffers of a memory by a search, if nothing in it is fixed.
  bool pack(llvm::ArrayRef<unsigned> buffers);
  /// All orders of what is left.
  bool search(Order &left, unsigned &budget);
  std::optional<int64_t> findPlace(unsigned buffer, bool prefersHalves) const;
  void reportOutOfMemory(unsigned buffer);

  int64_t getSpan(unsigned buffer) const {
    return getCapacity(problem.buffers[buffer].memory) /
           problem.buffers[buffer].lanes;
  }
  int64_t getSize(unsigned buffer) const {
    return problem.buffers[buffer].bytes / problem.buffers[buffer].lanes;
  }
  /// The ranges that placed neighbours take in the lanes of `buffer`, all laid
  /// on top of each other, sorted and apart.
  std::vector<std::pair<int64_t, int64_t>> getTaken(unsigned buffer) const;

  /// Whether a buffer need not live from one trip of a loop to the next.
  bool isOfTrip(unsigned buffer, const Command &loop) const {
    unsigned body = problem.buffers[buffer].body;
    return !parents.empty() && body != 0 && isWithin(body, loop.body, parents);
  }

  const Problem &problem;
  Solution &solution;
  Failure &failure;
  /// Of blocks; empty if buffers live through all trips.
  std::vector<unsigned> parents;
  std::vector<Life> lives;
  /// Buffers of the same memory that live at the same time.
  std::vector<llvm::SmallVector<unsigned, 8>> neighbours;
  std::vector<int64_t> address;
};

} // namespace

/// Numbers the steps of a block and stretches the lives of what they touch.
/// Buffers that a loop touches live through all of it, unless they are of a
/// trip. Nesting is as deep as loops are.
void Allocator::findLives(unsigned index, int64_t &position, int64_t base,
                          std::vector<unsigned> &touched) {
  const Block &block = problem.blocks[index];
  const BlockSchedule &schedule = solution.blocks[index];
  std::vector<int64_t> issued(block.commands.size());
  for (const Step &step : schedule.steps) {
    const Command &command = block.commands[step.command];
    int64_t begin = base + schedule.start[step.command];
    int64_t end = base + schedule.end[step.command];
    int64_t here = position++;
    if (command.engine == Engine::Loop) {
      std::vector<unsigned> inside(command.buffers.begin(),
                                   command.buffers.end());
      findLives(command.body, position, begin, inside);
      llvm::erase_if(inside, [&](unsigned buffer) {
        return isOfTrip(buffer, command);
      });
      for (unsigned buffer : inside)
        lives[buffer].extend(here, position, begin, end);
      ++position;
      touched.insert(touched.end(), inside.begin(), inside.end());
      continue;
    }
    if (step.kind == Step::Issue) {
      issued[step.command] = here;
      continue;
    }
    for (unsigned buffer : command.buffers) {
      lives[buffer].extend(issued[step.command], here, begin, end);
      touched.push_back(buffer);
    }
  }
  llvm::sort(touched);
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
}

std::array<int64_t, numMemories> Allocator::getPeaks() const {
  // Births and, behind those at the same position, deaths.
  std::vector<std::tuple<int64_t, bool, unsigned>> events;
  for (unsigned i = 0; i < problem.buffers.size(); ++i)
    if (lives[i].isUsed) {
      events.emplace_back(lives[i].first, false, i);
      events.emplace_back(lives[i].last, true, i);
    }
  llvm::sort(events);
  std::array<int64_t, numMemories> live = {}, peaks = {};
  for (auto [position, isDeath, buffer] : events) {
    unsigned memory = unsigned(problem.buffers[buffer].memory);
    int64_t bytes = problem.buffers[buffer].bytes;
    live[memory] += isDeath ? -bytes : bytes;
    peaks[memory] = std::max(peaks[memory], live[memory]);
  }
  return peaks;
}

void Allocator::findNeighbours() {
  std::vector<unsigned> byFirst;
  for (unsigned i = 0; i < problem.buffers.size(); ++i)
    if (lives[i].isUsed)
      byFirst.push_back(i);
  llvm::sort(byFirst, [&](unsigned a, unsigned b) {
    return std::tuple(lives[a].first, a) < std::tuple(lives[b].first, b);
  });
  std::vector<unsigned> living;
  for (unsigned next : byFirst) {
    llvm::erase_if(living, [&](unsigned other) {
      return lives[other].last < lives[next].first;
    });
    for (unsigned other : living)
      if (problem.buffers[other].memory == problem.buffers[next].memory) {
        neighbours[other].push_back(next);
        neighbours[next].push_back(other);
      }
    living.push_back(next);
  }
}

std::vector<std::pair<int64_t, int64_t>>
Allocator::getTaken(unsigned index) const {
  // In TRF a buffer takes a range in each of its lanes, whose size depends on
  // how many there are.
  std::vector<std::pair<int64_t, int64_t>> taken;
  int64_t span = getSpan(index);
  for (unsigned other : neighbours[index]) {
    if (address[other] < 0)
      continue;
    for (int64_t lane = 0; lane < problem.buffers[other].lanes; ++lane) {
      // A range in wide lanes may reach over several narrow ones.
      int64_t begin = lane * getSpan(other) + address[other];
      int64_t end = begin + getSize(other);
      while (begin < end) {
        int64_t base = begin / span * span;
        int64_t stop = std::min(end, base + span);
        taken.emplace_back(begin - base, stop - base);
        begin = stop;
      }
    }
  }
  llvm::sort(taken);
  std::vector<std::pair<int64_t, int64_t>> joined;
  for (auto range : taken)
    if (!joined.empty() && range.first <= joined.back().second)
      joined.back().second = std::max(joined.back().second, range.second);
    else
      joined.push_back(range);
  return joined;
}

std::optional<int64_t> Allocator::findPlace(unsigned index,
                                            bool prefersHalves) const {
  const Buffer &buffer = problem.buffers[index];
  int64_t span = getSpan(index), size = getSize(index);
  int64_t align = getAlignment(buffer.memory);
  std::vector<std::pair<int64_t, int64_t>> taken = getTaken(index);
  auto findFrom = [&](int64_t from) -> std::optional<int64_t> {
    for (auto [begin, end] : taken) {
      if (from + size <= begin)
        break;
      if (from < end)
        from = llvm::alignTo(end, align);
    }
    if (from + size > span)
      return std::nullopt;
    return from;
  };
  // While one half of the register file is read, the other one is filled.
  if (prefersHalves && buffer.memory == Memory::Trf && size <= span / 2 &&
      !taken.empty() && taken.front().first < span / 2 &&
      taken.back().second <= span / 2)
    if (std::optional<int64_t> found = findFrom(span / 2))
      return found;
  return findFrom(0);
}

bool Allocator::placePresets() {
  for (unsigned i = 0; i < problem.buffers.size(); ++i) {
    const Buffer &buffer = problem.buffers[i];
    if (!buffer.preset)
      continue;
    if (*buffer.preset < 0 || *buffer.preset > getSpan(i) - getSize(i)) {
      failure.kind = Failure::Malformed;
      failure.message = "a fixed address lies outside its memory";
      failure.buffers = {i};
      return false;
    }
    for (unsigned j : neighbours[i]) {
      if (address[j] < 0)
        continue;
      // Whether the two overlap is asked of this one alone.
      std::vector<int64_t> others(std::move(address));
      address.assign(others.size(), -1);
      address[j] = others[j];
      bool overlaps = llvm::any_of(getTaken(i), [&](auto range) {
        return *buffer.preset < range.second &&
               range.first < *buffer.preset + getSize(i);
      });
      address = std::move(others);
      if (!overlaps)
        continue;
      failure.kind = Failure::PresetConflict;
      failure.message = "two fixed addresses overlap while both buffers live";
      failure.memory = buffer.memory;
      failure.buffers = {j, i};
      failure.addresses = {address[j], *buffer.preset};
      return false;
    }
    address[i] = *buffer.preset;
  }
  return true;
}

std::optional<unsigned> Allocator::place(llvm::ArrayRef<unsigned> order,
                                         bool prefersHalves) {
  for (unsigned i : order)
    address[i] = -1;
  for (unsigned i : order) {
    std::optional<int64_t> found = findPlace(i, prefersHalves);
    if (!found)
      return i;
    address[i] = *found;
  }
  return std::nullopt;
}

bool Allocator::search(Order &left, unsigned &budget) {
  if (left.empty())
    return true;
  // If there is a way to place them, one of them is the lowest in it and may as
  // well lie as low as it can.
  for (size_t i = 0; i < left.size() && budget > 0; ++i) {
    --budget;
    unsigned buffer = left[i];
    std::optional<int64_t> found = findPlace(buffer, false);
    // What has no place now has none beside still more.
    if (!found)
      return false;
    address[buffer] = *found;
    left.erase(left.begin() + i);
    if (search(left, budget))
      return true;
    left.insert(left.begin() + i, buffer);
    address[buffer] = -1;
  }
  return false;
}

bool Allocator::pack(llvm::ArrayRef<unsigned> buffers) {
  // A search of so many is a matter of luck.
  constexpr size_t maxPacked = 256;
  constexpr int64_t effort = 30000000;
  if (buffers.empty() || buffers.size() > maxPacked)
    return false;
  const Buffer &first = problem.buffers[buffers.front()];
  for (const Buffer &buffer : problem.buffers)
    if (buffer.memory == first.memory &&
        (buffer.preset || buffer.lanes != first.lanes))
      return false;
  std::vector<PackedItem> items;
  for (unsigned i : buffers)
    items.push_back({lives[i].first, lives[i].last, getSize(i)});
  auto addresses = scheduling::pack(items, getSpan(buffers.front()),
                                    getAlignment(first.memory), effort);
  if (!addresses)
    return false;
  for (auto [i, found] : llvm::zip(buffers, *addresses))
    address[i] = found;
  return true;
}

bool Allocator::allocate(Memory memory, bool searches) {
  Order byLife;
  for (unsigned i = 0; i < problem.buffers.size(); ++i)
    if (problem.buffers[i].memory == memory && !problem.buffers[i].preset)
      byLife.push_back(i);
  auto sorted = [&](auto key) {
    Order order = byLife;
    // What is alike in all that counts may as well go by its number.
    auto getKey = [&](unsigned i) {
      const Buffer &buffer = problem.buffers[i];
      return std::tuple(key(i), buffer.lanes, i);
    };
    llvm::sort(order,
               [&](unsigned a, unsigned b) { return getKey(a) < getKey(b); });
    return order;
  };
  byLife = sorted([&](unsigned i) {
    return std::tuple(lives[i].first, -getSize(i), lives[i].last);
  });
  auto getDuration = [&](unsigned i) { return lives[i].last - lives[i].first; };
  Order bySize = sorted([&](unsigned i) {
    return std::tuple(-getSize(i), -getDuration(i), lives[i].first);
  });
  Order byArea = sorted([&](unsigned i) {
    return std::tuple(-double(getSize(i)) * double(getDuration(i) + 1),
                      lives[i].first);
  });
  if (!place(byLife, true) || !place(byLife, false))
    return true;
  std::optional<unsigned> failed;
  for (Order *order : {&bySize, &byArea, &byLife}) {
    // Large memories are not worth the time.
    size_t rounds = order->size() > 2000 ? 4 : 32;
    for (size_t round = 0; round < rounds; ++round) {
      failed = place(*order, false);
      if (!failed)
        return true;
      if (order->front() == *failed)
        break;
      llvm::erase(*order, *failed);
      order->insert(order->begin(), *failed);
    }
  }
  // Exact for up to eight that live at a time.
  if (bySize.size() <= 12) {
    for (unsigned i : bySize)
      address[i] = -1;
    unsigned budget = 200000;
    if (search(bySize, budget))
      return true;
  }
  if (searches && pack(byLife))
    return true;
  failed = place(byLife, false);
  if (failed)
    reportOutOfMemory(*failed);
  return !failed;
}

void Allocator::reportOutOfMemory(unsigned buffer) {
  failure.kind = Failure::OutOfMemory;
  failure.message = "buffers do not fit";
  failure.memory = problem.buffers[buffer].memory;
  failure.buffers.clear();
  failure.addresses.clear();
  failure.lives.clear();
  for (unsigned other : neighbours[buffer])
    if (address[other] >= 0)
      failure.buffers.push_back(other);
  llvm::sort(failure.buffers, [&](unsigned a, unsigned b) {
    return std::tuple(address[a], a) < std::tuple(address[b], b);
  });
  failure.buffers.push_back(buffer);
  for (unsigned other : failure.buffers) {
    failure.addresses.push_back(address[other]);
    failure.lives.emplace_back(lives[other].begin, lives[other].end);
  }
  failure.addresses.back() = -1;
  failure.peak = getPeaks()[unsigned(failure.memory)];
  failure.largestFree = failure.largestFreeAt = 0;
  int64_t from = 0;
  auto offer = [&](int64_t end) {
    if (end - from > failure.largestFree) {
      failure.largestFree = end - from;
      failure.largestFreeAt = from;
    }
  };
  for (auto [begin, end] : getTaken(buffer)) {
    offer(begin);
    from = llvm::alignTo(end, getAlignment(failure.memory));
  }
  offer(getSpan(buffer));
}

bool Allocator::run(bool explains) {
  int64_t position = 0;
  std::vector<unsigned> touched;
  findLives(0, position, 0, touched);
  std::array<int64_t, numMemories> peaks = getPeaks();
  for (unsigned m = 0; m < numMemories; ++m)
    if (!explains && peaks[m] > getCapacity(Memory(m))) {
      failure.kind = Failure::OutOfMemory;
      return false;
    }
  findNeighbours();
  if (!placePresets())
    return false;
  for (Memory memory : {Memory::Dm, Memory::Trf, Memory::Vrf, Memory::Hbm})
    if (!allocate(memory, /*searches=*/explains))
      return false;
  solution.placements.resize(problem.buffers.size());
  for (unsigned i = 0; i < problem.buffers.size(); ++i)
    solution.placements[i] = {address[i], lives[i].begin, lives[i].end};
  return true;
}

bool scheduling::allocate(const Problem &problem, Solution &solution,
                          Failure &failure, bool explains, bool reusesInTrips) {
  return Allocator(problem, solution, failure, reusesInTrips).run(explains);
}
