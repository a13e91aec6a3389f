//===- SimulatorExec.cpp - One exec on one slice --------------------------===//
//
// Connects the engines on the route of an exec, and the units at its end:
// commit and the write sides of the register files.
//
//===----------------------------------------------------------------------===//

#include "SimulatorImpl.h"

#include "llvm/Support/Endian.h"

#include <cstring>

using namespace furiosa;
using namespace furiosa::rngd;
using namespace furiosa::rngd::sim;
using llvm::Error;
namespace endian = llvm::support::endian;

void CommitUnit::write(const Flit &flit) {
  if (config.cast != codes::CommitCast::None) {
    bool relu = config.cast == codes::CommitCast::F32ToBF16Relu;
    uint8_t bytes[16];
    uint32_t defined = 0;
    for (unsigned k = 0; k < config.keptBytes / 4; ++k) {
      uint32_t pattern = endian::read32le(flit.bytes + 4 * k);
      endian::write16le(bytes + 2 * k,
                        relu ? f32ToBf16Relu(pattern) : f32ToBf16(pattern));
      if ((flit.defined >> 4 * k & 0xF) == 0xF)
        defined |= 3u << 2 * k;
    }
    dm.write(counter.address(), bytes, defined, config.writeBytes);
    counter.next();
    return;
  }
  for (unsigned at = 0; at < config.keptBytes; at += config.writeBytes) {
    dm.write(counter.address(), flit.bytes + at, flit.defined >> at,
             config.writeBytes);
    counter.next();
  }
}

Error TransposeEngine::process(const Flit &flit, FlitSink sink) {
  batch.push_back(flit);
  if (batch.size() < config.rows * config.flitsPerRow)
    return Error::success();
  unsigned cells = transposeCells(config.bits);
  for (unsigned column = 0; column < config.outRows; ++column) {
    Flit out = {};
    for (unsigned row = 0; row < config.rows; ++row) {
      const Flit &in = batch[row * config.flitsPerRow + column / cells];
      unsigned from = column % cells * config.bits, to = row * config.bits;
      if (config.bits == 4) {
        // Two elements share a byte.
        if (!(in.defined >> from / 8 & 1))
          continue;
        uint8_t nibble = in.bytes[from / 8] >> from % 8 & 0xF;
        out.bytes[to / 8] |= nibble << to % 8;
        out.defined |= 1u << to / 8;
        continue;
      }
      unsigned bytes = config.bits / 8;
      std::memcpy(out.bytes + to / 8, in.bytes + from / 8, bytes);
      out.defined |= (in.defined >> from / 8 & ((1u << bytes) - 1)) << to / 8;
    }
    if (Error error = sink(out))
      return error;
  }
  batch.clear();
  return Error::success();
}

/// Fills the rows of lane 0, then of lane 1, ….
static void loadTrf(const TrfWriteConfig &config, FlitStream &stream,
                    TensorRegisterFile &trf) {
  uint64_t laneBytes = machine::trfSliceBytes / config.lanes;
  for (unsigned lane = 0; lane < config.lanes; ++lane) {
    uint64_t address =
        lane * laneBytes + uint64_t(config.rowBase) * machine::trfRowBytes;
    for (uint32_t row = 0; row < config.rowsPerLane; ++row) {
      Flit flit;
      stream.next(flit);
      trf.bytes.write(address, flit.bytes, flit.defined, sizeof(flit.bytes));
      trf.hasFlips |= flit.flips != 0;
      if (trf.hasFlips) {
        uint8_t flips[8];
        endian::write64le(flips, flit.flips);
        trf.flips.write(address / 4, flips, 0xFF, sizeof(flips));
      }
      address += machine::trfRowBytes;
    }
  }
}

namespace {
/// What lies behind contraction and vector engine: transpose and commit, or the
/// rows of the vector register file one after the other.
class ResultWriter {
public:
  ResultWriter(const ExecConfig &config, Slice &slice) : vrf(slice.vrf) {
    if (config.commit)
      commit.emplace(*config.commit, slice.dm);
    if (config.transpose)
      transpose.emplace(*config.transpose);
    if (config.vrf)
      address = uint64_t(config.vrf->rowBase) * machine::vrfRowBytes;
  }

  /// Whether anything that leaves the engines of a slice can be seen.
  static bool isNeeded(const ExecConfig &config, unsigned slice) {
    return config.vrf || (config.commit && config.commit->isEnabled(slice));
  }

