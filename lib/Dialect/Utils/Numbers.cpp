//===- Numbers.cpp - What is computed from numbers of the host ------------===//

#include "furiosa/Dialect/Utils/Numbers.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

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

namespace {
/// `scale * number + constant`; no number if the scale is 0.
struct Linear {
  BlockArgument number;
  int64_t scale = 0;
  int64_t constant = 0;
};
} // namespace

/// Recursion is as deep as the expression.
static std::optional<Linear> getLinear(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    if (constant.getSignificantBits() > 64)
      return std::nullopt;
    return Linear{{}, 0, constant.getSExtValue()};
  }
  if (BlockArgument number = getNumber(value))
    return Linear{number, 1, 0};
  Operation *op = value.getDefiningOp();
  // Narrow integers may wrap where ours do not.
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) ||
      !value.getType().isIndex())
    return std::nullopt;
  auto lhs = getLinear(op->getOperand(0)), rhs = getLinear(op->getOperand(1));
  if (!lhs || !rhs ||
      (lhs->number && rhs->number && lhs->number != rhs->number))
    return std::nullopt;
  std::optional<int64_t> scale, sum;
  if (isa<arith::MulIOp>(op)) {
    if (lhs->number && rhs->number)
      return std::nullopt;
    if (!lhs->number)
      std::swap(lhs, rhs);
    scale = llvm::checkedMul(lhs->scale, rhs->constant);
    sum = llvm::checkedMul(lhs->constant, rhs->constant);
  } else {
    bool isSum = isa<arith::AddIOp>(op);
    scale = isSum ? llvm::checkedAdd(lhs->scale, rhs->scale)
                  : llvm::checkedSub(lhs->scale, rhs->scale);
    sum = isSum ? llvm::checkedAdd(lhs->constant, rhs->constant)
                : llvm::checkedSub(lhs->constant, rhs->constant);
  }
  // With a number of 32 bits nothing leaves 64.
  if (!scale || !sum || !llvm::isInt<30>(*scale) || !llvm::isInt<62>(*sum))
    return std::nullopt;
  return Linear{lhs->number ? lhs->number : rhs->number, *scale, *sum};
}

NumberTest NumberTest::negate() const {
  return {number, arith::invertPredicate(predicate), bound};
}

static std::optional<NumberTest> getNumberTest(arith::CmpIOp compare) {
  CmpIPredicate predicate = compare.getPredicate();
  auto lhs = getLinear(compare.getLhs()), rhs = getLinear(compare.getRhs());
  if (!lhs || !rhs ||
      (lhs->number && rhs->number && lhs->number != rhs->number))
    return std::nullopt;
  // scale * number < bound, and so on.
  BlockArgument number = lhs->number ? lhs->number : rhs->number;
  int64_t scale = lhs->scale - rhs->scale;
  int64_t bound = rhs->constant - lhs->constant;
  if (!number || scale == 0)
    return std::nullopt;
  switch (predicate) {
  case CmpIPredicate::eq:
  case CmpIPredicate::ne:
    // What is no multiple is equal to no number.
    if (bound % scale != 0)
      return NumberTest{number, predicate, int64_t(1) << 62};
    return NumberTest{number, predicate, bound / scale};
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
  // number < bound / scale; with a negative scale the other way round.
  if (scale > 0)
    return NumberTest{number, predicate, llvm::divideCeilSigned(bound, scale)};
  return NumberTest{number,
                    predicate == CmpIPredicate::slt ? CmpIPredicate::sge
                                                    : CmpIPredicate::slt,
                    llvm::divideFloorSigned(bound, scale) + 1};
}

std::optional<SmallVector<NumberTest>>
furiosa::getNumberTests(Value condition) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    auto lhs = getNumberTests(both.getLhs()),
         rhs = getNumberTests(both.getRhs());
    if (!lhs || !rhs)
      return std::nullopt;
    lhs->append(*rhs);
    return lhs;
  }
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  auto test = compare ? getNumberTest(compare) : std::nullopt;
  if (!test)
    return std::nullopt;
  return SmallVector<NumberTest>{*test};
}
