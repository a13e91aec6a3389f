// Each trip of a loop needs three large buffers of data memory one after the
// other, of which two have room at a time.
#axes = #tmap.axes<T = 6, A = 2048>
!hbm = !visa.hbm<i32, element "T, A", #axes>
!tile = !visa.hbm<i32, element "1 # 6, A", #axes>
!out = !visa.hbm<i32, element "1 #{!} 6, A", #axes>
// Rows are few, what is reserved for them is not.
!dm = !visa.dm<i32, slice "A / 8 # 256", element "A % 8 # 49152", #axes>
!dm8 = !visa.dm<i32, slice "A / 8 # 256", element "A % 8", #axes>
module attributes {visa.target = #visa.target<rngd, release = "0.6", chips = 1, pes = 8>} {
  func.func @trips(%a: !hbm) -> !hbm attributes {visa.kernel} {
    %o = visa.alloc : !hbm
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c6 = arith.constant 6 : index
    scf.for %i = %c0 to %c6 step %c1 {
      %t = visa.tile %a[%i] along "T" take 1 : !hbm -> !tile
      %d = visa.to_dm %t : !tile -> !dm
      %r = visa.chain main -> !dm {
        fetch %d time "1" packet "A % 8" : !dm
        collect time "1" packet "A % 8"
        vector_init
        vector_tag zero
        vector_fxp add [imm 1]
        vector_final
        commit_trim packet "A % 8"
        commit element "A % 8 # 49152"
      }
      %s = visa.chain main -> !dm {
        fetch %r time "1" packet "A % 8" : !dm
        collect time "1" packet "A % 8"
        vector_init
        vector_tag zero
        vector_fxp mul_int [imm 3]
        vector_final
        commit_trim packet "A % 8"
        commit element "A % 8 # 49152"
      }
      %u = visa.tile %o[%i] along "T" take 1 : !hbm -> !out
      visa.copy %s into %u : !dm, !out
    }
    return %o : !hbm
  }
}
