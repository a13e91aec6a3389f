//===- Sequence.cpp - Deriving sequencer entries --------------------------===//
//
// Matches the digits of a stream with the digits of a memory, and turns the
// matches into coalesced loops (MA-13, MA-22 to MA-28).
//
//===----------------------------------------------------------------------===//

#include "Sequence.h"
#include "Parse.h"

#include "llvm/Support/MathExtras.h"

#include <limits>
#include <numeric>

using namespace furiosa::mapping;
using namespace furiosa::mapping::detail;

static bool hasKind(const Canonical &form, Pad kind) {
  auto is = [&](PadRun run) { return run.kind == kind; };
  return llvm::any_of(form.tail, is) ||
         llvm::any_of(form.factors, [&](const Factor &factor) {
           return llvm::any_of(factor.runs, is);
         });
}

/// Places the digits of the memory; MA-15 where one repeats.
static std::optional<Fault> placeMemory(Derivation &derivation,
                                        const Canonical &memory) {
  derivation.memory.reserve(memory.factors.size());
  for (const Factor &factor : memory.factors)
    derivation.memory.emplace_back(factor, derivation.axes);
  int64_t stride = 1;
  for (MemoryDigit &digit : llvm::reverse(derivation.memory)) {
    digit.addressStride = stride;
    stride *= digit.factor.extent;
  }
  derivation.memoryCore = stride;
  derivation.memoryTail = memory.tail;
  derivation.memorySize =
      memory.tail.empty() ? stride : memory.tail.back().upTo;

  for (MemoryDigit &digit : derivation.memory) {
    const Factor &factor = digit.factor;
    if (factor.axis < 0)
      continue;
    digit.next = derivation.axes[factor.axis].size;
    digit.isTopmost = true;
    for (const MemoryDigit &other : derivation.memory) {
      if (&other == &digit || other.factor.axis != factor.axis ||
          other.factor.stride < factor.stride)
        continue;
      digit.isTopmost = false;
      digit.next = std::min(digit.next, other.factor.stride);
    }
    if (!digit.isTopmost &&
        furthestStep(factor) >= static_cast<uint64_t>(digit.next))
      return fault(
          "MA-15", "repeated",
          "the memory holds a digit of axis " + derivation.name(factor.axis) +
              " twice, at strides " + llvm::Twine(factor.stride) + " and " +
              llvm::Twine(digit.next) + "; use each digit of an axis once");
    int64_t span;
    bool whole = !llvm::MulOverflow(factor.stride, factor.live, span) &&
                 digit.next % span == 0;
    digit.modulus = whole ? factor.live : ceilDiv(digit.next, factor.stride);
  }
  return std::nullopt;
}

/// The memory digit of `axis` that tells apart steps of `weight`, or -1.
static int findDigit(const Derivation &derivation, int axis, int64_t weight) {
  int found = -1;
  for (auto [index, digit] : llvm::enumerate(derivation.memory)) {
    const Factor &factor = digit.factor;
    if (factor.axis != axis || factor.stride > weight)
      continue;
    if (found < 0 || factor.stride > derivation.memory[found].factor.stride)
      found = static_cast<int>(index);
  }
  if (found < 0)
    return -1;
  const MemoryDigit &digit = derivation.memory[found];
  return weight / digit.factor.stride < digit.modulus ? found : -1;
}

