//===- TensorUnitDrawer.cpp - How Tensor Unit kernels are drawn -----------===//

#include "TensorUnitDrawer.h"

#include <cmath>

using namespace furiosa;
using namespace furiosa::test;
using namespace furiosa::test::drawing;

//===----------------------------------------------------------------------===//
// Number formats by their definition
//===----------------------------------------------------------------------===//

int32_t drawing::integerOf(uint32_t code, unsigned bits) {
  return static_cast<int32_t>(code << (32 - bits)) >> (32 - bits);
}

/// Nearest even; subnormals become zero.
uint32_t drawing::toBF16(uint32_t pattern) {
  if (std::isnan(asFloat(pattern)))
    return 0x7FC0;
  if ((pattern & 0x7F800000u) == 0)
    return (pattern >> 16) & 0x8000;
  uint32_t rest = pattern & 0xFFFF, kept = pattern >> 16;
  return rest > 0x8000 || (rest == 0x8000 && (kept & 1)) ? kept + 1 : kept;
}

uint32_t drawing::toBF16Relu(uint32_t pattern) {
  if (std::isnan(asFloat(pattern)))
    return 0x7FC0;
  return pattern >> 31 ? 0 : toBF16(pattern);
}

/// The nearest of all codes up to `largest`; a tie goes to the even code or,
/// for f8e5m2, away from zero.
uint32_t drawing::toF8(ElementType type, uint32_t pattern) {
  bool wide = type == ElementType::F8E5M2;
  float value = asFloat(pattern);
  if (std::isnan(value))
    return wide ? 0x7E : 0x7F;
  double magnitude = std::fabs(double(value));
  uint32_t best = 0;
  double distance = magnitude;
  for (uint32_t code = 1; code <= (wide ? 0x7Cu : 0x7Eu); ++code) {
    // The code behind the largest finite one counts as the next step.
    double found = wide && code == 0x7C ? 65536.0 : valueOf(type, code);
    double next = std::fabs(found - magnitude);
    if (next < distance || (next == distance && (wide || code % 2 == 0))) {
      best = code;
      distance = next;
    }
  }
  if (wide && magnitude > 65536.0)
    best = 0x7C;
  // A subnormal f8e5m2 never becomes the least normal number (numeric.json).
  if (wide && magnitude < std::ldexp(1.0, -14) && best == 4)
    best = 3;
  if (!wide && magnitude > 448.0)
    best = 0x7E;
  return best | (pattern >> 31 ? 0x80 : 0);
}

float drawing::e2m1(uint32_t code) {
  static constexpr float table[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  return std::copysign(table[code & 7], code & 8 ? -1.0f : 1.0f);
}

//===----------------------------------------------------------------------===//
// Behind the sums
//===----------------------------------------------------------------------===//

bool Drawer::drawTail(Digits time, Digit packet, ElementType type, bool isSub) {
  outType = type;
  // Cast engine.
  if (!isSub && (type == I32 || type == F32) && chance(45)) {
    outType = type == I32 ? pickFrom<ElementType>({I4, I8, I16})
                          : pickFrom<ElementType>({E4M3, E5M2, BF16});
    packet.pad = 256 / bitsOf(outType);
    stage("cast to " + nameOf(outType) + " packet \"" + text({packet}) + "\"");
    kind("cast");
    ElementType to = outType;
    conversions.push_back([to](uint32_t code) -> uint32_t {
      switch (to) {
      case I4:
        return code & 0xF;
      case I8:
        return code & 0xFF;
      case I16:
        return code & 0xFFFF;
      case BF16:
        return toBF16(code);
      default:
        return toF8(to, code);
      }
    });
  }
  // Transpose: rows are the innermost digit of time, or stand outside of the
  // two flits of a row.
  int64_t bits = bitsOf(outType), flit = 256 / bits;
  int64_t cells = bits == 4 ? 16 : 8, maxRows = 64 / bits;
  if (packet.count <= cells && packet.spelling.empty() && chance(45)) {
    Digits columns;
    Digits rest = time;
    if (packet.count == cells && chance(40))
      if (auto parts = split(rest, 2)) {
        rest = parts->first;
        columns = parts->second;
      }
    int64_t rows = pick({1, 2, 2, 4, 8, 16});
    auto parts = split(rest, rows);
    if (rows <= maxRows && parts && parts->second.size() <= 1) {
      Digit row = rows == 1 ? Digit() : parts->second[0];
      columns.push_back({packet.axis, packet.low, packet.count});
      time = parts->first + columns;
      packet = row;
      packet.pad = flit;
      quoted("transpose", time, {packet});
      kind(columns.size() > 1 ? "transpose of two flits" : "transpose");
      if (isSub)
        kind("transpose in the sub context");
    }
  }
  // Trim to words, and the commit cast.
  bool commitCast = !isSub && outType == F32 && chance(40);
  std::vector<int64_t> widths;
  for (int64_t bytes : {8, 16, 24, 32})
    if (bytes * 8 / bits >= packet.count &&
        (!commitCast || bytes == 16 || bytes == 32))
      widths.push_back(bytes * 8 / bits);
  if (widths.empty())
    return false;
  if (packet.spelling.empty()) {
    packet.pad = chance(60) ? widths.front() : pickFrom(widths);
    if (packet.pad < flit)
      kind("trim");
  }
  stage("commit_trim packet \"" + text({packet}) + "\"");
  if (commitCast) {
    bool relu = chance(50);
    stage(std::string(relu ? "commit_cast_relu" : "commit_cast") + " to bf16");
    kind(relu ? "commit_cast_relu" : "commit_cast");
    conversions.push_back(relu ? toBF16Relu : toBF16);
    outType = BF16;
  }
  // Sequencers have eight loops.
  if (time.size() > 6)
    return false;
  if (chance(50)) {
    shuffle(time);
    kind("commit in another order");
  }
  outElement = time + Digits{packet};
  stage("commit element \"" + text(outElement) + "\"");
  return true;
}

std::vector<std::string> test::getTensorUnitKinds() {
  return {"pair i4 x i4",
          "pair i4 x i5",
          "pair i5 x i4",
          "pair i5 x i5",
          "pair i8 x i8",
          "pair i8 x i9",
          "pair i9 x i8",
          "pair i9 x i9",
          "pair f8E4M3FN x f8E4M3FN",
          "pair f8E5M2 x f8E5M2",
          "pair bf16 x bf16",
          "one flit",
          "two flits",
          "lanes 1",
          "lanes 2",
          "lanes 4",
          "lanes 8",
          "lane interleaved",
          "lane sequential",
          "padded lanes",
          "padded rows",
          "padded weight",
          "weight loaded by main",
          "columns of the stream",
          "columns of the weight",
          "columns of both",
          "broadcast in time",
          "fetched again",
          "sum over time",
          "open sums",
          "both clusters",
          "PEs 1",
          "PEs 2",
          "PEs 4",
          "PEs 8",
          "table lookup",
          "table lookup in front of a contraction",
          "fetch cast",
          "no conversion",
          "main copy",
          "sub copy",
          "interleaved pair",
          "packet below a flit",
          "packet of a flit",
          "packet of several flits",
          "packet of no whole words",
          "packet of strided cells",
          "switch forwarding",
          "switch broadcast01",
          "switch broadcast1",
          "switch transpose",
          "switch inter_transpose",
          "switch transposed_broadcast1",
          "switch custom_broadcast",
          "tile of padding",
          "cast",
          "transpose",
          "transpose of two flits",
          "transpose in the sub context",
          "trim",
          "commit_cast",
          "commit_cast_relu",
          "commit in another order"};
}
