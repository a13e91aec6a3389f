//===- TMapToVISA.cpp - From what to compute to how the chip does it ------===//
//
// Kernels of tensor functions become kernels of transfers and chains, op by op:
// each reads its operands from HBM and leaves its result there, in the way that
// the search finds best.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "furiosa/Conversion/Passes.h"
#include "furiosa/Dialect/LIR/IR/LIR.h"
#include "furiosa/Dialect/Resource/IR/Resource.h"
#include "furiosa/Dialect/Utils/ElementTypes.h"
#include "furiosa/Dialect/VISA/Transfer/Transfer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace furiosa {
#define GEN_PASS_DEF_CONVERTTMAPTOVISA
#include "furiosa/Conversion/Passes.h.inc"
} // namespace furiosa

using namespace mlir;
using namespace furiosa;
using namespace furiosa::tmap;

namespace {

/// The conversion of one kernel.
class KernelConversion {
public:
  KernelConversion(func::FuncOp kernel, const SearchOptions &options)
      : kernel(kernel), options(options) {}

  LogicalResult run();

private:
  /// Only tensor functions, over one declaration of axes.
  LogicalResult check();
  /// Windows of windows as those of the first source.
  void joinWindows();
  /// An op for each folded axis, the last one first.
  void splitReductions();
  /// Comparisons of two tensors as those of their difference with 0.
  void splitComparisons();
  /// Row numbers as byte offsets, where gathers need those.
  LogicalResult scaleIndices();
  /// Sizes of the axes in visa.
  KernelAxes growAxes();
  /// What becomes of results that other ops read.
  struct Strategy {
    /// Data memory keeps what it holds; else each op goes through HBM.
    bool keepsResidents = true;
    /// They pay for their store, as if the ops that read them did not find
    /// them in data memory.
    bool countsStores = true;
  };
  /// The one that gives the shortest schedule, and what it writes; with tensors
  /// that stay there is less room for what comes between.
  std::pair<Strategy, std::unique_ptr<Block>>
  chooseStrategy(Block &old, visa::TargetAttr target);
  LogicalResult convertBody(Block &old, Strategy chosen);
  /// Cycles of what has been written; nothing where it does not fit the chip.
  std::optional<int64_t> getConvertedCycles();
  LogicalResult convert(Operation *op);
  /// Chooses a candidate and writes it.
  LogicalResult place(Operation *op, ValueRange operands, Value result,
                      FailureOr<std::vector<Candidate>> candidates);
  LogicalResult convertContraction(ContractOp op);
  /// With operands in `windows` read out of their source.
  LogicalResult convertContraction(ContractOp op,
                                   std::array<WindowOp, 2> windows);
  LogicalResult convertReduction(ReduceOp op);
  bool isFreeWidening(Operation *op) const;
  std::optional<VectorPass> buildTail(ContractOp op);
  /// The cast that alone reads the results of `op` and can ride along.
  CastOp takeNarrowing(Operation *op);
  /// Casts and element-wise functions; what the user's pass does waits for it.
  LogicalResult convertPass(Operation *op);
  LogicalResult convertMove(MoveOp op);
  LogicalResult convertReshape(ReshapeOp op);
  LogicalResult convertWindow(WindowOp op);
  /// Gives a tensor in HBM, whose cells have another index for what has read
  /// windows of it, its own again.
  void renameBack(Value tensor);
  /// Writes windows into HBM.
  LogicalResult copyWindows(WindowOp op);
  LogicalResult convertReturn(func::ReturnOp op);
  Value lookUp(Value tensor) const { return values.lookup(tensor); }

