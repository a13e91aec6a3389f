// Convolutions, poolings, zeros around tensors and parts of them: what a sum of
// two loops runs along is windows.
// RUN: furiosa-opt-mlir %s --convert-linalg-to-tmap -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: furiosa-opt-mlir %t.mlir --canonicalize | FileCheck %s --check-prefix=JOINED

// CHECK-LABEL: @conv
// CHECK: tmap.window %arg0 [B = H + E, C = I + F] : {{.*}}"A, B, C, D"{{.*}} -> {{.*}}"E, F, A, H, I, D"
// CHECK-NEXT: tmap.contract %0, %arg1 over [E, F, D]
func.func @conv(%x: tensor<2x14x14x16xi8>, %w: tensor<3x3x16x32xi8>) -> tensor<2x12x12x32xi32> {
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<2x12x12x32xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<2x12x12x32xi32>) -> tensor<2x12x12x32xi32>
  %y = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<2x14x14x16xi8>, tensor<3x3x16x32xi8>) outs(%f : tensor<2x12x12x32xi32>) -> tensor<2x12x12x32xi32>
  return %y : tensor<2x12x12x32xi32>
}

// CHECK-LABEL: @same
// Zeros around an image are windows as well; canonicalize makes one of both.
// CHECK: tmap.window %arg0 [B = H + J - 1, C = I + K - 1]
// CHECK-NEXT: tmap.window %0 [H = M * 2 + F, I = N * 2 + G]
// JOINED-LABEL: @same
// JOINED: tmap.window %arg0 [B = M * 2 + F - 1, C = N * 2 + G - 1]
// JOINED-NEXT: tmap.contract
func.func @same(%x: tensor<1x14x14x16xbf16>, %w: tensor<32x3x3x16xbf16>) -> tensor<1x7x7x32xf32> {
  %z = arith.constant 0.0 : f32
  %o = arith.constant 0.0 : bf16
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %o : bf16
  } : tensor<1x14x14x16xbf16> to tensor<1x16x16x16xbf16>
  %e = tensor.empty() : tensor<1x7x7x32xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x7x7x32xf32>) -> tensor<1x7x7x32xf32>
  %y = linalg.conv_2d_nhwc_fhwc {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%p, %w : tensor<1x16x16x16xbf16>, tensor<32x3x3x16xbf16>) outs(%f : tensor<1x7x7x32xf32>) -> tensor<1x7x7x32xf32>
  return %y : tensor<1x7x7x32xf32>
}

// CHECK-LABEL: @nchw
// CHECK: tmap.window %arg0 [C = I + F, D = J + G]
func.func @nchw(%x: tensor<1x16x14x14xbf16>, %w: tensor<32x16x3x3xbf16>) -> tensor<1x32x12x12xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x32x12x12xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x32x12x12xf32>) -> tensor<1x32x12x12xf32>
  %y = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<1x16x14x14xbf16>, tensor<32x16x3x3xbf16>) outs(%f : tensor<1x32x12x12xf32>) -> tensor<1x32x12x12xf32>
  return %y : tensor<1x32x12x12xf32>
}

// CHECK-LABEL: @pool
// CHECK: tmap.window %arg0 [B = H * 2 + E, C = I * 2 + F]
// CHECK-NEXT: tmap.reduce max %0 over [E, F]
func.func @pool(%x: tensor<1x14x14x16xf32>) -> tensor<1x7x7x16xf32> {
  %z = arith.constant 0xFF800000 : f32
  %k = tensor.empty() : tensor<2x2xf32>
  %e = tensor.empty() : tensor<1x7x7x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x7x7x16xf32>) -> tensor<1x7x7x16xf32>
  %y = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%x, %k : tensor<1x14x14x16xf32>, tensor<2x2xf32>) outs(%f : tensor<1x7x7x16xf32>) -> tensor<1x7x7x16xf32>
  return %y : tensor<1x7x7x16xf32>
}

// CHECK-LABEL: @depthwise
// CHECK: tmap.window
// CHECK-NEXT: tmap.elementwise mul
// CHECK-NEXT: tmap.reduce add
func.func @depthwise(%x: tensor<1x9x9x8xf32>, %w: tensor<3x3x8xf32>) -> tensor<1x7x7x8xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x7x7x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x7x7x8xf32>) -> tensor<1x7x7x8xf32>
  %y = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<1x9x9x8xf32>, tensor<3x3x8xf32>) outs(%f : tensor<1x7x7x8xf32>) -> tensor<1x7x7x8xf32>
  return %y : tensor<1x7x7x8xf32>
}

// CHECK-LABEL: @conv1d
// CHECK: tmap.window %arg0 [A = C + B]
func.func @conv1d(%x: tensor<20xi8>, %w: tensor<5xi8>) -> tensor<16xi32> {
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<16xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<16xi32>) -> tensor<16xi32>
  %y = linalg.conv_1d ins(%x, %w : tensor<20xi8>, tensor<5xi8>) outs(%f : tensor<16xi32>) -> tensor<16xi32>
  return %y : tensor<16xi32>
}

// CHECK-LABEL: @residual
// Rows of the image and of the result are one axis, those with zeros another.
// CHECK: tmap.window %arg0 [B = H + J - 1, C = I + K - 1]
// CHECK: tmap.window %0 [H = B + F, I = C + G]
func.func @residual(%x: tensor<1x8x8x16xbf16>, %w: tensor<16x3x3x16xbf16>) -> tensor<1x8x8x16xf32> {
  %o = arith.constant 0.0 : bf16
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %o : bf16
  } : tensor<1x8x8x16xbf16> to tensor<1x10x10x16xbf16>
  %e = tensor.empty() : tensor<1x8x8x16xf32>
  %i = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<1x8x8x16xbf16>) outs(%e : tensor<1x8x8x16xf32>) {
  ^bb0(%q: bf16, %r: f32):
    %s = arith.extf %q : bf16 to f32
    linalg.yield %s : f32
  } -> tensor<1x8x8x16xf32>
  %y = linalg.conv_2d_nhwc_fhwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %w : tensor<1x10x10x16xbf16>, tensor<16x3x3x16xbf16>) outs(%i : tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
  return %y : tensor<1x8x8x16xf32>
}

// CHECK-LABEL: @slice
// CHECK: tmap.window %arg0 [A = E + F + 1, B = D * 2 + G + 3]
func.func @slice(%x: tensor<3x20x12xf32>) -> tensor<6x12xf32> {
  %y = tensor.extract_slice %x[1, 3, 0] [1, 6, 12] [1, 2, 1] : tensor<3x20x12xf32> to tensor<6x12xf32>
  return %y : tensor<6x12xf32>
}
