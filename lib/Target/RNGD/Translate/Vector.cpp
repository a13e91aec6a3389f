//===- Vector.cpp - The vector engine and the cast in registers -----------===//

#include "ExecTranslation.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::rngd;
using codes::CastCompactionMode;

namespace {
struct CastCodes {
  CastCompactionMode mode;
  Type from;
  Type to;
};
} // namespace

static SmallVector<CastCodes, 6> getCasts(MLIRContext *context) {
  Builder b(context);
  Type i32 = b.getI32Type(), f32 = b.getF32Type();
  return {{CastCompactionMode::I4, i32, b.getIntegerType(4)},
          {CastCompactionMode::I8, i32, b.getI8Type()},
          {CastCompactionMode::I16, i32, b.getI16Type()},
          {CastCompactionMode::F8E4M3, f32, Float8E4M3FNType::get(context)},
          {CastCompactionMode::F8E5M2, f32, Float8E5M2Type::get(context)},
          {CastCompactionMode::BF16, f32, b.getBF16Type()}};
}

static constexpr rngd::Block vectorRoute =
    rngd::Block::VectorRouteUnitMainContext;
static constexpr rngd::Block arithmetic =
    rngd::Block::VectorArithmeticUnitMainContext;

void ExecEncoder::addVectorBlocks() {
  if (images.count(vectorRoute))
    return;
  addToRoute(codes::RouteUnit::VectorEngine);
  images.try_emplace(vectorRoute, SfrImage(vectorRoute));
  // Units that take no part stand as after reset: bypass.
  images.insert_or_assign(
      Block::VectorReduceUnitMainContext,
      SfrImage::atReset(Block::VectorReduceUnitMainContext));
  images.insert_or_assign(arithmetic, SfrImage::atReset(arithmetic));
}

LogicalResult ExecEncoder::useArithmeticUnit(Operation *) {
  addVectorBlocks();
  usesArithmetic = true;
  return success();
}

LogicalResult ExecEncoder::routeVector() {
  using codes::ArithmeticUnitInSource;
  using codes::DataOutSource;
  using codes::ReduceUnitInSource;
  if (!images.count(vectorRoute))
    return success();
  DataOutSource out = reducesLast || (reducesFirst && !usesArithmetic)
                          ? DataOutSource::ReduceUnit
                      : usesArithmetic ? DataOutSource::ArithmeticUnit
                                       : DataOutSource::Stream;
  ArithmeticUnitInSource arithmeticIn =
      !usesArithmetic ? ArithmeticUnitInSource::Off
      : reducesFirst  ? ArithmeticUnitInSource::ReduceUnit
                      : ArithmeticUnitInSource::Stream;
  ReduceUnitInSource reduceIn = reducesLast ? ReduceUnitInSource::ArithmeticUnit
                                : reducesFirst ? ReduceUnitInSource::Stream
                                               : ReduceUnitInSource::Off;
  return success(
      succeeded(set(exec, vectorRoute, "data_out_source", value(out))) &&
      succeeded(set(exec, vectorRoute, "arithmetic_unit_in_source",
                    value(arithmeticIn))) &&
      succeeded(
          set(exec, vectorRoute, "reduce_unit_in_source", value(reduceIn))) &&
      succeeded(set(exec, vectorRoute, "reduce_channel_out_source",
                    value(reduceIn))));
}

