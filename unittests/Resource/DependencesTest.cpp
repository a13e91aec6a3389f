//===- DependencesTest.cpp - Dependences against sets of bytes ------------===//
//
// The slow, obvious version: every byte of every access in every iteration in a
// set, every pair of commands compared.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/Resource/Scheduling/Dependences.h"
#include "Random.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <ctime>
#include <set>

using namespace furiosa::scheduling;

namespace {

using Bytes = std::set<int64_t>;

void addBytes(const Footprint &footprint, size_t loop, int64_t at,
              Bytes &bytes) {
  if (loop == footprint.loops.size()) {
    for (int64_t i = 0; i < footprint.bytes; ++i)
      bytes.insert(at + i);
    return;
  }
  for (int64_t i = 0; i < footprint.loops[loop].count; ++i)
    addBytes(footprint, loop + 1, at + i * footprint.loops[loop].stride, bytes);
}

Bytes getBytes(llvm::ArrayRef<Footprint> footprints, int64_t moved = 0) {
  Bytes bytes;
  for (const Footprint &footprint : footprints)
    addBytes(footprint, 0, footprint.base + moved, bytes);
  return bytes;
}

bool share(const Bytes &a, const Bytes &b) {
  return std::any_of(a.begin(), a.end(),
                     [&](int64_t byte) { return b.count(byte); });
}

/// The bytes of each iteration of the loops around.
std::vector<Bytes> getIterations(const Access &access,
                                 llvm::ArrayRef<int64_t> trips) {
  std::vector<int64_t> moved = {0};
  for (size_t loop = 0; loop < trips.size(); ++loop) {
    std::vector<int64_t> next;
    for (int64_t base : moved)
      for (int64_t i = 0; i < trips[loop]; ++i)
        next.push_back(base + (loop < access.advance.size()
                                   ? i * access.advance[loop]
                                   : 0));
    moved = next;
  }
  std::vector<Bytes> result;
  for (int64_t base : moved)
    result.push_back(getBytes(access.footprints, base));
  return result;
}

bool conflictSlowly(const Accesses &a, const Accesses &b,
                    llvm::ArrayRef<int64_t> trips) {
  for (const Access &x : a)
    for (const Access &y : b) {
      if (x.space != y.space || !(x.isWrite || y.isWrite))
        continue;
      std::vector<Bytes> bytesX = getIterations(x, trips);
      std::vector<Bytes> bytesY = getIterations(y, trips);
      for (size_t i = 0; i < bytesX.size(); ++i)
        if (share(bytesX[i], bytesY[i]))
          return true;
    }
  return false;
}

Footprint getFootprint(Random &random, int64_t room) {
  Footprint footprint;
  footprint.base = random.below(room);
  footprint.bytes = 1 + random.below(6);
  for (int64_t n = random.below(4); n > 0; --n)
    footprint.loops.push_back({1 + random.below(4), random.below(20)});
  return footprint;
}

Access getAccess(Random &random, unsigned spaces, int64_t room) {
  Access access;
  access.space = random.below(spaces);
  access.isWrite = random.below(2);
  for (int64_t n = 1 + random.below(2); n > 0; --n) {
    Footprint footprint = getFootprint(random, room);
    EXPECT_TRUE(footprint.normalize());
    access.footprints.push_back(footprint);
  }
  coalesce(access.footprints);
  return access;
}

TEST(Footprints, NormalFormsKeepTheBytes) {
  for (uint64_t seed = 1; seed <= 20000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    llvm::SmallVector<Footprint> footprints;
    for (int64_t n = 1 + random.below(3); n > 0; --n)
      footprints.push_back(getFootprint(random, 30));
    // Those that continue each other are rare by chance.
    if (random.below(2)) {
      footprints.push_back(footprints[0]);
      if (!footprints[0].loops.empty())
        footprints.back().base +=
            footprints[0].loops[0].count * footprints[0].loops[0].stride;
    }
    Bytes before = getBytes(footprints);
    for (Footprint &footprint : footprints) {
      Bytes own = getBytes(footprint);
      ASSERT_TRUE(footprint.normalize());
      ASSERT_EQ(getBytes(footprint), own);
      ASSERT_EQ(footprint.getExtent(), *own.rbegin() - *own.begin() + 1);
    }
    coalesce(footprints);
    ASSERT_EQ(getBytes(footprints), before);
  }
}

TEST(Footprints, OverlapAndCoverAgreeWithBytes) {
  unsigned overlapping = 0, apart = 0, covering = 0;
  for (uint64_t seed = 1; seed <= 30000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    llvm::SmallVector<int64_t> trips;
    for (int64_t n = random.below(3); n > 0; --n)
      trips.push_back(1 + random.below(4));
    Access accesses[2];
    for (Access &access : accesses) {
      access = getAccess(random, 1, 60);
      for (size_t i = 0; i < trips.size(); ++i) {
        int64_t factor = random.below(3);
        access.advance.push_back(factor * random.below(20));
      }
    }
    auto &[a, b] = accesses;
    if (random.below(2))
      b.advance = a.advance;
    std::vector<Bytes> bytesA = getIterations(a, trips);
    std::vector<Bytes> bytesB = getIterations(b, trips);
    bool expected = false, contained = true;
    for (size_t i = 0; i < bytesA.size(); ++i) {
      expected |= share(bytesA[i], bytesB[i]);
      contained &= std::includes(bytesA[i].begin(), bytesA[i].end(),
                                 bytesB[i].begin(), bytesB[i].end());
    }
    ASSERT_EQ(overlap(a, b, trips), expected);
    ASSERT_EQ(overlap(b, a, trips), expected);
    if (covers(a, b)) {
      ASSERT_TRUE(contained);
    }
    ++(expected ? overlapping : apart);
    covering += contained && covers(a, b);
  }
  EXPECT_GT(overlapping, 5000u);
  EXPECT_GT(apart, 5000u);
  EXPECT_GT(covering, 100u);
}

TEST(Footprints, DamagedOnesAreRefused) {
  Footprint footprint;
  footprint.bytes = 0;
  EXPECT_FALSE(footprint.normalize());
  footprint.bytes = 1;
  footprint.base = -1;
  EXPECT_FALSE(footprint.normalize());
  footprint.base = 0;
  footprint.loops = {{INT64_MAX, INT64_MAX}};
  EXPECT_FALSE(footprint.normalize());
  footprint.loops = {{2, INT64_MAX - 1}};
  EXPECT_FALSE(footprint.normalize());
  footprint.loops = {{0, 1}};
  EXPECT_FALSE(footprint.normalize());
}

// None missing: every conflict is a path. None without reason: every edge is a
// conflict, and no path stands beside it.
TEST(Dependences, AgreeWithBytes) {
  unsigned edges = 0;
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    llvm::SmallVector<int64_t> trips;
    if (random.below(2))
      trips.push_back(1 + random.below(3));
    unsigned n = 2 + random.below(14);
    std::vector<Accesses> commands(n);
    for (Accesses &accesses : commands)
      for (int64_t k = random.below(4); k > 0; --k) {
        accesses.push_back(getAccess(random, 2, 80));
        if (!trips.empty() && random.below(2))
          accesses.back().advance.push_back(random.below(30));
      }
    auto after = getDependences(commands, trips);
    ASSERT_EQ(after.size(), n);
    std::vector<std::vector<bool>> reach(n, std::vector<bool>(n));
    for (unsigned i = 0; i < n; ++i) {
      ASSERT_TRUE(llvm::is_sorted(after[i]));
      for (unsigned before : after[i]) {
        ASSERT_LT(before, i);
        ASSERT_TRUE(conflictSlowly(commands[before], commands[i], trips));
        for (unsigned other : after[i])
          ASSERT_FALSE(other != before && reach[other][before]);
        ++edges;
      }
      for (unsigned before : after[i])
        for (unsigned j = 0; j < i; ++j)
          reach[i][j] = reach[i][j] || j == before || reach[before][j];
      for (unsigned j = 0; j < i; ++j) {
        if (conflictSlowly(commands[j], commands[i], trips)) {
          ASSERT_TRUE(reach[i][j]);
        }
      }
    }
  }
  EXPECT_GT(edges, 10000u);
}

