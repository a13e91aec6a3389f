//===- VISAToLIR.cpp - The pass convert-visa-to-lir -----------------------===//
//
// First a plan is made of every kernel, which reports what cannot be lowered;
// then patterns carry it out and have nothing left to refuse.
//
//===----------------------------------------------------------------------===//

#include "LoopOrder.h"
#include "StageModel.h"

#include "furiosa/Conversion/Passes.h"
#include "furiosa/Dialect/LIR/IR/LIR.h"
#include "furiosa/Dialect/Resource/IR/Resource.h"
#include "furiosa/Dialect/VISA/IR/TransferPlan.h"
#include "furiosa/Dialect/VISA/Loops/Loops.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

#include <set>
#include <utility>

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
  auto bytes = elements ? loops::getBytes(*elements, getElementBits(parts))
                        : std::nullopt;
  if (!bytes) {
    emitError() << "MM-5: element \"" << parts.element.getText()
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
  /// Where the tensors of stages begin in their buffers.
  DenseMap<Value, ViewStart> starts;
  /// How far fetches read in the buffers of data memory, bytes of a slice.
  DenseMap<Value, int64_t> reaches;

  /// The type of `buffer` with room for what padded packets read behind the
  /// tensor in it: nothing else may lie there.
  lir::MemType addRoom(Value buffer, lir::MemType type) const;
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
  LogicalResult planRows(Operation *op, Value table, Value index, Value rows,
                         Type rowsType, bool scaled);
  LogicalResult planChain(ChainOp chain);
  LogicalResult planFetch(ChainOp chain, ArrayRef<StageRecord> records);
  void joinReaches();
  LogicalResult checkType(Operation *op, Type type);

  func::FuncOp kernel;
  Plan &plan;
  /// Buffers that one fetch reads in turn, which have one size.
  SmallVector<std::pair<Value, Value>> pairs;
};
} // namespace

lir::MemType Plan::addRoom(Value buffer, lir::MemType type) const {
  int64_t reach = reaches.lookup(buffer);
  if (reach <= type.getBytes())
    return type;
  return lir::MemType::get(
      type.getContext(), type.getTier(),
      int64_t(llvm::alignTo(uint64_t(reach), machine::dmWriteGranule)),
      type.getLanes());
}

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
  if (kernel->hasAttr(alternateNetworksAttrName))
    chooseLoopOrders(*transfer, isa<DmType>(source.getType()),
                     isa<DmType>(targetType));
  plan.transfers[op] = std::move(*transfer);
  return success();
}

LogicalResult Planner::planRows(Operation *op, Value table, Value index,
                                Value rows, Type rowsType, bool scaled) {
  FaultReporter reporter(op);
  auto transfer = planIndirect(table, index, rows, rowsType, scaled, reporter);
  if (failed(transfer))
    return failure();
  plan.transfers[op] = std::move(*transfer);
  return success();
}

/// Notes how far the fetch of a chain reads in its buffers.
LogicalResult Planner::planFetch(ChainOp chain, ArrayRef<StageRecord> records) {
  ChainStage stage;
  stage.records = records;
  while (stage.index < records.size() && !isa<FetchOp>(records[stage.index].op))
    ++stage.index;
  if (stage.index == records.size())
    return success();
  auto fetch = cast<FetchOp>(records[stage.index].op);
  FaultReporter reporter(fetch);
  auto derived = deriveFetch(stage);
  if (!derived) {
    reporter.report(derived.fault(), "packet");
    return failure();
  }
  auto reach = derived->getEnd();
  for (Value tensor : fetch->getOperands()) {
    auto last = plan.starts.find(tensor)->second.getLast();
    int64_t end;
    if (!reach || !last || llvm::AddOverflow<int64_t>(*last, *reach, end)) {
      reporter.notYetSupported() << "a fetch that may read anywhere";
      return failure();
    }
    Value buffer = getBaseBuffer(tensor);
    int64_t &known = plan.reaches[buffer];
    known = std::max(known, end);
    if (end > int64_t(machine::dmSliceBytes)) {
      reporter.fault("MM-5")
          << "padding is read behind the end of the data memory: found reads "
             "up to byte "
          << end << " of a buffer, expected at most " << machine::dmSliceBytes
          << "; fetch less padding or make the tensor smaller";
      return failure();
    }
  }
  if (fetch.getOther())
    pairs.emplace_back(getBaseBuffer(fetch.getSource()),
                       getBaseBuffer(fetch.getOther()));
  return success();
}

