//===- Reduction.cpp - A fold along an axis as a chain --------------------===//
//
// A slice holds whole rows of the folded axis, innermost and filled up to
// flits; the engine leaves the padding out. The transpose engine packs its
// results into words, and the switch brings them to one slice, so that runs in
// HBM are long.
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
constexpr int64_t flitCells = machine::flitBytes / 4;

struct Problem {
  std::string fn, name;
  int axis = -1;
  /// Of the source in memory, in the engine, and of the result in memory.
  Type sourceType, type, resultType;
  MappedTensorType result;

  int64_t resultBits() const { return wireBits(*getElementType(resultType)); }
  /// Results that fill a word of memory.
  int64_t wordCells() const { return 64 / resultBits(); }
};

/// One way to fold: rows in a slice.
struct Plan {
  SmallVector<Cut> cuts;
  Cut folded;
  bool staged = false;
  /// Results lie next to each other, not a word each.
  bool packed = false;
  /// Results of all slices are brought together.
  bool gathered = false;
  Place place;
};

/// Writes the chains of one plan.
class Reduction {
public:
  Reduction(const Problem &problem, const Plan &plan, const KernelAxes &axes)
      : problem(problem), plan(plan), axes(axes) {
    for (const Cut &cut : plan.cuts)
      rows.push_back(cut.inner(axes));
  }

  PlacementAttr getPlacement(MLIRContext *context) const {
    auto text = [&](StringRef value) {
      return StringAttr::get(context, value);
    };
    return PlacementAttr::get(
        context, text(plan.place.cluster), text(plan.place.slice), StringAttr(),
        text(steps(flitCells / 2)),
        text(plan.folded.digit(axes, 1, flitCells / 2)), StringAttr());
  }
  Value emit(Emitter &emitter, Value source) const;

private:
  /// Time over flits or halves of flits.
  std::string steps(int64_t cells) const {
    return joinTerms(concat(
        {rows, {plan.folded.digit(axes, cells, plan.folded.tile / cells)}}));
  }
  /// Rows with the last digit cut into steps of `cells`.
  TermList rowSteps(int64_t cells) const {
    TermList list(rows.begin(), rows.end() - 1);
    const Cut &last = plan.cuts.back();
    list.push_back(last.digit(axes, cells, last.tile / cells));
    return list;
  }
  Value emitGather(Emitter &emitter, Value results) const;

  const Problem &problem;
  const Plan &plan;
  const KernelAxes &axes;
  TermList rows;
};
} // namespace

Value Reduction::emit(Emitter &emitter, Value source) const {
  const Cut &folded = plan.folded;
  DmLayout layout;
  layout.elementType = problem.sourceType;
  layout.place = plan.place;
  layout.element = concat({rows, {folded.inner(axes)}});
  std::optional<TermList> order;
  if (plan.staged) {
    order.emplace();
    for (const Cut &cut : plan.cuts)
      order->push_back(axes.live(cut.axis));
    order->push_back(folded.inner(axes));
  }
  Value loaded = emitter.load(source, layout, order);
  int64_t word = problem.wordCells();
  std::string filled = "1 # " + std::to_string(word);
  TermList element = plan.packed ? rows : concat({rows, {filled}});
  Type result =
      emitter.dmType(problem.resultType, plan.place, joinTerms(element));
  OpBuilder &b = emitter.builder;
  Location loc = emitter.loc;
  Value stored = emitter.chain(visa::Context::Main, result, [&] {
    std::string flit = folded.digit(axes, 1, flitCells);
    emitter.fetch(loaded, steps(flitCells), flit);
    if (problem.sourceType != problem.type)
      emitter.fetchCast(problem.type);
    emitter.collect(steps(flitCells), flit);
    visa::VectorInitOp::create(b, loc);
    visa::VectorTagOp::create(b, loc, visa::TagMode::Zero, b.getArrayAttr({}));
    StringAttr half = b.getStringAttr(folded.digit(axes, 1, flitCells / 2));
    // A row that fills half a flit leaves nothing in the other.
    if (axes.size(folded.axis) <= flitCells / 2)
      visa::VectorNarrowOp::create(b, loc, visa::NarrowKind::Trim, StringAttr(),
                                   half);
    else
      visa::VectorNarrowOp::create(b, loc, visa::NarrowKind::Split,
                                   b.getStringAttr(steps(flitCells / 2)), half);
    visa::VectorReduceOp::create(b, loc, *visa::symbolizeVectorFn(problem.fn),
                                 problem.name, joinTerms(rows), "1 # 4");
    visa::VectorWidenOp::create(b, loc, visa::WidenKind::Pad, StringAttr(),
                                b.getStringAttr("1 # 8"));
    visa::VectorFinalOp::create(b, loc);
    std::string all = std::to_string(256 / problem.resultBits());
    if (problem.resultType != problem.type)
      emitter.cast(problem.resultType, "1 # " + all);
    if (!plan.packed)
      return emitter.commit(filled, joinTerms(element));
    std::string cells = plan.cuts.back().digit(axes, 1, word);
    visa::TransposeOp::create(b, loc, joinTerms(rowSteps(word)),
                              cells + " # " + all);
    emitter.commit(cells, joinTerms(element));
  });
  if (!plan.gathered)
    return emitter.store(stored, problem.result);
  Value all = emitter.store(emitGather(emitter, stored), problem.result);
  emitter.hold(all, stored);
  return all;
}

