//===- Numbers.h - What is computed from numbers of the host ----*- C++ -*-===//
//
// Numbers are arguments of a kernel, `index` or `i32`.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_DIALECT_UTILS_NUMBERS_H
#define FURIOSA_DIALECT_UTILS_NUMBERS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Value.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

#include <optional>

namespace furiosa {

/// Whether these are the ends of what a host may give for a number: two of 32
/// bits that ascend.
inline bool isNumberRange(llvm::ArrayRef<int64_t> range) {
  return range.size() == 2 && llvm::isInt<32>(range[0]) &&
         llvm::isInt<32>(range[1]) && range[0] <= range[1];
}

/// The argument of a function that a value is, perhaps as another integer type;
/// null for another value.
mlir::BlockArgument getNumber(mlir::Value value);

/// Numbers, each times a factor that is not 0, in the order of arguments, and a
/// constant. With numbers of 32 bits nothing of it leaves 64.
struct NumberSum {
  llvm::SmallVector<std::pair<mlir::BlockArgument, int64_t>, 2> terms;
  int64_t constant = 0;

  bool isConstant() const { return terms.empty(); }
};

/// The sum that numbers and constants which are added, subtracted and
/// multiplied make; nothing for any other value. Where `isKnown` says so, a
/// value counts as some constant that will be known.
std::optional<NumberSum>
getNumberSum(mlir::Value value,
             llvm::function_ref<bool(mlir::Value)> isKnown = nullptr);

/// A comparison of a sum of numbers with a constant.
struct NumberTest {
  /// The sum, without its constant: at least one number.
  NumberSum sum;
  /// One of eq, ne, slt, sge.
  mlir::arith::CmpIPredicate predicate;
  int64_t bound;

  /// Holds where this one does not.
  NumberTest negate() const;
};

/// Tests that hold together.
using NumberCase = llvm::SmallVector<NumberTest>;

/// Branches have one body for each case.
inline constexpr size_t maxNumberCases = 16;

/// The cases, of which no two hold together, in which `condition` is `value`:
/// comparisons of sums of numbers, joined by and, or and xor. Nothing for any
/// other condition, and for one of more than maxNumberCases.
std::optional<llvm::SmallVector<NumberCase>>
getNumberCases(mlir::Value condition, bool value,
               llvm::function_ref<bool(mlir::Value)> isKnown = nullptr);

} // namespace furiosa

#endif // FURIOSA_DIALECT_UTILS_NUMBERS_H
