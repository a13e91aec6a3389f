//===- LIROps.cpp - Text forms and verifiers of lir ops -------------------===//
//
// What one op can tell by itself; what the units of one exec owe one another
// stands in LIRExec.cpp.
//
//===----------------------------------------------------------------------===//

#include "LIRUnits.h"
#include "furiosa/Dialect/Utils/ElementTypes.h"
#include "furiosa/Support/ByteRanges.h"
#include "furiosa/Target/RNGD/Conversions.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::lir;
namespace machine = furiosa::rngd::machine;

//===----------------------------------------------------------------------===//
// Loops as text
//===----------------------------------------------------------------------===//

ParseResult lir::parseLoops(OpAsmParser &parser, DenseI64ArrayAttr &sizes,
                            DenseI64ArrayAttr &strides) {
  SmallVector<int64_t> sizeList, strideList;
  auto parseLoop = [&]() -> ParseResult {
    return failure(parser.parseInteger(sizeList.emplace_back()) ||
                   parser.parseColon() ||
                   parser.parseInteger(strideList.emplace_back()));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseLoop))
    return failure();
  sizes = parser.getBuilder().getDenseI64ArrayAttr(sizeList);
  strides = parser.getBuilder().getDenseI64ArrayAttr(strideList);
  return success();
}

void lir::printLoops(OpAsmPrinter &printer, Operation *,
                     DenseI64ArrayAttr sizes, DenseI64ArrayAttr strides) {
  printer << '[';
  llvm::interleaveComma(llvm::zip(sizes.asArrayRef(), strides.asArrayRef()),
                        printer, [&](auto loop) {
                          printer << std::get<0>(loop) << " : "
                                  << std::get<1>(loop);
                        });
  printer << ']';
}

//===----------------------------------------------------------------------===//
// Shared checks
//===----------------------------------------------------------------------===//

LogicalResult lir::verifyLoops(Operation *op, ArrayRef<int64_t> sizes,
                               ArrayRef<int64_t> strides) {
  if (sizes.size() != strides.size())
    return op->emitOpError("LIR-6: ") << sizes.size() << " loop sizes, but "
                                      << strides.size() << " strides";
  if (sizes.size() > machine::sequencerEntries)
    return op->emitOpError("MM-6: the sequencer holds ")
           << machine::sequencerEntries << " loops, found " << sizes.size();
  for (auto [i, size] : llvm::enumerate(sizes))
    if (size < 1 || size > int64_t(machine::sequencerEntryLimit))
      return op->emitOpError("MM-7: loop ")
             << i << " must run 1 to " << machine::sequencerEntryLimit
             << " times, found " << size;
  int64_t maxStride = int64_t(1) << machine::sequencerStrideBits;
  for (auto [i, stride] : llvm::enumerate(strides))
    if (stride < 0 || stride >= maxStride)
      return op->emitOpError("LIR-6: stride of loop ")
             << i << " must be 0 to " << maxStride - 1 << ", found " << stride;
  if (!getProduct(sizes))
    return op->emitOpError(
        "LIR-6: the number of steps does not fit in 64 bits");
  return success();
}

LogicalResult lir::verifyTier(Operation *op, StringRef rule, StringRef name,
                              MemType type, Tier tier) {
  if (type.getTier() == tier)
    return success();
  return op->emitOpError(rule)
         << ": " << name << " must be in " << stringifyTier(tier) << ", found "
         << stringifyTier(type.getTier());
}

LogicalResult lir::verifyBounds(Operation *op, int64_t base,
                                ArrayRef<int64_t> sizes,
                                ArrayRef<int64_t> strides, int64_t bytes,
                                int64_t capacity, StringRef hint) {
  if (base < 0)
    return op->emitOpError("LIR-7: base must not be negative, found ") << base;
  std::optional<int64_t> reach = getReach(sizes, strides);
  int64_t end;
  if (!reach || llvm::AddOverflow(*reach, base, end) ||
      llvm::AddOverflow(end, bytes, end))
    return op->emitOpError(
        "LIR-7: accesses reach an address that does not fit in 64 bits");
  if (end > capacity)
    return op->emitOpError("LIR-7: accesses reach byte ")
           << end << " of a buffer of " << capacity << hint;
  return success();
}

static Context getContextOf(Operation *unit) {
  return cast<ExecOp>(unit->getParentOp()).getContext();
}

