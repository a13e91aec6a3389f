//===- VectorChain.cpp - Rules along a chain of vector stages -------------===//
//
// Order of the stages, entry and exit, conversions and ways. ALUs and operands
// stand in VectorOperands.cpp.
//
//===----------------------------------------------------------------------===//

#include "VectorChain.h"
#include "StageHelpers.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::visa;
using mapping::Mapping;
using vector::Cluster;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

StringRef visa::toString(VectorStage stage) {
  static constexpr StringLiteral names[] = {"vector_init",
                                            "vector_tag",
                                            "vector_logic",
                                            "vector_fxp",
                                            "vector_fxp_to_fp",
                                            "vector_narrow",
                                            "vector_fp",
                                            "vector_reduce",
                                            "vector_fp_div",
                                            "vector_widen",
                                            "vector_fp_to_fxp",
                                            "vector_clip",
                                            "vector_inter_slice_reduce",
                                            "vector_filter"};
  return names[static_cast<unsigned>(stage)];
}

VectorStage visa::getStage(Cluster cluster) {
  static constexpr VectorStage stages[] = {VectorStage::Logic, VectorStage::Fxp,
                                           VectorStage::Fp, VectorStage::FpDiv,
                                           VectorStage::Clip};
  return stages[static_cast<unsigned>(cluster)];
}

//===----------------------------------------------------------------------===//
// Order of the stages
//===----------------------------------------------------------------------===//

void visa::enterStage(StageChecker &checker, Layout &layout, VectorStage next,
                      StringRef rule) {
  checker.enter(layout, Point::Vector);
  VectorState &state = layout.vector;
  Operation *op = checker.getOperation();
  bool isCluster = next == VectorStage::Logic || next == VectorStage::Fxp ||
                   next == VectorStage::Fp || next == VectorStage::Clip;
  auto note = [&](InFlightDiagnostic &diag, Operation *other) {
    if (other)
      diag.attachNote(other->getLoc()) << "it stands here";
  };
  if (state.reducer && !state.isReducerFirst && next != VectorStage::Filter) {
    InFlightDiagnostic diag = checker.fault("VE-62");
    diag << "the chain of ALUs was passed before vector_inter_slice_reduce; "
            "only vector_filter and vector_final follow it";
    note(diag, state.reducer);
  } else if (next == state.stage && !isCluster && state.op) {
    InFlightDiagnostic diag = checker.fault(rule == "VE-6" ? "VE-7" : rule);
    diag << (state.op->getName() == op->getName()
                 ? toString(next)
                 : StringRef("vector_tag or vector_unzip"))
         << " stands once in a chain; split the chain into two";
    note(diag, state.op);
  } else if (next < state.stage) {
    InFlightDiagnostic diag = checker.fault(rule);
    diag << toString(next) << " lies before " << toString(state.stage)
         << ", which the stream has passed; the order is fixed, split the "
            "chain into two";
    note(diag, state.op);
  } else if (!state.chain && next != VectorStage::Tag &&
             next != VectorStage::Filter) {
    checker.fault(rule) << "elements have no execution ids yet; write "
                           "vector_tag zero before this stage";
  }
  if (!state.chain)
    state.chain = op;
  // A note points at the first op of a stage that stands once.
  if (state.stage < next || (state.stage == next && (isCluster || !state.op)))
    state.op = op;
  state.stage = std::max(state.stage, next);
}

void visa::checkWays(StageChecker &checker, const Layout &layout,
                     bool wantsNarrow) {
  if (layout.vector.isNarrow == wantsNarrow)
    return;
  if (wantsNarrow)
    checker.fault("VE-11") << "packets have eight elements, this stage takes "
                              "four; put vector_narrow before it";
  else
    checker.fault("VE-10") << "packets have four elements, this stage takes "
                              "eight; put vector_widen before it";
}

/// VE-13: the scalar of a conversion.
static void checkScalar(StageChecker &checker, const Layout &layout,
                        ElementType wanted) {
  if (layout.type != wanted)
    checker.fault("VE-13") << "the stream is " << furiosa::toString(layout.type)
                           << ", this stage takes " << furiosa::toString(wanted)
                           << "; leave it out, or take the bits as they are "
                              "with vector_reinterpret";
}

//===----------------------------------------------------------------------===//
// Entry, tag, exit
//===----------------------------------------------------------------------===//

