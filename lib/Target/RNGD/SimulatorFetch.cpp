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
using codes::FetchCast;
namespace endian = llvm::support::endian;

namespace {
/// Element types of a cast.
struct CastTypes {
  ElementType from;
  ElementType to;
};
} // namespace

static CastTypes castTypes(FetchCast cast) {
  switch (cast) {
  case FetchCast::I4ToI32:
    return {ElementType::I4, ElementType::I32};
  case FetchCast::I8ToI32:
    return {ElementType::I8, ElementType::I32};
  case FetchCast::I16ToI32:
    return {ElementType::I16, ElementType::I32};
  case FetchCast::F8E4M3ToF32:
    return {ElementType::F8E4M3, ElementType::F32};
  case FetchCast::F8E5M2ToF32:
    return {ElementType::F8E5M2, ElementType::F32};
  case FetchCast::BF16ToF32:
    return {ElementType::BF16, ElementType::F32};
  case FetchCast::F32ToBF16:
    return {ElementType::F32, ElementType::BF16};
  case FetchCast::None:
  case FetchCast::I4ToI5:
  case FetchCast::I8ToI9:
    break;
  }
  // The decoder lets no other cast pass.
  return {ElementType::I32, ElementType::I32};
}

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

/// Converts one read in place of `out`; returns which bytes are defined.
static uint32_t convert(const FetchConfig &config, const uint8_t *in,
                        uint32_t defined, uint8_t *out) {
  auto [from, to] = castTypes(config.cast);
  unsigned inBits = wireBits(from), outBytes = wireBits(to) / 8;
  unsigned count = config.readBytes * 8 / inBits;
  uint32_t result = 0;
  for (unsigned k = 0; k < count; ++k) {
    uint32_t inMask =
        inBits < 8 ? 1u << k / 2 : ((1u << inBits / 8) - 1) << k * inBits / 8;
    uint32_t code = elementCode(in, inBits, k);
    uint32_t value;
    if (to == ElementType::I32)
      value = static_cast<uint32_t>(decodeInteger(from, code));
    else if (to == ElementType::F32)
      value = decodeFloat(from, code);
    else
      value = f32ToBf16(code);
    if (outBytes == 2)
      endian::write16le(out + 2 * k, static_cast<uint16_t>(value));
    else
      endian::write32le(out + 4 * k, value);
    if ((defined & inMask) == inMask)
      result |= ((1u << outBytes) - 1) << k * outBytes;
  }
  return result;
}

void FlitStream::read() {
  uint64_t address = counter.address();
  counter.next();
  uint32_t defined = dm.definedMask(address, config.readBytes);
  uint8_t *target = pending + numPending;
  if (config.cast == FetchCast::None) {
    dm.read(address, target, config.readBytes);
  } else {
    uint8_t in[32];
    dm.read(address, in, config.readBytes);
    defined = convert(config, in, defined, target);
  }
  pendingDefined |= uint64_t(defined) << numPending;
  numPending += config.outBytes;
  unread -= config.outBytes;
}

void FlitStream::next(Flit &flit) {
  if (unread == 0 && numPending == 0)
    unread = config.packetBytes;
  while (numPending < sizeof(flit.bytes) && unread > 0)
    read();
  // Only the last flit of a packet has less; collect pads it with undefined
  // bytes.
  unsigned count = std::min<unsigned>(numPending, sizeof(flit.bytes));
  std::memcpy(flit.bytes, pending, count);
  std::memset(flit.bytes + count, 0, sizeof(flit.bytes) - count);
  flit.defined = static_cast<uint32_t>(pendingDefined);
  numPending -= count;
  std::memmove(pending, pending + count, numPending);
  pendingDefined = count == 32 ? pendingDefined >> 32 : 0;
}
