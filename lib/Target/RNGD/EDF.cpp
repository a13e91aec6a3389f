//===- EDF.cpp - The kernel binary ----------------------------------------===//
//
// Names, checks and the layout of SPM images. Writer, reader and disassembler
// stand in files of their own.
//
//===----------------------------------------------------------------------===//

#include "EDFFormat.h"

#include "furiosa/Target/RNGD/Conversions.h"
#include "furiosa/Target/RNGD/HbmCapacity.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/SHA256.h"

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
  if (inst.opcode > Opcode::EndIf)
    return "unknown PE opcode " +
           std::to_string(static_cast<unsigned>(inst.opcode));
  bool usesReg = false, usesMask = false, usesWord = false, usesImm = false;
  switch (inst.opcode) {
  case Opcode::End:
  case Opcode::EndLoop:
  case Opcode::Barrier:
  case Opcode::Else:
  case Opcode::EndIf:
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
    usesWord = usesImm = true;
    if (inst.word == 0)
      return "a loop runs at least once";
    if (inst.imm % 8 != 0)
      return "SPM address " + hex(inst.imm) + " is not a multiple of 8";
    break;
  case Opcode::If:
    usesReg = true;
    if (inst.reg >= std::size(conditionNames))
      return "unknown condition " + std::to_string(inst.reg);
    [[fallthrough]];
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
  // The open Loops, Ifs and Elses.
  llvm::SmallVector<Opcode, maxLoopDepth> open;
  for (auto [i, inst] : llvm::enumerate(program.instructions)) {
    auto at = [&](const std::string &text) {
      return "instruction " + std::to_string(i) + ": " + text;
    };
    if (Fault fault = checkInstruction(inst))
      return at(*fault);
    Opcode last = open.empty() ? Opcode::End : open.back();
    switch (inst.opcode) {
    case Opcode::Loop:
    case Opcode::If:
      if (open.size() == maxLoopDepth)
        return at((inst.opcode == Opcode::Loop
                       ? "loops nest deeper than "
                       : "conditions nest deeper than ") +
                  std::to_string(maxLoopDepth));
      open.push_back(inst.opcode);
      break;
    case Opcode::EndLoop:
      if (last != Opcode::Loop)
        return at("a loop ends that was not begun");
      open.pop_back();
      break;
    case Opcode::Else:
      if (last != Opcode::If)
        return at("an else without a condition");
      open.back() = Opcode::Else;
      break;
    case Opcode::EndIf:
      if (last != Opcode::If && last != Opcode::Else)
        return at("a condition ends that was not begun");
      open.pop_back();
      break;
    case Opcode::Barrier:
      if (llvm::is_contained(open, Opcode::If) ||
          llvm::is_contained(open, Opcode::Else))
        return at("a barrier stands in a condition");
      break;
    case Opcode::End:
      if (!open.empty())
        return at(last == Opcode::Loop ? "the program ends inside a loop"
                                       : "the program ends in a condition");
      if (i + 1 != program.instructions.size())
        return at("instructions follow the end of the program");
      return std::nullopt;
    case Opcode::Set:
    case Opcode::Issue:
    case Opcode::Add:
      break;
    }
  }
  return "the program has no end";
}

std::vector<uint32_t> edf::findBranchTargets(const Program &program) {
  std::vector<uint32_t> targets(program.instructions.size());
  llvm::SmallVector<size_t, maxLoopDepth> open;
  for (auto [i, inst] : llvm::enumerate(program.instructions)) {
    if (inst.opcode == Opcode::If || inst.opcode == Opcode::Loop) {
      open.push_back(i);
    } else if (inst.opcode == Opcode::Else) {
      targets[open.back()] = static_cast<uint32_t>(i + 1);
      open.back() = i;
    } else if (inst.opcode == Opcode::EndIf || inst.opcode == Opcode::EndLoop) {
      targets[open.pop_back_val()] = static_cast<uint32_t>(i);
    }
  }
  return targets;
}

