//===- furiosa-translate.cpp - Between MLIR and kernel binaries -----------===//
//
// The driver of translations. Unlike MLIR's own it writes an output file whole
// or not at all, and no binary to a terminal.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Conversion/Pipelines.h"
#include "furiosa/InitAllDialects.h"
#include "furiosa/Support/Colours.h"
#include "furiosa/Support/DeepStack.h"
#include "furiosa/Support/GivenOptions.h"
#include "furiosa/Support/Version.h"
#include "furiosa/Support/WriteFile.h"
#include "furiosa/Target/RNGD/Translate.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/ToolUtilities.h"
#include "mlir/Tools/mlir-translate/Translation.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
namespace cl = llvm::cl;

static cl::opt<std::string> inputFile(cl::Positional, cl::desc("<input file>"),
                                      cl::init("-"));
static cl::opt<std::string> outputFile("o", cl::desc("Output file"),
                                       cl::value_desc("file"), cl::init("-"));
static cl::opt<bool>
    splitInput("split-input-file",
               cl::desc("Translate each part of the input on its own"));
static cl::opt<bool> verifyDiagnostics(
    "verify-diagnostics",
    cl::desc("Check that errors are those of expected-error comments"));

static cl::opt<bool>
    printEncodings("print-encodings",
                   cl::desc("Print the tables of docs/encodings.md and exit"),
                   cl::callback([](const bool &isSet) {
                     if (!isSet)
                       return;
                     furiosa::rngd::printEncodingsMarkdown(llvm::outs());
                     std::exit(0);
                   }));

/// Prints what is about a binary, which has offsets and no lines.
static LogicalResult printWithoutLine(Diagnostic &diagnostic) {
  Location location = diagnostic.getLocation();
  auto name = dyn_cast<NameLoc>(location);
  auto line = location->findInstanceOf<FileLineColLoc>();
  // A command of a binary has a name even if its source line is known.
  if ((line && !name) || diagnostic.getSeverity() != DiagnosticSeverity::Error)
    return failure();
  if (name)
    llvm::errs() << name.getName().getValue() << ": ";
  if (line)
    llvm::errs() << "from " << line.getFilename().getValue() << ':'
                 << line.getLine() << ':' << line.getColumn() << ": ";
  llvm::errs() << "error: " << diagnostic << "\n";
  for (Diagnostic &note : diagnostic.getNotes())
    llvm::errs() << "note: " << note << "\n";
  return success();
}

static LogicalResult translate(const Translation &translation,
                               std::unique_ptr<llvm::MemoryBuffer> input,
                               raw_ostream &output) {
  MLIRContext context;
  context.printOpOnDiagnostic(false);
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(input), SMLoc());
  if (!verifyDiagnostics) {
    SourceMgrDiagnosticHandler handler(*sources, &context);
    ScopedDiagnosticHandler binaryHandler(&context, printWithoutLine);
    return translation(sources, output, &context);
  }
  // The comments, not the result, decide.
  SourceMgrDiagnosticVerifierHandler handler(*sources, &context);
  (void)translation(sources, output, &context);
  return handler.verify();
}

static int fail(const Twine &message) {
  llvm::WithColor::error() << message << '\n';
  return 1;
}

/// The flags of all translations.
static std::string listTranslations(const TranslationParser &parser) {
  SmallVector<StringRef> names;
  for (unsigned i = 0; i < parser.getNumOptions(); ++i)
    names.push_back(parser.getOption(i));
  llvm::sort(names);
  return "--" + llvm::join(names, ", --");
}

static int run(int argc, char **argv) {
  furiosa::rngd::registerEDFTranslations(furiosa::registerAllDialects,
                                         furiosa::runFuriosaPipeline);
  cl::opt<const Translation *, false, TranslationParser> translation(
      "", cl::desc("Translations"));
  cl::ParseCommandLineOptions(argc, argv,
                              "translates between MLIR and kernel binaries\n");

  if (translation.getNumOccurrences() > 1)
    return fail("one translation at a time, found " +
                Twine(translation.getNumOccurrences()));

  if (translation.getNumOccurrences() == 0)
    return fail("a translation is needed, one of " +
                listTranslations(translation.getParser()));
  if (std::string fault = furiosa::findOptionFault({&outputFile});
      !fault.empty())
    return fail(fault);
  furiosa::InputFiles inputs;
  inputs.add(inputFile);
  if (llvm::Error error = inputs.check("-o", outputFile))
    return fail(llvm::toString(std::move(error)));

  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> input =
      openInputFile(inputFile, &message);
  if (!input)
    return fail(message);
  if (input->getBuffer().empty())
    return fail(input->getBufferIdentifier() + ": the file is empty");

  std::string result;
  llvm::raw_string_ostream output(result);
  LogicalResult status = splitAndProcessBuffer(
      std::move(input),
      [&](std::unique_ptr<llvm::MemoryBuffer> part, raw_ostream &os) {
        return translate(*translation.getValue(), std::move(part), os);
      },
      output, splitInput ? kDefaultSplitMarker : StringRef());
  bool isBinary = StringRef(result).starts_with(furiosa::rngd::edf::magic);
  if (failed(status)) {
    // A disassembly shows what it could read.
    if (outputFile == "-" && !isBinary)
      llvm::outs() << result;
    return 1;
  }
  if (verifyDiagnostics)
    return 0;
  if (isBinary && outputFile == "-" && llvm::outs().is_displayed())
    return fail("a kernel binary does not go to a terminal; use -o FILE");
  llvm::Error error =
      furiosa::writeFile(outputFile, [&](raw_ostream &os) -> llvm::Error {
        os << result;
        return llvm::Error::success();
      });
  if (error)
    return fail(llvm::toString(std::move(error)));
  return 0;
}

int main(int argc, char **argv) {
  furiosa::reserveStandardStreams();
  llvm::InitLLVM init(argc, argv);
  furiosa::announceVersion();
  furiosa::chooseColours();
  furiosa::handleInterrupts();
  return furiosa::runOnDeepStack([&] { return run(argc, argv); });
}
