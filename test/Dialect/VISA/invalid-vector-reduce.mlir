// Rules of the reductions and of pair mode, with the illegal chains of the
// vector engine's rules by their numbers there.
// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

// 26 … 28: what is reduced, and what stays.
#axes = #tmap.axes<R = 16, A = 3, B = 4, C = 8>
!dm = !visa.dm<i32, slice "1 # 256", element "R, A, B, C", #axes>
!out = !visa.dm<i32, slice "1 # 256", element "A, B, C", #axes>
!rm = !visa.dm<i32, slice "1 # 256", element "R, C", #axes>
!am = !visa.dm<i32, slice "1 # 256", element "C", #axes>
func.func @reduce() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %r = visa.alloc : !rm
  %r0 = visa.chain main -> !out {
    fetch %d time "R, A, B" packet "C" : !dm
    collect time "R, A, B" packet "C"
    vector_init
    vector_tag zero
    vector_narrow split time "R, A, B, C / 4" packet "C % 4"
    // expected-error @below {{VE-57: time "R, A, B, C / 4" has 24 positions within axis R, there are 8 accumulators; reorder the stream}}
    vector_reduce max axis "R" time "A, B, C / 4" packet "C % 4"
    vector_widen concat time "A, B" packet "C"
    vector_final
    commit_trim packet "C"
    commit element "A, B, C"
  }
  %r1 = visa.chain main -> !am {
    fetch %r time "R" packet "C" : !rm
    collect time "R" packet "C"
    vector_init
    vector_tag zero
    vector_narrow split time "R, C / 4" packet "C % 4"
    // expected-error @below {{VE-60: no reduction add of i32 inside a slice; there are add_sat, max, min}}
    // expected-error @below {{VE-55: axis R is reduced and cannot stay: found "R / 4, C / 4", expected "C / 4"}}
    // expected-error @below {{VE-56: packet passes whole or folds to one element: found "1 # 4", expected "C % 4"}}
    // expected-note @below {{"R / 4, C / 4" has 8 positions, "C / 4" has 2}}
    // expected-note @below {{at position 1, "1 # 4" is top padding and "C % 4" is {C: 1}}
    vector_reduce add axis "R" time "R / 4, C / 4" packet "1 # 4"
    vector_widen concat time "1" packet "C"
    vector_final
    commit_trim packet "C"
    commit element "C"
  }
  %r2 = visa.chain main -> !am {
    fetch %r time "R" packet "C" : !rm
    collect time "R" packet "C"
    vector_init
    vector_tag zero
    vector_narrow split time "R, C / 4" packet "C % 4"
    // expected-error @below {{VE-54: axis C is lost, but only R is reduced: found "1", expected "C / 4"}}
    // expected-note @below {{"1" has 1 position, "C / 4" has 2}}
    vector_reduce max axis "R" time "1" packet "C % 4"
    vector_widen concat time "1" packet "C"
    vector_final
    commit_trim packet "C"
    commit element "C"
  }
  %r3 = visa.chain main -> !am {
    fetch %r time "R" packet "C" : !rm
    collect time "R" packet "C"
    vector_init
    vector_tag zero
    vector_narrow split time "R, C / 4" packet "C % 4"
    // expected-note @below {{it stands here}}
    // expected-error @below {{VE-53: time is not that of the stream without axis R: found "C / 2", expected "C / 4"}}
    // expected-note @below {{"C / 2" has 4 positions, "C / 4" has 2}}
    vector_reduce max axis "R" time "C / 2" packet "C % 4"
    // expected-error @below {{VE-36: vector_reduce has no write port}}
    vector_stash
    // expected-error @below {{VE-7: vector_reduce stands once}}
    // expected-error @below {{VE-54: axis B is not in the time and packet of the stream}}
    vector_reduce max axis "B" time "C / 4" packet "C % 4"
    vector_widen concat time "1" packet "C"
    vector_final
    commit_trim packet "C"
    commit element "C"
  }
  return
}

// -----

