//===- EDFReader.cpp - EDF files to kernels -------------------------------===//

#include "EDFFormat.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

using namespace furiosa;
using namespace furiosa::rngd;
using namespace furiosa::rngd::edf;
using llvm::Twine;
namespace endian = llvm::support::endian;

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
