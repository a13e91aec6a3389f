//===- Windows.cpp - Windows of a memory as a stream ----------------------===//
//
// A memory in which each window's axis gives way to the digits of its terms has
// a sequence of its own; what its strides are in the memory follows digit by
// digit, since windows may overlap there.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/TensorMapping/Algebra/Windows.h"
#include "Detail.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/Support/CheckedArithmetic.h"

#include <cassert>
#include <limits>
#include <numeric>

using namespace furiosa::mapping;

static Fault windowFault(const llvm::Twine &message) {
  return {"TU-79", "window", message.str()};
}

Result<std::optional<WindowTerm>>
furiosa::mapping::getWindowTerm(const Mapping &digit, int64_t factor) {
  if (digit.isIdentity())
    return std::optional<WindowTerm>();
  if (factor < 1)
    return windowFault("rows are " + llvm::Twine(factor) + " apart along \"" +
                       digit.str() + "\", expected at least 1");
  const Result<Canonical> &form = digit.canonical();
  if (!form || form->factors.size() != 1 || !form->tail.empty() ||
      form->factors[0].axis < 0 || !form->factors[0].runs.empty())
    return windowFault("a window is a sum of digits of axes: found \"" +
                       digit.str() +
                       "\", expected one like \"P\" or \"P % 7\"");
  const Factor &only = form->factors[0];
  return std::optional(WindowTerm{only.axis, only.stride, only.live, factor});
}

namespace {
/// A digit of the memory with windows in place of axes, by how far neighbours
/// lie apart there and in the memory.
struct Place {
  int64_t expanded, real;
};
} // namespace

/// TU-79, TU-80 for the axis that a window reads.
static std::optional<Fault>
checkWindow(const Window &window, const Mapping &memory, const Canonical &form,
            const Mapping &time, const Mapping &packet) {
  const Axes &axes = memory.axes();
  const std::string &name = axes[window.axis].name;
  const Factor *held = nullptr;
  for (const Factor &factor : form.factors)
    if (factor.axis == window.axis) {
      if (held || factor.stride != 1)
        return windowFault("axis " + name + " of windows is cut in \"" +
                           memory.str() + "\"; store it in one piece");
      held = &factor;
    }
  for (const Mapping *stream : {&time, &packet})
    if (stream->uses(window.axis))
      return windowFault("\"" + stream->str() + "\" reads axis " + name +
                         ", in place of which there are windows; name those");
  for (const WindowTerm &term : window.terms)
    if (memory.uses(term.axis))
      return windowFault(
          "\"" + memory.str() + "\" holds axis " + axes[term.axis].name +
          " already, in which the windows of " + name + " are counted");
  std::optional<int64_t> last = window.start;
  for (const WindowTerm &term : window.terms)
    last = last ? llvm::checkedMulAdd(term.count - 1, term.factor, *last)
                : std::nullopt;
  int64_t live = held ? held->live : 1;
  if (!last || window.start < 0 || *last >= live)
    return Fault{"TU-80", "row",
                 "windows of axis " + name + " read rows " +
                     std::to_string(window.start) + " to " +
                     (last ? std::to_string(*last) : "2^63") +
                     ", the source has rows 0 to " + std::to_string(live - 1) +
                     "; store those as well, zeros where there are none"};
  return std::nullopt;
}

