//===- TensorMapping.h - The tmap dialect -----------------------*- C++ -*-===//
//
// Attributes and types of the tmap dialect, and helpers to parse mappings in IR text.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_DIALECT_TENSORMAPPING_IR_TENSORMAPPING_H
#define FURIOSA_DIALECT_TENSORMAPPING_IR_TENSORMAPPING_H

#include "furiosa/Dialect/TensorMapping/Algebra/Mapping.h"

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/Types.h"

#include "furiosa/Dialect/TensorMapping/IR/TensorMappingDialect.h.inc"

namespace furiosa::tmap::detail {
struct AxesAttrStorage;
struct MappingAttrStorage;
} // namespace furiosa::tmap::detail

#define GET_ATTRDEF_CLASSES
#include "furiosa/Dialect/TensorMapping/IR/TensorMappingAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "furiosa/Dialect/TensorMapping/IR/TensorMappingTypes.h.inc"

namespace furiosa::tmap {

/// Attribute of an op: its placement, pinned or chosen.
inline llvm::StringRef getPlacementAttrName() { return "tmap.placement"; }

/// Parses a quoted mapping over `axes`. A fault is reported at the character
/// of the string that it names; escapes are refused, since they would shift
/// columns.
mlir::FailureOr<MappingAttr> parseMapping(mlir::AsmParser &parser,
                                          AxesAttr axes);

/// Parses a quoted mapping whose axes are not known here: only the grammar is
/// checked. The result keeps the spelling, white space normalised.
mlir::FailureOr<mlir::StringAttr> parseMappingText(mlir::AsmParser &parser);

} // namespace furiosa::tmap

#endif // FURIOSA_DIALECT_TENSORMAPPING_IR_TENSORMAPPING_H
