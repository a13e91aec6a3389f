//===- ContractionOps.cpp - Rules of the contraction engine ---------------===//

#include "OpFormat.h"
#include "StageHelpers.h"
#include "furiosa/Dialect/VISA/IR/StageLoops.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::visa;
using mapping::Mapping;

#define GET_OP_CLASSES
#include "furiosa/Dialect/VISA/IR/ContractionOps.cpp.inc"

void VISADialect::registerContractionOps() {
  addOperations<
#define GET_OP_LIST
#include "furiosa/Dialect/VISA/IR/ContractionOps.cpp.inc"
      >();
}

/// Whether every cell is live under the resolved reading; false if unknown.
static bool isFullyLive(const Mapping &mapping) {
  auto live = mapping.liveCells();
  return live && *live == mapping.size();
}

/// Where a TRF tensor was loaded: its chain, if it is a chain's result.
static ChainOp getLoad(Value weight) { return weight.getDefiningOp<ChainOp>(); }

template <typename StageOp>
static StageOp findStage(ChainOp chain) {
  if (!chain)
    return {};
  auto stages = chain.getBody().getOps<StageOp>();
  return stages.empty() ? StageOp() : *stages.begin();
}

/// The stage of the fetch adapter that decides a chain's element type.
static Operation *findConversion(ChainOp chain) {
  if (Operation *op = findStage<ZeroPointSubOp>(chain))
    return op;
  if (Operation *op = findStage<FetchCastOp>(chain))
    return op;
  return findStage<TableLookupOp>(chain);
}

/// Refuses an element type and number of flits that the release of the target
/// does not take, with notes at the stages that decided them.
static void checkRelease(ContractOuterOp op, StageChecker &checker,
                         const Layout &layout, ElementType weightType,
                         unsigned flits) {
  StringRef releaseName = checker.getKernel().getTarget().getRelease();
  auto release = rngd::parseRelease(releaseName);
  if (!release)
    return; // Refused by the attribute.
  for (ElementType type : {layout.type, weightType}) {
    rngd::FeedType feedType = rngd::feedTypeOf(type);
    rngd::FeedBufferVerdict verdict =
        rngd::feedBufferVerdict(*release, feedType, flits);
    if (verdict.accepted)
      continue;
    InFlightDiagnostic diag = checker.fault("release " + releaseName.str());
    diag << "the feed buffer does not take " << rngd::toString(feedType)
         << " with Flit" << flits << ": " << verdict.reason << "; "
         << rngd::describeFeedBuffer(*release, feedType);
    if (verdict.assumed)
      diag << " (assumed)";
    if (layout.fetchCast)
      diag.attachNote(layout.fetchCast->getLoc())
          << "the stream gets its element type here";
    ChainOp load = getLoad(op.getWeight());
    if (Operation *cast = findConversion(load))
      diag.attachNote(cast->getLoc())
          << "the weight gets its element type here";
    if (auto store = findStage<ToTrfOp>(load))
      diag.attachNote(store.getLoc()) << "the weight is stored here";
    return;
  }
}

/// TU-45: the TRF side. Every step reads one contiguous run of a lane, a power
/// of two of bytes, perhaps repeated to fill the packet.
static void checkTrfSide(StageChecker &checker, const Layout &layout,
                         const TensorParts &weight, const Mapping &packet) {
  auto sequence =
      mapping::sequence(weight.element.getMapping(), layout.outerTime, packet,
                        mapping::SequenceMode::Read);
  if (!sequence) {
    InFlightDiagnostic diag = checker.report(sequence.fault(), "time", "TU-45");
    diag << "; the weight has element \"" << weight.element.getText() << "\"";
    return;
  }
  if (!sequence->coversMemory) {
    checker.fault("TU-45", "time")
        << "time \"" << layout.outerTime.str() << "\" and packet \""
        << packet.str()
        << "\" leave cells of the weight unread: it has element \""
        << weight.element.getText() << "\"";
    return;
  }
  if (!checkSequencerLimits(checker, weight.element.getMapping(), *sequence,
                            "time"))
    return;
  unsigned bits =
      wireBits(visa::getElementType(weight.elementType).value_or(layout.type));
  int64_t run = 1;
  bool contiguous = true;
  for (const mapping::Entry &entry : llvm::reverse(sequence->packet)) {
    if (entry.stride == run && contiguous)
      run *= entry.size;
    else if (entry.stride == 0)
      contiguous = false; // What stands outside repeats the run.
    else {
      checker.fault("TU-45", "packet")
          << "packet \"" << packet.str()
          << "\" is not one contiguous run of the weight's element \""
          << weight.element.getText() << "\"";
      return;
    }
  }
  int64_t runBits = run * bits;
  if (runBits % 8 != 0 || !llvm::isPowerOf2_64(runBits / 8)) {
    checker.fault("TU-45", "packet")
        << "one read of the weight is " << runBits
        << " bits, expected a power of two of bytes up to 64";
    return;
  }
  if (runBits / 8 == int64_t(rngd::machine::macWindowBytes))
    for (const mapping::Entry &entry : sequence->time)
      if (entry.stride * bits % (rngd::machine::macWindowBytes * 8) != 0) {
        checker.fault("TU-45", "time")
            << "a stride of " << entry.stride * bits / 8
            << " bytes in the weight, reads of 64 bytes need multiples of 64";
        return;
      }
}

