//===- LIRVectorOps.cpp - Units of the vector engine ----------------------===//
//
// Text forms and verifiers, and what the units of one pass owe one another.
//
//===----------------------------------------------------------------------===//

#include "LIRUnits.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::lir;
namespace machine = furiosa::rngd::machine;

static constexpr StringLiteral allIds = "----";

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static ParseResult parseKeyword(OpAsmParser &parser, StringAttr &attr) {
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  attr = parser.getBuilder().getStringAttr(keyword);
  return success();
}

static void printKeyword(OpAsmPrinter &printer, Operation *, StringAttr attr) {
  printer.printKeywordOrString(attr);
}

/// A 32-bit pattern, signed or not.
static ParseResult parsePattern(OpAsmParser &parser,
                                SmallVectorImpl<int32_t> &patterns) {
  SMLoc loc = parser.getCurrentLocation();
  int64_t value;
  if (parser.parseInteger(value))
    return failure();
  if (value < INT32_MIN || value > int64_t(UINT32_MAX))
    return parser.emitError(loc, "pattern ")
           << value << " does not fit in 32 bits";
  patterns.push_back(static_cast<int32_t>(value));
  return success();
}

/// Small numbers in decimal, others, mostly floats, in hexadecimal.
static void printPattern(OpAsmPrinter &printer, int32_t pattern) {
  if (pattern > -(1 << 20) && pattern < 1 << 20)
    printer << pattern;
  else
    printer << llvm::format_hex(static_cast<uint32_t>(pattern), 10, true);
}

static ParseResult parseGuard(OpAsmParser &parser,
                              SmallVectorImpl<Attribute> &guards) {
  std::string guard = allIds.str();
  if (succeeded(parser.parseOptionalKeyword("if")) &&
      failed(parser.parseString(&guard)))
    return failure();
  guards.push_back(parser.getBuilder().getStringAttr(guard));
  return success();
}

static void printGuard(OpAsmPrinter &printer, Attribute guard) {
  StringRef text = cast<StringAttr>(guard).getValue();
  if (text != allIds)
    printer << " if \"" << text << '"';
}

static ParseResult parseComparisons(OpAsmParser &parser, ArrayAttr &comparisons,
                                    DenseI32ArrayAttr &boundaries) {
  Builder &builder = parser.getBuilder();
  SmallVector<Attribute> names;
  SmallVector<int32_t> values;
  auto parseComparison = [&]() -> ParseResult {
    StringAttr name;
    if (parseKeyword(parser, name))
      return failure();
    names.push_back(name);
    auto comparison = vector::parseComparison(name);
    if (comparison && vector::hasBoundary(*comparison))
      return parsePattern(parser, values);
    values.push_back(0);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     parseComparison))
    return failure();
  comparisons = builder.getArrayAttr(names);
  boundaries = builder.getDenseI32ArrayAttr(values);
  return success();
}

static void printComparisons(OpAsmPrinter &printer, Operation *,
                             ArrayAttr comparisons,
                             DenseI32ArrayAttr boundaries) {
  printer << '[';
  llvm::interleaveComma(
      llvm::zip(comparisons, boundaries.asArrayRef()), printer, [&](auto pair) {
        StringRef name = cast<StringAttr>(std::get<0>(pair)).getValue();
        printer << name;
        auto comparison = vector::parseComparison(name);
        if (comparison && vector::hasBoundary(*comparison)) {
          printer << ' ';
          printPattern(printer, std::get<1>(pair));
        }
      });
  printer << ']';
}

static ParseResult
parseAluSlots(OpAsmParser &parser, DenseI32ArrayAttr &imms,
              DenseI32ArrayAttr &seconds, ArrayAttr &guards, UnitAttr &stash,
              std::optional<OpAsmParser::UnresolvedOperand> &vrf,
              DenseI64ArrayAttr &sizes, DenseI64ArrayAttr &strides) {
  Builder &builder = parser.getBuilder();
  SmallVector<int32_t> immList, secondList;
  SmallVector<Attribute> guardList;
  auto parseSlot = [&]() -> ParseResult {
    if (stash || vrf)
      return parser.emitError(parser.getCurrentLocation(),
                              "the register file is the last slot");
    if (succeeded(parser.parseOptionalKeyword("stash"))) {
      stash = builder.getUnitAttr();
    } else if (succeeded(parser.parseOptionalKeyword("vrf"))) {
      if (parser.parseOperand(vrf.emplace()) || parser.parseKeyword("loops") ||
          parseLoops(parser, sizes, strides))
        return failure();
    } else if (parser.parseKeyword("imm") || parsePattern(parser, immList)) {
      return failure();
    }
    if (succeeded(parser.parseOptionalKeyword("with")) &&
        failed(parsePattern(parser, secondList)))
      return failure();
    return parseGuard(parser, guardList);
  };
  if (succeeded(parser.parseOptionalLSquare())) {
    if (parser.parseCommaSeparatedList(parseSlot) || parser.parseRSquare())
      return failure();
  } else if (parseGuard(parser, guardList)) {
    return failure();
  }
  imms = builder.getDenseI32ArrayAttr(immList);
  seconds = builder.getDenseI32ArrayAttr(secondList);
  guards = builder.getArrayAttr(guardList);
  return success();
}

