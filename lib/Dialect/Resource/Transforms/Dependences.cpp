//===- Dependences.cpp - What commands read and write ---------------------===//
//
// Reads accesses off lir commands. Commands whose bytes are not known one by
// one touch the whole of the buffers that their effects name.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/Resource/Transforms/Dependences.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::resource;
using scheduling::Footprint;
namespace machine = furiosa::rngd::machine;

SmallVector<Access> resource::getAccesses(Operation *op) {
  SmallVector<Access> accesses;
  op->walk([&](MemoryEffectOpInterface nested) {
    SmallVector<MemoryEffects::EffectInstance> effects;
    nested.getEffects(effects);
    for (const MemoryEffects::EffectInstance &effect : effects) {
      bool isWrite = isa<MemoryEffects::Write>(effect.getEffect());
      if (effect.getValue() &&
          (isWrite || isa<MemoryEffects::Read>(effect.getEffect())))
        accesses.push_back({effect.getValue(), isWrite});
    }
  });
  return accesses;
}

AccessReader::AccessReader(ProgramOp program)
    : slices(program.getPes() * int64_t(machine::slicesPerPE)),
      clusters(program.getClusters()) {}

unsigned AccessReader::getSpace(Value buffer) {
  return spaces.try_emplace(buffer, spaces.size()).first->second;
}

SmallVector<Footprint, 1> AccessReader::getWhole(Value buffer) {
  auto type = cast<lir::MemType>(buffer.getType());
  SmallVector<Footprint, 1> footprints;
  Footprint footprint;
  footprint.bytes = type.getBytes();
  if (type.getTier() == lir::Tier::Hbm) {
    footprints.push_back(footprint);
    return footprints;
  }
  footprint.loops = {{slices, int64_t(machine::dmSliceStride)}};
  for (int64_t cluster : clusters) {
    footprint.base =
        cluster * int64_t(machine::slicesPerCluster * machine::dmSliceStride);
    footprints.push_back(footprint);
  }
  return footprints;
}

static void addLoops(Footprint &footprint, ArrayRef<int64_t> sizes,
                     ArrayRef<int64_t> strides) {
  for (auto [size, stride] : llvm::zip(sizes, strides))
    footprint.loops.push_back({size, stride});
}

/// Footprints of one side of a transfer; empty if an engine reaches beyond the
/// slices of its PE, where addresses mean something else.
static SmallVector<Footprint, 1> getFootprints(lir::DmaOp dma, bool isTarget) {
  lir::MemType type =
      isTarget ? dma.getTarget().getType() : dma.getSource().getType();
  SmallVector<Footprint, 1> footprints;
  for (Attribute attr : dma.getEngines()) {
    auto engine = cast<lir::EngineAttr>(attr);
    Footprint footprint;
    footprint.base = isTarget ? engine.getTarget() : engine.getSource();
    footprint.bytes = engine.getPacket();
    addLoops(footprint, engine.getSizes(),
             isTarget ? engine.getTargetStrides() : engine.getSourceStrides());
    if (type.getTier() != lir::Tier::Hbm) {
      constexpr int64_t peBytes = machine::slicesPerPE * machine::dmSliceStride;
      if (footprint.base + footprint.getExtent() > peBytes)
        return {};
      footprint.base += (engine.getCluster() * int64_t(machine::pesPerCluster) +
                         engine.getPe()) *
                        peBytes;
    }
    footprints.push_back(footprint);
  }
  return footprints;
}

/// Footprints of one unit in one slice, in the buffer of an operand; empty if
/// they are not known.
static SmallVector<Footprint, 1> getFootprints(OpOperand &operand) {
  Operation *unit = operand.getOwner();
  Footprint footprint;
  if (auto fetch = dyn_cast<lir::FetchSequencerOp>(unit)) {
    footprint.base = &operand == &fetch.getSourceMutable()
                         ? fetch.getBase()
                         : fetch.getOtherBase();
    footprint.bytes = fetch.getRead();
    addLoops(footprint, fetch.getSizes(), fetch.getStrides());
  } else if (auto commit = dyn_cast<lir::CommitSequencerOp>(unit)) {
    footprint.base = commit.getBase();
    footprint.bytes = commit.getWrite();
    addLoops(footprint, commit.getSizes(), commit.getStrides());
  } else {
    return {};
  }
  return {footprint};
}

/// Whether a unit writes the whole of a buffer in all slices.
static bool fills(Operation *unit) {
  if (isa<lir::FillOp>(unit))
    return true;
  if (auto store = dyn_cast<lir::TrfStoreOp>(unit))
    return store.getRowsPerLane() * int64_t(machine::trfRowBytes) ==
           store.getTarget().getType().getBytesPerLane();
  if (auto store = dyn_cast<lir::VrfStoreOp>(unit))
    return store.getRows() * int64_t(machine::vrfRowBytes) ==
           store.getTarget().getType().getBytes();
  return false;
}

