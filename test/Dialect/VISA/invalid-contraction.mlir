// Rules of the contraction engine; the shapes are the refusals of the corpus.
// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

// TU-46: main only. TU-36: no i32 multiplier.
#axes = #tmap.axes<A = 8, B = 64, R = 8>
!dm = !visa.dm<i32, slice "1 # 256", element "A", #axes>
!trf = !visa.trf<i32, slice "1 # 256", lane "1", element "A", #axes>
func.func @context_and_type() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %w = visa.chain sub -> !trf {
    fetch %d time "1" packet "A" : !dm
    collect time "1" packet "A"
    to_trf lane "1" element "A"
  }
  // expected-error @below {{TU-72: the chain ends with contract_outer}}
  %r = visa.chain sub -> !dm {
    fetch %d time "1" packet "A" : !dm
    collect time "1" packet "A"
    // expected-error @below {{TU-46: contraction in the sub context}}
    // expected-error @below {{TU-36: the multiplier takes i4, i5, i8, i9, f8e4m3, f8e5m2 and bf16 streams, found i32}}
    contract_outer %w time "1" packet "A" : !trf
  }
  return
}

// -----

// TU-37: types pair within their family.
#axes = #tmap.axes<A = 8, E = 32, R = 8>
!dm = !visa.dm<i8, slice "1 # 256", element "A, E", #axes>
!wm = !visa.dm<f8E4M3FN, slice "1 # 256", element "R, E", #axes>
!trf = !visa.trf<f8E4M3FN, slice "1 # 256", lane "R", element "E", #axes>
!out = !visa.dm<i32, slice "1 # 256", element "A, R", #axes>
func.func @pairs() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %e = visa.alloc : !wm
  // expected-note @below {{weight is loaded here}}
  %w = visa.chain sub -> !trf {
    fetch %e time "R" packet "E" : !wm
    collect time "R" packet "E"
    to_trf lane "R" element "E"
  }
  %r = visa.chain main -> !out {
    fetch %d time "A" packet "E" : !dm
    collect time "A" packet "E"
    // expected-error @below {{TU-37: the stream is i8, the weight f8e4m3}}
    contract_outer %w time "A" packet "E" : !trf
    contract_packet packet "1"
    contract_time time "A"
    contract_lane interleaved time "A" packet "R"
    commit_trim packet "R"
    commit element "A, R"
  }
  return
}

// -----

// TU-38: stream and weight lie in the same slices.
#axes = #tmap.axes<A = 8, E = 32, R = 8, S = 256>
!dm = !visa.dm<i8, slice "S", element "A, E", #axes>
!wm = !visa.dm<i8, slice "1 # 256", element "R, E", #axes>
!trf = !visa.trf<i8, slice "1 # 256", lane "R", element "E", #axes>
!out = !visa.dm<i32, slice "S", element "A, R", #axes>
func.func @slices_differ() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %e = visa.alloc : !wm
  // expected-note @below {{weight is loaded here}}
  %w = visa.chain sub -> !trf {
    fetch %e time "R" packet "E" : !wm
    collect time "R" packet "E"
    to_trf lane "R" element "E"
  }
  %r = visa.chain main -> !out {
    fetch %d time "A" packet "E" : !dm
    collect time "A" packet "E"
    // expected-error @below {{TU-38: slice of the weight does not match the stream: found "1 # 256", expected "S"}}
    contract_outer %w time "A" packet "E" : !trf
    contract_packet packet "1"
    contract_time time "A"
    contract_lane interleaved time "A" packet "R"
    commit_trim packet "R"
    commit element "A, R"
  }
  return
}

// -----

