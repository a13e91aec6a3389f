//===- Workers.h - A loop on several threads --------------------*- C++ -*-===//

#ifndef FURIOSA_LIB_TOOLS_COMPILE_WORKERS_H
#define FURIOSA_LIB_TOOLS_COMPILE_WORKERS_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstddef>

namespace furiosa::compile {

/// From now on an interrupt, a hang-up or a request to end waits until no file
/// is half written, then ends the program. A second one ends it at once.
void handleInterrupts();

/// Ends the program if it was interrupted.
void endIfInterrupted();

/// Held by whoever has a temporary file.
class WriteGuard {
public:
  WriteGuard();
  ~WriteGuard();
  WriteGuard(const WriteGuard &) = delete;
};

/// Calls `body` with 0 … count - 1 on at most `workers` threads, each with a
/// stack for deeply nested input. `finished` is called on this thread, in the
/// order of indices, when all up to an index are done.
void runInOrder(size_t count, unsigned workers,
                llvm::function_ref<void(size_t)> body,
                llvm::function_ref<void(size_t)> finished);

} // namespace furiosa::compile

#endif // FURIOSA_LIB_TOOLS_COMPILE_WORKERS_H
