//===- Workers.cpp - A loop on several threads ----------------------------===//

#include "Workers.h"

#include "llvm/Support/Compiler.h"
#include "llvm/Support/thread.h"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <vector>

namespace furiosa::compile {

/// LLVM's pool gives its threads the usual stack, which ten thousand nested
/// loops overflow. A gibibyte is reserved, not used; where addresses are scarce
/// all stacks together take a quarter of them.
static std::optional<unsigned> getStackSize(size_t workers) {
#if LLVM_ADDRESS_SANITIZER_BUILD
  return std::nullopt;
#else
  constexpr uint64_t most = uint64_t(1) << 30, least = uint64_t(8) << 20;
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY)
    return most;
  return static_cast<unsigned>(
      std::clamp<uint64_t>(limit.rlim_cur / 4 / workers, least, most));
#endif
}

void runInOrder(size_t count, unsigned workers,
                llvm::function_ref<void(size_t)> body,
                llvm::function_ref<void(size_t)> finished) {
  if (count == 0)
    return;
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
  size_t threadCount = std::clamp<size_t>(workers, 1, count);
  for (size_t i = 0; i < threadCount; ++i)
    threads.emplace_back(getStackSize(threadCount), work);
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
