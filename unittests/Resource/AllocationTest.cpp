//===- AllocationTest.cpp - Addresses of buffers --------------------------===//
//
// What fits, where it lies and what is said if it does not; small cases against
// all places.
//
//===----------------------------------------------------------------------===//

#include "Problems.h"

#include <climits>
#include <numeric>

using namespace furiosa::scheduling;

namespace {

// What a wait has proved done makes room for what follows.
TEST(Allocation, MemoryIsUsedAgain) {
  Problem problem;
  problem.blocks.resize(1);
  for (unsigned i = 0; i < 3; ++i) {
    problem.buffers.push_back(buffer(Memory::Dm, 400 << 10));
    problem.blocks[0].commands.push_back(command(Engine::Dma, 1000, {}, {i}));
    problem.blocks[0].commands.push_back(
        command(Engine::Main, 300, {2 * i}, {i}));
  }
  Solution solution = solveOrFail(problem);
  EXPECT_EQ(print(check(problem, solution)), "");
  for (const Placement &placement : solution.placements)
    EXPECT_EQ(placement.address, 0);
}

TEST(Allocation, OutOfMemoryNamesThePeak) {
  Problem problem;
  problem.blocks.resize(1);
  problem.buffers = {buffer(Memory::Dm, 300 << 10),
                     buffer(Memory::Dm, 100 << 10),
                     buffer(Memory::Dm, 200 << 10)};
  problem.blocks[0].commands = {command(Engine::Main, 1, {}, {0, 1, 2})};
  Failure failure;
  EXPECT_FALSE(solve(problem, failure));
  EXPECT_EQ(failure.kind, Failure::OutOfMemory);
  ASSERT_EQ(failure.buffers.size(), 3u);
  EXPECT_EQ(failure.addresses.back(), -1);
}

// A byte of lane l of L lies at l * (65536 / L) + its address.
TEST(Allocation, LanesOfTensorRegisterFile) {
  Problem problem;
  problem.blocks.resize(1);
  problem.buffers = {buffer(Memory::Trf, 32768, 1),
                     buffer(Memory::Trf, 8192, 8),
                     buffer(Memory::Trf, 4096, 2)};
  problem.blocks[0].commands = {command(Engine::Main, 1, {}, {0, 1, 2})};
  Failure failure;
  // One lane takes the lower half of the file, so no other count of lanes fits.
  EXPECT_FALSE(solve(problem, failure));
  problem.buffers[0].bytes = 4096;
  Solution solution = solveOrFail(problem);
  EXPECT_EQ(print(check(problem, solution)), "");
  EXPECT_EQ(solution.placements[0].address, 0);
  EXPECT_EQ(solution.placements[1].address, 4096);
  // Its two lanes lie in the half that the other two leave free.
  EXPECT_EQ(solution.placements[2].address, 16384);
}

TEST(Allocation, FixedAddresses) {
  Problem problem;
  problem.blocks.resize(1);
  problem.buffers = {buffer(Memory::Dm, 64), buffer(Memory::Dm, 64),
                     buffer(Memory::Dm, 64)};
  problem.buffers[1].preset = 32;
  problem.blocks[0].commands = {command(Engine::Main, 1, {}, {0, 1, 2})};
  Solution solution = solveOrFail(problem);
  EXPECT_EQ(print(check(problem, solution)), "");
  EXPECT_EQ(solution.placements[1].address, 32);
  EXPECT_EQ(solution.placements[0].address, 96);
  problem.buffers[2].preset = 64;
  Failure failure;
  EXPECT_FALSE(solve(problem, failure));
  EXPECT_EQ(failure.kind, Failure::PresetConflict);
  EXPECT_EQ(failure.buffers, (std::vector<unsigned>{1, 2}));
}

/// Buffers that commands of a fixed order keep alive: buffer `i` from the first
/// of its two commands to the second.
Problem getLives(Random &random, unsigned buffers, int64_t unit) {
  Problem problem;
  problem.blocks.resize(1);
  problem.blocks[0].keepsOrder = true;
  unsigned size = 2 + random.below(8);
  for (unsigned i = 0; i < size; ++i) {
    Command next = command(Engine::Main, 1);
    if (i)
      next.after = {i - 1};
    problem.blocks[0].commands.push_back(next);
  }
  for (unsigned i = 0; i < buffers; ++i) {
    problem.buffers.push_back(buffer(Memory::Dm, unit * (1 + random.below(4))));
    unsigned first = random.below(size);
    unsigned last = first + random.below(size - first);
    problem.blocks[0].commands[first].buffers.push_back(i);
    if (last != first)
      problem.blocks[0].commands[last].buffers.push_back(i);
  }
  return problem;
}

/// Tries all places in units, buffer by buffer.
bool fitsSlowly(const Problem &problem, int64_t unit,
                std::vector<int64_t> &places) {
  size_t next = places.size();
  if (next == problem.buffers.size())
    return true;
  auto getLife = [&](unsigned b) {
    unsigned first = UINT_MAX, last = 0;
    for (unsigned i = 0; i < problem.blocks[0].commands.size(); ++i)
      if (llvm::is_contained(problem.blocks[0].commands[i].buffers, b)) {
        first = std::min(first, i);
        last = i;
      }
    return std::pair(first, last);
  };
  auto [first, last] = getLife(next);
  int64_t bytes = problem.buffers[next].bytes;
  for (int64_t at = 0; at + bytes <= 524288; at += unit) {
    bool isFree = true;
    for (size_t b = 0; b < next && isFree; ++b) {
      auto [otherFirst, otherLast] = getLife(b);
      isFree = otherLast < first || last < otherFirst ||
               at + bytes <= places[b] ||
               places[b] + problem.buffers[b].bytes <= at;
    }
    if (!isFree)
      continue;
    places.push_back(at);
    if (fitsSlowly(problem, unit, places))
      return true;
    places.pop_back();
  }
  return false;
}

TEST(Allocation, FindsAPlaceWheneverThereIsOne) {
  // Memory for seven units.
  constexpr int64_t unit = 74880;
  unsigned fits = 0, fails = 0;
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Problem problem = getLives(random, 3 + random.below(5), unit);
    std::vector<int64_t> places;
    bool expected = fitsSlowly(problem, unit, places);
    Failure failure;
    std::optional<Solution> solution = solve(problem, failure);
    ASSERT_EQ(bool(solution), expected);
    if (solution) {
      ASSERT_EQ(print(check(problem, *solution)), "");
    }
    ++(expected ? fits : fails);
  }
  EXPECT_GT(fits, 500u);
  EXPECT_GT(fails, 500u);
}

