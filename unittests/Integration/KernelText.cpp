//===- KernelText.cpp - Kernels of many shapes as text --------------------===//

#include "KernelText.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace furiosa;
using namespace furiosa::test;
using llvm::formatv;

std::string test::mlirName(ElementType type) {
  switch (type) {
  case ElementType::F8E4M3:
    return "f8E4M3FN";
  case ElementType::F8E5M2:
    return "f8E5M2";
  case ElementType::U8:
    return "ui8";
  case ElementType::F4E2M1:
    return "f4E2M1FN";
  default:
    return toString(type).str();
  }
}

std::map<std::string, int64_t> test::axesOf(llvm::StringRef text) {
  std::map<std::string, int64_t> axes;
  for (llvm::StringRef item : llvm::split(text, ',')) {
    auto [name, size] = item.split('=');
    int64_t value = 0;
    EXPECT_FALSE(size.trim().getAsInteger(10, value)) << text.str();
    axes[name.trim().str()] = value;
  }
  return axes;
}

std::vector<std::string> test::namesOf(llvm::StringRef list) {
  std::vector<std::string> names;
  for (llvm::StringRef name : llvm::split(list, ','))
    names.push_back(name.trim().str());
  return names;
}

/// `X % n`, or the whole axis where it has n cells.
static std::string low(llvm::StringRef axis, int64_t size, int64_t n) {
  if (n == 1)
    return "1";
  return n == size ? axis.str() : formatv("{0} % {1}", axis, n).str();
}

/// `X / n`, `1` for the whole axis.
static std::string high(llvm::StringRef axis, int64_t size, int64_t n) {
  if (n == size)
    return "1";
  return n == 1 ? axis.str() : formatv("{0} / {1}", axis, n).str();
}

/// `X / low % count`.
static std::string digit(llvm::StringRef axis, int64_t size, int64_t low,
                         int64_t count) {
  if (count == 1)
    return "1";
  std::string text = low == 1 ? axis.str() : formatv("{0} / {1}", axis, low);
  return low * count == size ? text : formatv("{0} % {1}", text, count).str();
}

/// The slice mapping of `outer` by `inner` positions, padded to 256.
static std::string sliceMapping(std::string outer, int64_t outerSize,
                                std::string inner, int64_t innerSize) {
  if (outerSize * innerSize == 256)
    return outer + ", " + inner;
  if (256 % innerSize == 0)
    return formatv("{0} # {1}, {2}", outer, 256 / innerSize, inner);
  return formatv("[{0}, {1}] # 256", outer, inner);
}

