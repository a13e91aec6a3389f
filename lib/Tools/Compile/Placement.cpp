//===- Placement.cpp - Which kernels, and where to ------------------------===//
//
// Makes a task of each selected kernel and finds it a file, such that no file is
// written twice or over an input.
//
//===----------------------------------------------------------------------===//

#include "Artifacts.h"
#include "Driver.h"
#include "TerminalText.h"

#include "furiosa/Support/WriteFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::compile;

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
  InputFiles inputs;
  for (const InputFile &file : files)
    inputs.add(file.path);
  llvm::StringMap<StringRef> writers;
  for (const auto &[writer, path] : written) {
    if (isWrittenDirectly(path))
      continue;
    if (llvm::Error fault = inputs.check(writer, path)) {
      error(llvm::toString(std::move(fault)));
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
    // That the file of the kernel cannot be read is said already.
    if (tasks.empty() && llvm::any_of(files, [](auto &f) { return f.failed; }))
      return false;
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
