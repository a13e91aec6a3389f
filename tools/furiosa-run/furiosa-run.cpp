//===- furiosa-run.cpp - Runs a kernel on the host ------------------------===//
//
// Arguments come from files or fills, results go to files; a summary of each
// result is printed.
//
//===----------------------------------------------------------------------===//

#include "Arrays.h"
#include "Runner.h"
#include "furiosa/Interpreter/Interpreter.h"
#include "furiosa/Support/Colours.h"
#include "furiosa/Support/DeepStack.h"
#include "furiosa/Support/GivenOptions.h"
#include "furiosa/Support/Version.h"
#include "furiosa/Support/WriteFile.h"
#include "furiosa/Target/RNGD/EDF.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace furiosa;
using namespace furiosa::run;

cl::OptionCategory &run::getCategory() {
  static cl::OptionCategory category("furiosa-run options");
  return category;
}

static cl::opt<std::string> inputFile(cl::Positional, cl::Required,
                                      cl::desc("FILE"), cl::cat(getCategory()));
static cl::list<std::string> argumentSpecs(cl::Positional, cl::desc("[ARG...]"),
                                           cl::cat(getCategory()));
static cl::opt<std::string>
    kernelName("kernel", cl::value_desc("name"), cl::cat(getCategory()),
               cl::desc("The kernel to run, if the file has several"));
static cl::opt<std::string>
    outputDirectory("o", cl::value_desc("directory"), cl::cat(getCategory()),
                    cl::desc("Write each result to DIRECTORY/NAME.npy"));
static cl::list<std::string>
    outputFiles("out", cl::value_desc("name=file.npy"), cl::cat(getCategory()),
                cl::desc("Write one result to a file"));

static cl::opt<bool>
    trace("trace", cl::cat(getCategory()),
          cl::desc("Print each command of a kernel binary as it is issued, "
                   "with its cycles in the schedule, to standard error"));
static cl::opt<bool>
    check("check", cl::cat(getCategory()),
          cl::desc("Also compile the kernel, run the binary in the simulator "
                   "and compare all results bit for bit"));

static const interpreter::Limits limits;
static const std::string instructionsText =
    formatv("Stop behind so many ops or instructions (default {0})",
            limits.maxInstructions);
static const std::string stepsText =
    formatv("Stop behind so many cells and multiplications, or steps of loops "
            "(default {0})",
            limits.maxSteps);
static cl::opt<uint64_t> maxInstructions("max-instructions",
                                         cl::init(limits.maxInstructions),
                                         cl::value_desc("number"),
                                         cl::cat(getCategory()),
                                         cl::desc(instructionsText));
static cl::opt<uint64_t> maxSteps("max-steps", cl::init(limits.maxSteps),
                                  cl::value_desc("number"),
                                  cl::cat(getCategory()), cl::desc(stepsText));

uint64_t run::getMaxInstructions() { return maxInstructions; }
uint64_t run::getMaxSteps() { return maxSteps; }

ArrayRef<FileKind> run::getFileKinds() {
  static const FileKind kinds[] = {
      {".mlir", loadMLIR},
      {".mlirbc", loadMLIR},
      {".edf", loadEDF},
  };
  return kinds;
}

/// Results and the paths they go to, as --out and -o say.
static Expected<std::vector<std::pair<size_t, std::string>>>
planOutputs(const Runner &runner) {
  std::vector<std::pair<size_t, std::string>> plan;
  ArrayRef<Operand> outputs = runner.outputs();
  for (StringRef text : outputFiles) {
    auto [name, path] = text.split('=');
    auto at = find_if(outputs, [&, name = name](const Operand &operand) {
      return operand.name == name;
    });
    if (path.empty())
      return createStringError("--out=" + text + ": expected NAME=FILE.npy");
    if (at == outputs.end())
      return createStringError(
          "--out=" + text + ": kernel '" + runner.name() + "' has no result '" +
          name + "'; it has " +
          join(map_range(outputs, [](const Operand &o) { return o.name; }),
               ", "));
    plan.emplace_back(at - outputs.begin(), path.str());
  }
  if (!outputDirectory.empty())
    for (auto [index, operand] : enumerate(outputs)) {
      SmallString<128> path(outputDirectory);
      sys::path::append(path, operand.name + ".npy");
      plan.emplace_back(index, path.str().str());
    }
  InputFiles inputs;
  inputs.add(inputFile);
  for (StringRef spec : argumentSpecs)
    inputs.add(spec);
  StringSet<> written;
  for (const auto &[index, path] : plan) {
    if (Error error = inputs.check("result '" + outputs[index].name + "'", path))
      return error;
    if (!isWrittenDirectly(path) &&
        !written.insert(getFileIdentity(path)).second)
      return createStringError("two results go to " + path);
  }
  return plan;
}

