// Three buffers of HBM of which two live at a time.
#axes = #tmap.axes<A = 2048>
!hbm = !visa.hbm<i32, element "A", #axes>
!dm = !visa.dm<i32, slice "A / 8 # 256", element "A % 8", #axes>
module attributes {visa.target = #visa.target<rngd, release = "0.6", chips = 1, pes = 8>} {
  func.func @hops(%a: !hbm) -> !hbm attributes {visa.kernel} {
    %0 = visa.alloc : !hbm
    %1 = visa.alloc : !hbm
    %2 = visa.alloc : !hbm
    visa.copy %a into %0 : !hbm, !hbm
    %d = visa.to_dm %0 : !hbm -> !dm
    %r = visa.chain main -> !dm {
      fetch %d time "1" packet "A % 8" : !dm
      collect time "1" packet "A % 8"
      vector_init
      vector_tag zero
      vector_fxp add [imm 1]
      vector_final
      commit_trim packet "A % 8"
      commit element "A % 8"
    }
    visa.copy %r into %1 : !dm, !hbm
    visa.copy %1 into %2 : !hbm, !hbm
    %e = visa.to_dm %2 : !hbm -> !dm
    %s = visa.chain main -> !dm {
      fetch %e time "1" packet "A % 8" : !dm
      collect time "1" packet "A % 8"
      vector_init
      vector_tag zero
      vector_fxp mul_int [imm 3]
      vector_final
      commit_trim packet "A % 8"
      commit element "A % 8"
    }
    %o = visa.to_hbm %s : !dm -> !hbm
    return %o : !hbm
  }
}
