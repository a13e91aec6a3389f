//===- LowerBound.cpp - A makespan that no schedule beats -----------------===//
//
// From dependences and resources alone; knows nothing of queues.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/Resource/Scheduling/Scheduling.h"
#include "furiosa/Target/RNGD/Machine.h"

#include <algorithm>
#include <array>

using namespace furiosa;
using namespace furiosa::scheduling;

/// The bound of a block given those of the blocks behind it.
static int64_t getBlockBound(const Block &block,
                             llvm::ArrayRef<int64_t> bounds) {
  std::array<int64_t, numResources> busy = {};
  std::vector<int64_t> path(block.commands.size(), 0);
  int64_t longest = 0;
  for (size_t i = 0; i < block.commands.size(); ++i) {
    const Command &command = block.commands[i];
    int64_t cycles = command.engine == Engine::Loop
                         ? command.trips * bounds[command.body]
                         : command.cycles;
    for (unsigned before : command.after)
      path[i] = std::max(path[i], path[before]);
    path[i] += cycles;
    longest = std::max(longest, path[i]);
    unsigned resources = command.getResources();
    for (unsigned r = 0; r < numResources; ++r)
      if (resources >> r & 1)
        busy[r] += cycles;
  }
  return std::max(longest, *std::max_element(busy.begin(), busy.end()));
}

int64_t scheduling::getLowerBound(const Problem &problem) {
  std::vector<int64_t> bounds(problem.blocks.size(), 0);
  for (size_t i = problem.blocks.size(); i-- > 0;)
    bounds[i] = getBlockBound(problem.blocks[i], bounds);
  int64_t bound = rngd::machine::endSyncCycles;
  if (!problem.blocks.empty() && !problem.blocks[0].commands.empty())
    bound += bounds[0] + rngd::machine::firstDMACycle;
  return bound;
}
