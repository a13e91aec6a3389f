//===- VectorTest.cpp - The mapping algebra against its vectors -----------===//
//
// Runs test/vectors/mapping.json: sizes, cells, canonical forms, faults,
// equivalence, splits, sequencer entries, divisions and tiles.
//
//===----------------------------------------------------------------------===//

#include "Vectors.h"

#include "llvm/ADT/STLExtras.h"

#include <iostream>

using namespace furiosa::mapping;
using namespace furiosa::mapping::test;

static Environment environmentOf(const json &entry, const Axes &axes) {
  Environment environment;
  json aliases = entry.value("aliases", json::object());
  json constants = entry.value("constants", json::object());
  for (const auto &[name, text] : aliases.items())
    environment.mappings.emplace(name,
                                 parseOrFail(text.get<std::string>(), axes));
  for (const auto &[name, number] : constants.items())
    environment.constants.emplace(name, number.get<int64_t>());
  return environment;
}

/// A derived text must read back as what it was derived from.
static void expectRoundTrip(const Mapping &mapping) {
  Result<Mapping> again = Mapping::parse(mapping.str(), mapping.axes());
  ASSERT_TRUE(bool(again)) << mapping.str() << describe(again.fault());
  EXPECT_EQ(again->str(), mapping.str());
  Result<Canonical> form = mapping.canonical();
  if (!form)
    return;
  Mapping spelled = Mapping::fromCanonical(*form, mapping.axes());
  Result<Canonical> back = spelled.canonical();
  ASSERT_TRUE(bool(back)) << mapping.str() << " as " << spelled.str();
  EXPECT_TRUE(*back == *form)
      << mapping.str() << " as " << spelled.str() << "\n"
      << toJson(*form, mapping.axes()) << "\n"
      << toJson(*back, mapping.axes());
}

TEST(MappingVectors, Expressions) {
  for (const json &entry : loadVectors("expressions")) {
    SCOPED_TRACE(entry["id"].get<std::string>() + " " +
                 entry["expr"].get<std::string>());
    Axes axes = axesOf(entry);
    Result<Mapping> mapping = Mapping::parse(entry["expr"].get<std::string>(),
                                             axes, environmentOf(entry, axes));
    if (!mapping) {
      ADD_FAILURE() << describe(mapping.fault());
      continue;
    }
    EXPECT_EQ(mapping->size(), entry["size"].get<int64_t>());
    int64_t position = 0;
    for (const json &cell : entry["cells"])
      EXPECT_EQ(toJson(mapping->cellAt(position++), axes), cell) << position;
    for (const json &sample : entry["sampled"])
      EXPECT_EQ(toJson(mapping->cellAt(sample["pos"]), axes), sample["cell"])
          << sample["pos"];
    expectRoundTrip(*mapping);

    Result<Canonical> form = mapping->canonical();
    if (!form) {
      EXPECT_EQ(form.fault().rule, "MA-13");
      EXPECT_FALSE(entry["aligned"].get<bool>()) << describe(form.fault());
      continue;
    }
    if (entry.contains("normal")) {
      EXPECT_EQ(toJson(*form, axes), entry["normal"]);
      EXPECT_EQ(toJson(form->tail), entry.value("tail", json::array()));
    }
    Result<int64_t> live = mapping->liveCells();
    if (entry.contains("live") && live) {
      EXPECT_EQ(*live, entry["live"].get<int64_t>());
    }
    // Only digits that overlap and overshoot are not counted.
    if (!live) {
      EXPECT_TRUE(entry.contains("overshoot")) << describe(live.fault());
    }
  }
}

