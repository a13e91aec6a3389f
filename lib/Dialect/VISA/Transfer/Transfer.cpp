//===- Transfer.cpp - Descriptors of a DMA transfer -----------------------===//
//
// The address of a cell is linear in its digits on both sides, so the element
// digits give loops that all slices share and each slice gives a pair of
// bases. The bases are folded into loops, engine by engine.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/VISA/Transfer/Transfer.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

using namespace furiosa;
using namespace furiosa::visa;
using namespace furiosa::mapping;
namespace machine = furiosa::rngd::machine;

/// The mapping with bottom padding turned into top: the digits of a window are
/// where they are whether it is read or written.
static Mapping withReadableHoles(const Mapping &mapping) {
  auto canonical = mapping.canonical();
  if (!canonical)
    return mapping; // Refused where it is used.
  auto relax = [](llvm::MutableArrayRef<PadRun> runs) {
    for (PadRun &run : runs)
      if (run.kind == Pad::Bottom)
        run.kind = Pad::Top;
  };
  for (Factor &factor : canonical->factors)
    relax(factor.runs);
  relax(canonical->tail);
  return Mapping::fromCanonical(*canonical, mapping.axes());
}

namespace {

/// A pair of addresses in bytes.
struct Point {
  int64_t dm, hbm;
};

/// A loop whose strides are in bytes of either side.
struct DmLoop {
  int64_t size, dm, hbm;
};

class Derivation {
public:
  Derivation(const TransferSide &source, const TransferSide &target,
             unsigned bits)
      : dm(source.isDm ? source : target), hbm(source.isDm ? target : source),
        toHbm(source.isDm), bits(bits) {
    if (toHbm)
      hbm.element = withReadableHoles(hbm.element);
  }

  Result<std::vector<TransferCommand>> run();

private:
  Fault notYetSupported(const llvm::Twine &message) const {
    return {"MM-32", "not-yet-supported", message.str()};
  }

  /// Loops over the live cells of one digit run of the DM side, outermost
  /// first; `dmStride` is in elements.
  std::optional<Fault> addFactor(const Factor &factor, int64_t dmStride,
                                 llvm::SmallVectorImpl<DmLoop> &loops);
  std::optional<Fault> deriveElementLoops();
  Result<std::vector<Point>> derivePoints(const Mapping &dimension);
  std::optional<Fault> checkOvershoot() const;
  std::optional<Fault> checkAlignment() const;
  std::optional<Fault> checkCoverage(int64_t cells) const;
  std::optional<Fault> emit(int64_t cluster, int64_t pe,
                            std::vector<Point> points,
                            std::vector<TransferCommand> &commands) const;
  std::optional<Fault> finish(EngineTransfer &engine) const;

  TransferSide dm, hbm;
  bool toHbm;
  unsigned bits;
  llvm::SmallVector<DmLoop> elementLoops;
  int64_t packetBytes = 0;
  int64_t cellsPerSlice = 1;
};

} // namespace

/// Two adjacent loops are one if both sides walk on.
static void coalesce(llvm::SmallVectorImpl<DmLoop> &loops) {
  llvm::SmallVector<DmLoop> merged;
  for (const DmLoop &loop : loops) {
    if (loop.size == 1)
      continue;
    if (!merged.empty() && merged.back().dm == loop.size * loop.dm &&
        merged.back().hbm == loop.size * loop.hbm)
      merged.back() = {merged.back().size * loop.size, loop.dm, loop.hbm};
    else
      merged.push_back(loop);
  }
  loops.assign(merged.begin(), merged.end());
}

std::optional<Fault>
Derivation::addFactor(const Factor &factor, int64_t dmStride,
                      llvm::SmallVectorImpl<DmLoop> &loops) {
  if (factor.live == 1)
    return std::nullopt; // A pure pad.
  // The digits alone, without their padding.
  Canonical digits;
  digits.factors.push_back(
      {factor.axis, factor.stride, factor.live, factor.live, {}});
  Mapping stream = Mapping::fromCanonical(digits, dm.element.axes());
  auto sequence =
      mapping::sequence(hbm.element, stream, Mapping(), SequenceMode::Carve);
  if (!sequence) {
    Fault fault = sequence.fault();
    fault.message = "digits \"" + stream.str() +
                    "\" of the DM tensor in HBM \"" + hbm.element.str() +
                    "\": " + fault.message;
    return fault;
  }
  int64_t stride = dmStride * factor.live;
  for (const Entry &entry : sequence->time) {
    stride /= entry.size;
    // HBM gets one copy of what the slices hold several times.
    if (toHbm && entry.stride == 0)
      continue;
    loops.push_back({entry.size, stride, entry.stride});
  }
  return std::nullopt;
}