void VectorInitOp::check(StageChecker &checker, Layout &layout) {
  checker.enter(layout, Point::VectorInit);
  layout.vector = VectorState();
  if (layout.type == ElementType::I5 || layout.type == ElementType::I9)
    checker.fault("VE-67") << furiosa::toString(layout.type)
                           << " lives between fetch and contraction only; "
                              "widen to i32 with fetch_cast instead of "
                              "zero_point_sub";
  else if (layout.type != ElementType::I32 && layout.type != ElementType::F32)
    checker.fault("VE-2") << "the stream is " << furiosa::toString(layout.type)
                          << ", the vector engine takes i32 and f32; widen it "
                             "with fetch_cast";
  if (layout.packet.size() != int64_t(rngd::machine::vectorWideElements))
    checker.fault("VE-3") << "packet \"" << layout.packet.str() << "\" has "
                          << layout.packet.size()
                          << " elements, a flit has eight 32-bit lanes";
}

void VectorTagOp::check(StageChecker &checker, Layout &layout) {
  enterStage(checker, layout, VectorStage::Tag);
  switch (getMode()) {
  case TagMode::AxisToggle:
    checker.fault("VE-34") << "tags by the parity of an axis do not lower; use "
                              "vector_unzip";
    return;
  case TagMode::ValidCount:
  case TagMode::Vrf:
    checker.notYetSupported()
        << "VE-35: the tag mode " << stringifyTagMode(getMode())
        << "; write vector_tag zero or vector_tag compare";
    return;
  case TagMode::Zero:
  case TagMode::Compare:
    break;
  }
  for (Attribute attribute : getComparisons()) {
    TypedAttr boundary = cast<CompareAttr>(attribute).getBoundary();
    if (boundary && visa::getElementType(boundary.getType()) != layout.type)
      checker.fault("VE-33")
          << "a boundary of " << boundary.getType() << ", the stream is "
          << furiosa::toString(layout.type) << describeLiteral(layout.type);
  }
}

void VectorFilterOp::check(StageChecker &checker, Layout &layout) {
  enterStage(checker, layout, VectorStage::Filter);
  auto guard = vector::Guard::parse(getGuard());
  if (!guard)
    checker.fault("VE-32") << describeGuardFault(getGuard());
  else if (guard->isNever())
    checker.fault("VE-28") << "no execution id passes the guard; name a bit, "
                              "or write ---- for all";
  else if (layout.vector.unzip)
    checker.fault("VE-45") << "no filter in pair mode, nor behind its zip";
  else if (layout.vector.isNarrow)
    checker.fault("VE-46") << "packets have four elements; put vector_widen "
                              "before the filter";
  else
    checker.notYetSupported()
        << "VE-71: a filter, whose packing of results is not public; guard "
           "the slots of the stages instead";
}

