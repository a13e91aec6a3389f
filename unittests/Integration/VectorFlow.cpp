//===- VectorFlow.cpp - What chains of vector stages compute --------------===//

#include "VectorFlow.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <bit>
#include <cmath>

using namespace furiosa;
using namespace furiosa::test;
using namespace furiosa::test::vectors;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static uint32_t saturate(int64_t value) {
  return uint32_t(int32_t(
      std::min<int64_t>(std::max<int64_t>(value, INT32_MIN), INT32_MAX)));
}

/// The larger of two floats, -0 below +0, a NaN dropped.
static float larger(float a, float b) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) ? b : a;
  if (a == b)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

static std::optional<float> evaluateFloat(const std::string &name, float f,
                                          float g, float h) {
  double d = f;
  if (name == "add")
    return f + g;
  if (name == "sub")
    return f - g;
  if (name.substr(0, 3) == "mul")
    return f * g;
  if (name == "fma")
    return std::fma(f, g, h);
  if (name == "div")
    return f / g;
  if (name == "max")
    return larger(f, g);
  if (name == "min")
    return -larger(-f, -g);
  if (name == "abs_max")
    return std::abs(f) > std::abs(g) ? f : g;
  if (name == "abs_min")
    return std::abs(f) < std::abs(g) ? f : g;
  if (name == "exp")
    return float(std::exp(d));
  if (name == "neg_exp")
    return float(std::exp(-d));
  if (name == "sqrt")
    return std::sqrt(f);
  if (name == "tanh")
    return float(std::tanh(d));
  if (name == "sigmoid")
    return float(1 / (1 + std::exp(-d)));
  if (name == "erf")
    return float(std::erf(d));
  if (name == "ln")
    return float(std::log(d));
  if (name == "sin")
    return float(std::sin(d));
  if (name == "cos")
    return float(std::cos(d));
  return std::nullopt;
}

Value vectors::evaluate(const std::string &name, bool isFloat, uint32_t a,
                        uint32_t b, uint32_t c) {
  auto x = int32_t(a), y = int32_t(b);
  if (name == "and")
    return a & b;
  if (name == "or")
    return a | b;
  if (name == "xor")
    return a ^ b;
  if (isFloat) {
    auto value = evaluateFloat(name, asFloat(a), asFloat(b), asFloat(c));
    EXPECT_TRUE(value) << name;
    return asPattern(value.value_or(0));
  }
  if (name == "add")
    return a + b;
  if (name == "sub")
    return a - b;
  if (name == "add_sat")
    return saturate(int64_t(x) + y);
  if (name == "sub_sat")
    return saturate(int64_t(x) - y);
  if (name == "mul_int")
    return uint32_t(int64_t(x) * y);
  if (name == "mul_fxp")
    return saturate(
        int64_t(std::floor(std::ldexp((long double)(x)*y, -31) + 0.5L)));
  if (name == "max")
    return uint32_t(std::max(x, y));
  if (name == "min")
    return uint32_t(std::min(x, y));
  if (name == "abs_max" || name == "abs_min") {
    if (x == INT32_MIN || y == INT32_MIN)
      return std::nullopt;
    int64_t left = std::abs(int64_t(x)), right = std::abs(int64_t(y));
    return (name == "abs_max" ? left > right : left < right) ? a : b;
  }
  // What is left are shifts.
  if (b > 31)
    return std::nullopt;
  if (name == "shl")
    return uint32_t(uint64_t(a) << b);
  if (name == "shr")
    return a >> b;
  if (name == "sar")
    return uint32_t(int64_t(x) >> b);
  if (name == "shl_sat")
    return saturate(int64_t(x) *
                    (b == 31 ? int64_t(INT32_MIN) : int64_t(1) << b));
  ADD_FAILURE() << name;
  return std::nullopt;
}

bool vectors::holds(const std::string &comparison, bool isFloat, uint32_t value,
                    uint32_t edge) {
  if (comparison == "less_unsigned")
    return value < edge;
  if (comparison == "greater_unsigned")
    return value > edge;
  if (comparison == "less")
    return isFloat ? asFloat(value) < asFloat(edge)
                   : int32_t(value) < int32_t(edge);
  if (comparison == "greater")
    return isFloat ? asFloat(value) > asFloat(edge)
                   : int32_t(value) > int32_t(edge);
  if (comparison == "equal")
    return isFloat ? asFloat(value) == asFloat(edge) : value == edge;
  return comparison == "true";
}

uint32_t vectors::fixedToFloat(uint32_t value, unsigned width) {
  return asPattern(float(std::ldexp(double(int32_t(value)), int(width) - 31)));
}

uint32_t vectors::floatToFixed(uint32_t value, unsigned width) {
  double rounded =
      std::round(std::ldexp(double(asFloat(value)), 31 - int(width)));
  // It saturates; a NaN counts as infinity of its sign.
  if (std::isnan(asFloat(value)))
    rounded = value >> 31 ? -1e18 : 1e18;
  return saturate(int64_t(std::clamp(rounded, -1e18, 1e18)));
}

