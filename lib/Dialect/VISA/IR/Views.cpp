//===- Views.cpp - Tensors that name parts of buffers ---------------------===//
//
// The ops that make views with their rules, and what users of views ask.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/VISA/IR/Views.h"
#include "furiosa/Dialect/Utils/Numbers.h"
#include "furiosa/Dialect/VISA/Loops/Loops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace furiosa;
using namespace furiosa::visa;
using mapping::Mapping;

Value visa::getBaseBuffer(Value tensor) {
  while (Operation *op = tensor.getDefiningOp()) {
    Value source;
    if (auto view = dyn_cast<ViewLikeOpInterface>(op))
      source =
          isa<VISADialect>(op->getDialect()) ? view.getViewSource() : Value();
    else if (auto chain = dyn_cast<ChainOp>(op))
      source = chain.getInto();
    if (!source)
      break;
    tensor = source;
  }
  return tensor;
}

/// The source of a view, or the tensor that a chain writes; null elsewhere.
static Value getViewSource(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  if (auto chain = dyn_cast_or_null<ChainOp>(op))
    return chain.getInto();
  if (isa_and_nonnull<TileOp, PadOp, UnpadOp, ReshapeOp>(op))
    return op->getOperand(0);
  return {};
}

tmap::MappingAttr visa::getMapping(const TensorParts &parts,
                                   Dimension dimension) {
  switch (dimension) {
  case Dimension::Chip:
    return parts.chip;
  case Dimension::Cluster:
    return parts.cluster;
  case Dimension::Slice:
    return parts.slice;
  case Dimension::Element:
    return parts.element;
  }
  llvm_unreachable("all dimensions are listed");
}

static constexpr Dimension allDimensions[] = {
    Dimension::Chip, Dimension::Cluster, Dimension::Slice, Dimension::Element};

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

std::optional<std::pair<int64_t, int64_t>> visa::getNumberRange(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument ||
      !(value.getType().isIndex() || value.getType().isInteger(32)))
    return std::nullopt;
  auto kernel =
      dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  if (!kernel || &kernel.getFunctionBody().front() != argument.getOwner())
    return std::nullopt;
  auto range = kernel.getArgAttrOfType<DenseI64ArrayAttr>(
      argument.getArgNumber(), rangeAttrName);
  if (!range || !isNumberRange(range))
    return std::nullopt;
  return std::pair(range[0], range[1]);
}

using IndexRange = std::pair<int64_t, int64_t>;

/// Bounds of what an op makes of two values within bounds: where it rises or
/// falls in each of them, they are among its results at the ends.
static std::optional<IndexRange> getRangeOf(Operation *op, IndexRange lhs,
                                            IndexRange rhs) {
  if (isa<arith::RemSIOp, arith::RemUIOp>(op)) {
    if (lhs.first < 0 || rhs.first < 1)
      return std::nullopt;
    if (lhs.second < rhs.first)
      return lhs;
    return IndexRange(0, std::min(lhs.second, rhs.second - 1));
  }
  bool divides = isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp,
                     arith::CeilDivSIOp, arith::CeilDivUIOp>(op);
  if (divides && (lhs.first < 0 || rhs.first < 1))
    return std::nullopt;
  std::optional<IndexRange> range;
  for (int64_t a : {lhs.first, lhs.second})
    for (int64_t b : {rhs.first, rhs.second}) {
      std::optional<int64_t> result;
      if (isa<arith::AddIOp>(op))
        result = llvm::checkedAdd(a, b);
      else if (isa<arith::SubIOp>(op))
        result = llvm::checkedSub(a, b);
      else if (isa<arith::MulIOp>(op))
        result = llvm::checkedMul(a, b);
      else if (isa<arith::CeilDivSIOp, arith::CeilDivUIOp>(op))
        result = llvm::divideCeilSigned(a, b);
      else if (divides)
        result = a / b;
      else if (isa<arith::MinSIOp>(op))
        result = std::min(a, b);
      else if (isa<arith::MaxSIOp>(op))
        result = std::max(a, b);
      if (!result)
        return std::nullopt;
      if (!range)
        range = {*result, *result};
      range->first = std::min(range->first, *result);
      range->second = std::max(range->second, *result);
    }
  return range;
}

