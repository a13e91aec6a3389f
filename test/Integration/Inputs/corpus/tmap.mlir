// The kernels of the corpus as functions of tensors: what they compute, and no
// word about how. Each has the name of a row of makespans.json.
#gemm = #tmap.axes<I = 512, J = 512, K = 64>
#gemv = #tmap.axes<R = 131072, K = 64>
#dot = #tmap.axes<A = 2048>
#vec = #tmap.axes<A = 2048>
#proj = #tmap.axes<H = 1024, P = 1024, Q = 2048, L = 3072>
#ragged = #tmap.axes<S = 256, R = 1000>
#sum = #tmap.axes<A = 8192>
#mnist = #tmap.axes<X = 800, H = 256, C = 16>

func.func @gemm_bf16(%a: !tmap.tensor<bf16, "I, K", #gemm>, %b: !tmap.tensor<bf16, "J, K", #gemm>) -> !tmap.tensor<bf16, "I, J", #gemm> attributes {visa.kernel} {
  %s = tmap.contract %a, %b over [K] : !tmap.tensor<bf16, "I, K", #gemm>, !tmap.tensor<bf16, "J, K", #gemm> -> !tmap.tensor<f32, "I, J", #gemm>
  %r = tmap.cast %s : !tmap.tensor<f32, "I, J", #gemm> -> !tmap.tensor<bf16, "I, J", #gemm>
  return %r : !tmap.tensor<bf16, "I, J", #gemm>
}

func.func @gemm_i8(%a: !tmap.tensor<i8, "I, K", #gemm>, %b: !tmap.tensor<i8, "J, K", #gemm>) -> !tmap.tensor<i32, "I, J", #gemm> attributes {visa.kernel} {
  %s = tmap.contract %a, %b over [K] : !tmap.tensor<i8, "I, K", #gemm>, !tmap.tensor<i8, "J, K", #gemm> -> !tmap.tensor<i32, "I, J", #gemm>
  return %s : !tmap.tensor<i32, "I, J", #gemm>
}

func.func @gemv_tiled(%a: !tmap.tensor<bf16, "R, K", #gemv>, %b: !tmap.tensor<bf16, "K", #gemv>) -> !tmap.tensor<f32, "R", #gemv> attributes {visa.kernel} {
  %s = tmap.contract %a, %b over [K] : !tmap.tensor<bf16, "R, K", #gemv>, !tmap.tensor<bf16, "K", #gemv> -> !tmap.tensor<f32, "R", #gemv>
  return %s : !tmap.tensor<f32, "R", #gemv>
}

func.func @dot(%a: !tmap.tensor<bf16, "A", #dot>, %b: !tmap.tensor<bf16, "A", #dot>) -> !tmap.tensor<bf16, "1", #dot> attributes {visa.kernel} {
  %s = tmap.contract %a, %b over [A] : !tmap.tensor<bf16, "A", #dot>, !tmap.tensor<bf16, "A", #dot> -> !tmap.tensor<f32, "1", #dot>
  %r = tmap.cast %s : !tmap.tensor<f32, "1", #dot> -> !tmap.tensor<bf16, "1", #dot>
  return %r : !tmap.tensor<bf16, "1", #dot>
}

func.func @proj_q(%a: !tmap.tensor<bf16, "H", #proj>, %b: !tmap.tensor<bf16, "Q, H", #proj>) -> !tmap.tensor<bf16, "Q", #proj> attributes {visa.kernel} {
  %s = tmap.contract %a, %b over [H] : !tmap.tensor<bf16, "H", #proj>, !tmap.tensor<bf16, "Q, H", #proj> -> !tmap.tensor<f32, "Q", #proj>
  %r = tmap.cast %s : !tmap.tensor<f32, "Q", #proj> -> !tmap.tensor<bf16, "Q", #proj>
  return %r : !tmap.tensor<bf16, "Q", #proj>
}

func.func @proj_kv(%a: !tmap.tensor<bf16, "H", #proj>, %b: !tmap.tensor<bf16, "P, H", #proj>) -> !tmap.tensor<bf16, "P", #proj> attributes {visa.kernel} {
  %s = tmap.contract %a, %b over [H] : !tmap.tensor<bf16, "H", #proj>, !tmap.tensor<bf16, "P, H", #proj> -> !tmap.tensor<f32, "P", #proj>
  %r = tmap.cast %s : !tmap.tensor<f32, "P", #proj> -> !tmap.tensor<bf16, "P", #proj>
  return %r : !tmap.tensor<bf16, "P", #proj>
}

func.func @proj_o(%a: !tmap.tensor<bf16, "Q", #proj>, %b: !tmap.tensor<bf16, "H, Q", #proj>) -> !tmap.tensor<bf16, "H", #proj> attributes {visa.kernel} {
  %s = tmap.contract %a, %b over [Q] : !tmap.tensor<bf16, "Q", #proj>, !tmap.tensor<bf16, "H, Q", #proj> -> !tmap.tensor<f32, "H", #proj>
  %r = tmap.cast %s : !tmap.tensor<f32, "H", #proj> -> !tmap.tensor<bf16, "H", #proj>
  return %r : !tmap.tensor<bf16, "H", #proj>
}

func.func @up(%a: !tmap.tensor<bf16, "H", #proj>, %b: !tmap.tensor<bf16, "L, H", #proj>) -> !tmap.tensor<bf16, "L", #proj> attributes {visa.kernel} {
  %s = tmap.contract %a, %b over [H] : !tmap.tensor<bf16, "H", #proj>, !tmap.tensor<bf16, "L, H", #proj> -> !tmap.tensor<f32, "L", #proj>
  %r = tmap.cast %s : !tmap.tensor<f32, "L", #proj> -> !tmap.tensor<bf16, "L", #proj>
  return %r : !tmap.tensor<bf16, "L", #proj>
}

