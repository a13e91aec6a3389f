//===- InterpreterRunner.cpp - Kernels of MLIR files ----------------------===//

#include "Runner.h"
#include "furiosa/InitAllDialects.h"
#include "furiosa/Interpreter/Interpreter.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::run;

namespace {
class InterpreterRunner : public Runner {
public:
  InterpreterRunner() {
    DialectRegistry registry;
    registerAllDialects(registry);
    interpreter::registerInterpreterModels(registry);
    context.appendDialectRegistry(registry);
  }

  llvm::Error load(StringRef path, StringRef wanted);

  StringRef name() const override { return kernelName; }
  ArrayRef<Operand> arguments() const override { return inputs; }
  ArrayRef<Operand> outputs() const override { return results; }
  llvm::Expected<std::vector<HostArray>>
  run(ArrayRef<HostArray> arrays) override {
    SourceMgrDiagnosticHandler handler(*sources, &context);
    auto values = interpreter::interpret(kernel, arrays);
    if (failed(values))
      return llvm::createStringError("kernel '" + kernelName +
                                     "' did not run to its end");
    return std::move(*values);
  }

private:
  MLIRContext context;
  std::shared_ptr<llvm::SourceMgr> sources;
  OwningOpRef<ModuleOp> module;
  func::FuncOp kernel;
  std::string kernelName;
  std::vector<Operand> inputs, results;
};
} // namespace

/// `module::function` below the outermost module.
static std::string getFullName(func::FuncOp kernel) {
  std::string name = kernel.getName().str();
  for (Operation *at = kernel->getParentOp(); at && at->getParentOp();
       at = at->getParentOp())
    if (auto symbol =
            at->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName()))
      name = (symbol.getValue() + "::" + name).str();
  return name;
}

llvm::Error InterpreterRunner::load(StringRef path, StringRef wanted) {
  std::string message;
  auto buffer = openInputFile(path, &message);
  if (!buffer)
    return llvm::createStringError(message);
  sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(buffer), SMLoc());
  SourceMgrDiagnosticHandler handler(*sources, &context);
  module = parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  if (!module)
    return llvm::createStringError(path + " is no valid module");

  std::vector<std::string> names;
  unsigned found = 0;
  module->walk([&](func::FuncOp candidate) {
    if (!candidate->hasAttr(visa::VISADialect::getKernelAttrName()))
      return;
    names.push_back(getFullName(candidate));
    if (!wanted.empty() && wanted != names.back() &&
        wanted != candidate.getName())
      return;
    ++found;
    // A full name wins over the same function name elsewhere.
    if (found == 1 || wanted == names.back()) {
      kernel = candidate;
      kernelName = names.back();
    }
  });
  if (names.empty())
    return llvm::createStringError(path + " has no kernel: no func.func with "
                                          "the attribute visa.kernel");
  if (!wanted.empty() && wanted == kernelName)
    found = 1;
  if (found != 1)
    return llvm::createStringError(
        path +
        (found == 0 ? " has no kernel '" + wanted + "'; it has "
                    : llvm::Twine(" has several kernels; choose one "
                                  "with --kernel: ")) +
        llvm::join(names, ", "));

  for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    auto layout = interpreter::getOperandLayout(type);
    if (!layout)
      return layout.takeError();
    inputs.push_back({"arg" + std::to_string(index), std::move(*layout)});
  }
  for (const interpreter::Output &output : interpreter::getOutputs(kernel)) {
    auto layout = interpreter::getOperandLayout(output.type);
    if (!layout)
      return layout.takeError();
    results.push_back({output.name, std::move(*layout)});
  }
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<Runner>> run::loadMLIR(StringRef path,
                                                      StringRef kernel) {
  auto runner = std::make_unique<InterpreterRunner>();
  if (llvm::Error error = runner->load(path, kernel))
    return error;
  return runner;
}
