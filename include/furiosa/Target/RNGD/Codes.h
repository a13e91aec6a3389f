//===- Codes.h - Meanings of field values -----------------------*- C++ -*-===//
//
// Named codes of the fields in Encodings.h. Many codes of the chip are not
// public: those marked "own" are this project's choice, and Codes.def is the
// only place to change them.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_TARGET_RNGD_CODES_H
#define FURIOSA_TARGET_RNGD_CODES_H

#include "furiosa/Target/RNGD/Encodings.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <utility>

namespace furiosa::rngd {

/// One `enum class` per table of Codes.def: `codes::Topology::Forwarding`. In
/// bit masks (RouteUnit, SubUnit) an enumerator is the number of its bit.
namespace codes {
#define FURIOSA_CODES_BEGIN(ENUM, TEXT, IS_BIT_MASK) enum class ENUM : uint8_t {
#define FURIOSA_CODE(ENUM, NAME, TEXT, VALUE, MARK) NAME = VALUE,
#define FURIOSA_CODES_END(ENUM)                                                \
  }                                                                            \
  ;
#include "furiosa/Target/RNGD/Codes.def"

/// The value for `SfrImage::set` and `TucCommand::set`.
template <typename Enum>
constexpr uint64_t value(Enum code) {
  return static_cast<uint64_t>(code);
}
/// The mask of one bit of a bit-mask table.
template <typename Enum>
constexpr uint64_t bit(Enum unit) {
  return 1ull << static_cast<unsigned>(unit);
}

// The routes and sub-unit bitmaps in use. The vector engine is on a route only
// for vector and cast stages.
inline constexpr uint64_t routeTrfLoad = bit(RouteUnit::TrfWrite);
inline constexpr uint64_t subUnitsTrfLoad =
    bit(SubUnit::DmSlice) | bit(SubUnit::SubFetch) | bit(SubUnit::Trf);
inline constexpr uint64_t routeVrfLoad = bit(RouteUnit::VrfWrite);
inline constexpr uint64_t subUnitsVrfLoad =
    bit(SubUnit::DmSlice) | bit(SubUnit::SubFetch) | bit(SubUnit::Vrf);
inline constexpr uint64_t routeDmCopy = bit(RouteUnit::CommitUnit);
inline constexpr uint64_t subUnitsDmCopy =
    bit(SubUnit::DmSlice) | bit(SubUnit::SubFetch) | bit(SubUnit::SubCommit);

/// The exec bitmap that goes with a route: the units on it, the data memory
/// slice, and the fetch unit of the context.
constexpr uint64_t subUnitsOf(uint64_t route, ExecTarget context) {
  bool sub = context == ExecTarget::Sub;
  uint64_t units =
      bit(SubUnit::DmSlice) | bit(sub ? SubUnit::SubFetch : SubUnit::Fetch);
  auto add = [&](RouteUnit from, SubUnit to) {
    if (route & bit(from))
      units |= bit(to);
  };
  add(RouteUnit::DotProductEngine, SubUnit::DotProductEngine);
  add(RouteUnit::VectorEngine, SubUnit::VectorEngine);
  add(RouteUnit::TransposeEngine, SubUnit::Transpose);
  add(RouteUnit::CommitUnit, sub ? SubUnit::SubCommit : SubUnit::Commit);
  add(RouteUnit::TrfWrite, SubUnit::Trf);
  add(RouteUnit::VrfWrite, SubUnit::Vrf);
  add(RouteUnit::RegisterConfig, SubUnit::RegisterConfig);
  return units;
}
} // namespace codes

/// How a code is known.
enum class CodeMark : uint8_t { Declared, Exercised, Own };
llvm::StringRef toString(CodeMark mark);

struct CodeValue {
  llvm::StringRef name;
  /// The value of the field, or the number of the bit.
  uint8_t value;
  CodeMark mark;
};

struct CodeTable {
  /// Name of the enum in namespace `codes`.
  llvm::StringRef name;
  llvm::StringRef text;
  bool isBitMask;
  llvm::ArrayRef<CodeValue> values;

  /// The code with this value (or bit number), or null.
  const CodeValue *find(uint64_t value) const;
  const CodeValue *find(llvm::StringRef name) const;
  /// "broadcast1", "fetch|commit"; empty if some part has no name.
  std::string describe(uint64_t value) const;
};

/// All tables in the order of Codes.def.
llvm::ArrayRef<CodeTable> codeTables();
/// The table of a field, or null.
const CodeTable *codesOf(Block block, llvm::StringRef field);
const CodeTable *codesOf(TucOp op, llvm::StringRef field);
/// Fields of the register blocks that use a table.
std::vector<std::pair<Block, llvm::StringRef>> fieldsOf(const CodeTable &table);

} // namespace furiosa::rngd

#endif // FURIOSA_TARGET_RNGD_CODES_H
