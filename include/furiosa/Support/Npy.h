//===- Npy.h - NumPy array files --------------------------------*- C++ -*-===//
//
// Reads and writes .npy files and converts between their arrays and the codes
// of the chip's element types.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_SUPPORT_NPY_H
#define FURIOSA_SUPPORT_NPY_H

#include "furiosa/Support/NumberFormats.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"

#include <cstdint>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace furiosa {

/// The element types of arrays that are read and written.
enum class NpyType : uint8_t {
  Bool,
  I8,
  U8,
  I16,
  U16,
  I32,
  U32,
  I64,
  U64,
  F32,
  F64,
};

/// NumPy's name: "float32", "int8", …
llvm::StringRef toString(NpyType type);
/// Bytes of one element.
unsigned npyItemSize(NpyType type);

/// An array in row-major order; `data` is little-endian.
struct NpyArray {
  NpyType type = NpyType::F32;
  /// Empty for a scalar, which has one element.
  std::vector<int64_t> shape;
  std::vector<uint8_t> data;

  /// Elements by the size of `data`.
  uint64_t size() const { return data.size() / npyItemSize(type); }
};

/// Reads a file of format 1.0, 2.0 or 3.0. Fortran order and big-endian
/// elements are converted. The file must end with the array. An error names
/// the file; nothing larger than the file is allocated.
llvm::Expected<NpyArray> readNpy(llvm::StringRef path);
/// The same from memory; the identifier of the buffer is the file name.
llvm::Expected<NpyArray> parseNpy(llvm::MemoryBufferRef buffer);

/// Writes format 1.0 under a temporary name and renames it: the file appears
/// whole or not at all. Path "-" is standard output. An error if `data` does
/// not match `shape`.
llvm::Error writeNpy(llvm::StringRef path, const NpyArray &array);
llvm::Error writeNpy(llvm::raw_ostream &os, const NpyArray &array);

/// The array type that carries `type`: float32 for every float, int8 for i4,
/// i5 and i8, int16 for i9 and i16, int32 for i32, uint8 for u8.
NpyType npyTypeFor(ElementType type);

/// Row-major codes of an array. Each element must be a value that `type` holds
/// exactly, else an error names its index and value; float arrays are refused
/// for integer types. NaN is accepted where the type has one. bf16 subnormals
/// and NaN payloads survive the way out and back.
llvm::Expected<std::vector<uint32_t>> codesFromNpy(const NpyArray &array,
                                                   ElementType type);

/// The array of `codes`, whose number must be the product of `shape`.
NpyArray npyFromCodes(llvm::ArrayRef<uint32_t> codes, ElementType type,
                      llvm::ArrayRef<int64_t> shape);

} // namespace furiosa

#endif // FURIOSA_SUPPORT_NPY_H
