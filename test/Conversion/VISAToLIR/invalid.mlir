// What the kernel check accepts and no unit can do, one fault a function.
// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics -convert-visa-to-lir

#axes = #tmap.axes<A = 2048>
!h = !visa.hbm<i32, element "A", #axes>
// expected-error@+1 {{not yet supported: tensors outside of a kernel; mark the function as visa.kernel, or inline it into one}}
func.func @no_kernel(%a: !h) {
  return
}

// -----

#axes = #tmap.axes<A = 2048>
!h = !visa.hbm<i32, element "A", #axes>
func.func @loop_carried(%a: !h) -> !h attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %o = visa.alloc : !h
  // expected-error@+1 {{not yet supported: tensors as operands or results of this op in a kernel}}
  %r = scf.for %i = %c0 to %c1 step %c1 iter_args(%t = %a) -> !h {
    // expected-error@+1 {{not yet supported: tensors as operands or results of this op in a kernel}}
    scf.yield %t : !h
  }
  return %o : !h
}

// -----

// i4 grows eightfold: 8 bytes of the sub context would be 64.
#axes = #tmap.axes<A = 16>
!d = !visa.dm<i4, slice "1 # 256", element "A", #axes>
!v = !visa.vrf<i32, slice "1 # 256", element "A", #axes>
func.func @sub_cast() attributes {visa.kernel} {
  %d = visa.alloc : !d
  %v = visa.chain sub -> !v {
    // expected-error@+1 {{not yet supported: a read of 8 bytes in the sub context that grows to 64 bytes, the limit is 32}}
    fetch %d time "1" packet "A" : !d
    fetch_cast to i32
    collect time "A / 8" packet "A % 8"
    to_vrf element "A"
  }
  return
}

// -----

// The sub context cannot read single elements of 4 bytes.
#axes = #tmap.axes<A = 8, B = 8>
!d = !visa.dm<i32, slice "1 # 256", element "A, B", #axes>
!v = !visa.vrf<i32, slice "1 # 256", element "B, A", #axes>
func.func @sub_transpose() attributes {visa.kernel} {
  %d = visa.alloc : !d
  %v = visa.chain sub -> !v {
    // expected-error@+1 {{not yet supported: contiguous runs of 4 bytes in a packet; the sub context reads 8 bytes at a time}}
    fetch %d time "B" packet "A" : !d
    collect time "B" packet "A"
    to_vrf element "B, A"
  }
  return
}

// -----

// Time runs over three rows that the tensor has not.
#axes = #tmap.axes<A = 5, B = 8>
!in = !visa.dm<i32, slice "1 # 256", element "A, B", #axes>
!out = !visa.dm<i32, slice "1 # 256", element "A # 8, B", #axes>
func.func @behind_the_end() attributes {visa.kernel} {
  %d = visa.alloc : !in
  %r = visa.chain main -> !out {
    // expected-error@+1 {{not yet supported: a fetch whose padding reads more than a packet behind the end of element "A, B"; pad the tensor as the stream}}
    fetch %d time "A # 8" packet "B" : !in
    collect time "A # 8" packet "B"
    commit_trim packet "B"
    commit element "A # 8, B"
  }
  return
}

// -----

// Single elements of 4 bits.
#axes = #tmap.axes<A = 16, B = 16>
!in = !visa.dm<i4, slice "1 # 256", element "A, B", #axes>
!out = !visa.dm<i4, slice "1 # 256", element "B, A", #axes>
func.func @half_bytes() attributes {visa.kernel} {
  %d = visa.alloc : !in
  %r = visa.chain main -> !out {
    // expected-error@+1 {{not yet supported: a fetch of runs of 1 elements of 4 bits, which are no whole bytes}}
    fetch %d time "B" packet "A" : !in
    collect time "B" packet "A # 64"
    commit_trim packet "A"
    commit element "B, A"
  }
  return
}

// -----

// The window begins at byte 4 of HBM.
#axes = #tmap.axes<R = 64, K = 9>
!m = !visa.hbm<i32, element "R, K", #axes>
!mt = !visa.hbm<i32, element "R, 1 # 9", #axes>
!d = !visa.dm<i32, slice "R # 256", element "1 # 2", #axes>
func.func @inside_a_word(%m: !m) attributes {visa.kernel} {
  return
}
