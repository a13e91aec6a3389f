// RUN: furiosa-opt-mlir %s --convert-visa-to-lir | FileCheck %s

// Worked views whose addresses are known (the others: RulesTest.cpp and WorkedRowsTest.cpp).

// V8: of [A8, H4] in i32, rows 0, 4 and 7 begin at bytes 0, 64 and 112 of the
// buffer, 0x1000, 0x1040 and 0x1070 where that lies at 0x1000.
// CHECK-LABEL: func.func @v8
// CHECK: lir.dma %[[D:.*]] to %{{.*}} engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 16>]
// CHECK: lir.dma %[[D]] to %{{.*}} engines [#lir.engine<cluster 0 pe 0 from 64 to 0 loops [] packet 16>]
// CHECK: lir.dma %[[D]] to %{{.*}} engines [#lir.engine<cluster 0 pe 0 from 112 to 0 loops [] packet 16>]
#axes8 = #tmap.axes<A = 8, H = 4>
!v8_h = !visa.hbm<i32, element "A, H", #axes8>
!v8_d = !visa.dm<i32, slice "1 # 256", element "A, H", #axes8>
!v8_v = !visa.dm<i32, slice "1 # 256", element "1 # 8, H", #axes8>
!v8_o = !visa.hbm<i32, element "H", #axes8>
func.func @v8(%a: !v8_h) -> (!v8_o, !v8_o, !v8_o) attributes {visa.kernel} {
  %d = visa.to_dm %a : !v8_h -> !v8_d
  %0 = visa.tile %d[0] along "A" take 1 : !v8_d -> !v8_v
  %1 = visa.tile %d[4] along "A" take 1 : !v8_d -> !v8_v
  %2 = visa.tile %d[7] along "A" take 1 : !v8_d -> !v8_v
  %h0 = visa.to_hbm %0 : !v8_v -> !v8_o
  %h1 = visa.to_hbm %1 : !v8_v -> !v8_o
  %h2 = visa.to_hbm %2 : !v8_v -> !v8_o
  return %h0, %h1, %h2 : !v8_o, !v8_o, !v8_o
}

// V10: the start is 2k rows of 15,360 numbers of 4 bits, 15,360 bytes a step; the 32
// windows are 120 rows apart.
// CHECK-LABEL: func.func @v10
// CHECK: scf.for %[[K:.*]] = %
// CHECK: %[[ROWS:.*]] = arith.muli %[[K]], %{{.*}} : index
// CHECK: %[[ROW:.*]] = arith.constant 7680 : index
// CHECK: %[[BYTES:.*]] = arith.muli %[[ROWS]], %[[ROW]] : index
// CHECK: lir.dma %{{.*}}[%[[BYTES]]] to %{{.*}} engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [32 : 921600 : 4194304, 4 : 3840 : 3840] packet 3840>]
#axes10 = #tmap.axes<H = 3840, L = 15360>
!v10_h = !visa.hbm<f4E2M1FN, element "H, L", #axes10>
!v10_v = !visa.hbm<f4E2M1FN, element "H / 120, H % 120 = 2 # 120, L", #axes10>
!v10_d = !visa.dm<f4E2M1FN, slice "H / 120 # 256", element "H % 120 = 2, L", #axes10>
func.func @v10(%a: !v10_h) attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c60 = arith.constant 60 : index
  scf.for %k = %c0 to %c60 step %c1 {
    %s = arith.muli %k, %c2 : index
    %v = visa.tile %a[%s] along "H % 120" take 2 : !v10_h -> !v10_v
    %d = visa.to_dm %v : !v10_v -> !v10_d
  }
  return
}
