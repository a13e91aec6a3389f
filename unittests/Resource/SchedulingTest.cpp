//===- SchedulingTest.cpp - Scheduler, allocator, bound against checker ---===//
//
// The checker is written apart from what it checks; small graphs are also
// solved by trying all orders.
//
//===----------------------------------------------------------------------===//

#include "Problems.h"

using namespace furiosa::scheduling;

namespace {

/// Loads of two operands, a preload of one, the contraction, the store.
Problem getGemm() {
  Problem problem;
  problem.buffers = {buffer(Memory::Dm, 4096), buffer(Memory::Dm, 4096),
                     buffer(Memory::Trf, 4096, 8), buffer(Memory::Dm, 2048)};
  Command main = command(Engine::Main, 777, {1, 2}, {1, 2, 3});
  problem.blocks.resize(1);
  problem.blocks[0].commands = {command(Engine::Dma, 3118, {}, {0}),
                                command(Engine::Dma, 3020, {}, {1}),
                                command(Engine::Sub, 775, {0}, {0, 2}), main,
                                command(Engine::Dma, 72731, {3}, {3})};
  return problem;
}

// The published schedule of this kernel ends at 81,449 with the second load
// held back by 200 cycles; ours starts it at once.
TEST(Scheduling, Gemm) {
  Problem problem = getGemm();
  Solution solution = solveOrFail(problem);
  EXPECT_EQ(print(check(problem, solution)), "");
  EXPECT_EQ(solution.makespan, 1003 + 3118 + 3020 + 777 + 72731 + 600);
  EXPECT_EQ(solution.blocks[0].start[2], 1003 + 3118);
  EXPECT_LE(solution.lowerBound, solution.makespan);
  EXPECT_NE(solution.blocks[0].tag[0], solution.blocks[0].tag[1]);
}

TEST(Scheduling, Empty) {
  Problem problem;
  problem.blocks.resize(1);
  Solution solution = solveOrFail(problem);
  EXPECT_EQ(solution.makespan, 600);
  EXPECT_EQ(solution.lowerBound, 600);
  EXPECT_EQ(print(check(problem, solution)), "");
}

TEST(Scheduling, LoopsAreBlocksOfTheirOwn) {
  Problem problem;
  problem.blocks.resize(2);
  problem.buffers = {buffer(Memory::Dm, 1024), buffer(Memory::Dm, 64)};
  problem.blocks[1].commands = {command(Engine::Dma, 600, {}, {0}),
                                command(Engine::Main, 300, {0}, {0, 1})};
  Command loop = command(Engine::Loop, 0, {0});
  loop.body = 1;
  loop.trips = 64;
  problem.blocks[0].commands = {command(Engine::Dma, 500, {}, {1}), loop,
                                command(Engine::Dma, 700, {1}, {1})};
  Solution solution = solveOrFail(problem);
  EXPECT_EQ(print(check(problem, solution)), "");
  EXPECT_EQ(solution.blocks[1].length, 900);
  EXPECT_EQ(solution.makespan, 1003 + 500 + 64 * 900 + 700 + 600);
  EXPECT_EQ(solution.lowerBound, solution.makespan);
  // Both live through the loop: they lie apart.
  EXPECT_NE(solution.placements[0].address, solution.placements[1].address);
  EXPECT_EQ(solution.placements[0].begin, 1503);
  EXPECT_EQ(solution.placements[0].end, 1503 + 64 * 900);
}

TEST(Scheduling, ManyTransfers) {
  Problem problem;
  problem.blocks.resize(1);
  for (unsigned i = 0; i < 200; ++i)
    problem.blocks[0].commands.push_back(command(Engine::Dma, 10));
  Solution solution = solveOrFail(problem);
  EXPECT_EQ(print(check(problem, solution)), "");
  EXPECT_EQ(solution.makespan, 1003 + 2000 + 600);
}

TEST(Scheduling, MalformedProblems) {
  Failure failure;
  Problem problem;
  EXPECT_FALSE(solve(problem, failure));
  problem.blocks.resize(1);
  problem.blocks[0].commands = {command(Engine::Main, 1, {0})};
  EXPECT_FALSE(solve(problem, failure));
  problem.blocks[0].commands = {command(Engine::Main, 1, {}, {7})};
  EXPECT_FALSE(solve(problem, failure));
  problem.blocks[0].commands = {command(Engine::Main, -1)};
  EXPECT_FALSE(solve(problem, failure));
  problem.blocks[0].commands = {command(Engine::Main, INT64_MAX),
                                command(Engine::Main, INT64_MAX)};
  EXPECT_FALSE(solve(problem, failure));
  Command loop = command(Engine::Loop, 0);
  loop.trips = 3;
  problem.blocks[0].commands = {loop};
  EXPECT_FALSE(solve(problem, failure));
  EXPECT_EQ(failure.kind, Failure::Malformed);
}

//===----------------------------------------------------------------------===//
// Random graphs
//===----------------------------------------------------------------------===//

/// Commands that read and write a few buffers; dependences from that, plus a
/// few more.
void fillBlock(Problem &problem, unsigned index, unsigned size, Random &random,
               unsigned depth) {
  std::vector<Command> commands;
  for (unsigned i = 0; i < size; ++i) {
    auto engine = Engine(random.below(3));
    Command next = command(engine, random.below(50) * 20);
    if (depth > 0 && random.below(6) == 0) {
      next.engine = Engine::Loop;
      next.cycles = 0;
      next.trips = 1 + random.below(4);
      next.body = problem.blocks.size();
      problem.blocks.emplace_back();
      fillBlock(problem, next.body, random.below(4), random, depth - 1);
    } else {
      if (next.engine != Engine::Dma && random.below(3) == 0)
        next.resources |= VectorEngine;
      if (next.engine == Engine::Main && random.below(5) == 0)
        next.resources |= DmaEngines;
      for (int64_t n = random.below(3); n > 0; --n)
        if (!problem.buffers.empty())
          next.buffers.push_back(random.below(problem.buffers.size()));
    }
    for (unsigned before = 0; before < i; ++before)
      if (random.below(4) == 0)
        next.after.push_back(before);
    commands.push_back(next);
  }
  problem.blocks[index].commands = std::move(commands);
}

Problem getRandom(Random &random, unsigned maxSize, unsigned depth) {
  Problem problem;
  problem.blocks.resize(1);
  for (int64_t n = random.below(6); n > 0; --n) {
    Memory memory = Memory(random.below(3));
    int64_t lanes = memory == Memory::Trf ? 1 << random.below(4) : 1;
    problem.buffers.push_back(
        buffer(memory,
               memory == Memory::Dm    ? 8 * (1 + random.below(30000))
               : memory == Memory::Trf ? 32 * lanes * (1 + random.below(100))
                                       : 32 * (1 + random.below(100)),
               lanes));
  }
  fillBlock(problem, 0, 1 + random.below(maxSize), random, depth);
  return problem;
}

TEST(SchedulingRandom, CheckerAgrees) {
  unsigned solved = 0;
  for (uint64_t seed = 1; seed <= 4000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Problem problem = getRandom(random, seed % 25 == 0 ? 40 : 9, 2);
    Failure failure;
    std::optional<Solution> solution = solve(problem, failure);
    if (!solution) {
      EXPECT_EQ(failure.kind, Failure::OutOfMemory);
      continue;
    }
    ++solved;
    ASSERT_EQ(print(check(problem, *solution)), "");
    EXPECT_LE(solution->lowerBound, solution->makespan);
  }
  EXPECT_GT(solved, 3500u);
}

/// The shortest makespan over all orders of a block without loops, by a queue
/// model of its own: cycle by cycle state, all permutations.
int64_t getOptimum(const Problem &problem) {
  const std::vector<Command> &commands = problem.blocks[0].commands;
  std::vector<unsigned> order(commands.size());
  for (unsigned i = 0; i < order.size(); ++i)
    order[i] = i;
  int64_t best = INT64_MAX;
  do {
    std::vector<int64_t> end(commands.size(), -1);
    int64_t clock = 1003, last = 1003;
    bool legal = true;
    for (size_t p = 0; p < order.size() && legal; ++p) {
      const Command &next = commands[order[p]];
      for (unsigned before : next.after) {
        legal &= end[before] >= 0;
        clock = std::max(clock, end[before]);
      }
      int64_t start = clock;
      for (size_t q = 0; q < p; ++q) {
        const Command &other = commands[order[q]];
        if (!(other.getResources() & next.getResources()))
          continue;
        // Between transfers the engines wait, otherwise the queue does.
        if (other.engine != Engine::Dma || next.engine != Engine::Dma)
          clock = std::max(clock, end[order[q]]);
        start = std::max(start, end[order[q]]);
      }
      start = std::max(start, clock);
      end[order[p]] = start + next.cycles;
      last = std::max(last, end[order[p]]);
    }
    if (legal)
      best = std::min(best, last + 600);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(SchedulingRandom, BetweenBoundAndProgramOrder) {
  unsigned optimal = 0, total = 0, beatsProgramOrder = 0;
  for (uint64_t seed = 1; seed <= 1500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Problem problem = getRandom(random, 6, 0);
    problem.buffers.clear();
    for (Command &next : problem.blocks[0].commands)
      next.buffers.clear();
    Solution solution = solveOrFail(problem);
    int64_t optimum = getOptimum(problem);
    Solution inOrder = scheduleInProgramOrder(problem);
    ASSERT_LE(solution.lowerBound, optimum);
    ASSERT_LE(optimum, solution.makespan);
    ASSERT_LE(solution.makespan, inOrder.makespan);
    ++total;
    optimal += solution.makespan == optimum;
    beatsProgramOrder += solution.makespan < inOrder.makespan;
  }
  // Blocks this short are searched in full.
  EXPECT_EQ(optimal, total);
  EXPECT_GT(beatsProgramOrder, total / 10);
}

// A hundred graphs of up to eight commands, as those of kernels and any others.
TEST(SchedulingRandom, OptimalUpToEight) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Problem problem = seed % 2 ? getKernel(5 + seed % 4, seed) : Problem();
    if (problem.blocks.empty()) {
      problem.blocks.resize(1);
      fillBlock(problem, 0, 5 + seed % 4, random, 0);
    }
    Solution solution = solveOrFail(problem);
    EXPECT_EQ(print(check(problem, solution)), "");
    EXPECT_EQ(solution.makespan, getOptimum(problem));
  }
}

// A transfer goes on while a loop runs that has none.
TEST(Scheduling, LoopsLetOthersRun) {
  Problem problem;
  problem.blocks.resize(2);
  problem.blocks[1].commands = {command(Engine::Sub, 100),
                                command(Engine::Main, 100, {0})};
  Command loop = command(Engine::Loop, 0);
  loop.body = 1;
  loop.trips = 10;
  problem.blocks[0].commands = {command(Engine::Dma, 5000), loop,
                                command(Engine::Main, 100, {0, 1})};
  Solution solution = solveOrFail(problem);
  EXPECT_EQ(print(check(problem, solution)), "");
  EXPECT_EQ(solution.makespan, 1003 + 5000 + 100 + 600);
  // Not so if it has one.
  problem.blocks[1].commands.push_back(command(Engine::Dma, 100));
  solution = solveOrFail(problem);
  EXPECT_EQ(print(check(problem, solution)), "");
  EXPECT_EQ(solution.makespan, 1003 + 5000 + 10 * 200 + 100 + 600);
}

//===----------------------------------------------------------------------===//
// Any duration
//===----------------------------------------------------------------------===//

/// Runs the queue of a block without loops with durations that have nothing to
/// do with the costs, as the chip might. What goes wrong, empty if nothing.
std::string runWithAnyDuration(const Problem &problem, const Solution &solution,
                               Random &random) {
  const std::vector<Command> &commands = problem.blocks[0].commands;
  std::vector<int64_t> start(commands.size(), -1), end(commands.size(), -1);
  int64_t clock = 0, engines = 0;
  for (const Step &step : solution.blocks[0].steps) {
    unsigned c = step.command;
    if (step.kind == Step::Wait) {
      if (end[c] < 0)
        return "waits for what was never issued";
      clock = std::max(clock, end[c]);
      continue;
    }
    if (end[c] >= 0)
      return "issues twice";
    bool isTransfer = commands[c].engine == Engine::Dma;
    start[c] = isTransfer ? std::max(clock, engines) : clock;
    end[c] = start[c] + 1 + random.below(2000);
    if (isTransfer)
      engines = end[c];
    for (unsigned before : commands[c].after)
      if (end[before] < 0 || end[before] > start[c])
        return "starts before what it depends on has ended";
    for (unsigned other = 0; other < commands.size(); ++other)
      if (other != c && end[other] > start[c] &&
          (commands[other].getResources() & commands[c].getResources()))
        return "starts on what another one keeps busy";
  }
  if (llvm::is_contained(end, -1))
    return "never issues a command";
  // No two buffers hold one byte at a time.
  for (unsigned a = 0; a < problem.buffers.size(); ++a)
    for (unsigned b = 0; b < a; ++b) {
      const Buffer &x = problem.buffers[a], &y = problem.buffers[b];
      int64_t atX = solution.placements[a].address;
      int64_t atY = solution.placements[b].address;
      if (x.memory != y.memory || atX + x.bytes <= atY || atY + y.bytes <= atX)
        continue;
      int64_t life[2][2] = {{INT64_MAX, 0}, {INT64_MAX, 0}};
      for (unsigned c = 0; c < commands.size(); ++c)
        for (unsigned which : {0, 1})
          if (llvm::is_contained(commands[c].buffers, which ? b : a)) {
            life[which][0] = std::min(life[which][0], start[c]);
            life[which][1] = std::max(life[which][1], end[c]);
          }
      if (life[0][0] < life[1][1] && life[1][0] < life[0][1])
        return "two buffers hold one byte";
    }
  return "";
}

// What the checker takes is right whatever commands take; what is wrong for
// some duration, it refuses.
TEST(SchedulingRandom, MutatedSchedules) {
  unsigned accepted = 0, refused = 0, wrong = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Problem problem = getKernel(8 + seed % 20, seed);
    Solution solution = solveOrFail(problem);
    ASSERT_EQ(print(check(problem, solution)), "");
    for (unsigned i = 0; i < 5; ++i)
      ASSERT_EQ(runWithAnyDuration(problem, solution, random), "");
    for (unsigned i = 0; i < 20; ++i) {
      Solution mutated = solution;
      std::vector<Step> &steps = mutated.blocks[0].steps;
      size_t at = random.below(steps.size());
      size_t to = random.below(steps.size());
      unsigned any = random.below(problem.buffers.size());
      switch (random.below(6)) {
      case 0:
        steps.erase(steps.begin() + at);
        break;
      case 1:
        std::swap(steps[at], steps[to]);
        break;
      case 2: {
        Step step = steps[at];
        steps.erase(steps.begin() + at);
        steps.insert(steps.begin() + to, step);
        break;
      }
      case 3:
        steps.insert(steps.begin() + to, steps[at]);
        break;
      case 4:
        mutated.placements[any].address =
            solution.placements[random.below(problem.buffers.size())].address;
        break;
      case 5:
        mutated.placements[any].address += 64 * random.below(50);
        break;
      }
      bool takes = check(problem, mutated).empty();
      bool isWrong = false;
      for (unsigned k = 0; k < 20 && !isWrong; ++k)
        isWrong = !runWithAnyDuration(problem, mutated, random).empty();
      ASSERT_FALSE(takes && isWrong);
      accepted += takes;
      refused += !takes;
      wrong += isWrong;
    }
  }
  EXPECT_GT(accepted, 100u);
  EXPECT_GT(wrong, 500u);
  EXPECT_GE(refused, wrong);
}

