//===- SequenceTest.cpp - Sequencer entries against their definition ------===//
//
// Random memories and streams made from the same digits; every entry list is
// replayed and held against the cells it must demand.
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

  int64_t below(int64_t n) {
    return std::uniform_int_distribution<int64_t>(0, n - 1)(random);
  }
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

  std::string join(std::vector<std::string> parts, int padPercent) {
    std::shuffle(parts.begin(), parts.end(), random);
    std::string text;
    for (std::string &part : parts) {
      if (chance(padPercent)) {
        Result<Mapping> mapping = Mapping::parse(part, axes);
        part += " # " + std::to_string(mapping->size() * (1 + below(3)));
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

TEST(SequenceProperty, VisitsWhatTheStreamDemands) {
  const char *given = std::getenv("FURIOSA_SEED");
  uint64_t seed =
      given ? std::strtoull(given, nullptr, 10) : std::random_device()();
  std::cout << "seed " << seed << "\n";
  Generator generator(seed);
  std::map<std::string, int> outcomes;
  for (int number = 0; number < 6000; ++number) {
    generator.newAxes();
    const Axes &axes = generator.axes;
    bool writes = generator.chance(50);
    std::vector<std::string> inMemory, inStream;
    for (int axis = 0; axis < 3; ++axis) {
      bool both = generator.chance(75);
      if (both)
        for (std::string &digit : generator.digits(axis, true))
          inMemory.push_back(digit);
      if (both || (!writes && generator.chance(50)))
        for (std::string &digit : generator.digits(axis, true))
          inStream.push_back(digit);
    }
    size_t cut = generator.below(inStream.size() + 1);
    std::shuffle(inStream.begin(), inStream.end(), generator.random);
    Mapping memory = parse(generator.join(inMemory, 25), axes);
    Mapping time = parse(
        generator.join({inStream.begin(), inStream.begin() + cut}, 15), axes);
    Mapping packet = parse(
        generator.join({inStream.begin() + cut, inStream.end()}, 15), axes);
    int64_t total = time.size() * packet.size();
    if (total > 5000 || memory.size() > 20000)
      continue;
    std::string sizes;
    for (const Axis &axis : axes.list())
      sizes += " " + axis.name + "=" + std::to_string(axis.size);
    SCOPED_TRACE(std::string(writes ? "write " : "read ") + memory.str() +
                 " | " + time.str() + " ; " + packet.str() + " over" + sizes +
                 ", seed " + std::to_string(seed));
    Result<Sequence> found =
        sequence(memory, time, packet,
                 writes ? SequenceMode::Write : SequenceMode::Read);
    ++outcomes[found ? "entries" : found.fault().reason];
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
  EXPECT_GT(outcomes["entries"], 1000);
}
