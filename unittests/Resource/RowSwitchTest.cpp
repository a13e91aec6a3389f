//===- RowSwitchTest.cpp - Cycles of transfers that switch rows -----------===//

#include "furiosa/Dialect/Resource/Scheduling/CostModel.h"

#include "gtest/gtest.h"

using namespace furiosa::scheduling;

namespace {

std::string getFormula(llvm::ArrayRef<EngineShape> engines, Side source,
                       Side target) {
  return getDmaCost(source, target, engines).value_or(Cost{-1, ""}).formula;
}

/// Eight engines, each 256 times 256 blocks: `step` apart within a pass, the
/// next pass one block further.
std::vector<EngineShape> passes(int64_t step, bool isStore) {
  std::vector<EngineShape> engines;
  for (int64_t i = 0; i < 8; ++i) {
    EngineShape shape;
    int64_t base = i * 256 * 256;
    std::vector<int64_t> hbm = {256, step}, dm = {256, 65536};
    shape.source = isStore ? 0 : base;
    shape.target = isStore ? base : 0;
    shape.sizes = {256, 256};
    shape.sourceStrides.assign(isStore ? dm.begin() : hbm.begin(),
                               isStore ? dm.end() : hbm.end());
    shape.targetStrides.assign(isStore ? hbm.begin() : dm.begin(),
                               isStore ? hbm.end() : dm.end());
    shape.packet = 256;
    engines.push_back(shape);
  }
  return engines;
}

/// The cycles of the side in HBM, from the formula.
int64_t getHbmCycles(llvm::ArrayRef<EngineShape> engines, bool isStore) {
  std::string formula = isStore ? getFormula(engines, Side::Dm, Side::Hbm)
                                : getFormula(engines, Side::Hbm, Side::Dm);
  return std::stoll(formula.substr(formula.find("hbm ") + 4));
}

// The published case: 524,288 blocks over 32 channels, each in another row of
// the bank that was accessed before: 40 cycles each, 655,360 in all. Here some
// find another bank.
TEST(RowSwitches, EachAccess) {
  for (bool isStore : {false, true}) {
    int64_t cycles = getHbmCycles(passes(1 << 21, isStore), isStore);
    EXPECT_LE(cycles, 655360);
    EXPECT_GE(cycles, 655360 * 98 / 100);
  }
}

// Blocks side by side: a row is left for another bank, which has its own open.
TEST(RowSwitches, NoneInSequence) {
  EngineShape shape;
  shape.sizes = {16384};
  shape.sourceStrides = shape.targetStrides = {256};
  shape.packet = 256;
  // 4 MiB: 512 accesses a channel.
  EXPECT_EQ(getFormula(shape, Side::Hbm, Side::Dm),
            "read hbm 2731 + write dm 32768 - overlap 1365 + start 500");
}

/// Reads at 0 and at `second`.
EngineShape pair(int64_t second) {
  EngineShape shape;
  shape.sizes = {2};
  shape.sourceStrides = {second};
  shape.targetStrides = {256};
  shape.packet = 256;
  return shape;
}

// Of two accesses in one channel the second takes 40 cycles if it finds another
// row, unless bank, bank group or slice change as well.
TEST(RowSwitches, OtherBanks) {
  // Bits from 13 on fold into the channel four by four: such pairs keep it.
  constexpr int64_t otherRow = (1ll << 21) | (1ll << 25);
  EXPECT_EQ(getHbmCycles(pair(otherRow), false), 46);
  EXPECT_EQ(getHbmCycles(pair(1ll << 35), false), 46);
  for (int64_t bit : {13, 17, 18, 19, 20}) {
    int64_t other = otherRow ^ (1ll << bit) ^ (1ll << (25 + (bit - 13) % 4));
    EXPECT_EQ(getHbmCycles(pair(other), false), 11) << bit;
  }
  EXPECT_EQ(getHbmCycles(pair(otherRow | 1ll << 34), false), 11);
  // Another channel.
  EXPECT_EQ(getHbmCycles(pair(1ll << 21), false), 6);
}

} // namespace
