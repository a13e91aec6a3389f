//===- Cells.cpp - What stands at a position of a mapping -----------------===//
//
// The raw reading of a mapping, straight from the expression, and the number
// of live cells of the resolved reading.
//
//===----------------------------------------------------------------------===//

#include "Detail.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace furiosa::mapping;
using namespace furiosa::mapping::detail;

/// Adds the cell of `expr` at `position` to `cell`, which is an index so far.
static void addCell(const Expr &expr, int64_t position, Cell &cell) {
  for (const Op &op : llvm::reverse(expr.ops)) {
    if (op.kind == OpKind::Divide) {
      position *= op.n;
    } else if (op.kind == OpKind::Pad && position >= op.before) {
      cell.kind = Cell::Kind::Pad;
      cell.pad = op.pad;
      cell.index.clear();
      return;
    }
  }
  switch (expr.kind) {
  case Expr::Kind::Axis: {
    if (position == 0)
      return;
    int64_t &coordinate = cell.index[expr.axis];
    // Sums beyond any axis size are overshoot, however large.
    if (llvm::AddOverflow(coordinate, position, coordinate))
      coordinate = std::numeric_limits<int64_t>::max();
    return;
  }
  case Expr::Kind::Number:
    return;
  case Expr::Kind::Product: {
    // The major side's padding wins, so go outside in.
    int64_t rows = expr.baseSize;
    for (const Expr &part : expr.parts) {
      rows /= part.size;
      addCell(part, position / rows, cell);
      if (cell.kind != Cell::Kind::Index)
        return;
      position %= rows;
    }
    return;
  }
  }
}

Cell Mapping::cellAt(int64_t position) const {
  Cell cell;
  if (position < 0 || position >= size()) {
    cell.kind = Cell::Kind::OutOfBounds;
    return cell;
  }
  addCell(node->expr(), position, cell);
  return cell;
}

/// How many digit combinations of one axis stay below `limit`. The digits are
/// sorted by falling stride and do not overlap.
static int64_t countBelow(llvm::ArrayRef<const Factor *> digits,
                          int64_t limit) {
  int64_t total = 0;
  int64_t outer = 1; // combinations inside all digits left
  for (const Factor *digit : digits)
    outer *= digit->live;
  for (const Factor *digit : digits) {
    outer /= digit->live;
    // Digits below `whole` leave room for every inner combination.
    int64_t whole = (limit - 1) / digit->stride;
    if (whole >= digit->live)
      return total + digit->live * outer;
    total += whole * outer;
    limit -= whole * digit->stride;
  }
  return total + 1;
}

Result<int64_t> Mapping::liveCells() const {
  const Result<Canonical> &form = canonical();
  if (!form)
    return form.fault();
  int64_t live = 1;
  std::map<int, llvm::SmallVector<const Factor *, 4>> byAxis;
  for (const Factor &factor : form->factors) {
    if (factor.axis < 0)
      live *= factor.live;
    else
      byAxis[factor.axis].push_back(&factor);
  }
  for (auto &[axis, digits] : byAxis) {
    llvm::sort(digits, [](const Factor *lhs, const Factor *rhs) {
      return lhs->stride > rhs->stride;
    });
    // Digits that cannot leave the axis are all live, overlapping or not.
    uint64_t furthest = 0;
    for (const Factor *digit : digits)
      furthest = llvm::SaturatingMultiplyAdd(
          static_cast<uint64_t>(digit->stride),
          static_cast<uint64_t>(digit->live - 1), furthest);
    if (furthest < static_cast<uint64_t>(axes()[axis].size)) {
      for (const Factor *digit : digits)
        live *= digit->live;
      continue;
    }
    // A digit must not reach into the next one, or sums could coincide with
    // other digits and no longer count digit by digit.
    for (size_t i = 1; i < digits.size(); ++i) {
      uint64_t room = digits[i - 1]->stride;
      uint64_t span = digits[i]->stride;
      bool overflow = false;
      uint64_t reach = llvm::SaturatingMultiply(
          span, static_cast<uint64_t>(digits[i]->live), &overflow);
      if (overflow || reach > room)
        return fault("MA-13", "not-linear",
                     "axis " + axes()[axis].name +
                         " has digits that overlap, at strides " +
                         llvm::Twine(room) + " and " + llvm::Twine(span) +
                         "; use each digit of an axis once");
    }
    live *= countBelow(digits, axes()[axis].size);
  }
  return live;
}
