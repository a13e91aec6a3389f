//===- Machine.h - The RNGD chip in numbers ---------------------*- C++ -*-===//
//
// The one home of every count, capacity, width, rate and latency of the chip,
// and of what a release of the reference toolchain accepts. The facts stand in
// Machine.def; constants and the printable table are generated from it.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_TARGET_RNGD_MACHINE_H
#define FURIOSA_TARGET_RNGD_MACHINE_H

#include "furiosa/Support/NumberFormats.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace furiosa::rngd {

/// The facts as constants: `machine::flitBytes`, `machine::slicesPerPE`, …
/// Units stand in Machine.def.
namespace machine {
#define FURIOSA_MACHINE_FACT(NAME, VALUE, UNIT, ASSUMED, SOURCE)               \
  inline constexpr uint64_t NAME = VALUE;
#include "furiosa/Target/RNGD/Machine.def"
} // namespace machine

/// One fact of the machine description.
struct MachineFact {
  /// Name of the constant in namespace `machine`.
  llvm::StringRef name;
  uint64_t value;
  /// "bytes", "cycles", "count", "address", …
  llvm::StringRef unit;
  /// Where it comes from, as "MM 1.3, stated".
  llvm::StringRef source;
  /// No public source states it: derived from other facts, or our own choice.
  bool assumed;
};

/// All facts, in the order of Machine.def.
llvm::ArrayRef<MachineFact> machineFacts();
/// The fact with this name, or null.
const MachineFact *findMachineFact(llvm::StringRef name);
/// Prints every fact, one a line, and how many of them are assumed.
void printMachine(llvm::raw_ostream &os);

/// Releases of the reference toolchain whose rules are known, oldest first;
/// they compare with `<`.
enum class Release : uint8_t { R0_2, R0_3, R0_4, R0_5, R0_6 };
inline constexpr unsigned numReleases = 5;
inline constexpr Release latestRelease = Release::R0_6;

/// "0.2" … "0.6".
llvm::StringRef toString(Release release);
std::optional<Release> parseRelease(llvm::StringRef text);

/// Operand element types as feed buffers name them. The last five are names
/// that no release accepts.
enum class FeedType : uint8_t {
  RawInt4,
  RawInt5,
  RawInt8,
  RawInt9,
  RawF8E4M3,
  RawF8E5M2,
  RawBF16,
  RawInt16,
  RawInt32,
  RawUInt8,
  RawF32,
  RawF4E2M1,
};
inline constexpr unsigned numFeedTypes = 12;

/// "RawInt8", "RawBF16", …
llvm::StringRef toString(FeedType type);
std::optional<FeedType> parseFeedType(llvm::StringRef name);

/// The name of an element type in feed buffers.
FeedType feedTypeOf(ElementType type);
/// The element type behind a name.
ElementType elementTypeOf(FeedType type);
/// What the multiplier widens a type to: 4 and 8 bit integers grow by a bit.
/// Types that pair have the same (TU-37); empty for those that no multiplier
/// takes (TU-36).
std::optional<FeedType> promote(FeedType type);

/// Whether the feed buffer of a release takes a type with a number of
/// collected flits (Flit1, Flit2).
struct FeedBufferVerdict {
  bool accepted = false;
  /// The sources say nothing about this very combination.
  bool assumed = false;
  /// Why it is refused or what the verdict rests on; never empty.
  std::string reason;
};
/// `flits` other than 1 and 2 are refused.
FeedBufferVerdict feedBufferVerdict(Release release, FeedType type,
                                    unsigned flits);

/// What `release` accepts for `type`, for a message: "release 0.3 accepts
/// RawInt8 with Flit1; RawInt8 with Flit2 from release 0.4 on".
std::string describeFeedBuffer(Release release, FeedType type);

/// Cells of a flit of elements of `bits` that the transpose engine takes (TU
/// 12).
constexpr int64_t transposeCells(unsigned bits) { return bits == 4 ? 16 : 8; }

/// Slices of one cluster that `pes` processing elements have: 64, 128, 256 for
/// 1, 2, 4 and, with both clusters in use, 256 for 8; empty otherwise (MM 1.2).
std::optional<unsigned> slicesPerClusterFor(unsigned pes);
/// Clusters in use: 1 up to four processing elements, 2 for eight.
std::optional<unsigned> clustersFor(unsigned pes);

} // namespace furiosa::rngd

#endif // FURIOSA_TARGET_RNGD_MACHINE_H
