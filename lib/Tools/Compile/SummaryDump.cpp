//===- SummaryDump.cpp - Figures of one compilation -----------------------===//

#include "Diagnostics.h"
#include "Timeline.h"

#include "furiosa/Dialect/Resource/Scheduling/Scheduling.h"
#include "furiosa/Target/RNGD/Machine.h"
#include "furiosa/Tools/Dumps.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <nlohmann/json.hpp>

#include <vector>

using namespace mlir;
using namespace furiosa;
using namespace furiosa::compile;
using namespace furiosa::resource;
using json = nlohmann::ordered_json;

void Summary::addLIR(Operation *module) {
  module->walk([&](Operation *op) {
    if (op->getName().getDialectNamespace() == "lir")
      ++lirOps[op->getName().getStringRef().str()];
  });
}

//===----------------------------------------------------------------------===//
// Cycles
//===----------------------------------------------------------------------===//

static uint64_t multiply(uint64_t a, uint64_t b) {
  return llvm::SaturatingMultiply(a, b);
}

/// Adds the cycles of a block and of the loops in it; loops block the queue, so
/// that their trips add up.
static void addBlock(Block &block, Summary::Cycles &cycles, uint64_t trips) {
  // At each cycle, how many commands of an engine begin (+1) or end (-1).
  struct Change {
    uint64_t cycle;
    unsigned engine;
    int by;
  };
  std::vector<Change> changes;
  for (Operation &op : block) {
    if (auto loop = dyn_cast<LoopOp>(op))
      addBlock(loop.getBody().front(), cycles,
               multiply(trips, uint64_t(loop.getTrips())));
    auto issue = dyn_cast<IssueOp>(op);
    if (!issue)
      continue;
    auto begin = uint64_t((*issue.getCycles())[0]);
    auto end = uint64_t((*issue.getCycles())[1]);
    cycles.byOperator[getCommandKind(issue).str()] +=
        multiply(end - begin, trips);
    issue->walk([&](lir::FeedBufferOp feed) {
      cycles.mac = llvm::SaturatingAdd(
          cycles.mac, multiply(uint64_t(feed.getTime()), trips));
    });
    auto engine = static_cast<unsigned>(issue.getEngine());
    changes.push_back({begin, engine, 1});
    changes.push_back({end, engine, -1});
  }
  llvm::sort(changes, [](const Change &a, const Change &b) {
    return a.cycle < b.cycle;
  });
  int running[3] = {};
  for (size_t i = 0; i + 1 < changes.size(); ++i) {
    running[changes[i].engine] += changes[i].by;
    uint64_t length = multiply(changes[i + 1].cycle - changes[i].cycle, trips);
    bool isMain = running[unsigned(Engine::Main)] > 0;
    bool isSub = running[unsigned(Engine::Sub)] > 0;
    bool isDma = running[unsigned(Engine::Dma)] > 0;
    cycles.main += isMain ? length : 0;
    cycles.sub += isSub ? length : 0;
    cycles.io += isDma ? length : 0;
    cycles.computation += isMain || isSub ? length : 0;
    cycles.mainOnly += isMain && !isSub && !isDma ? length : 0;
    cycles.subOnly += isSub && !isMain && !isDma ? length : 0;
    cycles.ioOnly += isDma && !isMain && !isSub ? length : 0;
  }
}

/// Most bytes of a tier that live at a time, per slice.
static uint64_t findPeak(ProgramOp program, lir::Tier tier) {
  std::vector<std::pair<int64_t, int64_t>> changes;
  for (auto buffer : program.getBody().front().getOps<BufferOp>()) {
    lir::MemType type = buffer.getResult().getType();
    if (type.getTier() != tier)
      continue;
    llvm::ArrayRef<int64_t> live = *buffer.getLive();
    changes.emplace_back(live[0], type.getBytes());
    changes.emplace_back(live[1], -type.getBytes());
  }
  // What ends in a cycle makes room for what begins in it.
  llvm::sort(changes);
  int64_t now = 0, peak = 0;
  for (auto [cycle, bytes] : changes) {
    now += bytes;
    peak = std::max(peak, now);
  }
  return uint64_t(peak);
}

