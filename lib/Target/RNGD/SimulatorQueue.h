//===- SimulatorQueue.h - PEs and what is under way -------------*- C++ -*-===//
//
// The state of a run: a processing element with its queue, and the commands
// that it has issued. Private to the simulator.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_TARGET_RNGD_SIMULATORQUEUE_H
#define FURIOSA_LIB_TARGET_RNGD_SIMULATORQUEUE_H

#include "SimulatorImpl.h"
#include "SimulatorRaces.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Endian.h"

#include <map>

namespace furiosa::rngd::sim {

/// An exec and the bytes that it uses.
struct DecodedExec {
  std::shared_ptr<const ExecConfig> config;
  std::shared_ptr<const ExecFootprint> footprint;
};

/// State that all PEs share.
struct Machine {
  const SimulationOptions &options;
  SimulationResult result;
  OperandMemory operands;
  /// Execs by exec word and images: loops run the same ones again and again.
  std::map<std::vector<uint64_t>, DecodedExec> decoded;
  /// For random timing.
  uint64_t random = 0;
  /// Where the schedule has an Issue, by cluster and instruction. For traces.
  std::map<std::pair<uint32_t, size_t>, std::pair<uint64_t, uint64_t>> cycles =
      {};

  uint64_t drawRandom() {
    // The finaliser of splitmix64.
    uint64_t z = random += 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
  }

  LookupTables tables = {};
  /// What PEs have used since they met.
  SharedMemory shared = {};
  /// By PE, over both clusters; those that nothing touches stay empty.
  std::array<std::vector<Slice>, machine::pes> slices = {};

  llvm::MutableArrayRef<Slice> getSlices(unsigned pe) {
    if (slices[pe].empty()) {
      slices[pe].resize(machine::slicesPerPE);
      for (Slice &slice : slices[pe])
        slice.tables = &tables;
    }
    return slices[pe];
  }
};

/// The SPM image after relocation; one copy for each PE.
class Spm {
public:
  Spm(const edf::SpmImage &image) : base(image.base), bytes(image.bytes) {}

  bool contains(uint64_t address, uint64_t size) const {
    return address >= base && size <= bytes.size() &&
           address - base <= bytes.size() - size;
  }
  uint64_t word(uint64_t address) const {
    return llvm::support::endian::read64le(bytes.data() + (address - base));
  }
  void setWord(uint64_t address, uint64_t value) {
    llvm::support::endian::write64le(bytes.data() + (address - base), value);
  }
  llvm::ArrayRef<uint8_t> slice(uint64_t address, uint64_t size) const {
    return llvm::ArrayRef(bytes).slice(address - base, size);
  }

private:
  uint64_t base;
  std::vector<uint8_t> bytes;
};

/// An exec, a fill or a DMA whose effect may still have to happen.
struct Work {
  size_t instruction = 0;
  /// One is set, or it is a DMA.
  std::shared_ptr<const ExecConfig> exec;
  std::optional<FillConfig> fill;
  DmaDescriptor descriptor;
  bool isDone = false;
  /// Of an exec or a fill; that of a DMA is known when its effect is.
  Footprint footprint;
  /// What was under way with it and has had its effect before.
  std::vector<Footprint> beside;

  bool isTransfer() const { return !exec && !fill; }

  /// Groups of slices that are reduced reach beyond a PE.
  bool hasLargeGroups() const {
    return exec && exec->vector && exec->vector->sliceReduce &&
           exec->vector->sliceReduce->slices > machine::slicesPerPE;
  }
  /// Slices of several PEs send one another packets.
  bool isExchange() const {
    return exec && (exec->fetch.exchange || hasLargeGroups());
  }
};

/// One PE with its queue.
class ProcessingElement {
public:
  ProcessingElement(Machine &machine, const edf::Program &program,
                    std::shared_ptr<const std::vector<uint32_t>> targets,
                    Spm spm, unsigned index)
      : machine(machine), program(program), targets(std::move(targets)),
        spm(std::move(spm)), index(index),
        memories(machine.getSlices(program.cluster * machine::pesPerCluster +
                                   index)) {
    tags.fill(idle);
    for (Slice &slice : memories)
      slices.push_back(&slice);
  }

