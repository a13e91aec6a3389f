//===- VectorChain.cpp - Rules along a chain of vector stages -------------===//
//
// Order of the stages, ways, ALUs, operands, stash and pair mode.
//
//===----------------------------------------------------------------------===//

#include "VectorChain.h"
#include "StageHelpers.h"
#include "furiosa/Dialect/VISA/IR/StageLoops.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::visa;
using mapping::Mapping;
using vector::Alu;
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
// ALUs
//===----------------------------------------------------------------------===//

Cluster visa::getZipCluster(VectorZipOp op) {
  static constexpr Cluster clusters[] = {Cluster::Logic, Cluster::Fxp,
                                         Cluster::Fp, Cluster::Clip};
  return clusters[static_cast<unsigned>(op.getCluster())];
}

namespace {
/// A function as a stage names it.
struct Request {
  Cluster cluster;
  StringRef name;

  bool isOpen() const { return cluster == Cluster::Fp && name == "mul"; }
};
} // namespace

/// What a stage asks of the ALUs; nothing for other stages, and in pair mode
/// where both groups skip.
static std::optional<Request> getRequest(Operation *op) {
  if (auto zip = dyn_cast<VectorZipOp>(op))
    return Request{getZipCluster(zip), stringifyVectorFn(zip.getFn())};
  auto alu = dyn_cast<VectorAluInterface>(op);
  if (!alu)
    return std::nullopt;
  auto skips = [](Attribute slot) {
    return cast<SlotAttr>(slot).getKind() == SlotKind::Skip;
  };
  if (alu.getGroup() && llvm::all_of(alu.getSlots(), skips))
    return std::nullopt;
  return Request{alu.getCluster(), alu.getFnName()};
}

/// The ALU of a named function; which one does not hang on the scalar.
static std::optional<Alu> getNamedAlu(const Request &request) {
  for (const vector::Operation &row : vector::operations())
    if (vector::clusterOf(row.alu) == request.cluster &&
        row.name == request.name)
      return row.alu;
  return std::nullopt;
}

/// In the order in which an open `mul` takes them.
static constexpr std::pair<Alu, StringLiteral> multipliers[] = {
    {Alu::FpMul0, "mul0"}, {Alu::FpMul1, "mul1"}, {Alu::FpFma, "mul_fma"}};

/// The function that an open `mul` stands for, or an empty name.
static StringRef resolveMul(Operation *op) {
  SmallVector<Alu> named;
  unsigned openBefore = 0;
  for (Operation &other : *op->getBlock()) {
    auto request = getRequest(&other);
    if (!request)
      continue;
    if (!request->isOpen()) {
      if (auto alu = getNamedAlu(*request))
        named.push_back(*alu);
    } else if (other.isBeforeInBlock(op)) {
      ++openBefore;
    }
  }
  for (const auto &[alu, name] : multipliers)
    if (!llvm::is_contained(named, alu) && openBefore-- == 0)
      return name;
  return "";
}

const vector::Operation *visa::getVectorOperation(Operation *op,
                                                  ElementType type) {
  auto request = getRequest(op);
  if (!request)
    return nullptr;
  return vector::findOperation(
      request->cluster, request->isOpen() ? resolveMul(op) : request->name,
      type);
}

static std::optional<Alu> getAlu(Operation *op) {
  auto request = getRequest(op);
  if (!request)
    return std::nullopt;
  if (request->isOpen())
    request->name = resolveMul(op);
  return getNamedAlu(*request);
}

/// The stage before `op` that holds an ALU, or null.
static Operation *findHolder(Operation *op, Alu alu) {
  for (Operation *at = op->getPrevNode(); at; at = at->getPrevNode())
    if (getAlu(at) == alu)
      return at;
  return nullptr;
}

