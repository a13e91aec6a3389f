//===- VectorOpsTest.cpp - What the vector engine computes ----------------===//
//
// Expected values: the worked vectors of the vector engine's rules (their
// numbers stand in the comments), and exact values of the float functions.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Support/VectorOps.h"

#include "gtest/gtest.h"

#include <limits>

using namespace furiosa;
using namespace furiosa::vector;

namespace {

constexpr int32_t maxI32 = std::numeric_limits<int32_t>::max();
constexpr int32_t minI32 = std::numeric_limits<int32_t>::min();
constexpr uint32_t minF32 = 0x00800000; // 2^-126

uint32_t bits(int32_t value) { return static_cast<uint32_t>(value); }
uint32_t bits(float value) { return std::bit_cast<uint32_t>(value); }

int32_t applyInt(Function function, int32_t a, int32_t b) {
  auto result = apply(function, bits(a), bits(b));
  EXPECT_TRUE(result);
  return static_cast<int32_t>(result.value_or(0));
}
float applyFloat(Function function, float a, float b = 0, float c = 0) {
  auto result = apply(function, bits(a), bits(b), bits(c));
  EXPECT_TRUE(result);
  return std::bit_cast<float>(result.value_or(0));
}

TEST(VectorFunctions, FixedPointProduct) { // 1 … 4
  auto mul = [](int32_t a, int32_t b) {
    return applyInt(Function::MulFxp, a, b);
  };
  int32_t half = 1 << 30;
  EXPECT_EQ(mul(half, half), 1 << 29);
  EXPECT_EQ(mul(minI32, minI32), maxI32);
  EXPECT_EQ(mul(1, half), 1);
  EXPECT_EQ(mul(-1, half), 0);
  EXPECT_EQ(mul(3, half), 2);
  EXPECT_EQ(mul(-3, half), -1);
  EXPECT_EQ(mul(maxI32, maxI32), 2147483646);
  EXPECT_EQ(mul(minI32, maxI32), -2147483647);
  EXPECT_EQ(mul(minI32, 1), -1);
  EXPECT_EQ(mul(minI32, -1), 1);
}

TEST(VectorFunctions, Shifts) { // 5, 6
  auto sat = [](int32_t a, int32_t b) {
    return applyInt(Function::ShlSat, a, b);
  };
  EXPECT_EQ(sat(1 << 30, 1), maxI32);
  EXPECT_EQ(sat(-(1 << 30) - 1, 1), minI32);
  EXPECT_EQ(sat(1, 31), minI32);
  EXPECT_EQ(sat(-1, 31), maxI32);
  EXPECT_EQ(applyInt(Function::Shl, -1, 31), minI32);
  EXPECT_EQ(applyInt(Function::Shr, -1, 31), 1);
  EXPECT_EQ(applyInt(Function::Sar, -8, 2), -2);
  for (Function function :
       {Function::Shl, Function::ShlSat, Function::Shr, Function::Sar}) {
    EXPECT_FALSE(apply(function, 1, 32));
    EXPECT_FALSE(apply(function, 1, bits(-1)));
  }
}

TEST(VectorFunctions, Magnitudes) { // 7
  EXPECT_EQ(applyInt(Function::AbsMinI32, -3, 3), 3);
  EXPECT_EQ(applyInt(Function::AbsMaxI32, -3, 3), 3);
  EXPECT_EQ(applyInt(Function::AbsMinI32, -5, 3), 3);
  EXPECT_EQ(applyInt(Function::AbsMaxI32, -5, 3), -5);
  EXPECT_FALSE(apply(Function::AbsMaxI32, bits(minI32), 0));
  EXPECT_FALSE(apply(Function::AbsMinI32, 0, bits(minI32)));
  uint32_t nan = 0x7FC12345;
  EXPECT_EQ(apply(Function::AbsMaxF32, nan, bits(2.0f)), bits(2.0f));
  EXPECT_EQ(apply(Function::AbsMaxF32, bits(2.0f), nan), canonicalNaN);
  EXPECT_EQ(applyFloat(Function::AbsMinF32, -3, 3), 3);
  EXPECT_EQ(applyFloat(Function::AbsMaxF32, -5, 3), -5);
}

TEST(VectorFunctions, WrapAndSaturate) { // 17, 19, 34
  EXPECT_EQ(applyInt(Function::AddI32, maxI32, 1), minI32);
  EXPECT_EQ(applyInt(Function::AddSatI32, maxI32, 1), maxI32);
  EXPECT_EQ(applyInt(Function::SubI32, minI32, 1), maxI32);
  EXPECT_EQ(applyInt(Function::SubSatI32, minI32, 1), minI32);
  EXPECT_EQ(applyInt(Function::MulI32, 1 << 30, 4), 0);
  auto add = [](int32_t a, int32_t b) {
    return applyInt(Function::AddSatI32, a, b);
  };
  EXPECT_EQ(add(add(maxI32, 1), add(1, -2)), 2147483646);
}

TEST(VectorFunctions, MaxAndMin) {
  EXPECT_EQ(applyInt(Function::MaxI32, -1, 1), 1);
  EXPECT_EQ(applyInt(Function::MinI32, -1, 1), -1);
  EXPECT_EQ(apply(Function::MaxF32, 0x80000000, 0), 0u);
  EXPECT_EQ(apply(Function::MinF32, 0, 0x80000000), 0x80000000u);
  for (uint32_t nan : {0x7F800001u, 0xFFC00000u}) {
    EXPECT_EQ(apply(Function::MaxF32, nan, bits(1.0f)), bits(1.0f));
    EXPECT_EQ(apply(Function::MinF32, bits(1.0f), nan), bits(1.0f));
    EXPECT_EQ(apply(Function::MinF32, nan, nan), canonicalNaN);
  }
}

TEST(VectorFunctions, SignAndExponentBits) { // 20
  auto run = [](float x) {
    uint32_t value = *apply(Function::And, bits(x), 0x7FFFFFFF);
    value = *apply(Function::AddI32, value, minF32);
    return std::bit_cast<float>(*apply(Function::MinF32, value, bits(100.0f)));
  };
  EXPECT_EQ(run(0), 0x1p-126f);
  EXPECT_EQ(run(-0.0f), 0x1p-126f);
  EXPECT_EQ(run(-1), 2);
  EXPECT_EQ(run(1), 2);
  EXPECT_EQ(run(-0.5f), 1);
  EXPECT_EQ(run(3.25f), 6.5f);
  EXPECT_EQ(run(-80), 100);
  EXPECT_EQ(run(120), 100);
  EXPECT_EQ(run(0x1p-126f), 0x1p-125f);
}

TEST(VectorFunctions, SpecialFloats) {
  uint32_t inf = 0x7F800000, minusInf = 0xFF800000, zero = 0x80000000;
  EXPECT_EQ(apply(Function::Exp, minusInf), 0u);
  EXPECT_EQ(apply(Function::Exp, inf), inf);
  EXPECT_EQ(apply(Function::NegExp, inf), 0u);
  EXPECT_EQ(apply(Function::Exp, zero), bits(1.0f));
  EXPECT_EQ(apply(Function::Sqrt, zero), zero);
  EXPECT_EQ(apply(Function::Sqrt, bits(-1.0f)), canonicalNaN);
  EXPECT_EQ(apply(Function::Ln, 0), minusInf);
  EXPECT_EQ(apply(Function::Ln, zero), minusInf);
  EXPECT_EQ(apply(Function::Ln, inf), inf);
  EXPECT_EQ(apply(Function::Ln, bits(-1.0f)), canonicalNaN);
  EXPECT_EQ(apply(Function::Ln, bits(1.0f)), 0u);
  EXPECT_EQ(apply(Function::Tanh, minusInf), bits(-1.0f));
  EXPECT_EQ(apply(Function::Sigmoid, minusInf), 0u);
  EXPECT_EQ(apply(Function::Sigmoid, inf), bits(1.0f));
  EXPECT_EQ(apply(Function::Erf, inf), bits(1.0f));
  for (Function odd :
       {Function::Sin, Function::Tanh, Function::Erf, Function::Sqrt})
    EXPECT_EQ(apply(odd, zero), zero);
  EXPECT_EQ(apply(Function::Sin, inf), canonicalNaN);
  EXPECT_EQ(apply(Function::Cos, minusInf), canonicalNaN);
  EXPECT_EQ(apply(Function::Cos, zero), bits(1.0f));
  EXPECT_EQ(apply(Function::DivF32, bits(1.0f), zero), minusInf);
  EXPECT_EQ(apply(Function::DivF32, 0, zero), canonicalNaN);
  EXPECT_EQ(apply(Function::FmaF32, inf, 0, 0), canonicalNaN);
  EXPECT_EQ(apply(Function::FmaF32, inf, bits(1.0f), minusInf), canonicalNaN);
  for (const Operation &operation : operations())
    if (operation.scalar == Scalar::F32 && operation.arity == 1) {
      EXPECT_EQ(apply(operation.function, 0xFF800001), canonicalNaN)
          << operation.name.str();
    }
}

struct Exact {
  Function function;
  uint32_t a, b, c, result;
};
constexpr Exact exactValues[] = {
#include "VectorFunctions.inc"
};

TEST(VectorFunctions, ExactValues) {
  for (const Exact &row : exactValues)
    EXPECT_EQ(apply(row.function, row.a, row.b, row.c), row.result)
        << unsigned(row.function) << " of " << std::hex << row.a << ", "
        << row.b << ", " << row.c;
}

TEST(VectorTable, OperationsAreFound) {
  for (const Operation &operation : operations()) {
    ElementType type =
        operation.scalar == Scalar::F32 ? ElementType::F32 : ElementType::I32;
    EXPECT_EQ(findOperation(clusterOf(operation.alu), operation.name, type),
              &operation);
    EXPECT_EQ(findCode(operation.alu, operation.code), &operation);
  }
  EXPECT_EQ(findOperation(Cluster::Fxp, "add", ElementType::F32), nullptr);
  EXPECT_EQ(findOperation(Cluster::Logic, "xor", ElementType::F32)->alu,
            Alu::LogicXor);
  EXPECT_EQ(findCode(Alu::FpMul0, "add"), nullptr);
  unsigned sizes[] = {5, 4, 5, 1, 3};
  for (unsigned i = 0; i < 5; ++i)
    EXPECT_EQ(alusOf(static_cast<Cluster>(i)).size(), sizes[i]);
}

TEST(VectorTable, Modes) { // 16, 17, 18
  const Operation &sub = *findOperation(Cluster::Fxp, "sub", ElementType::I32);
  EXPECT_EQ(apply(sub, "10", 5, 7, 0), 2u);
  EXPECT_EQ(apply(sub, "00", 5, 7, 0), 0u);
  const Operation &exclusive =
      *findOperation(Cluster::Logic, "xor", ElementType::I32);
  EXPECT_EQ(apply(exclusive, "11", 12345, 0xFF, 0), 0u);
  const Operation &fma = *findOperation(Cluster::Fp, "fma", ElementType::F32);
  EXPECT_EQ(apply(fma, "120", bits(5.0f), bits(2.0f), bits(1.0f)), bits(7.0f));
  EXPECT_EQ(apply(fma, "012", bits(3.0f), bits(2.0f), bits(3.0f)), bits(9.0f));
  EXPECT_TRUE(isMode("021", 3));
  EXPECT_FALSE(isMode("210", 3));
  EXPECT_FALSE(isMode("02", 2));
  EXPECT_FALSE(isMode("01", 1));
}

TEST(VectorIds, Comparisons) { // 25, 26, 27
  auto tag = [](ElementType type, uint32_t value,
                std::initializer_list<std::pair<Comparison, uint32_t>> list) {
    unsigned id = 0, bit = 0;
    for (auto [comparison, boundary] : list)
      id |= unsigned(compare(comparison, type, value, boundary)) << bit++;
    return id;
  };
  using C = Comparison;
  EXPECT_EQ(tag(ElementType::I32, 7,
                {{C::Less, 0}, {C::Equal, 5}, {C::Greater, 100}, {C::True, 0}}),
            8u);
  auto tagFloat = [&](float value) {
    return tag(ElementType::F32, bits(value),
               {{C::Equal, 0}, {C::Greater, 0}, {C::Less, 0}, {C::True, 0}});
  };
  EXPECT_EQ(tagFloat(0), 9u);
  EXPECT_EQ(tagFloat(-0.0f), 9u);
  EXPECT_EQ(tagFloat(1.5f), 10u);
  EXPECT_EQ(tagFloat(-2.5f), 12u);
  EXPECT_EQ(tagFloat(std::numeric_limits<float>::quiet_NaN()), 8u);
  for (ElementType type : {ElementType::F32, ElementType::I32}) {
    bool isFloat = type == ElementType::F32;
    uint32_t minus = isFloat ? bits(-1.0f) : bits(-1);
    uint32_t one = isFloat ? bits(1.0f) : 1;
    EXPECT_TRUE(compare(C::GreaterUnsigned, type, minus, one));
    EXPECT_FALSE(compare(C::LessUnsigned, type, minus, one));
    EXPECT_FALSE(compare(C::Greater, type, minus, one));
    EXPECT_TRUE(compare(C::Less, type, minus, one));
  }
  for (unsigned i = 0; i < numComparisons; ++i)
    EXPECT_EQ(parseComparison(toString(static_cast<C>(i))), static_cast<C>(i));
  EXPECT_FALSE(parseComparison("at_least"));
}

TEST(VectorIds, Guards) {
  EXPECT_TRUE(Guard::parse("----")->isAlways());
  EXPECT_TRUE(Guard::parse("!----")->isNever());
  EXPECT_TRUE(Guard::parse("---0")->isGroup());
  for (const char *text : {"1--0", "!-01-", "----", "!1111"})
    EXPECT_EQ(Guard::parse(text)->str(), text);
  for (const char *text : {"", "1", "11111", "1x--", "!!---", "----!"})
    EXPECT_FALSE(Guard::parse(text)) << text;
  Guard guard = *Guard::parse("1--0");
  for (unsigned id = 0; id < 16; ++id)
    EXPECT_EQ(guard.admits(id), (id & 1) && !(id & 8));
  Guard other = *Guard::parse("!1--0");
  for (unsigned id = 0; id < 16; ++id)
    EXPECT_NE(guard.admits(id), other.admits(id));
}

TEST(VectorReductions, Identities) {
  for (auto list : {intraSliceReductions(), interSliceReductions()})
    for (const Reduction &row : list)
      for (uint32_t value : {0u, 1u, 0x80000000u, 0x7F800000u, 0xFF800000u,
                             0x7FFFFFFFu, 0x3FC00000u}) {
        if (row.type == ElementType::F32 && isNaN(row.type, value))
          continue;
        // The sum of -0 and +0 is +0.
        if (row.type == ElementType::F32 && value == 0x80000000u)
          continue;
        EXPECT_EQ(apply(row.function, row.identity, value), value)
            << row.code.str();
      }
  EXPECT_EQ(findIntraSlice("add", ElementType::I32), nullptr);
  EXPECT_EQ(findIntraSlice("mul", ElementType::F32), nullptr);
  EXPECT_EQ(findInterSlice("mul", ElementType::I32), nullptr);
  EXPECT_EQ(findInterSlice("mul", ElementType::F32)->unit, "mul");
}

} // namespace
