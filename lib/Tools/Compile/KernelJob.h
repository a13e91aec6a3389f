//===- KernelJob.h - The work on one kernel ---------------------*- C++ -*-===//
//
// Compiles one kernel in a context of its own, so that kernels do not hear of
// one another: the bytes are the same in any order and on any thread.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_TOOLS_COMPILE_KERNELJOB_H
#define FURIOSA_LIB_TOOLS_COMPILE_KERNELJOB_H

#include "Cache.h"
#include "Diagnostics.h"

#include "furiosa/Tools/Dumps.h"

#include "mlir/IR/DialectRegistry.h"

#include <chrono>
#include <map>
#include <string>

namespace furiosa::compile {

/// Wall seconds and how often, by what was done.
struct Times {
  struct Entry {
    double seconds = 0;
    uint64_t count = 0;
  };
  std::map<std::string, Entry> entries;
  void add(llvm::StringRef what, double seconds, uint64_t count = 1);
  void add(const Times &other);
};

/// Measures from its making to its end.
class Stopwatch {
public:
  Stopwatch(Times &times, llvm::StringRef what)
      : times(times), what(what), begin(std::chrono::steady_clock::now()) {}
  ~Stopwatch() {
    times.add(what, std::chrono::duration<double>(
                        std::chrono::steady_clock::now() - begin)
                        .count());
  }
  Stopwatch(const Stopwatch &) = delete;

private:
  Times &times;
  std::string what;
  std::chrono::steady_clock::time_point begin;
};

/// Which dumps to make of a kernel, and what became of them.
struct Dumps {
  bool wanted = false;
  /// The kernel as it came in, checked; empty if it began below visa.
  std::string visa;
  std::string dfg;
  /// Bytecode, text and graph of the lir; empty if it began below.
  std::string lirBytecode, lirText, lirGraph;
  std::string resourceText, schedule, trace, lifetimes;
  Summary summary;
};

struct KernelOutcome {
  std::optional<CompiledKernel> kernel;
  std::vector<Message> messages;
  Times times;
};

/// `slice` is bytecode of a module with one kernel.
KernelOutcome compileSlice(const mlir::DialectRegistry &registry,
                           llvm::StringRef slice, const Sources &sources,
                           Dumps &dumps);

} // namespace furiosa::compile

#endif // FURIOSA_LIB_TOOLS_COMPILE_KERNELJOB_H
