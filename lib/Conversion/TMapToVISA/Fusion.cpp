//===- Fusion.cpp - Functions that one pass of the engine does ------------===//

#include "Fusion.h"
#include "furiosa/Dialect/Utils/ElementTypes.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::tmap;

//===----------------------------------------------------------------------===//
// ALUs
//===----------------------------------------------------------------------===//

/// Stages in the order of the engine; conversions stand between clusters.
static int getRank(vector::Cluster cluster) {
  switch (cluster) {
  case vector::Cluster::Logic:
    return 0;
  case vector::Cluster::Fxp:
    return 1;
  case vector::Cluster::Fp:
    return 3;
  case vector::Cluster::FpDiv:
    return 4;
  case vector::Cluster::Clip:
    return 6;
  }
  llvm_unreachable("a cluster of the engine");
}
static constexpr int toFloatRank = 2, toIntegerRank = 5;

static bool isNarrowRow(const vector::Operation *row) {
  return row && vector::ways(vector::clusterOf(row->alu)) == 4;
}

bool VectorPass::isNarrow() const {
  return llvm::any_of(steps,
                      [](const Step &step) { return isNarrowRow(step.row); });
}

/// Gives the steps from `at` on rows of units that stand at `rank` or behind;
/// those that keep eight elements together are tried first.
static bool assignRows(MutableArrayRef<Step> steps, size_t at, int rank,
                       uint32_t used) {
  if (at == steps.size())
    return true;
  Step &step = steps[at];
  if (step.kind == Step::Kind::Reinterpret)
    return assignRows(steps, at + 1, rank, used);
  if (step.kind != Step::Kind::Function) {
    int own = step.kind == Step::Kind::ToFloat ? toFloatRank : toIntegerRank;
    // Each conversion stands once.
    return own >= rank && assignRows(steps, at + 1, own + 1, used);
  }
  ElementType type = *getElementType(step.type);
  for (bool narrow : {false, true})
    for (const vector::Operation &row : vector::operations()) {
      bool isMul = row.code == "mul";
      int own = getRank(vector::clusterOf(row.alu));
      uint32_t alu = 1u << unsigned(row.alu);
      if ((isMul ? step.name != "mul" : step.name != row.name) ||
          row.arity != step.arity || !row.takes(type) || own < rank ||
          (used & alu) || isNarrowRow(&row) != narrow)
        continue;
      step.row = &row;
      if (assignRows(steps, at + 1, own, used | alu))
        return true;
    }
  step.row = nullptr;
  return false;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

static TypedAttr getConstant(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant ? constant.getValue() : TypedAttr();
}

static MappedTensorType getTensorType(Value value) {
  return cast<MappedTensorType>(value.getType());
}

static bool hasSameAxes(Value lhs, Value rhs) {
  SmallVector<int> left = getAxesInOrder(getTensorType(lhs));
  SmallVector<int> right = getAxesInOrder(getTensorType(rhs));
  llvm::sort(left);
  llvm::sort(right);
  return left == right;
}

int tmap::findInnermost(MappedTensorType type) {
  SmallVector<int> order = getAxesInOrder(type);
  return order.empty() ? -1 : order.back();
}

/// Functions that give elements execution ids.
static bool isChoice(ElementwiseOp op) {
  return op.getFn() == selectName || findTest(op.getFn());
}

bool tmap::isWidening(CastOp op) {
  Type from = op.getSource().getType().getElementType();
  Type to = op.getType().getElementType();
  return (to.isF32() && !from.isInteger(32)) ||
         (to.isInteger(32) && !from.isF32());
}

/// Number of a side operand; a deferred widening is part of it. -1 for one that
/// has no buffer.
static int addSide(VectorPass &pass, Value tensor,
                   function_ref<bool(Operation *)> isDeferred) {
  Type type = getTensorType(tensor).getElementType();
  if (Operation *op = tensor.getDefiningOp(); op && isDeferred(op)) {
    auto widening = dyn_cast<CastOp>(op);
    if (!widening || !isWidening(widening) ||
        (widening.getSource().getDefiningOp() &&
         isDeferred(widening.getSource().getDefiningOp())))
      return -1;
    tensor = widening.getSource();
  }
  for (auto [number, side] : llvm::enumerate(pass.sides))
    if (side.tensor == tensor && side.type == type)
      return number;
  pass.sides.push_back({tensor, type});
  return pass.sides.size() - 1;
}

/// The step of a function whose argument `at` and all equal ones are the
/// stream.
static std::optional<Step> makeStep(ElementwiseOp op, Value stream,
                                    VectorPass &pass,
                                    function_ref<bool(Operation *)> isDeferred,
                                    std::string &reason) {
  Step step;
  step.name = op.getFn().str();
  step.type = op.getType().getElementType();
  step.arity = op.getOperands().size();
  if (step.arity == 1)
    return step;
  SmallVector<Value, 3> arguments(op.getOperands());
  // Products commute: what is left of constants goes behind.
  if (step.arity == 3 && getConstant(arguments[0]) && arguments[1] != stream)
    std::swap(arguments[0], arguments[1]);
  Value operand;
  TypedAttr second;
  for (Value argument : arguments) {
    if (argument == stream) {
      step.mode += '0';
      continue;
    }
    TypedAttr number = getConstant(argument);
    if (operand == argument) {
      step.mode += '1';
    } else if (step.arity == 3 && number && (!second || second == number)) {
      second = number;
      step.mode += '2';
    } else if (!operand) {
      operand = argument;
      step.mode += '1';
    } else {
      reason = "'" + step.name + "' of more operands than a slot holds";
      return std::nullopt;
    }
  }
  if (!vector::isMode(step.mode, step.arity)) {
    reason = "'" + step.name + "' with its operands in these places";
    return std::nullopt;
  }
  if (step.arity == 3)
    step.with = second ? second : TypedAttr(getNumber(step.type, 0));
  if (!operand)
    step.immediate = getNumber(step.type, 0);
  else if (TypedAttr number = getConstant(operand))
    step.immediate = number;
  else if ((step.side = addSide(pass, operand, isDeferred)) < 0) {
    reason = "two results of functions in one pass";
    return std::nullopt;
  }
  if (step.mode == vector::defaultMode(step.arity))
    step.mode.clear();
  return step;
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

/// A step that puts its operand in place of the elements that `guard` admits.
static Step makeReplacement(StringRef name, Type type, std::string guard) {
  Step step;
  step.name = name.str();
  step.type = type;
  step.arity = 2;
  step.mode = "11";
  step.guard = std::move(guard);
  return step;
}

VectorPass tmap::makeReplacingPass(Type type) {
  VectorPass pass;
  pass.streamType = pass.lastType = pass.resultType = type;
  pass.steps.push_back(makeReplacement("or", type, ""));
  pass.steps.back().side = 0;
  assignRows(pass.steps, 0, 0, 0);
  return pass;
}

static std::string getGuard(const ElementTest &test, bool holds) {
  vector::Guard guard = test.holds;
  guard.negated ^= !holds;
  return guard.str();
}

static TypedAttr getUnit(Type type, bool isOne) {
  bool isFloat = isa<FloatType>(type);
  return getNumber(type, !isOne ? 0 : isFloat ? 0x3F800000u : 1u);
}

/// The steps that leave a where the test of the pass holds and b elsewhere. The
/// stream is `stream`, of the element type `streamType`.
static bool addChoice(VectorPass &pass, Value a, Value b, Value stream,
                      Type streamType, Type type,
                      function_ref<bool(Operation *)> isDeferred,
                      std::string &reason) {
  if (streamType != type) {
    Step step;
    step.kind = Step::Kind::Reinterpret;
    step.type = type;
    pass.steps.push_back(step);
    stream = {};
  }
  Value arms[2] = {a, b};
  std::optional<Step> sides[2];
  for (auto [i, arm] : llvm::enumerate(arms)) {
    if (arm == stream || getConstant(arm))
      continue;
    // Two sides are put in place by two units.
    Step step = makeReplacement(i == 0 ? "or" : "and", type,
                                getGuard(*pass.test, i == 0));
    step.side = addSide(pass, arm, isDeferred);
    if (step.side < 0) {
      reason = "two results of functions in one pass";
      return false;
    }
    sides[i] = step;
  }
  for (auto [i, arm] : llvm::enumerate(arms)) {
    TypedAttr number = arm == stream ? TypedAttr() : getConstant(arm);
    if (!number)
      continue;
    std::optional<Step> &other = sides[1 - i];
    if (other) {
      other->numberOfOthers = number;
      other->guardOfOthers = getGuard(*pass.test, i == 0);
      other->guard.clear();
    } else if (TypedAttr second =
                   arms[1] == stream ? TypedAttr() : getConstant(arms[1]);
               i == 0 && second) {
      other = makeReplacement("or", type, "");
      other->immediate = second;
      other->numberOfOthers = number;
      other->guardOfOthers = getGuard(*pass.test, true);
      break;
    } else {
      sides[i] = makeReplacement("or", type, getGuard(*pass.test, i == 0));
      sides[i]->immediate = number;
    }
  }
  for (std::optional<Step> &step : sides)
    if (step)
      pass.steps.push_back(*step);
  return true;
}

std::optional<VectorPass>
tmap::buildPass(Operation *op, function_ref<bool(Operation *)> isDeferred,
                std::string &reason) {
  // From the last op back to the tensor that streams.
  SmallVector<std::pair<Operation *, Value>> path;
  Operation *at = op;
  Value stream;
  while (true) {
    if (auto castOp = dyn_cast<CastOp>(at)) {
      stream = castOp.getSource();
    } else if (auto function = dyn_cast<ElementwiseOp>(at);
               function && isChoice(function)) {
      // Execution ids are made of what streams.
      stream = function.getOperands().front();
      if (getConstant(stream)) {
        reason = "a condition that is one number; fold it with --canonicalize";
        return std::nullopt;
      }
      if (Operation *inner = stream.getDefiningOp();
          inner && isDeferred(inner) &&
          !hasSameAxes(stream, function.getResult())) {
        reason = "a condition with fewer axes in one pass with its function";
        return std::nullopt;
      }
    } else if (auto function = dyn_cast<ElementwiseOp>(at)) {
      // An operand with the innermost axis, along which results lie together,
      // streams; of several, one with the most axes, and then one that comes
      // from a function before this one.
      int innermost = findInnermost(getTensorType(function.getResult()));
      auto rank = [&](Value operand) {
        Operation *inner = operand.getDefiningOp();
        SmallVector<int> held = getAxesInOrder(getTensorType(operand));
        return std::tuple(llvm::is_contained(held, innermost), held.size(),
                          inner && isDeferred(inner));
      };
      stream = {};
      for (Value operand : function.getOperands())
        if (!getConstant(operand) && (!stream || rank(operand) > rank(stream)))
          stream = operand;
      if (!stream)
        stream = function.getOperands().front();
    } else {
      reason = "an op that the vector engine does not do";
      return std::nullopt;
    }
    path.push_back({at, stream});
    Operation *inner = stream.getDefiningOp();
    if (!inner || !isDeferred(inner))
      break;
    at = inner;
  }
  VectorPass pass;
  pass.stream = stream;
  Type type = getTensorType(stream).getElementType();
  bool inEngine = false;
  // What a comparison compares, until something chooses by it.
  Value compared;
  for (size_t i = path.size(); i-- > 0;) {
    auto [current, input] = path[i];
    pass.ops.push_back(current);
    Type next = cast<MappedTensorType>(current->getResult(0).getType())
                    .getElementType();
    if (auto castOp = dyn_cast<CastOp>(current)) {
      if (isWidening(castOp)) {
        if (inEngine) {
          reason = "a cast that widens behind other functions";
          return std::nullopt;
        }
        type = next;
        inEngine = true;
        pass.streamType = type;
        continue;
      }
      if (!pass.streamType)
        pass.streamType = type;
      inEngine = true;
      bool toFloat = type.isInteger(32) && next.isF32();
      bool toInteger = type.isF32() && next.isInteger(32);
      if (toFloat || toInteger) {
        Step step;
        step.kind = toFloat ? Step::Kind::ToFloat : Step::Kind::ToInteger;
        pass.steps.push_back(step);
        type = next;
        continue;
      }
      if (current != op) {
        reason = "a cast that narrows in front of other functions";
        return std::nullopt;
      }
      pass.resultType = next;
      auto result = castOp.getType();
      if (int axis = findInnermost(result);
          wireBits(*getElementType(next)) == 4 && axis >= 0) {
        const auto &[name, size] =
            result.getMapping().getAxes().getAxes()[axis];
        if (size % 2 != 0) {
          reason = "rows of " + std::to_string(size) +
                   " elements of four bits are no whole bytes; the innermost "
                   "axis, " +
                   name + ", has to be even";
          return std::nullopt;
        }
      }
      continue;
    }
    if (!pass.streamType)
      pass.streamType = type;
    inEngine = true;
    if (auto choice = cast<ElementwiseOp>(current); isChoice(choice)) {
      bool isSelect = choice.getFn() == selectName;
      if (!compared && (pass.test || !pass.steps.empty())) {
        reason = "a comparison behind other functions";
        return std::nullopt;
      }
      if (!compared) {
        pass.test = findTest(isSelect ? StringRef(selectTest) : choice.getFn());
        pass.boundary =
            isSelect ? getNumber(type, 0) : getConstant(choice.getOperand(1));
        if (!pass.boundary) {
          reason = "a comparison with what is no number";
          return std::nullopt;
        }
      }
      if (isSelect) {
        if (!addChoice(pass, choice.getOperand(1), choice.getOperand(2),
                       compared ? compared : input, type, next, isDeferred,
                       reason))
          return std::nullopt;
        compared = {};
        type = next;
        continue;
      }
      if (compared) {
        reason = "a comparison behind other functions";
        return std::nullopt;
      }
      // A select by it needs no numbers of it.
      auto user =
          i == 0 ? ElementwiseOp() : dyn_cast<ElementwiseOp>(path[i - 1].first);
      if (user && user.getFn() == selectName &&
          !llvm::is_contained(user.getOperands().drop_front(),
                              choice.getResult())) {
        compared = input;
        continue;
      }
      Step step = makeReplacement("or", type, "");
      step.immediate = getUnit(type, false);
      step.numberOfOthers = getUnit(type, true);
      step.guardOfOthers = getGuard(*pass.test, true);
      pass.steps.push_back(step);
      continue;
    }
    auto step =
        makeStep(cast<ElementwiseOp>(current), input, pass, isDeferred, reason);
    if (!step)
      return std::nullopt;
    pass.steps.push_back(*step);
  }
  pass.lastType = type;
  if (!pass.resultType)
    pass.resultType = type;
  if (!assignRows(pass.steps, 0, 0, 0)) {
    reason = "functions that no one pass of the vector engine does";
    return std::nullopt;
  }
  return pass;
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

void tmap::emitSteps(Emitter &emitter, const VectorPass &pass,
                     const FlitShape &flit, ValueRange sides,
                     function_ref<void()> first) {
  OpBuilder &b = emitter.builder;
  Location loc = emitter.loc;
  MLIRContext *context = b.getContext();
  visa::VectorInitOp::create(b, loc);
  first();
  SmallVector<Attribute> comparisons;
  if (pass.test)
    for (vector::Comparison comparison : pass.test->comparisons)
      comparisons.push_back(visa::CompareAttr::get(
          context, static_cast<visa::Comparison>(comparison), pass.boundary));
  visa::VectorTagOp::create(
      b, loc, pass.test ? visa::TagMode::Compare : visa::TagMode::Zero,
      b.getArrayAttr(comparisons));
  bool narrow = false;
  auto setNarrow = [&](bool wanted) {
    if (narrow == wanted)
      return;
    narrow = wanted;
    if (flit.half && narrow)
      visa::VectorNarrowOp::create(b, loc, visa::NarrowKind::Trim, StringAttr(),
                                   b.getStringAttr(flit.packet4));
    else if (flit.half)
      visa::VectorWidenOp::create(b, loc, visa::WidenKind::Pad, StringAttr(),
                                  b.getStringAttr(flit.packet8));
    else if (narrow)
      visa::VectorNarrowOp::create(b, loc, visa::NarrowKind::Split,
                                   b.getStringAttr(flit.time4()),
                                   b.getStringAttr(flit.packet4));
    else
      visa::VectorWidenOp::create(b, loc, visa::WidenKind::Concat,
                                  b.getStringAttr(flit.time8()),
                                  b.getStringAttr(flit.packet8));
  };
  for (const Step &step : pass.steps) {
    setNarrow(isNarrowRow(step.row));
    if (step.kind == Step::Kind::ToFloat) {
      visa::VectorFxpToFpOp::create(b, loc, 31);
      continue;
    }
    if (step.kind == Step::Kind::ToInteger) {
      visa::VectorFpToFxpOp::create(b, loc, 31);
      continue;
    }
    if (step.kind == Step::Kind::Reinterpret) {
      visa::VectorReinterpretOp::create(b, loc, step.type);
      continue;
    }
    SmallVector<Attribute, 2> slots;
    SmallVector<Value, 1> tensors;
    if (step.numberOfOthers)
      slots.push_back(visa::SlotAttr::get(context, visa::SlotKind::Imm,
                                          step.numberOfOthers, TypedAttr(),
                                          step.guardOfOthers));
    if (step.arity > 1)
      slots.push_back(visa::SlotAttr::get(
          context, step.side < 0 ? visa::SlotKind::Imm : visa::SlotKind::Vrf,
          step.side < 0 ? step.immediate : TypedAttr(), step.with, step.guard));
    if (step.side >= 0)
      tensors.push_back(sides[step.side]);
    StringAttr mode =
        step.mode.empty() ? StringAttr() : b.getStringAttr(step.mode);
    auto fn = visa::VectorFnAttr::get(context,
                                      *visa::symbolizeVectorFn(step.row->name));
    ArrayAttr list = b.getArrayAttr(slots);
    switch (vector::clusterOf(step.row->alu)) {
    case vector::Cluster::Logic:
      visa::VectorLogicOp::create(b, loc, fn, UnitAttr(), list, mode,
                                  StringAttr(), tensors);
      break;
    case vector::Cluster::Fxp:
      visa::VectorFxpOp::create(b, loc, fn, UnitAttr(), list, mode,
                                StringAttr(), tensors);
      break;
    case vector::Cluster::Fp:
      visa::VectorFpOp::create(b, loc, fn, UnitAttr(), list, mode, StringAttr(),
                               tensors);
      break;
    case vector::Cluster::FpDiv:
      visa::VectorFpDivOp::create(b, loc, UnitAttr(), list, mode, tensors);
      break;
    case vector::Cluster::Clip:
      visa::VectorClipOp::create(b, loc, fn, UnitAttr(), list, mode,
                                 StringAttr(), tensors);
      break;
    }
  }
  setNarrow(false);
  visa::VectorFinalOp::create(b, loc);
}
