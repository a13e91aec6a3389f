//===- Mapping.cpp - Axes, checks and accessors of mappings ---------------===//
//
// Declared axes, the size checks of the constructors (MA-7 to MA-12), and the
// plain accessors of Mapping.
//
//===----------------------------------------------------------------------===//

#include "Parse.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

#include <limits>
#include <numeric>

using namespace furiosa::mapping;
using namespace furiosa::mapping::detail;

llvm::StringRef furiosa::mapping::toString(Pad pad) {
  switch (pad) {
  case Pad::Top:
    return "top";
  case Pad::Zero:
    return "zero";
  case Pad::Bottom:
    return "bottom";
  }
  return "";
}

Fault detail::fault(llvm::StringRef rule, llvm::StringRef reason,
                    const llvm::Twine &message, int64_t column) {
  return {rule.str(), reason.str(), message.str(), column};
}

std::optional<int64_t> detail::roundUp(int64_t value, int64_t step) {
  int64_t result;
  if (llvm::MulOverflow(ceilDiv(value, step), step, result))
    return std::nullopt;
  return result;
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

static const std::shared_ptr<const std::vector<Axis>> &noAxes() {
  static const auto none = std::make_shared<const std::vector<Axis>>();
  return none;
}

Axes::Axes() : storage(noAxes()) {}

Result<Axes> Axes::get(llvm::ArrayRef<Axis> axes) {
  llvm::StringMap<int64_t> seen;
  for (const Axis &axis : axes) {
    llvm::StringRef name = axis.name;
    bool word =
        llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
    if (name.empty() || !llvm::isUpper(name.front()) || !word)
      return fault("MA-6", "bad-name",
                   quoted(name) +
                       " is not an axis name; names are letters, digits and "
                       "'_', starting with an upper-case letter");
    if (axis.size < 1)
      return fault("MA-12", "axis-size",
                   "axis " + quoted(name) + " has size " +
                       llvm::Twine(axis.size) + "; sizes start at 1");
    auto [first, added] = seen.try_emplace(name, axis.size);
    if (!added)
      return fault("MA-12", "axis-twice",
                   "axis " + quoted(name) + " is declared twice, with sizes " +
                       llvm::Twine(first->second) + " and " +
                       llvm::Twine(axis.size) + "; drop one");
  }
  Axes result;
  result.storage = std::make_shared<const std::vector<Axis>>(axes.vec());
  return result;
}

llvm::ArrayRef<Axis> Axes::list() const { return *storage; }

int Axes::find(llvm::StringRef name) const {
  for (auto [index, axis] : llvm::enumerate(*storage))
    if (axis.name == name)
      return static_cast<int>(index);
  return -1;
}

bool Axes::operator==(const Axes &other) const {
  return storage == other.storage || *storage == *other.storage;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// "; 4 and 8 divide it" with the divisors of `size` nearest to `n`.
static std::string divisorHint(int64_t size, int64_t n) {
  // The search is bounded: it must not cost with sizes.
  constexpr int64_t reach = 256;
  int64_t below = std::gcd(size, n), above = size;
  for (int64_t d = n - 1; d >= 1 && d > n - reach; --d)
    if (size % d == 0) {
      below = d;
      break;
    }
  for (int64_t step = 1; step < reach && step <= size - n; ++step)
    if (size % (n + step) == 0) {
      above = n + step;
      break;
    }
  if (below == above || n > size)
    return ("; " + llvm::Twine(above) + " divides it").str();
  return ("; " + llvm::Twine(below) + " and " + llvm::Twine(above) +
          " divide it")
      .str();
}

Result<int64_t> detail::checkOp(OpKind kind, int64_t size, int64_t n,
                                int64_t column) {
  if (n < 1)
    return fault("MA-5", "zero-number",
                 llvm::Twine(n) + " is not a size; numbers start at 1", column);
  auto padHint = [&]() -> std::string {
    std::optional<int64_t> padded = roundUp(size, n);
    if (!padded)
      return {};
    return (", or pad it with '# " + llvm::Twine(*padded) + "' first").str();
  };
  switch (kind) {
  case OpKind::Divide:
    if (size % n != 0)
      return fault("MA-8", "stride-not-divisible",
                   "'/ " + llvm::Twine(n) + "' does not divide a size of " +
                       llvm::Twine(size) + divisorHint(size, n) + padHint(),
                   column);
    return size / n;
  case OpKind::Modulo:
    if (n > size)
      return fault("MA-8", "modulo-too-large",
                   "'% " + llvm::Twine(n) + "' exceeds a size of " +
                       llvm::Twine(size) + "; take at most " +
                       llvm::Twine(size) + padHint(),
                   column);
    if (size % n != 0)
      return fault("MA-8", "modulo-not-divisible",
                   "'% " + llvm::Twine(n) + "' does not divide a size of " +
                       llvm::Twine(size) + divisorHint(size, n) + padHint() +
                       "; a window of " + llvm::Twine(n) +
                       " cells is '= " + llvm::Twine(n) + "'",
                   column);
    return n;
  case OpKind::Resize:
    if (n > size)
      return fault("MA-9", "resize-too-large",
                   "'= " + llvm::Twine(n) + "' exceeds a size of " +
                       llvm::Twine(size) + "; padding is '# " + llvm::Twine(n) +
                       "'",
                   column);
    return n;
  case OpKind::Pad:
    if (n < size)
      return fault("MA-10", "pad-too-small",
                   "'# " + llvm::Twine(n) + "' is below a size of " +
                       llvm::Twine(size) +
                       "; shrinking is '= " + llvm::Twine(n) + "'",
                   column);
    return n;
  }
  return size;
}

namespace {
/// Resolves names and computes sizes, left to right.
class Checker {
public:
  explicit Checker(const Axes &axes) : axes(axes) {
    for (auto [index, axis] : llvm::enumerate(axes.list()))
      indices.try_emplace(axis.name, static_cast<int>(index));
  }

  std::optional<Fault> check(Expr &expr) const {
    switch (expr.kind) {
    case Expr::Kind::Axis: {
      auto found = indices.find(expr.name);
      if (found == indices.end())
        return unknown(expr);
      expr.axis = found->second;
      expr.baseSize = axes[expr.axis].size;
      break;
    }
    case Expr::Kind::Number:
      break;
    case Expr::Kind::Product:
      for (Expr &part : expr.parts)
        if (std::optional<Fault> bad = check(part))
          return bad;
      expr.baseSize = 1;
      for (Expr &part : llvm::reverse(expr.parts)) {
        int64_t inner = expr.baseSize;
        if (llvm::MulOverflow(part.size, inner, expr.baseSize))
          return fault("MA-11", "size-overflow",
                       "the sizes at the comma, " + llvm::Twine(part.size) +
                           " and " + llvm::Twine(inner) +
                           ", have a product of 9223372036854775808 or more; "
                           "sizes stay below",
                       part.column);
      }
      break;
    }
    expr.name = {};
    expr.size = expr.baseSize;
    for (Op &op : expr.ops) {
      Result<int64_t> after = checkOp(op.kind, expr.size, op.n, op.column);
      if (!after)
        return after.fault();
      op.before = expr.size;
      op.after = expr.size = *after;
    }
    return std::nullopt;
  }

private:
  Fault unknown(const Expr &expr) const {
    std::vector<llvm::StringRef> names;
    for (const Axis &axis : axes.list())
      names.push_back(axis.name);
    std::string hint = nearest(expr.name, names);
    if (hint.empty()) {
      constexpr size_t shown = 8;
      if (names.empty())
        hint = "; no axes are declared";
      else if (names.size() <= shown)
        hint = "; declared are " + llvm::join(names, ", ");
    }
    return fault("MA-7", "unknown-axis",
                 "axis " + quoted(expr.name) + " is not declared" + hint,
                 expr.column);
  }

  const Axes &axes;
  llvm::StringMap<int> indices;
};
} // namespace

//===----------------------------------------------------------------------===//
// Mapping
//===----------------------------------------------------------------------===//

static std::shared_ptr<const Node> identityNode() {
  static const std::shared_ptr<const Node> node = [] {
    auto made = std::make_shared<Node>();
    made->text = "1";
    return made;
  }();
  return node;
}

Mapping::Mapping() : node(identityNode()) {}

static Result<Mapping> parseWith(llvm::StringRef text, const Axes &axes,
                                 const Environment *environment) {
  Result<ParsedText> parsed = parseText(text, axes, environment);
  if (!parsed)
    return parsed.fault();
  if (std::optional<Fault> bad = Checker(axes).check(parsed->expr))
    return *bad;
  auto node = std::make_shared<Node>();
  node->axes = axes;
  node->text = std::move(parsed->text);
  node->expr = std::move(parsed->expr);
  Mapping mapping;
  mapping.node = std::move(node);
  return mapping;
}

Result<Mapping> Mapping::parse(llvm::StringRef text, const Axes &axes) {
  return parseWith(text, axes, nullptr);
}

Result<std::string> furiosa::mapping::normalise(llvm::StringRef text) {
  Result<ParsedText> parsed = parseText(text, Axes(), nullptr);
  if (!parsed)
    return parsed.fault();
  return std::move(parsed->text);
}

Result<Mapping> Mapping::parse(llvm::StringRef text, const Axes &axes,
                               const Environment &environment) {
  return parseWith(text, axes, &environment);
}

const std::string &Mapping::str() const { return node->text; }
const Axes &Mapping::axes() const { return node->axes; }
int64_t Mapping::size() const { return node->expr.size; }

static bool mentions(const Expr &expr, int axis) {
  if (expr.kind == Expr::Kind::Axis)
    return expr.axis == axis;
  return llvm::any_of(expr.parts,
                      [&](const Expr &part) { return mentions(part, axis); });
}

bool Mapping::uses(int axis) const {
  if (axis < 0)
    return false;
  if (const Result<Canonical> &form = canonical())
    return llvm::any_of(form->factors, [&](const Factor &factor) {
      return factor.axis == axis;
    });
  return mentions(node->expr, axis);
}
