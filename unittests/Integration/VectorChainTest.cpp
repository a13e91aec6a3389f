//===- VectorChainTest.cpp - Generated chains of vector stages ------------===//
//
// Chains of random stages run in the interpreter and, compiled, in the
// simulator, and are held against an evaluation of one element after the other
// that is written here.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "furiosa/Interpreter/Interpreter.h"
#include "furiosa/Support/Fill.h"
#include "furiosa/Support/VectorOps.h"

#include "llvm/ADT/StringExtras.h"

#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <functional>
#include <iostream>
#include <map>
#include <random>

using namespace furiosa;
using namespace furiosa::test;
using namespace mlir;

using Codes = std::vector<uint32_t>;

namespace {

//===----------------------------------------------------------------------===//
// Plain evaluation
//===----------------------------------------------------------------------===//

float asFloat(uint32_t bits) { return std::bit_cast<float>(bits); }
uint32_t asBits(float value) {
  return std::isnan(value) ? 0x7FC00000u : std::bit_cast<uint32_t>(value);
}
int32_t saturate(int64_t value) {
  return int32_t(
      std::min<int64_t>(std::max<int64_t>(value, INT32_MIN), INT32_MAX));
}
/// The larger of two floats, -0 below +0, a NaN dropped.
float larger(float a, float b) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) ? b : a;
  if (a == b)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

/// A function of the engine on patterns, as its documentation says.
uint32_t evaluate(const std::string &name, bool isFloat, uint32_t a, uint32_t b,
                  uint32_t c) {
  auto x = int32_t(a), y = int32_t(b);
  float f = asFloat(a), g = asFloat(b), h = asFloat(c);
  double d = f;
  if (name == "and")
    return a & b;
  if (name == "or")
    return a | b;
  if (name == "xor")
    return a ^ b;
  if (name == "shl")
    return uint32_t(uint64_t(a) << b);
  if (name == "shr")
    return a >> b;
  if (name == "sar")
    return uint32_t(int64_t(x) >> b);
  if (name == "shl_sat")
    return uint32_t(saturate(int64_t(x) *
                             (b == 31 ? int64_t(INT32_MIN) : int64_t(1) << b)));
  if (name == "mul_int")
    return uint32_t(int64_t(x) * y);
  if (name == "mul_fxp")
    return uint32_t(saturate(
        int64_t(std::floor(std::ldexp((long double)(x)*y, -31) + 0.5L))));
  if (isFloat) {
    if (name == "add")
      return asBits(f + g);
    if (name == "sub")
      return asBits(f - g);
    if (name.substr(0, 3) == "mul")
      return asBits(f * g);
    if (name == "fma")
      return asBits(std::fma(f, g, h));
    if (name == "div")
      return asBits(f / g);
    if (name == "max")
      return asBits(larger(f, g));
    if (name == "min")
      return asBits(-larger(-f, -g));
    if (name == "abs_max")
      return asBits(std::abs(f) > std::abs(g) ? f : g);
    if (name == "abs_min")
      return asBits(std::abs(f) < std::abs(g) ? f : g);
    if (name == "exp")
      return asBits(float(std::exp(d)));
    if (name == "neg_exp")
      return asBits(float(std::exp(-d)));
    if (name == "sqrt")
      return asBits(std::sqrt(f));
    if (name == "tanh")
      return asBits(float(std::tanh(d)));
    if (name == "sigmoid")
      return asBits(float(1 / (1 + std::exp(-d))));
    if (name == "erf")
      return asBits(float(std::erf(d)));
    if (name == "ln")
      return asBits(float(std::log(d)));
    if (name == "sin")
      return asBits(float(std::sin(d)));
    if (name == "cos")
      return asBits(float(std::cos(d)));
  }
  if (name == "add")
    return a + b;
  if (name == "sub")
    return a - b;
  if (name == "add_sat")
    return uint32_t(saturate(int64_t(x) + y));
  if (name == "sub_sat")
    return uint32_t(saturate(int64_t(x) - y));
  if (name == "max")
    return uint32_t(std::max(x, y));
  if (name == "min")
    return uint32_t(std::min(x, y));
  if (name == "abs_max")
    return std::abs(int64_t(x)) > std::abs(int64_t(y)) ? a : b;
  if (name == "abs_min")
    return std::abs(int64_t(x)) < std::abs(int64_t(y)) ? a : b;
  ADD_FAILURE() << name;
  return 0;
}

struct Slot {
  enum Kind { Imm, Vrf, Stash } kind = Imm;
  uint32_t value = 0, with = 0;
  /// Bits of the id, '-' for any; negated.
  std::string guard = "----";
  bool negated = false;

