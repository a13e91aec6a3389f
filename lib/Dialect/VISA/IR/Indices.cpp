//===- Indices.cpp - What is known of indices -----------------------------===//
//
// Bounds and remainders of what is computed from numbers of the host and
// counters of loops, and which loops that asks to be unrolled.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/Utils/Numbers.h"
#include "furiosa/Dialect/VISA/IR/Views.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace furiosa;
using namespace furiosa::visa;

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

// Recursion is as deep as the expression.
bool visa::isAffine(Value value, bool &isConstant) {
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
