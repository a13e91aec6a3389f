//===- VectorOps.cpp - What the vector engine computes --------------------===//
//
// Functions on 32-bit patterns, and the tables of ALUs and operations.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Support/VectorOps.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace furiosa;
using namespace furiosa::vector;
using detail::absMask;
using detail::infinity;
using detail::signBit;

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

static uint32_t saturate(int64_t value) {
  return static_cast<uint32_t>(
      std::clamp<int64_t>(value, std::numeric_limits<int32_t>::min(),
                          std::numeric_limits<int32_t>::max()));
}

/// Whether |a| is less than, or with `larger` greater than, |b|; nothing for
/// -2^31, whose magnitude is not defined.
static std::optional<bool> beatsMagnitude(uint32_t a, uint32_t b, bool larger) {
  if (a == signBit || b == signBit)
    return std::nullopt;
  uint32_t left = a & signBit ? 0 - a : a, right = b & signBit ? 0 - b : b;
  return larger ? left > right : left < right;
}

//===----------------------------------------------------------------------===//
// Floats in f64
//===----------------------------------------------------------------------===//

// Plain IEEE f64 arithmetic in a fixed order, so that every host gives the same
// bits. Errors of f64 are 2^29 times smaller than the last rounding.

static double toDouble(uint32_t pattern) {
  return std::bit_cast<double>(f32ToF64(pattern));
}
static uint32_t fromDouble(double value) {
  return f64ToF32(std::bit_cast<uint64_t>(value));
}
static bool isNaNPattern(uint32_t pattern) {
  return (pattern & absMask) > infinity;
}

/// e^x for |x| up to 300, beyond the range of f32.
static double expOf(double x) {
  x = std::clamp(x, -300.0, 300.0);
  constexpr double log2e = 0x1.71547652b82fep+0;
  // The upper part of ln 2 has zeros below, so that k times it is exact.
  constexpr double ln2High = 0x1.62e42feep-1, ln2Low = 0x1.a39ef35793c76p-33;
  int k = static_cast<int>(x * log2e + (x < 0 ? -0.5 : 0.5));
  double rest = (x - k * ln2High) - k * ln2Low;
  double power = std::bit_cast<double>(static_cast<uint64_t>(1023 + k) << 52);
  // 1 + x (1 + x/2 (1 + x/3 (1 + …))).
  double sum = 1;
  for (int n = 14; n > 0; --n)
    sum = 1 + rest * sum / n;
  return sum * power;
}

static double tanhOf(double x) {
  if (std::abs(x) < 0.5) {
    // e^2x - 1 without cancellation: 2x (1 + 2x/2 (1 + 2x/3 (1 + …))).
    double sum = 1;
    for (int n = 22; n > 1; --n)
      sum = 1 + 2 * x * sum / n;
    double minusOne = 2 * x * sum;
    return minusOne / (minusOne + 2);
  }
  double small = expOf(-2 * std::abs(x));
  double value = (1 - small) / (1 + small);
  return x < 0 ? -value : value;
}

static double erfOf(double x) {
  // From here on the nearest f32 is 1.
  if (std::abs(x) > 4)
    return x < 0 ? -1 : 1;
  // 2/sqrt(pi) e^-xx (x + 2/3 x^3 + 4/15 x^5 + …): all terms have one sign.
  double term = x, sum = x;
  for (int n = 1; n < 100; ++n) {
    term *= 2 * x * x / (2 * n + 1);
    sum += term;
  }
  return 0x1.20dd750429b6dp+0 * expOf(-x * x) * sum;
}

/// Natural logarithm of a positive finite number.
static double lnOf(double x) {
  int exponent;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < 0.70710678118654752) {
    mantissa *= 2;
    --exponent;
  }
  double s = (mantissa - 1) / (mantissa + 1), square = s * s, sum = 0;
  for (int n = 27; n > 0; n -= 2)
    sum = sum * square + 1.0 / n;
  return 2 * s * sum + exponent * 0x1.62e42fefa39efp-1;
}

