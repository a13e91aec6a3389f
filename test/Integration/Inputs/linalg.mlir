// Kernels as upstream passes write them; linalg-cpu.py runs them on this machine
// and as kernels of the chip.

// i8 with i32 sums, on a named op.
func.func @matmul_i8(%a: tensor<37x100xi8>, %b: tensor<100x53xi8>) -> tensor<37x53xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<37x53xi32>
  %init = linalg.fill ins(%zero : i32) outs(%empty : tensor<37x53xi32>) -> tensor<37x53xi32>
  %c = linalg.matmul ins(%a, %b : tensor<37x100xi8>, tensor<100x53xi8>) outs(%init : tensor<37x53xi32>) -> tensor<37x53xi32>
  return %c : tensor<37x53xi32>
}

// A sum that goes on from an argument.
func.func @accumulate(%a: tensor<16x64xi8>, %b: tensor<64x24xi8>, %c: tensor<16x24xi32>) -> tensor<16x24xi32> {
  %d = linalg.matmul ins(%a, %b : tensor<16x64xi8>, tensor<64x24xi8>) outs(%c : tensor<16x24xi32>) -> tensor<16x24xi32>
  return %d : tensor<16x24xi32>
}

// bf16 with f32 sums, the right operand transposed, a bias and a rectifier.
func.func @linear(%x: tensor<24x64xbf16>, %w: tensor<40x64xbf16>, %b: tensor<40xf32>) -> tensor<24x40xbf16> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<24x40xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<24x40xf32>) -> tensor<24x40xf32>
  %s = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<24x64xbf16>, tensor<40x64xbf16>) outs(%init : tensor<24x40xf32>) {
  ^bb0(%p: bf16, %q: bf16, %o: f32):
    %pw = arith.extf %p : bf16 to f32
    %qw = arith.extf %q : bf16 to f32
    %m = arith.mulf %pw, %qw : f32
    %n = arith.addf %o, %m : f32
    linalg.yield %n : f32
  } -> tensor<24x40xf32>
  %narrow = tensor.empty() : tensor<24x40xbf16>
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%s, %b : tensor<24x40xf32>, tensor<40xf32>) outs(%narrow : tensor<24x40xbf16>) {
  ^bb0(%p: f32, %q: f32, %o: bf16):
    %t = arith.addf %p, %q : f32
    %c = arith.cmpf ogt, %t, %zero : f32
    %r = arith.select %c, %t, %zero : f32
    %n = arith.truncf %r : f32 to bf16
    linalg.yield %n : bf16
  } -> tensor<24x40xbf16>
  return %y : tensor<24x40xbf16>
}

// One tensor twice: its rows get a second name.
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

func.func @batch_matmul(%a: tensor<3x8x32xi8>, %b: tensor<3x32x16xi8>) -> tensor<3x8x16xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<3x8x16xi32>
  %init = linalg.fill ins(%zero : i32) outs(%empty : tensor<3x8x16xi32>) -> tensor<3x8x16xi32>
  %c = linalg.batch_matmul ins(%a, %b : tensor<3x8x32xi8>, tensor<3x32x16xi8>) outs(%init : tensor<3x8x16xi32>) -> tensor<3x8x16xi32>
  return %c : tensor<3x8x16xi32>
}

func.func @matvec(%a: tensor<64x96xf32>, %x: tensor<96xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<64xf32>) -> tensor<64xf32>
  %y = linalg.matvec ins(%a, %x : tensor<64x96xf32>, tensor<96xf32>) outs(%init : tensor<64xf32>) -> tensor<64xf32>
  return %y : tensor<64xf32>
}

// Rows that grow together, then a transpose.
func.func @reshape(%a: tensor<4x6x16xi8>, %b: tensor<24x16xi8>) -> tensor<16x24xi8> {
  %c = tensor.collapse_shape %a [[0, 1], [2]] : tensor<4x6x16xi8> into tensor<24x16xi8>
  %s = arith.addi %c, %b : tensor<24x16xi8>
  %empty = tensor.empty() : tensor<16x24xi8>
  %t = linalg.transpose ins(%s : tensor<24x16xi8>) outs(%empty : tensor<16x24xi8>) permutation = [1, 0]
  return %t : tensor<16x24xi8>
}