/// Splits one stream factor at the digits of the memory.
static std::optional<Fault> matchFactor(const Derivation &derivation,
                                        const Factor &factor, bool inPacket,
                                        std::vector<StreamTerm> &terms,
                                        bool &ragged) {
  auto emit = [&](TermSource source, int axis, int64_t weight, int64_t live,
                  int64_t extent, int digit, int64_t step) {
    StreamTerm term;
    term.term.inPacket = inPacket;
    term.term.source = source;
    term.term.axis = axis;
    term.term.axisStride = weight;
    term.term.live = live;
    term.term.entry = {live, 0};
    if (digit >= 0) {
      const MemoryDigit &place = derivation.memory[digit];
      term.term.entry.stride = place.addressStride * step;
      term.term.digitStride = place.factor.stride;
      term.term.digitElements = place.addressStride;
    }
    term.digit = digit;
    term.step = step;
    term.extent = extent;
    terms.push_back(term);
  };

  if (factor.axis < 0) {
    bool pad = factor.live == 1;
    if (!pad && derivation.writes())
      return fault("MA-25", "written-twice",
                   "the stream repeats each cell " + llvm::Twine(factor.live) +
                       " times by a number, and a memory cell is written once; "
                       "drop the number or pad with '1 # " +
                       llvm::Twine(factor.live) + "'");
    emit(pad ? TermSource::Padding : TermSource::Broadcast, -1, 0, factor.live,
         factor.extent, -1, 0);
    return std::nullopt;
  }

  const int axis = factor.axis;
  const std::string &name = derivation.name(axis);
  const int64_t size = derivation.axes[axis].size;
  int64_t left = std::min(factor.live, ceilDiv(size, factor.stride));
  const bool window = left < ceilDiv(size, factor.stride);
  int64_t extent = factor.extent;
  int64_t weight = factor.stride;

  auto incompatible = [&](int64_t boundary) {
    return fault(
        "MA-22", "incompatible",
        "axis " + name + " has no common refinement: the stream steps by " +
            llvm::Twine(factor.stride) + " over " + llvm::Twine(factor.extent) +
            " digits, the memory cuts the axis at " + llvm::Twine(boundary) +
            (std::gcd(boundary, weight) > 1
                 ? "; split the axis at " +
                       std::to_string(std::gcd(boundary, weight)) +
                       " on both sides, or store it"
                 : std::string("; store it")) +
            " in the order of the stream");
  };

  while (true) {
    int index = findDigit(derivation, axis, weight);
    if (index >= 0) {
      const MemoryDigit &digit = derivation.memory[index];
      int64_t base = digit.factor.stride;
      if (weight % base != 0)
        return incompatible(base);
      int64_t step = weight / base;
      int64_t furthest;
      if (!llvm::MulOverflow(left - 1, step, furthest) &&
          furthest < digit.factor.live) {
        emit(TermSource::Memory, axis, weight, left, extent, index, step);
        return std::nullopt;
      }
      if (digit.factor.live < digit.modulus)
        return fault(derivation.writes() ? "MA-24" : "MA-23",
                     derivation.writes() ? "no-target" : "no-source",
                     "the memory holds " + llvm::Twine(digit.factor.live) +
                         " of " + llvm::Twine(digit.modulus) +
                         " values of axis " + name + " at stride " +
                         llvm::Twine(base) + ", the stream asks for " +
                         llvm::Twine(left) +
                         "; take a window of the stream "
                         "with '= " +
                         llvm::Twine(ceilDiv(digit.factor.live, step)) + "'");
      if (digit.modulus % step != 0)
        return incompatible(base * digit.modulus);
      int64_t count = digit.modulus / step;
      // Digits past the live ones demand nothing: only the extent must divide.
      if (extent % count != 0)
        return incompatible(base * digit.modulus);
      ragged |= left % count != 0 && window;
      emit(TermSource::Memory, axis, weight, count, count, index, step);
      weight *= count;
      left = ceilDiv(left, count);
      extent /= count;
    } else {
      if (derivation.writes())
        return fault("MA-24", "no-target",
                     "the memory has no digit of axis " + name + " at stride " +
                         llvm::Twine(weight) +
                         "; a broadcast cannot be written, so reduce or drop " +
                         llvm::Twine(left) + " steps of it");
      int64_t next = 0;
      for (const MemoryDigit &digit : derivation.memory)
        if (digit.factor.axis == axis && digit.factor.stride > weight &&
            (next == 0 || digit.factor.stride < next))
          next = digit.factor.stride;
      if (next == 0 || next / weight >= left ||
          (next % weight != 0 && next / weight >= left - 1)) {
        emit(TermSource::Broadcast, axis, weight, left, extent, -1, 0);
        return std::nullopt;
      }
      int64_t count = next / weight;
      if (next % weight != 0 || extent % count != 0)
        return incompatible(next);
      ragged |= left % count != 0 && window;
      emit(TermSource::Broadcast, axis, weight, count, count, -1, 0);
      weight = next;
      left = ceilDiv(left, count);
      extent /= count;
    }
  }
}

static std::optional<Fault>
matchStream(Derivation &derivation, const Canonical &stream, bool inPacket) {
  std::vector<StreamTerm> &terms =
      inPacket ? derivation.packet : derivation.time;
  terms.reserve(2 * stream.factors.size());
  for (const Factor &factor : llvm::reverse(stream.factors)) {
    size_t first = terms.size();
    if (std::optional<Fault> bad =
            matchFactor(derivation, factor, inPacket, terms, derivation.ragged))
      return bad;
    terms.back().whole = &factor;
    for (const StreamTerm &inner :
         llvm::ArrayRef(terms).drop_front(first).drop_back())
      terms.back().digitsPerStep *= inner.extent;
  }
  (inPacket ? derivation.packetTail : derivation.timeTail) = stream.tail;
  return std::nullopt;
}

