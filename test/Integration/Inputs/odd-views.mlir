// More movement as it might be written: columns, mirrors, padded pieces, helpers.
// `odd-movement.test` runs them.
#m = #tmap.axes<R = 5, S = 3, T = 16, U = 2>
!h = !visa.hbm<i16, element "R, S, T", #m>
!hS = !visa.hbm<i16, element "S, R, T", #m>
!dR = !visa.dm<i16, slice "R # 256", element "S, T", #m>
!dS = !visa.dm<i16, slice "S # 256", element "R, T", #m>
func.func private @load(%a: !h) -> !dR {
  %d = visa.to_dm %a : !h -> !dR
  return %d : !dR
}
func.func @two_results(%a: !h) -> (!hS, !h) attributes {visa.kernel} {
  %d = func.call @load(%a) : (!h) -> !dR
  %s = visa.alloc : !dS
  visa.copy %d into %s : !dR, !dS
  %o = visa.to_hbm %s : !dS -> !hS
  %p = visa.to_hbm %d : !dR -> !h
  return %o, %p : !hS, !h
}
// Row 4 - r of the source in row r.
!row = !visa.hbm<i16, element "1 # 5, S, T", #m>
!rowW = !visa.hbm<i16, element "1 #{!} 5, S, T", #m>
!rowD = !visa.dm<i16, slice "S # 256", element "T", #m>
func.func @mirror(%a: !h) -> !h attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %o = visa.alloc : !h
  scf.for %i = %c0 to %c5 step %c1 {
    %j = arith.subi %c4, %i : index
    %s = visa.tile %a[%j] along "R" take 1 : !h -> !row
    %d = visa.to_dm %s : !row -> !rowD
    %t = visa.tile %o[%i] along "R" take 1 : !h -> !rowW
    visa.copy %d into %t : !rowD, !rowW
  }
  return %o : !h
}
// Columns 4 to 11 of each row, twice over a new axis.
!col = !visa.hbm<i16, element "R, S, T = 8 # 16", #m>
!colD = !visa.dm<i16, slice "R # 256", element "S, U, T = 8", #m>
!colO = !visa.hbm<i16, element "R, S, U, T = 8", #m>
func.func @columns(%a: !h) -> !colO attributes {visa.kernel} {
  %s = visa.tile %a[4] along "T" take 8 : !h -> !col
  %d = visa.to_dm %s : !col -> !colD
  %o = visa.to_hbm %d : !colD -> !colO
  return %o : !colO
}
// Every second row, at steps of 2, over what a fill left.
!z = !visa.dm<i16, slice "R # 256", element "S, T", #m>
func.func @every_second(%a: !h) -> !h attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %f = arith.constant -3 : i16
  %z = visa.alloc : !z
  visa.memset %z with %f : !z, i16
  %o = visa.to_hbm %z : !z -> !h
  scf.for %i = %c0 to %c5 step %c2 {
    %s = visa.tile %a[%i] along "R" take 1 : !h -> !row
    %t = visa.tile %o[%i] along "R" take 1 : !h -> !rowW
    visa.copy %s into %t : !row, !rowW
  }
  return %o : !h
}
// A copy within one tensor to rows that do not overlap.
!two = !visa.hbm<i16, element "R = 2 # 5, S, T", #m>
!twoW = !visa.hbm<i16, element "R = 2 #{!} 5, S, T", #m>
func.func @within(%a: !h) attributes {visa.kernel} {
  %s = visa.tile %a[0] along "R" take 2 : !h -> !two
  %t = visa.tile %a[3] along "R" take 2 : !h -> !twoW
  visa.copy %s into %t : !two, !twoW
  return
}
// The last n rows go to the first of another tensor, the last one first.
func.func @last(%a: !h, %n: index {visa.range = array<i64: 0, 5>}) -> !h attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %o = visa.alloc : !h
  visa.copy %a into %o : !h, !h
  scf.for %j = %c0 to %n step %c1 {
    %i = arith.subi %c4, %j : index
    %s = visa.tile %a[%i] along "R" take 1 : !h -> !row
    %t = visa.tile %o[%j] along "R" take 1 : !h -> !rowW
    visa.copy %s into %t : !row, !rowW
  }
  return %o : !h
}
// Padded and back.
!dRp = !visa.dm<i16, slice "R # 256", element "[S, T] # 64", #m>
func.func @pad(%a: !h) -> !h attributes {visa.kernel} {
  %d = visa.to_dm %a : !h -> !dR
  %p = visa.pad %d : !dR -> !dRp
  %u = visa.unpad %p : !dRp -> !dR
  %o = visa.to_hbm %u : !dR -> !h
  return %o : !h
}
// Other names for the same places.
#x = #tmap.axes<R = 5, S = 3, T = 16, V = 48>
!xh = !visa.hbm<i16, element "R, S, T", #x>
!xd = !visa.dm<i16, slice "R # 256", element "S, T", #x>
!xv = !visa.dm<i16, slice "R # 256", element "V", #x>
!xo = !visa.hbm<i16, element "V, R", #x>
!xp = !visa.hbm<i16, element "R, V", #x>
func.func @renamed(%a: !xh) -> !xp attributes {visa.kernel} {
  %d = visa.to_dm %a : !xh -> !xd
  %v = visa.reshape %d : !xd -> !xv
  %o = visa.to_hbm %v : !xv -> !xp
  return %o : !xp
}
func.func @corner_turn(%a: !xp) -> !xo attributes {visa.kernel} {
  %o = visa.alloc : !xo
  visa.copy %a into %o : !xp, !xo
  return %o : !xo
}
// One of two rows as the host says.
func.func @either(%a: !h, %n: index {visa.range = array<i64: 0, 3>}) -> !h attributes {visa.kernel} {
  %c2 = arith.constant 2 : index
  %o = visa.alloc : !h
  visa.copy %a into %o : !h, !h
  %low = arith.cmpi slt, %n, %c2 : index
  %t = visa.tile %o[4] along "R" take 1 : !h -> !rowW
  scf.if %low {
    %s = visa.tile %a[1] along "R" take 1 : !h -> !row
    visa.copy %s into %t : !row, !rowW
  } else {
    %s = visa.tile %a[%n] along "R" take 1 : !h -> !row
    visa.copy %s into %t : !row, !rowW
  }
  return %o : !h
}

