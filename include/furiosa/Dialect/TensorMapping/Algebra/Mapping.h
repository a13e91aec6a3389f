//===- Mapping.h - The tensor mapping algebra -------------------*- C++ -*-===//
//
// Mapping expressions (`N / 8 % 4, K # 32`), their cells and canonical form,
// and what the compiler computes on them. Plain data, no IR. All costs grow
// with the number of terms, never with sizes. Rules: docs/rules.md, MA-1 …
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_DIALECT_TENSORMAPPING_ALGEBRA_MAPPING_H
#define FURIOSA_DIALECT_TENSORMAPPING_ALGEBRA_MAPPING_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace furiosa::mapping {

/// What a cell without a value means. Strictness: Bottom < Zero < Top.
enum class Pad { Top, Zero, Bottom };

/// "top", "zero", "bottom".
llvm::StringRef toString(Pad pad);

/// A broken rule of the algebra.
struct Fault {
  /// The rule, "MA-8".
  std::string rule;
  /// The kind within the rule, "modulo-too-large" (the keys of the rule table).
  std::string reason;
  /// Lower case, no final stop; says found, expected and a way out.
  std::string message;
  /// Column from 1 in the text as given; 0 where the fault has no text.
  int64_t column = 0;
};

/// A value or a Fault. Test with `if (!result)`.
template <typename T>
class [[nodiscard]] Result {
public:
  Result(T value) : storage(std::move(value)) {}
  Result(Fault fault) : storage(std::move(fault)) {}
  explicit operator bool() const { return std::holds_alternative<T>(storage); }
  const T &operator*() const { return std::get<T>(storage); }
  T &operator*() { return std::get<T>(storage); }
  const T *operator->() const { return &std::get<T>(storage); }
  T *operator->() { return &std::get<T>(storage); }
  const Fault &fault() const { return std::get<Fault>(storage); }

private:
  std::variant<T, Fault> storage;
};

struct Axis {
  std::string name;
  int64_t size;
  bool operator==(const Axis &) const = default;
};

/// The declared axes, in order. Copies share their storage.
class Axes {
public:
  Axes();
  /// MA-12 on a name declared twice or a size below 1; MA-6 on a bad name.
  static Result<Axes> get(llvm::ArrayRef<Axis> axes);

  llvm::ArrayRef<Axis> list() const;
  /// Index of `name`, or -1.
  int find(llvm::StringRef name) const;
  const Axis &operator[](size_t index) const { return list()[index]; }
  size_t size() const { return list().size(); }
  bool operator==(const Axes &other) const;

private:
  struct Storage;
  static const std::shared_ptr<const Storage> &none();

  std::shared_ptr<const Storage> storage;
};

/// A run of padding: digits below `upTo` (and not below the run before it).
struct PadRun {
  int64_t upTo;
  Pad kind;
  bool operator==(const PadRun &) const = default;
};

/// One factor `X·s [l/n]` of a canonical mapping.
struct Factor {
  /// Index into Axes, or -1 for a broadcast (stride 0) or a pure pad (live 1).
  int axis = -1;
  int64_t stride = 0;
  int64_t extent = 1;
  int64_t live = 1;
  /// Padding of digits live … extent, in rising order.
  llvm::SmallVector<PadRun, 1> runs;
  bool operator==(const Factor &) const = default;
};

/// The canonical form: factors outermost first, then trailing padding in cells
/// that does not fill whole rows. Two aligned mappings over the same axes are
/// equivalent iff these are equal.
struct Canonical {
  llvm::SmallVector<Factor, 4> factors;
  llvm::SmallVector<PadRun, 1> tail;
  bool operator==(const Canonical &) const = default;
};

/// What stands at one position.
struct Cell {
  enum class Kind { Index, Pad, OutOfBounds };
  Kind kind = Kind::Index;
  Pad pad = Pad::Top;
  /// Axis index -> coordinate, zeros dropped. Only for Kind::Index.
  std::map<int, int64_t> index;
  bool operator==(const Cell &) const = default;
};

