//===- VectorOps.cpp - Rules of the vector and cast engines ---------------===//

#include "OpFormat.h"
#include "StageHelpers.h"
#include "furiosa/Dialect/VISA/IR/StageLoops.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::visa;
using mapping::Mapping;

//===----------------------------------------------------------------------===//
// Slots: `imm 1, vrf %v`
//===----------------------------------------------------------------------===//

static ParseResult
parseSlots(OpAsmParser &parser, ArrayAttr &slots,
           SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands) {
  SmallVector<Attribute> list;
  Builder &builder = parser.getBuilder();
  auto parseSlot = [&]() -> ParseResult {
    if (succeeded(parser.parseOptionalKeyword("vrf"))) {
      list.push_back(SlotAttr::get(parser.getContext(), TypedAttr()));
      return parser.parseOperand(operands.emplace_back());
    }
    if (failed(parser.parseOptionalKeyword("imm")))
      return parser.emitError(parser.getCurrentLocation(),
                              "expected an operand slot: 'imm' or 'vrf'");
    SMLoc loc = parser.getCurrentLocation();
    int64_t value;
    if (parser.parseInteger(value))
      return failure();
    // Either reading of a 32-bit pattern is fine.
    if (value < INT32_MIN || value > int64_t(UINT32_MAX))
      return parser.emitError(loc, "immediate ")
             << value << " does not fit in 32 bits";
    list.push_back(
        SlotAttr::get(parser.getContext(),
                      builder.getI32IntegerAttr(static_cast<int32_t>(value))));
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseSlot))
    return failure();
  slots = builder.getArrayAttr(list);
  return success();
}

static void printSlots(OpAsmPrinter &printer, Operation *, ArrayAttr slots,
                       OperandRange operands) {
  size_t next = 0;
  printer << '[';
  llvm::interleaveComma(slots, printer, [&](Attribute attribute) {
    auto slot = cast<SlotAttr>(attribute);
    if (auto imm = dyn_cast_or_null<IntegerAttr>(slot.getImm()))
      printer << "imm " << imm.getInt();
    else
      printer << "vrf " << operands[next++];
  });
  printer << ']';
}

#define GET_OP_CLASSES
#include "furiosa/Dialect/VISA/IR/VectorOps.cpp.inc"

void VISADialect::registerVectorOps() {
  addOperations<
#define GET_OP_LIST
#include "furiosa/Dialect/VISA/IR/VectorOps.cpp.inc"
      >();
}

LogicalResult VectorFxpOp::verify() {
  size_t registerSlots = 0;
  for (Attribute attribute : getSlots()) {
    TypedAttr imm = cast<SlotAttr>(attribute).getImm();
    if (!imm)
      ++registerSlots;
    else if (!isa<IntegerAttr>(imm) || !imm.getType().isInteger(32))
      return emitOpError() << "VE-30: immediate " << imm
                           << " has not the i32 of a fixed-point stream";
  }
  if (registerSlots != getOperands().size())
    return emitOpError() << registerSlots << " vrf slots with "
                         << getOperands().size() << " operands";
  return success();
}

//===----------------------------------------------------------------------===//
// Vector engine
//===----------------------------------------------------------------------===//

void VectorInitOp::check(StageChecker &checker, Layout &layout) {
  checker.enter(layout, Point::VectorInit);
  if (layout.context == Context::Sub)
    checker.notYetSupported() << "the vector engine in the sub context";
  if (layout.type != ElementType::I32 && layout.type != ElementType::F32)
    checker.fault("VE-2") << "the stream is " << furiosa::toString(layout.type)
                          << ", the vector engine takes i32 and f32; widen it "
                             "with fetch_cast";
  if (layout.packet.size() != int64_t(rngd::machine::vectorWideElements))
    checker.fault("VE-3") << "packet \"" << layout.packet.str() << "\" has "
                          << layout.packet.size()
                          << " elements, a flit has eight 32-bit lanes";
}

void VectorTagOp::check(StageChecker &checker, Layout &layout) {
  checker.enter(layout, Point::VectorTag);
}

/// The ALU of the Fxp cluster that a function claims (VE 2.1).
static StringRef getFxpAlu(FxpFn fn) {
  switch (fn) {
  case FxpFn::Add:
  case FxpFn::AddSat:
  case FxpFn::Sub:
  case FxpFn::SubSat:
    return "FxpAdd";
  case FxpFn::Shl:
  case FxpFn::ShlSat:
    return "FxpLshift";
  case FxpFn::MulFxp:
  case FxpFn::MulInt:
    return "FxpMul";
  case FxpFn::Shr:
  case FxpFn::Sar:
    return "FxpRshift";
  }
  llvm_unreachable("all functions are listed");
}