LogicalResult ExecEncoder::encode(lir::VectorSliceReduceOp op) {
  addVectorBlocks();
  constexpr rngd::Block unit = rngd::Block::VectorReduceUnitMainContext;
  (usesArithmetic ? reducesLast : reducesFirst) = true;
  std::string name = op.getUnit().str();
  auto codeOf = [&](StringRef field, StringRef code) -> uint64_t {
    return codesOf(unit, field)->find(code)->value;
  };
  return success(
      succeeded(
          set(op, unit, "cluster_source", codeOf("cluster_source", name))) &&
      succeeded(set(op, unit, name + ".op_mode",
                    codeOf(name + ".op_mode", op.getFunction()))) &&
      succeeded(set(op, unit, name + ".arg_mode",
                    value(codes::ArgMode::StreamOperand))) &&
      succeeded(
          set(op, unit, name + ".rhs_cmp_op", value(codes::CmpOp::Always))) &&
      succeeded(set(op, vectorRoute, "route_group_size",
                    llvm::Log2_64(uint64_t(op.getSlices())))) &&
      succeeded(set(op, vectorRoute, "route_mask", uint64_t(op.getMask()))) &&
      succeeded(setLoops(op, vectorRoute, "index_limit", "index_stride",
                         op.getSizes(), op.getStrides())));
}

LogicalResult ExecEncoder::setArithmetic(Operation *op, const Twine &field,
                                         uint64_t number, unsigned index) {
  return set(op, arithmetic, field.str(), index, number);
}

LogicalResult ExecEncoder::setCode(Operation *op, const Twine &field,
                                   StringRef name) {
  const CodeTable *table = codesOf(arithmetic, field.str());
  const CodeValue *code = table ? table->find(name) : nullptr;
  if (!code)
    return op->emitOpError("not yet supported: no code is known for ")
           << name << " in " << field.str();
  return setArithmetic(op, field, code->value);
}

LogicalResult ExecEncoder::setGuard(Operation *op, rngd::Block block,
                                    const Twine &prefix, StringRef text) {
  vector::Guard guard = vector::Guard::parse(text).value_or(vector::Guard());
  codes::CmpOp compare = guard.isAlways() ? codes::CmpOp::Always
                         : guard.negated  ? codes::CmpOp::NotMatch
                                          : codes::CmpOp::Match;
  return success(
      succeeded(set(op, block, (prefix + "_cmp_op").str(), value(compare))) &&
      succeeded(set(op, block, (prefix + "_execution_id").str(), guard.id)) &&
      succeeded(
          set(op, block, (prefix + "_execution_id_mask").str(), guard.mask)));
}

LogicalResult ExecEncoder::useIndexer(Operation *op, const Twine &prefix,
                                      uint64_t module) {
  return success(
      succeeded(setArithmetic(op, prefix + "module", module)) &&
      succeeded(setArithmetic(op, prefix + "operation",
                              value(codes::IndexerOperation::On))) &&
      succeeded(setArithmetic(op, prefix + "proceed", 1)) &&
      succeeded(setArithmetic(op, prefix + "element_size",
                              value(codes::IndexerElementSize::Bytes4))));
}

LogicalResult ExecEncoder::encode(lir::VectorTagOp op) {
  if (failed(useArithmeticUnit(op)) ||
      failed(setArithmetic(op, "mode", value(codes::BranchMode::Compare))) ||
      failed(setArithmetic(op, "format",
                           value(op.getType().isF32()
                                     ? codes::BranchFormat::F32
                                     : codes::BranchFormat::I32))))
    return failure();
  for (unsigned bit = 0; bit < machine::vectorTagComparisons; ++bit) {
    bool isGiven = bit < op.getComparisons().size();
    StringRef name = "false";
    if (isGiven)
      name = cast<StringAttr>(op.getComparisons()[bit]).getValue();
    uint64_t boundary =
        isGiven ? static_cast<uint32_t>(op.getBoundaries()[bit]) : 0;
    auto comparison = vector::parseComparison(name);
    if (failed(setArithmetic(op, "compare_operation",
                             static_cast<uint64_t>(*comparison), bit)) ||
        failed(setArithmetic(op, "scalar_register", boundary, bit)))
      return failure();
  }
  return success();
}

LogicalResult ExecEncoder::encode(lir::VectorUnzipOp op) {
  return success(succeeded(useArithmeticUnit(op)) &&
                 succeeded(setArithmetic(
                     op, "mode", value(codes::BranchMode::AxisToggle))) &&
                 succeeded(setArithmetic(op, "group_size", op.getFlits())));
}

