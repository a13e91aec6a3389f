//===- Print.cpp - Spelling a canonical form ------------------------------===//
//
// The shortest expression of a factor list, as a user would write it.
//
//===----------------------------------------------------------------------===//

#include "Detail.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace furiosa::mapping;
using namespace furiosa::mapping::detail;

llvm::StringRef detail::padOperator(Pad pad) {
  switch (pad) {
  case Pad::Top:
    return "#";
  case Pad::Zero:
    return "#{0}";
  case Pad::Bottom:
    return "#{!}";
  }
  return "";
}

static std::string padText(PadRun run) {
  return (" " + padOperator(run.kind) + " " + llvm::Twine(run.upTo)).str();
}

/// `limit` digits out of `have`.
static std::string takeText(int64_t have, int64_t limit, TakeStyle style) {
  if (limit == have)
    return {};
  bool digit = style == TakeStyle::Digit && have % limit == 0;
  return ((digit ? " % " : " = ") + llvm::Twine(limit)).str();
}

namespace {
/// Text, and whether it needs brackets before an operator.
struct Phrase {
  std::string text;
  bool list = false;

  std::string operand() const { return list ? "[" + text + "]" : text; }
};
} // namespace

/// Cells `{X: i}` for i below `count`, which may exceed the axis: the sum of a
/// digit {0, half} and one below half.
static std::optional<Phrase> spellRange(const Axis &axis, int64_t count,
                                        unsigned depth = 0) {
  if (count == axis.size)
    return Phrase{axis.name};
  if (count < axis.size)
    return Phrase{(axis.name + " = " + llvm::Twine(count)).str()};
  // The text doubles with each level.
  constexpr unsigned maxDepth = 6;
  int64_t half = ceilDiv(count, 2), padded;
  if (depth == maxDepth || llvm::MulOverflow(half, int64_t(2), padded))
    return std::nullopt;
  Phrase below{axis.name};
  if (half >= axis.size) {
    std::optional<Phrase> range = spellRange(axis, half + 1, depth + 1);
    if (!range)
      return std::nullopt;
    below = std::move(*range);
  }
  std::string base = (below.operand() + " # " + llvm::Twine(padded)).str();
  Phrase both{(base + " / " + llvm::Twine(half) + ", " + base + " % " +
               llvm::Twine(half))
                  .str(),
              true};
  if (padded == count)
    return both;
  return Phrase{(both.operand() + " = " + llvm::Twine(count)).str()};
}

/// The live digits of a factor whose own sums overshoot its axis.
static std::optional<Phrase> spellOvershoot(const Factor &factor,
                                            const Axis &axis) {
  const int64_t stride = factor.stride, live = factor.live;
  // Half the digits outside, rounded up, then a window over both.
  int64_t inner = ceilDiv(live, 2);
  int64_t weight, padded;
  if (!llvm::MulOverflow(stride, inner, weight) && weight < axis.size &&
      !llvm::MulOverflow(weight, int64_t(2), padded)) {
    std::string base = (axis.name + " # " + llvm::Twine(padded)).str();
    std::string text = base + (" / " + llvm::Twine(weight)).str() + ", " + base;
    if (stride != 1)
      text += (" / " + llvm::Twine(stride)).str();
    Phrase both{(text + " % " + llvm::Twine(inner)).str(), true};
    if (live % 2 == 0)
      return both;
    return Phrase{(both.operand() + " = " + llvm::Twine(live)).str()};
  }
  // Steps beyond the axis: every so many cells of a range.
  int64_t last;
  if (llvm::MulOverflow(stride, live, padded) ||
      llvm::MulOverflow(stride, live - 1, last))
    return std::nullopt;
  std::optional<Phrase> range = spellRange(axis, last + 1);
  if (!range || stride == 1)
    return range;
  return Phrase{(range->operand() + " # " + llvm::Twine(padded) + " / " +
                 llvm::Twine(stride))
                    .str()};
}

