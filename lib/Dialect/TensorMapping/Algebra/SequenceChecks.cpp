//===- SequenceChecks.cpp - Legality of a derived access pattern ----------===//
//
// Carries between digits, coverage, cells written twice, a place for written
// padding, and the limits of the sequencer (MA-22 to MA-29, MA-32).
//
//===----------------------------------------------------------------------===//

#include "Sequence.h"

#include "llvm/Support/MathExtras.h"

using namespace furiosa::mapping;
using namespace furiosa::mapping::detail;

template <typename Function>
static void forEachTerm(const Derivation &derivation, Function function) {
  for (const StreamTerm &term : derivation.time)
    function(term);
  for (const StreamTerm &term : derivation.packet)
    function(term);
}

/// The largest coordinate that the steps below `boundary` add up to.
static uint64_t furthestBelow(const Derivation &derivation, int axis,
                              int64_t boundary) {
  uint64_t furthest = 0;
  forEachTerm(derivation, [&](const StreamTerm &term) {
    if (term.term.axis == axis && term.term.axisStride < boundary)
      furthest = llvm::SaturatingMultiplyAdd(
          static_cast<uint64_t>(term.term.axisStride),
          static_cast<uint64_t>(term.term.live - 1), furthest);
  });
  return furthest;
}

std::optional<Fault> detail::checkCarries(const Derivation &derivation) {
  for (const MemoryDigit &digit : derivation.memory) {
    const Factor &factor = digit.factor;
    if (factor.axis < 0)
      continue;
    const uint64_t size = derivation.axes[factor.axis].size;
    auto carries = [&](int64_t boundary) {
      return fault(
          "MA-22", "incompatible",
          "axis " + derivation.name(factor.axis) +
              " has no common refinement: digits of the stream add "
              "up to " +
              llvm::Twine(furthestBelow(derivation, factor.axis, boundary)) +
              " and carry over the cut of the memory at " +
              llvm::Twine(boundary) + "; use each digit of the axis once");
    };
    uint64_t below = furthestBelow(derivation, factor.axis, factor.stride);
    if (below >= static_cast<uint64_t>(factor.stride))
      return carries(factor.stride);
    // Sums past the axis are not live, so they need no place.
    int64_t end;
    if (llvm::MulOverflow(factor.stride, digit.modulus, end))
      end = digit.next;
    uint64_t within =
        std::min(furthestBelow(derivation, factor.axis, end), size - 1);
    if (static_cast<uint64_t>(end) < size &&
        within >= static_cast<uint64_t>(end))
      return carries(end);
    uint64_t held = factor.live;
    if (within / factor.stride >= held)
      return fault(derivation.writes() ? "MA-24" : "MA-23",
                   derivation.writes() ? "no-target" : "no-source",
                   "the memory holds " + llvm::Twine(held) +
                       " values of axis " + derivation.name(factor.axis) +
                       " at stride " + llvm::Twine(factor.stride) +
                       ", the stream asks for " +
                       llvm::Twine(within / factor.stride + 1) +
                       "; take a window of the stream");
  }
  return std::nullopt;
}

/// The terms that step through memory digit `index`, by rising step.
static llvm::SmallVector<const StreamTerm *, 4>
termsOf(const Derivation &derivation, size_t index) {
  llvm::SmallVector<const StreamTerm *, 4> terms;
  forEachTerm(derivation, [&](const StreamTerm &term) {
    if (term.digit == static_cast<int>(index) && term.term.axis >= 0)
      terms.push_back(&term);
  });
  llvm::sort(terms, [](const StreamTerm *lhs, const StreamTerm *rhs) {
    return std::pair(lhs->step, lhs->term.live) <
           std::pair(rhs->step, rhs->term.live);
  });
  return terms;
}