// TU-40 … TU-44 at contract_outer: one chain a rule, all in one run.
#axes = #tmap.axes<A = 8, B = 64, D = 64, F = 6, R = 8, T = 5, V = 2>
!dm = !visa.dm<i8, slice "1 # 256", element "A, B", #axes>
!wm = !visa.dm<i8, slice "1 # 256", element "R, B", #axes>
!trf = !visa.trf<i8, slice "1 # 256", lane "R", element "B", #axes>
!out = !visa.dm<i32, slice "1 # 256", element "A, R", #axes>
func.func @packing(%d: !visa.hbm<i8, element "A, B", #axes>) attributes {visa.kernel} {
  %a = visa.alloc : !dm
  %e = visa.alloc : !wm
  %w = visa.chain sub -> !trf {
    fetch %e time "R" packet "B" : !wm
    collect time "R, B / 32" packet "B % 32"
    to_trf lane "R" element "B"
  }
  // expected-error @below {{TU-72}}
  %r0 = visa.chain main -> !out {
    fetch %a time "A" packet "B" : !dm
    collect time "A, B / 32" packet "B % 32"
    // expected-error @below {{TU-40: packet "A, B" of i8 is 512 bytes, expected 32 or 64}}
    contract_outer %w time "1" packet "A, B" : !trf
  }
  // expected-error @below {{TU-72}}
  %r1 = visa.chain main -> !out {
    fetch %a time "A" packet "B" : !dm
    collect time "A, B / 32" packet "B % 32"
    // expected-error @below {{TU-41: the inner flit of packet is not the flit of the stream: found "D", expected "B"}}
    // expected-note @below {{at position 1, "D" is {D: 1} and "B" is {B: 1}}
    contract_outer %w time "A" packet "D" : !trf
  }
  // expected-error @below {{TU-72}}
  %r2 = visa.chain main -> !out {
    fetch %a time "A" packet "B" : !dm
    collect time "A, B / 32" packet "B % 32"
    // expected-error @below {{TU-42: the flits packed into one packet are not the innermost 2 of time: found "A / 4, B % 32", expected "B"}}
    // expected-note @below {{at position 32, "A / 4, B % 32" is {A: 4} and "B" is {B: 32}}
    contract_outer %w time "A" packet "A / 4, B % 32" : !trf
  }
  // expected-error @below {{TU-72}}
  %r3 = visa.chain main -> !out {
    fetch %a time "A" packet "B" : !dm
    collect time "A, B / 32" packet "B % 32"
    // expected-error @below {{TU-43: time "F" of 6 steps is no multiple of the 8 packets of the stream, "A"}}
    contract_outer %w time "F" packet "B" : !trf
  }
  // expected-error @below {{TU-72}}
  %r4 = visa.chain main -> !out {
    fetch %a time "A" packet "B" : !dm
    collect time "A, B / 32" packet "B % 32"
    // expected-error @below {{TU-44: the outer part of time is not the time of the stream}}
    contract_outer %w time "T, A" packet "B" : !trf
  }
  return
}

// -----

// TU-45: the weight is read whole, in contiguous runs.
#axes = #tmap.axes<A = 8, B = 64, T = 5, R = 8>
!dm = !visa.dm<i8, slice "1 # 256", element "A, B", #axes>
!wm = !visa.dm<i8, slice "1 # 256", element "R, T, B", #axes>
!trf = !visa.trf<i8, slice "1 # 256", lane "R", element "T, B", #axes>
!out = !visa.dm<i32, slice "1 # 256", element "A, R", #axes>
func.func @weight_side() attributes {visa.kernel} {
  %a = visa.alloc : !dm
  %e = visa.alloc : !wm
  %w = visa.chain sub -> !trf {
    fetch %e time "R, T" packet "B" : !wm
    collect time "R, T, B / 32" packet "B % 32"
    to_trf lane "R" element "T, B"
  }
  // expected-error @below {{TU-72}}
  %r0 = visa.chain main -> !out {
    fetch %a time "A" packet "B" : !dm
    collect time "A, B / 32" packet "B % 32"
    // expected-error @below {{TU-45: time "A" and packet "B" leave cells of the weight unread}}
    contract_outer %w time "A" packet "B" : !trf
  }
  return
}

// -----

