//===- InterpreterTestBase.h - Kernels from text ----------------*- C++ -*-===//

#ifndef FURIOSA_UNITTESTS_INTERPRETER_INTERPRETERTESTBASE_H
#define FURIOSA_UNITTESTS_INTERPRETER_INTERPRETERTESTBASE_H

#include "furiosa/InitAllDialects.h"
#include "furiosa/Interpreter/Interpreter.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

namespace furiosa::interpreter {

class InterpreterTest : public ::testing::Test {
protected:
  InterpreterTest() {
    mlir::DialectRegistry registry;
    registerAllDialects(registry);
    registerInterpreterModels(registry);
    context.appendDialectRegistry(registry);
    context.getDiagEngine().registerHandler([this](mlir::Diagnostic &diag) {
      diagnostics += diag.str() + "\n";
      return mlir::success();
    });
  }

  /// Parses a module with one kernel. Without `check`, layouts too small for
  /// the chip are fine.
  bool parse(llvm::StringRef text, bool check) {
    diagnostics.clear();
    module = mlir::parseSourceString<mlir::ModuleOp>(
        text, mlir::ParserConfig(&context, check));
    if (!module) {
      ADD_FAILURE() << diagnostics;
      return false;
    }
    kernel = nullptr;
    module->walk([&](mlir::func::FuncOp op) { kernel = op; });
    return static_cast<bool>(kernel);
  }

  /// Arrays of the kernel's arguments, by fill.
  std::vector<HostTensor> fill(llvm::ArrayRef<Fill> fills) {
    std::vector<HostTensor> arguments;
    for (size_t i = 0; i < fills.size(); ++i) {
      auto layout = getOperandLayout(kernel.getArgumentTypes()[i]);
      if (!layout) {
        ADD_FAILURE() << llvm::toString(layout.takeError());
        return {};
      }
      arguments.push_back(layout->fill(fills[i]));
    }
    return arguments;
  }

  std::vector<HostTensor> run(llvm::ArrayRef<HostTensor> arguments) {
    auto results = interpret(kernel, arguments);
    if (mlir::succeeded(results))
      return *results;
    ADD_FAILURE() << diagnostics;
    return std::vector<HostTensor>(getOutputs(kernel).size());
  }

  /// Runs a kernel on arguments given by their codes; the codes of the first
  /// output, which must be defined throughout.
  std::vector<uint32_t> runCodes(llvm::StringRef text,
                                 std::vector<std::vector<uint32_t>> codes) {
    if (!parse(text, /*check=*/false))
      return {};
    std::vector<HostTensor> arguments =
        fill(std::vector<Fill>(codes.size(), Fill::constant(0)));
    for (size_t i = 0; i < arguments.size(); ++i) {
      EXPECT_EQ(arguments[i].codes.size(), codes[i].size());
      arguments[i].codes = codes[i];
    }
    HostTensor result = run(arguments).front();
    EXPECT_FALSE(llvm::is_contained(result.defined, 0)) << "undefined cells";
    return result.codes;
  }

  /// The diagnostics of a run that must fail.
  std::string runFault(llvm::StringRef text, llvm::ArrayRef<Fill> fills) {
    if (!parse(text, /*check=*/false))
      return "";
    EXPECT_TRUE(mlir::failed(interpret(kernel, fill(fills))));
    return diagnostics;
  }

  mlir::MLIRContext context;
  std::string diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp kernel;
};

} // namespace furiosa::interpreter

#endif // FURIOSA_UNITTESTS_INTERPRETER_INTERPRETERTESTBASE_H
