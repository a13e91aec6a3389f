//===- Simulator.cpp - Runs a kernel --------------------------------------===//
//
// Prepares memories, operands and PEs, and runs the PEs from barrier to
// barrier.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Target/RNGD/Simulator.h"

#include "EncodingSupport.h"
#include "SimulatorQueue.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"

using namespace furiosa;
using namespace furiosa::rngd;
using namespace furiosa::rngd::sim;
using llvm::Error;
using llvm::Expected;
using llvm::Twine;

/// Runs the PEs of a cluster one after the other, from exchange to exchange, up
/// to a barrier or the end.
static Error
runToBarrier(llvm::ArrayRef<std::unique_ptr<ProcessingElement>> elements,
             bool isReversed) {
  bool isDue;
  do {
    isDue = false;
    for (size_t i = 0; i < elements.size(); ++i) {
      auto &element = elements[isReversed ? elements.size() - 1 - i : i];
      if (Error error = element->run())
        return error;
      isDue |= element->dueExchange() != nullptr;
    }
    if (isDue)
      if (Error error = ProcessingElement::exchange(elements))
        return error;
  } while (isDue);
  return Error::success();
}

/// Adds the numbers that the host gave to the words that use them.
static Error addScalars(const edf::Kernel &kernel,
                        llvm::ArrayRef<OperandBuffer> operands, Spm &spm) {
  std::vector<int64_t> values;
  for (const edf::Scalar &scalar : kernel.scalars.scalars) {
    const OperandBuffer &buffer = operands[scalar.operand];
    std::string name = kernel.arguments.operands[scalar.operand].name;
    if (buffer.bytes.size() < 4 || buffer.undefinedBytes() != 0)
      return makeError("scalar '" + name + "' is not given");
    int64_t value = static_cast<int32_t>(
        llvm::support::endian::read32le(buffer.bytes.data()));
    if (value < scalar.min || value > scalar.max)
      return makeError("scalar '" + name + "' is " + Twine(value) +
                       ", it must be from " + Twine(scalar.min) + " to " +
                       Twine(scalar.max));
    values.push_back(value);
  }
  for (const edf::ScalarUse &use : kernel.scalars.uses)
    spm.setWord(use.spmAddress,
                spm.word(use.spmAddress) +
                    uint64_t(values[use.scalar]) * uint64_t(use.scale));
  return Error::success();
}

Expected<SimulationResult>
rngd::simulate(const edf::Kernel &kernel,
               llvm::MutableArrayRef<OperandBuffer> operands,
               const SimulationOptions &options) {
  if (Fault fault = edf::checkKernel(kernel))
    return makeError(*fault);
  Machine machine{options, {}, {}, {}, options.seed};
  uint64_t operandBytes = 0;
  // `checkKernel` has bounded each by HBM.
  for (const edf::Operand &operand : kernel.arguments.operands) {
    operandBytes += operand.bytes;
    if (operandBytes > options.maxOperandBytes)
      return makeError("operand '" + operand.name +
                       "' takes the operands "
                       "beyond the " +
                       Twine(options.maxOperandBytes) +
                       " bytes that a simulation may have");
  }
  if (Error error = machine.operands.load(kernel, operands))
    return error;
  for (const edf::Constant &constant : kernel.constants)
    if (constant.kind == edf::ConstantKind::Table)
      machine.tables[constant.index] = constant.bytes;

  for (const edf::ScheduledCommand &command : kernel.schedule.commands)
    for (auto [cluster, instruction] : llvm::enumerate(command.instructions))
      if (options.trace && instruction != edf::noInstruction)
        machine.cycles.try_emplace({cluster, instruction}, command.begin,
                                   command.end);

  Spm spm(kernel.spm);
  for (const edf::Relocation &relocation : kernel.arguments.relocations) {
    // Two relocations of one word would hide one another, too.
    if (uint64_t word = spm.word(relocation.spmAddress); word != 0)
      return makeError("relocation of SPM address 0x" +
                       llvm::utohexstr(relocation.spmAddress) +
                       ": the word must be 0 before, found 0x" +
                       llvm::utohexstr(word));
    spm.setWord(relocation.spmAddress,
                OperandMemory::address(relocation.operand) +
                    static_cast<uint64_t>(relocation.addend));
  }

  if (Error error = addScalars(kernel, operands, spm))
    return error;

  std::vector<std::vector<std::unique_ptr<ProcessingElement>>> clusters;
  for (const edf::Program &program : kernel.programs) {
    auto &elements = clusters.emplace_back();
    auto targets = std::make_shared<const std::vector<uint32_t>>(
        edf::findBranchTargets(program));
    for (unsigned pe = 0; pe < machine::pesPerCluster; ++pe) {
      bool hasWork = llvm::any_of(
          program.instructions, [&](const edf::Instruction &instruction) {
            return instruction.opcode == edf::Opcode::Issue &&
                   (instruction.peMask >> pe & 1);
          });
      if (hasWork)
        elements.push_back(std::make_unique<ProcessingElement>(
            machine, program, targets, spm, pe));
    }
  }
  // All programs have the same barriers. Between two of them PEs depend on one
  // another by exchanges alone, so that their order is free otherwise.
  bool isWaiting;
  do {
    isWaiting = false;
    for (auto &elements : clusters) {
      if (Error error = runToBarrier(
              elements, options.timing == SimulationOptions::Timing::Early))
        return error;
      for (auto &element : elements) {
        isWaiting |= element->waits();
        element->passBarrier();
      }
    }
    machine.operands.forgetUses();
    if (Fault fault = machine.shared.findConflict())
      return makeError(*fault);
    machine.shared.forget();
  } while (isWaiting);
  machine.operands.store(operands);
  for (const OperandBuffer &operand : operands)
    machine.result.undefinedBytes.push_back(operand.undefinedBytes());
  return std::move(machine.result);
}

Expected<SimulationResult>
rngd::simulate(const edf::Reader &reader,
               llvm::MutableArrayRef<OperandBuffer> operands,
               const SimulationOptions &options) {
  Expected<edf::Kernel> kernel = reader.loadExecutable();
  if (!kernel)
    return kernel.takeError();
  return simulate(*kernel, operands, options);
}
