//===- FunctionConversion.h - One function of upstream tensors --*- C++ -*-===//
//
// A function is converted whole or not at all. First each dimension gets an
// axis: dimensions that one loop runs along are one. Then ops are written one
// by one; what has no counterpart gets a remark that says why.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_CONVERSION_LINALGTOTMAP_FUNCTIONCONVERSION_H
#define FURIOSA_LIB_CONVERSION_LINALGTOTMAP_FUNCTIONCONVERSION_H

#include "AxisClasses.h"
#include "Scalars.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace furiosa {

/// A dimension of an operand: the loop that runs along it, or none where it has
/// one element.
using LoopOfDim = llvm::SmallVector<std::optional<unsigned>>;

/// A dimension whose index is `stride` · at + `dilation` · tap + `start`: two
/// loops, or members of classes of one element where there are fewer.
struct WindowOfDim {
  unsigned dim;
  std::optional<unsigned> atLoop, tapLoop;
  int64_t stride = 1, dilation = 1, start = 0;
  /// Members, once loops have theirs.
  int at = -1, tap = -1;
};
using DimWindows = llvm::SmallVector<WindowOfDim, 2>;

/// What the operands of a linalg op are indexed by.
struct OpIndices {
  llvm::SmallVector<int64_t> ranges;
  /// By operand number.
  llvm::SmallVector<LoopOfDim> dims;
  llvm::SmallVector<DimWindows> windows;

  /// Whether all loops of more than one turn run along an operand.
  bool hasAllLoops(unsigned operand) const;
};

/// The window that an index of loops makes of dimension `dim`, if it is one of
/// at most two loops.
std::optional<WindowOfDim>
findWindow(mlir::AffineExpr index, unsigned dim, llvm::ArrayRef<int64_t> ranges,
           llvm::ArrayRef<mlir::utils::IteratorType> kinds);

class FunctionConversion {
public:
  explicit FunctionConversion(mlir::func::FuncOp function)
      : function(function), builder(function.getContext()) {}

  /// Converts the function, or leaves it with remarks.
  void run();

private:
  /// Says why an op, and with it the function, stays.
  void keep(mlir::Operation *op, const llvm::Twine &why) {
    op->emitRemark() << "not converted to tmap: " << why;
    isKept = true;
  }
  bool checkSignature();
  //===--------------------------------------------------------------------===//
  // Axes
  //===--------------------------------------------------------------------===//
  void addDims(mlir::Value value);
  void assignAxes(mlir::Operation *op);
  void assignLinalg(mlir::linalg::LinalgOp op);
  /// Members for the windows of `value`, apart from those of the loops and of
  /// the dimensions that they are cut from.
  void assignWindows(mlir::Value value, DimWindows &found,
                     llvm::ArrayRef<int> loopMembers);
  /// Zeros around a tensor, or a part of one.
  void assignPad(mlir::tensor::PadOp op);
  void assignSlice(mlir::tensor::ExtractSliceOp op);
  void assignReshape(mlir::Operation *op,
                     llvm::ArrayRef<mlir::ReassociationIndices> groups,
                     bool collapses);
  //===--------------------------------------------------------------------===//
  // Ops
  //===--------------------------------------------------------------------===//
  llvm::SmallVector<int> axesOf(llvm::ArrayRef<int> members) const {
    return llvm::map_to_vector(
        members, [&](int member) { return classes.axisOf(member); });
  }
  tmap::MappedTensorType typeOf(mlir::Value value) const {
    return getPlainType(getElementTypeOrSelf(value.getType()), axes,
                        axesOf(dims.lookup(value)));
  }
  void convert(mlir::Operation *op);
  void convertLinalg(mlir::linalg::LinalgOp op);
  /// The tensors of the op's inputs and outputs, over the axes of its loops.
  /// Those that are one number are constants.
  bool mapArguments(mlir::linalg::LinalgOp op, ScalarBuilder &scalars);
  /// Result `number` of an op that folds.
  mlir::Value convertFold(mlir::linalg::LinalgOp op, unsigned number,
                          ScalarBuilder &scalars);
  /// The sum of `product` over axes, if it is one of two inputs.
  mlir::Value convertContraction(mlir::Location loc, mlir::Value product,
                                 mlir::Type sumType, llvm::ArrayRef<int> over,
                                 llvm::ArrayRef<int> kept,
                                 ScalarBuilder &scalars);
  mlir::Value convertElementwise(mlir::Operation *op);
  /// The windows of a tensor, taps outermost: so what follows each other in the
  /// source does so in the result. `order` has the members of the source's
  /// dimensions.
  mlir::Value convertWindows(mlir::Location loc, mlir::Value tensor,
                             llvm::ArrayRef<int> order,
                             const DimWindows &found);
  void convertPart(mlir::Operation *op);
  void convertReturn(mlir::func::ReturnOp op);
  /// The elements under other axes.
  mlir::Value reshape(mlir::Location loc, mlir::Value tensor,
                      tmap::MappedTensorType type);
  mlir::Value refuse(const llvm::Twine &why) {
    if (reason.empty())
      reason = why.str();
    return {};
  }
  /// A constant that all elements of a tensor are.
  mlir::TypedAttr getSplat(mlir::Value value) const;

  mlir::func::FuncOp function;
  mlir::OpBuilder builder;
  bool isKept = false;
  std::string reason;
  AxisClasses classes;
  tmap::AxesAttr axes;
  /// Members of each tensor and of each op's loops.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<int>> dims;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<int>> loops;
  llvm::DenseMap<mlir::Operation *, OpIndices> indices;
  /// Of pads and slices.
  llvm::DenseMap<mlir::Operation *, DimWindows> parts;
  /// Operands whose axes get the names of the loops by a reshape.
  llvm::DenseSet<mlir::OpOperand *> renamed;
  mlir::IRMapping values;
  llvm::DenseMap<mlir::Value, mlir::TypedAttr> splats;
};

} // namespace furiosa

#endif // FURIOSA_LIB_CONVERSION_LINALGTOTMAP_FUNCTIONCONVERSION_H
