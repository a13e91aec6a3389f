//===- Vectors.h - Reading mapping.json -------------------------*- C++ -*-===//
//
// Loads the vectors of the mapping algebra and turns their notation of cells
// and factors into text that is easy to compare.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_UNITTESTS_TENSORMAPPING_VECTORS_H
#define FURIOSA_UNITTESTS_TENSORMAPPING_VECTORS_H

#include "furiosa/Dialect/TensorMapping/Algebra/Mapping.h"

#include <nlohmann/json.hpp>

#include "gtest/gtest.h"

#include <cstdlib>
#include <fstream>

namespace furiosa::mapping::test {

using nlohmann::json;

/// The array `name` of mapping.json, in the folder that FURIOSA_VECTORS names.
inline json loadVectors(const char *name) {
  const char *other = std::getenv("FURIOSA_VECTORS");
  std::string path =
      std::string(other ? other : FURIOSA_VECTORS) + "/mapping.json";
  std::ifstream in(path);
  EXPECT_TRUE(in.good()) << "cannot read " << path;
  json all = json::parse(in, nullptr, /*allow_exceptions=*/false);
  EXPECT_TRUE(all.is_object() && all.contains(name)) << path;
  return all.is_object() ? all.value(name, json::array()) : json::array();
}

inline Axes axesOf(const json &entry) {
  std::vector<Axis> list;
  for (const auto &[name, size] : entry["axes"].items())
    list.push_back({name, size.get<int64_t>()});
  Result<Axes> axes = Axes::get(list);
  EXPECT_TRUE(bool(axes));
  return axes ? *axes : Axes();
}

inline json toJson(const Cell &cell, const Axes &axes) {
  switch (cell.kind) {
  case Cell::Kind::OutOfBounds:
    return "oob";
  case Cell::Kind::Pad:
    return "pad:" + toString(cell.pad).str();
  case Cell::Kind::Index:
    break;
  }
  json index = json::object();
  for (auto [axis, coordinate] : cell.index)
    index[axes[axis].name] = coordinate;
  return index;
}

inline json toJson(llvm::ArrayRef<PadRun> runs) {
  json list = json::array();
  for (PadRun run : runs)
    list.push_back({run.upTo, toString(run.kind).str()});
  return list;
}

inline json toJson(const Canonical &form, const Axes &axes) {
  json list = json::array();
  for (const Factor &factor : form.factors)
    list.push_back({factor.axis < 0 ? json() : json(axes[factor.axis].name),
                    factor.stride, factor.extent, factor.live,
                    toJson(factor.runs)});
  return list;
}

inline std::string describe(const Fault &fault) {
  return fault.rule + " " + fault.reason + " at " +
         std::to_string(fault.column) + ": " + fault.message;
}

/// Parses or fails the test.
inline Mapping parseOrFail(const std::string &text, const Axes &axes) {
  Result<Mapping> mapping = Mapping::parse(text, axes);
  if (mapping)
    return *mapping;
  ADD_FAILURE() << text << ": " << describe(mapping.fault());
  return Mapping();
}

} // namespace furiosa::mapping::test

#endif // FURIOSA_UNITTESTS_TENSORMAPPING_VECTORS_H
