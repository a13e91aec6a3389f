// 2^62 iterations without an op.
func.func @endless() attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.constant 4611686018427387904 : index
  scf.for %i = %c0 to %end step %c1 {
  }
  return
}