#related = #tmap.axes<A = 8, B = 64>
!related_hbm = !visa.hbm<i32, element "A, B", #related>
!related_row = !visa.hbm<i32, element "1 # 8, B", #related>
!related_place = !visa.hbm<i32, element "1 #{!} 8, B", #related>
!related_dm = !visa.dm<i32, slice "1 # 256", element "B", #related>
// Rows from a number on and below another one, moved to the front: the start
// lies between 0 and 7 because the counter begins at the number.
func.func @to_the_front(%a: !related_hbm, %b: !related_hbm, %from: index {visa.range = array<i64: 0, 4>}, %to: index {visa.range = array<i64: 4, 8>}) attributes {visa.kernel} {
  %c1 = arith.constant 1 : index
  scf.for %i = %from to %to step %c1 {
    %s = visa.tile %a[%i] along "A" take 1 : !related_hbm -> !related_row
    %d = visa.to_dm %s : !related_row -> !related_dm
    %o = arith.subi %i, %from : index
    %t = visa.tile %b[%o] along "A" take 1 : !related_hbm -> !related_place
    visa.copy %d into %t : !related_dm, !related_place
  }
  return
}
// The last rows: where they begin and how many they are belong together.
func.func @end_to_the_front(%a: !related_hbm, %b: !related_hbm, %n: index {visa.range = array<i64: 1, 5>}) attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %from = arith.subi %c8, %n : index
  scf.for %j = %c0 to %n step %c1 {
    %i = arith.addi %from, %j : index
    %s = visa.tile %a[%i] along "A" take 1 : !related_hbm -> !related_row
    %d = visa.to_dm %s : !related_row -> !related_dm
    %t = visa.tile %b[%j] along "A" take 1 : !related_hbm -> !related_place
    visa.copy %d into %t : !related_dm, !related_place
  }
  return
}