namespace {
/// A sum of values with factors.
struct Sum {
  int64_t constant = 0;
  llvm::SmallMapVector<Value, int64_t, 4> terms;

  /// Adds `value` times `factor`, taken apart; false where 64 bits do not hold
  /// that. Recursion is as deep as the expression.
  bool add(Value value, int64_t factor);
};
} // namespace

bool Sum::add(Value value, int64_t factor) {
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number))) {
    auto sum = llvm::checkedMulAdd(number.getSExtValue(), factor, constant);
    constant = sum.value_or(0);
    return sum.has_value();
  }
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<arith::AddIOp>(op))
    return add(op->getOperand(0), factor) && add(op->getOperand(1), factor);
  if (isa_and_nonnull<arith::SubIOp>(op)) {
    auto negative = llvm::checkedSub(int64_t(0), factor);
    return negative && add(op->getOperand(0), factor) &&
           add(op->getOperand(1), *negative);
  }
  if (isa_and_nonnull<arith::MulIOp>(op))
    for (int side : {0, 1})
      if (matchPattern(op->getOperand(side), m_ConstantInt(&number))) {
        auto product = llvm::checkedMul(number.getSExtValue(), factor);
        return product && add(op->getOperand(1 - side), *product);
      }
  auto sum = llvm::checkedAdd(terms[value], factor);
  terms[value] = sum.value_or(0);
  return sum.has_value();
}

/// The greatest value that a sum may have. Counters give way to the bounds of
/// their loops, which may be sums of what is in the sum already: `i - from`
/// counts from 0 on in a loop that begins at `from`.
static std::optional<int64_t> getGreatest(Sum sum) {
  while (true) {
    // Bounds are computed from counters of loops around.
    scf::ForOp innermost;
    for (auto [value, factor] : sum.terms) {
      auto argument = dyn_cast<BlockArgument>(value);
      auto loop = argument ? dyn_cast<scf::ForOp>(
                                 argument.getOwner()->getParentOp())
                           : scf::ForOp();
      if (factor != 0 && loop && loop.getInductionVar() == value &&
          (!innermost || innermost->isProperAncestor(loop)))
        innermost = loop;
    }
    if (!innermost)
      break;
    auto step = getConstantIntValue(innermost.getStep());
    if (!step || *step < 1)
      return std::nullopt;
    int64_t factor = 0;
    std::swap(factor, sum.terms[innermost.getInductionVar()]);
    if (!sum.add(factor > 0 ? innermost.getUpperBound()
                            : innermost.getLowerBound(),
                 factor))
      return std::nullopt;
    if (factor > 0) {
      auto last = llvm::checkedSub(sum.constant, factor);
      if (!last)
        return std::nullopt;
      sum.constant = *last;
    }
  }
  int64_t greatest = sum.constant;
  for (auto [value, factor] : sum.terms) {
    if (factor == 0)
      continue;
    auto range = visa::getIndexRange(value);
    auto next = range ? llvm::checkedMulAdd(
                            factor > 0 ? range->second : range->first, factor,
                            greatest)
                      : std::nullopt;
    if (!next)
      return std::nullopt;
    greatest = *next;
  }
  return greatest;
}

/// Bounds of a sum or difference whose parts may depend on one another.
static std::optional<IndexRange> getRangeOfSum(Value value) {
  Sum sum, negative;
  if (!sum.add(value, 1) || !negative.add(value, -1))
    return std::nullopt;
  auto greatest = getGreatest(std::move(sum));
  auto least = getGreatest(std::move(negative));
  auto first = least ? llvm::checkedSub(int64_t(0), *least) : std::nullopt;
  if (!greatest || !first || *first > *greatest)
    return std::nullopt;
  return IndexRange(*first, *greatest);
}

