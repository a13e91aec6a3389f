//===- PropertyTest.cpp - Random mappings against plain enumeration -------===//
//
// Builds random expressions together with a table of all their cells, straight
// from the constructors, and holds the library against the table. The seed is
// printed; FURIOSA_SEED and FURIOSA_CASES set seed and number of expressions.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/TensorMapping/Algebra/Mapping.h"

#include "gtest/gtest.h"

#include <array>
#include <cstdlib>
#include <iostream>
#include <random>

using namespace furiosa::mapping;

namespace {

constexpr int axisCount = 4;
constexpr int64_t maxCells = 1500;

/// A cell of the table; coordinates of absent axes are 0.
struct NaiveCell {
  enum Kind { Index, Top, Zero, Bottom } kind = Index;
  std::array<int64_t, axisCount> at = {};
  bool operator==(const NaiveCell &) const = default;
};

using Table = std::vector<NaiveCell>;

struct Sample {
  std::string text;
  Table cells;
  bool isList = false;
  bool padded = false;
  bool windowed = false;
};

NaiveCell add(const NaiveCell &major, const NaiveCell &minor) {
  if (major.kind != NaiveCell::Index)
    return major;
  if (minor.kind != NaiveCell::Index)
    return minor;
  NaiveCell sum;
  for (int axis = 0; axis < axisCount; ++axis)
    sum.at[axis] = major.at[axis] + minor.at[axis];
  return sum;
}

Table pairOf(const Table &outer, const Table &inner) {
  Table cells;
  for (const NaiveCell &major : outer)
    for (const NaiveCell &minor : inner)
      cells.push_back(add(major, minor));
  return cells;
}

Table divided(const Table &table, int64_t n) {
  Table cells;
  for (size_t i = 0; i < table.size(); i += n)
    cells.push_back(table[i]);
  return cells;
}

Table first(const Table &table, int64_t n) {
  return Table(table.begin(), table.begin() + n);
}

Table paddedTo(Table table, int64_t n, NaiveCell::Kind kind) {
  table.resize(n, NaiveCell{kind, {}});
  return table;
}

class Generator {
public:
  explicit Generator(uint64_t seed) : random(seed) { newAxes(); }

  void newAxes() {
    static const int64_t sizes[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                    12, 14, 15, 16, 19, 20, 24, 28, 30, 32};
    std::vector<Axis> list;
    for (const char *name : {"A", "Bx", "C_1", "Out"})
      list.push_back({name, sizes[below(std::size(sizes))]});
    axes = *Axes::get(list);
  }

  int64_t below(int64_t n) { return int64_t(random() % uint64_t(n)); }
  bool chance(int percent) { return below(100) < percent; }

  int64_t divisorOf(int64_t n) {
    std::vector<int64_t> all;
    for (int64_t d = 1; d <= n; ++d)
      if (n % d == 0)
        all.push_back(d);
    return all[below(all.size())];
  }

  std::string space() { return chance(20) ? "" : chance(10) ? "  " : " "; }

  /// `text` with one character taken, put in or exchanged.
  std::string damaged(std::string text) {
    static const std::string characters = " /%=#,0129AxC_a[](){}";
    size_t at = below(text.size());
    std::string other(below(3) > 0, characters[below(characters.size())]);
    return text.replace(at, chance(50), other);
  }

  Sample atom() {
    Sample sample;
    if (chance(15)) {
      int64_t n = 1 + below(6);
      sample.text = std::to_string(n);
      sample.cells.resize(n);
      return sample;
    }
    int axis = static_cast<int>(below(axisCount));
    sample.text = axes[axis].name;
    for (int64_t i = 0; i < axes[axis].size; ++i) {
      NaiveCell cell;
      cell.at[axis] = i;
      sample.cells.push_back(cell);
    }
    return sample;
  }

  Sample operated(Sample sample) {
    if (sample.isList) {
      bool round = chance(30);
      sample.text = (round ? "(" : "[") + sample.text + (round ? ")" : "]");
      sample.isList = false;
    }
    int64_t size = sample.cells.size(), n = 1;
    std::string sign;
    switch (below(4)) {
    case 0:
      n = divisorOf(size);
      sign = "/";
      sample.cells = divided(sample.cells, n);
      break;
    case 1:
      n = divisorOf(size);
      sign = "%";
      sample.cells = first(sample.cells, n);
      break;
    case 2:
      n = 1 + below(size);
      sign = "=";
      sample.windowed |= n < size;
      sample.cells = first(sample.cells, n);
      break;
    default:
      n = chance(60) ? size * (1 + below(3)) : size + below(size + 8);
      n = std::max(size, std::min(n, maxCells));
      auto kind = static_cast<NaiveCell::Kind>(1 + below(3));
      sign = kind == NaiveCell::Top    ? "#"
             : kind == NaiveCell::Zero ? "#{0}"
                                       : "#{!}";
      sample.padded |= n > size;
      sample.cells = paddedTo(sample.cells, n, kind);
      break;
    }
    sample.text += space() + sign + space() + std::to_string(n);
    return sample;
  }

