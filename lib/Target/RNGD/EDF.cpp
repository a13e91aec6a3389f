//===- EDF.cpp - The kernel binary ----------------------------------------===//
//
// Checks, writer and bounds-checked reader of EDF files. The disassembler is
// in EDFDisassembler.cpp.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Target/RNGD/EDF.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

#include <bitset>

using namespace furiosa;
using namespace furiosa::rngd;
using namespace furiosa::rngd::edf;
using llvm::Twine;
namespace endian = llvm::support::endian;

static llvm::Error makeError(const Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

static std::string hex(uint64_t value) {
  return "0x" + llvm::utohexstr(value, /*LowerCase=*/true);
}

//===----------------------------------------------------------------------===//
// Names of enumerators
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral roleNames[] = {"input", "output", "inout",
                                                    "scratch"};
static constexpr llvm::StringLiteral tierNames[] = {"dm", "trf", "vrf"};
static constexpr llvm::StringLiteral kindNames[] = {"dma",  "main", "sub",
                                                    "wait", "sync", "loop"};

llvm::StringRef edf::toString(Role role) {
  return roleNames[static_cast<unsigned>(role)];
}
llvm::StringRef edf::toString(Tier tier) {
  return tierNames[static_cast<unsigned>(tier)];
}
llvm::StringRef edf::toString(CommandKind kind) {
  return kindNames[static_cast<unsigned>(kind)];
}

//===----------------------------------------------------------------------===//
// Sections
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral sectionIds[] = {
    "PROG", "SPMI", "ARGS", "PLAN", "SCHD", "NAME", "INFO"};
static constexpr size_t numSections = std::size(sectionIds);

// Header: magic, u32 version, u32 number of sections; then one entry each:
// id, u32 CRC-32, u64 offset, u64 size.
static constexpr size_t headerBytes = 16;
static constexpr size_t entryBytes = 24;
static constexpr size_t sectionAlignment = 8;
static constexpr size_t instructionBytes = 16;
static constexpr size_t itemBytes = 16;
static constexpr size_t relocationBytes = 16;
static constexpr size_t planEntryBytes = 40;
// The least that an element of variable length takes.
static constexpr size_t minProgramBytes = 8;
static constexpr size_t minOperandBytes = 28;
static constexpr size_t minAxisBytes = 12;
static constexpr size_t minCommandBytes = 28;
static constexpr size_t minStringBytes = 4;

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static Fault checkInstruction(const Instruction &inst) {
  auto needsMask = [&]() -> Fault {
    if (inst.peMask == 0 || inst.peMask >> machine::pesPerCluster)
      return "PE mask " + hex(inst.peMask) +
             " names no PE of the cluster or "
             "one that does not exist";
    return std::nullopt;
  };
  // The value may come from a file.
  if (inst.opcode > Opcode::Barrier)
    return "unknown PE opcode " +
           std::to_string(static_cast<unsigned>(inst.opcode));
  bool usesReg = false, usesMask = false, usesWord = false, usesImm = false;
  switch (inst.opcode) {
  case Opcode::End:
  case Opcode::EndLoop:
  case Opcode::Barrier:
    break;
  case Opcode::Set:
    usesReg = usesMask = usesImm = true;
    if (inst.reg >= machine::tucGeneralRegisters)
      return "general register " + std::to_string(inst.reg) + " does not exist";
    if (Fault fault = needsMask())
      return fault;
    break;
  case Opcode::Issue: {
    usesMask = usesWord = true;
    if (Fault fault = needsMask())
      return fault;
    llvm::Expected<TucCommand> command = TucCommand::decode(inst.word);
    if (!command)
      return llvm::toString(command.takeError());
    break;
  }
  case Opcode::Loop:
    usesWord = true;
    if (inst.word == 0)
      return "a loop runs at least once";
    break;
  case Opcode::Add:
    usesWord = usesImm = true;
    if (inst.word % 8 != 0)
      return "SPM address " + hex(inst.word) + " is not a multiple of 8";
    break;
  }
  if ((inst.reg && !usesReg) || (inst.peMask && !usesMask) ||
      (inst.word && !usesWord) || (inst.imm && !usesImm))
    return "a field that opcode " +
           std::to_string(static_cast<unsigned>(inst.opcode)) +
           " does not use is not zero";
  return std::nullopt;
}

Fault edf::checkProgram(const Program &program) {
  unsigned depth = 0;
  for (auto [i, inst] : llvm::enumerate(program.instructions)) {
    auto at = [&](const std::string &text) {
      return "instruction " + std::to_string(i) + ": " + text;
    };
    if (Fault fault = checkInstruction(inst))
      return at(*fault);
    if (inst.opcode == Opcode::Loop && ++depth > maxLoopDepth)
      return at("loops nest deeper than " + std::to_string(maxLoopDepth));
    if (inst.opcode == Opcode::EndLoop && depth-- == 0)
      return at("a loop ends that was not begun");
    if (inst.opcode != Opcode::End)
      continue;
    if (depth != 0)
      return at("the program ends inside a loop");
    if (i + 1 != program.instructions.size())
      return at("instructions follow the end of the program");
    return std::nullopt;
  }
  return "the program has no end";
}

/// The barriers of a program with the loops around them.
static std::vector<std::pair<Opcode, uint32_t>>
getBarriers(const Program &program) {
  std::vector<std::pair<Opcode, uint32_t>> result;
  for (const Instruction &inst : program.instructions) {
    if (inst.opcode == Opcode::EndLoop && result.back().first == Opcode::Loop)
      result.pop_back(); // There was none inside.
    else if (inst.opcode == Opcode::Loop || inst.opcode == Opcode::EndLoop ||
             inst.opcode == Opcode::Barrier)
      result.push_back({inst.opcode, inst.word});
  }
  return result;
}

/// Whether [address, address + size) lies in the image.
static bool inImage(const SpmImage &spm, uint64_t address, uint64_t size) {
  return address >= spm.base && size <= spm.bytes.size() &&
         address - spm.base <= spm.bytes.size() - size;
}

static Fault checkSpm(const SpmImage &spm) {
  if (spm.base < machine::spmDataBase || spm.base > machine::spmDataEnd ||
      spm.base % 8 != 0)
    return "SPM image at " + hex(spm.base) + " is not in the data area " +
           hex(machine::spmDataBase) + " to " + hex(machine::spmDataEnd) +
           " on a multiple of 8";
  if (spm.bytes.size() > machine::spmDataEnd - spm.base)
    return "SPM image of " + std::to_string(spm.bytes.size()) +
           " bytes exceeds the data area by " +
           std::to_string(spm.bytes.size() - (machine::spmDataEnd - spm.base)) +
           " bytes";
  uint64_t last = spm.base;
  for (auto [i, item] : llvm::enumerate(spm.items)) {
    std::string where = "SPM item " + std::to_string(i) + ": ";
    if (item.address < last)
      return where + "items overlap or are not in the order of addresses";
    if (!inImage(spm, item.address, item.size))
      return where + "lies outside the SPM image";
    last = uint64_t(item.address) + item.size;
    llvm::ArrayRef<uint8_t> bytes =
        llvm::ArrayRef(spm.bytes).slice(item.address - spm.base, item.size);
    if (item.kind == ItemKind::DmaDescriptor) {
      if (item.block != Block::Common || item.bank != 0)
        return where + "a DMA descriptor has neither block nor bank";
      if (item.address % DmaDescriptor::sizeInBytes != 0)
        return where + "DMA descriptor is not on a multiple of 256";
      llvm::Expected<DmaDescriptor> descriptor = DmaDescriptor::decode(bytes);
      if (!descriptor)
        return where + llvm::toString(descriptor.takeError());
      continue;
    }
    if (item.kind != ItemKind::SfrImage)
      return where + "unknown kind " +
             std::to_string(static_cast<unsigned>(item.kind));
    if (!toBlock(static_cast<uint64_t>(item.block)))
      return where + "unknown register block " +
             std::to_string(static_cast<unsigned>(item.block));
    const SfrBlock &block = sfrBlock(item.block);
    if (item.bank >= machine::sfrBanks ||
        (item.bank != 0 && block.context == BlockContext::Common))
      return where + "block " + block.name.str() + " has no bank " +
             std::to_string(item.bank);
    if (item.address % 8 != 0 || item.size != block.sizeInBytes)
      return where + "block " + block.name.str() + " takes " +
             std::to_string(block.sizeInBytes) + " bytes on a multiple of 8";
    std::vector<uint64_t> words(block.numWords());
    for (auto [k, word] : llvm::enumerate(words))
      word = endian::read64le(bytes.data() + 8 * k);
    llvm::Expected<SfrImage> loaded = SfrImage::fromWords(item.block, words);
    if (!loaded)
      return where + llvm::toString(loaded.takeError());
    if (Fault fault = loaded->checkReserved())
      return where + *fault;
  }
  return std::nullopt;
}

static Fault checkArguments(const Arguments &arguments, const SpmImage &spm) {
  bool scratchSeen = false;
  for (auto [i, operand] : llvm::enumerate(arguments.operands)) {
    std::string where = "operand " + std::to_string(i) + ": ";
    if (static_cast<unsigned>(operand.role) >= std::size(roleNames))
      return where + "unknown role " +
             std::to_string(static_cast<unsigned>(operand.role));
    if (static_cast<unsigned>(operand.type) >= numElementTypes)
      return where + "unknown element type " +
             std::to_string(static_cast<unsigned>(operand.type));
    if (operand.bytes > machine::hbmBytes)
      return where + std::to_string(operand.bytes) +
             " bytes exceed the HBM of " + std::to_string(machine::hbmBytes);
    if (operand.role == Role::Scratch) {
      scratchSeen = true;
      if (!operand.axes.empty() || !operand.chipMapping.empty() ||
          !operand.elementMapping.empty())
        return where + "scratch has bytes only";
    } else if (scratchSeen) {
      return where + "scratch comes after all other operands";
    }
  }
  for (auto [i, relocation] : llvm::enumerate(arguments.relocations)) {
    std::string where = "relocation " + std::to_string(i) + ": ";
    if (relocation.operand >= arguments.operands.size())
      return where + "there is no operand " +
             std::to_string(relocation.operand);
    if (relocation.spmAddress % 8 != 0 ||
        !inImage(spm, relocation.spmAddress, 8))
      return where + "SPM address " + hex(relocation.spmAddress) +
             " is not a 64-bit word of the SPM image";
  }
  return std::nullopt;
}

static Fault checkPlan(llvm::ArrayRef<PlanEntry> plan) {
  for (auto [i, entry] : llvm::enumerate(plan)) {
    std::string where = "plan entry " + std::to_string(i) + ": ";
    if (entry.tier > Tier::VRF)
      return where + "unknown memory tier " +
             std::to_string(static_cast<unsigned>(entry.tier));
    uint64_t capacity = 0;
    switch (entry.tier) {
    case Tier::DM:
      capacity = machine::dmSliceBytes;
      break;
    case Tier::VRF:
      capacity = machine::vrfSliceBytes;
      break;
    case Tier::TRF:
      if (!llvm::isPowerOf2_32(entry.lanes) || entry.lanes > machine::lanes)
        return where + std::to_string(entry.lanes) + " lanes: not 1, 2, 4 or 8";
      capacity = machine::trfSliceBytes / entry.lanes;
      break;
    }
    if (entry.tier != Tier::TRF && entry.lanes != 0)
      return where + toString(entry.tier).str() + " has no lanes";
    if (uint64_t(entry.address) + entry.size > capacity)
      return where + std::to_string(entry.size) + " bytes at " +
             hex(entry.address) + " exceed the " + std::to_string(capacity) +
             " bytes of " + toString(entry.tier).str();
    if (entry.cluster >= machine::clusters)
      return where + "there is no cluster " + std::to_string(entry.cluster);
    if (entry.firstCycle > entry.lastCycle)
      return where + "ends before it begins";
  }
  return std::nullopt;
}

Fault edf::checkKernel(const Kernel &kernel) {
  if (Fault fault = checkSpm(kernel.spm))
    return fault;
  std::bitset<machine::clusters> seen;
  for (const Program &program : kernel.programs) {
    std::string where =
        "program of cluster " + std::to_string(program.cluster) + ": ";
    if (program.cluster >= machine::clusters)
      return where + "the chip has " + std::to_string(machine::clusters) +
             " clusters";
    if (seen[program.cluster])
      return where + "there are two";
    seen[program.cluster] = true;
    if (Fault fault = checkProgram(program))
      return where + *fault;
    for (auto [i, inst] : llvm::enumerate(program.instructions))
      if (inst.opcode == Opcode::Add && !inImage(kernel.spm, inst.word, 8))
        return where + "instruction " + std::to_string(i) + ": SPM address " +
               hex(inst.word) + " is outside the SPM image";
  }
  for (const Program &program : kernel.programs)
    if (getBarriers(program) != getBarriers(kernel.programs.front()))
      return "the programs of the clusters come to different barriers";
  if (Fault fault = checkArguments(kernel.arguments, kernel.spm))
    return fault;
  return checkPlan(kernel.plan);
}

//===----------------------------------------------------------------------===//
// SPM layout
//===----------------------------------------------------------------------===//

llvm::Expected<uint32_t> SpmBuilder::place(llvm::ArrayRef<uint8_t> bytes,
                                           uint32_t alignment, SpmItem item) {
  uint64_t address = llvm::alignTo(image.base + image.bytes.size(), alignment);
  if (address + bytes.size() > machine::spmDataEnd)
    return makeError("the SPM data area of " +
                     Twine(machine::spmDataEnd - machine::spmDataBase) +
                     " bytes is full");
  image.bytes.resize(address - image.base, 0);
  llvm::append_range(image.bytes, bytes);
  item.address = static_cast<uint32_t>(address);
  item.size = static_cast<uint32_t>(bytes.size());
  image.items.push_back(item);
  return item.address;
}

llvm::Expected<uint32_t> SpmBuilder::add(const SfrImage &sfr, unsigned bank) {
  if (Fault fault = sfr.checkReserved())
    return makeError(*fault);
  if (bank >= machine::sfrBanks)
    return makeError("there is no register bank " + Twine(bank));
  std::vector<uint8_t> bytes = sfr.bytes();
  // Kernels repeat their images; a hash would save time only for many
  // thousands of them, which the data area cannot hold.
  for (const SpmItem &item : image.items)
    if (item.kind == ItemKind::SfrImage && item.block == sfr.block() &&
        item.bank == bank && item.size == bytes.size() &&
        llvm::equal(bytes, llvm::ArrayRef(image.bytes)
                               .slice(item.address - image.base, item.size)))
      return item.address;
  SpmItem item;
  item.kind = ItemKind::SfrImage;
  item.block = sfr.block();
  item.bank = static_cast<uint8_t>(bank);
  return place(bytes, 8, item);
}

llvm::Expected<uint32_t> SpmBuilder::add(const DmaDescriptor &descriptor) {
  auto bytes = descriptor.encode();
  if (!bytes)
    return bytes.takeError();
  SpmItem item;
  item.kind = ItemKind::DmaDescriptor;
  return place(*bytes, DmaDescriptor::sizeInBytes, item);
}

//===----------------------------------------------------------------------===//
// Writer
//===----------------------------------------------------------------------===//

namespace {
/// Appends little-endian values to a section.
class ByteWriter {
public:
  void u8(uint8_t value) { bytes.push_back(value); }
  void u16(uint16_t value) { put(value, 2); }
  void u32(uint32_t value) { put(value, 4); }
  void u64(uint64_t value) { put(value, 8); }
  void string(llvm::StringRef text) {
    u32(static_cast<uint32_t>(text.size()));
    llvm::append_range(bytes, text.bytes());
  }
  void alignTo(size_t alignment) {
    bytes.resize(llvm::alignTo(bytes.size(), alignment), 0);
  }

  std::vector<uint8_t> bytes;

private:
  void put(uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i)
      bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
  }
};
} // namespace