/// The same with other numbers for the buffers: `names[i]` is that of `i`.
Problem renumber(const Problem &problem, llvm::ArrayRef<unsigned> names) {
  Problem renamed = problem;
  for (unsigned i = 0; i < names.size(); ++i)
    renamed.buffers[names[i]] = problem.buffers[i];
  for (Block &block : renamed.blocks)
    for (Command &next : block.commands)
      for (unsigned &b : next.buffers)
        b = names[b];
  return renamed;
}

std::vector<unsigned> shuffle(unsigned count, Random &random) {
  std::vector<unsigned> names(count);
  std::iota(names.begin(), names.end(), 0u);
  for (size_t i = names.size(); i > 1; --i)
    std::swap(names[i - 1], names[random.below(i)]);
  return names;
}

// Which buffer has which number decides neither what fits nor, but for buffers
// that are alike, where it lies.
TEST(Allocation, NumbersDoNotMatter) {
  unsigned solved = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Problem problem = getLives(random, 10 + random.below(20), 20000);
    // Of all memories; no two are alike.
    for (unsigned i = 0; i < problem.buffers.size(); ++i) {
      Buffer &next = problem.buffers[i];
      next.bytes += 64 * i;
      if (random.below(3) == 0)
        next = buffer(Memory::Trf, 256 * (1 + i + random.below(60)),
                      1 << random.below(4));
      else if (random.below(4) == 0)
        next = buffer(Memory::Vrf, 32 * (1 + i + random.below(40)));
    }
    std::vector<unsigned> names = shuffle(problem.buffers.size(), random);
    Failure failure;
    auto solution = solve(problem, failure);
    auto renamed = solve(renumber(problem, names), failure);
    ASSERT_EQ(bool(renamed), bool(solution));
    if (!solution)
      continue;
    ++solved;
    for (unsigned i = 0; i < names.size(); ++i)
      ASSERT_EQ(renamed->placements[names[i]].address,
                solution->placements[i].address);
  }
  EXPECT_GT(solved, 30u);
}