  bool admits(unsigned id) const {
    bool matches = true;
    for (unsigned bit = 0; bit < 4; ++bit)
      matches &= guard[bit] == '-' || (guard[bit] == '1') == (id >> bit & 1);
    return matches != negated;
  }
};

struct Stage {
  std::string op, fn, mode;
  std::vector<Slot> slots;
  unsigned width = 31;
};

struct Compare {
  std::string kind;
  uint32_t boundary = 0;
};

/// The whole chain.
struct Program {
  bool startsFloat = false;
  std::vector<Compare> compares;
  std::vector<Stage> stages;
  bool endsFloat = false;

  /// On one element, with those of the VRF tensors of i32 and f32.
  uint32_t run(uint32_t value, uint32_t vrfInt, uint32_t vrfFloat) const {
    bool isFloat = startsFloat;
    unsigned id = 0;
    for (size_t bit = 0; bit < compares.size(); ++bit) {
      uint32_t edge = compares[bit].boundary;
      const std::string &kind = compares[bit].kind;
      bool holds = kind == "true";
      if (kind == "less_unsigned")
        holds = value < edge;
      else if (kind == "greater_unsigned")
        holds = value > edge;
      else if (kind == "less")
        holds = isFloat ? asFloat(value) < asFloat(edge)
                        : int32_t(value) < int32_t(edge);
      else if (kind == "greater")
        holds = isFloat ? asFloat(value) > asFloat(edge)
                        : int32_t(value) > int32_t(edge);
      else if (kind == "equal")
        holds = isFloat ? asFloat(value) == asFloat(edge) : value == edge;
      id |= unsigned(holds) << bit;
    }
    uint32_t stash = 0;
    for (const Stage &stage : stages) {
      if (stage.op == "vector_stash") {
        stash = value;
      } else if (stage.op == "vector_reinterpret") {
        isFloat = !isFloat;
      } else if (stage.op == "vector_fxp_to_fp") {
        value = asBits(
            float(std::ldexp(double(int32_t(value)), int(stage.width) - 31)));
        isFloat = true;
      } else if (stage.op == "vector_fp_to_fxp") {
        // Saturates; a NaN counts as infinity of its sign.
        double scaled =
            std::ldexp(double(asFloat(value)), 31 - int(stage.width));
        double rounded = std::round(scaled);
        if (std::isnan(asFloat(value)))
          rounded = value >> 31 ? -1e30 : 1e30;
        value = uint32_t(saturate(int64_t(std::clamp(rounded, -1e18, 1e18))));
        isFloat = false;
      } else if (stage.slots.empty() && !stage.fn.empty()) {
        value = evaluate(stage.fn, isFloat, value, 0, 0);
      }
      for (const Slot &slot : stage.slots) {
        if (!slot.admits(id))
          continue;
        uint32_t operand = slot.kind == Slot::Imm ? slot.value
                           : slot.kind == Slot::Vrf
                               ? (isFloat ? vrfFloat : vrfInt)
                               : stash;
        uint32_t sources[] = {value, operand, slot.with};
        uint32_t arguments[3] = {value, 0, 0};
        for (size_t i = 0; i < stage.mode.size(); ++i)
          arguments[i] = sources[stage.mode[i] - '0'];
        value = evaluate(stage.fn, isFloat, arguments[0], arguments[1],
                         arguments[2]);
        break;
      }
    }
    return value;
  }
};

//===----------------------------------------------------------------------===//
// Generator
//===----------------------------------------------------------------------===//

struct Function {
  const char *name;
  const char *alu;
};

class Generator {
public:
  explicit Generator(unsigned seed) : random(seed) {}

  Program program;
  std::string text;
  /// How often each thing was made, over all kernels.
  static std::map<std::string, unsigned> made;

