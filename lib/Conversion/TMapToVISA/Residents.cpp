//===- Residents.cpp - What stays in data memory --------------------------===//

#include "Residents.h"
#include "furiosa/Dialect/TensorMapping/IR/TensorOps.h"
#include "furiosa/Dialect/VISA/IR/VISA.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::tmap;

void Residents::add(Value tensor, Value held, ArrayRef<int> filled) {
  entries[tensor].push_back({held, SmallVector<int>(filled)});
}

void Residents::rename(Value from, Value to) {
  auto it = entries.find(from);
  if (it == entries.end())
    return;
  auto held = std::move(it->second);
  entries.erase(it);
  entries[to] = std::move(held);
}

/// Whether two tensors lie alike, however their mappings are spelled.
static bool isAlike(Type lhs, Type rhs) {
  auto a = dyn_cast<visa::DmType>(lhs), b = dyn_cast<visa::DmType>(rhs);
  if (!a || !b || a.getElementType() != b.getElementType())
    return false;
  auto isSame = [](MappingAttr left, MappingAttr right) {
    return left == right ||
           mapping::same(left.getMapping(), right.getMapping());
  };
  return isSame(a.getCluster(), b.getCluster()) &&
         isSame(a.getSlice(), b.getSlice()) &&
         isSame(a.getElement(), b.getElement());
}

Value Residents::find(Value tensor, Type type, ArrayRef<int> filled) {
  for (const Entry &entry : of(tensor)) {
    bool hasZeros = llvm::all_of(filled, [&](int axis) {
      return llvm::is_contained(entry.filled, axis);
    });
    if (hasZeros && isAlike(entry.held.getType(), type)) {
      ++hits;
      return entry.held;
    }
  }
  return {};
}

ArrayRef<Residents::Entry> Residents::of(Value tensor) const {
  auto it = entries.find(tensor);
  return it == entries.end() ? ArrayRef<Entry>() : ArrayRef<Entry>(it->second);
}

void tmap::eraseUnread(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    auto chain = dyn_cast<visa::ChainOp>(op);
    if (chain) {
      // What is committed into a tensor has another name for it.
      auto commit = dyn_cast<visa::CommitOp>(chain.getBody().front().back());
      if (!commit || commit.getInto())
        continue;
    } else if (!isa<visa::ToHbmOp, visa::ToDmOp, visa::AllocOp>(op)) {
      continue;
    }
    if (!op.use_empty())
      continue;
    if (Attribute placement = op.getAttr(getPlacementAttrName())) {
      Value source;
      if (auto store = dyn_cast<visa::ToHbmOp>(op))
        source = store.getSource();
      else if (chain)
        if (auto fetch =
                dyn_cast<visa::FetchOp>(chain.getBody().front().front()))
          source = fetch.getSource();
      Operation *made = source ? source.getDefiningOp() : nullptr;
      if (made && !made->hasAttr(getPlacementAttrName()))
        made->setAttr(getPlacementAttrName(), placement);
    }
    op.erase();
  }
}
