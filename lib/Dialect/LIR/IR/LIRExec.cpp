//===- LIRExec.cpp - What the units of one exec owe one another -----------===//
//
// Order of the units on a route, agreement of their counts along the stream,
// release rules of the feed buffer, memory effects of the whole command.
//
//===----------------------------------------------------------------------===//

#include "LIRUnits.h"
#include "furiosa/Dialect/Utils/ElementTypes.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::lir;
namespace machine = furiosa::rngd::machine;

StringRef ExecOp::getDefaultDialect() { return "lir"; }

void ExecOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  auto read = [&](OpOperand &operand) {
    effects.emplace_back(MemoryEffects::Read::get(), &operand);
  };
  auto write = [&](OpOperand &operand) {
    effects.emplace_back(MemoryEffects::Write::get(), &operand);
  };
  for (Operation &unit : getBody().getOps())
    llvm::TypeSwitch<Operation *>(&unit)
        .Case<FetchSequencerOp>([&](FetchSequencerOp op) {
          for (OpOperand &operand : op->getOpOperands())
            read(operand);
        })
        .Case<TrfSequencerOp>(
            [&](TrfSequencerOp op) { read(op.getSourceMutable()); })
        .Case<VectorAluOp>([&](VectorAluOp op) {
          for (OpOperand &operand : op.getVrfMutable())
            read(operand);
        })
        .Case<TrfStoreOp, VrfStoreOp, CommitSequencerOp, FillOp>(
            [&](auto op) { write(op.getTargetMutable()); });
}

//===----------------------------------------------------------------------===//
// Order of the units
//===----------------------------------------------------------------------===//

/// Stands for all units of the vector engine, whose order is their own.
static constexpr StringLiteral vectorUnits = "vector_*";

/// Names of the units that may follow `unit`, null for the start of a route.
static SmallVector<StringRef> getSuccessors(Operation *unit, Context context) {
  bool sub = context == Context::Sub;
  if (!unit && sub)
    return {"fetch_sequencer", "fill"};
  if (!unit)
    return {"fetch_sequencer"};
  return llvm::TypeSwitch<Operation *, SmallVector<StringRef>>(unit)
      .Case<FetchSequencerOp>([](auto) -> SmallVector<StringRef> {
        return {"table_lookup", "fetch_adapter", "zero_point_sub",
                "switch",       "custom_switch", "collect"};
      })
      .Case<TableLookupOp>([](auto) -> SmallVector<StringRef> {
        return {"fetch_adapter", "switch", "custom_switch", "collect"};
      })
      .Case<FetchAdapterOp, ZeroPointSubOp>([](auto) -> SmallVector<StringRef> {
        return {"switch", "custom_switch", "collect"};
      })
      .Case<SwitchOp, CustomSwitchOp>(
          [](auto) -> SmallVector<StringRef> { return {"collect"}; })
      .Case<CollectOp>([&](auto) -> SmallVector<StringRef> {
        if (sub)
          return {"trf_store", "vrf_store", vectorUnits,
                  "cast",      "transpose", "commit_adapter"};
        return {"feed_buffer",    vectorUnits, "cast",     "transpose",
                "commit_adapter", "trf_store", "vrf_store"};
      })
      .Case<FeedBufferOp>(
          [](auto) -> SmallVector<StringRef> { return {"trf_sequencer"}; })
      .Case<TrfSequencerOp>(
          [](auto) -> SmallVector<StringRef> { return {"packet_reducer"}; })
      .Case<PacketReducerOp>(
          [](auto) -> SmallVector<StringRef> { return {"time_reducer"}; })
      .Case<TimeReducerOp>(
          [](auto) -> SmallVector<StringRef> { return {"lane_folder"}; })
      .Case<LaneFolderOp>([](auto) -> SmallVector<StringRef> {
        return {vectorUnits, "cast", "transpose", "commit_adapter"};
      })
      .Case<CastOp>([](auto) -> SmallVector<StringRef> {
        return {"transpose", "commit_adapter"};
      })
      .Case<TransposeOp>(
          [](auto) -> SmallVector<StringRef> { return {"commit_adapter"}; })
      .Case<CommitAdapterOp>(
          [](auto) -> SmallVector<StringRef> { return {"commit_sequencer"}; })
      .Default([&](Operation *op) -> SmallVector<StringRef> {
        if (isVectorUnit(op))
          return {vectorUnits, "cast", "transpose", "commit_adapter",
                  "vrf_store"};
        return {};
      });
}

