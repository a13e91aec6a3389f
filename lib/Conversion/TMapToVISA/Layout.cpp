//===- Layout.cpp - Where the axes of a kernel go -------------------------===//

#include "Layout.h"
#include "furiosa/Dialect/Utils/ElementTypes.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"

#include <numeric>

using namespace mlir;
using namespace furiosa;
using namespace furiosa::tmap;
namespace machine = furiosa::rngd::machine;

std::string tmap::joinTerms(ArrayRef<std::string> terms) {
  std::string text;
  for (const std::string &term : terms)
    if (!term.empty())
      text += (text.empty() ? "" : ", ") + term;
  return text.empty() ? "1" : text;
}

TermList tmap::concat(std::initializer_list<ArrayRef<std::string>> lists) {
  TermList all;
  for (ArrayRef<std::string> list : lists)
    all.append(list.begin(), list.end());
  return all;
}

//===----------------------------------------------------------------------===//
// KernelAxes
//===----------------------------------------------------------------------===//

KernelAxes::KernelAxes(AxesAttr declared, ArrayRef<int64_t> grown, bool copies,
                       ArrayRef<int64_t> rows, size_t windows)
    : tmapAxes(declared) {
  SmallVector<mapping::Axis> list(declared.getAxes().list());
  for (auto [axis, size] : llvm::zip_equal(list, grown))
    axis.size = size;
  auto add = [&](std::string name, int64_t size) {
    while (declared.getAxes().find(name) >= 0)
      name += "_";
    list.push_back({name, size});
    return name;
  };
  if (copies)
    copyAxis = add("Copy", maxCopies);
  for (auto [number, size] : llvm::enumerate(rows))
    rowAxes.push_back(add("Row" + std::to_string(number), size));
  // As many cells as a tensor may have; tensors hold the first of them.
  if (windows > 0) {
    chunkAxis = add("Chunk", WindowAxis::maxReach);
    cellAxis = add("Cell", WindowAxis::maxReach);
  }
  for (size_t i = 0; i < windows; ++i)
    lineAxes.push_back(add("Line" + std::to_string(i), WindowAxis::maxReach));
  auto axes = mapping::Axes::get(list);
  assert(axes && "names that are declared");
  visaAxes = AxesAttr::get(declared.getContext(), *axes);
}

std::string KernelAxes::live(int axis) const {
  return isGrown(axis) ? name(axis) + " = " + std::to_string(size(axis))
                       : name(axis);
}

std::string KernelAxes::rewrite(MappingAttr mapping) const {
  // Operators bind to the left, so a window can stand behind each name.
  StringRef text = mapping.getText();
  std::string result;
  while (!text.empty()) {
    size_t length = 0;
    while (length < text.size() &&
           (llvm::isAlnum(text[length]) || text[length] == '_'))
      ++length;
    if (length == 0) {
      result += text.front();
      text = text.drop_front();
      continue;
    }
    StringRef word = text.take_front(length);
    int axis = tmapAxes.getAxes().find(word);
    result += axis < 0 ? word.str() : live(axis);
    text = text.drop_front(length);
  }
  return result;
}

std::string Cut::digit(const KernelAxes &axes, int64_t low,
                       int64_t count) const {
  if (count == 1)
    return "";
  if (isFilled) {
    std::string text = axes.name(axis);
    if (low != 1)
      text += " / " + std::to_string(low);
    if (low * count != axes.fullSize(axis))
      text += " % " + std::to_string(count);
    return text;
  }
  std::string text = axes.live(axis);
  if (part != 0 && low < tile) {
    if (tile != axes.size(axis))
      text += " % " + std::to_string(tile);
    text += " = " + std::to_string(part);
    if (low != 1)
      text += " / " + std::to_string(low);
    if (low * count != part)
      text += " % " + std::to_string(count);
    return text;
  }
  if (size != axes.size(axis) && padded == size) {
    // A digit of the axis itself.
    if (low != 1)
      text += " / " + std::to_string(low);
    return text + " % " + std::to_string(count);
  }
  if (size != axes.size(axis))
    text += " % " + std::to_string(size);
  if (padded != size)
    text += " # " + std::to_string(padded);
  if (low != 1)
    text += " / " + std::to_string(low);
  if (low * count != padded)
    text += " % " + std::to_string(count);
  return text;
}

