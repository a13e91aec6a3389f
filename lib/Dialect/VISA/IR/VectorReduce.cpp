//===- VectorReduce.cpp - Reductions and pair mode of the vector engine ---===//
//
// Rules of the stages that change which elements there are, and the loops of
// their units.
//
//===----------------------------------------------------------------------===//

#include "StageHelpers.h"
#include "VectorChain.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::visa;
using mapping::Canonical;
using mapping::Factor;
using mapping::Mapping;

/// The factors of a mapping under the resolved reading. Padding that fills no
/// row is not taken apart.
static mapping::Result<Canonical> getFactors(const Mapping &mapping) {
  auto canonical = mapping.resolved();
  if (canonical && !canonical->tail.empty())
    return mapping::Fault{"MA-13", "not-yet-supported",
                          "padding that fills no whole row of \"" +
                              mapping.str() + "\""};
  return canonical;
}

/// The mapping without the factors that `drops` chooses.
template <typename Predicate>
static Mapping dropFactors(const Canonical &canonical,
                           const mapping::Axes &axes, Predicate drops) {
  Canonical rest;
  for (const Factor &factor : canonical.factors)
    if (!drops(factor))
      rest.factors.push_back(factor);
  return Mapping::fromCanonical(rest, axes);
}

static Mapping parseConstant(StringRef text, const mapping::Axes &axes) {
  auto mapping = Mapping::parse(text, axes);
  return mapping ? *mapping : Mapping();
}

//===----------------------------------------------------------------------===//
// Reduction inside a slice
//===----------------------------------------------------------------------===//

/// VE-53 … VE-55: what a declared time lacks or has too much.
static void checkReducedTime(StageChecker &checker, StringAttr text, int axis,
                             const Mapping &before, const Mapping &expected) {
  auto found = checker.parse("time", text);
  if (!found || mapping::same(*found, expected))
    return;
  const mapping::Axes &axes = before.axes();
  if (found->uses(axis)) {
    checker.mismatch("VE-55", "time",
                     "axis " + axes[axis].name + " is reduced and cannot stay",
                     *found, expected);
    return;
  }
  for (size_t other = 0; other < axes.size(); ++other)
    if (before.uses(int(other)) && !found->uses(int(other)) &&
        expected.uses(int(other))) {
      checker.mismatch("VE-54", "time",
                       "axis " + axes[other].name + " is lost, but only " +
                           axes[axis].name + " is reduced",
                       *found, expected);
      return;
    }
  checker.mismatch("VE-53", "time",
                   "time is not that of the stream without axis " +
                       axes[axis].name,
                   *found, expected);
}

/// Behind a zip, whether the flits of both groups end in one sum.
static bool reducesGroups(const Layout &layout, int axis) {
  return layout.vector.zip && layout.time.uses(axis) &&
         layout.vector.pairTime.uses(layout.vector.pairAxis);
}

