//===- Interpreter.cpp - Reference interpreter of visa kernels ------------===//

#include "furiosa/Interpreter/Interpreter.h"
#include "Execution.h"
#include "furiosa/Dialect/VISA/IR/Views.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::interpreter;
using namespace furiosa::visa;

#include "furiosa/Interpreter/OpInterfaces.cpp.inc"

LogicalResult interpreter::report(Operation *op, llvm::Error error) {
  return op->emitError() << llvm::toString(std::move(error));
}

//===----------------------------------------------------------------------===//
// KernelExecution
//===----------------------------------------------------------------------===//

LogicalResult KernelExecution::count(Operation *op) {
  if (++instructions > limits.maxInstructions)
    return op->emitError() << "the run is too long: more than "
                           << limits.maxInstructions << " ops run";
  if (steps > limits.maxSteps)
    return op->emitError() << "the run is too long: more than "
                           << limits.maxSteps
                           << " cells and multiplications were computed";
  return success();
}

void KernelExecution::bindBuffer(Value value, IndexedArray array) {
  addSteps(array.codes.size());
  auto buffer = std::make_shared<Buffer>();
  buffer->array = std::move(array);
  buffer->type = value.getType();
  bind(value, Tensor{std::move(buffer), {}});
}

RuntimeValue &KernelExecution::get(Value value) {
  auto at = values.find(value);
  assert(at != values.end() && "a value is bound before it is used");
  return at->second;
}

const APInt &KernelExecution::getInteger(Value value) {
  return std::get<APInt>(get(value));
}

Tensor &KernelExecution::getTensor(Value value) {
  return std::get<Tensor>(get(value));
}

LogicalResult KernelExecution::runBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (failed(count(&op)))
      return failure();
    auto model = dyn_cast<KernelOpInterpreter>(op);
    if (!model)
      return op.emitError() << "not yet supported: the interpreter has no "
                               "model of '"
                            << op.getName() << "'";
    if (failed(model.interpretOp(*this)))
      return failure();
  }
  return success();
}

const AxisTable &KernelExecution::getAxes(tmap::AxesAttr axes) {
  auto [at, isNew] = axisTables.try_emplace(axes.getAsOpaquePointer());
  if (isNew)
    for (const mapping::Axis &axis : axes.getAxes().list()) {
      at->second.axes.push_back({axis.name, axis.size});
      at->second.sizes.push_back(axis.size);
    }
  return at->second;
}

TensorParts interpreter::getParts(Type tensor) {
  auto mapped = dyn_cast<tmap::MappedTensorType>(tensor);
  if (!mapped)
    return getTensorParts(tensor);
  tmap::AxesAttr axes = mapped.getMapping().getAxes();
  return {mapped.getElementType(),
          axes,
          *tmap::MappingAttr::parseText("1", axes),
          {},
          {},
          {},
          mapped.getMapping()};
}

const AxisTable &KernelExecution::getAxes(Type tensor) {
  return getAxes(getParts(tensor).axes);
}

FailureOr<Terms> KernelExecution::getTerms(Operation *op, tmap::AxesAttr axes,
                                           StringRef text) {
  auto [at, isNew] =
      termTables.try_emplace({axes.getAsOpaquePointer(), text.str()});
  if (isNew) {
    auto mapping = CellEvaluator::parse(text, getAxes(axes).axes);
    if (!mapping)
      return report(op, mapping.takeError());
    if (failed(take(op, mapping->terms(maxHostCells), at->second)))
      return failure();
  }
  Terms terms;
  for (const TermCells &term : at->second)
    terms.push_back(&term);
  return terms;
}

FailureOr<TensorTerms> KernelExecution::getTerms(Operation *op, Type tensor) {
  TensorParts parts = getParts(tensor);
  TensorTerms result;
  auto add = [&](tmap::MappingAttr mapping, Terms &terms) -> LogicalResult {
    if (!mapping)
      return success();
    auto more = getTerms(op, parts.axes, mapping.getText());
    if (failed(more))
      return failure();
    terms.append(more->begin(), more->end());
    return success();
  };
  if (failed(add(parts.chip, result.place)) ||
      failed(add(parts.cluster, result.place)) ||
      failed(add(parts.slice, result.slice)) ||
      failed(add(parts.lane, result.lane)) ||
      failed(add(parts.element, result.element)))
    return failure();
  return result;
}