/// The memory with the digits of windows in place of their axes.
static Result<Mapping> expand(const Canonical &form,
                              llvm::ArrayRef<Window> windows, const Axes &axes,
                              llvm::SmallVectorImpl<Place> &places,
                              int64_t &start) {
  Canonical expanded;
  std::optional<int64_t> at = 1;
  int64_t real = 1;
  auto push = [&](const Factor &factor, int64_t stride) {
    if (factor.extent == 1)
      return;
    expanded.factors.insert(expanded.factors.begin(), factor);
    places.push_back({*at, stride});
    at = llvm::checkedMul(*at, factor.extent);
  };
  for (const Factor &factor : llvm::reverse(form.factors)) {
    const Window *window = llvm::find_if(windows, [&](const Window &candidate) {
      return candidate.axis == factor.axis;
    });
    if (window == windows.end()) {
      push(factor, real);
    } else {
      start += window->start * real;
      for (const WindowTerm &term : llvm::reverse(window->terms)) {
        Factor digit;
        digit.axis = term.axis;
        digit.stride = term.stride;
        digit.extent = digit.live = term.count;
        // Rows lie inside of the memory, so this is in range.
        push(digit, real * term.factor);
        if (!at)
          break;
      }
    }
    if (!at)
      return Fault{"MM-7", "not-yet-supported",
                   "windows of more than 2^63 cells"};
    real *= factor.extent;
  }
  Mapping mapping = Mapping::fromCanonical(expanded, axes);
  if (mapping.size() != *at)
    return Fault{"TU-79", "not-yet-supported",
                 "windows of this memory, which no mapping writes"};
  return mapping;
}

Result<WindowSequence>
furiosa::mapping::sequenceWindows(const Mapping &memory,
                                  llvm::ArrayRef<Window> windows,
                                  const Mapping &time, const Mapping &packet) {
  const Result<Canonical> &form = memory.resolved();
  if (!form)
    return form.fault();
  llvm::SmallSet<int, 8> named;
  for (const Window &window : windows) {
    if (auto bad = checkWindow(window, memory, *form, time, packet))
      return *bad;
    bool isNew = named.insert(window.axis).second;
    for (const WindowTerm &term : window.terms)
      isNew &= named.insert(term.axis).second;
    if (!isNew)
      return windowFault("an axis stands twice in the windows; each has axes "
                         "of its own");
  }
  WindowSequence result;
  llvm::SmallVector<Place> places;
  auto expanded = expand(*form, windows, memory.axes(), places, result.start);
  if (!expanded)
    return expanded.fault();
  auto sequence =
      mapping::sequence(*expanded, time, packet, SequenceMode::Read);
  if (!sequence)
    return sequence.fault();
  for (const Mapping *stream : {&time, &packet})
    if (!stream->canonical()->tail.empty())
      return Fault{"MA-22", "not-yet-supported",
                   "windows in a stream that is padded as a whole; pad a "
                   "single digit instead"};

  llvm::SmallVector<Entry> entries[2];
  for (SequenceTerm &term : sequence->terms) {
    if (term.source == TermSource::Memory) {
      const Place *place = llvm::find_if(places, [&](const Place &candidate) {
        return candidate.expanded == term.digitElements;
      });
      assert(place != places.end() && "digits of the memory are places");
      term.entry.stride = term.entry.stride / place->expanded * place->real;
      term.digitElements = place->real;
    }
    entries[term.inPacket].push_back(term.entry);
  }
  auto inTime = coalesce(entries[0]), inPacket = coalesce(entries[1]);
  sequence->time.assign(inTime.begin(), inTime.end());
  sequence->packet.assign(inPacket.begin(), inPacket.end());
  // Within a packet: windows of neighbouring packets may overlap.
  sequence->contiguousRun = !inPacket.empty() && inPacket.back().stride == 1
                                ? inPacket.back().size
                                : 1;
  sequence->accessSize =
      std::gcd(sequence->packetSize, sequence->contiguousRun);
  std::optional<int64_t> last = result.start;
  for (llvm::ArrayRef<Entry> list : {inTime, inPacket})
    for (Entry entry : list)
      last = last ? llvm::checkedMulAdd(entry.size - 1, entry.stride, *last)
                  : std::nullopt;
  int64_t end = last.value_or(std::numeric_limits<int64_t>::max() - 1) + 1;
  sequence->overRead = std::max<int64_t>(0, end - memory.size());
  result.sequence = std::move(*sequence);
  return result;
}
