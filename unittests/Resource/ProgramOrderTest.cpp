//===- ProgramOrderTest.cpp - What fits in program order ------------------===//
//
// Whenever buffers fit in program order, one command at a time, there is a
// schedule: layouts drawn at random, whose addresses are then forgotten, fixed
// addresses, and buffers of one trip of a loop.
//
//===----------------------------------------------------------------------===//

#include "Problems.h"

#include <cstdio>
#include <tuple>

using namespace furiosa;
using namespace furiosa::scheduling;

namespace {

/// Rectangles of steps and bytes that fill a memory without a gap.
class LayoutDrawer {
public:
  LayoutDrawer(Random &random, unsigned buffers, int64_t steps, int64_t rows)
      : random(random) {
    parts = {{0, steps, 0, rows}};
    for (unsigned tries = 0; parts.size() < buffers && tries < 1000; ++tries)
      cut(random.below(parts.size()));
  }

  struct Part {
    int64_t begin, end, low, high;
  };
  std::vector<Part> parts;

private:
  void cut(size_t index) {
    Part part = parts[index];
    bool inTime = random.below(2);
    int64_t &from = inTime ? part.begin : part.low;
    int64_t &to = inTime ? part.end : part.high;
    if (part.end - part.begin >= 3 && part.high - part.low >= 3 &&
        random.below(4) == 0) {
      pinwheel(index);
      return;
    }
    if (to - from < 2)
      return;
    Part rest = part;
    int64_t at = from + 1 + random.below(to - from - 1);
    (inTime ? parts[index].end : parts[index].high) = at;
    (inTime ? rest.begin : rest.low) = at;
    parts.push_back(rest);
  }
  /// Five parts that no straight line cuts apart.
  void pinwheel(size_t index) {
    auto [begin, end, low, high] = parts[index];
    int64_t left = begin + 1 + random.below((end - begin) / 3);
    int64_t right = end - 1 - random.below((end - begin) / 3);
    int64_t bottom = low + 1 + random.below((high - low) / 3);
    int64_t top = high - 1 - random.below((high - low) / 3);
    parts[index] = {begin, left, low, top};
    parts.push_back({left, end, low, bottom});
    parts.push_back({right, end, bottom, high});
    parts.push_back({begin, right, top, high});
    if (left < right && bottom < top)
      parts.push_back({left, right, bottom, top});
  }

