//===- Contraction.cpp - A contraction as chains --------------------------===//
//
// One operand is the weight: its free axes fill the lanes of the register file,
// eight columns at a time, and groups of columns take turns on each packet of
// the other operand, the stream. A slice holds a tile of the stream's rows and
// a tile of the weight's columns, and all that is summed; what does not fit in
// the register file at once is loaded pass by pass.
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "Lowering.h"
#include "furiosa/Dialect/Utils/ElementTypes.h"
#include "furiosa/Target/RNGD/Machine.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::tmap;
using namespace furiosa::tmap::contraction;
namespace machine = furiosa::rngd::machine;

void tmap::growSums(ContractOp op, MutableArrayRef<int64_t> sizes) {
  ElementType type = *getElementType(op.getLhs().getType().getElementType());
  AxesAttr axes = op.getLhs().getType().getMapping().getAxes();
  SmallVector<int> over = findAxes(axes, op.getOver());
  SmallVector<SumParts> parts = getSumParts(op);
  // One flit is enough where all fits in it: the other half of the tree is 0.
  if (parts.back().count == 1 &&
      axes.getAxes()[over.back()].size <= getFlit(type))
    parts.back().length = getFlit(type);
  for (auto [axis, part] : llvm::zip_equal(over, parts))
    sizes[axis] = std::max(sizes[axis], part.length * part.count);
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
static bool choosePasses(Plan &plan, const Problem &problem) {
  int64_t sumBytes = plan.sumCells() * wireBits(problem.type) / 8;
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

/// Steps that are written one after the other at most.
constexpr int64_t maxOverlappingSteps = 16;

/// Whether the products of a step are more than what a step more costs.
static bool isWorthOverlap(const Plan &plan, const Problem &problem) {
  int64_t cells = 1;
  for (ArrayRef<Cut> cuts :
       {ArrayRef(plan.batch), ArrayRef(plan.rows), ArrayRef(plan.columns)})
    for (const Cut &cut : cuts)
      cells *= cut.tile;
  return cells / machine::lanes * plan.sumCells() /
             getPacketSize(problem.type) >=
         2 * (machine::dmaStartupCycles +
              machine::mainContractionOverheadCycles);
}

Plan contraction::getStep(const Plan &plan, int64_t rows) {
  Plan step = plan;
  step.steps.clear();
  Cut &row = step.rows.back();
  row.part = rows == row.tile ? 0 : rows;
  // Slices of the ring that get no row of their own share the sums.
  step.ringSums = plan.ring / std::min(plan.ring, rows & -rows);
  return step;
}

/// Cycles of a transfer of `bytes` in each slice, without its start: the slower
/// side hides half of the other one.
static int64_t getTransferCycles(int64_t bytes, const Grid &grid) {
  int64_t memory = llvm::divideCeil(bytes * int64_t(machine::slicesPerPE),
                                    int64_t(machine::dmaRequestBytes));
  int64_t accesses = llvm::divideCeil(bytes * grid.slices * grid.clusters,
                                      int64_t(machine::hbmAccessBytes));
  int64_t hbm = accesses * int64_t(machine::hbmAccessCyclesNumerator) /
                int64_t(machine::hbmAccessCyclesDenominator) /
                int64_t(machine::hbmChannels);
  return std::max(memory, hbm) + std::min(memory, hbm) / 2;
}

namespace {
/// Cycles of the parts of a contraction that runs in steps.
struct Pace {
  int64_t weightLoad, fill, refill;
  /// Of the products of a row, and of its exchange.
  int64_t work, exchange;
  /// Bytes of a row of the stream and of the result in each slice, times the
  /// slices that share them.
  int64_t rowBytes, resultBytes, ring;
  /// Bytes of the weight in each slice.
  int64_t weightBytes;
  Grid grid;

  int64_t load(int64_t rows) const {
    return machine::dmaStartupCycles +
           getTransferCycles(llvm::divideCeil(rows * rowBytes, ring), grid);
  }
  int64_t store(int64_t rows) const {
    return machine::dmaStartupCycles +
           getTransferCycles(rows * resultBytes, grid);
  }
  int64_t products(int64_t rows) const {
    return std::max(
        rows * work + int64_t(machine::mainContractionOverheadCycles), refill);
  }
  int64_t exchanged(int64_t rows) const {
    return exchange == 0
               ? 0
               : rows * exchange + int64_t(machine::subLoadOverheadCycles);
  }
  /// Whether a slice holds the weight and two steps of `rows`, one that is
  /// worked on and one that comes or goes.
  bool fits(int64_t rows) const {
    int64_t step = llvm::divideCeil(rows * rowBytes, ring) +
                   rows * resultBytes * (exchange == 0 ? 1 : 2);
    return weightBytes + 2 * step <= int64_t(machine::dmSliceBytes);
  }
};
} // namespace

static Pace getPace(const Plan &plan, const Problem &problem,
                    const Grid &grid) {
  int64_t sums = plan.sumCells();
  int64_t batches = 1, columns = 1;
  for (const Cut &cut : plan.batch)
    batches *= cut.tile;
  for (const Cut &cut : plan.columns)
    columns *= cut.tile;
  int64_t bits = wireBits(problem.type);
  int64_t sumBytes = sums * bits / 8;
  int64_t packets = llvm::divideCeil(sums, getPacketSize(problem.type));
  int64_t flits = sums / getFlit(problem.type);
  int64_t fill = batches * plan.groups * machine::lanes * sumBytes;
  Pace pace;
  pace.grid = grid;
  pace.ring = plan.ring;
  pace.rowBytes = batches * sumBytes;
  pace.resultBytes =
      batches * columns * wireBits(*getElementType(problem.resultType)) / 8;
  pace.weightBytes = batches * columns * sumBytes;
  pace.weightLoad =
      machine::dmaStartupCycles + getTransferCycles(pace.weightBytes, grid);
  pace.fill = machine::subLoadOverheadCycles + fill / machine::subFetchBytes;
  // A pass over columns fills the register file anew.
  pace.refill = plan.passes > 1 ? plan.passes * pace.fill : 0;
  pace.work = batches * std::max(packets * columns / int64_t(machine::lanes),
                                 flits * plan.passes);
  pace.exchange = plan.exchange == 1
                      ? 0
                      : batches * plan.exchange *
                            llvm::divideCeil(pace.resultBytes / batches,
                                             int64_t(machine::flitBytes));
  return pace;
}

/// The end of a plan in steps where loads go before stores: the multipliers
/// wait for the first of them, stores for the exchange of what they store.
static int64_t getEnd(ArrayRef<int64_t> steps, const Pace &pace) {
  int64_t loaded = machine::firstDMACycle + pace.weightLoad;
  int64_t multiplied = loaded + pace.fill, exchanged = multiplied;
  SmallVector<int64_t> ready;
  for (int64_t rows : steps) {
    loaded += pace.load(rows);
    multiplied = std::max(multiplied, loaded) + pace.products(rows);
    exchanged = std::max(multiplied, exchanged) + pace.exchanged(rows);
    ready.push_back(exchanged);
  }
  int64_t stored = loaded;
  for (auto [rows, time] : llvm::zip_equal(steps, ready))
    stored = std::max(stored, time) + pace.store(rows);
  return stored + int64_t(machine::endSyncCycles);
}

/// Steps over the rows of a slice that end first: each is loaded beside the
/// products of the one before, the first one beside the fill of the register
/// file. From the end on they grow by a factor, so that the last store is
/// short.
static void chooseSteps(Plan &plan, const Pace &pace) {
  int64_t rows = plan.rows.back().tile;
  // Runs in HBM are whole blocks, and rows are shared evenly.
  int64_t unit = std::max<int64_t>(
      {8, plan.exchange,
       int64_t(llvm::bit_ceil(llvm::divideCeil(
           uint64_t(plan.ring * machine::hbmAccessBytes), pace.rowBytes)))});
  if (rows % unit != 0)
    return;
  auto tryThese = [&](int64_t last, int64_t factor, int64_t most) {
    SmallVector<int64_t> front, back = {last};
    for (int64_t left = rows - last; left > 0;) {
      // At least as long as the one before it.
      int64_t next = front.empty() ? unit : front.back();
      int64_t hidden = front.empty() ? pace.fill : pace.products(front.back());
      while (next < std::min(left, most) && pace.load(next + unit) <= hidden)
        next += unit;
      int64_t before = std::min(back.back() * factor, most);
      int64_t length = std::min({next, before, left});
      (length == before && length < left ? back : front).push_back(length);
      left -= length;
      if (front.size() + back.size() > maxOverlappingSteps)
        return;
    }
    front.append(back.rbegin(), back.rend());
    int64_t end = getEnd(front, pace);
    if (plan.steps.empty() || end < plan.bound) {
      plan.steps = std::move(front);
      plan.bound = end;
    }
  };
  for (int64_t last = unit; 4 * last <= rows; last *= 2)
    for (int64_t most = last; most <= rows && pace.fits(most); most *= 2)
      for (int64_t factor : {2, 3, 4, 8})
        tryThese(last, factor, most);
}

/// Bytes of a slice's data memory.
static int64_t getSliceBytes(const Plan &plan, const Problem &problem) {
  int64_t batch = 1, rows = 1, columns = 1;
  for (const Cut &cut : plan.batch)
    batch *= cut.tile;
  for (const Cut &cut : plan.rows)
    rows *= cut.tile;
  for (const Cut &cut : plan.columns)
    columns *= cut.tile;
  int64_t resultBits = wireBits(*getElementType(problem.resultType));
  // What is turned lies there twice.
  int64_t held = rows / plan.ring * (plan.transposed[plan.stream] ? 2 : 1) +
                 columns * (plan.transposed[1 - plan.stream] ? 2 : 1);
  int64_t source = 0;
  if (plan.windows) {
    held -= rows;
    source = plan.windows->getSliceBytes();
  }
  return source + batch *
                      (held * plan.sumCells() * wireBits(problem.type) +
                       rows * columns * resultBits) /
                      8;
}

static int64_t boundPlan(const Plan &plan, const Problem &problem,
                         const KernelAxes &axes) {
  int64_t sums = plan.sumCells();
  ArrayRef<Cut> lists[] = {plan.batch, plan.rows, plan.columns};
  int64_t tiles[3] = {1, 1, 1};
  for (auto [cells, cuts] : llvm::zip_equal(tiles, lists))
    for (const Cut &cut : cuts)
      cells *= cut.tile;
  int64_t bits = wireBits(problem.type);
  int64_t rowSteps = plan.rowLoop.count, columnSteps = plan.columnLoop.count;
  // What is written step by step loads the weight once.
  int64_t weightLoads = plan.overlaps ? 1 : rowSteps * columnSteps;
  int64_t weightLoad =
      boundLoad({tiles[0] * tiles[2] * sums * bits / 8, plan.place});
  int64_t streamBytes = plan.windows
                            ? plan.windows->getSliceBytes()
                            : tiles[0] * tiles[1] / plan.ring * sums * bits / 8;
  int64_t load = rowSteps * boundLoad({streamBytes, plan.place}) +
                 weightLoads * weightLoad;
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
  if (plan.transposed[plan.stream])
    main += rowSteps * tiles[0] * tiles[1] / plan.ring * sums / 8;
  if (plan.transposed[1 - plan.stream])
    main += weightLoads * tiles[0] * tiles[2] * sums / 8;
  if (plan.exchange > 1 && !plan.overlaps)
    main += rowSteps * columnSteps * tiles[0] * tiles[1] * plan.exchange;
  int64_t tileSteps = rowSteps * columnSteps;
  if (plan.joinsInSwitch())
    main += tileSteps * (int64_t(machine::mainVectorOverheadCycles) +
                         tiles[0] * tiles[1] * groups * plan.partCount());
  else
    main += tileSteps * plan.passes * boundSliceReduce(plan.partCount());
  int64_t store = boundStore(cells * resultBits / 8,
                             std::max<int64_t>(1, run * resultBits / 8));
  if (plan.overlaps) {
    // Transfers run beside the work, but for that of the weight.
    int64_t transfers =
        2 * (rowSteps - 1) * machine::dmaStartupCycles + load + store;
    int64_t work = weightLoad + fill + main +
                   rowSteps * machine::mainContractionOverheadCycles;
    return boundFixed() + std::max(transfers, work);
  }
  int64_t starts = rowSteps * (1 + 2 * columnSteps) - 2;
  return boundFixed() +
         std::max<int64_t>(0, starts) * int64_t(machine::dmaStartupCycles) +
         load + fill + main + store;
}

/// Whether an operand can be turned in the slice: a last summed axis of whole
/// packets, whole batches of the transpose engine, whole words from HBM.
static bool canTranspose(const Plan &plan, const Problem &problem, int operand,
                         MappedTensorType type, const KernelAxes &axes) {
  bool isStream = operand == plan.stream;
  ArrayRef<Cut> cuts = isStream ? plan.rows : plan.columns;
  unsigned bits = wireBits(problem.type);
  if (cuts.empty() || bits < 8)
    return false;
  Cut turned = cuts.back();
  if (isStream)
    turned.tile /= plan.ring;
  if (llvm::any_of(problem.over,
                   [&](int axis) { return axes.isGrown(axis); }) ||
      turned.padded != turned.size ||
      turned.tile % rngd::transposeCells(bits) != 0 ||
      plan.sums.back().tile % (64 / bits) != 0)
    return false;
  SmallVector<int> order = getAxesInOrder(type);
  if (order.size() < 2 || order.back() != turned.axis)
    return false;
  SmallVector<Cut> held(plan.batch);
  llvm::append_range(held, cuts.drop_back());
  llvm::append_range(held, plan.sums);
  held.push_back(turned);
  return isLoadable(type, held, axes);
}

/// Whether a slice's vector register file holds the side operands: numbers for
/// columns, not for rows.
static bool canHoldSides(const Plan &plan, const Problem &problem) {
  if (!problem.hasSides())
    return true;
  if (!plan.hasColumns() || plan.passes > 1)
    return false;
  int64_t bytes = 0;
  for (const SideOperand &side : problem.pass->sides) {
    auto type = cast<MappedTensorType>(side.tensor.getType());
    SmallVector<int> held = getAxesInOrder(type);
    auto isHeld = [&](const Cut &cut) {
      return llvm::is_contained(held, cut.axis);
    };
    if (!isHeld(plan.columns.back()) || llvm::any_of(plan.rows, isHeld) ||
        wireBits(*getElementType(type.getElementType())) < 8)
      return false;
    int64_t cells = 1;
    for (ArrayRef<Cut> cuts : {ArrayRef(plan.batch), ArrayRef(plan.columns)})
      for (const Cut &cut : cuts)
        cells *= isHeld(cut) ? cut.tile : 1;
    bytes += 4 * cells;
  }
  return bytes <= int64_t(machine::vrfSliceBytes);
}

/// Neighbours that exchange columns for rows until a run is a block of HBM; 1
/// where they cannot.
static int64_t getExchange(const Plan &plan, const Problem &problem,
                           const Grid &grid) {
  const Cut &column = plan.columns.back();
  int64_t rows = plan.rows.back().tile;
  int64_t bits = wireBits(*getElementType(problem.resultType));
  int64_t run = column.tile * bits / 8, count = 1;
  if (column.axis != problem.order.back() ||
      grid.slices != int64_t(machine::slicesPerCluster) ||
      run % machine::accessWordBytes != 0)
    return 1;
  while (run * count < int64_t(machine::hbmAccessBytes) &&
         column.sliceUnits % (2 * count) == 0 && rows % (2 * count) == 0)
    count *= 2;
  return count;
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
  int64_t count = plan.partCount() == 1 ? getExchange(plan, problem, grid) : 1;
  if (count > 1)
    for (size_t i = plans.size(); i-- > 0;) {
      plans.push_back(plans[i]);
      plans.back().exchange = count;
    }
  return plans;
}

/// Deals columns to the networks of a PE in turn, so that both take part in the
/// load of the weight without another row of HBM for each packet.
static void turnColumns(Plan &plan, const KernelAxes &axes) {
  Cut &column = plan.columns.back();
  constexpr int64_t network = machine::slicesPerDMN;
  if (column.sliceUnits % (2 * network) != 0)
    return;
  column.near = std::max<int64_t>(plan.exchange, 8);
  TermList terms;
  for (ArrayRef<Cut> cuts :
       {ArrayRef(plan.batch), ArrayRef(plan.rows), ArrayRef(plan.columns)})
    for (const Cut &cut : cuts)
      terms.push_back(cut.slices(axes));
  plan.place.slice = plan.resultPlace.slice = joinTerms(terms);
}

/// The plan in steps, with the help of the switch; nothing where that is not
/// known or not worth it.
static std::optional<Plan> getStepped(const Plan &whole, const Problem &problem,
                                      const KernelAxes &axes,
                                      const Grid &grid) {
  if (whole.windows || whole.partCount() != 1 || whole.rows.size() != 1 ||
      whole.columns.empty() || whole.place.usedSlices != grid.slices ||
      whole.place.usedClusters != grid.clusters || problem.over.size() != 1 ||
      axes.isGrown(problem.over.front()))
    return std::nullopt;
  for (ArrayRef<Cut> cuts :
       {ArrayRef(whole.batch), ArrayRef(whole.rows), ArrayRef(whole.columns)})
    for (const Cut &cut : cuts)
      if (cut.padded != cut.size)
        return std::nullopt;
  Plan plan = whole;
  for (const Cut &cut : plan.columns)
    plan.ring *= cut.sliceUnits;
  if (!llvm::isPowerOf2_64(plan.ring))
    plan.ring = 1;
  plan.exchange = getExchange(plan, problem, grid);
  // Parts of blocks of HBM are written slowly.
  const Cut &column = plan.columns.back();
  int64_t resultBits = wireBits(*getElementType(problem.resultType));
  if (column.axis != problem.order.back() ||
      column.tile * plan.exchange * resultBits / 8 %
              int64_t(machine::hbmAccessBytes) !=
          0)
    return std::nullopt;
  turnColumns(plan, axes);
  plan.overlaps = plan.dealsRows = true;
  Pace pace = getPace(plan, problem, grid);
  chooseSteps(plan, pace);
  if (plan.steps.empty() ||
      pace.work * plan.rows.back().tile <
          8 * int64_t(machine::dmaStartupCycles +
                      machine::mainContractionOverheadCycles))
    return std::nullopt;
  plan.ringSums = getStep(plan, plan.rows.back().tile).ringSums;
  return plan;
}

namespace {
/// How slices hold the summed axes.
struct SumChoice {
  SmallVector<Cut> sums;
  PartsOrder order = PartsOrder::Together;
};
} // namespace

/// Ways to hold the summed axes in slices, whole ones first: sums of floats in
/// the parts that their order asks for, those of integers in as few and in
/// more.
static SmallVector<SumChoice>
getSumChoices(ContractOp op, const Problem &problem, const KernelAxes &axes) {
  SmallVector<SumChoice> choices;
  SmallVector<SumParts> parts = getSumParts(op);
  SmallVector<Cut> sums;
  bool isReal = isFloat(problem.type);
  for (auto [axis, part] : llvm::zip_equal(problem.over, parts)) {
    int64_t full = axes.fullSize(axis);
    // What another op makes longer has more zeros at its end.
    if (isReal && part.count > 1 && part.length * part.count != full)
      return {};
    Cut cut{axis, full, isReal && part.count > 1 ? part.length : full, full};
    cut.isFilled = true;
    sums.push_back(cut);
  }
  auto isLong = [&] {
    uint64_t cells = 1;
    for (const Cut &cut : sums)
      cells = llvm::SaturatingMultiply<uint64_t>(cells, cut.tile);
    return cells > uint64_t(machine::trfLaneBytes) * 8 / wireBits(problem.type);
  };
  if (!isLong())
    choices.push_back({sums});
  if (isReal) {
    // One axis of parts is what a reduction in a slice can add up.
    if (llvm::count_if(sums, [](const Cut &cut) { return cut.units() > 1; }) ==
        1)
      choices.push_back({sums, PartsOrder::Apart});
    return choices;
  }
  for (int64_t count = 2;
       count <= int64_t(machine::slicesPerCluster) || choices.empty();
       count *= 2) {
    Cut *halved = nullptr;
    for (Cut &cut : sums) {
      bool isLast = &cut == &sums.back();
      int64_t granule = isLast ? getPacketSize(problem.type) : 1;
      if (!halved && cut.tile % (2 * granule) == 0)
        halved = &cut;
    }
    if (!halved)
      break;
    halved->tile /= 2;
    if (!isLong())
      choices.push_back({sums});
  }
  return choices;
}

FailureOr<std::vector<Candidate>>
tmap::enumerateContraction(ContractOp op, std::optional<VectorPass> pass,
                           std::array<WindowOp, 2> windows,
                           const Search &search) {
  const KernelAxes &axes = search.getAxes();
  auto problem = std::make_shared<Problem>();
  MappedTensorType types[2] = {op.getLhs().getType(), op.getRhs().getType()};
  problem->result = pass ? pass->result() : op.getType();
  problem->pass = std::move(pass);
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
  Grid grid = search.getGrid();
  SmallVector<SumChoice> sumChoices = getSumChoices(op, *problem, axes);
  int64_t parts = 1;
  if (!sumChoices.empty())
    for (const Cut &cut : sumChoices.front().sums)
      parts *= cut.units();
  if (sumChoices.empty() || parts > grid.slices) {
    InFlightDiagnostic diag = op.emitOpError()
                              << "not yet supported: a sum over ";
    for (auto [i, axis] : llvm::enumerate(problem->over))
      diag << (i == 0 ? "" : " times ") << axes.size(axis);
    diag << " elements of " << problem->elementType << ", whose ";
    if (sumChoices.empty())
      return diag << "parts are others than those of another sum along the "
                     "same axis; rename it by a tmap.reshape";
    return diag << parts << " parts are more than the " << grid.slices
                << " slices of a cluster; split the axis by a tmap.reshape, "
                   "contract with its outer part as a batch axis, and fold "
                   "that by a tmap.reduce";
  }

  auto sizeOf = [&](ArrayRef<int> list, int64_t granule) {
    int64_t size = 1;
    for (auto [i, axis] : llvm::enumerate(list))
      size *= i + 1 == list.size()
                  ? llvm::divideCeil(axes.size(axis), granule) * granule
                  : axes.size(axis);
    return size;
  };
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
    candidate.isExtra = plan.isExtra;
    candidate.emit = [problem, kept, &axes](Emitter &emitter,
                                            ValueRange operands) {
      return Contraction(*problem, *kept, axes).emit(emitter, operands);
    };
    candidates.push_back(std::move(candidate));
  };
  // `stays`: as it is; `overlaps`: its steps may run beside each other.
  auto addVariant = [&](const Plan &variant, bool stays, bool overlaps) {
    Plan full = variant;
    int stream = full.stream;
    for (int operand : {0, 1}) {
      SmallVector<Cut> held(full.batch);
      llvm::append_range(held, operand == stream ? full.rows : full.columns);
      if (windows[operand]) {
        full.windows = WindowLoad::get(windows[operand], held, problem->over,
                                       full.place, axes);
        continue;
      }
      if (operand == stream && full.ring > 1)
        held.back().tile /= full.ring;
      bool cutsFilled = false;
      for (const Cut &cut : full.sums) {
        held.push_back(cut);
        cutsFilled |= cut.units() > 1 && axes.isGrown(cut.axis);
      }
      full.staged[operand] =
          cutsFilled || !isLoadable(types[operand], held, axes);
      if (full.staged[operand] &&
          canTranspose(full, *problem, operand, types[operand], axes)) {
        full.staged[operand] = false;
        full.transposed[operand] = true;
      }
    }
    if (bool(windows[stream]) != full.windows.has_value() ||
        (full.windows && full.ring > 1))
      return;
    if (getSliceBytes(full, *problem) > int64_t(machine::dmSliceBytes))
      return;
    if (stays) {
      full.bound = boundPlan(full, *problem, axes);
      add(full);
    }
    full.overlaps = overlaps && isWorthOverlap(full, *problem);
    if (full.overlaps) {
      full.bound = boundPlan(full, *problem, axes);
      add(full);
    }
  };
  // Steps are known for whole sums of operands that lie in HBM as they are.
  auto addStepped = [&](const Plan &plan) {
    if (windows[0] || windows[1])
      return;
    for (int operand : {0, 1}) {
      SmallVector<Cut> held(plan.batch);
      llvm::append_range(held,
                         operand == plan.stream ? plan.rows : plan.columns);
      llvm::append_range(held, plan.sums);
      if (!isLoadable(types[operand], held, axes))
        return;
    }
    if (auto stepped = getStepped(plan, *problem, axes, grid))
      add(*stepped);
  };
  bool looped = false;
  for (int stream : {0, 1}) {
    ArrayRef<int> rowAxes = problem->free[stream];
    ArrayRef<int> columnAxes = problem->free[1 - stream];
    if (windows[1 - stream])
      continue;
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
        bool isLoop = std::max(rowLoop.count, columnLoop.count) > 1;
        bool overlaps = isLoop && columnLoop.count == 1 &&
                        rowLoop.count <= maxOverlappingSteps;
        // Loops only where nothing fits without them.
        bool stays = !isLoop || candidates.empty() || looped;
        if (!stays && !overlaps)
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
              int64_t wholeBound = std::numeric_limits<int64_t>::max();
              for (const SumChoice &choice : sumChoices) {
                plan.isExtra =
                    &choice != &sumChoices.front() && !isFloat(problem->type);
                plan.sums = choice.sums;
                plan.order = choice.order;
                // A slice has all taps of its windows.
                if (windows[stream] &&
                    llvm::any_of(plan.sums, [](const Cut &cut) {
                      return cut.units() > 1;
                    }))
                  continue;
                // The functions of a pass stand in front of a reduction.
                if (plan.joinsInSwitch() && problem->hasSteps())
                  continue;
                auto places =
                    spreadSums(cuts, plan.sums, axes, grid, plan.order);
                if (!places || !choosePasses(plan, *problem) ||
                    !canHoldSides(plan, *problem))
                  continue;
                plan.place = places->parts;
                plan.resultPlace = places->sums;
                // Parts are worth it where they save more than they cost.
                plan.bound = boundPlan(plan, *problem, axes);
                if (plan.bound >= wholeBound)
                  continue;
                if (!isFloat(problem->type))
                  wholeBound = plan.bound;
                looped |= isLoop && stays;
                if (!isLoop)
                  addStepped(plan);
                for (const Plan &variant :
                     getVariants(plan, *problem, axes, grid))
                  addVariant(variant, stays, overlaps);
              }
            }
      }
  }
  return candidates;
}
