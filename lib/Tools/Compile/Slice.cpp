//===- Slice.cpp - One kernel and what it reaches -------------------------===//

#include "furiosa/Dialect/Resource/IR/Resource.h"
#include "furiosa/Dialect/VISA/IR/VISA.h"
#include "furiosa/Tools/Compile.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace furiosa;

bool furiosa::isKernel(Operation *op) {
  return op->hasAttr(visa::VISADialect::getKernelAttrName()) ||
         isa<resource::ProgramOp>(op);
}

static StringAttr getName(Operation *op) {
  return op->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
}

/// The outermost named module around an op, else the outermost op.
static Operation *getRoot(Operation *op) {
  Operation *outermost = op, *package = nullptr;
  for (Operation *at = op->getParentOp(); at; at = at->getParentOp()) {
    outermost = at;
    if (isa<ModuleOp>(at) && getName(at))
      package = at;
  }
  return package ? package : outermost;
}

std::string furiosa::getFullName(Operation *kernel) {
  StringAttr own = getName(kernel);
  std::string name = own ? own.str() : std::string();
  Operation *root = getRoot(kernel);
  for (Operation *at = kernel->getParentOp(); at && at != root;
       at = at->getParentOp())
    if (StringAttr symbol = getName(at))
      name = symbol.str() + "::" + name;
  return name;
}

std::string furiosa::getPackage(Operation *kernel) {
  Operation *root = getRoot(kernel);
  StringAttr name = isa<ModuleOp>(root) ? getName(root) : StringAttr();
  return name ? name.str() : std::string();
}

/// The ops that the symbols in `op` and in what they name stand for.
static llvm::SetVector<Operation *> findReached(Operation *kernel,
                                                SymbolTableCollection &tables) {
  llvm::SetVector<Operation *> reached;
  reached.insert(kernel);
  for (size_t i = 0; i < reached.size(); ++i) {
    reached[i]->walk([&](Operation *op) {
      op->getAttrDictionary().walk([&](SymbolRefAttr reference) {
        if (Operation *target = tables.lookupNearestSymbolFrom(op, reference))
          reached.insert(target);
      });
    });
  }
  return reached;
}

KernelSlice furiosa::extractSlice(Operation *kernel,
                                  SymbolTableCollection &tables) {
  Operation *root = getRoot(kernel);
  // What to copy below each module on the way to something that is reached.
  llvm::DenseMap<Operation *, llvm::SetVector<Operation *>> children;
  llvm::SetVector<Operation *> reached = findReached(kernel, tables);
  for (Operation *op : reached)
    for (Operation *at = op; at != root && at->getParentOp();
         at = at->getParentOp())
      if (!children[at->getParentOp()].insert(at))
        break;

  KernelSlice slice;
  IRMapping mapping;
  auto copyBelow = [&](auto &self, Operation *from, Operation *to) -> void {
    SmallVector<Operation *> parts = children.lookup(from).takeVector();
    llvm::sort(parts, [](Operation *a, Operation *b) {
      return a->isBeforeInBlock(b);
    });
    Block &block = to->getRegion(0).front();
    for (Operation *part : parts) {
      Operation *copy;
      if (reached.contains(part)) {
        copy = part->clone(mapping);
        if (part == kernel)
          slice.kernel = copy;
        else
          copy->walk([](Operation *op) {
            op->removeAttr(visa::VISADialect::getKernelAttrName());
          });
      } else {
        copy = part->cloneWithoutRegions(mapping);
        copy->getRegion(0).emplaceBlock();
        self(self, part, copy);
      }
      block.push_back(copy);
    }
  };
  slice.module = cast<ModuleOp>(root->cloneWithoutRegions());
  slice.module->getRegion().emplaceBlock();
  // What modules without a name around the package say holds in it.
  for (Operation *at = root->getParentOp(); at; at = at->getParentOp())
    for (NamedAttribute attribute : at->getDiscardableAttrs())
      if (!slice.module->getOperation()->hasAttr(attribute.getName()))
        slice.module->getOperation()->setAttr(attribute.getName(),
                                              attribute.getValue());
  copyBelow(copyBelow, root, *slice.module);
  return slice;
}