/// Buffers that are read in turn get the same room.
void Planner::joinReaches() {
  bool changed = true;
  while (changed) {
    changed = false;
    for (auto [a, b] : pairs) {
      int64_t most = std::max(plan.reaches.lookup(a), plan.reaches.lookup(b));
      for (Value buffer : {a, b})
        changed |= std::exchange(plan.reaches[buffer], most) != most;
    }
  }
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
  FaultReporter reporter(chain);
  for (Operation &stage : chain.getBody().front())
    for (Value operand : stage.getOperands()) {
      auto start = getViewStart(operand, reporter);
      if (failed(start))
        return failure();
      plan.starts[operand] = *start;
    }
  ok &= succeeded(planFetch(chain, *records));
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
  if (auto copy = dyn_cast<CopyOp>(op); copy && copy.getParallel()) {
    FaultReporter reporter(op);
    auto words = planParallelCopy(copy.getSource(), copy.getTarget(), reporter);
    if (failed(words))
      return failure();
    plan.transfers[op] = std::move(*words);
    return success();
  }
  if (auto copy = dyn_cast<CopyOp>(op))
    return planMove(op, copy.getSource(), copy.getTarget(),
                    copy.getTarget().getType());
  if (auto chain = dyn_cast<ChainOp>(op))
    return planChain(chain);
  if (auto gather = dyn_cast<GatherOp>(op))
    return planRows(op, gather.getTable(), gather.getIndex(), {},
                    gather.getResult().getType(), gather.getScaled());
  if (auto scatter = dyn_cast<ScatterOp>(op))
    return planRows(op, scatter.getTarget(), scatter.getIndex(),
                    scatter.getSource(), scatter.getSource().getType(),
                    scatter.getScaled());
  if (isa<visa::AllocOp, TileOp, PadOp, UnpadOp, ReshapeOp, MemsetOp,
          func::ReturnOp>(op))
    return success();
  if (!isa_and_nonnull<VISADialect>(op->getDialect()) && !usesTensors(op))
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
  joinReaches();
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
    if (isTensor(type)) {
      kernel.setArgAttr(index, "lir.operand", getOperandAttr(type));
    } else if (auto range = getNumberRange(kernel.getArgument(index))) {
      OpBuilder builder(kernel);
      kernel.setArgAttr(index, "lir.operand",
                        resource::OperandAttr::get(
                            kernel.getContext(), builder.getI32Type(), "1", "1",
                            ArrayRef<StringAttr>(), ArrayRef<int64_t>()));
      kernel.setArgAttr(
          index, "lir.range",
          builder.getDenseI64ArrayAttr({range->first, range->second}));
      kernel.removeArgAttr(index, rangeAttrName);
    }
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
                          const ViewStart &start) {
  Value sum;
  for (auto [index, dimension, bytes] : start.terms) {
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
  return lir::EngineAttr::get(
      context, engine.cluster, engine.pe,
      engine.sourceBase + transfer.source.bytes,
      engine.targetBase + transfer.target.bytes, ArrayRef<int64_t>(sizes),
      ArrayRef<int64_t>(sourceStrides), ArrayRef<int64_t>(targetStrides),
      engine.packet,
      engine.indexLoops ? engine.indexBase + transfer.index.bytes : 0,
      int64_t(engine.indexLoops));
}

static void createTransfer(OpBuilder &builder, Location loc,
                           const TransferPlan &transfer, Value source,
                           Value target, Value index) {
  Value sourceOffset = createOffset(builder, loc, transfer.source);
  Value targetOffset = createOffset(builder, loc, transfer.target);
  for (const TransferCommand &command : transfer.commands) {
    SmallVector<Attribute> engines;
    for (const EngineTransfer &engine : command)
      engines.push_back(getEngine(builder.getContext(), engine, transfer));
    lir::DmaOp::create(
        builder, loc, source, sourceOffset, target, targetOffset, index,
        index ? builder.getI64IntegerAttr(transfer.scale) : IntegerAttr(),
        builder.getArrayAttr(engines));
  }
}

/// A copy within slices: the sub context fetches and commits words of 8 bytes.
static void createParallelCopy(OpBuilder &builder, CopyOp op,
                               const TransferPlan &plan, Value source,
                               Value target) {
  Location loc = op.getLoc();
  Value sourceOffset = createOffset(builder, loc, plan.source);
  Value targetOffset = createOffset(builder, loc, plan.target);
  auto slices = loops::getLiveRanges(
      getTensorParts(op.getTarget().getType()).slice.getMapping());
  for (int64_t &slice : slices)
    slice += plan.target.slice;
  for (const TransferCommand &command : plan.commands) {
    const EngineTransfer &engine = command.front();
    SmallVector<int64_t> sizes, from, to;
    int64_t words = 1;
    for (const TransferLoop &loop : engine.loops) {
      words *= loop.size;
      sizes.push_back(loop.size);
      from.push_back(loop.sourceStride);
      to.push_back(loop.targetStride);
    }
    auto exec = lir::ExecOp::create(builder, loc, lir::Context::Sub);
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&exec.getBody());
    lir::FetchSequencerOp::create(builder, loc, source, sourceOffset,
                                  plan.source.bytes + engine.sourceBase,
                                  /*other=*/Value(),
                                  /*other_base=*/0, /*pair_loop=*/0, sizes,
                                  from, engine.packet, engine.packet, words);
    lir::CollectOp::create(builder, loc, /*flits_per_packet=*/1);
    lir::CommitAdapterOp::create(builder, loc, int64_t(machine::flitBytes),
                                 engine.packet, lir::CommitCastAttr());
    lir::CommitSequencerOp::create(builder, loc, target, targetOffset,
                                   plan.target.bytes + engine.targetBase, sizes,
                                   to, engine.packet, slices);
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
        this->getTypeConverter()->convertType(Value(op.getResult())));
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

/// A transfer into a new buffer, or into one that is there.
template <typename Op>
struct TransferPattern : public PlannedPattern<Op> {
  using PlannedPattern<Op>::PlannedPattern;
  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value source, index;
    if constexpr (requires { adaptor.getTable(); })
      source = adaptor.getTable();
    else
      source = adaptor.getSource();
    if constexpr (requires { adaptor.getIndex(); })
      index = adaptor.getIndex();
    const TransferPlan &transfer = this->plan.transfers.at(op);
    if constexpr (std::is_same_v<Op, CopyOp>) {
      if (op.getParallel()) {
        createParallelCopy(rewriter, op, transfer, source, adaptor.getTarget());
        rewriter.eraseOp(op);
        return success();
      }
    }
    if constexpr (requires { adaptor.getTarget(); }) {
      createTransfer(rewriter, op.getLoc(), transfer, source,
                     adaptor.getTarget(), index);
      rewriter.eraseOp(op);
    } else {
      Value buffer = this->createBuffer(op, rewriter);
      createTransfer(rewriter, op.getLoc(), transfer, source, buffer, index);
      rewriter.replaceOp(op, buffer);
    }
    return success();
  }
};