static void writePrograms(ByteWriter &out, llvm::ArrayRef<Program> programs) {
  out.u32(programs.size());
  out.u32(0);
  for (const Program &program : programs) {
    out.u32(program.cluster);
    out.u32(program.instructions.size());
    for (const Instruction &inst : program.instructions) {
      out.u8(static_cast<uint8_t>(inst.opcode));
      out.u8(inst.reg);
      out.u8(inst.peMask);
      out.u8(0);
      out.u32(inst.word);
      out.u64(inst.imm);
    }
  }
}

static void writeSpm(ByteWriter &out, const SpmImage &spm) {
  out.u32(spm.base);
  out.u32(spm.bytes.size());
  out.u32(spm.items.size());
  out.u32(0);
  for (const SpmItem &item : spm.items) {
    out.u32(item.address);
    out.u32(item.size);
    out.u8(static_cast<uint8_t>(item.kind));
    out.u8(static_cast<uint8_t>(item.block));
    out.u8(item.bank);
    out.u8(0);
    out.u32(0);
  }
  llvm::append_range(out.bytes, spm.bytes);
}

static void writeArguments(ByteWriter &out, const Arguments &arguments) {
  out.u32(arguments.operands.size());
  out.u32(arguments.relocations.size());
  for (const Operand &operand : arguments.operands) {
    out.string(operand.name);
    out.u8(static_cast<uint8_t>(operand.role));
    out.u8(static_cast<uint8_t>(operand.type));
    out.u16(0);
    out.u64(operand.bytes);
    out.u32(operand.axes.size());
    for (const Axis &axis : operand.axes) {
      out.string(axis.name);
      out.u64(axis.size);
    }
    out.string(operand.chipMapping);
    out.string(operand.elementMapping);
  }
  for (const Relocation &relocation : arguments.relocations) {
    out.u32(relocation.spmAddress);
    out.u32(relocation.operand);
    out.u64(static_cast<uint64_t>(relocation.addend));
  }
}