  Error process(Flit &flit) {
    auto write = [&](Flit &result) -> Error {
      if (commit) {
        commit->write(result);
        return Error::success();
      }
      vrf.write(address, result.bytes, result.defined, sizeof(result.bytes));
      address += machine::vrfRowBytes;
      return Error::success();
    };
    return transpose ? transpose->process(flit, write) : write(flit);
  }

private:
  TrackedMemory &vrf;
  uint64_t address = 0;
  std::optional<CommitUnit> commit;
  std::optional<TransposeEngine> transpose;
};
} // namespace

/// Gives what is fetched, contracted where the command contracts, to `process`.
static Error streamInto(const ExecConfig &config, FlitStream &stream,
                        Slice &slice, bool plain,
                        llvm::function_ref<Error(Flit &)> process) {
  if (config.contraction)
    return contract(*config.contraction, stream, slice.trf, plain, process);
  for (uint32_t k = 0; k < config.fetch.flits; ++k) {
    Flit flit;
    stream.next(flit);
    if (Error error = process(flit))
      return error;
  }
  return Error::success();
}

Error sim::runExec(const ExecConfig &config, Slices slices, unsigned number,
                   bool plain) {
  FlitStream stream(config.fetch, slices, number);
  Slice &slice = *slices[number % slices.size()];
  if (config.trf)
    loadTrf(*config.trf, stream, slice.trf);
  if (!ResultWriter::isNeeded(config, number))
    return Error::success();

  ResultWriter writer(config, slice);
  std::optional<VectorEngine> vector;
  if (config.vector)
    vector.emplace(*config.vector, slice.vrf, number);
  auto write = [&](Flit &flit) { return writer.process(flit); };
  auto finish = [&](Flit &flit) -> Error {
    return vector ? vector->process(flit, write) : write(flit);
  };
  return streamInto(config, stream, slice, plain, finish);
}

Error sim::runReducingExec(llvm::ArrayRef<const ExecConfig *> configs,
                           Slices slices, unsigned first, bool plain) {
  const SliceReduceConfig &reduce = *configs.front()->vector->sliceReduce;
  auto configOf = [&](unsigned number) -> const ExecConfig & {
    return *configs[(number - first) / machine::slicesPerPE];
  };
  auto sliceAt = [&](unsigned number) -> Slice & {
    return *slices[number % slices.size()];
  };
  auto end =
      first + static_cast<unsigned>(configs.size() * machine::slicesPerPE);
  for (unsigned group = first; group < end; group += reduce.slices) {
    std::vector<std::vector<Beat>> beats(reduce.slices);
    std::vector<std::unique_ptr<VectorEngine>> engines;
    for (unsigned k = 0; k < reduce.slices; ++k) {
      const ExecConfig &config = configOf(group + k);
      Slice &slice = sliceAt(group + k);
      engines.push_back(
          std::make_unique<VectorEngine>(*config.vector, slice.vrf, group + k));
      auto keep = [&](Beat &beat) -> Error {
        beats[k].push_back(beat);
        return Error::success();
      };
      auto enter = [&](Flit &flit) {
        return engines[k]->processFront(flit, keep);
      };
      FlitStream stream(config.fetch, slices, group + k);
      if (Error error = streamInto(config, stream, slice, plain, enter))
        return error;
      if (beats[k].size() != beats[0].size())
        return llvm::createStringError(
            "exec: VectorRouteUnitMainContext.route_group_size: slices of a "
            "group reduce different numbers of flits");
    }
    std::vector<Beat> sums = combineSlices(reduce, beats);
    for (unsigned k = 0; k < reduce.slices; ++k) {
      const ExecConfig &config = configOf(group + k);
      if (!ResultWriter::isNeeded(config, group + k))
        continue;
      ResultWriter writer(config, sliceAt(group + k));
      auto write = [&](Flit &flit) { return writer.process(flit); };
      LoopCounter index(0, reduce.loops);
      for (const Beat &sum : sums) {
        bool isKept = index.address() == (k & reduce.mask);
        index.next();
        Beat beat = sum;
        if (isKept)
          if (Error error = engines[k]->processBack(beat, write))
            return error;
      }
    }
  }
  return Error::success();
}

uint64_t sim::countWork(const ExecConfig &config) {
  // The decoder keeps each below 2^41.
  uint64_t copies = config.fetch.exchange ? config.fetch.exchange->copies() : 1;
  uint64_t work = config.fetch.reads * copies + config.fetch.flits;
  if (config.contraction)
    work += config.contraction->steps;
  if (config.commit)
    work += config.commit->steps;
  return work;
}

void sim::runFill(const FillConfig &config, TrackedMemory &dm) {
  uint8_t pattern[4];
  llvm::support::endian::write32le(pattern, config.pattern);
  for (uint32_t at = config.begin; at < config.end; at += 4) {
    unsigned count = std::min<uint32_t>(4, config.end - at);
    dm.write(at, pattern, (1u << count) - 1, count);
  }
}
