// Layer norm over tensors: (x - mean) / sqrt(variance + 1e-5) * w + b.
#axes = #tmap.axes<N = 128, H = 768>
!x = !tmap.tensor<f32, "N, H", #axes>
!n = !tmap.tensor<f32, "N", #axes>
!h = !tmap.tensor<f32, "H", #axes>
!f = !tmap.tensor<f32, "1", #axes>
func.func @layernorm(%x: !x, %w: !h, %b: !h) -> !x attributes {visa.kernel} {
  %count = tmap.constant 768.0 : f32 : !f
  %epsilon = tmap.constant 1.0e-05 : f32 : !f
  %sum = tmap.reduce add %x over [H] : !x -> !n
  %mean = tmap.elementwise div %sum, %count : (!n, !f) -> !n
  %d = tmap.elementwise sub %x, %mean : (!x, !n) -> !x
  %sq = tmap.elementwise mul %d, %d : (!x, !x) -> !x
  %ss = tmap.reduce add %sq over [H] : !x -> !n
  %var = tmap.elementwise div %ss, %count : (!n, !f) -> !n
  %eps = tmap.elementwise add %var, %epsilon : (!n, !f) -> !n
  %root = tmap.elementwise sqrt %eps : (!n) -> !n
  %q = tmap.elementwise div %d, %root : (!x, !n) -> !x
  %s = tmap.elementwise mul %q, %w : (!x, !h) -> !x
  %y = tmap.elementwise add %s, %b : (!x, !h) -> !x
  return %y : !x
}
