//===- SequenceTest.cpp - Entries and divisions against their definition --===//
//
// Random memories and streams made from the same digits. Every entry list is
// replayed and held against the cells it must demand, and what carving leaves
// and what division finds against the cells, too.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/TensorMapping/Algebra/Mapping.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <iostream>
#include <random>
#include <set>

using namespace furiosa::mapping;

namespace {

bool isLive(const Cell &cell, const Axes &axes) {
  return cell.kind == Cell::Kind::Index &&
         llvm::all_of(cell.index, [&](const auto &entry) {
           return entry.second < axes[entry.first].size;
         });
}

/// Random digits of a few axes, in text.
class Generator {
public:
  explicit Generator(uint64_t seed) : random(seed) {}

  int64_t below(int64_t n) { return int64_t(random() % uint64_t(n)); }
  bool chance(int percent) { return below(100) < percent; }

  void newAxes() {
    static const int64_t sizes[] = {1, 2, 3, 4, 5, 6, 8, 12, 15, 16, 19, 24};
    std::vector<Axis> list;
    for (const char *name : {"A", "B", "T"})
      list.push_back({name, sizes[below(std::size(sizes))]});
    axes = *Axes::get(list);
  }

  /// Texts of the digits of one axis, which may be padded before it is cut.
  std::vector<std::string> digits(int axis, bool ragged) {
    int64_t size = axes[axis].size;
    std::string base = axes[axis].name;
    if (ragged && chance(30)) {
      size += below(4);
      base += " # " + std::to_string(size);
    }
    std::vector<std::string> result;
    int64_t inner = 1;
    while (inner < size && result.size() < 3) {
      int64_t rest = size / inner, take = rest;
      if (chance(60))
        for (int64_t d = 2; d < rest; ++d)
          if (rest % d == 0 && chance(50)) {
            take = d;
            break;
          }
      std::string text = base;
      if (inner > 1)
        text += " / " + std::to_string(inner);
      if (take < rest)
        text += " % " + std::to_string(take);
      result.push_back(text);
      inner *= take;
    }
    if (inner < size)
      result.push_back(base + " / " + std::to_string(inner));
    return result;
  }

  std::string join(std::vector<std::string> parts, int padPercent,
                   const char *sign = " # ") {
    std::shuffle(parts.begin(), parts.end(), random);
    std::string text;
    for (std::string &part : parts) {
      if (chance(padPercent)) {
        Result<Mapping> mapping = Mapping::parse(part, axes);
        part += sign + std::to_string(mapping->size() * (1 + below(3)));
      }
      if (chance(padPercent / 3))
        part += ", 1 # " + std::to_string(1 + below(3));
      text += (text.empty() ? "" : ", ") + part;
    }
    return text.empty() ? "1" : text;
  }

  std::mt19937_64 random;
  Axes axes;
};

/// Coordinates of the axes that `memory` holds.
std::map<int, int64_t> held(const Cell &cell, const Mapping &memory) {
  std::map<int, int64_t> result;
  for (auto [axis, coordinate] : cell.index)
    if (memory.uses(axis))
      result[axis] = coordinate;
  return result;
}

Mapping parse(llvm::StringRef text, const Axes &axes) {
  Result<Mapping> mapping = Mapping::parse(text, axes);
  if (mapping)
    return *mapping;
  ADD_FAILURE() << text.str() << ": " << mapping.fault().message;
  return Mapping();
}

} // namespace

/// FURIOSA_SEED, or a new seed; printed.
static uint64_t chooseSeed() {
  const char *given = std::getenv("FURIOSA_SEED");
  uint64_t seed =
      given ? std::strtoull(given, nullptr, 10) : std::random_device()();
  std::cout << "seed " << seed << "\n";
  return seed;
}

static int caseCount() {
  const char *given = std::getenv("FURIOSA_CASES");
  return given ? std::atoi(given) : 20000;
}

static std::string describe(const Axes &axes, uint64_t seed) {
  std::string text = " over";
  for (const Axis &axis : axes.list())
    text += " " + axis.name + "=" + std::to_string(axis.size);
  return text + ", seed " + std::to_string(seed);
}

