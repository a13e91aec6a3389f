//===- TensorOps.td - Functions of tensors over named axes -*- tablegen -*-===//

#ifndef FURIOSA_DIALECT_TENSORMAPPING_IR_TENSOROPS
#define FURIOSA_DIALECT_TENSORMAPPING_IR_TENSOROPS

include "furiosa/Dialect/TensorMapping/IR/TensorMapping.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// A function of tensors: no memory, no placement. What differs between ops is
/// which axes and which element types they take.
class TMap_Op<string opMnemonic, list<Trait> traits = []>
    : Op<TMap_Dialect, opMnemonic, [Pure] # traits> {
  let hasVerifier = 1;
}

def TMap_ContractOp : TMap_Op<"contract"> {
  let summary = "Sum the products of two tensors over axes that both have";
  let description = [{
    An axis that both operands have and that is not in `over` is a batch axis;
    one that a single operand has is free. The result has the batch and the free
    axes, in whatever order its mapping says.

    | lhs, rhs | result |
    | --- | --- |
    | i4, i4 | i32 |
    | i8, i8 | i32 |
    | f8E4M3FN, f8E4M3FN | f32 |
    | f8E5M2, f8E5M2 | f32 |
    | bf16, bf16 | f32 |

    Products are exact. i32 sums wrap. The order of f32 sums is fixed: the axes
    of `over` make one index, the last one innermost and filled up with zeros to
    whole packets of 64 bytes; a packet is summed as a binary tree of neighbours,
    and the packets are added in order to +0. A sum of more than 8 KiB of an
    operand is taken in parts: the outermost axis of `over` is cut into 2, 4, 8, …
    equal parts, of whole packets if it is the last one, and the next one as well
    where single indices are still too much; as few as have at most 1 KiB each, but
    no more than 64 unless it takes more for 8 KiB. The sums of the
    parts are added in order. Rules TM-1 … TM-6.

    Example:
    ```mlir
    %c = tmap.contract %a, %b over [K] : !tmap.tensor<bf16, "I, K", #axes>, !tmap.tensor<bf16, "J, K", #axes> -> !tmap.tensor<f32, "I, J", #axes>
    ```
  }];
  let arguments = (ins TMap_TensorType:$lhs, TMap_TensorType:$rhs, StrArrayAttr:$over);
  let results = (outs TMap_TensorType:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `over` custom<AxisNames>($over) attr-dict
    `:` qualified(type($lhs)) `,` qualified(type($rhs)) `->` qualified(type($result))
  }];
  let builders = [
    /// The result has the axes of `lhs`, then those of `rhs` that are new.
    OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs,
                   "::llvm::ArrayRef<::llvm::StringRef>":$over)>];
}

def TMap_ElementwiseOp : TMap_Op<"elementwise"> {
  let summary = "Apply a function to the elements with the same index";
  let description = [{
    The functions are those of the vector engine, by name: on i32 and, or, xor,
    shl, shl_sat, shr, sar, add, add_sat, sub, sub_sat, mul_int, mul_fxp, max,
    min, abs_max, abs_min; on f32 add, sub, mul, fma, div, max, min, abs_max,
    abs_min, and of one operand exp, neg_exp, sqrt, tanh, sigmoid, erf, ln, sin,
    cos. What they compute bit for bit stands in `VectorOps.h`.

    equal, not_equal, less, less_equal, greater, greater_equal compare x − y
    with 0, where i32 saturates: 1 where they hold, else 0, of the operands'
    type. So a NaN is only not_equal, and infinities of one sign are as well.
    `select c, a, b` is a where c is not 0, else b; c is i32 or f32, whatever a
    and b are.

    Operands are matched by axis name: one that lacks an axis of the result is
    the same along it. Rules TM-1, TM-2, TM-7 … TM-9.

    Example:
    ```mlir
    %y = tmap.elementwise add %x, %bias : (!tmap.tensor<f32, "N, H", #axes>, !tmap.tensor<f32, "H", #axes>) -> !tmap.tensor<f32, "N, H", #axes>
    ```
  }];
  let arguments = (ins StrAttr:$fn, Variadic<TMap_TensorType>:$operands);
  let results = (outs TMap_TensorType:$result);
  let assemblyFormat = [{
    custom<Keyword>($fn) $operands attr-dict `:` functional-type($operands, $result)
  }];
  let hasFolder = 1;
  let builders = [
    /// The result has the axes of the operands in the order of their first use.
    OpBuilder<(ins "::llvm::StringRef":$fn, "::mlir::ValueRange":$operands)>];
}