  func::FuncOp kernel;
  SearchOptions options;
  AxesAttr declared;
  KernelAxes axes;
  OpBuilder builder{kernel.getContext()};
  std::optional<Search> search;
  /// For each axis of a window op, the number of its row axis or -1.
  DenseMap<Operation *, SmallVector<int>> rowAxes;
  DenseMap<Value, Value> values;
  Residents residents;
  Strategy strategy;
  /// Whether this is the last time that the kernel is converted.
  bool isExplaining = false;
  /// Ops that another one's chain does as well.
  DenseSet<Operation *> fused;
  /// Casts and functions that the pass of their one user does.
  DenseSet<Operation *> deferred;
};

struct ConvertTMapToVISA
    : public furiosa::impl::ConvertTMapToVISABase<ConvertTMapToVISA> {
  using ConvertTMapToVISABase::ConvertTMapToVISABase;

  void runOnOperation() override {
    SmallVector<func::FuncOp> kernels;
    getOperation()->walk([&](func::FuncOp function) {
      if (function->hasAttr(visa::VISADialect::getKernelAttrName()) &&
          usesTensors(function))
        kernels.push_back(function);
    });
    SearchOptions options{budget, explain};
    for (func::FuncOp kernel : kernels)
      if (failed(KernelConversion(kernel, options).run()))
        return signalPassFailure();
  }

  /// Whether a function is one of tensors.
  static bool usesTensors(func::FuncOp function) {
    auto isTensor = [](Type type) { return isa<MappedTensorType>(type); };
    return llvm::any_of(function.getArgumentTypes(), isTensor) ||
           llvm::any_of(function.getResultTypes(), isTensor) ||
           function
               .walk([](Operation *op) {
                 return isa_and_nonnull<TMapDialect>(op->getDialect())
                            ? WalkResult::interrupt()
                            : WalkResult::advance();
               })
               .wasInterrupted();
  }
};

} // namespace

LogicalResult KernelConversion::check() {
  if (!llvm::hasSingleElement(kernel.getBody()))
    return kernel.emitOpError()
           << "not yet supported: a kernel of tensors with several blocks";
  auto look = [&](Operation *at, Type type) -> LogicalResult {
    auto tensor = dyn_cast<MappedTensorType>(type);
    if (!tensor)
      return at->emitOpError()
             << "not yet supported: " << type << " in a kernel of tensors";
    AxesAttr found = tensor.getMapping().getAxes();
    if (declared && declared != found)
      return at->emitOpError()
             << "TM-2: tensors over " << declared << " and over " << found
             << "; declare all axes of a kernel once";
    declared = found;
    return success();
  };
  for (Type type : kernel.getArgumentTypes())
    if (failed(look(kernel, type)))
      return failure();
  for (Operation &op : kernel.getBody().front()) {
    if (!isa_and_nonnull<TMapDialect>(op.getDialect()) &&
        !isa<func::ReturnOp>(op))
      return op.emitOpError()
             << "not yet supported: this op in a kernel of tensors";
    for (Type type : op.getResultTypes())
      if (failed(look(&op, type)))
        return failure();
  }
  if (!declared)
    return kernel.emitOpError()
           << "not yet supported: a kernel without tensors";
  return success();
}

KernelAxes KernelConversion::growAxes() {
  SmallVector<int64_t> sizes;
  for (const mapping::Axis &axis : declared.getAxes().list())
    sizes.push_back(axis.size);
  kernel->walk([&](ContractOp op) { growSums(op, sizes); });
  kernel->walk([&](ReduceOp op) { growSums(op, sizes); });
  // Operands that lack axes hold a number per flit.
  bool copies = false;
  kernel->walk([&](Operation *op) {
    if (!isa<ElementwiseOp, CastOp>(op))
      return;
    size_t most =
        getAxesInOrder(cast<MappedTensorType>(op->getResultTypes().front()))
            .size();
    copies |= most == 0;
    for (Type type : op->getOperandTypes())
      copies |= getAxesInOrder(cast<MappedTensorType>(type)).size() < most;
  });
  SmallVector<int64_t> rows;
  size_t windows = 0;
  kernel->walk([&](WindowOp op) {
    windows = std::max(windows, op.getWindows().size());
    for (const WindowAxis &window : op.getWindows()) {
      int64_t size = getRowAxisSize(window, declared,
                                    sizes[window.over] !=
                                        declared.getAxes()[window.over].size);
      rowAxes[op].push_back(size == 0 ? -1 : int(rows.size()));
      if (size != 0)
        rows.push_back(size);
    }
  });
  return KernelAxes(declared, sizes, copies, rows, windows);
}

