//===- Search.cpp - Choice of a placement ---------------------------------===//

#include "Search.h"
#include "furiosa/Conversion/Passes.h"
#include "furiosa/Dialect/Resource/IR/Resource.h"
#include "furiosa/Dialect/Resource/Transforms/Passes.h"
#include "furiosa/Dialect/Utils/ElementTypes.h"
#include "furiosa/Dialect/VISA/Transfer/Transfer.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/Threading.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::tmap;
namespace machine = furiosa::rngd::machine;

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

int64_t tmap::boundLoad(const TransferBound &transfer) {
  // The first PE of a cluster has the most to write, a request a cycle at best.
  int64_t requests =
      llvm::divideCeil(transfer.sliceBytes, int64_t(machine::dmaRequestBytes));
  return requests *
         std::min<int64_t>(transfer.place.usedSlices,
                           llvm::divideCeil(int64_t(machine::slicesPerPE),
                                            transfer.place.gap));
}

int64_t tmap::boundStore(int64_t bytes, int64_t run) {
  int64_t block = machine::hbmAccessBytes;
  int64_t accesses = llvm::divideCeil(bytes, std::min(run, block));
  // Of a channel's first block, nothing waits to be read again.
  accesses = std::max<int64_t>(0, accesses - int64_t(machine::hbmChannels));
  int64_t factor = run < block ? int64_t(machine::hbmPartialWriteFactor) : 1;
  return accesses * factor * int64_t(machine::hbmAccessCyclesNumerator) /
         int64_t(machine::hbmAccessCyclesDenominator) /
         int64_t(machine::hbmChannels);
}

int64_t tmap::boundFixed() {
  return machine::firstDMACycle + machine::endSyncCycles +
         2 * machine::dmaStartupCycles;
}

/// Cycles of all channels of HBM for one access of each byte of `types`.
static int64_t boundTraffic(TypeRange types) {
  int64_t accesses = 0;
  for (Type type : types) {
    auto hbm = cast<visa::HbmType>(type);
    uint64_t bits = llvm::SaturatingMultiply<uint64_t>(
        hbm.getElement().getMapping().size(),
        wireBits(*getElementType(hbm.getElementType())));
    accesses += llvm::divideCeil(bits / 8, uint64_t(machine::hbmAccessBytes));
  }
  return accesses / int64_t(machine::hbmChannels) *
         int64_t(machine::hbmAccessCyclesNumerator) /
         int64_t(machine::hbmAccessCyclesDenominator);
}

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

namespace {
/// Keeps what this thread reports to itself, and remembers the first error.
class Silence {
public:
  explicit Silence(MLIRContext *context)
      : handler(context, [this, thread = llvm::get_threadid()](Diagnostic &d) {
          if (llvm::get_threadid() != thread)
            return failure();
          if (first.empty() && d.getSeverity() == DiagnosticSeverity::Error)
            first = d.str();
          return success();
        }) {}

  std::string first;

private:
  ScopedDiagnosticHandler handler;
};
} // namespace

Search::Outcome Search::evaluate(Location loc, TypeRange operands, Type result,
                                 const Candidate &candidate) const {
  MLIRContext *context = loc.getContext();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  (*module)->setAttr(visa::VISADialect::getTargetAttrName(), target);
  OpBuilder builder(context);
  builder.setInsertionPointToStart(module->getBody());
  auto function = func::FuncOp::create(
      builder, loc, "candidate",
      builder.getFunctionType(operands, TypeRange(result)));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  Emitter emitter(builder, loc, axes);
  Silence silence(context);
  Value value = candidate.emit(emitter, body->getArguments());
  func::ReturnOp::create(builder, loc, value);
  function->setAttr(visa::VISADialect::getKernelAttrName(),
                    builder.getUnitAttr());
  function->setAttr(visa::alternateNetworksAttrName, builder.getUnitAttr());
  PassManager passes(context);
  passes.addPass(createConvertVISAToLIR());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createConvertLIRToResource());
  passes.addNestedPass<resource::ProgramOp>(resource::createResourceSchedule());
  if (failed(verify(*module)) || failed(passes.run(*module)))
    return {std::nullopt, 0,
            silence.first.empty() ? "it does not compile" : silence.first};
  Outcome outcome;
  module->walk([&](resource::ProgramOp program) {
    if (auto makespan = program.getMakespan())
      outcome.cycles = *makespan;
    outcome.lowerBound = program.getLowerBound().value_or(0);
  });
  return outcome;
}

/// Whether a candidate is what a pinned clause says.
static bool agrees(StringAttr pinned, StringAttr chosen,
                   const KernelAxes &axes) {
  if (!pinned || pinned == chosen)
    return true;
  auto lhs = MappingAttr::parseText(pinned.getValue(), axes.visa());
  auto rhs = chosen ? MappingAttr::parseText(chosen.getValue(), axes.visa())
                    : MappingAttr::parseText("1", axes.visa());
  return lhs && rhs && mapping::same(lhs->getMapping(), rhs->getMapping());
}