//===----------------------------------------------------------------------===//
// Feed types
//===----------------------------------------------------------------------===//

// Both enums list the same names in the same order.
static_assert(int(FeedType::RawBF16) == int(rngd::FeedType::RawBF16) &&
              int(FeedType::RawF4E2M1) == int(rngd::FeedType::RawF4E2M1));

rngd::FeedType lir::toMachine(FeedType type) { return rngd::FeedType(type); }

std::optional<int64_t> lir::getStorageBits(FeedType type) {
  if (!rngd::promote(toMachine(type)))
    return std::nullopt;
  return wireBits(rngd::elementTypeOf(toMachine(type)));
}

FeedType lir::getPromoted(FeedType type) {
  return FeedType(rngd::promote(toMachine(type)).value_or(toMachine(type)));
}

//===----------------------------------------------------------------------===//
// Buffers and commands
//===----------------------------------------------------------------------===//

std::pair<int64_t, int64_t> lir::getSliceBytes(int64_t base,
                                               ArrayRef<int64_t> sizes,
                                               ArrayRef<int64_t> strides,
                                               int64_t packet) {
  int64_t span = machine::dmSliceStride;
  int64_t first = base % span, last = first;
  // Eight terms of 16 and 22 bits. A step to an earlier byte of the next slice
  // is shorter than a slice.
  for (auto [size, stride] : llvm::zip(sizes, strides)) {
    int64_t step = (stride + span / 2) % span - span / 2;
    (step < 0 ? first : last) += (size - 1) * step;
  }
  return {first, last + packet};
}

/// LIR-8: one side of an engine stays inside its buffer. In DM the address is
/// `slice * 4 MiB + byte`, for another PE in its window of 512 MiB.
static LogicalResult verifyEngineSide(DmaOp op, EngineAttr engine,
                                      StringRef side, MemType type,
                                      int64_t base, ArrayRef<int64_t> strides) {
  auto name = [&]() {
    return op.emitOpError("LIR-8: ")
           << side << " of the engine of cluster " << engine.getCluster()
           << " pe " << engine.getPe();
  };
  if (type.getTier() == Tier::Hbm) {
    // The offset moves the base up; how far, its loop knows.
    std::optional<int64_t> reach = getReach(engine.getSizes(), strides);
    int64_t end;
    if (!reach || llvm::AddOverflow(*reach, base, end) ||
        llvm::AddOverflow(end, engine.getPacket(), end))
      return name() << " reaches an address that does not fit in 64 bits";
    if (end > type.getBytes())
      return name() << " reaches byte " << end << " of a buffer of "
                    << type.getBytes();
    return success();
  }
  // Loops within a slice, and those that change it: into the middle of the
  // next one their step may be shorter than a slice.
  int64_t span = machine::dmSliceStride;
  SmallVector<int64_t> sizes, steps, innerSizes, innerSteps;
  for (auto [size, stride] : llvm::zip(engine.getSizes(), strides)) {
    bool stays = stride < type.getBytes();
    (stays ? innerSizes : sizes).push_back(size);
    (stays ? innerSteps : steps).push_back(stride);
  }
  std::optional<int64_t> inner = getReach(innerSizes, innerSteps);
  std::optional<int64_t> reach = getReach(sizes, steps);
  int64_t end;
  if (!inner || !reach || llvm::AddOverflow(*inner, *reach, end) ||
      llvm::AddOverflow(end, base, end))
    return name() << " reaches an address that does not fit in 64 bits";
  // Where each slice is entered.
  std::optional<ByteRanges> entries =
      getByteRanges(base, sizes, steps, /*packet=*/1);
  if (!entries)
    return name() << " changes slices too often";
  for (auto [first, last] : *entries) {
    bool isRemote = isRemoteAddress(base);
    int64_t offset = first;
    if (isRemote) {
      offset -= int64_t(machine::remoteBase);
      int64_t window = machine::remotePEStride;
      if (offset / window >= int64_t(machine::pes) ||
          offset % window < int64_t(machine::dmBase))
        return name() << " leaves the data memory of the chip";
      offset = offset % window - int64_t(machine::dmBase);
    }
    if (offset / span >= int64_t(machine::slicesPerPE))
      return name() << " reaches slice " << offset / span << ", a pe has "
                    << machine::slicesPerPE;
    // Neighbouring entries are one range.
    int64_t byte = last - 1 - first + offset % span;
    if (llvm::AddOverflow(byte, *inner, byte) ||
        llvm::AddOverflow(byte, engine.getPacket(), byte) ||
        byte > type.getBytes())
      return name() << " reaches byte " << byte << " of a buffer of "
                    << type.getBytes();
  }
  return success();
}

