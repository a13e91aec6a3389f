//===- SimulatorTest.cpp - Programs, DMA, fetch, vector, commit -----------===//

#include "SimulatorContractions.h"
#include "SimulatorPipelines.h"

#include "llvm/Support/raw_ostream.h"

using namespace furiosa;
using namespace furiosa::rngd;
using namespace furiosa::rngd::test;
using K = KernelBuilder;

namespace {

int32_t word(const OperandBuffer &buffer, size_t index) {
  int32_t value;
  std::memcpy(&value, buffer.bytes.data() + 4 * index, 4);
  return value;
}

/// Runs and compares each 32-bit word of operand 1.
template <typename Function>
void expectWords(const Pipeline &pipeline, Function expected) {
  edf::Kernel kernel = pipeline.build();
  std::vector<OperandBuffer> operands = operandsFor(kernel, 20);
  ASSERT_EQ(run(kernel, operands), "");
  EXPECT_EQ(operands[1].undefinedBytes(), 0u);
  for (size_t k = 0; k < operands[1].bytes.size() / 4; ++k)
    ASSERT_EQ(word(operands[1], k), expected(operands, k)) << "word " << k;
}

std::string errorOf(const Pipeline &pipeline) {
  edf::Kernel kernel = pipeline.build();
  std::vector<OperandBuffer> operands = operandsFor(kernel, 20);
  return run(kernel, operands);
}

//===----------------------------------------------------------------------===//
// Fetch, commit, vector engine
//===----------------------------------------------------------------------===//

TEST(Simulator, Copy) {
  expectWords({},
              [](auto &operands, size_t k) { return word(operands[0], k); });
}

TEST(Simulator, TransposingCopy) {
  Pipeline p;
  // Reads of 8 bytes, a packet of 16: elements 0, 2, 1, 3.
  p.fetch = mainFetch(0, {{2, 16}, {2, 8}}, 8, 2, 2);
  p.commit = mainCommit(0x100, {{2, 16}}, 16);
  expectWords(p, [](auto &operands, size_t k) {
    size_t pair = k / 2 % 4;
    return word(operands[0], k / 8 * 8 + (pair % 2 * 2 + pair / 2) * 2 + k % 2);
  });
}

TEST(Simulator, FetchCast) {
  Pipeline p;
  p.inBytes = 8;
  p.fetch = mainFetch(0, {}, 8, 4, 1).set("type_conversion", 2);
  expectWords(p, [](auto &operands, size_t k) {
    return int32_t(int8_t(operands[0].bytes[k]));
  });
}

TEST(Simulator, PacketsBelowAFlitArePaddedWithUndefinedBytes) {
  Pipeline p;
  p.fetch = mainFetch(0, {{4, 8}}, 8, 1, 4);
  p.commit = mainCommit(0x100, {{4, 32}}, 32);
  p.outBytes = 128;
  edf::Kernel kernel = p.build();
  std::vector<OperandBuffer> operands = operandsFor(kernel, 21);
  ASSERT_EQ(run(kernel, operands), "");
  EXPECT_EQ(operands[1].undefinedBytes(), 64u * 4 * 24);
  EXPECT_EQ(word(operands[1], 8), word(operands[0], 2));
}

TEST(Simulator, VectorAddImmediate) {
  Pipeline p;
  p.route = 0x0A;
  p.units = {vectorRoute(0, true), Image(Block::VectorReduceUnitMainContext),
             fxp("fxp_add", 1, 0, 0x12345678)};
  expectWords(p, [](auto &operands, size_t k) {
    return int32_t(uint32_t(word(operands[0], k)) + 0x12345678u);
  });
}

TEST(Simulator, VectorSubSaturatedOperandFirst) {
  Pipeline p;
  p.route = 0x0A;
  p.units = {vectorRoute(0, true), Image(Block::VectorReduceUnitMainContext),
             fxp("fxp_add", 1, 3, 0x50000000, 2)};
  expectWords(p, [](auto &operands, size_t k) {
    int64_t value = int64_t(0x50000000) - word(operands[0], k);
    return int32_t(std::clamp<int64_t>(value, INT32_MIN, INT32_MAX));
  });
}

TEST(Simulator, VectorMulIntWithRegisterFile) {
  Pipeline p;
  p.route = 0x0A;
  p.loadsVrf = true;
  p.units = {vectorRoute(0, true), Image(Block::VectorReduceUnitMainContext),
             multiplyByVrf(1, {{2, 16}, {4, 4}})};
  // The operand is read in the order 0 4 1 5 2 6 3 7.
  expectWords(p, [](auto &operands, size_t k) {
    size_t at = k % 8 / 2 + k % 2 * 4;
    return int32_t(uint32_t(word(operands[0], k)) *
                   uint32_t(word(operands[2], k / 8 * 8 + at)));
  });
}

TEST(Simulator, VectorChain) {
  Pipeline p;
  p.route = 0x0A;
  // Logic, then mul before add in the fxp cluster, then clip.
  p.units = {vectorRoute(0, true), Image(Block::VectorReduceUnitMainContext),
             fxp("fxp_add", 1, 0, 1000)
                 .set("fxp_add_source", 3)
                 .set("fxp_mul.op_mode", 1)
                 .set("fxp_mul.arg_mode", 1)
                 .set("fxp_mul.reg0_cmp_op", 3)
                 .set("fxp_mul.scalar", 7)
                 .set("logic_cluster_source", 1)
                 .set("logic_and.arg_mode", 1)
                 .set("logic_and.reg0_cmp_op", 3)
                 .set("logic_and.scalar", 0xFFFF)
                 .set("clip_cluster_source", 3)
                 .set("clip_min.arg_mode", 1)
                 .set("clip_min.reg0_cmp_op", 3)
                 .set("clip_min.scalar", 200000)};
  expectWords(p, [](auto &operands, size_t k) {
    return std::min((word(operands[0], k) & 0xFFFF) * 7 + 1000, 200000);
  });
}

TEST(Simulator, CastToBF16) {
  Pipeline p;
  p.route = 0x0A;
  p.units = {vectorRoute(6), Image(Block::VectorReduceUnitMainContext),
             Image(Block::VectorArithmeticUnitMainContext)};
  p.commit = mainCommit(0x100, {}, 16);
  p.outBytes = 16;
  edf::Kernel kernel = p.build();
  std::vector<OperandBuffer> operands = operandsFor(kernel, 22);
  // 1 + 2^-8 is a tie, rounded to even; a NaN; a subnormal.
  uint32_t special[3] = {0x3F808000, 0xFFC12345, 0x80000123};
  std::memcpy(operands[0].bytes.data(), special, sizeof(special));
  ASSERT_EQ(run(kernel, operands), "");
  EXPECT_EQ(operands[1].undefinedBytes(), 0u);
  uint16_t codes[3];
  std::memcpy(codes, operands[1].bytes.data(), sizeof(codes));
  EXPECT_EQ(codes[0], 0x3F80);
  EXPECT_EQ(codes[1], 0x7FC0);
  EXPECT_EQ(codes[2], 0x8000);
}

TEST(Simulator, SubCopy) {
  K b;
  unsigned in = b.operand("in", edf::Role::Input, 64 * 64);
  unsigned out = b.operand("out", edf::Role::Output, 64 * 64);
  b.dma(0, 64, K::hbm(in, 0, {eachSlice(64)}), K::dm(0, {acrossSlices}));
  b.waitTag(0);
  Image commit(Block::SubCommitUnit);
  commit.set("packet_valid_count", 16)
      .set("base", 0x400)
      .set("commit_in_size", 8)
      .loops("limits", "strides", {{8, 8}});
  for (unsigned k = 0; k < 4; ++k)
    commit.set("slice_enable_bitmap_mask" + std::to_string(k), ~0ull);
  b.exec(ExecTarget::Sub, codes::routeDmCopy,
         {subFetch(0, {{8, 8}}, 2, 4), commit});
  b.wait(ExecTarget::Sub);
  b.dma(0, 64, K::dm(0x400, {acrossSlices}), K::hbm(out, 0, {eachSlice(64)}));
  edf::Kernel kernel = b.take();
  std::vector<OperandBuffer> operands = operandsFor(kernel, 23);
  ASSERT_EQ(run(kernel, operands), "");
  EXPECT_EQ(operands[0].bytes, operands[1].bytes);
}

//===----------------------------------------------------------------------===//
// Programs and time
//===----------------------------------------------------------------------===//

/// Copies `in` to `out` in tiles, with a loop around; an inner loop moves the
/// words to and fro to see that they come back.
TEST(Simulator, LoopsUndoTheirAdditions) {
  K b;
  unsigned in = b.operand("in", edf::Role::Input, 3 * 4096);
  unsigned out = b.operand("out", edf::Role::Output, 3 * 4096);
  for (unsigned repeat = 0; repeat < 2; ++repeat) {
    b.add(edf::Instruction::loop(3));
    uint32_t load =
        b.dma(1, 64, K::hbm(in, 0, {eachSlice(64)}), K::dm(0, {acrossSlices}));
    b.waitTag(1);
    uint32_t store =
        b.dma(2, 64, K::dm(0, {acrossSlices}), K::hbm(out, 0, {eachSlice(64)}));
    b.waitTag(2);
    b.add(edf::Instruction::loop(5));
    b.add(edf::Instruction::add(load + DmaDescriptor::sourceOffset, -77));
    b.add(edf::Instruction::endLoop());
    b.add(edf::Instruction::add(load + DmaDescriptor::sourceOffset, 4096));
    b.add(
        edf::Instruction::add(store + DmaDescriptor::destinationOffset, 4096));
    b.add(edf::Instruction::endLoop());
  }
  edf::Kernel kernel = b.take();
  std::vector<OperandBuffer> operands = operandsFor(kernel, 24);
  ASSERT_EQ(run(kernel, operands), "");
  EXPECT_EQ(operands[0].bytes, operands[1].bytes);

  SimulationOptions options;
  options.maxInstructions = 50;
  EXPECT_NE(run(kernel, operands, options).find("more than 50 instructions"),
            std::string::npos);
  options = {};
  options.maxSteps = 1000;
  EXPECT_NE(run(kernel, operands, options).find("beyond 1000 steps"),
            std::string::npos);
}

TEST(Simulator, EachMissingWaitShows) {
  Pipeline p;
  p.route = 0x0A;
  p.loadsVrf = true;
  p.units = {vectorRoute(0, true), Image(Block::VectorReduceUnitMainContext),
             multiplyByVrf(0, {{8, 4}})};
  // Whenever the effects happen, and whether or not the results suffer.
  for (int missing = -1; missing < 4; ++missing) {
    p.missingWait = missing;
    edf::Kernel kernel = p.build();
    for (auto timing :
         {SimulationOptions::Timing::Late, SimulationOptions::Timing::Early}) {
      std::vector<OperandBuffer> operands = operandsFor(kernel, 25);
      SimulationOptions options;
      options.timing = timing;
      std::string text = run(kernel, operands, options);
      EXPECT_EQ(text.find("one of them writing; a wait is missing (MM-39)") !=
                    std::string::npos,
                missing >= 0)
          << missing << ' ' << text;
      EXPECT_EQ(text.empty(), missing < 0) << text;
    }
  }
}

TEST(Simulator, BusyUnitsAreRefused) {
  K b;
  unsigned in = b.operand("in", edf::Role::Input, 4096);
  b.dma(1, 64, K::hbm(in, 0, {eachSlice(64)}), K::dm(0, {acrossSlices}));
  b.dma(1, 64, K::hbm(in, 0, {eachSlice(64)}), K::dm(64, {acrossSlices}));
  edf::Kernel kernel = b.take();
  std::vector<OperandBuffer> operands = operandsFor(kernel, 26);
  EXPECT_EQ(run(kernel, operands),
            "cluster 0 PE 0: command 9: dmaw: tag 1 is still in use by command "
            "4; a wait is missing");

  K c;
  auto copy = [&] {
    c.exec(ExecTarget::Main, 0x08,
           {mainFetch(0, {}, 32, 4, 1), mainCommit(0x100, {}, 32)});
  };
  copy();
  copy();
  kernel = c.take();
  operands.clear();
  EXPECT_EQ(run(kernel, operands),
            "cluster 0 PE 0: command 8: mtosfr: writes FetchUnitMainContext "
            "while the main context runs");

  K d;
  d.waitTag(9);
  kernel = d.take();
  EXPECT_NE(run(kernel, operands).find("no DMA with tag 9 was started"),
            std::string::npos);
}

TEST(Simulator, PEsMustNotDependOnOneAnother) {
  K b;
  unsigned in = b.operand("in", edf::Role::Input, 4096);
  unsigned out = b.operand("out", edf::Role::Output, 4096);
  b.dma(1, 64, K::hbm(in, 0, {eachSlice(64)}), K::dm(0, {acrossSlices}));
  b.waitTag(1);
  b.dma(1, 64, K::dm(0, {acrossSlices}), K::hbm(out, 0, {eachSlice(64)}));
  b.waitTag(1);
  b.setMask(2);
  b.dma(1, 64, K::hbm(out, 0, {eachSlice(64)}), K::dm(0, {acrossSlices}));
  edf::Kernel kernel = b.take();
  std::vector<OperandBuffer> operands = operandsFor(kernel, 27);
  EXPECT_NE(run(kernel, operands).find("that another PE uses too"),
            std::string::npos);
}

TEST(Simulator, BarriersOrderPEs) {
  for (bool isEarly : {false, true}) {
    K b;
    unsigned out = b.operand("out", edf::Role::Output, 4096);
    unsigned again = b.operand("again", edf::Role::Output, 4096);
    b.setMask(3);
    b.fill(0, 64, 0x04030201);
    b.waitSub();
    b.setMask(1);
    b.dma(1, 64, K::dm(0, {acrossSlices}), K::hbm(out, 0, {eachSlice(64)}));
    b.waitTag(1);
    b.barrier();
    b.setMask(2);
    b.dma(1, 64, K::hbm(out, 0, {eachSlice(64)}), K::dm(64, {acrossSlices}));
    b.waitTag(1);
    b.dma(1, 64, K::dm(64, {acrossSlices}), K::hbm(again, 0, {eachSlice(64)}));
    b.waitTag(1);
    edf::Kernel kernel = b.take();
    std::vector<OperandBuffer> operands = operandsFor(kernel, 27);
    SimulationOptions options;
    if (isEarly)
      options.timing = SimulationOptions::Timing::Early;
    auto result = simulate(kernel, operands, options);
    ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
    for (unsigned i = 0; i < 4096; ++i)
      ASSERT_EQ(operands[1].bytes[i], i % 4 + 1) << i;
    EXPECT_EQ(operands[1].undefinedBytes(), 0u);
  }
}

TEST(Simulator, BarriersNeedWaits) {
  K b;
  b.fill(0, 64, 1);
  b.barrier();
  b.waitSub();
  edf::Kernel kernel = b.take();
  std::vector<OperandBuffer> operands;
  EXPECT_NE(run(kernel, operands).find("work is still under way"),
            std::string::npos);

  K c;
  c.fill(64, 64, 1);
  kernel = c.take();
  EXPECT_NE(run(kernel, operands).find("are none of the data memory"),
            std::string::npos);
}

TEST(Simulator, DmaStaysInside) {
  for (auto [offset, dmOffset, error] :
       {std::tuple(64, 0, "is not inside an operand"),
        {-1, 0, "is not inside an operand"},
        {0, 0x7FFF0, "which has 524288"}}) {
    K b;
    unsigned in = b.operand("in", edf::Role::Input, 4096);
    b.operand("next", edf::Role::Input, 4096);
    b.dma(1, 64, K::hbm(in, offset, {eachSlice(64)}),
          K::dm(dmOffset, {acrossSlices}));
    edf::Kernel kernel = b.take();
    std::vector<OperandBuffer> operands = operandsFor(kernel, 28);
    std::string found = run(kernel, operands);
    EXPECT_NE(found.find(error), std::string::npos) << found;
  }
  K b;
  unsigned in = b.operand("in", edf::Role::Input, 4096);
  b.dma(1, 64, K::dm(0, {acrossSlices}), K::hbm(in, 0, {eachSlice(64)}));
  edf::Kernel kernel = b.take();
  std::vector<OperandBuffer> operands = operandsFor(kernel, 29);
  EXPECT_NE(run(kernel, operands).find("which is an input"), std::string::npos);
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

TEST(Simulator, ErrorsNameRegisterAndField) {
  Pipeline p;
  p.fetch.set("zero_point", 3, 1);
  EXPECT_EQ(errorOf(p),
            "cluster 0 PE 0: command 12: FetchUnitMainContext.fetch_mode."
            "zero_point[1]: field is unused in this mode and must be 0, found "
            "3");
  p = {};
  p.fetch.set("topology", 2);
  EXPECT_EQ(errorOf(p),
            "cluster 0 PE 0: command 12: FetchUnitMainContext.topology."
            "outer_slice_log_size: the parts of the slices multiply to 2^0, a "
            "cluster has 64, 128 or 256");
  p = {};
  p.commit.set("commit_size", 20);
  EXPECT_EQ(errorOf(p), "cluster 0 PE 0: command 12: CommitUnitMainContext."
                        "base.commit_size: must be 8, 16, 24 or 32, found 20 "
                        "(TU-73)");
  p = {};
  p.commit = mainCommit(0x7FFF0, {}, 32);
  EXPECT_NE(errorOf(p).find("CommitUnitMainContext.base.base: the loops reach "
                            "byte 524303 of the slice, which has 524288"),
            std::string::npos);
  p = {};
  p.fetch = mainFetch(0, {{2, 0}}, 32, 4, 2);
  p.commit = mainCommit(0x100, {{2, 0}}, 32);
  EXPECT_NE(errorOf(p).find("written more than once (TU-77)"),
            std::string::npos);
  p = {};
  p.route = 0x0A;
  EXPECT_NE(errorOf(p).find("VectorRouteUnitMainContext is on the route but "
                            "was never written"),
            std::string::npos);
  p = {};
  p.units = {vectorRoute()};
  EXPECT_NE(errorOf(p).find("VectorRouteUnitMainContext was written by command "
                            "9, but is not on the route 0x8"),
            std::string::npos);
  p = {};
  p.route = 0x0A;
  p.units = {vectorRoute(0, true), Image(Block::VectorReduceUnitMainContext),
             fxp("fxp_left_shift", 2, 0, 32)};
  EXPECT_NE(errorOf(p).find("VectorArithmeticUnitMainContext.fxp_left_shift_"
                            "data0.fxp_left_shift.scalar[0]: shift amount"),
            std::string::npos);
}

TEST(Simulator, ZeroedInformationChangesNothing) {
  Contraction shape;
  edf::Kernel kernel = shape.build();
  kernel.names.kernel = "m::f";
  kernel.schedule.makespan = 7;
  std::vector<OperandBuffer> operands = shape.makeOperands(30);
  auto file = edf::write(kernel);
  ASSERT_TRUE(static_cast<bool>(file));
  auto reader = edf::Reader::open(*file);
  ASSERT_TRUE(static_cast<bool>(reader));
  std::string text;
  llvm::raw_string_ostream trace(text);
  SimulationOptions options;
  options.trace = &trace;
  auto result = simulate(*reader, operands, options);
  ASSERT_TRUE(static_cast<bool>(result));
  EXPECT_EQ(operands[2].bytes, shape.expected(operands).bytes);
  EXPECT_EQ(result->undefinedBytes, (std::vector<uint64_t>{0, 0, 0}));
  EXPECT_EQ(result->multiplications, 64u * 4 * 4 * 8 * 64);
  EXPECT_NE(text.find("exec"), std::string::npos);
}

} // namespace
