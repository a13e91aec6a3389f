// RUN: furiosa-opt-mlir %s --verify-roundtrip | FileCheck %s
// RUN: furiosa-opt-mlir %s --mlir-print-op-generic | furiosa-opt-mlir | FileCheck %s

// Units that convert, exchange and turn the stream.

// CHECK-LABEL: func.func @exchange
func.func @exchange(%a: !lir.mem<dm, 64>, %w: !lir.mem<trf, 256, lanes 8>, %c: !lir.mem<dm, 512>) {
  // A read of 4 bytes becomes 8, then 32; each packet reaches four slices.
  // CHECK: table_lookup f4E2M1FN to f8E4M3FN
  // CHECK-NEXT: fetch_adapter cast f8E4M3FN to f32
  // CHECK-NEXT: switch broadcast1 slices [16, 4, 4] time0 1
  // CHECK-NEXT: collect flits_per_packet 1
  // CHECK-NEXT: commit_adapter in 32 keep 32 cast f32_to_bf16_relu
  lir.exec main {
    fetch_sequencer %a loops [4 : 4] read 4 packet 32 flits 4 : !lir.mem<dm, 64>
    table_lookup f4E2M1FN to f8E4M3FN
    fetch_adapter cast f8E4M3FN to f32
    switch broadcast1 slices [16, 4, 4] time0 1
    collect flits_per_packet 1
    commit_adapter in 32 keep 32 cast f32_to_bf16_relu
    commit_sequencer %c loops [16 : 16] write 16 slices [0, 255] : !lir.mem<dm, 512>
  }
  // A packet of 20 bytes; two flits of eight cells turned into eight of two.
  // CHECK: fetch_sequencer %{{.*}} loops [2 : 20, 5 : 4] read 4 packet 20 flits 2 : !lir.mem<dm, 64>
  // CHECK-NEXT: collect flits_per_packet 1
  // CHECK-NEXT: transpose rows 2 columns 8 out_rows 8 bits 32
  // CHECK-NEXT: commit_adapter in 32 keep 8
  lir.exec main {
    fetch_sequencer %a loops [2 : 20, 5 : 4] read 4 packet 20 flits 2 : !lir.mem<dm, 64>
    collect flits_per_packet 1
    transpose rows 2 columns 8 out_rows 8 bits 32
    commit_adapter in 32 keep 8
    commit_sequencer %c loops [8 : 8] write 8 slices [0, 255] : !lir.mem<dm, 512>
  }
  // CHECK: zero_point_sub -3 i8 to i9
  // CHECK-NEXT: collect
  // CHECK-NEXT: feed_buffer RawInt9 Flit1 stream [time 2, packet 32] weight RawInt8 [lane 8, element 32] promoted RawInt9
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 64>
    zero_point_sub -3 i8 to i9
    collect flits_per_packet 1
    feed_buffer RawInt9 Flit1 stream [time 2, packet 32] weight RawInt8 [lane 8, element 32] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [2 : 0] read 32 broadcast 0 : !lir.mem<trf, 256, lanes 8>
    packet_reducer add depth 5 columns 1 to i32
    time_reducer slots 1 count 1 strides [0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 255] : !lir.mem<dm, 512>
  }
  // CHECK: custom_switch ring 4 slices [64 : 4, 4 : 0] packets [4 : 1]
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 64>
    custom_switch ring 4 slices [64 : 4, 4 : 0] packets [4 : 1]
    collect flits_per_packet 1
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [8 : 32] write 32 slices [0, 255] : !lir.mem<dm, 512>
  }
  // CHECK: commit_adapter in 32 keep 16 cast f32_to_bf16
  lir.exec main {
    fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 64>
    collect flits_per_packet 1
    commit_adapter in 32 keep 16 cast f32_to_bf16
    commit_sequencer %c loops [2 : 8] write 8 slices [0, 255] : !lir.mem<dm, 512>
  }
  return
}
