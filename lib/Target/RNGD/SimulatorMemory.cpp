//===- SimulatorMemory.cpp - Memories with undefined bytes ----------------===//
//
// Slice memories and the operands in HBM.
//
//===----------------------------------------------------------------------===//

#include "SimulatorImpl.h"
#include "furiosa/Target/RNGD/HbmCapacity.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Endian.h"

#include <cstring>

using namespace furiosa::rngd;
using namespace furiosa::rngd::sim;
using llvm::Error;
using llvm::Expected;
using llvm::Twine;
namespace endian = llvm::support::endian;

/// `count` low bits.
static uint64_t lowBits(unsigned count) {
  return count >= 64 ? ~0ull : (1ull << count) - 1;
}

void TrackedMemory::read(uint64_t address, uint8_t *out, uint64_t count) const {
  while (count > 0) {
    uint64_t offset = address % pageBytes;
    uint64_t size = std::min(count, pageBytes - offset);
    if (const Page *page = pages[address / pageBytes].get())
      std::memcpy(out, page->bytes + offset, size);
    else
      std::memset(out, 0, size);
    address += size;
    out += size;
    count -= size;
  }
}

uint32_t TrackedMemory::definedMask(uint64_t address, unsigned count) const {
  uint64_t offset = address % pageBytes;
  if (offset + count > pageBytes) {
    unsigned here = static_cast<unsigned>(pageBytes - offset);
    return definedMask(address, here) |
           definedMask(address + here, count - here) << here;
  }
  // Asked for nothing, at the end of the memory.
  if (count == 0)
    return 0;
  const Page *page = pages[address / pageBytes].get();
  if (!page)
    return 0;
  uint64_t window = endian::read64le(page->bits + offset / 8);
  return static_cast<uint32_t>(window >> (offset % 8) & lowBits(count));
}

bool TrackedMemory::allDefined(uint64_t address, uint64_t count) const {
  for (; count > 32; address += 32, count -= 32)
    if (definedMask(address, 32) != 0xFFFFFFFF)
      return false;
  unsigned rest = static_cast<unsigned>(count);
  return definedMask(address, rest) == lowBits(rest);
}

bool TrackedMemory::anyDefined(uint64_t address, uint64_t count) const {
  for (; count > 32; address += 32, count -= 32)
    if (definedMask(address, 32) != 0)
      return true;
  return definedMask(address, static_cast<unsigned>(count)) != 0;
}

void TrackedMemory::write(uint64_t address, const uint8_t *source,
                          uint32_t mask, unsigned count) {
  uint64_t offset = address % pageBytes;
  if (offset + count > pageBytes) {
    unsigned here = static_cast<unsigned>(pageBytes - offset);
    write(address, source, mask & static_cast<uint32_t>(lowBits(here)), here);
    write(address + here, source + here, mask >> here, count - here);
    return;
  }
  mask &= static_cast<uint32_t>(lowBits(count));
  std::unique_ptr<Page> &page = pages[address / pageBytes];
  if (!page) {
    if (mask == 0)
      return;
    page = std::make_unique<Page>();
  }
  uint8_t *target = page->bytes + offset;
  if (mask == lowBits(count)) {
    std::memcpy(target, source, count);
  } else {
    for (unsigned k = 0; k < count; ++k)
      target[k] = mask >> k & 1 ? source[k] : 0;
  }
  uint8_t *flags = page->bits + offset / 8;
  uint64_t window = endian::read64le(flags);
  window &= ~(lowBits(count) << (offset % 8));
  window |= uint64_t(mask) << (offset % 8);
  endian::write64le(flags, window);
}

