//===- Operations.cpp - Equivalence and the operators as functions --------===//
//
// Comparison, and pairing, dividing, cutting, padding, splitting and peeling of
// mappings, and the checks of views (MA-21, MA-31). Results are spelled anew
// from the canonical form; a mapping without one is composed as text.
//
//===----------------------------------------------------------------------===//

#include "Parse.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace furiosa::mapping;
using namespace furiosa::mapping::detail;

/// Whether the two texts are one expression over the same axes.
static bool alike(const Mapping &lhs, const Mapping &rhs) {
  return lhs.node == rhs.node ||
         (lhs.axes() == rhs.axes() && lhs.str() == rhs.str());
}

/// Whether two lists are equal. They name axes by number, which differ where
/// the mappings are over different axes.
static bool equal(const Canonical &lhs, const Axes &lhsAxes,
                  const Canonical &rhs, const Axes &rhsAxes) {
  if (lhsAxes == rhsAxes)
    return lhs == rhs;
  Canonical renumbered = lhs;
  for (Factor &factor : renumbered.factors) {
    if (factor.axis < 0)
      continue;
    const Axis &axis = lhsAxes[factor.axis];
    int index = rhsAxes.find(axis.name);
    // No axis has a number below -1, so this compares unequal.
    factor.axis = index >= 0 && rhsAxes[index] == axis ? index : -2;
  }
  return renumbered == rhs;
}

using Reading = const Result<Canonical> &(Mapping::*)() const;

static Result<bool> equivalentAs(Reading reading, const Mapping &lhs,
                                 const Mapping &rhs) {
  if (lhs.size() != rhs.size())
    return false;
  if (lhs.node == rhs.node)
    return true;
  // Texts are compared only where there is no form: they cost more to make.
  const Result<Canonical> &left = (lhs.*reading)();
  const Result<Canonical> &right = (rhs.*reading)();
  if (left && right)
    return equal(*left, lhs.axes(), *right, rhs.axes());
  if (alike(lhs, rhs))
    return true;
  return left ? right.fault() : left.fault();
}

Result<bool> furiosa::mapping::equivalent(const Mapping &lhs,
                                          const Mapping &rhs) {
  return equivalentAs(&Mapping::canonical, lhs, rhs);
}

Result<bool> furiosa::mapping::equivalentResolved(const Mapping &lhs,
                                                  const Mapping &rhs) {
  return equivalentAs(&Mapping::resolved, lhs, rhs);
}

bool furiosa::mapping::same(const Mapping &lhs, const Mapping &rhs) {
  Result<bool> equal = equivalentResolved(lhs, rhs);
  return equal && *equal;
}

/// The mapping of `form`, or of what `text` makes where the form was refused.
static Result<Mapping> derived(Result<Form> form, const Axes &axes,
                               llvm::function_ref<std::string()> text) {
  if (form)
    return build(std::move(*form), axes, text);
  Result<Mapping> mapping = Mapping::parse(text(), axes);
  if (mapping)
    return mapping;
  Fault bad = mapping.fault();
  bad.column = 0;
  return bad;
}

static Result<Form> formOf(const Mapping &mapping) {
  const Result<Canonical> &form = mapping.canonical();
  if (!form)
    return form.fault();
  return Form::from(*form);
}

Result<Mapping> furiosa::mapping::pair(const Mapping &lhs, const Mapping &rhs) {
  if (lhs.isIdentity())
    return rhs;
  if (rhs.isIdentity())
    return lhs;
  int64_t size;
  if (llvm::MulOverflow(lhs.size(), rhs.size(), size))
    return fault("MA-11", "size-overflow",
                 "'" + lhs.str() + "' has " + llvm::Twine(lhs.size()) +
                     " cells and '" + rhs.str() + "' has " +
                     llvm::Twine(rhs.size()) +
                     "; their product is 9223372036854775808 or more");
  if (!(lhs.axes() == rhs.axes()))
    return fault("MA-7", "unknown-axis",
                 "'" + lhs.str() + "' and '" + rhs.str() +
                     "' are over different axes");
  Result<Form> form = formOf(rhs);
  if (form) {
    Result<Form> outer = formOf(lhs);
    if (!outer)
      form = outer;
    else if (std::string why = form->prepend(*outer); !why.empty())
      form = fault("MA-13", "not-linear", why);
  }
  return derived(std::move(form), lhs.axes(),
                 [&] { return lhs.str() + ", " + rhs.str(); });
}

/// `mapping` with one postfix operator more.
static Result<Mapping> apply(const Mapping &mapping, OpKind kind, int64_t n,
                             Pad pad = Pad::Top) {
  Result<int64_t> after = checkOp(kind, mapping.size(), n, 0);
  if (!after) {
    Fault bad = after.fault();
    bad.message = quoted(mapping.str()) + ": " + bad.message;
    return bad;
  }
  // These change nothing, so the user's spelling stays.
  if (kind == OpKind::Divide ? n == 1 : n == mapping.size())
    return mapping;
  Result<Form> form = formOf(mapping);
  llvm::StringRef sign;
  std::string why;
  switch (kind) {
  case OpKind::Divide:
    sign = "/";
    if (form)
      why = form->divide(n);
    break;
  case OpKind::Modulo:
    sign = "%";
    if (form)
      why = form->cut(n, sign);
    break;
  case OpKind::Resize:
    sign = "=";
    if (form)
      why = form->cut(n, sign);
    break;
  case OpKind::Pad:
    sign = padOperator(pad);
    if (form)
      form->pad(n, pad);
    break;
  }
  if (!why.empty())
    form = fault("MA-13", "not-linear", why);
  return derived(std::move(form), mapping.axes(), [&] {
    return (bracketed(mapping) + " " + sign + " " + llvm::Twine(n)).str();
  });
}

