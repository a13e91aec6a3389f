//===- Allocator.cpp - Addresses of buffers -------------------------------===//
//
// A buffer lives from the issue of the first command that touches it to the
// wait for the last one: only what a wait has proved done may be overwritten.
// First fit by address.
//
//===----------------------------------------------------------------------===//

#include "Allocator.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
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
  Allocator(const Problem &problem, Solution &solution, Failure &failure)
      : problem(problem), solution(solution), failure(failure),
        lives(problem.buffers.size()) {}
  bool run();

private:
  void findLives(unsigned block, int64_t &position, int64_t base,
                 std::vector<unsigned> &touched);
  bool meet(unsigned a, unsigned b) const {
    return lives[a].isUsed && lives[b].isUsed &&
           problem.buffers[a].memory == problem.buffers[b].memory &&
           lives[a].first <= lives[b].last && lives[b].first <= lives[a].last;
  }
  bool overlap(unsigned a, int64_t atA, unsigned b, int64_t atB) const;
  std::optional<int64_t> findPlace(unsigned buffer) const;
  bool place(llvm::ArrayRef<unsigned> order);

  const Problem &problem;
  Solution &solution;
  Failure &failure;
  std::vector<Life> lives;
  std::vector<int64_t> address;
};

} // namespace

/// Numbers the steps of a block and stretches the lives of what they touch.
/// Buffers that a loop touches live through all of it. Nesting is as deep as
/// loops are.
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

/// Whether two buffers share a byte. In TRF a buffer takes a range in each of
/// its lanes, whose size depends on how many there are.
bool Allocator::overlap(unsigned a, int64_t atA, unsigned b,
                        int64_t atB) const {
  const Buffer &first = problem.buffers[a], &second = problem.buffers[b];
  int64_t capacity = getCapacity(first.memory);
  int64_t spanA = capacity / first.lanes, spanB = capacity / second.lanes;
  int64_t sizeA = first.bytes / first.lanes,
          sizeB = second.bytes / second.lanes;
  for (int64_t i = 0; i < first.lanes; ++i)
    for (int64_t j = 0; j < second.lanes; ++j) {
      int64_t beginA = i * spanA + atA, beginB = j * spanB + atB;
      if (beginA < beginB + sizeB && beginB < beginA + sizeA)
        return true;
    }
  return false;
}

std::optional<int64_t> Allocator::findPlace(unsigned index) const {
  const Buffer &buffer = problem.buffers[index];
  int64_t span = getCapacity(buffer.memory) / buffer.lanes;
  int64_t align = getAlignment(buffer.memory);
  int64_t size = buffer.bytes / buffer.lanes + buffer.slack;
  // The lowest place is 0 or touches the end of a neighbour in some lane.
  std::vector<int64_t> candidates = {0};
  std::vector<unsigned> neighbours;
  for (unsigned other = 0; other < problem.buffers.size(); ++other) {
    if (address[other] < 0 || other == index || !meet(index, other))
      continue;
    neighbours.push_back(other);
    const Buffer &neighbour = problem.buffers[other];
    int64_t otherSpan = getCapacity(neighbour.memory) / neighbour.lanes;
    for (int64_t lane = 0; lane < neighbour.lanes; ++lane) {
      int64_t end =
          lane * otherSpan + address[other] + neighbour.bytes / neighbour.lanes;
      candidates.push_back(llvm::alignTo(end % span, align));
    }
  }
  llvm::sort(candidates);
  candidates.erase(std::unique(candidates.begin(), candidates.end()),
                   candidates.end());
  for (int64_t candidate : candidates) {
    if (candidate + size > span)
      return std::nullopt;
    if (llvm::none_of(neighbours, [&](unsigned other) {
          return overlap(index, candidate, other, address[other]);
        }))
      return candidate;
  }
  return std::nullopt;
}

bool Allocator::place(llvm::ArrayRef<unsigned> order) {
  address.assign(problem.buffers.size(), -1);
  for (unsigned i = 0; i < problem.buffers.size(); ++i) {
    const Buffer &buffer = problem.buffers[i];
    if (!buffer.preset)
      continue;
    if (*buffer.preset < 0 ||
        *buffer.preset > getCapacity(buffer.memory) / buffer.lanes -
                             buffer.bytes / buffer.lanes) {
      failure.kind = Failure::Malformed;
      failure.message = "a fixed address lies outside its memory";
      failure.buffers = {i};
      return false;
    }
    for (unsigned j = 0; j < i; ++j)
      if (address[j] >= 0 && meet(i, j) &&
          overlap(i, *buffer.preset, j, address[j])) {
        failure.kind = Failure::PresetConflict;
        failure.message = "two fixed addresses overlap while both buffers live";
        failure.memory = buffer.memory;
        failure.buffers = {j, i};
        failure.addresses = {address[j], *buffer.preset};
        return false;
      }
    address[i] = *buffer.preset;
  }
  for (unsigned i : order) {
    if (problem.buffers[i].preset)
      continue;
    if (std::optional<int64_t> found = findPlace(i)) {
      address[i] = *found;
      continue;
    }
    failure.kind = Failure::OutOfMemory;
    failure.message = "buffers do not fit";
    failure.memory = problem.buffers[i].memory;
    failure.buffers.clear();
    failure.addresses.clear();
    for (unsigned other = 0; other < problem.buffers.size(); ++other)
      if (address[other] >= 0 && meet(i, other))
        failure.buffers.push_back(other);
    llvm::sort(failure.buffers, [&](unsigned a, unsigned b) {
      return std::tuple(address[a], a) < std::tuple(address[b], b);
    });
    for (unsigned other : failure.buffers)
      failure.addresses.push_back(address[other]);
    failure.buffers.push_back(i);
    failure.addresses.push_back(-1);
    return false;
  }
  return true;
}

bool Allocator::run() {
  int64_t position = 0;
  std::vector<unsigned> touched;
  findLives(0, position, 0, touched);

  std::vector<unsigned> byLife(problem.buffers.size());
  std::iota(byLife.begin(), byLife.end(), 0u);
  std::vector<unsigned> bySize = byLife;
  llvm::sort(byLife, [&](unsigned a, unsigned b) {
    return std::tuple(lives[a].first, a) < std::tuple(lives[b].first, b);
  });
  llvm::sort(bySize, [&](unsigned a, unsigned b) {
    return std::tuple(-problem.buffers[a].bytes, a) <
           std::tuple(-problem.buffers[b].bytes, b);
  });
  if (!place(byLife) &&
      (failure.kind != Failure::OutOfMemory || !place(bySize)))
    return false;
  solution.placements.resize(problem.buffers.size());
  for (unsigned i = 0; i < problem.buffers.size(); ++i)
    solution.placements[i] = {address[i], lives[i].begin, lives[i].end};
  return true;
}

bool scheduling::allocate(const Problem &problem, Solution &solution,
                          Failure &failure) {
  return Allocator(problem, solution, failure).run();
}