namespace detail {
struct Node;
}

struct Environment;

/// A checked mapping over declared axes, parsed or computed from others. Cheap
/// to copy, immutable. What was computed is spelled only when it is asked for.
class Mapping {
public:
  /// The identity `1` over no axes.
  Mapping();

  /// Parses and checks `text`. Braces other than fill markers are refused
  /// (MA-7): a mapping in IR holds resolved text. Columns count in `text`.
  static Result<Mapping> parse(llvm::StringRef text, const Axes &axes);

  /// As parse(text, axes), with escapes: named mappings `{L}`, and after an
  /// operator `{8}`, `{N}` (a constant) and `{K::SIZE}`. The text of the result
  /// holds the resolved numbers and brackets.
  static Result<Mapping> parse(llvm::StringRef text, const Axes &axes,
                               const Environment &environment);

  /// The user's spelling, white space normalised: `A / 8 % 4, K # 32`.
  const std::string &str() const;
  const Axes &axes() const;
  /// Cells, padding included. Always below 2^63.
  int64_t size() const;
  bool isIdentity() const { return size() == 1; }
  /// The raw cell at `position` (rules of the constructors, overshoot kept).
  Cell cellAt(int64_t position) const;
  /// The canonical form, or MA-13 where the mapping is no product of digits.
  /// Derived once; the reference lives as long as the mapping.
  const Result<Canonical> &canonical() const;
  /// As canonical(), overshoot clipped to top padding (the resolved reading).
  const Result<Canonical> &resolved() const;
  /// Number of live cells of the resolved reading. MA-13 where not aligned.
  Result<int64_t> liveCells() const;
  /// Whether an axis (or one of its digits) occurs.
  bool uses(int axis) const;

  /// A mapping with this canonical form, spelled readably (`K / 16 % 4 # 8`).
  /// The identity where no mapping over `axes` has the form.
  static Mapping fromCanonical(const Canonical &canonical, const Axes &axes);

  std::shared_ptr<const detail::Node> node;
};

/// Checks `text` against the grammar alone, for places where the axes are not
/// known, and normalises its white space. Braces other than fill markers are
/// refused (MA-7).
Result<std::string> normalise(llvm::StringRef text);

/// What escapes in braces stand for.
struct Environment {
  /// Taken as one bracketed unit; read again over the axes of the text.
  std::map<std::string, Mapping> mappings;
  std::map<std::string, int64_t> constants;
};

/// `E ≡ F`: same size, same raw cells. MA-13 if one side is not aligned and the
/// texts differ.
Result<bool> equivalent(const Mapping &lhs, const Mapping &rhs);
/// `E ≅ F`: the same under the resolved reading; what verifiers compare.
Result<bool> equivalentResolved(const Mapping &lhs, const Mapping &rhs);
/// As equivalentResolved, with false where the question is refused (MA-13).
bool same(const Mapping &lhs, const Mapping &rhs);

/// `L, R`; the identity on either side is dropped. MA-11.
Result<Mapping> pair(const Mapping &lhs, const Mapping &rhs);
/// `E / n`, `E % n`, `E = n`, `E # n`: as the constructors, MA-8, MA-9, MA-10.
Result<Mapping> divide(const Mapping &mapping, int64_t n);
Result<Mapping> modulo(const Mapping &mapping, int64_t n);
Result<Mapping> resize(const Mapping &mapping, int64_t n);
Result<Mapping> pad(const Mapping &mapping, int64_t n, Pad kind = Pad::Top);
/// (`E / k`, `E % k`). MA-16 unless k divides the size.
Result<std::pair<Mapping, Mapping>> split(const Mapping &mapping, int64_t k);
/// The mapping without its outermost padding.
Result<Mapping> peel(const Mapping &mapping);
/// Whether `small` is the first |small| cells of `big`.
Result<bool> isResizeOf(const Mapping &small, const Mapping &big);

