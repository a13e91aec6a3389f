// RUN: furiosa-opt-mlir %s --convert-lir-to-resource | FileCheck %s
// RUN: furiosa-opt-mlir %s --convert-lir-to-resource --verify-roundtrip | FileCheck %s

// An input, a pass over each slice, a result.

// CHECK-LABEL: resource.program @constant_add pes 4 clusters [0] release "0.6" {
// CHECK-NEXT: %[[A:.*]] = resource.argument 0 input "a" : !lir.mem<hbm, 8192> as #resource.operand<i32, chip "1", element "A", axes ["A"] sizes [2048]>
// CHECK-NEXT: %[[O:.*]] = resource.argument 1 output "result0" : !lir.mem<hbm, 8192> as #resource.operand<i32, chip "1", element "A", axes ["A"] sizes [2048]>
// CHECK-NEXT: %[[D:.*]] = resource.buffer : !lir.mem<dm, 32>
// CHECK-NEXT: %[[R:.*]] = resource.buffer : !lir.mem<dm, 32>
// CHECK-NEXT: %[[T0:.*]] = resource.issue dma {
// CHECK-NEXT:   lir.dma %[[A]] to %[[D]] engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>, #lir.engine<cluster 0 pe 1 from 2048 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<dm, 32>
// CHECK-NEXT: } : !resource.token
// CHECK-NEXT: %[[T1:.*]] = resource.issue main after [%[[T0]]] {
// CHECK-NEXT:   lir.exec main {
// CHECK-NEXT:     fetch_sequencer %[[D]]
// CHECK:          commit_sequencer %[[R]]
// CHECK:      } : !resource.token
// CHECK-NEXT: resource.issue dma after [%[[T1]]] {
// CHECK-NEXT:   lir.dma %[[R]] to %[[O]]
// CHECK-NEXT: } : !resource.token
// CHECK-NEXT: }
// CHECK-NOT: func.func @constant_add
func.func @constant_add(%a: !lir.mem<hbm, 8192> {lir.name = "a", lir.operand = #resource.operand<i32, chip "1", element "A", axes ["A"] sizes [2048]>})
    -> (!lir.mem<hbm, 8192> {lir.operand = #resource.operand<i32, chip "1", element "A", axes ["A"] sizes [2048]>})
    attributes {visa.kernel, lir.pes = 4, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %d = lir.alloc : !lir.mem<dm, 32>
  lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>, #lir.engine<cluster 0 pe 1 from 2048 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 8192>, !lir.mem<dm, 32>
  %r = lir.alloc : !lir.mem<dm, 32>
  lir.exec main {
    fetch_sequencer %d loops [1 : 0] read 32 packet 32 flits 1 : !lir.mem<dm, 32>
    collect flits_per_packet 1
    vector_alu fxp_add add [imm 1]
    commit_adapter in 32 keep 32
    commit_sequencer %r loops [1 : 0] write 32 slices [0, 255] : !lir.mem<dm, 32>
  }
  %o = lir.alloc : !lir.mem<hbm, 8192>
  lir.dma %r to %o engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 4194304 : 32] packet 32>, #lir.engine<cluster 0 pe 1 from 0 to 2048 loops [64 : 4194304 : 32] packet 32>] : !lir.mem<dm, 32>, !lir.mem<hbm, 8192>
  return %o : !lir.mem<hbm, 8192>
}

// A loop over tiles: offsets become advances, dependences stay inside. The
// second loop starts at 4 and has a step; it writes other bytes of the result
// than the first, so that neither waits for the other.

// CHECK-LABEL: resource.program @tiled pes 1 clusters [0] release "0.4" {
// CHECK: %[[M:.*]] = resource.argument 0 input "arg0" : !lir.mem<hbm, 65536>
// CHECK: %[[Y:.*]] = resource.argument 1 output "result0" : !lir.mem<hbm, 65536>
// CHECK: %[[B:.*]] = resource.buffer
// CHECK-NEXT: %[[E:.*]] = resource.buffer
// CHECK-NEXT: resource.loop 8 {
// CHECK-NEXT:   %[[T:.*]] = resource.issue dma advance [8192, 0] {
// CHECK-NEXT:     lir.dma %[[M]] to %[[B]] engines [#lir.engine<cluster 0 pe 0 from 0 to 0
// CHECK-NEXT:   } : !resource.token
// CHECK-NEXT:   resource.issue dma advance [0, 8192] after [%[[T]]] {
// CHECK-NEXT:     lir.dma %[[B]] to %[[Y]] engines [#lir.engine<cluster 0 pe 0 from 0 to 64
// CHECK-NEXT:   } : !resource.token
// CHECK-NEXT: } : !resource.token
// CHECK-NEXT: resource.loop 2 {
// CHECK-NEXT:   resource.loop 3 {
// CHECK-NEXT:     resource.issue dma advance [16384, 0, 256, 0] {
// CHECK-NEXT:       lir.dma %[[M]] to %[[E]] engines [#lir.engine<cluster 0 pe 0 from 32760 to 0
// CHECK-NOT: resource.loop
func.func @tiled(%m: !lir.mem<hbm, 65536>) -> !lir.mem<hbm, 65536> attributes {visa.kernel, lir.pes = 1, lir.clusters = array<i64: 0>, lir.release = "0.4"} {
  %y = lir.alloc : !lir.mem<hbm, 65536>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c3 = arith.constant 3 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %c8192 = arith.constant 8192 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %b = lir.alloc : !lir.mem<dm, 64>
    %off = arith.muli %i, %c8192 : index
    lir.dma %m[%off] to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 64 : 4194304] packet 64>] : !lir.mem<hbm, 65536>, !lir.mem<dm, 64>
    %off2 = arith.addi %off, %c64 : index
    lir.dma %b to %y[%off2] engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [32 : 4194304 : 64] packet 64>] : !lir.mem<dm, 64>, !lir.mem<hbm, 65536>
    scf.for %j = %c4 to %c7 step %c2 {
      scf.for %k = %c0 to %c3 step %c1 {
        // Nothing happens here.
      }
    }
  }
  %e = lir.alloc : !lir.mem<dm, 64>
  scf.for %j = %c4 to %c7 step %c2 {
    scf.for %k = %c0 to %c3 step %c1 {
      %x = arith.muli %j, %c8192 : index
      %z = arith.muli %c256, %k : index
      %s = arith.addi %x, %z : index
      %c8i = arith.constant 8 : i64
      %c8x = arith.index_cast %c8i : i64 to index
      %t = arith.subi %s, %c8x : index
      lir.dma %m[%t] to %e engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 64>] : !lir.mem<hbm, 65536>, !lir.mem<dm, 64>
      lir.dma %e to %y engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 64>] : !lir.mem<dm, 64>, !lir.mem<hbm, 65536>
    }
  }
  // No trip, and one trip.
  scf.for %i = %c8 to %c8 step %c1 {
    %gone = lir.alloc : !lir.mem<dm, 128>
    lir.dma %m to %gone engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 64>] : !lir.mem<hbm, 65536>, !lir.mem<dm, 128>
  }
  return %y : !lir.mem<hbm, 65536>
}

