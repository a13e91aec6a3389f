//===- Canonical.cpp - The canonical form of a mapping --------------------===//
//
// The list of factors with its operators (push, pad, cut, divide), and its
// derivation from the expression tree. Conditions C1 to C4 of docs/rules.md.
//
//===----------------------------------------------------------------------===//

#include "Detail.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace furiosa::mapping;
using namespace furiosa::mapping::detail;

void detail::appendRun(llvm::SmallVectorImpl<PadRun> &runs, int64_t from,
                       PadRun run) {
  int64_t last = runs.empty() ? from : runs.back().upTo;
  if (run.upTo <= last)
    return;
  if (!runs.empty() && runs.back().kind == run.kind)
    runs.back().upTo = run.upTo;
  else
    runs.push_back(run);
}

int64_t Form::core() const {
  int64_t product = 1;
  for (const Factor &factor : factors)
    product *= factor.extent;
  return product;
}

void Form::push(Factor &&factor) {
  if (factor.extent == 1)
    return;
  if (factor.live == 1) {
    factor.axis = -1;
    factor.stride = 0;
  }
  if (factors.empty()) {
    factors.push_back(std::move(factor));
    return;
  }
  Factor &inner = factors.back();
  int64_t rows = inner.extent;
  int64_t continued = 0;
  bool merges = factor.axis == inner.axis && inner.live == inner.extent &&
                !llvm::MulOverflow(inner.stride, rows, continued) &&
                factor.stride == continued;
  if (factor.live != 1 && !merges) {
    factors.push_back(std::move(factor));
    return;
  }
  // A pure pad extends its neighbour; a continuation joins it.
  inner.extent *= factor.extent;
  inner.live *= factor.live;
  for (PadRun run : factor.runs)
    appendRun(inner.runs, inner.live, {run.upTo * rows, run.kind});
}

void Form::finish() {
  while (!tail.empty()) {
    if (factors.empty()) {
      Factor pad;
      pad.extent = tail.back().upTo;
      pad.runs.assign(tail.begin(), tail.end());
      tail.clear();
      push(std::move(pad));
      return;
    }
    Factor outer = std::move(factors.back());
    factors.pop_back();
    int64_t row = core();
    llvm::SmallVector<PadRun, 1> joined;
    for (PadRun run : outer.runs)
      appendRun(joined, outer.live * row, {run.upTo * row, run.kind});
    for (PadRun run : tail)
      appendRun(joined, outer.live * row, run);
    bool whole =
        llvm::all_of(joined, [&](PadRun run) { return run.upTo % row == 0; });
    outer.runs.clear();
    if (whole) {
      for (PadRun run : joined)
        outer.runs.push_back({run.upTo / row, run.kind});
      if (!joined.empty())
        outer.extent = joined.back().upTo / row;
      tail.clear();
      push(std::move(outer));
      return;
    }
    tail = std::move(joined);
    outer.extent = outer.live;
    if (outer.live != 1) {
      push(std::move(outer));
      return;
    }
  }
}

void Form::pad(int64_t n, Pad kind) {
  if (n == size())
    return;
  appendRun(tail, core(), {n, kind});
  finish();
}

/// Runs of digits below `extent` only.
static void clipRuns(llvm::SmallVectorImpl<PadRun> &runs, int64_t from,
                     int64_t extent) {
  llvm::SmallVector<PadRun, 1> kept;
  for (PadRun run : runs)
    appendRun(kept, from, {std::min(run.upTo, extent), run.kind});
  runs.assign(kept.begin(), kept.end());
}

