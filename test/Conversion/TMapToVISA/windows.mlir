// Windows are copies in HBM, one a tap.
// RUN: furiosa-opt-mlir %s --convert-tmap-to-visa | FileCheck %s
// RUN: furiosa-run %s --kernel=plain --check random:1 | FileCheck %s --check-prefix=AGREE
// RUN: furiosa-run %s --kernel=around --check random:1 | FileCheck %s --check-prefix=AGREE
// RUN: furiosa-run %s --kernel=ragged --check random:1 | FileCheck %s --check-prefix=AGREE
// RUN: furiosa-run %s --kernel=narrow --check small:1 | FileCheck %s --check-prefix=AGREE
// AGREE: check: interpreter and simulator agree on {{[0-9]+}} values

#axes = #tmap.axes<Y = 8, Z = 9, H = 10, P = 4, Q = 6, R = 3, T = 1, C = 16>
!y = !tmap.tensor<i8, "Y, C", #axes>

// A part of the source for each tap; the windows have the source's rows until
// all are there.
// CHECK-LABEL: @plain
// CHECK: %[[OUT:.*]] = visa.alloc : ![[T:.*]]
// CHECK-NEXT: %[[S:.*]] = visa.tile %arg0[0] along "Y" take 6
// CHECK-NEXT: %[[D:.*]] = visa.tile %[[OUT]][0] along "R" take 1
// CHECK-NEXT: visa.copy %[[S]] into %[[D]]
// CHECK: visa.tile %arg0[1] along "Y" take 6
// CHECK: visa.tile %arg0[2] along "Y" take 6
// CHECK: visa.reshape %[[OUT]]
func.func @plain(%x: !y) -> !tmap.tensor<i8, "R, Q, C", #axes> attributes {visa.kernel} {
  %v = tmap.window %x [Y = Q + R] : !y -> !tmap.tensor<i8, "R, Q, C", #axes>
  return %v : !tmap.tensor<i8, "R, Q, C", #axes>
}

// Zeros stand around rows that have an axis of their own.
// CHECK-LABEL: @around
// CHECK: visa.memset
// CHECK: visa.tile %{{.*}}[1] along "Row0" take 8
// CHECK: visa.tile %{{.*}}[0] along "Row0 / 2" take 4
// CHECK-NEXT: visa.tile %{{.*}}[0] along "Row0 % 2" take 1
// CHECK: visa.tile %{{.*}}[0] along "Row0 / 2" take 4
// CHECK-NEXT: visa.tile %{{.*}}[1] along "Row0 % 2" take 1
// CHECK: visa.tile %{{.*}}[1] along "Row0 / 2" take 4
// CHECK-NEXT: visa.tile %{{.*}}[0] along "Row0 % 2" take 1
func.func @around(%x: !y) -> !tmap.tensor<i8, "P, R, C", #axes> attributes {visa.kernel} {
  %h = tmap.window %x [Y = H + T - 1] : !y -> !tmap.tensor<i8, "H, C", #axes>
  %v = tmap.window %h [H = P * 2 + R] : !tmap.tensor<i8, "H, C", #axes> -> !tmap.tensor<i8, "P, R, C", #axes>
  return %v : !tmap.tensor<i8, "P, R, C", #axes>
}

// Rows that do not divide into steps.
// CHECK-LABEL: @ragged
// CHECK-NOT: visa.memset
// CHECK: visa.tile %{{.*}} along "Row0 / 2" take 4
func.func @ragged(%x: !tmap.tensor<i16, "C, Z", #axes>) -> !tmap.tensor<i16, "C, R, P", #axes> attributes {visa.kernel} {
  %v = tmap.window %x [Z = P * 2 + R] : !tmap.tensor<i16, "C, Z", #axes> -> !tmap.tensor<i16, "C, R, P", #axes>
  return %v : !tmap.tensor<i16, "C, R, P", #axes>
}

// There is no fill of this type.
// CHECK-LABEL: @narrow
// CHECK: visa.memset %{{.*}} : !f32_dm
func.func @narrow(%x: !tmap.tensor<f8E5M2, "Z", #axes>) -> !tmap.tensor<f8E5M2, "Q, R", #axes> attributes {visa.kernel} {
  %v = tmap.window %x [Z = Q * 2 + R - 2] : !tmap.tensor<f8E5M2, "Z", #axes> -> !tmap.tensor<f8E5M2, "Q, R", #axes>
  return %v : !tmap.tensor<f8E5M2, "Q, R", #axes>
}
