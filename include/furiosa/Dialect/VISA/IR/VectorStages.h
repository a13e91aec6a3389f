//===- VectorStages.h - ALUs of the vector stages ---------------*- C++ -*-===//
//
// Which row of the table of operations a stage means. The check, the lowering
// and the interpreter ask the same.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_DIALECT_VISA_IR_VECTORSTAGES_H
#define FURIOSA_DIALECT_VISA_IR_VECTORSTAGES_H

#include "furiosa/Dialect/VISA/IR/KernelCheck.h"
#include "furiosa/Dialect/VISA/Loops/ValidCount.h"

namespace furiosa::visa {

/// The cluster that a zip fuses its groups in.
vector::Cluster getZipCluster(VectorZipOp op);

/// The operation that a stage with an ALU, or a zip, runs on a stream of
/// `type`: an open `mul` takes a multiplier that the chain leaves free. Null if
/// the cluster has no such function for the type, or no ALU is free.
const vector::Operation *getVectorOperation(mlir::Operation *op,
                                            ElementType type);

/// The 32-bit pattern of an immediate.
uint32_t getPattern(mlir::TypedAttr scalar);

/// A slot with the execution ids that it applies to: in pair mode those of its
/// group.
struct VectorSlot {
  SlotKind kind = SlotKind::Imm;
  vector::Guard guard;
  uint32_t value = 0;
  /// The second operand of a ternary function.
  uint32_t with = 0;
  /// The tensor of a vrf slot.
  mlir::Value tensor;
};
/// The slots in match order, the register file last; what a group skips is left
/// out. A function of the stream alone has one slot of kind apply.
llvm::SmallVector<VectorSlot, 4> getVectorSlots(VectorAluInterface op);

/// How a vector_reduce runs.
struct ReducePlan {
  /// Over packets, strides in accumulator slots.
  loops::LoopNest loops;
  /// Packets that one result takes.
  int64_t count = 1;
  /// The four elements of a packet fold to one.
  bool folds = false;
  std::optional<loops::ValidCount> valid;
};
mapping::Result<ReducePlan> deriveReduce(const ChainStage &stage);

/// Behind a zip the flits of group 0 still flow. Makes of their elements what a
/// reduction over time ignores.
struct GroupAside {
  const vector::Operation *operation = nullptr;
  uint32_t value = 0, with = 0;
  llvm::StringLiteral mode = "11";
  /// The stage that it stands before: vector_narrow or the reduction.
  mlir::Operation *before = nullptr;
};
/// With an ALU that no stage of the chain holds; nothing where none is left
/// that would do.
std::optional<GroupAside> findGroupAside(VectorReduceOp op,
                                         const vector::Reduction &row);

/// How a vector_inter_slice_reduce runs.
struct SliceReducePlan {
  /// Slices of a group.
  int64_t slices = 0;
  /// What they held, and what takes its place.
  mapping::Mapping reduced, freed;
  /// Time that is left; behind a zip, that of both groups as well.
  mapping::Mapping time, flowTime;
  /// Digits of time that move to the slices, with their place there.
  llvm::SmallVector<std::pair<mapping::Factor, int64_t>> steps;
  /// A slice keeps the flits whose index, by the loops over flits, is its
  /// position on the bits of the mask.
  int64_t mask = 0;
  loops::LoopNest loops;
};
/// `flowTime`: the time of the flits that flow. `identityAxis`: padding of this
/// axis in the slices holds the identity; none where negative.
mapping::Result<SliceReducePlan>
deriveSliceReduce(const mapping::Mapping &slice,
                  const mapping::Mapping &newSlice,
                  const mapping::Mapping &time,
                  const mapping::Mapping &flowTime, int identityAxis = -1);

/// The reduction inside the slices whose sums a reduction between slices takes
/// as they are, if both have one identity; null where there is none. A slice
/// that is all padding of its axis then gives the identity (assumed).
VectorReduceOp findReduceBefore(VectorInterSliceReduceOp op, ElementType type);
/// Its axis, or -1.
int getIdentityAxis(VectorInterSliceReduceOp op, const Layout &before);

/// Flits of one group before the other has its turn, at a vector_unzip.
mapping::Result<int64_t> deriveGroupFlits(const ChainStage &stage);

} // namespace furiosa::visa

#endif // FURIOSA_DIALECT_VISA_IR_VECTORSTAGES_H
