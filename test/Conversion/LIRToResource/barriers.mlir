// Barriers where engines of different PEs touch the same bytes.
// RUN: furiosa-opt-mlir %s -split-input-file -convert-lir-to-resource | FileCheck %s
// RUN: furiosa-opt-mlir %s -split-input-file -furiosa-pipeline -resource-verify-schedule | FileCheck %s --check-prefix=SCHEDULE

// One PE reads what another one wrote.
// CHECK-LABEL: resource.program @read_behind_write
// CHECK:         %[[W:.*]] = resource.issue dma {
// CHECK:         %[[B:.*]] = resource.loop 1 barrier after [%[[W]]] {
// CHECK-NEXT:    } : !resource.token
// CHECK:         resource.issue dma after [%[[W]], %[[B]]] {
// SCHEDULE-LABEL: resource.program @read_behind_write
// SCHEDULE:         resource.issue dma tag 0
// SCHEDULE:         resource.wait dma tag 0
// SCHEDULE:         resource.loop 1 barrier cycles 0 {
// SCHEDULE:         resource.issue dma tag 0
func.func @read_behind_write(%a: !lir.mem<hbm, 4096>) attributes {visa.kernel, lir.pes = 2, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %d = lir.alloc : !lir.mem<dm, 64>
  lir.dma %d to %a engines [#lir.engine<cluster 0 pe 0 from 0 to 64 loops [] packet 64>] : !lir.mem<dm, 64>, !lir.mem<hbm, 4096>
  lir.dma %a to %d engines [#lir.engine<cluster 0 pe 1 from 96 to 0 loops [] packet 64>] : !lir.mem<hbm, 4096>, !lir.mem<dm, 64>
  return
}

// -----

// Bytes apart need none.
// CHECK-LABEL: resource.program @apart
// CHECK-NOT:     barrier
func.func @apart(%a: !lir.mem<hbm, 4096>) attributes {visa.kernel, lir.pes = 2, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %d = lir.alloc : !lir.mem<dm, 64>
  lir.dma %d to %a engines [#lir.engine<cluster 0 pe 0 from 0 to 64 loops [] packet 64>] : !lir.mem<dm, 64>, !lir.mem<hbm, 4096>
  lir.dma %a to %d engines [#lir.engine<cluster 0 pe 1 from 128 to 0 loops [] packet 64>] : !lir.mem<hbm, 4096>, !lir.mem<dm, 64>
  return
}

// -----

// Two PEs write the same bytes in different iterations.
// CHECK-LABEL: resource.program @next_iteration
// CHECK:         resource.loop 4 barrier {
// CHECK-NEXT:      resource.issue dma advance [0, 64] {
// CHECK-NOT:     barrier
func.func @next_iteration(%a: !lir.mem<hbm, 4096>) attributes {visa.kernel, lir.pes = 2, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %d = lir.alloc : !lir.mem<dm, 64>
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %x = arith.muli %i, %c64 : index
    lir.dma %d to %a[%x] engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 64>, #lir.engine<cluster 0 pe 1 from 0 to 64 loops [] packet 64>] : !lir.mem<dm, 64>, !lir.mem<hbm, 4096>
  }
  return
}

// -----

// In the data memory of another PE an engine is alone.
// CHECK-LABEL: resource.program @remote
// CHECK:         resource.issue dma {
// CHECK:         resource.loop 1 barrier
// CHECK:         resource.issue dma after
// CHECK:         resource.loop 1 barrier
// CHECK:         resource.issue dma after
func.func @remote(%a: !lir.mem<hbm, 4096>, %b: !lir.mem<hbm, 4096>) attributes {visa.kernel, lir.pes = 2, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %d = lir.alloc : !lir.mem<dm, 64>
  %e = lir.alloc : !lir.mem<dm, 64>
  lir.dma %a to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 64>] : !lir.mem<hbm, 4096>, !lir.mem<dm, 64>
  lir.dma %d to %e engines [#lir.engine<cluster 0 pe 0 from 0 to 550561120256 loops [] packet 64>] : !lir.mem<dm, 64>, !lir.mem<dm, 64>
  lir.dma %e to %b engines [#lir.engine<cluster 0 pe 1 from 0 to 0 loops [] packet 64>] : !lir.mem<dm, 64>, !lir.mem<hbm, 4096>
  return
}