/// What to do with a stream that no multiplier takes.
static StringRef adviseMultiplication(ElementType type) {
  switch (type) {
  case ElementType::I32:
  case ElementType::F32:
    return "; multiply with the vector engine instead";
  case ElementType::I16:
    return "; fetch_cast it to i32 and multiply with the vector engine instead";
  case ElementType::F4E2M1:
    return "; make it f8e4m3 or f8e5m2 with table_lookup";
  default:
    return "; store the tensor as i8 or bf16";
  }
}

/// Behind a fault the stream of a contraction is what its last stage says.
static auto forgetBehindFault(StageChecker &checker, Layout &layout) {
  return llvm::scope_exit([&] { layout.unknown |= checker.failed(); });
}

void ContractOuterOp::check(StageChecker &checker, Layout &layout) {
  auto forget = forgetBehindFault(checker, layout);
  checker.enter(layout, Point::ContractOuter);
  if (layout.context != Context::Main)
    checker.fault("TU-46") << "contraction in the sub context, only main has a "
                              "contraction engine";
  auto time = checker.parse("time", getTimeAttr());
  auto packet = checker.parse("packet", getPacketAttr());
  TensorParts weight = getTensorParts(getWeight().getType());
  ElementType weightType =
      visa::getElementType(weight.elementType).value_or(ElementType::I8);
  auto promoted = rngd::promote(rngd::feedTypeOf(layout.type));
  layout.outerTime = time.value_or(layout.time);
  layout.storage = layout.type;

  // Types of the operands.
  if (!promoted) {
    checker.fault("TU-36") << "the multiplier takes i4, i5, i8, i9, f8e4m3, "
                              "f8e5m2 and bf16 streams, found "
                           << furiosa::toString(layout.type)
                           << adviseMultiplication(layout.type);
  } else if (isa<TrfType>(getWeight().getType()) &&
             rngd::promote(rngd::feedTypeOf(weightType)) != promoted) {
    InFlightDiagnostic diag = checker.fault("TU-37");
    diag << "the stream is " << furiosa::toString(layout.type)
         << ", the weight " << furiosa::toString(weightType)
         << "; integers pair within 4/5 and 8/9 bits, floats with themselves";
    diag.attachNote(getWeight().getLoc()) << "weight is loaded here";
  }
  if (!isa<TrfType>(getWeight().getType())) {
    checker.fault("TU-46") << "the weight is " << getWeight().getType()
                           << ", expected a TRF tensor; load it with to_trf";
    return;
  }
  if (!checkOperandPlace(checker, "TU-38", "weight", getWeight(), layout))
    return;
  layout.lane = weight.lane.getMapping();
  int64_t lanes = layout.lane.size();
  if (lanes != 1 && lanes != 2 && lanes != 4 && lanes != 8)
    checker.fault("TU-39") << "the weight has " << lanes
                           << " lanes, expected 1, 2, 4 or 8";
  if (!time || !packet || !promoted)
    return;

  // TU-40: one or two flits make a packet.
  int64_t flit = elementsPerFlit(layout.storage);
  Layout packed = layout;
  packed.packet = *packet;
  auto bytes = packed.packetBytes();
  if (!bytes || (*bytes != 32 && *bytes != 64)) {
    checker.fault("TU-40", "packet")
        << "packet \"" << packet->str() << "\" of "
        << furiosa::toString(layout.storage) << " is "
        << (bytes ? std::to_string(*bytes) : "no whole number of")
        << " bytes, expected 32 or 64";
    return;
  }
  int64_t flits = *bytes / 32;
  layout.flitsPerPacket = flits;
  auto packetParts = mapping::split(*packet, flit);
  if (!packetParts) {
    checker.report(packetParts.fault(), "packet", "TU-41");
    return;
  }
  if (!mapping::same(packetParts->second, layout.packet)) {
    auto expected = layout.packet;
    if (flits == 2 && layout.time.size() % 2 == 0)
      if (auto inner = mapping::modulo(layout.time, 2))
        if (auto both = mapping::pair(*inner, layout.packet))
          expected = *both;
    checker.mismatch("TU-41", "packet",
                     "the inner flit of packet is not the flit of the stream",
                     *packet, expected);
    return;
  }
  if (layout.time.size() % flits != 0) {
    checker.fault("TU-42", "packet")
        << flits << " flits a packet do not divide time \"" << layout.time.str()
        << "\" of " << layout.time.size() << " flits";
    return;
  }
  auto timeParts = mapping::split(layout.time, flits);
  if (!timeParts) {
    checker.report(timeParts.fault(), "packet", "TU-42");
    return;
  }
  if (!mapping::same(packetParts->first, timeParts->second)) {
    auto expected = mapping::pair(timeParts->second, layout.packet);
    checker.mismatch("TU-42", "packet",
                     "the flits packed into one packet are not the innermost " +
                         Twine(flits) + " of time",
                     *packet, expected ? *expected : *packet);
    return;
  }
  const Mapping &outer = timeParts->first;
  if (time->size() % outer.size() != 0) {
    checker.fault("TU-43", "time")
        << "time \"" << time->str() << "\" of " << time->size()
        << " steps is no multiple of the " << outer.size()
        << " packets of the stream, \"" << outer.str() << "\"";
    return;
  }
  layout.timeBroadcast = time->size() / outer.size();
  auto broadcast = mapping::split(*time, layout.timeBroadcast);
  if (!broadcast) {
    checker.report(broadcast.fault(), "time", "TU-44");
    return;
  }
  if (!mapping::same(broadcast->first, outer)) {
    InFlightDiagnostic diag = checker.fault("TU-44", "time");
    diag << "the outer part of time is not the time of the stream: found \""
         << broadcast->first.str() << "\", expected \"" << outer.str()
         << "\"; keep its order, with broadcast axes innermost";
    return;
  }
  layout.outerTime = layout.time = *time;
  layout.outerPacket = layout.packet = *packet;
  checkTrfSide(checker, layout, weight, *packet);
  if (!checker.failed())
    checkRelease(*this, checker, layout, weightType, flits);
}

