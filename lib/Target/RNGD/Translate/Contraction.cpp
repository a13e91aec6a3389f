//===- Contraction.cpp - The dot-product engine in registers --------------===//

#include "ExecTranslation.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::rngd;
using codes::FeedDataType;
using codes::MacType;
using codes::TrfDataType;

namespace {
/// The three codes of an element type.
struct TypeCodes {
  /// As fetched, not promoted.
  lir::FeedType type;
  ElementType element;
  MacType mac;
  FeedDataType feed;
  TrfDataType stored;
};
} // namespace

static constexpr TypeCodes typeCodes[] = {
    {lir::FeedType::RawInt4, ElementType::I4, MacType::Int4,
     FeedDataType::Bits4, TrfDataType::I5},
    {lir::FeedType::RawInt8, ElementType::I8, MacType::Int8,
     FeedDataType::Bits8, TrfDataType::I9},
    {lir::FeedType::RawF8E4M3, ElementType::F8E4M3, MacType::F8E4M3,
     FeedDataType::Bits8, TrfDataType::F8},
    {lir::FeedType::RawF8E5M2, ElementType::F8E5M2, MacType::F8E5M2,
     FeedDataType::Bits8, TrfDataType::F8},
    {lir::FeedType::RawBF16, ElementType::BF16, MacType::BF16,
     FeedDataType::Bits16, TrfDataType::BF16},
};

static constexpr rngd::Block dpe = rngd::Block::DotProductEngineMainContext;

LogicalResult ExecEncoder::encode(lir::FeedBufferOp op) {
  addToRoute(codes::RouteUnit::DotProductEngine);
  const auto *found = llvm::find_if(typeCodes, [&](const TypeCodes &entry) {
    return lir::getPromoted(entry.type) == op.getPromoted();
  });
  if (found == std::end(typeCodes))
    return op.emitOpError("not yet supported: no code is known for ")
           << lir::stringifyFeedType(op.getPromoted());
  if (failed(set(op, dpe, "mac_type", codes::value(found->mac))) ||
      failed(set(op, dpe, "feed_data_type", codes::value(found->feed))) ||
      failed(set(op, dpe, "register_file_read_data_type",
                 codes::value(found->stored))) ||
      failed(set(op, dpe, "flits_per_input",
                 static_cast<uint64_t>(op.getCollectFlits()))))
    return failure();
  return set(op, dpe, "mac_rows", op.getLanes());
}

LogicalResult ExecEncoder::encode(lir::TrfSequencerOp op) {
  FailureOr<int64_t> start = address(op, op.getSource());
  if (failed(start))
    return failure();
  weightSizes.assign(op.getSizes().begin(), op.getSizes().end());
  int64_t broadcast = llvm::count_if(
      op.getSizes().take_back(static_cast<size_t>(op.getBroadcast())),
      [](int64_t size) { return size != 1; });
  if (failed(set(op, dpe, "reg_indexer_base", *start + op.getBase())) ||
      failed(setLoops(op, dpe, "iter_seq_limits", "reg_indexer_strides",
                      op.getSizes(), op.getStrides())) ||
      failed(set(op, dpe, "pop_dim", broadcast)))
    return failure();
  return set(op, dpe, "reg_read_log_size", llvm::Log2_64(op.getRead()));
}

LogicalResult ExecEncoder::encode(lir::PacketReducerOp op) {
  if (failed(set(op, dpe, "operation", codes::value(codes::MacOperation::Add))))
    return failure();
  if (failed(set(op, dpe, "depth", op.getDepth())))
    return failure();
  return set(op, dpe, "acc_cols", op.getColumns());
}

LogicalResult ExecEncoder::encode(lir::TimeReducerOp op) {
  if (op.getStrides().size() != weightSizes.size())
    return op.emitOpError("needs a stride for each loop of trf_sequencer");
  if (failed(set(op, dpe, "acc_reset", 1)) ||
      failed(setLimit(op, dpe, "acc_limit", 0, op.getCount())))
    return failure();
  return setLoops(op, dpe, "iter_seq_limits", "acc_indexer_strides",
                  weightSizes, op.getStrides());
}

LogicalResult ExecEncoder::encode(lir::LaneFolderOp op) {
  auto order = op.getMode() == lir::LaneMode::Interleaved
                   ? codes::OutputMajor::Interleaved
                   : codes::OutputMajor::Sequential;
  return set(op, dpe, "output_major", codes::value(order));
}

LogicalResult rngd::buildContraction(UnitBuilder &unit,
                                     const DotProductConfig &config,
                                     bool isWide) {
  const auto *codes = llvm::find_if(typeCodes, [&](const TypeCodes &entry) {
    return entry.element == config.type;
  });
  if (codes == std::end(typeCodes) || config.initialValue != 0)
    return emitError(unit.loc)
           << "not yet supported: " << toString(dpe)
           << (config.initialValue ? ".accumulation.acc_init_value: sums that "
                                     "start with "
                                   : ".mac_tree.mac_type: ")
           << (config.initialValue ? config.initialValue
                                   : unsigned(config.type));
  BufferUse use;
  use.tier = lir::Tier::Trf;
  use.address = config.weightBase;
  use.bytes = getLastOffset(config.weights) + config.weightBytes;
  use.lanes = config.lanes;
  FailureOr<PlacedBuffer> weights = unit.buffers(use);
  if (failed(weights))
    return failure();
  auto type = cast<lir::MemType>(weights->buffer.getType());
  int64_t bits = wireBits(config.type);
  OpBuilder &builder = unit.builder;
  lir::FeedBufferOp::create(
      builder, unit.loc, isWide ? lir::getPromoted(codes->type) : codes->type,
      config.flitsPerInput == 2 ? lir::Flits::Flit2 : lir::Flits::Flit1,
      config.steps, config.packetElements(), codes->type, config.lanes,
      type.getBytesPerLane() * 8 / bits, lir::getPromoted(codes->type),
      config.lanes, config.stepsPerInput);

  LoopLists loops = getLoops(config.weights);
  lir::TrfSequencerOp::create(
      builder, unit.loc, weights->buffer, config.weightBase - weights->address,
      loops.sizes, loops.strides, config.weightBytes, config.broadcastLoops);
  Type accumulator = isFloat(config.type) ? Type(builder.getF32Type())
                                          : Type(builder.getI32Type());
  lir::PacketReducerOp::create(builder, unit.loc, config.depth, config.columns,
                               accumulator);
  lir::TimeReducerOp::create(builder, unit.loc, config.slots,
                             config.accumulations,
                             getLoops(config.slotLoops).strides);
  lir::LaneFolderOp::create(builder, unit.loc,
                            config.interleaved ? lir::LaneMode::Interleaved
                                               : lir::LaneMode::Sequential,
                            config.lanes);
  return success();
}
