// W-3: what a kernel allocates is undefined until something writes it.
// RUN: furiosa-opt-mlir %s -visa-check -verify-diagnostics -o /dev/null
// RUN: grep -v expected- %s | not furiosa-opt-mlir --strict -o /dev/null 2>&1 | FileCheck %s --check-prefix=STRICT
// STRICT: error: 'visa.to_hbm' op W-3: reads a tensor that nothing has written
#axes = #tmap.axes<A = 8, B = 64>
!h = !visa.hbm<i32, element "A, B", #axes>
!d = !visa.dm<i32, slice "1 # 256", element "A, B", #axes>
!dr = !visa.dm<i32, slice "1 # 256", element "A = 4 # 8, B", #axes>
!dw = !visa.dm<i32, slice "1 # 256", element "A = 4 #{!} 8, B", #axes>
!dc = !visa.dm<i32, slice "1 # 256", element "A, B = 8 #{!} 64", #axes>
!d1 = !visa.dm<i32, slice "1 # 256", element "1 # 8, B", #axes>
!dw1 = !visa.dm<i32, slice "1 # 256", element "1 #{!} 8, B", #axes>
!half = !visa.hbm<i32, element "A = 4, B", #axes>

func.func @whole(%a: !h) -> !h attributes {visa.kernel} {
  // expected-note @below {{the tensor is made here}}
  %d = visa.alloc : !d
  // expected-warning @below {{'visa.to_hbm' op W-3: reads a tensor that nothing has written: they are undefined; write them before, or fill the tensor with visa.memset}}
  %o = visa.to_hbm %d : !d -> !h
  visa.copy %a into %d : !h, !d
  return %o : !h
}

func.func @returned(%a: !h) -> (!h, !h) attributes {visa.kernel} {
  // expected-note @below {{the tensor is made here}}
  %o = visa.alloc : !h
  %p = visa.alloc : !h
  visa.copy %a into %p : !h, !h
  // expected-warning @below {{'func.return' op W-3: returns a tensor that nothing has written}}
  return %o, %p : !h, !h
}

// A chain reads what its stages name.
func.func @chain(%a: !h) -> !h attributes {visa.kernel} {
  // expected-note @below {{the tensor is made here}}
  %d = visa.alloc : !d
  // expected-warning @below {{'visa.chain' op W-3: reads a tensor}}
  %e = visa.chain main -> !d {
    fetch %d time "A, B / 8" packet "B % 8" : !d
    collect time "A, B / 8" packet "B % 8"
    commit_trim packet "B % 8"
    commit element "A, B"
  }
  %o = visa.to_hbm %e : !d -> !h
  return %o : !h
}

// Windows: rows 0 to 3 are written, 2 to 5 are read.
func.func @windows(%a: !half) -> (!half, !half) attributes {visa.kernel} {
  // expected-note @below {{the tensor is made here}}
  %d = visa.alloc : !d
  %w = visa.tile %d[0] along "A" take 4 : !d -> !dw
  visa.copy %a into %w : !half, !dw
  %r = visa.tile %d[0] along "A" take 4 : !d -> !dr
  %o = visa.to_hbm %r : !dr -> !half
  %s = visa.tile %d[2] along "A" take 4 : !d -> !dr
  // expected-warning @below {{W-3: reads cells 4 to 5 along "A" of a tensor that nothing has written}}
  %p = visa.to_hbm %s : !dr -> !half
  return %o, %p : !half, !half
}

// Two windows of four write all eight rows, in any order.
func.func @both(%a: !half) -> !h attributes {visa.kernel} {
  %d = visa.alloc : !d
  %v = visa.tile %d[4] along "A" take 4 : !d -> !dw
  visa.copy %a into %v : !half, !dw
  %w = visa.tile %d[0] along "A" take 4 : !d -> !dw
  visa.copy %a into %w : !half, !dw
  %o = visa.to_hbm %d : !d -> !h
  return %o : !h
}

// A loop that writes row by row writes all; one of seven trips leaves a row, and
// one without trips writes nothing.
func.func @loops(%a: !h) -> (!h, !h, !h) attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %e = visa.to_dm %a : !h -> !d
  %d = visa.alloc : !d
  scf.for %i = %c0 to %c8 step %c1 {
    %r = visa.tile %e[%i] along "A" take 1 : !d -> !d1
    %w = visa.tile %d[%i] along "A" take 1 : !d -> !dw1
    visa.copy %r into %w : !d1, !dw1
  }
  %o = visa.to_hbm %d : !d -> !h
  // expected-note @below {{the tensor is made here}}
  %f = visa.alloc : !d
  scf.for %i = %c0 to %c7 step %c1 {
    %r = visa.tile %e[%i] along "A" take 1 : !d -> !d1
    %w = visa.tile %f[%i] along "A" take 1 : !d -> !dw1
    visa.copy %r into %w : !d1, !dw1
  }
  // expected-warning @below {{W-3: reads cell 7 along "A" of a tensor}}
  %p = visa.to_hbm %f : !d -> !h
  // expected-note @below {{the tensor is made here}}
  %g = visa.alloc : !d
  scf.for %i = %c0 to %c0 step %c1 {
    visa.copy %a into %g : !h, !d
  }
  // expected-warning @below {{W-3: reads a tensor that nothing has written}}
  %q = visa.to_hbm %g : !d -> !h
  return %o, %p, %q : !h, !h, !h
}

// A fill writes all; windows along two indices are left to the run.
func.func @quiet(%a: !h) -> (!h, !h) attributes {visa.kernel} {
  %seven = arith.constant 7 : i32
  %d = visa.alloc : !d
  visa.memset %d with %seven : !d, i32
  %o = visa.to_hbm %d : !d -> !h
  %e = visa.alloc : !d
  %v = visa.tile %e[0] along "A" take 4 : !d -> !dw
  %u = visa.tile %d[0] along "A" take 4 : !d -> !dr
  visa.copy %u into %v : !dr, !dw
  %w = visa.tile %e[0] along "B" take 8 : !d -> !dc
  %x = visa.tile %d[0] along "B" take 8 : !d -> !visa.dm<i32, slice "1 # 256", element "A, B = 8 # 64", #axes>
  visa.copy %x into %w : !visa.dm<i32, slice "1 # 256", element "A, B = 8 # 64", #axes>, !dc
  %p = visa.to_hbm %e : !d -> !h
  return %o, %p : !h, !h
}

// The first trip leaves the branch out that reads what an earlier trip wrote.
func.func @branch(%a: !h) attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %d = visa.alloc : !d
  scf.for %i = %c0 to %c4 step %c1 {
    %later = arith.cmpi sgt, %i, %c0 : index
    scf.if %later {
      visa.copy %d into %a : !d, !h
    }
    visa.copy %a into %d : !h, !d
  }
  return
}
