//===- StreamTest.cpp - Chains that move and convert ----------------------===//
//
// Fetch, fetch adapter, switch, collect, transpose and commit leave a value at
// its logical index. Each chain runs in both semantics; the result at an index
// is the argument at that index, converted by a function written here.
//
//===----------------------------------------------------------------------===//

#include "KernelText.h"
#include "Kernels.h"

#include "furiosa/Dialect/LIR/IR/LIR.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

#include <cmath>
#include <map>

using namespace furiosa;
using namespace furiosa::test;
using namespace mlir;

namespace {

using Convert = uint32_t (*)(uint32_t);

struct Case {
  Stream stream;
  /// Null: the code stays.
  Convert convert = nullptr;
  /// The axes of the result where its mapping is no plain list.
  std::string outAxes = "";
};

void PrintTo(const Case &test, std::ostream *os) { *os << test.stream.name; }

/// The argument at the index of each cell of the result; axes that the argument
/// lacks do not matter.
Codes expectedCodes(const Case &test, const Codes &argument) {
  auto axes = axesOf(test.stream.axes);
  std::vector<std::string> in = namesOf(test.stream.inHbm),
                           out =
                               namesOf(test.outAxes.empty() ? test.stream.outHbm
                                                            : test.outAxes);
  std::map<std::string, int64_t> index;
  Codes codes;
  int64_t cells = 1;
  for (const std::string &name : out)
    cells *= axes.at(name);
  for (int64_t cell = 0; cell < cells; ++cell) {
    int64_t rest = cell;
    for (const std::string &name : llvm::reverse(out)) {
      index[name] = rest % axes.at(name);
      rest /= axes.at(name);
    }
    int64_t place = 0;
    for (const std::string &name : in)
      place = place * axes.at(name) + index[name];
    uint32_t code = argument.at(place);
    codes.push_back(test.convert ? test.convert(code) : code);
  }
  return codes;
}

//===----------------------------------------------------------------------===//
// Conversions by their definition
//===----------------------------------------------------------------------===//

uint32_t signExtend(uint32_t code, unsigned bits) {
  return static_cast<uint32_t>(static_cast<int32_t>(code << (32 - bits)) >>
                               (32 - bits));
}
uint32_t fromI4(uint32_t code) { return signExtend(code, 4); }
uint32_t fromI8(uint32_t code) { return signExtend(code, 8); }
uint32_t fromI16(uint32_t code) { return signExtend(code, 16); }
uint32_t fromE4M3(uint32_t code) {
  return asPattern(valueOf(ElementType::F8E4M3, code));
}
uint32_t fromE5M2(uint32_t code) {
  return asPattern(valueOf(ElementType::F8E5M2, code));
}
uint32_t fromBF16(uint32_t code) {
  return asPattern(valueOf(ElementType::BF16, code));
}
/// Nearest even; subnormals become zero.
uint32_t toBF16(uint32_t pattern) {
  float value = asFloat(pattern);
  if (std::isnan(value))
    return 0x7FC0;
  if ((pattern & 0x7F800000u) == 0)
    return (pattern >> 16) & 0x8000;
  uint32_t rest = pattern & 0xFFFF, kept = pattern >> 16;
  return rest > 0x8000 || (rest == 0x8000 && (kept & 1)) ? kept + 1 : kept;
}
uint32_t toBF16Relu(uint32_t pattern) {
  if (std::isnan(asFloat(pattern)))
    return 0x7FC0;
  return pattern >> 31 ? 0 : toBF16(pattern);
}
/// The table of f4e2m1 as f8e4m3 bytes (section 4 of the Tensor Unit path).
uint32_t e2m1ToE4M3(uint32_t code) {
  static constexpr uint8_t table[] = {0x00, 0x30, 0x38, 0x3C, 0x40, 0x44,
                                      0x48, 0x4C, 0x80, 0xB0, 0xB8, 0xBC,
                                      0xC0, 0xC4, 0xC8, 0xCC};
  return table[code];
}
float e2m1(uint32_t code) {
  static constexpr float table[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  return std::copysign(table[code & 7], code & 8 ? -1.0f : 1.0f);
}
uint32_t e2m1ToF32(uint32_t code) { return asPattern(e2m1(code)); }
/// All values of f4e2m1 are those of a short f32.
uint32_t e2m1ToE5M2(uint32_t code) {
  uint32_t pattern = asPattern(std::fabs(e2m1(code)));
  uint32_t bits = pattern == 0
                      ? 0
                      : ((pattern >> 23) - 127 + 15) << 2 | (pattern >> 21 & 3);
  return bits | (code & 8 ? 0x80 : 0);
}
uint32_t e4m3ToBF16(uint32_t code) { return fromE4M3(code) >> 16; }
uint32_t e5m2ToBF16(uint32_t code) { return fromE5M2(code) >> 16; }

constexpr ElementType I4 = ElementType::I4, I8 = ElementType::I8,
                      I16 = ElementType::I16, I32 = ElementType::I32,
                      U8 = ElementType::U8, E2M1 = ElementType::F4E2M1,
                      E4M3 = ElementType::F8E4M3, E5M2 = ElementType::F8E5M2,
                      BF16 = ElementType::BF16, F32 = ElementType::F32;

/// A chain over A = 16, B = `b` within one slice; the packet is B.
Case inOneSlice(std::string name, int b, ElementType in, ElementType out,
                std::string stages, Convert convert = nullptr) {
  return {{name, "A = 16, B = " + std::to_string(b), in, out, "A, B", "1 # 256",
           "A, B", "A, B", "1 # 256", "A, B", stages},
          convert};
}

/// The same with padding behind B in the result.
Case padded(Case test, std::string inner) {
  test.outAxes = test.stream.outHbm;
  test.stream.outHbm = test.stream.outElement = "A, " + inner;
  return test;
}

/// A chain of i8 over slices C and B in a packet of 32 bytes.
Case overSlices(std::string name, std::string axes, std::string inHbm,
                std::string inSlice, std::string inElement, std::string outHbm,
                std::string outSlice, std::string outTime, std::string inTime,
                std::string config, int pes = 8) {
  Case test;
  test.stream = {name,
                 axes,
                 I8,
                 I8,
                 inHbm,
                 inSlice,
                 inElement,
                 outHbm,
                 outSlice,
                 outTime + ", B",
                 "time \"" + inTime + "\" packet \"B\" : !in_dm\n switch " +
                     config + " slice \"" + outSlice + "\" time \"" + outTime +
                     "\"\n collect time \"" + outTime +
                     "\" packet \"B\"\n commit_trim packet \"B\"\n commit "
                     "element \"" +
                     outTime + ", B\"",
                 pes};
  return test;
}

class StreamVariant : public testing::TestWithParam<Case> {};

TEST_P(StreamVariant, AgreesWithIndex) {
  const Case &test = GetParam();
  Built built;
  ASSERT_NO_FATAL_FAILURE(build(test.stream.text(), built));
  std::vector<HostArray> arguments = makeArguments(built, "bits");
  ASSERT_NO_FATAL_FAILURE(
      compare(built, arguments, expectedCodes(test, arguments[0].codes)))
      << test.stream.text();
}

//===----------------------------------------------------------------------===//
// Fetch and collect
//===----------------------------------------------------------------------===//

/// A chain of packets of one flit, behind `adapter`.
static std::string convertInto(std::string adapter) {
  return R"(time "A" packet "B" : !in_dm
    )" + adapter +
         R"(
    collect time "A" packet "B"
    commit_trim packet "B"
    commit element "A, B")";
}

