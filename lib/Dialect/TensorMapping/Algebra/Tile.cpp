//===- Tile.cpp - Windows along an index ----------------------------------===//
//
// The view, offset and checks of a tile (MA-14, MA-17 to MA-20).
//
//===----------------------------------------------------------------------===//

#include "Divide.h"
#include "Parse.h"

#include "llvm/Support/MathExtras.h"

using namespace furiosa::mapping;
using namespace furiosa::mapping::detail;

namespace {
/// A term of the index with the digits that the window keeps.
struct Window {
  DivisionTerm term;
  MatchedDigits digits;
  int64_t kept;
};
} // namespace

/// The terms of `index` in `element` by falling stride in the index, with the
/// digits that the first `len` cells take.
static Result<std::vector<Window>> windowsOf(const Mapping &element,
                                             const Mapping &index, int64_t len,
                                             Form &form) {
  Result<Division> division = matchDigits(element, index, /*exact=*/true);
  if (!division)
    return fault("MA-17", "split",
                 "tile index " + quoted(index.str()) +
                     " does not divide the element " + quoted(element.str()) +
                     ": " + division.fault().message);
  std::vector<Window> windows;
  for (const Match &match : division->matches)
    windows.push_back({match.term, match.dividend, match.term.count});
  llvm::sort(windows, [](const Window &lhs, const Window &rhs) {
    return lhs.term.divisorStride < rhs.term.divisorStride;
  });
  int64_t span = 1; // cells up to the last live one of the digits inside
  for (Window &window : windows) {
    int64_t stride = window.term.divisorStride;
    int64_t rest = len % stride;
    if (len > stride && rest != 0 && rest < span &&
        len / stride < window.term.count)
      return fault("MA-17", "split",
                   "a window of " + llvm::Twine(len) + " cells of " +
                       quoted(index.str()) + " cuts across rows of " +
                       llvm::Twine(stride) + " cells in " +
                       quoted(element.str()) + "; take a multiple of " +
                       llvm::Twine(stride));
    window.kept = std::min(window.term.count, ceilDiv(len, stride));
    span += stride * (window.term.count - 1);
  }
  std::reverse(windows.begin(), windows.end());
  form = std::move(division->dividend);
  return windows;
}

/// The view as text. `keepPads` leaves the element's own padding in a digit as
/// it is; otherwise the hole takes it in.
static Result<Mapping> viewOf(const Mapping &element, const Form &form,
                              llvm::ArrayRef<Window> windows, Pad hole,
                              bool keepPads) {
  std::vector<MatchedDigits> matched;
  bool whole = true;
  for (const Window &window : windows) {
    matched.push_back(window.digits);
    whole &= window.kept == window.term.count;
  }
  if (whole && keepPads)
    return element;

  std::optional<std::vector<Piece>> pieces = cutPieces(form, matched);
  if (!pieces)
    return fault("MA-17", "split",
                 "the digits of the tile index do not nest in " +
                     quoted(element.str()));
  for (const MatchedDigits &digits : matched) {
    const Factor &factor = form.factors[digits.factor];
    const Axis &axis = element.axes()[factor.axis];
    bool clipped = ceilDiv(axis.size, factor.stride) <= factor.live &&
                   llvm::all_of(factor.runs, [](PadRun run) {
                     return run.kind == Pad::Top;
                   });
    if (digits.from > 1 && factor.live % digits.from != 0 && !clipped)
      return fault("MA-14", "deferred",
                   "axis " + axis.name + " has " + llvm::Twine(factor.live) +
                       " live digits, and the tile index cuts them at " +
                       llvm::Twine(digits.from) +
                       "; pad the live digits to a multiple");
  }

  std::string text;
  for (Piece &piece : llvm::reverse(*pieces)) {
    Factor &factor = piece.factor;
    TakeStyle style = TakeStyle::Digit;
    if (piece.match >= 0) {
      const Window &window = windows[piece.match];
      bool hasHole = window.kept < window.term.count || !keepPads;
      if (hasHole && window.kept < factor.extent) {
        llvm::SmallVector<PadRun, 1> runs;
        appendRun(runs, window.kept,
                  {keepPads ? factor.live : factor.extent, hole});
        for (PadRun run : factor.runs)
          appendRun(runs, window.kept, run);
        factor.runs = std::move(runs);
        factor.live = window.kept;
        style = TakeStyle::Window;
      }
    }
    if (factor.extent == 1)
      continue;
    if (factor.live == 1) {
      factor.axis = -1;
      factor.stride = 0;
    }
    Form single;
    single.factors.push_back(factor);
    std::optional<std::string> part = spell(single, element.axes(), style);
    if (!part)
      return fault("MA-13", "not-linear",
                   "the view of " + quoted(element.str()) +
                       " cannot be written as a mapping");
    text += (text.empty() ? "" : ", ") + *part;
  }
  if (text.empty())
    text = "1";
  if (!form.tail.empty()) {
    text = "[" + text + "]";
    for (PadRun run : form.tail)
      text += (" " + padOperator(run.kind) + " " + llvm::Twine(run.upTo)).str();
  }
  Result<Mapping> view = Mapping::parse(text, element.axes());
  if (!view) {
    Fault bad = view.fault();
    bad.column = 0;
    return bad;
  }
  return view;
}