std::optional<Fault> detail::checkCoverage(const Derivation &derivation) {
  const bool writes = derivation.writes();
  llvm::StringRef done = writes ? "written" : "read";
  llvm::StringRef advice =
      writes ? "; write the whole memory, or commit into a tile view of it"
             : "; read a tile view that holds only the window";
  for (auto [index, digit] : llvm::enumerate(derivation.memory)) {
    const Factor &factor = digit.factor;
    if (factor.axis < 0) {
      if (factor.live > 1 && writes)
        return fault("MA-26", "unwritten",
                     "the memory repeats its cells " +
                         llvm::Twine(factor.live) +
                         " times by a number, and the stream writes one copy; "
                         "pad with '1 # " +
                         llvm::Twine(factor.live) + "' instead");
      continue;
    }
    // Values are reached one after the other iff no step leaves a gap.
    uint64_t reach = 1;
    for (const StreamTerm *term : termsOf(derivation, index))
      if (static_cast<uint64_t>(term->step) <= reach)
        reach = llvm::SaturatingMultiplyAdd(
            static_cast<uint64_t>(term->step),
            static_cast<uint64_t>(term->term.live - 1), reach);
    if (reach < static_cast<uint64_t>(factor.live))
      return fault("MA-26", "unwritten",
                   "of axis " + derivation.name(factor.axis) + " at stride " +
                       llvm::Twine(factor.stride) + ", the first " +
                       llvm::Twine(reach) + " of " + llvm::Twine(factor.live) +
                       " values are " + done + " without a gap" + advice);
  }
  if (derivation.ragged)
    return fault("MA-26", "unwritten",
                 "a window of the stream ends inside a digit of the memory, "
                 "whose last values are not " +
                     done + advice);
  if (!writes)
    return std::nullopt;
  auto zero = [](PadRun run) { return run.kind == Pad::Zero; };
  for (const MemoryDigit &digit : derivation.memory)
    if (llvm::any_of(digit.factor.runs, zero))
      return fault("MA-26", "unwritten-zero",
                   "the memory has zero padding from " +
                       llvm::Twine(digit.factor.live) + " to " +
                       llvm::Twine(digit.factor.extent) +
                       ", which the stream leaves unwritten; declare it with "
                       "'#', or clear the memory and write a view of it");
  if (llvm::any_of(derivation.memoryTail, zero))
    return fault("MA-26", "unwritten-zero",
                 "the memory has zero padding behind its " +
                     llvm::Twine(derivation.memoryCore) +
                     " cells, which the stream leaves unwritten; declare it "
                     "with '#'");
  return std::nullopt;
}

std::optional<Fault> detail::checkInjective(const Derivation &derivation) {
  for (auto [index, digit] : llvm::enumerate(derivation.memory)) {
    uint64_t reach = 1;
    for (const StreamTerm *term : termsOf(derivation, index)) {
      if (static_cast<uint64_t>(term->step) < reach)
        return fault("MA-25", "written-twice",
                     "the stream steps twice through axis " +
                         derivation.name(digit.factor.axis) + " at stride " +
                         llvm::Twine(term->term.axisStride) +
                         ", and a memory cell is written once; use each digit "
                         "of an axis once");
      reach = llvm::SaturatingMultiplyAdd(
          static_cast<uint64_t>(term->step),
          static_cast<uint64_t>(term->term.live - 1), reach);
    }
  }
  return std::nullopt;
}

namespace {
/// Values of each memory digit that the terms may add up to, padding included.
class PaddingRoom {
public:
  explicit PaddingRoom(const Derivation &derivation) : derivation(derivation) {
    for (auto [index, digit] : llvm::enumerate(derivation.memory)) {
      uint64_t reach = 0;
      for (const StreamTerm *term : termsOf(derivation, index))
        reach = llvm::SaturatingMultiplyAdd(
            static_cast<uint64_t>(term->step),
            static_cast<uint64_t>(term->term.live - 1), reach);
      reach = std::max<uint64_t>(reach, digit.factor.live - 1);
      fits &= reach < static_cast<uint64_t>(digit.topEnd());
      furthest.push_back(static_cast<int64_t>(reach));
    }
    tailFurthest = derivation.memoryCore - 1;
  }

  /// Whether sums past an axis, which are padding of the stream, have a place.
  bool holdsOvershoot() const { return fits; }

  /// Lets steps `live` to `extent` of a term run on in its memory digit.
  bool extend(const StreamTerm &term) {
    const MemoryDigit &digit = derivation.memory[term.digit];
    int64_t first, added;
    if (llvm::MulOverflow(term.term.live, term.step, first) ||
        first < digit.factor.live)
      return false;
    if (llvm::MulOverflow(term.extent - term.term.live, term.step, added))
      return false;
    return take(furthest[term.digit], added, digit.topEnd());
  }

  /// Steps of padding, `count` in all, over the live values of some digit; the
  /// address stride, or 0 where there is no room.
  int64_t claim(int64_t count) {
    for (size_t i = derivation.memory.size(); i-- > 0;) {
      const MemoryDigit &digit = derivation.memory[i];
      if (int64_t stride = claimWithin(furthest[i], digit.factor.live, count,
                                       digit.topEnd()))
        return stride * digit.addressStride;
    }
    int64_t end = derivation.memoryCore;
    if (!derivation.memoryTail.empty() &&
        derivation.memoryTail[0].kind == Pad::Top)
      end = derivation.memoryTail[0].upTo;
    return claimWithin(tailFurthest, derivation.memoryCore, count, end);
  }

private:
  /// The stride of steps of padding behind `live` values: behind all that is
  /// written so far, where one would write them, or directly behind the live
  /// ones where that has no room.
  static int64_t claimWithin(int64_t &furthest, int64_t live, int64_t count,
                             int64_t end) {
    for (int64_t stride : {furthest + 1, live}) {
      int64_t added;
      if (!llvm::MulOverflow(stride, count - 1, added) &&
          take(furthest, added, end))
        return stride;
    }
    return 0;
  }