//===----------------------------------------------------------------------===//
// Wrong results
//===----------------------------------------------------------------------===//

class WrongResult : public testing::Test {
protected:
  WrongResult() : problem(getGemm()), solution(solveOrFail(problem)) {
    EXPECT_EQ(print(check(problem, solution)), "");
  }
  /// The checker finds it, and says so.
  void expectFault(const std::string &message) {
    std::string text = print(check(problem, solution));
    EXPECT_NE(text.find(message), std::string::npos) << text;
  }
  /// Removes the wait for a command.
  void dropWait(unsigned command) {
    std::vector<Step> &steps = solution.blocks[0].steps;
    steps.erase(std::find_if(steps.begin(), steps.end(), [&](const Step &s) {
      return s.kind == Step::Wait && s.command == command;
    }));
  }

  Problem problem;
  Solution solution;
};

TEST_F(WrongResult, MissingWait) {
  dropWait(0);
  expectFault("no wait stands between the command and one that it depends on");
}
TEST_F(WrongResult, MissingWaitAtTheEnd) {
  dropWait(4);
  expectFault("nothing waits for the command before its block ends");
}
TEST_F(WrongResult, WaitBeforeIssue) {
  std::vector<Step> &steps = solution.blocks[0].steps;
  steps.insert(steps.begin(), Step{Step::Wait, 3});
  expectFault("a wait stands before the issue of its command");
}
TEST_F(WrongResult, IssuedTwiceOrNever) {
  solution.blocks[0].steps[0].command = 1;
  expectFault("issued twice");
  solution.blocks[0].steps.erase(solution.blocks[0].steps.begin());
  expectFault("never issued");
}
TEST_F(WrongResult, BusyContext) {
  problem.blocks[0].commands.push_back(command(Engine::Main, 10));
  BlockSchedule &block = solution.blocks[0];
  auto main = std::find_if(block.steps.begin(), block.steps.end(),
                           [](const Step &s) { return s.command == 3; });
  block.steps.insert(std::next(main), Step{Step::Issue, 5});
  block.steps.push_back({Step::Wait, 5});
  block.start.push_back(block.start[3]);
  block.end.push_back(block.start[3] + 10);
  block.tag.push_back(-1);
  expectFault("issued to what another one keeps busy");
}
TEST_F(WrongResult, VectorEngineTwice) {
  problem.blocks[0].commands[3].resources |= VectorEngine;
  problem.blocks[0].commands[2].resources |= VectorEngine;
  problem.blocks[0].commands[3].after = {1};
  dropWait(2);
  solution.blocks[0].steps.push_back({Step::Wait, 2});
  expectFault("issued to what another one keeps busy");
}
TEST_F(WrongResult, Cycles) {
  ++solution.blocks[0].end[2];
  expectFault("the command runs from cycle");
}
TEST_F(WrongResult, Makespan) {
  --solution.makespan;
  expectFault("the makespan is");
}
TEST_F(WrongResult, MakespanBelowBound) {
  solution.makespan = solution.lowerBound - 1;
  expectFault("lies below the lower bound");
}
TEST_F(WrongResult, Bound) {
  ++solution.lowerBound;
  expectFault("the lower bound is");
}
TEST_F(WrongResult, Tags) {
  solution.blocks[0].tag[1] = solution.blocks[0].tag[0];
  expectFault("two transfers under way have one tag");
  solution.blocks[0].tag[1] = 64;
  expectFault("the transfer has no valid tag");
  solution.blocks[0].tag[3] = 5;
  expectFault("only transfers have tags");
}
TEST_F(WrongResult, Overlap) {
  solution.placements[1].address = solution.placements[0].address;
  expectFault("two buffers share addresses while both live");
}
TEST_F(WrongResult, Address) {
  solution.placements[1].address = 4;
  expectFault("is none of the buffer's memory");
  solution.placements[1].address = 524288;
  expectFault("is none of the buffer's memory");
}
TEST_F(WrongResult, Life) {
  ++solution.placements[1].end;
  expectFault("the buffer lives from cycle");
}

// Takes the first random wait away: what stands behind it is no longer safe.
TEST(SchedulingRandom, EveryWaitIsNeeded) {
  unsigned found = 0, tried = 0;
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Problem problem = getRandom(random, 9, 1);
    Failure failure;
    std::optional<Solution> solution = solve(problem, failure);
    if (!solution)
      continue;
    std::vector<Step> &steps = solution->blocks[0].steps;
    for (size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].kind != Step::Wait)
        continue;
      Solution wrong = *solution;
      wrong.blocks[0].steps.erase(wrong.blocks[0].steps.begin() + i);
      ++tried;
      found += !check(problem, wrong).empty();
    }
  }
  EXPECT_EQ(found, tried);
  EXPECT_GT(tried, 1000u);
}

} // namespace
