//===- CommitOps.td - visa commit adapter and commit -------*- tablegen -*-===//

#ifndef FURIOSA_DIALECT_VISA_IR_COMMITOPS
#define FURIOSA_DIALECT_VISA_IR_COMMITOPS

include "furiosa/Dialect/VISA/IR/VISA.td"

def VISA_CommitTrimOp : VISA_Stage<"commit_trim"> {
  let summary = "Keep the first 8, 16, 24 or 32 bytes of each packet";
  let description = [{
    Rules TU-72 … TU-74, TU-78.

    Example:
    ```mlir
    commit_trim packet "A % 8"
    ```
  }];
  let arguments = (ins StrAttr:$packet);
  let assemblyFormat = "`packet` custom<MappingText>($packet) attr-dict";
}

def VISA_CommitOp : VISA_Stage<"commit", ["checkUnit"]> {
  let summary = "Write the stream into the data memories";
  let description = [{
    Each cell of the element mapping is written once. Rules TU-72, TU-77,
    MM-6, MM-23 … MM-26.

    Example:
    ```mlir
    commit element "A % 8"
    ```
  }];
  let arguments = (ins StrAttr:$element);
  let assemblyFormat = "`element` custom<MappingText>($element) attr-dict";
}

#endif // FURIOSA_DIALECT_VISA_IR_COMMITOPS