/// Padding of a read stream keeps the stride of its factor.
static void placeReadPadding(Derivation &derivation) {
  for (std::vector<StreamTerm> *terms : {&derivation.time, &derivation.packet})
    for (StreamTerm &term : *terms) {
      Entry &entry = term.term.entry;
      entry.size = term.extent;
      bool innermost = terms == &derivation.packet && &term == &terms->front();
      if (term.term.source == TermSource::Padding)
        entry.stride = innermost ? 1 : 0;
    }
}

llvm::SmallVector<Entry, 8>
furiosa::mapping::coalesce(llvm::ArrayRef<Entry> entries) {
  llvm::SmallVector<Entry, 8> merged; // innermost first
  for (Entry outer : llvm::reverse(entries)) {
    if (outer.size == 1)
      continue;
    if (!merged.empty()) {
      Entry &inner = merged.back();
      int64_t continued, size;
      if (!llvm::MulOverflow(inner.size, inner.stride, continued) &&
          outer.stride == continued &&
          !llvm::MulOverflow(inner.size, outer.size, size) &&
          size <= maxSequencerEntrySize) {
        inner.size = size;
        continue;
      }
    }
    merged.push_back(outer);
  }
  std::reverse(merged.begin(), merged.end());
  return merged;
}

/// The end of the top padding that follows one run of `length` cells from
/// address 0 on; 0 where none follows directly.
static int64_t topPaddingAfter(const Derivation &derivation, int64_t length) {
  if (length == derivation.memoryCore && !derivation.memoryTail.empty())
    return derivation.memoryTail[0].kind == Pad::Top
               ? derivation.memoryTail[0].upTo
               : 0;
  for (const MemoryDigit &digit : derivation.memory)
    if (digit.factor.live * digit.addressStride == length)
      return digit.topEnd() * digit.addressStride;
  return 0;
}

/// Appends where the digits of a comma list meet, from the innermost on.
static void collectSeams(const Expr &expr, int64_t &position,
                         std::vector<int64_t> &seams) {
  if (expr.kind == Expr::Kind::Product && expr.ops.empty()) {
    for (const Expr &part : llvm::reverse(expr.parts))
      collectSeams(part, position, seams);
    return;
  }
  if (expr.size == 1)
    return;
  position *= expr.size;
  seams.push_back(position);
}

/// Appends the terms of one descriptor as the user wrote them, innermost first:
/// digits that are one run in the canonical form come apart again.
static void cutAtSeams(llvm::ArrayRef<StreamTerm> terms,
                       llvm::ArrayRef<int64_t> seams,
                       std::vector<SequenceTerm> &cut) {
  int64_t position = 1;
  for (const StreamTerm &whole : terms) {
    SequenceTerm left = whole.term;
    for (int64_t seam : seams) {
      if (seam <= position || seam % position != 0)
        continue;
      int64_t count = seam / position, stride, axisStride;
      if (count >= left.entry.size || left.entry.size % count != 0 ||
          llvm::MulOverflow(count, left.entry.stride, stride) ||
          llvm::MulOverflow(count, left.axisStride, axisStride))
        continue;
      SequenceTerm inner = left;
      inner.entry.size = count;
      inner.live = std::min(count, left.live);
      cut.push_back(inner);
      left.entry = {left.entry.size / count, stride};
      left.axisStride = axisStride;
      left.live = ceilDiv(left.live, count);
      position = seam;
    }
    position *= left.entry.size;
    cut.push_back(left);
  }
}

/// Entries of one descriptor, its tail included. Terms are innermost first.
static Result<llvm::SmallVector<Entry, 8>>
entriesOf(const Derivation &derivation, llvm::ArrayRef<SequenceTerm> terms,
          llvm::ArrayRef<PadRun> tail) {
  llvm::SmallVector<Entry, 8> list;
  int64_t core = 1;
  for (const SequenceTerm &term : llvm::reverse(terms)) {
    list.push_back(term.entry);
    core *= term.entry.size;
  }
  llvm::SmallVector<Entry, 8> entries = coalesce(list);
  if (tail.empty())
    return entries;

  // The padding of a tail is not a number of rows: one loop must run over it.
  bool oneRun = true;
  for (size_t i = 1; i < entries.size(); ++i)
    oneRun &= entries[i - 1].stride == entries[i].size * entries[i].stride;
  if (!oneRun)
    return fault("MA-22", "incompatible",
                 "padding to " + llvm::Twine(tail.back().upTo) +
                     " cells follows digits that are not contiguous in the "
                     "memory; pad a single digit instead");
  int64_t stride = entries.empty() ? 1 : entries.back().stride;
  if (derivation.writes()) {
    int64_t room = stride == 1 ? topPaddingAfter(derivation, core) : 0;
    if (tail.back().upTo > room)
      return fault("MA-27", "pad-collision",
                   "padding of the stream from " + llvm::Twine(core) + " to " +
                       llvm::Twine(tail.back().upTo) +
                       " cells does not land on top padding of the memory, "
                       "which ends at " +
                       llvm::Twine(std::max(room, core)) +
                       "; trim the stream first");
  }
  entries.clear();
  entries.push_back({tail.back().upTo, stride});
  return entries;
}

