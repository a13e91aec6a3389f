// An int4 GEMM whose activations have a zero point: i5 by i4, 128 elements a packet,
// sent to four groups of columns.
#axes = #tmap.axes<I = 512, J = 512, K = 128>
!a_hbm = !visa.hbm<i4, element "I, K", #axes>
!b_hbm = !visa.hbm<i4, element "J, K", #axes>
!c_hbm = !visa.hbm<i32, element "I, J", #axes>
!a_dm = !visa.dm<i4, slice "I / 32, J / 32", element "I % 32, K", #axes>
!b_dm = !visa.dm<i4, slice "I / 32, J / 32", element "J % 32, K", #axes>
!c_dm = !visa.dm<i32, slice "I / 32, J / 32", element "I % 32, J % 32", #axes>
!b_trf = !visa.trf<i4, slice "I / 32, J / 32", lane "J % 8", element "J / 8 % 4, K", #axes>
module attributes {visa.target = #visa.target<rngd, release = "0.6", chips = 1, pes = 8>} {
  func.func @gemm_i4_zero_point(%a: !a_hbm, %b: !b_hbm) -> !c_hbm attributes {visa.kernel} {
    %ad = visa.to_dm %a : !a_hbm -> !a_dm
    %bd = visa.to_dm %b : !b_hbm -> !b_dm
    %w = visa.chain sub -> !b_trf {
      fetch %bd time "J % 8, J / 8 % 4" packet "K" : !b_dm
      collect time "J % 8, J / 8 % 4, K / 64" packet "K % 64"
      to_trf lane "J % 8" element "J / 8 % 4, K"
    }
    %c = visa.chain main -> !c_dm {
      fetch %ad time "I % 32" packet "K" : !a_dm
      zero_point_sub 3
      collect time "I % 32, K / 64" packet "K % 64"
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