static void writePlan(ByteWriter &out, llvm::ArrayRef<PlanEntry> plan) {
  out.u32(plan.size());
  out.u32(0);
  for (const PlanEntry &entry : plan) {
    out.u8(static_cast<uint8_t>(entry.tier));
    out.u8(entry.lanes);
    out.u16(0);
    out.u32(entry.cluster);
    out.u32(entry.address);
    out.u32(entry.size);
    out.u64(entry.firstCycle);
    out.u64(entry.lastCycle);
    out.u32(entry.name);
    out.u32(0);
  }
}

static void writeSchedule(ByteWriter &out, const Schedule &schedule) {
  out.u64(schedule.makespan);
  out.u64(schedule.lowerBound);
  out.u32(schedule.commands.size());
  out.u32(0);
  for (const ScheduledCommand &command : schedule.commands) {
    out.u8(static_cast<uint8_t>(command.kind));
    out.u8(0);
    out.u16(0);
    out.u32(command.index);
    out.u64(command.begin);
    out.u64(command.end);
    out.string(command.description);
  }
}

static void writeNames(ByteWriter &out, const Names &names) {
  out.string(names.kernel);
  out.u32(names.strings.size());
  for (const std::string &text : names.strings)
    out.string(text);
}

static void writeInfo(ByteWriter &out, const Info &info) {
  out.string(info.producer);
  out.string(info.chip);
  out.string(info.release);
}

