//===- SimulatorContractionTest.cpp - Contractions in the simulator -------===//

#include "SimulatorContractions.h"

#include <ctime>

using namespace furiosa;
using namespace furiosa::rngd;
using namespace furiosa::rngd::test;

namespace {

/// Runs a contraction with both timings and both kinds of loops; each result is
/// that of the plain loops of the test.
void check(const Contraction &shape, uint64_t seed) {
  edf::Kernel kernel = shape.build();
  std::vector<OperandBuffer> inputs = shape.makeOperands(seed);
  OperandBuffer expected = shape.expected(inputs);
  for (bool plain : {false, true}) {
    for (bool late : {true, false}) {
      if (plain && !late)
        continue;
      SimulationOptions options;
      options.plainContraction = plain;
      options.timing = late ? SimulationOptions::Timing::Late
                            : SimulationOptions::Timing::Early;
      std::vector<OperandBuffer> operands = inputs;
      ASSERT_EQ(run(kernel, operands, options), "");
      EXPECT_EQ(operands[2].defined, expected.defined);
      EXPECT_EQ(operands[2].bytes, expected.bytes) << "plain " << plain;
    }
  }
}

TEST(Contraction, Int8) { check({}, 1); }

TEST(Contraction, BF16OverTimeInSlots) {
  Contraction shape;
  shape.type = ElementType::BF16;
  shape.depth = 5;
  shape.times = 3;
  check(shape, 2);
}

// Every type with every depth, lane count, order and read size.
TEST(Contraction, AllShapes) {
  uint64_t seed = 10;
  for (ElementType type :
       {ElementType::I4, ElementType::I8, ElementType::F8E4M3,
        ElementType::F8E5M2, ElementType::BF16})
    for (unsigned flits : {1u, 2u})
      for (bool interleaved : {true, false})
        for (unsigned depth = 0; depth < 8; ++depth) {
          Contraction shape;
          shape.type = type;
          shape.rows = 2;
          shape.outputs = 2;
          shape.times = 2;
          shape.flitsPerInput = flits;
          shape.depth = depth;
          shape.interleaved = interleaved;
          shape.lanes = 1u << seed % 4;
          shape.logRead = 3 + seed % (flits + 2);
          if (shape.columns() < 1 || shape.columns() > 32 ||
              (!interleaved && shape.lanes * 2 * 32 > 1024))
            continue;
          SCOPED_TRACE(testing::Message()
                       << toString(type).str() << " flits " << flits
                       << " depth " << depth << " lanes " << shape.lanes
                       << " read " << (1 << shape.logRead));
          check(shape, seed++);
        }
}

// NaN and infinity in every operand: the result is the canonical NaN.
TEST(Contraction, FloatSpecials) {
  Contraction shape;
  shape.type = ElementType::BF16;
  shape.depth = 5;
  edf::Kernel kernel = shape.build();
  std::vector<OperandBuffer> operands = shape.makeOperands(3);
  for (size_t k = 0; k + 1 < operands[0].bytes.size(); k += 14) {
    operands[0].bytes[k] = 0x81;
    operands[0].bytes[k + 1] = 0xFF;
  }
  OperandBuffer expected = shape.expected(operands);
  ASSERT_EQ(run(kernel, operands), "");
  EXPECT_EQ(operands[2].bytes, expected.bytes);
  uint32_t first;
  std::memcpy(&first, operands[2].bytes.data(), 4);
  EXPECT_EQ(first, 0x7FC00000u);
}

// Subnormal products and sums are kept, subnormal operands are zero.
TEST(Contraction, Subnormals) {
  Contraction shape;
  shape.type = ElementType::BF16;
  shape.depth = 5;
  edf::Kernel kernel = shape.build();
  std::vector<OperandBuffer> operands = shape.makeOperands(4);
  for (unsigned i : {0, 1})
    for (size_t k = 1; k < operands[i].bytes.size(); k += 2)
      operands[i].bytes[k] = static_cast<uint8_t>(k / 2 % 5 == 0 ? 0 : 0x1F);
  OperandBuffer expected = shape.expected(operands);
  ASSERT_EQ(run(kernel, operands), "");
  EXPECT_EQ(operands[2].bytes, expected.bytes);
}

TEST(Contraction, UndefinedBytesReachTheirColumnsOnly) {
  Contraction shape;
  shape.depth = 3; // 8 columns of 8 elements.
  edf::Kernel kernel = shape.build();
  std::vector<OperandBuffer> operands = shape.makeOperands(5);
  OperandBuffer expected = shape.expected(operands);
  // Slice 0, row 1, element 17: column 2 of the four flit groups of row 1.
  operands[0].defined.assign(operands[0].bytes.size(), 1);
  operands[0].defined[64 + 17] = 0;
  // Slice 1, lane 3, output 2, element 63: column 7 of that lane.
  operands[1].defined.assign(operands[1].bytes.size(), 1);
  operands[1]
      .defined[shape.weightBytes() + 3 * shape.laneBytes() + 2 * 64 + 63] = 0;
  auto clear = [&](size_t flit, size_t first, size_t count) {
    for (size_t k = flit * 32 + 4 * first; k < flit * 32 + 4 * (first + count);
         ++k)
      expected.defined[k] = expected.bytes[k] = 0;
  };
  for (size_t j = 0; j < 4; ++j)
    clear((4 + j) * 8 + 2, 0, 8);
  for (size_t m = 0; m < 4; ++m)
    clear(shape.flitsOut() + (m * 4 + 2) * 8 + 7, 3, 1);
  SimulationOptions plain;
  plain.plainContraction = true;
  for (const SimulationOptions &options : {SimulationOptions(), plain}) {
    std::vector<OperandBuffer> buffers = operands;
    ASSERT_EQ(run(kernel, buffers, options), "");
    EXPECT_EQ(buffers[2].defined, expected.defined);
    EXPECT_EQ(buffers[2].bytes, expected.bytes);
  }
}

// Run by hand: --gtest_also_run_disabled_tests --gtest_filter=*Speed*.
TEST(Contraction, DISABLED_Speed) {
  for (bool plain : {false, true})
    for (ElementType type : {ElementType::I4, ElementType::I8,
                             ElementType::F8E4M3, ElementType::BF16})
      for (unsigned lanes : {8u, 1u}) {
        Contraction shape;
        shape.type = type;
        shape.depth = type == ElementType::I4     ? 7
                      : type == ElementType::BF16 ? 5
                                                  : 6;
        shape.lanes = lanes;
        shape.rows = plain ? 32 : 512;
        shape.outputs = 8;
        edf::Kernel kernel = shape.build();
        std::vector<OperandBuffer> operands = shape.makeOperands(6);
        SimulationOptions options;
        options.plainContraction = plain;
        // Time of the processor: other programs may run beside.
        std::clock_t start = std::clock();
        auto result = simulate(kernel, operands, options);
        double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
        ASSERT_TRUE(static_cast<bool>(result));
        printf("%s %s, %u lanes: %.0f million multiply-accumulates a second\n",
               plain ? "plain" : "fast", toString(type).str().c_str(), lanes,
               result->multiplications / seconds / 1e6);
      }
}

} // namespace
