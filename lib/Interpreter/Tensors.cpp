//===- Tensors.cpp - Functions of tensors by index ------------------------===//
//
// Each op is computed from its definition, index by index: no packets, no
// tiles, no placement. Only the order of f32 sums is the one that the ops fix.
//
//===----------------------------------------------------------------------===//

#include "Execution.h"
#include "furiosa/Dialect/TensorMapping/IR/TensorOps.h"

#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::interpreter;

/// An undefined array for a result.
static FailureOr<IndexedArray> makeResult(Operation *op,
                                          KernelExecution &execution) {
  Type type = op->getResult(0).getType();
  auto box = execution.makeBox(op, type);
  auto elementType = getElementType(getParts(type).elementType);
  if (failed(box) || !elementType)
    return failure();
  return IndexedArray(*elementType, std::move(*box));
}

static const IndexedArray &getArray(Value value, KernelExecution &execution) {
  return execution.getTensor(value).buffer->array;
}

//===----------------------------------------------------------------------===//
// One element at a time
//===----------------------------------------------------------------------===//

static LogicalResult interpretElementwise(tmap::ElementwiseOp op,
                                          KernelExecution &execution) {
  auto result = makeResult(op, execution);
  auto function = tmap::ElementFunction::find(
      op.getFn(), op.getType().getElementType(), op.getOperands().size());
  if (failed(result) || !function)
    return failure();
  SmallVector<const IndexedArray *, 3> operands;
  SmallVector<std::vector<int64_t>, 3> offsets;
  for (Value operand : op.getOperands()) {
    operands.push_back(&getArray(operand, execution));
    offsets.push_back(broadcastOffsets(result->box, operands.back()->box));
  }
  for (int64_t i = 0; i < result->box.size; ++i) {
    uint32_t codes[3] = {};
    bool defined = true;
    for (auto [k, operand] : llvm::enumerate(operands)) {
      int64_t at = offsets[k][i];
      defined &= at >= 0 && operand->defined[at];
      codes[k] = at < 0 ? 0 : operand->codes[at];
    }
    auto value = defined ? function->apply(codes[0], codes[1], codes[2],
                                           operands.front()->type)
                         : std::nullopt;
    result->defined[i] = value.has_value();
    result->codes[i] = value.value_or(0);
  }
  execution.bindBuffer(op.getResult(), std::move(*result));
  return success();
}

/// Casts and moves: `convert` of the element with the same index.
template <typename OpT, typename Convert>
static LogicalResult interpretEach(OpT op, KernelExecution &execution,
                                   Convert convert) {
  auto result = makeResult(op, execution);
  if (failed(result))
    return failure();
  const IndexedArray &source = getArray(op.getSource(), execution);
  std::vector<int64_t> offsets = broadcastOffsets(result->box, source.box);
  for (auto [i, at] : llvm::enumerate(offsets))
    if (at >= 0 && source.defined[at]) {
      result->codes[i] = convert(source.codes[at]);
      result->defined[i] = 1;
    }
  execution.bindBuffer(op.getResult(), std::move(*result));
  return success();
}

static LogicalResult interpretCast(tmap::CastOp op,
                                   KernelExecution &execution) {
  ElementType from = *getElementType(op.getSource().getType().getElementType());
  ElementType to = *getElementType(op.getType().getElementType());
  return interpretEach(op, execution, [&](uint32_t code) {
    return *tmap::castCode(from, to, code);
  });
}

static LogicalResult interpretMove(tmap::MoveOp op,
                                   KernelExecution &execution) {
  return interpretEach(op, execution, [](uint32_t code) { return code; });
}

static LogicalResult interpretConstant(tmap::ConstantOp op,
                                       KernelExecution &execution) {
  auto result = makeResult(op, execution);
  if (failed(result))
    return failure();
  llvm::fill(result->codes, *tmap::getCode(op.getValue()));
  llvm::fill(result->defined, 1);
  execution.bindBuffer(op.getResult(), std::move(*result));
  return success();
}

//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

/// A box over whole axes, the first one outermost.
static FailureOr<Box> makeWholeBox(Operation *op, ArrayRef<int> axes,
                                   ArrayRef<int64_t> sizes) {
  Box box;
  for (int axis : axes)
    box.axes.push_back({axis, 1, sizes[axis], 0});
  if (!box.finish())
    return op->emitError() << "not yet supported: a value with more than "
                           << maxHostCells << " cells";
  return box;
}

/// What `array` holds for each coordinate of `box`, -1 where it is undefined.
static std::vector<int64_t> findCells(const Box &box,
                                      const IndexedArray &array) {
  std::vector<int64_t> offsets = broadcastOffsets(box, array.box);
  for (int64_t &at : offsets)
    if (at >= 0 && !array.defined[at])
      at = -1;
  return offsets;
}

