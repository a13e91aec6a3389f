//===- Scratch.cpp - Scratch of kernels in HBM ----------------------------===//
//
// Scratch that shares bytes becomes windows of one operand: the bases of
// transfers move, and dependences follow from the bytes as for all others.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/Resource/Transforms/Scratch.h"
#include "furiosa/Dialect/Resource/Scheduling/Scheduling.h"
#include "furiosa/Dialect/Resource/Transforms/Dependences.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::resource;
namespace machine = furiosa::rngd::machine;

namespace {
class ScratchPacker {
public:
  ScratchPacker(ProgramOp program, int64_t capacity)
      : program(program), capacity(capacity),
        reserved(int64_t(machine::hbmBytes) - capacity) {}
  LogicalResult run();

private:
  static int64_t getBytes(ArgumentOp argument) {
    return argument.getResult().getType().getBytes();
  }
  /// Where an operand may end so that the next one begins at a multiple that
  /// the loader keeps to.
  static int64_t getRoom(ArgumentOp argument) {
    return llvm::alignTo(getBytes(argument), machine::hbmBufferAlignment);
  }
  /// Takes out scratch that nothing uses.
  void sortArguments();
  void renumber();
  scheduling::Problem makeProblem();
  LogicalResult reportOutOfMemory(const scheduling::Failure &failure);
  void share(ArrayRef<int64_t> addresses, int64_t bytes);

  ProgramOp program;
  int64_t capacity;
  /// Bytes of HBM that the caller leaves aside, in front of all.
  int64_t reserved;
  /// Those that stay as they are, and how many bytes they take.
  SmallVector<ArgumentOp> others;
  int64_t fixed = 0;
  /// Those that may share bytes.
  llvm::MapVector<Value, ArgumentOp> scratch;
};
} // namespace

void ScratchPacker::sortArguments() {
  for (auto argument :
       llvm::make_early_inc_range(program.getBody().getOps<ArgumentOp>())) {
    if (argument.getRole() == Role::Scratch &&
        argument.getResult().use_empty()) {
      argument.erase();
      continue;
    }
    // What a row lies beside counts where only the run knows which it is.
    bool isShared =
        argument.getRole() == Role::Scratch &&
        llvm::all_of(argument.getResult().getUsers(), [](Operation *user) {
          auto dma = dyn_cast<lir::DmaOp>(user);
          return dma && !dma.isIndirect();
        });
    if (isShared) {
      scratch[argument.getResult()] = argument;
      continue;
    }
    others.push_back(argument);
    // Sums that exceed 64 bits exceed HBM as well.
    fixed = std::min<uint64_t>(
        llvm::SaturatingAdd<uint64_t>(fixed, getRoom(argument)), INT64_MAX);
  }
  renumber();
}

void ScratchPacker::renumber() {
  int64_t index = 0;
  for (auto argument : program.getBody().getOps<ArgumentOp>())
    argument.setIndex(index++);
}

/// Each command of the program's own block with the scratch that it touches,
/// behind a buffer for all that is taken.
scheduling::Problem ScratchPacker::makeProblem() {
  scheduling::Problem problem;
  problem.blocks.resize(1);
  int64_t taken = reserved + fixed;
  auto addBuffer = [&](int64_t bytes) -> scheduling::Buffer & {
    scheduling::Buffer buffer;
    buffer.memory = scheduling::Memory::Hbm;
    buffer.bytes = bytes;
    return problem.buffers.emplace_back(buffer);
  };
  if (taken > 0)
    addBuffer(taken).preset = 0;
  llvm::DenseMap<Value, unsigned> index;
  for (auto &[value, argument] : scratch) {
    index[value] = problem.buffers.size();
    addBuffer(getBytes(argument));
  }
  for (Operation *op : getCommands(program.getBody().front())) {
    scheduling::Command command;
    command.cycles = 1;
    if (taken > 0)
      command.buffers.push_back(0);
    for (const Access &access : getAccesses(op))
      if (auto it = index.find(access.buffer);
          it != index.end() && !llvm::is_contained(command.buffers, it->second))
        command.buffers.push_back(it->second);
    problem.blocks[0].commands.push_back(std::move(command));
  }
  return problem;
}