static bool isLive(const Mapping &mapping, int64_t position) {
  Cell cell = mapping.cellAt(position);
  return cell.kind == Cell::Kind::Index &&
         llvm::all_of(cell.index, [&](const auto &entry) {
           return entry.second < mapping.axes()[entry.first].size;
         });
}

Result<Tile> furiosa::mapping::tile(const Mapping &element,
                                    const Mapping &index, int64_t len,
                                    int64_t start, Pad hole) {
  if (len < 1)
    return fault("MA-20", "window",
                 "a tile of " + llvm::Twine(len) +
                     " cells is empty; take at least 1");
  Form form;
  Result<std::vector<Window>> windows = windowsOf(element, index, len, form);
  if (!windows)
    return windows.fault();
  Result<int64_t> live = index.liveCells();
  if (!live)
    return live.fault();

  if (start < 0 || start >= index.size() || !isLive(index, start))
    return fault("MA-19", "start",
                 "tile start " + llvm::Twine(start) +
                     " is no live position of index " + quoted(index.str()) +
                     ", which has " + llvm::Twine(*live) +
                     " live cells; the start counts cells, not tiles");
  if (len > *live || start > *live - len)
    return fault(
        "MA-20", "window",
        "a tile of " + llvm::Twine(len) + " cells from " + llvm::Twine(start) +
            " ends past the " + llvm::Twine(*live) + " live cells of index " +
            quoted(index.str()) +
            (len > *live
                 ? "; shorten it"
                 : "; start at most at " + llvm::Twine(*live - len).str()));

  Tile tile;
  tile.live = *live;
  // One step moves alike iff every term lies in the element as in the index.
  int64_t inner = 1;
  bool uniform = !windows->empty();
  for (const Window &window : llvm::reverse(*windows)) {
    const DivisionTerm &term = window.term;
    if (term.divisorStride == 1)
      tile.step = term.dividendStride;
    int64_t expected;
    uniform &= tile.step != 0 && term.divisorStride == inner &&
               !llvm::MulOverflow(tile.step, inner, expected) &&
               expected == term.dividendStride;
    inner = term.divisorStride * term.count;
  }
  if (!uniform)
    tile.step = 0;

  int64_t rest = start;
  for (const Window &window : *windows) {
    int64_t digit = rest / window.term.divisorStride;
    rest %= window.term.divisorStride;
    tile.offset += digit * window.term.dividendStride;
    if (!uniform && digit + window.kept > window.term.count)
      return fault("MA-20", "window",
                   "a tile of " + llvm::Twine(len) + " cells from " +
                       llvm::Twine(start) + " crosses a row of " +
                       llvm::Twine(window.term.count) + " digits of index " +
                       quoted(index.str()) + " that is not contiguous in " +
                       quoted(element.str()) +
                       "; start on a multiple of the window");
  }
  Result<Mapping> view =
      viewOf(element, form, *windows, hole, /*keepPads=*/false);
  if (!view)
    return view.fault();
  tile.view = *view;
  return tile;
}

std::optional<Fault> furiosa::mapping::checkTileView(const Mapping &element,
                                                     const Mapping &index,
                                                     int64_t len, Pad hole,
                                                     const Mapping &view) {
  Form form;
  Result<std::vector<Window>> windows = windowsOf(element, index, len, form);
  if (!windows)
    return windows.fault();
  Result<Mapping> textual =
      viewOf(element, form, *windows, hole, /*keepPads=*/false);
  if (!textual)
    return textual.fault();
  Result<Mapping> keeping =
      viewOf(element, form, *windows, hole, /*keepPads=*/true);
  if (same(view, *textual) || (keeping && same(view, *keeping)))
    return std::nullopt;
  std::string hint;
  if (view.size() < element.size())
    hint = "; a tile keeps the " + llvm::Twine(element.size()).str() +
           " cells of its buffer, dropping padding is an unpad";
  return fault("MA-18", "view",
               "expected the view " + quoted(textual->str()) + " with " +
                   llvm::Twine(textual->size()) + " cells, found " +
                   quoted(view.str()) + " with " + llvm::Twine(view.size()) +
                   hint);
}
