//===- SimulatorFetch.cpp - Fetch, cast, collect --------------------------===//
//
// Turns the bytes of a slice into flits.
//
//===----------------------------------------------------------------------===//

#include "SimulatorImpl.h"

#include "llvm/Support/Endian.h"

#include <cstring>

using namespace furiosa;
using namespace furiosa::rngd;
using namespace furiosa::rngd::sim;
namespace endian = llvm::support::endian;

/// Element `index` of packed little-endian bytes, low nibble first.
static uint32_t elementCode(const uint8_t *bytes, unsigned bits,
                            unsigned index) {
  switch (bits) {
  case 4:
    return bytes[index / 2] >> (index % 2 * 4) & 0xF;
  case 8:
    return bytes[index];
  case 16:
    return endian::read16le(bytes + 2 * index);
  default:
    return endian::read32le(bytes + 4 * index);
  }
}

static void setElement(uint8_t *bytes, unsigned bits, unsigned index,
                       uint32_t code) {
  switch (bits) {
  case 4: {
    // The other half of the byte stays.
    unsigned shift = index % 2 * 4;
    bytes[index / 2] = static_cast<uint8_t>((bytes[index / 2] & 0xF0 >> shift) |
                                            (code & 0xF) << shift);
    break;
  }
  case 8:
    bytes[index] = static_cast<uint8_t>(code);
    break;
  case 16:
    endian::write16le(bytes + 2 * index, static_cast<uint16_t>(code));
    break;
  default:
    endian::write32le(bytes + 4 * index, code);
    break;
  }
}

/// The bytes that element `index` touches, one bit each.
static uint32_t elementMask(unsigned bits, unsigned index) {
  return bits < 8 ? 1u << index / 2
                  : ((1u << bits / 8) - 1) << index * bits / 8;
}

/// A code of `conversion.to`; a lookup has its table.
static uint32_t convertCode(const FetchConversion &conversion, uint32_t code,
                            llvm::ArrayRef<uint8_t> table) {
  if (conversion.stage == AdapterStage::TableLookup)
    return elementCode(table.data(), wireBits(conversion.to), code);
  if (conversion.to == ElementType::I32)
    return static_cast<uint32_t>(decodeInteger(conversion.from, code));
  if (conversion.to == ElementType::F32)
    return decodeFloat(conversion.from, code);
  return f32ToBf16(code);
}

/// Converts `bytes`, of which there are room for 32, in place.
static void convert(const FetchConversion &conversion, uint8_t *bytes,
                    uint32_t &defined, unsigned count,
                    llvm::ArrayRef<uint8_t> table = {}) {
  unsigned from = wireBits(conversion.from), to = wireBits(conversion.to);
  uint8_t out[32] = {};
  uint32_t result = 0;
  for (unsigned k = 0; k < count * 8 / from; ++k) {
    uint32_t mask = elementMask(from, k);
    setElement(out, to, k,
               convertCode(conversion, elementCode(bytes, from, k), table));
    if ((defined & mask) == mask)
      result |= elementMask(to, k);
  }
  std::memcpy(bytes, out, sizeof(out));
  defined = result;
}

/// Subtracts the zero point from `count` bytes in place; returns a bit per
/// nibble, set where the bit beyond an element differs from its sign.
static uint64_t subtractFrom(const FetchConfig &config, uint8_t *bytes,
                             unsigned count) {
  unsigned bits = wireBits(config.cast->from);
  uint64_t flips = 0;
  for (unsigned k = 0; k < count * 8 / bits; ++k) {
    int32_t value =
        decodeInteger(config.cast->from, elementCode(bytes, bits, k)) -
        config.zeroPoint;
    uint32_t code = static_cast<uint32_t>(value);
    setElement(bytes, bits, k, code & ((1u << bits) - 1));
    // The last nibble of the element has its sign.
    if ((code >> bits & 1) != (code >> (bits - 1) & 1))
      flips |= 1ull << ((k + 1) * bits / 4 - 1);
  }
  return flips;
}

void FlitStream::read() {
  uint64_t address = counter.address();
  counter.next();
  uint32_t defined = dm->definedMask(address, config.readBytes);
  // Conversions may fill 32 bytes whatever the read is.
  uint8_t *target = pending + numPending;
  dm->read(address, target, config.readBytes);
  unsigned count = config.readBytes;
  if (config.lookup) {
    convert(*config.lookup, target, defined, count, table);
    count = count * wireBits(config.lookup->to) / wireBits(config.lookup->from);
  }
  if (config.subtractsZeroPoint()) {
    uint64_t flips = subtractFrom(config, target, count);
    unsigned at = 2 * numPending;
    pendingFlips[at / 64] |= flips << at % 64;
    if (at % 64 != 0 && at < 64)
      pendingFlips[1] |= flips >> (64 - at);
  } else if (config.cast) {
    convert(*config.cast, target, defined, count);
  }
  pendingDefined |= uint64_t(defined) << numPending;
  numPending += config.outBytes;
  unread -= config.outBytes;
}

void FlitStream::beginPacket() {
  unread = config.packetBytes;
  if (!config.exchange)
    return;
  PacketSource source = config.exchange->source(number, numPackets++);
  dm = &slices[source.slice]->dm;
  counter.seek(source.packet * (config.reads / config.packets));
}

void FlitStream::next(Flit &flit) {
  if (unread == 0 && numPending == 0)
    beginPacket();
  while (numPending < sizeof(flit.bytes) && unread > 0)
    read();
  // Only the last flit of a packet has less; collect pads it with undefined
  // bytes.
  unsigned count = std::min<unsigned>(numPending, sizeof(flit.bytes));
  std::memcpy(flit.bytes, pending, count);
  std::memset(flit.bytes + count, 0, sizeof(flit.bytes) - count);
  flit.defined = static_cast<uint32_t>(pendingDefined);
  flit.flips = pendingFlips[0];
  numPending -= count;
  std::memmove(pending, pending + count, numPending);
  pendingDefined = count == 32 ? pendingDefined >> 32 : 0;
  pendingFlips[0] = pendingFlips[1];
  pendingFlips[1] = 0;
}