  Sample list(int depth) {
    Sample sample = expression(depth);
    for (int64_t i = below(3); i >= 0; --i) {
      Sample outer = expression(depth);
      if (outer.cells.size() * sample.cells.size() > maxCells)
        continue;
      if (outer.isList) {
        outer.text = "[" + outer.text + "]";
        outer.isList = false;
      }
      sample.text = outer.text + "," + space() + sample.text;
      sample.cells = pairOf(outer.cells, sample.cells);
      sample.isList = true;
      sample.padded |= outer.padded;
      sample.windowed |= outer.windowed;
    }
    return sample;
  }

  /// Both digits of one cut, or of two.
  Sample cutUp(Sample sample) {
    if (sample.isList)
      sample.text = "[" + sample.text + "]";
    int64_t n = divisorOf(sample.cells.size());
    std::string at = std::to_string(n);
    sample.text = sample.text + " / " + at + ", " + sample.text + " % " + at;
    sample.cells = pairOf(divided(sample.cells, n), first(sample.cells, n));
    sample.isList = true;
    return sample;
  }

  Sample expression(int depth) {
    Sample sample = depth > 0 && chance(45) ? list(depth - 1) : atom();
    for (int64_t i = below(3); i > 0; --i)
      sample = operated(std::move(sample));
    if (chance(8))
      sample = cutUp(std::move(sample));
    return sample;
  }

  Axes axes;

private:
  std::mt19937_64 random;
};

NaiveCell naive(const Cell &cell) {
  NaiveCell result;
  if (cell.kind == Cell::Kind::Pad)
    result.kind = static_cast<NaiveCell::Kind>(1 + static_cast<int>(cell.pad));
  for (auto [axis, coordinate] : cell.index)
    result.at[axis] = coordinate;
  return result;
}

bool isLive(const NaiveCell &cell, const Axes &axes) {
  for (int axis = 0; axis < axisCount; ++axis)
    if (cell.at[axis] >= axes[axis].size)
      return false;
  return cell.kind == NaiveCell::Index;
}

Table resolvedOf(Table table, const Axes &axes) {
  for (NaiveCell &cell : table)
    if (cell.kind == NaiveCell::Index && !isLive(cell, axes))
      cell = {NaiveCell::Top, {}};
  return table;
}

NaiveCell::Kind kindAt(llvm::ArrayRef<PadRun> runs, int64_t digit) {
  for (PadRun run : runs)
    if (digit < run.upTo)
      return static_cast<NaiveCell::Kind>(1 + static_cast<int>(run.kind));
  ADD_FAILURE() << "digit " << digit << " is in no run";
  return NaiveCell::Top;
}

/// Reads a canonical form by its definition.
Table read(const Canonical &form, int64_t size) {
  Table table;
  int64_t core = 1;
  for (const Factor &factor : form.factors)
    core *= factor.extent;
  for (int64_t position = 0; position < size; ++position) {
    NaiveCell cell;
    if (position >= core) {
      cell.kind = kindAt(form.tail, position);
      table.push_back(cell);
      continue;
    }
    int64_t rows = core, rest = position;
    for (const Factor &factor : form.factors) {
      rows /= factor.extent;
      int64_t digit = rest / rows;
      rest %= rows;
      if (digit >= factor.live) {
        cell = {kindAt(factor.runs, digit), {}};
        break;
      }
      if (factor.axis >= 0)
        cell.at[factor.axis] += digit * factor.stride;
    }
    table.push_back(cell);
  }
  return table;
}

/// Conditions C1 to C4.
void expectCanonical(const Canonical &form) {
  int64_t row = 1;
  for (size_t i = form.factors.size(); i-- > 0;) {
    const Factor &factor = form.factors[i];
    EXPECT_GT(factor.extent, 1);
    EXPECT_LE(factor.live, factor.extent);
    if (factor.live == 1) {
      EXPECT_EQ(factor.axis, -1);
      EXPECT_EQ(i + 1, form.factors.size());
    }
    EXPECT_EQ(factor.runs.empty() ? factor.live : factor.runs.back().upTo,
              factor.extent);
    if (i + 1 < form.factors.size()) {
      const Factor &inner = form.factors[i + 1];
      EXPECT_FALSE(factor.axis == inner.axis && inner.live == inner.extent &&
                   factor.stride == inner.stride * inner.extent);
    }
    if (i > 0)
      row *= factor.extent;
  }
  if (!form.tail.empty()) {
    ASSERT_FALSE(form.factors.empty());
    EXPECT_EQ(form.factors[0].live, form.factors[0].extent);
    EXPECT_FALSE(llvm::all_of(form.tail,
                              [&](PadRun run) { return run.upTo % row == 0; }));
  }
}

Table tableOf(const Mapping &mapping) {
  Table table;
  for (int64_t i = 0; i < mapping.size(); ++i)
    table.push_back(naive(mapping.cellAt(i)));
  return table;
}

/// A derived mapping: its text reads back, and its cells are `expected`.
void expectDerived(const Result<Mapping> &mapping, const Table &expected,
                   const char *what) {
  ASSERT_TRUE(bool(mapping)) << what << ": " << mapping.fault().message;
  EXPECT_TRUE(tableOf(*mapping) == expected) << what << ": " << mapping->str();
  Result<Mapping> again = Mapping::parse(mapping->str(), mapping->axes());
  ASSERT_TRUE(bool(again)) << mapping->str();
  EXPECT_EQ(again->str(), mapping->str());
  // What is computed has its form before it has a text.
  const Result<Canonical> &form = mapping->canonical(),
                          &spelled = again->canonical();
  ASSERT_EQ(bool(form), bool(spelled)) << what << ": " << mapping->str();
  if (form) {
    EXPECT_TRUE(*form == *spelled) << what << ": " << mapping->str();
  }
}

/// Text that may be passed on as it is gives what the parser makes of it: a
/// blank in front has it read.
void expectReadAlike(const std::string &text) {
  Result<std::string> passed = normalise(text), read = normalise(" " + text);
  ASSERT_EQ(bool(passed), bool(read)) << text;
  if (passed) {
    EXPECT_EQ(*passed, *read);
  }
}

uint64_t environmentOr(const char *name, uint64_t other) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : other;
}

} // namespace

