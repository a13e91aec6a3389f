//===- StageLoops.h - Sequencer loops of the stages of a chain --*- C++ -*-===//
//
// What the units of a sound chain have to walk. The check of a stage asks
// whether its loops exist, the lowering writes them down.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_DIALECT_VISA_IR_STAGELOOPS_H
#define FURIOSA_DIALECT_VISA_IR_STAGELOOPS_H

#include "furiosa/Dialect/VISA/IR/KernelCheck.h"
#include "furiosa/Dialect/VISA/Loops/Loops.h"

namespace furiosa::visa {

/// The stream behind the fetch adapter of the chain.
const Layout &getFetchedLayout(const ChainStage &stage);

/// The windows of a `fetch`, over the axes of its source. TU-79.
mapping::Result<llvm::SmallVector<mapping::Window>> getWindows(FetchOp fetch);

/// Loops of a `fetch`, with the conversion that follows it.
mapping::Result<loops::FetchLoops> deriveFetch(const ChainStage &stage);

/// Loops that contract_outer, contract_packet and contract_time share; `stage`
/// is any stage of their chain.
mapping::Result<loops::ContractionLoops>
deriveContraction(const ChainStage &stage);

/// Loops over a VRF operand of a vector stage.
mapping::Result<loops::LoopNest> deriveVrfOperand(mlir::Value operand,
                                                  const ChainStage &stage);

/// Loops of a `commit`.
mapping::Result<loops::LoopNest> deriveCommit(const ChainStage &stage);

/// Whether there is a slice in which a `commit` stores a cell.
bool isStoredAnywhere(const ChainStage &stage);

/// First and last of each run of slices in which a `commit` stores a cell.
llvm::SmallVector<int64_t> getStoredSlices(const ChainStage &stage);

} // namespace furiosa::visa

#endif // FURIOSA_DIALECT_VISA_IR_STAGELOOPS_H
