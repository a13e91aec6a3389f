// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics | furiosa-opt-mlir -split-input-file | FileCheck %s

// CHECK: %[[N:.*]] = resource.argument 1 input "n" range [0, 6] : !lir.mem<hbm, 4> as
// CHECK: resource.loop 6 by %[[N]] : !lir.mem<hbm, 4> barrier {
// CHECK: resource.loop 6 by %[[N]] : !lir.mem<hbm, 4> after [%{{.*}}] {
resource.program @by pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192>
  %n = resource.argument 1 input "n" range [0, 6] : !lir.mem<hbm, 4> as #resource.operand<i32, chip "1", element "1", axes [] sizes []>
  %t = resource.loop 6 by %n : !lir.mem<hbm, 4> barrier {
  } : !resource.token
  %u = resource.loop 6 by %n : !lir.mem<hbm, 4> after [%t] {
  } : !resource.token
}

// -----

// CHECK: resource.loop 1 by %[[N:.*]] : !lir.mem<hbm, 4> when lt -3 {
// CHECK: resource.issue dma starts [32, -64] by %[[N]] : !lir.mem<hbm, 4> {
resource.program @when pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192>
  %n = resource.argument 1 input "n" range [-4, 2] : !lir.mem<hbm, 4> as #resource.operand<i32, chip "1", element "1", axes [] sizes []>
  %o = resource.argument 2 output "o" : !lir.mem<hbm, 8192>
  resource.loop 1 by %n : !lir.mem<hbm, 4> when lt -3 {
    resource.issue dma starts [32, -64] by %n : !lir.mem<hbm, 4> {
      lir.dma %a to %o engines [#lir.engine<cluster 0 pe 0 from 0 to 384 loops [] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<hbm, 8192>
    }
  }
}

// -----

resource.program @tensor pes 4 clusters [0] release "0.6" {
  // expected-error @below {{RES-25: only an input of one i32 without axes has a range}}
  %n = resource.argument 0 input "n" range [0, 6] : !lir.mem<hbm, 8> as #resource.operand<i32, chip "1", element "K", axes ["K"] sizes [2]>
}

// -----

resource.program @written pes 4 clusters [0] release "0.6" {
  // expected-error @below {{RES-25: only an input}}
  %n = resource.argument 0 inout "n" range [0, 6] : !lir.mem<hbm, 4> as #resource.operand<i32, chip "1", element "1", axes [] sizes []>
}

// -----

resource.program @falls pes 4 clusters [0] release "0.6" {
  // expected-error @below {{RES-25: a range is two numbers of 32 bits that ascend}}
  %n = resource.argument 0 input "n" range [6, 0] : !lir.mem<hbm, 4> as #resource.operand<i32, chip "1", element "1", axes [] sizes []>
}

// -----

resource.program @wide pes 4 clusters [0] release "0.6" {
  // expected-error @below {{RES-25: a range is two numbers}}
  %n = resource.argument 0 input "n" range [0, 4294967296] : !lir.mem<hbm, 4> as #resource.operand<i32, chip "1", element "1", axes [] sizes []>
}

// -----

resource.program @more pes 4 clusters [0] release "0.6" {
  %n = resource.argument 0 input "n" range [0, 7] : !lir.mem<hbm, 4> as #resource.operand<i32, chip "1", element "1", axes [] sizes []>
  // expected-error @below {{RES-26: what counts the trips must be from 0 or more to 6, found 0 to 7}}
  resource.loop 6 by %n : !lir.mem<hbm, 4> {
  }
}

// -----

resource.program @negative pes 4 clusters [0] release "0.6" {
  %n = resource.argument 0 input "n" range [-1, 6] : !lir.mem<hbm, 4> as #resource.operand<i32, chip "1", element "1", axes [] sizes []>
  // expected-error @below {{RES-26: what counts the trips must be from 0 or more to 6, found -1 to 6}}
  resource.loop 6 by %n : !lir.mem<hbm, 4> {
  }
}

// -----

resource.program @buffer pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192>
  // expected-error @below {{RES-26: only an argument with a range counts trips}}
  resource.loop 6 by %a : !lir.mem<hbm, 8192> {
  }
}

// -----

resource.program @trips pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192>
  %n = resource.argument 1 input "n" range [0, 2] : !lir.mem<hbm, 4> as #resource.operand<i32, chip "1", element "1", axes [] sizes []>
  %o = resource.argument 2 output "o" : !lir.mem<hbm, 8192>
  // expected-error @below {{RES-26: with when there is one trip, found 2}}
  resource.loop 2 by %n : !lir.mem<hbm, 4> when ge 1 {
  }
}

