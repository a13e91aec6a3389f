// RUN: furiosa-opt-mlir %s --split-input-file --verify-diagnostics

// One wrong clause is one error: what only follows from it is not said. What
// does not follow is.
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
      // expected-error @below {{TU-50: packet is no contraction of the stream's packet "K": only its innermost cells can be summed: found "2", expected "1"; write packet "1"}}
      // expected-note @below {{"2" has 2 positions, "1" has 1}}
      contract_packet packet "2"
      contract_time time "I % 32, J / 8 % 4"
      contract_lane interleaved time "I % 32, J / 8 % 4" packet "J % 8"
      commit_trim packet "J % 8"
      commit element "I % 32, J % 32"
    }
    %o = visa.to_hbm %c : !i32_dm -> !i32_hbm
    return %o : !i32_hbm
  }
}

// -----

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
      // expected-error @below {{MA-8: '% 3' does not divide a size of 512}}
      to_trf lane "J % 3" element "J / 8 % 4, K"
    }
    %c = visa.chain main -> !i32_dm {
      fetch %ad time "I % 32, J / 8 % 4" packet "K" : !i8_dm
      fetch_cast to i8
      collect time "I % 32, J / 8 % 4, K / 32" packet "K % 32"
      contract_outer %w time "I % 32, J / 8 % 4" packet "K" : !i8_trf
      // expected-error @below {{TU-50: packet is no contraction of the stream's packet "K": only its innermost cells can be summed: found "2", expected "1"; write packet "1"}}
      // expected-note @below {{"2" has 2 positions, "1" has 1}}
      contract_packet packet "2"
      contract_time time "I % 32, J / 8 % 4"
      contract_lane interleaved time "I % 32, J / 8 % 4" packet "J % 8"
      // expected-error @below {{TU-74}}
      commit_trim packet "I % 8"
      commit element "I % 32, J % 32"
    }
    %o = visa.to_hbm %c : !i32_dm -> !i32_hbm
    return %o : !i32_hbm
  }
}

// -----

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
      // expected-error @below {{MM-9: time "J / 8 % 4" and packet "K" leave cells of the source unread}}
      fetch %ad time "J / 8 % 4" packet "K" : !i8_dm
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

// -----

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
      // expected-error @below {{TU-51}}
      contract_time time "K"
      contract_lane interleaved time "I % 32, J / 8 % 4" packet "J % 8"
      commit_trim packet "J % 8"
      commit element "I % 32, J % 32"
    }
    %o = visa.to_hbm %c : !i32_dm -> !i32_hbm
    return %o : !i32_hbm
  }
}

// -----

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
      // expected-error @below {{MA-7}}
      contract_outer %w time "Nowhere" packet "K" : !i8_trf
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
