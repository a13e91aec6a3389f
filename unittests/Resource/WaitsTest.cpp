//===- WaitsTest.cpp - No wait too many, none too few ---------------------===//
//
// Takes waits out of schedules, those at the back edges of loops included: the
// checker, which is written apart, must refuse what is left.
//
//===----------------------------------------------------------------------===//

#include "Problems.h"
#include "furiosa/Target/RNGD/Machine.h"

using namespace furiosa::scheduling;
namespace machine = furiosa::rngd::machine;

namespace {

/// Waits of a schedule, those in front of a back edge, and those among either
/// without which the checker finds nothing wrong.
struct Counts {
  unsigned waits = 0, atBackEdges = 0, needless = 0;
};

Counts countWaits(const Problem &problem, const Solution &solution) {
  Counts counts;
  for (size_t b = 0; b < solution.blocks.size(); ++b) {
    const std::vector<Step> &steps = solution.blocks[b].steps;
    size_t lastIssue = 0;
    for (size_t i = 0; i < steps.size(); ++i)
      if (steps[i].kind == Step::Issue)
        lastIssue = i;
    for (size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].kind != Step::Wait)
        continue;
      Solution wrong = solution;
      wrong.blocks[b].steps.erase(wrong.blocks[b].steps.begin() + i);
      ++counts.waits;
      counts.atBackEdges += b > 0 && i > lastIssue;
      counts.needless += check(problem, wrong).empty();
    }
  }
  return counts;
}

/// A loop of `trips` around `size` commands of chance, next to commands that it
/// depends on or not, sometimes with a loop inside.
void addLoop(Problem &problem, unsigned block, Random &random, unsigned depth) {
  std::vector<Command> commands;
  unsigned size = 2 + random.below(8);
  for (unsigned i = 0; i < size; ++i) {
    Command next = command(Engine(random.below(3)), 100 + random.below(900));
    if (depth > 0 && random.below(4) == 0) {
      next = command(Engine::Loop, 0);
      next.trips = 1 + random.below(9);
      next.body = problem.blocks.size();
      problem.blocks.emplace_back();
      addLoop(problem, next.body, random, depth - 1);
    } else if (next.engine == Engine::Main && random.below(4) == 0) {
      next.resources |= random.below(2) ? VectorEngine : DmaEngines;
    }
    for (unsigned before = 0; before < i; ++before)
      if (random.below(3) == 0)
        next.after.push_back(before);
    commands.push_back(next);
  }
  problem.blocks[block].commands = std::move(commands);
}

TEST(Waits, EachIsNeededAtBackEdgesToo) {
  Counts all;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Problem problem;
    problem.blocks.resize(1);
    addLoop(problem, 0, random, 2);
    Solution solution = solveOrFail(problem);
    ASSERT_EQ(print(check(problem, solution)), "");
    Counts counts = countWaits(problem, solution);
    EXPECT_EQ(counts.needless, 0u);
    all.waits += counts.waits;
    all.atBackEdges += counts.atBackEdges;
  }
  EXPECT_GT(all.waits, 2000u);
  EXPECT_GT(all.atBackEdges, 500u);
}

// The engines hold so many transfers. One more waits for one of them: for the
// oldest, or for the one that it depends on, but not for both.
TEST(Waits, FullEngines) {
  for (bool depends : {false, true}) {
    SCOPED_TRACE(depends);
    Problem problem;
    problem.blocks.resize(1);
    std::vector<Command> &commands = problem.blocks[0].commands;
    for (unsigned i = 0; i < machine::tdmaSlots; ++i)
      commands.push_back(command(Engine::Dma, 600));
    commands.push_back(command(Engine::Dma, 600));
    if (depends)
      commands.back().after = {machine::tdmaSlots / 2};
    problem.blocks[0].keepsOrder = true;
    Solution solution = solveOrFail(problem);
    ASSERT_EQ(print(check(problem, solution)), "");
    EXPECT_EQ(countWaits(problem, solution).needless, 0u);
    const std::vector<Step> &steps = solution.blocks[0].steps;
    auto isWait = [](const Step &step) { return step.kind == Step::Wait; };
    const auto *wait = llvm::find_if(llvm::ArrayRef(steps), isWait);
    EXPECT_EQ(wait - steps.data(), int64_t(machine::tdmaSlots));
    EXPECT_EQ(wait->command, depends ? machine::tdmaSlots / 2 : 0);
    EXPECT_FALSE(isWait(*std::next(wait)));
  }
}

} // namespace
