//===- Compile.cpp - The compile command ----------------------------------===//
//
// Reads the inputs, finds the kernels that are asked for and not in the cache,
// compiles each by itself and writes one EDF file a kernel. A kernel that fails
// makes the exit code non-zero; the others still compile.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Tools/Compile.h"

#include "Artifacts.h"
#include "Cache.h"
#include "Diagnostics.h"
#include "KernelJob.h"
#include "Options.h"
#include "Workers.h"

#include "furiosa/Dialect/Resource/IR/Resource.h"
#include "furiosa/Dialect/VISA/IR/KernelCheck.h"
#include "furiosa/InitAllDialects.h"
#include "furiosa/Support/Colours.h"
#include "furiosa/Support/WriteFile.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

#include <nlohmann/json.hpp>

#include <csignal>
#include <map>
#include <sys/resource.h>

using namespace mlir;
using namespace furiosa;
using namespace furiosa::compile;

namespace {

/// An input and its kernels.
struct InputFile {
  std::string path;
  const llvm::MemoryBuffer *buffer = nullptr;
  std::vector<Message> messages;
  bool failed = false;
  std::vector<KernelEntry> kernels;
  /// Per kernel: what the cache had, else its slice or why there is none;
  /// nothing if not selected.
  std::vector<std::optional<CompiledKernel>> cached;
  std::vector<std::string> slices;
  std::vector<std::vector<Message>> refusals;
  Times times;
};

/// A kernel to compile, and what became of it.
struct KernelTask {
  InputFile *file;
  size_t index;
  std::string path;
  /// Nothing to compile: the messages say why.
  bool isRefused = false;
  std::vector<Message> messages;
  enum Status : uint8_t { Failed, Compiled, Cached } status = Failed;
  CompiledKernel kernel;
  Times times;

  const KernelEntry &entry() const { return file->kernels[index]; }
};

class Driver {
public:
  Driver(Options options) : options(std::move(options)) {
    registerAllDialects(registry);
    if (this->options.strict)
      visa::makeStrict(registry);
  }
  int run();

private:
  // The steps of a run, in order; false ends it.
  bool openCache();
  void readInputs();
  void findKernels(InputFile &file);
  bool select();
  bool keepsFilesApart();
  bool placeArtifacts();
  void compile(KernelTask &task);
  bool writeDumps();
  bool writeDepfile();

  void parse(InputFile &file, StringRef fileKey,
             ArrayRef<KernelEntry> fromManifest);
  void slice(InputFile &file, size_t index, Operation *kernel,
             SliceSymbols &symbols);
  KernelName getName(const InputFile &file, const KernelEntry &entry) const;
  Subject getSubject(const KernelTask &task) const;
  Place getPlace(const KernelTask &task) const;

  // Messages, on the main thread.
  void report(const Message &message, const Subject &subject);
  void reportFilesUpTo(const InputFile *last);
  void reportTask(const KernelTask &task);
  void showProgress(const KernelTask &task);
  void clearProgress();
  void error(const Twine &text);

  void printTable(llvm::raw_ostream &os) const;
  void printTiming(double seconds) const;
  void printStatistics() const;
  int finish();

  Options options;
  DialectRegistry registry;
  std::unique_ptr<Cache> cache;
  Sources sources;
  std::vector<InputFile> files;
  std::vector<KernelTask> tasks;
  Dumps dumps;
  Times times;
  bool ok = true;

  llvm::StringSet<> printed;
  std::vector<Message> sarif;
  size_t reportedFiles = 0, reportedTasks = 0;
  bool hasProgress = false, hasTable = true;
  std::chrono::steady_clock::time_point begin =
      std::chrono::steady_clock::now();
};

} // namespace

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

