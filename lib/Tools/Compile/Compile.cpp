//===- Compile.cpp - The compile command ----------------------------------===//
//
// Parses each file, compiles each of its kernels by itself and writes one EDF
// file a kernel. A kernel that fails makes the exit code non-zero; the others
// still compile.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Tools/Compile.h"

#include "furiosa/Conversion/Pipelines.h"
#include "furiosa/Dialect/Resource/IR/Resource.h"
#include "furiosa/InitAllDialects.h"
#include "furiosa/Support/WriteFile.h"
#include "furiosa/Target/RNGD/EDF.h"
#include "furiosa/Target/RNGD/Machine.h"
#include "furiosa/Target/RNGD/Translate.h"
#include "furiosa/Tools/ClauseDiagnostics.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace furiosa;

namespace {

struct CompileOptions {
  std::string outputDirectory;
  std::optional<rngd::Release> release;
};

/// What became of one kernel.
struct KernelReport {
  std::string name;
  std::string path;
  size_t bytes = 0;
  int64_t makespan = 0, lowerBound = 0;
  bool failed = false;
};

class Compiler {
public:
  Compiler(MLIRContext &context, const CompileOptions &options)
      : context(context), options(options) {}

  /// Compiles all kernels of a file; false if one failed or there was none.
  bool compileFile(StringRef path);
  void printReports(raw_ostream &os) const;

private:
  KernelReport compile(ModuleOp module, Operation *kernel);

  MLIRContext &context;
  const CompileOptions &options;
  std::vector<KernelReport> reports;
};

} // namespace

std::string furiosa::getFullName(Operation *kernel) {
  std::string name = SymbolTable::getSymbolName(kernel).str();
  for (Operation *at = kernel->getParentOp(); at && at->getParentOp();
       at = at->getParentOp())
    if (auto symbol =
            at->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName()))
      name = symbol.str() + "::" + name;
  return name;
}

bool furiosa::isKernel(Operation *op) {
  return op->hasAttr(visa::VISADialect::getKernelAttrName()) ||
         isa<resource::ProgramOp>(op);
}

/// Gives every kernel's target another release.
static void overrideRelease(ModuleOp module, rngd::Release release) {
  StringRef name = visa::VISADialect::getTargetAttrName();
  auto replace = [&](Operation *op, visa::TargetAttr target) {
    op->setAttr(name,
                visa::TargetAttr::get(op->getContext(), target.getChip(),
                                      rngd::toString(release),
                                      target.getChips(), target.getPes()));
  };
  module->walk([&](Operation *op) {
    if (auto target = op->getAttrOfType<visa::TargetAttr>(name))
      replace(op, target);
  });
  if (!module->hasAttr(name))
    replace(module, visa::getDefaultTarget(module.getContext()));
  // Below visa a kernel keeps the release of its target in its own attribute.
  auto text = StringAttr::get(module.getContext(), rngd::toString(release));
  module->walk([&](Operation *op) {
    if (op->hasAttr("lir.release"))
      op->setAttr("lir.release", text);
    if (auto program = dyn_cast<resource::ProgramOp>(op))
      program.setReleaseAttr(text);
  });
}

bool Compiler::compileFile(StringRef path) {
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> buffer = openInputFile(path, &message);
  if (!buffer) {
    llvm::errs() << "error: " << message << "\n";
    return false;
  }
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(buffer), SMLoc());
  ClauseDiagnosticHandler handler(*sources, &context);
  // Rules are checked kernel by kernel, and for the release that counts.
  ParserConfig config(&context, /*verifyAfterParse=*/false);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, config);
  if (!module)
    return false;
  if (options.release)
    overrideRelease(*module, *options.release);

  SmallVector<Operation *> kernels;
  module->walk([&](Operation *op) {
    if (isKernel(op))
      kernels.push_back(op);
  });
  if (kernels.empty()) {
    emitError(FileLineColLoc::get(&context, path, 1, 1))
        << "no kernel: a kernel is a func.func with the attribute "
        << visa::VISADialect::getKernelAttrName();
    return false;
  }
  bool ok = true;
  for (Operation *kernel : kernels) {
    reports.push_back(compile(*module, kernel));
    ok &= !reports.back().failed;
  }
  return ok;
}

FailureOr<rngd::edf::Kernel> furiosa::compileKernel(ModuleOp module,
                                                    Operation *kernel) {
  IRMapping mapping;
  OwningOpRef<ModuleOp> alone(cast<ModuleOp>(module->clone(mapping)));
  Operation *copy = mapping.lookupOrNull(kernel);
  SmallVector<Operation *> others;
  alone->walk([&](Operation *op) {
    if (isKernel(op) && op != copy)
      others.push_back(op);
  });
  for (Operation *op : others)
    op->erase();
  if (failed(verify(*alone)) || failed(runFuriosaPipeline(*alone)))
    return failure();
  resource::ProgramOp program;
  alone->walk([&](resource::ProgramOp op) { program = op; });
  if (!program)
    return emitError(kernel->getLoc()) << "the kernel gave no program";
  return rngd::translateToEDF(program);
}