// TU-47 … TU-60 behind the multiplier.
#axes = #tmap.axes<A = 8, B = 64, R = 8>
!dm = !visa.dm<i8, slice "1 # 256", element "A, B", #axes>
!wm = !visa.dm<i8, slice "1 # 256", element "R, B", #axes>
!trf = !visa.trf<i8, slice "1 # 256", lane "R", element "B", #axes>
!out = !visa.dm<i32, slice "1 # 256", element "A, R", #axes>
func.func @reducers() attributes {visa.kernel} {
  %a = visa.alloc : !dm
  %e = visa.alloc : !wm
  %w = visa.chain sub -> !trf {
    fetch %e time "R" packet "B" : !wm
    collect time "R, B / 32" packet "B % 32"
    to_trf lane "R" element "B"
  }
  // expected-error @below {{TU-72}}
  %r0 = visa.chain main -> !out {
    fetch %a time "A" packet "B" : !dm
    collect time "A, B / 32" packet "B % 32"
    contract_outer %w time "A" packet "B" : !trf
    // expected-error @below {{TU-48: packet "B" has 64 columns, the reducer has 32}}
    contract_packet packet "B"
  }
  // expected-error @below {{TU-72}}
  %r1 = visa.chain main -> !out {
    fetch %a time "A" packet "B" : !dm
    collect time "A, B / 32" packet "B % 32"
    contract_outer %w time "A" packet "B" : !trf
    // expected-error @below {{TU-49: packet "1 # 3" has 3 columns, expected a power of two}}
    contract_packet packet "1 # 3"
  }
  // expected-error @below {{TU-72}}
  %r2 = visa.chain main -> !out {
    fetch %a time "A" packet "B" : !dm
    collect time "A, B / 32" packet "B % 32"
    contract_outer %w time "A" packet "B" : !trf
    // expected-error @below {{TU-50: packet is no contraction of the stream's packet "B": only its innermost cells can be summed: found "B % 4", expected "B / 16"}}
    // expected-note @below {{at position 1}}
    contract_packet packet "B % 4"
  }
  // expected-error @below {{TU-72}}
  %r3 = visa.chain main -> !out {
    fetch %a time "A" packet "B" : !dm
    collect time "A, B / 32" packet "B % 32"
    contract_outer %w time "A" packet "B" : !trf
    contract_packet packet "1"
    // expected-error @below {{TU-51}}
    contract_time time "R"
  }
  // expected-error @below {{TU-72}}
  %r4 = visa.chain main -> !out {
    fetch %a time "A" packet "B" : !dm
    collect time "A, B / 32" packet "B % 32"
    contract_outer %w time "A" packet "B" : !trf
    contract_packet packet "1"
    // expected-error @below {{TU-52: time "A % 2, A / 2" does not keep the order of the stream's time "A"}}
    contract_time time "A % 2, A / 2"
  }
  // expected-error @below {{TU-72}}
  %r5 = visa.chain main -> !out {
    fetch %a time "A" packet "B" : !dm
    collect time "A, B / 32" packet "B % 32"
    contract_outer %w time "A" packet "B" : !trf
    contract_packet packet "1"
    contract_time time "A"
    // expected-error @below {{TU-56: packet has 16 elements, the lane folder sends 8: found "R # 16", expected "R"}}
    // expected-note @below {{"R # 16" has 16 positions, "R" has 8}}
    contract_lane interleaved time "A" packet "R # 16"
  }
  // expected-error @below {{TU-72}}
  %r6 = visa.chain main -> !out {
    fetch %a time "A" packet "B" : !dm
    collect time "A, B / 32" packet "B % 32"
    contract_outer %w time "A" packet "B" : !trf
    contract_packet packet "1"
    contract_time time "A"
    // expected-error @below {{TU-57: packet is not that of mode interleaved: found "A", expected "R"}}
    // expected-note @below {{at position 1, "A" is {A: 1} and "R" is {R: 1}}
    contract_lane interleaved time "A" packet "A"
  }
  // expected-error @below {{TU-72}}
  %r7 = visa.chain main -> !out {
    fetch %a time "A" packet "B" : !dm
    collect time "A, B / 32" packet "B % 32"
    contract_outer %w time "A" packet "B" : !trf
    contract_packet packet "1"
    contract_time time "A"
    // expected-error @below {{TU-58: time is not that of mode interleaved: found "R", expected "A"}}
    // expected-note @below {{at position 1, "R" is {R: 1} and "A" is {A: 1}}
    contract_lane interleaved time "R" packet "R"
  }
  return
}

