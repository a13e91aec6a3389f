//===- LIRVectorOps.td - Units of the vector engine --------*- tablegen -*-===//
//
// Elements have 32 bits here; whether they are integers or floats is a matter of
// each operation.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_DIALECT_LIR_IR_LIRVECTOROPS
#define FURIOSA_DIALECT_LIR_IR_LIRVECTOROPS

include "furiosa/Dialect/LIR/IR/LIR.td"

/// A unit of the vector engine, inside an exec.
class LIR_VectorUnit<string opMnemonic>
    : Op<LIR_Dialect, opMnemonic, [HasParent<"::furiosa::lir::ExecOp">]> {
  let hasVerifier = 1;
}

def LIR_VectorTagOp : LIR_VectorUnit<"vector_tag"> {
  let summary = "Make the execution id of each element by comparisons";
  let description = [{
    Bit i of the id is the i-th comparison with the element; boundaries are
    32-bit patterns. Without this unit all ids are 0. Rule LIR-17.

    Example:
    ```mlir
    vector_tag i32 [less 0, equal 5, greater 100, true]
    ```
  }];
  let arguments = (ins TypeAttr:$type, StrArrayAttr:$comparisons, DenseI32ArrayAttr:$boundaries);
  let assemblyFormat = "$type custom<Comparisons>($comparisons, $boundaries) attr-dict";
}

def LIR_VectorUnzipOp : LIR_VectorUnit<"vector_unzip"> {
  let summary = "Set the group bit of the execution id by turns";
  let description = [{
    The first `flits` flits belong to group 0 (id 0), the next to group 1 (id 8),
    and so on. Rule LIR-17.

    Example:
    ```mlir
    vector_unzip flits 1
    ```
  }];
  let arguments = (ins LIR_Int:$flits);
  let assemblyFormat = "`flits` $flits attr-dict";
}

def LIR_VectorAluOp : LIR_VectorUnit<"vector_alu"> {
  let summary = "One ALU of the vector engine";
  let description = [{
    Operand slots in match order: up to three immediates (32-bit patterns; `with`
    gives the second operand of fma), then at most one operand of the register
    file: VRF elements in the order of loops, outermost first with strides in
    bytes, or the stash. A guard names execution ids, bit 0 first. A function
    without operands has no slots, only a guard. Rule LIR-17.

    Examples:
    ```mlir
    vector_alu fxp_add add [imm 1]
    vector_alu fp_fma fma [imm 1073741824 with 1065353216 if "!1---", stash with 0] mode "120"
    vector_alu fxp_mul mul_int [vrf %v loops [8 : 4]] : !lir.mem<vrf, 32>
    vector_alu fp_exp exp if "1---"
    ```
  }];
  let arguments = (ins LIR_Alu:$alu, StrAttr:$function, DenseI32ArrayAttr:$imms,
      DenseI32ArrayAttr:$seconds, StrArrayAttr:$guards, UnitAttr:$stash, Optional<LIR_MemType>:$vrf,
      OptionalAttr<DenseI64ArrayAttr>:$sizes, OptionalAttr<DenseI64ArrayAttr>:$strides,
      OptionalAttr<StrAttr>:$mode);
  let assemblyFormat = [{
    $alu custom<Keyword>($function)
    `` custom<AluSlots>($imms, $seconds, $guards, $stash, $vrf, $sizes, $strides)
    (`mode` $mode^)? (`:` qualified(type($vrf))^)? attr-dict
  }];
  let extraClassDeclaration = [{
    /// The row of the table of operations; null if there is none.
    const ::furiosa::vector::Operation *getAluOperation();
    /// Whether the last slot reads the register file.
    bool hasRegisterFileSlot() { return getStash() || getVrf(); }
    /// The mode, or the default one.
    ::llvm::StringRef getArgMode();
  }];
}

def LIR_VectorStashOp : LIR_VectorUnit<"vector_stash"> {
  let summary = "Keep the stream for a later ALU";
  let description = [{
    Elements that the guard admits. Rule LIR-17.

    Example:
    ```mlir
    vector_stash if "---0"
    ```
  }];
  let arguments = (ins DefaultValuedStrAttr<StrAttr, "----">:$guard);
  let assemblyFormat = "(`if` $guard^)? attr-dict";
}

def LIR_VectorFxpToFpOp : LIR_VectorUnit<"vector_fxp_to_fp"> {
  let summary = "i32 to f32";
  let description = [{
    Example:
    ```mlir
    vector_fxp_to_fp width 31
    ```
  }];
  let arguments = (ins LIR_Int:$width);
  let assemblyFormat = "`width` $width attr-dict";
}

def LIR_VectorFpToFxpOp : LIR_VectorUnit<"vector_fp_to_fxp"> {
  let summary = "f32 to i32";
  let description = [{
    Example:
    ```mlir
    vector_fp_to_fxp width 31
    ```
  }];
  let arguments = (ins LIR_Int:$width);
  let assemblyFormat = "`width` $width attr-dict";
}

