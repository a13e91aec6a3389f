// Rules of the switch; I1 … I36 are rows of the kernel corpus.
// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

// TU-3: words of 8 bytes. TU-11: all slices. Structure: numbers of a
// configuration.
#axes = #tmap.axes<A = 8, B = 4, C = 256>
!dm = !visa.dm<i8, slice "C", element "A, B", #axes>
!out = !visa.dm<i8, slice "C", element "A, B # 8", #axes>
func.func @structure() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %r0 = visa.chain main -> !out {
    fetch %d time "A" packet "B" : !dm
    // expected-error @below {{TU-3: packet "B" is 4 bytes, the switch moves words of 8; pad the fetch packet}}
    switch forwarding [] slice "C" time "A"
    collect time "A" packet "B # 32"
    commit_trim packet "B # 8"
    commit element "A, B # 8"
  }
  // expected-error @below {{TU-72}}
  %r1 = visa.chain main -> !out {
    fetch %d time "A" packet "B # 8" : !dm
    // expected-error @below {{TU-11: slice "C / 2" has 128 positions, the stream has 256}}
    switch forwarding [] slice "C / 2" time "A"
  }
  return
}

// -----

#axes = #tmap.axes<A = 8, C = 256>
!dm = !visa.dm<i8, slice "C", element "A", #axes>
func.func @numbers(%d: !dm) {
  %r = visa.chain main -> !dm {
    fetch %d time "1" packet "A" : !dm
    // expected-error @below {{broadcast1 has 2 numbers, found 3}}
    switch broadcast1 [4, 4, 1] slice "C" time "1"
  }
  return
}

// -----

// TU-12 … TU-15: the numbers (I1, I2, I19).
#axes = #tmap.axes<A = 8, B = 32, C = 256, D = 64>
!dm = !visa.dm<i8, slice "C", element "A, B", #axes>
!out = !visa.dm<i8, slice "C / 4, D % 4", element "A, C % 4, B", #axes>
func.func @sizes() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  // expected-error @below {{TU-72}}
  %r0 = visa.chain main -> !out {
    fetch %d time "A" packet "B" : !dm
    // expected-error @below {{TU-12: slice1 is 0, expected at least 1}}
    switch broadcast1 [0, 64] slice "C / 4, D % 4" time "A, C % 4"
  }
  // expected-error @below {{TU-72}}
  %r1 = visa.chain main -> !out {
    fetch %d time "A" packet "B" : !dm
    // expected-error @below {{TU-13: slice1 is 3, expected a power of two}}
    switch broadcast1 [3, 64] slice "C / 4, D % 4" time "A, C % 4"
  }
  // expected-error @below {{TU-72}}
  %r2 = visa.chain main -> !out {
    fetch %d time "A" packet "B" : !dm
    // expected-error @below {{TU-14: slice1 8 times slice0 64 does not divide the 256 slices}}
    switch broadcast1 [8, 64] slice "C / 4, D % 4" time "A, C % 4"
  }
  // expected-error @below {{TU-72}}
  %r3 = visa.chain main -> !out {
    fetch %d time "A" packet "B" : !dm
    // expected-error @below {{TU-15: slice1 times time0, 12, do not divide the 8 steps of time "A"}}
    switch inter_transpose [4, 64, 3] slice "A, C % 32" time "C / 32 % 8"
  }
  // expected-error @below {{TU-72}}
  %r4 = visa.chain main -> !out {
    fetch %d time "A" packet "B" : !dm
    // expected-error @below {{TU-15: time0 3 does not divide the 8 steps of time "A"}}
    switch broadcast01 [2, 2, 3] slice "C / 4, D % 4" time "A, C % 4"
  }
  return
}

// -----

