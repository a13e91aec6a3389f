// RUN: furiosa-opt-mlir %s --resource-schedule | FileCheck %s
// RUN: furiosa-opt-mlir %s --resource-schedule --resource-verify-schedule --verify-roundtrip | FileCheck %s
// RUN: furiosa-opt-mlir %s --resource-schedule --resource-schedule --resource-verify-schedule | FileCheck %s --check-prefix=AGAIN

// Scheduled anew, a schedule is as good as it was.
// AGAIN: @constant_add {{.*}} makespan 6856
// AGAIN: @overlap {{.*}} makespan 2798
// AGAIN: @loop {{.*}} makespan 17827

// 64 rows of 32 bytes: 2 x 64 cycles in the networks of the PE; 8 reads in each
// of 8 channels, 16 / 3 cycles for the first and twice that for the others,
// half of which the networks hide; 500 to start. The pass takes one beat and 281.
// Each store but the first of a channel rewrites a block: 50 times as much.

// CHECK-LABEL: resource.program @constant_add pes 1 clusters [0] release "0.6" makespan 6856 lower_bound 6856 {
// CHECK: resource.buffer at 0 live [1003, 1953] : !lir.mem<dm, 32>
// CHECK-NEXT: resource.buffer at 32 live [1671, 6256] : !lir.mem<dm, 32>
// CHECK-NEXT: resource.issue dma tag 0 cycles [1003, 1671] {
// CHECK: resource.wait dma tag 0
// CHECK-NEXT: resource.issue main cycles [1671, 1953] attributes {note = "kept"} {
// CHECK: resource.wait main
// CHECK-NEXT: resource.issue dma tag 0 cycles [1953, 6256] {
// CHECK: resource.wait dma tag 0
// CHECK-NEXT: }
resource.program @constant_add pes 1 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 2048>
  %o = resource.argument 1 output "o" : !lir.mem<hbm, 2048>
  %d = resource.buffer : !lir.mem<dm, 32>
  %r = resource.buffer : !lir.mem<dm, 32>
  %t0 = resource.issue dma {
    lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 2048>, !lir.mem<dm, 32>
  } : !resource.token
  %t1 = resource.issue main after [%t0] attributes {note = "kept"} {
    lir.exec main {
      fetch_sequencer %d loops [1 : 0] read 32 packet 32 flits 1 : !lir.mem<dm, 32>
      collect flits_per_packet 1
      vector_alu fxp_add add [imm 1]
      commit_adapter in 32 keep 32
      commit_sequencer %r loops [1 : 0] write 32 slices [0, 63] : !lir.mem<dm, 32>
    }
  } : !resource.token
  resource.issue dma after [%t1] {
    lir.dma %r to %o engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 4194304 : 32] packet 32>] : !lir.mem<dm, 32>, !lir.mem<hbm, 2048>
  }
}

// The preload runs beside the second transfer, which came first in program
// order; each transfer has a tag of its own while both are under way.

// CHECK-LABEL: resource.program @overlap
// CHECK-SAME: makespan 2798 lower_bound 2798 {
// CHECK: resource.buffer at {{[0-9]+}} live [1650, 2198] : !lir.mem<dm, 64>
// CHECK-NEXT: resource.buffer at 0 live [1003, 1921] : !lir.mem<dm, 64>
// CHECK: resource.issue dma tag 0 cycles [1003, 1650] {
// CHECK-NEXT: lir.dma %[[B:.*]] to
// CHECK: resource.issue dma tag 1 cycles [1650, 2198]
// CHECK: resource.wait dma tag 0
// CHECK-NEXT: resource.issue sub cycles [1650, 1921]
resource.program @overlap pes 1 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 4096>
  %b = resource.argument 1 input "b" : !lir.mem<hbm, 4096>
  %d = resource.buffer : !lir.mem<dm, 64>
  %e = resource.buffer : !lir.mem<dm, 64>
  %v = resource.buffer : !lir.mem<vrf, 64>
  resource.issue dma {
    lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [10 : 64 : 4194304] packet 64>] : !lir.mem<hbm, 4096>, !lir.mem<dm, 64>
  }
  resource.issue dma {
    lir.dma %b to %e engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 64 : 4194304] packet 64>] : !lir.mem<hbm, 4096>, !lir.mem<dm, 64>
  }
  resource.issue sub {
    lir.exec sub {
      fetch_sequencer %e loops [8 : 8] read 8 packet 64 flits 2 : !lir.mem<dm, 64>
      collect flits_per_packet 2
      vrf_store %v rows 2 : !lir.mem<vrf, 64>
    }
  }
}

// A loop is drained at its back edge; its commands count from its start.

// CHECK-LABEL: resource.program @loop
// CHECK: resource.buffer at 0 live [1003, 17227] : !lir.mem<dm, 64>
// CHECK: resource.loop 16 cycles 1014 {
// CHECK-NEXT: resource.issue dma tag 0 cycles [0, 507] advance [64, 0] {
// CHECK: resource.wait dma tag 0
// CHECK-NEXT: resource.issue dma tag 0 cycles [507, 1014] advance [0, 64] {
// CHECK: resource.wait dma tag 0
// CHECK-NEXT: }
// CHECK-NEXT: }
resource.program @loop pes 1 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 1024>
  %o = resource.argument 1 output "o" : !lir.mem<hbm, 1024>
  %d = resource.buffer : !lir.mem<dm, 64>
  resource.loop 16 {
    resource.issue dma advance [64, 0] {
      lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 64>] : !lir.mem<hbm, 1024>, !lir.mem<dm, 64>
    }
    resource.issue dma advance [0, 64] {
      lir.dma %d to %o engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 64>] : !lir.mem<dm, 64>, !lir.mem<hbm, 1024>
    }
  }
}

// Fixed addresses stay.

// CHECK-LABEL: resource.program @fixed
// CHECK: resource.buffer at 64 live
// CHECK-NEXT: resource.buffer at 96 live
resource.program @fixed pes 1 clusters [0] release "0.6" {
  %d = resource.buffer at 64 : !lir.mem<dm, 32>
  %r = resource.buffer : !lir.mem<dm, 520000>
  resource.issue main {
    lir.exec main {
      fetch_sequencer %d loops [2 : 0] read 32 packet 32 flits 2 : !lir.mem<dm, 32>
      collect flits_per_packet 1
      commit_adapter in 32 keep 32
      commit_sequencer %r loops [2 : 32] write 32 slices [0, 63] : !lir.mem<dm, 520000>
    }
  }
}

// CHECK-LABEL: resource.program @empty
// CHECK-SAME: makespan 600 lower_bound 600 {
resource.program @empty pes 4 clusters [0, 1] release "0.6" {
}