/// LIR-25: an index moves the side of the table alone.
static LogicalResult verifyIndirect(DmaOp op) {
  auto refuse = [&](const Twine &text) {
    return op.emitOpError("LIR-25: ") << text;
  };
  for (auto engine : op.getEngines().getAsRange<EngineAttr>()) {
    if ((engine.getKeys() != 0) != op.isIndirect())
      return refuse(op.isIndirect() ? "an engine without keys"
                                    : "an engine with keys and no index");
    ArrayRef<int64_t> sizes = engine.getSizes().take_front(engine.getKeys());
    ArrayRef<int64_t> strides =
        op.isGather() ? engine.getSourceStrides() : engine.getTargetStrides();
    for (int64_t stride : strides.take_front(engine.getKeys()))
      if (stride != 0)
        return refuse("a key moves the table by " + Twine(stride) +
                      " bytes of its own");
    std::optional<int64_t> entries = getProduct(sizes);
    if (!entries || *entries > int64_t(machine::dmaLoopLimit))
      return refuse("a list of more than " + Twine(machine::dmaLoopLimit) +
                    " entries");
    if (op.isIndirect() &&
        *entries * 4 + engine.getList() % int64_t(machine::dmSliceStride) >
            op.getIndices().getType().getBytes() &&
        op.getIndices().getType().getTier() == Tier::Dm)
      return refuse("the list leaves the index");
    if (op.isIndirect() && op.getIndices().getType().getTier() == Tier::Hbm &&
        *entries * 4 + engine.getList() > op.getIndices().getType().getBytes())
      return refuse("the list leaves the index");
  }
  if (!op.isIndirect())
    return success();
  if (op.getSource().getType().getTier() == op.getTarget().getType().getTier())
    return refuse("rows move between hbm and dm");
  Tier tier = op.getIndices().getType().getTier();
  if (tier != Tier::Hbm && tier != Tier::Dm)
    return refuse("the index lies in hbm or dm");
  if (!op.getScale() || *op.getScale() < 1)
    return refuse("the scale is at least 1");
  return success();
}

LogicalResult DmaOp::verify() {
  if (failed(verifyIndirect(*this)))
    return failure();
  MemType source = getSource().getType();
  MemType target = getTarget().getType();
  for (auto [name, type] :
       {std::pair("source", source), std::pair("target", target)})
    if (type.getTier() != Tier::Hbm && type.getTier() != Tier::Dm)
      return emitOpError("MM-52: ") << name << " must be in hbm or dm, found "
                                    << stringifyTier(type.getTier());
  if (getEngines().empty())
    return emitOpError("LIR-9: needs at least one engine");
  // An engine's own packets are moved one by one.
  for (Attribute attr : getEngines()) {
    auto engine = cast<EngineAttr>(attr);
    if (getSource() == getTarget() &&
        overlap(getByteRanges(engine.getSource(), engine.getSizes(),
                              engine.getSourceStrides(), engine.getPacket()),
                getByteRanges(engine.getTarget(), engine.getSizes(),
                              engine.getTargetStrides(), engine.getPacket())))
      return emitOpError("LIR-8: source and target overlap in one buffer");
  }
  llvm::SmallDenseSet<std::pair<int64_t, int64_t>> seen;
  for (Attribute attr : getEngines()) {
    // The attribute constraint has run: every element is an engine.
    auto engine = cast<EngineAttr>(attr);
    if (!seen.insert({engine.getCluster(), engine.getPe()}).second)
      return emitOpError("LIR-9: two descriptors for the engine of cluster ")
             << engine.getCluster() << " pe " << engine.getPe();
    if (failed(verifyEngineSide(*this, engine, "source", source,
                                engine.getSource(),
                                engine.getSourceStrides())) ||
        failed(verifyEngineSide(*this, engine, "target", target,
                                engine.getTarget(), engine.getTargetStrides())))
      return failure();
    if (target.getTier() != Tier::Dm)
      continue;
    // MM-29, MM-30: writes into DM in words of 8 bytes; from HBM, reads too.
    int64_t word = machine::dmWriteGranule;
    auto check = [&](StringRef rule, StringRef name,
                     int64_t value) -> LogicalResult {
      if (value % word == 0)
        return success();
      return emitOpError(rule)
             << ": " << name << " of the engine of cluster "
             << engine.getCluster() << " pe " << engine.getPe()
             << " must be a multiple of " << word << " bytes, found " << value;
    };
    if (failed(check("MM-30", "packet", engine.getPacket())) ||
        failed(check("MM-29", "target base", engine.getTarget())))
      return failure();
    for (auto [size, stride] :
         llvm::zip(engine.getSizes(), engine.getTargetStrides()))
      if (size > 1 && failed(check("MM-29", "target stride", stride)))
        return failure();
    if (source.getTier() != Tier::Hbm)
      continue;
    if (failed(check("MM-30", "source base", engine.getSource())))
      return failure();
    for (auto [size, stride] :
         llvm::zip(engine.getSizes(), engine.getSourceStrides()))
      if (size > 1 && failed(check("MM-30", "source stride", stride)))
        return failure();
  }
  return verifyEngineRaces(*this);
}

