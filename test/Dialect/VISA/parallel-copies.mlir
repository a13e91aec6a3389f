// A parallel copy stays in its slices, and runs in all clusters.
// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics -o /dev/null
// RUN: not furiosa-opt-mlir %s -split-input-file -convert-visa-to-lir -o /dev/null 2>&1 | FileCheck %s

// W22 as a program might ask for it: each cluster takes a row of its own.
#axes = #tmap.axes<C = 2, S = 2, A = 128, B = 8>
!h = !visa.hbm<i32, element "C, S, A, B", #axes>
!d = !visa.dm<i32, cluster "C", slice "A # 256", element "S, B", #axes>
!d_r = !visa.dm<i32, cluster "1 # 2", slice "A # 256", element "S, B", #axes>
!d_s = !visa.dm<i32, cluster "1 # 2", slice "A # 256", element "1 # 2, B", #axes>
!o = !visa.dm<i32, cluster "C", slice "A # 256", element "B", #axes>
!o_w = !visa.dm<i32, cluster "1 #{!} 2", slice "A # 256", element "B", #axes>
func.func @clusters(%a: !h) attributes {visa.kernel} {
  %d = visa.to_dm %a : !h -> !d
  %e = visa.alloc : !o
  %r = visa.tile %d[0] of cluster along "C" take 1 : !d -> !d_r
  %s = visa.tile %r[1] along "S" take 1 : !d_r -> !d_s
  %w = visa.tile %e[0] of cluster along "C" take 1 : !o -> !o_w
  // expected-error @below {{not yet supported: a parallel copy in some of the clusters, since the sub context moves words in all of them; leave `parallel` out, so that the DMA moves them}}
  visa.copy parallel %s into %w : !d_s, !o_w
  // A tile of both clusters leaves none out.
  %all = visa.tile %d[0] of cluster along "C" take 2 : !d -> !visa.dm<i32, cluster "C = 2 # 2", slice "A # 256", element "S, B", #axes>
  %f = visa.alloc : !d
  visa.copy parallel %all into %f : !visa.dm<i32, cluster "C = 2 # 2", slice "A # 256", element "S, B", #axes>, !d
  return
}

// -----

// Slices move to others.
#axes = #tmap.axes<A = 256, B = 8>
!h = !visa.hbm<i32, element "A, B", #axes>
!d = !visa.dm<i32, slice "A", element "B", #axes>
!r = !visa.dm<i32, slice "A / 16 = 2 # 16, A % 16", element "B", #axes>
!w = !visa.dm<i32, slice "A / 16 = 2 #{!} 16, A % 16", element "B", #axes>
func.func @slices(%a: !h) attributes {visa.kernel} {
  %d = visa.to_dm %a : !h -> !d
  %e = visa.alloc : !d
  %r = visa.tile %d[2] of slice along "A / 16" take 2 : !d -> !r
  %w = visa.tile %e[3] of slice along "A / 16" take 2 : !d -> !w
  // expected-error @below {{not yet supported: a parallel copy whose source and target do not lie in the same slices}}
  visa.copy parallel %r into %w : !r, !w
  return
}

// -----

// Chips: legal here, but nothing below is for several.
// CHECK: not yet supported: a kernel for 2 chips
#axes = #tmap.axes<P = 2, S = 2, A = 256, B = 8>
!h = !visa.hbm<i32, chip "P", element "S, A, B", #axes>
!d = !visa.dm<i32, chip "P", slice "A", element "S, B", #axes>
!d_r = !visa.dm<i32, chip "1 # 2", slice "A", element "S, B", #axes>
!d_s = !visa.dm<i32, chip "1 # 2", slice "A", element "1 # 2, B", #axes>
!o = !visa.dm<i32, chip "P", slice "A", element "B", #axes>
!o_w = !visa.dm<i32, chip "1 #{!} 2", slice "A", element "B", #axes>
module attributes {visa.target = #visa.target<rngd, release = "0.6", chips = 2, pes = 8>} {
  func.func @chips(%a: !h) attributes {visa.kernel} {
    %d = visa.to_dm %a : !h -> !d
    %e = visa.alloc : !o
    %r0 = visa.tile %d[0] of chip along "P" take 1 : !d -> !d_r
    %s0 = visa.tile %r0[1] along "S" take 1 : !d_r -> !d_s
    %w0 = visa.tile %e[0] of chip along "P" take 1 : !o -> !o_w
    visa.copy parallel %s0 into %w0 : !d_s, !o_w
    %r1 = visa.tile %d[1] of chip along "P" take 1 : !d -> !d_r
    %s1 = visa.tile %r1[0] along "S" take 1 : !d_r -> !d_s
    %w1 = visa.tile %e[1] of chip along "P" take 1 : !o -> !o_w
    visa.copy parallel %s1 into %w1 : !d_s, !o_w
    return
  }
}