INSTANTIATE_TEST_SUITE_P(
    Fetch, StreamVariant,
    testing::Values(
        // Packets of less than a word, and of no whole words: collect pads.
        padded(inOneSlice("Packet4", 4, I8, I8, R"(time "A" packet "B" : !in_dm
          collect time "A" packet "B # 32"
          commit_trim packet "B # 8"
          commit element "A, B # 8")"),
               "B # 8"),
        padded(inOneSlice("Packet20", 20, I8, I8,
                          R"(time "A" packet "B" : !in_dm
          collect time "A" packet "B # 32"
          commit_trim packet "B # 24"
          commit element "A, B # 24")"),
               "B # 24"),
        padded(inOneSlice("Row4Packet56", 56, I8, I8,
                          R"(time "A" packet "B" : !in_dm
          collect time "A, B # 64 / 32" packet "B # 64 % 32"
          commit_trim packet "B # 64 % 32"
          commit element "A, B # 64")"),
               "B # 64"),
        inOneSlice("Row1OneFlit", 32, I8, I8, convertInto("")),
        Case{{"Row5FourFlits", "B = 64, C = 32", F32, F32, "B, C", "1 # 256",
              "B, C", "B, C", "1 # 256", "B, C",
              R"(time "B" packet "C" : !in_dm
              collect time "B, C / 8" packet "C % 8"
              commit_trim packet "C % 8"
              commit element "B, C")"}},
        // Several reads a packet: the axes of the packet lie apart.
        Case{{"Discrete", "A = 16, B = 8, C = 4", I32, I32, "C, A, B",
              "1 # 256", "C, A, B", "A, C, B", "1 # 256", "A, C, B",
              R"(time "A" packet "C, B" : !in_dm
              collect time "A, C" packet "B"
              commit_trim packet "B"
              commit element "A, C, B")"}},
        Case{{"Turned", "A = 16, B = 8", I16, I16, "A, B", "1 # 256", "A, B",
              "B, A", "1 # 256", "B, A",
              R"(time "B" packet "A" : !in_dm
              collect time "B" packet "A"
              commit_trim packet "A"
              commit element "B, A")"}},
        // The sub context reads and writes eight bytes at a time.
        Case{{"SubCopy", "A = 16, B = 64", I8, I8, "A, B", "1 # 256", "A, B",
              "A, B", "1 # 256", "A, B", R"(time "A" packet "B" : !in_dm
              collect time "A, B / 32" packet "B % 32"
              commit_trim packet "B % 32"
              commit element "A, B")",
              8, "sub"}},
        Case{{"SubScatter", "A = 16, B = 32", I8, I8, "A, B", "1 # 256", "A, B",
              "A, B", "1 # 256", "B / 8, A, B % 8",
              R"(time "A" packet "B" : !in_dm
              collect time "A" packet "B"
              commit_trim packet "B"
              commit element "B / 8, A, B % 8")",
              8, "sub"}}),
    [](const auto &info) { return info.param.stream.name; });

INSTANTIATE_TEST_SUITE_P(
    Conversions, StreamVariant,
    testing::Values(
        inOneSlice("Row64I4ToI32", 8, I4, I32, convertInto("fetch_cast to i32"),
                   fromI4),
        inOneSlice("I8ToI32", 8, I8, I32, convertInto("fetch_cast to i32"),
                   fromI8),
        inOneSlice("I16ToI32", 8, I16, I32, convertInto("fetch_cast to i32"),
                   fromI16),
        inOneSlice("E4M3ToF32", 8, E4M3, F32, convertInto("fetch_cast to f32"),
                   fromE4M3),
        inOneSlice("E5M2ToF32", 8, E5M2, F32, convertInto("fetch_cast to f32"),
                   fromE5M2),
        inOneSlice("BF16ToF32", 8, BF16, F32, convertInto("fetch_cast to f32"),
                   fromBF16),
        inOneSlice("F32ToBF16", 16, F32, BF16,
                   convertInto("fetch_cast to bf16"), toBF16),
        inOneSlice("Identity", 32, U8, U8, convertInto("fetch_cast to ui8")),
        inOneSlice("Row70E2M1ToE4M3", 32, E2M1, E4M3,
                   convertInto("table_lookup to f8E4M3FN"), e2m1ToE4M3),
        inOneSlice("E2M1ToE5M2", 32, E2M1, E5M2,
                   convertInto("table_lookup to f8E5M2"), e2m1ToE5M2),
        inOneSlice("Row70E4M3ToBF16", 16, E4M3, BF16,
                   convertInto("table_lookup to bf16"), e4m3ToBF16),
        inOneSlice("E5M2ToBF16", 16, E5M2, BF16,
                   convertInto("table_lookup to bf16"), e5m2ToBF16),
        inOneSlice("E2M1ToF32", 8, E2M1, F32,
                   convertInto("table_lookup to f8E4M3FN\nfetch_cast to f32"),
                   e2m1ToF32),
        inOneSlice("Row67CommitCast", 8, F32, BF16,
                   R"(time "A" packet "B" : !in_dm
          collect time "A" packet "B"
          commit_trim packet "B"
          commit_cast to bf16
          commit element "A, B")",
                   toBF16),
        inOneSlice("Row67CommitCastRelu", 4, F32, BF16,
                   R"(time "A" packet "B" : !in_dm
          collect time "A" packet "B # 8"
          commit_trim packet "B"
          commit_cast_relu to bf16
          commit element "A, B")",
                   toBF16Relu)),
    [](const auto &info) { return info.param.stream.name; });

