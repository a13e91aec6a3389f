//===- VectorOps.cpp - Text and structure of the vector stages ------------===//
//
// What one stage can tell by itself, and the rules of the cast engine. The
// rules along a chain stand in VectorChain.cpp and VectorOperands.cpp.
//
//===----------------------------------------------------------------------===//

#include "OpFormat.h"
#include "StageHelpers.h"
#include "VectorChain.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/Format.h"

#include <cstdio>

using namespace mlir;
using namespace furiosa;
using namespace furiosa::visa;
using mapping::Mapping;

vector::Guard SlotAttr::getIds() const {
  return vector::Guard::parse(getGuard()).value_or(vector::Guard());
}

//===----------------------------------------------------------------------===//
// Scalars: `1`, `2.5`, `0x7FC00000 : f32`
//===----------------------------------------------------------------------===//

/// The number that is written from `begin` to `end`, where the next token is,
/// without comments. The parser gives every number without a type 64 bits: only
/// the text tells whether one was written, and is rounded to f32 once.
static std::string getNumberText(SMLoc begin, SMLoc end) {
  StringRef text(begin.getPointer(), end.getPointer() - begin.getPointer());
  std::string result;
  for (StringRef line : llvm::split(text, '\n'))
    result += line.split("//").first;
  llvm::erase_if(result, [](char c) { return llvm::isSpace(c); });
  return result;
}

/// An i32 or f32 constant.
static ParseResult parseScalar(OpAsmParser &parser, TypedAttr &scalar) {
  Builder &builder = parser.getBuilder();
  SMLoc loc = parser.getCurrentLocation();
  Attribute attribute;
  if (parser.parseAttribute(attribute))
    return failure();
  std::string text = getNumberText(loc, parser.getCurrentLocation());
  bool hasType = StringRef(text).find_first_of(":#") != StringRef::npos;
  if (auto typed = dyn_cast<TypedAttr>(attribute))
    if (Type type = typed.getType();
        type.isIntOrFloat() && !type.isInteger(1) &&
        !type.isSignlessInteger(32) && !type.isF32() &&
        (hasType || !(type.isSignlessInteger(64) || type.isF64())))
      return parser.emitError(loc, "VE-30: an immediate of ")
             << type << "; immediates are i32 or f32, write the number "
             << "without a type";
  if (auto number = dyn_cast<FloatAttr>(attribute)) {
    StringRef digits = StringRef(text).split(':').first;
    // The bits are written, or an alias is.
    if (digits.contains('x') || digits.contains('#')) {
      scalar = number;
      return success();
    }
    APFloat value(APFloat::IEEEsingle());
    auto status = value.convertFromString(digits, APFloat::rmNearestTiesToEven);
    if (!status) {
      llvm::consumeError(status.takeError());
      return parser.emitError(loc, "VE-30: immediate is no number of f32");
    }
    if (!value.isFinite())
      return parser.emitError(loc, "VE-30: immediate does not fit in f32");
    if (value.isZero() && (*status & APFloat::opInexact))
      return parser.emitError(loc, "VE-30: immediate is too small for f32 and "
                                   "would be 0; write 0.0");
    scalar = FloatAttr::get(builder.getF32Type(), value);
    return success();
  }
  auto number = dyn_cast<IntegerAttr>(attribute);
  if (!number || number.getType().isInteger(1))
    return parser.emitError(loc, "expected a number, an integer for a stream "
                                 "of i32, with a point for one of f32");
  const APInt &value = number.getValue();
  // Either reading of a 32-bit pattern is fine.
  if (!value.isSignedIntN(32) && !value.isIntN(32))
    return parser.emitError(loc, "VE-30: immediate ")
           << llvm::toString(value, 10, /*Signed=*/true)
           << " does not fit in 32 bits";
  scalar = builder.getI32IntegerAttr(
      static_cast<int32_t>(value.sextOrTrunc(64).getSExtValue()));
  return success();
}

/// The shortest decimal that gives the float again.
static std::string printFloat(float value) {
  char text[40];
  for (int digits = 1; digits < 10; ++digits) {
    std::snprintf(text, sizeof(text), "%.*g", digits,
                  static_cast<double>(value));
    if (std::strtof(text, nullptr) == value)
      break;
  }
  std::string result = text;
  if (result.find('.') == std::string::npos)
    result.insert(std::min(result.find('e'), result.size()), ".0");
  return result;
}

