//===- EDFDisassembler.cpp - EDF files as text ----------------------------===//
//
// Prints every section of an EDF file, one command a line, so that
// EDFAssembler.cpp gives the same bytes back. What stands in parentheses and
// behind # is there for readers and follows from the rest.
//
//===----------------------------------------------------------------------===//

#include "EDFFormat.h"
#include "KnownRegisters.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/raw_ostream.h"

using namespace furiosa;
using namespace furiosa::rngd;
using namespace furiosa::rngd::edf;

static std::string quoted(llvm::StringRef text) {
  std::string result = "\"";
  llvm::raw_string_ostream(result).write_escaped(text);
  return result + "\"";
}

/// "pe 0-3", "pe 0,2".
static void printPEs(llvm::raw_ostream &os, unsigned mask) {
  llvm::SmallVector<unsigned> pes;
  for (unsigned pe = 0; pe < machine::pesPerCluster; ++pe)
    if (mask >> pe & 1)
      pes.push_back(pe);
  os << "pe ";
  if (pes.size() > 1 && pes.back() - pes.front() + 1 == pes.size())
    os << pes.front() << '-' << pes.back();
  else
    llvm::interleave(pes, os, ",");
}

/// The command with its operands, as far as they are known.
static void printCommand(llvm::raw_ostream &os, const Instruction &issue,
                         const KnownRegisters &registers) {
  llvm::Expected<IssuedCommand> issued =
      IssuedCommand::decode(issue, registers);
  if (!issued) {
    // `checkProgram` has seen to it that there is none such.
    os << "<" << llvm::toString(issued.takeError()) << ">";
    return;
  }
  issued->command.print(os, /*withOperands=*/issued->allKnown);
  if (std::optional<SfrLocation> place = issued->sfrLocation())
    os << " (" << toString(place->block) << ", bank " << place->bank << ')';
  for (const std::string &fault : issued->faults)
    os << " # " << fault;
}

/// Where the instructions of each program come from.
static void printProgram(llvm::raw_ostream &os, const Program &program,
                         llvm::ArrayRef<SourceLine> lines,
                         llvm::ArrayRef<std::string> files) {
  os << "  program cluster " << program.cluster << " {\n";
  KnownRegisters registers;
  unsigned depth = 2;
  for (auto [i, inst] : llvm::enumerate(program.instructions)) {
    if (!lines.empty() && lines.front().instruction == i) {
      const SourceLine &line = lines.front();
      os.indent(2 * depth) << "at " << quoted(files[line.file]) << ':'
                           << line.line << ':' << line.column << '\n';
      lines = lines.drop_front();
    }
    if (inst.opcode == Opcode::EndLoop || inst.opcode == Opcode::Else ||
        inst.opcode == Opcode::EndIf)
      --depth;
    os.indent(2 * depth);
    registers.follow(inst);
    switch (inst.opcode) {
    case Opcode::End:
      os << "end";
      break;
    case Opcode::Set:
      os << "set r" << unsigned(inst.reg) << " = " << hex(inst.imm) << ", ";
      printPEs(os, inst.peMask);
      break;
    case Opcode::Issue: {
      printPEs(os << "issue ", inst.peMask);
      printCommand(os << ": ", inst, registers);
      break;
    }
    case Opcode::Loop:
      os << "loop " << inst.word;
      if (inst.hasCount())
        os << " by [" << hex(inst.imm) << ']';
      os << " {";
      ++depth;
      break;
    case Opcode::EndLoop:
    case Opcode::EndIf:
      os << '}';
      break;
    case Opcode::Barrier:
      os << "barrier";
      break;
    case Opcode::Add:
      os << "add [" << hex(inst.word) << "], "
         << static_cast<int64_t>(inst.imm);
      break;
    case Opcode::If:
      os << "if [" << hex(inst.word) << "] " << conditionNames[inst.reg] << ' '
         << static_cast<int64_t>(inst.imm) << " {";
      ++depth;
      break;
    case Opcode::Else:
      os << "} else {";
      ++depth;
      break;
    }
    os << '\n';
  }
  os << "  }\n";
}

static void printPrograms(llvm::raw_ostream &os,
                          llvm::ArrayRef<Program> programs,
                          const Locations &locations) {
  llvm::ArrayRef<SourceLine> lines = locations.lines;
  for (auto [i, program] : llvm::enumerate(programs)) {
    auto own = lines.take_while(
        [i = i](const SourceLine &line) { return line.program == i; });
    printProgram(os, program, own, locations.files);
    lines = lines.drop_front(own.size());
  }
}

/// Rows of at most 32 bytes.
static void printBytes(llvm::raw_ostream &os, llvm::ArrayRef<uint8_t> bytes,
                       unsigned indent) {
  for (; !bytes.empty();
       bytes = bytes.drop_front(std::min<size_t>(bytes.size(), 32)))
    os.indent(indent) << llvm::toHex(bytes.take_front(32), /*LowerCase=*/true)
                      << '\n';
}

