//===- Divide.cpp - Finding the digits of one mapping in another ----------===//
//
// Exact and relaxed division (MA-22, MA-30).
//
//===----------------------------------------------------------------------===//

#include "Divide.h"
#include "Parse.h"

#include "llvm/Support/MathExtras.h"

using namespace furiosa::mapping;
using namespace furiosa::mapping::detail;

/// A divisor that steps twice through a digit of an axis.
static std::optional<Fault> checkRepeats(const Mapping &divisor,
                                         const Form &form) {
  for (const Factor &inner : form.factors)
    for (const Factor &outer : form.factors) {
      if (&inner == &outer || inner.axis < 0 || inner.axis != outer.axis ||
          inner.stride > outer.stride ||
          (inner.stride == outer.stride && &inner > &outer))
        continue;
      uint64_t furthest = furthestStep(inner);
      if (furthest < static_cast<uint64_t>(outer.stride))
        continue;
      const Axis &axis = divisor.axes()[inner.axis];
      bool overshoots = llvm::SaturatingAdd(furthest, furthestStep(outer)) >=
                        static_cast<uint64_t>(axis.size);
      return fault(overshoots ? "MA-13" : "MA-30",
                   overshoots ? "not-linear" : "repeated",
                   "divisor " + quoted(divisor.str()) +
                       " has a digit of axis " + axis.name +
                       " twice, at strides " + llvm::Twine(inner.stride) +
                       " and " + llvm::Twine(outer.stride) +
                       "; use each digit of an axis once");
    }
  return std::nullopt;
}

/// Whether the divisor also steps through `axis` by less than `below`, from
/// `from` on.
static bool stepsBelow(const Form &divisor, int axis, int64_t from,
                       int64_t below) {
  return llvm::any_of(divisor.factors, [&](const Factor &factor) {
    return factor.axis == axis && factor.stride < below &&
           furthestStep(factor) >= static_cast<uint64_t>(from);
  });
}

Result<Division> detail::matchDigits(const Mapping &dividend,
                                     const Mapping &divisor, bool exact) {
  if (!(dividend.axes() == divisor.axes()) && !divisor.isIdentity())
    return fault("MA-7", "unknown-axis",
                 quoted(dividend.str()) + " and " + quoted(divisor.str()) +
                     " are over different axes");
  Division division;
  for (bool second : {false, true}) {
    const Mapping &mapping = second ? divisor : dividend;
    const Result<Canonical> &form = mapping.resolved();
    if (!form)
      return fault("MA-13", "not-linear",
                   (second ? "divisor " : "dividend ") + quoted(mapping.str()) +
                       ": " + form.fault().message);
    (second ? division.divisor : division.dividend) = Form::from(*form);
  }
  if (std::optional<Fault> bad = checkRepeats(divisor, division.divisor))
    return *bad;

  llvm::SmallVector<int64_t, 8> strides;
  int64_t stride = 1;
  for (const Factor &factor : division.dividend.factors) {
    strides.push_back(stride);
    stride *= factor.extent;
  }

  int64_t position = 1;
  for (auto [index, factor] : llvm::enumerate(division.divisor.factors)) {
    int64_t at = position;
    position *= factor.extent;
    if (factor.axis < 0) {
      if (factor.live > 1 && exact)
        return fault("MA-30", "broadcast",
                     "divisor " + quoted(divisor.str()) +
                         " repeats cells by the number " +
                         llvm::Twine(factor.live) + ", which has no digit in " +
                         quoted(dividend.str()) + "; divide by axes only");
      continue;
    }
    const std::string &name = divisor.axes()[factor.axis].name;
    auto term = [&](int64_t weight, int64_t left) {
      return "axis " + name + " at stride " + llvm::Twine(weight).str() +
             " over " + llvm::Twine(left).str() + " digits";
    };
    int64_t weight = factor.stride, left = factor.live, from = 1;
    while (left > 1) {
      const Factor *found = nullptr;
      size_t where = 0;
      for (auto [place, candidate] : llvm::enumerate(division.dividend.factors))
        if (candidate.axis == factor.axis && candidate.stride <= weight &&
            weight / candidate.stride < candidate.live &&
            (!found || candidate.stride > found->stride)) {
          found = &candidate;
          where = place;
        }
      if (!found) {
        if (!exact)
          break;
        return fault("MA-30", "missing",
                     quoted(dividend.str()) + " has no digit for " +
                         term(weight, left) + " of divisor " +
                         quoted(divisor.str()));
      }
      auto incompatible = [&] {
        return fault(
            "MA-22", "incompatible",
            "axis " + name +
                " has no common refinement: " + quoted(dividend.str()) +
                " steps by " + llvm::Twine(found->stride) + " over " +
                llvm::Twine(found->live) + " digits, the divisor asks for " +
                term(weight, left) + "; cut the axis at the same places");
      };
      int64_t step = weight / found->stride;
      if (weight % found->stride != 0 || found->extent % step != 0)
        return incompatible();
      int64_t take = std::min(left, ceilDiv(found->live, step));
      if (take < left && (found->live % step != 0 || left % take != 0))
        return incompatible();
      int64_t end;
      bool reaches = llvm::MulOverflow(step, take, end) || end >= found->live;
      if (!reaches && found->extent % end != 0)
        return incompatible();
      // Beside a ragged last digit the dividend lacks sums with smaller digits.
      if (reaches && found->live % step != 0 &&
          found->live <
              ceilDiv(divisor.axes()[factor.axis].size, found->stride) &&
          stepsBelow(division.divisor, factor.axis, found->stride, weight))
        return incompatible();
      Match match;
      match.term = {strides[where] * step, at, take, factor.axis};
      match.dividend = {where, step, take};
      match.divisor = {index, from, take};
      division.matches.push_back(match);
      // Products stay within the factors' own extents while digits are left.
      left /= take;
      if (left > 1) {
        weight *= take;
        at *= take;
        from *= take;
      }
    }
  }
  // Matches of distinct digits have distinct strides.
  llvm::sort(division.matches, [](const Match &lhs, const Match &rhs) {
    return lhs.term.dividendStride > rhs.term.dividendStride;
  });
  return division;
}

