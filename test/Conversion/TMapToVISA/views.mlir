// Reshapes are views, of a copy where something else reads the source; a gather
// counts rows, or bytes where the index is long.
// RUN: furiosa-opt-mlir %s --convert-tmap-to-visa -o %t.mlir
// RUN: FileCheck %s < %t.mlir

#axes = #tmap.axes<S = 24, T = 24, D = 32, W = 100, N = 2048, L = 6, M = 4>
!x = !tmap.tensor<i8, "S, D", #axes>
!y = !tmap.tensor<i8, "T, D", #axes>
!s = !tmap.tensor<i32, "S, T", #axes>
!t = !tmap.tensor<bf16, "W, D", #axes>

// CHECK-LABEL: @gram
// CHECK: %[[C:.*]] = visa.alloc
// CHECK: visa.copy %arg0 into %[[C]]
// CHECK: visa.reshape %[[C]]
func.func @gram(%x: !x) -> !s attributes {visa.kernel} {
  %y = tmap.reshape %x : !x -> !y
  %s = tmap.contract %x, %y over [D] : !x, !y -> !s
  return %s : !s
}

// CHECK-LABEL: @rows
// CHECK: %[[I:.*]] = visa.to_dm %arg1
// CHECK: visa.gather %arg0 by %[[I]]
// CHECK: visa.to_hbm
func.func @rows(%t: !t, %i: !tmap.tensor<i32, "S", #axes>) -> !tmap.tensor<bf16, "S, D", #axes> attributes {visa.kernel} {
  %g = tmap.gather %t by %i over [W] : !t, !tmap.tensor<i32, "S", #axes> -> !tmap.tensor<bf16, "S, D", #axes>
  return %g : !tmap.tensor<bf16, "S, D", #axes>
}

// CHECK-LABEL: @many
// CHECK: vector_fxp mul_int [imm 64]
// CHECK: visa.gather scaled %arg0 by
func.func @many(%t: !t, %i: !tmap.tensor<i32, "N", #axes>) -> !tmap.tensor<bf16, "N, D", #axes> attributes {visa.kernel} {
  %g = tmap.gather %t by %i over [W] : !t, !tmap.tensor<i32, "N", #axes> -> !tmap.tensor<bf16, "N, D", #axes>
  return %g : !tmap.tensor<bf16, "N, D", #axes>
}
