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
    Example:
    ```mlir
    vector_tag zero
    ```
  }];
  let arguments = (ins VISA_TagMode:$mode);
  let assemblyFormat = "$mode attr-dict";
}

def VISA_VectorFxpOp : VISA_Stage<"vector_fxp", ["checkUnit"]> {
  let summary = "A fixed-point operation on i32 elements";
  let description = [{
    The slots give the right operand: an immediate of the stream's type, or a
    VRF tensor. Rules VE-6 … VE-13, VE-24 … VE-30, VE-66, VE-68.

    Example:
    ```mlir
    vector_fxp mul_int [vrf %v] : !visa.vrf<i32, slice "A / 8 # 256", element "A % 8", #axes>
    ```
  }];
  let arguments = (ins VISA_FxpFn:$fn, TypedArrayAttrBase<VISA_SlotAttr, "operand slots">:$slots,
      Variadic<VISA_AnyTensor>:$operands);
  let assemblyFormat = [{
    $fn custom<Slots>($slots, $operands) (`:` type($operands)^)? attr-dict
  }];
  let hasVerifier = 1;
}

def VISA_VectorFinalOp : VISA_Stage<"vector_final"> {
  let summary = "Leave the vector engine";
  let description = [{
    Rules VE-4, VE-5, VE-12.

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
  let assemblyFormat = "`to` $to `packet` custom<MappingText>($packet) attr-dict";
}

#endif // FURIOSA_DIALECT_VISA_IR_VECTOROPS
