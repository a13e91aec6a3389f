//===- Contraction.cpp - A contraction as chains --------------------------===//
//
// One operand is the weight: its free axes fill the lanes of the register file,
// eight columns at a time, and groups of columns take turns on each packet of
// the other operand, the stream. A slice holds a tile of the stream's rows and
// a tile of the weight's columns, and all that is summed; what does not fit in
// the register file at once is loaded pass by pass.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "furiosa/Dialect/Utils/ElementTypes.h"
#include "furiosa/Target/RNGD/Machine.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::tmap;
namespace machine = furiosa::rngd::machine;

static int64_t getFlit(ElementType type) { return 256 / wireBits(type); }

int64_t tmap::getGrownSize(ContractOp op, int64_t size, bool last) {
  ElementType type = *getElementType(op.getLhs().getType().getElementType());
  // One flit is enough where all fits in it: the other half of the tree is 0.
  int64_t granule = size <= getFlit(type) ? getFlit(type) : getPacketSize(type);
  return last ? llvm::divideCeil(size, granule) * granule : size;
}

bool tmap::canNarrow(ContractOp op, CastOp cast) {
  ElementType from = *getElementType(op.getType().getElementType());
  ElementType to = *getElementType(cast.getType().getElementType());
  // The cast engine narrows; eight lanes of four bits are no word of memory.
  return wireBits(to) < wireBits(from) && wireBits(to) >= 8 &&
         isFloat(from) == isFloat(to);
}

namespace {

/// What a contraction is, apart from where it runs.
struct Problem {
  SmallVector<int> batch, over;
  /// Free axes of either operand, in the order of the result.
  SmallVector<int> free[2];
  /// Axes of the result, outermost first.
  SmallVector<int> order;
  ElementType type;
  Type elementType, sumType, resultType;
  MappedTensorType result;
};

/// One way to run it.
struct Plan {
  /// Which operand is the stream: 0 or 1.
  int stream = 0;
  SmallVector<Cut> batch, rows, columns;
  /// Groups of lanes in the register file at a time, and how often it is
  /// loaded.
  int64_t groups = 1, passes = 1;
  /// Operands that go through a copy in HBM.
  bool staged[2] = {false, false};
  Place place;
  int64_t bound = 0;

  bool hasColumns() const { return !columns.empty(); }
};

/// Writes the chains of one plan.
class Contraction {
public:
  Contraction(const Problem &problem, const Plan &plan, const KernelAxes &axes)
      : problem(problem), plan(plan), axes(axes) {
    flit = getFlit(problem.type);
    last = problem.over.back();
    packet = std::min(getPacketSize(problem.type), axes.fullSize(last));
    for (int axis : ArrayRef(problem.over).drop_back())
      outerSums.push_back(axes.fullSize(axis) == 1 ? "" : axes.name(axis));
    lastSum = axes.name(last);
    for (const Cut &cut : plan.batch)
      batch.push_back(cut.inner(axes));
    for (const Cut &cut : plan.rows)
      rows.push_back(cut.inner(axes));
    for (const Cut &cut : ArrayRef(plan.columns))
      columns.push_back(cut.inner(axes));
    if (plan.hasColumns()) {
      const Cut &inner = plan.columns.back();
      outerColumns = TermList(columns.begin(), columns.end() - 1);
      lane = inner.digit(axes, 1, lanes());
      pass = inner.digit(axes, plan.groups * lanes(), plan.passes);
      group = inner.digit(axes, lanes(), plan.groups);
    }
  }

  PlacementAttr getPlacement(MLIRContext *context) const {
    auto text = [&](StringRef value) {
      return StringAttr::get(context, value);
    };
    return PlacementAttr::get(context, text(plan.place.cluster),
                              text(plan.place.slice), text(joinTerms(lane)),
                              text(outerTime()), text(piece(packet)),
                              text(plan.stream == 0 ? "lhs" : "rhs"));
  }

