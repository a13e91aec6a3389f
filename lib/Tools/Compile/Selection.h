//===- Selection.h - Which kernels to compile -------------------*- C++ -*-===//
//
// Filters and packages on names alone.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_TOOLS_COMPILE_SELECTION_H
#define FURIOSA_LIB_TOOLS_COMPILE_SELECTION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace furiosa::compile {

/// What a kernel is called.
struct KernelName {
  std::string package;
  /// `module::function` below the package.
  std::string name;
};

struct Selection {
  std::vector<std::string> filters;
  std::vector<std::string> packages;
  /// A filter is the whole name of a kernel, with or without its package in
  /// front, rather than a part of it.
  bool exact = false;

  /// Whether the kernel is in one of the packages, or none is given.
  bool takesPackage(llvm::StringRef package) const;
  /// Indices of the filters that take a kernel.
  llvm::SmallVector<unsigned> findFilters(const KernelName &kernel) const;
  /// Whether a kernel is to be compiled.
  bool takes(const KernelName &kernel) const;

  /// One message for each filter and package that takes none of all kernels,
  /// with the names that come near.
  std::vector<std::string> explainUnused(llvm::ArrayRef<KernelName> all) const;
};

/// Up to three of `names` that are close to `wanted`, the closest first.
std::vector<std::string> findNear(llvm::StringRef wanted,
                                  llvm::ArrayRef<std::string> names);

} // namespace furiosa::compile

#endif // FURIOSA_LIB_TOOLS_COMPILE_SELECTION_H