//===----------------------------------------------------------------------===//
// Cast, trim and single values
//===----------------------------------------------------------------------===//

/// A row of `live` i32 becomes one packet of `to`, of which 8 bytes are kept.
Case narrowed(std::string name, int live, ElementType to, Convert convert) {
  std::string whole = "B # " + std::to_string(256 / wireBits(to)),
              kept = "B # " + std::to_string(64 / wireBits(to));
  if (live * int64_t(wireBits(to)) == 64)
    kept = "B";
  Case test = inOneSlice(name, live, I32, to,
                         "time \"A\" packet \"B\" : !in_dm\n"
                         "collect time \"A\" packet \"" +
                             std::string(live == 8 ? "B" : "B # 8") +
                             "\"\ncast to " + mlirName(to) + " packet \"" +
                             whole + "\"\ncommit_trim packet \"" + kept +
                             "\"\ncommit element \"A, " + kept + "\"",
                         convert);
  return kept == "B" ? test : padded(test, kept);
}

INSTANTIATE_TEST_SUITE_P(
    Cast, StreamVariant,
    testing::Values(narrowed("Row37EightI32ToI8", 8, I8,
                             [](uint32_t code) { return code & 0xFF; }),
                    narrowed("Row37FourI32ToI8", 4, I8,
                             [](uint32_t code) { return code & 0xFF; }),
                    narrowed("Row38I32ToI4", 8, I4,
                             [](uint32_t code) { return code & 0xF; })),
    [](const auto &info) { return info.param.stream.name; });

