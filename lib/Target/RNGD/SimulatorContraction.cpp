//===- SimulatorContraction.cpp - Dot-product engine ----------------------===//
//
// Feed buffer, TRF sequencer, reduction tree, accumulator and lane folder of
// one slice. Integers wrap, so their order of addition does not matter; floats
// follow the defined order. Values come from vectorised loops (or, for
// comparison, one by one); definedness is tracked apart from them.
//
//===----------------------------------------------------------------------===//

#include "SimulatorImpl.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

#include <bit>
#include <cstring>

using namespace furiosa;
using namespace furiosa::rngd;
using namespace furiosa::rngd::sim;
using llvm::Error;
namespace endian = llvm::support::endian;

namespace {

constexpr unsigned maxPacketBytes = 64;
constexpr unsigned maxElements = 128;
constexpr unsigned maxLanes = machine::lanes;

/// An input packet and its elements.
struct Packet {
  uint8_t bytes[maxPacketBytes];
  uint64_t defined;
  /// A bit per nibble, as in a flit.
  std::array<uint64_t, 2> flips;
};

/// Code of element `index` in packed bytes.
uint32_t elementCode(const uint8_t *bytes, ElementType type, unsigned index) {
  switch (wireBits(type)) {
  case 4:
    return bytes[index / 2] >> (index % 2 * 4) & 0xF;
  case 8:
    return bytes[index];
  default:
    return endian::read16le(bytes + 2 * index);
  }
}

/// An integer with the bit beyond its `type`: `isFlipped` where that differs
/// from the sign.
int32_t extend(ElementType type, uint32_t code, bool isFlipped) {
  int32_t value = decodeInteger(type, code);
  if (!isFlipped)
    return value;
  int32_t range = 1 << wireBits(type);
  return value < 0 ? value + range : value - range;
}

/// The nibble that has the sign of element `index`.
constexpr size_t signNibble(ElementType type, size_t index) {
  return (index + 1) * (type == ElementType::I4 ? 4 : 8) / 4 - 1;
}

/// Accumulator: cells of all slots, `[slot][column][lane]` with eight lanes, as
/// patterns of 32 bits, and which columns of a lane are defined.
struct Accumulator {
  Accumulator(const DotProductConfig &config)
      : columns(config.columns),
        cells(config.slots * config.columns * maxLanes),
        defined(config.slots * maxLanes), additions(config.slots) {
    for (unsigned slot = 0; slot < config.slots; ++slot)
      reset(slot, config.initialValue);
  }

  uint32_t *slot(unsigned index) {
    return cells.data() + size_t(index) * columns * maxLanes;
  }
  uint32_t *definedColumns(unsigned index) {
    return defined.data() + size_t(index) * maxLanes;
  }
  void reset(unsigned index, uint32_t value) {
    std::fill_n(slot(index), size_t(columns) * maxLanes, value);
    std::fill_n(definedColumns(index), maxLanes, ~0u);
    additions[index] = 0;
  }

  unsigned columns;
  std::vector<uint32_t> cells;
  std::vector<uint32_t> defined;
  std::vector<uint32_t> additions;
};

/// Adds the sums of one step into a slot.
class Multiplier {
public:
  explicit Multiplier(const DotProductConfig &config) : config(config) {}
  virtual ~Multiplier() = default;
  virtual void setPacket(const Packet &packet) = 0;
  /// `address`: of the weights in the lane.
  virtual void step(uint64_t address, uint32_t *cells) = 0;

protected:
  const DotProductConfig &config;
};

/// Element by element, in the words of docs/EDF.md.
class PlainMultiplier : public Multiplier {
public:
  PlainMultiplier(const DotProductConfig &config, const TensorRegisterFile &trf)
      : Multiplier(config), trf(trf) {}

  void setPacket(const Packet &newPacket) override { packet = newPacket; }

