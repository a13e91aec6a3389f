//===- SimulatorRaces.cpp - Which bytes commands use ----------------------===//
//
// Footprints of commands, and where two of them meet.
//
//===----------------------------------------------------------------------===//

#include "SimulatorRaces.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/bit.h"

using namespace furiosa::rngd;
using namespace furiosa::rngd::sim;

//===----------------------------------------------------------------------===//
// Sets of bytes
//===----------------------------------------------------------------------===//

void ByteSet::insert(uint64_t begin, uint64_t count) {
  while (count > 0) {
    uint64_t offset = begin % pageBytes;
    uint64_t here = std::min(count, pageBytes - offset);
    auto &bits = pages[begin / pageBytes];
    for (uint64_t at = offset; at < offset + here;) {
      uint64_t shift = at % 64;
      uint64_t size = std::min(64 - shift, offset + here - at);
      bits[at / 64] |= (size == 64 ? ~0ull : (1ull << size) - 1) << shift;
      at += size;
    }
    begin += here;
    count -= here;
  }
}

void ByteSet::insert(const ByteSet &other) {
  for (const auto &[number, bits] : other.pages)
    for (auto [word, more] : llvm::zip_equal(pages[number], bits))
      word |= more;
}

void ByteSet::insert(uint64_t base, const HardwareLoops &loops,
                     uint64_t bytes) {
  // The order and direction of loops do not matter, and those that move by no
  // more than what the inner ones cover leave no holes.
  llvm::SmallVector<HardwareLoop, 8> outer;
  for (HardwareLoop loop : loops) {
    auto stride = static_cast<int64_t>(loop.stride);
    if (loop.limit <= 1 || stride == 0)
      continue;
    if (stride < 0) {
      base += static_cast<uint64_t>((loop.limit - 1) * stride);
      loop.stride = -loop.stride;
    }
    outer.push_back(loop);
  }
  llvm::sort(outer, [](const HardwareLoop &a, const HardwareLoop &b) {
    return a.stride < b.stride;
  });
  size_t dense = 0;
  while (dense < outer.size() && uint64_t(outer[dense].stride) <= bytes) {
    bytes += uint64_t(outer[dense].limit - 1) * uint64_t(outer[dense].stride);
    ++dense;
  }
  HardwareLoops rest = {};
  uint64_t steps = 1;
  for (auto [k, loop] : llvm::enumerate(llvm::drop_begin(outer, dense))) {
    rest[k] = loop;
    steps *= loop.limit;
  }
  LoopCounter counter(base, rest);
  for (uint64_t k = 0; k < steps; ++k, counter.next())
    insert(counter.address(), bytes);
}

std::optional<uint64_t> ByteSet::findCommon(const ByteSet &other) const {
  auto one = pages.begin(), two = other.pages.begin();
  while (one != pages.end() && two != other.pages.end()) {
    if (one->first != two->first) {
      ++(one->first < two->first ? one : two);
      continue;
    }
    for (uint64_t k = 0; k < one->second.size(); ++k)
      if (uint64_t both = one->second[k] & two->second[k])
        return one->first * pageBytes + k * 64 + llvm::countr_zero(both);
    ++one;
    ++two;
  }
  return std::nullopt;
}

std::optional<uint64_t> sim::findConflict(const Uses &one, const Uses &other) {
  if (auto byte = one.writes.findCommon(other.writes))
    return byte;
  if (auto byte = one.writes.findCommon(other.reads))
    return byte;
  return one.reads.findCommon(other.writes);
}

//===----------------------------------------------------------------------===//
// Execs and fills
//===----------------------------------------------------------------------===//

/// Most accesses of `bytes` in a row that touch one bank, up to the number that
/// is too many.
static unsigned countSameBank(uint64_t base, const HardwareLoops &loops,
                              uint64_t steps, unsigned bytes) {
  unsigned most = 0;
  std::array<unsigned, machine::dmBanks> runs = {};
  LoopCounter counter(base, loops);
  for (uint64_t k = 0; k < steps && most < machine::dmSameBankAccesses; ++k) {
    uint64_t first = counter.address() / machine::dmBankBytes;
    uint64_t last = (counter.address() + bytes - 1) / machine::dmBankBytes;
    counter.next();
    std::array<unsigned, machine::dmBanks> now = {};
    for (uint64_t word = first; word <= last; ++word) {
      uint64_t bank = word % machine::dmBanks;
      now[bank] = runs[bank] + 1;
      most = std::max(most, now[bank]);
    }
    runs = now;
  }
  return most;
}

