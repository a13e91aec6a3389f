// Products of matrices of 2048 by 2048.
#axes = #tmap.axes<I = 2048, J = 2048, K = 2048>
func.func @bf16(%a: !tmap.tensor<bf16, "I, K", #axes>, %b: !tmap.tensor<bf16, "J, K", #axes>) -> !tmap.tensor<bf16, "I, J", #axes> attributes {visa.kernel} {
  %s = tmap.contract %a, %b over [K] : !tmap.tensor<bf16, "I, K", #axes>, !tmap.tensor<bf16, "J, K", #axes> -> !tmap.tensor<f32, "I, J", #axes>
  %c = tmap.cast %s : !tmap.tensor<f32, "I, J", #axes> -> !tmap.tensor<bf16, "I, J", #axes>
  return %c : !tmap.tensor<bf16, "I, J", #axes>
}
func.func @i8(%a: !tmap.tensor<i8, "I, K", #axes>, %b: !tmap.tensor<i8, "J, K", #axes>) -> !tmap.tensor<i32, "I, J", #axes> attributes {visa.kernel} {
  %s = tmap.contract %a, %b over [K] : !tmap.tensor<i8, "I, K", #axes>, !tmap.tensor<i8, "J, K", #axes> -> !tmap.tensor<i32, "I, J", #axes>
  return %s : !tmap.tensor<i32, "I, J", #axes>
}