void VectorFinalOp::check(StageChecker &checker, Layout &layout) {
  checker.enter(layout, Point::VectorFinal);
  VectorState &state = layout.vector;
  if (state.isPaired())
    checker.fault("VE-50") << "two groups are open; fuse them with vector_zip";
  if (state.isNarrow) {
    checker.fault("VE-12") << "packets have four elements; put vector_widen "
                              "before vector_final";
    return;
  }
  if (layout.packetBytes() != int64_t(rngd::machine::flitBytes))
    checker.fault("VE-5") << "packet \"" << layout.packet.str()
                          << "\" is not 32 bytes";
  int64_t clusters = layout.cluster.size(), slices = layout.slice.size();
  if ((clusters != 1 && clusters != 2) ||
      (slices != 64 && slices != 128 && slices != 256))
    checker.fault("VE-4") << "cluster \"" << layout.cluster.str()
                          << "\" and slice \"" << layout.slice.str()
                          << "\" have " << clusters << " and " << slices
                          << " positions, expected 1 or 2, and 64, 128 or 256";
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

static void checkConversion(StageChecker &checker, Layout &layout,
                            VectorStage stage, ElementType from, ElementType to,
                            int64_t width) {
  enterStage(checker, layout, stage);
  checkWays(checker, layout, /*wantsNarrow=*/false);
  checkScalar(checker, layout, from);
  if (width < 0 || width > 31)
    checker.fault("VE-14") << "integer width " << width
                           << " is outside 0 to 31; 31 is a plain integer";
  layout.type = layout.storage = to;
}

void VectorFxpToFpOp::check(StageChecker &checker, Layout &layout) {
  checkConversion(checker, layout, VectorStage::FxpToFp, ElementType::I32,
                  ElementType::F32, int64_t(getWidth()));
}

void VectorFpToFxpOp::check(StageChecker &checker, Layout &layout) {
  checkConversion(checker, layout, VectorStage::FpToFxp, ElementType::F32,
                  ElementType::I32, int64_t(getWidth()));
}

void VectorReinterpretOp::check(StageChecker &checker, Layout &layout) {
  checker.enter(layout, Point::Vector);
  auto to = visa::getElementType(getTo());
  if (to != ElementType::I32 && to != ElementType::F32) {
    checker.fault("VE-13") << "a stream is i32 or f32, not " << getTo()
                           << "; write to i32 or to f32";
    return;
  }
  layout.type = layout.storage = *to;
}

//===----------------------------------------------------------------------===//
// Narrow and widen
//===----------------------------------------------------------------------===//

/// Changes the time of the stream; in pair mode, and behind it, that of both
/// groups.
template <typename Change>
static std::optional<mapping::Fault> changeTime(Layout &layout, Change change) {
  auto time = change(layout.time);
  if (!time)
    return time.fault();
  if (layout.vector.zip) {
    auto pairTime = change(layout.vector.pairTime);
    if (!pairTime)
      return pairTime.fault();
    layout.vector.pairTime = *pairTime;
  }
  layout.time = *time;
  return std::nullopt;
}

void visa::compareClause(StageChecker &checker, StringRef rule,
                         StringRef clause, StringAttr text,
                         const Mapping &expected) {
  auto found = checker.parse(clause, text);
  if (found && !mapping::same(*found, expected))
    checker.mismatch(rule, clause, clause + " does not follow from the stream",
                     *found, expected);
}

void VectorNarrowOp::check(StageChecker &checker, Layout &layout) {
  enterStage(checker, layout, VectorStage::Narrow);
  VectorState &state = layout.vector;
  bool splits = getKind() == NarrowKind::Split;
  if (!splits && state.isPaired())
    checker.fault("VE-49") << "no trim in pair mode; use split, or zip the "
                              "groups first";
  if (state.isNarrow || layout.packet.size() != 8) {
    checker.fault(splits ? "VE-15" : "VE-20")
        << "packet \"" << layout.packet.str() << "\" has "
        << layout.packet.size() << " elements, expected a flit of eight";
    return;
  }
  auto halves = mapping::split(layout.packet, 4);
  if (!halves) {
    checker.report(halves.fault(), "packet", splits ? "VE-17" : "VE-22");
    return;
  }
  auto &[outer, inner] = *halves;
  state.isNarrow = true;
  if (splits) {
    if (auto fault = changeTime(layout, [&](const Mapping &time) {
          return mapping::pair(time, outer);
        })) {
      checker.report(*fault, "time", "VE-16");
      return;
    }
    compareClause(checker, "VE-16", "time", getTimeAttr(), layout.time);
    compareClause(checker, "VE-17", "packet", getPacketAttr(), inner);
  } else {
    auto padding = Mapping::parse("1 # 2", layout.packet.axes());
    if (!padding || !mapping::same(outer, *padding))
      checker.fault("VE-21", "packet")
          << "the upper half of packet \"" << layout.packet.str()
          << "\" is no padding and would be lost; use split";
    else
      compareClause(checker, "VE-22", "packet", getPacketAttr(), inner);
  }
  layout.packet = inner;
}

void VectorWidenOp::check(StageChecker &checker, Layout &layout) {
  enterStage(checker, layout, VectorStage::Widen);
  VectorState &state = layout.vector;
  bool concats = getKind() == WidenKind::Concat;
  if (!concats && state.isPaired())
    checker.fault("VE-49") << "no pad in pair mode; use concat, or zip the "
                              "groups first";
  if (!state.isNarrow || layout.packet.size() != 4) {
    checker.fault(concats ? "VE-18" : "VE-23")
        << "packet \"" << layout.packet.str() << "\" has "
        << layout.packet.size() << " elements, expected four; put "
        << "vector_narrow before it";
    return;
  }
  state.isNarrow = false;
  if (concats) {
    auto parts = mapping::split(layout.time, 2);
    auto packet = parts ? mapping::pair(parts->second, layout.packet)
                        : mapping::Result<Mapping>(parts.fault());
    std::optional<mapping::Fault> fault;
    if (!packet)
      fault = packet.fault();
    else
      fault = changeTime(layout, [](const Mapping &time) {
        auto pair = mapping::split(time, 2);
        return pair ? mapping::Result<Mapping>(pair->first)
                    : mapping::Result<Mapping>(pair.fault());
      });
    if (fault) {
      checker.report(*fault, "time", "VE-19");
      // On with what was meant.
      auto time = checker.parse("time", getTimeAttr()),
           packet = checker.parse("packet", getPacketAttr());
      layout.unknown = !time || !packet || packet->size() != 8;
      if (!layout.unknown) {
        layout.time = *time;
        layout.packet = *packet;
      }
      return;
    }
    compareClause(checker, "VE-19", "time", getTimeAttr(), layout.time);
    compareClause(checker, "VE-19", "packet", getPacketAttr(), *packet);
    layout.packet = *packet;
    return;
  }
  auto padded = mapping::pad(layout.packet, 8);
  if (!padded) {
    checker.report(padded.fault(), "packet", "VE-23");
    return;
  }
  compareClause(checker, "VE-23", "packet", getPacketAttr(), *padded);
  layout.packet = *padded;
}