Result<Mapping> furiosa::mapping::divide(const Mapping &mapping, int64_t n) {
  return apply(mapping, OpKind::Divide, n);
}

Result<Mapping> furiosa::mapping::modulo(const Mapping &mapping, int64_t n) {
  return apply(mapping, OpKind::Modulo, n);
}

Result<Mapping> furiosa::mapping::resize(const Mapping &mapping, int64_t n) {
  return apply(mapping, OpKind::Resize, n);
}

Result<Mapping> furiosa::mapping::pad(const Mapping &mapping, int64_t n,
                                      Pad kind) {
  return apply(mapping, OpKind::Pad, n, kind);
}

Result<std::pair<Mapping, Mapping>>
furiosa::mapping::split(const Mapping &mapping, int64_t k) {
  if (k < 1 || mapping.size() % k != 0)
    return fault("MA-16", "split-not-divisible",
                 quoted(mapping.str()) + " has " + llvm::Twine(mapping.size()) +
                     " cells and does not split at " + llvm::Twine(k) +
                     (k < 1 ? std::string("; split at 1 or more")
                            : ("; " + llvm::Twine(std::gcd(mapping.size(), k)) +
                               " divides both")
                                  .str()));
  Result<Mapping> outer = divide(mapping, k);
  if (!outer)
    return outer.fault();
  Result<Mapping> inner = modulo(mapping, k);
  if (!inner)
    return inner.fault();
  return std::pair<Mapping, Mapping>(*outer, *inner);
}

Result<Mapping> furiosa::mapping::peel(const Mapping &mapping) {
  Result<Form> form = formOf(mapping);
  if (!form)
    return form.fault();
  int64_t before = form->size();
  form->peel();
  if (form->size() == before)
    return mapping;
  const int64_t after = form->size();
  return build(std::move(*form), mapping.axes(), [&] {
    return (bracketed(mapping) + " = " + llvm::Twine(after)).str();
  });
}

Result<bool> furiosa::mapping::isResizeOf(const Mapping &small,
                                          const Mapping &big) {
  if (small.size() > big.size())
    return false;
  Result<Mapping> window = resize(big, small.size());
  if (!window)
    return window.fault();
  return equivalentResolved(small, *window);
}

Result<llvm::SmallVector<DigitExtent, 4>>
furiosa::mapping::paddedExtents(const Mapping &mapping) {
  const Result<Canonical> &form = mapping.canonical();
  if (!form)
    return form.fault();
  llvm::SmallVector<DigitExtent, 4> extents;
  int64_t stride = 1;
  for (const Factor &factor : llvm::reverse(form->factors)) {
    extents.push_back({stride, factor.extent});
    stride *= factor.extent;
  }
  return extents;
}

/// MA-21 unless `large` is `small` with top padding outside. The message names
/// the view that was asked for, which is one of the two.
static std::optional<Fault>
checkOuterPad(const Mapping &small, const Mapping &large, const Mapping &source,
              const Mapping &view, llvm::StringRef what) {
  std::string both = quoted(view.str()) + " of " + std::to_string(view.size()) +
                     " cells, from " + quoted(source.str()) + " of " +
                     std::to_string(source.size());
  if (large.size() < small.size())
    return fault("MA-21", "narrower",
                 "the " + what + " view " + both + ", goes the wrong way; " +
                     (what == "pad" ? "'unpad' drops" : "'pad' adds") +
                     " padding");
  Result<Mapping> expected = pad(small, large.size());
  if (!expected)
    return expected.fault();
  if (same(large, *expected))
    return std::nullopt;
  return fault("MA-21", "not-outermost",
               "the " + what + " view " + both +
                   ", differs by more than top padding outside of all digits; "
                   "expected " +
                   quoted(expected->str()) + " and " + quoted(small.str()));
}

std::optional<Fault> furiosa::mapping::checkPadView(const Mapping &element,
                                                    const Mapping &view) {
  return checkOuterPad(element, view, element, view, "pad");
}

std::optional<Fault> furiosa::mapping::checkUnpadView(const Mapping &element,
                                                      const Mapping &view) {
  return checkOuterPad(view, element, element, view, "unpad");
}

std::optional<Fault> furiosa::mapping::checkReshape(llvm::StringRef dimension,
                                                    const Mapping &from,
                                                    const Mapping &to) {
  if (from.size() == to.size())
    return std::nullopt;
  return fault("MA-31", "size",
               "a reshape keeps the cells of each dimension: " + dimension +
                   " " + quoted(from.str()) + " has " +
                   llvm::Twine(from.size()) + ", " + quoted(to.str()) +
                   " has " + llvm::Twine(to.size()));
}
