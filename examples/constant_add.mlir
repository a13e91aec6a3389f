// Adds 1 to every element: one operation of the vector engine.
#axes = #tmap.axes<A = 2048>
!hbm = !visa.hbm<i32, element "A", #axes>
!dm = !visa.dm<i32, slice "A / 8 # 256", element "A % 8", #axes>
module attributes {visa.target = #visa.target<rngd, release = "0.6", chips = 1, pes = 8>} {
  func.func @constant_add(%a: !hbm) -> !hbm attributes {visa.kernel} {
    %d = visa.to_dm %a : !hbm -> !dm
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
    %o = visa.to_hbm %r : !dm -> !hbm
    return %o : !hbm
  }
}
