//===- Contraction.cpp - Sums of products by index ------------------------===//
//
// Every position of every dimension has an offset into each operand; the inner
// loop adds offsets.
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <bit>

using namespace llvm;

namespace furiosa::interpreter {

namespace {
/// For each position of some terms: whether it is live, the offset into each of
/// several boxes, and coordinates on some axes.
struct PositionTable {
  size_t width = 0;
  std::vector<int64_t> data;
  std::vector<uint8_t> live;

  int64_t size() const { return static_cast<int64_t>(live.size()); }
  ArrayRef<int64_t> row(int64_t position) const {
    return ArrayRef(data).slice(position * width, width);
  }
  int64_t at(int64_t position, size_t column) const {
    return data[position * width + column];
  }
};
} // namespace

static Expected<PositionTable>
makeTable(const Terms &terms, ArrayRef<const Box *> boxes, ArrayRef<int> axes) {
  PositionTable table;
  table.width = boxes.size() + axes.size();
  int64_t size = 1;
  for (const TermCells *term : terms) {
    if (term->size > int64_t(maxHostCells / 16) / size)
      return createStringError("not yet supported: a contraction with more "
                               "than " +
                               Twine(maxHostCells / 16) + " positions");
    size *= term->size;
  }
  table.live = {1};
  table.data.resize(table.width);
  // Term by term: the positions so far become the outer digits.
  for (const TermCells *term : terms) {
    PositionTable next;
    next.width = table.width;
    next.live.resize(table.live.size() * term->size);
    next.data.resize(next.live.size() * next.width);
    SmallVector<int64_t> delta(table.width);
    for (size_t cell = 0; cell < term->count(); ++cell) {
      llvm::fill(delta, 0);
      for (auto [axis, coordinate] :
           zip_equal(term->axes, term->coordinatesOf(cell))) {
        for (auto [i, box] : enumerate(boxes))
          if (const BoxAxis *boxAxis = box->find(axis))
            delta[i] += coordinate / boxAxis->step * boxAxis->stride;
        for (auto [i, wanted] : enumerate(axes))
          if (wanted == axis)
            delta[boxes.size() + i] += coordinate;
      }
      for (int64_t outer = 0; outer < table.size(); ++outer) {
        if (!table.live[outer])
          continue;
        int64_t position = outer * term->size + term->positions[cell];
        next.live[position] = 1;
        for (size_t i = 0; i < table.width; ++i)
          next.data[position * table.width + i] = table.at(outer, i) + delta[i];
      }
    }
    table = std::move(next);
  }
  return table;
}

/// Axes that the terms name, rising.
static SmallVector<int> axesOf(const Terms &terms) {
  SmallVector<int> axes;
  for (const TermCells *term : terms)
    for (int axis : term->axes)
      if (!is_contained(axes, axis))
        axes.push_back(axis);
  llvm::sort(axes);
  return axes;
}

namespace {
/// Which packets make one sum: packet `first[p] + step` for each of `steps`, in
/// order; `first[p]` is -1 where kept position p is padding.
struct TimeSums {
  std::vector<int64_t> first, steps;
};
} // namespace

/// Finds the kept positions among those of outer time by their cells: a kept
/// position begins where the same cell first occurs, all summed digits being
/// zero there. The summed steps are what is left to reach the other positions.
static Expected<TimeSums> findSums(const Contraction &contraction) {
  SmallVector<int> axes =
      axesOf(join(contraction.outerTime, contraction.keptTime));
  auto outer = makeTable(contraction.outerTime, {}, axes);
  if (!outer)
    return outer.takeError();
  auto kept = makeTable(contraction.keptTime, {}, axes);
  if (!kept)
    return kept.takeError();
  std::vector<int64_t> byCell;
  for (int64_t q = 0; q < outer->size(); ++q)
    if (outer->live[q])
      byCell.push_back(q);
  llvm::sort(byCell, [&](int64_t a, int64_t b) {
    auto left = outer->row(a), right = outer->row(b);
    return left < right || (left == right && a < b);
  });
  TimeSums sums;
  std::vector<int64_t> starts;
  for (int64_t p = 0; p < kept->size(); ++p) {
    sums.first.push_back(-1);
    if (!kept->live[p])
      continue;
    auto at = std::lower_bound(
        byCell.begin(), byCell.end(), p,
        [&](int64_t q, int64_t) { return outer->row(q) < kept->row(p); });
    if (at == byCell.end() || outer->row(*at) != kept->row(p))
      return createStringError("not yet supported: a kept time position that "
                               "the stream does not have");
    sums.first[p] = *at;
    starts.push_back(*at);
  }
  std::vector<uint8_t> reached(outer->size());
  size_t numReached = 0;
  for (int64_t q = 0; q < outer->size(); ++q) {
    if (!outer->live[q] || reached[q])
      continue;
    sums.steps.push_back(q);
    for (int64_t start : starts) {
      int64_t position = q + start;
      if (position >= outer->size() || reached[position] ||
          !outer->live[position])
        return createStringError("not yet supported: time positions that fall "
                                 "into no regular sums");
      reached[position] = 1;
      ++numReached;
    }
  }
  if (numReached != byCell.size())
    return createStringError("not yet supported: time positions that belong to "
                             "no sum");
  return sums;
}

namespace {
/// Arithmetic of integer and of float operands.
struct IntegerMath {
  using Value = uint32_t;
  static constexpr ElementType result = ElementType::I32;
  static Value decode(ElementType type, uint32_t code) {
    return static_cast<uint32_t>(decodeInteger(type, code));
  }
  static Value mul(Value lhs, Value rhs) { return lhs * rhs; }
  static Value add(Value lhs, Value rhs) { return lhs + rhs; }
  static uint32_t encode(Value value) { return value; }
};
struct FloatMath {
  using Value = float;
  static constexpr ElementType result = ElementType::F32;
  static Value decode(ElementType type, uint32_t code) {
    return std::bit_cast<float>(decodeFloat(type, code));
  }
  static Value mul(Value lhs, Value rhs) { return mulHostF32(lhs, rhs); }
  static Value add(Value lhs, Value rhs) { return addHostF32(lhs, rhs); }
  static uint32_t encode(Value value) { return std::bit_cast<uint32_t>(value); }
};

/// Offsets of one distinct (chip, cluster, slice), or lane: into the stream,
/// the weight and the result; then coordinates that may overshoot.
using Row = SmallVector<int64_t, 4>;
} // namespace

static std::vector<Row> distinctRows(const PositionTable &table) {
  std::vector<Row> rows;
  for (int64_t position = 0; position < table.size(); ++position)
    if (table.live[position])
      rows.emplace_back(table.row(position).begin(), table.row(position).end());
  llvm::sort(rows);
  rows.erase(llvm::unique(rows), rows.end());
  return rows;
}

/// Cells of the packet that the tree adds into one column. Where it leaves more
/// columns than are kept, a column is where its first cell is.
static int64_t getGroup(const PositionTable &packet,
                        const PositionTable &columns) {
  int64_t whole = packet.size() / columns.size();
  for (int64_t group = whole; group >= 1; group /= 2) {
    bool fits = true;
    for (int64_t k = 0; k < columns.size() && fits; ++k)
      fits = !columns.live[k] || (packet.at(k * group, 0) == columns.at(k, 0) &&
                                  packet.at(k * group, 1) == columns.at(k, 1));
    if (fits)
      return group;
  }
  return whole;
}

template <typename Math>
static Expected<IndexedArray> contractWith(const Contraction &contraction,
                                           ArrayRef<int64_t> axisSizes) {
  using Value = typename Math::Value;
  const IndexedArray &stream = contraction.stream;
  const IndexedArray &weight = contraction.weight;
  Terms outputTerms = join(join(contraction.spatial, contraction.lane),
                           join(contraction.keptTime, contraction.columns));
  SmallVector<int> valueAxes = stream.axes();
  for (int axis : weight.axes())
    if (!is_contained(valueAxes, axis))
      valueAxes.push_back(axis);
  auto wide = coverBox(axesOf(outputTerms), outputTerms, axisSizes, false);
  auto box = coverBox(valueAxes, outputTerms, axisSizes, true);
  // Axes on which a sum of coordinates may overshoot.
  SmallVector<int> checked;
  if (wide) {
    for (const BoxAxis &axis : wide->axes)
      if (axis.step * (axis.extent - 1) >= axisSizes[axis.axis])
        checked.push_back(axis.axis);
  } else {
    consumeError(wide.takeError());
    checked = axesOf(outputTerms);
  }
  if (!box)
    return box.takeError();

  const Box *boxes[] = {&stream.box, &weight.box, &*box};
  PositionTable spatialTable, laneTable, timeTable, packetTable, keptTable,
      columnTable;
  auto fill = [&](PositionTable &table, const Terms &terms,
                  ArrayRef<int> axes) -> Error {
    auto made = makeTable(terms, boxes, axes);
    if (!made)
      return made.takeError();
    table = std::move(*made);
    return Error::success();
  };
  if (Error error = fill(spatialTable, contraction.spatial, checked))
    return error;
  if (Error error = fill(laneTable, contraction.lane, checked))
    return error;
  if (Error error = fill(timeTable, contraction.outerTime, {}))
    return error;
  if (Error error = fill(packetTable, contraction.packet, {}))
    return error;
  if (Error error = fill(keptTable, contraction.keptTime, checked))
    return error;
  if (Error error = fill(columnTable, contraction.columns, checked))
    return error;
  auto sums = findSums(contraction);
  if (!sums)
    return sums.takeError();

  int64_t packetSize = packetTable.size(), numColumns = columnTable.size();
  if (packetSize % numColumns != 0 || !isPowerOf2_64(packetSize / numColumns))
    return createStringError("not yet supported: a tree from " +
                             Twine(packetSize) + " cells to " +
                             Twine(numColumns));
  int64_t group = getGroup(packetTable, columnTable);

  std::vector<Value> streamValues, weightValues;
  for (uint32_t code : stream.codes)
    streamValues.push_back(Math::decode(stream.type, code));
  for (uint32_t code : weight.codes)
    weightValues.push_back(Math::decode(weight.type, code));
  bool allDefined = !is_contained(stream.defined, 0) &&
                    !is_contained(weight.defined, 0) &&
                    !is_contained(packetTable.live, 0);

  IndexedArray result(Math::result, *box);
  std::vector<Row> spatialRows = distinctRows(spatialTable);
  std::vector<Row> laneRows = distinctRows(laneTable);
  std::vector<int64_t> streamAt, weightAt;
  for (int64_t k = 0; k < packetSize; ++k) {
    streamAt.push_back(packetTable.at(k, 0));
    weightAt.push_back(packetTable.at(k, 1));
  }
  std::vector<Value> left(packetSize), tree(packetSize);
  std::vector<Value> sum(laneRows.size() * numColumns);
  std::vector<uint8_t> known(sum.size());
  HostF32Scope scope;
  for (const Row &spatial : spatialRows)
    for (int64_t p = 0; p < keptTable.size(); ++p) {
      if (sums->first[p] < 0)
        continue;
      std::fill(sum.begin(), sum.end(), Value());
      std::fill(known.begin(), known.end(), 1);
      for (int64_t step : sums->steps) {
        int64_t q = sums->first[p] + step;
        int64_t streamBase = spatial[0] + timeTable.at(q, 0);
        int64_t weightBase = spatial[1] + timeTable.at(q, 1);
        for (int64_t k = 0; k < packetSize; ++k)
          left[k] = streamValues[streamBase + streamAt[k]];
        for (auto [lane, row] : enumerate(laneRows)) {
          const Value *right = weightValues.data() + weightBase + row[1];
          for (int64_t k = 0; k < packetSize; ++k)
            tree[k] = Math::mul(left[k], right[weightAt[k]]);
          for (int64_t count = packetSize; count * group > packetSize;
               count /= 2)
            for (int64_t k = 0; k < count / 2; ++k)
              tree[k] = Math::add(tree[2 * k], tree[2 * k + 1]);
          for (int64_t column = 0; column < numColumns; ++column) {
            Value &total = sum[lane * numColumns + column];
            total = Math::add(total, tree[column]);
          }
          if (allDefined)
            continue;
          for (int64_t k = 0; k < group * numColumns; ++k)
            if (!packetTable.live[k] ||
                !stream.defined[streamBase + streamAt[k]] ||
                !weight.defined[weightBase + row[1] + weightAt[k]])
              known[lane * numColumns + k / group] = 0;
        }
      }
      for (auto [lane, row] : enumerate(laneRows))
        for (int64_t column = 0; column < numColumns; ++column) {
          if (!columnTable.live[column])
            continue;
          bool overshoot = false;
          for (auto [i, axis] : enumerate(checked)) {
            size_t at = 3 + i;
            overshoot |= spatial[at] + row[at] + keptTable.at(p, at) +
                             columnTable.at(column, at) >=
                         axisSizes[axis];
          }
          if (overshoot)
            continue;
          int64_t offset = spatial[2] + row[2] + keptTable.at(p, 2) +
                           columnTable.at(column, 2);
          result.codes[offset] = Math::encode(sum[lane * numColumns + column]);
          result.defined[offset] = known[lane * numColumns + column];
        }
    }
  return result;
}

Expected<IndexedArray> contract(const Contraction &contraction,
                                ArrayRef<int64_t> axisSizes) {
  if (isFloat(contraction.stream.type))
    return contractWith<FloatMath>(contraction, axisSizes);
  return contractWith<IntegerMath>(contraction, axisSizes);
}

} // namespace furiosa::interpreter