void KernelConversion::joinWindows() {
  PatternRewriter rewriter(kernel.getContext());
  SmallVector<WindowOp> ops;
  kernel.walk([&](WindowOp op) { ops.push_back(op); });
  for (WindowOp op : ops) {
    auto inner = op.getSource().getDefiningOp<WindowOp>();
    rewriter.setInsertionPoint(op);
    if (succeeded(WindowOp::canonicalize(op, rewriter)) && inner.use_empty())
      rewriter.eraseOp(inner);
  }
}

void KernelConversion::splitReductions() {
  IRRewriter rewriter(kernel.getContext());
  SmallVector<ReduceOp> ops;
  kernel.walk([&](ReduceOp op) { ops.push_back(op); });
  for (ReduceOp op : ops) {
    rewriter.setInsertionPoint(op);
    Value value = op.getSource();
    ArrayRef<Attribute> over = op.getOver().getValue();
    const vector::Reduction *row =
        findReduction(op.getFn(), op.getType().getElementType());
    for (size_t i = over.size(); i-- > 0;) {
      auto name = cast<StringAttr>(over[i]);
      auto next = ReduceOp::create(rewriter, op.getLoc(), op.getFn(), value,
                                   name.getValue());
      // The result's order is the op's.
      if (i == 0)
        next.getResult().setType(op.getType());
      value = next;
      if (declared.getAxes()[declared.getAxes().find(name.getValue())].size > 1)
        continue;
      // One cell is folded with what changes nothing.
      Type type = op.getType().getElementType();
      Value nothing = ConstantOp::create(rewriter, op.getLoc(),
                                         getPlainType(type, declared, {}),
                                         getNumber(type, row->identity));
      Value folded = ElementwiseOp::create(
          rewriter, op.getLoc(), next.getType(), op.getFn(),
          ValueRange{next.getSource(), nothing});
      rewriter.replaceOp(next, folded);
      value = folded;
    }
    if (op->hasAttr(getPlacementAttrName()) && value.getDefiningOp())
      value.getDefiningOp()->setAttr(getPlacementAttrName(),
                                     op->getAttr(getPlacementAttrName()));
    rewriter.replaceOp(op, value);
  }
}

// Execution ids come of comparisons with numbers.
void KernelConversion::splitComparisons() {
  SmallVector<ElementwiseOp> ops;
  kernel.walk([&](ElementwiseOp op) {
    if (findTest(op.getFn()))
      ops.push_back(op);
  });
  for (ElementwiseOp op : ops) {
    auto getConstant = [&](unsigned i) {
      auto constant = op.getOperand(i).getDefiningOp<ConstantOp>();
      return constant ? constant.getValue() : TypedAttr();
    };
    if (getConstant(0) && !getConstant(1)) {
      Value first = op.getOperand(0), second = op.getOperand(1);
      op->setOperands({second, first});
      op.setFn(mirrorTest(op.getFn()));
    }
    if (TypedAttr number = getConstant(1)) {
      auto real = dyn_cast<FloatAttr>(number);
      // An infinity less itself is no number.
      if (!real || real.getValue().isFinite())
        continue;
    }
    OpBuilder before(op);
    Type type = op.getType().getElementType();
    Value zero = ConstantOp::create(before, op.getLoc(),
                                    getPlainType(type, declared, {}),
                                    getNumber(type, 0));
    Value difference = ElementwiseOp::create(
        before, op.getLoc(), op.getType(),
        isa<FloatType>(type) ? "sub" : "sub_sat", op.getOperands());
    op->setOperands({difference, zero});
  }
}

LogicalResult KernelConversion::scaleIndices() {
  SmallVector<GatherOp> ops;
  kernel.walk([&](GatherOp op) {
    if (needsByteOffsets(op))
      ops.push_back(op);
  });
  for (GatherOp op : ops) {
    auto rowBytes = getRowBytes(op);
    if (!rowBytes)
      return op.emitOpError()
             << "not yet supported: a gather by a long or odd index from a "
                "table whose rows do not follow each other";
    OpBuilder before(op);
    Type type = op.getIndex().getType().getElementType();
    Value bytes = ConstantOp::create(before, op.getLoc(),
                                     getPlainType(type, declared, {}),
                                     before.getI32IntegerAttr(*rowBytes));
    Value scaled =
        ElementwiseOp::create(before, op.getLoc(), op.getIndex().getType(),
                              "mul_int", ValueRange{op.getIndex(), bytes});
    op.getIndexMutable().assign(scaled);
  }
  return success();
}

