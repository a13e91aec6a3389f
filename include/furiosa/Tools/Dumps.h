//===- Dumps.h - What programs read about a kernel --------------*- C++ -*-===//
//
// JSON for the viewers of schedules, traces and IR graphs, and figures of a
// compilation. Schemas stand in docs/schedule.md and docs/compile.md.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_TOOLS_DUMPS_H
#define FURIOSA_TOOLS_DUMPS_H

#include "furiosa/Dialect/Resource/IR/Resource.h"

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <map>
#include <string>

namespace furiosa {

/// The schedule of a scheduled program, as the schedule viewer reads it.
std::string dumpSchedule(resource::ProgramOp program);

/// The same as a trace that Perfetto and chrome://tracing open.
std::string dumpTrace(resource::ProgramOp program);

/// When each tensor of a scheduled program lives, and where.
std::string dumpLifetimes(resource::ProgramOp program);

/// The graph of tensors and operators of a kernel above resource, as the IR
/// graph viewer reads it.
std::string dumpGraph(mlir::Operation *module);

/// Figures of one compilation.
struct Summary {
  /// Commands of the program by kind, as the schedule names them, and cycles.
  struct Cycles {
    uint64_t total = 0, computation = 0, main = 0, sub = 0, io = 0, sync = 0;
    /// In which the multipliers take a step.
    uint64_t mac = 0;
    /// In which nothing else runs.
    uint64_t mainOnly = 0, subOnly = 0, ioOnly = 0;
    std::map<std::string, uint64_t> byOperator;
  };

  std::string kernel, release;
  uint64_t makespan = 0, lowerBound = 0;
  Cycles cycles;
  /// Ops by name: of the lir and of the program.
  std::map<std::string, uint64_t> lirOps, resourceOps;
  uint64_t commands = 0;
  /// Most bytes that live at a time: of a slice for dm, trf, vrf; of all
  /// operands for hbm.
  std::map<std::string, uint64_t> memoryPeaks, memoryCapacities;
  std::map<std::string, uint64_t> hbmByRole;
  uint64_t edfBytes = 0;
  std::string edfHash;
  unsigned binaries = 0;
  /// Wall seconds by phase, processor seconds, most memory of the process.
  std::map<std::string, double> seconds;
  double processorSeconds = 0;
  uint64_t peakMemoryBytes = 0;

  void addLIR(mlir::Operation *module);
  void addProgram(resource::ProgramOp program);

  /// The files of a dump of everything, below its folder.
  static constexpr llvm::StringLiteral files[] = {
      "summary.json",
      "summary.log",
      "rlir_plot.json",
      "resourcelir.lifetime.json",
      "json/visa_ir_viewer.json",
      "json/lir_ir_viewer.json",
      "text_form/tmap.mlir",
      "text_form/visa.mlir",
      "text_form/lir.mlir",
      "text_form/resource.mlir",
  };

  /// With the keys of the reference toolchain where the figure is the same.
  std::string toJson() const;
  std::string toText() const;
};

} // namespace furiosa

#endif // FURIOSA_TOOLS_DUMPS_H
