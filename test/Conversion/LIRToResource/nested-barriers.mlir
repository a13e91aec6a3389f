// A barrier inside a loop stands for nothing that comes behind it in the loop.
// RUN: furiosa-opt-mlir %s -split-input-file -convert-lir-to-resource | FileCheck %s
// RUN: furiosa-opt-mlir %s -split-input-file -furiosa-pipeline | FileCheck %s --check-prefix=SCHEDULE

// CHECK-LABEL: resource.program @behind_inner_barrier
// CHECK:         resource.loop 4 {
// CHECK-NEXT:      resource.loop 2 barrier {
// CHECK:           resource.issue dma
// CHECK:         resource.loop 1 barrier
// CHECK:         resource.issue dma after
// SCHEDULE-LABEL: resource.program @behind_inner_barrier
// SCHEDULE:         resource.loop 4
// SCHEDULE:         resource.loop 1 barrier cycles 0 {
// SCHEDULE:         resource.issue dma
func.func @behind_inner_barrier(%a: !lir.mem<hbm, 4096>, %b: !lir.mem<hbm, 64>) attributes {visa.kernel, lir.pes = 2, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %d = lir.alloc : !lir.mem<dm, 64>
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c2 step %c1 {
      %x = arith.muli %j, %c64 : index
      lir.dma %d to %a[%x] engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 64>, #lir.engine<cluster 0 pe 1 from 0 to 64 loops [] packet 64>] : !lir.mem<dm, 64>, !lir.mem<hbm, 4096>
    }
    lir.dma %d to %b engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 64>] : !lir.mem<dm, 64>, !lir.mem<hbm, 64>
  }
  lir.dma %b to %d engines [#lir.engine<cluster 0 pe 1 from 0 to 0 loops [] packet 64>] : !lir.mem<hbm, 64>, !lir.mem<dm, 64>
  return
}

// -----

// Nothing moves over a loop that has one: not a load of other bytes either.
// SCHEDULE-LABEL: resource.program @fence
// SCHEDULE:         resource.issue dma
// SCHEDULE-SAME:      cycles [1003,
// SCHEDULE:         resource.loop 2 barrier
// SCHEDULE:         resource.issue dma
// SCHEDULE:           lir.dma %1 to
func.func @fence(%a: !lir.mem<hbm, 4096>, %b: !lir.mem<hbm, 64>) attributes {visa.kernel, lir.pes = 2, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %d = lir.alloc : !lir.mem<dm, 64>
  %e = lir.alloc : !lir.mem<dm, 64>
  lir.dma %d to %a engines [#lir.engine<cluster 0 pe 0 from 0 to 1024 loops [] packet 64>] : !lir.mem<dm, 64>, !lir.mem<hbm, 4096>
  scf.for %j = %c0 to %c2 step %c1 {
    %x = arith.muli %j, %c64 : index
    lir.dma %d to %a[%x] engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 64>, #lir.engine<cluster 0 pe 1 from 0 to 64 loops [] packet 64>] : !lir.mem<dm, 64>, !lir.mem<hbm, 4096>
  }
  lir.dma %b to %e engines [#lir.engine<cluster 0 pe 1 from 0 to 0 loops [] packet 64>] : !lir.mem<hbm, 64>, !lir.mem<dm, 64>
  return
}
