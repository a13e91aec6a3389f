//===- VectorStages.cpp - From vector stages to operation units -----------===//

#include "furiosa/Dialect/VISA/IR/VectorStages.h"
#include "StageModel.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::visa;

/// Guards of the two groups of pair mode.
static constexpr StringLiteral group0 = "---0", group1 = "---1";

/// Whether both groups end in the sums of a reduction behind a zip.
static bool endsGroups(const StageRecord &record) {
  const VectorState &before = record.before.vector;
  return before.zip && before.pairTime.uses(before.pairAxis) &&
         !record.after.vector.pairTime.uses(before.pairAxis);
}

/// Whether a later stage looks at execution ids.
static bool usesIds(const StageLowering &stage) {
  for (const StageRecord &record : stage.records.drop_front(stage.index + 1))
    if (auto alu = dyn_cast<VectorAluInterface>(record.op))
      for (const VectorSlot &slot : getVectorSlots(alu))
        if (!slot.guard.isAlways())
          return true;
  return false;
}

/// Whether a slot takes the port of the register file. An operand that the mode
/// does not use is an immediate as long as there is one.
static bool takesPort(StringRef mode, const VectorSlot &slot, size_t index) {
  return (slot.kind == SlotKind::Stash || slot.kind == SlotKind::Vrf) &&
         (mode.contains('1') || index >= rngd::machine::vectorOpImmediates);
}

/// Whether a later stage reads the stash.
static bool usesStash(const StageLowering &stage) {
  for (const StageRecord &record : stage.records.drop_front(stage.index + 1))
    if (auto alu = dyn_cast<VectorAluInterface>(record.op))
      for (auto [index, slot] : llvm::enumerate(getVectorSlots(alu)))
        if (slot.kind == SlotKind::Stash &&
            takesPort(alu.getMode().value_or("01"), slot, index))
          return true;
  return false;
}

static void createAlu(OpBuilder &builder, Location loc,
                      const vector::Operation &row, ArrayRef<int32_t> imms,
                      ArrayRef<int32_t> seconds, ArrayRef<Attribute> guards,
                      bool stash, Value vrf, DenseI64ArrayAttr sizes,
                      DenseI64ArrayAttr strides, StringRef mode) {
  lir::VectorAluOp::create(
      builder, loc, static_cast<lir::Alu>(row.alu), row.code, imms, seconds,
      builder.getArrayAttr(guards), stash, vrf, sizes, strides,
      mode == vector::defaultMode(row.arity) ? StringAttr()
                                             : builder.getStringAttr(mode));
}

static void lowerAlu(VectorAluInterface op, const StageLowering &stage,
                     OpBuilder &builder) {
  const vector::Operation *row = getVectorOperation(op, stage.before().type);
  // Nothing runs where both groups skip.
  if (!row)
    return;
  StringRef mode = op.getMode().value_or(vector::defaultMode(row->arity));
  SmallVector<int32_t> imms, seconds;
  SmallVector<Attribute> guards;
  bool stash = false;
  Value vrf;
  DenseI64ArrayAttr sizes, strides;
  for (auto [index, slot] : llvm::enumerate(getVectorSlots(op))) {
    guards.push_back(builder.getStringAttr(slot.guard.str()));
    if (row->arity == 1)
      continue;
    // What the mode does not use is written as 0.
    if (row->arity == 3)
      seconds.push_back(mode.contains('2') ? static_cast<int32_t>(slot.with)
                                           : 0);
    if (!takesPort(mode, slot, index)) {
      imms.push_back(mode.contains('1') ? static_cast<int32_t>(slot.value) : 0);
    } else if (slot.kind == SlotKind::Stash) {
      stash = true;
    } else {
      Arrays arrays(*deriveVrfOperand(slot.tensor, stage));
      vrf = stage.getBuffer(slot.tensor);
      sizes = builder.getDenseI64ArrayAttr(arrays.sizes);
      strides = builder.getDenseI64ArrayAttr(arrays.strides);
    }
  }
  createAlu(builder, op.getLoc(), *row, imms, seconds, guards, stash, vrf,
            sizes, strides, mode);
}

