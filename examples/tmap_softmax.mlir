// Softmax of 256 rows of 100 over tensors: maximum, exponentials, sum and quotient by axis name.
#axes = #tmap.axes<N = 256, T = 100>
!x = !tmap.tensor<f32, "N, T", #axes>
!n = !tmap.tensor<f32, "N", #axes>
func.func @softmax(%x: !x) -> !x attributes {visa.kernel} {
  %m = tmap.reduce max %x over [T] : !x -> !n
  %d = tmap.elementwise sub %x, %m : (!x, !n) -> !x
  %e = tmap.elementwise exp %d : (!x) -> !x
  %s = tmap.reduce add %e over [T] : !x -> !n
  %y = tmap.elementwise div %e, %s : (!x, !n) -> !x
  return %y : !x
}