void Driver::report(const Message &message, const Subject &subject) {
  clearProgress();
  if (message.level == Message::Error)
    ok = false;
  std::string text;
  llvm::raw_string_ostream os(text);
  printText(os, message, sources, /*colours=*/false);
  // A helper that many kernels reach is wrong once.
  if (!printed.insert(text).second)
    return;
  switch (options.format) {
  case MessageFormat::Human:
    printText(llvm::errs(), message, sources, /*colours=*/true);
    return;
  case MessageFormat::Json:
    llvm::outs() << dumpJson(toJson(message, subject, sources)) << "\n";
    llvm::outs().flush();
    return;
  case MessageFormat::Sarif:
    sarif.push_back(message);
    return;
  }
}

void Driver::error(const Twine &text) { report(makeError(text.str()), {}); }

/// What files say stands in front of what their kernels say.
void Driver::reportFilesUpTo(const InputFile *last) {
  for (; reportedFiles < files.size() && &files[reportedFiles] <= last;
       ++reportedFiles) {
    const InputFile &file = files[reportedFiles];
    Subject subject{"", llvm::sys::path::stem(file.path).str(), file.path};
    for (const Message &message : file.messages)
      report(message, subject);
  }
}

void Driver::reportTask(const KernelTask &task) {
  reportFilesUpTo(task.file);
  for (const Message &message : task.messages)
    report(message, getSubject(task));
  if (options.format == MessageFormat::Json &&
      task.status != KernelTask::Failed) {
    llvm::outs() << dumpJson(artifactToJson(getSubject(task), {task.path},
                                            task.status == KernelTask::Cached))
                 << "\n";
    llvm::outs().flush();
  }
  ++reportedTasks;
  showProgress(task);
}

void Driver::showProgress(const KernelTask &task) {
  if (tasks.size() < 2 || options.format != MessageFormat::Human ||
      !isTerminalOnStandardError())
    return;
  llvm::errs() << "\r\x1b[K[" << reportedTasks << "/" << tasks.size() << "] "
               << printable(task.entry().name.name);
  hasProgress = true;
}

void Driver::clearProgress() {
  if (hasProgress)
    llvm::errs() << "\r\x1b[K";
  hasProgress = false;
}

KernelName Driver::getName(const InputFile &file,
                           const KernelEntry &entry) const {
  KernelName name = entry.name;
  if (name.package.empty())
    name.package =
        file.path == "-" ? "stdin" : llvm::sys::path::stem(file.path).str();
  return name;
}

Subject Driver::getSubject(const KernelTask &task) const {
  return {getName(*task.file, task.entry()).package, task.entry().name.name,
          task.file->path};
}

