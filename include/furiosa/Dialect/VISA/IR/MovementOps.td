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
    outside the window stay as they are. Source and target may both lie in HBM
    or both in data memory; there, cells may change their slice. A `parallel`
    copy moves cells within their slices, in the sub context and words of 8
    bytes, while the DMA does something else. Rules MM-28 … MM-33, MM-36.

    Examples:
    ```mlir
    visa.copy parallel %r into %s : !visa.dm<i8, slice "R", element "K", #axes>, !visa.dm<i8, slice "R", element "K", #axes>
    visa.copy %r into %yt : !visa.dm<f32, slice "R / 8 % 256", element "R % 8", #axes>, !visa.hbm<f32, element "1 #{!} 64, R % 2048", #axes>
    ```
  }];
  let arguments = (ins Arg<VISA_HbmOrDm, "the tensor moved", [MemRead]>:$source,
                       Arg<VISA_HbmOrDm, "where it goes", [MemWrite]>:$target,
                       UnitAttr:$parallel);
  let assemblyFormat = [{
    (`parallel` $parallel^)? $source `into` $target
  }] # attrDict # [{ `:` type($source) `,` type($target) }];
  let hasVerifier = 1;
}

/// A view names the buffer of its source.
class VISA_ViewOp<string opMnemonic> : VISA_MovementOp<opMnemonic, [Pure,
    DeclareOpInterfaceMethods<ViewLikeOpInterface>]> {
  let results = (outs VISA_HbmOrDm:$result);
  let hasVerifier = 1;
}

def VISA_TileOp : VISA_ViewOp<"tile"> {
  let summary = "A window of a tensor along one index of a mapping";
  let description = [{
    `along` names the index, `take` how many of its cells the window holds; the
    bracket gives the first one, a number or an `index` value. The index is one
    of the element mapping, or of the dimension behind `of`. The result
    aliases the source. Cells outside the window become top padding in a view
    that is read, bottom padding (`#{!}`) in one that is written. The type does
    not depend on where the window begins. Rules MA-17 … MA-20, MM-35 … MM-37.

    Examples:
    ```mlir
    %mt = visa.tile %m[%i] along "R / 2048" take 1 : !visa.hbm<bf16, element "R, K", #axes> -> !visa.hbm<bf16, element "1 # 64, R % 2048, K", #axes>
    %ct = visa.tile %c[1] of slice along "R" take 1 : !visa.dm<i8, slice "R", element "K", #axes> -> !visa.dm<i8, slice "1 # 64", element "K", #axes>
    ```
  }];
  let arguments = (ins VISA_HbmOrDm:$source, Optional<Index>:$offset,
      OptionalAttr<I64Attr>:$start,
      DefaultValuedAttr<VISA_Dimension, "::furiosa::visa::Dimension::Element">:$dimension,
      StrAttr:$along, I64Attr:$take);
  let assemblyFormat = [{
    $source `[` custom<OffsetOrStart>($offset, $start) `]` (`of` $dimension^)?
    `along` custom<MappingText>($along) `take` $take
  }] # attrDict # [{ `:` type($source) `->` type($result) }];
}

def VISA_PadOp : VISA_ViewOp<"pad"> {
  let summary = "A tensor with more padding behind its cells";
  let description = [{
    The element mapping is the source's, padded outermost with `#`; no data
    moves. Rules MM-38, MA-21.

    Example:
    ```mlir
    %p = visa.pad %d : !visa.dm<i32, slice "A", element "B", #axes> -> !visa.dm<i32, slice "A", element "B # 16", #axes>
    ```
  }];
  let arguments = (ins VISA_HbmOrDm:$source);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
}

def VISA_UnpadOp : VISA_ViewOp<"unpad"> {
  let summary = "A tensor without its outermost padding";
  let description = [{
    The converse of `pad`: readers see the live cells only. Rules MM-38, MA-21.

    Example:
    ```mlir
    %u = visa.unpad %p : !visa.dm<i32, slice "A", element "B # 16", #axes> -> !visa.dm<i32, slice "A", element "B", #axes>
    ```
  }];
  let arguments = (ins VISA_HbmOrDm:$source);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
}