/// Sine, or with `quarter` 1 cosine, of a finite f32: the argument is reduced
/// by quarter turns with 2/pi to 320 bits.
static double sineOf(uint32_t pattern, unsigned quarter) {
  static constexpr uint64_t twoOverPi[] = {
      0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
      0xfe5163abdebbc561, 0xb7246e3a424dd2e0};
  double rest = toDouble(pattern & absMask);
  if (rest > 0.78) {
    uint64_t significand = (pattern & 0x7FFFFFu) | 0x800000u;
    // The weight of the significand's last bit, at least 2^-24.
    int weight = static_cast<int>((pattern & absMask) >> 23) - 150;
    // 128 bits of 2/pi from bit `first` on (bit 0 has weight 1/2): those in
    // front give whole turns.
    int first = weight - 2;
    auto wordAt = [&](int bit) -> uint64_t {
      auto word = [](int k) { return k < 0 ? 0 : twoOverPi[k]; };
      int k = bit >> 6, shift = bit & 63;
      return shift ? word(k) << shift | word(k + 1) >> (64 - shift) : word(k);
    };
    uint64_t high = wordAt(first), low = wordAt(first + 64);
    // significand · (high:low) mod 2^128; its unit is a quarter turn / 2^126.
    uint64_t lowHalf = significand * (low & 0xFFFFFFFF);
    uint64_t middle = significand * (low >> 32) + (lowHalf >> 32);
    uint64_t bottom = middle << 32 | (lowHalf & 0xFFFFFFFF);
    uint64_t top = significand * high + (middle >> 32);
    unsigned turns = static_cast<unsigned>(top >> 62);
    // The fraction as a signed number, to the nearest quarter.
    turns += static_cast<unsigned>(top >> 61 & 1);
    auto fraction = static_cast<int64_t>(top << 2 | bottom >> 62);
    double scaled = static_cast<double>(fraction) * 0x1p-64 +
                    static_cast<double>(bottom << 2) * 0x1p-128;
    rest = scaled * 0x1.921fb54442d18p+0;
    // Half turns and the sign of the argument.
    if (pattern & signBit) {
      rest = -rest;
      turns = 0 - turns;
    }
    quarter += turns;
  } else if (pattern & signBit) {
    rest = -rest;
  }
  // Taylor series on a quarter of a quarter turn to either side.
  double square = rest * rest, sum = 1;
  bool isCosine = quarter & 1;
  for (int n = isCosine ? 20 : 21; n > 1; n -= 2)
    sum = 1 - square * sum / (n * (n - 1));
  double value = isCosine ? sum : rest * sum;
  return quarter & 2 ? -value : value;
}

