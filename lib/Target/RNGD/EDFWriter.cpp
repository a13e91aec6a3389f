//===- EDFWriter.cpp - Kernels to EDF files -------------------------------===//

#include "EDFFormat.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/Endian.h"
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

static void writeScalars(ByteWriter &out, const Scalars &scalars) {
  out.u32(scalars.scalars.size());
  out.u32(scalars.uses.size());
  for (const Scalar &scalar : scalars.scalars) {
    out.u32(scalar.operand);
    out.u32(static_cast<uint32_t>(scalar.min));
    out.u32(static_cast<uint32_t>(scalar.max));
    out.u32(0);
  }
  for (const ScalarUse &use : scalars.uses) {
    out.u32(use.spmAddress);
    out.u32(use.scalar);
    out.u64(static_cast<uint64_t>(use.scale));
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
    for (uint32_t instruction : command.instructions)
      out.u32(instruction);
    out.string(command.description);
  }
}

static void writeConstants(ByteWriter &out,
                           llvm::ArrayRef<Constant> constants) {
  out.u32(constants.size());
  out.u32(0);
  for (const Constant &constant : constants) {
    out.u32(static_cast<uint32_t>(constant.kind));
    out.u32(constant.index);
    out.u64(constant.bytes.size());
  }
  for (const Constant &constant : constants)
    llvm::append_range(out.bytes, constant.bytes);
}

