// Named and generic ops by axis name; a second run finds nothing to do.
// RUN: furiosa-opt-mlir %s --convert-linalg-to-tmap -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: furiosa-opt-mlir %t.mlir --convert-linalg-to-tmap | diff %t.mlir -
// Kernels of linalg go to the end of the pipeline.
// RUN: furiosa-opt-mlir %s --furiosa-pipeline -o /dev/null

// CHECK-LABEL: @matmul
// CHECK-SAME: (%[[A:.*]]: !tmap.tensor<i8, "A, B", #[[X:.*]]>, %[[B:.*]]: !tmap.tensor<i8, "B, C", #[[X]]>) -> !tmap.tensor<i32, "A, C", #[[X]]> attributes {visa.kernel}
// CHECK-NEXT: %[[C:.*]] = tmap.contract %[[A]], %[[B]] over [B]
// CHECK-NEXT: return %[[C]]
func.func @matmul(%a: tensor<64x96xi8>, %b: tensor<96x32xi8>) -> tensor<64x32xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<64x32xi32>
  %init = linalg.fill ins(%zero : i32) outs(%empty : tensor<64x32xi32>) -> tensor<64x32xi32>
  %c = linalg.matmul ins(%a, %b : tensor<64x96xi8>, tensor<96x32xi8>) outs(%init : tensor<64x32xi32>) -> tensor<64x32xi32>
  return %c : tensor<64x32xi32>
}

// A sum that goes on from an argument; narrow floats are added in f32.
// CHECK-LABEL: @accumulate
// CHECK: %[[S:.*]] = tmap.contract %arg0, %arg1 over [B] : {{.*}} -> !tmap.tensor<f32, "A, C"
// CHECK-NEXT: %[[W:.*]] = tmap.cast %arg2 : {{.*}} -> !tmap.tensor<f32, "A, C"
// CHECK-NEXT: %[[T:.*]] = tmap.elementwise add %[[W]], %[[S]]
// CHECK-NEXT: tmap.cast %[[T]] : {{.*}} -> !tmap.tensor<bf16, "A, C"
func.func @accumulate(%a: tensor<16x64xbf16>, %b: tensor<64x24xbf16>, %c: tensor<16x24xbf16>) -> tensor<16x24xbf16> {
  %d = linalg.matmul ins(%a, %b : tensor<16x64xbf16>, tensor<64x24xbf16>) outs(%c : tensor<16x24xbf16>) -> tensor<16x24xbf16>
  return %d : tensor<16x24xbf16>
}

// One tensor twice: its rows get a second name.
// CHECK-LABEL: @gram
// CHECK-SAME: !tmap.tensor<i8, "A, B"
// CHECK: %[[R:.*]] = tmap.reshape %arg0 : {{.*}} -> !tmap.tensor<i8, "C, B"
// CHECK: tmap.contract %arg0, %[[R]] over [B]
func.func @gram(%a: tensor<24x32xi8>) -> tensor<24x24xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<24x24xi32>
  %init = linalg.fill ins(%zero : i32) outs(%empty : tensor<24x24xi32>) -> tensor<24x24xi32>
  %c = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %a : tensor<24x32xi8>, tensor<24x32xi8>) outs(%init : tensor<24x24xi32>) {
  ^bb0(%p: i8, %q: i8, %o: i32):
    %pw = arith.extsi %p : i8 to i32
    %qw = arith.extsi %q : i8 to i32
    %m = arith.muli %pw, %qw : i32
    %n = arith.addi %o, %m : i32
    linalg.yield %n : i32
  } -> tensor<24x24xi32>
  return %c : tensor<24x24xi32>
}

// f32 has no multiplier: a product of all elements, then a fold.
// CHECK-LABEL: @matvec
// CHECK: %[[P:.*]] = tmap.elementwise mul %arg0, %arg1 : {{.*}} -> !tmap.tensor<f32, "A, B"
// CHECK: tmap.reduce add %[[P]] over [B]
func.func @matvec(%a: tensor<64x96xf32>, %x: tensor<96xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<64xf32>) -> tensor<64xf32>
  %y = linalg.matvec ins(%a, %x : tensor<64x96xf32>, tensor<96xf32>) outs(%init : tensor<64xf32>) -> tensor<64xf32>
  return %y : tensor<64xf32>
}

