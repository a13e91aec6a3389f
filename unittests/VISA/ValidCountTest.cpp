//===- ValidCountTest.cpp - Valid counts against the cells of mappings ----===//
//
// The counts of every slice and flit must be those of the live cells. The
// examples are those of the vector engine's rules; their numbers stand beside
// them.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/VISA/Loops/ValidCount.h"

#include "gtest/gtest.h"

using namespace furiosa;
using loops::deriveValidCount;
using loops::ValidCount;
using mapping::Axes;
using mapping::Axis;
using mapping::Cell;
using mapping::Mapping;

namespace {

struct Stream {
  Axes axes;
  Mapping slice, time, packet;

  Stream(std::initializer_list<Axis> list, const char *slice, const char *time,
         const char *packet)
      : axes(*Axes::get(std::vector<Axis>(list))),
        slice(*Mapping::parse(slice, axes)), time(*Mapping::parse(time, axes)),
        packet(*Mapping::parse(packet, axes)) {}

  auto derive(const char *axis) const {
    return deriveValidCount(slice, time, packet, axes.find(axis));
  }

  /// Elements of a flit, from the first, that are no padding of the axis: cell
  /// by cell, as index below the size of the axis.
  int64_t countCells(const char *axis, int64_t s, int64_t t) const {
    int number = axes.find(axis);
    int64_t count = 0;
    for (int64_t k = 0; k < packet.size(); ++k) {
      int64_t index = 0;
      bool isLive = true;
      for (const Cell &cell :
           {slice.cellAt(s), time.cellAt(t), packet.cellAt(k)}) {
        // Padding of other axes does not matter here.
        if (cell.kind == Cell::Kind::Pad)
          isLive = false;
        auto it = cell.index.find(number);
        if (it != cell.index.end())
          index += it->second;
      }
      isLive &= index < axes[size_t(number)].size;
      if (isLive && count != k)
        return -1; // No prefix.
      count += isLive;
    }
    return count;
  }

  void expectCellCounts(const char *axis) const {
    auto valid = derive(axis);
    ASSERT_TRUE(bool(valid)) << valid.fault().message;
    ASSERT_TRUE(valid->has_value());
    for (int64_t s = 0; s < slice.size(); ++s)
      for (int64_t t = 0; t < time.size(); ++t) {
        if (slice.cellAt(s).kind == Cell::Kind::Pad && (*valid)->mask == 0)
          continue; // Padding of another axis.
        EXPECT_EQ((*valid)->at(s, t), countCells(axis, s, t))
            << "slice " << s << ", flit " << t;
      }
  }