std::string Cut::slices(const KernelAxes &axes, int64_t inner) const {
  if (near == 0)
    return digit(axes, tile * inner, sliceUnits / inner);
  constexpr int64_t network = machine::slicesPerDMN;
  std::string terms[] = {
      digit(axes, tile * 2 * network, sliceUnits / (2 * network)),
      digit(axes, tile * near, 2), digit(axes, tile * near * 2, network / near),
      digit(axes, tile * inner, near / inner)};
  bool isEmpty =
      llvm::all_of(terms, [](const std::string &term) { return term.empty(); });
  return isEmpty ? "" : joinTerms(terms);
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

Grid Grid::get(visa::TargetAttr target) {
  unsigned pes = target.getPes();
  return {rngd::clustersFor(pes).value_or(1),
          rngd::slicesPerClusterFor(pes).value_or(64)};
}

std::optional<Place> tmap::spread(MutableArrayRef<Cut *> cuts,
                                  const KernelAxes &axes, const Grid &grid,
                                  ArrayRef<std::string> parts,
                                  PartsOrder order) {
  for (Cut *cut : cuts)
    cut->padded = llvm::divideCeil(cut->size, cut->tile) * cut->tile;
  // The outermost cut that has units for all clusters is shared by them.
  Cut *shared = nullptr;
  for (Cut *cut : cuts)
    if (!shared && grid.clusters > 1 && cut->units() >= grid.clusters)
      shared = cut;
  Place place;
  TermList terms;
  place.cluster =
      grid.clusters > 1 ? "1 # " + std::to_string(grid.clusters) : "1";
  for (Cut *cut : cuts) {
    int64_t units = cut->units();
    if (cut == shared) {
      units = llvm::divideCeil(units, grid.clusters);
      cut->padded = units * grid.clusters * cut->tile;
      place.cluster = cut->digit(axes, units * cut->tile, grid.clusters);
      place.usedClusters = grid.clusters;
    }
    terms.push_back(cut->digit(axes, cut->tile, units));
    cut->sliceUnits = units;
    if (units > grid.slices / place.usedSlices)
      return std::nullopt;
    place.usedSlices *= units;
  }
  // Slices that hold something stand apart, so that all engines load them.
  place.gap = llvm::bit_floor(uint64_t(grid.slices / place.usedSlices));
  int64_t rows = grid.slices / place.gap;
  place.slice = joinTerms(terms);
  if (place.usedSlices != rows) {
    if (llvm::count_if(
            terms, [](const std::string &term) { return !term.empty(); }) > 1)
      place.slice = "[" + place.slice + "]";
    place.slice += " # " + std::to_string(rows);
  }
  std::string gap = place.gap > 1 ? "1 # " + std::to_string(place.gap) : "";
  TermList used = {place.usedSlices == 1 && rows == 1 ? "" : place.slice};
  place.slice =
      joinTerms(order == PartsOrder::Apart ? concat({used, parts, {gap}})
                                           : concat({used, {gap}, parts}));
  return place;
}

int64_t Place::usedSlicesOfPE() const {
  int64_t slices = machine::slicesPerPE;
  int64_t groups = llvm::divideCeil(slices, gap * neighbours);
  return std::min({usedSlices, slices, groups * neighbours});
}

std::optional<SumPlaces> tmap::spreadSums(MutableArrayRef<Cut *> cuts,
                                          MutableArrayRef<Cut> sums,
                                          const KernelAxes &axes,
                                          const Grid &grid, PartsOrder order) {
  int64_t count = 1;
  TermList digits;
  for (Cut &cut : sums) {
    cut.sliceUnits = cut.units();
    digits.push_back(cut.slices(axes));
    count *= cut.sliceUnits;
  }
  if (count > grid.slices)
    return std::nullopt;
  Grid outside{grid.clusters, grid.slices / count};
  auto parts = spread(cuts, axes, outside, digits, order);
  std::string freed = count == 1 ? "" : "1 # " + std::to_string(count);
  auto whole = spread(cuts, axes, outside, freed, order);
  if (!parts || !whole)
    return std::nullopt;
  parts->usedSlices *= count;
  if (order == PartsOrder::Together)
    parts->neighbours = count;
  whole->gap *= count;
  return SumPlaces{*parts, *whole};
}

SmallVector<Cut> tmap::shareCells(ArrayRef<int> order, const KernelAxes &axes,
                                  int64_t cells, int64_t granule,
                                  AxisLoop loop) {
  SmallVector<Cut> cuts(order.size());
  for (size_t i = order.size(); i-- > 0;) {
    Cut &cut = cuts[i];
    cut.axis = order[i];
    cut.size = loop.axis == cut.axis ? loop.tile : axes.size(cut.axis);
    int64_t whole = cut.size;
    if (i + 1 == order.size())
      whole = llvm::divideCeil(whole, granule) * granule;
    cut.tile = std::min(whole, std::max<int64_t>(cells, 1));
    cut.padded = cut.tile;
    // A cut inside an axis leaves nothing for those outside of it.
    cells = cut.tile == whole ? cells / whole : 1;
  }
  return cuts;
}

SmallVector<AxisLoop> tmap::getLoops(int axis, const KernelAxes &axes,
                                     int64_t granule) {
  SmallVector<AxisLoop> loops = {{}};
  if (axis < 0)
    return loops;
  int64_t size = axes.size(axis);
  // Few steps of any number, many steps in powers of two.
  constexpr int64_t few = 128;
  for (int64_t count = 2; count <= size / granule;
       count = count < few ? count + 1 : 2 * count)
    if (size % (count * granule) == 0)
      loops.push_back({axis, size / count, count});
  return loops;
}

bool tmap::isLoadable(MappedTensorType type, ArrayRef<Cut> cuts,
                      const KernelAxes &axes) {
  const auto &form = type.getMapping().getMapping().resolved();
  if (!form)
    return false;
  int64_t run = 1, aligned = 0;
  size_t at = cuts.size();
  for (const mapping::Factor &factor : llvm::reverse(form->factors)) {
    // One cell makes no difference where memory holds no more.
    while (at > 0 && cuts[at - 1].padded == 1 &&
           !axes.isGrown(cuts[at - 1].axis))
      --at;
    if (at == 0 || factor.axis != cuts[at - 1].axis || factor.stride != 1)
      break;
    const Cut &cut = cuts[--at];
    // The last tile may hold less than the others.
    int64_t live = std::min(cut.size, factor.live);
    int64_t cells = std::min(cut.tile, live);
    aligned = std::gcd(aligned, live % cells * run);
    run *= cells;
    if (cells != axes.size(factor.axis) || factor.extent != factor.live ||
        cut.padded != axes.size(factor.axis) || axes.isGrown(factor.axis))
      break;
  }
  unsigned bits = wireBits(*getElementType(type.getElementType()));
  return std::gcd(aligned, run) * bits % (8 * machine::dmWriteGranule) == 0;
}