//===----------------------------------------------------------------------===//
// Fetch side
//===----------------------------------------------------------------------===//

LogicalResult FetchSequencerOp::verify() {
  if (failed(verifyTier(*this, "MM-52", "source", getSource().getType(),
                        Tier::Dm)) ||
      failed(verifyLoops(*this, getSizes(), getStrides())))
    return failure();
  int64_t read = getRead();
  if (read < 1 || read > int64_t(machine::mainFetchBytes) ||
      !llvm::isPowerOf2_64(read))
    return emitOpError(
               "LIR-10: read must be 1, 2, 4, 8, 16 or 32 bytes, found ")
           << read;
  if (getContextOf(*this) == Context::Sub &&
      read != int64_t(machine::subFetchBytes))
    return emitOpError("LIR-10: the sub context reads ")
           << machine::subFetchBytes << " bytes at a time, found " << read;
  if (getPacket() < 1)
    return emitOpError("MM-12: packet must be positive, found ") << getPacket();
  if (getFlits() < 1)
    return emitOpError("LIR-11: flits must be positive, found ") << getFlits();
  // A padded packet may run over the end of its tensor; its buffer has room for
  // that, so that nothing else lies there.
  auto verifyReach = [&](int64_t base, MemType type) {
    return verifyBounds(*this, base, getSizes(), getStrides(), read,
                        type.getBytes(),
                        "; where padding is read there, the buffer must have "
                        "room for it");
  };
  if (failed(verifyReach(getBase(), getSource().getType())))
    return failure();
  if (!getOther()) {
    if (getOtherBase() == 0 && getPairLoop() == 0)
      return success();
    return emitOpError("TU-10: other_base and pair_loop need a second buffer");
  }
  if (getOffset())
    return emitOpError("not yet supported: an offset known only at run time "
                       "into two buffers");
  if (getOther().getType() != getSource().getType())
    return emitOpError("TU-10: both buffers must be ")
           << getSource().getType() << ", found " << getOther().getType();
  int64_t loop = getPairLoop();
  if (loop < 0 || loop >= int64_t(getSizes().size()) || getSizes()[loop] != 2 ||
      getStrides()[loop] != 0)
    return emitOpError("TU-10: a loop of size 2 and stride 0 goes from one "
                       "buffer to the other, found loop ")
           << loop;
  return verifyReach(getOtherBase(), getOther().getType());
}

/// TU-5, TU-6, TU-8: `op` converts what its stage of the adapter can.
static LogicalResult verifyConversion(Operation *op, rngd::AdapterStage stage,
                                      Type from, Type to, StringRef rule,
                                      StringRef pairs) {
  auto fromType = furiosa::getElementType(from);
  auto toType = furiosa::getElementType(to);
  if (fromType && toType && rngd::findConversion(stage, *fromType, *toType))
    return success();
  return op->emitOpError(rule) << ": no fetch conversion from " << from
                               << " to " << to << "; there are " << pairs;
}

LogicalResult TableLookupOp::verify() {
  if (getContextOf(*this) == Context::Sub)
    return emitOpError("TU-5: the sub context has no lookup tables");
  return verifyConversion(*this, rngd::AdapterStage::TableLookup, getFrom(),
                          getTo(), "TU-5",
                          "f4E2M1FN to f8E4M3FN and f8E5M2, f8E4M3FN and "
                          "f8E5M2 to bf16");
}

