//===- Transfer.cpp - Descriptors of a DMA transfer -----------------------===//
//
// A transfer writes every live cell of its target. Along each axis, the digits
// of the target are cut where digits of the source begin and end; each piece
// then moves by one step on either side. Pieces within element mappings are
// loops of descriptors, those that change the slice give pairs of places, which
// are folded into loops engine by engine.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/VISA/Transfer/Transfer.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace furiosa;
using namespace furiosa::visa;
using namespace furiosa::mapping;
namespace machine = furiosa::rngd::machine;

namespace {

enum Part { Cluster, Slice, Element, NoPart };

/// A digit of one side: `live` steps of `stride` along its axis, each of which
/// moves by `place` positions of its part.
struct Digit {
  Part part;
  int64_t stride, live, place;
  /// Values from here on belong to the next digit.
  int64_t modulus = 0;
};

/// A move by `place` positions of a part; none where the side lacks the digit.
struct Step {
  Part part = NoPart;
  int64_t place = 0;
};

/// A run of `count` values from `start` on, each `weight` of the axis.
struct Piece {
  int64_t weight, start, count;
  Step target, source, index;
};
using Pieces = llvm::SmallVector<Piece, 6>;

/// Where something is: cluster, slice, and elements within.
struct Place {
  int64_t at[3] = {0, 0, 0};

  void move(const Step &step, int64_t times) {
    if (step.part != NoPart)
      at[step.part] += step.place * times;
  }
};

/// Places that belong together; that of an index stays where there is none.
struct Places {
  Place target, source, index;
};

/// A loop with the strides of all sides, in elements or in bytes.
struct SideLoop {
  int64_t size, target, source, index;
};

/// Byte addresses as an engine sees them.
struct Addresses {
  int64_t target, source, index;
  bool operator==(const Addresses &) const = default;
};

class Derivation {
public:
  Derivation(const TransferSide &source, const TransferSide &target,
             const TransferSide *index, unsigned bits, bool withPadding,
             bool isReversed = false)
      : source(source), target(target), index(index), bits(bits),
        withPadding(withPadding), isReversed(isReversed) {}

  Result<std::vector<TransferCommand>> run();

private:
  using Digits = std::vector<llvm::SmallVector<Digit, 4>>;

  Fault notYetSupported(const llvm::Twine &message) const {
    return {"MM-32", "not-yet-supported", message.str()};
  }
  std::optional<Fault> addDigits(const TransferSide &side, Digits &digits);
  std::optional<Fault> cut(int axis, const Digit &digit, Pieces &pieces);
  std::optional<Fault> checkSource(int axis, llvm::ArrayRef<Digit> sources,
                                   llvm::ArrayRef<Pieces> boxes);
  Result<std::vector<Pieces>> getBoxes(int axis);
  std::optional<Fault> addBox(llvm::ArrayRef<Piece> box);
  std::optional<Fault> checkAlignment(llvm::ArrayRef<SideLoop> loops,
                                      int64_t packet) const;
  std::optional<Fault> emit(std::pair<int64_t, int64_t> engine,
                            std::vector<Addresses> points,
                            llvm::ArrayRef<SideLoop> loops, int64_t packet);
  std::optional<Fault> finish(EngineTransfer &engine) const;