  Value emit(Emitter &emitter, ValueRange operands) const;

private:
  static constexpr int64_t lanes() { return machine::lanes; }
  /// `K / n`, empty for one; `K % n`.
  std::string sumSteps(int64_t n) const {
    int64_t size = axes.fullSize(last);
    return n == size ? "" : lastSum + " / " + std::to_string(n);
  }
  std::string piece(int64_t n) const {
    return n == axes.fullSize(last) ? lastSum
                                    : lastSum + " % " + std::to_string(n);
  }
  /// Groups stand innermost: a packet is sent to all of them.
  TermList groupTerms() const { return concat({outerColumns, {group}}); }
  std::string outerTime() const {
    return joinTerms(
        concat({batch, rows, outerSums, {sumSteps(packet)}, groupTerms()}));
  }
  DmLayout layout(int operand) const;
  /// Columns of the whole slice with the passes outermost in the last axis.
  Value loadWeight(Emitter &emitter, Value source) const;
  TermList resultTerms(ArrayRef<std::string> lastTerms) const;

  const Problem &problem;
  const Plan &plan;
  const KernelAxes &axes;
  int64_t flit, packet;
  int last;
  std::string lastSum;
  TermList batch, rows, columns, outerColumns, outerSums;
  std::string lane, pass, group;
};

} // namespace

DmLayout Contraction::layout(int operand) const {
  DmLayout layout;
  layout.elementType = problem.elementType;
  layout.place = plan.place;
  layout.element = concat(
      {batch, operand == plan.stream ? rows : columns, outerSums, {lastSum}});
  for (int axis : problem.over)
    if (axes.isGrown(axis))
      layout.filled.push_back(axis);
  return layout;
}

/// The order in which a staged operand lies in HBM.
static TermList getStagedOrder(const Problem &problem, int operand,
                               const KernelAxes &axes) {
  TermList terms;
  for (int axis : problem.batch)
    terms.push_back(axes.live(axis));
  for (int axis : problem.free[operand])
    terms.push_back(axes.live(axis));
  for (int axis : problem.over)
    terms.push_back(axes.name(axis));
  return terms;
}

/// The result in a slice: the order of the result, but the axis of the lanes
/// innermost, since they are written together.
TermList Contraction::resultTerms(ArrayRef<std::string> lastTerms) const {
  TermList terms;
  for (int axis : problem.order)
    for (const SmallVector<Cut> *cuts :
         {&plan.batch, &plan.rows, &plan.columns})
      for (const Cut &cut : *cuts)
        if (cut.axis == axis &&
            (!plan.hasColumns() || axis != plan.columns.back().axis))
          terms.push_back(cut.inner(axes));
  terms.append(lastTerms.begin(), lastTerms.end());
  return terms;
}

