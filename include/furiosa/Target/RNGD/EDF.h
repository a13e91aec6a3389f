//===- EDF.h - The kernel binary --------------------------------*- C++ -*-===//
//
// EDF version 1: a little-endian container of kernels, each with PE programs,
// SPM image, arguments, memory plan, constants, schedule, names and source
// lines. In-memory form, writer, bounds-checked reader, disassembler and
// assembler.
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
#include <set>
#include <string>
#include <vector>

namespace furiosa::rngd::edf {

/// A reader takes files of its major version, whatever their minor one: that
/// grows with sections that older readers may skip.
inline constexpr uint16_t majorVersion = 1;
inline constexpr uint16_t minorVersion = 1;
/// The first eight bytes of a file.
inline constexpr llvm::StringRef magic("\x7f"
                                       "RNGDEDF",
                                       8);
/// PE programs nest loops and conditions at most this deep.
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
  /// Run the instructions up to the matching EndLoop `word` (>= 1) times; with
  /// `imm` as often as the 64-bit word at that SPM address says, 0 to `word`.
  Loop = 3,
  EndLoop = 4,
  /// Add signed `imm` to the 64-bit word at SPM address `word`, on all PEs.
  /// When a loop exits, every word that an Add inside it changed has again the
  /// value it had when that loop was entered.
  Add = 5,
  /// Wait until all PEs of all programs have come to a Barrier, each with
  /// nothing under way. All programs have the same Barriers in the same loops,
  /// none of them in a condition.
  Barrier = 6,
  /// Run the instructions up to the matching Else or EndIf if the 64-bit word
  /// at SPM address `word` stands in relation `reg` (a Condition) to `imm`;
  /// else those between Else, if there is one, and EndIf.
  If = 7,
  Else = 8,
  EndIf = 9,
};

/// How an If compares, both sides as signed numbers. Values are stored.
enum class Condition : uint8_t {
  Equal = 0,
  NotEqual = 1,
  Less = 2,
  NotLess = 3
};

/// 16 bytes in the file: u8 opcode, u8 reg, u8 peMask, u8 0, u32 word, u64 imm.
struct Instruction {
  Opcode opcode = Opcode::End;
  /// Set: general register 0 … 63; If: the Condition.
  uint8_t reg = 0;
  /// Set, Issue: bit k is PE k of the cluster; not 0.
  uint8_t peMask = 0;
  /// Issue: command word; Loop: count; Add, If: SPM address.
  uint32_t word = 0;
  /// Set: value; Add: signed addend; If: what the word is compared with; Loop:
  /// SPM address of the count, or 0.
  uint64_t imm = 0;

  /// Whether a word of SPM says how often a Loop runs.
  bool hasCount() const { return opcode == Opcode::Loop && imm != 0; }

  static Instruction end() { return {}; }
  static Instruction set(uint8_t reg, uint64_t value, uint8_t peMask) {
    return {Opcode::Set, reg, peMask, 0, value};
  }
  static Instruction issue(uint32_t word, uint8_t peMask) {
    return {Opcode::Issue, 0, peMask, word, 0};
  }
  static Instruction loop(uint32_t count, uint32_t spmAddress = 0) {
    return {Opcode::Loop, 0, 0, count, spmAddress};
  }
  static Instruction endLoop() { return {Opcode::EndLoop, 0, 0, 0, 0}; }
  static Instruction add(uint32_t spmAddress, int64_t addend) {
    return {Opcode::Add, 0, 0, spmAddress, static_cast<uint64_t>(addend)};
  }
  static Instruction barrier() { return {Opcode::Barrier, 0, 0, 0, 0}; }
  static Instruction ifWord(uint32_t spmAddress, Condition condition,
                            int64_t value) {
    return {Opcode::If, static_cast<uint8_t>(condition), 0, spmAddress,
            static_cast<uint64_t>(value)};
  }
  static Instruction elseIf() { return {Opcode::Else, 0, 0, 0, 0}; }
  static Instruction endIf() { return {Opcode::EndIf, 0, 0, 0, 0}; }
  friend bool operator==(const Instruction &, const Instruction &) = default;
};

/// The program of one cluster; clusters without work have none.
struct Program {
  uint32_t cluster = 0;
  std::vector<Instruction> instructions;
  friend bool operator==(const Program &, const Program &) = default;
};

/// For each If the instruction behind its Else, or its EndIf; for each Else its
/// EndIf; for each Loop its EndLoop; 0 for all others. The program is well
/// formed.
std::vector<uint32_t> findBranchTargets(const Program &program);

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
  /// Equal images share a place, unless one is `isOwn`, to be changed at load.
  llvm::Expected<uint32_t> add(const SfrImage &image, unsigned bank = 0,
                               bool isOwn = false);
  llvm::Expected<uint32_t> add(const DmaDescriptor &descriptor);
  /// The address of a 64-bit word of its own.
  llvm::Expected<uint32_t> addWord(uint64_t value);
  SpmImage take() { return std::move(image); }

