//===- Numbers.cpp - What is computed from numbers of the host ------------===//

#include "furiosa/Dialect/Utils/Numbers.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

#include <array>
#include <numeric>

using namespace mlir;
using namespace furiosa;
using arith::CmpIPredicate;

BlockArgument furiosa::getNumber(Value value) {
  // All of 32 bits or more hold it.
  auto isWide = [](Type type) {
    auto integer = dyn_cast<IntegerType>(type);
    return !integer || integer.getWidth() >= 32;
  };
  for (auto cast = value.getDefiningOp<arith::IndexCastOp>();
       cast && isWide(cast.getType());
       cast = value.getDefiningOp<arith::IndexCastOp>())
    value = cast.getIn();
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getType().isIntOrIndex() &&
                 isa<FunctionOpInterface>(argument.getOwner()->getParentOp())
             ? argument
             : BlockArgument();
}

/// Adds `factor` times a sum to another one; nothing where that leaves what
/// 64 bits hold for all numbers.
static std::optional<NumberSum> addSums(NumberSum sum, const NumberSum &other,
                                        int64_t factor) {
  auto constant = llvm::checkedMulAdd(other.constant, factor, sum.constant);
  if (!constant || !llvm::isInt<62>(*constant))
    return std::nullopt;
  sum.constant = *constant;
  for (auto [number, step] : other.terms) {
    auto *at = llvm::find_if(sum.terms, [&](const auto &term) {
      return term.first.getArgNumber() >= number.getArgNumber();
    });
    if (at == sum.terms.end() || at->first != number)
      at = sum.terms.insert(at, {number, 0});
    auto total = llvm::checkedMulAdd(step, factor, at->second);
    if (!total)
      return std::nullopt;
    at->second = *total;
    if (at->second == 0)
      sum.terms.erase(at);
  }
  // Numbers have 32 bits.
  int64_t factors = 0;
  for (int64_t step : llvm::make_second_range(sum.terms)) {
    if (!llvm::isInt<30>(step))
      return std::nullopt;
    factors += step < 0 ? -step : step;
    if (!llvm::isInt<30>(factors))
      return std::nullopt;
  }
  return sum;
}

/// Recursion is as deep as the expression.
std::optional<NumberSum>
furiosa::getNumberSum(Value value, function_ref<bool(Value)> isKnown) {
  if (isKnown && isKnown(value))
    return NumberSum();
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    if (constant.getSignificantBits() > 62)
      return std::nullopt;
    return NumberSum{{}, constant.getSExtValue()};
  }
  if (BlockArgument number = getNumber(value))
    return NumberSum{{{number, 1}}, 0};
  Operation *op = value.getDefiningOp();
  // Narrow integers may wrap where ours do not.
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) ||
      !value.getType().isIndex())
    return std::nullopt;
  auto lhs = getNumberSum(op->getOperand(0), isKnown),
       rhs = getNumberSum(op->getOperand(1), isKnown);
  if (!lhs || !rhs)
    return std::nullopt;
  if (!isa<arith::MulIOp>(op))
    return addSums(*lhs, *rhs, isa<arith::AddIOp>(op) ? 1 : -1);
  if (!lhs->isConstant())
    std::swap(lhs, rhs);
  if (!lhs->isConstant())
    return std::nullopt;
  return addSums(NumberSum(), *rhs, lhs->constant);
}

NumberTest NumberTest::negate() const {
  return {sum, arith::invertPredicate(predicate), bound};
}