TEST(MappingVectors, Invalid) {
  for (const json &entry : loadVectors("invalid")) {
    std::string text = entry["expr"].get<std::string>();
    SCOPED_TRACE(entry["id"].get<std::string>() + " " + text);
    Axes axes = axesOf(entry);
    Result<Mapping> strict = Mapping::parse(text, axes);
    Result<Mapping> escaped = Mapping::parse(text, axes, Environment());
    for (const Result<Mapping> &mapping : {strict, escaped}) {
      ASSERT_FALSE(bool(mapping));
      EXPECT_EQ(mapping.fault().reason, entry["reason"].get<std::string>());
      EXPECT_EQ(mapping.fault().column, entry["column"].get<int64_t>());
      EXPECT_FALSE(mapping.fault().message.empty());
    }
  }
}

TEST(MappingVectors, Equivalence) {
  for (const json &entry : loadVectors("equivalence")) {
    SCOPED_TRACE(entry["id"].get<std::string>());
    Axes axes = axesOf(entry);
    Mapping lhs = parseOrFail(entry["lhs"], axes);
    Mapping rhs = parseOrFail(entry["rhs"], axes);
    bool raw = entry["equivalent"];
    Result<bool> equal = equivalent(lhs, rhs);
    if (equal) {
      EXPECT_EQ(*equal, raw);
    } else {
      EXPECT_FALSE(entry["aligned"].get<bool>()) << describe(equal.fault());
    }
    Result<bool> resolved = equivalentResolved(lhs, rhs);
    if (resolved) {
      EXPECT_EQ(*resolved, entry.value("resolved", raw));
    } else {
      EXPECT_FALSE(entry["aligned"].get<bool>()) << describe(resolved.fault());
    }
  }
}

TEST(MappingVectors, Split) {
  for (const json &entry : loadVectors("split")) {
    SCOPED_TRACE(entry["id"].get<std::string>() + " " +
                 entry["expr"].get<std::string>());
    Axes axes = axesOf(entry);
    Mapping mapping = parseOrFail(entry["expr"], axes);
    Result<std::pair<Mapping, Mapping>> halves =
        split(mapping, entry["at"].get<int64_t>());
    if (entry.contains("error")) {
      ASSERT_FALSE(bool(halves));
      EXPECT_EQ(halves.fault().reason, entry["error"].get<std::string>());
      continue;
    }
    ASSERT_TRUE(bool(halves)) << describe(halves.fault());
    struct Half {
      const Mapping &mapping;
      std::string name;
    };
    for (const Half &half :
         {Half{halves->first, "outer"}, Half{halves->second, "inner"}}) {
      EXPECT_EQ(half.mapping.size(), entry[half.name + "_size"].get<int64_t>());
      int64_t position = 0;
      for (const json &cell : entry[half.name + "_cells"])
        EXPECT_EQ(toJson(half.mapping.cellAt(position++), axes), cell);
      const json &normal = entry[half.name + "_normal"];
      Result<Canonical> form = half.mapping.canonical();
      if (form && !normal.is_null()) {
        EXPECT_EQ(toJson(*form, axes), normal) << half.mapping.str();
      }
    }
    if (entry.contains("matches")) {
      Result<bool> outer =
          equivalent(halves->first, parseOrFail(entry["outer"], axes));
      Result<bool> inner =
          equivalent(halves->second, parseOrFail(entry["inner"], axes));
      if (outer && inner) {
        EXPECT_EQ(*outer && *inner, entry["matches"].get<bool>());
      }
    }
  }
}

namespace {
/// Addresses that entries visit, by the definition of a sequencer.
class AddressWalk {
public:
  explicit AddressWalk(const Sequence &sequence) {
    for (Entry entry : sequence.time)
      entries.push_back(entry);
    for (Entry entry : sequence.packet)
      entries.push_back(entry);
  }
  int64_t operator()(int64_t position) const {
    int64_t address = 0;
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
      address += position % entry->size * entry->stride;
      position /= entry->size;
    }
    return address;
  }

private:
  std::vector<Entry> entries;
};
} // namespace

/// Whether a cell is live and inside its axes.
static bool isLive(const Cell &cell, const Axes &axes) {
  if (cell.kind != Cell::Kind::Index)
    return false;
  for (auto [axis, coordinate] : cell.index)
    if (coordinate >= axes[axis].size)
      return false;
  return true;
}