Value Contraction::emit(Emitter &emitter, ValueRange operands) const {
  Value loaded[2];
  for (int operand : {0, 1})
    loaded[operand] =
        emitter.load(operands[operand], layout(operand),
                     plan.staged[operand]
                         ? std::optional(getStagedOrder(problem, operand, axes))
                         : std::nullopt);
  Value stream = loaded[plan.stream], weight = loaded[1 - plan.stream];

  // Fewer than eight lanes fill a word with padding.
  bool narrows = problem.resultType != problem.sumType;
  ElementType resultType = *getElementType(problem.resultType);
  int64_t word = 64 / wireBits(resultType);
  std::string trimmed =
      plan.hasColumns() ? lane : "1 # " + std::to_string(word);
  std::string folded = plan.hasColumns() ? lane : "1 # 8";

  TermList trfTerms = concat({batch, groupTerms(), outerSums, {lastSum}});
  Type trf = emitter.trfType(problem.elementType, plan.place, joinTerms(lane),
                             joinTerms(trfTerms));
  TermList kept = concat({batch, rows, groupTerms()});

  auto runPass = [&](Value weightTile, ArrayRef<std::string> resultElement,
                     Value into) {
    TermList loadTime = concat({{lane}, batch, groupTerms(), outerSums});
    Value registers = emitter.chain(visa::Context::Sub, trf, [&] {
      emitter.fetch(weightTile, joinTerms(loadTime), lastSum);
      emitter.collect(joinTerms(concat({loadTime, {sumSteps(flit)}})),
                      piece(flit));
      emitter.toTrf(joinTerms(lane), joinTerms(trfTerms));
    });
    Type resultDm = into ? into.getType()
                         : emitter.dmType(problem.resultType, plan.place,
                                          joinTerms(resultElement));
    return emitter.chain(visa::Context::Main, resultDm, [&] {
      TermList fetchTime = concat({batch, rows, outerSums});
      emitter.fetch(stream, joinTerms(fetchTime), lastSum);
      emitter.collect(joinTerms(concat({fetchTime, {sumSteps(flit)}})),
                      piece(flit));
      OpBuilder &b = emitter.builder;
      visa::ContractOuterOp::create(b, emitter.loc, registers, outerTime(),
                                    piece(packet));
      visa::ContractPacketOp::create(b, emitter.loc, "1");
      visa::ContractTimeOp::create(b, emitter.loc, joinTerms(kept));
      visa::ContractLaneOp::create(b, emitter.loc, visa::LaneMode::Interleaved,
                                   joinTerms(kept), folded);
      if (narrows)
        emitter.cast(problem.resultType,
                     (plan.hasColumns() ? lane : std::string("1")) + " # " +
                         std::to_string(getFlit(resultType)));
      emitter.commit(trimmed, joinTerms(resultElement), into);
    });
  };

  std::string whole =
      plan.hasColumns() ? plan.columns.back().inner(axes) : trimmed;
  TermList wholeResult = resultTerms({whole});
  if (plan.passes == 1) {
    Value result = runPass(weight, wholeResult, {});
    return emitter.store(result, problem.result);
  }
  // A window of the weight and of the result for each pass.
  const Cut &inner = plan.columns.back();
  std::string tile = inner.digit(axes, 1, plan.groups * lanes());
  auto window = [&](const char *pad) {
    return TermList{"1 " + std::string(pad) + " " + std::to_string(plan.passes),
                    tile};
  };
  Type resultDm =
      emitter.dmType(problem.resultType, plan.place, joinTerms(wholeResult));
  Value result = visa::AllocOp::create(emitter.builder, emitter.loc, resultDm);
  Type weightView = emitter.dmType(
      problem.elementType, plan.place,
      joinTerms(
          concat({batch, outerColumns, window("#"), outerSums, {lastSum}})));
  TermList viewTerms = resultTerms(window("#{!}"));
  Type resultView =
      emitter.dmType(problem.resultType, plan.place, joinTerms(viewTerms));
  emitter.forEach(plan.passes, [&](Value at) {
    Value weightTile = emitter.tile(weight, at, pass, weightView);
    Value into = emitter.tile(result, at, pass, resultView);
    runPass(weightTile, viewTerms, into);
  });
  return emitter.store(result, problem.result);
}

//===----------------------------------------------------------------------===//
// Enumeration
//===----------------------------------------------------------------------===//

static int64_t product(ArrayRef<int64_t> values) {
  int64_t result = 1;
  for (int64_t value : values)
    result = llvm::SaturatingMultiply<uint64_t>(result, value) >> 63
                 ? std::numeric_limits<int64_t>::max()
                 : result * value;
  return result;
}

static SmallVector<Cut> makeCuts(ArrayRef<int> order, ArrayRef<int64_t> tiles) {
  SmallVector<Cut> cuts;
  for (auto [axis, tile] : llvm::zip_equal(order, tiles))
    cuts.push_back({axis, tile, tile});
  return cuts;
}