std::optional<Fault> Derivation::deriveElementLoops() {
  auto canonical = dm.element.resolved();
  if (!canonical)
    return canonical.fault();
  llvm::SmallVector<int64_t> strides(canonical->factors.size());
  int64_t stride = 1;
  for (size_t i = canonical->factors.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= canonical->factors[i].extent;
  }
  llvm::SmallVector<DmLoop> loops;
  for (size_t i = 0; i < canonical->factors.size(); ++i)
    if (auto fault = addFactor(canonical->factors[i], strides[i], loops))
      return fault;
  // Positions of HBM that differ in no coordinate get a copy each.
  if (toHbm) {
    auto target = hbm.element.resolved();
    if (!target)
      return target.fault();
    int64_t place = 1;
    for (const Factor &factor : llvm::reverse(target->factors)) {
      if (factor.axis < 0 && factor.live > 1)
        loops.insert(loops.begin(), {factor.live, 0, place});
      place *= factor.extent;
    }
  }
  coalesce(loops);

  // Padding that both sides declare may travel along: it fills a packet up to
  // whole words (MM-28).
  if (!loops.empty() && loops.back().dm == 1 && loops.back().hbm == 1 &&
      loops.back().size * bits % (8 * machine::dmWriteGranule) != 0) {
    auto trailing = [](const Canonical &canonical) -> int64_t {
      if (canonical.factors.empty() || !canonical.tail.empty())
        return 0;
      const Factor &inner = canonical.factors.back();
      if (inner.runs.size() != 1 || inner.runs[0].kind != Pad::Top ||
          inner.live == 1)
        return 0;
      return inner.extent;
    };
    auto other = hbm.element.resolved();
    int64_t padded =
        other ? std::min(trailing(*canonical), trailing(*other)) : 0;
    int64_t live = canonical->factors.back().live;
    if (padded > live && loops.back().size == live) {
      loops.back().size = padded;
      coalesce(loops);
    }
  }

  // Bytes from here on; the innermost contiguous loop is the packet.
  for (DmLoop &loop : loops) {
    cellsPerSlice *= loop.size;
    bool inner = &loop == &loops.back() && loop.dm == 1 && loop.hbm == 1;
    if (inner) {
      if (loop.size * bits % 8 != 0)
        return notYetSupported("a contiguous run of " +
                               llvm::Twine(loop.size * bits) + " bits");
      packetBytes = loop.size * bits / 8;
      continue;
    }
    if (loop.dm * bits % 8 != 0 || loop.hbm * bits % 8 != 0)
      return notYetSupported("a stride that is no whole number of bytes");
    loop.dm = loop.dm * bits / 8;
    loop.hbm = loop.hbm * bits / 8;
  }
  if (packetBytes != 0)
    loops.pop_back();
  else if (bits % 8 != 0)
    return notYetSupported("single elements of " + llvm::Twine(bits) + " bits");
  else
    packetBytes = bits / 8;
  elementLoops = std::move(loops);
  return std::nullopt;
}

/// For each position of a spatial dimension of the DM side that takes part, its
/// number and the offset in HBM, in bytes.
Result<std::vector<Point>> Derivation::derivePoints(const Mapping &dimension) {
  std::vector<Point> points;
  auto canonical = dimension.resolved();
  if (!canonical)
    return canonical.fault();
  llvm::SmallVector<DmLoop> loops;
  int64_t stride = dimension.size();
  for (const Factor &factor : canonical->factors) {
    stride /= factor.extent;
    if (auto fault = addFactor(factor, stride, loops))
      return *fault;
  }
  if (!canonical->tail.empty())
    return notYetSupported("slices \"" + dimension.str() +
                           "\" whose padding fills no whole row");
  points.push_back({0, 0});
  for (const DmLoop &loop : loops) {
    if (loop.hbm * bits % 8 != 0)
      return notYetSupported("slices that begin inside a byte");
    std::vector<Point> next;
    for (const Point &point : points)
      for (int64_t i = 0; i < loop.size; ++i)
        next.push_back(
            {point.dm + i * loop.dm, point.hbm + i * loop.hbm * bits / 8});
    points = std::move(next);
  }
  return points;
}

