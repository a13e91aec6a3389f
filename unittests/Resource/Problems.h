//===- Problems.h - Scheduling problems of tests ----------------*- C++ -*-===//
//
// Problems made by hand and by chance, and what tests ask of their solutions.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_UNITTESTS_RESOURCE_PROBLEMS_H
#define FURIOSA_UNITTESTS_RESOURCE_PROBLEMS_H

#include "Random.h"
#include "furiosa/Dialect/Resource/Scheduling/Scheduling.h"

#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

#include <algorithm>

namespace furiosa::scheduling {

inline Command command(Engine engine, int64_t cycles,
                       llvm::ArrayRef<unsigned> after = {},
                       llvm::ArrayRef<unsigned> buffers = {}) {
  Command result;
  result.engine = engine;
  result.cycles = cycles;
  result.after.assign(after.begin(), after.end());
  result.buffers.assign(buffers.begin(), buffers.end());
  return result;
}

inline Buffer buffer(Memory memory, int64_t bytes, int64_t lanes = 1) {
  Buffer result;
  result.memory = memory;
  result.bytes = bytes;
  result.lanes = lanes;
  return result;
}

inline std::string print(const std::vector<Fault> &faults) {
  std::string text;
  for (const Fault &fault : faults)
    text += "block " + std::to_string(fault.block) + " command " +
            std::to_string(fault.command) + ": " + fault.message + "\n";
  return text;
}

inline Solution solveOrFail(const Problem &problem) {
  Failure failure;
  std::optional<Solution> solution = solve(problem, failure);
  EXPECT_TRUE(solution) << failure.message;
  return solution ? *solution : Solution();
}

/// Loads, preloads, contractions of what was loaded or computed, some stores;
/// how long they take in proportion differs from kernel to kernel.
inline Problem getKernel(unsigned size, uint64_t seed) {
  Random random(seed);
  Problem problem;
  problem.blocks.resize(1);
  std::vector<Command> &commands = problem.blocks[0].commands;
  int64_t scale[3];
  for (int64_t &factor : scale)
    factor = 1 + random.below(8);
  auto addBuffer = [&](Memory memory) {
    problem.buffers.push_back(buffer(memory, 64 * (1 + random.below(100))));
    return unsigned(problem.buffers.size() - 1);
  };
  auto add = [&](Engine engine, int64_t base, llvm::SmallVector<unsigned> after,
                 llvm::ArrayRef<unsigned> buffers) {
    llvm::sort(after);
    int64_t cycles = (base + random.below(1500)) * scale[unsigned(engine)] / 4;
    commands.push_back(command(engine, cycles, after, buffers));
    return unsigned(commands.size() - 1);
  };
  std::vector<std::pair<unsigned, unsigned>> results;
  while (commands.size() < size) {
    unsigned loaded = addBuffer(Memory::Dm);
    unsigned load = add(Engine::Dma, 500, {}, {loaded});
    std::pair<unsigned, unsigned> stream;
    if (!results.empty() && random.below(3)) {
      stream = results[results.size() - 1 -
                       random.below(std::min<size_t>(results.size(), 8))];
    } else {
      stream.second = addBuffer(Memory::Dm);
      stream.first = add(Engine::Dma, 500, {}, {stream.second});
    }
    unsigned weights = addBuffer(Memory::Trf), out = addBuffer(Memory::Dm);
    unsigned preload = add(Engine::Sub, 263, {load}, {loaded, weights});
    unsigned main = add(Engine::Main, 265, {stream.first, preload},
                        {stream.second, weights, out});
    if (random.below(2))
      commands.back().resources |= VectorEngine;
    results.emplace_back(main, out);
    if (random.below(3) == 0)
      add(Engine::Dma, 500, {main}, {out});
  }
  commands.resize(size);
  return problem;
}

} // namespace furiosa::scheduling

#endif // FURIOSA_UNITTESTS_RESOURCE_PROBLEMS_H