llvm::Expected<std::vector<uint8_t>> edf::write(const Kernel &kernel) {
  if (Fault fault = checkKernel(kernel))
    return makeError("cannot write EDF: " + *fault);
  for (const ScheduledCommand &command : kernel.schedule.commands)
    if (static_cast<unsigned>(command.kind) >= std::size(kindNames))
      return makeError("cannot write EDF: unknown kind of scheduled command");

  ByteWriter sections[numSections];
  writePrograms(sections[0], kernel.programs);
  writeSpm(sections[1], kernel.spm);
  writeArguments(sections[2], kernel.arguments);
  writePlan(sections[3], kernel.plan);
  writeSchedule(sections[4], kernel.schedule);
  writeNames(sections[5], kernel.names);
  writeInfo(sections[6], kernel.info);

  uint64_t total = headerBytes + numSections * entryBytes;
  for (const ByteWriter &section : sections) {
    // Counts and lengths are 32 bits; a section below 4 GiB has none that is
    // larger.
    if (section.bytes.size() > UINT32_MAX)
      return makeError("cannot write EDF: a section exceeds 4 GiB");
    total = llvm::alignTo(total, sectionAlignment) + section.bytes.size();
  }
  ByteWriter out;
  out.bytes.reserve(total);
  llvm::append_range(out.bytes, magic.bytes());
  out.u32(formatVersion);
  out.u32(numSections);
  uint64_t offset = headerBytes + numSections * entryBytes;
  for (auto [id, section] : llvm::zip_equal(sectionIds, sections)) {
    offset = llvm::alignTo(offset, sectionAlignment);
    llvm::append_range(out.bytes, id.bytes());
    out.u32(llvm::crc32(section.bytes));
    out.u64(offset);
    out.u64(section.bytes.size());
    offset += section.bytes.size();
  }
  for (const ByteWriter &section : sections) {
    out.alignTo(sectionAlignment);
    llvm::append_range(out.bytes, section.bytes);
  }
  return std::move(out.bytes);
}

