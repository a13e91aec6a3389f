//===- EDF.h - The kernel binary --------------------------------*- C++ -*-===//
//
// EDF version 0: a little-endian container with PE programs, the SPM image,
// arguments, memory plan, schedule and names of one kernel. In-memory form,
// writer, bounds-checked reader and disassembler.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_TARGET_RNGD_EDF_H
#define FURIOSA_TARGET_RNGD_EDF_H

#include "furiosa/Support/NumberFormats.h"
#include "furiosa/Target/RNGD/Encodings.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace furiosa::rngd::edf {

inline constexpr uint32_t formatVersion = 0;
/// The first eight bytes of a file.
inline constexpr llvm::StringRef magic("\x7f"
                                       "RNGDEDF",
                                       8);
/// PE programs nest loops at most this deep.
inline constexpr unsigned maxLoopDepth = 16;

//===----------------------------------------------------------------------===//
// PROG: PE programs
//===----------------------------------------------------------------------===//

/// Operations of the PE program. Values are stored.
enum class Opcode : uint8_t {
  /// Last instruction of a program.
  End = 0,
  /// General register `reg` := `imm`, on the PEs of `peMask`.
  Set = 1,
  /// Put TUC command `word` into the queue of each PE of `peMask`.
  Issue = 2,
  /// Run the instructions up to the matching EndLoop `word` (>= 1) times.
  Loop = 3,
  EndLoop = 4,
  /// Add signed `imm` to the 64-bit word at SPM address `word`, on all PEs.
  /// When a loop exits, every word that an Add inside it changed has again the
  /// value it had when that loop was entered.
  Add = 5,
  /// Wait until all PEs of all programs have come to a Barrier, each with
  /// nothing under way. All programs have the same Barriers in the same loops.
  Barrier = 6,
};

/// 16 bytes in the file: u8 opcode, u8 reg, u8 peMask, u8 0, u32 word, u64 imm.
struct Instruction {
  Opcode opcode = Opcode::End;
  /// Set: general register 0 … 63.
  uint8_t reg = 0;
  /// Set, Issue: bit k is PE k of the cluster; not 0.
  uint8_t peMask = 0;
  /// Issue: command word; Loop: count; Add: SPM address.
  uint32_t word = 0;
  /// Set: value; Add: signed addend.
  uint64_t imm = 0;

  static Instruction end() { return {}; }
  static Instruction set(uint8_t reg, uint64_t value, uint8_t peMask) {
    return {Opcode::Set, reg, peMask, 0, value};
  }
  static Instruction issue(uint32_t word, uint8_t peMask) {
    return {Opcode::Issue, 0, peMask, word, 0};
  }
  static Instruction loop(uint32_t count) {
    return {Opcode::Loop, 0, 0, count, 0};
  }
  static Instruction endLoop() { return {Opcode::EndLoop, 0, 0, 0, 0}; }
  static Instruction add(uint32_t spmAddress, int64_t addend) {
    return {Opcode::Add, 0, 0, spmAddress, static_cast<uint64_t>(addend)};
  }
  static Instruction barrier() { return {Opcode::Barrier, 0, 0, 0, 0}; }
  friend bool operator==(const Instruction &, const Instruction &) = default;
};

/// The program of one cluster; clusters without work have none.
struct Program {
  uint32_t cluster = 0;
  std::vector<Instruction> instructions;
  friend bool operator==(const Program &, const Program &) = default;
};

//===----------------------------------------------------------------------===//
// SPMI: the SPM image
//===----------------------------------------------------------------------===//

enum class ItemKind : uint8_t { SfrImage = 0, DmaDescriptor = 1 };

/// What a part of the SPM image is; informs readers, runs nothing.
struct SpmItem {
  uint32_t address = 0;
  uint32_t size = 0;
  ItemKind kind = ItemKind::SfrImage;
  /// SfrImage only.
  Block block = Block::Common;
  uint8_t bank = 0;
  friend bool operator==(const SpmItem &, const SpmItem &) = default;
};

