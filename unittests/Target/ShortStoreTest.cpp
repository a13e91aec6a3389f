//===- ShortStoreTest.cpp - stotrf and stovrf -----------------------------===//
//
// What the commands stand for, what they refuse, and which execs have one.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Target/RNGD/ExecConfig.h"

#include "gtest/gtest.h"

#include <initializer_list>

using namespace furiosa;
using namespace furiosa::rngd;

namespace {

using Fields = std::initializer_list<std::pair<llvm::StringRef, uint64_t>>;

TucCommand makeCommand(TucOp op, Fields fields) {
  TucCommand command(op);
  for (auto [field, value] : fields)
    EXPECT_EQ(command.set(field, value), std::nullopt) << field.str();
  return command;
}

/// 4 KB from byte 64 on into all 8 lanes, 16 rows each from row 2 on.
TucCommand trfStore(Fields changes = {}) {
  TucCommand command =
      makeCommand(TucOp::StoTrf, {{"fetch_base", 64},
                                  {"fetch_limit", 512},
                                  {"flits_per_packet", 2},
                                  {"write_row_base", 2},
                                  {"write_row_count", 16},
                                  {"write_mac_row", 8},
                                  {"flits_per_period", 1},
                                  {"valid_flits_per_period", 1}});
  for (auto [field, value] : changes)
    EXPECT_EQ(command.set(field, value), std::nullopt) << field.str();
  return command;
}

/// 64 bytes as two rows from row 4 on.
TucCommand vrfStore(Fields changes = {}) {
  TucCommand command = makeCommand(TucOp::StoVrf, {{"fetch_base", 8},
                                                   {"fetch_limit", 8},
                                                   {"words_per_packet", 4},
                                                   {"write_row_base", 4},
                                                   {"write_row_count", 2},
                                                   {"write_row_stride", 1}});
  for (auto [field, value] : changes)
    EXPECT_EQ(command.set(field, value), std::nullopt) << field.str();
  return command;
}

ExecConfig decode(const TucCommand &command) {
  auto config = decodeShortStore(command);
  EXPECT_TRUE(bool(config));
  return config ? *config : ExecConfig();
}

std::string refusal(const TucCommand &command) {
  auto config = decodeShortStore(command);
  return config ? "" : llvm::toString(config.takeError());
}

/// Whether all operands of two commands agree.
bool isSame(const TucCommand &lhs, const TucCommand &rhs) {
  bool same = lhs.op() == rhs.op();
  for (unsigned k = 0; same && k < lhs.numOperands(); ++k)
    same = lhs.operand(k) == rhs.operand(k);
  return same;
}

TEST(ShortStore, Trf) {
  ExecConfig config = decode(trfStore());
  EXPECT_EQ(config.context, codes::ExecTarget::Sub);
  EXPECT_EQ(config.route, codes::routeTrfLoad);
  EXPECT_EQ(config.fetch.base, 64u);
  EXPECT_EQ(config.fetch.reads, 512u);
  EXPECT_EQ(config.fetch.loops[0], (HardwareLoop{512, 8}));
  EXPECT_EQ(config.fetch.packets, 64u);
  EXPECT_EQ(config.fetch.flits, 128u);
  ASSERT_TRUE(config.trf.has_value());
  EXPECT_EQ(config.trf->lanes, 8u);
  EXPECT_EQ(config.trf->rowBase, 2u);
  EXPECT_EQ(config.trf->rowsPerLane, 16u);
  auto again = encodeShortStore(config);
  ASSERT_TRUE(again.has_value());
  EXPECT_TRUE(isSame(*again, trfStore()));
}

TEST(ShortStore, TrfWithZeroPoint) {
  TucCommand command = trfStore({{"type_conversion", 9}, {"zeropoint", 0xFD}});
  ExecConfig config = decode(command);
  EXPECT_TRUE(config.fetch.subtractsZeroPoint());
  EXPECT_EQ(config.fetch.zeroPoint, -3);
  auto again = encodeShortStore(config);
  ASSERT_TRUE(again.has_value());
  EXPECT_TRUE(isSame(*again, command));
}

TEST(ShortStore, VrfWithCast) {
  // bf16 to f32: a word becomes half a flit.
  TucCommand command = vrfStore({{"type_conversion", 6}, {"fetch_limit", 4}});
  ExecConfig config = decode(command);
  EXPECT_EQ(config.route, codes::routeVrfLoad);
  EXPECT_EQ(config.fetch.outBytes, 16u);
  ASSERT_TRUE(config.vrf.has_value());
  EXPECT_EQ(config.vrf->rowBase, 4u);
  EXPECT_EQ(config.vrf->rows, 2u);
  auto again = encodeShortStore(config);
  ASSERT_TRUE(again.has_value());
  EXPECT_TRUE(isSame(*again, command));
}

TEST(ShortStore, OneWord) {
  TucCommand command = vrfStore(
      {{"fetch_limit", 1}, {"words_per_packet", 1}, {"write_row_count", 1}});
  ExecConfig config = decode(command);
  EXPECT_EQ(config.fetch.loops[0], (HardwareLoop{1, 0}));
  auto again = encodeShortStore(config);
  ASSERT_TRUE(again.has_value());
  EXPECT_TRUE(isSame(*again, command));
}

/// 48 words from byte 64 on to byte 1024 on.
TucCommand copy(Fields changes = {}) {
  TucCommand command = makeCommand(TucOp::StoS, {{"address_begin", 64},
                                                 {"address_end", 448},
                                                 {"destination_begin", 1024},
                                                 {"words_per_packet", 1}});
  for (auto [field, value] : changes)
    EXPECT_EQ(command.set(field, value), std::nullopt) << field.str();
  return command;
}

TEST(ShortStore, Copy) {
  ExecConfig config = decode(copy());
  EXPECT_EQ(config.context, codes::ExecTarget::Sub);
  EXPECT_EQ(config.route, codes::routeDmCopy);
  EXPECT_EQ(config.fetch.base, 64u);
  EXPECT_EQ(config.fetch.loops[0], (HardwareLoop{48, 8}));
  EXPECT_EQ(config.fetch.flits, 48u);
  ASSERT_TRUE(config.commit.has_value());
  EXPECT_EQ(config.commit->base, 1024u);
  EXPECT_EQ(config.commit->loops[0], (HardwareLoop{48, 8}));
  EXPECT_EQ(config.commit->keptBytes, 8u);
  EXPECT_TRUE(config.commit->isEnabled(0));
  EXPECT_TRUE(config.commit->isEnabled(255));
  auto again = encodeShortStore(config);
  ASSERT_TRUE(again.has_value());
  EXPECT_TRUE(isSame(*again, copy()));
  // What writes some slices only, or other than words in a row, is no copy.
  ExecConfig other = config;
  other.commit->sliceEnable[3] >>= 1;
  EXPECT_FALSE(encodeShortStore(other).has_value());
  other = config;
  other.commit->loops[0].stride = 16;
  EXPECT_FALSE(encodeShortStore(other).has_value());
  other = config;
  other.fetch.packetBytes = 16;
  EXPECT_FALSE(encodeShortStore(other).has_value());
}

TEST(ShortStore, CopyRefusals) {
  auto expectIn = [](const std::string &text, const TucCommand &command) {
    std::string message = refusal(command);
    EXPECT_NE(message.find(text), std::string::npos) << message;
  };
  expectIn("stos: address_end: 1 to 65536 words of 8 bytes are copied, found "
           "bytes 64 to 64",
           copy({{"address_end", 64}}));
  expectIn("found bytes 64 to 68", copy({{"address_end", 68}}));
  expectIn("found bytes 64 to 32", copy({{"address_end", 32}}));
  expectIn("stos: words_per_packet: not yet supported: value 2",
           copy({{"words_per_packet", 2}}));
  expectIn("stos: dim1_log_size: not yet supported: value 1",
           copy({{"dim1_log_size", 1}}));
  expectIn("stos: SubCommitUnit.base.base",
           copy({{"destination_begin", 524288 - 8}}));
  expectIn("stos: ", copy({{"destination_begin", 1 << 25}}));
}

TEST(ShortStore, Refusals) {
  auto expectIn = [](const std::string &text, const TucCommand &command) {
    std::string message = refusal(command);
    EXPECT_NE(message.find(text), std::string::npos) << message;
  };
  for (const char *field :
       {"topology", "slice_log_size", "dim0_log_size", "dim1_log_size",
        "skip_flit_count", "write_mode", "dim0_chunk_size"})
    expectIn("stotrf: " + std::string(field) + ": not yet supported: value 1",
             trfStore({{field, 1}}));
  for (const char *field : {"topology", "slice_log_size", "dim0_log_size",
                            "dim1_log_size", "skip_flit_count"})
    expectIn("stovrf: " + std::string(field) + ": not yet supported: value 1",
             vrfStore({{field, 1}}));
  expectIn("stotrf: fetch_limit: a count must be 1 to 65536, found 0",
           trfStore({{"fetch_limit", 0}}));
  expectIn("stotrf: fetch_limit: a count must be 1 to 65536, found 65537",
           trfStore({{"fetch_limit", 65537}}));
  expectIn("stotrf: SubFetchUnit.fetch.words_per_packet: must not be 0",
           trfStore({{"flits_per_packet", 0}}));
  expectIn("stotrf: DotProductEngineRegisterFile.write.mac_rows: must be 1, 2, "
           "4 or 8, found 3",
           trfStore({{"write_mac_row", 3}, {"fetch_limit", 192}}));
  // Words that make no such number of flits.
  expectIn("stotrf: SubFetchUnit.fetch.", trfStore({{"fetch_limit", 511}}));
  expectIn("stotrf: DotProductEngineRegisterFile.write.flits_per_period",
           trfStore({{"flits_per_period", 2}}));
  expectIn("stotrf: DotProductEngineRegisterFile.write.valid_flits_per_period",
           trfStore({{"valid_flits_per_period", 0}}));
  // Rows 241 to 256 of 256.
  expectIn("stotrf: DotProductEngineRegisterFile.write.row_base: rows up to "
           "256 of a lane that has 256",
           trfStore({{"write_row_base", 241}}));
  expectIn("stotrf: SubFetchUnit.base.base: the loops reach byte",
           trfStore({{"fetch_base", 524288 - 4088}}));
  expectIn("stotrf: SubFetchUnit.zeropoint.type_conversion: not yet supported",
           trfStore({{"type_conversion", 15}}));
  // A zero point without its conversion.
  expectIn("stotrf: SubFetchUnit.zeropoint.zero_point",
           trfStore({{"zeropoint", 3}}));
  expectIn("stovrf: VectorRegisterFile.write.row_stride: not yet supported",
           vrfStore({{"write_row_stride", 2}}));
  expectIn("stovrf: VectorRegisterFile.write.row_base: rows up to 256 of a "
           "register file that has 256",
           vrfStore({{"write_row_base", 255}}));
}

TEST(ShortStore, OnlyWordsInARow) {
  ExecConfig config = decode(trfStore());
  auto expectNone = [&](auto change) {
    ExecConfig other = config;
    change(other);
    EXPECT_FALSE(encodeShortStore(other).has_value());
  };
  expectNone([](ExecConfig &other) { other.fetch.loops[0].stride = 16; });
  expectNone([](ExecConfig &other) { other.fetch.loops[1] = {2, 0}; });
  expectNone([](ExecConfig &other) { other.fetch.exchange.emplace(); });
  expectNone(
      [](ExecConfig &other) { other.context = codes::ExecTarget::Main; });
  expectNone([](ExecConfig &other) { other.route = codes::routeDmCopy; });
  // Collect pads packets that are no whole flits.
  expectNone([](ExecConfig &other) { other.fetch.packetBytes = 40; });
  // 8 bits of flits_per_packet.
  expectNone([](ExecConfig &other) { other.fetch.packetBytes = 256 * 32; });
  // Loops that make one run.
  config.fetch.loops[0] = {8, 8};
  config.fetch.loops[1] = {1, 0};
  config.fetch.loops[2] = {64, 64};
  auto merged = encodeShortStore(config);
  ASSERT_TRUE(merged.has_value());
  EXPECT_TRUE(isSame(*merged, trfStore()));
}

} // namespace
