// Tiles of data memory that begin where the host says, and what is computed
// from two numbers. `starts.test` runs them.

#rows = #tmap.axes<A = 8, B = 64>
!h = !visa.hbm<i32, element "A, B", #rows>
!hr = !visa.hbm<i32, element "1 # 8, B", #rows>
!hw = !visa.hbm<i32, element "1 #{!} 8, B", #rows>
!d = !visa.dm<i32, slice "1 # 256", element "A, B", #rows>
!dr = !visa.dm<i32, slice "1 # 256", element "1 # 8, B", #rows>
!dw = !visa.dm<i32, slice "1 # 256", element "1 #{!} 8, B", #rows>
!row = !visa.dm<i32, slice "1 # 256", element "B", #rows>

// Row n of data memory goes to row 7 - n of the result; row n + m, where m may
// be -1, to row m + 1, through data memory.
func.func @transfers(%a: !h, %n: index {visa.range = array<i64: 1, 5>}, %m: i32 {visa.range = array<i64: -1, 2>}) -> !h attributes {visa.kernel} {
  %z = arith.constant -1 : i32
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %o = visa.alloc : !h
  %d = visa.to_dm %a : !h -> !d
  %r = visa.alloc : !d
  visa.memset %r with %z : !d, i32
  %back = arith.subi %c7, %n : index
  %s = visa.tile %d[%n] along "A" take 1 : !d -> !dr
  %t = visa.tile %r[%back] along "A" take 1 : !d -> !dw
  visa.copy %s into %t : !dr, !dw
  %i = arith.index_cast %m : i32 to index
  %sum = arith.addi %n, %i : index
  %next = arith.addi %i, %c1 : index
  %u = visa.tile %a[%sum] along "A" take 1 : !h -> !hr
  %v = visa.tile %r[%next] along "A" take 1 : !d -> !dw
  visa.copy %u into %v : !hr, !dw
  visa.copy %r into %o : !d, !h
  return %o : !h
}

// Row n of `a` plus one goes to row m of the result, of which the rest is row k
// of `a` in row k: fetch and commit begin at numbers.
func.func @chains(%a: !h, %n: index {visa.range = array<i64: 0, 7>}, %m: index {visa.range = array<i64: 0, 7>}) -> !h attributes {visa.kernel} {
  %o = visa.alloc : !h
  %d = visa.to_dm %a : !h -> !d
  %r = visa.to_dm %a : !h -> !d
  %s = visa.tile %d[%n] along "A" take 1 : !d -> !dr
  %t = visa.tile %r[%m] along "A" take 1 : !d -> !dw
  %w = visa.chain main -> !dw {
    fetch %s time "B / 8" packet "B % 8" : !dr
    collect time "B / 8" packet "B % 8"
    vector_init
    vector_tag zero
    vector_fxp add [imm 1]
    vector_final
    commit_trim packet "B % 8"
    commit element "1 #{!} 8, B" into %t : !dw
  }
  visa.copy %r into %o : !d, !h
  return %o : !h
}

// Row n - 1 plus row m, by a register file that is filled from a tile.
!vrf = !visa.vrf<i32, slice "1 # 256", element "B", #rows>
func.func @register_file(%a: !h, %n: index {visa.range = array<i64: 0, 7>}, %m: index {visa.range = array<i64: 0, 6>}) -> !hr attributes {visa.kernel} {
  %c1 = arith.constant 1 : index
  %o = visa.alloc : !hr
  %d = visa.to_dm %a : !h -> !d
  %s = visa.tile %d[%n] along "A" take 1 : !d -> !dr
  %v = visa.chain sub -> !vrf {
    fetch %s time "B / 8" packet "B % 8" : !dr
    collect time "B / 8" packet "B % 8"
    to_vrf element "B"
  }
  %next = arith.addi %m, %c1 : index
  %u = visa.tile %d[%next] along "A" take 1 : !d -> !dr
  %w = visa.chain main -> !row {
    fetch %u time "B / 8" packet "B % 8" : !dr
    collect time "B / 8" packet "B % 8"
    vector_init
    vector_tag zero
    vector_fxp add [vrf %v] : !vrf
    vector_final
    commit_trim packet "B % 8"
    commit element "B"
  }
  visa.copy %w into %o : !row, !hr
  return %o : !hr
}