LogicalResult FetchAdapterOp::verify() {
  return verifyConversion(*this, rngd::AdapterStage::Cast, getFrom(), getTo(),
                          "TU-6",
                          "i4, i8, i16 to i32, f8E4M3FN, f8E5M2, bf16 to f32, "
                          "f32 to bf16");
}

LogicalResult ZeroPointSubOp::verify() {
  if (failed(verifyConversion(*this, rngd::AdapterStage::ZeroPoint, getFrom(),
                              getTo(), "TU-8", "i4 to i5, i8 to i9")))
    return failure();
  int64_t limit = int64_t(1) << (getFrom().getIntOrFloatBitWidth() - 1);
  if (getZeroPoint() < -limit || getZeroPoint() >= limit)
    return emitOpError("TU-8: zero point must be ")
           << -limit << " to " << limit - 1 << ", found " << getZeroPoint();
  return success();
}

int64_t SwitchOp::getCopies() {
  switch (getTopology()) {
  case Topology::Broadcast01:
    return getSlices()[1] * getSlices()[2];
  case Topology::Broadcast1:
    return getSlices()[1];
  case Topology::TransposedBroadcast1:
    return getSlices()[2];
  case Topology::Forwarding:
  case Topology::Transpose:
  case Topology::InterTranspose:
    return 1;
  }
  llvm_unreachable("all topologies are listed");
}

LogicalResult SwitchOp::verify() {
  if (getSlices().size() != 3)
    return emitOpError("TU-14: slices are slice2, slice1 and slice0, found ")
           << getSlices().size() << " numbers";
  int64_t product = 1;
  for (int64_t size : getSlices()) {
    if (size < 1 || size > int64_t(machine::slicesPerCluster) ||
        !llvm::isPowerOf2_64(size))
      return emitOpError("TU-13: slices must be powers of two up to ")
             << machine::slicesPerCluster << ", found " << size;
    product *= size;
  }
  if (product != 64 && product != 128 && product != 256)
    return emitOpError("TU-14: the product of slices must be 64, 128 or 256, "
                       "found ")
           << product;
  bool splits = getTopology() == Topology::Broadcast01 ||
                getTopology() == Topology::InterTranspose;
  // What the register field holds.
  if (getTime0() < 1 || getTime0() > UINT16_MAX || (!splits && getTime0() != 1))
    return emitOpError("TU-15: time0 must be ")
           << (splits ? "1 to 65535" : "1 in this topology") << ", found "
           << getTime0();
  if (getTopology() == Topology::Forwarding &&
      getSlices()[1] * getSlices()[2] != 1)
    return emitOpError("TU-14: forwarding has slice1 1 and slice0 1, found ")
           << getSlices()[1] << " and " << getSlices()[2];
  return success();
}

/// Offsets that nested loops reach, innermost fastest.
static SmallVector<int64_t> getOffsets(ArrayRef<int64_t> sizes,
                                       ArrayRef<int64_t> strides) {
  SmallVector<int64_t> offsets = {0};
  for (auto [size, stride] : llvm::zip_equal(sizes, strides)) {
    SmallVector<int64_t> next;
    for (int64_t offset : offsets)
      for (int64_t i = 0; i < size; ++i)
        next.push_back(offset + i * stride);
    offsets = std::move(next);
  }
  return offsets;
}

int64_t CustomSwitchOp::getCopies() {
  return lir::getProduct(getPacketSizes()).value_or(0);
}

std::vector<std::array<uint64_t, 4>> CustomSwitchOp::getSnoopBitmaps() {
  std::vector<std::array<uint64_t, 4>> bitmaps;
  auto packets = getOffsets(getPacketSizes(), getPacketStrides());
  int64_t ring = getRing();
  for (auto [slice, base] :
       llvm::enumerate(getOffsets(getSliceSizes(), getSliceStrides()))) {
    auto &bitmap = bitmaps.emplace_back();
    for (int64_t packet : packets) {
      int64_t sender = int64_t(slice) / ring * ring + (base + packet) % ring;
      bitmap[sender / 64] |= uint64_t(1) << sender % 64;
    }
  }
  return bitmaps;
}

