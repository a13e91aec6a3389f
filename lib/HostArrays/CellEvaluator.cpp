//===- CellEvaluator.cpp - Cells of a mapping, by its definition ----------===//
//
// A recursive-descent parser and the recursion of the constructors' table.
//
//===----------------------------------------------------------------------===//

#include "furiosa/HostArrays/CellEvaluator.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/CheckedArithmetic.h"

#include <algorithm>
#include <numeric>
#include <optional>

using namespace llvm;

namespace furiosa {

namespace detail {
struct CellNode {
  enum class Kind { Axis, Number, Pair, Divide, Take, Pad };
  Kind kind;
  int64_t size;
  /// Axis: its index.
  int axis = -1;
  /// Divide: the divisor.
  int64_t divisor = 1;
  /// Pair: both; Divide, Take (`%` and `=`), Pad: lhs.
  std::shared_ptr<const CellNode> lhs, rhs;
};
} // namespace detail

using detail::CellNode;
using NodeRef = std::shared_ptr<const CellNode>;

//===----------------------------------------------------------------------===//
// Parser
//===----------------------------------------------------------------------===//

namespace {
class Parser {
public:
  Parser(StringRef text, ArrayRef<HostAxis> axes, std::vector<int> &order)
      : text(text), axes(axes), order(order) {}

  Expected<NodeRef> run() {
    NodeRef root = parseMapping(0);
    skipBlanks();
    if (root && at < text.size())
      fail("unexpected '" + Twine(text[at]) + "'");
    if (!message.empty())
      return createStringError("mapping \"" + text + "\", column " +
                               Twine(column) + ": " + message);
    return root;
  }

private:
  /// Keeps recursion over the nodes within any stack.
  static constexpr unsigned maxDepth = 128;
  static constexpr unsigned maxNodes = 2048;

  std::nullptr_t fail(const Twine &what) { return failAt(at, what); }
  std::nullptr_t failAt(size_t where, const Twine &what) {
    if (message.empty()) {
      message = what.str();
      column = where + 1;
    }
    return nullptr;
  }