uint32_t vectors::identityOf(const std::string &reduction, bool isFloat) {
  if (reduction == "max")
    return isFloat ? 0xFF800000 : 0x80000000;
  if (reduction == "min")
    return isFloat ? 0x7F800000 : 0x7FFFFFFF;
  return 0;
}

/// A function of two elements that may be undefined.
static Value combine(const std::string &fn, bool isFloat, Value a, Value b) {
  if (!a || !b)
    return std::nullopt;
  return evaluate(fn, isFloat, *a, *b);
}

//===----------------------------------------------------------------------===//
// Digits
//===----------------------------------------------------------------------===//

int64_t vectors::sizeOf(const Digits &digits) {
  int64_t size = 1;
  for (const Digit &digit : digits)
    size *= digit.count;
  return size;
}

bool vectors::uses(const Digits &digits, char axis) {
  return std::any_of(digits.begin(), digits.end(),
                     [&](const Digit &digit) { return digit.axis == axis; });
}

Digits vectors::without(Digits digits, char axis) {
  std::erase_if(digits, [&](const Digit &digit) { return digit.axis == axis; });
  return digits;
}

Digits vectors::operator+(Digits outer, const Digits &inner) {
  outer.insert(outer.end(), inner.begin(), inner.end());
  return outer;
}

std::string vectors::textOf(const Digits &digits, const Sizes &sizes) {
  std::string text;
  for (const Digit &digit : digits) {
    text += text.empty() ? "" : ", ";
    text += digit.axis;
    if (digit.axis == '1') {
      text += " # " + std::to_string(digit.count);
      continue;
    }
    if (digit.padded != sizes.at(digit.axis))
      text += " # " + std::to_string(digit.padded);
    if (digit.weight != 1)
      text += " / " + std::to_string(digit.weight);
    if (digit.weight * digit.count != digit.padded)
      text += " % " + std::to_string(digit.count);
  }
  return text.empty() ? "1" : text;
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

Flow::Flow(const Sizes &sizes, Digits slice, Digits time, Digits packet)
    : slice(std::move(slice)), time(std::move(time)), packet(std::move(packet)),
      sizes(sizes) {
  cells.resize(sizeOf(this->slice) * sizeOf(this->time) * sizeOf(this->packet));
}

bool Flow::add(const Digits &digits, int64_t position, Coordinates &sum) {
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
    int64_t value = position % digit->count;
    position /= digit->count;
    if (digit->axis != '1')
      sum[digit->axis - 'A'] += value * digit->weight;
    else if (value != 0)
      return false;
  }
  return true;
}

std::optional<Flow::Coordinates> Flow::locate(size_t cell) const {
  Coordinates sum{};
  if (add(slice + time + packet, int64_t(cell), sum))
    return sum;
  return std::nullopt;
}

std::optional<int64_t> Flow::getOffset(size_t cell,
                                       const std::string &axes) const {
  auto coordinates = locate(cell);
  if (!coordinates)
    return std::nullopt;
  for (const auto &[axis, size] : sizes)
    if ((*coordinates)[axis - 'A'] >= size)
      return std::nullopt;
  int64_t offset = 0;
  for (char axis : axes)
    offset = offset * sizes.at(axis) + (*coordinates)[axis - 'A'];
  return offset;
}

std::vector<Value> Flow::read(const Codes &codes,
                              const std::string &axes) const {
  std::vector<Value> values(cells.size());
  for (size_t cell = 0; cell < cells.size(); ++cell)
    if (auto offset = getOffset(cell, axes))
      values[cell] = codes[*offset];
  return values;
}

void Flow::load(const Codes &codes, const std::string &axes) {
  std::vector<Value> values = read(codes, axes);
  for (size_t cell = 0; cell < cells.size(); ++cell)
    cells[cell].value = values[cell];
}

std::vector<Value> Flow::store(const std::string &axes) const {
  int64_t size = 1;
  for (char axis : axes)
    size *= sizes.at(axis);
  std::vector<Value> values(size);
  for (size_t cell = 0; cell < cells.size(); ++cell)
    if (auto offset = getOffset(cell, axes))
      values[*offset] = cells[cell].value;
  return values;
}

bool Flow::isSecond(size_t cell, char axis) const {
  auto coordinates = locate(cell);
  return coordinates && (*coordinates)[axis - 'A'] == 1;
}

void Flow::trim(Digits newPacket) {
  std::vector<Cell> kept;
  for (size_t cell = 0; cell < cells.size(); ++cell)
    if (cell % 8 < 4)
      kept.push_back(cells[cell]);
  cells = std::move(kept);
  packet = std::move(newPacket);
}

