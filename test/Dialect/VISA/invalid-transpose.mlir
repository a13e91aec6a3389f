// Rules of the transpose engine.
// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

// TU-66: flits in and out. TU-67: only the first cells of a flit count.
#axes = #tmap.axes<B = 2, C = 8, D = 2, E = 8>
!dm = !visa.dm<i8, slice "1 # 256", element "B, C, D, E", #axes>
!out = !visa.dm<i8, slice "1 # 256", element "B, D, E, C", #axes>
func.func @flits() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  // expected-error @below {{TU-72}}
  %r0 = visa.chain main -> !out {
    fetch %d time "B, C, D" packet "E" : !dm
    collect time "B, C, D" packet "E # 32"
    // expected-error @below {{TU-66: packet "C" has 8 elements, a flit holds 32 of i8}}
    transpose time "B, D, E" packet "C"
  }
  // expected-error @below {{TU-72}}
  %r1 = visa.chain main -> !out {
    fetch %d time "B, C" packet "D, E" : !dm
    collect time "B, C" packet "[D, E] # 32"
    // expected-error @below {{TU-67: the stream's packet "[D, E] # 32" has data behind its first 8 cells, which are all that the engine takes; collect narrower packets, padded to 32}}
    transpose time "B, D, E" packet "C # 32"
  }
  return
}

// -----

// TU-68: a column of i8 has at most 8 rows.
#axes = #tmap.axes<C = 16, E = 8>
!dm = !visa.dm<i8, slice "1 # 256", element "C, E", #axes>
!out = !visa.dm<i8, slice "1 # 256", element "E, C", #axes>
func.func @rows() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  // expected-error @below {{TU-72}}
  %r = visa.chain main -> !out {
    fetch %d time "C" packet "E" : !dm
    collect time "C" packet "E # 32"
    // expected-error @below {{TU-68: packet "C # 32" has data behind its first 8 cells, one for each row of i8}}
    transpose time "E" packet "C # 32"
  }
  return
}

// -----

// TU-70: the rows are the innermost axes of time, or stand outside the flits of
// a row. TU-69: a batch leaves as at most its columns, in their order.
#axes = #tmap.axes<B = 2, C = 8, D = 2, E = 8>
!dm = !visa.dm<i8, slice "1 # 256", element "B, C, D, E", #axes>
!out = !visa.dm<i8, slice "1 # 256", element "B, D, E, C", #axes>
func.func @shapes() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  // expected-error @below {{TU-72}}
  %r0 = visa.chain main -> !out {
    fetch %d time "B, C, D" packet "E" : !dm
    collect time "B, C, D" packet "E # 32"
    // expected-error @below {{TU-70: the rows of packet "B # 32" are not found in time "B, C, D"}}
    transpose time "C, D, E" packet "B # 32"
  }
  %r1 = visa.chain main -> !out {
    fetch %d time "B, C, D" packet "E" : !dm
    collect time "B, C, D" packet "E # 32"
    // expected-error @below {{TU-69: time is not the batches with at most the 16 columns of a row: found "B, E, D", expected "B, D, E"; write time "B, D, E"}}
    // expected-note @below {{at position 1, "B, E, D" is {D: 1} and "B, D, E" is {E: 1}}
    transpose time "B, E, D" packet "C # 32"
    commit_trim packet "C"
    commit element "B, D, E, C"
  }
  return
}

// -----

// Where it stands.
#axes = #tmap.axes<A = 4, B = 8>
!dm = !visa.dm<i8, slice "1 # 256", element "A, B", #axes>
!out = !visa.dm<i8, slice "1 # 256", element "B, A # 8", #axes>
func.func @order() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %r0 = visa.chain main -> !out {
    fetch %d time "A" packet "B" : !dm
    collect time "A" packet "B # 32"
    commit_trim packet "B # 32"
    // expected-error @below {{TU-65: this stage may not follow commit_trim; it may follow collect or contract_lane or vector_final or cast}}
    transpose time "B" packet "A # 32"
    // expected-error @below {{TU-72: this stage may not follow transpose}}
    commit element "B, A # 32"
  }
  return
}
