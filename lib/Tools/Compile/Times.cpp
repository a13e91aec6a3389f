//===- Times.cpp - Where the time goes ------------------------------------===//

#include "Times.h"

#include <sys/resource.h>

namespace furiosa::compile {

void Times::add(llvm::StringRef what, double seconds, uint64_t count) {
  Entry &entry = entries[what.str()];
  entry.seconds += seconds;
  entry.count += count;
}

void Times::add(const Times &other) {
  for (const auto &[what, entry] : other.entries)
    add(what, entry.seconds, entry.count);
}

static double getSeconds(const timeval &time) {
  return double(time.tv_sec) + double(time.tv_usec) / 1e6;
}

Usage getUsage() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return {getSeconds(usage.ru_utime) + getSeconds(usage.ru_stime),
          static_cast<uint64_t>(usage.ru_maxrss) * 1024};
}

} // namespace furiosa::compile
