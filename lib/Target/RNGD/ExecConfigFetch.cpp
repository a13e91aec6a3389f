//===- ExecConfigFetch.cpp - Fetch, fetch adapter, switch -----------------===//
//
// Decodes the register image of a fetch unit.
//
//===----------------------------------------------------------------------===//

#include "ImageReader.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/ADT/StringExtras.h"

using namespace furiosa;
using namespace furiosa::rngd;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

/// Table lookup, cast and zero point; sets how many bytes a read becomes.
static Error decodeAdapter(ImageReader &reader, bool isMain,
                           FetchConfig &config) {
  config.outBytes = config.readBytes;
  auto convert = [&](StringRef field,
                     const FetchConversion *conversion) -> Error {
    unsigned from = wireBits(conversion->from), to = wireBits(conversion->to);
    if (config.outBytes * 8 % from != 0)
      return reader.fail(field, "a read of " + Twine(config.outBytes) +
                                    " bytes is not whole elements of " +
                                    Twine(from) + " bits");
    unsigned out = config.outBytes * to / from;
    if (out > machine::flitBytes)
      return reader.fail(field, "a read of " + Twine(config.outBytes) +
                                    " bytes becomes " + Twine(out) +
                                    ", at most 32 are possible (TU-7)");
    config.outBytes = out;
    return Error::success();
  };
  if (isMain) {
    uint64_t mode = reader.take("fetch_mode");
    if (mode == value(codes::FetchMode::TableLookup)) {
      uint64_t table = reader.take("table_entry_size");
      config.lookup = findConversion(/*isLookup=*/true, table);
      if (!config.lookup)
        return reader.fail("table_entry_size",
                           "there is no table " + Twine(table));
      if (Error error = reader.expect("tables", 1, "one table is looked up"))
        return error;
      if (Error error = convert("table_entry_size", config.lookup))
        return error;
    } else if (mode != value(codes::FetchMode::Plain)) {
      return reader.fail("fetch_mode",
                         "not yet supported: value " + Twine(mode));
    }
  }
  uint64_t cast = reader.take("type_conversion");
  if (cast != value(codes::FetchCast::None)) {
    config.cast = findConversion(/*isLookup=*/false, cast);
    if (!config.cast)
      return reader.fail("type_conversion",
                         "not yet supported: value " + Twine(cast));
    if (config.lookup && config.lookup->to != config.cast->from)
      return reader.fail("type_conversion", "converts from " +
                                                toString(config.cast->from) +
                                                ", the table gives " +
                                                toString(config.lookup->to));
    if (Error error = convert("type_conversion", config.cast))
      return error;
  }
  // Fields of an idle zero point stay untaken and so must be 0.
  if (!config.subtractsZeroPoint())
    return Error::success();
  if (Error error = reader.expect("num_zero_points", 1,
                                  "type_conversion subtracts a zero point"))
    return error;
  config.zeroPoint = static_cast<int8_t>(reader.take("zero_point"));
  if (config.cast->from == ElementType::I4 &&
      (config.zeroPoint < -8 || config.zeroPoint > 7))
    return reader.fail("zero_point", "must be -8 to 7, found " +
                                         Twine(int(config.zeroPoint)) +
                                         " (TU-8)");
  return Error::success();
}

unsigned SwitchConfig::copies() const {
  switch (topology) {
  case codes::Topology::Broadcast01:
    return slice1 * slice0;
  case codes::Topology::Broadcast1:
    return slice1;
  case codes::Topology::TransposedBroadcast1:
    return slice0;
  case codes::Topology::CustomBroadcast:
    return sendersPerSlice;
  default:
    return 1;
  }
}

