//===- SimulatorVector.cpp - Vector engine --------------------------------===//
//
// Takes the elements of each flit through the steps of the arithmetic unit, and
// the cast engine.
//
//===----------------------------------------------------------------------===//

#include "SimulatorImpl.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace furiosa;
using namespace furiosa::rngd;
using namespace furiosa::rngd::sim;
using llvm::Error;
namespace endian = llvm::support::endian;

VectorEngine::VectorEngine(const VectorConfig &config, const TrackedMemory &vrf,
                           unsigned slice)
    : config(config), vrf(vrf), slice(slice) {
  for (const VectorStep &step : config.chain) {
    bool reduces = step.kind == VectorStep::Kind::Reduce;
    counters.emplace_back(reduces ? 0 : step.alu.base,
                          reduces ? step.reduce.loops : step.alu.loops);
  }
  if (config.valid)
    validIndex.emplace(0, config.valid->loops);
}

//===----------------------------------------------------------------------===//
// Execution ids
//===----------------------------------------------------------------------===//

void VectorEngine::tag(Beat &beat) {
  const TagConfig &tag = config.tag;
  bool isGroup1 = tag.groupFlits && flitsIn / tag.groupFlits % 2;
  ++flitsIn;
  for (Element &element : beat.elements) {
    element.isTagged = true;
    element.id = isGroup1 ? vector::groupBit : 0;
    if (tag.mode != codes::BranchMode::Compare)
      continue;
    element.isTagged = element.isDefined;
    for (unsigned bit = 0; bit < 4; ++bit)
      element.id |= static_cast<uint8_t>(
          vector::compare(tag.comparisons[bit], tag.type, element.value,
                          tag.boundaries[bit])
          << bit);
  }
}

/// Whether the guard admits an element; nothing if its id is not known.
static std::optional<bool> admits(const vector::Guard &guard,
                                  const Element &element) {
  if (guard.isAlways())
    return true;
  if (!element.isTagged)
    return std::nullopt;
  return guard.admits(element.id);
}

//===----------------------------------------------------------------------===//
// Reduction
//===----------------------------------------------------------------------===//

/// Elements of the next flit that are no padding.
unsigned VectorEngine::countValid() {
  if (!validIndex)
    return machine::vectorWideElements;
  const ValidConfig &valid = *config.valid;
  uint64_t index = validIndex->address();
  validIndex->next();
  if (valid.isClip)
    return static_cast<unsigned>(std::min<uint64_t>(
        valid.span, index < valid.count ? valid.count - index : 0));
  unsigned masked = slice & valid.mask;
  bool passes =
      masked < valid.match ||
      (!(masked > valid.match && valid.isMajor) && index < valid.count);
  return passes ? machine::vectorWideElements : 0;
}

/// `to` with another value added; the id is that of the last one.
static void fold(const vector::Reduction &row, Element &to,
                 const Element &value) {
  auto result = vector::apply(row.function, to.value, value.value);
  to.isDefined = to.isDefined && value.isDefined && result;
  to.value = to.isDefined ? *result : 0;
}