  void skipBlanks() {
    while (at < text.size() && isSpace(text[at]))
      ++at;
  }
  bool consume(char c) {
    skipBlanks();
    if (at == text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }

  NodeRef make(CellNode node) {
    if (++numNodes > maxNodes)
      return fail("more than " + Twine(maxNodes) + " terms and operators");
    return std::make_shared<const CellNode>(std::move(node));
  }

  std::optional<int64_t> parseNumber() {
    skipBlanks();
    size_t start = at;
    while (at < text.size() && isDigit(text[at]))
      ++at;
    int64_t value;
    if (start == at) {
      fail("expected a number");
      return std::nullopt;
    }
    if (text.slice(start, at).getAsInteger(10, value)) {
      failAt(start, "number does not fit in 63 bits");
      return std::nullopt;
    }
    if (value == 0) {
      failAt(start, "number is zero");
      return std::nullopt;
    }
    return value;
  }

  NodeRef parseAtom(unsigned depth) {
    skipBlanks();
    if (at == text.size())
      return fail("expected an axis, a number or a bracket");
    char c = text[at];
    if (c == '[' || c == '(') {
      if (depth == maxDepth)
        return fail("brackets nest more than " + Twine(maxDepth) + " deep");
      ++at;
      NodeRef inner = parseMapping(depth + 1);
      if (!inner)
        return nullptr;
      if (!consume(c == '[' ? ']' : ')'))
        return fail("expected the closing bracket");
      return inner;
    }
    if (isDigit(c)) {
      auto value = parseNumber();
      if (!value)
        return nullptr;
      return make({CellNode::Kind::Number, *value, -1, 1, nullptr, nullptr});
    }
    if (c < 'A' || c > 'Z')
      return fail("expected an axis, a number or a bracket");
    size_t start = at;
    while (at < text.size() && (isAlnum(text[at]) || text[at] == '_'))
      ++at;
    StringRef name = text.slice(start, at);
    for (auto [index, axis] : enumerate(axes))
      if (name == axis.name) {
        int number = static_cast<int>(index);
        if (!is_contained(order, number))
          order.push_back(number);
        return make(
            {CellNode::Kind::Axis, axis.size, number, 1, nullptr, nullptr});
      }
    return failAt(start, "unknown axis '" + name + "'");
  }

  NodeRef parseChain(unsigned depth) {
    NodeRef node = parseAtom(depth);
    while (node) {
      skipBlanks();
      if (at == text.size() || !StringRef("/%=#").contains(text[at]))
        return node;
      char op = text[at++];
      if (op == '#' && consume('{')) {
        skipBlanks();
        if (at == text.size() || !StringRef("*0!").contains(text[at]))
          return fail("expected '*', '0' or '!' as the kind of padding");
        ++at;
        if (!consume('}'))
          return fail("expected '}'");
      }
      skipBlanks();
      size_t where = at;
      auto n = parseNumber();
      if (!n)
        return nullptr;
      node = apply(op, std::move(node), *n, where);
    }
    return nullptr;
  }

  NodeRef apply(char op, NodeRef lhs, int64_t n, size_t where) {
    int64_t size = lhs->size;
    if (op == '#') {
      if (n < size)
        return failAt(where, "padding to " + Twine(n) + " of " + Twine(size) +
                                 " cells");
      if (n == size)
        return lhs;
      return make({CellNode::Kind::Pad, n, -1, 1, std::move(lhs), nullptr});
    }
    if (n > size)
      return failAt(where, Twine(n) + " is more than the " + Twine(size) +
                               " cells before it");
    if (op != '=' && size % n != 0)
      return failAt(where, Twine(n) + " does not divide " + Twine(size));
    if (op == '/') {
      if (n == 1)
        return lhs;
      return make(
          {CellNode::Kind::Divide, size / n, -1, n, std::move(lhs), nullptr});
    }
    if (n == size)
      return lhs;
    return make({CellNode::Kind::Take, n, -1, 1, std::move(lhs), nullptr});
  }

  NodeRef parseMapping(unsigned depth) {
    SmallVector<NodeRef> list;
    do {
      // One trailing comma is fine, but not a lone one.
      skipBlanks();
      if (!list.empty() &&
          (at == text.size() || text[at] == ']' || text[at] == ')'))
        break;
      NodeRef node = parseChain(depth);
      if (!node)
        return nullptr;
      list.push_back(std::move(node));
    } while (consume(','));
    NodeRef node = list.pop_back_val();
    while (!list.empty()) {
      NodeRef lhs = list.pop_back_val();
      auto size = checkedMul<int64_t>(lhs->size, node->size);
      if (!size)
        return fail("the size does not fit in 63 bits");
      node = make({CellNode::Kind::Pair, *size, -1, 1, std::move(lhs),
                   std::move(node)});
      if (!node)
        return nullptr;
    }
    return node;
  }

  StringRef text;
  ArrayRef<HostAxis> axes;
  std::vector<int> &order;
  size_t at = 0, column = 0;
  unsigned numNodes = 0;
  std::string message;
};
} // namespace

Expected<CellEvaluator> CellEvaluator::parse(StringRef text,
                                             ArrayRef<HostAxis> axes) {
  CellEvaluator evaluator;
  auto root = Parser(text, axes, evaluator.order).run();
  if (!root)
    return root.takeError();
  evaluator.root = std::move(*root);
  return evaluator;
}

int64_t CellEvaluator::size() const { return root->size; }
ArrayRef<int> CellEvaluator::axesInOrder() const { return order; }

//===----------------------------------------------------------------------===//
// One cell
//===----------------------------------------------------------------------===//

static bool addCellOf(const CellNode &node, int64_t position,
                      MutableArrayRef<int64_t> index) {
  switch (node.kind) {
  case CellNode::Kind::Axis:
    index[node.axis] += position;
    return true;
  case CellNode::Kind::Number:
    return true;
  case CellNode::Kind::Pair:
    return addCellOf(*node.lhs, position / node.rhs->size, index) &&
           addCellOf(*node.rhs, position % node.rhs->size, index);
  case CellNode::Kind::Divide:
    return addCellOf(*node.lhs, position * node.divisor, index);
  case CellNode::Kind::Take:
    return addCellOf(*node.lhs, position, index);
  case CellNode::Kind::Pad:
    return position < node.lhs->size && addCellOf(*node.lhs, position, index);
  }
  llvm_unreachable("all kinds are listed");
}

bool CellEvaluator::addCell(int64_t position,
                            MutableArrayRef<int64_t> index) const {
  return position >= 0 && position < root->size &&
         addCellOf(*root, position, index);
}

//===----------------------------------------------------------------------===//
// All live cells
//===----------------------------------------------------------------------===//

namespace {
/// Visits the live cells of a node among positions `first + i · step`, i below
/// `count`, by rising i: padding is never walked through.
class Enumerator {
public:
  using Visit = function_ref<void(int64_t)>;

  explicit Enumerator(MutableArrayRef<int64_t> index) : index(index) {}

