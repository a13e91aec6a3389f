//===- Vector.cpp - The vector engine by index ----------------------------===//
//
// Elements keep their index through all stages but reductions and zips, so
// narrow and widen only choose cells, and execution ids, stash and VRF operands
// are functions of the index.
//
//===----------------------------------------------------------------------===//

#include "Execution.h"
#include "furiosa/Dialect/VISA/IR/VectorStages.h"

#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::interpreter;
using namespace furiosa::visa;

//===----------------------------------------------------------------------===//
// Execution ids
//===----------------------------------------------------------------------===//

static LogicalResult interpretInit(VectorInitOp, ChainExecution &execution) {
  execution.vector = OpenVector();
  return success();
}

static LogicalResult interpretTag(VectorTagOp op, ChainExecution &execution) {
  if (op.getMode() == TagMode::Zero)
    return success();
  if (op.getMode() != TagMode::Compare)
    return op.emitError() << "not yet supported: tags by "
                          << stringifyTagMode(op.getMode());
  IndexedArray ids = execution.stream;
  for (uint32_t &code : ids.codes) {
    uint32_t id = 0;
    for (auto [bit, attribute] : llvm::enumerate(op.getComparisons())) {
      auto comparison = cast<CompareAttr>(attribute);
      TypedAttr boundary = comparison.getBoundary();
      id |= uint32_t(vector::compare(
                static_cast<vector::Comparison>(comparison.getKind()), ids.type,
                code, boundary ? getPattern(boundary) : 0))
            << bit;
    }
    code = id;
  }
  execution.vector.ids = std::move(ids);
  return success();
}

//===----------------------------------------------------------------------===//
// Element-wise stages
//===----------------------------------------------------------------------===//

namespace {
/// An array seen from the cells of a result.
struct Source {
  const IndexedArray *array = nullptr;
  std::vector<int64_t> offsets;

  Source() = default;
  Source(const Box &box, const IndexedArray &array)
      : array(&array), offsets(broadcastOffsets(box, array.box)) {}

  /// The code at a cell, or nothing where it is undefined.
  std::optional<uint32_t> get(int64_t cell) const {
    int64_t offset = offsets[cell];
    if (offset < 0 || !array->defined[offset])
      return std::nullopt;
    return array->codes[offset];
  }
};

/// A slot with its operand.
struct Operand {
  VectorSlot slot;
  IndexedArray array;
  Source source;
};
} // namespace

/// The operand of a slot by index; an immediate has no axes.
static LogicalResult loadOperand(Operation *op, ChainExecution &execution,
                                 Operand &operand) {
  const VectorSlot &slot = operand.slot;
  if (slot.kind == SlotKind::Stash) {
    if (!execution.vector.stash)
      return op->emitError() << "nothing is stashed";
    operand.array = *execution.vector.stash;
    return success();
  }
  if (slot.kind != SlotKind::Vrf) {
    operand.array = IndexedArray(execution.stream.type, Box());
    operand.array.codes[0] = slot.value;
    operand.array.defined[0] = 1;
    return success();
  }
  auto terms = execution.getKernel().getTerms(op, slot.tensor.getType());
  if (failed(terms))
    return failure();
  const Tensor &tensor = execution.getKernel().getTensor(slot.tensor);
  Digits digits(terms->element, execution.axisSizes());
  return take(op,
              readArray(tensor.buffer->array, tensor.shift, &digits,
                        execution.spatial(),
                        join(execution.time, execution.packet),
                        execution.axisSizes()),
              operand.array);
}

