// A flit that trim and concat make of two reads what was kept of both.
// RUN: furiosa-run --check %s iota | FileCheck %s
// CHECK: interpreter and simulator agree
// CHECK: 0 4 8 12 16 20 24 28

#axes = #tmap.axes<N = 256, T = 4, A = 8, B = 4>
!i = !visa.hbm<i32, element "N, T, B", #axes>
!id = !visa.dm<i32, slice "N", element "T, B # 8", #axes>
!od = !visa.dm<i32, slice "N", element "T, B", #axes>
!o = !visa.hbm<i32, element "N, T, B", #axes>
func.func @trim_concat(%i: !i) -> !o attributes {visa.kernel} {
  %d = visa.to_dm %i : !i -> !id
  %r = visa.chain main -> !od {
    fetch %d time "T" packet "B # 8" : !id
    collect time "T" packet "B # 8"
    vector_init
    vector_tag zero
    vector_stash
    vector_fxp mul_int [imm 3]
    vector_narrow trim packet "B"
    vector_widen concat time "T / 2" packet "T % 2, B"
    vector_clip add [stash]
    vector_final
    commit_trim packet "T % 2, B"
    commit element "T, B"
  }
  %o = visa.to_hbm %r : !od -> !o
  return %o : !o
}