static void printAluSlots(OpAsmPrinter &printer, Operation *op,
                          DenseI32ArrayAttr imms, DenseI32ArrayAttr seconds,
                          ArrayAttr guards, UnitAttr stash, Value vrf,
                          DenseI64ArrayAttr sizes, DenseI64ArrayAttr strides) {
  if (imms.empty() && !stash && !vrf) {
    for (Attribute guard : guards)
      printGuard(printer, guard);
    return;
  }
  printer << " [";
  llvm::interleaveComma(llvm::seq<size_t>(guards.size()), printer,
                        [&](size_t i) {
                          if (i < size_t(imms.size())) {
                            printer << "imm ";
                            printPattern(printer, imms[i]);
                          } else if (vrf) {
                            printer << "vrf " << vrf << " loops ";
                            printLoops(printer, op, sizes, strides);
                          } else {
                            printer << "stash";
                          }
                          if (i < size_t(seconds.size())) {
                            printer << " with ";
                            printPattern(printer, seconds[i]);
                          }
                          printGuard(printer, guards[i]);
                        });
  printer << ']';
}

#define GET_OP_CLASSES
#include "furiosa/Dialect/LIR/IR/LIRVectorOps.cpp.inc"

//===----------------------------------------------------------------------===//
// One unit
//===----------------------------------------------------------------------===//

static LogicalResult verifyGuard(Operation *op, StringRef guard) {
  auto parsed = vector::Guard::parse(guard);
  if (!parsed || parsed->isNever())
    return op->emitOpError("LIR-17: \"")
           << guard << "\" is no guard that some execution id passes";
  return success();
}

LogicalResult VectorTagOp::verify() {
  if (!getType().isInteger(32) && !getType().isF32())
    return emitOpError("LIR-17: elements are i32 or f32, found ") << getType();
  if (getComparisons().empty() ||
      getComparisons().size() > machine::vectorTagComparisons ||
      getBoundaries().size() != getComparisons().size())
    return emitOpError("LIR-17: 1 to ")
           << machine::vectorTagComparisons
           << " comparisons with a boundary each, found "
           << getComparisons().size();
  for (Attribute name : getComparisons())
    if (!vector::parseComparison(cast<StringAttr>(name).getValue()))
      return emitOpError("LIR-17: unknown comparison ") << name;
  return success();
}

LogicalResult VectorUnzipOp::verify() {
  if (getFlits() < 1 || getFlits() > int64_t(machine::vectorGroupFlits))
    return emitOpError("LIR-17: a turn takes 1 to ")
           << machine::vectorGroupFlits << " flits, found " << getFlits();
  return success();
}

const vector::Operation *VectorAluOp::getAluOperation() {
  return vector::findCode(static_cast<vector::Alu>(getAlu()), getFunction());
}

StringRef VectorAluOp::getArgMode() {
  const vector::Operation *operation = getAluOperation();
  return getMode().value_or(
      vector::defaultMode(operation ? operation->arity : 2));
}

