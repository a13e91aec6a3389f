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
