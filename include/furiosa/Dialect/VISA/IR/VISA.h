//===- VISA.h - The visa dialect --------------------------------*- C++ -*-===//
//
// Types, attributes and ops of the virtual ISA. The whole-kernel check stands
// in KernelCheck.h.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_DIALECT_VISA_IR_VISA_H
#define FURIOSA_DIALECT_VISA_IR_VISA_H

#include "furiosa/Dialect/TensorMapping/IR/TensorMapping.h"
#include "furiosa/Dialect/Utils/ElementTypes.h"
#include "furiosa/Support/VectorOps.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include "furiosa/Dialect/VISA/IR/VISAEnums.h.inc"

#include "furiosa/Dialect/VISA/IR/VISADialect.h.inc"

namespace furiosa::visa {
class FaultReporter;
class StageChecker;
class KernelChecker;
struct ChainStage;
struct Layout;
} // namespace furiosa::visa

#include "furiosa/Dialect/VISA/IR/VISAOpInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "furiosa/Dialect/VISA/IR/VISAAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "furiosa/Dialect/VISA/IR/VISATypes.h.inc"

#define GET_OP_CLASSES
#include "furiosa/Dialect/VISA/IR/MovementOps.h.inc"

#define GET_OP_CLASSES
#include "furiosa/Dialect/VISA/IR/FetchOps.h.inc"

#define GET_OP_CLASSES
#include "furiosa/Dialect/VISA/IR/SwitchOps.h.inc"

#define GET_OP_CLASSES
#include "furiosa/Dialect/VISA/IR/RegisterFileOps.h.inc"

#define GET_OP_CLASSES
#include "furiosa/Dialect/VISA/IR/ContractionOps.h.inc"

#define GET_OP_CLASSES
#include "furiosa/Dialect/VISA/IR/VectorOps.h.inc"

#define GET_OP_CLASSES
#include "furiosa/Dialect/VISA/IR/TransposeOps.h.inc"

#define GET_OP_CLASSES
#include "furiosa/Dialect/VISA/IR/CommitOps.h.inc"

namespace furiosa::visa {

/// `Y = "P % 7" * 2 + R`.
mlir::ParseResult parseWindow(mlir::AsmParser &parser, WindowAttr &window);
void printWindow(mlir::AsmPrinter &printer, WindowAttr window);

/// Parts that tensor types of all tiers have in common.
struct TensorParts {
  mlir::Type elementType;
  tmap::AxesAttr axes;
  tmap::MappingAttr chip;
  /// Null where the tier has no such dimension.
  tmap::MappingAttr cluster, slice, lane;
  tmap::MappingAttr element;
};

/// The parts of a tier type; a null element type for any other type.
TensorParts getTensorParts(mlir::Type type);

/// Whether a type is that of a tensor, in whatever tier.
bool isTensor(mlir::Type type);
/// Whether operands, results or block arguments of an op are tensors.
bool usesTensors(mlir::Operation *op);

// Ops of the dialect have a getElementType of their own.
using furiosa::getElementType;
using furiosa::getMLIRType;

/// Bits of an element of a tensor in memory; verifiers see to it that its type
/// is one of the chip's.
unsigned getElementBits(const TensorParts &tensor);

/// The buffer that a chain of views stands on.
mlir::Value getBaseBuffer(mlir::Value tensor);

/// The target of `op`: the nearest `visa.target` of an ancestor, else the
/// default target.
TargetAttr getTarget(mlir::Operation *op);
/// Release 0.6, one chip, eight PEs.
TargetAttr getDefaultTarget(mlir::MLIRContext *context);

} // namespace furiosa::visa

#endif // FURIOSA_DIALECT_VISA_IR_VISA_H
