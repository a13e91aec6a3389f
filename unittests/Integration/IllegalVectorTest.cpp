//===- IllegalVectorTest.cpp - Illegal programs of the vector engine ------===//
//
// The illegal programs of the vector engine's rules, by their numbers. Each is
// refused by the check, with the rule, at the line that has "> " in front.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

using namespace furiosa;
using namespace furiosa::test;

namespace {

/// A chain on tensors without contents.
struct Frame {
  std::string axes = "A = 8", type = "i32", outType = "i32";
  std::string slice = "1 # 256", outSlice = "1 # 256";
  std::string element = "A", outElement = "A";
  std::string time = "1", packet = "A", trim = "A";
  /// In front of the chain; the result of a chain that is not this one.
  std::string before = "";
  std::string context = "main", end = "";
};

struct Program {
  int number;
  const char *rule;
  Frame frame;
  /// From vector_init on.
  std::string stages;
};

const Frame ints, floats{.type = "f32", .outType = "f32"};
const Frame halves{.axes = "B = 4",
                   .type = "f32",
                   .outType = "f32",
                   .element = "B # 8",
                   .outElement = "B # 8",
                   .packet = "B # 8",
                   .trim = "B # 8"};
const Frame pairs{.axes = "I = 2, A = 8", .element = "I, A", .time = "I"};
const std::string split =
    "vector_narrow split time \"A / 4\" packet \"A % 4\"\n";
const std::string concat = "vector_widen concat time \"1\" packet \"A\"\n";
const std::string tag = "vector_init\nvector_tag zero\n";
const std::string unzip = "vector_init\nvector_unzip axis \"I\" time \"1\"\n";

/// R in time and packet, R in slices, …: sums of axis R.
Frame reduced(const std::string &axes, const std::string &slice,
              const std::string &time, const std::string &packet) {
  Frame frame;
  frame.axes = axes;
  frame.slice = frame.outSlice = slice;
  frame.element = time == "1" ? packet : time + ", " + packet;
  frame.time = time;
  frame.packet = packet;
  frame.outElement = frame.trim = "1 # 2";
  return frame;
}

std::vector<Program> listPrograms() {
  std::string init = "vector_init\n", fin = "vector_final\n";
  auto tagged = [&](const std::string &chain) { return tag + chain + fin; };
  return {
      {1, "VE-8", ints,
       tagged("vector_fxp add [imm 1]\nvector_fxp mul_int [imm 2]\n"
              "> vector_fxp sub [imm 3]\n")},
      {2, "VE-8", halves,
       tagged("vector_narrow trim packet \"B\"\nvector_fp sqrt\n"
              "> vector_fp tanh\nvector_widen pad packet \"B # 8\"\n")},
      {3, "VE-8", halves,
       tagged("vector_narrow trim packet \"B\"\nvector_fp div [imm 2.0]\n"
              "> vector_fp sigmoid\nvector_widen pad packet \"B # 8\"\n")},
      {4, "VE-6", ints,
       tagged("vector_fxp add [imm 1]\n> vector_logic and [imm 1]\n")},
      {5, "VE-11", floats, tagged("> vector_fp exp\n")},
      {6, "VE-12", floats,
       tag + split + "vector_fp mul0 [imm 2.0]\n> vector_final\n"},
      {7, "VE-21", floats,
       tagged("> vector_narrow trim packet \"A = 4\"\n"
              "vector_widen pad packet \"A % 4 # 8\"\n")},
      {8, "VE-16", floats,
       tagged("> vector_narrow split time \"1\" packet \"A % 4\"\n" + concat)},
      {9, "VE-6", halves,
       tagged("vector_narrow trim packet \"B\"\nvector_fp mul0 [imm 2.0]\n"
              "vector_widen pad packet \"B # 8\"\n"
              "> vector_narrow split time \"1\" packet \"B\"\n")},
      {10, "VE-37", ints,
       tagged("vector_stash\nvector_fxp add [imm 1]\n> vector_stash\n")},
      {11, "VE-39", ints,
       tagged("vector_stash\nvector_clip max [stash]\n"
              "> vector_clip add [stash]\n")},
      {12, "VE-41", floats,
       tagged("vector_stash\n" + split + "> vector_fp mul0 [stash]\n" +
              concat)},
      {13,
       "VE-40",
       {.outType = "f32"},
       tagged("vector_stash\nvector_fxp_to_fp width 31\n"
              "> vector_clip max [stash]\n")},
      {14, "VE-36", halves,
       tagged("vector_narrow trim packet \"B\"\nvector_fp mul0 [imm 2.0]\n"
              "vector_widen pad packet \"B # 8\"\n> vector_stash\n")},
      {15, "VE-26", ints,
       tagged(
           "> vector_fxp add [imm 1 if \"1---\", imm 2 if \"-1--\", imm 3 if "
           "\"--1-\", imm 4 if \"---1\"]\n")},
      {16, "VE-27", ints,
       tagged("vector_stash\n"
              "> vector_clip add [stash if \"1---\", imm 1]\n")},
      {17, "VE-29", ints,
       tagged("vector_stash\n> vector_clip add [imm 1, stash if \"1---\"]\n")},
      {18, "VE-28", ints, tagged("> vector_fxp add [imm 1 if \"!----\"]\n")},
      {19, "VE-42", ints,
       tagged("vector_stash\n> vector_clip min [stash if \"---1\"]\n")},
      {20, "VE-34", ints,
       init + "> vector_tag axis_toggle\nvector_fxp add [imm 1]\n" + fin},
      {21, "VE-50", pairs,
       unzip + "vector_fxp add group [imm 1, imm 2]\n> vector_final\n"},
      {22, "VE-49", pairs,
       unzip +
           "> vector_narrow trim packet \"A = 4\"\n"
           "vector_widen pad packet \"A = 4 # 8\"\nvector_zip clip add\n" +
           fin},
      {23, "VE-44", pairs,
       unzip +
           "vector_zip clip add\nvector_clip max [imm 0]\n"
           "> vector_stash\n" +
           fin},
      {24, "VE-51", pairs,
       unzip + "> vector_fxp add group [stash, skip]\nvector_zip clip add\n" +
           fin},
      {25, "VE-52", pairs,
       unzip + "vector_clip add group [imm 1, skip]\n> vector_zip clip add\n" +
           fin},
      {26,
       "VE-57",
       {.axes = "R = 16, A = 3, B = 4, C = 8",
        .element = "R, A, B, C",
        .outElement = "A, B, C",
        .time = "R, A, B",
        .packet = "C",
        .trim = "C"},
       tagged("vector_narrow split time \"R, A, B, C / 4\" packet \"C % 4\"\n"
              "> vector_reduce max axis \"R\" time \"A, B, C / 4\" packet "
              "\"C % 4\"\n"
              "vector_widen concat time \"A, B\" packet \"C\"\n")},
      {27,
       "VE-56",
       {.axes = "A = 4, R = 2",
        .element = "A / 2, R, A % 2",
        .outElement = "1 # 8",
        .packet = "A / 2, R, A % 2",
        .trim = "1 # 8"},
       tagged("vector_narrow split time \"A / 2\" packet \"R, A % 2\"\n"
              "> vector_reduce max axis \"R\" time \"A / 2\" packet "
              "\"A % 2 # 4\"\nvector_widen pad packet \"A % 2 # 8\"\n")},
      {28, "VE-55", reduced("R = 32", "1 # 256", "R / 8", "R % 8"),
       tagged("vector_narrow split time \"R / 4\" packet \"R % 4\"\n"
              "> vector_reduce max axis \"R\" time \"R / 4\" packet \"1 # 4\"\n"
              "vector_widen pad packet \"1 # 8\"\n")},
      {29, "VE-58", reduced("R = 2045", "R # 2048 / 8", "1", "R # 2048 % 8"),
       tagged("vector_narrow split time \"R # 2048 / 4 % 2\" packet "
              "\"R # 2048 % 4\"\n"
              "> vector_reduce max axis \"R\" time \"1\" packet \"1 # 4\"\n"
              "vector_widen pad packet \"1 # 8\"\n")},
      {30,
       "VE-58",
       {.axes = "N = 64, R = 14, C = 8",
        .slice = "N, R # 20 % 4",
        .outSlice = "N, R # 20 % 4",
        .element = "R # 20 / 4, C",
        .outElement = "C",
        .time = "R # 20 / 4",
        .packet = "C",
        .trim = "C"},
       tagged("vector_narrow split time \"R # 20 / 4, C / 4\" packet \"C % "
              "4\"\n> vector_reduce max axis \"R\" time \"C / 4\" packet \"C % "
              "4\"\nvector_widen concat time \"1\" packet \"C\"\n")},
      {31,
       "VE-58",
       {.axes = "N = 64, R = 13, C = 8",
        .slice = "N, R # 16 / 2 % 4",
        .outSlice = "N, R # 16 / 2 % 4",
        .element = "R # 16 / 8, R # 16 % 2, C",
        .outElement = "C",
        .time = "R # 16 / 8, R # 16 % 2",
        .packet = "C",
        .trim = "C"},
       tagged("vector_narrow split time \"R # 16 / 8, R # 16 % 2, C / 4\" "
              "packet \"C % 4\"\n> vector_reduce max axis \"R\" time \"C / 4\" "
              "packet \"C % 4\"\n"
              "vector_widen concat time \"1\" packet \"C\"\n")},
      {32,
       "VE-58",
       {.axes = "R = 19",
        .element = "R # 24 % 8, R # 24 / 8 # 8",
        .outElement = "1 # 2",
        .time = "R # 24 % 8",
        .packet = "R # 24 / 8 # 8",
        .trim = "1 # 2"},
       tagged("vector_narrow trim packet \"R # 24 / 8 # 4\"\n"
              "> vector_reduce max axis \"R\" time \"1\" packet \"1 # 4\"\n"
              "vector_widen pad packet \"1 # 8\"\n")},
      {33,
       "VE-61",
       {.axes = "N = 64, R = 4, A = 8",
        .slice = "N, R",
        .outSlice = "N, 1 # 4"},
       tagged("> vector_inter_slice_reduce max slice \"N, 1 # 4\" time "
              "\"1\"\n")},
      {34,
       "VE-62",
       {.axes = "N = 64, R = 4, A = 8",
        .slice = "N, R",
        .outSlice = "N, 1 # 4"},
       tagged("vector_fxp add [imm 1]\n"
              "vector_inter_slice_reduce max slice \"N, 1 # 4\" time \"1\"\n"
              "> vector_tag zero\n")},
      {35,
       "VE-63",
       {.axes = "N = 64, R = 4, A = 8",
        .slice = "R, N",
        .outSlice = "1 # 4, N"},
       init +
           "> vector_inter_slice_reduce max slice \"1 # 4, N\" time \"1\"\n" +
           fin},
      {36,
       "TU-35",
       {.axes = "A = 4096",
        .time = "A / 8",
        .packet = "A % 8",
        .context = "sub",
        .end = "> to_vrf element \"A\"\n"},
       ""},
      {37, "VE-31", floats,
       tagged(split + "> vector_fp fma [imm 2.0]\n" + concat)},
      {38, "VE-13", floats, tagged("> vector_logic shl [imm 1]\n")},
      {39, "VE-33", floats,
       init + "> vector_tag compare [less 1]\nvector_clip add [imm 1.0]\n" +
           fin},
  };
}

/// The text, and the line that is to be refused.
std::string makeText(const Program &program, unsigned &line) {
  const Frame &frame = program.frame;
  bool isFile = !frame.end.empty();
  std::string text =
      "#axes = #tmap.axes<" + frame.axes + ">\n!in = !visa.dm<" + frame.type +
      ", slice \"" + frame.slice + "\", element \"" + frame.element +
      "\", #axes>\n!out = !visa." + (isFile ? "vrf<" : "dm<") + frame.outType +
      ", slice \"" + frame.outSlice + "\", element \"" + frame.outElement +
      "\", #axes>\nfunc.func @kernel() attributes {visa.kernel} {\n"
      "  %d = visa.alloc : !in\n  %r = visa.chain " +
      frame.context + " -> !out {\n";
  std::string stages = "fetch %d time \"" + frame.time + "\" packet \"" +
                       frame.packet + "\" : !in\ncollect time \"" + frame.time +
                       "\" packet \"" + frame.packet + "\"\n" + program.stages;
  stages += isFile ? frame.end
                   : "commit_trim packet \"" + frame.trim +
                         "\"\ncommit element \"" + frame.outElement + "\"\n";
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(stages).split(lines, '\n', -1, /*KeepEmpty=*/false);
  line = 0;
  for (auto [index, stage] : llvm::enumerate(lines)) {
    if (stage.consume_front("> "))
      line = llvm::StringRef(text).count('\n') + 1;
    text += "    " + stage.str() + "\n";
  }
  return text + "  }\n  return\n}\n";
}

TEST(IllegalVectorPrograms, AreRefusedForTheirRule) {
  std::vector<Program> programs = listPrograms();
  EXPECT_EQ(programs.size(), 39u);
  for (const Program &program : programs) {
    unsigned line = 0;
    std::string text = makeText(program, line);
    SCOPED_TRACE(std::to_string(program.number) + "\n" + text);
    expectRefusedAt(text, line, program.rule);
  }
}

} // namespace
