//===- Scheduling.h - Order, cycles and addresses of commands ---*- C++ -*-===//
//
// The scheduling problem of one kernel on plain data. The chip has one in-order
// queue of commands: an issue starts work and returns at once, a wait blocks
// the queue until that work is done. So the order of issues and waits is the
// schedule, and cycles follow from it.
//
// Rules of the queue:
// - a command is issued when all that it depends on has been waited for;
// - main and sub run one command each; one that uses a busy resource is issued
//   after a wait; transfers queue up in front of the DMA engines;
// - a loop is entered with nothing under way that it depends on or that uses
//   what it uses, leaves nothing under way at its back edge, and blocks the
//   queue for all its trips.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_DIALECT_RESOURCE_SCHEDULING_SCHEDULING_H
#define FURIOSA_DIALECT_RESOURCE_SCHEDULING_SCHEDULING_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace furiosa::scheduling {

//===----------------------------------------------------------------------===//
// The problem
//===----------------------------------------------------------------------===//

/// What a command runs on.
enum class Engine : uint8_t { Main, Sub, Dma, Loop };

/// Bits of what a command keeps busy.
enum Resource : unsigned {
  MainContext = 1,
  SubContext = 2,
  DmaEngines = 4,
  VectorEngine = 8,
  TransposeEngine = 16,
  AllResources = 31
};
inline constexpr unsigned numResources = 5;

/// One command of a block; the order of commands is program order.
struct Command {
  Engine engine = Engine::Main;
  /// Bits of `Resource`; those of the engine itself are implied.
  unsigned resources = 0;
  /// Cycles from start to end; for a loop those of the body count instead.
  int64_t cycles = 0;
  /// Commands of the same block, earlier in program order, that must be done.
  llvm::SmallVector<unsigned, 4> after;
  /// Buffers that the command reads or writes.
  llvm::SmallVector<unsigned, 4> buffers;
  /// For a loop: index of the block of its body, and its trips (at least 1).
  unsigned body = 0;
  int64_t trips = 0;

  /// All that the command keeps busy; of a loop, all that it could.
  unsigned getResources() const;
};

struct Block {
  std::vector<Command> commands;
  /// The order of the commands is fixed.
  bool keepsOrder = false;
};

/// Of a slice, but `Hbm`, which is that of the chip.
enum class Memory : uint8_t { Dm, Trf, Vrf, Hbm };
inline constexpr unsigned numMemories = 4;

struct Buffer {
  Memory memory = Memory::Dm;
  /// Bytes a slice, in all lanes; of HBM all bytes.
  int64_t bytes = 0;
  /// Lanes that a TRF buffer spreads over; 1 elsewhere.
  int64_t lanes = 1;
  /// An address that somebody has fixed.
  std::optional<int64_t> preset;
  /// Body of the loop whose iterations write the buffer before they read it,
  /// and outside of which nothing touches it: what an iteration leaves in it,
  /// nobody reads. 0 if there is none.
  unsigned body = 0;
};

struct Problem {
  /// The first is the program's own, the others are bodies of loops; a body
  /// stands behind the block that its loop is in.
  std::vector<Block> blocks;
  std::vector<Buffer> buffers;
};

/// The cycle in which the queue of a kernel starts, and the cycles that follow
/// its last command.
int64_t getKernelStart();
int64_t getKernelEnd();
/// Capacity of a memory, bytes (of a slice).
int64_t getCapacity(Memory memory);
/// Alignment that allocation gives addresses, bytes.
int64_t getAlignment(Memory memory);

//===----------------------------------------------------------------------===//
// The solution
//===----------------------------------------------------------------------===//

/// One entry of the queue.
struct Step {
  enum Kind : uint8_t { Issue, Wait } kind;
  /// Index of the command in its block.
  unsigned command;
};

/// The queue of one block.
struct BlockSchedule {
  std::vector<Step> steps;
  /// Per command, from the start of the block; for the program's block from the
  /// start of the kernel.
  std::vector<int64_t> start, end;
  /// Per command; -1 for all but transfers.
  std::vector<int> tag;
  /// From the start of the block to the end of its last command.
  int64_t length = 0;
  /// No other order is shorter, given the lengths of the loops inside.
  bool isOptimal = false;
};

