//===- MovementOps.cpp - Buffers, views, transfers, chains ----------------===//

#include "OpFormat.h"
#include "StageHelpers.h"
#include "furiosa/Dialect/VISA/IR/TransferPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::visa;
using mapping::Mapping;

//===----------------------------------------------------------------------===//
// `%m[%i]` or `%m[3]`
//===----------------------------------------------------------------------===//

static ParseResult
parseOffsetOrStart(OpAsmParser &parser,
                   std::optional<OpAsmParser::UnresolvedOperand> &offset,
                   IntegerAttr &start) {
  int64_t value;
  OptionalParseResult number = parser.parseOptionalInteger(value);
  if (number.has_value()) {
    if (failed(*number))
      return failure();
    start = parser.getBuilder().getI64IntegerAttr(value);
    return success();
  }
  offset.emplace();
  return parser.parseOperand(*offset);
}

static void printOffsetOrStart(OpAsmPrinter &printer, Operation *, Value offset,
                               IntegerAttr start) {
  if (offset)
    printer << offset;
  else if (start)
    printer << start.getInt();
}

#define GET_OP_CLASSES
#include "furiosa/Dialect/VISA/IR/MovementOps.cpp.inc"

void VISADialect::registerMovementOps() {
  addOperations<
#define GET_OP_LIST
#include "furiosa/Dialect/VISA/IR/MovementOps.cpp.inc"
      >();
}

