//===- VISAToLIR.cpp - The pass convert-visa-to-lir -----------------------===//
//
// First a plan is made of every kernel, which reports what cannot be lowered;
// then patterns carry it out and have nothing left to refuse.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Conversion/VISAToLIR/VISAToLIR.h"
#include "furiosa/Conversion/Passes.h"
#include "furiosa/Dialect/LIR/IR/LIR.h"
#include "furiosa/Dialect/Resource/IR/Resource.h"
#include "furiosa/Dialect/VISA/IR/TransferPlan.h"
#include "furiosa/Dialect/VISA/Loops/Loops.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Transforms/DialectConversion.h"

#include "llvm/Support/CheckedArithmetic.h"

#include <set>

namespace furiosa {
#define GEN_PASS_DEF_CONVERTVISATOLIR
#include "furiosa/Conversion/Passes.h.inc"
} // namespace furiosa

using namespace mlir;
using namespace furiosa;
using namespace furiosa::visa;
using mapping::Mapping;
namespace machine = furiosa::rngd::machine;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static bool isTensor(Type type) {
  return isa<HbmType, DmType, TrfType, VrfType>(type);
}

static unsigned getBits(Type elementType) {
  return wireBits(visa::getElementType(elementType).value_or(ElementType::I8));
}

/// The buffer that holds a tensor; null and an error where there is none.
static lir::MemType
convertTensor(Type type, function_ref<InFlightDiagnostic()> emitError) {
  TensorParts parts = getTensorParts(type);
  lir::Tier tier = isa<HbmType>(type)   ? lir::Tier::Hbm
                   : isa<DmType>(type)  ? lir::Tier::Dm
                   : isa<TrfType>(type) ? lir::Tier::Trf
                                        : lir::Tier::Vrf;
  int64_t lanes = parts.lane ? parts.lane.getMapping().size() : 1;
  auto elements =
      llvm::checkedMul<int64_t>(parts.element.getMapping().size(), lanes);
  auto bytes = elements ? loops::getBytes(*elements, getBits(parts.elementType))
                        : std::nullopt;
  if (!bytes) {
    emitError() << "MM-47: element \"" << parts.element.getText()
                << "\" is not a whole number of bytes of " << parts.elementType;
    return {};
  }
  return lir::MemType::getChecked(emitError, type.getContext(), tier, *bytes,
                                  lanes);
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

namespace {
/// What becomes of the ops of all kernels.
struct Plan {
  DenseMap<Operation *, TransferPlan> transfers;
  DenseMap<Operation *, std::vector<StageRecord>> chains;
};

/// Makes the plan of one kernel.
class Planner {
public:
  Planner(func::FuncOp kernel, Plan &plan) : kernel(kernel), plan(plan) {}

  /// Reports all that cannot be lowered.
  LogicalResult run();
  /// Marks the kernel with what the levels below ask for.
  void annotate();

private:
  LogicalResult planOp(Operation *op);
  LogicalResult planMove(Operation *op, Value source, Value target,
                         Type targetType);
  LogicalResult planChain(ChainOp chain);
  LogicalResult checkType(Operation *op, Type type);

  func::FuncOp kernel;
  Plan &plan;
};
} // namespace

LogicalResult Planner::checkType(Operation *op, Type type) {
  if (!isTensor(type))
    return success();
  return success(bool(convertTensor(type, [&] { return op->emitError(); })));
}

LogicalResult Planner::planMove(Operation *op, Value source, Value target,
                                Type targetType) {
  FaultReporter reporter(op);
  auto transfer = planTransfer(source, target, targetType, reporter);
  if (failed(transfer))
    return failure();
  plan.transfers[op] = std::move(*transfer);
  return success();
}

LogicalResult Planner::planChain(ChainOp chain) {
  auto records = analyzeChain(chain);
  if (failed(records))
    return failure();
  bool ok = true;
  for (const StageRecord &record : *records)
    if (!isa<LowerStageInterface>(record.op)) {
      FaultReporter(record.op).notYetSupported()
          << "a stage without a lowering";
      ok = false;
    }
  plan.chains[chain] = std::move(*records);
  return success(ok);
}

LogicalResult Planner::planOp(Operation *op) {
  for (Type type : op->getResultTypes())
    if (failed(checkType(op, type)))
      return failure();
  if (auto toDm = dyn_cast<ToDmOp>(op))
    return planMove(op, toDm.getSource(), {}, toDm.getResult().getType());
  if (auto toHbm = dyn_cast<ToHbmOp>(op))
    return planMove(op, toHbm.getSource(), {}, toHbm.getResult().getType());
  if (auto copy = dyn_cast<CopyOp>(op))
    return planMove(op, copy.getSource(), copy.getTarget(),
                    copy.getTarget().getType());
  if (auto chain = dyn_cast<ChainOp>(op))
    return planChain(chain);
  if (isa<visa::AllocOp, TileOp, ReshapeOp, func::ReturnOp>(op))
    return success();
  bool hasTensors = isa_and_nonnull<VISADialect>(op->getDialect()) ||
                    llvm::any_of(op->getOperandTypes(), isTensor) ||
                    llvm::any_of(op->getResultTypes(), isTensor);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      hasTensors |= llvm::any_of(block.getArgumentTypes(), isTensor);
  if (!hasTensors)
    return success();
  FaultReporter(op).notYetSupported()
      << "tensors as operands or results of this op in a kernel";
  return failure();
}

LogicalResult Planner::run() {
  bool ok = true;
  if (int64_t chips = visa::getTarget(kernel).getChips(); chips != 1) {
    FaultReporter(kernel).notYetSupported()
        << "a kernel for " << chips << " chips";
    return failure();
  }
  for (Type type : kernel.getArgumentTypes())
    ok &= succeeded(checkType(kernel, type));
  kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    ok &= succeeded(planOp(op));
    return isa<ChainOp>(op) ? WalkResult::skip() : WalkResult::advance();
  });
  return success(ok);
}

