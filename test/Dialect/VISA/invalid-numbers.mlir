// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

// Numbers as arguments have a range.
#axes = #tmap.axes<A = 8, B = 64>
!h = !visa.hbm<i32, element "A, B", #axes>
func.func @ranges(%a: !h, %i: index {visa.range = array<i64: -8, 8>}, %j: i32 {visa.range = array<i64: 3, 3>}) attributes {visa.kernel} {
  return
}
// expected-error @below {{not yet supported: argument 1 of type 'index' without a range; write {visa.range = array<i64: FIRST, LAST>} behind its type}}
func.func @none(%a: !h, %n: index) attributes {visa.kernel} {
  return
}
// expected-error @below {{argument 1: visa.range is array<i64: 8, 0>, expected two numbers of 32 bits that ascend, as in array<i64: 0, 64>}}
func.func @falls(%a: !h, %n: index {visa.range = array<i64: 8, 0>}) attributes {visa.kernel} {
  return
}
// expected-error @below {{argument 1: visa.range is array<i64: 0, 4294967296>, expected two numbers}}
func.func @wide(%a: !h, %n: i32 {visa.range = array<i64: 0, 4294967296>}) attributes {visa.kernel} {
  return
}
// expected-error @below {{argument 1: visa.range is 8 : i64, expected two numbers}}
func.func @single(%a: !h, %n: index {visa.range = 8 : i64}) attributes {visa.kernel} {
  return
}
// expected-error @below {{argument 0: unknown attribute "visa.rang" of dialect visa}}
func.func @unknown(%n: index {visa.rang = array<i64: 0, 8>}) attributes {visa.kernel} {
  return
}
// expected-error @below {{not yet supported: argument 1 of type 'i64'}}
func.func @other(%a: !h, %n: i64 {visa.range = array<i64: 0, 8>}) attributes {visa.kernel} {
  return
}

// -----

// MM-37: the range says where a tile may begin.
#axes = #tmap.axes<A = 8, B = 64>
!h = !visa.hbm<i32, element "A, B", #axes>
!r = !visa.hbm<i32, element "1 # 8, B", #axes>
!f = !visa.dm<i32, slice "1 # 256", element "A, B", #axes>
!fr = !visa.dm<i32, slice "1 # 256", element "1 # 8, B", #axes>
!d = !visa.dm<i32, slice "1 # 256", element "B", #axes>
func.func @starts(%a: !h, %n: index {visa.range = array<i64: 0, 8>}, %m: index {visa.range = array<i64: 0, 9>}) attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %n step %c1 {
    %s = visa.tile %a[%i] along "A" take 1 : !h -> !r
  }
  scf.for %i = %c0 to %m step %c1 {
    // expected-error @below {{MM-37 (MA-19): tile start 8 is no live position}}
    %s = visa.tile %a[%i] along "A" take 1 : !h -> !r
  }
  // expected-error @below {{MM-37 (MA-19): tile start 8 is no live position}}
  %s = visa.tile %a[%n] along "A" take 1 : !h -> !r
  %f = visa.to_dm %a : !h -> !f
  scf.for %i = %c0 to %n step %c1 {
    %t = visa.tile %f[%i] along "A" take 1 : !f -> !fr
  }
  %square = arith.muli %n, %n : index
  %rest = arith.remui %square, %c8 : index
  // expected-error @below {{not yet supported: a tile of a DM tensor that begins where only the run knows, other than at sums of numbers of the host and of counters of loops with known steps}}
  %u = visa.tile %f[%rest] along "A" take 1 : !f -> !fr
  // expected-error @below {{not yet supported: a tile of an HBM tensor that begins where only the run knows}}
  %v = visa.tile %a[%rest] along "A" take 1 : !h -> !r
  %is = arith.cmpi slt, %n, %m : index
  scf.if %is {
    %t = visa.to_dm %a : !h -> !f
  }
  %isSquare = arith.cmpi slt, %square, %m : index
  // expected-error @below {{not yet supported: a branch on what only the run knows, other than comparisons of sums of numbers of the host, joined by and, or and xor to no more than 16 cases}}
  scf.if %isSquare {
    %t = visa.to_dm %a : !h -> !f
  }
  %isUnsigned = arith.cmpi ult, %n, %m : index
  // expected-error @below {{not yet supported: a branch on what only the run knows}}
  scf.if %isUnsigned {
    %t = visa.to_dm %a : !h -> !f
  }
  %is0 = arith.cmpi eq, %n, %c0 : index
  scf.if %is0 {
    %t = visa.to_dm %a : !h -> !f
  }
  // expected-error @below {{not yet supported: values out of a branch on a number of the host}}
  %at = scf.if %is0 -> index {
    scf.yield %c0 : index
  } else {
    scf.yield %c1 : index
  }
  return
}

// -----

