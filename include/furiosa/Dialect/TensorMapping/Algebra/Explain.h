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

/// `A=1 B=30`, `origin`, `zero padding`, `past the end`; coordinates outside
/// their axis are marked `A=6!`.
std::string describe(const Cell &cell, const Axes &axes);

/// `A·1 [8], B·1 [64/512 top]; tail 4096 top`.
std::string describe(const Canonical &canonical, const Axes &axes);

/// A line for each of `count` positions from `from` on, as far as the mapping
/// goes.
std::string explainCells(const Mapping &mapping, int64_t from, int64_t count);

/// A line for each loop before coalescing: its digit, its entry, and where the
/// stride comes from; then the entries after coalescing.
std::string explainSequence(const Sequence &sequence, const Axes &axes);

} // namespace furiosa::mapping

#endif // FURIOSA_DIALECT_TENSORMAPPING_ALGEBRA_EXPLAIN_H
