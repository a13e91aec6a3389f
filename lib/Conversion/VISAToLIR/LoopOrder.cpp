//===- LoopOrder.cpp - The order of the loops of descriptors --------------===//
//
// A transfer writes each cell once, so its loops may run in any order. What
// that costs is up to the networks and rows of HBM that packets in a row meet.
//
//===----------------------------------------------------------------------===//

#include "LoopOrder.h"
#include "furiosa/Dialect/Resource/Scheduling/CostModel.h"

#include <algorithm>
#include <limits>

using namespace furiosa;
using namespace furiosa::visa;

/// Cycles of a command; nothing where they are not counted.
static std::optional<int64_t> getCycles(const TransferCommand &command,
                                        const TransferPlan &plan, bool fromDm,
                                        bool toDm) {
  std::vector<scheduling::EngineShape> shapes;
  for (const EngineTransfer &engine : command) {
    scheduling::EngineShape &shape = shapes.emplace_back();
    shape.source = engine.sourceBase + plan.source.bytes;
    shape.target = engine.targetBase + plan.target.bytes;
    shape.packet = engine.packet;
    for (const TransferLoop &loop : engine.loops) {
      shape.sizes.push_back(loop.size);
      shape.sourceStrides.push_back(loop.sourceStride);
      shape.targetStrides.push_back(loop.targetStride);
    }
  }
  auto getSide = [](bool isDm) {
    return isDm ? scheduling::Side::Dm : scheduling::Side::Hbm;
  };
  auto cost = scheduling::getDmaCost(getSide(fromDm), getSide(toDm), shapes);
  return cost ? std::optional(cost->cycles) : std::nullopt;
}

/// The orders of a command's loops: as derived, or with one of the others
/// innermost; each with networks in turn first.
static std::vector<TransferCommand> getOrders(const TransferCommand &command,
                                              bool toDm) {
  size_t loops = 1;
  for (const EngineTransfer &engine : command)
    loops = std::max(loops, engine.loops.size());
  std::vector<TransferCommand> orders;
  for (size_t moved = 0; moved < loops; ++moved) {
    TransferCommand order = command;
    for (EngineTransfer &engine : order)
      if (engine.indexLoops == 0 && moved > 0 && moved < engine.loops.size())
        std::rotate(engine.loops.end() - moved - 1, engine.loops.end() - moved,
                    engine.loops.end());
    TransferCommand inTurn = order;
    for (EngineTransfer &engine : inTurn)
      alternateNetworks(engine, toDm);
    orders.push_back(std::move(inTurn));
    orders.push_back(std::move(order));
  }
  return orders;
}

void visa::chooseLoopOrders(TransferPlan &plan, bool fromDm, bool toDm) {
  for (TransferCommand &command : plan.commands) {
    // Data memory has no rows to open.
    if (fromDm && toDm) {
      for (EngineTransfer &engine : command)
        alternateNetworks(engine, toDm);
      continue;
    }
    std::optional<int64_t> least;
    for (TransferCommand &order : getOrders(command, toDm)) {
      auto cycles = getCycles(order, plan, fromDm, toDm);
      // The first one stands where nothing is counted.
      if (least && (!cycles || *cycles >= *least))
        continue;
      least = cycles.value_or(std::numeric_limits<int64_t>::max());
      command = std::move(order);
    }
  }
}
