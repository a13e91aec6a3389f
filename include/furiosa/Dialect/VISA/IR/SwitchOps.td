//===- SwitchOps.td - visa switch engine -------------------*- tablegen -*-===//

#ifndef FURIOSA_DIALECT_VISA_IR_SWITCHOPS
#define FURIOSA_DIALECT_VISA_IR_SWITCHOPS

include "furiosa/Dialect/VISA/IR/VISA.td"

def VISA_SwitchOp : VISA_Stage<"switch"> {
  let summary = "Exchange packets between the slices of a cluster";
  let description = [{
    The slices stand in rings; what a configuration does is said in
    docs/visa.md. Numbers are `[slice1, slice0, time0]` for `broadcast01` and
    `inter_transpose`, `[slice1, slice0]` for `broadcast1`, `transpose` and
    `transposed_broadcast1`, `[ring size]` for `custom_broadcast`, none for
    `forwarding`. Rules TU-3, TU-11 … TU-26.

    Example:
    ```mlir
    switch broadcast1 [4, 64] slice "1 # 4, C % 64" time "A, C / 64"
    ```
  }];
  let arguments = (ins VISA_SwitchConfig:$config, DenseI64ArrayAttr:$params,
      StrAttr:$slice, StrAttr:$time);
  let assemblyFormat = [{
    $config $params `slice` custom<MappingText>($slice) `time` custom<MappingText>($time)
  }] # attrDict;
  let hasVerifier = 1;
}

#endif // FURIOSA_DIALECT_VISA_IR_SWITCHOPS