// Slices of one buffer that different engines write are apart; a command on all
// slices waits for all of them.
TEST(Dependences, Slices) {
  constexpr int64_t slice = 4 << 20;
  auto access = [&](bool isWrite, int64_t first, int64_t slices) {
    Access result;
    result.isWrite = isWrite;
    Footprint footprint;
    footprint.base = first * slice;
    footprint.loops = {{slices, slice}};
    footprint.bytes = 64;
    EXPECT_TRUE(footprint.normalize());
    result.footprints = {footprint};
    return result;
  };
  std::vector<Accesses> commands = {
      {access(true, 0, 64)},  {access(true, 64, 64)},  {access(false, 0, 128)},
      {access(true, 64, 64)}, {access(false, 32, 32)}, {access(false, 96, 32)},
  };
  auto after = getDependences(commands);
  EXPECT_TRUE(after[1].empty());
  EXPECT_EQ(after[2], (llvm::SmallVector<unsigned, 4>{0, 1}));
  EXPECT_EQ(after[3], (llvm::SmallVector<unsigned, 4>{2}));
  EXPECT_EQ(after[4], (llvm::SmallVector<unsigned, 4>{0}));
  EXPECT_EQ(after[5], (llvm::SmallVector<unsigned, 4>{3}));
}

/// A tiled kernel: each step loads a tile of an operand, preloads, computes,
/// stores a tile of the result, with two buffers of each kind in turn.
std::vector<Accesses> getTiled(unsigned commands) {
  auto access = [](unsigned space, bool isWrite, int64_t base, int64_t bytes) {
    Access result;
    result.space = space;
    result.isWrite = isWrite;
    Footprint footprint;
    footprint.base = base;
    footprint.bytes = bytes;
    result.footprints = {footprint};
    return result;
  };
  std::vector<Accesses> result;
  for (int64_t i = 0; result.size() < commands; ++i) {
    unsigned turn = i % 2;
    result.push_back(
        {access(0, false, i * 64, 64), access(10 + turn, true, 0, 64)});
    result.push_back(
        {access(10 + turn, false, 0, 64), access(20 + turn, true, 0, 64)});
    result.push_back({access(10 + turn, false, 0, 64),
                      access(20 + turn, false, 0, 64),
                      access(30 + turn, true, 0, 64)});
    result.push_back(
        {access(30 + turn, false, 0, 64), access(1, true, i * 64, 64)});
  }
  return result;
}

TEST(Dependences, NearLinear) {
  auto measure = [](unsigned commands) {
    std::vector<Accesses> kernel = getTiled(commands);
    // Of this thread alone, the best of three: others may keep the host busy.
    double best = 1e9;
    for (int i = 0; i < 3; ++i) {
      std::clock_t begin = std::clock();
      EXPECT_EQ(getDependences(kernel).size(), kernel.size());
      best = std::min(best, double(std::clock() - begin) / CLOCKS_PER_SEC);
    }
    return best;
  };
  measure(1000);
  double small = measure(2000), large = measure(32000);
  // Sixteen times as many: 1.3 as an exponent is a factor of 37.
  EXPECT_LT(large, std::max(small, 1e-3) * 64) << small << " " << large;
}

} // namespace