def LIR_VectorNarrowOp : LIR_VectorUnit<"vector_narrow"> {
  let summary = "Eight elements a flit to four a packet";
  let description = [{
    `split` makes two packets of a flit, `trim` keeps the lower half.

    Example:
    ```mlir
    vector_narrow split
    ```
  }];
  let arguments = (ins LIR_NarrowKind:$kind);
  let assemblyFormat = "$kind attr-dict";
  let hasVerifier = 0;
}

def LIR_VectorWidenOp : LIR_VectorUnit<"vector_widen"> {
  let summary = "Four elements a packet to eight a flit";
  let description = [{
    `concat` makes a flit of two packets, `pad` leaves the upper half undefined.

    Example:
    ```mlir
    vector_widen concat
    ```
  }];
  let arguments = (ins LIR_WidenKind:$kind);
  let assemblyFormat = "$kind attr-dict";
  let hasVerifier = 0;
}

def LIR_VectorValidClipOp : LIR_VectorUnit<"vector_valid_clip"> {
  let summary = "Count the elements of each flit that are no padding";
  let description = [{
    The first `count - index` elements of a flit are valid, at most `span`; the
    loops, over flits and outermost first, make the index. A following
    vector_reduce takes the valid elements only. Rule LIR-22.

    Example:
    ```mlir
    vector_valid_clip count 10 span 4 loops [4 : 4]
    ```
  }];
  let arguments = (ins LIR_Int:$count, LIR_Int:$span, DenseI64ArrayAttr:$sizes,
      DenseI64ArrayAttr:$strides);
  let assemblyFormat = "`count` $count `span` $span `loops` custom<Loops>($sizes, $strides) attr-dict";
}

def LIR_VectorValidFilterOp : LIR_VectorUnit<"vector_valid_filter"> {
  let summary = "Say which flits are no padding";
  let description = [{
    All elements of a flit are valid in a slice with `slice and mask` below
    `match`; else, unless it is above `match` and `major` stands, those of flits
    whose index lies below `count`. Loops and use as in vector_valid_clip. Rule LIR-22.

    Example:
    ```mlir
    vector_valid_filter mask 129 match 128 major count 3 loops [4 : 1]
    ```
  }];
  let arguments = (ins LIR_Int:$mask, LIR_Int:$match, UnitAttr:$major, LIR_Int:$count,
      DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$strides);
  let assemblyFormat = [{
    `mask` $mask `match` $match (`major` $major^)? `count` $count `loops` custom<Loops>($sizes, $strides) attr-dict
  }];
}

def LIR_VectorReduceOp : LIR_VectorUnit<"vector_reduce"> {
  let summary = "Reduce inside the slice";
  let description = [{
    With `fold`, the four elements of a packet fold to the first one. Loops are
    over packets, outermost first, with strides in accumulator slots; a slot
    leaves after `count` packets and starts again. Rule LIR-22.

    Example:
    ```mlir
    vector_reduce add_f32 fold loops [4 : 1, 8 : 0] count 8
    ```
  }];
  let arguments = (ins StrAttr:$function, UnitAttr:$fold, DenseI64ArrayAttr:$sizes,
      DenseI64ArrayAttr:$strides, LIR_Int:$count);
  let assemblyFormat = [{
    custom<Keyword>($function) (`fold` $fold^)? `loops` custom<Loops>($sizes, $strides) `count` $count attr-dict
  }];
}

def LIR_VectorSliceReduceOp : LIR_VectorUnit<"vector_slice_reduce"> {
  let summary = "Reduce over groups of neighbouring slices";
  let description = [{
    Groups of `slices` slices. A slice keeps the flit whose index, made by the
    loops over flits, equals the slice's position on the bits of `mask`. Rule
    LIR-22.

    Example:
    ```mlir
    vector_slice_reduce add add_f32 slices 32 mask 0 loops []
    ```
  }];
  let arguments = (ins StrAttr:$unit, StrAttr:$function, LIR_Int:$slices, LIR_Int:$mask,
      DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$strides);
  let assemblyFormat = [{
    custom<Keyword>($unit) custom<Keyword>($function) `slices` $slices `mask` $mask
    `loops` custom<Loops>($sizes, $strides) attr-dict
  }];
}

def LIR_VectorCompactOp : LIR_VectorUnit<"vector_compact"> {
  let summary = "Keep the flits whose execution id a guard admits";
  let description = [{
    Behind a zip: those of group 1. Rule LIR-17.

    Example:
    ```mlir
    vector_compact if "---1"
    ```
  }];
  let arguments = (ins StrAttr:$guard);
  let assemblyFormat = "`if` $guard attr-dict";
}

#endif // FURIOSA_DIALECT_LIR_IR_LIRVECTOROPS