  void step(uint64_t address, uint32_t *cells) override {
    unsigned read = config.weightBytes * 8 / wireBits(config.type);
    bool floats = isFloat(config.type);
    for (unsigned lane = 0; lane < config.lanes; ++lane) {
      uint8_t weights[maxPacketBytes];
      uint64_t at = uint64_t(lane) * config.laneBytes() + address;
      trf.bytes.read(at, weights, config.weightBytes);
      unsigned elements = config.packetElements();
      uint32_t tree[maxElements];
      for (unsigned e = 0; e < elements; ++e) {
        uint32_t a = elementCode(packet.bytes, config.type, e);
        uint32_t b = elementCode(weights, config.type, e % read);
        tree[e] = floats
                      ? mulF32(decodeFloat(config.type, a),
                               decodeFloat(config.type, b))
                      : static_cast<uint32_t>(streamValue(a, e) *
                                              weightValue(b, 2 * at, e % read));
      }
      for (unsigned level = 0; level < config.depth; ++level) {
        elements /= 2;
        for (unsigned e = 0; e < elements; ++e)
          tree[e] = floats ? addF32(tree[2 * e], tree[2 * e + 1])
                           : tree[2 * e] + tree[2 * e + 1];
      }
      for (unsigned c = 0; c < config.columns; ++c) {
        uint32_t &cell = cells[c * maxLanes + lane];
        cell = floats ? addF32(cell, tree[c]) : cell + tree[c];
      }
    }
  }

private:
  int32_t streamValue(uint32_t code, unsigned index) const {
    size_t nibble = signNibble(config.type, index);
    return extend(config.type, code,
                  packet.flips[nibble / 64] >> nibble % 64 & 1);
  }
  /// `firstNibble`: of the read.
  int32_t weightValue(uint32_t code, uint64_t firstNibble,
                      unsigned index) const {
    return extend(config.type, code,
                  trf.flip(firstNibble + signNibble(config.type, index)));
  }

  const TensorRegisterFile &trf;
  Packet packet;
};

/// Weights that the loops can reach, widened once: the elements from `base` on.
struct WeightRange {
  explicit WeightRange(const DotProductConfig &config) {
    base = config.weightBase;
    uint64_t end = base + config.weightBytes;
    for (const HardwareLoop &loop : config.weights)
      end += uint64_t(loop.limit - 1) * uint32_t(loop.stride);
    bits = wireBits(config.type);
    elements = (end - base) * 8 / bits;
  }
  /// The bytes of a lane.
  std::vector<uint8_t> read(const DotProductConfig &config,
                            const TensorRegisterFile &trf,
                            unsigned lane) const {
    std::vector<uint8_t> bytes(elements * bits / 8);
    trf.bytes.read(uint64_t(lane) * config.laneBytes() + base, bytes.data(),
                   bytes.size());
    return bytes;
  }
  /// Position of the elements at a byte address.
  size_t index(uint64_t address) const { return (address - base) * 8 / bits; }

  uint64_t base;
  size_t elements;
  unsigned bits;
};

/// i4 and i8: products of 16-bit operands in 32-bit sums.
class IntegerMultiplier : public Multiplier {
public:
  IntegerMultiplier(const DotProductConfig &config,
                    const TensorRegisterFile &trf)
      : Multiplier(config), range(config) {
    weights.resize(range.elements * config.lanes);
    for (unsigned lane = 0; lane < config.lanes; ++lane) {
      int16_t *out = weights.data() + lane * range.elements;
      widen(range.read(config, trf, lane).data(), out, range.elements);
      if (trf.hasFlips)
        flip(out, range.elements, [&](size_t nibble) {
          uint64_t base = uint64_t(lane) * config.laneBytes() + range.base;
          return trf.flip(2 * base + nibble);
        });
    }
    group = 1u << config.depth;
    read = config.weightBytes * 8 / range.bits;
    piece = std::min(group, read);
  }