private:
  llvm::Expected<uint32_t> append(llvm::ArrayRef<uint8_t> bytes,
                                  uint32_t alignment);
  llvm::Expected<uint32_t> place(llvm::ArrayRef<uint8_t> bytes,
                                 uint32_t alignment, SpmItem item);
  SpmImage image;
  /// Addresses of images that are not shared.
  std::set<uint32_t> own;
};

//===----------------------------------------------------------------------===//
// ARGS: operands and relocations
//===----------------------------------------------------------------------===//

enum class Role : uint8_t {
  Input = 0,
  Output = 1,
  InOut = 2,
  Scratch = 3,
  /// An input whose bytes are in the file; a host does not bind it.
  Constant = 4
};
llvm::StringRef toString(Role role);

struct Axis {
  std::string name;
  uint64_t size = 0;
  friend bool operator==(const Axis &, const Axis &) = default;
};

/// A buffer in HBM, bound at load. Scratch has bytes only, and i8 as its type.
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

/// Operands in order: inputs, results and constants, then scratch.
struct Arguments {
  std::vector<Operand> operands;
  std::vector<Relocation> relocations;
  friend bool operator==(const Arguments &, const Arguments &) = default;
};

//===----------------------------------------------------------------------===//
// SCAL: numbers that a host gives
//===----------------------------------------------------------------------===//

/// The i32 at the start of an input operand, which a host may set to anything
/// from `min` to `max`; the PE programs do not see it until `ScalarUse`.
struct Scalar {
  uint32_t operand = 0;
  int32_t min = 0;
  int32_t max = 0;
  friend bool operator==(const Scalar &, const Scalar &) = default;
};

/// At load, behind all relocations, the number times `scale` is added to the
/// 64-bit word at `spmAddress`.
struct ScalarUse {
  uint32_t spmAddress = 0;
  /// Index in `Scalars::scalars`.
  uint32_t scalar = 0;
  int64_t scale = 0;
  friend bool operator==(const ScalarUse &, const ScalarUse &) = default;
};

/// Scalars in the order of their operands.
struct Scalars {
  std::vector<Scalar> scalars;
  std::vector<ScalarUse> uses;
  friend bool operator==(const Scalars &, const Scalars &) = default;
};

//===----------------------------------------------------------------------===//
// CNST: constants
//===----------------------------------------------------------------------===//

enum class ConstantKind : uint8_t {
  /// The bytes of an operand whose role is Constant.
  Operand = 0,
  /// A lookup table of the fetch unit: `index` is its code in
  /// `table_entry_size`, the bytes are its entries, little-endian, one for each
  /// input code.
  Table = 1
};

struct Constant {
  ConstantKind kind = ConstantKind::Operand;
  uint32_t index = 0;
  std::vector<uint8_t> bytes;
  friend bool operator==(const Constant &, const Constant &) = default;
};

/// Bytes of the table with this code of `table_entry_size`; 0 if there is none.
uint64_t lookupTableBytes(uint32_t code);
/// The table of that code that holds the exact conversion.
std::vector<uint8_t> makeLookupTable(uint32_t code);

//===----------------------------------------------------------------------===//
// PLAN, SCHD, NAME, INFO, LOCS
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

inline constexpr uint32_t noInstruction = 0xFFFFFFFF;

/// In issue order. Cycles of a command in a loop count from the start of an
/// iteration; a loop itself has those of one iteration, from 0.
struct ScheduledCommand {
  CommandKind kind = CommandKind::Dma;
  /// Dma, Main, Sub: the SPM item of the first descriptor or register image.
  uint32_t index = 0;
  uint64_t begin = 0;
  uint64_t end = 0;
  std::string description;
  /// Its Issue, Loop or Barrier in the program of each cluster, by cluster;
  /// `noInstruction` where that has none.
  std::array<uint32_t, machine::clusters> instructions = {noInstruction,
                                                          noInstruction};
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

/// The source line that instructions come from: this one and those that follow
/// up to the next SourceLine of the program.
struct SourceLine {
  /// Index in `Kernel::programs`, and in its instructions.
  uint32_t program = 0;
  uint32_t instruction = 0;
  /// Index in `Locations::files`.
  uint32_t file = 0;
  uint32_t line = 0;
  uint32_t column = 0;
  friend bool operator==(const SourceLine &, const SourceLine &) = default;
};

/// In the order of programs and instructions; files in the order in which
/// lines name them first.
struct Locations {
  std::vector<std::string> files;
  std::vector<SourceLine> lines;
  friend bool operator==(const Locations &, const Locations &) = default;
};

/// A whole kernel.
struct Kernel {
  std::vector<Program> programs;
  SpmImage spm;
  Arguments arguments;
  Scalars scalars;
  std::vector<PlanEntry> plan;
  /// Operands by their index, then tables by their code.
  std::vector<Constant> constants;
  Schedule schedule;
  Names names;
  Info info;
  Locations locations;
  friend bool operator==(const Kernel &, const Kernel &) = default;
};

//===----------------------------------------------------------------------===//
// Checking, writing, reading
//===----------------------------------------------------------------------===//

/// Whether a program is well formed: loops and conditions closed, at most
/// `maxLoopDepth` deep, loops run at least once, known opcodes and TUC
/// commands, unused fields zero, End last and only there.
Fault checkProgram(const Program &program);
/// Everything that running the kernel relies on: programs (one per cluster),
/// SPM image and items in the data area; relocations, uses of scalars, Adds,
/// Ifs and counts of loops inside the image on 8-byte boundaries; plan inside
/// the memories, one constant for each constant operand; and that locations
/// name instructions. Informational parts may be empty.
Fault checkKernel(const Kernel &kernel);

struct WriteOptions {
  /// Packs sections of constants with zstd where that makes them smaller.
  bool compress = false;
  /// Leaves out the source lines.
  bool stripLocations = false;
};

/// The bytes of the file; the same kernels give the same bytes. Refused if
/// there is none, `checkKernel` finds a fault, or names are not unique.
llvm::Expected<std::vector<uint8_t>> write(llvm::ArrayRef<Kernel> kernels,
                                           const WriteOptions &options = {});

/// A section of an opened file.
struct SectionInfo {
  /// Four characters, as "PROG".
  std::string id;
  uint32_t flags;
  uint32_t kernel;
  uint64_t offset;
  /// Bytes in the file, and when unpacked.
  uint64_t size;
  uint64_t unpackedSize;
  uint32_t crc;

