//===- Options.cpp - The command line of compile --------------------------===//

#include "Options.h"

#include "Cache.h"
#include "TerminalText.h"

#include "furiosa/Support/GivenOptions.h"
#include "furiosa/Support/WriteFile.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Threading.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace furiosa::compile {

static constexpr StringLiteral overview =
    R"(Compiles kernels to EDF files, the binaries that furiosa-run and a loader take.

FILE is what ends in .mlir or .mlirbc, or - for standard input; any other
argument is a FILTER. A kernel is compiled if its full name, module::function
below its package, contains one of the filters; without filters all are.
)";

static constexpr StringLiteral examples = R"(
EXAMPLES:

  All kernels of two files, to target/furiosa-opt/kernel/NAME.edf:
    furiosa-opt-mlir compile gemm.mlir softmax.mlir

  Which kernels are there, and which does a filter take?
    furiosa-opt-mlir compile --list model.mlir attention

  One kernel, whole name, to a file of my own:
    furiosa-opt-mlir compile model.mlir --exact attention::decode -o decode.edf

  Where do its cycles go?
    furiosa-opt-mlir compile model.mlir --exact attention::decode \
      --dump-schedule schedule.json --dump-summary summary

  For an editor or CI:
    furiosa-opt-mlir compile model.mlir --message-format json
    furiosa-opt-mlir compile model.mlir --message-format sarif > log.sarif

ENVIRONMENT:

  FURIOSA_OPT_OUT_DIR    folder for EDF files when there is no -o
  FURIOSA_OPT_CACHE_DIR  folder of the cache; empty: no cache
  NO_COLOR               if set, no colour without --color

EXIT CODE: 0 if every selected kernel was compiled or cached and everything was
written, else 1.
)";

std::vector<std::pair<StringRef, StringRef>> DumpPaths::getFiles() const {
  std::vector<std::pair<StringRef, StringRef>> files;
  for (auto [flag, path] :
       std::initializer_list<std::pair<StringRef, const std::string &>>{
           {"--dump-visa", visa},
           {"--dump-dfg", dfg},
           {"--dump-ir", ir},
           {"--dump-graph", graph},
           {"--dump-schedule", schedule},
           {"--dump-trace", trace}})
    if (!path.empty())
      files.emplace_back(flag, path);
  return files;
}

std::vector<std::pair<StringRef, StringRef>> Options::getFiles() const {
  std::vector<std::pair<StringRef, StringRef>> files = dumps.getFiles();
  if (!depfile.empty())
    files.emplace_back("--MF", depfile);
  if (outputIsFile())
    files.emplace_back("-o", output);
  return files;
}

std::vector<StringRef> Options::findStandardOutputUsers() const {
  std::vector<StringRef> users;
  if (list)
    users.push_back("--list");
  if (format != MessageFormat::Human)
    users.push_back("--message-format");
  for (auto [flag, path] : getFiles())
    if (isStandardOutput(path))
      users.push_back(flag);
  return users;
}

bool Options::outputIsFile() const {
  if (sys::fs::is_directory(output))
    return false;
  return StringRef(output).ends_with(".edf") || isWrittenDirectly(output);
}

bool isInput(StringRef argument) {
  return argument == "-" || argument.ends_with(".mlir") ||
         argument.ends_with(".mlirbc");
}

static bool fail(const Twine &message) {
  WithColor::error() << printable(message.str()) << "\n";
  return false;
}