TEST(MappingProperty, AgreesWithEnumeration) {
  uint64_t seed = environmentOr("FURIOSA_SEED", std::random_device()());
  uint64_t cases = environmentOr("FURIOSA_CASES", 20000);
  std::cout << "seed " << seed << "\n";
  Generator generator(seed);
  uint64_t padded = 0, windowed = 0, unaligned = 0, overshooting = 0,
           compared = 0, equal = 0, inverted = 0;
  std::optional<Sample> last;
  std::optional<Mapping> lastMapping;

  for (uint64_t number = 0; number < cases; ++number) {
    if (number % 8 == 0) {
      generator.newAxes();
      last.reset();
    }
    const Axes &axes = generator.axes;
    Sample sample = generator.list(2);
    std::string sizes;
    for (const Axis &axis : axes.list())
      sizes += " " + axis.name + "=" + std::to_string(axis.size);
    SCOPED_TRACE(sample.text + " over" + sizes + ", seed " +
                 std::to_string(seed));
    Result<Mapping> parsed = Mapping::parse(sample.text, axes);
    ASSERT_TRUE(bool(parsed)) << parsed.fault().message;
    const Mapping &mapping = *parsed;
    ASSERT_EQ(mapping.size(), static_cast<int64_t>(sample.cells.size()));
    ASSERT_TRUE(tableOf(mapping) == sample.cells);
    EXPECT_EQ(mapping.cellAt(mapping.size()).kind, Cell::Kind::OutOfBounds);
    padded += sample.padded;
    windowed += sample.windowed;
    expectReadAlike(mapping.str());
    expectReadAlike(generator.damaged(mapping.str()));

    Table resolved = resolvedOf(sample.cells, axes);
    overshooting += !(resolved == sample.cells);
    Result<Canonical> form = mapping.canonical();
    unaligned += !form;
    if (form) {
      expectCanonical(*form);
      ASSERT_TRUE(read(*form, mapping.size()) == sample.cells);
      Result<Canonical> clipped = mapping.resolved();
      ASSERT_TRUE(bool(clipped));
      expectCanonical(*clipped);
      ASSERT_TRUE(resolvedOf(read(*clipped, mapping.size()), axes) == resolved);
      Mapping spelled = Mapping::fromCanonical(*form, axes);
      ASSERT_TRUE(*spelled.canonical() == *form) << spelled.str();
      if (Result<int64_t> live = mapping.liveCells()) {
        EXPECT_EQ(*live, llvm::count_if(sample.cells, [&](auto &cell) {
          return isLive(cell, axes);
        }));
      }
    } else {
      EXPECT_EQ(form.fault().rule, "MA-13");
      EXPECT_GT(form.fault().column, 0);
    }

    // The operators as functions.
    int64_t size = mapping.size();
    int64_t n = generator.divisorOf(size);
    expectDerived(divide(mapping, n), divided(sample.cells, n), "divide");
    expectDerived(modulo(mapping, n), first(sample.cells, n), "modulo");
    // Splitting and pairing are inverse where the cut is not ragged; the halves
    // hold what they should in any case.
    Result<std::pair<Mapping, Mapping>> halves = split(mapping, n);
    ASSERT_TRUE(bool(halves));
    Table joined = pairOf(divided(sample.cells, n), first(sample.cells, n));
    Result<Mapping> whole = pair(halves->first, halves->second);
    expectDerived(whole, joined, "split and pair");
    if (Result<bool> inverse = equivalent(*whole, mapping)) {
      EXPECT_EQ(*inverse, joined == sample.cells);
      inverted += *inverse;
    }
    if (last && last->cells.size() * sample.cells.size() <= maxCells) {
      // Outer and inner half of a pair, cut at the comma.
      Result<Mapping> both = pair(*lastMapping, mapping);
      ASSERT_TRUE(bool(both));
      Result<std::pair<Mapping, Mapping>> parts = split(*both, size);
      ASSERT_TRUE(bool(parts));
      if (sample.cells[0].kind == NaiveCell::Index)
        expectDerived(parts->first, last->cells, "outer part of a pair");
      if (last->cells[0].kind == NaiveCell::Index)
        expectDerived(parts->second, sample.cells, "inner part of a pair");
    }
    int64_t window = 1 + generator.below(size);
    expectDerived(resize(mapping, window), first(sample.cells, window),
                  "resize");
    expectDerived(pad(mapping, size + window, Pad::Zero),
                  paddedTo(sample.cells, size + window, NaiveCell::Zero),
                  "pad");
    Result<bool> isWindow = isResizeOf(*resize(mapping, window), mapping);
    if (isWindow) {
      EXPECT_TRUE(*isWindow);
    }
    if (Result<Mapping> peeled = peel(mapping)) {
      Table table = sample.cells;
      expectDerived(peeled, first(table, peeled->size()), "peel");
      // Only padding goes, and none is left outside.
      for (int64_t i = peeled->size(); i < size; ++i)
        EXPECT_NE(table[i].kind, NaiveCell::Index);
      EXPECT_EQ(peel(*peeled)->size(), peeled->size());
    }

    if (last && last->cells.size() * sample.cells.size() <= maxCells)
      expectDerived(pair(*lastMapping, mapping),
                    pairOf(last->cells, sample.cells), "pair");

    // Equality of forms is equality of cells.
    std::vector<std::pair<Mapping, Table>> others;
    if (last)
      others.emplace_back(*lastMapping, last->cells);
    Sample recut = generator.cutUp(sample);
    if (Result<Mapping> other = Mapping::parse(recut.text, axes))
      others.emplace_back(*other, recut.cells);
    for (auto &[other, cells] : others) {
      Result<bool> raw = equivalent(mapping, other);
      Result<bool> same = equivalentResolved(mapping, other);
      if (!raw || !same)
        continue;
      ++compared;
      equal += *same;
      EXPECT_EQ(*raw, cells == sample.cells) << other.str();
      EXPECT_EQ(*same, resolvedOf(cells, axes) == resolved) << other.str();
    }
    if (testing::Test::HasFailure())
      return;
    last = std::move(sample);
    lastMapping = mapping;
  }
  std::cout << cases << " expressions: " << padded << " padded, " << windowed
            << " with windows, " << unaligned << " not aligned, "
            << overshooting << " with overshoot; " << compared
            << " comparisons, " << equal << " equal; " << inverted
            << " splits inverted\n";
  if (cases >= 1000) {
    EXPECT_GE(padded * 100, cases * 30);
    EXPECT_GE(windowed * 100, cases * 20);
    EXPECT_GE(unaligned * 100, cases * 10);
    EXPECT_LE(unaligned * 100, cases * 40);
  }
}
