//===- Windows.h - Windows of a memory as a stream --------------*- C++ -*-===//
//
// Rows of a memory as sums: row 2 p + r of axis Y is what a stream of P and R
// reads. A sequencer steps over such windows as over any digits, since its
// strides may overlap. Plain data, no IR.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_DIALECT_TENSORMAPPING_ALGEBRA_WINDOWS_H
#define FURIOSA_DIALECT_TENSORMAPPING_ALGEBRA_WINDOWS_H

#include "furiosa/Dialect/TensorMapping/Algebra/Mapping.h"

namespace furiosa::mapping {

/// `P / stride % count` times `factor`.
struct WindowTerm {
  int axis;
  int64_t stride;
  int64_t count;
  int64_t factor;
  bool operator==(const WindowTerm &) const = default;
};

/// Cells of `axis` of a memory: the sum of the terms and `start`.
struct Window {
  int axis;
  llvm::SmallVector<WindowTerm, 2> terms;
  int64_t start = 0;
};

/// Reads `digit` (`P`, `P % 7`) as a term; nothing for one cell, which adds
/// nothing. TU-79 where it is no single digit without padding.
Result<std::optional<WindowTerm>> getWindowTerm(const Mapping &digit,
                                                int64_t factor);

struct WindowSequence {
  /// Strides are those in the memory.
  Sequence sequence;
  /// Elements in front of the first one that is read.
  int64_t start = 0;
};

/// As sequence() in SequenceMode::Read, with the windows' terms in place of
/// their axes. Cells between windows may stay unread. TU-79 where a window's
/// axis is no whole digit of the memory, or the memory or the stream hold what
/// is in the place of the other; TU-80 where rows lie outside of the axis.
Result<WindowSequence> sequenceWindows(const Mapping &memory,
                                       llvm::ArrayRef<Window> windows,
                                       const Mapping &time,
                                       const Mapping &packet);

} // namespace furiosa::mapping

#endif // FURIOSA_DIALECT_TENSORMAPPING_ALGEBRA_WINDOWS_H
