//===- TensorOps.h - Functions of tensors over named axes -------*- C++ -*-===//
//
// The ops of the tmap dialect, and what they ask of axes and element types.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_DIALECT_TENSORMAPPING_IR_TENSOROPS_H
#define FURIOSA_DIALECT_TENSORMAPPING_IR_TENSOROPS_H

#include "furiosa/Dialect/TensorMapping/IR/TensorMapping.h"
#include "furiosa/Support/VectorOps.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace furiosa::tmap {

/// One axis that a `WindowOp` takes windows of: row `stride` · at +
/// `dilation` · tap + `start` of axis `over`. Axes are indices of the
/// declaration.
struct WindowAxis {
  int over, at, tap;
  int64_t stride = 1, dilation = 1, start = 0;
  /// Rows that windows may be apart from the first one (TM-17).
  static constexpr int64_t maxReach = int64_t(1) << 31;
};

} // namespace furiosa::tmap

#define GET_OP_CLASSES
#include "furiosa/Dialect/TensorMapping/IR/TensorOps.h.inc"

namespace furiosa::tmap {

/// Axes of a tensor, as indices of the declaration, in the order of their first
/// appearance in the mapping. Axes of one cell are left out: they make no
/// difference.
llvm::SmallVector<int> getAxesInOrder(MappedTensorType type);

/// `I, J, K`, or `1` without axes.
MappedTensorType getPlainType(mlir::Type elementType, AxesAttr axes,
                              llvm::ArrayRef<int> order);

/// Indices of the axes with these names; -1 where a name is not declared.
llvm::SmallVector<int> findAxes(AxesAttr axes, mlir::ArrayAttr names);

/// What sums of products of an element type are held in; null where the
/// multiplier does not take it.
mlir::Type getAccumulatorType(mlir::Type elementType);

/// Elements that the multiplier sums as one tree: 64 bytes of operands.
inline int64_t getPacketSize(ElementType operand) {
  return 512 / wireBits(operand);
}

/// An axis of a sum: `count` parts, a power of two, of `length` cells each; the
/// last ones may have fewer, or none.
struct SumParts {
  int64_t length = 1, count = 1;
};
/// The parts that the products of a contraction are summed in, for each axis of
/// `over`, outermost first. One where they are at most 8 KiB of an operand;
/// else as few as have at most 1 KiB each, but no more than 64 unless it takes
/// more for 8 KiB. The outermost axis is cut first; the last one into whole
/// packets.
llvm::SmallVector<SumParts> getSumParts(ContractOp op);
/// The parts that a reduction along `length` cells by add or add_sat is made
/// in: as few as have at most 2,048 elements, in whole flits, but at most 256.
SumParts getSumParts(int64_t length);
/// Whether the order in which a reduction folds makes a difference.
inline bool hasOrder(llvm::StringRef reduction) {
  return reduction.starts_with("add");
}

/// What two elements are compared for, by execution ids: comparisons of their
/// difference with 0, and the ids of those that pass.
struct ElementTest {
  llvm::ArrayRef<vector::Comparison> comparisons;
  vector::Guard holds;

  bool admits(ElementType type, uint32_t value, uint32_t boundary) const;
};
/// The test of a comparison, or null.
const ElementTest *findTest(llvm::StringRef name);
/// The comparison of the operands in the other order.
llvm::StringRef mirrorTest(llvm::StringRef name);
/// By which `select` chooses: the condition is not 0.
inline constexpr llvm::StringLiteral selectName = "select";
inline constexpr llvm::StringLiteral selectTest = "not_equal";

/// The function of an elementwise op on i32 or f32.
struct ElementFunction {
  /// How the vector engine computes it, with the mode of its arity; null for
  /// comparisons and `select`. Of units that have it, one.
  const vector::Operation *row = nullptr;
  /// Of comparisons, whose results are 1 and 0.
  const ElementTest *test = nullptr;
  ElementType type;

  /// The function of this result type and arity, if there is one.
  static std::optional<ElementFunction> find(llvm::StringRef name,
                                             mlir::Type type, unsigned arity);
  /// Nothing where the function has no result. `conditionType` is that of `a`
  /// in a `select`.
  std::optional<uint32_t> apply(uint32_t a, uint32_t b, uint32_t c,
                                ElementType conditionType) const;
};

/// How a reduction folds, or null.
const vector::Reduction *findReduction(llvm::StringRef name, mlir::Type type);

/// The code that a cast makes of a code; nothing where there is no such cast
/// (TM-12).
std::optional<uint32_t> castCode(ElementType from, ElementType to,
                                 uint32_t code);
/// Whether a cast goes from one type to the other.
bool isCast(mlir::Type from, mlir::Type to);

/// The code of a number in the chip's format; nothing where the type is none of
/// the chip's, or does not hold the number.
std::optional<uint32_t> getCode(mlir::TypedAttr number);
/// The number of a code.
mlir::TypedAttr getNumber(mlir::Type type, uint32_t code);

} // namespace furiosa::tmap

#endif // FURIOSA_DIALECT_TENSORMAPPING_IR_TENSOROPS_H