// TU-16, TU-17: slices and time of the configuration (I5, I6, I9, I14, I16).
#axes = #tmap.axes<A = 8, B = 32, C = 256, D = 64, E = 1024>
!dm = !visa.dm<i8, slice "C", element "A, B", #axes>
!out = !visa.dm<i8, slice "1 # 4, C % 64", element "A, C / 64, B", #axes>
!turned = !visa.dm<i8, slice "C / 64, C % 2, C / 2 % 32", element "A, B", #axes>
!both = !visa.dm<i8, slice "C / 4, D % 4", element "A / 2, C / 2 % 2, A % 2, C % 2, B", #axes>
func.func @forms() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %r0 = visa.chain main -> !out {
    fetch %d time "A" packet "B" : !dm
    // expected-error @below {{TU-16: the new slices are not those of broadcast1: found "1 # 4, D % 64", expected "C % 64 # 256"; write slice "C % 64 # 256"}}
    // expected-note @below {{at position 1, "1 # 4, D % 64" is {D: 1} and "C % 64 # 256" is {C: 1}}
    switch broadcast1 [4, 64] slice "1 # 4, D % 64" time "A, C / 64"
    collect time "A, C / 64" packet "B"
    commit_trim packet "B"
    commit element "A, C / 64, B"
  }
  %r1 = visa.chain main -> !out {
    fetch %d time "A" packet "B" : !dm
    // expected-error @below {{TU-16: time is not that of broadcast1: found "A, E % 4", expected "A, C / 64"; write time "A, C / 64"}}
    // expected-note @below {{at position 1, "A, E % 4" is {E: 1} and "A, C / 64" is {C: 64}}
    switch broadcast1 [4, 64] slice "1 # 4, C % 64" time "A, E % 4"
    collect time "A, C / 64" packet "B"
    commit_trim packet "B"
    commit element "A, C / 64, B"
  }
  %r2 = visa.chain main -> !both {
    fetch %d time "A" packet "B" : !dm
    // expected-error @below {{TU-16: time is not that of broadcast01: found "A, C / 2 % 2, C % 2", expected "A / 2, C / 2 % 2, A % 2, C % 2"}}
    // expected-note @below {{at position 2, "A, C / 2 % 2, C % 2" is {C: 2} and "A / 2, C / 2 % 2, A % 2, C % 2" is {A: 1}}
    switch broadcast01 [2, 2, 2] slice "C / 4, D % 4" time "A, C / 2 % 2, C % 2"
    collect time "A / 2, C / 2 % 2, A % 2, C % 2" packet "B"
    commit_trim packet "B"
    commit element "A / 2, C / 2 % 2, A % 2, C % 2, B"
  }
  %r3 = visa.chain main -> !turned {
    fetch %d time "A" packet "B" : !dm
    // expected-error @below {{TU-17: time is not that of transpose: found "D", expected "A"}}
    // expected-note @below {{"D" has 64 positions, "A" has 8}}
    switch transpose [32, 2] slice "C / 64, C % 2, C / 2 % 32" time "D"
    collect time "A" packet "B"
    commit_trim packet "B"
    commit element "A, B"
  }
  %r4 = visa.chain main -> !turned {
    fetch %d time "A" packet "B" : !dm
    // expected-error @below {{TU-16: the new slices are not those of transpose}}
    // expected-note @below {{at position 1, "C % 64, C / 64" is {C: 64} and "C / 64, C % 2, C / 2 % 32" is {C: 2}}
    switch transpose [32, 2] slice "C % 64, C / 64" time "A"
    collect time "A" packet "B"
    commit_trim packet "B"
    commit element "A, B"
  }
  return
}

// -----

// TU-19: a tile is new (I4, I12).
#axes = #tmap.axes<A = 8, B = 32, C = 256>
!dm = !visa.dm<i8, slice "C", element "A, B", #axes>
!out = !visa.dm<i8, slice "C / 64, C % 64", element "A, C / 64, B", #axes>
!time = !visa.dm<i8, slice "C / 4, A % 4", element "A, C / 2 % 2, C % 2, B", #axes>
func.func @tiles() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  // expected-error @below {{MA-15}}
  %r0 = visa.chain main -> !out {
    fetch %d time "A" packet "B" : !dm
    // expected-error @below {{TU-19: the tile "C / 64" is carried by the stream's slices "C" already; broadcast over a new axis, or "1 # 4"}}
    switch broadcast1 [4, 64] slice "C / 64, C % 64" time "A, C / 64"
    collect time "A, C / 64" packet "B"
    commit_trim packet "B"
    commit element "A, C / 64, B"
  }
  // expected-error @below {{MA-15}}
  %r1 = visa.chain main -> !time {
    fetch %d time "A" packet "B" : !dm
    // expected-error @below {{TU-19: the tile "A % 4" is carried by the stream's time "A" already}}
    switch broadcast01 [2, 2, 1] slice "C / 4, A % 4" time "A, C / 2 % 2, C % 2"
    collect time "A, C / 2 % 2, C % 2" packet "B"
    commit_trim packet "B"
    commit element "A, C / 2 % 2, C % 2, B"
  }
  return
}

