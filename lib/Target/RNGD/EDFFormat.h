//===- EDFFormat.h - What writer and reader of EDF files share --*- C++ -*-===//

#ifndef FURIOSA_LIB_TARGET_RNGD_EDFFORMAT_H
#define FURIOSA_LIB_TARGET_RNGD_EDFFORMAT_H

#include "furiosa/Target/RNGD/EDF.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

namespace furiosa::rngd::edf {

inline constexpr llvm::StringLiteral roleNames[] = {"input", "output", "inout",
                                                    "scratch"};
inline constexpr llvm::StringLiteral tierNames[] = {"dm", "trf", "vrf"};
inline constexpr llvm::StringLiteral kindNames[] = {"dma",  "main", "sub",
                                                    "wait", "sync", "loop"};

inline constexpr llvm::StringLiteral sectionIds[] = {
    "PROG", "SPMI", "ARGS", "PLAN", "SCHD", "NAME", "INFO"};
inline constexpr size_t numSections = std::size(sectionIds);

// Header: magic, u32 version, u32 number of sections; then one entry each:
// id, u32 CRC-32, u64 offset, u64 size.
inline constexpr size_t headerBytes = 16;
inline constexpr size_t entryBytes = 24;
inline constexpr size_t sectionAlignment = 8;
inline constexpr size_t instructionBytes = 16;
inline constexpr size_t itemBytes = 16;
inline constexpr size_t relocationBytes = 16;
inline constexpr size_t planEntryBytes = 40;
// The least that an element of variable length takes.
inline constexpr size_t minProgramBytes = 8;
inline constexpr size_t minOperandBytes = 28;
inline constexpr size_t minAxisBytes = 12;
inline constexpr size_t minCommandBytes = 28;
inline constexpr size_t minStringBytes = 4;

inline llvm::Error makeError(const llvm::Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

inline std::string hex(uint64_t value) {
  return "0x" + llvm::utohexstr(value, /*LowerCase=*/true);
}

/// Image in the data area; items in it, in the order of addresses.
Fault checkSpm(const SpmImage &spm);
/// Buffers inside their memories.
Fault checkPlan(llvm::ArrayRef<PlanEntry> plan);

} // namespace furiosa::rngd::edf

#endif // FURIOSA_LIB_TARGET_RNGD_EDFFORMAT_H
