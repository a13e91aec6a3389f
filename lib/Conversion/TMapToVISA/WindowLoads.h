//===- WindowLoads.h - Sources of windows in data memory --------*- C++ -*-===//
//
// A contraction of windows reads them out of what they are windows of: each
// slice holds the rows of its own windows, with zeros around them.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_CONVERSION_TMAPTOVISA_WINDOWLOADS_H
#define FURIOSA_LIB_CONVERSION_TMAPTOVISA_WINDOWLOADS_H

#include "Emitter.h"

namespace furiosa::tmap {

/// The source of windows in the slices of one placement. The rows of the
/// outermost window come in chunks, as many rows as neighbouring slices lie
/// apart; a slice holds those of its neighbours that it needs. Rows of the
/// others have zeros behind them, which stand in front of the next row as well.
/// So all windows step over one axis of cells.
class WindowLoad {
public:
  /// `held` are the cuts of what the windows' tensor has but for `over`, which
  /// a slice has whole, the last axis innermost. Nothing where a slice would
  /// hold rows of two axes in parts, or runs in HBM are no whole words.
  static std::optional<WindowLoad> get(WindowOp op, llvm::ArrayRef<Cut> held,
                                       llvm::ArrayRef<int> over,
                                       const Place &place,
                                       const KernelAxes &axes);

  int64_t getSliceBytes() const;
  /// The source in HBM with the index by which it is loaded; a copy of it where
  /// zeros have to fill up its words.
  mlir::Value rename(Emitter &emitter, mlir::Value source) const;
  /// Brings the renamed source, or a step of it, into data memory.
  mlir::Value emit(Emitter &emitter, mlir::Value source) const;
  /// The clause of a fetch that reads windows of that.
  mlir::ArrayAttr getClause(mlir::MLIRContext *context) const;

private:
  /// The rows of one axis.
  struct Rows {
    /// `Line0 = 58`.
    std::string getLines(const KernelAxes &axes, int64_t cells) const {
      return axes.windowLines(number).str() + " = " + std::to_string(cells);
    }

    size_t number = 0;
    WindowAxis axis;
    int64_t size = 1, windows = 1, taps = 1;
    int64_t stride = 1;
    /// Windows of a slice.
    Cut cut;
    /// Rows that a slice reads, from `front` in front of the source's on.
    int64_t reach = 1, front = 0;
    /// Rows with zeros behind them, of all but the outermost.
    int64_t padded = 1;
    /// Cells from row to row.
    int64_t pitch = 1;
  };

  WindowLoad(const KernelAxes &axes, const Place &place)
      : axes(&axes), place(place) {}
  /// A mapping of windows of the outermost axis as one of its rows.
  std::string toRows(llvm::StringRef mapping) const;
  std::string getRowDigit() const;
  std::string getChunks() const;
  TermList getChunkTerms() const;
  std::string getCells() const;
  int64_t getNumCells() const { return chunks * chunk * rows[0].pitch; }
  bool hasZeros() const;
  mlir::Value part(Emitter &emitter, mlir::Value tensor,
                   visa::Dimension dimension, llvm::StringRef index,
                   int64_t start, int64_t length) const;
  /// Copies rows `from` to `to` of the chunks that begin at chunk `first` of
  /// the source into chunk `number` of `count` slices.
  struct Piece {
    int64_t number, cluster, slice, count, first, from, to;
  };
  void copy(Emitter &emitter, mlir::Value source, mlir::Value buffer,
            const Piece &piece) const;

  const KernelAxes *axes;
  Place place;
  mlir::Type elementType;
  /// The outermost is first.
  llvm::SmallVector<Rows, 3> rows;
  TermList outer, inner, renamed;
  llvm::SmallVector<int> filled;
  /// Whether `filled` is filled in HBM already.
  bool isStaged = false;
  /// Rows of a chunk, chunks of a slice, and those in front of the one that
  /// belongs to the slice.
  int64_t chunk = 1, chunks = 1, before = 0;
  /// The first cell of the first window.
  int64_t start = 0;
  int64_t outerCells = 1, innerCells = 1;
};

} // namespace furiosa::tmap

#endif // FURIOSA_LIB_CONVERSION_TMAPTOVISA_WINDOWLOADS_H
