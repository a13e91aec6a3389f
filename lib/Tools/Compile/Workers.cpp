//===- Workers.cpp - A loop on several threads ----------------------------===//

#include "Workers.h"

#include "llvm/Support/Compiler.h"
#include "llvm/Support/thread.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <vector>

namespace furiosa::compile {

/// LLVM's pool gives its threads the usual stack, which ten thousand nested
/// loops overflow.
static std::optional<unsigned> getStackSize() {
#if LLVM_ADDRESS_SANITIZER_BUILD
  return std::nullopt;
#else
  return 1u << 30;
#endif
}

void runInOrder(size_t count, unsigned workers,
                llvm::function_ref<void(size_t)> body,
                llvm::function_ref<void(size_t)> finished) {
  if (workers <= 1 || count <= 1) {
    for (size_t i = 0; i < count; ++i) {
      body(i);
      finished(i);
    }
    return;
  }
  std::atomic<size_t> next = 0;
  std::vector<char> done(count);
  std::mutex mutex;
  std::condition_variable changed;
  auto work = [&] {
    for (size_t i; (i = next++) < count;) {
      body(i);
      std::lock_guard<std::mutex> lock(mutex);
      done[i] = 1;
      changed.notify_one();
    }
  };
  std::vector<llvm::thread> threads;
  for (size_t i = 0; i < std::min<size_t>(workers, count); ++i)
    threads.emplace_back(getStackSize(), work);
  for (size_t i = 0; i < count; ++i) {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return done[i] != 0; });
    lock.unlock();
    finished(i);
  }
  for (llvm::thread &thread : threads)
    thread.join();
}

} // namespace furiosa::compile
