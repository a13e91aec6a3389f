//===- Simulator.h - Runs a kernel binary without the chip ------*- C++ -*-===//
//
// Executes the bits of an EDF kernel: PE programs, controller commands,
// register images and DMA descriptors on byte-addressed memories that know
// which bytes are defined.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_TARGET_RNGD_SIMULATOR_H
#define FURIOSA_TARGET_RNGD_SIMULATOR_H

#include "furiosa/Target/RNGD/EDF.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace furiosa::rngd {

/// Contents of one operand in HBM.
struct OperandBuffer {
  /// As many as the operand has; for results and scratch empty is enough.
  std::vector<uint8_t> bytes;
  /// One flag a byte, 0 or 1. Empty: all bytes given are defined.
  std::vector<uint8_t> defined;

  /// Number of bytes that are not defined.
  uint64_t undefinedBytes() const;
};

struct SimulationOptions {
  /// When the effect of an exec or a DMA happens. The chip promises only that
  /// it lies between issue and wait, so a correct kernel gives the same results
  /// either way.
  enum class Timing : uint8_t {
    /// At its wait; at the end of the program in the order of issue.
    Late,
    /// When it is issued.
    Early,
    /// Any time between, in any order among what is under way, as `seed` has
    /// it: commands that take as long as they like.
    Random,
  };
  Timing timing = Timing::Late;
  uint64_t seed = 1;
  /// Contraction element by element instead of in vectorised loops. Slow, for
  /// comparison.
  bool plainContraction = false;
  /// Whether commands that use the same bytes without a wait between them are
  /// refused (MM-39). Off, they take effect in the order of `timing`.
  bool refuseRaces = true;
  /// One line a command, if not null, with its cycles where the schedule has
  /// them.
  llvm::raw_ostream *trace = nullptr;
  /// Instructions that all PE programs together may run.
  uint64_t maxInstructions = 1ull << 26;
  /// Steps of loops (reads, multiply-accumulate steps, writes, packets) of all
  /// commands on all slices. A command that would go beyond is not started.
  uint64_t maxSteps = 1ull << 34;
  /// Bytes of all operands together: a file may ask for as much as HBM has.
  uint64_t maxOperandBytes = 1ull << 32;
};

struct SimulationResult {
  uint64_t instructions = 0;
  /// Commands put into queues, of all PEs.
  uint64_t commands = 0;
  uint64_t steps = 0;
  /// Multiplications of stream and weight elements.
  uint64_t multiplications = 0;
  /// Undefined bytes of each operand at the end.
  std::vector<uint64_t> undefinedBytes;
};

/// Runs `kernel` on operands in the order of `kernel.arguments.operands`. On
/// success they hold what HBM holds at the end. An error names cluster, PE and
/// instruction of the PE program: "cluster 0 PE 1: command 7: …".
llvm::Expected<SimulationResult>
simulate(const edf::Kernel &kernel,
         llvm::MutableArrayRef<OperandBuffer> operands,
         const SimulationOptions &options = {});

/// The same from a file; reads only programs, SPM image, arguments, plan and
/// constants, so a trace has no cycles.
llvm::Expected<SimulationResult>
simulate(const edf::Reader &reader,
         llvm::MutableArrayRef<OperandBuffer> operands,
         const SimulationOptions &options = {});

} // namespace furiosa::rngd

#endif // FURIOSA_TARGET_RNGD_SIMULATOR_H
