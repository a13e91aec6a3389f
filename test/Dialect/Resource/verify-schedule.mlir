// RUN: furiosa-opt-mlir %s --resource-verify-schedule -split-input-file -verify-diagnostics
// RUN: not furiosa-opt-mlir %s --resource-verify-schedule -split-input-file 2>/dev/null

// As the scheduler made it.

resource.program @k pes 1 clusters [0] release "0.6" makespan 6856 lower_bound 6856 {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 2048>
  %o = resource.argument 1 output "o" : !lir.mem<hbm, 2048>
  %d = resource.buffer at 0 live [1003, 1953] : !lir.mem<dm, 32>
  %r = resource.buffer at 32 live [1671, 6256] : !lir.mem<dm, 32>
  resource.issue dma tag 0 cycles [1003, 1671] {
    lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 2048>, !lir.mem<dm, 32>
  }
  resource.wait dma tag 0
  resource.issue main cycles [1671, 1953] {
    lir.exec main {
      fetch_sequencer %d loops [1 : 0] read 32 packet 32 flits 1 : !lir.mem<dm, 32>
      collect flits_per_packet 1
      vector_alu fxp_add add [imm 1]
      commit_adapter in 32 keep 32
      commit_sequencer %r loops [1 : 0] write 32 slices [0, 63] : !lir.mem<dm, 32>
    }
  }
  resource.wait main
  resource.issue dma tag 0 cycles [1953, 6256] {
    lir.dma %r to %o engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 4194304 : 32] packet 32>] : !lir.mem<dm, 32>, !lir.mem<hbm, 2048>
  }
  resource.wait dma tag 0
}

// -----

// The wait for the pass is missing: everything behind it starts too early.

// expected-error@+2 {{the block takes 5974 cycles, found 6256}}
// expected-error@+1 {{the makespan is 6574, found 6856}}
resource.program @k pes 1 clusters [0] release "0.6" makespan 6856 lower_bound 6856 {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 2048>
  %o = resource.argument 1 output "o" : !lir.mem<hbm, 2048>
  // expected-error@+1 {{the buffer lives from cycle 1003 to 1671, found 1003 to 1953}}
  %d = resource.buffer at 0 live [1003, 1953] : !lir.mem<dm, 32>
  // expected-error@+1 {{the buffer lives from cycle 1953 to 6256, found 1671 to 6256}}
  %r = resource.buffer at 32 live [1671, 6256] : !lir.mem<dm, 32>
  resource.issue dma tag 0 cycles [1003, 1671] {
    lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 2048>, !lir.mem<dm, 32>
  }
  resource.wait dma tag 0
  // expected-error@+2 {{nothing waits for the command before its block ends}}
  // expected-note@+1 {{the other command is here}}
  resource.issue main cycles [1671, 1953] {
    lir.exec main {
      fetch_sequencer %d loops [1 : 0] read 32 packet 32 flits 1 : !lir.mem<dm, 32>
      collect flits_per_packet 1
      vector_alu fxp_add add [imm 1]
      commit_adapter in 32 keep 32
      commit_sequencer %r loops [1 : 0] write 32 slices [0, 63] : !lir.mem<dm, 32>
    }
  }
  // expected-error@+2 {{no wait stands between the command and one that it depends on}}
  // expected-error@+1 {{the command runs from cycle 1671 to 5974, found 1953 to 6256}}
  resource.issue dma tag 0 cycles [1953, 6256] {
    lir.dma %r to %o engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 4194304 : 32] packet 32>] : !lir.mem<dm, 32>, !lir.mem<hbm, 2048>
  }
  resource.wait dma tag 0
}

// -----

// The last wait is missing.

