//===- StageLoops.cpp - Sequencer loops of the stages of a chain ----------===//

#include "furiosa/Dialect/VISA/IR/StageLoops.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::visa;
using mapping::Mapping;

const Layout &visa::getFetchedLayout(const ChainStage &stage) {
  const StageRecord *record = stage.find<SwitchOp>();
  if (!record)
    record = stage.find<CollectOp>();
  return record ? record->before : stage.records.back().after;
}

mapping::Result<SmallVector<mapping::Window>> visa::getWindows(FetchOp fetch) {
  SmallVector<mapping::Window> windows;
  if (!fetch.getWindows())
    return windows;
  TensorParts source = getTensorParts(fetch.getSource().getType());
  const mapping::Axes &axes = source.axes.getAxes();
  for (auto attribute : fetch.getWindows()->getAsRange<WindowAttr>()) {
    mapping::Window window;
    StringRef name = attribute.getOver().getValue();
    window.axis = axes.find(name);
    window.start = attribute.getStart();
    if (window.axis < 0)
      return mapping::Fault{"TU-79", "window",
                            "windows of axis " + name.str() +
                                ", which is not declared"};
    for (auto [text, factor] :
         llvm::zip_equal(attribute.getDigits(), attribute.getFactors())) {
      auto digit = Mapping::parse(text.getValue(), axes);
      if (!digit)
        return digit.fault();
      auto term = mapping::getWindowTerm(*digit, factor);
      if (!term)
        return term.fault();
      if (*term)
        window.terms.push_back(**term);
    }
    windows.push_back(std::move(window));
  }
  return windows;
}

mapping::Result<loops::FetchLoops> visa::deriveFetch(const ChainStage &stage) {
  auto fetch = cast<FetchOp>(stage.records[stage.index].op);
  TensorParts source = getTensorParts(fetch.getSource().getType());
  loops::FetchWidth width;
  width.bits = getElementBits(source);
  width.convertedBits = wireBits(getFetchedLayout(stage).type);
  width.isSub = stage.before().context == Context::Sub;
  if (fetch.getOther()) {
    const Mapping &memory = source.element.getMapping();
    auto index = Mapping::parse(*fetch.getAlong(), memory.axes());
    if (!index)
      return index.fault();
    return loops::derivePairLoops(memory, *index, stage.after().time,
                                  stage.after().packet, width);
  }
  if (fetch.getWindows()) {
    auto windows = getWindows(fetch);
    if (!windows)
      return windows.fault();
    return loops::deriveWindowLoops(source.element.getMapping(), *windows,
                                    stage.after().time, stage.after().packet,
                                    width);
  }
  return loops::deriveFetchLoops(source.element.getMapping(),
                                 stage.after().time, stage.after().packet,
                                 width);
}

mapping::Result<loops::ContractionLoops>
visa::deriveContraction(const ChainStage &stage) {
  const StageRecord *outer = stage.find<ContractOuterOp>();
  const StageRecord *time = stage.find<ContractTimeOp>();
  // A chain that ends early was refused before.
  if (!outer || !time)
    return mapping::Fault{"TU-46", "not-yet-supported",
                          "a contraction without all of its stages"};
  SmallVector<loops::TimeRun> runs;
  for (const TimeSegment &segment : time->after.timeSegments)
    runs.push_back({segment.size, segment.retained});
  TensorParts weight =
      getTensorParts(cast<ContractOuterOp>(outer->op).getWeight().getType());
  return loops::deriveContractionLoops(
      weight.element.getMapping(), outer->after.outerTime, outer->after.packet,
      getElementBits(weight), outer->after.timeBroadcast, runs);
}

mapping::Result<loops::LoopNest>
visa::deriveVrfOperand(Value operand, const ChainStage &stage) {
  TensorParts parts = getTensorParts(operand.getType());
  return loops::deriveVrfLoops(parts.element.getMapping(),
                               stage.before().flowTime(), stage.before().packet,
                               getElementBits(parts));
}

/// The tensor that a chain stores.
static TensorParts getStored(const ChainStage &stage) {
  auto chain = stage.records[stage.index].op->getParentOfType<ChainOp>();
  return getTensorParts(chain.getResult().getType());
}

mapping::Result<loops::LoopNest> visa::deriveCommit(const ChainStage &stage) {
  return loops::deriveCommitLoops(getStored(stage).element.getMapping(),
                                  stage.before().time, stage.before().packet,
                                  wireBits(stage.before().type),
                                  stage.before().context == Context::Sub);
}

bool visa::isStoredAnywhere(const ChainStage &stage) {
  return loops::hasLivePosition(getStored(stage).slice.getMapping());
}

SmallVector<int64_t> visa::getStoredSlices(const ChainStage &stage) {
  return loops::getLiveRanges(getStored(stage).slice.getMapping());
}