/// Functions that do the same on an ALU that no stage of the chain holds.
static std::string listAlternatives(Operation *op,
                                    const vector::Operation &row) {
  SmallVector<std::string> list;
  for (const vector::Operation &other : vector::operations()) {
    if (other.function != row.function || other.alu == row.alu)
      continue;
    if (llvm::any_of(*op->getBlock(),
                     [&](Operation &at) { return getAlu(&at) == other.alu; }))
      continue;
    list.push_back(
        ("vector_" + vector::toString(vector::clusterOf(other.alu)) +
         (vector::clusterOf(other.alu) == Cluster::FpDiv ? ""
                                                         : " " + other.name))
            .str());
  }
  return llvm::join(list, " or ");
}

void visa::claimAlu(Operation *op, const vector::Operation *row,
                    StageChecker &checker) {
  auto request = getRequest(op);
  if (!request)
    return;
  StringRef rule = isa<VectorZipOp>(op) ? "VE-52" : "VE-8";
  auto noteHolder = [&](InFlightDiagnostic &diag, Alu alu) {
    if (Operation *holder = findHolder(op, alu))
      diag.attachNote(holder->getLoc()) << "it is taken here";
  };
  if (request->isOpen() && resolveMul(op).empty()) {
    InFlightDiagnostic diag = checker.fault(rule);
    diag << "no multiplier is free: fp_mul0, fp_mul1 and fp_fma are taken; "
            "split the chain into two";
    for (const auto &[alu, name] : multipliers)
      noteHolder(diag, alu);
    return;
  }
  auto alu = getAlu(op);
  if (!alu || !findHolder(op, *alu))
    return;
  size_t inCluster = 1;
  for (Operation *at = op->getPrevNode(); at; at = at->getPrevNode())
    if (auto other = getRequest(at))
      inCluster += other->cluster == request->cluster;
  size_t capacity = vector::alusOf(request->cluster).size();
  if (inCluster > capacity) {
    checker.fault("VE-9") << "the " << vector::toString(request->cluster)
                          << " cluster has " << capacity
                          << " ALUs, this is stage " << inCluster
                          << "; split the chain into two";
    return;
  }
  InFlightDiagnostic diag = checker.fault(rule);
  diag << "ALU " << vector::toString(*alu) << " is already taken; ";
  std::string alternatives = row ? listAlternatives(op, *row) : "";
  if (!alternatives.empty())
    diag << "use " << alternatives << ", or ";
  diag << "split the chain into two";
  noteHolder(diag, *alu);
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
    diag << toString(next)
         << " stands once in a chain; split the chain into "
            "two";
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
                           << ", this stage takes "
                           << furiosa::toString(wanted);
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
        << "VE-35: the tag mode " << stringifyTagMode(getMode());
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
          << furiosa::toString(layout.type);
  }
}

