//===- SubContextVectorTest.cpp - The vector engine in the sub context ----===//
//
// Chains of the sub context through the vector engine, into data memory and
// into the register file, against plain loops.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "gtest/gtest.h"

#include <bit>
#include <cmath>

using namespace furiosa;
using namespace furiosa::test;

namespace {

/// Types of a tensor of 24 elements a slice.
const std::string types =
    "#axes = #tmap.axes<N = 256, L = 24>\n"
    "!h = !visa.hbm<f32, element \"N, L\", #axes>\n"
    "!b = !visa.hbm<bf16, element \"N, L\", #axes>\n"
    "!d = !visa.dm<f32, slice \"N\", element \"L\", #axes>\n"
    "!bd = !visa.dm<bf16, slice \"N\", element \"L\", #axes>\n"
    "!v = !visa.vrf<f32, slice \"N\", element \"L\", #axes>\n";

/// A chain of `context` on %NAME of type `type`.
std::string chain(const std::string &context, const std::string &from,
                  const std::string &fromType, const std::string &type,
                  const std::string &stages, const std::string &end) {
  return "visa.chain " + context + " -> " + type + " {\n    fetch " + from +
         " time \"L / 8\" packet \"L % 8\" : " + fromType + "\n" +
         (fromType == "!bd" ? "    fetch_cast to f32\n" : "") +
         "    collect time \"L / 8\" packet \"L % 8\"\n    vector_init\n"
         "    vector_tag zero\n" +
         stages + "    vector_final\n" + end + "  }\n";
}
const std::string commit =
    "    commit_trim packet \"L % 8\"\n    commit element \"L\"\n";
const std::string store = "    to_vrf element \"L\"\n";

float at(const HostArray &array, size_t n) {
  return std::bit_cast<float>(array.codes[n]);
}

// K13 … K15 of a gated MLP: silu in the sub context, its result read back from
// the register file that a second pass fills.
TEST(SubContext, VectorChainsIntoDataMemoryAndRegisterFile) {
  std::string text =
      types +
      "func.func @kernel(%g: !h, %u: !h) -> !h attributes {visa.kernel} {\n"
      "  %gd = visa.to_dm %g : !h -> !d\n  %ud = visa.to_dm %u : !h -> !d\n"
      "  %s = " +
      chain("sub", "%gd", "!d", "!d",
            "    vector_narrow split time \"L / 4\" packet \"L % 4\"\n"
            "    vector_stash\n    vector_fp sigmoid\n"
            "    vector_fp mul0 [stash]\n"
            "    vector_widen concat time \"L / 8\" packet \"L % 8\"\n",
            commit) +
      "  %v = " +
      chain("sub", "%s", "!d", "!v", "    vector_clip max [imm -0.25]\n",
            store) +
      "  %r = " +
      chain("main", "%ud", "!d", "!d",
            "    vector_narrow split time \"L / 4\" packet \"L % 4\"\n"
            "    vector_fp mul1 [vrf %v] : !v\n"
            "    vector_widen concat time \"L / 8\" packet \"L % 8\"\n",
            commit) +
      "  %o = visa.to_hbm %r : !d -> !h\n  return %o : !h\n}\n";
  Built built;
  ASSERT_NO_FATAL_FAILURE(build(text, built));
  auto arguments = makeArguments(built, "quarter");
  Codes expected;
  for (size_t n = 0; n < arguments[0].codes.size(); ++n) {
    float x = at(arguments[0], n);
    float silu = x * float(1 / (1 + std::exp(-double(x))));
    expected.push_back(asPattern(std::max(silu, -0.25f) * at(arguments[1], n)));
  }
  compare(built, arguments, expected);
}

// The register file is read and written by one pass.
TEST(SubContext, ReadsAndWritesTheRegisterFile) {
  std::string text =
      types +
      "func.func @kernel(%a: !h, %b: !b) -> !h attributes {visa.kernel} {\n"
      "  %ad = visa.to_dm %a : !h -> !d\n  %bd = visa.to_dm %b : !b -> !bd\n"
      "  %v = " +
      chain("sub", "%ad", "!d", "!v", "    vector_clip add [imm 1.5]\n",
            store) +
      "  %w = " +
      chain("sub", "%bd", "!bd", "!v", "    vector_clip add [vrf %v] : !v\n",
            store) +
      "  %r = " +
      chain("main", "%ad", "!d", "!d",
            "    vector_clip min [vrf %v] : !v\n"
            "    vector_clip max [vrf %w] : !v\n",
            commit) +
      "  %o = visa.to_hbm %r : !d -> !h\n  return %o : !h\n}\n";
  Built built;
  ASSERT_NO_FATAL_FAILURE(build(text, built));
  auto arguments = makeArguments(built, "quarter");
  Codes expected;
  for (size_t n = 0; n < arguments[0].codes.size(); ++n) {
    float v = at(arguments[0], n) + 1.5f;
    float w = valueOf(ElementType::BF16, arguments[1].codes[n]) + v;
    expected.push_back(
        asPattern(std::max(std::min(at(arguments[0], n), v), w)));
  }
  compare(built, arguments, expected);
}

// The cast engine, and a reduction between slices, whose sums go to the file.
TEST(SubContext, CastsAndReducesSlices) {
  std::string text =
      "#axes = #tmap.axes<N = 64, R = 4, C = 8, X = 4>\n"
      "!h = !visa.hbm<f32, element \"N, R, C\", #axes>\n"
      "!b = !visa.hbm<bf16, element \"N, X, C\", #axes>\n"
      "!d = !visa.dm<f32, slice \"N, R\", element \"C\", #axes>\n"
      "!x = !visa.dm<f32, slice \"N, X\", element \"C\", #axes>\n"
      "!bd = !visa.dm<bf16, slice \"N, X\", element \"C\", #axes>\n"
      "!v = !visa.vrf<f32, slice \"N, X\", element \"C\", #axes>\n"
      "func.func @kernel(%a: !h) -> !b attributes {visa.kernel} {\n"
      "  %ad = visa.to_dm %a : !h -> !d\n"
      "  %v = visa.chain sub -> !v {\n"
      "    fetch %ad time \"1\" packet \"C\" : !d\n"
      "    collect time \"1\" packet \"C\"\n    vector_init\n"
      "    vector_inter_slice_reduce add slice \"N, X\" time \"1\"\n"
      "    vector_final\n    to_vrf element \"C\"\n  }\n"
      "  %m = visa.chain sub -> !x {\n"
      "    fetch %ad time \"1\" packet \"C\" : !d\n"
      "    collect time \"1\" packet \"C\"\n    vector_init\n"
      "    vector_inter_slice_reduce max slice \"N, X\" time \"1\"\n"
      "    vector_final\n    commit_trim packet \"C\"\n"
      "    commit element \"C\"\n  }\n"
      "  %r = visa.chain sub -> !bd {\n"
      "    fetch %m time \"1\" packet \"C\" : !x\n"
      "    collect time \"1\" packet \"C\"\n    vector_init\n"
      "    vector_tag zero\n    vector_clip add [vrf %v] : !v\n"
      "    vector_final\n    cast to bf16 packet \"C # 16\"\n"
      "    commit_trim packet \"C\"\n    commit element \"C\"\n  }\n"
      "  %o = visa.to_hbm %r : !bd -> !b\n  return %o : !b\n}\n";
  Built built;
  ASSERT_NO_FATAL_FAILURE(build(text, built));
  auto arguments = makeArguments(built, "quarter");
  Codes expected;
  for (size_t n = 0; n < 64; ++n)
    for (size_t x = 0; x < 4; ++x)
      for (size_t c = 0; c < 8; ++c) {
        float sum = 0, most = -INFINITY;
        for (size_t r = 0; r < 4; ++r) {
          float value = at(arguments[0], (n * 4 + r) * 8 + c);
          sum += value;
          most = std::max(most, value);
        }
        // Quarters up to 20 fit in eight bits.
        expected.push_back(asPattern(sum + most) >> 16);
      }
  compare(built, arguments, expected);
}

// MM-41: both contexts may not be in the engine at once; the schedule waits.
TEST(SubContext, SharesTheEngineWithMain) {
  std::string text =
      types +
      "func.func @kernel(%a: !h, %b: !h) -> (!h, !h) attributes {visa.kernel} "
      "{\n  %ad = visa.to_dm %a : !h -> !d\n"
      "  %bd = visa.to_dm %b : !h -> !d\n  %r = " +
      chain("main", "%ad", "!d", "!d", "    vector_clip add [imm 1.0]\n",
            commit) +
      "  %s = " +
      chain("sub", "%bd", "!d", "!d", "    vector_clip add [imm 2.0]\n",
            commit) +
      "  %o = visa.to_hbm %r : !d -> !h\n  %p = visa.to_hbm %s : !d -> !h\n"
      "  return %o, %p : !h, !h\n}\n";
  Built built;
  ASSERT_NO_FATAL_FAILURE(build(text, built));
  auto arguments = makeArguments(built, "quarter");
  std::vector<HostArray> results;
  ASSERT_EQ(runBoth(built, arguments, results, /*seeds=*/5), "");
  for (size_t n = 0; n < arguments[0].codes.size(); ++n) {
    ASSERT_EQ(at(results[0], n), at(arguments[0], n) + 1.0f);
    ASSERT_EQ(at(results[1], n), at(arguments[1], n) + 2.0f);
  }
}

} // namespace