LogicalResult KernelConversion::run() {
  if (failed(check()) || failed(scaleIndices()))
    return failure();
  joinWindows();
  splitReductions();
  splitComparisons();
  axes = growAxes();
  visa::TargetAttr target = visa::getTarget(kernel);
  if (target.getChips() != 1)
    return kernel.emitOpError()
           << "not yet supported: tensors on " << target.getChips() << " chips";

  Block &old = kernel.getBody().front();
  Strategy best;
  std::unique_ptr<Block> written;
  if (llvm::count_if(old, [](Operation &op) {
        return isa<ContractOp, ElementwiseOp, CastOp, ReduceOp>(op);
      }) > 1)
    std::tie(best, written) = chooseStrategy(old, target);
  if (written && !options.explain) {
    kernel.getBody().push_back(written.release());
  } else {
    // What the choices say of themselves is said once.
    search.emplace(axes, target, options);
    isExplaining = true;
    if (failed(convertBody(old, best)))
      return failure();
  }
  Emitter emitter(builder, kernel.getLoc(), axes);
  SmallVector<Type> results;
  for (Type type : kernel.getResultTypes())
    results.push_back(emitter.hbmType(cast<MappedTensorType>(type)));
  old.erase();
  kernel->setAttr(visa::alternateNetworksAttrName, builder.getUnitAttr());
  kernel.setFunctionType(builder.getFunctionType(
      kernel.getBody().front().getArgumentTypes(), results));
  return success();
}

std::pair<KernelConversion::Strategy, std::unique_ptr<Block>>
KernelConversion::chooseStrategy(Block &old, visa::TargetAttr target) {
  SearchOptions quiet = options;
  quiet.explain = false;
  search.emplace(axes, target, quiet);
  Silence silence(kernel.getContext());
  Strategy best{false, true};
  std::unique_ptr<Block> written;
  int64_t bestCycles = std::numeric_limits<int64_t>::max();
  for (Strategy strategy :
       {Strategy{true, true}, Strategy{true, false}, Strategy{false, true}}) {
    // Ops that go through HBM have no choices more, but need less room.
    if (!strategy.keepsResidents &&
        bestCycles != std::numeric_limits<int64_t>::max())
      break;
    if (failed(convertBody(old, strategy)))
      continue;
    auto cycles = getConvertedCycles();
    Block *fresh = &kernel.getBody().back();
    kernel.getBody().getBlocks().remove(fresh);
    std::unique_ptr<Block> owned(fresh);
    if (cycles && *cycles < bestCycles) {
      best = strategy;
      bestCycles = *cycles;
      written = std::move(owned);
    }
  }
  return {best, std::move(written)};
}

std::optional<int64_t> KernelConversion::getConvertedCycles() {
  Block &fresh = kernel.getBody().back();
  OpBuilder moduleBuilder(kernel.getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernel.getLoc());
  moduleBuilder.setInsertionPointToStart(module->getBody());
  auto copy = func::FuncOp::create(
      moduleBuilder, kernel.getLoc(), kernel.getName(),
      builder.getFunctionType(fresh.getArgumentTypes(),
                              fresh.getTerminator()->getOperandTypes()));
  IRMapping map;
  Block *body = copy.addEntryBlock();
  map.map(fresh.getArguments(), body->getArguments());
  moduleBuilder.setInsertionPointToStart(body);
  for (Operation &op : fresh)
    moduleBuilder.clone(op, map);
  for (StringRef name : {visa::VISADialect::getKernelAttrName(),
                         StringRef(visa::alternateNetworksAttrName)})
    copy->setAttr(name, builder.getUnitAttr());
  return search->getMakespan(*module);
}

/// Writes what `old` does behind it.
LogicalResult KernelConversion::convertBody(Block &old, Strategy chosen) {
  strategy = chosen;
  residents.clear();
  values.clear();
  fused.clear();
  deferred.clear();
  Block *fresh = new Block();
  kernel.getBody().push_back(fresh);
  builder.setInsertionPointToEnd(fresh);
  Emitter emitter(builder, kernel.getLoc(), axes);
  for (BlockArgument argument : old.getArguments())
    values[argument] = fresh->addArgument(
        emitter.hbmType(cast<MappedTensorType>(argument.getType())),
        argument.getLoc());
  for (Operation &op : old)
    if (failed(convert(&op))) {
      fresh->erase();
      return failure();
    }
  eraseUnread(*fresh);
  return success();
}

