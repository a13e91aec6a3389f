//===- Selection.cpp - Which kernels to compile ---------------------------===//

#include "Selection.h"

#include "TerminalText.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace llvm;

namespace furiosa::compile {

bool Selection::takesPackage(StringRef package) const {
  return packages.empty() || is_contained(packages, package);
}

SmallVector<unsigned> Selection::findFilters(const KernelName &kernel) const {
  SmallVector<unsigned> found;
  for (auto [index, filter] : enumerate(filters))
    if (exact ? filter == kernel.name ||
                    filter == kernel.package + "::" + kernel.name
              : StringRef(kernel.name).contains(filter))
      found.push_back(static_cast<unsigned>(index));
  return found;
}

bool Selection::takes(const KernelName &kernel) const {
  return takesPackage(kernel.package) &&
         (filters.empty() || !findFilters(kernel).empty());
}

std::vector<std::string> findNear(StringRef wanted,
                                  ArrayRef<std::string> names) {
  std::vector<std::pair<unsigned, StringRef>> ranked;
  // The distance of long names costs their product; nobody types those.
  if (wanted.size() > 256)
    return {};
  for (StringRef name : names) {
    if (name.size() > 256)
      continue;
    unsigned distance = wanted.edit_distance_insensitive(name);
    SmallVector<StringRef> parts;
    name.split(parts, "::");
    for (StringRef part : parts)
      distance = std::min(distance, wanted.edit_distance_insensitive(part));
    if (wanted.contains(parts.back()) || name.contains_insensitive(wanted))
      distance = std::min(distance, 1u);
    if (distance <= std::max<size_t>(2, wanted.size() / 3))
      ranked.emplace_back(distance, name);
  }
  llvm::sort(ranked);
  ranked.erase(llvm::unique(ranked), ranked.end());
  std::vector<std::string> near;
  for (auto [distance, name] : ArrayRef(ranked).take_front(3))
    near.push_back(name.str());
  return near;
}

/// `; did you mean 'a' or 'b'?`, or which there are.
static std::string suggest(StringRef wanted, std::vector<std::string> names) {
  llvm::sort(names);
  names.erase(llvm::unique(names), names.end());
  std::vector<std::string> near = findNear(wanted, names);
  std::string text = near.empty() ? "; there is " : "; did you mean ";
  if (near.empty()) {
    near.assign(names.begin(),
                names.begin() + std::min<size_t>(names.size(), 5));
    if (near.empty())
      return "";
  }
  for (auto [index, name] : enumerate(near))
    text += (index == 0 ? "'" : ", '") + printable(name) + "'";
  if (text.starts_with("; did"))
    return text + "?";
  if (names.size() > near.size())
    text += " and " + std::to_string(names.size() - near.size()) + " more";
  return text;
}

std::vector<std::string>
Selection::explainUnused(ArrayRef<KernelName> all) const {
  std::vector<std::string> messages;
  std::vector<std::string> packageNames, kernelNames;
  std::vector<bool> used(filters.size());
  for (const KernelName &kernel : all) {
    packageNames.push_back(kernel.package);
    if (!takesPackage(kernel.package))
      continue;
    kernelNames.push_back(kernel.name);
    for (unsigned filter : findFilters(kernel))
      used[filter] = true;
  }
  for (const std::string &package : packages)
    if (!is_contained(packageNames, package))
      messages.push_back("no kernel is in package '" + printable(package) +
                         "'" + suggest(package, packageNames));
  for (auto [index, filter] : enumerate(filters))
    if (!used[index])
      messages.push_back(
          (exact ? "no kernel is named '" : "no kernel's name contains '") +
          printable(filter) + "'" + suggest(filter, kernelNames));
  return messages;
}

} // namespace furiosa::compile
