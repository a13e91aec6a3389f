//===- Folds.cpp - Sums, maxima and contractions of linalg ----------------===//

#include "FunctionConversion.h"
#include "furiosa/Dialect/Utils/ElementTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::tmap;

/// Whether a value of the body depends on `argument`.
static bool dependsOn(Value value, Value argument) {
  if (value == argument)
    return true;
  Operation *op = value.getDefiningOp();
  return op && op->getBlock() == argument.getParentBlock() &&
         llvm::any_of(op->getOperands(), [&](Value operand) {
           return dependsOn(operand, argument);
         });
}

namespace {
/// A function that a body folds with.
struct Combiner {
  /// Of `tmap.reduce`, and of `tmap.elementwise`.
  StringRef fold, function;
  /// The number that changes nothing.
  double identity = 0;
};
} // namespace

static std::optional<Combiner> getCombiner(Operation *op) {
  double infinity = std::numeric_limits<double>::infinity();
  if (isa<arith::AddFOp>(op))
    return Combiner{"add", "add", 0};
  if (isa<arith::AddIOp>(op))
    return Combiner{"add_sat", "add", 0};
  if (isa<arith::MaximumFOp, arith::MaxNumFOp>(op))
    return Combiner{"max", "max", -infinity};
  if (isa<arith::MinimumFOp, arith::MinNumFOp>(op))
    return Combiner{"min", "min", infinity};
  if (isa<arith::MaxSIOp>(op))
    return Combiner{"max", "max", double(std::numeric_limits<int32_t>::min())};
  if (isa<arith::MinSIOp>(op))
    return Combiner{"min", "min", double(std::numeric_limits<int32_t>::max())};
  return std::nullopt;
}

/// Whether a start changes nothing. The sum of nothing is +0, as is -0 + 0.
static bool isIdentity(TypedAttr number, double identity) {
  if (auto real = dyn_cast<FloatAttr>(number))
    return real.getValueAsDouble() == identity;
  if (auto integer = dyn_cast<IntegerAttr>(number))
    return double(integer.getValue().getSExtValue()) == identity;
  return false;
}