/// Runs a chain over A = 1 and B on `codes`.
void expectValues(std::string name, ElementType in, ElementType out,
                  const std::string &stages, const Codes &codes,
                  const Codes &expected, const std::string &kept = "B") {
  std::string size = std::to_string(codes.size());
  Stream stream{name, "B = " + size, in,        out,  "B",   "1 # 256",
                "B",  kept,          "1 # 256", kept, stages};
  SCOPED_TRACE(stream.text());
  Built built;
  ASSERT_NO_FATAL_FAILURE(build(stream.text(), built));
  std::vector<HostArray> arguments = makeArguments(built, "bits");
  arguments[0].codes = codes;
  compare(built, arguments, expected, /*seeds=*/0);
}

/// 1 + 2^-8 is a tie, 1 + 1.5 * 2^-7 as well, 1e-40 is no normal number.
TEST(StreamValues, Row40CastToBF16) {
  for (const char *stages :
       {"time \"1\" packet \"B\" : !in_dm\ncollect time \"1\" packet \"B\"\n"
        "cast to bf16 packet \"B # 16\"\ncommit_trim packet \"B\"\n"
        "commit element \"B\"",
        "time \"1\" packet \"B\" : !in_dm\ncollect time \"1\" packet \"B\"\n"
        "commit_trim packet \"B\"\ncommit_cast to bf16\n"
        "commit element \"B\""})
    expectValues("cast", F32, BF16, stages,
                 {0x3F808000, 0x3F818000, 0x000116C2, 0x3F800000, 0xBF808000,
                  0xBF818000, 0x800116C2, 0},
                 {0x3F80, 0x3F82, 0, 0x3F80, 0xBF80, 0xBF82, 0x8000, 0});
}

TEST(StreamValues, Row68CommitCastRelu) {
  expectValues(
      "relu", F32, BF16,
      "time \"1\" packet \"B\" : !in_dm\ncollect time \"1\" packet \"B\"\n"
      "commit_trim packet \"B\"\ncommit_cast_relu to bf16\n"
      "commit element \"B\"",
      {asPattern(-5), asPattern(-0.1f), 0, asPattern(3.7f), 0x80000000,
       0x7FC00000, asPattern(1), asPattern(2)},
      {0, 0, 0, 0x406D, 0, 0x7FC0, 0x3F80, 0x4000});
}

