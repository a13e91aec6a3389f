//===- InterpreterRunner.cpp - Kernels of MLIR files ----------------------===//

#include "EdfRunner.h"
#include "Runner.h"
#include "furiosa/Conversion/Pipelines.h"
#include "furiosa/Dialect/VISA/IR/Views.h"
#include "furiosa/InitAllDialects.h"
#include "furiosa/Interpreter/Interpreter.h"
#include "furiosa/Tools/Compile.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::run;

static llvm::cl::opt<bool>
    strict("strict", llvm::cl::cat(getCategory()),
           llvm::cl::desc("Refuse what the kernel check only warns of"));

namespace {
class InterpreterRunner : public Runner {
public:
  InterpreterRunner() {
    DialectRegistry registry;
    registerAllDialects(registry);
    interpreter::registerInterpreterModels(registry);
    if (strict)
      visa::makeStrict(registry);
    context.appendDialectRegistry(registry);
    // Faults name clauses; the generic form of the op would bury them.
    context.printOpOnDiagnostic(false);
  }

  llvm::Error load(std::unique_ptr<llvm::MemoryBuffer> file, StringRef wanted);
  /// Whether the kernel is one of visa, which the interpreter runs.
  bool isVISA() const {
    auto function = dyn_cast<func::FuncOp>(kernel);
    return function && !function->hasAttr("lir.pes");
  }

  StringRef name() const override { return kernelName; }
  ArrayRef<Operand> arguments() const override { return inputs; }
  ArrayRef<Operand> outputs() const override { return results; }
  llvm::Expected<std::vector<HostArray>>
  run(ArrayRef<HostArray> arrays) override {
    SourceMgrDiagnosticHandler handler(*sources, &context);
    auto values =
        interpreter::interpret(cast<func::FuncOp>(kernel), arrays,
                               {getMaxInstructions(), getMaxSteps()});
    if (failed(values))
      return llvm::createStringError("kernel '" + kernelName +
                                     "' did not run to its end");
    return std::move(*values);
  }
  llvm::Expected<std::unique_ptr<Runner>> compile(bool early) override {
    SourceMgrDiagnosticHandler handler(*sources, &context);
    // Warnings were given when the kernel was loaded.
    ScopedDiagnosticHandler filter(&context, [](Diagnostic &diagnostic) {
      return success(diagnostic.getSeverity() == DiagnosticSeverity::Warning);
    });
    auto binary = compileKernel(*module, kernel);
    if (failed(binary))
      return llvm::createStringError("kernel '" + kernelName +
                                     "' did not compile");
    auto runner = EdfRunner::create(std::move(*binary), kernelName);
    if (!runner)
      return runner.takeError();
    if (early)
      (*runner)->options.timing = rngd::SimulationOptions::Timing::Early;
    return std::unique_ptr<Runner>(std::move(*runner));
  }

private:
  MLIRContext context;
  std::shared_ptr<llvm::SourceMgr> sources;
  OwningOpRef<ModuleOp> module;
  Operation *kernel = nullptr;
  std::string kernelName;
  std::vector<Operand> inputs, results;
};
} // namespace

llvm::Error InterpreterRunner::load(std::unique_ptr<llvm::MemoryBuffer> file,
                                    StringRef wanted) {
  std::string path = file->getBufferIdentifier().str();
  sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(file), SMLoc());
  SourceMgrDiagnosticHandler handler(*sources, &context);
  // What the kernel does not reach is not looked at.
  module = parseSourceFile<ModuleOp>(
      sources, ParserConfig(&context, /*verifyAfterParse=*/false));
  if (!module)
    return llvm::createStringError(path + " is no valid module");

  std::vector<std::string> names;
  unsigned found = 0;
  module->walk([&](Operation *candidate) {
    if (!isKernel(candidate))
      return;
    names.push_back(getFullName(candidate));
    auto own =
        candidate->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
    if (!wanted.empty() && wanted != names.back() &&
        (!own || wanted != own.getValue()))
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
                                          "the attribute visa.kernel, and no "
                                          "resource.program");
  if (!wanted.empty() && wanted == kernelName)
    found = 1;
  if (found != 1)
    return llvm::createStringError(
        path +
        (found == 0 ? " has no kernel '" + wanted + "'; it has "
                    : llvm::Twine(" has several kernels; choose one "
                                  "with --kernel: ")) +
        llvm::join(names, ", "));

  SliceSymbols symbols;
  FailureOr<KernelSlice> slice = extractSlice(kernel, symbols);
  if (failed(slice) || failed(verify(*slice->module)))
    return llvm::createStringError("kernel '" + kernelName + "' of " + path +
                                   " is not valid");
  if (failed(inlineHelpers(*slice->module)))
    return llvm::createStringError(path + ": helpers cannot be inlined");
  module = std::move(slice->module);
  kernel = slice->kernel;

  if (!isVISA())
    return llvm::Error::success();
  auto function = cast<func::FuncOp>(kernel);
  visa::emitWarnings(function);
  auto refuse = [&](StringRef what, size_t index, llvm::Error error) {
    emitError(kernel->getLoc())
        << "not yet supported: " << what << ' ' << index << " of a run: "
        << llvm::toString(std::move(error));
    return llvm::createStringError("kernel '" + kernelName + "' cannot be run");
  };
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto layout = interpreter::getOperandLayout(type);
    if (!layout)
      return refuse("argument", index, layout.takeError());
    inputs.push_back({"arg" + std::to_string(index), std::move(*layout),
                      visa::getNumberRange(function.getArgument(index))});
  }
  for (const auto &[index, output] :
       llvm::enumerate(interpreter::getOutputs(function))) {
    auto layout = interpreter::getOperandLayout(output.type);
    if (!layout)
      return refuse("result", index, layout.takeError());
    results.push_back({output.name, std::move(*layout)});
  }
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<Runner>>
run::loadMLIR(std::unique_ptr<llvm::MemoryBuffer> file, StringRef kernel) {
  auto runner = std::make_unique<InterpreterRunner>();
  if (llvm::Error error = runner->load(std::move(file), kernel))
    return error;
  // Below visa a kernel is what the chip does: it is compiled to the end.
  if (!runner->isVISA())
    return runner->compile(/*early=*/false);
  return runner;
}