static StringRef getUnitName(Operation *unit) {
  return unit->getName().stripDialect();
}

static LogicalResult verifyOrder(ExecOp exec) {
  Operation *last = nullptr;
  for (Operation &unit : exec.getBody().getOps()) {
    StringRef name =
        isVectorUnit(&unit) ? StringRef(vectorUnits) : getUnitName(&unit);
    if (!isa_and_nonnull<LIRDialect>(unit.getDialect()) ||
        isa<ExecOp, DmaOp, AllocOp>(unit))
      return unit.emitOpError("LIR-20: is no operation unit, which alone stand "
                              "in lir.exec");
    SmallVector<StringRef> allowed = getSuccessors(last, exec.getContext());
    if (!llvm::is_contained(allowed, name)) {
      if (isa<FeedBufferOp>(unit) && exec.getContext() == Context::Sub)
        return unit.emitOpError("TU-46: only the main context contracts");
      InFlightDiagnostic diag = unit.emitOpError("LIR-20: ");
      if (allowed.empty())
        diag << "nothing follows " << getUnitName(last);
      else
        diag << "expected " << llvm::join(allowed, " or ")
             << (last ? " after " + getUnitName(last).str() : " at the start");
      return diag;
    }
    last = &unit;
  }
  SmallVector<StringRef> missing = getSuccessors(last, exec.getContext());
  if (!missing.empty())
    return exec.emitOpError("LIR-20: the route ends early, expected ")
           << llvm::join(missing, " or ")
           << (last ? " after " + getUnitName(last).str() : " at the start");
  return success();
}

//===----------------------------------------------------------------------===//
// Counts along the stream
//===----------------------------------------------------------------------===//

static Type getTypeAttr(Operation &op, StringRef name) {
  return op.getAttrOfType<TypeAttr>(name).getValue();
}

namespace {
/// A unit of the fetch adapter, with the types in front of it and behind it.
struct Conversion {
  Operation *op;
  Type from, to;
};

/// Follows the stream through the units of one exec.
struct StreamChecker {
  ExecOp exec;
  /// Flits that leave the unit just passed.
  int64_t flits = 0;
  /// Element type where a unit says it; null elsewhere.
  Type element;
  FetchSequencerOp fetch;
  /// Conversions of the fetch adapter, in their order.
  SmallVector<Conversion, 2> conversions;
  /// A SwitchOp or CustomSwitchOp; null without.
  Operation *exchange = nullptr;
  CollectOp collect;
  FeedBufferOp feed;
  TrfSequencerOp trf;
  PacketReducerOp packetReducer;
  int64_t emissions = 0;
  int64_t slots = 0;
  CommitAdapterOp commitAdapter;

  LogicalResult run();
  LogicalResult checkFetch();
  LogicalResult checkSwitch();
  LogicalResult checkFeed();
  LogicalResult checkTrf();
  LogicalResult checkPacketReducer();
  LogicalResult checkTimeReducer(TimeReducerOp op);
  LogicalResult checkLaneFolder(LaneFolderOp op);
  LogicalResult checkVector();
  LogicalResult checkTranspose(TransposeOp op);
  LogicalResult checkCommit(CommitSequencerOp op);

  template <typename Op, typename Expected>
  LogicalResult mismatch(Op op, StringRef what, Expected expected,
                         int64_t found) {
    return op.emitOpError(what)
           << " must be " << expected << ", found " << found;
  }
};
} // namespace

