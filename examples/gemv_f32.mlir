// y = m x in f32. The multiplier takes no f32, so that the vector engine multiplies
// with an operand of the register file, and sums.
#axes = #tmap.axes<I = 2048, K = 64>
!m_hbm = !visa.hbm<f32, element "I, K", #axes>
!x_hbm = !visa.hbm<f32, element "K", #axes>
!y_hbm = !visa.hbm<f32, element "I", #axes>
!m_dm = !visa.dm<f32, slice "I / 8", element "I % 8, K", #axes>
!x_dm = !visa.dm<f32, slice "I / 8", element "K", #axes>
!y_dm = !visa.dm<f32, slice "I / 8", element "I % 8, 1 # 8", #axes>
!x_vrf = !visa.vrf<f32, slice "I / 8", element "K", #axes>
func.func @gemv_f32(%m: !m_hbm, %x: !x_hbm) -> !y_hbm attributes {visa.kernel} {
  %md = visa.to_dm %m : !m_hbm -> !m_dm
  %xd = visa.to_dm %x : !x_hbm -> !x_dm
  %v = visa.chain sub -> !x_vrf {
    fetch %xd time "1" packet "K" : !x_dm
    collect time "K / 8" packet "K % 8"
    to_vrf element "K"
  }
  %y = visa.chain main -> !y_dm {
    fetch %md time "I % 8" packet "K" : !m_dm
    collect time "I % 8, K / 8" packet "K % 8"
    vector_init
    vector_tag zero
    vector_narrow split time "I % 8, K / 4" packet "K % 4"
    vector_fp mul0 [vrf %v] : !x_vrf
    vector_reduce add axis "K" time "I % 8" packet "1 # 4"
    vector_widen pad packet "1 # 8"
    vector_final
    commit_trim packet "1 # 8"
    commit element "I % 8, 1 # 8"
  }
  %o = visa.to_hbm %y : !y_dm -> !y_hbm
  return %o : !y_hbm
}
