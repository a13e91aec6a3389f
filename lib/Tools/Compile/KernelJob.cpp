//===- KernelJob.cpp - The work on one kernel -----------------------------===//

#include "KernelJob.h"

#include "furiosa/Conversion/Pipelines.h"
#include "furiosa/Dialect/Resource/IR/Resource.h"
#include "furiosa/Dialect/VISA/IR/VISA.h"
#include "furiosa/Target/RNGD/Translate.h"
#include "furiosa/Tools/Compile.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace furiosa {

FailureOr<rngd::edf::Kernel> compileKernel(ModuleOp, Operation *kernel) {
  SliceSymbols symbols;
  FailureOr<KernelSlice> slice = extractSlice(kernel, symbols);
  if (failed(slice) || failed(verify(*slice->module)) ||
      failed(runFuriosaPipeline(*slice->module)))
    return failure();
  resource::ProgramOp program;
  slice->module->walk([&](resource::ProgramOp op) { program = op; });
  if (!program)
    return emitError(kernel->getLoc()) << "the kernel gave no program";
  return rngd::translateToEDF(program);
}

} // namespace furiosa

namespace furiosa::compile {

/// The text of a module, on lines of its own.
static std::string print(Operation *module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os);
  os << "\n";
  return text;
}

static void dumpVISA(Operation *module, Dumps &dumps) {
  dumps.visa = print(module);
  dumps.dfg = dumpGraph(module);
}

namespace {
/// Measures passes and looks at the module in front of the conversions.
class Watcher : public PassInstrumentation {
public:
  Watcher(Times &times, Dumps &dumps) : times(times), dumps(dumps) {}

  void runBeforePass(Pass *pass, Operation *op) override {
    if (!dumps.tmap.empty() && pass->getArgument() == "convert-visa-to-lir")
      dumpVISA(op, dumps);
    if (dumps.wanted && pass->getArgument() == "convert-lir-to-resource")
      dumpLIR(op);
    // Last, so that dumps are not counted.
    starts.push_back(std::chrono::steady_clock::now());
  }
  void runAfterPass(Pass *pass, Operation *) override { stop(pass); }
  void runAfterPassFailed(Pass *pass, Operation *) override { stop(pass); }

private:
  void stop(Pass *pass) {
    std::chrono::duration<double> taken =
        std::chrono::steady_clock::now() - starts.pop_back_val();
    // Adaptors and passes that only run others have no name.
    if (!pass->getArgument().empty())
      times.add("  " + pass->getArgument().str(), taken.count());
  }

  void dumpLIR(Operation *op) {
    bool hasLIR = false;
    op->walk([&](lir::DmaOp) { hasLIR = true; });
    op->walk([&](lir::ExecOp) { hasLIR = true; });
    bool hasProgram = false;
    op->walk([&](resource::ProgramOp) { hasProgram = true; });
    if (hasProgram || !hasLIR)
      return;
    llvm::raw_string_ostream bytecode(dumps.lirBytecode);
    (void)writeBytecodeToFile(op, bytecode);
    dumps.lirText = print(op);
    dumps.lirGraph = dumpGraph(op);
    dumps.summary.addLIR(op);
  }

  Times &times;
  Dumps &dumps;
  SmallVector<std::chrono::steady_clock::time_point> starts;
};
} // namespace

/// The kernel of a slice; the others in it were made plain functions.
static Operation *findKernel(ModuleOp module) {
  Operation *kernel = nullptr;
  module->walk([&](Operation *op) {
    if (isKernel(op))
      kernel = op;
  });
  return kernel;
}

/// Whether there are functions of tensors, which become chains.
static bool computesTensors(ModuleOp module) {
  return module
      ->walk([](Operation *op) {
        StringRef dialect = op->getName().getDialectNamespace();
        return dialect == "tmap" || dialect == "linalg"
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

static std::optional<CompiledKernel> compile(ModuleOp module, Times &times,
                                             Dumps &dumps) {
  Operation *kernel = findKernel(module);
  {
    Stopwatch watch(times, "check");
    if (failed(verify(module)))
      return std::nullopt;
  }
  if (dumps.wanted && !isa<resource::ProgramOp>(kernel) &&
      !kernel->hasAttr("lir.release")) {
    if (computesTensors(module))
      dumps.tmap = print(module);
    else
      dumpVISA(module, dumps);
  }
  {
    Stopwatch watch(times, "passes");
    PassManager manager(module->getContext());
    buildFuriosaPipeline(manager);
    manager.addInstrumentation(std::make_unique<Watcher>(times, dumps));
    if (failed(manager.run(module)))
      return std::nullopt;
  }
  resource::ProgramOp program;
  module->walk([&](resource::ProgramOp op) { program = op; });
  if (!program) {
    module->emitError("the kernel gave no program");
    return std::nullopt;
  }
  CompiledKernel compiled;
  {
    Stopwatch watch(times, "encode");
    FailureOr<rngd::edf::Kernel> edf = rngd::translateToEDF(program);
    if (failed(edf))
      return std::nullopt;
    auto bytes = rngd::edf::write(*edf);
    if (!bytes) {
      program->emitError(llvm::toString(bytes.takeError()));
      return std::nullopt;
    }
    compiled.edf = std::move(*bytes);
    compiled.makespan = edf->schedule.makespan;
    compiled.lowerBound = edf->schedule.lowerBound;
  }
  if (dumps.wanted) {
    dumps.resourceText = print(module);
    dumps.schedule = dumpSchedule(program);
    dumps.trace = dumpTrace(program);
    dumps.lifetimes = dumpLifetimes(program);
    dumps.summary.addProgram(program);
    dumps.summary.edfBytes = compiled.edf.size();
    dumps.summary.edfHash =
        llvm::toHex(llvm::SHA256::hash(compiled.edf), /*LowerCase=*/true);
  }
  return compiled;
}

KernelOutcome compileSlice(const DialectRegistry &registry, StringRef slice,
                           const Sources &sources, Dumps &dumps) {
  KernelOutcome outcome;
  std::optional<MLIRContext> context;
  {
    Stopwatch watch(outcome.times, "read slice");
    context.emplace(registry, MLIRContext::Threading::DISABLED);
    // Faults name clauses; the generic form of the op would bury them.
    context->printOpOnDiagnostic(false);
    // Bytecode does not load the dialect of an attribute's name as text does.
    context->loadDialect<visa::VISADialect>();
  }
  Collector collector(&*context, sources, outcome.messages);
  OwningOpRef<ModuleOp> module;
  {
    Stopwatch watch(outcome.times, "read slice");
    auto manager = std::make_shared<llvm::SourceMgr>();
    manager->AddNewSourceBuffer(
        llvm::MemoryBuffer::getMemBuffer(slice, "<slice>",
                                         /*RequiresNullTerminator=*/false),
        llvm::SMLoc());
    module = parseSourceFile<ModuleOp>(
        manager, ParserConfig(&*context, /*verifyAfterParse=*/false));
  }
  if (module)
    outcome.kernel = compile(*module, outcome.times, dumps);
  if (!outcome.kernel &&
      llvm::none_of(outcome.messages, [](const Message &message) {
        return message.level == Message::Error;
      }))
    outcome.messages.push_back(makeError("the compiler failed silently"));
  return outcome;
}

} // namespace furiosa::compile
