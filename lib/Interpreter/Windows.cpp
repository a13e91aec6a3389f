//===- Windows.cpp - Rows of an array, a window at a time -----------------===//

#include "Windows.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

#include <numeric>

using namespace llvm;

namespace furiosa::interpreter {

Expected<IndexedArray> spreadRows(const IndexedArray &source,
                                  ArrayRef<int64_t> shift,
                                  const RowWindow &window,
                                  ArrayRef<int64_t> axisSizes) {
  Box box;
  for (const BoxAxis &axis : source.box.axes)
    if (axis.axis != window.axis)
      box.axes.push_back(axis);
  for (const RowWindow::Term &term : window.terms) {
    auto *known = llvm::find_if(
        box.axes, [&](const BoxAxis &axis) { return axis.axis == term.axis; });
    if (known == box.axes.end()) {
      box.axes.push_back({term.axis, term.stride, term.count, 0});
      continue;
    }
    known->step = std::gcd(known->step, term.stride);
    known->extent = (axisSizes[term.axis] - 1) / known->step + 1;
  }
  llvm::sort(box.axes, [](const BoxAxis &a, const BoxAxis &b) {
    return a.axis < b.axis;
  });
  if (!box.finish())
    return createStringError("not yet supported: windows of more than " +
                             Twine(maxHostCells) + " cells");
  IndexedArray result(source.type, std::move(box));
  SmallVector<int64_t> index(axisSizes.size());
  for (int64_t at = 0; at < result.box.size; ++at) {
    for (const BoxAxis &axis : result.box.axes)
      index[axis.axis] = at / axis.stride % axis.extent * axis.step;
    int64_t row = window.start + (shift.empty() ? 0 : shift[window.axis]);
    for (const RowWindow::Term &term : window.terms) {
      int64_t digit = index[term.axis] / term.stride % term.count;
      row += digit * term.factor;
      index[term.axis] -= digit * term.stride;
    }
    index[window.axis] = row;
    int64_t from = source.box.offsetOf(index);
    if (from < 0)
      continue;
    result.codes[at] = source.codes[from];
    result.defined[at] = source.defined[from];
  }
  return result;
}

} // namespace furiosa::interpreter