LogicalResult VectorAluOp::verify() {
  const vector::Operation *operation = getAluOperation();
  if (!operation)
    return emitOpError("LIR-17: ")
           << stringifyAlu(getAlu()) << " has no operation " << getFunction();
  size_t slots = getImms().size() + hasRegisterFileSlot();
  if (operation->arity == 1 && slots != 0)
    return emitOpError("LIR-17: ") << getFunction() << " takes no operand";
  if (operation->arity != 1 && slots == 0)
    return emitOpError("LIR-17: ") << getFunction() << " needs an operand";
  if (getImms().size() > machine::vectorOpImmediates)
    return emitOpError("LIR-17: an ALU has ")
           << machine::vectorOpImmediates << " immediates, found "
           << getImms().size();
  if (getStash() && getVrf())
    return emitOpError("LIR-17: the register file has one port, found vrf and "
                       "stash");
  if (getGuards().size() != std::max<size_t>(slots, 1) ||
      getSeconds().size() != (operation->arity == 3 ? slots : 0))
    return emitOpError("LIR-17: each slot has a guard, and for ")
           << "three arguments a second operand";
  for (Attribute guard : getGuards())
    if (failed(verifyGuard(*this, cast<StringAttr>(guard).getValue())))
      return failure();
  if (getMode() && !vector::isMode(*getMode(), operation->arity))
    return emitOpError("LIR-17: \"") << *getMode() << "\" is no mode of "
                                     << operation->arity << " arguments";
  if (operation->function == vector::Function::Shl ||
      operation->function == vector::Function::ShlSat ||
      operation->function == vector::Function::Shr ||
      operation->function == vector::Function::Sar)
    for (int32_t amount : getImms())
      if (amount < 0 || amount > 31)
        return emitOpError("LIR-17: a shift amount is 0 to 31, found ")
               << amount;
  if (bool(getVrf()) != getSizes().has_value() ||
      bool(getVrf()) != getStrides().has_value())
    return emitOpError("LIR-17: loops belong to a vrf operand");
  if (!getVrf())
    return success();
  if (failed(
          verifyTier(*this, "LIR-12", "vrf", getVrf().getType(), Tier::Vrf)) ||
      failed(verifyLoops(*this, *getSizes(), *getStrides())))
    return failure();
  // The register file holds 32 bit scalars.
  constexpr int64_t scalar = 4;
  for (auto [i, stride] : llvm::enumerate(*getStrides()))
    if (stride % scalar != 0)
      return emitOpError("LIR-17: stride of loop ")
             << i << " must be a multiple of " << scalar << ", found "
             << stride;
  return verifyBounds(*this, 0, *getSizes(), *getStrides(), scalar,
                      getVrf().getType().getBytes());
}

LogicalResult VectorStashOp::verify() { return verifyGuard(*this, getGuard()); }

static LogicalResult verifyWidth(Operation *op, int64_t width) {
  if (width >= 0 && width <= 31)
    return success();
  return op->emitOpError("LIR-17: width must be 0 to 31, found ") << width;
}
LogicalResult VectorFxpToFpOp::verify() {
  return verifyWidth(*this, getWidth());
}
LogicalResult VectorFpToFxpOp::verify() {
  return verifyWidth(*this, getWidth());
}

static LogicalResult verifyValidCount(Operation *op, int64_t count,
                                      ArrayRef<int64_t> sizes,
                                      ArrayRef<int64_t> strides) {
  if (failed(verifyLoops(op, sizes, strides)))
    return failure();
  if (count < 0 || count > UINT16_MAX)
    return op->emitOpError("LIR-22: count must fit in 16 bits, found ")
           << count;
  return success();
}

LogicalResult VectorValidClipOp::verify() {
  if (getSpan() < 1 || getSpan() > int64_t(machine::vectorWideElements))
    return emitOpError("LIR-22: span must be 1 to ")
           << machine::vectorWideElements << ", found " << getSpan();
  return verifyValidCount(*this, getCount(), getSizes(), getStrides());
}

LogicalResult VectorValidFilterOp::verify() {
  int64_t slices = machine::slicesPerCluster;
  if (getMask() < 0 || getMask() >= slices || getMatch() < 0 ||
      getMatch() >= slices)
    return emitOpError("LIR-22: mask and match are bits of a slice number, "
                       "found ")
           << getMask() << " and " << getMatch();
  return verifyValidCount(*this, getCount(), getSizes(), getStrides());
}

LogicalResult VectorReduceOp::verify() {
  if (llvm::none_of(vector::intraSliceReductions(),
                    [&](const auto &row) { return row.code == getFunction(); }))
    return emitOpError("LIR-22: there is no reduction ") << getFunction();
  if (failed(verifyLoops(*this, getSizes(), getStrides())))
    return failure();
  int64_t last = int64_t(machine::vectorReduceSlots) - 1;
  auto reach = getReach(getSizes(), getStrides());
  if (!reach || *reach > last)
    return emitOpError("LIR-22: there are ")
           << machine::vectorReduceSlots << " accumulator slots; the loops go "
           << "beyond";
  if (getCount() < 1 || getCount() > int64_t(machine::sequencerEntryLimit))
    return emitOpError("LIR-22: count must be 1 to ")
           << machine::sequencerEntryLimit << ", found " << getCount();
  return success();
}