LogicalResult KernelConversion::convert(Operation *op) {
  if (fused.contains(op))
    return success();
  if (auto contract = dyn_cast<ContractOp>(op))
    return convertContraction(contract);
  if (isa<CastOp, ElementwiseOp>(op))
    return convertPass(op);
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return convertReduction(reduce);
  if (auto gather = dyn_cast<GatherOp>(op))
    return place(op, op->getOperands(), gather.getResult(),
                 enumerateGather(gather, *search));
  if (auto move = dyn_cast<MoveOp>(op))
    return convertMove(move);
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return convertReshape(reshape);
  if (auto window = dyn_cast<WindowOp>(op))
    return convertWindow(window);
  if (auto ret = dyn_cast<func::ReturnOp>(op))
    return convertReturn(ret);
  // A constant is part of the ops that use it.
  return success();
}

LogicalResult
KernelConversion::place(Operation *op, ValueRange operands, Value result,
                        FailureOr<std::vector<Candidate>> candidates) {
  if (failed(candidates))
    return failure();
  SmallVector<Value> sources;
  for (Value operand : operands)
    sources.push_back(lookUp(operand));
  Emitter emitter(builder, op->getLoc(), axes,
                  strategy.keepsResidents ? &residents : nullptr);
  auto type = cast<MappedTensorType>(result.getType());
  bool stays = llvm::all_of(result.getUsers(), [](Operation *user) {
    return isa<ContractOp, ElementwiseOp, CastOp, ReduceOp>(user);
  });
  Task task{sources, residents, emitter.hbmType(type),
            strategy.countsStores || !stays};
  auto best = search->choose(op, task, *candidates);
  if (failed(best))
    return failure();
  Value placed = (*best)->emit(emitter, sources);
  PlacementAttr chosen = (*best)->placement();
  if (Operation *last = placed.getDefiningOp(); last && chosen.getSlice())
    last->setAttr(getPlacementAttrName(), chosen);
  values[result] = placed;
  return success();
}

CastOp KernelConversion::takeNarrowing(Operation *op) {
  if (!op->hasOneUse())
    return {};
  auto user = dyn_cast<CastOp>(*op->user_begin());
  if (!user || !canNarrow(op, user))
    return {};
  fused.insert(user);
  return user;
}

/// Whether a cast that has not been looked at yet is one that the fetch of its
/// one user can do.
bool KernelConversion::isFreeWidening(Operation *op) const {
  auto cast = dyn_cast_or_null<CastOp>(op);
  return cast && isWidening(cast) && cast->hasOneUse() &&
         !cast->hasAttr(getPlacementAttrName()) && !deferred.contains(op) &&
         !lookUp(cast.getResult()) && lookUp(cast.getSource());
}

/// Element-wise functions and casts that alone read each other and `op`, as far
/// as its chain can do them.
std::optional<VectorPass> KernelConversion::buildTail(ContractOp op) {
  SmallVector<Operation *> path;
  std::optional<VectorPass> tail;
  Operation *at = op;
  while (at->hasOneUse()) {
    Operation *user = *at->user_begin();
    if (!isa<CastOp, ElementwiseOp>(user) ||
        user->hasAttr(getPlacementAttrName()))
      break;
    std::string reason;
    auto pass = buildPass(
        user,
        [&](Operation *other) {
          return deferred.contains(other) || llvm::is_contained(path, other) ||
                 isFreeWidening(other);
        },
        reason);
    if (!pass || pass->stream != op.getResult() ||
        !llvm::all_of(path, [&](Operation *before) {
          return llvm::is_contained(pass->ops, before);
        }))
      break;
    path.push_back(user);
    at = user;
    // Eight lanes of four bits are no word of memory; what comes from other ops
    // has to be there already.
    if (wireBits(*getElementType(pass->resultType)) >= 8 &&
        llvm::all_of(pass->sides, [&](const SideOperand &side) {
          return bool(lookUp(side.tensor));
        }))
      tail = std::move(pass);
  }
  return tail;
}

