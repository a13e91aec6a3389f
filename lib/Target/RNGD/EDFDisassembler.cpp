//===- EDFDisassembler.cpp - EDF files as text ----------------------------===//
//
// Prints every section of an EDF file, one command a line.
//
//===----------------------------------------------------------------------===//

#include "EDFFormat.h"

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

namespace {
/// General registers of the PEs as far as straight-line code sets them.
class KnownRegisters {
public:
  void set(unsigned mask, unsigned reg, uint64_t value) {
    for (unsigned pe = 0; pe < machine::pesPerCluster; ++pe)
      if (mask >> pe & 1)
        values[pe][reg] = value;
  }
  /// Around a loop the values depend on the iteration.
  void forget() { values = {}; }
  std::optional<uint64_t> get(unsigned pe, unsigned reg) const {
    return values[pe][reg];
  }

private:
  std::array<std::array<std::optional<uint64_t>, machine::tucGeneralRegisters>,
             machine::pesPerCluster>
      values = {};
};
} // namespace

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

/// The command with the operands of `pe`, as far as they are known.
static void printCommand(llvm::raw_ostream &os, uint32_t word, unsigned pe,
                         const KnownRegisters &registers) {
  llvm::Expected<TucCommand> command = TucCommand::decode(word);
  if (!command) {
    os << "<" << llvm::toString(command.takeError()) << ">";
    return;
  }
  bool allKnown = true;
  std::string faults;
  for (unsigned i = 0; i < command->numOperands(); ++i) {
    std::optional<uint64_t> value =
        registers.get(pe, command->registerIndex(i));
    if (!value) {
      allKnown = false;
      continue;
    }
    if (Fault fault = command->setOperand(i, *value)) {
      allKnown = false;
      faults += " <" + *fault + ">";
    }
  }
  command->print(os, /*withOperands=*/allKnown);
  if (allKnown && command->op() == TucOp::MtoSfr)
    if (std::optional<SfrLocation> place =
            findSfr(*command->get("sfr_address")))
      os << " (" << toString(place->block) << ", bank " << place->bank << ')';
  os << faults;
}

static void printProgram(llvm::raw_ostream &os, const Program &program) {
  os << "program cluster " << program.cluster << " {\n";
  KnownRegisters registers;
  unsigned depth = 1;
  for (const Instruction &inst : program.instructions) {
    if (inst.opcode == Opcode::EndLoop)
      --depth;
    os.indent(2 * depth);
    switch (inst.opcode) {
    case Opcode::End:
      os << "end";
      break;
    case Opcode::Set:
      registers.set(inst.peMask, inst.reg, inst.imm);
      os << "set r" << unsigned(inst.reg) << " = " << hex(inst.imm) << ", ";
      printPEs(os, inst.peMask);
      break;
    case Opcode::Issue: {
      printPEs(os << "issue ", inst.peMask);
      os << ": ";
      unsigned first = llvm::countr_zero(unsigned(inst.peMask));
      printCommand(os, inst.word, first, registers);
      break;
    }
    case Opcode::Loop:
      os << "loop " << inst.word << " {";
      ++depth;
      registers.forget();
      break;
    case Opcode::EndLoop:
      os << '}';
      registers.forget();
      break;
    case Opcode::Barrier:
      os << "barrier";
      break;
    case Opcode::Add:
      os << "add [" << hex(inst.word) << "], "
         << static_cast<int64_t>(inst.imm);
      break;
    }
    os << '\n';
  }
  os << "}\n";
}

static void printSpm(llvm::raw_ostream &os, const SpmImage &spm) {
  os << "spm at " << hex(spm.base) << " size " << spm.bytes.size() << " {\n";
  for (const SpmItem &item : spm.items) {
    llvm::ArrayRef<uint8_t> bytes =
        llvm::ArrayRef(spm.bytes).slice(item.address - spm.base, item.size);
    os << "  " << hex(item.address) << ": ";
    if (item.kind == ItemKind::DmaDescriptor) {
      os << "descriptor\n";
      llvm::Expected<DmaDescriptor> descriptor = DmaDescriptor::decode(bytes);
      if (descriptor)
        printDescriptor(os, *descriptor, "    ");
      else
        os << "    <" << llvm::toString(descriptor.takeError()) << ">\n";
      continue;
    }
    os << "sfr " << toString(item.block) << " bank " << unsigned(item.bank)
       << '\n';
    std::vector<uint64_t> words(bytes.size() / 8);
    for (auto [i, word] : llvm::enumerate(words))
      word = llvm::support::endian::read64le(bytes.data() + 8 * i);
    llvm::Expected<SfrImage> image = SfrImage::fromWords(item.block, words);
    if (image)
      printImage(os, *image, "    ");
    else
      os << "    <" << llvm::toString(image.takeError()) << ">\n";
  }
  os << "}\n";
}