/// A digit of a mapping: neighbouring values of it lie `stride` cells apart,
/// and it has `extent` of them, padding included.
struct DigitExtent {
  int64_t stride;
  int64_t extent;
  bool operator==(const DigitExtent &) const = default;
};

/// The digits of `mapping`, innermost first. Padding behind the last row, which
/// belongs to no digit, is left out. MA-13.
Result<llvm::SmallVector<DigitExtent, 4>> paddedExtents(const Mapping &mapping);

/// MA-21 unless `view` is `element` with top padding outside of it, `element #
/// n`. No data moves.
std::optional<Fault> checkPadView(const Mapping &element, const Mapping &view);
/// MA-21 unless `view` is `element` without some outermost top padding.
std::optional<Fault> checkUnpadView(const Mapping &element,
                                    const Mapping &view);
/// MA-31 unless both have as many cells. `dimension` is what they are of, for
/// the message ("element").
std::optional<Fault> checkReshape(llvm::StringRef dimension,
                                  const Mapping &from, const Mapping &to);

/// What a tensor's mapping must hold beyond its grammar: MA-15 where it steps
/// twice through a digit of an axis; MA-14 where both digits of a cut occur and
/// the cut does not respect the live count, so that readers may disagree.
/// MA-13 where the mapping is no product of digits.
std::optional<Fault> checkTensor(const Mapping &mapping);

/// One loop of a sequencer: `size` steps of `stride` elements.
struct Entry {
  int64_t size;
  int64_t stride;
  bool operator==(const Entry &) const = default;
};

enum class SequenceMode {
  /// Fetch: stream digits without a partner are broadcast (stride 0).
  Read,
  /// Commit: each live memory cell exactly once, no broadcast.
  Write,
  /// As Read, stream cells marked bottom count as top.
  Carve
};

/// Where the stride of a sequencer term comes from.
enum class TermSource {
  /// A digit of the memory.
  Memory,
  /// An axis digit or a number that the memory does not hold: stride 0.
  Broadcast,
  /// Padding of the stream.
  Padding
};

/// A loop before coalescing, with its reason.
struct SequenceTerm {
  Entry entry;
  /// Whether it belongs to the packet.
  bool inPacket = false;
  TermSource source = TermSource::Broadcast;
  /// The axis digit that the term steps through: `axis` at `axisStride`, of
  /// which `live` steps are live. -1 for numbers and padding.
  int axis = -1;
  int64_t axisStride = 0;
  int64_t live = 1;
  /// The memory digit behind a TermSource::Memory: one value of it, that is
  /// `digitStride` of the axis, is `digitElements` elements wide.
  int64_t digitStride = 0;
  int64_t digitElements = 0;
};

/// A derived access pattern, coalesced within each descriptor, entries
/// outermost first, sizes of 1 dropped, strides in elements.
struct Sequence {
  llvm::SmallVector<Entry, 8> time;
  llvm::SmallVector<Entry, 4> packet;
  int64_t packetSize = 1;
  /// Elements that one address run covers, across the border.
  int64_t contiguousRun = 1;
  /// gcd(packet size, contiguous run): elements one access may take.
  int64_t accessSize = 1;
  /// Whether every live cell of the memory is demanded.
  bool coversMemory = true;
  /// Elements addressed past the end by don't-care positions.
  int64_t overRead = 0;
  /// The loops before coalescing, outermost first, time then packet.
  std::vector<SequenceTerm> terms;
};

/// Entries that visit `memory` in the order of `time, packet`. The limits of
/// entries (8) and of one entry's size (65,536) are the caller's to check with
/// checkSequencerLimits. Faults MA-13, MA-22 … MA-28.
Result<Sequence> sequence(const Mapping &memory, const Mapping &time,
                          const Mapping &packet, SequenceMode mode);