static LogicalResult interpretAlu(VectorAluInterface op,
                                  ChainExecution &execution) {
  const IndexedArray &stream = execution.stream;
  const vector::Operation *row = getVectorOperation(op, stream.type);
  if (!row) {
    if (op.getGroup())
      return success(); // Both groups skip.
    return op.emitError() << "not yet supported: " << op.getFnName() << " on "
                          << furiosa::toString(stream.type);
  }
  StringRef mode = op.getMode().value_or(vector::defaultMode(row->arity));
  bool usesStream = mode.empty() || mode.contains('0');
  bool usesOperand = mode.contains('1');

  std::vector<Operand> operands;
  Box box = stream.box;
  for (const VectorSlot &slot : getVectorSlots(op)) {
    Operand &operand = operands.emplace_back();
    operand.slot = slot;
    if (failed(loadOperand(op, execution, operand)) ||
        failed(take(op, unionBox(box, operand.array.box), box)))
      return failure();
  }
  for (Operand &operand : operands)
    operand.source = Source(box, operand.array);
  Source input(box, stream), ids;
  if (execution.vector.ids)
    ids = Source(box, *execution.vector.ids);

  IndexedArray result(stream.type, box);
  for (int64_t cell = 0; cell < box.size; ++cell) {
    auto value = input.get(cell);
    auto id = ids.array ? ids.get(cell) : std::optional<uint32_t>(0);
    for (const Operand &operand : operands) {
      const vector::Guard &guard = operand.slot.guard;
      if (!guard.isAlways()) {
        // An unknown id leaves the result open.
        if (!id) {
          value.reset();
          break;
        }
        if (!guard.admits(*id))
          continue;
      }
      auto argument = operand.source.get(cell);
      bool isKnown = (!usesStream || value) && (!usesOperand || argument);
      value = isKnown ? vector::apply(*row, mode, value.value_or(0),
                                      argument.value_or(0), operand.slot.with)
                      : std::nullopt;
      break;
    }
    if (value && input.offsets[cell] >= 0) {
      result.codes[cell] = *value;
      result.defined[cell] = 1;
    }
  }
  execution.stream = std::move(result);
  return success();
}

template <typename Op>
static LogicalResult interpretAluOp(Op op, ChainExecution &execution) {
  return interpretAlu(cast<VectorAluInterface>(op.getOperation()), execution);
}

//===----------------------------------------------------------------------===//
// Conversions, ways, stash
//===----------------------------------------------------------------------===//

static LogicalResult interpretFxpToFp(VectorFxpToFpOp op,
                                      ChainExecution &execution) {
  for (uint32_t &code : execution.stream.codes)
    code = fixedToF32(static_cast<int32_t>(code), unsigned(op.getWidth()));
  execution.stream.type = ElementType::F32;
  return success();
}

static LogicalResult interpretFpToFxp(VectorFpToFxpOp op,
                                      ChainExecution &execution) {
  for (uint32_t &code : execution.stream.codes)
    code = static_cast<uint32_t>(f32ToFixed(code, unsigned(op.getWidth())));
  execution.stream.type = ElementType::I32;
  return success();
}

static LogicalResult interpretReinterpret(VectorReinterpretOp op,
                                          ChainExecution &execution) {
  execution.stream.type =
      visa::getElementType(op.getTo()).value_or(ElementType::I32);
  return success();
}

/// Narrow and widen.
template <typename Op>
static LogicalResult interpretWays(Op op, ChainExecution &execution) {
  FailureOr<Terms> time = execution.time;
  if (op.getTime())
    time = execution.getTerms(op, *op.getTime());
  return execution.moveOn(op, time, execution.getTerms(op, op.getPacket()));
}

static LogicalResult interpretStash(VectorStashOp, ChainExecution &execution) {
  execution.vector.stash = execution.stream;
  return success();
}

static LogicalResult interpretFinal(VectorFinalOp, ChainExecution &) {
  return success();
}

//===----------------------------------------------------------------------===//
// Reduction inside a slice
//===----------------------------------------------------------------------===//

namespace {
/// The coordinates of every position of some terms, and whether it is live.
struct Positions {
  size_t numAxes;
  std::vector<int64_t> coordinates;
  std::vector<uint8_t> live;

  int64_t size() const { return int64_t(live.size()); }
  ArrayRef<int64_t> at(int64_t position) const {
    return ArrayRef(coordinates).slice(position * numAxes, numAxes);
  }
};
} // namespace

static FailureOr<Positions> listPositions(Operation *op, const Terms &terms,
                                          size_t numAxes) {
  Positions list{numAxes, std::vector<int64_t>(numAxes), {1}};
  for (const TermCells *term : terms) {
    if (term->size > int64_t(maxHostCells / 16) / list.size())
      return op->emitError() << "not yet supported: a reduction over more than "
                             << maxHostCells / 16 << " positions";
    Positions next{numAxes, {}, {}};
    next.live.resize(list.size() * term->size);
    next.coordinates.resize(next.live.size() * numAxes);
    for (int64_t outer = 0; outer < list.size(); ++outer) {
      if (!list.live[outer])
        continue;
      for (size_t cell = 0; cell < term->count(); ++cell) {
        int64_t position = outer * term->size + term->positions[cell];
        next.live[position] = 1;
        auto target = MutableArrayRef(next.coordinates)
                          .slice(position * numAxes, numAxes);
        llvm::copy(list.at(outer), target.begin());
        for (auto [axis, coordinate] :
             llvm::zip_equal(term->axes, term->coordinatesOf(cell)))
          target[axis] += coordinate;
      }
    }
    list = std::move(next);
  }
  return list;
}

