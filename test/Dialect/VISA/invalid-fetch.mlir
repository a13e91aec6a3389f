// Rules of fetch, fetch adapter and collect, one broken rule a case.
// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

// MM-52: the Tensor Unit reads data memory only.
#axes = #tmap.axes<A = 8, B = 32>
!hbm = !visa.hbm<i8, element "A, B", #axes>
!dm = !visa.dm<i8, slice "1 # 256", element "A, B", #axes>
func.func @fetch_from_hbm(%a: !hbm) attributes {visa.kernel} {
  %r = visa.chain main -> !dm {
    // expected-error @below {{MM-52: the source is}}
    fetch %a time "A" packet "B" : !hbm
    collect time "A" packet "B"
    commit_trim packet "B"
    commit element "A, B"
  }
  return
}

// -----

// MM-9: every live cell is read.
#axes = #tmap.axes<A = 8, B = 32>
!dm = !visa.dm<i8, slice "1 # 256", element "A, B", #axes>
!out = !visa.dm<i8, slice "1 # 256", element "A / 2, B", #axes>
func.func @fetch_leaves_cells() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %r = visa.chain main -> !out {
    // expected-error @below {{MM-9: time "A / 2" and packet "B" leave cells of the source unread}}
    fetch %d time "A / 2" packet "B" : !dm
    collect time "A / 2" packet "B"
    commit_trim packet "B"
    commit element "A / 2, B"
  }
  return
}

// -----

// TU-2: both sides must split an axis alike.
#axes = #tmap.axes<A = 15, B = 8>
!dm = !visa.dm<i8, slice "1 # 256", element "A % 5, A / 5, B", #axes>
!out = !visa.dm<i8, slice "1 # 256", element "A % 3, A / 3, B", #axes>
func.func @fetch_incompatible() attributes {visa.kernel} {
  // expected-note @below {{the source has element "A % 5, A / 5, B"}}
  %d = visa.alloc : !dm
  %r = visa.chain main -> !out {
    // expected-error @below {{TU-2 (MA-22)}}
    fetch %d time "A % 3, A / 3" packet "B" : !dm
    collect time "A % 3, A / 3" packet "B # 32"
    commit_trim packet "B"
    commit element "A % 3, A / 3, B"
  }
  return
}

// -----

// MM-7: at most 65,536 steps in a loop.
#axes = #tmap.axes<A = 32, X = 131072>
!dm = !visa.dm<i8, slice "1 # 256", element "A", #axes>
!out = !visa.dm<i8, slice "1 # 256", element "A", #axes>
func.func @fetch_too_long_a_loop() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %r = visa.chain main -> !out {
    // expected-error @below {{MM-7 (MA-29): one entry needs 131072 steps of 0, the sequencer counts to 65536; split the digit}}
    // expected-note @below {{the loops over "A":}}
    fetch %d time "X" packet "A" : !dm
    collect time "X" packet "A"
    commit_trim packet "A"
    // expected-error @below {{MM-24 (MA-24): the memory has no digit of axis X}}
    // expected-note @below {{the stream has time "X" and packet "A"}}
    commit element "A"
  }
  return
}

// -----

// MM-6: at most eight loops.
#axes = #tmap.axes<A = 64, B = 64, C = 8>
!dm = !visa.dm<i8, slice "1 # 256", element "A, B, C", #axes>
!out = !visa.dm<i8, slice "1 # 256", element "A % 2, B % 2, A / 4 % 2, B / 4 % 2, A / 16 % 2, B / 16 % 2, A / 2 % 2, B / 2 % 2, A / 8 % 2, B / 8 % 2, A / 32, B / 32, C", #axes>
func.func @fetch_too_many_loops() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %r = visa.chain main -> !out {
    // expected-error @below {{MM-6 (MA-29): the access needs 13 entries, the sequencer has 8; 2:512 right outside of 2:256 would be one entry}}
    // expected-note @below {{the loops over "A, B, C":}}
    fetch %d time "A % 2, B % 2, A / 4 % 2, B / 4 % 2, A / 16 % 2, B / 16 % 2, A / 2 % 2, B / 2 % 2, A / 8 % 2, B / 8 % 2, A / 32, B / 32" packet "C" : !dm
    collect time "A % 2, B % 2, A / 4 % 2, B / 4 % 2, A / 16 % 2, B / 16 % 2, A / 2 % 2, B / 2 % 2, A / 8 % 2, B / 8 % 2, A / 32, B / 32" packet "C # 32"
    commit_trim packet "C"
    commit element "A % 2, B % 2, A / 4 % 2, B / 4 % 2, A / 16 % 2, B / 16 % 2, A / 2 % 2, B / 2 % 2, A / 8 % 2, B / 8 % 2, A / 32, B / 32, C"
  }
  return
}

