// An axis that another one cuts in time fills the freed slices.
// RUN: furiosa-run --check %s iota | FileCheck %s
// CHECK: interpreter and simulator agree
// CHECK: 384 388 392 396 400 404 408 412

#axes = #tmap.axes<N = 64, R = 4, T = 4, S = 2, A = 8>
!i = !visa.hbm<i32, element "N, R, T, S, A", #axes>
!id = !visa.dm<i32, slice "N, R", element "T, S, A", #axes>
!od = !visa.dm<i32, slice "N, T", element "S, A", #axes>
!o = !visa.hbm<i32, element "N, T, S, A", #axes>
func.func @promote(%i: !i) -> !o attributes {visa.kernel} {
  %d = visa.to_dm %i : !i -> !id
  %r = visa.chain main -> !od {
    fetch %d time "T / 2, S, T % 2" packet "A" : !id
    collect time "T / 2, S, T % 2" packet "A"
    vector_init
    vector_inter_slice_reduce add slice "N, T" time "S"
    vector_final
    commit_trim packet "A"
    commit element "S, A"
  }
  %o = visa.to_hbm %r : !od -> !o
  return %o : !o
}