/// a b + c, rounded once: the sum is rounded to odd in f64, which leaves the
/// second rounding as if it were the only one.
static uint32_t fmaF32(uint32_t a, uint32_t b, uint32_t c) {
  double product = toDouble(a) * toDouble(b), addend = toDouble(c);
  double sum = product + addend;
  if (std::isfinite(sum)) {
    double virtualAddend = sum - product;
    double error = (product - (sum - virtualAddend)) + (addend - virtualAddend);
    auto bits = std::bit_cast<uint64_t>(sum);
    if (error != 0 && bits % 2 == 0)
      sum =
          std::bit_cast<double>((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
  }
  return fromDouble(sum);
}

/// The pattern as a number that orders like the float, -0 below +0.
static int64_t orderOf(uint32_t pattern) {
  int64_t magnitude = pattern & absMask;
  return pattern & signBit ? -magnitude - 1 : magnitude;
}

static uint32_t pickF32(uint32_t a, uint32_t b, bool larger) {
  if (isNaNPattern(a))
    return isNaNPattern(b) ? canonicalNaN : b;
  if (isNaNPattern(b))
    return a;
  return (orderOf(a) > orderOf(b)) == larger ? a : b;
}

static uint32_t pickMagnitudeF32(uint32_t a, uint32_t b, bool larger) {
  uint32_t left = a & absMask, right = b & absMask;
  bool takesA = left <= infinity && right <= infinity &&
                (larger ? left > right : left < right);
  uint32_t result = takesA ? a : b;
  return isNaNPattern(result) ? canonicalNaN : result;
}

/// A function of one float.
static uint32_t applyUnary(Function function, uint32_t a) {
  if (isNaNPattern(a))
    return canonicalNaN;
  bool isInfinite = (a & absMask) == infinity;
  double x = toDouble(a);
  switch (function) {
  case Function::Exp:
    return fromDouble(a == (signBit | infinity) ? 0 : expOf(x));
  case Function::NegExp:
    return fromDouble(a == infinity ? 0 : expOf(-x));
  case Function::Sqrt:
    return fromDouble(std::sqrt(x));
  case Function::Tanh:
    return (a & absMask) == 0 ? a : fromDouble(tanhOf(x));
  case Function::Sigmoid:
    return fromDouble(1 / (1 + expOf(-x)));
  case Function::Erf:
    return (a & absMask) == 0 ? a : fromDouble(erfOf(x));
  case Function::Ln:
    if ((a & absMask) == 0)
      return signBit | infinity;
    if (a & signBit)
      return canonicalNaN;
    return isInfinite ? a : fromDouble(lnOf(x));
  case Function::Sin:
    return isInfinite ? canonicalNaN : fromDouble(sineOf(a, 0));
  default: // Cos
    return isInfinite ? canonicalNaN : fromDouble(sineOf(a, 1));
  }
}

//===----------------------------------------------------------------------===//
// All functions
//===----------------------------------------------------------------------===//

std::optional<uint32_t> vector::apply(Function function, uint32_t a, uint32_t b,
                                      uint32_t c) {
  auto left = static_cast<int32_t>(a), right = static_cast<int32_t>(b);
  switch (function) {
  case Function::And:
    return a & b;
  case Function::Or:
    return a | b;
  case Function::Xor:
    return a ^ b;
  case Function::Shl:
  case Function::ShlSat:
  case Function::Shr:
  case Function::Sar:
    if (b > 31)
      return std::nullopt;
    if (function == Function::Shl)
      return a << b;
    if (function == Function::Shr)
      return a >> b;
    if (function == Function::Sar)
      return static_cast<uint32_t>(left >> b);
    return saturate(int64_t(left) * static_cast<int32_t>(uint32_t(1) << b));
  case Function::AddI32:
    return a + b;
  case Function::AddSatI32:
    return saturate(int64_t(left) + right);
  case Function::SubI32:
    return a - b;
  case Function::SubSatI32:
    return saturate(int64_t(left) - right);
  case Function::MulI32:
    return a * b;
  case Function::MulFxp:
    // Only the product of -2^31 with itself leaves the range.
    return saturate((int64_t(left) * right + (int64_t(1) << 30)) >> 31);
  case Function::MaxI32:
    return left > right ? a : b;
  case Function::MinI32:
    return left < right ? a : b;
  case Function::AbsMaxI32:
  case Function::AbsMinI32: {
    auto takesA = beatsMagnitude(a, b, function == Function::AbsMaxI32);
    if (!takesA)
      return std::nullopt;
    return *takesA ? a : b;
  }
  case Function::AddF32:
    return addF32(a, b);
  case Function::SubF32:
    return addF32(a, b ^ signBit);
  case Function::MulF32:
    return mulF32(a, b);
  case Function::FmaF32:
    return fmaF32(a, b, c);
  case Function::DivF32:
    return fromDouble(toDouble(a) / toDouble(b));
  case Function::MaxF32:
    return pickF32(a, b, /*larger=*/true);
  case Function::MinF32:
    return pickF32(a, b, /*larger=*/false);
  case Function::AbsMaxF32:
    return pickMagnitudeF32(a, b, /*larger=*/true);
  case Function::AbsMinF32:
    return pickMagnitudeF32(a, b, /*larger=*/false);
  case Function::Exp:
  case Function::NegExp:
  case Function::Sqrt:
  case Function::Tanh:
  case Function::Sigmoid:
  case Function::Erf:
  case Function::Ln:
  case Function::Sin:
  case Function::Cos:
    return applyUnary(function, a);
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

llvm::StringRef vector::toString(Cluster cluster) {
  static constexpr llvm::StringLiteral names[] = {"logic", "fxp", "fp",
                                                  "fp_div", "clip"};
  return names[static_cast<unsigned>(cluster)];
}

llvm::StringRef vector::toString(Alu alu) {
  static constexpr llvm::StringLiteral names[] = {
#define FURIOSA_VECTOR_ALU(NAME, TEXT, CLUSTER) TEXT,
#include "furiosa/Support/VectorOps.def"
  };
  return names[static_cast<unsigned>(alu)];
}

Cluster vector::clusterOf(Alu alu) {
  static constexpr Cluster clusters[] = {
#define FURIOSA_VECTOR_ALU(NAME, TEXT, CLUSTER) Cluster::CLUSTER,
#include "furiosa/Support/VectorOps.def"
  };
  return clusters[static_cast<unsigned>(alu)];
}

llvm::ArrayRef<Alu> vector::alusOf(Cluster cluster) {
  static constexpr Alu all[] = {
#define FURIOSA_VECTOR_ALU(NAME, TEXT, CLUSTER) Alu::NAME,
#include "furiosa/Support/VectorOps.def"
  };
  auto isHere = [&](Alu alu) { return clusterOf(alu) == cluster; };
  const Alu *begin = llvm::find_if(all, isHere);
  return {begin, std::find_if_not(begin, std::end(all), isHere)};
}

static constexpr Operation table[] = {
#define FURIOSA_VECTOR_OP(ALU, NAME, CODE, TYPE, ARITY, FUNCTION)              \
  {Alu::ALU, NAME, CODE, Scalar::TYPE, ARITY, Function::FUNCTION},
#include "furiosa/Support/VectorOps.def"
};

llvm::ArrayRef<Operation> vector::operations() { return table; }

template <typename Range, typename Predicate>
static auto findIn(const Range &range, Predicate predicate)
    -> decltype(&*std::begin(range)) {
  auto it = llvm::find_if(range, predicate);
  return it == std::end(range) ? nullptr : &*it;
}

const Operation *vector::findOperation(Cluster cluster, llvm::StringRef name,
                                       ElementType type) {
  return findIn(table, [&](const Operation &row) {
    return clusterOf(row.alu) == cluster && row.name == name && row.takes(type);
  });
}

const Operation *vector::findCode(Alu alu, llvm::StringRef code) {
  return findIn(table, [&](const Operation &row) {
    return row.alu == alu && row.code == code;
  });
}

bool vector::isMode(llvm::StringRef mode, unsigned arity) {
  static constexpr llvm::StringLiteral binary[] = {"00", "01", "10", "11"};
  static constexpr llvm::StringLiteral ternary[] = {"012", "002", "102", "112",
                                                    "020", "021", "120"};
  return arity == 2   ? llvm::is_contained(binary, mode)
         : arity == 3 ? llvm::is_contained(ternary, mode)
                      : mode.empty();
}

llvm::StringRef vector::defaultMode(unsigned arity) {
  return arity == 2 ? "01" : arity == 3 ? "012" : "";
}

//===----------------------------------------------------------------------===//
// Execution ids
//===----------------------------------------------------------------------===//

llvm::StringRef vector::toString(Comparison comparison) {
  static constexpr llvm::StringLiteral names[] = {
      "equal", "less", "greater", "less_unsigned", "greater_unsigned",
      "true",  "false"};
  return names[static_cast<unsigned>(comparison)];
}

std::optional<Comparison> vector::parseComparison(llvm::StringRef name) {
  for (unsigned i = 0; i < numComparisons; ++i)
    if (toString(static_cast<Comparison>(i)) == name)
      return static_cast<Comparison>(i);
  return std::nullopt;
}

bool vector::compare(Comparison comparison, ElementType type, uint32_t value,
                     uint32_t boundary) {
  bool isFloat = type == ElementType::F32;
  if (comparison == Comparison::LessUnsigned)
    return value < boundary;
  if (comparison == Comparison::GreaterUnsigned)
    return value > boundary;
  if (comparison >= Comparison::True)
    return comparison == Comparison::True;
  if (isFloat && (isNaNPattern(value) || isNaNPattern(boundary)))
    return false;
  bool areZeros = isFloat && ((value | boundary) & absMask) == 0;
  int64_t left = isFloat ? orderOf(value) : static_cast<int32_t>(value);
  int64_t right = isFloat ? orderOf(boundary) : static_cast<int32_t>(boundary);
  if (comparison == Comparison::Equal)
    return areZeros || left == right;
  return !areZeros &&
         (comparison == Comparison::Less ? left < right : left > right);
}

std::string Guard::str() const {
  std::string text = negated ? "!" : "";
  for (unsigned bit = 0; bit < 4; ++bit)
    text += mask >> bit & 1 ? (id >> bit & 1 ? '1' : '0') : '-';
  return text;
}

std::optional<Guard> Guard::parse(llvm::StringRef text) {
  Guard guard;
  guard.negated = text.consume_front("!");
  if (text.size() != 4)
    return std::nullopt;
  for (unsigned bit = 0; bit < 4; ++bit) {
    if (text[bit] == '-')
      continue;
    if (text[bit] != '0' && text[bit] != '1')
      return std::nullopt;
    guard.mask |= static_cast<uint8_t>(1u << bit);
    guard.id |= static_cast<uint8_t>((text[bit] == '1') << bit);
  }
  return guard;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

static constexpr uint32_t minI32 = signBit, maxI32 = absMask;

static constexpr Reduction intraSlice[] = {
    {"add_sat", "", "add_sat_i32", ElementType::I32, Function::AddSatI32, 0},
    {"max", "", "max_i32", ElementType::I32, Function::MaxI32, minI32},
    {"min", "", "min_i32", ElementType::I32, Function::MinI32, maxI32},
    {"add", "", "add_f32", ElementType::F32, Function::AddF32, 0},
    {"max", "", "max_f32", ElementType::F32, Function::MaxF32,
     signBit | infinity},
    {"min", "", "min_f32", ElementType::F32, Function::MinF32, infinity},
};

static constexpr Reduction interSlice[] = {
    {"add", "add", "add", ElementType::I32, Function::AddI32, 0},
    {"add_sat", "add", "add_sat", ElementType::I32, Function::AddSatI32, 0},
    {"max", "max", "max", ElementType::I32, Function::MaxI32, minI32},
    {"min", "min", "min", ElementType::I32, Function::MinI32, maxI32},
    {"add", "add", "add_f32", ElementType::F32, Function::AddF32, 0},
    {"mul", "mul", "mul_f32", ElementType::F32, Function::MulF32, 0x3F800000},
    {"max", "max", "max_f32", ElementType::F32, Function::MaxF32,
     signBit | infinity},
    {"min", "min", "min_f32", ElementType::F32, Function::MinF32, infinity},
};

llvm::ArrayRef<Reduction> vector::intraSliceReductions() { return intraSlice; }
llvm::ArrayRef<Reduction> vector::interSliceReductions() { return interSlice; }

static const Reduction *findReduction(llvm::ArrayRef<Reduction> rows,
                                      llvm::StringRef name, ElementType type) {
  return findIn(rows, [&](const Reduction &row) {
    return row.name == name && row.type == type;
  });
}

const Reduction *vector::findIntraSlice(llvm::StringRef name,
                                        ElementType type) {
  return findReduction(intraSlice, name, type);
}

const Reduction *vector::findInterSlice(llvm::StringRef name,
                                        ElementType type) {
  return findReduction(interSlice, name, type);
}
