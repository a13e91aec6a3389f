// An int8 GEMM with an i32 result: two collected flits feed the multiplier, the
// weight lies in the tensor register file, eight lanes wide.
#axes = #tmap.axes<I = 512, J = 512, K = 64>
!i32_dm = !visa.dm<i32, slice "I / 32, J / 32", element "I % 32, J % 32", #axes>
!i32_hbm = !visa.hbm<i32, element "I, J", #axes>
!i8_dm = !visa.dm<i8, slice "I / 32, J / 32", element "I % 32, K", #axes>
!i8_dmB = !visa.dm<i8, slice "I / 32, J / 32", element "J % 32, K", #axes>
!i8_hbm = !visa.hbm<i8, element "I, K", #axes>
!i8_hbmB = !visa.hbm<i8, element "J, K", #axes>
!i8_trf = !visa.trf<i8, slice "I / 32, J / 32", lane "J % 8", element "J / 8 % 4, K", #axes>
module attributes {visa.target = #visa.target<rngd, release = "0.6", chips = 1, pes = 8>} {
  func.func @gemm_i8(%a: !i8_hbm, %b: !i8_hbmB) -> !i32_hbm attributes {visa.kernel} {
    %ad = visa.to_dm %a : !i8_hbm -> !i8_dm
    %bd = visa.to_dm %b : !i8_hbmB -> !i8_dmB
    %w = visa.chain sub -> !i8_trf {
      fetch %bd time "J % 8, J / 8 % 4" packet "K" : !i8_dmB
      fetch_cast to i8
      collect time "J % 8, J / 8 % 4, K / 32" packet "K % 32"
      to_trf lane "J % 8" element "J / 8 % 4, K"
    }
    %c = visa.chain main -> !i32_dm {
      fetch %ad time "I % 32, J / 8 % 4" packet "K" : !i8_dm
      fetch_cast to i8
      collect time "I % 32, J / 8 % 4, K / 32" packet "K % 32"
      contract_outer %w time "I % 32, J / 8 % 4" packet "K" : !i8_trf
      contract_packet packet "1"
      contract_time time "I % 32, J / 8 % 4"
      contract_lane interleaved time "I % 32, J / 8 % 4" packet "J % 8"
      commit_trim packet "J % 8"
      commit element "I % 32, J % 32"
    }
    %o = visa.to_hbm %c : !i32_dm -> !i32_hbm
    return %o : !i32_hbm
  }
}