namespace {
struct Flags {
  cl::OptionCategory category{"Options of compile"};
  cl::list<std::string> positional{
      cl::Positional, cl::desc("FILE... [FILTER]..."), cl::cat(category)};
  cl::opt<std::string> output{
      "o",
      cl::desc("Folder for the EDF files, or, if it ends in .edf or is a pipe, "
               "a device or -, the file of the only kernel (default: "
               "FURIOSA_OPT_OUT_DIR, else target/furiosa-opt/kernel)"),
      cl::value_desc("path"), cl::cat(category)};
  cl::opt<bool> exact{"exact",
                      cl::desc("Filters are whole names, with or without the "
                               "package in front, not parts of them"),
                      cl::cat(category)};
  cl::list<std::string> packages{
      "package",
      cl::desc("Only kernels of this package, the outermost named module (the "
               "file's name if there is none); may be repeated"),
      cl::value_desc("name"), cl::cat(category)};
  cl::alias packagesAlias{"p", cl::desc("Alias for --package"), cl::NotHidden,
                          cl::aliasopt(packages), cl::cat(category)};
  cl::opt<bool> list{"list",
                     cl::desc("Print the full names of the selected kernels, "
                              "one a line, and compile nothing"),
                     cl::cat(category)};
  cl::opt<std::string> release{
      "release",
      cl::desc("Compile for this release, whatever visa.target says"),
      cl::value_desc("release"), cl::cat(category)};
  cl::opt<bool> strict{
      "strict",
      cl::desc("Refuse what the kernel check only warns of: see Warnings in "
               "docs/rules.md"),
      cl::cat(category)};
  cl::opt<unsigned> jobs{"j",
                         cl::desc("Kernels at a time; 0 for one a processor "
                                  "(default). The bytes do not depend on it"),
                         cl::value_desc("n"),
                         cl::Prefix,
                         cl::init(0),
                         cl::cat(category)};
  cl::opt<MessageFormat> format{
      "message-format", cl::desc("How diagnostics are printed:"),
      cl::values(clEnumValN(MessageFormat::Human, "human",
                            "with source lines, on standard error (default)"),
                 clEnumValN(MessageFormat::Json, "json",
                            "one object a line on standard output, as cargo's"),
                 clEnumValN(MessageFormat::Sarif, "sarif",
                            "one SARIF 2.1.0 log on standard output")),
      cl::init(MessageFormat::Human), cl::cat(category)};
  cl::opt<bool> quiet{"quiet",
                      cl::desc("Print no table unless something failed"),
                      cl::cat(category)};
  cl::opt<bool> depfiles{
      "MD", cl::desc("Write NAME.d beside each NAME.edf: what it was made of"),
      cl::cat(category)};
  cl::opt<std::string> depfile{
      "MF", cl::desc("Write what all EDF files were made of to one file"),
      cl::value_desc("file"), cl::cat(category)};
  cl::opt<bool> noCache{"no-cache",
                        cl::desc("Neither read nor write the cache"),
                        cl::cat(category)};
  cl::opt<std::string> cacheFolder{
      "cache-dir",
      cl::desc("Folder of the cache (default: FURIOSA_OPT_CACHE_DIR, else "
               "furiosa-opt in the user's cache folder)"),
      cl::value_desc("directory"), cl::cat(category)};
  cl::opt<std::string> cacheLimit{
      "cache-limit",
      cl::desc("Remove what was not used for longest beyond this many bytes, "
               "as 64m, now (default: 1g, every 20 minutes)"),
      cl::value_desc("size"), cl::cat(category)};
  cl::opt<bool> cacheStatistics{"cache-stats",
                                cl::desc("Print what the cache did and holds"),
                                cl::cat(category)};
  cl::opt<bool> timing{"timing", cl::desc("Print where the time went"),
                       cl::cat(category)};

  cl::opt<std::string> dumpVisa{"dump-visa",
                                cl::desc("Dump the checked kernel (text)"),
                                cl::value_desc("file"), cl::cat(category)};
  cl::opt<std::string> dumpDfg{"dump-dfg",
                               cl::desc("Dump its data-flow graph (JSON)"),
                               cl::value_desc("file"), cl::cat(category)};
  cl::opt<std::string> dumpIR{"dump-ir",
                              cl::desc("Dump its lir (MLIR bytecode)"),
                              cl::value_desc("file"), cl::cat(category)};
  cl::opt<std::string> dumpGraph{
      "dump-graph", cl::desc("Dump its lir for the IR graph viewer (JSON)"),
      cl::value_desc("file"), cl::cat(category)};
  cl::opt<std::string> dumpSchedule{
      "dump-schedule", cl::desc("Dump it for the schedule viewer (JSON)"),
      cl::value_desc("file"), cl::cat(category)};
  cl::opt<std::string> dumpTrace{
      "dump-trace",
      cl::desc("Dump it for Perfetto or chrome://tracing (JSON)"),
      cl::value_desc("file"), cl::cat(category)};
  cl::opt<std::string> dumpSummary{
      "dump-summary",
      cl::desc("Dump figures, texts, graphs and lifetimes to a folder"),
      cl::value_desc("directory"), cl::cat(category)};
  cl::extrahelp help{examples};
};
} // namespace

static std::optional<rngd::Release> parseReleaseFlag(StringRef text) {
  std::optional<rngd::Release> release = rngd::parseRelease(text);
  if (release)
    return release;
  std::string known;
  for (unsigned i = 0; i < rngd::numReleases; ++i)
    known +=
        (i ? ", " : "") + rngd::toString(static_cast<rngd::Release>(i)).str();
  fail("unknown release '" + text + "', expected one of " + known);
  return std::nullopt;
}