  /// Runs to the end, to the next barrier, or until the effect of an exchange
  /// is due.
  llvm::Error run();
  bool waits() const { return isAtBarrier; }
  void passBarrier() { isAtBarrier = false; }
  /// The exchange that is due; null where the PE is at its end.
  const Work *dueExchange() const {
    return due == idle ? nullptr : &works[due];
  }
  /// Performs the exchange together with the other PEs of the cluster.
  static llvm::Error
  exchange(llvm::ArrayRef<std::unique_ptr<ProcessingElement>> elements);

private:
  struct Frame {
    size_t body;
    uint32_t left;
    /// Words that an Add changed, with their values at entry.
    std::map<uint32_t, uint64_t> saved;
  };

  bool takesPart(const edf::Instruction &instruction) const {
    return instruction.peMask >> index & 1;
  }
  llvm::Error fail(size_t instruction, llvm::Error error) const;
  llvm::Error step();
  /// Whether the condition of an If does.
  bool holds(const edf::Instruction &instruction) const;
  llvm::Error issue(uint32_t word);
  llvm::Error finishAll();

  llvm::Error writeRegisters(const TucCommand &command);
  llvm::Error startExec(const TucCommand &command);
  llvm::Error startFill(const TucCommand &command);
  llvm::Error startStore(const TucCommand &command);
  llvm::Error startDma(const TucCommand &command);
  llvm::Error checkIdle() const;
  llvm::Error wait(const TucCommand &command);

  /// Puts work under way; with early timing its effect happens now.
  llvm::Error start(Work work, size_t &slot);
  /// With random timing, lets some of what is under way happen.
  llvm::Error performSome();
  llvm::Error perform(Work &work);
  /// What `work` does, on `all` slices that take part.
  llvm::Error applyExec(const Work &work, Slices all);
  /// Holds the bytes that `work` uses against those of what is under way.
  llvm::Error checkRaces(Work &work);
  bool isUnderWay(const Work &work) const {
    size_t slot = &work - works.data();
    return llvm::is_contained(contexts, slot) || llvm::is_contained(tags, slot);
  }
  /// Calls `callback` for all that is under way but `work`.
  void forOthers(const Work &work, llvm::function_ref<void(Work &)> callback);
  /// MM-40.
  llvm::Error checkBanks(const Work &work);
  llvm::Error spend(uint64_t steps);

  /// Whether a busy context works with a block of its bank.
  bool usesBlock(unsigned context, Block block) const;
  llvm::Expected<DecodedExec *> decode(const TucCommand &exec, unsigned bank);

  static constexpr size_t idle = ~size_t(0);

  Machine &machine;
  const edf::Program &program;
  /// Where conditions jump to, by instruction.
  std::shared_ptr<const std::vector<uint32_t>> targets;
  Spm spm;
  /// In the cluster.
  unsigned index;
  llvm::MutableArrayRef<Slice> memories;
  llvm::SmallVector<Slice *, 64> slices;

  size_t position = 0;
  bool isAtEnd = false;
  bool isAtBarrier = false;
  llvm::SmallVector<Frame, 4> frames;
  std::array<std::optional<uint64_t>, machine::tucGeneralRegisters> registers;

  /// Register blocks by bank, and whether an exec has used their contents.
  std::array<std::map<Block, SfrImage>, machine::sfrBanks> banks;
  /// Blocks that were written slice by slice.
  std::array<std::map<Block, std::vector<SfrImage>>, machine::sfrBanks> bySlice;
  std::array<std::map<Block, size_t>, machine::sfrBanks> unused;

  /// An exchange that the PE waits for.
  size_t due = idle;
  /// Everything issued; the busy contexts and tags point into it.
  std::vector<Work> works;
  std::array<size_t, 2> contexts = {idle, idle};
  /// Bank that a busy context works with.
  std::array<unsigned, 2> contextBanks = {};
  std::array<size_t, machine::dmaTags> tags;
  std::array<bool, machine::dmaTags> tagsEverUsed = {};
};

} // namespace furiosa::rngd::sim

#endif // FURIOSA_LIB_TARGET_RNGD_SIMULATORQUEUE_H
