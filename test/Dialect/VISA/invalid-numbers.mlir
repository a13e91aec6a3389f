// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

// Numbers as arguments have a range.
#axes = #tmap.axes<A = 8, B = 64>
!h = !visa.hbm<i32, element "A, B", #axes>
func.func @ranges(%a: !h, %i: index {visa.range = array<i64: -8, 8>}, %j: i32 {visa.range = array<i64: 3, 3>}) attributes {visa.kernel} {
  return
}
// expected-error @below {{not yet supported: argument 1 of type 'index' without a range; write {visa.range = array<i64: FIRST, LAST>} behind its type}}
func.func @none(%a: !h, %n: index) attributes {visa.kernel} {
  return
}
// expected-error @below {{not yet supported: argument 1 with a visa.range that is not two numbers of 32 bits that ascend, as in array<i64: 0, 64>}}
func.func @falls(%a: !h, %n: index {visa.range = array<i64: 8, 0>}) attributes {visa.kernel} {
  return
}
// expected-error @below {{not yet supported: argument 1 with a visa.range}}
func.func @wide(%a: !h, %n: i32 {visa.range = array<i64: 0, 4294967296>}) attributes {visa.kernel} {
  return
}
// expected-error @below {{not yet supported: argument 1 with a visa.range}}
func.func @single(%a: !h, %n: index {visa.range = 8 : i64}) attributes {visa.kernel} {
  return
}
// expected-error @below {{not yet supported: argument 1 of type 'i64'}}
func.func @other(%a: !h, %n: i64 {visa.range = array<i64: 0, 8>}) attributes {visa.kernel} {
  return
}

// -----

// MM-37: the range says where a tile may begin.
#axes = #tmap.axes<A = 8, B = 64>
!h = !visa.hbm<i32, element "A, B", #axes>
!r = !visa.hbm<i32, element "1 # 8, B", #axes>
!f = !visa.dm<i32, slice "1 # 256", element "A, B", #axes>
!fr = !visa.dm<i32, slice "1 # 256", element "1 # 8, B", #axes>
!d = !visa.dm<i32, slice "1 # 256", element "B", #axes>
func.func @starts(%a: !h, %n: index {visa.range = array<i64: 0, 8>}, %m: index {visa.range = array<i64: 0, 9>}) attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %s = visa.tile %a[%i] along "A" take 1 : !h -> !r
  }
  scf.for %i = %c0 to %m step %c1 {
    // expected-error @below {{MM-37 (MA-19): tile start 8 is no live position}}
    %s = visa.tile %a[%i] along "A" take 1 : !h -> !r
  }
  // expected-error @below {{MM-37 (MA-19): tile start 8 is no live position}}
  %s = visa.tile %a[%n] along "A" take 1 : !h -> !r
  %f = visa.to_dm %a : !h -> !f
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @below {{not yet supported: a tile of a DM tensor that begins where only the run knows}}
    %t = visa.tile %f[%i] along "A" take 1 : !f -> !fr
  }
  %is = arith.cmpi slt, %n, %m : index
  // expected-error @below {{not yet supported: a branch on what only the run knows, other than comparisons of a number of the host with constants, joined by and}}
  scf.if %is {
    %t = visa.to_dm %a : !h -> !f
  }
  %is0 = arith.cmpi eq, %n, %c0 : index
  scf.if %is0 {
    %t = visa.to_dm %a : !h -> !f
  }
  // expected-error @below {{not yet supported: values out of a branch on a number of the host}}
  %at = scf.if %is0 -> index {
    scf.yield %c0 : index
  } else {
    scf.yield %c1 : index
  }
  return
}

// -----

// How often a loop runs.
#axes = #tmap.axes<A = 8, B = 64>
!h = !visa.hbm<i32, element "A, B", #axes>
func.func @trips(%a: !h, %n: index {visa.range = array<i64: 0, 8>}, %m: index {visa.range = array<i64: -1, 8>}) attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %c2 step %c1 {
    }
  }
  // expected-error @below {{not yet supported: a bound known only at run time, but for a loop from 0 in steps of 1}}
  scf.for %i = %c1 to %n step %c1 {
  }
  // expected-error @below {{not yet supported: a bound known only at run time, but for a loop from 0 in steps of 1}}
  scf.for %i = %c0 to %n step %c2 {
  }
  // expected-error @below {{not yet supported: a number of trips that may be -1; give argument 2 a range from 0 on}}
  scf.for %i = %c0 to %m step %c1 {
  }
  %next = arith.addi %n, %c1 : index
  // expected-error @below {{not yet supported: bounds known only at run time}}
  scf.for %i = %c0 to %next step %c1 {
  }
  // expected-error @below {{not yet supported: bounds known only at run time}}
  scf.for %i = %n to %c2 step %c1 {
  }
  return
}
