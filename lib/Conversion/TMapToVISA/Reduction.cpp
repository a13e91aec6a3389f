//===- Reduction.cpp - A fold along an axis as a chain --------------------===//
//
// A slice holds whole rows of the folded axis, innermost and filled up to
// flits; the engine leaves the padding out. Its results are a word each.
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
  Type type;
  MappedTensorType result;
};

/// One way to fold: rows in a slice.
struct Plan {
  SmallVector<Cut> cuts;
  Cut folded;
  bool staged = false;
  Place place;
};
} // namespace

static TermList getRowTerms(const Plan &plan, const KernelAxes &axes) {
  TermList terms;
  for (const Cut &cut : plan.cuts)
    terms.push_back(cut.inner(axes));
  return terms;
}

static Value emitReduction(const Problem &problem, const Plan &plan,
                           const KernelAxes &axes, Emitter &emitter,
                           Value source) {
  TermList rows = getRowTerms(plan, axes);
  const Cut &folded = plan.folded;
  DmLayout layout;
  layout.elementType = problem.type;
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
  auto steps = [&](int64_t cells) {
    return joinTerms(
        concat({rows, {folded.digit(axes, cells, folded.tile / cells)}}));
  };
  // Two elements of 32 bits are a word.
  TermList element = concat({rows, {"1 # 2"}});
  Type result = emitter.dmType(problem.type, plan.place, joinTerms(element));
  OpBuilder &b = emitter.builder;
  Location loc = emitter.loc;
  Value stored = emitter.chain(visa::Context::Main, result, [&] {
    std::string flit = folded.digit(axes, 1, flitCells);
    emitter.fetch(loaded, steps(flitCells), flit);
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
    emitter.commit("1 # 2", joinTerms(element));
  });
  return emitter.store(stored, problem.result);
}

std::vector<Candidate> tmap::enumerateReduction(ReduceOp op,
                                                const Search &search) {
  const KernelAxes &axes = search.getAxes();
  auto problem = std::make_shared<Problem>();
  problem->fn = op.getFn().str();
  problem->axis = findAxes(axes.declared(), op.getOver()).front();
  problem->name = axes.name(problem->axis);
  problem->result = op.getType();
  problem->type = op.getType().getElementType();
  MappedTensorType source = op.getSource().getType();
  SmallVector<int> order = getAxesInOrder(op.getType());
  int64_t whole = 1;
  for (int axis : order)
    whole *= axes.size(axis);
  int64_t length = llvm::alignTo(axes.size(problem->axis), flitCells);
  int64_t bytes = wireBits(*getElementType(problem->type)) / 8;
  std::vector<Candidate> candidates;
  for (int64_t rows = 1;; rows *= 2) {
    auto plan = std::make_shared<Plan>();
    SmallVector<int64_t> tiles = shareTiles(order, axes, std::min(rows, whole));
    for (auto [axis, tile] : llvm::zip_equal(order, tiles))
      plan->cuts.push_back({axis, tile, tile});
    SmallVector<Cut *> cuts;
    for (Cut &cut : plan->cuts)
      cuts.push_back(&cut);
    if (auto place = spread(cuts, axes, search.getGrid())) {
      plan->place = *place;
      plan->folded = {problem->axis, length, length};
      SmallVector<Cut> held(plan->cuts);
      held.push_back(plan->folded);
      plan->staged = !isLoadable(source, held, axes);
      int64_t inSlice = 1;
      for (const Cut &cut : plan->cuts)
        inSlice *= std::min(cut.tile, axes.size(cut.axis));
      Candidate candidate;
      MLIRContext *context = op.getContext();
      auto text = [&](StringRef value) {
        return StringAttr::get(context, value);
      };
      TermList terms = getRowTerms(*plan, axes);
      candidate.placement = PlacementAttr::get(
          context, text(place->cluster), text(place->slice), StringAttr(),
          text(joinTerms(
              concat({terms,
                      {plan->folded.digit(axes, flitCells / 2,
                                          length / (flitCells / 2))}}))),
          text(plan->folded.digit(axes, 1, flitCells / 2)), StringAttr());
      // Results lie a word apart: each is a run of its own.
      candidate.bound =
          boundFixed() +
          boundLoad({inSlice * axes.size(problem->axis) * bytes, *place}) +
          inSlice * length / (flitCells / 2) + boundStore(whole * bytes, bytes);
      candidate.emit = [problem, plan, &axes](Emitter &emitter,
                                              ValueRange operands) {
        return emitReduction(*problem, *plan, axes, emitter, operands.front());
      };
      candidates.push_back(std::move(candidate));
    }
    if (rows >= whole)
      break;
  }
  return candidates;
}
