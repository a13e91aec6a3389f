//===- Moves.cpp - Another order of the axes ------------------------------===//
//
// Where another axis becomes the innermost one, a slice holds a tile of both
// and the transpose engine turns it: runs in HBM are rows of the tile on both
// sides. All else is a copy in HBM.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "furiosa/Dialect/Utils/ElementTypes.h"
#include "furiosa/Target/RNGD/Machine.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::tmap;
namespace machine = furiosa::rngd::machine;

namespace {
struct Move {
  MappedTensorType source, result;
  unsigned bits = 0;
  /// The innermost axis of the source and that of the result.
  int from = -1, to = -1;
  /// Further axes, in the order of the result.
  SmallVector<int> others;
  /// Numbers that the transpose engine takes of a row, and rows at a time: a
  /// word of its results (TU-68, TU-69).
  int64_t columns() const { return rngd::transposeCells(bits); }
  int64_t rows() const { return 64 / bits; }
  bool isOfSource(int axis) const {
    return llvm::is_contained(getAxesInOrder(source), axis);
  }
};

/// One tiling.
struct Plan {
  SmallVector<Cut> others;
  Cut from, to;
  AxisLoop loop;
  bool staged = false;
  Place place;
};
} // namespace

/// The axis along which neighbours in memory lie, or -1.
static int findRunAxis(MappedTensorType type) {
  const auto &form = type.getMapping().getMapping().resolved();
  if (form)
    for (const mapping::Factor &factor : llvm::reverse(form->factors))
      if (factor.extent > 1)
        return factor.axis;
  return -1;
}

/// The cuts of a tile as the source has them: the result's innermost axis
/// stands outside of the source's.
static SmallVector<Cut> getSourceCuts(const Move &move, const Plan &plan) {
  SmallVector<Cut> cuts;
  for (const Cut &cut : plan.others)
    if (move.isOfSource(cut.axis))
      cuts.push_back(cut);
  cuts.push_back(plan.to);
  cuts.push_back(plan.from);
  return cuts;
}

/// Time in front of the chain's collect: rows of a word inside of steps.
static TermList getTime(const Move &move, const Plan &plan, bool isTurned,
                        const KernelAxes &axes) {
  TermList time;
  for (const Cut &cut : plan.others)
    time.push_back(cut.inner(axes));
  int64_t rows = move.rows(), columns = move.columns();
  time.push_back(plan.to.digit(axes, rows, plan.to.tile / rows));
  time.push_back(plan.from.digit(axes, columns, plan.from.tile / columns));
  time.push_back(isTurned ? plan.from.digit(axes, 1, columns)
                          : plan.to.digit(axes, 1, rows));
  return time;
}

/// A tile of the source in HBM, turned, in data memory.
static Value emitTile(Emitter &emitter, const Move &move, const Plan &plan,
                      Value source) {
  const KernelAxes &axes = emitter.axes;
  DmLayout layout;
  layout.elementType = move.source.getElementType();
  layout.place = plan.place;
  TermList order;
  for (const Cut &cut : getSourceCuts(move, plan)) {
    layout.element.push_back(cut.inner(axes));
    // Whole words, whatever the type.
    int64_t filled = cut.axis == move.from
                         ? llvm::alignTo(cut.size, machine::flitBytes / 2)
                         : cut.size;
    order.push_back(cut.whole(axes) +
                    (filled == cut.size ? "" : " # " + std::to_string(filled)));
  }
  Value loaded = emitter.load(source, layout,
                              plan.staged ? std::optional(order) : std::nullopt,
                              plan.loop.count == 1 ? move.from : -1);
  TermList element;
  for (const Cut &cut : plan.others)
    element.push_back(cut.inner(axes));
  element.push_back(plan.from.inner(axes));
  element.push_back(plan.to.inner(axes));
  std::string time = joinTerms(getTime(move, plan, false, axes));
  std::string row = plan.from.digit(axes, 1, move.columns());
  std::string word = plan.to.digit(axes, 1, move.rows());
  int64_t flit = machine::flitBytes * 8 / move.bits;
  auto fill = [&](int64_t cells) {
    return cells == flit ? "" : " # " + std::to_string(flit);
  };
  return emitter.chain(
      visa::Context::Main,
      emitter.dmType(layout.elementType, plan.place, joinTerms(element)), [&] {
        emitter.fetch(loaded, time, row);
        emitter.collect(time, row + fill(move.columns()));
        visa::TransposeOp::create(emitter.builder, emitter.loc,
                                  joinTerms(getTime(move, plan, true, axes)),
                                  word + fill(move.rows()));
        emitter.commit(word, joinTerms(element));
      });
}

