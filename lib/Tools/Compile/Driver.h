//===- Driver.h - A run of the compile command ------------------*- C++ -*-===//
//
// What a run knows of its inputs and kernels, and its steps. Their definitions:
// Inputs.cpp reads and slices, Placement.cpp says which kernels and where to,
// Compile.cpp compiles, DumpFiles.cpp dumps, Report.cpp says what came of it.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_TOOLS_COMPILE_DRIVER_H
#define FURIOSA_LIB_TOOLS_COMPILE_DRIVER_H

#include "Cache.h"
#include "Diagnostics.h"
#include "KernelJob.h"
#include "Options.h"

#include "furiosa/Tools/Compile.h"

#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/StringSet.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace furiosa::compile {

/// An input and its kernels.
struct InputFile {
  std::string path;
  const llvm::MemoryBuffer *buffer = nullptr;
  std::vector<Message> messages;
  bool failed = false;
  /// Of its manifest in the cache.
  std::string key;
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
  /// Its line in a depfile.
  std::string dependency;
  Times times;

  const KernelEntry &entry() const { return file->kernels[index]; }
};

class Driver {
public:
  explicit Driver(Options options);
  /// The exit code.
  int run();

private:
  // The steps of a run, in order; false ends it. Faults are reported.
  void openCache();
  void readInputs();
  void findKernels(InputFile &file);
  bool select();
  bool keepsFilesApart();
  bool placeArtifacts();
  void compile(KernelTask &task);
  std::optional<CompiledKernel> findCached(const KernelEntry &entry);
  void storeManifest(const InputFile &file);
  void storeMessages();
  llvm::Error writeArtifacts(KernelTask &task) const;
  void writeDumps();
  void writeDepfile();

  void parse(InputFile &file, llvm::ArrayRef<KernelEntry> fromManifest);
  void slice(InputFile &file, size_t index, mlir::Operation *kernel,
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
  void error(const llvm::Twine &text);

  void printTable(llvm::raw_ostream &os) const;
  void printTiming(double seconds) const;
  void printStatistics() const;
  int finish();

  Options options;
  mlir::DialectRegistry registry;
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

} // namespace furiosa::compile

#endif // FURIOSA_LIB_TOOLS_COMPILE_DRIVER_H
