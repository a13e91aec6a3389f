//===- Encodings.cpp - Registers, commands and descriptors ----------------===//
//
// Expands the tables of Sfr.def and Tuc.def and reads and writes by them.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Target/RNGD/Encodings.h"

#include "furiosa/Target/RNGD/Codes.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace furiosa::rngd;
using llvm::Twine;

static llvm::Error makeError(const Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

static std::string hex(uint64_t value) {
  return "0x" + llvm::utohexstr(value, /*LowerCase=*/true);
}

static uint64_t maskOf(unsigned width) {
  return llvm::maskTrailingOnes<uint64_t>(width);
}

//===----------------------------------------------------------------------===//
// Special-function registers
//===----------------------------------------------------------------------===//

llvm::StringRef furiosa::rngd::toString(BlockContext context) {
  switch (context) {
  case BlockContext::Common:
    return "common";
  case BlockContext::Sub:
    return "sub";
  case BlockContext::Main:
    return "main";
  }
  return "unknown";
}

std::string SfrField::str() const {
  if (!isArray)
    return name.str();
  return (name + "[" + Twine(unsigned(index)) + "]").str();
}

namespace {
/// Appends blocks, registers and fields in the order of Sfr.def.
struct SfrTableBuilder {
  std::vector<SfrBlock> blocks;

  void block(Block id, llvm::StringRef name, uint32_t base, uint32_t bytes,
             BlockContext context) {
    blocks.push_back({id, name, base, bytes, context, {}, {}});
  }
  void reg(llvm::StringRef name, uint16_t offset, uint64_t reset) {
    SfrBlock &block = blocks.back();
    block.registers.push_back({name, offset, reset, 0,
                               static_cast<uint16_t>(block.fields.size()), 0});
  }
  void field(llvm::StringRef name, unsigned lsb, unsigned width,
             unsigned index = 0, bool isArray = false) {
    SfrBlock &block = blocks.back();
    SfrRegister &reg = block.registers.back();
    block.fields.push_back(
        {name, static_cast<uint16_t>(block.registers.size() - 1),
         static_cast<uint8_t>(lsb), static_cast<uint8_t>(width),
         static_cast<uint8_t>(index), isArray});
    reg.fieldMask |= maskOf(width) << lsb;
    ++reg.numFields;
  }
  void array(llvm::StringRef name, unsigned first, unsigned last, unsigned lsb,
             unsigned width, unsigned step) {
    for (unsigned i = first; i <= last; ++i)
      field(name, lsb + (i - first) * step, width, i, /*isArray=*/true);
  }
};
} // namespace

static std::vector<SfrBlock> makeSfrBlocks() {
  SfrTableBuilder builder;
#define FURIOSA_SFR_BLOCK(NAME, BASE, BYTES, CONTEXT)                          \
  builder.block(Block::NAME, #NAME, BASE, BYTES, BlockContext::CONTEXT);
#define FURIOSA_SFR_REG(NAME, OFFSET, RESET) builder.reg(NAME, OFFSET, RESET);
#define FURIOSA_SFR_FIELD(NAME, LSB, WIDTH) builder.field(NAME, LSB, WIDTH);
#define FURIOSA_SFR_ARRAY(NAME, FIRST, LAST, LSB, WIDTH, STEP)                 \
  builder.array(NAME, FIRST, LAST, LSB, WIDTH, STEP);
#include "furiosa/Target/RNGD/Sfr.def"
  return std::move(builder.blocks);
}

llvm::ArrayRef<SfrBlock> furiosa::rngd::sfrBlocks() {
  static const std::vector<SfrBlock> blocks = makeSfrBlocks();
  return blocks;
}

const SfrBlock &furiosa::rngd::sfrBlock(Block block) {
  return sfrBlocks()[static_cast<unsigned>(block)];
}

std::optional<Block> furiosa::rngd::toBlock(uint64_t value) {
  if (value >= numBlocks)
    return std::nullopt;
  return static_cast<Block>(value);
}

std::optional<Block> furiosa::rngd::parseBlock(llvm::StringRef name) {
  for (const SfrBlock &block : sfrBlocks())
    if (block.name == name)
      return block.id;
  return std::nullopt;
}

llvm::StringRef furiosa::rngd::toString(Block block) {
  return sfrBlock(block).name;
}

const SfrField *SfrBlock::find(llvm::StringRef field, unsigned index) const {
  for (const SfrField &candidate : fields)
    if (candidate.index == index && candidate.name == field)
      return &candidate;
  return nullptr;
}

unsigned SfrBlock::count(llvm::StringRef field) const {
  return llvm::count_if(fields, [&](const SfrField &candidate) {
    return candidate.name == field;
  });
}

const SfrRegister *SfrBlock::registerAt(uint32_t offset) const {
  for (const SfrRegister &reg : registers)
    if (reg.offset == offset)
      return &reg;
  return nullptr;
}

uint32_t furiosa::rngd::sfrAddress(Block block, unsigned bank, uint32_t offset,
                                   unsigned slice) {
  return slice * machine::sfrSliceStride + sfrBlock(block).base + offset +
         bank * machine::sfrBankStride;
}

std::optional<SfrLocation> furiosa::rngd::findSfr(uint32_t address) {
  if (address >> 25)
    return std::nullopt;
  uint32_t low = address % machine::sfrSliceStride;
  unsigned slice = address / machine::sfrSliceStride;
  for (unsigned bank = 0; bank < machine::sfrBanks; ++bank)
    for (const SfrBlock &block : sfrBlocks()) {
      // Common blocks have no second bank.
      if (bank != 0 && block.context == BlockContext::Common)
        continue;
      uint32_t base = block.base + bank * machine::sfrBankStride;
      if (low >= base && low - base < block.sizeInBytes)
        return SfrLocation{block.id, bank, low - base, slice};
    }
  return std::nullopt;
}

std::optional<uint16_t> furiosa::rngd::encodeLimit(uint64_t limit) {
  if (limit == 0 || limit > machine::sequencerEntryLimit)
    return std::nullopt;
  return static_cast<uint16_t>(limit);
}

SfrImage::SfrImage(Block block)
    : id(block), contents(sfrBlock(block).numWords(), 0) {}

llvm::Expected<SfrImage> SfrImage::fromWords(Block block,
                                             llvm::ArrayRef<uint64_t> words) {
  SfrImage image(block);
  if (words.size() != image.contents.size())
    return makeError("block " + toString(block) + " has " +
                     Twine(image.contents.size()) + " words, not " +
                     Twine(words.size()));
  llvm::copy(words, image.contents.begin());
  return image;
}

SfrImage SfrImage::atReset(Block block) {
  SfrImage image(block);
  for (const SfrRegister &reg : sfrBlock(block).registers)
    image.contents[reg.offset / 8] = reg.reset;
  return image;
}

std::vector<uint8_t> SfrImage::bytes() const {
  std::vector<uint8_t> result(contents.size() * 8);
  for (auto [i, word] : llvm::enumerate(contents))
    llvm::support::endian::write64le(result.data() + 8 * i, word);
  return result;
}

/// "FetchUnitMainContext.limits[9]": how a message names a field.
static std::string fieldName(Block block, llvm::StringRef field, unsigned index,
                             bool withIndex) {
  std::string name = (toString(block) + "." + field).str();
  if (withIndex)
    name += ("[" + Twine(index) + "]").str();
  return name;
}

Fault SfrImage::set(llvm::StringRef field, uint64_t value) {
  return set(field, 0, value);
}

Fault SfrImage::set(llvm::StringRef field, unsigned index, uint64_t value) {
  const SfrBlock &table = sfrBlock(id);
  const SfrField *place = table.find(field, index);
  if (!place) {
    unsigned count = table.count(field);
    if (count == 0)
      return "register block " + toString(id).str() + " has no field '" +
             field.str() + "'";
    return fieldName(id, field, index, true) +
           " does not exist: the field has " + std::to_string(count) +
           (count == 1 ? " element" : " elements");
  }
  if (value > place->max())
    return "value " + std::to_string(value) + " does not fit the " +
           std::to_string(place->width) + " bits of " +
           fieldName(id, field, index, place->isArray) + ": at most " +
           std::to_string(place->max());
  uint64_t &word = contents[table.registers[place->reg].offset / 8];
  word = (word & ~(place->max() << place->lsb)) | value << place->lsb;
  return std::nullopt;
}

Fault SfrImage::setLimit(llvm::StringRef field, unsigned index,
                         uint64_t limit) {
  std::optional<uint16_t> code = encodeLimit(limit);
  if (!code)
    return "limit " + std::to_string(limit) + " of " +
           fieldName(id, field, index, true) + " is not in 1 to " +
           std::to_string(machine::sequencerEntryLimit);
  return set(field, index, *code);
}

std::optional<uint64_t> SfrImage::get(llvm::StringRef field,
                                      unsigned index) const {
  const SfrField *place = sfrBlock(id).find(field, index);
  if (!place)
    return std::nullopt;
  return get(*place);
}

uint64_t SfrImage::get(const SfrField &field) const {
  uint64_t word = contents[sfrBlock(id).registers[field.reg].offset / 8];
  return word >> field.lsb & field.max();
}

std::optional<uint32_t> SfrImage::getLimit(llvm::StringRef field,
                                           unsigned index) const {
  std::optional<uint64_t> value = get(field, index);
  if (!value)
    return std::nullopt;
  return decodeLimit(*value);
}

void SfrImage::forEach(llvm::function_ref<void(const Entry &)> callback) const {
  const SfrBlock &table = sfrBlock(id);
  for (const SfrField &field : table.fields)
    callback({table.registers[field.reg], field, get(field)});
}

Fault SfrImage::checkReserved() const {
  const SfrBlock &table = sfrBlock(id);
  for (auto [i, word] : llvm::enumerate(contents)) {
    const SfrRegister *reg = table.registerAt(i * 8);
    uint64_t reserved = word & ~(reg ? reg->fieldMask : 0);
    if (reserved == 0)
      continue;
    std::string place = reg ? "register " + reg->name.str()
                            : "the reserved word at " + hex(i * 8);
    return "reserved bit " + std::to_string(llvm::countr_zero(reserved)) +
           " of " + place + " in block " + toString(id).str() + " is not zero";
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Tensor Unit controller
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral registerFieldNames[4] = {"r0", "r1", "r2",
                                                              "r3"};
static constexpr uint8_t registerFieldLsbs[4] = {19, 13, 7, 1};
static constexpr unsigned opcodeLsb = 25;

static std::vector<TucOpInfo> makeTucOps() {
  std::vector<TucOpInfo> ops;
#define FURIOSA_TUC_OP(NAME, OPCODE, MNEMONIC, TEXT)                           \
  ops.push_back({TucOp::NAME, MNEMONIC, TEXT, {}, {}});
#define FURIOSA_TUC_WORD(NAME, LSB, WIDTH)                                     \
  ops.back().wordFields.push_back({NAME, LSB, WIDTH, WIDTH});
#define FURIOSA_TUC_OPERAND() ops.back().registers.emplace_back();
#define FURIOSA_TUC_FIELD(NAME, LSB, WIDTH, CHECKED)                           \
  ops.back().registers.back().push_back({NAME, LSB, WIDTH, CHECKED});
#include "furiosa/Target/RNGD/Tuc.def"
  for (TucOpInfo &info : ops)
    for (unsigned i = 0; i < info.registers.size(); ++i)
      info.wordFields.push_back(
          {registerFieldNames[i], registerFieldLsbs[i], 6, 6});
  return ops;
}

llvm::ArrayRef<TucOpInfo> furiosa::rngd::tucOps() {
  static const std::vector<TucOpInfo> ops = makeTucOps();
  return ops;
}

const TucOpInfo *furiosa::rngd::findTucOp(uint64_t opcode) {
  for (const TucOpInfo &info : tucOps())
    if (static_cast<uint64_t>(info.op) == opcode)
      return &info;
  return nullptr;
}

const TucOpInfo *furiosa::rngd::findTucOp(llvm::StringRef mnemonic) {
  for (const TucOpInfo &info : tucOps())
    if (info.mnemonic == mnemonic)
      return &info;
  return nullptr;
}

const TucOpInfo &furiosa::rngd::tucOpInfo(TucOp op) {
  return *findTucOp(static_cast<uint64_t>(op));
}

TucCommand::TucCommand(TucOp op)
    : info(&tucOpInfo(op)),
      bits(static_cast<uint32_t>(static_cast<uint32_t>(op) << opcodeLsb)) {}

/// Bits of a register or word that belong to some field.
static uint64_t usedBits(llvm::ArrayRef<TucField> fields) {
  uint64_t mask = 0;
  for (const TucField &field : fields)
    mask |= maskOf(field.width) << field.lsb;
  return mask;
}

llvm::Expected<TucCommand> TucCommand::decode(uint32_t word) {
  const TucOpInfo *info = findTucOp(uint64_t(word >> opcodeLsb));
  if (!info)
    return makeError("unknown TUC opcode " + hex(word >> opcodeLsb) +
                     " in word " + hex(word));
  uint64_t reserved = word & maskOf(opcodeLsb) & ~usedBits(info->wordFields);
  if (reserved)
    return makeError("reserved bit " + Twine(llvm::countr_zero(reserved)) +
                     " of TUC command " + info->mnemonic + " is not zero in " +
                     hex(word));
  TucCommand command(info->op);
  command.bits = word;
  return command;
}

llvm::Expected<TucCommand>
TucCommand::decode(uint32_t word, llvm::ArrayRef<uint64_t> operands) {
  llvm::Expected<TucCommand> command = decode(word);
  if (!command)
    return command;
  if (operands.size() != command->numOperands())
    return makeError("TUC command " + command->info->mnemonic + " reads " +
                     Twine(command->numOperands()) + " registers, not " +
                     Twine(operands.size()));
  for (auto [i, value] : llvm::enumerate(operands))
    if (Fault fault = command->setOperand(i, value))
      return makeError(*fault);
  return command;
}

static std::string tooWide(llvm::StringRef mnemonic, const TucField &field,
                           uint64_t value) {
  return "value " + std::to_string(value) + " does not fit the " +
         std::to_string(field.checkedWidth) + " bits of " + mnemonic.str() +
         "." + field.name.str() + ": at most " +
         std::to_string(maskOf(field.checkedWidth));
}

Fault TucCommand::set(llvm::StringRef name, uint64_t value) {
  for (const TucField &field : info->wordFields) {
    if (field.name != name)
      continue;
    if (value > maskOf(field.checkedWidth))
      return tooWide(info->mnemonic, field, value);
    bits = (bits & ~static_cast<uint32_t>(maskOf(field.width) << field.lsb)) |
           static_cast<uint32_t>(value << field.lsb);
    return std::nullopt;
  }
  for (auto [i, fields] : llvm::enumerate(info->registers))
    for (const TucField &field : fields) {
      if (field.name != name)
        continue;
      if (value > maskOf(field.checkedWidth))
        return tooWide(info->mnemonic, field, value);
      operands[i] = (operands[i] & ~(maskOf(field.width) << field.lsb)) |
                    value << field.lsb;
      return std::nullopt;
    }
  return "TUC command " + info->mnemonic.str() + " has no field '" +
         name.str() + "'";
}

std::optional<uint64_t> TucCommand::get(llvm::StringRef name) const {
  for (const TucField &field : info->wordFields)
    if (field.name == name)
      return bits >> field.lsb & maskOf(field.width);
  for (auto [i, fields] : llvm::enumerate(info->registers))
    for (const TucField &field : fields)
      if (field.name == name)
        return operands[i] >> field.lsb & maskOf(field.width);
  return std::nullopt;
}

Fault TucCommand::setRegisters(unsigned first) {
  // 64-bit, so that a huge `first` cannot wrap into range.
  for (unsigned i = 0; i < numOperands(); ++i)
    if (Fault fault = set(registerFieldNames[i], uint64_t(first) + i))
      return fault;
  return std::nullopt;
}

unsigned TucCommand::registerIndex(unsigned i) const {
  return bits >> registerFieldLsbs[i] & 63;
}

Fault TucCommand::setOperand(unsigned i, uint64_t value) {
  if (i >= numOperands())
    return "TUC command " + info->mnemonic.str() + " has no operand " +
           std::to_string(i);
  llvm::ArrayRef<TucField> fields = info->registers[i];
  if (uint64_t reserved = value & ~usedBits(fields))
    return "reserved bit " + std::to_string(llvm::countr_zero(reserved)) +
           " of operand " + std::to_string(i) + " of TUC command " +
           info->mnemonic.str() + " is not zero";
  for (const TucField &field : fields)
    if (uint64_t part = value >> field.lsb & maskOf(field.width);
        part > maskOf(field.checkedWidth))
      return tooWide(info->mnemonic, field, part);
  operands[i] = value;
  return std::nullopt;
}

void TucCommand::print(llvm::raw_ostream &os, bool withOperands) const {
  os << info->mnemonic;
  auto printField = [&](const TucField &field) {
    uint64_t value = *get(field.name);
    os << ' ' << field.name << '=';
    const CodeTable *codes = codesOf(info->op, field.name);
    std::string text = codes ? codes->describe(value) : std::string();
    llvm::StringRef name = field.name;
    if (!text.empty())
      os << text;
    else if (name.contains("addr") || name.contains("begin") ||
             name.contains("end") || name.contains("base") ||
             name.contains("bitmap"))
      os << hex(value);
    else
      os << value;
  };
  for (const TucField &field : info->wordFields)
    printField(field);
  if (!withOperands)
    return;
  for (const auto &fields : info->registers)
    for (const TucField &field : fields)
      printField(field);
}

//===----------------------------------------------------------------------===//
// Tensor DMA descriptor
//===----------------------------------------------------------------------===//

namespace {
enum DmaFieldIndex : unsigned {
  DmaOpcodeField,
  DmaIndirect,
  DmaSource,
  DmaDestination,
  DmaSourceLimits,
  DmaSourceStrides,
  DmaDestinationLimits,
  DmaDestinationStrides,
  DmaIndices,
};
} // namespace

static constexpr DmaField dmaFieldTable[] = {
    {"opcode", 0x00, 8, 1, false},
    {"indirect", 0x08, 8, 1, false},
    {"source", DmaDescriptor::sourceOffset, 8, 1, false},
    {"destination", DmaDescriptor::destinationOffset, 8, 1, false},
    {"source_limits", 0x20, 2, 8, false},
    {"source_strides", 0x30, 4, 8, true},
    {"destination_limits", 0x50, 2, 8, false},
    {"destination_strides", 0x60, 4, 8, true},
    {"indirect_indices", 0x80, 4, 32, false},
};

// Word 1: dimension in bits 2:0, kind of entry in bit 8.
static constexpr uint64_t indirectDimensionMask = 7;
static constexpr unsigned indirectListBit = 8;

static constexpr llvm::StringLiteral dmaOpcodeNames[] = {
    "tensor_loop", "source_indirect", "destination_indirect"};

llvm::StringRef furiosa::rngd::toString(DmaOpcode opcode) {
  return dmaOpcodeNames[static_cast<unsigned>(opcode)];
}

std::optional<DmaOpcode> furiosa::rngd::parseDmaOpcode(llvm::StringRef name) {
  const auto *found = llvm::find(dmaOpcodeNames, name);
  if (found == std::end(dmaOpcodeNames))
    return std::nullopt;
  return static_cast<DmaOpcode>(found - std::begin(dmaOpcodeNames));
}

llvm::ArrayRef<DmaField> furiosa::rngd::dmaFields() { return dmaFieldTable; }

std::optional<uint64_t> DmaDescriptor::numPackets() const {
  uint64_t product = 1;
  for (uint32_t limit : sourceLimits) {
    bool overflowed = false;
    product = llvm::SaturatingMultiply<uint64_t>(product, limit, &overflowed);
    if (overflowed)
      return std::nullopt;
  }
  return product;
}

Fault DmaDescriptor::check() const {
  if (static_cast<unsigned>(opcode) > 2)
    return "unknown DMA opcode " +
           std::to_string(static_cast<unsigned>(opcode));
  if (indirectDimension > indirectDimensionMask)
    return "indirect dimension " + std::to_string(indirectDimension) +
           " is not one of the eight loops";
  auto checkLimits = [&](llvm::ArrayRef<uint32_t> limits,
                         llvm::StringRef side) -> Fault {
    for (auto [i, limit] : llvm::enumerate(limits))
      if (!encodeLimit(limit))
        return side.str() + " limit " + std::to_string(i) + " is " +
               std::to_string(limit) + ": not in 1 to 65536";
    return std::nullopt;
  };
  if (Fault fault = checkLimits(sourceLimits, "source"))
    return fault;
  if (Fault fault = checkLimits(destinationLimits, "destination"))
    return fault;
  // Bit lengths could hide an overflow: compare the exact products.
  DmaDescriptor other = *this;
  other.sourceLimits = destinationLimits;
  std::optional<uint64_t> here = numPackets();
  std::optional<uint64_t> there = other.numPackets();
  if (!here || !there)
    return "the product of the limits exceeds 64 bits";
  if (*here != *there)
    return "source limits make " + std::to_string(*here) +
           " packets, destination limits " + std::to_string(*there);
  if (sourceStrides[0] != destinationStrides[0])
    return "packets of " + std::to_string(sourceStrides[0]) +
           " bytes at the source, of " + std::to_string(destinationStrides[0]) +
           " at the destination";
  if (sourceStrides[0] < 1 ||
      static_cast<uint64_t>(sourceStrides[0]) > machine::dmaPacketMax)
    return "a packet has " + std::to_string(sourceStrides[0]) +
           " bytes: not in 1 to " + std::to_string(machine::dmaPacketMax);
  return std::nullopt;
}

llvm::Expected<std::array<uint8_t, DmaDescriptor::sizeInBytes>>
DmaDescriptor::encode() const {
  if (Fault fault = check())
    return makeError("DMA descriptor: " + *fault);
  std::array<uint8_t, sizeInBytes> bytes = {};
  auto put = [&](DmaFieldIndex which, unsigned i, uint64_t value) {
    const DmaField &field = dmaFieldTable[which];
    for (unsigned k = 0; k < field.size; ++k)
      bytes[field.offset + i * field.size + k] =
          static_cast<uint8_t>(value >> (8 * k));
  };
  put(DmaOpcodeField, 0, static_cast<uint64_t>(opcode));
  put(DmaIndirect, 0,
      indirectDimension | uint64_t(indirectList) << indirectListBit);
  put(DmaSource, 0, source);
  put(DmaDestination, 0, destination);
  for (unsigned i = 0; i < sourceLimits.size(); ++i) {
    put(DmaSourceLimits, i, sourceLimits[i]);
    put(DmaSourceStrides, i, static_cast<uint32_t>(sourceStrides[i]));
    put(DmaDestinationLimits, i, destinationLimits[i]);
    put(DmaDestinationStrides, i, static_cast<uint32_t>(destinationStrides[i]));
  }
  for (auto [i, index] : llvm::enumerate(indirectIndices))
    put(DmaIndices, i, index);
  return bytes;
}

llvm::Expected<DmaDescriptor>
DmaDescriptor::decode(llvm::ArrayRef<uint8_t> bytes) {
  if (bytes.size() != sizeInBytes)
    return makeError("a DMA descriptor has " + Twine(sizeInBytes) +
                     " bytes, not " + Twine(bytes.size()));
  auto take = [&](DmaFieldIndex which, unsigned i) {
    const DmaField &field = dmaFieldTable[which];
    uint64_t value = 0;
    for (unsigned k = 0; k < field.size; ++k)
      value |= uint64_t(bytes[field.offset + i * field.size + k]) << (8 * k);
    return value;
  };
  DmaDescriptor result;
  uint64_t opcode = take(DmaOpcodeField, 0);
  if (opcode > 2)
    return makeError("unknown DMA opcode " + hex(opcode));
  result.opcode = static_cast<DmaOpcode>(opcode);
  uint64_t indirect = take(DmaIndirect, 0);
  if (indirect & ~(indirectDimensionMask | 1ull << indirectListBit))
    return makeError("a reserved bit of the indirect word of a DMA descriptor "
                     "is not zero: " +
                     hex(indirect));
  result.indirectDimension = indirect & indirectDimensionMask;
  result.indirectList = indirect >> indirectListBit & 1;
  result.source = take(DmaSource, 0);
  result.destination = take(DmaDestination, 0);
  for (unsigned i = 0; i < result.sourceLimits.size(); ++i) {
    result.sourceLimits[i] = decodeLimit(take(DmaSourceLimits, i));
    result.sourceStrides[i] = static_cast<int32_t>(take(DmaSourceStrides, i));
    result.destinationLimits[i] = decodeLimit(take(DmaDestinationLimits, i));
    result.destinationStrides[i] =
        static_cast<int32_t>(take(DmaDestinationStrides, i));
  }
  for (unsigned i = 0; i < result.indirectIndices.size(); ++i)
    result.indirectIndices[i] = take(DmaIndices, i);
  return result;
}

//===----------------------------------------------------------------------===//
// Address map
//===----------------------------------------------------------------------===//

uint64_t furiosa::rngd::dmAddress(unsigned slice, uint64_t offset) {
  return machine::dmBase + slice * machine::dmSliceStride + offset;
}

uint64_t furiosa::rngd::remotePEAddress(unsigned npu, unsigned pe) {
  return machine::remoteBase + npu * machine::remoteChipStride +
         pe * machine::remotePEStride;
}

std::optional<uint64_t> furiosa::rngd::remoteHBMAddress(unsigned numNpus,
                                                        unsigned npu) {
  // Sixteen windows of 4 GiB: one per chip for its PEs, the rest shared among
  // the chips for their HBM.
  constexpr unsigned windows = 16;
  if (numNpus == 0 || numNpus > windows || npu >= numNpus)
    return std::nullopt;
  return machine::remoteBase +
         machine::remoteChipStride *
             (numNpus + npu * (windows - numNpus) / numNpus);
}

AddressLocation furiosa::rngd::locate(uint64_t address) {
  using Kind = AddressLocation::Kind;
  if (address >= machine::hbmBase)
    return address - machine::hbmBase < machine::hbmBytes
               ? AddressLocation{Kind::HBM, 0, address - machine::hbmBase}
               : AddressLocation{Kind::None, 0, address};
  if (address >= machine::remoteBase) {
    uint64_t offset = address - machine::remoteBase;
    uint64_t npu = offset / machine::remoteChipStride;
    uint64_t rest = offset % machine::remoteChipStride;
    return {Kind::Remote,
            static_cast<unsigned>(npu * machine::pes +
                                  rest / machine::remotePEStride),
            rest % machine::remotePEStride};
  }
  uint64_t dmEnd =
      machine::dmBase + machine::slicesPerPE * machine::dmSliceStride;
  if (address >= machine::dmBase && address < dmEnd)
    return {Kind::DM,
            static_cast<unsigned>((address - machine::dmBase) /
                                  machine::dmSliceStride),
            (address - machine::dmBase) % machine::dmSliceStride};
  if (address < machine::spmEnd)
    return {Kind::SPM, 0, address};
  uint64_t sfrEnd =
      machine::sfrBase + machine::physicalSlicesPerPE * machine::sfrSliceStride;
  if (address >= machine::sfrBase && address < sfrEnd)
    return {Kind::SFR,
            static_cast<unsigned>((address - machine::sfrBase) /
                                  machine::sfrSliceStride),
            (address - machine::sfrBase) % machine::sfrSliceStride};
  // The devices publish registers within a page.
  constexpr uint64_t deviceBytes = 0x1000;
  if (address >= machine::tdmaBase && address - machine::tdmaBase < deviceBytes)
    return {Kind::TDMA, 0, address - machine::tdmaBase};
  if (address >= machine::tucBase && address - machine::tucBase < deviceBytes)
    return {Kind::TUC, 0, address - machine::tucBase};
  return {Kind::None, 0, address};
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

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
