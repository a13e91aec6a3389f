//===- SimulatorContractions.h - Contraction kernels ------------*- C++ -*-===//
//
// A contraction of any element type and shape as a kernel, and its result
// computed by plain loops.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_UNITTESTS_TARGET_SIMULATORCONTRACTIONS_H
#define FURIOSA_UNITTESTS_TARGET_SIMULATORCONTRACTIONS_H

#include "SimulatorKernels.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace furiosa::rngd::test {

/// Each slice: stream [rows][times][packet], weights [lane][outputs][times]
/// [weightBytes], repeated to fill the packet; summed over times.
struct Contraction {
  ElementType type = ElementType::I8;
  unsigned rows = 4;
  unsigned outputs = 4;
  unsigned times = 1;
  unsigned lanes = 8;
  unsigned flitsPerInput = 2;
  unsigned logRead = 6;
  unsigned depth = 6;
  bool interleaved = true;
  /// PEs of cluster 0 that take part.
  unsigned pes = 1;

  unsigned bits() const { return wireBits(type); }
  unsigned packetBytes() const { return 32 * flitsPerInput; }
  unsigned elements() const { return packetBytes() * 8 / bits(); }
  unsigned columns() const { return elements() >> depth; }
  unsigned streamBytes() const { return rows * times * packetBytes(); }
  unsigned laneBytes() const { return outputs * times << logRead; }
  unsigned weightBytes() const { return lanes * laneBytes(); }
  unsigned flitsOut() const {
    return rows * outputs *
           (interleaved ? columns() : lanes * ((columns() + 7) / 8));
  }
  unsigned resultBytes() const { return 32 * flitsOut(); }

  std::vector<OperandBuffer> makeOperands(uint64_t seed) const {
    Random random(seed);
    std::vector<OperandBuffer> operands(3);
    operands[0].bytes = random.bytes(size_t(pes) * 64 * streamBytes());
    operands[1].bytes = random.bytes(size_t(pes) * 64 * weightBytes());
    return operands;
  }

  static constexpr uint32_t streamAt = 0, weightsAt = 0x10000,
                            resultAt = 0x20000;

  SfrImage dotProduct() const {
    // Codes by type: mac, feed, register file.
    unsigned mac = 1, feed = 1, stored = 2;
    switch (type) {
    case ElementType::I4:
      mac = 0, feed = 0, stored = 1;
      break;
    case ElementType::F8E4M3:
      mac = 2, feed = 1, stored = 0;
      break;
    case ElementType::F8E5M2:
      mac = 3, feed = 1, stored = 0;
      break;
    case ElementType::BF16:
      mac = 4, feed = 2, stored = 3;
      break;
    default:
      break;
    }
    Loops weights, slots;
    if (outputs > 1) {
      weights.push_back({outputs, times << logRead});
      slots.push_back({outputs, times > 1 ? 1 : 0});
    }
    if (times > 1) {
      weights.push_back({times, 1u << logRead});
      slots.push_back({times, 0});
    }
    if (rows > 1) {
      weights.push_back({rows, 0});
      slots.push_back({rows, 0});
    }
    return Image(Block::DotProductEngineMainContext)
        .loops("iter_seq_limits", "reg_indexer_strides", weights)
        .loops("iter_seq_limits", "acc_indexer_strides", slots)
        .set("flits_per_input", flitsPerInput)
        .set("pop_dim", outputs > 1 ? 1 : 0)
        .set("feed_data_type", feed)
        .set("register_file_read_data_type", stored)
        .set("mac_type", mac)
        .set("mac_rows", lanes)
        .set("depth", depth)
        .set("acc_cols", columns())
        .set("acc_limit", times)
        .set("acc_reset", 1)
        .set("output_major", interleaved)
        .set("reg_read_log_size", logRead);
  }

