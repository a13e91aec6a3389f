//===- Explain.h - Mappings and sequences in words --------------*- C++ -*-===//
//
// Text tables of what stands where in a mapping, and of why a sequencer steps
// as it does. For tools and messages.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_DIALECT_TENSORMAPPING_ALGEBRA_EXPLAIN_H
#define FURIOSA_DIALECT_TENSORMAPPING_ALGEBRA_EXPLAIN_H

#include "furiosa/Dialect/TensorMapping/Algebra/Mapping.h"

namespace furiosa::mapping {

/// `{A: 1, B: 30}`, `{}` at the origin, `zero padding`, `past the end`;
/// coordinates outside their axis are marked `{A: 6!}`.
std::string describe(const Cell &cell, const Axes &axes);

/// `A·1 [8], B·1 [64/512 top]; tail 4096 top`.
std::string describe(const Canonical &canonical, const Axes &axes);

/// The cells of `count` positions from `from` on, as far as the mapping goes: a
/// table with a row for each value of the outer terms and a column for each of
/// the innermost one. Rows are wrapped where they get too wide.
std::string explainCells(const Mapping &mapping, int64_t from, int64_t count);

/// Where two mappings over the same axes part: `at position 16, "A, B" is {A: 0,
/// B: 1} and "B, A" is {A: 1, B: 0}`. Looks at the first 65,536 positions and at
/// one step of every term; empty where none of these tells them apart.
std::string explainDifference(const Mapping &left, const Mapping &right);

/// A table with a row for each term of the stream: its entry, what of the
/// memory lies inside of it and so makes the stride, and the memory once the
/// term has taken its digit. Below it the entries after coalescing.
std::string explainSequence(const Mapping &memory, const Sequence &sequence);

} // namespace furiosa::mapping

#endif // FURIOSA_DIALECT_TENSORMAPPING_ALGEBRA_EXPLAIN_H
