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
#include "Times.h"

#include "furiosa/Tools/Dumps.h"

#include "mlir/IR/DialectRegistry.h"

#include <optional>
#include <string>
#include <vector>

namespace furiosa::compile {

/// Which dumps to make of a kernel, and what became of them.
struct Dumps {
  bool wanted = false;
  /// The kernel as it came in, checked, if that is above visa.
  std::string tmap;
  /// The kernel in visa: as it came in, checked, or as its tensor functions
  /// became chains; and its graph. Empty if it began below.
  std::string visa, dfg;
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
