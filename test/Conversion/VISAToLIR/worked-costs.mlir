// RUN: furiosa-opt-mlir %s -convert-visa-to-lir | FileCheck %s
// RUN: furiosa-opt-mlir %s -convert-visa-to-lir -convert-lir-to-resource -resource-print-costs -o /dev/null 2>&1 | FileCheck %s --check-prefix=COST

// D6: 15 rows over the 4 engines of a cluster, 4 a row of slices but for the last
// engine, which has 3: a command of its own (1,192 cycles in the tables, where that
// engine needs two). The requests are theirs, 256 and 192, at two cycles each into one
// network of the data memory.
// CHECK-COUNT-3: loops [64 : 256 : 4194304, 4 : 16384 : 256] packet 256>
// CHECK: lir.dma %{{.*}} engines [#lir.engine<cluster 0 pe 3 from 196608 to 0 loops [64 : 256 : 4194304, 3 : 16384 : 256] packet 256>
// COST: remark: dma 1076 cycles = read hbm 128 + write dm 512 - overlap 64 + start 500
// COST: remark: dma 900 cycles = read hbm 32 + write dm 384 - overlap 16 + start 500
#axes = #tmap.axes<A = 15, B = 16384>
!h = !visa.hbm<i8, element "A, B", #axes>
!d = !visa.dm<i8, cluster "1", slice "A # 16 / 4, B / 256", element "A # 16 % 4, B % 256", #axes>
func.func @d6(%a: !h) attributes {visa.kernel, visa.target = #visa.target<rngd, release = "0.6", chips = 1, pes = 4>} {
  %d = visa.to_dm %a : !h -> !d
  return
}
