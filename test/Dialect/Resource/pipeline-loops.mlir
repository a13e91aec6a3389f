// RUN: furiosa-opt-mlir %s --resource-pipeline-loops | FileCheck %s
// RUN: furiosa-opt-mlir %s --resource-pipeline-loops --resource-schedule --resource-verify-schedule | FileCheck %s --check-prefix=SCHEDULED

// The load of the next row stands under the work on this one, the store of the
// last one, too. Three buffers, two copies each; sixteen trips become two rounds
// in front, seven times two, and two behind.

// CHECK-LABEL: resource.program @rows
// CHECK-COUNT-4: resource.buffer
// CHECK-NOT: resource.buffer
// CHECK: from 0 to 0
// CHECK: advance [128, 0]

// SCHEDULED-LABEL: resource.program @rows
// SCHEDULED: resource.loop 7 cycles
resource.program @rows pes 1 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 1024>
  %o = resource.argument 1 output "o" : !lir.mem<hbm, 1024>
  %d = resource.buffer : !lir.mem<dm, 64>
  %r = resource.buffer : !lir.mem<dm, 64>
  resource.loop 16 {
    resource.issue dma advance [64, 0] {
      lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 0 : 4194304] packet 64>] : !lir.mem<hbm, 1024>, !lir.mem<dm, 64>
    }
    resource.issue main {
      lir.exec main {
        fetch_sequencer %d loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 64>
        collect flits_per_packet 1
        vector_alu fxp_add add [imm 1]
        commit_adapter in 32 keep 32
        commit_sequencer %r loops [2 : 32] write 32 slices [0, 63] : !lir.mem<dm, 64>
      }
    }
    resource.issue dma advance [0, 64] {
      lir.dma %r to %o engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 64>] : !lir.mem<dm, 64>, !lir.mem<hbm, 1024>
    }
  }
}

// What an iteration leaves for the next one stays in one buffer, so that there
// is nothing to gain.

// CHECK-LABEL: resource.program @carried
// CHECK-COUNT-1: resource.buffer
// CHECK-NOT: resource.buffer
// CHECK: resource.loop 16
resource.program @carried pes 1 clusters [0] release "0.6" {
  %o = resource.argument 0 output "o" : !lir.mem<hbm, 1024>
  %r = resource.buffer : !lir.mem<dm, 64>
  resource.loop 16 {
    resource.issue main {
      lir.exec main {
        fetch_sequencer %r loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 64>
        collect flits_per_packet 1
        vector_alu fxp_add add [imm 1]
        commit_adapter in 32 keep 32
        commit_sequencer %r loops [2 : 32] write 32 slices [0, 63] : !lir.mem<dm, 64>
      }
    }
    resource.issue dma advance [0, 64] {
      lir.dma %r to %o engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 64>] : !lir.mem<dm, 64>, !lir.mem<hbm, 1024>
    }
  }
}

// A fixed order stays.

// CHECK-LABEL: resource.program @fixed
// CHECK: resource.loop 16 attributes {resource.keep_order} {
resource.program @fixed pes 1 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 1024>
  %o = resource.argument 1 output "o" : !lir.mem<hbm, 1024>
  %d = resource.buffer : !lir.mem<dm, 64>
  resource.loop 16 attributes {resource.keep_order} {
    resource.issue dma advance [64, 0] {
      lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 64>] : !lir.mem<hbm, 1024>, !lir.mem<dm, 64>
    }
    resource.issue dma advance [0, 64] {
      lir.dma %d to %o engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 64>] : !lir.mem<dm, 64>, !lir.mem<hbm, 1024>
    }
  }
}
