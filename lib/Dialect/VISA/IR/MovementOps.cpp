//===- MovementOps.cpp - Buffers, views, transfers, chains ----------------===//

#include "OpFormat.h"
#include "StageHelpers.h"
#include "furiosa/Dialect/Utils/Numbers.h"
#include "furiosa/Dialect/VISA/IR/StageLoops.h"
#include "furiosa/Dialect/VISA/IR/TransferPlan.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallBitVector.h"

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
  if (getParallel() && !(isa<DmType>(getSource().getType()) &&
                         isa<DmType>(getTarget().getType())))
    return emitOpError() << "copies in parallel between tensors in data memory "
                            "only; leave `parallel` out";
  return verifyMove(*this, getSource().getType(), getTarget().getType());
}

/// The checks of any transfer: what they accept can be lowered. `target` is
/// null where a tensor of `targetType` is made.
static void checkTransfer(Operation *op, Value source, Value target,
                          Type targetType, KernelChecker &checker,
                          bool isParallel = false) {
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
  // MM-33: a transfer within data memory keeps the device grid.
  TensorParts from = getTensorParts(source.getType());
  TensorParts to = getTensorParts(targetType);
  if (from.cluster && to.cluster)
    for (auto [name, found, expected] :
         {std::tuple("cluster", to.cluster, from.cluster),
          std::tuple("slice", to.slice, from.slice)})
      if (found.getMapping().size() != expected.getMapping().size())
        reporter.fault("MM-33")
            << name << " \"" << found.getText() << "\" has "
            << found.getMapping().size() << " positions, the source has "
            << expected.getMapping().size();
  if (target)
    checkWritable(target, reporter);
  // Kernels for several chips are checked at this level only.
  if (checker.getTarget().getChips() == 1 && !reporter.failed())
    (void)(isParallel ? planParallelCopy(source, target, reporter)
                      : planTransfer(source, target, targetType, reporter));
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
  checkTransfer(*this, getSource(), getTarget(), getTarget().getType(), checker,
                getParallel());
}

//===----------------------------------------------------------------------===//
// Memset
//===----------------------------------------------------------------------===//

LogicalResult MemsetOp::verify() {
  Type elementType = getTensorParts(getTarget().getType()).elementType;
  if (getValue().getType() != elementType)
    return emitOpError() << "fills a tensor of " << elementType << " with "
                         << getValue().getType();
  return success();
}

void MemsetOp::checkInKernel(KernelChecker &checker) {
  FaultReporter reporter(*this);
  Type elementType = getValue().getType();
  auto type = visa::getElementType(elementType);
  static constexpr ElementType filled[] = {
      ElementType::I4,  ElementType::I8,   ElementType::I16,   ElementType::I32,
      ElementType::F32, ElementType::BF16, ElementType::F8E4M3};
  if (!type || !llvm::is_contained(filled, *type))
    reporter.fault("MM-47") << "no fill of " << elementType
                            << "; there are i4, i8, i16, i32, f32, bf16 and "
                               "f8E4M3FN";
  for (Value at = getTarget(); at != getBaseBuffer(at);
       at = at.getDefiningOp()->getOperand(0))
    if (!at.getDefiningOp<ReshapeOp>()) {
      InFlightDiagnostic diag = reporter.fault("MM-47");
      diag << "a fill covers a tensor as a whole, the target is a view";
      diag.attachNote(at.getLoc()) << "the view is made here";
      break;
    }
  if (!matchPattern(getValue(), m_Constant()))
    reporter.fault("MM-46") << "the value of a fill is a constant of the "
                               "program; write an arith.constant";
  if (reporter.failed())
    checker.noteFault();
}

//===----------------------------------------------------------------------===//
// Gather and scatter
//===----------------------------------------------------------------------===//

/// An index of 32 bits; rows and table of one element type, all over the same
/// axes.
static LogicalResult verifyIndirect(Operation *op, Type table, Type index,
                                    Type rows) {
  if (!getTensorParts(index).elementType.isInteger(32))
    return op->emitOpError() << "the index holds i32, found "
                             << getTensorParts(index).elementType;
  if (getTensorParts(table).axes != getTensorParts(index).axes)
    return op->emitOpError()
           << "table is over axes " << getTensorParts(table).axes
           << ", index over " << getTensorParts(index).axes;
  return verifyMove(op, table, rows);
}

LogicalResult GatherOp::verify() {
  if (getScaled() != isa<HbmType>(getIndex().getType()))
    return emitOpError() << (getScaled()
                                 ? "an index that counts bytes lies in HBM"
                                 : "an index that counts rows lies in data "
                                   "memory; a scaled one lies in HBM");
  return verifyIndirect(*this, getTable().getType(), getIndex().getType(),
                        getResult().getType());
}
LogicalResult ScatterOp::verify() {
  return verifyIndirect(*this, getTarget().getType(), getIndex().getType(),
                        getSource().getType());
}