static void printScalar(OpAsmPrinter &printer, TypedAttr scalar) {
  if (auto number = dyn_cast<IntegerAttr>(scalar)) {
    printer << number.getInt();
    return;
  }
  const APFloat &value = cast<FloatAttr>(scalar).getValue();
  if (value.isFinite() && scalar.getType().isF32())
    printer << printFloat(value.convertToFloat());
  else
    printer << llvm::format_hex(value.bitcastToAPInt().getZExtValue(), 10,
                                /*Upper=*/true)
            << " : " << scalar.getType();
}

//===----------------------------------------------------------------------===//
// Slots: `[imm 2.0 with 1.0 if "1---", vrf %v]`
//===----------------------------------------------------------------------===//

/// The enumerator that a keyword names; `expected` is said where there is none.
template <typename Enum>
static std::optional<Enum>
parseKeyword(OpAsmParser &parser, std::optional<Enum> (*symbolize)(StringRef),
             const char *expected) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (failed(parser.parseOptionalKeyword(&keyword)))
    keyword = "";
  std::optional<Enum> value = symbolize(keyword);
  if (!value)
    parser.emitError(loc, expected);
  return value;
}

static ParseResult
parseSlots(OpAsmParser &parser, ArrayAttr &slots,
           SmallVectorImpl<OpAsmParser::UnresolvedOperand> &tensors) {
  Builder &builder = parser.getBuilder();
  SmallVector<Attribute> list;
  auto parseSlot = [&]() -> ParseResult {
    auto kind = parseKeyword(
        parser, symbolizeSlotKind,
        "expected an operand slot: 'imm', 'vrf' or 'stash', or in pair mode "
        "'skip' or 'apply'");
    if (!kind)
      return failure();
    TypedAttr value, with;
    std::string guard;
    if (*kind == SlotKind::Imm && failed(parseScalar(parser, value)))
      return failure();
    if (*kind == SlotKind::Vrf &&
        failed(parser.parseOperand(tensors.emplace_back())))
      return failure();
    if (succeeded(parser.parseOptionalKeyword("with")) &&
        failed(parseScalar(parser, with)))
      return failure();
    SMLoc guardLoc = parser.getCurrentLocation();
    if (succeeded(parser.parseOptionalKeyword("if"))) {
      if (failed(parser.parseString(&guard)))
        return failure();
      // In a slot the empty one stands for none.
      if (guard.empty())
        return parser.emitError(guardLoc, "VE-32: ") << describeGuardFault("");
    }
    list.push_back(
        SlotAttr::get(parser.getContext(), *kind, value, with, guard));
    return success();
  };
  if (succeeded(parser.parseOptionalLSquare()) &&
      failed(parser.parseOptionalRSquare()) &&
      (parser.parseCommaSeparatedList(parseSlot) || parser.parseRSquare()))
    return failure();
  slots = builder.getArrayAttr(list);
  return success();
}

static void printSlots(OpAsmPrinter &printer, Operation *, ArrayAttr slots,
                       OperandRange tensors) {
  if (slots.empty())
    return;
  size_t next = 0;
  printer << " [";
  llvm::interleaveComma(slots, printer, [&](Attribute attribute) {
    auto slot = cast<SlotAttr>(attribute);
    printer << stringifySlotKind(slot.getKind());
    if (slot.getKind() == SlotKind::Vrf && next < tensors.size())
      printer << ' ' << tensors[next++];
    if (slot.getValue()) {
      printer << ' ';
      printScalar(printer, slot.getValue());
    }
    if (slot.getWith()) {
      printer << " with ";
      printScalar(printer, slot.getWith());
    }
    if (!slot.getGuard().empty())
      printer << " if \"" << slot.getGuard() << '"';
  });
  printer << ']';
}

//===----------------------------------------------------------------------===//
// Comparisons: `[less 0, equal 5.0, true]`
//===----------------------------------------------------------------------===//

static ParseResult parseComparisons(OpAsmParser &parser,
                                    ArrayAttr &comparisons) {
  SmallVector<Attribute> list;
  auto parseComparison = [&]() -> ParseResult {
    auto kind = parseKeyword(
        parser, symbolizeComparison,
        "expected a comparison: equal, less, greater, less_unsigned, "
        "greater_unsigned, true or false");
    if (!kind)
      return failure();
    TypedAttr boundary;
    if (vector::hasBoundary(static_cast<vector::Comparison>(*kind)) &&
        failed(parseScalar(parser, boundary)))
      return failure();
    list.push_back(CompareAttr::get(parser.getContext(), *kind, boundary));
    return success();
  };
  if (succeeded(parser.parseOptionalLSquare()) &&
      (parser.parseCommaSeparatedList(parseComparison) ||
       parser.parseRSquare()))
    return failure();
  comparisons = parser.getBuilder().getArrayAttr(list);
  return success();
}

