//===- KernelReader.h - A kernel binary as a program ------------*- C++ -*-===//
//
// Builds a scheduled program from the sections of a kernel. Private to the
// translation.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_TARGET_RNGD_TRANSLATE_KERNELREADER_H
#define FURIOSA_LIB_TARGET_RNGD_TRANSLATE_KERNELREADER_H

#include "KernelTranslation.h"
#include "ProgramParser.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace furiosa::rngd {

/// A buffer of the memory plan.
struct Placement {
  resource::BufferOp op;
  lir::Tier tier;
  /// Bytes, in a lane for TRF.
  int64_t address;
  int64_t bytes;
  int64_t lanes;
  int64_t firstCycle;
  int64_t lastCycle;
  /// Rises with every write; 0 if there was none.
  unsigned lastWrite = 0;
};

/// A list of commands of one cluster, and how many of them are built.
struct EventCursor {
  unsigned cluster;
  llvm::ArrayRef<ProgramEvent> events;
  size_t position = 0;

  const ProgramEvent *next() const {
    return position < events.size() ? &events[position] : nullptr;
  }
};

class KernelReader {
public:
  /// For kernel `index` of the file, which is `kernel`.
  KernelReader(const edf::Reader &reader, unsigned index, edf::Kernel kernel,
               mlir::MLIRContext *context)
      : reader(reader), index(index), builder(context),
        kernel(std::move(kernel)) {}

  mlir::OwningOpRef<mlir::ModuleOp> run();

private:
  mlir::Location locate(const llvm::Twine &place) {
    return mlir::NameLoc::get(builder.getStringAttr(
        llvm::Twine(reader.fileName()) + ": " +
        (reader.numKernels() > 1 ? "kernel " + llvm::Twine(index) + ": "
                                 : llvm::Twine()) +
        place));
  }
  /// With the source line, if the file has one.
  mlir::Location locate(unsigned cluster, size_t instruction);

  llvm::LogicalResult applyLeastNumbers();
  /// Adds to `scales`, two numbers a scalar of the kernel, what moves a word.
  llvm::LogicalResult takeStarts(mlir::Location loc, uint32_t word,
                                 bool isTarget,
                                 llvm::SmallVectorImpl<int64_t> &scales);
  /// The arguments and steps of an issue.
  void setStarts(resource::IssueOp issue, llvm::ArrayRef<int64_t> scales);
  /// A use of bytes, with all places to which numbers move it.
  BufferUse widen(BufferUse use, llvm::ArrayRef<int64_t> scales) const;
  llvm::LogicalResult setCount(resource::LoopOp loop, uint32_t word);
  llvm::LogicalResult parsePrograms();
  llvm::LogicalResult buildArguments();
  llvm::LogicalResult buildBuffers();
  llvm::LogicalResult buildBlock(llvm::SmallVectorImpl<EventCursor> &cursors);
  llvm::LogicalResult buildLoop(llvm::ArrayRef<const ProgramEvent *> events,
                                llvm::ArrayRef<EventCursor> cursors);
  llvm::LogicalResult buildExecution(const ProgramEvent &event,
                                     unsigned cluster);
  llvm::LogicalResult buildFill(const ProgramEvent &event, unsigned cluster);
  llvm::LogicalResult buildBarrier(const ProgramEvent &event, unsigned cluster);
  llvm::LogicalResult buildDma(llvm::SmallVectorImpl<EventCursor> &cursors);
  llvm::LogicalResult checkSame(llvm::ArrayRef<EventCursor> cursors);
  bool isReady(llvm::ArrayRef<EventCursor> cursors, unsigned tag) const;
  llvm::LogicalResult buildWait(llvm::SmallVectorImpl<EventCursor> &cursors,
                                unsigned tag);

  /// The cycles of the next command; null where no schedule is known.
  mlir::FailureOr<const edf::ScheduledCommand *>
  takeCycles(mlir::Location loc, edf::CommandKind kind);
  mlir::DenseI64ArrayAttr getCycles(const edf::ScheduledCommand *command) {
    if (!command)
      return {};
    return builder.getDenseI64ArrayAttr(
        {int64_t(command->begin), int64_t(command->end)});
  }
  mlir::FailureOr<PlacedBuffer>
  findBuffer(mlir::Location loc, const BufferUse &use,
             const edf::ScheduledCommand *command);
  /// Cycles of a command in the first trip of the loops around; nothing where
  /// they are not known.
  std::optional<std::pair<int64_t, int64_t>>
  getFirstTrip(const edf::ScheduledCommand *command) const {
    int64_t begin, end;
    if (!command || !blockStart ||
        llvm::AddOverflow(*blockStart, int64_t(command->begin), begin) ||
        llvm::AddOverflow(*blockStart, int64_t(command->end), end))
      return std::nullopt;
    return std::pair(begin, end);
  }
  /// The queue gets on when a command ends.
  void passCycle(int64_t end) {
    if (clock)
      clock = std::max(*clock, end);
  }
  /// What a loop adds to a word in an iteration.
  int64_t takeStep(size_t level, uint32_t word);

  const edf::Reader &reader;
  unsigned index;
  mlir::OpBuilder builder;
  edf::Kernel kernel;
  uint8_t allPEs = 0;
  int64_t pes = 1;
  llvm::SmallVector<std::vector<ProgramEvent>, 2> programs;
  /// Of each cluster's program in the file.
  std::array<size_t, machine::clusters> programIndex = {};

  llvm::SmallVector<mlir::Value> arguments;
  /// Uses of numbers of the host by the SPM word that they change, and the words
  /// that loops and commands have used. `kernel.spm` holds the words with the
  /// least numbers.
  llvm::DenseMap<uint32_t, llvm::SmallVector<const edf::ScalarUse *, 1>>
      wordUses;
  llvm::DenseSet<uint32_t> usedWords;
  std::vector<ProgramTest> tests;
  std::vector<Placement> placements;
  unsigned numWrites = 0;
  /// Relocations by the word that they set; erased when used.
  llvm::DenseMap<uint32_t, const edf::Relocation *> relocations;
  /// Addresses of the first descriptors of DMAs, where the schedule says them.
  llvm::DenseSet<uint32_t> firstDescriptors;
  bool hasSchedule = false;
  size_t scheduled = 0;
  /// When the queue gets to the next command, in first trips of loops; nothing
  /// where the cycles are not known.
  std::optional<int64_t> clock;
  /// What the cycles of the block count from.
  std::optional<int64_t> blockStart;
  /// The ends of what has been issued.
  std::array<int64_t, 2> contextEnds = {};
  llvm::DenseMap<unsigned, int64_t> tagEnds;
  /// Steps of the loops around that no descriptor has taken yet.
  llvm::SmallVector<llvm::DenseMap<uint32_t, int64_t>, 4> loopSteps;
  TagTracker tags;
};

} // namespace furiosa::rngd

#endif // FURIOSA_LIB_TARGET_RNGD_TRANSLATE_KERNELREADER_H
