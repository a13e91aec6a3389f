// Attention of 4 heads over tensors: softmax(q k / 8) v. The head is a batch axis of both contractions.
#axes = #tmap.axes<H = 4, Q = 64, T = 96, D = 64>
!q = !tmap.tensor<bf16, "H, Q, D", #axes>
!k = !tmap.tensor<bf16, "H, T, D", #axes>
!v = !tmap.tensor<bf16, "H, D, T", #axes>
!s = !tmap.tensor<f32, "H, Q, T", #axes>
!p = !tmap.tensor<bf16, "H, Q, T", #axes>
!n = !tmap.tensor<f32, "H, Q", #axes>
!o = !tmap.tensor<f32, "H, Q, D", #axes>
!y = !tmap.tensor<bf16, "H, Q, D", #axes>
!f = !tmap.tensor<f32, "1", #axes>
func.func @attention(%q: !q, %k: !k, %v: !v) -> !y attributes {visa.kernel} {
  %s = tmap.contract %q, %k over [D] : !q, !k -> !s
  %scale = tmap.constant 0.125 : f32 : !f
  %x = tmap.elementwise mul %s, %scale : (!s, !f) -> !s
  %m = tmap.reduce max %x over [T] : !s -> !n
  %d = tmap.elementwise sub %x, %m : (!s, !n) -> !s
  %e = tmap.elementwise exp %d : (!s) -> !s
  %sum = tmap.reduce add %e over [T] : !s -> !n
  %w = tmap.elementwise div %e, %sum : (!s, !n) -> !s
  %p = tmap.cast %w : !s -> !p
  %o = tmap.contract %p, %v over [T] : !p, !v -> !o
  %y = tmap.cast %o : !o -> !y
  return %y : !y
}
