//===- ElementTypes.h - Element types as MLIR types -------------*- C++ -*-===//
//
// The chip's element types and the MLIR types that write them.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_DIALECT_UTILS_ELEMENTTYPES_H
#define FURIOSA_DIALECT_UTILS_ELEMENTTYPES_H

#include "furiosa/Support/NumberFormats.h"

#include "mlir/IR/Types.h"

namespace furiosa {

/// The chip's element type of an MLIR type: i4, i5, i8, i9, i16, i32, ui8,
/// f4E2M1FN, f8E4M3FN, f8E5M2, bf16, f32; nothing for others and for null.
std::optional<ElementType> getElementType(mlir::Type type);

/// Inverse of getElementType.
mlir::Type getMLIRType(mlir::MLIRContext *context, ElementType type);

/// Whether tensors in memory have such elements: i5 and i9 live between fetch
/// and contraction only (TU-78).
inline bool isStored(ElementType type) {
  return type != ElementType::I5 && type != ElementType::I9;
}

} // namespace furiosa

#endif // FURIOSA_DIALECT_UTILS_ELEMENTTYPES_H