/// 448 is the largest f8e4m3; code 8 of f4e2m1 is -0.
TEST(StreamValues, Row70TableLookup) {
  Codes largest(16, 0x7E), zero(32, 0x8);
  expectValues("largest", E4M3, BF16,
               "time \"1\" packet \"B\" : !in_dm\ntable_lookup to bf16\n"
               "collect time \"1\" packet \"B\"\ncommit_trim packet \"B\"\n"
               "commit element \"B\"",
               largest, Codes(16, 0x43E0));
  expectValues("zero", E2M1, E4M3,
               "time \"1\" packet \"B\" : !in_dm\ntable_lookup to f8E4M3FN\n"
               "collect time \"1\" packet \"B\"\ncommit_trim packet \"B\"\n"
               "commit element \"B\"",
               zero, Codes(32, 0x80));
}

/// Eight f32 of which the first four or two are kept.
TEST(StreamValues, Row66Trim) {
  Codes codes;
  for (uint32_t i = 0; i < 8; ++i)
    codes.push_back(asPattern(float(i + 1)));
  for (size_t kept : {4, 2}) {
    std::string window = "B = " + std::to_string(kept);
    expectValues("trim", F32, F32,
                 "time \"1\" packet \"B\" : !in_dm\n"
                 "collect time \"1\" packet \"B\"\ncommit_trim packet \"" +
                     window + "\"\ncommit element \"" + window + "\"",
                 codes, Codes(codes.begin(), codes.begin() + kept), window);
  }
}

//===----------------------------------------------------------------------===//
// Switch
//===----------------------------------------------------------------------===//

INSTANTIATE_TEST_SUITE_P(
    Switch, StreamVariant,
    testing::Values(
        overSlices("Forwarding", "A = 8, B = 32, C = 256", "C, A, B", "C",
                   "A, B", "C, A, B", "C", "A", "A", "forwarding []"),
        overSlices("Row49Broadcast01", "A = 8, B = 32, C = 256, D = 4",
                   "C, A, B", "C", "A, B", "D, C, A, B", "C / 4, D",
                   "A / 2, C / 2 % 2, A % 2, C % 2", "A",
                   "broadcast01 [2, 2, 2]"),
        overSlices("Broadcast01Padding", "A = 8, B = 32, C = 256", "C, A, B",
                   "C", "A, B", "C, A, B", "C / 4, 1 # 4",
                   "A, C / 2 % 2, C % 2", "A", "broadcast01 [2, 2, 1]"),
        overSlices("Gather", "B = 32, C = 256, F = 256", "C, B", "C", "B",
                   "F, C, B", "F", "C", "1", "broadcast01 [256, 1, 1]"),
        overSlices("Row50Broadcast1", "A = 8, B = 32, C = 256, D = 4",
                   "C, A, B", "C", "A, B", "D, C, A, B", "C / 16, D, C % 4",
                   "A, C / 4 % 4", "A", "broadcast1 [4, 4]"),
        overSlices("Row51Transpose", "A = 8, B = 32, C = 256", "C, A, B", "C",
                   "A, B", "C, A, B", "C / 64, C % 2, C / 2 % 32", "A", "A",
                   "transpose [32, 2]"),
        overSlices("Row52InterTranspose", "A = 8, B = 32, C = 256", "C, A, B",
                   "C", "A, B", "C, A, B", "C / 32, A / 2 % 2, C % 16",
                   "A / 4, A % 2, C / 16 % 2", "A",
                   "inter_transpose [2, 16, 2]"),
        overSlices("InterTranspose8", "A = 8, B = 32, C = 256", "C, A, B", "C",
                   "A, B", "C, A, B", "A, C % 32", "C / 32 % 8", "A",
                   "inter_transpose [8, 32, 1]"),
        overSlices("Row53TransposedBroadcast1",
                   "A = 16, B = 32, C = 256, D = 8", "C, A, B", "C", "A, B",
                   "D, C, A, B", "C / 64, D, C / 8 % 8", "A, C % 8", "A",
                   "transposed_broadcast1 [8, 8]"),
        // Clusters of one and of two PEs.
        overSlices("OnePE", "A = 8, B = 32, C = 64", "C, A, B", "C", "A, B",
                   "C, A, B", "C % 4, C / 4", "A", "A", "transpose [16, 4]", 1),
        overSlices("TwoPEs", "A = 8, B = 32, C = 128, D = 128", "C, A, B", "C",
                   "A, B", "D, C, A, B", "D", "A, C", "A",
                   "broadcast1 [128, 1]", 2),
        // Not all slices hold data.
        overSlices("Ragged", "A = 8, B = 32, C = 128", "C, A, B", "C # 256",
                   "A, B", "C, A, B",
                   "C # 256 / 16, C # 256 % 4, C # 256 / 4 % 4", "A", "A",
                   "transpose [4, 4]"),
        // A conversion in front, packets of two flits.
        Case{{"Widened", "A = 4, B = 16, C = 256, D = 2", I8, I32, "C, A, B",
              "C", "A, B", "D, C, A, B", "C / 2, D", "A, C % 2, B",
              R"(time "A" packet "B" : !in_dm
              fetch_cast to i32
              switch broadcast1 [2, 1] slice "C / 2, D" time "A, C % 2"
              collect time "A, C % 2, B / 8" packet "B % 8"
              commit_trim packet "B % 8"
              commit element "A, C % 2, B")"},
             fromI8}),
    [](const auto &info) { return info.param.stream.name; });