// 27: half a packet does not fold.
#axes = #tmap.axes<R = 2, A = 4>
!dm = !visa.dm<i32, slice "1 # 256", element "A, R", #axes>
!out = !visa.dm<i32, slice "1 # 256", element "A", #axes>
func.func @fold() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %r = visa.chain main -> !dm {
    fetch %d time "1" packet "A, R" : !dm
    collect time "1" packet "A, R"
    vector_init
    vector_tag zero
    vector_narrow split time "A / 2" packet "A % 2, R"
    // expected-error @below {{VE-56: packet "A % 2, R" holds axis A beside R; a packet folds as a whole or passes}}
    vector_reduce max axis "R" time "A / 2" packet "A % 2 # 4"
    vector_widen concat time "1" packet "A, R"
    vector_final
    commit_trim packet "A, R"
    commit element "A, R"
  }
  return
}

// -----

// 29: padding that the counts cannot tell.
#axes = #tmap.axes<R = 2045>
!dm = !visa.dm<i32, slice "R # 2048 / 8", element "R # 2048 % 8", #axes>
!out = !visa.dm<i32, slice "R # 2048 / 8", element "1 # 2", #axes>
func.func @counts() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %r = visa.chain main -> !out {
    fetch %d time "1" packet "R # 2048 % 8" : !dm
    collect time "1" packet "R # 2048 % 8"
    vector_init
    vector_tag zero
    vector_narrow split time "R # 2048 / 4 % 2" packet "R # 2048 % 4"
    // expected-error @below {{VE-58: the padding of axis R cannot be told apart: slices would count parts of a packet}}
    vector_reduce max axis "R" time "1" packet "1 # 4"
    vector_widen pad packet "1 # 8"
    vector_final
    commit_trim packet "1 # 2"
    commit element "1 # 2"
  }
  return
}

// -----

