//===- EDFChecksums.h - Makes the checks of a changed file right -*- C++
//-*-===//
//
// Written from docs/EDF.md, section 1, apart from the library.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_UNITTESTS_TARGET_EDFCHECKSUMS_H
#define FURIOSA_UNITTESTS_TARGET_EDFCHECKSUMS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/SHA256.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace furiosa::test {

inline constexpr size_t edfHeaderBytes = 64, edfEntryBytes = 40;

/// Sections that the header of a file counts, as far as they fit.
inline size_t countSections(llvm::ArrayRef<uint8_t> file) {
  if (file.size() < edfHeaderBytes)
    return 0;
  return std::min<size_t>(llvm::support::endian::read32le(file.data() + 12),
                          (file.size() - edfHeaderBytes) / edfEntryBytes);
}

/// Sets file size, CRCs and digest to what the bytes say; does nothing where
/// there is no room for them.
inline void repairChecks(std::vector<uint8_t> &file) {
  namespace endian = llvm::support::endian;
  if (file.size() < edfHeaderBytes)
    return;
  llvm::ArrayRef<uint8_t> all = file;
  size_t count = countSections(file);
  endian::write64le(file.data() + 16, file.size());
  for (size_t i = 0; i < count; ++i) {
    uint8_t *entry = file.data() + edfHeaderBytes + i * edfEntryBytes;
    uint64_t offset = endian::read64le(entry + 16);
    uint64_t size = endian::read64le(entry + 24);
    if (offset <= file.size() && size <= file.size() - offset)
      endian::write32le(entry + 12, llvm::crc32(all.slice(offset, size)));
  }
  std::fill_n(file.begin() + 24, 4, 0);
  std::fill_n(file.begin() + 32, 32, 0);
  uint32_t crc =
      llvm::crc32(all.take_front(edfHeaderBytes + count * edfEntryBytes));
  endian::write32le(file.data() + 24, crc);
  std::array<uint8_t, 32> digest = llvm::SHA256::hash(all);
  std::copy(digest.begin(), digest.end(), file.begin() + 32);
}

} // namespace furiosa::test

#endif // FURIOSA_UNITTESTS_TARGET_EDFCHECKSUMS_H
