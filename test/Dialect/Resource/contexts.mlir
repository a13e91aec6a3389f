// RUN: furiosa-opt-mlir %s --resource-schedule --resource-verify-schedule | FileCheck %s

// What both contexts read keeps neither waiting: they run side by side.

// CHECK-LABEL: @beside
// CHECK: resource.issue {{main|sub}} cycles [1003,
// CHECK-NOT: resource.wait
// CHECK: resource.issue {{main|sub}} cycles [1003,
resource.program @beside pes 1 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 64>
  %d = resource.buffer : !lir.mem<dm, 64>
  %e = resource.buffer : !lir.mem<dm, 64>
  %f = resource.buffer : !lir.mem<dm, 4096>
  %r = resource.buffer : !lir.mem<dm, 32>
  %v = resource.buffer : !lir.mem<vrf, 32>
  %w = resource.buffer : !lir.mem<trf, 2048, lanes 8>
  resource.issue sub {
    lir.exec sub {
      fetch_sequencer %f loops [64 : 64, 4 : 8] read 8 packet 32 flits 64 : !lir.mem<dm, 4096>
      collect flits_per_packet 1
      trf_store %w rows_per_lane 8 : !lir.mem<trf, 2048, lanes 8>
    }
  }
  resource.issue main {
    lir.exec main {
      fetch_sequencer %d loops [1 : 0] read 32 packet 32 flits 1 : !lir.mem<dm, 64>
      collect flits_per_packet 1
      commit_adapter in 32 keep 32
      commit_sequencer %r loops [1 : 0] write 32 slices [0, 63] : !lir.mem<dm, 32>
    }
  }
}

// A fill of the vector register file goes through the main context.

// CHECK-LABEL: @vector_file
// CHECK: resource.issue {{main|sub}} cycles [{{.*}}, [[END:.*]]]
// CHECK: resource.wait
// CHECK-NEXT: resource.issue {{main|sub}} cycles [[[END]],
resource.program @vector_file pes 1 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 64>
  %d = resource.buffer : !lir.mem<dm, 64>
  %e = resource.buffer : !lir.mem<dm, 64>
  %r = resource.buffer : !lir.mem<dm, 32>
  %v = resource.buffer : !lir.mem<vrf, 32>
  %w = resource.buffer : !lir.mem<trf, 2048, lanes 8>
  resource.issue dma {
    lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 0 : 4194304] packet 64>] : !lir.mem<hbm, 64>, !lir.mem<dm, 64>
  }
  resource.issue sub {
    lir.exec sub {
      fetch_sequencer %d loops [4 : 8] read 8 packet 32 flits 1 : !lir.mem<dm, 64>
      collect flits_per_packet 1
      vrf_store %v rows 1 : !lir.mem<vrf, 32>
    }
  }
  resource.issue main {
    lir.exec main {
      fetch_sequencer %d loops [1 : 0] read 32 packet 32 flits 1 : !lir.mem<dm, 64>
      collect flits_per_packet 1
      commit_adapter in 32 keep 32
      commit_sequencer %r loops [1 : 0] write 32 slices [0, 63] : !lir.mem<dm, 32>
    }
  }
}

// The load that the execution needs goes first, unless the order is pinned.

// CHECK-LABEL: @free
// CHECK: lir.dma %[[A:.*]] to %[[D:.*]] engines
// CHECK: lir.dma %[[A]] to %[[E:.*]] engines
// CHECK: fetch_sequencer %[[D]]
resource.program @free pes 1 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 64>
  %d = resource.buffer : !lir.mem<dm, 64>
  %e = resource.buffer : !lir.mem<dm, 64>
  %r = resource.buffer : !lir.mem<dm, 32>
  %v = resource.buffer : !lir.mem<vrf, 32>
  %w = resource.buffer : !lir.mem<trf, 2048, lanes 8>
  resource.issue dma {
    lir.dma %a to %e engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 0 : 4194304] packet 64>] : !lir.mem<hbm, 64>, !lir.mem<dm, 64>
  }
  resource.issue dma {
    lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 0 : 4194304] packet 64>] : !lir.mem<hbm, 64>, !lir.mem<dm, 64>
  }
  resource.issue main {
    lir.exec main {
      fetch_sequencer %d loops [1 : 0] read 32 packet 32 flits 1 : !lir.mem<dm, 64>
      collect flits_per_packet 1
      commit_adapter in 32 keep 32
      commit_sequencer %r loops [1 : 0] write 32 slices [0, 63] : !lir.mem<dm, 32>
    }
  }
}

// CHECK-LABEL: @pinned
// CHECK: lir.dma %[[A:.*]] to %[[E:.*]] engines
// CHECK: lir.dma %[[A]] to %[[D:.*]] engines
// CHECK: fetch_sequencer %[[D]]
resource.program @pinned pes 1 clusters [0] release "0.6" attributes {resource.keep_order} {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 64>
  %d = resource.buffer : !lir.mem<dm, 64>
  %e = resource.buffer : !lir.mem<dm, 64>
  %r = resource.buffer : !lir.mem<dm, 32>
  %v = resource.buffer : !lir.mem<vrf, 32>
  %w = resource.buffer : !lir.mem<trf, 2048, lanes 8>
  resource.issue dma {
    lir.dma %a to %e engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 0 : 4194304] packet 64>] : !lir.mem<hbm, 64>, !lir.mem<dm, 64>
  }
  resource.issue dma {
    lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 0 : 4194304] packet 64>] : !lir.mem<hbm, 64>, !lir.mem<dm, 64>
  }
  resource.issue main {
    lir.exec main {
      fetch_sequencer %d loops [1 : 0] read 32 packet 32 flits 1 : !lir.mem<dm, 64>
      collect flits_per_packet 1
      commit_adapter in 32 keep 32
      commit_sequencer %r loops [1 : 0] write 32 slices [0, 63] : !lir.mem<dm, 32>
    }
  }
}