namespace {
struct TagLowering : public StageModel<TagLowering, visa::VectorTagOp> {
  void lower(Operation *op, const StageLowering &stage,
             OpBuilder &builder) const {
    auto tag = cast<visa::VectorTagOp>(op);
    if (tag.getMode() != TagMode::Compare || !usesIds(stage))
      return;
    SmallVector<StringRef> names;
    SmallVector<int32_t> boundaries;
    for (Attribute attribute : tag.getComparisons()) {
      auto comparison = cast<CompareAttr>(attribute);
      names.push_back(stringifyComparison(comparison.getKind()));
      boundaries.push_back(
          comparison.getBoundary()
              ? static_cast<int32_t>(getPattern(comparison.getBoundary()))
              : 0);
    }
    lir::VectorTagOp::create(
        builder, op->getLoc(),
        getMLIRType(builder.getContext(), stage.before().type),
        builder.getStrArrayAttr(names), boundaries);
  }
};

template <typename Op>
struct AluLowering : public StageModel<AluLowering<Op>, Op> {
  void lower(Operation *op, const StageLowering &stage,
             OpBuilder &builder) const {
    lowerAlu(cast<VectorAluInterface>(op), stage, builder);
  }
};

struct StashLowering : public StageModel<StashLowering, visa::VectorStashOp> {
  void lower(Operation *op, const StageLowering &stage,
             OpBuilder &builder) const {
    if (usesStash(stage))
      lir::VectorStashOp::create(builder, op->getLoc(), "----");
  }
};

/// Stages whose unit takes the same one number.
template <typename Op, typename Unit>
struct ConversionLowering
    : public StageModel<ConversionLowering<Op, Unit>, Op> {
  void lower(Operation *op, const StageLowering &, OpBuilder &builder) const {
    Unit::create(builder, op->getLoc(), int64_t(cast<Op>(op).getWidth()));
  }
};

/// In front of a stage: what keeps group 0 out of a reduction over time.
static void createGroupAside(Operation *op, const StageLowering &stage,
                             OpBuilder &builder) {
  for (auto [index, record] : llvm::enumerate(stage.records)) {
    auto reduce = dyn_cast<visa::VectorReduceOp>(record.op);
    if (!reduce || !endsGroups(record))
      continue;
    auto aside = findGroupAside(
        reduce, *vector::findIntraSlice(stringifyVectorFn(reduce.getFn()),
                                        record.before.type));
    if (aside->before != op)
      continue;
    SmallVector<int32_t> seconds;
    if (aside->operation->arity == 3)
      seconds.push_back(static_cast<int32_t>(aside->with));
    createAlu(builder, op->getLoc(), *aside->operation,
              static_cast<int32_t>(aside->value), seconds,
              Attribute(builder.getStringAttr(group0)), /*stash=*/false,
              Value(), DenseI64ArrayAttr(), DenseI64ArrayAttr(), aside->mode);
  }
}

struct NarrowLowering
    : public StageModel<NarrowLowering, visa::VectorNarrowOp> {
  void lower(Operation *op, const StageLowering &stage,
             OpBuilder &builder) const {
    createGroupAside(op, stage, builder);
    bool splits =
        cast<visa::VectorNarrowOp>(op).getKind() == visa::NarrowKind::Split;
    lir::VectorNarrowOp::create(builder, op->getLoc(),
                                splits ? lir::NarrowKind::Split
                                       : lir::NarrowKind::Trim);
  }
};

struct WidenLowering : public StageModel<WidenLowering, visa::VectorWidenOp> {
  void lower(Operation *op, const StageLowering &, OpBuilder &builder) const {
    bool concats =
        cast<visa::VectorWidenOp>(op).getKind() == visa::WidenKind::Concat;
    lir::VectorWidenOp::create(builder, op->getLoc(),
                               concats ? lir::WidenKind::Concat
                                       : lir::WidenKind::Pad);
  }
};

/// Group 0 is kept, and is the operand where group 1 comes by.
struct ZipLowering : public StageModel<ZipLowering, VectorZipOp> {
  void lower(Operation *op, const StageLowering &stage,
             OpBuilder &builder) const {
    auto zip = cast<VectorZipOp>(op);
    const vector::Operation *row = getVectorOperation(op, stage.before().type);
    // Digit 1 of a zip's mode is group 1, the stream; that of an ALU is the
    // operand.
    std::string mode;
    for (char digit : zip.getMode().value_or("01"))
      mode += digit == '0' ? '1' : '0';
    Attribute guard = builder.getStringAttr(group1);
    // Where group 1 alone counts, nothing is kept.
    bool usesStash = StringRef(mode).contains('1');
    SmallVector<int32_t> imms(usesStash ? 0 : 1, 0);
    if (usesStash)
      lir::VectorStashOp::create(builder, op->getLoc(), group0);
    createAlu(builder, op->getLoc(), *row, imms, {}, guard, usesStash, Value(),
              DenseI64ArrayAttr(), DenseI64ArrayAttr(), mode);
  }
};

struct UnzipLowering : public StageModel<UnzipLowering, visa::VectorUnzipOp> {
  void lower(Operation *op, const StageLowering &stage,
             OpBuilder &builder) const {
    lir::VectorUnzipOp::create(builder, op->getLoc(), *deriveGroupFlits(stage));
  }
};

/// The valid count, which is made of the flits as they enter.
struct InitLowering : public StageModel<InitLowering, VectorInitOp> {
  void lower(Operation *op, const StageLowering &stage,
             OpBuilder &builder) const {
    for (auto [index, record] : llvm::enumerate(stage.records)) {
      if (!isa<visa::VectorReduceOp>(record.op))
        continue;
      auto plan = deriveReduce({stage.records, index});
      if (!plan->valid)
        return;
      const loops::ValidCount &valid = *plan->valid;
      Arrays arrays(valid.loops);
      if (valid.isClip)
        lir::VectorValidClipOp::create(builder, op->getLoc(), valid.clip,
                                       valid.span, arrays.sizes,
                                       arrays.strides);
      else
        lir::VectorValidFilterOp::create(
            builder, op->getLoc(), valid.mask, valid.match, valid.isMajor,
            valid.count, arrays.sizes, arrays.strides);
    }
  }
};

struct ReduceLowering
    : public StageModel<ReduceLowering, visa::VectorReduceOp> {
  void lower(Operation *op, const StageLowering &stage,
             OpBuilder &builder) const {
    createGroupAside(op, stage, builder);
    auto plan = deriveReduce(stage);
    const vector::Reduction *row = vector::findIntraSlice(
        stringifyVectorFn(cast<visa::VectorReduceOp>(op).getFn()),
        stage.before().type);
    Arrays arrays(plan->loops);
    lir::VectorReduceOp::create(builder, op->getLoc(), row->code, plan->folds,
                                arrays.sizes, arrays.strides, plan->count);
  }
};

struct SliceReduceLowering
    : public StageModel<SliceReduceLowering, VectorInterSliceReduceOp> {
  void lower(Operation *op, const StageLowering &stage,
             OpBuilder &builder) const {
    auto reduce = cast<VectorInterSliceReduceOp>(op);
    const Layout &before = stage.before();
    auto plan =
        deriveSliceReduce(before.slice, stage.after().slice, before.time,
                          before.flowTime(), getIdentityAxis(reduce, before));
    const vector::Reduction *row =
        vector::findInterSlice(stringifyVectorFn(reduce.getFn()), before.type);
    Arrays arrays(plan->loops);
    lir::VectorSliceReduceOp::create(builder, op->getLoc(), row->unit,
                                     row->code, plan->slices, plan->mask,
                                     arrays.sizes, arrays.strides);
  }
};

struct FinalLowering : public StageModel<FinalLowering, VectorFinalOp> {
  void lower(Operation *op, const StageLowering &stage,
             OpBuilder &builder) const {
    const VectorState &state = stage.before().vector;
    if (state.zip && state.pairTime.uses(state.pairAxis))
      lir::VectorCompactOp::create(builder, op->getLoc(), group1);
  }
};
} // namespace