// The first n rows of data memory, each plus its number.
func.func @loop(%a: !h, %n: index {visa.range = array<i64: 0, 8>}) -> !h attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %o = visa.alloc : !h
  %d = visa.to_dm %a : !h -> !d
  %r = visa.to_dm %a : !h -> !d
  scf.for %i = %c0 to %n step %c1 {
    %s = visa.tile %d[%i] along "A" take 1 : !d -> !dr
    %t = visa.tile %r[%i] along "A" take 1 : !d -> !dw
    %w = visa.chain main -> !dw {
      fetch %s time "B / 8" packet "B % 8" : !dr
      collect time "B / 8" packet "B % 8"
      vector_init
      vector_tag zero
      vector_fxp add [imm 1000]
      vector_final
      commit_trim packet "B % 8"
      commit element "1 #{!} 8, B" into %t : !dw
    }
  }
  visa.copy %r into %o : !d, !h
  return %o : !h
}

// Every second row up to m, the rows from n to m, those from n on, and rows in
// loops whose bounds follow other counters; trips may be none, or fewer.
func.func @bounds(%a: !h, %n: index {visa.range = array<i64: 0, 7>}, %m: index {visa.range = array<i64: 0, 8>}) -> (!h, !h, !h, !h) attributes {visa.kernel} {
  %z = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %o = visa.alloc : !h
  %p = visa.alloc : !h
  %q = visa.alloc : !h
  %u = visa.alloc : !h
  %f = visa.alloc : !d
  visa.memset %f with %z : !d, i32
  visa.copy %f into %o : !d, !h
  visa.copy %f into %p : !d, !h
  visa.copy %f into %q : !d, !h
  visa.copy %f into %u : !d, !h
  // Steps of 2.
  scf.for %i = %c1 to %m step %c2 {
    %s = visa.tile %a[%i] along "A" take 1 : !h -> !hr
    %t = visa.tile %o[%i] along "A" take 1 : !h -> !hw
    %d = visa.to_dm %s : !hr -> !row
    visa.copy %d into %t : !row, !hw
  }
  // Between two numbers, in data memory.
  %b = visa.to_dm %a : !h -> !d
  scf.for %i = %n to %m step %c1 {
    %s = visa.tile %b[%i] along "A" take 1 : !d -> !dr
    %t = visa.tile %u[%i] along "A" take 1 : !h -> !hw
    visa.copy %s into %t : !dr, !hw
  }
  // From a number on.
  scf.for %i = %n to %c8 step %c1 {
    %s = visa.tile %a[%i] along "A" take 1 : !h -> !hr
    %t = visa.tile %p[%i] along "A" take 1 : !h -> !hw
    %d = visa.to_dm %s : !hr -> !row
    visa.copy %d into %t : !row, !hw
  }
  // A triangle: the last j of each i stays.
  scf.for %i = %c0 to %c4 step %c1 {
    %end = arith.addi %i, %c1 : index
    scf.for %j = %c0 to %end step %c1 {
      %s = visa.tile %a[%j] along "A" take 1 : !h -> !hr
      %back = arith.subi %i, %j : index
      %at = arith.addi %back, %c4 : index
      %t = visa.tile %q[%at] along "A" take 1 : !h -> !hw
      %d = visa.to_dm %s : !hr -> !row
      visa.copy %d into %t : !row, !hw
    }
    // And one that shrinks with the number.
    %rest = arith.subi %m, %c4 : index
    %less = arith.subi %rest, %i : index
    scf.for %j = %c0 to %less step %c1 {
      %s = visa.tile %a[%j] along "A" take 1 : !h -> !hr
      %t = visa.tile %q[%i] along "A" take 1 : !h -> !hw
      %d = visa.to_dm %s : !hr -> !row
      visa.copy %d into %t : !row, !hw
    }
  }
  return %o, %p, %q, %u : !h, !h, !h, !h
}