static void printArguments(llvm::raw_ostream &os, const Arguments &arguments) {
  os << "arguments {\n";
  for (auto [i, operand] : llvm::enumerate(arguments.operands)) {
    os << "  " << i << ": " << toString(operand.role) << ' '
       << quoted(operand.name) << " bytes " << operand.bytes;
    if (operand.role != Role::Scratch) {
      os << ' ' << furiosa::toString(operand.type) << " axes [";
      llvm::interleaveComma(operand.axes, os, [&](const Axis &axis) {
        llvm::printEscapedString(axis.name, os);
        os << " = " << axis.size;
      });
      os << "] chip " << quoted(operand.chipMapping) << " element "
         << quoted(operand.elementMapping);
    }
    os << '\n';
  }
  for (const Relocation &relocation : arguments.relocations)
    os << "  [" << hex(relocation.spmAddress) << "] = operand "
       << relocation.operand << " + " << relocation.addend << '\n';
  os << "}\n";
}

static void printPlan(llvm::raw_ostream &os, llvm::ArrayRef<PlanEntry> plan,
                      const Names &names) {
  os << "plan {\n";
  for (const PlanEntry &entry : plan) {
    os << "  " << toString(entry.tier) << " cluster " << entry.cluster << " at "
       << hex(entry.address) << " size " << entry.size;
    if (entry.tier == Tier::TRF)
      os << " lanes " << unsigned(entry.lanes);
    os << " live [" << entry.firstCycle << ", " << entry.lastCycle << ')';
    if (entry.name < names.strings.size())
      os << ' ' << quoted(names.strings[entry.name]);
    os << '\n';
  }
  os << "}\n";
}

static void printSchedule(llvm::raw_ostream &os, const Schedule &schedule) {
  os << "schedule makespan " << schedule.makespan << " lower_bound "
     << schedule.lowerBound << " {\n";
  for (const ScheduledCommand &command : schedule.commands)
    os << "  " << command.index << ": " << toString(command.kind) << " ["
       << command.begin << ", " << command.end << ") "
       << quoted(command.description) << '\n';
  os << "}\n";
}

llvm::Error edf::disassemble(llvm::raw_ostream &os, const Reader &reader) {
  llvm::Error first = llvm::Error::success();
  // Reports a fault where the section would stand and goes on.
  auto take = [&](auto section) {
    if (section)
      return std::optional(std::move(*section));
    std::string text = llvm::toString(section.takeError());
    os << "<" << text << ">\n";
    if (!first)
      first = llvm::createStringError(llvm::inconvertibleErrorCode(), text);
    return decltype(std::optional(std::move(*section)))();
  };

  os << "edf version " << formatVersion << '\n';
  std::optional<Names> names = take(reader.names());
  if (names && !names->kernel.empty())
    os << "kernel " << quoted(names->kernel) << '\n';
  std::optional<Info> info = take(reader.info());
  if (info && *info != Info())
    os << "producer " << quoted(info->producer) << " chip "
       << quoted(info->chip) << " release " << quoted(info->release) << '\n';
  for (const SectionInfo &section : reader.sections())
    os << "section " << section.id << " at " << section.offset << " size "
       << section.size << " crc " << hex(section.crc) << '\n';
  if (auto programs = take(reader.programs()))
    for (const Program &program : *programs)
      printProgram(os, program);
  if (auto spm = take(reader.spmImage()))
    printSpm(os, *spm);
  if (auto arguments = take(reader.arguments()))
    printArguments(os, *arguments);
  if (auto plan = take(reader.plan()))
    printPlan(os, *plan, names.value_or(Names()));
  if (std::optional<Schedule> schedule = take(reader.schedule());
      schedule && *schedule != Schedule())
    printSchedule(os, *schedule);
  return first;
}