struct Placement {
  int64_t address = 0;
  /// Cycles from the first to the last command that touches the buffer; those
  /// of a loop count from its first to its last trip. Equal if none does. Of a
  /// buffer with a body they may be those of the first trip, if its place is
  /// used again in each.
  int64_t begin = 0, end = 0;
};

struct Solution {
  std::vector<BlockSchedule> blocks;
  std::vector<Placement> placements;
  int64_t makespan = 0;
  int64_t lowerBound = 0;
};

/// Why there is no solution.
struct Failure {
  enum Kind : uint8_t {
    /// The problem itself is malformed, or its cycles do not fit.
    Malformed,
    /// Buffers do not fit even in program order, one command at a time.
    OutOfMemory,
    /// Two fixed addresses overlap.
    PresetConflict,
  } kind = Malformed;
  std::string message;
  Memory memory = Memory::Dm;
  /// The buffers that live while the one that has no place does, that one last,
  /// or the two whose fixed addresses overlap.
  std::vector<unsigned> buffers;
  /// Cycles in which those live.
  std::vector<std::pair<int64_t, int64_t>> lives;
  /// Where those lie; -1 for the one without a place.
  std::vector<int64_t> addresses;
  /// The largest piece that is free in each of its lanes beside the others, and
  /// where it begins.
  int64_t largestFree = 0, largestFreeAt = 0;
  /// The most bytes of the memory that live at a time.
  int64_t peak = 0;
};

/// Orders commands, places buffers. Without a solution, `failure` says why.
std::optional<Solution> solve(const Problem &problem, Failure &failure);

/// Program order, one command at a time, in which buffers live as short as they
/// can: addresses that fit any order whose dependences follow from them.
/// Without a solution, `failure` says why.
std::optional<Solution> allocateInProgramOrder(const Problem &problem,
                                               Failure &failure);

/// The program as it stands: program order, waits only where needed. Buffers
/// are not placed.
Solution scheduleInProgramOrder(const Problem &problem);

/// Blocks of up to that many commands have a bound that looks at ancestors and
/// descendants, which takes more time.
inline constexpr size_t maxCommandsBoundByAncestors = 128;

/// A makespan that no schedule beats, from dependences and resources alone.
///
/// For each resource the best that its users could do if they could be
/// interrupted, each at its earliest, with the least that must follow behind
/// it. The earliest start of a command is the longest chain of dependences in
/// front of it or, if more, the best that all commands that it waits for,
/// directly or not, could do in the same way on one resource; likewise for what
/// must follow. Between the start and the end of every kernel. Computed without
/// the scheduler.
int64_t getLowerBound(const Problem &problem);
/// The same for each block, from its start on.
std::vector<int64_t> getBlockBounds(const Problem &problem);

/// Empty if the problem is well formed: dependences point backwards, buffers
/// and bodies exist, cycles are not negative and their sum fits.
std::string checkProblem(const Problem &problem);

/// Per block the one that its loop is in; 0 for the program's own.
std::vector<unsigned> getParents(const Problem &problem);
/// Whether a block is `around` or the body of a loop somewhere in it.
inline bool isWithin(unsigned block, unsigned around,
                     llvm::ArrayRef<unsigned> parents) {
  // Bodies stand behind the blocks of their loops.
  while (block > around)
    block = parents[block];
  return block == around;
}

//===----------------------------------------------------------------------===//
// The checker
//===----------------------------------------------------------------------===//

/// What is wrong with a solution, one sentence each, empty if nothing is.
/// Written apart from the scheduler. `block` and `command` say where.
struct Fault {
  std::string message;
  /// Block and command at fault; -1 if the fault is of the whole program.
  int block = -1;
  int command = -1;
  /// The other party: a command of the same block or a buffer; -1 if none.
  int otherCommand = -1;
  int buffer = -1;
  int otherBuffer = -1;
};
std::vector<Fault> check(const Problem &problem, const Solution &solution);

} // namespace furiosa::scheduling

#endif // FURIOSA_DIALECT_RESOURCE_SCHEDULING_SCHEDULING_H
