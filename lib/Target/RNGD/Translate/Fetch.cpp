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
  int64_t base = *start + op.getBase();
  SmallVector<int64_t> strides(op.getStrides());
  if (op.getOther()) {
    FailureOr<int64_t> other = address(op, op.getOther());
    if (failed(other))
      return failure();
    // Addresses wrap, so that a step back is one of the field's width.
    strides[op.getPairLoop()] =
        (*other + op.getOtherBase() - base) &
        ((int64_t(1) << machine::sequencerStrideBits) - 1);
  }
  if (failed(set(op, block, "base", base)) ||
      failed(
          setLoops(op, block, "limits", "strides", op.getSizes(), strides)) ||
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
  static constexpr StringRef sizeFields[] = {
      "outer_slice_log_size", "outer_dim1_log_size", "outer_dim0_log_size"};
  for (auto [field, size] : llvm::zip(sizeFields, op.getSlices()))
    if (failed(set(op, block, field, llvm::Log2_64(size))))
      return failure();
  bool splitsTime = op.getTopology() == lir::Topology::Broadcast01 ||
                    op.getTopology() == lir::Topology::InterTranspose;
  return set(op, block, "outer_dim0_chunk_size",
             splitsTime ? op.getTime0() : 0);
}

LogicalResult ExecEncoder::encode(lir::CustomSwitchOp op) {
  snoopBitmaps = op.getSnoopBitmaps();
  int64_t ring = op.getRing();
  if (failed(set(op, fetchBlock(), "topology",
                 codes::value(codes::Topology::CustomBroadcast))) ||
      failed(set(op, fetchBlock(), "outer_slice_log_size",
                 llvm::Log2_64(snoopBitmaps.size() / ring))))
    return failure();
  return set(op, fetchBlock(), "outer_dim0_log_size", llvm::Log2_64(ring));
}

LogicalResult ExecEncoder::encode(lir::CollectOp) {
  // Flits follow from words_per_packet.
  return success();
}

/// Finds the loops of lir in what each slice gets.
static LogicalResult buildCustomSwitch(UnitBuilder &unit,
                                       const SwitchConfig &config) {
  int64_t ring = config.slice0, copies = config.copies();
  auto sendersOf = [&](int64_t slice) {
    return ArrayRef(config.senders).slice(slice * copies, copies);
  };
  // The packets of slice 0 come from where their loops reach. The innermost
  // loop goes on while its stride does, the next one from there.
  ArrayRef<uint8_t> first = sendersOf(0);
  SmallVector<int64_t> packetSizes, packetStrides;
  for (int64_t inner = 1; inner < copies;) {
    int64_t stride = first[inner] - first[0], size = 2;
    while (inner * (size + 1) <= copies &&
           first[inner * size] - first[0] == size * stride)
      ++size;
    packetSizes.insert(packetSizes.begin(), size);
    packetStrides.insert(packetStrides.begin(), stride);
    inner *= size;
  }
  // Each binary digit of a slice moves the senders within their ring.
  auto moved = [&](int64_t slice, int64_t offset) {
    SmallVector<uint8_t> senders;
    for (uint8_t sender : first)
      senders.push_back(slice / ring * ring + (sender + offset) % ring);
    llvm::sort(senders);
    return ArrayRef(senders) == sendersOf(slice);
  };
  SmallVector<int64_t> sliceSizes, sliceStrides;
  for (int64_t digit = 1; digit < int64_t(config.slices()); digit *= 2) {
    // Where a ring ends the offset is a multiple of it.
    int64_t offset = digit >= ring ? digit : 0;
    while (digit < ring && offset < ring && !moved(digit, offset))
      ++offset;
    if (!sliceStrides.empty() &&
        offset == sliceStrides.front() * sliceSizes.front())
      sliceSizes.front() *= 2;
    else {
      sliceSizes.insert(sliceSizes.begin(), 2);
      sliceStrides.insert(sliceStrides.begin(), offset);
    }
  }
  auto op =
      lir::CustomSwitchOp::create(unit.builder, unit.loc, ring, sliceSizes,
                                  sliceStrides, packetSizes, packetStrides);
  for (auto [slice, bitmap] : llvm::enumerate(op.getSnoopBitmaps())) {
    std::array<uint64_t, 4> expected = {};
    for (uint8_t sender : sendersOf(slice))
      expected[sender / 64] |= uint64_t(1) << sender % 64;
    if (bitmap != expected)
      return emitError(unit.loc) << "not yet supported: custom_snoop_bitmap of "
                                    "slice "
                                 << slice << " follows no loops";
  }
  return success();
}

