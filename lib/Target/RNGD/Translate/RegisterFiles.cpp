//===- RegisterFiles.cpp - Stores into TRF and VRF in registers -----------===//

#include "ExecTranslation.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::rngd;

LogicalResult ExecEncoder::encode(lir::TrfStoreOp op) {
  FailureOr<int64_t> start = address(op, op.getTarget());
  if (failed(start))
    return failure();
  addToRoute(codes::RouteUnit::TrfWrite);
  Block block = Block::DotProductEngineRegisterFile;
  int64_t rowBytes = machine::trfRowBytes;
  if (*start % rowBytes != 0)
    return op.emitOpError("row_base: the address must be a multiple of ")
           << rowBytes << ", found " << *start;
  if (failed(set(op, block, "mac_rows", op.getTarget().getType().getLanes())) ||
      failed(set(op, block, "row_base", *start / rowBytes)) ||
      failed(set(op, block, "row_count", op.getRowsPerLane())) ||
      failed(set(op, block, "flits_per_period", 1)))
    return failure();
  return set(op, block, "valid_flits_per_period", 1);
}

LogicalResult ExecEncoder::encode(lir::VrfStoreOp op) {
  FailureOr<int64_t> start = address(op, op.getTarget());
  if (failed(start))
    return failure();
  addToRoute(codes::RouteUnit::VrfWrite);
  Block block = Block::VectorRegisterFile;
  int64_t rowBytes = machine::vrfRowBytes;
  if (*start % rowBytes != 0)
    return op.emitOpError("row_base: the address must be a multiple of ")
           << rowBytes << ", found " << *start;
  if (failed(set(op, block, "row_base", *start / rowBytes)) ||
      failed(set(op, block, "row_count", op.getRows())))
    return failure();
  return set(op, block, "row_stride", 1);
}

LogicalResult rngd::buildTrfStore(UnitBuilder &unit,
                                  const TrfWriteConfig &config) {
  BufferUse use;
  use.tier = lir::Tier::Trf;
  use.address = int64_t(config.rowBase) * machine::trfRowBytes;
  use.bytes = int64_t(config.rowsPerLane) * machine::trfRowBytes;
  use.lanes = config.lanes;
  use.isStart = use.isWhole = use.isWrite = true;
  FailureOr<PlacedBuffer> target = unit.buffers(use);
  if (failed(target))
    return failure();
  lir::TrfStoreOp::create(unit.builder, unit.loc, target->buffer,
                          config.rowsPerLane);
  return success();
}

LogicalResult rngd::buildVrfStore(UnitBuilder &unit,
                                  const VrfWriteConfig &config) {
  BufferUse use;
  use.tier = lir::Tier::Vrf;
  use.address = int64_t(config.rowBase) * machine::vrfRowBytes;
  use.bytes = int64_t(config.rows) * machine::vrfRowBytes;
  use.isStart = use.isWhole = use.isWrite = true;
  FailureOr<PlacedBuffer> target = unit.buffers(use);
  if (failed(target))
    return failure();
  lir::VrfStoreOp::create(unit.builder, unit.loc, target->buffer, config.rows);
  return success();
}
