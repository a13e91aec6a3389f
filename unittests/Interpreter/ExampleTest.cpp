//===- ExampleTest.cpp - The example kernels against plain loops ----------===//
//
// Expected values are computed here by loops over the axes, with the integer
// model of f32 arithmetic.
//
//===----------------------------------------------------------------------===//

#include "InterpreterTestBase.h"

#include "llvm/Support/MemoryBuffer.h"

using namespace furiosa;
using namespace furiosa::interpreter;

namespace {
class ExampleTest : public InterpreterTest {
protected:
  bool load(llvm::StringRef name) {
    auto file = llvm::MemoryBuffer::getFile(std::string(FURIOSA_EXAMPLES) +
                                            "/" + name.str() + ".mlir");
    if (!file) {
      ADD_FAILURE() << "no example " << name.str();
      return false;
    }
    return parse((*file)->getBuffer(), /*check=*/true);
  }
};

/// The sum of a packet's products: neighbours, level by level.
uint32_t treeSum(std::vector<uint32_t> values) {
  while (values.size() > 1) {
    for (size_t i = 0; i < values.size() / 2; ++i)
      values[i] = addF32(values[2 * i], values[2 * i + 1]);
    values.resize(values.size() / 2);
  }
  return values[0];
}

/// Σ over k of a[k] · b[k], `packet` of them a step.
uint32_t dotF32(ElementType type, const uint32_t *a, const uint32_t *b,
                size_t size, size_t packet) {
  uint32_t sum = 0;
  for (size_t step = 0; step < size; step += packet) {
    std::vector<uint32_t> products;
    for (size_t k = step; k < step + packet; ++k)
      products.push_back(
          mulF32(decodeFloat(type, a[k]), decodeFloat(type, b[k])));
    sum = addF32(sum, treeSum(std::move(products)));
  }
  return sum;
}

/// Puts NaN, infinities, -0 and a subnormal into rows 0 to 5 of a bf16 matrix.
void plantSpecials(HostTensor &matrix) {
  const uint32_t specials[] = {0x7FC1, 0xFFA0, 0x7F80, 0xFF80, 0x8000, 0x0001};
  size_t columns = matrix.shape.back();
  for (size_t row = 0; row < std::size(specials); ++row)
    matrix.codes[row * columns + 5 + 7 * row] = specials[row];
}

/// The number of cells that differ, and the first one.
void expectSame(const HostTensor &found,
                const std::vector<uint32_t> &expected) {
  ASSERT_EQ(found.codes.size(), expected.size());
  EXPECT_FALSE(llvm::is_contained(found.defined, 0));
  size_t different = 0;
  for (size_t i = 0; i < expected.size(); ++i)
    if (found.codes[i] != expected[i] && different++ == 0)
      ADD_FAILURE() << "cell " << i << ": found " << std::hex << found.codes[i]
                    << ", expected " << expected[i];
  EXPECT_EQ(different, 0u);
}
} // namespace

TEST_F(ExampleTest, ConstantAdd) {
  ASSERT_TRUE(load("constant_add"));
  auto arguments = fill({Fill::bits(7)});
  arguments[0].codes[3] = 0x7FFFFFFF;
  arguments[0].codes[4] = 0xFFFFFFFF;
  std::vector<uint32_t> expected;
  for (uint32_t code : arguments[0].codes)
    expected.push_back(code + 1);
  expectSame(run(arguments)[0], expected);
}

TEST_F(ExampleTest, ElementwiseMul) {
  ASSERT_TRUE(load("elementwise_mul"));
  for (Fill other : {Fill::bits(2), Fill::small(2)}) {
    auto arguments = fill({Fill::bits(1), other});
    std::vector<uint32_t> expected;
    for (size_t i = 0; i < arguments[0].codes.size(); ++i)
      expected.push_back(arguments[0].codes[i] * arguments[1].codes[i]);
    expectSame(run(arguments)[0], expected);
  }
}

TEST_F(ExampleTest, GemmI8) {
  ASSERT_TRUE(load("gemm_i8"));
  for (Fill (*make)(uint64_t) : {&Fill::bits, &Fill::small}) {
    auto arguments = fill({make(1), make(2)});
    const auto &a = arguments[0].codes, &b = arguments[1].codes;
    std::vector<uint32_t> expected;
    for (size_t i = 0; i < 512; ++i)
      for (size_t j = 0; j < 512; ++j) {
        int32_t sum = 0;
        for (size_t k = 0; k < 64; ++k)
          sum += int8_t(a[i * 64 + k]) * int8_t(b[j * 64 + k]);
        expected.push_back(static_cast<uint32_t>(sum));
      }
    auto results = run(arguments);
    EXPECT_EQ(results[0].axes, (std::vector<std::string>{"I", "J"}));
    EXPECT_EQ(results[0].type, ElementType::I32);
    expectSame(results[0], expected);
  }
}

TEST_F(ExampleTest, GemmBf16) {
  ASSERT_TRUE(load("gemm_bf16"));
  for (Fill (*make)(uint64_t) : {&Fill::bits, &Fill::quarter}) {
    auto arguments = fill({make(3), make(4)});
    plantSpecials(arguments[0]);
    arguments[1].codes[9 * 64 + 12] = 0x0000; // meets the infinity
    arguments[1].codes[9 * 64 + 19] = 0x8000;
    std::vector<uint32_t> expected;
    for (size_t i = 0; i < 512; ++i)
      for (size_t j = 0; j < 512; ++j)
        expected.push_back(
            f32ToBf16(dotF32(ElementType::BF16, &arguments[0].codes[i * 64],
                             &arguments[1].codes[j * 64], 64, 32)));
    expectSame(run(arguments)[0], expected);
  }
}

TEST_F(ExampleTest, GemvTiled) {
  ASSERT_TRUE(load("gemv_tiled"));
  auto arguments = fill({Fill::bits(5), Fill::bits(6)});
  plantSpecials(arguments[0]);
  std::vector<uint32_t> expected;
  for (size_t r = 0; r < 131072; ++r)
    expected.push_back(dotF32(ElementType::BF16, &arguments[1].codes[0],
                              &arguments[0].codes[r * 64], 64, 32));
  expectSame(run(arguments)[0], expected);
}

TEST_F(ExampleTest, UndefinedOperands) {
  ASSERT_TRUE(load("gemm_bf16"));
  auto arguments = fill({Fill::small(1), Fill::small(2)});
  arguments[0].defined[17 * 64 + 63] = 0;
  arguments[1].defined[300 * 64] = 0;
  HostTensor result = run(arguments)[0];
  for (size_t i = 0; i < 512; ++i)
    for (size_t j = 0; j < 512; ++j)
      ASSERT_EQ(result.defined[i * 512 + j], i != 17 && j != 300)
          << i << ", " << j;
}

TEST_F(ExampleTest, WrongArguments) {
  ASSERT_TRUE(load("gemm_i8"));
  EXPECT_TRUE(mlir::failed(interpret(kernel, fill({Fill::small(1)}))));
  EXPECT_EQ(diagnostics, "kernel 'gemm_i8' takes 2 arguments, got 1\n");
  auto arguments = fill({Fill::small(1), Fill::small(2)});
  std::swap(arguments[0], arguments[1]);
  diagnostics.clear();
  EXPECT_TRUE(mlir::failed(interpret(kernel, arguments)));
  EXPECT_EQ(diagnostics,
            "argument 0: array is i8 [J = 512, K = 64] with 32768 codes, "
            "expected i8 [I = 512, K = 64]\n");
}
