//===- CostModel.cpp - Static cycles of commands --------------------------===//
//
// Costs of execs and transfers from the counts of their steps.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/Resource/Scheduling/CostModel.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <array>

using namespace furiosa;
using namespace furiosa::scheduling;
namespace machine = furiosa::rngd::machine;

//===----------------------------------------------------------------------===//
// Tensor Unit
//===----------------------------------------------------------------------===//

std::optional<int64_t> scheduling::getExecCycles(const ExecShape &shape) {
  int64_t slowest =
      std::max({shape.reads, shape.flits, shape.switched, shape.macs,
                shape.drained, shape.transposed, shape.writes});
  int64_t overhead = machine::mainContractionOverheadCycles;
  if (shape.isSub)
    overhead = machine::subLoadOverheadCycles;
  else if (shape.hasVectorPass)
    overhead = machine::mainVectorOverheadCycles;
  int64_t cycles;
  if (llvm::AddOverflow(slowest, overhead, cycles))
    return std::nullopt;
  return cycles;
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
  std::array<uint64_t, machine::hbmChannels> thirds = {};
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

void HbmLoad::add(const EngineShape &engine, int64_t base,
                  llvm::ArrayRef<int64_t> strides, int64_t packets,
                  bool isWrite) {
  // Larger transfers repeat themselves: a prefix is looked at, and scaled.
  constexpr int64_t maxPackets = 1 << 14;
  int64_t looked = std::min(packets, maxPackets);
  uint64_t unit = machine::hbmAccessCyclesNumerator;
  uint64_t block = machine::hbmAccessBytes;
  std::array<uint64_t, machine::hbmChannels> found = {};
  llvm::SmallVector<int64_t, 8> digits(engine.sizes.size(), 0);
  uint64_t address = base;
  for (int64_t i = 0; i < looked; ++i) {
    // Requests are cut from the start of a packet, whatever its alignment.
    for (int64_t done = 0; done < engine.packet; done += block) {
      uint64_t at = address + done;
      uint64_t bytes = std::min<uint64_t>(block, engine.packet - done);
      bool crosses = at / block != (at + bytes - 1) / block;
      bool partial = crosses || bytes < block;
      uint64_t factor = 1;
      if (isWrite && partial)
        factor = machine::hbmPartialWriteFactor;
      else if (crosses)
        factor = machine::hbmSplitReadFactor;
      found[getChannel(at)] += unit * factor;
    }
    for (size_t loop = engine.sizes.size(); loop-- > 0;) {
      address += strides[loop];
      if (++digits[loop] < engine.sizes[loop])
        break;
      address -= uint64_t(strides[loop]) * engine.sizes[loop];
      digits[loop] = 0;
    }
  }
  uint64_t scale = llvm::divideCeil(packets, looked);
  for (auto [sum, part] : llvm::zip(thirds, found))
    sum = llvm::SaturatingAdd(sum, llvm::SaturatingMultiply(part, scale));
}

std::optional<int64_t> HbmLoad::getCycles() const {
  uint64_t most = *std::max_element(thirds.begin(), thirds.end());
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

std::optional<int64_t>
scheduling::getDmaCycles(Side source, Side target,
                         llvm::ArrayRef<EngineShape> engines) {
  HbmLoad read, write;
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
      read.add(engine, engine.source, engine.sourceStrides, packets, false);
    else
      slowestRead = std::max(slowestRead, dmCycles(engine.sourceStrides));
    if (target == Side::Hbm)
      write.add(engine, engine.target, engine.targetStrides, packets, true);
    else
      slowestWrite = std::max(slowestWrite, dmCycles(engine.targetStrides));
  }
  if (source == Side::Hbm) {
    std::optional<int64_t> cycles = read.getCycles();
    if (!cycles)
      return std::nullopt;
    slowestRead = *cycles;
  }
  if (target == Side::Hbm) {
    std::optional<int64_t> cycles = write.getCycles();
    if (!cycles)
      return std::nullopt;
    slowestWrite = *cycles;
  }
  // Both ends in one kind of memory share it; otherwise they overlap.
  int64_t moved;
  if (source == target) {
    if (llvm::AddOverflow(slowestRead, slowestWrite, moved))
      return std::nullopt;
  } else {
    moved = std::max(slowestRead, slowestWrite);
  }
  moved = std::max(moved, slowestEngine);
  int64_t cycles;
  if (llvm::AddOverflow<int64_t>(moved, machine::dmaStartupCycles, cycles))
    return std::nullopt;
  return cycles;
}
