// RUN: furiosa-opt-mlir %s --verify-roundtrip | FileCheck %s
// RUN: furiosa-opt-mlir %s --mlir-print-op-generic | furiosa-opt-mlir | FileCheck %s
// RUN: furiosa-opt-mlir %s --cse --canonicalize --loop-invariant-code-motion | FileCheck %s --check-prefix=KEEP

// The first kernel: 512 x 512 x 64 in int8, one chain per context.

// CHECK-LABEL: func.func @gemm_i8
// KEEP-LABEL: func.func @gemm_i8
func.func @gemm_i8(%in_a: !lir.mem<hbm, 32768>, %in_b: !lir.mem<hbm, 32768>) -> !lir.mem<hbm, 1048576> attributes {lir.release = "0.6"} {
  // CHECK: %[[A:.*]] = lir.alloc : !lir.mem<dm, 2048>
  %a = lir.alloc : !lir.mem<dm, 2048>
  %b = lir.alloc : !lir.mem<dm, 2048>
  // CHECK: lir.dma %{{.*}} to %[[A]] engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [4 : 2048 : 67108864, 16 : 0 : 4194304] packet 2048>, #lir.engine<cluster 0 pe 1 from 8192 to 0 loops [4 : 2048 : 67108864, 16 : 0 : 4194304] packet 2048>] : !lir.mem<hbm, 32768>, !lir.mem<dm, 2048>
  lir.dma %in_a to %a engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [4 : 2048 : 67108864, 16 : 0 : 4194304] packet 2048>,
                               #lir.engine<cluster 0 pe 1 from 8192 to 0 loops [4 : 2048 : 67108864, 16 : 0 : 4194304] packet 2048>]
    : !lir.mem<hbm, 32768>, !lir.mem<dm, 2048>
  lir.dma %in_b to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 2048>] : !lir.mem<hbm, 32768>, !lir.mem<dm, 2048>
  // CHECK: %[[W:.*]] = lir.alloc : !lir.mem<trf, 2048, lanes 8>
  %w = lir.alloc : !lir.mem<trf, 2048, lanes 8>
  // CHECK: lir.exec sub {
  // CHECK-NEXT: fetch_sequencer %{{.*}} loops [8 : 64, 4 : 512, 8 : 8] read 8 packet 64 flits 64 : !lir.mem<dm, 2048>
  // CHECK-NEXT: collect flits_per_packet 2
  // CHECK-NEXT: trf_store %[[W]] rows_per_lane 8 : !lir.mem<trf, 2048, lanes 8>
  // CHECK-NEXT: }
  // KEEP: lir.exec sub {
  // KEEP-NEXT: fetch_sequencer
  // KEEP-NEXT: collect
  // KEEP-NEXT: trf_store
  lir.exec sub {
    fetch_sequencer %b loops [8 : 64, 4 : 512, 8 : 8] read 8 packet 64 flits 64 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    trf_store %w rows_per_lane 8 : !lir.mem<trf, 2048, lanes 8>
  }
  %c = lir.alloc : !lir.mem<dm, 4096>
  // CHECK: lir.exec main {
  // CHECK-NEXT: fetch_sequencer %[[A]] loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
  // CHECK-NEXT: collect flits_per_packet 2
  // CHECK-NEXT: feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
  // CHECK-NEXT: trf_sequencer %[[W]] loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
  // CHECK-NEXT: packet_reducer add depth 6 columns 1 to i32
  // CHECK-NEXT: time_reducer slots 1 count 1 strides [0, 0]
  // CHECK-NEXT: lane_folder interleaved live 8
  // CHECK-NEXT: commit_adapter in 32 keep 32
  // CHECK-NEXT: commit_sequencer %{{.*}} loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  // CHECK-NEXT: }
  lir.exec main {
    fetch_sequencer %a loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
    collect flits_per_packet 2
    feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
    trf_sequencer %w loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
    packet_reducer add depth 6 columns 1 to i32
    time_reducer slots 1 count 1 strides [0, 0]
    lane_folder interleaved live 8
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>
  }
  %o = lir.alloc : !lir.mem<hbm, 1048576>
  lir.dma %c to %o engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 4194304 : 2048, 32 : 128 : 64] packet 128>] : !lir.mem<dm, 4096>, !lir.mem<hbm, 1048576>
  return %o : !lir.mem<hbm, 1048576>
}

// Sums over time in four slots, a broadcast packet, bases, a narrowing cast.

