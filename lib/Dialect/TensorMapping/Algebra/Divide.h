//===- Divide.h - Matching digits of two mappings ---------------*- C++ -*-===//
//
// What division, tiling and explanations share: which part of which factor was
// matched.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_DIALECT_TENSORMAPPING_ALGEBRA_DIVIDE_H
#define FURIOSA_LIB_DIALECT_TENSORMAPPING_ALGEBRA_DIVIDE_H

#include "Detail.h"

namespace furiosa::mapping::detail {

/// `count` digits of one factor, from its digit weight `from` on.
struct MatchedDigits {
  /// Index into Form::factors.
  size_t factor;
  int64_t from;
  int64_t count;
};

struct Match {
  DivisionTerm term;
  MatchedDigits dividend;
  MatchedDigits divisor;
};

struct Division {
  Form dividend, divisor;
  /// By falling dividend stride.
  std::vector<Match> matches;
};

Result<Division> matchDigits(const Mapping &dividend, const Mapping &divisor,
                             bool exact);

/// Part of a factor, in the order of the list: innermost first.
struct Piece {
  Factor factor;
  /// Index into the matched digits, or -1.
  int match = -1;
};

/// The factors of `form` cut at the matched digits. Nothing where the cuts do
/// not nest.
std::optional<std::vector<Piece>>
cutPieces(const Form &form, llvm::ArrayRef<MatchedDigits> matched);

} // namespace furiosa::mapping::detail

#endif // FURIOSA_LIB_DIALECT_TENSORMAPPING_ALGEBRA_DIVIDE_H
