//===- MainHeap.h - Pages of the main thread's heap -------------*- C++ -*-===//
//
// On a virtual machine the first touch of a page costs as much as a thousand
// instructions, and a large kernel takes tens of thousands of small pages.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_SUPPORT_MAINHEAP_H
#define FURIOSA_SUPPORT_MAINHEAP_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <thread>

#ifdef __GLIBC__
#include <cstdlib>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace furiosa {

/// The part of the main thread's heap that is reserved: from where its next
/// blocks come, in the order of their addresses. Empty without reservation.
struct MainHeap {
  uintptr_t begin = 0, end = 0;

  static MainHeap &get() {
    static MainHeap heap;
    return heap;
  }
};

/// Reserves `bytes` of the heap of the main thread in one step and asks for
/// large pages. Only what is written takes memory. Without effect where the
/// heap cannot grow, or the C library is not GNU's.
inline void reserveMainHeap([[maybe_unused]] unsigned bytes) {
#ifdef __GLIBC__
  constexpr int mappedFrom = 32 << 20;
  mallopt(M_TOP_PAD, static_cast<int>(bytes));
  mallopt(M_MMAP_THRESHOLD, mappedFrom);
  mallopt(M_TRIM_THRESHOLD, static_cast<int>(bytes) + mappedFrom);
  // The first block that does not fit in what there is of a heap extends it.
  void *first = malloc(mappedFrom / 2);
  auto begin = reinterpret_cast<uintptr_t>(first);
  auto end = reinterpret_cast<uintptr_t>(sbrk(0));
  constexpr uintptr_t page = 2 << 20;
  begin = (begin + page - 1) & -page;
  if (first && begin < end && end - begin <= uintptr_t(bytes) + mappedFrom &&
      madvise(reinterpret_cast<void *>(begin), end - begin, MADV_HUGEPAGE) == 0)
    MainHeap::get() = {begin, end};
  free(first);
  // Where it has to grow again, or could not, smaller steps do.
  mallopt(M_TOP_PAD, mappedFrom);
#endif
}

/// Touches the first pages of the reserved heap on a thread of its own, ahead
/// of the one that fills them, until it goes out of scope.
class MainHeapToucher {
public:
  /// `bytes`: about as much as will be filled.
  explicit MainHeapToucher([[maybe_unused]] size_t bytes) {
#if defined(__GLIBC__) && defined(MADV_POPULATE_WRITE)
    MainHeap heap = MainHeap::get();
    heap.end = heap.begin + std::min<uintptr_t>(bytes, heap.end - heap.begin);
    constexpr uintptr_t step = 4 << 20;
    if (heap.end - heap.begin < step)
      return;
    thread = std::jthread([heap](std::stop_token stop) {
      for (uintptr_t at = heap.begin; at + step <= heap.end; at += step)
        // A kernel older than the call knows nothing of it.
        if (stop.stop_requested() ||
            madvise(reinterpret_cast<void *>(at), step, MADV_POPULATE_WRITE))
          return;
    });
#endif
  }

private:
  std::jthread thread;
};

} // namespace furiosa

#endif // FURIOSA_SUPPORT_MAINHEAP_H