//===----------------------------------------------------------------------===//
// Reader
//===----------------------------------------------------------------------===//

llvm::Expected<Reader> Reader::open(llvm::ArrayRef<uint8_t> bytes,
                                    llvm::StringRef fileName) {
  Reader reader;
  reader.data = bytes;
  reader.name = fileName.str();
  auto fail = [&](uint64_t offset, const Twine &text) {
    return makeError(fileName + ": offset " + Twine(offset) + ": " + text);
  };
  if (bytes.size() < magic.size() ||
      !llvm::equal(bytes.take_front(magic.size()), magic.bytes()))
    return fail(0, "not an EDF file: wrong magic");
  if (bytes.size() < headerBytes)
    return fail(bytes.size(),
                "truncated: the header has " + Twine(headerBytes) + " bytes");
  uint32_t version = endian::read32le(bytes.data() + 8);
  if (version != formatVersion)
    return fail(8, "EDF version " + Twine(version) +
                       " is unknown; this reader knows version " +
                       Twine(formatVersion));
  uint32_t count = endian::read32le(bytes.data() + 12);
  if (count > (bytes.size() - headerBytes) / entryBytes)
    return fail(12, "truncated: no room for a table of " + Twine(count) +
                        " sections");

  uint64_t end = headerBytes + count * entryBytes;
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t at = headerBytes + i * entryBytes;
    const uint8_t *entry = bytes.data() + at;
    SectionInfo section;
    section.id.assign(entry, entry + 4);
    section.crc = endian::read32le(entry + 4);
    section.offset = endian::read64le(entry + 8);
    section.size = endian::read64le(entry + 16);
    if (!llvm::is_contained(sectionIds, llvm::StringRef(section.id))) {
      std::string shown;
      llvm::raw_string_ostream(shown).write_escaped(section.id);
      return fail(at, "unknown section '" + Twine(shown) + "'");
    }
    for (const SectionInfo &other : reader.table)
      if (other.id == section.id)
        return fail(at, "two sections " + section.id);
    // Sections follow each other without holes, so that no byte of a file is
    // outside the checks.
    if (section.offset != llvm::alignTo(end, sectionAlignment))
      return fail(at + 8, "section " + section.id + " at offset " +
                              Twine(section.offset) +
                              ", expected it behind the one before at " +
                              Twine(llvm::alignTo(end, sectionAlignment)));
    if (section.offset > bytes.size() ||
        section.size > bytes.size() - section.offset)
      return fail(at + 16, "truncated: section " + section.id + " has " +
                               Twine(section.size) + " bytes, " +
                               Twine(section.offset > bytes.size()
                                         ? 0
                                         : bytes.size() - section.offset) +
                               " are left");
    for (uint64_t k = end; k < section.offset; ++k)
      if (bytes[k] != 0)
        return fail(k, "padding before section " + section.id + " is not zero");
    end = section.offset + section.size;
    reader.table.push_back(std::move(section));
  }
  if (end != bytes.size())
    return fail(end,
                Twine(bytes.size() - end) + " bytes follow the last section");
  return std::move(reader);
}

