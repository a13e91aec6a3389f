// Two kernels: add 1, multiply by 3.
#axes = #tmap.axes<A = 2048>
!hbm = !visa.hbm<i32, element "A", #axes>
!dm = !visa.dm<i32, slice "A / 8", element "A % 8", #axes>
module @model {
  module @vector {
    func.func @add(%a: !hbm) -> !hbm attributes {visa.kernel} {
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
    func.func @scale(%a: !hbm) -> !hbm attributes {visa.kernel} {
      %d = visa.to_dm %a : !hbm -> !dm
      %r = visa.chain main -> !dm {
        fetch %d time "1" packet "A % 8" : !dm
        collect time "1" packet "A % 8"
        vector_init
        vector_tag zero
        vector_fxp mul_int [imm 3]
        vector_final
        commit_trim packet "A % 8"
        commit element "A % 8"
      }
      %o = visa.to_hbm %r : !dm -> !hbm
      return %o : !hbm
    }
  }
}
