//===- LIROps.td - lir ops ----------------------------------*- tablegen -*-===//
//
// Commands and the operation units inside them.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_DIALECT_LIR_IR_LIROPS
#define FURIOSA_DIALECT_LIR_IR_LIROPS

include "furiosa/Dialect/LIR/IR/LIR.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class LIR_Op<string opMnemonic, list<Trait> traits = []>
    : Op<LIR_Dialect, opMnemonic, traits>;

/// An operation unit stands only inside an exec.
class LIR_Unit<string opMnemonic, list<Trait> traits = []>
    : LIR_Op<opMnemonic, [HasParent<"::furiosa::lir::ExecOp">] # traits>;

//===----------------------------------------------------------------------===//
// Buffers and commands
//===----------------------------------------------------------------------===//

def LIR_AllocOp : LIR_Op<"alloc"> {
  let summary = "A new buffer with undefined contents";
  let description = [{
    Example:
    ```mlir
    %a = lir.alloc : !lir.mem<dm, 2048>
    ```
  }];
  let results = (outs Res<LIR_MemType, "the buffer", [MemAlloc]>:$result);
  let assemblyFormat = "attr-dict `:` qualified(type($result))";
}

def LIR_DmaOp : LIR_Op<"dma", [AttrSizedOperandSegments]> {
  let summary = "One transfer of the Tensor DMA engines";
  let description = [{
    Each engine walks its descriptor; a bracket behind a buffer adds an SSA
    offset in bytes to the base of every engine. With `by` the side in HBM is a
    table: its address moves by `scale` bytes times the entry of the index.

    Rules:
    - LIR-8: every access lies inside its buffer; source and target in one buffer
      share no byte.
    - LIR-9: each engine has one descriptor; there is at least one.
    - LIR-25: an index stands between HBM and DM, with keys on every engine, and
      moves the table's side alone; without one there are no keys.
    - LIR-26: engines run in no order: what one writes, no other reads or writes.

    Example:
    ```mlir
    lir.dma %m[%off] to %md engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 1024 : 4194304] packet 1024>] : !lir.mem<hbm, 16777216>, !lir.mem<dm, 1024>
    ```
  }];
  let arguments = (ins Arg<LIR_MemType, "read", [MemRead]>:$source, Optional<Index>:$sourceOffset,
      Arg<LIR_MemType, "written", [MemWrite]>:$target, Optional<Index>:$targetOffset,
      Arg<Optional<LIR_MemType>, "row numbers", [MemRead]>:$indices, OptionalAttr<LIR_Int>:$scale,
      TypedArrayAttrBase<LIR_EngineAttr, "engines">:$engines);
  let assemblyFormat = [{
    $source (`[` $sourceOffset^ `]`)? `to` $target (`[` $targetOffset^ `]`)?
    (`by` $indices^ `scale` $scale)? `engines` $engines attr-dict
    `:` qualified(type($source)) `,` qualified(type($target)) (`,` qualified(type($indices))^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether rows of a table are read or written through an index.
    bool isIndirect() { return static_cast<bool>(getIndices()); }
    /// Whether the table of an indirect transfer is its source.
    bool isGather() {
      return getSource().getType().getTier() == Tier::Hbm;
    }
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$source, "::mlir::Value":$sourceOffset,
      "::mlir::Value":$target, "::mlir::Value":$targetOffset, "::mlir::ArrayAttr":$engines), [{
    build($_builder, $_state, source, sourceOffset, target, targetOffset,
          ::mlir::Value(), ::mlir::IntegerAttr(), engines);
  }]>];
}

def LIR_ExecOp : LIR_Op<"exec", [SingleBlock, NoTerminator, NoRegionArguments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getDefaultDialect"]>]> {
  let summary = "One execution of a Tensor Unit context";
  let description = [{
    The region lists the operation units on the route, in hardware order.

    Example:
    ```mlir
    lir.exec sub {
      fetch_sequencer %b loops [8 : 64, 4 : 512, 8 : 8] read 8 packet 64 flits 64 : !lir.mem<dm, 2048>
      collect flits_per_packet 2
      trf_store %w rows_per_lane 8 : !lir.mem<trf, 2048, lanes 8>
    }
    ```
  }];
  let arguments = (ins LIR_Context:$context);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$context attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Fetch side
//===----------------------------------------------------------------------===//

def LIR_FetchSequencerOp : LIR_Unit<"fetch_sequencer", [AttrSizedOperandSegments]> {
  let summary = "Read a DM buffer in nested loops";
  let description = [{
    Loops are outermost first, `count : stride in bytes`; each step reads `read`
    bytes, `packet` bytes make a packet behind the fetch adapter, `flits` flits
    are collected from them. A packet travels in words of 8 bytes and flits of
    32, the last ones filled up with undefined bytes. At most 8 loops of at most
    65,536 (MM-6, MM-7). A bracket behind the buffer adds an SSA offset in bytes
    to the base.

    With `interleave` the loop `along` has size 2 and stride 0: its first step
    reads the source, its second one, by the same loops, the other buffer from
    its own base on (TU-10).

    Examples:
    ```mlir
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    fetch_sequencer %a interleave %b from 0 along 0 loops [2 : 0, 4 : 32] read 32 packet 32 flits 8 : !lir.mem<dm, 128>, !lir.mem<dm, 128>
    ```
  }];
  let arguments = (ins LIR_MemType:$source, Optional<Index>:$offset,
      DefaultValuedAttr<LIR_Int, "0">:$base, Optional<LIR_MemType>:$other, DefaultValuedAttr<LIR_Int, "0">:$other_base,
      DefaultValuedAttr<LIR_Int, "0">:$pair_loop,
      DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$strides, LIR_Int:$read,
      LIR_Int:$packet, LIR_Int:$flits);
  let assemblyFormat = [{
    $source (`[` $offset^ `]`)? (`base` $base^)? (`interleave` $other^ `from` $other_base `along` $pair_loop)?
    `loops` custom<Loops>($sizes, $strides) `read` $read `packet` $packet `flits` $flits
    attr-dict `:` qualified(type($source)) (`,` qualified(type($other))^)?
  }];
  let hasVerifier = 1;
}

def LIR_FetchAdapterOp : LIR_Unit<"fetch_adapter"> {
  let summary = "Convert the element type behind the fetch sequencer";
  let description = [{
    One read may not grow beyond 32 bytes (TU-7).

    Example:
    ```mlir
    fetch_adapter cast bf16 to f32
    ```
  }];
  let arguments = (ins TypeAttr:$from, TypeAttr:$to);
  let assemblyFormat = "`cast` $from `to` $to attr-dict";
  let hasVerifier = 1;
}

def LIR_TableLookupOp : LIR_Unit<"table_lookup"> {
  let summary = "Exchange small floats by a table behind the fetch sequencer";
  let description = [{
    The conversions of TU-5; one read may not grow beyond 32 bytes (TU-7). Main
    context only.

    Example:
    ```mlir
    table_lookup f4E2M1FN to f8E4M3FN
    ```
  }];
  let arguments = (ins TypeAttr:$from, TypeAttr:$to);
  let assemblyFormat = "$from `to` $to attr-dict";
  let hasVerifier = 1;
}

def LIR_ZeroPointSubOp : LIR_Unit<"zero_point_sub"> {
  let summary = "Subtract a zero point behind the fetch sequencer";
  let description = [{
    i4 becomes i5, i8 becomes i9 (TU-8); on the way they take the room of i4 and
    i8, the fifth and the ninth bit travel beside.

    Example:
    ```mlir
    zero_point_sub 3 i8 to i9
    ```
  }];
  let arguments = (ins LIR_Int:$zeroPoint, TypeAttr:$from, TypeAttr:$to);
  let assemblyFormat = "$zeroPoint $from `to` $to attr-dict";
  let hasVerifier = 1;
}

def LIR_SwitchOp : LIR_Unit<"switch"> {
  let summary = "Exchange packets between slices";
  let description = [{
    `slices` are slice2, slice1, slice0 of the configuration, powers of two
    whose product is the number of slices of the cluster in use (TU-13, TU-14);
    `time0` splits the packets of a slice (TU-15), 1 where the configuration
    does not split them.

    Example:
    ```mlir
    switch broadcast1 slices [1, 4, 64] time0 1
    ```
  }];
  let arguments = (ins LIR_Topology:$topology, DenseI64ArrayAttr:$slices, LIR_Int:$time0);
  let assemblyFormat = "$topology `slices` $slices `time0` $time0 attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Packets that leave for each one that enters.
    int64_t getCopies();
  }];
}

