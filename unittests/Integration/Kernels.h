//===- Kernels.h - Kernels built for tests ----------------------*- C++ -*-===//
//
// A kernel from text to binary, as a user would get it.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_UNITTESTS_INTEGRATION_KERNELS_H
#define FURIOSA_UNITTESTS_INTEGRATION_KERNELS_H

#include "furiosa/HostArrays/HostArray.h"
#include "furiosa/Target/RNGD/EDF.h"
#include "furiosa/Target/RNGD/Simulator.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>
#include <random>
#include <string>
#include <vector>

namespace furiosa::test {

/// A kernel, parsed and compiled.
struct Built {
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp kernel;
  /// The file, and what its reader gives.
  std::vector<uint8_t> file;
  rngd::edf::Kernel binary;
  std::vector<OperandLayout> inputs, outputs;
};

/// Fails the test where a step fails.
void build(const std::string &text, Built &built);
/// The same for the kernel of `examples/NAME.mlir`.
void buildFile(llvm::StringRef name, Built &built);

using Codes = std::vector<uint32_t>;

/// Values for all inputs by a fill of docs/getting-started.md, each its own.
std::vector<HostArray> makeArguments(const Built &built, llvm::StringRef kind);
/// Runs `built` in both semantics and compares its one result with `expected`.
void compare(const Built &built, llvm::ArrayRef<HostArray> arguments,
             const Codes &expected);

/// Choices of a generator of kernels; FURIOSA_SEED and FURIOSA_CASES set seed
/// and number of cases, which are printed.
class Choices {
public:
  explicit Choices(int defaultCases);
  int64_t pick(std::initializer_list<int64_t> list) {
    return list.begin()[random() % list.size()];
  }
  bool chance(int percent) { return int(random() % 100) < percent; }

  int cases;

private:
  std::mt19937_64 random;
};

float asFloat(uint32_t pattern);
/// The pattern; NaNs are one.
uint32_t asPattern(float value);
/// Value of a bf16 or 8-bit float code, by the definition of its format.
float valueOf(ElementType type, uint32_t code);

} // namespace furiosa::test

#endif // FURIOSA_UNITTESTS_INTEGRATION_KERNELS_H
