//===- CostModelTest.cpp - Cycles against published schedules -------------===//

#include "furiosa/Dialect/Resource/Scheduling/CostModel.h"

#include "gtest/gtest.h"

#include <vector>

using namespace furiosa::scheduling;

namespace {

constexpr int64_t slice = 4 << 20;

/// Each of `engines` engines moves `rows` rows of `bytes` between HBM, where
/// they lie `hbmStride` apart, and its own slices.
std::vector<EngineShape> rows(int engines, int64_t rows, int64_t bytes,
                              int64_t hbmStride, bool isStore) {
  std::vector<EngineShape> shapes;
  for (int i = 0; i < engines; ++i) {
    EngineShape shape;
    int64_t hbm = i * rows * hbmStride;
    shape.source = isStore ? 0 : hbm;
    shape.target = isStore ? hbm : 0;
    shape.sizes = {rows};
    shape.sourceStrides = {isStore ? slice : hbmStride};
    shape.targetStrides = {isStore ? hbmStride : slice};
    shape.packet = bytes;
    shapes.push_back(shape);
  }
  return shapes;
}

int64_t load(llvm::ArrayRef<EngineShape> engines) {
  return getDmaCycles(Side::Hbm, Side::Dm, engines).value_or(-1);
}
int64_t store(llvm::ArrayRef<EngineShape> engines) {
  return getDmaCycles(Side::Dm, Side::Hbm, engines).value_or(-1);
}

/// Within a quarter of a published figure.
void expectNear(int64_t cycles, int64_t published) {
  EXPECT_GE(cycles * 4, published * 3) << "published: " << published;
  EXPECT_LE(cycles * 4, published * 5) << "published: " << published;
}

// Rows of the published schedules: exact.
TEST(CostModel, Execs) {
  // dot, gemm: 4096 bytes into the tensor register file.
  EXPECT_EQ(*getExecCycles({.isSub = true, .reads = 512, .flits = 128}), 775);
  // dot: 128 flits, 64 multiplications.
  EXPECT_EQ(
      *getExecCycles(
          {.reads = 128, .flits = 128, .macs = 64, .drained = 1, .writes = 1}),
      393);
  // gemm.
  EXPECT_EQ(*getExecCycles({.reads = 512,
                            .flits = 512,
                            .macs = 256,
                            .drained = 128,
                            .writes = 128}),
            777);
  // add, and the ragged sum of 1000 elements, four a beat.
  EXPECT_EQ(*getExecCycles(
                {.reads = 2, .flits = 2, .writes = 1, .hasVectorPass = true}),
            283);
  EXPECT_EQ(
      *getExecCycles(
          {.reads = 250, .flits = 250, .writes = 1, .hasVectorPass = true}),
      531);
  EXPECT_FALSE(getExecCycles({.reads = INT64_MAX}));
}

// Rows of the published schedules: loads, coarsely.
TEST(CostModel, Loads) {
  expectNear(load(rows(4, 64, 16, 16, false)), 792);
  expectNear(load(rows(4, 64, 64, 64, false)), 707);
  expectNear(load(rows(4, 64, 2000, 2000, false)), 1905);
  expectNear(load(rows(4, 64, 2048, 2048, false)), 1673);
  // 4 KB to one slice.
  expectNear(load(rows(1, 1, 4096, 0, false)), 499);
  // 64 KB replicated 16 times: 16 rows of 4 KB, each to 16 slices.
  std::vector<EngineShape> engines;
  for (int i = 0; i < 4; ++i) {
    EngineShape shape;
    shape.source = i * 16384;
    shape.sizes = {4, 16};
    shape.sourceStrides = {4096, 0};
    shape.targetStrides = {16 * slice, slice};
    shape.packet = 4096;
    engines.push_back(shape);
  }
  expectNear(load(engines), 3020);
}

// Stores of whole and partial blocks of 256 bytes.
TEST(CostModel, Stores) {
  expectNear(store(rows(4, 64, 2048, 2048, true)), 1563);
  expectNear(store(rows(4, 64, 2000, 2000, true)), 18204);
  // 512 KB as rows of 64 bytes: every write is a partial one.
  std::vector<EngineShape> engines;
  for (int i = 0; i < 4; ++i) {
    EngineShape shape;
    shape.target = i * 131072;
    shape.sizes = {4, 16, 32};
    shape.sourceStrides = {16 * slice, slice, 64};
    shape.targetStrides = {32768, 64, 1024};
    shape.packet = 64;
    engines.push_back(shape);
  }
  expectNear(store(engines), 72731);
}

// A network serves one of two halves of the slices at a time, unless packets
// alternate.
TEST(CostModel, Networks) {
  EngineShape shape;
  shape.sizes = {64, 16};
  shape.sourceStrides = {4096, 256};
  shape.targetStrides = {slice, 256};
  shape.packet = 256;
  EXPECT_EQ(load(shape), 500 + 2 * 1024);
  shape.sizes = {16, 32, 2};
  shape.sourceStrides = {256, 4096, 131072};
  shape.targetStrides = {256, slice, 32 * slice};
  EXPECT_EQ(load(shape), 500 + 1024);
}

TEST(CostModel, OverflowIsRefused) {
  EngineShape shape;
  shape.sizes = {65536, 65536, 65536, 65536};
  shape.sourceStrides = shape.targetStrides = {0, 0, 0, 0};
  shape.packet = 256;
  EXPECT_FALSE(getDmaCycles(Side::Hbm, Side::Dm, shape));
  shape.sizes = {0};
  shape.sourceStrides = shape.targetStrides = {0};
  EXPECT_FALSE(getDmaCycles(Side::Hbm, Side::Dm, shape));
}

TEST(CostModel, SameBankRuns) {
  EXPECT_EQ(getSameBankRun({32, 4, 2}, {64, 0, 32}), 1);
  EXPECT_EQ(getSameBankRun({4, 128}, {32, 0}), 128);
  EXPECT_EQ(getSameBankRun({8, 8, 1}, {128, 256, 8}), 64);
  EXPECT_EQ(getSameBankRun({}, {}), 1);
}

} // namespace