std::string Gemm::text() const {
  int64_t flit = 256 / wireBits(type);
  int64_t groups = columnsPerSlice / lanes;
  std::string slice = sliceMapping(
      high("I", rows, rowsPerSlice), rows / rowsPerSlice,
      high("J", columns, columnsPerSlice), columns / columnsPerSlice);
  std::string row = low("I", rows, rowsPerSlice);
  std::string column = low("J", columns, columnsPerSlice);
  std::string lane = low("J", columns, lanes);
  std::string group = digit("J", columns, lanes, groups);
  std::string flits = high("K", depth, flit), inner = low("K", depth, flit);
  std::string steps = high("K", depth, packet());
  std::string in = mlirName(type), out = mlirName(resultType());

  std::string fetchTime = broadcast ? row : row + ", " + group;
  std::string outerTime =
      broadcast ? row + ", " + steps + ", " + group : fetchTime + ", " + steps;
  std::string kept = row + ", " + group;
  // A result narrower than eight bytes carries padding along.
  bool padded = sequential || lanes == 1;
  std::string foldTime = sequential ? kept + ", " + lane : kept;
  std::string foldPacket = sequential   ? "1 # 8"
                           : lanes == 8 ? lane
                                        : formatv("{0} # 8", lane).str();
  int64_t word = 64 / wireBits(resultType());
  std::string trim = padded ? formatv("1 # {0}", word).str() : lane;
  if (!padded && lanes * wireBits(resultType()) < 64)
    trim = formatv("{0} # {1}", lane, word);
  std::string element = padded ? row + ", " + column + ", " + trim
                               : row + ", " + group + ", " + trim;

  std::string wide = type == ElementType::I4 ? "i5" : "i9";
  auto zeroPoint = [](std::optional<int> value) -> std::string {
    return value ? formatv("    zero_point_sub {0}\n", *value).str() : "";
  };
  std::string cast = castToBf16
                         ? formatv("      cast to bf16 packet \"{0} # 16\"\n",
                                   sequential || lanes == 1 ? "1" : lane)
                               .str()
                         : "";
  return formatv(
      R"(
#axes = #tmap.axes<I = {0}, J = {1}, K = {2}>
!a_hbm = !visa.hbm<{3}, element "I, K", #axes>
!b_hbm = !visa.hbm<{3}, element "J, K", #axes>
!c_hbm = !visa.hbm<{4}, element "I, J", #axes>
!a_dm = !visa.dm<{3}, slice "{5}", element "{6}, K", #axes>
!b_dm = !visa.dm<{3}, slice "{5}", element "{7}, K", #axes>
!c_dm = !visa.dm<{4}, slice "{5}", element "{8}", #axes>
!b_trf = !visa.trf<{22}, slice "{5}", lane "{9}", element "{10}, K", #axes>
func.func @kernel(%a: !a_hbm, %b: !b_hbm) -> !c_hbm attributes {{visa.kernel} {{
  %ad = visa.to_dm %a : !a_hbm -> !a_dm
  %bd = visa.to_dm %b : !b_hbm -> !b_dm
  %w = visa.chain sub -> !b_trf {{
    fetch %bd time "{9}, {10}" packet "K" : !b_dm
{23}    collect time "{9}, {10}, {11}" packet "{12}"
    to_trf lane "{9}" element "{10}, K"
  }
  %c = visa.chain main -> !c_dm {{
    fetch %ad time "{13}" packet "K" : !a_dm
{24}    collect time "{13}, {11}" packet "{12}"
    contract_outer %w time "{14}" packet "{15}" : !b_trf
    contract_packet packet "1"
    contract_time time "{16}"
    contract_lane {17} time "{18}" packet "{19}"
{20}    commit_trim packet "{21}"
    commit element "{8}"
  }
  %o = visa.to_hbm %c : !c_dm -> !c_hbm
  return %o : !c_hbm
}
)",
      rows, columns, depth, in, out, slice, row, column, element, lane, group,
      flits, inner, fetchTime, outerTime, low("K", depth, packet()), kept,
      sequential ? "sequential" : "interleaved", foldTime, foldPacket, cast,
      trim, zeroB ? wide : in, zeroPoint(zeroB), zeroPoint(zeroA));
}

std::string Stream::text() const {
  int clusters = pes == 8 ? 2 : 1;
  return formatv(R"(
#axes = #tmap.axes<{0}>
!in_hbm = !visa.hbm<{1}, element "{2}", #axes>
!out_hbm = !visa.hbm<{3}, element "{4}", #axes>
!in_dm = !visa.dm<{1}, cluster "{11}", slice "{5}", element "{6}", #axes>
!out_dm = !visa.dm<{3}, cluster "{11}", slice "{7}", element "{8}", #axes>
module attributes {{visa.target = #visa.target<rngd, release = "0.6", chips = 1, pes = {10}>} {{
  func.func @kernel(%a: !in_hbm) -> !out_hbm attributes {{visa.kernel} {{
    %d = visa.to_dm %a : !in_hbm -> !in_dm
    %r = visa.chain {12} -> !out_dm {{
      fetch %d {9}
    }
    %o = visa.to_hbm %r : !out_dm -> !out_hbm
    return %o : !out_hbm
  }
}
)",
                 axes, mlirName(in), inHbm, mlirName(out), outHbm, inSlice,
                 inElement, outSlice, outElement, stages, pes,
                 clusters == 2 ? "1 # 2" : "1", context);
}

std::string Gemv::text() const {
  return formatv(R"(
#axes = #tmap.axes<R = {0}, K = {1}>
!m = !visa.hbm<bf16, element "R, K", #axes>
!x = !visa.hbm<bf16, element "K", #axes>
!y = !visa.hbm<f32, element "R", #axes>
!mt = !visa.hbm<bf16, element "1 # {2}, R % 2048, K", #axes>
!yt = !visa.hbm<f32, element "1 #{{!} {2}, R % 2048", #axes>
!md = !visa.dm<bf16, slice "R / 8 % 256", element "R % 8, K", #axes>
!xd = !visa.dm<bf16, slice "R / 8 % 256", element "K", #axes>
!yd = !visa.dm<f32, slice "R / 8 % 256", element "R % 8", #axes>
!w = !visa.trf<bf16, slice "R / 8 % 256", lane "R % 8", element "K", #axes>
func.func @kernel(%m: !m, %x: !x) -> !y attributes {{visa.kernel} {{
  %y = visa.alloc : !y
  %xd = visa.to_dm %x : !x -> !xd
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %cn = arith.constant {2} : index
  scf.for %i = %c0 to %cn step %c1 {{
    %mt = visa.tile %m[%i] along "R / 2048" take 1 : !m -> !mt
    %md = visa.to_dm %mt : !mt -> !md
    %w = visa.chain sub -> !w {{
      fetch %md time "R % 8" packet "K" : !md
      collect time "R % 8, {3}" packet "K % 16"
      to_trf lane "R % 8" element "K"
    }
    %r = visa.chain main -> !yd {{
      fetch %xd time "1" packet "K" : !xd
      collect time "{3}" packet "K % 16"
      contract_outer %w time "{4}" packet "{5}" : !w
      contract_packet packet "1"
      contract_time time "1"
      contract_lane interleaved time "1" packet "R % 8"
      commit_trim packet "R % 8"
      commit element "R % 8"
    }
    %yt = visa.tile %y[%i] along "R / 2048" take 1 : !y -> !yt
    visa.copy %r into %yt : !yd, !yt
  }
  return %y : !y
}
)",
                 tiles * 2048, depth, tiles, high("K", depth, 16),
                 high("K", depth, 32), low("K", depth, 32));
}

std::string Elementwise::text() const {
  int64_t used = size / perSlice;
  std::string slice = high("A", size, perSlice);
  if (used != 256)
    slice = formatv("{0} # 256", slice);
  std::string element = low("A", size, perSlice);
  std::string time = digit("A", size, 8, perSlice / 8);
  std::string packet = low("A", size, 8);
  std::string load = fromRegisterFile ? formatv(R"(
  %bd = visa.to_dm %b : !hbm -> !dm
  %v = visa.chain sub -> !vrf {{
    fetch %bd time "{0}" packet "{1}" : !dm
    collect time "{0}" packet "{1}"
    to_vrf element "{2}"
  })",
                                                time, packet, element)
                                            .str()
                                      : "";
  std::string operand = fromRegisterFile
                            ? "[vrf %v] : !vrf"
                            : formatv("[imm {0}]", immediate).str();
  return formatv(R"(
#axes = #tmap.axes<A = {0}>
!hbm = !visa.hbm<i32, element "A", #axes>
!dm = !visa.dm<i32, slice "{1}", element "{2}", #axes>
!vrf = !visa.vrf<i32, slice "{1}", element "{2}", #axes>
func.func @kernel(%a: !hbm, %b: !hbm) -> !hbm attributes {{visa.kernel} {{
  %ad = visa.to_dm %a : !hbm -> !dm{3}
  %r = visa.chain main -> !dm {{
    fetch %ad time "{4}" packet "{5}" : !dm
    collect time "{4}" packet "{5}"
    vector_init
    vector_tag zero
    vector_fxp {6} {7}
    vector_final
    commit_trim packet "{5}"
    commit element "{2}"
  }
  %o = visa.to_hbm %r : !dm -> !hbm
  return %o : !hbm
}
)",
                 size, slice, element, load, time, packet, function, operand);
}
