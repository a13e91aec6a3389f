// Movement that an outsider might write: cyclic buffers, divided and selected
// starts, bounds and branches of all kinds, windows at numbers. `odd-movement.test`
// runs them.

#p = #tmap.axes<A = 13, B = 7, C = 24>
!h = !visa.hbm<i32, element "A, B, C", #p>
!d0 = !visa.dm<i32, slice "A # 256", element "B, C", #p>
!d1 = !visa.dm<i32, slice "B # 256", element "A, C", #p>
!hT = !visa.hbm<i32, element "B, A, C", #p>
func.func @transpose_slices(%a: !h) -> !hT attributes {visa.kernel} {
  %d = visa.to_dm %a : !h -> !d0
  %e = visa.alloc : !d1
  visa.copy %d into %e : !d0, !d1
  %o = visa.to_hbm %e : !d1 -> !hT
  return %o : !hT
}
!hp = !visa.hbm<i32, element "A, B # 8, C # 32", #p>
!dp = !visa.dm<i32, slice "A # 64, 1 # 4", element "B # 8, C # 32", #p>
func.func @padded(%a: !h) -> !h attributes {visa.kernel} {
  %z = arith.constant 5 : i32
  %d = visa.to_dm %a : !h -> !dp
  %o = visa.to_hbm %d : !dp -> !h
  return %o : !h
}
func.func @zero_trips(%a: !h) -> !h attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %o = visa.alloc : !h
  visa.copy %a into %o : !h, !h
  scf.for %i = %c5 to %c0 step %c1 {
    %d = visa.to_dm %a : !h -> !d0
    visa.copy %d into %o : !d0, !h
  }
  scf.for %i = %c0 to %c5 step %c1 {
  }
  scf.for %i = %c0 to %c5 step %c1 {
    scf.for %j = %c0 to %i step %c1 {
    }
  }
  return %o : !h
}
func.func @empty(%a: !h) attributes {visa.kernel} {
  return
}
// if inside loops on counter and number
!hr = !visa.hbm<i32, element "1 # 13, B, C", #p>
!hw = !visa.hbm<i32, element "1 #{!} 13, B, C", #p>
!dr = !visa.dm<i32, slice "B # 256", element "C", #p>
func.func @even_rows(%a: !h, %n: index {visa.range = array<i64: 0, 13>}) -> !h attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c13 = arith.constant 13 : index
  %o = visa.alloc : !h
  visa.copy %a into %o : !h, !h
  scf.for %i = %c0 to %n step %c1 {
    %r = arith.remui %i, %c2 : index
    %e = arith.cmpi eq, %r, %c0 : index
    scf.if %e {
      %j = arith.subi %c13, %i : index
      %k = arith.subi %j, %c1 : index
      %s = visa.tile %a[%k] along "A" take 1 : !h -> !hr
      %d = visa.to_dm %s : !hr -> !dr
      %t = visa.tile %o[%i] along "A" take 1 : !h -> !hw
      visa.copy %d into %t : !dr, !hw
    }
  }
  return %o : !h
}
// cyclic buffer in data memory by i % 2
#q = #tmap.axes<A = 12, P = 2, C = 24>
!qh = !visa.hbm<i32, element "A, C", #q>
!qr = !visa.hbm<i32, element "1 # 12, C", #q>
!qw = !visa.hbm<i32, element "1 #{!} 12, C", #q>
!pd = !visa.dm<i32, slice "1 # 256", element "P, C", #q>
!pr = !visa.dm<i32, slice "1 # 256", element "1 # 2, C", #q>
!pw = !visa.dm<i32, slice "1 # 256", element "1 #{!} 2, C", #q>
func.func @double_buffer(%a: !qh) -> !qh attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c12 = arith.constant 12 : index
  %o = visa.alloc : !qh
  %b = visa.alloc : !pd
  scf.for %i = %c0 to %c12 step %c1 {
    %p = arith.remui %i, %c2 : index
    %s = visa.tile %a[%i] along "A" take 1 : !qh -> !qr
    %w = visa.tile %b[%p] along "P" take 1 : !pd -> !pw
    visa.copy %s into %w : !qr, !pw
    %r = visa.tile %b[%p] along "P" take 1 : !pd -> !pr
    %t = visa.tile %o[%i] along "A" take 1 : !qh -> !qw
    visa.copy %r into %t : !pr, !qw
  }
  return %o : !qh
}
// HBM rows by i / 2 and i % 3
func.func @divided(%a: !qh) -> !qh attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c12 = arith.constant 12 : index
  %o = visa.alloc : !qh
  scf.for %i = %c0 to %c12 step %c1 {
    %h = arith.divui %i, %c2 : index
    %r = arith.remui %i, %c3 : index
    %x = arith.addi %h, %r : index
    %s = visa.tile %a[%x] along "A" take 1 : !qh -> !qr
    %t = visa.tile %o[%i] along "A" take 1 : !qh -> !qw
    %d = visa.to_dm %s : !qr -> !visa.dm<i32, slice "1 # 256", element "C", #q>
    visa.copy %d into %t : !visa.dm<i32, slice "1 # 256", element "C", #q>, !qw
  }
  return %o : !qh
}
// a select of a counter
func.func @selected(%a: !qh) -> !qh attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %c11 = arith.constant 11 : index
  %c12 = arith.constant 12 : index
  %o = visa.alloc : !qh
  scf.for %i = %c0 to %c12 step %c1 {
    %early = arith.cmpi slt, %i, %c6 : index
    %b = arith.subi %c11, %i : index
    %x = arith.select %early, %b, %i : index
    %s = visa.tile %a[%x] along "A" take 1 : !qh -> !qr
    %t = visa.tile %o[%i] along "A" take 1 : !qh -> !qw
    %d = visa.to_dm %s : !qr -> !visa.dm<i32, slice "1 # 256", element "C", #q>
    visa.copy %d into %t : !visa.dm<i32, slice "1 # 256", element "C", #q>, !qw
  }
  return %o : !qh
}
#b = #tmap.axes<A = 13, B = 6, C = 16>
!bh = !visa.hbm<i32, element "A, B, C", #b>
!bd = !visa.dm<i32, slice "C / 8 # 256", element "A, B, C % 8", #b>
!bd1 = !visa.dm<i32, slice "C / 8 # 256", element "A = 2 # 13, B, C % 8", #b>
!bd2 = !visa.dm<i32, slice "C / 8 # 256", element "A = 2 # 13, B = 3 # 6, C % 8", #b>
!e1 = !visa.dm<i32, slice "C / 8 # 256", element "A = 2 #{!} 13, B, C % 8", #b>
!e2 = !visa.dm<i32, slice "C / 8 # 256", element "A = 2 #{!} 13, B = 3 #{!} 6, C % 8", #b>
// tile of tile of DM at a number and at a number plus a counter; a block of 2 x 3 rows gets doubled
func.func @block(%a: !bh, %n: index {visa.range = array<i64: 0, 10>}, %m: index {visa.range = array<i64: 0, 3>}) -> !bh attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %d = visa.to_dm %a : !bh -> !bd
  %e = visa.to_dm %a : !bh -> !bd
  scf.for %i = %c0 to %c2 step %c1 {
    %at = arith.addi %n, %i : index
    %s = visa.tile %d[%at] along "A" take 2 : !bd -> !bd1
    %t = visa.tile %s[%m] along "B" take 3 : !bd1 -> !bd2
    %v = visa.tile %e[%at] along "A" take 2 : !bd -> !e1
    %w = visa.tile %v[%m] along "B" take 3 : !e1 -> !e2
    %r = visa.chain main -> !e2 {
      fetch %t time "A = 2, B = 3" packet "C % 8" : !bd2
      collect time "A = 2, B = 3" packet "C % 8"
      vector_init
      vector_tag zero
      vector_fxp mul_int [imm 2]
      vector_final
      commit_trim packet "C % 8"
      commit element "A = 2 #{!} 13, B = 3 #{!} 6, C % 8" into %w : !e2
    }
  }
  %o = visa.to_hbm %e : !bd -> !bh
  return %o : !bh
}
// inner digit windows at a number
#L = #tmap.axes<L = 768>
!lh = !visa.hbm<i32, element "L", #L>
!ld = !visa.dm<i32, slice "1 # 256", element "L", #L>
!lr = !visa.dm<i32, slice "1 # 256", element "L / 96, L % 96 = 2 # 96", #L>
!lw = !visa.dm<i32, slice "1 # 256", element "L / 96, L % 96 = 2 #{!} 96", #L>
func.func @digits(%a: !lh, %n: index {visa.range = array<i64: 0, 47>}) -> !lh attributes {visa.kernel} {
  %c2 = arith.constant 2 : index
  %z = arith.constant 0 : i32
  %d = visa.to_dm %a : !lh -> !ld
  %e = visa.alloc : !ld
  visa.memset %e with %z : !ld, i32
  %at = arith.muli %n, %c2 : index
  %s = visa.tile %d[%at] along "L % 96" take 2 : !ld -> !lr
  %t = visa.tile %e[4] along "L % 96" take 2 : !ld -> !lw
  visa.copy %s into %t : !lr, !lw
  %o = visa.to_hbm %e : !ld -> !lh
  return %o : !lh
}
// several results, in place argument, a counted loop in a counted loop
#n = #tmap.axes<A = 8, B = 8, C = 32>
!sh = !visa.hbm<bf16, element "A, B, C", #n>
!sr = !visa.hbm<bf16, element "1 # 8, B, C", #n>
!sq = !visa.hbm<bf16, element "1 # 8, 1 # 8, C", #n>
!sv = !visa.hbm<bf16, element "1 #{!} 8, B, C", #n>
!sw = !visa.hbm<bf16, element "1 #{!} 8, 1 #{!} 8, C", #n>
!sd = !visa.dm<bf16, slice "1 # 256", element "C", #n>
func.func @nested(%a: !sh, %b: !sh, %n: index {visa.range = array<i64: 0, 8>}, %m: index {visa.range = array<i64: 0, 8>}) attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %m step %c1 {
      %w = arith.cmpi slt, %i, %j : index
      scf.if %w {
        %s = visa.tile %a[%i] along "A" take 1 : !sh -> !sr
        %t = visa.tile %s[%j] along "B" take 1 : !sr -> !sq
        %u = visa.tile %b[%j] along "A" take 1 : !sh -> !sv
        %v = visa.tile %u[%i] along "B" take 1 : !sv -> !sw
        %d = visa.to_dm %t : !sq -> !sd
        visa.copy %d into %v : !sd, !sw
      } else {
      }
    }
  }
  return
}
// scatter into a view of a table at a number
#g = #tmap.axes<T = 16, K = 4, V = 16>
!table = !visa.hbm<i32, element "T, V", #g>
!part = !visa.hbm<i32, element "T = 4 #{!} 16, V", #g>
!list = !visa.hbm<i32, element "K", #g>
!rows = !visa.dm<i32, slice "1 # 256", element "K, V", #g>
!in = !visa.hbm<i32, element "K, V", #g>
func.func @scatter(%x: !in, %at: !list, %t: !table, %n: index {visa.range = array<i64: 0, 12>}) attributes {visa.kernel} {
  %d = visa.to_dm %x : !in -> !rows
  %p = visa.tile %t[%n] along "T" take 4 : !table -> !part
  visa.scatter scaled %d by %at into %p : !rows, !list, !part
  return
}
!list2 = !visa.dm<i32, slice "1 # 256", element "K", #g>
#g2 = #tmap.axes<T = 16, K = 4, V = 16, N = 3>
!g2table = !visa.hbm<i32, element "T, V", #g2>
!g2list = !visa.hbm<i32, element "N, K", #g2>
!g2one = !visa.hbm<i32, element "1 # 3, K", #g2>
!g2rows = !visa.dm<i32, slice "1 # 256", element "K, V", #g2>
!g2out = !visa.hbm<i32, element "N, K, V", #g2>
!g2w = !visa.hbm<i32, element "1 #{!} 3, K, V", #g2>
func.func @lists(%t: !g2table, %at: !g2list, %n: index {visa.range = array<i64: 0, 3>}) -> !g2out attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %o = visa.alloc : !g2out
  scf.for %i = %c0 to %c3 step %c1 {
    %l = visa.tile %at[%i] along "N" take 1 : !g2list -> !g2one
    %g = visa.gather scaled %t by %l : !g2table, !g2one -> !g2rows
    %w = visa.tile %o[%i] along "N" take 1 : !g2out -> !g2w
    visa.copy %g into %w : !g2rows, !g2w
  }
  return %o : !g2out
}
