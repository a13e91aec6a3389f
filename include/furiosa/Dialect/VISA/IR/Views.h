//===- Views.h - Tensors that name parts of buffers -------------*- C++ -*-===//
//
// Where a view begins in its buffer, and whether it may be written.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_DIALECT_VISA_IR_VIEWS_H
#define FURIOSA_DIALECT_VISA_IR_VIEWS_H

#include "furiosa/Dialect/VISA/IR/KernelCheck.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace furiosa::visa {

/// Where a view begins in its buffer.
struct ViewStart {
  /// Bytes of the element mapping; positions of cluster and slice.
  int64_t bytes = 0, cluster = 0, slice = 0;
  /// What is known only at run time: values that each count by so many units of
  /// a dimension, bytes for the element mapping.
  struct Term {
    mlir::Value index;
    Dimension dimension;
    int64_t step;
  };
  llvm::SmallVector<Term> terms;

  int64_t &at(Dimension dimension) {
    return dimension == Dimension::Slice     ? slice
           : dimension == Dimension::Cluster ? cluster
                                             : bytes;
  }
  /// Whether the byte at which the view begins is always a multiple of `word`.
  bool isMultiple(int64_t word) const;
  /// The last byte of the buffer at which the view may begin; nothing where
  /// that is not known or leaves 64 bits. For views of the element mapping.
  std::optional<int64_t> getLast() const;
};

/// The source of a view, or the tensor that a chain writes; null elsewhere.
mlir::Value getViewSource(mlir::Value tensor);

/// Where `tensor` (null: a new one) begins in its buffer. Fails with what
/// `reporter` has said; without a message where a view is faulty on its own,
/// which its own check reports.
mlir::FailureOr<ViewStart> getViewStart(mlir::Value tensor,
                                        FaultReporter &reporter);

/// What a host may give for a number that is an argument of a kernel, both ends
/// included: the attribute `visa.range` of an `index` or `i32`.
inline constexpr llvm::StringLiteral rangeAttrName = "visa.range";
/// That range; nothing for other values, and without one of 32 bits.
std::optional<std::pair<int64_t, int64_t>> getNumberRange(mlir::Value value);

/// Bounds of an index that is computed from constants, numbers with a range and
/// counters of loops with bounds of these; nothing where they are not known or
/// leave 64 bits.
std::optional<std::pair<int64_t, int64_t>> getIndexRange(mlir::Value index);

/// Whether an index is affine in numbers of the host and counters, so that a
/// base in HBM can follow it. Sets `isConstant`.
bool isAffine(mlir::Value index, bool &isConstant);

/// Values that leave `rest` when divided by `modulus`; one value where that is
/// 0.
struct Congruence {
  int64_t rest, modulus;
};

/// What all values of an index have in common; nothing where numbers leave 64
/// bits.
std::optional<Congruence> getIndexCongruence(mlir::Value index);

/// MM-36: a view that is written has bottom padding outside its window.
void checkWritable(mlir::Value target, FaultReporter &reporter);

/// Whether a reshape gives cells another index.
bool changesIndex(ReshapeOp reshape);

/// The axis along which `rows` are found in `table` by `index` (MM-44), or -1.
int getKeyAxis(mlir::Type table, mlir::Type index, mlir::Type rows);

/// Whether constants and counters of loops that can be unrolled are all that a
/// value is computed from.
bool isKnownWhenUnrolled(mlir::Value value);

/// Steps that a loop makes at most; nothing where that is not known.
std::optional<int64_t> getMostTrips(mlir::scf::ForOp loop);

/// Whether numbers of the host say how often a loop runs in a way that no
/// counter of the chip follows: it is unrolled, each step under a condition.
bool needsConditions(mlir::scf::ForOp loop);

/// Whether loops whose counters a value is computed from make more than
/// maxUnrolledSteps together.
bool hasTooManySteps(mlir::Value value);

/// Loops whose counters tile data memory, are branched on, bound other loops or
/// are divided, and those that need conditions: they are unrolled below visa.
llvm::SmallVector<mlir::Operation *> getUnrolledLoops(mlir::Operation *kernel);

/// Steps of all loops that are unrolled around one op, at most.
inline constexpr int64_t maxUnrolledSteps = 1024;

/// The mapping of a dimension; null where the tier has none.
tmap::MappingAttr getMapping(const TensorParts &parts, Dimension dimension);

/// Calls `visit` for each op that reads, or returns, a tensor of the kernel's
/// own of which nothing has written some cells in front of it, with what they
/// are ("cells 4 to 7 along \"A\" of ", or nothing for all) and the tensor.
void forEachUndefinedRead(
    mlir::FunctionOpInterface kernel,
    llvm::function_ref<void(mlir::Operation *, llvm::StringRef, mlir::Value)>
        visit);

/// Numbers of the arguments that a kernel writes, in order.
llvm::SmallVector<unsigned>
getWrittenArguments(mlir::FunctionOpInterface kernel);

} // namespace furiosa::visa

#endif // FURIOSA_DIALECT_VISA_IR_VIEWS_H