  void expectRefused(const char *axis) const {
    auto valid = derive(axis);
    ASSERT_FALSE(bool(valid));
    EXPECT_EQ(valid.fault().rule, "VE-58");
  }
};

TEST(ValidCount, Time) { // 35, 36
  Stream time({{"R", 12}, {"B", 8}}, "1 # 256", "R # 16", "B");
  time.expectCellCounts("R");
  Stream({{"R", 10}, {"A", 3}, {"B", 8}}, "1 # 256",
         "R # 12 / 4, A, R # 12 % 4", "B")
      .expectCellCounts("R");
}

TEST(ValidCount, TimeAndPacket) { // 37
  Stream stream({{"R", 10}}, "1 # 256", "R # 16 / 4", "R # 16 % 4 # 8");
  stream.expectCellCounts("R");
  auto valid = stream.derive("R");
  std::vector<int64_t> counts;
  for (int64_t t = 0; t < 4; ++t)
    counts.push_back((*valid)->at(0, t));
  EXPECT_EQ(counts, (std::vector<int64_t>{4, 4, 2, 0}));
  Stream({{"R", 5}}, "1 # 256", "1", "R # 8").expectCellCounts("R");
  Stream({{"R", 13}, {"A", 3}}, "1 # 256", "A, R # 16 / 8", "R # 16 % 8")
      .expectCellCounts("R");
}

TEST(ValidCount, SliceMajor) { // 38
  Stream stream({{"R", 11}, {"X", 64}, {"B", 8}},
                "R # 16 / 8, X, R # 16 / 4 % 2", "R # 16 % 4", "B");
  stream.expectCellCounts("R");
  auto valid = stream.derive("R");
  EXPECT_EQ((*valid)->mask, 0x81);
  EXPECT_EQ((*valid)->match, 128);
  Stream({{"R", 5}, {"X", 32}, {"B", 8}}, "X, R # 8", "B", "B % 8")
      .expectCellCounts("R");
}

TEST(ValidCount, TimeMajor) { // 39
  Stream stream({{"R", 13}, {"X", 64}, {"B", 8}},
                "R # 16 / 2 % 2, X, R # 16 % 2", "R # 16 / 4", "B");
  stream.expectCellCounts("R");
  auto valid = stream.derive("R");
  EXPECT_EQ((*valid)->mask, 0x81);
  EXPECT_EQ((*valid)->match, 1);
}

TEST(ValidCount, SliceAndWholePackets) {
  Stream({{"R", 40}, {"X", 32}}, "X, R # 64 / 8", "1", "R # 64 % 8")
      .expectCellCounts("R");
  Stream({{"R", 88}, {"X", 64}}, "X, R # 128 / 32", "R # 128 / 8 % 4",
         "R # 128 % 8")
      .expectCellCounts("R");
}

/// No padding but that of the packets, which all slices count alike.
TEST(ValidCount, SliceAndShortPackets) {
  Stream({{"A", 8192}}, "A / 32", "A % 32 / 4", "A % 4 # 8")
      .expectCellCounts("A");
  Stream({{"A", 24}, {"X", 16}}, "X, A / 6", "A % 6 / 2", "A % 2 # 8")
      .expectCellCounts("A");
}

/// Each axis has counts of its own; an element is live where all admit it.
TEST(ValidCount, SeveralAxes) { // 40
  Stream stream({{"X", 16}, {"H", 5}, {"C", 5}, {"W", 19}},
                "X, H # 8 / 2, C # 8 / 2", "H # 8 % 2, C # 8 % 2, W # 24 / 8",
                "W # 24 % 8");
  auto h = stream.derive("H"), c = stream.derive("C"), w = stream.derive("W");
  ASSERT_TRUE(h && c && w && *h && *c && *w);
  auto list = [&](int64_t slice) {
    std::vector<int64_t> counts;
    for (int64_t t = 0; t < 12; ++t)
      counts.push_back(std::min(
          {(*h)->at(slice, t), (*c)->at(slice, t), (*w)->at(slice, t)}));
    return counts;
  };
  using List = std::vector<int64_t>;
  EXPECT_EQ(list(2 * 4 + 2), (List{8, 8, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(list(0 * 4 + 2), (List{8, 8, 3, 0, 0, 0, 8, 8, 3, 0, 0, 0}));
  EXPECT_EQ(list(2 * 4 + 0), (List{8, 8, 3, 8, 8, 3, 0, 0, 0, 0, 0, 0}));
  int64_t total = 0;
  for (int64_t slice = 0; slice < 16; ++slice)
    for (int64_t count : list(slice))
      total += count;
  EXPECT_EQ(total, 5 * 5 * 19);
}

TEST(ValidCount, NoPadding) {
  Stream stream({{"R", 16}, {"B", 8}}, "1 # 256", "R", "B");
  auto valid = stream.derive("R");
  ASSERT_TRUE(bool(valid));
  EXPECT_FALSE(valid->has_value());
}

TEST(ValidCount, NotExpressible) { // illegal 29 … 32
  Stream({{"R", 2045}}, "R # 2048 / 8", "1", "R # 2048 % 8").expectRefused("R");
  Stream({{"R", 14}, {"X", 64}, {"B", 8}}, "X, R # 20 % 4", "R # 20 / 4", "B")
      .expectRefused("R");
  Stream({{"R", 13}, {"X", 64}, {"B", 8}}, "X, R # 16 / 2 % 4",
         "R # 16 / 8, R # 16 % 2", "B")
      .expectRefused("R");
  Stream({{"R", 19}}, "1 # 256", "R # 24 % 3", "R # 24 / 3").expectRefused("R");
}

} // namespace
