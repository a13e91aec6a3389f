//===- Scalars.h - Functions of numbers as functions of tensors -*- C++ -*-===//
//
// The body of a linalg op computes one element; each of its ops becomes a
// function of whole tensors, whose operands are matched by axis name.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_CONVERSION_LINALGTOTMAP_SCALARS_H
#define FURIOSA_LIB_CONVERSION_LINALGTOTMAP_SCALARS_H

#include "furiosa/Dialect/TensorMapping/IR/TensorOps.h"

#include "mlir/IR/IRMapping.h"

namespace furiosa {

class ScalarBuilder {
public:
  /// Results list their axes in `order`.
  ScalarBuilder(mlir::OpBuilder &builder, mlir::Location loc,
                tmap::AxesAttr axes, llvm::ArrayRef<int> order)
      : builder(builder), loc(loc), axes(axes), order(order) {}

  /// The tensor of a value of the body: mapped already, a constant, or an op on
  /// such. Null where there is none; `reason` says why.
  mlir::Value build(mlir::Value scalar);
  /// The op on these operands, of the element type of its result.
  mlir::Value apply(mlir::Operation *op, llvm::ArrayRef<mlir::Value> operands);

  void map(mlir::Value scalar, mlir::Value tensor) {
    tensors.map(scalar, tensor);
  }
  /// A value of the body that is one number, written where it is used.
  void map(mlir::Value scalar, mlir::TypedAttr number) {
    numbers[scalar] = number;
  }
  void setOrder(llvm::ArrayRef<int> axesInOrder) {
    order.assign(axesInOrder.begin(), axesInOrder.end());
  }
  mlir::Value constant(mlir::TypedAttr number);
  mlir::Value elementwise(llvm::StringRef fn,
                          llvm::ArrayRef<mlir::Value> operands);
  /// `value` as `type`, exact or rounded once; null where the chip has no such
  /// cast.
  mlir::Value convert(mlir::Value value, mlir::Type type);

  std::string reason;

private:
  mlir::Value refuse(const llvm::Twine &why) {
    if (reason.empty())
      reason = why.str();
    return {};
  }
  mlir::Value applyFloat(mlir::Operation *op,
                         llvm::ArrayRef<mlir::Value> operands, mlir::Type type);
  mlir::Value applyInteger(mlir::Operation *op,
                           llvm::ArrayRef<mlir::Value> operands,
                           mlir::Type type);
  mlir::Value applyCast(mlir::Operation *op, mlir::Value operand,
                        mlir::Type type);
  /// A choice: max or min where it is by comparison of the very operands.
  mlir::Value buildSelect(mlir::Operation *op);
  /// 1 where a comparison holds, else 0, of the type that it compares;
  /// `isNegated` where it is the other way round.
  mlir::Value buildComparison(mlir::Operation *op, bool &isNegated);
  mlir::Value negate(mlir::Value truth);
  mlir::Value applyTruth(mlir::Operation *op,
                         llvm::ArrayRef<mlir::Value> operands);
  mlir::Value number(double value);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  tmap::AxesAttr axes;
  llvm::SmallVector<int> order;
  mlir::IRMapping tensors;
  llvm::DenseMap<mlir::Value, mlir::TypedAttr> numbers;
};

/// The element type of a tensor of the chip.
inline mlir::Type getElement(mlir::Value tensor) {
  return mlir::cast<tmap::MappedTensorType>(tensor.getType()).getElementType();
}

} // namespace furiosa

#endif // FURIOSA_LIB_CONVERSION_LINALGTOTMAP_SCALARS_H
