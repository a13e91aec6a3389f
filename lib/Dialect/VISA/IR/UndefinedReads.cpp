//===- UndefinedReads.cpp - Reads of what nothing has written -------------===//
//
// Follows the buffers that a kernel allocates through its ops in the order of
// the text. What windows cannot be told to cover counts as written: a run marks
// each such cell as undefined.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/VISA/IR/Views.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::visa;
using mapping::Mapping;

namespace {
/// The part of a buffer that a handle names.
struct Extent {
  enum Kind { Whole, Window, Unknown } kind = Unknown;
  /// Window: cells [first, end) of `live` cells of an index.
  Dimension dimension = Dimension::Element;
  Mapping along;
  int64_t first = 0, end = 0, live = 0;

  bool hasSameIndex(const Extent &other) const {
    return dimension == other.dimension && mapping::same(along, other.along);
  }
};

/// A read or a write, by an op at a place of the text.
struct Access {
  Operation *op;
  unsigned place;
  bool isWrite;
  Value handle;
};
} // namespace

/// Whether a window moves through all cells between its first and last start.
static bool movesOn(TileOp tile) {
  auto argument = dyn_cast<BlockArgument>(tile.getOffset());
  auto loop = argument
                  ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())
                  : scf::ForOp();
  if (!loop || loop.getInductionVar() != tile.getOffset())
    return false;
  auto trips = loop.getStaticTripCount();
  auto step = getConstantIntValue(loop.getStep());
  return trips && !trips->isZero() && step && *step <= int64_t(tile.getTake());
}

static Extent getExtent(const Access &access) {
  TileOp tile;
  for (Value at = access.handle; Operation *op = at.getDefiningOp();) {
    if (auto next = dyn_cast<TileOp>(op)) {
      // A tile of a tile, or a buffer whose cells have other names.
      if (tile)
        return {};
      tile = next;
    }
    if (auto reshape = dyn_cast<ReshapeOp>(op);
        reshape && changesIndex(reshape))
      return {};
    if (auto chain = dyn_cast<ChainOp>(op)) {
      if (!chain.getInto())
        break;
      at = chain.getInto();
      continue;
    }
    auto view = dyn_cast<ViewLikeOpInterface>(op);
    if (!view)
      break;
    at = view.getViewSource();
  }
  Extent extent;
  extent.kind = Extent::Whole;
  if (!tile)
    return extent;
  TensorParts parts = getTensorParts(tile.getSource().getType());
  auto along = tmap::MappingAttr::parseText(tile.getAlong(), parts.axes);
  tmap::MappingAttr whole = getMapping(parts, tile.getDimension());
  if (!along || !whole)
    return {};
  auto window = mapping::tile(whole.getMapping(), along->getMapping(),
                              tile.getTake(), 0, mapping::Pad::Top);
  std::optional<std::pair<int64_t, int64_t>> starts;
  if (std::optional<uint64_t> start = tile.getStart())
    starts = std::pair(int64_t(*start), int64_t(*start));
  else
    starts = getIndexRange(tile.getOffset());
  if (!window || !starts ||
      (access.isWrite && starts->first != starts->second && !movesOn(tile)))
    return {};
  extent.kind = Extent::Window;
  extent.dimension = tile.getDimension();
  extent.along = along->getMapping();
  extent.live = window->live;
  extent.first = starts->first;
  extent.end = std::min(starts->second + int64_t(tile.getTake()), extent.live);
  return extent;
}

/// Loops and branches around an op: none of the loops makes no trip.
static bool mayRun(Operation *op) {
  for (auto loop = op->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>())
    if (auto trips = loop.getStaticTripCount(); trips && trips->isZero())
      return false;
  return true;
}

/// Whether a write may have happened when something is read.
static bool mayPrecede(const Access &write, const Access &read) {
  if (write.place < read.place)
    return true;
  // A branch may leave out the first iterations of the loop around both.
  if (!read.op->getParentOfType<scf::IfOp>())
    return false;
  for (auto loop = read.op->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>())
    if (loop->isAncestor(write.op))
      return true;
  return false;
}