/// The barriers of a program with the loops around them.
static std::vector<Instruction> getBarriers(const Program &program) {
  std::vector<Instruction> result;
  for (const Instruction &inst : program.instructions) {
    if (inst.opcode == Opcode::EndLoop && result.back().opcode == Opcode::Loop)
      result.pop_back(); // There was none inside.
    else if (inst.opcode == Opcode::Loop || inst.opcode == Opcode::EndLoop ||
             inst.opcode == Opcode::Barrier)
      result.push_back(inst);
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
  uint64_t bytes = 0;
  for (auto [i, operand] : llvm::enumerate(arguments.operands)) {
    std::string where = "operand " + std::to_string(i) + ": ";
    if (static_cast<unsigned>(operand.role) >= std::size(roleNames))
      return where + "unknown role " +
             std::to_string(static_cast<unsigned>(operand.role));
    if (static_cast<unsigned>(operand.type) >= numElementTypes)
      return where + "unknown element type " +
             std::to_string(static_cast<unsigned>(operand.type));
    if (operand.bytes > machine::hbmOperandBytes)
      return where + std::to_string(operand.bytes) +
             " bytes exceed the HBM of " +
             std::to_string(machine::hbmOperandBytes);
    bytes += operand.bytes;
    if (bytes > machine::hbmOperandBytes)
      return where + "with those before it needs " + std::to_string(bytes) +
             " bytes, more than the HBM of " +
             std::to_string(machine::hbmOperandBytes);
    if (operand.role == Role::Scratch) {
      scratchSeen = true;
      if (!operand.axes.empty() || !operand.chipMapping.empty() ||
          !operand.elementMapping.empty() || operand.type != Operand().type)
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

Fault edf::checkScalars(const Scalars &scalars) {
  const Scalar *before = nullptr;
  for (auto [i, scalar] : llvm::enumerate(scalars.scalars)) {
    std::string where = "scalar " + std::to_string(i) + ": ";
    if (before && before->operand >= scalar.operand)
      return where + "not in the order of operands";
    before = &scalar;
    if (scalar.min > scalar.max)
      return where + "there is no number from " + std::to_string(scalar.min) +
             " to " + std::to_string(scalar.max);
  }
  for (auto [i, use] : llvm::enumerate(scalars.uses))
    if (use.scalar >= scalars.scalars.size())
      return "use " + std::to_string(i) + " of a scalar: there is no scalar " +
             std::to_string(use.scalar);
  return std::nullopt;
}

/// Scalars are inputs of one i32; what they are used for is in the image.
static Fault checkScalarOperands(const Kernel &kernel) {
  llvm::ArrayRef<Operand> operands = kernel.arguments.operands;
  for (auto [i, scalar] : llvm::enumerate(kernel.scalars.scalars)) {
    std::string where = "scalar " + std::to_string(i) + ": ";
    if (scalar.operand >= operands.size())
      return where + "there is no operand " + std::to_string(scalar.operand);
    const Operand &operand = operands[scalar.operand];
    if (operand.role != Role::Input || operand.type != ElementType::I32 ||
        operand.bytes != 4 || !operand.axes.empty())
      return where + "operand " + std::to_string(scalar.operand) +
             " is not an input of one i32";
  }
  for (auto [i, use] : llvm::enumerate(kernel.scalars.uses))
    if (use.spmAddress % 8 != 0 || !inImage(kernel.spm, use.spmAddress, 8))
      return "use " + std::to_string(i) + " of a scalar: SPM address " +
             hex(use.spmAddress) + " is not a 64-bit word of the SPM image";
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

uint64_t edf::lookupTableBytes(uint32_t code) {
  const FetchConversion *conversion = findConversion(/*isLookup=*/true, code);
  if (!conversion)
    return 0;
  return (1ull << wireBits(conversion->from)) * wireBits(conversion->to) / 8;
}

std::vector<uint8_t> edf::makeLookupTable(uint32_t code) {
  std::vector<uint8_t> bytes(lookupTableBytes(code));
  const FetchConversion *conversion = findConversion(/*isLookup=*/true, code);
  for (size_t at = 0; at < bytes.size();) {
    unsigned size = wireBits(conversion->to) / 8;
    uint32_t entry = tableLookup(conversion->from, conversion->to,
                                 static_cast<uint32_t>(at / size))
                         .value_or(0);
    for (unsigned k = 0; k < size; ++k, ++at)
      bytes[at] = static_cast<uint8_t>(entry >> (8 * k));
  }
  return bytes;
}

Fault edf::checkConstants(llvm::ArrayRef<Constant> constants) {
  const Constant *before = nullptr;
  for (auto [i, constant] : llvm::enumerate(constants)) {
    std::string where = "constant " + std::to_string(i) + ": ";
    if (constant.kind > ConstantKind::Table)
      return where + "unknown kind " +
             std::to_string(static_cast<unsigned>(constant.kind));
    if (before && std::pair(before->kind, before->index) >=
                      std::pair(constant.kind, constant.index))
      return where + "out of order: operands by index, then tables by code";
    before = &constant;
    if (constant.kind != ConstantKind::Table)
      continue;
    uint64_t bytes = lookupTableBytes(constant.index);
    if (bytes == 0)
      return where + "there is no lookup table " +
             std::to_string(constant.index);
    if (constant.bytes.size() != bytes)
      return where + "lookup table " + std::to_string(constant.index) +
             " has " + std::to_string(bytes) + " bytes, found " +
             std::to_string(constant.bytes.size());
  }
  return std::nullopt;
}

/// Each constant operand has its bytes, and nothing else has.
static Fault checkConstantOperands(const Kernel &kernel) {
  const std::vector<Operand> &operands = kernel.arguments.operands;
  llvm::ArrayRef<Constant> rest = kernel.constants;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    if (operand.role != Role::Constant)
      continue;
    std::string where = "operand " + std::to_string(i) + ": ";
    // Both are in the order of operands.
    if (rest.empty() || rest.front().kind != ConstantKind::Operand ||
        rest.front().index != i)
      return where + "the constant's bytes are missing";
    if (rest.front().bytes.size() != operand.bytes)
      return where + "the constant has " +
             std::to_string(rest.front().bytes.size()) + " bytes, " +
             std::to_string(operand.bytes) + " are expected";
    rest = rest.drop_front();
  }
  if (!rest.empty() && rest.front().kind == ConstantKind::Operand)
    return "operand " + std::to_string(rest.front().index) +
           ": there are bytes for it, but it is no constant";
  return std::nullopt;
}

Fault edf::checkLocations(const Locations &locations) {
  uint32_t numFiles = 0;
  const SourceLine *before = nullptr;
  for (auto [i, line] : llvm::enumerate(locations.lines)) {
    std::string where = "source line " + std::to_string(i) + ": ";
    if (before && std::pair(before->program, before->instruction) >=
                      std::pair(line.program, line.instruction))
      return where + "not in the order of instructions";
    before = &line;
    if (line.file >= locations.files.size())
      return where + "there is no file " + std::to_string(line.file);
    if (line.file > numFiles)
      return where + "files are not in the order of their first use";
    numFiles = std::max(numFiles, line.file + 1);
  }
  if (numFiles != locations.files.size())
    return "no source line is in file " + std::to_string(numFiles);
  return std::nullopt;
}

/// Source lines belong to instructions.
static Fault checkSourceLines(const Kernel &kernel) {
  for (auto [i, line] : llvm::enumerate(kernel.locations.lines))
    if (line.program >= kernel.programs.size() ||
        line.instruction >= kernel.programs[line.program].instructions.size())
      return "source line " + std::to_string(i) + ": program " +
             std::to_string(line.program) + " has no instruction " +
             std::to_string(line.instruction);
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
    for (auto [i, inst] : llvm::enumerate(program.instructions)) {
      if (inst.opcode != Opcode::Add && inst.opcode != Opcode::If &&
          !inst.hasCount())
        continue;
      uint64_t address = inst.hasCount() ? inst.imm : inst.word;
      if (!inImage(kernel.spm, address, 8))
        return where + "instruction " + std::to_string(i) + ": SPM address " +
               hex(address) + " is outside the SPM image";
    }
  }
  for (const Program &program : kernel.programs)
    if (getBarriers(program) != getBarriers(kernel.programs.front()))
      return "the programs of the clusters come to different barriers";
  if (Fault fault = checkArguments(kernel.arguments, kernel.spm))
    return fault;
  if (Fault fault = checkScalars(kernel.scalars))
    return fault;
  if (Fault fault = checkScalarOperands(kernel))
    return fault;
  if (Fault fault = checkConstants(kernel.constants))
    return fault;
  if (Fault fault = checkConstantOperands(kernel))
    return fault;
  if (Fault fault = checkLocations(kernel.locations))
    return fault;
  if (Fault fault = checkSourceLines(kernel))
    return fault;
  return checkPlan(kernel.plan);
}

//===----------------------------------------------------------------------===//
// Checksums
//===----------------------------------------------------------------------===//

uint32_t edf::computeHeaderCrc(llvm::ArrayRef<uint8_t> bytes,
                               size_t tableBytes) {
  std::array<uint8_t, headerBytes> header;
  std::copy_n(bytes.begin(), headerBytes, header.begin());
  std::fill_n(header.begin() + headerCrcOffset, 4, 0);
  std::fill_n(header.begin() + digestOffset, digestBytes, 0);
  return llvm::crc32(llvm::crc32(header), bytes.slice(headerBytes, tableBytes));
}

std::array<uint8_t, digestBytes>
edf::computeDigest(llvm::ArrayRef<uint8_t> bytes) {
  llvm::SHA256 hash;
  hash.update(bytes.take_front(digestOffset));
  hash.update(std::array<uint8_t, digestBytes>());
  hash.update(bytes.drop_front(digestOffset + digestBytes));
  return hash.final();
}

//===----------------------------------------------------------------------===//
// SPM layout
//===----------------------------------------------------------------------===//

llvm::Expected<uint32_t> SpmBuilder::append(llvm::ArrayRef<uint8_t> bytes,
                                            uint32_t alignment) {
  uint64_t address = llvm::alignTo(image.base + image.bytes.size(), alignment);
  if (address + bytes.size() > machine::spmDataEnd) {
    uint64_t held[2] = {};
    for (const SpmItem &other : image.items)
      held[other.kind == ItemKind::DmaDescriptor] += other.size;
    return makeError("the SPM data area of " +
                     Twine(machine::spmDataEnd - machine::spmDataBase) +
                     " bytes is full: no room for " + Twine(bytes.size()) +
                     " beside " + Twine(held[0]) +
                     " bytes of register images and " + Twine(held[1]) +
                     " of DMA descriptors, which all live to the end");
  }
  image.bytes.resize(address - image.base, 0);
  llvm::append_range(image.bytes, bytes);
  return static_cast<uint32_t>(address);
}

llvm::Expected<uint32_t> SpmBuilder::place(llvm::ArrayRef<uint8_t> bytes,
                                           uint32_t alignment, SpmItem item) {
  llvm::Expected<uint32_t> address = append(bytes, alignment);
  if (!address)
    return address;
  item.address = *address;
  item.size = static_cast<uint32_t>(bytes.size());
  image.items.push_back(item);
  return address;
}

llvm::Expected<uint32_t> SpmBuilder::addWord(uint64_t value) {
  std::array<uint8_t, 8> bytes;
  llvm::support::endian::write64le(bytes.data(), value);
  return append(bytes, 8);
}

llvm::Expected<uint32_t> SpmBuilder::add(const SfrImage &sfr, unsigned bank,
                                         bool isOwn) {
  if (Fault fault = sfr.checkReserved())
    return makeError(*fault);
  if (bank >= machine::sfrBanks)
    return makeError("there is no register bank " + Twine(bank));
  std::vector<uint8_t> bytes = sfr.bytes();
  // Kernels repeat their images; a hash would save time only for many
  // thousands of them, which the data area cannot hold.
  for (const SpmItem &item : image.items)
    if (!isOwn && !own.count(item.address) && item.kind == ItemKind::SfrImage &&
        item.block == sfr.block() && item.bank == bank &&
        item.size == bytes.size() &&
        llvm::equal(bytes, llvm::ArrayRef(image.bytes)
                               .slice(item.address - image.base, item.size)))
      return item.address;
  SpmItem item;
  item.kind = ItemKind::SfrImage;
  item.block = sfr.block();
  item.bank = static_cast<uint8_t>(bank);
  auto address = place(bytes, 8, item);
  if (address && isOwn)
    own.insert(*address);
  return address;
}

llvm::Expected<uint32_t> SpmBuilder::add(const DmaDescriptor &descriptor) {
  auto bytes = descriptor.encode();
  if (!bytes)
    return bytes.takeError();
  SpmItem item;
  item.kind = ItemKind::DmaDescriptor;
  return place(*bytes, DmaDescriptor::sizeInBytes, item);
}
