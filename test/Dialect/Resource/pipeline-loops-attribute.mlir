// Attributes that say what becomes of loops.
// RUN: furiosa-opt-mlir %s --furiosa-pipeline | FileCheck %s
// RUN: furiosa-opt-mlir %s --furiosa-pipeline=pipeline-loops=false | FileCheck %s --check-prefix=APART

// CHECK-LABEL: resource.program @default
// CHECK: resource.loop 7 cycles
// APART-LABEL: resource.program @default
// APART: resource.loop 16 cycles
resource.program @default pes 1 clusters [0] release "0.6" {
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

// CHECK-LABEL: resource.program @apart
// CHECK: resource.loop 16 cycles
// APART-LABEL: resource.program @apart
// APART: resource.loop 16 cycles
resource.program @apart pes 1 clusters [0] release "0.6" attributes {resource.pipeline_loops = false} {
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

// CHECK-LABEL: resource.program @overlapping
// CHECK: resource.loop 7 cycles
// APART-LABEL: resource.program @overlapping
// APART: resource.loop 7 cycles
resource.program @overlapping pes 1 clusters [0] release "0.6" attributes {resource.pipeline_loops = true} {
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
