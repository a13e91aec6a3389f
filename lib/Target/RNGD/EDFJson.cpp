//===- EDFJson.cpp - EDF files as JSON ------------------------------------===//
//
// Says all that EDFDisassembler.cpp says, for programs to read. The schema is
// docs/edf.schema.json.
//
//===----------------------------------------------------------------------===//

#include "EDFFormat.h"
#include "KnownRegisters.h"

#include "furiosa/Target/RNGD/Codes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"

using namespace furiosa;
using namespace furiosa::rngd;
using namespace furiosa::rngd::edf;
namespace json = llvm::json;

/// Text, or {"hex": "…"} where the bytes are no UTF-8.
static json::Value toText(llvm::StringRef text) {
  if (json::isUTF8(text))
    return json::Value(text.str());
  return json::Object{{"hex", llvm::toHex(text, /*LowerCase=*/true)}};
}

static std::string toHexText(llvm::ArrayRef<uint8_t> bytes) {
  return llvm::toHex(bytes, /*LowerCase=*/true);
}

namespace {
/// Writes the kernels of a file; keeps the faults.
class JsonWriter {
public:
  JsonWriter(llvm::raw_ostream &os, const Reader &reader)
      : json(os, /*IndentSize=*/1), reader(reader) {}

  llvm::Error run();

private:
  template <typename T>
  std::optional<T> take(llvm::Expected<T> section) {
    if (section)
      return std::move(*section);
    faults.push_back(llvm::toString(section.takeError()));
    return std::nullopt;
  }

  void writeSections(uint32_t kernel);
  void writeKernel(unsigned index);
  void writeProgram(const Program &program, llvm::ArrayRef<SourceLine> lines,
                    llvm::ArrayRef<std::string> files);
  void writeInstruction(const Instruction &inst,
                        const KnownRegisters &registers);
  void writeIssue(const Instruction &inst, const KnownRegisters &registers);
  void writeField(llvm::StringRef name, uint64_t value, const CodeTable *codes);
  void writeSpm(const SpmImage &spm);
  void writeImage(const SpmItem &item, llvm::ArrayRef<uint8_t> bytes);
  void writeDescriptor(llvm::ArrayRef<uint8_t> bytes);
  void writeSide(llvm::StringRef name, uint64_t base,
                 llvm::ArrayRef<uint32_t> limits,
                 llvm::ArrayRef<int32_t> strides);
  void writeArguments(const Arguments &arguments);
  void writeScalars(const Scalars &scalars);
  void writePlan(llvm::ArrayRef<PlanEntry> plan, const Names &names);
  void writeConstants(llvm::ArrayRef<Constant> constants);
  void writeSchedule(const Schedule &schedule);

  json::OStream json;
  const Reader &reader;
  std::vector<std::string> faults;
};
} // namespace

void JsonWriter::writeSections(uint32_t kernel) {
  json.attributeArray("sections", [&] {
    for (const SectionInfo &section : sectionsOf(reader, kernel))
      json.object([&] {
        json.attribute("id", toText(section.id));
        json.attribute("known", llvm::is_contained(sectionIds, section.id));
        json.attribute("packed", section.isPacked());
        json.attribute("offset", section.offset);
        json.attribute("size", section.size);
        json.attribute("unpacked_size", section.unpackedSize);
        json.attribute("crc", section.crc);
      });
  });
}

void JsonWriter::writeField(llvm::StringRef name, uint64_t value,
                            const CodeTable *codes) {
  json.object([&] {
    json.attribute("name", name);
    json.attribute("value", value);
    std::string text = codes ? codes->describe(value) : std::string();
    if (!text.empty())
      json.attribute("code", text);
  });
}

void JsonWriter::writeIssue(const Instruction &inst,
                            const KnownRegisters &registers) {
  json.attribute("word", inst.word);
  llvm::Expected<IssuedCommand> issued = IssuedCommand::decode(inst, registers);
  if (!issued) {
    // `checkProgram` has seen to it that there is none such.
    faults.push_back(llvm::toString(issued.takeError()));
    return;
  }
  const TucCommand &command = issued->command;
  json.attribute("command", command.opInfo().mnemonic);
  json.attribute("operands_known", issued->allKnown);
  json.attributeArray("fields", [&] {
    auto write = [&](const TucField &field) {
      writeField(field.name, *command.get(field.name),
                 codesOf(command.op(), field.name));
    };
    llvm::for_each(command.opInfo().wordFields, write);
    if (issued->allKnown)
      for (const auto &fields : command.opInfo().registers)
        llvm::for_each(fields, write);
  });
  if (std::optional<SfrLocation> place = issued->sfrLocation()) {
    json.attribute("block", toString(place->block));
    json.attribute("bank", place->bank);
  }
  if (!issued->faults.empty())
    json.attribute("faults", json::Array(issued->faults));
}

