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
