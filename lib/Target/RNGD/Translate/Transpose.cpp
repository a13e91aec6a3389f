//===- Transpose.cpp - The transpose engine in registers ------------------===//

#include "ExecTranslation.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::rngd;

LogicalResult ExecEncoder::encode(lir::TransposeOp op) {
  addToRoute(codes::RouteUnit::TransposeEngine);
  Block block = Block::TransposeEngineMainContext;
  if (failed(set(op, block, "fetch_in_cols", op.getColumns())) ||
      failed(set(op, block, "fetch_in_rows", op.getRows())) ||
      failed(set(op, block, "fetch_out_rows", op.getOutRows())))
    return failure();
  // Codes count the widths from 4 bits on.
  return set(op, block, "data_type", llvm::Log2_64(op.getBits() / 4));
}

LogicalResult rngd::buildTranspose(UnitBuilder &unit,
                                   const TransposeConfig &config) {
  lir::TransposeOp::create(unit.builder, unit.loc, config.rows,
                           config.flitsPerRow * transposeCells(config.bits),
                           config.outRows, config.bits);
  return success();
}
