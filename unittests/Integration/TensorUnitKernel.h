//===- TensorUnitKernel.h - Generated Tensor Unit kernels -------*- C++ -*-===//
//
// Draws kernels whose chains fetch, convert, exchange, contract, transpose and
// commit, each with a plain loop over logical indices that says what it gives.
// What is written here of mappings is a list of digits; the library under test
// is not used.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_UNITTESTS_INTEGRATION_TENSORUNITKERNEL_H
#define FURIOSA_UNITTESTS_INTEGRATION_TENSORUNITKERNEL_H

#include "Kernels.h"

#include <functional>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace furiosa::test {

/// A kernel that has been drawn.
struct TensorUnitKernel {
  std::string text;
  /// What it exercises: "pair i8 x i9", "lane sequential", …
  std::set<std::string> kinds;
  /// The fill of its arguments.
  std::string fill = "bits";
  /// The result for the codes of the arguments.
  std::function<Codes(const std::vector<Codes> &)> expected;
};

/// Draws a contraction, or a chain that only moves and converts.
TensorUnitKernel drawContraction(std::mt19937_64 &random);
TensorUnitKernel drawStream(std::mt19937_64 &random);

/// All kinds that the two may give; a histogram shows those that are missing.
std::vector<std::string> getTensorUnitKinds();

} // namespace furiosa::test

#endif // FURIOSA_UNITTESTS_INTEGRATION_TENSORUNITKERNEL_H