/// MM-28 … MM-30: what arrives in data memory is written in whole words.
std::optional<Fault> Derivation::checkAlignment() const {
  if (toHbm)
    return std::nullopt; // Slow, but legal.
  int64_t word = machine::dmWriteGranule;
  if (packetBytes % word != 0)
    return Fault{"MM-28", "tail",
                 ("a run of " + llvm::Twine(packetBytes) +
                  " bytes is contiguous on both sides (HBM \"" +
                  hbm.element.str() + "\", DM \"" + dm.element.str() +
                  "\"), data memory is written in multiples of 8 bytes")
                     .str()};
  for (const DmLoop &loop : elementLoops) {
    if (loop.dm % word != 0)
      return Fault{"MM-29", "stride",
                   ("a stride of " + llvm::Twine(loop.dm) +
                    " bytes in data memory is no multiple of 8")
                       .str()};
    if (loop.hbm % word != 0)
      return Fault{"MM-30", "stride",
                   ("a stride of " + llvm::Twine(loop.hbm) +
                    " bytes in HBM \"" + hbm.element.str() +
                    "\" is no multiple of 8; pad the HBM tensor alike")
                       .str()};
  }
  return std::nullopt;
}

/// MM-32: a new or written HBM tensor gets every live cell.
std::optional<Fault> Derivation::checkCoverage(int64_t cells) const {
  if (!toHbm)
    return std::nullopt;
  auto live = hbm.element.liveCells();
  if (!live)
    return live.fault();
  if (cells < *live)
    return Fault{"MM-32", "coverage",
                 ("the DM tensor holds " + llvm::Twine(cells) +
                  " cells of the " + llvm::Twine(*live) +
                  " live cells of HBM \"" + hbm.element.str() + "\"")
                     .str()};
  return std::nullopt;
}

/// Splits a packet to at most 4096 bytes and checks what a descriptor holds.
std::optional<Fault> Derivation::finish(EngineTransfer &engine) const {
  int64_t run = engine.packet;
  int64_t packet = std::min<int64_t>(run, machine::dmaPacketMax);
  int64_t step = toHbm && run % 8 != 0 ? 1 : 8;
  packet -= packet % step;
  while (packet > step && run % packet != 0)
    packet -= step;
  if (packet < 1 || run % packet != 0)
    packet = step;
  engine.packet = packet;
  if (run != packet)
    engine.loops.push_back({run / packet, packet, packet});
  // Loops beyond the width of a limit are split where they divide.
  int64_t limit = machine::dmaLoopLimit;
  for (size_t i = 0; i < engine.loops.size(); ++i) {
    TransferLoop loop = engine.loops[i];
    if (loop.size <= limit)
      continue;
    int64_t inner = limit;
    while (loop.size % inner != 0)
      --inner;
    if (inner == 1)
      return notYetSupported("a loop of " + llvm::Twine(loop.size) +
                             " steps in a descriptor");
    engine.loops[i] = {loop.size / inner, loop.sourceStride * inner,
                       loop.targetStride * inner};
    engine.loops.insert(engine.loops.begin() + i + 1,
                        {inner, loop.sourceStride, loop.targetStride});
    --i;
  }
  // One dimension counts packets.
  if (engine.loops.size() > machine::dmaLoops - 1)
    return notYetSupported("a transfer of " + llvm::Twine(engine.loops.size()) +
                           " loops, a descriptor holds " +
                           llvm::Twine(machine::dmaLoops - 1));
  for (const TransferLoop &loop : engine.loops)
    if (!llvm::isInt<32>(loop.sourceStride) ||
        !llvm::isInt<32>(loop.targetStride))
      return notYetSupported("a stride of 2 GiB or more in a descriptor");
  return std::nullopt;
}

/// Folds points into loops: the longest run of equal steps from the front that
/// the rest repeats, outermost loop last.
static bool fold(llvm::ArrayRef<Point> points,
                 llvm::SmallVectorImpl<DmLoop> &loops) {
  if (points.size() == 1)
    return true;
  Point step = {points[1].dm - points[0].dm, points[1].hbm - points[0].hbm};
  size_t run = 2;
  auto follows = [&](size_t i) {
    return points[i].dm - points[i - 1].dm == step.dm &&
           points[i].hbm - points[i - 1].hbm == step.hbm;
  };
  while (run < points.size() && follows(run))
    ++run;
  if (points.size() % run != 0)
    return false;
  llvm::SmallVector<Point> heads;
  for (size_t i = 0; i < points.size(); ++i) {
    if (i % run == 0)
      heads.push_back(points[i]);
    else if (!follows(i))
      return false;
  }
  if (!fold(heads, loops))
    return false;
  loops.push_back({static_cast<int64_t>(run), step.dm, step.hbm});
  return true;
}