INSTANTIATE_TEST_SUITE_P(
    CustomSwitch, StreamVariant,
    testing::Values(
        overSlices("Spread", "A = 64, T = 8, B = 32, Y = 4", "A, T, B",
                   "A, 1 # 4", "T, B", "Y, A, T, B", "A, Y", "T", "T",
                   "custom_broadcast [4]"),
        overSlices("Replace", "P = 64, Q = 4, T = 8, B = 32, Y = 4",
                   "P, Q, T, B", "P, Q", "T, B", "Y, P, Q, T, B", "P, Y",
                   "T, Q", "T", "custom_broadcast [4]"),
        overSlices("Swap", "P = 32, Q = 8, T = 8, B = 32", "P, Q, T, B", "P, Q",
                   "T, B", "P, Q, T, B", "Q, P", "T", "T",
                   "custom_broadcast [256]"),
        overSlices("TwoDigits", "P = 64, L = 4, T = 4, B = 32", "P, T, B",
                   "1 # 2, P, 1 # 2", "T, B", "L, P, T, B", "L / 2, P, L % 2",
                   "T", "T", "custom_broadcast [256]"),
        overSlices("Row54Reversal", "V = 16, W = 16, T = 4, B = 32",
                   "V, W, T, B", "V, W", "T, B", "V, W, T, B",
                   "W % 4, W / 4, V % 4, V / 4", "T", "T",
                   "custom_broadcast [256]"),
        overSlices("Row55TwoAxes",
                   "V = 16, W = 16, T = 4, B = 32, Y = 2, Z = 2", "V, W, T, B",
                   "V, W", "T, B", "Y, Z, V, W, T, B", "V / 2, Y, W / 2, Z",
                   "T, V % 2, W % 2", "T", "custom_broadcast [32]"),
        overSlices("PaddedAxis", "V = 16, W = 4, C = 3, T = 4, B = 32, X = 4",
                   "V, W, C, T, B", "V, W, C # 4", "T, B", "X, V, W, C, T, B",
                   "V, W, X", "T, C", "T", "custom_broadcast [4]"),
        overSlices("MorePadding", "R = 8, Q = 8, T = 4, B = 32", "R, Q, T, B",
                   "R # 16, Q # 16", "T, B", "R, Q, T, B", "Q # 32, R", "T",
                   "T", "custom_broadcast [128]"),
        overSlices("OnePE", "P = 16, Q = 4, T = 8, B = 32, Y = 4", "P, Q, T, B",
                   "P, Q", "T, B", "Y, P, Q, T, B", "P, Y", "T, Q", "T",
                   "custom_broadcast [4]", 1)),
    [](const auto &info) { return info.param.stream.name; });