void AccessReader::readIssue(IssueOp issue, size_t around,
                             scheduling::Accesses &accesses) {
  SmallVector<LoopOp> loops = getEnclosingLoops(issue);
  auto command = cast<MemoryEffectOpInterface>(issue.getBody().front().front());
  SmallVector<MemoryEffects::EffectInstance> effects;
  command.getEffects(effects);
  for (const MemoryEffects::EffectInstance &effect : effects) {
    bool isWrite = isa<MemoryEffects::Write>(effect.getEffect());
    auto *operand = effect.getEffectValue<OpOperand *>();
    Value buffer = effect.getValue();
    if (!buffer || !(isWrite || isa<MemoryEffects::Read>(effect.getEffect())))
      continue;
    scheduling::Access access;
    access.space = getSpace(buffer);
    access.isWrite = isWrite;
    bool inHbm =
        cast<lir::MemType>(buffer.getType()).getTier() == lir::Tier::Hbm;
    Operation *unit = operand ? operand->getOwner() : nullptr;
    if (auto dma = dyn_cast_or_null<lir::DmaOp>(unit)) {
      // Which rows of a table are met, only the run knows.
      bool isList = operand == dma.getIndicesMutable().begin();
      if (!dma.isIndirect() || !(isList || inHbm))
        access.footprints = getFootprints(dma, isWrite);
      ArrayRef<int64_t> advance =
          issue.getAdvance().value_or(ArrayRef<int64_t>());
      auto addLoop = [&](const BaseLoop &loop) {
        for (Footprint &footprint : access.footprints) {
          footprint.base += loop.base;
          footprint.loops.push_back({loop.count, loop.stride});
        }
      };
      llvm::for_each(getStartLoops(issue, isWrite), addLoop);
      // Loops move addresses in HBM alone.
      for (size_t i = 0; inHbm && i < advance.size() / 2; ++i) {
        int64_t step = advance[2 * i + isWrite];
        if (i < around)
          access.advance.push_back(step);
        else
          addLoop(getBaseLoop(loops[i].getTrips(), step));
      }
    } else if (unit) {
      // The same bytes in all slices that take part.
      SmallVector<std::pair<int64_t, int64_t>> ranges = {{0, slices - 1}};
      if (auto commit = dyn_cast<lir::CommitSequencerOp>(unit)) {
        ranges.clear();
        ArrayRef<int64_t> bounds = commit.getSlices();
        for (size_t i = 0; i + 1 < bounds.size(); i += 2)
          ranges.emplace_back(bounds[i], bounds[i + 1]);
      }
      for (Footprint &part : getFootprints(*operand))
        for (int64_t cluster : clusters)
          for (auto [first, last] : ranges) {
            Footprint footprint = part;
            footprint.base +=
                (cluster * int64_t(machine::slicesPerCluster) + first) *
                int64_t(machine::dmSliceStride);
            footprint.loops.push_back(
                {last - first + 1, int64_t(machine::dmSliceStride)});
            for (const BaseLoop &loop : getStartLoops(issue, isWrite)) {
              footprint.base += loop.base;
              footprint.loops.push_back({loop.count, loop.stride});
            }
            access.footprints.push_back(footprint);
          }
    }
    access.isCertain = !access.footprints.empty();
    if (access.footprints.empty() ||
        !llvm::all_of(access.footprints, [](Footprint &footprint) {
          return footprint.normalize();
        })) {
      access.footprints = getWhole(buffer);
      access.isCertain = unit && fills(unit);
      access.advance.clear();
      for (Footprint &footprint : access.footprints)
        footprint.normalize();
    }
    // Trips and starts that the host says leave bytes out.
    access.isCertain &=
        issue.getNumbers().empty() &&
        llvm::none_of(llvm::drop_begin(loops, around),
                      [](LoopOp loop) { return loop.isCounted(); });
    scheduling::coalesce(access.footprints);
    accesses.push_back(std::move(access));
  }
}

scheduling::Accesses AccessReader::read(Operation *op) {
  scheduling::Accesses accesses;
  size_t around = getEnclosingLoops(op).size();
  op->walk([&](IssueOp issue) { readIssue(issue, around, accesses); });
  return accesses;
}

SmallVector<int64_t> resource::getTripsAround(mlir::Block &block) {
  SmallVector<int64_t> trips;
  if (auto loop = dyn_cast<LoopOp>(block.getParentOp())) {
    for (LoopOp around : getEnclosingLoops(loop))
      trips.push_back(around.getTrips());
    trips.push_back(loop.getTrips());
  }
  return trips;
}

SmallVector<Operation *> resource::getCommands(mlir::Block &block) {
  SmallVector<Operation *> commands;
  for (Operation &op : block)
    if (isa<IssueOp, LoopOp>(op))
      commands.push_back(&op);
  return commands;
}

/// Recursion is as deep as loops nest.
static void addDependences(mlir::Block &block, AccessReader &reader) {
  SmallVector<Operation *> commands = getCommands(block);
  std::vector<scheduling::Accesses> accesses;
  for (Operation *op : commands)
    accesses.push_back(reader.read(op));
  auto after = scheduling::getDependences(accesses, getTripsAround(block));
  for (auto [i, op] : llvm::enumerate(commands)) {
    SmallVector<Value> tokens;
    for (unsigned before : after[i])
      llvm::append_range(tokens, commands[before]->getResults());
    if (auto issue = dyn_cast<IssueOp>(op)) {
      issue.getAfterMutable().assign(tokens);
      continue;
    }
    auto loop = cast<LoopOp>(op);
    loop.getAfterMutable().assign(tokens);
    addDependences(loop.getBody().front(), reader);
  }
}

void resource::addDependences(ProgramOp program) {
  AccessReader reader(program);
  ::addDependences(program.getBody().front(), reader);
}
