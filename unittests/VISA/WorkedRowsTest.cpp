//===- WorkedRowsTest.cpp - Worked sequencer configurations ---------------===//
//
// test/vectors/sequencers.json has loops, widths and cycles of fetches and
// commits as the public documentation works them out.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/VISA/Loops/Loops.h"
#include "furiosa/Support/NumberFormats.h"

#include <nlohmann/json.hpp>

#include "gtest/gtest.h"

#include <fstream>
#include <set>

using namespace furiosa;
using mapping::Mapping;
using nlohmann::json;

static json loadRows() {
  std::string path = FURIOSA_VECTORS "/sequencers.json";
  std::ifstream in(path);
  EXPECT_TRUE(in.good()) << "cannot read " << path;
  json all = json::parse(in, nullptr, /*allow_exceptions=*/false);
  EXPECT_TRUE(all.is_object() && all.contains("rows")) << path;
  return all.is_object() ? all.value("rows", json::array()) : json::array();
}

static Mapping parse(const json &row, const char *part) {
  std::vector<mapping::Axis> list;
  for (const auto &[name, size] : row["axes"].items())
    list.push_back({name, size.get<int64_t>()});
  auto axes = mapping::Axes::get(list);
  EXPECT_TRUE(bool(axes));
  auto result = Mapping::parse(row[part].get<std::string>(), *axes);
  EXPECT_TRUE(bool(result))
      << part << ": " << (result ? "" : result.fault().message);
  return result ? *result : Mapping();
}

/// Loops that step, as the rows write them.
static json toJson(llvm::ArrayRef<mapping::Entry> entries) {
  json list = json::array();
  for (mapping::Entry entry : entries)
    if (entry.size != 1)
      list.push_back({entry.size, entry.stride});
  return list;
}

static int64_t countSteps(const loops::LoopNest &nest) {
  int64_t steps = 1;
  for (loops::Loop loop : nest)
    steps *= loop.size;
  return steps;
}

static unsigned bitsOf(const json &name) {
  auto type = parseElementType(name.get<std::string>());
  EXPECT_TRUE(type.has_value()) << name;
  return type ? wireBits(*type) : 8;
}

/// The row's sequencer; what it says of loops is compared.
static void checkEntries(const json &row) {
  auto found = mapping::sequence(
      parse(row, "memory"), parse(row, "time"), parse(row, "packet"),
      row["mode"] == "write" ? mapping::SequenceMode::Write
                             : mapping::SequenceMode::Read);
  if (row.contains("fault")) {
    ASSERT_FALSE(bool(found));
    EXPECT_EQ(found.fault().rule, row["fault"].get<std::string>());
    return;
  }
  ASSERT_TRUE(bool(found)) << found.fault().rule << ": "
                           << found.fault().message;
  if (row.contains("time_entries")) {
    EXPECT_EQ(toJson(found->time), row["time_entries"]);
    EXPECT_EQ(toJson(found->packet), row["packet_entries"]);
  }
  if (row.contains("access")) {
    EXPECT_EQ(found->accessSize, row["access"].get<int64_t>());
  }
}

/// Width and steps of the sequencer of a context.
static void checkCycles(const json &row, bool isSub) {
  Mapping memory = parse(row, "memory"), time = parse(row, "time"),
          packet = parse(row, "packet");
  unsigned bits = bitsOf(row["type"]);
  int64_t cycles = row["cycles"][isSub ? "sub" : "main"].get<int64_t>();
  if (row["mode"] == "write") {
    EXPECT_EQ(loops::getBytes(packet.size(), bits),
              row["valid"].get<int64_t>());
    auto nest = loops::deriveCommitLoops(memory, time, packet, bits, isSub);
    ASSERT_TRUE(bool(nest))
        << nest.fault().rule << ": " << nest.fault().message;
    EXPECT_EQ(countSteps(*nest), cycles);
    return;
  }
  unsigned converted = row.contains("to") ? bitsOf(row["to"]) : bits;
  auto fetch =
      loops::deriveFetchLoops(memory, time, packet, {bits, converted, isSub});
  ASSERT_TRUE(bool(fetch)) << fetch.fault().rule << ": "
                           << fetch.fault().message;
  EXPECT_EQ(fetch->read, isSub ? 8 : row["read"].get<int64_t>());
  EXPECT_EQ(countSteps(fetch->loops), cycles);
}

TEST(WorkedRows, LoopsWidthsAndCycles) {
  std::set<std::string> ids;
  for (const json &row : loadRows()) {
    std::string id = row["id"];
    SCOPED_TRACE(id);
    EXPECT_TRUE(ids.insert(id).second);
    checkEntries(row);
    if (row.contains("cycles"))
      for (bool isSub : {false, true})
        checkCycles(row, isSub);
  }
  // All rows that the documentation has, but S19, which has two memories
  // (worked-two-memories.mlir).
  EXPECT_EQ(ids.size(), 23 + 11 + 11u);
}