// -----

// TU-20: one tile a digit.
#axes = #tmap.axes<A = 16, B = 16, C = 8, E = 32, V = 4, W = 3, X = 4, Y = 2, Z = 2>
!dm = !visa.dm<i8, slice "A, B", element "C, E", #axes>
!out = !visa.dm<i8, slice "A, B", element "C, E", #axes>
func.func @custom() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  // expected-error @below {{TU-72}}
  %r = visa.chain main -> !out {
    fetch %d time "C" packet "E" : !dm
    // expected-error @below {{TU-20: two tiles claim the same digit of axis X}}
    switch custom_broadcast [4] slice "A, B / 4, X % 2, X % 2" time "C, B % 4"
  }
  return
}

// -----

// TU-21: a named tile is all live.
#axes = #tmap.axes<A = 16, B = 16, C = 8, E = 32, V = 4, W = 3, X = 4, Y = 2, Z = 2>
!dm = !visa.dm<i8, slice "A, B", element "C, E", #axes>
!out = !visa.dm<i8, slice "A, B", element "C, E", #axes>
func.func @custom() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  // expected-error @below {{TU-72}}
  %r = visa.chain main -> !out {
    fetch %d time "C" packet "E" : !dm
    // expected-error @below {{TU-21: the tile of axis W has padding of its own; give it 3 cells, or write padding alone}}
    switch custom_broadcast [4] slice "A, B / 4, W # 4" time "C, B % 4"
  }
  return
}

// -----

// TU-22: slices do not come from time.
#axes = #tmap.axes<A = 16, B = 16, C = 8, E = 32, V = 4, W = 3, X = 4, Y = 2, Z = 2>
!dm = !visa.dm<i8, slice "A, B", element "C, E", #axes>
!out = !visa.dm<i8, slice "A, B", element "C, E", #axes>
func.func @custom() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  // expected-error @below {{TU-72}}
  %r = visa.chain main -> !out {
    fetch %d time "C" packet "E" : !dm
    // expected-error @below {{TU-22: axis C of the new slices comes from time "C"; slices hold axes of the stream's slices "A, B" and tiles}}
    switch custom_broadcast [4] slice "A, B / 4, C % 4" time "C, B % 4"
  }
  return
}

// -----

// TU-23: what is moved stands inside the time of the stream (I34).
#axes = #tmap.axes<A = 16, B = 16, C = 8, E = 32, V = 4, W = 3, X = 4, Y = 2, Z = 2>
!dm = !visa.dm<i8, slice "A, B", element "C, E", #axes>
!out = !visa.dm<i8, slice "A, B", element "C, E", #axes>
func.func @custom() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  // expected-error @below {{TU-72}}
  %r = visa.chain main -> !out {
    fetch %d time "C" packet "E" : !dm
    // expected-error @below {{TU-23: the outer part of time is not that of the stream: found "B % 4, C", expected}}
    // expected-note @below {{at position 4, "B % 4, C" is {C: 4} and "C, C % 4" is {C: 1}}
    switch custom_broadcast [4] slice "A, B / 4, X" time "B % 4, C"
  }
  return
}

// -----

// TU-23: time grows by axes of the slices only.
#axes = #tmap.axes<A = 16, B = 16, C = 8, E = 32, V = 4, W = 3, X = 4, Y = 2, Z = 2>
!dm = !visa.dm<i8, slice "A, B", element "C, E", #axes>
!out = !visa.dm<i8, slice "A, B", element "C, E", #axes>
func.func @custom() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  // expected-error @below {{TU-72}}
  %r = visa.chain main -> !out {
    fetch %d time "C" packet "E" : !dm
    // expected-error @below {{TU-23: axis V of time comes neither from the stream's time nor from its slices}}
    switch custom_broadcast [4] slice "A, B / 4, X" time "C, V"
  }
  return
}

// -----

