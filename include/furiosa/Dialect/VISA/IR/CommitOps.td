//===- CommitOps.td - visa commit adapter and commit -------*- tablegen -*-===//

#ifndef FURIOSA_DIALECT_VISA_IR_COMMITOPS
#define FURIOSA_DIALECT_VISA_IR_COMMITOPS

include "furiosa/Dialect/VISA/IR/VISA.td"

def VISA_CommitTrimOp : VISA_Stage<"commit_trim"> {
  let summary = "Keep the first 8, 16, 24 or 32 bytes of each packet";
  let description = [{
    In the sub context packets leave in words of 8 bytes. Rules TU-72 … TU-74,
    TU-78.

    Example:
    ```mlir
    commit_trim packet "A % 8"
    ```
  }];
  let arguments = (ins StrAttr:$packet);
  let assemblyFormat = "`packet` custom<MappingText>($packet)" # attrDict;
}

class VISA_CommitConversion<string opMnemonic, string text> : VISA_Stage<opMnemonic> {
  let description = text # [{
    The trimmed packet counts as f32: 16 or 32 bytes, of which half are written.
    Main context only. Rules TU-75, TU-76.

    Example:
    ```mlir
    }] # opMnemonic # [{ to bf16
    ```
  }];
  let arguments = (ins TypeAttr:$to);
  let assemblyFormat = "`to` $to" # attrDict;
}

def VISA_CommitCastOp : VISA_CommitConversion<"commit_cast", "f32 becomes bf16."> {
  let summary = "Narrow the element type on the way out";
}

def VISA_CommitCastReluOp : VISA_CommitConversion<"commit_cast_relu",
    "f32 becomes bf16, and what has a sign +0."> {
  let summary = "Narrow the element type on the way out, with a ReLU";
}

def VISA_CommitOp : VISA_Stage<"commit", ["checkUnit"]> {
  let summary = "Write the stream into the data memories";
  let description = [{
    Each live cell of the element mapping is written once. With `into` they are
    those of an existing tensor or view, of which the chain's result is another
    name; without, those of a new tensor. Rules TU-72, TU-77, MM-6, MM-23 …
    MM-26, MM-36.

    Examples:
    ```mlir
    commit element "A % 8"
    commit element "A = 4 #{!} 8" into %v : !visa.dm<i32, slice "1 # 256", element "A = 4 #{!} 8", #axes>
    ```
  }];
  let arguments = (ins StrAttr:$element, Optional<VISA_DmType>:$into);
  let assemblyFormat = [{
    `element` custom<MappingText>($element) (`into` $into^ `:` type($into))?
  }] # attrDict;
}

#endif // FURIOSA_DIALECT_VISA_IR_COMMITOPS
