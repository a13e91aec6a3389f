//===- DeepStack.h - Programs that take deeply nested input -----*- C++ -*-===//

#ifndef FURIOSA_SUPPORT_DEEPSTACK_H
#define FURIOSA_SUPPORT_DEEPSTACK_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Compiler.h"
#include "llvm/Support/ProgramStack.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sys/resource.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace furiosa {

/// Bytes of a stack that ten thousand nested loops fit on: a gibibyte, which is
/// reserved, not used; where addresses are scarce all of so many stacks
/// together take a quarter of them.
inline unsigned getDeepStackSize(size_t stacks) {
  constexpr uint64_t most = uint64_t(1) << 30, least = uint64_t(8) << 20;
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return most;
  return static_cast<unsigned>(
      std::clamp<uint64_t>(limit.rlim_cur / 4 / stacks, least, most));
}

/// Runs a program's main function on a deep stack: MLIR parses, verifies and
/// prints nested regions by recursion, and ten thousand nested loops are legal
/// text. AddressSanitizer cannot give such a stack back, so under it the
/// program keeps its own.
inline int runOnDeepStack(llvm::function_ref<int()> body) {
#if LLVM_ADDRESS_SANITIZER_BUILD
  return body();
#endif
#ifdef __GLIBC__
  // The heap of a thread grows by a system call for each page. It is reserved
  // in large steps instead, of which only what is written takes memory.
  constexpr int step = 32 << 20;
  mallopt(M_TOP_PAD, step);
  mallopt(M_MMAP_THRESHOLD, step);
  mallopt(M_TRIM_THRESHOLD, 8 * step);
#endif
  int result = 1;
  llvm::runOnNewStack(getDeepStackSize(1), [&] { result = body(); });
  return result;
}

} // namespace furiosa

#endif // FURIOSA_SUPPORT_DEEPSTACK_H
