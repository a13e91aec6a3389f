// Windows: text, and windows of windows.
// RUN: furiosa-opt-mlir %s | furiosa-opt-mlir | FileCheck %s --check-prefix=TEXT
// RUN: furiosa-opt-mlir %s --canonicalize -o %t.once
// RUN: FileCheck %s < %t.once
// RUN: furiosa-opt-mlir %t.once --canonicalize | diff %t.once -

#axes = #tmap.axes<Y = 8, H = 10, P = 4, R = 3, S = 2, T = 1, C = 16>
!y = !tmap.tensor<i8, "Y, C", #axes>
!h = !tmap.tensor<i8, "H, C", #axes>
!p = !tmap.tensor<i8, "R, P, C", #axes>
!ps = !tmap.tensor<i8, "S, R, P, C", #axes>

// Zeros around a tensor, then windows of it.
// TEXT-LABEL: @joined
// TEXT: tmap.window %arg0 [Y = H + T - 1]
// TEXT: tmap.window %{{.*}} [H = P * 2 + R + 1]
// CHECK-LABEL: @joined
// CHECK-NEXT: %[[W:.*]] = tmap.window %arg0 [Y = P * 2 + R] :
// CHECK-NEXT: return %[[W]]
func.func @joined(%x: !y) -> !p {
  %h = tmap.window %x [Y = H + T - 1] : !y -> !h
  %p = tmap.window %h [H = P * 2 + R + 1] : !h -> !p
  return %p : !p
}

// What lies behind a part is 0, not the rest of the source.
// CHECK-LABEL: @outside
// CHECK-COUNT-2: tmap.window
func.func @outside(%x: !h) -> !p {
  %y = tmap.window %x [H = Y + T] : !h -> !y
  %p = tmap.window %y [Y = P * 2 + R] : !y -> !p
  return %p : !p
}

// Three axes in a sum.
// TEXT-LABEL: @three
// TEXT: tmap.window %{{.*}} [H = P + S * 3]
// CHECK-LABEL: @three
// CHECK-COUNT-2: tmap.window
#more = #tmap.axes<Y = 16, H = 10, P = 4, R = 3, S = 2>
func.func @three(%x: !tmap.tensor<i8, "Y", #more>) -> !tmap.tensor<i8, "R, S, P", #more> {
  %h = tmap.window %x [Y = H + R] : !tmap.tensor<i8, "Y", #more> -> !tmap.tensor<i8, "R, H", #more>
  %p = tmap.window %h [H = P + S * 3] : !tmap.tensor<i8, "R, H", #more> -> !tmap.tensor<i8, "R, S, P", #more>
  return %p : !tmap.tensor<i8, "R, S, P", #more>
}
