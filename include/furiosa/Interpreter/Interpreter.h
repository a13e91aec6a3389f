//===- Interpreter.h - Reference interpreter of visa kernels ----*- C++ -*-===//
//
// Runs a checked kernel by logical index: each value is a function of the
// coordinates on named axes, whatever memory it lies in. It uses neither the
// mapping algebra nor addresses, and so stands apart from what the compiler
// derives.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_INTERPRETER_INTERPRETER_H
#define FURIOSA_INTERPRETER_INTERPRETER_H

#include "furiosa/HostArrays/HostArray.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace furiosa::interpreter {

using HostTensor = HostArray;

/// Attaches the interpreter's interfaces to the ops that it runs. Call it on
/// the registry of the context that the kernel is parsed in.
void registerInterpreterModels(mlir::DialectRegistry &registry);

/// An output of a kernel: a value that it returns, or an argument that it
/// writes.
struct Output {
  /// "result0", …; "arg0", … for an argument.
  std::string name;
  /// The HBM tensor's type.
  mlir::Type type;
  /// Index of the argument, if it is one.
  std::optional<unsigned> argument;
};

/// Outputs in order: first the values returned, then the arguments written.
std::vector<Output> getOutputs(mlir::func::FuncOp kernel);

/// How an HBM tensor type lies in memory and in the host's array.
llvm::Expected<OperandLayout> getOperandLayout(mlir::Type type);

/// How much a kernel may ask for; one that goes on is stopped at an op.
struct Limits {
  /// Ops, stages and iterations of loops.
  uint64_t maxInstructions = 1ull << 26;
  /// Cells of the arrays that they give, and multiplications.
  uint64_t maxSteps = 1ull << 34;
};

/// Runs a kernel that has been verified (func.func with `visa.kernel`) on one
/// array per argument; gives one array per output, in the order of getOutputs.
/// Faults are reported at the op; cells that depend on undefined contents are
/// undefined in the outputs.
mlir::FailureOr<std::vector<HostTensor>>
interpret(mlir::func::FuncOp kernel, llvm::ArrayRef<HostTensor> arguments,
          const Limits &limits = {});

} // namespace furiosa::interpreter

#endif // FURIOSA_INTERPRETER_INTERPRETER_H
