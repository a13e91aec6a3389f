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

bool tmap::canNarrow(Operation *op, CastOp narrow) {
  Type result = op->getResult(0).getType();
  ElementType from =
      *getElementType(cast<MappedTensorType>(result).getElementType());
  ElementType to = *getElementType(narrow.getType().getElementType());
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
  /// Steps over rows in HBM, and inside of them over columns.
  AxisLoop rowLoop, columnLoop;
  /// Slices that share the rows of the stream: each holds a part of them in
  /// data memory, and the switch gives them to all.
  int64_t ring = 1;
  /// Neighbours that exchange their columns for rows before they are stored, so
  /// that runs in HBM are longer.
  int64_t exchange = 1;
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
    // Of the rows that the switch brings, those of one slice come first.
    fetchedRows = timeRows = rows;
    if (plan.ring > 1) {
      const Cut &cut = plan.rows.back();
      fetchedRows.back() = cut.digit(axes, 1, cut.tile / plan.ring);
      ringRows = cut.digit(axes, cut.tile / plan.ring, plan.ring);
      timeRows.back() = fetchedRows.back();
      timeRows.push_back(ringRows);
    }
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
  Value emitTile(Emitter &emitter, Value stream, Value weight) const;
  Value emitExchange(Emitter &emitter, Value tile) const;
  /// The slices in which the stream lies before the switch.
  std::string streamSlice() const;
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
        concat({batch, timeRows, outerSums, {sumSteps(packet)}, groupTerms()}));
  }
  DmLayout layout(int operand) const;
  TermList resultTerms(ArrayRef<std::string> lastTerms) const;

  const Problem &problem;
  const Plan &plan;
  const KernelAxes &axes;
  int64_t flit, packet;
  int last;
  std::string lastSum;
  TermList batch, rows, columns, outerColumns, outerSums;
  /// Rows that a slice fetches, and in the order in which they are worked on.
  TermList fetchedRows, timeRows;
  std::string lane, pass, group, ringRows;
};

} // namespace

DmLayout Contraction::layout(int operand) const {
  DmLayout layout;
  layout.elementType = problem.elementType;
  layout.place = plan.place;
  if (operand == plan.stream && plan.ring > 1)
    layout.place.slice = streamSlice();
  layout.element = concat({batch,
                           operand == plan.stream ? fetchedRows : columns,
                           outerSums,
                           {lastSum}});
  for (int axis : problem.over)
    if (axes.isGrown(axis))
      layout.filled.push_back(axis);
  return layout;
}

std::string Contraction::streamSlice() const {
  TermList terms;
  for (ArrayRef<Cut> cuts : {ArrayRef(plan.batch), ArrayRef(plan.rows)})
    for (const Cut &cut : cuts)
      terms.push_back(cut.slices(axes));
  terms.push_back(ringRows);
  return joinTerms(terms);
}

/// Slices, rows and columns before: […, J / t % n], I % r, J % t. Behind it
/// each slice has a part of the rows of its neighbours.
Value Contraction::emitExchange(Emitter &emitter, Value tile) const {
  const Cut &row = plan.rows.back(), &column = plan.columns.back();
  int64_t count = plan.exchange, kept = row.tile / count;
  TermList slice, time = batch;
  for (ArrayRef<Cut> cuts : {ArrayRef(plan.batch), ArrayRef(plan.rows),
                             ArrayRef(plan.columns).drop_back()})
    for (const Cut &cut : cuts)
      slice.push_back(cut.slices(axes));
  slice.push_back(
      column.digit(axes, column.tile * count, column.sliceUnits / count));
  slice.push_back(row.digit(axes, kept, count));
  time.append(rows.begin(), rows.end() - 1);
  time.append(outerColumns);
  TermList exchanged = time;
  std::string keptRows = row.digit(axes, 1, kept);
  std::string others = column.digit(axes, column.tile, count);
  exchanged.append({keptRows, others});
  time.append({row.digit(axes, kept, count), keptRows});

  // The order of the result, wider by the columns of the neighbours.
  TermList element;
  for (int axis : problem.order)
    for (ArrayRef<Cut> cuts : {ArrayRef(plan.batch), ArrayRef(plan.rows),
                               ArrayRef(plan.columns).drop_back()})
      for (const Cut &cut : cuts)
        if (cut.axis == axis)
          element.push_back(&cut == &row ? keptRows : cut.inner(axes));
  element.push_back(column.digit(axes, 1, column.tile * count));
  Place place = plan.place;
  place.slice = joinTerms(slice);
  Type type = emitter.dmType(problem.resultType, place, joinTerms(element));
  // A packet of the switch is the columns of a slice.
  int64_t cells = getFlit(*getElementType(problem.resultType));
  std::string columnsHeld = column.inner(axes);
  TermList collected = exchanged;
  std::string flitText = columnsHeld;
  if (column.tile > cells) {
    collected.push_back(column.digit(axes, cells, column.tile / cells));
    flitText = column.digit(axes, 1, cells);
  } else if (column.tile < cells) {
    flitText += " # " + std::to_string(cells);
  }
  return emitter.chain(visa::Context::Main, type, [&] {
    emitter.fetch(tile, joinTerms(time), columnsHeld);
    emitter.exchange(visa::SwitchConfig::InterTranspose, {count, 1, kept},
                     place.slice, joinTerms(exchanged));
    emitter.collect(joinTerms(collected), flitText);
    emitter.commit(column.tile < cells ? columnsHeld : flitText,
                   joinTerms(element));
  });
}