KernelReport Compiler::compile(ModuleOp module, Operation *kernel) {
  KernelReport report;
  report.name = getFullName(kernel);
  report.failed = true;
  FailureOr<rngd::edf::Kernel> edf = compileKernel(module, kernel);
  if (failed(edf))
    return report;
  llvm::Expected<std::vector<uint8_t>> bytes = rngd::edf::write(*edf);
  if (!bytes) {
    emitError(kernel->getLoc()) << llvm::toString(bytes.takeError());
    return report;
  }
  // A symbol may hold any bytes; a file of the output folder may not.
  if (report.name.empty() || report.name.front() == '.' ||
      StringRef(report.name).find_first_of(StringRef("/\0", 2)) !=
          StringRef::npos) {
    emitError(kernel->getLoc())
        << "the kernel's name is no file name: it is empty, begins with a dot, "
           "or holds a slash or a zero byte";
    return report;
  }
  for (const KernelReport &other : reports)
    if (!other.failed && other.name == report.name) {
      emitError(kernel->getLoc())
          << "kernel " << report.name << " is already compiled to "
          << other.path << "; give the files different folders";
      return report;
    }
  SmallString<128> path(options.outputDirectory);
  llvm::sys::path::append(path, report.name + ".edf");
  if (llvm::Error error = writeFile(path, [&](raw_ostream &os) {
        os.write(reinterpret_cast<const char *>(bytes->data()), bytes->size());
        return llvm::Error::success();
      })) {
    emitError(kernel->getLoc()) << llvm::toString(std::move(error));
    return report;
  }
  report.path = path.str().str();
  report.bytes = bytes->size();
  report.makespan = edf->schedule.makespan;
  report.lowerBound = edf->schedule.lowerBound;
  report.failed = false;
  return report;
}

void Compiler::printReports(raw_ostream &os) const {
  size_t failedCount = 0;
  for (const KernelReport &report : reports) {
    if (report.failed) {
      ++failedCount;
      os << "failed    " << report.name << "\n";
      continue;
    }
    os << "compiled  " << report.name << "  " << report.path << "  "
       << report.bytes << " bytes, makespan " << report.makespan
       << " cycles, lower bound " << report.lowerBound << "\n";
  }
  os << reports.size() - failedCount << " compiled, " << failedCount
     << " failed\n";
}

int furiosa::compileMain(int argc, char **argv) {
  static llvm::cl::OptionCategory category("compile options");
  static llvm::cl::list<std::string> inputs(
      llvm::cl::Positional, llvm::cl::OneOrMore, llvm::cl::desc("FILE..."),
      llvm::cl::cat(category));
  static llvm::cl::opt<std::string> outputDirectory(
      "o", llvm::cl::desc("Folder for the EDF files"),
      llvm::cl::value_desc("directory"),
      llvm::cl::init("target/furiosa-opt/kernel"), llvm::cl::cat(category));
  static llvm::cl::opt<std::string> release(
      "release",
      llvm::cl::desc("Compile for this release, whatever visa.target says"),
      llvm::cl::value_desc("release"), llvm::cl::cat(category));
  llvm::cl::HideUnrelatedOptions(category);
  llvm::cl::ParseCommandLineOptions(
      argc, argv, "Compiles kernels to EDF files, one a kernel.\n");

  CompileOptions options;
  options.outputDirectory = outputDirectory;
  if (release.getNumOccurrences() != 0) {
    options.release = rngd::parseRelease(release);
    if (!options.release) {
      llvm::errs() << "error: unknown release '" << release
                   << "', expected one of ";
      for (unsigned i = 0; i < rngd::numReleases; ++i)
        llvm::errs() << (i ? ", " : "")
                     << rngd::toString(static_cast<rngd::Release>(i));
      llvm::errs() << "\n";
      return 1;
    }
  }
  if (std::error_code error =
          llvm::sys::fs::create_directories(options.outputDirectory)) {
    llvm::errs() << "error: cannot make folder '" << options.outputDirectory
                 << "': " << error.message() << "\n";
    return 1;
  }
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry);
  // Faults name clauses; the generic form of the op would bury them.
  context.printOpOnDiagnostic(false);
  Compiler compiler(context, options);
  bool ok = true;
  for (const std::string &input : inputs)
    ok &= compiler.compileFile(input);
  compiler.printReports(llvm::outs());
  return flushStandardOutput() && ok ? 0 : 1;
}
