//===- Compile.cpp - The compile command ----------------------------------===//
//
// Reads the inputs, finds the kernels that are asked for and not in the cache,
// compiles each by itself and writes one EDF file a kernel. A kernel that fails
// makes the exit code non-zero; the others still compile.
//
//===----------------------------------------------------------------------===//

#include "Artifacts.h"
#include "Driver.h"
#include "Workers.h"

#include "furiosa/Dialect/VISA/IR/KernelCheck.h"
#include "furiosa/InitAllDialects.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Signals.h"

#include <csignal>

using namespace mlir;
using namespace furiosa;
using namespace furiosa::compile;

Driver::Driver(Options given) : options(std::move(given)) {
  registerAllDialects(registry);
  if (options.strict)
    visa::makeStrict(registry);
}

void Driver::compile(KernelTask &task) {
  if (task.isRefused)
    return;
  KernelTask::Status status = KernelTask::Cached;
  std::optional<CompiledKernel> &cached = task.file->cached[task.index];
  std::string &slice = task.file->slices[task.index];
  if (cached) {
    task.kernel = std::move(*cached);
    if (!task.kernel.isSilent)
      task.messages = task.entry().messages;
  } else {
    status = KernelTask::Compiled;
    KernelOutcome outcome = compileSlice(registry, slice, sources, dumps);
    slice = std::string();
    task.messages = std::move(outcome.messages);
    task.times.add(outcome.times);
    if (!outcome.kernel)
      return;
    task.kernel = std::move(*outcome.kernel);
    task.kernel.isSilent = task.messages.empty();
    if (cache->isEnabled()) {
      Stopwatch watch(task.times, "store");
      cache->storeKernel(task.entry().key, task.kernel);
    }
  }
  Stopwatch watch(task.times, "write");
  if (llvm::Error error = writeArtifacts(task)) {
    task.messages.push_back(
        makeError(llvm::toString(std::move(error)), getPlace(task)));
    return;
  }
  task.status = status;
}

llvm::Error Driver::writeArtifacts(KernelTask &task) const {
  if (options.depfiles || !options.depfile.empty()) {
    // Standard input is nothing that a build could look at.
    auto dependency = makeDependency(
        task.path, task.file->path == "-" ? "" : task.file->path);
    if (!dependency)
      return dependency.takeError();
    task.dependency = std::move(*dependency);
  }
  if (llvm::Error error = writeBytes(task.path, task.kernel.edf))
    return error;
  if (options.depfiles)
    return writeText(getDepfilePath(task.path), task.dependency);
  return llvm::Error::success();
}

/// What was said about a kernel is to be said again.
void Driver::storeMessages() {
  llvm::SmallSetVector<const InputFile *, 4> changed;
  for (KernelTask &task : tasks)
    if (task.status == KernelTask::Compiled && !task.kernel.isSilent) {
      task.file->kernels[task.index].messages = task.messages;
      changed.insert(task.file);
    }
  for (const InputFile *file : changed)
    storeManifest(*file);
}

void Driver::writeDepfile() {
  if (options.depfile.empty())
    return;
  std::string text;
  for (const KernelTask &task : tasks)
    if (task.status != KernelTask::Failed)
      text += task.dependency;
  // An older one is of more use than one that names nothing.
  if (text.empty())
    return;
  if (llvm::Error failure = writeText(options.depfile, text))
    error(llvm::toString(std::move(failure)));
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
  storeMessages();
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
