//===- EncodingsCommands.cpp - Commands and descriptors -------------------===//
//
// Expands the table of Tuc.def and reads and writes commands by it, and DMA
// descriptors by theirs.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Target/RNGD/Encodings.h"

#include "EncodingSupport.h"
#include "furiosa/Target/RNGD/Codes.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/raw_ostream.h"

using namespace furiosa::rngd;
using llvm::Twine;

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
