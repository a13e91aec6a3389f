//===- Contraction.h - Ways to run a contraction ----------------*- C++ -*-===//
//
// What a contraction is, one way to run it, and the chains of that.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_CONVERSION_TMAPTOVISA_CONTRACTION_H
#define FURIOSA_LIB_CONVERSION_TMAPTOVISA_CONTRACTION_H

#include "Fusion.h"
#include "WindowLoads.h"
#include "furiosa/Target/RNGD/Machine.h"

#include <tuple>
#include <utility>

namespace furiosa::tmap::contraction {

/// Elements of a flit.
inline int64_t getFlit(ElementType type) { return 256 / wireBits(type); }

/// What a contraction is, apart from where it runs.
struct Problem {
  llvm::SmallVector<int> batch, over;
  /// Free axes of either operand, in the order of the result.
  llvm::SmallVector<int> free[2];
  /// Axes of the result, outermost first.
  llvm::SmallVector<int> order;
  ElementType type;
  mlir::Type elementType, sumType, resultType;
  MappedTensorType result;
  /// What the vector and the cast engine do to the sums on their way to memory.
  std::optional<VectorPass> pass;

  bool hasSides() const { return pass && !pass->sides.empty(); }
  bool hasSteps() const { return pass && !pass->steps.empty(); }
};

/// One way to run it.
struct Plan {
  /// Which operand is the stream: 0 or 1.
  int stream = 0;
  llvm::SmallVector<Cut> batch, rows, columns;
  /// The summed axes, of which slices hold parts. Sums of parts that lie apart
  /// are brought together by the switch and added in a chain of their own.
  llvm::SmallVector<Cut> sums;
  PartsOrder order = PartsOrder::Together;
  /// More parts than are needed.
  bool isExtra = false;
  /// Groups of lanes in the register file at a time, and how often it is
  /// loaded.
  int64_t groups = 1, passes = 1;
  /// Steps over rows in HBM, and inside of them over columns.
  AxisLoop rowLoop, columnLoop;
  /// The steps over rows are written one after the other, without a loop, so
  /// that transfers of a step run beside the work of others; the weight is
  /// loaded once.
  bool overlaps = false;
  /// Rows of a slice in each of the steps that are written one after the other;
  /// the first and the last ones are short, so that work starts early and the
  /// last store is short. Empty where all rows are worked on at once.
  llvm::SmallVector<int64_t> steps;
  /// Slices that share rows take turns row by row.
  bool dealsRows = false;
  /// Slices that share the rows of the stream: each holds a part of them in
  /// data memory, and the switch gives them to all.
  int64_t ring = 1;
  /// Of these, slices that share the summed axis: each holds a part of it.
  int64_t ringSums = 1;
  /// Neighbours that exchange their columns for rows before they are stored, so
  /// that runs in HBM are longer.
  int64_t exchange = 1;
  /// Operands that go through a copy in HBM.
  bool staged[2] = {false, false};
  /// Operands that lie in HBM with the summed axis outside of the last free
  /// one; the transpose engine turns them in the slice.
  bool transposed[2] = {false, false};
  /// Where the stream is windows: what a slice holds of their source.
  std::optional<WindowLoad> windows;
  /// Of the operands, and of the result.
  Place place, resultPlace;
  int64_t bound = 0;

  bool hasColumns() const { return !columns.empty(); }
  int64_t partCount() const {
    int64_t count = 1;
    for (const Cut &cut : sums)
      count *= cut.units();
    return count;
  }
  bool joinsInSwitch() const {
    return partCount() > 1 && order == PartsOrder::Apart;
  }
  /// Cells in a slice that make one sum.
  int64_t sumCells() const {
    int64_t cells = 1;
    for (const Cut &cut : sums)
      cells *= cut.tile;
    return cells;
  }
};

/// The plan of one of the steps of `plan`, of `rows` rows in a slice.
Plan getStep(const Plan &plan, int64_t rows);

/// Writes the chains of one plan.
class Contraction {
public:
  Contraction(const Problem &problem, const Plan &plan, const KernelAxes &axes)
      : problem(problem), plan(plan), axes(axes) {
    flit = getFlit(problem.type);
    packet = std::min(getPacketSize(problem.type), plan.sums.back().tile);
    for (const Cut &cut : llvm::ArrayRef(plan.sums).drop_back())
      outerSums.push_back(cut.inner(axes));
    lastSum = plan.sums.back().inner(axes);
    for (const Cut &cut : plan.batch)
      batch.push_back(cut.inner(axes));
    for (const Cut &cut : plan.rows)
      rows.push_back(cut.inner(axes));
    // Of the rows that the switch brings, those of one slice come first.
    fetchedRows = timeRows = rows;
    if (plan.ring > 1) {
      std::tie(ringRows, fetchedRows.back()) =
          shareRows(plan.ring / plan.ringSums);
      timeRows.back() = fetchedRows.back();
      timeRows.push_back(ringRows);
    }
    for (const Cut &cut : llvm::ArrayRef(plan.columns))
      columns.push_back(cut.inner(axes));
    if (plan.hasColumns()) {
      const Cut &inner = plan.columns.back();
      outerColumns = TermList(columns.begin(), columns.end() - 1);
      lane = inner.digit(axes, 1, lanes());
      pass = inner.digit(axes, plan.groups * lanes(), plan.passes);
      group = inner.digit(axes, lanes(), plan.groups);
    }
  }