  static bool take(int64_t &furthest, int64_t added, int64_t end) {
    int64_t sum;
    if (llvm::AddOverflow(furthest, added, sum) || sum >= end)
      return false;
    furthest = sum;
    return true;
  }

  const Derivation &derivation;
  std::vector<int64_t> furthest;
  int64_t tailFurthest;
  bool fits = true;
};
} // namespace

std::optional<Fault> detail::placeWritePadding(Derivation &derivation) {
  PaddingRoom room(derivation);
  if (!room.holdsOvershoot())
    return fault("MA-27", "pad-collision",
                 "digits of a padded axis add up past the axis, and these "
                 "cells do not land on top padding of the memory; pad the "
                 "axis in the memory to as many");
  for (std::vector<StreamTerm> *terms :
       {&derivation.packet, &derivation.time}) {
    for (size_t i = 0; i < terms->size(); ++i) {
      StreamTerm &term = (*terms)[i];
      int64_t live = term.term.live, extent = term.extent;
      if (extent == live)
        continue;
      if (term.digit >= 0 && room.extend(term)) {
        term.term.entry.size = extent;
        continue;
      }
      int64_t stride = extent % live == 0 ? room.claim(extent / live) : 0;
      if (stride == 0)
        return fault("MA-27", "pad-collision",
                     "padding of the stream from " + llvm::Twine(live) +
                         " to " + llvm::Twine(extent) +
                         " digits does not land on top padding of the memory; "
                         "trim the stream first, or pad the memory to as many");
      if (live == 1) {
        term.term.entry = {extent, stride};
        continue;
      }
      term.extent = live;
      StreamTerm padding;
      padding.term.inPacket = term.term.inPacket;
      padding.term.source = TermSource::Padding;
      padding.term.entry = {extent / live, stride};
      terms->insert(terms->begin() + ++i, padding);
    }
  }
  return std::nullopt;
}

Result<int64_t> furiosa::mapping::accessBytes(const Sequence &sequence,
                                              int64_t elementBits) {
  // The innermost loop may only be cut where its elements are neighbours.
  Entry inner = {1, 1};
  if (!sequence.packet.empty())
    inner = sequence.packet.back();
  else if (!sequence.time.empty())
    inner = sequence.time.back();
  const int64_t elements = inner.stride <= 1 ? sequence.accessSize : 1;
  for (int64_t bytes : {32, 16, 8, 4, 2, 1})
    if (elementBits > 0 && bytes * 8 % elementBits == 0 &&
        elements % (bytes * 8 / elementBits) == 0)
      return bytes;
  return fault(
      "MA-32", "access",
      "no access of 1, 2, 4, 8, 16 or 32 bytes takes a whole part of " +
          llvm::Twine(elements) + " elements of " + llvm::Twine(elementBits) +
          " bits; the innermost entry is " + llvm::Twine(inner.size) + ":" +
          llvm::Twine(inner.stride) + ", a packet has " +
          llvm::Twine(sequence.packetSize) +
          " elements; pad the packet or keep neighbours together");
}

std::optional<Fault>
furiosa::mapping::checkSequencerLimits(const Sequence &sequence) {
  for (const auto &entries : {llvm::ArrayRef<Entry>(sequence.time),
                              llvm::ArrayRef<Entry>(sequence.packet)})
    for (Entry entry : entries)
      if (entry.size > maxSequencerEntrySize)
        return fault(
            "MA-29", "too-many-entries",
            "one entry needs " + llvm::Twine(entry.size) + " steps of " +
                llvm::Twine(entry.stride) + ", the sequencer counts to " +
                llvm::Twine(maxSequencerEntrySize) + "; split the digit");
  int64_t count = sequence.time.size() + sequence.packet.size();
  if (count <= maxSequencerEntries)
    return std::nullopt;

  // A pair that would be one loop if it stood side by side in one descriptor.
  std::string hint;
  llvm::SmallVector<Entry, 8> all(sequence.time.begin(), sequence.time.end());
  all.append(sequence.packet.begin(), sequence.packet.end());
  for (const Entry &outer : all)
    for (const Entry &inner : all) {
      int64_t continued;
      if (!hint.empty() || &outer == &inner ||
          llvm::MulOverflow(inner.size, inner.stride, continued) ||
          continued != outer.stride)
        continue;
      hint = ("; " + llvm::Twine(outer.size) + ":" + llvm::Twine(outer.stride) +
              " right outside of " + llvm::Twine(inner.size) + ":" +
              llvm::Twine(inner.stride) + " would be one entry")
                 .str();
    }
  return fault("MA-29", "too-many-entries",
               "the access needs " + llvm::Twine(count) +
                   " entries, the sequencer has " +
                   llvm::Twine(maxSequencerEntries) + hint);
}
