//===- RegisterFileOps.td - visa register file stores ------*- tablegen -*-===//

#ifndef FURIOSA_DIALECT_VISA_IR_REGISTERFILEOPS
#define FURIOSA_DIALECT_VISA_IR_REGISTERFILEOPS

include "furiosa/Dialect/VISA/IR/VISA.td"

def VISA_ToTrfOp : VISA_Stage<"to_trf"> {
  let summary = "Store the stream into the tensor register files";
  let description = [{
    The outer part of time picks the lane. Rules TU-30 … TU-34, MM-48, MM-49.

    Example:
    ```mlir
    to_trf lane "N % 8" element "N / 8 % 4, K"
    ```
  }];
  let arguments = (ins StrAttr:$lane, StrAttr:$element);
  let assemblyFormat = [{
    `lane` custom<MappingText>($lane) `element` custom<MappingText>($element)
  }] # attrDict;
}

def VISA_ToVrfOp : VISA_Stage<"to_vrf"> {
  let summary = "Store the stream into the vector register files";
  let description = [{
    Rules TU-35, VE-65, MM-50.

    Example:
    ```mlir
    to_vrf element "A % 8"
    ```
  }];
  let arguments = (ins StrAttr:$element);
  let assemblyFormat = "`element` custom<MappingText>($element)" # attrDict;
}

#endif // FURIOSA_DIALECT_VISA_IR_REGISTERFILEOPS
