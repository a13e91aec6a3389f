//===- ContractionOps.td - visa contraction engine ---------*- tablegen -*-===//

#ifndef FURIOSA_DIALECT_VISA_IR_CONTRACTIONOPS
#define FURIOSA_DIALECT_VISA_IR_CONTRACTIONOPS

include "furiosa/Dialect/VISA/IR/VISA.td"

def VISA_ContractOuterOp : VISA_Stage<"contract_outer", ["checkUnit"]> {
  let summary = "Multiply the stream with a TRF tensor, lane by lane";
  let description = [{
    Packs one or two flits into a packet, and may send each packet several
    times. Rules TU-36 … TU-46.

    Example:
    ```mlir
    contract_outer %w time "I % 32, J / 8 % 4" packet "K" : !visa.trf<i8, slice "I / 32", lane "J % 8", element "J / 8 % 4, K", #axes>
    ```
  }];
  let arguments = (ins VISA_AnyTensor:$weight, StrAttr:$time, StrAttr:$packet);
  let assemblyFormat = [{
    $weight `time` custom<MappingText>($time) `packet` custom<MappingText>($packet)
  }] # attrDict # [{ `:` type($weight) }];
}

def VISA_ContractPacketOp : VISA_Stage<"contract_packet"> {
  let summary = "Add up the innermost cells of each packet";
  let description = [{
    Rules TU-47 … TU-50.

    Example:
    ```mlir
    contract_packet packet "1"
    ```
  }];
  let arguments = (ins StrAttr:$packet);
  let assemblyFormat = "`packet` custom<MappingText>($packet)" # attrDict;
}

def VISA_ContractTimeOp : VISA_Stage<"contract_time"> {
  let summary = "Add up over time axes";
  let description = [{
    Axes of time that are not named are summed. Rules TU-51 … TU-54.

    Example:
    ```mlir
    contract_time time "I % 32"
    ```
  }];
  let arguments = (ins StrAttr:$time);
  let assemblyFormat = "`time` custom<MappingText>($time)" # attrDict;
}

def VISA_ContractLaneOp : VISA_Stage<"contract_lane"> {
  let summary = "Fold the lanes into the stream";
  let description = [{
    Rules TU-55 … TU-60.

    Example:
    ```mlir
    contract_lane interleaved time "I % 32" packet "J % 8"
    ```
  }];
  let arguments = (ins VISA_LaneMode:$mode, StrAttr:$time, StrAttr:$packet);
  let assemblyFormat = [{
    $mode `time` custom<MappingText>($time) `packet` custom<MappingText>($packet)
  }] # attrDict;
}

#endif // FURIOSA_DIALECT_VISA_IR_CONTRACTIONOPS
