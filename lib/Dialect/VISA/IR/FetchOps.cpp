//===- FetchOps.cpp - Rules of fetch, fetch adapter and collect -----------===//

#include "OpFormat.h"
#include "StageHelpers.h"
#include "furiosa/Dialect/VISA/IR/StageLoops.h"

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
  // MM-52: the Tensor Unit reads data memory only.
  if (!isa<DmType>(getSource().getType())) {
    checker.fault("MM-52") << "the source is " << getSource().getType()
                           << ", the Tensor Unit reads DM tensors only; move "
                              "it there with visa.to_dm";
    return;
  }
  if (!time || !packet || checker.failed())
    return;

  // TU-2, MM-8 … MM-11: every digit has a source or is broadcast, every live
  // cell is read.
  auto sequence = mapping::sequence(source.element.getMapping(), *time, *packet,
                                    mapping::SequenceMode::Read);
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
  checkSequencerLimits(checker, *sequence, "time");

  auto bytes = layout.packetBytes();
  if (!bytes)
    checker.fault("TU-3", "packet")
        << "packet \"" << packet->str() << "\" is no whole number of bytes of "
        << source.elementType;
}

void FetchOp::checkUnit(FaultReporter &reporter, const ChainStage &stage) {
  if (auto derived = deriveFetch(stage); !derived)
    reporter.report(derived.fault(), "packet");
}

/// Whether the fetch unit converts `from` into `to` (TU-6, MM-16).
static bool isFetchCast(ElementType from, ElementType to) {
  if (from == to)
    return true;
  switch (from) {
  case ElementType::I4:
  case ElementType::I8:
  case ElementType::I16:
    return to == ElementType::I32;
  case ElementType::F8E4M3:
  case ElementType::F8E5M2:
  case ElementType::BF16:
    return to == ElementType::F32;
  case ElementType::F32:
    return to == ElementType::BF16;
  default:
    return false;
  }
}

void FetchCastOp::check(StageChecker &checker, Layout &layout) {
  checker.enter(layout, Point::FetchCast);
  layout.fetchCast = *this;
  auto to = visa::getElementType(getTo());
  if (!to) {
    checker.fault("TU-6") << "the chip has no element type " << getTo();
    return;
  }
  if (!isFetchCast(layout.type, *to)) {
    InFlightDiagnostic diag = checker.fault("TU-6");
    diag << "no fetch cast from " << furiosa::toString(layout.type) << " to "
         << furiosa::toString(*to)
         << "; casts are i4, i8, i16 to i32, f8e4m3, f8e5m2, bf16 to f32, f32 "
            "to bf16, and the identity";
    return;
  }
  layout.type = layout.storage = *to;
  if (!layout.packetBytes())
    checker.fault("TU-3") << "packet \"" << layout.packet.str()
                          << "\" is no whole number of bytes of " << getTo();
}

void CollectOp::check(StageChecker &checker, Layout &layout) {
  checker.enter(layout, Point::Collect);
  auto time = checker.parse("time", getTimeAttr());
  auto packet = checker.parse("packet", getPacketAttr());
  int64_t flit = elementsPerFlit(layout.type);
  auto bytes = layout.packetBytes();
  if (bytes && *bytes % rngd::machine::accessWordBytes != 0) {
    checker.notYetSupported("packet")
        << "a packet of " << *bytes << " bytes in front of collect; pad the "
        << "fetch packet to a multiple of " << rngd::machine::accessWordBytes
        << " bytes";
    return;
  }
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
