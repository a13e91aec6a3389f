// A flit that split and pad make two of reads half of what was kept.
// RUN: furiosa-run --check %s iota | FileCheck %s
// CHECK: interpreter and simulator agree
// CHECK: 0 4 8 12 16 20 24 28

#axes = #tmap.axes<N = 256, T = 4, A = 8, B = 4>
!i = !visa.hbm<i32, element "N, T, A", #axes>
!id = !visa.dm<i32, slice "N", element "T, A", #axes>
!od = !visa.dm<i32, slice "N", element "T, A / 4, A % 4", #axes>
!o = !visa.hbm<i32, element "N, T, A", #axes>
func.func @split_pad(%i: !i) -> !o attributes {visa.kernel} {
  %d = visa.to_dm %i : !i -> !id
  %r = visa.chain main -> !od {
    fetch %d time "T" packet "A" : !id
    collect time "T" packet "A"
    vector_init
    vector_tag zero
    vector_stash
    vector_fxp mul_int [imm 3]
    vector_narrow split time "T, A / 4" packet "A % 4"
    vector_widen pad packet "A % 4 # 8"
    vector_clip add [stash]
    vector_final
    commit_trim packet "A % 4"
    commit element "T, A / 4, A % 4"
  }
  %o = visa.to_hbm %r : !od -> !o
  return %o : !o
}