std::optional<IndexRange> visa::getIndexRange(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return std::pair(constant.getSExtValue(), constant.getSExtValue());
  if (auto select = value.getDefiningOp<arith::SelectOp>()) {
    auto lhs = getIndexRange(select.getTrueValue());
    auto rhs = getIndexRange(select.getFalseValue());
    if (!lhs || !rhs)
      return std::nullopt;
    return IndexRange(std::min(lhs->first, rhs->first),
                      std::max(lhs->second, rhs->second));
  }
  if (auto cast = value.getDefiningOp<arith::IndexCastOp>())
    return cast.getType().isIndex() ? getIndexRange(cast.getIn())
                                    : std::nullopt;
  if (Operation *op = value.getDefiningOp();
      op && isa<arith::ArithDialect>(op->getDialect()) &&
      op->getNumOperands() == 2) {
    auto lhs = getIndexRange(op->getOperand(0));
    auto rhs = getIndexRange(op->getOperand(1));
    auto range = lhs && rhs ? getRangeOf(op, *lhs, *rhs) : std::nullopt;
    if (!isa<arith::AddIOp, arith::SubIOp>(op))
      return range;
    auto sum = getRangeOfSum(value);
    if (!range || !sum)
      return range ? range : sum;
    IndexRange both(std::max(range->first, sum->first),
                    std::min(range->second, sum->second));
    // Nothing in common is code that never runs.
    return both.first <= both.second ? both : *range;
  }
  if (auto range = getNumberRange(value))
    return range;
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return std::nullopt;
  auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  if (!loop || loop.getInductionVar() != value)
    return std::nullopt;
  // Recursion is as deep as bounds are computed from outer counters.
  auto lower = getIndexRange(loop.getLowerBound());
  auto upper = getIndexRange(loop.getUpperBound());
  auto step = getConstantIntValue(loop.getStep());
  if (!lower || !upper || !step || *step < 1 || upper->second <= lower->first)
    return std::nullopt;
  if (lower->first != lower->second)
    return std::pair(lower->first, upper->second - 1);
  return std::pair(lower->first,
                   lower->first +
                       (upper->second - lower->first - 1) / *step * *step);
}

std::optional<Congruence> visa::getIndexCongruence(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return Congruence{constant.getSExtValue(), 0};
  if (isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp>(
          value.getDefiningOp())) {
    Operation *op = value.getDefiningOp();
    auto lhs = getIndexCongruence(op->getOperand(0));
    auto rhs = getIndexCongruence(op->getOperand(1));
    if (!lhs || !rhs)
      return std::nullopt;
    auto [a, m] = *lhs;
    auto [b, n] = *rhs;
    if (!isa<arith::MulIOp>(op)) {
      auto sum = isa<arith::AddIOp>(op) ? llvm::checkedAdd(a, b)
                                        : llvm::checkedSub(a, b);
      if (!sum)
        return std::nullopt;
      return Congruence{*sum, std::gcd(m, n)};
    }
    // (a + m i) (b + n j)
    auto product = llvm::checkedMul(a, b), an = llvm::checkedMul(a, n),
         bm = llvm::checkedMul(b, m), mn = llvm::checkedMul(m, n);
    if (!product || !an || !bm || !mn)
      return std::nullopt;
    return Congruence{*product, std::gcd(std::gcd(*an, *bm), *mn)};
  }
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop = argument
                  ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())
                  : scf::ForOp();
  if (!loop || loop.getInductionVar() != value)
    return Congruence{0, 1};
  auto lower = getIndexCongruence(loop.getLowerBound());
  auto step = getConstantIntValue(loop.getStep());
  if (!lower || !step)
    return Congruence{0, 1};
  return Congruence{lower->rest, std::gcd(lower->modulus, *step)};
}

/// The loops whose counters an index is computed from.
static void addLoops(Value index, SetVector<Operation *> &loops) {
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop && loop.getInductionVar() == index)
      loops.insert(loop);
    return;
  }
  if (Operation *op = index.getDefiningOp())
    for (Value operand : op->getOperands())
      addLoops(operand, loops);
}

