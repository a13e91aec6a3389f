//===- Stages.cpp - The stages of a chain by index ------------------------===//
//
// Engines that only reorder are the identity by index: what remains of them is
// which cells they let through.
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "Execution.h"
#include "Windows.h"

#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::interpreter;
using namespace furiosa::visa;

LogicalResult ChainExecution::restrict(Operation *op, const Terms &terms) {
  return take(op, readArray(stream, {}, nullptr, terms, {}, axisSizes()),
              stream);
}

LogicalResult ChainExecution::moveOn(Operation *op, FailureOr<Terms> newTime,
                                     FailureOr<Terms> newPacket) {
  if (failed(newTime) || failed(newPacket))
    return failure();
  time = std::move(*newTime);
  packet = std::move(*newPacket);
  return restrict(op, join(spatial(), join(time, packet)));
}

/// Applies `convert` to each defined code.
template <typename Convert>
static void convertStream(ChainExecution &execution, ElementType to,
                          Convert convert) {
  IndexedArray &stream = execution.stream;
  for (auto [code, defined] : llvm::zip_equal(stream.codes, stream.defined))
    if (defined)
      code = convert(code);
  stream.type = to;
}

//===----------------------------------------------------------------------===//
// Fetch, fetch adapter, collect
//===----------------------------------------------------------------------===//

/// Two streams as one: index 0 of the new axis is `first`, index 1 `second`.
static llvm::Expected<IndexedArray>
interleave(const IndexedArray &first, const IndexedArray &second, int axis) {
  llvm::Expected<Box> shared = unionBox(first.box, second.box);
  if (!shared)
    return shared.takeError();
  Box box = *shared;
  box.axes.insert(box.axes.begin(), {axis, /*step=*/1, /*extent=*/2, 0});
  if (!box.finish())
    return llvm::createStringError(
        "not yet supported: a pair of tensors of this size");
  IndexedArray result(first.type, std::move(box));
  size_t at = 0;
  for (const IndexedArray *source : {&first, &second})
    for (int64_t offset : broadcastOffsets(*shared, source->box)) {
      if (offset >= 0) {
        result.codes[at] = source->codes[offset];
        result.defined[at] = source->defined[offset];
      }
      ++at;
    }
  return result;
}

static int findAxis(ArrayRef<HostAxis> axes, StringRef name) {
  auto *axis = llvm::find_if(
      axes, [&](const HostAxis &candidate) { return candidate.name == name; });
  return int(axis - axes.begin());
}

/// Puts the digits of windows in the place of their axes.
static LogicalResult readWindows(FetchOp op, ChainExecution &execution,
                                 ArrayRef<int64_t> shift, IndexedArray &array,
                                 Digits &digits) {
  ArrayRef<HostAxis> axes =
      execution.getKernel().getAxes(op.getSource().getType()).axes;
  for (auto window : op.getWindows()->getAsRange<WindowAttr>()) {
    RowWindow rows;
    rows.axis = findAxis(axes, window.getOver().getValue());
    rows.start = window.getStart();
    for (auto [text, factor] :
         llvm::zip_equal(window.getDigits(), window.getFactors())) {
      auto terms = execution.getTerms(op, text.getValue());
      if (failed(terms))
        return failure();
      for (const TermCells *cells : *terms) {
        if (cells->axes.empty() || cells->count() < 2)
          continue;
        rows.terms.push_back({cells->axes.front(), cells->step.front(),
                              int64_t(cells->count()), factor});
        digits.add(cells->axes.front(), cells->step.front(),
                   int64_t(cells->count()));
      }
    }
    execution.getKernel().addSteps(array.box.size);
    if (failed(take(op, spreadRows(array, shift, rows, execution.axisSizes()),
                    array)))
      return failure();
  }
  return success();
}

