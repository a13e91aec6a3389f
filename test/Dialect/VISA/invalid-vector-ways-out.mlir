// What messages of the vector engine offer instead, and that one fault is said
// once.
// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

#axes = #tmap.axes<A = 8, N = 64, R = 4>
!dm = !visa.dm<i32, slice "1 # 256", element "A", #axes>
!fm = !visa.dm<f32, slice "1 # 256", element "A", #axes>

// 28, 32: the guard of a filter is looked at as any other.
func.func @filters() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %r0 = visa.chain main -> !dm {
    fetch %d time "1" packet "A" : !dm
    collect time "1" packet "A"
    vector_init
    vector_tag zero
    // expected-error @below {{VE-32: "1--" is no guard; write 1, 0 or - for each of bits 0 to 3, with ! in front to negate}}
    vector_filter if "1--"
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  %r1 = visa.chain main -> !dm {
    fetch %d time "1" packet "A" : !dm
    collect time "1" packet "A"
    vector_init
    vector_tag zero
    // expected-error @below {{VE-28: no execution id passes the guard; name a bit, or write ---- for all}}
    vector_filter if "!----"
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  %r2 = visa.chain main -> !dm {
    fetch %d time "1" packet "A" : !dm
    collect time "1" packet "A"
    vector_init
    vector_tag zero
    // expected-error @below {{not yet supported: VE-71: a filter, whose packing of results is not public; guard the slots of the stages instead}}
    vector_filter if "1---"
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  return
}

// 8: an open mul gives way to the named ones, also to those behind it.
func.func @open_mul() attributes {visa.kernel} {
  %f = visa.alloc : !fm
  %r = visa.chain main -> !fm {
    fetch %f time "1" packet "A" : !fm
    collect time "1" packet "A"
    vector_init
    vector_tag zero
    vector_narrow split time "A / 4" packet "A % 4"
    // expected-error @below {{VE-8: no multiplier is free}}
    vector_fp mul [imm 2.0]
    // expected-note @below {{it is taken here}}
    vector_fp add [imm 3.0]
    // expected-note @below {{it is taken here}}
    vector_fp mul0 [imm 3.0]
    // expected-note @below {{it is taken here}}
    vector_fp mul1 [imm 3.0]
    vector_widen concat time "1" packet "A"
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  return
}

// 30, 33, 41: constants of the other type, a stash of other ways.
func.func @operands() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %f = visa.alloc : !fm
  %r0 = visa.chain main -> !dm {
    fetch %d time "1" packet "A" : !dm
    collect time "1" packet "A"
    vector_init
    // expected-error @below {{VE-33: a boundary of 'f32', the stream is i32; write an integer}}
    vector_tag compare [less 1.0]
    // expected-error @below {{VE-30: an immediate of 'f32', the stream is i32; write an integer}}
    vector_fxp add [imm 1.5]
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  %r1 = visa.chain main -> !fm {
    fetch %f time "1" packet "A" : !fm
    collect time "1" packet "A"
    vector_init
    vector_tag zero
    vector_narrow split time "A / 4" packet "A % 4"
    // expected-note @below {{it is written here}}
    vector_stash
    vector_widen concat time "1" packet "A"
    // expected-error @below {{VE-41: the stash holds packets of 4 elements, the stream has 8; put vector_stash behind a vector_clip}}
    vector_clip max [stash]
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  return
}

// -----

// 2: what follows from a stream that the engine does not take is not said.
#axes = #tmap.axes<A = 16>
!bm = !visa.dm<bf16, slice "1 # 256", element "A", #axes>
func.func @narrow_type() attributes {visa.kernel} {
  %d = visa.alloc : !bm
  %r = visa.chain main -> !bm {
    fetch %d time "1" packet "A" : !bm
    collect time "1" packet "A"
    // expected-error @below {{VE-2: the stream is bf16, the vector engine takes i32 and f32; widen it with fetch_cast}}
    // expected-error @below {{VE-3}}
    vector_init
    vector_tag zero
    vector_fxp add [imm 1]
    vector_clip add [imm 1.0]
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  return
}

// -----

// 63: what would be reduced.
#axes = #tmap.axes<A = 8, N = 64, R = 4>
!dm = !visa.dm<i32, slice "N, R", element "A", #axes>
func.func @slices() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %r = visa.chain main -> !dm {
    fetch %d time "1" packet "A" : !dm
    collect time "1" packet "A"
    vector_init
    // expected-error @below {{VE-63: slice is that of the stream, so that nothing would be reduced; write padding, a new axis or an axis of time for its innermost part}}
    vector_inter_slice_reduce max slice "N, R" time "1"
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  return
}

// -----

// Where a function stands.
#axes = #tmap.axes<A = 8>
!dm = !visa.dm<i32, slice "1 # 256", element "A", #axes>
func.func @functions() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %r = visa.chain main -> !dm {
    fetch %d time "1" packet "A" : !dm
    collect time "1" packet "A"
    vector_init
    vector_tag zero
    // expected-error @below {{has no function max; there are add, add_sat, sub, sub_sat, shl, shl_sat, mul_fxp, mul_int, shr, sar; max is one of vector_clip}}
    vector_fxp max [imm 1]
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  return
}

// -----

#axes = #tmap.axes<A = 8, I = 2>
!dm = !visa.dm<f32, slice "1 # 256", element "I, A", #axes>
!rm = !visa.dm<f32, slice "1 # 256", element "A", #axes>
func.func @zips() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %r = visa.chain main -> !rm {
    fetch %d time "I" packet "A" : !dm
    collect time "I" packet "A"
    vector_init
    vector_unzip axis "I" time "1"
    // expected-error @below {{fp has no function of two operands exp; there are add, sub, mul0, mul1, mul_fma, div}}
    vector_zip fp exp
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  return
}

// -----

#axes = #tmap.axes<A = 8>
!dm = !visa.dm<f32, slice "1 # 256", element "A", #axes>
func.func @modes() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %r = visa.chain main -> !dm {
    fetch %d time "1" packet "A" : !dm
    collect time "1" packet "A"
    vector_init
    vector_tag zero
    vector_narrow split time "A / 4" packet "A % 4"
    // expected-error @below {{exp takes the stream alone; leave mode "01" out}}
    vector_fp exp mode "01"
    vector_widen concat time "1" packet "A"
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  return
}
