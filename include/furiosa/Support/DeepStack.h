//===- DeepStack.h - Programs that take deeply nested input -----*- C++ -*-===//

#ifndef FURIOSA_SUPPORT_DEEPSTACK_H
#define FURIOSA_SUPPORT_DEEPSTACK_H

#include "furiosa/Support/MainHeap.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Compiler.h"
#include "llvm/Support/ProgramStack.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sys/resource.h>

#ifdef __GLIBC__
#include <sys/mman.h>
#include <ucontext.h>
#endif

namespace furiosa {

/// Bytes of a stack that ten thousand nested loops fit on: a gibibyte, which is
/// reserved, not used; where addresses are scarce all of so many stacks
/// together take a quarter of them.
inline unsigned getDeepStackSize(size_t stacks) {
  constexpr uint64_t most = uint64_t(1) << 30, least = uint64_t(8) << 20;
  uint64_t addresses = RLIM_INFINITY;
  for (auto kind : {RLIMIT_AS, RLIMIT_DATA})
    if (rlimit limit; getrlimit(kind, &limit) == 0)
      addresses = std::min<uint64_t>(addresses, limit.rlim_cur);
  if (addresses == RLIM_INFINITY)
    return most;
  return static_cast<unsigned>(
      std::clamp<uint64_t>(addresses / 4 / stacks, least, most));
}

#ifdef __GLIBC__
/// Runs `body` on a new stack of the same thread. False, and nothing is run,
/// where there are not so many addresses.
inline bool runOnStack(size_t size, llvm::function_ref<void()> body) {
  void *stack = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK,
                     -1, 0);
  if (stack == MAP_FAILED)
    return false;
  // A step beyond it faults, and is not a write to what lies below.
  mprotect(stack, 1 << 16, PROT_NONE);
  // makecontext hands over no pointers.
  static llvm::function_ref<void()> *entry;
  entry = &body;
  ucontext_t caller, callee;
  getcontext(&callee);
  callee.uc_stack.ss_sp = stack;
  callee.uc_stack.ss_size = size;
  callee.uc_link = &caller;
  makecontext(&callee, +[] { (*entry)(); }, 0);
  swapcontext(&caller, &callee);
  munmap(stack, size);
  return true;
}
#endif

/// Runs a program's main function on a deep stack: MLIR parses, verifies and
/// prints nested regions by recursion, and ten thousand nested loops are legal
/// text. The stack is one of the main thread, whose heap alone can be reserved.
/// AddressSanitizer cannot give such a stack back, so under it the program
/// keeps its own.
inline int runOnDeepStack(llvm::function_ref<int()> body) {
#if LLVM_ADDRESS_SANITIZER_BUILD
  return body();
#else
  int result = 1;
  auto run = [&] { result = body(); };
#ifdef __GLIBC__
  reserveMainHeap(getDeepStackSize(1));
  if (runOnStack(getDeepStackSize(1), run))
    return result;
#endif
  llvm::runOnNewStack(getDeepStackSize(1), run);
  return result;
#endif
}

} // namespace furiosa

#endif // FURIOSA_SUPPORT_DEEPSTACK_H