/// Named configurations with random parts.
TEST(Random, Switch) {
  Choices choices(8);
  for (int i = 0; i < choices.cases; ++i) {
    int64_t slice1 = choices.pick({2, 4, 8}), slice0 = choices.pick({2, 4}),
            time0 = choices.pick({2, 4});
    int64_t times = slice1 * time0 * choices.pick({1, 2});
    if (times > 16)
      continue;
    auto format = [&](const char *text) {
      // Numbers of the configuration stand as letters.
      std::string result;
      for (const char *at = text; *at; ++at)
        switch (*at) {
        case 'p':
          result += std::to_string(slice1);
          break;
        case 'q':
          result += std::to_string(slice0);
          break;
        case 'r':
          result += std::to_string(slice1 * slice0);
          break;
        case 't':
          result += std::to_string(time0);
          break;
        case 'u':
          result += std::to_string(slice1 * time0);
          break;
        default:
          result += *at;
        }
      return result;
    };
    struct Form {
      const char *config, *slice, *time;
      int64_t tile;
    };
    const Form forms[] = {
        {"broadcast01 ", "C / r, D", "A / t, C / q % p, A % t, C % q",
         slice1 * slice0},
        {"broadcast1 ", "C / r, D, C % q", "A, C / q % p", slice1},
        {"transpose ", "C / r, C % q, C / q % p", "A", 1},
        {"inter_transpose ", "C / r, A / t % p, C % q",
         "A / u, A % t, C / q % p", 1},
        {"transposed_broadcast1 ", "C / r, D, C / q % p", "A, C % q", slice0}};
    const Form &form = forms[choices.pick({0, 1, 2, 3, 4})];
    bool hasTime = form.config[0] == 'i' || form.tile == slice1 * slice0;
    std::string numbers = "[" + std::to_string(slice1) + ", " +
                          std::to_string(slice0) +
                          (hasTime ? ", " + std::to_string(time0) : "") + "]";
    bool hasTile = form.tile > 1;
    Case test = overSlices(
        "Random",
        "A = " + std::to_string(times) +
            ", B = 32, C = 256, D = " + std::to_string(form.tile),
        "C, A, B", "C", "A, B", hasTile ? "D, C, A, B" : "C, A, B",
        format(form.slice), format(form.time), "A", form.config + numbers);
    Built built;
    ASSERT_NO_FATAL_FAILURE(build(test.stream.text(), built))
        << test.stream.text();
    std::vector<HostArray> arguments = makeArguments(built, "bits");
    ASSERT_NO_FATAL_FAILURE(
        compare(built, arguments, expectedCodes(test, arguments[0].codes)))
        << test.stream.text();
  }
}

/// Slices whose bits are set.
std::vector<int> listOf(const std::array<uint64_t, 4> &bitmap) {
  std::vector<int> slices;
  for (int slice = 0; slice < 256; ++slice)
    if (bitmap[slice / 64] >> slice % 64 & 1)
      slices.push_back(slice);
  return slices;
}

// The bitmaps that the Tensor Unit path gives for mappings of the book.
TEST(SnoopBitmap, Examples) {
  MLIRContext context;
  context.loadDialect<lir::LIRDialect>();
  OpBuilder builder(&context);
  auto bitmaps = [&](int64_t ring, ArrayRef<int64_t> sizes,
                     ArrayRef<int64_t> strides, ArrayRef<int64_t> packetSizes,
                     ArrayRef<int64_t> packetStrides) {
    OwningOpRef<lir::CustomSwitchOp> op =
        lir::CustomSwitchOp::create(builder, builder.getUnknownLoc(), ring,
                                    sizes, strides, packetSizes, packetStrides);
    return op->getSnoopBitmaps();
  };
  using List = std::vector<int>;
  // [V / 4, V % 4, W / 4, W % 4] to [W % 4, W / 4, V % 4, V / 4].
  auto reversal = bitmaps(256, {4, 4, 4, 4}, {1, 4, 16, 64}, {}, {});
  ASSERT_EQ(reversal.size(), 256u);
  for (auto [slice, sender] : {std::pair(0, 0),
                               {1, 64},
                               {2, 128},
                               {3, 192},
                               {4, 16},
                               {5, 80},
                               {64, 1},
                               {255, 255}})
    EXPECT_EQ(listOf(reversal[slice]), List{sender}) << slice;
  // [A, B] to [A / 2, X, B / 2, Y], A % 2 and B % 2 moved into time.
  auto tiles = bitmaps(32, {8, 2, 8, 2}, {32, 0, 2, 0}, {2, 2}, {16, 1});
  EXPECT_EQ(listOf(tiles[0]), (List{0, 1, 16, 17}));
  EXPECT_EQ(listOf(tiles[1]), (List{0, 1, 16, 17}));
  EXPECT_EQ(listOf(tiles[3]), (List{2, 3, 18, 19}));
  EXPECT_EQ(listOf(tiles[255]), (List{238, 239, 254, 255}));
  // [A, B, C # 4] to [A, B, X], C = 3 moved into time.
  auto padded = bitmaps(4, {64, 4}, {4, 0}, {3}, {1});
  EXPECT_EQ(listOf(padded[3]), (List{0, 1, 2}));
  EXPECT_EQ(listOf(padded[4]), (List{4, 5, 6}));
  EXPECT_EQ(listOf(padded[255]), (List{252, 253, 254}));
  // [P, 1 # 4] to [P, Y].
  auto spread = bitmaps(4, {64, 4}, {4, 0}, {}, {});
  EXPECT_EQ(listOf(spread[7]), List{4});
}

