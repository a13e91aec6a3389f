//===- ExecConfig.cpp - Route, fetch, register files, commit --------------===//
//
// Decodes the register images of one exec, apart from contraction and vector
// engine, which have files of their own.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Target/RNGD/ExecConfig.h"

#include "ImageReader.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/ADT/StringExtras.h"

using namespace furiosa;
using namespace furiosa::rngd;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

static Error makeError(const Twine &message) {
  return llvm::createStringError(message);
}

static Error checkMultiple(const ImageReader &reader, StringRef field,
                           unsigned index, uint64_t value, unsigned unit) {
  if (value % unit == 0)
    return Error::success();
  return reader.fail(field, index,
                     "must be a multiple of " + Twine(unit) + ", found " +
                         Twine(value));
}

//===----------------------------------------------------------------------===//
// Fetch
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Register files
//===----------------------------------------------------------------------===//

Expected<TrfWriteConfig> rngd::decodeTrfWrite(const SfrImage &image,
                                              uint64_t flits) {
  ImageReader reader(image);
  TrfWriteConfig config;
  config.lanes = static_cast<unsigned>(reader.take("mac_rows"));
  if (config.lanes > 8 || !llvm::isPowerOf2_32(config.lanes))
    return reader.fail("mac_rows",
                       "must be 1, 2, 4 or 8, found " + Twine(config.lanes));
  config.rowBase = static_cast<uint32_t>(reader.take("row_base"));
  config.rowsPerLane = static_cast<uint32_t>(reader.take("row_count"));
  for (StringRef field : {"flits_per_period", "valid_flits_per_period"})
    if (uint64_t value = reader.take(field); value != 1)
      return reader.fail(field, value == 0 ? Twine("must not be 0")
                                           : "not yet supported: value " +
                                                 Twine(value));
  if (Error error = reader.unsupported(
          {"mode", "skip_flit_count", "mac_row_interleaving", "flit_count"}))
    return error;
  if (uint64_t(config.rowsPerLane) * config.lanes != flits)
    return reader.fail("row_count",
                       Twine(config.lanes) + " lanes of " +
                           Twine(config.rowsPerLane) + " rows take " +
                           Twine(config.lanes * uint64_t(config.rowsPerLane)) +
                           " flits, fetch gives " + Twine(flits));
  uint64_t rows = machine::trfSliceBytes / machine::trfRowBytes / config.lanes;
  if (config.rowBase + config.rowsPerLane > rows)
    return reader.fail("row_base",
                       "rows up to " +
                           Twine(config.rowBase + config.rowsPerLane - 1) +
                           " of a lane that has " + Twine(rows));
  if (Error error = reader.finish())
    return error;
  return config;
}

Expected<VrfWriteConfig> rngd::decodeVrfWrite(const SfrImage &image,
                                              uint64_t flits) {
  ImageReader reader(image);
  VrfWriteConfig config;
  config.rowBase = static_cast<uint32_t>(reader.take("row_base"));
  config.rows = static_cast<uint32_t>(reader.take("row_count"));
  if (config.rows != flits)
    return reader.fail("row_count", Twine(config.rows) +
                                        " rows, the stream has " +
                                        Twine(flits) + " flits");
  if (uint64_t stride = reader.take("row_stride"); stride != 1)
    return reader.fail("row_stride", stride == 0 ? Twine("must not be 0")
                                                 : "not yet supported: value " +
                                                       Twine(stride));
  if (Error error = reader.unsupported({"skip_flit_count"}))
    return error;
  if (config.rowBase + config.rows > machine::vrfRows)
    return reader.fail("row_base", "rows up to " +
                                       Twine(config.rowBase + config.rows - 1) +
                                       " of a register file that has " +
                                       Twine(machine::vrfRows));
  if (Error error = reader.finish())
    return error;
  return config;
}

//===----------------------------------------------------------------------===//
// Transpose
//===----------------------------------------------------------------------===//