static std::optional<std::string> spell(const Factor &factor, const Axes &axes,
                                        TakeStyle style) {
  llvm::ArrayRef<PadRun> runs = factor.runs;
  std::string text;
  if (factor.axis < 0) {
    text = std::to_string(factor.live);
  } else {
    const Axis &axis = axes[factor.axis];
    int64_t stride = factor.stride, live = factor.live;
    if (stride < 1)
      return std::nullopt;
    int64_t digits = ceilDiv(axis.size, stride);
    if (live > digits) {
      std::optional<Phrase> sums = spellOvershoot(factor, axis);
      if (!sums)
        return std::nullopt;
      text = runs.empty() ? sums->text : sums->operand();
    } else if (axis.size % stride == 0) {
      text = axis.name;
      if (stride != 1)
        text += (" / " + llvm::Twine(stride)).str();
      text += takeText(digits, live, style);
    } else if (live < digits) {
      // All digits are whole ones: a window of the axis holds them.
      text = (axis.name + " = " + llvm::Twine(stride * live) + " / " +
              llvm::Twine(stride))
                 .str();
    } else {
      // The last digit is ragged: pad the axis before dividing it.
      PadRun first = runs.empty() ? PadRun{live, Pad::Top} : runs.front();
      int64_t padded;
      if (llvm::MulOverflow(stride, first.upTo, padded)) {
        first = {live, Pad::Top};
        if (llvm::MulOverflow(stride, first.upTo, padded))
          return std::nullopt;
      } else if (!runs.empty()) {
        runs = runs.drop_front();
      }
      text = axis.name + padText({padded, first.kind}) +
             (" / " + llvm::Twine(stride)).str();
    }
  }
  for (PadRun run : runs)
    text += padText(run);
  return text;
}

std::optional<std::string> detail::spell(const Form &form, const Axes &axes,
                                         TakeStyle style) {
  std::string text;
  for (const Factor &factor : llvm::reverse(form.factors)) {
    std::optional<std::string> part = ::spell(factor, axes, style);
    if (!part)
      return std::nullopt;
    text += (text.empty() ? "" : ", ") + *part;
  }
  if (text.empty())
    text = "1";
  if (!form.tail.empty()) {
    text = "[" + text + "]";
    for (PadRun run : form.tail)
      text += padText(run);
  }
  return text;
}

std::string detail::print(const Expr &expr, size_t opCount, const Axes &axes) {
  std::string text;
  switch (expr.kind) {
  case Expr::Kind::Axis:
    text = axes[expr.axis].name;
    break;
  case Expr::Kind::Number:
    text = std::to_string(expr.baseSize);
    break;
  case Expr::Kind::Product:
    for (const Expr &part : expr.parts)
      text += (text.empty() ? "[" : ", ") + print(part, part.ops.size(), axes);
    text += "]";
    break;
  }
  for (const Op &op : llvm::ArrayRef(expr.ops).take_front(opCount)) {
    llvm::StringRef sign = padOperator(op.pad);
    if (op.kind != OpKind::Pad)
      sign = op.kind == OpKind::Divide   ? "/"
             : op.kind == OpKind::Modulo ? "%"
                                         : "=";
    text += (" " + sign + " " + llvm::Twine(op.n)).str();
  }
  return text;
}

std::string detail::bracketed(const Mapping &mapping) {
  const Expr &expr = mapping.node->expr();
  bool list = expr.kind == Expr::Kind::Product && expr.ops.empty();
  return list ? "[" + mapping.str() + "]" : mapping.str();
}

bool detail::isPlain(const Form &form, const Axes &axes) {
  return llvm::all_of(form.factors, [&](const Factor &factor) {
    if (factor.axis < 0)
      return true;
    int64_t size = axes[factor.axis].size;
    if (factor.stride < 1)
      return false;
    if (size % factor.stride == 0)
      return factor.live <= size / factor.stride;
    // All digits are whole ones, or the padding of the axis is a size as well.
    int64_t padded;
    return factor.live <= size / factor.stride ||
           (factor.live == size / factor.stride + 1 &&
            !llvm::MulOverflow(factor.stride, factor.extent, padded));
  });
}

Mapping detail::build(Form form, const Axes &axes,
                      llvm::function_ref<std::string()> text) {
  Mapping mapping;
  if (isPlain(form, axes)) {
    mapping.node = std::make_shared<Node>(axes, std::move(form));
    return mapping;
  }
  if (std::optional<std::string> spelled = spell(form, axes)) {
    Result<Mapping> parsed = Mapping::parse(*spelled, axes);
    if (parsed && parsed->size() == form.size())
      return *parsed;
  }
  Result<Mapping> parsed = Mapping::parse(text(), axes);
  return parsed ? *parsed : Mapping();
}

Mapping Mapping::fromCanonical(const Canonical &canonical, const Axes &axes) {
  Form form;
  for (const Factor &factor : llvm::reverse(canonical.factors))
    form.push(Factor(factor));
  form.tail = canonical.tail;
  form.finish();
  return build(std::move(form), axes, [] { return "1"; });
}