// -----

// TU-60: 8 lanes times 256 open sums exceed the accumulators (row 35).
#axes = #tmap.axes<M = 256, K = 128, R = 8>
!dm = !visa.dm<i8, slice "1 # 256", element "K / 64, M, K % 64", #axes>
!wm = !visa.dm<i8, slice "1 # 256", element "R, K", #axes>
!trf = !visa.trf<i8, slice "1 # 256", lane "R", element "K", #axes>
!out = !visa.dm<i32, slice "1 # 256", element "M, R", #axes>
func.func @accumulators() attributes {visa.kernel} {
  %a = visa.alloc : !dm
  %e = visa.alloc : !wm
  %w = visa.chain sub -> !trf {
    fetch %e time "R" packet "K" : !wm
    collect time "R, K / 32" packet "K % 32"
    to_trf lane "R" element "K"
  }
  %r = visa.chain main -> !out {
    fetch %a time "K / 64, M" packet "K % 64" : !dm
    collect time "K / 64, M, K / 32 % 2" packet "K % 32"
    contract_outer %w time "K / 64, M" packet "K % 64" : !trf
    contract_packet packet "1"
    contract_time time "M"
    // expected-error @below {{TU-60: 8 lanes times 256 time steps inside the outermost sum times 1 columns exceed the 1024 accumulator cells}}
    contract_lane interleaved time "M" packet "R"
    commit_trim packet "R"
    commit element "M, R"
  }
  return
}

// -----

// Padding inside a sum would add undefined cells.
#axes = #tmap.axes<A = 8, K = 24, R = 8>
!dm = !visa.dm<i8, slice "1 # 256", element "A, K # 32", #axes>
!wm = !visa.dm<i8, slice "1 # 256", element "R, K # 32", #axes>
!trf = !visa.trf<i8, slice "1 # 256", lane "R", element "K # 32", #axes>
!out = !visa.dm<i32, slice "1 # 256", element "A, R", #axes>
func.func @contracted_padding() attributes {visa.kernel} {
  %a = visa.alloc : !dm
  %e = visa.alloc : !wm
  %w = visa.chain sub -> !trf {
    fetch %e time "R" packet "K # 32" : !wm
    collect time "R" packet "K # 32"
    to_trf lane "R" element "K # 32"
  }
  %r = visa.chain main -> !out {
    fetch %a time "A" packet "K # 32" : !dm
    collect time "A" packet "K # 32"
    contract_outer %w time "A" packet "K # 32" : !trf
    // expected-error @below {{not yet supported: a sum over padding: axis K of size 24 is summed, and its digits in the stream reach beyond; give it 32 cells, and zeros to those behind the 24, which add nothing}}
    contract_packet packet "1"
    contract_time time "A"
    contract_lane interleaved time "A" packet "R"
    commit_trim packet "R"
    commit element "A, R"
  }
  return
}

// -----

// Release 0.3 takes no two-flit int8; every party gets a note.
#axes = #tmap.axes<A = 8, B = 64, R = 8>
!dm = !visa.dm<i8, slice "1 # 256", element "A, B", #axes>
!wm = !visa.dm<i8, slice "1 # 256", element "R, B", #axes>
!trf = !visa.trf<i8, slice "1 # 256", lane "R", element "B", #axes>
!out = !visa.dm<i32, slice "1 # 256", element "A, R", #axes>
module attributes {visa.target = #visa.target<rngd, release = "0.3", chips = 1, pes = 8>} {
  func.func @release() attributes {visa.kernel} {
    %a = visa.alloc : !dm
    %e = visa.alloc : !wm
    %w = visa.chain sub -> !trf {
      fetch %e time "R" packet "B" : !wm
      // expected-note @below {{the weight gets its element type here}}
      fetch_cast to i8
      collect time "R, B / 32" packet "B % 32"
      // expected-note @below {{the weight is stored here}}
      to_trf lane "R" element "B"
    }
    %r = visa.chain main -> !out {
      fetch %a time "A" packet "B" : !dm
      // expected-note @below {{the stream gets its element type here}}
      fetch_cast to i8
      collect time "A, B / 32" packet "B % 32"
      // expected-error @below {{release 0.3: the feed buffer does not take RawInt8 with Flit2}}
      contract_outer %w time "A" packet "B" : !trf
      contract_packet packet "1"
      contract_time time "A"
      contract_lane interleaved time "A" packet "R"
      commit_trim packet "R"
      commit element "A, R"
    }
    return
  }
}