LogicalResult CustomSwitchOp::verify() {
  if (failed(verifyLoops(*this, getSliceSizes(), getSliceStrides())) ||
      failed(verifyLoops(*this, getPacketSizes(), getPacketStrides())))
    return failure();
  int64_t slices = *lir::getProduct(getSliceSizes());
  if (slices != 64 && slices != 128 && slices != 256)
    return emitOpError("TU-14: the product of slices must be 64, 128 or 256, "
                       "found ")
           << slices;
  if (getRing() < 1 || getRing() > slices || !llvm::isPowerOf2_64(getRing()))
    return emitOpError("TU-26: the ring must be a power of two up to the ")
           << slices << " slices, found " << getRing();
  // Each stride passes over all that the loops inside reach.
  int64_t reach = 0;
  for (auto [size, stride] : llvm::zip(llvm::reverse(getPacketSizes()),
                                       llvm::reverse(getPacketStrides()))) {
    if (stride <= reach)
      return emitOpError("TU-24: packets come in rising order of the slices "
                         "that send them, found stride ")
             << stride << " outside of loops that reach " << reach;
    reach += (size - 1) * stride;
    if (reach >= getRing())
      return emitOpError("TU-26: packets come from a ring of ")
             << getRing() << " slices, found loops that reach " << reach;
  }
  return success();
}

LogicalResult CollectOp::verify() {
  if (getFlitsPerPacket() < 1)
    return emitOpError("LIR-11: flits_per_packet must be positive, found ")
           << getFlitsPerPacket();
  return success();
}

LogicalResult TrfStoreOp::verify() {
  MemType type = getTarget().getType();
  if (failed(verifyTier(*this, "LIR-12", "target", type, Tier::Trf)))
    return failure();
  int64_t rows = type.getBytesPerLane() / int64_t(machine::trfRowBytes);
  if (getRowsPerLane() != rows)
    return emitOpError("LIR-12: rows_per_lane must be ")
           << rows << " to fill a buffer of " << type.getBytes() << " bytes in "
           << type.getLanes() << " lanes, found " << getRowsPerLane();
  return success();
}

LogicalResult VrfStoreOp::verify() {
  MemType type = getTarget().getType();
  if (failed(verifyTier(*this, "LIR-12", "target", type, Tier::Vrf)))
    return failure();
  int64_t rows = type.getBytes() / int64_t(machine::vrfRowBytes);
  if (getRows() != rows)
    return emitOpError("LIR-12: rows must be ")
           << rows << " to fill a buffer of " << type.getBytes()
           << " bytes, found " << getRows();
  return success();
}

LogicalResult FillOp::verify() {
  if (!llvm::isUInt<32>(getPattern()))
    return emitOpError("LIR-24: the pattern has 32 bits, found ")
           << getPattern();
  return verifyTier(*this, "LIR-12", "target", getTarget().getType(), Tier::Dm);
}

//===----------------------------------------------------------------------===//
// Contraction
//===----------------------------------------------------------------------===//

LogicalResult FeedBufferOp::verify() {
  FeedType type = getElementType();
  std::optional<int64_t> bits = lir::getStorageBits(type);
  // TU-36, TU-37: names first, then pairs.
  for (auto [name, named] :
       {std::pair("stream", type), std::pair("weight", getWeightType())})
    if (!lir::getStorageBits(named))
      return emitOpError("TU-36: no multiplier takes the ")
             << name << " element type " << stringifyFeedType(named)
             << "; there are RawInt4, RawInt5, RawInt8, RawInt9, RawF8E4M3, "
                "RawF8E5M2, RawBF16";
  if (lir::getPromoted(type) != lir::getPromoted(getWeightType()))
    return emitOpError("TU-37: stream ")
           << stringifyFeedType(type) << " and weight "
           << stringifyFeedType(getWeightType()) << " do not multiply";
  if (getPromoted() != lir::getPromoted(type))
    return emitOpError("LIR-13: ")
           << stringifyFeedType(type) << " is promoted to "
           << stringifyFeedType(lir::getPromoted(type)) << ", found "
           << stringifyFeedType(getPromoted());
  if (getLanes() != 1 && getLanes() != 2 && getLanes() != 4 && getLanes() != 8)
    return emitOpError("TU-39: lanes must be 1, 2, 4 or 8, found ")
           << getLanes();
  if (getLaneBroadcast() != getLanes())
    return emitOpError("LIR-13: the stream goes to all ")
           << getLanes() << " lanes, found lane_broadcast "
           << getLaneBroadcast();
  // TU-40: 32 bytes a flit.
  int64_t flits = int64_t(getCollectFlits());
  int64_t expected = flits * int64_t(machine::flitBytes) * 8 / *bits;
  if (getPacket() != expected)
    return emitOpError("TU-40: ")
           << flits << " flits hold " << expected << " elements of "
           << stringifyFeedType(type) << ", found packet " << getPacket();
  if (getTime() < 1 || getElement() < 1)
    return emitOpError("LIR-13: time and element must be positive, found ")
           << getTime() << " and " << getElement();
  if (getTimeBroadcast() < 1 || getTime() % getTimeBroadcast() != 0)
    return emitOpError("TU-43: time_broadcast must divide time ")
           << getTime() << ", found " << getTimeBroadcast();
  return success();
}

