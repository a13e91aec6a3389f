// Sums that are taken in parts by neighbouring slices. Each is run in the
// interpreter and in the simulator.
#d = #tmap.axes<K = 65536>
!di8 = !tmap.tensor<i8, "K", #d>
!di32 = !tmap.tensor<i32, "1", #d>
!dbf = !tmap.tensor<bf16, "K", #d>
!df32 = !tmap.tensor<f32, "1", #d>
func.func @dot_i8(%a: !di8, %b: !di8) -> !di32 attributes {visa.kernel} {
  %c = tmap.contract %a, %b over [K] : !di8, !di8 -> !di32
  return %c : !di32
}
func.func @dot_bf16(%a: !dbf, %b: !dbf) -> !df32 attributes {visa.kernel} {
  %c = tmap.contract %a, %b over [K] : !dbf, !dbf -> !df32
  return %c : !df32
}
#g = #tmap.axes<I = 8, K = 65536>
!gm = !tmap.tensor<bf16, "I, K", #g>
!gv = !tmap.tensor<bf16, "K", #g>
!gr = !tmap.tensor<f32, "I", #g>
!gmi = !tmap.tensor<i8, "I, K", #g>
!gvi = !tmap.tensor<i8, "K", #g>
!gri = !tmap.tensor<i32, "I", #g>
func.func @gemv(%a: !gm, %b: !gv) -> !gr attributes {visa.kernel} {
  %c = tmap.contract %a, %b over [K] : !gm, !gv -> !gr
  return %c : !gr
}
func.func @gemv_i8(%a: !gmi, %b: !gvi) -> !gri attributes {visa.kernel} {
  %c = tmap.contract %a, %b over [K] : !gmi, !gvi -> !gri
  return %c : !gri
}
#l = #tmap.axes<T = 1048576>
!l = !tmap.tensor<f32, "T", #l>
!lr = !tmap.tensor<f32, "1", #l>
func.func @long(%a: !l) -> !lr attributes {visa.kernel} {
  %c = tmap.reduce add %a over [T] : !l -> !lr
  return %c : !lr
}
func.func @long_max(%a: !l) -> !lr attributes {visa.kernel} {
  %c = tmap.reduce max %a over [T] : !l -> !lr
  return %c : !lr
}
#w = #tmap.axes<N = 64, T = 16384>
!w = !tmap.tensor<f32, "N, T", #w>
!wr = !tmap.tensor<f32, "N", #w>
func.func @wide(%a: !w) -> !wr attributes {visa.kernel} {
  %c = tmap.reduce add %a over [T] : !w -> !wr
  return %c : !wr
}
func.func @wide_max(%a: !w) -> !wr attributes {visa.kernel} {
  %c = tmap.reduce max %a over [T] : !w -> !wr
  return %c : !wr
}
#m = #tmap.axes<I = 64, J = 64, K = 16384>
!ma = !tmap.tensor<bf16, "I, K", #m>
!mb = !tmap.tensor<bf16, "J, K", #m>
!mc = !tmap.tensor<f32, "I, J", #m>
func.func @gemm(%a: !ma, %b: !mb) -> !mc attributes {visa.kernel} {
  %c = tmap.contract %a, %b over [K] : !ma, !mb -> !mc
  return %c : !mc
}

// Sizes that fill no parts: zeros stand behind them.
#o = #tmap.axes<K = 5000, T = 5001, U = 4104, I = 3, J = 20, L = 3, N = 5>
!oa = !tmap.tensor<bf16, "K", #o>
!om = !tmap.tensor<bf16, "J, K", #o>
!on = !tmap.tensor<bf16, "I, K", #o>
!or = !tmap.tensor<f32, "1", #o>
!orij = !tmap.tensor<f32, "I, J", #o>
func.func @odd_dot(%a: !oa, %b: !oa) -> !or attributes {visa.kernel} {
  %c = tmap.contract %a, %b over [K] : !oa, !oa -> !or
  return %c : !or
}
func.func @odd_product(%a: !on, %b: !om) -> !orij attributes {visa.kernel} {
  %c = tmap.contract %a, %b over [K] : !on, !om -> !orij
  return %c : !orij
}
!oa2 = !tmap.tensor<bf16, "L, I, K", #o>
!ob2 = !tmap.tensor<bf16, "L, J, K", #o>
func.func @two_axes(%a: !oa2, %b: !ob2) -> !orij attributes {visa.kernel} {
  %c = tmap.contract %a, %b over [L, K] : !oa2, !ob2 -> !orij
  return %c : !orij
}
!ot = !tmap.tensor<f32, "N, T", #o>
!otn = !tmap.tensor<f32, "N", #o>
func.func @odd_sums(%a: !ot) -> !otn attributes {visa.kernel} {
  %c = tmap.reduce add %a over [T] : !ot -> !otn
  return %c : !otn
}
!ou = !tmap.tensor<f32, "N, U", #o>
func.func @sums(%a: !ou) -> !otn attributes {visa.kernel} {
  %c = tmap.reduce add %a over [U] : !ou -> !otn
  return %c : !otn
}
func.func @maxima(%a: !ou) -> !otn attributes {visa.kernel} {
  %c = tmap.reduce max %a over [U] : !ou -> !otn
  return %c : !otn
}
func.func @odd_maxima(%a: !ot) -> !otn attributes {visa.kernel} {
  %c = tmap.reduce max %a over [T] : !ot -> !otn
  return %c : !otn
}
!oit = !tmap.tensor<i32, "T, N", #o>
!oitn = !tmap.tensor<i32, "N", #o>
func.func @odd_saturating(%a: !oit) -> !oitn attributes {visa.kernel} {
  %c = tmap.reduce add_sat %a over [T] : !oit -> !oitn
  return %c : !oitn
}
!obu = !tmap.tensor<bf16, "U", #o>
!ofu = !tmap.tensor<f32, "U", #o>
!obr = !tmap.tensor<bf16, "1", #o>
func.func @narrow_sum(%a: !obu) -> !obr attributes {visa.kernel} {
  %b = tmap.cast %a : !obu -> !ofu
  %c = tmap.reduce add %b over [U] : !ofu -> !or
  %d = tmap.cast %c : !or -> !obr
  return %d : !obr
}
!oiuk = !tmap.tensor<i8, "K, I", #o>
!oik = !tmap.tensor<i8, "K, J", #o>
!orijj = !tmap.tensor<i32, "J, I", #o>
func.func @odd_integers(%a: !oiuk, %b: !oik) -> !orijj attributes {visa.kernel} {
  %c = tmap.contract %a, %b over [K] : !oiuk, !oik -> !orijj
  return %c : !orijj
}
func.func @tail(%a: !on, %b: !om, %v: !tmap.tensor<f32, "J", #o>) -> !orij attributes {visa.kernel} {
  %c = tmap.contract %a, %b over [K] : !on, !om -> !orij
  %d = tmap.elementwise add %c, %v : (!orij, !tmap.tensor<f32, "J", #o>) -> !orij
  %e = tmap.elementwise tanh %d : (!orij) -> !orij
  return %e : !orij
}
