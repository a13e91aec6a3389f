//===- Check.cpp - What the mapping of a tensor must hold -----------------===//
//
// Digits that repeat, and cuts that the three readings of a mapping would not
// read alike (MA-14, MA-15).
//
//===----------------------------------------------------------------------===//

#include "Parse.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

using namespace furiosa::mapping;
using namespace furiosa::mapping::detail;

static std::optional<Fault> checkRepeats(const Mapping &mapping,
                                         const Canonical &form) {
  for (const Factor &outer : form.factors)
    for (const Factor &inner : form.factors) {
      if (&outer == &inner || outer.axis < 0 || outer.axis != inner.axis ||
          inner.stride > outer.stride ||
          (inner.stride == outer.stride && &inner < &outer) ||
          furthestStep(inner) < static_cast<uint64_t>(outer.stride))
        continue;
      const Axis &axis = mapping.axes()[outer.axis];
      uint64_t sum =
          llvm::SaturatingAdd(furthestStep(inner), furthestStep(outer));
      return fault("MA-15", "repeated",
                   quoted(mapping.str()) + " steps twice through axis " +
                       axis.name + ", by " + llvm::Twine(outer.stride) +
                       " over " + llvm::Twine(outer.live) + " digits and by " +
                       llvm::Twine(inner.stride) + " over " +
                       llvm::Twine(inner.live) + "; the sums reach " +
                       llvm::Twine(sum) + " of an axis of " +
                       llvm::Twine(axis.size) + ", so use each digit once");
    }
  return std::nullopt;
}

namespace {
/// The cuts of one composite, that is an operand of `/` or `%` that is no
/// plain axis.
struct Composite {
  std::string text;
  int64_t column = 0;
  unsigned digits = 0;
  llvm::SmallSetVector<int64_t, 4> cuts;
};

/// In the order of their first cut.
struct Composites {
  std::vector<Composite> list;
  llvm::StringMap<size_t> byText;

  Composite &get(std::string text, int64_t column) {
    auto [found, added] = byText.try_emplace(text, list.size());
    if (added) {
      list.emplace_back();
      list.back().text = std::move(text);
      list.back().column = column;
    }
    return list[found->second];
  }
};
} // namespace

static void collect(const Expr &expr, const Axes &axes,
                    Composites &composites) {
  if (expr.kind == Expr::Kind::Product && expr.ops.empty()) {
    for (const Expr &part : expr.parts)
      collect(part, axes, composites);
    return;
  }
  // Digit operators count from the last operator that is none of them.
  size_t base = 0, last = 0;
  for (auto [index, op] : llvm::enumerate(expr.ops)) {
    bool cuts = op.kind == OpKind::Divide || op.kind == OpKind::Modulo;
    if (cuts)
      base = last;
    else
      last = index + 1;
  }
  if (base == 0 && expr.kind != Expr::Kind::Product)
    return;
  int64_t size = base == 0 ? expr.baseSize : expr.ops[base - 1].after;
  int64_t low = 1, count = size;
  bool any = false;
  for (const Op &op : llvm::ArrayRef(expr.ops).drop_front(base)) {
    if (op.kind == OpKind::Divide) {
      low *= op.n;
      count /= op.n;
    } else if (op.kind == OpKind::Modulo) {
      count = op.n;
    } else {
      break;
    }
    any = true;
  }
  if (!any)
    return;
  Composite &composite = composites.get(print(expr, base, axes), expr.column);
  ++composite.digits;
  for (int64_t cut : {low, low * count})
    if (cut > 1 && cut < size)
      composite.cuts.insert(cut);
}

static bool hasRaggedDigits(const Mapping &mapping) {
  return llvm::any_of(mapping.canonical()->factors, [&](const Factor &factor) {
    return factor.axis >= 0 &&
           mapping.axes()[factor.axis].size % factor.stride != 0;
  });
}

std::optional<Fault> furiosa::mapping::checkTensor(const Mapping &mapping) {
  Composites composites;
  // A list that nobody has spelled yet divides padding only to take the last
  // digits of an axis that are ragged.
  if (mapping.node->isSpelled() || hasRaggedDigits(mapping))
    collect(mapping.node->expr(), mapping.axes(), composites);
  for (const Composite &composite : composites.list) {
    if (composite.digits < 2)
      continue;
    Result<Mapping> whole = Mapping::parse(composite.text, mapping.axes());
    if (!whole)
      continue;
    for (int64_t cut : composite.cuts) {
      Result<std::pair<Mapping, Mapping>> halves = split(*whole, cut);
      if (!halves)
        continue;
      Result<Mapping> both = pair(halves->first, halves->second);
      if (both && same(*both, *whole))
        continue;
      Result<int64_t> live = whole->liveCells();
      return fault("MA-14", "deferred",
                   "both digits of " + quoted(composite.text) + " at " +
                       llvm::Twine(cut) + " occur, and the cut goes through " +
                       (live ? "its " + llvm::Twine(*live).str() + " live cells"
                             : "a row of it") +
                       "; pad the live cells to a multiple of " +
                       llvm::Twine(cut) +
                       ", or use top padding over a whole axis",
                   composite.column);
    }
  }
  const Result<Canonical> &form = mapping.canonical();
  if (!form)
    return form.fault();
  return checkRepeats(mapping, *form);
}