void VectorReduceOp::check(StageChecker &checker, Layout &layout) {
  enterStage(checker, layout, VectorStage::Reduce);
  checkWays(checker, layout, /*wantsNarrow=*/true);
  if (layout.vector.isPaired()) {
    checker.fault("VE-50") << "two groups are open; fuse them with vector_zip";
    return;
  }
  StringRef name = stringifyVectorFn(getFn());
  const vector::Reduction *row = vector::findIntraSlice(name, layout.type);
  if (!row)
    checker.fault("VE-60") << "no reduction " << name << " of "
                           << furiosa::toString(layout.type)
                           << " inside a slice; there are "
                           << (layout.type == ElementType::I32
                                   ? "add_sat, max, min"
                                   : "add, max, min");
  const mapping::Axes &axes = layout.time.axes();
  int axis = axes.find(getAxis());
  if (axis < 0 || (!layout.time.uses(axis) && !layout.packet.uses(axis))) {
    checker.fault("VE-54") << "axis " << getAxis()
                           << " is not in the time and packet of the stream, \""
                           << layout.time.str() << "\" and \""
                           << layout.packet.str() << "\"";
    return;
  }
  auto time = getFactors(layout.time), packet = getFactors(layout.packet),
       flow = getFactors(layout.flowTime());
  if (!time || !packet || !flow) {
    checker.report(!packet ? packet.fault()
                   : !time ? time.fault()
                           : flow.fault(),
                   packet ? "time" : "packet", "VE-53");
    return;
  }
  VectorState &state = layout.vector;
  bool endsGroups = reducesGroups(layout, axis);
  if (endsGroups && row && !findGroupAside(*this, *row)) {
    checker.fault("VE-8")
        << "behind a zip the flits of group 0 still flow, and no ALU is left "
           "that could make of them what the reduction ignores: "
        << (row->function == vector::Function::MinI32
                ? "fxp_add or fxp_mul in front of vector_narrow"
                : "fp_fma, or for some reductions fp_mul0 or fp_mul1")
        << "; split the chain into two";
  }
  auto isReduced = [&](const Factor &factor) { return factor.axis == axis; };
  Mapping expectedTime = dropFactors(*time, axes, isReduced);
  checkReducedTime(checker, getTimeAttr(), axis, layout.time, expectedTime);

  // The packet folds as a whole or not at all.
  Mapping expectedPacket = layout.packet;
  if (layout.packet.uses(axis)) {
    expectedPacket = parseConstant("1 # 4", axes);
    for (const Factor &factor : packet->factors)
      if (factor.axis >= 0 && factor.axis != axis && factor.live > 1) {
        checker.fault("VE-56", "packet")
            << "packet \"" << layout.packet.str() << "\" holds axis "
            << axes[factor.axis].name << " beside " << getAxis()
            << "; a packet folds as a whole or passes";
        return;
      }
  }
  auto found = checker.parse("packet", getPacketAttr());
  if (found && !mapping::same(*found, expectedPacket))
    checker.mismatch(found->uses(axis) ? "VE-55" : "VE-56", "packet",
                     "packet passes whole or folds to one element", *found,
                     expectedPacket);

  int64_t innerTime = 1;
  bool isInside = false;
  for (const Factor &factor : flow->factors) {
    if (isReduced(factor) || (endsGroups && factor.axis == state.pairAxis))
      isInside = true;
    else if (isInside)
      innerTime *= factor.extent;
  }
  if (innerTime > int64_t(rngd::machine::vectorReduceSlots))
    checker.fault("VE-57") << "time \"" << layout.flowTime().str() << "\" has "
                           << innerTime << " positions within axis "
                           << getAxis()
                           << (endsGroups ? " and that of the groups" : "")
                           << ", there are " << rngd::machine::vectorReduceSlots
                           << " accumulators; reorder the stream";
  if (state.zip)
    state.pairTime =
        endsGroups ? expectedTime : dropFactors(*flow, axes, isReduced);
  layout.time = expectedTime;
  layout.packet = expectedPacket;
}

mapping::Result<ReducePlan> visa::deriveReduce(const ChainStage &stage) {
  auto reduce = cast<VectorReduceOp>(stage.records[stage.index].op);
  const Layout &before = stage.before();
  int axis = before.time.axes().find(reduce.getAxis());
  auto time = getFactors(before.flowTime());
  if (!time)
    return time.fault();
  ReducePlan plan;
  plan.folds = before.packet.uses(axis);
  bool endsGroups = reducesGroups(before, axis);
  auto isReducedAxis = [&](const Factor &factor) {
    return factor.axis == axis ||
           (endsGroups && factor.axis == before.vector.pairAxis);
  };

  // Kept digits inside the outermost reduced one count through the slots.
  SmallVector<mapping::Entry> entries;
  int64_t slot = 1;
  bool reduces = llvm::any_of(time->factors, isReducedAxis);
  for (const Factor &factor : llvm::reverse(time->factors)) {
    bool isReduced = isReducedAxis(factor);
    bool isOutside = slot == 0;
    entries.push_back(
        {factor.extent, isReduced || isOutside || !reduces ? 0 : slot});
    if (isReduced)
      plan.count *= factor.extent;
    else if (!isOutside)
      slot *= factor.extent;
  }
  // Digits outside of the outermost reduced one start again at slot 0.
  bool isInside = false;
  std::reverse(entries.begin(), entries.end());
  for (auto [entry, factor] : llvm::zip_equal(entries, time->factors)) {
    isInside |= isReducedAxis(factor);
    if (!isInside)
      entry.stride = 0;
  }
  for (const mapping::Entry &entry : mapping::coalesce(entries))
    plan.loops.push_back({entry.size, entry.stride});
  if (plan.loops.size() > rngd::machine::sequencerEntries)
    return mapping::Fault{"MM-6", "too-many-entries",
                          "the reduction needs more than 8 loops"};
  if (plan.count > int64_t(rngd::machine::sequencerEntryLimit))
    return mapping::Fault{"MM-7", "not-yet-supported",
                          "a reduction over more than 65,536 steps"};

  // Counts are made of the flits, before narrow.
  const StageRecord *narrow = stage.find<VectorNarrowOp>();
  const Layout &flits = narrow ? narrow->before : before;
  auto valid = loops::deriveValidCount(flits.slice, flits.flowTime(),
                                       flits.packet, axis);
  if (!valid)
    return valid.fault();
  plan.valid = *valid;
  return plan;
}