Expected<TransposeConfig> rngd::decodeTranspose(const SfrImage &image,
                                                uint64_t flits) {
  ImageReader reader(image);
  TransposeConfig config;
  // Codes count the widths from 4 bits on.
  config.bits = 4u << reader.take("data_type");
  unsigned maxRows = machine::transposeRowBits / config.bits;
  config.rows = static_cast<unsigned>(reader.take("fetch_in_rows"));
  if (config.rows < 1 || config.rows > maxRows)
    return reader.fail("fetch_in_rows", "must be 1 to " + Twine(maxRows) +
                                            " for " + Twine(config.bits) +
                                            " bits, found " +
                                            Twine(config.rows) + " (TU-68)");
  unsigned cells = transposeCells(config.bits);
  auto columns = static_cast<unsigned>(reader.take("fetch_in_cols"));
  if (columns < cells || columns > machine::transposeColumns ||
      !llvm::isPowerOf2_32(columns))
    return reader.fail("fetch_in_cols", "must be a power of two from " +
                                            Twine(cells) + " to 32, found " +
                                            Twine(columns) + " (TU-69)");
  config.flitsPerRow = columns / cells;
  config.outRows = static_cast<unsigned>(reader.take("fetch_out_rows"));
  if (config.outRows < 1 || config.outRows > columns)
    return reader.fail("fetch_out_rows", "must be 1 to the " + Twine(columns) +
                                             " of fetch_in_cols, found " +
                                             Twine(config.outRows) +
                                             " (TU-69)");
  uint64_t perBatch = uint64_t(config.rows) * config.flitsPerRow;
  if (flits % perBatch != 0)
    return reader.fail("fetch_in_rows", Twine(flits) +
                                            " flits are no batches of " +
                                            Twine(perBatch));
  if (Error error = reader.finish())
    return error;
  return config;
}

//===----------------------------------------------------------------------===//
// Commit
//===----------------------------------------------------------------------===//

/// Every cell of the data memory is written at most once (TU-77). `granules`
/// counts the slice in units of the smallest write.
static Error checkWrittenOnce(const ImageReader &reader,
                              const CommitConfig &config) {
  const unsigned unit = machine::dmWriteGranule;
  llvm::BitVector written(machine::dmSliceBytes / unit);
  LoopCounter counter(config.base, config.loops);
  for (uint64_t step = 0; step < config.steps; ++step, counter.next()) {
    uint64_t first = counter.address() / unit;
    for (uint64_t g = first; g < first + config.writeBytes / unit; ++g) {
      if (written[g])
        return reader.fail("strides", "byte " + Twine(g * unit) +
                                          " is written more than once (TU-77)");
      written.set(g);
    }
  }
  return Error::success();
}

Expected<CommitConfig> rngd::decodeCommit(const SfrImage &image,
                                          uint64_t flits) {
  ImageReader reader(image);
  bool isMain = image.block() == Block::CommitUnitMainContext;
  CommitConfig config;
  StringRef sizeField = isMain ? "commit_size" : "packet_valid_count";
  if (isMain) {
    uint64_t cast = reader.take("type_conversion");
    if (cast > value(codes::CommitCast::F32ToBF16Relu))
      return reader.fail("type_conversion", "unknown code " + Twine(cast));
    config.cast = static_cast<codes::CommitCast>(cast);
  } else if (Error error = reader.unsupported({"mode"})) {
    return error;
  }
  config.keptBytes = static_cast<unsigned>(reader.take(sizeField));
  if (config.keptBytes % machine::minCommitBytes != 0 ||
      config.keptBytes == 0 || config.keptBytes > machine::flitBytes)
    return reader.fail(sizeField, "must be 8, 16, 24 or 32, found " +
                                      Twine(config.keptBytes) + " (TU-73)");
  config.writeBytes = isMain ? config.keptBytes : machine::subCommitBytes;
  unsigned writesPerFlit = config.keptBytes / config.writeBytes;
  if (config.cast != codes::CommitCast::None) {
    config.writeBytes /= 2;
    if (config.writeBytes % machine::minCommitBytes != 0)
      return reader.fail(sizeField, "a cast takes 16 or 32 bytes, found " +
                                        Twine(config.keptBytes) + " (TU-75)");
  }
  if (Error error =
          reader.expect("commit_in_size",
                        isMain ? machine::flitBytes : machine::subCommitBytes,
                        "bytes that the unit takes at a time"))
    return error;

  config.base = static_cast<uint32_t>(reader.take("base"));
  Expected<HardwareLoops> loops = reader.takeLoops("limits", "strides");
  if (!loops)
    return loops.takeError();
  config.loops = *loops;
  if (Error error = checkMultiple(reader, "base", 0, config.base,
                                  machine::dmWriteGranule))
    return error;
  for (unsigned k = 0; k < 8; ++k)
    if (Error error =
            checkMultiple(reader, "strides", k, config.loops[k].stride,
                          machine::dmWriteGranule))
      return error;
  if (Error error =
          checkRange(reader, "base", config.base, config.loops,
                     config.writeBytes, machine::dmSliceBytes, "the slice"))
    return error;

  std::optional<uint64_t> steps = countSteps(config.loops);
  // Before the comparison: flits beyond this could not be committed once each.
  uint64_t most = machine::dmSliceBytes / config.writeBytes;
  if (!steps || *steps > most)
    return reader.fail("limits", "the loops write more than the slice holds");
  config.steps = *steps;
  if (flits > most || config.steps != flits * writesPerFlit)
    return reader.fail("limits", "the loops make " + Twine(config.steps) +
                                     " writes, the stream has " + Twine(flits) +
                                     " flits of " + Twine(writesPerFlit));
  if (Error error = checkWrittenOnce(reader, config))
    return error;
  for (unsigned k = 0; k < 4; ++k)
    config.sliceEnable[k] =
        reader.take("slice_enable_bitmap_mask" + llvm::utostr(k));
  if (Error error = reader.finish())
    return error;
  return config;
}

