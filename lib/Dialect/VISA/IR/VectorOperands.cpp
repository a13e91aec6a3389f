//===- VectorOperands.cpp - ALUs of vector stages and their operands ------===//
//
// Which ALU a stage claims, and the rules of slots, register file and stash.
//
//===----------------------------------------------------------------------===//

#include "StageHelpers.h"
#include "VectorChain.h"
#include "furiosa/Dialect/VISA/IR/StageLoops.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::visa;
using vector::Alu;
using vector::Cluster;

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
    // An open mul gives way to a named one that stands behind it.
    for (const auto &[alu, name] : multipliers)
      for (Operation &other : *op->getBlock())
        if (&other != op && getAlu(&other) == alu) {
          diag.attachNote(other.getLoc()) << "it is taken here";
          break;
        }
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
  // A divider of its own stands once for its stage (VE-7).
  if (capacity == 1)
    return;
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

std::optional<GroupAside> visa::findGroupAside(VectorReduceOp op,
                                               const vector::Reduction &row) {
  auto isFree = [&](Alu alu) {
    return llvm::none_of(*op->getBlock(), [&](Operation &other) {
      return getAlu(&other) == alu;
    });
  };
  auto find = [](Cluster cluster, StringRef name, ElementType type) {
    return vector::findOperation(cluster, name, type);
  };
  constexpr uint32_t infinity = 0x7F800000, minusZero = 0x80000000;
  constexpr uint32_t minI32 = minusZero, maxI32 = ~minI32;
  uint32_t identity = row.identity;
  if (isFree(Alu::FpFma)) {
    // 0 * 0 + the identity, but -0, which is the least i32, is -0 + -0.
    if (identity == minusZero)
      return GroupAside{find(Cluster::Fp, "add", ElementType::F32), identity, 0,
                        "11", op};
    if (row.type == ElementType::F32 || identity == 0)
      return GroupAside{find(Cluster::Fp, "fma", ElementType::F32), 0, identity,
                        "112", op};
  }
  if (identity == 0 || identity == infinity)
    for (auto [alu, name] : ArrayRef(multipliers).take_front(2))
      if (isFree(alu))
        return GroupAside{find(Cluster::Fp, name, ElementType::F32), identity,
                          0, "11", op};
  if (identity != maxI32)
    return std::nullopt;
  // In front of narrow, where the cluster has not been passed; what follows
  // would change the elements again.
  Operation *at = op->getPrevNode();
  while (isa_and_nonnull<VectorReinterpretOp>(at))
    at = at->getPrevNode();
  auto narrow = dyn_cast_or_null<VectorNarrowOp>(at);
  if (!narrow)
    return std::nullopt;
  for (at = narrow->getPrevNode(); at && !isa<VectorZipOp>(at);
       at = at->getPrevNode())
    if (isa<VectorFxpToFpOp>(at))
      return std::nullopt;
  // Both saturate.
  if (isFree(Alu::FxpAdd))
    return GroupAside{find(Cluster::Fxp, "add_sat", ElementType::I32), maxI32,
                      0, "11", narrow};
  if (isFree(Alu::FxpMul))
    return GroupAside{find(Cluster::Fxp, "mul_fxp", ElementType::I32), minI32,
                      0, "11", narrow};
  return std::nullopt;
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

/// An axis of the stash that a reduction has taken out of the stream, or -1.
static int findLostAxis(const Layout &layout) {
  const VectorState &state = layout.vector;
  for (size_t axis = 0; axis < layout.time.axes().size(); ++axis)
    if ((state.stashTime.uses(int(axis)) ||
         state.stashPacket.uses(int(axis))) &&
        !layout.time.uses(int(axis)) && !layout.packet.uses(int(axis)))
      return int(axis);
  return -1;
}

/// The elements of a stream in the order in which the stash takes or gives
/// them: of flits whose upper half is padding the lower half.
static mapping::Result<mapping::Mapping>
getStashOrder(const mapping::Mapping &time, const mapping::Mapping &packet,
              bool isHalf) {
  auto halves = mapping::split(packet, isHalf ? 4 : packet.size());
  if (!halves)
    return halves.fault();
  return mapping::pair(time, halves->second);
}

/// Whether what the stash gives next always is what the stream has: trim and pad
/// tell the stash that upper halves are padding.
static bool keepsStashOrder(const Layout &layout, Operation *reader) {
  const VectorState &state = layout.vector;
  bool isTrimmed = false, isPadded = false;
  for (Operation *op = state.stashWrite; op && op != reader;
       op = op->getNextNode()) {
    auto narrow = dyn_cast<VectorNarrowOp>(op);
    auto widen = dyn_cast<VectorWidenOp>(op);
    isTrimmed |= narrow && narrow.getKind() == NarrowKind::Trim;
    isPadded |= widen && widen.getKind() == WidenKind::Pad;
  }
  auto written = getStashOrder(state.stashTime, state.stashPacket, isTrimmed);
  auto read = getStashOrder(layout.time, layout.packet, isPadded);
  return written && read && mapping::same(*written, *read);
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
         << " elements, the stream has " << (state.isStashNarrow ? 8 : 4)
         << "; put vector_stash behind "
         << (state.isStashNarrow ? "a vector_clip" : "vector_narrow");
    note(diag, write, "written");
  } else if (guard.isGroup()) {
    checker.fault("VE-42") << "a read of the stash that only bit 3 guards "
                              "cannot be told from a zip; guard another bit, "
                              "or none";
  } else if (int axis = findLostAxis(layout); axis >= 0) {
    InFlightDiagnostic diag = checker.fault("VE-66");
    diag << "the stash holds a value for each " << layout.time.axes()[axis].name
         << ", an axis that the stream has no more; read the stash before, or "
            "load the operand into the VRF and go on in a chain of its own";
    note(diag, write, "written");
  } else if (!keepsStashOrder(layout, checker.getOperation())) {
    checker.notYetSupported()
        << "a stash of time \"" << state.stashTime.str() << "\" packet \""
        << state.stashPacket.str() << "\" for a stream of time \""
        << layout.time.str() << "\" packet \"" << layout.packet.str()
        << "\"; load the operand into the VRF";
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
                           << furiosa::toString(layout.type) << "; load "
                           << furiosa::toString(layout.type)
                           << ", or put vector_reinterpret before this stage";
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
                           << describeLiteral(layout.type);
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
          << "no execution id passes the guard of slot " << index
          << "; name a bit, or leave the guard out for all";
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
                                 "public; write add and sar";
    return;
  }
  if (state.isPaired() != op.getGroup())
    checker.fault("VE-51")
        << (op.getGroup()
                ? "there are no groups; put vector_unzip behind vector_init"
                : "two groups are open; write group and an operand for each, "
                  "or fuse them with vector_zip");
  // VE-2 has been reported; what follows from it has not to be said.
  if (layout.type != ElementType::I32 && layout.type != ElementType::F32)
    return;
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
      checker.fault("VE-28") << "no execution id passes the guard; name a bit, "
                                "or leave the guard out for all";
  } else if (row) {
    checkSlots(op, row->arity, checker, layout);
  }
}

void visa::checkVectorAluUnit(VectorAluInterface op, FaultReporter &reporter,
                              const ChainStage &stage) {
  for (Value operand : op.getTensors())
    if (auto derived = deriveVrfOperand(operand, stage); !derived)
      reporter.report(derived.fault(), {});
  // The indexers are counted at each stage that finds none.
  unsigned before = 0;
  for (const StageRecord &record : stage.records.take_front(stage.index))
    if (auto other = dyn_cast<VectorAluInterface>(record.op))
      before += !other.getTensors().empty();
  if (!op.getTensors().empty() && before >= rngd::machine::vectorReadIndexers)
    reporter.fault("VE-27")
        << "stage " << before + 1 << " of the chain that reads the VRF, which "
        << rngd::machine::vectorReadIndexers
        << " stages can; split the chain into two";
  const vector::Operation *row = getVectorOperation(op, stage.before().type);
  if (row && row->arity == 3 &&
      getVectorSlots(op).size() > rngd::machine::vectorOpImmediates)
    reporter.fault("VE-26") << "slot " << rngd::machine::vectorOpImmediates
                            << " of fma finds no register for its second "
                               "operand, there are "
                            << rngd::machine::vectorOpImmediates
                            << "; move a slot to another stage";
}