/// Compares live positions with the expected entries; for writes, checks that
/// padding lands on top padding.
static void expectSameAddresses(const Sequence &found, const Sequence &expected,
                                const Mapping &memory, const Mapping &time,
                                const Mapping &packet, bool writes) {
  AddressWalk actual(found), wanted(expected);
  const Axes &axes = memory.axes();
  int64_t total = time.size() * packet.size();
  for (int64_t position = 0; position < total; ++position) {
    bool live = isLive(time.cellAt(position / packet.size()), axes) &&
                isLive(packet.cellAt(position % packet.size()), axes);
    if (live) {
      ASSERT_EQ(actual(position), wanted(position)) << position;
    } else if (writes) {
      Cell cell = memory.cellAt(actual(position));
      ASSERT_FALSE(isLive(cell, axes)) << position;
      ASSERT_TRUE(cell.kind == Cell::Kind::Index || cell.pad == Pad::Top);
      ASSERT_FALSE(cell.kind == Cell::Kind::OutOfBounds) << position;
    }
  }
}

static json toJson(llvm::ArrayRef<Entry> entries) {
  json list = json::array();
  for (Entry entry : entries)
    list.push_back({entry.size, entry.stride});
  return list;
}

/// Joined wherever two neighbours step as one loop: across the border of time
/// and packet, and without a limit of size.
static json merged(const Sequence &sequence) {
  std::vector<Entry> list; // innermost first
  for (llvm::ArrayRef<Entry> entries : {llvm::ArrayRef<Entry>(sequence.packet),
                                        llvm::ArrayRef<Entry>(sequence.time)})
    for (Entry outer : llvm::reverse(entries)) {
      if (!list.empty() &&
          list.back().size * list.back().stride == outer.stride)
        list.back().size *= outer.size;
      else
        list.push_back(outer);
    }
  std::reverse(list.begin(), list.end());
  return toJson(list);
}

/// The loops before coalescing, those of one step left out.
static json termEntries(const Sequence &sequence) {
  std::vector<Entry> list;
  for (const SequenceTerm &term : sequence.terms)
    if (term.entry.size != 1)
      list.push_back(term.entry);
  return toJson(list);
}

TEST(MappingVectors, Sequencer) {
  int mergedLists = 0, bookTables = 0;
  for (const json &entry : loadVectors("sequencer")) {
    SCOPED_TRACE(entry["id"].get<std::string>() + " " +
                 entry["memory"].get<std::string>() + " | " +
                 entry["time"].get<std::string>() + " ; " +
                 entry["packet"].get<std::string>());
    Axes axes = axesOf(entry);
    Mapping memory = parseOrFail(entry["memory"], axes);
    Mapping time = parseOrFail(entry["time"], axes);
    Mapping packet = parseOrFail(entry["packet"], axes);
    bool writes = entry["mode"] == "write";
    Result<Sequence> found =
        sequence(memory, time, packet,
                 writes ? SequenceMode::Write : SequenceMode::Read);
    std::string error = entry.value("error", "");
    if (found) {
      std::optional<Fault> limit = checkSequencerLimits(*found);
      EXPECT_EQ(limit ? limit->reason : "", error);
      if (limit) {
        EXPECT_EQ(limit->rule, "MA-29");
      }
    } else {
      EXPECT_EQ(found.fault().reason, error) << describe(found.fault());
    }
    if (!found || !entry.contains("entries"))
      continue;

    Sequence expected;
    size_t timeEntries = entry["time_entries"];
    for (const auto &[index, pair] : llvm::enumerate(entry["entries"])) {
      Entry loop = {pair[0], pair[1]};
      if (index < timeEntries)
        expected.time.push_back(loop);
      else
        expected.packet.push_back(loop);
    }
    EXPECT_EQ(found->packetSize, entry["packet_size"].get<int64_t>());
    EXPECT_EQ(found->coversMemory, entry["covers_memory"].get<bool>());
    if (entry["unique"].get<bool>()) {
      EXPECT_EQ(toJson(found->time), toJson(expected.time));
      EXPECT_EQ(toJson(found->packet), toJson(expected.packet));
      EXPECT_EQ(found->contiguousRun, entry["contiguous_run"].get<int64_t>());
      EXPECT_EQ(found->accessSize, entry["access_size"].get<int64_t>());
      EXPECT_EQ(found->overRead, entry.value("over_read", int64_t(0)));
      EXPECT_EQ(merged(*found), entry["merged"]);
      ++mergedLists;
    } else {
      expectSameAddresses(*found, expected, memory, time, packet, writes);
    }
    if (entry.contains("book_terms")) {
      EXPECT_EQ(termEntries(*found), entry["book_terms"]);
      ++bookTables;
    }
  }
  std::cout << mergedLists << " merged lists, " << bookTables
            << " tables of the book\n";
}

