//===- Commit.cpp - The commit units in registers -------------------------===//

#include "ExecTranslation.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::rngd;

rngd::Block ExecEncoder::commitBlock() {
  return isMain() ? Block::CommitUnitMainContext : Block::SubCommitUnit;
}

LogicalResult ExecEncoder::encode(lir::CommitAdapterOp op) {
  addToRoute(codes::RouteUnit::CommitUnit);
  Block block = commitBlock();
  // The sub context takes words of 8 bytes and counts the bytes kept.
  // lir numbers the conversions as the field does.
  if (auto cast = op.getCast())
    if (failed(set(op, block, "type_conversion", uint64_t(*cast))))
      return failure();
  uint64_t taken = isMain() ? op.getIn() : machine::subCommitBytes;
  if (failed(set(op, block, "commit_in_size", taken)))
    return failure();
  return set(op, block, isMain() ? "commit_size" : "packet_valid_count",
             op.getKeep());
}

LogicalResult ExecEncoder::encode(lir::CommitSequencerOp op) {
  FailureOr<int64_t> start = address(op, op.getTarget());
  if (failed(start))
    return failure();
  Block block = commitBlock();
  if (failed(set(op, block, "base", *start + op.getBase())) ||
      failed(setLoops(op, block, "limits", "strides", op.getSizes(),
                      op.getStrides())))
    return failure();
  std::array<uint64_t, 4> enabled = {};
  ArrayRef<int64_t> slices = op.getSlices();
  for (size_t i = 0; i + 1 < slices.size(); i += 2)
    for (int64_t slice = slices[i]; slice <= slices[i + 1]; ++slice) {
      if (slice < 0 || slice >= int64_t(machine::slicesPerCluster))
        return op.emitOpError("a cluster has no slice ") << slice;
      enabled[slice / 64] |= 1ull << (slice % 64);
    }
  for (auto [k, mask] : llvm::enumerate(enabled))
    if (failed(set(op, block, "slice_enable_bitmap_mask" + std::to_string(k),
                   mask)))
      return failure();
  return success();
}

LogicalResult rngd::buildCommit(UnitBuilder &unit, const CommitConfig &config) {
  BufferUse use;
  use.address = config.base;
  use.bytes = getLastOffset(config.loops) + config.writeBytes;
  use.isWrite = true;
  FailureOr<PlacedBuffer> target = unit.buffers(use);
  if (failed(target))
    return failure();
  SmallVector<int64_t> slices;
  for (unsigned slice = 0; slice < machine::slicesPerCluster; ++slice) {
    if (!config.isEnabled(slice))
      continue;
    if (!slices.empty() && slices.back() + 1 == int64_t(slice))
      slices.back() = slice;
    else
      slices.append({slice, slice});
  }
  if (slices.empty())
    return emitError(unit.loc)
           << "not yet supported: slice_enable_bitmap: no slice commits";
  LoopLists loops = getLoops(config.loops);
  lir::CommitCastAttr cast;
  if (config.cast != codes::CommitCast::None)
    cast = lir::CommitCastAttr::get(unit.builder.getContext(),
                                    static_cast<lir::CommitCast>(config.cast));
  lir::CommitAdapterOp::create(unit.builder, unit.loc,
                               int64_t(machine::flitBytes), config.keptBytes,
                               cast);
  lir::CommitSequencerOp::create(unit.builder, unit.loc, target->buffer,
                                 Value(), config.base - target->address,
                                 loops.sizes, loops.strides, config.writeBytes,
                                 slices);
  return success();
}
