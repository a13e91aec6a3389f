//===- Scalars.cpp - Functions of numbers as functions of tensors ---------===//

#include "Scalars.h"
#include "furiosa/Dialect/Utils/ElementTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

#include <limits>

using namespace mlir;
using namespace furiosa;
using namespace furiosa::tmap;

Value ScalarBuilder::constant(TypedAttr number) {
  auto type = furiosa::getElementType(number.getType());
  if (!type || !isStored(*type) || !getCode(number))
    return refuse("a constant of a type that the chip does not have");
  return ConstantOp::create(builder, loc,
                            getPlainType(number.getType(), axes, {}), number);
}

Value ScalarBuilder::number(double value) {
  return constant(builder.getF32FloatAttr(value));
}

Value ScalarBuilder::elementwise(StringRef fn, ArrayRef<Value> operands) {
  SmallVector<int> held;
  for (Value operand : operands)
    llvm::append_range(
        held, getAxesInOrder(cast<MappedTensorType>(operand.getType())));
  SmallVector<int> kept;
  llvm::copy_if(order, std::back_inserter(kept),
                [&](int axis) { return llvm::is_contained(held, axis); });
  return builder.createOrFold<ElementwiseOp>(
      loc, getPlainType(getElement(operands.back()), axes, kept), fn, operands);
}

Value ScalarBuilder::convert(Value value, Type type) {
  Type from = getElement(value);
  if (from == type)
    return value;
  if (!isCast(from, type)) {
    // By way of the wide type of its kind, and i32 to f32.
    Type wide = isa<FloatType>(from) ? Type(builder.getF32Type())
                                     : Type(builder.getI32Type());
    bool narrowFloat = isa<IntegerType>(from) && isa<FloatType>(type) &&
                       from.getIntOrFloatBitWidth() <= 16;
    if (from == wide && isa<IntegerType>(from) && type.isF32())
      return refuse("no such cast");
    if (isCast(from, wide)) {
      Value widened = convert(value, wide);
      if (isCast(wide, type))
        return convert(widened, type);
      // i8 and i16 are exact in f32, so that there is one rounding.
      if (narrowFloat && isCast(builder.getF32Type(), type))
        return convert(convert(widened, builder.getF32Type()), type);
      if (narrowFloat && type.isF32())
        return convert(widened, type);
    }
    std::string text;
    llvm::raw_string_ostream(text) << "no cast from " << from << " to " << type;
    return refuse(text);
  }
  return builder.createOrFold<CastOp>(loc, value, type);
}

Value ScalarBuilder::build(Value scalar) {
  if (Value tensor = tensors.lookupOrNull(scalar))
    return tensor;
  Attribute value;
  Value tensor;
  if (TypedAttr number = numbers.lookup(scalar)) {
    tensor = constant(number);
  } else if (matchPattern(scalar, m_Constant(&value))) {
    auto number = dyn_cast<TypedAttr>(value);
    // A truth value is 1 or 0.
    if (auto truth = dyn_cast<BoolAttr>(value))
      number = builder.getI32IntegerAttr(truth.getValue());
    tensor = number ? constant(number) : Value();
  } else if (Operation *op = scalar.getDefiningOp()) {
    if (isa<arith::SelectOp>(op)) {
      tensor = buildSelect(op);
    } else if (isa<arith::CmpFOp, arith::CmpIOp>(op)) {
      bool isNegated = false;
      tensor = buildComparison(op, isNegated);
      if (tensor && isNegated)
        tensor = negate(tensor);
    } else {
      SmallVector<Value> operands;
      for (Value operand : op->getOperands()) {
        operands.push_back(build(operand));
        if (!operands.back())
          return {};
      }
      tensor = apply(op, operands);
    }
  } else {
    return refuse("a number that is no constant and no element");
  }
  if (tensor)
    tensors.map(scalar, tensor);
  return tensor;
}

/// The comparison that a predicate is, or the one whose converse it is. Empty
/// where there is none.
static StringRef getTest(Operation *op, bool &isNegated) {
  if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    using P = arith::CmpFPredicate;
    P predicate = compare.getPredicate();
    isNegated = llvm::is_contained({P::UGT, P::UGE, P::ULT, P::ULE}, predicate);
    switch (predicate) {
    case P::OEQ:
      return "equal";
    case P::UNE:
      return "not_equal";
    case P::OGT:
    case P::ULE:
      return "greater";
    case P::OGE:
    case P::ULT:
      return "greater_equal";
    case P::OLT:
    case P::UGE:
      return "less";
    case P::OLE:
    case P::UGT:
      return "less_equal";
    default:
      return "";
    }
  }
  using P = arith::CmpIPredicate;
  switch (cast<arith::CmpIOp>(op).getPredicate()) {
  case P::eq:
    return "equal";
  case P::ne:
    return "not_equal";
  case P::sgt:
  case P::ugt:
    return "greater";
  case P::sge:
  case P::uge:
    return "greater_equal";
  case P::slt:
  case P::ult:
    return "less";
  case P::sle:
  case P::ule:
    return "less_equal";
  }
  return "";
}

