//===- Fetch.cpp - Fetch and collect in registers -------------------------===//

#include "ExecTranslation.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::rngd;
using codes::FetchCast;

namespace {
struct Conversion {
  FetchCast code;
  Type from;
  Type to;
};
} // namespace

/// The conversions of the fetch adapter (TU-6).
static SmallVector<Conversion, 8> getConversions(MLIRContext *context) {
  Builder b(context);
  Type f32 = b.getF32Type(), bf16 = b.getBF16Type(), i32 = b.getI32Type();
  return {{FetchCast::I4ToI32, b.getIntegerType(4), i32},
          {FetchCast::I8ToI32, b.getI8Type(), i32},
          {FetchCast::I16ToI32, b.getI16Type(), i32},
          {FetchCast::F8E4M3ToF32, Float8E4M3FNType::get(context), f32},
          {FetchCast::F8E5M2ToF32, Float8E5M2Type::get(context), f32},
          {FetchCast::BF16ToF32, bf16, f32},
          {FetchCast::F32ToBF16, f32, bf16}};
}

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
  return set(op, block, "words_per_packet",
             op.getPacket() / machine::accessWordBytes);
}

LogicalResult ExecEncoder::encode(lir::FetchAdapterOp op) {
  for (const Conversion &conversion : getConversions(op.getContext()))
    if (conversion.from == op.getFrom() && conversion.to == op.getTo())
      return set(op, fetchBlock(), "type_conversion",
                 codes::value(conversion.code));
  return op.emitOpError("not yet supported: no code is known for ")
         << op.getFrom() << " to " << op.getTo();
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
  lir::FetchSequencerOp::create(unit.builder, unit.loc, source->buffer,
                                config.base - source->address, loops.sizes,
                                loops.strides, config.readBytes,
                                config.packetBytes, config.flits);
  if (config.cast != FetchCast::None) {
    auto conversions = getConversions(unit.builder.getContext());
    const auto *found =
        llvm::find_if(conversions, [&](const Conversion &conversion) {
          return conversion.code == config.cast;
        });
    if (found == conversions.end())
      return emitError(unit.loc)
             << "not yet supported: type_conversion "
             << static_cast<unsigned>(config.cast) << " of fetch";
    lir::FetchAdapterOp::create(unit.builder, unit.loc, found->from, found->to);
  }
  lir::CollectOp::create(unit.builder, unit.loc, config.flitsPerPacket);
  return success();
}