def LIR_CustomSwitchOp : LIR_Unit<"custom_switch"> {
  let summary = "Exchange packets between slices by snoop bitmaps";
  let description = [{
    The loops `slices` count the slices that receive, `packets` the packets that
    each of them gets in a row for one packet of the stream; strides count the
    slices that send, within the ring of `ring` slices that a slice stands in.
    What a slice gets comes in rising order of the senders (TU-24), so that a
    bitmap of them says all (TU-26).

    Example:
    ```mlir
    custom_switch ring 4 slices [64 : 4, 4 : 0] packets [4 : 1]
    ```
  }];
  let arguments = (ins LIR_Int:$ring, DenseI64ArrayAttr:$sliceSizes, DenseI64ArrayAttr:$sliceStrides,
      DenseI64ArrayAttr:$packetSizes, DenseI64ArrayAttr:$packetStrides);
  let assemblyFormat = [{
    `ring` $ring `slices` custom<Loops>($sliceSizes, $sliceStrides)
    `packets` custom<Loops>($packetSizes, $packetStrides) attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Packets that leave for each one that enters.
    int64_t getCopies();
    /// For each slice, the slices whose packets it gets, one bit each.
    ::std::vector<::std::array<uint64_t, 4>> getSnoopBitmaps();
  }];
}

