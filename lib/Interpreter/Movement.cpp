//===- Movement.cpp - Buffers, views and transfers by index ---------------===//

#include "Execution.h"
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

static LogicalResult interpretCopy(CopyOp op, KernelExecution &execution) {
  Type type = op.getTarget().getType();
  auto moved = transfer(op, op.getSource(), type, execution);
  auto terms = execution.getTerms(op, type);
  if (failed(moved) || failed(terms))
    return failure();
  Tensor &target = execution.getTensor(op.getTarget());
  if (failed(widen(op, *target.buffer, execution)))
    return failure();
  IndexedArray &array = target.buffer->array;
  // Only the live cells of the view are written; one without a source is
  // overwritten with nothing that is known.
  walkCells({}, terms->all(), {&array.box, target.shift}, {&moved->box},
            execution.getAxes(type).sizes, [&](int64_t to, int64_t from) {
              array.defined[to] = from >= 0 && moved->defined[from];
              array.codes[to] = array.defined[to] ? moved->codes[from] : 0;
            });
  return success();
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
  if (view.shift.empty())
    view.shift.resize(axes.sizes.size());
  for (auto [shift, coordinate] : llvm::zip_equal(view.shift, *first))
    shift += coordinate;
  execution.bind(op.getResult(), std::move(view));
  return success();
}

static LogicalResult interpretReshape(ReshapeOp op,
                                      KernelExecution &execution) {
  // The check lets through only other spellings of the same cells.
  if (getTensorParts(op.getSource().getType()).axes !=
      getTensorParts(op.getResult().getType()).axes)
    return op.emitError() << "not yet supported: a reshape to other axes";
  execution.bind(op.getResult(), execution.getTensor(op.getSource()));
  return success();
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
    ChainOp::attachInterface<KernelOpModel<ChainOp, interpretChain>>(*context);
  });
}
