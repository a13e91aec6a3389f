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

#include <deque>
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
  llvm::Error load(const edf::Kernel &kernel,
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
  llvm::StringRef name(unsigned operand) const { return regions[operand].name; }
  /// Whether a kernel may write it.
  bool isWritable(unsigned operand) const {
    edf::Role role = regions[operand].role;
    return role != edf::Role::Input && role != edf::Role::Constant;
  }

  /// Notes that `pe` (0 … 7 over both clusters) uses bytes; refused if another
  /// PE wrote them, or `isWrite` and another PE read them.
  llvm::Error use(unsigned operand, uint64_t offset, uint64_t bytes,
                  unsigned pe, bool isWrite);
  /// All PEs have met: what they did before is ordered.
  void forgetUses();

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

/// The tensor register file: rows of 32 bytes, and beside each nibble a fifth
/// bit. It repeats the nibble's top bit but for integers from which a zero
/// point was subtracted; only such nibbles are noted.
struct TensorRegisterFile {
  TrackedMemory bytes{machine::trfSliceBytes};
  /// A bit per nibble, eight bytes per row.
  TrackedMemory flips{machine::trfSliceBytes / 4};
  /// Whether any flip was ever stored.
  bool hasFlips = false;

  bool flip(uint64_t nibble) const {
    uint8_t byte;
    flips.read(nibble / 8, &byte, 1);
    return byte >> nibble % 8 & 1;
  }
};

/// What the fetch unit looks up, by code; a table that the kernel does not have
/// is empty.
using LookupTables = std::array<llvm::ArrayRef<uint8_t>, 5>;

/// Memories of one slice.
struct Slice {
  TrackedMemory dm{machine::dmSliceBytes};
  TensorRegisterFile trf;
  TrackedMemory vrf{machine::vrfSliceBytes};
  /// The same for all slices of the chip.
  const LookupTables *tables = nullptr;
};

/// The slices of a PE, or of all PEs of a cluster that run.
using Slices = llvm::ArrayRef<Slice *>;

//===----------------------------------------------------------------------===//
// Engines
//===----------------------------------------------------------------------===//

struct Flit {
  uint8_t bytes[32];
  /// Bit k: byte k is defined.
  uint32_t defined;
  /// Bit k: the bit beside nibble k differs from the nibble's top bit.
  uint64_t flips = 0;
};

/// The flits that a slice collects, one after the other: of its own packets, or
/// of those that the switch brings.
class FlitStream {
public:
  /// `slices` are those of the cluster, or of one PE: their number is a power
  /// of two, `number` counts in the cluster. An exchange needs the cluster's.
  FlitStream(const FetchConfig &config, Slices slices, unsigned number)
      : config(config), slices(slices), number(number),
        dm(&slices[number % slices.size()]->dm),
        counter(config.base, config.loops) {
    if (config.lookup)
      table = (*slices[number % slices.size()]->tables)[config.lookup->code];
  }

  /// `config.flits` times.
  void next(Flit &flit);

private:
  void beginPacket();
  /// Appends one converted read to `pending`.
  void read();

  const FetchConfig &config;
  Slices slices;
  unsigned number;
  llvm::ArrayRef<uint8_t> table;
  /// Where the packet comes from.
  const TrackedMemory *dm;
  LoopCounter counter;
  /// Packets begun; counted with an exchange only.
  uint64_t numPackets = 0;
  /// Bytes of the packet that are still to come out of `read`.
  uint64_t unread = 0;
  /// Bytes that are read and not yet in a flit.
  uint8_t pending[64];
  uint64_t pendingDefined = 0;
  std::array<uint64_t, 2> pendingFlips = {};
  unsigned numPending = 0;
};

using FlitSink = llvm::function_ref<llvm::Error(Flit &)>;

/// Runs the dot-product engine and hands its flits to `sink`.
llvm::Error contract(const DotProductConfig &config, FlitStream &stream,
                     const TensorRegisterFile &trf, bool plain, FlitSink sink);

/// An element of the vector engine.
struct Element {
  uint32_t value = 0;
  /// Execution id, unless it hangs on something undefined.
  uint8_t id = 0;
  bool isDefined = false;
  bool isTagged = false;
};

/// Eight elements, or the four of a narrow packet.
struct Beat {
  Element elements[8];
  unsigned ways = 8;
  /// The first ones that a reduction takes.
  unsigned valid = 8;

  llvm::MutableArrayRef<Element> live() { return {elements, ways}; }
};

/// The vector engine on one slice.
class VectorEngine {
public:
  /// `slice` is its number in the cluster.
  VectorEngine(const VectorConfig &config, const TrackedMemory &vrf,
               unsigned slice);
  /// Takes the next flit of the stream; gives `sink` those that leave.
  llvm::Error process(const Flit &flit, FlitSink sink);

  /// With a reduction between slices: what stands in front of it, and behind.
  using BeatSink = llvm::function_ref<llvm::Error(Beat &)>;
  llvm::Error processFront(const Flit &flit, BeatSink sink);
  llvm::Error processBack(Beat &beat, FlitSink sink);

private:
  void tag(Beat &beat);
  /// Takes a beat through the steps from `position` on.
  llvm::Error run(unsigned position, Beat &beat, BeatSink sink);
  llvm::Error emit(const Beat &beat, FlitSink sink);
  static void apply(const AluConfig &alu, Element &element,
                    const Element &fromFile);
  /// Adds a packet to its sum; true if that is complete, and then in `beat`.
  bool reduce(const ReduceConfig &config, LoopCounter &slots, Beat &beat);
  unsigned countValid();
  Element readFile(const AluConfig &alu, LoopCounter &counter,
                   const Element &element);

  const VectorConfig &config;
  const TrackedMemory &vrf;
  unsigned slice;
  /// One a step: addresses of the operand from the register file, or slots of
  /// the reduction.
  std::vector<LoopCounter> counters;
  /// Index of the valid count generator.
  std::optional<LoopCounter> validIndex;
  struct Sum {
    Element elements[4];
    uint32_t count = 0;
  };
  Sum sums[8];
  std::deque<Element> stash;
  /// First packet of a flit that concat makes.
  std::optional<Beat> waiting;
  uint64_t flitsIn = 0;
};

/// Gathers flits to batches and turns them.
class TransposeEngine {
public:
  explicit TransposeEngine(const TransposeConfig &config) : config(config) {}
  /// Takes a flit; a full batch goes to `sink`.
  llvm::Error process(const Flit &flit, FlitSink sink);

private:
  const TransposeConfig &config;
  llvm::SmallVector<Flit, 64> batch;
};

/// The beats of a group's slices, combined in the order of the slices.
std::vector<Beat> combineSlices(const SliceReduceConfig &config,
                                llvm::ArrayRef<std::vector<Beat>> slices);

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

/// Runs an exec on slice `number` of the cluster; see FlitStream for `slices`.
llvm::Error runExec(const ExecConfig &config, Slices slices, unsigned number,
                    bool plain);

/// Repeats the pattern over the bytes.
void runFill(const FillConfig &config, TrackedMemory &dm);

/// Runs an exec that reduces between slices on one or more PEs, from slice
/// `first` of the cluster on; `configs` has the exec of each of them. Groups
/// lie within these PEs and are the same for all.
llvm::Error runReducingExec(llvm::ArrayRef<const ExecConfig *> configs,
                            Slices slices, unsigned first, bool plain);

/// Steps of all loops of an exec on one slice.
uint64_t countWork(const ExecConfig &config);

//===----------------------------------------------------------------------===//
// DMA
//===----------------------------------------------------------------------===//

/// Reads a descriptor and refuses what is not supported or not used.
llvm::Expected<DmaDescriptor> decodeDescriptor(llvm::ArrayRef<uint8_t> bytes);

class DmaFootprint;

/// The slices of a PE (0 … 7 over both clusters).
using SliceLookup =
    llvm::function_ref<llvm::MutableArrayRef<Slice>(unsigned pe)>;

/// Moves all packets of PE `pe` (0 … 7) and notes their bytes in `footprint`.
llvm::Error runDma(const DmaDescriptor &descriptor, SliceLookup slices,
                   OperandMemory &operands, DmaFootprint &footprint,
                   unsigned pe);

} // namespace furiosa::rngd::sim

#endif // FURIOSA_LIB_TARGET_RNGD_SIMULATORIMPL_H