namespace {
/// What a fetch reads: one buffer, or two that a loop of 2 tells apart.
struct FetchSources {
  PlacedBuffer source;
  std::optional<PlacedBuffer> other;
  /// Of two: offset of the other one, and the place of the loop from outside.
  int64_t offset = 0, pairLoop = 0;
};
} // namespace

/// Finds what the loops read; where no buffer holds it all, takes a loop of 2
/// for the index of two buffers of one size.
static FailureOr<FetchSources> findSources(UnitBuilder &unit,
                                           const FetchConfig &config) {
  BufferUse use;
  use.address = config.base;
  use.bytes = getLastOffset(config.loops) + config.readBytes;
  use.isProbe = true;
  bool stepsBack = llvm::any_of(
      config.loops, [](const HardwareLoop &loop) { return loop.stride < 0; });
  if (!stepsBack)
    if (FailureOr<PlacedBuffer> source = unit.buffers(use); succeeded(source))
      return FetchSources{*source, std::nullopt};
  int64_t place = 0;
  for (size_t k = config.loops.size(); k-- > 0;) {
    const HardwareLoop &loop = config.loops[k];
    if (loop.limit == 2) {
      HardwareLoops rest = config.loops;
      rest[k].stride = 0;
      use.bytes = getLastOffset(rest) + config.readBytes;
      use.address = config.base;
      FailureOr<PlacedBuffer> source = unit.buffers(use);
      use.address += loop.stride;
      FailureOr<PlacedBuffer> other = unit.buffers(use);
      if (succeeded(source) && succeeded(other) &&
          source->buffer.getType() == other->buffer.getType())
        return FetchSources{*source, *other, loop.stride, place};
    }
    place += loop.limit != 1;
  }
  // Says what is missing.
  use.address = config.base;
  use.bytes = getLastOffset(config.loops) + config.readBytes;
  use.isProbe = false;
  FailureOr<PlacedBuffer> source = unit.buffers(use);
  if (failed(source))
    return failure();
  return FetchSources{*source, std::nullopt};
}

LogicalResult rngd::buildFetch(UnitBuilder &unit, const FetchConfig &config) {
  FailureOr<FetchSources> sources = findSources(unit, config);
  if (failed(sources))
    return failure();
  const PlacedBuffer &source = sources->source;
  const std::optional<PlacedBuffer> &other = sources->other;
  LoopLists loops = getLoops(config.loops);
  if (other)
    loops.strides[sources->pairLoop] = 0;
  OpBuilder &builder = unit.builder;
  lir::FetchSequencerOp::create(
      builder, unit.loc, source.buffer, Value(), config.base - source.address,
      other ? other->buffer : Value(),
      other ? config.base + sources->offset - other->address : 0,
      sources->pairLoop, loops.sizes, loops.strides, config.readBytes,
      config.packetBytes, int64_t(config.packets) * config.flitsPerPacket);
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
  const std::optional<SwitchConfig> &exchange = config.exchange;
  if (exchange && !exchange->senders.empty()) {
    if (failed(buildCustomSwitch(unit, *exchange)))
      return failure();
  } else if (exchange)
    lir::SwitchOp::create(
        builder, unit.loc, static_cast<lir::Topology>(exchange->topology),
        {exchange->slice2, exchange->slice1, exchange->slice0},
        exchange->time0);
  lir::CollectOp::create(builder, unit.loc, config.flitsPerPacket);
  return success();
}