void VectorReduceOp::checkUnit(FaultReporter &reporter,
                               const ChainStage &stage) {
  if (auto plan = deriveReduce(stage); !plan)
    reporter.report(plan.fault(), "time");
}

//===----------------------------------------------------------------------===//
// Reduction between slices
//===----------------------------------------------------------------------===//

VectorReduceOp visa::findReduceBefore(VectorInterSliceReduceOp op,
                                      ElementType type) {
  Operation *at = op->getPrevNode();
  while (isa_and_nonnull<VectorWidenOp>(at))
    at = at->getPrevNode();
  auto reduce = dyn_cast_or_null<VectorReduceOp>(at);
  if (!reduce)
    return VectorReduceOp();
  const vector::Reduction *inside =
      vector::findIntraSlice(stringifyVectorFn(reduce.getFn()), type);
  const vector::Reduction *between =
      vector::findInterSlice(stringifyVectorFn(op.getFn()), type);
  return inside && between && inside->identity == between->identity
             ? reduce
             : VectorReduceOp();
}

int visa::getIdentityAxis(VectorInterSliceReduceOp op, const Layout &before) {
  VectorReduceOp reduce = findReduceBefore(op, before.type);
  return reduce ? before.slice.axes().find(reduce.getAxis()) : -1;
}

/// Makes a digit of an axis two where one of the stride begins.
static void cutDigit(Canonical &stream, int axis, int64_t stride) {
  for (size_t k = 0; k < stream.factors.size(); ++k) {
    Factor &outer = stream.factors[k];
    if (outer.axis != axis || outer.stride >= stride ||
        outer.stride * outer.extent <= stride || stride % outer.stride != 0 ||
        outer.extent % (stride / outer.stride) != 0 || outer.runs.size() > 1)
      continue;
    // Both together may go beyond the axis, which is padding.
    Factor inner = outer;
    inner.extent = stride / outer.stride;
    inner.live = std::min(outer.live, inner.extent);
    outer.live = llvm::divideCeil(outer.live, inner.extent);
    outer.extent /= inner.extent;
    outer.stride = stride;
    for (Factor *part : {&outer, &inner})
      if (part->live == part->extent)
        part->runs.clear();
      else
        part->runs.front().upTo = part->extent;
    stream.factors.insert(stream.factors.begin() + k + 1, inner);
    return;
  }
}

/// The digits of a stream, innermost first, that together are `wanted`; none
/// where it holds not all of them, or one goes beyond it.
static SmallVector<Factor> coverDigit(const Canonical &stream,
                                      const Factor &wanted) {
  SmallVector<Factor> digits;
  int64_t end = wanted.stride * wanted.extent;
  for (int64_t stride = wanted.stride; stride < end;) {
    const auto *digit =
        llvm::find_if(stream.factors, [&](const Factor &factor) {
          return factor.axis == wanted.axis && factor.stride == stride &&
                 factor.extent > 1;
        });
    if (digit == stream.factors.end() || stride * digit->extent > end)
      return {};
    digits.push_back(*digit);
    stride *= digit->extent;
  }
  return digits;
}

