// A fold is one chain per axis, the last axis first.
// RUN: furiosa-opt-mlir %s --convert-tmap-to-visa | FileCheck %s

#axes = #tmap.axes<N = 64, T = 100, O = 1>
!x = !tmap.tensor<f32, "N, T", #axes>
!o = !tmap.tensor<f32, "O, N", #axes>
!n = !tmap.tensor<f32, "N", #axes>
!f = !tmap.tensor<f32, "1", #axes>

// CHECK-LABEL: @twice
// CHECK: vector_narrow split time "{{.*}}T # 104 / 4" packet "T # 104 % 4"
// CHECK-NEXT: vector_reduce max axis "T" time "{{.*}}" packet "1 # 4"
// CHECK-NEXT: vector_widen pad packet "1 # 8"
// CHECK: visa.to_hbm
// CHECK: vector_reduce max axis "N" time "1" packet "1 # 4"
func.func @twice(%x: !x) -> !f attributes {visa.kernel} {
  %m = tmap.reduce max %x over [N, T] : !x -> !f
  return %m : !f
}

// One cell is folded with what changes nothing.
// CHECK-LABEL: @one
// CHECK-NOT: vector_reduce
// CHECK: vector_clip add [imm 0.0]
func.func @one(%x: !o) -> !n attributes {visa.kernel} {
  %m = tmap.reduce add %x over [O] : !o -> !n
  return %m : !n
}