namespace {
/// Reads little-endian values of one section. The first fault sticks: later
/// reads give zeros, and the caller asks once at the end.
class Cursor {
public:
  Cursor(llvm::ArrayRef<uint8_t> bytes, llvm::StringRef file,
         llvm::StringRef section, uint64_t base)
      : bytes(bytes), file(file), section(section), base(base) {}

  uint8_t u8() { return static_cast<uint8_t>(take(1)); }
  uint16_t u16() { return static_cast<uint16_t>(take(2)); }
  uint32_t u32() { return static_cast<uint32_t>(take(4)); }
  uint64_t u64() { return take(8); }

  std::string string() {
    uint64_t size = u32();
    if (!need(size, "text"))
      return {};
    std::string text(bytes.begin() + pos, bytes.begin() + pos + size);
    pos += size;
    return text;
  }

  std::vector<uint8_t> blob(uint64_t size) {
    if (!need(size, "bytes"))
      return {};
    std::vector<uint8_t> result(bytes.begin() + pos,
                                bytes.begin() + pos + size);
    pos += size;
    return result;
  }

  /// A count of elements that take at least `minBytes` each, or 0 and a fault
  /// if they cannot fit what is left.
  uint64_t count(size_t minBytes, llvm::StringRef what) {
    uint64_t n = u32();
    checkCount(n, minBytes, what);
    return failed() ? 0 : n;
  }
  void checkCount(uint64_t n, size_t minBytes, llvm::StringRef what) {
    if (!failed() && n > (bytes.size() - pos) / minBytes)
      fail(std::to_string(n) + " " + what.str() + " do not fit the " +
           std::to_string(bytes.size() - pos) + " bytes that are left");
  }

  void zero(uint64_t value) {
    if (value != 0)
      fail("a reserved field is not zero");
  }
  template <typename Enum>
  Enum enumerator(uint64_t limit, llvm::StringRef what) {
    uint8_t value = u8();
    if (value >= limit) {
      fail("unknown " + what.str() + " " + std::to_string(value));
      value = 0;
    }
    return static_cast<Enum>(value);
  }

  bool failed() const { return !fault.empty(); }
  /// A fault at what is read next.
  void fail(const std::string &text) { failAt(base + pos, text); }
  /// A fault of the section's content; `text` says of which element.
  void failContent(const std::string &text) { failAt(base, text); }
  llvm::Error finish() {
    if (!failed() && pos != bytes.size())
      fail(std::to_string(bytes.size() - pos) + " bytes are left over");
    if (failed())
      return makeError(fault);
    return llvm::Error::success();
  }

private:
  void failAt(uint64_t offset, const std::string &text) {
    if (!failed())
      fault = file.str() + ": section " + section.str() + " at offset " +
              std::to_string(offset) + ": " + text;
  }
  bool need(uint64_t size, llvm::StringRef what) {
    if (failed())
      return false;
    if (size <= bytes.size() - pos)
      return true;
    fail("truncated: " + std::to_string(size) + " bytes of " + what.str() +
         " needed, " + std::to_string(bytes.size() - pos) + " left");
    return false;
  }
  uint64_t take(unsigned size) {
    if (!need(size, "a number"))
      return 0;
    uint64_t value = 0;
    for (unsigned i = 0; i < size; ++i)
      value |= uint64_t(bytes[pos + i]) << (8 * i);
    pos += size;
    return value;
  }

  llvm::ArrayRef<uint8_t> bytes;
  llvm::StringRef file, section;
  uint64_t base;
  uint64_t pos = 0;
  std::string fault;
};
} // namespace

static llvm::Error checkCrc(const Reader &reader, llvm::ArrayRef<uint8_t> data,
                            const SectionInfo &section) {
  uint32_t crc = llvm::crc32(data.slice(section.offset, section.size));
  if (crc == section.crc)
    return llvm::Error::success();
  return makeError(reader.fileName() + ": section " + section.id +
                   " at offset " + Twine(section.offset) + ": CRC-32 is " +
                   hex(crc) + ", the table says " + hex(section.crc));
}