namespace {
/// Makes the errors of this thread the reason for another way.
class ErrorReason {
public:
  ErrorReason(MLIRContext *context, std::string &reason)
      : handler(context,
                [&reason, thread = llvm::get_threadid()](Diagnostic &diag) {
                  if (diag.getSeverity() != DiagnosticSeverity::Error ||
                      llvm::get_threadid() != thread)
                    return failure();
                  reason = diag.str();
                  for (Diagnostic &note : diag.getNotes())
                    reason += "; " + note.str();
                  return success();
                }) {}

private:
  ScopedDiagnosticHandler handler;
};
} // namespace

LogicalResult KernelConversion::convertContraction(ContractOp op) {
  std::array<WindowOp, 2> windows;
  for (auto [operand, window] : llvm::zip_equal(op.getOperands(), windows))
    if (!lookUp(operand))
      window = operand.getDefiningOp<WindowOp>();
  if (!windows[0] && !windows[1])
    return convertContraction(op, windows);
  std::string reason = "no placement holds what they are read from";
  {
    ErrorReason errors(op.getContext(), reason);
    if (succeeded(convertContraction(op, windows))) {
      for (WindowOp window : windows)
        if (window)
          renameBack(window.getSource());
      return success();
    }
  }
  if (options.explain && isExplaining)
    op.emitRemark() << "windows are copied in HBM: " << reason;
  for (WindowOp window : windows)
    if (window && failed(copyWindows(window)))
      return failure();
  return convertContraction(op, {});
}

void KernelConversion::renameBack(Value tensor) {
  Value source = lookUp(tensor);
  for (Operation *user : source.getUsers())
    if (auto renamed = dyn_cast<visa::ReshapeOp>(user);
        renamed && !tensor.hasOneUse()) {
      Value own = visa::ReshapeOp::create(builder, renamed.getLoc(),
                                          source.getType(), renamed);
      residents.rename(source, own);
      values[tensor] = own;
      return;
    }
}

LogicalResult
KernelConversion::convertContraction(ContractOp op,
                                     std::array<WindowOp, 2> windows) {
  SmallVector<Value> sources(op.getOperands());
  for (auto [source, window] : llvm::zip_equal(sources, windows))
    if (window) {
      source = window.getSource();
      if (!lookUp(source))
        return failure();
    }
  // The longest tail that some placement has room for.
  if (std::optional<VectorPass> tail = buildTail(op)) {
    SmallVector<Value> operands(sources);
    for (const SideOperand &side : tail->sides)
      operands.push_back(side.tensor);
    Value result = tail->ops.back()->getResult(0);
    std::string reason = "no register file holds the operands";
    {
      ErrorReason errors(op.getContext(), reason);
      auto candidates = enumerateContraction(op, tail, windows, *search);
      if (succeeded(candidates) && !candidates->empty() &&
          succeeded(place(op, operands, result, std::move(candidates)))) {
        fused.insert_range(tail->ops);
        for (Operation *part : tail->ops)
          for (Value operand : part->getOperands())
            if (isFreeWidening(operand.getDefiningOp()))
              fused.insert(operand.getDefiningOp());
        return success();
      }
    }
    if (options.explain && isExplaining)
      op.emitRemark() << "functions behind it are a chain of their own: "
                      << reason;
  }
  CastOp narrow = takeNarrowing(op);
  std::string reason;
  std::optional<VectorPass> pass;
  if (narrow)
    pass = buildPass(
        narrow, [](Operation *) { return false; }, reason);
  return place(op, sources, narrow ? narrow.getResult() : op.getResult(),
               enumerateContraction(op, std::move(pass), windows, *search));
}

LogicalResult KernelConversion::convertReduction(ReduceOp op) {
  auto widen = op.getSource().getDefiningOp<CastOp>();
  if (widen && !deferred.contains(widen))
    widen = {};
  CastOp narrow = takeNarrowing(op);
  return place(op, widen ? widen.getSource() : op.getSource(),
               narrow ? narrow.getResult() : op.getResult(),
               enumerateReduction(op, widen, narrow, *search));
}

