//===- Movement.cpp - Buffers, views and transfers by index ---------------===//

#include "Execution.h"
#include "furiosa/Dialect/VISA/IR/Views.h"
#include "furiosa/Interpreter/Interpreter.h"

#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::interpreter;
using namespace furiosa::visa;

static LogicalResult interpretAlloc(AllocOp op, KernelExecution &execution) {
  Type type = op.getResult().getType();
  auto box = execution.makeBox(op, type);
  auto elementType = visa::getElementType(getTensorParts(type).elementType);
  if (failed(box) || !elementType)
    return failure();
  execution.bindBuffer(op.getResult(),
                       IndexedArray(*elementType, std::move(*box)));
  return success();
}

/// What the cells of `targetType` receive from `source`. A transfer gathers by
/// index: it reads any slice, and replicates digits that the source lacks.
static FailureOr<IndexedArray> transfer(Operation *op, Value source,
                                        Type targetType,
                                        KernelExecution &execution) {
  auto from = execution.getTerms(op, source.getType());
  auto to = execution.getTerms(op, targetType);
  if (failed(from) || failed(to))
    return failure();
  ArrayRef<int64_t> sizes = execution.getAxes(targetType).sizes;
  const Tensor &tensor = execution.getTensor(source);
  Digits digits(from->all(), sizes);
  IndexedArray result;
  if (failed(take(op,
                  readArray(tensor.buffer->array, tensor.shift, &digits, {},
                            to->all(), sizes),
                  result)))
    return failure();
  return result;
}

template <typename OpT>
static LogicalResult interpretMove(OpT op, KernelExecution &execution) {
  auto moved =
      transfer(op, op.getSource(), op.getResult().getType(), execution);
  if (failed(moved))
    return failure();
  execution.bindBuffer(op.getResult(), std::move(*moved));
  return success();
}

/// Makes room in a buffer for a value per cell of its type: what was the same
/// for all coordinates of an axis may differ from now on.
static LogicalResult widen(Operation *op, Buffer &buffer,
                           KernelExecution &execution) {
  auto box = execution.makeBox(op, buffer.type);
  if (failed(box))
    return failure();
  if (box->axes.size() == buffer.array.box.axes.size())
    return success();
  IndexedArray whole(buffer.array.type, std::move(*box));
  std::vector<int64_t> offsets = broadcastOffsets(whole.box, buffer.array.box);
  for (auto [i, offset] : llvm::enumerate(offsets))
    if (offset >= 0) {
      whole.codes[i] = buffer.array.codes[offset];
      whole.defined[i] = buffer.array.defined[offset];
    }
  buffer.array = std::move(whole);
  return success();
}

LogicalResult interpreter::writeTensor(Operation *op, Tensor &target, Type type,
                                       const IndexedArray &content,
                                       KernelExecution &execution) {
  auto terms = execution.getTerms(op, type);
  if (failed(terms) || failed(widen(op, *target.buffer, execution)))
    return failure();
  IndexedArray &array = target.buffer->array;
  execution.addSteps(content.codes.size());
  // Only the live cells of the view are written; one without a source is
  // overwritten with nothing that is known.
  walkCells({}, terms->all(), {&array.box, target.shift}, {&content.box},
            execution.getAxes(type).sizes, [&](int64_t to, int64_t from) {
              array.defined[to] = from >= 0 && content.defined[from];
              array.codes[to] = array.defined[to] ? content.codes[from] : 0;
            });
  return success();
}

static LogicalResult interpretCopy(CopyOp op, KernelExecution &execution) {
  Type type = op.getTarget().getType();
  auto moved = transfer(op, op.getSource(), type, execution);
  if (failed(moved))
    return failure();
  return writeTensor(op, execution.getTensor(op.getTarget()), type, *moved,
                     execution);
}

static LogicalResult interpretMemset(MemsetOp op, KernelExecution &execution) {
  Type type = op.getTarget().getType();
  auto box = execution.makeBox(op, type);
  if (failed(box))
    return failure();
  IndexedArray filled(*visa::getElementType(op.getValue().getType()),
                      std::move(*box));
  llvm::fill(filled.codes, execution.getInteger(op.getValue()).getZExtValue());
  llvm::fill(filled.defined, 1);
  return writeTensor(op, execution.getTensor(op.getTarget()), type, filled,
                     execution);
}