//===----------------------------------------------------------------------===//
// Exec
//===----------------------------------------------------------------------===//

Block rngd::routeBlock(codes::ExecTarget context) {
  return context == codes::ExecTarget::Main
             ? Block::OperationDataPathMainContext
             : Block::OperationDataPath;
}

llvm::SmallVector<Block, 8> rngd::blocksOnRoute(uint64_t route,
                                                codes::ExecTarget context) {
  using codes::bit;
  using codes::RouteUnit;
  bool isMain = context == codes::ExecTarget::Main;
  llvm::SmallVector<Block, 8> blocks;
  blocks.push_back(isMain ? Block::FetchUnitMainContext : Block::SubFetchUnit);
  blocks.push_back(routeBlock(context));
  if (route & bit(RouteUnit::TrfWrite))
    blocks.push_back(Block::DotProductEngineRegisterFile);
  if (route & bit(RouteUnit::RegisterConfig))
    blocks.push_back(Block::RegisterConfig);
  if (route & bit(RouteUnit::VrfWrite))
    blocks.push_back(Block::VectorRegisterFile);
  if (route & bit(RouteUnit::DotProductEngine))
    blocks.push_back(Block::DotProductEngineMainContext);
  if (route & bit(RouteUnit::TransposeEngine))
    blocks.push_back(Block::TransposeEngineMainContext);
  if (route & bit(RouteUnit::CommitUnit))
    blocks.push_back(isMain ? Block::CommitUnitMainContext
                            : Block::SubCommitUnit);
  if (route & bit(RouteUnit::VectorEngine)) {
    blocks.push_back(Block::VectorRouteUnitMainContext);
    blocks.push_back(Block::VectorReduceUnitMainContext);
    blocks.push_back(Block::VectorArithmeticUnitMainContext);
  }
  return blocks;
}

bool rngd::isShared(Block block) {
  return block == Block::VectorRouteUnitMainContext ||
         block == Block::VectorReduceUnitMainContext ||
         block == Block::VectorArithmeticUnitMainContext;
}

/// Routes that the simulator and the disassembler understand.
static bool isKnownRoute(uint64_t route, codes::ExecTarget context) {
  using codes::bit;
  using codes::RouteUnit;
  if (context == codes::ExecTarget::Sub) {
    uint64_t end = route & ~bit(RouteUnit::VectorEngine);
    return route == codes::routeTrfLoad || end == codes::routeVrfLoad ||
           end == codes::routeDmCopy;
  }
  uint64_t optional = bit(RouteUnit::DotProductEngine) |
                      bit(RouteUnit::VectorEngine) |
                      bit(RouteUnit::TransposeEngine);
  return (route & ~optional) == bit(RouteUnit::CommitUnit) ||
         route == codes::routeTrfLoad || route == codes::routeVrfLoad ||
         // Results pass the vector engine on the way to its register file.
         (route & ~bit(RouteUnit::DotProductEngine)) ==
             (codes::routeVrfLoad | bit(RouteUnit::VectorEngine));
}

/// What commit asks of the units in front of it.
static Error checkCommit(const ImageReader &reader, const ExecConfig &config,
                         std::optional<ElementType> type) {
  const CommitConfig &commit = *config.commit;
  if (commit.cast != codes::CommitCast::None &&
      (type == ElementType::I32 ||
       (config.vector &&
        config.vector->cast != codes::CastCompactionMode::Off)))
    return reader.fail("type_conversion", "takes f32, the stream is not");
  // Slices fetch from one another, in no order that is known.
  const FetchConfig &fetch = config.fetch;
  if (fetch.exchange &&
      fetch.base < lastAddress(commit.base, commit.loops) + commit.writeBytes &&
      commit.base < lastAddress(fetch.base, fetch.loops) + fetch.readBytes)
    return reader.fail("base", "not yet supported: an exchange between slices "
                               "that commits into what it fetches");
  return Error::success();
}