/// Every slice gets the results of all.
Value Reduction::emitGather(Emitter &emitter, Value results) const {
  const Cut &last = plan.cuts.back();
  int64_t flit = 256 / problem.resultBits(), cells = problem.wordCells();
  while (2 * cells <= flit && last.tile % (2 * cells) == 0)
    cells *= 2;
  TermList time = rowSteps(cells), element;
  std::string fetched = joinTerms(time);
  int64_t units = 1;
  for (const Cut &cut : plan.cuts) {
    time.push_back(cut.slices(axes));
    element.push_back(cut.digit(axes, 1, cut.sliceUnits * cut.tile));
    units *= cut.sliceUnits;
  }
  Place place = plan.place;
  place.slice = "1 # " + std::to_string(units * plan.place.gap);
  std::string packet = last.digit(axes, 1, cells);
  return emitter.chain(
      visa::Context::Main,
      emitter.dmType(problem.resultType, place, joinTerms(element)), [&] {
        emitter.fetch(results, fetched, packet);
        emitter.exchange(visa::SwitchConfig::Broadcast1,
                         {units, plan.place.gap}, place.slice, joinTerms(time));
        emitter.collect(joinTerms(time),
                        cells == flit ? packet
                                      : packet + " # " + std::to_string(flit));
        emitter.commit(packet, joinTerms(element));
      });
}

std::vector<Candidate> tmap::enumerateReduction(ReduceOp op, CastOp widen,
                                                CastOp narrow,
                                                const Search &search) {
  const KernelAxes &axes = search.getAxes();
  auto problem = std::make_shared<Problem>();
  MappedTensorType source =
      widen ? widen.getSource().getType() : op.getSource().getType();
  problem->fn = op.getFn().str();
  problem->axis = findAxes(axes.declared(), op.getOver()).front();
  problem->name = axes.name(problem->axis);
  problem->result = narrow ? narrow.getType() : op.getType();
  problem->sourceType = source.getElementType();
  problem->type = op.getType().getElementType();
  problem->resultType = problem->result.getElementType();
  SmallVector<int> order = getAxesInOrder(problem->result);
  int64_t whole = 1;
  for (int axis : order)
    whole *= axes.size(axis);
  int64_t length = llvm::alignTo(axes.size(problem->axis), flitCells);
  int64_t bytes = wireBits(*getElementType(problem->sourceType)) / 8;
  int64_t resultBytes = problem->resultBits() / 8;
  Grid grid = search.getGrid();
  std::vector<Candidate> candidates;
  auto add = [&](const Plan &chosen) {
    auto plan = std::make_shared<Plan>(chosen);
    int64_t inSlice = 1, inCluster = 1, tail = 1;
    for (const Cut &cut : plan->cuts) {
      inSlice *= std::min(cut.tile, axes.size(cut.axis));
      inCluster *= cut.sliceUnits * cut.tile;
    }
    if (!plan->cuts.empty())
      tail = plan->cuts.back().tile;
    // What is not packed is a run of its own.
    int64_t run = plan->gathered ? inCluster : plan->packed ? tail : 1;
    Candidate candidate;
    candidate.placement = [problem, plan, &axes, context = op.getContext()] {
      return Reduction(*problem, *plan, axes).getPlacement(context);
    };
    candidate.bound =
        boundFixed() +
        boundLoad({inSlice * axes.size(problem->axis) * bytes, plan->place}) +
        inSlice * length / (flitCells / 2) +
        boundStore(whole * resultBytes, run * resultBytes);
    candidate.emit = [problem, plan, &axes](Emitter &emitter,
                                            ValueRange operands) {
      return Reduction(*problem, *plan, axes).emit(emitter, operands.front());
    };
    candidates.push_back(std::move(candidate));
  };
  for (int64_t rows = 1;; rows *= 2) {
    Plan plan;
    plan.cuts = shareCells(order, axes, std::min(rows, whole));
    SmallVector<Cut *> cuts;
    for (Cut &cut : plan.cuts)
      cuts.push_back(&cut);
    if (auto place = spread(cuts, axes, grid)) {
      plan.place = *place;
      plan.folded = {problem->axis, axes.size(problem->axis), length, length};
      SmallVector<Cut> held(plan.cuts);
      held.push_back(plan.folded);
      plan.staged = !isLoadable(source, held, axes);
      plan.packed = !plan.cuts.empty() &&
                    plan.cuts.back().tile % problem->wordCells() == 0;
      add(plan);
      // The switch has rings of powers of two.
      plan.gathered = plan.packed && place->usedSlices > 1 &&
                      llvm::isPowerOf2_64(place->usedSlices) &&
                      place->usedSlices * place->gap == grid.slices &&
                      llvm::all_of(plan.cuts, [](const Cut &cut) {
                        return cut.padded == cut.size;
                      });
      if (plan.gathered)
        add(plan);
    }
    if (rows >= whole)
      break;
  }
  return candidates;
}