// -----

resource.program @alone pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192>
  %n = resource.argument 1 input "n" range [0, 2] : !lir.mem<hbm, 4> as #resource.operand<i32, chip "1", element "1", axes [] sizes []>
  %o = resource.argument 2 output "o" : !lir.mem<hbm, 8192>
  // expected-error @below {{RES-26: when, scales and plus come with an argument}}
  "resource.loop"() <{trips = 1 : i64, when = 2 : i32, bound = 1 : i64, operandSegmentSizes = array<i32: 0, 0>}> ({
  ^bb0:
  }) : () -> ()
}

// -----

resource.program @one pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192>
  %n = resource.argument 1 input "n" range [0, 2] : !lir.mem<hbm, 4> as #resource.operand<i32, chip "1", element "1", axes [] sizes []>
  %o = resource.argument 2 output "o" : !lir.mem<hbm, 8192>
  // expected-error @below {{RES-28: starts has two numbers for each of the 1 arguments, found 1}}
  resource.issue dma starts [32] by %n : !lir.mem<hbm, 4> {
    lir.dma %a to %o engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<hbm, 8192>
  }
}

// -----

resource.program @plain pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192>
  %n = resource.argument 1 input "n" : !lir.mem<hbm, 4> as #resource.operand<i32, chip "1", element "1", axes [] sizes []>
  %o = resource.argument 2 output "o" : !lir.mem<hbm, 8192>
  // expected-error @below {{RES-28: only an argument with a range moves a start}}
  resource.issue dma starts [32, 0] by %n : !lir.mem<hbm, 4> {
    lir.dma %a to %o engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<hbm, 8192>
  }
}

// -----

resource.program @behind pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192>
  %n = resource.argument 1 input "n" range [-1, 2] : !lir.mem<hbm, 4> as #resource.operand<i32, chip "1", element "1", axes [] sizes []>
  %o = resource.argument 2 output "o" : !lir.mem<hbm, 8192>
  // expected-error @below {{RES-28: target of the engine of cluster 0 pe 0 leaves its buffer of 8192 bytes in the last iteration}}
  resource.issue dma starts [0, 32] by %n : !lir.mem<hbm, 4> {
    lir.dma %a to %o engines [#lir.engine<cluster 0 pe 0 from 0 to 8096 loops [] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<hbm, 8192>
  }
}

// -----

resource.program @fits pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192>
  %n = resource.argument 1 input "n" range [-1, 2] : !lir.mem<hbm, 4> as #resource.operand<i32, chip "1", element "1", axes [] sizes []>
  %o = resource.argument 2 output "o" : !lir.mem<hbm, 8192>
  resource.issue dma starts [0, 32] by %n : !lir.mem<hbm, 4> {
    lir.dma %a to %o engines [#lir.engine<cluster 0 pe 0 from 0 to 8064 loops [] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<hbm, 8192>
  }
}

// -----

resource.program @front pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192>
  %n = resource.argument 1 input "n" range [-1, 2] : !lir.mem<hbm, 4> as #resource.operand<i32, chip "1", element "1", axes [] sizes []>
  %o = resource.argument 2 output "o" : !lir.mem<hbm, 8192>
  // expected-error @below {{RES-28: source of the engine of cluster 0 pe 0 begins in front of its buffer}}
  resource.issue dma starts [-32, 0] by %n : !lir.mem<hbm, 4> {
    lir.dma %a to %o engines [#lir.engine<cluster 0 pe 0 from 64 to 0 loops [] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<hbm, 8192>
  }
}

// -----

resource.program @far pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192>
  %n = resource.argument 1 input "n" range [-2147483648, 2147483647] : !lir.mem<hbm, 4> as #resource.operand<i32, chip "1", element "1", axes [] sizes []>
  %o = resource.argument 2 output "o" : !lir.mem<hbm, 8192>
  // expected-error @below {{RES-28: starts reach an address that does not fit in 64 bits}}
  resource.issue dma starts [9223372036854775807, 0] by %n : !lir.mem<hbm, 4> {
    lir.dma %a to %o engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<hbm, 8192>
  }
}

// -----

resource.program @words pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192>
  %n = resource.argument 1 input "n" range [0, 2] : !lir.mem<hbm, 4> as #resource.operand<i32, chip "1", element "1", axes [] sizes []>
  %d = resource.buffer : !lir.mem<dm, 64>
  // expected-error @below {{RES-28: starts must be a multiple of 8 bytes, found 4}}
  resource.issue dma starts [4, 0] by %n : !lir.mem<hbm, 4> {
    lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<dm, 64>
  }
}