static int64_t contiguousRun(llvm::ArrayRef<Entry> time,
                             llvm::ArrayRef<Entry> packet) {
  std::vector<Entry> all(time.begin(), time.end());
  all.insert(all.end(), packet.begin(), packet.end());
  if (all.empty() || all.back().stride > 1)
    return 1;
  int64_t run = all.back().size;
  for (size_t i = all.size() - 1; i > 0; --i) {
    int64_t continued;
    if (llvm::MulOverflow(all[i].size, all[i].stride, continued) ||
        all[i - 1].stride != continued)
      break;
    run *= all[i - 1].size;
  }
  return run;
}

/// Everything up to the entries, with the terms in `derivation`.
static Result<Sequence> derive(Derivation &derivation, const Mapping &memory,
                               const Mapping &time, const Mapping &packet) {
  const bool writes = derivation.writes();
  int64_t total;
  if (llvm::MulOverflow(time.size(), packet.size(), total))
    return fault("MA-11", "size-overflow",
                 "time has " + llvm::Twine(time.size()) +
                     " cells and packet has " + llvm::Twine(packet.size()) +
                     "; their product is 9223372036854775808 or more");
  const Result<Canonical> &place = memory.resolved();
  if (!place)
    return fault("MA-13", "memory-not-linear",
                 "memory " + quoted(memory.str()) + ": " +
                     place.fault().message);
  if (!writes && hasKind(*place, Pad::Bottom))
    return fault("MA-28", "bottom-in-memory",
                 "memory " + quoted(memory.str()) +
                     " has bottom padding and is read; declare it with '#'");
  if (std::optional<Fault> bad = placeMemory(derivation, *place))
    return *bad;

  for (bool inPacket : {false, true}) {
    const Mapping &stream = inPacket ? packet : time;
    llvm::StringRef which = inPacket ? "packet " : "time ";
    const Result<Canonical> &form = stream.canonical();
    if (!form)
      return fault("MA-13", "not-linear",
                   which + quoted(stream.str()) + ": " + form.fault().message);
    if (derivation.mode != SequenceMode::Carve && hasKind(*form, Pad::Bottom))
      return fault("MA-28", "bottom-in-stream",
                   which + quoted(stream.str()) +
                       " has bottom padding, which no stream may touch; use "
                       "'#'");
    if (std::optional<Fault> bad = matchStream(derivation, *form, inPacket))
      return *bad;
  }
  if (std::optional<Fault> bad = checkCarries(derivation))
    return *bad;

  Sequence sequence;
  std::optional<Fault> left = checkCoverage(derivation);
  sequence.coversMemory = !left;
  if (writes) {
    if (std::optional<Fault> bad = checkInjective(derivation))
      return *bad;
    if (left)
      return *left;
    if (std::optional<Fault> bad = placeWritePadding(derivation))
      return *bad;
  } else {
    placeReadPadding(derivation);
  }
  return sequence;
}

/// The entries of the terms, and what follows from them.
static std::optional<Fault> addEntries(const Derivation &derivation,
                                       const Mapping &packet,
                                       Sequence &sequence) {
  // Innermost first, so packet before time.
  std::vector<SequenceTerm> &terms = sequence.terms;
  terms.reserve(2 * (derivation.time.size() + derivation.packet.size()));
  cutAtSeams(derivation.packet, derivation.packetSeams, terms);
  const size_t border = terms.size();
  cutAtSeams(derivation.time, derivation.timeSeams, terms);
  Result<llvm::SmallVector<Entry, 8>> inner =
      entriesOf(derivation, llvm::ArrayRef(terms).take_front(border),
                derivation.packetTail);
  if (!inner)
    return inner.fault();
  Result<llvm::SmallVector<Entry, 8>> outer =
      entriesOf(derivation, llvm::ArrayRef(terms).drop_front(border),
                derivation.timeTail);
  if (!outer)
    return outer.fault();
  sequence.time.assign(outer->begin(), outer->end());
  sequence.packet.assign(inner->begin(), inner->end());
  std::reverse(terms.begin(), terms.end());

  sequence.packetSize = packet.size();
  sequence.contiguousRun = contiguousRun(sequence.time, sequence.packet);
  sequence.accessSize = std::gcd(sequence.packetSize, sequence.contiguousRun);
  uint64_t last = 0;
  for (llvm::ArrayRef<Entry> entries : {llvm::ArrayRef<Entry>(sequence.time),
                                        llvm::ArrayRef<Entry>(sequence.packet)})
    for (Entry entry : entries)
      last = llvm::SaturatingMultiplyAdd(static_cast<uint64_t>(entry.size - 1),
                                         static_cast<uint64_t>(entry.stride),
                                         last);
  uint64_t size = derivation.memorySize;
  if (last >= size)
    sequence.overRead = static_cast<int64_t>(std::min<uint64_t>(
        last - size + 1, std::numeric_limits<int64_t>::max()));
  return std::nullopt;
}