  void run() {
    program.startsFloat = isFloat = chance(50);
    flits = 1 << pick(3);
    stashAllowed = true;
    std::string type = isFloat ? "f32" : "i32";
    if (chance(70)) {
      for (unsigned i = 0, n = 1 + pick(4); i < n; ++i) {
        static const char *const kinds[] = {
            "equal", "less", "greater", "less_unsigned", "greater_unsigned",
            "true",  "false"};
        Compare compare{kinds[pick(7)]};
        if (compare.kind != "true" && compare.kind != "false")
          compare.boundary = scalar();
        program.compares.push_back(compare);
      }
    }
    maybeStash();
    cluster("logic",
            {{"and", "a"},
             {"or", "o"},
             {"xor", "x"},
             {"shl", "l"},
             {"shr", "r"},
             {"sar", "r"}},
            3);
    maybeReinterpret();
    if (!isFloat)
      cluster("fxp",
              {{"add", "a"},
               {"add_sat", "a"},
               {"sub", "a"},
               {"sub_sat", "a"},
               {"shl", "l"},
               {"shl_sat", "l"},
               {"mul_int", "m"},
               {"mul_fxp", "m"},
               {"shr", "r"},
               {"sar", "r"}},
              3);
    if (!isFloat && chance(50)) {
      Stage &stage = add("vector_fxp_to_fp");
      stage.width = pick(32);
      isFloat = true;
    }
    if (isFloat && chance(80)) {
      isNarrow = true;
      add("vector_narrow");
      maybeStash();
      cluster("fp",
              {{"add", "f"},
               {"sub", "f"},
               {"mul_fma", "f"},
               {"fma", "f"},
               {"mul0", "0"},
               {"mul1", "1"},
               {"div", "u"},
               {"exp", "e"},
               {"neg_exp", "e"},
               {"sqrt", "u"},
               {"tanh", "u"},
               {"sigmoid", "u"},
               {"erf", "u"},
               {"ln", "u"},
               {"sin", "u"},
               {"cos", "u"}},
              4);
      if (chance(40))
        cluster("fp_div", {{"div", "d"}}, 1);
      add("vector_widen");
      isNarrow = false;
      stashAllowed = false;
    }
    if (isFloat && chance(40)) {
      Stage &stage = add("vector_fp_to_fxp");
      stage.width = pick(32);
      isFloat = false;
      stashAllowed = false;
    }
    maybeReinterpret();
    cluster("clip",
            {{"add", "a"},
             {"add_sat", "a"},
             {"max", "x"},
             {"abs_max", "x"},
             {"min", "n"},
             {"abs_min", "n"}},
            3);
    program.endsFloat = isFloat;
    write(type);
  }

private:
  unsigned pick(unsigned n) { return unsigned(random() % n); }
  bool chance(unsigned percent) { return pick(100) < percent; }

  /// A constant of the stream's type: small, or any bits.
  uint32_t scalar() {
    if (!isFloat)
      return chance(70) ? uint32_t(int32_t(pick(64)) - 32) : uint32_t(random());
    float value = (float(pick(129)) - 64) / 4;
    return std::bit_cast<uint32_t>(value);
  }

  Stage &add(const std::string &op) {
    ++made[op];
    program.stages.emplace_back().op = op;
    return program.stages.back();
  }

  void maybeStash() {
    if (stashed || !stashAllowed || !chance(35))
      return;
    add("vector_stash");
    stashed = true;
    stashIsFloat = isFloat;
    stashIsNarrow = isNarrow;
  }
  void maybeReinterpret() {
    if (!chance(25))
      return;
    add("vector_reinterpret");
    isFloat = !isFloat;
  }

  void cluster(const std::string &name, std::vector<Function> functions,
               unsigned most) {
    std::string usedAlus;
    for (unsigned i = 0, n = pick(most + 1); i < n; ++i) {
      // Of two, the one that came less often: all of them are to come.
      const Function &one = functions[pick(unsigned(functions.size()))];
      const Function &other = functions[pick(unsigned(functions.size()))];
      const Function &function =
          made[name + " " + one.name] <= made[name + " " + other.name] ? one
                                                                       : other;
      std::string fn = function.name;
      bool isShift = fn.substr(0, 2) == "sh" || fn == "sar";
      bool isInt = isShift || fn.find("sat") != std::string::npos;
      if (usedAlus.find(function.alu) != std::string::npos ||
          (isFloat && isInt))
        continue;
      usedAlus += function.alu;
      Stage &stage = add("vector_" + name);
      stage.fn = fn;
      if (name == "fp" &&
          std::string("eu").find(function.alu) != std::string::npos &&
          fn != "div") {
        // One guard or none.
        if (chance(40)) {
          stage.slots.push_back(guarded());
          ++made["unary guard"];
        }
        ++made[name + " " + fn];
        continue;
      }
      operands(stage, isShift, fn.find("abs") == 0);
      ++made[name + " " + stage.fn];
      if (chance(30))
        maybeStash();
    }
  }

  Slot guarded() {
    Slot slot;
    slot.guard = "----";
    for (char &bit : slot.guard)
      bit = "-01"[pick(3)];
    if (slot.guard.substr(0, 3) == "---")
      slot.guard[pick(3)] = '1';
    slot.negated = chance(25);
    return slot;
  }

