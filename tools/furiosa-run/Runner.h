//===- Runner.h - What furiosa-run runs -------------------------*- C++ -*-===//
//
// A kernel of a file behind one interface, whatever executes it. A kind of file
// is one entry of getFileKinds().
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_TOOLS_FURIOSA_RUN_RUNNER_H
#define FURIOSA_TOOLS_FURIOSA_RUN_RUNNER_H

#include "furiosa/HostArrays/HostArray.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace furiosa::run {

/// An argument or output of a kernel.
struct Operand {
  std::string name;
  OperandLayout layout;
  /// Of a number: what the host may give.
  std::optional<std::pair<int64_t, int64_t>> range = std::nullopt;
};

/// The options of furiosa-run.
llvm::cl::OptionCategory &getCategory();

/// How much a run may take, of the interpreter and of the simulator: ops or
/// instructions, and cells or steps of loops.
uint64_t getMaxInstructions();
uint64_t getMaxSteps();

/// A kernel that is ready to run.
class Runner {
public:
  virtual ~Runner() = default;
  /// The kernel's full name.
  virtual llvm::StringRef name() const = 0;
  virtual llvm::ArrayRef<Operand> arguments() const = 0;
  virtual llvm::ArrayRef<Operand> outputs() const = 0;
  /// Runs on one array per argument; gives one per output.
  virtual llvm::Expected<std::vector<HostArray>>
  run(llvm::ArrayRef<HostArray> arguments) = 0;
  /// The same kernel as a binary in the simulator, for `--check`. With `early`
  /// the effects of commands come as early as the queue allows, else as late.
  virtual llvm::Expected<std::unique_ptr<Runner>> compile(bool early) = 0;
  /// Has `run` print a line for each command to `os`.
  virtual llvm::Error traceTo(llvm::raw_ostream &os) {
    return llvm::createStringError(
        "only a kernel binary has commands to trace: compile '" + name() +
        "' first");
  }
};

/// Loads a kernel of a file: the one called `kernel`, or the only one if that
/// is empty. What diagnostics have said already need not stand in the error.
using Loader = llvm::Expected<std::unique_ptr<Runner>> (*)(
    std::unique_ptr<llvm::MemoryBuffer> file, llvm::StringRef kernel);

/// A file name extension and who runs such files.
struct FileKind {
  llvm::StringRef extension;
  Loader load;
};
llvm::ArrayRef<FileKind> getFileKinds();

/// Runs kernels of `.mlir` and `.mlirbc` files: those of visa in the
/// interpreter, those of the levels below compiled, in the simulator.
llvm::Expected<std::unique_ptr<Runner>>
loadMLIR(std::unique_ptr<llvm::MemoryBuffer> file, llvm::StringRef kernel);

/// Runs kernel binaries of `.edf` files in the simulator.
llvm::Expected<std::unique_ptr<Runner>>
loadEDF(std::unique_ptr<llvm::MemoryBuffer> file, llvm::StringRef kernel);

} // namespace furiosa::run

#endif // FURIOSA_TOOLS_FURIOSA_RUN_RUNNER_H
