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
#include <cstdlib>
#include <malloc.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
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
/// Reserves the heap of the main thread in one step and asks for large pages: on
/// a virtual machine the first touch of a page costs as much as a thousand
/// instructions, and a large kernel takes tens of thousands of small ones. Only
/// what is written takes memory.
inline void reserveHeap() {
  constexpr int mappedFrom = 32 << 20;
  int reserve = static_cast<int>(getDeepStackSize(1));
  mallopt(M_TOP_PAD, reserve);
  mallopt(M_MMAP_THRESHOLD, mappedFrom);
  mallopt(M_TRIM_THRESHOLD, reserve + mappedFrom);
  // The first block that does not fit in what there is of a heap extends it.
  void *first = malloc(mappedFrom / 2);
  auto begin = reinterpret_cast<uintptr_t>(first);
  auto end = reinterpret_cast<uintptr_t>(sbrk(0));
  constexpr uintptr_t page = 2 << 20;
  begin = (begin + page - 1) & -page;
  // Without effect where the heap could not grow, or knows no large pages.
  if (first && begin < end && end - begin <= uintptr_t(reserve) + mappedFrom)
    madvise(reinterpret_cast<void *>(begin), end - begin, MADV_HUGEPAGE);
  free(first);
  // Where it has to grow again, or could not, smaller steps do.
  mallopt(M_TOP_PAD, mappedFrom);
}

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
  reserveHeap();
  if (runOnStack(getDeepStackSize(1), run))
    return result;
#endif
  llvm::runOnNewStack(getDeepStackSize(1), run);
  return result;
#endif
}

} // namespace furiosa

#endif // FURIOSA_SUPPORT_DEEPSTACK_H
