//===- Timeline.h - When the commands of a program run ----------*- C++ -*-===//

#ifndef FURIOSA_LIB_TOOLS_COMPILE_TIMELINE_H
#define FURIOSA_LIB_TOOLS_COMPILE_TIMELINE_H

#include "furiosa/Dialect/Resource/IR/Resource.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace furiosa::compile {

/// What the queue does at one place: an issue, a wait or a loop of all trips.
struct TimelineEntry {
  mlir::Operation *op;
  /// Of a wait: while the queue stands.
  int64_t begin, end;
  /// Number in the queue, where issues, waits and loops count.
  uint64_t number;
};

/// The commands of a scheduled program with absolute cycles. Starts of loops
/// are nowhere written: they follow from the queue.
class Timeline {
public:
  explicit Timeline(resource::ProgramOp program);

  /// Calls `visit` with each entry of the queue, a loop in front of what is in
  /// it. Loops are unrolled as long as no more than `most` commands come out;
  /// beyond that a loop shows its first and its last trip.
  void visit(uint64_t most,
             llvm::function_ref<void(const TimelineEntry &)> visit);

  /// What a wait waits for; null if its context has run nothing.
  resource::IssueOp getTarget(resource::WaitOp wait) const {
    return targets.lookup(wait);
  }

private:
  void replay(mlir::Block &block, int64_t clock);
  static uint64_t countCommands(mlir::Block &block);

  resource::ProgramOp program;
  /// Of issues, waits and loops from the start of their block.
  llvm::DenseMap<mlir::Operation *, std::pair<int64_t, int64_t>> spans;
  llvm::DenseMap<mlir::Operation *, resource::IssueOp> targets;
};

/// What a command is called in schedules and figures: DmaLoad, DmaStore,
/// TuExec, StoTrf or StoVrf.
llvm::StringRef getCommandKind(resource::IssueOp issue);

/// Whether an exec goes through the vector engine.
bool usesVectorEngine(lir::ExecOp exec);

} // namespace furiosa::compile

#endif // FURIOSA_LIB_TOOLS_COMPILE_TIMELINE_H
