//===- Dependences.cpp - What commands read and write ---------------------===//
//
// Dependences between commands from the buffers that they touch.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/Resource/Transforms/Dependences.h"

#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::resource;

SmallVector<Access> resource::getAccesses(Operation *op) {
  SmallVector<Access> accesses;
  op->walk([&](MemoryEffectOpInterface nested) {
    SmallVector<MemoryEffects::EffectInstance> effects;
    nested.getEffects(effects);
    for (const MemoryEffects::EffectInstance &effect : effects) {
      bool isWrite = isa<MemoryEffects::Write>(effect.getEffect());
      if (effect.getValue() &&
          (isWrite || isa<MemoryEffects::Read>(effect.getEffect())))
        accesses.push_back({effect.getValue(), isWrite});
    }
  });
  return accesses;
}

SmallVector<unsigned> DependenceBuilder::add(ArrayRef<Access> accesses) {
  unsigned self = edges.size();
  SmallVector<unsigned> sources;
  // First what the command needs, then what it leaves behind: its own accesses
  // do not order it against itself.
  for (const Access &access : accesses) {
    State &state = states[access.buffer];
    if (state.lastWriter >= 0)
      sources.push_back(state.lastWriter);
    if (access.isWrite)
      llvm::append_range(sources, state.readers);
  }
  for (const Access &access : accesses)
    if (!access.isWrite)
      states[access.buffer].readers.push_back(self);
  for (const Access &access : accesses)
    if (access.isWrite) {
      State &state = states[access.buffer];
      state.lastWriter = self;
      state.readers.clear();
    }
  llvm::sort(sources);
  sources.erase(llvm::unique(sources), sources.end());
  reduce(sources);
  edges.emplace_back(sources);
  visited.push_back(0);
  return sources;
}

void DependenceBuilder::reduce(SmallVectorImpl<unsigned> &sources) {
  if (sources.size() < 2)
    return;
  // Mark all that the sources reach; nothing below the earliest source matters.
  ++epoch;
  unsigned lowest = sources.front();
  SmallVector<unsigned> worklist;
  for (unsigned source : sources)
    llvm::append_range(worklist, edges[source]);
  while (!worklist.empty()) {
    unsigned node = worklist.pop_back_val();
    if (node < lowest || visited[node] == epoch)
      continue;
    visited[node] = epoch;
    llvm::append_range(worklist, edges[node]);
  }
  llvm::erase_if(sources,
                 [&](unsigned source) { return visited[source] == epoch; });
}