resource.program @k pes 1 clusters [0] release "0.6" makespan 6856 lower_bound 6856 {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 2048>
  %o = resource.argument 1 output "o" : !lir.mem<hbm, 2048>
  %d = resource.buffer at 0 live [1003, 1953] : !lir.mem<dm, 32>
  // expected-error@+1 {{the buffer lives from cycle 1671 to 1953, found 1671 to 6256}}
  %r = resource.buffer at 32 live [1671, 6256] : !lir.mem<dm, 32>
  resource.issue dma tag 0 cycles [1003, 1671] {
    lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 2048>, !lir.mem<dm, 32>
  }
  resource.wait dma tag 0
  resource.issue main cycles [1671, 1953] {
    lir.exec main {
      fetch_sequencer %d loops [1 : 0] read 32 packet 32 flits 1 : !lir.mem<dm, 32>
      collect flits_per_packet 1
      vector_alu fxp_add add [imm 1]
      commit_adapter in 32 keep 32
      commit_sequencer %r loops [1 : 0] write 32 slices [0, 63] : !lir.mem<dm, 32>
    }
  }
  resource.wait main
  // expected-error@+1 {{nothing waits for the command before its block ends}}
  resource.issue dma tag 0 cycles [1953, 6256] {
    lir.dma %r to %o engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 4194304 : 32] packet 32>] : !lir.mem<dm, 32>, !lir.mem<hbm, 2048>
  }
}

// -----

// Cycles of the pass.

resource.program @k pes 1 clusters [0] release "0.6" makespan 6856 lower_bound 6856 {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 2048>
  %o = resource.argument 1 output "o" : !lir.mem<hbm, 2048>
  // expected-error@+1 {{the buffer lives from cycle 1003 to 1940, found 1003 to 1953}}
  %d = resource.buffer at 0 live [1003, 1953] : !lir.mem<dm, 32>
  %r = resource.buffer at 32 live [1671, 6256] : !lir.mem<dm, 32>
  resource.issue dma tag 0 cycles [1003, 1671] {
    lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 2048>, !lir.mem<dm, 32>
  }
  resource.wait dma tag 0
  // expected-error@+1 {{the command runs from cycle 1671 to 1953, found 1671 to 1940}}
  resource.issue main cycles [1671, 1940] {
    lir.exec main {
      fetch_sequencer %d loops [1 : 0] read 32 packet 32 flits 1 : !lir.mem<dm, 32>
      collect flits_per_packet 1
      vector_alu fxp_add add [imm 1]
      commit_adapter in 32 keep 32
      commit_sequencer %r loops [1 : 0] write 32 slices [0, 63] : !lir.mem<dm, 32>
    }
  }
  resource.wait main
  resource.issue dma tag 0 cycles [1953, 6256] {
    lir.dma %r to %o engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 4194304 : 32] packet 32>] : !lir.mem<dm, 32>, !lir.mem<hbm, 2048>
  }
  resource.wait dma tag 0
}

// -----

// Makespan.

// expected-error@+2 {{the block takes 6256 cycles, found 6257}}
// expected-error@+1 {{the makespan is 6856, found 6857}}
resource.program @k pes 1 clusters [0] release "0.6" makespan 6857 lower_bound 6856 {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 2048>
  %o = resource.argument 1 output "o" : !lir.mem<hbm, 2048>
  %d = resource.buffer at 0 live [1003, 1953] : !lir.mem<dm, 32>
  %r = resource.buffer at 32 live [1671, 6256] : !lir.mem<dm, 32>
  resource.issue dma tag 0 cycles [1003, 1671] {
    lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 2048>, !lir.mem<dm, 32>
  }
  resource.wait dma tag 0
  resource.issue main cycles [1671, 1953] {
    lir.exec main {
      fetch_sequencer %d loops [1 : 0] read 32 packet 32 flits 1 : !lir.mem<dm, 32>
      collect flits_per_packet 1
      vector_alu fxp_add add [imm 1]
      commit_adapter in 32 keep 32
      commit_sequencer %r loops [1 : 0] write 32 slices [0, 63] : !lir.mem<dm, 32>
    }
  }
  resource.wait main
  resource.issue dma tag 0 cycles [1953, 6256] {
    lir.dma %r to %o engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 4194304 : 32] packet 32>] : !lir.mem<dm, 32>, !lir.mem<hbm, 2048>
  }
  resource.wait dma tag 0
}