func.func @down(%a: !tmap.tensor<bf16, "L", #proj>, %b: !tmap.tensor<bf16, "H, L", #proj>) -> !tmap.tensor<f32, "H", #proj> attributes {visa.kernel} {
  %s = tmap.contract %a, %b over [L] : !tmap.tensor<bf16, "L", #proj>, !tmap.tensor<bf16, "H, L", #proj> -> !tmap.tensor<f32, "H", #proj>
  return %s : !tmap.tensor<f32, "H", #proj>
}

func.func @constant_add(%a: !tmap.tensor<i32, "A", #vec>) -> !tmap.tensor<i32, "A", #vec> attributes {visa.kernel} {
  %one = tmap.constant 1 : i32 : !tmap.tensor<i32, "1", #vec>
  %r = tmap.elementwise add %a, %one : (!tmap.tensor<i32, "A", #vec>, !tmap.tensor<i32, "1", #vec>) -> !tmap.tensor<i32, "A", #vec>
  return %r : !tmap.tensor<i32, "A", #vec>
}

func.func @elementwise_mul(%a: !tmap.tensor<i32, "A", #vec>, %b: !tmap.tensor<i32, "A", #vec>) -> !tmap.tensor<i32, "A", #vec> attributes {visa.kernel} {
  %r = tmap.elementwise mul_int %a, %b : (!tmap.tensor<i32, "A", #vec>, !tmap.tensor<i32, "A", #vec>) -> !tmap.tensor<i32, "A", #vec>
  return %r : !tmap.tensor<i32, "A", #vec>
}

func.func @mnist(%x: !tmap.tensor<bf16, "X", #mnist>, %w1: !tmap.tensor<bf16, "H, X", #mnist>, %b1: !tmap.tensor<bf16, "H", #mnist>, %w2: !tmap.tensor<bf16, "C, H", #mnist>, %b2: !tmap.tensor<bf16, "C", #mnist>) -> !tmap.tensor<bf16, "C", #mnist> attributes {visa.kernel} {
  %s1 = tmap.contract %w1, %x over [X] : !tmap.tensor<bf16, "H, X", #mnist>, !tmap.tensor<bf16, "X", #mnist> -> !tmap.tensor<f32, "H", #mnist>
  %c1 = tmap.cast %b1 : !tmap.tensor<bf16, "H", #mnist> -> !tmap.tensor<f32, "H", #mnist>
  %t1 = tmap.elementwise add %s1, %c1 : (!tmap.tensor<f32, "H", #mnist>, !tmap.tensor<f32, "H", #mnist>) -> !tmap.tensor<f32, "H", #mnist>
  %zero = tmap.constant 0.0 : f32 : !tmap.tensor<f32, "1", #mnist>
  %u1 = tmap.elementwise max %t1, %zero : (!tmap.tensor<f32, "H", #mnist>, !tmap.tensor<f32, "1", #mnist>) -> !tmap.tensor<f32, "H", #mnist>
  %h = tmap.cast %u1 : !tmap.tensor<f32, "H", #mnist> -> !tmap.tensor<bf16, "H", #mnist>
  %s2 = tmap.contract %w2, %h over [H] : !tmap.tensor<bf16, "C, H", #mnist>, !tmap.tensor<bf16, "H", #mnist> -> !tmap.tensor<f32, "C", #mnist>
  %c2 = tmap.cast %b2 : !tmap.tensor<bf16, "C", #mnist> -> !tmap.tensor<f32, "C", #mnist>
  %t2 = tmap.elementwise add %s2, %c2 : (!tmap.tensor<f32, "C", #mnist>, !tmap.tensor<f32, "C", #mnist>) -> !tmap.tensor<f32, "C", #mnist>
  %y = tmap.cast %t2 : !tmap.tensor<f32, "C", #mnist> -> !tmap.tensor<bf16, "C", #mnist>
  return %y : !tmap.tensor<bf16, "C", #mnist>
}

func.func @reduce_sum(%a: !tmap.tensor<bf16, "A", #sum>) -> !tmap.tensor<bf16, "1", #sum> attributes {visa.kernel} {
  %w = tmap.cast %a : !tmap.tensor<bf16, "A", #sum> -> !tmap.tensor<f32, "A", #sum>
  %s = tmap.reduce add %w over [A] : !tmap.tensor<f32, "A", #sum> -> !tmap.tensor<f32, "1", #sum>
  %r = tmap.cast %s : !tmap.tensor<f32, "1", #sum> -> !tmap.tensor<bf16, "1", #sum>
  return %r : !tmap.tensor<bf16, "1", #sum>
}

func.func @reduce_sum_ragged(%a: !tmap.tensor<bf16, "S, R", #ragged>) -> !tmap.tensor<bf16, "S", #ragged> attributes {visa.kernel} {
  %w = tmap.cast %a : !tmap.tensor<bf16, "S, R", #ragged> -> !tmap.tensor<f32, "S, R", #ragged>
  %s = tmap.reduce add %w over [R] : !tmap.tensor<f32, "S, R", #ragged> -> !tmap.tensor<f32, "S", #ragged>
  %r = tmap.cast %s : !tmap.tensor<f32, "S", #ragged> -> !tmap.tensor<bf16, "S", #ragged>
  return %r : !tmap.tensor<bf16, "S", #ragged>
}
