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

Operation *SliceSymbols::findTwin(Operation *op) {
  StringAttr name = getName(op);
  Operation *parent = op->getParentOp();
  if (!name || !parent)
    return nullptr;
  auto [it, isNew] = named.try_emplace(parent);
  if (isNew)
    for (Block &block : parent->getRegion(0))
      for (Operation &child : block)
        if (StringAttr key = getName(&child))
          if (auto &ops = it->second[key]; ops.size() < 2)
            ops.push_back(&child);
  for (Operation *other : it->second[name])
    if (other != op)
      return other;
  return nullptr;
}

/// Refuses what cannot be copied or written: an op that lacks an attribute or a
/// region that its kind has, a symbol outside of modules or of two meanings.
static LogicalResult checkReached(Operation *op, SliceSymbols &symbols) {
  for (Operation *at = op->getParentOp(); at; at = at->getParentOp()) {
    if (!isa<ModuleOp>(at)) {
      InFlightDiagnostic diag = op->emitError()
                                << "a kernel and what it reaches stand in "
                                   "modules, not in a '"
                                << at->getName() << "'";
      diag.attachNote(at->getLoc()) << "which begins here";
      return diag;
    }
    if (failed(at->getName().verifyInvariants(at)))
      return failure();
  }
  if (Operation *twin = symbols.findTwin(op)) {
    InFlightDiagnostic diag = op->emitError()
                              << "redefinition of symbol named '"
                              << getName(op).getValue() << "'";
    diag.attachNote(twin->getLoc()) << "see existing symbol definition here";
    return diag;
  }
  // Parents before what they hold, as the verifier does.
  return failure(op->walk<WalkOrder::PreOrder>([](Operation *nested) {
                     return failed(nested->getName().verifyInvariants(nested))
                                ? WalkResult::interrupt()
                                : WalkResult::advance();
                   }).wasInterrupted());
}

/// The ops that the symbols in `op` and in what they name stand for.
static FailureOr<llvm::SetVector<Operation *>>
findReached(Operation *kernel, SliceSymbols &symbols) {
  llvm::SetVector<Operation *> reached;
  reached.insert(kernel);
  for (size_t i = 0; i < reached.size(); ++i) {
    if (failed(checkReached(reached[i], symbols)))
      return failure();
    reached[i]->walk([&](Operation *op) {
      op->getAttrDictionary().walk([&](SymbolRefAttr reference) {
        if (Operation *target = symbols.lookup(op, reference))
          reached.insert(target);
      });
    });
  }
  return reached;
}

FailureOr<KernelSlice> furiosa::extractSlice(Operation *kernel,
                                             SliceSymbols &symbols) {
  Operation *root = getRoot(kernel);
  // What to copy below each module on the way to something that is reached.
  llvm::DenseMap<Operation *, llvm::SetVector<Operation *>> children;
  FailureOr<llvm::SetVector<Operation *>> found = findReached(kernel, symbols);
  if (failed(found))
    return failure();
  const llvm::SetVector<Operation *> &reached = *found;
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
            // It is inlined and gone, as any helper is.
            if (op->removeAttr(visa::VISADialect::getKernelAttrName()) &&
                isa<SymbolOpInterface>(op))
              SymbolTable::setSymbolVisibility(
                  op, SymbolTable::Visibility::Private);
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