void JsonWriter::writeInstruction(const Instruction &inst,
                                  const KnownRegisters &registers) {
  static constexpr llvm::StringLiteral names[] = {
      "end", "set",     "issue", "loop", "endloop",
      "add", "barrier", "if",    "else", "endif"};
  json.attribute("op", names[static_cast<unsigned>(inst.opcode)]);
  if (inst.peMask)
    json.attributeArray("pes", [&] {
      for (unsigned pe = 0; pe < machine::pesPerCluster; ++pe)
        if (inst.peMask >> pe & 1)
          json.value(pe);
    });
  switch (inst.opcode) {
  case Opcode::Set:
    json.attribute("register", unsigned(inst.reg));
    json.attribute("value", inst.imm);
    break;
  case Opcode::Issue:
    writeIssue(inst, registers);
    break;
  case Opcode::Loop:
    json.attribute("trips", inst.word);
    if (inst.hasCount())
      json.attribute("by", inst.imm);
    break;
  case Opcode::If:
    json.attribute("condition", conditionNames[inst.reg]);
    [[fallthrough]];
  case Opcode::Add:
    json.attribute("address", inst.word);
    json.attribute("value", static_cast<int64_t>(inst.imm));
    break;
  case Opcode::End:
  case Opcode::EndLoop:
  case Opcode::Barrier:
  case Opcode::Else:
  case Opcode::EndIf:
    break;
  }
}

void JsonWriter::writeProgram(const Program &program,
                              llvm::ArrayRef<SourceLine> lines,
                              llvm::ArrayRef<std::string> files) {
  KnownRegisters registers;
  json.attribute("cluster", program.cluster);
  json.attributeArray("instructions", [&] {
    for (auto [i, inst] : llvm::enumerate(program.instructions)) {
      registers.follow(inst);
      json.object([&] {
        // Where this and those that follow come from.
        if (!lines.empty() && lines.front().instruction == i) {
          const SourceLine &line = lines.front();
          json.attributeObject("at", [&] {
            json.attribute("file", toText(files[line.file]));
            json.attribute("line", line.line);
            json.attribute("column", line.column);
          });
          lines = lines.drop_front();
        }
        writeInstruction(inst, registers);
      });
    }
  });
}

void JsonWriter::writeImage(const SpmItem &item,
                            llvm::ArrayRef<uint8_t> bytes) {
  json.attribute("kind", "sfr");
  json.attribute("block", toString(item.block));
  json.attribute("bank", unsigned(item.bank));
  std::vector<uint64_t> words(bytes.size() / 8);
  for (auto [i, word] : llvm::enumerate(words))
    word = llvm::support::endian::read64le(bytes.data() + 8 * i);
  // `checkSpm` has seen to length and reserved bits.
  llvm::Expected<SfrImage> image = SfrImage::fromWords(item.block, words);
  if (!image) {
    faults.push_back(llvm::toString(image.takeError()));
    return;
  }
  json.attributeArray("fields", [&] {
    image->forEach([&](const SfrImage::Entry &entry) {
      if (entry.value != 0)
        writeField(entry.field.str(), entry.value,
                   codesOf(item.block, entry.field.name));
    });
  });
}

void JsonWriter::writeSide(llvm::StringRef name, uint64_t base,
                           llvm::ArrayRef<uint32_t> limits,
                           llvm::ArrayRef<int32_t> strides) {
  json.attributeObject(name, [&] {
    json.attribute("address", base);
    // Innermost first, all eight.
    json.attributeArray("loops", [&] {
      for (auto [limit, stride] : llvm::zip_equal(limits, strides))
        json.object([&, limit = limit, stride = stride] {
          json.attribute("limit", limit);
          json.attribute("stride", stride);
        });
    });
  });
}

