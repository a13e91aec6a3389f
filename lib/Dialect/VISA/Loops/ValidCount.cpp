//===- ValidCount.cpp - Padding that a reduction must not take ------------===//

#include "furiosa/Dialect/VISA/Loops/ValidCount.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace furiosa;
using namespace furiosa::loops;
using llvm::SmallVector;
using mapping::Canonical;
using mapping::Factor;
using mapping::Mapping;

int64_t ValidCount::at(int64_t slice, int64_t flit) const {
  int64_t index = 0;
  for (const Loop &loop : llvm::reverse(loops)) {
    index += flit % loop.size * loop.stride;
    flit /= loop.size;
  }
  if (isClip)
    return std::clamp<int64_t>(clip - index, 0, span);
  int64_t masked = slice & mask;
  if (masked < match)
    return 8;
  return (masked > match && isMajor) || index >= count ? 0 : 8;
}

static mapping::Fault notCounted(const mapping::Axis &axis,
                                 llvm::StringRef why) {
  return {"VE-58", "valid-count",
          ("the padding of axis " + axis.name + " cannot be told apart: ") +
              why.str() +
              "; fill it with what the reduction ignores, or lay the axis out "
              "otherwise"};
}

namespace {
/// A digit of the reduced axis.
struct Digit {
  int64_t stride, extent;
  /// Positions of its mapping that one step moves.
  int64_t step;
};
} // namespace

/// Digits of `axis` in a mapping, outermost first. VE-58 where padding lies
/// within the axis.
static mapping::Result<SmallVector<Digit>>
getDigits(const Canonical &canonical, int axis, const mapping::Axis &info) {
  SmallVector<Digit> digits;
  int64_t step = 1;
  for (const Factor &factor : llvm::reverse(canonical.factors)) {
    if (factor.axis == axis) {
      int64_t liveEnd;
      if (factor.live < factor.extent &&
          !llvm::MulOverflow(factor.live, factor.stride, liveEnd) &&
          liveEnd < info.size)
        return notCounted(info, "it lies within the axis");
      digits.push_back({factor.stride, factor.extent, step});
    }
    step *= factor.extent;
  }
  std::reverse(digits.begin(), digits.end());
  return digits;
}

/// Slice number whose digits spell a contribution to the index.
static int64_t encodeSlice(llvm::ArrayRef<Digit> digits, int64_t contribution) {
  int64_t slice = 0;
  for (const Digit &digit : digits)
    slice += contribution / digit.stride % digit.extent * digit.step;
  return slice;
}