static LogicalResult interpretFetch(FetchOp op, ChainExecution &execution) {
  auto source = execution.getKernel().getTerms(op, op.getSource().getType());
  auto time = execution.getTerms(op, op.getTime());
  auto packet = execution.getTerms(op, op.getPacket());
  if (failed(source) || failed(time) || failed(packet))
    return failure();
  execution.place = source->place;
  execution.slice = source->slice;
  execution.time = *time;
  execution.packet = *packet;
  Digits digits(source->element, execution.axisSizes());
  auto read = [&](Value value, IndexedArray &stream) {
    const Tensor &tensor = execution.getKernel().getTensor(value);
    return take(op,
                readArray(tensor.buffer->array, tensor.shift, &digits,
                          execution.spatial(), join(*time, *packet),
                          execution.axisSizes()),
                stream);
  };
  if (op.getWindows()) {
    const Tensor &tensor = execution.getKernel().getTensor(op.getSource());
    IndexedArray array = tensor.buffer->array;
    if (failed(readWindows(op, execution, tensor.shift, array, digits)))
      return failure();
    return take(op,
                readArray(array, tensor.shift, &digits, execution.spatial(),
                          join(*time, *packet), execution.axisSizes()),
                execution.stream);
  }
  if (!op.getOther())
    return read(op.getSource(), execution.stream);
  IndexedArray first, second;
  if (failed(read(op.getSource(), first)) ||
      failed(read(op.getOther(), second)))
    return failure();
  ArrayRef<HostAxis> axes =
      execution.getKernel().getAxes(op.getSource().getType()).axes;
  return take(op, interleave(first, second, findAxis(axes, *op.getAlong())),
              execution.stream);
}

static LogicalResult interpretTableLookup(TableLookupOp op,
                                          ChainExecution &execution) {
  auto to = visa::getElementType(op.getTo());
  ElementType from = execution.stream.type;
  if (!to || !tableLookup(from, *to, 0))
    return op.emitError() << "not yet supported: table_lookup from "
                          << furiosa::toString(from) << " to " << op.getTo();
  convertStream(execution, *to, [&](uint32_t code) {
    return tableLookup(from, *to, code).value_or(0);
  });
  return success();
}

static LogicalResult interpretZeroPointSub(ZeroPointSubOp op,
                                           ChainExecution &execution) {
  ElementType from = execution.stream.type;
  if (from != ElementType::I4 && from != ElementType::I8)
    return op.emitError() << "not yet supported: zero_point_sub from "
                          << furiosa::toString(from);
  ElementType to = from == ElementType::I4 ? ElementType::I5 : ElementType::I9;
  convertStream(execution, to, [&](uint32_t code) {
    return encodeInteger(to, decodeInteger(from, code) -
                                 static_cast<int32_t>(op.getZeroPoint()));
  });
  return success();
}

static LogicalResult interpretFetchCast(FetchCastOp op,
                                        ChainExecution &execution) {
  auto to = visa::getElementType(op.getTo());
  ElementType from = execution.stream.type;
  if (!to)
    return op.emitError() << "not yet supported: fetch_cast to " << op.getTo();
  if (*to == from)
    return success();
  if (*to == ElementType::I32 && isInteger(from)) {
    convertStream(execution, *to, [&](uint32_t code) {
      return static_cast<uint32_t>(decodeInteger(from, code));
    });
    return success();
  }
  if (*to == ElementType::F32 && isFloat(from)) {
    convertStream(execution, *to,
                  [&](uint32_t code) { return decodeFloat(from, code); });
    return success();
  }
  if (*to == ElementType::BF16 && from == ElementType::F32) {
    convertStream(execution, *to,
                  [&](uint32_t code) { return uint32_t(f32ToBf16(code)); });
    return success();
  }
  return op.emitError() << "not yet supported: fetch_cast from "
                        << furiosa::toString(from) << " to " << op.getTo();
}

/// The new slices read the old ones by the digits that both have; a tile is the
/// same for all its cells.
static LogicalResult interpretSwitch(SwitchOp op, ChainExecution &execution) {
  auto slice = execution.getTerms(op, op.getSlice());
  auto time = execution.getTerms(op, op.getTime());
  if (failed(slice) || failed(time))
    return failure();
  Digits digits(join(execution.slice, execution.time), execution.axisSizes());
  IndexedArray source = std::move(execution.stream);
  Terms kept = join(execution.place, execution.packet);
  execution.slice = *slice;
  execution.time = *time;
  return take(op,
              readArray(source, {}, &digits, kept, join(*slice, *time),
                        execution.axisSizes()),
              execution.stream);
}

static LogicalResult interpretCollect(CollectOp op, ChainExecution &execution) {
  return execution.moveOn(op, execution.getTerms(op, op.getTime()),
                          execution.getTerms(op, op.getPacket()));
}

//===----------------------------------------------------------------------===//
// Contraction
//===----------------------------------------------------------------------===//