Place Driver::getPlace(const KernelTask &task) const {
  return {task.file->buffer->getBufferIdentifier().str(), task.entry().line,
          task.entry().column};
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

bool Driver::openCache() {
  if (options.cacheFolder.empty()) {
    cache = std::make_unique<Cache>();
    return true;
  }
  auto opened = Cache::open(options.cacheFolder);
  if (!opened) {
    report({Message::Warning,
            llvm::toString(opened.takeError()) + "; compiling without a cache",
            {},
            {}},
           {});
    cache = std::make_unique<Cache>();
    return true;
  }
  cache = std::move(*opened);
  return true;
}

void Driver::readInputs() {
  Stopwatch watch(times, "read files");
  files.resize(options.inputs.size());
  for (auto [file, path] : llvm::zip_equal(files, options.inputs)) {
    file.path = path;
    std::string message;
    std::unique_ptr<llvm::MemoryBuffer> buffer = openInputFile(path, &message);
    if (!buffer) {
      file.failed = true;
      file.messages.push_back(makeError(message));
      continue;
    }
    std::string name = buffer->getBufferIdentifier().str();
    sources.add(std::move(buffer));
    file.buffer = sources.findInput(name);
  }
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

void Driver::findKernels(InputFile &file) {
  if (file.failed)
    return;
  std::string fileKey;
  std::vector<KernelEntry> fromManifest;
  if (cache->isEnabled()) {
    Stopwatch watch(file.times, "look up");
    fileKey = cache->getFileKey(
        file.buffer->getBuffer(),
        options.release ? rngd::toString(*options.release) : "");
    if (auto entries = cache->findFile(fileKey)) {
      bool isComplete = true;
      file.cached.resize(entries->size());
      for (auto [entry, cached] : llvm::zip_equal(*entries, file.cached)) {
        if (options.list || !options.selection.takes(getName(file, entry)))
          continue;
        if (!options.dumps.any() && !entry.key.empty())
          cached = cache->findKernel(entry.key);
        isComplete &= cached.has_value();
      }
      if (isComplete) {
        file.kernels = std::move(*entries);
        file.slices.resize(file.kernels.size());
        file.refusals.resize(file.kernels.size());
        return;
      }
      file.cached.clear();
      fromManifest = std::move(*entries);
    }
  }
  parse(file, fileKey, fromManifest);
}

void Driver::parse(InputFile &file, StringRef fileKey,
                   ArrayRef<KernelEntry> fromManifest) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  context.loadDialect<visa::VISADialect>();
  Collector collector(&context, sources, file.messages);
  OwningOpRef<ModuleOp> module;
  {
    Stopwatch watch(file.times, "parse");
    auto manager = std::make_shared<llvm::SourceMgr>();
    manager->AddNewSourceBuffer(
        llvm::MemoryBuffer::getMemBuffer(file.buffer->getMemBufferRef()),
        llvm::SMLoc());
    // Rules are checked kernel by kernel, and for the release that counts.
    module = parseSourceFile<ModuleOp>(
        manager, ParserConfig(&context, /*verifyAfterParse=*/false));
  }
  if (!module) {
    file.failed = true;
    if (file.messages.empty())
      file.messages.push_back(
          makeError("the file does not parse",
                    {file.buffer->getBufferIdentifier().str(), 0, 0}));
    return;
  }
  if (options.release)
    overrideRelease(*module, *options.release);

  SmallVector<Operation *> kernels;
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isKernel(op))
      return WalkResult::advance();
    kernels.push_back(op);
    return WalkResult::skip();
  });
  if (kernels.empty()) {
    file.failed = true;
    file.messages.push_back(
        makeError("no kernel: a kernel is a func.func with the attribute " +
                      visa::VISADialect::getKernelAttrName().str(),
                  {file.buffer->getBufferIdentifier().str(), 1, 1}));
    return;
  }
  Stopwatch watch(file.times, "slice");
  for (Operation *kernel : kernels) {
    KernelEntry entry;
    entry.name = {getPackage(kernel), getFullName(kernel)};
    if (auto at = kernel->getLoc()->findInstanceOf<FileLineColLoc>())
      if (at.getFilename().getValue() == file.buffer->getBufferIdentifier()) {
        entry.line = at.getLine();
        entry.column = at.getColumn();
      }
    file.kernels.push_back(std::move(entry));
  }
  file.cached.resize(kernels.size());
  file.slices.resize(kernels.size());
  file.refusals.resize(kernels.size());
  SliceSymbols symbols;
  for (auto [index, kernel] : llvm::enumerate(kernels)) {
    if (!options.list &&
        options.selection.takes(getName(file, file.kernels[index])))
      slice(file, index, kernel, symbols);
    else if (fromManifest.size() == kernels.size())
      file.kernels[index].key = fromManifest[index].key;
  }
  // What was said about a file is to be said again.
  if (cache->isEnabled() && file.messages.empty())
    cache->storeFile(fileKey, file.kernels);
}

