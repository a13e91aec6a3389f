//===- FetchOps.cpp - Rules of fetch, fetch adapter and collect -----------===//

#include "OpFormat.h"
#include "StageHelpers.h"
#include "furiosa/Dialect/VISA/IR/StageLoops.h"
#include "furiosa/Target/RNGD/Conversions.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::visa;
using mapping::Mapping;

#define GET_OP_CLASSES
#include "furiosa/Dialect/VISA/IR/FetchOps.cpp.inc"

void VISADialect::registerFetchOps() {
  addOperations<
#define GET_OP_LIST
#include "furiosa/Dialect/VISA/IR/FetchOps.cpp.inc"
      >();
}

LogicalResult FetchOp::verify() {
  if (getOther() && getWindows())
    return emitOpError("not yet supported: windows of two tensors in turn");
  if (bool(getOther()) == bool(getAlongAttr()))
    return success();
  return emitOpError("two tensors and the axis of their index (along) come "
                     "together");
}

/// TU-10, MM-18: the index of two tensors, as the mapping of its axis.
static std::optional<Mapping> checkPair(FetchOp fetch, StageChecker &checker,
                                        const Mapping &time,
                                        const Mapping &packet) {
  Type type = fetch.getSource().getType(), other = fetch.getOther().getType();
  if (type != other) {
    InFlightDiagnostic diag = checker.fault("TU-10 (MM-18)");
    diag << "the two tensors are of one type: found " << other << ", expected "
         << type << "; copy one of them";
    diag.attachNote(fetch.getOther().getLoc())
        << "the second tensor comes from here";
    return std::nullopt;
  }
  const mapping::Axes &axes = time.axes();
  StringRef name = *fetch.getAlong();
  int axis = axes.find(name);
  if (axis < 0 || axes[axis].size != 2) {
    InFlightDiagnostic diag = checker.fault("TU-10 (MM-18)");
    diag << "the pair is told apart by an axis of size 2: found \"" << name
         << "\", which ";
    if (axis < 0)
      diag << "is not declared";
    else
      diag << "has size " << axes[axis].size;
    diag << "; declare one in the axes";
    return std::nullopt;
  }
  TensorParts parts = getTensorParts(type);
  for (auto [clause, part] :
       {std::pair("chip", parts.chip), std::pair("cluster", parts.cluster),
        std::pair("slice", parts.slice), std::pair("element", parts.element)})
    if (part && part.getMapping().uses(axis)) {
      checker.fault("TU-10")
          << "the tensors hold axis " << name << " already, in " << clause
          << " \"" << part.getText() << "\"; take a new axis of size 2";
      return std::nullopt;
    }
  if (packet.uses(axis) || !time.uses(axis)) {
    checker.fault("TU-10", packet.uses(axis) ? "packet" : "time")
        << "axis " << name << " tells the tensors apart: found time \""
        << time.str() << "\" and packet \"" << packet.str()
        << "\", expected it in time; write it there";
    return std::nullopt;
  }
  auto index = Mapping::parse(name, axes);
  if (!index) {
    checker.report(index.fault(), "along", "TU-10");
    return std::nullopt;
  }
  return *index;
}

/// TU-79, TU-80, which say all by themselves.
static bool isWindowRule(const mapping::Fault &fault) {
  return fault.rule == "TU-79" || fault.rule == "TU-80";
}

/// How the stream steps over `memory`, windows in place of rows.
static mapping::Result<mapping::Sequence>
getSequence(FetchOp fetch, const TensorParts &source, const Mapping &memory,
            const Mapping &time, const Mapping &packet) {
  if (!fetch.getWindows())
    return mapping::sequence(memory, time, packet, mapping::SequenceMode::Read);
  auto windows = getWindows(fetch);
  if (!windows)
    return windows.fault();
  // A slice has rows of its own.
  for (const mapping::Window &window : *windows)
    for (tmap::MappingAttr place : {source.chip, source.cluster, source.slice})
      if (place.getMapping().uses(window.axis))
        return mapping::Fault{"TU-79", "window",
                              "axis " + memory.axes()[window.axis].name +
                                  " of windows is spread over \"" +
                                  place.getText().str() +
                                  "\"; give the rows of a slice an axis of "
                                  "their own"};
  auto windowed = mapping::sequenceWindows(memory, *windows, time, packet);
  if (!windowed)
    return windowed.fault();
  return std::move(windowed->sequence);
}