  void operands(Stage &stage, bool isShift, bool isMagnitude) {
    bool isTernary = stage.fn == "fma";
    static const char *const binary[] = {"01", "01", "01", "10", "00", "11"};
    static const char *const ternary[] = {"012", "002", "102", "112",
                                          "020", "021", "120"};
    stage.mode = isTernary ? ternary[pick(7)]
                 : isShift ? "01"
                           : binary[pick(6)];
    // The magnitude of -2^31 is not defined, so it may not come up.
    if (isMagnitude && !isFloat) {
      stage.fn = stage.fn.substr(4);
    }
    ++made["mode " + stage.mode];
    unsigned slots = chance(60) ? 1 : 1 + pick(3);
    for (unsigned i = 0; i < slots; ++i) {
      bool isLast = i + 1 == slots;
      Slot slot = isLast && chance(60) ? Slot() : guarded();
      if (isLast && stashed && !stashUsed && stashIsFloat == isFloat &&
          stashIsNarrow == isNarrow && !isShift && chance(70)) {
        slot.kind = Slot::Stash;
        stashUsed = true;
      } else if (isLast && !isShift && vrfReads < 4 && chance(35)) {
        slot.kind = Slot::Vrf;
        ++vrfReads;
      } else {
        slot.value = isShift ? pick(32) : scalar();
      }
      if (isTernary)
        slot.with = std::bit_cast<uint32_t>((float(pick(65)) - 32) / 4);
      ++made[slot.kind == Slot::Imm   ? "operand imm"
             : slot.kind == Slot::Vrf ? "operand vrf"
                                      : "operand stash"];
      if (slot.guard != "----")
        ++made["guard"];
      stage.slots.push_back(slot);
    }
  }

  std::string number(uint32_t value, bool asFloatNumber) const {
    if (!asFloatNumber)
      return std::to_string(int32_t(value));
    return "0x" + llvm::utohexstr(value, false, 8) + " : f32";
  }

  std::string guardText(const Slot &slot) const {
    if (slot.guard == "----" && !slot.negated)
      return "";
    return " if \"" + std::string(slot.negated ? "!" : "") + slot.guard + "\"";
  }

  void write(const std::string &type) {
    std::string perSlice = std::to_string(8 * flits);
    std::string time = flits == 1 ? "1" : "A / 8 % " + std::to_string(flits);
    std::string chain;
    bool isFloatHere = program.startsFloat;
    for (const Stage &stage : program.stages) {
      chain += "    " + stage.op;
      if (stage.op == "vector_fxp_to_fp" || stage.op == "vector_fp_to_fxp") {
        chain += " width " + std::to_string(stage.width);
        isFloatHere = stage.op == "vector_fxp_to_fp";
      } else if (stage.op == "vector_reinterpret") {
        isFloatHere = !isFloatHere;
        chain += isFloatHere ? " to f32" : " to i32";
      } else if (stage.op == "vector_narrow") {
        chain += " split time \"" + time + ", A / 4 % 2\" packet \"A % 4\"";
      } else if (stage.op == "vector_widen") {
        chain += " concat time \"" + time + "\" packet \"A % 8\"";
      } else if (!stage.fn.empty()) {
        if (stage.op != "vector_fp_div")
          chain += " " + stage.fn;
        std::string types;
        if (stage.mode.empty()) {
          if (!stage.slots.empty())
            chain += guardText(stage.slots[0]);
        } else {
          std::string list;
          for (const Slot &slot : stage.slots) {
            list += list.empty() ? "" : ", ";
            if (slot.kind == Slot::Vrf) {
              list += isFloatHere ? "vrf %vf" : "vrf %vi";
              types = isFloatHere ? " : !vf" : " : !vi";
            } else if (slot.kind == Slot::Stash) {
              list += "stash";
            } else {
              list += "imm " + number(slot.value, isFloatHere);
            }
            if (stage.mode.size() == 3)
              list += " with " + number(slot.with, true);
            list += guardText(slot);
          }
          chain += " [" + list + "] mode \"" + stage.mode + "\"" + types;
        }
      }
      chain += "\n";
    }
    std::string tag = "vector_tag zero";
    if (!program.compares.empty()) {
      tag = "vector_tag compare [";
      for (const Compare &compare : program.compares) {
        tag += (&compare == &program.compares[0] ? "" : ", ") + compare.kind;
        if (compare.kind != "true" && compare.kind != "false")
          tag += " " + number(compare.boundary, program.startsFloat);
      }
      tag += "]";
    }
    std::string out = program.endsFloat ? "f32" : "i32";
    std::string size = std::to_string(2048 * flits);
    std::string slice = "\"A / " + perSlice + "\"";
    auto tensor = [&](const char *tier, const std::string &element) {
      return "!visa." + std::string(tier) + "<" + element + ", slice " + slice +
             ", element \"A % " + perSlice + "\", #axes>";
    };
    text = "#axes = #tmap.axes<A = " + size + ">\n";
    text += "!a = !visa.hbm<" + type + ", element \"A\", #axes>\n";
    text += "!b = !visa.hbm<i32, element \"A\", #axes>\n";
    text += "!c = !visa.hbm<f32, element \"A\", #axes>\n";
    text += "!r = !visa.hbm<" + out + ", element \"A\", #axes>\n";
    text += "!ad = " + tensor("dm", type) + "\n!rd = " + tensor("dm", out) +
            "\n!bd = " + tensor("dm", "i32") +
            "\n!cd = " + tensor("dm", "f32") +
            "\n!vi = " + tensor("vrf", "i32") +
            "\n!vf = " + tensor("vrf", "f32") + "\n";
    text += "func.func @kernel(%a: !a, %b: !b, %c: !c) -> !r attributes "
            "{visa.kernel} {\n";
    for (const char *load : {"b", "c"}) {
      std::string n = load, v = n == "b" ? "vi" : "vf";
      text += "  %" + n + "d = visa.to_dm %" + n + " : !" + n + " -> !" + n +
              "d\n  %" + v + " = visa.chain sub -> !" + v + " {\n    fetch %" +
              n + "d time \"" + time + "\" packet \"A % 8\" : !" + n +
              "d\n    collect time \"" + time + "\" packet \"A % 8\"\n" +
              "    to_vrf element \"A % " + perSlice + "\"\n  }\n";
    }
    text += "  %ad = visa.to_dm %a : !a -> !ad\n  %rd = visa.chain main -> !rd "
            "{\n    fetch %ad time \"" +
            time + "\" packet \"A % 8\" : !ad\n    collect time \"" + time +
            "\" packet \"A % 8\"\n    vector_init\n    " + tag + "\n" + chain +
            "    vector_final\n    commit_trim packet \"A % 8\"\n    commit "
            "element \"A % " +
            perSlice +
            "\"\n  }\n  %r = visa.to_hbm %rd : !rd -> !r\n  return "
            "%r : !r\n}\n";
  }

