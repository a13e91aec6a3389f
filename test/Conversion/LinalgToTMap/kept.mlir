// What has no counterpart stays, and says why.
// RUN: furiosa-opt-mlir %s --convert-linalg-to-tmap -split-input-file -verify-diagnostics -o %t.mlir
// RUN: FileCheck %s < %t.mlir

// CHECK-LABEL: @dynamic
// CHECK-SAME: tensor<?xf32>
// expected-remark @below {{not converted to tmap: tensor<?xf32> has sizes that are known only at run time}}
func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

// -----

// CHECK-LABEL: @double
// expected-remark @below {{not converted to tmap: the chip has no elements of f64}}
func.func @double(%x: tensor<8xf64>) -> tensor<8xf64> {
  return %x : tensor<8xf64>
}

// -----

// CHECK-LABEL: @wide
// CHECK: linalg.matmul
func.func @wide(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-remark @below {{not converted to tmap: the multiplier takes two of i4, i8, f8E4M3FN, f8E5M2 or bf16, found f32 and f32}}
  %d = linalg.matmul ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// CHECK-LABEL: @twice
// CHECK: linalg.generic
func.func @twice(%x: tensor<15x8xf32>, %y: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-remark @below {{not converted to tmap: the index d1 is no loop of its own, nor a sum of two}}
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i + j, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<15x8xf32>) outs(%y : tensor<8x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<8x8xf32>
  return %z : tensor<8x8xf32>
}

// -----

// CHECK-LABEL: @padding
// CHECK: tensor.pad
func.func @padding(%x: tensor<8xf32>) -> tensor<10xf32> {
  %one = arith.constant 1.0 : f32
  // expected-remark @below {{not converted to tmap: padding with what is not 0 everywhere}}
  %p = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %one : f32
  } : tensor<8xf32> to tensor<10xf32>
  return %p : tensor<10xf32>
}

// -----

// Each fault of a function is named once; what depends on it is not.
// CHECK-LABEL: @bodies
func.func @bodies(%x: tensor<8xf32>, %n: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xi32>, tensor<8xi32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %i = tensor.empty() : tensor<8xi32>
  // expected-remark @below {{not converted to tmap: no function of the vector engine for 'math.ceil'}}
  %a = linalg.ceil ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %b = linalg.exp ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  // expected-remark @below {{not converted to tmap: 'arith.fptosi' cuts, the chip rounds half away from zero; put math.round before it}}
  %c = arith.fptosi %x : tensor<8xf32> to tensor<8xi32>
  // expected-remark @below {{not converted to tmap: a body that reads loop counters}}
  %d = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%i : tensor<8xi32>) {
  ^bb0(%o: i32):
    %at = linalg.index 0 : index
    %v = arith.index_cast %at : index to i32
    linalg.yield %v : i32
  } -> tensor<8xi32>
  // expected-remark @below {{not converted to tmap: a constant tensor of several numbers; pass it as an argument}}
  %k = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %s = arith.addf %x, %k : tensor<8xf32>
  return %b, %c, %d, %s : tensor<8xf32>, tensor<8xi32>, tensor<8xi32>, tensor<8xf32>
}

// -----

// CHECK-LABEL: @sums
func.func @sums(%x: tensor<8x64xi32>, %y: tensor<8x64xf32>) -> (tensor<8xi32>, tensor<8xf32>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1.0 : f32
  %i = tensor.empty() : tensor<8xi32>
  %f = tensor.empty() : tensor<8xf32>
  %from = linalg.fill ins(%zero : i32) outs(%i : tensor<8xi32>) -> tensor<8xi32>
  // expected-remark @below {{not converted to tmap: sums of integers saturate on the chip, and this one could overflow}}
  %a = linalg.reduce { arith.addi } ins(%x : tensor<8x64xi32>) outs(%from : tensor<8xi32>) dimensions = [1]
  %start = linalg.fill ins(%one : f32) outs(%f : tensor<8xf32>) -> tensor<8xf32>
  // expected-remark @below {{not converted to tmap: no fold with 'arith.mulf'}}
  %b = linalg.reduce { arith.mulf } ins(%y : tensor<8x64xf32>) outs(%start : tensor<8xf32>) dimensions = [1]
  return %a, %b : tensor<8xi32>, tensor<8xf32>
}

// -----

// CHECK-LABEL: @constant
// CHECK: tensor<8xi32>
func.func @constant() -> tensor<8xi32> {
  %c = arith.constant dense<3> : tensor<8xi32>
  // expected-remark @below {{not converted to tmap: a result that is a constant or undefined}}
  return %c : tensor<8xi32>
}

// -----

// CHECK-LABEL: @other
func.func @other(%x: tensor<8xf32>, %p: tensor<4xf32>) -> tensor<8xf32> {
  // expected-remark @below {{not converted to tmap: no counterpart of 'tensor.insert_slice'}}
  %y = tensor.insert_slice %p into %x[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %y : tensor<8xf32>
}
