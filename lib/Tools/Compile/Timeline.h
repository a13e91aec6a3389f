//===- Timeline.h - When the commands of a program run ----------*- C++ -*-===//

#ifndef FURIOSA_LIB_TOOLS_COMPILE_TIMELINE_H
#define FURIOSA_LIB_TOOLS_COMPILE_TIMELINE_H

#include "furiosa/Dialect/Resource/IR/Resource.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace furiosa::compile {

/// The commands of a scheduled program with absolute cycles. Starts of loops
/// are nowhere written: they follow from the queue.
class Timeline {
public:
  explicit Timeline(resource::ProgramOp program);

  /// Calls `visit` with each issue, its first and last cycle and its number in
  /// the queue, where waits and loops count as well. Loops are unrolled as long
  /// as no more than `most` commands come out; beyond that a loop shows its
  /// first and its last trip.
  void visit(uint64_t most,
             llvm::function_ref<void(resource::IssueOp, int64_t, int64_t,
                                     uint64_t number, bool isShortened)>
                 visit);

  /// Start of a loop, from the start of the block that it is in.
  int64_t getStart(resource::LoopOp loop) const { return starts.at(loop); }

private:
  void replay(mlir::Block &block, int64_t clock);
  static uint64_t countCommands(mlir::Block &block);

  resource::ProgramOp program;
  llvm::DenseMap<mlir::Operation *, int64_t> starts;
};

/// What a command is called in schedules and figures: DmaLoad, DmaStore,
/// TuExec, StoTrf or StoVrf.
llvm::StringRef getCommandKind(resource::IssueOp issue);

/// Whether an exec goes through the vector engine.
bool usesVectorEngine(lir::ExecOp exec);

} // namespace furiosa::compile

#endif // FURIOSA_LIB_TOOLS_COMPILE_TIMELINE_H
