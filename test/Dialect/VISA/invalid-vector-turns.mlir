// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

// VE-48: the counter of a group's flits has eight bits.
#axes = #tmap.axes<N = 256, I = 2, T = 256, A = 8>
!h = !visa.hbm<i32, element "N, I, T, A", #axes>
!g = !visa.hbm<i32, element "N, T, A", #axes>
!d = !visa.dm<i32, slice "N", element "I, T, A", #axes>
!o = !visa.dm<i32, slice "N", element "T, A", #axes>
func.func @one_too_many(%h: !h) -> !g attributes {visa.kernel} {
  %d = visa.to_dm %h : !h -> !d
  %r = visa.chain main -> !o {
    fetch %d time "I, T" packet "A" : !d
    collect time "I, T" packet "A"
    vector_init
    // expected-error @below {{VE-48: the groups take turns of 256 flits, and 255 are counted; put the axis of the groups further inside time}}
    vector_unzip axis "I" time "T"
    vector_zip clip add
    vector_final
    commit_trim packet "A"
    commit element "T, A"
  }
  %g = visa.to_hbm %r : !o -> !g
  return %g : !g
}

// -----

// The way out: turns of two flits.
#axes = #tmap.axes<N = 256, I = 2, T = 256, A = 8>
!h = !visa.hbm<i32, element "N, I, T, A", #axes>
!g = !visa.hbm<i32, element "N, T, A", #axes>
!d = !visa.dm<i32, slice "N", element "I, T, A", #axes>
!o = !visa.dm<i32, slice "N", element "T, A", #axes>
func.func @further_inside(%h: !h) -> !g attributes {visa.kernel} {
  %d = visa.to_dm %h : !h -> !d
  %r = visa.chain main -> !o {
    fetch %d time "T / 2, I, T % 2" packet "A" : !d
    collect time "T / 2, I, T % 2" packet "A"
    vector_init
    vector_unzip axis "I" time "T"
    vector_zip clip add
    vector_final
    commit_trim packet "A"
    commit element "T, A"
  }
  %g = visa.to_hbm %r : !o -> !g
  return %g : !g
}

// -----

// As many as are counted.
#axes = #tmap.axes<N = 256, I = 2, T = 255, A = 8>
!h = !visa.hbm<i32, element "N, I, T, A", #axes>
!g = !visa.hbm<i32, element "N, T, A", #axes>
!d = !visa.dm<i32, slice "N", element "I, T, A", #axes>
!o = !visa.dm<i32, slice "N", element "T, A", #axes>
func.func @just_enough(%h: !h) -> !g attributes {visa.kernel} {
  %d = visa.to_dm %h : !h -> !d
  %r = visa.chain main -> !o {
    fetch %d time "I, T" packet "A" : !d
    collect time "I, T" packet "A"
    vector_init
    vector_unzip axis "I" time "T"
    vector_zip clip add
    vector_final
    commit_trim packet "A"
    commit element "T, A"
  }
  %g = visa.to_hbm %r : !o -> !g
  return %g : !g
}
