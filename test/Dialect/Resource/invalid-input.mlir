// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

// RES-24: the host keeps what it gives; what is written is inout or output.
resource.program @reads pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192>
  %o = resource.argument 1 output "o" : !lir.mem<hbm, 8192>
  %d = resource.buffer : !lir.mem<dm, 32>
  resource.issue dma {
    lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<dm, 32>
  }
  resource.issue dma {
    lir.dma %d to %o engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 4194304 : 32] packet 32>] : !lir.mem<dm, 32>, !lir.mem<hbm, 8192>
  }
}
resource.program @inout pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 inout "a" : !lir.mem<hbm, 8192>
  %d = resource.buffer : !lir.mem<dm, 32>
  resource.issue dma {
    lir.dma %d to %a engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 4194304 : 32] packet 32>] : !lir.mem<dm, 32>, !lir.mem<hbm, 8192>
  }
}

// -----

resource.program @writes pes 4 clusters [0] release "0.6" {
  // expected-note@+1 {{the argument is declared here}}
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192>
  %d = resource.buffer : !lir.mem<dm, 32>
  resource.issue dma {
    // expected-error@+1 {{RES-24: writes argument "a", which is an input only; make it inout or output}}
    lir.dma %d to %a engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 4194304 : 32] packet 32>] : !lir.mem<dm, 32>, !lir.mem<hbm, 8192>
  }
}

// -----

// Inside a loop as well.
resource.program @loops pes 4 clusters [0] release "0.6" {
  // expected-note@+1 {{the argument is declared here}}
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192>
  %d = resource.buffer : !lir.mem<dm, 32>
  resource.loop 2 {
    resource.issue dma {
      // expected-error@+1 {{RES-24: writes argument "a"}}
      lir.dma %d to %a engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 4194304 : 32] packet 32>] : !lir.mem<dm, 32>, !lir.mem<hbm, 8192>
    }
  }
}
