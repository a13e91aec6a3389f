// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

// Control flow that need not end is refused, in a kernel without tensors too.

// expected-error @below {{not yet supported: a kernel of several blocks; use scf.for}}
func.func @branch() attributes {visa.kernel} {
  cf.br ^a
^a:
  cf.br ^a
}

// -----

func.func @while() attributes {visa.kernel} {
  %true = arith.constant true
  // expected-error @below {{not yet supported: scf.while in a kernel; use scf.for}}
  scf.while : () -> () {
    scf.condition(%true)
  } do {
    scf.yield
  }
  return
}

// -----

func.func @steps(%n: index {visa.range = array<i64: 0, 4>}) attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{a loop step of 0; loops count up by at least 1}}
  scf.for %i = %c0 to %c1 step %c0 {
  }
  // expected-error @below {{not yet supported: a step known only at run time}}
  scf.for %i = %c0 to %c1 step %n {
  }
  return
}

// -----

func.func @region() attributes {visa.kernel} {
  // expected-error @below {{not yet supported: a region of several blocks in a kernel; use scf.for and scf.if}}
  scf.execute_region {
    cf.br ^a
  ^a:
    cf.br ^a
  }
  return
}

// -----

// Beside tensors, all faults in one run.
#axes = #tmap.axes<A = 2048>
!hbm = !visa.hbm<i32, element "A", #axes>
!dm = !visa.dm<i32, slice "A / 8", element "A % 8", #axes>
func.func @tensors(%a: !hbm) -> !hbm attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %true = arith.constant true
  %d = visa.to_dm %a : !hbm -> !dm
  // expected-error @below {{not yet supported: scf.while in a kernel; use scf.for}}
  scf.while : () -> () {
    scf.condition(%true)
  } do {
    scf.yield
  }
  // expected-error @below {{a loop step of 0; loops count up by at least 1}}
  scf.for %i = %c0 to %c1 step %c0 {
  }
  %o = visa.to_hbm %d : !dm -> !hbm
  return %o : !hbm
}
