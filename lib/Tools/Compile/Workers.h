//===- Workers.h - A loop on several threads --------------------*- C++ -*-===//

#ifndef FURIOSA_LIB_TOOLS_COMPILE_WORKERS_H
#define FURIOSA_LIB_TOOLS_COMPILE_WORKERS_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstddef>

namespace furiosa::compile {

/// Calls `body` with 0 … count - 1 on at most `workers` threads, each with a
/// stack for deeply nested input. `finished` is called on this thread, in the
/// order of indices, when all up to an index are done.
void runInOrder(size_t count, unsigned workers,
                llvm::function_ref<void(size_t)> body,
                llvm::function_ref<void(size_t)> finished);

} // namespace furiosa::compile

#endif // FURIOSA_LIB_TOOLS_COMPILE_WORKERS_H