/// How many values of an axis of `size` the digits from `stride` on hold.
static int64_t countValues(ArrayRef<Factor> digits, int64_t stride,
                           int64_t size) {
  int64_t last = 0;
  for (const Factor &digit : digits)
    last += (digit.live - 1) * digit.stride;
  return std::min<int64_t>(last / stride + 1, llvm::divideCeil(size, stride));
}

mapping::Result<SliceReducePlan>
visa::deriveSliceReduce(const Mapping &slice, const Mapping &newSlice,
                        const Mapping &time, const Mapping &flowTime,
                        int identityAxis) {
  auto unsupported = [](const Twine &what) {
    return mapping::Fault{"VE-63", "not-yet-supported", what.str()};
  };
  if (slice.size() != newSlice.size())
    return mapping::Fault{"VE-64", "slice-size",
                          "slice has " + std::to_string(newSlice.size()) +
                              " positions, the stream " +
                              std::to_string(slice.size())};
  // The groups are the least inner part beside which the mappings are alike.
  SliceReducePlan plan;
  for (int64_t size = 2; size <= slice.size() && plan.slices == 0; size *= 2) {
    auto before = mapping::split(slice, size);
    auto after = mapping::split(newSlice, size);
    if (!before || !after)
      continue;
    if (!mapping::same(before->first, after->first))
      continue;
    plan.slices = size;
    plan.reduced = before->second;
    plan.freed = after->second;
  }
  if (mapping::same(slice, newSlice))
    return mapping::Fault{"VE-63", "not-innermost",
                          "slice is that of the stream, so that nothing would "
                          "be reduced; write padding, a new axis or an axis of "
                          "time for its innermost part"};
  if (plan.slices == 0)
    return mapping::Fault{"VE-63", "not-innermost",
                          "the innermost slices must be reduced: slice \"" +
                              newSlice.str() + "\" keeps no outer part of \"" +
                              slice.str() + "\""};
  auto before = getFactors(plan.reduced), after = getFactors(plan.freed),
       steps = getFactors(time), flow = getFactors(flowTime);
  for (const auto *part : {&before, &after, &steps, &flow})
    if (!*part)
      return part->fault();
  const mapping::Axes &axes = slice.axes();
  for (const Factor &factor : before->factors)
    if (factor.live != factor.extent &&
        (factor.axis < 0 || factor.axis != identityAxis))
      return mapping::Fault{
          "VE-58", "padded-slices",
          "slices that are padding hold nothing that a reduction could take: " +
              (factor.axis < 0 ? std::string("padding")
                               : "axis " + axes[factor.axis].name) +
              " has " + std::to_string(factor.live) + " of " +
              std::to_string(factor.extent) +
              " slices; reduce the axis inside the slices first, with "
              "vector_reduce, which gives the others what has no effect"};
  // What goes from time into the slices.
  SmallVector<Factor> fromTime, fromFlow;
  int64_t step = 1;
  for (const Factor &factor : llvm::reverse(after->factors)) {
    bool isAxis = factor.axis >= 0 && factor.live > 1;
    if (isAxis && llvm::any_of(before->factors, [&](const Factor &reduced) {
          return reduced.axis == factor.axis && reduced.stride == factor.stride;
        }))
      return mapping::Fault{
          "VE-63", "not-innermost",
          "axis " + axes[factor.axis].name +
              " lies within the reduced slices and stays; the slices that are "
              "reduced must be the innermost"};
    if (isAxis && time.uses(factor.axis)) {
      // Slices beyond the live ones may be padding outside of the digit.
      SmallVector<Factor> digits, flits;
      int64_t values = countValues(factor, factor.stride, axes[factor.axis].size);
      for (int64_t extent : {factor.extent, factor.live}) {
        Factor wanted = factor;
        wanted.extent = extent;
        for (Canonical *stream : {&*steps, &*flow}) {
          cutDigit(*stream, wanted.axis, wanted.stride);
          cutDigit(*stream, wanted.axis, wanted.stride * extent);
        }
        digits = coverDigit(*steps, wanted);
        flits = coverDigit(*flow, wanted);
        // Padding of the slices must not take a further digit's place.
        if (digits.empty() || flits.empty() ||
            countValues(digits, factor.stride, axes[factor.axis].size) !=
                values) {
          digits.clear();
          continue;
        }
        if (!llvm::isPowerOf2_64(extent))
          return mapping::Fault{"VE-64", "freed-slot",
                                "axis " + axes[factor.axis].name + " has " +
                                    std::to_string(extent) +
                                    " positions in time and " +
                                    std::to_string(factor.extent) +
                                    " in the slices; pad it in time as well"};
        break;
      }
      if (digits.empty() || flits.empty())
        return mapping::Fault{"VE-64", "freed-slot",
                              "the digit of axis " + axes[factor.axis].name +
                                  " in slice is none of the time of the "
                                  "stream"};
      llvm::append_range(fromTime, digits);
      llvm::append_range(fromFlow, flits);
      int64_t place = step;
      for (const Factor &digit : flits) {
        plan.mask += (digit.extent - 1) * place;
        plan.steps.push_back({digit, place});
        place *= digit.extent;
      }
    } else if (isAxis && slice.uses(factor.axis)) {
      return mapping::Fault{"VE-64", "freed-slot",
                            "axis " + axes[factor.axis].name +
                                " is a digit of the slices already"};
    }
    step *= factor.extent;
  }
  plan.time = dropFactors(*steps, axes, [&](const Factor &factor) {
    return llvm::is_contained(fromTime, factor);
  });
  plan.flowTime = dropFactors(*flow, axes, [&](const Factor &factor) {
    return llvm::is_contained(fromFlow, factor);
  });
  SmallVector<mapping::Entry> entries;
  for (const Factor &factor : flow->factors) {
    int64_t stride = 0;
    for (const auto &[moved, place] : plan.steps)
      if (moved == factor)
        stride = place;
    entries.push_back({factor.extent, stride});
  }
  for (const mapping::Entry &entry : mapping::coalesce(entries))
    plan.loops.push_back({entry.size, entry.stride});
  if (plan.loops.size() > rngd::machine::sequencerEntries)
    return unsupported("a reduction between slices of more than 8 loops");
  return plan;
}

