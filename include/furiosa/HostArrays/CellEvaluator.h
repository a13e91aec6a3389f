//===- CellEvaluator.h - Cells of a mapping, by its definition --*- C++ -*-===//
//
// Reads a mapping text and says which index stands at which position, straight
// from the constructors' definitions (MA-1 …). It knows no canonical form and
// no sequencer: interpreter and operand packing stand on it, so that they are
// independent of the algebra that the compiler uses.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_HOSTARRAYS_CELLEVALUATOR_H
#define FURIOSA_HOSTARRAYS_CELLEVALUATOR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace furiosa {

/// A declared axis.
struct HostAxis {
  std::string name;
  int64_t size;
  bool operator==(const HostAxis &) const = default;
};

/// The live cells of one term of a mapping: what stands between two commas of
/// the outermost level. Cell i stands at `positions[i]` (rising) and has
/// coordinate `coordinates[i · axes.size() + k]` on axis `axes[k]`.
struct TermCells {
  /// Positions, padding included.
  int64_t size = 1;
  /// Indices of the declared axes that the term names, rising.
  std::vector<int> axes;
  std::vector<int64_t> positions;
  std::vector<int64_t> coordinates;
  /// Per axis: the largest coordinate, and the greatest common divisor of all.
  std::vector<int64_t> largest, step;

  size_t count() const { return positions.size(); }
  llvm::ArrayRef<int64_t> coordinatesOf(size_t cell) const {
    return llvm::ArrayRef(coordinates).slice(cell * axes.size(), axes.size());
  }
};

namespace detail {
struct CellNode;
}

/// A parsed mapping. Cheap to copy, immutable.
class CellEvaluator {
public:
  /// Parses `text` over `axes`. An error names the text and the column.
  static llvm::Expected<CellEvaluator> parse(llvm::StringRef text,
                                             llvm::ArrayRef<HostAxis> axes);

  /// Cells, padding included.
  int64_t size() const;

  /// Whether a live cell stands at `position`. If so, adds its coordinates to
  /// `index`, which has one entry per declared axis. Overshoot is the caller's
  /// to see, since it may come from the sum over several mappings.
  bool addCell(int64_t position, llvm::MutableArrayRef<int64_t> index) const;

  /// The terms, outermost first; their sizes multiply to size(). The cell at a
  /// position is the sum of the terms' cells at its digits. An error if a term
  /// has more than `limit` live cells.
  llvm::Expected<std::vector<TermCells>> terms(uint64_t limit) const;

  /// Axes in the order of their first appearance in the text.
  llvm::ArrayRef<int> axesInOrder() const;

private:
  std::shared_ptr<const detail::CellNode> root;
  std::vector<int> order;
};

/// Most live cells that one term, or one array, may have.
inline constexpr uint64_t maxHostCells = uint64_t(1) << 26;

} // namespace furiosa

#endif // FURIOSA_HOSTARRAYS_CELLEVALUATOR_H
