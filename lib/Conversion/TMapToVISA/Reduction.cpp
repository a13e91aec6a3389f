//===- Reduction.cpp - A fold along an axis as a chain --------------------===//
//
// A slice holds whole rows of the folded axis, or parts of rows that are folded
// between neighbours, innermost and filled up to flits; the engine leaves the
// padding out. The transpose engine packs its
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
  /// Where parts lie apart, the switch brings their results together.
  PartsOrder order = PartsOrder::Together;
  /// Of the source and of the results.
  Place place, sums;

  bool joinsInSwitch() const {
    return folded.sliceUnits > 1 && order == PartsOrder::Apart;
  }
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
  void emitFold(Emitter &emitter, Value loaded) const;
  void emitJoin(Emitter &emitter, Value parts) const;
  /// The vector stages of a fold; `narrow` makes packets of four.
  void emitReduce(Emitter &emitter, function_ref<void()> narrow) const;
  Value emitGather(Emitter &emitter, Value results) const;
  /// Cells of a word of memory that the result of a part fills.
  static constexpr int64_t partCells = 2;

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
    order->push_back(folded.digit(axes, 1, folded.padded));
  }
  if (folded.isFilled)
    layout.filled.push_back(folded.axis);
  Value loaded = emitter.load(source, layout, order);
  if (plan.joinsInSwitch()) {
    std::string filled = "1 # " + std::to_string(partCells);
    std::string element = joinTerms(concat({rows, {filled}}));
    loaded = emitter.chain(
        visa::Context::Main, emitter.dmType(problem.type, plan.place, element),
        [&] {
          emitFold(emitter, loaded);
          visa::VectorFinalOp::create(emitter.builder, emitter.loc);
          emitter.commit(filled, element);
        });
  }
  int64_t word = problem.wordCells();
  std::string filled = "1 # " + std::to_string(word);
  TermList element = plan.packed ? rows : concat({rows, {filled}});
  Type result =
      emitter.dmType(problem.resultType, plan.sums, joinTerms(element));
  OpBuilder &b = emitter.builder;
  Location loc = emitter.loc;
  Value stored = emitter.chain(visa::Context::Main, result, [&] {
    if (plan.joinsInSwitch()) {
      emitJoin(emitter, loaded);
    } else {
      emitFold(emitter, loaded);
      if (folded.sliceUnits > 1)
        visa::VectorInterSliceReduceOp::create(
            b, loc, *visa::symbolizeVectorFn(problem.fn), plan.sums.slice,
            joinTerms(rows));
    }
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

/// The stages up to the results of what a slice holds.
void Reduction::emitFold(Emitter &emitter, Value loaded) const {
  OpBuilder &b = emitter.builder;
  const Cut &folded = plan.folded;
  std::string flit = folded.digit(axes, 1, flitCells);
  emitter.fetch(loaded, steps(flitCells), flit);
  if (problem.sourceType != problem.type)
    emitter.fetchCast(problem.type);
  emitter.collect(steps(flitCells), flit);
  emitReduce(emitter, [&] {
    StringAttr half = b.getStringAttr(folded.digit(axes, 1, flitCells / 2));
    // A row that fills half a flit leaves nothing in the other.
    if (axes.size(folded.axis) <= flitCells / 2)
      visa::VectorNarrowOp::create(b, emitter.loc, visa::NarrowKind::Trim,
                                   StringAttr(), half);
    else
      visa::VectorNarrowOp::create(b, emitter.loc, visa::NarrowKind::Split,
                                   b.getStringAttr(steps(flitCells / 2)), half);
  });
}

/// The stages up to the results of all parts, each of which takes a word.
void Reduction::emitJoin(Emitter &emitter, Value parts) const {
  OpBuilder &b = emitter.builder;
  emitter.fetch(parts, joinTerms(rows), "1 # " + std::to_string(partCells));
  std::string time = joinTerms(concat({rows, {plan.folded.slices(axes)}}));
  emitter.exchange(visa::SwitchConfig::Broadcast1,
                   {plan.folded.sliceUnits, plan.place.gap}, plan.sums.slice,
                   time);
  emitter.collect(time, "1 # 8");
  emitReduce(emitter, [&] {
    visa::VectorNarrowOp::create(b, emitter.loc, visa::NarrowKind::Trim,
                                 StringAttr(), b.getStringAttr("1 # 4"));
  });
}

void Reduction::emitReduce(Emitter &emitter,
                           function_ref<void()> narrow) const {
  OpBuilder &b = emitter.builder;
  Location loc = emitter.loc;
  visa::VectorInitOp::create(b, loc);
  visa::VectorTagOp::create(b, loc, visa::TagMode::Zero, b.getArrayAttr({}));
  narrow();
  visa::VectorReduceOp::create(b, loc, *visa::symbolizeVectorFn(problem.fn),
                               problem.name, joinTerms(rows), "1 # 4");
  visa::VectorWidenOp::create(b, loc, visa::WidenKind::Pad, StringAttr(),
                              b.getStringAttr("1 # 8"));
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
  Place place = plan.sums;
  place.slice = "1 # " + std::to_string(units * place.gap);
  std::string packet = last.digit(axes, 1, cells);
  return emitter.chain(
      visa::Context::Main,
      emitter.dmType(problem.resultType, place, joinTerms(element)), [&] {
        emitter.fetch(results, fetched, packet);
        emitter.exchange(visa::SwitchConfig::Broadcast1, {units, place.gap},
                         place.slice, joinTerms(time));
        emitter.collect(joinTerms(time),
                        cells == flit ? packet
                                      : packet + " # " + std::to_string(flit));
        emitter.commit(packet, joinTerms(element));
      });
}

/// The parts that slices may hold of a folded axis: those that the order asks
/// for, or any number where there is none.
static SmallVector<SumParts> getSlicedParts(const Problem &problem,
                                            const KernelAxes &axes,
                                            const Grid &grid) {
  int64_t size = axes.size(problem.axis);
  if (hasOrder(problem.fn))
    return {getSumParts(size)};
  SmallVector<SumParts> list;
  for (int64_t count = 1; count <= grid.slices; count *= 2) {
    int64_t length = llvm::alignTo(llvm::divideCeil(size, count), flitCells);
    // Rows that do not end with a flit are left out by one slice alone.
    if (count == 1 || (size % flitCells == 0 && length * (count - 1) < size))
      list.push_back({length, count});
  }
  return list;
}

/// The cells of an axis in visa that a fold of its `size` cells takes.
static int64_t getFilledSize(StringRef fn, int64_t size) {
  SumParts parts = getSumParts(size);
  return hasOrder(fn) && parts.count > 1 && size % flitCells != 0
             ? parts.length * parts.count
             : size;
}

void tmap::growSums(ReduceOp op, MutableArrayRef<int64_t> sizes) {
  AxesAttr axes = op.getType().getMapping().getAxes();
  int axis = findAxes(axes, op.getOver()).front();
  sizes[axis] = std::max(sizes[axis],
                         getFilledSize(op.getFn(), axes.getAxes()[axis].size));
}

FailureOr<std::vector<Candidate>>
tmap::enumerateReduction(ReduceOp op, CastOp widen, CastOp narrow,
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
  SmallVector<int> resultOrder = getAxesInOrder(problem->result);
  int64_t whole = 1;
  for (int axis : resultOrder)
    whole *= axes.size(axis);
  int64_t size = axes.size(problem->axis);
  int64_t bytes = wireBits(*getElementType(problem->sourceType)) / 8;
  int64_t resultBytes = problem->resultBits() / 8;
  Grid grid = search.getGrid();
  SmallVector<SumParts> choices = getSlicedParts(*problem, axes, grid);
  if (choices.front().count > grid.slices)
    return op.emitOpError()
           << "not yet supported: a sum over " << size << " elements, whose "
           << choices.front().count << " parts are more than the "
           << grid.slices
           << " slices of a cluster; split the axis by a tmap.reshape and fold "
              "its inner part first";
  bool isFilled = getFilledSize(problem->fn, size) != size;
  if (isFilled &&
      axes.fullSize(problem->axis) != getFilledSize(problem->fn, size))
    return op.emitOpError() << "not yet supported: a sum over " << size
                            << " elements, no multiple of " << flitCells
                            << ", along an axis that a contraction sums as "
                               "well; rename the axis "
                               "by a tmap.reshape";
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
    const Cut &folded = plan->folded;
    candidate.bound =
        boundFixed() +
        boundLoad(
            {inSlice * std::min(folded.tile, size) * bytes, plan->place}) +
        inSlice * folded.tile / (flitCells / 2) +
        (plan->joinsInSwitch() ? int64_t(machine::mainVectorOverheadCycles) +
                                     inSlice * folded.sliceUnits
                               : boundSliceReduce(folded.sliceUnits)) +
        boundStore(whole * resultBytes, run * resultBytes);
    candidate.isExtra = folded.sliceUnits > choices.front().count;
    candidate.emit = [problem, plan, &axes](Emitter &emitter,
                                            ValueRange operands) {
      return Reduction(*problem, *plan, axes).emit(emitter, operands.front());
    };
    candidates.push_back(std::move(candidate));
  };
  auto addRows = [&](int64_t rows, const SumParts &parts, PartsOrder order) {
    Plan plan;
    plan.order = order;
    plan.cuts = shareCells(resultOrder, axes, std::min(rows, whole));
    SmallVector<Cut *> cuts;
    for (Cut &cut : plan.cuts)
      cuts.push_back(&cut);
    plan.folded = {problem->axis, size, parts.length,
                   parts.length * parts.count};
    plan.folded.isFilled = isFilled;
    auto places = spreadSums(cuts, plan.folded, axes, grid, order);
    if (!places)
      return;
    plan.place = places->parts;
    plan.sums = places->sums;
    SmallVector<Cut> held(plan.cuts);
    held.push_back(plan.folded);
    plan.staged = isFilled || !isLoadable(source, held, axes);
    plan.packed =
        !plan.cuts.empty() && plan.cuts.back().tile % problem->wordCells() == 0;
    add(plan);
    // The switch has rings of powers of two.
    const Place &sums = plan.sums;
    plan.gathered = plan.packed && sums.usedSlices > 1 &&
                    llvm::isPowerOf2_64(sums.usedSlices) &&
                    sums.usedSlices * sums.gap == grid.slices &&
                    llvm::all_of(plan.cuts, [](const Cut &cut) {
                      return cut.padded == cut.size;
                    });
    if (plan.gathered)
      add(plan);
  };
  for (const SumParts &parts : choices)
    for (int64_t rows = 1;; rows *= 2) {
      addRows(rows, parts, PartsOrder::Together);
      if (parts.count > 1)
        addRows(rows, parts, PartsOrder::Apart);
      if (rows >= whole)
        break;
    }
  return candidates;
}
