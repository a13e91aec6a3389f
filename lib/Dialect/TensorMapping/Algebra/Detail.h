//===- Detail.h - Inside of the tensor mapping algebra ----------*- C++ -*-===//
//
// The checked expression tree behind a Mapping, and the working form that the
// operators of the canonical form act on. Private to this library.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_DIALECT_TENSORMAPPING_ALGEBRA_DETAIL_H
#define FURIOSA_LIB_DIALECT_TENSORMAPPING_ALGEBRA_DETAIL_H

#include "furiosa/Dialect/TensorMapping/Algebra/Mapping.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

#include <atomic>

namespace furiosa::mapping::detail {

enum class OpKind : uint8_t { Divide, Modulo, Resize, Pad };

/// A postfix operator with the size before and after it.
struct Op {
  OpKind kind;
  Pad pad = Pad::Top;
  int64_t n = 1;
  int64_t before = 1;
  int64_t after = 1;
  /// Column of the number.
  int64_t column = 0;
};

/// An atom with its postfix operators. Operators and comma lists are vectors,
/// so the depth of the tree is the depth of the brackets.
struct Expr {
  enum class Kind : uint8_t { Axis, Number, Product };
  Kind kind = Kind::Number;
  int axis = -1;
  /// Of the atom, before the operators.
  int64_t baseSize = 1;
  int64_t size = 1;
  int64_t column = 0;
  /// The axis name; points into the text and is dropped after checking.
  llvm::StringRef name;
  /// Outermost first. Only for products, where there are two or more.
  std::vector<Expr> parts;
  llvm::SmallVector<Op, 1> ops;
};

/// What a user wrote, or could have written.
struct Spelling {
  std::string text;
  Expr expr;
};

/// A factor list under construction, innermost first.
struct Form {
  llvm::SmallVector<Factor, 4> factors;
  llvm::SmallVector<PadRun, 1> tail;

  /// Cells of the factors, the tail left out.
  int64_t core() const;
  int64_t size() const { return tail.empty() ? core() : tail.back().upTo; }
  /// Appends outside, keeping conditions C1, C2, C3.
  void push(Factor &&factor);
  /// Moves the tail into the outermost factor, or that factor's runs into the
  /// tail (C4).
  void finish();
  void pad(int64_t n, Pad kind);
  /// `= n` and `% n`; the reason why not, or an empty string.
  std::string cut(int64_t n, llvm::StringRef spelling);
  /// `/ n`.
  std::string divide(int64_t n);
  /// `outer, this`. Moves the factors out of `outer`.
  std::string prepend(Form &outer);
  /// Drops the outermost padding.
  void peel();
  /// Overshoot of single factors becomes top padding where that is exact;
  /// `everywhere`: also beside other padding, of which it then takes cells.
  void clip(const Axes &axes, bool everywhere = false);
  /// Gives all padding that kind, or that behind a digit the one that it begins
  /// with.
  void joinPadding(std::optional<Pad> kind = std::nullopt);

  static Form from(const Canonical &canonical);
  Canonical canonical() &&;
};

/// Values of the factor that lie past its axis become top padding.
void clipFactor(Factor &factor, const Axes &axes);

/// The canonical forms of both readings.
struct Forms {
  Result<Canonical> raw;
  /// Only where it differs from `raw`.
  std::unique_ptr<const Result<Canonical>> clipped;
};

/// A value made on first use. Threads that meet make it twice and keep one:
/// std::call_once would cost more than what is made here.
template <typename T>
class Lazy {
public:
  Lazy() = default;
  explicit Lazy(std::unique_ptr<const T> value) : known(value.release()) {}
  Lazy(const Lazy &) = delete;
  Lazy &operator=(const Lazy &) = delete;
  ~Lazy() { delete known.load(std::memory_order_relaxed); }

  bool isKnown() const { return known.load(std::memory_order_acquire); }

  template <typename Make>
  const T &get(Make make) const {
    if (const T *value = known.load(std::memory_order_acquire))
      return *value;
    std::unique_ptr<const T> made = make();
    const T *first = nullptr;
    if (known.compare_exchange_strong(first, made.get(),
                                      std::memory_order_acq_rel))
      return *made.release();
    return *first;
  }

private:
  mutable std::atomic<const T *> known = nullptr;
};

/// One of the two is known from the start, the other one follows from it.
struct Node {
  Node(const Axes &axes, Spelling spelling);
  /// `form` is canonical and isPlain over `axes`.
  Node(const Axes &axes, Form form);

  /// Whether somebody has written, or asked for, the text.
  bool isSpelled() const { return spelled.isKnown(); }
  const Forms &forms() const;
  const std::string &text() const { return spelling().text; }
  const Expr &expr() const { return spelling().expr; }

  const Axes axes;
  const int64_t size;

private:
  const Spelling &spelling() const;

  Lazy<Spelling> spelled;
  Lazy<Forms> derived;
};

Fault fault(llvm::StringRef rule, llvm::StringRef reason,
            const llvm::Twine &message, int64_t column = 0);

/// The checks of one operator on a mapping of `size` cells (MA-5, MA-8, MA-9,
/// MA-10); the size after it.
Result<int64_t> checkOp(OpKind kind, int64_t size, int64_t n, int64_t column);

/// `#`, `#{0}`, `#{!}`.
llvm::StringRef padOperator(Pad pad);

/// How digits below all of an axis are spelled: `% n` where n divides, or
/// always as a window `= n`.
enum class TakeStyle { Digit, Window };

/// The text of a list, or nothing where no expression over `axes` has it.
std::optional<std::string> spell(const Form &form, const Axes &axes,
                                 TakeStyle style = TakeStyle::Digit);

/// Whether each factor is spelled as digits of its axis, with no sums that
/// overshoot: such a list always has a text, which reads as the list again.
bool isPlain(const Form &form, const Axes &axes);

/// The text of an atom and the first `opCount` of its operators.
std::string print(const Expr &expr, size_t opCount, const Axes &axes);

/// The mapping of a list. Falls back on what `text` makes where the list cannot
/// be spelled.
Mapping build(Form form, const Axes &axes,
              llvm::function_ref<std::string()> text);

/// `text` as an operand of a postfix operator.
std::string bracketed(const Mapping &mapping);

/// The smallest multiple of `step` that is at least `value`, if below 2^63.
std::optional<int64_t> roundUp(int64_t value, int64_t step);

inline int64_t ceilDiv(int64_t value, int64_t by) {
  return value / by + (value % by != 0);
}

/// The coordinate of the last live digit of a factor, saturating.
inline uint64_t furthestStep(const Factor &factor) {
  return llvm::SaturatingMultiply(static_cast<uint64_t>(factor.stride),
                                  static_cast<uint64_t>(factor.live - 1));
}

/// Appends a run, joining it with an equal kind before it. Empty runs vanish;
/// `from` is where the first run starts.
void appendRun(llvm::SmallVectorImpl<PadRun> &runs, int64_t from, PadRun run);

} // namespace furiosa::mapping::detail

#endif // FURIOSA_LIB_DIALECT_TENSORMAPPING_ALGEBRA_DETAIL_H