bool Search::isPinned(Operation *op, const Candidate &candidate) const {
  auto pins = op->getAttrOfType<PlacementAttr>(getPlacementAttrName());
  if (!pins)
    return true;
  PlacementAttr chosen = candidate.placement();
  return agrees(pins.getCluster(), chosen.getCluster(), axes) &&
         agrees(pins.getSlice(), chosen.getSlice(), axes) &&
         agrees(pins.getLane(), chosen.getLane(), axes) &&
         agrees(pins.getTime(), chosen.getTime(), axes) &&
         agrees(pins.getPacket(), chosen.getPacket(), axes) &&
         (!pins.getStream() || pins.getStream() == chosen.getStream());
}

FailureOr<const Candidate *>
Search::choose(Operation *op, TypeRange operands, Type result,
               std::vector<Candidate> &candidates) {
  llvm::erase_if(candidates, [&](const Candidate &candidate) {
    return !isPinned(op, candidate);
  });
  if (candidates.empty())
    return op->emitOpError() << "not yet supported: no placement that the "
                                "search knows is the pinned one";
  for (auto [number, candidate] : llvm::enumerate(candidates))
    candidate.number = number;
  llvm::sort(candidates, [](const Candidate &a, const Candidate &b) {
    return std::tie(a.bound, a.number) < std::tie(b.bound, b.number);
  });
  const Candidate *best = nullptr;
  int64_t bestCycles = std::numeric_limits<int64_t>::max();
  int64_t bestBound = 0;
  std::vector<std::string> losers;
  // Of those that the bound sorts out the nearest are named.
  constexpr unsigned maxNamed = 24;
  std::string firstReason;
  unsigned scheduled = 0, pruned = 0, skipped = 0, refused = 0;
  auto describe = [](const Candidate &candidate) {
    std::string text;
    llvm::raw_string_ostream(text) << candidate.placement();
    return text;
  };
  for (const Candidate &candidate : candidates) {
    if (candidate.bound >= bestCycles) {
      ++pruned;
      if (options.explain && pruned <= maxNamed)
        losers.push_back(describe(candidate) + ": at least " +
                         std::to_string(candidate.bound) + " cycles");
      continue;
    }
    // What is refused by the check costs little: it does not count.
    if (scheduled == options.budget || refused == 8 * options.budget) {
      ++skipped;
      continue;
    }
    Outcome outcome = evaluate(op->getLoc(), operands, result, candidate);
    if (!outcome.cycles) {
      ++refused;
      if (firstReason.empty())
        firstReason = outcome.reason;
      if (options.explain)
        losers.push_back(describe(candidate) + ": " + outcome.reason);
      continue;
    }
    ++scheduled;
    bool wins = *outcome.cycles < bestCycles;
    const Candidate *loser = wins ? best : &candidate;
    if (options.explain && loser)
      losers.push_back(describe(*loser) + ": " +
                       std::to_string(wins ? bestCycles : *outcome.cycles) +
                       " cycles");
    if (wins) {
      best = &candidate;
      bestCycles = *outcome.cycles;
      bestBound = outcome.lowerBound;
    }
  }
  if (!best) {
    InFlightDiagnostic diag = op->emitOpError()
                              << "not yet supported: no placement of this op "
                                 "fits the chip";
    if (!firstReason.empty())
      diag.attachNote() << "of " << candidates.size()
                        << " candidates the first fails with: " << firstReason;
    return diag;
  }
  if (options.explain) {
    InFlightDiagnostic diag = op->emitRemark();
    diag << best->placement() << ": " << bestCycles
         << " cycles, lower bound of its schedule " << bestBound;
    int64_t traffic = boundTraffic(operands) + boundTraffic(result);
    int64_t ideal = 0;
    if (best->productsPerCycle > 0) {
      // In tenths of a percent.
      ideal = llvm::divideCeil(best->products, best->productsPerCycle);
      int64_t busy = ideal * 1000 / std::max<int64_t>(1, bestCycles);
      diag << ", MAC utilisation " << busy / 10 << "." << busy % 10 << " % ("
           << ideal << " cycles of all multipliers)";
    }
    diag << "; no placement needs less than "
         << boundFixed() + std::max(ideal, traffic) << " (HBM " << traffic
         << ")";
    diag << "; " << candidates.size() << " candidates, " << scheduled
         << " scheduled, " << pruned << " bounded away, " << refused
         << " not legal, " << skipped << " beyond the budget";
    for (const std::string &loser : losers)
      diag.attachNote() << loser;
    if (pruned > maxNamed)
      diag.attachNote() << "and " << pruned - maxNamed
                        << " more that need at least as many cycles";
  }
  return best;
}
