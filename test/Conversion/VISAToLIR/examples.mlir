// The example kernels. `a : b` in loops is a steps of b bytes.
// RUN: furiosa-opt-mlir %S/../../../examples/constant_add.mlir -convert-visa-to-lir | FileCheck %s --check-prefix=ADD
// RUN: furiosa-opt-mlir %S/../../../examples/elementwise_mul.mlir -convert-visa-to-lir | FileCheck %s --check-prefix=MUL
// RUN: furiosa-opt-mlir %S/../../../examples/gemm_i8.mlir -convert-visa-to-lir | FileCheck %s --check-prefix=I8
// RUN: furiosa-opt-mlir %S/../../../examples/gemm_bf16.mlir -convert-visa-to-lir | FileCheck %s --check-prefix=BF16
// RUN: furiosa-opt-mlir %S/../../../examples/gemv_tiled.mlir -convert-visa-to-lir | FileCheck %s --check-prefix=GEMV

// 32 bytes a slice: one read, one flit, one write. PE p moves slices 64 p to
// 64 p + 63, 2048 bytes of HBM.
// ADD: func.func @constant_add(%[[A:.*]]: !lir.mem<hbm, 8192> {lir.operand = #resource.operand<i32, chip "1", element "A", axes ["A"] sizes [2048]>})
// ADD-SAME: -> (!lir.mem<hbm, 8192> {lir.operand = #resource.operand<i32, chip "1", element "A", axes ["A"] sizes [2048]>})
// ADD-SAME: attributes {lir.clusters = array<i64: 0>, lir.pes = 4 : i64, lir.release = "0.6", visa.kernel}
// ADD-NEXT: %[[D:.*]] = lir.alloc : !lir.mem<dm, 32>
// ADD-NEXT: lir.dma %[[A]] to %[[D]] engines [
// ADD-SAME: #lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>,
// ADD-SAME: #lir.engine<cluster 0 pe 1 from 2048 to 0 loops [64 : 32 : 4194304] packet 32>,
// ADD-SAME: #lir.engine<cluster 0 pe 2 from 4096 to 0 loops [64 : 32 : 4194304] packet 32>,
// ADD-SAME: #lir.engine<cluster 0 pe 3 from 6144 to 0 loops [64 : 32 : 4194304] packet 32>]
// ADD-NEXT: %[[R:.*]] = lir.alloc : !lir.mem<dm, 32>
// ADD-NEXT: lir.exec main {
// ADD-NEXT:   fetch_sequencer %[[D]] loops [] read 32 packet 32 flits 1 : !lir.mem<dm, 32>
// ADD-NEXT:   collect flits_per_packet 1
// ADD-NEXT:   vector_alu fxp_add add [imm 1]
// ADD-NEXT:   commit_adapter in 32 keep 32
// ADD-NEXT:   commit_sequencer %[[R]] loops [] write 32 slices [0, 255] : !lir.mem<dm, 32>
// ADD-NEXT: }
// ADD-NEXT: %[[O:.*]] = lir.alloc : !lir.mem<hbm, 8192>
// ADD-NEXT: lir.dma %[[R]] to %[[O]] engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 4194304 : 32] packet 32>,
// ADD-NEXT: return %[[O]] : !lir.mem<hbm, 8192>

// The sub context reads 8 bytes at a time: 4 reads make the flit. The operand
// of the multiplication is read element by element.
// MUL: lir.exec sub {
// MUL-NEXT:   fetch_sequencer %{{.*}} loops [4 : 8] read 8 packet 32 flits 1 : !lir.mem<dm, 32>
// MUL-NEXT:   collect flits_per_packet 1
// MUL-NEXT:   vrf_store %[[V:.*]] rows 1 : !lir.mem<vrf, 32>
// MUL-NEXT: }
// MUL: lir.exec main {
// MUL-NEXT:   fetch_sequencer %{{.*}} loops [] read 32 packet 32 flits 1 : !lir.mem<dm, 32>
// MUL-NEXT:   collect flits_per_packet 1
// MUL-NEXT:   vector_alu fxp_mul mul_int [vrf %[[V]] loops [8 : 4]] : !lir.mem<vrf, 32>
// MUL-NEXT:   commit_adapter in 32 keep 32
// MUL-NEXT:   commit_sequencer %{{.*}} loops [] write 32 slices [0, 255] : !lir.mem<dm, 32>

// Weight: 8 lanes, each 4 rows of K of 64 bytes; 256 reads of 8 bytes make 64
// flits. Stream: 32 rows of 64 bytes, each sent for 4 groups of 8 columns.
// I8: lir.exec sub {
// I8-NEXT:   fetch_sequencer %{{.*}} loops [8 : 64, 4 : 512, 8 : 8] read 8 packet 64 flits 64 : !lir.mem<dm, 2048>
// I8-NEXT:   collect flits_per_packet 2
// I8-NEXT:   trf_store %[[W:.*]] rows_per_lane 8 : !lir.mem<trf, 2048, lanes 8>
// I8-NEXT: }
// I8: lir.exec main {
// I8-NEXT:   fetch_sequencer %{{.*}} loops [32 : 64, 4 : 0, 2 : 32] read 32 packet 64 flits 256 : !lir.mem<dm, 2048>
// I8-NEXT:   collect flits_per_packet 2
// I8-NEXT:   feed_buffer RawInt8 Flit2 stream [time 128, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 1
// I8-NEXT:   trf_sequencer %[[W]] loops [32 : 0, 4 : 64] read 64 broadcast 0 : !lir.mem<trf, 2048, lanes 8>
// I8-NEXT:   packet_reducer add depth 6 columns 1 to i32
// I8-NEXT:   time_reducer slots 1 count 1 strides [0, 0]
// I8-NEXT:   lane_folder interleaved live 8
// I8-NEXT:   commit_adapter in 32 keep 32
// I8-NEXT:   commit_sequencer %{{.*}} loops [128 : 32] write 32 slices [0, 255] : !lir.mem<dm, 4096>