std::string Form::cut(int64_t n, llvm::StringRef spelling) {
  int64_t row = core();
  if (n >= row) {
    clipRuns(tail, row, n);
    finish();
    return {};
  }
  tail.clear();
  // The row of the last factor is the first that n reaches; n is below the
  // core, so there is one.
  while ((row /= factors.back().extent) > n)
    factors.pop_back();
  if (n % row != 0) {
    int64_t shared = std::gcd(n, row);
    return (spelling + " " + llvm::Twine(n) + " cuts across rows of " +
            llvm::Twine(row) + " cells; cut at a multiple of " +
            llvm::Twine(row) + ", or inside one row" +
            (shared > 1 ? " (" + llvm::Twine(shared) + " divides both)" : ""))
        .str();
  }
  Factor outer = std::move(factors.back());
  factors.pop_back();
  outer.extent = n / row;
  outer.live = std::min(outer.live, outer.extent);
  clipRuns(outer.runs, outer.live, outer.extent);
  push(std::move(outer));
  return {};
}

std::string Form::divide(int64_t n) {
  int64_t whole = core(), left = n;
  llvm::SmallVector<Factor, 4> old = std::move(factors);
  factors.clear();
  size_t next = 0;
  if (n >= whole) {
    next = old.size();
  } else {
    for (; next < old.size() && left % old[next].extent == 0; ++next)
      left /= old[next].extent;
  }
  if (left > 1 && next < old.size()) {
    Factor &factor = old[next];
    if (factor.extent % left != 0) {
      int64_t row = n / left;
      return ("/ " + llvm::Twine(n) + " cuts a run of " +
              llvm::Twine(factor.extent) + " digits, each " + llvm::Twine(row) +
              " cells, every " + llvm::Twine(left) + " digits; cut at " +
              llvm::Twine(row) + " or " + llvm::Twine(row * factor.extent))
          .str();
    }
    factor.extent /= left;
    factor.live = ceilDiv(factor.live, left);
    if (factor.live > 1)
      factor.stride *= left;
    llvm::SmallVector<PadRun, 1> runs;
    for (PadRun run : factor.runs)
      appendRun(runs, factor.live, {ceilDiv(run.upTo, left), run.kind});
    factor.runs = std::move(runs);
  }
  for (; next < old.size(); ++next)
    push(std::move(old[next]));
  llvm::SmallVector<PadRun, 1> oldTail = std::move(tail);
  tail.clear();
  int64_t from = n >= whole ? 1 : whole / n;
  for (PadRun run : oldTail)
    appendRun(tail, from, {ceilDiv(run.upTo, n), run.kind});
  finish();
  return {};
}

std::string Form::prepend(Form &outer) {
  if (!tail.empty() && !(outer.factors.empty() && outer.tail.empty())) {
    int64_t rows = size();
    // Only padding outside may still join the tail.
    if (outer.factors.size() != 1 || outer.factors[0].live != 1)
      return ("padding to " + llvm::Twine(rows) +
              " cells does not fill whole rows, and other digits stand outside "
              "it; pad the outermost digit to a whole number of rows")
          .str();
    for (PadRun run : outer.factors[0].runs)
      appendRun(tail, core(), {run.upTo * rows, run.kind});
    finish();
    return {};
  }
  if (!outer.tail.empty()) {
    int64_t rows = core(), whole = rows * outer.core();
    for (PadRun run : outer.tail)
      appendRun(tail, whole, {run.upTo * rows, run.kind});
  }
  for (Factor &factor : outer.factors)
    push(std::move(factor));
  finish();
  return {};
}

void Form::peel() {
  tail.clear();
  if (factors.empty())
    return;
  Factor outer = std::move(factors.back());
  factors.pop_back();
  outer.extent = outer.live;
  outer.runs.clear();
  push(std::move(outer));
}

void detail::clipFactor(Factor &factor, const Axes &axes) {
  if (factor.axis < 0)
    return;
  int64_t fits = ceilDiv(axes[factor.axis].size, factor.stride);
  if (factor.live <= fits)
    return;
  llvm::SmallVector<PadRun, 1> runs;
  appendRun(runs, fits, {factor.live, Pad::Top});
  for (PadRun run : factor.runs)
    appendRun(runs, fits, run);
  factor.live = fits;
  factor.runs = std::move(runs);
}

