//===- VectorOps.td - visa vector engine and cast engine ---*- tablegen -*-===//

#ifndef FURIOSA_DIALECT_VISA_IR_VECTOROPS
#define FURIOSA_DIALECT_VISA_IR_VECTOROPS

include "furiosa/Dialect/VISA/IR/VISA.td"

def VISA_VectorInitOp : VISA_Stage<"vector_init"> {
  let summary = "Enter the vector engine";
  let description = [{
    Rules VE-1 … VE-3.

    Example:
    ```mlir
    vector_init
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def VISA_VectorTagOp : VISA_Stage<"vector_tag"> {
  let summary = "Set the execution id of each element";
  let description = [{
    `zero` gives all elements id 0. `compare` makes bit i of the id by its i-th
    comparison with the element. Rules VE-6, VE-33 … VE-35.

    Example:
    ```mlir
    vector_tag zero
    vector_tag compare [equal 0, less 10, greater_unsigned 1000, true]
    ```
  }];
  let arguments = (ins VISA_TagMode:$mode,
      TypedArrayAttrBase<VISA_CompareAttr, "comparisons">:$comparisons);
  let assemblyFormat = "$mode `` custom<Comparisons>($comparisons)" # attrDict;
  let hasVerifier = 1;
}

/// All stages with an ALU have one check.
defvar vectorAluDefinition = [{
    void $cppClass::check(StageChecker &checker, Layout &layout) {
      checkVectorAlu(*this, checker, layout);
    }
    void $cppClass::checkUnit(FaultReporter &reporter, const ChainStage &stage) {
      checkVectorAluUnit(*this, reporter, stage);
    }
    ::llvm::LogicalResult $cppClass::verify() { return verifyVectorAlu(*this); }
  }];

/// A stage that claims an ALU of a cluster.
class VISA_VectorAluStage<string stage, string cluster>
    : VISA_Stage<stage, ["checkUnit"], [VISA_VectorAluInterface]> {
  let arguments = (ins VISA_VectorFn:$fn, UnitAttr:$group,
      TypedArrayAttrBase<VISA_SlotAttr, "operand slots">:$slots,
      OptionalAttr<StrAttr>:$mode, OptionalAttr<StrAttr>:$guard,
      Variadic<VISA_AnyTensor>:$tensors);
  let assemblyFormat = [{
    $fn (`group` $group^)? `` custom<Slots>($slots, $tensors) (`mode` $mode^)? (`if` $guard^)?
    (`:` type($tensors)^)?
  }] # attrDict;
  let extraClassDeclaration = [{
    ::furiosa::vector::Cluster getCluster() { return ::furiosa::vector::Cluster::}] # cluster # [{; }
    ::llvm::StringRef getFnName() { return ::furiosa::visa::stringifyVectorFn(getFn()); }
  }];
  let extraClassDefinition = vectorAluDefinition;
  let hasVerifier = 1;
}

def VISA_VectorLogicOp : VISA_VectorAluStage<"vector_logic", "Logic"> {
  let summary = "A bitwise operation";
  let description = [{
    and, or, xor on i32 or on the bits of f32; shl, shr, sar on i32. The slots
    give the operand: an immediate of the stream's type (an f32 by its pattern is
    `0x7FC00000 : f32`), a VRF tensor, or the stash; the first slot whose guard
    admits the element's execution id counts, and an element that none admits
    passes.
    `mode` says where the arguments come from: 0 the stream, 1 the operand.
    Rules VE-6 … VE-13, VE-24 … VE-30, VE-38 … VE-43, VE-66, VE-68.

    Example:
    ```mlir
    vector_logic and [imm 255 if "1---", vrf %v if "-1--"] mode "10" : !visa.vrf<i32, slice "A / 8 # 256", element "A % 8", #axes>
    ```
  }];
}

def VISA_VectorFxpOp : VISA_VectorAluStage<"vector_fxp", "Fxp"> {
  let summary = "A fixed-point operation on i32 elements";
  let description = [{
    add, add_sat, sub, sub_sat, shl, shl_sat, mul_int, mul_fxp, shr, sar; slots as
    in vector_logic.

    Example:
    ```mlir
    vector_fxp mul_int [vrf %v] : !visa.vrf<i32, slice "A / 8 # 256", element "A % 8", #axes>
    ```
  }];
}

def VISA_VectorFpOp : VISA_VectorAluStage<"vector_fp", "Fp"> {
  let summary = "A floating-point operation on f32 elements, four at a time";
  let description = [{
    add, sub, mul, div, fma; exp, neg_exp, sqrt, tanh, sigmoid, erf, ln, sin, cos.
    `mul` takes a multiplier that no other stage of the chain names: mul0, mul1,
    then mul_fma. The slots of fma hold two operands. A function without operands
    takes no slots, but may have a guard.

    Example:
    ```mlir
    vector_fp fma [imm 2.0 with 1.0]
    vector_fp exp if "1---"
    ```
  }];
}

def VISA_VectorFpDivOp : VISA_Stage<"vector_fp_div", ["checkUnit"], [VISA_VectorAluInterface]> {
  let summary = "Divide by the divider behind the reduction";
  let description = [{
    Slots as in vector_fp.

    Example:
    ```mlir
    vector_fp_div [imm 4.0]
    ```
  }];
  let arguments = (ins UnitAttr:$group, TypedArrayAttrBase<VISA_SlotAttr, "operand slots">:$slots,
      OptionalAttr<StrAttr>:$mode, Variadic<VISA_AnyTensor>:$tensors);
  let assemblyFormat = [{
    (`group` $group^)? `` custom<Slots>($slots, $tensors) (`mode` $mode^)? (`:` type($tensors)^)?
  }] # attrDict;
  let extraClassDeclaration = [{
    ::furiosa::vector::Cluster getCluster() { return ::furiosa::vector::Cluster::FpDiv; }
    ::llvm::StringRef getFnName() { return "div"; }
    ::std::optional<::llvm::StringRef> getGuard() { return ::std::nullopt; }
  }];
  let extraClassDefinition = vectorAluDefinition;
  let hasVerifier = 1;
}

def VISA_VectorClipOp : VISA_VectorAluStage<"vector_clip", "Clip"> {
  let summary = "Add, maximum and minimum of i32 or f32";
  let description = [{
    add, add_sat (i32), max, min, abs_max, abs_min; slots as in vector_logic.

    Example:
    ```mlir
    vector_clip max [imm 0.0]
    ```
  }];
}

def VISA_VectorFxpToFpOp : VISA_Stage<"vector_fxp_to_fp"> {
  let summary = "i32 to f32, divided by 2 to the power 31 - width";
  let description = [{
    Rounds to nearest, ties to even. Rules VE-6, VE-7, VE-13, VE-14.

    Example:
    ```mlir
    vector_fxp_to_fp width 31
    ```
  }];
  let arguments = (ins I64Attr:$width);
  let assemblyFormat = "`width` $width" # attrDict;
}

def VISA_VectorFpToFxpOp : VISA_Stage<"vector_fp_to_fxp"> {
  let summary = "f32 to i32, times 2 to the power 31 - width";
  let description = [{
    Rounds half away from zero and saturates. Rules VE-6, VE-7, VE-13, VE-14.

    Example:
    ```mlir
    vector_fp_to_fxp width 31
    ```
  }];
  let arguments = (ins I64Attr:$width);
  let assemblyFormat = "`width` $width" # attrDict;
}

def VISA_VectorReinterpretOp : VISA_Stage<"vector_reinterpret"> {
  let summary = "Take the bits as the other scalar";
  let description = [{
    Example:
    ```mlir
    vector_reinterpret to i32
    ```
  }];
  let arguments = (ins TypeAttr:$to);
  let assemblyFormat = "`to` $to" # attrDict;
}

def VISA_VectorNarrowOp : VISA_Stage<"vector_narrow"> {
  let summary = "Eight elements a flit to four a packet";
  let description = [{
    `split` makes two packets of each flit, `trim` drops an upper half that is
    padding. Rules VE-6, VE-7, VE-15 … VE-17, VE-20 … VE-22, VE-49.

    Example:
    ```mlir
    vector_narrow split time "A / 4 % 2" packet "A % 4"
    vector_narrow trim packet "1 # 4"
    ```
  }];
  let arguments = (ins VISA_NarrowKind:$kind, OptionalAttr<StrAttr>:$time, StrAttr:$packet);
  let assemblyFormat = "$kind custom<TimeAndPacket>($time, $packet)" # attrDict;
  let hasVerifier = 1;
}

def VISA_VectorWidenOp : VISA_Stage<"vector_widen"> {
  let summary = "Four elements a packet to eight a flit";
  let description = [{
    `concat` makes a flit of two packets, `pad` adds an upper half of padding.
    Rules VE-6, VE-7, VE-18, VE-19, VE-23, VE-49.

    Example:
    ```mlir
    vector_widen concat time "1" packet "A % 8"
    vector_widen pad packet "1 # 8"
    ```
  }];
  let arguments = (ins VISA_WidenKind:$kind, OptionalAttr<StrAttr>:$time, StrAttr:$packet);
  let assemblyFormat = "$kind custom<TimeAndPacket>($time, $packet)" # attrDict;
  let hasVerifier = 1;
}

def VISA_VectorStashOp : VISA_Stage<"vector_stash"> {
  let summary = "Keep the stream as an operand of a later stage";
  let description = [{
    Written once and read once in a chain. Rules VE-36, VE-37, VE-44.

    Example:
    ```mlir
    vector_stash
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def VISA_VectorReduceOp : VISA_Stage<"vector_reduce", ["checkUnit"]> {
  let summary = "Reduce one axis inside each slice";
  let description = [{
    add_sat, max, min on i32; add, max, min on f32. The packet passes, or is
    folded as op(op(l0, l1), op(l2, l3)); then values add up over time. Padding
    of the axis does not count. Rules VE-50, VE-53 … VE-60.

    Example:
    ```mlir
    vector_reduce max axis "T" time "N" packet "1 # 4"
    ```
  }];
  let arguments = (ins VISA_VectorFn:$fn, StrAttr:$axis, StrAttr:$time, StrAttr:$packet);
  let assemblyFormat = [{
    $fn `axis` $axis `time` custom<MappingText>($time) `packet` custom<MappingText>($packet)
  }] # attrDict;
}

def VISA_VectorInterSliceReduceOp : VISA_Stage<"vector_inter_slice_reduce"> {
  let summary = "Reduce over groups of slices";
  let description = [{
    add, add_sat, max, min on i32; add, mul, max, min on f32. The innermost factors
    of the slice mapping are reduced, in order of position. What takes their place
    is padding (one slice has the result), a new axis (all have it) or an axis of
    time (each slice has its share). Rules VE-12, VE-60 … VE-64.

    Example:
    ```mlir
    vector_inter_slice_reduce add slice "N, 1 # 32" time "G, D / 8"
    ```
  }];
  let arguments = (ins VISA_VectorFn:$fn, StrAttr:$slice, StrAttr:$time);
  let assemblyFormat = [{
    $fn `slice` custom<MappingText>($slice) `time` custom<MappingText>($time)
  }] # attrDict;
}

def VISA_VectorUnzipOp : VISA_Stage<"vector_unzip", ["checkUnit"]> {
  let summary = "Begin pair mode: an axis of size 2 makes two groups";
  let description = [{
    Elements with index 1 on the axis form group 1 (bit 3 of the execution id).
    `time` is what is left without the axis. Rules VE-47, VE-48.

    Example:
    ```mlir
    vector_unzip axis "I" time "1"
    ```
  }];
  let arguments = (ins StrAttr:$axis, StrAttr:$time);
  let assemblyFormat = "`axis` $axis `time` custom<MappingText>($time)" # attrDict;
}

def VISA_VectorZipOp : VISA_Stage<"vector_zip"> {
  let summary = "End pair mode: fuse the two groups";
  let description = [{
    A function of two operands of the named cluster; in `mode`, 0 is group 0 and 1
    is group 1. Rules VE-6, VE-8, VE-50, VE-52.

    Example:
    ```mlir
    vector_zip clip add
    vector_zip fxp sub mode "10"
    ```
  }];
  let arguments = (ins VISA_ZipStage:$cluster, VISA_VectorFn:$fn, OptionalAttr<StrAttr>:$mode);
  let assemblyFormat = "$cluster $fn (`mode` $mode^)?" # attrDict;
  let hasVerifier = 1;
}

def VISA_VectorFilterOp : VISA_Stage<"vector_filter"> {
  let summary = "Drop the elements whose execution id a guard does not admit";
  let description = [{
    Not yet supported: how results are packed is not public. Rules VE-45, VE-46,
    VE-71.

    Example:
    ```mlir
    vector_filter if "1---"
    ```
  }];
  let arguments = (ins StrAttr:$guard);
  let assemblyFormat = "`if` $guard" # attrDict;
}

def VISA_VectorFinalOp : VISA_Stage<"vector_final"> {
  let summary = "Leave the vector engine";
  let description = [{
    Rules VE-4, VE-5, VE-12, VE-50.

    Example:
    ```mlir
    vector_final
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def VISA_CastOp : VISA_Stage<"cast"> {
  let summary = "Narrow the element type of the stream";
  let description = [{
    i32 to i4, i8, i16; f32 to f8E4M3FN, f8E5M2, bf16; the packet is padded to
    a flit. Rules TU-61 … TU-64, VE-69.

    Example:
    ```mlir
    cast to bf16 packet "J % 8 # 16"
    ```
  }];
  let arguments = (ins TypeAttr:$to, StrAttr:$packet);
  let assemblyFormat = "`to` $to `packet` custom<MappingText>($packet)" # attrDict;
}

#endif // FURIOSA_DIALECT_VISA_IR_VECTOROPS