// -----

// Bases in data memory move, too: inside of their slice.
resource.program @memory pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192>
  %n = resource.argument 1 input "n" range [0, 2] : !lir.mem<hbm, 4> as #resource.operand<i32, chip "1", element "1", axes [] sizes []>
  %d = resource.buffer : !lir.mem<dm, 64>
  resource.issue dma starts [0, 16] by %n : !lir.mem<hbm, 4> {
    lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 4194304 loops [] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<dm, 64>
  }
  // expected-error @below {{RES-28: target of the engine of cluster 0 pe 0 leaves its buffer of 64 bytes}}
  resource.issue dma starts [0, 24] by %n : !lir.mem<hbm, 4> {
    lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<dm, 64>
  }
}

// -----

resource.program @fill pes 4 clusters [0] release "0.6" {
  %n = resource.argument 0 input "n" range [0, 2] : !lir.mem<hbm, 4> as #resource.operand<i32, chip "1", element "1", axes [] sizes []>
  %d = resource.buffer : !lir.mem<dm, 64>
  // expected-error @below {{RES-28: the command has no commit_sequencer to move}}
  resource.issue sub starts [0, 8] by %n : !lir.mem<hbm, 4> {
    lir.exec sub {
      lir.fill %d with 0 : !lir.mem<dm, 64>
    }
  }
}

// -----

// Loops count by sums.
// CHECK-LABEL: resource.program @sums
// CHECK: resource.loop 12 by %{{.*}}, %{{.*}} : !lir.mem<hbm, 4>, !lir.mem<hbm, 4> scales [2, -1] plus 2 {
// CHECK: resource.loop 1 by %{{.*}}, %{{.*}} : !lir.mem<hbm, 4>, !lir.mem<hbm, 4> scales [1, -1] when eq 0 {
resource.program @sums pes 4 clusters [0] release "0.6" {
  %n = resource.argument 0 input "n" range [0, 5] : !lir.mem<hbm, 4> as #resource.operand<i32, chip "1", element "1", axes [] sizes []>
  %m = resource.argument 1 input "m" range [0, 2] : !lir.mem<hbm, 4> as #resource.operand<i32, chip "1", element "1", axes [] sizes []>
  resource.loop 12 by %n, %m : !lir.mem<hbm, 4>, !lir.mem<hbm, 4> scales [2, -1] plus 2 {
  }
  resource.loop 1 by %n, %m : !lir.mem<hbm, 4>, !lir.mem<hbm, 4> scales [1, -1] when eq 0 {
  }
}

// -----

resource.program @scales pes 4 clusters [0] release "0.6" {
  %n = resource.argument 0 input "n" range [0, 5] : !lir.mem<hbm, 4> as #resource.operand<i32, chip "1", element "1", axes [] sizes []>
  // expected-error @below {{RES-26: scales has a number for each of the 1 arguments, found 2}}
  resource.loop 5 by %n : !lir.mem<hbm, 4> scales [1, 1] {
  }
}

// -----

resource.program @overflow pes 4 clusters [0] release "0.6" {
  %n = resource.argument 0 input "n" range [0, 5] : !lir.mem<hbm, 4> as #resource.operand<i32, chip "1", element "1", axes [] sizes []>
  // expected-error @below {{RES-26: the sum that counts the trips does not fit in 64 bits}}
  resource.loop 5 by %n : !lir.mem<hbm, 4> scales [9223372036854775807] {
  }
}

// -----

// What begins later makes fewer trips: the last one still is inside.
resource.program @later pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 256>
  %n = resource.argument 1 input "n" range [0, 7] : !lir.mem<hbm, 4> as #resource.operand<i32, chip "1", element "1", axes [] sizes []>
  %o = resource.argument 2 output "o" : !lir.mem<hbm, 8192>
  resource.loop 8 by %n : !lir.mem<hbm, 4> scales [-1] plus 8 {
    resource.issue dma advance [32, 0] starts [32, 0] by %n : !lir.mem<hbm, 4> {
      lir.dma %a to %o engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 32>] : !lir.mem<hbm, 256>, !lir.mem<hbm, 8192>
    }
  }
  resource.loop 9 by %n : !lir.mem<hbm, 4> scales [-1] plus 9 {
    // expected-error @below {{RES-28: source of the engine of cluster 0 pe 0 leaves its buffer of 256 bytes}}
    resource.issue dma advance [32, 0] starts [32, 0] by %n : !lir.mem<hbm, 4> {
      lir.dma %a to %o engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 32>] : !lir.mem<hbm, 256>, !lir.mem<hbm, 8192>
    }
  }
}

