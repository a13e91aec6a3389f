//===- AxisClasses.h - Which dimensions are one axis ------------*- C++ -*-===//
//
// Dimensions of tensors and loops of ops that run along each other become one
// axis, unless one tensor or one loop nest would then have it twice.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_CONVERSION_LINALGTOTMAP_AXISCLASSES_H
#define FURIOSA_LIB_CONVERSION_LINALGTOTMAP_AXISCLASSES_H

#include "furiosa/Dialect/TensorMapping/IR/TensorMapping.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

#include <string>
#include <vector>

namespace furiosa {

/// Members are numbered in the order of their creation.
class AxisClasses {
public:
  int add(int64_t size) {
    parents.push_back(parents.size());
    sizes.push_back(size);
    others.emplace_back();
    return parents.size() - 1;
  }
  /// Members that stay apart, for one tensor or loop nest.
  void separate(llvm::ArrayRef<int> members) {
    for (int a : members)
      for (int b : members)
        if (a != b)
          others[find(a)].insert(find(b));
  }
  /// Makes two members one axis; false where their sizes differ or something
  /// has both.
  bool unite(int a, int b) {
    a = find(a);
    b = find(b);
    if (a == b)
      return true;
    if (sizes[a] != sizes[b] || others[a].contains(b))
      return false;
    if (b < a)
      std::swap(a, b);
    parents[b] = a;
    for (int other : others[b]) {
      others[a].insert(other);
      others[other].erase(b);
      others[other].insert(a);
    }
    return true;
  }
  int find(int member) const {
    while (parents[member] != member)
      member = parents[member];
    return member;
  }
  int64_t size(int member) const { return sizes[member]; }

  /// Declares an axis for each class, A, B, …, in the order of their first
  /// members.
  tmap::AxesAttr declare(mlir::MLIRContext *context) {
    std::vector<mapping::Axis> list;
    numbers.assign(parents.size(), -1);
    for (size_t i = 0; i < parents.size(); ++i) {
      int root = find(i);
      if (numbers[root] < 0) {
        numbers[root] = list.size();
        list.push_back({nameOf(list.size()), sizes[root]});
      }
      numbers[i] = numbers[root];
    }
    auto axes = mapping::Axes::get(list);
    assert(axes && "names are distinct and sizes at least 1");
    return tmap::AxesAttr::get(context, *axes);
  }
  /// The declared axis of a member.
  int axisOf(int member) const { return numbers[member]; }

private:
  /// A … Z, A1 … Z1, …
  static std::string nameOf(size_t number) {
    std::string name(1, 'A' + number % 26);
    return number < 26 ? name : name + std::to_string(number / 26);
  }

  std::vector<int> parents, numbers;
  std::vector<int64_t> sizes;
  /// Classes that each root is apart from.
  std::vector<llvm::DenseSet<int>> others;
};

} // namespace furiosa

#endif // FURIOSA_LIB_CONVERSION_LINALGTOTMAP_AXISCLASSES_H
