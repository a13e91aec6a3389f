//===- EDFFormat.h - What writer and reader of EDF files share --*- C++ -*-===//

#ifndef FURIOSA_LIB_TARGET_RNGD_EDFFORMAT_H
#define FURIOSA_LIB_TARGET_RNGD_EDFFORMAT_H

#include "EncodingSupport.h"
#include "furiosa/Target/RNGD/EDF.h"

#include <array>

namespace furiosa::rngd::edf {

inline constexpr llvm::StringLiteral roleNames[] = {"input", "output", "inout",
                                                    "scratch", "constant"};
inline constexpr llvm::StringLiteral tierNames[] = {"dm", "trf", "vrf"};
inline constexpr llvm::StringLiteral kindNames[] = {"dma",  "main", "sub",
                                                    "wait", "sync", "loop"};

inline constexpr llvm::StringLiteral constantKindNames[] = {"operand", "table"};
inline constexpr llvm::StringLiteral conditionNames[] = {"==", "!=", "<", ">="};

inline constexpr llvm::StringLiteral sectionIds[] = {
    "PROG", "SPMI", "ARGS", "PLAN", "SCAL",
    "CNST", "SCHD", "NAME", "INFO", "LOCS"};
inline constexpr size_t numSections = std::size(sectionIds);
/// The first ones, which every kernel has.
inline constexpr size_t numNeededSections = 4;

// Flags of a section.
/// A reader that does not know the section may skip it.
inline constexpr uint32_t skippableFlag = 1;
/// The bytes are a zstd frame. Constants only.
inline constexpr uint32_t packedFlag = 2;
inline constexpr uint32_t knownFlags = skippableFlag | packedFlag;

/// Packed bytes unpack to at most as many times their number: a reader's memory
/// is bounded by the file.
inline constexpr uint64_t maxUnpackRatio = 16;
/// Smaller constants are not packed.
inline constexpr uint64_t minPackedBytes = 4096;

// Header: magic, u16 major and u16 minor version, u32 number of sections, u64
// bytes of the file, u32 CRC-32 of header and table (itself and the digest as
// 0), u32 number of kernels, SHA-256 of the file (itself as 0). Then one entry
// per section: id, u32 flags, u32 kernel, u32 CRC-32, u64 offset, u64 bytes,
// u64 bytes when unpacked.
inline constexpr size_t headerBytes = 64;
inline constexpr size_t versionOffset = 8;
inline constexpr size_t countOffset = 12;
inline constexpr size_t fileSizeOffset = 16;
inline constexpr size_t headerCrcOffset = 24;
inline constexpr size_t kernelsOffset = 28;
inline constexpr size_t digestOffset = 32;
inline constexpr size_t digestBytes = 32;
inline constexpr size_t entryBytes = 40;
inline constexpr size_t sectionAlignment = 8;
inline constexpr size_t instructionBytes = 16;
inline constexpr size_t itemBytes = 16;
inline constexpr size_t relocationBytes = 16;
inline constexpr size_t scalarBytes = 16;
inline constexpr size_t scalarUseBytes = 16;
inline constexpr size_t planEntryBytes = 40;
inline constexpr size_t constantBytes = 16;
inline constexpr size_t sourceLineBytes = 20;
// The least that an element of variable length takes.
inline constexpr size_t minProgramBytes = 8;
inline constexpr size_t minOperandBytes = 28;
inline constexpr size_t minAxisBytes = 12;
inline constexpr size_t minCommandBytes = 36;
inline constexpr size_t minStringBytes = 4;

/// "PROG of kernel 1", or the id alone where a file has one kernel.
std::string describe(const SectionInfo &section, uint32_t kernels);
/// The sections of one kernel, or those of `wholeFile`.
llvm::ArrayRef<SectionInfo> sectionsOf(const Reader &reader, uint32_t kernel);
/// An error if the section of the reader's file `data` is damaged.
llvm::Error checkCrc(const Reader &reader, llvm::ArrayRef<uint8_t> data,
                     const SectionInfo &section);

/// CRC-32 of header and section table, which lie at the start of `bytes`.
uint32_t computeHeaderCrc(llvm::ArrayRef<uint8_t> bytes, size_t tableBytes);
/// SHA-256 of a file of at least a header.
std::array<uint8_t, digestBytes> computeDigest(llvm::ArrayRef<uint8_t> bytes);

/// Image in the data area; items in it, in the order of addresses.
Fault checkSpm(const SpmImage &spm);
/// Buffers inside their memories.
Fault checkPlan(llvm::ArrayRef<PlanEntry> plan);
/// Kinds, order, and the sizes of tables.
Fault checkConstants(llvm::ArrayRef<Constant> constants);
/// Ranges, and that uses name scalars.
Fault checkScalars(const Scalars &scalars);
/// Order of lines and files.
Fault checkLocations(const Locations &locations);

} // namespace furiosa::rngd::edf

#endif // FURIOSA_LIB_TARGET_RNGD_EDFFORMAT_H