Value ScalarBuilder::buildComparison(Operation *op, bool &isNegated) {
  StringRef test = getTest(op, isNegated);
  if (test.empty())
    return refuse("a comparison that asks whether numbers are NaN");
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    Value tensor = build(operand);
    Type wide = isa<FloatType>(operand.getType()) ? Type(builder.getF32Type())
                                                  : Type(builder.getI32Type());
    tensor = tensor ? convert(tensor, wide) : Value();
    // Unsigned numbers are in the order of signed ones half the range below;
    // those that are widened with their sign are as well.
    if (auto compare = dyn_cast<arith::CmpIOp>(op);
        tensor && compare &&
        compare.getPredicate() >= arith::CmpIPredicate::ult)
      tensor = elementwise("xor",
                           {tensor, constant(builder.getI32IntegerAttr(
                                        std::numeric_limits<int32_t>::min()))});
    if (!tensor)
      return {};
    operands.push_back(tensor);
  }
  return elementwise(test, operands);
}

Value ScalarBuilder::negate(Value truth) {
  Type type = getElement(truth);
  return elementwise("equal", {truth, constant(getNumber(type, 0))});
}

Value ScalarBuilder::buildSelect(Operation *op) {
  auto select = cast<arith::SelectOp>(op);
  Operation *test = select.getCondition().getDefiningOp();
  Value a = select.getTrueValue(), b = select.getFalseValue();
  // 1: the greater one where the comparison holds.
  int direction = 0;
  if (auto compare = dyn_cast_or_null<arith::CmpFOp>(test)) {
    using P = arith::CmpFPredicate;
    switch (compare.getPredicate()) {
    case P::OGT:
    case P::OGE:
    case P::UGT:
    case P::UGE:
      direction = 1;
      break;
    case P::OLT:
    case P::OLE:
    case P::ULT:
    case P::ULE:
      direction = -1;
      break;
    default:
      break;
    }
  } else if (auto compare = dyn_cast_or_null<arith::CmpIOp>(test)) {
    using P = arith::CmpIPredicate;
    switch (compare.getPredicate()) {
    case P::sgt:
    case P::sge:
      direction = 1;
      break;
    case P::slt:
    case P::sle:
      direction = -1;
      break;
    default:
      break;
    }
  }
  if (direction != 0) {
    // Equal constants may be different values.
    auto same = [](Value x, Value y) {
      Attribute left, right;
      return x == y || (matchPattern(x, m_Constant(&left)) &&
                        matchPattern(y, m_Constant(&right)) && left == right);
    };
    if (same(test->getOperand(0), b) && same(test->getOperand(1), a))
      direction = -direction;
    else if (!same(test->getOperand(0), a) || !same(test->getOperand(1), b))
      direction = 0;
  }
  Value condition;
  if (direction == 0) {
    bool isNegated = false;
    condition = isa_and_nonnull<arith::CmpFOp, arith::CmpIOp>(test)
                    ? buildComparison(test, isNegated)
                    : build(select.getCondition());
    if (!condition)
      return {};
    if (isNegated)
      std::swap(a, b);
  }
  Value left = build(a), right = left ? build(b) : Value();
  if (!right)
    return {};
  Type type = getElement(left);
  Type wide = isa<FloatType>(type) ? Type(builder.getF32Type())
                                   : Type(builder.getI32Type());
  left = convert(left, wide);
  right = left ? convert(right, wide) : Value();
  if (!right)
    return {};
  return convert(
      condition ? elementwise(selectName, {condition, left, right})
                : elementwise(direction > 0 ? "max" : "min", {left, right}),
      type);
}

Value ScalarBuilder::apply(Operation *op, ArrayRef<Value> operands) {
  if (op->getNumResults() != 1)
    return refuse("no function of the vector engine for '" +
                  op->getName().getStringRef() + "'");
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  if (type.isInteger(1))
    return applyTruth(op, operands);
  auto element = furiosa::getElementType(type);
  if (!element || !isStored(*element)) {
    std::string text;
    llvm::raw_string_ostream(text) << "'" << op->getName() << "' of " << type
                                   << ", which the chip does not have";
    return refuse(text);
  }
  if (op->getNumOperands() == 1)
    if (Value result = applyCast(op, operands.front(), type))
      return result;
  if (!reason.empty())
    return {};
  // Narrow numbers are widened, and each result is rounded or cut as in the
  // body.
  Type wide = isa<FloatType>(type) ? Type(builder.getF32Type())
                                   : Type(builder.getI32Type());
  SmallVector<Value> widened;
  for (Value operand : operands) {
    if (getElement(operand) != type)
      return refuse("'" + op->getName().getStringRef() +
                    "' on operands of several types");
    widened.push_back(convert(operand, wide));
    if (!widened.back())
      return {};
  }
  Value result = isa<FloatType>(type) ? applyFloat(op, widened, type)
                                      : applyInteger(op, widened, type);
  if (!result)
    return refuse("no function of the vector engine for '" +
                  op->getName().getStringRef() + "'");
  return convert(result, type);
}