  void setPacket(const Packet &packet) override {
    widen(packet.bytes, stream, config.packetElements());
    if (packet.flips[0] | packet.flips[1])
      flip(stream, config.packetElements(), [&](size_t nibble) {
        return packet.flips[nibble / 64] >> nibble % 64 & 1;
      });
  }

  void step(uint64_t address, uint32_t *cells) override {
    size_t first = range.index(address);
    for (unsigned lane = 0; lane < config.lanes; ++lane) {
      const int16_t *row = weights.data() + lane * range.elements + first;
      for (unsigned c = 0; c < config.columns; ++c) {
        uint32_t sum = 0;
        if (piece == 64)
          sum = dot<64>(stream + c * group, row + c * group % read);
        else
          for (unsigned e = c * group; e < (c + 1) * group; e += piece)
            sum += dot(stream + e, row + e % read, piece);
        cells[c * maxLanes + lane] += sum;
      }
    }
  }

private:
  void widen(const uint8_t *bytes, int16_t *out, size_t count) const {
    if (config.type == ElementType::I8) {
      for (size_t k = 0; k < count; ++k)
        out[k] = static_cast<int8_t>(bytes[k]);
      return;
    }
    for (size_t k = 0; k < count; ++k)
      out[k] = static_cast<int16_t>(
          decodeInteger(ElementType::I4, bytes[k / 2] >> (k % 2 * 4) & 0xFu));
  }

  /// Gives values whose nibble is flipped their bit beyond the sign.
  template <typename IsFlipped>
  void flip(int16_t *values, size_t count, IsFlipped isFlipped) const {
    auto range = static_cast<int16_t>(1 << wireBits(config.type));
    for (size_t k = 0; k < count; ++k)
      if (isFlipped(signNibble(config.type, k)))
        values[k] += values[k] < 0 ? range : -range;
  }

  // Operands have at most 9 bits, so 128 products stay far below 2^31.
  static uint32_t dot(const int16_t *a, const int16_t *b, unsigned count) {
    int32_t sum = 0;
    for (unsigned e = 0; e < count; ++e)
      sum += int32_t(a[e]) * int32_t(b[e]);
    return static_cast<uint32_t>(sum);
  }
  template <unsigned count>
  static uint32_t dot(const int16_t *a, const int16_t *b) {
    int32_t sum = 0;
    for (unsigned e = 0; e < count; ++e)
      sum += int32_t(a[e]) * int32_t(b[e]);
    return static_cast<uint32_t>(sum);
  }

  WeightRange range;
  std::vector<int16_t> weights;
  int16_t stream[maxElements];
  unsigned group, read, piece;
};

/// Floats, on the unit of the host with all lanes side by side. NaNs need no
/// care inside: they stay NaN, and the accumulator is made canonical when it
/// is emitted.
template <unsigned lanes>
class FloatMultiplier : public Multiplier {
public:
  FloatMultiplier(const DotProductConfig &config, const TensorRegisterFile &trf)
      : Multiplier(config), range(config) {
    weights.resize(range.elements * lanes);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      std::vector<uint8_t> bytes = range.read(config, trf, lane);
      for (size_t e = 0; e < range.elements; ++e)
        weights[e * lanes + lane] = element(bytes.data(), e);
    }
    read = config.weightBytes * 8 / range.bits;
  }

  void setPacket(const Packet &packet) override {
    for (unsigned e = 0; e < config.packetElements(); ++e)
      stream[e] = element(packet.bytes, e);
  }

