//===- EDFWriter.cpp - Kernels to EDF files -------------------------------===//

#include "EDFFormat.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/MathExtras.h"

using namespace furiosa;
using namespace furiosa::rngd;
using namespace furiosa::rngd::edf;
using llvm::Twine;

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