// Recursion is as deep as expressions and bounds of loops around.
bool visa::isKnownWhenUnrolled(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || loop.getInductionVar() != value)
      return false;
    if (loop.getStaticTripCount())
      return true;
    // From a number on all that it may be are steps.
    auto isSum = [](Value bound) {
      return getNumberSum(bound, isKnownWhenUnrolled).has_value();
    };
    return getMostTrips(loop) && isSum(loop.getUpperBound()) &&
           (isKnownWhenUnrolled(loop.getLowerBound()) ||
            (getConstantIntValue(loop.getStep()) == 1 &&
             isSum(loop.getLowerBound())));
  }
  Operation *op = value.getDefiningOp();
  return isa<arith::ArithDialect>(op->getDialect()) &&
         llvm::all_of(op->getOperands(), isKnownWhenUnrolled);
}

std::optional<int64_t> visa::getMostTrips(scf::ForOp loop) {
  if (auto trips = loop.getStaticTripCount())
    return trips->getActiveBits() > 32 ? std::nullopt
                                       : std::optional(trips->getSExtValue());
  auto lower = getIndexRange(loop.getLowerBound());
  auto upper = getIndexRange(loop.getUpperBound());
  auto step = getConstantIntValue(loop.getStep());
  // Unsigned bounds would be others.
  if (!lower || !upper || !step || *step < 1 ||
      (loop.getUnsignedCmp() && (lower->first < 0 || upper->first < 0)))
    return std::nullopt;
  auto span = llvm::checkedSub(upper->second, lower->first);
  if (!span || *span > std::numeric_limits<uint32_t>::max())
    return std::nullopt;
  return std::max<int64_t>(0, llvm::divideCeilSigned(*span, *step));
}

bool visa::needsConditions(scf::ForOp loop) {
  if (isKnownWhenUnrolled(loop.getLowerBound()) &&
      isKnownWhenUnrolled(loop.getUpperBound()))
    return false;
  auto lower = getIndexRange(loop.getLowerBound());
  auto upper = getIndexRange(loop.getUpperBound());
  return !lower || !upper || getConstantIntValue(loop.getStep()) != 1 ||
         upper->first < lower->second;
}

bool visa::hasTooManySteps(Value value) {
  SetVector<Operation *> loops;
  addLoops(value, loops);
  int64_t steps = 1;
  for (Operation *loop : loops) {
    auto count = getMostTrips(cast<scf::ForOp>(loop));
    if (!count)
      return true;
    steps *= *count;
    if (steps > maxUnrolledSteps)
      return true;
  }
  return false;
}

/// Whether an index is affine in numbers of the host and counters, so that a
/// base in HBM can follow it. Recursion is as deep as the expression.
static bool isAffine(Value value, bool &isConstant) {
  isConstant = matchPattern(value, m_Constant());
  if (isConstant || getNumber(value) || isa<BlockArgument>(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (auto cast = dyn_cast<arith::IndexCastOp>(op))
    return cast.getType().isIndex() && isAffine(cast.getIn(), isConstant);
  bool constants[2];
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) ||
      !isAffine(op->getOperand(0), constants[0]) ||
      !isAffine(op->getOperand(1), constants[1]))
    return false;
  isConstant = constants[0] && constants[1];
  return !isa<arith::MulIOp>(op) || constants[0] || constants[1];
}

SmallVector<Operation *> visa::getUnrolledLoops(Operation *kernel) {
  SetVector<Operation *> loops;
  kernel->walk([&](Operation *op) {
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      addLoops(branch.getCondition(), loops);
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      addLoops(loop.getLowerBound(), loops);
      addLoops(loop.getUpperBound(), loops);
      if (needsConditions(loop))
        loops.insert(loop);
    } else if (auto tile = dyn_cast<TileOp>(op); tile && tile.getOffset()) {
      bool isConstant;
      if (isa<DmType>(tile.getSource().getType()) ||
          !isAffine(tile.getOffset(), isConstant))
        addLoops(tile.getOffset(), loops);
    } else if (isa<GatherOp, ScatterOp>(op)) {
      // A list of rows has no base that a counter moves.
      Value index = isa<GatherOp>(op) ? cast<GatherOp>(op).getIndex()
                                      : cast<ScatterOp>(op).getIndex();
      for (; index; index = getViewSource(index))
        if (auto tile = index.getDefiningOp<TileOp>(); tile && tile.getOffset())
          addLoops(tile.getOffset(), loops);
    }
  });
  return loops.takeVector();
}

