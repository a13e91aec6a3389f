//===- TransferPlan.cpp - What the DMA does for a transfer ----------------===//

#include "furiosa/Dialect/VISA/IR/TransferPlan.h"
#include "furiosa/Support/ByteRanges.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::visa;
using mapping::Mapping;
namespace machine = furiosa::rngd::machine;

/// A tensor of HBM or DM as one side of a transfer.
static TransferSide getSide(Type type, const ViewStart &start) {
  TensorParts parts = getTensorParts(type);
  TransferSide side;
  side.isDm = isa<DmType>(type);
  side.element = parts.element.getMapping();
  if (side.isDm) {
    side.cluster = parts.cluster.getMapping();
    side.slice = parts.slice.getMapping();
    side.clusterStart = start.cluster;
    side.sliceStart = start.slice;
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

/// MM-29, MM-30: data memory is filled in whole words, from HBM by whole words.
static void checkStart(const ViewStart &start, StringRef rule, StringRef memory,
                       FaultReporter &reporter) {
  int64_t word = machine::dmWriteGranule;
  if (!start.isMultiple(word))
    reporter.fault(rule) << "the view begins at a byte of " << memory
                         << " that is no multiple of " << word;
}

/// Source and target in one buffer may not share a byte.
static void checkOverlap(Value source, Value target, const TransferPlan &plan,
                         FaultReporter &reporter) {
  if (!target || getBaseBuffer(source) != getBaseBuffer(target))
    return;
  bool shares = !plan.source.terms.empty() || !plan.target.terms.empty();
  for (const TransferCommand &command : plan.commands)
    for (const EngineTransfer &engine : command) {
      SmallVector<int64_t> sizes, from, to;
      for (const TransferLoop &loop : engine.loops) {
        sizes.push_back(loop.size);
        from.push_back(loop.sourceStride);
        to.push_back(loop.targetStride);
      }
      shares =
          shares || overlap(getByteRanges(engine.sourceBase + plan.source.bytes,
                                          sizes, from, engine.packet),
                            getByteRanges(engine.targetBase + plan.target.bytes,
                                          sizes, to, engine.packet));
    }
  if (shares)
    reporter.notYetSupported()
        << "a copy within one tensor whose source and target may overlap";
}

FailureOr<TransferPlan> visa::planTransfer(Value source, Value target,
                                           Type targetType,
                                           FaultReporter &reporter) {
  Type sourceType = source.getType();
  bool fromDm = isa<DmType>(sourceType), toDm = isa<DmType>(targetType);
  if (!isSound(sourceType) || !isSound(targetType))
    return failure();
  auto sourceStart = getViewStart(source, reporter);
  auto targetStart = getViewStart(target, reporter);
  if (failed(sourceStart) || failed(targetStart))
    return failure();
  // A padded view says nothing about what lies behind its cells.
  bool mayMovePadding =
      (!target || target == getBaseBuffer(target)) &&
      (source == getBaseBuffer(source) || !source.getDefiningOp<PadOp>());
  auto commands = deriveTransfer(
      getSide(sourceType, *sourceStart), getSide(targetType, *targetStart),
      getElementBits(getTensorParts(sourceType)), mayMovePadding);
  if (!commands) {
    reporter.report(commands.fault(), {});
    return failure();
  }
  TransferPlan plan{std::move(*commands),
                    std::move(*sourceStart),
                    std::move(*targetStart),
                    {},
                    1};
  if (toDm && !fromDm)
    checkStart(plan.source, "MM-30", "HBM", reporter);
  if (toDm)
    checkStart(plan.target, "MM-29", "data memory", reporter);
  for (const TransferCommand &command : plan.commands)
    for (const EngineTransfer &engine : command)
      if (!llvm::checkedAdd(engine.sourceBase, plan.source.bytes) ||
          !llvm::checkedAdd(engine.targetBase, plan.target.bytes)) {
        reporter.notYetSupported() << "a view that begins beyond 2^63 bytes";
        return failure();
      }
  checkOverlap(source, target, plan, reporter);
  if (reporter.failed())
    return failure();
  return plan;
}

/// Packets as words, one after the other; nothing where a sequencer cannot walk
/// them.
static std::optional<EngineTransfer> getWords(EngineTransfer engine) {
  int64_t word = machine::subCommitBytes;
  bool fits = engine.packet % word == 0 && engine.sourceBase % word == 0 &&
              engine.targetBase % word == 0;
  if (int64_t words = engine.packet / word; words > 1)
    engine.loops.push_back({words, word, word});
  fits &= engine.loops.size() <= size_t(machine::sequencerEntries);
  for (const TransferLoop &loop : engine.loops)
    fits &= loop.size <= int64_t(machine::sequencerEntryLimit) &&
            loop.sourceStride >= 0 && loop.targetStride >= 0 &&
            loop.sourceStride % word == 0 && loop.targetStride % word == 0;
  engine.packet = word;
  return fits ? std::optional(engine) : std::nullopt;
}

/// Whether a view leaves out some of the clusters of its buffer.
static bool takesClusters(Value tensor) {
  while (auto view = tensor.getDefiningOp<ViewLikeOpInterface>()) {
    Value source = view.getViewSource();
    auto tile = dyn_cast<TileOp>(*view);
    if (tile && tile.getDimension() == Dimension::Cluster &&
        !mapping::same(
            getTensorParts(tensor.getType()).cluster.getMapping(),
            getTensorParts(source.getType()).cluster.getMapping()))
      return true;
    tensor = source;
  }
  return false;
}

/// Whether positions hold the same cells, whatever kind of padding the others
/// are.
static bool holdSame(const Mapping &lhs, const Mapping &rhs) {
  auto getForm = [](const Mapping &mapping) {
    auto form = mapping.resolved();
    std::optional<mapping::Canonical> same;
    if (!form)
      return same;
    same = *form;
    auto join = [](auto &runs) {
      if (!runs.empty())
        runs = {{runs.back().upTo, mapping::Pad::Top}};
    };
    for (mapping::Factor &factor : same->factors)
      join(factor.runs);
    join(same->tail);
    return same;
  };
  auto form = getForm(lhs);
  return form && form == getForm(rhs);
}

FailureOr<TransferPlan> visa::planParallelCopy(Value source, Value target,
                                               FaultReporter &reporter) {
  TensorParts from = getTensorParts(source.getType());
  TensorParts to = getTensorParts(target.getType());
  if (!isSound(source.getType()) || !isSound(target.getType()))
    return failure();
  auto sourceStart = getViewStart(source, reporter);
  auto targetStart = getViewStart(target, reporter);
  if (failed(sourceStart) || failed(targetStart))
    return failure();
  if (takesClusters(source) || takesClusters(target)) {
    reporter.notYetSupported()
        << "a parallel copy in some of the clusters, since the sub context "
           "moves words in all of them; leave `parallel` out, so that the DMA "
           "moves them";
    return failure();
  }
  bool stays =
      mapping::same(from.cluster.getMapping(), to.cluster.getMapping()) &&
      holdSame(from.slice.getMapping(), to.slice.getMapping()) &&
      sourceStart->slice == targetStart->slice;
  for (const ViewStart *start : {&*sourceStart, &*targetStart})
    stays &= llvm::all_of(start->terms, [](const ViewStart::Term &term) {
      return term.dimension == Dimension::Element;
    });
  if (!stays) {
    reporter.notYetSupported()
        << "a parallel copy whose source and target do not lie in the same "
           "slices; leave `parallel` out, so that the DMA moves them";
    return failure();
  }
  // What one slice holds is moved as from HBM to HBM, which knows no words.
  auto getElement = [](const TensorParts &parts) {
    TransferSide side;
    side.element = parts.element.getMapping();
    return side;
  };
  auto commands =
      deriveTransfer(getElement(from), getElement(to), getElementBits(from),
                     /*mayMovePadding=*/false);
  if (!commands) {
    reporter.report(commands.fault(), {});
    return failure();
  }
  TransferPlan plan{std::move(*commands),
                    std::move(*sourceStart),
                    std::move(*targetStart),
                    {},
                    1};
  int64_t word = machine::subCommitBytes;
  bool inWords = plan.source.isMultiple(word) && plan.target.isMultiple(word);
  for (TransferCommand &command : plan.commands) {
    auto words = command.size() == 1 ? getWords(command[0]) : std::nullopt;
    inWords &= words.has_value();
    if (words)
      command[0] = *words;
  }
  if (!inWords) {
    reporter.notYetSupported()
        << "a parallel copy that does not move words of " << word
        << " bytes in at most " << machine::sequencerEntries
        << " loops; leave `parallel` out, so that the DMA moves them";
    return failure();
  }
  checkOverlap(source, target, plan, reporter);
  if (reporter.failed())
    return failure();
  return plan;
}

/// Elements from one key of a table to the next; nothing where the key is not
/// one whole digit.
static std::optional<int64_t> getKeyStride(const Mapping &table, int key) {
  auto canonical = table.resolved();
  if (!canonical)
    return std::nullopt;
  std::optional<int64_t> stride;
  int64_t place = 1;
  for (const mapping::Factor &factor : llvm::reverse(canonical->factors)) {
    if (factor.axis == key) {
      if (stride || factor.stride != 1)
        return std::nullopt;
      stride = place;
    }
    place *= factor.extent;
  }
  // A key of one row has no digit.
  return stride.value_or(1);
}

FailureOr<TransferPlan> visa::planIndirect(Value table, Value index, Value rows,
                                           Type rowsType, bool scaled,
                                           FaultReporter &reporter) {
  Type tableType = table.getType();
  int key = getKeyAxis(tableType, index.getType(), rowsType);
  if (key < 0 || !isSound(tableType) || !isSound(rowsType) ||
      !isSound(index.getType()))
    return failure();
  auto tableStart = getViewStart(table, reporter);
  auto rowsStart = getViewStart(rows, reporter);
  auto indexStart = getViewStart(index, reporter);
  if (failed(tableStart) || failed(rowsStart) || failed(indexStart))
    return failure();
  TensorParts parts = getTensorParts(tableType);
  unsigned bits = getElementBits(parts);
  auto stride = getKeyStride(parts.element.getMapping(), key);
  int64_t cells = 1;
  for (auto [axis, declared] : llvm::enumerate(parts.axes.getAxes().list()))
    if (int(axis) != key && parts.element.getMapping().uses(axis))
      cells *= declared.size;
  if (!stride || *stride * bits % 8 != 0 || (scaled && *stride != cells)) {
    reporter.notYetSupported()
        << "a table whose rows are not one behind the other in HBM: element \""
        << parts.element.getText() << "\"";
    return failure();
  }
  // A list has no base that counters or numbers move.
  if (llvm::any_of(indexStart->terms, [](const ViewStart::Term &term) {
        return !isKnownWhenUnrolled(term.index);
      })) {
    reporter.notYetSupported()
        << "a list of rows in a view that begins at a number of the host; copy "
           "the list into a tensor of its own";
    return failure();
  }
  if (llvm::any_of(indexStart->terms, [](const ViewStart::Term &term) {
        return hasTooManySteps(term.index);
      })) {
    reporter.notYetSupported()
        << "a list of rows in a view in loops of more than " << maxUnrolledSteps
        << " steps, which are unrolled";
    return failure();
  }
  TransferSide tableSide = getSide(tableType, *tableStart);
  TransferSide rowsSide = getSide(rowsType, *rowsStart);
  bool isGather = !rows;
  auto commands = deriveIndirect(isGather ? tableSide : rowsSide,
                                 isGather ? rowsSide : tableSide,
                                 getSide(index.getType(), *indexStart), bits);
  if (!commands) {
    reporter.report(commands.fault(), {});
    return failure();
  }
  int64_t word = machine::dmWriteGranule;
  if (isGather &&
      (*stride * bits / 8 % word != 0 || !tableStart->isMultiple(word))) {
    reporter.fault("MM-30")
        << "a row of " << *stride * bits / 8 << " bytes in HBM \""
        << parts.element.getText() << "\" is no multiple of " << word;
    return failure();
  }
  TransferPlan plan;
  plan.commands = std::move(*commands);
  plan.scale = scaled ? 1 : *stride * bits / 8;
  plan.source = isGather ? *tableStart : *rowsStart;
  plan.target = isGather ? *rowsStart : *tableStart;
  plan.index = *indexStart;
  return plan;
}