/// A cursor over a section with a good CRC. Nothing if the section is
/// informational and absent or all zero.
static llvm::Expected<std::optional<Cursor>>
openSection(const Reader &reader, llvm::ArrayRef<uint8_t> data,
            llvm::StringRef id, bool informational) {
  for (const SectionInfo &section : reader.sections()) {
    if (section.id != id)
      continue;
    llvm::ArrayRef<uint8_t> bytes = data.slice(section.offset, section.size);
    if (llvm::Error error = checkCrc(reader, data, section))
      return std::move(error);
    if (informational && llvm::all_of(bytes, [](uint8_t b) { return b == 0; }))
      return std::nullopt;
    return Cursor(bytes, reader.fileName(), section.id, section.offset);
  }
  if (informational)
    return std::nullopt;
  return makeError(reader.fileName() + ": section " + id + " is missing");
}

llvm::Expected<std::vector<Program>> Reader::programs() const {
  auto cursor = openSection(*this, data, "PROG", /*informational=*/false);
  if (!cursor)
    return cursor.takeError();
  Cursor &in = **cursor;
  std::vector<Program> result;
  uint64_t count = in.count(minProgramBytes, "programs");
  in.zero(in.u32());
  for (uint64_t i = 0; i < count && !in.failed(); ++i) {
    Program program;
    program.cluster = in.u32();
    uint64_t length = in.count(instructionBytes, "instructions");
    program.instructions.reserve(length);
    for (uint64_t k = 0; k < length; ++k) {
      Instruction inst;
      inst.opcode = static_cast<Opcode>(in.u8());
      inst.reg = in.u8();
      inst.peMask = in.u8();
      in.zero(in.u8());
      inst.word = in.u32();
      inst.imm = in.u64();
      program.instructions.push_back(inst);
    }
    if (in.failed())
      break;
    if (Fault fault = checkProgram(program))
      in.failContent("program of cluster " + std::to_string(program.cluster) +
                     ": " + *fault);
    result.push_back(std::move(program));
  }
  if (llvm::Error error = in.finish())
    return std::move(error);
  return result;
}

llvm::Expected<SpmImage> Reader::spmImage() const {
  auto cursor = openSection(*this, data, "SPMI", /*informational=*/false);
  if (!cursor)
    return cursor.takeError();
  Cursor &in = **cursor;
  SpmImage result;
  result.base = in.u32();
  uint64_t size = in.u32();
  uint64_t count = in.u32();
  in.zero(in.u32());
  in.checkCount(count, itemBytes, "items");
  for (uint64_t i = 0; i < count && !in.failed(); ++i) {
    SpmItem item;
    item.address = in.u32();
    item.size = in.u32();
    item.kind = in.enumerator<ItemKind>(2, "kind of item");
    item.block = in.enumerator<Block>(numBlocks, "register block");
    item.bank = in.u8();
    in.zero(in.u8());
    in.zero(in.u32());
    result.items.push_back(item);
  }
  result.bytes = in.blob(size);
  if (!in.failed())
    if (Fault fault = checkSpm(result))
      in.failContent(*fault);
  if (llvm::Error error = in.finish())
    return std::move(error);
  return result;
}

llvm::Expected<Arguments> Reader::arguments() const {
  auto cursor = openSection(*this, data, "ARGS", /*informational=*/false);
  if (!cursor)
    return cursor.takeError();
  Cursor &in = **cursor;
  Arguments result;
  uint64_t numOperands = in.u32();
  uint64_t numRelocations = in.u32();
  in.checkCount(numOperands, minOperandBytes, "operands");
  for (uint64_t i = 0; i < numOperands && !in.failed(); ++i) {
    Operand operand;
    operand.name = in.string();
    operand.role = in.enumerator<Role>(std::size(roleNames), "role");
    operand.type = in.enumerator<ElementType>(numElementTypes, "element type");
    in.zero(in.u16());
    operand.bytes = in.u64();
    uint64_t numAxes = in.count(minAxisBytes, "axes");
    for (uint64_t k = 0; k < numAxes && !in.failed(); ++k) {
      Axis axis;
      axis.name = in.string();
      axis.size = in.u64();
      operand.axes.push_back(std::move(axis));
    }
    operand.chipMapping = in.string();
    operand.elementMapping = in.string();
    result.operands.push_back(std::move(operand));
  }
  in.checkCount(numRelocations, relocationBytes, "relocations");
  for (uint64_t i = 0; i < numRelocations && !in.failed(); ++i) {
    Relocation relocation;
    relocation.spmAddress = in.u32();
    relocation.operand = in.u32();
    relocation.addend = static_cast<int64_t>(in.u64());
    result.relocations.push_back(relocation);
  }
  if (llvm::Error error = in.finish())
    return std::move(error);
  return result;
}