LogicalResult ExecEncoder::encode(lir::VectorAluOp op) {
  const vector::Operation &operation = *op.getAluOperation();
  vector::Cluster cluster = vector::clusterOf(operation.alu);
  std::string name = vector::toString(operation.alu).str();
  uint64_t module = 1 + static_cast<uint64_t>(operation.alu);
  vectorModule = module;
  if (failed(useArithmeticUnit(op)))
    return failure();
  // The ALU stands behind the last one of its cluster; the divider alone has
  // no route.
  if (cluster != vector::Cluster::FpDiv) {
    auto last = lastAlu.find(cluster);
    if (last != lastAlu.end() &&
        failed(setCode(op, name + "_source", vector::toString(last->second))))
      return failure();
    if (failed(
            setCode(op, vector::toString(cluster) + "_cluster_source", name)))
      return failure();
    if (last == lastAlu.end() && failed(setCode(op, name + "_source", "input")))
      return failure();
    lastAlu.insert_or_assign(cluster, operation.alu);
  }
  std::string mode = op.getArgMode().str();
  // fp_fma has codes for three arguments; of two the third does not count.
  if (operation.alu == vector::Alu::FpFma && operation.arity == 2)
    mode += "2";
  if (failed(setCode(op, name + ".op_mode", operation.code)) ||
      (operation.arity > 1 && failed(setCode(op, name + ".arg_mode", mode))))
    return failure();

  auto guardOf = [&](size_t slot) {
    return cast<StringAttr>(op.getGuards()[slot]).getValue();
  };
  if (operation.arity == 1)
    return setGuard(op, arithmetic, name + ".reg0", guardOf(0));
  size_t immediates = op.getImms().size();
  for (size_t k = 0; k < immediates; ++k)
    if (failed(
            setGuard(op, arithmetic, name + ".reg" + Twine(k), guardOf(k))) ||
        failed(setArithmetic(op, name + ".scalar",
                             static_cast<uint32_t>(op.getImms()[k]), k)))
      return failure();
  for (auto [k, second] : llvm::enumerate(op.getSeconds())) {
    if (k == machine::vectorOpImmediates)
      return op.emitOpError("not yet supported: fma with three immediates and "
                            "an operand from the register file");
    if (failed(setArithmetic(op, name + ".secondary_scalar",
                             static_cast<uint32_t>(second), k)))
      return failure();
  }
  if (!op.hasRegisterFileSlot())
    return success();
  if (failed(setGuard(op, arithmetic, name + ".rf", guardOf(immediates))))
    return failure();
  if (op.getStash()) {
    // A guarded stash is written by the ALU that reads it.
    auto stash = dyn_cast_or_null<lir::VectorStashOp>(op->getPrevNode());
    if (stash && stash.getGuard() != "----" &&
        failed(setArithmetic(op, "write_indexer_module", module)))
      return failure();
    return useIndexer(op, "operand_indexer_", module);
  }

  FailureOr<int64_t> start = address(op, op.getVrf());
  if (failed(start))
    return failure();
  if (numIndexers == machine::vectorReadIndexers)
    return op.emitOpError("not yet supported: more than ")
           << machine::vectorReadIndexers << " operands in vrf";
  std::string indexer = "read_indexer" + std::to_string(numIndexers++) + "_";
  if (failed(useIndexer(op, indexer, module)) ||
      failed(setArithmetic(op, indexer + "base", *start)))
    return failure();
  return setLoops(op, arithmetic, indexer + "limit", indexer + "stride",
                  *op.getSizes(), *op.getStrides());
}

LogicalResult ExecEncoder::encode(lir::VectorStashOp op) {
  return success(
      succeeded(useArithmeticUnit(op)) &&
      succeeded(setArithmetic(op, "write_indexer_module", vectorModule)) &&
      succeeded(setArithmetic(op, "write_indexer_operation",
                              value(codes::IndexerOperation::On))) &&
      succeeded(setGuard(op, arithmetic, "write", op.getGuard())));
}

