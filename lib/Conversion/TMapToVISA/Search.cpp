//===- Search.cpp - Choice of a placement ---------------------------------===//

#include "Search.h"
#include "furiosa/Conversion/Passes.h"
#include "furiosa/Dialect/Resource/IR/Resource.h"
#include "furiosa/Dialect/Resource/Transforms/Passes.h"
#include "furiosa/Dialect/Utils/ElementTypes.h"
#include "furiosa/Dialect/VISA/Transfer/Transfer.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

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
  return requests * transfer.place.usedSlicesOfPE();
}

int64_t tmap::boundSliceReduce(int64_t slices) {
  return slices == 1 ? 0
                     : slices * int64_t(machine::interSliceReduce256Cycles) /
                           int64_t(machine::slicesPerCluster);
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

unsigned Search::build(ModuleOp module, const Task &task,
                       const Candidate &candidate) const {
  Location loc = module.getLoc();
  module->setAttr(visa::VISADialect::getTargetAttrName(), target);
  OpBuilder builder(loc.getContext());
  builder.setInsertionPointToStart(module.getBody());
  auto function = func::FuncOp::create(
      builder, loc, "candidate",
      builder.getFunctionType(TypeRange(task.operands), task.result));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  Residents held;
  for (auto [operand, argument] :
       llvm::zip_equal(task.operands, body->getArguments()))
    for (const Residents::Entry &entry : task.residents.of(operand))
      held.add(argument,
               visa::AllocOp::create(builder, loc, entry.held.getType()),
               entry.filled);
  Emitter emitter(builder, loc, axes, &held);
  Value value = candidate.emit(emitter, body->getArguments());
  auto store = value.getDefiningOp<visa::ToHbmOp>();
  if (task.countsStore || !store) {
    func::ReturnOp::create(builder, loc, value);
  } else {
    func::ReturnOp::create(builder, loc);
    function.setFunctionType(
        builder.getFunctionType(TypeRange(task.operands), TypeRange()));
    store->erase();
  }
  // What data memory holds and nothing reads.
  for (Operation &op : llvm::make_early_inc_range(*body))
    if (isa<visa::AllocOp>(op) && op.use_empty())
      op.erase();
  function->setAttr(visa::VISADialect::getKernelAttrName(),
                    builder.getUnitAttr());
  function->setAttr(visa::alternateNetworksAttrName, builder.getUnitAttr());
  return held.getHits();
}

/// From kernels of visa to schedules.
static LogicalResult schedule(ModuleOp module) {
  PassManager passes(module.getContext());
  passes.addPass(createConvertVISAToLIR());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createConvertLIRToResource());
  passes.addNestedPass<resource::ProgramOp>(resource::createResourceSchedule());
  return success(succeeded(verify(module)) && succeeded(passes.run(module)));
}

/// Makespan and lower bound of the one program of a module.
static std::pair<std::optional<int64_t>, int64_t> getCycles(ModuleOp module) {
  std::pair<std::optional<int64_t>, int64_t> cycles = {std::nullopt, 0};
  module->walk([&](resource::ProgramOp program) {
    if (auto makespan = program.getMakespan())
      cycles = {*makespan, program.getLowerBound().value_or(0)};
  });
  return cycles;
}

std::optional<int64_t> Search::getMakespan(ModuleOp module) const {
  module->setAttr(visa::VISADialect::getTargetAttrName(), target);
  Silence silence(module.getContext());
  return succeeded(schedule(module)) ? getCycles(module).first : std::nullopt;
}