  /// At most how many cells run() visits, without walking through them.
  static int64_t bound(const CellNode &node, int64_t first, int64_t step,
                       int64_t count) {
    if (first >= node.size)
      return 0;
    count = std::min(count, (node.size - 1 - first) / step + 1);
    if (count == 1)
      step = 1;
    switch (node.kind) {
    case CellNode::Kind::Axis:
    case CellNode::Kind::Number:
      return count;
    case CellNode::Kind::Divide:
      return bound(*node.lhs, first * node.divisor,
                   count == 1 ? 1 : step * node.divisor, count);
    case CellNode::Kind::Take:
    case CellNode::Kind::Pad:
      return bound(*node.lhs, first, step, count);
    case CellNode::Kind::Pair: {
      int64_t row = node.rhs->size;
      if (step % row == 0)
        return bound(*node.lhs, first / row, step / row, count);
      if (row % step != 0 || first % row >= step)
        return count;
      int64_t perRow = row / step;
      // Neither factor is above its side's size: the product fits.
      return bound(*node.lhs, first / row, 1, (count - 1) / perRow + 1) *
             bound(*node.rhs, first % row, step, perRow);
    }
    }
    llvm_unreachable("all kinds are listed");
  }

  void run(const CellNode &node, int64_t first, int64_t step, int64_t count,
           Visit visit) {
    if (first >= node.size)
      return;
    count = std::min(count, (node.size - 1 - first) / step + 1);
    if (count == 1)
      step = 1;
    switch (node.kind) {
    case CellNode::Kind::Axis:
      for (int64_t i = 0; i < count; ++i) {
        index[node.axis] += first + i * step;
        visit(i);
        index[node.axis] -= first + i * step;
      }
      return;
    case CellNode::Kind::Number:
      for (int64_t i = 0; i < count; ++i)
        visit(i);
      return;
    case CellNode::Kind::Divide:
      return run(*node.lhs, first * node.divisor,
                 count == 1 ? 1 : step * node.divisor, count, visit);
    case CellNode::Kind::Take:
    case CellNode::Kind::Pad:
      return run(*node.lhs, first, step, count, visit);
    case CellNode::Kind::Pair:
      return runPair(node, first, step, count, visit);
    }
    llvm_unreachable("all kinds are listed");
  }

private:
  void runPair(const CellNode &node, int64_t first, int64_t step, int64_t count,
               Visit visit) {
    const CellNode &outer = *node.lhs, &inner = *node.rhs;
    int64_t row = inner.size;
    if (step % row == 0)
      return run(outer, first / row, step / row, count, [&](int64_t i) {
        run(inner, first % row, 1, 1, [&](int64_t) { visit(i); });
      });
    if (row % step == 0 && first % row < step) {
      int64_t perRow = row / step;
      return run(
          outer, first / row, 1, (count - 1) / perRow + 1, [&](int64_t i) {
            run(inner, first % row, step, std::min(perRow, count - i * perRow),
                [&](int64_t j) { visit(i * perRow + j); });
          });
    }
    for (int64_t i = 0; i < count;) {
      int64_t position = first + i * step;
      int64_t left = (row - 1 - position % row) / step + 1;
      run(outer, position / row, 1, 1, [&](int64_t) {
        run(inner, position % row, step, std::min(left, count - i),
            [&](int64_t j) { visit(i + j); });
      });
      i += left;
    }
  }

  MutableArrayRef<int64_t> index;
};
} // namespace

static void collectTerms(const CellNode &node,
                         SmallVectorImpl<const CellNode *> &terms) {
  if (node.kind != CellNode::Kind::Pair) {
    terms.push_back(&node);
    return;
  }
  collectTerms(*node.lhs, terms);
  collectTerms(*node.rhs, terms);
}

static void collectAxes(const CellNode &node, std::vector<int> &axes) {
  if (node.kind == CellNode::Kind::Axis && !is_contained(axes, node.axis))
    axes.push_back(node.axis);
  for (const NodeRef &child : {node.lhs, node.rhs})
    if (child)
      collectAxes(*child, axes);
}

Expected<std::vector<TermCells>> CellEvaluator::terms(uint64_t limit) const {
  SmallVector<const CellNode *> nodes;
  collectTerms(*root, nodes);
  std::vector<TermCells> result;
  for (const CellNode *node : nodes) {
    TermCells term;
    term.size = node->size;
    collectAxes(*node, term.axes);
    llvm::sort(term.axes);
    if (Enumerator::bound(*node, 0, 1, node->size) > int64_t(limit))
      return createStringError("not yet supported: a mapping term with more "
                               "than " +
                               Twine(limit) + " live cells");
    std::vector<int64_t> index(term.axes.empty() ? 0 : term.axes.back() + 1);
    Enumerator(index).run(*node, 0, 1, node->size, [&](int64_t position) {
      term.positions.push_back(position);
      for (int axis : term.axes)
        term.coordinates.push_back(index[axis]);
    });
    term.largest.resize(term.axes.size());
    term.step.resize(term.axes.size());
    for (size_t cell = 0; cell < term.count(); ++cell)
      for (auto [k, coordinate] : enumerate(term.coordinatesOf(cell))) {
        term.largest[k] = std::max(term.largest[k], coordinate);
        term.step[k] = std::gcd(term.step[k], coordinate);
      }
    result.push_back(std::move(term));
  }
  return result;
}

} // namespace furiosa
