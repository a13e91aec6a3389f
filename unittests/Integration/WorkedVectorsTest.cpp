//===- WorkedVectorsTest.cpp - Worked vectors of the vector engine --------===//
//
// The worked vectors of the vector engine's rules, each as a kernel that runs
// in the interpreter and, compiled, in the simulator. Names give the numbers.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "furiosa/Support/Fill.h"

#include "gtest/gtest.h"

#include <bit>

using namespace furiosa;
using namespace furiosa::test;

namespace {

constexpr uint32_t maxI32 = 0x7FFFFFFF, minI32 = 0x80000000;
constexpr uint32_t infinity = 0x7F800000, minusInfinity = 0xFF800000;

uint32_t f(float value) { return std::bit_cast<uint32_t>(value); }
uint32_t i(int32_t value) { return uint32_t(value); }

/// A chain on one flit a slice: element n of the input becomes element n of the
/// output. `vrf` fills the operand %v.
struct ElementWise {
  std::string in = "i32", out = "i32";
  std::string stages;
  Codes input, output;
  Codes vrf = {};
  /// Of the commit; a cast leaves narrower elements.
  std::string tail = "    commit_trim packet \"A % 8\"\n";
  std::string outElement = "A % 8";
};

const std::string split =
    "    vector_narrow split time \"A / 4 % 2\" packet \"A % 4\"\n";
const std::string concat =
    "    vector_widen concat time \"1\" packet \"A % 8\"\n";

std::string makeText(const ElementWise &test) {
  std::string text = "#axes = #tmap.axes<A = 2048>\n";
  auto types = [&](const std::string &name, const std::string &type,
                   const std::string &element = "A % 8") {
    text += "!" + name + " = !visa.hbm<" + type + ", element \"A\", #axes>\n!" +
            name + "d = !visa.dm<" + type + ", slice \"A / 8\", element \"" +
            element + "\", #axes>\n";
  };
  types("a", test.in);
  types("r", test.out, test.outElement);
  bool isInt =
      test.in == "i32" || test.stages.find("reinterpret") != std::string::npos;
  std::string operand = isInt ? "i32" : "f32";
  types("v", operand);
  text += "!vv = !visa.vrf<" + operand +
          ", slice \"A / 8\", element \"A % 8\", #axes>\n"
          "func.func @kernel(%a: !a, %v: !v) -> !r attributes {visa.kernel} {\n"
          "  %ad = visa.to_dm %a : !a -> !ad\n"
          "  %vd = visa.to_dm %v : !v -> !vd\n"
          "  %vrf = visa.chain sub -> !vv {\n"
          "    fetch %vd time \"1\" packet \"A % 8\" : !vd\n"
          "    collect time \"1\" packet \"A % 8\"\n"
          "    to_vrf element \"A % 8\"\n  }\n"
          "  %rd = visa.chain main -> !rd {\n"
          "    fetch %ad time \"1\" packet \"A % 8\" : !ad\n";
  if (test.in == "bf16")
    text += "    fetch_cast to f32\n";
  text += "    collect time \"1\" packet \"A % 8\"\n" + test.stages +
          test.tail + "    commit element \"" + test.outElement +
          "\"\n  }\n"
          "  %r = visa.to_hbm %rd : !rd -> !r\n  return %r : !r\n}\n";
  return text;
}

/// With the stages of the vector engine around `chain`.
std::string engine(const std::string &chain,
                   const std::string &tag = "vector_tag zero") {
  return "    vector_init\n    " + tag + "\n" + chain + "    vector_final\n";
}

std::vector<HostArray> makeZeros(const Built &built) {
  std::vector<HostArray> arguments;
  for (const OperandLayout &layout : built.inputs)
    arguments.push_back(layout.fill(*parseFill("zeros")));
  return arguments;
}

/// Runs it on both levels; what is undefined in `output` is not compared.
void run(const ElementWise &test) {
  std::string text = makeText(test);
  SCOPED_TRACE(text);
  Built built;
  ASSERT_NO_FATAL_FAILURE(build(text, built));
  std::vector<HostArray> arguments = makeZeros(built);
  for (size_t n = 0; n < test.input.size(); ++n)
    arguments[0].codes[n] = test.input[n];
  for (size_t n = 0; n < test.vrf.size(); ++n)
    arguments[1].codes[n] = test.vrf[n];
  std::vector<HostArray> results;
  ASSERT_EQ(runBoth(built, arguments, results), "");
  for (size_t n = 0; n < test.output.size(); ++n) {
    ASSERT_TRUE(results[0].defined[n]) << "element " << n;
    EXPECT_EQ(results[0].codes[n], test.output[n]) << "element " << n;
  }
}

TEST(WorkedVectors, FixedPointProducts1To4) {
  uint32_t half = 1u << 30;
  run({.stages = engine("    vector_fxp mul_fxp [vrf %vrf] : !vv\n"),
       .input = {half, minI32, 1, i(-1), 3, i(-3), maxI32, minI32, minI32,
                 minI32},
       .output = {1u << 29, maxI32, 1, 0, 2, i(-1), 2147483646, i(-2147483647),
                  i(-1), 1},
       .vrf = {half, minI32, half, half, half, half, maxI32, maxI32, 1,
               i(-1)}});
}

TEST(WorkedVectors, SaturatingShifts5And6) {
  run({.stages = engine("    vector_fxp shl_sat [imm 1]\n"),
       .input = {1u << 30, i(-(1 << 30) - 1)},
       .output = {maxI32, minI32}});
  run({.stages = engine("    vector_fxp shl_sat [imm 31]\n"),
       .input = {1, i(-1)},
       .output = {minI32, maxI32}});
}

TEST(WorkedVectors, Magnitudes7) {
  for (auto [fn, first, second] :
       {std::tuple("abs_min", i(3), i(3)), {"abs_max", i(3), i(-5)}})
    run({.stages = engine(std::string("    vector_clip ") + fn +
                          " [vrf %vrf] : !vv\n"),
         .input = {i(-3), i(-5)},
         .output = {first, second},
         .vrf = {3, 3}});
}

TEST(WorkedVectors, IntegerToFloat8To10) {
  auto convert = [](int width, Codes input, Codes output) {
    run({.out = "f32",
         .stages = engine("    vector_fxp_to_fp width " +
                          std::to_string(width) + "\n"),
         .input = std::move(input),
         .output = std::move(output)});
  };
  convert(
      31,
      {16777217, 16777219, 33554435, maxI32, minI32, 0x7FFFFFC0, 0x7FFFFFBF, 0},
      {0x4B800000, 0x4B800002, 0x4C000001, 0x4F000000, 0xCF000000, 0x4F000000,
       0x4EFFFFFF, 0});
  convert(0, {1u << 30, minI32, 1}, {f(0.5f), f(-1.0f), f(0x1p-31f)});
  convert(23, {384}, {f(1.5f)});
  convert(15, {65536}, {f(1.0f)});
}

TEST(WorkedVectors, FloatToInteger11To13) {
  auto convert = [](int width, Codes input, Codes output) {
    run({.in = "f32",
         .stages = engine("    vector_fp_to_fxp width " +
                          std::to_string(width) + "\n"),
         .input = std::move(input),
         .output = std::move(output)});
  };
  convert(31, {f(0.5f), f(1.5f), f(2.5f), f(-0.5f), f(-2.5f)},
          {1, 2, 3, i(-1), i(-3)});
  convert(31,
          {f(3e9f), f(-3e9f), infinity, minusInfinity, 0x7FC00000, 0xFFC00000},
          {maxI32, minI32, maxI32, minI32, maxI32, minI32});
  convert(0, {f(1.0f), f(0.75f), f(-1.0f)}, {maxI32, 1610612736, minI32});
  convert(15, {f(1.25f), f(-0.3f)}, {81920, i(-19661)});
}

TEST(WorkedVectors, ChainsOfSeveralClusters14And15) {
  run({.stages = engine("    vector_fxp add [imm 100]\n"
                        "    vector_fxp_to_fp width 31\n" +
                        split + "    vector_fp mul0 [imm 2.5]\n" + concat +
                        "    vector_fp_to_fxp width 31\n"
                        "    vector_clip max [imm 0]\n"
                        "    vector_clip min [imm 1000]\n"),
       .input = {i(-200), i(-100), 1, 3, 300},
       .output = {0, 0, 253, 258, 1000}});
  run({.stages = engine("    vector_logic and [imm 255]\n"
                        "    vector_logic or [imm 256]\n"),
       .input = {0x1234},
       .output = {0x134}});
}

TEST(WorkedVectors, ArgumentModes16And17) {
  run({.stages = engine("    vector_fxp sub [imm 7] mode \"10\"\n"),
       .input = {5},
       .output = {2}});
  auto fp = [](const std::string &op, float in, float out) {
    run({.in = "f32",
         .out = "f32",
         .stages = engine(split + "    vector_fp " + op + "\n" + concat),
         .input = {f(in)},
         .output = {f(out)}});
  };
  fp("sub [imm 2.0] mode \"10\"", 5, -3);
  fp("div [imm 2.0] mode \"10\"", 4, 0.5f);
  fp("fma [imm 2.0 with 1.0] mode \"120\"", 5, 7);
  run({.stages = engine("    vector_logic xor [imm 255] mode \"11\"\n"),
       .input = {1234},
       .output = {0}});
  run({.stages = engine("    vector_clip add [imm 3] mode \"11\"\n"),
       .input = {1234},
       .output = {6}});
}

TEST(WorkedVectors, Stash18And19) {
  run({.in = "f32",
       .out = "f32",
       .stages =
           engine(split + "    vector_fp fma [imm 2.0 with 3.0]\n" + concat),
       .input = {f(3)},
       .output = {f(9)}});
  run({.in = "f32",
       .out = "f32",
       .stages = engine(split +
                        "    vector_stash\n"
                        "    vector_fp fma [stash with 1.0]\n" +
                        concat),
       .input = {f(3)},
       .output = {f(10)}});
  run({.stages = engine("    vector_stash\n"
                        "    vector_fxp mul_int [imm 2]\n"
                        "    vector_clip max [stash]\n"),
       .input = {i(-5), 1u << 30},
       .output = {i(-5), 1u << 30}});
}

TEST(WorkedVectors, SignAndExponentBits20) {
  run({.in = "f32",
       .out = "f32",
       .stages = engine("    vector_reinterpret to i32\n"
                        "    vector_logic and [imm 0x7FFFFFFF]\n"
                        "    vector_fxp add [imm 0x00800000]\n"
                        "    vector_reinterpret to f32\n"
                        "    vector_clip min [imm 100.0]\n"),
       .input = {f(0), f(-0.0f), f(-1), f(1), f(-0.5f), f(3.25f), f(-80),
                 f(120), f(0x1p-126f)},
       .output = {f(0x1p-126f), f(0x1p-126f), f(2), f(2), f(1), f(6.5f), f(100),
                  f(100), f(0x1p-125f)}});
}

//===----------------------------------------------------------------------===//
// Pair mode
//===----------------------------------------------------------------------===//

/// Two inputs side by side in time; `stages` stand between unzip and final.
void runPair(const std::string &type, const std::string &stages,
             const std::vector<std::pair<uint32_t, uint32_t>> &input,
             const Codes &output) {
  std::string text =
      "#axes = #tmap.axes<N = 256, I = 2, C = 8>\n!a = !visa.hbm<" + type +
      ", element \"N, I, C\", #axes>\n!r = !visa.hbm<" + type +
      ", element \"N, C\", #axes>\n!ad = !visa.dm<" + type +
      ", slice \"N\", element \"I, C\", #axes>\n!rd = !visa.dm<" + type +
      ", slice \"N\", element \"C\", #axes>\n"
      "func.func @kernel(%a: !a) -> !r attributes {visa.kernel} {\n"
      "  %ad = visa.to_dm %a : !a -> !ad\n"
      "  %rd = visa.chain main -> !rd {\n"
      "    fetch %ad time \"I\" packet \"C\" : !ad\n"
      "    collect time \"I\" packet \"C\"\n    vector_init\n"
      "    vector_unzip axis \"I\" time \"1\"\n" +
      stages +
      "    vector_final\n    commit_trim packet \"C\"\n"
      "    commit element \"C\"\n  }\n"
      "  %r = visa.to_hbm %rd : !rd -> !r\n  return %r : !r\n}\n";
  SCOPED_TRACE(text);
  Built built;
  ASSERT_NO_FATAL_FAILURE(build(text, built));
  std::vector<HostArray> arguments = makeZeros(built);
  for (size_t n = 0; n < input.size(); ++n) {
    arguments[0].codes[n] = input[n].first;
    arguments[0].codes[8 + n] = input[n].second;
  }
  std::vector<HostArray> results;
  ASSERT_EQ(runBoth(built, arguments, results), "");
  for (size_t n = 0; n < output.size(); ++n)
    EXPECT_EQ(results[0].codes[n], output[n]) << "element " << n;
}

TEST(WorkedVectors, PairMode21To24) {
  runPair("f32",
          "    vector_reinterpret to i32\n"
          "    vector_fxp add group [imm 0x00800000, imm 0x01000000]\n"
          "    vector_reinterpret to f32\n    vector_zip clip add\n",
          {{f(0), f(-0.0f)}, {f(-0.0f), f(0)}, {f(1), f(1)}, {f(-1), f(-0.5f)}},
          {f(-0x1p-126f), f(0x1p-126f), f(6), f(-4)});
  runPair("f32",
          "    vector_reinterpret to i32\n"
          "    vector_logic and group [imm 0x7FFFFFFF, imm 0x7FFFFFFF]\n"
          "    vector_reinterpret to f32\n    vector_zip clip add\n",
          {{f(-0.0f), f(-0.0f)}, {f(-1), f(2.5f)}, {f(3.25f), f(-80)}},
          {f(0), f(3.5f), f(83.25f)});
  runPair("i32",
          "    vector_fxp add group [imm 10, imm 20]\n"
          "    vector_fxp mul_int group [imm 2, imm 3]\n"
          "    vector_zip clip add\n",
          {{1, 2}}, {88});
  runPair("i32", "    vector_zip fxp sub mode \"10\"\n", {{3, 10}}, {7});
}

TEST(WorkedVectors, OperandsOfEachGroup30) {
  for (auto [mode, result] : {std::pair("00", 12.0f), {"11", 23.0f}})
    runPair("f32",
            std::string("    vector_narrow split time \"I, C / 4\" packet \"C "
                        "% 4\"\n    vector_fp fma group [imm 2.0 with 10.0, "
                        "imm 3.0 with 20.0]\n"
                        "    vector_widen concat time \"I\" packet \"C\"\n"
                        "    vector_zip clip max mode \"") +
                mode + "\"\n",
            {{f(1), f(1)}}, {f(result)});
}

//===----------------------------------------------------------------------===//
// Execution ids
//===----------------------------------------------------------------------===//

/// Stages that put the execution id in the element's place.
const std::string showId = "    vector_logic and [imm 0]\n"
                           "    vector_logic or [imm 1 if \"1---\"]\n"
                           "    vector_logic xor [imm 2 if \"-1--\"]\n"
                           "    vector_fxp add [imm 4 if \"--1-\"]\n"
                           "    vector_clip add [imm 8 if \"---1\"]\n";

TEST(WorkedVectors, ExecutionIds25To27) {
  run({.stages = engine(
           showId, "vector_tag compare [less 0, equal 5, greater 100, true]"),
       .input = {7, i(-1), 5, 101},
       .output = {8, 9, 10, 12}});
  auto ofFloats = [](const std::string &comparisons, Codes input,
                     Codes output) {
    run({.in = "f32",
         .stages = engine("    vector_reinterpret to i32\n" + showId,
                          "vector_tag compare [" + comparisons + "]"),
         .input = std::move(input),
         .output = std::move(output)});
  };
  ofFloats("equal 0.0, greater 0.0, less 0.0, true",
           {f(0), f(1.5f), f(-2.5f), f(-0.0f), 0x7FC00000}, {9, 10, 12, 9, 8});
  ofFloats("greater_unsigned 1.0, greater 1.0, less_unsigned 1.0, less 1.0",
           {f(-1)}, {9});
  run({.stages = engine(showId, "vector_tag compare [greater_unsigned 1, "
                                "greater 1, less_unsigned 1, less 1]"),
       .input = {i(-1)},
       .output = {9}});
}

TEST(WorkedVectors, FirstMatch28And29) {
  run({.stages = engine("    vector_logic and [imm 0]\n"
                        "    vector_clip max [imm 10 if \"--1-\", vrf %vrf] : "
                        "!vv\n",
                        "vector_tag compare [false, false, greater 0, false]"),
       .input = {1, 0, 1, 0},
       .output = {10, 50, 10, 50},
       .vrf = {50, 50, 50, 50}});
  run({.stages = engine("    vector_logic or [imm 7] mode \"11\"\n"
                        "    vector_fxp add [imm 1 if \"1---\"]\n",
                        "vector_tag compare [greater 0]"),
       .input = {1, 0},
       .output = {8, 7}});
}

TEST(WorkedVectors, GuardsOfAChain31And32) {
  run({.stages = engine("    vector_stash\n"
                        "    vector_logic or [imm 0x100 if \"1---\", imm 0x200 "
                        "if \"--1-\", imm 0x400 if \"---1\"]\n"
                        "    vector_clip min [stash if \"-1--\"]\n",
                        "vector_tag compare [equal 0, equal 5, less 10, "
                        "greater 1000]"),
       .input = {0, 5, 7, 50, 4096},
       .output = {256, 5, 519, 50, 5120}});
  // Bits: negative, positive.
  run({.in = "f32",
       .out = "f32",
       .stages = engine("    vector_logic and [imm 0.0 if \"1---\"]\n" + split +
                            "    vector_fp fma [imm -2.0 with 10.0 if "
                            "\"1---\", imm -2.0 with 10.0 if \"-1--\"]\n" +
                            concat +
                            "    vector_clip max [imm 1.0 if \"1---\", imm 2.0]"
                            "\n",
                        "vector_tag compare [less 0.0, greater 0.0]"),
       .input = {f(3), f(-3), f(0), f(5)},
       .output = {f(4), f(10), f(2), f(2)}});
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Reduces axis R; `text` has the axes and the mappings.
struct Reduced {
  std::string axes, in, out, slice, outSlice, element, outElement, stages;
  std::string time, packet, trim;
  std::string type = "i32";
};

void runReduction(const Reduced &test, const Codes &input,
                  const Codes &output) {
  std::string text =
      "#axes = #tmap.axes<" + test.axes + ">\n!a = !visa.hbm<" + test.type +
      ", element \"" + test.in + "\", #axes>\n!r = !visa.hbm<" + test.type +
      ", element \"" + test.out + "\", #axes>\n!ad = !visa.dm<" + test.type +
      ", slice \"" + test.slice + "\", element \"" + test.element +
      "\", #axes>\n!rd = !visa.dm<" + test.type + ", slice \"" + test.outSlice +
      "\", element \"" + test.outElement +
      "\", #axes>\n"
      "func.func @kernel(%a: !a) -> !r attributes {visa.kernel} {\n"
      "  %ad = visa.to_dm %a : !a -> !ad\n"
      "  %rd = visa.chain main -> !rd {\n    fetch %ad time \"" +
      test.time + "\" packet \"" + test.packet +
      "\" : !ad\n    collect time \"" + test.time + "\" packet \"" +
      test.packet + "\"\n    vector_init\n    vector_tag zero\n" + test.stages +
      "    vector_final\n    commit_trim packet \"" + test.trim +
      "\"\n    commit element \"" + test.outElement +
      "\"\n  }\n  %r = visa.to_hbm %rd : !rd -> !r\n  return %r : !r\n}\n";
  SCOPED_TRACE(text);
  Built built;
  ASSERT_NO_FATAL_FAILURE(build(text, built));
  std::vector<HostArray> arguments = makeZeros(built);
  ASSERT_LE(input.size(), arguments[0].codes.size());
  std::copy(input.begin(), input.end(), arguments[0].codes.begin());
  std::vector<HostArray> results;
  ASSERT_EQ(runBoth(built, arguments, results), "");
  ASSERT_LE(output.size(), results[0].codes.size());
  for (size_t n = 0; n < output.size(); ++n) {
    ASSERT_TRUE(results[0].defined[n]) << "element " << n;
    EXPECT_EQ(results[0].codes[n], output[n]) << "element " << n;
  }
}

/// R in the packet and perhaps in time, to one element of each slice.
Reduced foldOf(const std::string &axes, const std::string &r,
               const std::string &fn) {
  Reduced test;
  test.axes = axes;
  test.in = "N, R";
  test.out = "N";
  test.slice = test.outSlice = "N";
  test.element = r;
  test.outElement = test.trim = "1 # 8";
  test.time = r + " / 8";
  test.packet = r + " % 8";
  test.stages = "    vector_narrow split time \"" + r + " / 4\" packet \"" + r +
                " % 4\"\n    vector_reduce " + fn +
                " axis \"R\" time \"1\" packet \"1 # 4\"\n"
                "    vector_widen pad packet \"1 # 8\"\n";
  return test;
}

TEST(WorkedVectors, PrefixesThroughNarrow33) {
  // Of eight lanes six are valid: four in the first packet, two in the other.
  Codes input = {1, 2, 4, 8, 16, 32};
  runReduction(foldOf("N = 256, R = 6", "R # 8", "add_sat"), input, {63});
  // Trim keeps three of four.
  Reduced trim = foldOf("N = 256, R = 3", "R # 4", "add_sat");
  trim.element = "R # 4";
  trim.time = "1";
  trim.packet = "R # 4 # 8";
  trim.stages = "    vector_narrow trim packet \"R # 4\"\n"
                "    vector_reduce add_sat axis \"R\" time \"1\" packet \"1 # "
                "4\"\n    vector_widen pad packet \"1 # 8\"\n";
  trim.in = "N, R # 4";
  runReduction(trim, {1, 2, 4}, {7});
}

TEST(WorkedVectors, TreeOfLanes34) {
  Reduced test = foldOf("N = 256, R = 4", "R # 8", "add_sat");
  test.element = "R";
  test.time = "1";
  test.packet = "R # 8";
  test.stages = "    vector_narrow trim packet \"R\"\n"
                "    vector_reduce add_sat axis \"R\" time \"1\" packet \"1 # "
                "4\"\n    vector_widen pad packet \"1 # 8\"\n";
  runReduction(test, {maxI32, 1, 1, i(-2)}, {2147483646});
}

/// R in time alone, other axes beside it; sums of eight lanes.
TEST(WorkedVectors, ValidCountInTime35And36) {
  Reduced test;
  test.axes = "N = 256, R = 12, C = 8";
  test.in = "N, R, C";
  test.out = "N, C";
  test.slice = test.outSlice = "N";
  test.element = "R # 16, C";
  test.outElement = test.packet = test.trim = "C";
  test.time = "R # 16";
  test.stages = "    vector_narrow split time \"R # 16, C / 4\" packet \"C % "
                "4\"\n    vector_reduce add_sat axis \"R\" time \"C / 4\" "
                "packet \"C % 4\"\n    vector_widen concat time \"1\" packet "
                "\"C\"\n";
  Codes ones(12 * 8, 1);
  runReduction(test, ones, Codes(8, 12));

  test.axes = "N = 256, R = 10, A = 3, C = 8";
  test.in = "N, R, A, C";
  test.out = "N, A, C";
  test.element = "R # 12, A, C";
  test.outElement = "A, C";
  test.time = "R # 12 / 2, A, R # 12 % 2";
  test.stages = "    vector_narrow split time \"R # 12 / 2, A, R # 12 % 2, C / "
                "4\" packet \"C % 4\"\n    vector_reduce add_sat axis \"R\" "
                "time \"A, C / 4\" packet \"C % 4\"\n    vector_widen concat "
                "time \"A\" packet \"C\"\n";
  Codes input, sums(24);
  for (uint32_t r = 0; r < 10; ++r)
    for (uint32_t at = 0; at < 24; ++at) {
      input.push_back(r * 100 + at);
      sums[at] += r * 100 + at;
    }
  runReduction(test, input, sums);
}

TEST(WorkedVectors, ValidCountOfPackets37) {
  // Valid elements of the four flits: 8, 2, 0, 0.
  Codes input;
  uint32_t sum = 0;
  for (uint32_t r = 0; r < 10; ++r) {
    input.push_back(1u << r);
    sum += 1u << r;
  }
  runReduction(foldOf("N = 256, R = 10", "R # 32", "add_sat"), input, {sum});
}

/// R over slices and time: 38 with the slices outside, 39 inside.
TEST(WorkedVectors, ValidCountOfSlices38And39) {
  for (bool isMajor : {true, false}) {
    uint32_t size = isMajor ? 11 : 13;
    Reduced test;
    test.axes = "N = 64, R = " + std::to_string(size) + ", C = 8";
    test.in = "N, R, C";
    test.out = "N, C";
    std::string slice = isMajor ? "R # 16 / 4" : "R # 16 % 4";
    std::string time = isMajor ? "R # 16 % 4" : "R # 16 / 4";
    test.slice = "N, " + slice;
    test.outSlice = "N, 1 # 4";
    test.element = time + ", C";
    test.outElement = test.packet = test.trim = "C";
    test.time = time;
    test.stages = "    vector_narrow split time \"" + time +
                  ", C / 4\" packet \"C % 4\"\n    vector_reduce add_sat axis "
                  "\"R\" time \"C / 4\" packet \"C % 4\"\n    vector_widen "
                  "concat time \"1\" packet \"C\"\n"
                  "    vector_inter_slice_reduce add slice \"N, 1 # 4\" time "
                  "\"1\"\n";
    runReduction(test, Codes(size * 8, 1), Codes(8, size));
  }
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

/// A cast behind the vector engine; `to` is the type as text wants it.
void runCast(const std::string &from, const std::string &to, int flit,
             Codes input, Codes output) {
  std::string packet = "A % 8 # " + std::to_string(flit);
  // A commit writes eight bytes, which are sixteen i4.
  std::string kept = flit == 64 ? "A % 8 # 16" : "A % 8";
  run({.in = from,
       .out = to,
       .stages = "    cast to " + to + " packet \"" + packet + "\"\n",
       .input = std::move(input),
       .output = std::move(output),
       .tail = "    commit_trim packet \"" + kept + "\"\n",
       .outElement = kept});
}

TEST(WorkedVectors, FloatCasts41To42And45To49) {
  runCast("f32", "bf16", 16,
          {f(1 + 0x1p-8f), f(1 + 1.5f * 0x1p-7f), f(1 + 0.75f * 0x1p-7f),
           0x7F7FFFFF, 0x00400000, 0x80400000, 0x00800000, 0x7FA00001},
          {0x3F80, 0x3F82, 0x3F81, 0x7F80, 0x0000, 0x8000, 0x0080, 0x7FC0});
  runCast("f32", "f8E4M3FN", 32,
          {f(1.0625f), f(1.1875f), f(17), f(19), f(480), f(-1e9f),
           minusInfinity, 0xFFC00000, f(0x1p-10f), f(0x1p-10f) + 1,
           f(1.5f * 0x1p-9f), f(2.5f * 0x1p-9f), f(7.5f * 0x1p-9f)},
          {0x38, 0x3A, 0x58, 0x5A, 0x7E, 0xFE, 0xFE, 0x7F, 0x00, 0x01, 0x02,
           0x02, 0x08});
  runCast("f32", "f8E5M2", 32,
          {f(1.125f), f(1.375f), f(61439), f(61440), f(1.875f), f(0x1p-17f),
           f(7.6e-6f), f(5.7e-5f), f(6.0e-5f), f(0x1p-14f)},
          {0x3D, 0x3E, 0x7B, 0x7C, 0x40, 0x01, 0x00, 0x03, 0x03, 0x04});
}

TEST(WorkedVectors, FetchCast43) {
  run({.in = "bf16",
       .out = "f32",
       .stages = "",
       .input = {0x0001, 0x8001, 0x7F81},
       .output = {0x00000000, 0x80000000, 0x7FC00000}});
}

TEST(WorkedVectors, CommitCastWithReLU44) {
  run({.in = "f32",
       .out = "bf16",
       .stages = "",
       .input = {f(-5), f(-0.1f), f(-0.0f), f(3.7f), 0xFFC00000},
       .output = {0, 0, 0, 0x406D, 0x7FC0},
       .tail = "    commit_trim packet \"A % 8\"\n"
               "    commit_cast_relu to bf16\n"});
}

TEST(WorkedVectors, IntegerCasts50) {
  runCast("i32", "i8", 32, {200, 2560000}, {0xC8, 0});
  runCast("i32", "i4", 64, {9}, {0x9});
  runCast("i32", "i16", 16, {65535}, {0xFFFF});
}

/// Products of `input` minus a zero point with rows of the unit matrix.
void runZeroPoint(const std::string &type, int zeroPoint, unsigned flit,
                  uint32_t one, const Codes &input, const Codes &output) {
  std::string k = std::to_string(flit);
  std::string text =
      "#axes = #tmap.axes<A = 8, R = 8, K = " + k +
      ">\n"
      "!a = !visa.hbm<" +
      type +
      ", element \"A, K\", #axes>\n"
      "!b = !visa.hbm<" +
      type +
      ", element \"R, K\", #axes>\n"
      "!r = !visa.hbm<i32, element \"A, R\", #axes>\n"
      "!ad = !visa.dm<" +
      type +
      ", slice \"1 # 256\", element \"A, K\", #axes>\n"
      "!bd = !visa.dm<" +
      type +
      ", slice \"1 # 256\", element \"R, K\", #axes>\n"
      "!rd = !visa.dm<i32, slice \"1 # 256\", element \"A, R\", #axes>\n"
      "!w = !visa.trf<" +
      type +
      ", slice \"1 # 256\", lane \"R\", element \"K\", #axes>\n"
      "func.func @kernel(%a: !a, %b: !b) -> !r attributes {visa.kernel} {\n"
      "  %ad = visa.to_dm %a : !a -> !ad\n  %bd = visa.to_dm %b : !b -> !bd\n"
      "  %w = visa.chain sub -> !w {\n"
      "    fetch %bd time \"R\" packet \"K\" : !bd\n"
      "    collect time \"R\" packet \"K\"\n"
      "    to_trf lane \"R\" element \"K\"\n  }\n"
      "  %rd = visa.chain main -> !rd {\n"
      "    fetch %ad time \"A\" packet \"K\" : !ad\n"
      "    zero_point_sub " +
      std::to_string(zeroPoint) +
      "\n"
      "    collect time \"A\" packet \"K\"\n"
      "    contract_outer %w time \"A\" packet \"K\" : !w\n"
      "    contract_packet packet \"1\"\n    contract_time time \"A\"\n"
      "    contract_lane interleaved time \"A\" packet \"R\"\n"
      "    commit_trim packet \"R\"\n    commit element \"A, R\"\n  }\n"
      "  %r = visa.to_hbm %rd : !rd -> !r\n  return %r : !r\n}\n";
  SCOPED_TRACE(text);
  Built built;
  ASSERT_NO_FATAL_FAILURE(build(text, built));
  std::vector<HostArray> arguments = makeZeros(built);
  for (unsigned row = 0; row < 8; ++row)
    arguments[1].codes[row * flit + row] = one;
  for (size_t n = 0; n < input.size(); ++n)
    arguments[0].codes[n] = input[n];
  std::vector<HostArray> results;
  ASSERT_EQ(runBoth(built, arguments, results), "");
  for (size_t n = 0; n < output.size(); ++n)
    EXPECT_EQ(results[0].codes[n], output[n]) << "element " << n;
}

TEST(WorkedVectors, ZeroPoints51) {
  runZeroPoint("i4", 7, 64, 1, {0x8}, {i(-15)});
  runZeroPoint("i8", -128, 32, 1, {127}, {255});
}

TEST(WorkedVectors, PackingOfHalfBytes52) {
  for (const char *type : {"f4E2M1FN", "i4"}) {
    std::string text =
        std::string("#axes = #tmap.axes<A = 4096>\n!h = "
                    "!visa.hbm<") +
        type + ", element \"A\", #axes>\n!d = !visa.dm<" + type +
        ", slice \"A / 16\", element \"A % 16\", #axes>\n"
        "func.func @kernel(%a: !h) -> !h attributes "
        "{visa.kernel} {\n  %d = visa.to_dm %a : !h -> !d\n"
        "  %r = visa.to_hbm %d : !d -> !h\n  return %r : !h\n}\n";
    SCOPED_TRACE(text);
    Built built;
    ASSERT_NO_FATAL_FAILURE(build(text, built));
    std::vector<HostArray> arguments = makeZeros(built);
    for (unsigned n = 0; n < 4; ++n)
      arguments[0].codes[n] = n + 1;
    auto packed = packOperand(built.inputs[0], arguments[0]);
    ASSERT_TRUE(bool(packed)) << llvm::toString(packed.takeError());
    EXPECT_EQ(packed->bytes[0], 0x21);
    EXPECT_EQ(packed->bytes[1], 0x43);
    compare(built, arguments, arguments[0].codes);
  }
}

} // namespace