void VectorFxpOp::check(StageChecker &checker, Layout &layout) {
  checker.enter(layout, Point::Vector);
  if (layout.type != ElementType::I32)
    checker.fault("VE-13") << "the stream is " << furiosa::toString(layout.type)
                           << ", a fixed-point stage takes i32";
  // VE-8: each ALU runs once in a chain.
  for (Operation *at = getOperation()->getPrevNode(); at;
       at = at->getPrevNode())
    if (auto other = dyn_cast<VectorFxpOp>(at);
        other && getFxpAlu(other.getFn()) == getFxpAlu(getFn())) {
      InFlightDiagnostic diag = checker.fault("VE-8");
      diag << "ALU " << getFxpAlu(getFn())
           << " is already taken; split the chain into two";
      diag.attachNote(other.getLoc()) << "it is taken here";
      break;
    }
  if (getSlots().empty()) {
    checker.fault("VE-24") << "no operand slot: the stage would do nothing";
    return;
  }
  // VE-29: slots are unconditional here, so a second one can never match.
  if (getSlots().size() > 1) {
    checker.fault("VE-29") << "a slot behind an unconditional slot is never "
                              "used; keep one of "
                           << getSlots().size();
    return;
  }
  bool isShift = getFxpAlu(getFn()).ends_with("shift");
  auto slot = cast<SlotAttr>(getSlots()[0]);
  if (auto imm = dyn_cast_or_null<IntegerAttr>(slot.getImm())) {
    if (isShift && (imm.getInt() < 0 || imm.getInt() > 31))
      checker.fault("VE-68")
          << "shift amount " << imm.getInt() << " is outside 0 to 31";
    return;
  }
  if (isShift) {
    checker.notYetSupported() << "a shift amount from the VRF: amounts outside "
                                 "0 to 31 have no defined result (VE-68)";
    return;
  }
  if (getOperands().empty())
    return; // Refused by the op's own verifier.
  Value operand = getOperands()[0];
  TensorParts parts = getTensorParts(operand.getType());
  if (!isa<VrfType>(operand.getType())) {
    checker.fault("VE-66") << "the operand is " << operand.getType()
                           << ", expected a VRF tensor; load it with to_vrf";
    return;
  }
  if (visa::getElementType(parts.elementType) != layout.type) {
    checker.fault("VE-30") << "the operand holds " << parts.elementType
                           << ", the stream is "
                           << furiosa::toString(layout.type);
    return;
  }
  if (!checkOperandPlace(checker, "VE-66", "operand", operand, layout))
    return;
  // It is read in the order of the stream; axes that it lacks are broadcast.
  auto sequence = mapping::sequence(parts.element.getMapping(), layout.time,
                                    layout.packet, mapping::SequenceMode::Read);
  if (!sequence) {
    checker.report(sequence.fault(), {}, "VE-66");
    return;
  }
  checkSequencerLimits(checker, *sequence, {});
}

void VectorFxpOp::checkUnit(FaultReporter &reporter, const ChainStage &stage) {
  for (Value operand : getOperands())
    if (auto derived = deriveVrfOperand(operand, stage); !derived)
      reporter.report(derived.fault(), {});
}

void VectorFinalOp::check(StageChecker &checker, Layout &layout) {
  checker.enter(layout, Point::VectorFinal);
  if (layout.packetBytes() != int64_t(rngd::machine::flitBytes))
    checker.fault("VE-5") << "packet \"" << layout.packet.str()
                          << "\" is not 32 bytes";
}

//===----------------------------------------------------------------------===//
// Cast engine
//===----------------------------------------------------------------------===//

void CastOp::check(StageChecker &checker, Layout &layout) {
  checker.enter(layout, Point::Cast);
  if (layout.context == Context::Sub)
    checker.notYetSupported() << "the cast engine in the sub context";
  auto packet = checker.parse("packet", getPacketAttr());
  auto to = visa::getElementType(getTo());
  bool legal = false;
  if (to && layout.type == ElementType::I32)
    legal = *to == ElementType::I4 || *to == ElementType::I8 ||
            *to == ElementType::I16;
  else if (to && layout.type == ElementType::F32)
    legal = *to == ElementType::F8E4M3 || *to == ElementType::F8E5M2 ||
            *to == ElementType::BF16;
  if (!legal) {
    checker.fault("TU-61") << "no cast from " << furiosa::toString(layout.type)
                           << " to " << getTo()
                           << "; casts are i32 to i4, i8, i16 and f32 to "
                              "f8e4m3, f8e5m2, bf16";
    return;
  }
  auto bytes = layout.packetBytes();
  if (bytes != int64_t(rngd::machine::flitBytes))
    checker.fault("TU-62") << "packet \"" << layout.packet.str()
                           << "\" is not 32 bytes";
  layout.type = layout.storage = *to;
  int64_t flit = elementsPerFlit(*to);
  auto expected = mapping::pad(layout.packet, flit);
  if (!expected) {
    checker.report(expected.fault(), "packet", "TU-64");
    return;
  }
  if (packet && packet->size() != flit)
    checker.mismatch("TU-63", "packet",
                     "packet has " + Twine(packet->size()) +
                         " elements, a flit holds " + Twine(flit) + " of " +
                         furiosa::toString(*to),
                     *packet, *expected);
  else if (packet && !mapping::same(*packet, *expected))
    checker.mismatch("TU-64", "packet",
                     "packet is not the stream's packet padded to a flit",
                     *packet, *expected);
  layout.packet = *expected;
}