// 33 … 35: between slices.
#axes = #tmap.axes<N = 64, R = 4, A = 8, X = 4>
!dm = !visa.dm<i32, slice "N, R", element "A", #axes>
!out = !visa.dm<i32, slice "N, 1 # 4", element "A", #axes>
func.func @slices() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  // expected-note @below {{result type is written here}}
  %r0 = visa.chain main -> !out {
    fetch %d time "1" packet "A" : !dm
    collect time "1" packet "A"
    vector_init
    vector_tag zero
    // expected-error @below {{VE-61: slices are not reduced behind vector_tag; put this stage directly behind vector_init, or behind a stage of the chain}}
    vector_inter_slice_reduce add slice "N, 1 # 4" time "1"
    vector_final
    commit_trim packet "A"
    // expected-error @below {{TU-77: slice}}
    commit element "A"
  }
  %r1 = visa.chain main -> !out {
    fetch %d time "1" packet "A" : !dm
    collect time "1" packet "A"
    vector_init
    vector_tag zero
    vector_stash
    vector_fxp add [imm 1]
    // expected-error @below {{VE-60: no reduction mul of i32 between slices; there are add, add_sat, max, min}}
    // expected-note @below {{it stands here}}
    vector_inter_slice_reduce mul slice "N, 1 # 4" time "1"
    // expected-error @below {{VE-62: slices are reduced once in a chain; split it into two}}
    vector_inter_slice_reduce add slice "N, 1 # 4" time "1"
    // expected-error @below {{VE-62: the chain of ALUs was passed before vector_inter_slice_reduce}}
    // expected-error @below {{VE-43: vector_inter_slice_reduce drops the stash}}
    vector_clip max [stash]
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  // expected-note @below {{result type is written here}}
  %r2 = visa.chain main -> !out {
    fetch %d time "1" packet "A" : !dm
    collect time "1" packet "A"
    vector_init
    // expected-error @below {{VE-63: axis R lies within the reduced slices and stays}}
    vector_inter_slice_reduce add slice "1 # 64, R" time "1"
    vector_final
    commit_trim packet "A"
    // expected-error @below {{TU-77: slice}}
    commit element "A"
  }
  %r3 = visa.chain main -> !out {
    fetch %d time "1" packet "A" : !dm
    collect time "1" packet "A"
    vector_init
    // expected-error @below {{VE-64: time does not follow from the stream: found "X", expected "1"}}
    // expected-note @below {{"X" has 4 positions, "1" has 1}}
    vector_inter_slice_reduce add slice "N, 1 # 4" time "X"
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  return
}

// -----

// 21 … 25: pair mode.
#axes = #tmap.axes<A = 8, I = 2>
!dm = !visa.dm<i32, slice "1 # 256", element "I, A", #axes>
!half = !visa.dm<i32, slice "1 # 256", element "I, A # 16 / 2", #axes>
!out = !visa.dm<i32, slice "1 # 256", element "A", #axes>
func.func @pair() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %r0 = visa.chain main -> !dm {
    fetch %d time "I" packet "A" : !dm
    collect time "I" packet "A"
    vector_init
    vector_unzip axis "I" time "1"
    vector_fxp add group [imm 1, skip]
    // expected-error @below {{VE-51: two groups are open; write group and an operand for each, or fuse them with vector_zip}}
    vector_fxp mul_int [imm 1]
    // expected-error @below {{VE-49: no trim in pair mode; use split, or zip the groups first}}
    // expected-error @below {{VE-21}}
    vector_narrow trim packet "A % 4"
    // expected-error @below {{VE-50: two groups are open; fuse them with vector_zip}}
    vector_reduce add axis "I" time "1" packet "A % 4"
    // expected-error @below {{VE-49: no pad in pair mode; use concat, or zip the groups first}}
    vector_widen pad packet "A % 4 # 8"
    // expected-error @below {{VE-45: no filter in pair mode, nor behind its zip}}
    vector_filter if "1---"
    // expected-error @below {{VE-50: two groups are open; fuse them with vector_zip}}
    vector_final
    commit_trim packet "A % 4"
    // expected-error @below {{}}
    // expected-note @below {{}}
    commit element "I, A"
  }
  %r1 = visa.chain main -> !out {
    fetch %d time "I" packet "A" : !dm
    collect time "I" packet "A"
    vector_init
    vector_unzip axis "I" time "1"
    // expected-error @below {{VE-51: an operand of a group is a constant, a VRF tensor or skip, without a guard}}
    vector_fxp add group [stash, skip]
    // expected-note @below {{it is taken here}}
    vector_clip add group [imm 1, skip]
    // expected-error @below {{VE-52: ALU clip_add is already taken; split the chain into two}}
    vector_zip clip add
    vector_clip max [imm 0]
    // expected-error @below {{VE-44: no stash in pair mode, nor behind its zip}}
    vector_stash
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  %r2 = visa.chain main -> !out {
    fetch %d time "I" packet "A" : !dm
    collect time "I" packet "A"
    vector_init
    // expected-error @below {{VE-48: axis A is no axis of size 2 in the time of the stream}}
    vector_unzip axis "A" time "1"
    vector_zip clip add
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  %r3 = visa.chain main -> !out {
    fetch %d time "I" packet "A" : !dm
    collect time "I" packet "A"
    vector_init
    // expected-note @below {{it stands here}}
    vector_tag zero
    // expected-error @below {{VE-7: vector_tag or vector_unzip stands once}}
    // expected-error @below {{VE-47: pair mode begins directly behind vector_init}}
    vector_unzip axis "I" time "1"
    // expected-note @below {{it stands here}}
    vector_zip clip add
    // expected-error @below {{VE-6: vector_narrow lies before vector_clip}}
    vector_narrow split time "A / 4" packet "A % 4"
    // expected-error @below {{VE-45}}
    vector_filter if "1---"
    // expected-error @below {{VE-12}}
    vector_final
    commit_trim packet "A % 4"
    commit element "A"
  }
  %r4 = visa.chain main -> !dm {
    fetch %d time "I" packet "A" : !dm
    collect time "I" packet "A"
    vector_init
    vector_tag zero
    vector_narrow split time "I, A / 4" packet "A % 4"
    // expected-error @below {{VE-46: packets have four elements; put vector_widen before the filter}}
    vector_filter if "1---"
    // expected-error @below {{VE-12}}
    vector_final
    commit_trim packet "A % 4"
    commit element "I, A"
  }
  return
}
