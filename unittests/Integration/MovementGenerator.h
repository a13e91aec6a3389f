//===- MovementGenerator.h - Random kernels that move data ------*- C++ -*-===//
//
// Builds legal kernels of transfers, views and loops at random, and computes
// what they give by plain loops over the index of each value.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_UNITTESTS_INTEGRATION_MOVEMENTGENERATOR_H
#define FURIOSA_UNITTESTS_INTEGRATION_MOVEMENTGENERATOR_H

#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace furiosa::test {

/// Values over some of the declared axes, row-major; nothing where none was
/// written.
struct Values {
  std::vector<int> axes;
  std::vector<std::optional<uint32_t>> codes;
};

/// An argument of a kernel.
struct MovementArgument {
  unsigned bits = 32;
  /// Of an index: values are multiples of `unit` below `limit` units, each at
  /// most once if `distinct`. 0: any value.
  int64_t limit = 0, unit = 1;
  bool distinct = false;
  /// Of a number that says how often a loop runs.
  std::optional<int64_t> number;
};

/// A kernel as text, and what the generator put in.
struct MovementKernel {
  std::string text;
  std::vector<int64_t> sizes;
  std::vector<MovementArgument> arguments;
  std::set<std::string> kinds;
};

/// Makes kernels by a seed.
class MovementGenerator {
public:
  explicit MovementGenerator(uint64_t seed) : random(seed) {}

  /// The next kernel.
  const MovementKernel &generate();
  /// What the last kernel gives: results, then arguments that were written.
  std::vector<Values> run(std::vector<Values> given) const;
  /// A value in the order of other axes.
  std::vector<std::optional<uint32_t>>
  project(const Values &values, const std::vector<int> &axes) const;

private:
  /// One digit of an axis at a place of a mapping.
  struct Digit {
    int axis;
    int64_t stride, count;
    /// Positions with padding behind, if more.
    int64_t extent;
    /// A window of so many cells, or 0; whether what is outside is bottom.
    int64_t take = 0;
    bool bottom = false;
  };
  struct Layout {
    bool isDm = false;
    std::vector<int64_t> padded;
    std::vector<Digit> cluster, slice, element;
    /// Padding behind the whole element mapping, as positions; 0 for none.
    int64_t tail = 0;
  };
  /// A name in the kernel: a buffer, and the part of it that the name sees.
  struct Handle {
    std::string name;
    int buffer;
    Layout layout;
    std::vector<int64_t> shift;
    /// Digits whose values are below `take`.
    std::vector<Digit> windows;
    /// Axes that the layout names.
    std::set<int> axes;
    /// Of i32, whatever the rows are.
    bool isIndex = false;
    /// Of a number: the most that it may be.
    std::optional<int64_t> most;
  };
  /// A plain step: for all indices of the target, target := source.
  struct Step {
    enum Kind { Copy, Fill, Rename, Gather, Scatter } kind;
    Handle source, target;
    uint32_t value = 0;
    /// Rename: the axis and its new name. Gather, Scatter: the key, and the
    /// buffer of the index.
    int axis = -1, other = -1;
    int64_t unit = 1;
  };

  int64_t number(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % uint64_t(high - low + 1));
  }
  bool chance(int percent) { return number(0, 99) < percent; }
  void note(const std::string &kind) { kernel.kinds.insert(kind); }
  void line(const std::string &text) {
    body += std::string(indent, ' ') + text + "\n";
  }
  std::string newName() { return "%v" + std::to_string(names++); }
  std::string constant(int64_t value);

  std::string printIndex(const Layout &layout, const Digit &digit) const;
  std::string print(const Layout &layout, const Digit &digit) const;
  std::string print(const Layout &layout,
                    const std::vector<Digit> &digits) const;
  std::string type(const Handle &handle) const;
  int64_t slices() const { return pes >= 4 ? 256 : 64 * pes; }
  int64_t word() const { return 64 / bits; }

  int addAxis(int64_t size);
  void chooseAxes();
  Layout chooseLayout(bool isDm, const std::set<int> &axes,
                      const Layout *alike = nullptr, bool inOrder = false);
  Handle makeHandle(const Layout &layout, const std::set<int> &axes);
  Handle alloc(const Layout &layout, const std::set<int> &axes, bool fill);
  Handle addArgument(const Layout &layout, const std::set<int> &axes);
  void copy(const Handle &source, const Handle &target,
            bool isParallel = false);
  void copyByChain(const Handle &source, const Handle &target);
  Handle tile(const Handle &source, const Digit &digit, int64_t take,
              bool written, int64_t start, const std::string &offset);
  void finish(const Handle &last);

  Handle move(const Handle &source);
  Handle moveInLoops(const Handle &source);
  Handle moveByChain(const Handle &source);
  Handle pad(const Handle &source);
  Handle rename(const Handle &source);
  Handle gather();
  bool scatter(const Handle &rows);

  std::string addNumber(int64_t number, int64_t most);
  Handle addIndex(int rows, int64_t limit, int64_t unit, bool distinct);
  std::optional<Digit> chooseDigit(const Handle &source, int except);
  int64_t getLive(const Digit &digit) const;
  bool movesWords(const Handle &handle) const;
  bool canChain(const Handle &handle) const;
  std::optional<uint32_t> *find(std::vector<Values> &contents,
                                const Handle &handle,
                                const std::vector<int64_t> &index) const;

  std::mt19937_64 random;
  MovementKernel kernel;
  std::string body;
  /// Printed in front of the body, in order.
  std::set<int64_t> constants;
  size_t indent = 2;
  int names = 0;
  int pes = 4;
  unsigned bits = 32;
  std::string elementType;
  /// Where layouts may cut an axis, each a multiple of the one before; the
  /// innermost axis counts whole words and is never cut.
  std::vector<std::vector<int64_t>> cuts;
  int inner = 0;
  /// Axes of each buffer.
  std::vector<std::vector<int>> buffers;
  std::vector<Step> steps;
  std::vector<int> argumentBuffers, outputBuffers;
  std::vector<Handle> arguments;
  std::vector<std::string> results, resultTypes;
};

} // namespace furiosa::test

#endif // FURIOSA_UNITTESTS_INTEGRATION_MOVEMENTGENERATOR_H
