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

/// A comparison of a number with a constant.
struct NumberTest {
  mlir::BlockArgument number;
  /// One of eq, ne, slt, sge.
  mlir::arith::CmpIPredicate predicate;
  int64_t bound;

  /// Holds where this one does not.
  NumberTest negate() const;
};

/// The tests that hold together if `condition` does: comparisons of what is
/// added to, subtracted from and multiplied by one number and constants, joined
/// by `and`. Nothing for any other condition.
std::optional<llvm::SmallVector<NumberTest>>
getNumberTests(mlir::Value condition);

} // namespace furiosa

#endif // FURIOSA_DIALECT_UTILS_NUMBERS_H
