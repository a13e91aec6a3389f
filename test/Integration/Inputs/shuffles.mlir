// Transfers between clusters by tiles of them. `shuffles.test` runs them.

#axes = #tmap.axes<C = 2, S = 2, A = 128, B = 8>
!h = !visa.hbm<i32, element "C, S, A, B", #axes>
!d = !visa.dm<i32, cluster "C", slice "A # 256", element "S, B", #axes>
!d_r = !visa.dm<i32, cluster "1 # 2", slice "A # 256", element "S, B", #axes>
!d_w = !visa.dm<i32, cluster "1 #{!} 2", slice "A # 256", element "S, B", #axes>
!d_s = !visa.dm<i32, cluster "1 # 2", slice "A # 256", element "1 # 2, B", #axes>
!o = !visa.dm<i32, cluster "C", slice "A # 256", element "B", #axes>
!o_w = !visa.dm<i32, cluster "1 #{!} 2", slice "A # 256", element "B", #axes>
!o_h = !visa.hbm<i32, element "C, A, B", #axes>

// W21: the clusters change places.
func.func @shuffle(%a: !h) -> !h attributes {visa.kernel} {
  %d = visa.to_dm %a : !h -> !d
  %e = visa.alloc : !d
  %r0 = visa.tile %d[0] of cluster along "C" take 1 : !d -> !d_r
  %r1 = visa.tile %d[1] of cluster along "C" take 1 : !d -> !d_r
  %w0 = visa.tile %e[0] of cluster along "C" take 1 : !d -> !d_w
  %w1 = visa.tile %e[1] of cluster along "C" take 1 : !d -> !d_w
  visa.copy %r1 into %w0 : !d_r, !d_w
  visa.copy %r0 into %w1 : !d_r, !d_w
  %h = visa.to_hbm %e : !d -> !h
  return %h : !h
}

// W22: cluster 0 takes its slice 1, cluster 1 its slice 0, of the outermost axis.
func.func @slices(%a: !h) -> !o_h attributes {visa.kernel} {
  %d = visa.to_dm %a : !h -> !d
  %e = visa.alloc : !o
  %r0 = visa.tile %d[0] of cluster along "C" take 1 : !d -> !d_r
  %s0 = visa.tile %r0[1] along "S" take 1 : !d_r -> !d_s
  %w0 = visa.tile %e[0] of cluster along "C" take 1 : !o -> !o_w
  visa.copy %s0 into %w0 : !d_s, !o_w
  %r1 = visa.tile %d[1] of cluster along "C" take 1 : !d -> !d_r
  %s1 = visa.tile %r1[0] along "S" take 1 : !d_r -> !d_s
  %w1 = visa.tile %e[1] of cluster along "C" take 1 : !o -> !o_w
  visa.copy %s1 into %w1 : !d_s, !o_w
  %h = visa.to_hbm %e : !o -> !o_h
  return %h : !o_h
}

// W21 of one buffer: what is overwritten has been kept.
func.func @in_place(%a: !h) -> !h attributes {visa.kernel} {
  %d = visa.to_dm %a : !h -> !d
  %k = visa.alloc : !d
  visa.copy %d into %k : !d, !d
  %r0 = visa.tile %k[0] of cluster along "C" take 1 : !d -> !d_r
  %r1 = visa.tile %d[1] of cluster along "C" take 1 : !d -> !d_r
  %w0 = visa.tile %d[0] of cluster along "C" take 1 : !d -> !d_w
  %w1 = visa.tile %d[1] of cluster along "C" take 1 : !d -> !d_w
  visa.copy %r1 into %w0 : !d_r, !d_w
  visa.copy %r0 into %w1 : !d_r, !d_w
  %h = visa.to_hbm %d : !d -> !h
  return %h : !h
}
