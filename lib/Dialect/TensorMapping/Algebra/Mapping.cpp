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

/// Lists of more axes than this have an index of their names.
static constexpr size_t maxUnindexed = 8;

struct Axes::Storage {
  std::vector<Axis> list;
  llvm::StringMap<int> index;

  int find(llvm::StringRef name) const {
    if (list.size() > maxUnindexed) {
      auto found = index.find(name);
      return found == index.end() ? -1 : found->second;
    }
    for (auto [index, axis] : llvm::enumerate(list))
      if (axis.name == name)
        return static_cast<int>(index);
    return -1;
  }
};

const std::shared_ptr<const Axes::Storage> &Axes::none() {
  static const auto none = std::make_shared<const Storage>();
  return none;
}

Axes::Axes() : storage(none()) {}

Result<Axes> Axes::get(llvm::ArrayRef<Axis> axes) {
  auto storage = std::make_shared<Storage>();
  storage->list = axes.vec();
  for (auto [number, axis] : llvm::enumerate(axes)) {
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
    if (axes.size() > maxUnindexed)
      storage->index.try_emplace(name, static_cast<int>(number));
    size_t first = storage->find(name);
    if (first != number)
      return fault("MA-12", "axis-twice",
                   "axis " + quoted(name) + " is declared twice, with sizes " +
                       llvm::Twine(axes[first].size) + " and " +
                       llvm::Twine(axis.size) + "; drop one");
  }
  Axes result;
  result.storage = std::move(storage);
  return result;
}

llvm::ArrayRef<Axis> Axes::list() const { return storage->list; }

int Axes::find(llvm::StringRef name) const { return storage->find(name); }

bool Axes::operator==(const Axes &other) const {
  return storage == other.storage || storage->list == other.storage->list;
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
  explicit Checker(const Axes &axes) : axes(axes) {}

  std::optional<Fault> check(Expr &expr) const {
    switch (expr.kind) {
    case Expr::Kind::Axis:
      expr.axis = axes.find(expr.name);
      if (expr.axis < 0)
        return unknown(expr);
      expr.baseSize = axes[expr.axis].size;
      break;
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
};
} // namespace

//===----------------------------------------------------------------------===//
// Mapping
//===----------------------------------------------------------------------===//

Node::Node(const Axes &axes, Spelling spelling)
    : axes(axes), size(spelling.expr.size),
      spelled(std::make_unique<const Spelling>(std::move(spelling))) {}

static const std::shared_ptr<const Node> &identityNode() {
  static const std::shared_ptr<const Node> node =
      std::make_shared<const Node>(Axes(), Spelling{"1", Expr()});
  return node;
}

Mapping::Mapping() : node(identityNode()) {}

/// `text` with the sizes of `axes`.
static Result<Spelling> readWith(llvm::StringRef text, const Axes &axes,
                                 const Environment *environment) {
  Result<Spelling> parsed = parseText(text, axes, environment);
  if (parsed)
    if (std::optional<Fault> bad = Checker(axes).check(parsed->expr))
      return std::move(*bad);
  return parsed;
}

/// Reads what it spells, so that the two cannot differ.
const Spelling &Node::spelling() const {
  return spelled.get([&] {
    std::optional<std::string> text = spell(Form::from(*forms().raw), axes);
    assert(text && "a node is made of a list only where it is plain");
    Result<Spelling> read = readWith(*text, axes, nullptr);
    assert(read && "plain lists read as they are spelled");
    return std::make_unique<const Spelling>(std::move(*read));
  });
}

static Result<Mapping> parseWith(llvm::StringRef text, const Axes &axes,
                                 const Environment *environment) {
  Result<Spelling> read = readWith(text, axes, environment);
  if (!read)
    return std::move(read).fault();
  Mapping mapping;
  mapping.node = std::make_shared<const Node>(axes, std::move(*read));
  return mapping;
}

Result<Mapping> Mapping::parse(llvm::StringRef text, const Axes &axes) {
  return parseWith(text, axes, nullptr);
}

Result<std::string> furiosa::mapping::normalise(llvm::StringRef text) {
  if (isNormal(text))
    return text.str();
  Result<Spelling> parsed = parseText(text, Axes(), nullptr);
  if (!parsed)
    return parsed.fault();
  return std::move(parsed->text);
}

Result<Mapping> Mapping::parse(llvm::StringRef text, const Axes &axes,
                               const Environment &environment) {
  return parseWith(text, axes, &environment);
}

const std::string &Mapping::str() const { return node->text(); }
const Axes &Mapping::axes() const { return node->axes; }
int64_t Mapping::size() const { return node->size; }

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
  return mentions(node->expr(), axis);
}