/// Compiles the kernel, runs it in the simulator with effects as late and as
/// early as the queue allows, and compares with what the interpreter gave.
static Error checkResults(Runner &runner, ArrayRef<HostArray> arguments,
                          ArrayRef<HostArray> expected) {
  uint64_t values = 0, undefined = 0;
  for (bool early : {false, true}) {
    auto simulator = runner.compile(early);
    if (!simulator)
      return simulator.takeError();
    auto found = (*simulator)->run(arguments);
    if (!found)
      return found.takeError();
    if (found->size() != expected.size())
      return createStringError("the binary has " + Twine(found->size()) +
                               " results, the kernel " +
                               Twine(expected.size()));
    values = undefined = 0;
    for (auto [operand, lhs, rhs] :
         zip_equal(runner.outputs(), expected, *found)) {
      if (lhs.shape != rhs.shape)
        return createStringError("result '" + operand.name +
                                 "' has another shape in the simulator");
      for (size_t i = 0; i < lhs.codes.size(); ++i) {
        if (lhs.defined[i] == rhs.defined[i] &&
            (!lhs.defined[i] || lhs.codes[i] == rhs.codes[i]))
          continue;
        auto show = [&](const HostArray &array) {
          return array.defined[i] ? "0x" + utohexstr(array.codes[i])
                                  : std::string("undefined");
        };
        return createStringError(
            "result '" + operand.name + "' differs at element " + Twine(i) +
            ": interpreter " + show(lhs) + ", simulator " + show(rhs));
      }
      values += lhs.codes.size();
      undefined += count(lhs.defined, 0);
    }
  }
  outs() << "check: interpreter and simulator agree on " << values << " values";
  if (undefined != 0)
    outs() << ", " << undefined << " of them undefined";
  outs() << "\n";
  return Error::success();
}

/// Standard input, a named pipe, or what a shell substitutes for a process.
static bool isPipe(StringRef path) {
  sys::fs::file_status status;
  // Standard input may be a file by another name.
  return path == "-" || path.starts_with("/dev/") ||
         (!sys::fs::status(path, status) &&
          status.type() == sys::fs::file_type::fifo_file);
}

/// Whatever comes through a pipe is told by its content.
static Expected<std::unique_ptr<Runner>> load() {
  const auto *kind = find_if(getFileKinds(), [](const FileKind &candidate) {
    return StringRef(inputFile).ends_with(candidate.extension);
  });
  bool isKnown = kind != getFileKinds().end();
  if (!isKnown && !isPipe(inputFile))
    return createStringError(
        inputFile + ": expected a file that ends with " +
        join(map_range(getFileKinds(),
                       [](const FileKind &k) { return k.extension; }),
             ", "));
  auto file = MemoryBuffer::getFileOrSTDIN(inputFile);
  if (!file)
    return createStringError("cannot open input file '" + inputFile +
                             "': " + file.getError().message());
  Loader loader = isKnown ? kind->load
                  : (*file)->getBuffer().starts_with(rngd::edf::magic)
                      ? loadEDF
                      : loadMLIR;
  return loader(std::move(*file), kernelName);
}

static Error runFile() {
  if (std::string fault = findOptionFault({&kernelName, &outputDirectory});
      !fault.empty())
    return createStringError(fault);
  auto runner = load();
  if (!runner)
    return runner.takeError();
  ArrayRef<Operand> operands = (*runner)->arguments();
  if (argumentSpecs.size() > operands.size())
    return createStringError("kernel '" + (*runner)->name() + "' takes " +
                             Twine(operands.size()) + " arguments, got " +
                             Twine(argumentSpecs.size()));
  if (trace)
    if (Error error = (*runner)->traceTo(errs()))
      return error;
  auto plan = planOutputs(**runner);
  if (!plan)
    return plan.takeError();

  std::vector<HostArray> arguments;
  for (auto [index, operand] : enumerate(operands)) {
    std::string spec = "random:1";
    if (index < argumentSpecs.size())
      spec = argumentSpecs[index];
    else if (operand.range)
      spec = std::to_string(operand.range->second);
    auto array = makeArgument(operand, spec);
    if (!array)
      return array.takeError();
    arguments.push_back(std::move(*array));
  }
  auto results = (*runner)->run(arguments);
  if (!results)
    return results.takeError();

  if (check)
    if (Error error = checkResults(**runner, arguments, *results))
      return error;
  if (!outputDirectory.empty())
    if (std::error_code code = sys::fs::create_directories(outputDirectory))
      return createFileError(outputDirectory, code);
  std::vector<OutputFile> files;
  for (auto &[index, path] : *plan)
    files.push_back({path, &(*results)[index]});
  if (Error error = writeOutputs(files))
    return error;
  for (auto [operand, array] : zip_equal((*runner)->outputs(), *results))
    if (Error error = printResult(outs(), operand, array))
      return error;
  return Error::success();
}

int main(int argc, char **argv) {
  reserveStandardStreams();
  InitLLVM init(argc, argv);
  announceVersion();
  chooseColours();
  handleInterrupts();
  cl::HideUnrelatedOptions(getCategory());
  cl::ParseCommandLineOptions(
      argc, argv,
      "runs a kernel on the host\n\n"
      "FILE may be a pipe, or - for standard input.\n"
      "ARG is FILE.npy, random:SEED, bits:SEED, small:SEED, quarter:SEED,\n"
      "positive:SEED, iota[:START[:STEP]], zeros or const:VALUE; random:1 "
      "where left out.\nOf an argument with visa.range it may be the number "
      "itself; the greatest\nwhere left out.\n");
  return runOnDeepStack([] {
    if (Error error = runFile()) {
      WithColor::error() << toString(std::move(error)) << "\n";
      return 1;
    }
    return flushStandardOutput() ? 0 : 1;
  });
}