/// The order in which a staged operand lies in HBM.
static TermList getStagedOrder(const Problem &problem, int operand,
                               const KernelAxes &axes, const Plan &plan) {
  TermList terms;
  for (ArrayRef<Cut> cuts :
       {ArrayRef(plan.batch),
        ArrayRef(operand == plan.stream ? plan.rows : plan.columns)})
    for (const Cut &cut : cuts)
      terms.push_back(cut.whole(axes));
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
  auto load = [&](int operand, Value source) {
    return emitter.load(
        source, layout(operand),
        plan.staged[operand]
            ? std::optional(getStagedOrder(problem, operand, axes, plan))
            : std::nullopt);
  };
  int weight = 1 - plan.stream;
  if (plan.rowLoop.count == 1 && plan.columnLoop.count == 1) {
    Value loaded[2] = {load(0, operands[0]), load(1, operands[1])};
    return emitter.store(emitTile(emitter, loaded[plan.stream], loaded[weight]),
                         problem.result);
  }
  Value result = visa::AllocOp::create(emitter.builder, emitter.loc,
                                       emitter.hbmType(problem.result));
  emitter.forEach(plan.rowLoop.count, [&](Value row) {
    Value stream =
        load(plan.stream, emitter.step(operands[plan.stream], plan.rowLoop, row,
                                       mapping::Pad::Top));
    Value rows = emitter.step(result, plan.rowLoop, row, mapping::Pad::Bottom);
    emitter.forEach(plan.columnLoop.count, [&](Value column) {
      Value loaded =
          load(weight, emitter.step(operands[weight], plan.columnLoop, column,
                                    mapping::Pad::Top));
      Value tile = emitTile(emitter, stream, loaded);
      visa::CopyOp::create(
          emitter.builder, emitter.loc, tile,
          emitter.step(rows, plan.columnLoop, column, mapping::Pad::Bottom));
    });
  });
  return result;
}

