//===- ModelTest.cpp - Examples of whole models ---------------------------===//
//
// The model examples against plain loops over logical indices. The loops add in
// the order that docs/visa.md gives, so that results agree to the last bit.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "llvm/ADT/STLExtras.h"
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

/// To the nearest bf16, ties to even; subnormals are zero.
float roundToBf16(float value) {
  uint32_t bits = asPattern(value);
  if ((bits & 0x7F800000) == 0)
    return asFloat(bits & 0x80000000);
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

//===----------------------------------------------------------------------===//
// Decoder block
//===----------------------------------------------------------------------===//

constexpr size_t tokens = 256, hidden = 64, heads = 2, headSize = 32,
                 wide = 128;

/// Adds as vector_reduce does: packets of four as a tree, then in order.
template <typename Function>
float reduce(const float *values, size_t count, float start, Function op) {
  float sum = start;
  for (size_t at = 0; at < count; at += 4)
    sum = op(sum, op(op(values[at], values[at + 1]),
                     op(values[at + 2], values[at + 3])));
  return sum;
}
float add(float a, float b) { return a + b; }

/// values * gain / root of their mean square.
void applyNorm(float *values, const float *gain, size_t count) {
  Values squares;
  for (size_t k = 0; k < count; ++k)
    squares.push_back(values[k] * values[k]);
  float mean = reduce(squares.data(), count, 0, add) / float(count);
  float root = std::sqrt(mean + 1e-6f);
  for (size_t k = 0; k < count; ++k)
    values[k] = values[k] * gain[k] / root;
}

void roundAll(Values &values) {
  for (float &value : values)
    value = roundToBf16(value);
}

/// Rows of a matrix times a vector.
Values multiply(const Values &matrix, const Values &vector) {
  Values result;
  for (size_t row = 0; row < matrix.size() / vector.size(); ++row)
    result.push_back(
        dot(&matrix[row * vector.size()], vector.data(), vector.size()));
  return result;
}

/// Arguments of the decoder in its order.
enum {
  X,
  Norm1,
  Wq,
  Wk,
  Wv,
  NormQ,
  NormK,
  Cos,
  Sin,
  Mask,
  Wo,
  Norm2,
  WGate,
  WUp,
  WDown,
};

/// Norm of each head and rotary position of a token's queries or keys.
Values turn(Values values, const Values &norm, const float *cosines,
            const float *sines) {
  Values result(values.size());
  for (size_t n = 0; n < heads; ++n) {
    float *head = &values[n * headSize];
    applyNorm(head, norm.data(), headSize);
    for (size_t d = 0; d < headSize; ++d) {
      float turned = head[(d + headSize / 2) % headSize] * sines[d];
      result[n * headSize + d] = roundToBf16(head[d] * cosines[d] + turned);
    }
  }
  return result;
}

/// Attention of one token's queries over the keys and values of all.
Values attend(const Values &query, const std::vector<Values> &keys,
              const std::vector<Values> &values, const float *mask) {
  Values result;
  for (size_t n = 0; n < heads; ++n) {
    Values weights;
    for (size_t t = 0; t < tokens; ++t) {
      float score =
          dot(&query[n * headSize], &keys[t][n * headSize], headSize) /
          5.656854f;
      weights.push_back(std::min(score, mask[t]));
    }
    float most = reduce(weights.data(), tokens, -INFINITY,
                        [](float a, float b) { return std::max(a, b); });
    for (float &weight : weights)
      weight = float(std::exp(double(weight - most)));
    float sum = reduce(weights.data(), tokens, 0, add);
    for (float &weight : weights)
      weight = roundToBf16(weight / sum);
    for (size_t d = 0; d < headSize; ++d) {
      Values column;
      for (size_t t = 0; t < tokens; ++t)
        column.push_back(values[t][n * headSize + d]);
      result.push_back(roundToBf16(dot(weights.data(), column.data(), tokens)));
    }
  }
  return result;
}

Values runDecoder(const std::vector<Values> &in) {
  auto row = [](const Values &values, size_t at, size_t size) {
    return Values(values.begin() + at * size, values.begin() + (at + 1) * size);
  };
  std::vector<Values> queries, keys, values;
  for (size_t s = 0; s < tokens; ++s) {
    Values normed = row(in[X], s, hidden);
    applyNorm(normed.data(), in[Norm1].data(), hidden);
    roundAll(normed);
    const float *cosines = &in[Cos][s * headSize];
    const float *sines = &in[Sin][s * headSize];
    queries.push_back(
        turn(multiply(in[Wq], normed), in[NormQ], cosines, sines));
    keys.push_back(turn(multiply(in[Wk], normed), in[NormK], cosines, sines));
    values.push_back(multiply(in[Wv], normed));
    roundAll(values.back());
  }
  Values result;
  for (size_t s = 0; s < tokens; ++s) {
    Values residual = multiply(
        in[Wo], attend(queries[s], keys, values, &in[Mask][s * tokens]));
    for (size_t k = 0; k < hidden; ++k)
      residual[k] += in[X][s * hidden + k];
    Values normed = residual;
    applyNorm(normed.data(), in[Norm2].data(), hidden);
    roundAll(normed);
    Values gate = multiply(in[WGate], normed), up = multiply(in[WUp], normed);
    for (size_t k = 0; k < wide; ++k) {
      float sigmoid = float(1 / (1 + std::exp(-double(gate[k]))));
      up[k] = roundToBf16(up[k] * (sigmoid * gate[k]));
    }
    Values down = multiply(in[WDown], up);
    for (size_t k = 0; k < hidden; ++k)
      result.push_back(down[k] + residual[k]);
  }
  return result;
}

TEST(Models, Decoder) {
  Built built;
  ASSERT_NO_FATAL_FAILURE(buildFile("decoder", built));
  auto arguments = makeArguments(built, "quarter");
  for (size_t s = 0; s < tokens; ++s) {
    for (size_t t = 0; t < tokens; ++t)
      arguments[Mask].codes[s * tokens + t] =
          asPattern(t <= s ? 3e38f : -3e38f);
    for (size_t d = 0; d < headSize; ++d) {
      size_t pair = d % (headSize / 2);
      double angle =
          double(s) * std::pow(10000.0, -2.0 * double(pair) / headSize);
      float sine = float(std::sin(angle));
      arguments[Cos].codes[s * headSize + d] =
          asPattern(float(std::cos(angle)));
      arguments[Sin].codes[s * headSize + d] =
          asPattern(d < headSize / 2 ? -sine : sine);
    }
  }
  std::vector<Values> values;
  for (auto [argument, layout] : llvm::zip_equal(arguments, built.inputs))
    values.push_back(valuesOf(argument, layout.type()));
  Values expected = runDecoder(values);
  compare(built, arguments, toCodes(expected, ElementType::F32), /*seeds=*/1);
}

} // namespace