/// What lies between items, where it is not zero.
static void printGap(llvm::raw_ostream &os, const SpmImage &spm, uint64_t begin,
                     uint64_t end) {
  for (uint64_t at = begin; at < end; at += 32) {
    llvm::ArrayRef<uint8_t> row = llvm::ArrayRef(spm.bytes).slice(
        at - spm.base, std::min<uint64_t>(32, end - at));
    if (llvm::any_of(row, [](uint8_t byte) { return byte != 0; }))
      os << "    " << hex(at) << ": bytes "
         << llvm::toHex(row, /*LowerCase=*/true) << '\n';
  }
}

static void printItem(llvm::raw_ostream &os, const SpmItem &item,
                      llvm::ArrayRef<uint8_t> bytes) {
  os << "    " << hex(item.address) << ": ";
  if (item.kind == ItemKind::DmaDescriptor) {
    llvm::Expected<DmaDescriptor> descriptor = DmaDescriptor::decode(bytes);
    // One that breaks rules has no other spelling.
    std::string fault;
    if (!descriptor) {
      fault = llvm::toString(descriptor.takeError());
    } else {
      auto again = descriptor->encode();
      if (again && llvm::equal(*again, bytes)) {
        os << "descriptor {\n";
        printDescriptor(os, *descriptor, "      ");
        os << "    }\n";
        return;
      }
      fault = again ? "no plain form" : llvm::toString(again.takeError());
    }
    os << "descriptor raw { # " << fault << '\n';
    printBytes(os, bytes, 6);
    os << "    }\n";
    return;
  }
  os << "sfr " << toString(item.block) << " bank " << unsigned(item.bank)
     << " {\n";
  std::vector<uint64_t> words(bytes.size() / 8);
  for (auto [i, word] : llvm::enumerate(words))
    word = llvm::support::endian::read64le(bytes.data() + 8 * i);
  // `checkSpm` has seen to length and reserved bits.
  llvm::Expected<SfrImage> image = SfrImage::fromWords(item.block, words);
  if (image)
    printImage(os, *image, "      ");
  else
    os << "      <" << llvm::toString(image.takeError()) << ">\n";
  os << "    }\n";
}

static void printSpm(llvm::raw_ostream &os, const SpmImage &spm) {
  os << "  spm at " << hex(spm.base) << " size " << spm.bytes.size() << " {\n";
  uint64_t end = spm.base;
  for (const SpmItem &item : spm.items) {
    printGap(os, spm, end, item.address);
    end = uint64_t(item.address) + item.size;
    printItem(
        os, item,
        llvm::ArrayRef(spm.bytes).slice(item.address - spm.base, item.size));
  }
  printGap(os, spm, end, spm.base + spm.bytes.size());
  os << "  }\n";
}

static void printArguments(llvm::raw_ostream &os, const Arguments &arguments) {
  os << "  arguments {\n";
  for (auto [i, operand] : llvm::enumerate(arguments.operands)) {
    os << "    " << i << ": " << toString(operand.role) << ' '
       << quoted(operand.name) << " bytes " << operand.bytes;
    if (operand.role != Role::Scratch) {
      os << ' ' << furiosa::toString(operand.type) << " axes [";
      llvm::interleaveComma(operand.axes, os, [&](const Axis &axis) {
        os << quoted(axis.name) << " = " << axis.size;
      });
      os << "] chip " << quoted(operand.chipMapping) << " element "
         << quoted(operand.elementMapping);
    }
    os << '\n';
  }
  for (const Relocation &relocation : arguments.relocations)
    os << "    [" << hex(relocation.spmAddress) << "] = operand "
       << relocation.operand << " + " << relocation.addend << '\n';
  os << "  }\n";
}

static void printScalars(llvm::raw_ostream &os, const Scalars &scalars) {
  os << "  scalars {\n";
  for (auto [i, scalar] : llvm::enumerate(scalars.scalars))
    os << "    " << i << ": operand " << scalar.operand << " from "
       << scalar.min << " to " << scalar.max << '\n';
  for (const ScalarUse &use : scalars.uses)
    os << "    [" << hex(use.spmAddress) << "] = scalar " << use.scalar << " * "
       << use.scale << '\n';
  os << "  }\n";
}

static void printPlan(llvm::raw_ostream &os, llvm::ArrayRef<PlanEntry> plan,
                      const Names &names) {
  os << "  plan {\n";
  for (const PlanEntry &entry : plan) {
    os << "    " << toString(entry.tier) << " cluster " << entry.cluster
       << " at " << hex(entry.address) << " size " << entry.size;
    if (entry.tier == Tier::TRF)
      os << " lanes " << unsigned(entry.lanes);
    os << " live [" << entry.firstCycle << ", " << entry.lastCycle << ')';
    if (entry.name != noName)
      os << " name " << entry.name;
    if (entry.name < names.strings.size())
      os << " (" << quoted(names.strings[entry.name]) << ')';
    os << '\n';
  }
  os << "  }\n";
}

