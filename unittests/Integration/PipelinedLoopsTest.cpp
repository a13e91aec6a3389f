//===- PipelinedLoopsTest.cpp - Loops whose iterations overlap ------------===//
//
// Kernels with a loop over tiles, with iterations that overlap and without:
// whatever the commands take, both give what a plain loop gives, and iterations
// that overlap are never longer.
//
//===----------------------------------------------------------------------===//

#include "KernelText.h"
#include "Kernels.h"

#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <cstdio>

using namespace furiosa;
using namespace furiosa::test;

/// y = M x, a tile of 2048 rows of M an iteration through the tensor register
/// file.
static std::string getProduct(unsigned tiles, unsigned depth,
                              llvm::StringRef attributes) {
  std::string text = Gemv{tiles, depth}.text();
  std::string plain = "{visa.kernel}";
  return text.replace(text.find(plain), plain.size(),
                      "{visa.kernel" + attributes.str() + "}");
}

/// o = a * b, element by element, a tile an iteration through the vector
/// register file.
static std::string getElementwise(unsigned tiles, llvm::StringRef attributes) {
  return llvm::formatv(R"mlir(
#axes = #tmap.axes<A = {0}>
!hbm = !visa.hbm<i32, element "A", #axes>
!tile = !visa.hbm<i32, element "1 # {1}, A % 2048", #axes>
!out = !visa.hbm<i32, element "1 #{{!} {1}, A % 2048", #axes>
!dm = !visa.dm<i32, slice "A / 8 % 256", element "A % 8", #axes>
!vrf = !visa.vrf<i32, slice "A / 8 % 256", element "A % 8", #axes>
module attributes {{visa.target = #visa.target<rngd, release = "0.6", chips = 1, pes = 8>} {{
  func.func @elementwise(%a: !hbm, %b: !hbm) -> !hbm attributes {{visa.kernel{2}} {{
    %o = visa.alloc : !hbm
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %end = arith.constant {1} : index
    scf.for %i = %c0 to %end step %c1 {{
      %at = visa.tile %a[%i] along "A / 2048" take 1 : !hbm -> !tile
      %bt = visa.tile %b[%i] along "A / 2048" take 1 : !hbm -> !tile
      %ad = visa.to_dm %at : !tile -> !dm
      %bd = visa.to_dm %bt : !tile -> !dm
      %v = visa.chain sub -> !vrf {{
        fetch %bd time "1" packet "A % 8" : !dm
        collect time "1" packet "A % 8"
        to_vrf element "A % 8"
      }
      %r = visa.chain main -> !dm {{
        fetch %ad time "1" packet "A % 8" : !dm
        collect time "1" packet "A % 8"
        vector_init
        vector_tag zero
        vector_fxp mul_int [vrf %v] : !vrf
        vector_final
        commit_trim packet "A % 8"
        commit element "A % 8"
      }
      %ot = visa.tile %o[%i] along "A / 2048" take 1 : !hbm -> !out
      visa.copy %r into %ot : !dm, !out
    }
    return %o : !hbm
  }
}
)mlir",
                       tiles * 2048, tiles, attributes);
}

static constexpr llvm::StringLiteral apart =
    ", resource.pipeline_loops = false";

/// Compares the kernel with and without overlap with `expect` of its arguments;
/// returns the cycles of both.
static std::pair<uint64_t, uint64_t>
compareBoth(const std::string &plain, const std::string &overlapping,
            llvm::StringRef fill,
            llvm::function_ref<Codes(const std::vector<HostArray> &)> expect) {
  uint64_t cycles[2] = {};
  for (bool isOverlapping : {false, true}) {
    Built built;
    build(isOverlapping ? overlapping : plain, built);
    if (testing::Test::HasFatalFailure())
      return {0, 0};
    std::vector<HostArray> arguments = makeArguments(built, fill);
    compare(built, arguments, expect(arguments), /*seeds=*/3);
    auto reader = llvm::cantFail(rngd::edf::Reader::open(built.file));
    cycles[isOverlapping] = llvm::cantFail(reader.schedule()).makespan;
  }
  EXPECT_LE(cycles[1], cycles[0]);
  return {cycles[0], cycles[1]};
}

TEST(PipelinedLoops, Products) {
  unsigned shorter = 0;
  for (unsigned tiles : {1, 2, 3, 5, 8, 9, 12})
    for (unsigned depth : {32, 64}) {
      SCOPED_TRACE(std::to_string(tiles) + " tiles of depth " +
                   std::to_string(depth));
      auto [plain, overlapping] = compareBoth(
          getProduct(tiles, depth, apart), getProduct(tiles, depth, ""),
          "small", [&](const std::vector<HostArray> &arguments) {
            // Small integers: sums are exact in any order.
            Codes expected;
            for (size_t row = 0; row < size_t(tiles) * 2048; ++row) {
              float sum = 0;
              for (size_t k = 0; k < depth; ++k)
                sum += valueOf(ElementType::BF16,
                               arguments[0].codes[row * depth + k]) *
                       valueOf(ElementType::BF16, arguments[1].codes[k]);
              expected.push_back(asPattern(sum));
            }
            return expected;
          });
      std::printf("%2u tiles of depth %2u: %llu cycles, overlapping %llu\n",
                  tiles, depth, (unsigned long long)plain,
                  (unsigned long long)overlapping);
      shorter += overlapping < plain;
    }
  EXPECT_GE(shorter, 6u);
}

TEST(PipelinedLoops, Elementwise) {
  unsigned shorter = 0;
  for (unsigned tiles : {2, 4, 7, 11, 16}) {
    SCOPED_TRACE(std::to_string(tiles) + " tiles");
    auto [plain, overlapping] =
        compareBoth(getElementwise(tiles, apart), getElementwise(tiles, ""),
                    "random", [](const std::vector<HostArray> &arguments) {
                      Codes expected;
                      for (auto [a, b] : llvm::zip_equal(arguments[0].codes,
                                                         arguments[1].codes))
                        expected.push_back(a * b);
                      return expected;
                    });
    std::printf("%2u tiles: %llu cycles, overlapping %llu\n", tiles,
                (unsigned long long)plain, (unsigned long long)overlapping);
    shorter += overlapping < plain;
  }
  EXPECT_GE(shorter, 2u);
}
