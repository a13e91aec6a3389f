//===- EncodingsText.cpp - Encodings as text ------------------------------===//
//
// Prints images and descriptors, and docs/encodings.md.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Target/RNGD/Encodings.h"

#include "EncodingSupport.h"
#include "furiosa/Target/RNGD/Codes.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace furiosa::rngd;
using llvm::Twine;

void furiosa::rngd::printImage(llvm::raw_ostream &os, const SfrImage &image,
                               llvm::StringRef indent, bool all) {
  image.forEach([&](const SfrImage::Entry &entry) {
    if (entry.value == 0 && !all)
      return;
    os << indent << entry.field.str() << " = ";
    const CodeTable *codes = codesOf(image.block(), entry.field.name);
    std::string text = codes ? codes->describe(entry.value) : std::string();
    if (entry.field.width >= 32 || (codes && codes->isBitMask))
      os << hex(entry.value);
    else
      os << entry.value;
    if (!text.empty())
      os << " (" << text << ')';
    os << '\n';
  });
}

void furiosa::rngd::printDescriptor(llvm::raw_ostream &os,
                                    const DmaDescriptor &descriptor,
                                    llvm::StringRef indent) {
  os << indent << "opcode = " << toString(descriptor.opcode) << '\n';
  bool isIndirect = descriptor.opcode != DmaOpcode::TensorLoop;
  if (isIndirect || descriptor.indirectDimension || descriptor.indirectList ||
      llvm::any_of(descriptor.indirectIndices,
                   [](uint32_t index) { return index != 0; })) {
    os << indent
       << "indirect_dimension = " << unsigned(descriptor.indirectDimension)
       << '\n';
    os << indent << "indirect_entries = "
       << (descriptor.indirectList ? "list" : "addresses") << '\n';
    os << indent << "indirect_indices = [";
    llvm::interleaveComma(descriptor.indirectIndices, os);
    os << "]\n";
  }
  // Outermost first, as loops are written; unused outer loops are left out.
  auto printSide = [&](llvm::StringRef name, uint64_t base,
                       llvm::ArrayRef<uint32_t> limits,
                       llvm::ArrayRef<int32_t> strides) {
    os << indent << name << " = " << hex(base) << " loops [";
    unsigned used = limits.size();
    while (used > 1 && limits[used - 1] == 1 && strides[used - 1] == 0)
      --used;
    for (unsigned i = used; i-- > 0;)
      os << limits[i] << " : " << strides[i] << (i ? ", " : "");
    os << "]\n";
  };
  printSide("source", descriptor.source, descriptor.sourceLimits,
            descriptor.sourceStrides);
  printSide("destination", descriptor.destination, descriptor.destinationLimits,
            descriptor.destinationStrides);
}

/// The fields that have a table of codes: "`Block.field`, exec `field`".
static std::string listFields(const CodeTable &table) {
  std::vector<std::string> found;
  auto add = [&](const CodeTable *codes, const std::string &text) {
    if (codes == &table && !llvm::is_contained(found, text))
      found.push_back(text);
  };
  for (const SfrBlock &block : sfrBlocks())
    for (const SfrField &field : block.fields)
      add(codesOf(block.id, field.name),
          "`" + block.name.str() + "." + field.name.str() + "`");
  for (const TucOpInfo &info : tucOps()) {
    auto addField = [&](const TucField &field) {
      add(codesOf(info.op, field.name),
          info.mnemonic.str() + " `" + field.name.str() + "`");
    };
    llvm::for_each(info.wordFields, addField);
    for (const auto &fields : info.registers)
      llvm::for_each(fields, addField);
  }
  return llvm::join(found, ", ");
}

/// "`name` 7:0" for a run of fields.
static void printBits(llvm::raw_ostream &os, unsigned lsb, unsigned width) {
  os << lsb + width - 1;
  if (width > 1)
    os << ':' << lsb;
}

