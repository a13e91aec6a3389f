// An int8 GEMM whose left operand has a zero point: i9 at the multiplier.
#axes = #tmap.axes<I = 512, J = 512, K = 64>
!a_hbm = !visa.hbm<i8, element "I, K", #axes>
!b_hbm = !visa.hbm<i8, element "J, K", #axes>
!c_hbm = !visa.hbm<i32, element "I, J", #axes>
!a_dm = !visa.dm<i8, slice "I / 32, J / 32", element "I % 32, K", #axes>
!b_dm = !visa.dm<i8, slice "I / 32, J / 32", element "J % 32, K", #axes>
!c_dm = !visa.dm<i32, slice "I / 32, J / 32", element "I % 32, J % 32", #axes>
!b_trf = !visa.trf<i8, slice "I / 32, J / 32", lane "J % 8", element "J / 8 % 4, K", #axes>
module attributes {visa.target = #visa.target<rngd, release = "0.6", chips = 1, pes = 8>} {
  func.func @gemm_i8_zero_point(%a: !a_hbm, %b: !b_hbm) -> !c_hbm attributes {visa.kernel} {
    %ad = visa.to_dm %a : !a_hbm -> !a_dm
    %bd = visa.to_dm %b : !b_hbm -> !b_dm
    %w = visa.chain sub -> !b_trf {
      fetch %bd time "J % 8, J / 8 % 4" packet "K" : !b_dm
      collect time "J % 8, J / 8 % 4, K / 32" packet "K % 32"
      to_trf lane "J % 8" element "J / 8 % 4, K"
    }
    %c = visa.chain main -> !c_dm {
      fetch %ad time "I % 32" packet "K" : !a_dm
      zero_point_sub 3
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