//===----------------------------------------------------------------------===//
// Where views begin
//===----------------------------------------------------------------------===//

/// Adds to `start` where a tile begins in its source.
static LogicalResult addTile(TileOp tile, ViewStart &start,
                             FaultReporter &reporter) {
  TensorParts parts = getTensorParts(tile.getSource().getType());
  Dimension dimension = tile.getDimension();
  tmap::MappingAttr mapping = getMapping(parts, dimension);
  auto along = tmap::MappingAttr::parseText(tile.getAlong(), parts.axes);
  if (!along || !mapping)
    return failure(); // Reported at the tile, as all that it has wrong itself.
  std::optional<int64_t> first;
  if (auto number = tile.getStart())
    first = *number;
  else if (auto range = getIndexRange(tile.getOffset());
           range && range->first == range->second)
    first = range->first;
  auto window =
      mapping::tile(mapping.getMapping(), along->getMapping(), tile.getTake(),
                    first.value_or(0), mapping::Pad::Top);
  if (!window)
    return failure();
  // An index of one cell has one start.
  if (!first && window->live == 1)
    first = 0;
  if (!first && window->step == 0)
    return failure();
  std::optional<int64_t> units = first ? window->offset : window->step;
  if (dimension == Dimension::Element)
    units = loops::getBytes(*units, getElementBits(parts));
  if (!units)
    return failure();
  if (!first) {
    start.terms.push_back({tile.getOffset(), dimension, *units});
    return success();
  }
  auto sum = llvm::checkedAdd<int64_t>(start.at(dimension), *units);
  if (!sum) {
    reporter.notYetSupported() << "a view that begins beyond 2^63 bytes";
    return failure();
  }
  start.at(dimension) = *sum;
  return success();
}

bool ViewStart::isMultiple(int64_t word) const {
  int64_t rest = bytes % word;
  for (const ViewStart::Term &term : terms) {
    if (term.dimension != Dimension::Element)
      continue;
    Congruence values =
        getIndexCongruence(term.index).value_or(Congruence{0, 1});
    rest += values.rest % word * (term.step % word);
    if (values.modulus % word * (term.step % word) % word != 0)
      return false;
  }
  return rest % word == 0;
}

FailureOr<ViewStart> visa::getViewStart(Value tensor, FaultReporter &reporter) {
  ViewStart start;
  for (; tensor; tensor = getViewSource(tensor))
    if (auto tile = tensor.getDefiningOp<TileOp>();
        tile && failed(addTile(tile, start, reporter)))
      return failure();
  return start;
}

void visa::checkWritable(Value target, FaultReporter &reporter) {
  bool changes = false;
  for (Value at = target; at; at = getViewSource(at))
    if (auto reshape = at.getDefiningOp<ReshapeOp>())
      changes |= changesIndex(reshape);
  if (changes && isa<BlockArgument>(getBaseBuffer(target)))
    reporter.notYetSupported()
        << "writing an argument whose cells were given another index";
  Value at = target;
  while (at && !at.getDefiningOp<TileOp>())
    at = getViewSource(at);
  if (!at)
    return;
  auto tile = at.getDefiningOp<TileOp>();
  Dimension dimension = tile.getDimension();
  TensorParts source = getTensorParts(tile.getSource().getType());
  tmap::MappingAttr declared =
      getMapping(getTensorParts(tile.getResult().getType()), dimension);
  tmap::MappingAttr mapping = getMapping(source, dimension);
  auto along = tmap::MappingAttr::parseText(tile.getAlong(), source.axes);
  if (!along || !mapping || !declared)
    return; // Reported at the tile.
  auto expected = mapping::tile(mapping.getMapping(), along->getMapping(),
                                tile.getTake(), 0, mapping::Pad::Bottom);
  if (!expected ||
      !mapping::checkTileView(mapping.getMapping(), along->getMapping(),
                              tile.getTake(), mapping::Pad::Bottom,
                              declared.getMapping()))
    return;
  InFlightDiagnostic diag = reporter.fault("MM-36");
  diag << "a view that is written has bottom padding: the tile has "
       << stringifyDimension(dimension) << " \"" << declared.getText()
       << "\", expected \"" << expected->view.str() << "\"";
  diag.attachNote(tile.getLoc()) << "the tile is made here";
}