LogicalResult StreamChecker::checkFetch() {
  // The number of steps fits: the op's own verifier ran.
  int64_t steps = *lir::getProduct(fetch.getSizes());
  int64_t bits;
  if (llvm::MulOverflow<int64_t>(steps, fetch.getRead() * 8, bits))
    return fetch.emitOpError("LIR-11: the bytes read do not fit in 64 bits");
  int64_t readBits = fetch.getRead() * 8;
  for (const Conversion &unit : conversions) {
    if (element && element != unit.from)
      return unit.op->emitOpError("TU-4: the stream is ")
             << element << ", found a conversion from " << unit.from;
    // The op's own verifier knows both types.
    int64_t from = wireBits(*getElementType(unit.from));
    int64_t to = wireBits(*getElementType(unit.to));
    if (readBits % from != 0)
      return unit.op->emitOpError("TU-7: a read of ")
             << fetch.getRead() << " bytes holds no whole elements of "
             << unit.from;
    readBits = readBits / from * to;
    if (readBits / 8 > int64_t(machine::mainFetchBytes))
      return unit.op->emitOpError("TU-7: a read may grow to ")
             << machine::mainFetchBytes << " bytes, found " << readBits / 8;
    if (llvm::MulOverflow(bits / from, to, bits))
      return unit.op->emitOpError(
          "LIR-11: the bytes read do not fit in 64 bits");
    element = unit.to;
  }
  int64_t bytes = bits / 8;
  int64_t packet = fetch.getPacket();
  if (bits % 8 != 0 || bytes % packet != 0)
    return fetch.emitOpError("LIR-11: ")
           << steps << " reads of " << fetch.getRead()
           << " bytes do not make whole packets of " << packet;
  int64_t perPacket = llvm::divideCeil(packet, int64_t(machine::flitBytes));
  if (fetch.getFlits() != bytes / packet * perPacket)
    return mismatch(fetch, "LIR-11: flits", bytes / packet * perPacket,
                    fetch.getFlits());
  if (collect.getFlitsPerPacket() != perPacket)
    return mismatch(collect, "LIR-11: flits_per_packet", perPacket,
                    collect.getFlitsPerPacket());
  flits = fetch.getFlits();
  return success();
}

LogicalResult StreamChecker::checkSwitch() {
  if (fetch.getPacket() % int64_t(machine::accessWordBytes) != 0)
    return exchange->emitOpError("TU-3: the switch moves words of ")
           << machine::accessWordBytes << " bytes, found packets of "
           << fetch.getPacket();
  int64_t copies;
  if (auto op = dyn_cast<SwitchOp>(exchange)) {
    copies = op.getCopies();
    int64_t split = op.getTime0();
    if (op.getTopology() == Topology::InterTranspose)
      split *= op.getSlices()[1];
    int64_t packets = flits / collect.getFlitsPerPacket();
    if (packets % split != 0)
      return op.emitOpError("TU-15: the ")
             << packets << " packets are no multiple of " << split;
  } else {
    copies = cast<CustomSwitchOp>(exchange).getCopies();
  }
  if (llvm::MulOverflow(flits, copies, flits))
    return exchange->emitOpError("LIR-11: the number of flits does not fit");
  return success();
}

LogicalResult StreamChecker::checkTranspose(TransposeOp op) {
  if (element && wireBits(*getElementType(element)) != unsigned(op.getBits()))
    return op.emitOpError("TU-65: the stream is ")
           << element << ", found bits " << op.getBits();
  int64_t perBatch = op.getRows() * op.getFlitsPerRow();
  if (flits % perBatch != 0)
    return op.emitOpError("TU-70: ")
           << flits << " flits are no batches of " << perBatch;
  if (llvm::MulOverflow(flits / perBatch, op.getOutRows(), flits))
    return op.emitOpError("LIR-11: the number of flits does not fit");
  return success();
}

/// The release that a command is for: of the program around it, or as noted at
/// its function; empty if neither says one.
static StringRef getRelease(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent;
       parent = parent->getParentOp()) {
    StringRef key = parent->getName().getStringRef() == "resource.program"
                        ? "release"
                        : "lir.release";
    if (auto release = dyn_cast_or_null<StringAttr>(parent->getAttr(key)))
      return release;
  }
  return "";
}

