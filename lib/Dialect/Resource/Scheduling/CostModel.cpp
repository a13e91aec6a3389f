//===- CostModel.cpp - Static cycles of commands --------------------------===//
//
// Costs of execs and transfers from the counts of their steps.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/Resource/Scheduling/CostModel.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <array>

using namespace furiosa;
using namespace furiosa::scheduling;
namespace machine = furiosa::rngd::machine;

//===----------------------------------------------------------------------===//
// Tensor Unit
//===----------------------------------------------------------------------===//

std::optional<Cost> scheduling::getExecCost(const ExecShape &shape) {
  Cost cost;
  std::string steps;
  auto add = [&](int64_t count, llvm::StringRef name) {
    cost.cycles = std::max(cost.cycles, count);
    if (count > 0)
      steps += (steps.empty() ? "" : ", ") + name.str() + " " +
               std::to_string(count);
  };
  add(shape.reads, "reads");
  add(shape.flits, "flits");
  add(shape.switched, "switched");
  add(shape.macs, "macs");
  add(shape.drained, "drained");
  add(shape.beats, "beats");
  add(shape.transposed, "transposed");
  add(shape.writes, "writes");
  int64_t overhead = machine::mainContractionOverheadCycles;
  const char *route = "main";
  if (shape.isSub) {
    overhead = machine::subLoadOverheadCycles;
    route = "sub";
  } else if (shape.hasVectorPass) {
    overhead = machine::mainVectorOverheadCycles;
    route = "vector pass";
  }
  if (llvm::AddOverflow(cost.cycles, overhead, cost.cycles))
    return std::nullopt;
  cost.formula =
      "max(" + steps + ") + " + route + " " + std::to_string(overhead);
  if (shape.reducedSlices > 0) {
    // One trip around the ring; its cycles are known for 256 slices.
    int64_t ring = llvm::divideCeil(
        shape.reducedSlices * int64_t(machine::interSliceReduce256Cycles),
        int64_t(machine::slicesPerCluster));
    if (llvm::AddOverflow(cost.cycles, ring, cost.cycles))
      return std::nullopt;
    cost.formula += " + slice reduce " + std::to_string(ring);
  }
  return cost;
}

int64_t scheduling::getSameBankRun(llvm::ArrayRef<int64_t> sizes,
                                   llvm::ArrayRef<int64_t> strides) {
  // Addresses that differ by a multiple of this lie in one bank.
  int64_t turn = machine::dmBanks * machine::dmBankBytes;
  int64_t run = 1;
  for (size_t i = std::min(sizes.size(), strides.size()); i-- > 0;) {
    if (sizes[i] <= 1)
      continue;
    if (strides[i] % turn != 0)
      break;
    if (llvm::MulOverflow(run, sizes[i], run))
      return std::numeric_limits<int64_t>::max();
  }
  return run;
}

//===----------------------------------------------------------------------===//
// DMA
//===----------------------------------------------------------------------===//

namespace {

/// Load of the HBM channels by one side of a transfer, in thirds of a cycle.
class HbmLoad {
public:
  /// Adds the requests of `engine` at `base` with `strides`.
  void add(const EngineShape &engine, int64_t base,
           llvm::ArrayRef<int64_t> strides, int64_t packets, bool isWrite);
  /// Cycles of the busiest channel.
  std::optional<int64_t> getCycles() const;

private:
  static unsigned getChannel(uint64_t address);
  /// Whether an access closes the row that the one before it in its channel
  /// has opened.
  static bool switchesRow(uint64_t before, uint64_t address);
  std::array<uint64_t, machine::hbmChannels> thirds = {};
  /// Blocks that are written in part: by which engine, and what that takes.
  struct Rewritten {
    const EngineShape *engine = nullptr;
    bool isShared = false;
    uint64_t thirds = 0;
  };
  llvm::DenseMap<uint64_t, Rewritten> rewritten;
  /// Channels that have written part of a block: the first time, nothing waits
  /// for the rest of the block to be read.
  std::array<bool, machine::hbmChannels> hasRewritten = {};
};

} // namespace