/// The test that a comparison is; with no terms where it is known.
static std::optional<NumberTest>
getNumberTest(arith::CmpIOp compare, function_ref<bool(Value)> isKnown) {
  CmpIPredicate predicate = compare.getPredicate();
  auto lhs = getNumberSum(compare.getLhs(), isKnown),
       rhs = getNumberSum(compare.getRhs(), isKnown);
  auto difference = lhs && rhs ? addSums(*lhs, *rhs, -1) : std::nullopt;
  if (!difference)
    return std::nullopt;
  // sum < bound, and so on.
  int64_t bound = -difference->constant;
  difference->constant = 0;
  switch (predicate) {
  case CmpIPredicate::eq:
  case CmpIPredicate::ne:
  case CmpIPredicate::slt:
  case CmpIPredicate::sge:
    break;
  case CmpIPredicate::sle:
  case CmpIPredicate::sgt:
    ++bound;
    predicate = predicate == CmpIPredicate::sle ? CmpIPredicate::slt
                                                : CmpIPredicate::sge;
    break;
  default:
    return std::nullopt;
  }
  if (difference->isConstant())
    return NumberTest{*difference, predicate, bound};
  // Without a common factor, and the first number is added.
  int64_t scale = 0;
  for (int64_t step : llvm::make_second_range(difference->terms))
    scale = std::gcd(scale, step);
  if (difference->terms.front().second < 0)
    scale = -scale;
  for (auto &term : difference->terms)
    term.second /= scale;
  if (predicate == CmpIPredicate::eq || predicate == CmpIPredicate::ne) {
    // What is no multiple is equal to no sum.
    bound = bound % scale != 0 ? int64_t(1) << 62 : bound / scale;
    return NumberTest{*difference, predicate, bound};
  }
  // sum < bound / scale; with a negative scale the other way round.
  if (scale > 0)
    return NumberTest{*difference, predicate,
                      llvm::divideCeilSigned(bound, scale)};
  return NumberTest{*difference,
                    predicate == CmpIPredicate::slt ? CmpIPredicate::sge
                                                    : CmpIPredicate::slt,
                    llvm::divideFloorSigned(bound, scale) + 1};
}

using Cases = std::optional<SmallVector<NumberCase>>;

/// Both hold.
static Cases multiply(const Cases &lhs, const Cases &rhs) {
  if (!lhs || !rhs || lhs->size() * rhs->size() > maxNumberCases)
    return std::nullopt;
  SmallVector<NumberCase> product;
  for (const NumberCase &a : *lhs)
    for (const NumberCase &b : *rhs) {
      product.push_back(a);
      llvm::append_range(product.back(), b);
    }
  return product;
}

/// One or the other holds; they exclude one another.
static Cases add(Cases lhs, const Cases &rhs) {
  if (!lhs || !rhs || lhs->size() + rhs->size() > maxNumberCases)
    return std::nullopt;
  llvm::append_range(*lhs, *rhs);
  return lhs;
}

namespace {
/// Cases of conditions, each of which is looked at once.
class CaseFinder {
public:
  /// In which a condition is false, and true.
  using Both = std::array<Cases, 2>;

  explicit CaseFinder(function_ref<bool(Value)> isKnown) : isKnown(isKnown) {}

  /// Recursion is as deep as the condition.
  Both find(Value condition) {
    if (auto known = found.find(condition); known != found.end())
      return known->second;
    Both both = compute(condition);
    return found[condition] = both;
  }

private:
  Both compute(Value condition);

  function_ref<bool(Value)> isKnown;
  llvm::DenseMap<Value, Both> found;
};
} // namespace

CaseFinder::Both CaseFinder::compute(Value condition) {
  const SmallVector<NumberCase> always(1), never;
  // Each is as likely as the other.
  if (isKnown && isKnown(condition))
    return {always, always};
  APInt constant;
  if (condition.getType().isInteger(1) &&
      matchPattern(condition, m_ConstantInt(&constant)))
    return constant.isOne() ? Both{never, always} : Both{always, never};
  Operation *op = condition.getDefiningOp();
  if (auto compare = dyn_cast_or_null<arith::CmpIOp>(op)) {
    auto test = getNumberTest(compare, isKnown);
    if (!test)
      return {};
    if (!test->sum.isConstant())
      return {SmallVector<NumberCase>{{test->negate()}},
              SmallVector<NumberCase>{{*test}}};
    return arith::applyCmpPredicate(test->predicate, APInt(64, 0),
                                    APInt(64, uint64_t(test->bound)))
               ? Both{never, always}
               : Both{always, never};
  }
  if (!isa_and_nonnull<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op) ||
      !condition.getType().isInteger(1))
    return {};
  Both lhs = find(op->getOperand(0)), rhs = find(op->getOperand(1));
  Both result;
  if (isa<arith::XOrIOp>(op)) {
    for (bool value : {false, true})
      result[value] =
          add(multiply(lhs[0], rhs[value]), multiply(lhs[1], rhs[!value]));
    return result;
  }
  // Of an or, that both are false; of an and, that both are true.
  bool both = isa<arith::AndIOp>(op);
  result[both] = multiply(lhs[both], rhs[both]);
  result[!both] = add(lhs[!both], multiply(lhs[both], rhs[!both]));
  return result;
}

Cases furiosa::getNumberCases(Value condition, bool value,
                              function_ref<bool(Value)> isKnown) {
  return CaseFinder(isKnown).find(condition)[value];
}
