//===- VectorKernel.h - Generated vector kernels ----------------*- C++ -*-===//
//
// Draws kernels whose chain passes the vector engine, each with plain loops
// that say what it gives.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_UNITTESTS_INTEGRATION_VECTORKERNEL_H
#define FURIOSA_UNITTESTS_INTEGRATION_VECTORKERNEL_H

#include "VectorFlow.h"

#include <set>

namespace furiosa::test::vectors {

/// A kernel that has been drawn.
struct VectorKernel {
  std::string text;
  /// What it exercises: "logic shl i32", "slot vrf", "reduce folds", …
  std::set<std::string> kinds;
  /// The fill of arguments of i32; those of f32 are quarters.
  std::string integers = "small";
  /// The result for the codes of the arguments.
  std::function<std::vector<Value>(const std::vector<Codes> &)> expected;
};

VectorKernel drawVectorKernel(std::mt19937_64 &random);

/// All kinds that are to come up; a histogram shows those that are missing.
std::vector<std::string> getVectorKinds();

} // namespace furiosa::test::vectors

#endif // FURIOSA_UNITTESTS_INTEGRATION_VECTORKERNEL_H