/// The tensors that a pass reads: the stream, then the others.
static SmallVector<Value> concatValues(const VectorPass &pass) {
  SmallVector<Value> values = {pass.stream};
  for (const SideOperand &side : pass.sides)
    values.push_back(side.tensor);
  return values;
}

LogicalResult KernelConversion::convertPass(Operation *op) {
  auto isDeferred = [&](Operation *other) { return deferred.contains(other); };
  std::string reason;
  // Wait for the op that reads the result, if one pass can do both.
  if (!op->use_empty() && llvm::all_equal(op->getUsers()) &&
      !op->hasAttr(getPlacementAttrName())) {
    Operation *user = *op->user_begin();
    // The fetch of a fold widens.
    if (auto cast = dyn_cast<CastOp>(op); cast && isa<ReduceOp>(user) &&
                                          isWidening(cast) &&
                                          lookUp(cast.getSource())) {
      deferred.insert(op);
      return success();
    }
    if (isa<CastOp, ElementwiseOp>(user)) {
      deferred.insert(op);
      auto pass = buildPass(user, isDeferred, reason);
      bool isPart = false;
      if (pass) {
        isPart = llvm::is_contained(pass->ops, op);
        if (auto castOp = dyn_cast<CastOp>(op))
          for (const SideOperand &side : pass->sides)
            isPart |= side.tensor == castOp.getSource() &&
                      side.type == castOp.getType().getElementType();
      }
      if (isPart)
        return success();
      deferred.erase(op);
    }
  }
  auto pass = buildPass(op, isDeferred, reason);
  if (!pass)
    return op->emitOpError() << "not yet supported: " << reason;
  for (Value value : concatValues(*pass))
    if (!lookUp(value))
      return op->emitOpError()
             << "not yet supported: a function of constants alone; fold it "
                "with --canonicalize";
  return place(op, concatValues(*pass), op->getResult(0),
               enumeratePass(*pass, *search));
}

LogicalResult KernelConversion::convertMove(MoveOp op) {
  if (!lookUp(op.getSource()))
    return op.emitOpError() << "not yet supported: a constant that is moved";
  return place(op, op.getSource(), op.getResult(), enumerateMove(op, *search));
}

/// A view that names the cells anew: its source may not be read any more, so it
/// is copied where another op reads it.
LogicalResult KernelConversion::convertReshape(ReshapeOp op) {
  Value source = lookUp(op.getSource());
  if (!source)
    return op.emitOpError() << "not yet supported: a constant that is reshaped";
  Emitter emitter(builder, op.getLoc(), axes);
  if (isa<BlockArgument>(source) || !op.getSource().hasOneUse())
    source = emitter.copy(source, source.getType());
  values[op.getResult()] = visa::ReshapeOp::create(
      builder, op.getLoc(), emitter.hbmType(op.getType()), source);
  return success();
}

/// Contractions read windows out of data memory where they can.
LogicalResult KernelConversion::convertWindow(WindowOp op) {
  if (!op->use_empty() && llvm::all_of(op->getUsers(), [](Operation *user) {
        return isa<ContractOp>(user);
      }))
    return success();
  return copyWindows(op);
}

LogicalResult KernelConversion::copyWindows(WindowOp op) {
  Value source = lookUp(op.getSource());
  if (!source)
    return op.emitOpError() << "not yet supported: windows of a constant";
  Emitter emitter(builder, op.getLoc(), axes);
  auto windows = emitWindows(
      emitter, op, source,
      !isa<BlockArgument>(source) && op.getSource().hasOneUse(), rowAxes[op]);
  if (failed(windows))
    return failure();
  values[op.getResult()] = *windows;
  return success();
}

/// A result is a buffer of its own.
LogicalResult KernelConversion::convertReturn(func::ReturnOp op) {
  Emitter emitter(builder, op.getLoc(), axes);
  SmallVector<Value> results;
  for (Value operand : op.getOperands()) {
    Value value = lookUp(operand);
    if (!value)
      return op.emitOpError() << "not yet supported: a constant as a result";
    if (isa<BlockArgument>(value) || value.getDefiningOp<visa::ReshapeOp>() ||
        llvm::is_contained(results, value))
      value = emitter.copy(value, value.getType());
    results.push_back(value);
  }
  func::ReturnOp::create(builder, op.getLoc(), results);
  return success();
}
