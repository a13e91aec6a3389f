// Of several loops each is changed if that makes the program shorter.
// RUN: furiosa-opt-mlir %s --resource-pipeline-loops --resource-schedule --resource-verify-schedule | FileCheck %s

// The one in the middle has a single command.

// CHECK-LABEL: resource.program @some
// CHECK-DAG: resource.loop 16 cycles
// CHECK-DAG: resource.loop 7 cycles
// CHECK-DAG: resource.loop 7 cycles
// CHECK-NOT: resource.loop
resource.program @some pes 1 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 1024>
  %o = resource.argument 1 output "o" : !lir.mem<hbm, 1024>
  %d = resource.buffer : !lir.mem<dm, 64>
  %r = resource.buffer : !lir.mem<dm, 64>
  %c = resource.buffer : !lir.mem<dm, 64>
  %e = resource.buffer : !lir.mem<dm, 64>
  %s = resource.buffer : !lir.mem<dm, 64>
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
  resource.loop 16 {
    resource.issue main {
      lir.exec main {
        fetch_sequencer %c loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 64>
        collect flits_per_packet 1
        vector_alu fxp_add add [imm 1]
        commit_adapter in 32 keep 32
        commit_sequencer %c loops [2 : 32] write 32 slices [0, 63] : !lir.mem<dm, 64>
      }
    }
  }
  resource.loop 16 {
    resource.issue dma advance [64, 0] {
      lir.dma %a to %e engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 0 : 4194304] packet 64>] : !lir.mem<hbm, 1024>, !lir.mem<dm, 64>
    }
    resource.issue main {
      lir.exec main {
        fetch_sequencer %e loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 64>
        collect flits_per_packet 1
        vector_alu fxp_add add [imm 1]
        commit_adapter in 32 keep 32
        commit_sequencer %s loops [2 : 32] write 32 slices [0, 63] : !lir.mem<dm, 64>
      }
    }
    resource.issue dma advance [0, 64] {
      lir.dma %s to %o engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 64>] : !lir.mem<dm, 64>, !lir.mem<hbm, 1024>
    }
  }
}

// PEs wait for one another between the loops, which their iterations do not
// notice; where they meet after each iteration, nothing overlaps.

// CHECK-LABEL: resource.program @barriers
// CHECK: resource.loop 7 cycles
// CHECK: resource.loop 1 barrier
// CHECK: resource.loop 16 barrier cycles
// CHECK-NOT: resource.loop
resource.program @barriers pes 1 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 1024>
  %o = resource.argument 1 output "o" : !lir.mem<hbm, 1024>
  %d = resource.buffer : !lir.mem<dm, 64>
  %r = resource.buffer : !lir.mem<dm, 64>
  %e = resource.buffer : !lir.mem<dm, 64>
  %s = resource.buffer : !lir.mem<dm, 64>
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
  resource.loop 1 barrier {
  }
  resource.loop 16 barrier {
    resource.issue dma advance [64, 0] {
      lir.dma %a to %e engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 0 : 4194304] packet 64>] : !lir.mem<hbm, 1024>, !lir.mem<dm, 64>
    }
    resource.issue main {
      lir.exec main {
        fetch_sequencer %e loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 64>
        collect flits_per_packet 1
        vector_alu fxp_add add [imm 1]
        commit_adapter in 32 keep 32
        commit_sequencer %s loops [2 : 32] write 32 slices [0, 63] : !lir.mem<dm, 64>
      }
    }
    resource.issue dma advance [0, 64] {
      lir.dma %s to %o engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 64>] : !lir.mem<dm, 64>, !lir.mem<hbm, 1024>
    }
  }
}

// Of few trips there is no loop left.

// CHECK-LABEL: resource.program @few
// CHECK-NOT: resource.loop
// CHECK-COUNT-9: resource.issue
// CHECK-NOT: resource.issue
resource.program @few pes 1 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 1024>
  %o = resource.argument 1 output "o" : !lir.mem<hbm, 1024>
  %d = resource.buffer : !lir.mem<dm, 64>
  %r = resource.buffer : !lir.mem<dm, 64>
  resource.loop 3 {
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