void FetchOp::check(StageChecker &checker, Layout &layout) {
  checker.enter(layout, Point::Fetch);
  layout.fetch = *this;
  TensorParts source = getTensorParts(getSource().getType());
  layout.type = layout.storage =
      visa::getElementType(source.elementType).value_or(ElementType::I32);
  layout.chip = source.chip.getMapping();
  // Where the source is not in data memory, go on as if it were.
  TensorParts spatial =
      source.cluster ? source
                     : getTensorParts(checker.getChain().getResult().getType());
  layout.cluster = spatial.cluster.getMapping();
  layout.slice = spatial.slice.getMapping();
  if (source.axes != checker.getChain().getAxes())
    checker.fault("TU-2") << "the source is over axes " << source.axes
                          << ", the chain's result over "
                          << checker.getChain().getAxes();
  auto time = checker.parse("time", getTimeAttr());
  auto packet = checker.parse("packet", getPacketAttr());
  if (time)
    layout.time = *time;
  if (packet)
    layout.packet = *packet;
  layout.unknown = !time || !packet;
  // MM-52: the Tensor Unit reads data memory only.
  if (!isa<DmType>(getSource().getType())) {
    checker.fault("MM-52") << "the source is " << getSource().getType()
                           << ", the Tensor Unit reads DM tensors only; move "
                              "it there with visa.to_dm";
    return;
  }
  // Behind a fault nothing can be compared with the stream.
  layout.unknown |= checker.failed();
  if (layout.unknown)
    return;
  layout.unknown = true; // Until it is known to read what is there.
  Mapping memory = source.element.getMapping();
  if (getOther()) {
    auto index = checkPair(*this, checker, *time, *packet);
    if (!index)
      return;
    auto both = loops::pairTensors(*index, memory);
    if (!both) {
      checker.report(both.fault(), "time", "TU-10");
      return;
    }
    memory = *both;
  }

  // TU-2, MM-8 … MM-11: every digit has a source or is broadcast, every live
  // cell is read, but for those between windows.
  auto sequence = getSequence(*this, source, memory, *time, *packet);
  if (!sequence && isWindowRule(sequence.fault())) {
    checker.report(sequence.fault(), "");
    return;
  }
  if (!sequence) {
    InFlightDiagnostic diag = checker.report(sequence.fault(), "time", "TU-2");
    diag.attachNote(getSource().getLoc())
        << "the source has element \"" << source.element.getText() << "\"";
    return;
  }
  if (!sequence->coversMemory) {
    InFlightDiagnostic diag = checker.fault("MM-9", "time");
    diag << "time \"" << time->str() << "\" and packet \"" << packet->str()
         << "\" leave cells of the source unread: it has element \""
         << source.element.getText() << "\"; read a tile of it instead";
    return;
  }
  layout.unknown = false;
  checkSequencerLimits(checker, memory, *sequence, "time");

  auto bytes = layout.packetBytes();
  if (!bytes)
    checker.fault("TU-3", "packet")
        << "packet \"" << packet->str() << "\" is no whole number of bytes of "
        << source.elementType;
}

/// Enters an adapter stage that makes `to` of the stream; `rule` and `pairs`
/// say what there is.
static void checkConversion(StageChecker &checker, Layout &layout, Point point,
                            rngd::AdapterStage stage, Type toType,
                            StringRef rule, StringRef pairs) {
  checker.enter(layout, point);
  auto to = visa::getElementType(toType);
  if (!to) {
    checker.fault(rule) << "the chip has no element type " << toType;
    return;
  }
  bool isIdentity = point == Point::FetchCast && layout.type == *to;
  if (!isIdentity && !rngd::findConversion(stage, layout.type, *to)) {
    InFlightDiagnostic diag = checker.fault(rule);
    diag << "no " << toString(point) << " from "
         << furiosa::toString(layout.type) << " to " << furiosa::toString(*to)
         << "; there are " << pairs;
    for (auto [other, otherStage] :
         {std::pair(Point::TableLookup, rngd::AdapterStage::TableLookup),
          std::pair(Point::FetchCast, rngd::AdapterStage::Cast)})
      if (other != point && rngd::findConversion(otherStage, layout.type, *to))
        diag << "; " << toString(other) << " does this one";
    // What follows may be of the type that was meant.
    layout.type = layout.storage = *to;
    layout.unknown = true;
    return;
  }
  layout.type = layout.storage = *to;
  if (!layout.packetBytes())
    checker.fault("TU-3") << "packet \"" << layout.packet.str()
                          << "\" is no whole number of bytes of " << toType;
}

