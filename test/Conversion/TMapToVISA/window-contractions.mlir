// Contractions read windows out of their source in data memory.
// RUN: furiosa-opt-mlir %s --convert-tmap-to-visa | FileCheck %s
// RUN: furiosa-run %s --kernel=halo --check random:1 random:2 | FileCheck %s --check-prefix=AGREE
// RUN: furiosa-run %s --kernel=used_again --check random:1 random:2 random:3 | FileCheck %s --check-prefix=AGREE
// RUN: furiosa-run %s --kernel=odd --check random:1 random:2 | FileCheck %s --check-prefix=AGREE
// RUN: furiosa-run %s --kernel=channels_outside --check random:1 random:2 | FileCheck %s --check-prefix=AGREE
// RUN: furiosa-run %s --kernel=turned_filter --check random:1 random:2 | FileCheck %s --check-prefix=AGREE
// AGREE: check: interpreter and simulator agree on {{[0-9]+}} values

// Rows over slices: those of a slice, and the last of the one before and the
// first of the one behind it. No tap is copied in HBM.
#axes = #tmap.axes<H = 32, W = 14, Y = 32, X = 14, R = 3, S = 3, C = 32, F = 8>
!x = !tmap.tensor<i8, "H, W, C", #axes>
!v = !tmap.tensor<i8, "R, S, Y, X, C", #axes>
!w = !tmap.tensor<i8, "F, R, S, C", #axes>
!y = !tmap.tensor<i32, "Y, X, F", #axes>
// CHECK-LABEL: @halo
// CHECK: %[[X:.*]] = visa.reshape %arg0
// CHECK: %[[D:.*]] = visa.alloc
// CHECK: visa.memset %[[D]]
// CHECK: visa.tile %[[D]]{{.*}} along "[Line0 = 32]{{.*}}"
// CHECK: %[[V:.*]] = visa.reshape %[[D]]
// CHECK: fetch %[[V]] window [Cell = {{.*}}R * 15 + X + S + {{[0-9]+}}]
// CHECK-NOT: along "R"
func.func @halo(%x: !x, %w: !w) -> !y attributes {visa.kernel} {
  %v = tmap.window %x [H = Y + R - 1, W = X + S - 1] : !x -> !v
  %y = tmap.contract %v, %w over [R, S, C] : !v, !w -> !y
  return %y : !y
}

// What is used again gets its own index back.
#again = #tmap.axes<H = 16, P = 8, R = 2, C = 32, F = 32>
!a = !tmap.tensor<i8, "H, C", #again>
// CHECK-LABEL: @used_again
// CHECK: %[[X:.*]] = visa.reshape %arg0
// CHECK: fetch %{{.*}} window [Cell =
// CHECK: %[[A:.*]] = visa.reshape %[[X]]
// CHECK: visa.to_dm %[[A]]
func.func @used_again(%x: !a, %w: !tmap.tensor<i8, "F, R, C", #again>, %u: !tmap.tensor<i8, "F, C", #again>) -> (!tmap.tensor<i32, "P, F", #again>, !tmap.tensor<i32, "H, F", #again>) attributes {visa.kernel} {
  %v = tmap.window %x [H = P * 2 + R] : !a -> !tmap.tensor<i8, "R, P, C", #again>
  %y = tmap.contract %v, %w over [R, C] : !tmap.tensor<i8, "R, P, C", #again>, !tmap.tensor<i8, "F, R, C", #again> -> !tmap.tensor<i32, "P, F", #again>
  %z = tmap.contract %x, %u over [C] : !a, !tmap.tensor<i8, "F, C", #again> -> !tmap.tensor<i32, "H, F", #again>
  return %y, %z : !tmap.tensor<i32, "P, F", #again>, !tmap.tensor<i32, "H, F", #again>
}

// Channels that are no whole words are filled up in HBM, once for all taps.
#odd = #tmap.axes<H = 9, Y = 9, R = 3, C = 5, F = 8>
!o = !tmap.tensor<i8, "H, C", #odd>
!ov = !tmap.tensor<i8, "R, Y, C", #odd>
!ow = !tmap.tensor<i8, "F, R, C", #odd>
!oy = !tmap.tensor<i32, "Y, F", #odd>
// CHECK-LABEL: @odd
// CHECK: %[[X:.*]] = visa.reshape %arg0
// CHECK: %[[C:.*]] = visa.tile %{{.*}}[0] along "C" take 5
// CHECK: visa.copy %[[X]] into %[[C]]
// CHECK-NOT: along "R"
// CHECK: fetch %{{.*}} window [
func.func @odd(%x: !o, %w: !ow) -> !oy attributes {visa.kernel} {
  %v = tmap.window %x [H = Y + R - 1] : !o -> !ov
  %y = tmap.contract %v, %w over [R, C] : !ov, !ow -> !oy
  return %y : !oy
}

// Where channels stand outermost, taps are copied.
// CHECK-LABEL: @channels_outside
// CHECK: along "R" take 1
// CHECK-NOT: window [
func.func @channels_outside(%x: !tmap.tensor<i8, "C, H", #odd>, %w: !ow) -> !oy attributes {visa.kernel} {
  %v = tmap.window %x [H = Y + R - 1] : !tmap.tensor<i8, "C, H", #odd> -> !ov
  %y = tmap.contract %v, %w over [R, C] : !ov, !ow -> !oy
  return %y : !oy
}

// A filter whose columns stand innermost is turned in the slices, taps outside.
#turned = #tmap.axes<H = 18, Y = 16, R = 3, C = 32, F = 64>
!t = !tmap.tensor<bf16, "H, C", #turned>
!tv = !tmap.tensor<bf16, "R, Y, C", #turned>
!tw = !tmap.tensor<bf16, "R, C, F", #turned>
!ty = !tmap.tensor<f32, "Y, F", #turned>
// CHECK-LABEL: @turned_filter
// CHECK-NOT: visa.copy %arg1
// CHECK: %[[W:.*]] = visa.to_dm %arg1
// CHECK: fetch %[[W]]
// CHECK: transpose
// CHECK: fetch %{{.*}} window [
func.func @turned_filter(%x: !t, %w: !tw) -> !ty attributes {visa.kernel} {
  %v = tmap.window %x [H = Y + R] : !t -> !tv
  %y = tmap.contract %v, %w over [R, C] : !tv, !tw -> !ty
  return %y : !ty
}
