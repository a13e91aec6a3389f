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
  // expected-error @below {{not yet supported: bounds known only at run time, but for a loop in steps of 1}}
  scf.for %i = %c0 to %n step %c2 {
  }
  return
}

// -----

func.func @sum(%n: index {lir.range = array<i64: 0, 8>, lir.operand = #resource.operand<i32, chip "1", element "1", axes [] sizes []>}) attributes {visa.kernel, lir.pes = 4 : i64, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.muli %n, %n : index
  // expected-error @below {{not yet supported: bounds known only at run time}}
  scf.for %i = %c0 to %m step %c1 {
  }
  return
}

// -----

func.func @negative(%n: index {lir.range = array<i64: -1, 8>, lir.operand = #resource.operand<i32, chip "1", element "1", axes [] sizes []>}) attributes {visa.kernel, lir.pes = 4 : i64, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{not yet supported: a number of trips that may be -1; give the arguments that it is computed from ranges so that it is 0 or more}}
  scf.for %i = %c0 to %n step %c1 {
  }
  return
}

// -----

// The base is that of the least number, here -1; a step may fall.
// CHECK-LABEL: resource.program @starts
// CHECK: %[[N:.*]] = resource.argument 1 input "arg1" range [-1, 3]
// CHECK: %[[M:.*]] = resource.argument 2 input "arg2" range [0, 2]
// CHECK: resource.issue dma starts [64, 0, -32, 0] by %[[N]], %[[M]] : !lir.mem<hbm, 4>, !lir.mem<hbm, 4> {
// CHECK-NEXT: from 64 to 0 loops
func.func @starts(%a: !lir.mem<hbm, 8192> {lir.written}, %n: i32 {lir.range = array<i64: -1, 3>, lir.operand = #resource.operand<i32, chip "1", element "1", axes [] sizes []>}, %m: index {lir.range = array<i64: 0, 2>, lir.operand = #resource.operand<i32, chip "1", element "1", axes [] sizes []>}) attributes {visa.kernel, lir.pes = 4 : i64, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %i = arith.index_cast %n : i32 to index
  %0 = arith.muli %i, %c64 : index
  %1 = arith.addi %0, %c128 : index
  %2 = arith.muli %m, %c32 : index
  %3 = arith.subi %1, %2 : index
  %d = lir.alloc : !lir.mem<dm, 32>
  lir.dma %a[%3] to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<dm, 32>
  return
}

// -----

// A branch is a loop of one trip at most for each comparison; where not all
// hold, one after the other is the first that does not.
// CHECK-LABEL: resource.program @branch
// CHECK: %[[N:.*]] = resource.argument 1 input
// CHECK: resource.loop 1 by %[[N]] : !lir.mem<hbm, 4> when lt 2 {
// CHECK: resource.loop 1 by %[[N]] : !lir.mem<hbm, 4> when ge -1 {
// CHECK: fill %{{.*}} with 1 :
// CHECK: resource.loop 1 by %[[N]] : !lir.mem<hbm, 4> when ge 2 after
// CHECK: fill %{{.*}} with 2 :
// CHECK: resource.loop 1 by %[[N]] : !lir.mem<hbm, 4> when lt 2 after
// CHECK: resource.loop 1 by %[[N]] : !lir.mem<hbm, 4> when lt -1 {
// CHECK: fill %{{.*}} with 2 :
func.func @branch(%a: !lir.mem<hbm, 8192> {lir.written}, %n: index {lir.range = array<i64: -4, 3>, lir.operand = #resource.operand<i32, chip "1", element "1", axes [] sizes []>}) attributes {visa.kernel, lir.pes = 4 : i64, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %c2 = arith.constant 2 : index
  %cm3 = arith.constant -3 : index
  %c5 = arith.constant 5 : index
  %d = lir.alloc : !lir.mem<dm, 32>
  %0 = arith.cmpi slt, %n, %c2 : index
  // -3 n < 5
  %1 = arith.muli %n, %cm3 : index
  %2 = arith.cmpi slt, %1, %c5 : index
  %3 = arith.andi %0, %2 : i1
  scf.if %3 {
    lir.exec sub {
      lir.fill %d with 1 : !lir.mem<dm, 32>
    }
  } else {
    lir.exec sub {
      lir.fill %d with 2 : !lir.mem<dm, 32>
    }
  }
  return
}

// -----

// Two numbers are compared by their difference.
// CHECK-LABEL: resource.program @two
// CHECK: %[[N:.*]] = resource.argument 1 input
// CHECK: %[[M:.*]] = resource.argument 2 input
// CHECK: resource.loop 1 by %[[N]], %[[M]] : !lir.mem<hbm, 4>, !lir.mem<hbm, 4> scales [1, -1] when lt 0 {
// CHECK-NOT: resource.loop
func.func @two(%a: !lir.mem<hbm, 8192> {lir.written}, %n: index {lir.range = array<i64: 0, 8>, lir.operand = #resource.operand<i32, chip "1", element "1", axes [] sizes []>}, %m: index {lir.range = array<i64: 0, 8>, lir.operand = #resource.operand<i32, chip "1", element "1", axes [] sizes []>}) attributes {visa.kernel, lir.pes = 4 : i64, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %d = lir.alloc : !lir.mem<dm, 32>
  %0 = arith.cmpi slt, %n, %m : index
  scf.if %0 {
    lir.exec sub {
      lir.fill %d with 1 : !lir.mem<dm, 32>
    }
  }
  return
}

// -----

func.func @product(%n: index {lir.range = array<i64: 0, 8>, lir.operand = #resource.operand<i32, chip "1", element "1", axes [] sizes []>}, %m: index {lir.range = array<i64: 0, 8>, lir.operand = #resource.operand<i32, chip "1", element "1", axes [] sizes []>}) attributes {visa.kernel, lir.pes = 4 : i64, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %1 = arith.muli %n, %m : index
  %0 = arith.cmpi slt, %1, %m : index
  // expected-error @below {{not yet supported: a condition other than comparisons of sums of numbers of the host, joined by and, or and xor to no more than 16 cases}}
  scf.if %0 {
  }
  return
}

// -----

// Bases in data memory: a fetch that begins at a number; not at a counter.
// CHECK-LABEL: resource.program @bases
// CHECK: resource.issue sub starts [8, 0] by %{{.*}} : !lir.mem<hbm, 4> {
// CHECK: fetch_sequencer %{{.*}} base 16 loops
func.func @bases(%n: index {lir.range = array<i64: 1, 4>, lir.operand = #resource.operand<i32, chip "1", element "1", axes [] sizes []>}) attributes {visa.kernel, lir.pes = 4 : i64, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %d = lir.alloc : !lir.mem<dm, 256>
  %e = lir.alloc : !lir.mem<dm, 256>
  %0 = arith.muli %n, %c8 : index
  lir.exec sub {
    fetch_sequencer %d[%0] base 8 loops [4 : 8] read 8 packet 8 flits 4 : !lir.mem<dm, 256>
    collect flits_per_packet 1
    commit_adapter in 32 keep 8
    commit_sequencer %e loops [4 : 8] write 8 slices [0, 255] : !lir.mem<dm, 256>
  }
  return
}

// -----

func.func @counter() attributes {visa.kernel, lir.pes = 4 : i64, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %d = lir.alloc : !lir.mem<dm, 256>
  %e = lir.alloc : !lir.mem<dm, 256>
  scf.for %i = %c0 to %c64 step %c8 {
    lir.exec sub {
      fetch_sequencer %d loops [4 : 8] read 8 packet 8 flits 4 : !lir.mem<dm, 256>
      collect flits_per_packet 1
      commit_adapter in 32 keep 8
      // expected-error @below {{not yet supported: an offset into data memory that follows the counter of a loop}}
      commit_sequencer %e[%i] loops [4 : 8] write 8 slices [0, 255] : !lir.mem<dm, 256>
    }
  }
  return
}
