//===- EDF.cpp - The kernel binary ----------------------------------------===//
//
// Names, checks and the layout of SPM images. Writer, reader and disassembler
// stand in files of their own.
//
//===----------------------------------------------------------------------===//

#include "EDFFormat.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

#include <bitset>

using namespace furiosa;
using namespace furiosa::rngd;
using namespace furiosa::rngd::edf;
using llvm::Twine;
namespace endian = llvm::support::endian;

//===----------------------------------------------------------------------===//
// Names of enumerators
//===----------------------------------------------------------------------===//

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

Fault edf::checkSpm(const SpmImage &spm) {
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

Fault edf::checkPlan(llvm::ArrayRef<PlanEntry> plan) {
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