  std::mt19937 random;
  bool isFloat = false, isNarrow = false;
  unsigned flits = 1;
  bool stashAllowed = true, stashed = false, stashUsed = false;
  bool stashIsFloat = false, stashIsNarrow = false;
  unsigned vrfReads = 0;
};
std::map<std::string, unsigned> Generator::made;

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Kernels `first` to `last`, exclusive.
void runKernels(const GeneratedCases &cases) {
  for (unsigned seed = cases.first; seed < cases.first + cases.count; ++seed) {
    Generator generator(seed);
    generator.run();
    SCOPED_TRACE(generator.text);
    Built built;
    build(generator.text, built);
    if (testing::Test::HasFatalFailure())
      return;
    std::vector<HostArray> arguments;
    for (auto [index, layout] : llvm::enumerate(built.inputs)) {
      bool isFloat = layout.type() == ElementType::F32;
      const char *kind = isFloat ? "quarter" : (seed % 2 ? "small" : "bits");
      auto fill = parseFill((kind + (":" + Twine(seed * 3 + index))).str());
      arguments.push_back(layout.fill(*fill));
    }
    Codes expected;
    for (size_t i = 0; i < arguments[0].codes.size(); ++i)
      expected.push_back(generator.program.run(
          arguments[0].codes[i], arguments[1].codes[i], arguments[2].codes[i]));
    compare(built, arguments, expected);
  }
}

TEST(VectorChains, AgreeWithPlainEvaluation) {
  GeneratedCases cases(200);
  runKernels(cases);
  printHistogram(Generator::made, cases.count);
  // Every operation, kind of operand and mode is there often enough.
  std::vector<std::string> wanted = {"operand imm",      "operand vrf",
                                     "operand stash",    "guard",
                                     "unary guard",      "vector_stash",
                                     "vector_narrow",    "vector_fxp_to_fp",
                                     "vector_fp_to_fxp", "vector_reinterpret"};
  for (const furiosa::vector::Operation &operation :
       furiosa::vector::operations())
    wanted.push_back(
        (furiosa::vector::toString(furiosa::vector::clusterOf(operation.alu)) +
         " " + operation.name)
            .str());
  for (const char *mode : {"00", "01", "10", "11", "012", "002", "102", "112",
                           "020", "021", "120"})
    if (mode[2] == 0)
      wanted.push_back("mode " + std::string(mode));
  for (const std::string &thing : wanted)
    EXPECT_GE(Generator::made[thing], cases.count * 3 / 100) << thing;
}

TEST(VectorChains, MutantsAreRefusedOrAgree) {
  GeneratedCases cases(200);
  MutantCounts counts;
  for (unsigned seed = cases.first; seed < cases.first + cases.count; ++seed) {
    Generator generator(seed);
    generator.run();
    tryMutants(generator.text, seed, 3, "quarter", counts);
  }
  std::cout << counts.made << " mutants: " << counts.refused << " refused, "
            << counts.refusedLate << " of them late, " << counts.agreed
            << " agree\n";
  EXPECT_GE(counts.refused, counts.made / 2);
  EXPECT_GE(counts.agreed, counts.made / 25);
}