static Value emitMove(Emitter &emitter, const Move &move, const Plan &plan,
                      Value source) {
  if (plan.loop.count == 1)
    return emitter.store(emitTile(emitter, move, plan, source), move.result);
  Value target = visa::AllocOp::create(emitter.builder, emitter.loc,
                                       emitter.hbmType(move.result));
  emitter.forEach(plan.loop.count, [&](Value at) {
    Value part = emitter.step(source, plan.loop, at, mapping::Pad::Top);
    Value turned = emitTile(emitter, move, plan, part);
    visa::CopyOp::create(
        emitter.builder, emitter.loc, turned,
        emitter.step(target, plan.loop, at, mapping::Pad::Bottom));
  });
  return target;
}

static PlacementAttr getPlacement(const Move &move, const Plan &plan,
                                  const KernelAxes &axes) {
  MLIRContext *context = move.result.getContext();
  auto text = [&](StringRef value) { return StringAttr::get(context, value); };
  return PlacementAttr::get(
      context, text(plan.place.cluster), text(plan.place.slice), StringAttr(),
      text(joinTerms(getTime(move, plan, false, axes))),
      text(plan.from.digit(axes, 1, move.columns())), StringAttr());
}

/// Cells of a tile.
static int64_t countCells(const Plan &plan) {
  int64_t cells = plan.from.tile * plan.to.tile;
  for (const Cut &cut : plan.others)
    cells *= cut.tile;
  return cells;
}

/// Cells of all tiles.
static int64_t countWhole(const Move &move, const KernelAxes &axes) {
  int64_t cells = 1;
  for (int axis : getAxesInOrder(move.result))
    cells *= axes.size(axis);
  return cells;
}

static int64_t boundMove(const Move &move, const Plan &plan,
                         const KernelAxes &axes) {
  auto runBytes = [&](const Cut &cut) {
    return std::max<int64_t>(1, std::min(cut.tile, cut.size) * move.bits / 8);
  };
  int64_t cells = countCells(plan), whole = countWhole(move, axes);
  // Each row of a tile is a request at least.
  int64_t request = machine::dmaRequestBytes;
  int64_t load = cells / plan.from.tile *
                 llvm::alignTo(runBytes(plan.from), uint64_t(request));
  // A row at a time comes in, a word at a time goes out.
  int64_t turning = cells / move.rows();
  return boundFixed() +
         plan.loop.count * (boundLoad({load, plan.place}) + turning) +
         boundStore(llvm::divideCeil(whole * move.bits, 8), runBytes(plan.to));
}

/// The move between two tensors if tiles of it can be turned.
static std::optional<Move> getTurn(MappedTensorType source,
                                   MappedTensorType result) {
  Move move;
  move.source = source;
  move.result = result;
  move.bits = wireBits(*getElementType(result.getElementType()));
  move.from = findRunAxis(source);
  move.to = findRunAxis(result);
  if (move.from == move.to || move.from < 0 || !move.isOfSource(move.from) ||
      !move.isOfSource(move.to))
    return std::nullopt;
  for (int axis : getAxesInOrder(result))
    if (axis != move.from && axis != move.to)
      move.others.push_back(axis);
  return move;
}