LogicalResult ExecEncoder::encode(lir::VectorFxpToFpOp op) {
  return success(
      succeeded(useArithmeticUnit(op)) &&
      succeeded(setArithmetic(op, "fxp_to_fp_mode",
                              value(codes::AdapterMode::Convert))) &&
      succeeded(setArithmetic(op, "fxp_to_fp_int_width", op.getWidth())));
}

LogicalResult ExecEncoder::encode(lir::VectorFpToFxpOp op) {
  return success(
      succeeded(useArithmeticUnit(op)) &&
      succeeded(setArithmetic(op, "fp_to_fxp_mode",
                              value(codes::AdapterMode::Convert))) &&
      succeeded(setArithmetic(op, "fp_to_fxp_int_width", op.getWidth())));
}

LogicalResult ExecEncoder::encode(lir::VectorNarrowOp op) {
  vectorModule = value(codes::IndexerModule::Narrow);
  // Trim is the bypass of split.
  if (op.getKind() == lir::NarrowKind::Trim)
    return success();
  return success(succeeded(useArithmeticUnit(op)) &&
                 succeeded(setArithmetic(op, "split_layer_mode",
                                         value(codes::SplitMode::Split))));
}

LogicalResult ExecEncoder::encode(lir::VectorWidenOp op) {
  // Pad is the bypass of concat.
  if (op.getKind() == lir::WidenKind::Pad)
    return success();
  return success(succeeded(useArithmeticUnit(op)) &&
                 succeeded(setArithmetic(op, "concat_layer_mode",
                                         value(codes::ConcatMode::Concat))));
}

/// Dimensions of the valid count generator: one filter, and the clip, whose
/// slice match has no other use than to hold the span.
static constexpr unsigned filterDim = 0, clipDim = 3;

LogicalResult ExecEncoder::setValidCount(Operation *op, unsigned dim,
                                         int64_t count, int64_t match,
                                         ArrayRef<int64_t> sizes,
                                         ArrayRef<int64_t> strides) {
  addVectorBlocks();
  for (unsigned k = 0; k < machine::sequencerEntries; ++k)
    if (failed(set(op, vectorRoute, "allocated_original_dim", k, 1 + dim)))
      return failure();
  return success(
      succeeded(set(op, vectorRoute, "valid_generator_mode", 1)) &&
      succeeded(setLoops(op, vectorRoute, "lowered_limit", "lowered_stride",
                         sizes, strides)) &&
      succeeded(set(op, vectorRoute, "original_dim_valid_count", dim,
                    uint64_t(count))) &&
      succeeded(set(op, vectorRoute, "slice_id_match", dim, uint64_t(match))));
}

LogicalResult ExecEncoder::encode(lir::VectorValidClipOp op) {
  return setValidCount(op, clipDim, op.getCount(), op.getSpan(), op.getSizes(),
                       op.getStrides());
}

LogicalResult ExecEncoder::encode(lir::VectorValidFilterOp op) {
  return success(
      succeeded(setValidCount(op, filterDim, op.getCount(), op.getMatch(),
                              op.getSizes(), op.getStrides())) &&
      succeeded(set(op, vectorRoute, "original_dim_partition_config", filterDim,
                    op.getMajor())) &&
      succeeded(set(op, vectorRoute, "slice_mask", filterDim,
                    uint64_t(op.getMask()))));
}

LogicalResult ExecEncoder::encode(lir::VectorReduceOp op) {
  const auto *row = llvm::find_if(
      vector::intraSliceReductions(),
      [&](const vector::Reduction &r) { return r.code == op.getFunction(); });
  return success(
      succeeded(useArithmeticUnit(op)) &&
      succeeded(setArithmetic(op, "reduce_data_path",
                              value(codes::ReduceDataPath::Reduce))) &&
      succeeded(
          setArithmetic(op, "reduce_tree_depth",
                        value(op.getFold() ? codes::ReduceTreeDepth::Fold4
                                           : codes::ReduceTreeDepth::Pass))) &&
      succeeded(setCode(op, "reduce_row0_op_mode", op.getFunction())) &&
      succeeded(setArithmetic(op, "reduce_row0_acc_init", row->identity)) &&
      succeeded(setArithmetic(op, "acc_indexer_proceed", 1)) &&
      succeeded(
          setLimit(op, arithmetic, "accumulation_limit", 0, op.getCount())) &&
      succeeded(setLoops(op, arithmetic, "acc_indexer_limit",
                         "acc_indexer_stride", op.getSizes(),
                         op.getStrides())));
}