// -----

// Lower bound.

// expected-error@+1 {{the lower bound is 6856, found 6855}}
resource.program @k pes 1 clusters [0] release "0.6" makespan 6856 lower_bound 6855 {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 2048>
  %o = resource.argument 1 output "o" : !lir.mem<hbm, 2048>
  %d = resource.buffer at 0 live [1003, 1953] : !lir.mem<dm, 32>
  %r = resource.buffer at 32 live [1671, 6256] : !lir.mem<dm, 32>
  resource.issue dma tag 0 cycles [1003, 1671] {
    lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 2048>, !lir.mem<dm, 32>
  }
  resource.wait dma tag 0
  resource.issue main cycles [1671, 1953] {
    lir.exec main {
      fetch_sequencer %d loops [1 : 0] read 32 packet 32 flits 1 : !lir.mem<dm, 32>
      collect flits_per_packet 1
      vector_alu fxp_add add [imm 1]
      commit_adapter in 32 keep 32
      commit_sequencer %r loops [1 : 0] write 32 slices [0, 63] : !lir.mem<dm, 32>
    }
  }
  resource.wait main
  resource.issue dma tag 0 cycles [1953, 6256] {
    lir.dma %r to %o engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 4194304 : 32] packet 32>] : !lir.mem<dm, 32>, !lir.mem<hbm, 2048>
  }
  resource.wait dma tag 0
}

// -----

// Two live buffers at one address.

resource.program @k pes 1 clusters [0] release "0.6" makespan 6856 lower_bound 6856 {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 2048>
  %o = resource.argument 1 output "o" : !lir.mem<hbm, 2048>
  // expected-error@+1 {{two buffers share addresses while both live}}
  %d = resource.buffer at 0 live [1003, 1953] : !lir.mem<dm, 32>
  // expected-note@+1 {{the other buffer is here}}
  %r = resource.buffer at 24 live [1671, 6256] : !lir.mem<dm, 32>
  resource.issue dma tag 0 cycles [1003, 1671] {
    lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 2048>, !lir.mem<dm, 32>
  }
  resource.wait dma tag 0
  resource.issue main cycles [1671, 1953] {
    lir.exec main {
      fetch_sequencer %d loops [1 : 0] read 32 packet 32 flits 1 : !lir.mem<dm, 32>
      collect flits_per_packet 1
      vector_alu fxp_add add [imm 1]
      commit_adapter in 32 keep 32
      commit_sequencer %r loops [1 : 0] write 32 slices [0, 63] : !lir.mem<dm, 32>
    }
  }
  resource.wait main
  resource.issue dma tag 0 cycles [1953, 6256] {
    lir.dma %r to %o engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 4194304 : 32] packet 32>] : !lir.mem<dm, 32>, !lir.mem<hbm, 2048>
  }
  resource.wait dma tag 0
}

// -----

// A life that ends early.

resource.program @k pes 1 clusters [0] release "0.6" makespan 6856 lower_bound 6856 {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 2048>
  %o = resource.argument 1 output "o" : !lir.mem<hbm, 2048>
  // expected-error@+1 {{the buffer lives from cycle 1003 to 1953, found 1003 to 1952}}
  %d = resource.buffer at 0 live [1003, 1952] : !lir.mem<dm, 32>
  %r = resource.buffer at 32 live [1671, 6256] : !lir.mem<dm, 32>
  resource.issue dma tag 0 cycles [1003, 1671] {
    lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 2048>, !lir.mem<dm, 32>
  }
  resource.wait dma tag 0
  resource.issue main cycles [1671, 1953] {
    lir.exec main {
      fetch_sequencer %d loops [1 : 0] read 32 packet 32 flits 1 : !lir.mem<dm, 32>
      collect flits_per_packet 1
      vector_alu fxp_add add [imm 1]
      commit_adapter in 32 keep 32
      commit_sequencer %r loops [1 : 0] write 32 slices [0, 63] : !lir.mem<dm, 32>
    }
  }
  resource.wait main
  resource.issue dma tag 0 cycles [1953, 6256] {
    lir.dma %r to %o engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 4194304 : 32] packet 32>] : !lir.mem<dm, 32>, !lir.mem<hbm, 2048>
  }
  resource.wait dma tag 0
}