/// All tilings that fit.
static std::vector<Plan>
enumeratePlans(const Move &move, const KernelAxes &axes, const Grid &grid) {
  std::vector<Plan> plans;
  int outermost = getAxesInOrder(move.result).front();
  int64_t granule = outermost == move.from ? move.columns() : 1;
  for (AxisLoop loop : getLoops(outermost, axes, granule)) {
    // Loops only where nothing fits without them, as few steps as do.
    if (loop.count > 1 && !plans.empty())
      break;
    auto getCut = [&](int axis, int64_t tile) {
      int64_t size = loop.axis == axis ? loop.tile : axes.size(axis);
      return Cut{axis, size, tile, tile};
    };
    auto filled = [&](int axis, int64_t granule) {
      return llvm::alignTo(getCut(axis, 1).size, granule);
    };
    int64_t columns = filled(move.from, move.columns());
    int64_t rows = filled(move.to, move.rows());
    int64_t outer = 1;
    for (int axis : move.others)
      outer *= axes.size(axis);
    for (int64_t width = move.columns();; width *= 2) {
      for (int64_t height = move.rows();; height *= 2) {
        // Of further axes as few cells as slices are enough for.
        for (int64_t cells = 1; cells <= 2 * outer; cells *= 2) {
          Plan plan;
          plan.loop = loop;
          plan.from = getCut(move.from, std::min(width, columns));
          plan.to = getCut(move.to, std::min(height, rows));
          plan.others = shareCells(move.others, axes, std::min(cells, outer),
                                   /*granule=*/1, loop);
          // What is repeated stands in slices alone.
          for (Cut &cut : plan.others)
            if (!move.isOfSource(cut.axis))
              cut.tile = cut.padded = 1;
          SmallVector<Cut *> cuts;
          for (Cut &cut : plan.others)
            cuts.push_back(&cut);
          cuts.push_back(&plan.from);
          cuts.push_back(&plan.to);
          auto place = spread(cuts, axes, grid);
          if (!place)
            continue;
          plan.place = *place;
          plan.staged =
              !isLoadable(move.source, getSourceCuts(move, plan), axes);
          if (2 * countCells(plan) * move.bits / 8 <=
              int64_t(machine::dmSliceBytes))
            plans.push_back(std::move(plan));
          break;
        }
        if (height >= rows)
          break;
      }
      if (width >= columns)
        break;
    }
  }
  return plans;
}

std::vector<Candidate> tmap::enumerateMove(MoveOp op, const Search &search) {
  const KernelAxes &axes = search.getAxes();
  MappedTensorType source = op.getSource().getType(), result = op.getType();
  std::vector<Candidate> candidates;
  Candidate copy;
  copy.placement = [context = op.getContext()] {
    return PlacementAttr::get(context, {}, {}, {}, {}, {}, {});
  };
  copy.bound = boundFixed();
  copy.emit = [result](Emitter &emitter, ValueRange operands) {
    return emitter.copy(operands.front(), emitter.hbmType(result));
  };
  candidates.push_back(std::move(copy));
  std::optional<Move> turn = getTurn(source, result);
  if (!turn)
    return candidates;
  auto move = std::make_shared<Move>(std::move(*turn));
  for (Plan &plan : enumeratePlans(*move, axes, search.getGrid())) {
    auto kept = std::make_shared<Plan>(std::move(plan));
    Candidate candidate;
    candidate.placement = [move, kept, &axes] {
      return getPlacement(*move, *kept, axes);
    };
    candidate.bound = boundMove(*move, *kept, axes);
    candidate.emit = [move, kept](Emitter &emitter, ValueRange operands) {
      return emitMove(emitter, *move, *kept, operands.front());
    };
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

Value Emitter::turn(Value source, Type type) {
  // What a loop sees is a part of an axis.
  if (source.getDefiningOp<visa::TileOp>())
    return {};
  auto getTensor = [](Type type) {
    auto hbm = mlir::cast<visa::HbmType>(type);
    return MappedTensorType::get(type.getContext(), hbm.getElementType(),
                                 hbm.getElement());
  };
  std::optional<Move> move =
      getTurn(getTensor(source.getType()), getTensor(type));
  if (!move || llvm::any_of(getAxesInOrder(move->result), [&](int axis) {
        return !move->isOfSource(axis) ||
               axis >= int(axes.declared().getAxes().list().size()) ||
               axes.isGrown(axis);
      }))
    return {};
  Operation *parent = builder.getInsertionBlock()->getParentOp();
  // A copy goes by elements.
  int64_t bestBound =
      boundStore(llvm::divideCeil(countWhole(*move, axes) * move->bits, 8),
                 llvm::divideCeil(move->bits, 8));
  std::optional<Plan> best;
  for (Plan &plan :
       enumeratePlans(*move, axes, Grid::get(visa::getTarget(parent)))) {
    int64_t bound = boundMove(*move, plan, axes);
    if (plan.loop.count > 1 || plan.staged || bound >= bestBound)
      continue;
    bestBound = bound;
    best = std::move(plan);
  }
  if (!best)
    return {};
  return visa::ToHbmOp::create(builder, loc, type,
                               emitTile(*this, *move, *best, source));
}