// A maximum along rows, and the sum of narrow integers.
func.func @folds(%a: tensor<24x40xi32>, %b: tensor<24x40xi8>) -> (tensor<24xi32>, tensor<24xi32>) {
  %low = arith.constant -2147483648 : i32
  %five = arith.constant 5 : i32
  %empty = tensor.empty() : tensor<24xi32>
  %from = linalg.fill ins(%low : i32) outs(%empty : tensor<24xi32>) -> tensor<24xi32>
  %max = linalg.reduce ins(%a : tensor<24x40xi32>) outs(%from : tensor<24xi32>) dimensions = [1]
    (%p: i32, %o: i32) {
      %n = arith.maxsi %p, %o : i32
      linalg.yield %n : i32
    }
  %start = linalg.fill ins(%five : i32) outs(%empty : tensor<24xi32>) -> tensor<24xi32>
  %sum = linalg.reduce ins(%b : tensor<24x40xi8>) outs(%start : tensor<24xi32>) dimensions = [1]
    (%p: i8, %o: i32) {
      %w = arith.extsi %p : i8 to i32
      %n = arith.addi %o, %w : i32
      linalg.yield %n : i32
    }
  return %max, %sum : tensor<24xi32>, tensor<24xi32>
}

// Softmax in its parts.
func.func @softmax(%x: tensor<32x48xf32>) -> tensor<32x48xf32> {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %rows = tensor.empty() : tensor<32xf32>
  %all = tensor.empty() : tensor<32x48xf32>
  %from = linalg.fill ins(%low : f32) outs(%rows : tensor<32xf32>) -> tensor<32xf32>
  %max = linalg.reduce { arith.maxnumf } ins(%x : tensor<32x48xf32>) outs(%from : tensor<32xf32>) dimensions = [1]
  %wide = linalg.broadcast ins(%max : tensor<32xf32>) outs(%all : tensor<32x48xf32>) dimensions = [1]
  %d = linalg.sub ins(%x, %wide : tensor<32x48xf32>, tensor<32x48xf32>) outs(%all : tensor<32x48xf32>) -> tensor<32x48xf32>
  %e = linalg.exp ins(%d : tensor<32x48xf32>) outs(%all : tensor<32x48xf32>) -> tensor<32x48xf32>
  %start = linalg.fill ins(%zero : f32) outs(%rows : tensor<32xf32>) -> tensor<32xf32>
  %sum = linalg.reduce { arith.addf } ins(%e : tensor<32x48xf32>) outs(%start : tensor<32xf32>) dimensions = [1]
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%e, %sum : tensor<32x48xf32>, tensor<32xf32>) outs(%all : tensor<32x48xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %n = arith.divf %p, %q : f32
    linalg.yield %n : f32
  } -> tensor<32x48xf32>
  return %y : tensor<32x48xf32>
}

// A convolution with one tap is a contraction.
func.func @conv(%x: tensor<1x6x6x16xi8>, %w: tensor<1x1x16x8xi8>) -> tensor<1x6x6x8xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<1x6x6x8xi32>
  %init = linalg.fill ins(%zero : i32) outs(%empty : tensor<1x6x6x8xi32>) -> tensor<1x6x6x8xi32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x6x6x16xi8>, tensor<1x1x16x8xi8>) outs(%init : tensor<1x6x6x8xi32>) -> tensor<1x6x6x8xi32>
  return %y : tensor<1x6x6x8xi32>
}

// Narrow integers wrap, narrow floats are rounded after each op.
func.func @narrow(%a: tensor<40x24xi8>, %b: tensor<40x24xi8>, %x: tensor<40x24xbf16>, %y: tensor<40x24xbf16>) -> (tensor<40x24xi8>, tensor<40x24xbf16>) {
  %e = tensor.empty() : tensor<40x24xi8>
  %c = linalg.mul ins(%a, %b : tensor<40x24xi8>, tensor<40x24xi8>) outs(%e : tensor<40x24xi8>) -> tensor<40x24xi8>
  %f = tensor.empty() : tensor<40x24xbf16>
  %z = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<40x24xbf16>, tensor<40x24xbf16>) outs(%f : tensor<40x24xbf16>) {
  ^bb0(%p: bf16, %q: bf16, %o: bf16):
    %m = arith.mulf %p, %q : bf16
    %n = arith.addf %m, %p : bf16
    linalg.yield %n : bf16
  } -> tensor<40x24xbf16>
  return %c, %z : tensor<40x24xi8>, tensor<40x24xbf16>
}

// An integer from a float that is rounded first, and back.
func.func @casts(%x: tensor<64xf32>, %n: tensor<64xi16>) -> (tensor<64xi32>, tensor<64xf32>) {
  %e = tensor.empty() : tensor<64xi32>
  %i = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<64xf32>) outs(%e : tensor<64xi32>) {
  ^bb0(%p: f32, %o: i32):
    %r = math.round %p : f32
    %c = arith.fptosi %r : f32 to i32
    linalg.yield %c : i32
  } -> tensor<64xi32>
  %f = arith.sitofp %n : tensor<64xi16> to tensor<64xf32>
  return %i, %f : tensor<64xi32>, tensor<64xf32>
}
