//===- Fetch.cpp - Fetch and collect in registers -------------------------===//

#include "ExecTranslation.h"
#include "furiosa/Dialect/Utils/ElementTypes.h"
#include "furiosa/Target/RNGD/Conversions.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::rngd;

rngd::Block ExecEncoder::fetchBlock() {
  return isMain() ? Block::FetchUnitMainContext : Block::SubFetchUnit;
}

LogicalResult ExecEncoder::encode(lir::FetchSequencerOp op) {
  FailureOr<int64_t> start = address(op, op.getSource());
  if (failed(start))
    return failure();
  Block block = fetchBlock();
  // The sub context always reads 8 bytes and has no field for it.
  if (isMain() && failed(set(op, block, "fetch_size", op.getRead())))
    return failure();
  if (failed(set(op, block, "base", *start + op.getBase())) ||
      failed(setLoops(op, block, "limits", "strides", op.getSizes(),
                      op.getStrides())) ||
      failed(set(op, block, "flit_count", op.getFlits())))
    return failure();
  return set(
      op, block, "words_per_packet",
      llvm::divideCeil(op.getPacket(), int64_t(machine::accessWordBytes)));
}

/// The code of a conversion; an error where there is none.
template <typename Op>
static FailureOr<uint64_t> getCode(Op op, AdapterStage stage) {
  auto from = furiosa::getElementType(op.getFrom());
  auto to = furiosa::getElementType(op.getTo());
  const FetchConversion *found =
      from && to ? findConversion(stage, *from, *to) : nullptr;
  if (found)
    return found->code;
  return op.emitOpError("not yet supported: no code is known for ")
         << op.getFrom() << " to " << op.getTo();
}

LogicalResult ExecEncoder::encode(lir::TableLookupOp op) {
  FailureOr<uint64_t> code = getCode(op, AdapterStage::TableLookup);
  if (failed(code))
    return failure();
  if (failed(set(op, fetchBlock(), "fetch_mode",
                 codes::value(codes::FetchMode::TableLookup))) ||
      failed(set(op, fetchBlock(), "table_entry_size", *code)))
    return failure();
  return set(op, fetchBlock(), "tables", 1);
}

LogicalResult ExecEncoder::encode(lir::FetchAdapterOp op) {
  FailureOr<uint64_t> code = getCode(op, AdapterStage::Cast);
  if (failed(code))
    return failure();
  return set(op, fetchBlock(), "type_conversion", *code);
}

LogicalResult ExecEncoder::encode(lir::ZeroPointSubOp op) {
  FailureOr<uint64_t> code = getCode(op, AdapterStage::ZeroPoint);
  if (failed(code))
    return failure();
  if (failed(set(op, fetchBlock(), "type_conversion", *code)) ||
      failed(set(op, fetchBlock(), "num_zero_points", 1)))
    return failure();
  return set(op, fetchBlock(), "zero_point",
             static_cast<uint8_t>(op.getZeroPoint()));
}

LogicalResult ExecEncoder::encode(lir::SwitchOp op) {
  // lir numbers the topologies as the field does.
  Block block = fetchBlock();
  if (failed(set(op, block, "topology", uint64_t(op.getTopology()))))
    return failure();
  if (op.getTopology() == lir::Topology::Forwarding)
    return success();
  for (auto [field, size] : llvm::zip(
           ArrayRef<StringRef>({"outer_slice_log_size", "outer_dim1_log_size",
                                "outer_dim0_log_size"}),
           op.getSlices()))
    if (failed(set(op, block, field, llvm::Log2_64(size))))
      return failure();
  bool splitsTime = op.getTopology() == lir::Topology::Broadcast01 ||
                    op.getTopology() == lir::Topology::InterTranspose;
  return set(op, block, "outer_dim0_chunk_size",
             splitsTime ? op.getTime0() : 0);
}

LogicalResult ExecEncoder::encode(lir::CollectOp) {
  // Flits follow from words_per_packet.
  return success();
}

LogicalResult rngd::buildFetch(UnitBuilder &unit, const FetchConfig &config) {
  BufferUse use;
  use.address = config.base;
  use.bytes = getLastOffset(config.loops) + config.readBytes;
  use.slack = std::max(config.readBytes, config.packetBytes) - 1;
  FailureOr<PlacedBuffer> source = unit.buffers(use);
  if (failed(source))
    return failure();
  LoopLists loops = getLoops(config.loops);
  OpBuilder &builder = unit.builder;
  lir::FetchSequencerOp::create(
      builder, unit.loc, source->buffer, config.base - source->address,
      loops.sizes, loops.strides, config.readBytes, config.packetBytes,
      int64_t(config.packets) * config.flitsPerPacket);
  auto type = [&](ElementType element) {
    return getMLIRType(builder.getContext(), element);
  };
  if (config.lookup)
    lir::TableLookupOp::create(builder, unit.loc, type(config.lookup->from),
                               type(config.lookup->to));
  if (config.subtractsZeroPoint())
    lir::ZeroPointSubOp::create(builder, unit.loc, config.zeroPoint,
                                type(config.cast->from), type(config.cast->to));
  else if (config.cast)
    lir::FetchAdapterOp::create(builder, unit.loc, type(config.cast->from),
                                type(config.cast->to));
  if (const std::optional<SwitchConfig> &exchange = config.exchange)
    lir::SwitchOp::create(
        builder, unit.loc, static_cast<lir::Topology>(exchange->topology),
        {exchange->slice2, exchange->slice1, exchange->slice0},
        exchange->time0);
  lir::CollectOp::create(builder, unit.loc, config.flitsPerPacket);
  return success();
}