void ContractOuterOp::checkUnit(FaultReporter &reporter,
                                const ChainStage &stage) {
  if (auto derived = deriveContraction(stage); !derived)
    reporter.report(derived.fault(), "time");
}

namespace {
/// An axis that is summed over cells beyond its end.
struct PaddedSum {
  int axis;
  /// The size that its digits in the stream would fill.
  int64_t filled;
};
} // namespace

/// The axes that are summed over cells beyond their end: a digit is in
/// `summed`, and with all its digits in the stream the axis reaches past its
/// size or into padding. Such a sum would add undefined cells. Slices that hold
/// nothing at all have no sums.
static SmallVector<PaddedSum> findPaddedSums(const Layout &layout,
                                             ArrayRef<Mapping> summed) {
  // Behind a fault a mapping may be the identity over no axes.
  const mapping::Axes &axes = layout.outerTime.axes();
  for (const Mapping *part :
       {&layout.cluster, &layout.slice, &layout.outerPacket})
    if (part->axes() != axes)
      return {};
  for (const Mapping &digits : summed)
    if (digits.axes() != axes)
      return {};
  SmallVector<bool> isSummed(axes.size(), false);
  for (const Mapping &digits : summed)
    if (auto canonical = digits.canonical())
      for (const mapping::Factor &factor : canonical->factors)
        if (factor.axis >= 0)
          isSummed[factor.axis] = true;
  SmallVector<int64_t> reach(axes.size(), 0);
  SmallVector<bool> padded(axes.size(), false);
  for (const Mapping *part :
       {&layout.cluster, &layout.slice, &layout.outerTime, &layout.outerPacket})
    if (auto canonical = part->canonical())
      for (const mapping::Factor &factor : canonical->factors)
        if (factor.axis >= 0) {
          bool isPlace = part == &layout.cluster || part == &layout.slice;
          int64_t extent =
              isPlace && factor.runs.size() <= 1 ? factor.live : factor.extent;
          reach[factor.axis] += (extent - 1) * factor.stride;
          padded[factor.axis] |= factor.live != extent;
        }
  SmallVector<PaddedSum> found;
  for (size_t i = 0; i < axes.size(); ++i)
    if (isSummed[i] && (padded[i] || reach[i] >= axes[i].size))
      found.push_back(
          {static_cast<int>(i), std::max(reach[i] + 1, axes[i].size)});
  return found;
}