/// The commands of a kernel in another order that its dependences allow.
Problem reorder(const Problem &problem, Random &random) {
  const std::vector<Command> &commands = problem.blocks[0].commands;
  std::vector<unsigned> position(commands.size(), UINT_MAX);
  Problem result = problem;
  result.blocks[0].commands.clear();
  while (result.blocks[0].commands.size() < commands.size()) {
    unsigned next = random.below(commands.size());
    Command command = commands[next];
    if (position[next] != UINT_MAX ||
        llvm::any_of(command.after, [&](unsigned before) {
          return position[before] == UINT_MAX;
        }))
      continue;
    for (unsigned &before : command.after)
      before = position[before];
    llvm::sort(command.after);
    position[next] = result.blocks[0].commands.size();
    result.blocks[0].commands.push_back(command);
  }
  return result;
}

// The order of the text decides neither what fits, as long as one order fits,
// nor by much how long it takes.
TEST(Allocation, TextOrderDoesNotMatter) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Problem problem = getKernel(12 + seed % 40, seed);
    Solution solution = solveOrFail(problem);
    Problem other = reorder(
        renumber(problem, shuffle(problem.buffers.size(), random)), random);
    Solution reordered = solveOrFail(other);
    EXPECT_EQ(print(check(other, reordered)), "");
    EXPECT_EQ(reordered.lowerBound, solution.lowerBound);
    EXPECT_LE(reordered.makespan, solution.makespan * 11 / 10);
  }
}

// One half of the tensor register file is filled while the other one is read.
TEST(Allocation, HalvesTakeTurns) {
  Problem problem;
  problem.blocks.resize(1);
  for (unsigned i = 0; i < 4; ++i) {
    problem.buffers.push_back(buffer(Memory::Trf, 8 * 2048, 8));
    problem.blocks[0].commands.push_back(command(Engine::Sub, 500, {}, {i}));
    problem.blocks[0].commands.push_back(
        command(Engine::Main, 500, {2 * i}, {i}));
  }
  Solution solution = solveOrFail(problem);
  EXPECT_EQ(print(check(problem, solution)), "");
  // A fill stands under each use but the last.
  EXPECT_EQ(solution.makespan, 1003 + 5 * 500 + 600);
  std::vector<std::pair<int64_t, int64_t>> places;
  for (const Placement &placement : solution.placements)
    places.emplace_back(placement.begin, placement.address);
  llvm::sort(places);
  for (unsigned i = 0; i < 4; ++i)
    EXPECT_EQ(places[i].second, i % 2 ? 4096 : 0);
}

TEST(Allocation, SaysWhatWouldFit) {
  Problem problem;
  problem.blocks.resize(1);
  problem.buffers = {buffer(Memory::Dm, 300000), buffer(Memory::Dm, 1024),
                     buffer(Memory::Dm, 300000)};
  problem.buffers[1].preset = 400000;
  problem.blocks[0].commands = {command(Engine::Main, 1, {}, {0, 1, 2})};
  Failure failure;
  EXPECT_FALSE(solve(problem, failure));
  EXPECT_EQ(failure.kind, Failure::OutOfMemory);
  EXPECT_EQ(failure.buffers, (std::vector<unsigned>{0, 1, 2}));
  EXPECT_EQ(failure.addresses, (std::vector<int64_t>{0, 400000, -1}));
  EXPECT_EQ(failure.peak, 601024);
  ASSERT_EQ(failure.lives.size(), 3u);
  EXPECT_EQ(failure.lives[1], std::pair(int64_t(1003), int64_t(1004)));
  EXPECT_EQ(failure.largestFreeAt, 401024);
  EXPECT_EQ(failure.largestFree, 524288 - 401024);
}

} // namespace
