// Comparisons and selects of a body.
// RUN: furiosa-opt-mlir %s --convert-linalg-to-tmap -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: furiosa-run %t.mlir --kernel=leaky --check quarter:1 | FileCheck %s --check-prefix=AGREE
// RUN: furiosa-run %t.mlir --kernel=unordered --check quarter:1 quarter:2 | FileCheck %s --check-prefix=AGREE
// RUN: furiosa-run %t.mlir --kernel=window --check small:1 small:2 | FileCheck %s --check-prefix=AGREE
// AGREE: check: interpreter and simulator agree

#id = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: @leaky
// CHECK: %[[T:.*]] = tmap.elementwise greater %arg0
// CHECK: %[[S:.*]] = tmap.elementwise mul
// CHECK: tmap.elementwise select %[[T]], %arg0, %[[S]]
func.func @leaky(%x: tensor<24x40xf32>) -> tensor<24x40xf32> {
  %zero = arith.constant 0.0 : f32
  %slope = arith.constant 0.25 : f32
  %empty = tensor.empty() : tensor<24x40xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<24x40xf32>) outs(%empty : tensor<24x40xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.mulf %p, %slope : f32
    %c = arith.cmpf ogt, %p, %zero : f32
    %r = arith.select %c, %p, %s : f32
    linalg.yield %r : f32
  } -> tensor<24x40xf32>
  return %y : tensor<24x40xf32>
}

// ult is not oge: the arms change places.
// CHECK-LABEL: @unordered
// CHECK: %[[T:.*]] = tmap.elementwise greater_equal %arg0, %arg1
// CHECK: %[[ONE:.*]] = tmap.constant 1.000000e+00
// CHECK: tmap.elementwise select %[[T]], %arg1, %[[ONE]]
func.func @unordered(%x: tensor<24x40xf32>, %z: tensor<24x40xf32>) -> tensor<24x40xf32> {
  %one = arith.constant 1.0 : f32
  %empty = tensor.empty() : tensor<24x40xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %z : tensor<24x40xf32>, tensor<24x40xf32>) outs(%empty : tensor<24x40xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %c = arith.cmpf ult, %p, %q : f32
    %r = arith.select %c, %one, %q : f32
    linalg.yield %r : f32
  } -> tensor<24x40xf32>
  return %y : tensor<24x40xf32>
}

// Truth values are 1 and 0; unsigned numbers are compared half the range below.
// CHECK-LABEL: @window
// CHECK: %[[A:.*]] = tmap.elementwise greater_equal %arg0
// CHECK: tmap.elementwise xor %arg0
// CHECK: %[[B:.*]] = tmap.elementwise less
// CHECK: tmap.elementwise and %[[A]], %[[B]]
func.func @window(%x: tensor<24x40xi32>, %z: tensor<24x40xi32>) -> tensor<24x40xi32> {
  %low = arith.constant -3 : i32
  %empty = tensor.empty() : tensor<24x40xi32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %z : tensor<24x40xi32>, tensor<24x40xi32>) outs(%empty : tensor<24x40xi32>) {
  ^bb0(%p: i32, %q: i32, %o: i32):
    %a = arith.cmpi sge, %p, %low : i32
    %b = arith.cmpi ult, %p, %q : i32
    %c = arith.andi %a, %b : i1
    %n = arith.extui %c : i1 to i32
    linalg.yield %n : i32
  } -> tensor<24x40xi32>
  return %y : tensor<24x40xi32>
}