// K is 128 bytes: two packets of 64, summed over time. 8 results of bf16 are 16
// bytes.
// BF16: lir.exec sub {
// BF16-NEXT:   fetch_sequencer %{{.*}} loops [8 : 128, 4 : 1024, 16 : 8] read 8 packet 128 flits 128 : !lir.mem<dm, 4096>
// BF16-NEXT:   collect flits_per_packet 4
// BF16-NEXT:   trf_store %[[W:.*]] rows_per_lane 16 : !lir.mem<trf, 4096, lanes 8>
// BF16-NEXT: }
// BF16: lir.exec main {
// BF16-NEXT:   fetch_sequencer %{{.*}} loops [32 : 128, 4 : 0, 4 : 32] read 32 packet 128 flits 512 : !lir.mem<dm, 4096>
// BF16-NEXT:   collect flits_per_packet 4
// BF16-NEXT:   feed_buffer RawBF16 Flit2 stream [time 256, packet 32] weight RawBF16 [lane 8, element 256] promoted RawBF16 lane_broadcast 8 time_broadcast 1
// BF16-NEXT:   trf_sequencer %[[W]] loops [32 : 0, 8 : 64] read 64 broadcast 0 : !lir.mem<trf, 4096, lanes 8>
// BF16-NEXT:   packet_reducer add depth 5 columns 1 to f32
// BF16-NEXT:   time_reducer slots 1 count 2 strides [0, 0]
// BF16-NEXT:   lane_folder interleaved live 8
// BF16-NEXT:   cast f32 to bf16
// BF16-NEXT:   commit_adapter in 32 keep 16
// BF16-NEXT:   commit_sequencer %{{.*}} loops [128 : 16] write 16 slices [0, 255] : !lir.mem<dm, 2048>

// The window of tile i begins at i * 2048 * 64 * 2 bytes of the matrix and at
// i * 2048 * 4 bytes of the result.
// GEMV: %[[Y:.*]] = lir.alloc : !lir.mem<hbm, 524288>
// GEMV: lir.dma %{{.*}} to %{{.*}} engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 0 : 4194304] packet 128>
// GEMV: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step
// GEMV-DAG:   %[[STEP:.*]] = arith.constant 262144 : index
// GEMV-DAG:   %[[MD:.*]] = lir.alloc : !lir.mem<dm, 1024>
// GEMV:       %[[OFF:.*]] = arith.muli %[[I]], %[[STEP]] : index
// GEMV-NEXT:  lir.dma %{{.*}}[%[[OFF]]] to %[[MD]] engines [
// GEMV-SAME:  #lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 1024 : 4194304] packet 1024>,
// GEMV-SAME:  #lir.engine<cluster 0 pe 1 from 65536 to 0 loops [64 : 1024 : 4194304] packet 1024>,
// GEMV-SAME:  : !lir.mem<hbm, 16777216>, !lir.mem<dm, 1024>
// GEMV:       lir.exec sub {
// GEMV-NEXT:    fetch_sequencer %[[MD]] loops [8 : 128, 16 : 8] read 8 packet 128 flits 32 : !lir.mem<dm, 1024>
// GEMV-NEXT:    collect flits_per_packet 4
// GEMV-NEXT:    trf_store %[[W:.*]] rows_per_lane 4 : !lir.mem<trf, 1024, lanes 8>
// GEMV:       lir.exec main {
// GEMV-NEXT:    fetch_sequencer %{{.*}} loops [4 : 32] read 32 packet 128 flits 4 : !lir.mem<dm, 128>
// GEMV-NEXT:    collect flits_per_packet 4
// GEMV-NEXT:    feed_buffer RawBF16 Flit2 stream [time 2, packet 32] weight RawBF16 [lane 8, element 64] promoted RawBF16 lane_broadcast 8 time_broadcast 1
// GEMV-NEXT:    trf_sequencer %[[W]] loops [2 : 64] read 64 broadcast 0 : !lir.mem<trf, 1024, lanes 8>
// GEMV-NEXT:    packet_reducer add depth 5 columns 1 to f32
// GEMV-NEXT:    time_reducer slots 1 count 2 strides [0]
// GEMV-NEXT:    lane_folder interleaved live 8
// GEMV-NEXT:    commit_adapter in 32 keep 32
// GEMV-NEXT:    commit_sequencer %[[YD:.*]] loops [] write 32 slices [0, 255] : !lir.mem<dm, 32>
// GEMV:       %[[YSTEP:.*]] = arith.constant 8192 : index
// GEMV-NEXT:  %[[YOFF:.*]] = arith.muli %[[I]], %[[YSTEP]] : index
// GEMV-NEXT:  lir.dma %[[YD]] to %[[Y]][%[[YOFF]]] engines [
// GEMV-SAME:  #lir.engine<cluster 0 pe 3 from 0 to 6144 loops [64 : 4194304 : 32] packet 32>]
// GEMV:     return %[[Y]] : !lir.mem<hbm, 524288>
