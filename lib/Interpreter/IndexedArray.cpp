//===- IndexedArray.cpp - Functions of a logical index --------------------===//
//
// Coordinates add up over the terms of a mapping, so the place in an array does
// as well: a walk adds offsets, and looks at coordinates only on axes where a
// sum may leave the axis or the array.
//
//===----------------------------------------------------------------------===//

#include "IndexedArray.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>
#include <numeric>

using namespace llvm;

namespace furiosa::interpreter {

Terms join(const Terms &lhs, const Terms &rhs) {
  Terms result = lhs;
  result.append(rhs.begin(), rhs.end());
  return result;
}

int64_t positionsOf(const Terms &terms) {
  int64_t size = 1;
  for (const TermCells *term : terms)
    size *= term->size;
  return size;
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

const BoxAxis *Box::find(int axis) const {
  for (const BoxAxis &candidate : axes)
    if (candidate.axis == axis)
      return &candidate;
  return nullptr;
}

bool Box::finish() {
  size = 1;
  for (BoxAxis &axis : reverse(axes)) {
    axis.stride = size;
    if (axis.extent > int64_t(maxHostCells) / size)
      return false;
    size *= axis.extent;
  }
  return true;
}

int64_t Box::offsetOf(ArrayRef<int64_t> index) const {
  int64_t offset = 0;
  for (const BoxAxis &axis : axes) {
    int64_t coordinate = index[axis.axis];
    if (coordinate < 0 || coordinate % axis.step != 0 ||
        coordinate / axis.step >= axis.extent)
      return -1;
    offset += coordinate / axis.step * axis.stride;
  }
  return offset;
}

static Error tooLarge() {
  return createStringError("not yet supported: a value with more than " +
                           Twine(maxHostCells) + " cells");
}

/// Coordinates are below 2^63 each; sums stay in range if clamped to this.
static constexpr int64_t farAway = int64_t(1) << 50;

Expected<Box> coverBox(ArrayRef<int> axes, const Terms &terms,
                       ArrayRef<int64_t> axisSizes, bool clip) {
  Box box;
  SmallVector<int> sorted(axes);
  llvm::sort(sorted);
  for (int axis : sorted) {
    int64_t largest = 0, step = 0;
    for (const TermCells *term : terms) {
      auto at = llvm::find(term->axes, axis);
      if (at == term->axes.end())
        continue;
      size_t k = at - term->axes.begin();
      largest += std::min(term->largest[k], farAway);
      step = std::gcd(step, term->step[k]);
    }
    if (step == 0)
      continue; // Only coordinate 0.
    if (clip)
      largest = std::min(largest, axisSizes[axis] - 1);
    box.axes.push_back({axis, step, largest / step + 1, 0});
  }
  if (!box.finish())
    return tooLarge();
  return box;
}

SmallVector<int> IndexedArray::axes() const {
  SmallVector<int> result;
  for (const BoxAxis &axis : box.axes)
    result.push_back(axis.axis);
  return result;
}

//===----------------------------------------------------------------------===//
// Digits
//===----------------------------------------------------------------------===//

Digits::Digits(const Terms &memory, ArrayRef<int64_t> axisSizes)
    : digits(axisSizes.size()) {
  for (const TermCells *term : memory)
    for (auto [k, axis] : enumerate(term->axes)) {
      std::vector<int64_t> values;
      for (size_t cell = 0; cell < term->count(); ++cell)
        values.push_back(term->coordinatesOf(cell)[k]);
      llvm::sort(values);
      values.erase(llvm::unique(values), values.end());
      // The values are sums of digits. The least one that is not zero is the
      // stride of the lowest digit, its multiples in a row are the digit; what
      // no such multiple reaches is left for the digits above.
      while (values.size() > 1) {
        int64_t stride = values[1], live = 1;
        while (std::binary_search(values.begin(), values.end(), stride * live))
          ++live;
        digits[axis].push_back({stride, live, live});
        std::vector<int64_t> rest;
        for (int64_t value : values) {
          bool reached = false;
          for (int64_t base : reverse(rest)) {
            if (reached || value - base >= live * stride)
              break;
            reached = (value - base) % stride == 0;
          }
          if (!reached)
            rest.push_back(value);
        }
        values = std::move(rest);
      }
    }
  for (auto [axis, list] : enumerate(digits)) {
    llvm::sort(list, [](const Digit &lhs, const Digit &rhs) {
      return lhs.stride < rhs.stride;
    });
    // A digit that ends where the next one begins is whole; otherwise it is a
    // window of what lies between.
    for (auto [i, digit] : enumerate(list)) {
      int64_t next = i + 1 < list.size() ? list[i + 1].stride : axisSizes[axis];
      int64_t span = (next - 1) / digit.stride + 1;
      digit.modulus = next % digit.stride == 0 && span % digit.live == 0
                          ? digit.live
                          : std::max(span, digit.live);
    }
  }
}

int64_t Digits::project(int axis, int64_t coordinate) const {
  int64_t result = 0;
  for (const Digit &digit : digits[axis]) {
    int64_t value = coordinate / digit.stride % digit.modulus;
    if (value >= digit.live)
      return -1;
    result += value * digit.stride;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Walks
//===----------------------------------------------------------------------===//

namespace {
/// What is looked at cell by cell: the coordinate on an axis, in the tensor
/// itself (access -1) or as an access sees it.
struct Tracked {
  int access;
  int axis;
  /// Of the access' box; an overshoot compares with `limit` alone.
  int64_t step, limit, stride;
};

/// Distinct rows of one term: two offsets, then a value per tracked axis.
struct Rows {
  size_t width;
  std::vector<int64_t> data;
  size_t count() const { return data.size() / width; }
  const int64_t *row(size_t i) const { return &data[i * width]; }
};

class CellWalk {
public:
  CellWalk(const Terms &kept, const Terms &projected, const Access &first,
           const Access &second, ArrayRef<int64_t> axisSizes)
      : accesses{&first, &second} {
    for (const TermCells *term : kept)
      terms.push_back({term, false});
    for (const TermCells *term : projected)
      terms.push_back({term, true});
    findTracked(axisSizes);
    for (auto [term, isProjected] : terms)
      rows.push_back(makeRows(*term, isProjected));
  }

  void run(function_ref<void(int64_t, int64_t)> visit) const {
    SmallVector<int64_t> start(2 + tracked.size(), 0);
    for (int a = 0; a < 2; ++a)
      for (auto [i, axis] : enumerate(accesses[a]->box->axes))
        if (!isTracked(a, axis.axis))
          start[a] += shiftOf(a, i) / axis.step * axis.stride;
    for (auto [i, item] : enumerate(tracked))
      if (item.access >= 0)
        for (auto [k, axis] : enumerate(accesses[item.access]->box->axes))
          if (axis.axis == item.axis)
            start[2 + i] = shiftOf(item.access, k);
    walk(0, start.data(), visit);
  }

private:
  int64_t shiftOf(int access, size_t boxAxis) const {
    ArrayRef<int64_t> shift = accesses[access]->shift;
    return shift.empty() ? 0 : shift[accesses[access]->box->axes[boxAxis].axis];
  }

  bool isTracked(int access, int axis) const {
    return any_of(tracked, [&](const Tracked &item) {
      return item.access == access && item.axis == axis;
    });
  }

  /// The coordinate of a cell as an access sees it; far away where it has no
  /// source.
  int64_t seen(int access, int axis, int64_t coordinate,
               bool isProjected) const {
    const Digits *digits = accesses[access]->digits;
    if (!digits || !isProjected)
      return std::min(coordinate, farAway);
    int64_t projected = digits->project(axis, coordinate);
    return projected < 0 ? farAway : std::min(projected, farAway);
  }

  void findTracked(ArrayRef<int64_t> axisSizes) {
    SmallVector<int64_t> largest(axisSizes.size());
    for (auto [term, isProjected] : terms)
      for (auto [k, axis] : enumerate(term->axes))
        largest[axis] += std::min(term->largest[k], farAway);
    for (auto [axis, most] : enumerate(largest))
      if (most >= axisSizes[axis])
        tracked.push_back({-1, static_cast<int>(axis), 1, axisSizes[axis], 0});
    for (int a = 0; a < 2; ++a)
      for (auto [i, axis] : enumerate(accesses[a]->box->axes)) {
        int64_t most = shiftOf(a, i);
        bool whole = most % axis.step == 0;
        for (auto [term, isProjected] : terms) {
          auto at = llvm::find(term->axes, axis.axis);
          if (at == term->axes.end())
            continue;
          size_t k = at - term->axes.begin();
          int64_t termMost = 0;
          for (size_t cell = 0; cell < term->count(); ++cell) {
            int64_t coordinate =
                seen(a, axis.axis, term->coordinatesOf(cell)[k], isProjected);
            termMost = std::max(termMost, coordinate);
            whole &= coordinate % axis.step == 0;
          }
          most += termMost;
        }
        if (!whole || most / axis.step >= axis.extent)
          tracked.push_back(
              {a, axis.axis, axis.step, axis.extent, axis.stride});
      }
  }

  Rows makeRows(const TermCells &term, bool isProjected) const {
    Rows result{2 + tracked.size(), {}};
    SmallVector<int64_t> row(result.width);
    std::vector<SmallVector<int64_t, 4>> all;
    // Where a column's value comes from: k-th axis of the term.
    struct Column {
      size_t column, k;
      int access, axis;
      int64_t step, stride;
    };
    SmallVector<Column> columns;
    for (auto [k, axis] : enumerate(term.axes)) {
      for (int a = 0; a < 2; ++a)
        if (const BoxAxis *boxAxis = accesses[a]->box->find(axis);
            boxAxis && !isTracked(a, axis))
          columns.push_back({static_cast<size_t>(a), k, a, axis, boxAxis->step,
                             boxAxis->stride});
      for (auto [i, item] : enumerate(tracked))
        if (item.axis == axis)
          columns.push_back({2 + i, k, item.access, axis, 1, 1});
    }
    size_t cells =
        columns.empty() ? std::min<size_t>(term.count(), 1) : term.count();
    for (size_t cell = 0; cell < cells; ++cell) {
      llvm::fill(row, 0);
      for (const Column &column : columns) {
        int64_t coordinate = term.coordinatesOf(cell)[column.k];
        if (column.access >= 0)
          coordinate =
              seen(column.access, column.axis, coordinate, isProjected);
        else
          coordinate = std::min(coordinate, farAway);
        row[column.column] += coordinate / column.step * column.stride;
      }
      all.emplace_back(row.begin(), row.end());
    }
    // Cells often are sorted and distinct already.
    if (!llvm::is_sorted(all))
      llvm::sort(all);
    all.erase(llvm::unique(all), all.end());
    for (const auto &entry : all)
      result.data.insert(result.data.end(), entry.begin(), entry.end());
    return result;
  }

  void leaf(const int64_t *values,
            function_ref<void(int64_t, int64_t)> visit) const {
    int64_t offsets[2] = {values[0], values[1]};
    bool found[2] = {true, true};
    for (auto [i, item] : enumerate(tracked)) {
      int64_t value = values[2 + i];
      if (item.access < 0) {
        if (value >= item.limit)
          return; // Overshoot is padding.
      } else if (value < 0 || value % item.step != 0 ||
                 value / item.step >= item.limit) {
        found[item.access] = false;
      } else {
        offsets[item.access] += value / item.step * item.stride;
      }
    }
    if (found[0])
      visit(offsets[0], found[1] ? offsets[1] : -1);
  }

  void walk(size_t t, const int64_t *base,
            function_ref<void(int64_t, int64_t)> visit) const {
    if (t == rows.size())
      return leaf(base, visit);
    const Rows &list = rows[t];
    if (t + 1 == rows.size() && tracked.empty()) {
      for (size_t i = 0; i < list.count(); ++i)
        visit(base[0] + list.row(i)[0], base[1] + list.row(i)[1]);
      return;
    }
    SmallVector<int64_t> values(list.width);
    for (size_t i = 0; i < list.count(); ++i) {
      for (size_t k = 0; k < list.width; ++k)
        values[k] = base[k] + list.row(i)[k];
      walk(t + 1, values.data(), visit);
    }
  }

  const Access *accesses[2];
  SmallVector<std::pair<const TermCells *, bool>> terms;
  SmallVector<Tracked> tracked;
  SmallVector<Rows> rows;
};
} // namespace

void walkCells(const Terms &kept, const Terms &projected, const Access &first,
               const Access &second, ArrayRef<int64_t> axisSizes,
               function_ref<void(int64_t, int64_t)> visit) {
  CellWalk(kept, projected, first, second, axisSizes).run(visit);
}

Expected<IndexedArray> readArray(const IndexedArray &source,
                                 ArrayRef<int64_t> shift, const Digits *digits,
                                 const Terms &kept, const Terms &projected,
                                 ArrayRef<int64_t> axisSizes, bool clip) {
  auto box = coverBox(source.axes(), join(kept, projected), axisSizes, clip);
  if (!box)
    return box.takeError();
  IndexedArray result(source.type, std::move(*box));
  walkCells(kept, projected, {&result.box}, {&source.box, shift, digits},
            axisSizes, [&](int64_t to, int64_t from) {
              if (from < 0)
                return;
              result.codes[to] = source.codes[from];
              result.defined[to] = source.defined[from];
            });
  return result;
}

//===----------------------------------------------------------------------===//
// Element-wise operations
//===----------------------------------------------------------------------===//

std::vector<int64_t> broadcastOffsets(const Box &box, const Box &array) {
  std::vector<int64_t> result{0};
  for (const BoxAxis &axis : box.axes) {
    const BoxAxis *other = array.find(axis.axis);
    std::vector<int64_t> next;
    next.reserve(result.size() * axis.extent);
    for (int64_t base : result)
      for (int64_t i = 0; i < axis.extent; ++i) {
        int64_t coordinate = i * axis.step;
        if (base < 0 || (other && (coordinate % other->step != 0 ||
                                   coordinate / other->step >= other->extent)))
          next.push_back(-1);
        else
          next.push_back(
              base + (other ? coordinate / other->step * other->stride : 0));
      }
    result = std::move(next);
  }
  return result;
}

Expected<Box> unionBox(const Box &lhs, const Box &rhs) {
  Box box = lhs;
  for (const BoxAxis &axis : rhs.axes)
    if (!lhs.find(axis.axis))
      box.axes.push_back(axis);
  llvm::sort(box.axes, [](const BoxAxis &a, const BoxAxis &b) {
    return a.axis < b.axis;
  });
  if (!box.finish())
    return tooLarge();
  return box;
}

} // namespace furiosa::interpreter
