//===- RegisterFileTest.cpp - Register files filled by the main context ---===//
//
// Stores behind collect, behind the vector engine and behind a contraction;
// what a later chain reads of the register file is held against plain loops.
// The tensor register file is in the generated kernels of TensorUnitTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "gtest/gtest.h"

using namespace furiosa;
using namespace furiosa::test;

namespace {

/// A kernel over a[A, 8] that adds what chain %v left in the register file.
std::string addFromVrf(const std::string &chain) {
  return R"(
#axes = #tmap.axes<A = 2048, K = 32>
!hbm = !visa.hbm<i32, element "A", #axes>
!dm = !visa.dm<i32, slice "A / 8", element "A % 8", #axes>
!vrf = !visa.vrf<i32, slice "A / 8", element "A % 8", #axes>
!kh = !visa.hbm<i8, element "A, K", #axes>
!kd = !visa.dm<i8, slice "A / 8", element "A % 8, K", #axes>
!xh = !visa.hbm<i8, element "K", #axes>
!xd = !visa.dm<i8, slice "A / 8", element "K", #axes>
!w = !visa.trf<i8, slice "A / 8", lane "A % 8", element "K", #axes>
func.func @kernel(%a: !hbm, %b: !hbm, %m: !kh, %x: !xh) -> !hbm attributes {visa.kernel} {
  %ad = visa.to_dm %a : !hbm -> !dm
  %bd = visa.to_dm %b : !hbm -> !dm
  %md = visa.to_dm %m : !kh -> !kd
  %xd = visa.to_dm %x : !xh -> !xd
  %w = visa.chain sub -> !w {
    fetch %md time "A % 8" packet "K" : !kd
    collect time "A % 8" packet "K"
    to_trf lane "A % 8" element "K"
  }
  %v = visa.chain main -> !vrf {
)" + chain +
         R"(
    to_vrf element "A % 8"
  }
  %r = visa.chain main -> !dm {
    fetch %ad time "1" packet "A % 8" : !dm
    collect time "1" packet "A % 8"
    vector_init
    vector_tag zero
    vector_fxp add [vrf %v] : !vrf
    vector_final
    commit_trim packet "A % 8"
    commit element "A % 8"
  }
  %o = visa.to_hbm %r : !dm -> !hbm
  return %o : !hbm
}
)";
}

/// Runs the kernel and expects a + `value` of the other arguments at each
/// index.
template <typename Value>
void expectSum(const std::string &chain, Value value) {
  Built built;
  ASSERT_NO_FATAL_FAILURE(build(addFromVrf(chain), built));
  std::vector<HostArray> arguments = makeArguments(built, "bits");
  Codes expected;
  for (size_t i = 0; i < 2048; ++i)
    expected.push_back(arguments[0].codes[i] + value(arguments, i));
  ASSERT_NO_FATAL_FAILURE(compare(built, arguments, expected)) << chain;
}

TEST(MainStore, BehindCollect) {
  expectSum(R"(    fetch %bd time "1" packet "A % 8" : !dm
    collect time "1" packet "A % 8")",
            [](const std::vector<HostArray> &arguments, size_t i) {
              return arguments[1].codes[i];
            });
}

TEST(MainStore, BehindVectorEngine) {
  expectSum(R"(    fetch %bd time "1" packet "A % 8" : !dm
    collect time "1" packet "A % 8"
    vector_init
    vector_tag zero
    vector_fxp mul_int [imm 3]
    vector_final)",
            [](const std::vector<HostArray> &arguments, size_t i) {
              return 3 * arguments[1].codes[i];
            });
}

TEST(MainStore, BehindContractionAndVectorEngine) {
  expectSum(R"(    fetch %xd time "1" packet "K" : !xd
    collect time "1" packet "K"
    contract_outer %w time "1" packet "K" : !w
    contract_packet packet "1"
    contract_time time "1"
    contract_lane interleaved time "1" packet "A % 8"
    vector_init
    vector_tag zero
    vector_fxp add [imm 5]
    vector_final)",
            [](const std::vector<HostArray> &arguments, size_t i) {
              uint32_t sum = 5;
              for (size_t k = 0; k < 32; ++k)
                sum +=
                    uint32_t(int32_t(int8_t(arguments[2].codes[i * 32 + k])) *
                             int32_t(int8_t(arguments[3].codes[k])));
              return sum;
            });
}

} // namespace