static LogicalResult interpretTile(TileOp op, KernelExecution &execution) {
  const AxisTable &axes = execution.getAxes(op.getSource().getType());
  auto index = CellEvaluator::parse(op.getAlong(), axes.axes);
  if (!index)
    return report(op, index.takeError());
  int64_t start = op.getOffset()
                      ? execution.getInteger(op.getOffset()).getSExtValue()
                      : op.getStart().value_or(0);
  auto cellAt = [&](int64_t position) -> std::optional<std::vector<int64_t>> {
    std::vector<int64_t> cell(axes.sizes.size());
    if (!index->addCell(position, cell))
      return std::nullopt;
    for (auto [coordinate, size] : llvm::zip_equal(cell, axes.sizes))
      if (coordinate >= size)
        return std::nullopt;
    return cell;
  };
  int64_t take = op.getTake();
  auto first = cellAt(start);
  if (!first || take < 1 || take > index->size() - start ||
      !cellAt(start + take - 1))
    return op.emitError() << "MM-37: a window of " << take << " from " << start
                          << " does not lie in the live cells of \""
                          << op.getAlong() << "\", which has " << index->size()
                          << " positions";
  Tensor view = execution.getTensor(op.getSource());
  // Behind the end of an axis there is nothing, though a tensor may be the same
  // for all its coordinates.
  if (llvm::any_of(*first,
                   [](int64_t coordinate) { return coordinate != 0; }) &&
      failed(widen(op, *view.buffer, execution)))
    return failure();
  if (view.shift.empty())
    view.shift.resize(axes.sizes.size());
  for (auto [shift, coordinate] : llvm::zip_equal(view.shift, *first))
    shift += coordinate;
  execution.bind(op.getResult(), std::move(view));
  return success();
}

/// Pads and unpadded tensors name the same cells.
template <typename OpT>
static LogicalResult interpretAlias(OpT op, KernelExecution &execution) {
  execution.bind(op.getResult(), execution.getTensor(op.getSource()));
  return success();
}

/// The cells at the positions of a dimension; none at padding.
static FailureOr<std::vector<std::optional<std::vector<int64_t>>>>
getCells(Operation *op, StringRef text, const AxisTable &axes) {
  auto mapping = CellEvaluator::parse(text, axes.axes);
  if (!mapping)
    return report(op, mapping.takeError());
  if (mapping->size() > int64_t(maxHostCells))
    return op->emitError() << "not yet supported: a reshape of "
                           << mapping->size() << " positions";
  std::vector<std::optional<std::vector<int64_t>>> cells(mapping->size());
  for (auto [position, cell] : llvm::enumerate(cells)) {
    std::vector<int64_t> index(axes.sizes.size());
    if (mapping->addCell(position, index))
      cell = std::move(index);
  }
  return cells;
}