Result<std::vector<DivisionTerm>>
furiosa::mapping::divideExact(const Mapping &dividend, const Mapping &divisor) {
  Result<Division> division = matchDigits(dividend, divisor, /*exact=*/true);
  if (!division)
    return division.fault();
  std::vector<DivisionTerm> terms;
  for (const Match &match : division->matches)
    terms.push_back(match.term);
  return terms;
}

std::optional<std::vector<Piece>>
detail::cutPieces(const Form &form, llvm::ArrayRef<MatchedDigits> matched) {
  std::vector<Piece> pieces;
  for (auto [index, factor] : llvm::enumerate(form.factors)) {
    llvm::SmallVector<int, 4> here;
    for (auto [number, digits] : llvm::enumerate(matched))
      if (digits.factor == index)
        here.push_back(static_cast<int>(number));
    llvm::sort(here, [&](int lhs, int rhs) {
      return matched[lhs].from < matched[rhs].from;
    });
    // Digits `from` on, `count` of them; all the rest where count is 0.
    auto piece = [&](int64_t from, int64_t count, int match) {
      Piece part;
      part.match = match;
      part.factor.axis = factor.axis;
      part.factor.stride = factor.stride * from;
      if (count != 0) {
        part.factor.extent = part.factor.live = count;
      } else {
        part.factor.extent = factor.extent / from;
        part.factor.live = ceilDiv(factor.live, from);
        for (PadRun run : factor.runs)
          appendRun(part.factor.runs, part.factor.live,
                    {ceilDiv(run.upTo, from), run.kind});
      }
      pieces.push_back(std::move(part));
    };
    int64_t done = 1;
    for (int number : here) {
      const MatchedDigits &digits = matched[number];
      if (digits.from % done != 0 || factor.extent % digits.from != 0)
        return std::nullopt;
      if (digits.from > done)
        piece(done, digits.from / done, -1);
      int64_t end;
      if (llvm::MulOverflow(digits.from, digits.count, end) ||
          end >= factor.live) {
        piece(digits.from, 0, number);
        done = 0;
        break;
      }
      if (factor.extent % end != 0)
        return std::nullopt;
      piece(digits.from, digits.count, number);
      done = end;
    }
    if (done != 0)
      piece(done, 0, -1);
  }
  return pieces;
}

/// The form with matched digits as top padding; nothing where cuts do not nest.
static std::optional<Form> residue(const Form &form,
                                   llvm::ArrayRef<MatchedDigits> matched) {
  std::optional<std::vector<Piece>> pieces = cutPieces(form, matched);
  if (!pieces)
    return std::nullopt;
  Form rest;
  for (Piece &piece : *pieces) {
    Factor factor = std::move(piece.factor);
    if (piece.match >= 0) {
      int64_t extent = factor.extent;
      factor = Factor();
      factor.extent = extent;
      factor.runs.push_back({extent, Pad::Top});
    }
    rest.push(std::move(factor));
  }
  for (PadRun run : form.tail)
    appendRun(rest.tail, rest.core(), run);
  rest.finish();
  return rest;
}

Result<RelaxedDivision>
furiosa::mapping::divideRelaxed(const Mapping &dividend,
                                const Mapping &divisor) {
  Result<Division> division = matchDigits(dividend, divisor, /*exact=*/false);
  if (!division)
    return division.fault();
  RelaxedDivision result;
  std::vector<MatchedDigits> inDividend, inDivisor;
  for (const Match &match : division->matches) {
    result.terms.push_back(match.term);
    inDividend.push_back(match.dividend);
    inDivisor.push_back(match.divisor);
  }
  std::optional<Form> left = residue(division->dividend, inDividend);
  std::optional<Form> right = residue(division->divisor, inDivisor);
  if (!left || !right)
    return fault("MA-22", "incompatible",
                 "the digits that " + quoted(dividend.str()) + " and " +
                     quoted(divisor.str()) +
                     " share do not nest; cut the axes at the same places");
  result.dividendRest =
      build(std::move(*left), dividend.axes(), [&] { return dividend.str(); });
  result.divisorRest =
      build(std::move(*right), divisor.axes(), [&] { return divisor.str(); });

  // Innermost first, as long as both sides agree where a digit lies.
  std::optional<std::vector<Piece>> pieces =
      cutPieces(division->dividend, inDividend);
  int64_t stride = 1;
  for (const Piece &piece : *pieces) {
    bool pad = piece.factor.live == 1;
    bool alike = piece.match >= 0 &&
                 division->matches[piece.match].term.divisorStride == stride;
    if (!pad && !alike)
      break;
    stride *= piece.factor.extent;
  }
  result.contiguousTail = stride;
  return result;
}