LogicalResult
ScratchPacker::reportOutOfMemory(const scheduling::Failure &failure) {
  unsigned first = reserved + fixed > 0;
  auto getArgument = [&](unsigned buffer) {
    return std::next(scratch.begin(), buffer - first)->second;
  };
  ArgumentOp last = getArgument(failure.buffers.back());
  InFlightDiagnostic diag =
      emitError(last.getLoc())
      << "MM-5: out of memory: hbm holds " << capacity << " bytes, no room for "
      << getBytes(last)
      << " bytes of scratch beside what lives at the same time; at the peak "
      << failure.peak - reserved << " live";
  for (auto [buffer, address] : llvm::zip(failure.buffers, failure.addresses)) {
    if (buffer < first)
      diag.attachNote(program.getLoc())
          << "arguments, results and tables take " << fixed
          << " bytes, in all of the kernel";
    else if (address >= 0)
      diag.attachNote(getArgument(buffer).getLoc())
          << getBytes(getArgument(buffer)) << " bytes of scratch at "
          << address - reserved;
  }
  if (failure.largestFree == 0)
    diag.attachNote(program.getLoc()) << "beside them nothing is free";
  else
    diag.attachNote(program.getLoc())
        << "the largest piece that is free has " << failure.largestFree
        << " bytes, at " << failure.largestFreeAt - reserved;
  return diag;
}

/// Moves what touches scratch into one operand of `bytes`.
void ScratchPacker::share(ArrayRef<int64_t> addresses, int64_t bytes) {
  llvm::DenseMap<Value, int64_t> moves;
  for (auto [entry, address] : llvm::zip(scratch, addresses))
    moves[entry.first] = address;
  program.walk([&](lir::DmaOp dma) {
    int64_t source = moves.lookup(dma.getSource());
    int64_t target = moves.lookup(dma.getTarget());
    if (source == 0 && target == 0)
      return;
    SmallVector<Attribute> engines;
    for (auto engine : dma.getEngines().getAsRange<lir::EngineAttr>())
      engines.push_back(lir::EngineAttr::get(
          engine.getContext(), engine.getCluster(), engine.getPe(),
          engine.getSource() + source, engine.getTarget() + target,
          engine.getSizes(), engine.getSourceStrides(),
          engine.getTargetStrides(), engine.getPacket(), engine.getList(),
          engine.getKeys()));
    dma.setEnginesAttr(ArrayAttr::get(dma.getContext(), engines));
  });
  ArgumentOp all = scratch.front().second;
  all.getResult().setType(
      lir::MemType::get(all.getContext(), lir::Tier::Hbm, bytes, /*lanes=*/1));
  for (auto &[value, argument] : llvm::drop_begin(scratch)) {
    value.replaceAllUsesWith(all.getResult());
    argument.erase();
  }
  renumber();
}

LogicalResult ScratchPacker::run() {
  sortArguments();
  uint64_t sum = fixed;
  for (auto &[value, argument] : scratch)
    sum = llvm::SaturatingAdd<uint64_t>(sum, getRoom(argument));
  if (sum <= uint64_t(capacity))
    return success();
  if (fixed > capacity) {
    InFlightDiagnostic diag = emitError(program.getLoc())
                              << "MM-5: arguments, results and tables need "
                              << fixed << " bytes together, HBM has "
                              << capacity;
    for (ArgumentOp argument : others)
      diag.attachNote(argument.getLoc())
          << stringifyRole(argument.getRole()) << " \"" << argument.getName()
          << "\" needs " << getBytes(argument) << " bytes";
    return diag;
  }
  scheduling::Problem problem = makeProblem();
  scheduling::Failure failure;
  std::optional<scheduling::Solution> solution =
      scheduling::allocateInProgramOrder(problem, failure);
  if (!solution) {
    if (failure.kind == scheduling::Failure::OutOfMemory)
      return reportOutOfMemory(failure);
    return emitError(program.getLoc())
           << "scratch has no place: " << failure.message;
  }
  SmallVector<int64_t> addresses;
  int64_t end = 0;
  for (auto [entry, placement] : llvm::zip(
           scratch, ArrayRef(solution->placements)
                        .drop_front(problem.buffers.size() - scratch.size()))) {
    addresses.push_back(placement.address - reserved - fixed);
    end = std::max(end, addresses.back() + getBytes(entry.second));
  }
  share(addresses, end);
  return success();
}

LogicalResult resource::packScratch(ProgramOp program, int64_t capacity) {
  return ScratchPacker(program, capacity).run();
}
