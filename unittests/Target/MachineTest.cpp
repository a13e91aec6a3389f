//===- MachineTest.cpp - Tests of the machine description -----------------===//

#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

using namespace furiosa::rngd;

namespace {

TEST(Machine, FactsAgreeWithEachOther) {
  using namespace machine;
  static_assert(dmBanks * dmRowsPerBank * dmBankBytes == dmSliceBytes);
  static_assert(lanes * trfBanks * trfRowsPerBank * trfRowBytes ==
                trfSliceBytes);
  static_assert(lanes * trfBanks * trfRowsPerBank * trfRawRowBits / 8 ==
                trfRawSliceBytes);
  static_assert(lanes * trfLaneBytes == trfSliceBytes);
  static_assert(vrfRows * vrfRowBytes == vrfSliceBytes);
  static_assert(lanes * reducerColumns * accumulatorRegisters ==
                accumulatorCells);
  static_assert(clusters * pesPerCluster == pes);
  static_assert(pesPerCluster * slicesPerPE == slicesPerCluster);
  static_assert(dmnsPerCluster * slicesPerDMN == slicesPerCluster);
  static_assert(hbmStacks * hbmChannelsPerStack == hbmChannels);
  // 2 stacks, 16 channels, 3 slices, 4 bank groups, 4 banks, 16,384 rows.
  static_assert(2ull * 16 * 3 * 4 * 4 * 16384 * 2048 == hbmBytes);
}

// Row D11 of the worked costs: a host's transfer is no command of a kernel, but
// its rate is a fact of the machine. 1 MiB goes up in 34,953 cycles.
TEST(Machine, RowD11HostUpload) {
  uint64_t bytes = 1 << 20;
  EXPECT_EQ((bytes + machine::pcieBytes - 1) / machine::pcieBytes, 34953u);
}

TEST(Machine, FactsAreNamedAndSourced) {
  llvm::StringSet<> names;
  for (const MachineFact &fact : machineFacts()) {
    EXPECT_TRUE(names.insert(fact.name).second) << fact.name.str();
    EXPECT_FALSE(fact.unit.empty()) << fact.name.str();
    EXPECT_FALSE(fact.source.empty()) << fact.name.str();
    // What we inferred or chose is never passed off as known.
    bool guess = fact.source.contains("inferred") ||
                 fact.source.contains("own") ||
                 fact.source.contains("outdated");
    if (fact.source.contains("stated as"))
      continue;
    EXPECT_EQ(guess && !fact.source.contains("known"), fact.assumed)
        << fact.name.str();
  }
  const MachineFact *fact = findMachineFact("firstDMACycle");
  ASSERT_NE(fact, nullptr);
  EXPECT_EQ(fact->value, 1003u);
  EXPECT_EQ(findMachineFact("noSuchFact"), nullptr);
}

TEST(Machine, Prints) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printMachine(os);
  EXPECT_NE(text.find("= 524288 bytes  (MM 1.3, stated)"), std::string::npos);
  EXPECT_NE(text.find("= 0xc000000000  (EN 1, declared)"), std::string::npos);
  EXPECT_NE(text.find(" of them assumed\n"), std::string::npos);
}

TEST(Machine, Releases) {
  EXPECT_EQ(parseRelease("0.3"), Release::R0_3);
  EXPECT_EQ(parseRelease("0.7"), std::nullopt);
  EXPECT_EQ(parseRelease(""), std::nullopt);
  EXPECT_LT(Release::R0_2, Release::R0_6);
  for (llvm::StringRef text : {"0.2", "0.3", "0.4", "0.5", "0.6"})
    EXPECT_EQ(toString(*parseRelease(text)), text);
}