LogicalResult VectorSliceReduceOp::verify() {
  if (llvm::none_of(vector::interSliceReductions(), [&](const auto &row) {
        return row.unit == getUnit() && row.code == getFunction();
      }))
    return emitOpError("LIR-22: there is no reduction ")
           << getUnit() << " " << getFunction();
  int64_t slices = getSlices();
  if (slices < 2 || slices > int64_t(machine::slicesPerCluster) ||
      !llvm::isPowerOf2_64(slices))
    return emitOpError("LIR-22: a group has 2 to ")
           << machine::slicesPerCluster << " slices, a power of two, found "
           << slices;
  if (getMask() < 0 || getMask() >= slices)
    return emitOpError("LIR-22: mask must lie in the group, found ")
           << getMask();
  if (failed(verifyLoops(*this, getSizes(), getStrides())))
    return failure();
  auto reach = getReach(getSizes(), getStrides());
  if (!reach || *reach > getMask())
    return emitOpError("LIR-22: the loops go beyond the slices of the mask");
  return success();
}

LogicalResult VectorCompactOp::verify() {
  return verifyGuard(*this, getGuard());
}

//===----------------------------------------------------------------------===//
// The units of a pass
//===----------------------------------------------------------------------===//

bool lir::isVectorUnit(Operation *op) {
  return isa<VectorTagOp, VectorUnzipOp, VectorAluOp, VectorStashOp,
             VectorFxpToFpOp, VectorFpToFxpOp, VectorNarrowOp, VectorWidenOp,
             VectorValidClipOp, VectorValidFilterOp, VectorReduceOp,
             VectorSliceReduceOp, VectorCompactOp>(op);
}

/// Place of a unit in the order of the hardware; those of one cluster are
/// equal.
static int getRank(Operation *op) {
  if (auto alu = dyn_cast<VectorAluOp>(op)) {
    static constexpr int ranks[] = {2, 3, 6, 8, 11};
    return ranks[static_cast<unsigned>(
        vector::clusterOf(static_cast<vector::Alu>(alu.getAlu())))];
  }
  return llvm::TypeSwitch<Operation *, int>(op)
      .Case<VectorValidClipOp, VectorValidFilterOp>([](auto) { return 0; })
      .Case<VectorTagOp, VectorUnzipOp>([](auto) { return 1; })
      .Case<VectorFxpToFpOp>([](auto) { return 4; })
      .Case<VectorNarrowOp>([](auto) { return 5; })
      .Case<VectorReduceOp>([](auto) { return 7; })
      .Case<VectorWidenOp>([](auto) { return 9; })
      .Case<VectorFpToFxpOp>([](auto) { return 10; })
      .Default([](Operation *) { return 13; });
}

namespace {
/// Follows the stream through the vector units.
struct VectorChecker {
  /// Flits, or between narrow and widen packets.
  int64_t packets = 0;
  bool isNarrow = false;
  int rank = -1;
  llvm::SmallDenseSet<int64_t> alus;
  /// Ways of the stash that is written and not yet read; 0 if none.
  unsigned stashWays = 0;
  bool stashWritten = false, hasUnzip = false;
  bool hasSliceReduce = false;

  unsigned ways() const { return isNarrow ? 4 : 8; }
  LogicalResult check(Operation *op);
  LogicalResult checkAlu(VectorAluOp op);
  LogicalResult checkWays(Operation *op, unsigned wanted);
  LogicalResult checkSteps(Operation *op, StringRef what,
                           ArrayRef<int64_t> sizes, int64_t expected);
};
} // namespace

LogicalResult VectorChecker::checkWays(Operation *op, unsigned wanted) {
  if (ways() == wanted)
    return success();
  return op->emitOpError("LIR-17: takes ")
         << wanted << " elements at a time, the stream has " << ways();
}

LogicalResult VectorChecker::checkSteps(Operation *op, StringRef what,
                                        ArrayRef<int64_t> sizes,
                                        int64_t expected) {
  int64_t steps = *getProduct(sizes);
  if (steps == expected)
    return success();
  return op->emitOpError(what)
         << " must be " << expected << ", found " << steps;
}

