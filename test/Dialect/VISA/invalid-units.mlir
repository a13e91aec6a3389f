// What each stage, view and transfer asks for in a legal order, and no unit can
// do: the kernel check says so, one fault a function.
// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

#axes = #tmap.axes<A = 2048>
!h = !visa.hbm<i32, element "A", #axes>
func.func @loop_carried(%a: !h) -> !h attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %o = visa.alloc : !h
  // expected-error@+1 {{not yet supported: tensors as operands or results of this op in a kernel}}
  %r = scf.for %i = %c0 to %c1 step %c1 iter_args(%t = %a) -> !h {
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

// The weight has 4 groups of J, time counts to 8.
#axes = #tmap.axes<I = 4, J = 32, K = 64>
!a = !visa.dm<i8, slice "1 # 256", element "I, K", #axes>
!b = !visa.dm<i8, slice "1 # 256", element "J, K", #axes>
!c = !visa.dm<i32, slice "1 # 256", element "I, J / 8 # 8, J % 8", #axes>
!w = !visa.trf<i8, slice "1 # 256", lane "J % 8", element "J / 8, K", #axes>
func.func @weight_too_short() attributes {visa.kernel} {
  %ad = visa.alloc : !a
  %bd = visa.alloc : !b
  %w = visa.chain sub -> !w {
    fetch %bd time "J % 8, J / 8" packet "K" : !b
    collect time "J % 8, J / 8, K / 32" packet "K % 32"
    to_trf lane "J % 8" element "J / 8, K"
  }
  %r = visa.chain main -> !c {
    fetch %ad time "I" packet "K" : !a
    collect time "I, K / 32" packet "K % 32"
    // expected-error@+1 {{not yet supported: a read behind the end of the weight's element "J / 8, K"; pad the weight as the stream}}
    contract_outer %w time "I, J / 8 # 8" packet "K" : !w
    contract_packet packet "1"
    contract_time time "I, J / 8 # 8"
    contract_lane interleaved time "I, J / 8 # 8" packet "J % 8"
    commit_trim packet "J % 8"
    commit element "I, J / 8 # 8, J % 8"
  }
  return
}

// -----

// The window begins at byte 2 of each row of 16 bytes.
#axes = #tmap.axes<R = 64, K = 8>
!m = !visa.hbm<i16, element "R, K", #axes>
!mt = !visa.hbm<i16, element "R, K = 4 # 8", #axes>
!d = !visa.dm<i16, slice "R # 256", element "K = 4", #axes>
func.func @inside_a_word(%m: !m) attributes {visa.kernel} {
  %mt = visa.tile %m[1] along "K" take 4 : !m -> !mt
  // expected-error@+1 {{MM-30: the view begins at a byte of HBM that is no multiple of 8}}
  %d = visa.to_dm %mt : !mt -> !d
  return
}

// -----

// A step of 2 bytes begins at whole words where the index is a multiple of 4.
#axes = #tmap.axes<R = 64, K = 8>
!m = !visa.hbm<i16, element "R, K", #axes>
!mt = !visa.hbm<i16, element "R, K = 4 # 8", #axes>
!d = !visa.dm<i16, slice "R # 256", element "K = 4", #axes>
func.func @whole_words(%m: !m) attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c2 step %c1 {
    %k = arith.muli %i, %c4 : index
    %mt = visa.tile %m[%k] along "K" take 4 : !m -> !mt
    %d = visa.to_dm %mt : !mt -> !d
    %l = arith.muli %i, %c2 : index
    %lt = visa.tile %m[%l] along "K" take 4 : !m -> !mt
    // expected-error@+1 {{MM-30: the view begins at a byte of HBM that is no multiple of 8}}
    %e = visa.to_dm %lt : !mt -> !d
    %jt = visa.tile %m[%c1] along "K" take 4 : !m -> !mt
    // expected-error@+1 {{MM-30: the view begins at a byte of HBM that is no multiple of 8}}
    %f = visa.to_dm %jt : !mt -> !d
  }
  scf.for %i = %c0 to %c4 step %c4 {
    %mt = visa.tile %m[%i] along "K" take 4 : !m -> !mt
    %d = visa.to_dm %mt : !mt -> !d
  }
  return
}

// -----

// R is stored in two digits: no number of bytes moves its start.
#axes = #tmap.axes<R = 64, K = 8>
!m = !visa.hbm<i32, element "R % 16, R / 16, K", #axes>
!mt = !visa.hbm<i32, element "1 # 16, 1 # 4, K", #axes>
!d = !visa.dm<i32, slice "1 # 256", element "K", #axes>
func.func @no_single_digit(%m: !m) attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    // expected-error@+1 {{not yet supported: a start known only at run time along "R", which is no single digit}}
    %mt = visa.tile %m[%i] along "R" take 1 : !m -> !mt
    %d = visa.to_dm %mt : !mt -> !d
  }
  return
}

// -----

// A digit of one cell moves by 4 bits.
#axes = #tmap.axes<R = 64, K = 16>
!m = !visa.hbm<i4, element "R, K", #axes>
!mt = !visa.hbm<i4, element "R, K = 15 # 16", #axes>
!d = !visa.dm<i4, slice "R # 256", element "K = 15 # 16", #axes>
func.func @inside_a_byte(%m: !m) attributes {visa.kernel} {
  // expected-error@+1 {{not yet supported: a window that begins inside a byte}}
  %mt = visa.tile %m[1] along "K" take 15 : !m -> !mt
  %d = visa.to_dm %mt : !mt -> !d
  return
}
