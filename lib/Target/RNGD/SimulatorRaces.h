//===- SimulatorRaces.h - Which bytes commands use --------------*- C++ -*-===//
//
// The bytes that execs, fills and transfers read and write, so that the
// simulator finds those that no wait keeps apart. Private to the simulator.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_TARGET_RNGD_SIMULATORRACES_H
#define FURIOSA_LIB_TARGET_RNGD_SIMULATORRACES_H

#include "furiosa/Target/RNGD/ExecConfig.h"
#include "furiosa/Target/RNGD/Machine.h"

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace furiosa::rngd::sim {

/// Bytes of one memory, a bit each in pages that come into being when used.
class ByteSet {
public:
  void insert(uint64_t begin, uint64_t count);
  void insert(const ByteSet &other);
  /// `bytes` at each address of a loop nest.
  void insert(uint64_t base, const HardwareLoops &loops, uint64_t bytes);
  /// The lowest byte that is in both.
  std::optional<uint64_t> findCommon(const ByteSet &other) const;

private:
  static constexpr uint64_t pageBytes = 4096;
  std::map<uint64_t, std::array<uint64_t, pageBytes / 64>> pages;
};

/// Bytes of one memory that are read and written.
struct Uses {
  ByteSet reads;
  ByteSet writes;
};
/// The lowest byte that both use, one of them writing.
std::optional<uint64_t> findConflict(const Uses &one, const Uses &other);

/// What an exec or a fill uses in each slice that takes part. The slices differ
/// only in whether they commit.
struct ExecFootprint {
  Uses dm, trf, vrf;
  /// Bit s of the 256: slice s of the cluster writes to `dm`.
  std::array<uint64_t, 4> writesDm = {};
  /// Most accesses to one bank of the data memory in a row by a sequencer,
  /// counted up to `machine::dmSameBankAccesses` (MM-40).
  unsigned sameBankRun = 0;

  explicit ExecFootprint(const ExecConfig &config);
  explicit ExecFootprint(const FillConfig &fill);
};

/// What a transfer uses, by memory.
class DmaFootprint {
public:
  static unsigned ofOperand(unsigned operand) { return operand; }
  static unsigned ofSlice(unsigned pe, unsigned slice) {
    return firstSlice + pe * machine::slicesPerPE + slice;
  }
  static bool isSlice(unsigned memory) { return memory >= firstSlice; }
  /// 0 … 7, of a slice.
  static unsigned peOf(unsigned memory) {
    return (memory - firstSlice) / machine::slicesPerPE;
  }
  static unsigned sliceOf(unsigned memory) {
    return (memory - firstSlice) % machine::slicesPerPE;
  }

  std::map<unsigned, Uses> memories;

  void insert(unsigned memory, uint64_t offset, uint64_t bytes, bool isWrite) {
    Uses &uses = memories[memory];
    (isWrite ? uses.writes : uses.reads).insert(offset, bytes);
  }
  void insert(const DmaFootprint &other);

private:
  /// Operands are fewer than 2^16.
  static constexpr unsigned firstSlice = 1u << 16;
};

/// What a command of a PE has used.
struct Footprint {
  /// Number in the PE program.
  size_t instruction = 0;
  /// One of them is set.
  std::shared_ptr<const ExecFootprint> exec;
  std::shared_ptr<const DmaFootprint> dma;
};

/// Names a byte that commands of PE `pe` (0 … 7) both use, one of them writing.
/// "byte 256 of the data memory of slice 3".
std::optional<std::string>
findConflict(const Footprint &one, const Footprint &other, unsigned pe,
             llvm::function_ref<std::string(unsigned)> operandName);

/// What PEs have done to the data memory since they met. Only a transfer
/// reaches the slices of another PE, and nothing but a barrier orders it with
/// what others do.
class SharedMemory {
public:
  void add(unsigned pe, const Footprint &footprint);
  /// Says which PE, transfer and byte.
  std::optional<std::string> findConflict() const;
  /// All PEs have met.
  void forget() { pes = {}; }

private:
  struct Use {
    /// By execs and fills in all own slices, and in those of a mask.
    ByteSet reads;
    std::map<uint64_t, ByteSet> writes;
    /// Slices of data memories.
    DmaFootprint transfers;
    /// The first transfer that touched a slice of another PE.
    std::map<unsigned, size_t> foreign;
  };
  /// A byte of a slice that `pe` uses too.
  std::optional<uint64_t> findByte(unsigned pe, unsigned memory,
                                   const Uses &uses) const;

  std::array<Use, machine::pes> pes = {};
};

} // namespace furiosa::rngd::sim

#endif // FURIOSA_LIB_TARGET_RNGD_SIMULATORRACES_H