void JsonWriter::writeDescriptor(llvm::ArrayRef<uint8_t> bytes) {
  json.attribute("kind", "descriptor");
  llvm::Expected<DmaDescriptor> descriptor = DmaDescriptor::decode(bytes);
  std::string fault;
  if (!descriptor) {
    fault = llvm::toString(descriptor.takeError());
  } else {
    auto again = descriptor->encode();
    if (!again)
      fault = llvm::toString(again.takeError());
    else if (!llvm::equal(*again, bytes))
      fault = "no plain form";
  }
  if (!fault.empty()) {
    json.attribute("bytes", toHexText(bytes));
    json.attribute("faults", json::Array{fault});
    return;
  }
  json.attribute("opcode", toString(descriptor->opcode));
  json.attributeObject("indirect", [&] {
    json.attribute("dimension", unsigned(descriptor->indirectDimension));
    json.attribute("entries", descriptor->indirectList ? "list" : "addresses");
    json.attributeArray("indices", [&] {
      for (uint32_t index : descriptor->indirectIndices)
        json.value(index);
    });
  });
  writeSide("source", descriptor->source, descriptor->sourceLimits,
            descriptor->sourceStrides);
  writeSide("destination", descriptor->destination,
            descriptor->destinationLimits, descriptor->destinationStrides);
}

void JsonWriter::writeSpm(const SpmImage &spm) {
  auto slice = [&](uint64_t address, uint64_t size) {
    return llvm::ArrayRef(spm.bytes).slice(address - spm.base, size);
  };
  // What lies between items, where it is not zero.
  std::vector<std::pair<uint64_t, llvm::ArrayRef<uint8_t>>> rest;
  auto addGap = [&](uint64_t begin, uint64_t end) {
    llvm::ArrayRef<uint8_t> gap = slice(begin, end - begin);
    if (llvm::any_of(gap, [](uint8_t byte) { return byte != 0; }))
      rest.push_back({begin, gap});
  };
  uint64_t end = spm.base;
  json.attribute("base", spm.base);
  json.attribute("size", spm.bytes.size());
  json.attributeArray("items", [&] {
    for (const SpmItem &item : spm.items) {
      addGap(end, item.address);
      end = uint64_t(item.address) + item.size;
      json.object([&] {
        json.attribute("address", item.address);
        json.attribute("size", item.size);
        if (item.kind == ItemKind::DmaDescriptor)
          writeDescriptor(slice(item.address, item.size));
        else
          writeImage(item, slice(item.address, item.size));
      });
    }
  });
  addGap(end, spm.base + spm.bytes.size());
  json.attributeArray("rest", [&] {
    for (auto [address, bytes] : rest)
      json.object([&, address = address, bytes = bytes] {
        json.attribute("address", address);
        json.attribute("bytes", toHexText(bytes));
      });
  });
}

void JsonWriter::writeArguments(const Arguments &arguments) {
  json.attributeArray("operands", [&] {
    for (const Operand &operand : arguments.operands)
      json.object([&] {
        json.attribute("name", toText(operand.name));
        json.attribute("role", toString(operand.role));
        json.attribute("bytes", operand.bytes);
        json.attribute("type", furiosa::toString(operand.type));
        json.attributeArray("axes", [&] {
          for (const Axis &axis : operand.axes)
            json.object([&] {
              json.attribute("name", toText(axis.name));
              json.attribute("size", axis.size);
            });
        });
        json.attribute("chip", toText(operand.chipMapping));
        json.attribute("element", toText(operand.elementMapping));
      });
  });
  json.attributeArray("relocations", [&] {
    for (const Relocation &relocation : arguments.relocations)
      json.object([&] {
        json.attribute("address", relocation.spmAddress);
        json.attribute("operand", relocation.operand);
        json.attribute("addend", relocation.addend);
      });
  });
}

void JsonWriter::writeScalars(const Scalars &scalars) {
  json.attributeArray("scalars", [&] {
    for (const Scalar &scalar : scalars.scalars)
      json.object([&] {
        json.attribute("operand", scalar.operand);
        json.attribute("least", scalar.min);
        json.attribute("most", scalar.max);
      });
  });
  json.attributeArray("scalar_uses", [&] {
    for (const ScalarUse &use : scalars.uses)
      json.object([&] {
        json.attribute("address", use.spmAddress);
        json.attribute("scalar", use.scalar);
        json.attribute("scale", use.scale);
      });
  });
}

