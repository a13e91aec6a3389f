// Kernels whose trips the host says. `numbers.test` runs them.

// The first rows are copied, by all PEs; the fill comes from the first PE.
#rows = #tmap.axes<A = 6, B = 1024>
!rows_h = !visa.hbm<i32, element "A, B", #rows>
!rows_r = !visa.hbm<i32, element "1 # 6, B", #rows>
!rows_w = !visa.hbm<i32, element "1 #{!} 6, B", #rows>
!rows_f = !visa.dm<i32, slice "A # 256", element "B", #rows>
!rows_d = !visa.dm<i32, slice "B / 4", element "B % 4", #rows>
func.func @rows(%a: !rows_h, %n: index {visa.range = array<i64: 0, 6>}) -> !rows_h attributes {visa.kernel} {
  %m = arith.constant -1 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %o = visa.alloc : !rows_h
  %f = visa.alloc : !rows_f
  visa.memset %f with %m : !rows_f, i32
  visa.copy %f into %o : !rows_f, !rows_h
  scf.for %i = %c0 to %n step %c1 {
    %s = visa.tile %a[%i] along "A" take 1 : !rows_h -> !rows_r
    %t = visa.tile %o[%i] along "A" take 1 : !rows_h -> !rows_w
    %d = visa.to_dm %s : !rows_r -> !rows_d
    visa.copy %d into %t : !rows_d, !rows_w
  }
  return %o : !rows_h
}

// Loops in loops, one of them by a helper and one of one trip at most. The
// corner of the matrix that has `n` rows and `m` columns gets one more.
#corner = #tmap.axes<I = 4, J = 3, K = 8>
!corner_h = !visa.hbm<i32, element "I, J, K", #corner>
!corner_r = !visa.hbm<i32, element "1 # 4, J, K", #corner>
!corner_s = !visa.hbm<i32, element "1 # 4, 1 # 3, K", #corner>
!corner_v = !visa.hbm<i32, element "1 #{!} 4, J, K", #corner>
!corner_w = !visa.hbm<i32, element "1 #{!} 4, 1 #{!} 3, K", #corner>
!corner_f = !visa.dm<i32, slice "[I, J] # 256", element "K", #corner>
!corner_d = !visa.dm<i32, slice "1 # 256", element "K", #corner>
func.func private @add_one(%a: !corner_d) -> !corner_d {
  %r = visa.chain main -> !corner_d {
    fetch %a time "1" packet "K" : !corner_d
    collect time "1" packet "K"
    vector_init
    vector_tag zero
    vector_fxp add [imm 1]
    vector_final
    commit_trim packet "K"
    commit element "K"
  }
  return %r : !corner_d
}
func.func @corner(%a: !corner_h, %n: i32 {visa.range = array<i64: 0, 4>}, %m: index {visa.range = array<i64: 1, 3>}, %k: index {visa.range = array<i64: 0, 1>}) -> !corner_h attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = arith.index_cast %n : i32 to index
  %o = visa.alloc : !corner_h
  %f = visa.to_dm %a : !corner_h -> !corner_f
  visa.copy %f into %o : !corner_f, !corner_h
  scf.for %once = %c0 to %k step %c1 {
    scf.for %i = %c0 to %rows step %c1 {
      scf.for %j = %c0 to %m step %c1 {
        %s = visa.tile %a[%i] along "I" take 1 : !corner_h -> !corner_r
        %r = visa.tile %s[%j] along "J" take 1 : !corner_r -> !corner_s
        %t = visa.tile %o[%i] along "I" take 1 : !corner_h -> !corner_v
        %w = visa.tile %t[%j] along "J" take 1 : !corner_v -> !corner_w
        %d = visa.to_dm %r : !corner_s -> !corner_d
        %b = func.call @add_one(%d) : (!corner_d) -> !corner_d
        visa.copy %b into %w : !corner_d, !corner_w
      }
    }
  }
  return %o : !corner_h
}