FailureOr<Box> KernelExecution::makeBox(Operation *op, Type tensor) {
  auto terms = getTerms(op, tensor);
  if (failed(terms))
    return failure();
  SmallVector<int> axes;
  for (const TermCells *term : terms->all())
    for (int axis : term->axes)
      if (!llvm::is_contained(axes, axis))
        axes.push_back(axis);
  Box box;
  if (failed(take(op, coverBox(axes, terms->all(), getAxes(tensor).sizes, true),
                  box)))
    return failure();
  return box;
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

void interpreter::registerInterpreterModels(DialectRegistry &registry) {
  registerStageModels(registry);
  registerVectorModels(registry);
  registerMovementModels(registry);
  registerControlModels(registry);
  registerTensorModels(registry);
}

std::vector<Output> interpreter::getOutputs(func::FuncOp kernel) {
  std::vector<Output> outputs;
  for (auto [index, type] : llvm::enumerate(kernel.getResultTypes()))
    outputs.push_back({"result" + std::to_string(index), type, std::nullopt});
  for (unsigned index : getWrittenArguments(kernel))
    outputs.push_back({"arg" + std::to_string(index),
                       kernel.getArgumentTypes()[index], index});
  return outputs;
}

llvm::Expected<OperandLayout> interpreter::getOperandLayout(Type type) {
  if (type.isIndex() || type.isInteger(32))
    return OperandLayout::get(ElementType::I32, {}, "1", "1");
  TensorParts parts = getParts(type);
  std::optional<ElementType> elementType;
  if (parts.elementType)
    elementType = visa::getElementType(parts.elementType);
  if (!isa<HbmType, tmap::MappedTensorType>(type) || !elementType) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return llvm::createStringError(text + " is no HBM tensor");
  }
  std::vector<HostAxis> axes;
  for (const mapping::Axis &axis : parts.axes.getAxes().list())
    axes.push_back({axis.name, axis.size});
  return OperandLayout::get(*elementType, axes, parts.chip.getText(),
                            parts.element.getText());
}

/// The box of a host array over declared axes.
static std::optional<Box> getHostBox(const OperandLayout &layout,
                                     const AxisTable &axes) {
  Box box;
  for (auto [name, extent] : llvm::zip_equal(layout.axes(), layout.shape())) {
    auto at = llvm::find_if(axes.axes,
                            [&, name = StringRef(name)](const HostAxis &axis) {
                              return name == axis.name;
                            });
    box.axes.push_back(
        {static_cast<int>(at - axes.axes.begin()), 1, extent, 0});
  }
  if (!box.finish())
    return std::nullopt;
  return box;
}

FailureOr<std::vector<HostTensor>>
interpreter::interpret(func::FuncOp kernel, ArrayRef<HostTensor> arguments,
                       const Limits &limits) {
  if (kernel.isDeclaration() ||
      !kernel->hasAttr(VISADialect::getKernelAttrName()))
    return kernel.emitError() << "'" << kernel.getName() << "' is no kernel";
  if (arguments.size() != kernel.getNumArguments())
    return kernel.emitError() << "kernel '" << kernel.getName() << "' takes "
                              << kernel.getNumArguments() << " arguments, got "
                              << arguments.size();
  Block &body = kernel.getBody().front();
  if (!kernel.getBody().hasOneBlock() ||
      !isa<func::ReturnOp>(body.getTerminator()))
    return kernel.emitError("not yet supported: branches in a kernel");
  KernelExecution execution(limits);
  for (auto [value, array] :
       llvm::zip_equal(kernel.getArguments(), arguments)) {
    auto layout = getOperandLayout(value.getType());
    if (!layout)
      return report(kernel, layout.takeError());
    if (llvm::Error error = layout->check(array))
      return kernel.emitError() << "argument " << value.getArgNumber() << ": "
                                << llvm::toString(std::move(error));
    if (auto range = getNumberRange(value)) {
      int64_t number = static_cast<int32_t>(array.codes[0]);
      if (!array.defined[0] || number < range->first || number > range->second)
        return kernel.emitError()
               << "argument " << value.getArgNumber() << " is "
               << (array.defined[0] ? std::to_string(number) : "not given")
               << ", it must be from " << range->first << " to "
               << range->second;
      unsigned width = value.getType().isIndex()
                           ? IndexType::kInternalStorageBitWidth
                           : value.getType().getIntOrFloatBitWidth();
      execution.bind(value, APInt(width, static_cast<uint64_t>(number),
                                  /*isSigned=*/true));
      continue;
    }
    if (value.getType().isIntOrIndex())
      return kernel.emitError()
             << "argument " << value.getArgNumber() << " of type "
             << value.getType() << " is a number without a visa.range";
    auto box = getHostBox(*layout, execution.getAxes(value.getType()));
    if (!box)
      return kernel.emitError()
             << "argument " << value.getArgNumber() << " is too large";
    IndexedArray content(array.type, std::move(*box));
    content.codes = array.codes;
    content.defined = array.defined;
    execution.bindBuffer(value, std::move(content));
  }
  if (failed(execution.runBlock(body)))
    return failure();

  std::vector<HostTensor> results;
  for (auto [index, output] : llvm::enumerate(getOutputs(kernel))) {
    if (output.type.isIntOrIndex())
      return kernel.emitError() << output.name << " of type " << output.type
                                << " is a number; kernels give tensors";
    Value value = output.argument ? Value(kernel.getArgument(*output.argument))
                                  : body.getTerminator()->getOperand(index);
    auto layout = getOperandLayout(output.type);
    if (!layout)
      return report(kernel, layout.takeError());
    auto box = getHostBox(*layout, execution.getAxes(output.type));
    if (!box)
      return kernel.emitError() << output.name << " is too large";
    const IndexedArray &content = execution.getTensor(value).buffer->array;
    std::vector<int64_t> offsets = broadcastOffsets(*box, content.box);
    HostTensor array = layout->makeArray();
    layout->forEachLive([&](uint64_t, uint64_t at) {
      if (offsets[at] < 0 || !content.defined[offsets[at]])
        return;
      array.codes[at] = content.codes[offsets[at]];
      array.defined[at] = 1;
    });
    results.push_back(std::move(array));
  }
  return results;
}