//===----------------------------------------------------------------------===//
// Reductions and pair mode
//===----------------------------------------------------------------------===//

/// A kernel with one argument, and its result computed by plain loops over the
/// argument's codes.
struct Case {
  std::string text;
  std::function<Codes(const Codes &)> expect;
  bool isFloat = false;
};

std::string str(int64_t number) { return std::to_string(number); }

/// Argument and result types and the chain around `stages`.
std::string kernelText(const std::string &axes, bool isFloat,
                       const std::string &in, const std::string &out,
                       const std::string &slice, const std::string &outSlice,
                       const std::string &element,
                       const std::string &outElement, const std::string &time,
                       const std::string &packet, const std::string &stages,
                       const std::string &trim) {
  std::string type = isFloat ? "f32" : "i32";
  return "#axes = #tmap.axes<" + axes + ">\n!a = !visa.hbm<" + type +
         ", element \"" + in + "\", #axes>\n!r = !visa.hbm<" + type +
         ", element \"" + out + "\", #axes>\n!ad = !visa.dm<" + type +
         ", slice \"" + slice + "\", element \"" + element +
         "\", #axes>\n!rd = !visa.dm<" + type + ", slice \"" + outSlice +
         "\", element \"" + outElement +
         "\", #axes>\nfunc.func @kernel(%a: !a) -> !r attributes "
         "{visa.kernel} {\n  %ad = visa.to_dm %a : !a -> !ad\n  %rd = "
         "visa.chain main -> !rd {\n    fetch %ad time \"" +
         time + "\" packet \"" + packet + "\" : !ad\n    collect time \"" +
         time + "\" packet \"" + packet + "\"\n    vector_init\n" + stages +
         "    vector_final\n    commit_trim packet \"" + trim +
         "\"\n    commit element \"" + outElement +
         "\"\n  }\n  %r = visa.to_hbm %rd : !rd -> !r\n  return %r : !r\n}\n";
}

void runCase(const Case &test, unsigned seed) {
  SCOPED_TRACE(test.text);
  Built built;
  build(test.text, built);
  if (testing::Test::HasFatalFailure())
    return;
  auto fill = parseFill(((test.isFloat ? "quarter:"
                          : seed % 2   ? "bits:"
                                       : "small:") +
                         Twine(seed))
                            .str());
  std::vector<HostArray> arguments = {built.inputs[0].fill(*fill)};
  compare(built, arguments, test.expect(arguments[0].codes));
}

struct Reducer {
  const char *name;
  bool isFloat;
  uint32_t start;
};
const Reducer insideSlice[] = {
    {"add_sat", false, 0},      {"max", false, 0x80000000},
    {"min", false, 0x7FFFFFFF}, {"add", true, 0},
    {"max", true, 0xFF800000},  {"min", true, 0x7F800000}};

/// The axis in time and packet: the packets fold.
Case foldCase(std::mt19937 &random) {
  const Reducer &fn = insideSlice[random() % 6];
  // Rows of whole words (MM-28), more than a packet of four.
  int64_t r = 6 + random() % 18 * 2, padded = (r + 7) / 8 * 8;
  int64_t a = 1 + random() % 3;
  std::string axis = "R # " + str(padded);
  if (r == padded)
    axis = "R";
  std::string time = "A, " + axis + " / 8", narrow = "A, " + axis + " / 4";
  Case test;
  test.isFloat = fn.isFloat;
  test.text = kernelText(
      "N = 256, A = " + str(a) + ", R = " + str(r), fn.isFloat, "N, A, R",
      "N, A", "N", "N", "A, " + axis, "A, 1 # 8", time, axis + " % 8",
      "    vector_tag zero\n    vector_narrow split time \"" + narrow +
          "\" packet \"" + axis + " % 4\"\n    vector_reduce " + fn.name +
          " axis \"R\" time \"A\" packet \"1 # 4\"\n"
          "    vector_widen pad packet \"1 # 8\"\n",
      "1 # 8");
  test.expect = [=](const Codes &in) {
    Codes out;
    for (int64_t row = 0; row < 256 * a; ++row) {
      uint32_t sum = fn.start;
      for (int64_t at = 0; at < padded; at += 4) {
        uint32_t lanes[4];
        for (int64_t k = 0; k < 4; ++k)
          lanes[k] = at + k < r ? in[row * r + at + k] : fn.start;
        auto op = [&](uint32_t x, uint32_t y) {
          return evaluate(fn.name, fn.isFloat, x, y, 0);
        };
        sum = op(sum, op(op(lanes[0], lanes[1]), op(lanes[2], lanes[3])));
      }
      out.push_back(sum);
    }
    return out;
  };
  return test;
}