// -----

// K is cut raggedly: neither digit is padded by itself, together they are.
#axes = #tmap.axes<A = 8, K = 80, R = 8>
!dm = !visa.dm<i8, slice "1 # 256", element "A, K # 96", #axes>
!wm = !visa.dm<i8, slice "1 # 256", element "R, K # 96", #axes>
!trf = !visa.trf<i8, slice "1 # 256", lane "R", element "K # 96", #axes>
!out = !visa.dm<i32, slice "1 # 256", element "A, R", #axes>
func.func @ragged_padding() attributes {visa.kernel} {
  %a = visa.alloc : !dm
  %e = visa.alloc : !wm
  %w = visa.chain sub -> !trf {
    fetch %e time "R" packet "K # 96" : !wm
    collect time "R, K # 96 / 32" packet "K # 96 % 32"
    to_trf lane "R" element "K # 96"
  }
  %r = visa.chain main -> !out {
    fetch %a time "A" packet "K # 96" : !dm
    collect time "A, K # 96 / 32" packet "K # 96 % 32"
    contract_outer %w time "A, K # 96 / 32" packet "K # 96 % 32" : !trf
    // expected-error @below {{not yet supported: a sum over padding: axis K of size 80 is summed, and its digits in the stream reach beyond; give it 96 cells, and zeros to those behind the 80, which add nothing}}
    contract_packet packet "1"
    contract_time time "A"
    contract_lane interleaved time "A" packet "R"
    commit_trim packet "R"
    commit element "A, R"
  }
  return
}

// -----

// TU-53: no padding is added to time. TU-54: kept axes keep theirs.
#axes = #tmap.axes<A = 8, B = 3, E = 32, R = 8>
!dm = !visa.dm<i8, slice "1 # 256", element "A, B # 4, E", #axes>
!wdm = !visa.dm<i8, slice "1 # 256", element "R, E", #axes>
!trf = !visa.trf<i8, slice "1 # 256", lane "R", element "E", #axes>
!out = !visa.dm<i32, slice "1 # 256", element "A, B # 4, R", #axes>
func.func @extents() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %wd = visa.alloc : !wdm
  %w = visa.chain sub -> !trf {
    fetch %wd time "R" packet "E" : !wdm
    collect time "R" packet "E"
    to_trf lane "R" element "E"
  }
  %r0 = visa.chain main -> !out {
    fetch %d time "A, B # 4" packet "E" : !dm
    collect time "A, B # 4" packet "E"
    contract_outer %w time "A, B # 4" packet "E" : !trf
    contract_packet packet "1"
    // expected-error @below {{TU-53: the kept axes do not have the extents of the stream: found "A, B # 8", expected "A, B # 4"; write time "A, B # 4"}}
    // expected-note @below {{"A, B # 8" has 64 positions, "A, B # 4" has 32}}
    contract_time time "A, B # 8"
    contract_lane interleaved time "A, B # 4" packet "R"
    commit_trim packet "R"
    commit element "A, B # 4, R"
  }
  %r1 = visa.chain main -> !out {
    fetch %d time "A, B # 4" packet "E" : !dm
    collect time "A, B # 4" packet "E"
    contract_outer %w time "A, B # 4" packet "E" : !trf
    contract_packet packet "1"
    // expected-error @below {{TU-54: the kept axes do not have the extents of the stream: found "A, B", expected "A, B # 4"; write time "A, B # 4"}}
    // expected-note @below {{"A, B" has 24 positions, "A, B # 4" has 32}}
    contract_time time "A, B"
    contract_lane interleaved time "A, B # 4" packet "R"
    commit_trim packet "R"
    commit element "A, B # 4, R"
  }
  return
}
