//===- CorpusChainTest.cpp - Vector chains of transformer kernels ---------===//
//
// Chains through the vector engine as kernels of real models have them, with
// their mappings and sizes, against plain loops over logical indices. Tests are
// named by what the chain is for. The model examples have the rest.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <functional>

using namespace furiosa;
using namespace furiosa::test;

namespace {

/// A tensor in HBM and in the slices.
struct Tensor {
  std::string type, hbm, slice, element;
};
/// How it is fetched; a narrow one is cast.
struct Stream {
  std::string time, packet, flitTime, flitPacket;
};

struct Chain {
  std::string axes;
  Tensor in, out;
  Stream stream;
  /// From vector_tag to the last stage of the engine.
  std::string stages = "";
  /// Behind vector_final, in front of commit.
  std::string tail = "";
  /// Operands of the register file, %v0, ….
  std::vector<std::pair<Tensor, Stream>> operands = {};
  std::string cluster = "1 # 2";
};

std::string wideType(const std::string &type) {
  return type == "bf16" ? "f32" : type == "i8" ? "i32" : type;
}

std::string makeText(const Chain &chain) {
  std::string text = "#axes = #tmap.axes<" + chain.axes + ">\n";
  auto declare = [&](const std::string &name, const Tensor &tensor) {
    text += "!" + name + " = !visa.hbm<" + tensor.type + ", element \"" +
            tensor.hbm + "\", #axes>\n!" + name + "d = !visa.dm<" +
            tensor.type + ", cluster \"" + chain.cluster + "\", slice \"" +
            tensor.slice + "\", element \"" + tensor.element + "\", #axes>\n";
  };
  declare("a", chain.in);
  declare("r", chain.out);
  std::string arguments = "%a: !a", body;
  auto fetch = [&](const std::string &name, const Tensor &tensor,
                   const Stream &stream) {
    body += "    fetch %" + name + "d time \"" + stream.time + "\" packet \"" +
            stream.packet + "\" : !" + name + "d\n";
    if (wideType(tensor.type) != tensor.type)
      body += "    fetch_cast to " + wideType(tensor.type) + "\n";
    body += "    collect time \"" + stream.flitTime + "\" packet \"" +
            stream.flitPacket + "\"\n";
  };
  std::string operandBodies;
  for (auto [index, operand] : llvm::enumerate(chain.operands)) {
    const auto &[tensor, stream] = operand;
    std::string name = "b" + std::to_string(index);
    declare(name, tensor);
    text += "!v" + std::to_string(index) + " = !visa.vrf<" +
            wideType(tensor.type) + ", cluster \"" + chain.cluster +
            "\", slice \"" + tensor.slice + "\", element \"" + tensor.element +
            "\", #axes>\n";
    arguments += ", %" + name + ": !" + name;
    body = "  %" + name + "d = visa.to_dm %" + name + " : !" + name + " -> !" +
           name + "d\n  %v" + std::to_string(index) +
           " = visa.chain sub -> !v" + std::to_string(index) + " {\n";
    fetch(name, tensor, stream);
    operandBodies +=
        body + "    to_vrf element \"" + tensor.element + "\"\n  }\n";
  }
  body =
      "  %ad = visa.to_dm %a : !a -> !ad\n  %rd = visa.chain main -> !rd {\n";
  fetch("a", chain.in, chain.stream);
  return text + "func.func @kernel(" + arguments +
         ") -> !r attributes {visa.kernel} {\n" + operandBodies + body +
         "    vector_init\n" + chain.stages + "    vector_final\n" +
         chain.tail + "    commit element \"" + chain.out.element +
         "\"\n  }\n  %r = visa.to_hbm %rd : !rd -> !r\n  return %r : !r\n}\n";
}

using Values = std::vector<float>;
using Expect = std::function<Values(const std::vector<Values> &)>;

float roundToBf16(float value) {
  uint32_t bits = asPattern(value);
  bits += 0x7FFF + (bits >> 16 & 1);
  return asFloat(bits & 0xFFFF0000);
}

void run(const Chain &chain, const char *fill, const Expect &expect) {
  std::string text = makeText(chain);
  SCOPED_TRACE(text);
  Built built;
  ASSERT_NO_FATAL_FAILURE(build(text, built));
  auto arguments = makeArguments(built, fill);
  std::vector<Values> values;
  for (auto [argument, layout] : llvm::zip_equal(arguments, built.inputs)) {
    Values &list = values.emplace_back();
    for (uint32_t code : argument.codes)
      list.push_back(layout.type() == ElementType::F32 ? asFloat(code)
                     : isInteger(layout.type())
                         ? float(decodeInteger(layout.type(), code))
                         : valueOf(layout.type(), code));
  }
  Codes expected;
  for (float value : expect(values))
    expected.push_back(chain.out.type == "i32"
                           ? uint32_t(int32_t(value))
                           : (chain.out.type == "bf16"
                                  ? asPattern(roundToBf16(value)) >> 16
                                  : asPattern(value)));
  compare(built, arguments, expected, /*seeds=*/1);
}

/// Packets of four as a tree, then in order.
template <typename Function>
float reduce(const float *values, size_t count, float start, Function op) {
  float sum = start;
  for (size_t at = 0; at < count; at += 4)
    sum = op(sum, op(op(values[at], values[at + 1]),
                     op(values[at + 2], values[at + 3])));
  return sum;
}
float add(float a, float b) { return a + b; }
float larger(float a, float b) { return std::max(a, b); }
float expOf(float x) { return float(std::exp(double(x))); }

const std::string tag = "    vector_tag zero\n";

std::string narrow(const std::string &time, const std::string &packet) {
  return "    vector_narrow split time \"" + time + "\" packet \"" + packet +
         "\"\n";
}
std::string widen(const std::string &time, const std::string &packet) {
  return "    vector_widen concat time \"" + time + "\" packet \"" + packet +
         "\"\n";
}
std::string trim(const std::string &packet) {
  return "    commit_trim packet \"" + packet + "\"\n";
}
std::string toBf16(const std::string &packet) {
  return "    cast to bf16 packet \"" + packet + " # 16\"\n" + trim(packet);
}

//===----------------------------------------------------------------------===//
// Softmax: N = 8 groups of G = 2 heads over T = 512 positions
//===----------------------------------------------------------------------===//

const std::string heads = "N = 8, G = 2, T = 512, D = 128";
constexpr size_t rows = 16, positions = 512;
const Tensor scores16{"bf16", "N, G, T", "1 # 256", "N, G, T"};
const Tensor scores32{"f32", "N, G, T", "1 # 256", "N, G, T"};
const Tensor perHead{"f32", "N, G", "1 # 256", "N, G"};
const Stream rowsOf16{"N, G, T / 16", "T % 16", "N, G, T / 8", "T % 8"};
const Stream rowsOf32{"N, G, T / 8", "T % 8", "N, G, T / 8", "T % 8"};
const Stream headsStream{"N / 4", "N % 4, G", "N / 4", "N % 4, G"};

/// K23, K27: one value a row, turned so that a commit writes both of a group.
void runRows(const std::string &fn, const std::string &more, float start,
             const std::function<float(float, float)> &op, float addend) {
  bool isWide = fn == "add";
  Chain chain{.axes = heads,
              .in = isWide ? scores32 : scores16,
              .out = perHead,
              .stream = isWide ? rowsOf32 : rowsOf16,
              .stages = tag + narrow("N, G, T / 4", "T % 4") +
                        "    vector_reduce " + fn +
                        " axis \"T\" time \"N, G\" packet \"1 # 4\"\n"
                        "    vector_widen pad packet \"1 # 8\"\n" +
                        more,
              .tail =
                  "    transpose time \"N\" packet \"G # 8\"\n" + trim("G")};
  run(chain, "quarter", [&](const std::vector<Values> &in) {
    Values result;
    for (size_t row = 0; row < rows; ++row)
      result.push_back(reduce(&in[0][row * positions], positions, start, op) +
                       addend);
    return result;
  });
}

TEST(CorpusChains, RowMaximum) { runRows("max", "", -INFINITY, larger, 0); }
TEST(CorpusChains, RowSum) {
  runRows("add", "    vector_clip add [imm 6.25e-8]\n", 0, add, 6.25e-8f);
}

TEST(CorpusChains, ExponentialsOfDifferences) {
  run({.axes = heads,
       .in = scores16,
       .out = scores32,
       .stream = rowsOf16,
       .stages = tag + narrow("N, G, T / 4", "T % 4") +
                 "    vector_fp sub [vrf %v0] : !v0\n    vector_fp exp\n" +
                 widen("N, G, T / 8", "T % 8"),
       .tail = trim("T % 8"),
       .operands = {{perHead, headsStream}}},
      "quarter", [](const std::vector<Values> &in) {
        Values result;
        for (size_t n = 0; n < in[0].size(); ++n)
          result.push_back(expOf(in[0][n] - in[1][n / positions]));
        return result;
      });
}

TEST(CorpusChains, Mask) {
  run({.axes = heads,
       .in = scores32,
       .out = scores32,
       .stream = rowsOf32,
       .stages = tag + "    vector_clip min [vrf %v0] : !v0\n",
       .tail = trim("T % 8"),
       .operands = {{{"f32", "T", "1 # 256", "T"},
                     {"T / 8", "T % 8", "T / 8", "T % 8"}}}},
      "quarter", [](const std::vector<Values> &in) {
        Values result;
        for (size_t n = 0; n < in[0].size(); ++n)
          result.push_back(std::min(in[0][n], in[1][n % positions]));
        return result;
      });
}

/// K33 … K35: how a running softmax goes on with the next positions.
TEST(CorpusChains, RunningMaximumScaleAndSum) {
  Chain chain{.axes = heads,
              .in = perHead,
              .out = perHead,
              .stream = headsStream,
              .stages = tag + "    vector_clip max [vrf %v0] : !v0\n",
              .tail = trim("N % 4, G"),
              .operands = {{perHead, headsStream}}};
  auto each =
      [&](const std::function<float(const std::vector<Values> &, size_t)> &of) {
        run(chain, "quarter", [&](const std::vector<Values> &in) {
          Values result;
          for (size_t n = 0; n < rows; ++n)
            result.push_back(of(in, n));
          return result;
        });
      };
  each([](const auto &in, size_t n) { return std::max(in[0][n], in[1][n]); });
  chain.stages = tag + narrow("N / 2", "N % 2, G") +
                 "    vector_fp sub [vrf %v0] mode \"10\" : !v0\n"
                 "    vector_fp exp\n" +
                 widen("N / 4", "N % 4, G");
  each([](const auto &in, size_t n) { return expOf(in[1][n] - in[0][n]); });
  chain.stages = tag + narrow("N / 2", "N % 2, G") +
                 "    vector_fp mul0 [vrf %v0] : !v0\n" +
                 widen("N / 4", "N % 4, G") +
                 "    vector_clip add [vrf %v1] : !v1\n";
  chain.operands.push_back({perHead, headsStream});
  each([](const auto &in, size_t n) { return in[0][n] * in[1][n] + in[2][n]; });
}

/// K36, K37: results scaled, added up and divided, a value a head.
TEST(CorpusChains, ScaledSumsOfHeads) {
  const Tensor results{"bf16", "N, G, D", "1 # 256", "N, G, D"};
  Chain chain{.axes = heads,
              .in = results,
              .out = results,
              .stream = {"N, G, D / 16", "D % 16", "N, G, D / 8", "D % 8"},
              .tail = toBf16("D % 8"),
              .operands = {{perHead, headsStream}}};
  for (bool divides : {false, true}) {
    chain.stages = tag + narrow("N, G, D / 4", "D % 4") + "    vector_fp " +
                   (divides ? "div" : "mul0") + " [vrf %v0] : !v0\n" +
                   widen("N, G, D / 8", "D % 8");
    run(chain, "positive", [&](const std::vector<Values> &in) {
      Values result;
      for (size_t n = 0; n < in[0].size(); ++n)
        result.push_back(divides ? in[0][n] / in[1][n / 128]
                                 : in[0][n] * in[1][n / 128]);
      return result;
    });
  }
}

//===----------------------------------------------------------------------===//
// RMS norm, residual, rotary positions, gates
//===----------------------------------------------------------------------===//

const std::string units = "H = 1024";
const Tensor row16{"bf16", "H", "1 # 256", "H"};
const Stream rowStream{"H / 16", "H % 16", "H / 8", "H % 8"};

TEST(CorpusChains, MeanSquareOfARow) {
  run({.axes = units,
       .in = row16,
       .out = {"f32", "1 # 8", "1 # 256", "1 # 8"},
       .stream = rowStream,
       .stages =
           tag + narrow("H / 4", "H % 4") +
           "    vector_stash\n    vector_fp mul0 [stash]\n"
           "    vector_reduce add axis \"H\" time \"1\" packet \"1 # 4\"\n"
           "    vector_fp_div [imm 1024.0]\n"
           "    vector_widen pad packet \"1 # 8\"\n"
           "    vector_clip add [imm 6.25e-8]\n",
       .tail = trim("1 # 8")},
      "quarter", [](const std::vector<Values> &in) {
        Values squares;
        for (float value : in[0])
          squares.push_back(value * value);
        return Values{reduce(squares.data(), 1024, 0, add) / 1024 + 6.25e-8f};
      });
}

/// The root as an operand of one value is in the decoder example.
TEST(CorpusChains, NormApplied) {
  run({.axes = units,
       .in = row16,
       .out = row16,
       .stream = rowStream,
       .stages = tag + narrow("H / 4", "H % 4") +
                 "    vector_fp mul0 [vrf %v0] : !v0\n"
                 "    vector_fp div [vrf %v1] : !v1\n" +
                 widen("H / 8", "H % 8"),
       .tail = toBf16("H % 8"),
       .operands = {{row16, rowStream}, {row16, rowStream}}},
      "positive", [](const std::vector<Values> &in) {
        Values result;
        for (size_t n = 0; n < 1024; ++n)
          result.push_back(in[0][n] * in[1][n] / in[2][n]);
        return result;
      });
}

TEST(CorpusChains, Residual) {
  run({.axes = units,
       .in = row16,
       .out = row16,
       .stream = rowStream,
       .stages = tag + "    vector_clip add [vrf %v0] : !v0\n",
       .tail = toBf16("H % 8"),
       .operands = {{row16, rowStream}}},
      "quarter", [](const std::vector<Values> &in) {
        Values result;
        for (size_t n = 0; n < 1024; ++n)
          result.push_back(in[0][n] + in[1][n]);
        return result;
      });
}

/// K42, K43: heads in slices, squares of each group turned into one packet.
TEST(CorpusChains, MeanSquareOfHeadsAndItsRoot) {
  const std::string slice = "N, 1 # 32";
  Chain chain{.axes = heads,
              .in = {"bf16", "N, G, D", slice, "G, D"},
              .out = {"f32", "N, G", slice, "G"},
              .stream = {"G, D / 16", "D % 16", "G, D / 8", "D % 8"},
              .stages = tag + narrow("G, D / 4", "D % 4") +
                        "    vector_stash\n    vector_fp mul0 [stash]\n"
                        "    vector_reduce add axis \"D\" time \"G\" packet "
                        "\"1 # 4\"\n    vector_fp_div [imm 128.0]\n"
                        "    vector_widen pad packet \"1 # 8\"\n"
                        "    vector_clip add [imm 6.25e-8]\n",
              .tail =
                  "    transpose time \"1\" packet \"G # 8\"\n" + trim("G")};
  run(chain, "quarter", [](const std::vector<Values> &in) {
    Values result;
    for (size_t row = 0; row < rows; ++row) {
      Values squares;
      for (size_t d = 0; d < 128; ++d)
        squares.push_back(in[0][row * 128 + d] * in[0][row * 128 + d]);
      result.push_back(reduce(squares.data(), 128, 0, add) / 128 + 6.25e-8f);
    }
    return result;
  });
  chain.in = chain.out;
  chain.stream = {"1", "G # 8", "1", "G # 8"};
  chain.in.element = chain.in.hbm = "G # 8";
  chain.in.hbm = "N, G # 8";
  chain.stages = tag + "    vector_narrow trim packet \"G # 4\"\n"
                       "    vector_fp sqrt\n"
                       "    vector_widen pad packet \"G # 8\"\n";
  chain.tail = trim("G");
  run(chain, "positive", [](const std::vector<Values> &in) {
    Values result;
    for (float value : in[0])
      result.push_back(std::sqrt(value));
    return result;
  });
}

/// K46, K47.
TEST(CorpusChains, RotaryPositions) {
  const std::string slice = "N, 1 # 32";
  const Tensor wide{"f32", "N, G, D", slice, "G, D"};
  const Tensor narrowed{"bf16", "N, G, D", slice, "G, D"};
  Chain chain{.axes = heads,
              .in = narrowed,
              .out = wide,
              .stream = {"G, D / 16", "D % 16", "G, D / 8", "D % 8"},
              .tail = trim("D % 8"),
              .operands = {{{"bf16", "D", slice, "D"},
                            {"D / 16", "D % 16", "D / 8", "D % 8"}}}};
  for (const char *fn : {"mul0", "mul1"}) {
    chain.stages = tag + narrow("G, D / 4", "D % 4") + "    vector_fp " + fn +
                   " [vrf %v0] : !v0\n" + widen("G, D / 8", "D % 8");
    run(chain, "quarter", [](const std::vector<Values> &in) {
      Values result;
      for (size_t n = 0; n < in[0].size(); ++n)
        result.push_back(in[0][n] * in[1][n % 128]);
      return result;
    });
  }
  chain.in = wide;
  chain.out = narrowed;
  chain.stream = {"G, D / 8", "D % 8", "G, D / 8", "D % 8"};
  chain.operands = {{wide, chain.stream}};
  chain.stages = tag + "    vector_clip add [vrf %v0] : !v0\n";
  chain.tail = toBf16("D % 8");
  run(chain, "quarter", [](const std::vector<Values> &in) {
    Values result;
    for (size_t n = 0; n < in[0].size(); ++n)
      result.push_back(in[0][n] + in[1][n]);
    return result;
  });
}

/// K15: L = 3072 units, 24 a slice.
TEST(CorpusChains, GateTimesUp) {
  const Stream stream{"L / 8 % 3", "L % 8", "L / 8 % 3", "L % 8"};
  run({.axes = "L = 3072",
       .in = {"bf16", "L", "L / 24, 1 # 2", "L % 24"},
       .out = {"bf16", "L", "L / 24, 1 # 2", "L % 24"},
       .stream = stream,
       .stages = tag + narrow("L / 4 % 6", "L % 4") +
                 "    vector_fp mul1 [vrf %v0] : !v0\n" +
                 widen("L / 8 % 3", "L % 8"),
       .tail = toBf16("L % 8"),
       .operands = {{{"f32", "L", "L / 24, 1 # 2", "L % 24"}, stream}}},
      "quarter", [](const std::vector<Values> &in) {
        Values result;
        for (size_t n = 0; n < 3072; ++n)
          result.push_back(in[0][n] * in[1][n]);
        return result;
      });
}

//===----------------------------------------------------------------------===//
// Sums over slices and element-wise helpers
//===----------------------------------------------------------------------===//

/// K32: T / 16 = 32 slices of each N.
TEST(CorpusChains, SumOverSlices) {
  run({.axes = "N = 8, G = 2, K = 32, D = 128",
       .in = {"bf16", "N, K, G, D", "N, K", "G, D"},
       .out = {"bf16", "N, G, D", "N, 1 # 32", "G, D"},
       .stream = {"G, D / 16", "D % 16", "G, D / 8", "D % 8"},
       .stages = "    vector_inter_slice_reduce add slice \"N, 1 # 32\" time "
                 "\"G, D / 8\"\n",
       .tail = toBf16("D % 8")},
      "quarter", [](const std::vector<Values> &in) {
        Values result;
        for (size_t n = 0; n < 8; ++n)
          for (size_t at = 0; at < 256; ++at) {
            float sum = 0;
            for (size_t k = 0; k < 32; ++k)
              sum += in[0][(n * 32 + k) * 256 + at];
            result.push_back(sum);
          }
        return result;
      });
}

/// L1: two tensors side by side on axis I.
TEST(CorpusChains, BinaryAddOfBytes) {
  run({.axes = "A = 2048, I = 2",
       .in = {"i8", "I, A", "A / 8", "I, A % 8"},
       .out = {"i32", "A", "A / 8", "A % 8"},
       .stream = {"I", "A % 8", "I", "A % 8"},
       .stages = "    vector_unzip axis \"I\" time \"1\"\n"
                 "    vector_zip clip add\n",
       .tail = trim("A % 8")},
      "bits", [](const std::vector<Values> &in) {
        Values result;
        for (size_t n = 0; n < 2048; ++n)
          result.push_back(in[0][n] + in[0][2048 + n]);
        return result;
      });
}

/// L2: an operand for all rows; both rows of a slice at once.
TEST(CorpusChains, OperandOfEveryRow) {
  run({.axes = "A = 512, B = 512",
       .in = {"i8", "A, B", "A / 2", "A % 2, B"},
       .out = {"i32", "A, B", "A / 2", "A % 2, B"},
       .stream = {"A % 2", "B", "A % 2, B / 8", "B % 8"},
       .stages = tag + "    vector_fxp add [vrf %v0] : !v0\n",
       .tail = trim("B % 8"),
       .operands = {{{"i8", "B", "A / 2", "B"}, {"1", "B", "B / 8", "B % 8"}}}},
      "bits", [](const std::vector<Values> &in) {
        Values result;
        for (size_t n = 0; n < in[0].size(); ++n)
          result.push_back(in[0][n] + in[1][n % 512]);
        return result;
      });
}

/// N14: rows of one axis times an operand that varies over time.
TEST(CorpusChains, ProductWithAnOperandInTime) {
  run({.axes = "A = 1024, C = 64",
       .in = {"i8", "A / 8, C, A % 8", "A / 8 # 256", "C, A % 8"},
       .out = {"i32", "A / 8, C, A % 8", "A / 8 # 256", "C, A % 8"},
       .stream = {"C", "A % 8", "C", "A % 8"},
       .stages = tag + "    vector_fxp mul_int [vrf %v0] : !v0\n",
       .tail = trim("A % 8"),
       .operands = {{{"i32", "C", "A / 8 # 256", "C"},
                     {"C / 8", "C % 8", "C / 8", "C % 8"}}}},
      "small", [](const std::vector<Values> &in) {
        Values result;
        for (size_t n = 0; n < in[0].size(); ++n)
          result.push_back(in[0][n] * in[1][n % 64]);
        return result;
      });
}

} // namespace
