// RUN: furiosa-opt-mlir %s --resource-schedule -split-input-file -verify-diagnostics
// RUN: not furiosa-opt-mlir %s --resource-schedule -split-input-file 2>/dev/null

// What lives at the peak of each memory, where, and what would fit.

// expected-note@+1 {{the largest piece that is free has 2048 bytes, at 6144}}
resource.program @vrf pes 1 clusters [0] release "0.6" {
  %d = resource.buffer : !lir.mem<dm, 6144>
  %o = resource.buffer : !lir.mem<dm, 6144>
  // expected-note@+1 {{6144 bytes at 0, in cycles 1003 to}}
  %v = resource.buffer : !lir.mem<vrf, 6144>
  // expected-error@+1 {{out of memory: vrf holds 8192 bytes, no room for 4096 beside what lives at the same time; at the peak 10240 live}}
  %w = resource.buffer : !lir.mem<vrf, 4096>
  resource.issue sub {
    lir.exec sub {
      fetch_sequencer %d loops [768 : 8] read 8 packet 32 flits 192 : !lir.mem<dm, 6144>
      collect flits_per_packet 1
      vrf_store %v rows 192 : !lir.mem<vrf, 6144>
    }
  }
  resource.issue sub {
    lir.exec sub {
      fetch_sequencer %d loops [512 : 8] read 8 packet 32 flits 128 : !lir.mem<dm, 6144>
      collect flits_per_packet 1
      vrf_store %w rows 128 : !lir.mem<vrf, 4096>
    }
  }
  resource.issue main {
    lir.exec main {
      fetch_sequencer %d loops [128 : 32] read 32 packet 32 flits 128 : !lir.mem<dm, 6144>
      collect flits_per_packet 1
      vector_alu fxp_add add [vrf %v loops [128 : 8, 8 : 4]] : !lir.mem<vrf, 6144>
      vector_alu fxp_mul mul_int [vrf %w loops [128 : 8, 8 : 4]] : !lir.mem<vrf, 4096>
      commit_adapter in 32 keep 32
      commit_sequencer %o loops [128 : 32] write 32 slices [0, 63] : !lir.mem<dm, 6144>
    }
  }
}

// -----

// Bytes would be enough, but not in one piece.

// expected-note@+1 {{the largest piece that is free has 262144 bytes, at 0}}
resource.program @pieces pes 1 clusters [0] release "0.6" {
  // expected-note@+1 {{64 bytes at 262144, in cycles 1003 to}}
  %a = resource.buffer at 262144 : !lir.mem<dm, 64>
  // expected-error@+1 {{out of memory: dm holds 524288 bytes, no room for 262176 beside what lives at the same time; at the peak 262240 live}}
  %b = resource.buffer : !lir.mem<dm, 262176>
  resource.issue main {
    lir.exec main {
      fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 64>
      collect flits_per_packet 1
      commit_adapter in 32 keep 32
      commit_sequencer %b loops [2 : 32] write 32 slices [0, 63] : !lir.mem<dm, 262176>
    }
  }
}

// -----

// A buffer that carries a value from trip to trip lives through all of them.

// expected-note@+1 {{the largest piece that is free has 196608 bytes, at 327680}}
resource.program @carried pes 1 clusters [0] release "0.6" {
  %i = resource.argument 0 input "i" : !lir.mem<hbm, 64>
  %o = resource.argument 1 output "o" : !lir.mem<hbm, 64>
  // expected-note@+1 {{327680 bytes at 0, in cycles 1003 to}}
  %a = resource.buffer : !lir.mem<dm, 327680>
  // expected-error@+1 {{out of memory: dm holds 524288 bytes, no room for 327680}}
  %b = resource.buffer : !lir.mem<dm, 327680>
  resource.loop 4 {
    resource.issue main {
      lir.exec main {
        fetch_sequencer %a loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, 327680>
        collect flits_per_packet 1
        commit_adapter in 32 keep 32
        commit_sequencer %a loops [2 : 32] write 32 slices [0, 63] : !lir.mem<dm, 327680>
      }
    }
    resource.issue dma {
      lir.dma %i to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 64>] : !lir.mem<hbm, 64>, !lir.mem<dm, 327680>
    }
    resource.issue dma {
      lir.dma %b to %o engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 64>] : !lir.mem<dm, 327680>, !lir.mem<hbm, 64>
    }
  }
}
