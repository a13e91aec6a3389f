//===- SimulatorRaceTest.cpp - Commands that no wait keeps apart ----------===//
//
// Each kernel is sound with all of its waits and refused without one of them,
// whatever the timing. Bytes beside one another are no conflict.
//
//===----------------------------------------------------------------------===//

#include "SimulatorContractions.h"
#include "SimulatorPipelines.h"

using namespace furiosa;
using namespace furiosa::rngd;
using namespace furiosa::rngd::test;
using K = KernelBuilder;
using Timing = SimulationOptions::Timing;

namespace {

/// The error, which is the same for every timing.
std::string faultOf(const edf::Kernel &kernel) {
  std::string first;
  for (Timing timing : {Timing::Late, Timing::Early, Timing::Random}) {
    SimulationOptions options;
    options.timing = timing;
    std::vector<OperandBuffer> operands = operandsFor(kernel, 3);
    std::string text = run(kernel, operands, options);
    // The place where it is noticed depends on the timing.
    text = text.substr(std::min(text.find("commands "), text.size()));
    if (timing == Timing::Late)
      first = text;
    EXPECT_EQ(text, first) << unsigned(timing);
  }
  return first;
}

/// Loads 32 bytes a slice of an operand to `address` of the data memory.
void load(K &b, unsigned tag, unsigned operand, uint32_t address) {
  b.dma(tag, 32, K::hbm(operand, 0, {eachSlice(32)}),
        K::dm(address, {acrossSlices}));
}

TEST(SimulatorRace, TwoTransfersToOnePlace) {
  auto build = [](uint32_t second, bool waits) {
    K b;
    unsigned in = b.operand("in", edf::Role::Input, 64 * 32);
    load(b, 1, in, 0x100);
    if (waits)
      b.waitTag(1);
    load(b, 2, in, second);
    return b.take();
  };
  EXPECT_EQ(faultOf(build(0x11f, false)),
            "commands 4 and 9 both use byte 287 of the data memory of slice 0, "
            "one of them writing; a wait is missing (MM-39)");
  EXPECT_EQ(faultOf(build(0x11f, true)), "");
  // Side by side.
  EXPECT_EQ(faultOf(build(0x120, false)), "");
  EXPECT_EQ(faultOf(build(0xe0, false)), "");
}

TEST(SimulatorRace, ExecBeforeItsInputIsThere) {
  for (int missing : {-1, 0}) {
    Pipeline p;
    p.missingWait = missing;
    EXPECT_EQ(faultOf(p.build()).substr(0, 40),
              missing < 0 ? "" : "commands 4 and 11 both use byte 0 of the");
  }
}

TEST(SimulatorRace, StoreBeforeTheResultIsThere) {
  Pipeline p;
  p.missingWait = 1;
  EXPECT_EQ(faultOf(p.build()),
            "commands 12 and 17 both use byte 256 of the data memory of slice "
            "0, one of them writing; a wait is missing (MM-39)");
}

TEST(SimulatorRace, SlicesThatDoNotCommit) {
  // Slice 0 only commits; the transfer touches the others.
  auto build = [](uint64_t enabled) {
    K b;
    unsigned in = b.operand("in", edf::Role::Input, 64 * 32);
    load(b, 1, in, 0);
    b.waitTag(1);
    Image commit = mainCommit(0x100, {}, 32);
    commit.set("slice_enable_bitmap_mask0", enabled);
    b.exec(ExecTarget::Main, 0x08, {mainFetch(0, {}, 32, 4, 1), commit});
    b.dma(2, 32, K::hbm(in, 0, {{32, 32}}),
          {-1, 0x100 + 0x400000, {{32, 0x400000}}});
    return b.take();
  };
  EXPECT_EQ(faultOf(build(1)), "");
  EXPECT_EQ(
      faultOf(build(3)).substr(0, 66),
      "commands 12 and 17 both use byte 256 of the data memory of slice 1");
}

TEST(SimulatorRace, RegisterFiles) {
  // A row of the vector register file is filled while an exec reads it.
  auto build = [](unsigned row) {
    K b;
    unsigned in = b.operand("in", edf::Role::Input, 64 * 32);
    unsigned out = b.operand("out", edf::Role::Output, 64 * 32);
    load(b, 1, in, 0);
    load(b, 2, in, 0x200);
    b.waitTag(1);
    b.waitTag(2);
    auto fill = [&](unsigned row) {
      b.exec(ExecTarget::Sub, codes::routeVrfLoad,
             {subFetch(0x200, {{4, 8}}, 4, 1), Image(Block::VectorRegisterFile)
                                                   .set("row_base", row)
                                                   .set("row_count", 1)
                                                   .set("row_stride", 1)});
    };
    fill(3);
    b.wait(ExecTarget::Sub);
    b.exec(ExecTarget::Main, 0x0A,
           {mainFetch(0, {}, 32, 4, 1), vectorRoute(0, true),
            Image(Block::VectorReduceUnitMainContext),
            multiplyByVrf(0, {{8, 4}}), mainCommit(0x100, {}, 32)});
    fill(row);
    b.wait(ExecTarget::Main);
    b.wait(ExecTarget::Sub);
    b.dma(3, 32, K::dm(0x100, {acrossSlices}), K::hbm(out, 0, {eachSlice(32)}));
    return b.take();
  };
  EXPECT_EQ(faultOf(build(4)), "");
  std::string text = faultOf(build(3));
  EXPECT_NE(text.find("both use byte 96 of the vector register files"),
            std::string::npos)
      << text;
}

TEST(SimulatorRace, FillsAndTransfers) {
  auto build = [](uint64_t end) {
    K b;
    unsigned in = b.operand("in", edf::Role::Input, 64 * 32);
    load(b, 1, in, 0x100);
    b.fill(0x80, end, 7);
    return b.take();
  };
  EXPECT_EQ(faultOf(build(0x100)), "");
  EXPECT_EQ(
      faultOf(build(0x108)).substr(0, 65),
      "commands 4 and 8 both use byte 256 of the data memory of slice 0,");
}

TEST(SimulatorRace, OneOperandByTwoTransfers) {
  auto build = [](int64_t second, edf::Role role) {
    K b;
    unsigned in = b.operand("in", edf::Role::Input, 64 * 32);
    unsigned out = b.operand("out", role, 64 * 64);
    load(b, 1, in, 0);
    b.waitTag(1);
    b.dma(1, 32, K::dm(0, {acrossSlices}), K::hbm(out, 0, {eachSlice(64)}));
    b.dma(2, 32, K::dm(0, {acrossSlices}),
          K::hbm(out, second, {eachSlice(64)}));
    return b.take();
  };
  // Every other 32 bytes.
  EXPECT_EQ(faultOf(build(32, edf::Role::Output)), "");
  EXPECT_EQ(faultOf(build(16, edf::Role::Output)),
            "commands 10 and 15 both use byte 16 of operand 'out', one of them "
            "writing; a wait is missing (MM-39)");
}

TEST(SimulatorRace, RoundsOfALoop) {
  // A command that is under way across the rounds of a loop.
  auto build = [](uint32_t address) {
    K b;
    unsigned in = b.operand("in", edf::Role::Input, 64 * 32);
    load(b, 1, in, 0x100);
    b.add(edf::Instruction::loop(100));
    load(b, 2, in, address);
    b.waitTag(2);
    b.add(edf::Instruction::endLoop());
    b.waitTag(1);
    return b.take();
  };
  EXPECT_EQ(faultOf(build(0x200)), "");
  EXPECT_NE(faultOf(build(0x110)).find("byte 272 of the data memory"),
            std::string::npos);
}

TEST(SimulatorRace, MemoryOfAnotherPE) {
  // PE 0 writes to PE 1, which reads with or without a barrier in between.
  auto build = [](bool meets) {
    K b(1);
    unsigned in = b.operand("in", edf::Role::Input, 64 * 32);
    unsigned out = b.operand("out", edf::Role::Output, 64 * 32);
    K::Side window{-1, 0, {acrossSlices}};
    window.offset = static_cast<int64_t>(remotePEAddress(0, 1) +
                                         dmAddress(0, 0x40) - dmAddress(0, 0));
    b.dma(1, 32, K::hbm(in, 0, {eachSlice(32)}), window);
    b.waitTag(1);
    if (meets)
      b.barrier();
    b.setMask(2);
    b.dma(1, 32, K::dm(0x40, {acrossSlices}), K::hbm(out, 0, {eachSlice(32)}));
    return b.take();
  };
  std::vector<OperandBuffer> operands = operandsFor(build(true), 3);
  EXPECT_EQ(run(build(true), operands), "");
  operands = operandsFor(build(false), 3);
  EXPECT_EQ(run(build(false), operands),
            "cluster 0 PE 0: command 4: byte 64 of the data memory of slice 0 "
            "of cluster 0 PE 1 is used by cluster 0 PE 1 too, one of them "
            "writing, in no defined order; a barrier is missing");
}

//===----------------------------------------------------------------------===//
// MM-40: accesses to one bank
//===----------------------------------------------------------------------===//

/// A copy of packets of 32 bytes 128 apart, so all in four banks, and a
/// transfer that touches other bytes.
edf::Kernel makeLong(uint32_t packets, uint32_t stride, bool execFirst,
                     bool waits) {
  K b;
  unsigned in = b.operand("in", edf::Role::Input, 64 * 32);
  b.fill(0, packets * stride + 32, 1);
  b.waitSub();
  auto exec = [&] {
    b.exec(ExecTarget::Main, 0x08,
           {mainFetch(0, {{packets, stride}}, 32, 4, packets),
            mainCommit(0x20000, {{packets, 32}}, 32)});
  };
  auto transfer = [&] { load(b, 1, in, 0x40000); };
  if (execFirst) {
    exec();
    if (waits)
      b.wait(ExecTarget::Main);
    transfer();
  } else {
    transfer();
    if (waits)
      b.waitTag(1);
    exec();
  }
  return b.take();
}

TEST(SimulatorRace, SixtyFourAccessesToABank) {
  for (bool execFirst : {false, true}) {
    std::vector<OperandBuffer> operands;
    auto fault = [&](uint32_t packets, uint32_t stride, bool waits) {
      edf::Kernel kernel = makeLong(packets, stride, execFirst, waits);
      operands = operandsFor(kernel, 4);
      return run(kernel, operands);
    };
    EXPECT_EQ(fault(63, 128, false), "");
    // Sixteen banks of eight bytes: the next packet is in the next four.
    EXPECT_EQ(fault(64, 32, false), "");
    EXPECT_EQ(fault(64, 128, true), "");
    std::string text = fault(64, 128, false);
    EXPECT_NE(text.find("hits one bank of the data memory 64 times in a row or "
                        "more; a wait is missing (MM-40)"),
              std::string::npos)
        << text;
  }
}

} // namespace