/// The chains on what a step of the loops has brought into data memory.
Value Contraction::emitTile(Emitter &emitter, Value stream,
                            Value weight) const {
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
  TermList kept = concat({batch, timeRows, groupTerms()});

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
      TermList fetchTime = concat({batch, fetchedRows, outerSums});
      emitter.fetch(stream, joinTerms(fetchTime), lastSum);
      if (plan.ring > 1) {
        fetchTime.push_back(ringRows);
        emitter.exchange(visa::SwitchConfig::Broadcast1, {plan.ring, 1},
                         plan.place.slice, joinTerms(fetchTime));
      }
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
    Value tile = runPass(weight, wholeResult, {});
    return plan.exchange > 1 ? emitExchange(emitter, tile) : tile;
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
  return plan.exchange > 1 ? emitExchange(emitter, result) : result;
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

/// Bytes of a slice's data memory.
static int64_t getSliceBytes(const Plan &plan, const Problem &problem,
                             int64_t sums) {
  int64_t batch = 1, rows = 1, columns = 1;
  for (const Cut &cut : plan.batch)
    batch *= cut.tile;
  for (const Cut &cut : plan.rows)
    rows *= cut.tile;
  for (const Cut &cut : plan.columns)
    columns *= cut.tile;
  int64_t resultBits = wireBits(*getElementType(problem.resultType));
  return batch *
         ((rows / plan.ring + columns) * sums * wireBits(problem.type) +
          rows * columns * resultBits) /
         8;
}

static int64_t boundPlan(const Plan &plan, const Problem &problem,
                         const KernelAxes &axes, int64_t sums) {
  ArrayRef<Cut> lists[] = {plan.batch, plan.rows, plan.columns};
  int64_t tiles[3] = {1, 1, 1};
  for (auto [cells, cuts] : llvm::zip_equal(tiles, lists))
    for (const Cut &cut : cuts)
      cells *= cut.tile;
  int64_t bits = wireBits(problem.type);
  int64_t rowSteps = plan.rowLoop.count, columnSteps = plan.columnLoop.count;
  int64_t load =
      rowSteps *
      (boundLoad(
           {tiles[0] * tiles[1] / plan.ring * sums * bits / 8, plan.place}) +
       columnSteps *
           boundLoad({tiles[0] * tiles[2] * sums * bits / 8, plan.place}));
  int64_t steps = llvm::divideCeil(sums, getPacketSize(problem.type));
  int64_t groups = llvm::divideCeil(tiles[2], int64_t(machine::lanes));
  int64_t flits = sums / getFlit(problem.type);
  int64_t main = rowSteps * columnSteps * tiles[0] * tiles[1] *
                 std::max(steps * groups, flits * plan.passes);
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
          int64_t tile =
              cut.tile * (plan.hasColumns() && &cut == &plan.columns.back()
                              ? plan.exchange
                              : 1);
          run *= std::min(tile, cut.size);
          contiguous = tile >= axes.size(axis);
        }
  }
  if (plan.exchange > 1)
    main += rowSteps * columnSteps * tiles[0] * tiles[1] * plan.exchange;
  int64_t starts = rowSteps * (1 + 2 * columnSteps) - 2;
  return boundFixed() +
         std::max<int64_t>(0, starts) * int64_t(machine::dmaStartupCycles) +
         load + fill + main +
         boundStore(cells * resultBits / 8,
                    std::max<int64_t>(1, run * resultBits / 8));
}