TEST(SequenceProperty, VisitsWhatTheStreamDemands) {
  uint64_t seed = chooseSeed();
  Generator generator(seed);
  std::map<std::string, int> outcomes;
  for (int number = 0; number < caseCount(); ++number) {
    generator.newAxes();
    const Axes &axes = generator.axes;
    bool writes = generator.chance(50),
         carves = !writes && generator.chance(50);
    std::vector<std::string> inMemory, inStream;
    for (int axis = 0; axis < 3; ++axis) {
      bool both = generator.chance(75);
      if (both)
        llvm::append_range(inMemory, generator.digits(axis, true));
      if (both || (!writes && generator.chance(50)))
        llvm::append_range(inStream, generator.digits(axis, true));
    }
    size_t cut = generator.below(inStream.size() + 1);
    std::shuffle(inStream.begin(), inStream.end(), generator.random);
    const char *sign = carves ? " #{!} " : " # ";
    // A view that is written has bottom padding.
    const char *memorySign = writes && generator.chance(50) ? " #{!} " : " # ";
    Mapping memory = parse(generator.join(inMemory, 25, memorySign), axes);
    Mapping time = parse(
        generator.join({inStream.begin(), inStream.begin() + cut}, 15, sign),
        axes);
    Mapping packet = parse(
        generator.join({inStream.begin() + cut, inStream.end()}, 15, sign),
        axes);
    int64_t total = time.size() * packet.size();
    if (total > 2000 || memory.size() > 5000)
      continue;
    SequenceMode mode = writes   ? SequenceMode::Write
                        : carves ? SequenceMode::Carve
                                 : SequenceMode::Read;
    SCOPED_TRACE((writes   ? "write "
                  : carves ? "carve "
                           : "read ") +
                 memory.str() + " | " + time.str() + " ; " + packet.str() +
                 describe(axes, seed));
    Result<Sequence> found = sequence(memory, time, packet, mode);
    ++outcomes[found ? (writes   ? "entries to write"
                        : carves ? "entries to carve"
                                 : "entries to read")
                     : found.fault().reason];
    if (!found)
      continue;

    std::vector<Entry> entries(found->time.begin(), found->time.end());
    entries.insert(entries.end(), found->packet.begin(), found->packet.end());
    int64_t steps = 1, packetSteps = 1;
    for (Entry entry : entries)
      steps *= entry.size;
    for (Entry entry : found->packet)
      packetSteps *= entry.size;
    ASSERT_EQ(steps, total);
    ASSERT_EQ(packetSteps, packet.size());

    std::set<int64_t> demanded;
    int64_t furthest = 0;
    for (int64_t position = 0; position < total; ++position) {
      int64_t address = 0, rest = position;
      for (Entry entry : llvm::reverse(entries)) {
        address += rest % entry.size * entry.stride;
        rest /= entry.size;
      }
      furthest = std::max(furthest, address);
      Cell outer = time.cellAt(position / packet.size());
      Cell inner = packet.cellAt(position % packet.size());
      Cell sum = outer;
      for (auto [axis, coordinate] : inner.index)
        sum.index[axis] += coordinate;
      bool live = outer.kind == Cell::Kind::Index &&
                  inner.kind == Cell::Kind::Index && isLive(sum, axes);
      Cell stored = memory.cellAt(address);
      if (live) {
        ASSERT_TRUE(isLive(stored, axes)) << position << " at " << address;
        ASSERT_EQ(stored.index, held(sum, memory))
            << position << " at " << address;
        bool added = demanded.insert(address).second;
        ASSERT_TRUE(added || !writes) << position << " at " << address;
      } else if (writes) {
        ASSERT_TRUE(stored.kind != Cell::Kind::OutOfBounds) << position;
        ASSERT_FALSE(isLive(stored, axes)) << position << " at " << address;
        ASSERT_TRUE(stored.kind == Cell::Kind::Index || stored.pad == Pad::Top);
      }
    }
    EXPECT_EQ(found->overRead,
              std::max<int64_t>(0, furthest - memory.size() + 1));
    int64_t live = 0;
    for (int64_t address = 0; address < memory.size(); ++address)
      live += isLive(memory.cellAt(address), axes);
    EXPECT_EQ(found->coversMemory,
              static_cast<int64_t>(demanded.size()) == live);
    if (writes) {
      EXPECT_TRUE(found->coversMemory);
    }
    if (testing::Test::HasFailure())
      return;
  }
  for (auto &[outcome, count] : outcomes)
    std::cout << outcome << " " << count << "\n";
  if (caseCount() >= 20000) {
    for (const char *mode : {"read", "write", "carve"})
      EXPECT_GT(outcomes[std::string("entries to ") + mode], 1000) << mode;
  }
}