/// Makes the text that a kernel is compiled from, and its key.
void Driver::slice(InputFile &file, size_t index, Operation *kernel,
                   SliceSymbols &symbols) {
  Collector collector(kernel->getContext(), sources, file.refusals[index]);
  FailureOr<KernelSlice> slice = extractSlice(kernel, symbols);
  if (failed(slice))
    return;
  llvm::raw_string_ostream bytecode(file.slices[index]);
  (void)writeBytecodeToFile(*slice->module, bytecode);
  if (!cache->isEnabled())
    return;
  // Locations are in no EDF file: they do not count.
  Location unknown = UnknownLoc::get(slice->module->getContext());
  slice->module->walk([&](Operation *op) {
    op->setLoc(unknown);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setLoc(unknown);
  });
  std::string content;
  llvm::raw_string_ostream os(content);
  (void)writeBytecodeToFile(*slice->module, os);
  KernelEntry &entry = file.kernels[index];
  entry.key = cache->getKernelKey(content, "");
  if (options.dumps.any())
    return;
  file.cached[index] = cache->findKernel(entry.key);
  if (file.cached[index])
    file.slices[index].clear();
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

/// Makes the tasks.
bool Driver::select() {
  bool allRead = true;
  std::vector<KernelName> names;
  for (InputFile &file : files) {
    allRead &= !file.failed;
    for (auto [index, entry] : llvm::enumerate(file.kernels)) {
      names.push_back(getName(file, entry));
      if (!options.selection.takes(names.back()))
        continue;
      KernelTask task;
      task.file = &file;
      task.index = index;
      task.messages = std::move(file.refusals[index]);
      task.isRefused = !task.messages.empty();
      tasks.push_back(std::move(task));
    }
  }
  // A name may be that of a kernel in a file that could not be read.
  if (allRead) {
    std::vector<std::string> unused = options.selection.explainUnused(names);
    for (const std::string &message : unused)
      error(message);
    if (!unused.empty())
      return false;
  }
  if (options.list) {
    for (const KernelTask &task : tasks)
      llvm::outs() << printable(task.entry().name.name) << "\n";
    return false;
  }
  return true;
}

/// Names of the selected kernels, for a message.
static std::string listCandidates(ArrayRef<KernelTask> tasks) {
  std::string text;
  for (const KernelTask &task : tasks.take_front(10))
    text += (text.empty() ? "" : ", ") + printable(task.entry().name.name);
  if (tasks.size() > 10)
    text += " and " + std::to_string(tasks.size() - 10) + " more";
  return text;
}

/// Whether no file is written twice, or over an input.
bool Driver::keepsFilesApart() {
  std::vector<std::pair<std::string, std::string>> written;
  for (auto [flag, path] : options.getFiles())
    written.emplace_back(flag.str(), path.str());
  if (!options.dumps.summary.empty())
    for (StringRef file : Summary::files) {
      SmallString<128> path(options.dumps.summary);
      llvm::sys::path::append(path, file);
      written.emplace_back("--dump-summary", path.str().str());
    }
  for (const KernelTask &task : tasks) {
    if (task.isRefused)
      continue;
    std::string name = "kernel " + printable(task.entry().name.name);
    if (!options.outputIsFile())
      written.emplace_back("the EDF file of " + name, task.path);
    if (options.depfiles)
      written.emplace_back("--MD of " + name, getDepfilePath(task.path));
  }
  std::map<llvm::sys::fs::UniqueID, StringRef> read;
  for (const InputFile &file : files) {
    llvm::sys::fs::UniqueID id;
    if (file.path != "-" && !llvm::sys::fs::getUniqueID(file.path, id))
      read.emplace(id, file.path);
  }
  llvm::StringMap<StringRef> writers;
  for (const auto &[writer, path] : written) {
    if (isWrittenDirectly(path))
      continue;
    llvm::sys::fs::UniqueID id;
    if (!llvm::sys::fs::getUniqueID(path, id))
      if (auto it = read.find(id); it != read.end()) {
        error(writer + " would overwrite the input '" + it->second + "'");
        return false;
      }
    auto [it, isNew] = writers.try_emplace(getFileIdentity(path), writer);
    if (!isNew) {
      error(it->second + " and " + writer + " are the same file, " + path);
      return false;
    }
  }
  return true;
}

bool Driver::placeArtifacts() {
  bool isFile = options.outputIsFile();
  auto needsOne = [&](StringRef flag) {
    if (tasks.size() == 1)
      return true;
    error(flag + " is for a single kernel; " +
          (tasks.empty() ? "none is" : "choose one with --exact, these are") +
          " selected" + (tasks.empty() ? "" : ": ") + listCandidates(tasks));
    return false;
  };
  if (isFile &&
      !needsOne(isWrittenDirectly(options.output) ? "-o " + options.output
                                                  : std::string("-o FILE.edf")))
    return false;
  for (auto [flag, path] : options.dumps.getFiles())
    if (!needsOne(flag))
      return false;
  if (!options.dumps.summary.empty() && !needsOne("--dump-summary"))
    return false;
  if (tasks.empty())
    return true;

  StringRef folder = options.output;
  if (isFile)
    folder = llvm::sys::path::parent_path(folder);
  if (!folder.empty())
    if (std::error_code code = makeFolders(folder)) {
      error("cannot make folder '" + folder + "': " + code.message());
      return false;
    }
  llvm::StringMap<const KernelTask *> taken;
  for (KernelTask &task : tasks) {
    const std::string &name = task.entry().name.name;
    if (isFile) {
      task.path = options.output;
      continue;
    }
    if (task.isRefused)
      continue;
    if (!isFileName(name)) {
      task.isRefused = true;
      task.messages.push_back(
          makeError("the kernel's name is no file name: it is empty, begins "
                    "with a dot, or holds a slash or a zero byte",
                    getPlace(task)));
      continue;
    }
    SmallString<128> path(options.output);
    llvm::sys::path::append(path, name + ".edf");
    task.path = path.str().str();
    auto [it, isNew] = taken.try_emplace(name, &task);
    if (isNew)
      continue;
    task.isRefused = true;
    Message message =
        makeError("kernel " + printable(name) +
                      " has the same file as another, " + task.path +
                      "; choose one with --package, or give the "
                      "files different folders",
                  getPlace(task));
    message.children.push_back(
        {Message::Note, "the other kernel is here", getPlace(*it->second), {}});
    task.messages.push_back(std::move(message));
  }
  return keepsFilesApart();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

void Driver::compile(KernelTask &task) {
  if (task.isRefused)
    return;
  KernelTask::Status status = KernelTask::Cached;
  std::optional<CompiledKernel> &cached = task.file->cached[task.index];
  std::string &slice = task.file->slices[task.index];
  if (cached) {
    task.kernel = std::move(*cached);
  } else {
    status = KernelTask::Compiled;
    KernelOutcome outcome = compileSlice(registry, slice, sources, dumps);
    slice = std::string();
    task.messages = std::move(outcome.messages);
    task.times.add(outcome.times);
    if (!outcome.kernel)
      return;
    task.kernel = std::move(*outcome.kernel);
    // What was said about a kernel is to be said again.
    if (task.messages.empty() && cache->isEnabled()) {
      Stopwatch watch(task.times, "store");
      cache->storeKernel(task.entry().key, task.kernel);
    }
  }
  Stopwatch watch(task.times, "write");
  llvm::Error error = writeBytes(task.path, task.kernel.edf);
  if (!error && options.depfiles)
    error = writeText(getDepfilePath(task.path),
                      makeDependency(task.path, task.file->path == "-"
                                                    ? ""
                                                    : task.file->path));
  if (error) {
    task.messages.push_back(
        makeError(llvm::toString(std::move(error)), getPlace(task)));
    return;
  }
  task.status = status;
}

bool Driver::writeDepfile() {
  if (options.depfile.empty())
    return true;
  std::string text;
  for (const KernelTask &task : tasks)
    if (task.status != KernelTask::Failed)
      text += makeDependency(task.path,
                             task.file->path == "-" ? "" : task.file->path);
  if (llvm::Error failure = writeText(options.depfile, text)) {
    error(llvm::toString(std::move(failure)));
    return false;
  }
  return true;
}

static double getSeconds(const timeval &time) {
  return double(time.tv_sec) + double(time.tv_usec) / 1e6;
}

bool Driver::writeDumps() {
  if (!options.dumps.any() || tasks.empty())
    return true;
  auto write = [&](StringRef path, StringRef text) {
    if (llvm::Error failure = writeText(path, text))
      error(llvm::toString(std::move(failure)));
  };
  // What a kernel that fails has got to is worth seeing.
  bool isCompiled = tasks.front().status != KernelTask::Failed;
  const DumpPaths &paths = options.dumps;
  for (auto [flag, path, text, level] : std::initializer_list<
           std::tuple<StringRef, StringRef, StringRef, StringRef>>{
           {"--dump-visa", paths.visa, dumps.visa, "visa"},
           {"--dump-dfg", paths.dfg, dumps.dfg, "visa"},
           {"--dump-ir", paths.ir, dumps.lirBytecode, "lir"},
           {"--dump-graph", paths.graph, dumps.lirGraph, "lir"},
           {"--dump-schedule", paths.schedule, dumps.schedule, "resource"},
           {"--dump-trace", paths.trace, dumps.trace, "resource"}}) {
    if (path.empty())
      continue;
    if (!text.empty())
      write(path, text);
    else if (isCompiled)
      error(flag + ": the kernel begins below " + level +
            ", there is nothing to dump");
  }
  if (paths.summary.empty() || !isCompiled)
    return ok;
  SmallString<128> folder(paths.summary);
  for (StringRef sub : {"", "json", "text_form"}) {
    SmallString<128> path = folder;
    llvm::sys::path::append(path, sub);
    if (std::error_code code = makeFolders(path)) {
      error("cannot make folder '" + path.str() + "': " + code.message());
      return false;
    }
  }
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  Summary &summary = dumps.summary;
  summary.kernel = tasks.front().entry().name.name;
  summary.processorSeconds =
      getSeconds(usage.ru_utime) + getSeconds(usage.ru_stime);
  summary.peakMemoryBytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
  for (const auto &[what, entry] : times.entries)
    summary.seconds[StringRef(what).trim().str()] = entry.seconds;
  const std::string texts[] = {
      summary.toJson(), summary.toText(), dumps.schedule,
      dumps.lifetimes,  dumps.dfg,        dumps.lirGraph,
      dumps.visa,       dumps.lirText,    dumps.resourceText};
  for (auto [name, text] : llvm::zip_equal(Summary::files, texts)) {
    SmallString<128> path = folder;
    llvm::sys::path::append(path, name);
    // The file of a level that the kernel began below would be an older one.
    if (text.empty())
      llvm::sys::fs::remove(path);
    else
      write(path, text);
  }
  return ok;
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

/// The first error of a task on one line.
static std::string getFirstError(const KernelTask &task) {
  for (const Message &message : task.messages) {
    if (message.level != Message::Error)
      continue;
    std::string text;
    if (!message.place.file.empty()) {
      text = message.place.file;
      if (message.place.line != 0)
        text += ":" + std::to_string(message.place.line) + ":" +
                std::to_string(message.place.column);
      text += ": ";
    }
    return printable(text + message.text);
  }
  return "";
}

void Driver::printTable(llvm::raw_ostream &os) const {
  size_t compiled = 0, cached = 0, failed = 0;
  llvm::ColorMode mode = options.format == MessageFormat::Human
                             ? llvm::ColorMode::Auto
                             : llvm::ColorMode::Disable;
  auto print = [&](llvm::raw_ostream::Colors colour, StringRef status) {
    llvm::WithColor(os, colour, /*Bold=*/true, /*BG=*/false, mode) << status;
  };
  for (const KernelTask &task : tasks) {
    switch (task.status) {
    case KernelTask::Compiled:
      ++compiled;
      print(llvm::raw_ostream::GREEN, "compiled  ");
      break;
    case KernelTask::Cached:
      ++cached;
      print(llvm::raw_ostream::GREEN, "cached    ");
      break;
    case KernelTask::Failed:
      ++failed;
      print(llvm::raw_ostream::RED, "failed    ");
      break;
    }
    os << printable(task.entry().name.name) << "  ";
    if (task.status == KernelTask::Failed)
      os << getFirstError(task);
    else
      os << printable(task.path) << "  " << task.kernel.edf.size()
         << " bytes, makespan " << task.kernel.makespan
         << " cycles, lower bound " << task.kernel.lowerBound;
    SmallVector<unsigned> filters =
        options.selection.findFilters(getName(*task.file, task.entry()));
    for (auto [i, filter] : llvm::enumerate(filters))
      os << (i == 0 ? "  (by '" : ", '")
         << printable(options.selection.filters[filter]) << "'"
         << (i + 1 == filters.size() ? ")" : "");
    os << "\n";
  }
  size_t unread =
      llvm::count_if(files, [](const InputFile &file) { return file.failed; });
  os << compiled << " compiled, " << cached << " cached, " << failed
     << " failed";
  if (unread != 0)
    os << ", " << unread << (unread == 1 ? " file" : " files") << " not read";
  os << "\n";
}

void Driver::printTiming(double seconds) const {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  auto &os = llvm::errs();
  os << "timing: " << llvm::format("%.3f", seconds) << " s, processor "
     << llvm::format("%.3f",
                     getSeconds(usage.ru_utime) + getSeconds(usage.ru_stime))
     << " s, memory " << usage.ru_maxrss / 1024 << " MiB, " << options.jobs
     << (options.jobs == 1 ? " worker\n" : " workers\n");
  for (const auto &[what, entry] : times.entries)
    os << "  " << llvm::format("%9.4f", entry.seconds) << " s "
       << llvm::format("%7llu", (unsigned long long)entry.count) << " x "
       << what << "\n";
}

void Driver::printStatistics() const {
  auto &os = llvm::errs();
  if (!cache->isEnabled()) {
    os << "cache: off\n";
    return;
  }
  Cache::Statistics statistics = cache->getStatistics();
  os << "cache: kernels " << statistics.kernelHits << " hits, "
     << statistics.kernelMisses << " misses; files " << statistics.fileHits
     << " hits, " << statistics.fileMisses << " misses; " << statistics.entries
     << " entries, " << statistics.bytes << " bytes in "
     << printable(cache->getFolder()) << "\n";
}

/// What every run ends with.
int Driver::finish() {
  if (!files.empty())
    reportFilesUpTo(&files.back());
  clearProgress();
  if (cache && cache->isEnabled() &&
      (cache->getStatistics().kernelMisses != 0 || options.pruneNow))
    cache->prune(options.cacheLimit, options.pruneNow);
  if (!options.list && hasTable && !(options.quiet && ok))
    printTable(options.findStandardOutputUsers().empty() ? llvm::outs()
                                                         : llvm::errs());
  if (options.format == MessageFormat::Json) {
    nlohmann::ordered_json end = {{"reason", "build-finished"},
                                  {"success", ok}};
    llvm::outs() << dumpJson(end) << "\n";
  }
  if (options.format == MessageFormat::Sarif)
    llvm::outs() << dumpJson(toSarif(sarif, sources, ok), 2) << "\n";
  llvm::outs().flush();
  if (options.timing)
    printTiming(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
            .count());
  if (options.cacheStatistics)
    printStatistics();
  return flushStandardOutput() && ok ? 0 : 1;
}

int Driver::run() {
  openCache();
  readInputs();
  dumps.wanted = options.dumps.any();
  runInOrder(
      files.size(), options.jobs, [&](size_t i) { findKernels(files[i]); },
      [&](size_t i) { times.add(files[i].times); });
  if (!select() || !placeArtifacts()) {
    tasks.clear();
    hasTable = llvm::any_of(files, [](auto &file) { return file.failed; });
    return finish();
  }
  runInOrder(
      tasks.size(), options.jobs, [&](size_t i) { compile(tasks[i]); },
      [&](size_t i) {
        times.add(tasks[i].times);
        reportTask(tasks[i]);
      });
  writeDepfile();
  writeDumps();
  return finish();
}

int furiosa::compileMain(int argc, char **argv) {
  std::optional<Options> options = parseOptions(argc, argv);
  if (!options)
    return 1;
  // A reader that goes away must not leave temporary files behind. A file that
  // grows too large is an error of that file.
  llvm::sys::SetOneShotPipeSignalFunction(
      llvm::sys::DefaultOneShotPipeSignalHandler);
  std::signal(SIGXFSZ, SIG_IGN);
  return Driver(std::move(*options)).run();
}