void Form::clip(const Axes &axes, bool everywhere) {
  bool onlyTop = true;
  llvm::SmallVector<Factor, 4> old = std::move(factors);
  factors.clear();
  for (Factor &factor : old) {
    bool inner = onlyTop;
    onlyTop &= llvm::all_of(factor.runs,
                            [](PadRun run) { return run.kind == Pad::Top; });
    if (inner || everywhere)
      clipFactor(factor, axes);
    push(std::move(factor));
  }
  finish();
}

void Form::joinPadding(std::optional<Pad> kind) {
  llvm::SmallVector<Factor, 4> old = std::move(factors);
  factors.clear();
  for (Factor &factor : old) {
    if (!factor.runs.empty())
      factor.runs = {
          {factor.runs.back().upTo, kind.value_or(factor.runs.front().kind)}};
    push(std::move(factor));
  }
  if (!tail.empty())
    tail = {{tail.back().upTo, kind.value_or(tail.front().kind)}};
  finish();
}

Form Form::from(const Canonical &canonical) {
  Form form;
  form.factors.append(canonical.factors.rbegin(), canonical.factors.rend());
  form.tail = canonical.tail;
  return form;
}

Canonical Form::canonical() && {
  Canonical canonical;
  std::reverse(factors.begin(), factors.end());
  canonical.factors = std::move(factors);
  canonical.tail = std::move(tail);
  return canonical;
}

/// Appends a closed factor outside of `form`.
static void pushAtom(const Expr &expr, Form &form) {
  bool isAxis = expr.kind == Expr::Kind::Axis;
  form.push({isAxis ? expr.axis : -1,
             isAxis ? 1 : 0,
             expr.baseSize,
             expr.baseSize,
             {}});
}

/// The list of `expr` into `form`, which is empty; MA-13.
static std::optional<Fault> derive(const Expr &expr, Form &form) {
  if (expr.kind == Expr::Kind::Product) {
    Form outer;
    for (const Expr &part : llvm::reverse(expr.parts)) {
      outer.factors.clear();
      outer.tail.clear();
      if (std::optional<Fault> bad = derive(part, outer))
        return bad;
      if (std::string why = form.prepend(outer); !why.empty())
        return fault("MA-13", "not-linear", why, part.column);
    }
  } else {
    pushAtom(expr, form);
  }
  for (const Op &op : expr.ops) {
    std::string why;
    switch (op.kind) {
    case OpKind::Divide:
      why = form.divide(op.n);
      break;
    case OpKind::Modulo:
      why = form.cut(op.n, "%");
      break;
    case OpKind::Resize:
      why = form.cut(op.n, "=");
      break;
    case OpKind::Pad:
      form.pad(op.n, op.pad);
      break;
    }
    if (!why.empty())
      return fault("MA-13", "not-linear", why, op.column);
  }
  return std::nullopt;
}

static bool overshoots(const Canonical &canonical, const Axes &axes) {
  return llvm::any_of(canonical.factors, [&](const Factor &factor) {
    return factor.axis >= 0 &&
           factor.live > ceilDiv(axes[factor.axis].size, factor.stride);
  });
}

static std::unique_ptr<const Forms> deriveForms(const Expr &expr,
                                                const Axes &axes) {
  Form form;
  if (std::optional<Fault> bad = derive(expr, form))
    return std::make_unique<Forms>(Forms{std::move(*bad), nullptr});
  auto forms =
      std::make_unique<Forms>(Forms{std::move(form).canonical(), nullptr});
  if (overshoots(*forms->raw, axes)) {
    form = Form::from(*forms->raw);
    form.clip(axes);
    forms->clipped =
        std::make_unique<const Result<Canonical>>(std::move(form).canonical());
  }
  return forms;
}

Node::Node(const Axes &axes, Form form)
    : axes(axes), size(form.size()),
      derived(std::make_unique<const Forms>(
          Forms{std::move(form).canonical(), nullptr})) {}

const Forms &Node::forms() const {
  return derived.get([&] { return deriveForms(expr(), axes); });
}

const Result<Canonical> &Mapping::canonical() const {
  return node->forms().raw;
}

const Result<Canonical> &Mapping::resolved() const {
  const Forms &forms = node->forms();
  return forms.clipped ? *forms.clipped : forms.raw;
}