/// The cells of a packet that the tree adds up.
static Mapping getTreeCells(const Layout &layout) {
  auto parts =
      mapping::split(layout.outerPacket, int64_t(1) << layout.treeDepth);
  return parts ? parts->second : Mapping();
}

static void reportPaddedSum(StageChecker &checker, StringRef clause,
                            const mapping::Axes &axes, PaddedSum sum) {
  const mapping::Axis &axis = axes[sum.axis];
  InFlightDiagnostic diag = checker.notYetSupported(clause);
  diag << "a sum over padding: axis " << axis.name << " of size " << axis.size
       << " is summed, and its digits in the stream reach beyond; ";
  if (sum.filled == axis.size)
    diag << "write it without padding";
  else
    diag << "give it " << sum.filled << " cells, and zeros to those behind the "
         << axis.size << ", which add nothing";
}

/// The contraction of a packet that was probably meant: of as many columns as
/// were written if axes were, else the whole sum.
static Mapping proposeContraction(const Mapping &stream, const Mapping &found) {
  auto canonical = found.canonical();
  bool namesAxis =
      canonical && llvm::any_of(canonical->factors, [](const auto &factor) {
        return factor.axis >= 0;
      });
  int64_t columns = namesAxis ? found.size() : 1;
  if (columns <= stream.size() && stream.size() % columns == 0 &&
      llvm::isPowerOf2_64(stream.size() / columns))
    if (auto parts = mapping::split(stream, stream.size() / columns))
      return parts->first;
  return stream;
}

void ContractPacketOp::check(StageChecker &checker, Layout &layout) {
  auto forget = forgetBehindFault(checker, layout);
  checker.enter(layout, Point::ContractPacket);
  auto packet = checker.parse("packet", getPacketAttr());
  // From here on the values are 32 bits wide; bytes still count the operands.
  layout.type = isFloat(layout.storage) ? ElementType::F32 : ElementType::I32;
  auto bytes = layout.packetBytes();
  if (!bytes || (*bytes != 32 && *bytes != 64))
    return; // Reported at contract_outer.
  if (!packet)
    return;
  if (packet->size() > int64_t(rngd::machine::reducerColumns)) {
    checker.fault("TU-48", "packet")
        << "packet \"" << packet->str() << "\" has " << packet->size()
        << " columns, the reducer has " << rngd::machine::reducerColumns;
    return;
  }
  if (!llvm::isPowerOf2_64(packet->size())) {
    checker.fault("TU-49", "packet")
        << "packet \"" << packet->str() << "\" has " << packet->size()
        << " columns, expected a power of two";
    return;
  }
  // TU-50: a tree of depth d adds up the innermost 2^d cells; the result and
  // what the tree leaves are compared without outermost padding.
  auto wanted = mapping::peel(*packet);
  if (!wanted) {
    checker.report(wanted.fault(), "packet", "TU-50");
    return;
  }
  int64_t cells = layout.packet.size();
  auto leavesWanted = [&](int64_t depth) {
    int64_t summed = int64_t(1) << depth;
    if (cells % summed != 0)
      return false;
    auto parts = mapping::split(layout.packet, summed);
    if (!parts)
      return false;
    auto left = mapping::peel(parts->first);
    return left && mapping::same(*left, *wanted);
  };
  // Of several depths, the one that leaves as many columns as are written, or
  // else the greatest.
  std::optional<int64_t> depth;
  int64_t ratio = cells / packet->size();
  if (cells % packet->size() == 0 && llvm::isPowerOf2_64(ratio) &&
      leavesWanted(llvm::Log2_64(ratio)))
    depth = llvm::Log2_64(ratio);
  for (int64_t d = llvm::Log2_64(cells); !depth && d >= 0; --d)
    if (leavesWanted(d))
      depth = d;
  if (!depth) {
    checker.mismatch("TU-50", "packet",
                     "packet is no contraction of the stream's packet \"" +
                         layout.packet.str() +
                         "\": only its innermost cells can be summed",
                     *packet, proposeContraction(layout.packet, *packet));
    return;
  }
  int64_t left = cells >> *depth;
  layout.treeDepth = *depth;
  layout.packet = *packet;
  if (packet->size() > left) {
    checker.notYetSupported("packet")
        << "a tree that leaves " << left << " columns, written with padding as "
        << packet->size() << "; leave the padding out";
    return;
  }
  if (*depth > 0) {
    Mapping cells = getTreeCells(layout);
    SmallVector<PaddedSum> padded = findPaddedSums(layout, cells);
    if (!padded.empty()) {
      reportPaddedSum(checker, "packet", layout.outerTime.axes(), padded[0]);
      return;
    }
    if (!isFullyLive(cells)) {
      checker.notYetSupported("packet")
          << "padding inside the summed cells \"" << cells.str()
          << "\", which holds no values; sum over an axis that fills them, or "
             "keep them as columns";
      return;
    }
  }
}