  bool isPacked() const;
};

/// `SectionInfo::kernel` of what belongs to the whole file.
inline constexpr uint32_t wholeFile = 0xFFFFFFFF;

/// Reads an EDF file section by section and trusts nothing in it. SCHD, NAME,
/// INFO and LOCS are informational: absent or all zero they read as empty.
/// Every error names the file, the section and the offset in the file. Nothing
/// is allocated before the file is known to be long enough for it; only packed
/// constants take more, at most `maxUnpackRatio` times their bytes.
class Reader {
public:
  /// Checks magic, version, section table and bounds. `bytes` must outlive the
  /// reader.
  static llvm::Expected<Reader> open(llvm::ArrayRef<uint8_t> bytes,
                                     llvm::StringRef fileName = "<edf>");

  llvm::ArrayRef<SectionInfo> sections() const { return table; }
  llvm::StringRef fileName() const { return name; }
  /// At least 1.
  unsigned numKernels() const { return kernels; }
  /// Of the file.
  uint16_t minorVersion() const { return minor; }

  /// Checks the CRC of every section and the digest of the file.
  llvm::Error check() const;

  // Each checks the CRC of its section and parses it. `kernel` is below
  // numKernels().
  llvm::Expected<std::vector<Program>> programs(unsigned kernel = 0) const;
  llvm::Expected<SpmImage> spmImage(unsigned kernel = 0) const;
  llvm::Expected<Arguments> arguments(unsigned kernel = 0) const;
  llvm::Expected<Scalars> scalars(unsigned kernel = 0) const;
  llvm::Expected<std::vector<PlanEntry>> plan(unsigned kernel = 0) const;
  llvm::Expected<std::vector<Constant>> constants(unsigned kernel = 0) const;
  llvm::Expected<Schedule> schedule(unsigned kernel = 0) const;
  llvm::Expected<Names> names(unsigned kernel = 0) const;
  llvm::Expected<Info> info(unsigned kernel = 0) const;
  llvm::Expected<Locations> locations(unsigned kernel = 0) const;

  /// What running needs: PROG, SPMI, ARGS, SCAL, PLAN, CNST, checked with
  /// `checkKernel`. A file with any damage is refused.
  llvm::Expected<Kernel> loadExecutable(unsigned kernel = 0) const;
  /// All sections of a kernel.
  llvm::Expected<Kernel> load(unsigned kernel = 0) const;
  llvm::Expected<std::vector<Kernel>> loadAll() const;

  /// See edf::findKernel; a lone kernel needs no name.
  llvm::Expected<unsigned> findKernel(llvm::StringRef kernelName) const;

private:
  llvm::ArrayRef<uint8_t> data;
  std::string name;
  std::vector<SectionInfo> table;
  uint32_t kernels = 0;
  uint16_t minor = 0;
};

/// Which of these is the kernel of that name, or the only one whose last part,
/// behind "::", it is. Without a name the only one. The error lists what `file`
/// has.
llvm::Expected<unsigned> findKernel(llvm::ArrayRef<llvm::StringRef> kernels,
                                    llvm::StringRef wanted,
                                    llvm::StringRef file);

/// All sections as text, one command a line; SFR images field by field. A
/// section with a fault is reported in place; the first fault is returned.
llvm::Error disassemble(llvm::raw_ostream &os, const Reader &reader);

/// The same as JSON, of docs/edf.schema.json.
llvm::Error disassembleJson(llvm::raw_ostream &os, const Reader &reader);

/// The file that `disassemble` gives this text for. Errors name the line.
llvm::Expected<std::vector<uint8_t>> assemble(llvm::StringRef text);

} // namespace furiosa::rngd::edf

#endif // FURIOSA_TARGET_RNGD_EDF_H
