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
  // expected-error @below {{RES-26: the argument that counts the trips must be from 0 or more to 6, found 0 to 7}}
  resource.loop 6 by %n : !lir.mem<hbm, 4> {
  }
}

// -----

resource.program @negative pes 4 clusters [0] release "0.6" {
  %n = resource.argument 0 input "n" range [-1, 6] : !lir.mem<hbm, 4> as #resource.operand<i32, chip "1", element "1", axes [] sizes []>
  // expected-error @below {{RES-26: the argument that counts the trips must be from 0 or more to 6, found -1 to 6}}
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
  // expected-error @below {{RES-26: when comes with an argument and a number}}
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

resource.program @memory pes 4 clusters [0] release "0.6" {
  %a = resource.argument 0 input "a" : !lir.mem<hbm, 8192>
  %n = resource.argument 1 input "n" range [0, 2] : !lir.mem<hbm, 4> as #resource.operand<i32, chip "1", element "1", axes [] sizes []>
  %d = resource.buffer : !lir.mem<dm, 64>
  // expected-error @below {{not yet supported: starts in dm}}
  resource.issue dma starts [0, 8] by %n : !lir.mem<hbm, 4> {
    lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<dm, 64>
  }
}

// -----

resource.program @fill pes 4 clusters [0] release "0.6" {
  %n = resource.argument 0 input "n" range [0, 2] : !lir.mem<hbm, 4> as #resource.operand<i32, chip "1", element "1", axes [] sizes []>
  %d = resource.buffer : !lir.mem<dm, 64>
  // expected-error @below {{RES-28: only a dma has starts}}
  resource.issue sub starts [0, 0] by %n : !lir.mem<hbm, 4> {
    lir.exec sub {
      lir.fill %d with 0 : !lir.mem<dm, 64>
    }
  }
}
