//===- Layout.h - Where the axes of a kernel go -----------------*- C++ -*-===//
//
// The texts of mappings that a placement is made of: axes cut into units, one a
// slice, and tiles inside of a slice.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_CONVERSION_TMAPTOVISA_LAYOUT_H
#define FURIOSA_LIB_CONVERSION_TMAPTOVISA_LAYOUT_H

#include "furiosa/Dialect/TensorMapping/IR/TensorOps.h"
#include "furiosa/Dialect/VISA/IR/VISA.h"

#include "llvm/Support/MathExtras.h"

namespace furiosa::tmap {

/// Terms of a mapping, outermost first; empty ones are dropped when joined.
using TermList = llvm::SmallVector<std::string, 6>;

/// `A, B`, or `1` where nothing is left.
std::string joinTerms(llvm::ArrayRef<std::string> terms);
/// The terms of all lists, one after the other.
TermList concat(std::initializer_list<llvm::ArrayRef<std::string>> lists);

/// The axes of a kernel at both levels. An axis that is summed in packets is
/// longer in visa, by cells that are filled with zeros.
class KernelAxes {
public:
  KernelAxes() = default;
  /// `grown` has the size in visa for each axis. With `copies`, visa has an
  /// axis more, along which a number is repeated to fill words of memory. It
  /// has one more for each size in `rows`: those of tensors that windows are
  /// cut from; and those along which slices hold what windows of up to
  /// `windows` axes are read from.
  KernelAxes(AxesAttr declared, llvm::ArrayRef<int64_t> grown, bool copies,
             llvm::ArrayRef<int64_t> rows, size_t windows);

  AxesAttr visa() const { return visaAxes; }
  AxesAttr declared() const { return tmapAxes; }
  int64_t size(int axis) const { return tmapAxes.getAxes()[axis].size; }
  int64_t fullSize(int axis) const { return visaAxes.getAxes()[axis].size; }
  bool isGrown(int axis) const { return size(axis) != fullSize(axis); }
  const std::string &name(int axis) const {
    return tmapAxes.getAxes()[axis].name;
  }
  /// The digit of `count` copies.
  std::string copies(int64_t count) const {
    return count == maxCopies ? copyAxis
                              : copyAxis + " % " + std::to_string(count);
  }
  /// The cells that the tensor has: `K`, or `K = 100` where visa has more.
  std::string live(int axis) const;
  /// Axis `number` of `rows`.
  llvm::StringRef rows(size_t number) const { return rowAxes[number]; }
  /// Chunks of rows that a slice holds, and all cells of its rows.
  llvm::StringRef windowChunks() const { return chunkAxis; }
  llvm::StringRef windowCells() const { return cellAxis; }
  /// Rows of an axis that there are windows of.
  llvm::StringRef windowLines(size_t number) const { return lineAxes[number]; }
  /// A mapping of the declared axes as one of visa.
  std::string rewrite(MappingAttr mapping) const;

private:
  static constexpr int64_t maxCopies = 8;
  AxesAttr tmapAxes, visaAxes;
  std::string copyAxis, chunkAxis, cellAxis;
  std::vector<std::string> rowAxes, lineAxes;
};

/// An axis, or the part of it that one step of a loop sees, in units of `tile`
/// cells, filled up with padding to `padded` cells.
struct Cut {
  int axis = -1;
  /// Cells without padding.
  int64_t size = 1;
  int64_t tile = 1;
  int64_t padded = 1;
  /// Units of it in the slices of a cluster, set by `spread`.
  int64_t sliceUnits = 1;
  /// All cells that the axis has in visa count: those beyond its size in tmap
  /// hold zeros.
  bool isFilled = false;
  /// The cells of each tile that a step works on; 0 for all of them.
  int64_t part = 0;
  /// Units in slices side by side, behind which the other network of a PE has
  /// the next ones; 0 where units follow one another in all slices.
  int64_t near = 0;

  int64_t units() const { return padded / tile; }
  /// Cells of a tile that are there.
  int64_t held() const { return part ? part : tile; }
  /// `A / low % count`; empty for one cell. Inside of a tile of which only a
  /// part is there, `A % tile = part / low % count`.
  std::string digit(const KernelAxes &axes, int64_t low, int64_t count) const;
  /// All cells: `A`, or `A % 64` in a loop.
  std::string whole(const KernelAxes &axes) const {
    return axes.live(axis) +
           (size == axes.size(axis) ? "" : " % " + std::to_string(size));
  }
  /// Which slice of a cluster; without the innermost `inner` of them.
  std::string slices(const KernelAxes &axes, int64_t inner = 1) const;
  /// What lies inside a slice.
  std::string inner(const KernelAxes &axes) const {
    return digit(axes, 1, held());
  }
};

/// Hardware of a target.
struct Grid {
  int64_t clusters, slices;
  static Grid get(visa::TargetAttr target);
};

/// Cluster and slice mapping of tensors, and how many slices hold something.
struct Place {
  std::string cluster, slice;
  int64_t usedClusters = 1, usedSlices = 1;
  /// Distance of used slices, or of groups of `neighbours`.
  int64_t gap = 1;
  /// Slices that lie together.
  int64_t neighbours = 1;

  /// Slices that hold something in the PE that has most of them.
  int64_t usedSlicesOfPE() const;
};

/// How the slices lie that hold the parts of a sum.
enum class PartsOrder {
  /// Next to each other, so that they can be folded between slices.
  Together,
  /// As far from each other as slices that hold something.
  Apart
};

/// Spreads the units of all cuts over clusters and slices, outermost first, and
/// sets their padding. The digits `parts` lie inside of them. Nothing where
/// they are more than there are slices.
std::optional<Place> spread(llvm::MutableArrayRef<Cut *> cuts,
                            const KernelAxes &axes, const Grid &grid,
                            llvm::ArrayRef<std::string> parts = {},
                            PartsOrder order = PartsOrder::Together);

/// Places of the operands and of the result of a sum whose axes are cut into
/// parts, one a slice.
struct SumPlaces {
  Place parts, sums;
};
/// Spreads `cuts` as `spread` does, and the parts of `sums` inside of them.
std::optional<SumPlaces> spreadSums(llvm::MutableArrayRef<Cut *> cuts,
                                    llvm::MutableArrayRef<Cut> sums,
                                    const KernelAxes &axes, const Grid &grid,
                                    PartsOrder order);

/// Steps over an axis in HBM, `tile` cells at a time; no loop where count is 1.
struct AxisLoop {
  int axis = -1;
  int64_t tile = 1;
  int64_t count = 1;
};

/// Cuts of axes that share `cells`, the innermost (last) axis first: each one
/// gets as much as is left. The innermost is filled up to multiples of
/// `granule`; what `loop` steps over is smaller.
llvm::SmallVector<Cut> shareCells(llvm::ArrayRef<int> order,
                                  const KernelAxes &axes, int64_t cells,
                                  int64_t granule = 1, AxisLoop loop = {});

/// Ways to step over an axis: not at all, and by each number up to 128 and
/// power of two beyond that divides it into parts of whole `granule`, few steps
/// first.
llvm::SmallVector<AxisLoop> getLoops(int axis, const KernelAxes &axes,
                                     int64_t granule);

/// Whether data memory can be written from `type` in HBM: what lies together on
/// both sides, by the cuts that a slice holds (innermost last, contiguous), is
/// whole words of eight bytes.
bool isLoadable(MappedTensorType type, llvm::ArrayRef<Cut> cuts,
                const KernelAxes &axes);

} // namespace furiosa::tmap

#endif // FURIOSA_LIB_CONVERSION_TMAPTOVISA_LAYOUT_H