mapping::Result<std::optional<ValidCount>>
loops::deriveValidCount(const Mapping &slice, const Mapping &time,
                        const Mapping &packet, int axis) {
  using Outcome = std::optional<ValidCount>;
  const mapping::Axis &info = time.axes()[size_t(axis)];
  auto slices = slice.resolved(), steps = time.resolved(),
       lanes = packet.resolved();
  for (const auto *part : {&slices, &steps, &lanes}) {
    if (!*part)
      return part->fault();
    if (!(*part)->tail.empty())
      return mapping::Fault{"VE-58", "not-yet-supported",
                            "padding that fills no whole row"};
  }
  auto inSlice = getDigits(*slices, axis, info),
       inTime = getDigits(*steps, axis, info);
  if (!inSlice || !inTime)
    return inSlice ? inTime.fault() : inSlice.fault();

  // The innermost digit of a packet ends where the next one begins.
  int64_t outerStride = INT64_MAX;
  for (const auto *digits : {&*inSlice, &*inTime})
    for (const Digit &digit : *digits)
      outerStride = std::min(outerStride, digit.stride);
  int64_t span = 1;
  unsigned packetDigits = 0;
  bool isPacketPlain = true, isPacketShort = false;
  for (const Factor &factor : lanes->factors) {
    if (factor.axis != axis) {
      isPacketPlain &= factor.live == 1;
      continue;
    }
    ++packetDigits;
    isPacketPlain &= factor.stride == 1;
    span = std::min(factor.extent, outerStride);
    isPacketShort |= factor.live < factor.extent;
  }

  int64_t last = packetDigits ? span - 1 : 0;
  for (const auto *digits : {&*inSlice, &*inTime})
    for (const Digit &digit : *digits)
      last += (digit.extent - 1) * digit.stride;
  bool isPadded = last >= info.size;
  if (!isPadded && !isPacketShort)
    return Outcome();
  if (packetDigits > 1 || (packetDigits == 1 && !isPacketPlain))
    return notCounted(info, "the packet holds more than its innermost digit");

  // All digits together count without gaps.
  SmallVector<Digit> all(*inSlice);
  all.append(inTime->begin(), inTime->end());
  llvm::sort(
      all, [](const Digit &a, const Digit &b) { return a.stride < b.stride; });
  int64_t padded = packetDigits ? span : 1;
  // An axis whose lower digits are not there counts from its least one on.
  if (!packetDigits && !all.empty())
    padded = all.front().stride;
  for (const Digit &digit : all) {
    if (digit.stride != padded)
      return notCounted(info, "its digits leave gaps");
    padded = digit.stride * digit.extent;
  }

  ValidCount valid;
  auto setLoops = [&](int64_t divisor) {
    SmallVector<mapping::Entry> entries;
    for (const Factor &factor : steps->factors)
      entries.push_back(
          {factor.extent, factor.axis == axis ? factor.stride / divisor : 0});
    for (const mapping::Entry &entry : mapping::coalesce(entries))
      valid.loops.push_back({entry.size, entry.stride});
  };

  // Parts of a packet: only where all slices count alike.
  if (packetDigits && (info.size % span != 0 || isPacketShort)) {
    if (!inSlice->empty() && isPadded)
      return notCounted(info, "slices would count parts of a packet");
    valid.isClip = true;
    valid.clip = info.size;
    valid.span = span;
    setLoops(1);
  } else if (inSlice->empty()) {
    valid.count = info.size;
    setLoops(1);
  } else {
    int64_t previous = INT64_MAX;
    for (const Digit &digit : *inSlice) {
      if (digit.stride >= previous)
        return notCounted(info, "its digits in the slice do not fall in order");
      previous = digit.stride;
      if (!llvm::isPowerOf2_64(uint64_t(digit.extent)) ||
          !llvm::isPowerOf2_64(uint64_t(digit.step)))
        return notCounted(info, "a digit in the slice is no power of two");
      valid.mask += (digit.extent - 1) * digit.step;
    }
    int64_t lowSlice = inSlice->back().stride,
            highSlice = inSlice->front().stride;
    bool isSliceMajor = llvm::all_of(
        *inTime, [&](const Digit &digit) { return digit.stride < lowSlice; });
    bool isTimeMajor = llvm::all_of(
        *inTime, [&](const Digit &digit) { return digit.stride > highSlice; });
    if (isSliceMajor) {
      int64_t whole = info.size / lowSlice * lowSlice;
      valid.isMajor = true;
      valid.match = encodeSlice(*inSlice, whole);
      valid.count = info.size - whole;
      setLoops(1);
    } else if (isTimeMajor) {
      int64_t lowTime = INT64_MAX;
      for (const Digit &digit : *inTime)
        lowTime = std::min(lowTime, digit.stride);
      if (padded - info.size > lowTime)
        return notCounted(info, "the padding is longer than a round of slices");
      valid.match = encodeSlice(*inSlice, lowTime - (padded - info.size));
      valid.count = padded / lowTime - 1;
      setLoops(lowTime);
    } else {
      return notCounted(info, "its digits in slice and time interleave");
    }
  }
  if (valid.count > UINT16_MAX || valid.clip > UINT16_MAX)
    return notCounted(info, "it is longer than 65,535");
  if (valid.loops.size() > size_t(mapping::maxSequencerEntries))
    return mapping::Fault{"VE-59", "too-many-entries",
                          "the valid count needs more than 8 loops"};
  for (const Loop &loop : valid.loops)
    if (loop.size > mapping::maxSequencerEntrySize || loop.stride > UINT16_MAX)
      return mapping::Fault{"VE-59", "entry-too-large",
                            "the valid count has a loop or stride beyond 16 "
                            "bits"};
  return Outcome(valid);
}