def VISA_MemsetOp : VISA_MovementOp<"memset"> {
  let summary = "Fill a DM tensor with a constant";
  let description = [{
    Runs in the sub context and fills the tensor as a whole, padding too. Rules
    MM-46, MM-47.

    Example:
    ```mlir
    %c = arith.constant -1 : i32
    visa.memset %d with %c : !visa.dm<i32, slice "A", element "B", #axes>, i32
    ```
  }];
  let arguments = (ins Arg<VISA_DmType, "the tensor filled", [MemWrite]>:$target,
      AnyTypeOf<[AnySignlessInteger, AnyFloat], "a number">:$value);
  let assemblyFormat = "$target `with` $value attr-dict `:` type($target) `,` type($value)";
  let hasVerifier = 1;
}

def VISA_GatherOp : VISA_MovementOp<"gather"> {
  let summary = "Read the rows of a table that an index names";
  let description = [{
    The rows lie along the one axis of the table that the result lacks. An index
    in data memory counts rows; with `scaled` the index lies in HBM and counts
    bytes. Rules MM-42, MM-44.

    Example:
    ```mlir
    %g = visa.gather %t by %i : !visa.hbm<i32, element "W, V", #axes>, !visa.dm<i32, slice "1 # 256", element "K", #axes> -> !visa.dm<i32, slice "1 # 256", element "K, V", #axes>
    ```
  }];
  let arguments = (ins Arg<VISA_HbmType, "the table", [MemRead]>:$table,
      Arg<VISA_HbmOrDm, "the index", [MemRead]>:$index, UnitAttr:$scaled);
  let results = (outs Res<VISA_DmType, "the rows", [MemAlloc, MemWrite]>:$result);
  let assemblyFormat = [{
    (`scaled` $scaled^)? $table `by` $index
  }] # attrDict # [{ `:` type($table) `,` type($index) `->` type($result) }];
  let hasVerifier = 1;
}

def VISA_ScatterOp : VISA_MovementOp<"scatter"> {
  let summary = "Write rows of a table that an index names";
  let description = [{
    The index lies in HBM and counts bytes of the target; of rows with one index
    the last one stays. Rules MM-43 … MM-45.

    Example:
    ```mlir
    visa.scatter scaled %d by %i into %c : !visa.dm<bf16, slice "K / 2 # 256", element "K % 2, D", #axes>, !visa.hbm<i32, element "K", #axes>, !visa.hbm<bf16, element "C, D", #axes>
    ```
  }];
  let arguments = (ins Arg<VISA_DmType, "the rows", [MemRead]>:$source,
      Arg<VISA_HbmOrDm, "the index", [MemRead]>:$index,
      Arg<VISA_HbmType, "the table", [MemWrite]>:$target, UnitAttr:$scaled);
  let assemblyFormat = [{
    (`scaled` $scaled^)? $source `by` $index `into` $target
  }] # attrDict # [{ `:` type($source) `,` type($index) `,` type($target) }];
  let hasVerifier = 1;
}

def VISA_ReshapeOp : VISA_ViewOp<"reshape"> {
  let summary = "The same cells under another spelling or other axes";
  let description = [{
    Sizes are kept per hardware dimension (MM-34, MA-31); no data moves. Where
    cells get another index, the source may not be used any more.

    Example:
    ```mlir
    %s = visa.reshape %r : !visa.dm<i32, slice "A / 8", element "A % 8", #axes> -> !visa.dm<i32, slice "A / 16, A / 8 % 2", element "A % 8", #axes>
    ```
  }];
  let arguments = (ins VISA_HbmOrDm:$source);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
}

def VISA_ChainOp : VISA_MovementOp<"chain", [SingleBlock, NoTerminator, NoRegionArguments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getDefaultDialect"]>]> {
  let summary = "One execution of the Tensor Unit";
  let description = [{
    The region lists the stages in the order of the hardware. The result is the
    tensor that the last stage stores: a new DM, TRF or VRF tensor, or the one
    that a `commit into` names.

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
    /// The existing tensor that the chain writes, or null.
    ::mlir::Value getInto();
  }];
}

#endif // FURIOSA_DIALECT_VISA_IR_MOVEMENTOPS