void JsonWriter::writePlan(llvm::ArrayRef<PlanEntry> plan, const Names &names) {
  json.attributeArray("plan", [&] {
    for (const PlanEntry &entry : plan)
      json.object([&] {
        json.attribute("tier", toString(entry.tier));
        json.attribute("cluster", entry.cluster);
        json.attribute("address", entry.address);
        json.attribute("size", entry.size);
        if (entry.tier == Tier::TRF)
          json.attribute("lanes", unsigned(entry.lanes));
        json.attribute("first_cycle", entry.firstCycle);
        json.attribute("last_cycle", entry.lastCycle);
        if (entry.name != noName)
          json.attribute("name_index", entry.name);
        if (entry.name < names.strings.size())
          json.attribute("name", toText(names.strings[entry.name]));
      });
  });
}

void JsonWriter::writeConstants(llvm::ArrayRef<Constant> constants) {
  json.attributeArray("constants", [&] {
    for (const Constant &constant : constants)
      json.object([&] {
        json.attribute("kind",
                       constantKindNames[static_cast<unsigned>(constant.kind)]);
        json.attribute("index", constant.index);
        json.attribute("bytes", toHexText(constant.bytes));
      });
  });
}

void JsonWriter::writeSchedule(const Schedule &schedule) {
  json.attributeObject("schedule", [&] {
    json.attribute("makespan", schedule.makespan);
    json.attribute("lower_bound", schedule.lowerBound);
    json.attributeArray("commands", [&] {
      for (const ScheduledCommand &command : schedule.commands)
        json.object([&] {
          json.attribute("kind", toString(command.kind));
          json.attribute("item", command.index);
          json.attribute("begin", command.begin);
          json.attribute("end", command.end);
          json.attribute("text", toText(command.description));
          // By cluster; null where its program does not have the command.
          json.attributeArray("instructions", [&] {
            for (uint32_t instruction : command.instructions)
              json.value(instruction == noInstruction
                             ? json::Value(nullptr)
                             : json::Value(instruction));
          });
        });
    });
  });
}

void JsonWriter::writeKernel(unsigned index) {
  std::optional<Names> names = take(reader.names(index));
  json.attribute("name", toText(names ? names->kernel : ""));
  writeSections(index);
  if (std::optional<Info> info = take(reader.info(index))) {
    json.attribute("producer", toText(info->producer));
    json.attribute("chip", toText(info->chip));
    json.attribute("release", toText(info->release));
  }
  if (names)
    json.attributeArray("names", [&] {
      for (const std::string &name : names->strings)
        json.value(toText(name));
    });
  Locations locations = take(reader.locations(index)).value_or(Locations());
  if (auto programs = take(reader.programs(index)))
    json.attributeArray("programs", [&] {
      llvm::ArrayRef<SourceLine> lines = locations.lines;
      for (auto [i, program] : llvm::enumerate(*programs)) {
        auto own = lines.take_while(
            [i = i](const SourceLine &line) { return line.program == i; });
        lines = lines.drop_front(own.size());
        json.object([&, &program = program] {
          writeProgram(program, own, locations.files);
        });
      }
    });
  if (auto spm = take(reader.spmImage(index)))
    json.attributeObject("spm", [&] { writeSpm(*spm); });
  if (auto arguments = take(reader.arguments(index)))
    writeArguments(*arguments);
  if (auto plan = take(reader.plan(index)))
    writePlan(*plan, names.value_or(Names()));
  if (auto scalars = take(reader.scalars(index)))
    writeScalars(*scalars);
  if (auto constants = take(reader.constants(index)))
    writeConstants(*constants);
  if (auto schedule = take(reader.schedule(index)))
    writeSchedule(*schedule);
}

llvm::Error JsonWriter::run() {
  json.object([&] {
    json.attributeObject("version", [&] {
      json.attribute("major", majorVersion);
      json.attribute("minor", reader.minorVersion());
    });
    json.attributeArray("kernels", [&] {
      for (unsigned index = 0; index < reader.numKernels(); ++index)
        json.object([&] { writeKernel(index); });
    });
    // Of the whole file.
    writeSections(wholeFile);
    // Sections whose parts contradict one another, and the digest.
    if (faults.empty())
      if (auto kernels = reader.loadAll(); !kernels)
        faults.push_back(llvm::toString(kernels.takeError()));
    json.attributeArray("faults", [&] {
      for (const std::string &fault : faults)
        json.value(toText(fault));
    });
  });
  json.flush();
  return faults.empty() ? llvm::Error::success() : makeError(faults.front());
}

llvm::Error edf::disassembleJson(llvm::raw_ostream &os, const Reader &reader) {
  llvm::Error error = JsonWriter(os, reader).run();
  os << '\n';
  return error;
}