/// Loops of one command, time and packet together.
inline constexpr int64_t maxSequencerEntries = 8;
/// Steps of one loop.
inline constexpr int64_t maxSequencerEntrySize = 65536;

/// A stream without what a memory backs.
struct Carving {
  /// How the stream visits the memory.
  Sequence sequence;
  /// The stream with each digit that the memory holds as top padding `1 # n`;
  /// positions are those of the stream. What stays live is broadcast.
  Mapping rest;
};

/// Takes `piece` out of `stream`: sequences the stream over it in
/// SequenceMode::Carve. As sequence(), and MA-26 where the stream does not
/// reach all live cells of the piece.
Result<Carving> carve(const Mapping &stream, const Mapping &piece);

/// Bytes of one access of an engine: the largest of 1, 2, 4, 8, 16, 32 that
/// divides sequence.accessSize elements of `elementBits`. MA-32 where none
/// does, or where the innermost loop steps by more than an element and one
/// element is no access.
Result<int64_t> accessBytes(const Sequence &sequence, int64_t elementBits);

/// MA-29 on more than maxSequencerEntries loops, or one that is too long; says
/// what is needed and which terms would merge in another order.
std::optional<Fault> checkSequencerLimits(const Sequence &sequence);

/// Joins neighbours that step as one loop would, up to maxSequencerEntrySize.
/// Entries are outermost first; sizes of 1 are dropped.
llvm::SmallVector<Entry, 8> coalesce(llvm::ArrayRef<Entry> entries);

/// A term of a division: `count` digits, `dividendStride` apart in the
/// dividend and `divisorStride` in the divisor, of axis `axis`.
struct DivisionTerm {
  int64_t dividendStride;
  int64_t divisorStride;
  int64_t count;
  int axis;
  bool operator==(const DivisionTerm &) const = default;
};

/// The divisor found in the dividend, digit by digit, by falling dividend
/// stride. With `exact`, every divisor digit must be found (MA-30, MA-22).
Result<std::vector<DivisionTerm>> divideExact(const Mapping &dividend,
                                              const Mapping &divisor);

/// A division in which digits of either side may stay without a partner.
struct RelaxedDivision {
  /// By falling dividend stride.
  std::vector<DivisionTerm> terms;
  /// The sides with matched digits replaced by top padding `1 # n`; positions
  /// are those of the whole side.
  Mapping dividendRest;
  Mapping divisorRest;
  /// Cells, from the innermost on, over which the two sides lie alike: matched
  /// digits with equal strides, and padding.
  int64_t contiguousTail = 1;
};

/// As divideExact, but digits without partner and numbers are left over.
/// MA-13, MA-22.
Result<RelaxedDivision> divideRelaxed(const Mapping &dividend,
                                      const Mapping &divisor);

/// A checked tile: `len` cells of `index` from `start`, inside `element`.
struct Tile {
  /// The expected view, with `hole` padding outside the window.
  Mapping view;
  /// Elements from the start of `element` to the start of the window for
  /// start = 0 … : offset(start) = Σ over digits; exact for the given start.
  int64_t offset = 0;
  /// Elements that one step of `start` moves, when every step moves alike
  /// (`index` is one digit run); 0 otherwise.
  int64_t step = 0;
  /// Live cells of the index: start + len may not exceed it.
  int64_t live = 0;
};

/// MA-17 if `index` does not divide `element`; MA-19, MA-20 on `start`; MA-14
/// where a window would cut a ragged digit.
Result<Tile> tile(const Mapping &element, const Mapping &index, int64_t len,
                  int64_t start, Pad hole);

/// MA-18 unless `view` is the view of this tile. Cells of `element` that are
/// padding already may keep their kind or take that of the hole.
std::optional<Fault> checkTileView(const Mapping &element, const Mapping &index,
                                   int64_t len, Pad hole, const Mapping &view);

} // namespace furiosa::mapping

#endif // FURIOSA_DIALECT_TENSORMAPPING_ALGEBRA_MAPPING_H