/// Padding of a cut axis is no place to write, also outside of a digit that has
/// bottom padding, where the canonical form keeps it as values.
TEST(Sequence, WritesViewsOfPaddedAxes) {
  Axes axes = *Axes::get({{"A", 3}, {"D", 32}});
  auto written = [&](llvm::StringRef memory, llvm::StringRef time,
                     llvm::StringRef packet) {
    return sequence(parse(memory, axes), parse(time, axes), parse(packet, axes),
                    SequenceMode::Write);
  };
  for (std::string window : {"", " = 2", " = 2 #{!} 2"}) {
    auto found = written("A # 4 / 2" + window + ", A # 4 % 2, D = 8 #{!} 32",
                         "A # 4 / 2 = 2, A # 4 % 2", "D = 8");
    ASSERT_TRUE(found) << window << ": " << found.fault().message;
    EXPECT_EQ(found->time, (llvm::SmallVector<Entry, 8>{{4, 32}}));
    EXPECT_EQ(found->packet, (llvm::SmallVector<Entry, 4>{{8, 1}}));
    EXPECT_TRUE(found->coversMemory);
  }
  // Two of three values are too few, whatever stands behind them.
  auto few = written("A # 4 / 2, A # 4 % 2, D = 8 #{!} 32", "A = 2", "D = 8");
  ASSERT_FALSE(few);
  EXPECT_EQ(few.fault().rule, "MA-26");
}

/// What carving leaves is the stream where no digit of the piece has stepped,
/// and padding elsewhere.
TEST(SequenceProperty, CarvingLeavesTheRest) {
  uint64_t seed = chooseSeed();
  Generator generator(seed);
  int carved = 0, broadcasts = 0;
  for (int number = 0; number < caseCount(); ++number) {
    generator.newAxes();
    const Axes &axes = generator.axes;
    std::vector<std::string> inPiece, inStream;
    for (int axis = 0; axis < 3; ++axis) {
      bool both = generator.chance(50);
      if (both)
        llvm::append_range(inPiece, generator.digits(axis, false));
      if (both || generator.chance(70))
        llvm::append_range(inStream, generator.digits(axis, true));
    }
    if (generator.chance(20))
      inStream.push_back(std::to_string(2 + generator.below(3)));
    Mapping stream = parse(generator.join(inStream, 25, " #{!} "), axes);
    Mapping piece = parse(generator.join(inPiece, 25), axes);
    if (stream.size() > 2000)
      continue;
    SCOPED_TRACE(stream.str() + " without " + piece.str() +
                 describe(axes, seed));
    Result<Carving> found = carve(stream, piece);
    if (!found)
      continue;
    ++carved;
    const Mapping &rest = found->rest;
    broadcasts += *rest.liveCells() > 1;
    ASSERT_EQ(rest.size(), stream.size());
    for (int64_t position = 0; position < stream.size(); ++position) {
      int64_t address = 0, left = position;
      for (Entry entry : llvm::reverse(found->sequence.time)) {
        address += left % entry.size * entry.stride;
        left /= entry.size;
      }
      Cell cell = stream.cellAt(position), kept = rest.cellAt(position);
      if (isLive(cell, axes))
        ASSERT_EQ(isLive(kept, axes), address == 0)
            << position << " of " << rest.str();
      else
        ASSERT_FALSE(isLive(kept, axes)) << position << " of " << rest.str();
      if (isLive(kept, axes)) {
        ASSERT_EQ(kept.index, cell.index) << position << " of " << rest.str();
      }
      ASSERT_TRUE(kept.kind != Cell::Kind::Pad || kept.pad != Pad::Bottom);
    }
  }
  std::cout << carved << " carved, " << broadcasts << " with broadcasts left\n";
  if (caseCount() >= 20000) {
    EXPECT_GT(carved, 2000);
  }
}

