// Every op parses, prints and survives generic form and bytecode.
// RUN: furiosa-opt-mlir %s --verify-roundtrip | FileCheck %s
// RUN: furiosa-opt-mlir %s --mlir-print-op-generic | furiosa-opt-mlir | FileCheck %s
// RUN: furiosa-opt-mlir %s --emit-bytecode | furiosa-opt-mlir | FileCheck %s

#axes = #tmap.axes<B = 2, I = 8, J = 16, K = 64>
!a = !tmap.tensor<bf16, "B, I, K", #axes>
!b = !tmap.tensor<bf16, "B, J, K", #axes>
!s = !tmap.tensor<f32, "B, I, J", #axes>
!v = !tmap.tensor<f32, "J", #axes>
!r = !tmap.tensor<f32, "J, B, I", #axes>
!n = !tmap.tensor<i32, "I", #axes>
!f = !tmap.tensor<f32, "1", #axes>

// CHECK-LABEL: @ops
// CHECK: %[[S:.*]] = tmap.contract %{{.*}}, %{{.*}} over [K] : !tmap.tensor<bf16, "B, I, K", {{.*}}>, !tmap.tensor<bf16, "B, J, K", {{.*}}> -> !tmap.tensor<f32, "B, I, J", {{.*}}>
// CHECK: %[[V:.*]] = tmap.elementwise add %[[S]], %{{.*}} : (!tmap.tensor<f32, "B, I, J", {{.*}}>, !tmap.tensor<f32, "J", {{.*}}>) -> !tmap.tensor<f32, "B, I, J", {{.*}}>
// CHECK: %[[C:.*]] = tmap.constant 5.000000e-01 : f32 : !tmap.tensor<f32, "1", {{.*}}>
// CHECK: tmap.elementwise fma %[[V]], %[[V]], %[[C]]
// CHECK: tmap.elementwise exp %{{.*}} : (!tmap.tensor<f32, "B, I, J"
// CHECK: tmap.reduce max %{{.*}} over [B, I] : !tmap.tensor<f32, "B, I, J", {{.*}}> -> !tmap.tensor<f32, "J", {{.*}}>
// CHECK: tmap.move %{{.*}} : !tmap.tensor<f32, "B, I, J", {{.*}}> -> !tmap.tensor<f32, "J, B, I", {{.*}}>
// CHECK: tmap.cast %{{.*}} : !tmap.tensor<f32, "J", {{.*}}> -> !tmap.tensor<bf16, "J", {{.*}}>
func.func @ops(%a: !a, %b: !b, %v: !v) -> !r attributes {visa.kernel} {
  %s = tmap.contract %a, %b over [K] : !a, !b -> !s
  %x = tmap.elementwise add %s, %v : (!s, !v) -> !s
  %c = tmap.constant 0.5 : f32 : !f
  %y = tmap.elementwise fma %x, %x, %c : (!s, !s, !f) -> !s
  %e = tmap.elementwise exp %y : (!s) -> !s
  %m = tmap.reduce max %e over [B, I] : !s -> !v
  %t = tmap.move %e : !s -> !r
  %h = tmap.cast %m : !v -> !tmap.tensor<bf16, "J", #axes>
  return %t : !r
}

// Axes of one cell, and names of all kinds.
#one = #tmap.axes<A = 1, "B_2" = 3>
// CHECK-LABEL: @sizes
// CHECK: tmap.reduce add_sat %{{.*}} over [A, B_2]
func.func @sizes(%x: !tmap.tensor<i32, "A, B_2", #one>) -> !tmap.tensor<i32, "1", #one> {
  %r = tmap.reduce add_sat %x over [A, B_2] : !tmap.tensor<i32, "A, B_2", #one> -> !tmap.tensor<i32, "1", #one>
  return %r : !tmap.tensor<i32, "1", #one>
}
