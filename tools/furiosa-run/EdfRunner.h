//===- EdfRunner.h - Kernels of EDF files -----------------------*- C++ -*-===//

#ifndef FURIOSA_TOOLS_FURIOSA_RUN_EDFRUNNER_H
#define FURIOSA_TOOLS_FURIOSA_RUN_EDFRUNNER_H

#include "Runner.h"
#include "furiosa/Target/RNGD/EDF.h"
#include "furiosa/Target/RNGD/Simulator.h"

namespace furiosa::run {

/// A kernel binary in the simulator.
class EdfRunner : public Runner {
public:
  /// The operands of `kernel`; an error names one that cannot be shown as an
  /// array.
  static llvm::Expected<std::unique_ptr<EdfRunner>>
  create(rngd::edf::Kernel kernel, std::string name);

  llvm::StringRef name() const override { return kernelName; }
  llvm::ArrayRef<Operand> arguments() const override { return inputs; }
  llvm::ArrayRef<Operand> outputs() const override { return results; }
  llvm::Expected<std::vector<HostArray>>
  run(llvm::ArrayRef<HostArray> arguments) override;
  llvm::Expected<std::unique_ptr<Runner>> compile(bool early) override;
  llvm::Error traceTo(llvm::raw_ostream &os) override {
    options.trace = &os;
    return llvm::Error::success();
  }

  rngd::SimulationOptions options;

private:
  rngd::edf::Kernel kernel;
  std::string kernelName;
  std::vector<Operand> inputs, results;
  /// Operand numbers of inputs and results.
  std::vector<size_t> inputOperands, resultOperands;
};

} // namespace furiosa::run

#endif // FURIOSA_TOOLS_FURIOSA_RUN_EDFRUNNER_H
