// RUN: furiosa-opt-mlir %s -verify-diagnostics
// RUN: not furiosa-opt-mlir %s 2>/dev/null

// A loop of no trip says so itself, whatever its commands move by.
resource.program @none pes 1 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 1024>
  %d = resource.buffer : !lir.mem<dm, 64>
  // expected-error@+1 {{RES-21: trips must be positive, found 0}}
  resource.loop 0 {
    resource.issue dma advance [64, 0] {
      lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 64>] : !lir.mem<hbm, 1024>, !lir.mem<dm, 64>
    }
  }
}
