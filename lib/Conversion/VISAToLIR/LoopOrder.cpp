//===- LoopOrder.cpp - The order of the loops of descriptors --------------===//
//
// A transfer writes each cell once, so its loops may run in any order. What
// that costs is up to the networks and rows of HBM that packets in a row meet.
//
//===----------------------------------------------------------------------===//

#include "LoopOrder.h"
#include "furiosa/Dialect/Resource/Scheduling/CostModel.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

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

void visa::chooseLoopOrders(TransferPlan &plan, bool fromDm, bool toDm) {
  for (TransferCommand &command : plan.commands) {
    size_t loops = 0;
    for (const EngineTransfer &engine : command)
      loops = std::max(loops, engine.loops.size());
    // As derived, or with one of the other loops innermost; each with networks
    // in turn first.
    std::vector<TransferCommand> orders;
    for (size_t moved = 0; moved < std::max<size_t>(loops, 1); ++moved) {
      TransferCommand order = command;
      for (EngineTransfer &engine : order)
        if (engine.indexLoops == 0 && moved > 0 && moved < engine.loops.size())
          std::rotate(engine.loops.end() - moved - 1,
                      engine.loops.end() - moved, engine.loops.end());
      TransferCommand inTurn = order;
      for (EngineTransfer &engine : inTurn)
        alternateNetworks(engine, toDm);
      orders.push_back(std::move(inTurn));
      orders.push_back(std::move(order));
    }
    // Data memory has no rows to open.
    if (fromDm && toDm)
      orders.resize(1);
    std::optional<int64_t> least;
    size_t best = 0;
    for (auto [at, order] : llvm::enumerate(orders)) {
      auto cycles = orders.size() == 1
                        ? std::optional<int64_t>()
                        : getCycles(order, plan, fromDm, toDm);
      if (cycles && (!least || *cycles < *least)) {
        least = cycles;
        best = at;
      }
    }
    command = std::move(orders[best]);
  }
}
