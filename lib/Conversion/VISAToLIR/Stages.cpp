//===- Stages.cpp - From the stages of a chain to operation units ---------===//
//
// One class per stage, attached to its op. Each turns the mappings in front of
// it and behind it into the numbers of its unit.
//
//===----------------------------------------------------------------------===//

#include "StageModel.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "mlir/IR/Builders.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::visa;
using mapping::Mapping;
namespace machine = furiosa::rngd::machine;

#include "furiosa/Conversion/VISAToLIR/LowerStageInterface.cpp.inc"

/// An element type where visa verified that it is one.
static ElementType getType(Type type) {
  return visa::getElementType(type).value_or(ElementType::I8);
}

//===----------------------------------------------------------------------===//
// Fetch side
//===----------------------------------------------------------------------===//

namespace {
struct FetchLowering : public StageModel<FetchLowering, FetchOp> {
  void lower(Operation *op, const StageLowering &stage,
             OpBuilder &builder) const {
    auto derived = deriveFetch(stage);
    Arrays arrays(derived->loops);
    // Conversions keep the number of elements of a packet.
    int64_t packet = getFetchedLayout(stage).packetBytes().value_or(0);
    int64_t flits = stage.after().time.size() *
                    llvm::divideCeil(packet, int64_t(machine::flitBytes));
    auto fetch = mlir::cast<FetchOp>(op);
    Value source = fetch.getSource(), other = fetch.getOther();
    lir::FetchSequencerOp::create(
        builder, op->getLoc(), stage.getBuffer(source), stage.getOffset(source),
        stage.getStart(source) + derived->start,
        other ? stage.getBuffer(other) : Value(),
        other ? stage.getStart(other) : 0,
        other ? int64_t(derived->pairLoop) : 0, arrays.sizes, arrays.strides,
        derived->read, packet, flits);
  }
};

/// Types in front of and behind a stage that converts.
static std::pair<Type, Type> getTypes(const StageLowering &stage,
                                      OpBuilder &builder) {
  return {getMLIRType(builder.getContext(), stage.before().type),
          getMLIRType(builder.getContext(), stage.after().type)};
}

struct TableLookupLowering
    : public StageModel<TableLookupLowering, visa::TableLookupOp> {
  void lower(Operation *op, const StageLowering &stage,
             OpBuilder &builder) const {
    auto [from, to] = getTypes(stage, builder);
    lir::TableLookupOp::create(builder, op->getLoc(), from, to);
  }
};

struct FetchCastLowering : public StageModel<FetchCastLowering, FetchCastOp> {
  void lower(Operation *op, const StageLowering &stage,
             OpBuilder &builder) const {
    // The identity needs no conversion.
    auto [from, to] = getTypes(stage, builder);
    if (from != to)
      lir::FetchAdapterOp::create(builder, op->getLoc(), from, to);
  }
};

struct ZeroPointSubLowering
    : public StageModel<ZeroPointSubLowering, visa::ZeroPointSubOp> {
  void lower(Operation *op, const StageLowering &stage,
             OpBuilder &builder) const {
    auto [from, to] = getTypes(stage, builder);
    lir::ZeroPointSubOp::create(builder, op->getLoc(),
                                cast<visa::ZeroPointSubOp>(op).getZeroPoint(),
                                from, to);
  }
};

struct SwitchLowering : public StageModel<SwitchLowering, visa::SwitchOp> {
  void lower(Operation *op, const StageLowering &stage,
             OpBuilder &builder) const {
    // Forwarding needs no exchange.
    auto config = cast<visa::SwitchOp>(op).getConfig();
    if (config == SwitchConfig::Forwarding)
      return;
    const SwitchShape &shape = stage.after().switched;
    if (config == SwitchConfig::CustomBroadcast) {
      // An entry counts slices.
      auto toArrays = [](ArrayRef<mapping::Entry> entries) {
        loops::LoopNest nest;
        for (const mapping::Entry &entry : entries)
          nest.push_back({entry.size, entry.stride});
        return Arrays(nest);
      };
      Arrays slices = toArrays(shape.slices);
      Arrays packets = toArrays(shape.packets);
      lir::CustomSwitchOp::create(
          builder, op->getLoc(), cast<visa::SwitchOp>(op).getParams()[0],
          slices.sizes, slices.strides, packets.sizes, packets.strides);
      return;
    }
    lir::SwitchOp::create(builder, op->getLoc(), lir::Topology(config),
                          {shape.slice2, shape.slice1, shape.slice0},
                          shape.time0);
  }
};

struct CollectLowering : public StageModel<CollectLowering, CollectOp> {
  void lower(Operation *op, const StageLowering &stage,
             OpBuilder &builder) const {
    int64_t packet = stage.before().packetBytes().value_or(0);
    lir::CollectOp::create(
        builder, op->getLoc(),
        int64_t(llvm::divideCeil(packet, int64_t(machine::flitBytes))));
  }
};

struct ToTrfLowering : public StageModel<ToTrfLowering, ToTrfOp> {
  void lower(Operation *op, const StageLowering &stage,
             OpBuilder &builder) const {
    auto type = cast<lir::MemType>(stage.result.getType());
    lir::TrfStoreOp::create(builder, op->getLoc(), stage.result,
                            type.getBytesPerLane() /
                                int64_t(machine::trfRowBytes));
  }
};

struct ToVrfLowering : public StageModel<ToVrfLowering, ToVrfOp> {
  void lower(Operation *op, const StageLowering &stage,
             OpBuilder &builder) const {
    auto type = cast<lir::MemType>(stage.result.getType());
    lir::VrfStoreOp::create(builder, op->getLoc(), stage.result,
                            type.getBytes() / int64_t(machine::vrfRowBytes));
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Contraction
//===----------------------------------------------------------------------===//

namespace {
struct ContractOuterLowering
    : public StageModel<ContractOuterLowering, ContractOuterOp> {
  void lower(Operation *op, const StageLowering &stage,
             OpBuilder &builder) const {
    auto outer = cast<ContractOuterOp>(op);
    const Layout &layout = stage.after();
    TensorParts weight = getTensorParts(outer.getWeight().getType());
    auto getFeedType = [](ElementType type) {
      return lir::FeedType(rngd::feedTypeOf(type));
    };
    lir::FeedType type = getFeedType(layout.storage);
    int64_t lanes = layout.lane.size();
    lir::FeedBufferOp::create(
        builder, op->getLoc(), type, lir::Flits(layout.flitsPerPacket),
        layout.outerTime.size(), layout.packet.size(),
        getFeedType(getType(weight.elementType)), lanes,
        weight.element.getMapping().size(), lir::getPromoted(type), lanes,
        layout.timeBroadcast);

    auto derived = deriveContraction(stage);
    SmallVector<int64_t> sizes, strides;
    for (const loops::ContractionLoop &loop : derived->loops) {
      sizes.push_back(loop.size);
      strides.push_back(loop.weightStride);
    }
    lir::TrfSequencerOp::create(
        builder, op->getLoc(), stage.getBuffer(outer.getWeight()), /*base=*/0,
        sizes, strides, derived->read, derived->broadcast);
  }
};

struct ContractPacketLowering
    : public StageModel<ContractPacketLowering, ContractPacketOp> {
  void lower(Operation *op, const StageLowering &stage,
             OpBuilder &builder) const {
    lir::PacketReducerOp::create(
        builder, op->getLoc(), stage.after().treeDepth,
        stage.after().packet.size(),
        getMLIRType(builder.getContext(), stage.after().type));
  }
};

struct ContractTimeLowering
    : public StageModel<ContractTimeLowering, ContractTimeOp> {
  void lower(Operation *op, const StageLowering &stage,
             OpBuilder &builder) const {
    auto derived = deriveContraction(stage);
    SmallVector<int64_t> strides;
    for (const loops::ContractionLoop &loop : derived->loops)
      strides.push_back(loop.slotStride);
    lir::TimeReducerOp::create(builder, op->getLoc(), derived->slots,
                               derived->count, strides);
  }
};

struct ContractLaneLowering
    : public StageModel<ContractLaneLowering, ContractLaneOp> {
  void lower(Operation *op, const StageLowering &stage,
             OpBuilder &builder) const {
    bool interleaved =
        cast<ContractLaneOp>(op).getMode() == LaneMode::Interleaved;
    lir::LaneFolderOp::create(builder, op->getLoc(),
                              interleaved ? lir::LaneMode::Interleaved
                                          : lir::LaneMode::Sequential,
                              stage.before().lane.size());
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Cast, commit
//===----------------------------------------------------------------------===//

namespace {
struct CastLowering : public StageModel<CastLowering, visa::CastOp> {
  void lower(Operation *op, const StageLowering &stage,
             OpBuilder &builder) const {
    auto [from, to] = getTypes(stage, builder);
    lir::CastOp::create(builder, op->getLoc(), from, to);
  }
};

struct TransposeLowering
    : public StageModel<TransposeLowering, visa::TransposeOp> {
  void lower(Operation *op, const StageLowering &stage,
             OpBuilder &builder) const {
    const Layout &layout = stage.after();
    unsigned bits = wireBits(layout.type);
    lir::TransposeOp::create(builder, op->getLoc(), layout.transposeRows,
                             layout.transposeFlits * rngd::transposeCells(bits),
                             layout.transposeOut, bits);
  }
};

struct CommitTrimLowering
    : public StageModel<CommitTrimLowering, CommitTrimOp> {
  void lower(Operation *op, const StageLowering &stage,
             OpBuilder &builder) const {
    lir::CommitCastAttr cast;
    if (stage.find<CommitCastOp>() || stage.find<CommitCastReluOp>())
      cast = lir::CommitCastAttr::get(builder.getContext(),
                                      stage.find<CommitCastOp>()
                                          ? lir::CommitCast::F32ToBF16
                                          : lir::CommitCast::F32ToBF16Relu);
    lir::CommitAdapterOp::create(builder, op->getLoc(),
                                 int64_t(machine::flitBytes),
                                 stage.after().packetBytes().value_or(0), cast);
  }
};

struct CommitLowering : public StageModel<CommitLowering, CommitOp> {
  void lower(Operation *op, const StageLowering &stage,
             OpBuilder &builder) const {
    Arrays arrays(*deriveCommit(stage));
    bool isSub = stage.before().context == visa::Context::Sub;
    int64_t write = isSub ? int64_t(machine::subCommitBytes)
                          : stage.before().packetBytes().value_or(0);
    Value into = cast<CommitOp>(op).getInto();
    lir::CommitSequencerOp::create(
        builder, op->getLoc(), stage.result,
        into ? stage.getOffset(into) : Value(), into ? stage.getStart(into) : 0,
        arrays.sizes, arrays.strides, write, getStoredSlices(stage));
  }
};
} // namespace

void furiosa::registerVISAToLIRStages(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, VISADialect *) {
    FetchOp::attachInterface<FetchLowering>(*context);
    visa::TableLookupOp::attachInterface<TableLookupLowering>(*context);
    FetchCastOp::attachInterface<FetchCastLowering>(*context);
    visa::ZeroPointSubOp::attachInterface<ZeroPointSubLowering>(*context);
    visa::SwitchOp::attachInterface<SwitchLowering>(*context);
    visa::CollectOp::attachInterface<CollectLowering>(*context);
    ToTrfOp::attachInterface<ToTrfLowering>(*context);
    ToVrfOp::attachInterface<ToVrfLowering>(*context);
    ContractOuterOp::attachInterface<ContractOuterLowering>(*context);
    ContractPacketOp::attachInterface<ContractPacketLowering>(*context);
    ContractTimeOp::attachInterface<ContractTimeLowering>(*context);
    ContractLaneOp::attachInterface<ContractLaneLowering>(*context);
    registerVectorStages(*context);
    visa::CastOp::attachInterface<CastLowering>(*context);
    visa::TransposeOp::attachInterface<TransposeLowering>(*context);
    CommitTrimOp::attachInterface<CommitTrimLowering>(*context);
    CommitCastOp::attachInterface<NoUnitLowering<CommitCastOp>>(*context);
    CommitCastReluOp::attachInterface<NoUnitLowering<CommitCastReluOp>>(
        *context);
    CommitOp::attachInterface<CommitLowering>(*context);
    // What the lowerings create.
    context->loadDialect<lir::LIRDialect>();
  });
}