  PlacementAttr getPlacement(mlir::MLIRContext *context) const {
    auto text = [&](llvm::StringRef value) {
      return mlir::StringAttr::get(context, value);
    };
    return PlacementAttr::get(context, text(plan.place.cluster),
                              text(plan.place.slice), text(joinTerms(lane)),
                              text(outerTime()), text(piece(packet)),
                              text(plan.stream == 0 ? "lhs" : "rhs"));
  }

  mlir::Value emit(Emitter &emitter, mlir::ValueRange operands) const;

private:
  /// `registers` holds the weight, or is null.
  mlir::Value emitTile(Emitter &emitter, mlir::Value stream, mlir::Value weight,
                       mlir::ValueRange sides,
                       mlir::Value registers = {}) const;
  /// Side operands of the pass, of one step over columns, in the vector
  /// register file.
  llvm::SmallVector<mlir::Value> loadSides(Emitter &emitter,
                                           mlir::ValueRange tensors,
                                           mlir::Value column = {}) const;
  FlitShape getFlitShape() const;
  mlir::Value loadRegisters(Emitter &emitter, mlir::Value weight) const;
  mlir::Value emitExchange(Emitter &emitter, mlir::Value tile) const;
  /// Adds the sums of parts that lie apart.
  mlir::Value emitJoin(Emitter &emitter, mlir::Value parts) const;
  mlir::Value loadTransposed(Emitter &emitter, int operand,
                             mlir::Value source) const;
  /// Rows shared by `slices`: the digit of the slices, and that of the rows
  /// that each has. In steps of any length, rows are dealt out one by one.
  std::pair<std::string, std::string> shareRows(int64_t slices) const {
    const Cut &cut = plan.rows.back();
    int64_t each = cut.held() / slices;
    if (plan.dealsRows)
      return {cut.digit(axes, 1, slices), cut.digit(axes, slices, each)};
    return {cut.digit(axes, each, slices), cut.digit(axes, 1, each)};
  }
  mlir::Value loadOperand(Emitter &emitter, int operand,
                          mlir::Value source) const;
  mlir::Value emitInSteps(Emitter &emitter, mlir::ValueRange operands) const;
  /// The slices in which the stream lies before the switch.
  std::string streamSlice() const;
  /// Elements of the last summed axis that a slice has of an operand.
  int64_t heldSums(int operand) const {
    return plan.sums.back().tile / (operand == plan.stream ? plan.ringSums : 1);
  }
  static constexpr int64_t lanes() { return rngd::machine::lanes; }
  /// `K / n`, empty for one; `K % n`.
  std::string sumSteps(int64_t n) const {
    const Cut &cut = plan.sums.back();
    return cut.digit(axes, n, cut.tile / n);
  }
  std::string piece(int64_t n) const {
    return plan.sums.back().digit(axes, 1, n);
  }
  /// Groups stand innermost: a packet is sent to all of them.
  TermList groupTerms() const { return concat({outerColumns, {group}}); }
  std::string outerTime() const {
    return joinTerms(
        concat({batch, timeRows, outerSums, {sumSteps(packet)}, groupTerms()}));
  }
  DmLayout layout(int operand) const;
  TermList resultTerms(llvm::ArrayRef<std::string> lastTerms) const;
  /// `1 # n`: a number that fills a word of memory.
  static std::string filledWord(mlir::Type type) {
    return "1 # " + std::to_string(64 / wireBits(*getElementType(type)));
  }
  /// What is left of the way from `from` to the type of the result.
  void emitNarrowing(Emitter &emitter, mlir::Type from) const;

  const Problem &problem;
  const Plan &plan;
  const KernelAxes &axes;
  int64_t flit, packet;
  std::string lastSum;
  TermList batch, rows, columns, outerColumns, outerSums;
  /// Rows that a slice fetches, and in the order in which they are worked on.
  TermList fetchedRows, timeRows;
  std::string lane, pass, group, ringRows;
};

} // namespace furiosa::tmap::contraction

#endif // FURIOSA_LIB_CONVERSION_TMAPTOVISA_CONTRACTION_H