  void step(uint64_t address, uint32_t *cells) override {
    const float *rows = weights.data() + range.index(address) * lanes;
    unsigned elements = config.packetElements();
    Row tree[maxElements / 2];
    for (unsigned first = 0; first < elements; first += read)
      for (unsigned e = 0; e < read; ++e) {
        Row row;
        std::memcpy(&row, rows + e * lanes, sizeof(row));
        tree[first + e] = row * stream[first + e];
      }
    for (unsigned level = 0; level < config.depth; ++level) {
      elements /= 2;
      for (unsigned e = 0; e < elements; ++e)
        tree[e] = tree[2 * e] + tree[2 * e + 1];
    }
    for (unsigned c = 0; c < config.columns; ++c) {
      Row sums;
      std::memcpy(&sums, cells + c * maxLanes, sizeof(sums));
      sums += tree[c];
      std::memcpy(cells + c * maxLanes, &sums, sizeof(sums));
    }
  }

private:
  /// One element of every lane. A vector type: left to themselves compilers
  /// vectorise along the elements and spend their time on shuffles. No alias
  /// declaration: g++ drops the attribute there when it depends on `lanes`.
  typedef float Row __attribute__((vector_size(lanes * sizeof(float))));
  static_assert(sizeof(Row) == lanes * sizeof(float));

  float element(const uint8_t *bytes, size_t index) const {
    uint32_t code =
        range.bits == 8 ? bytes[index] : endian::read16le(bytes + 2 * index);
    return std::bit_cast<float>(decodeFloat(config.type, code));
  }

  WeightRange range;
  std::vector<float> weights;
  float stream[maxElements / 2];
  unsigned read;
};

/// Which sums of a step are defined.
class DefinednessTracker {
public:
  DefinednessTracker(const DotProductConfig &config, const TrackedMemory &trf)
      : config(config), trf(trf) {
    WeightRange range(config);
    uint64_t bytes = range.elements * range.bits / 8;
    for (unsigned lane = 0; lane < config.lanes; ++lane) {
      uint64_t from = uint64_t(lane) * config.laneBytes() + range.base;
      allWeights &= trf.allDefined(from, bytes);
      anyWeights |= trf.anyDefined(from, bytes);
    }
    packetMask = config.flitsPerInput == 2 ? ~0ull : 0xFFFFFFFFull;
    // Bytes that a column covers; with 4-bit elements two columns may share
    // one.
    unsigned bits = wireBits(config.type) << config.depth;
    for (unsigned c = 0; c < config.columns; ++c) {
      unsigned first = c * bits / 8;
      unsigned count = llvm::divideCeil(bits, 8u);
      columnMasks[c] = (count >= 64 ? ~0ull : (1ull << count) - 1) << first;
    }
  }

  /// Whether the values of a step matter at all.
  bool isUseless(const Packet &packet) const {
    return !anyWeights || packet.defined == 0;
  }

  /// Clears the columns that an undefined byte of the step reaches.
  void step(const Packet &packet, uint64_t address, uint32_t *columns) const {
    if (allWeights && packet.defined == packetMask)
      return;
    for (unsigned lane = 0; lane < config.lanes; ++lane) {
      uint64_t defined = packet.defined & weightMask(lane, address);
      for (unsigned c = 0; c < config.columns; ++c)
        if ((defined & columnMasks[c]) != columnMasks[c])
          columns[lane] &= ~(1u << c);
    }
  }

private:
  /// Definedness of the weights that meet the bytes of the packet.
  uint64_t weightMask(unsigned lane, uint64_t address) const {
    uint64_t at = uint64_t(lane) * config.laneBytes() + address;
    unsigned count = config.weightBytes;
    uint64_t mask = trf.definedMask(at, std::min(count, 32u));
    if (count == 64)
      return mask | uint64_t(trf.definedMask(at + 32, 32)) << 32;
    for (; count < maxPacketBytes; count *= 2)
      mask |= mask << count;
    return mask;
  }

  const DotProductConfig &config;
  const TrackedMemory &trf;
  bool allWeights = true;
  bool anyWeights = false;
  uint64_t packetMask;
  uint64_t columnMasks[machine::reducerColumns];
};

/// Drains a slot through the lane folder.
class LaneFolder {
public:
  LaneFolder(const DotProductConfig &config, FlitSink sink)
      : config(config), sink(sink) {}