Value ScalarBuilder::applyTruth(Operation *op, ArrayRef<Value> operands) {
  StringRef fn = isa<arith::AndIOp>(op)   ? "and"
                 : isa<arith::OrIOp>(op)  ? "or"
                 : isa<arith::XOrIOp>(op) ? "xor"
                                          : "";
  if (fn.empty())
    return refuse("'" + op->getName().getStringRef() + "' of truth values");
  // Each is 1 or 0 of the type that it compares.
  SmallVector<Value> truths;
  for (Value operand : operands) {
    truths.push_back(convert(operand, builder.getI32Type()));
    if (!truths.back())
      return {};
  }
  return elementwise(fn, truths);
}

Value ScalarBuilder::applyCast(Operation *op, Value operand, Type type) {
  if (op->getOperand(0).getType().isInteger(1)) {
    if (!isa<arith::ExtUIOp, arith::UIToFPOp>(op))
      return refuse("'" + op->getName().getStringRef() + "' of a truth value");
    if (isa<IntegerType>(type))
      operand = convert(operand, builder.getI32Type());
    return operand ? convert(operand, type) : Value();
  }
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::TruncIOp,
          arith::SIToFPOp>(op))
    return convert(operand, type);
  if (auto toInteger = dyn_cast<arith::FPToSIOp>(op)) {
    // The chip rounds, half away from zero: exact behind math.round.
    if (toInteger.getIn().getDefiningOp<math::RoundOp>() && type.isInteger(32))
      return convert(operand, type);
    return refuse("'arith.fptosi' cuts, the chip rounds half away from zero; "
                  "put math.round before it");
  }
  return {};
}

Value ScalarBuilder::applyFloat(Operation *op, ArrayRef<Value> operands,
                                Type type) {
  auto fn = [&](StringRef name) { return elementwise(name, operands); };
  return TypeSwitch<Operation *, Value>(op)
      .Case<arith::AddFOp>([&](auto) { return fn("add"); })
      .Case<arith::SubFOp>([&](auto) { return fn("sub"); })
      .Case<arith::MulFOp>([&](auto) { return fn("mul"); })
      .Case<arith::DivFOp>([&](auto) { return fn("div"); })
      .Case<arith::MaximumFOp, arith::MaxNumFOp>(
          [&](auto) { return fn("max"); })
      .Case<arith::MinimumFOp, arith::MinNumFOp>(
          [&](auto) { return fn("min"); })
      .Case<arith::NegFOp>([&](auto) {
        return elementwise("mul", {operands[0], number(-1)});
      })
      .Case<math::AbsFOp>([&](auto) {
        Value negative = elementwise("mul", {operands[0], number(-1)});
        return elementwise("max", {operands[0], negative});
      })
      .Case<math::ExpOp>([&](auto) { return fn("exp"); })
      .Case<math::TanhOp>([&](auto) { return fn("tanh"); })
      .Case<math::ErfOp>([&](auto) { return fn("erf"); })
      .Case<math::LogOp>([&](auto) { return fn("ln"); })
      .Case<math::SinOp>([&](auto) { return fn("sin"); })
      .Case<math::CosOp>([&](auto) { return fn("cos"); })
      .Case<math::SqrtOp>([&](auto) { return fn("sqrt"); })
      .Case<math::RsqrtOp>([&](auto) {
        return elementwise("div", {number(1), fn("sqrt")});
      })
      // One rounding in f32 is not one in a narrower type.
      .Case<math::FmaOp>(
          [&](auto) { return type.isF32() ? fn("fma") : Value(); })
      // Whole numbers stay: what casts to an integer rounds.
      .Case<math::RoundOp>([&](math::RoundOp round) {
        bool isCastOnly =
            llvm::all_of(round->getUsers(), llvm::IsaPred<arith::FPToSIOp>);
        return isCastOnly ? operands[0] : Value();
      })
      .Default([](Operation *) { return Value(); });
}

Value ScalarBuilder::applyInteger(Operation *op, ArrayRef<Value> operands,
                                  Type type) {
  auto fn = [&](StringRef name) { return elementwise(name, operands); };
  return TypeSwitch<Operation *, Value>(op)
      .Case<arith::AddIOp>([&](auto) { return fn("add"); })
      .Case<arith::SubIOp>([&](auto) { return fn("sub"); })
      .Case<arith::MulIOp>([&](auto) { return fn("mul_int"); })
      .Case<arith::MaxSIOp>([&](auto) { return fn("max"); })
      .Case<arith::MinSIOp>([&](auto) { return fn("min"); })
      .Case<arith::AndIOp>([&](auto) { return fn("and"); })
      .Case<arith::OrIOp>([&](auto) { return fn("or"); })
      .Case<arith::XOrIOp>([&](auto) { return fn("xor"); })
      .Case<arith::ShLIOp>([&](auto) { return fn("shl"); })
      .Case<arith::ShRSIOp>([&](auto) { return fn("sar"); })
      // Zeros come in from the left of 32 bits only.
      .Case<arith::ShRUIOp>(
          [&](auto) { return type.isInteger(32) ? fn("shr") : Value(); })
      .Default([](Operation *) { return Value(); });
}