TEST(Machine, DeviceConfigurations) {
  EXPECT_EQ(slicesPerClusterFor(1), 64u);
  EXPECT_EQ(slicesPerClusterFor(2), 128u);
  EXPECT_EQ(slicesPerClusterFor(4), 256u);
  EXPECT_EQ(slicesPerClusterFor(8), 256u);
  EXPECT_EQ(slicesPerClusterFor(3), std::nullopt);
  EXPECT_EQ(clustersFor(4), 1u);
  EXPECT_EQ(clustersFor(8), 2u);
  EXPECT_EQ(clustersFor(16), std::nullopt);
}

/// One character per combination: rows are types, columns the releases 0.2 to
/// 0.6 with Flit1 and Flit2. '+' accepted, '-' refused.
TEST(Machine, FeedBufferTable) {
  struct Row {
    FeedType type;
    const char *flit1, *flit2;
  };
  const Row rows[] = {
      {FeedType::RawInt4, "----+", "----+"},
      {FeedType::RawInt5, "----+", "----+"},
      {FeedType::RawInt8, "+++++", "--+++"},
      {FeedType::RawInt9, "--+++", "--+++"},
      {FeedType::RawF8E4M3, "+++++", "+++++"},
      {FeedType::RawF8E5M2, "--+++", "--+++"},
      {FeedType::RawBF16, "+++++", "+++++"},
      {FeedType::RawInt16, "-----", "-----"},
      {FeedType::RawInt32, "-----", "-----"},
      {FeedType::RawUInt8, "-----", "-----"},
      {FeedType::RawF32, "-----", "-----"},
      {FeedType::RawF4E2M1, "-----", "-----"},
  };
  ASSERT_EQ(std::size(rows), numFeedTypes);
  for (const Row &row : rows)
    for (unsigned r = 0; r < numReleases; ++r)
      for (unsigned flits : {1u, 2u}) {
        auto release = static_cast<Release>(r);
        FeedBufferVerdict verdict = feedBufferVerdict(release, row.type, flits);
        EXPECT_EQ(verdict.accepted ? '+' : '-',
                  (flits == 1 ? row.flit1 : row.flit2)[r])
            << toString(row.type).str() << ' ' << toString(release).str()
            << " Flit" << flits;
        EXPECT_FALSE(verdict.reason.empty());
        EXPECT_NE(verdict.reason, "nothing is known of this combination");
      }
  EXPECT_FALSE(feedBufferVerdict(Release::R0_6, FeedType::RawInt8, 0).accepted);
  EXPECT_FALSE(feedBufferVerdict(Release::R0_6, FeedType::RawInt8, 3).accepted);
  // The reported refusal is a fact, the rest of that release is not.
  EXPECT_FALSE(feedBufferVerdict(Release::R0_3, FeedType::RawInt8, 2).assumed);
  EXPECT_TRUE(feedBufferVerdict(Release::R0_3, FeedType::RawInt8, 1).assumed);
}

TEST(Machine, FeedBufferMessages) {
  EXPECT_EQ(describeFeedBuffer(Release::R0_3, FeedType::RawInt8),
            "release 0.3 accepts RawInt8 with Flit1; RawInt8 with Flit2 from "
            "release 0.4 on");
  EXPECT_EQ(describeFeedBuffer(Release::R0_4, FeedType::RawInt8),
            "release 0.4 accepts RawInt8 with Flit1 and Flit2");
  EXPECT_EQ(describeFeedBuffer(Release::R0_4, FeedType::RawInt4),
            "release 0.4 does not accept RawInt4; RawInt4 with Flit1 and Flit2 "
            "from release 0.6 on");
  EXPECT_EQ(describeFeedBuffer(Release::R0_3, FeedType::RawInt16),
            "release 0.3 does not accept RawInt16, and no later release does; "
            "it accepts RawInt8, RawF8E4M3, RawBF16");
  EXPECT_EQ(parseFeedType("RawF4E2M1"), FeedType::RawF4E2M1);
  EXPECT_EQ(parseFeedType("RawInt7"), std::nullopt);
}

} // namespace