struct MemsetPattern : public OpConversionPattern<MemsetOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(MemsetOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Attribute constant;
    matchPattern(op.getValue(), m_Constant(&constant));
    auto number = dyn_cast<FloatAttr>(constant);
    APInt code = number ? number.getValue().bitcastToAPInt()
                        : cast<IntegerAttr>(constant).getValue();
    // The pattern repeats the code.
    uint64_t pattern = 0;
    for (unsigned at = 0; at < 32; at += code.getBitWidth())
      pattern |= code.getZExtValue() << at;
    auto exec = lir::ExecOp::create(rewriter, op.getLoc(), lir::Context::Sub);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.createBlock(&exec.getBody());
    lir::FillOp::create(rewriter, op.getLoc(), adaptor.getTarget(),
                        int64_t(pattern));
    rewriter.eraseOp(op);
    return success();
  }
};

struct ChainPattern : public PlannedPattern<ChainOp> {
  using PlannedPattern::PlannedPattern;
  LogicalResult
  matchAndRewrite(ChainOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value into = op.getInto();
    Value buffer =
        into ? rewriter.getRemappedValue(into) : createBuffer(op, rewriter);
    DenseMap<Value, Value> offsets;
    for (Operation &stage : op.getBody().front())
      for (Value tensor : stage.getOperands())
        if (auto at = plan.starts.find(tensor); at != plan.starts.end())
          if (Value offset = createOffset(rewriter, op.getLoc(), at->second))
            offsets[tensor] = offset;
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
      auto getStart = [&](Value tensor) {
        return plan.starts.lookup(tensor).bytes;
      };
      stage.getStart = getStart;
      auto getOffset = [&](Value tensor) { return offsets.lookup(tensor); };
      stage.getOffset = getOffset;
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

/// A loop as its steps one after the other, each under the condition that it is
/// made, but for those that always are.
static void unrollUnderConditions(scf::ForOp loop) {
  int64_t trips = *getMostTrips(loop);
  int64_t step = *getConstantIntValue(loop.getStep());
  auto lower = *getIndexRange(loop.getLowerBound());
  auto upper = *getIndexRange(loop.getUpperBound());
  Location loc = loop.getLoc();
  Type type = loop.getInductionVar().getType();
  OpBuilder builder(loop);
  // From a number on, of steps of 1, all that the counter may be.
  bool fromNumber = !isKnownWhenUnrolled(loop.getLowerBound());
  for (int64_t trip = 0; trip < trips; ++trip) {
    bool isConstant = fromNumber || lower.first == lower.second;
    Value counter = arith::ConstantOp::create(
        builder, loc,
        builder.getIntegerAttr(type,
                               (isConstant ? lower.first : 0) + trip * step));
    if (!isConstant)
      counter =
          arith::AddIOp::create(builder, loc, loop.getLowerBound(), counter);
    Value isMade;
    auto require = [&](arith::CmpIPredicate predicate, Value bound) {
      Value holds =
          arith::CmpIOp::create(builder, loc, predicate, counter, bound);
      isMade =
          isMade ? arith::AndIOp::create(builder, loc, isMade, holds) : holds;
    };
    if (fromNumber && lower.first + trip < lower.second)
      require(arith::CmpIPredicate::sge, loop.getLowerBound());
    if ((fromNumber ? lower.first : lower.second) + trip * step >= upper.first)
      require(arith::CmpIPredicate::slt, loop.getUpperBound());
    OpBuilder inner = builder;
    if (isMade) {
      auto branch = scf::IfOp::create(builder, loc, isMade,
                                      /*withElseRegion=*/false);
      inner = branch.getThenBodyBuilder();
    }
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), counter);
    for (Operation &op : loop.getBody()->without_terminator())
      inner.clone(op, mapping);
  }
  loop.erase();
}