static void printConstants(llvm::raw_ostream &os,
                           llvm::ArrayRef<Constant> constants) {
  os << "  constants {\n";
  for (const Constant &constant : constants) {
    os << "    " << constantKindNames[static_cast<unsigned>(constant.kind)]
       << ' ' << constant.index << " {\n";
    printBytes(os, constant.bytes, 6);
    os << "    }\n";
  }
  os << "  }\n";
}

static void printSchedule(llvm::raw_ostream &os, const Schedule &schedule) {
  os << "  schedule makespan " << schedule.makespan << " lower_bound "
     << schedule.lowerBound << " {\n";
  for (const ScheduledCommand &command : schedule.commands) {
    os << "    " << command.index << ": " << toString(command.kind) << " ["
       << command.begin << ", " << command.end << ") "
       << quoted(command.description);
    for (auto [cluster, instruction] : llvm::enumerate(command.instructions))
      if (instruction != noInstruction)
        os << " cluster " << cluster << " instruction " << instruction;
    os << '\n';
  }
  os << "  }\n";
}

static void printNames(llvm::raw_ostream &os, const Names &names) {
  os << "  names {\n";
  for (const std::string &name : names.strings)
    os << "    " << quoted(name) << '\n';
  os << "  }\n";
}

namespace {
/// Prints the kernels of a file; keeps the first fault.
class Disassembler {
public:
  Disassembler(llvm::raw_ostream &os, const Reader &reader)
      : os(os), reader(reader) {}

  llvm::Error run();

private:
  /// Reports a fault where the section would stand and goes on.
  template <typename T>
  std::optional<T> take(llvm::Expected<T> section) {
    if (section)
      return std::move(*section);
    report(section.takeError());
    return std::nullopt;
  }
  void report(llvm::Error error) {
    std::string text = llvm::toString(std::move(error));
    os << "<" << text << ">\n";
    if (first.empty())
      first = std::move(text);
  }
  void printSections(uint32_t kernel, llvm::StringRef indent);
  void printKernel(unsigned index);

  llvm::raw_ostream &os;
  const Reader &reader;
  std::string first;
};
} // namespace

void Disassembler::printSections(uint32_t kernel, llvm::StringRef indent) {
  for (const SectionInfo &section : sectionsOf(reader, kernel)) {
    os << indent << "# section ";
    os.write_escaped(section.id);
    os << " at " << section.offset << " size " << section.size << " crc "
       << hex(section.crc);
    if (!llvm::is_contained(sectionIds, section.id))
      os << ", skipped: unknown to version " << majorVersion << '.'
         << minorVersion;
    os << '\n';
  }
}

void Disassembler::printKernel(unsigned index) {
  std::optional<Names> names = take(reader.names(index));
  os << "kernel " << quoted(names ? names->kernel : "") << " {\n";
  printSections(index, "  ");
  std::optional<Info> info = take(reader.info(index));
  if (info && *info != Info())
    os << "  producer " << quoted(info->producer) << " chip "
       << quoted(info->chip) << " release " << quoted(info->release) << '\n';
  if (names && !names->strings.empty())
    printNames(os, *names);
  std::optional<Locations> locations = take(reader.locations(index));
  if (auto programs = take(reader.programs(index)))
    printPrograms(os, *programs, locations.value_or(Locations()));
  if (auto spm = take(reader.spmImage(index)))
    printSpm(os, *spm);
  if (auto arguments = take(reader.arguments(index)))
    printArguments(os, *arguments);
  if (auto scalars = take(reader.scalars(index));
      scalars && *scalars != Scalars())
    printScalars(os, *scalars);
  if (auto plan = take(reader.plan(index)))
    printPlan(os, *plan, names.value_or(Names()));
  if (auto constants = take(reader.constants(index));
      constants && !constants->empty())
    printConstants(os, *constants);
  if (auto schedule = take(reader.schedule(index));
      schedule && *schedule != Schedule())
    printSchedule(os, *schedule);
  os << "}\n";
}

llvm::Error Disassembler::run() {
  os << "edf version " << majorVersion << '.' << reader.minorVersion();
  if (llvm::any_of(reader.sections(),
                   [](const SectionInfo &s) { return s.isPacked(); }))
    os << " packed";
  os << '\n';
  for (unsigned index = 0; index < reader.numKernels(); ++index)
    printKernel(index);
  printSections(wholeFile, "");
  // Sections whose parts contradict one another, and the digest.
  if (first.empty())
    if (auto kernels = reader.loadAll(); !kernels)
      report(kernels.takeError());
  return first.empty() ? llvm::Error::success() : makeError(first);
}

llvm::Error edf::disassemble(llvm::raw_ostream &os, const Reader &reader) {
  return Disassembler(os, reader).run();
}
