//===- Races.cpp - HBM shared by engines ----------------------------------===//
//
// Compares the bytes that each engine touches in all iterations.
//
//===----------------------------------------------------------------------===//

#include "Races.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::resource;

namespace {

using Interval = std::pair<int64_t, int64_t>;

/// One engine's side of one transfer in one HBM buffer, all iterations.
struct Footprint {
  lir::DmaOp dma;
  std::pair<int64_t, int64_t> engine;
  bool isWrite;
  bool inLoop;
  /// Loops of the descriptor and those around the command.
  int64_t base = 0;
  SmallVector<int64_t> sizes, strides;
  int64_t packet = 0;

  Interval getHull() const {
    // The verifier has seen that every step stays inside the buffer.
    return {base, base + lir::getReach(sizes, strides).value_or(0) + packet};
  }
  /// Sorted disjoint ranges; empty if there are too many to list.
  std::optional<std::vector<Interval>> getRanges() const;
};

} // namespace

std::optional<std::vector<Interval>> Footprint::getRanges() const {
  // More than this are only looked at as one range.
  constexpr int64_t maxRanges = 1 << 16;
  std::optional<int64_t> count = lir::getProduct(sizes);
  if (!count || *count > maxRanges)
    return std::nullopt;
  std::vector<Interval> ranges;
  SmallVector<int64_t> digits(sizes.size(), 0);
  int64_t address = base;
  for (int64_t i = 0; i < *count; ++i) {
    ranges.emplace_back(address, address + packet);
    for (size_t loop = sizes.size(); loop-- > 0;) {
      address += strides[loop];
      if (++digits[loop] < sizes[loop])
        break;
      address -= strides[loop] * sizes[loop];
      digits[loop] = 0;
    }
  }
  llvm::sort(ranges);
  std::vector<Interval> merged;
  for (Interval range : ranges) {
    if (!merged.empty() && range.first <= merged.back().second)
      merged.back().second = std::max(merged.back().second, range.second);
    else
      merged.push_back(range);
  }
  return merged;
}

/// Whether two footprints share a byte; if they are too large to tell, they do.
static bool overlap(const Footprint &a, const Footprint &b) {
  Interval hullA = a.getHull(), hullB = b.getHull();
  if (hullA.second <= hullB.first || hullB.second <= hullA.first)
    return false;
  std::optional<std::vector<Interval>> first = a.getRanges();
  std::optional<std::vector<Interval>> second = b.getRanges();
  if (!first || !second)
    return true;
  for (auto i = first->begin(), j = second->begin();
       i != first->end() && j != second->end();) {
    if (i->second <= j->first)
      ++i;
    else if (j->second <= i->first)
      ++j;
    else
      return true;
  }
  return false;
}

LogicalResult furiosa::checkRaces(ProgramOp program) {
  llvm::MapVector<Value, std::vector<Footprint>> footprints;
  program.walk([&](IssueOp issue) {
    auto dma = dyn_cast<lir::DmaOp>(issue.getBody().front().front());
    if (!dma)
      return;
    SmallVector<LoopOp> loops = getEnclosingLoops(issue);
    for (int side : {0, 1}) {
      Value buffer = side ? dma.getTarget() : dma.getSource();
      if (cast<lir::MemType>(buffer.getType()).getTier() != lir::Tier::Hbm)
        continue;
      for (Attribute attr : dma.getEngines()) {
        auto engine = cast<lir::EngineAttr>(attr);
        Footprint footprint;
        footprint.dma = dma;
        footprint.engine = {engine.getCluster(), engine.getPe()};
        footprint.isWrite = side == 1;
        footprint.inLoop = !loops.empty();
        footprint.base = side ? engine.getTarget() : engine.getSource();
        footprint.packet = engine.getPacket();
        if (std::optional<ArrayRef<int64_t>> advance = issue.getAdvance())
          for (auto [i, loop] : llvm::enumerate(loops)) {
            footprint.sizes.push_back(loop.getTrips());
            footprint.strides.push_back((*advance)[2 * i + side]);
          }
        llvm::append_range(footprint.sizes, engine.getSizes());
        llvm::append_range(footprint.strides, side ? engine.getTargetStrides()
                                                   : engine.getSourceStrides());
        // Broadcast does not add bytes.
        for (size_t i = footprint.sizes.size(); i-- > 0;)
          if (footprint.strides[i] == 0 || footprint.sizes[i] == 1) {
            footprint.sizes.erase(footprint.sizes.begin() + i);
            footprint.strides.erase(footprint.strides.begin() + i);
          }
        footprints[buffer].push_back(std::move(footprint));
      }
    }
  });
  for (auto &[buffer, list] : footprints) {
    if (llvm::none_of(list, [](const Footprint &f) { return f.isWrite; }))
      continue;
    for (size_t j = 0; j < list.size(); ++j)
      for (size_t i = 0; i < j; ++i) {
        Footprint &a = list[i], &b = list[j];
        // The engines of one transfer may carry copies of one value.
        if (a.engine == b.engine || !(a.isWrite || b.isWrite) ||
            (a.dma == b.dma && !b.inLoop) || !overlap(a, b))
          continue;
        InFlightDiagnostic diag =
            b.dma.emitOpError("not yet supported: a barrier between PEs; "
                              "cluster ")
            << b.engine.first << " pe " << b.engine.second
            << (b.isWrite ? " writes" : " reads") << " what cluster "
            << a.engine.first << " pe " << a.engine.second
            << (a.isWrite ? " writes" : " reads");
        diag.attachNote(a.dma.getLoc()) << "the other transfer is here";
        return diag;
      }
  }
  return success();
}
