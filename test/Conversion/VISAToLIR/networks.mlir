// visa.alternate_networks: packets in a row go to slices of the two networks of a
// PE in turn, in both directions.
// RUN: furiosa-opt-mlir %s --convert-visa-to-lir | FileCheck %s
// Each network then takes half of the time.
// RUN: furiosa-opt-mlir %s --furiosa-pipeline --resource-print-costs -o /dev/null 2>&1 | FileCheck %s --check-prefix=COST

#axes = #tmap.axes<J = 1024, K = 256>
!h = !visa.hbm<i8, element "J, K", #axes>
!d = !visa.dm<i8, slice "J / 4", element "J % 4, K", #axes>

// 64 slices of 4 rows of 256 bytes an engine, 4 MiB from slice to slice.
// CHECK-LABEL: @plain
// CHECK: loops [64 : 1024 : 4194304] packet 1024>
// CHECK: loops [64 : 4194304 : 1024] packet 1024>
// COST: dma {{.*}} write dm 512
// COST: dma {{.*}} read dm 512
func.func @plain(%a: !h) -> !h attributes {visa.kernel} {
  %0 = visa.to_dm %a : !h -> !d
  %1 = visa.to_hbm %0 : !d -> !h
  return %1 : !h
}
// CHECK-LABEL: @turns
// CHECK: loops [32 : 1024 : 4194304, 2 : 32768 : 134217728] packet 1024>
// CHECK: loops [32 : 4194304 : 1024, 2 : 134217728 : 32768] packet 1024>
// COST: dma {{.*}} write dm 256
// COST: dma {{.*}} read dm 256
func.func @turns(%a: !h) -> !h attributes {visa.alternate_networks, visa.kernel} {
  %0 = visa.to_dm %a : !h -> !d
  %1 = visa.to_hbm %0 : !d -> !h
  return %1 : !h
}

// Slices of the two networks hold rows of HBM that lie 8 MiB apart: in turn, each
// packet would find another row of the bank. One row after the other costs
// less (row switches of 40 cycles against half of the time of data memory).
#far = #tmap.axes<J = 1024, K = 65536>
!fh = !visa.hbm<i8, element "J, K", #far>
!fr = !visa.hbm<i8, element "J, K = 4096 # 65536", #far>
!fd = !visa.dm<i8, slice "J / 4", element "J % 4, K = 4096", #far>
// CHECK-LABEL: @rows
// CHECK: engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [64 : 262144 : 4194304, 4 : 65536 : 4096] packet 4096>
func.func @rows(%a: !fh) attributes {visa.alternate_networks, visa.kernel} {
  %w = visa.tile %a[0] along "K" take 4096 : !fh -> !fr
  %0 = visa.to_dm %w : !fr -> !fd
  return
}