LogicalResult StreamChecker::checkFeed() {
  int64_t perPacket = int64_t(feed.getCollectFlits());
  int64_t packets = feed.getTime() / feed.getTimeBroadcast();
  int64_t expected;
  if (llvm::MulOverflow(packets, perPacket, expected) || expected != flits)
    return feed.emitOpError("TU-43: ")
           << packets << " packets of " << perPacket
           << " flits are multiplied, but collect gives " << flits << " flits";
  // The stream comes as it left the fetch adapter; i5 and i9 come from there
  // only.
  Type type = getMLIRType(
      feed.getContext(), rngd::elementTypeOf(toMachine(feed.getElementType())));
  if (element && element != type)
    return feed.emitOpError("TU-36: the stream comes as ")
           << element << " from fetch, found "
           << stringifyFeedType(feed.getElementType());
  if (!element && feed.getElementType() == feed.getPromoted() &&
      isa<IntegerType>(type))
    return feed.emitOpError("TU-9: only zero_point_sub makes a stream of ")
           << stringifyFeedType(feed.getElementType());
  StringRef text = getRelease(feed);
  if (text.empty())
    return success();
  std::optional<rngd::Release> release = rngd::parseRelease(text);
  if (!release)
    return feed.emitOpError("LIR-21: unknown release \"") << text << "\"";
  rngd::FeedBufferVerdict verdict = rngd::feedBufferVerdict(
      *release, toMachine(feed.getElementType()), unsigned(perPacket));
  if (verdict.accepted)
    return success();
  InFlightDiagnostic diag =
      feed.emitOpError("LIR-21: release ")
      << text << " has no feed buffer for "
      << stringifyFeedType(feed.getElementType()) << " with "
      << stringifyFlits(feed.getCollectFlits()) << ": " << verdict.reason;
  diag.attachNote() << rngd::describeFeedBuffer(
      *release, toMachine(feed.getElementType()));
  return diag;
}

LogicalResult StreamChecker::checkTrf() {
  int64_t steps = *lir::getProduct(trf.getSizes());
  if (steps != feed.getTime())
    return mismatch(trf, "LIR-14: steps", feed.getTime(), steps);
  int64_t inner =
      *lir::getProduct(trf.getSizes().take_back(size_t(trf.getBroadcast())));
  if (inner != feed.getTimeBroadcast())
    return mismatch(trf, "LIR-14: steps of the broadcast loops",
                    feed.getTimeBroadcast(), inner);
  int64_t window = int64_t(feed.getCollectFlits()) * machine::flitBytes;
  if (trf.getRead() > window)
    return trf.emitOpError("TU-45: read must be at most the packet of ")
           << window << " bytes, found " << trf.getRead();
  MemType type = trf.getSource().getType();
  if (type.getLanes() != feed.getLanes())
    return mismatch(feed, "TU-39: lanes", type.getLanes(), feed.getLanes());
  int64_t bits = *lir::getStorageBits(feed.getWeightType());
  int64_t weightBits;
  if (llvm::MulOverflow<int64_t>(feed.getElement(), bits, weightBits) ||
      weightBits > type.getBytesPerLane() * 8)
    return feed.emitOpError("LIR-13: a lane holds ")
           << type.getBytesPerLane() << " bytes, found " << feed.getElement()
           << " elements of " << stringifyFeedType(feed.getWeightType());
  return success();
}

LogicalResult StreamChecker::checkPacketReducer() {
  int64_t elements = feed.getPacket();
  int64_t depth = packetReducer.getDepth();
  if (depth > int64_t(llvm::Log2_64(elements)))
    return packetReducer.emitOpError("TU-50: a packet of ")
           << elements << " elements has " << llvm::Log2_64(elements)
           << " levels, found depth " << depth;
  if (packetReducer.getColumns() > elements >> depth)
    return packetReducer.emitOpError("TU-50: a tree of depth ")
           << depth << " leaves " << (elements >> depth) << " columns, found "
           << packetReducer.getColumns();
  FeedType promoted = feed.getPromoted();
  bool isInt = promoted == FeedType::RawInt5 || promoted == FeedType::RawInt9;
  if (packetReducer.getAccumulator().isInteger() != isInt)
    return packetReducer.emitOpError("LIR-15: sums of ")
           << stringifyFeedType(promoted) << " are " << (isInt ? "i32" : "f32")
           << ", found " << packetReducer.getAccumulator();
  element = packetReducer.getAccumulator();
  return success();
}

