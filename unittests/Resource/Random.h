//===- Random.h - Choices of generated cases --------------------*- C++ -*-===//

#ifndef FURIOSA_UNITTESTS_RESOURCE_RANDOM_H
#define FURIOSA_UNITTESTS_RESOURCE_RANDOM_H

#include <cstdint>
#include <random>

class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}
  int64_t below(int64_t n) { return int64_t(engine() % uint64_t(n)); }

private:
  std::mt19937_64 engine;
};

#endif // FURIOSA_UNITTESTS_RESOURCE_RANDOM_H
