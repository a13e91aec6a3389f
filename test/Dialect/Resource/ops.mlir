// RUN: furiosa-opt-mlir %s --verify-roundtrip | FileCheck %s
// RUN: furiosa-opt-mlir %s --mlir-print-op-generic | furiosa-opt-mlir | FileCheck %s

// CHECK-LABEL: resource.program @empty pes 4 clusters [0] release "0.6" makespan 600 lower_bound 600 {
// CHECK-NEXT: }
resource.program @empty pes 4 clusters [0] release "0.6" makespan 600 lower_bound 600 {
}

// Before scheduling: tokens, no address, no cycle.

// CHECK-LABEL: resource.program @unscheduled pes 1 clusters [0, 1] release "0.4" attributes {note = "x"} {
resource.program @unscheduled pes 1 clusters [0, 1] release "0.4" attributes {note = "x"} {
  // CHECK-NEXT: %[[A:.*]] = resource.argument 0 input "a" : !lir.mem<hbm, 8192> as #resource.operand<i8, chip "1", element "A", axes ["A"] sizes [8192]>
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192> as #resource.operand<i8, chip "1", element "A", axes ["A"] sizes [8192]>
  // CHECK-NEXT: resource.argument 1 inout "b" : !lir.mem<hbm, 4> as #resource.operand<f32, chip "1", element "1", axes [] sizes []>
  %b = resource.argument 1 inout "b" : !lir.mem<hbm, 4> as #resource.operand<f32, chip "1", element "1", axes [] sizes []>
  // CHECK-NEXT: resource.argument 2 output "result" : !lir.mem<hbm, 8192>
  %o = resource.argument 2 output "result" : !lir.mem<hbm, 8192>
  // CHECK-NEXT: resource.argument 3 scratch "s" : !lir.mem<hbm, 64>
  %s = resource.argument 3 scratch "s" : !lir.mem<hbm, 64>
  // CHECK-NEXT: %[[D:.*]] = resource.buffer : !lir.mem<dm, 32>
  %d = resource.buffer : !lir.mem<dm, 32>
  // CHECK-NEXT: %[[T0:.*]] = resource.issue dma {
  // CHECK-NEXT: lir.dma %[[A]] to %[[D]] engines
  // CHECK-NEXT: } : !resource.token
  %t0 = resource.issue dma {
    lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<dm, 32>
  } : !resource.token
  // CHECK: %[[T1:.*]] = resource.loop 4 after [%[[T0]]] {
  %t1 = resource.loop 4 after [%t0] {
    // CHECK-NEXT: %[[T2:.*]] = resource.issue dma tag 63 advance [0, 2048] attributes {note = 1 : i64} {
    %t2 = resource.issue dma tag 63 advance [0, 2048] attributes {note = 1} {
      lir.dma %d to %o engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 4194304 : 32] packet 32>] : !lir.mem<dm, 32>, !lir.mem<hbm, 8192>
    } : !resource.token
    // CHECK: resource.issue main after [%[[T2]]] {
    // CHECK-NEXT: lir.exec main {
    // CHECK-NEXT: fetch_sequencer
    resource.issue main after [%t2] {
      lir.exec main {
        fetch_sequencer %d loops [1 : 0] read 32 packet 32 flits 1 : !lir.mem<dm, 32>
        collect flits_per_packet 1
        vector_alu fxp_add add [imm 1]
        commit_adapter in 32 keep 32
        commit_sequencer %d loops [1 : 0] write 32 slices [0, 63] : !lir.mem<dm, 32>
      }
    }
  } : !resource.token
}

// CHECK-LABEL: resource.program @scheduled pes 4 clusters [1] release "0.6" makespan 2397 lower_bound 2395 {
resource.program @scheduled pes 4 clusters [1] release "0.6" makespan 2397 lower_bound 2395 {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192>
  // CHECK: resource.buffer at 2048 live [1003, 1797] : !lir.mem<dm, 32>
  %d = resource.buffer at 2048 live [1003, 1797] : !lir.mem<dm, 32>
  // CHECK: resource.buffer at 8128 live [0, 0] : !lir.mem<trf, 512, lanes 8>
  %w = resource.buffer at 8128 live [0, 0] : !lir.mem<trf, 512, lanes 8>
  // CHECK: resource.loop 2 cycles 897 {
  // CHECK-NEXT: resource.issue dma tag 0 cycles [0, 792] advance [4096, 0] {
  resource.loop 2 cycles 897 {
    resource.issue dma tag 0 cycles [0, 792] advance [4096, 0] {
      lir.dma %a to %d engines [#lir.engine<cluster 1 pe 3 from 0 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<dm, 32>
    }
    // CHECK: resource.wait dma tag 0
    resource.wait dma tag 0
    // CHECK-NEXT: resource.wait main
    resource.wait main
    // CHECK-NEXT: resource.wait sub
    resource.wait sub
  }
}