// -----

// TU-6: i5 and i9 never come out of a cast, floats never become integers.
#axes = #tmap.axes<A = 8, B = 32>
!dm = !visa.dm<i8, slice "1 # 256", element "A, B", #axes>
func.func @cast_pairs() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %r = visa.chain main -> !dm {
    fetch %d time "A" packet "B" : !dm
    // expected-error @below {{TU-6: no fetch_cast from i8 to bf16; there are i4, i8, i16 to i32}}
    fetch_cast to bf16
    collect time "A" packet "B"
    commit_trim packet "B"
    commit element "A, B"
  }
  return
}

// -----

// TU-4: the adapter has one order.
#axes = #tmap.axes<A = 8, B = 8>
!dm = !visa.dm<i32, slice "1 # 256", element "A, B", #axes>
func.func @cast_behind_collect() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %r = visa.chain main -> !dm {
    fetch %d time "A" packet "B" : !dm
    collect time "A" packet "B"
    // expected-error @below {{TU-4: this stage may not follow collect; it may follow fetch}}
    fetch_cast to i32
    // expected-error @below {{MM-27: this stage may not follow fetch_cast}}
    commit_trim packet "B"
    commit element "A, B"
  }
  return
}

// -----

// TU-28: a flit is 32 bytes.
#axes = #tmap.axes<A = 8, B = 32>
!dm = !visa.dm<i8, slice "1 # 256", element "A, B", #axes>
func.func @collect_not_a_flit() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %r = visa.chain main -> !dm {
    fetch %d time "A" packet "B" : !dm
    // expected-error @below {{TU-28: packet has 64 elements, a flit holds 32 of i8: found "B # 64", expected "B"; write packet "B"}}
    // expected-note @below {{"B # 64" has 64 positions, "B" has 32}}
    collect time "A" packet "B # 64"
    commit_trim packet "B"
    commit element "A, B"
  }
  return
}

// -----

// TU-29: the packet is the inner flit (row 2 of the Tensor Unit vectors).
#axes = #tmap.axes<A = 8, B = 32>
!dm = !visa.dm<i8, slice "1 # 256", element "A, B", #axes>
func.func @collect_wrong_packet() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %r = visa.chain main -> !dm {
    fetch %d time "A" packet "B" : !dm
    // expected-error @below {{TU-29: packet is not the inner flit of the stream: found "A # 32", expected "B"}}
    // expected-note @below {{at position 1, "A # 32" is {A: 1} and "B" is {B: 1}}
    collect time "A" packet "A # 32"
    commit_trim packet "B"
    commit element "A, B"
  }
  return
}

// -----

// TU-29: outer flits join time (row 3).
#axes = #tmap.axes<A = 8, B = 32>
!dm = !visa.dm<bf16, slice "1 # 256", element "A, B", #axes>
func.func @collect_wrong_time() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %r = visa.chain main -> !dm {
    fetch %d time "A" packet "B" : !dm
    // expected-error @below {{TU-29: time is not that of the stream with its outer flits: found "A", expected "A, B / 16"; write time "A, B / 16"}}
    // expected-note @below {{"A" has 8 positions, "A, B / 16" has 16}}
    collect time "A" packet "B % 16"
    commit_trim packet "B % 16"
    commit element "A, B"
  }
  return
}

// -----

// An unknown axis is reported at its place, and the check goes on.
#axes = #tmap.axes<A = 8, B = 32>
!dm = !visa.dm<i8, slice "1 # 256", element "A, B", #axes>
func.func @several_faults() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %r = visa.chain main -> !dm {
    fetch %d time "A" packet "B" : !dm
    // expected-error @below {{MA-7}}
    collect time "X" packet "B"
    // expected-error @below {{TU-73: packet "B = 4" of i8 is 4 bytes}}
    commit_trim packet "B = 4"
    commit element "A, B"
  }
  return
}

// -----