/// Cuts `time` into the digits that `kept` names and those that it sums.
static mapping::Result<SmallVector<TimeSegment>>
cutTime(const Mapping &time, ArrayRef<mapping::DivisionTerm> terms) {
  auto canonical = time.canonical();
  if (!canonical)
    return canonical.fault();
  // Where each factor's digits begin and end among the time positions.
  struct Range {
    int64_t stride, extent, live;
  };
  SmallVector<Range> ranges;
  int64_t stride = 1;
  for (const mapping::Factor &factor : llvm::reverse(canonical->factors)) {
    ranges.push_back({stride, factor.extent, factor.live});
    stride *= factor.extent;
  }
  SmallVector<TimeSegment> segments;
  int64_t bottom = time.size();
  for (const mapping::DivisionTerm &term : terms) {
    int64_t top = term.dividendStride * term.count;
    for (const Range &range : ranges)
      if (term.dividendStride >= range.stride &&
          term.dividendStride < range.stride * range.extent &&
          top >= range.stride * range.live)
        top = range.stride * range.extent; // Padding belongs to its axis.
    if (bottom % top != 0)
      return mapping::Fault{"TU-54", "extent",
                            "the kept digits do not end at a digit of time"};
    if (bottom != top)
      segments.push_back({bottom / top, top, false});
    segments.push_back({top / term.dividendStride, term.dividendStride, true});
    bottom = term.dividendStride;
  }
  if (bottom != 1)
    segments.push_back({bottom, 1, false});
  return segments;
}

void ContractTimeOp::check(StageChecker &checker, Layout &layout) {
  auto forget = forgetBehindFault(checker, layout);
  checker.enter(layout, Point::ContractTime);
  auto time = checker.parse("time", getTimeAttr());
  if (!time)
    return;
  auto terms = mapping::divideExact(layout.time, *time);
  if (!terms) {
    InFlightDiagnostic diag = checker.report(terms.fault(), "time", "TU-51");
    diag << "; the stream has time \"" << layout.time.str() << "\"";
    return;
  }
  for (size_t i = 1; i < terms->size(); ++i)
    if ((*terms)[i].divisorStride >= (*terms)[i - 1].divisorStride) {
      checker.fault("TU-52", "time")
          << "time \"" << time->str()
          << "\" does not keep the order of the stream's time \""
          << layout.time.str() << "\"";
      return;
    }
  auto segments = cutTime(layout.time, *terms);
  if (!segments) {
    checker.report(segments.fault(), "time", "TU-54");
    return;
  }
  // What the kept digits spell, padding included, is the only legal result.
  Mapping expected;
  SmallVector<Mapping> summed;
  int64_t innerTime = 1;
  bool sawSum = false;
  for (const TimeSegment &segment : *segments) {
    auto outer = mapping::divide(layout.time, segment.stride);
    auto digit = outer ? mapping::modulo(*outer, segment.size) : outer;
    if (!digit) {
      checker.report(digit.fault(), "time", "TU-54");
      return;
    }
    if (segment.retained) {
      auto joined = mapping::pair(expected, *digit);
      if (!joined) {
        checker.report(joined.fault(), "time", "TU-54");
        return;
      }
      expected = *joined;
      if (sawSum)
        innerTime *= segment.size;
      continue;
    }
    sawSum = true;
    summed.push_back(*digit);
    if (!isFullyLive(*digit)) {
      checker.notYetSupported("time")
          << "padding inside the summed time \"" << digit->str()
          << "\", which holds no values; sum over an axis that fills it, with "
             "zeros behind what counts, or keep it in time";
      return;
    }
  }
  if (!mapping::same(*time, expected)) {
    checker.mismatch(time->size() > expected.size() ? "TU-53" : "TU-54", "time",
                     "the kept axes do not have the extents of the stream",
                     *time, expected);
    return;
  }
  layout.time = *time;
  layout.timeSegments = std::move(*segments);
  layout.innerTime = innerTime;
  // What the tree sums has been looked at before.
  Mapping treeCells = getTreeCells(layout);
  for (PaddedSum sum : findPaddedSums(layout, summed))
    if (!treeCells.uses(sum.axis)) {
      reportPaddedSum(checker, "time", layout.outerTime.axes(), sum);
      return;
    }
}

