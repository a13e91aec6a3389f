//===- Vector.cpp - The vector engine and the cast in registers -----------===//

#include "ExecTranslation.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::rngd;
using codes::CastCompactionMode;
using codes::IndexerModule;

namespace {
/// An ALU with the code of its inputs.
struct AluCodes {
  lir::Alu alu;
  IndexerModule module;
  codes::FxpSource source;
};
struct OpCodes {
  lir::AluOp op;
  IndexerModule module;
  uint64_t code;
};
struct CastCodes {
  CastCompactionMode mode;
  Type from;
  Type to;
};
} // namespace

static constexpr AluCodes aluCodes[] = {
    {lir::Alu::FxpAdd, IndexerModule::FxpAdd, codes::FxpSource::FxpAdd},
    {lir::Alu::FxpLshift, IndexerModule::FxpLeftShift,
     codes::FxpSource::FxpLeftShift},
    {lir::Alu::FxpMul, IndexerModule::FxpMul, codes::FxpSource::FxpMul},
    {lir::Alu::FxpRshift, IndexerModule::FxpRightShift,
     codes::FxpSource::FxpRightShift},
};

static constexpr OpCodes opCodes[] = {
    {lir::AluOp::Add, IndexerModule::FxpAdd, value(codes::FxpAddOp::Add)},
    {lir::AluOp::AddSat, IndexerModule::FxpAdd, value(codes::FxpAddOp::AddSat)},
    {lir::AluOp::Sub, IndexerModule::FxpAdd, value(codes::FxpAddOp::Sub)},
    {lir::AluOp::SubSat, IndexerModule::FxpAdd, value(codes::FxpAddOp::SubSat)},
    {lir::AluOp::Shl, IndexerModule::FxpLeftShift,
     value(codes::FxpLeftShiftOp::Shl)},
    {lir::AluOp::ShlSat, IndexerModule::FxpLeftShift,
     value(codes::FxpLeftShiftOp::ShlSat)},
    {lir::AluOp::MulFxp, IndexerModule::FxpMul, value(codes::FxpMulOp::MulFxp)},
    {lir::AluOp::MulInt, IndexerModule::FxpMul, value(codes::FxpMulOp::MulInt)},
    {lir::AluOp::Shr, IndexerModule::FxpRightShift,
     value(codes::FxpRightShiftOp::Shr)},
    {lir::AluOp::Sar, IndexerModule::FxpRightShift,
     value(codes::FxpRightShiftOp::Sar)},
};

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

static const AluCodes &getCodes(lir::Alu alu) {
  for (const AluCodes &entry : aluCodes)
    if (entry.alu == alu)
      return entry;
  llvm_unreachable("every ALU of lir has codes");
}

/// "fxp_add", as fields of the ALU begin.
static StringRef getFieldPrefix(IndexerModule alu) {
  const CodeTable *table = codesOf(arithmetic, "read_indexer0_module");
  const CodeValue *code = table->find(value(alu));
  return code ? code->name : StringRef();
}

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