namespace {
/// The sums of a reduction, and the ids of their last elements.
struct Sums {
  const vector::Reduction &row;
  IndexedArray values, ids;

  void start(int64_t at) {
    values.codes[at] = row.identity;
    values.defined[at] = ids.defined[at] = 1;
    ids.codes[at] = 0;
  }
  void add(int64_t at, std::optional<uint32_t> value) {
    std::optional<uint32_t> sum;
    if (value && values.defined[at])
      sum = vector::apply(row.function, values.codes[at], *value);
    values.defined[at] = sum.has_value();
    values.codes[at] = sum.value_or(0);
  }
};
} // namespace

/// Position by position, in the order of the stream: what is padding does not
/// take part.
static LogicalResult interpretReduce(VectorReduceOp op,
                                     ChainExecution &execution) {
  const IndexedArray &stream = execution.stream;
  ArrayRef<int64_t> sizes = execution.axisSizes();
  size_t numAxes = sizes.size();
  auto newTime = execution.getTerms(op, op.getTime());
  auto newPacket = execution.getTerms(op, op.getPacket());
  const vector::Reduction *row =
      vector::findIntraSlice(stringifyVectorFn(op.getFn()), stream.type);
  if (failed(newTime) || failed(newPacket) || !row)
    return failure();
  int axis =
      op->getParentOfType<ChainOp>().getAxes().getAxes().find(op.getAxis());
  auto spatial = listPositions(op, execution.spatial(), numAxes);
  auto time = listPositions(op, execution.time, numAxes);
  auto packet = listPositions(op, execution.packet, numAxes);
  auto keptTime = listPositions(op, *newTime, numAxes);
  auto keptPacket = listPositions(op, *newPacket, numAxes);
  if (failed(spatial) || failed(time) || failed(packet) || failed(keptTime) ||
      failed(keptPacket))
    return failure();
  bool folds = llvm::any_of(execution.packet, [&](const TermCells *term) {
    return llvm::is_contained(term->axes, axis);
  });

  Box box;
  SmallVector<int> axes = stream.axes();
  if (failed(take(
          op,
          coverBox(axes, join(execution.spatial(), join(*newTime, *newPacket)),
                   sizes, /*clip=*/true),
          box)))
    return failure();
  Sums sums{*row, IndexedArray(stream.type, box),
            IndexedArray(ElementType::I32, box)};
  const std::optional<IndexedArray> &ids = execution.vector.ids;

  SmallVector<int64_t> index(numAxes), target(numAxes);
  auto addTo = [](SmallVectorImpl<int64_t> &sum, ArrayRef<int64_t> more) {
    for (auto [a, b] : llvm::zip_equal(sum, more))
      a += b;
  };
  for (int64_t s = 0; s < spatial->size(); ++s) {
    if (!spatial->live[s])
      continue;
    for (int64_t t = 0; t < keptTime->size(); ++t)
      for (int64_t k = 0; k < keptPacket->size(); ++k) {
        if (!keptTime->live[t] || !keptPacket->live[k])
          continue;
        target.assign(spatial->at(s).begin(), spatial->at(s).end());
        addTo(target, keptTime->at(t));
        addTo(target, keptPacket->at(k));
        if (int64_t at = box.offsetOf(target); at >= 0)
          sums.start(at);
      }
    for (int64_t t = 0; t < time->size(); ++t) {
      if (!time->live[t])
        continue;
      uint32_t identity = row->identity;
      std::optional<uint32_t> lanes[4] = {identity, identity, identity,
                                          identity};
      int64_t folded = -1;
      for (int64_t k = 0; k < packet->size(); ++k) {
        index.assign(spatial->at(s).begin(), spatial->at(s).end());
        addTo(index, time->at(t));
        addTo(index, packet->at(k));
        bool isLive = packet->live[k];
        for (auto [coordinate, size] : llvm::zip_equal(index, sizes))
          isLive &= coordinate < size;
        if (!isLive)
          continue;
        target = index;
        target[axis] = spatial->at(s)[axis];
        int64_t at = box.offsetOf(target);
        if (at < 0)
          continue;
        int64_t from = stream.box.offsetOf(index);
        std::optional<uint32_t> value;
        if (from >= 0 && stream.defined[from])
          value = stream.codes[from];
        if (ids) {
          int64_t id = ids->box.offsetOf(index);
          sums.ids.defined[at] = id >= 0 && ids->defined[id];
          sums.ids.codes[at] = id < 0 ? 0 : ids->codes[id];
        }
        if (folds) {
          lanes[k] = value;
          folded = at;
        } else {
          sums.add(at, value);
        }
      }
      if (folded < 0)
        continue;
      auto combine = [&](std::optional<uint32_t> a, std::optional<uint32_t> b) {
        return a && b ? vector::apply(row->function, *a, *b) : std::nullopt;
      };
      sums.add(folded, combine(combine(lanes[0], lanes[1]),
                               combine(lanes[2], lanes[3])));
    }
  }
  execution.stream = std::move(sums.values);
  if (ids)
    execution.vector.ids = std::move(sums.ids);
  execution.time = std::move(*newTime);
  execution.packet = std::move(*newPacket);
  return success();
}