void Summary::addProgram(ProgramOp program) {
  release = program.getRelease().str();
  makespan = uint64_t(program.getMakespan().value_or(0));
  lowerBound = uint64_t(program.getLowerBound().value_or(0));
  binaries = static_cast<unsigned>(program.getClusters().size());
  cycles.total = makespan;
  cycles.sync = uint64_t(scheduling::getKernelEnd());
  addBlock(program.getBody().front(), cycles, 1);
  cycles.byOperator["ExplicitSync"] = cycles.sync;
  program->walk([&](Operation *op) {
    if (op != program && op->getName().getDialectNamespace() == "resource")
      ++resourceOps[op->getName().getStringRef().str()];
    commands += isa<IssueOp, WaitOp, LoopOp>(op);
  });
  memoryPeaks = {{"dm", findPeak(program, lir::Tier::Dm)},
                 {"trf", findPeak(program, lir::Tier::Trf)},
                 {"vrf", findPeak(program, lir::Tier::Vrf)}};
  for (lir::Tier tier :
       {lir::Tier::Dm, lir::Tier::Trf, lir::Tier::Vrf, lir::Tier::Hbm})
    memoryCapacities[lir::stringifyTier(tier).str()] =
        uint64_t(lir::MemType::getCapacity(tier));
  uint64_t hbm = 0;
  hbmByRole = {{"io", 0}, {"weight", 0}, {"stack", 0}, {"inter_chip_stack", 0}};
  for (auto argument : program.getBody().front().getOps<ArgumentOp>()) {
    auto bytes = uint64_t(argument.getResult().getType().getBytes());
    hbm = llvm::SaturatingAdd(hbm, bytes);
    uint64_t &role =
        hbmByRole[argument.getRole() == Role::Scratch ? "stack" : "io"];
    role = llvm::SaturatingAdd(role, bytes);
  }
  memoryPeaks["hbm"] = hbm;
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

/// Lists of binaries are text to the readers of this file.
static std::string listBinaries(uint64_t value) {
  return "[" + std::to_string(value) + "]";
}

std::string Summary::toJson() const {
  json stats = {{"total_cycle", cycles.total},
                {"computation_cycle", cycles.computation},
                {"main_context_cycle", cycles.main},
                {"sub_context_cycle", cycles.sub},
                {"io_cycle", cycles.io},
                {"mac_cycle", cycles.mac},
                {"sync_cycle", cycles.sync},
                {"main_only_cycle", cycles.mainOnly},
                {"sub_only_cycle", cycles.subOnly},
                {"io_only_cycle", cycles.ioOnly},
                {"operator_cycle", cycles.byOperator},
                {"dram_usage_by_kind", hbmByRole}};
  auto getPhase = [&](const char *name) {
    auto it = seconds.find(name);
    return it == seconds.end() ? 0.0 : it->second;
  };
  uint64_t lirOperators = 0;
  for (const char *name : {"lir.dma", "lir.exec"})
    if (auto it = lirOps.find(name); it != lirOps.end())
      lirOperators += it->second;
  // The part of the run in which multipliers work.
  double macUtilisation =
      makespan == 0 ? 0 : double(cycles.mac) / double(makespan);
  json summary = json::object();
  summary["kernel"] = kernel;
  summary["release"] = release;
  summary["makespan"] = makespan;
  summary["lower_bound"] = lowerBound;
  summary["gap"] = makespan - std::min(makespan, lowerBound);
  summary["mac_utilisation"] = macUtilisation;
  summary["total_instruction_cycle"] = makespan;
  summary["rlir_stats"] = std::move(stats);
  summary["memory_peaks"] = memoryPeaks;
  summary["memory_capacities"] = memoryCapacities;
  summary["lir_operator_count"] = lirOperators;
  summary["lir_op_counts"] = lirOps;
  summary["resource_op_counts"] = resourceOps;
  summary["num_external_operators"] = 0;
  summary["num_executions"] = 1;
  summary["num_commands"] = commands;
  summary["num_binaries"] = listBinaries(binaries);
  summary["sum_binary_sizes"] = listBinaries(edfBytes);
  summary["max_binary_sizes"] = listBinaries(edfBytes);
  summary["edf_hash"] = edfHash;
  summary["compile_time"] = {{"ResourceLir", getPhase("passes")},
                             {"Edf", getPhase("encode")}};
  summary["compile_phases"] = seconds;
  summary["compile_cpu_time"] = processorSeconds;
  summary["peak_memory_usage_bytes"] = peakMemoryBytes;
  return dumpJson(summary, 1) + "\n";
}

std::string Summary::toText() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto line = [&](StringRef what, uint64_t value, uint64_t whole,
                  StringRef unit) {
    os << llvm::format("%-24s %12llu ", what.str().c_str(),
                       (unsigned long long)value)
       << unit;
    if (whole != 0)
      os << llvm::format("  %5.1f %%", 100.0 * double(value) / double(whole));
    os << "\n";
  };
  os << kernel << ", release " << release << "\n";
  line("total_execution_cycle", makespan, 0, "cycles");
  line("lower_bound", lowerBound, makespan, "cycles");
  line("computation_cycle", cycles.computation, makespan, "cycles");
  line("main_context_cycle", cycles.main, makespan, "cycles");
  line("sub_context_cycle", cycles.sub, makespan, "cycles");
  line("io_cycle", cycles.io, makespan, "cycles");
  line("mac_cycle", cycles.mac, makespan, "cycles");
  line("sync_cycle", cycles.sync, makespan, "cycles");
  for (const auto &[name, value] : cycles.byOperator)
    line("  " + name, value, makespan, "cycles");
  for (const auto &[name, value] : memoryPeaks)
    line("peak " + name, value, memoryCapacities.at(name), "bytes");
  line("edf", edfBytes, 0, "bytes");
  for (const auto &[name, value] : seconds)
    os << llvm::format("%-24s %12.6f s\n", name.c_str(), value);
  return text;
}