Expected<ExecConfig>
rngd::decodeExec(const TucCommand &exec,
                 llvm::function_ref<const SfrImage *(Block)> image,
                 llvm::ArrayRef<const SfrImage *> bySlice) {
  if (exec.op() != TucOp::Exec)
    return makeError("not an exec command");
  ExecConfig config;
  config.context =
      static_cast<codes::ExecTarget>(exec.get("target_context").value_or(0));
  bool isMain = config.context == codes::ExecTarget::Main;

  auto neverWritten = [](Block block) {
    return makeError(toString(block) +
                     " is on the route but was never written");
  };
  const SfrImage *routeImage = image(routeBlock(config.context));
  if (!routeImage)
    return neverWritten(routeBlock(config.context));

  ImageReader reader(*routeImage);
  StringRef field = isMain ? "main_context" : "data_path_route_sub_context";
  config.route = reader.take(field);
  uint64_t bitmap = exec.get("subunit_bitmap").value_or(0);
  if (isMain)
    if (Error error = reader.unsupported({"channel_config"}))
      return error;
  if (uint64_t expected = codes::subUnitsOf(config.route, config.context);
      bitmap != expected)
    return reader.fail(field, "route 0x" + llvm::utohexstr(config.route) +
                                  " goes with subunit_bitmap 0x" +
                                  llvm::utohexstr(expected) + ", exec has 0x" +
                                  llvm::utohexstr(bitmap));
  if (!isKnownRoute(config.route, config.context))
    return reader.fail(field, "not yet supported: route 0x" +
                                  llvm::utohexstr(config.route));
  if (Error error = reader.finish())
    return error;

  for (Block block : blocksOnRoute(config.route, config.context))
    if (!image(block))
      return neverWritten(block);

  auto fetch = decodeFetch(
      *image(isMain ? Block::FetchUnitMainContext : Block::SubFetchUnit),
      bySlice);
  if (!fetch)
    return fetch.takeError();
  config.fetch = *fetch;
  std::optional<ElementType> type;
  auto onRoute = [&](codes::RouteUnit unit) {
    return (config.route & codes::bit(unit)) != 0;
  };
  if (onRoute(codes::RouteUnit::DotProductEngine)) {
    auto part = decodeDotProduct(*image(Block::DotProductEngineMainContext),
                                 config.fetch);
    if (!part)
      return part.takeError();
    config.contraction = *part;
    type = isFloat(part->type) ? ElementType::F32 : ElementType::I32;
  }
  if (onRoute(codes::RouteUnit::VectorEngine)) {
    // Its operations take bits as they are, so either may leave it.
    type.reset();
    auto part = decodeVector(*image(Block::VectorRouteUnitMainContext),
                             *image(Block::VectorReduceUnitMainContext),
                             *image(Block::VectorArithmeticUnitMainContext),
                             config.flitsOut());
    if (!part)
      return part.takeError();
    config.vector = std::move(*part);
  }
  uint64_t flits = config.flitsOut();
  if (onRoute(codes::RouteUnit::TransposeEngine)) {
    auto part =
        decodeTranspose(*image(Block::TransposeEngineMainContext), flits);
    if (!part)
      return part.takeError();
    config.transpose = *part;
    flits = flits / (part->rows * part->flitsPerRow) * part->outRows;
  }
  if (onRoute(codes::RouteUnit::CommitUnit)) {
    const SfrImage &commit =
        *image(isMain ? Block::CommitUnitMainContext : Block::SubCommitUnit);
    auto part = decodeCommit(commit, flits);
    if (!part)
      return part.takeError();
    config.commit = *part;
    if (Error error = checkCommit(ImageReader(commit), config, type))
      return error;
  }
  if (onRoute(codes::RouteUnit::TrfWrite)) {
    auto part = decodeTrfWrite(*image(Block::DotProductEngineRegisterFile),
                               config.fetch.flits);
    if (!part)
      return part.takeError();
    config.trf = *part;
  }
  if (onRoute(codes::RouteUnit::VrfWrite)) {
    auto part =
        decodeVrfWrite(*image(Block::VectorRegisterFile), config.flitsOut());
    if (!part)
      return part.takeError();
    config.vrf = *part;
    if (config.vector && config.vector->cast != codes::CastCompactionMode::Off)
      return ImageReader(*image(Block::VectorRouteUnitMainContext))
          .fail("cast_compaction_mode",
                "elements of the vector register file have 32 bits");
  }
  return config;
}

llvm::Expected<FillConfig> rngd::decodeFill(const TucCommand &itos) {
  uint64_t begin = *itos.get("address_begin"), end = *itos.get("address_end");
  if (begin >= end || end > machine::dmSliceBytes)
    return llvm::createStringError(
        "itos: address_end: bytes " + llvm::Twine(begin) + " to " +
        llvm::Twine(end) + " are none of the data memory of a slice");
  for (auto [field, expected] :
       {std::pair<llvm::StringRef, uint64_t>("limit1", 1),
        {"stride1", 0},
        {"dim1_log_size", 0}})
    if (itos.get(field) != expected)
      return llvm::createStringError("itos: " + field +
                                     ": not yet supported: a second loop");
  return FillConfig{static_cast<uint32_t>(begin), static_cast<uint32_t>(end),
                    static_cast<uint32_t>(*itos.get("value"))};
}
