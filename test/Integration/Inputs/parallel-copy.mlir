// Copies in the sub context. `parallel-copy.test` runs them.

#p = #tmap.axes<A = 256, B = 8, C = 24>
!h = !visa.hbm<i16, element "A, B, C", #p>
!d = !visa.dm<i16, slice "A", element "B, C", #p>
!e = !visa.dm<i16, slice "A", element "C / 4, B, C % 4", #p>
!r = !visa.dm<i16, slice "A", element "1 # 8, C", #p>
!w = !visa.dm<i16, slice "A", element "1 #{!} 8, C", #p>

func.func @whole(%a: !h) -> !h attributes {visa.kernel} {
  %d = visa.to_dm %a : !h -> !d
  %e = visa.alloc : !d
  visa.copy parallel %d into %e : !d, !d
  %o = visa.to_hbm %e : !d -> !h
  return %o : !h
}

// Digits change places, and back.
func.func @permute(%a: !h) -> !h attributes {visa.kernel} {
  %d = visa.to_dm %a : !h -> !d
  %e = visa.alloc : !e
  visa.copy parallel %d into %e : !d, !e
  %o = visa.to_hbm %e : !e -> !h
  return %o : !h
}

// Row n of each slice goes to row m.
func.func @rows(%a: !h, %n: index {visa.range = array<i64: 0, 7>}, %m: index {visa.range = array<i64: 0, 7>}) -> !h attributes {visa.kernel} {
  %d = visa.to_dm %a : !h -> !d
  %e = visa.to_dm %a : !h -> !d
  %s = visa.tile %d[%n] along "B" take 1 : !d -> !r
  %t = visa.tile %e[%m] along "B" take 1 : !d -> !w
  visa.copy parallel %s into %t : !r, !w
  %o = visa.to_hbm %e : !d -> !h
  return %o : !h
}

// Of slices 32 to 63 only, row 1 goes to row 6.
!dp = !visa.dm<i16, slice "A / 16 = 2 # 16, A % 16", element "B, C", #p>
!rp = !visa.dm<i16, slice "A / 16 = 2 # 16, A % 16", element "1 # 8, C", #p>
!ep = !visa.dm<i16, slice "A / 16 = 2 #{!} 16, A % 16", element "B, C", #p>
!wp = !visa.dm<i16, slice "A / 16 = 2 #{!} 16, A % 16", element "1 #{!} 8, C", #p>
func.func @slices(%a: !h) -> !h attributes {visa.kernel} {
  %d = visa.to_dm %a : !h -> !d
  %e = visa.to_dm %a : !h -> !d
  %s = visa.tile %d[2] of slice along "A / 16" take 2 : !d -> !dp
  %r = visa.tile %s[1] along "B" take 1 : !dp -> !rp
  %t = visa.tile %e[2] of slice along "A / 16" take 2 : !d -> !ep
  %w = visa.tile %t[6] along "B" take 1 : !ep -> !wp
  visa.copy parallel %r into %w : !rp, !wp
  %o = visa.to_hbm %e : !d -> !h
  return %o : !h
}

// 13 slices of a PE, and a row that is there once goes to all rows.
#q = #tmap.axes<A = 13, B = 5, C = 8>
!qh = !visa.hbm<f32, element "A, C", #q>
!qo = !visa.hbm<f32, element "A, B, C", #q>
!qd = !visa.dm<f32, cluster "1", slice "A # 64", element "C", #q>
!qe = !visa.dm<f32, cluster "1", slice "A # 64", element "B, C", #q>
func.func @ragged(%a: !qh) -> !qo attributes {visa.kernel, visa.target = #visa.target<rngd, release = "0.6", chips = 1, pes = 1>} {
  %d = visa.to_dm %a : !qh -> !qd
  %e = visa.alloc : !qe
  visa.copy parallel %d into %e : !qd, !qe
  %o = visa.to_hbm %e : !qe -> !qo
  return %o : !qo
}
