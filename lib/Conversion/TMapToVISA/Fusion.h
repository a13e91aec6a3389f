//===- Fusion.h - Functions that one pass of the engine does ----*- C++ -*-===//
//
// Casts and element-wise functions that follow each other run in one chain, as
// far as the vector engine has an ALU for each, in the order of its stages.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_CONVERSION_TMAPTOVISA_FUSION_H
#define FURIOSA_LIB_CONVERSION_TMAPTOVISA_FUSION_H

#include "Emitter.h"

namespace furiosa::tmap {

/// A tensor that a chain reads beside its stream, from the register file. It
/// may be widened on the way there.
struct SideOperand {
  mlir::Value tensor;
  mlir::Type type;
};

/// One function on the stream.
struct Step {
  enum class Kind {
    Function,
    ToFloat,
    ToInteger,
    Reinterpret
  } kind = Kind::Function;
  std::string name;
  mlir::Type type;
  unsigned arity = 1;
  /// The mode of a function, "01"; empty for the default.
  std::string mode;
  /// The immediate of the slot, or the number of a side operand; the second
  /// immediate of a ternary function.
  mlir::TypedAttr immediate, with;
  int side = -1;
  /// Execution ids of the elements that it is for; empty for all.
  std::string guard;
  /// The operand of the elements with other ids.
  mlir::TypedAttr numberOfOthers;
  std::string guardOfOthers;
  /// The ALU's row, once assigned.
  const vector::Operation *row = nullptr;
};

/// What one chain does between fetch and commit.
struct VectorPass {
  /// The tensor that streams, and its type where the engine sees it.
  mlir::Value stream;
  mlir::Type streamType;
  /// What makes the execution ids, and with what the stream is compared.
  const ElementTest *test = nullptr;
  mlir::TypedAttr boundary;
  llvm::SmallVector<Step, 4> steps;
  llvm::SmallVector<SideOperand, 2> sides;
  /// The type that leaves the engine, and that of the result.
  mlir::Type lastType, resultType;
  /// Ops that the pass does, in order; the last one has the result.
  llvm::SmallVector<mlir::Operation *, 4> ops;

  MappedTensorType result() const {
    return mlir::cast<MappedTensorType>(ops.back()->getResult(0).getType());
  }
  /// Whether a step works on four elements at a time.
  bool isNarrow() const;
};

/// The innermost axis of more than one cell, or -1.
int findInnermost(MappedTensorType type);

/// Whether the fetch engine does this cast.
bool isWidening(CastOp op);

/// The pass that ends with `op`, an element-wise function or a cast. What
/// `isDeferred` says has no buffer of its own is part of it. Nothing where the
/// engine cannot do it in one pass; `reason` says why.
std::optional<VectorPass>
buildPass(mlir::Operation *op,
          llvm::function_ref<bool(mlir::Operation *)> isDeferred,
          std::string &reason);

/// The pass that leaves its one side operand, of `type`, in place of its
/// stream.
VectorPass makeReplacingPass(mlir::Type type);

/// How the stream is cut into flits.
struct FlitShape {
  /// Time outside of the flit's axis.
  TermList outer;
  /// The flit's axis: its steps, and what memory holds of a flit: `A / 8 % n`,
  /// `A % 8`.
  std::string steps, cells;
  /// The flit and its halves in the engine: `A % 8`, `A % 4`; with padding
  /// where a flit holds four cells or less, which then are one packet of four.
  bool half = false;
  std::string packet8, packet4, steps4;

  std::string time8() const { return joinTerms(concat({outer, {steps}})); }
  std::string time4() const {
    return half ? time8() : joinTerms(concat({outer, {steps4}}));
  }
};
/// Writes the stages of the steps, from vector_init to vector_final. `first`
/// writes what comes directly behind vector_init.
void emitSteps(
    Emitter &emitter, const VectorPass &pass, const FlitShape &flit,
    mlir::ValueRange sides, llvm::function_ref<void()> first = [] {});

} // namespace furiosa::tmap

#endif // FURIOSA_LIB_CONVERSION_TMAPTOVISA_FUSION_H
