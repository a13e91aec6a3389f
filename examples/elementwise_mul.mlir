// Multiplies two vectors: the right operand comes from the vector register
// file, which the sub context fills.
#axes = #tmap.axes<A = 2048>
!hbm = !visa.hbm<i32, element "A", #axes>
!dm = !visa.dm<i32, slice "A / 8 # 256", element "A % 8", #axes>
!vrf = !visa.vrf<i32, slice "A / 8 # 256", element "A % 8", #axes>
module attributes {visa.target = #visa.target<rngd, release = "0.6", chips = 1, pes = 8>} {
  func.func @elementwise_mul(%a: !hbm, %b: !hbm) -> !hbm attributes {visa.kernel} {
    %ad = visa.to_dm %a : !hbm -> !dm
    %bd = visa.to_dm %b : !hbm -> !dm
    %v = visa.chain sub -> !vrf {
      fetch %bd time "1" packet "A % 8" : !dm
      collect time "1" packet "A % 8"
      to_vrf element "A % 8"
    }
    %r = visa.chain main -> !dm {
      fetch %ad time "1" packet "A % 8" : !dm
      collect time "1" packet "A % 8"
      vector_init
      vector_tag zero
      vector_fxp mul_int [vrf %v] : !vrf
      vector_final
      commit_trim packet "A % 8"
      commit element "A % 8"
    }
    %o = visa.to_hbm %r : !dm -> !hbm
    return %o : !hbm
  }
}