Value visa::getBaseBuffer(Value tensor) {
  while (auto view = tensor.getDefiningOp<ViewLikeOpInterface>()) {
    if (!isa<TileOp, ReshapeOp>(view.getOperation()))
      break;
    tensor = view.getViewSource();
  }
  return tensor;
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

/// Both sides of a move hold the same elements over the same axes.
static LogicalResult verifyMove(Operation *op, Type source, Type target) {
  TensorParts from = getTensorParts(source), to = getTensorParts(target);
  if (from.elementType != to.elementType)
    return op->emitOpError()
           << "moves " << from.elementType << " into a tensor of "
           << to.elementType << "; convert with a chain";
  if (from.axes != to.axes)
    return op->emitOpError() << "source is over axes " << from.axes
                             << ", target over " << to.axes;
  return success();
}

LogicalResult ToDmOp::verify() {
  return verifyMove(*this, getSource().getType(), getResult().getType());
}
LogicalResult ToHbmOp::verify() {
  return verifyMove(*this, getSource().getType(), getResult().getType());
}
LogicalResult CopyOp::verify() {
  return verifyMove(*this, getSource().getType(), getTarget().getType());
}

/// The checks of any transfer: what they accept can be lowered. `target` is
/// null where a tensor of `targetType` is made.
static void checkTransfer(Operation *op, Value source, Value target,
                          Type targetType, KernelChecker &checker) {
  FaultReporter reporter(op);
  // MM-11, MM-36: a window that is written has bottom holes, one that is read
  // has none.
  tmap::MappingAttr element = getTensorParts(source.getType()).element;
  if (auto canonical = element.getMapping().canonical()) {
    auto isBottom = [](const mapping::PadRun &run) {
      return run.kind == mapping::Pad::Bottom;
    };
    bool bottom = llvm::any_of(canonical->tail, isBottom);
    for (const mapping::Factor &factor : canonical->factors)
      bottom |= llvm::any_of(factor.runs, isBottom);
    if (bottom)
      reporter.fault("MM-11") << "the source \"" << element.getText()
                              << "\" has bottom padding, which may only be "
                                 "written around; read a view with # instead";
  }
  // Kernels for several chips are checked at this level only.
  if (checker.getTarget().getChips() == 1 && !reporter.failed())
    (void)planTransfer(source, target, targetType, reporter);
  if (reporter.failed())
    checker.noteFault();
}

void AllocOp::checkInKernel(KernelChecker &) {}

void ToDmOp::checkInKernel(KernelChecker &checker) {
  checkTransfer(*this, getSource(), {}, getResult().getType(), checker);
}
void ToHbmOp::checkInKernel(KernelChecker &checker) {
  checkTransfer(*this, getSource(), {}, getResult().getType(), checker);
}
void CopyOp::checkInKernel(KernelChecker &checker) {
  checkTransfer(*this, getSource(), getTarget(), getTarget().getType(),
                checker);
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

LogicalResult TileOp::verify() {
  if (getOffset() && getStart())
    return emitOpError() << "has a start value and a start number";
  if (!getOffset() && !getStart())
    return emitOpError() << "needs a start value or a start number";
  if (getSource().getType().getTypeID() != getResult().getType().getTypeID())
    return emitOpError() << "a view of " << getSource().getType()
                         << " is in the same memory, found "
                         << getResult().getType();
  return verifyMove(*this, getSource().getType(), getResult().getType());
}

Value TileOp::getViewSource() { return getSource(); }

/// Bounds of an index in which loop counters with constant bounds are added
/// and multiplied; nothing where they are not known or leave 64 bits.
static std::optional<std::pair<int64_t, int64_t>> getRange(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return std::pair(constant.getSExtValue(), constant.getSExtValue());
  if (isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp>(
          value.getDefiningOp())) {
    Operation *op = value.getDefiningOp();
    auto lhs = getRange(op->getOperand(0)), rhs = getRange(op->getOperand(1));
    if (!lhs || !rhs)
      return std::nullopt;
    std::optional<std::pair<int64_t, int64_t>> range;
    for (int64_t a : {lhs->first, lhs->second})
      for (int64_t b : {rhs->first, rhs->second}) {
        auto result = isa<arith::AddIOp>(op)   ? llvm::checkedAdd(a, b)
                      : isa<arith::SubIOp>(op) ? llvm::checkedSub(a, b)
                                               : llvm::checkedMul(a, b);
        if (!result)
          return std::nullopt;
        if (!range)
          range = {*result, *result};
        range->first = std::min(range->first, *result);
        range->second = std::max(range->second, *result);
      }
    return range;
  }
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return std::nullopt;
  auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  if (!loop || loop.getInductionVar() != value)
    return std::nullopt;
  auto lower = getConstantIntValue(loop.getLowerBound());
  auto upper = getConstantIntValue(loop.getUpperBound());
  auto step = getConstantIntValue(loop.getStep());
  if (!lower || !upper || !step || *step < 1 || *upper <= *lower)
    return std::nullopt;
  return std::pair(*lower, *lower + (*upper - *lower - 1) / *step * *step);
}

void TileOp::checkInKernel(KernelChecker &checker) {
  FaultReporter reporter(*this);
  TensorParts source = getTensorParts(getSource().getType());
  TensorParts result = getTensorParts(getResult().getType());
  auto index = tmap::MappingAttr::parseText(getAlong(), source.axes);
  if (!index) {
    reporter.report(index.fault(), "along");
    return checker.noteFault();
  }
  int64_t first = 0, last = 0;
  bool known = true;
  if (auto start = getStart()) {
    first = last = *start;
  } else if (auto range = getRange(getOffset())) {
    first = range->first;
    last = range->second;
  } else {
    known = false;
  }
  const Mapping &element = source.element.getMapping();
  int64_t take = getTake();
  auto check = [&](int64_t at, mapping::Pad hole) {
    return mapping::tile(element, index->getMapping(), take, at, hole);
  };
  auto top = check(0, mapping::Pad::Top);
  if (!top) {
    StringRef rule = top.fault().rule == "MA-17" ? "MM-35" : "MM-37";
    InFlightDiagnostic diag = reporter.report(top.fault(), "along", rule);
    diag.attachNote(getSource().getLoc())
        << "the source has element \"" << element.str() << "\"";
    return checker.noteFault();
  }
  auto type = visa::getElementType(source.elementType);
  int64_t bits = type ? wireBits(*type) : 8;
  bool wholeBytes = true;
  if (known)
    for (int64_t at : {first, last}) {
      auto tile = check(at, mapping::Pad::Top);
      if (!tile) {
        reporter.report(tile.fault(), "along", "MM-37");
        return checker.noteFault();
      }
      wholeBytes &= tile->offset * bits % 8 == 0;
    }
  bool constant = known && first == last;
  if (!constant && top->live != 1) {
    if (top->step == 0)
      reporter.notYetSupported("along")
          << "a start known only at run time along \"" << getAlong()
          << "\", which is no single digit";
    wholeBytes &= top->step * bits % 8 == 0;
  }
  if (!wholeBytes)
    reporter.notYetSupported("along") << "a window that begins inside a byte";
  auto bottom = check(0, mapping::Pad::Bottom);
  const Mapping &declared = result.element.getMapping();
  if (!mapping::same(declared, top->view) &&
      !(bottom && mapping::same(declared, bottom->view))) {
    InFlightDiagnostic diag = reporter.fault("MM-36");
    diag << "the view has element \"" << declared.str() << "\", expected \""
         << top->view.str() << "\" where it is read";
    if (bottom)
      diag << ", \"" << bottom->view.str() << "\" where it is written";
  }
  for (auto [name, from, to] :
       {std::tuple("chip", source.chip, result.chip),
        std::tuple("cluster", source.cluster, result.cluster),
        std::tuple("slice", source.slice, result.slice)})
    if (from && !mapping::same(from.getMapping(), to.getMapping()))
      reporter.fault("MM-36") << name << " of the view is \"" << to.getText()
                              << "\", expected \"" << from.getText() << "\"";
  if (isa<DmType>(getSource().getType()))
    reporter.notYetSupported() << "a tile of a DM tensor";
  if (reporter.failed())
    checker.noteFault();
}

LogicalResult ReshapeOp::verify() {
  if (getSource().getType().getTypeID() != getResult().getType().getTypeID())
    return emitOpError() << "a view of " << getSource().getType()
                         << " is in the same memory, found "
                         << getResult().getType();
  TensorParts from = getTensorParts(getSource().getType());
  TensorParts to = getTensorParts(getResult().getType());
  if (from.elementType != to.elementType)
    return emitOpError() << "reads " << from.elementType << " as "
                         << to.elementType;
  for (auto [name, source, result] :
       {std::tuple("chip", from.chip, to.chip),
        std::tuple("cluster", from.cluster, to.cluster),
        std::tuple("slice", from.slice, to.slice),
        std::tuple("element", from.element, to.element)})
    if (source && source.getMapping().size() != result.getMapping().size())
      return emitOpError() << "MM-34: " << name << " \"" << result.getText()
                           << "\" has " << result.getMapping().size()
                           << " positions, the source has "
                           << source.getMapping().size();
  return success();
}

Value ReshapeOp::getViewSource() { return getSource(); }

void ReshapeOp::checkInKernel(KernelChecker &checker) {
  // Equal keys cost nothing; another order of cells is another issue.
  TensorParts from = getTensorParts(getSource().getType());
  TensorParts to = getTensorParts(getResult().getType());
  FaultReporter reporter(*this);
  for (auto [name, source, result] :
       {std::tuple("chip", from.chip, to.chip),
        std::tuple("cluster", from.cluster, to.cluster),
        std::tuple("slice", from.slice, to.slice),
        std::tuple("element", from.element, to.element)})
    if (from.axes != to.axes ||
        (source && !mapping::same(source.getMapping(), result.getMapping()))) {
      reporter.notYetSupported()
          << "a reshape to other cells: " << name << " \"" << source.getText()
          << "\" to \"" << result.getText() << "\"";
      break;
    }
  if (reporter.failed())
    checker.noteFault();
}

//===----------------------------------------------------------------------===//
// Chain
//===----------------------------------------------------------------------===//

StringRef ChainOp::getDefaultDialect() { return "visa"; }

tmap::AxesAttr ChainOp::getAxes() {
  return getTensorParts(getResult().getType()).axes;
}

void ChainOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  effects.emplace_back(MemoryEffects::Allocate::get(),
                       getOperation()->getOpResult(0));
  effects.emplace_back(MemoryEffects::Write::get(),
                       getOperation()->getOpResult(0));
  // Stages name tensors of any tier as operands.
  effects.emplace_back(MemoryEffects::Read::get());
}

LogicalResult ChainOp::verifyRegions() {
  for (Operation &op : getBody().front())
    if (!isa<StageOpInterface>(op)) {
      InFlightDiagnostic diag =
          op.emitOpError("is no stage; a chain holds stages only");
      diag.attachNote(getLoc()) << "the chain begins here";
      return diag;
    }
  return success();
}

void ChainOp::checkInKernel(KernelChecker &checker) {
  std::vector<StageRecord> records;
  checker.checkChain(*this, records);
}