/// Loaded into the SPM of every PE before the kernel starts; lies within
/// [machine::spmDataBase, machine::spmDataEnd).
struct SpmImage {
  uint32_t base = machine::spmDataBase;
  std::vector<uint8_t> bytes;
  std::vector<SpmItem> items;
  friend bool operator==(const SpmImage &, const SpmImage &) = default;
};

/// Lays out SFR images and descriptors one after the other. Equal SFR images
/// of one block and bank share their place.
class SpmBuilder {
public:
  /// Both return the SPM address, or a fault when the image, the data area is
  /// full or a reserved bit is set. Descriptors are 256-byte aligned.
  llvm::Expected<uint32_t> add(const SfrImage &image, unsigned bank = 0);
  llvm::Expected<uint32_t> add(const DmaDescriptor &descriptor);
  SpmImage take() { return std::move(image); }

private:
  llvm::Expected<uint32_t> place(llvm::ArrayRef<uint8_t> bytes,
                                 uint32_t alignment, SpmItem item);
  SpmImage image;
};

//===----------------------------------------------------------------------===//
// ARGS: operands and relocations
//===----------------------------------------------------------------------===//

enum class Role : uint8_t { Input = 0, Output = 1, InOut = 2, Scratch = 3 };
llvm::StringRef toString(Role role);

struct Axis {
  std::string name;
  uint64_t size = 0;
  friend bool operator==(const Axis &, const Axis &) = default;
};

/// A buffer in HBM, bound at load. Scratch has bytes only.
struct Operand {
  std::string name;
  Role role = Role::Input;
  ElementType type = ElementType::I8;
  uint64_t bytes = 0;
  std::vector<Axis> axes;
  /// Mappings in the notation of the kernel: "1", "I, J".
  std::string chipMapping;
  std::string elementMapping;
  friend bool operator==(const Operand &, const Operand &) = default;
};

/// At load the 64-bit word at `spmAddress` becomes the PE-view address of the
/// operand plus `addend`.
struct Relocation {
  uint32_t spmAddress = 0;
  uint32_t operand = 0;
  int64_t addend = 0;
  friend bool operator==(const Relocation &, const Relocation &) = default;
};

/// Operands in order: inputs, results, scratch.
struct Arguments {
  std::vector<Operand> operands;
  std::vector<Relocation> relocations;
  friend bool operator==(const Arguments &, const Arguments &) = default;
};

//===----------------------------------------------------------------------===//
// PLAN, SCHD, NAME, INFO
//===----------------------------------------------------------------------===//

enum class Tier : uint8_t { DM = 0, TRF = 1, VRF = 2 };
llvm::StringRef toString(Tier tier);

/// `Names::strings` index that stands for "no name".
inline constexpr uint32_t noName = 0xFFFFFFFF;

/// A buffer on the chip and the cycles in which it lives.
struct PlanEntry {
  Tier tier = Tier::DM;
  uint32_t cluster = 0;
  /// Bytes inside the slice (DM, VRF) or lane (TRF).
  uint32_t address = 0;
  /// Bytes per slice (DM, VRF) or per lane (TRF).
  uint32_t size = 0;
  /// Lanes in use: 1, 2, 4, 8 for TRF, 0 otherwise.
  uint8_t lanes = 0;
  uint64_t firstCycle = 0;
  uint64_t lastCycle = 0;
  uint32_t name = noName;
  friend bool operator==(const PlanEntry &, const PlanEntry &) = default;
};

enum class CommandKind : uint8_t {
  Dma = 0,
  Main = 1,
  Sub = 2,
  Wait = 3,
  Sync = 4,
  /// A loop of the PE program; the commands of its body follow.
  Loop = 5
};
llvm::StringRef toString(CommandKind kind);