bool VectorEngine::reduce(const ReduceConfig &reduce, LoopCounter &slots,
                          Beat &beat) {
  Sum &sum = sums[slots.address()];
  slots.next();
  Element start;
  start.value = reduce.row->identity;
  start.isDefined = start.isTagged = true;
  if (sum.count == 0)
    std::fill_n(sum.elements, 4, start);
  // What is not valid changes nothing.
  std::fill_n(beat.elements + beat.valid, 4 - std::min(beat.valid, 4u), start);
  unsigned width = reduce.folds ? 1 : 4;
  if (beat.valid != 0) {
    for (unsigned k = 0; k < std::min(width, beat.valid); ++k) {
      const Element &last = beat.elements[reduce.folds ? beat.valid - 1 : k];
      sum.elements[k].id = last.id;
      sum.elements[k].isTagged = last.isTagged;
    }
  }
  if (reduce.folds) {
    fold(*reduce.row, beat.elements[0], beat.elements[1]);
    fold(*reduce.row, beat.elements[2], beat.elements[3]);
    fold(*reduce.row, beat.elements[0], beat.elements[2]);
  }
  for (unsigned k = 0; k < width; ++k)
    fold(*reduce.row, sum.elements[k], beat.elements[k]);
  if (++sum.count != reduce.count)
    return false;
  sum.count = 0;
  for (unsigned k = 0; k < 4; ++k) {
    beat.elements[k] = k < width ? sum.elements[k] : Element();
    beat.elements[k].isTagged |= k >= width;
  }
  beat.valid = 4;
  return true;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// The first slot that admits the element gives the operand; without one it
/// passes.
void VectorEngine::apply(const AluConfig &alu, Element &element,
                         const Element &fromFile) {
  for (const AluSlot &slot : alu.slots) {
    auto isAdmitted = admits(slot.guard, element);
    if (isAdmitted == false)
      continue;
    Element operand;
    operand.value = slot.value;
    operand.isDefined = true;
    if (slot.source == AluSlot::Source::Vrf ||
        slot.source == AluSlot::Source::Stash)
      operand = fromFile;
    bool usesStream = alu.mode.empty() || alu.mode.contains('0');
    bool usesOperand = alu.mode.contains('1');
    std::optional<uint32_t> result;
    if (isAdmitted && (!usesStream || element.isDefined) &&
        (!usesOperand || operand.isDefined))
      result = vector::apply(*alu.operation, alu.mode, element.value,
                             operand.value, slot.secondary);
    element.isDefined = result.has_value();
    element.value = result.value_or(0);
    return;
  }
}

/// The operand of the register file for one element.
Element VectorEngine::readFile(const AluConfig &alu, LoopCounter &counter,
                               const Element &element) {
  Element operand;
  if (alu.reads(AluSlot::Source::Stash)) {
    // A zip takes an operand for the elements of group 1 alone.
    bool isTaken = config.stash->guard.isAlways() ||
                   admits(alu.slots.back().guard, element).value_or(true);
    if (isTaken && !stash.empty()) {
      operand = stash.front();
      stash.pop_front();
    }
    return operand;
  }
  uint8_t bytes[4];
  vrf.read(counter.address(), bytes, sizeof(bytes));
  operand.value = endian::read32le(bytes);
  operand.isDefined = vrf.definedMask(counter.address(), 4) == 0xF;
  counter.next();
  return operand;
}

Error VectorEngine::run(unsigned position, Beat &beat, BeatSink sink) {
  if (config.stash && config.stash->position == position)
    for (const Element &element : beat.live().take_front(config.stash->kept))
      if (admits(config.stash->guard, element).value_or(true))
        stash.push_back(element);
  if (position == config.chain.size())
    return sink(beat);

  const VectorStep &step = config.chain[position];
  switch (step.kind) {
  case VectorStep::Kind::Alu: {
    bool readsFile = step.alu.reads(AluSlot::Source::Vrf) ||
                     step.alu.reads(AluSlot::Source::Stash);
    for (auto [lane, element] : llvm::enumerate(beat.live())) {
      bool isBeyondStash = step.alu.reads(AluSlot::Source::Stash) &&
                           lane >= config.stash->read;
      apply(step.alu, element,
            readsFile && !isBeyondStash
                ? readFile(step.alu, counters[position], element)
                : Element());
    }
    break;
  }
  case VectorStep::Kind::FxpToFp:
    for (Element &element : beat.live())
      element.value =
          fixedToF32(static_cast<int32_t>(element.value), step.width);
    break;
  case VectorStep::Kind::FpToFxp:
    for (Element &element : beat.live())
      element.value =
          static_cast<uint32_t>(f32ToFixed(element.value, step.width));
    break;
  case VectorStep::Kind::Split: {
    Beat upper;
    upper.ways = beat.ways = 4;
    upper.valid = std::max(beat.valid, 4u) - 4;
    beat.valid = std::min(beat.valid, 4u);
    std::copy_n(beat.elements + 4, 4, upper.elements);
    if (Error error = run(position + 1, beat, sink))
      return error;
    return run(position + 1, upper, sink);
  }
  case VectorStep::Kind::Trim:
    beat.ways = 4;
    beat.valid = std::min(beat.valid, 4u);
    break;
  case VectorStep::Kind::Concat:
    if (!waiting) {
      waiting = beat;
      return Error::success();
    }
    std::copy_n(beat.elements, 4, waiting->elements + 4);
    beat = *waiting;
    waiting.reset();
    beat.ways = 8;
    break;
  case VectorStep::Kind::Pad:
    // Padding is undefined and has id 0.
    for (unsigned k = 4; k < 8; ++k) {
      beat.elements[k] = Element();
      beat.elements[k].isTagged = true;
    }
    beat.ways = 8;
    break;
  case VectorStep::Kind::Reduce:
    if (!reduce(step.reduce, counters[position], beat))
      return Error::success();
    break;
  }
  return run(position + 1, beat, sink);
}

//===----------------------------------------------------------------------===//
// Entry and exit
//===----------------------------------------------------------------------===//

/// Eight results first, the rest of the flit undefined.
static void castFlit(codes::CastCompactionMode mode, const Beat &beat,
                     Flit &flit) {
  using codes::CastCompactionMode;
  ElementType type = ElementType::I32;
  switch (mode) {
  case CastCompactionMode::Off:
    break;
  case CastCompactionMode::I4:
    type = ElementType::I4;
    break;
  case CastCompactionMode::I8:
    type = ElementType::I8;
    break;
  case CastCompactionMode::I16:
    type = ElementType::I16;
    break;
  case CastCompactionMode::F8E4M3:
    type = ElementType::F8E4M3;
    break;
  case CastCompactionMode::F8E5M2:
    type = ElementType::F8E5M2;
    break;
  case CastCompactionMode::BF16:
    type = ElementType::BF16;
    break;
  }
  unsigned bits = wireBits(type);
  std::memset(flit.bytes, 0, sizeof(flit.bytes));
  // A byte that two elements share is defined if either is: what is padding
  // beside a value must not take the value along.
  flit.defined = 0;
  for (unsigned k = 0; k < 8; ++k) {
    const Element &element = beat.elements[k];
    uint32_t code =
        isInteger(type)
            ? encodeInteger(type, static_cast<int32_t>(element.value))
            : encodeFloat(type, element.value);
    uint32_t bytes = ((1u << llvm::divideCeil(bits, 8)) - 1) << (k * bits / 8);
    if (!element.isDefined)
      continue;
    storeCode(type, flit.bytes, k, code);
    flit.defined |= bytes;
  }
}

Error VectorEngine::emit(const Beat &beat, FlitSink sink) {
  if (config.compaction && !config.compaction->admits(beat.elements[0].id))
    return Error::success();
  Flit flit;
  castFlit(config.cast, beat, flit);
  return sink(flit);
}

static Beat makeBeat(const Flit &flit) {
  Beat beat;
  for (unsigned k = 0; k < 8; ++k) {
    beat.elements[k].value = endian::read32le(flit.bytes + 4 * k);
    beat.elements[k].isDefined = (flit.defined >> 4 * k & 0xF) == 0xF;
  }
  return beat;
}

Error VectorEngine::process(const Flit &flit, FlitSink sink) {
  Beat beat = makeBeat(flit);
  return processBack(beat, sink);
}

Error VectorEngine::processFront(const Flit &flit, BeatSink sink) {
  Beat beat = makeBeat(flit);
  if (config.sliceReduce->isFirst)
    return sink(beat);
  beat.valid = countValid();
  tag(beat);
  return run(0, beat, sink);
}

Error VectorEngine::processBack(Beat &beat, FlitSink sink) {
  auto leave = [&](Beat &out) { return emit(out, sink); };
  if (config.sliceReduce && !config.sliceReduce->isFirst)
    return emit(beat, sink);
  beat.valid = countValid();
  tag(beat);
  return run(0, beat, leave);
}

//===----------------------------------------------------------------------===//
// Reduction between slices
//===----------------------------------------------------------------------===//

std::vector<Beat> sim::combineSlices(const SliceReduceConfig &config,
                                     llvm::ArrayRef<std::vector<Beat>> slices) {
  std::vector<Beat> sums = slices.front();
  for (const std::vector<Beat> &beats : slices.drop_front())
    for (auto [sum, beat] : llvm::zip_equal(sums, beats))
      for (unsigned k = 0; k < 8; ++k)
        fold(*config.row, sum.elements[k], beat.elements[k]);
  return sums;
}