/// What an operand of a kernel held, for the binary and the host.
static Attribute getOperandAttr(Type type) {
  TensorParts parts = getTensorParts(type);
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  for (const mapping::Axis &axis : parts.axes.getAxes().list()) {
    names.push_back(StringAttr::get(type.getContext(), axis.name));
    sizes.push_back(axis.size);
  }
  return resource::OperandAttr::get(type.getContext(), parts.elementType,
                                    parts.chip.getText(),
                                    parts.element.getText(), names, sizes);
}

void Planner::annotate() {
  for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes()))
    if (isTensor(type))
      kernel.setArgAttr(index, "lir.operand", getOperandAttr(type));
  for (auto [index, type] : llvm::enumerate(kernel.getResultTypes()))
    if (isTensor(type))
      kernel.setResultAttr(index, "lir.operand", getOperandAttr(type));

  std::set<int64_t> clusters;
  kernel.getBody().walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto dm = dyn_cast<DmType>(type)) {
        auto ranges = loops::getLiveRanges(dm.getCluster().getMapping());
        for (size_t i = 0; i < ranges.size(); i += 2)
          for (int64_t at = ranges[i]; at <= ranges[i + 1]; ++at)
            clusters.insert(at);
      }
  });
  // A kernel that touches no data memory still runs somewhere.
  if (clusters.empty())
    clusters.insert(0);
  Builder builder(kernel.getContext());
  TargetAttr target = visa::getTarget(kernel);
  kernel->setAttr("lir.pes", builder.getI64IntegerAttr(std::min<int64_t>(
                                 target.getPes(), machine::pesPerCluster)));
  kernel->setAttr("lir.clusters",
                  builder.getDenseI64ArrayAttr(
                      SmallVector<int64_t>(clusters.begin(), clusters.end())));
  kernel->setAttr("lir.release", builder.getStringAttr(target.getRelease()));
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// The bytes that a view adds to its buffer's address at run time; null where
/// there are none.
static Value createOffset(OpBuilder &builder, Location loc,
                          const ViewOffset &offset) {
  Value sum;
  for (auto [index, bytes] : offset.terms) {
    Value scaled = index;
    if (bytes != 1) {
      Value factor = arith::ConstantIndexOp::create(builder, loc, bytes);
      scaled = arith::MulIOp::create(builder, loc, index, factor);
    }
    sum = sum ? arith::AddIOp::create(builder, loc, sum, scaled) : scaled;
  }
  return sum;
}

