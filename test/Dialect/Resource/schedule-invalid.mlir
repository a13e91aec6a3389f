// RUN: furiosa-opt-mlir %s --resource-schedule -split-input-file -verify-diagnostics
// RUN: not furiosa-opt-mlir %s --resource-schedule -split-input-file 2>/dev/null

// Three buffers of one command do not fit: the memory map says who is there.

// expected-note@+1 {{the largest piece that is free has 217088 bytes, at 307200}}
resource.program @full pes 1 clusters [0] release "0.6" {
  // expected-note@+1 {{307200 bytes at 0}}
  %a = resource.buffer : !lir.mem<dm, 307200>
  // expected-error@+1 {{out of memory: dm holds 524288 bytes, no room for 217120 beside what lives at the same time}}
  %b = resource.buffer : !lir.mem<dm, 217120>
  resource.issue main {
    lir.exec main {
      fetch_sequencer %a loops [1 : 0] read 32 packet 32 flits 1 : !lir.mem<dm, 307200>
      collect flits_per_packet 1
      commit_adapter in 32 keep 32
      commit_sequencer %b loops [1 : 0] write 32 slices [0, 63] : !lir.mem<dm, 217120>
    }
  }
}

// -----

// Two fixed addresses.

resource.program @fixed pes 1 clusters [0] release "0.6" {
  // expected-note@+1 {{which takes 64 bytes at 0}}
  %a = resource.buffer at 0 : !lir.mem<dm, 64>
  // expected-error@+1 {{address 32 overlaps that of another buffer while both live}}
  %b = resource.buffer at 32 : !lir.mem<dm, 64>
  resource.issue main {
    lir.exec main {
      fetch_sequencer %a loops [1 : 0] read 32 packet 32 flits 1 : !lir.mem<dm, 64>
      collect flits_per_packet 1
      commit_adapter in 32 keep 32
      commit_sequencer %b loops [1 : 0] write 32 slices [0, 63] : !lir.mem<dm, 64>
    }
  }
}

// -----

// Cycles that do not fit.

// expected-error@+1 {{cannot be scheduled: the cycles of a loop do not fit in 64 bits}}
resource.program @long pes 1 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 64>
  %d = resource.buffer : !lir.mem<dm, 64>
  resource.loop 9223372036854775807 {
    resource.issue dma {
      lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 64>] : !lir.mem<hbm, 64>, !lir.mem<dm, 64>
    }
  }
}

// -----

// expected-error@+1 {{resource.pipeline_loops must be a boolean attribute, found unit}}
resource.program @loops pes 1 clusters [0] release "0.6" attributes {resource.pipeline_loops} {
}

// -----

// expected-error@+1 {{resource.keep_order must be a unit attribute, found 1 : i64}}
resource.program @order pes 1 clusters [0] release "0.6" attributes {resource.keep_order = 1} {
}

// -----

resource.program @order pes 1 clusters [0] release "0.6" {
  // expected-error@+1 {{resource.keep_order is for a resource.program, a resource.loop or a kernel}}
  %a = resource.buffer {resource.keep_order} : !lir.mem<dm, 64>
}