LogicalResult StreamChecker::checkTimeReducer(TimeReducerOp op) {
  ArrayRef<int64_t> sizes = trf.getSizes();
  ArrayRef<int64_t> strides = op.getStrides();
  if (strides.size() != sizes.size())
    return op.emitOpError("LIR-16: strides belong to the ")
           << sizes.size() << " loops of trf_sequencer, found "
           << strides.size();
  // The loops that move on count through the slots without gap or overlap.
  SmallVector<std::pair<int64_t, int64_t>> moving;
  for (auto [size, stride] : llvm::zip(sizes, strides))
    if (stride != 0 && size > 1)
      moving.emplace_back(stride, size);
  llvm::sort(moving);
  int64_t next = 1;
  for (auto [stride, size] : moving) {
    if (stride != next)
      return op.emitOpError("LIR-16: the loops must fill all slots, found "
                            "stride ")
             << stride << " where " << next << " is due";
    if (llvm::MulOverflow(next, size, next))
      return op.emitOpError("TU-60: the number of slots does not fit");
  }
  if (op.getSlots() != next)
    return mismatch(op, "LIR-16: slots", next, op.getSlots());
  int64_t perRound;
  int64_t time = feed.getTime();
  if (llvm::MulOverflow<int64_t>(op.getSlots(), op.getCount(), perRound) ||
      time % perRound != 0)
    return op.emitOpError("LIR-16: slots ")
           << op.getSlots() << " times count " << op.getCount()
           << " must divide the " << time << " steps";
  // Rounds are the outermost loops: a slot is emitted before it starts again.
  int64_t rounds = time / perRound;
  int64_t left = rounds;
  for (auto [size, stride] : llvm::zip(sizes, strides)) {
    if (left == 1 || (stride != 0 && size > 1))
      break;
    if (left % size == 0)
      left /= size;
    else if (size % left == 0)
      left = 1;
    else
      break;
  }
  if (left != 1)
    return op.emitOpError("LIR-16: sums end ")
           << rounds << " times, but the outermost loops with stride 0 do not "
           << "count to that";
  emissions = time / op.getCount();
  slots = op.getSlots();
  return success();
}

LogicalResult StreamChecker::checkLaneFolder(LaneFolderOp op) {
  if (op.getLive() != feed.getLanes())
    return mismatch(op, "TU-57: live", feed.getLanes(), op.getLive());
  int64_t columns = packetReducer.getColumns();
  bool interleaved = op.getMode() == LaneMode::Interleaved;
  // TU-60: interleaved holds 8 lanes, sequential 32 columns.
  int64_t lanes = interleaved ? int64_t(machine::lanes) : op.getLive();
  int64_t wide = interleaved ? columns : int64_t(machine::reducerColumns);
  if (lanes * slots * wide > int64_t(machine::accumulatorCells))
    return op.emitOpError("TU-60: the accumulator has ")
           << machine::accumulatorCells << " cells, found " << lanes
           << " lanes x " << slots << " slots x " << wide << " columns";
  int64_t perEmission =
      interleaved
          ? columns
          : op.getLive() *
                int64_t(llvm::divideCeil(columns, machine::laneFolderElements));
  if (llvm::MulOverflow(emissions, perEmission, flits))
    return op.emitOpError("LIR-11: the number of flits does not fit");
  return success();
}

LogicalResult StreamChecker::checkVector() {
  // Bits have no type here: behind ALUs the stream may be either.
  element = nullptr;
  return verifyVectorUnits(exec, flits);
}

