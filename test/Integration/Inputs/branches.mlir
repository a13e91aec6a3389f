// Kernels whose starts and branches the host says. `branches.test` runs them.

// Row n goes to row 7 - n, then row 2 m + 3 to row m + 1, where m may be -1.
#rows = #tmap.axes<A = 8, B = 64>
!rows_h = !visa.hbm<i32, element "A, B", #rows>
!rows_r = !visa.hbm<i32, element "1 # 8, B", #rows>
!rows_w = !visa.hbm<i32, element "1 #{!} 8, B", #rows>
!rows_f = !visa.dm<i32, slice "A # 256", element "B", #rows>
!rows_d = !visa.dm<i32, slice "1 # 256", element "B", #rows>
func.func @starts(%a: !rows_h, %n: index {visa.range = array<i64: 0, 7>}, %m: i32 {visa.range = array<i64: -1, 2>}) -> !rows_h attributes {visa.kernel} {
  %z = arith.constant 0 : i32
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c7 = arith.constant 7 : index
  %o = visa.alloc : !rows_h
  %f = visa.alloc : !rows_f
  visa.memset %f with %z : !rows_f, i32
  visa.copy %f into %o : !rows_f, !rows_h
  %back = arith.subi %c7, %n : index
  %s = visa.tile %a[%n] along "A" take 1 : !rows_h -> !rows_r
  %d = visa.to_dm %s : !rows_r -> !rows_d
  %t = visa.tile %o[%back] along "A" take 1 : !rows_h -> !rows_w
  visa.copy %d into %t : !rows_d, !rows_w
  %i = arith.index_cast %m : i32 to index
  %next = arith.addi %i, %c1 : index
  %twice = arith.muli %i, %c2 : index
  %odd = arith.addi %twice, %c3 : index
  %u = visa.tile %a[%odd] along "A" take 1 : !rows_h -> !rows_r
  %v = visa.tile %o[%next] along "A" take 1 : !rows_h -> !rows_w
  visa.copy %u into %v : !rows_r, !rows_w
  return %o : !rows_h
}

// Rows from row n on, as many as m, go one row up, in a loop.
func.func @window(%a: !rows_h, %n: index {visa.range = array<i64: 1, 4>}, %m: index {visa.range = array<i64: 0, 4>}) -> !rows_h attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %o = visa.alloc : !rows_h
  visa.copy %a into %o : !rows_h, !rows_h
  scf.for %i = %c0 to %m step %c1 {
    %from = arith.addi %n, %i : index
    %to = arith.subi %from, %c1 : index
    %s = visa.tile %a[%from] along "A" take 1 : !rows_h -> !rows_r
    %t = visa.tile %o[%to] along "A" take 1 : !rows_h -> !rows_w
    %d = visa.to_dm %s : !rows_r -> !rows_d
    visa.copy %d into %t : !rows_d, !rows_w
  }
  return %o : !rows_h
}

// Row k of the result is 1 where the k-th test holds, else 0; row 7 is 1 where
// the last does not.
func.func @tests(%n: i32 {visa.range = array<i64: -4, 4>}, %m: index {visa.range = array<i64: 0, 3>}) -> !rows_h attributes {visa.kernel} {
  %z = arith.constant 0 : i32
  %e = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %cm3 = arith.constant -3 : index
  %o = visa.alloc : !rows_h
  %f = visa.alloc : !rows_f
  visa.memset %f with %z : !rows_f, i32
  visa.copy %f into %o : !rows_f, !rows_h
  %one = visa.alloc : !rows_d
  visa.memset %one with %e : !rows_d, i32
  %i = arith.index_cast %n : i32 to index
  %0 = arith.cmpi slt, %n, %two : i32
  scf.if %0 {
    %t = visa.tile %o[0] along "A" take 1 : !rows_h -> !rows_w
    visa.copy %one into %t : !rows_d, !rows_w
  }
  %1 = arith.cmpi sge, %c2, %i : index
  scf.if %1 {
    %t = visa.tile %o[1] along "A" take 1 : !rows_h -> !rows_w
    visa.copy %one into %t : !rows_d, !rows_w
  }
  // -3 n + 2 > 3, which is n < 0.
  %scaled = arith.muli %i, %cm3 : index
  %moved = arith.addi %scaled, %c2 : index
  %2 = arith.cmpi sgt, %moved, %c3 : index
  scf.if %2 {
    %t = visa.tile %o[2] along "A" take 1 : !rows_h -> !rows_w
    visa.copy %one into %t : !rows_d, !rows_w
  }
  // Twice a number is not 3.
  %twice = arith.muli %i, %c2 : index
  %3 = arith.cmpi eq, %twice, %c3 : index
  scf.if %3 {
    %t = visa.tile %o[3] along "A" take 1 : !rows_h -> !rows_w
    visa.copy %one into %t : !rows_d, !rows_w
  }
  %4 = arith.cmpi ne, %twice, %c2 : index
  scf.if %4 {
    %t = visa.tile %o[4] along "A" take 1 : !rows_h -> !rows_w
    visa.copy %one into %t : !rows_d, !rows_w
  }
  // A branch in a loop, and a loop in a branch.
  %5 = arith.cmpi sle, %n, %z : i32
  scf.for %j = %c0 to %m step %c1 {
    scf.if %5 {
      scf.for %k = %c0 to %m step %c1 {
        %t = visa.tile %o[5] along "A" take 1 : !rows_h -> !rows_w
        visa.copy %one into %t : !rows_d, !rows_w
      }
    }
  }
  %6 = arith.cmpi eq, %m, %c1 : index
  %both = arith.andi %5, %6 : i1
  scf.if %both {
    %t = visa.tile %o[6] along "A" take 1 : !rows_h -> !rows_w
    visa.copy %one into %t : !rows_d, !rows_w
  } else {
    %t = visa.tile %o[7] along "A" take 1 : !rows_h -> !rows_w
    visa.copy %one into %t : !rows_d, !rows_w
  }
  return %o : !rows_h
}

// Rows in reverse: once what is read falls, once what is written; the second
// half of the rows is read again from where the first loop has written.
func.func @reverse(%a: !rows_h) -> !rows_h attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %b = visa.alloc : !rows_h
  %o = visa.alloc : !rows_h
  scf.for %i = %c0 to %c8 step %c1 {
    %j = arith.subi %c7, %i : index
    %s = visa.tile %a[%j] along "A" take 1 : !rows_h -> !rows_r
    %d = visa.to_dm %s : !rows_r -> !rows_d
    %t = visa.tile %b[%i] along "A" take 1 : !rows_h -> !rows_w
    visa.copy %d into %t : !rows_d, !rows_w
  }
  visa.copy %b into %o : !rows_h, !rows_h
  scf.for %i = %c0 to %c4 step %c1 {
    %j = arith.subi %c7, %i : index
    %s = visa.tile %b[%i] along "A" take 1 : !rows_h -> !rows_r
    %d = visa.to_dm %s : !rows_r -> !rows_d
    %t = visa.tile %o[%j] along "A" take 1 : !rows_h -> !rows_w
    visa.copy %d into %t : !rows_d, !rows_w
  }
  return %o : !rows_h
}
