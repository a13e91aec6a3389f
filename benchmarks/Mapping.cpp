//===- Mapping.cpp - What the mapping algebra costs -----------------------===//
//
// Parsing, and the operations on mappings that come fresh from the parser.
// Arguments: the number of terms, and a factor on the size of every axis.
// benchmarks/mapping.py holds the figures against each other.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/TensorMapping/Algebra/Mapping.h"

#include "benchmark/benchmark.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace furiosa::mapping;

namespace {

/// A memory, the same cells in another order, and a stream over them.
struct Workload {
  explicit Workload(const benchmark::State &state);

  Axes axes;
  std::string memory, other, time, packet;
};

Workload::Workload(const benchmark::State &state) {
  const int64_t terms = state.range(0), scale = state.range(1);
  std::vector<Axis> list;
  if (terms == 8) {
    // A tensor as kernels hold them: digits, padding, a window of cells.
    list = {{"N", 64}, {"C", 16}, {"H", 32}, {"W", 24}};
    memory = "N / 8, C / 4 # 5120, H / 2, W / 8, N % 8, C % 4, H % 2, "
             "W % 8 # 16";
    other = "W / 8, N / 8, H / 2, C / 4, H % 2, N % 8, C % 4, W % 8";
    time = "W / 8, H / 2, N / 8, C / 4, N % 8, H % 2";
    packet = "C % 4, W % 8 # 16";
  } else {
    // Two binary digits of each axis: 2^63 cells do not hold more.
    std::vector<std::string> digits;
    for (int64_t i = 0; i < terms / 2; ++i) {
      list.push_back({"X" + std::to_string(i), 4});
      digits.push_back(list.back().name + " / 2");
    }
    for (int64_t i = 0; i < terms / 2; ++i)
      digits.push_back(list[i].name + " % 2");
    memory = llvm::join(digits, ", ");
    std::reverse(digits.begin(), digits.end());
    other = llvm::join(digits, ", ");
    packet = digits.back();
    digits.pop_back();
    time = llvm::join(digits, ", ");
  }
  for (Axis &axis : list)
    axis.size *= scale;
  axes = *Axes::get(list);
}

Mapping parse(const std::string &text, const Axes &axes) {
  Result<Mapping> mapping = Mapping::parse(text, axes);
  if (mapping)
    return *mapping;
  llvm::errs() << text << ": " << mapping.fault().message << "\n";
  std::exit(1);
}

/// Runs `operation` on the mappings of `texts`, parsed anew for each call and
/// outside of the time: a mapping keeps its canonical form once derived.
template <typename Operation>
void onFresh(benchmark::State &state, const Axes &axes,
             const std::vector<std::string> &texts, Operation operation) {
  constexpr int64_t batch = 50;
  std::vector<std::vector<Mapping>> fresh(batch);
  while (state.KeepRunningBatch(batch)) {
    state.PauseTiming();
    for (std::vector<Mapping> &mappings : fresh) {
      mappings.clear();
      for (const std::string &text : texts)
        mappings.push_back(parse(text, axes));
    }
    state.ResumeTiming();
    for (const std::vector<Mapping> &mappings : fresh)
      operation(mappings);
  }
}

/// Parses `texts`: what the operation of the same name is held against.
void parseAll(benchmark::State &state, const Axes &axes,
              const std::vector<std::string> &texts) {
  for (auto _ : state)
    for (const std::string &text : texts)
      benchmark::DoNotOptimize(Mapping::parse(text, axes));
}

template <typename T>
void expect(const Result<T> &result) {
  benchmark::DoNotOptimize(result);
  if (result)
    return;
  llvm::errs() << result.fault().message << "\n";
  std::exit(1);
}

} // namespace

static void parseCanonical(benchmark::State &state) {
  Workload work(state);
  parseAll(state, work.axes, {work.memory});
}
static void canonical(benchmark::State &state) {
  Workload work(state);
  onFresh(state, work.axes, {work.memory},
          [](const auto &given) { expect(given[0].canonical()); });
}

static void parseEquivalence(benchmark::State &state) {
  Workload work(state);
  parseAll(state, work.axes, {work.memory, work.memory + ","});
}
static void equivalence(benchmark::State &state) {
  Workload work(state);
  // Brackets keep the texts apart, so that the forms are compared.
  onFresh(state, work.axes, {work.memory, "[" + work.memory + "]"},
          [](const auto &given) { expect(equivalent(given[0], given[1])); });
}
static void equivalenceResolved(benchmark::State &state) {
  Workload work(state);
  onFresh(state, work.axes, {work.memory, "[" + work.memory + "]"},
          [](const auto &given) {
            expect(equivalentResolved(given[0], given[1]));
          });
}

static void parseDivision(benchmark::State &state) {
  Workload work(state);
  parseAll(state, work.axes, {work.memory, work.other});
}
static void division(benchmark::State &state) {
  Workload work(state);
  onFresh(state, work.axes, {work.memory, work.other},
          [](const auto &given) { expect(divideExact(given[0], given[1])); });
}

static void parseSequencer(benchmark::State &state) {
  Workload work(state);
  parseAll(state, work.axes, {work.memory, work.time, work.packet});
}
static void sequencer(benchmark::State &state) {
  Workload work(state);
  onFresh(state, work.axes, {work.memory, work.time, work.packet},
          [](const auto &given) {
            expect(sequence(given[0], given[1], given[2], SequenceMode::Read));
          });
}
static void sequencerWrite(benchmark::State &state) {
  Workload work(state);
  onFresh(state, work.axes, {work.memory, work.time, work.packet},
          [](const auto &given) {
            expect(sequence(given[0], given[1], given[2], SequenceMode::Write));
          });
}

static void sizes(benchmark::internal::Benchmark *benchmark) {
  benchmark->ArgNames({"terms", "scale"});
  benchmark->Args({8, 1})->Args({8, 1000});
  for (int64_t terms : {10, 20, 40})
    benchmark->Args({terms, 1});
}

BENCHMARK(parseCanonical)->Apply(sizes);
BENCHMARK(canonical)->Apply(sizes);
BENCHMARK(parseEquivalence)->Apply(sizes);
BENCHMARK(equivalence)->Apply(sizes);
BENCHMARK(equivalenceResolved)->Apply(sizes);
BENCHMARK(parseDivision)->Apply(sizes);
BENCHMARK(division)->Apply(sizes);
BENCHMARK(parseSequencer)->Apply(sizes);
BENCHMARK(sequencer)->Apply(sizes);
BENCHMARK(sequencerWrite)->Apply(sizes);
