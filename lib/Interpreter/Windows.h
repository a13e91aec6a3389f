//===- Windows.h - Rows of an array, a window at a time ---------*- C++ -*-===//
//
// What a fetch of windows reads, by index.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_INTERPRETER_WINDOWS_H
#define FURIOSA_LIB_INTERPRETER_WINDOWS_H

#include "IndexedArray.h"

namespace furiosa::interpreter {

/// Coordinates of `axis` as sums.
struct RowWindow {
  /// `factor` times the digit `axis / stride % count`.
  struct Term {
    int axis;
    int64_t stride, count, factor;
  };
  int axis;
  llvm::SmallVector<Term, 2> terms;
  int64_t start = 0;
};

/// `source` as a function of the windows' terms in place of their axis; what it
/// holds of the terms' axes beyond these digits stays. `shift`, if not empty,
/// has what is added to each coordinate. An error if that is too large.
llvm::Expected<IndexedArray> spreadRows(const IndexedArray &source,
                                        llvm::ArrayRef<int64_t> shift,
                                        const RowWindow &window,
                                        llvm::ArrayRef<int64_t> axisSizes);

} // namespace furiosa::interpreter

#endif // FURIOSA_LIB_INTERPRETER_WINDOWS_H