Search::Outcome Search::evaluate(Location loc, const Task &task,
                                 const Candidate &candidate) const {
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  Silence silence(loc.getContext());
  build(*module, task, candidate);
  if (failed(schedule(*module)))
    return {std::nullopt, 0,
            silence.first.empty() ? "it does not compile" : silence.first};
  Outcome outcome;
  std::tie(outcome.cycles, outcome.lowerBound) = getCycles(*module);
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

/// The clauses of a placement by name.
static std::array<std::pair<StringRef, StringAttr>, 6>
getClauses(PlacementAttr placement) {
  return {{{"cluster", placement.getCluster()},
           {"slice", placement.getSlice()},
           {"lane", placement.getLane()},
           {"time", placement.getTime()},
           {"packet", placement.getPacket()},
           {"stream", placement.getStream()}}};
}

LogicalResult Search::checkPins(Operation *op,
                                ArrayRef<Candidate> candidates) const {
  auto pins = op->getAttrOfType<PlacementAttr>(getPlacementAttrName());
  if (!pins || candidates.empty())
    return success();
  for (auto [name, text] : getClauses(pins)) {
    if (!text)
      continue;
    if (name == "stream") {
      if (text.getValue() != "lhs" && text.getValue() != "rhs")
        return op->emitOpError() << "placement has stream " << text
                                 << ", expected \"lhs\" or \"rhs\"";
    } else if (auto parsed =
                   MappingAttr::parseText(text.getValue(), axes.visa());
               !parsed) {
      return op->emitOpError() << "placement has " << name << " " << text
                               << ": " << parsed.fault().message;
    }
  }
  if (llvm::any_of(candidates,
                   [&](const Candidate &c) { return isPinned(op, c); }))
    return success();
  InFlightDiagnostic diag =
      op->emitOpError() << "not yet supported: no placement that the search "
                           "knows is the pinned one";
  for (auto [i, clause] : llvm::enumerate(getClauses(pins))) {
    auto [name, text] = clause;
    bool isStream = name == "stream";
    if (text && llvm::none_of(candidates, [&, i = i](const Candidate &c) {
          StringAttr chosen = getClauses(c.placement())[i].second;
          return isStream ? text == chosen : agrees(text, chosen, axes);
        }))
      diag.attachNote() << "none has " << name << " " << text;
  }
  diag.attachNote() << "one of " << candidates.size() << " that it knows is "
                    << candidates.back().placement()
                    << "; a clause that is left out is chosen";
  return diag;
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
Search::choose(Operation *op, const Task &task,
               std::vector<Candidate> &candidates) {
  if (failed(checkPins(op, candidates)))
    return failure();
  llvm::erase_if(candidates, [&](const Candidate &candidate) {
    return !isPinned(op, candidate);
  });
  for (auto [number, candidate] : llvm::enumerate(candidates))
    candidate.number = number;
  if (llvm::any_of(task.operands, [&](Value value) {
        return !task.residents.of(value).empty();
      })) {
    Silence silence(op->getContext());
    for (Candidate &candidate : candidates) {
      OwningOpRef<ModuleOp> module = ModuleOp::create(op->getLoc());
      candidate.hits = build(*module, task, candidate);
    }
  }
  // What finds its operands is looked at first.
  llvm::sort(candidates, [](const Candidate &a, const Candidate &b) {
    return std::tuple(-int64_t(a.hits), a.bound, a.number) <
           std::tuple(-int64_t(b.hits), b.bound, b.number);
  });
  const Candidate *best = nullptr;
  int64_t bestCycles = std::numeric_limits<int64_t>::max();
  int64_t bestBound = 0;
  std::vector<std::string> losers;
  // Of those that the bound sorts out the nearest are named.
  constexpr unsigned maxNamed = 24;
  std::string firstReason;
  unsigned pruned = 0, skipped = 0;
  struct Budget {
    unsigned limit, scheduled = 0, refused = 0;
  } budgets[] = {{options.budget}, {std::max(1u, options.budget / 3)}};
  auto describe = [](const Candidate &candidate) {
    PlacementAttr placement = candidate.placement();
    if (!placement.getSlice())
      return std::string("a copy in HBM");
    std::string text;
    llvm::raw_string_ostream(text) << placement;
    return text;
  };
  for (const Candidate &candidate : candidates) {
    if (candidate.hits == 0 && candidate.bound >= bestCycles) {
      ++pruned;
      if (options.explain && pruned <= maxNamed)
        losers.push_back(describe(candidate) + ": at least " +
                         std::to_string(candidate.bound) + " cycles");
      continue;
    }
    // What is refused by the check costs little: it does not count.
    Budget &budget = budgets[candidate.isExtra];
    if (budget.scheduled == budget.limit ||
        budget.refused == 8 * budget.limit) {
      ++skipped;
      continue;
    }
    Outcome outcome = evaluate(op->getLoc(), task, candidate);
    if (!outcome.cycles) {
      ++budget.refused;
      if (firstReason.empty())
        firstReason = outcome.reason;
      if (options.explain)
        losers.push_back(describe(candidate) + ": " + outcome.reason);
      continue;
    }
    ++budget.scheduled;
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
    else if (candidates.empty())
      diag.attachNote() << "its tensors are larger than data memory, and no "
                           "number up to 128 divides their outermost axis into "
                           "steps that fit; pad that axis, list another one "
                           "outermost or do parts of it";
    return diag;
  }
  if (options.explain) {
    InFlightDiagnostic diag = op->emitRemark();
    diag << describe(*best) << ": " << bestCycles
         << " cycles, lower bound of its schedule " << bestBound;
    // What data memory holds may need no transfer.
    int64_t traffic = boundTraffic(task.result), fixed = boundFixed();
    if (best->hits > 0)
      fixed -= machine::dmaStartupCycles;
    else
      traffic += boundTraffic(TypeRange(task.operands));
    if (!task.countsStore) {
      traffic -= boundTraffic(task.result);
      fixed -= machine::dmaStartupCycles;
    }
    int64_t ideal = 0;
    if (best->productsPerCycle > 0) {
      // In tenths of a percent.
      ideal = llvm::divideCeil(best->products, best->productsPerCycle);
      int64_t busy = ideal * 1000 / std::max<int64_t>(1, bestCycles);
      diag << ", MAC utilisation " << busy / 10 << "." << busy % 10 << " % ("
           << ideal << " cycles of all multipliers)";
    }
    diag << "; no placement needs less than "
         << fixed + std::max(ideal, traffic) << " (HBM " << traffic << ")";
    if (best->hits > 0)
      diag << "; finds " << best->hits
           << (best->hits == 1 ? " operand" : " operands") << " in data memory";
    if (!task.countsStore)
      diag << "; without the store of its result";
    diag << "; " << candidates.size() << " candidates, "
         << budgets[0].scheduled + budgets[1].scheduled << " scheduled, "
         << pruned << " bounded away, "
         << budgets[0].refused + budgets[1].refused << " not legal, " << skipped
         << " beyond the budget";
    for (const std::string &loser : losers)
      diag.attachNote() << loser;
    if (pruned > maxNamed)
      diag.attachNote() << "and " << pruned - maxNamed
                        << " more that need at least as many cycles";
  }
  return best;
}