TEST(MappingVectors, Divide) {
  for (const json &entry : loadVectors("divide")) {
    SCOPED_TRACE(entry["id"].get<std::string>() + " " +
                 entry["dividend"].get<std::string>() + " by " +
                 entry["divisor"].get<std::string>());
    Axes axes = axesOf(entry);
    Mapping dividend = parseOrFail(entry["dividend"], axes);
    Mapping divisor = parseOrFail(entry["divisor"], axes);
    Result<std::vector<DivisionTerm>> terms = divideExact(dividend, divisor);
    EXPECT_EQ(bool(terms), entry["exact"].get<bool>());
    if (!terms) {
      EXPECT_EQ(terms.fault().reason, entry.value("reason", ""))
          << describe(terms.fault());
      continue;
    }
    json found = json::array();
    for (const DivisionTerm &term : *terms)
      found.push_back({{"dividend_stride", term.dividendStride},
                       {"divisor_stride", term.divisorStride},
                       {"resize", term.count},
                       {"axis", axes[term.axis].name}});
    EXPECT_EQ(found, entry["terms"]);
    // What divides exactly also divides relaxed, and leaves only padding.
    Result<RelaxedDivision> relaxed = divideRelaxed(dividend, divisor);
    ASSERT_TRUE(bool(relaxed)) << describe(relaxed.fault());
    EXPECT_TRUE(relaxed->terms == *terms);
    EXPECT_EQ(relaxed->dividendRest.size(), dividend.size());
    EXPECT_EQ(peel(relaxed->divisorRest)->str(), "1");
  }
}

TEST(MappingVectors, Tile) {
  for (const json &entry : loadVectors("tile")) {
    SCOPED_TRACE(entry["id"].get<std::string>() + " " +
                 entry["element"].get<std::string>() + " along " +
                 entry["index"].get<std::string>());
    Axes axes = axesOf(entry);
    Mapping element = parseOrFail(entry["element"], axes);
    Mapping index = parseOrFail(entry["index"], axes);
    Mapping view = parseOrFail(entry["view"], axes);
    int64_t len = entry["len"];
    Pad hole = entry["hole"] == "bottom" ? Pad::Bottom : Pad::Top;
    Result<Tile> found = tile(element, index, len, entry["start"], hole);
    std::optional<Fault> bad;
    if (!found)
      bad = found.fault();
    else
      bad = checkTileView(element, index, len, hole, view);
    EXPECT_EQ(!bad, entry["ok"].get<bool>());
    EXPECT_EQ(bad ? bad->reason : "", entry.value("reason", ""))
        << (bad ? describe(*bad) : "");
    if (bad)
      continue;
    EXPECT_EQ(found->offset, entry["offset"].get<int64_t>());
    EXPECT_EQ(element.size() - found->offset, entry["reach"].get<int64_t>());
    EXPECT_EQ(*found->view.liveCells(), entry["live"].get<int64_t>());
    EXPECT_TRUE(same(found->view, view)) << found->view.str();
  }
}
