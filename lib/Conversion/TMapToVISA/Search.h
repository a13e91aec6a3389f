//===- Search.h - Choice of a placement -------------------------*- C++ -*-===//
//
// A candidate is a way to run one op from HBM to HBM. Its cost is what the
// scheduler finds for it alone, so a choice is legal by construction and its
// cost is that of the kernel that would be built.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_CONVERSION_TMAPTOVISA_SEARCH_H
#define FURIOSA_LIB_CONVERSION_TMAPTOVISA_SEARCH_H

#include "Emitter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Threading.h"

#include <functional>

namespace furiosa::tmap {

struct Candidate {
  /// What can be pinned, nothing of a copy in HBM; written for those alone that
  /// are looked at.
  std::function<PlacementAttr()> placement;
  /// Cycles that the scheduler cannot stay below.
  int64_t bound = 0;
  /// Loads that what data memory holds makes needless: the bound has them
  /// still.
  unsigned hits = 0;
  /// One beside those that are always there: it has a budget of its own, a
  /// third of theirs, and takes nothing away from it.
  bool isExtra = false;
  /// Place in the enumeration: of equal ones the first is looked at first.
  size_t number = 0;
  /// Products of a contraction that add up to the result, and how many of them
  /// all multipliers do in a cycle.
  int64_t products = 0, productsPerCycle = 0;
  /// Writes the op on its operands in HBM; the result in HBM.
  std::function<mlir::Value(Emitter &, mlir::ValueRange)> emit;
};

/// What a candidate is to compute.
struct Task {
  /// In HBM, of which data memory holds what `residents` says.
  mlir::ValueRange operands;
  const Residents &residents;
  /// Type of the result in HBM.
  mlir::Type result;
  /// Whether candidates pay for the store of their result; else it is to stay
  /// in data memory.
  bool countsStore;
};

/// Keeps what this thread reports to itself, and remembers the first error.
class Silence {
public:
  explicit Silence(mlir::MLIRContext *context)
      : handler(context, [this, thread = llvm::get_threadid()](
                             mlir::Diagnostic &diagnostic) {
          if (llvm::get_threadid() != thread)
            return mlir::failure();
          if (first.empty() &&
              diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
            first = diagnostic.str();
          return mlir::success();
        }) {}

  std::string first;

private:
  mlir::ScopedDiagnosticHandler handler;
};

struct SearchOptions {
  /// Candidates that are scheduled, per op.
  unsigned budget = 24;
  /// Say at each op what was looked at, and why the losers lost.
  bool explain = false;
};

/// A memory transfer for the bound of a candidate.
struct TransferBound {
  /// Bytes that one slice holds, and slices that hold something.
  int64_t sliceBytes = 0;
  Place place;
};
/// Least cycles of bringing this into data memory.
int64_t boundLoad(const TransferBound &transfer);
/// Cycles of a reduction between that many slices.
int64_t boundSliceReduce(int64_t slices);
/// Least cycles of writing `bytes` of HBM in runs of `run` bytes.
int64_t boundStore(int64_t bytes, int64_t run);
/// Cycles of every kernel: start, end, and the start of two transfers.
int64_t boundFixed();

class Search {
public:
  Search(const KernelAxes &axes, visa::TargetAttr target,
         const SearchOptions &options)
      : axes(axes), target(target), options(options) {}

  /// The best of `candidates` for `op`. An error at `op` if none is legal.
  mlir::FailureOr<const Candidate *> choose(mlir::Operation *op,
                                            const Task &task,
                                            std::vector<Candidate> &candidates);

  const KernelAxes &getAxes() const { return axes; }
  Grid getGrid() const { return Grid::get(target); }

  /// Cycles of the kernel of `module`, which is lowered and scheduled; nothing
  /// where it does not fit the chip.
  std::optional<int64_t> getMakespan(mlir::ModuleOp module) const;

private:
  /// An error at `op` if its placement is no placement, or none that a
  /// candidate has.
  mlir::LogicalResult checkPins(mlir::Operation *op,
                                llvm::ArrayRef<Candidate> candidates) const;
  /// Whether a candidate is what the op's placement says.
  bool isPinned(mlir::Operation *op, const Candidate &candidate) const;
  /// Cycles, or why the candidate is not legal.
  struct Outcome {
    std::optional<int64_t> cycles;
    int64_t lowerBound = 0;
    std::string reason;
  };
  Outcome evaluate(mlir::Location loc, const Task &task,
                   const Candidate &candidate) const;
  /// A kernel that is the candidate alone. What data memory holds is there,
  /// from nowhere. Returns how many of its loads find it.
  unsigned build(mlir::ModuleOp module, const Task &task,
                 const Candidate &candidate) const;

  const KernelAxes &axes;
  visa::TargetAttr target;
  SearchOptions options;
};

} // namespace furiosa::tmap

#endif // FURIOSA_LIB_CONVERSION_TMAPTOVISA_SEARCH_H
