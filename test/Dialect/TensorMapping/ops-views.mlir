// Reshapes and gathers: text, folds, and that a second run changes nothing.
// RUN: furiosa-opt-mlir %s | furiosa-opt-mlir | FileCheck %s --check-prefix=TEXT
// RUN: furiosa-opt-mlir %s --canonicalize -o %t.once
// RUN: FileCheck %s < %t.once
// RUN: furiosa-opt-mlir %t.once --canonicalize | diff %t.once -

#axes = #tmap.axes<I = 8, J = 4, A = 32, B = 8, W = 100>
!ij = !tmap.tensor<f32, "I, J", #axes>
!bj = !tmap.tensor<f32, "B, J", #axes>
!a = !tmap.tensor<f32, "A", #axes>
!t = !tmap.tensor<f32, "W, J", #axes>
!n = !tmap.tensor<i32, "I", #axes>

// TEXT-LABEL: @reshapes
// TEXT: tmap.reshape %{{.*}} : !tmap.tensor<f32, "I, J", #{{.*}}> -> !tmap.tensor<f32, "A", #{{.*}}>
// Only the last axes of several are seen.
// CHECK-LABEL: @reshapes
// CHECK-NEXT: %[[R:.*]] = tmap.reshape %arg0 : {{.*}}"I, J"{{.*}} -> {{.*}}"B, J"
// CHECK-NEXT: return %[[R]]
func.func @reshapes(%x: !ij) -> !bj {
  %a = tmap.reshape %x : !ij -> !a
  %b = tmap.reshape %a : !a -> !bj
  return %b : !bj
}

// CHECK-LABEL: @back
// CHECK-NEXT: return %arg0
func.func @back(%x: !ij) -> !ij {
  %a = tmap.reshape %x : !ij -> !a
  %b = tmap.reshape %a : !a -> !ij
  return %b : !ij
}

// TEXT-LABEL: @gather
// TEXT: tmap.gather %arg0 by %arg1 over [W] : !tmap.tensor<f32, "W, J", #{{.*}}>, !tmap.tensor<i32, "I", #{{.*}}> -> !tmap.tensor<f32, "I, J", #{{.*}}>
func.func @gather(%t: !t, %i: !n) -> !ij {
  %g = tmap.gather %t by %i over [W] : !t, !n -> !ij
  return %g : !ij
}
