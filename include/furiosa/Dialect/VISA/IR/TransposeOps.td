//===- TransposeOps.td - visa transpose engine -------------*- tablegen -*-===//

#ifndef FURIOSA_DIALECT_VISA_IR_TRANSPOSEOPS
#define FURIOSA_DIALECT_VISA_IR_TRANSPOSEOPS

include "furiosa/Dialect/VISA/IR/VISA.td"

def VISA_TransposeOp : VISA_Stage<"transpose"> {
  let summary = "Exchange rows of time with the cells of a packet";
  let description = [{
    Time is `batch, rows, flits of a row`; each batch leaves as one packet per
    column, in which the rows stand side by side, padded to a flit. Rules TU-65
    … TU-71.

    Example:
    ```mlir
    transpose time "B, D, E" packet "C # 32"
    ```
  }];
  let arguments = (ins StrAttr:$time, StrAttr:$packet);
  let assemblyFormat = [{
    `time` custom<MappingText>($time) `packet` custom<MappingText>($packet)
  }] # attrDict;
}

#endif // FURIOSA_DIALECT_VISA_IR_TRANSPOSEOPS
