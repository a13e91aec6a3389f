//===- TensorRules.h - What the checks of tensor functions share *- C++ -*-===//

#ifndef FURIOSA_LIB_DIALECT_TENSORMAPPING_IR_TENSORRULES_H
#define FURIOSA_LIB_DIALECT_TENSORMAPPING_IR_TENSORRULES_H

#include "furiosa/Dialect/TensorMapping/IR/TensorOps.h"

namespace furiosa::tmap {

inline AxesAttr getAxes(MappedTensorType type) {
  return type.getMapping().getAxes();
}

/// Whether a tensor has an axis; one of one cell is in every tensor.
bool hasAxis(MappedTensorType type, int axis);

/// An error at `op` that begins with the rule.
mlir::InFlightDiagnostic fault(mlir::Operation *op, llvm::StringRef rule);

/// TM-1, and TM-2: all tensors of an op are over one declaration of axes.
mlir::LogicalResult checkTensors(mlir::Operation *op);

/// TM-3: the axes that an op lists: declared, listed once, not empty.
mlir::LogicalResult checkOver(mlir::Operation *op, AxesAttr axes,
                              mlir::ArrayAttr over);

/// The result has exactly the axes of `expected`, in any order.
mlir::LogicalResult checkResultAxes(mlir::Operation *op, llvm::StringRef rule,
                                    MappedTensorType result,
                                    llvm::ArrayRef<int> expected);

/// The text of `WindowOp`: `[Y = P * 2 + R - 1]`.
mlir::ParseResult parseWindows(mlir::OpAsmParser &parser, mlir::ArrayAttr &over,
                               mlir::ArrayAttr &at, mlir::ArrayAttr &taps,
                               mlir::DenseI64ArrayAttr &strides,
                               mlir::DenseI64ArrayAttr &dilations,
                               mlir::DenseI64ArrayAttr &starts);
void printWindows(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                  mlir::ArrayAttr over, mlir::ArrayAttr at,
                  mlir::ArrayAttr taps, mlir::DenseI64ArrayAttr strides,
                  mlir::DenseI64ArrayAttr dilations,
                  mlir::DenseI64ArrayAttr starts);

} // namespace furiosa::tmap

#endif // FURIOSA_LIB_DIALECT_TENSORMAPPING_IR_TENSORRULES_H
