// A layer of a perceptron over tensors: relu(x w + b), then a second matrix. Casts ride along with what is next to them.
#axes = #tmap.axes<N = 128, H = 256, L = 512, O = 64>
!x = !tmap.tensor<bf16, "N, H", #axes>
!w = !tmap.tensor<bf16, "L, H", #axes>
!b = !tmap.tensor<f32, "L", #axes>
!v = !tmap.tensor<bf16, "O, L", #axes>
!s = !tmap.tensor<f32, "N, L", #axes>
!h = !tmap.tensor<bf16, "N, L", #axes>
!y = !tmap.tensor<f32, "N, O", #axes>
!f = !tmap.tensor<f32, "1", #axes>
func.func @mlp(%x: !x, %w: !w, %b: !b, %v: !v) -> !y attributes {visa.kernel} {
  %s = tmap.contract %x, %w over [H] : !x, !w -> !s
  %t = tmap.elementwise add %s, %b : (!s, !b) -> !s
  %zero = tmap.constant 0.0 : f32 : !f
  %r = tmap.elementwise max %t, %zero : (!s, !f) -> !s
  %h = tmap.cast %r : !s -> !h
  %y = tmap.contract %h, %v over [L] : !h, !v -> !y
  return %y : !y
}