/// Powers of two, and what takes the whole.
static SmallVector<int64_t> getTileSizes(int64_t from, int64_t whole) {
  SmallVector<int64_t> sizes;
  for (int64_t size = from; size < whole; size *= 2)
    sizes.push_back(size);
  sizes.push_back(std::max(from, whole));
  return sizes;
}

/// Groups in the register file at a time: as many as fit, a divisor of all.
static bool choosePasses(Plan &plan, const Problem &problem,
                         const KernelAxes &axes, int64_t sumBytes) {
  if (!plan.hasColumns())
    return sumBytes * product(llvm::map_to_vector(
                          plan.batch, [](const Cut &c) { return c.tile; })) <=
           int64_t(machine::trfLaneBytes) * int64_t(machine::lanes);
  int64_t all = plan.columns.back().tile / machine::lanes;
  int64_t others = 1, batches = 1;
  for (const Cut &cut : ArrayRef(plan.columns).drop_back())
    others *= cut.tile;
  for (const Cut &cut : plan.batch)
    batches *= cut.tile;
  int64_t fits = std::min<int64_t>(
      machine::trfLaneBytes / std::max<int64_t>(1, sumBytes * others * batches),
      machine::accumulatorCells / machine::lanes / others);
  // The half of the file leaves room for the next pass.
  if (fits < all && fits > 1)
    fits /= 2;
  plan.groups = std::min(all, fits);
  while (plan.groups > 1 && all % plan.groups != 0)
    --plan.groups;
  if (plan.groups < 1)
    return false;
  plan.passes = all / plan.groups;
  return true;
}

static int64_t boundPlan(const Plan &plan, const Problem &problem,
                         const KernelAxes &axes, int64_t sums) {
  ArrayRef<Cut> lists[] = {plan.batch, plan.rows, plan.columns};
  int64_t tiles[3] = {1, 1, 1};
  for (auto [cells, cuts] : llvm::zip_equal(tiles, lists))
    for (const Cut &cut : cuts)
      cells *= cut.tile;
  int64_t bits = wireBits(problem.type);
  int64_t load = 0;
  for (int64_t cells : {tiles[1], tiles[2]})
    load += boundLoad({tiles[0] * cells * sums * bits / 8, plan.place});
  int64_t steps = llvm::divideCeil(sums, getPacketSize(problem.type));
  int64_t groups = llvm::divideCeil(tiles[2], int64_t(machine::lanes));
  int64_t flits = sums / getFlit(problem.type);
  int64_t main =
      tiles[0] * tiles[1] * std::max(steps * groups, flits * plan.passes);
  // The register file is filled eight bytes a cycle before the last pass.
  int64_t fill = tiles[0] * plan.groups * machine::lanes * sums * bits / 64;
  int64_t resultBits = wireBits(*getElementType(problem.resultType));
  int64_t cells = 1, run = 1;
  // Lanes stand innermost in a slice: only their axis makes runs in HBM.
  bool contiguous =
      !plan.hasColumns() || plan.columns.back().axis == problem.order.back();
  for (int axis : llvm::reverse(problem.order)) {
    cells *= axes.size(axis);
    for (ArrayRef<Cut> cuts : lists)
      for (const Cut &cut : cuts)
        if (cut.axis == axis && contiguous) {
          run *= std::min(cut.tile, axes.size(axis));
          contiguous = cut.tile >= axes.size(axis);
        }
  }
  return boundFixed() + load + fill + main +
         boundStore(cells * resultBits / 8,
                    std::max<int64_t>(1, run * resultBits / 8));
}

