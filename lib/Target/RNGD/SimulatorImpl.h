//===- SimulatorImpl.h - Parts of the simulator -----------------*- C++ -*-===//
//
// Memories with undefined bytes, the engines of a slice, and DMA. Private to
// the simulator.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_TARGET_RNGD_SIMULATORIMPL_H
#define FURIOSA_LIB_TARGET_RNGD_SIMULATORIMPL_H

#include "furiosa/Target/RNGD/ExecConfig.h"
#include "furiosa/Target/RNGD/Machine.h"
#include "furiosa/Target/RNGD/Simulator.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <memory>

namespace furiosa::rngd::sim {

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Bytes, each with a bit that says whether it is defined. Undefined bytes are
/// kept at 0. Pages come into being when something defined is written.
class TrackedMemory {
public:
  explicit TrackedMemory(uint64_t size)
      : numBytes(size), pages((size + pageBytes - 1) / pageBytes) {}

  uint64_t size() const { return numBytes; }

  /// Copies bytes out; undefined ones read 0.
  void read(uint64_t address, uint8_t *out, uint64_t count) const;
  /// Bit k: byte `address + k` is defined; `count` is at most 32.
  uint32_t definedMask(uint64_t address, unsigned count) const;
  /// Whether all of, or any of, the bytes are defined.
  bool allDefined(uint64_t address, uint64_t count) const;
  bool anyDefined(uint64_t address, uint64_t count) const;

  /// Writes at most 32 bytes; those without a bit in `mask` become undefined.
  void write(uint64_t address, const uint8_t *source, uint32_t mask,
             unsigned count);
  /// Copies bytes and their definedness; the memories may be the same.
  void copyFrom(uint64_t address, const TrackedMemory &source,
                uint64_t sourceAddress, uint64_t count);

private:
  static constexpr uint64_t pageBytes = 4096;
  struct Page {
    uint8_t bytes[pageBytes];
    /// Looked at 8 bytes at a time, hence 8 more than are in use.
    uint8_t bits[pageBytes / 8 + 8];
  };

  uint64_t numBytes;
  std::vector<std::unique_ptr<Page>> pages;
};

/// Operands in HBM, each a region of its own. Remembers which PE used which
/// byte: PEs run without order among them, so they must not depend on another.
class OperandMemory {
public:
  llvm::Error load(const edf::Arguments &arguments,
                   llvm::ArrayRef<OperandBuffer> operands);
  void store(llvm::MutableArrayRef<OperandBuffer> operands) const;

  /// PE-view address of an operand. Regions lie far apart, so that an address
  /// beyond one operand is not in another.
  static uint64_t address(uint64_t operand) {
    return machine::hbmBase + machine::hbmReservedBytes + (operand << spacing);
  }

  /// Memory and offset of a packet; refused if it is not inside one operand.
  llvm::Expected<std::pair<unsigned, uint64_t>> find(uint64_t address,
                                                     uint64_t bytes) const;
  TrackedMemory &memory(unsigned operand) { return regions[operand].memory; }

  /// Notes that `pe` (0 … 7 over both clusters) uses bytes; refused if another
  /// PE wrote them, or `isWrite` and another PE read them.
  llvm::Error use(unsigned operand, uint64_t offset, uint64_t bytes,
                  unsigned pe, bool isWrite);

private:
  static constexpr unsigned spacing = 44;
  struct Region {
    std::string name;
    edf::Role role;
    TrackedMemory memory;
    /// One bit a PE for each byte.
    std::vector<uint8_t> readers;
    std::vector<uint8_t> writers;
  };
  std::vector<Region> regions;
};

/// Memories of one slice.
struct Slice {
  TrackedMemory dm{machine::dmSliceBytes};
  TrackedMemory trf{machine::trfSliceBytes};
  TrackedMemory vrf{machine::vrfSliceBytes};
};

//===----------------------------------------------------------------------===//
// Engines
//===----------------------------------------------------------------------===//

struct Flit {
  uint8_t bytes[32];
  /// Bit k: byte k is defined.
  uint32_t defined;
};

/// The flits that fetch and collect make of a slice, one after the other.
class FlitStream {
public:
  FlitStream(const FetchConfig &config, const TrackedMemory &dm)
      : config(config), dm(dm), counter(config.base, config.loops) {}

  /// `config.flits` times.
  void next(Flit &flit);

private:
  /// Appends one converted read to `pending`.
  void read();

  const FetchConfig &config;
  const TrackedMemory &dm;
  LoopCounter counter;
  /// Bytes of the packet that are still to come out of `read`.
  uint64_t unread = 0;
  /// Bytes that are read and not yet in a flit.
  uint8_t pending[64];
  uint64_t pendingDefined = 0;
  unsigned numPending = 0;
};

using FlitSink = llvm::function_ref<llvm::Error(Flit &)>;

/// Runs the dot-product engine and hands its flits to `sink`.
llvm::Error contract(const DotProductConfig &config, FlitStream &stream,
                     const TrackedMemory &trf, bool plain, FlitSink sink);

/// The vector engine on one slice.
class VectorEngine {
public:
  VectorEngine(const VectorConfig &config, const TrackedMemory &vrf);
  /// Changes the next flit of the stream.
  llvm::Error process(Flit &flit);

private:
  const VectorConfig &config;
  const TrackedMemory &vrf;
  /// Of the ALUs with an operand from the register file.
  std::vector<LoopCounter> counters;
};

/// Writes flits to the data memory of one slice.
class CommitUnit {
public:
  CommitUnit(const CommitConfig &config, TrackedMemory &dm)
      : config(config), dm(dm), counter(config.base, config.loops) {}
  void write(const Flit &flit);

private:
  const CommitConfig &config;
  TrackedMemory &dm;
  LoopCounter counter;
};

/// Runs an exec on one slice. `number` is that in the cluster.
llvm::Error runExec(const ExecConfig &config, Slice &slice, unsigned number,
                    bool plain);

/// Steps of all loops of an exec on one slice.
uint64_t countWork(const ExecConfig &config);

//===----------------------------------------------------------------------===//
// DMA
//===----------------------------------------------------------------------===//

/// Reads a descriptor and refuses what is not supported or not used.
llvm::Expected<DmaDescriptor> decodeDescriptor(llvm::ArrayRef<uint8_t> bytes);

/// Moves all packets of PE `pe` (0 … 7), whose slices are `slices`.
llvm::Error runDma(const DmaDescriptor &descriptor,
                   llvm::MutableArrayRef<Slice> slices, OperandMemory &operands,
                   unsigned pe);

} // namespace furiosa::rngd::sim

#endif // FURIOSA_LIB_TARGET_RNGD_SIMULATORIMPL_H