LogicalResult VectorChecker::checkAlu(VectorAluOp op) {
  if (!alus.insert(int64_t(op.getAlu())).second)
    return op.emitOpError("LIR-17: ")
           << stringifyAlu(op.getAlu()) << " runs once in a pass";
  auto cluster = vector::clusterOf(static_cast<vector::Alu>(op.getAlu()));
  if (failed(checkWays(op, vector::ways(cluster))))
    return failure();
  if (op.getStash()) {
    if (stashWays != ways())
      return op.emitOpError("LIR-17: ")
             << (stashWays == 0 ? "the stash is empty"
                                : "the stash has other ways than the stream");
    stashWays = 0;
  }
  if (!op.getVrf())
    return success();
  int64_t elements;
  if (llvm::MulOverflow<int64_t>(packets, ways(), elements))
    return op.emitOpError("LIR-11: the number of elements does not fit");
  return checkSteps(op, "LIR-17: steps of the vrf loops", *op.getSizes(),
                    elements);
}

LogicalResult VectorChecker::check(Operation *op) {
  auto reducer = dyn_cast<VectorSliceReduceOp>(op);
  if (reducer) {
    // In front of the chain, or behind it.
    if (hasSliceReduce || failed(checkWays(op, 8)))
      return hasSliceReduce
                 ? op->emitOpError("LIR-22: slices are reduced once in a pass")
                 : failure();
    hasSliceReduce = true;
    if (rank >= 0)
      rank = 12;
    stashWays = 0;
    if (failed(checkSteps(op, "LIR-22: steps of the loops", reducer.getSizes(),
                          packets)))
      return failure();
    for (auto [size, stride] :
         llvm::zip(reducer.getSizes(), reducer.getStrides()))
      if (stride != 0)
        packets /= size;
    return success();
  }
  if (isa<VectorStashOp>(op)) {
    if (stashWritten)
      return op->emitOpError("LIR-17: the stash is written once in a pass");
    stashWritten = true;
    stashWays = ways();
    return success();
  }
  int next = getRank(op);
  bool isAlu = isa<VectorAluOp>(op) && next != 8;
  if (next < rank || (next == rank && !isAlu))
    return op->emitOpError("LIR-17: stands too late; stages run in the order "
                           "of the hardware");
  rank = next;
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](VectorAluOp alu) { return checkAlu(alu); })
      .Case<VectorValidClipOp, VectorValidFilterOp>([&](auto valid) {
        return checkSteps(op, "LIR-22: steps of the loops", valid.getSizes(),
                          packets);
      })
      .Case([&](VectorUnzipOp unzip) -> LogicalResult {
        hasUnzip = true;
        if (packets % (2 * unzip.getFlits()) != 0)
          return op->emitOpError("LIR-17: ")
                 << packets << " flits do not make whole turns";
        return success();
      })
      .Case([&](VectorNarrowOp narrow) -> LogicalResult {
        isNarrow = true;
        if (narrow.getKind() == NarrowKind::Split &&
            llvm::MulOverflow<int64_t>(packets, 2, packets))
          return op->emitOpError("LIR-11: the number of packets does not fit");
        return success();
      })
      .Case([&](VectorWidenOp widen) -> LogicalResult {
        if (failed(checkWays(op, 4)))
          return failure();
        isNarrow = false;
        if (widen.getKind() == WidenKind::Pad)
          return success();
        if (packets % 2 != 0)
          return op->emitOpError("LIR-17: two packets make a flit, found ")
                 << packets;
        packets /= 2;
        return success();
      })
      .Case([&](VectorReduceOp reduce) -> LogicalResult {
        if (failed(checkWays(op, 4)) ||
            failed(checkSteps(op, "LIR-22: steps of the loops",
                              reduce.getSizes(), packets)))
          return failure();
        if (packets % reduce.getCount() != 0)
          return op->emitOpError("LIR-22: count ")
                 << reduce.getCount() << " must divide the " << packets
                 << " packets";
        packets /= reduce.getCount();
        return success();
      })
      .Case([&](VectorCompactOp) -> LogicalResult {
        if (!hasUnzip)
          return op->emitOpError("LIR-17: there are no groups to choose from");
        packets /= 2;
        return success();
      })
      .Case<VectorFxpToFpOp, VectorFpToFxpOp>(
          [&](auto) { return checkWays(op, 8); })
      .Default([](Operation *) { return success(); });
}

LogicalResult lir::verifyVectorUnits(ExecOp exec, int64_t &flits) {
  VectorChecker checker;
  checker.packets = flits;
  Operation *last = nullptr;
  for (Operation &unit : exec.getBody().getOps()) {
    if (!isVectorUnit(&unit))
      continue;
    if (failed(checker.check(&unit)))
      return failure();
    last = &unit;
  }
  if (checker.isNarrow)
    return last->emitOpError("LIR-17: packets of four elements leave the "
                             "engine; vector_widen is missing");
  flits = checker.packets;
  return success();
}