/// The number of a body behind casts that keep its value.
static Value skipWidening(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::ExtSIOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

Value FunctionConversion::convertFold(linalg::LinalgOp op, unsigned number,
                                      ScalarBuilder &scalars) {
  Value yielded = op.getBlock()->getTerminator()->getOperand(number);
  OpOperand &init = *op.getDpsInitOperand(number);
  BlockArgument argument = op.getMatchingBlockArgument(&init);
  Operation *combine = yielded.getDefiningOp();
  auto combiner = combine ? getCombiner(combine) : std::nullopt;
  if (!combiner)
    return refuse(combine ? "no fold with '" +
                                combine->getName().getStringRef() + "'"
                          : "a fold of nothing");
  Value folded = combine->getOperand(combine->getOperand(0) == argument);
  if (!llvm::is_contained(combine->getOperands(), Value(argument)) ||
      dependsOn(folded, argument))
    return refuse("a fold that uses its result elsewhere");

  // Axes that are summed, in the order of the first operand, and those kept.
  const OpIndices &found = indices.find(op)->second;
  ArrayRef<int> members = loops.find(op)->second;
  SmallVector<int> over, kept;
  for (auto [kind, member] :
       llvm::zip_equal(op.getIteratorTypesArray(), members))
    if (kind == utils::IteratorType::reduction)
      over.push_back(classes.axisOf(member));
  for (std::optional<unsigned> loop : found.dims[init.getOperandNumber()])
    if (loop)
      kept.push_back(classes.axisOf(members[*loop]));

  Type type = getElementTypeOrSelf(init.get().getType());
  Type wide = isa<FloatType>(type) ? Type(builder.getF32Type())
                                   : Type(builder.getI32Type());
  Value sum;
  bool adds = isa<arith::AddFOp, arith::AddIOp>(combine);
  if (adds)
    sum = convertContraction(op.getLoc(), folded, wide, over, kept, scalars);
  if (!sum) {
    // What is folded, over all axes.
    if (llvm::none_of(op.getDpsInputOperands(), [&](OpOperand *input) {
          return found.hasAllLoops(input->getOperandNumber());
        }))
      return refuse(reason.empty() ? "no operand has all loops of the fold"
                                   : reason);
    reason.clear();
    if (isa<arith::AddIOp>(combine)) {
      // Sums saturate on the chip: only where they cannot overflow.
      unsigned bits = getElementTypeOrSelf(skipWidening(folded).getType())
                          .getIntOrFloatBitWidth();
      int64_t terms = 1;
      for (auto [kind, range] :
           llvm::zip_equal(op.getIteratorTypesArray(), found.ranges))
        if (kind == utils::IteratorType::reduction)
          terms *= range;
      if (bits > 16 || terms > (int64_t(1) << (31 - (bits - 1))) - 1)
        return refuse("sums of integers saturate on the chip, and this one "
                      "could overflow");
    }
    SmallVector<int> all(kept);
    llvm::append_range(all, over);
    scalars.setOrder(all);
    Value each = scalars.build(folded);
    each = each ? scalars.convert(each, wide) : Value();
    scalars.setOrder(kept);
    if (!each)
      return refuse(scalars.reason);
    SmallVector<int> held =
        getAxesInOrder(cast<MappedTensorType>(each.getType()));
    SmallVector<StringRef> names;
    for (int axis : over) {
      if (axes.getAxes()[axis].size > 1 && !llvm::is_contained(held, axis))
        return refuse("a fold of numbers that do not change along it");
      names.push_back(axes.getAxes()[axis].name);
    }
    SmallVector<int> rest;
    llvm::copy_if(kept, std::back_inserter(rest),
                  [&](int axis) { return llvm::is_contained(held, axis); });
    sum =
        ReduceOp::create(builder, op.getLoc(), getPlainType(wide, axes, rest),
                         combiner->fold, each, builder.getStrArrayAttr(names));
  }
  // The start.
  if (TypedAttr start = getSplat(init.get())) {
    if (isIdentity(start, combiner->identity))
      return scalars.convert(sum, type);
  } else if (!values.contains(init.get())) {
    return refuse("a fold that starts with what is undefined");
  }
  Value start = scalars.build(argument);
  start = start ? scalars.convert(start, wide) : Value();
  if (!start)
    return refuse(scalars.reason);
  return scalars.convert(scalars.elementwise(combiner->function, {start, sum}),
                         type);
}

/// Null where the multiplier cannot do it; the reason says why.
Value FunctionConversion::convertContraction(Location loc, Value product,
                                             Type sumType, ArrayRef<int> over,
                                             ArrayRef<int> kept,
                                             ScalarBuilder &scalars) {
  Operation *multiply = product.getDefiningOp();
  if (!multiply || !isa<arith::MulFOp, arith::MulIOp>(multiply))
    return {};
  Value tensors[2];
  SmallVector<int> held[2];
  for (int side : {0, 1}) {
    Value factor = skipWidening(multiply->getOperand(side));
    if (!isa<BlockArgument>(factor))
      return {};
    tensors[side] = scalars.build(factor);
    if (!tensors[side])
      return {};
    held[side] =
        getAxesInOrder(cast<MappedTensorType>(tensors[side].getType()));
  }
  // Sums of narrow integers are the low bits of those in 32 bits; narrow floats
  // are added in f32 and rounded once.
  Type element = getElement(tensors[0]);
  if (getElement(tensors[1]) != element ||
      getAccumulatorType(element) != sumType) {
    std::string text;
    llvm::raw_string_ostream(text)
        << "the multiplier takes two of i4, i8, f8E4M3FN, f8E5M2 or bf16, "
           "found "
        << element << " and " << getElement(tensors[1]);
    return refuse(text);
  }
  SmallVector<int> summed;
  for (int axis : over)
    if (axes.getAxes()[axis].size > 1)
      summed.push_back(axis);
  for (int axis : summed)
    if (!llvm::is_contained(held[0], axis) ||
        !llvm::is_contained(held[1], axis))
      return refuse("a factor that lacks a summed axis");
  // The last axis fills packets: the innermost one of the first operand.
  llvm::sort(summed, [&](int a, int b) {
    return llvm::find(held[0], a) < llvm::find(held[0], b);
  });
  if (summed.empty())
    summed.push_back(over.front());
  SmallVector<StringRef> names;
  for (int axis : summed)
    names.push_back(axes.getAxes()[axis].name);
  SmallVector<int> order;
  llvm::copy_if(kept, std::back_inserter(order), [&](int axis) {
    return llvm::is_contained(held[0], axis) ||
           llvm::is_contained(held[1], axis);
  });
  return ContractOp::create(builder, loc, getPlainType(sumType, axes, order),
                            tensors[0], tensors[1],
                            builder.getStrArrayAttr(names));
}
