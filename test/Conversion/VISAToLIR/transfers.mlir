// Buffers, views and transfers, and what a kernel says about itself.
// RUN: furiosa-opt-mlir %s -split-input-file -convert-visa-to-lir | FileCheck %s

#axes = #tmap.axes<R = 64, K = 8>
!m = !visa.hbm<i32, element "R, K", #axes>
!mt = !visa.hbm<i32, element "1 # 4, R % 16, K", #axes>
!mtt = !visa.hbm<i32, element "1 # 4, 1 # 4, R % 4, K", #axes>
!wt = !visa.hbm<i32, element "1 #{!} 4, R % 16, K", #axes>
!d = !visa.dm<i32, slice "R % 16 # 256", element "K", #axes>
!dd = !visa.dm<i32, slice "R % 4 # 256", element "K", #axes>

// Tile 3 of 4 begins at 3 * 16 * 8 * 4 = 1536 bytes: a number in the base.
// CHECK-LABEL: func.func @constant_tile(
// CHECK-SAME:    %[[M:.*]]: !lir.mem<hbm, 2048>
// CHECK-NEXT:    %[[D:.*]] = lir.alloc : !lir.mem<dm, 32>
// CHECK-NEXT:    lir.dma %[[M]] to %[[D]] engines [#lir.engine<cluster 0 pe 0 from 1536 to 0 loops [16 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 2048>, !lir.mem<dm, 32>
// CHECK-NEXT:    return
func.func @constant_tile(%m: !m) attributes {visa.kernel} {
  %mt = visa.tile %m[3] along "R / 16" take 1 : !m -> !mt
  %d = visa.to_dm %mt : !mt -> !d
  return
}

// The first window moves by 512 bytes a step, the one in it begins 2 * 128
// bytes later.
// CHECK-LABEL: func.func @tile_of_a_tile(
// CHECK-SAME:    %[[M:.*]]: !lir.mem<hbm, 2048>
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to
// CHECK-NEXT:      %[[D:.*]] = lir.alloc : !lir.mem<dm, 32>
// CHECK-NEXT:      %[[STEP:.*]] = arith.constant 512 : index
// CHECK-NEXT:      %[[OFF:.*]] = arith.muli %[[I]], %[[STEP]] : index
// CHECK-NEXT:      lir.dma %[[M]][%[[OFF]]] to %[[D]] engines [#lir.engine<cluster 0 pe 0 from 256 to 0 loops [4 : 32 : 4194304] packet 32>]
func.func @tile_of_a_tile(%m: !m) attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %mt = visa.tile %m[%i] along "R / 16" take 1 : !m -> !mt
    %mtt = visa.tile %mt[2] along "R / 4 % 4" take 1 : !mt -> !mtt
    %d = visa.to_dm %mtt : !mtt -> !dd
  }
  return
}

// Two starts that change: two products and a sum.
// CHECK-LABEL: func.func @two_loops(
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to
// CHECK:           scf.for %[[J:.*]] = %{{.*}} to
// CHECK-DAG:         %[[C128:.*]] = arith.constant 128 : index
// CHECK-DAG:         %[[C512:.*]] = arith.constant 512 : index
// CHECK-DAG:         %[[INNER:.*]] = arith.muli %[[J]], %[[C128]] : index
// CHECK-DAG:         %[[OUTER:.*]] = arith.muli %[[I]], %[[C512]] : index
// CHECK:             %[[SUM:.*]] = arith.addi %[[INNER]], %[[OUTER]] : index
// CHECK-NEXT:        lir.dma %{{.*}}[%[[SUM]]] to %{{.*}} engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [4 : 32 : 4194304] packet 32>]
func.func @two_loops(%m: !m) attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      %mt = visa.tile %m[%i] along "R / 16" take 1 : !m -> !mt
      %mtt = visa.tile %mt[%j] along "R / 4 % 4" take 1 : !mt -> !mtt
      %d = visa.to_dm %mtt : !mtt -> !dd
    }
  }
  return
}

