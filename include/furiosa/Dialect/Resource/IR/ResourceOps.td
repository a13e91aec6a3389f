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

    Rules:
    - RES-3: 1, 2 or 4 pes; clusters ascend, each 0 or 1, at least one.
    - RES-4: 0 <= lower_bound <= makespan.
    - RES-5: arguments come first and are numbered 0, 1, … in order; inputs come
      before results and scratch; names are distinct.
    - RES-6: the body holds arguments, buffers, issues, waits and loops.
    - RES-7: no command names an engine or slice of a PE that does not run.
    - RES-24: no command writes an argument that is an input only.
    - RES-27: arguments fit into HBM together.
    - RES-8: the release is one that the machine description knows.
    - RES-9: once makespan is there, buffers have addresses, commands have cycles
      and no token, and DMA commands have tags.

    Example:
    ```mlir
    resource.program @empty pes 4 clusters [0] release "0.6" makespan 600 lower_bound 600 {
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, LIR_Int:$pes, DenseI64ArrayAttr:$clusters,
      StrAttr:$release, OptionalAttr<LIR_Int>:$makespan, OptionalAttr<LIR_Int>:$lowerBound);
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
    Operands are numbered in order of `index`, inputs before results. One with
    a `range` is a number that the host gives, from the first to the second:
    loops may make as many trips.

    Rules:
    - RES-10: the buffer is in HBM, the name is not empty.
    - RES-11: the operand has as many bytes as the buffer.
    - RES-25: only an input of one i32 without axes has a range, of two numbers
      of 32 bits that ascend.

    Example:
    ```mlir
    %a = resource.argument 0 input "a" : !lir.mem<hbm, 64> as #resource.operand<i8, chip "1", element "K", axes ["K"] sizes [64]>
    ```
  }];
  let arguments = (ins LIR_Int:$index, Resource_Role:$role, StrAttr:$name,
      OptionalAttr<Resource_OperandAttr>:$operand, OptionalAttr<DenseI64ArrayAttr>:$range);
  let results = (outs LIR_MemType:$result);
  let assemblyFormat = [{
    $index $role $name (`range` $range^)? attr-dict `:` qualified(type($result)) (`as` qualified($operand)^)?
  }];
  let hasVerifier = 1;
}

def Resource_BufferOp : Resource_Op<"buffer", [HasParent<"ProgramOp">,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "A buffer in DM, TRF or VRF";
  let description = [{
    `at` is the byte address within a slice (within a lane for TRF), `live` the
    cycles from the first write to the last read; both once scheduled.

    Rules:
    - RES-12: the buffer is not in HBM, lies inside its memory and begins at a
      multiple of 8 bytes in DM, of 32 in VRF, of 64 in TRF.
    - RES-13: `live` holds two cycles, the first not behind the second.

    Example:
    ```mlir
    %b = resource.buffer at 2048 live [1003, 3132] : !lir.mem<dm, 2048>
    ```
  }];
  let arguments = (ins OptionalAttr<LIR_Int>:$address, OptionalAttr<DenseI64ArrayAttr>:$live);
  let results = (outs LIR_MemType:$result);
  let assemblyFormat = "(`at` $address^)? (`live` $live^)? attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}

def Resource_IssueOp : Resource_Op<"issue", [ParentOneOf<["ProgramOp", "LoopOp"]>,
    SingleBlock, NoTerminator, NoRegionArguments, AttrSizedOperandSegments]> {
  let summary = "Start a lir command";
  let description = [{
    The region holds the one `lir.dma` or `lir.exec`. A DMA has a tag by which
    it is waited for. `advance` says by how many bytes the bases of a DMA's
    source and target move with each iteration of the loops around, outermost
    first, two numbers a loop. `starts by` arguments with a range says by how
    many bytes the two bases, of an exec those of fetch and commit, move with
    each number above its least. A scheduled
    command of a loop counts its cycles from the start of an iteration.

    Rules:
    - RES-14: the region holds one command of the engine: `lir.dma` for dma,
      `lir.exec main` for main, `lir.exec sub` for sub.
    - RES-15: only a DMA has a tag (0 to 63) and an `advance`.
    - RES-16: `cycles` holds two numbers, the first not behind the second.
    - RES-17: an `advance` has two numbers for each loop around; every iteration
      stays inside the buffers and keeps to MM-29 and MM-30.
    - RES-18: no SSA offset is left in a command.
    - RES-19: a token comes from the same block.
    - RES-28: `starts` has two numbers for each argument, of which all have a
      range; with every number a command stays inside the buffers and keeps to
      MM-26, MM-29 and MM-30. An exec would do so from its first byte on with
      numbers of 0 as well, which is what its registers hold in the binary.

    Example:
    ```mlir
    %t = resource.issue dma tag 0 cycles [1003, 1795] {
      lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<dm, 32>
    }
    ```
  }];
  let arguments = (ins Resource_Engine:$engine, OptionalAttr<LIR_Int>:$tag,
      OptionalAttr<DenseI64ArrayAttr>:$cycles, OptionalAttr<DenseI64ArrayAttr>:$advance,
      Variadic<Resource_TokenType>:$after, Variadic<LIR_MemType>:$numbers,
      OptionalAttr<DenseI64ArrayAttr>:$starts);
  let results = (outs Optional<Resource_TokenType>:$token);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $engine (`tag` $tag^)? (`cycles` $cycles^)? (`advance` $advance^)?
    (`starts` $starts^ `by` $numbers `:` qualified(type($numbers)))? (`after` ` ` `[` $after^ `]`)?
    attr-dict-with-keyword $body (`:` type($token)^)?
  }];
  // Starts where it is written, and waits for nothing.
  let builders = [OpBuilder<(ins "::mlir::Type":$token, "Engine":$engine,
      CArg<"::mlir::DenseI64ArrayAttr", "{}">:$cycles), [{
    build($_builder, $_state, token, engine, /*tag=*/{}, cycles, /*advance=*/{},
          /*after=*/{}, /*numbers=*/{}, /*starts=*/{});
  }]>];
  let hasRegionVerifier = 1;
}

def Resource_WaitOp : Resource_Op<"wait", [ParentOneOf<["ProgramOp", "LoopOp"]>]> {
  let summary = "Block the queue until work is done";
  let description = [{
    Until a context is idle (`main`, `sub`), or the DMA with `tag` is done.

    Rules:
    - RES-20: a wait for a DMA has a tag (0 to 63), others have none.

    Example:
    ```mlir
    resource.wait dma tag 0
    ```
  }];
  let arguments = (ins Resource_Engine:$engine, OptionalAttr<LIR_Int>:$tag);
  let assemblyFormat = "$engine (`tag` $tag^)? attr-dict";
  let hasVerifier = 1;
}

def Resource_LoopOp : Resource_Op<"loop", [ParentOneOf<["ProgramOp", "LoopOp"]>,
    SingleBlock, NoTerminator, NoRegionArguments, AttrSizedOperandSegments]> {
  let summary = "Repeat the commands of the body";
  let description = [{
    The queue is drained by waits at the end of the body. `cycles` are those of
    one iteration. Loops nest at most 8 deep. With `barrier` all PEs wait for
    one another at the end of each iteration; a barrier between two commands is
    such a loop of one trip with nothing in it. `by` arguments the loop makes as
    many trips as the host says, perhaps none, and `trips` is the most: what is
    known of the schedule holds for that. The arguments are added, each times
    its number of `scales` (1 where there are none), and `plus` a number. With
    `when` the loop makes its one trip if that sum is equal to a number, not
    equal, less or not less.

    Rules:
    - RES-19: a token comes from the same block.
    - RES-21: at least one trip; cycles not negative.
    - RES-22: the body holds issues, waits and loops.
    - RES-26: a loop by arguments takes those with a range and as many scales;
      their sum begins at 0 or above and ends at the trips, or there is a `when`
      and one trip.

    Example:
    ```mlir
    resource.loop 64 cycles 1742 {
    }
    resource.loop 64 by %n : !lir.mem<hbm, 4> cycles 1742 {
    }
    resource.loop 1 by %n : !lir.mem<hbm, 4> when lt 3 cycles 1742 {
    }
    resource.loop 8 by %n, %m : !lir.mem<hbm, 4>, !lir.mem<hbm, 4> scales [1, -2] plus 4 cycles 1742 {
    }
    resource.loop 1 barrier {
    }
    ```
  }];
  let arguments = (ins LIR_Int:$trips, UnitAttr:$barrier, OptionalAttr<LIR_Int>:$cycles,
      Variadic<LIR_MemType>:$counts, OptionalAttr<DenseI64ArrayAttr>:$scales,
      OptionalAttr<LIR_Int>:$plus, Variadic<Resource_TokenType>:$after,
      OptionalAttr<Resource_Condition>:$when, OptionalAttr<LIR_Int>:$bound);
  let results = (outs Optional<Resource_TokenType>:$token);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $trips (`by` $counts^ `:` qualified(type($counts)) (`scales` $scales^)? (`plus` $plus^)? (`when` $when^ $bound)?)?
    (`barrier` $barrier^)? (`cycles` $cycles^)? (`after` ` ` `[` $after^ `]`)?
    attr-dict-with-keyword $body (`:` type($token)^)?
  }];
  // Of as many trips as it says.
  let builders = [OpBuilder<(ins "::mlir::Type":$token, "int64_t":$trips,
      "bool":$barrier, CArg<"::mlir::ValueRange", "{}">:$after), [{
    build($_builder, $_state, token, trips, barrier, /*cycles=*/{}, /*counts=*/{},
          /*scales=*/{}, /*plus=*/{}, after, /*when=*/{}, /*bound=*/{});
  }]>];
  let extraClassDeclaration = [{
    /// Whether only the run knows how often the loop runs.
    bool isCounted() { return !getCounts().empty(); }
    /// How often an argument that counts is added.
    int64_t getScale(unsigned count) {
      return getScales() && count < getScales()->size() ? (*getScales())[count]
                                                        : 1;
    }
    /// The least and the most of the sum that counts; nothing where that leaves
    /// 64 bits or an argument has no range.
    std::optional<std::pair<int64_t, int64_t>> getCountRange();
  }];
  let hasRegionVerifier = 1;
}

#endif // FURIOSA_DIALECT_RESOURCE_IR_RESOURCEOPS