/// What of a read nothing has written: "cells 4 to 7 along \"A\" of "; nothing
/// where all may be.
static std::optional<std::string> getMissing(const Access &read,
                                             ArrayRef<Access> accesses) {
  SmallVector<Extent> windows;
  bool any = false;
  for (const Access &write : accesses) {
    if (!write.isWrite || !mayPrecede(write, read))
      continue;
    any = true;
    Extent extent = getExtent(write);
    if (extent.kind != Extent::Window ||
        (!windows.empty() && !windows.front().hasSameIndex(extent)))
      return std::nullopt;
    windows.push_back(std::move(extent));
  }
  if (!any)
    return "";
  Extent wanted = getExtent(read);
  if (wanted.kind == Extent::Unknown ||
      (wanted.kind == Extent::Window && !wanted.hasSameIndex(windows.front())))
    return std::nullopt;
  int64_t at = wanted.kind == Extent::Whole ? 0 : wanted.first;
  int64_t end =
      wanted.kind == Extent::Whole ? windows.front().live : wanted.end;
  llvm::sort(windows, [](const Extent &lhs, const Extent &rhs) {
    return lhs.first < rhs.first;
  });
  for (const Extent &window : windows) {
    if (window.first > at) {
      end = std::min(end, window.first);
      break;
    }
    at = std::max(at, window.end);
  }
  if (at >= end)
    return std::nullopt;
  std::string cells = end - at == 1 ? "cell " + std::to_string(at)
                                    : "cells " + std::to_string(at) + " to " +
                                          std::to_string(end - 1);
  return cells + " along \"" + windows.front().along.str() + "\" of ";
}

static void collect(Operation *op, unsigned place,
                    llvm::MapVector<Value, std::vector<Access>> &buffers) {
  auto add = [&](Value handle, bool isWrite) {
    if (!isa<HbmType, DmType>(handle.getType()))
      return;
    Value base = getBaseBuffer(handle);
    if (base.getDefiningOp<AllocOp>())
      buffers[base].push_back({op, place, isWrite, handle});
  };
  // What a call does that is not inlined nobody knows.
  if (isa<CallOpInterface>(op))
    for (Value operand : op->getOperands())
      add(operand, /*isWrite=*/true);
  if (op->hasTrait<OpTrait::ReturnLike>() &&
      isa<FunctionOpInterface>(op->getParentOp()))
    for (Value operand : op->getOperands())
      add(operand, /*isWrite=*/false);
  if (auto chain = dyn_cast<ChainOp>(op))
    for (Operation &stage : chain.getBody().front())
      for (Value operand : stage.getOperands())
        if (!isa<CommitOp>(stage))
          add(operand, /*isWrite=*/false);
  auto effectful = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effectful)
    return;
  SmallVector<MemoryEffects::EffectInstance> effects;
  effectful.getEffects(effects);
  // Ops read before they write.
  for (bool isWrite : {false, true})
    for (const MemoryEffects::EffectInstance &effect : effects)
      if (effect.getValue() &&
          (isWrite ? isa<MemoryEffects::Write>(effect.getEffect())
                   : isa<MemoryEffects::Read>(effect.getEffect())))
        add(effect.getValue(), isWrite);
}

void visa::forEachUndefinedRead(
    FunctionOpInterface kernel,
    function_ref<void(Operation *, StringRef, Value)> visit) {
  llvm::MapVector<Value, std::vector<Access>> buffers;
  unsigned place = 0;
  kernel.getFunctionBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (mayRun(op))
      collect(op, place, buffers);
    ++place;
    return isa<ChainOp>(op) ? WalkResult::skip() : WalkResult::advance();
  });
  for (auto &[buffer, accesses] : buffers)
    for (const Access &access : accesses)
      if (!access.isWrite)
        if (auto missing = getMissing(access, accesses))
          visit(access.op, *missing, buffer);
}
