//===- ProgramParser.h - PE programs as commands ----------------*- C++ -*-===//
//
// Reads the program of one cluster into a tree: loops with DMAs, executions and
// waits in them, register images and descriptors already found.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_TARGET_RNGD_TRANSLATE_PROGRAMPARSER_H
#define FURIOSA_LIB_TARGET_RNGD_TRANSLATE_PROGRAMPARSER_H

#include "furiosa/Target/RNGD/EDF.h"
#include "furiosa/Target/RNGD/ExecConfig.h"

#include "llvm/ADT/SmallVector.h"

#include <array>
#include <memory>
#include <optional>
#include <vector>

namespace furiosa::rngd {

/// A command that matters, or a loop.
struct ProgramEvent {
  enum class Kind : uint8_t {
    Dma,
    Exec,
    Fill,
    WaitTag,
    WaitContext,
    Loop,
    Barrier
  };
  Kind kind = Kind::Exec;
  /// Number of its instruction.
  size_t instruction = 0;
  /// PEs that take part.
  uint8_t peMask = 0;
  /// Dma, WaitTag.
  unsigned tag = 0;
  /// Exec, WaitContext.
  codes::ExecTarget context = codes::ExecTarget::Main;

  /// Dma: descriptors by PE, in the order of addresses.
  struct Descriptor {
    unsigned pe;
    uint32_t address;
  };
  llvm::SmallVector<Descriptor, 4> descriptors;

  /// Exec: what the registers say, and where the images stand; of a short
  /// store its operands instead.
  std::shared_ptr<const ExecConfig> config;
  llvm::SmallVector<uint32_t, 8> images;
  llvm::SmallVector<uint64_t, 3> operands;

  /// Fill: bytes [begin, end) of the data memory of each slice.
  uint64_t begin = 0, end = 0;
  uint32_t pattern = 0;

  /// Loop.
  uint32_t trips = 0;
  /// SPM address of the number of trips, of which `trips` is the most; 0 for
  /// none.
  uint32_t count = 0;
  std::vector<ProgramEvent> body;
  /// Words that each iteration adds to at its end, and by how much.
  struct Step {
    size_t instruction;
    uint32_t address;
    int64_t addend;
  };
  std::vector<Step> steps;
};

/// A word that a program sets to 1 where it begins if another one compares so.
struct ProgramTest {
  uint32_t word;
  uint32_t tested;
  edf::Condition condition;
  int64_t bound;
  bool operator==(const ProgramTest &) const = default;
};

/// An error with the instruction where it is.
struct ProgramFault {
  size_t instruction;
  std::string message;
};

class ProgramParser {
public:
  /// The program has passed `checkKernel`. Executions and register writes go to
  /// all PEs of `allPEs`.
  ProgramParser(const edf::Program &program, const edf::SpmImage &spm,
                uint8_t allPEs)
      : program(program), spm(spm), allPEs(allPEs) {}

  /// All commands up to the end; nothing if there is a fault.
  std::optional<std::vector<ProgramEvent>> run();
  const ProgramFault &getFault() const { return fault; }
  /// What the program tests in front of all commands.
  llvm::ArrayRef<ProgramTest> getTests() const { return tests; }

private:
  bool parseTest();
  bool parseBlock(std::vector<ProgramEvent> &events, ProgramEvent *loop);
  bool parseIssue(std::vector<ProgramEvent> &events);
  /// `slice`: of the cluster, or -1 for all.
  bool parseWrite(const TucCommand &command, int slice);
  bool parseExec(const TucCommand &command, ProgramEvent &event);
  bool parseFill(const TucCommand &command, ProgramEvent &event);
  bool parseStore(const TucCommand &command, ProgramEvent &event);
  bool parseDma(const TucCommand &command, const edf::Instruction &instruction,
                ProgramEvent &event);
  /// Forgets what the first iteration knows and a later one may not.
  void enterLoop();
  /// The command with the operands that a PE sees.
  bool readCommand(uint32_t word, unsigned pe, std::optional<TucCommand> &out);

  bool fail(const llvm::Twine &message);

  struct Written {
    SfrImage image;
    uint32_t address;
  };

  const edf::Program &program;
  const edf::SpmImage &spm;
  uint8_t allPEs;
  size_t position = 0;
  ProgramFault fault = {0, {}};
  std::vector<ProgramTest> tests;
  std::array<std::array<std::optional<uint64_t>, machine::tucGeneralRegisters>,
             machine::pesPerCluster>
      registers;
  std::array<std::array<std::optional<Written>, numBlocks>, machine::sfrBanks>
      written;
  /// Fetch blocks that were written slice by slice, by context.
  std::array<std::array<std::vector<std::optional<SfrImage>>, 2>,
             machine::sfrBanks>
      bySlice;
};

} // namespace furiosa::rngd

#endif // FURIOSA_LIB_TARGET_RNGD_TRANSLATE_PROGRAMPARSER_H
