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

namespace {
/// Bits of an element before and after a fetch cast.
struct CastWidths {
  unsigned in;
  unsigned out;
};
} // namespace

static std::optional<CastWidths> castWidths(uint64_t code) {
  using codes::FetchCast;
  switch (static_cast<FetchCast>(code)) {
  case FetchCast::None:
    return CastWidths{8, 8};
  case FetchCast::I4ToI32:
    return CastWidths{4, 32};
  case FetchCast::I8ToI32:
  case FetchCast::F8E4M3ToF32:
  case FetchCast::F8E5M2ToF32:
    return CastWidths{8, 32};
  case FetchCast::I16ToI32:
  case FetchCast::BF16ToF32:
    return CastWidths{16, 32};
  case FetchCast::F32ToBF16:
    return CastWidths{32, 16};
  case FetchCast::I4ToI5:
  case FetchCast::I8ToI9:
    break;
  }
  return std::nullopt;
}

Expected<FetchConfig> rngd::decodeFetch(const SfrImage &image) {
  ImageReader reader(image);
  bool isMain = image.block() == Block::FetchUnitMainContext;
  if (isMain)
    if (Error error = reader.unsupported(
            {"fetch_mode", "tables", "last_dim", "channel_config"}))
      return error;
  if (Error error = reader.unsupported({"num_zero_points", "topology"}))
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

  uint64_t cast = reader.take("type_conversion");
  std::optional<CastWidths> widths = castWidths(cast);
  if (!widths)
    return reader.fail("type_conversion",
                       "not yet supported: value " + Twine(cast));
  config.cast = static_cast<codes::FetchCast>(cast);
  if (config.readBytes * 8 % widths->in != 0)
    return reader.fail("type_conversion",
                       "a read of " + Twine(config.readBytes) +
                           " bytes is not whole elements of " +
                           Twine(widths->in) + " bits");
  config.outBytes = config.readBytes * widths->out / widths->in;
  if (config.outBytes > machine::flitBytes)
    return reader.fail("type_conversion",
                       "a read of " + Twine(config.readBytes) +
                           " bytes becomes " + Twine(config.outBytes) +
                           ", at most 32 are possible (TU-7)");

  std::optional<uint64_t> reads = countSteps(config.loops);
  // 2^40 steps are beyond what the 24 bits of flit_count can ask for.
  if (!reads || *reads > 1ull << 40)
    return reader.fail("limits", "the product of the loops is too large");
  config.reads = *reads;
  if (Error error =
          checkRange(reader, "base", config.base, config.loops,
                     config.readBytes, machine::dmSliceBytes, "the slice"))
    return error;

  uint64_t words = reader.take("words_per_packet");
  if (words == 0)
    return reader.fail("words_per_packet", "must not be 0");
  uint64_t packetBytes = words * 8;
  uint64_t total = config.reads * config.outBytes;
  if (packetBytes % config.outBytes != 0 || total % packetBytes != 0)
    return reader.fail(
        "words_per_packet",
        "packets of " + Twine(packetBytes) +
            " bytes do not hold whole reads: " + Twine(config.reads) +
            " reads give " + Twine(config.outBytes) + " bytes each");
  uint64_t packets = total / packetBytes;
  uint64_t flitsPerPacket = llvm::divideCeil(packetBytes, machine::flitBytes);
  uint64_t flits = packets * flitsPerPacket;
  uint64_t flitCount = reader.take("flit_count");
  if (flits != flitCount)
    return reader.fail("flit_count", "the loops give " + Twine(packets) +
                                         " packets of " +
                                         Twine(flitsPerPacket) +
                                         " flits, found " + Twine(flitCount));
  config.packets = static_cast<uint32_t>(packets);
  config.packetBytes = static_cast<uint32_t>(packetBytes);
  config.flitsPerPacket = static_cast<uint32_t>(flitsPerPacket);
  config.flits = static_cast<uint32_t>(flits);
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
    return reader.fail("row_count", Twine(config.rows) + " rows, fetch gives " +
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
  if (Error error = isMain ? reader.unsupported({"type_conversion"})
                           : reader.unsupported({"mode"}))
    return error;
  config.keptBytes = static_cast<unsigned>(reader.take(sizeField));
  if (config.keptBytes % machine::minCommitBytes != 0 ||
      config.keptBytes == 0 || config.keptBytes > machine::flitBytes)
    return reader.fail(sizeField, "must be 8, 16, 24 or 32, found " +
                                      Twine(config.keptBytes) + " (TU-73)");
  config.writeBytes = isMain ? config.keptBytes : machine::subCommitBytes;
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
  uint64_t writesPerFlit = config.keptBytes / config.writeBytes;
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

/// Routes that the simulator and the disassembler understand.
static bool isKnownRoute(uint64_t route, codes::ExecTarget context) {
  using codes::bit;
  using codes::RouteUnit;
  if (context == codes::ExecTarget::Sub)
    return route == codes::routeTrfLoad || route == codes::routeVrfLoad ||
           route == codes::routeDmCopy;
  uint64_t optional =
      bit(RouteUnit::DotProductEngine) | bit(RouteUnit::VectorEngine);
  return (route & ~optional) == bit(RouteUnit::CommitUnit);
}

Expected<ExecConfig>
rngd::decodeExec(const TucCommand &exec,
                 llvm::function_ref<const SfrImage *(Block)> image) {
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
      *image(isMain ? Block::FetchUnitMainContext : Block::SubFetchUnit));
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
    auto part = decodeVector(*image(Block::VectorRouteUnitMainContext),
                             *image(Block::VectorReduceUnitMainContext),
                             *image(Block::VectorArithmeticUnitMainContext),
                             config.flitsOut(), type);
    if (!part)
      return part.takeError();
    config.vector = std::move(*part);
  }
  if (onRoute(codes::RouteUnit::CommitUnit)) {
    auto part = decodeCommit(
        *image(isMain ? Block::CommitUnitMainContext : Block::SubCommitUnit),
        config.flitsOut());
    if (!part)
      return part.takeError();
    config.commit = *part;
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
        decodeVrfWrite(*image(Block::VectorRegisterFile), config.fetch.flits);
    if (!part)
      return part.takeError();
    config.vrf = *part;
  }
  return config;
}
