//===- Sequence.h - Working state of the sequencer derivation ---*- C++ -*-===//
//
// Digits of the memory and the terms that a stream matches them with.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_DIALECT_TENSORMAPPING_ALGEBRA_SEQUENCE_H
#define FURIOSA_LIB_DIALECT_TENSORMAPPING_ALGEBRA_SEQUENCE_H

#include "Detail.h"

namespace furiosa::mapping::detail {

/// A factor of the memory with its place.
struct MemoryDigit {
  MemoryDigit(const Factor &factor, const Axes &axes) : factor(factor) {
    clipFactor(this->factor, axes);
  }

  /// Without values past the axis: the steps of each digit are counted apart
  /// from the others, so that their padding takes no cells from these.
  Factor factor;
  /// Elements between neighbouring values.
  int64_t addressStride = 1;
  /// Values of the index digit that this one tells apart: `live`, or more for
  /// a window.
  int64_t modulus = 1;
  /// The stride of the next digit of the axis, or the axis size.
  int64_t next = 1;
  bool isTopmost = false;

  /// Values up to here, from `live` on, are top padding.
  int64_t topEnd() const {
    bool top = !factor.runs.empty() && factor.runs[0].kind == Pad::Top;
    return top ? factor.runs[0].upTo : factor.live;
  }
};

/// A piece of a stream factor.
struct StreamTerm {
  SequenceTerm term;
  /// Index of its memory digit, or -1; and its step in values of that digit.
  int digit = -1;
  int64_t step = 0;
  /// Extent wanted by the padding of the factor; in `entry` once placed.
  int64_t extent = 1;
  /// The factor, where this is its outermost piece, and how many digits of it
  /// one step takes; null otherwise.
  const Factor *whole = nullptr;
  int64_t digitsPerStep = 1;
};

/// The state of one derivation.
struct Derivation {
  Derivation(const Axes &axes, SequenceMode mode) : axes(axes), mode(mode) {}

  const Axes &axes;
  SequenceMode mode;
  /// Outermost first. Runs of the tails are those of the mappings.
  std::vector<MemoryDigit> memory;
  llvm::ArrayRef<PadRun> memoryTail;
  int64_t memoryCore = 1;
  int64_t memorySize = 1;
  /// Innermost first.
  std::vector<StreamTerm> time, packet;
  llvm::ArrayRef<PadRun> timeTail, packetTail;
  /// Where the user's digits meet, in cells, rising.
  std::vector<int64_t> timeSeams, packetSeams;
  /// Set where a window of the stream ends inside a memory digit.
  bool ragged = false;

  const std::string &name(int axis) const { return axes[axis].name; }
  bool writes() const { return mode == SequenceMode::Write; }
};

/// Sums of stream digits must not carry over the digits of the memory (MA-22),
/// nor leave a window (MA-23, MA-24).
std::optional<Fault> checkCarries(const Derivation &derivation);

/// Whether every live cell of the memory is demanded; what is left otherwise.
std::optional<Fault> checkCoverage(const Derivation &derivation);

/// MA-25: no memory cell twice.
std::optional<Fault> checkInjective(const Derivation &derivation);

/// Gives the padding of a written stream a place on top padding (MA-27). May
/// add terms.
std::optional<Fault> placeWritePadding(Derivation &derivation);

} // namespace furiosa::mapping::detail

#endif // FURIOSA_LIB_DIALECT_TENSORMAPPING_ALGEBRA_SEQUENCE_H