/// The axis in time alone: eight sums at a time pass by.
Case passCase(std::mt19937 &random) {
  const Reducer &fn = insideSlice[random() % 6];
  int64_t r = 1 + random() % 20, padded = r + random() % 5;
  int64_t a = 1 + random() % 4;
  std::string axis = padded == r ? "R" : "R # " + str(padded);
  bool isInside = random() % 2;
  std::string time = isInside ? axis + ", A" : "A, " + axis;
  Case test;
  test.isFloat = fn.isFloat;
  test.text = kernelText(
      "N = 256, A = " + str(a) + ", R = " + str(r) + ", C = 8", fn.isFloat,
      "N, A, R, C", "N, A, C", "N", "N", "A, " + axis + ", C", "A, C", time,
      "C",
      "    vector_tag zero\n    vector_narrow split time \"" + time +
          ", C / 4\" packet \"C % 4\"\n    vector_reduce " + fn.name +
          " axis \"R\" time \"A, C / 4\" packet \"C % 4\"\n"
          "    vector_widen concat time \"A\" packet \"C\"\n",
      "C");
  test.expect = [=](const Codes &in) {
    Codes out(256 * a * 8, fn.start);
    for (int64_t row = 0; row < 256 * a; ++row)
      for (int64_t at = 0; at < r; ++at)
        for (int64_t c = 0; c < 8; ++c)
          out[row * 8 + c] = evaluate(fn.name, fn.isFloat, out[row * 8 + c],
                                      in[(row * r + at) * 8 + c], 0);
    return out;
  };
  return test;
}

/// The axis over slices and time, with padding: first in the slice, then
/// between slices.
Case spreadCase(std::mt19937 &random) {
  static const char *const names[] = {"max", "min", "add"};
  std::string fn = names[random() % 3];
  bool isFloat = fn == "add" || random() % 2;
  int64_t steps = 2 + random() % 4, padded = 4 * steps;
  bool isSliceMajor = random() % 2;
  int64_t r = padded - int64_t(random() % (isSliceMajor ? steps : 3));
  std::string axis = r == padded ? "R" : "R # " + str(padded);
  std::string slice = isSliceMajor ? axis + " / " + str(steps) : axis + " % 4";
  std::string time = isSliceMajor ? axis + " % " + str(steps) : axis + " / 4";
  uint32_t start = fn == "add"   ? 0
                   : fn == "max" ? (isFloat ? 0xFF800000 : 0x80000000)
                                 : (isFloat ? 0x7F800000 : 0x7FFFFFFF);
  bool isBroadcast = random() % 2;
  std::string out = isBroadcast ? "N, X" : "N, 1 # 4";
  Case test;
  test.isFloat = isFloat;
  test.text =
      kernelText("N = 64, R = " + str(r) + ", C = 8, X = 4", isFloat, "N, R, C",
                 isBroadcast ? "N, X, C" : "N, C", "N, " + slice, out,
                 time + ", C", "C", time, "C",
                 "    vector_tag zero\n    vector_narrow split time \"" + time +
                     ", C / 4\" packet \"C % 4\"\n    vector_reduce " + fn +
                     " axis \"R\" time \"C / 4\" packet \"C % 4\"\n"
                     "    vector_widen concat time \"1\" packet \"C\"\n"
                     "    vector_inter_slice_reduce " +
                     fn + " slice \"" + out + "\" time \"1\"\n",
                 "C");
  test.expect = [=](const Codes &in) {
    Codes result;
    for (int64_t n = 0; n < 64; ++n)
      for (int64_t x = 0; x < (isBroadcast ? 4 : 1); ++x)
        for (int64_t c = 0; c < 8; ++c) {
          uint32_t sum = start;
          for (int64_t at = 0; at < r; ++at)
            sum = evaluate(fn, isFloat, sum, in[(n * r + at) * 8 + c], 0);
          result.push_back(sum);
        }
    return result;
  };
  return test;
}