LogicalResult StreamChecker::checkCommit(CommitSequencerOp op) {
  bool sub = exec.getContext() == Context::Sub;
  int64_t keep = commitAdapter.getKeep();
  if (auto cast = commitAdapter.getCast()) {
    if (sub)
      return commitAdapter.emitOpError("TU-76: only the main context converts "
                                       "on the way out");
    if (element && !element.isF32())
      return commitAdapter.emitOpError("TU-76: ")
             << stringifyCommitCast(*cast) << " takes f32, found " << element;
    keep /= 2;
  }
  int64_t write = sub ? int64_t(machine::subCommitBytes) : keep;
  if (op.getWrite() != write)
    return mismatch(op, "LIR-18: write", write, op.getWrite());
  int64_t expected;
  if (llvm::MulOverflow(flits, keep / write, expected))
    return op.emitOpError("LIR-11: the number of writes does not fit");
  int64_t steps = *lir::getProduct(op.getSizes());
  if (steps != expected)
    return mismatch(op, "LIR-18: steps", expected, steps);
  return exchange ? verifyExchangeRace(fetch, op) : success();
}

LogicalResult StreamChecker::run() {
  for (Operation &unit : exec.getBody().getOps()) {
    if (auto op = dyn_cast<FetchSequencerOp>(unit))
      fetch = op;
    else if (isa<TableLookupOp, FetchAdapterOp, ZeroPointSubOp>(unit))
      conversions.push_back(
          {&unit, getTypeAttr(unit, "from"), getTypeAttr(unit, "to")});
    else if (isa<SwitchOp, CustomSwitchOp>(unit))
      exchange = &unit;
    else if (auto op = dyn_cast<CollectOp>(unit))
      collect = op;
    else if (auto op = dyn_cast<FeedBufferOp>(unit))
      feed = op;
    else if (auto op = dyn_cast<TrfSequencerOp>(unit))
      trf = op;
    else if (auto op = dyn_cast<PacketReducerOp>(unit))
      packetReducer = op;
  }
  if (failed(checkFetch()) || (exchange && failed(checkSwitch())))
    return failure();
  if (feed && (failed(checkFeed()) || failed(checkTrf()) ||
               failed(checkPacketReducer())))
    return failure();

  bool hasVector = false;
  for (Operation &unit : exec.getBody().getOps()) {
    LogicalResult result =
        llvm::TypeSwitch<Operation *, LogicalResult>(&unit)
            .Case<TrfStoreOp>([&](TrfStoreOp op) -> LogicalResult {
              int64_t rows =
                  op.getRowsPerLane() * op.getTarget().getType().getLanes();
              if (rows == flits)
                return success();
              return mismatch(op, "LIR-12: rows in all lanes", flits, rows);
            })
            .Case<VrfStoreOp>([&](VrfStoreOp op) -> LogicalResult {
              if (op.getRows() == flits)
                return success();
              return mismatch(op, "LIR-12: rows", flits, op.getRows());
            })
            .Case<TimeReducerOp>(
                [&](TimeReducerOp op) { return checkTimeReducer(op); })
            .Case<LaneFolderOp>(
                [&](LaneFolderOp op) { return checkLaneFolder(op); })
            .Case<CastOp>([&](CastOp op) -> LogicalResult {
              if (element && element != op.getFrom())
                return op.emitOpError("TU-61: the stream is ")
                       << element << ", found cast from " << op.getFrom();
              element = op.getTo();
              return success();
            })
            .Case<TransposeOp>(
                [&](TransposeOp op) { return checkTranspose(op); })
            .Case<CommitAdapterOp>([&](CommitAdapterOp op) {
              commitAdapter = op;
              return success();
            })
            .Case<CommitSequencerOp>(
                [&](CommitSequencerOp op) { return checkCommit(op); })
            .Default([&](Operation *op) -> LogicalResult {
              if (hasVector || !isVectorUnit(op))
                return success();
              hasVector = true;
              return checkVector();
            });
    if (failed(result))
      return failure();
  }
  return success();
}

LogicalResult ExecOp::verifyRegions() {
  if (failed(verifyOrder(*this)))
    return failure();
  // A fill has no stream.
  if (isa<FillOp>(getBody().front().front()))
    return success();
  StreamChecker checker;
  checker.exec = *this;
  return checker.run();
}
