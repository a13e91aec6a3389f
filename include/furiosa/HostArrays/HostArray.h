//===- HostArray.h - Arrays of the host and operands in HBM -----*- C++ -*-===//
//
// What a user passes to a kernel and gets back, and its conversion to and from
// the bytes of an HBM buffer. Works from mapping texts alone, as EDF files
// store them. Interpreter and simulator share it.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_HOSTARRAYS_HOSTARRAY_H
#define FURIOSA_HOSTARRAYS_HOSTARRAY_H

#include "furiosa/HostArrays/CellEvaluator.h"
#include "furiosa/Support/Fill.h"
#include "furiosa/Support/NumberFormats.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace furiosa {

/// A row-major array of codes over named axes.
struct HostArray {
  ElementType type = ElementType::I32;
  std::vector<std::string> axes;
  /// Positions along each axis of `axes`.
  std::vector<int64_t> shape;
  std::vector<uint32_t> codes;
  /// One per code: 0 where nothing was ever written.
  std::vector<uint8_t> defined;
};

/// The bytes of an HBM buffer. `defined[i]` is 0 where byte i holds no live
/// cell, or one that is undefined.
struct OperandBytes {
  std::vector<uint8_t> bytes;
  std::vector<uint8_t> defined;
};

/// How the cells of an HBM tensor lie in its buffer, and in the array that the
/// host sees. The array lists the axes in the order of their first appearance
/// in chip and element mapping; along each axis it ends with the largest live
/// coordinate.
class OperandLayout {
public:
  /// An error names what is wrong with a text, or that the tensor is larger
  /// than maxHostCells.
  static llvm::Expected<OperandLayout> get(ElementType type,
                                           llvm::ArrayRef<HostAxis> axes,
                                           llvm::StringRef chip,
                                           llvm::StringRef element);

  ElementType type() const { return elementType; }
  /// Names of the array's axes.
  const std::vector<std::string> &axes() const { return names; }
  const std::vector<int64_t> &shape() const { return extents; }
  /// Bytes of the buffer: the parts of all chips, one after the other.
  uint64_t sizeInBytes() const { return byteSize; }
  uint64_t liveCells() const { return numLive; }
  /// Cells of the array: the product of its extents.
  uint64_t numCells() const;

  /// An undefined array of this shape.
  HostArray makeArray() const;
  /// Whether `array` has this type, these axes and this shape; the error says
  /// what differs.
  llvm::Error check(const HostArray &array) const;

  /// An array whose cell at position n (row-major over chip and element
  /// positions, padding included) is element n of `fill`. A cell that stands at
  /// several positions gets the first one's value.
  HostArray fill(const Fill &fill) const;

  /// Calls `visit(position, offset)` for each live cell by rising position;
  /// `offset` is the cell's place in the array.
  void forEachLive(llvm::function_ref<void(uint64_t, uint64_t)> visit) const;

private:
  ElementType elementType = ElementType::I32;
  std::vector<std::string> names;
  std::vector<int64_t> extents;
  /// Declared sizes of the array's axes: a cell at or beyond is padding.
  std::vector<int64_t> limits;
  uint64_t byteSize = 0, numLive = 0;
  /// Chip terms, then element terms; coordinates over the array's axes.
  std::vector<TermCells> terms;
};

/// The buffer's bytes of `array`. Padding is zero and undefined.
llvm::Expected<OperandBytes> packOperand(const OperandLayout &layout,
                                         const HostArray &array);
/// The array of a buffer. A cell is undefined where a byte of it is, or where
/// no position holds it; of several positions the last one counts. `defined`
/// may be empty: then every byte is defined.
llvm::Expected<HostArray> unpackOperand(const OperandLayout &layout,
                                        llvm::ArrayRef<uint8_t> bytes,
                                        llvm::ArrayRef<uint8_t> defined);

/// What one prints of an operand: its live cells by rising position.
struct OperandSummary {
  uint64_t count = 0;
  uint64_t undefined = 0;
  /// CodeHash of the live cells, undefined ones as zero.
  uint64_t hash = 0;
  /// The first codes, at most `first` of them.
  std::vector<uint32_t> first;
};
llvm::Expected<OperandSummary> summarize(const OperandLayout &layout,
                                         const HostArray &array,
                                         size_t first = 8);

} // namespace furiosa

#endif // FURIOSA_HOSTARRAYS_HOSTARRAY_H
