//===- TensorUnitIllegalTest.cpp - Illegal chains of the Tensor Unit ------===//
//
// Chains that break one rule of the Tensor Unit each, by the numbers of the
// tables of rows and of refused kernels. Each is refused by the check, with the
// rule, at the stage that has "> " in front.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <map>

using namespace furiosa;
using namespace furiosa::test;
using llvm::formatv;

namespace {

/// A weight %w in the register file: lanes R of 8, and an element mapping.
struct Weight {
  std::string type = "i8", element = "B", flits = "R, B / 32", flit = "B % 32";
};

struct Program {
  const char *row, *rule;
  std::string axes;
  /// Parameters of the type that is fetched.
  std::string source;
  /// From fetch on.
  std::string stages;
  std::string context = "main";
  /// What the chain gives; the type of the source where nothing is said.
  std::string result = "";
  std::optional<Weight> weight = std::nullopt;
};

std::string makeText(const Program &program, unsigned &line) {
  std::string text = formatv("#axes = #tmap.axes<{0}>\n"
                             "!in = !visa.dm<{1}, #axes>\n",
                             program.axes, program.source);
  text += program.result.empty()
              ? "!out = !in\n"
              : formatv("!out = !visa.{0}, #axes>\n", program.result).str();
  std::string load;
  if (program.weight) {
    const Weight &weight = *program.weight;
    text +=
        formatv("!wd = !visa.dm<{0}, slice \"1 # 256\", element \"R, {1}\", "
                "#axes>\n!w = !visa.trf<{0}, slice \"1 # 256\", lane "
                "\"R\", element \"{1}\", #axes>\n",
                weight.type, weight.element);
    load = formatv("  %wd = visa.alloc : !wd\n"
                   "  %w = visa.chain sub -> !w {{\n"
                   "    fetch %wd time \"R\" packet \"{0}\" : !wd\n"
                   "    collect time \"{1}\" packet \"{2}\"\n"
                   "    to_trf lane \"R\" element \"{0}\"\n  }\n",
                   weight.element, weight.flits, weight.flit);
  }
  text += "func.func @kernel() attributes {visa.kernel} {\n" + load +
          "  %d = visa.alloc : !in\n  %r = visa.chain " + program.context +
          " -> !out {\n";
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(program.stages).split(lines, '\n', -1, /*KeepEmpty=*/false);
  line = 0;
  for (llvm::StringRef stage : lines) {
    stage = stage.trim();
    if (stage.consume_front("> "))
      line = llvm::StringRef(text).count('\n') + 1;
    text += "    " + stage.str() + "\n";
  }
  return text + "  }\n  return\n}\n";
}

std::string fetch(const std::string &time, const std::string &packet) {
  return "fetch %d time \"" + time + "\" packet \"" + packet + "\" : !in\n";
}
std::string collect(const std::string &time, const std::string &packet) {
  return "collect time \"" + time + "\" packet \"" + packet + "\"\n";
}
/// Behind a stage that is refused: the rest of a chain that stores a packet.
std::string store(const std::string &packet, const std::string &element) {
  return "commit_trim packet \"" + packet + "\"\ncommit element \"" + element +
         "\"\n";
}

const std::string tables = "A = 8, B = 64, C = 128, D = 64, E = 32, F = 6, "
                           "R = 8, T = 5, V = 2";
const std::string oneSlice = "i8, slice \"1 # 256\", element ";

/// a[A, B] of two flits, multiplied as `outer` says, and what follows.
Program contraction(const char *row, const char *rule, const std::string &outer,
                    const std::string &rest = "",
                    const std::string &element = "A, B",
                    const std::string &time = "A, B / 32") {
  std::string fetchTime =
      time == "A, B / 32" ? "A" : time.substr(0, time.rfind(','));
  return {row,
          rule,
          tables,
          oneSlice + "\"" + element + "\"",
          fetch(fetchTime, "B") + collect(time, "B % 32") + outer + rest,
          "main",
          "",
          Weight{}};
}
std::string outer(const std::string &time, const std::string &packet) {
  return "contract_outer %w time \"" + time + "\" packet \"" + packet +
         "\" : !w\n";
}

/// Rows of stages, rule by rule.
std::vector<Program> listStages() {
  std::vector<Program> programs = {
      {"row 2", "TU-29", tables, oneSlice + "\"A, E\"",
       fetch("A", "E") + "> " + collect("A", "A # 32") + store("E", "A, E")},
      {"row 3", "TU-29", tables, "bf16, slice \"1 # 256\", element \"A, E\"",
       fetch("A", "E") + "> " + collect("A", "E % 16") +
           store("E % 16", "A, E")},
      {"row 39", "TU-61", tables, "f32, slice \"1 # 256\", element \"A\"",
       fetch("1", "A") + collect("1", "A") + "> cast to f32 packet \"A\"\n"},
      {"row 39", "TU-61", tables, "bf16, slice \"1 # 256\", element \"A\"",
       fetch("1", "A") + collect("1", "A # 16") +
           "> cast to f32 packet \"A\"\n"},
      {"row 63", "TU-8", tables, oneSlice + "\"A, E\"",
       fetch("A", "E") + "> zero_point_sub 200\n" + collect("A", "E")},
      {"row 66", "TU-73", "W = 8", "f32, slice \"1 # 256\", element \"W\"",
       fetch("1", "W") + collect("1", "W") + "> " + store("W = 1", "W")},
      {"row 67", "TU-75", "W = 8", "f32, slice \"1 # 256\", element \"W\"",
       fetch("1", "W") + collect("1", "W") +
           "commit_trim packet \"W = 2\"\n> commit_cast to bf16\n"},
      {"row 67", "TU-75", "W = 8", "f32, slice \"1 # 256\", element \"W\"",
       fetch("1", "W") + collect("1", "W") +
           "commit_trim packet \"W = 6\"\n> commit_cast_relu to bf16\n"},
  };
  // Register files.
  auto toTrf = [&](const char *row, const char *rule, const std::string &axes,
                   const std::string &source, const std::string &time,
                   const std::string &packet, const std::string &lane,
                   const std::string &element, const std::string &outer = "") {
    std::string flits = outer.empty() ? time : time + ", " + outer;
    programs.push_back(
        {row, rule, axes, oneSlice + "\"" + source + "\"",
         fetch(time, outer.empty() ? packet : packet.substr(0, 1)) +
             collect(flits, packet) + "> to_trf lane \"" + lane +
             "\" element \"" + element + "\"\n",
         "sub",
         "trf<i8, slice \"1 # 256\", lane \"" + lane + "\", element \"" +
             element + "\""});
  };
  toTrf("row 7, D1", "TU-30", tables, "E", "1", "E", "1 # 3", "E");
  toTrf("row 7, D2", "TU-30", tables, "E", "1", "E", "1 # 16", "E");
  toTrf("row 8, D11", "TU-32", tables, "F, E", "F", "E", "R / 2", "E");
  toTrf("row 9, D12", "TU-32", tables, "A / 4, E", "A / 4", "E", "R / 2", "E");
  toTrf("row 10, D9", "TU-33", tables, "A, B", "A", "B % 32", "E / 4", "B",
        "B / 32");
  toTrf("D10", "TU-34", tables, "R, B", "R", "B % 32", "R", "A, C", "B / 32");
  toTrf("row 11, D13", "TU-31", "A = 8, B = 64, C = 128, G = 8", "G, A, C, B",
        "G, A, C", "B % 32", "G", "A, C, B", "B / 32");
  programs.push_back(
      {"row 13, D14", "TU-35", "A = 4096",
       "i32, slice \"1 # 256\", element \"A\"",
       fetch("1", "A") + collect("A / 8", "A % 8") + "> to_vrf element \"A\"\n",
       "sub", "vrf<i32, slice \"1 # 256\", element \"A\""});

  // The contraction engine.
  programs.push_back(
      contraction("row 16, D3", "TU-41", "> " + outer("A", "D")));
  programs.push_back(
      contraction("row 17, D4", "TU-42", "> " + outer("A", "A / 4, B % 32")));
  programs.push_back(
      contraction("row 18, D5", "TU-41", "> " + outer("A", "B % 32, A / 4")));
  programs.push_back(
      contraction("row 19, D6", "TU-43", "> " + outer("F", "B")));
  programs.push_back(contraction("row 20, D7", "TU-44",
                                 "> " + outer("V, A, T", "B"), "", "A, V, B",
                                 "A, V, B / 32"));
  programs.push_back(
      contraction("row 21, D8", "TU-44", "> " + outer("T, A", "B")));
  programs.push_back(contraction("row 29", "TU-50", outer("A", "B"),
                                 "> contract_packet packet \"B % 4\"\n"));
  programs.push_back(contraction("row 30", "TU-52", outer("A, V", "B"),
                                 "contract_packet packet \"1\"\n"
                                 "> contract_time time \"V, A\"\n",
                                 "A, V, B", "A, V, B / 32"));
  // Accumulators: 8 lanes, 8 open sums, 32 columns; 8 lanes, 256 open sums.
  programs.push_back(
      {"row 34", "TU-60", "A = 2, D = 32, M = 8, R = 8",
       "bf16, slice \"1 # 256\", element \"A, M, D\"",
       fetch("A, M", "D") + collect("A, M, D / 16", "D % 16") +
           outer("A, M", "D") +
           "contract_packet packet \"D\"\ncontract_time time \"M\"\n"
           "> contract_lane sequential time \"M, R, D / 8\" packet "
           "\"D % 8\"\n",
       "main", "", Weight{"bf16", "D", "R, D / 16", "D % 16"}});
  programs.push_back(
      {"row 35", "TU-60", "C = 2, B = 64, M = 256, R = 8",
       oneSlice + "\"C, M, B\"",
       fetch("C, M", "B") + collect("C, M, B / 32", "B % 32") +
           outer("C, M", "B") +
           "contract_packet packet \"1\"\ncontract_time time \"M\"\n"
           "> contract_lane interleaved time \"M\" packet \"R\"\n",
       "main", "", Weight{}});
  // Pairs of types.
  auto pair = [&](const char *rule, const std::string &stream,
                  const std::string &weight, int flit, int weightFlit,
                  const std::string &adapter = "") {
    std::string e = "E # " + std::to_string(flit),
                w = "E # " + std::to_string(weightFlit);
    programs.push_back(
        {"row 65", rule, "A = 8, E = 8, R = 8",
         stream + ", slice \"1 # 256\", element \"A, " + e + "\"",
         fetch("A", e) + adapter + collect("A", e) + "> " + outer("A", e),
         "main", "", Weight{weight, w, "R", w}});
  };
  pair("TU-37", "i4", "i8", 64, 32);
  pair("TU-37", "i8", "i4", 32, 64);
  pair("TU-37", "bf16", "f8E4M3FN", 16, 32);
  pair("TU-37", "f8E4M3FN", "f8E5M2", 32, 32);
  pair("TU-37", "i8", "f8E5M2", 32, 32);
  pair("TU-37", "i8", "i4", 32, 64, "zero_point_sub 3\n");
  pair("TU-36", "f32", "f32", 8, 8);
  pair("TU-36", "i32", "i32", 8, 8);
  pair("TU-36", "i16", "i16", 16, 16);
  pair("TU-36", "ui8", "ui8", 32, 32);
  pair("TU-36", "f4E2M1FN", "f4E2M1FN", 64, 64);
  return programs;
}

const std::string switchAxes = "A = 8, B = 32, C = 256, D = 64, E = 1024, "
                               "G = 32";

/// A switch over i8 [A, B] in slices C that is refused.
Program exchange(const char *row, const char *rule, const std::string &config,
                 const std::string &slice, const std::string &time,
                 const std::string &inSlice = "C",
                 const std::string &inTime = "A",
                 const std::string &packet = "B",
                 const std::string &axes = switchAxes) {
  return {row, rule, axes,
          "i8, slice \"" + inSlice + "\", element \"" + inTime + ", " + packet +
              "\"",
          fetch(inTime, packet) + "> switch " + config + " slice \"" + slice +
              "\" time \"" + time + "\"\n"};
}

/// A custom broadcast as the unit tests of the library have them.
Program custom(const char *row, const char *rule, int ring,
               const std::string &inSlice, const std::string &slice,
               const std::string &time) {
  return exchange(row, rule, "custom_broadcast [" + std::to_string(ring) + "]",
                  slice, time, inSlice, "C", "E",
                  "A = 16, B = 16, C = 8, E = 32, P = 4, Q = 8, R = 8, "
                  "S = 256, X = 4, Y = 2, Z = 2");
}

std::vector<Program> listSwitches() {
  const std::string both = "C / 4, D % 4", four = "A, C / 2 % 2, C % 2",
                    five = "A / 2, C / 2 % 2, A % 2, C % 2",
                    turned = "C / 64, C % 2, C / 2 % 32",
                    crossed = "C / 32, A / 2 % 2, C % 16";
  return {
      exchange("row 57, I1", "TU-12", "broadcast1 [0, 64]", both, "A, C % 4"),
      exchange("row 56, I2", "TU-13", "broadcast1 [3, 64]", both, "A, C % 4"),
      exchange("I3", "TU-16", "broadcast1 [4, 16]", "D % 4, C % 64",
               "A, C / 64"),
      exchange("row 58, I4", "TU-19", "broadcast1 [4, 64]", "C / 64, C % 64",
               "A, C / 64"),
      exchange("I5", "TU-16", "broadcast1 [4, 64]", "1 # 4, D % 64",
               "A, C / 64"),
      exchange("I6", "TU-16", "broadcast1 [4, 64]", "1 # 4, C % 64",
               "A, E % 4"),
      exchange("I7", "TU-12", "broadcast01 [2, 0, 1]", both, four),
      exchange("I8", "TU-13", "broadcast01 [3, 2, 1]", both, four),
      exchange("I9", "TU-16", "broadcast01 [2, 2, 2]", both, four),
      exchange("I10", "TU-16", "broadcast01 [2, 2, 2]", "C / 8, D % 8", five),
      exchange("I11", "TU-19", "broadcast01 [2, 2, 1]", "C / 4, C % 4", four),
      exchange("I12", "TU-19", "broadcast01 [2, 2, 1]", "C / 4, A % 4", four),
      exchange("I13", "TU-16", "broadcast01 [2, 2, 2]", "C / 4, E % 4",
               "A / 2, C / 2, A % 2, C % 2"),
      exchange("I14", "TU-17", "transpose [32, 2]", turned, "D"),
      exchange("I15", "TU-17", "transpose [32, 2]", turned, "E % 8"),
      exchange("I16", "TU-16", "transpose [16, 8]",
               "C % 8, C / 128, C / 8 % 16", "A"),
      exchange("I17", "TU-12", "inter_transpose [8, 32, 0]", "A, C % 32",
               "C / 32 % 8"),
      exchange("I18", "TU-13", "inter_transpose [3, 2, 1]", "1 # 256", "A",
               "1 # 256"),
      exchange("I19", "TU-15", "inter_transpose [4, 64, 3]", "A, C % 32",
               "C / 32 % 8"),
      exchange("I20", "TU-16", "inter_transpose [8, 16, 2]", "D % 2, A, C % 16",
               "B / 16, E % 2, C / 16 % 8", "C", "A, B / 8", "B % 8"),
      exchange("I21", "TU-16", "inter_transpose [8, 16, 2]", "D % 2, A, B / 2",
               "B / 8, B / 4 % 2, B % 2, C / 16 % 8", "D % 2, A, C % 16", "B",
               "G"),
      exchange("I22", "TU-16", "inter_transpose [2, 16, 2]",
               "C / 32, D % 2, C % 16", "A / 2, G / 16, A % 2"),
      exchange("I23", "TU-16", "inter_transpose [2, 16, 2]", crossed,
               "A / 2, A % 2, C / 16 % 2"),
      exchange("I24", "TU-16", "inter_transpose [2, 16, 2]", crossed,
               "A / 4, A / 2 % 2, D % 2"),
      exchange("I25", "TU-16", "inter_transpose [2, 16, 2]", crossed,
               "A / 4, A % 2, D % 2"),
      {"I26", "TU-29", switchAxes, "i8, slice \"C\", element \"A, B\"",
       fetch("A", "B") + "> " + collect("A", "A # 32")},
      {"I27", "TU-29", switchAxes, "bf16, slice \"C\", element \"A, B\"",
       fetch("A", "B") + "> " + collect("A", "B % 16")},
      custom("I28", "TU-25", 32, "A, B", "A / 2, Y, B / 2, Z", "C, B % 2"),
      custom("row 62, I29", "TU-25", 4, "R, P # 32", "R, X # 32", "C"),
      custom("row 61, I30", "TU-25", 4, "A, B", "A, B / 4, X", "C, B % 4 = 3"),
      custom("I31", "TU-25", 32, "A, B", "A / 2, Y, B / 4, X",
             "C, A % 2, B % 4 = 3"),
      custom("I32", "TU-25", 4, "S", "S / 4, X", "C, S % 4 = 3"),
      custom("I33", "TU-25", 4, "P # 8, Q # 32", "P # 8, Q # 32 / 4, X",
             "C, Q # 32 % 4 = 3"),
      custom("row 59", "TU-23", 4, "A, B", "A, B / 4, X", "B % 4, C"),
      custom("row 60", "TU-24", 4, "A, B", "A, B / 4, X",
             "C, B % 2, B / 2 % 2"),
  };
}

/// Ten ways and more to be wrong at a stage that has several rules: each rule
/// just broken, orders turned, digits of other axes, sizes one off.
std::vector<Program> listWays() {
  std::vector<Program> programs;
  const std::string bytes = oneSlice + "\"A, B\"";
  auto add = [&](const std::string &source, const std::string &before,
                 const std::string &stage,
                 std::initializer_list<std::pair<const char *, const char *>>
                     clauses) {
    for (auto [rule, clause] : clauses)
      programs.push_back({"", rule, tables, source,
                          before + "> " + stage + " " + clause + "\n", "main",
                          "", Weight{}});
  };
  add(bytes, "", "fetch %d",
      {{"MM-9", "time \"A / 2\" packet \"B\" : !in"},
       {"MM-9", "time \"A\" packet \"B % 32\" : !in"},
       {"MM-9", "time \"A = 4\" packet \"B\" : !in"},
       {"MM-9", "time \"A\" packet \"B = 63\" : !in"},
       {"MM-9", "time \"T\" packet \"B\" : !in"},
       {"MM-9", "time \"1\" packet \"1 # 32\" : !in"},
       {"MM-9", "time \"A % 4\" packet \"B\" : !in"},
       {"MA-7", "time \"Y\" packet \"B\" : !in"},
       {"MA-5", "time \"A / 0\" packet \"B\" : !in"},
       {"MM-9", "time \"A / 4, A % 2\" packet \"B\" : !in"}});
  add(bytes, fetch("A", "B"), "collect",
      {{"TU-28", "time \"A, B / 32\" packet \"B\""},
       {"TU-28", "time \"A, B / 16\" packet \"B % 16\""},
       {"TU-28", "time \"A, B / 32\" packet \"B % 32 # 64\""},
       {"TU-28", "time \"A\" packet \"1\""},
       {"TU-29", "time \"A, B / 32\" packet \"B / 2\""},
       {"TU-29", "time \"A, B / 32\" packet \"D % 32\""},
       {"TU-29", "time \"A, B / 32\" packet \"1 # 32\""},
       {"TU-29", "time \"B / 32, A\" packet \"B % 32\""},
       {"TU-29", "time \"A, B / 32 # 4\" packet \"B % 32\""},
       {"TU-29", "time \"A / 2, B / 32\" packet \"B % 32\""},
       {"TU-29", "time \"A\" packet \"B % 32\""},
       {"TU-29", "time \"A, D / 32\" packet \"B % 32\""}});
  const std::string flits =
      fetch("A, V", "B") + collect("A, V, B / 32", "B % 32");
  const std::string three = oneSlice + "\"A, V, B\"";
  add(three, flits, "contract_outer %w",
      {{"TU-40", "time \"A, V, B / 32\" packet \"B % 16\" : !w"},
       {"TU-40", "time \"A\" packet \"V, B\" : !w"},
       {"TU-41", "time \"A, V\" packet \"D\" : !w"},
       {"TU-41", "time \"A, V, B / 32\" packet \"B / 2\" : !w"},
       {"TU-42", "time \"A, B / 32\" packet \"V, B % 32\" : !w"},
       {"TU-43", "time \"A\" packet \"B\" : !w"},
       {"TU-43", "time \"A, V % 2 # 3\" packet \"B\" : !w"},
       {"TU-44", "time \"V, A\" packet \"B\" : !w"},
       {"TU-44", "time \"A, T, V\" packet \"B\" : !w"},
       {"TU-44", "time \"T, A, V\" packet \"B\" : !w"}});
  const std::string multiplied = flits + outer("A, V", "B");
  add(three, multiplied, "contract_packet packet",
      {{"TU-48", "\"B\""},
       {"TU-48", "\"B / 4 # 64\""},
       {"TU-49", "\"1 # 3\""},
       {"TU-49", "\"F\""},
       {"TU-50", "\"B % 4\""},
       {"TU-50", "\"B % 32\""},
       {"TU-50", "\"B / 32, B % 4\""},
       {"TU-50", "\"B / 4 % 8\""},
       {"TU-50", "\"A\""},
       {"TU-50", "\"R\""},
       {"TU-50", "\"B / 8 % 4, B / 32\""}});
  const std::string columns = multiplied + "contract_packet packet \"1\"\n";
  add(three, columns, "contract_time time",
      {{"TU-51 (MA-30)", "\"R\""},
       {"TU-51 (MA-30)", "\"T\""},
       {"TU-51 (MA-30)", "\"B\""},
       {"TU-51 (MA-30)", "\"A, V, T\""},
       {"TU-51 (MA-30)", "\"A, B / 32\""},
       {"TU-52", "\"V, A\""},
       {"TU-52", "\"A % 2, A / 2\""},
       {"TU-52", "\"A % 2, A / 2, V\""},
       {"TU-53", "\"A # 16, V\""},
       {"TU-53", "\"A, V # 4\""}});
  const std::string sums = columns + "contract_time time \"A, V\"\n";
  add(three, sums, "contract_lane",
      {{"TU-56", "interleaved time \"A, V\" packet \"R # 16\""},
       {"TU-56", "interleaved time \"A, V\" packet \"1\""},
       {"TU-56", "sequential time \"A, V, R\" packet \"1\""},
       {"TU-57", "interleaved time \"A, V\" packet \"A\""},
       {"TU-57", "interleaved time \"A, V\" packet \"1 # 8\""},
       {"TU-57", "interleaved time \"A, V\" packet \"R % 4 # 8\""},
       {"TU-57", "sequential time \"A, V, R\" packet \"R\""},
       {"TU-58", "interleaved time \"V, A\" packet \"R\""},
       {"TU-58", "interleaved time \"A\" packet \"R\""},
       {"TU-57", "interleaved time \"A, V, T\" packet \"R\""},
       {"TU-58", "sequential time \"R, A, V\" packet \"1 # 8\""},
       {"TU-57", "sequential time \"A, V\" packet \"1 # 8\""}});
  const std::string words = "i32, slice \"1 # 256\", element \"A\"",
                    reals = "f32, slice \"1 # 256\", element \"A\"";
  add(words, fetch("1", "A") + collect("1", "A"), "cast",
      {{"TU-61", "to i32 packet \"A\""},
       {"TU-61", "to bf16 packet \"A # 16\""},
       {"TU-61", "to f8E4M3FN packet \"A # 32\""},
       {"TU-61", "to ui8 packet \"A # 32\""},
       {"TU-61", "to i9 packet \"A # 32\""},
       {"TU-63", "to i8 packet \"A\""},
       {"TU-63", "to i4 packet \"A # 32\""},
       {"TU-63", "to i16 packet \"A # 32\""},
       {"TU-64", "to i8 packet \"B % 8 # 32\""},
       {"TU-64", "to i8 packet \"E\""}});
  add(reals, fetch("1", "A") + collect("1", "A"), "cast",
      {{"TU-61", "to f32 packet \"A\""},
       {"TU-61", "to i8 packet \"A # 32\""},
       {"TU-61", "to f4E2M1FN packet \"A # 64\""},
       {"TU-63", "to bf16 packet \"A\""}});
  // 8 rows of 16 columns, two flits a row.
  const std::string turned = fetch("V, A, D / 8 % 2", "D % 8") +
                             collect("V, A, D / 8 % 2", "D % 8 # 32");
  add(oneSlice + "\"V, A, D % 16\"", turned, "transpose",
      {{"TU-66", "time \"V, D % 16\" packet \"A\""},
       {"TU-66", "time \"V, D % 16\" packet \"A # 64\""},
       {"TU-68", "time \"V\" packet \"E\""},
       {"TU-69", "time \"D % 16, V\" packet \"A # 32\""},
       {"TU-69", "time \"V, D % 8, D / 8 % 2\" packet \"A # 32\""},
       {"TU-69", "time \"V, D % 16, T\" packet \"A # 32\""},
       {"TU-69", "time \"D % 16\" packet \"A # 32\""},
       {"TU-70", "time \"A, D % 16\" packet \"V # 32\""},
       {"TU-70", "time \"V, D % 16\" packet \"R # 32\""},
       {"TU-70", "time \"V, D % 16\" packet \"T # 32\""}});
  add(reals, fetch("1", "A") + collect("1", "A"), "commit_trim packet",
      {{"TU-73", "\"A = 1\""},
       {"TU-73", "\"A = 3\""},
       {"TU-73", "\"A = 5\""},
       {"TU-73", "\"A = 7\""},
       {"TU-74", "\"A # 16\""},
       {"TU-74", "\"A / 2\""},
       {"TU-74", "\"D % 8\""},
       {"TU-74", "\"A / 2 % 4\""},
       {"TU-74", "\"1 # 8\""},
       {"TU-74", "\"T # 8\""}});
  add(oneSlice + "\"A, E\"",
      fetch("A", "E") + collect("A", "E") + "commit_trim packet \"E\"\n",
      "commit element",
      {{"MM-24 (MA-24)", "\"E\""},
       {"MM-24 (MA-24)", "\"A / 2, E\""},
       {"MM-24 (MA-24)", "\"A, E % 16\""},
       {"MM-24 (MA-24)", "\"A = 4, E\""},
       {"MM-25 (MA-26)", "\"A, T, E\""},
       {"MM-25 (MA-26)", "\"A, V, E\""},
       {"MM-26", "\"E, A\""},
       {"MM-26", "\"E / 8, A, E % 8\""},
       {"MM-26", "\"A, E % 16, E / 16\""},
       {"TU-77", "\"A # 16, E\""}});
  return programs;
}

void expectRefused(const Program &program) {
  unsigned line = 0;
  std::string text = makeText(program, line);
  SCOPED_TRACE(std::string(program.row) + "\n" + text);
  expectRefusedAt(text, line, program.rule);
}

TEST(IllegalTensorUnitPrograms, StagesAreRefusedForTheirRule) {
  std::vector<Program> programs = listStages();
  EXPECT_EQ(programs.size(), 37u);
  for (const Program &program : programs)
    expectRefused(program);
}

TEST(IllegalTensorUnitPrograms, SwitchesAreRefusedForTheirRule) {
  std::vector<Program> programs = listSwitches();
  EXPECT_EQ(programs.size(), 35u);
  for (const Program &program : programs)
    expectRefused(program);
}

/// At least ten ways at each stage that is more than a conversion.
TEST(IllegalTensorUnitPrograms, TenWaysAtEachStage) {
  std::map<std::string, unsigned> ways;
  for (const std::vector<Program> &programs :
       {listStages(), listSwitches(), listWays()})
    for (const Program &program : programs) {
      llvm::StringRef stage =
          llvm::StringRef(program.stages).split("> ").second;
      ++ways[stage.split(' ').first.str()];
    }
  for (const char *stage : {"fetch", "switch", "collect", "contract_outer",
                            "contract_packet", "contract_time", "contract_lane",
                            "cast", "transpose", "commit_trim", "commit"})
    EXPECT_GE(ways[stage], 10u) << stage;
  for (const Program &program : listWays())
    expectRefused(program);
}

} // namespace
