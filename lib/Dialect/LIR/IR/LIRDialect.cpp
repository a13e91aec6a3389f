//===- LIRDialect.cpp - Types and attributes of lir -----------------------===//
//
// Registration, text forms and verifiers of the lir types and attributes.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/LIR/IR/LIR.h"
#include "furiosa/Target/RNGD/HbmCapacity.h"

#include "mlir/IR/Builders.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::lir;

#include "furiosa/Dialect/LIR/IR/LIRDialect.cpp.inc"

#include "furiosa/Dialect/LIR/IR/LIREnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "furiosa/Dialect/LIR/IR/LIRAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "furiosa/Dialect/LIR/IR/LIRTypes.cpp.inc"

void LIRDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "furiosa/Dialect/LIR/IR/LIRAttributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "furiosa/Dialect/LIR/IR/LIRTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "furiosa/Dialect/LIR/IR/LIROps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "furiosa/Dialect/LIR/IR/LIRVectorOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Loop arithmetic
//===----------------------------------------------------------------------===//

std::optional<int64_t> lir::getProduct(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes)
    if (llvm::MulOverflow(product, size, product))
      return std::nullopt;
  return product;
}

std::optional<int64_t> lir::getReach(ArrayRef<int64_t> sizes,
                                     ArrayRef<int64_t> strides) {
  int64_t reach = 0;
  for (auto [size, stride] : llvm::zip(sizes, strides)) {
    int64_t last;
    if (llvm::MulOverflow<int64_t>(size - 1, stride, last) ||
        llvm::AddOverflow(reach, last, reach))
      return std::nullopt;
  }
  return reach;
}

bool lir::isRemoteAddress(int64_t address) {
  return address >= int64_t(rngd::machine::remoteBase);
}

//===----------------------------------------------------------------------===//
// MemType
//===----------------------------------------------------------------------===//

Type MemType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  StringRef keyword;
  SMLoc tierLoc = parser.getCurrentLocation();
  int64_t bytes = 0;
  int64_t lanes = 1;
  if (parser.parseKeyword(&keyword))
    return {};
  std::optional<Tier> tier = symbolizeTier(keyword);
  if (!tier) {
    parser.emitError(tierLoc, "expected a memory tier: hbm, dm, trf or vrf");
    return {};
  }
  if (parser.parseComma() || parser.parseInteger(bytes))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("lanes") || parser.parseInteger(lanes)))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<MemType>(loc, parser.getContext(), *tier, bytes,
                                    lanes);
}

void MemType::print(AsmPrinter &printer) const {
  printer << "<" << stringifyTier(getTier()) << ", " << getBytes();
  if (getLanes() != 1)
    printer << ", lanes " << getLanes();
  printer << ">";
}

int64_t MemType::getCapacity(Tier tier) {
  switch (tier) {
  case Tier::Hbm:
    return rngd::machine::hbmOperandBytes;
  case Tier::Dm:
    return rngd::machine::dmSliceBytes;
  case Tier::Trf:
    return rngd::machine::trfSliceBytes;
  case Tier::Vrf:
    return rngd::machine::vrfSliceBytes;
  }
  return 0;
}

LogicalResult MemType::verify(function_ref<InFlightDiagnostic()> emitError,
                              Tier tier, int64_t bytes, int64_t lanes) {
  if (bytes < 1)
    return emitError() << "LIR-1: a buffer holds at least 1 byte, found "
                       << bytes;
  // The rules by which the levels above call the same limits.
  StringRef rule = tier == Tier::Hbm   ? "LIR-1"
                   : tier == Tier::Dm  ? "MM-5"
                   : tier == Tier::Trf ? "TU-31"
                                       : "TU-35";
  if (bytes > getCapacity(tier))
    return emitError() << rule << ": " << stringifyTier(tier) << " holds "
                       << getCapacity(tier) << " bytes, found " << bytes;
  if (tier == Tier::Trf) {
    if (lanes != 1 && lanes != 2 && lanes != 4 && lanes != 8)
      return emitError() << "TU-30: lanes must be 1, 2, 4 or 8, found "
                         << lanes;
    int64_t row = rngd::machine::trfRowBytes;
    if (bytes % (lanes * row) != 0)
      return emitError() << "LIR-2: a trf buffer of " << lanes
                         << " lanes holds a multiple of " << lanes * row
                         << " bytes, found " << bytes;
    return success();
  }
  if (lanes != 1)
    return emitError() << "LIR-2: only trf has lanes, found lanes " << lanes
                       << " in " << stringifyTier(tier);
  if (tier == Tier::Vrf && bytes % rngd::machine::vrfRowBytes != 0)
    return emitError() << "LIR-2: a vrf buffer holds a multiple of "
                       << rngd::machine::vrfRowBytes << " bytes, found "
                       << bytes;
  return success();
}