  Random &random;
};

/// Commands in a row; each part is a buffer that the first and the last command
/// of its steps touch.
Problem getProblem(const LayoutDrawer &drawer, int64_t steps, int64_t unit,
                   Memory memory) {
  Problem problem;
  problem.blocks.resize(1);
  for (unsigned i = 0; i < steps; ++i) {
    problem.blocks[0].commands.push_back(command(Engine::Main, 1));
    if (i > 0)
      problem.blocks[0].commands[i].after = {i - 1};
  }
  for (auto [begin, end, low, high] : drawer.parts) {
    unsigned number = problem.buffers.size();
    problem.buffers.push_back(buffer(memory, (high - low) * unit));
    for (int64_t step : {begin, end - 1})
      if (auto &list = problem.blocks[0].commands[step].buffers;
          !llvm::is_contained(list, number))
        list.push_back(number);
  }
  return problem;
}

// Of layouts that leave a tenth of the memory free, all are found; of those
// that fill it to the last byte, most.
TEST(ProgramOrder, LayoutsFit) {
  constexpr int64_t rows = 64;
  for (auto [ofRows, seeds, mayFail] :
       {std::tuple(64, 40u, 10u), {70, 150u, 0u}, {80, 150u, 0u}}) {
    unsigned failed = 0;
    for (uint64_t seed = 1; seed <= seeds; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      Random random(seed);
      int64_t steps = 6 + random.below(60);
      unsigned buffers = 13 + random.below(80);
      LayoutDrawer drawer(random, buffers, steps, rows);
      Problem problem =
          getProblem(drawer, steps, 524288 / ofRows / 32 * 32, Memory::Dm);
      Failure failure;
      std::optional<Solution> solution = solve(problem, failure);
      if (solution) {
        ASSERT_EQ(print(check(problem, *solution)), "");
      }
      failed += !solution;
    }
    std::printf("%d of %d rows: %u of %u not found\n", int(rows), ofRows,
                failed, seeds);
    EXPECT_LE(failed, mayFail);
  }
}

// What looks ahead would have both live at a time.
TEST(ProgramOrder, FixedAddressesThatTakeTurns) {
  Problem problem;
  problem.blocks.resize(1);
  for (unsigned i = 0; i < 4; ++i) {
    problem.buffers.push_back(buffer(Memory::Dm, 64));
    problem.buffers[i].preset = 0;
    problem.blocks[0].commands.push_back(command(Engine::Sub, 300, {}, {i}));
    problem.blocks[0].commands.push_back(
        command(Engine::Dma, 1000, {2 * i}, {i}));
  }
  Solution solution = solveOrFail(problem);
  EXPECT_EQ(print(check(problem, solution)), "");
}

/// A loop each trip of which fills a buffer and reads it, `buffers` times.
Problem getLoop(unsigned buffers, int64_t bytes, bool isNested) {
  Problem problem;
  unsigned body = isNested ? 2 : 1;
  problem.blocks.resize(body + 1);
  for (unsigned i = 0; i < body; ++i) {
    Command loop = command(Engine::Loop, 0);
    loop.body = i + 1;
    loop.trips = 3;
    for (unsigned b = 0; b < buffers; ++b)
      loop.buffers.push_back(b);
    problem.blocks[i].commands.push_back(loop);
  }
  for (unsigned i = 0; i < buffers; ++i) {
    problem.buffers.push_back(buffer(Memory::Dm, bytes));
    problem.blocks[body].commands.push_back(
        command(Engine::Dma, 1000, {}, {i}));
    problem.blocks[body].commands.push_back(
        command(Engine::Main, 300, {2 * i}, {i}));
  }
  return problem;
}

TEST(ProgramOrder, BuffersOfOneTrip) {
  for (bool isNested : {false, true}) {
    Problem problem = getLoop(3, 300 << 10, isNested);
    Failure failure;
    EXPECT_FALSE(solve(problem, failure));
    for (Buffer &buffer : problem.buffers)
      buffer.body = isNested ? 2 : 1;
    Solution solution = solveOrFail(problem);
    EXPECT_EQ(print(check(problem, solution)), "");
    // Lives of the first trip, one behind the other.
    ASSERT_EQ(solution.placements.size(), 3u);
    for (unsigned i = 0; i < 3; ++i) {
      EXPECT_EQ(solution.placements[i].address, 0);
      EXPECT_EQ(solution.placements[i].begin, 1003 + 1300 * int(i));
      EXPECT_EQ(solution.placements[i].end, 1003 + 1300 * int(i + 1));
    }
    // One that a later trip reads must not share its place.
    problem.buffers[1].body = 0;
    EXPECT_NE(print(check(problem, solution)), "");
    if (!isNested)
      continue;
    // Through all trips of the inner loop they live at a time.
    for (Buffer &buffer : problem.buffers)
      buffer.body = 1;
    EXPECT_FALSE(solve(problem, failure));
  }
}

// Where there is room, a buffer keeps its place through all trips.
TEST(ProgramOrder, TripsApartWhereThereIsRoom) {
  Problem problem = getLoop(3, 1024, false);
  for (Buffer &buffer : problem.buffers)
    buffer.body = 1;
  Solution solution = solveOrFail(problem);
  EXPECT_EQ(print(check(problem, solution)), "");
  for (const Placement &placement : solution.placements) {
    EXPECT_EQ(placement.begin, 1003);
    EXPECT_EQ(placement.end, solution.makespan - 600);
  }
}

TEST(ProgramOrder, WrongBodies) {
  Problem problem = getLoop(2, 64, true);
  problem.buffers[0].body = 3;
  EXPECT_EQ(checkProblem(problem), "a buffer is of a loop that does not exist");
  problem.buffers[0].body = 2;
  EXPECT_EQ(checkProblem(problem), "");
  problem.blocks[1].commands.push_back(command(Engine::Main, 1, {0}, {0}));
  EXPECT_EQ(checkProblem(problem),
            "a buffer is touched outside of the loop that it is of");
}

} // namespace