/// The descriptor of one engine.
static lir::EngineAttr getEngine(MLIRContext *context,
                                 const EngineTransfer &engine,
                                 const TransferPlan &transfer) {
  SmallVector<int64_t> sizes, sourceStrides, targetStrides;
  for (const TransferLoop &loop : engine.loops) {
    sizes.push_back(loop.size);
    sourceStrides.push_back(loop.sourceStride);
    targetStrides.push_back(loop.targetStride);
  }
  return lir::EngineAttr::get(context, engine.cluster, engine.pe,
                              engine.sourceBase + transfer.source.constant,
                              engine.targetBase + transfer.target.constant,
                              ArrayRef<int64_t>(sizes),
                              ArrayRef<int64_t>(sourceStrides),
                              ArrayRef<int64_t>(targetStrides), engine.packet);
}

static void createTransfer(OpBuilder &builder, Location loc,
                           const TransferPlan &transfer, Value source,
                           Value target) {
  Value sourceOffset = createOffset(builder, loc, transfer.source);
  Value targetOffset = createOffset(builder, loc, transfer.target);
  for (const TransferCommand &command : transfer.commands) {
    SmallVector<Attribute> engines;
    for (const EngineTransfer &engine : command)
      engines.push_back(getEngine(builder.getContext(), engine, transfer));
    lir::DmaOp::create(builder, loc, source, sourceOffset, target, targetOffset,
                       builder.getArrayAttr(engines));
  }
}

namespace {
template <typename Op>
struct PlannedPattern : public OpConversionPattern<Op> {
  PlannedPattern(const TypeConverter &converter, MLIRContext *context,
                 const Plan &plan)
      : OpConversionPattern<Op>(converter, context), plan(plan) {}

  /// A buffer for a result of the op.
  Value createBuffer(Op op, ConversionPatternRewriter &rewriter) const {
    return lir::AllocOp::create(
        rewriter, op.getLoc(),
        this->getTypeConverter()->convertType(op.getResult().getType()));
  }

  const Plan &plan;
};

struct AllocPattern : public PlannedPattern<visa::AllocOp> {
  using PlannedPattern::PlannedPattern;
  LogicalResult
  matchAndRewrite(visa::AllocOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, createBuffer(op, rewriter));
    return success();
  }
};

/// A view is its buffer; where it begins is known to those who use it.
template <typename Op>
struct ViewPattern : public OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, adaptor.getSource());
    return success();
  }
};

template <typename Op>
struct MovePattern : public PlannedPattern<Op> {
  using PlannedPattern<Op>::PlannedPattern;
  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value buffer = this->createBuffer(op, rewriter);
    createTransfer(rewriter, op.getLoc(), this->plan.transfers.at(op),
                   adaptor.getSource(), buffer);
    rewriter.replaceOp(op, buffer);
    return success();
  }
};

struct CopyPattern : public PlannedPattern<CopyOp> {
  using PlannedPattern::PlannedPattern;
  LogicalResult
  matchAndRewrite(CopyOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    createTransfer(rewriter, op.getLoc(), plan.transfers.at(op),
                   adaptor.getSource(), adaptor.getTarget());
    rewriter.eraseOp(op);
    return success();
  }
};

