//===- Packing.h - Lives and sizes in one memory ----------------*- C++ -*-===//
//
// Looks for addresses where placing one after the other finds none.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_DIALECT_RESOURCE_SCHEDULING_PACKING_H
#define FURIOSA_LIB_DIALECT_RESOURCE_SCHEDULING_PACKING_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace furiosa::scheduling {

/// What lives from one position to another, both included.
struct PackedItem {
  int64_t first, last;
  int64_t bytes;
};

/// Addresses, multiples of `alignment`, at which no two items that live at a
/// time overlap and all end by `capacity`; none if there are none, or none that
/// `effort` steps find. Which item has which number changes nothing but the
/// places of items that are alike.
std::optional<std::vector<int64_t>> pack(llvm::ArrayRef<PackedItem> items,
                                         int64_t capacity, int64_t alignment,
                                         int64_t effort);

} // namespace furiosa::scheduling

#endif // FURIOSA_LIB_DIALECT_RESOURCE_SCHEDULING_PACKING_H