static LogicalResult interpretContractOuter(ContractOuterOp op,
                                            ChainExecution &execution) {
  auto weight = execution.getKernel().getTerms(op, op.getWeight().getType());
  auto time = execution.getTerms(op, op.getTime());
  auto packet = execution.getTerms(op, op.getPacket());
  if (failed(weight) || failed(time) || failed(packet))
    return failure();
  ArrayRef<int64_t> sizes = execution.axisSizes();
  OpenContraction &open = execution.contraction.emplace();
  open.lane = weight->lane;
  open.outerTime = *time;
  open.packet = *packet;
  Terms position = join(*time, *packet);
  Digits streamDigits(join(execution.time, execution.packet), sizes);
  const Tensor &tensor = execution.getKernel().getTensor(op.getWeight());
  Digits weightDigits(weight->element, sizes);
  if (failed(take(op,
                  readArray(execution.stream, {}, &streamDigits,
                            execution.spatial(), position, sizes, false),
                  open.stream)) ||
      failed(take(op,
                  readArray(tensor.buffer->array, tensor.shift, &weightDigits,
                            join(execution.spatial(), weight->lane), position,
                            sizes, false),
                  open.weight)))
    return failure();
  return success();
}

static LogicalResult checkOpen(Operation *op, ChainExecution &execution) {
  if (execution.contraction)
    return success();
  return op->emitError() << "no contract_outer stands before this stage";
}

static LogicalResult interpretContractPacket(ContractPacketOp op,
                                             ChainExecution &execution) {
  auto packet = execution.getTerms(op, op.getPacket());
  if (failed(packet) || failed(checkOpen(op, execution)))
    return failure();
  execution.contraction->columns = *packet;
  execution.packet = *packet;
  return success();
}

static LogicalResult interpretContractTime(ContractTimeOp op,
                                           ChainExecution &execution) {
  auto time = execution.getTerms(op, op.getTime());
  if (failed(time) || failed(checkOpen(op, execution)))
    return failure();
  OpenContraction &open = *execution.contraction;
  Contraction contraction{open.stream,  open.weight,    execution.spatial(),
                          open.lane,    open.outerTime, open.packet,
                          open.columns, *time};
  execution.time = *time;
  if (failed(take(op, contract(contraction, execution.axisSizes()),
                  execution.stream)))
    return failure();
  // Each sum is over what neither time nor columns keep.
  execution.getKernel().addSteps(llvm::SaturatingMultiply<uint64_t>(
      execution.stream.codes.size(),
      positionsOf(open.outerTime) * positionsOf(open.packet) /
          std::max<int64_t>(1,
                            positionsOf(*time) * positionsOf(open.columns))));
  return success();
}

static LogicalResult interpretContractLane(ContractLaneOp op,
                                           ChainExecution &execution) {
  execution.contraction.reset();
  return execution.moveOn(op, execution.getTerms(op, op.getTime()),
                          execution.getTerms(op, op.getPacket()));
}

//===----------------------------------------------------------------------===//
// Cast engine
//===----------------------------------------------------------------------===//