// Row k of the result is 1 where the k-th test holds, else 0.
func.func @tests(%n: i32 {visa.range = array<i64: -2, 2>}, %m: index {visa.range = array<i64: 0, 3>}) -> !h attributes {visa.kernel} {
  %z = arith.constant 0 : i32
  %e = arith.constant 1 : i32
  %true = arith.constant true
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %o = visa.alloc : !h
  %f = visa.alloc : !d
  visa.memset %f with %z : !d, i32
  visa.copy %f into %o : !d, !h
  %one = visa.alloc : !row
  visa.memset %one with %e : !row, i32
  %i = arith.index_cast %n : i32 to index
  %0 = arith.cmpi slt, %i, %m : index
  scf.if %0 {
    %t = visa.tile %o[0] along "A" take 1 : !h -> !hw
    visa.copy %one into %t : !row, !hw
  }
  %1 = arith.cmpi eq, %i, %m : index
  scf.if %1 {
    %t = visa.tile %o[1] along "A" take 1 : !h -> !hw
    visa.copy %one into %t : !row, !hw
  } else {
    %t = visa.tile %o[2] along "A" take 1 : !h -> !hw
    visa.copy %one into %t : !row, !hw
  }
  // 2 m - 3 n > 1 or n == -2
  %m2 = arith.muli %m, %c2 : index
  %n3 = arith.muli %i, %c3 : index
  %difference = arith.subi %m2, %n3 : index
  %2 = arith.cmpi sgt, %difference, %c1 : index
  %cm2 = arith.constant -2 : index
  %3 = arith.cmpi eq, %i, %cm2 : index
  %4 = arith.ori %2, %3 : i1
  scf.if %4 {
    %t = visa.tile %o[3] along "A" take 1 : !h -> !hw
    visa.copy %one into %t : !row, !hw
  } else {
    %t = visa.tile %o[4] along "A" take 1 : !h -> !hw
    visa.copy %one into %t : !row, !hw
  }
  // Not (n < m and m < 3), and one or the other of two.
  %5 = arith.cmpi slt, %m, %c3 : index
  %6 = arith.andi %0, %5 : i1
  %7 = arith.xori %6, %true : i1
  scf.if %7 {
    %t = visa.tile %o[5] along "A" take 1 : !h -> !hw
    visa.copy %one into %t : !row, !hw
  }
  %8 = arith.xori %0, %5 : i1
  scf.if %8 {
    %t = visa.tile %o[6] along "A" take 1 : !h -> !hw
    visa.copy %one into %t : !row, !hw
  }
  // A counter against a number, in a loop by another.
  scf.for %j = %c0 to %m step %c1 {
    %9 = arith.cmpi eq, %j, %i : index
    scf.if %9 {
      %t = visa.tile %o[7] along "A" take 1 : !h -> !hw
      visa.copy %one into %t : !row, !hw
    }
  }
  return %o : !h
}

// Rows of a table from row 2 n on, and into a table in data memory's place m.
#table = #tmap.axes<T = 12, K = 4, V = 16>
!table = !visa.hbm<i32, element "T, V", #table>
!part = !visa.hbm<i32, element "T = 4 # 12, V", #table>
!list = !visa.hbm<i32, element "K", #table>
!got = !visa.dm<i32, slice "1 # 256", element "K, V", #table>
!out = !visa.hbm<i32, element "K, V", #table>
func.func @gather(%a: !table, %at: !list, %n: index {visa.range = array<i64: 0, 4>}) -> !out attributes {visa.kernel} {
  %c2 = arith.constant 2 : index
  %o = visa.alloc : !out
  %first = arith.muli %n, %c2 : index
  %t = visa.tile %a[%first] along "T" take 4 : !table -> !part
  %r = visa.gather scaled %t by %at : !part, !list -> !got
  visa.copy %r into %o : !got, !out
  return %o : !out
}
