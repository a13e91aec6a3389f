//===- furiosa-opt-mlir.cpp - The optimizer driver ------------------------===//
//
// `mlir-opt` for the dialects, passes and pipelines of this stack, and the
// commands `compile` and `explain`. Unlike MLIR's own driver it writes an
// output file whole or not at all.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/VISA/IR/KernelCheck.h"
#include "furiosa/InitAllDialects.h"
#include "furiosa/InitAllPasses.h"
#include "furiosa/Support/Colours.h"
#include "furiosa/Support/DeepStack.h"
#include "furiosa/Support/GivenOptions.h"
#include "furiosa/Support/MainHeap.h"
#include "furiosa/Support/Version.h"
#include "furiosa/Support/WriteFile.h"
#include "furiosa/Tools/Compile.h"
#include "furiosa/Tools/Explain.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

static constexpr char overview[] = R"(furiosa optimizer driver

Two commands stand in front of all options and have a --help of their own:
  compile FILE... [FILTER]...  kernels to EDF files
  explain MAPPING              what a mapping says

Without one of them it is what mlir-opt is, for this stack.
)";

static int fail(const llvm::Twine &message) {
  llvm::WithColor::error() << message << "\n";
  return 1;
}

/// Whether a run only parses, checks and prints: no option asks for more.
static bool isPlain() {
  return llvm::all_of(llvm::cl::getRegisteredOptions(), [](const auto &entry) {
    return entry.second->getNumOccurrences() == 0 || entry.first == "o" ||
           entry.first == "strict";
  });
}

/// What MlirOptMain does without options, faster on large files: kernels are
/// checked side by side and beside the printer, and nothing is freed, for the
/// program ends. What `os` has got is worth something only on success.
static mlir::LogicalResult
reprint(llvm::raw_ostream &os, std::unique_ptr<llvm::MemoryBuffer> input,
        mlir::DialectRegistry &registry) {
  furiosa::visa::deferKernelChecks(registry);
  // A byte of text becomes about so many bytes of operations.
  constexpr size_t growth = 14;
  furiosa::MainHeapToucher toucher(growth * input->getBufferSize());
  // Threads would only make the parser slower.
  static auto *context =
      new mlir::MLIRContext(registry, mlir::MLIRContext::Threading::DISABLED);
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(input), llvm::SMLoc());
  mlir::SourceMgrDiagnosticHandler handler(*sources, context);
  mlir::FallbackAsmResourceMap resources;
  mlir::ParserConfig config(context, /*verifyAfterParse=*/false, &resources);
  static mlir::Operation *module =
      mlir::parseSourceFile<mlir::ModuleOp>(sources, config).release();
  if (!module)
    return mlir::failure();
  context->enableMultithreading();
  // The printer relies on what this checks, and on nothing that is left.
  if (failed(mlir::verify(module)))
    return mlir::failure();
  auto print = [&] {
    mlir::AsmState state(module, mlir::OpPrintingFlags().assumeVerified(),
                         /*locationMap=*/nullptr, &resources);
    module->print(os, state);
    os << '\n';
  };
  return furiosa::visa::checkKernels(module, print);
}

/// Parses, transforms and prints, as the flags say.
static int optimize(int argc, char **argv) {
  mlir::DialectRegistry registry;
  furiosa::registerAllDialects(registry);
  furiosa::registerAllPasses();
  // `compile` has an option of this name as well.
  llvm::cl::opt<bool> strict(
      "strict", llvm::cl::desc("Refuse what the kernel check only warns of"));
  auto [inputFile, outputFile] =
      mlir::registerAndParseCLIOptions(argc, argv, overview, registry);
  if (std::string fault = furiosa::findOptionFault(); !fault.empty())
    return fail(fault);
  if (outputFile.empty())
    return fail("-o needs a path");
  if (strict)
    furiosa::visa::makeStrict(registry);
  auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses()) {
    mlir::LogicalResult result =
        mlir::MlirOptMain(argc, argv, inputFile, outputFile, registry);
    return furiosa::flushStandardOutput() && succeeded(result) ? 0 : 1;
  }

  // Who waits for a pipe that is a terminal should know.
  if (inputFile == "-" &&
      llvm::sys::Process::FileDescriptorIsDisplayed(fileno(stdin)))
    llvm::errs() << "(processing input from stdin now, hit ctrl-c/ctrl-d to "
                    "interrupt)\n";
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> input =
      mlir::openInputFile(inputFile, &message);
  if (!input)
    return fail(message);
  furiosa::InputFiles inputs;
  inputs.add(inputFile);
  inputs.add(config.getIrdlFile());
  for (auto [flag, path] :
       {std::pair("--remarks-output-file", config.getRemarksOutputFile()),
        std::pair("--mlir-generate-reproducer",
                  config.getReproducerFilename().str())})
    if (llvm::Error error = inputs.check(flag, path))
      return fail(llvm::toString(std::move(error)));
  bool plain = isPlain();
  if (outputFile == "-" && !plain) {
    if (config.shouldEmitBytecode() && llvm::outs().is_displayed())
      return fail("bytecode does not go to a terminal; use -o FILE");
    mlir::LogicalResult result =
        mlir::MlirOptMain(llvm::outs(), std::move(input), registry, config);
    return furiosa::flushStandardOutput() && succeeded(result) ? 0 : 1;
  }
  // A file may be rewritten in place, but not lost to another format.
  bool isBytecode = mlir::isBytecode(*input);
  if (isBytecode != config.shouldEmitBytecode())
    if (llvm::Error error = inputs.check("-o", outputFile))
      return fail(llvm::toString(std::move(error)) + ", which is " +
                  (isBytecode ? "bytecode" : "text"));
  // An interrupt waits while there is a file: it is not made before it is
  // known.
  std::string text;
  text.reserve(input->getBufferSize() + input->getBufferSize() / 4);
  llvm::raw_string_ostream output(text);
  if (failed(plain ? reprint(output, std::move(input), registry)
                   : mlir::MlirOptMain(output, std::move(input), registry,
                                       config)))
    return 1;
  if (outputFile == "-") {
    llvm::outs() << text;
    return furiosa::flushStandardOutput() ? 0 : 1;
  }
  if (llvm::Error error =
          furiosa::writeFile(outputFile, [&](llvm::raw_ostream &os) {
            os << text;
            return llvm::Error::success();
          }))
    return fail(llvm::toString(std::move(error)));
  return 0;
}

static int run(int argc, char **argv) {
  struct Command {
    llvm::StringRef name;
    int (*main)(int, char **);
  };
  constexpr Command commands[] = {{"compile", furiosa::compileMain},
                                  {"explain", furiosa::explainMain}};
  for (const Command &command : commands) {
    if (argc < 2 || argv[1] != command.name)
      continue;
    std::string name = (llvm::Twine(argv[0]) + " " + command.name).str();
    argv[1] = name.data();
    return command.main(argc - 1, argv + 1);
  }
  // Otherwise the file of the name would be missed, or the others be too many.
  if (argc > 1 && !llvm::sys::fs::exists(argv[1]))
    for (const Command &command : commands)
      if (llvm::StringRef(argv[1]).edit_distance(command.name) <= 2) {
        llvm::WithColor::error()
            << "there is no command or file '" << argv[1] << "'; did you mean '"
            << command.name << "'?\n";
        return 1;
      }
  return optimize(argc, argv);
}

int main(int argc, char **argv) {
  furiosa::reserveStandardStreams();
  furiosa::announceVersion();
  furiosa::chooseColours();
  furiosa::handleInterrupts();
  return furiosa::runOnDeepStack([&] { return run(argc, argv); });
}
