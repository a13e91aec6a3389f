//===- HostArray.cpp - Arrays of the host and operands in HBM -------------===//
//
// Both sides of a conversion are walked cell by cell, position by position.
//
//===----------------------------------------------------------------------===//

#include "furiosa/HostArrays/HostArray.h"
#include "furiosa/Support/CodeHash.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/CheckedArithmetic.h"

#include <algorithm>

using namespace llvm;

namespace furiosa {

static Error tooLarge(const Twine &what) {
  return createStringError("not yet supported: " + what + " with more than " +
                           Twine(maxHostCells) + " cells");
}

Expected<OperandLayout> OperandLayout::get(ElementType type,
                                           ArrayRef<HostAxis> axes,
                                           StringRef chip, StringRef element) {
  for (const HostAxis &axis : axes)
    if (axis.size < 1)
      return createStringError("axis " + axis.name + " has size " +
                               Twine(axis.size));
  OperandLayout layout;
  layout.elementType = type;
  SmallVector<int> order;
  auto positions = std::optional<int64_t>(1);
  uint64_t cells = 1;
  for (StringRef text : {chip, element}) {
    auto mapping = CellEvaluator::parse(text, axes);
    if (!mapping)
      return mapping.takeError();
    auto terms = mapping->terms(maxHostCells);
    if (!terms)
      return terms.takeError();
    for (int axis : mapping->axesInOrder())
      if (!is_contained(order, axis))
        order.push_back(axis);
    for (TermCells &term : *terms) {
      cells *= term.count();
      if (cells > maxHostCells)
        return tooLarge("an HBM tensor");
      layout.terms.push_back(std::move(term));
    }
    if (positions)
      positions = checkedMul<int64_t>(*positions, mapping->size());
  }
  auto bytes = positions ? storageBytes(type, *positions) : std::nullopt;
  if (!bytes)
    return createStringError("element \"" + element +
                             "\" is no whole number of bytes");
  layout.byteSize = *bytes;

  std::vector<int64_t> largest(order.size());
  for (TermCells &term : layout.terms) {
    // From here on axes are those of the array.
    for (auto [k, axis] : enumerate(term.axes)) {
      int64_t most = term.largest[k];
      axis = static_cast<int>(llvm::find(order, axis) - order.begin());
      // Larger ones are refused below; clamped, the sum cannot overflow.
      largest[axis] += std::min(most, int64_t(1) << 40);
    }
  }
  uint64_t size = 1;
  bool overshoots = false;
  for (auto [k, axis] : enumerate(order)) {
    layout.names.push_back(axes[axis].name);
    layout.limits.push_back(axes[axis].size);
    overshoots |= largest[k] >= axes[axis].size;
    layout.extents.push_back(std::min(largest[k] + 1, axes[axis].size));
    if (layout.extents.back() > int64_t(maxHostCells / size))
      return tooLarge("an array");
    size *= layout.extents.back();
  }
  layout.numLive = cells;
  if (overshoots) {
    layout.numLive = 0;
    layout.forEachLive([&](uint64_t, uint64_t) { ++layout.numLive; });
  }
  return layout;
}

uint64_t OperandLayout::numCells() const {
  uint64_t cells = 1;
  for (int64_t extent : extents)
    cells *= extent;
  return cells;
}

HostArray OperandLayout::makeArray() const {
  HostArray array{elementType, names, extents, {}, {}};
  array.codes.resize(numCells());
  array.defined.resize(numCells());
  return array;
}

static std::string describe(ElementType type, ArrayRef<std::string> axes,
                            ArrayRef<int64_t> shape) {
  std::string text = toString(type).str() + " [";
  for (auto [k, extent] : enumerate(shape)) {
    if (k)
      text += ", ";
    if (k < axes.size())
      text += axes[k] + " = ";
    text += std::to_string(extent);
  }
  return text + "]";
}

Error OperandLayout::check(const HostArray &array) const {
  size_t size = 1;
  for (int64_t extent : extents)
    size *= extent;
  if (array.type == elementType && array.axes == names &&
      array.shape == extents && array.codes.size() == size &&
      array.defined.size() == size)
    return Error::success();
  return createStringError(
      "array is " + describe(array.type, array.axes, array.shape) + " with " +
      Twine(array.codes.size()) + " codes, expected " +
      describe(elementType, names, extents));
}

void OperandLayout::forEachLive(
    function_ref<void(uint64_t, uint64_t)> visit) const {
  SmallVector<uint64_t> arrayStrides(extents.size());
  uint64_t stride = 1;
  for (size_t k = extents.size(); k-- > 0; stride *= extents[k])
    arrayStrides[k] = stride;
  SmallVector<uint64_t> positionStrides(terms.size());
  stride = 1;
  for (size_t t = terms.size(); t-- > 0; stride *= terms[t].size)
    positionStrides[t] = stride;

  SmallVector<int64_t> index(extents.size());
  auto walk = [&](auto &self, size_t t, uint64_t position,
                  uint64_t offset) -> void {
    if (t == terms.size()) {
      for (auto [coordinate, limit] : zip_equal(index, limits))
        if (coordinate >= limit)
          return; // Overshoot is padding.
      visit(position, offset);
      return;
    }
    const TermCells &term = terms[t];
    for (size_t cell = 0; cell < term.count(); ++cell) {
      ArrayRef<int64_t> coordinates = term.coordinatesOf(cell);
      uint64_t at = offset;
      for (auto [axis, coordinate] : zip_equal(term.axes, coordinates)) {
        index[axis] += coordinate;
        at += coordinate * arrayStrides[axis];
      }
      self(self, t + 1, position + term.positions[cell] * positionStrides[t],
           at);
      for (auto [axis, coordinate] : zip_equal(term.axes, coordinates))
        index[axis] -= coordinate;
    }
  };
  walk(walk, 0, 0, 0);
}

HostArray OperandLayout::fill(const Fill &fill) const {
  HostArray array = makeArray();
  forEachLive([&](uint64_t position, uint64_t offset) {
    if (array.defined[offset])
      return;
    array.codes[offset] = fill.code(elementType, position);
    array.defined[offset] = 1;
  });
  return array;
}

Expected<OperandBytes> packOperand(const OperandLayout &layout,
                                   const HostArray &array) {
  if (Error error = layout.check(array))
    return error;
  OperandBytes result;
  result.bytes.resize(layout.sizeInBytes());
  result.defined.resize(layout.sizeInBytes());
  ElementType type = layout.type();
  unsigned bits = wireBits(type);
  // A byte that two cells share is defined if all live ones of them are.
  std::vector<uint8_t> undefined(bits < 8 ? layout.sizeInBytes() : 0);
  layout.forEachLive([&](uint64_t position, uint64_t offset) {
    storeCode(type, result.bytes.data(), position,
              array.defined[offset] ? array.codes[offset] : 0);
    if (bits < 8) {
      uint64_t byte = position * bits / 8;
      undefined[byte] |= !array.defined[offset];
      result.defined[byte] = !undefined[byte];
      return;
    }
    std::fill_n(result.defined.begin() + position * (bits / 8), bits / 8,
                array.defined[offset]);
  });
  return result;
}

Expected<HostArray> unpackOperand(const OperandLayout &layout,
                                  ArrayRef<uint8_t> bytes,
                                  ArrayRef<uint8_t> defined) {
  if (bytes.size() != layout.sizeInBytes() ||
      (!defined.empty() && defined.size() != bytes.size()))
    return createStringError("operand has " + Twine(bytes.size()) +
                             " bytes and " + Twine(defined.size()) +
                             " marks, expected " + Twine(layout.sizeInBytes()));
  HostArray array = layout.makeArray();
  ElementType type = layout.type();
  unsigned bits = wireBits(type);
  layout.forEachLive([&](uint64_t position, uint64_t offset) {
    uint64_t first = position * bits / 8,
             last = (position * bits + bits - 1) / 8;
    bool known =
        defined.empty() || all_of(defined.slice(first, last - first + 1),
                                  [](uint8_t mark) { return mark != 0; });
    array.codes[offset] = known ? loadCode(type, bytes.data(), position) : 0;
    array.defined[offset] = known;
  });
  return array;
}

Expected<OperandSummary> summarize(const OperandLayout &layout,
                                   const HostArray &array, size_t first) {
  if (Error error = layout.check(array))
    return error;
  OperandSummary summary;
  CodeHash hash(layout.type());
  layout.forEachLive([&](uint64_t, uint64_t offset) {
    uint32_t code = array.defined[offset] ? array.codes[offset] : 0;
    ++summary.count;
    summary.undefined += !array.defined[offset];
    hash.add(code);
    if (summary.first.size() < first)
      summary.first.push_back(code);
  });
  summary.hash = hash.value();
  return summary;
}

} // namespace furiosa
