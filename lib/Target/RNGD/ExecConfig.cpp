//===- ExecConfig.cpp - Route of an exec ----------------------------------===//
//
// Decodes the register images of one exec: which blocks take part, and what
// they owe one another. Each unit has a file of its own.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Target/RNGD/ExecConfig.h"

#include "EncodingSupport.h"
#include "ImageReader.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/ADT/StringExtras.h"

using namespace furiosa;
using namespace furiosa::rngd;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

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
         block == Block::VectorArithmeticUnitMainContext ||
         block == Block::TransposeEngineMainContext;
}

/// Routes that the simulator and the disassembler understand.
static bool isKnownRoute(uint64_t route, codes::ExecTarget context) {
  using codes::bit;
  using codes::RouteUnit;
  if (context == codes::ExecTarget::Sub) {
    uint64_t end = route & ~bit(RouteUnit::VectorEngine);
    return route == codes::routeTrfLoad || end == codes::routeVrfLoad ||
           (end & ~bit(RouteUnit::TransposeEngine)) == codes::routeDmCopy;
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
      firstAddress(fetch.base, fetch.loops) <
          int64_t(lastAddress(commit.base, commit.loops) + commit.writeBytes) &&
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