/// Whole slices, in front of the chain, with a digit of time in their place.
Case sliceCase(std::mt19937 &random) {
  static const char *const names[] = {"max", "min", "add", "add_sat", "mul"};
  std::string fn = names[random() % 5];
  bool isFloat = fn == "mul" || (fn != "add_sat" && random() % 2);
  int64_t r = int64_t(2) << random() % 5, rows = 256 / r;
  bool isPromoted = random() % 2;
  std::string out = isPromoted ? "N, V" : "N, 1 # " + str(r);
  std::string time = isPromoted ? "V, A" : "A";
  Case test;
  test.isFloat = isFloat;
  test.text = kernelText(
      "N = " + str(rows) + ", R = " + str(r) + ", V = " + str(r) +
          ", A = 3, C = 8",
      isFloat, isPromoted ? "N, R, V, A, C" : "N, R, A, C",
      isPromoted ? "N, V, A, C" : "N, A, C", "N, R", out, time + ", C", "A, C",
      time, "C",
      "    vector_inter_slice_reduce " + fn + " slice \"" + out +
          "\" time \"A\"\n    vector_tag zero\n    vector_clip max [imm " +
          (isFloat ? "0.5" : "3") + "]\n",
      "C");
  int64_t inner = (isPromoted ? r : 1) * 24;
  test.expect = [=](const Codes &in) {
    Codes result;
    uint32_t least = isFloat ? 0x3F000000 : 3;
    for (int64_t n = 0; n < rows; ++n)
      for (int64_t k = 0; k < inner; ++k) {
        uint32_t sum = in[n * r * inner + k];
        for (int64_t j = 1; j < r; ++j)
          sum = evaluate(fn == "mul" ? "mul0" : fn, isFloat, sum,
                         in[(n * r + j) * inner + k], 0);
        result.push_back(evaluate("max", isFloat, sum, least, 0));
      }
    return result;
  };
  return test;
}

/// Two groups, each with its own operand, fused.
Case pairCase(std::mt19937 &random) {
  bool isFloat = random() % 2, isOuter = random() % 2;
  bool isNarrow = isFloat && random() % 2;
  int64_t a = 1 + random() % 4;
  std::string time = isOuter ? "I, A" : "A, I";
  std::string mode =
      std::vector<const char *>{"01", "10", "00", "11"}[random() % 4];
  static const char *const clips[] = {"add", "max", "min"};
  static const char *const floats[] = {"add", "sub", "mul0"};
  std::string fn = isNarrow ? floats[random() % 3] : clips[random() % 3];
  bool skips = random() % 2;
  std::string first = isFloat ? "2.0" : "2", second = isFloat ? "0.5" : "-3";
  std::string op = isNarrow  ? "vector_fp mul1"
                   : isFloat ? "vector_logic xor"
                             : "vector_fxp mul_int";
  std::string name = op.substr(op.find(' ') + 1);
  std::string stages = "    vector_unzip axis \"I\" time \"A\"\n";
  if (isNarrow)
    stages += "    vector_narrow split time \"" + time +
              ", C / 4\" packet \"C % 4\"\n";
  stages += "    " + op + " group [imm " + first + ", " +
            (skips ? "skip" : "imm " + second) + "]\n    vector_zip " +
            (isNarrow ? "fp " : "clip ") + fn + " mode \"" + mode + "\"\n";
  if (isNarrow)
    stages += "    vector_widen concat time \"A\" packet \"C\"\n";
  Case test;
  test.isFloat = isFloat;
  test.text = kernelText("N = 256, I = 2, A = " + str(a) + ", C = 8", isFloat,
                         "N, I, A, C", "N, A, C", "N", "N", "I, A, C", "A, C",
                         time, "C", stages, "C");
  test.expect = [=](const Codes &in) {
    Codes result;
    uint32_t operands[2] = {isFloat ? 0x40000000u : 2u,
                            isFloat ? 0x3F000000u : uint32_t(-3)};
    for (int64_t n = 0; n < 256; ++n)
      for (int64_t k = 0; k < a * 8; ++k) {
        uint32_t groups[2];
        for (int64_t i = 0; i < 2; ++i) {
          groups[i] = in[(n * 2 + i) * a * 8 + k];
          if (i == 0 || !skips)
            groups[i] = evaluate(name, isFloat, groups[i], operands[i], 0);
        }
        result.push_back(evaluate(fn, isFloat, groups[mode[0] - '0'],
                                  groups[mode[1] - '0'], 0));
      }
    return result;
  };
  return test;
}

class VectorShapes : public testing::TestWithParam<const char *> {};

TEST_P(VectorShapes, AgreeWithPlainLoops) {
  std::string kind = GetParam();
  for (unsigned seed = 0; seed < 24 && !HasFatalFailure(); ++seed) {
    std::mt19937 random(seed);
    runCase(kind == "fold"     ? foldCase(random)
            : kind == "pass"   ? passCase(random)
            : kind == "spread" ? spreadCase(random)
            : kind == "slices" ? sliceCase(random)
                               : pairCase(random),
            seed);
  }
}
INSTANTIATE_TEST_SUITE_P(All, VectorShapes,
                         testing::Values("fold", "pass", "spread", "slices",
                                         "pair"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

} // namespace