/// Inputs once each, however they are spelled, in order, and filters.
static bool sortPositional(ArrayRef<std::string> arguments, Options &options) {
  StringSet<> seen;
  for (const std::string &argument : arguments) {
    if (argument.empty())
      return fail("an empty filter would take every kernel");
    if (!isInput(argument))
      options.selection.filters.push_back(argument);
    else if (seen.insert(argument == "-" ? "-" : getFileIdentity(argument))
                 .second)
      options.inputs.push_back(argument);
  }
  if (!options.inputs.empty())
    return true;
  fail("no input: give a file that ends in .mlir or .mlirbc, or - for standard "
       "input");
  for (const std::string &filter : options.selection.filters)
    WithColor::note() << "'" << printable(filter)
                      << (sys::fs::exists(filter)
                              ? "' is there, but its name ends in neither\n"
                              : "' is a filter\n");
  return false;
}

/// Whether the options can be honoured at the same time.
static bool checkTogether(const Options &options) {
  if (options.list) {
    StringRef other = options.format != MessageFormat::Human
                          ? "--message-format"
                      : options.depfiles               ? "--MD"
                      : !options.depfile.empty()       ? "--MF"
                      : !options.dumps.summary.empty() ? "--dump-summary"
                                                       : "";
    if (auto dumps = options.dumps.getFiles(); !dumps.empty())
      other = dumps.front().first;
    if (!other.empty())
      return fail("--list prints names, one a line, and compiles nothing; it "
                  "does not go with " +
                  other);
  }
  std::vector<StringRef> users = options.findStandardOutputUsers();
  if (users.size() > 1)
    return fail(users[0] + " and " + users[1] +
                " both write to standard output; give one of them a file");
  if (isStandardOutput(options.output) && outs().is_displayed())
    return fail("a kernel binary does not go to a terminal; use -o FILE.edf");
  if (options.depfiles && isWrittenDirectly(options.output))
    return fail("--MD writes beside the EDF file, but -o is no regular file; "
                "use --MF");
  return true;
}

std::optional<Options> parseOptions(int argc, char **argv) {
  static Flags flags;
  cl::HideUnrelatedOptions({&flags.category, &getColorCategory()});
  cl::ParseCommandLineOptions(argc, argv, overview);

  if (std::string fault = findOptionFault(
          {&flags.output, &flags.depfile, &flags.cacheFolder, &flags.dumpVisa,
           &flags.dumpDfg, &flags.dumpIR, &flags.dumpGraph, &flags.dumpSchedule,
           &flags.dumpTrace, &flags.dumpSummary});
      !fault.empty()) {
    fail(fault);
    return std::nullopt;
  }
  Options options;
  options.selection.exact = flags.exact;
  options.selection.packages = flags.packages;
  if (!sortPositional(flags.positional, options))
    return std::nullopt;

  options.output = flags.output;
  if (flags.output.getNumOccurrences() == 0) {
    std::optional<std::string> folder =
        sys::Process::GetEnv("FURIOSA_OPT_OUT_DIR");
    options.output =
        folder && !folder->empty() ? *folder : "target/furiosa-opt/kernel";
  }
  options.list = flags.list;
  if (flags.release.getNumOccurrences() != 0) {
    options.release = parseReleaseFlag(flags.release);
    if (!options.release)
      return std::nullopt;
  }
  options.strict = flags.strict;
  options.jobs = flags.jobs;
  if (options.jobs == 0)
    options.jobs = std::max(1u, hardware_concurrency().compute_thread_count());
  options.format = flags.format;
  options.quiet = flags.quiet;
  options.depfiles = flags.depfiles;
  options.depfile = flags.depfile;
  options.timing = flags.timing;
  options.dumps = {flags.dumpVisa,  flags.dumpDfg,      flags.dumpIR,
                   flags.dumpGraph, flags.dumpSchedule, flags.dumpTrace,
                   flags.dumpSummary};
  options.cacheLimit = uint64_t(1) << 30;
  if (flags.cacheLimit.getNumOccurrences() != 0) {
    std::optional<uint64_t> limit = parseSize(flags.cacheLimit);
    if (!limit) {
      fail("--cache-limit takes a number of bytes with k, m or g behind it, "
           "not '" +
           flags.cacheLimit + "'");
      return std::nullopt;
    }
    options.cacheLimit = *limit;
    options.pruneNow = true;
  }
  options.cacheStatistics = flags.cacheStatistics;
  if (!flags.noCache)
    options.cacheFolder = flags.cacheFolder.getNumOccurrences() != 0
                              ? std::string(flags.cacheFolder)
                              : getDefaultCacheFolder();
  if (!checkTogether(options))
    return std::nullopt;
  return options;
}

} // namespace furiosa::compile