SmallVector<unsigned> visa::getWrittenArguments(FunctionOpInterface kernel) {
  SmallVector<unsigned> written;
  kernel.getFunctionBody().walk([&](MemoryEffectOpInterface op) {
    SmallVector<MemoryEffects::EffectInstance> effects;
    op.getEffects(effects);
    for (const MemoryEffects::EffectInstance &effect : effects) {
      if (!effect.getValue() || !isa<MemoryEffects::Write>(effect.getEffect()))
        continue;
      auto argument = dyn_cast<BlockArgument>(getBaseBuffer(effect.getValue()));
      if (argument && argument.getOwner()->getParentOp() == kernel)
        written.push_back(argument.getArgNumber());
    }
  });
  llvm::sort(written);
  written.erase(llvm::unique(written), written.end());
  return written;
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

/// A view holds the elements of its source, in the same memory; over the same
/// axes, too, unless it is a reshape.
static LogicalResult verifyView(Operation *op) {
  Type sourceType = op->getOperand(0).getType();
  Type resultType = op->getResult(0).getType();
  if (sourceType.getTypeID() != resultType.getTypeID())
    return op->emitOpError() << "a view of " << sourceType
                             << " is in the same memory, found " << resultType;
  TensorParts source = getTensorParts(sourceType);
  TensorParts result = getTensorParts(resultType);
  if (source.elementType != result.elementType)
    return op->emitOpError()
           << "reads " << source.elementType << " as " << result.elementType;
  if (source.axes != result.axes && !isa<ReshapeOp>(op))
    return op->emitOpError() << "source is over axes " << source.axes
                             << ", result over " << result.axes;
  return success();
}

LogicalResult TileOp::verify() {
  if (getOffset() && getStart())
    return emitOpError() << "has a start value and a start number";
  if (!getOffset() && !getStart())
    return emitOpError() << "needs a start value or a start number";
  if (!getMapping(getTensorParts(getSource().getType()), getDimension()))
    return emitOpError() << getSource().getType() << " has no "
                         << stringifyDimension(getDimension());
  return verifyView(*this);
}
LogicalResult PadOp::verify() { return verifyView(*this); }
LogicalResult UnpadOp::verify() { return verifyView(*this); }

LogicalResult ReshapeOp::verify() {
  if (failed(verifyView(*this)))
    return failure();
  TensorParts from = getTensorParts(getSource().getType());
  TensorParts to = getTensorParts(getResult().getType());
  for (Dimension dimension : allDimensions) {
    tmap::MappingAttr source = getMapping(from, dimension);
    tmap::MappingAttr result = getMapping(to, dimension);
    if (source && source.getMapping().size() != result.getMapping().size())
      return emitOpError() << "MM-34: " << stringifyDimension(dimension)
                           << " \"" << result.getText() << "\" has "
                           << result.getMapping().size()
                           << " positions, the source has "
                           << source.getMapping().size();
  }
  return success();
}

Value TileOp::getViewSource() { return getSource(); }
Value PadOp::getViewSource() { return getSource(); }
Value UnpadOp::getViewSource() { return getSource(); }
Value ReshapeOp::getViewSource() { return getSource(); }

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// The other dimensions of a view are those of its source.
static void checkOtherDimensions(Operation *op, Dimension changed,
                                 StringRef rule, FaultReporter &reporter) {
  TensorParts source = getTensorParts(op->getOperand(0).getType());
  TensorParts result = getTensorParts(op->getResult(0).getType());
  for (Dimension dimension : allDimensions) {
    tmap::MappingAttr from = getMapping(source, dimension);
    tmap::MappingAttr to = getMapping(result, dimension);
    if (dimension != changed && from &&
        !mapping::same(from.getMapping(), to.getMapping()))
      reporter.fault(rule) << stringifyDimension(dimension)
                           << " of the view is \"" << to.getText()
                           << "\", expected \"" << from.getText() << "\"";
  }
}

/// Whether a start that is known only at run time can be lowered.
static void checkRunTimeStart(TileOp tile, const mapping::Tile &window,
                              FaultReporter &reporter) {
  if (window.step == 0)
    reporter.notYetSupported("along")
        << "a start known only at run time along \"" << tile.getAlong()
        << "\", which is no single digit";
  Value offset = tile.getOffset();
  bool isKnown = isKnownWhenUnrolled(offset), isConstant;
  bool inDm = isa<DmType>(tile.getSource().getType());
  if (!inDm && isAffine(offset, isConstant))
    return;
  // Data memory is addressed by what stands in registers and descriptors, which
  // numbers of the host move.
  if (!isKnown && (!inDm || !getNumberSum(offset, isKnownWhenUnrolled))) {
    reporter.notYetSupported()
        << "a tile of " << (inDm ? "a DM" : "an HBM")
        << " tensor that begins where only the run knows, other than at sums "
           "of numbers of the host and of counters of loops with known steps; "
           "branch on the number with scf.if where the tile begins";
    return;
  }
  if (!isKnown && tile.getDimension() != Dimension::Element)
    reporter.notYetSupported()
        << "a tile along the " << stringifyDimension(tile.getDimension())
        << " of a DM tensor that begins at a number of the host; take the tile "
           "in HBM";
  if (hasTooManySteps(offset))
    reporter.notYetSupported()
        << "a tile of " << (inDm ? "a DM" : "an HBM")
        << " tensor in loops of more than " << maxUnrolledSteps
        << " steps, which are unrolled";
}

/// Whether a loop around an op makes no trip.
static bool neverRuns(Operation *op) {
  for (auto loop = op->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>())
    if (auto trips = loop.getStaticTripCount(); trips && trips->isZero())
      return true;
  return false;
}

void TileOp::checkInKernel(KernelChecker &checker) {
  FaultReporter reporter(*this);
  TensorParts source = getTensorParts(getSource().getType());
  Dimension dimension = getDimension();
  auto index = tmap::MappingAttr::parseText(getAlong(), source.axes);
  if (!index) {
    reporter.report(index.fault(), "along");
    return checker.noteFault();
  }
  int64_t first = 0, last = 0;
  bool known = true;
  if (auto start = getStart()) {
    first = last = *start;
  } else if (auto range = getIndexRange(getOffset())) {
    first = range->first;
    last = range->second;
  } else {
    known = false;
  }
  const Mapping &mapping = getMapping(source, dimension).getMapping();
  int64_t take = getTake();
  auto check = [&](int64_t at, mapping::Pad hole) {
    return mapping::tile(mapping, index->getMapping(), take, at, hole);
  };
  auto top = check(0, mapping::Pad::Top);
  if (!top) {
    StringRef rule = top.fault().rule == "MA-17" ? "MM-35" : "MM-37";
    InFlightDiagnostic diag = reporter.report(top.fault(), "along", rule);
    diag.attachNote(getSource().getLoc())
        << "the source has " << stringifyDimension(dimension) << " \""
        << mapping.str() << "\"";
    return checker.noteFault();
  }
  int64_t bits = dimension == Dimension::Element ? getElementBits(source) : 8;
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
  if (!constant && top->live != 1 && !neverRuns(*this)) {
    checkRunTimeStart(*this, *top, reporter);
    wholeBytes &= top->step * bits % 8 == 0;
  }
  if (!wholeBytes)
    reporter.notYetSupported("along") << "a window that begins inside a byte";
  auto bottom = check(0, mapping::Pad::Bottom);
  const Mapping &declared =
      getMapping(getTensorParts(getResult().getType()), dimension).getMapping();
  auto isView = [&](mapping::Pad hole) {
    return !mapping::checkTileView(mapping, index->getMapping(), take, hole,
                                   declared);
  };
  if (!isView(mapping::Pad::Top) && !isView(mapping::Pad::Bottom)) {
    InFlightDiagnostic diag = reporter.fault("MM-36");
    diag << "the view has " << stringifyDimension(dimension) << " \""
         << declared.str() << "\", expected \"" << top->view.str()
         << "\" where it is read";
    if (bottom)
      diag << ", \"" << bottom->view.str() << "\" where it is written";
  }
  checkOtherDimensions(*this, dimension, "MM-36", reporter);
  if (reporter.failed())
    checker.noteFault();
}

/// MM-38: `wide` is `narrow` with more top padding behind it.
static void checkPadding(Operation *op, Type narrow, Type wide,
                         KernelChecker &checker) {
  FaultReporter reporter(op);
  tmap::MappingAttr small = getTensorParts(narrow).element;
  tmap::MappingAttr big = getTensorParts(wide).element;
  if (big.getMapping().size() < small.getMapping().size()) {
    reporter.fault("MM-38")
        << "element \"" << big.getText() << "\" has " << big.getMapping().size()
        << " positions, fewer than \"" << small.getText() << "\" with "
        << small.getMapping().size();
  } else {
    auto padded = mapping::pad(small.getMapping(), big.getMapping().size());
    if (!padded || !mapping::same(*padded, big.getMapping()))
      reporter.fault("MM-38")
          << "element \"" << big.getText() << "\" is not \"" << small.getText()
          << "\" with padding behind all its cells; write \"["
          << small.getText() << "] # " << big.getMapping().size() << "\"";
  }
  checkOtherDimensions(op, Dimension::Element, "MM-38", reporter);
  if (reporter.failed())
    checker.noteFault();
}

void PadOp::checkInKernel(KernelChecker &checker) {
  checkPadding(*this, getSource().getType(), getResult().getType(), checker);
}
void UnpadOp::checkInKernel(KernelChecker &checker) {
  checkPadding(*this, getResult().getType(), getSource().getType(), checker);
}

bool visa::changesIndex(ReshapeOp reshape) {
  TensorParts from = getTensorParts(reshape.getSource().getType());
  TensorParts to = getTensorParts(reshape.getResult().getType());
  return from.axes != to.axes ||
         llvm::any_of(allDimensions, [&](Dimension dimension) {
           tmap::MappingAttr source = getMapping(from, dimension);
           return source &&
                  !mapping::same(source.getMapping(),
                                 getMapping(to, dimension).getMapping());
         });
}

/// Adds all handles of a buffer.
static void addHandles(Value tensor, SetVector<Value> &handles) {
  if (!handles.insert(tensor))
    return;
  for (Operation *user : tensor.getUsers())
    for (Value result : user->getResults())
      if (getViewSource(result) == tensor)
        addHandles(result, handles);
  // A chain names its target inside.
  for (Operation *user : tensor.getUsers())
    if (auto chain = dyn_cast<ChainOp>(user->getParentOp());
        chain && chain.getInto() == tensor)
      addHandles(chain.getResult(), handles);
}

void ReshapeOp::checkInKernel(KernelChecker &checker) {
  if (!changesIndex(*this))
    return;
  // The new names of the cells replace the old ones.
  FaultReporter reporter(*this);
  SetVector<Value> renamed, handles;
  addHandles(getResult(), renamed);
  addHandles(getBaseBuffer(getSource()), handles);
  Block *block = (*this)->getBlock();
  if (getBaseBuffer(getSource()).getParentBlock() != block)
    reporter.notYetSupported()
        << "a reshape to other cells of a tensor from outside a loop";
  for (Value handle : handles) {
    if (renamed.contains(handle))
      continue;
    for (Operation *user : handle.getUsers()) {
      Operation *at = block->findAncestorOpInBlock(*user);
      if (!at || at == *this || at->isBeforeInBlock(*this))
        continue;
      InFlightDiagnostic diag = reporter.fault("MM-34");
      diag << "the cells get another index, but the source is used behind the "
              "reshape";
      diag.attachNote(user->getLoc()) << "it is used here";
      return checker.noteFault();
    }
  }
  if (reporter.failed())
    checker.noteFault();
}
