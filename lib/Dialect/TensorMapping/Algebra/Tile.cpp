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

/// How far the hole behind a window reaches.
enum class Reach {
  /// To the last live cell: the element's own padding stays as it is.
  Live,
  /// To the last cell of the index, `I = len # size(I)`.
  Index,
  /// Over the element's own padding as well.
  Padding,
};

/// The view as text. `size` is that of the index.
static Result<Mapping> viewOf(const Mapping &element, const Form &form,
                              llvm::ArrayRef<Window> windows, Pad hole,
                              Reach reach, int64_t size) {
  bool keepPads = reach != Reach::Padding;
  std::vector<MatchedDigits> matched;
  bool whole = true;
  for (const Window &window : windows) {
    matched.push_back(window.digits);
    whole &= window.kept == window.term.count;
  }
  if (whole && reach == Reach::Live)
    return element;

  std::optional<std::vector<Piece>> pieces = cutPieces(form, matched);
  if (!pieces)
    return fault("MA-17", "split",
                 "the digits of the tile index do not nest in " +
                     quoted(element.str()));
  for (const MatchedDigits &digits : matched) {
    const Factor &factor = form.factors[digits.factor];
    const Axis &axis = element.axes()[factor.axis];
    bool clipped =
        ceilDiv(axis.size, factor.stride) <= factor.live &&
        (factor.runs.empty() || (factor.runs[0].kind == Pad::Top &&
                                 factor.runs[0].upTo / digits.from >=
                                     ceilDiv(factor.live, digits.from)));
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
      int64_t end = keepPads ? factor.live : factor.extent;
      if (reach == Reach::Index && piece.match == 0)
        end = std::min(factor.extent, ceilDiv(size, window.term.divisorStride));
      bool hasHole = window.kept < window.term.count || window.kept < end;
      if (hasHole && window.kept < factor.extent) {
        llvm::SmallVector<PadRun, 1> runs;
        appendRun(runs, window.kept, {end, hole});
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

/// The element without top padding outside of all digits, if an index that
/// does not divide the padded element divides it so; else the element.
static Mapping getDivided(const Mapping &element, const Mapping &index) {
  if (matchDigits(element, index, /*exact=*/true))
    return element;
  Result<Mapping> peeled = peel(element);
  if (!peeled || peeled->size() == element.size())
    return element;
  Result<Mapping> padded = pad(*peeled, element.size());
  bool isTop = padded && same(*padded, element);
  return isTop && matchDigits(*peeled, index, /*exact=*/true) ? *peeled
                                                              : element;
}

/// Runs of bottom padding.
static int64_t countBottom(const Mapping &mapping) {
  auto isBottom = [](PadRun run) { return run.kind == Pad::Bottom; };
  int64_t count = llvm::count_if(mapping.canonical()->tail, isBottom);
  for (const Factor &factor : mapping.canonical()->factors)
    count += llvm::count_if(factor.runs, isBottom);
  return count;
}

/// Whether two mappings have the same live cells, and as many holes that must
/// not be touched behind the same of them; padding behind a hole may be of
/// either kind. What lies behind the end of an axis is no cell.
static bool hasSameCells(const Mapping &lhs, const Mapping &rhs) {
  if (same(lhs, rhs))
    return true;
  if (lhs.size() != rhs.size() || !lhs.canonical() || !rhs.canonical() ||
      countBottom(lhs) != countBottom(rhs))
    return false;
  Form forms[] = {Form::from(*lhs.canonical()), Form::from(*rhs.canonical())};
  for (Form &form : forms) {
    form.clip(lhs.axes(), /*everywhere=*/true);
    form.joinPadding();
  }
  return std::move(forms[0]).canonical() == std::move(forms[1]).canonical();
}

/// Whether two mappings have the same live cells, whatever the padding is.
static bool hasSameLiveCells(const Mapping &lhs, const Mapping &rhs) {
  if (lhs.size() != rhs.size() || !lhs.canonical() || !rhs.canonical())
    return false;
  Form forms[] = {Form::from(*lhs.canonical()), Form::from(*rhs.canonical())};
  for (Form &form : forms) {
    form.clip(lhs.axes(), /*everywhere=*/true);
    form.joinPadding(Pad::Top);
  }
  return std::move(forms[0]).canonical() == std::move(forms[1]).canonical();
}

/// Whether all cells behind `live` that are bottom padding by `inner` are so by
/// `outer`.
static bool hasHoles(llvm::ArrayRef<PadRun> outer, llvm::ArrayRef<PadRun> inner,
                     int64_t live) {
  auto kindAt = [&](llvm::ArrayRef<PadRun> runs, int64_t cell) {
    const PadRun *run =
        llvm::find_if(runs, [&](PadRun run) { return cell < run.upTo; });
    return run == runs.end() ? std::optional<Pad>() : run->kind;
  };
  // The kinds change behind the ends of runs only.
  llvm::SmallVector<int64_t, 4> starts = {live};
  for (PadRun run : outer)
    starts.push_back(run.upTo);
  for (PadRun run : inner)
    starts.push_back(run.upTo);
  return llvm::all_of(starts, [&](int64_t cell) {
    return kindAt(inner, cell) != Pad::Bottom ||
           kindAt(outer, cell) == Pad::Bottom;
  });
}

/// Whether all bottom padding of `shortest` is so in `mapping`, for which
/// `hasSameCells` holds.
static bool hasHolesOf(const Mapping &mapping, const Mapping &shortest) {
  Form outer = Form::from(*mapping.canonical());
  Form inner = Form::from(*shortest.canonical());
  outer.clip(mapping.axes(), /*everywhere=*/true);
  inner.clip(mapping.axes(), /*everywhere=*/true);
  if (outer.factors.size() != inner.factors.size())
    return false;
  if (inner.factors.empty())
    return hasHoles(outer.tail, inner.tail, /*live=*/1);
  int64_t row = 1; // of the outermost digit
  for (size_t i = 0; i + 1 < inner.factors.size(); ++i) {
    const Factor &factor = inner.factors[i];
    if (!hasHoles(outer.factors[i].runs, factor.runs, factor.live))
      return false;
    row *= factor.extent;
  }
  // Padding outside stands behind the outermost digit or behind all cells.
  auto getOutside = [&](const Form &form) {
    llvm::SmallVector<PadRun, 1> runs = form.tail;
    if (runs.empty())
      for (PadRun run : form.factors.back().runs)
        runs.push_back({run.upTo * row, run.kind});
    return runs;
  };
  return hasHoles(getOutside(outer), getOutside(inner),
                  row * inner.factors.back().live);
}

static Result<Tile> tileDivided(const Mapping &element, const Mapping &index,
                                int64_t len, int64_t start, Pad hole);

Result<Tile> furiosa::mapping::tile(const Mapping &element,
                                    const Mapping &index, int64_t len,
                                    int64_t start, Pad hole) {
  Mapping divided = getDivided(element, index);
  Result<Tile> tile = tileDivided(divided, index, len, start, hole);
  if (!tile || tile->view.size() == element.size())
    return tile;
  Result<Mapping> view = pad(tile->view, element.size());
  if (!view)
    return view.fault();
  tile->view = *view;
  return tile;
}

static Result<Tile> tileDivided(const Mapping &element, const Mapping &index,
                                int64_t len, int64_t start, Pad hole) {
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
      viewOf(element, form, *windows, hole, Reach::Padding, index.size());
  if (!view)
    return view.fault();
  tile.view = *view;
  return tile;
}

std::optional<Fault> furiosa::mapping::checkTileView(const Mapping &element,
                                                     const Mapping &index,
                                                     int64_t len, Pad hole,
                                                     const Mapping &view) {
  Mapping divided = getDivided(element, index);
  Form form;
  Result<std::vector<Window>> windows = windowsOf(divided, index, len, form);
  if (!windows)
    return windows.fault();
  auto getView = [&](Reach reach) {
    Result<Mapping> inner =
        viewOf(divided, form, *windows, hole, reach, index.size());
    return inner ? pad(*inner, element.size()) : inner;
  };
  Result<Mapping> textual = getView(Reach::Padding);
  if (!textual)
    return textual.fault();
  // A window of all live cells: the rest is padding, which may be a hole.
  if (hasSameLiveCells(*textual, element) && hasSameLiveCells(view, element))
    return std::nullopt;
  // A hole ends behind the last live cell, wherever in the padding there.
  Result<Mapping> shortest = getView(Reach::Live);
  for (Reach reach : {Reach::Padding, Reach::Live, Reach::Index})
    if (auto other = getView(reach); other && hasSameCells(view, *other) &&
                                     (!shortest || hasHolesOf(view, *shortest)))
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
