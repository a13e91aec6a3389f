//===- Encodings.cpp - Register blocks and addresses ----------------------===//
//
// Expands the table of Sfr.def, reads and writes images by it, and tells where
// an address lies.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Target/RNGD/Encodings.h"

#include "EncodingSupport.h"
#include "furiosa/Target/RNGD/Codes.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"

using namespace furiosa::rngd;
using llvm::Twine;

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