void TableLookupOp::check(StageChecker &checker, Layout &layout) {
  checkConversion(checker, layout, Point::TableLookup,
                  rngd::AdapterStage::TableLookup, getTo(), "TU-5",
                  "f4e2m1 to f8e4m3 and f8e5m2, f8e4m3 and f8e5m2 to bf16");
  layout.fetchCast = *this;
  if (layout.context == Context::Sub)
    checker.fault("TU-5") << "a table lookup in the sub context, only main has "
                             "lookup tables";
}

void FetchCastOp::check(StageChecker &checker, Layout &layout) {
  checkConversion(checker, layout, Point::FetchCast, rngd::AdapterStage::Cast,
                  getTo(), "TU-6",
                  "i4, i8, i16 to i32, f8e4m3, f8e5m2, bf16 to f32, f32 to "
                  "bf16, and the identity");
  layout.fetchCast = *this;
}

void ZeroPointSubOp::check(StageChecker &checker, Layout &layout) {
  checker.enter(layout, Point::ZeroPointSub);
  layout.fetchCast = *this;
  if (layout.type != ElementType::I4 && layout.type != ElementType::I8) {
    checker.fault("TU-8") << "a zero point is subtracted from i4 and i8, found "
                          << furiosa::toString(layout.type);
    return;
  }
  int64_t limit = int64_t(1) << (wireBits(layout.type) - 1);
  int64_t zeroPoint = getZeroPoint();
  if (zeroPoint < -limit || zeroPoint >= limit)
    checker.fault("TU-8") << "zero point " << zeroPoint << " is no value of "
                          << furiosa::toString(layout.type) << ", expected "
                          << -limit << " to " << limit - 1;
  layout.type = layout.storage =
      layout.type == ElementType::I4 ? ElementType::I5 : ElementType::I9;
}

void CollectOp::check(StageChecker &checker, Layout &layout) {
  checker.enter(layout, Point::Collect);
  auto time = checker.parse("time", getTimeAttr());
  auto packet = checker.parse("packet", getPacketAttr());
  int64_t flit = elementsPerFlit(layout.type);
  // P0 = the packet padded to whole flits; the inner flit leaves, the outer
  // ones join time (TU-29).
  int64_t padded = llvm::divideCeil(layout.packet.size(), flit) * flit;
  auto whole = mapping::pad(layout.packet, padded);
  if (!whole) {
    checker.report(whole.fault(), "packet", "TU-29");
    return;
  }
  auto parts = mapping::split(*whole, flit);
  if (!parts) {
    checker.report(parts.fault(), "packet", "TU-29");
    return;
  }
  auto expectedTime = mapping::pair(layout.time, parts->first);
  if (!expectedTime) {
    checker.report(expectedTime.fault(), "time", "TU-29");
    return;
  }
  if (packet && packet->size() != flit) {
    checker.mismatch("TU-28", "packet",
                     "packet has " + Twine(packet->size()) +
                         " elements, a flit holds " + Twine(flit) + " of " +
                         furiosa::toString(layout.type),
                     *packet, parts->second);
  } else if (packet && !mapping::same(*packet, parts->second)) {
    checker.mismatch("TU-29", "packet",
                     "packet is not the inner flit of the stream", *packet,
                     parts->second);
  }
  if (time && !mapping::same(*time, *expectedTime))
    checker.mismatch("TU-29", "time",
                     "time is not that of the stream with its outer flits",
                     *time, *expectedTime);
  // What is right keeps the user's spelling in later messages.
  layout.time =
      time && mapping::same(*time, *expectedTime) ? *time : *expectedTime;
  layout.packet =
      packet && mapping::same(*packet, parts->second) ? *packet : parts->second;
}