LogicalResult TrfSequencerOp::verify() {
  MemType type = getSource().getType();
  if (failed(verifyTier(*this, "LIR-12", "source", type, Tier::Trf)) ||
      failed(verifyLoops(*this, getSizes(), getStrides())))
    return failure();
  int64_t read = getRead();
  int64_t window = machine::macWindowBytes;
  if (read < 1 || read > window || !llvm::isPowerOf2_64(read))
    return emitOpError("TU-45: read must be a power of two up to ")
           << window << " bytes, found " << read;
  // A read of both banks starts at a pair of rows.
  if (read == window) {
    if (getBase() % window != 0)
      return emitOpError("TU-45: base must be a multiple of ")
             << window << " for reads of " << window << " bytes, found "
             << getBase();
    for (auto [i, stride] : llvm::enumerate(getStrides()))
      if (stride % window != 0)
        return emitOpError("TU-45: stride of loop ")
               << i << " must be a multiple of " << window << " for reads of "
               << window << " bytes, found " << stride;
  }
  if (getBroadcast() < 0 || getBroadcast() > int64_t(getSizes().size()))
    return emitOpError("LIR-14: broadcast counts loops, of which there are ")
           << getSizes().size() << ", found " << getBroadcast();
  return verifyBounds(*this, getBase(), getSizes(), getStrides(), read,
                      type.getBytesPerLane());
}

LogicalResult PacketReducerOp::verify() {
  if (getDepth() < 0 || getDepth() > int64_t(machine::maxTreeDepthI4))
    return emitOpError("TU-50: depth must be 0 to ")
           << machine::maxTreeDepthI4 << ", found " << getDepth();
  int64_t columns = getColumns();
  if (columns < 1 || columns > int64_t(machine::reducerColumns))
    return emitOpError("TU-48: columns must be 1 to ")
           << machine::reducerColumns << ", found " << columns;
  if (!llvm::isPowerOf2_64(columns))
    return emitOpError("TU-49: columns must be a power of two, found ")
           << columns;
  Type type = getAccumulator();
  if (!type.isInteger(32) && !type.isF32())
    return emitOpError("LIR-15: sums are i32 or f32, found ") << type;
  return success();
}

LogicalResult TimeReducerOp::verify() {
  if (getSlots() < 1 || getCount() < 1)
    return emitOpError("LIR-16: slots and count must be positive, found ")
           << getSlots() << " and " << getCount();
  if (getSlots() > int64_t(machine::accumulatorCells))
    return emitOpError("TU-60: the accumulator has ")
           << machine::accumulatorCells << " cells, found slots " << getSlots();
  if (getCount() > int64_t(machine::sequencerEntryLimit))
    return emitOpError("LIR-16: count must be at most ")
           << machine::sequencerEntryLimit << ", found " << getCount();
  for (int64_t stride : getStrides())
    if (stride < 0)
      return emitOpError("LIR-16: strides must not be negative, found ")
             << stride;
  return success();
}

LogicalResult LaneFolderOp::verify() {
  int64_t live = getLive();
  if (live != 1 && live != 2 && live != 4 && live != 8)
    return emitOpError("TU-39: live must be 1, 2, 4 or 8 lanes, found ")
           << live;
  return success();
}

//===----------------------------------------------------------------------===//
// Cast, commit
//===----------------------------------------------------------------------===//