// TU-24: moved axes keep their order.
#axes = #tmap.axes<A = 16, B = 16, C = 8, E = 32, V = 4, W = 3, X = 4, Y = 2, Z = 2>
!dm = !visa.dm<i8, slice "A, B", element "C, E", #axes>
!out = !visa.dm<i8, slice "A, B", element "C, E", #axes>
func.func @custom() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  // expected-error @below {{TU-72}}
  %r = visa.chain main -> !out {
    fetch %d time "C" packet "E" : !dm
    // expected-error @below {{TU-24: the axes "B % 2, B / 2 % 2" moved into time have strides 1 and 2 in the stream's slices "A, B"; keep their order}}
    switch custom_broadcast [4] slice "A, B / 4, X" time "C, B % 2, B / 2 % 2"
  }
  return
}

// -----

// TU-25: live cells are not dropped (I30).
#axes = #tmap.axes<A = 16, B = 16, C = 8, E = 32, V = 4, W = 3, X = 4, Y = 2, Z = 2>
!dm = !visa.dm<i8, slice "A, B", element "C, E", #axes>
!out = !visa.dm<i8, slice "A, B", element "C, E", #axes>
func.func @custom() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  // expected-error @below {{TU-72}}
  %r = visa.chain main -> !out {
    fetch %d time "C" packet "E" : !dm
    // expected-error @below {{TU-25: slices of the stream are read by no new slice}}
    switch custom_broadcast [4] slice "A, B / 4, X" time "C, B % 4 = 3"
  }
  return
}

// -----

// TU-25: what a tile replaces is moved whole (I28).
#axes = #tmap.axes<A = 16, B = 16, C = 8, E = 32, V = 4, W = 3, X = 4, Y = 2, Z = 2>
!dm = !visa.dm<i8, slice "A, B", element "C, E", #axes>
!out = !visa.dm<i8, slice "A, B", element "C, E", #axes>
func.func @custom() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  // expected-error @below {{TU-72}}
  %r = visa.chain main -> !out {
    fetch %d time "C" packet "E" : !dm
    // expected-error @below {{TU-25: slices of the stream are read by no new slice}}
    switch custom_broadcast [32] slice "A / 2, Y, B / 2, Z" time "C, B % 2"
  }
  return
}

// -----

// TU-26: the ring follows from the mappings (I36).
#axes = #tmap.axes<A = 16, B = 16, C = 8, E = 32, V = 4, W = 3, X = 4, Y = 2, Z = 2>
!dm = !visa.dm<i8, slice "A, B", element "C, E", #axes>
!out = !visa.dm<i8, slice "A, B", element "C, E", #axes>
func.func @custom() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  // expected-error @below {{TU-72}}
  %r = visa.chain main -> !out {
    fetch %d time "C" packet "E" : !dm
    // expected-error @below {{TU-26: a ring of 8 slices, the mappings need 4; write custom_broadcast [4]}}
    switch custom_broadcast [8] slice "A, B / 4, X" time "C, B % 4"
  }
  return
}

// -----

// TU-26: two axes broadcast within 32 slices.
#axes = #tmap.axes<A = 16, B = 16, C = 8, E = 32, V = 4, W = 3, X = 4, Y = 2, Z = 2>
!dm = !visa.dm<i8, slice "A, B", element "C, E", #axes>
!out = !visa.dm<i8, slice "A, B", element "C, E", #axes>
func.func @custom() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  // expected-error @below {{TU-72}}
  %r = visa.chain main -> !out {
    fetch %d time "C" packet "E" : !dm
    // expected-error @below {{TU-26: a ring of 256 slices, the mappings need 32}}
    switch custom_broadcast [256] slice "A / 2, Y, B / 2, Z" time "C, A % 2, B % 2"
  }
  return
}

// -----

// TU-21: padding that reads zero stays where it is.
#axes = #tmap.axes<P = 64, C = 8, E = 32, Y = 4>
!dm = !visa.dm<i8, slice "P, 1 #{0} 4", element "C, E", #axes>
!out = !visa.dm<i8, slice "P, Y", element "C, E", #axes>
func.func @zero_hole() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  // expected-error @below {{TU-72}}
  %r = visa.chain main -> !out {
    fetch %d time "C" packet "E" : !dm
    // expected-error @below {{TU-21: padding of the stream's slices "P, 1 #{0} 4" that reads zero or must not be written is taken for a tile}}
    switch custom_broadcast [4] slice "P, Y" time "C"
  }
  return
}