static void writeLocations(ByteWriter &out, const Locations &locations) {
  out.u32(locations.files.size());
  out.u32(locations.lines.size());
  for (const std::string &file : locations.files)
    out.string(file);
  for (const SourceLine &line : locations.lines) {
    out.u32(line.program);
    out.u32(line.instruction);
    out.u32(line.file);
    out.u32(line.line);
    out.u32(line.column);
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

namespace {
/// A section ready to be placed.
struct Section {
  llvm::StringRef id;
  uint32_t flags;
  uint32_t kernel;
  uint64_t unpackedSize;
  std::vector<uint8_t> bytes;
};
} // namespace

/// Packs a section if it becomes smaller, and not by more than a reader allows.
static void pack(Section &section) {
  if (section.bytes.size() < minPackedBytes ||
      !llvm::compression::zstd::isAvailable())
    return;
  llvm::SmallVector<uint8_t, 0> packed;
  llvm::compression::zstd::compress(section.bytes, packed);
  if (packed.size() >= section.bytes.size() ||
      section.bytes.size() / packed.size() >= maxUnpackRatio)
    return;
  section.flags |= packedFlag;
  section.bytes.assign(packed.begin(), packed.end());
}

/// The sections of a kernel in the order of `sectionIds`; those that say
/// nothing are left out.
static void appendSections(std::vector<Section> &sections, uint32_t index,
                           const Kernel &kernel, const WriteOptions &options) {
  auto append = [&](llvm::StringRef id, bool isWanted, uint32_t flags,
                    llvm::function_ref<void(ByteWriter &)> write) {
    if (!isWanted)
      return;
    ByteWriter out;
    write(out);
    uint64_t size = out.bytes.size();
    sections.push_back({id, flags, index, size, std::move(out.bytes)});
  };
  append("PROG", true, 0,
         [&](ByteWriter &out) { writePrograms(out, kernel.programs); });
  append("SPMI", true, 0, [&](ByteWriter &out) { writeSpm(out, kernel.spm); });
  append("ARGS", true, 0,
         [&](ByteWriter &out) { writeArguments(out, kernel.arguments); });
  append("PLAN", true, 0,
         [&](ByteWriter &out) { writePlan(out, kernel.plan); });
  append("SCAL", kernel.scalars != Scalars(), 0,
         [&](ByteWriter &out) { writeScalars(out, kernel.scalars); });
  append("CNST", !kernel.constants.empty(), 0,
         [&](ByteWriter &out) { writeConstants(out, kernel.constants); });
  if (options.compress && sections.back().id == "CNST")
    pack(sections.back());
  append("SCHD", kernel.schedule != Schedule(), skippableFlag,
         [&](ByteWriter &out) { writeSchedule(out, kernel.schedule); });
  append("NAME", kernel.names != Names(), skippableFlag,
         [&](ByteWriter &out) { writeNames(out, kernel.names); });
  append("INFO", kernel.info != Info(), skippableFlag,
         [&](ByteWriter &out) { writeInfo(out, kernel.info); });
  append("LOCS", kernel.locations != Locations() && !options.stripLocations,
         skippableFlag,
         [&](ByteWriter &out) { writeLocations(out, kernel.locations); });
}

/// What every reader would refuse.
static Fault checkKernels(llvm::ArrayRef<Kernel> kernels) {
  if (kernels.empty())
    return "a file holds at least one kernel";
  llvm::StringSet<> names;
  for (const Kernel &kernel : kernels) {
    if (Fault fault = checkKernel(kernel))
      return fault;
    for (const ScheduledCommand &command : kernel.schedule.commands)
      if (static_cast<unsigned>(command.kind) >= std::size(kindNames))
        return "unknown kind of scheduled command";
    if (kernels.size() > 1 && !names.insert(kernel.names.kernel).second)
      return "two kernels '" + kernel.names.kernel + "'";
  }
  return std::nullopt;
}

/// The least that has all that the kernels use, so that older readers take the
/// file where they can.
static uint16_t minorVersionOf(llvm::ArrayRef<Kernel> kernels) {
  for (const Kernel &kernel : kernels) {
    if (kernel.scalars != Scalars())
      return minorVersion;
    for (const Program &program : kernel.programs)
      if (llvm::any_of(program.instructions, [](const Instruction &inst) {
            return inst.hasCount();
          }))
        return minorVersion;
  }
  return 0;
}

llvm::Expected<std::vector<uint8_t>> edf::write(llvm::ArrayRef<Kernel> kernels,
                                                const WriteOptions &options) {
  if (Fault fault = checkKernels(kernels))
    return makeError("cannot write EDF: " + *fault);
  std::vector<Section> sections;
  for (auto [index, kernel] : llvm::enumerate(kernels))
    appendSections(sections, static_cast<uint32_t>(index), kernel, options);

  size_t tableBytes = sections.size() * entryBytes;
  uint64_t total = headerBytes + tableBytes;
  for (const Section &section : sections) {
    // Counts and lengths are 32 bits; a section below 4 GiB has none that is
    // larger.
    if (section.unpackedSize > UINT32_MAX)
      return makeError("cannot write EDF: a section exceeds 4 GiB");
    total = llvm::alignTo(total, sectionAlignment) + section.bytes.size();
  }
  ByteWriter out;
  out.bytes.reserve(total);
  llvm::append_range(out.bytes, magic.bytes());
  out.u16(majorVersion);
  out.u16(minorVersionOf(kernels));
  out.u32(sections.size());
  out.u64(total);
  out.u32(0);
  out.u32(kernels.size());
  out.bytes.resize(headerBytes);
  uint64_t offset = headerBytes + tableBytes;
  for (const Section &section : sections) {
    offset = llvm::alignTo(offset, sectionAlignment);
    llvm::append_range(out.bytes, section.id.bytes());
    out.u32(section.flags);
    out.u32(section.kernel);
    out.u32(llvm::crc32(section.bytes));
    out.u64(offset);
    out.u64(section.bytes.size());
    out.u64(section.unpackedSize);
    offset += section.bytes.size();
  }
  for (const Section &section : sections) {
    out.alignTo(sectionAlignment);
    llvm::append_range(out.bytes, section.bytes);
  }
  llvm::support::endian::write32le(out.bytes.data() + headerCrcOffset,
                                   computeHeaderCrc(out.bytes, tableBytes));
  llvm::copy(computeDigest(out.bytes), out.bytes.begin() + digestOffset);
  return std::move(out.bytes);
}
