//===- Shaker.h - Numbers for searches --------------------------*- C++ -*-===//
//
// Numbers that look random and are the same everywhere.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_DIALECT_RESOURCE_SCHEDULING_SHAKER_H
#define FURIOSA_LIB_DIALECT_RESOURCE_SCHEDULING_SHAKER_H

#include <cstdint>

namespace furiosa::scheduling {

class Shaker {
public:
  /// 0 to `n - 1`.
  uint64_t below(uint64_t n) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % n;
  }

private:
  uint64_t state = 0x9E3779B97F4A7C15;
};

} // namespace furiosa::scheduling

#endif // FURIOSA_LIB_DIALECT_RESOURCE_SCHEDULING_SHAKER_H