  edf::Kernel build() const {
    uint8_t all = static_cast<uint8_t>((1u << pes) - 1);
    KernelBuilder b;
    unsigned stream =
        b.operand("a", edf::Role::Input, uint64_t(pes) * 64 * streamBytes());
    unsigned weights =
        b.operand("b", edf::Role::Input, uint64_t(pes) * 64 * weightBytes());
    unsigned result =
        b.operand("c", edf::Role::Output, uint64_t(pes) * 64 * resultBytes());
    using K = KernelBuilder;
    // Rows of one packet size that divides all.
    auto move = [&](unsigned tag, unsigned operand, uint32_t bytes, uint32_t at,
                    bool in) {
      uint32_t packet = std::min(bytes & -bytes, 4096u);
      for (unsigned pe = 0; pe < pes; ++pe) {
        b.setMask(static_cast<uint8_t>(1u << pe));
        std::vector<std::pair<uint32_t, int32_t>> outer, inner;
        if (bytes > packet) {
          outer.push_back({bytes / packet, static_cast<int32_t>(packet)});
          inner = outer;
        }
        outer.push_back(eachSlice(static_cast<int32_t>(bytes)));
        inner.push_back(acrossSlices);
        K::Side far = K::hbm(operand, int64_t(pe) * 64 * bytes, outer);
        K::Side near = K::dm(at, inner);
        if (in)
          b.dma(tag, packet, far, near);
        else
          b.dma(tag, packet, near, far);
      }
      b.setMask(all);
      b.waitTag(tag);
    };
    move(0, stream, streamBytes(), streamAt, true);
    move(1, weights, weightBytes(), weightsAt, true);
    b.exec(
        ExecTarget::Sub, codes::routeTrfLoad,
        {subFetch(weightsAt, {{weightBytes() / 8, 8}}, 4, weightBytes() / 32),
         trfWrite(lanes, 0, laneBytes() / 32)});
    b.wait(ExecTarget::Sub);
    b.exec(ExecTarget::Main, 0x09,
           {mainFetch(streamAt, {{streamBytes() / 32, 32}}, 32,
                      packetBytes() / 8, streamBytes() / 32),
            dotProduct(), mainCommit(resultAt, {{flitsOut(), 32}}, 32)});
    b.wait(ExecTarget::Main);
    move(2, result, resultBytes(), resultAt, false);
    return b.take();
  }

  /// The result by plain loops over logical indices.
  OperandBuffer expected(const std::vector<OperandBuffer> &operands) const {
    OperandBuffer out;
    out.bytes.resize(size_t(pes) * 64 * resultBytes());
    out.defined.resize(out.bytes.size());
    auto code = [&](const uint8_t *bytes, unsigned index) -> uint32_t {
      if (bits() == 4)
        return bytes[index / 2] >> (index % 2 * 4) & 0xF;
      if (bits() == 8)
        return bytes[index];
      return bytes[2 * index] | bytes[2 * index + 1] << 8;
    };
    for (unsigned slice = 0; slice < pes * 64; ++slice) {
      const uint8_t *a =
          operands[0].bytes.data() + size_t(slice) * streamBytes();
      const uint8_t *b =
          operands[1].bytes.data() + size_t(slice) * weightBytes();
      for (unsigned m = 0; m < rows; ++m)
        for (unsigned j = 0; j < outputs; ++j)
          for (unsigned lane = 0; lane < lanes; ++lane)
            for (unsigned c = 0; c < columns(); ++c) {
              uint32_t value = sum(code, a, b, m, j, lane, c);
              unsigned group = m * outputs + j;
              unsigned blocks = (columns() + 7) / 8;
              size_t flit = interleaved
                                ? group * columns() + c
                                : (group * lanes + lane) * blocks + c / 8;
              size_t at = size_t(slice) * resultBytes() + flit * 32 +
                          4 * (interleaved ? lane : c % 8);
              std::memcpy(out.bytes.data() + at, &value, 4);
              std::memset(out.defined.data() + at, 1, 4);
            }
    }
    return out;
  }

private:
  /// One cell of the result.
  template <typename Code>
  uint32_t sum(Code code, const uint8_t *a, const uint8_t *b, unsigned m,
               unsigned j, unsigned lane, unsigned c) const {
    unsigned group = 1u << depth;
    unsigned read = (8u << logRead) / bits();
    uint32_t integer = 0;
    float total = 0;
    for (unsigned t = 0; t < times; ++t) {
      const uint8_t *row = a + (m * times + t) * packetBytes();
      const uint8_t *weight =
          b + lane * laneBytes() + ((j * times + t) << logRead);
      std::vector<float> tree(group);
      for (unsigned e = 0; e < group; ++e) {
        uint32_t x = code(row, c * group + e);
        uint32_t y = code(weight, (c * group + e) % read);
        if (isInteger(type))
          integer += static_cast<uint32_t>(decodeInteger(type, x) *
                                           decodeInteger(type, y));
        else
          tree[e] = std::bit_cast<float>(decodeFloat(type, x)) *
                    std::bit_cast<float>(decodeFloat(type, y));
      }
      for (size_t left = group; left > 1; left /= 2)
        for (unsigned e = 0; e < left / 2; ++e)
          tree[e] = tree[2 * e] + tree[2 * e + 1];
      total = total + tree[0];
    }
    if (isInteger(type))
      return integer;
    return std::isnan(total) ? 0x7FC00000u : std::bit_cast<uint32_t>(total);
  }
};

} // namespace furiosa::rngd::test

#endif // FURIOSA_UNITTESTS_TARGET_SIMULATORCONTRACTIONS_H