// A body is a function each; a constant has no axes, a choice is a maximum.
// CHECK-LABEL: @body
// CHECK: %[[W:.*]] = tmap.cast %arg0
// CHECK: %[[B:.*]] = tmap.elementwise add %[[W]], %arg1
// CHECK: %[[Z:.*]] = tmap.constant 0.000000e+00 : f32 : !tmap.tensor<f32, "1"
// CHECK: %[[M:.*]] = tmap.elementwise max %[[B]], %[[Z]]
// CHECK: tmap.cast %[[M]]
func.func @body(%x: tensor<24x40xbf16>, %b: tensor<40xf32>) -> tensor<24x40xbf16> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<24x40xbf16>
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<24x40xbf16>, tensor<40xf32>) outs(%empty : tensor<24x40xbf16>) {
  ^bb0(%p: bf16, %q: f32, %o: bf16):
    %w = arith.extf %p : bf16 to f32
    %t = arith.addf %w, %q : f32
    %c = arith.cmpf ogt, %t, %zero : f32
    %r = arith.select %c, %t, %zero : f32
    %n = arith.truncf %r : f32 to bf16
    linalg.yield %n : bf16
  } -> tensor<24x40xbf16>
  return %y : tensor<24x40xbf16>
}

// Whole tensors, a transpose, dimensions that are joined and that are 1.
// CHECK-LABEL: @shapes
// CHECK: %[[C:.*]] = tmap.reshape %arg0 : !tmap.tensor<i32, "A, B, C", {{.*}} -> !tmap.tensor<i32, "D, C"
// CHECK-NEXT: %[[S:.*]] = tmap.elementwise add %[[C]], %arg1
// CHECK-NEXT: %[[T:.*]] = tmap.move %[[S]] : {{.*}} -> !tmap.tensor<i32, "C, D"
// CHECK-NEXT: return %[[T]]
func.func @shapes(%a: tensor<4x6x16xi32>, %b: tensor<24x16xi32>) -> tensor<1x16x24xi32> {
  %c = tensor.collapse_shape %a [[0, 1], [2]] : tensor<4x6x16xi32> into tensor<24x16xi32>
  %s = arith.addi %c, %b : tensor<24x16xi32>
  %empty = tensor.empty() : tensor<16x24xi32>
  %t = linalg.transpose ins(%s : tensor<24x16xi32>) outs(%empty : tensor<16x24xi32>) permutation = [1, 0]
  %u = tensor.expand_shape %t [[0, 1], [2]] output_shape [1, 16, 24] : tensor<16x24xi32> into tensor<1x16x24xi32>
  return %u : tensor<1x16x24xi32>
}

// A fold whose start is no neutral number; of narrow integers that cannot
// overflow.
// CHECK-LABEL: @fold
// CHECK: %[[W:.*]] = tmap.cast %arg0
// CHECK: %[[S:.*]] = tmap.reduce add_sat %[[W]] over [B]
// CHECK: %[[F:.*]] = tmap.constant 5 : i32
// CHECK: tmap.elementwise add %[[F]], %[[S]]
func.func @fold(%b: tensor<24x40xi8>) -> tensor<24xi32> {
  %five = arith.constant 5 : i32
  %empty = tensor.empty() : tensor<24xi32>
  %start = linalg.fill ins(%five : i32) outs(%empty : tensor<24xi32>) -> tensor<24xi32>
  %sum = linalg.reduce ins(%b : tensor<24x40xi8>) outs(%start : tensor<24xi32>) dimensions = [1]
    (%p: i8, %o: i32) {
      %w = arith.extsi %p : i8 to i32
      %n = arith.addi %o, %w : i32
      linalg.yield %n : i32
    }
  return %sum : tensor<24xi32>
}
