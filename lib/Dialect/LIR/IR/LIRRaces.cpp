//===- LIRRaces.cpp - What parts of one command do in no order ------------===//
//
// Engines of a transfer run side by side, as do slices that fetch from one
// another: none may write what another one touches.
//
//===----------------------------------------------------------------------===//

#include "LIRUnits.h"
#include "furiosa/Support/Footprint.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::lir;
namespace machine = furiosa::rngd::machine;

using Footprints = SmallVector<Footprint, 2>;

/// Steps that two lists of footprints are compared in; what takes more is left
/// to the run.
static constexpr int maxSteps = 1 << 16;

static void addLoops(Footprint &footprint, ArrayRef<int64_t> sizes,
                     ArrayRef<int64_t> strides) {
  for (auto [size, stride] : llvm::zip(sizes, strides))
    footprint.loops.push_back({size, stride});
}

/// Leaves normal footprints: those that cannot be are left to the run, too.
static void dropOddOnes(Footprints &footprints) {
  llvm::erase_if(footprints,
                 [](Footprint &footprint) { return !footprint.normalize(); });
}

/// In data memory of the chip one PE follows the other. Loops that go from
/// window to window become footprints of their own.
static void addDataMemory(EngineAttr engine, Footprint footprint,
                          Footprints &result) {
  constexpr int64_t peBytes = machine::slicesPerPE * machine::dmSliceStride;
  constexpr int64_t window = machine::remotePEStride;
  if (!isRemoteAddress(footprint.base)) {
    footprint.base +=
        (engine.getCluster() * int64_t(machine::pesPerCluster) +
         engine.getPe()) *
        peBytes;
    result.push_back(footprint);
    return;
  }
  auto *wide = llvm::find_if(footprint.loops, [&](const Stride &loop) {
    return loop.count > 1 && loop.stride >= window;
  });
  if (wide != footprint.loops.end()) {
    // No more than windows, or the engine would have left the chip.
    Stride loop = *wide;
    footprint.loops.erase(wide);
    for (int64_t i = 0; i < loop.count; ++i) {
      addDataMemory(engine, footprint, result);
      footprint.base += loop.stride;
    }
    return;
  }
  int64_t offset = footprint.base - int64_t(machine::remoteBase);
  // PEs 0 to 3 are those of the engine's cluster.
  int64_t pe = (offset / window + engine.getCluster() *
                                      int64_t(machine::pesPerCluster)) %
               int64_t(machine::pes);
  footprint.base = pe * peBytes + offset % window - int64_t(machine::dmBase);
  result.push_back(footprint);
}

/// What an engine touches of `buffer` by reading or by writing; of a table,
/// only the run knows.
static Footprints getFootprints(DmaOp dma, EngineAttr engine, Value buffer,
                                bool isWrite) {
  Footprints result;
  auto add = [&](const Footprint &footprint) {
    if (cast<MemType>(buffer.getType()).getTier() == Tier::Hbm)
      result.push_back(footprint);
    else
      addDataMemory(engine, footprint, result);
  };
  bool isTable = dma.isIndirect() && dma.isGather() != isWrite;
  if (buffer == (isWrite ? dma.getTarget() : dma.getSource()) && !isTable) {
    Footprint footprint;
    footprint.base = isWrite ? engine.getTarget() : engine.getSource();
    footprint.bytes = engine.getPacket();
    addLoops(footprint, engine.getSizes(),
             isWrite ? engine.getTargetStrides() : engine.getSourceStrides());
    add(footprint);
  }
  if (!isWrite && buffer == dma.getIndices()) {
    Footprint footprint;
    footprint.base = engine.getList();
    footprint.bytes =
        sizeof(int32_t) *
        lir::getProduct(engine.getSizes().take_front(engine.getKeys()))
            .value_or(1);
    add(footprint);
  }
  dropOddOnes(result);
  return result;
}

/// Whether two lists of normal footprints share a byte for certain.
static bool share(const Footprints &a, const Footprints &b) {
  int budget = maxSteps;
  for (const Footprint &x : a)
    for (const Footprint &y : b)
      if (meet(x, y, budget))
        return budget > 0;
  return false;
}

LogicalResult lir::verifyEngineRaces(DmaOp dma) {
  // Run-time offsets are the same for all engines, but not for both sides.
  bool isMoved = dma.getSourceOffset() || dma.getTargetOffset();
  Value target = dma.getTarget();
  bool isRead = !isMoved && (dma.getSource() == target ||
                             dma.getIndices() == target);
  SmallVector<EngineAttr> engines(dma.getEngines().getAsRange<EngineAttr>());
  SmallVector<Footprints> writes, reads;
  for (EngineAttr engine : engines) {
    writes.push_back(getFootprints(dma, engine, target, true));
    reads.push_back(isRead ? getFootprints(dma, engine, target, false)
                           : Footprints());
  }
  for (size_t j = 0; j < engines.size(); ++j)
    for (size_t i = 0; i < j; ++i) {
      bool bothWrite = share(writes[i], writes[j]);
      if (!bothWrite && !share(writes[i], reads[j]) &&
          !share(reads[i], writes[j]))
        continue;
      return dma.emitOpError("LIR-26: engines run in no order: found bytes "
                             "that cluster ")
             << engines[i].getCluster() << " pe " << engines[i].getPe()
             << " and cluster " << engines[j].getCluster() << " pe "
             << engines[j].getPe()
             << (bothWrite ? " both write" : " read and write")
             << ", expected bytes of their own; move a base, or write two "
                "transfers";
    }
  return success();
}

LogicalResult lir::verifyExchangeRace(FetchSequencerOp fetch,
                                      CommitSequencerOp commit) {
  if (fetch.getOffset() || commit.getOffset())
    return success();
  Footprint written;
  written.base = commit.getBase();
  written.bytes = commit.getWrite();
  addLoops(written, commit.getSizes(), commit.getStrides());
  Footprints writes = {written};
  dropOddOnes(writes);
  for (auto [buffer, base] :
       {std::pair<Value, int64_t>(fetch.getSource(), fetch.getBase()),
        {fetch.getOther(), fetch.getOtherBase()}}) {
    if (buffer != commit.getTarget())
      continue;
    Footprint read;
    read.base = base;
    read.bytes = fetch.getRead();
    addLoops(read, fetch.getSizes(), fetch.getStrides());
    Footprints reads = {read};
    dropOddOnes(reads);
    if (share(writes, reads))
      return commit.emitOpError(
          "LIR-26: slices fetch from one another in no order: found a commit "
          "of bytes that others fetch, expected bytes of its own; commit into "
          "another buffer");
  }
  return success();
}