def LIR_CollectOp : LIR_Unit<"collect"> {
  let summary = "Cut packets into flits";
  let description = [{
    Example:
    ```mlir
    collect flits_per_packet 2
    ```
  }];
  let arguments = (ins LIR_Int:$flitsPerPacket);
  let assemblyFormat = "`flits_per_packet` $flitsPerPacket attr-dict";
  let hasVerifier = 1;
}

def LIR_TrfStoreOp : LIR_Unit<"trf_store"> {
  let summary = "Store the stream into the tensor register file";
  let description = [{
    Fills `rows_per_lane` rows of 32 bytes of the first lane, then of the next.

    Example:
    ```mlir
    trf_store %w rows_per_lane 8 : !lir.mem<trf, 2048, lanes 8>
    ```
  }];
  let arguments = (ins LIR_MemType:$target, LIR_Int:$rowsPerLane);
  let assemblyFormat = "$target `rows_per_lane` $rowsPerLane attr-dict `:` qualified(type($target))";
  let hasVerifier = 1;
}

def LIR_FillOp : LIR_Unit<"fill"> {
  let summary = "Fill a DM buffer with a number";
  let description = [{
    Stands alone in an exec of the sub context and repeats the 32 bits of
    `pattern` over the whole buffer, in all slices (MM-47).

    Example:
    ```mlir
    fill %r with 1065353216 : !lir.mem<dm, 2048>
    ```
  }];
  let arguments = (ins LIR_MemType:$target, LIR_Int:$pattern);
  let assemblyFormat = "$target `with` $pattern attr-dict `:` qualified(type($target))";
  let hasVerifier = 1;
}