//===----------------------------------------------------------------------===//
// Transpose
//===----------------------------------------------------------------------===//

static Case transposed(std::string name, ElementType type, std::string axes,
                       std::string inTime, std::string cells,
                       std::string inPacket, std::string outTime,
                       std::string outPacket, std::string trim,
                       std::string outAxes) {
  std::string out = outTime + ", " + trim;
  return {{name, axes, type, type, inTime + ", " + cells, "1 # 256",
           inTime + ", " + cells, out, "1 # 256", out,
           "time \"" + inTime + "\" packet \"" + cells +
               "\" : !in_dm\n collect time \"" + inTime + "\" packet \"" +
               inPacket + "\"\n transpose time \"" + outTime + "\" packet \"" +
               outPacket + "\"\n commit_trim packet \"" + trim +
               "\"\n commit element \"" + out + "\""},
          nullptr,
          outAxes};
}

static std::vector<Case> listTransposes() {
  return {transposed("Row41I8TwoFlits", I8, "B = 2, C = 8, D = 2, E = 8",
                     "B, C, D", "E", "E # 32", "B, D, E", "C # 32", "C",
                     "B, D, E, C"),
          transposed("Row43I8FourFlits", I8, "B = 2, C = 8, D = 4, E = 8",
                     "B, C, D", "E", "E # 32", "B, D, E", "C # 32", "C",
                     "B, D, E, C"),
          transposed("Row42I8Small", I8, "A = 4, B = 2", "A", "B", "B # 32",
                     "B", "A # 32", "A # 8", "B, A"),
          transposed("Row44BF16FourFlits", BF16, "C = 8, D = 4, E = 8", "C, D",
                     "E", "E # 16", "C, E", "D # 16", "D", "C, E, D"),
          transposed("Row45I4", I4, "B = 4, C = 16, E = 16", "B, C", "E",
                     "E # 64", "B, E", "C # 64", "C", "B, E, C"),
          transposed("Row46F32", F32, "B = 4, D = 2, E = 8", "B, D", "E", "E",
                     "B, E", "D # 8", "D", "B, E, D"),
          transposed("Row47OneRow", BF16, "B = 4, H = 8", "B", "H", "H # 16",
                     "B, H", "1 # 16", "1 # 4", "B, H"),
          transposed("Trimmed", I16, "B = 4, H = 2", "B", "H", "H # 16", "H",
                     "B # 16", "B", "H, B"),
          transposed("Row48ManyBatches", BF16, "C = 2, D = 8, S = 4, T = 4",
                     "C, S, T", "D", "D # 16", "C, S, D", "T # 16", "T",
                     "C, S, D, T")};
}

/// The same in the sub context, which reads no runs of less than 8 bytes.
static std::vector<Case> inSub(std::vector<Case> cases) {
  llvm::erase_if(cases, [](const Case &test) {
    return test.stream.name == "Row42I8Small" || test.stream.name == "Trimmed";
  });
  for (Case &test : cases)
    test.stream.context = "sub";
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Transpose, StreamVariant,
                         testing::ValuesIn(listTransposes()),
                         [](const auto &info) {
                           return info.param.stream.name;
                         });
INSTANTIATE_TEST_SUITE_P(SubTranspose, StreamVariant,
                         testing::ValuesIn(inSub(listTransposes())),
                         [](const auto &info) {
                           return info.param.stream.name;
                         });

} // namespace