void Flow::pad(Digits newPacket) {
  std::vector<Cell> all;
  for (size_t cell = 0; cell < cells.size(); cell += 4) {
    all.insert(all.end(), cells.begin() + cell, cells.begin() + cell + 4);
    all.resize(all.size() + 4);
  }
  cells = std::move(all);
  packet = std::move(newPacket);
}

void Flow::regroup(Digits newTime, Digits newPacket) {
  time = std::move(newTime);
  packet = std::move(newPacket);
}

void Flow::reduce(char axis, const std::string &fn, bool isFloat) {
  int64_t slices = sizeOf(slice), steps = sizeOf(time);
  bool folds = uses(packet, axis);
  Digits keptTime = without(time, axis);
  int64_t keptSteps = sizeOf(keptTime);
  Value identity = identityOf(fn, isFloat);
  std::vector<Cell> sums(slices * keptSteps * 4);
  for (Cell &sum : sums)
    sum.value = identity;
  for (int64_t s = 0; s < slices; ++s)
    for (int64_t t = 0; t < steps; ++t) {
      // The step without its digits of the axis.
      int64_t kept = 0, scale = 1, rest = t;
      for (auto digit = time.rbegin(); digit != time.rend(); ++digit) {
        if (digit->axis != axis) {
          kept += rest % digit->count * scale;
          scale *= digit->count;
        }
        rest /= digit->count;
      }
      Cell *target = &sums[(s * keptSteps + kept) * 4];
      Value lanes[4] = {identity, identity, identity, identity};
      bool isLive = false;
      for (int64_t lane = 0; lane < 4; ++lane) {
        size_t cell = (s * steps + t) * 4 + lane;
        auto coordinates = locate(cell);
        if (!coordinates || (*coordinates)[axis - 'A'] >= sizes.at(axis))
          continue;
        isLive = true;
        lanes[lane] = cells[cell].value;
        Cell &sum = target[folds ? 0 : lane];
        sum.id = cells[cell].id;
        if (!folds)
          sum.value = combine(fn, isFloat, sum.value, lanes[lane]);
      }
      if (folds && isLive)
        target->value = combine(
            fn, isFloat, target->value,
            combine(fn, isFloat, combine(fn, isFloat, lanes[0], lanes[1]),
                    combine(fn, isFloat, lanes[2], lanes[3])));
    }
  cells = std::move(sums);
  time = std::move(keptTime);
  if (folds)
    packet = {{'1', 4, 1, 4}};
}

int64_t Flow::valueOf(const Digit &digit, const Coordinates &coordinates) {
  return coordinates[digit.axis - 'A'] / digit.weight % digit.count;
}

void Flow::reduceSlices(const Digits &kept, const Digits &reduced,
                        const Digits &freed, const Digits &newTime,
                        const std::string &fn, bool isFloat) {
  int64_t group = sizeOf(reduced), groups = sizeOf(kept);
  int64_t steps = sizeOf(time), lanes = sizeOf(packet);
  int64_t newSteps = sizeOf(newTime);
  std::vector<Cell> result(groups * group * newSteps * lanes);
  for (int64_t g = 0; g < groups; ++g)
    for (int64_t member = 0; member < group; ++member) {
      Coordinates mine{};
      if (!add(freed, member, mine))
        continue;
      for (int64_t t = 0, kept = 0; t < steps; ++t) {
        // A member that has a share of time takes only the steps of its share.
        Coordinates here{};
        add(time, t, here);
        bool isMine = true;
        for (const Digit &digit : freed)
          if (uses(time, digit.axis))
            isMine &= valueOf(digit, here) == valueOf(digit, mine);
        if (!isMine)
          continue;
        for (int64_t lane = 0; lane < lanes; ++lane) {
          Value sum;
          for (int64_t j = 0; j < group; ++j) {
            const Cell &cell =
                cells[((g * group + j) * steps + t) * lanes + lane];
            sum = j == 0 ? cell.value : combine(fn, isFloat, sum, cell.value);
          }
          result[((g * group + member) * newSteps + kept) * lanes + lane]
              .value = sum;
        }
        ++kept;
      }
    }
  cells = std::move(result);
  slice = kept + freed;
  time = newTime;
}

void Flow::zip(char axis, const std::string &fn, bool isFloat,
               const std::string &mode) {
  // The distance of the groups, in cells.
  int64_t inside = sizeOf(packet);
  for (auto digit = time.rbegin(); digit->axis != axis; ++digit)
    inside *= digit->count;
  std::vector<Cell> fused;
  for (size_t cell = 0; cell < cells.size(); ++cell) {
    if (isSecond(cell, axis))
      continue;
    Value groups[] = {cells[cell].value, cells[cell + inside].value};
    Cell &result = fused.emplace_back();
    result.value =
        combine(fn, isFloat, groups[mode[0] - '0'], groups[mode[1] - '0']);
    result.id = 8;
  }
  cells = std::move(fused);
  time = without(time, axis);
}