def TMap_ReduceOp : TMap_Op<"reduce"> {
  let summary = "Fold a tensor over axes";
  let description = [{
    add_sat, max, min on i32; add, max, min on f32. Of several axes the last one
    is folded first. Along one axis the order is fixed: four neighbours fold as
    op(op(x0, x1), op(x2, x3)), where what lies past the end changes nothing, and
    the results are folded in order. A sum of more than 2,048 elements is taken in
    equal parts of whole eights: of 2, 4, 8, … 256 parts as few as have at most
    2,048 elements. The sums of the parts are added in order. Rules TM-1, TM-2,
    TM-10, TM-11.

    Example:
    ```mlir
    %m = tmap.reduce max %x over [T] : !tmap.tensor<f32, "N, T", #axes> -> !tmap.tensor<f32, "N", #axes>
    ```
  }];
  let arguments = (ins StrAttr:$fn, TMap_TensorType:$source, StrArrayAttr:$over);
  let results = (outs TMap_TensorType:$result);
  let assemblyFormat = [{
    custom<Keyword>($fn) $source `over` custom<AxisNames>($over) attr-dict
    `:` qualified(type($source)) `->` qualified(type($result))
  }];
  let hasCanonicalizeMethod = 1;
  let builders = [
    OpBuilder<(ins "::llvm::StringRef":$fn, "::mlir::Value":$source,
                   "::llvm::ArrayRef<::llvm::StringRef>":$over)>];
}

def TMap_CastOp : TMap_Op<"cast"> {
  let summary = "Change the element type";
  let description = [{
    | from | to |
    | --- | --- |
    | i4, i8, i16 | i32 |
    | f8E4M3FN, f8E5M2, bf16 | f32 |
    | f32 | bf16, f8E4M3FN, f8E5M2 |
    | i32 | i4, i8, i16 (the low bits), f32 (nearest even) |
    | f32 | i32 (half away from zero, saturating) |

    The mapping may change, as with `move`. Rules TM-1, TM-2, TM-12, TM-13.

    Example:
    ```mlir
    %y = tmap.cast %x : !tmap.tensor<f32, "N", #axes> -> !tmap.tensor<bf16, "N", #axes>
    ```
  }];
  let arguments = (ins TMap_TensorType:$source);
  let results = (outs TMap_TensorType:$result);
  let assemblyFormat = "$source attr-dict `:` qualified(type($source)) `->` qualified(type($result))";
  let hasFolder = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$source, "::mlir::Type":$elementType)>];
}

