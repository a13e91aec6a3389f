//===- VectorFlow.h - What chains of vector stages compute ------*- C++ -*-===//
//
// A stream as a list of cells, and each stage as a plain loop over them,
// written apart from the stack under test. What is written here of mappings is
// a list of digits.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_UNITTESTS_INTEGRATION_VECTORFLOW_H
#define FURIOSA_UNITTESTS_INTEGRATION_VECTORFLOW_H

#include "Kernels.h"

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace furiosa::test::vectors {

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// A pattern, or nothing where it is undefined.
using Value = std::optional<uint32_t>;

/// A function of the engine on patterns, as its documentation says. The
/// magnitude of -2^31 and shifts by more than 31 are undefined.
Value evaluate(const std::string &name, bool isFloat, uint32_t a,
               uint32_t b = 0, uint32_t c = 0);

/// Whether a comparison of vector_tag holds.
bool holds(const std::string &comparison, bool isFloat, uint32_t value,
           uint32_t edge);

/// i32 to f32 and back, with `width` bits in front of the point.
uint32_t fixedToFloat(uint32_t value, unsigned width);
uint32_t floatToFixed(uint32_t value, unsigned width);

/// What leaves all values as they are: the start of a reduction.
uint32_t identityOf(const std::string &reduction, bool isFloat);

//===----------------------------------------------------------------------===//
// Digits
//===----------------------------------------------------------------------===//

/// The digit of an axis padded to `padded` with a weight and a count; axis '1'
/// has one live cell.
struct Digit {
  char axis = '1';
  int64_t padded = 1, weight = 1, count = 1;
};
using Digits = std::vector<Digit>;
/// Sizes of the axes.
using Sizes = std::map<char, int64_t>;

int64_t sizeOf(const Digits &digits);
bool uses(const Digits &digits, char axis);
Digits without(Digits digits, char axis);
Digits operator+(Digits outer, const Digits &inner);
std::string textOf(const Digits &digits, const Sizes &sizes);

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

struct Cell {
  Value value, stash;
  unsigned id = 0;
};

/// A tensor in the order of logical indices.
struct Array {
  std::string axes;
  std::vector<Value> values;
};

/// The cells of all slices in the order of time and packet.
class Flow {
public:
  Flow(const Sizes &sizes, Digits slice, Digits time, Digits packet);

  void load(const Codes &codes, const std::string &axes);
  /// What the stream leaves in a tensor.
  std::vector<Value> store(const std::string &axes) const;
  /// The value of an operand at each cell; axes that it lacks are broadcast.
  std::vector<Value> read(const Codes &codes, const std::string &axes) const;

  /// Half the packet, or one more half of padding.
  void trim(Digits packet);
  void pad(Digits packet);
  /// Two packets a flit, or one: the cells keep their order.
  void regroup(Digits time, Digits packet);
  void reduce(char axis, const std::string &fn, bool isFloat);
  /// `kept` and `reduced` make up the slices, `freed` takes the place of the
  /// latter: padding, a new axis, or digits of time, which leave `newTime`.
  void reduceSlices(const Digits &kept, const Digits &reduced,
                    const Digits &freed, const Digits &newTime,
                    const std::string &fn, bool isFloat);
  /// Fuses the halves of an axis in time.
  void zip(char axis, const std::string &fn, bool isFloat,
           const std::string &mode);
  /// The index of a cell's group.
  bool isSecond(size_t cell, char axis) const;

  Digits slice, time, packet;
  std::vector<Cell> cells;

private:
  using Coordinates = std::array<int64_t, 26>;
  /// Adds a position's part; fails on dead cells of a dummy.
  static bool add(const Digits &digits, int64_t position, Coordinates &sum);
  static int64_t valueOf(const Digit &digit, const Coordinates &coordinates);
  /// The coordinates of a cell; nothing on padding of digits without an axis.
  std::optional<Coordinates> locate(size_t cell) const;
  /// The offset in a list of axes; nothing on padding.
  std::optional<int64_t> getOffset(size_t cell, const std::string &axes) const;

  const Sizes &sizes;
};

} // namespace furiosa::test::vectors

#endif // FURIOSA_UNITTESTS_INTEGRATION_VECTORFLOW_H
