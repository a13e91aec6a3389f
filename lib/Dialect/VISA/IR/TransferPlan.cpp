//===- TransferPlan.cpp - What the DMA does for a transfer ----------------===//

#include "furiosa/Dialect/VISA/IR/TransferPlan.h"
#include "furiosa/Dialect/VISA/Loops/Loops.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::visa;
namespace machine = furiosa::rngd::machine;

static unsigned getBits(Type elementType) {
  return wireBits(visa::getElementType(elementType).value_or(ElementType::I8));
}

/// Adds to `offset` where a tile begins in its source.
static LogicalResult addTile(TileOp tile, ViewOffset &offset,
                             FaultReporter &reporter) {
  TensorParts parts = getTensorParts(tile.getSource().getType());
  auto along = tmap::MappingAttr::parseText(tile.getAlong(), parts.axes);
  if (!along)
    return failure(); // Reported at the tile, as all that it has wrong itself.
  std::optional<int64_t> start;
  APInt constant;
  if (auto number = tile.getStart())
    start = *number;
  else if (matchPattern(tile.getOffset(), m_ConstantInt(&constant)))
    start = constant.getSExtValue();
  auto window =
      mapping::tile(parts.element.getMapping(), along->getMapping(),
                    tile.getTake(), start.value_or(0), mapping::Pad::Top);
  if (!window)
    return failure();
  // An index of one cell has one start.
  if (!start && window->live == 1)
    start = 0;
  if (!start && window->step == 0)
    return failure();
  auto bytes = loops::getBytes(start ? window->offset : window->step,
                               getBits(parts.elementType));
  if (!bytes)
    return failure();
  if (!start) {
    offset.terms.push_back({tile.getOffset(), *bytes});
    return success();
  }
  auto sum = llvm::checkedAdd<int64_t>(offset.constant, *bytes);
  if (!sum) {
    reporter.notYetSupported() << "a view that begins beyond 2^63 bytes";
    return failure();
  }
  offset.constant = *sum;
  return success();
}

/// Where `tensor` begins in its buffer.
static FailureOr<ViewOffset> getOffset(Value tensor, FaultReporter &reporter) {
  ViewOffset offset;
  while (tensor && tensor.getDefiningOp()) {
    if (auto reshape = tensor.getDefiningOp<ReshapeOp>()) {
      tensor = reshape.getSource();
      continue;
    }
    auto tile = tensor.getDefiningOp<TileOp>();
    if (!tile)
      break;
    if (failed(addTile(tile, offset, reporter)))
      return failure();
    tensor = tile.getSource();
  }
  return offset;
}

/// A tensor of HBM or DM as one side of a transfer.
static TransferSide getSide(Type type) {
  TensorParts parts = getTensorParts(type);
  TransferSide side;
  side.isDm = isa<DmType>(type);
  side.element = parts.element.getMapping();
  if (side.isDm) {
    side.cluster = parts.cluster.getMapping();
    side.slice = parts.slice.getMapping();
  }
  return side;
}

/// Whether a tier type has sizes that a transfer can be derived for.
static bool isSound(Type type) {
  TensorParts parts = getTensorParts(type);
  if (!parts.elementType ||
      parts.element.getMapping().size() > int64_t(machine::hbmBytes) * 2)
    return false;
  return !parts.cluster ||
         (parts.cluster.getMapping().size() <= int64_t(machine::clusters) &&
          parts.slice.getMapping().size() <=
              int64_t(machine::slicesPerCluster));
}

/// MM-30: data memory is filled from whole words.
static LogicalResult checkStart(const ViewOffset &offset,
                                FaultReporter &reporter) {
  auto isWhole = [](int64_t bytes) {
    return bytes % int64_t(machine::dmWriteGranule) == 0;
  };
  if (isWhole(offset.constant) &&
      llvm::all_of(llvm::make_second_range(offset.terms), isWhole))
    return success();
  reporter.fault("MM-30")
      << "the view begins at a byte of HBM that is no multiple of "
      << machine::dmWriteGranule;
  return failure();
}

FailureOr<TransferPlan> visa::planTransfer(Value source, Value target,
                                           Type targetType,
                                           FaultReporter &reporter) {
  Type sourceType = source.getType();
  bool fromDm = isa<DmType>(sourceType), toDm = isa<DmType>(targetType);
  if (fromDm == toDm) {
    reporter.notYetSupported()
        << "a transfer from " << (fromDm ? "DM to DM" : "HBM to HBM");
    return failure();
  }
  if (!isSound(sourceType) || !isSound(targetType))
    return failure();
  auto sourceOffset = getOffset(source, reporter);
  auto targetOffset = getOffset(target, reporter);
  if (failed(sourceOffset) || failed(targetOffset))
    return failure();
  auto commands =
      deriveTransfer(getSide(sourceType), getSide(targetType),
                     getBits(getTensorParts(sourceType).elementType));
  if (!commands) {
    reporter.report(commands.fault(), {});
    return failure();
  }
  TransferPlan plan{std::move(*commands), std::move(*sourceOffset),
                    std::move(*targetOffset)};
  // DM is moved as a whole: its slices have one address.
  if (!(fromDm ? plan.source : plan.target).terms.empty()) {
    reporter.notYetSupported() << "a view of a DM tensor";
    return failure();
  }
  if (toDm && failed(checkStart(plan.source, reporter)))
    return failure();
  for (const TransferCommand &command : plan.commands)
    for (const EngineTransfer &engine : command) {
      if (llvm::any_of(engine.loops, [](const TransferLoop &loop) {
            return loop.sourceStride < 0 || loop.targetStride < 0;
          })) {
        reporter.notYetSupported() << "a transfer that walks backwards";
        return failure();
      }
      if (!llvm::checkedAdd(engine.sourceBase, plan.source.constant) ||
          !llvm::checkedAdd(engine.targetBase, plan.target.constant)) {
        reporter.notYetSupported() << "a view that begins beyond 2^63 bytes";
        return failure();
      }
    }
  return plan;
}
