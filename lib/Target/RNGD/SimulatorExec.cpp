//===- SimulatorExec.cpp - One exec on one slice --------------------------===//
//
// Connects the engines on the route of an exec, and the units at its end:
// commit and the write sides of the register files.
//
//===----------------------------------------------------------------------===//

#include "SimulatorImpl.h"

using namespace furiosa::rngd;
using namespace furiosa::rngd::sim;
using llvm::Error;

void CommitUnit::write(const Flit &flit) {
  for (unsigned at = 0; at < config.keptBytes; at += config.writeBytes) {
    dm.write(counter.address(), flit.bytes + at, flit.defined >> at,
             config.writeBytes);
    counter.next();
  }
}

/// Fills the rows of lane 0, then of lane 1, ….
static void loadTrf(const TrfWriteConfig &config, FlitStream &stream,
                    TrackedMemory &trf) {
  uint64_t laneBytes = machine::trfSliceBytes / config.lanes;
  for (unsigned lane = 0; lane < config.lanes; ++lane) {
    uint64_t address =
        lane * laneBytes + uint64_t(config.rowBase) * machine::trfRowBytes;
    for (uint32_t row = 0; row < config.rowsPerLane; ++row) {
      Flit flit;
      stream.next(flit);
      trf.write(address, flit.bytes, flit.defined, sizeof(flit.bytes));
      address += machine::trfRowBytes;
    }
  }
}

static void loadVrf(const VrfWriteConfig &config, FlitStream &stream,
                    TrackedMemory &vrf) {
  uint64_t address = uint64_t(config.rowBase) * machine::vrfRowBytes;
  for (uint32_t row = 0; row < config.rows; ++row) {
    Flit flit;
    stream.next(flit);
    vrf.write(address, flit.bytes, flit.defined, sizeof(flit.bytes));
    address += machine::vrfRowBytes;
  }
}

Error sim::runExec(const ExecConfig &config, Slice &slice, unsigned number,
                   bool plain) {
  FlitStream stream(config.fetch, slice.dm);
  if (config.trf)
    loadTrf(*config.trf, stream, slice.trf);
  if (config.vrf)
    loadVrf(*config.vrf, stream, slice.vrf);
  // Nothing but a commit can be seen of the rest.
  if (!config.commit || !config.commit->isEnabled(number))
    return Error::success();

  CommitUnit commit(*config.commit, slice.dm);
  std::optional<VectorEngine> vector;
  if (config.vector)
    vector.emplace(*config.vector, slice.vrf);
  auto finish = [&](Flit &flit) -> Error {
    if (vector)
      if (Error error = vector->process(flit))
        return error;
    commit.write(flit);
    return Error::success();
  };
  if (config.contraction)
    return contract(*config.contraction, stream, slice.trf, plain, finish);
  for (uint32_t k = 0; k < config.fetch.flits; ++k) {
    Flit flit;
    stream.next(flit);
    if (Error error = finish(flit))
      return error;
  }
  return Error::success();
}

uint64_t sim::countWork(const ExecConfig &config) {
  // The decoder keeps each below 2^41.
  uint64_t work = config.fetch.reads + config.fetch.flits;
  if (config.contraction)
    work += config.contraction->steps;
  if (config.commit)
    work += config.commit->steps;
  return work;
}