ExecFootprint::ExecFootprint(const ExecConfig &config) {
  const FetchConfig &fetch = config.fetch;
  dm.reads.insert(fetch.base, fetch.loops, fetch.readBytes);
  sameBankRun =
      countSameBank(fetch.base, fetch.loops, fetch.reads, fetch.readBytes);
  if (config.commit) {
    const CommitConfig &commit = *config.commit;
    dm.writes.insert(commit.base, commit.loops, commit.writeBytes);
    writesDm = commit.sliceEnable;
    sameBankRun =
        std::max(sameBankRun, countSameBank(commit.base, commit.loops,
                                            commit.steps, commit.writeBytes));
  }
  if (config.contraction) {
    const DotProductConfig &part = *config.contraction;
    for (unsigned lane = 0; lane < part.lanes; ++lane)
      trf.reads.insert(uint64_t(lane) * part.laneBytes() + part.weightBase,
                       part.weights, part.weightBytes);
  }
  if (config.trf) {
    uint64_t laneBytes = machine::trfSliceBytes / config.trf->lanes;
    for (unsigned lane = 0; lane < config.trf->lanes; ++lane)
      trf.writes.insert(lane * laneBytes + uint64_t(config.trf->rowBase) *
                                               machine::trfRowBytes,
                        uint64_t(config.trf->rowsPerLane) *
                            machine::trfRowBytes);
  }
  if (config.vrf)
    vrf.writes.insert(uint64_t(config.vrf->rowBase) * machine::vrfRowBytes,
                      uint64_t(config.vrf->rows) * machine::vrfRowBytes);
  if (config.vector)
    for (const VectorStep &step : config.vector->chain)
      if (step.kind == VectorStep::Kind::Alu &&
          step.alu.reads(AluSlot::Source::Vrf))
        vrf.reads.insert(step.alu.base, step.alu.loops, sizeof(uint32_t));
}

ExecFootprint::ExecFootprint(const FillConfig &fill) {
  dm.writes.insert(fill.begin, fill.end - fill.begin);
  writesDm.fill(~0ull);
}

//===----------------------------------------------------------------------===//
// Conflicts
//===----------------------------------------------------------------------===//

void DmaFootprint::insert(const DmaFootprint &other) {
  for (const auto &[memory, uses] : other.memories) {
    memories[memory].reads.insert(uses.reads);
    memories[memory].writes.insert(uses.writes);
  }
}

static std::string nameByte(uint64_t byte, const llvm::Twine &memory) {
  return ("byte " + llvm::Twine(byte) + " of " + memory).str();
}

static std::string namePE(unsigned pe) {
  return "cluster " + std::to_string(pe / machine::pesPerCluster) + " PE " +
         std::to_string(pe % machine::pesPerCluster);
}

/// Between two commands of the Tensor Unit of one PE.
static std::optional<std::string> findConflict(const ExecFootprint &one,
                                               const ExecFootprint &other,
                                               unsigned pe) {
  if (auto byte = findConflict(one.trf, other.trf))
    return nameByte(*byte, "the tensor register files");
  if (auto byte = findConflict(one.vrf, other.vrf))
    return nameByte(*byte, "the vector register files");
  unsigned group = pe % machine::pesPerCluster;
  auto check = [&](const ByteSet &a, const ByteSet &b,
                   uint64_t slices) -> std::optional<std::string> {
    if (slices != 0)
      if (auto byte = a.findCommon(b))
        return nameByte(*byte, "the data memory of slice " +
                                   llvm::Twine(llvm::countr_zero(slices)));
    return std::nullopt;
  };
  uint64_t mine = one.writesDm[group], theirs = other.writesDm[group];
  if (auto text = check(one.dm.writes, other.dm.writes, mine & theirs))
    return text;
  if (auto text = check(one.dm.writes, other.dm.reads, mine))
    return text;
  return check(one.dm.reads, other.dm.writes, theirs);
}