// How often a loop runs.
#axes = #tmap.axes<A = 8, B = 64>
!h = !visa.hbm<i32, element "A, B", #axes>
func.func @trips(%a: !h, %n: index {visa.range = array<i64: 0, 8>}, %m: index {visa.range = array<i64: -1, 8>}) attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %c2 step %c1 {
    }
  }
  scf.for %i = %c1 to %n step %c1 {
  }
  scf.for %i = %c0 to %n step %c2 {
  }
  scf.for %i = %c0 to %m step %c1 {
  }
  %next = arith.addi %n, %c1 : index
  scf.for %i = %c0 to %next step %c1 {
  }
  scf.for %i = %n to %c2 step %c1 {
  }
  // expected-error @below {{not yet supported: steps of 2 from a number of the host on; count from 0 in steps of 1, and multiply and add in the loop}}
  scf.for %i = %n to %m step %c2 {
  }
  // expected-error @below {{not yet supported: a step known only at run time}}
  scf.for %i = %c0 to %n step %n {
  }
  %square = arith.muli %n, %m : index
  // expected-error @below {{not yet supported: bounds known only at run time, other than sums of numbers of the host and of counters of loops with known steps}}
  scf.for %i = %c0 to %square step %c1 {
  }
  return
}

// -----

// Loops that no counter of the chip follows are unrolled, up to 1,024 steps.
#axes = #tmap.axes<A = 8, B = 64>
!h = !visa.hbm<i32, element "A, B", #axes>
func.func @steps(%a: !h, %n: index {visa.range = array<i64: 0, 2000>}, %m: index {visa.range = array<i64: -1, 2000>}) attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %n step %c1 {
  }
  scf.for %i = %c0 to %n step %c2 {
  }
  // expected-error @below {{not yet supported: a loop whose trips the host says, which may make more than 1024, other than in steps of 1 to an upper bound that is never below the lower one; give the numbers such ranges}}
  scf.for %i = %c0 to %m step %c1 {
  }
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @below {{not yet supported: a bound that follows counters of loops of more than 1024 steps, which are unrolled}}
    scf.for %j = %c0 to %i step %c1 {
    }
  }
  return
}

// -----

// What moves registers and descriptors.
#axes = #tmap.axes<A = 8, B = 64, K = 2>
!h = !visa.hbm<i32, element "A, B", #axes>
!l = !visa.hbm<i32, element "A, K", #axes>
!lr = !visa.hbm<i32, element "1 # 8, K", #axes>
!s = !visa.dm<i32, slice "A # 256", element "B", #axes>
!sr = !visa.dm<i32, slice "1 # 256", element "B", #axes>
!d = !visa.dm<i32, slice "1 # 256", element "A, B", #axes>
!dr = !visa.dm<i32, slice "1 # 256", element "1 # 8, B", #axes>
!row = !visa.dm<i32, slice "1 # 256", element "B", #axes>
!got = !visa.dm<i32, slice "1 # 256", element "K, B", #axes>
func.func @moved(%a: !h, %list: !l, %n: index {visa.range = array<i64: 1, 7>}) attributes {visa.kernel} {
  %c1 = arith.constant 1 : index
  %before = arith.subi %n, %c1 : index
  %d = visa.to_dm %a : !h -> !d
  %s = visa.tile %d[%before] along "A" take 1 : !d -> !dr
  %r = visa.chain main -> !row {
    // expected-error @below {{not yet supported: a chain on a tile of data memory that would begin at byte -256 of a tensor of 2048 with numbers of 0; copy the tile into a tensor of its own}}
    fetch %s time "B / 8" packet "B % 8" : !dr
    collect time "B / 8" packet "B % 8"
    commit_trim packet "B % 8"
    commit element "B"
  }
  %p = visa.to_dm %a : !h -> !s
  // expected-error @below {{not yet supported: a tile along the slice of a DM tensor that begins at a number of the host; take the tile in HBM}}
  %t = visa.tile %p[%n] of slice along "A" take 1 : !s -> !sr
  %rows = visa.tile %list[%n] along "A" take 1 : !l -> !lr
  // expected-error @below {{not yet supported: a list of rows in a view that begins at a number of the host; copy the list into a tensor of its own}}
  %g = visa.gather scaled %a by %rows : !h, !lr -> !got
  return
}

// -----

// MM-37: parts of a start that depend on one another are taken together; this one
// reaches one row too far.
#axes = #tmap.axes<A = 8, B = 64>
!h = !visa.hbm<i32, element "A, B", #axes>
!r = !visa.hbm<i32, element "1 # 8, B", #axes>
!d = !visa.dm<i32, slice "1 # 256", element "B", #axes>
func.func @related(%a: !h, %n: index {visa.range = array<i64: 1, 5>}) attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %from = arith.subi %c9, %n : index
  scf.for %j = %c0 to %n step %c1 {
    %i = arith.addi %from, %j : index
    // expected-error @below {{MM-37 (MA-19): tile start 8 is no live position of index 'A', which has 8 live cells}}
    %s = visa.tile %a[%i] along "A" take 1 : !h -> !r
    %d = visa.to_dm %s : !r -> !d
  }
  return
}
