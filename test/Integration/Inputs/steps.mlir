// A product whose rows come in steps of different lengths.
#axes = #tmap.axes<I = 1024, J = 1024, K = 1024>
!a = !tmap.tensor<i8, "I, K", #axes>
!b = !tmap.tensor<i8, "J, K", #axes>
!c = !tmap.tensor<i32, "I, J", #axes>
func.func @steps(%a: !a, %b: !b) -> !c attributes {visa.kernel} {
  %c = tmap.contract %a, %b over [K] : !a, !b -> !c
  return %c : !c
}