PacketSource SwitchConfig::source(unsigned slice, uint64_t index) const {
  // Digits of the slice that gets and of the packets it gets, outermost first.
  // A ring has its own first slice.
  unsigned ring = slice / (slice1 * slice0) * (slice1 * slice0);
  unsigned at = slice % (slice1 * slice0);
  auto take = [&](uint64_t digit) {
    uint64_t value = index % digit;
    index /= digit;
    return value;
  };
  auto from = [&](uint64_t digit1, uint64_t digit0) {
    return static_cast<unsigned>(ring + digit1 * slice0 + digit0);
  };
  switch (topology) {
  case codes::Topology::Broadcast01: {
    uint64_t digit0 = take(slice0), time = take(time0), digit1 = take(slice1);
    return {from(digit1, digit0), index * time0 + time};
  }
  case codes::Topology::Broadcast1: {
    uint64_t digit1 = take(slice1);
    return {from(digit1, at % slice0), index};
  }
  case codes::Topology::Transpose:
    return {from(at % slice1, at / slice1), index};
  case codes::Topology::InterTranspose: {
    uint64_t digit1 = take(slice1), time = take(time0);
    return {from(digit1, at % slice0),
            (index * slice1 + at / slice0) * time0 + time};
  }
  case codes::Topology::TransposedBroadcast1: {
    uint64_t digit0 = take(slice0);
    return {from(at % slice1, digit0), index};
  }
  case codes::Topology::CustomBroadcast: {
    uint64_t digit = take(sendersPerSlice);
    return {senders[(slice * sendersPerSlice + digit) % senders.size()], index};
  }
  default:
    return {slice, index};
  }
}

/// The masks that say whose packets each slice gets.
static Error decodeSenders(ImageReader &reader, const SfrImage &image,
                           llvm::ArrayRef<const SfrImage *> bySlice,
                           SwitchConfig &exchange) {
  StringRef field = "custom_snoop_bitmap_mask0";
  if (bySlice.empty())
    return reader.fail(field, "not yet supported: one setting for all slices");
  std::vector<const SfrField *> masks;
  for (unsigned k = 0; k < 4; ++k) {
    std::string name = "custom_snoop_bitmap_mask" + llvm::utostr(k);
    masks.push_back(sfrBlock(image.block()).find(name, 0));
    reader.take(name);
  }
  for (auto [slice, own] : llvm::enumerate(bySlice)) {
    // All else is the same in all slices.
    SfrImage common = *own;
    unsigned count = 0;
    for (unsigned k = 0; k < 4; ++k) {
      uint64_t mask = own->get(*masks[k]);
      count += llvm::popcount(mask);
      for (unsigned bit = 0; bit < 64; ++bit)
        if (mask >> bit & 1)
          exchange.senders.push_back(static_cast<uint8_t>(64 * k + bit));
      (void)common.set(masks[k]->name, 0, image.get(*masks[k]));
    }
    if (common.words() != image.words())
      return reader.fail("topology", "slice " + Twine(slice) +
                                         " is set in another way than others");
    if (!exchange.senders.empty() &&
        exchange.senders.back() >= exchange.slices())
      return reader.fail(field, "slice " + Twine(slice) +
                                    " gets packets of slice " +
                                    Twine(unsigned(exchange.senders.back())) +
                                    " of " + Twine(exchange.slices()));
    if (slice == 0)
      exchange.sendersPerSlice = count;
    if (count == 0 || count != exchange.sendersPerSlice)
      return reader.fail(field, "slice " + Twine(slice) + " gets packets of " +
                                    Twine(count) + " slices, slice 0 of " +
                                    Twine(exchange.sendersPerSlice));
  }
  return Error::success();
}

static Error decodeSwitch(ImageReader &reader, const SfrImage &image,
                          llvm::ArrayRef<const SfrImage *> bySlice,
                          FetchConfig &config) {
  using codes::Topology;
  uint64_t code = reader.take("topology");
  bool isCustom = code == value(Topology::CustomBroadcast);
  if (!bySlice.empty() && !isCustom)
    return reader.fail("topology", "not yet supported: registers of one slice");
  if (code == value(Topology::Forwarding))
    return Error::success();
  if (code > value(Topology::CustomBroadcast))
    return reader.fail("topology", "not yet supported: value " + Twine(code));
  SwitchConfig exchange;
  exchange.topology = static_cast<Topology>(code);
  unsigned logSum = 0;
  auto takePart = [&](StringRef field) {
    uint64_t log = reader.take(field);
    logSum += log;
    return 1u << log; // 4 bits.
  };
  exchange.slice2 = takePart("outer_slice_log_size");
  if (!isCustom)
    exchange.slice1 = takePart("outer_dim1_log_size");
  exchange.slice0 = takePart("outer_dim0_log_size");
  if (logSum < 6 || logSum > 8)
    return reader.fail("outer_slice_log_size",
                       "the parts of the slices multiply to 2^" +
                           Twine(logSum) + ", a cluster has 64, 128 or 256");
  if (isCustom)
    if (Error error = decodeSenders(reader, image, bySlice, exchange))
      return error;
  bool splitsTime = exchange.topology == Topology::Broadcast01 ||
                    exchange.topology == Topology::InterTranspose;
  if (splitsTime) {
    exchange.time0 =
        static_cast<uint32_t>(reader.take("outer_dim0_chunk_size"));
    uint64_t split = exchange.time0;
    if (exchange.topology == Topology::InterTranspose)
      split *= exchange.slice1;
    if (split == 0 || config.packets % split != 0)
      return reader.fail("outer_dim0_chunk_size",
                         Twine(config.packets) +
                             " packets are no multiple of " + Twine(split) +
                             " (TU-15)");
  }
  if (config.packetBytes % machine::accessWordBytes != 0)
    return reader.fail("words_per_packet",
                       "the switch moves words of 8 bytes, packets have " +
                           Twine(config.packetBytes) + " (TU-3)");
  uint64_t flits = uint64_t(config.flits) * exchange.copies();
  if (flits > UINT32_MAX)
    return reader.fail("flit_count", "the switch makes " + Twine(flits) +
                                         " flits of it, which are too many");
  config.exchange = exchange;
  config.flits = static_cast<uint32_t>(flits);
  return Error::success();
}