struct ChainPattern : public PlannedPattern<ChainOp> {
  using PlannedPattern::PlannedPattern;
  LogicalResult
  matchAndRewrite(ChainOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value buffer = createBuffer(op, rewriter);
    auto exec = lir::ExecOp::create(rewriter, op.getLoc(),
                                    op.getContext() == visa::Context::Main
                                        ? lir::Context::Main
                                        : lir::Context::Sub);
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.createBlock(&exec.getBody());
      // The lambda outlives every call through the reference.
      auto getBuffer = [&](Value tensor) {
        return rewriter.getRemappedValue(tensor);
      };
      StageLowering stage;
      stage.records = plan.chains.at(op);
      stage.getBuffer = getBuffer;
      stage.result = buffer;
      for (size_t i = 0; i < stage.records.size(); ++i) {
        stage.index = i;
        cast<LowerStageInterface>(stage.records[i].op).lower(stage, rewriter);
      }
    }
    rewriter.replaceOp(op, buffer);
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Reports tensors outside of kernels.
static LogicalResult checkOutsideKernels(ModuleOp module) {
  bool ok = true;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op->hasAttr(VISADialect::getKernelAttrName()))
      return WalkResult::skip();
    bool hasTensors = isa_and_nonnull<VISADialect>(op->getDialect()) ||
                      llvm::any_of(op->getOperandTypes(), isTensor) ||
                      llvm::any_of(op->getResultTypes(), isTensor);
    if (auto function = dyn_cast<FunctionOpInterface>(op))
      hasTensors |= llvm::any_of(function.getArgumentTypes(), isTensor) ||
                    llvm::any_of(function.getResultTypes(), isTensor);
    if (!hasTensors)
      return WalkResult::advance();
    FaultReporter(op).notYetSupported()
        << "tensors outside of a kernel; mark the function as visa.kernel, or "
           "inline it into one";
    ok = false;
    // One message for each function.
    return WalkResult::skip();
  });
  return success(ok);
}

namespace {
struct ConvertVISAToLIR
    : public furiosa::impl::ConvertVISAToLIRBase<ConvertVISAToLIR> {
  using Base::Base;

  void getDependentDialects(DialectRegistry &registry) const override {
    Base::getDependentDialects(registry);
    registerVISAToLIRStages(registry);
  }

  void runOnOperation() override;
};
} // namespace

void ConvertVISAToLIR::runOnOperation() {
  ModuleOp module = getOperation();
  MLIRContext *context = &getContext();
  bool ok = succeeded(checkOutsideKernels(module));
  Plan plan;
  SmallVector<Planner> planners;
  module.walk([&](func::FuncOp kernel) {
    // A kernel that has been lowered stays as it is.
    if (!kernel->hasAttr(VISADialect::getKernelAttrName()) ||
        kernel->hasAttr("lir.pes"))
      return;
    planners.emplace_back(kernel, plan);
    ok &= succeeded(planners.back().run());
  });
  if (!ok)
    return signalPassFailure();
  for (Planner &planner : planners)
    planner.annotate();

  TypeConverter converter;
  converter.addConversion([](Type type) -> std::optional<Type> {
    if (!isTensor(type))
      return type;
    // The plan has converted every type once.
    auto buffer = convertTensor(
        type, [&] { return emitError(UnknownLoc::get(type.getContext())); });
    return buffer ? std::optional<Type>(buffer) : std::optional<Type>(Type());
  });
  ConversionTarget target(*context);
  target.addIllegalDialect<VISADialect>();
  target.addDynamicallyLegalOp<func::FuncOp>([&](func::FuncOp op) {
    return converter.isSignatureLegal(op.getFunctionType());
  });
  target.markUnknownOpDynamicallyLegal(
      [&](Operation *op) { return converter.isLegal(op); });
  RewritePatternSet patterns(context);
  patterns.add<AllocPattern, MovePattern<ToDmOp>, MovePattern<ToHbmOp>,
               CopyPattern, ChainPattern>(converter, context, plan);
  patterns.add<ViewPattern<TileOp>, ViewPattern<ReshapeOp>>(converter, context);
  populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns,
                                                                 converter);
  populateReturnOpTypeConversionPattern(patterns, converter);
  if (failed(applyFullConversion(module, target, std::move(patterns))))
    signalPassFailure();
}
