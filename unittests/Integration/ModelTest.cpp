//===- ModelTest.cpp - Examples of whole models ---------------------------===//
//
// The model examples against plain loops over logical indices. The loops add in
// the order that docs/visa.md gives, so that results agree to the last bit.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>

using namespace furiosa;
using namespace furiosa::test;

namespace {

using Values = std::vector<float>;

/// The values of an argument, element after element.
Values valuesOf(const HostArray &array, ElementType type) {
  Values values;
  for (uint32_t code : array.codes)
    values.push_back(type == ElementType::F32 ? asFloat(code)
                                              : valueOf(type, code));
  return values;
}

/// To the nearest bf16, ties to even.
float roundToBf16(float value) {
  uint32_t bits = asPattern(value);
  bits += 0x7FFF + (bits >> 16 & 1);
  return asFloat(bits & 0xFFFF0000);
}

/// The sum of products as the Tensor Unit adds them: neighbours of a packet of
/// 32, level by level, then packets in order.
float dot(const float *a, const float *b, size_t count) {
  float sum = 0;
  for (size_t at = 0; at < count; at += 32) {
    float lanes[32];
    for (size_t k = 0; k < 32; ++k)
      lanes[k] = a[at + k] * b[at + k];
    for (size_t width = 16; width > 0; width /= 2)
      for (size_t k = 0; k < width; ++k)
        lanes[k] = lanes[2 * k] + lanes[2 * k + 1];
    sum += lanes[0];
  }
  return sum;
}

Codes toCodes(const Values &values, ElementType type) {
  Codes codes;
  for (float value : values)
    codes.push_back(type == ElementType::F32 ? asPattern(value)
                                             : asPattern(value) >> 16);
  return codes;
}

//===----------------------------------------------------------------------===//
// MNIST
//===----------------------------------------------------------------------===//

/// A layer: rows of `weights` times `input`, and the bias.
Values applyLayer(const Values &input, const Values &weights,
                  const Values &bias, bool relu) {
  Values result;
  for (size_t row = 0; row < bias.size(); ++row) {
    float sum = roundToBf16(dot(&weights[row * input.size()], input.data(),
                                input.size())) +
                bias[row];
    result.push_back(roundToBf16(relu ? std::max(sum, 0.0f) : sum));
  }
  return result;
}

TEST(Models, Mnist) {
  Built built;
  ASSERT_NO_FATAL_FAILURE(buildFile("mnist", built));
  for (const char *fill : {"quarter", "random"}) {
    SCOPED_TRACE(fill);
    auto arguments = makeArguments(built, fill);
    std::vector<Values> values;
    for (const HostArray &argument : arguments)
      values.push_back(valuesOf(argument, ElementType::BF16));
    Values hidden = applyLayer(values[0], values[1], values[2], /*relu=*/true);
    Values logits = applyLayer(hidden, values[3], values[4], /*relu=*/false);
    compare(built, arguments, toCodes(logits, ElementType::BF16));
  }
}

} // namespace