/// The axes that a tensor names in any dimension.
static llvm::SmallBitVector getAxes(Type type) {
  TensorParts parts = getTensorParts(type);
  llvm::SmallBitVector axes(parts.axes.getAxes().size());
  for (tmap::MappingAttr mapping :
       {parts.chip, parts.cluster, parts.slice, parts.element})
    for (unsigned axis = 0; mapping && axis < axes.size(); ++axis)
      if (mapping.getMapping().uses(axis))
        axes.set(axis);
  return axes;
}

int visa::getKeyAxis(Type table, Type index, Type rows) {
  llvm::SmallBitVector keys = getAxes(table);
  keys.reset(getAxes(rows));
  return keys.count() == 1 ? keys.find_first() : -1;
}

/// MM-44: the table has one axis more than the rows have beside the index.
static void checkKeys(Type table, Type index, Type rows,
                      FaultReporter &reporter) {
  llvm::SmallBitVector keys = getAxes(table), missing = getAxes(index);
  keys.reset(getAxes(rows));
  missing.reset(getAxes(rows));
  const mapping::Axes &axes = getTensorParts(table).axes.getAxes();
  if (keys.count() != 1) {
    InFlightDiagnostic diag = reporter.fault("MM-44");
    diag << "rows are found along the one axis of the table that they lack, "
            "found "
         << keys.count();
    for (unsigned axis : keys.set_bits())
      diag << " " << axes[axis].name;
  }
  for (unsigned axis : missing.set_bits())
    reporter.fault("MM-44")
        << "axis " << axes[axis].name << " of the index is none of the rows";
}

void GatherOp::checkInKernel(KernelChecker &checker) {
  FaultReporter reporter(*this);
  Type index = getIndex().getType();
  checkKeys(getTable().getType(), index, getResult().getType(), reporter);
  if (!getScaled() && !reporter.failed()) {
    int64_t bytes = 4;
    llvm::SmallBitVector axes = getAxes(index);
    for (unsigned axis : axes.set_bits())
      bytes = llvm::SaturatingMultiply<uint64_t>(
          bytes, getTensorParts(index).axes.getAxes()[axis].size);
    if (bytes > int64_t(rngd::machine::spmIndexListBytes))
      reporter.fault("MM-42")
          << "an index of " << bytes << " bytes, a PE holds "
          << rngd::machine::spmIndexListBytes
          << "; use a scaled index in HBM, or gather in parts";
  }
  if (!reporter.failed() && checker.getTarget().getChips() == 1)
    (void)planIndirect(getTable(), getIndex(), {}, getResult().getType(),
                       getScaled(), reporter);
  if (reporter.failed())
    checker.noteFault();
}

