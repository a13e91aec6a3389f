//===- TensorUnitDrawer.h - How Tensor Unit kernels are drawn ---*- C++ -*-===//
//
// Lists of digits, number formats by their definition, and what contractions
// and streams share.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_UNITTESTS_INTEGRATION_TENSORUNITDRAWER_H
#define FURIOSA_UNITTESTS_INTEGRATION_TENSORUNITDRAWER_H

#include "TensorUnitKernel.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>

namespace furiosa::test::drawing {

//===----------------------------------------------------------------------===//
// Digits
//===----------------------------------------------------------------------===//

/// `axis / low % count`, padded to `pad` cells where that is more.
struct Digit {
  std::string axis;
  int64_t low = 1, count = 1, pad = 0;
  /// A spelling that is no plain digit.
  std::string spelling = "";

  int64_t size() const { return std::max(count, pad); }
};

using Digits = std::vector<Digit>;
using Sizes = std::map<std::string, int64_t>;

inline int64_t sizeOf(const Digits &digits) {
  int64_t size = 1;
  for (const Digit &digit : digits)
    size *= digit.size();
  return size;
}

inline std::string textOf(const Digit &digit, const Sizes &sizes) {
  if (!digit.spelling.empty())
    return digit.spelling;
  std::string text = digit.axis;
  if (digit.count == 1)
    text = "1";
  else if (int64_t size = sizes.at(digit.axis); digit.count != size) {
    if (digit.low != 1)
      text += " / " + std::to_string(digit.low);
    if (digit.low * digit.count != size)
      text += " % " + std::to_string(digit.count);
  }
  if (digit.pad > digit.count)
    text += " # " + std::to_string(digit.pad);
  return text;
}

inline std::string textOf(const Digits &digits, const Sizes &sizes) {
  std::string text;
  for (const Digit &digit : digits)
    if (digit.size() != 1)
      text += (text.empty() ? "" : ", ") + textOf(digit, sizes);
  return text.empty() ? "1" : text;
}

inline Digits operator+(Digits outer, const Digits &inner) {
  outer.insert(outer.end(), inner.begin(), inner.end());
  return outer;
}

/// The innermost `cells` cells and what stands outside of them; nothing where
/// the border falls into a digit that is padded.
inline std::optional<std::pair<Digits, Digits>> split(Digits outer,
                                                      int64_t cells) {
  Digits inner;
  while (cells > 1) {
    if (outer.empty())
      return std::nullopt;
    Digit digit = outer.back();
    outer.pop_back();
    if (cells % digit.size() == 0) {
      cells /= digit.size();
      inner.insert(inner.begin(), digit);
      continue;
    }
    if (digit.size() % cells != 0 || digit.pad > digit.count ||
        !digit.spelling.empty())
      return std::nullopt;
    outer.push_back({digit.axis, digit.low * cells, digit.count / cells});
    inner.insert(inner.begin(), {digit.axis, digit.low, cells});
    cells = 1;
  }
  return std::pair(outer, inner);
}

/// The axes in the order of their innermost digits.
inline std::vector<std::string> axesOf(const Digits &digits) {
  std::vector<std::string> axes;
  for (const Digit &digit : llvm::reverse(digits))
    if (!digit.axis.empty() && !llvm::is_contained(axes, digit.axis))
      axes.insert(axes.begin(), digit.axis);
  return axes;
}

/// Cells that follow one another in a list of `axes` and in `element`.
inline int64_t getRun(const std::vector<std::string> &axes,
                      const Digits &element, const Sizes &sizes) {
  int64_t run = 1, low = 1;
  auto axis = axes.rbegin();
  for (const Digit &digit : llvm::reverse(element)) {
    if (axis == axes.rend() || digit.axis != *axis || digit.low != low)
      break;
    run *= digit.count;
    low *= digit.count;
    if (low == sizes.at(*axis)) {
      ++axis;
      low = 1;
    }
    if (digit.pad > digit.count)
      break;
  }
  return run;
}

inline std::string join(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "1" : text;
}

//===----------------------------------------------------------------------===//
// Number formats by their definition
//===----------------------------------------------------------------------===//

using Convert = std::function<uint32_t(uint32_t)>;

int32_t integerOf(uint32_t code, unsigned bits);
/// bf16 of an f32, nearest even; subnormals become zero.
uint32_t toBF16(uint32_t pattern);
uint32_t toBF16Relu(uint32_t pattern);
/// The nearest of all codes; a tie goes to the even code or, for f8e5m2, away
/// from zero.
uint32_t toF8(ElementType type, uint32_t pattern);
float e2m1(uint32_t code);

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

constexpr ElementType I4 = ElementType::I4, I5 = ElementType::I5,
                      I8 = ElementType::I8, I9 = ElementType::I9,
                      I16 = ElementType::I16, I32 = ElementType::I32,
                      U8 = ElementType::U8, E2M1 = ElementType::F4E2M1,
                      E4M3 = ElementType::F8E4M3, E5M2 = ElementType::F8E5M2,
                      BF16 = ElementType::BF16, F32 = ElementType::F32;

inline int64_t bitsOf(ElementType type) {
  switch (type) {
  case I4:
  case I5:
  case E2M1:
    return 4;
  case I16:
  case BF16:
    return 16;
  case I32:
  case F32:
    return 32;
  default:
    return 8;
  }
}

inline std::string nameOf(ElementType type) {
  switch (type) {
  case I4:
    return "i4";
  case I5:
    return "i5";
  case I8:
    return "i8";
  case I9:
    return "i9";
  case I16:
    return "i16";
  case I32:
    return "i32";
  case U8:
    return "ui8";
  case E2M1:
    return "f4E2M1FN";
  case E4M3:
    return "f8E4M3FN";
  case E5M2:
    return "f8E5M2";
  case BF16:
    return "bf16";
  default:
    return "f32";
  }
}

inline bool isFloatType(ElementType type) {
  return type == E2M1 || type == E4M3 || type == E5M2 || type == BF16 ||
         type == F32;
}

//===----------------------------------------------------------------------===//
// Index arithmetic
//===----------------------------------------------------------------------===//

using Index = std::map<std::string, int64_t>;

/// Calls `visit` for each index over `axes` in row-major order.
template <typename Visit>
inline void forEach(const std::vector<std::string> &axes, const Sizes &sizes,
                    Visit visit) {
  int64_t cells = 1;
  for (const std::string &axis : axes)
    cells *= sizes.at(axis);
  Index index;
  for (int64_t cell = 0; cell < cells; ++cell) {
    int64_t rest = cell;
    for (const std::string &axis : llvm::reverse(axes)) {
      index[axis] = rest % sizes.at(axis);
      rest /= sizes.at(axis);
    }
    visit(index);
  }
}

inline int64_t placeOf(const std::vector<std::string> &axes, const Sizes &sizes,
                       const Index &index) {
  int64_t place = 0;
  for (const std::string &axis : axes)
    place = place * sizes.at(axis) + index.at(axis);
  return place;
}

/// Adds what position `at` of `digits` means to `index`.
inline void addDigits(Index &index, const Digits &digits, int64_t at) {
  for (const Digit &digit : llvm::reverse(digits)) {
    index[digit.axis] += at % digit.count * digit.low;
    at /= digit.count;
  }
}

//===----------------------------------------------------------------------===//
// A kernel in the making
//===----------------------------------------------------------------------===//

/// The part of a kernel that both sorts share.
class Drawer {
public:
  explicit Drawer(std::mt19937_64 &random) : random(random) {}

protected:
  int64_t pick(std::initializer_list<int64_t> list) {
    return list.begin()[random() % list.size()];
  }
  template <typename T>
  const T &pickFrom(const std::vector<T> &list) {
    return list[random() % list.size()];
  }
  bool chance(int percent) { return int(random() % 100) < percent; }
  template <typename T>
  void shuffle(std::vector<T> &list) {
    for (size_t i = list.size(); i > 1; --i)
      std::swap(list[i - 1], list[random() % i]);
  }