static SmallVector<int> without(ArrayRef<int> axes, ArrayRef<int> dropped) {
  SmallVector<int> rest;
  for (int axis : axes)
    if (!llvm::is_contained(dropped, axis))
      rest.push_back(axis);
  return rest;
}

static LogicalResult foldAxis(tmap::ReduceOp op, const vector::Reduction &row,
                              int axis, ArrayRef<int64_t> sizes,
                              IndexedArray &values) {
  SmallVector<int> kept = without(values.axes(), axis);
  SmallVector<int> all = kept;
  all.push_back(axis);
  auto to = makeWholeBox(op, kept, sizes), from = makeWholeBox(op, all, sizes);
  if (failed(to) || failed(from))
    return failure();
  std::vector<int64_t> cells = findCells(*from, values);
  IndexedArray result(values.type, *to);
  int64_t length = sizes[axis];
  auto fold = [&](std::optional<uint32_t> a, std::optional<uint32_t> b) {
    return a && b ? vector::apply(row.function, *a, *b) : std::nullopt;
  };
  auto foldPart = [&](int64_t i, int64_t begin, int64_t end) {
    std::optional<uint32_t> sum = row.identity;
    for (; begin < end; begin += 4) {
      std::optional<uint32_t> four[4] = {row.identity, row.identity,
                                         row.identity, row.identity};
      for (int64_t k = 0; k < std::min<int64_t>(4, end - begin); ++k) {
        int64_t at = cells[i * length + begin + k];
        four[k] = at < 0 ? std::nullopt : std::optional(values.codes[at]);
      }
      sum = fold(sum, fold(fold(four[0], four[1]), fold(four[2], four[3])));
    }
    return sum;
  };
  int64_t part =
      tmap::hasOrder(op.getFn()) ? tmap::getSumParts(length).length : length;
  for (int64_t i = 0; i < result.box.size; ++i) {
    std::optional<uint32_t> sum = foldPart(i, 0, std::min(part, length));
    for (int64_t begin = part; begin < length; begin += part)
      sum = fold(sum, foldPart(i, begin, std::min(begin + part, length)));
    result.defined[i] = sum.has_value();
    result.codes[i] = sum.value_or(0);
  }
  values = std::move(result);
  return success();
}

static LogicalResult interpretReduce(tmap::ReduceOp op,
                                     KernelExecution &execution) {
  tmap::MappedTensorType type = op.getSource().getType();
  const vector::Reduction *row =
      tmap::findReduction(op.getFn(), type.getElementType());
  ArrayRef<int64_t> sizes = execution.getAxes(type).sizes;
  IndexedArray values = getArray(op.getSource(), execution);
  SmallVector<int> over =
      tmap::findAxes(type.getMapping().getAxes(), op.getOver());
  for (int axis : llvm::reverse(over))
    if (!row || failed(foldAxis(op, *row, axis, sizes, values)))
      return failure();
  execution.bindBuffer(op.getResult(), std::move(values));
  return success();
}

/// Position by position, both in the order of their axes.
static LogicalResult interpretReshape(tmap::ReshapeOp op,
                                      KernelExecution &execution) {
  auto result = makeResult(op, execution);
  if (failed(result))
    return failure();
  const IndexedArray &source = getArray(op.getSource(), execution);
  auto inOrder = [&](tmap::MappedTensorType type) {
    return makeWholeBox(op, tmap::getAxesInOrder(type),
                        execution.getAxes(type).sizes);
  };
  auto from = inOrder(op.getSource().getType()), to = inOrder(op.getType());
  if (failed(from) || failed(to))
    return failure();
  std::vector<int64_t> read = broadcastOffsets(*from, source.box);
  std::vector<int64_t> written = broadcastOffsets(*to, result->box);
  for (auto [at, into] : llvm::zip_equal(read, written))
    if (at >= 0 && source.defined[at]) {
      result->codes[into] = source.codes[at];
      result->defined[into] = 1;
    }
  execution.bindBuffer(op.getResult(), std::move(*result));
  return success();
}

