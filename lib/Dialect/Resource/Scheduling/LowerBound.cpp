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

std::vector<int64_t> scheduling::getBlockBounds(const Problem &problem) {
  std::vector<int64_t> bounds(problem.blocks.size(), 0);
  std::vector<unsigned> used(problem.blocks.size(), 0);
  // Bodies stand behind their loops.
  for (size_t b = problem.blocks.size(); b-- > 0;) {
    const std::vector<Command> &commands = problem.blocks[b].commands;
    std::vector<Job> jobs;
    for (const Command &command : commands) {
      Job &job = jobs.emplace_back(Job{0, command.cycles, 0});
      if (command.engine == Engine::Loop)
        job.cycles = command.trips * bounds[command.body];
      for (unsigned before : command.after)
        job.head = std::max(job.head, jobs[before].head + jobs[before].cycles);
    }
    for (size_t i = commands.size(); i-- > 0;)
      for (unsigned before : commands[i].after)
        jobs[before].tail =
            std::max(jobs[before].tail, jobs[i].cycles + jobs[i].tail);

    std::vector<Job> users[numResources];
    for (auto [command, job] : llvm::zip(commands, jobs)) {
      unsigned resources = command.engine == Engine::Loop
                               ? used[command.body] | command.resources
                               : command.getResources();
      used[b] |= resources;
      bounds[b] = std::max(bounds[b], job.head + job.cycles + job.tail);
      for (unsigned r = 0; r < numResources; ++r)
        if (resources >> r & 1)
          users[r].push_back(job);
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