void VectorInterSliceReduceOp::check(StageChecker &checker, Layout &layout) {
  checker.enter(layout, Point::Vector);
  VectorState &state = layout.vector;
  if (state.reducer) {
    InFlightDiagnostic diag = checker.fault("VE-62");
    diag << "slices are reduced once in a chain; split it into two";
    diag.attachNote(state.reducer->getLoc()) << "it stands here";
    return;
  }
  if (state.isPaired()) {
    checker.fault("VE-50") << "two groups are open; fuse them with vector_zip";
    return;
  }
  if (state.isNarrow) {
    checker.fault("VE-12") << "packets have four elements; put vector_widen "
                              "before this stage";
    return;
  }
  switch (state.stage) {
  case VectorStage::Init:
  case VectorStage::Logic:
  case VectorStage::Fxp:
  case VectorStage::FxpToFp:
  case VectorStage::Widen:
  case VectorStage::FpToFxp:
  case VectorStage::Clip:
    break;
  default:
    checker.fault("VE-61") << "slices are not reduced behind "
                           << toString(state.stage)
                           << "; put this stage directly behind vector_init, "
                              "or behind a stage of the chain";
    return;
  }
  StringRef name = stringifyVectorFn(getFn());
  if (!vector::findInterSlice(name, layout.type))
    checker.fault("VE-60") << "no reduction " << name << " of "
                           << furiosa::toString(layout.type)
                           << " between slices; there are "
                           << (layout.type == ElementType::I32
                                   ? "add, add_sat, max, min"
                                   : "add, mul, max, min");
  state.reducer = getOperation();
  state.isReducerFirst = !state.chain;
  if (!state.isReducerFirst)
    state.stage = VectorStage::InterSliceReduce;
  state.op = getOperation();
  auto slice = checker.parse("slice", getSliceAttr());
  if (!slice)
    return;
  auto plan =
      deriveSliceReduce(layout.slice, *slice, layout.time, layout.flowTime(),
                        getIdentityAxis(*this, layout));
  if (!plan) {
    checker.report(plan.fault(), "slice");
    // On with what was meant.
    layout.slice = *slice;
    if (auto time = checker.parse("time", getTimeAttr()))
      layout.time = *time;
    return;
  }
  compareClause(checker, "VE-64", "time", getTimeAttr(), plan->time);
  layout.slice = *slice;
  layout.time = plan->time;
  if (state.zip)
    state.pairTime = plan->flowTime;
}

