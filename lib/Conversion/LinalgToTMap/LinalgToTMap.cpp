//===- LinalgToTMap.cpp - Functions of tensors by axis name ---------------===//
//
// A function is converted whole or not at all. First each dimension gets an
// axis: dimensions that one loop runs along are one. Then ops are written one
// by one; what has no counterpart gets a remark that says why.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Conversion/LinalgToTMap.h"
#include "FunctionConversion.h"
#include "furiosa/Conversion/Passes.h"
#include "furiosa/Dialect/Utils/ElementTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

namespace furiosa {
#define GEN_PASS_DEF_CONVERTLINALGTOTMAP
#include "furiosa/Conversion/Passes.h.inc"
} // namespace furiosa

using namespace mlir;
using namespace furiosa;
using namespace furiosa::tmap;

namespace {
struct ConvertLinalgToTMap
    : public furiosa::impl::ConvertLinalgToTMapBase<ConvertLinalgToTMap> {
  using ConvertLinalgToTMapBase::ConvertLinalgToTMapBase;

  void runOnOperation() override {
    SmallVector<func::FuncOp> functions;
    getOperation()->walk(
        [&](func::FuncOp function) { functions.push_back(function); });
    auto isTensor = [](Type type) { return isa<TensorType>(type); };
    for (func::FuncOp function : functions)
      if (!function.isExternal() &&
          (llvm::any_of(function.getArgumentTypes(), isTensor) ||
           llvm::any_of(function.getResultTypes(), isTensor)))
        FunctionConversion(function).run();
  }
};

} // namespace

void furiosa::registerLinalgDialects(DialectRegistry &registry) {
  registry.insert<linalg::LinalgDialect, math::MathDialect,
                  tensor::TensorDialect>();
}

/// Why a type is no tensor of the chip; empty if it is.
static std::string checkType(Type type) {
  std::string why;
  llvm::raw_string_ostream os(why);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor) {
    os << type << " is no ranked tensor";
    return why;
  }
  auto element = getElementType(tensor.getElementType());
  int64_t count = 1;
  bool fits = true;
  if (!tensor.hasStaticShape()) {
    os << type << " has sizes that are known only at run time";
  } else if (!element || !isStored(*element)) {
    os << "the chip has no elements of " << tensor.getElementType();
  } else if (tensor.getEncoding()) {
    os << type << " has an encoding";
  } else {
    for (int64_t size : tensor.getShape())
      fits &= size > 0 && !llvm::MulOverflow(count, size, count);
    if (!fits)
      os << type << " has no elements or more than 2^63";
  }
  return why;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

bool FunctionConversion::checkSignature() {
  if (!llvm::hasSingleElement(function.getBody())) {
    keep(function, "a function with several blocks");
    return false;
  }
  for (ArrayRef<Type> types :
       {function.getArgumentTypes(), function.getResultTypes()})
    for (Type type : types)
      if (std::string why = checkType(type); !why.empty()) {
        keep(function, why);
        return false;
      }
  auto module = function->getParentOfType<ModuleOp>();
  if (module && !SymbolTable::symbolKnownUseEmpty(function, module)) {
    keep(function, "a function that others call");
    return false;
  }
  return true;
}

void FunctionConversion::run() {
  if (!checkSignature())
    return;
  Block &old = function.getBody().front();
  for (BlockArgument argument : old.getArguments())
    addDims(argument);
  for (Operation &op : old)
    assignAxes(&op);
  axes = classes.declare(function.getContext());

  Block *fresh = new Block();
  function.getBody().push_back(fresh);
  builder.setInsertionPointToEnd(fresh);
  for (BlockArgument argument : old.getArguments())
    values.map(argument,
               fresh->addArgument(typeOf(argument), argument.getLoc()));
  for (Operation &op : old)
    convert(&op);
  if (isKept) {
    fresh->dropAllDefinedValueUses();
    fresh->erase();
    return;
  }
  SmallVector<Type> results(fresh->getTerminator()->getOperandTypes());
  old.dropAllDefinedValueUses();
  old.erase();
  function.setFunctionType(
      builder.getFunctionType(fresh->getArgumentTypes(), results));
  function->setAttr("visa.kernel", builder.getUnitAttr());
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

/// Axes of its own for each dimension.
void FunctionConversion::addDims(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !checkType(type).empty())
    return;
  SmallVector<int> members;
  for (int64_t size : type.getShape())
    members.push_back(classes.add(size));
  classes.separate(members);
  dims[value] = members;
}

