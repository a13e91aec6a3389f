//===- Networks.cpp - The two networks of a PE ----------------------------===//

#include "furiosa/Dialect/VISA/Transfer/Transfer.h"
#include "furiosa/Target/RNGD/Machine.h"

using namespace furiosa;
using namespace furiosa::visa;
namespace machine = furiosa::rngd::machine;

void visa::alternateNetworks(EngineTransfer &engine, bool toDm) {
  // Rows of an indirect transfer stay in the order of their list.
  if (engine.indexLoops > 0 || engine.loops.empty())
    return;
  constexpr int64_t network =
      int64_t(machine::slicesPerDMN) * machine::dmSliceStride;
  auto strideOf = [&](const TransferLoop &loop) {
    return toDm ? loop.targetStride : loop.sourceStride;
  };
  if (strideOf(engine.loops.back()) >= network)
    return;
  for (auto &loop : engine.loops) {
    int64_t stride = strideOf(loop);
    if (stride < int64_t(machine::dmSliceStride) || loop.size == 1)
      continue;
    TransferLoop turns = loop;
    if (stride >= network) {
      engine.loops.erase(&loop);
    } else {
      // The steps within one network, and those between the two.
      int64_t steps = network / stride;
      if (network % stride != 0 || loop.size % steps != 0 ||
          loop.size == steps ||
          engine.loops.size() + 1 > size_t(machine::dmaLoops - 1))
        continue;
      turns = {loop.size / steps, loop.sourceStride * steps,
               loop.targetStride * steps};
      loop.size = steps;
    }
    engine.loops.push_back(turns);
    return;
  }
}