static LogicalResult interpretGather(tmap::GatherOp op,
                                     KernelExecution &execution) {
  auto result = makeResult(op, execution);
  if (failed(result))
    return failure();
  const IndexedArray &table = getArray(op.getTable(), execution);
  const IndexedArray &index = getArray(op.getIndex(), execution);
  int key =
      tmap::findAxes(op.getType().getMapping().getAxes(), op.getOver()).front();
  ArrayRef<int64_t> sizes = execution.getAxes(op.getType()).sizes;
  std::vector<int64_t> keys = broadcastOffsets(result->box, index.box);
  std::vector<int64_t> cell(sizes.size());
  for (auto [i, at] : llvm::enumerate(keys)) {
    if (at < 0 || !index.defined[at])
      continue;
    int64_t row = static_cast<int32_t>(index.codes[at]);
    if (row < 0 || row >= sizes[key])
      return op->emitError() << "index " << row << " is outside of the table, "
                             << "which has " << sizes[key] << " rows";
    for (const BoxAxis &axis : result->box.axes)
      cell[axis.axis] = int64_t(i) / axis.stride % axis.extent * axis.step;
    cell[key] = row;
    int64_t from = table.box.offsetOf(cell);
    if (from < 0 || !table.defined[from])
      continue;
    result->codes[i] = table.codes[from];
    result->defined[i] = 1;
  }
  execution.bindBuffer(op.getResult(), std::move(*result));
  return success();
}

/// What lies outside of the source is 0.
static LogicalResult interpretWindow(tmap::WindowOp op,
                                     KernelExecution &execution) {
  auto result = makeResult(op, execution);
  if (failed(result))
    return failure();
  const IndexedArray &source = getArray(op.getSource(), execution);
  ArrayRef<int64_t> sizes = execution.getAxes(op.getType()).sizes;
  SmallVector<tmap::WindowAxis> windows = op.getWindows();
  std::vector<int64_t> cell(sizes.size());
  for (int64_t i = 0; i < result->box.size; ++i) {
    for (const BoxAxis &axis : result->box.axes)
      cell[axis.axis] = i / axis.stride % axis.extent * axis.step;
    bool inside = true;
    for (const tmap::WindowAxis &window : windows) {
      int64_t row = cell[window.at] * window.stride +
                    cell[window.tap] * window.dilation + window.start;
      inside &= row >= 0 && row < sizes[window.over];
      cell[window.over] = row;
    }
    int64_t from = inside ? source.box.offsetOf(cell) : -1;
    result->codes[i] = from < 0 ? 0 : source.codes[from];
    result->defined[i] = !inside || (from >= 0 && source.defined[from]);
  }
  execution.bindBuffer(op.getResult(), std::move(*result));
  return success();
}

namespace {
/// One operand of a contraction as rows of values to sum over: part by part,
/// the last axis filled up with zeros to whole packets.
struct Rows {
  Box kept;
  int64_t length = 0;
  /// Elements of a part.
  int64_t part = 0;
  /// Integers, or f32 patterns.
  std::vector<int32_t> values;
  /// Per row, whether all of it is defined.
  std::vector<uint8_t> defined;
};
} // namespace

static FailureOr<Rows> makeRows(tmap::ContractOp op, Value operand,
                                ArrayRef<int> over,
                                ArrayRef<tmap::SumParts> parts,
                                KernelExecution &execution) {
  auto type = cast<tmap::MappedTensorType>(operand.getType());
  ArrayRef<int64_t> sizes = execution.getAxes(type).sizes;
  const IndexedArray &array = getArray(operand, execution);
  SmallVector<int> kept = without(tmap::getAxesInOrder(type), over);
  SmallVector<int> all = kept;
  llvm::append_range(all, over);
  auto outer = makeWholeBox(op, kept, sizes),
       whole = makeWholeBox(op, all, sizes);
  if (failed(outer) || failed(whole))
    return failure();
  std::vector<int64_t> cells = findCells(*whole, array);
  uint64_t length = 1;
  int64_t part = 1;
  for (const tmap::SumParts &axis : parts) {
    length =
        llvm::SaturatingMultiply<uint64_t>(length, axis.length * axis.count);
    part *= axis.length;
  }
  if (uint64_t(outer->size) > uint64_t(maxHostCells) / length)
    return op.emitError() << "not yet supported: a value with more than "
                          << maxHostCells << " cells";
  Rows rows{*outer, int64_t(length), part, {}, {}};
  rows.values.resize(outer->size * rows.length);
  rows.defined.assign(outer->size, 1);
  bool real = isFloat(array.type);
  int64_t summed = whole->size / outer->size;
  for (int64_t k = 0; k < summed; ++k) {
    // Where the index lies in its part, and which part that is.
    int64_t inPart = 0, stride = 1, number = 0, numberStride = 1, rest = k;
    for (size_t i = over.size(); i-- > 0;) {
      int64_t index = rest % sizes[over[i]];
      rest /= sizes[over[i]];
      inPart += index % parts[i].length * stride;
      number += index / parts[i].length * numberStride;
      stride *= parts[i].length;
      numberStride *= parts[i].count;
    }
    int64_t place = number * part + inPart;
    for (int64_t row = 0; row < outer->size; ++row) {
      int64_t at = cells[row * summed + k];
      if (at < 0) {
        rows.defined[row] = 0;
        continue;
      }
      uint32_t code = array.codes[at];
      rows.values[row * rows.length + place] =
          real ? static_cast<int32_t>(decodeFloat(array.type, code))
               : decodeInteger(array.type, code);
    }
  }
  return rows;
}