//===----------------------------------------------------------------------===//
// Reduction between slices
//===----------------------------------------------------------------------===//

/// Slice by slice of each group, in order of position.
static LogicalResult interpretSliceReduce(VectorInterSliceReduceOp op,
                                          ChainExecution &execution) {
  const IndexedArray &stream = execution.stream;
  ArrayRef<int64_t> sizes = execution.axisSizes();
  size_t numAxes = sizes.size();
  const vector::Reduction *row =
      vector::findInterSlice(stringifyVectorFn(op.getFn()), stream.type);
  auto newTime = execution.getTerms(op, op.getTime());
  auto newSlice = execution.getTerms(op, op.getSlice());
  auto spatial = listPositions(op, execution.spatial(), numAxes);
  auto place =
      listPositions(op, join(execution.time, execution.packet), numAxes);
  if (failed(newTime) || failed(newSlice) || failed(spatial) || failed(place) ||
      !row)
    return failure();
  Terms newPlace = join(execution.place, *newSlice);
  auto newSpatial = listPositions(op, newPlace, numAxes);
  if (failed(newSpatial) || newSpatial->size() != spatial->size())
    return failure();
  // The groups are the least ones whose first slices keep their cells.
  int64_t slices = 2;
  auto agree = [&](int64_t p) {
    return spatial->live[p] == newSpatial->live[p] &&
           spatial->at(p) == newSpatial->at(p);
  };
  auto startsAgree = [&] {
    for (int64_t p = 0; p < spatial->size(); p += slices)
      if (!agree(p))
        return false;
    return true;
  };
  while (slices < spatial->size() && !startsAgree())
    slices *= 2;
  Box box;
  SmallVector<int> axes = stream.axes();
  if (failed(
          take(op,
               coverBox(axes, join(newPlace, join(*newTime, execution.packet)),
                        sizes, /*clip=*/true),
               box)))
    return failure();
  IndexedArray result(stream.type, box);
  // Slices of padding hold sums of nothing.
  bool isReducedBefore = bool(findReduceBefore(op, stream.type));
  SmallVector<int64_t> index(numAxes), target(numAxes);
  for (int64_t group = 0; group < spatial->size(); group += slices) {
    if (!spatial->live[group])
      continue;
    for (int64_t p = 0; p < place->size(); ++p) {
      if (!place->live[p])
        continue;
      std::optional<uint32_t> sum;
      for (int64_t j = 0; j < slices; ++j) {
        for (size_t axis = 0; axis < numAxes; ++axis) {
          index[axis] = spatial->at(group + j)[axis] + place->at(p)[axis];
          if (j == 0)
            target[axis] = index[axis];
        }
        int64_t from = stream.box.offsetOf(index);
        std::optional<uint32_t> value;
        if (isReducedBefore && !spatial->live[group + j])
          value = row->identity;
        else if (from >= 0 && stream.defined[from])
          value = stream.codes[from];
        if (j == 0)
          sum = value;
        else if (sum)
          sum =
              value ? vector::apply(row->function, *sum, *value) : std::nullopt;
      }
      int64_t at = box.offsetOf(target);
      if (at < 0 || !sum)
        continue;
      result.codes[at] = *sum;
      result.defined[at] = 1;
    }
  }
  execution.stream = std::move(result);
  execution.vector.ids.reset();
  execution.slice = std::move(*newSlice);
  execution.time = std::move(*newTime);
  return success();
}

//===----------------------------------------------------------------------===//
// Pair mode
//===----------------------------------------------------------------------===//

static LogicalResult interpretUnzip(VectorUnzipOp op,
                                    ChainExecution &execution) {
  int axis =
      op->getParentOfType<ChainOp>().getAxes().getAxes().find(op.getAxis());
  Box box;
  box.axes.push_back({axis, /*step=*/1, /*extent=*/2, /*stride=*/1});
  if (!box.finish())
    return failure();
  IndexedArray ids(ElementType::I32, box);
  ids.codes = {0, vector::groupBit};
  ids.defined = {1, 1};
  execution.vector.ids = std::move(ids);
  execution.vector.pairAxis = axis;
  return success();
}