unsigned HbmLoad::getChannel(uint64_t address) {
  // Bit 8 picks the stack, bits 9 to 12 the channel, folded with those up to
  // bit 28 (MM 1.5).
  uint64_t fold = address >> 9;
  unsigned channel =
      (fold ^ (fold >> 4) ^ (fold >> 8) ^ (fold >> 12) ^ (fold >> 16)) & 15;
  return channel * 2 + ((address >> 8) & 1);
}

bool HbmLoad::switchesRow(uint64_t before, uint64_t address) {
  // Bits of bank group, bank and slice, and those of the row (MM 1.5). Rows of
  // other banks stay open.
  constexpr uint64_t bank = 1ull << 13 | 15ull << 17 | 1ull << 34;
  constexpr uint64_t row = 0x1FFFull << 21 | 1ull << 35;
  uint64_t changed = before ^ address;
  return (changed & bank) == 0 && (changed & row) != 0;
}

void HbmLoad::add(const EngineShape &engine, int64_t base,
                  llvm::ArrayRef<int64_t> strides, int64_t packets,
                  bool isWrite) {
  // Larger transfers repeat themselves: a prefix is looked at, and scaled.
  constexpr int64_t maxPackets = 1 << 14;
  int64_t looked = std::min(packets, maxPackets);
  uint64_t block = machine::hbmAccessBytes;
  uint64_t scale = llvm::divideCeil(packets, looked);
  std::array<uint64_t, machine::hbmChannels> found = {};
  // Of this engine: how engines mix in a channel is not known.
  std::array<std::optional<uint64_t>, machine::hbmChannels> last;
  llvm::SmallVector<int64_t, 8> digits(engine.sizes.size(), 0);
  uint64_t address = base, lastBlock = UINT64_MAX;
  for (int64_t i = 0; i < looked; ++i) {
    // Requests are cut from the start of a packet, whatever its alignment.
    for (int64_t done = 0; done < engine.packet; done += block) {
      uint64_t at = address + done;
      uint64_t bytes = std::min<uint64_t>(block, engine.packet - done);
      bool crosses = at / block != (at + bytes - 1) / block;
      unsigned channel = getChannel(at);
      uint64_t thirds = machine::hbmAccessCyclesNumerator;
      if (at / block == lastBlock)
        thirds *= machine::hbmSameBlockFactor;
      lastBlock = at / block;
      if (isWrite && (crosses || bytes < block)) {
        if (hasRewritten[channel])
          thirds *= machine::hbmPartialWriteFactor;
        hasRewritten[channel] = true;
        Rewritten &shared = rewritten[at / block];
        shared.isShared |= shared.engine && shared.engine != &engine;
        shared.engine = &engine;
        shared.thirds = llvm::SaturatingAdd(
            shared.thirds, llvm::SaturatingMultiply(thirds, scale));
      } else if (crosses) {
        thirds *= machine::hbmSplitReadFactor;
      }
      if (last[channel] && switchesRow(*last[channel], at))
        thirds =
            std::max<uint64_t>(thirds, machine::hbmRowSwitchCycles *
                                           machine::hbmAccessCyclesDenominator);
      last[channel] = at;
      found[channel] += thirds;
    }
    for (size_t loop = engine.sizes.size(); loop-- > 0;) {
      address += strides[loop];
      if (++digits[loop] < engine.sizes[loop])
        break;
      address -= uint64_t(strides[loop]) * engine.sizes[loop];
      digits[loop] = 0;
    }
  }
  for (auto [sum, part] : llvm::zip(thirds, found))
    sum = llvm::SaturatingAdd(sum, llvm::SaturatingMultiply(part, scale));
}

std::optional<int64_t> HbmLoad::getCycles() const {
  // Where several engines rewrite a block, each waits for what the others do.
  auto loads = thirds;
  for (const auto &[block, part] : rewritten)
    if (part.isShared) {
      uint64_t &load = loads[getChannel(block * machine::hbmAccessBytes)];
      load = llvm::SaturatingAdd(
          load, part.thirds / 100 * (machine::hbmSharedBlockPercent - 100));
    }
  uint64_t most = *std::max_element(loads.begin(), loads.end());
  if (most > uint64_t(std::numeric_limits<int64_t>::max()))
    return std::nullopt;
  return llvm::divideCeil(most, machine::hbmAccessCyclesDenominator);
}