static uint32_t sumIntegers(const int32_t *lhs, const int32_t *rhs,
                            int64_t length) {
  uint32_t sum = 0;
  for (int64_t i = 0; i < length; ++i)
    sum += static_cast<uint32_t>(lhs[i]) * static_cast<uint32_t>(rhs[i]);
  return sum;
}

/// A packet as a tree of neighbours, the packets of a part in order to +0, and
/// the parts in order.
static uint32_t sumFloats(const int32_t *lhs, const int32_t *rhs,
                          int64_t length, int64_t part, int64_t packet) {
  SmallVector<float, 64> tree(packet);
  float sum = 0;
  for (int64_t first = 0; first < length; first += part) {
    float partial = 0;
    for (int64_t begin = first; begin < first + part; begin += packet) {
      for (int64_t k = 0; k < packet; ++k)
        tree[k] = mulHostF32(std::bit_cast<float>(lhs[begin + k]),
                             std::bit_cast<float>(rhs[begin + k]));
      for (int64_t width = packet; width > 1; width /= 2)
        for (int64_t k = 0; k < width / 2; ++k)
          tree[k] = addHostF32(tree[2 * k], tree[2 * k + 1]);
      partial = addHostF32(partial, tree[0]);
    }
    sum = addHostF32(sum, partial);
  }
  return std::bit_cast<uint32_t>(sum);
}

static LogicalResult interpretContract(tmap::ContractOp op,
                                       KernelExecution &execution) {
  tmap::MappedTensorType type = op.getLhs().getType();
  ElementType elementType = *getElementType(type.getElementType());
  int64_t packet = tmap::getPacketSize(elementType);
  SmallVector<int> over =
      tmap::findAxes(type.getMapping().getAxes(), op.getOver());
  auto result = makeResult(op, execution);
  SmallVector<tmap::SumParts> parts = tmap::getSumParts(op);
  auto lhs = makeRows(op, op.getLhs(), over, parts, execution);
  auto rhs = makeRows(op, op.getRhs(), over, parts, execution);
  if (failed(result) || failed(lhs) || failed(rhs))
    return failure();
  execution.addSteps(
      llvm::SaturatingMultiply<uint64_t>(result->box.size, lhs->length));
  std::vector<int64_t> left = broadcastOffsets(result->box, lhs->kept);
  std::vector<int64_t> right = broadcastOffsets(result->box, rhs->kept);
  HostF32Scope scope;
  for (int64_t i = 0; i < result->box.size; ++i) {
    if (left[i] < 0 || right[i] < 0 || !lhs->defined[left[i]] ||
        !rhs->defined[right[i]])
      continue;
    const int32_t *a = lhs->values.data() + left[i] * lhs->length;
    const int32_t *b = rhs->values.data() + right[i] * rhs->length;
    result->codes[i] = isFloat(elementType)
                           ? sumFloats(a, b, lhs->length, lhs->part, packet)
                           : sumIntegers(a, b, lhs->length);
    result->defined[i] = 1;
  }
  execution.bindBuffer(op.getResult(), std::move(*result));
  return success();
}

void interpreter::registerTensorModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tmap::TMapDialect *) {
    tmap::ContractOp::attachInterface<
        KernelOpModel<tmap::ContractOp, interpretContract>>(*context);
    tmap::ElementwiseOp::attachInterface<
        KernelOpModel<tmap::ElementwiseOp, interpretElementwise>>(*context);
    tmap::ReduceOp::attachInterface<
        KernelOpModel<tmap::ReduceOp, interpretReduce>>(*context);
    tmap::CastOp::attachInterface<KernelOpModel<tmap::CastOp, interpretCast>>(
        *context);
    tmap::MoveOp::attachInterface<KernelOpModel<tmap::MoveOp, interpretMove>>(
        *context);
    tmap::ReshapeOp::attachInterface<
        KernelOpModel<tmap::ReshapeOp, interpretReshape>>(*context);
    tmap::WindowOp::attachInterface<
        KernelOpModel<tmap::WindowOp, interpretWindow>>(*context);
    tmap::GatherOp::attachInterface<
        KernelOpModel<tmap::GatherOp, interpretGather>>(*context);
    tmap::ConstantOp::attachInterface<
        KernelOpModel<tmap::ConstantOp, interpretConstant>>(*context);
  });
}