  Error emit(const uint32_t *cells, const uint32_t *defined) {
    if (config.interleaved) {
      for (unsigned c = 0; c < config.columns; ++c) {
        begin();
        for (unsigned lane = 0; lane < config.lanes; ++lane)
          put(lane, cells[c * maxLanes + lane], defined[lane] >> c & 1);
        if (Error error = sink(flit))
          return error;
      }
      return Error::success();
    }
    for (unsigned lane = 0; lane < config.lanes; ++lane) {
      for (unsigned c = 0; c < config.columns; c += 8) {
        begin();
        for (unsigned k = 0; k < std::min(8u, config.columns - c); ++k)
          put(k, cells[(c + k) * maxLanes + lane],
              defined[lane] >> (c + k) & 1);
        if (Error error = sink(flit))
          return error;
      }
    }
    return Error::success();
  }

private:
  void begin() {
    std::memset(flit.bytes, 0, sizeof(flit.bytes));
    flit.defined = 0;
  }
  void put(unsigned position, uint32_t pattern, bool isDefined) {
    if (!isDefined)
      return;
    if (isFloat(config.type))
      pattern = std::bit_cast<uint32_t>(
          canonicalizeF32(std::bit_cast<float>(pattern)));
    endian::write32le(flit.bytes + 4 * position, pattern);
    flit.defined |= 0xFu << 4 * position;
  }

  const DotProductConfig &config;
  FlitSink sink;
  Flit flit;
};

} // namespace

static std::unique_ptr<Multiplier>
makeMultiplier(const DotProductConfig &config, const TensorRegisterFile &trf,
               bool plain) {
  if (plain)
    return std::make_unique<PlainMultiplier>(config, trf);
  if (!isFloat(config.type))
    return std::make_unique<IntegerMultiplier>(config, trf);
  switch (config.lanes) {
  case 1:
    return std::make_unique<FloatMultiplier<1>>(config, trf);
  case 2:
    return std::make_unique<FloatMultiplier<2>>(config, trf);
  case 4:
    return std::make_unique<FloatMultiplier<4>>(config, trf);
  default:
    return std::make_unique<FloatMultiplier<8>>(config, trf);
  }
}

Error sim::contract(const DotProductConfig &config, FlitStream &stream,
                    const TensorRegisterFile &trf, bool plain, FlitSink sink) {
  HostF32Scope hostMode;
  std::unique_ptr<Multiplier> multiplier = makeMultiplier(config, trf, plain);
  DefinednessTracker tracker(config, trf.bytes);
  Accumulator accumulator(config);
  LaneFolder folder(config, sink);
  LoopCounter weights(config.weightBase, config.weights);
  LoopCounter slots(0, config.slotLoops);

  for (uint64_t input = 0; input < config.inputs; ++input) {
    Packet packet = {};
    for (unsigned k = 0; k < config.flitsPerInput; ++k) {
      Flit flit;
      stream.next(flit);
      std::memcpy(packet.bytes + 32 * k, flit.bytes, 32);
      packet.defined |= uint64_t(flit.defined) << 32 * k;
      packet.flips[k] = flit.flips;
    }
    bool isUseless = tracker.isUseless(packet);
    if (!isUseless)
      multiplier->setPacket(packet);
    for (uint64_t k = 0; k < config.stepsPerInput; ++k) {
      unsigned slot = static_cast<unsigned>(slots.address());
      uint32_t *cells = accumulator.slot(slot);
      uint32_t *defined = accumulator.definedColumns(slot);
      if (isUseless) {
        std::fill_n(defined, maxLanes, 0);
      } else {
        multiplier->step(weights.address(), cells);
        tracker.step(packet, weights.address(), defined);
      }
      weights.next();
      slots.next();
      if (++accumulator.additions[slot] < config.accumulations)
        continue;
      if (Error error = folder.emit(cells, defined))
        return error;
      accumulator.reset(slot, config.initialValue);
    }
  }
  return Error::success();
}