void TrackedMemory::copyFrom(uint64_t address, const TrackedMemory &source,
                             uint64_t sourceAddress, uint64_t count) {
  // Through a buffer: the ranges may overlap.
  while (count > 0) {
    uint8_t chunk[4096];
    uint32_t masks[sizeof(chunk) / 32];
    uint64_t size = std::min<uint64_t>(count, sizeof(chunk));
    source.read(sourceAddress, chunk, size);
    for (uint64_t k = 0; k < size; k += 32)
      masks[k / 32] = source.definedMask(
          sourceAddress + k,
          static_cast<unsigned>(std::min<uint64_t>(size - k, 32)));
    for (uint64_t k = 0; k < size; k += 32)
      write(address + k, chunk + k, masks[k / 32],
            static_cast<unsigned>(std::min<uint64_t>(size - k, 32)));
    address += size;
    sourceAddress += size;
    count -= size;
  }
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

Error OperandMemory::load(const edf::Kernel &kernel,
                          llvm::ArrayRef<OperandBuffer> buffers) {
  const edf::Arguments &arguments = kernel.arguments;
  // Those of operands come first, in their order.
  llvm::ArrayRef<edf::Constant> constants = kernel.constants;
  if (arguments.operands.size() != buffers.size())
    return llvm::createStringError(
        "the kernel has " + Twine(arguments.operands.size()) + " operands, " +
        Twine(buffers.size()) + " buffers are given");
  // Addresses stay below 2^63.
  if (buffers.size() >= 1u << 16)
    return llvm::createStringError(
        "not yet supported: " + Twine(buffers.size()) + " operands");
  for (auto [operand, buffer] : llvm::zip_equal(arguments.operands, buffers)) {
    if (operand.bytes > machine::hbmOperandBytes)
      return llvm::createStringError("operand '" + operand.name + "' has " +
                                     Twine(operand.bytes) + " bytes, HBM has " +
                                     Twine(machine::hbmOperandBytes));
    bool isConstant = operand.role == edf::Role::Constant;
    bool isGiven =
        operand.role == edf::Role::Input || operand.role == edf::Role::InOut;
    llvm::ArrayRef<uint8_t> bytes = buffer.bytes;
    if (isConstant) {
      bytes = constants.front().bytes;
      constants = constants.drop_front();
    }
    if (isGiven && buffer.bytes.size() != operand.bytes)
      return llvm::createStringError(
          "operand '" + operand.name + "' has " + Twine(operand.bytes) +
          " bytes, the buffer has " + Twine(buffer.bytes.size()));
    if (isGiven && !buffer.defined.empty() &&
        buffer.defined.size() != buffer.bytes.size())
      return llvm::createStringError(
          "operand '" + operand.name + "': " + Twine(buffer.defined.size()) +
          " flags for " + Twine(buffer.bytes.size()) + " bytes");
    Region region{
        operand.name, operand.role, TrackedMemory(operand.bytes), {}, {}};
    for (uint64_t k = 0; (isGiven || isConstant) && k < operand.bytes;
         k += 32) {
      unsigned count =
          static_cast<unsigned>(std::min<uint64_t>(operand.bytes - k, 32));
      uint32_t mask = static_cast<uint32_t>(lowBits(count));
      for (unsigned i = 0; isGiven && i < count && !buffer.defined.empty(); ++i)
        if (!buffer.defined[k + i])
          mask &= ~(1u << i);
      region.memory.write(k, bytes.data() + k, mask, count);
    }
    regions.push_back(std::move(region));
  }
  return Error::success();
}

void OperandMemory::store(llvm::MutableArrayRef<OperandBuffer> buffers) const {
  for (auto [region, buffer] : llvm::zip_equal(regions, buffers)) {
    const TrackedMemory &memory = region.memory;
    buffer.bytes.resize(memory.size());
    memory.read(0, buffer.bytes.data(), memory.size());
    buffer.defined.assign(memory.size(), 1);
    for (uint64_t k = 0; k < memory.size(); k += 32) {
      unsigned count =
          static_cast<unsigned>(std::min<uint64_t>(memory.size() - k, 32));
      uint32_t mask = memory.definedMask(k, count);
      if (mask == lowBits(count))
        continue;
      for (unsigned i = 0; i < count; ++i)
        buffer.defined[k + i] = mask >> i & 1;
    }
  }
}

uint64_t OperandBuffer::undefinedBytes() const {
  return llvm::count(defined, 0);
}

Expected<std::pair<unsigned, uint64_t>>
OperandMemory::find(uint64_t address, uint64_t bytes) const {
  uint64_t relative = address - OperandMemory::address(0);
  uint64_t operand = relative >> spacing;
  uint64_t offset = relative & ((1ull << spacing) - 1);
  if (address < OperandMemory::address(0) || operand >= regions.size() ||
      bytes > regions[operand].memory.size() ||
      offset > regions[operand].memory.size() - bytes)
    return llvm::createStringError(
        "address 0x" + llvm::Twine::utohexstr(address) + " of " + Twine(bytes) +
        " bytes is not inside an operand" +
        (operand < regions.size()
             ? " (offset " + Twine(offset) + " of '" + regions[operand].name +
                   "', which has " + Twine(regions[operand].memory.size()) +
                   " bytes)"
             : Twine()));
  return std::pair(static_cast<unsigned>(operand), offset);
}

void OperandMemory::forgetUses() {
  for (Region &region : regions) {
    llvm::fill(region.readers, 0);
    llvm::fill(region.writers, 0);
  }
}

Error OperandMemory::use(unsigned operand, uint64_t offset, uint64_t bytes,
                         unsigned pe, bool isWrite) {
  Region &region = regions[operand];
  if (!isWritable(operand)) {
    if (!isWrite)
      return Error::success();
    return llvm::createStringError("writes operand '" + region.name +
                                   (region.role == edf::Role::Input
                                        ? "', which is an input"
                                        : "', which is a constant"));
  }
  if (region.readers.empty()) {
    region.readers.resize(region.memory.size());
    region.writers.resize(region.memory.size());
  }
  uint8_t own = static_cast<uint8_t>(1u << pe);
  uint8_t others = 0;
  uint8_t *readers = region.readers.data() + offset;
  uint8_t *writers = region.writers.data() + offset;
  for (uint64_t k = 0; k < bytes; ++k)
    others |= writers[k] | (isWrite ? readers[k] : uint8_t(0));
  if (others & ~own)
    return llvm::createStringError(
        Twine(isWrite ? "writes" : "reads") + " bytes of operand '" +
        region.name + "' from offset " + Twine(offset) +
        " that another PE uses too, in no defined order");
  uint8_t *users = isWrite ? writers : readers;
  for (uint64_t k = 0; k < bytes; ++k)
    users[k] |= own;
  return Error::success();
}