//===----------------------------------------------------------------------===//
// EngineAttr
//===----------------------------------------------------------------------===//

Attribute EngineAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  int64_t cluster = 0, pe = 0, source = 0, target = 0, packet = 0;
  int64_t list = 0, keys = 0;
  SmallVector<int64_t> sizes, sourceStrides, targetStrides;
  auto parseLoop = [&]() -> ParseResult {
    return failure(parser.parseInteger(sizes.emplace_back()) ||
                   parser.parseColon() ||
                   parser.parseInteger(sourceStrides.emplace_back()) ||
                   parser.parseColon() ||
                   parser.parseInteger(targetStrides.emplace_back()));
  };
  if (parser.parseLess() || parser.parseKeyword("cluster") ||
      parser.parseInteger(cluster) || parser.parseKeyword("pe") ||
      parser.parseInteger(pe) || parser.parseKeyword("from") ||
      parser.parseInteger(source) || parser.parseKeyword("to") ||
      parser.parseInteger(target) || parser.parseKeyword("loops") ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseLoop) ||
      parser.parseKeyword("packet") || parser.parseInteger(packet))
    return {};
  if (succeeded(parser.parseOptionalKeyword("list")) &&
      (parser.parseInteger(list) || parser.parseKeyword("keys") ||
       parser.parseInteger(keys)))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<EngineAttr>(loc, parser.getContext(), cluster, pe,
                                       source, target, sizes, sourceStrides,
                                       targetStrides, packet, list, keys);
}

void EngineAttr::print(AsmPrinter &printer) const {
  printer << "<cluster " << getCluster() << " pe " << getPe() << " from "
          << getSource() << " to " << getTarget() << " loops [";
  llvm::interleaveComma(
      llvm::zip(getSizes(), getSourceStrides(), getTargetStrides()), printer,
      [&](auto loop) {
        printer << std::get<0>(loop) << " : " << std::get<1>(loop) << " : "
                << std::get<2>(loop);
      });
  printer << "] packet " << getPacket();
  if (getKeys() != 0)
    printer << " list " << getList() << " keys " << getKeys();
  printer << ">";
}

LogicalResult EngineAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t cluster, int64_t pe, int64_t source,
                                 int64_t target, ArrayRef<int64_t> sizes,
                                 ArrayRef<int64_t> sourceStrides,
                                 ArrayRef<int64_t> targetStrides,
                                 int64_t packet, int64_t list, int64_t keys) {
  if (sizes.size() != sourceStrides.size() ||
      sizes.size() != targetStrides.size())
    return emitError() << "LIR-3: " << sizes.size() << " loop sizes, but "
                       << sourceStrides.size() << " source strides and "
                       << targetStrides.size() << " target strides";
  if (cluster < 0 || cluster >= int64_t(rngd::machine::clusters))
    return emitError() << "LIR-4: cluster must be 0 to "
                       << rngd::machine::clusters - 1 << ", found " << cluster;
  if (pe < 0 || pe >= int64_t(rngd::machine::pesPerCluster))
    return emitError() << "LIR-4: pe must be 0 to "
                       << rngd::machine::pesPerCluster - 1 << ", found " << pe;
  if (packet < 1 || packet > int64_t(rngd::machine::dmaPacketMax))
    return emitError() << "MM-31: a packet has 1 to "
                       << rngd::machine::dmaPacketMax << " bytes, found "
                       << packet;
  // The first dimension of a descriptor counts packets.
  int64_t maxLoops = rngd::machine::dmaLoops - 1;
  if (int64_t(sizes.size()) > maxLoops)
    return emitError() << "LIR-5: a descriptor has room for " << maxLoops
                       << " loops, found " << sizes.size();
  for (auto [i, size] : llvm::enumerate(sizes)) {
    if (size < 1 || size > int64_t(rngd::machine::dmaLoopLimit))
      return emitError() << "LIR-5: loop " << i << " must run 1 to "
                         << rngd::machine::dmaLoopLimit << " times, found "
                         << size;
    if (sourceStrides[i] < 0 || targetStrides[i] < 0)
      return emitError() << "LIR-5: strides of loop " << i
                         << " must not be negative, found " << sourceStrides[i]
                         << " and " << targetStrides[i];
  }
  if (list < 0 || keys < 0 || keys > int64_t(sizes.size()) ||
      (keys == 0 && list != 0))
    return emitError()
           << "LIR-5: keys are some of the loops and a list belongs "
              "to them, found list "
           << list << " keys " << keys;
  if (source < 0 || target < 0)
    return emitError() << "LIR-5: bases must not be negative, found " << source
                       << " and " << target;
  return success();
}
