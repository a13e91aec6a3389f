//===- CommitOps.cpp - Rules of commit adapter and commit -----------------===//

#include "OpFormat.h"
#include "StageHelpers.h"
#include "furiosa/Dialect/VISA/IR/StageLoops.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::visa;
using mapping::Mapping;

#define GET_OP_CLASSES
#include "furiosa/Dialect/VISA/IR/CommitOps.cpp.inc"

void VISADialect::registerCommitOps() {
  addOperations<
#define GET_OP_LIST
#include "furiosa/Dialect/VISA/IR/CommitOps.cpp.inc"
      >();
}

void CommitTrimOp::check(StageChecker &checker, Layout &layout) {
  checker.enter(layout, Point::CommitTrim);
  auto packet = checker.parse("packet", getPacketAttr());
  if (layout.type == ElementType::I5 || layout.type == ElementType::I9) {
    layout.unknown = true;
    checker.fault("TU-78") << furiosa::toString(layout.type)
                           << " lives between fetch and contraction only and "
                              "cannot be committed";
    return;
  }
  if (!packet)
    return;
  auto prefix = mapping::isResizeOf(*packet, layout.packet);
  if (!prefix || !*prefix) {
    checker.fault("TU-74", "packet")
        << "packet \"" << packet->str()
        << "\" is not the first part of the stream's packet \""
        << layout.packet.str() << "\"";
    // Only a whole packet is known to be what was meant.
    layout.unknown = packet->size() != layout.packet.size();
    return;
  }
  layout.packet = *packet;
  auto bytes = layout.packetBytes();
  if (!bytes || (*bytes != 8 && *bytes != 16 && *bytes != 24 && *bytes != 32)) {
    layout.unknown = true;
    checker.fault("TU-73", "packet")
        << "packet \"" << packet->str() << "\" of "
        << furiosa::toString(layout.type) << " is "
        << packet->size() * wireBits(layout.type) / 8
        << " bytes, a commit writes 8, 16, 24 or 32";
  }
}

/// f32 to bf16, perhaps with a ReLU.
static void checkCommitCast(StageChecker &checker, Layout &layout, Type to) {
  checker.enter(layout, Point::CommitCast);
  if (layout.context == Context::Sub)
    checker.fault("TU-76") << "a commit cast in the sub context, only main "
                              "converts on the way out";
  if (layout.type != ElementType::F32 || !to.isBF16()) {
    checker.fault("TU-76") << "no commit cast from "
                           << furiosa::toString(layout.type) << " to " << to
                           << ", there is f32 to bf16";
    layout.unknown = true;
    return;
  }
  constexpr int64_t unit = 2 * int64_t(rngd::machine::minCommitBytes);
  if (int64_t bytes = layout.packetBytes().value_or(0); bytes % unit != 0) {
    checker.fault("TU-75") << "packet \"" << layout.packet.str() << "\" is "
                           << bytes << " bytes of f32, a commit cast takes "
                           << unit << " or " << 2 * unit;
    layout.unknown = true;
  }
  layout.type = layout.storage = ElementType::BF16;
}

void CommitCastOp::check(StageChecker &checker, Layout &layout) {
  checkCommitCast(checker, layout, getTo());
}

void CommitCastReluOp::check(StageChecker &checker, Layout &layout) {
  checkCommitCast(checker, layout, getTo());
}

void CommitOp::check(StageChecker &checker, Layout &layout) {
  checker.enter(layout, Point::End);
  auto element = checker.parse("element", getElementAttr());
  if (!isa<DmType>(checker.getChain().getResult().getType())) {
    checker.fault("TU-77")
        << "the chain ends in data memory, but its result is "
        << checker.getChain().getResult().getType();
    return;
  }
  if (!element || checker.failed())
    return;
  auto sequence = mapping::sequence(*element, layout.time, layout.packet,
                                    mapping::SequenceMode::Write);
  if (!sequence) {
    StringRef reason = sequence.fault().reason;
    StringRef rule = reason == "no-target"             ? "MM-24"
                     : reason.starts_with("unwritten") ? "MM-25"
                                                       : "TU-77";
    InFlightDiagnostic diag = checker.report(sequence.fault(), "element", rule);
    diag.attachNote(checker.getOperation()->getLoc())
        << "the stream has time \"" << layout.time.str() << "\" and packet \""
        << layout.packet.str() << "\"";
    return;
  }
  if (!checkSequencerLimits(checker, *element, *sequence, "element"))
    return;
  // MM-26: every stride between packets is a multiple of 8 bytes, and one
  // write covers contiguous bytes.
  unsigned bits = wireBits(layout.type);
  int64_t packetBytes = layout.packetBytes().value_or(0);
  for (const mapping::Entry &entry : sequence->time)
    if (entry.stride * bits % (8 * rngd::machine::dmWriteGranule) != 0) {
      checker.fault("MM-26", "element")
          << "a stride of " << entry.stride << " elements of "
          << furiosa::toString(layout.type) << " is no multiple of "
          << rngd::machine::dmWriteGranule << " bytes; pad the element mapping";
      return;
    }
  if (sequence->packet.size() > 1 ||
      (sequence->packet.size() == 1 && sequence->packet[0].stride != 1)) {
    // The write is as wide as the contiguous part; strides bind it as well.
    int64_t inner =
        sequence->packet.empty() || sequence->packet.back().stride != 1
            ? 1
            : sequence->packet.back().size;
    if (inner * bits % 64 != 0) {
      checker.fault("MM-26", "element")
          << "packet \"" << layout.packet.str()
          << "\" falls apart into runs of " << inner << " elements of "
          << furiosa::toString(layout.type)
          << ", a commit writes multiples of 8 bytes";
      return;
    }
    if (layout.context == Context::Main) {
      checker.fault("MM-26", "element")
          << "packet \"" << layout.packet.str() << "\" of " << packetBytes
          << " bytes is not contiguous in data memory, and main writes it at "
             "once; trim to runs, or commit in the sub context";
      return;
    }
  }
  TensorParts stored = getStoredParts(checker, layout);
  stored.element = tmap::MappingAttr::get(*element, stored.axes);
  checker.checkResult(stored);
}

void CommitOp::checkUnit(FaultReporter &reporter, const ChainStage &stage) {
  if (!isStoredAnywhere(stage))
    reporter.notYetSupported() << "a result of which no slice holds a cell";
  else if (auto derived = deriveCommit(stage); !derived)
    reporter.report(derived.fault(), "element");
}