Expected<FetchConfig>
rngd::decodeFetch(const SfrImage &image,
                  llvm::ArrayRef<const SfrImage *> bySlice) {
  ImageReader reader(image);
  bool isMain = image.block() == Block::FetchUnitMainContext;
  if (isMain)
    if (Error error = reader.unsupported({"last_dim", "channel_config"}))
      return error;

  FetchConfig config;
  config.base = static_cast<uint32_t>(reader.take("base"));
  config.readBytes = machine::subFetchBytes;
  if (isMain) {
    config.readBytes = static_cast<unsigned>(reader.take("fetch_size"));
    if (config.readBytes < 1 || config.readBytes > machine::mainFetchBytes)
      return reader.fail("fetch_size",
                         "must be 1 to 32, found " + Twine(config.readBytes));
  }
  Expected<HardwareLoops> loops = reader.takeLoops("limits", "strides");
  if (!loops)
    return loops.takeError();
  config.loops = *loops;
  // Addresses wrap: the upper half of the strides steps back (assumed).
  for (HardwareLoop &loop : config.loops)
    if (loop.stride >> (machine::sequencerStrideBits - 1))
      loop.stride -= 1 << machine::sequencerStrideBits;
  if (Error error = decodeAdapter(reader, isMain, config))
    return error;

  std::optional<uint64_t> reads = countSteps(config.loops);
  // 2^40 steps are beyond what the 24 bits of flit_count can ask for.
  if (!reads || *reads > 1ull << 40)
    return reader.fail("limits", "the product of the loops is too large");
  config.reads = *reads;
  if (Error error =
          checkRange(reader, "base", config.base, config.loops,
                     config.readBytes, machine::dmSliceBytes, "the slice"))
    return error;

  // Packets are as many as flit_count says; the reads of each fill its words,
  // the last one perhaps in part.
  uint64_t words = reader.take("words_per_packet");
  if (words == 0)
    return reader.fail("words_per_packet", "must not be 0");
  uint64_t wordBytes = machine::accessWordBytes;
  uint64_t flitsPerPacket =
      llvm::divideCeil(words * wordBytes, machine::flitBytes);
  uint64_t flitCount = reader.take("flit_count");
  uint64_t packets = flitCount / flitsPerPacket;
  if (packets == 0 || flitCount % flitsPerPacket != 0 ||
      config.reads % packets != 0)
    return reader.fail("flit_count",
                       "the " + Twine(config.reads) +
                           " reads of the loops make no packets of " +
                           Twine(flitsPerPacket) + " flits out of " +
                           Twine(flitCount));
  uint64_t packetBytes = config.reads / packets * config.outBytes;
  if (llvm::divideCeil(packetBytes, wordBytes) != words)
    return reader.fail("words_per_packet",
                       "a packet has " + Twine(packetBytes) + " bytes, found " +
                           Twine(words) + " words of 8");
  config.packets = static_cast<uint32_t>(packets);
  config.packetBytes = static_cast<uint32_t>(packetBytes);
  config.flitsPerPacket = static_cast<uint32_t>(flitsPerPacket);
  config.flits = static_cast<uint32_t>(flitCount);
  if (Error error = decodeSwitch(reader, image, bySlice, config))
    return error;
  if (Error error = reader.finish())
    return error;
  return config;
}