void FunctionConversion::assignAxes(Operation *op) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return assignLinalg(linalgOp);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return assignReshape(op, collapse.getReassociationIndices(), true);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return assignReshape(op, expand.getReassociationIndices(), false);
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return assignPad(pad);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return assignSlice(slice);
  // An op on whole tensors runs along all dimensions of its operands.
  if (op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1)
    for (Value operand : op->getOperands())
      if (auto found = dims.find(operand); found != dims.end()) {
        SmallVector<int> members = found->second;
        dims[op->getResult(0)] = members;
        loops[op] = members;
        for (OpOperand &other : op->getOpOperands()) {
          auto its = dims.find(other.get());
          if (its != dims.end() && its->second.size() == members.size())
            for (auto [a, b] : llvm::zip_equal(members, its->second))
              if (!classes.unite(a, b))
                renamed.insert(&other);
        }
        return;
      }
  for (Value result : op->getResults())
    addDims(result);
}

void FunctionConversion::assignLinalg(linalg::LinalgOp op) {
  for (Value result : op->getResults())
    addDims(result);
  if (!op.hasPureTensorSemantics() || op.hasDynamicShape())
    return;
  OpIndices found;
  found.ranges = op.getStaticLoopRanges();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  // A loop of one turn is the constant 0.
  MLIRContext *context = op.getContext();
  SmallVector<AffineExpr> turns;
  for (auto [i, range] : llvm::enumerate(found.ranges))
    turns.push_back(range == 1 ? getAffineConstantExpr(0, context)
                               : getAffineDimExpr(i, context));
  for (AffineMap map : maps) {
    map = map.replaceDimsAndSymbols(turns, {}, turns.size(), 0);
    LoopOfDim loopOf;
    DimWindows windows;
    llvm::SmallDenseSet<unsigned> seen;
    auto isNew = [&](std::optional<unsigned> loop) {
      return !loop || seen.insert(*loop).second;
    };
    for (auto [number, index] : llvm::enumerate(map.getResults())) {
      auto window =
          findWindow(index, number, found.ranges, op.getIteratorTypesArray());
      if (!window || !isNew(window->atLoop) || !isNew(window->tapLoop)) {
        std::string text;
        llvm::raw_string_ostream(text) << index;
        return keep(op, "the index " + text +
                            " is no loop of its own, nor a "
                            "sum of two");
      }
      bool isLoop = isa<AffineDimExpr>(index);
      loopOf.push_back(isLoop ? window->atLoop : std::nullopt);
      if (!isLoop && index != getAffineConstantExpr(0, context))
        windows.push_back(*window);
    }
    found.dims.push_back(loopOf);
    found.windows.push_back(windows);
  }
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type)
      continue;
    DimWindows &windows = found.windows[operand.getOperandNumber()];
    if (!windows.empty() && op.isDpsInit(&operand))
      return keep(op, "a result that is written in parts");
    for (auto [dim, loop] :
         llvm::enumerate(found.dims[operand.getOperandNumber()])) {
      bool isWindow = llvm::any_of(
          windows, [dim = dim](const WindowOfDim &w) { return w.dim == dim; });
      if (loop || isWindow || type.getDimSize(dim) == 1)
        continue;
      if (op.isDpsInit(&operand))
        return keep(op, "a part of an operand");
      windows.push_back({unsigned(dim), std::nullopt, std::nullopt});
    }
  }
  // A loop of its own class each; operands join them where nothing has an axis
  // twice then.
  SmallVector<int> members;
  for (int64_t range : found.ranges)
    members.push_back(classes.add(range));
  classes.separate(members);
  for (OpOperand &operand : op->getOpOperands())
    assignWindows(operand.get(), found.windows[operand.getOperandNumber()],
                  members);
  auto join = [&](Value value, const LoopOfDim &loopOf) {
    auto its = dims.find(value);
    bool joined = true;
    if (its != dims.end())
      for (auto [member, loop] : llvm::zip_equal(its->second, loopOf))
        if (loop)
          joined &= classes.unite(member, members[*loop]);
    return joined;
  };
  for (OpOperand &operand : op->getOpOperands())
    if (!join(operand.get(), found.dims[operand.getOperandNumber()]))
      renamed.insert(&operand);
  for (OpOperand &init : op.getDpsInitsMutable())
    join(op.getTiedOpResult(&init), found.dims[init.getOperandNumber()]);
  loops[op] = members;
  indices[op] = found;
}

