//===- VectorState.h - Where a stream stands in the vector engine *- C++ -*-==//
//
// What the rules of one vector stage need to know of those before it.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_DIALECT_VISA_IR_VECTORSTATE_H
#define FURIOSA_DIALECT_VISA_IR_VECTORSTATE_H

#include "furiosa/Dialect/TensorMapping/Algebra/Mapping.h"
#include "furiosa/Support/NumberFormats.h"

namespace mlir {
class Operation;
} // namespace mlir

namespace furiosa::visa {

/// The stages of the vector engine in hardware order.
enum class VectorStage {
  Init,
  Tag,
  Logic,
  Fxp,
  FxpToFp,
  Narrow,
  Fp,
  Reduce,
  FpDiv,
  Widen,
  FpToFxp,
  Clip,
  InterSliceReduce,
  Filter,
};

/// "vector_fxp_to_fp": the op of a stage.
llvm::StringRef toString(VectorStage stage);

struct VectorState {
  /// The stage that the stream has left, and its op; null behind vector_init.
  VectorStage stage = VectorStage::Init;
  mlir::Operation *op = nullptr;
  /// Packets of four elements, between narrow and widen.
  bool isNarrow = false;
  /// The op that began the chain of ALUs: vector_tag or vector_unzip.
  mlir::Operation *chain = nullptr;
  /// vector_inter_slice_reduce, and whether it stands before the chain.
  mlir::Operation *reducer = nullptr;
  bool isReducerFirst = false;

  /// Pair mode: from `unzip` to `zip`; what follows is merged.
  mlir::Operation *unzip = nullptr;
  mlir::Operation *zip = nullptr;
  /// Behind `unzip`: the axis of the groups. Behind `zip`: time with the axis,
  /// since both groups still flow.
  int pairAxis = -1;
  mapping::Mapping pairTime;

  /// Written once, read once.
  mlir::Operation *stashWrite = nullptr;
  mlir::Operation *stashRead = nullptr;
  ElementType stashType = ElementType::I32;
  bool isStashNarrow = false;
  mapping::Mapping stashTime, stashPacket;

  bool isPaired() const { return unzip && !zip; }
};

} // namespace furiosa::visa

#endif // FURIOSA_DIALECT_VISA_IR_VECTORSTATE_H
