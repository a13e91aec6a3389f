// A layer of a perceptron: c = max(a b + bias, 0) in bf16. The vector engine takes the f32 sums of the contraction as
// they come, the bias lies in the vector register file.
#axes = #tmap.axes<I = 512, J = 512, K = 64>
!a_hbm = !visa.hbm<bf16, element "I, K", #axes>
!b_hbm = !visa.hbm<bf16, element "J, K", #axes>
!v_hbm = !visa.hbm<f32, element "J", #axes>
!c_hbm = !visa.hbm<bf16, element "I, J", #axes>
!a_dm = !visa.dm<bf16, slice "I / 32, J / 32", element "I % 32, K", #axes>
!b_dm = !visa.dm<bf16, slice "I / 32, J / 32", element "J % 32, K", #axes>
!v_dm = !visa.dm<f32, slice "I / 32, J / 32", element "J % 32", #axes>
!c_dm = !visa.dm<bf16, slice "I / 32, J / 32", element "I % 32, J % 32", #axes>
!b_trf = !visa.trf<bf16, slice "I / 32, J / 32", lane "J % 8", element "J / 8 % 4, K", #axes>
!v_vrf = !visa.vrf<f32, slice "I / 32, J / 32", element "J % 32", #axes>
func.func @linear_relu(%a: !a_hbm, %b: !b_hbm, %bias: !v_hbm) -> !c_hbm attributes {visa.kernel} {
  %ad = visa.to_dm %a : !a_hbm -> !a_dm
  %bd = visa.to_dm %b : !b_hbm -> !b_dm
  %vd = visa.to_dm %bias : !v_hbm -> !v_dm
  %w = visa.chain sub -> !b_trf {
    fetch %bd time "J % 8, J / 8 % 4" packet "K" : !b_dm
    collect time "J % 8, J / 8 % 4, K / 16" packet "K % 16"
    to_trf lane "J % 8" element "J / 8 % 4, K"
  }
  %v = visa.chain sub -> !v_vrf {
    fetch %vd time "J / 8 % 4" packet "J % 8" : !v_dm
    collect time "J / 8 % 4" packet "J % 8"
    to_vrf element "J % 32"
  }
  %c = visa.chain main -> !c_dm {
    fetch %ad time "I % 32, J / 8 % 4" packet "K" : !a_dm
    collect time "I % 32, J / 8 % 4, K / 16" packet "K % 16"
    contract_outer %w time "I % 32, J / 8 % 4, K / 32" packet "K % 32" : !b_trf
    contract_packet packet "1"
    contract_time time "I % 32, J / 8 % 4"
    contract_lane interleaved time "I % 32, J / 8 % 4" packet "J % 8"
    vector_init
    vector_tag zero
    vector_clip add [vrf %v] : !v_vrf
    vector_clip max [imm 0.0]
    vector_final
    cast to bf16 packet "J % 8 # 16"
    commit_trim packet "J % 8"
    commit element "I % 32, J % 32"
  }
  %o = visa.to_hbm %c : !c_dm -> !c_hbm
  return %o : !c_hbm
}