/// Dimensions that are alone in their group are kept, apart from those of one
/// element.
void FunctionConversion::assignReshape(Operation *op,
                                       ArrayRef<ReassociationIndices> groups,
                                       bool collapses) {
  Value result = op->getResult(0);
  addDims(result);
  auto from = dims.find(op->getOperand(0)), to = dims.find(result);
  if (from == dims.end() || to == dims.end())
    return;
  ArrayRef<int> many = collapses ? from->second : to->second;
  ArrayRef<int> few = collapses ? to->second : from->second;
  for (auto [one, group] : llvm::zip_equal(few, groups)) {
    SmallVector<int> large;
    for (int64_t dim : group)
      if (classes.size(many[dim]) > 1)
        large.push_back(many[dim]);
    if (large.size() == 1)
      classes.unite(one, large.front());
  }
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

TypedAttr FunctionConversion::getSplat(Value value) const {
  if (TypedAttr known = splats.lookup(value))
    return known;
  DenseElementsAttr elements;
  if (matchPattern(value, m_Constant(&elements)) && elements.isSplat())
    return dyn_cast<TypedAttr>(elements.getSplatValue<Attribute>());
  return {};
}

void FunctionConversion::convert(Operation *op) {
  reason.clear();
  if (auto ret = dyn_cast<func::ReturnOp>(op))
    return convertReturn(ret);
  if (isa<tensor::EmptyOp>(op))
    return;
  if (op->hasTrait<OpTrait::ConstantLike>()) {
    for (Value result : op->getResults())
      if (isa<TensorType>(result.getType()) && !getSplat(result))
        keep(op, "a constant tensor of several numbers; pass it as an "
                 "argument");
    return;
  }
  for (Value result : op->getResults())
    if (std::string why = checkType(result.getType()); !why.empty())
      return keep(op, why);
  // What lacks an operand has been spoken of.
  for (Value operand : op->getOperands())
    if (isa<TensorType>(operand.getType()) && !values.contains(operand) &&
        !getSplat(operand) && !operand.getDefiningOp<tensor::EmptyOp>()) {
      isKept = true;
      return;
    }
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return convertLinalg(linalgOp);
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op)) {
    Value source = op->getOperand(0);
    if (TypedAttr number = getSplat(source))
      splats[op->getResult(0)] = number;
    else if (Value tensor = values.lookupOrNull(source))
      values.map(op->getResult(0),
                 reshape(op->getLoc(), tensor, typeOf(op->getResult(0))));
    return;
  }
  if (isa<tensor::PadOp, tensor::ExtractSliceOp>(op))
    return convertPart(op);
  if (loops.contains(op)) {
    Value result = convertElementwise(op);
    if (!result)
      return keep(op, reason);
    values.map(op->getResult(0), result);
    return;
  }
  keep(op, "no counterpart of '" + op->getName().getStringRef() + "'");
}

/// Axes of one element make no difference.
static bool isSame(MappedTensorType a, MappedTensorType b) {
  return mapping::same(a.getMapping().getMapping(),
                       b.getMapping().getMapping());
}

Value FunctionConversion::reshape(Location loc, Value tensor,
                                  MappedTensorType type) {
  if (isSame(cast<MappedTensorType>(tensor.getType()), type))
    return tensor;
  return ReshapeOp::create(builder, loc, type, tensor);
}

void FunctionConversion::convertReturn(func::ReturnOp op) {
  SmallVector<Value> operands;
  for (Value operand : op.getOperands()) {
    Value value = values.lookupOrNull(operand);
    if (!value) {
      if (!isKept)
        keep(op, "a result that is a constant or undefined");
      return;
    }
    operands.push_back(value);
  }
  func::ReturnOp::create(builder, op.getLoc(), operands);
}

/// A function of whole tensors.
Value FunctionConversion::convertElementwise(Operation *op) {
  ScalarBuilder scalars(builder, op->getLoc(), axes, axesOf(loops.lookup(op)));
  SmallVector<Value> operands;
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = values.lookupOrNull(operand.get());
    TypedAttr splat = getSplat(operand.get());
    if (!value && !splat)
      return refuse("an operand that is undefined");
    if (!value)
      value = scalars.constant(splat);
    else if (renamed.contains(&operand))
      value = reshape(
          op->getLoc(), value,
          getPlainType(getElement(value), axes, axesOf(loops.lookup(op))));
    if (!value)
      return refuse(scalars.reason);
    operands.push_back(value);
  }
  Value result = scalars.apply(op, operands);
  return result ? result : refuse(scalars.reason);
}

