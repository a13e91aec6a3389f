// A GEMM of f8 activations with f4 weights: the weights are looked up as f8 on
// the way through the main context, and loaded from there.
#axes = #tmap.axes<I = 512, J = 512, K = 64>
!a_hbm = !visa.hbm<f8E4M3FN, element "I, K", #axes>
!b_hbm = !visa.hbm<f4E2M1FN, element "J, K", #axes>
!c_hbm = !visa.hbm<f32, element "I, J", #axes>
!a_dm = !visa.dm<f8E4M3FN, slice "I / 32, J / 32", element "I % 32, K", #axes>
!b_dm = !visa.dm<f4E2M1FN, slice "I / 32, J / 32", element "J % 32, K", #axes>
!b_wide = !visa.dm<f8E4M3FN, slice "I / 32, J / 32", element "J % 32, K", #axes>
!c_dm = !visa.dm<f32, slice "I / 32, J / 32", element "I % 32, J % 32", #axes>
!b_trf = !visa.trf<f8E4M3FN, slice "I / 32, J / 32", lane "J % 8", element "J / 8 % 4, K", #axes>
module attributes {visa.target = #visa.target<rngd, release = "0.6", chips = 1, pes = 8>} {
  func.func @gemm_f4(%a: !a_hbm, %b: !b_hbm) -> !c_hbm attributes {visa.kernel} {
    %ad = visa.to_dm %a : !a_hbm -> !a_dm
    %bd = visa.to_dm %b : !b_hbm -> !b_dm
    %wide = visa.chain main -> !b_wide {
      fetch %bd time "J % 32" packet "K" : !b_dm
      table_lookup to f8E4M3FN
      collect time "J % 32, K / 32" packet "K % 32"
      commit_trim packet "K % 32"
      commit element "J % 32, K"
    }
    %w = visa.chain sub -> !b_trf {
      fetch %wide time "J % 8, J / 8 % 4" packet "K" : !b_wide
      collect time "J % 8, J / 8 % 4, K / 32" packet "K % 32"
      to_trf lane "J % 8" element "J / 8 % 4, K"
    }
    %c = visa.chain main -> !c_dm {
      fetch %ad time "I % 32" packet "K" : !a_dm
      collect time "I % 32, K / 32" packet "K % 32"
      contract_outer %w time "I % 32, J / 8 % 4" packet "K" : !b_trf
      contract_packet packet "1"
      contract_time time "I % 32, J / 8 % 4"
      contract_lane interleaved time "I % 32, J / 8 % 4" packet "J % 8"
      commit_trim packet "J % 8"
      commit element "I % 32, J % 32"
    }
    %o = visa.to_hbm %c : !c_dm -> !c_hbm
    return %o : !c_hbm
  }
}
