//===- MovementOps.td - visa buffers, views, transfers, chains -*- tablegen -*-===//

#ifndef FURIOSA_DIALECT_VISA_IR_MOVEMENTOPS
#define FURIOSA_DIALECT_VISA_IR_MOVEMENTOPS

include "furiosa/Dialect/VISA/IR/VISA.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ViewLikeInterface.td"

class VISA_MovementOp<string opMnemonic, list<Trait> traits = []>
    : VISA_Op<opMnemonic, [DeclareOpInterfaceMethods<VISA_KernelOpInterface>] # traits>;

def VISA_AllocOp : VISA_MovementOp<"alloc"> {
  let summary = "A new buffer with undefined contents";
  let description = [{
    An HBM buffer that the kernel returns is owned by the caller.

    Example:
    ```mlir
    %y = visa.alloc : !visa.hbm<f32, element "R", #axes>
    ```
  }];
  let results = (outs Res<VISA_HbmOrDm, "the buffer", [MemAlloc]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def VISA_ToDmOp : VISA_MovementOp<"to_dm"> {
  let summary = "Move an HBM tensor into the data memories of the slices";
  let description = [{
    Each slice receives the cells that its mapping names; axes that the source
    lacks are replicated. Rules MM-1 … MM-3, MM-5, MM-28 … MM-32.

    Example:
    ```mlir
    %d = visa.to_dm %a : !visa.hbm<i32, element "A", #axes> -> !visa.dm<i32, slice "A / 8 # 256", element "A % 8", #axes>
    ```
  }];
  let arguments = (ins Arg<VISA_HbmType, "the tensor moved", [MemRead]>:$source);
  let results = (outs Res<VISA_DmType, "the new DM tensor", [MemAlloc, MemWrite]>:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def VISA_ToHbmOp : VISA_MovementOp<"to_hbm"> {
  let summary = "Move a DM tensor into a new HBM tensor";
  let description = [{
    Rules MM-1 … MM-3, MM-30 … MM-32.

    Example:
    ```mlir
    %o = visa.to_hbm %c : !visa.dm<i32, slice "A / 8 # 256", element "A % 8", #axes> -> !visa.hbm<i32, element "A", #axes>
    ```
  }];
  let arguments = (ins Arg<VISA_DmType, "the tensor moved", [MemRead]>:$source);
  let results = (outs Res<VISA_HbmType, "the new HBM tensor", [MemAlloc, MemWrite]>:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def VISA_CopyOp : VISA_MovementOp<"copy"> {
  let summary = "Move a tensor into an existing buffer or view";
  let description = [{
    As `to_hbm` and `to_dm`, but the target exists; where it is a view, cells
    outside the window stay as they are.

    Example:
    ```mlir
    visa.copy %r into %yt : !visa.dm<f32, slice "R / 8 % 256", element "R % 8", #axes>, !visa.hbm<f32, element "1 #{!} 64, R % 2048", #axes>
    ```
  }];
  let arguments = (ins Arg<VISA_HbmOrDm, "the tensor moved", [MemRead]>:$source,
                       Arg<VISA_HbmOrDm, "where it goes", [MemWrite]>:$target);
  let assemblyFormat = "$source `into` $target attr-dict `:` type($source) `,` type($target)";
  let hasVerifier = 1;
}

def VISA_TileOp : VISA_MovementOp<"tile", [Pure,
    DeclareOpInterfaceMethods<ViewLikeOpInterface>]> {
  let summary = "A window of a tensor along one index of its element mapping";
  let description = [{
    `along` names the index, `take` how many of its cells the window holds; the
    bracket gives the first one, a number or an `index` value. The result
    aliases the source. Cells outside the window become top padding in a view
    that is read, bottom padding (`#{!}`) in one that is written. The type does
    not depend on where the window begins. Rules MA-17 … MA-20, MM-35 … MM-37.

    Example:
    ```mlir
    %mt = visa.tile %m[%i] along "R / 2048" take 1 : !visa.hbm<bf16, element "R, K", #axes> -> !visa.hbm<bf16, element "1 # 64, R % 2048, K", #axes>
    ```
  }];
  let arguments = (ins VISA_HbmOrDm:$source, Optional<Index>:$offset,
      OptionalAttr<I64Attr>:$start, StrAttr:$along, I64Attr:$take);
  let results = (outs VISA_HbmOrDm:$result);
  let assemblyFormat = [{
    $source `[` custom<OffsetOrStart>($offset, $start) `]`
    `along` custom<MappingText>($along) `take` $take attr-dict
    `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def VISA_ReshapeOp : VISA_MovementOp<"reshape", [Pure,
    DeclareOpInterfaceMethods<ViewLikeOpInterface>]> {
  let summary = "The same cells under another spelling or other axes";
  let description = [{
    Sizes are kept per hardware dimension (MM-34, MA-31); no data moves.

    Example:
    ```mlir
    %s = visa.reshape %r : !visa.dm<i32, slice "A / 8", element "A % 8", #axes> -> !visa.dm<i32, slice "A / 16, A / 8 % 2", element "A % 8", #axes>
    ```
  }];
  let arguments = (ins VISA_HbmOrDm:$source);
  let results = (outs VISA_HbmOrDm:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def VISA_ChainOp : VISA_MovementOp<"chain", [SingleBlock, NoTerminator, NoRegionArguments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getDefaultDialect"]>]> {
  let summary = "One execution of the Tensor Unit";
  let description = [{
    The region lists the stages in the order of the hardware. The result is the
    tensor that the last stage stores: a DM, TRF or VRF tensor.

    Example:
    ```mlir
    %r = visa.chain main -> !visa.dm<i32, slice "A / 8 # 256", element "A % 8", #axes> {
      fetch %d time "1" packet "A % 8" : !visa.dm<i32, slice "A / 8 # 256", element "A % 8", #axes>
      collect time "1" packet "A % 8"
      commit_trim packet "A % 8"
      commit element "A % 8"
    }
    ```
  }];
  let arguments = (ins VISA_Context:$context);
  let results = (outs AnyTypeOf<[VISA_DmType, VISA_TrfType, VISA_VrfType],
      "a DM, TRF or VRF tensor">:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$context attr-dict `->` type($result) $body";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The axes that all tensors and stages of the chain share.
    ::furiosa::tmap::AxesAttr getAxes();
  }];
}

#endif // FURIOSA_DIALECT_VISA_IR_MOVEMENTOPS
