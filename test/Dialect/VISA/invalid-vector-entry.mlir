// What may not enter the vector engine, nor be trimmed.
// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

// VE-67: i9 ends in a contraction.
#axes = #tmap.axes<A = 32>
!dm = !visa.dm<i8, slice "1 # 256", element "A", #axes>
!out = !visa.dm<i32, slice "1 # 256", element "A", #axes>
func.func @staging() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %r = visa.chain main -> !out {
    fetch %d time "1" packet "A" : !dm
    zero_point_sub 3
    collect time "1" packet "A"
    // expected-error @below {{VE-67: i9 lives between fetch and contraction only; widen to i32 with fetch_cast instead of zero_point_sub}}
    // expected-error @below {{VE-3}}
    vector_init
    vector_tag zero
    vector_final
    // expected-error @below {{TU-78}}
    commit_trim packet "A"
    commit element "A"
  }
  return
}

// -----

// VE-20: trim takes a flit.
#axes = #tmap.axes<A = 4>
!dm = !visa.dm<f32, slice "1 # 256", element "A # 8", #axes>
func.func @trim_twice() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %r = visa.chain main -> !dm {
    fetch %d time "1" packet "A # 8" : !dm
    collect time "1" packet "A # 8"
    vector_init
    vector_tag zero
    // expected-note @below {{it stands here}}
    vector_narrow trim packet "A"
    // expected-error @below {{VE-7: vector_narrow stands once}}
    // expected-error @below {{VE-20: packet "A" has 4 elements, expected a flit of eight}}
    vector_narrow trim packet "A"
    vector_widen pad packet "A # 8"
    vector_final
    commit_trim packet "A # 8"
    commit element "A # 8"
  }
  return
}