void ScatterOp::checkInKernel(KernelChecker &checker) {
  FaultReporter reporter(*this);
  Type index = getIndex().getType();
  if (!getScaled() || !isa<HbmType>(index)) {
    reporter.fault("MM-45") << "a scatter by rows is not implemented by the "
                               "chip's toolchain; scatter scaled by an index "
                               "in HBM";
    return checker.noteFault();
  }
  checkKeys(getTarget().getType(), index, getSource().getType(), reporter);
  TensorParts source = getTensorParts(getSource().getType());
  llvm::SmallBitVector axes = getAxes(index);
  for (unsigned axis : axes.set_bits())
    if (source.chip.getMapping().uses(axis) ||
        source.cluster.getMapping().uses(axis))
      reporter.fault("MM-43")
          << "axis " << source.axes.getAxes()[axis].name
          << " of the index lies in slice and element of the source, found it "
             "in chip or cluster";
  checkWritable(getTarget(), reporter);
  if (!reporter.failed() && checker.getTarget().getChips() == 1)
    (void)planIndirect(getTarget(), getIndex(), getSource(),
                       getSource().getType(), getScaled(), reporter);
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

Value ChainOp::getInto() {
  for (CommitOp commit : getBody().getOps<CommitOp>())
    return commit.getInto();
  return {};
}

void ChainOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  // A target that exists is an operand of a stage, which is no operand here.
  if (Value into = getInto()) {
    for (CommitOp commit : getBody().getOps<CommitOp>())
      effects.emplace_back(MemoryEffects::Write::get(),
                           &commit.getIntoMutable()[0]);
  } else {
    effects.emplace_back(MemoryEffects::Allocate::get(),
                         getOperation()->getOpResult(0));
    effects.emplace_back(MemoryEffects::Write::get(),
                         getOperation()->getOpResult(0));
  }
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

/// Where the tensor of a stage begins: the Tensor Unit works in the slices that
/// a tensor lies in.
static FailureOr<ViewStart> getStageStart(Value tensor,
                                          FaultReporter &reporter) {
  auto start = getViewStart(tensor, reporter);
  if (failed(start))
    return failure();
  bool moves = start->cluster != 0 || start->slice != 0;
  for (const ViewStart::Term &term : start->terms)
    moves |= term.dimension != Dimension::Element;
  if (moves) {
    reporter.notYetSupported()
        << "a chain on slices that a view has moved; copy the view first";
    return failure();
  }
  return start;
}

/// Registers hold where a view would begin with numbers of 0, and are moved at
/// load: that lies within the tensor.
static void checkStartAtZero(const ViewStart &start, Type base,
                             FaultReporter &reporter) {
  int64_t first = start.bytes, last = start.bytes;
  bool hasNumbers = false;
  for (const ViewStart::Term &term : start.terms) {
    auto sum = getNumberSum(term.index, isKnownWhenUnrolled);
    auto range = getIndexRange(term.index);
    if (!sum || !range)
      return; // Reported at the tile.
    hasNumbers |= !sum->isConstant();
    for (auto [number, factor] : sum->terms) {
      auto ends = getNumberRange(number);
      if (!ends)
        return; // Reported at the argument.
      range->first -= factor * (factor < 0 ? ends->second : ends->first);
      range->second -= factor * (factor < 0 ? ends->first : ends->second);
    }
    first += range->first * term.step;
    last += range->second * term.step;
  }
  TensorParts parts = getTensorParts(base);
  int64_t bytes = parts.element.getMapping().size() * getElementBits(parts) / 8;
  if (hasNumbers && (first < 0 || last > bytes))
    reporter.notYetSupported()
        << "a chain on a tile of data memory that would begin at byte "
        << (first < 0 ? first : last) << " of a tensor of " << bytes
        << " with numbers of 0; copy the tile into a tensor of its own, or out "
           "of one, with visa.copy";
}

/// A fetch from a view stays in its buffer, or behind it by less than a packet.
static void checkFetchReach(const ChainStage &stage, Value source,
                            const loops::FetchLoops &fetch,
                            FaultReporter &reporter) {
  auto start = getStageStart(source, reporter);
  if (failed(start))
    return;
  Value buffer = getBaseBuffer(source);
  checkStartAtZero(*start, buffer.getType(), reporter);
  bool followsHost = llvm::any_of(start->terms, [](const auto &term) {
    return !isKnownWhenUnrolled(term.index);
  });
  const StageRecord *exchange = stage.find<SwitchOp>();
  bool isCustom = exchange && cast<SwitchOp>(exchange->op).getConfig() ==
                                  SwitchConfig::CustomBroadcast;
  if (followsHost &&
      (isCustom || cast<FetchOp>(stage.records[stage.index].op).getOther()))
    reporter.notYetSupported()
        << "two tensors in turn, or a custom switch, where a number of the "
           "host says at which tile of data memory a fetch begins; copy the "
           "tile first";
  const StageRecord *cast = stage.find<FetchCastOp>();
  int64_t packet =
      (cast ? cast->after : stage.after()).packetBytes().value_or(0);
  auto last = start->getLast();
  if (!last)
    return; // Reported at the tile.
  int64_t end = *last + fetch.getEnd().value_or(0);
  TensorParts base = getTensorParts(getBaseBuffer(source).getType());
  auto type = visa::getElementType(base.elementType);
  int64_t bytes =
      base.element.getMapping().size() * (type ? wireBits(*type) : 8) / 8;
  if (end - std::max(fetch.read, packet) >= bytes)
    reporter.notYetSupported("time")
        << "a fetch that reads padding up to byte " << end << " of a buffer of "
        << bytes << "; leave the padding out";
}

/// The sequencer of a fetch exists, and stays in the buffers that it reads.
static void checkFetch(const ChainStage &stage, FaultReporter &reporter) {
  auto derived = deriveFetch(stage);
  if (!derived) {
    reporter.report(derived.fault(), "packet");
    return;
  }
  for (Value source : stage.records[stage.index].op->getOperands())
    checkFetchReach(stage, source, *derived, reporter);
}

/// The tensor that a commit writes is the chain's result, and may be written.
static void checkInto(CommitOp commit, Type result, FaultReporter &reporter) {
  Value into = commit.getInto();
  if (!into)
    return;
  if (into.getType() != result)
    reporter.fault("TU-77") << "the chain's result is another name of the "
                               "tensor that it writes; write its type "
                            << into.getType();
  checkWritable(into, reporter);
  auto start = getStageStart(into, reporter);
  int64_t word = rngd::machine::dmWriteGranule;
  if (failed(start))
    return;
  checkStartAtZero(*start, getBaseBuffer(into).getType(), reporter);
  if (!start->isMultiple(word))
    reporter.fault("MM-26") << "the view begins at a byte of data memory that "
                               "is no multiple of "
                            << word;
}

void ChainOp::checkInKernel(KernelChecker &checker) {
  // Kept from chain to chain: a block of this size, taken anew for each, makes
  // the C library tidy its heap each time, at a fourth of the check's cost.
  static thread_local std::vector<StageRecord> records;
  llvm::scope_exit release([] { records.clear(); });
  if (!checker.checkChain(*this, records))
    return;
  for (size_t i = 0; i < records.size(); ++i) {
    FaultReporter reporter(records[i].op);
    if (isa<FetchOp>(records[i].op))
      checkFetch(ChainStage{records, i}, reporter);
    else if (auto commit = dyn_cast<CommitOp>(records[i].op))
      checkInto(commit, getResult().getType(), reporter);
    if (reporter.failed())
      checker.noteFault();
  }
}