bool FunctionConversion::mapArguments(linalg::LinalgOp op,
                                      ScalarBuilder &scalars) {
  const OpIndices &found = indices.find(op)->second;
  ArrayRef<int> members = loops.find(op)->second;
  for (OpOperand &operand : op->getOpOperands()) {
    Value argument = op.getMatchingBlockArgument(&operand);
    if (!argument || argument.use_empty())
      continue;
    Value value = values.lookupOrNull(operand.get());
    if (!value) {
      TypedAttr splat = getSplat(operand.get());
      Attribute number;
      if (!splat && matchPattern(operand.get(), m_Constant(&number)))
        splat = dyn_cast<TypedAttr>(number);
      // What is undefined may not be read; a fold finds its start elsewhere.
      if (splat)
        scalars.map(argument, splat);
      else if (!op.isDpsInit(&operand)) {
        refuse("an operand that is undefined or a scalar argument");
        return false;
      }
      continue;
    }
    const DimWindows &windows = found.windows[operand.getOperandNumber()];
    if (renamed.contains(&operand) || !windows.empty()) {
      // Dimensions that windows are cut from keep their own axes until then.
      SmallVector<int> order;
      for (auto [loop, own] :
           llvm::zip_equal(found.dims[operand.getOperandNumber()],
                           dims.find(operand.get())->second))
        order.push_back(loop ? members[*loop] : own);
      value = reshape(op.getLoc(), value,
                      getPlainType(getElement(value), axes, axesOf(order)));
      if (!windows.empty())
        value = convertWindows(op.getLoc(), value, order, windows);
    }
    scalars.map(argument, value);
  }
  return true;
}

void FunctionConversion::convertLinalg(linalg::LinalgOp op) {
  if (!indices.contains(op)) {
    if (!isKept)
      keep(op, "an op that is not on tensors of known sizes");
    return;
  }
  // A fill of one number waits for the op that reads it.
  if (auto fill = dyn_cast<linalg::FillOp>(op.getOperation())) {
    Attribute number;
    Type type = getElementTypeOrSelf(op->getResult(0).getType());
    if (matchPattern(fill.getInputs().front(), m_Constant(&number)))
      if (auto typed = dyn_cast<TypedAttr>(number);
          typed && typed.getType() == type) {
        splats[op->getResult(0)] = typed;
        return;
      }
    return keep(op, "a fill with a number that is known only at run time or "
                    "is of another type");
  }
  if (op.hasIndexSemantics())
    return keep(op, "a body that reads loop counters");
  const OpIndices &found = indices.find(op)->second;
  for (auto [i, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    ArrayRef<int> members = loops.find(op)->second;
    SmallVector<int> order;
    for (std::optional<unsigned> loop : found.dims[init.getOperandNumber()])
      if (loop)
        order.push_back(classes.axisOf(members[*loop]));
    // The parallel loops, each once.
    size_t parallel = 0;
    for (auto [kind, range] :
         llvm::zip_equal(op.getIteratorTypesArray(), found.ranges))
      parallel += kind == utils::IteratorType::parallel && range != 1;
    if (order.size() != parallel)
      return keep(op, "a result that is written several times or in parts");
    ScalarBuilder scalars(builder, op.getLoc(), axes, order);
    Value yielded = op.getBlock()->getTerminator()->getOperand(i);
    Attribute number;
    if (matchPattern(yielded, m_Constant(&number)) && isa<TypedAttr>(number)) {
      splats[op->getResult(i)] = cast<TypedAttr>(number);
      continue;
    }
    Value result;
    if (mapArguments(op, scalars))
      result = op.getNumReductionLoops() > 0 ? convertFold(op, i, scalars)
                                             : scalars.build(yielded);
    if (!result)
      return keep(op, !reason.empty()          ? reason
                      : scalars.reason.empty() ? std::string("no counterpart")
                                               : scalars.reason);
    MappedTensorType type = typeOf(op->getResult(i));
    if (!isa<MappedTensorType>(result.getType()) ||
        getElement(result) != type.getElementType())
      return keep(op, "a result of another type than its init");
    // Axes of one element and those along which the body is constant.
    auto found = cast<MappedTensorType>(result.getType());
    if (!isSame(found, type)) {
      if (getAxesInOrder(found).empty())
        return keep(op, "a result that is one number everywhere");
      result = MoveOp::create(builder, op.getLoc(), type, result);
    }
    values.map(op->getResult(i), result);
  }
}
