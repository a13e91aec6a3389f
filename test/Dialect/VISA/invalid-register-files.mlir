// Rules of register file stores.
// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

// TU-30: one, two, four or eight lanes.
#axes = #tmap.axes<A = 16, B = 32>
!dm = !visa.dm<i8, slice "1 # 256", element "A, B", #axes>
!trf = !visa.trf<i8, slice "1 # 256", lane "A", element "B", #axes>
func.func @sixteen_lanes() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %w = visa.chain sub -> !trf {
    fetch %d time "A" packet "B" : !dm
    collect time "A" packet "B"
    // expected-error @below {{TU-30: lane "A" has 16 positions, expected 1, 2, 4 or 8}}
    to_trf lane "A" element "B"
  }
  return
}

// -----

// TU-31: 64 KiB a slice.
#axes = #tmap.axes<A = 8, B = 128, C = 128>
!dm = !visa.dm<i8, slice "1 # 256", element "A, B, C", #axes>
!trf = !visa.trf<i8, slice "1 # 256", lane "A", element "B, C", #axes>
func.func @too_large() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %w = visa.chain sub -> !trf {
    fetch %d time "A, B" packet "C" : !dm
    collect time "A, B, C / 32" packet "C % 32"
    // expected-error @below {{TU-31: 8 lanes of 16384 elements of i8 need 131072 bytes, the register file of a slice has 65536}}
    to_trf lane "A" element "B, C"
  }
  return
}

// -----

// TU-32: lanes divide time.
#axes = #tmap.axes<F = 6, B = 32, R = 4>
!dm = !visa.dm<i8, slice "1 # 256", element "F, B", #axes>
!trf = !visa.trf<i8, slice "1 # 256", lane "R", element "B", #axes>
func.func @lanes_do_not_divide() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %w = visa.chain sub -> !trf {
    fetch %d time "F" packet "B" : !dm
    collect time "F" packet "B"
    // expected-error @below {{TU-32: 4 lanes do not divide time "F" of 6 steps}}
    to_trf lane "R" element "B"
  }
  return
}

// -----

// TU-33: lanes are the outer part of time, not another axis of that size.
#axes = #tmap.axes<A = 8, B = 64, E = 32>
!dm = !visa.dm<i8, slice "1 # 256", element "A, B", #axes>
!trf = !visa.trf<i8, slice "1 # 256", lane "E / 4", element "B", #axes>
func.func @lane_of_other_axis() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %w = visa.chain sub -> !trf {
    fetch %d time "A" packet "B" : !dm
    collect time "A, B / 32" packet "B % 32"
    // expected-error @below {{TU-33: lane is not the outer part of time: found "E / 4", expected "A"}}
    // expected-note @below {{at position 1, "E / 4" is {E: 4} and "A" is {A: 1}}
    to_trf lane "E / 4" element "B"
  }
  return
}

// -----

// TU-34: element is what is left.
#axes = #tmap.axes<A = 8, B = 64, C = 64>
!dm = !visa.dm<i8, slice "1 # 256", element "A, B", #axes>
!trf = !visa.trf<i8, slice "1 # 256", lane "A", element "C", #axes>
func.func @element_of_other_axis() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %w = visa.chain sub -> !trf {
    fetch %d time "A" packet "B" : !dm
    collect time "A, B / 32" packet "B % 32"
    // expected-error @below {{TU-34: element is not the rest of time with the packet: found "C", expected "B"}}
    // expected-note @below {{at position 1, "C" is {C: 1} and "B" is {B: 1}}
    to_trf lane "A" element "C"
  }
  return
}

// -----

// TU-35: the VRF holds 32-bit elements.
#axes = #tmap.axes<A = 32>
!dm = !visa.dm<i8, slice "1 # 256", element "A", #axes>
!vrf = !visa.vrf<i8, slice "1 # 256", element "A", #axes>
func.func @narrow_vrf() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %w = visa.chain sub -> !vrf {
    fetch %d time "1" packet "A" : !dm
    collect time "1" packet "A"
    // expected-error @below {{TU-35: the VRF holds i32 and f32, found i8; widen it with fetch_cast}}
    to_vrf element "A"
  }
  return
}

// -----

// TU-35: 8 KiB a slice.
#axes = #tmap.axes<A = 4096>
!dm = !visa.dm<i32, slice "1 # 256", element "A", #axes>
!vrf = !visa.vrf<i32, slice "1 # 256", element "A", #axes>
func.func @large_vrf() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %w = visa.chain sub -> !vrf {
    fetch %d time "1" packet "A" : !dm
    collect time "A / 8" packet "A % 8"
    // expected-error @below {{TU-35: element "A" needs 16384 bytes a slice, the vector register file has 8192}}
    to_vrf element "A"
  }
  return
}

// -----

// The result type is that of the stage.
#axes = #tmap.axes<A = 8, B = 32>
!dm = !visa.dm<i8, slice "1 # 256", element "A, B", #axes>
!trf = !visa.trf<i8, slice "1 # 256", lane "1", element "A, B", #axes>
func.func @result_mismatch() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  // expected-note @below {{result type is written here}}
  %w = visa.chain sub -> !trf {
    fetch %d time "A" packet "B" : !dm
    collect time "A" packet "B"
    // expected-error @below {{TU-77: element of the chain's result does not match the stage: found "A, B", expected "B"}}
    // expected-error @below {{TU-77: lane of the chain's result does not match the stage: found "1", expected "A"}}
    to_trf lane "A" element "B"
  }
  return
}

// -----

// TU-33, TU-35: the tier of the result is that of the last stage.
#axes = #tmap.axes<A = 8>
!dm = !visa.dm<i32, slice "1 # 256", element "A", #axes>
!vrf = !visa.vrf<i32, slice "1 # 256", element "A", #axes>
!trf = !visa.trf<i32, slice "1 # 256", lane "1", element "A", #axes>
func.func @wrong_tier() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %w = visa.chain sub -> !vrf {
    fetch %d time "1" packet "A" : !dm
    collect time "1" packet "A"
    // expected-error @below {{TU-33: the chain ends in the TRF, but its result is}}
    to_trf lane "1" element "A"
  }
  %v = visa.chain sub -> !trf {
    fetch %d time "1" packet "A" : !dm
    collect time "1" packet "A"
    // expected-error @below {{TU-35: the chain ends in the VRF, but its result is}}
    to_vrf element "A"
  }
  return
}