  const TransferSide &source, &target;
  /// Names the rows of an indirect transfer, or null.
  const TransferSide *index;
  unsigned bits;
  bool withPadding;
  /// Data moves from target to source: a scatter asks for its rows.
  bool isReversed;
  /// By axis; behind them innermost padding that has no axis, and copies, which
  /// only the target has.
  Digits targetDigits, sourceDigits, indexDigits;
  std::vector<int64_t> limits;
  std::vector<TransferCommand> commands;
  size_t firstRound = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Digits and pieces
//===----------------------------------------------------------------------===//

std::optional<Fault> Derivation::addDigits(const TransferSide &side,
                                           Digits &digits) {
  const Axes &axes = side.element.axes();
  int padding = axes.size(), copies = padding + 1;
  digits.resize(copies + 1);
  const Mapping *parts[] = {side.isDm ? &side.cluster : nullptr,
                            side.isDm ? &side.slice : nullptr, &side.element};
  for (auto [part, mapping] : llvm::enumerate(parts)) {
    if (!mapping)
      continue;
    auto canonical = mapping->resolved();
    if (!canonical)
      return canonical.fault();
    int64_t place = 1;
    for (const Factor &factor : llvm::reverse(canonical->factors)) {
      int64_t live = factor.live;
      int axis = factor.axis >= 0 ? factor.axis : copies;
      int64_t stride = factor.stride;
      // Padding behind the innermost digit may travel along.
      if (withPadding && part == Element && place == 1 &&
          factor.runs.size() == 1 && factor.runs[0].kind == Pad::Top) {
        if (live == 1) {
          axis = padding;
          stride = 1;
        }
        live = factor.extent;
      }
      if (live > 1 && (axis != copies || &digits == &targetDigits))
        digits[axis].push_back({Part(part), stride, live, place});
      place *= factor.extent;
    }
  }
  for (int axis = 0; axis <= padding; ++axis) {
    llvm::SmallVector<Digit, 4> &list = digits[axis];
    if (list.empty())
      continue;
    int64_t size = axis < padding ? axes[axis].size : list[0].live;
    llvm::sort(list, [](const Digit &lhs, const Digit &rhs) {
      return lhs.stride < rhs.stride;
    });
    // A digit that ends where the next one begins is whole; otherwise it is a
    // window of what lies between.
    for (auto [i, digit] : llvm::enumerate(list)) {
      int64_t next = i + 1 < list.size() ? list[i + 1].stride : size;
      int64_t span = (next - 1) / digit.stride + 1;
      digit.modulus = next % digit.stride == 0 && span % digit.live == 0
                          ? digit.live
                          : std::max(span, digit.live);
      // Nothing is asked for behind the end of the axis.
      if (i + 1 == list.size() && digit.stride * digit.live >= size)
        digit.modulus = std::numeric_limits<int64_t>::max() / digit.stride;
    }
  }
  return std::nullopt;
}

/// Cuts a digit of the target where digits of the source begin and end; appends
/// the pieces, innermost first.
std::optional<Fault> Derivation::cut(int axis, const Digit &digit,
                                     Pieces &pieces) {
  int64_t end = digit.stride * digit.live;
  int64_t weight = digit.stride;
  while (weight < end) {
    // The digit of another side that holds the weight, and where the piece
    // ends.
    int64_t next = end;
    auto find = [&](llvm::ArrayRef<Digit> digits) {
      Step step;
      for (const Digit &other : digits) {
        int64_t otherEnd = other.stride * other.modulus;
        if (other.stride > weight) {
          next = std::min(next, other.stride);
        } else if (otherEnd > weight) {
          next = std::min(next, otherEnd);
          if (weight % other.stride != 0)
            next = 0;
          step = {other.part, other.place * (weight / other.stride)};
        }
      }
      return step;
    };
    Step step = find(sourceDigits[axis]);
    Step indexStep;
    if (index)
      indexStep = find(indexDigits[axis]);
    if (next == 0 || (next != end && next % weight != 0))
      return Fault{"MA-22", "incompatible",
                   "the digits of axis " + target.element.axes()[axis].name +
                       " in \"" + target.element.str() + "\" and \"" +
                       source.element.str() +
                       "\" have no common refinement; cut the axis at the "
                       "same places on both sides"};
    pieces.push_back({weight,
                      0,
                      int64_t(llvm::divideCeil(next, weight)),
                      {digit.part, digit.place * (weight / digit.stride)},
                      step,
                      indexStep});
    weight = next;
  }
  return std::nullopt;
}

/// Largest sum that pieces reach.
static int64_t getLargest(llvm::ArrayRef<Piece> pieces) {
  int64_t sum = 0;
  for (const Piece &piece : pieces)
    sum += (piece.start + piece.count - 1) * piece.weight;
  return sum;
}

/// Boxes of the values of `pieces` (innermost first) whose sum stays below
/// `limit`; `outer` holds what is fixed above them.
static void bound(llvm::ArrayRef<Piece> pieces, int64_t limit, Pieces outer,
                  std::vector<Pieces> &boxes) {
  auto append = [&](llvm::ArrayRef<Piece> inner) {
    Pieces box(inner);
    box.append(outer);
    boxes.push_back(std::move(box));
  };
  if (getLargest(pieces) < limit)
    return append(pieces);
  Piece piece = pieces.back();
  llvm::ArrayRef<Piece> inner = pieces.drop_back();
  int64_t room = limit - 1 - getLargest(inner);
  int64_t whole =
      room < 0 ? 0
               : std::clamp<int64_t>(room / piece.weight + 1 - piece.start, 0,
                                     piece.count);
  if (whole > 0) {
    Pieces box(inner);
    box.push_back(piece);
    box.back().count = whole;
    box.append(outer);
    boxes.push_back(std::move(box));
  }
  for (int64_t value = piece.start + whole; value < piece.start + piece.count;
       ++value) {
    int64_t rest = limit - value * piece.weight;
    if (rest <= 0)
      return;
    Pieces fixed = {piece};
    fixed[0].start = value;
    fixed[0].count = 1;
    fixed.append(outer);
    bound(inner, rest, fixed, boxes);
  }
}

/// MM-32: whatever the target asks for, the source holds.
std::optional<Fault> Derivation::checkSource(int axis,
                                             llvm::ArrayRef<Digit> sources,
                                             llvm::ArrayRef<Pieces> boxes) {
  for (const Digit &digit : sources) {
    int64_t most = 0;
    for (const Pieces &box : boxes) {
      Pieces inside;
      for (const Piece &piece : box)
        if (piece.weight >= digit.stride &&
            piece.weight < digit.stride * digit.modulus)
          inside.push_back(piece);
      most = std::max(most, getLargest(inside) / digit.stride);
    }
    if (most >= digit.live)
      return Fault{"MM-32", "coverage",
                   ("the target \"" + target.element.str() + "\" asks for " +
                    llvm::Twine(most + 1) + " values of axis " +
                    target.element.axes()[axis].name + " where the source \"" +
                    source.element.str() + "\" holds " +
                    llvm::Twine(digit.live))
                       .str()};
  }
  return std::nullopt;
}

/// What the target asks for along an axis, in boxes of full runs.
Result<std::vector<Pieces>> Derivation::getBoxes(int axis) {
  std::vector<Pieces> boxes = {Pieces()};
  for (const Digit &digit : targetDigits[axis]) {
    Pieces pieces;
    if (auto fault = cut(axis, digit, pieces))
      return *fault;
    // The last value of a digit may lie in the middle of a piece.
    std::vector<Pieces> bounded;
    bound(pieces, digit.stride * digit.live, {}, bounded);
    std::vector<Pieces> next;
    for (const Pieces &outer : bounded)
      for (const Pieces &inner : boxes) {
        next.push_back(inner);
        next.back().append(outer);
      }
    boxes = std::move(next);
  }
  // Beyond the axis lies padding.
  std::vector<Pieces> result;
  for (const Pieces &box : boxes) {
    bound(box, limits[axis], {}, result);
    if (result.size() > 64)
      return notYetSupported("a transfer of more than 64 ragged parts");
  }
  if (auto fault = checkSource(axis, sourceDigits[axis], result))
    return *fault;
  return result;
}

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

/// Two adjacent loops are one if both sides walk on.
static void coalesce(llvm::SmallVectorImpl<SideLoop> &loops) {
  llvm::SmallVector<SideLoop> merged;
  for (const SideLoop &loop : loops) {
    if (!merged.empty() && merged.back().target == loop.size * loop.target &&
        merged.back().source == loop.size * loop.source &&
        merged.back().index == loop.size * loop.index)
      merged.back() = {merged.back().size * loop.size, loop.target, loop.source,
                       loop.index};
    else
      merged.push_back(loop);
  }
  loops.assign(merged.begin(), merged.end());
}

/// MM-28 … MM-30: what arrives in data memory is written in whole words.
std::optional<Fault> Derivation::checkAlignment(llvm::ArrayRef<SideLoop> loops,
                                                int64_t packet) const {
  int64_t word = machine::dmWriteGranule;
  if (!target.isDm || isReversed)
    return std::nullopt; // Slow, but legal.
  if (packet % word != 0)
    return Fault{"MM-28", "tail",
                 ("a run of " + llvm::Twine(packet) +
                  " bytes is contiguous on both sides (\"" +
                  source.element.str() + "\", \"" + target.element.str() +
                  "\"), data memory is written in multiples of 8 bytes; keep "
                  "the same 8 bytes or more innermost on both sides, filled up "
                  "with # on both where there are fewer")
                     .str()};
  for (const SideLoop &loop : loops) {
    if (loop.target % word != 0)
      return Fault{"MM-29", "stride",
                   ("a stride of " + llvm::Twine(loop.target) +
                    " bytes in data memory is no multiple of 8")
                       .str()};
    if (!source.isDm && loop.source % word != 0)
      return Fault{"MM-30", "stride",
                   ("a stride of " + llvm::Twine(loop.source) +
                    " bytes in HBM \"" + source.element.str() +
                    "\" is no multiple of 8; pad the HBM tensor alike")
                       .str()};
  }
  return std::nullopt;
}

/// Splits a packet to at most 4096 bytes and checks what a descriptor holds.
std::optional<Fault> Derivation::finish(EngineTransfer &engine) const {
  int64_t run = engine.packet;
  int64_t packet = std::min<int64_t>(run, machine::dmaPacketMax);
  int64_t step = run % 8 != 0 ? 1 : 8;
  packet -= packet % step;
  while (packet > step && run % packet != 0)
    packet -= step;
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

/// Folds points into loops, outermost first: the longest run of equal steps
/// from the front that the rest repeats. Strides are not negative.
static bool fold(llvm::ArrayRef<Addresses> points,
                 llvm::SmallVectorImpl<SideLoop> &loops) {
  if (points.size() == 1)
    return true;
  auto getStep = [&](size_t i) {
    return Addresses{points[i].target - points[i - 1].target,
                     points[i].source - points[i - 1].source,
                     points[i].index - points[i - 1].index};
  };
  Addresses step = getStep(1);
  // Strides have 32 bits.
  for (int64_t stride : {step.target, step.source, step.index})
    if (stride < 0 || !llvm::isInt<32>(stride))
      return false;
  size_t run = 2;
  while (run < points.size() && getStep(run) == step)
    ++run;
  if (points.size() % run != 0)
    return false;
  llvm::SmallVector<Addresses> heads;
  for (size_t i = 0; i < points.size(); ++i) {
    if (i % run == 0)
      heads.push_back(points[i]);
    else if (getStep(i) != step)
      return false;
  }
  if (!fold(heads, loops))
    return false;
  loops.push_back(
      {static_cast<int64_t>(run), step.target, step.source, step.index});
  return true;
}

/// Brings the loops that walk the index outside, in the order of its entries;
/// counts them. False if they leave entries out.
static bool sortByIndex(llvm::SmallVectorImpl<SideLoop> &loops,
                        size_t &indexLoops) {
  llvm::SmallVector<SideLoop> keys, others;
  for (const SideLoop &loop : loops)
    (loop.index != 0 ? keys : others).push_back(loop);
  llvm::sort(keys, [](const SideLoop &lhs, const SideLoop &rhs) {
    return lhs.index > rhs.index;
  });
  int64_t entry = 4;
  for (const SideLoop &loop : llvm::reverse(keys)) {
    if (loop.index != entry)
      return false;
    entry *= loop.size;
  }
  indexLoops = keys.size();
  loops.assign(keys.begin(), keys.end());
  loops.append(others.begin(), others.end());
  return true;
}

/// Adds the descriptors of one engine, one a round.
std::optional<Fault> Derivation::emit(std::pair<int64_t, int64_t> id,
                                      std::vector<Addresses> points,
                                      llvm::ArrayRef<SideLoop> elementLoops,
                                      int64_t packet) {
  size_t round = firstRound;
  llvm::ArrayRef<Addresses> rest = points;
  while (!rest.empty()) {
    // The longest prefix that one descriptor can walk.
    size_t take = rest.size();
    llvm::SmallVector<SideLoop> loops;
    while (true) {
      loops.clear();
      if (take == 1 ||
          (fold(rest.take_front(take), loops) &&
           loops.size() + elementLoops.size() <= machine::dmaLoops - 2))
        break;
      // Halves first: a regular front is found in few steps.
      take = take > 64 ? take / 2 : take - 1;
    }
    loops.append(elementLoops.begin(), elementLoops.end());
    EngineTransfer engine;
    std::tie(engine.cluster, engine.pe) = id;
    engine.packet = packet;
    engine.sourceBase = rest[0].source;
    engine.targetBase = rest[0].target;
    engine.indexBase = rest[0].index;
    if (index && !sortByIndex(loops, engine.indexLoops)) {
      if (take == 1)
        return notYetSupported("an index whose entries do not stand in the "
                               "order of the rows");
      // The first row that this engine moves may do alone.
      take = 1;
      loops.assign(elementLoops.begin(), elementLoops.end());
      if (!sortByIndex(loops, engine.indexLoops))
        return notYetSupported("an index whose entries do not stand in the "
                               "order of the rows");
    }
    int64_t entries = 1;
    for (const SideLoop &loop :
         llvm::ArrayRef(loops).take_front(engine.indexLoops))
      entries *= loop.size;
    if (entries > int64_t(machine::dmaLoopLimit))
      return notYetSupported("a list of " + llvm::Twine(entries) +
                             " rows for one engine");
    // An index of one entry is walked as well.
    if (index && engine.indexLoops == 0) {
      loops.insert(loops.begin(), {1, 0, 0, 4});
      engine.indexLoops = 1;
    }
    for (const SideLoop &loop : loops)
      engine.loops.push_back({loop.size, loop.source, loop.target});
    if (auto fault = finish(engine))
      return fault;
    if (isReversed) {
      std::swap(engine.sourceBase, engine.targetBase);
      for (TransferLoop &loop : engine.loops)
        std::swap(loop.sourceStride, loop.targetStride);
    }
    if (commands.size() == round)
      commands.emplace_back();
    commands[round++].push_back(std::move(engine));
    if (commands.size() > 4096)
      return notYetSupported("a transfer of more than 4096 commands");
    rest = rest.drop_front(take);
  }
  return std::nullopt;
}

/// The PE of a place in data memory.
static std::pair<int64_t, int64_t> getPE(const Place &place) {
  return {place.at[Cluster], place.at[Slice] / int64_t(machine::slicesPerPE)};
}

/// The address of a place as an engine sees it.
static int64_t getAddress(const Place &place, bool isDm, unsigned bits,
                          std::pair<int64_t, int64_t> engine) {
  int64_t bytes = place.at[Element] * int64_t(bits) / 8;
  if (!isDm)
    return bytes;
  auto [cluster, pe] = getPE(place);
  int64_t address = place.at[Slice] % int64_t(machine::slicesPerPE) *
                        int64_t(machine::dmSliceStride) +
                    bytes;
  if (std::pair(cluster, pe) == engine)
    return address;
  // PEs 0 to 3 are those of the engine's own cluster.
  int64_t window = (cluster == engine.first ? 0 : machine::pesPerCluster) + pe;
  return address + int64_t(machine::remoteBase) + int64_t(machine::dmBase) +
         window * int64_t(machine::remotePEStride);
}

/// Adds what moves a box of cells.
std::optional<Fault> Derivation::addBox(llvm::ArrayRef<Piece> box) {
  llvm::SmallVector<SideLoop> loops;
  std::vector<Places> places(1);
  for (const auto &[place, side] :
       {std::pair(&places[0].target, &target), {&places[0].source, &source}}) {
    place->at[Cluster] = side->clusterStart;
    place->at[Slice] = side->sliceStart;
  }
  if (index) {
    places[0].index.at[Cluster] = index->clusterStart;
    places[0].index.at[Slice] = index->sliceStart;
  }
  for (const Piece &piece : box) {
    bool isLoop = llvm::all_of(
        llvm::ArrayRef(
            {piece.target.part, piece.source.part, piece.index.part}),
        [](Part part) { return part == Element || part == NoPart; });
    std::vector<Places> next;
    for (const Places &pair : places)
      for (int64_t i = 0; i < (isLoop ? 1 : piece.count); ++i) {
        next.push_back(pair);
        next.back().target.move(piece.target, piece.start + i);
        next.back().source.move(piece.source, piece.start + i);
        next.back().index.move(piece.index, piece.start + i);
        if (next.size() > 1 << 18)
          return notYetSupported("a transfer between more than 2^18 places");
      }
    places = std::move(next);
    if (isLoop && piece.count > 1)
      loops.push_back({piece.count, piece.target.place, piece.source.place,
                       piece.index.place * 4});
  }

  // In the order of data memory; copies of one value are outermost.
  bool bySource = source.isDm && !target.isDm;
  auto getKey = [&](const SideLoop &loop) {
    constexpr int64_t outermost = std::numeric_limits<int64_t>::max();
    return bySource
               ? std::pair(loop.source ? loop.source : outermost, loop.target)
               : std::pair(loop.target, loop.source);
  };
  llvm::sort(loops, [&](const SideLoop &lhs, const SideLoop &rhs) {
    return getKey(lhs) > getKey(rhs);
  });
  auto isRun = [](const SideLoop &loop) {
    return loop.target == 1 && loop.source == 1 && loop.index == 0;
  };
  auto run = llvm::find_if(loops, isRun);
  if (run != loops.end())
    std::rotate(run, run + 1, loops.end());
  coalesce(loops);
  // Bytes from here on; the innermost contiguous loop is the packet.
  int64_t elements = 1;
  if (!loops.empty() && isRun(loops.back()))
    elements = loops.pop_back_val().size;
  if (elements * bits % 8 != 0)
    return notYetSupported("a contiguous run of " +
                           llvm::Twine(elements * bits) + " bits");
  for (SideLoop &loop : loops) {
    if (loop.target * bits % 8 != 0 || loop.source * bits % 8 != 0)
      return notYetSupported("a stride that is no whole number of bytes");
    loop.target = loop.target * bits / 8;
    loop.source = loop.source * bits / 8;
  }
  int64_t packet = elements * bits / 8;
  if (auto fault = checkAlignment(loops, packet))
    return fault;

  std::map<std::pair<int64_t, int64_t>, std::vector<Addresses>> engines;
  for (const Places &pair : places) {
    if (pair.target.at[Element] * bits % 8 != 0 ||
        pair.source.at[Element] * bits % 8 != 0)
      return notYetSupported("a part that begins inside a byte");
    std::pair<int64_t, int64_t> engine = {0, 0};
    if (source.isDm)
      engine = getPE(pair.source);
    else if (target.isDm)
      engine = getPE(pair.target);
    engines[engine].push_back(
        {getAddress(pair.target, target.isDm, bits, engine),
         getAddress(pair.source, source.isDm, bits, engine),
         index ? getAddress(pair.index, index->isDm, 32, engine) : 0});
  }
  int64_t word = machine::dmWriteGranule;
  firstRound = commands.size();
  for (auto &[engine, points] : engines) {
    llvm::sort(points, [&](const Addresses &lhs, const Addresses &rhs) {
      return source.isDm ? std::tie(lhs.source, lhs.target) <
                               std::tie(rhs.source, rhs.target)
                         : std::tie(lhs.target, lhs.source) <
                               std::tie(rhs.target, rhs.source);
    });
    for (const Addresses &point : points) {
      if (target.isDm && !isReversed && point.target % word != 0)
        return Fault{"MM-29", "address",
                     ("a part begins at byte " +
                      llvm::Twine(point.target % machine::dmSliceStride) +
                      " of \"" + target.element.str() +
                      "\" in data memory, no multiple of 8")
                         .str()};
      if (target.isDm && !isReversed && !source.isDm &&
          point.source % word != 0)
        return Fault{"MM-30", "address",
                     ("a slice begins at byte " + llvm::Twine(point.source) +
                      " of HBM \"" + source.element.str() +
                      "\", no multiple of 8")
                         .str()};
    }
    if (auto fault = emit(engine, std::move(points), loops, packet))
      return fault;
  }
  return std::nullopt;
}

Result<std::vector<TransferCommand>> Derivation::run() {
  if (auto fault = addDigits(target, targetDigits))
    return *fault;
  if (auto fault = addDigits(source, sourceDigits))
    return *fault;
  if (index)
    if (auto fault = addDigits(*index, indexDigits))
      return *fault;
  const Axes &axes = target.element.axes();
  auto getReach = [](llvm::ArrayRef<Digit> digits) {
    int64_t reach = 1;
    for (const Digit &digit : digits)
      reach += (digit.live - 1) * digit.stride;
    return reach;
  };
  for (auto [axis, declared] : llvm::enumerate(axes.list())) {
    int64_t limit = declared.size;
    if (withPadding)
      limit = std::max(limit, std::min(getReach(targetDigits[axis]),
                                       getReach(sourceDigits[axis])));
    limits.push_back(limit);
  }
  limits.push_back(std::min(getReach(targetDigits[axes.size()]),
                            getReach(sourceDigits[axes.size()])));
  // The product of the boxes of all axes, and the copies.
  std::vector<Pieces> boxes(1);
  for (const Digit &digit : targetDigits.back())
    boxes[0].push_back({0, 0, digit.live, {digit.part, digit.place}, {}, {}});
  for (int axis = 0; axis <= int(axes.size()); ++axis) {
    if (targetDigits[axis].empty())
      continue;
    auto more = getBoxes(axis);
    if (!more)
      return more.fault();
    std::vector<Pieces> next;
    for (const Pieces &box : boxes)
      for (const Pieces &pieces : *more) {
        next.push_back(box);
        next.back().append(pieces);
      }
    boxes = std::move(next);
    if (boxes.size() > 64)
      return notYetSupported("a transfer of more than 64 ragged parts");
  }
  for (const Pieces &box : boxes)
    if (auto fault = addBox(box))
      return *fault;
  return std::move(commands);
}

Result<std::vector<TransferCommand>>
visa::deriveTransfer(const TransferSide &source, const TransferSide &target,
                     unsigned bits, bool mayMovePadding) {
  auto commands = Derivation(source, target, nullptr, bits, false).run();
  if (commands || !mayMovePadding || !target.isDm ||
      !llvm::is_contained({"MM-28", "MM-29", "MM-30"}, commands.fault().rule))
    return commands;
  // Padding that both sides declare fills runs up to whole words.
  auto padded = Derivation(source, target, nullptr, bits, true).run();
  return padded ? padded : commands;
}

Result<std::vector<TransferCommand>>
visa::deriveIndirect(const TransferSide &source, const TransferSide &target,
                     const TransferSide &index, unsigned bits) {
  if (source.isDm)
    return Derivation(target, source, &index, bits, false, true).run();
  return Derivation(source, target, &index, bits, false).run();
}