/// A plan with and without help of the switch.
static std::vector<Plan> getVariants(const Plan &plan, const Problem &problem,
                                     const KernelAxes &axes, const Grid &grid) {
  std::vector<Plan> plans = {plan};
  if (plan.rows.empty() || plan.columns.empty() ||
      plan.place.usedSlices != grid.slices)
    return plans;
  auto isExact = [](const Cut &cut) { return cut.padded == cut.size; };
  if (!llvm::all_of(plan.rows, isExact) || !llvm::all_of(plan.columns, isExact))
    return plans;
  // All rows of a group are summed before the next come.
  bool sumsOneAxis =
      llvm::all_of(ArrayRef(problem.over).drop_back(),
                   [&](int axis) { return axes.fullSize(axis) == 1; });
  int64_t ring = 1;
  for (const Cut &cut : plan.columns)
    ring *= cut.sliceUnits;
  int64_t rows = plan.rows.back().tile;
  if (sumsOneAxis && ring > 1 && llvm::isPowerOf2_64(ring) &&
      rows % ring == 0) {
    plans.push_back(plan);
    plans.back().ring = ring;
  }
  // Neighbours until a run is a block of HBM.
  const Cut &column = plan.columns.back();
  int64_t bits = wireBits(*getElementType(problem.resultType));
  int64_t run = column.tile * bits / 8, count = 1;
  while (run * count < int64_t(machine::hbmAccessBytes) &&
         column.sliceUnits % (2 * count) == 0 && rows % (2 * count) == 0)
    count *= 2;
  if (count > 1 && column.axis == problem.order.back() &&
      grid.slices == int64_t(machine::slicesPerCluster) &&
      run % machine::accessWordBytes == 0)
    for (size_t i = plans.size(); i-- > 0;) {
      plans.push_back(plans[i]);
      plans.back().exchange = count;
    }
  return plans;
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
  int64_t products = 1;
  for (ArrayRef<int> list : {ArrayRef(problem->order), ArrayRef(problem->over)})
    for (int axis : list)
      products =
          llvm::SaturatingMultiply<uint64_t>(products, axes.size(axis)) >> 63
              ? std::numeric_limits<int64_t>::max()
              : products * axes.size(axis);
  int64_t productsPerCycle = grid.clusters * grid.slices * machine::lanes *
                             machine::macWindowBytes * 8 /
                             wireBits(problem->type);
  std::vector<Candidate> candidates;
  auto add = [&](const Plan &plan) {
    auto kept = std::make_shared<Plan>(plan);
    Candidate candidate;
    candidate.placement = [problem, kept, &axes, context = op.getContext()] {
      return Contraction(*problem, *kept, axes).getPlacement(context);
    };
    candidate.products = products;
    candidate.productsPerCycle = productsPerCycle;
    candidate.bound = plan.bound;
    candidate.emit = [problem, kept, &axes](Emitter &emitter,
                                            ValueRange operands) {
      return Contraction(*problem, *kept, axes).emit(emitter, operands);
    };
    candidates.push_back(std::move(candidate));
  };
  bool looped = false;
  for (int stream : {0, 1}) {
    ArrayRef<int> rowAxes = problem->free[stream];
    ArrayRef<int> columnAxes = problem->free[1 - stream];
    // A weight without columns leaves seven lanes idle.
    if (columnAxes.empty() && !rowAxes.empty())
      continue;
    auto sizes = [&](ArrayRef<int> list, int64_t granule) {
      return getTileSizes(list.empty() ? 1 : granule, sizeOf(list, granule));
    };
    // Loops over what is outermost: tensors beyond the memory of the slices.
    auto loops = [&](ArrayRef<int> list, int64_t granule) {
      return getLoops(list.empty() ? -1 : list.front(), axes,
                      list.size() == 1 ? granule : 1);
    };
    for (AxisLoop rowLoop : loops(rowAxes, 1))
      for (AxisLoop columnLoop : loops(columnAxes, machine::lanes)) {
        // Loops only where nothing fits without them.
        if (!candidates.empty() &&
            std::max(rowLoop.count, columnLoop.count) > 1 && !looped)
          continue;
        for (int64_t columns : sizes(columnAxes, machine::lanes))
          for (int64_t rows : sizes(rowAxes, 1))
            for (int64_t batches : sizes(problem->batch, 1)) {
              Plan plan;
              plan.stream = stream;
              plan.rowLoop = rowLoop;
              plan.columnLoop = columnLoop;
              plan.rows = shareCells(rowAxes, axes, rows, 1, rowLoop);
              plan.columns = shareCells(columnAxes, axes, columns,
                                        machine::lanes, columnLoop);
              plan.batch = shareCells(problem->batch, axes, batches);
              SmallVector<Cut *> cuts;
              for (SmallVector<Cut> *list :
                   {&plan.batch, &plan.rows, &plan.columns})
                for (Cut &cut : *list)
                  cuts.push_back(&cut);
              auto place = spread(cuts, axes, grid);
              if (!place || !choosePasses(plan, *problem, axes, sumBytes))
                continue;
              looped |= std::max(rowLoop.count, columnLoop.count) > 1;
              plan.place = *place;
              for (const Plan &variant :
                   getVariants(plan, *problem, axes, grid)) {
                Plan full = variant;
                for (int operand : {0, 1}) {
                  SmallVector<Cut> held(full.batch);
                  llvm::append_range(held, operand == stream ? full.rows
                                                             : full.columns);
                  if (operand == stream && full.ring > 1)
                    held.back().tile /= full.ring;
                  for (int axis : problem->over)
                    held.push_back({axis, axes.size(axis), axes.size(axis),
                                    axes.size(axis)});
                  full.staged[operand] =
                      !isLoadable(types[operand], held, axes);
                }
                if (getSliceBytes(full, *problem, sums) >
                    int64_t(machine::dmSliceBytes))
                  continue;
                full.bound = boundPlan(full, *problem, axes, sums);
                add(full);
              }
            }
      }
  }
  return candidates;
}
