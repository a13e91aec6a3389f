//===- Workers.cpp - A loop on several threads ----------------------------===//

#include "Workers.h"

#include "furiosa/Support/DeepStack.h"

#include "llvm/Support/Compiler.h"

#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <vector>

namespace furiosa::compile {

/// Nothing: the usual one. LLVM's pool gives its threads that.
static std::optional<unsigned> getStackSize(size_t workers) {
#if LLVM_ADDRESS_SANITIZER_BUILD
  return std::nullopt;
#else
  return getDeepStackSize(workers);
#endif
}

/// As many of so many workers as there are addresses for: the C library reserves
/// an arena for each thread, and an allocation that fails ends the program.
static size_t limitWorkers(size_t workers) {
  constexpr uint64_t each = uint64_t(160) << 20;
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return workers;
  return std::clamp<uint64_t>(limit.rlim_cur / 2 / each, 1, workers);
}

/// Starts a thread that calls `work`, which must outlive it; false if the system
/// gives no more threads. LLVM's class ends the program then.
static bool startThread(pthread_t &thread, std::optional<unsigned> stackSize,
                        llvm::function_ref<void()> &work) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0)
    return false;
  auto run = [](void *argument) -> void * {
    (*static_cast<llvm::function_ref<void()> *>(argument))();
    return nullptr;
  };
  bool ok =
      (!stackSize || pthread_attr_setstacksize(&attributes, *stackSize) == 0) &&
      pthread_create(&thread, &attributes, run, &work) == 0;
  pthread_attr_destroy(&attributes);
  return ok;
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
  auto loop = [&] {
    for (size_t i; (i = next++) < count;) {
      body(i);
      std::lock_guard<std::mutex> lock(mutex);
      done[i] = 1;
      changed.notify_one();
    }
  };
  llvm::function_ref<void()> work = loop;
  std::vector<pthread_t> threads;
  size_t threadCount = limitWorkers(std::clamp<size_t>(workers, 1, count));
  for (size_t i = 0; i < threadCount; ++i) {
    pthread_t thread;
    if (!startThread(thread, getStackSize(threadCount), work))
      break;
    threads.push_back(thread);
  }
  // Fewer threads are slower; without any this one, whose stack is as deep, has
  // to do.
  if (threads.empty())
    loop();
  for (size_t i = 0; i < count; ++i) {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return done[i] != 0; });
    lock.unlock();
    finished(i);
  }
  for (pthread_t thread : threads)
    pthread_join(thread, nullptr);
}

} // namespace furiosa::compile