// -----

resource.program @exec pes 4 clusters [0] release "0.6" {
  %n = resource.argument 0 input "n" range [0, 7] : !lir.mem<hbm, 4> as #resource.operand<i32, chip "1", element "1", axes [] sizes []>
  %d = resource.buffer : !lir.mem<dm, 256>
  %e = resource.buffer : !lir.mem<dm, 256>
  resource.issue sub starts [31, 32] by %n : !lir.mem<hbm, 4> {
    lir.exec sub {
      fetch_sequencer %d base 0 loops [4 : 8] read 8 packet 8 flits 4 : !lir.mem<dm, 256>
      collect flits_per_packet 1
      commit_adapter in 32 keep 8
      commit_sequencer %e loops [4 : 8] write 8 slices [0, 255] : !lir.mem<dm, 256>
    }
  }
}

// -----

resource.program @exec_leaves pes 4 clusters [0] release "0.6" {
  %n = resource.argument 0 input "n" range [0, 7] : !lir.mem<hbm, 4> as #resource.operand<i32, chip "1", element "1", axes [] sizes []>
  %d = resource.buffer : !lir.mem<dm, 256>
  %e = resource.buffer : !lir.mem<dm, 256>
  // expected-error @below {{RES-28: fetch_sequencer leaves its buffer of 256 bytes}}
  resource.issue sub starts [40, 0] by %n : !lir.mem<hbm, 4> {
    lir.exec sub {
      fetch_sequencer %d base 0 loops [4 : 8] read 8 packet 8 flits 4 : !lir.mem<dm, 256>
      collect flits_per_packet 1
      commit_adapter in 32 keep 8
      commit_sequencer %e loops [4 : 8] write 8 slices [0, 255] : !lir.mem<dm, 256>
    }
  }
}

// -----

resource.program @exec_front pes 4 clusters [0] release "0.6" {
  %n = resource.argument 0 input "n" range [0, 7] : !lir.mem<hbm, 4> as #resource.operand<i32, chip "1", element "1", axes [] sizes []>
  %d = resource.buffer : !lir.mem<dm, 256>
  %e = resource.buffer : !lir.mem<dm, 256>
  // expected-error @below {{RES-28: fetch_sequencer begins in front of its buffer}}
  resource.issue sub starts [-8, 0] by %n : !lir.mem<hbm, 4> {
    lir.exec sub {
      fetch_sequencer %d base 32 loops [4 : 8] read 8 packet 8 flits 4 : !lir.mem<dm, 256>
      collect flits_per_packet 1
      commit_adapter in 32 keep 8
      commit_sequencer %e loops [4 : 8] write 8 slices [0, 255] : !lir.mem<dm, 256>
    }
  }
}

// -----

resource.program @exec_words pes 4 clusters [0] release "0.6" {
  %n = resource.argument 0 input "n" range [0, 7] : !lir.mem<hbm, 4> as #resource.operand<i32, chip "1", element "1", axes [] sizes []>
  %d = resource.buffer : !lir.mem<dm, 256>
  %e = resource.buffer : !lir.mem<dm, 256>
  // expected-error @below {{RES-28: starts must be a multiple of 8 bytes, found 4}}
  resource.issue sub starts [0, 4] by %n : !lir.mem<hbm, 4> {
    lir.exec sub {
      fetch_sequencer %d base 0 loops [4 : 8] read 8 packet 8 flits 4 : !lir.mem<dm, 256>
      collect flits_per_packet 1
      commit_adapter in 32 keep 8
      commit_sequencer %e loops [4 : 8] write 8 slices [0, 255] : !lir.mem<dm, 256>
    }
  }
}

// -----

resource.program @exec_zero pes 4 clusters [0] release "0.6" {
  %n = resource.argument 0 input "n" range [1, 7] : !lir.mem<hbm, 4> as #resource.operand<i32, chip "1", element "1", axes [] sizes []>
  %d = resource.buffer : !lir.mem<dm, 256>
  %e = resource.buffer : !lir.mem<dm, 256>
  // expected-error @below {{RES-28: fetch_sequencer would begin outside of its buffer with numbers of 0}}
  resource.issue sub starts [32, 0] by %n : !lir.mem<hbm, 4> {
    lir.exec sub {
      fetch_sequencer %d base 0 loops [4 : 8] read 8 packet 8 flits 4 : !lir.mem<dm, 256>
      collect flits_per_packet 1
      commit_adapter in 32 keep 8
      commit_sequencer %e loops [4 : 8] write 8 slices [0, 255] : !lir.mem<dm, 256>
    }
  }
}