// CHECK-LABEL: func.func @slots
func.func @slots(%a: !lir.mem<dm, 4096>, %w: !lir.mem<trf, 4096, lanes 2>, %c: !lir.mem<dm, 1024>) {
  // CHECK: fetch_sequencer %{{.*}} base 64 loops [32 : 32] read 32 packet 32 flits 32 : !lir.mem<dm, 4096>
  // CHECK: trf_sequencer %{{.*}} base 128 loops [2 : 0, 16 : 64, 4 : 32] read 32 broadcast 1 : !lir.mem<trf, 4096, lanes 2>
  // CHECK: time_reducer slots 4 count 16 strides [0, 0, 1]
  // CHECK: lane_folder sequential live 2
  // CHECK: cast f32 to bf16
  // CHECK: commit_sequencer %{{.*}} base 8 loops [16 : 64] write 16 slices [0, 63, 128, 191] : !lir.mem<dm, 1024>
  lir.exec main {
    fetch_sequencer %a base 64 loops [32 : 32] read 32 packet 32 flits 32 : !lir.mem<dm, 4096>
    collect flits_per_packet 1
    feed_buffer RawBF16 Flit1 stream [time 128, packet 16] weight RawBF16 [lane 2, element 1024] promoted RawBF16 lane_broadcast 2 time_broadcast 4
    trf_sequencer %w base 128 loops [2 : 0, 16 : 64, 4 : 32] read 32 broadcast 1 : !lir.mem<trf, 4096, lanes 2>
    packet_reducer add depth 4 columns 1 to f32
    time_reducer slots 4 count 16 strides [0, 0, 1]
    lane_folder sequential live 2
    cast f32 to bf16
    commit_adapter in 32 keep 16
    commit_sequencer %c base 8 loops [16 : 64] write 16 slices [0, 63, 128, 191] : !lir.mem<dm, 1024>
  }
  return
}

// Vector passes: immediate and register-file operands, a fetch conversion.

// CHECK-LABEL: func.func @vector
func.func @vector(%a: !lir.mem<dm, 64>, %c: !lir.mem<dm, 64>) {
  // CHECK: %[[V:.*]] = lir.alloc : !lir.mem<vrf, 32>
  %v = lir.alloc : !lir.mem<vrf, 32>
  // CHECK: vrf_store %[[V]] rows 1 : !lir.mem<vrf, 32>
  lir.exec sub {
    fetch_sequencer %a loops [4 : 8] read 8 packet 32 flits 1 : !lir.mem<dm, 64>
    collect flits_per_packet 1
    vrf_store %v rows 1 : !lir.mem<vrf, 32>
  }
  // CHECK: fetch_adapter cast i8 to i32
  // CHECK: vector_alu fxp_add add [imm -1]
  // CHECK-NEXT: vector_alu fxp_mul mul_int [vrf %[[V]] loops [2 : 0, 8 : 4]] : !lir.mem<vrf, 32>
  // CHECK-NEXT: commit_adapter in 32 keep 32
  lir.exec main {
    fetch_sequencer %a loops [2 : 8] read 8 packet 32 flits 2 : !lir.mem<dm, 64>
    fetch_adapter cast i8 to i32
    collect flits_per_packet 1
    vector_alu fxp_add add [imm -1]
    vector_alu fxp_mul mul_int [vrf %v loops [2 : 0, 8 : 4]] : !lir.mem<vrf, 32>
    commit_adapter in 32 keep 32
    commit_sequencer %c loops [2 : 32] write 32 slices [0, 0] : !lir.mem<dm, 64>
  }
  // A copy through the sub context writes words of 8 bytes.
  // CHECK: commit_sequencer %{{.*}} loops [2 : 32, 2 : 8] write 8 slices [0, 3] {note = "x"} : !lir.mem<dm, 64>
  lir.exec sub attributes {note = "y"} {
    fetch_sequencer %a loops [8 : 8] read 8 packet 32 flits 2 : !lir.mem<dm, 64>
    collect flits_per_packet 1
    commit_adapter in 32 keep 16
    commit_sequencer %c loops [2 : 32, 2 : 8] write 8 slices [0, 3] {note = "x"} : !lir.mem<dm, 64>
  }
  return
}

// CHECK-LABEL: func.func @offsets
func.func @offsets(%m: !lir.mem<hbm, 16777216>, %d: !lir.mem<dm, 1024>, %i: index) {
  // CHECK: lir.dma %{{.*}}[%{{.*}}] to %{{.*}} engines [#lir.engine<cluster 1 pe 3 from 196608 to 0 loops [64 : 1024 : 4194304] packet 1024>]
  lir.dma %m[%i] to %d engines [#lir.engine<cluster 1 pe 3 from 196608 to 0 loops [64 : 1024 : 4194304] packet 1024>] : !lir.mem<hbm, 16777216>, !lir.mem<dm, 1024>
  // CHECK: lir.dma %{{.*}} to %{{.*}}[%{{.*}}] engines
  lir.dma %d to %m[%i] engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 2>] : !lir.mem<dm, 1024>, !lir.mem<hbm, 16777216>
  return
}

// Limits of every tier.

// CHECK-LABEL: func.func private @limits
// CHECK-SAME: !lir.mem<hbm, 51535413248>, !lir.mem<dm, 524288>, !lir.mem<trf, 65536, lanes 8>, !lir.mem<trf, 65536>, !lir.mem<vrf, 8192>
func.func private @limits(!lir.mem<hbm, 51535413248>, !lir.mem<dm, 524288>, !lir.mem<trf, 65536, lanes 8>, !lir.mem<trf, 65536, lanes 1>, !lir.mem<vrf, 8192>)