static LogicalResult interpretZip(VectorZipOp op, ChainExecution &execution) {
  const IndexedArray &stream = execution.stream;
  int axis = execution.vector.pairAxis;
  const vector::Operation *row = getVectorOperation(op, stream.type);
  if (axis < 0 || !row)
    return op.emitError() << "there are no groups to fuse";
  Box box;
  for (const BoxAxis &boxAxis : stream.box.axes)
    if (boxAxis.axis != axis)
      box.axes.push_back(boxAxis);
  if (!box.finish())
    return op.emitError() << "not yet supported: a stream of this size";
  // Offsets of group 0; those of group 1 are one step further.
  std::vector<int64_t> offsets = broadcastOffsets(box, stream.box);
  const BoxAxis *pair = stream.box.find(axis);
  int64_t step = pair && pair->extent == 2 ? pair->stride : 0;
  IndexedArray result(stream.type, box);
  StringRef mode = op.getMode().value_or("01");
  for (int64_t cell = 0; cell < box.size; ++cell) {
    auto get = [&](char digit) -> std::optional<uint32_t> {
      int64_t offset = offsets[cell];
      if (offset < 0 || !stream.defined[offset + (digit - '0') * step])
        return std::nullopt;
      return stream.codes[offset + (digit - '0') * step];
    };
    auto a = get(mode[0]), b = get(mode[1]);
    auto value = a && b ? vector::apply(row->function, *a, *b) : std::nullopt;
    result.codes[cell] = value.value_or(0);
    result.defined[cell] = value.has_value();
  }
  execution.stream = std::move(result);
  // What flows on stands where group 1 stood.
  execution.vector.ids = IndexedArray(ElementType::I32, Box());
  execution.vector.ids->codes = {vector::groupBit};
  execution.vector.ids->defined = {1};
  Terms time;
  for (const TermCells *term : execution.time)
    if (term->axes.size() != 1 || term->axes[0] != axis)
      time.push_back(term);
  execution.time = std::move(time);
  return success();
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

void interpreter::registerVectorModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, VISADialect *) {
    VectorInitOp::attachInterface<StageModel<VectorInitOp, interpretInit>>(
        *context);
    VectorTagOp::attachInterface<StageModel<VectorTagOp, interpretTag>>(
        *context);
    VectorLogicOp::attachInterface<
        StageModel<VectorLogicOp, interpretAluOp<VectorLogicOp>>>(*context);
    VectorFxpOp::attachInterface<
        StageModel<VectorFxpOp, interpretAluOp<VectorFxpOp>>>(*context);
    VectorFpOp::attachInterface<
        StageModel<VectorFpOp, interpretAluOp<VectorFpOp>>>(*context);
    VectorFpDivOp::attachInterface<
        StageModel<VectorFpDivOp, interpretAluOp<VectorFpDivOp>>>(*context);
    VectorClipOp::attachInterface<
        StageModel<VectorClipOp, interpretAluOp<VectorClipOp>>>(*context);
    VectorFxpToFpOp::attachInterface<
        StageModel<VectorFxpToFpOp, interpretFxpToFp>>(*context);
    VectorFpToFxpOp::attachInterface<
        StageModel<VectorFpToFxpOp, interpretFpToFxp>>(*context);
    VectorReinterpretOp::attachInterface<
        StageModel<VectorReinterpretOp, interpretReinterpret>>(*context);
    VectorNarrowOp::attachInterface<
        StageModel<VectorNarrowOp, interpretWays<VectorNarrowOp>>>(*context);
    VectorWidenOp::attachInterface<
        StageModel<VectorWidenOp, interpretWays<VectorWidenOp>>>(*context);
    VectorStashOp::attachInterface<StageModel<VectorStashOp, interpretStash>>(
        *context);
    VectorReduceOp::attachInterface<
        StageModel<VectorReduceOp, interpretReduce>>(*context);
    VectorInterSliceReduceOp::attachInterface<
        StageModel<VectorInterSliceReduceOp, interpretSliceReduce>>(*context);
    VectorUnzipOp::attachInterface<StageModel<VectorUnzipOp, interpretUnzip>>(
        *context);
    VectorZipOp::attachInterface<StageModel<VectorZipOp, interpretZip>>(
        *context);
    VectorFinalOp::attachInterface<StageModel<VectorFinalOp, interpretFinal>>(
        *context);
  });
}