llvm::Expected<std::vector<PlanEntry>> Reader::plan() const {
  auto cursor = openSection(*this, data, "PLAN", /*informational=*/false);
  if (!cursor)
    return cursor.takeError();
  Cursor &in = **cursor;
  std::vector<PlanEntry> result;
  uint64_t count = in.u32();
  in.zero(in.u32());
  in.checkCount(count, planEntryBytes, "plan entries");
  for (uint64_t i = 0; i < count && !in.failed(); ++i) {
    PlanEntry entry;
    entry.tier = in.enumerator<Tier>(std::size(tierNames), "memory tier");
    entry.lanes = in.u8();
    in.zero(in.u16());
    entry.cluster = in.u32();
    entry.address = in.u32();
    entry.size = in.u32();
    entry.firstCycle = in.u64();
    entry.lastCycle = in.u64();
    entry.name = in.u32();
    in.zero(in.u32());
    result.push_back(entry);
  }
  if (!in.failed())
    if (Fault fault = checkPlan(result))
      in.failContent(*fault);
  if (llvm::Error error = in.finish())
    return std::move(error);
  return result;
}

llvm::Expected<Schedule> Reader::schedule() const {
  auto cursor = openSection(*this, data, "SCHD", /*informational=*/true);
  if (!cursor)
    return cursor.takeError();
  Schedule result;
  if (!*cursor)
    return result;
  Cursor &in = **cursor;
  result.makespan = in.u64();
  result.lowerBound = in.u64();
  uint64_t count = in.u32();
  in.zero(in.u32());
  in.checkCount(count, minCommandBytes, "commands");
  for (uint64_t i = 0; i < count && !in.failed(); ++i) {
    ScheduledCommand command;
    command.kind =
        in.enumerator<CommandKind>(std::size(kindNames), "kind of command");
    in.zero(in.u8());
    in.zero(in.u16());
    command.index = in.u32();
    command.begin = in.u64();
    command.end = in.u64();
    command.description = in.string();
    result.commands.push_back(std::move(command));
  }
  if (llvm::Error error = in.finish())
    return std::move(error);
  return result;
}

llvm::Expected<Names> Reader::names() const {
  auto cursor = openSection(*this, data, "NAME", /*informational=*/true);
  if (!cursor)
    return cursor.takeError();
  Names result;
  if (!*cursor)
    return result;
  Cursor &in = **cursor;
  result.kernel = in.string();
  uint64_t count = in.count(minStringBytes, "names");
  for (uint64_t i = 0; i < count && !in.failed(); ++i)
    result.strings.push_back(in.string());
  if (llvm::Error error = in.finish())
    return std::move(error);
  return result;
}

llvm::Expected<Info> Reader::info() const {
  auto cursor = openSection(*this, data, "INFO", /*informational=*/true);
  if (!cursor)
    return cursor.takeError();
  Info result;
  if (!*cursor)
    return result;
  Cursor &in = **cursor;
  result.producer = in.string();
  result.chip = in.string();
  result.release = in.string();
  if (llvm::Error error = in.finish())
    return std::move(error);
  return result;
}

/// Moves `from` to `to`, or returns its error.
template <typename T>
static llvm::Error assign(T &to, llvm::Expected<T> from) {
  if (!from)
    return from.takeError();
  to = std::move(*from);
  return llvm::Error::success();
}

llvm::Expected<Kernel> Reader::loadExecutable() const {
  // A damaged file is not run, wherever the damage is.
  for (const SectionInfo &section : table)
    if (llvm::Error error = checkCrc(*this, data, section))
      return std::move(error);
  Kernel kernel;
  if (llvm::Error error = assign(kernel.programs, programs()))
    return std::move(error);
  if (llvm::Error error = assign(kernel.spm, spmImage()))
    return std::move(error);
  if (llvm::Error error = assign(kernel.arguments, arguments()))
    return std::move(error);
  if (llvm::Error error = assign(kernel.plan, plan()))
    return std::move(error);
  if (Fault fault = checkKernel(kernel))
    return makeError(name + ": " + *fault);
  return kernel;
}

llvm::Expected<Kernel> Reader::load() const {
  llvm::Expected<Kernel> kernel = loadExecutable();
  if (!kernel)
    return kernel;
  if (llvm::Error error = assign(kernel->schedule, schedule()))
    return std::move(error);
  if (llvm::Error error = assign(kernel->names, names()))
    return std::move(error);
  if (llvm::Error error = assign(kernel->info, info()))
    return std::move(error);
  return kernel;
}