void furiosa::rngd::printEncodingsMarkdown(llvm::raw_ostream &os) {
  size_t numRegisters = 0;
  size_t numFields = 0;
  for (const SfrBlock &block : sfrBlocks()) {
    numRegisters += block.registers.size();
    numFields += block.fields.size();
  }
  os << "# Encodings of RNGD\n\n"
     << "Printed by `furiosa-translate --print-encodings` from the tables of "
        "the compiler; a test compares. What values do stands in "
        "[EDF.md](EDF.md).\n"
     << "Bits are `high:low`; those without a field are reserved and 0. "
        "Numbers "
        "are unsigned where EDF.md says nothing else.\n\n"
     << "## Register blocks\n\n"
     << sfrBlocks().size() << " blocks, " << numRegisters << " registers, "
     << numFields << " fields.\n\n"
     << "| Block | Number | Base | Bytes | Registers | Context |\n"
     << "| --- | --- | --- | --- | --- | --- |\n";
  for (const SfrBlock &block : sfrBlocks())
    os << "| " << block.name << " | " << static_cast<unsigned>(block.id)
       << " | `" << llvm::format_hex(block.base, 6) << "` | "
       << block.sizeInBytes << " | " << block.registers.size() << " | "
       << toString(block.context) << " |\n";

  for (const SfrBlock &block : sfrBlocks()) {
    os << "\n### " << block.name << "\n\n"
       << "| Offset | Register | Fields |\n| --- | --- | --- |\n";
    for (const SfrRegister &reg : block.registers) {
      os << "| `" << llvm::format_hex(reg.offset, 5) << "` | `" << reg.name
         << '`';
      if (reg.reset)
        os << " (reset `" << hex(reg.reset) << "`)";
      os << " | ";
      llvm::ArrayRef<SfrField> fields =
          llvm::ArrayRef(block.fields).slice(reg.firstField, reg.numFields);
      // A run of elements of one array is one entry.
      for (size_t i = 0; i < fields.size();) {
        size_t end = i + 1;
        while (end < fields.size() && fields[i].isArray &&
               fields[end].name == fields[i].name)
          ++end;
        const SfrField &first = fields[i];
        if (i)
          os << "; ";
        os << '`' << first.name;
        if (first.isArray) {
          os << '[' << unsigned(first.index);
          if (end - i > 1)
            os << ".." << unsigned(fields[end - 1].index);
          os << ']';
        }
        os << "` ";
        printBits(os, first.lsb, first.width);
        if (end - i > 1)
          os << " step " << fields[i + 1].lsb - first.lsb;
        i = end;
      }
      os << " |\n";
    }
  }

  os << "\n## TUC commands\n\n"
     << "Bits 31:25 of the word hold the opcode.\n\n"
     << "| Opcode | Mnemonic | Word | Operands | Meaning |\n"
     << "| --- | --- | --- | --- | --- |\n";
  for (const TucOpInfo &info : tucOps()) {
    os << "| `" << llvm::format_hex(static_cast<unsigned>(info.op), 4) << "` | "
       << info.mnemonic << " | ";
    llvm::interleave(
        info.wordFields, os,
        [&](const TucField &field) {
          os << '`' << field.name << "` ";
          printBits(os, field.lsb, field.width);
        },
        "; ");
    os << " | ";
    for (auto [i, fields] : llvm::enumerate(info.registers)) {
      os << (i ? "<br>" : "") << 'r' << i << ": ";
      llvm::interleave(
          fields, os,
          [&](const TucField &field) {
            os << '`' << field.name << "` ";
            printBits(os, field.lsb, field.width);
            if (field.checkedWidth != field.width)
              os << " (at most " << unsigned(field.checkedWidth) << " bits)";
          },
          "; ");
    }
    os << " | " << info.summary << " |\n";
  }

  os << "\n## DMA descriptor\n\n"
     << "256 bytes, little-endian. `opcode`: ";
  for (auto [value, name] : llvm::enumerate(dmaOpcodeNames))
    os << (value ? ", " : "") << value << ' ' << name;
  os << ". `indirect`: dimension in bits ";
  printBits(os, 0, llvm::popcount(indirectDimensionMask));
  os << ", bit " << indirectListBit
     << " for a list of entries (without: of addresses). A limit of 65,536 is "
        "written as 0.\n\n"
     << "| Offset | Type | Field |\n| --- | --- | --- |\n";
  for (const DmaField &field : dmaFields()) {
    os << "| `" << llvm::format_hex(field.offset, 4) << "` | "
       << (field.isSigned ? 'i' : 'u') << field.size * 8;
    if (field.count > 1)
      os << '[' << unsigned(field.count) << ']';
    os << " | `" << field.name << "` |\n";
  }

  os << "\n## Addresses\n\n| Name | Value | Source |\n| --- | --- | --- |\n";
  for (const MachineFact &fact : machineFacts())
    if (fact.unit == "address")
      os << "| `" << fact.name << "` | `" << hex(fact.value) << "` | "
         << fact.source << " |\n";

  os << "\n## Codes\n\n"
     << "How a code is known: declared in a public source, exercised by a "
        "published program, or own.\n\n"
     << "| Table | Meaning | Fields | Codes |\n| --- | --- | --- | --- |\n";
  for (const CodeTable &table : codeTables()) {
    os << "| " << table.name << " | " << table.text << " | "
       << listFields(table) << " | ";
    llvm::interleave(
        table.values, os,
        [&](const CodeValue &code) {
          os << (table.isBitMask ? "bit " : "") << unsigned(code.value) << " `"
             << code.name << "` (" << toString(code.mark) << ')';
        },
        "; ");
    os << " |\n";
  }
}