/// Between a command of the Tensor Unit of `pe` and any transfer.
static std::optional<std::string>
findConflict(const ExecFootprint &exec, const DmaFootprint &dma, unsigned pe) {
  for (const auto &[memory, uses] : dma.memories) {
    if (!DmaFootprint::isSlice(memory) || DmaFootprint::peOf(memory) != pe)
      continue;
    unsigned slice = DmaFootprint::sliceOf(memory);
    std::optional<uint64_t> byte = exec.dm.reads.findCommon(uses.writes);
    if (!byte && exec.writesDm[pe % machine::pesPerCluster] >> slice & 1) {
      byte = exec.dm.writes.findCommon(uses.writes);
      if (!byte)
        byte = exec.dm.writes.findCommon(uses.reads);
    }
    if (byte)
      return nameByte(*byte, "the data memory of slice " + llvm::Twine(slice));
  }
  return std::nullopt;
}

std::optional<std::string>
sim::findConflict(const Footprint &one, const Footprint &other, unsigned pe,
                  llvm::function_ref<std::string(unsigned)> operandName) {
  if (one.exec && other.exec)
    return ::findConflict(*one.exec, *other.exec, pe);
  if (one.exec)
    return ::findConflict(*one.exec, *other.dma, pe);
  if (other.exec)
    return ::findConflict(*other.exec, *one.dma, pe);
  for (const auto &[memory, uses] : one.dma->memories) {
    auto found = other.dma->memories.find(memory);
    if (found == other.dma->memories.end())
      continue;
    std::optional<uint64_t> byte = findConflict(uses, found->second);
    if (!byte)
      continue;
    if (!DmaFootprint::isSlice(memory))
      return nameByte(*byte, "operand '" + operandName(memory) + "'");
    unsigned owner = DmaFootprint::peOf(memory);
    return nameByte(*byte, "the data memory of slice " +
                               llvm::Twine(DmaFootprint::sliceOf(memory)) +
                               (owner == pe ? "" : " of " + namePE(owner)));
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Between PEs
//===----------------------------------------------------------------------===//

void SharedMemory::add(unsigned pe, const Footprint &footprint) {
  Use &use = pes[pe];
  if (footprint.exec) {
    use.reads.insert(footprint.exec->dm.reads);
    use.writes[footprint.exec->writesDm[pe % machine::pesPerCluster]].insert(
        footprint.exec->dm.writes);
    return;
  }
  for (const auto &[memory, uses] : footprint.dma->memories) {
    if (!DmaFootprint::isSlice(memory))
      continue;
    use.transfers.memories[memory].reads.insert(uses.reads);
    use.transfers.memories[memory].writes.insert(uses.writes);
    if (DmaFootprint::peOf(memory) != pe)
      use.foreign.try_emplace(memory, footprint.instruction);
  }
}

std::optional<uint64_t> SharedMemory::findByte(unsigned pe, unsigned memory,
                                               const Uses &uses) const {
  const Use &use = pes[pe];
  std::optional<uint64_t> byte;
  auto found = use.transfers.memories.find(memory);
  if (found != use.transfers.memories.end())
    byte = sim::findConflict(uses, found->second);
  if (byte || DmaFootprint::peOf(memory) != pe)
    return byte;
  byte = uses.writes.findCommon(use.reads);
  for (const auto &[slices, writes] : use.writes) {
    if (byte)
      break;
    if (!(slices >> DmaFootprint::sliceOf(memory) & 1))
      continue;
    byte = uses.writes.findCommon(writes);
    if (!byte)
      byte = uses.reads.findCommon(writes);
  }
  return byte;
}

std::optional<std::string> SharedMemory::findConflict() const {
  for (unsigned pe = 0; pe < machine::pes; ++pe)
    for (auto [memory, instruction] : pes[pe].foreign) {
      const Uses &uses = pes[pe].transfers.memories.at(memory);
      for (unsigned other = 0; other < machine::pes; ++other) {
        if (other == pe)
          continue;
        if (std::optional<uint64_t> byte = findByte(other, memory, uses))
          return namePE(pe) + ": command " + std::to_string(instruction) +
                 ": " +
                 nameByte(*byte,
                          "the data memory of slice " +
                              llvm::Twine(DmaFootprint::sliceOf(memory)) +
                              " of " + namePE(DmaFootprint::peOf(memory))) +
                 " is used by " + namePE(other) +
                 " too, one of them writing, in no defined order; a barrier is "
                 "missing";
      }
    }
  return std::nullopt;
}