LogicalResult ExecEncoder::encode(lir::VectorAluOp op) {
  addVectorBlocks();
  const AluCodes &alu = getCodes(op.getAlu());
  const auto *operation = llvm::find_if(opCodes, [&](const OpCodes &entry) {
    return entry.op == op.getFunction() && entry.module == alu.module;
  });
  if (operation == std::end(opCodes))
    return op.emitOpError("not yet supported: no code is known for ")
           << lir::stringifyAluOp(op.getFunction());
  std::string name = getFieldPrefix(alu.module).str();
  auto setField = [&](const Twine &field, uint64_t number) {
    return set(op, arithmetic, field.str(), number);
  };

  // The stream enters the arithmetic unit, and this ALU behind the last one.
  auto input =
      chain.empty() ? codes::FxpSource::Input : getCodes(chain.back()).source;
  chain.push_back(op.getAlu());
  if (failed(set(op, vectorRoute, "data_out_source",
                 value(codes::DataOutSource::ArithmeticUnit))) ||
      failed(set(op, vectorRoute, "arithmetic_unit_in_source",
                 value(codes::ArithmeticUnitInSource::Stream))) ||
      failed(setField(name + "_source", value(input))) ||
      failed(setField("fxp_cluster_source", value(alu.source))) ||
      failed(setField(name + ".op_mode", operation->code)) ||
      failed(
          setField(name + ".arg_mode", value(codes::ArgMode::StreamOperand))))
    return failure();
  uint64_t always = value(codes::CmpOp::Always);
  if (std::optional<int32_t> imm = op.getImm()) {
    if (failed(setField(name + ".reg0_cmp_op", always)))
      return failure();
    return setField(name + ".scalar", static_cast<uint32_t>(*imm));
  }

  FailureOr<int64_t> start = address(op, op.getVrf());
  if (failed(start))
    return failure();
  if (numIndexers == machine::vectorReadIndexers)
    return op.emitOpError("not yet supported: more than ")
           << machine::vectorReadIndexers << " operands in vrf";
  std::string indexer = "read_indexer" + std::to_string(numIndexers++) + "_";
  if (failed(setField(name + ".rf_cmp_op", always)) ||
      failed(setField(indexer + "module", value(alu.module))) ||
      failed(setField(indexer + "operation",
                      value(codes::IndexerOperation::On))) ||
      failed(setField(indexer + "proceed", 1)) ||
      failed(setField(indexer + "element_size",
                      value(codes::IndexerElementSize::Bytes4))) ||
      failed(setField(indexer + "base", *start)))
    return failure();
  return setLoops(op, arithmetic, indexer + "limit", indexer + "stride",
                  *op.getSizes(), *op.getStrides());
}

LogicalResult ExecEncoder::encode(lir::CastOp op) {
  addVectorBlocks();
  if (chain.empty() && failed(set(op, vectorRoute, "data_out_source",
                                  value(codes::DataOutSource::Stream))))
    return failure();
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

LogicalResult rngd::buildVector(UnitBuilder &unit, const VectorConfig &config) {
  OpBuilder &builder = unit.builder;
  for (const AluConfig &alu : config.chain) {
    const auto *known = llvm::find_if(aluCodes, [&](const AluCodes &entry) {
      return entry.module == alu.alu;
    });
    const auto *operation = llvm::find_if(opCodes, [&](const OpCodes &entry) {
      return entry.module == alu.alu && entry.code == alu.op;
    });
    StringRef name = getFieldPrefix(alu.alu);
    if (known == std::end(aluCodes) || operation == std::end(opCodes))
      return emitError(unit.loc)
             << "not yet supported: " << toString(arithmetic) << ": " << name
             << ".op_mode " << unsigned(alu.op);
    if (alu.args != codes::ArgMode::StreamOperand)
      return emitError(unit.loc)
             << "not yet supported: " << toString(arithmetic) << ": " << name
             << ".arg_mode " << unsigned(alu.args);
    if (!alu.hasVrfOperand) {
      lir::VectorAluOp::create(
          builder, unit.loc, known->alu, operation->op,
          builder.getI32IntegerAttr(static_cast<int32_t>(alu.immediate)),
          Value(), DenseI64ArrayAttr(), DenseI64ArrayAttr());
      continue;
    }
    BufferUse use;
    use.tier = lir::Tier::Vrf;
    use.address = alu.base;
    use.bytes = getLastOffset(alu.loops) + 4;
    use.isStart = true;
    FailureOr<PlacedBuffer> operand = unit.buffers(use);
    if (failed(operand))
      return failure();
    LoopLists loops = getLoops(alu.loops);
    lir::VectorAluOp::create(builder, unit.loc, known->alu, operation->op,
                             IntegerAttr(), operand->buffer,
                             builder.getDenseI64ArrayAttr(loops.sizes),
                             builder.getDenseI64ArrayAttr(loops.strides));
  }
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