static LogicalResult interpretCast(CastOp op, ChainExecution &execution) {
  auto to = visa::getElementType(op.getTo());
  ElementType from = execution.stream.type;
  if (to && from == ElementType::I32 && isInteger(*to))
    convertStream(execution, *to, [&](uint32_t code) {
      return encodeInteger(*to, static_cast<int32_t>(code));
    });
  else if (to && from == ElementType::F32 && isFloat(*to))
    convertStream(execution, *to,
                  [&](uint32_t code) { return encodeFloat(*to, code); });
  else
    return op.emitError() << "not yet supported: cast from "
                          << furiosa::toString(from) << " to " << op.getTo();
  return execution.moveOn(op, execution.time,
                          execution.getTerms(op, op.getPacket()));
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

static LogicalResult interpretCommitTrim(CommitTrimOp op,
                                         ChainExecution &execution) {
  return execution.moveOn(op, execution.time,
                          execution.getTerms(op, op.getPacket()));
}

/// f32 to bf16, by a function of the pattern.
template <uint16_t (*convert)(uint32_t), typename OpT>
static LogicalResult interpretCommitCast(OpT op, ChainExecution &execution) {
  if (execution.stream.type != ElementType::F32)
    return op.emitError() << "not yet supported: a commit cast from "
                          << furiosa::toString(execution.stream.type);
  convertStream(execution, ElementType::BF16,
                [](uint32_t code) { return uint32_t(convert(code)); });
  return success();
}

static LogicalResult interpretTranspose(TransposeOp op,
                                        ChainExecution &execution) {
  return execution.moveOn(op, execution.getTerms(op, op.getTime()),
                          execution.getTerms(op, op.getPacket()));
}

static LogicalResult interpretCommit(CommitOp op, ChainExecution &execution) {
  auto element = execution.getTerms(op, op.getElement());
  if (failed(element))
    return failure();
  return execution.restrict(op, join(execution.spatial(), *element));
}

static LogicalResult interpretToTrf(ToTrfOp op, ChainExecution &execution) {
  auto lane = execution.getTerms(op, op.getLane());
  auto element = execution.getTerms(op, op.getElement());
  if (failed(lane) || failed(element))
    return failure();
  return execution.restrict(op,
                            join(execution.spatial(), join(*lane, *element)));
}

static LogicalResult interpretToVrf(ToVrfOp op, ChainExecution &execution) {
  auto element = execution.getTerms(op, op.getElement());
  if (failed(element))
    return failure();
  return execution.restrict(op, join(execution.spatial(), *element));
}

//===----------------------------------------------------------------------===//
// Chain
//===----------------------------------------------------------------------===//

LogicalResult ChainExecution::run() {
  for (Operation &op : chain.getBody().front()) {
    auto stage = dyn_cast<StageInterpreter>(op);
    if (!stage)
      return op.emitError() << "not yet supported: the interpreter has no "
                               "model of this stage";
    if (failed(kernel.count(&op)) || failed(stage.interpretStage(*this)))
      return failure();
    kernel.addSteps(stream.codes.size());
  }
  Value into = chain.getInto();
  if (!into) {
    kernel.bindBuffer(chain.getResult(), std::move(stream));
    return success();
  }
  Tensor target = kernel.getTensor(into);
  if (failed(writeTensor(chain, target, into.getType(), stream, kernel)))
    return failure();
  kernel.bind(chain.getResult(), std::move(target));
  return success();
}

void interpreter::registerStageModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, VISADialect *) {
    FetchOp::attachInterface<StageModel<FetchOp, interpretFetch>>(*context);
    TableLookupOp::attachInterface<
        StageModel<TableLookupOp, interpretTableLookup>>(*context);
    ZeroPointSubOp::attachInterface<
        StageModel<ZeroPointSubOp, interpretZeroPointSub>>(*context);
    SwitchOp::attachInterface<StageModel<SwitchOp, interpretSwitch>>(*context);
    TransposeOp::attachInterface<StageModel<TransposeOp, interpretTranspose>>(
        *context);
    CommitCastOp::attachInterface<
        StageModel<CommitCastOp, interpretCommitCast<f32ToBf16, CommitCastOp>>>(
        *context);
    CommitCastReluOp::attachInterface<
        StageModel<CommitCastReluOp,
                   interpretCommitCast<f32ToBf16Relu, CommitCastReluOp>>>(
        *context);
    FetchCastOp::attachInterface<StageModel<FetchCastOp, interpretFetchCast>>(
        *context);
    CollectOp::attachInterface<StageModel<CollectOp, interpretCollect>>(
        *context);
    ContractOuterOp::attachInterface<
        StageModel<ContractOuterOp, interpretContractOuter>>(*context);
    ContractPacketOp::attachInterface<
        StageModel<ContractPacketOp, interpretContractPacket>>(*context);
    ContractTimeOp::attachInterface<
        StageModel<ContractTimeOp, interpretContractTime>>(*context);
    ContractLaneOp::attachInterface<
        StageModel<ContractLaneOp, interpretContractLane>>(*context);
    CastOp::attachInterface<StageModel<CastOp, interpretCast>>(*context);
    CommitTrimOp::attachInterface<
        StageModel<CommitTrimOp, interpretCommitTrim>>(*context);
    CommitOp::attachInterface<StageModel<CommitOp, interpretCommit>>(*context);
    ToTrfOp::attachInterface<StageModel<ToTrfOp, interpretToTrf>>(*context);
    ToVrfOp::attachInterface<StageModel<ToVrfOp, interpretToVrf>>(*context);
  });
}