// -----

// A wait for a transfer that was not issued.

resource.program @k pes 1 clusters [0] release "0.6" makespan 6856 lower_bound 6856 {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 2048>
  %o = resource.argument 1 output "o" : !lir.mem<hbm, 2048>
  %d = resource.buffer at 0 live [1003, 1953] : !lir.mem<dm, 32>
  %r = resource.buffer at 32 live [1671, 6256] : !lir.mem<dm, 32>
  resource.issue dma tag 0 cycles [1003, 1671] {
    lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 2048>, !lir.mem<dm, 32>
  }
  // expected-error@+1 {{no transfer with tag 5 has been issued in this block}}
  resource.wait dma tag 5
  resource.issue main cycles [1671, 1953] {
    lir.exec main {
      fetch_sequencer %d loops [1 : 0] read 32 packet 32 flits 1 : !lir.mem<dm, 32>
      collect flits_per_packet 1
      vector_alu fxp_add add [imm 1]
      commit_adapter in 32 keep 32
      commit_sequencer %r loops [1 : 0] write 32 slices [0, 63] : !lir.mem<dm, 32>
    }
  }
  resource.wait main
  resource.issue dma tag 0 cycles [1953, 6256] {
    lir.dma %r to %o engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 4194304 : 32] packet 32>] : !lir.mem<dm, 32>, !lir.mem<hbm, 2048>
  }
  resource.wait dma tag 0
}

// -----

// Not scheduled.

// expected-error@+1 {{is not scheduled}}
resource.program @k pes 1 clusters [0] release "0.6" {
}

// -----

// A loop as the scheduler made it.

resource.program @k pes 1 clusters [0] release "0.6" makespan 3631 lower_bound 3631 {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 1024>
  %d = resource.buffer at 0 live [1003, 3031] : !lir.mem<dm, 64>
  resource.loop 4 cycles 507 {
    resource.issue dma tag 0 cycles [0, 507] advance [64, 0] {
      lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 64>] : !lir.mem<hbm, 1024>, !lir.mem<dm, 64>
    }
    resource.wait dma tag 0
  }
}

// -----

// The cycles of a loop.

resource.program @k pes 1 clusters [0] release "0.6" makespan 3631 lower_bound 3631 {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 1024>
  // expected-error@+1 {{the buffer lives from cycle 1003 to 3003, found 1003 to 3031}}
  %d = resource.buffer at 0 live [1003, 3031] : !lir.mem<dm, 64>
  // expected-error@+2 {{the block takes 507 cycles, found 500}}
  // expected-error@+1 {{the command runs from cycle 1003 to 3031, found 1003 to 3003}}
  resource.loop 4 cycles 500 {
    resource.issue dma tag 0 cycles [0, 507] advance [64, 0] {
      lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 64>] : !lir.mem<hbm, 1024>, !lir.mem<dm, 64>
    }
    resource.wait dma tag 0
  }
}

// -----

// A loop whose body is not drained.

resource.program @k pes 1 clusters [0] release "0.6" makespan 3631 lower_bound 3631 {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 1024>
  %d = resource.buffer at 0 live [1003, 3031] : !lir.mem<dm, 64>
  resource.loop 4 cycles 507 {
    // expected-error@+1 {{nothing waits for the command before its block ends}}
    resource.issue dma tag 0 cycles [0, 507] advance [64, 0] {
      lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 64>] : !lir.mem<hbm, 1024>, !lir.mem<dm, 64>
    }
  }
}
