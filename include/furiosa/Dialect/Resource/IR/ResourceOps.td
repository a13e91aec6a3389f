//===- ResourceOps.td - resource ops ------------------------*- tablegen -*-===//

#ifndef FURIOSA_DIALECT_RESOURCE_IR_RESOURCEOPS
#define FURIOSA_DIALECT_RESOURCE_IR_RESOURCEOPS

include "furiosa/Dialect/Resource/IR/Resource.td"
include "furiosa/Dialect/LIR/IR/LIR.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Resource_Op<string opMnemonic, list<Trait> traits = []>
    : Op<Resource_Dialect, opMnemonic, traits>;

def Resource_ProgramOp : Resource_Op<"program", [Symbol, IsolatedFromAbove, SingleBlock,
    NoTerminator, NoRegionArguments]> {
  let summary = "A kernel as a queue of commands";
  let description = [{
    `makespan` and `lower_bound` are cycles at chip clock, present once the
    program is scheduled. `pes` PEs of each cluster run it.

    Example:
    ```mlir
    resource.program @empty pes 4 clusters [0] release "0.6" makespan 600 lower_bound 600 {
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$pes, DenseI64ArrayAttr:$clusters,
      StrAttr:$release, OptionalAttr<I64Attr>:$makespan, OptionalAttr<I64Attr>:$lowerBound);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `pes` $pes `clusters` $clusters `release` $release
    (`makespan` $makespan^ `lower_bound` $lowerBound)? attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
}

def Resource_ArgumentOp : Resource_Op<"argument", [HasParent<"ProgramOp">]> {
  let summary = "An HBM buffer that is bound when the kernel is loaded";
  let description = [{
    Operands are numbered in order of `index`, inputs before results.

    Example:
    ```mlir
    %a = resource.argument 0 input "a" as #resource.operand<i8, chip "1", element "K", axes ["K"] sizes [64]> : !lir.mem<hbm, 64>
    ```
  }];
  let arguments = (ins I64Attr:$index, Resource_Role:$role, StrAttr:$name,
      OptionalAttr<Resource_OperandAttr>:$operand);
  let results = (outs LIR_MemType:$result);
  let assemblyFormat = "$index $role $name (`as` qualified($operand)^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Resource_BufferOp : Resource_Op<"buffer", [HasParent<"ProgramOp">]> {
  let summary = "A buffer in DM, TRF or VRF";
  let description = [{
    `at` is the byte address within a slice (within a lane for TRF), `live` the
    cycles from the first write to the last read; both once scheduled.

    Example:
    ```mlir
    %b = resource.buffer at 2048 live [1003, 3132] : !lir.mem<dm, 2048>
    ```
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$address, OptionalAttr<DenseI64ArrayAttr>:$live);
  let results = (outs LIR_MemType:$result);
  let assemblyFormat = "(`at` $address^)? (`live` $live^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Resource_IssueOp : Resource_Op<"issue", [SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "Start a lir command";
  let description = [{
    The region holds the one `lir.dma` or `lir.exec`. A DMA has a tag by which
    it is waited for. `advance` says by how many bytes the bases of a DMA's
    source and target move with each iteration of the loops around, outermost
    first, two numbers a loop.

    Example:
    ```mlir
    %t = resource.issue dma tag 0 cycles [1003, 1795] {
      lir.dma %a to %d [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<dm, 32>
    }
    ```
  }];
  let arguments = (ins Resource_Engine:$engine, OptionalAttr<I64Attr>:$tag,
      OptionalAttr<DenseI64ArrayAttr>:$cycles, OptionalAttr<DenseI64ArrayAttr>:$advance,
      Variadic<Resource_TokenType>:$after);
  let results = (outs Optional<Resource_TokenType>:$token);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $engine (`tag` $tag^)? (`cycles` $cycles^)? (`advance` $advance^)? (`after` `[` $after^ `]`)?
    attr-dict-with-keyword $body (`:` type($token)^)?
  }];
  let hasRegionVerifier = 1;
}

def Resource_WaitOp : Resource_Op<"wait"> {
  let summary = "Block the queue until work is done";
  let description = [{
    Until a context is idle (`main`, `sub`), or the DMA with `tag` is done.

    Example:
    ```mlir
    resource.wait dma tag 0
    ```
  }];
  let arguments = (ins Resource_Engine:$engine, OptionalAttr<I64Attr>:$tag);
  let assemblyFormat = "$engine (`tag` $tag^)? attr-dict";
  let hasVerifier = 1;
}

def Resource_LoopOp : Resource_Op<"loop", [SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "Repeat the commands of the body";
  let description = [{
    The queue is drained by waits at the end of the body. `cycles` are those of
    one iteration.

    Example:
    ```mlir
    resource.loop 64 cycles 1742 {
    }
    ```
  }];
  let arguments = (ins I64Attr:$trips, OptionalAttr<I64Attr>:$cycles,
      Variadic<Resource_TokenType>:$after);
  let results = (outs Optional<Resource_TokenType>:$token);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $trips (`cycles` $cycles^)? (`after` `[` $after^ `]`)? attr-dict-with-keyword $body
    (`:` type($token)^)?
  }];
  let hasRegionVerifier = 1;
}

#endif // FURIOSA_DIALECT_RESOURCE_IR_RESOURCEOPS