LogicalResult ExecEncoder::encode(lir::VectorCompactOp op) {
  return success(
      succeeded(useArithmeticUnit(op)) &&
      succeeded(set(op, vectorRoute, "collect_compaction_mode", 1)) &&
      succeeded(
          setGuard(op, vectorRoute, "collect_compaction", op.getGuard())));
}

LogicalResult ExecEncoder::encode(lir::CastOp op) {
  addVectorBlocks();
  for (const CastCodes &entry : getCasts(op.getContext())) {
    if (entry.from != op.getFrom() || entry.to != op.getTo())
      continue;
    if (failed(set(op, vectorRoute, "cast_compaction_mode", value(entry.mode))))
      return failure();
    return set(op, vectorRoute, "cast_compaction_count",
               value(codes::CastCompactionCount::Pad));
  }
  return op.emitOpError("not yet supported: no code is known for ")
         << op.getFrom() << " to " << op.getTo();
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

static LogicalResult buildTag(UnitBuilder &unit, const TagConfig &tag) {
  OpBuilder &builder = unit.builder;
  if (tag.mode == codes::BranchMode::AxisToggle)
    lir::VectorUnzipOp::create(builder, unit.loc, tag.groupFlits);
  if (tag.mode != codes::BranchMode::Compare)
    return success();
  SmallVector<StringRef> names;
  SmallVector<int32_t> boundaries;
  for (auto [comparison, boundary] :
       llvm::zip_equal(tag.comparisons, tag.boundaries)) {
    names.push_back(vector::toString(comparison));
    boundaries.push_back(static_cast<int32_t>(boundary));
  }
  Type type = tag.type == ElementType::F32 ? Type(builder.getF32Type())
                                           : Type(builder.getI32Type());
  lir::VectorTagOp::create(builder, unit.loc, type,
                           builder.getStrArrayAttr(names), boundaries);
  return success();
}

static LogicalResult buildAlu(UnitBuilder &unit, const AluConfig &alu) {
  OpBuilder &builder = unit.builder;
  SmallVector<int32_t> imms, seconds;
  SmallVector<Attribute> guards;
  for (const AluSlot &slot : alu.slots) {
    guards.push_back(builder.getStringAttr(slot.guard.str()));
    if (slot.source == AluSlot::Source::Immediate)
      imms.push_back(static_cast<int32_t>(slot.value));
    if (alu.operation->arity == 3)
      seconds.push_back(static_cast<int32_t>(slot.secondary));
  }
  Value vrf;
  DenseI64ArrayAttr sizes, strides;
  if (alu.reads(AluSlot::Source::Vrf)) {
    BufferUse use;
    use.tier = lir::Tier::Vrf;
    use.address = alu.base;
    use.bytes = getLastOffset(alu.loops) + 4;
    use.isStart = true;
    FailureOr<PlacedBuffer> operand = unit.buffers(use);
    if (failed(operand))
      return failure();
    LoopLists loops = getLoops(alu.loops);
    vrf = operand->buffer;
    sizes = builder.getDenseI64ArrayAttr(loops.sizes);
    strides = builder.getDenseI64ArrayAttr(loops.strides);
  }
  StringAttr mode;
  if (alu.mode != vector::defaultMode(alu.operation->arity))
    mode = builder.getStringAttr(alu.mode);
  lir::VectorAluOp::create(
      builder, unit.loc, static_cast<lir::Alu>(alu.operation->alu),
      alu.operation->code, imms, seconds, builder.getArrayAttr(guards),
      alu.reads(AluSlot::Source::Stash), vrf, sizes, strides, mode);
  return success();
}

static LogicalResult buildStep(UnitBuilder &unit, const VectorStep &step) {
  OpBuilder &builder = unit.builder;
  switch (step.kind) {
  case VectorStep::Kind::Alu:
    return buildAlu(unit, step.alu);
  case VectorStep::Kind::FxpToFp:
    lir::VectorFxpToFpOp::create(builder, unit.loc, int64_t(step.width));
    break;
  case VectorStep::Kind::FpToFxp:
    lir::VectorFpToFxpOp::create(builder, unit.loc, int64_t(step.width));
    break;
  case VectorStep::Kind::Split:
    lir::VectorNarrowOp::create(builder, unit.loc, lir::NarrowKind::Split);
    break;
  case VectorStep::Kind::Trim:
    lir::VectorNarrowOp::create(builder, unit.loc, lir::NarrowKind::Trim);
    break;
  case VectorStep::Kind::Concat:
    lir::VectorWidenOp::create(builder, unit.loc, lir::WidenKind::Concat);
    break;
  case VectorStep::Kind::Pad:
    lir::VectorWidenOp::create(builder, unit.loc, lir::WidenKind::Pad);
    break;
  case VectorStep::Kind::Reduce: {
    LoopLists loops = getLoops(step.reduce.loops);
    lir::VectorReduceOp::create(builder, unit.loc, step.reduce.row->code,
                                step.reduce.folds, loops.sizes, loops.strides,
                                int64_t(step.reduce.count));
    break;
  }
  }
  return success();
}

static void buildValid(UnitBuilder &unit, const ValidConfig &valid) {
  LoopLists loops = getLoops(valid.loops);
  if (valid.isClip)
    lir::VectorValidClipOp::create(unit.builder, unit.loc, int64_t(valid.count),
                                   int64_t(valid.span), loops.sizes,
                                   loops.strides);
  else
    lir::VectorValidFilterOp::create(
        unit.builder, unit.loc, int64_t(valid.mask), int64_t(valid.match),
        valid.isMajor, int64_t(valid.count), loops.sizes, loops.strides);
}

LogicalResult rngd::buildVector(UnitBuilder &unit, const VectorConfig &config) {
  OpBuilder &builder = unit.builder;
  if (config.valid)
    buildValid(unit, *config.valid);
  auto buildSliceReduce = [&](bool isFirst) {
    if (!config.sliceReduce || config.sliceReduce->isFirst != isFirst)
      return;
    const SliceReduceConfig &reduce = *config.sliceReduce;
    LoopLists loops = getLoops(reduce.loops);
    lir::VectorSliceReduceOp::create(builder, unit.loc, reduce.row->unit,
                                     reduce.row->code, int64_t(reduce.slices),
                                     int64_t(reduce.mask), loops.sizes,
                                     loops.strides);
  };
  buildSliceReduce(/*isFirst=*/true);
  if (failed(buildTag(unit, config.tag)))
    return failure();
  for (size_t k = 0; k <= config.chain.size(); ++k) {
    if (config.stash && config.stash->position == k)
      lir::VectorStashOp::create(builder, unit.loc, config.stash->guard.str());
    if (k < config.chain.size() && failed(buildStep(unit, config.chain[k])))
      return failure();
  }
  buildSliceReduce(/*isFirst=*/false);
  if (config.compaction)
    lir::VectorCompactOp::create(builder, unit.loc, config.compaction->str());
  if (config.cast == CastCompactionMode::Off)
    return success();
  for (const CastCodes &entry : getCasts(builder.getContext())) {
    if (entry.mode != config.cast)
      continue;
    lir::CastOp::create(builder, unit.loc, entry.from, entry.to);
    return success();
  }
  return emitError(unit.loc)
         << "not yet supported: " << toString(vectorRoute)
         << ": cast_compaction_mode " << unsigned(config.cast);
}
