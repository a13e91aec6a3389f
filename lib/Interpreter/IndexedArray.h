//===- IndexedArray.h - Functions of a logical index ------------*- C++ -*-===//
//
// The values that flow through a kernel: codes over coordinates of named axes,
// and the walks over the live cells of mappings that build them. Plain data.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_INTERPRETER_INDEXEDARRAY_H
#define FURIOSA_LIB_INTERPRETER_INDEXEDARRAY_H

#include "furiosa/HostArrays/CellEvaluator.h"
#include "furiosa/Support/NumberFormats.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

namespace furiosa::interpreter {

/// The terms of one or several dimensions, outermost first. They are owned by
/// the kernel's execution.
using Terms = llvm::SmallVector<const TermCells *, 8>;

/// Terms of `lhs` and `rhs` one after the other.
Terms join(const Terms &lhs, const Terms &rhs);
/// Positions of all terms together.
int64_t positionsOf(const Terms &terms);

/// Coordinates 0, step, … along one axis.
struct BoxAxis {
  int axis;
  int64_t step;
  int64_t extent;
  /// Elements between neighbours in the row-major array.
  int64_t stride;
};

/// The coordinates that an array holds. An axis that it lacks does not matter:
/// the value is the same for all coordinates.
struct Box {
  llvm::SmallVector<BoxAxis, 4> axes;
  int64_t size = 1;

  const BoxAxis *find(int axis) const;
  /// Sets the strides and the size; false if there are too many cells.
  bool finish();
  /// The place of `index` (a coordinate per declared axis), or -1.
  int64_t offsetOf(llvm::ArrayRef<int64_t> index) const;
};

/// The least box over those of `axes` that `terms` name, around their live
/// cells. With `clip`, overshoot lies outside. An error if it is too large.
llvm::Expected<Box> coverBox(llvm::ArrayRef<int> axes, const Terms &terms,
                             llvm::ArrayRef<int64_t> axisSizes, bool clip);

/// A value: a code, or nothing, for each coordinate of a box.
struct IndexedArray {
  ElementType type = ElementType::I32;
  Box box;
  std::vector<uint32_t> codes;
  std::vector<uint8_t> defined;

  IndexedArray() = default;
  /// All undefined.
  IndexedArray(ElementType type, Box shape)
      : type(type), box(std::move(shape)), codes(box.size), defined(box.size) {}

  llvm::SmallVector<int> axes() const;
};

/// The digits that a memory carries, axis by axis. A reader's coordinate agrees
/// with the memory on these digits; digits that the memory lacks are
/// broadcast.
class Digits {
public:
  Digits(const Terms &memory, llvm::ArrayRef<int64_t> axisSizes);

  /// Adds the digit `axis / stride % count`.
  void add(int axis, int64_t stride, int64_t count) {
    digits[axis].push_back({stride, count, count});
  }

  /// The memory's coordinate for a reader's, or -1 if the memory has no such
  /// digit.
  int64_t project(int axis, int64_t coordinate) const;

private:
  struct Digit {
    int64_t stride, live, modulus;
  };
  std::vector<llvm::SmallVector<Digit, 2>> digits;
};

/// One array that a walk visits: the box, what is added to each coordinate
/// before (empty: nothing), and the digits that coordinates of projected terms
/// are read by (null: as they are).
struct Access {
  const Box *box;
  llvm::ArrayRef<int64_t> shift = {};
  const Digits *digits = nullptr;
};

/// Calls `visit` for the live cells of `kept` and `projected` terms together,
/// each distinct pair of offsets once. An offset is -1 where the second access
/// has no such cell; cells outside the first are skipped.
void walkCells(const Terms &kept, const Terms &projected, const Access &first,
               const Access &second, llvm::ArrayRef<int64_t> axisSizes,
               llvm::function_ref<void(int64_t, int64_t)> visit);

/// The function of `source` (moved by `shift`) on the live cells of the terms;
/// undefined elsewhere.
llvm::Expected<IndexedArray>
readArray(const IndexedArray &source, llvm::ArrayRef<int64_t> shift,
          const Digits *digits, const Terms &kept, const Terms &projected,
          llvm::ArrayRef<int64_t> axisSizes, bool clip = true);

/// Where `array` stands as a function of the coordinates of `box`: the offset
/// into it per place of `box`, -1 where it has none.
std::vector<int64_t> broadcastOffsets(const Box &box, const Box &array);

/// The box of an element-wise operation: the left one, and the axes that only
/// the right one has. An error if it is too large.
llvm::Expected<Box> unionBox(const Box &lhs, const Box &rhs);

} // namespace furiosa::interpreter

#endif // FURIOSA_LIB_INTERPRETER_INDEXEDARRAY_H
