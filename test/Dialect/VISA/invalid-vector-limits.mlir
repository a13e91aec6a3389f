// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

// VE-7: a divider of its own stands once; VE-9 says nothing more.
#axes = #tmap.axes<A = 8>
!i = !visa.hbm<f32, element "A", #axes>
!id = !visa.dm<f32, slice "1 # 256", element "A", #axes>
!o = !visa.hbm<f32, element "A", #axes>
!od = !visa.dm<f32, slice "1 # 256", element "A", #axes>
func.func @k(%i: !i) -> !o attributes {visa.kernel} {
  %d = visa.to_dm %i : !i -> !id
  %r = visa.chain main -> !od {
    fetch %d time "1" packet "A" : !id
    collect time "1" packet "A"
    vector_init
    vector_tag zero
    vector_narrow split time "A / 4" packet "A % 4"
    // expected-note @below {{it stands here}}
    vector_fp_div [imm 2.0]
    // expected-error @below {{VE-7: vector_fp_div stands once in a chain; split the chain into two}}
    vector_fp_div [imm 3.0]
    vector_widen concat time "1" packet "A"
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  %o = visa.to_hbm %r : !od -> !o
  return %o : !o
}

// -----

// VE-26: fma has three registers for the second operands.
#axes = #tmap.axes<A = 8>
!i = !visa.hbm<f32, element "A", #axes>
!id = !visa.dm<f32, slice "1 # 256", element "A", #axes>
!o = !visa.hbm<f32, element "A", #axes>
!od = !visa.dm<f32, slice "1 # 256", element "A", #axes>
!h0_ = !visa.hbm<f32, element "A", #axes>
!d0_ = !visa.dm<f32, slice "1 # 256", element "A", #axes>
!v0_ = !visa.vrf<f32, slice "1 # 256", element "A", #axes>
func.func @k(%i: !i, %h0: !h0_) -> !o attributes {visa.kernel} {
  %d = visa.to_dm %i : !i -> !id
  %vd0 = visa.to_dm %h0 : !h0_ -> !d0_
  %v0 = visa.chain sub -> !v0_ {
    fetch %vd0 time "1" packet "A" : !d0_
    collect time "1" packet "A"
    to_vrf element "A"
  }
  %r = visa.chain main -> !od {
    fetch %d time "1" packet "A" : !id
    collect time "1" packet "A"
    vector_init
    vector_tag compare [less 0.0, less 1.0, less 2.0]
    vector_narrow split time "A / 4" packet "A % 4"
    // expected-error @below {{VE-26: slot 3 of fma finds no register for its second operand, there are 3; move a slot to another stage}}
    vector_fp fma [imm 1.0 with 2.0 if "1---", imm 2.0 with 1.0 if "-1--", imm 3.0 with 3.0 if "--1-", vrf %v0 with 4.0] : !v0_
    vector_widen concat time "1" packet "A"
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  %o = visa.to_hbm %r : !od -> !o
  return %o : !o
}

// -----

// VE-27: four stages of a chain read the register file.
#axes = #tmap.axes<A = 8>
!i = !visa.hbm<i32, element "A", #axes>
!id = !visa.dm<i32, slice "1 # 256", element "A", #axes>
!o = !visa.hbm<i32, element "A", #axes>
!od = !visa.dm<i32, slice "1 # 256", element "A", #axes>
!h0_ = !visa.hbm<i32, element "A", #axes>
!d0_ = !visa.dm<i32, slice "1 # 256", element "A", #axes>
!v0_ = !visa.vrf<i32, slice "1 # 256", element "A", #axes>
func.func @k(%i: !i, %h0: !h0_) -> !o attributes {visa.kernel} {
  %d = visa.to_dm %i : !i -> !id
  %vd0 = visa.to_dm %h0 : !h0_ -> !d0_
  %v0 = visa.chain sub -> !v0_ {
    fetch %vd0 time "1" packet "A" : !d0_
    collect time "1" packet "A"
    to_vrf element "A"
  }
  %r = visa.chain main -> !od {
    fetch %d time "1" packet "A" : !id
    collect time "1" packet "A"
    vector_init
    vector_tag zero
    vector_logic and [vrf %v0] : !v0_
    vector_logic or [vrf %v0] : !v0_
    vector_fxp add [vrf %v0] : !v0_
    vector_fxp mul_int [vrf %v0] : !v0_
    // expected-error @below {{VE-27: stage 5 of the chain that reads the VRF, which 4 stages can; split the chain into two}}
    vector_clip max [vrf %v0] : !v0_
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  %o = visa.to_hbm %r : !od -> !o
  return %o : !o
}

// -----

// VE-48: what follows from a refused unzip is not reported.
#axes = #tmap.axes<I = 3, A = 8>
!i = !visa.hbm<i32, element "I, A", #axes>
!id = !visa.dm<i32, slice "1 # 256", element "I, A", #axes>
!o = !visa.hbm<i32, element "A", #axes>
!od = !visa.dm<i32, slice "1 # 256", element "A", #axes>
func.func @k(%i: !i) -> !o attributes {visa.kernel} {
  %d = visa.to_dm %i : !i -> !id
  %r = visa.chain main -> !od {
    fetch %d time "I" packet "A" : !id
    collect time "I" packet "A"
    vector_init
    // expected-error @below {{VE-48: axis I is no axis of size 2 in the time of the stream, "I"}}
    vector_unzip axis "I" time "1"
    vector_zip clip add
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  %o = visa.to_hbm %r : !od -> !o
  return %o : !o
}

// -----

// VE-19: one packet makes no flit; the rest of the chain is as written.
#axes = #tmap.axes<A = 4>
!i = !visa.hbm<f32, element "A", #axes>
!id = !visa.dm<f32, slice "1 # 256", element "A # 8", #axes>
!o = !visa.hbm<f32, element "A", #axes>
!od = !visa.dm<f32, slice "1 # 256", element "A # 8", #axes>
func.func @k(%i: !i) -> !o attributes {visa.kernel} {
  %d = visa.to_dm %i : !i -> !id
  %r = visa.chain main -> !od {
    fetch %d time "1" packet "A # 8" : !id
    collect time "1" packet "A # 8"
    vector_init
    vector_tag zero
    vector_narrow trim packet "A"
    vector_fp mul [imm 2.0]
    // expected-error @below {{VE-19 (MA-16): '1' has 1 cells and does not split at 2; 1 divides both}}
    vector_widen concat time "1" packet "A"
    vector_final
    commit_trim packet "A # 8"
    commit element "A # 8"
  }
  %o = visa.to_hbm %r : !od -> !o
  return %o : !o
}

// -----

// VE-58: slices that are padding, without a reduction inside that gives the identity.
#axes = #tmap.axes<N = 4, R = 40, A = 8>
!i = !visa.hbm<i32, element "N, R, A", #axes>
!id = !visa.dm<i32, slice "N, R # 64", element "A", #axes>
!o = !visa.hbm<i32, element "N, A", #axes>
!od = !visa.dm<i32, slice "N, 1 # 64", element "A", #axes>
func.func @k(%i: !i) -> !o attributes {visa.kernel} {
  %d = visa.to_dm %i : !i -> !id
  %r = visa.chain main -> !od {
    fetch %d time "1" packet "A" : !id
    collect time "1" packet "A"
    vector_init
    // expected-error @below {{VE-58: slices that are padding hold nothing that a reduction could take: axis R has 40 of 64 slices; reduce the axis inside the slices first, with vector_reduce, which gives the others what has no effect}}
    vector_inter_slice_reduce max slice "N, 1 # 64" time "1"
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  %o = visa.to_hbm %r : !od -> !o
  return %o : !o
}

// -----

// VE-64: a digit of time that does not fill the slices.
#axes = #tmap.axes<N = 64, R = 4, A = 8, X = 4, V = 4, W = 3>
!i = !visa.hbm<i32, element "N, R, W, A", #axes>
!id = !visa.dm<i32, slice "N, R", element "W, A", #axes>
!o = !visa.hbm<i32, element "N, W, A", #axes>
!od = !visa.dm<i32, slice "N, W # 4", element "A", #axes>
func.func @k(%i: !i) -> !o attributes {visa.kernel} {
  %d = visa.to_dm %i : !i -> !id
  %r = visa.chain main -> !od {
    fetch %d time "W" packet "A" : !id
    collect time "W" packet "A"
    vector_init
    // expected-error @below {{VE-64: axis W has 3 positions in time and 4 in the slices; pad it in time as well}}
    vector_inter_slice_reduce add slice "N, W # 4" time "1"
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  %o = visa.to_hbm %r : !od -> !o
  return %o : !o
}

// -----

// VE-66: a reduction takes an axis away from the stream, not from the stash.
#axes = #tmap.axes<R = 8, A = 8>
!i = !visa.hbm<f32, element "R, A", #axes>
!id = !visa.dm<f32, slice "1 # 256", element "R, A", #axes>
!o = !visa.hbm<f32, element "A", #axes>
!od = !visa.dm<f32, slice "1 # 256", element "A", #axes>
func.func @k(%i: !i) -> !o attributes {visa.kernel} {
  %d = visa.to_dm %i : !i -> !id
  %r = visa.chain main -> !od {
    fetch %d time "R" packet "A" : !id
    collect time "R" packet "A"
    vector_init
    vector_tag zero
    vector_narrow split time "R, A / 4" packet "A % 4"
    // expected-note @below {{it is written here}}
    vector_stash
    vector_reduce add axis "R" time "A / 4" packet "A % 4"
    // expected-error @below {{VE-66: the stash holds a value for each R, an axis that the stream has no more; read the stash before, or load the operand into the VRF and go on in a chain of its own}}
    vector_fp_div [stash]
    vector_widen concat time "1" packet "A"
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  %o = visa.to_hbm %r : !od -> !o
  return %o : !o
}

// -----

// VE-32: the guard of a slot is not empty.
#axes = #tmap.axes<A = 8>
!id = !visa.dm<i32, slice "1 # 256", element "A", #axes>
func.func @empty_guard() attributes {visa.kernel} {
  %d = visa.alloc : !id
  %r = visa.chain main -> !id {
    fetch %d time "1" packet "A" : !id
    collect time "1" packet "A"
    vector_init
    vector_tag zero
    // expected-error @below {{VE-32: "" is no guard; write 1, 0 or - for each of bits 0 to 3, with ! in front to negate}}
    vector_fxp add [imm 1 if ""]
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  return
}

// -----

// VE-52: a zip without groups.
#axes = #tmap.axes<A = 8>
!id = !visa.dm<i32, slice "1 # 256", element "A", #axes>
func.func @zip_alone() attributes {visa.kernel} {
  %d = visa.alloc : !id
  %r = visa.chain main -> !id {
    fetch %d time "1" packet "A" : !id
    collect time "1" packet "A"
    vector_init
    vector_tag zero
    // expected-error @below {{VE-52: there are no groups to fuse; put vector_unzip behind vector_init}}
    vector_zip clip add
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  return
}

// -----

// VE-8: a reduction over time behind a zip needs an ALU more.
#axes = #tmap.axes<I = 2, R = 8, A = 8>
!f = !visa.dm<f32, slice "1 # 256", element "I, R, A", #axes>
!fr = !visa.dm<f32, slice "1 # 256", element "A", #axes>
!i = !visa.dm<i32, slice "1 # 256", element "I, R, A", #axes>
!ir = !visa.dm<i32, slice "1 # 256", element "A", #axes>
func.func @no_alu_left() attributes {visa.kernel} {
  %d = visa.alloc : !f
  %r = visa.chain main -> !fr {
    fetch %d time "I, R" packet "A" : !f
    collect time "I, R" packet "A"
    vector_init
    vector_unzip axis "I" time "R"
    vector_narrow split time "I, R, A / 4" packet "A % 4"
    vector_zip fp add
    // expected-error @below {{VE-8: behind a zip the flits of group 0 still flow, and no ALU is left that could make of them what the reduction ignores: fp_fma, or for some reductions fp_mul0 or fp_mul1; split the chain into two}}
    vector_reduce max axis "R" time "A / 4" packet "A % 4"
    vector_widen concat time "1" packet "A"
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  %e = visa.alloc : !i
  %s = visa.chain main -> !ir {
    fetch %e time "I, R" packet "A" : !i
    collect time "I, R" packet "A"
    vector_init
    vector_unzip axis "I" time "R"
    vector_zip fxp add
    vector_fxp mul_int [imm 3]
    vector_narrow split time "R, A / 4" packet "A % 4"
    // expected-error @below {{VE-8: behind a zip the flits of group 0 still flow, and no ALU is left that could make of them what the reduction ignores: fxp_add or fxp_mul in front of vector_narrow; split the chain into two}}
    vector_reduce min axis "R" time "A / 4" packet "A % 4"
    vector_widen concat time "1" packet "A"
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  return
}
