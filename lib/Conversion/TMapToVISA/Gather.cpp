//===- Gather.cpp - Rows of a table by an index ---------------------------===//
//
// A slice holds whole rows for a part of the index. A short index goes to data
// memory, from where the transfer engines read row numbers; a long one stays in
// HBM as byte offsets.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "furiosa/Dialect/Utils/ElementTypes.h"
#include "furiosa/Target/RNGD/Machine.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::tmap;
namespace machine = furiosa::rngd::machine;

static int64_t countElements(MappedTensorType type, const KernelAxes &axes) {
  int64_t count = 1;
  for (int axis : getAxesInOrder(type))
    count *= axes.size(axis);
  return count;
}

bool tmap::needsByteOffsets(GatherOp op) {
  MappedTensorType type = op.getIndex().getType();
  int64_t bytes = 4;
  for (int axis : getAxesInOrder(type))
    bytes *= type.getMapping().getAxes().getAxes()[axis].size;
  // The list is written in words of memory.
  return bytes > int64_t(machine::spmIndexListBytes) ||
         bytes % machine::dmWriteGranule != 0;
}

std::optional<int64_t> tmap::getRowBytes(GatherOp op) {
  MappedTensorType table = op.getTable().getType();
  AxesAttr axes = table.getMapping().getAxes();
  SmallVector<int> order = getAxesInOrder(table);
  int key = findAxes(axes, op.getOver()).front();
  // The key outermost, rows without padding.
  if (!mapping::same(table.getMapping().getMapping(),
                     getPlainType(table.getElementType(), axes, order)
                         .getMapping()
                         .getMapping()) ||
      (axes.getAxes()[key].size > 1 && order.front() != key))
    return std::nullopt;
  int64_t bits = wireBits(*getElementType(table.getElementType()));
  for (int axis : order)
    if (axis != key)
      bits *= axes.getAxes()[axis].size;
  return bits % 8 == 0 ? std::optional(bits / 8) : std::nullopt;
}

namespace {
/// One way to gather: how the index is cut into slices.
struct Plan {
  SmallVector<Cut> cuts;
  /// Axes of a row, in the order of the table.
  SmallVector<int> row;
  bool scaled = false;
  /// All slices that the list of row numbers could lie in.
  Place whole;
  Place place;
};
} // namespace

static Value emitGather(const Plan &plan, MappedTensorType indexType,
                        MappedTensorType result, const KernelAxes &axes,
                        Emitter &emitter, ValueRange operands) {
  Value index = operands[1];
  if (!plan.scaled) {
    TermList terms;
    for (int axis : getAxesInOrder(indexType))
      terms.push_back(axes.live(axis));
    DmLayout layout;
    layout.elementType = indexType.getElementType();
    layout.place = plan.whole;
    layout.element = terms;
    index = emitter.load(index, layout, std::nullopt);
  }
  TermList element;
  for (const Cut &cut : plan.cuts)
    element.push_back(cut.inner(axes));
  for (int axis : plan.row)
    element.push_back(axes.live(axis));
  Type type =
      emitter.dmType(result.getElementType(), plan.place, joinTerms(element));
  Value rows = visa::GatherOp::create(emitter.builder, emitter.loc, type,
                                      operands[0], index, plan.scaled);
  return emitter.store(rows, result);
}

std::vector<Candidate> tmap::enumerateGather(GatherOp op,
                                             const Search &search) {
  const KernelAxes &axes = search.getAxes();
  MappedTensorType table = op.getTable().getType();
  MappedTensorType index = op.getIndex().getType(), result = op.getType();
  SmallVector<int> order = getAxesInOrder(index), row = getAxesInOrder(table);
  llvm::erase(row, findAxes(axes.declared(), op.getOver()).front());
  int64_t count = countElements(index, axes);
  int64_t bytes = std::max<int64_t>(
      1, countElements(result, axes) / count *
             wireBits(*getElementType(result.getElementType())) / 8);
  Grid grid = search.getGrid();
  std::vector<Candidate> candidates;
  // With all clusters, and with the first alone.
  for (int64_t clusters : {grid.clusters, int64_t(1)}) {
    if (clusters == 1 && grid.clusters == 1 && !candidates.empty())
      break;
    for (int64_t cells = 1;; cells *= 2) {
      auto plan = std::make_shared<Plan>();
      plan->scaled = needsByteOffsets(op);
      plan->row = row;
      plan->cuts = shareCells(order, axes, std::min(cells, count));
      SmallVector<Cut *> cuts;
      for (Cut &cut : plan->cuts)
        cuts.push_back(&cut);
      auto place = spread(cuts, axes, {clusters, grid.slices});
      if (place) {
        std::string idle =
            grid.clusters == 1 ? "1" : "1 # " + std::to_string(grid.clusters);
        if (clusters == 1)
          place->cluster = idle;
        plan->place = *place;
        plan->whole = {idle, "1 # " + std::to_string(grid.slices)};
        TermList terms;
        for (const Cut &cut : plan->cuts)
          terms.push_back(cut.inner(axes));
        Candidate candidate;
        candidate.placement = [place = *place, time = joinTerms(terms),
                               context = op.getContext()] {
          auto text = [&](StringRef value) {
            return StringAttr::get(context, value);
          };
          return PlacementAttr::get(context, text(place.cluster),
                                    text(place.slice), StringAttr(), text(time),
                                    StringAttr(), StringAttr());
        };
        int64_t held = 1;
        for (const Cut &cut : plan->cuts)
          held *= std::min(cut.tile, cut.size);
        candidate.bound = boundFixed() + boundLoad({held * bytes, *place}) +
                          boundStore(count * bytes, held * bytes);
        candidate.emit = [plan, index, result, &axes](Emitter &emitter,
                                                      ValueRange operands) {
          return emitGather(*plan, index, result, axes, emitter, operands);
        };
        candidates.push_back(std::move(candidate));
      }
      if (cells >= count)
        break;
    }
  }
  return candidates;
}
