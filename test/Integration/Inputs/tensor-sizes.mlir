// Sizes that fit nothing: primes, less than a flit, more than data memory; and
// views. Each is run in the interpreter and in the simulator.
#p = #tmap.axes<I = 131, J = 37, K = 101>
func.func @primes(%a: !tmap.tensor<i8, "I, K", #p>, %b: !tmap.tensor<i8, "J, K", #p>) -> !tmap.tensor<i32, "I, J", #p> attributes {visa.kernel} {
  %c = tmap.contract %a, %b over [K] : !tmap.tensor<i8, "I, K", #p>, !tmap.tensor<i8, "J, K", #p> -> !tmap.tensor<i32, "I, J", #p>
  return %c : !tmap.tensor<i32, "I, J", #p>
}

#s = #tmap.axes<I = 2, J = 3, K = 5>
func.func @small(%a: !tmap.tensor<bf16, "I, K", #s>, %b: !tmap.tensor<bf16, "J, K", #s>) -> !tmap.tensor<f32, "I, J", #s> attributes {visa.kernel} {
  %c = tmap.contract %a, %b over [K] : !tmap.tensor<bf16, "I, K", #s>, !tmap.tensor<bf16, "J, K", #s> -> !tmap.tensor<f32, "I, J", #s>
  %e = tmap.elementwise exp %c : (!tmap.tensor<f32, "I, J", #s>) -> !tmap.tensor<f32, "I, J", #s>
  %m = tmap.reduce max %e over [J] : !tmap.tensor<f32, "I, J", #s> -> !tmap.tensor<f32, "I", #s>
  %d = tmap.elementwise div %e, %m : (!tmap.tensor<f32, "I, J", #s>, !tmap.tensor<f32, "I", #s>) -> !tmap.tensor<f32, "I, J", #s>
  return %d : !tmap.tensor<f32, "I, J", #s>
}

#v = #tmap.axes<S = 24, T = 24, D = 32, W = 100, N = 2048, L = 7>
func.func @gram(%x: !tmap.tensor<i8, "S, D", #v>) -> !tmap.tensor<i32, "S, T", #v> attributes {visa.kernel} {
  %y = tmap.reshape %x : !tmap.tensor<i8, "S, D", #v> -> !tmap.tensor<i8, "T, D", #v>
  %s = tmap.contract %x, %y over [D] : !tmap.tensor<i8, "S, D", #v>, !tmap.tensor<i8, "T, D", #v> -> !tmap.tensor<i32, "S, T", #v>
  return %s : !tmap.tensor<i32, "S, T", #v>
}
func.func @rows(%t: !tmap.tensor<bf16, "W, D", #v>, %i: !tmap.tensor<i32, "S", #v>) -> !tmap.tensor<bf16, "S, D", #v> attributes {visa.kernel} {
  %g = tmap.gather %t by %i over [W] : !tmap.tensor<bf16, "W, D", #v>, !tmap.tensor<i32, "S", #v> -> !tmap.tensor<bf16, "S, D", #v>
  return %g : !tmap.tensor<bf16, "S, D", #v>
}
func.func @few(%t: !tmap.tensor<bf16, "W, D", #v>, %i: !tmap.tensor<i32, "L", #v>) -> !tmap.tensor<bf16, "L, D", #v> attributes {visa.kernel} {
  %g = tmap.gather %t by %i over [W] : !tmap.tensor<bf16, "W, D", #v>, !tmap.tensor<i32, "L", #v> -> !tmap.tensor<bf16, "L, D", #v>
  return %g : !tmap.tensor<bf16, "L, D", #v>
}

// More than the data memory of a chip with one engine, 32 MiB: loops over HBM.
#l = #tmap.axes<A = 4194304, I = 65536, J = 8, K = 512>
func.func @long(%a: !tmap.tensor<i32, "A", #l>, %b: !tmap.tensor<i32, "A", #l>) -> !tmap.tensor<i32, "A", #l> attributes {visa.kernel, visa.target = #visa.target<rngd, release = "0.6", chips = 1, pes = 1>} {
  %c = tmap.elementwise add %a, %b : (!tmap.tensor<i32, "A", #l>, !tmap.tensor<i32, "A", #l>) -> !tmap.tensor<i32, "A", #l>
  return %c : !tmap.tensor<i32, "A", #l>
}
func.func @tall(%a: !tmap.tensor<i8, "I, K", #l>, %b: !tmap.tensor<i8, "J, K", #l>) -> !tmap.tensor<i32, "I, J", #l> attributes {visa.kernel, visa.target = #visa.target<rngd, release = "0.6", chips = 1, pes = 1>} {
  %c = tmap.contract %a, %b over [K] : !tmap.tensor<i8, "I, K", #l>, !tmap.tensor<i8, "J, K", #l> -> !tmap.tensor<i32, "I, J", #l>
  return %c : !tmap.tensor<i32, "I, J", #l>
}

// Operands whose summed axis stands outside.
#t = #tmap.axes<I = 256, J = 128, K = 192>
func.func @turned(%a: !tmap.tensor<bf16, "K, I", #t>, %b: !tmap.tensor<bf16, "K, J", #t>) -> !tmap.tensor<f32, "I, J", #t> attributes {visa.kernel} {
  %s = tmap.contract %a, %b over [K] : !tmap.tensor<bf16, "K, I", #t>, !tmap.tensor<bf16, "K, J", #t> -> !tmap.tensor<f32, "I, J", #t>
  return %s : !tmap.tensor<f32, "I, J", #t>
}