/// A derivation over the axes that the three mappings share; MA-7.
static Result<const Axes *>
sharedAxes(const Mapping &memory, const Mapping &time, const Mapping &packet) {
  const Mapping *given = &memory;
  for (const Mapping *stream : {&time, &packet}) {
    if (stream->isIdentity())
      continue;
    if (given->isIdentity())
      given = stream;
    if (!(stream->axes() == given->axes()))
      return fault("MA-7", "unknown-axis",
                   quoted(stream->str()) + " and " +
                       (given == &memory ? "the memory " : "time ") +
                       quoted(given->str()) + " are over different axes");
  }
  return &given->axes();
}

Result<Sequence> furiosa::mapping::sequence(const Mapping &memory,
                                            const Mapping &time,
                                            const Mapping &packet,
                                            SequenceMode mode) {
  Result<const Axes *> axes = sharedAxes(memory, time, packet);
  if (!axes)
    return axes.fault();
  Derivation derivation(**axes, mode);
  for (bool inPacket : {false, true}) {
    int64_t position = 1;
    collectSeams((inPacket ? packet : time).node->expr(), position,
                 inPacket ? derivation.packetSeams : derivation.timeSeams);
  }
  Result<Sequence> sequence = derive(derivation, memory, time, packet);
  if (sequence)
    if (std::optional<Fault> bad = addEntries(derivation, packet, *sequence))
      return *bad;
  return sequence;
}

/// What a term of a carved stream leaves: padding where the memory holds it.
static Factor leftOf(const StreamTerm &term) {
  Factor factor;
  factor.extent = term.extent;
  const bool broadcast = term.term.source == TermSource::Broadcast;
  if (broadcast) {
    factor.axis = term.term.axis;
    factor.stride = term.term.axisStride;
    factor.live = term.term.live;
  }
  if (!term.whole || term.term.source == TermSource::Memory) {
    appendRun(factor.runs, factor.live, {factor.extent, Pad::Top});
    return factor;
  }
  // Sums past the axis are no cells. Bottom padding of a stream counts as top.
  appendRun(factor.runs, factor.live,
            {ceilDiv(term.whole->live, term.digitsPerStep), Pad::Top});
  for (PadRun run : term.whole->runs)
    appendRun(factor.runs, factor.live,
              {ceilDiv(run.upTo, term.digitsPerStep),
               run.kind == Pad::Bottom ? Pad::Top : run.kind});
  return factor;
}

Result<Carving> furiosa::mapping::carve(const Mapping &stream,
                                        const Mapping &piece) {
  Mapping packet;
  Result<const Axes *> axes = sharedAxes(piece, stream, packet);
  if (!axes)
    return axes.fault();
  Derivation derivation(**axes, SequenceMode::Carve);
  Result<Sequence> sequence = derive(derivation, piece, stream, packet);
  if (!sequence)
    return sequence.fault();
  if (std::optional<Fault> left = checkCoverage(derivation))
    return *left;

  Form rest;
  for (const StreamTerm &term : derivation.time)
    rest.push(leftOf(term));
  for (PadRun run : derivation.timeTail)
    appendRun(rest.tail, rest.core(),
              {run.upTo, run.kind == Pad::Bottom ? Pad::Top : run.kind});
  rest.finish();
  if (std::optional<Fault> bad = addEntries(derivation, packet, *sequence))
    return *bad;
  Mapping left = build(std::move(rest), stream.axes(), [] { return "1"; });
  if (left.size() != stream.size())
    return fault("MA-13", "not-linear",
                 "what " + quoted(piece.str()) + " leaves of " +
                     quoted(stream.str()) + " cannot be written as a mapping");
  return Carving{std::move(*sequence), std::move(left)};
}