// Every kind of dependence, transitively reduced; an argument that is written;
// scratch; nothing is kept that nobody uses.

// CHECK-LABEL: resource.program @dependences
// CHECK: %[[A:.*]] = resource.argument 0 inout "arg0"
// CHECK: %[[S:.*]] = resource.argument 1 scratch "scratch0"
// CHECK-NEXT: %[[D:.*]] = resource.buffer : !lir.mem<dm, 64>
// CHECK-NEXT: %[[E:.*]] = resource.buffer : !lir.mem<dm, 64>
// CHECK-NEXT: %[[T0:.*]] = resource.issue dma {
// CHECK-NEXT: lir.dma %[[A]] to %[[D]]
// CHECK: %[[T1:.*]] = resource.issue dma {
// CHECK-NEXT: lir.dma %[[A]] to %[[E]]
// CHECK: %[[T2:.*]] = resource.issue dma after [%[[T0]]] {
// CHECK-NEXT: lir.dma %[[D]] to %[[S]]
// CHECK: %[[T3:.*]] = resource.issue dma after [%[[T2]]] {
// CHECK-NEXT: lir.dma %[[S]] to %[[D]] engines [#lir.engine<cluster 0 pe 0 from 8 to 0
// CHECK: resource.issue dma after [%[[T1]], %[[T3]]] {
// CHECK-NEXT: lir.dma %[[D]] to %[[A]]
func.func @dependences(%a: !lir.mem<hbm, 64>) attributes {visa.kernel, lir.pes = 1, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %unused = lir.alloc : !lir.mem<hbm, 64>
  %unused2 = lir.alloc : !lir.mem<dm, 64>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %s = lir.alloc : !lir.mem<hbm, 64>
  %d = lir.alloc : !lir.mem<dm, 64>
  %e = lir.alloc : !lir.mem<dm, 64>
  lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 8>] : !lir.mem<hbm, 64>, !lir.mem<dm, 64>
  lir.dma %a to %e engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 8>] : !lir.mem<hbm, 64>, !lir.mem<dm, 64>
  lir.dma %d to %s engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 64>] : !lir.mem<dm, 64>, !lir.mem<hbm, 64>
  scf.for %i = %c8 to %c9 step %c1 {
    lir.dma %s[%i] to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 8>] : !lir.mem<hbm, 64>, !lir.mem<dm, 64>
  }
  lir.dma %d to %a engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 8>] : !lir.mem<dm, 64>, !lir.mem<hbm, 64>
  return
}

// Engines that write in turns, none where another one has been.

// CHECK-LABEL: resource.program @interleaved
func.func @interleaved(%d: !lir.mem<hbm, 64>) -> !lir.mem<hbm, 64> attributes {visa.kernel, lir.pes = 2, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %o = lir.alloc : !lir.mem<hbm, 64>
  %x = lir.alloc : !lir.mem<dm, 32>
  lir.dma %d to %x engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 32>, #lir.engine<cluster 0 pe 1 from 0 to 0 loops [] packet 32>] : !lir.mem<hbm, 64>, !lir.mem<dm, 32>
  lir.dma %x to %o engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [4 : 8 : 16] packet 8>, #lir.engine<cluster 0 pe 1 from 0 to 8 loops [4 : 8 : 16] packet 8>] : !lir.mem<dm, 32>, !lir.mem<hbm, 64>
  lir.dma %o to %x engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [4 : 16 : 8] packet 8>, #lir.engine<cluster 0 pe 1 from 8 to 0 loops [4 : 16 : 8] packet 8>] : !lir.mem<hbm, 64>, !lir.mem<dm, 32>
  return %o : !lir.mem<hbm, 64>
}

// What is no kernel stays.

// CHECK-LABEL: func.func @other
func.func @other(%i: index) -> index {
  return %i : index
}