/// Cells keep their positions and get the index that is now there. The source
/// is not used any more, so that a copy does.
static LogicalResult interpretReshape(ReshapeOp op,
                                      KernelExecution &execution) {
  if (!changesIndex(op))
    return interpretAlias(op, execution);
  Type fromType = op.getSource().getType(), toType = op.getResult().getType();
  TensorParts from = getTensorParts(fromType), to = getTensorParts(toType);
  const AxisTable &fromAxes = execution.getAxes(fromType);
  const AxisTable &toAxes = execution.getAxes(toType);
  const Tensor &source = execution.getTensor(op.getSource());
  auto box = execution.makeBox(op, toType);
  if (failed(box))
    return failure();
  IndexedArray content(source.buffer->array.type, std::move(*box));

  // Pairs of cells that stand at one position, dimension by dimension.
  using Cells =
      std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>>;
  std::vector<int64_t> start = source.shift;
  start.resize(fromAxes.sizes.size());
  Cells pairs = {{start, std::vector<int64_t>(toAxes.sizes.size())}};
  for (auto [fromMapping, toMapping] :
       {std::pair(from.chip, to.chip), std::pair(from.cluster, to.cluster),
        std::pair(from.slice, to.slice), std::pair(from.element, to.element)}) {
    if (!fromMapping)
      continue;
    auto fromCells = getCells(op, fromMapping.getText(), fromAxes);
    auto toCells = getCells(op, toMapping.getText(), toAxes);
    if (failed(fromCells) || failed(toCells))
      return failure();
    Cells next;
    for (const auto &[fromIndex, toIndex] : pairs)
      for (auto [fromCell, toCell] : llvm::zip_equal(*fromCells, *toCells)) {
        if (!fromCell || !toCell)
          continue;
        next.push_back({fromIndex, toIndex});
        for (auto [sum, part] : llvm::zip_equal(next.back().first, *fromCell))
          sum += part;
        for (auto [sum, part] : llvm::zip_equal(next.back().second, *toCell))
          sum += part;
        if (next.size() > size_t(1) << 22)
          return op.emitError() << "not yet supported: a reshape of more than "
                                << (1 << 22) << " cells";
      }
    pairs = std::move(next);
  }
  const IndexedArray &array = source.buffer->array;
  auto isInside = [](ArrayRef<int64_t> index, const AxisTable &axes) {
    return llvm::all_of(llvm::zip_equal(index, axes.sizes), [](auto pair) {
      return std::get<0>(pair) < std::get<1>(pair);
    });
  };
  for (const auto &[fromIndex, toIndex] : pairs) {
    if (!isInside(fromIndex, fromAxes) || !isInside(toIndex, toAxes))
      continue;
    int64_t at = array.box.offsetOf(fromIndex);
    int64_t place = content.box.offsetOf(toIndex);
    if (at < 0 || place < 0 || !array.defined[at])
      continue;
    content.codes[place] = array.codes[at];
    content.defined[place] = 1;
  }
  execution.bindBuffer(op.getResult(), std::move(content));
  return success();
}

//===----------------------------------------------------------------------===//
// Gather and scatter
//===----------------------------------------------------------------------===//

/// Bytes from one key of a table to the next.
static int64_t getRowBytes(Type table, int key) {
  TensorParts parts = getTensorParts(table);
  auto type = visa::getElementType(parts.elementType);
  int64_t cells = 1;
  for (auto [axis, declared] : llvm::enumerate(parts.axes.getAxes().list()))
    if (int(axis) != key && parts.element.getMapping().uses(axis))
      cells *= declared.size;
  return std::max<int64_t>(1, cells * wireBits(*type) / 8);
}

/// Calls `visit` for each cell of `rows` with its index and the coordinate in
/// the table that its key names; none where the key is undefined.
static LogicalResult forEachRow(
    Operation *op, Value index, Type rows, Type table, bool scaled,
    KernelExecution &execution,
    function_ref<void(ArrayRef<int64_t>, std::optional<int64_t>)> visit) {
  auto box = execution.makeBox(op, rows);
  if (failed(box))
    return failure();
  int key = getKeyAxis(table, index.getType(), rows);
  int64_t unit = scaled ? getRowBytes(table, key) : 1;
  int64_t limit = execution.getAxes(table).sizes[key];
  const Tensor &tensor = execution.getTensor(index);
  const IndexedArray &keys = tensor.buffer->array;
  std::vector<int64_t> cell(execution.getAxes(rows).sizes.size());
  for (int64_t at = 0; at < box->size; ++at) {
    for (const BoxAxis &axis : box->axes)
      cell[axis.axis] = at / axis.stride % axis.extent * axis.step;
    std::vector<int64_t> place = cell;
    for (auto [sum, shift] : llvm::zip(place, tensor.shift))
      sum += shift;
    int64_t offset = keys.box.offsetOf(place);
    if (offset < 0 || !keys.defined[offset]) {
      visit(cell, std::nullopt);
      continue;
    }
    int64_t value = static_cast<int32_t>(keys.codes[offset]);
    if (value < 0 || value / unit >= limit)
      return op->emitError()
             << "index " << value << " is outside of the table, "
             << "which has " << limit << " rows"
             << (scaled ? " of " + Twine(unit) + " bytes" : Twine());
    visit(cell, value / unit);
  }
  return success();
}

