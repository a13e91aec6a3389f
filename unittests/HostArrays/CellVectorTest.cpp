//===- CellVectorTest.cpp - Cells against mapping.json --------------------===//

#include "furiosa/HostArrays/CellEvaluator.h"

#include "nlohmann/json.hpp"
#include "gtest/gtest.h"

#include <cstdlib>
#include <fstream>

using namespace furiosa;
using nlohmann::json;

static json readVectors() {
  const char *folder = std::getenv("FURIOSA_VECTORS");
  std::ifstream file(std::string(folder ? folder : FURIOSA_TEST_VECTORS) +
                     "/mapping.json");
  return json::parse(file, nullptr, /*allow_exceptions=*/false);
}

static std::vector<HostAxis> axesOf(const json &test) {
  std::vector<HostAxis> axes;
  for (const auto &[name, size] : test["axes"].items())
    axes.push_back({name, size.get<int64_t>()});
  return axes;
}

/// Whether a text has braces that are no fill marker: mappings in IR and EDF
/// hold resolved text.
static bool hasEscapes(llvm::StringRef text) {
  while (true) {
    text = text.split('{').second;
    if (text.empty())
      return false;
    llvm::StringRef inside = text.split('}').first.trim();
    if (inside != "*" && inside != "!" && inside != "0")
      return true;
  }
}

/// Compares one raw cell; overshoot is kept.
static void expectCell(const CellEvaluator &mapping,
                       const std::vector<HostAxis> &axes, int64_t position,
                       const json &cell, const std::string &id) {
  std::vector<int64_t> index(axes.size());
  bool live = mapping.addCell(position, index);
  ASSERT_EQ(live, cell.is_object()) << id << " at " << position;
  if (!live)
    return;
  for (size_t i = 0; i < axes.size(); ++i)
    EXPECT_EQ(index[i], cell.value(axes[i].name, int64_t(0)))
        << id << " at " << position << " on " << axes[i].name;
}

TEST(CellVectors, Expressions) {
  json vectors = readVectors();
  ASSERT_TRUE(vectors.is_object());
  size_t numTerms = 0;
  for (const json &test : vectors["expressions"]) {
    if (hasEscapes(test["expr"].get<std::string>()))
      continue;
    std::string id = test["id"];
    std::vector<HostAxis> axes = axesOf(test);
    auto mapping = CellEvaluator::parse(test["expr"].get<std::string>(), axes);
    ASSERT_TRUE(bool(mapping))
        << id << ": " << llvm::toString(mapping.takeError());
    EXPECT_EQ(mapping->size(), test["size"].get<int64_t>()) << id;
    if (test.contains("cells"))
      for (size_t i = 0; i < test["cells"].size(); ++i)
        expectCell(*mapping, axes, i, test["cells"][i], id);
    if (test.contains("sampled"))
      for (const json &sample : test["sampled"])
        expectCell(*mapping, axes, sample["pos"], sample["cell"], id);

    // The terms spell the same cells.
    auto terms = mapping->terms(1 << 20);
    if (!terms || mapping->size() > 4096) {
      if (!terms)
        llvm::consumeError(terms.takeError());
      continue;
    }
    ++numTerms;
    for (int64_t position = 0; position < mapping->size(); ++position) {
      std::vector<int64_t> index(axes.size()), sum(axes.size());
      bool live = mapping->addCell(position, index), found = true;
      int64_t rest = position;
      for (size_t t = terms->size(); t-- > 0;) {
        const TermCells &term = (*terms)[t];
        auto at = std::find(term.positions.begin(), term.positions.end(),
                            rest % term.size);
        rest /= term.size;
        if (at == term.positions.end()) {
          found = false;
          continue;
        }
        auto coordinates = term.coordinatesOf(at - term.positions.begin());
        for (size_t k = 0; k < term.axes.size(); ++k)
          sum[term.axes[k]] += coordinates[k];
      }
      ASSERT_EQ(found, live) << id << " at " << position;
      if (live)
        EXPECT_EQ(sum, index) << id << " at " << position;
    }
  }
  EXPECT_GT(numTerms, 100u);
}

TEST(CellVectors, Invalid) {
  json vectors = readVectors();
  for (const json &test : vectors["invalid"]) {
    auto mapping =
        CellEvaluator::parse(test["expr"].get<std::string>(), axesOf(test));
    EXPECT_FALSE(bool(mapping)) << test["id"] << ": " << test["expr"];
    if (!mapping)
      llvm::consumeError(mapping.takeError());
  }
}