void furiosa::registerVectorStages(MLIRContext &context) {
  VectorInitOp::attachInterface<InitLowering>(context);
  visa::VectorTagOp::attachInterface<TagLowering>(context);
  VectorLogicOp::attachInterface<AluLowering<VectorLogicOp>>(context);
  VectorFxpOp::attachInterface<AluLowering<VectorFxpOp>>(context);
  VectorFpOp::attachInterface<AluLowering<VectorFpOp>>(context);
  VectorFpDivOp::attachInterface<AluLowering<VectorFpDivOp>>(context);
  visa::VectorClipOp::attachInterface<AluLowering<visa::VectorClipOp>>(context);
  visa::VectorFxpToFpOp::attachInterface<
      ConversionLowering<visa::VectorFxpToFpOp, lir::VectorFxpToFpOp>>(context);
  visa::VectorFpToFxpOp::attachInterface<
      ConversionLowering<visa::VectorFpToFxpOp, lir::VectorFpToFxpOp>>(context);
  VectorReinterpretOp::attachInterface<NoUnitLowering<VectorReinterpretOp>>(
      context);
  visa::VectorNarrowOp::attachInterface<NarrowLowering>(context);
  visa::VectorWidenOp::attachInterface<WidenLowering>(context);
  visa::VectorStashOp::attachInterface<StashLowering>(context);
  visa::VectorReduceOp::attachInterface<ReduceLowering>(context);
  VectorInterSliceReduceOp::attachInterface<SliceReduceLowering>(context);
  visa::VectorUnzipOp::attachInterface<UnzipLowering>(context);
  VectorZipOp::attachInterface<ZipLowering>(context);
  VectorFinalOp::attachInterface<FinalLowering>(context);
}