void VectorFilterOp::check(StageChecker &checker, Layout &layout) {
  enterStage(checker, layout, VectorStage::Filter);
  if (layout.vector.unzip)
    checker.fault("VE-45") << "no filter in pair mode, nor behind its zip";
  else if (layout.vector.isNarrow)
    checker.fault("VE-46") << "packets have four elements; put vector_widen "
                              "before the filter";
  else
    checker.notYetSupported()
        << "VE-71: a filter, whose packing of results is not public";
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
    checker.fault("VE-13") << "a stream is i32 or f32, not " << getTo();
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

//===----------------------------------------------------------------------===//
// Stash
//===----------------------------------------------------------------------===//

void VectorStashOp::check(StageChecker &checker, Layout &layout) {
  checker.enter(layout, Point::Vector);
  VectorState &state = layout.vector;
  if (state.unzip) {
    checker.fault("VE-44") << "no stash in pair mode, nor behind its zip";
    return;
  }
  switch (state.stage) {
  case VectorStage::Init:
  case VectorStage::FxpToFp:
  case VectorStage::Reduce:
  case VectorStage::Widen:
  case VectorStage::FpToFxp:
  case VectorStage::Filter:
  case VectorStage::InterSliceReduce:
    checker.fault("VE-36") << toString(state.stage)
                           << " has no write port for the stash; write it "
                              "behind a stage with ALUs, vector_tag or "
                              "vector_narrow";
    return;
  default:
    break;
  }
  if (state.stashWrite) {
    InFlightDiagnostic diag = checker.fault("VE-37");
    diag << "the stash is written once in a chain";
    diag.attachNote(state.stashWrite->getLoc()) << "it is written here";
    return;
  }
  state.stashWrite = getOperation();
  state.stashType = layout.type;
  state.isStashNarrow = state.isNarrow;
  state.stashTime = layout.time;
  state.stashPacket = layout.packet;
}

/// VE-38 … VE-44: a slot that reads the stash.
static void readStash(StageChecker &checker, Layout &layout,
                      const vector::Guard &guard) {
  VectorState &state = layout.vector;
  Operation *write = state.stashWrite;
  auto note = [&](InFlightDiagnostic &diag, Operation *op, StringRef what) {
    diag.attachNote(op->getLoc()) << "it is " << what << " here";
  };
  if (state.unzip) {
    checker.fault("VE-44") << "no stash in pair mode, nor behind its zip";
  } else if (state.reducer && !state.isReducerFirst) {
    checker.fault("VE-43") << "vector_inter_slice_reduce drops the stash";
  } else if (!write) {
    checker.fault("VE-38") << "nothing is stashed; put vector_stash where the "
                              "operand flows";
  } else if (state.stashRead) {
    InFlightDiagnostic diag = checker.fault("VE-39");
    diag << "the stash is read once in a chain; load the operand into the VRF "
            "for more";
    note(diag, state.stashRead, "read");
  } else if (layout.type != state.stashType) {
    InFlightDiagnostic diag = checker.fault("VE-40");
    diag << "the stash holds " << furiosa::toString(state.stashType)
         << ", the stream is " << furiosa::toString(layout.type)
         << "; put vector_reinterpret before the stash";
    note(diag, write, "written");
  } else if (layout.vector.isNarrow != state.isStashNarrow) {
    InFlightDiagnostic diag = checker.fault("VE-41");
    diag << "the stash holds packets of " << (state.isStashNarrow ? 4 : 8)
         << " elements, the stream has " << (state.isStashNarrow ? 8 : 4);
    note(diag, write, "written");
  } else if (guard.isGroup()) {
    checker.fault("VE-42") << "a read of the stash that only bit 3 guards "
                              "cannot be told from a zip; guard another bit, "
                              "or none";
  } else if (!mapping::same(state.stashTime, layout.time) ||
             !mapping::same(state.stashPacket, layout.packet)) {
    checker.notYetSupported()
        << "a stash of time \"" << state.stashTime.str() << "\" packet \""
        << state.stashPacket.str() << "\" for a stream of time \""
        << layout.time.str() << "\" packet \"" << layout.packet.str() << "\"";
  }
  state.stashRead = checker.getOperation();
}

//===----------------------------------------------------------------------===//
// Operand slots
//===----------------------------------------------------------------------===//

uint32_t visa::getPattern(TypedAttr scalar) {
  if (auto number = dyn_cast<FloatAttr>(scalar))
    return static_cast<uint32_t>(
        number.getValue().bitcastToAPInt().getZExtValue());
  return static_cast<uint32_t>(cast<IntegerAttr>(scalar).getInt());
}

SmallVector<VectorSlot, 4> visa::getVectorSlots(VectorAluInterface op) {
  SmallVector<VectorSlot, 4> slots;
  size_t nextTensor = 0;
  for (auto [index, attribute] : llvm::enumerate(op.getSlots())) {
    auto slot = cast<SlotAttr>(attribute);
    if (slot.getKind() == SlotKind::Skip)
      continue;
    VectorSlot result;
    result.kind = slot.getKind();
    result.guard = slot.getIds();
    if (op.getGroup())
      result.guard = {uint8_t(index * vector::groupBit), vector::groupBit};
    if (slot.getValue())
      result.value = getPattern(slot.getValue());
    if (slot.getWith())
      result.with = getPattern(slot.getWith());
    if (slot.getKind() == SlotKind::Vrf)
      result.tensor = op.getTensors()[nextTensor++];
    slots.push_back(result);
  }
  if (op.getGroup()) {
    // The groups exclude each other, so their order is free.
    if (slots.size() == 2 && slots[0].kind != SlotKind::Imm)
      std::swap(slots[0], slots[1]);
    if (slots.size() == 2 && slots[0].kind == SlotKind::Apply) {
      slots.pop_back();
      slots[0].guard = {};
    }
  } else if (slots.empty()) {
    VectorSlot all;
    all.kind = SlotKind::Apply;
    if (op.getGuard())
      all.guard = vector::Guard::parse(*op.getGuard()).value_or(all.guard);
    slots.push_back(all);
  }
  return slots;
}

/// VE-30, VE-66: a VRF operand in the order of the stream.
static void checkTensor(StageChecker &checker, const Layout &layout,
                        Value operand) {
  if (!isa<VrfType>(operand.getType())) {
    checker.fault("VE-66") << "the operand is " << operand.getType()
                           << ", expected a VRF tensor; load it with to_vrf";
    return;
  }
  TensorParts parts = getTensorParts(operand.getType());
  if (visa::getElementType(parts.elementType) != layout.type) {
    checker.fault("VE-30") << "the operand holds " << parts.elementType
                           << ", the stream is "
                           << furiosa::toString(layout.type);
    return;
  }
  if (!checkOperandPlace(checker, "VE-66", "operand", operand, layout))
    return;
  // It is read in the order of the stream; axes that it lacks are broadcast.
  auto sequence =
      mapping::sequence(parts.element.getMapping(), layout.flowTime(),
                        layout.packet, mapping::SequenceMode::Read);
  if (!sequence)
    checker.report(sequence.fault(), {}, "VE-66");
  else
    checkSequencerLimits(checker, parts.element.getMapping(), *sequence, {});
}

/// VE-30, VE-31, VE-68: constants.
static void checkConstants(StageChecker &checker, const Layout &layout,
                           SlotAttr slot, StringRef name, unsigned arity) {
  TypedAttr value = slot.getValue();
  if (value && visa::getElementType(value.getType()) != layout.type)
    checker.fault("VE-30") << "an immediate of " << value.getType()
                           << ", the stream is "
                           << furiosa::toString(layout.type)
                           << (layout.type == ElementType::F32
                                   ? "; write it with a point"
                                   : "; write an integer");
  else if (value && (name.starts_with("sh") || name == "sar") &&
           getPattern(value) > 31)
    checker.fault("VE-68") << "shift amount "
                           << static_cast<int32_t>(getPattern(value))
                           << " is outside 0 to 31";
  TypedAttr with = slot.getWith();
  if (arity != 3) {
    if (with)
      checker.fault("VE-31") << name
                             << " has one operand; drop the constant "
                                "behind with";
  } else if (!with) {
    checker.fault("VE-31") << name
                           << " needs a second operand in each slot; "
                              "write imm 2.0 with 1.0";
  } else if (!with.getType().isF32()) {
    checker.fault("VE-31") << "the second operand is a constant of f32, found "
                           << with.getType();
  }
}

/// VE-24 … VE-31: the slots of a stage with operands.
static void checkSlots(VectorAluInterface op, unsigned arity,
                       StageChecker &checker, Layout &layout) {
  if (op.getSlots().empty()) {
    checker.fault("VE-24") << "no operand slot: the stage would do nothing";
    return;
  }
  bool isGroup = op.getGroup();
  unsigned immediates = 0, registerReads = 0, nextTensor = 0;
  std::optional<size_t> always;
  for (auto [index, attribute] : llvm::enumerate(op.getSlots())) {
    auto slot = cast<SlotAttr>(attribute);
    vector::Guard guard = slot.getIds();
    SlotKind kind = slot.getKind();
    if (kind == SlotKind::Skip)
      continue;
    if (isGroup && (kind == SlotKind::Stash || !slot.getGuard().empty())) {
      checker.fault("VE-51")
          << "an operand of a group is a constant, a VRF tensor or skip, "
             "without a guard";
      return;
    }
    if (guard.isNever()) {
      checker.fault("VE-28")
          << "no execution id passes the guard of slot " << index;
      return;
    }
    if (always && !isGroup) {
      checker.fault("VE-29")
          << "slot " << index << " stands behind slot " << *always
          << ", which takes all elements; put it first or guard that one";
      return;
    }
    if (kind == SlotKind::Imm &&
        ++immediates > rngd::machine::vectorOpImmediates) {
      checker.fault("VE-26")
          << "a stage has " << rngd::machine::vectorOpImmediates
          << " immediates; move one value into the VRF or "
             "to another stage";
      return;
    }
    if (kind == SlotKind::Imm && registerReads && !isGroup) {
      checker.fault("VE-27") << "the operand from the register file is the "
                                "last slot; put the immediate before it";
      return;
    }
    if (kind != SlotKind::Imm && ++registerReads > 1) {
      checker.fault("VE-27") << "a stage reads the register file once; VRF and "
                                "stash share the port";
      return;
    }
    if (guard.isAlways())
      always = index;
    checkConstants(checker, layout, slot, op.getFnName(), arity);
    if (kind == SlotKind::Stash)
      readStash(checker, layout, guard);
    if (kind == SlotKind::Vrf && nextTensor < op.getTensors().size())
      checkTensor(checker, layout, op.getTensors()[nextTensor++]);
  }
}

void visa::checkVectorAlu(VectorAluInterface op, StageChecker &checker,
                          Layout &layout) {
  Cluster cluster = op.getCluster();
  VectorState &state = layout.vector;
  enterStage(checker, layout, getStage(cluster));
  checkWays(checker, layout, vector::ways(cluster) == 4);
  if (op.getFnName() == "sar_round") {
    checker.notYetSupported() << "VE-71: sar_round, whose rounding is not "
                                 "public";
    return;
  }
  if (state.isPaired() != op.getGroup())
    checker.fault("VE-51")
        << (op.getGroup()
                ? "there are no groups; put vector_unzip behind vector_init"
                : "two groups are open; write group and an operand for each, "
                  "or fuse them with vector_zip");
  auto other =
      layout.type == ElementType::I32 ? ElementType::F32 : ElementType::I32;
  const vector::Operation *row = getVectorOperation(op, layout.type);
  const vector::Operation *wrong = getVectorOperation(op, other);
  claimAlu(op, row ? row : wrong, checker);
  if (!row && wrong) {
    checker.fault("VE-13") << "the stream is " << furiosa::toString(layout.type)
                           << ", " << op.getFnName() << " takes "
                           << furiosa::toString(other)
                           << "; convert the values, or take the bits as they "
                              "are with vector_reinterpret";
    return;
  }
  if (row && row->arity == 1) {
    auto guard = vector::Guard::parse(op.getGuard().value_or("----"));
    if (guard && guard->isNever())
      checker.fault("VE-28") << "no execution id passes the guard";
  } else if (row) {
    checkSlots(op, row->arity, checker, layout);
  }
}

void visa::checkVectorAluUnit(VectorAluInterface op, FaultReporter &reporter,
                              const ChainStage &stage) {
  for (Value operand : op.getTensors())
    if (auto derived = deriveVrfOperand(operand, stage); !derived)
      reporter.report(derived.fault(), {});
  // The indexers are counted once, at the first stage that finds none.
  unsigned before = 0;
  for (const StageRecord &record : stage.records.take_front(stage.index))
    if (auto other = dyn_cast<VectorAluInterface>(record.op))
      before += !other.getTensors().empty();
  if (!op.getTensors().empty() && before >= rngd::machine::vectorReadIndexers)
    reporter.notYetSupported()
        << "more than " << rngd::machine::vectorReadIndexers
        << " stages of a chain that read the VRF";
  const vector::Operation *row = getVectorOperation(op, stage.before().type);
  if (row && row->arity == 3 &&
      getVectorSlots(op).size() > rngd::machine::vectorOpImmediates)
    reporter.notYetSupported() << "fma with three immediates and an operand "
                                  "from the register file";
}