LogicalResult CastOp::verify() {
  Type from = getFrom(), to = getTo();
  bool narrowsInt = from.isInteger(32) &&
                    (to.isInteger(4) || to.isInteger(8) || to.isInteger(16));
  bool narrowsFloat =
      from.isF32() && isa<Float8E4M3FNType, Float8E5M2Type, BFloat16Type>(to);
  if (!narrowsInt && !narrowsFloat)
    return emitOpError("TU-61: no cast from ")
           << from << " to " << to
           << "; there are i32 to i4, i8, i16, f32 to f8E4M3FN, f8E5M2, bf16";
  return success();
}

int64_t TransposeOp::getFlitsPerRow() {
  return getColumns() / rngd::transposeCells(getBits());
}

LogicalResult TransposeOp::verify() {
  int64_t bits = getBits();
  if (bits != 4 && bits != 8 && bits != 16 && bits != 32)
    return emitOpError("TU-65: bits must be 4, 8, 16 or 32, found ") << bits;
  int64_t maxRows = int64_t(machine::transposeRowBits) / bits;
  if (getRows() < 1 || getRows() > maxRows)
    return emitOpError("TU-68: rows of ") << bits << " bits must be 1 to "
                                          << maxRows << ", found " << getRows();
  int64_t cells = rngd::transposeCells(bits);
  if (getColumns() < cells ||
      getColumns() > int64_t(machine::transposeColumns) ||
      !llvm::isPowerOf2_64(getColumns()))
    return emitOpError("TU-69: columns of ")
           << bits << " bits must be powers of two from " << cells << " to "
           << machine::transposeColumns << ", found " << getColumns();
  if (getOutRows() < 1 || getOutRows() > getColumns())
    return emitOpError("TU-69: out_rows must be 1 to the ")
           << getColumns() << " columns, found " << getOutRows();
  return success();
}

LogicalResult CommitAdapterOp::verify() {
  if (getIn() != int64_t(machine::flitBytes))
    return emitOpError("LIR-18: flits of ")
           << machine::flitBytes << " bytes come in, found in " << getIn();
  if (getKeep() < int64_t(machine::minCommitBytes) ||
      getKeep() > int64_t(machine::mainCommitBytes) ||
      getKeep() % machine::minCommitBytes != 0)
    return emitOpError("TU-73: keep must be 8, 16, 24 or 32 bytes, found ")
           << getKeep();
  if (getCast() && getKeep() % int64_t(2 * machine::minCommitBytes) != 0)
    return emitOpError("TU-75: keep must be 16 or 32 bytes of f32, found ")
           << getKeep();
  return success();
}

LogicalResult CommitSequencerOp::verify() {
  MemType type = getTarget().getType();
  if (failed(verifyTier(*this, "LIR-12", "target", type, Tier::Dm)) ||
      failed(verifyLoops(*this, getSizes(), getStrides())))
    return failure();
  int64_t word = machine::dmWriteGranule;
  if (getWrite() < word || getWrite() > int64_t(machine::mainCommitBytes) ||
      getWrite() % word != 0)
    return emitOpError("MM-23: write must be 8, 16, 24 or 32 bytes, found ")
           << getWrite();
  if (getBase() % word != 0)
    return emitOpError("MM-26: base must be a multiple of ")
           << word << ", found " << getBase();
  for (auto [i, stride] : llvm::enumerate(getStrides()))
    if (stride % word != 0)
      return emitOpError("MM-26: stride of loop ")
             << i << " must be a multiple of " << word << ", found " << stride;
  ArrayRef<int64_t> slices = getSlices();
  if (slices.empty() || slices.size() % 2 != 0)
    return emitOpError("LIR-19: slices are pairs of first and last, found ")
           << slices.size() << " numbers";
  int64_t next = 0;
  for (size_t i = 0; i < slices.size(); i += 2) {
    if (slices[i] < next || slices[i + 1] < slices[i] ||
        slices[i + 1] >= int64_t(machine::slicesPerCluster))
      return emitOpError("LIR-19: slice ranges must ascend within 0 to ")
             << machine::slicesPerCluster - 1 << ", found " << slices[i]
             << " to " << slices[i + 1];
    next = slices[i + 1] + 1;
  }
  return verifyBounds(*this, getBase(), getSizes(), getStrides(), getWrite(),
                      type.getBytes());
}

#define GET_OP_CLASSES
#include "furiosa/Dialect/LIR/IR/LIROps.cpp.inc"