/// The terms of a division lead from each live cell of the divisor to the same
/// cell of the dividend.
TEST(DivisionProperty, FindsEachCellOfTheDivisor) {
  uint64_t seed = chooseSeed();
  Generator generator(seed);
  std::map<std::string, int> outcomes;
  for (int number = 0; number < caseCount(); ++number) {
    generator.newAxes();
    const Axes &axes = generator.axes;
    std::vector<std::string> inDividend, inDivisor;
    for (int axis = 0; axis < 3; ++axis) {
      bool both = generator.chance(75);
      if (both || generator.chance(50))
        llvm::append_range(inDividend, generator.digits(axis, true));
      if (both || generator.chance(10))
        for (std::string &digit : generator.digits(axis, true))
          if (generator.chance(80))
            inDivisor.push_back(digit);
    }
    Mapping dividend = parse(generator.join(inDividend, 25), axes);
    Mapping divisor = parse(generator.join(inDivisor, 25), axes);
    SCOPED_TRACE(dividend.str() + " by " + divisor.str() +
                 describe(axes, seed));
    Result<std::vector<DivisionTerm>> terms = divideExact(dividend, divisor);
    ++outcomes[terms ? "divisions" : terms.fault().reason];
    Result<RelaxedDivision> relaxed = divideRelaxed(dividend, divisor);
    if (relaxed) {
      ASSERT_EQ(relaxed->dividendRest.size(), dividend.size());
      ASSERT_EQ(relaxed->divisorRest.size(), divisor.size());
      ASSERT_LE(relaxed->contiguousTail, dividend.size());
    }
    if (!terms) {
      // A cell that the dividend lacks, or digits that do not fit together.
      if (terms.fault().reason != "missing" || dividend.size() > 5000)
        continue;
      std::set<std::map<int, int64_t>> held;
      for (int64_t at = 0; at < dividend.size(); ++at)
        if (Cell cell = dividend.cellAt(at); isLive(cell, axes))
          held.insert(cell.index);
      bool lacks = false;
      for (int64_t at = 0; at < divisor.size() && !lacks; ++at)
        if (Cell cell = divisor.cellAt(at); isLive(cell, axes))
          lacks = !held.count(cell.index);
      EXPECT_TRUE(lacks);
      continue;
    }
    // Padding that the cuts of the digits do not divide has no rest.
    if (relaxed)
      ASSERT_TRUE(relaxed->terms == *terms);
    else
      ASSERT_EQ(relaxed.fault().rule, "MA-22");
    int64_t total = 1;
    for (const DivisionTerm &term : *terms)
      total *= term.count;
    std::set<int64_t> visited;
    for (int64_t number = 0; number < total; ++number) {
      int64_t from = 0, to = 0, rest = number;
      for (const DivisionTerm &term : *terms) {
        from += rest % term.count * term.divisorStride;
        to += rest % term.count * term.dividendStride;
        rest /= term.count;
      }
      Cell cell = divisor.cellAt(from);
      if (!isLive(cell, axes))
        continue;
      visited.insert(from);
      ASSERT_EQ(dividend.cellAt(to).index, cell.index) << from << " at " << to;
      ASSERT_TRUE(isLive(dividend.cellAt(to), axes)) << from << " at " << to;
    }
    for (int64_t at = 0; at < divisor.size(); ++at)
      ASSERT_EQ(visited.count(at), isLive(divisor.cellAt(at), axes)) << at;
    for (size_t i = 1; i < terms->size(); ++i)
      ASSERT_GE((*terms)[i - 1].dividendStride, (*terms)[i].dividendStride);
  }
  for (auto &[outcome, count] : outcomes)
    std::cout << outcome << " " << count << "\n";
  if (caseCount() >= 20000) {
    EXPECT_GT(outcomes["divisions"], 2000);
  }
}
