// Folds and patterns, and that a second run changes nothing.
// RUN: furiosa-opt-mlir %s --canonicalize | FileCheck %s
// RUN: furiosa-opt-mlir %s --canonicalize -o %t.once
// RUN: furiosa-opt-mlir %t.once --canonicalize -o %t.twice
// RUN: diff %t.once %t.twice

#axes = #tmap.axes<I = 8, J = 4>
!ij = !tmap.tensor<f32, "I, J", #axes>
!ji = !tmap.tensor<f32, "J, I", #axes>
!f = !tmap.tensor<f32, "1", #axes>
!n = !tmap.tensor<i32, "1", #axes>

// CHECK-LABEL: @moves
// CHECK-NEXT: return %arg0
func.func @moves(%x: !ij) -> !ij {
  %a = tmap.move %x : !ij -> !ji
  %b = tmap.move %a : !ji -> !ij
  return %b : !ij
}

// A dead op goes, two equal constants are one (sqrt(4) = 2, 2 * 8 = 16).
// CHECK-LABEL: @constants
// CHECK-NEXT: %[[C:.*]] = tmap.constant 1.600000e+01 : f32
// CHECK-NEXT: return %[[C]], %[[C]]
func.func @constants(%x: !ij) -> (!f, !f) {
  %dead = tmap.elementwise exp %x : (!ij) -> !ij
  %four = tmap.constant 4.0 : f32 : !f
  %two = tmap.elementwise sqrt %four : (!f) -> !f
  %eight = tmap.constant 8.0 : f32 : !f
  %a = tmap.elementwise mul %two, %eight : (!f, !f) -> !f
  %b = tmap.elementwise mul %eight, %two : (!f, !f) -> !f
  return %a, %b : !f, !f
}

// CHECK-LABEL: @casts
// CHECK-NEXT: %[[C:.*]] = tmap.constant 3 : i32
// CHECK-NEXT: return %[[C]]
func.func @casts() -> !n {
  %x = tmap.constant 2.5 : f32 : !f
  %y = tmap.cast %x : !f -> !n
  return %y : !n
}

// A shift by 32 has no result: the run says so.
// CHECK-LABEL: @undefined
// CHECK: tmap.elementwise shl
func.func @undefined() -> !n {
  %x = tmap.constant 1 : i32 : !n
  %n = tmap.constant 32 : i32 : !n
  %y = tmap.elementwise shl %x, %n : (!n, !n) -> !n
  return %y : !n
}

// CHECK-LABEL: @reductions
// CHECK-NEXT: %[[R:.*]] = tmap.reduce add %arg0 over [J] : !tmap.tensor<f32, "I, J", {{.*}}> -> !tmap.tensor<f32, "I", {{.*}}>
// CHECK-NEXT: tmap.reduce add %[[R]] over [I] : !tmap.tensor<f32, "I", {{.*}}> -> !tmap.tensor<f32, "1", {{.*}}>
func.func @reductions(%x: !ij) -> !f {
  %r = tmap.reduce add %x over [I, J] : !ij -> !f
  return %r : !f
}