std::optional<Fault>
Derivation::emit(int64_t cluster, int64_t pe, std::vector<Point> points,
                 std::vector<TransferCommand> &commands) const {
  size_t round = 0;
  llvm::ArrayRef<Point> rest = points;
  while (!rest.empty()) {
    // The longest prefix that one descriptor can walk.
    size_t take = rest.size();
    llvm::SmallVector<DmLoop> loops;
    while (true) {
      loops.clear();
      if (fold(rest.take_front(take), loops) &&
          loops.size() + elementLoops.size() <= machine::dmaLoops - 2)
        break;
      if (take == 1)
        break;
      --take;
    }
    loops.append(elementLoops.begin(), elementLoops.end());
    EngineTransfer engine;
    engine.cluster = cluster;
    engine.pe = pe;
    engine.packet = packetBytes;
    engine.sourceBase = toHbm ? rest[0].dm : rest[0].hbm;
    engine.targetBase = toHbm ? rest[0].hbm : rest[0].dm;
    for (const DmLoop &loop : loops)
      engine.loops.push_back(
          {loop.size, toHbm ? loop.dm : loop.hbm, toHbm ? loop.hbm : loop.dm});
    if (auto fault = finish(engine))
      return fault;
    if (commands.size() == round)
      commands.emplace_back();
    commands[round++].push_back(std::move(engine));
    rest = rest.drop_front(take);
  }
  return std::nullopt;
}

std::optional<Fault> Derivation::checkOvershoot() const {
  // The largest coordinate that the digits of each axis reach together.
  const Axes &axes = dm.element.axes();
  llvm::SmallVector<int64_t> reach(axes.size(), 0);
  for (const Mapping *part : {&dm.cluster, &dm.slice, &dm.element})
    if (auto canonical = part->canonical())
      for (const Factor &factor : canonical->factors)
        if (factor.axis >= 0)
          reach[factor.axis] += (factor.live - 1) * factor.stride;
  auto target = hbm.element.canonical();
  if (!target)
    return target.fault();
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    if (reach[axis] < axes[axis].size)
      continue;
    // Padding that HBM declares as well may travel along.
    bool covered = false;
    for (const Factor &factor : target->factors)
      covered |= factor.axis == static_cast<int>(axis) && factor.stride == 1 &&
                 factor.extent > reach[axis];
    if (!covered)
      return notYetSupported(
          "a DM tensor whose last slice is partly filled: axis " +
          axes[axis].name + " of size " + llvm::Twine(axes[axis].size) +
          " is cut into digits that reach " + llvm::Twine(reach[axis] + 1) +
          "; pad the HBM tensor to as many");
  }
  return std::nullopt;
}

Result<std::vector<TransferCommand>> Derivation::run() {
  if (auto fault = checkOvershoot())
    return *fault;
  if (auto fault = deriveElementLoops())
    return *fault;
  auto clusters = derivePoints(dm.cluster);
  if (!clusters)
    return clusters.fault();
  auto slices = derivePoints(dm.slice);
  if (!slices)
    return slices.fault();
  auto cells = llvm::checkedMul<int64_t>(clusters->size() * slices->size(),
                                         cellsPerSlice);
  if (!cells)
    return notYetSupported("a transfer of more than 2^63 cells");
  if (auto fault = checkCoverage(*cells))
    return *fault;
  if (auto fault = checkAlignment())
    return *fault;
  for (const Point &slice : *slices)
    if (!toHbm && slice.hbm % int64_t(machine::dmWriteGranule) != 0)
      return Fault{"MM-30", "address",
                   ("slice " + llvm::Twine(slice.dm) + " begins at byte " +
                    llvm::Twine(slice.hbm) + " of HBM \"" + hbm.element.str() +
                    "\", no multiple of 8")
                       .str()};
  std::vector<TransferCommand> commands;
  int64_t slicesPerPE = machine::slicesPerPE;
  for (const Point &cluster : *clusters) {
    std::vector<std::vector<Point>> byPE(
        llvm::divideCeil(dm.slice.size(), slicesPerPE));
    for (const Point &slice : *slices)
      byPE[slice.dm / slicesPerPE].push_back(
          {slice.dm % slicesPerPE * int64_t(machine::dmSliceStride),
           cluster.hbm + slice.hbm});
    for (auto [pe, points] : llvm::enumerate(byPE))
      if (auto fault = emit(cluster.dm, pe, std::move(points), commands))
        return *fault;
  }
  return commands;
}

Result<std::vector<TransferCommand>>
visa::deriveTransfer(const TransferSide &source, const TransferSide &target,
                     unsigned bits) {
  return Derivation(source, target, bits).run();
}