def LIR_VrfStoreOp : LIR_Unit<"vrf_store"> {
  let summary = "Store the stream into the vector register file";
  let description = [{
    Example:
    ```mlir
    vrf_store %v rows 1 : !lir.mem<vrf, 32>
    ```
  }];
  let arguments = (ins LIR_MemType:$target, LIR_Int:$rows);
  let assemblyFormat = "$target `rows` $rows attr-dict `:` qualified(type($target))";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Contraction
//===----------------------------------------------------------------------===//

def LIR_FeedBufferOp : LIR_Unit<"feed_buffer"> {
  let summary = "Pack flits into the packets of the multiplier";
  let description = [{
    The element type and the number of collect flits decide, together with the
    release of the target, whether the chip takes the contraction. Shapes count
    elements: `stream` as it is multiplied, `weight` per lane. Each packet is
    sent `time_broadcast` times (TU-36, TU-37, TU-40).

    Example:
    ```mlir
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    ```
  }];
  let arguments = (ins LIR_FeedType:$elementType, LIR_Flits:$collectFlits,
      LIR_Int:$time, LIR_Int:$packet, LIR_FeedType:$weightType, LIR_Int:$lanes, LIR_Int:$element,
      LIR_FeedType:$promoted, LIR_Int:$laneBroadcast, LIR_Int:$timeBroadcast);
  let assemblyFormat = [{
    $elementType $collectFlits `stream` ` ` `[` `time` $time `,` `packet` $packet `]`
    `weight` $weightType ` ` `[` `lane` $lanes `,` `element` $element `]` `promoted` $promoted
    `lane_broadcast` $laneBroadcast `time_broadcast` $timeBroadcast attr-dict
  }];
  let hasVerifier = 1;
}

def LIR_TrfSequencerOp : LIR_Unit<"trf_sequencer"> {
  let summary = "Read the tensor register file, lane by lane";
  let description = [{
    One step per multiplication; strides are bytes within one lane. The
    innermost `broadcast` loops re-use the packet that the feed buffer holds.

    Example:
    ```mlir
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    ```
  }];
  let arguments = (ins LIR_MemType:$source, DefaultValuedAttr<LIR_Int, "0">:$base,
      DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$strides, LIR_Int:$read, LIR_Int:$broadcast);
  let assemblyFormat = [{
    $source (`base` $base^)? `loops` custom<Loops>($sizes, $strides) `read` $read
    `broadcast` $broadcast attr-dict `:` qualified(type($source))
  }];
  let hasVerifier = 1;
}

def LIR_PacketReducerOp : LIR_Unit<"packet_reducer"> {
  let summary = "Add neighbours in a tree";
  let description = [{
    `depth` levels leave sums, of which the first `columns` are kept (TU-47 …
    TU-50).

    Example:
    ```mlir
    packet_reducer add depth 6 columns 1 to i32
    ```
  }];
  let arguments = (ins LIR_Int:$depth, LIR_Int:$columns, TypeAttr:$accumulator);
  let assemblyFormat = "`add` `depth` $depth `columns` $columns `to` $accumulator attr-dict";
  let hasVerifier = 1;
}

def LIR_TimeReducerOp : LIR_Unit<"time_reducer"> {
  let summary = "Add over time steps";
  let description = [{
    `strides` gives, for each loop of the TRF sequencer, the slot it moves on:
    0 for a loop that is summed. `slots` sums are open at a time, each of
    `count` steps (TU-51 … TU-54).

    Example:
    ```mlir
    time_reducer slots 1 count 2 strides [0]
    ```
  }];
  let arguments = (ins LIR_Int:$slots, LIR_Int:$count, DenseI64ArrayAttr:$strides);
  let assemblyFormat = "`slots` $slots `count` $count `strides` $strides attr-dict";
  let hasVerifier = 1;
}

def LIR_LaneFolderOp : LIR_Unit<"lane_folder"> {
  let summary = "Fold the lanes into flits";
  let description = [{
    `live` lanes hold data (TU-55 … TU-60).

    Example:
    ```mlir
    lane_folder interleaved live 8
    ```
  }];
  let arguments = (ins LIR_LaneMode:$mode, LIR_Int:$live);
  let assemblyFormat = "$mode `live` $live attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Cast, commit
//===----------------------------------------------------------------------===//

def LIR_CastOp : LIR_Unit<"cast"> {
  let summary = "Narrow the elements of each flit";
  let description = [{
    The first cells of the new flit hold the results, the others are padding.

    Example:
    ```mlir
    cast f32 to bf16
    ```
  }];
  let arguments = (ins TypeAttr:$from, TypeAttr:$to);
  let assemblyFormat = "$from `to` $to attr-dict";
  let hasVerifier = 1;
}

def LIR_TransposeOp : LIR_Unit<"transpose"> {
  let summary = "Exchange rows of flits with their cells";
  let description = [{
    Of each flit the first cells count: 16 of 4 bits, 8 of any other width. As
    many flits as make `columns` cells are a row; `rows` rows leave as
    `out_rows` flits, each with one cell of every row (TU-65 … TU-71).

    Example:
    ```mlir
    transpose rows 8 columns 16 out_rows 16 bits 8
    ```
  }];
  let arguments = (ins LIR_Int:$rows, LIR_Int:$columns, LIR_Int:$outRows, LIR_Int:$bits);
  let assemblyFormat = "`rows` $rows `columns` $columns `out_rows` $outRows `bits` $bits attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Flits that make a row.
    int64_t getFlitsPerRow();
  }];
}

def LIR_CommitAdapterOp : LIR_Unit<"commit_adapter"> {
  let summary = "Keep the first bytes of each flit";
  let description = [{
    A cast makes bf16 of the f32 that are kept, half as many bytes (TU-75).

    Examples:
    ```mlir
    commit_adapter in 32 keep 16
    commit_adapter in 32 keep 32 cast f32_to_bf16
    ```
  }];
  let arguments = (ins LIR_Int:$in, LIR_Int:$keep, OptionalAttr<LIR_CommitCast>:$cast);
  let assemblyFormat = "`in` $in `keep` $keep (`cast` $cast^)? attr-dict";
  let hasVerifier = 1;
}

def LIR_CommitSequencerOp : LIR_Unit<"commit_sequencer"> {
  let summary = "Write a DM buffer in nested loops";
  let description = [{
    Each step writes `write` bytes. `slices` gives the slices that write, as
    pairs of first and last (MM-6, MM-7, MM-26). A bracket behind the buffer adds
    an SSA offset in bytes to the base.

    Example:
    ```mlir
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
    ```
  }];
  let arguments = (ins LIR_MemType:$target, Optional<Index>:$offset,
      DefaultValuedAttr<LIR_Int, "0">:$base,
      DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$strides, LIR_Int:$write,
      DenseI64ArrayAttr:$slices);
  let assemblyFormat = [{
    $target (`[` $offset^ `]`)? (`base` $base^)? `loops` custom<Loops>($sizes, $strides) `write` $write
    `slices` $slices attr-dict `:` qualified(type($target))
  }];
  let hasVerifier = 1;
}

#endif // FURIOSA_DIALECT_LIR_IR_LIROPS