  Digit axis(const std::string &name, int64_t size) {
    if (size > 1)
      sizes[name] = size;
    return {size > 1 ? name : "", 1, size};
  }
  std::string text(const Digits &digits) const { return textOf(digits, sizes); }
  void kind(const std::string &name) { kernel.kinds.insert(name); }

  /// A line of the chain.
  void stage(const std::string &line) { stages += "    " + line + "\n"; }
  void quoted(const std::string &name, const Digits &time,
              const Digits &packet) {
    stage(name + " time \"" + text(time) + "\" packet \"" + text(packet) +
          "\"");
  }

  void drawTarget() {
    pes = pick({1, 2, 4, 8, 8, 8});
    slices = pes == 1 ? 64 : pes == 2 ? 128 : 256;
    kind("PEs " + std::to_string(pes));
  }
  std::string target() const {
    return "module attributes {visa.target = #visa.target<rngd, release = "
           "\"0.6\", chips = 1, pes = " +
           std::to_string(pes) + ">} {\n";
  }
  std::string axesText() const {
    std::string list;
    for (const auto &[name, size] : sizes)
      list += (list.empty() ? "" : ", ") + name + " = " + std::to_string(size);
    return list;
  }
  std::string clusterText() const {
    return cluster.axis.empty() ? (pes == 8 ? "1 # 2" : "1")
                                : textOf(cluster, sizes);
  }
  std::string hbm(ElementType type,
                  const std::vector<std::string> &axes) const {
    return "!visa.hbm<" + nameOf(type) + ", element \"" + join(axes) +
           "\", #axes>";
  }
  std::string dm(const std::string &tier, ElementType type, const Digits &slice,
                 const std::string &rest) const {
    return "!visa." + tier + "<" + nameOf(type) + ", cluster \"" +
           clusterText() + "\", slice \"" + text(slice) + "\", " + rest +
           ", #axes>";
  }

  /// What transfers move: to data memory multiples of eight bytes, back whole
  /// bytes.
  bool canLoad(const std::vector<std::string> &axes, const Digits &element,
               ElementType type) const {
    int64_t stride = bitsOf(type);
    for (const Digit &digit : llvm::reverse(element)) {
      stride *= digit.size();
      if (digit.pad > digit.count && stride % 64 != 0)
        return false;
    }
    return getRun(axes, element, sizes) * bitsOf(type) % 64 == 0;
  }
  bool canStore(const std::vector<std::string> &axes) const {
    return getRun(axes, outElement, sizes) * bitsOf(outType) % 8 == 0;
  }

  /// Draws what stands between the sums or the collected stream and the end;
  /// fails where the shape does not allow it.
  bool drawTail(Digits time, Digit packet, ElementType type, bool isSub);

  std::mt19937_64 &random;
  TensorUnitKernel kernel;
  Sizes sizes;
  int64_t pes = 8, slices = 256;
  Digit cluster;
  std::string stages;
  /// What the tail makes of a value.
  std::vector<Convert> conversions;
  ElementType outType = I32;
  Digits outElement;
};

} // namespace furiosa::test::drawing

#endif // FURIOSA_UNITTESTS_INTEGRATION_TENSORUNITDRAWER_H
