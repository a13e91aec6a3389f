// A bf16 GEMM as a function of tensors: what to compute, nothing of where. The compiler chooses slices, lanes and time.
#axes = #tmap.axes<I = 512, J = 512, K = 64>
!a = !tmap.tensor<bf16, "I, K", #axes>
!b = !tmap.tensor<bf16, "J, K", #axes>
!s = !tmap.tensor<f32, "I, J", #axes>
!c = !tmap.tensor<bf16, "I, J", #axes>
func.func @gemm(%a: !a, %b: !b) -> !c attributes {visa.kernel} {
  %s = tmap.contract %a, %b over [K] : !a, !b -> !s
  %c = tmap.cast %s : !s -> !c
  return %c : !c
}