def TMap_MoveOp : TMap_Op<"move"> {
  let summary = "The same elements in another order";
  let description = [{
    A transpose is a move whose mappings list the axes in another order. Axes that
    the source lacks are replicated. Rules TM-1, TM-2, TM-8, TM-13.

    Example:
    ```mlir
    %t = tmap.move %x : !tmap.tensor<i8, "N, H", #axes> -> !tmap.tensor<i8, "H, N", #axes>
    ```
  }];
  let arguments = (ins TMap_TensorType:$source);
  let results = (outs TMap_TensorType:$result);
  let assemblyFormat = "$source attr-dict `:` qualified(type($source)) `->` qualified(type($result))";
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

def TMap_ReshapeOp : TMap_Op<"reshape"> {
  let summary = "The same elements in the same order under other axes";
  let description = [{
    Both tensors list whole axes without padding and have as many elements; what
    stood at a position before stands there after. It names axes anew, as where
    one tensor is both operands of a contraction, and splits or joins them. No
    data moves. Rules TM-1, TM-2, TM-8, TM-15.

    Example:
    ```mlir
    %k = tmap.reshape %x : !tmap.tensor<bf16, "S, D", #axes> -> !tmap.tensor<bf16, "T, D", #axes>
    ```
  }];
  let arguments = (ins TMap_TensorType:$source);
  let results = (outs TMap_TensorType:$result);
  let assemblyFormat = "$source attr-dict `:` qualified(type($source)) `->` qualified(type($result))";
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

def TMap_GatherOp : TMap_Op<"gather"> {
  let summary = "The rows of a table that an index names";
  let description = [{
    The index counts rows of the table along the axis in `over`; what it names
    must be there when the kernel runs. The result has the axes of the index and
    the others of the table. Rules TM-1, TM-2, TM-3, TM-8, TM-16.

    Example:
    ```mlir
    %e = tmap.gather %table by %tokens over [W] : !tmap.tensor<bf16, "W, D", #axes>, !tmap.tensor<i32, "T", #axes> -> !tmap.tensor<bf16, "T, D", #axes>
    ```
  }];
  let arguments = (ins TMap_TensorType:$table, TMap_TensorType:$index, StrArrayAttr:$over);
  let results = (outs TMap_TensorType:$result);
  let assemblyFormat = [{
    $table `by` $index `over` custom<AxisNames>($over) attr-dict
    `:` qualified(type($table)) `,` qualified(type($index)) `->` qualified(type($result))
  }];
}

def TMap_WindowOp : TMap_Op<"window"> {
  let summary = "Windows of a tensor, a tap at a time";
  let description = [{
    `Y = P * 2 + R * 3 - 1` says: the element at P = p and R = r is that of the
    source at Y = 2 p + 3 r - 1, and 0 where the source has no such row. P counts
    windows, R the taps of one; a factor of 1 and a sum of 0 are left out. The
    result has P and R in place of Y, and its other axes are those of the source.
    An axis R of one cell makes a slice with steps or a tensor with zeros around
    it. A convolution is a contraction of windows, a pooling folds them. Rules
    TM-1, TM-2, TM-8, TM-17.

    Example:
    ```mlir
    %v = tmap.window %x [Y = P + R - 1, X = Q + S - 1] : !tmap.tensor<i8, "Y, X, C", #axes> -> !tmap.tensor<i8, "R, S, P, Q, C", #axes>
    ```
  }];
  let arguments = (ins TMap_TensorType:$source, StrArrayAttr:$over, StrArrayAttr:$at,
      StrArrayAttr:$taps, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
      DenseI64ArrayAttr:$starts);
  let results = (outs TMap_TensorType:$result);
  let assemblyFormat = [{
    $source custom<Windows>($over, $at, $taps, $strides, $dilations, $starts) attr-dict
    `:` qualified(type($source)) `->` qualified(type($result))
  }];
  let hasCanonicalizeMethod = 1;
  let builders = [
    OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$source,
                   "::llvm::ArrayRef<::furiosa::tmap::WindowAxis>":$windows)>];
  let extraClassDeclaration = [{
    /// One for each axis in `over`.
    ::llvm::SmallVector<::furiosa::tmap::WindowAxis> getWindows();
  }];
}

def TMap_ConstantOp : TMap_Op<"constant", [ConstantLike]> {
  let summary = "A number, as a tensor without axes";
  let description = [{
    Rules TM-14.

    Example:
    ```mlir
    %one = tmap.constant 1.0 : f32 : !tmap.tensor<f32, "1", #axes>
    ```
  }];
  let arguments = (ins TypedAttrInterface:$value);
  let results = (outs TMap_TensorType:$result);
  let assemblyFormat = "$value attr-dict `:` qualified(type($result))";
  let hasFolder = 1;
}

#endif // FURIOSA_DIALECT_TENSORMAPPING_IR_TENSOROPS