/// Whether consecutive packets alternate between the two networks of a PE,
/// which then share the load: the innermost loop steps over at least one of
/// them.
static bool alternatesNetworks(const EngineShape &engine,
                               llvm::ArrayRef<int64_t> strides) {
  int64_t network = machine::slicesPerDMN * machine::dmSliceStride;
  for (size_t loop = engine.sizes.size(); loop-- > 0;)
    if (engine.sizes[loop] > 1)
      return strides[loop] >= network;
  return false;
}

std::optional<Cost>
scheduling::getDmaCost(Side source, Side target,
                       llvm::ArrayRef<EngineShape> engines) {
  HbmLoad readLoad, writeLoad;
  int64_t slowestRead = 0, slowestWrite = 0, slowestEngine = 0;
  for (const EngineShape &engine : engines) {
    int64_t packets = 1;
    for (int64_t size : engine.sizes)
      if (size < 1 || llvm::MulOverflow(packets, size, packets))
        return std::nullopt;
    if (engine.packet < 1)
      return std::nullopt;
    int64_t requests;
    if (llvm::MulOverflow<int64_t>(
            packets,
            llvm::divideCeil(engine.packet, int64_t(machine::dmaRequestBytes)),
            requests) ||
        requests > std::numeric_limits<int64_t>::max() / 4)
      return std::nullopt;
    slowestEngine = std::max(slowestEngine, requests);
    auto dmCycles = [&](llvm::ArrayRef<int64_t> strides) {
      return alternatesNetworks(engine, strides) ? requests : 2 * requests;
    };
    if (source == Side::Hbm)
      readLoad.add(engine, engine.source, engine.sourceStrides, packets, false);
    else
      slowestRead = std::max(slowestRead, dmCycles(engine.sourceStrides));
    if (target == Side::Hbm)
      writeLoad.add(engine, engine.target, engine.targetStrides, packets, true);
    else
      slowestWrite = std::max(slowestWrite, dmCycles(engine.targetStrides));
  }
  if (source == Side::Hbm) {
    std::optional<int64_t> cycles = readLoad.getCycles();
    if (!cycles)
      return std::nullopt;
    slowestRead = *cycles;
  }
  if (target == Side::Hbm) {
    std::optional<int64_t> cycles = writeLoad.getCycles();
    if (!cycles)
      return std::nullopt;
    slowestWrite = *cycles;
  }
  // Both ends in one kind of memory share it; otherwise the slower one hides
  // part of the faster one.
  Cost cost;
  auto getName = [](Side side) { return side == Side::Hbm ? "hbm" : "dm"; };
  std::string read = std::string("read ") + getName(source) + " " +
                     std::to_string(slowestRead);
  std::string write = std::string("write ") + getName(target) + " " +
                      std::to_string(slowestWrite);
  int64_t hidden = 0;
  if (source != target)
    hidden = std::min(slowestRead, slowestWrite) / 100 *
                 int64_t(machine::dmaOverlapPercent) +
             std::min(slowestRead, slowestWrite) % 100 *
                 int64_t(machine::dmaOverlapPercent) / 100;
  if (llvm::AddOverflow(slowestRead, slowestWrite, cost.cycles))
    return std::nullopt;
  cost.cycles -= hidden;
  cost.formula = read + " + " + write;
  if (hidden)
    cost.formula += " - overlap " + std::to_string(hidden);
  if (cost.cycles < slowestEngine) {
    cost.cycles = slowestEngine;
    cost.formula = "engine " + std::to_string(slowestEngine);
  }
  if (llvm::AddOverflow<int64_t>(cost.cycles, machine::dmaStartupCycles,
                                 cost.cycles))
    return std::nullopt;
  cost.formula += " + start " + std::to_string(machine::dmaStartupCycles);
  return cost;
}
