//===- LowerBound.cpp - A makespan that no schedule beats -----------------===//
//
// From dependences and resources alone; knows nothing of queues.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/Resource/Scheduling/Scheduling.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <queue>

using namespace furiosa;
using namespace furiosa::scheduling;

namespace {
/// A user of a resource: the cycles that must pass before it, those that it
/// takes, and those that must pass behind it.
struct Job {
  int64_t head, cycles, tail;
};
} // namespace

/// Jackson's preemptive schedule: the job with the longest tail runs whenever
/// it can. Jobs on one resource that are not interrupted end no sooner.
static int64_t getResourceBound(std::vector<Job> jobs) {
  llvm::erase_if(jobs, [](const Job &job) { return job.cycles == 0; });
  llvm::sort(jobs, [](const Job &a, const Job &b) { return a.head < b.head; });
  auto hasShorterTail = [](const Job &a, const Job &b) {
    return a.tail < b.tail;
  };
  std::priority_queue<Job, std::vector<Job>, decltype(hasShorterTail)> waiting(
      hasShorterTail);
  int64_t time = 0, bound = 0;
  for (size_t next = 0; next < jobs.size() || !waiting.empty();) {
    if (waiting.empty())
      time = std::max(time, jobs[next].head);
    for (; next < jobs.size() && jobs[next].head <= time; ++next)
      waiting.push(jobs[next]);
    Job job = waiting.top();
    waiting.pop();
    int64_t run = job.cycles;
    if (next < jobs.size())
      run = std::min(run, jobs[next].head - time);
    time += run;
    job.cycles -= run;
    if (job.cycles > 0)
      waiting.push(job);
    else
      bound = std::max(bound, time + job.tail);
  }
  return bound;
}

namespace {
/// A block, or a block seen from its end.
struct Graph {
  std::vector<int64_t> cycles;
  std::vector<unsigned> resources;
  /// Commands in front that must be done.
  std::vector<llvm::SmallVector<unsigned, 4>> after;

  Graph turn() const;
  /// The least number of cycles in front of each command.
  std::vector<int64_t> getHeads() const;

private:
  int64_t getHead(unsigned command, llvm::ArrayRef<int64_t> heads) const;
};
} // namespace

Graph Graph::turn() const {
  size_t n = cycles.size();
  Graph result = {{cycles.rbegin(), cycles.rend()},
                  {resources.rbegin(), resources.rend()},
                  {}};
  result.after.resize(n);
  for (size_t i = n; i-- > 0;)
    for (unsigned before : after[i])
      result.after[n - 1 - before].push_back(n - 1 - i);
  return result;
}

/// What all ancestors of a command do to each other on the resources that they
/// share, each with the longest chain from its end to the command behind it.
int64_t Graph::getHead(unsigned command, llvm::ArrayRef<int64_t> heads) const {
  // -1 for those that are no ancestors.
  std::vector<int64_t> chain(command, -1);
  std::vector<Job> users[numResources];
  auto reach = [&](unsigned from, int64_t length) {
    for (unsigned before : after[from])
      chain[before] = std::max(chain[before], length);
  };
  reach(command, 0);
  for (unsigned i = command; i-- > 0;) {
    if (chain[i] < 0)
      continue;
    reach(i, chain[i] + cycles[i]);
    for (unsigned r = 0; r < numResources; ++r)
      if (resources[i] >> r & 1)
        users[r].push_back({heads[i], cycles[i], chain[i]});
  }
  int64_t head = 0;
  for (std::vector<Job> &list : users)
    head = std::max(head, getResourceBound(std::move(list)));
  return head;
}

std::vector<int64_t> Graph::getHeads() const {
  std::vector<int64_t> heads(cycles.size(), 0);
  for (unsigned i = 0; i < heads.size(); ++i) {
    for (unsigned before : after[i])
      heads[i] = std::max(heads[i], heads[before] + cycles[before]);
    if (heads.size() <= maxCommandsBoundByAncestors)
      heads[i] = std::max(heads[i], getHead(i, heads));
  }
  return heads;
}

std::vector<int64_t> scheduling::getBlockBounds(const Problem &problem) {
  std::vector<int64_t> bounds(problem.blocks.size(), 0);
  std::vector<unsigned> used(problem.blocks.size(), 0);
  // Bodies stand behind their loops.
  for (size_t b = problem.blocks.size(); b-- > 0;) {
    Graph graph;
    for (const Command &command : problem.blocks[b].commands) {
      bool isLoop = command.engine == Engine::Loop;
      graph.cycles.push_back(isLoop ? command.trips * bounds[command.body]
                                    : command.cycles);
      graph.resources.push_back(isLoop ? used[command.body] | command.resources
                                       : command.getResources());
      graph.after.push_back(command.after);
      used[b] |= graph.resources.back();
    }
    std::vector<int64_t> heads = graph.getHeads();
    std::vector<int64_t> tails = graph.turn().getHeads();
    std::reverse(tails.begin(), tails.end());
    std::vector<Job> users[numResources];
    for (auto [cycles, resources, head, tail] :
         llvm::zip(graph.cycles, graph.resources, heads, tails)) {
      bounds[b] = std::max(bounds[b], head + cycles + tail);
      for (unsigned r = 0; r < numResources; ++r)
        if (resources >> r & 1)
          users[r].push_back({head, cycles, tail});
    }
    for (std::vector<Job> &list : users)
      bounds[b] = std::max(bounds[b], getResourceBound(std::move(list)));
  }
  return bounds;
}

int64_t scheduling::getLowerBound(const Problem &problem) {
  int64_t bound = rngd::machine::endSyncCycles;
  if (!problem.blocks.empty() && !problem.blocks[0].commands.empty())
    bound += getBlockBounds(problem)[0] + rngd::machine::firstDMACycle;
  return bound;
}
