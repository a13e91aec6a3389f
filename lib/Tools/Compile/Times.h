//===- Times.h - Where the time goes ----------------------------*- C++ -*-===//

#ifndef FURIOSA_LIB_TOOLS_COMPILE_TIMES_H
#define FURIOSA_LIB_TOOLS_COMPILE_TIMES_H

#include "llvm/ADT/StringRef.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

namespace furiosa::compile {

/// Wall seconds and how often, by what was done.
struct Times {
  struct Entry {
    double seconds = 0;
    uint64_t count = 0;
  };
  std::map<std::string, Entry> entries;
  void add(llvm::StringRef what, double seconds, uint64_t count = 1);
  void add(const Times &other);
};

/// Measures from its making to its end.
class Stopwatch {
public:
  Stopwatch(Times &times, llvm::StringRef what)
      : times(times), what(what), begin(std::chrono::steady_clock::now()) {}
  ~Stopwatch() {
    times.add(what, std::chrono::duration<double>(
                        std::chrono::steady_clock::now() - begin)
                        .count());
  }
  Stopwatch(const Stopwatch &) = delete;

private:
  Times &times;
  std::string what;
  std::chrono::steady_clock::time_point begin;
};

/// What this process has used so far.
struct Usage {
  double processorSeconds = 0;
  uint64_t peakMemoryBytes = 0;
};
Usage getUsage();

} // namespace furiosa::compile

#endif // FURIOSA_LIB_TOOLS_COMPILE_TIMES_H