// A copy fills a buffer that exists; on the way back the window is the target.
// CHECK-LABEL: func.func @copies(
// CHECK-SAME:    %[[M:.*]]: !lir.mem<hbm, 2048>
// CHECK:         %[[O:.*]] = lir.alloc : !lir.mem<hbm, 2048>
// CHECK-NEXT:    %[[D:.*]] = lir.alloc : !lir.mem<dm, 32>
// CHECK-NEXT:    lir.dma %[[M]] to %[[D]] engines [#lir.engine<cluster 0 pe 0 from 512 to 0 loops [16 : 32 : 4194304] packet 32>]
// CHECK-NEXT:    lir.dma %[[D]] to %[[O]] engines [#lir.engine<cluster 0 pe 0 from 0 to 1024 loops [16 : 4194304 : 32] packet 32>]
// CHECK-NEXT:    return %[[O]] : !lir.mem<hbm, 2048>
func.func @copies(%m: !m) -> !m attributes {visa.kernel} {
  %o = visa.alloc : !m
  %d = visa.alloc : !d
  %mt = visa.tile %m[1] along "R / 16" take 1 : !m -> !mt
  visa.copy %mt into %d : !mt, !d
  %ot = visa.tile %o[2] along "R / 16" take 1 : !m -> !wt
  visa.copy %d into %ot : !d, !wt
  return %o : !m
}

// Another spelling of the same cells is the same buffer.
// CHECK-LABEL: func.func @reshaped(
// CHECK:         %[[D:.*]] = lir.alloc : !lir.mem<dm, 32>
// CHECK:         lir.dma %{{.*}} to %[[D]]
// CHECK:         lir.dma %[[D]] to %{{.*}} engines
func.func @reshaped(%m: !m) -> !m attributes {visa.kernel} {
  %d = visa.to_dm %m : !m -> !visa.dm<i32, slice "R # 256", element "K", #axes>
  %s = visa.reshape %d : !visa.dm<i32, slice "R # 256", element "K", #axes> -> !visa.dm<i32, slice "[R / 16, R % 16] # 256", element "K", #axes>
  %o = visa.to_hbm %s : !visa.dm<i32, slice "[R / 16, R % 16] # 256", element "K", #axes> -> !m
  return %o : !m
}

// -----

// Both clusters hold cells, with four PEs each.
#axes = #tmap.axes<A = 4096>
!h = !visa.hbm<i32, element "A", #axes>
!d = !visa.dm<i32, cluster "A / 2048", slice "A / 8 % 256", element "A % 8", #axes>
// CHECK-LABEL: func.func @both_clusters
// CHECK-SAME:    lir.clusters = array<i64: 0, 1>, lir.pes = 4 : i64, lir.release = "0.6", visa.kernel
// CHECK:         lir.dma %{{.*}} to %{{.*}} engines [
// CHECK-SAME:      #lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>
// CHECK-SAME:      #lir.engine<cluster 1 pe 3 from 14336 to 0 loops [64 : 32 : 4194304] packet 32>]
func.func @both_clusters(%a: !h) attributes {visa.kernel} {
  %d = visa.to_dm %a : !h -> !d
  return
}

// -----

// One PE of one cluster, for an older release.
#axes = #tmap.axes<A = 512>
!h = !visa.hbm<i32, element "A", #axes>
!d = !visa.dm<i32, cluster "1", slice "A / 8", element "A % 8", #axes>
module attributes {visa.target = #visa.target<rngd, release = "0.5", chips = 1, pes = 1>} {
  // CHECK-LABEL: func.func @one_pe
  // CHECK-SAME:    lir.clusters = array<i64: 0>, lir.pes = 1 : i64, lir.release = "0.5", visa.kernel
  // CHECK:         engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>] :
  func.func @one_pe(%a: !h) attributes {visa.kernel} {
    %d = visa.to_dm %a : !h -> !d
    return
  }
}
