//===- EdfRunner.cpp - Kernels of EDF files -------------------------------===//

#include "EdfRunner.h"

#include "furiosa/Target/RNGD/HostOperands.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace furiosa;
using namespace furiosa::run;

Expected<std::unique_ptr<EdfRunner>> EdfRunner::create(rngd::edf::Kernel kernel,
                                                       std::string name) {
  auto runner = std::make_unique<EdfRunner>();
  runner->options.maxInstructions = getMaxInstructions();
  runner->options.maxSteps = getMaxSteps();
  for (auto [index, operand] : enumerate(kernel.arguments.operands)) {
    if (operand.role == rngd::edf::Role::Scratch ||
        operand.role == rngd::edf::Role::Constant)
      continue;
    auto layout = rngd::getLayout(operand);
    if (!layout)
      return layout.takeError();
    if (operand.role != rngd::edf::Role::Output) {
      runner->inputs.push_back({operand.name, *layout});
      for (const rngd::edf::Scalar &scalar : kernel.scalars.scalars)
        if (scalar.operand == index)
          runner->inputs.back().range = {scalar.min, scalar.max};
      runner->inputOperands.push_back(index);
    }
    if (operand.role == rngd::edf::Role::Output) {
      runner->results.push_back({operand.name, *layout});
      runner->resultOperands.push_back(index);
    }
  }
  // Arguments that are written come after the results.
  for (auto [index, operand] : enumerate(kernel.arguments.operands))
    if (operand.role == rngd::edf::Role::InOut) {
      auto at = find(runner->inputOperands, index);
      runner->results.push_back(
          runner->inputs[at - runner->inputOperands.begin()]);
      runner->resultOperands.push_back(index);
    }
  runner->kernel = std::move(kernel);
  runner->kernelName = std::move(name);
  return runner;
}

Expected<std::vector<HostArray>> EdfRunner::run(ArrayRef<HostArray> arguments) {
  std::vector<rngd::OperandBuffer> buffers(kernel.arguments.operands.size());
  for (auto [operand, index, array] :
       zip_equal(inputs, inputOperands, arguments)) {
    auto bytes = packOperand(operand.layout, array);
    if (!bytes)
      return bytes.takeError();
    buffers[index] = {std::move(bytes->bytes), std::move(bytes->defined)};
  }
  auto result = rngd::simulate(kernel, buffers, options);
  if (!result)
    return result.takeError();
  std::vector<HostArray> arrays;
  for (auto [operand, index] : zip_equal(results, resultOperands)) {
    auto array = unpackOperand(operand.layout, buffers[index].bytes,
                               buffers[index].defined);
    if (!array)
      return array.takeError();
    arrays.push_back(std::move(*array));
  }
  return arrays;
}

Expected<std::unique_ptr<Runner>> EdfRunner::compile(bool) {
  return createStringError("only a kernel of visa can be checked: below it "
                           "there is nothing to check against");
}

Expected<std::unique_ptr<Runner>>
run::loadEDF(std::unique_ptr<MemoryBuffer> file, StringRef kernelName) {
  StringRef path = file->getBufferIdentifier();
  auto reader = rngd::edf::Reader::open(
      arrayRefFromStringRef<uint8_t>(file->getBuffer()), path);
  if (!reader)
    return reader.takeError();
  auto index = reader->findKernel(kernelName);
  if (!index)
    return index.takeError();
  auto kernel = reader->load(*index);
  if (!kernel)
    return kernel.takeError();
  std::string name = kernel->names.kernel;
  auto runner = EdfRunner::create(std::move(*kernel), std::move(name));
  if (!runner)
    return createStringError(path + ": " + toString(runner.takeError()));
  return std::unique_ptr<Runner>(std::move(*runner));
}