FailureOr<std::vector<Candidate>>
tmap::enumerateContraction(ContractOp op, CastOp cast, const Search &search) {
  const KernelAxes &axes = search.getAxes();
  auto problem = std::make_shared<Problem>();
  MappedTensorType types[2] = {op.getLhs().getType(), op.getRhs().getType()};
  problem->result = cast ? cast.getType() : op.getType();
  problem->elementType = types[0].getElementType();
  problem->type = *getElementType(problem->elementType);
  problem->sumType = op.getType().getElementType();
  problem->resultType = problem->result.getElementType();
  problem->over = findAxes(axes.declared(), op.getOver());
  problem->order = getAxesInOrder(problem->result);
  for (int axis : problem->order) {
    bool in[2];
    for (int side : {0, 1})
      in[side] = llvm::is_contained(getAxesInOrder(types[side]), axis);
    if (in[0] && in[1])
      problem->batch.push_back(axis);
    else
      problem->free[in[1]].push_back(axis);
  }
  int64_t sums = 1;
  for (int axis : problem->over)
    sums *= axes.fullSize(axis);
  int64_t sumBytes = sums * wireBits(problem->type) / 8;
  if (sumBytes > int64_t(machine::trfLaneBytes))
    return op.emitOpError()
           << "not yet supported: a sum over " << sums << " elements of "
           << problem->elementType << ", which are more than the "
           << machine::trfLaneBytes << " bytes that a lane holds";

  auto sizeOf = [&](ArrayRef<int> list, int64_t granule) {
    int64_t size = 1;
    for (auto [i, axis] : llvm::enumerate(list))
      size *= i + 1 == list.size()
                  ? llvm::divideCeil(axes.size(axis), granule) * granule
                  : axes.size(axis);
    return size;
  };
  Grid grid = search.getGrid();
  std::vector<Candidate> candidates;
  auto add = [&](const Plan &plan) {
    auto kept = std::make_shared<Plan>(plan);
    Candidate candidate;
    candidate.placement =
        Contraction(*problem, *kept, axes).getPlacement(op.getContext());
    candidate.bound = plan.bound;
    candidate.emit = [problem, kept, &axes](Emitter &emitter,
                                            ValueRange operands) {
      return Contraction(*problem, *kept, axes).emit(emitter, operands);
    };
    candidates.push_back(std::move(candidate));
  };
  for (int stream : {0, 1}) {
    ArrayRef<int> rowAxes = problem->free[stream];
    ArrayRef<int> columnAxes = problem->free[1 - stream];
    // A weight without columns leaves seven lanes idle.
    if (columnAxes.empty() && !rowAxes.empty())
      continue;
    for (int64_t columns : getTileSizes(columnAxes.empty() ? 1 : machine::lanes,
                                        sizeOf(columnAxes, machine::lanes)))
      for (int64_t rows : getTileSizes(1, sizeOf(rowAxes, 1)))
        for (int64_t batches : getTileSizes(1, sizeOf(problem->batch, 1))) {
          Plan plan;
          plan.stream = stream;
          plan.rows = makeCuts(rowAxes, shareTiles(rowAxes, axes, rows));
          plan.columns =
              makeCuts(columnAxes,
                       shareTiles(columnAxes, axes, columns, machine::lanes));
          plan.batch = makeCuts(problem->batch,
                                shareTiles(problem->batch, axes, batches));
          SmallVector<Cut *> cuts;
          for (SmallVector<Cut> *list :
               {&plan.batch, &plan.rows, &plan.columns})
            for (Cut &cut : *list)
              cuts.push_back(&cut);
          auto place = spread(cuts, axes, grid);
          if (!place || !choosePasses(plan, *problem, axes, sumBytes))
            continue;
          plan.place = *place;
          for (int operand : {0, 1}) {
            SmallVector<Cut> held(plan.batch);
            llvm::append_range(held,
                               operand == stream ? plan.rows : plan.columns);
            for (int axis : problem->over)
              held.push_back({axis, axes.size(axis), axes.size(axis)});
            plan.staged[operand] = !isLoadable(types[operand], held, axes);
          }
          plan.bound = boundPlan(plan, *problem, axes, sums);
          add(plan);
        }
  }
  return candidates;
}