void ContractLaneOp::check(StageChecker &checker, Layout &layout) {
  checker.enter(layout, Point::Contraction);
  auto time = checker.parse("time", getTimeAttr());
  auto packet = checker.parse("packet", getPacketAttr());
  layout.storage = layout.type; // 32-bit values from here on.
  int64_t columns = layout.packet.size();
  if (columns > int64_t(rngd::machine::reducerColumns)) {
    checker.fault("TU-55") << "packet \"" << layout.packet.str() << "\" has "
                           << columns << " columns, the lane folder takes "
                           << rngd::machine::reducerColumns;
    return;
  }
  int64_t width = rngd::machine::laneFolderElements;
  bool interleaved = getMode() == LaneMode::Interleaved;
  mapping::Result<Mapping> expectedTime = layout.time;
  mapping::Result<Mapping> expectedPacket = layout.packet;
  if (interleaved) {
    expectedTime = mapping::pair(layout.time, layout.packet);
    expectedPacket = mapping::pad(layout.lane, width);
  } else {
    auto padded =
        mapping::pad(layout.packet, llvm::divideCeil(columns, width) * width);
    auto parts =
        padded ? mapping::split(*padded, width)
               : mapping::Result<std::pair<Mapping, Mapping>>(padded.fault());
    if (!parts) {
      checker.report(parts.fault(), "packet", "TU-57");
      return;
    }
    expectedPacket = parts->second;
    auto lanes = mapping::pair(layout.time, layout.lane);
    expectedTime = lanes ? mapping::pair(*lanes, parts->first) : lanes;
  }
  if (!expectedTime || !expectedPacket) {
    checker.report(expectedTime ? expectedPacket.fault() : expectedTime.fault(),
                   "time", "TU-57");
    return;
  }
  StringRef mode = stringifyLaneMode(getMode());
  if (packet && packet->size() != width)
    checker.mismatch("TU-56", "packet",
                     "packet has " + Twine(packet->size()) +
                         " elements, the lane folder sends " + Twine(width),
                     *packet, *expectedPacket);
  else if (packet && !mapping::same(*packet, *expectedPacket))
    checker.mismatch("TU-57", "packet", "packet is not that of mode " + mode,
                     *packet, *expectedPacket);
  if (time && !mapping::same(*time, *expectedTime)) {
    // TU-58 where the time of the stream itself is not kept.
    bool keepsTime = time->size() % layout.time.size() == 0;
    if (keepsTime) {
      auto parts = mapping::split(*time, time->size() / layout.time.size());
      keepsTime = parts && mapping::same(parts->first, layout.time);
    }
    checker.mismatch(keepsTime ? "TU-57" : "TU-58", "time",
                     "time is not that of mode " + mode, *time, *expectedTime);
  }
  // TU-60: what is open at a time fits into the accumulators.
  int64_t lanes = layout.lane.size();
  int64_t paddedLanes = interleaved ? width : lanes;
  int64_t paddedColumns =
      interleaved ? columns : int64_t(rngd::machine::reducerColumns);
  auto cells =
      llvm::checkedMul<int64_t>(paddedLanes * paddedColumns, layout.innerTime);
  if (!cells || *cells > int64_t(rngd::machine::accumulatorCells))
    checker.fault("TU-60") << paddedLanes << " lanes times " << layout.innerTime
                           << " time steps inside the outermost sum times "
                           << paddedColumns << " columns exceed the "
                           << rngd::machine::accumulatorCells
                           << " accumulator cells";
  layout.time = *expectedTime;
  layout.packet = *expectedPacket;
}