/// In issue order. Cycles of a command in a loop count from the start of an
/// iteration; a loop itself has those of one iteration, from 0.
struct ScheduledCommand {
  CommandKind kind = CommandKind::Dma;
  /// Dma, Main, Sub: the SPM item of the first descriptor or register image.
  uint32_t index = 0;
  uint64_t begin = 0;
  uint64_t end = 0;
  std::string description;
  friend bool operator==(const ScheduledCommand &,
                         const ScheduledCommand &) = default;
};

/// Cycles at 1 GHz.
struct Schedule {
  uint64_t makespan = 0;
  uint64_t lowerBound = 0;
  std::vector<ScheduledCommand> commands;
  friend bool operator==(const Schedule &, const Schedule &) = default;
};

struct Names {
  /// "module::function".
  std::string kernel;
  /// What `PlanEntry::name` counts in.
  std::vector<std::string> strings;
  friend bool operator==(const Names &, const Names &) = default;
};

struct Info {
  std::string producer;
  /// "rngd".
  std::string chip;
  /// "0.6".
  std::string release;
  friend bool operator==(const Info &, const Info &) = default;
};

/// A whole kernel.
struct Kernel {
  std::vector<Program> programs;
  SpmImage spm;
  Arguments arguments;
  std::vector<PlanEntry> plan;
  Schedule schedule;
  Names names;
  Info info;
  friend bool operator==(const Kernel &, const Kernel &) = default;
};

//===----------------------------------------------------------------------===//
// Checking, writing, reading
//===----------------------------------------------------------------------===//

/// Whether a program is well formed: loops closed, at most `maxLoopDepth` deep
/// and run at least once, known opcodes and TUC commands, unused fields zero,
/// End last and only there.
Fault checkProgram(const Program &program);
/// Everything that running the kernel relies on: programs (one per cluster),
/// SPM image and items in the data area, relocations and Adds inside the image
/// on 8-byte boundaries, plan inside the memories. Informational parts may be
/// empty.
Fault checkKernel(const Kernel &kernel);

/// The bytes of the file; the same kernel gives the same bytes. Refused if
/// `checkKernel` finds a fault.
llvm::Expected<std::vector<uint8_t>> write(const Kernel &kernel);

/// A section of an opened file.
struct SectionInfo {
  /// Four characters, as "PROG".
  std::string id;
  uint64_t offset;
  uint64_t size;
  uint32_t crc;
};

/// Reads an EDF file section by section and trusts nothing in it. SCHD, NAME
/// and INFO are informational: absent or all zero they read as empty. Every
/// error names the file, the section and the offset in the file.
class Reader {
public:
  /// Checks magic, version, section table and bounds. `bytes` must outlive the
  /// reader.
  static llvm::Expected<Reader> open(llvm::ArrayRef<uint8_t> bytes,
                                     llvm::StringRef fileName = "<edf>");

  llvm::ArrayRef<SectionInfo> sections() const { return table; }
  llvm::StringRef fileName() const { return name; }

  // Each checks the CRC of its section and parses it.
  llvm::Expected<std::vector<Program>> programs() const;
  llvm::Expected<SpmImage> spmImage() const;
  llvm::Expected<Arguments> arguments() const;
  llvm::Expected<std::vector<PlanEntry>> plan() const;
  llvm::Expected<Schedule> schedule() const;
  llvm::Expected<Names> names() const;
  llvm::Expected<Info> info() const;

  /// What running needs: PROG, SPMI, ARGS, PLAN, checked with `checkKernel`.
  /// Of the informational parts only the CRC is looked at; they stay empty.
  llvm::Expected<Kernel> loadExecutable() const;
  /// All sections.
  llvm::Expected<Kernel> load() const;

private:
  llvm::ArrayRef<uint8_t> data;
  std::string name;
  std::vector<SectionInfo> table;
};

/// All sections as text, one command a line; SFR images field by field. A
/// section with a fault is reported in place; the first fault is returned.
llvm::Error disassemble(llvm::raw_ostream &os, const Reader &reader);

} // namespace furiosa::rngd::edf

#endif // FURIOSA_TARGET_RNGD_EDF_H
