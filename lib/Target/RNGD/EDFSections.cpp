//===- EDFSections.cpp - Reads the sections of EDF files ------------------===//
//
// One function a section, each checks CRC, bounds and content.
//
//===----------------------------------------------------------------------===//

#include "EDFFormat.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Compression.h"

using namespace furiosa;
using namespace furiosa::rngd;
using namespace furiosa::rngd::edf;
using llvm::Twine;

namespace {
/// Reads little-endian values of one section. The first fault sticks: later
/// reads give zeros, and the caller asks once at the end.
class Cursor {
public:
  Cursor(llvm::ArrayRef<uint8_t> bytes, llvm::StringRef file,
         std::string section, uint64_t base)
      : bytes(bytes), file(file), section(std::move(section)), base(base) {}

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
  /// Makes room for `n` elements that are known to fit.
  template <typename T>
  void reserve(std::vector<T> &elements, uint64_t n) {
    if (!failed())
      elements.reserve(n);
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

  /// Goes on in what the section, a zstd frame, unpacks to. Offsets in messages
  /// then count from the start of that.
  llvm::Error unpack(std::vector<uint8_t> &unpacked, uint64_t size) {
    if (!llvm::compression::zstd::isAvailable())
      failContent("not yet supported: packed sections in a build without zstd");
    if (!failed()) {
      unpacked.resize(size);
      size_t found = size;
      if (llvm::Error error = llvm::compression::zstd::decompress(
              bytes, unpacked.data(), found))
        failContent("does not unpack: " + llvm::toString(std::move(error)));
      else if (found != size)
        failContent("unpacks to " + std::to_string(found) + " bytes, not " +
                    std::to_string(size));
    }
    if (failed())
      return makeError(fault);
    bytes = unpacked;
    base = 0;
    section += ", unpacked,";
    return llvm::Error::success();
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
      fault = file.str() + ": section " + section + " at offset " +
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
  llvm::StringRef file;
  std::string section;
  uint64_t base;
  uint64_t pos = 0;
  std::string fault;
};
} // namespace

/// A cursor over a section with a good CRC. Nothing if the section may be
/// absent and is, or is all zero. `packedSize` is set to the bytes that a
/// packed one unpacks to.
static llvm::Expected<std::optional<Cursor>>
openSection(const Reader &reader, llvm::ArrayRef<uint8_t> data, unsigned kernel,
            llvm::StringRef id, bool isOptional,
            std::optional<uint64_t> *packedSize = nullptr) {
  for (const SectionInfo &section : sectionsOf(reader, kernel)) {
    if (section.id != id)
      continue;
    llvm::ArrayRef<uint8_t> bytes = data.slice(section.offset, section.size);
    if (llvm::Error error = checkCrc(reader, data, section))
      return std::move(error);
    if (isOptional && !section.isPacked() &&
        llvm::all_of(bytes, [](uint8_t b) { return b == 0; }))
      return std::nullopt;
    if (section.isPacked())
      *packedSize = section.unpackedSize;
    return Cursor(bytes, reader.fileName(),
                  describe(section, reader.numKernels()), section.offset);
  }
  if (isOptional)
    return std::nullopt;
  return makeError(
      reader.fileName() + ": section " + id +
      (reader.numKernels() > 1 ? " of kernel " + Twine(kernel) : Twine()) +
      " is missing");
}

llvm::Expected<std::vector<Program>> Reader::programs(unsigned kernel) const {
  auto cursor = openSection(*this, data, kernel, "PROG", /*isOptional=*/false);
  if (!cursor)
    return cursor.takeError();
  Cursor &in = **cursor;
  std::vector<Program> result;
  uint64_t count = in.count(minProgramBytes, "programs");
  in.zero(in.u32());
  in.reserve(result, count);
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
    if (minor == 0 &&
        llvm::any_of(program.instructions, [](const Instruction &inst) {
          return inst.hasCount();
        }))
      in.failContent("version 1.0 has no loops with a count");
    if (Fault fault = checkProgram(program))
      in.failContent("program of cluster " + std::to_string(program.cluster) +
                     ": " + *fault);
    result.push_back(std::move(program));
  }
  if (llvm::Error error = in.finish())
    return std::move(error);
  return result;
}

llvm::Expected<SpmImage> Reader::spmImage(unsigned kernel) const {
  auto cursor = openSection(*this, data, kernel, "SPMI", /*isOptional=*/false);
  if (!cursor)
    return cursor.takeError();
  Cursor &in = **cursor;
  SpmImage result;
  result.base = in.u32();
  uint64_t size = in.u32();
  uint64_t count = in.u32();
  in.zero(in.u32());
  in.checkCount(count, itemBytes, "items");
  in.reserve(result.items, count);
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

llvm::Expected<Arguments> Reader::arguments(unsigned kernel) const {
  auto cursor = openSection(*this, data, kernel, "ARGS", /*isOptional=*/false);
  if (!cursor)
    return cursor.takeError();
  Cursor &in = **cursor;
  Arguments result;
  uint64_t numOperands = in.u32();
  uint64_t numRelocations = in.u32();
  in.checkCount(numOperands, minOperandBytes, "operands");
  in.reserve(result.operands, numOperands);
  for (uint64_t i = 0; i < numOperands && !in.failed(); ++i) {
    Operand operand;
    operand.name = in.string();
    operand.role = in.enumerator<Role>(std::size(roleNames), "role");
    operand.type = in.enumerator<ElementType>(numElementTypes, "element type");
    in.zero(in.u16());
    operand.bytes = in.u64();
    uint64_t numAxes = in.count(minAxisBytes, "axes");
    in.reserve(operand.axes, numAxes);
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
  in.reserve(result.relocations, numRelocations);
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

llvm::Expected<Scalars> Reader::scalars(unsigned kernel) const {
  auto cursor = openSection(*this, data, kernel, "SCAL", /*isOptional=*/true);
  if (!cursor)
    return cursor.takeError();
  Scalars result;
  if (!*cursor)
    return result;
  Cursor &in = **cursor;
  uint64_t numScalars = in.u32();
  uint64_t numUses = in.u32();
  in.checkCount(numScalars, scalarBytes, "scalars");
  in.reserve(result.scalars, numScalars);
  for (uint64_t i = 0; i < numScalars && !in.failed(); ++i) {
    Scalar scalar;
    scalar.operand = in.u32();
    scalar.min = static_cast<int32_t>(in.u32());
    scalar.max = static_cast<int32_t>(in.u32());
    in.zero(in.u32());
    result.scalars.push_back(scalar);
  }
  in.checkCount(numUses, scalarUseBytes, "uses of scalars");
  in.reserve(result.uses, numUses);
  for (uint64_t i = 0; i < numUses && !in.failed(); ++i) {
    ScalarUse use;
    use.spmAddress = in.u32();
    use.scalar = in.u32();
    use.scale = static_cast<int64_t>(in.u64());
    result.uses.push_back(use);
  }
  if (!in.failed())
    if (Fault fault = checkScalars(result))
      in.failContent(*fault);
  if (llvm::Error error = in.finish())
    return std::move(error);
  return result;
}

llvm::Expected<std::vector<PlanEntry>> Reader::plan(unsigned kernel) const {
  auto cursor = openSection(*this, data, kernel, "PLAN", /*isOptional=*/false);
  if (!cursor)
    return cursor.takeError();
  Cursor &in = **cursor;
  std::vector<PlanEntry> result;
  uint64_t count = in.u32();
  in.zero(in.u32());
  in.checkCount(count, planEntryBytes, "plan entries");
  in.reserve(result, count);
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

llvm::Expected<Schedule> Reader::schedule(unsigned kernel) const {
  auto cursor = openSection(*this, data, kernel, "SCHD", /*isOptional=*/true);
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
  in.reserve(result.commands, count);
  for (uint64_t i = 0; i < count && !in.failed(); ++i) {
    ScheduledCommand command;
    command.kind =
        in.enumerator<CommandKind>(std::size(kindNames), "kind of command");
    in.zero(in.u8());
    in.zero(in.u16());
    command.index = in.u32();
    command.begin = in.u64();
    command.end = in.u64();
    for (uint32_t &instruction : command.instructions)
      instruction = in.u32();
    command.description = in.string();
    result.commands.push_back(std::move(command));
  }
  if (llvm::Error error = in.finish())
    return std::move(error);
  return result;
}

llvm::Expected<Names> Reader::names(unsigned kernel) const {
  auto cursor = openSection(*this, data, kernel, "NAME", /*isOptional=*/true);
  if (!cursor)
    return cursor.takeError();
  Names result;
  if (!*cursor)
    return result;
  Cursor &in = **cursor;
  result.kernel = in.string();
  uint64_t count = in.count(minStringBytes, "names");
  in.reserve(result.strings, count);
  for (uint64_t i = 0; i < count && !in.failed(); ++i)
    result.strings.push_back(in.string());
  if (llvm::Error error = in.finish())
    return std::move(error);
  return result;
}

llvm::Expected<Info> Reader::info(unsigned kernel) const {
  auto cursor = openSection(*this, data, kernel, "INFO", /*isOptional=*/true);
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

llvm::Expected<std::vector<Constant>> Reader::constants(unsigned kernel) const {
  std::vector<Constant> result;
  std::optional<uint64_t> packedSize;
  auto cursor = openSection(*this, data, kernel, "CNST", /*isOptional=*/true,
                            &packedSize);
  if (!cursor)
    return cursor.takeError();
  if (!*cursor)
    return result;
  // Of a packed section the cursor walks over what it unpacks to.
  std::vector<uint8_t> unpacked;
  if (packedSize)
    if (llvm::Error error = (*cursor)->unpack(unpacked, *packedSize))
      return std::move(error);
  Cursor &in = **cursor;
  uint64_t count = in.u32();
  in.zero(in.u32());
  in.checkCount(count, constantBytes, "constants");
  in.reserve(result, count);
  std::vector<uint64_t> sizes;
  in.reserve(sizes, count);
  for (uint64_t i = 0; i < count && !in.failed(); ++i) {
    Constant constant;
    uint32_t kind = in.u32();
    if (kind > static_cast<uint32_t>(ConstantKind::Table))
      in.fail("unknown kind of constant " + std::to_string(kind));
    constant.kind = static_cast<ConstantKind>(kind);
    constant.index = in.u32();
    sizes.push_back(in.u64());
    result.push_back(std::move(constant));
  }
  for (auto [constant, size] : llvm::zip(result, sizes))
    constant.bytes = in.blob(size);
  if (!in.failed())
    if (Fault fault = checkConstants(result))
      in.failContent(*fault);
  if (llvm::Error error = in.finish())
    return std::move(error);
  return result;
}

llvm::Expected<Locations> Reader::locations(unsigned kernel) const {
  auto cursor = openSection(*this, data, kernel, "LOCS", /*isOptional=*/true);
  if (!cursor)
    return cursor.takeError();
  Locations result;
  if (!*cursor)
    return result;
  Cursor &in = **cursor;
  uint64_t numFiles = in.u32();
  uint64_t numLines = in.u32();
  in.checkCount(numFiles, minStringBytes, "file names");
  in.reserve(result.files, numFiles);
  for (uint64_t i = 0; i < numFiles && !in.failed(); ++i)
    result.files.push_back(in.string());
  in.checkCount(numLines, sourceLineBytes, "source lines");
  in.reserve(result.lines, numLines);
  for (uint64_t i = 0; i < numLines && !in.failed(); ++i) {
    SourceLine line;
    line.program = in.u32();
    line.instruction = in.u32();
    line.file = in.u32();
    line.line = in.u32();
    line.column = in.u32();
    result.lines.push_back(line);
  }
  if (!in.failed())
    if (Fault fault = checkLocations(result))
      in.failContent(*fault);
  if (llvm::Error error = in.finish())
    return std::move(error);
  return result;
}