static void printComparisons(OpAsmPrinter &printer, Operation *,
                             ArrayAttr comparisons) {
  if (comparisons.empty())
    return;
  printer << " [";
  llvm::interleaveComma(comparisons, printer, [&](Attribute attribute) {
    auto comparison = cast<CompareAttr>(attribute);
    printer << stringifyComparison(comparison.getKind());
    if (comparison.getBoundary()) {
      printer << ' ';
      printScalar(printer, comparison.getBoundary());
    }
  });
  printer << ']';
}

//===----------------------------------------------------------------------===//
// `time "…" packet "…"`, time only where it changes
//===----------------------------------------------------------------------===//

static ParseResult parseTimeAndPacket(OpAsmParser &parser, StringAttr &time,
                                      StringAttr &packet) {
  if (succeeded(parser.parseOptionalKeyword("time")) &&
      failed(parseMappingText(parser, time)))
    return failure();
  return failure(parser.parseKeyword("packet") ||
                 parseMappingText(parser, packet));
}

static void printTimeAndPacket(OpAsmPrinter &printer, Operation *op,
                               StringAttr time, StringAttr packet) {
  if (time) {
    printer << "time ";
    printMappingText(printer, op, time);
    printer << ' ';
  }
  printer << "packet ";
  printMappingText(printer, op, packet);
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

/// Operands of a function of a cluster, whatever the scalar; 0 if the cluster
/// has no such function. `mul` and `sar_round` are not in the table: the one
/// has an open ALU, of the other the rounding is not known.
static unsigned getArity(vector::Cluster cluster, StringRef name) {
  if ((name == "mul" && cluster == vector::Cluster::Fp) ||
      (name == "sar_round" && cluster == vector::Cluster::Fxp))
    return 2;
  for (const vector::Operation &row : vector::operations())
    if (vector::clusterOf(row.alu) == cluster && row.name == name)
      return row.arity;
  return 0;
}

std::string visa::listFunctions(vector::Cluster cluster, unsigned arity) {
  SmallVector<StringRef> names;
  for (const vector::Operation &row : vector::operations())
    if (vector::clusterOf(row.alu) == cluster &&
        (arity == 0 || row.arity == arity) &&
        !llvm::is_contained(names, row.name))
      names.push_back(row.name);
  return llvm::join(names, ", ");
}

/// Stages that have a function which another cluster lacks.
static std::string listStages(StringRef name) {
  SmallVector<std::string> stages;
  for (const vector::Operation &row : vector::operations()) {
    std::string stage =
        ("vector_" + vector::toString(vector::clusterOf(row.alu))).str();
    if (row.name == name && !llvm::is_contained(stages, stage))
      stages.push_back(stage);
  }
  return llvm::join(stages, " and ");
}

std::string visa::describeGuardFault(StringRef guard) {
  return ("\"" + guard +
          "\" is no guard; write 1, 0 or - for each of bits 0 to 3, with ! in "
          "front to negate")
      .str();
}

StringRef visa::describeLiteral(ElementType type) {
  return type == ElementType::F32 ? "; write it with a point"
                                  : "; write an integer";
}

static LogicalResult verifyGuard(Operation *op, StringRef guard) {
  if (vector::Guard::parse(guard))
    return success();
  return op->emitOpError() << "VE-32: " << describeGuardFault(guard);
}

LogicalResult visa::verifyVectorAlu(VectorAluInterface op) {
  StringRef name = op.getFnName();
  unsigned arity = getArity(op.getCluster(), name);
  if (arity == 0) {
    InFlightDiagnostic diag = op.emitOpError();
    diag << "has no function " << name << "; there are "
         << listFunctions(op.getCluster());
    if (std::string stages = listStages(name); !stages.empty())
      diag << "; " << name << " is one of " << stages;
    return diag;
  }
  size_t tensors = 0;
  for (Attribute attribute : op.getSlots()) {
    auto slot = cast<SlotAttr>(attribute);
    bool isPairOnly =
        slot.getKind() == SlotKind::Skip || slot.getKind() == SlotKind::Apply;
    if (isPairOnly && !op.getGroup())
      return op.emitOpError() << stringifySlotKind(slot.getKind())
                              << " stands only in pair mode; write group";
    if ((slot.getKind() == SlotKind::Imm) != bool(slot.getValue()))
      return op.emitOpError() << "an immediate has a value, no other slot has";
    tensors += slot.getKind() == SlotKind::Vrf;
    if (!slot.getGuard().empty() && failed(verifyGuard(op, slot.getGuard())))
      return failure();
  }
  if (tensors != op.getTensors().size())
    return op.emitOpError() << tensors << " vrf slots with "
                            << op.getTensors().size() << " operands";
  if (op.getGroup() && op.getSlots().size() != 2)
    return op.emitOpError() << "group takes one slot for each of the two "
                               "groups, found "
                            << op.getSlots().size();
  for (Attribute attribute : op.getSlots()) {
    SlotKind kind = cast<SlotAttr>(attribute).getKind();
    if (kind != SlotKind::Skip && (kind == SlotKind::Apply) != (arity == 1))
      return op.emitOpError()
             << name << " takes " << (arity == 1 ? "no operand" : "an operand")
             << ", found " << stringifySlotKind(kind)
             << (arity != 1      ? "; write imm, vrf or stash"
                 : op.getGroup() ? "; write apply or skip"
                                 : "; write it without slots");
  }
  if (op.getGuard()) {
    if (arity != 1 || op.getGroup())
      return op.emitOpError()
             << (op.getGroup() ? "groups have no guard; write apply or skip"
                               : "a guard stands at each slot; write it "
                                 "behind the operand");
    if (failed(verifyGuard(op, *op.getGuard())))
      return failure();
  }
  if (op.getMode() && arity == 1)
    return op.emitOpError() << name << " takes the stream alone; leave mode \""
                            << *op.getMode() << "\" out";
  if (op.getMode() && !vector::isMode(*op.getMode(), arity))
    return op.emitOpError() << "mode \"" << *op.getMode() << "\" is none of "
                            << (arity == 2 ? "00, 01, 10, 11"
                                           : "012, 002, 102, 112, 020, 021, "
                                             "120");
  return success();
}

#define GET_OP_CLASSES
#include "furiosa/Dialect/VISA/IR/VectorOps.cpp.inc"

void VISADialect::registerVectorOps() {
  addOperations<
#define GET_OP_LIST
#include "furiosa/Dialect/VISA/IR/VectorOps.cpp.inc"
      >();
}

LogicalResult VectorTagOp::verify() {
  bool compares = getMode() == TagMode::Compare;
  if (compares != !getComparisons().empty())
    return emitOpError() << "comparisons belong to the mode compare, and it "
                            "needs at least one";
  if (getComparisons().size() > 4)
    return emitOpError() << "VE-32: ids have four bits, found "
                         << getComparisons().size() << " comparisons";
  for (Attribute attribute : getComparisons()) {
    auto comparison = cast<CompareAttr>(attribute);
    if (bool(comparison.getBoundary()) !=
        vector::hasBoundary(
            static_cast<vector::Comparison>(comparison.getKind())))
      return emitOpError() << stringifyComparison(comparison.getKind())
                           << (comparison.getBoundary() ? " has no boundary"
                                                        : " needs a boundary");
  }
  return success();
}

LogicalResult VectorNarrowOp::verify() {
  if ((getKind() == NarrowKind::Split) != getTime().has_value())
    return emitOpError() << "split changes time, trim does not; write time "
                            "with split alone";
  return success();
}

LogicalResult VectorWidenOp::verify() {
  if ((getKind() == WidenKind::Concat) != getTime().has_value())
    return emitOpError() << "concat changes time, pad does not; write time "
                            "with concat alone";
  return success();
}

LogicalResult VectorZipOp::verify() {
  auto cluster = getZipCluster(*this);
  if (getArity(cluster, stringifyVectorFn(getFn())) != 2 ||
      getFn() == VectorFn::SarRound)
    return emitOpError() << vector::toString(cluster)
                         << " has no function of two operands "
                         << stringifyVectorFn(getFn()) << "; there are "
                         << listFunctions(cluster, /*arity=*/2);
  if (getMode() && !vector::isMode(*getMode(), 2))
    return emitOpError() << "mode \"" << *getMode()
                         << "\" is none of 00, 01, 10, 11";
  return success();
}

//===----------------------------------------------------------------------===//
// Cast engine
//===----------------------------------------------------------------------===//

void CastOp::check(StageChecker &checker, Layout &layout) {
  checker.enter(layout, Point::Cast);
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