// TU-5: the pairs of the lookup tables, main context only.
#axes = #tmap.axes<A = 8, B = 32>
!dm = !visa.dm<f8E4M3FN, slice "1 # 256", element "A, B", #axes>
!e2 = !visa.dm<f4E2M1FN, slice "1 # 256", element "A, B", #axes>
func.func @lookup() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %e = visa.alloc : !e2
  %r0 = visa.chain main -> !dm {
    fetch %d time "A" packet "B" : !dm
    // expected-error @below {{TU-5: no table_lookup from f8e4m3 to f32; there are f4e2m1 to f8e4m3 and f8e5m2, f8e4m3 and f8e5m2 to bf16}}
    table_lookup to f32
    collect time "A" packet "B"
    commit_trim packet "B"
    commit element "A, B"
  }
  %r1 = visa.chain sub -> !dm {
    fetch %e time "A" packet "B" : !e2
    // expected-error @below {{TU-5: a table lookup in the sub context, only main has lookup tables}}
    table_lookup to f8E4M3FN
    collect time "A" packet "B"
    commit_trim packet "B"
    commit element "A, B"
  }
  %r2 = visa.chain main -> !dm {
    fetch %d time "A" packet "B" : !dm
    fetch_cast to f8E4M3FN
    // expected-error @below {{TU-4: this stage may not follow fetch_cast; it may follow fetch}}
    // expected-error @below {{TU-5: no table_lookup from f8e4m3 to f8e4m3}}
    table_lookup to f8E4M3FN
    collect time "A" packet "B"
    commit_trim packet "B"
    commit element "A, B"
  }
  return
}

// -----

// TU-8: zero points of i4 and i8. TU-78, TU-9: i5 and i9 go to a contraction.
#axes = #tmap.axes<A = 8, B = 32>
!dm = !visa.dm<i8, slice "1 # 256", element "A, B", #axes>
!nibbles = !visa.dm<i4, slice "1 # 256", element "A, B", #axes>
!words = !visa.dm<i16, slice "1 # 256", element "A, B", #axes>
func.func @zero_points() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %n = visa.alloc : !nibbles
  %w = visa.alloc : !words
  %r0 = visa.chain main -> !dm {
    fetch %d time "A" packet "B" : !dm
    // expected-error @below {{TU-8: zero point 200 is no value of i8, expected -128 to 127}}
    zero_point_sub 200
    collect time "A" packet "B"
    // expected-error @below {{TU-78: i9 lives between fetch and contraction only}}
    commit_trim packet "B"
    commit element "A, B"
  }
  // expected-error @below {{TU-72}}
  %r1 = visa.chain main -> !nibbles {
    fetch %n time "A / 2" packet "A % 2, B" : !nibbles
    // expected-error @below {{TU-8: zero point -9 is no value of i4, expected -8 to 7}}
    zero_point_sub -9
    collect time "A / 2" packet "A % 2, B"
    // expected-error @below {{TU-65: the transpose engine takes elements of 4, 8, 16 and 32 bits, found i5}}
    transpose time "A" packet "B # 64"
  }
  %r2 = visa.chain main -> !words {
    fetch %w time "A" packet "B" : !words
    // expected-error @below {{TU-8: a zero point is subtracted from i4 and i8, found i16}}
    zero_point_sub 3
    collect time "A, B / 16" packet "B % 16"
    commit_trim packet "B % 16"
    commit element "A, B"
  }
  %r3 = visa.chain main -> !dm {
    fetch %d time "A" packet "B" : !dm
    zero_point_sub 3
    // expected-error @below {{TU-4: this stage may not follow zero_point_sub; it may follow fetch or table_lookup}}
    fetch_cast to i9
    collect time "A" packet "B"
    // expected-error @below {{TU-61: no cast from i9 to 'i4'}}
    cast to i4 packet "B # 64"
    // expected-error @below {{TU-78}}
    commit_trim packet "B"
    commit element "A, B"
  }
  return
}

// -----

// Behind a fetch that nobody can read, stages are only read for themselves.
#axes = #tmap.axes<A = 2048>
!d = !visa.dm<i32, slice "A / 8", element "A % 8", #axes>
func.func @unknown_stream() attributes {visa.kernel} {
  %d = visa.alloc : !d
  %r = visa.chain main -> !d {
    // expected-error@+1 {{MA-7: axis 'B' is not declared; declared are A}}
    fetch %d time "B % 8" packet "A % 8" : !d
    collect time "1" packet "A % 8"
    commit_trim packet "A % 8"
    // expected-error@+1 {{MA-7: axis 'C' is not declared; declared are A}}
    commit element "C % 8"
  }
  return
}
