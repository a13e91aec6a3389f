//===- FetchOps.td - visa fetch, fetch adapter, collect ----*- tablegen -*-===//

#ifndef FURIOSA_DIALECT_VISA_IR_FETCHOPS
#define FURIOSA_DIALECT_VISA_IR_FETCHOPS

include "furiosa/Dialect/VISA/IR/VISA.td"

def VISA_FetchOp : VISA_Stage<"fetch"> {
  let summary = "Stream a DM tensor out of the slices";
  let description = [{
    Reads the source in the order `time`, `packet`; digits that the source
    lacks are broadcast. Rules TU-2, MM-6 … MM-11, MM-52.

    With `interleave` two tensors of one type are read in turn: index 0 of the
    axis `along`, which has size 2 and is new to them, is the source, index 1
    the other one. The axis is one of time. Rule TU-10.

    Examples:
    ```mlir
    fetch %d time "1" packet "A % 8" : !visa.dm<i32, slice "A / 8 # 256", element "A % 8", #axes>
    fetch %d interleave %e along "I" time "I" packet "A % 8" : !dm, !dm
    fetch %d window [Y = "P % 7" * 2 + R] time "P % 7, R" packet "C" : !dm
    ```
  }];
  let arguments = (ins VISA_AnyTensor:$source, Optional<VISA_AnyTensor>:$other,
      OptionalAttr<StrAttr>:$along, OptionalAttr<VISA_WindowArrayAttr>:$windows,
      StrAttr:$time, StrAttr:$packet);
  let assemblyFormat = [{
    $source (`interleave` $other^ `along` $along)?
    (`window` custom<Windows>($windows)^)?
    `time` custom<MappingText>($time) `packet` custom<MappingText>($packet)
  }] # attrDict # [{ `:` type($source) (`,` type($other)^)? }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$source, "::llvm::StringRef":$time,
                   "::llvm::StringRef":$packet,
                   CArg<"::mlir::ArrayAttr", "{}">:$windows), [{
      build($_builder, $_state, source, /*other=*/::mlir::Value(),
            /*along=*/::mlir::StringAttr(), windows,
            $_builder.getStringAttr(time), $_builder.getStringAttr(packet));
    }]>
  ];
  let hasVerifier = 1;
}

def VISA_TableLookupOp : VISA_Stage<"table_lookup"> {
  let summary = "Exchange small floats for wider ones by a table";
  let description = [{
    f4E2M1FN to f8E4M3FN or f8E5M2, f8E4M3FN and f8E5M2 to bf16; main context
    only. Rules TU-5, TU-7.

    Example:
    ```mlir
    table_lookup to f8E4M3FN
    ```
  }];
  let arguments = (ins TypeAttr:$to);
  let assemblyFormat = "`to` $to" # attrDict;
}

def VISA_FetchCastOp : VISA_Stage<"fetch_cast"> {
  let summary = "Widen the element type of the stream";
  let description = [{
    Identity, i4, i8, i16 to i32, f8 and bf16 to f32, f32 to bf16. Rules TU-6,
    TU-7.

    Example:
    ```mlir
    fetch_cast to i32
    ```
  }];
  let arguments = (ins TypeAttr:$to);
  let assemblyFormat = "`to` $to" # attrDict;
}

def VISA_ZeroPointSubOp : VISA_Stage<"zero_point_sub"> {
  let summary = "Subtract a zero point";
  let description = [{
    i4 becomes i5, i8 becomes i9; only a contraction takes them. Rules TU-8,
    TU-9.

    Example:
    ```mlir
    zero_point_sub 3
    ```
  }];
  let arguments = (ins I64Attr:$zeroPoint);
  let assemblyFormat = "$zeroPoint" # attrDict;
}

def VISA_CollectOp : VISA_Stage<"collect"> {
  let summary = "Cut packets into flits of 32 bytes";
  let description = [{
    The packet is padded to whole flits; the inner flit is the new packet, the
    others go to the end of time. Rules TU-3, TU-28, TU-29.

    Example:
    ```mlir
    collect time "A, B / 16" packet "B % 16"
    ```
  }];
  let arguments = (ins StrAttr:$time, StrAttr:$packet);
  let assemblyFormat = [{
    `time` custom<MappingText>($time) `packet` custom<MappingText>($packet)
  }] # attrDict;
}

#endif // FURIOSA_DIALECT_VISA_IR_FETCHOPS