//===----------------------------------------------------------------------===//
// Pair mode
//===----------------------------------------------------------------------===//

/// Time without the axis of the groups.
static mapping::Result<Mapping> dropPairAxis(const Mapping &time, int axis) {
  auto factors = getFactors(time);
  if (!factors)
    return factors.fault();
  return dropFactors(*factors, time.axes(),
                     [&](const Factor &factor) { return factor.axis == axis; });
}

void VectorUnzipOp::check(StageChecker &checker, Layout &layout) {
  bool isFirst = layout.point == Point::VectorInit;
  enterStage(checker, layout, VectorStage::Tag);
  VectorState &state = layout.vector;
  if (!isFirst)
    checker.fault("VE-47") << "pair mode begins directly behind vector_init";
  const mapping::Axes &axes = layout.time.axes();
  int axis = axes.find(getAxis());
  state.unzip = getOperation();
  if (axis < 0 || axes[axis].size != 2 || !layout.time.uses(axis)) {
    checker.fault("VE-48")
        << "axis " << getAxis()
        << " is no axis of size 2 in the time of the stream, "
           "\""
        << layout.time.str() << "\"";
    return;
  }
  auto split = dropPairAxis(layout.time, axis);
  if (!split) {
    checker.report(split.fault(), "time", "VE-48");
    return;
  }
  compareClause(checker, "VE-48", "time", getTimeAttr(), *split);
  state.pairAxis = axis;
}

mapping::Result<int64_t> visa::deriveGroupFlits(const ChainStage &stage) {
  auto factors = getFactors(stage.before().time);
  if (!factors)
    return factors.fault();
  int64_t flits = 1;
  for (const Factor &factor : llvm::reverse(factors->factors)) {
    if (factor.axis == stage.after().vector.pairAxis)
      break;
    flits *= factor.extent;
  }
  if (flits > int64_t(rngd::machine::vectorGroupFlits))
    return mapping::Fault{
        "VE-48", "long-turns",
        "the groups take turns of " + std::to_string(flits) + " flits, and " +
            std::to_string(rngd::machine::vectorGroupFlits) +
            " are counted; put the axis of the groups further inside time"};
  return flits;
}

void VectorUnzipOp::checkUnit(FaultReporter &reporter,
                              const ChainStage &stage) {
  if (auto flits = deriveGroupFlits(stage); !flits)
    reporter.report(flits.fault(), "time");
}

void VectorZipOp::check(StageChecker &checker, Layout &layout) {
  VectorState &state = layout.vector;
  vector::Cluster cluster = getZipCluster(*this);
  bool isPaired = state.isPaired();
  enterStage(checker, layout, getStage(cluster), "VE-52");
  if (!isPaired) {
    checker.fault("VE-52") << "there are no groups to fuse; put vector_unzip "
                              "behind vector_init";
    return;
  }
  if (state.isNarrow != (vector::ways(cluster) == 4))
    checker.fault("VE-52") << "the " << vector::toString(cluster)
                           << " cluster takes " << vector::ways(cluster)
                           << " elements a packet, the stream has "
                           << (state.isNarrow ? "4; put vector_widen before it"
                                              : "8; put vector_narrow before "
                                                "it");
  const vector::Operation *row = getVectorOperation(*this, layout.type);
  claimAlu(*this, row, checker);
  if (!row)
    checker.fault("VE-13") << "the stream is " << furiosa::toString(layout.type)
                           << ", which " << vector::toString(cluster) << " "
                           << stringifyVectorFn(getFn())
                           << " does not take; convert the values, or take the "
                              "bits as they are with vector_reinterpret";
  state.zip = getOperation();
  state.pairTime = layout.time;
  // What the unzip was refused for is not reported again.
  if (state.pairAxis < 0) {
    layout.unknown = true;
    return;
  }
  auto merged = dropPairAxis(layout.time, state.pairAxis);
  if (!merged)
    checker.report(merged.fault(), {}, "VE-48");
  else
    layout.time = *merged;
}
