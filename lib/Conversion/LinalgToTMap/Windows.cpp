//===- Windows.cpp - Indices that are sums of loops, pads and slices ------===//

#include "FunctionConversion.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::tmap;

bool OpIndices::hasAllLoops(unsigned operand) const {
  llvm::SmallDenseSet<unsigned> held;
  for (std::optional<unsigned> loop : dims[operand])
    if (loop)
      held.insert(*loop);
  for (const WindowOfDim &window : windows[operand])
    for (std::optional<unsigned> loop : {window.atLoop, window.tapLoop})
      if (loop)
        held.insert(*loop);
  for (auto [loop, range] : llvm::enumerate(ranges))
    if (range > 1 && !held.contains(loop))
      return false;
  return true;
}

/// Adds `by` times an index to the factors of its loops; false if it is no sum
/// of loops.
static bool addFactors(AffineExpr index, int64_t by,
                       MutableArrayRef<int64_t> factors, int64_t &start) {
  int64_t product = 0;
  if (auto loop = dyn_cast<AffineDimExpr>(index))
    return !llvm::AddOverflow(factors[loop.getPosition()], by,
                              factors[loop.getPosition()]);
  if (auto constant = dyn_cast<AffineConstantExpr>(index))
    return !llvm::MulOverflow(constant.getValue(), by, product) &&
           !llvm::AddOverflow(start, product, start);
  auto both = dyn_cast<AffineBinaryOpExpr>(index);
  if (!both)
    return false;
  if (both.getKind() == AffineExprKind::Add)
    return addFactors(both.getLHS(), by, factors, start) &&
           addFactors(both.getRHS(), by, factors, start);
  auto factor = dyn_cast<AffineConstantExpr>(both.getRHS());
  return both.getKind() == AffineExprKind::Mul && factor &&
         !llvm::MulOverflow(factor.getValue(), by, product) &&
         addFactors(both.getLHS(), product, factors, start);
}

std::optional<WindowOfDim>
furiosa::findWindow(AffineExpr index, unsigned dim, ArrayRef<int64_t> ranges,
                    ArrayRef<utils::IteratorType> kinds) {
  SmallVector<int64_t> factors(ranges.size());
  WindowOfDim window;
  window.dim = dim;
  if (!addFactors(index, 1, factors, window.start))
    return std::nullopt;
  SmallVector<unsigned> found;
  for (auto [loop, factor] : llvm::enumerate(factors)) {
    if (factor < 0)
      return std::nullopt;
    if (factor > 0)
      found.push_back(loop);
  }
  if (found.size() > 2)
    return std::nullopt;
  // Taps are what is folded, else the fewer.
  auto rank = [&](unsigned loop) {
    return std::tuple(kinds[loop] == utils::IteratorType::reduction,
                      -ranges[loop], loop);
  };
  llvm::sort(found, [&](unsigned a, unsigned b) { return rank(a) < rank(b); });
  if (!found.empty()) {
    window.atLoop = found[0];
    window.stride = factors[found[0]];
  }
  if (found.size() > 1) {
    window.tapLoop = found[1];
    window.dilation = factors[found[1]];
  }
  return window;
}

void FunctionConversion::assignWindows(Value value, DimWindows &found,
                                       ArrayRef<int> loopMembers) {
  auto its = dims.find(value);
  if (its == dims.end())
    return;
  for (WindowOfDim &window : found) {
    SmallVector<int> members(loopMembers);
    window.at = window.atLoop ? loopMembers[*window.atLoop] : classes.add(1);
    window.tap = window.tapLoop ? loopMembers[*window.tapLoop] : classes.add(1);
    members.push_back(its->second[window.dim]);
    classes.separate(members);
  }
}

/// Pairs a dimension with that of a part of it.
static void addPart(AxisClasses &classes, DimWindows &windows, unsigned dim,
                    int own, int part, int64_t start, int64_t stride) {
  if (start == 0 && classes.size(own) == classes.size(part)) {
    classes.unite(own, part);
    return;
  }
  WindowOfDim window;
  window.dim = dim;
  window.start = start;
  window.stride = stride;
  window.at = part;
  window.tap = classes.add(1);
  classes.separate({own, part});
  windows.push_back(window);
}

void FunctionConversion::assignPad(tensor::PadOp op) {
  addDims(op.getResult());
  auto from = dims.find(op.getSource()), to = dims.find(op.getResult());
  if (from == dims.end() || to == dims.end() || !op.getLow().empty() ||
      !op.getHigh().empty())
    return;
  Attribute number;
  Value padding = op.getConstantPaddingValue();
  if (!padding || !matchPattern(padding, m_Constant(&number)) ||
      !(matchPattern(padding, m_Zero()) ||
        matchPattern(padding, m_PosZeroFloat())))
    return;
  DimWindows windows;
  for (auto [dim, low] : llvm::enumerate(op.getStaticLow()))
    addPart(classes, windows, dim, from->second[dim], to->second[dim], -low, 1);
  parts[op] = windows;
}

void FunctionConversion::assignSlice(tensor::ExtractSliceOp op) {
  addDims(op.getResult());
  auto from = dims.find(op.getSource()), to = dims.find(op.getResult());
  if (from == dims.end() || to == dims.end() || !op.getOffsets().empty() ||
      !op.getSizes().empty() || !op.getStrides().empty())
    return;
  llvm::SmallBitVector dropped = op.getDroppedDims();
  DimWindows windows;
  size_t kept = 0;
  for (auto [dim, start] : llvm::enumerate(op.getStaticOffsets())) {
    int part = dropped[dim] ? classes.add(1) : to->second[kept++];
    addPart(classes, windows, dim, from->second[dim], part, start,
            op.getStaticStrides()[dim]);
  }
  parts[op] = windows;
}

Value FunctionConversion::convertWindows(Location loc, Value tensor,
                                         ArrayRef<int> order,
                                         const DimWindows &found) {
  SmallVector<int> taps, rest(order);
  SmallVector<WindowAxis> list;
  for (const WindowOfDim &window : found) {
    list.push_back({classes.axisOf(order[window.dim]),
                    classes.axisOf(window.at), classes.axisOf(window.tap),
                    window.stride, window.dilation, window.start});
    taps.push_back(window.tap);
    rest[window.dim] = window.at;
  }
  taps.append(rest);
  return WindowOp::create(builder, loc,
                          getPlainType(getElement(tensor), axes, axesOf(taps)),
                          tensor, list);
}

void FunctionConversion::convertPart(Operation *op) {
  if (!parts.contains(op))
    return keep(op, isa<tensor::PadOp>(op)
                        ? "padding with what is not 0 everywhere"
                        : "a part whose place is known only at run time");
  Value source = op->getOperand(0), result = op->getResult(0);
  Value tensor = values.lookupOrNull(source);
  if (!tensor)
    return keep(op, "a part of a constant");
  const DimWindows &windows = parts.find(op)->second;
  if (!windows.empty())
    tensor = convertWindows(op->getLoc(), tensor, dims.lookup(source), windows);
  values.map(result, reshape(op->getLoc(), tensor, typeOf(result)));
}
