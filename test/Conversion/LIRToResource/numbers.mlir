// RUN: furiosa-opt-mlir %s -split-input-file -convert-lir-to-resource -verify-diagnostics | FileCheck %s

// A loop by an argument is kept even where it makes one trip at most, and is
// gone where it makes none.
// CHECK-LABEL: resource.program @kept
// CHECK: %[[N:.*]] = resource.argument 1 input "arg1" range [0, 1]
// CHECK-NOT: resource.loop
// CHECK: resource.loop 1 by %[[N]] : !lir.mem<hbm, 4> {
// CHECK-NOT: resource.loop
func.func @kept(%a: !lir.mem<hbm, 8192> {lir.written}, %n: index {lir.range = array<i64: 0, 1>, lir.operand = #resource.operand<i32, chip "1", element "1", axes [] sizes []>}, %z: i32 {lir.range = array<i64: 0, 0>, lir.operand = #resource.operand<i32, chip "1", element "1", axes [] sizes []>}) attributes {visa.kernel, lir.pes = 4 : i64, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k = arith.index_cast %z : i32 to index
  %d = lir.alloc : !lir.mem<dm, 32>
  scf.for %i = %c0 to %n step %c1 {
    lir.dma %d to %a engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 4194304 : 32] packet 32>] : !lir.mem<dm, 32>, !lir.mem<hbm, 8192>
  }
  scf.for %i = %c0 to %k step %c1 {
    lir.dma %d to %a engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 4194304 : 32] packet 32>] : !lir.mem<dm, 32>, !lir.mem<hbm, 8192>
  }
  return
}

// -----

// expected-error @below {{argument 0 is a number, but has no array attribute lir.range}}
func.func @none(%n: index) attributes {visa.kernel, lir.pes = 4 : i64, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  return
}

// -----

func.func @steps(%n: index {lir.range = array<i64: 0, 8>, lir.operand = #resource.operand<i32, chip "1", element "1", axes [] sizes []>}) attributes {visa.kernel, lir.pes = 4 : i64, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  // expected-error @below {{not yet supported: a bound known only at run time, but for a loop from 0 in steps of 1}}
  scf.for %i = %c0 to %n step %c2 {
  }
  return
}

// -----

func.func @sum(%n: index {lir.range = array<i64: 0, 8>, lir.operand = #resource.operand<i32, chip "1", element "1", axes [] sizes []>}) attributes {visa.kernel, lir.pes = 4 : i64, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.addi %n, %c1 : index
  // expected-error @below {{not yet supported: bounds known only at run time}}
  scf.for %i = %c0 to %m step %c1 {
  }
  return
}

// -----

func.func @negative(%n: index {lir.range = array<i64: -1, 8>, lir.operand = #resource.operand<i32, chip "1", element "1", axes [] sizes []>}) attributes {visa.kernel, lir.pes = 4 : i64, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{not yet supported: a number of trips that may be -1; give argument 0 a range from 0 on}}
  scf.for %i = %c0 to %n step %c1 {
  }
  return
}
