//===- KernelText.h - Kernels of many shapes as text ------------*- C++ -*-===//
//
// Writes GEMM, GEMV and elementwise kernels for given sizes, types and ways of
// using the machine. Each goes the whole way in the tests.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_UNITTESTS_INTEGRATION_KERNELTEXT_H
#define FURIOSA_UNITTESTS_INTEGRATION_KERNELTEXT_H

#include "furiosa/Support/NumberFormats.h"

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace furiosa::test {

/// How a type is spelled in a kernel.
std::string mlirName(ElementType type);
/// "A = 16, B = 8" as a table.
std::map<std::string, int64_t> axesOf(llvm::StringRef text);
/// The names of a list "A, B".
std::vector<std::string> namesOf(llvm::StringRef list);

/// c[i, j] = sum over k of a[i, k] * b[j, k].
struct Gemm {
  ElementType type = ElementType::I8;
  int64_t rows = 512, columns = 512, depth = 64;
  /// Rows and columns of the result in one slice.
  int64_t rowsPerSlice = 32, columnsPerSlice = 32;
  int64_t lanes = 8;
  /// Collect flits in a packet of the multiplier, 1 or 2.
  int64_t flits = 2;
  /// Send each packet to all column groups instead of fetching it again.
  bool broadcast = false;
  bool sequential = false;
  /// Narrow the f32 sums to bf16.
  bool castToBf16 = false;
  /// Subtracted from a and from b at fetch; integers only.
  std::optional<int> zeroA, zeroB;

  int64_t slices() const {
    return rows / rowsPerSlice * (columns / columnsPerSlice);
  }
  ElementType resultType() const {
    if (isInteger(type))
      return ElementType::I32;
    return castToBf16 ? ElementType::BF16 : ElementType::F32;
  }
  /// Elements of one packet of the multiplier.
  int64_t packet() const { return flits * 256 / wireBits(type); }
  std::string text() const;
};

/// A chain without contraction from one tensor to another, both lists of axes
/// in HBM.
struct Stream {
  std::string name;
  /// "A = 16, B = 8".
  std::string axes;
  ElementType in = ElementType::I8, out = ElementType::I8;
  /// Mappings in HBM, and slice and element in DM.
  std::string inHbm, inSlice, inElement;
  std::string outHbm, outSlice, outElement;
  /// The stages behind `fetch %d`.
  std::string stages;
  int pes = 8;
  std::string context = "main";
  std::string text() const;
};

/// y[r] = sum over k of m[r, k] * x[k], m in tiles of 2048 rows.
struct Gemv {
  int64_t tiles = 4, depth = 64;
  std::string text() const;
};

/// r[a] = a[a] op (an immediate or b[a]).
struct Elementwise {
  int64_t size = 2048, perSlice = 8;
  /// As the op spells it: "add", "mul_int", …
  std::string function = "add";
  bool fromRegisterFile = false;
  int32_t immediate = 1;
  std::string text() const;
};

} // namespace furiosa::test

#endif // FURIOSA_UNITTESTS_INTEGRATION_KERNELTEXT_H