/// The place of a row's cell in the table.
static std::vector<int64_t> getTableCell(ArrayRef<int64_t> cell, int key,
                                         int64_t row, const Tensor &table) {
  std::vector<int64_t> place(cell.begin(), cell.end());
  place[key] = row;
  for (auto [sum, shift] : llvm::zip(place, table.shift))
    sum += shift;
  return place;
}

static LogicalResult interpretGather(GatherOp op, KernelExecution &execution) {
  Type type = op.getResult().getType(), table = op.getTable().getType();
  auto box = execution.makeBox(op, type);
  if (failed(box))
    return failure();
  const Tensor &source = execution.getTensor(op.getTable());
  const IndexedArray &array = source.buffer->array;
  int key = getKeyAxis(table, op.getIndex().getType(), type);
  IndexedArray content(array.type, std::move(*box));
  auto visit = [&](ArrayRef<int64_t> cell, std::optional<int64_t> row) {
    int64_t from =
        row ? array.box.offsetOf(getTableCell(cell, key, *row, source)) : -1;
    if (from < 0 || !array.defined[from])
      return;
    int64_t to = content.box.offsetOf(cell);
    content.codes[to] = array.codes[from];
    content.defined[to] = 1;
  };
  if (failed(forEachRow(op, op.getIndex(), type, table, op.getScaled(),
                        execution, visit)))
    return failure();
  execution.bindBuffer(op.getResult(), std::move(content));
  return success();
}

static LogicalResult interpretScatter(ScatterOp op,
                                      KernelExecution &execution) {
  Type type = op.getSource().getType(), table = op.getTarget().getType();
  auto rows = transfer(op, op.getSource(), type, execution);
  Tensor &target = execution.getTensor(op.getTarget());
  if (failed(rows) || failed(widen(op, *target.buffer, execution)))
    return failure();
  IndexedArray &array = target.buffer->array;
  int key = getKeyAxis(table, op.getIndex().getType(), type);
  return forEachRow(op, op.getIndex(), type, table, op.getScaled(), execution,
                    [&](ArrayRef<int64_t> cell, std::optional<int64_t> row) {
                      int64_t to = row ? array.box.offsetOf(getTableCell(
                                             cell, key, *row, target))
                                       : -1;
                      int64_t from = rows->box.offsetOf(cell);
                      if (to < 0 || from < 0)
                        return;
                      array.codes[to] = rows->codes[from];
                      array.defined[to] = rows->defined[from];
                    });
}

static LogicalResult interpretChain(ChainOp op, KernelExecution &execution) {
  return ChainExecution(execution, op).run();
}

void interpreter::registerMovementModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, VISADialect *) {
    AllocOp::attachInterface<KernelOpModel<AllocOp, interpretAlloc>>(*context);
    ToDmOp::attachInterface<KernelOpModel<ToDmOp, interpretMove<ToDmOp>>>(
        *context);
    ToHbmOp::attachInterface<KernelOpModel<ToHbmOp, interpretMove<ToHbmOp>>>(
        *context);
    CopyOp::attachInterface<KernelOpModel<CopyOp, interpretCopy>>(*context);
    TileOp::attachInterface<KernelOpModel<TileOp, interpretTile>>(*context);
    ReshapeOp::attachInterface<KernelOpModel<ReshapeOp, interpretReshape>>(
        *context);
    PadOp::attachInterface<KernelOpModel<PadOp, interpretAlias<PadOp>>>(
        *context);
    UnpadOp::attachInterface<KernelOpModel<UnpadOp, interpretAlias<UnpadOp>>>(
        *context);
    MemsetOp::attachInterface<KernelOpModel<MemsetOp, interpretMemset>>(
        *context);
    GatherOp::attachInterface<KernelOpModel<GatherOp, interpretGather>>(
        *context);
    ScatterOp::attachInterface<KernelOpModel<ScatterOp, interpretScatter>>(
        *context);
    ChainOp::attachInterface<KernelOpModel<ChainOp, interpretChain>>(*context);
  });
}
