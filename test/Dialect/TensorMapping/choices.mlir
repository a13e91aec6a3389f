// Comparisons and selects of numbers, and what they refuse.
// RUN: furiosa-opt-mlir %s -split-input-file --canonicalize -verify-diagnostics | FileCheck %s

#axes = #tmap.axes<I = 8>
!f = !tmap.tensor<f32, "1", #axes>
!n = !tmap.tensor<i32, "1", #axes>
!x = !tmap.tensor<f32, "I", #axes>

// -2^31 is less than 2^31 - 1; a NaN is not equal to itself, and not less.
// CHECK-LABEL: @numbers
// CHECK-DAG: %[[ONE:.*]] = tmap.constant 1 : i32
// CHECK-DAG: %[[YES:.*]] = tmap.constant 1.000000e+00 : f32
// CHECK-DAG: %[[NO:.*]] = tmap.constant 0.000000e+00 : f32
// CHECK: return %[[ONE]], %[[YES]], %[[NO]]
func.func @numbers() -> (!n, !f, !f) {
  %least = tmap.constant -2147483648 : i32 : !n
  %most = tmap.constant 2147483647 : i32 : !n
  %nan = tmap.constant 0x7FC00000 : f32 : !f
  %a = tmap.elementwise less_equal %least, %most : (!n, !n) -> !n
  %b = tmap.elementwise not_equal %nan, %nan : (!f, !f) -> !f
  %c = tmap.elementwise less_equal %nan, %nan : (!f, !f) -> !f
  return %a, %b, %c : !n, !f, !f
}

// CHECK-LABEL: @chosen
// CHECK-NEXT: return %arg1
func.func @chosen(%x: !x, %y: !x) -> !x {
  %no = tmap.constant 0 : i32 : !n
  %r = tmap.elementwise select %no, %x, %y : (!n, !x, !x) -> !x
  return %r : !x
}

// -----

#axes = #tmap.axes<I = 8>
!x = !tmap.tensor<f32, "I", #axes>
func.func @narrow(%c: !tmap.tensor<i8, "I", #axes>, %x: !x) {
  // expected-error @below {{TM-8: the condition of a select is of i32 or f32, found 'i8'; cast first}}
  %r = tmap.elementwise select %c, %x, %x : (!tmap.tensor<i8, "I", #axes>, !x, !x) -> !x
  return
}

// -----

#axes = #tmap.axes<I = 8>
!x = !tmap.tensor<f32, "I", #axes>
func.func @operands(%x: !x) {
  // expected-error @below {{TM-7: 'select' takes 3 operands, found 2}}
  %r = tmap.elementwise select %x, %x : (!x, !x) -> !x
  return
}