/// Notes what a kernel writes, drops loops that never run, and unrolls those of
/// whose counters more must be known than what a base can follow.
static LogicalResult prepare(func::FuncOp kernel) {
  for (unsigned index : getWrittenArguments(kernel))
    kernel.setArgAttr(index, "lir.written", UnitAttr::get(kernel.getContext()));
  kernel.walk([](scf::ForOp loop) {
    auto trips = loop.getStaticTripCount();
    if (trips && trips->isZero() && loop.getNumResults() == 0)
      loop.erase();
  });
  // The innermost come first.
  SmallVector<Operation *> tiling = getUnrolledLoops(kernel);
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) {
    if (llvm::is_contained(tiling, loop.getOperation()))
      loops.push_back(loop);
  });
  for (scf::ForOp loop : loops) {
    if (loop.getStaticTripCount()) {
      if (failed(loopUnrollFull(loop)))
        return loop->emitError("not yet supported: unrolling this loop");
    } else if (loop.getNumResults() == 0 && getMostTrips(loop)) {
      unrollUnderConditions(loop);
    } else {
      return loop->emitError("not yet supported: unrolling this loop");
    }
  }
  // Conditions are constants now.
  RewritePatternSet branches(kernel.getContext());
  scf::IfOp::getCanonicalizationPatterns(branches, kernel.getContext());
  bool hasBranches =
      kernel.walk([](scf::IfOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  if (hasBranches)
    return applyPatternsGreedily(kernel, std::move(branches));
  return success();
}

/// What is left of the interface of a kernel that computes no tensors of visa:
/// nobody has checked it above, where it may be one of another level.
static LogicalResult checkInterface(func::FuncOp kernel) {
  FaultReporter reporter(kernel);
  for (BlockArgument argument : kernel.getArguments()) {
    Type type = argument.getType();
    if (type.isIndex() || type.isInteger(32))
      checkNumber(argument, reporter);
    else if (!isa<HbmType>(type))
      reporter.notYetSupported()
          << "argument " << argument.getArgNumber() << " of type " << type
          << "; arguments of a kernel are HBM tensors, and numbers of type "
             "index or i32";
  }
  for (auto [index, type] : llvm::enumerate(kernel.getResultTypes()))
    if (!isa<HbmType>(type))
      reporter.notYetSupported() << "result " << index << " of type " << type
                                 << "; results of a kernel are HBM tensors";
  return failure(reporter.failed());
}

void ConvertVISAToLIR::runOnOperation() {
  ModuleOp module = getOperation();
  MLIRContext *context = &getContext();
  bool ok = succeeded(checkOutsideKernels(module, /*mayInline=*/false));
  Plan plan;
  SmallVector<Planner> planners;
  module.walk([&](func::FuncOp kernel) {
    // A kernel that has been lowered stays as it is.
    if (!kernel->hasAttr(VISADialect::getKernelAttrName()) ||
        kernel->hasAttr("lir.pes"))
      return;
    if (failed(checkInterface(kernel))) {
      ok = false;
      return;
    }
    // In front of the unrolling, which would repeat it.
    emitWarnings(kernel);
    planners.emplace_back(kernel, plan);
    ok &= succeeded(prepare(kernel)) && succeeded(planners.back().run());
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
  // A view has the type of its buffer, which padding does not change.
  converter.addConversion([&](Value value) -> std::optional<Type> {
    if (!isTensor(value.getType()))
      return std::nullopt;
    Value buffer = getBaseBuffer(value);
    return plan.addRoom(
        buffer, cast<lir::MemType>(converter.convertType(buffer.getType())));
  });
  ConversionTarget target(*context);
  target.addIllegalDialect<VISADialect>();
  target.addDynamicallyLegalOp<func::FuncOp>([&](func::FuncOp op) {
    return converter.isSignatureLegal(op.getFunctionType());
  });
  target.markUnknownOpDynamicallyLegal(
      [&](Operation *op) { return converter.isLegal(op); });
  RewritePatternSet patterns(context);
  patterns.add<AllocPattern, TransferPattern<ToDmOp>, TransferPattern<ToHbmOp>,
               TransferPattern<CopyOp>, TransferPattern<GatherOp>,
               TransferPattern<ScatterOp>, ChainPattern>(converter, context,
                                                         plan);
  patterns.add<ViewPattern<TileOp>, ViewPattern<PadOp>, ViewPattern<UnpadOp>,
               ViewPattern<ReshapeOp>, MemsetPattern>(converter, context);
  populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns,
                                                                 converter);
  populateReturnOpTypeConversionPattern(patterns, converter);
  if (failed(applyFullConversion(module, target, std::move(patterns))))
    signalPassFailure();
}
