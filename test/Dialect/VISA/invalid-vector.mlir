// Rules of the vector engine and of the cast engine.
// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

// VE-2, VE-3: 32-bit elements, eight a flit.
#axes = #tmap.axes<A = 32>
!dm = !visa.dm<i8, slice "1 # 256", element "A", #axes>
func.func @entry() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %r = visa.chain main -> !dm {
    fetch %d time "1" packet "A" : !dm
    collect time "1" packet "A"
    // expected-error @below {{VE-2: the stream is i8, the vector engine takes i32 and f32; widen it with fetch_cast}}
    // expected-error @below {{VE-3: packet "A" has 32 elements, a flit has eight 32-bit lanes}}
    vector_init
    vector_tag zero
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  return
}

// -----

// VE-1, VE-6: the order of the stages.
#axes = #tmap.axes<A = 8>
!dm = !visa.dm<i32, slice "1 # 256", element "A", #axes>
func.func @order() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %r = visa.chain main -> !dm {
    fetch %d time "1" packet "A" : !dm
    // expected-error @below {{VE-1: this stage may not follow fetch; it may follow collect or contract_lane}}
    vector_init
    // expected-error @below {{VE-6: elements have no execution ids yet; write vector_tag zero before this stage}}
    // expected-note @below {{it stands here}}
    vector_fxp add [imm 1]
    // expected-error @below {{VE-6: vector_tag lies before vector_fxp, which the stream has passed; the order is fixed, split the chain into two}}
    vector_tag zero
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  return
}

// -----

// VE-8: an ALU runs once. VE-13: fixed point is i32. VE-24, VE-29, VE-68.
#axes = #tmap.axes<A = 8>
!dm = !visa.dm<i32, slice "1 # 256", element "A", #axes>
!fm = !visa.dm<f32, slice "1 # 256", element "A", #axes>
func.func @operations() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %f = visa.alloc : !fm
  %r0 = visa.chain main -> !dm {
    fetch %d time "1" packet "A" : !dm
    collect time "1" packet "A"
    vector_init
    vector_tag zero
    // expected-note @below {{it is taken here}}
    vector_fxp add [imm 1]
    vector_fxp mul_int [imm 3]
    // expected-error @below {{VE-8: ALU fxp_add is already taken; split the chain into two}}
    vector_fxp sub [imm 1]
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  %r1 = visa.chain main -> !fm {
    fetch %f time "1" packet "A" : !fm
    collect time "1" packet "A"
    vector_init
    vector_tag zero
    // expected-error @below {{VE-13: the stream is f32, add takes i32; convert the values, or take the bits as they are with vector_reinterpret}}
    vector_fxp add [imm 1]
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  %r2 = visa.chain main -> !dm {
    fetch %d time "1" packet "A" : !dm
    collect time "1" packet "A"
    vector_init
    vector_tag zero
    // expected-error @below {{VE-29: slot 1 stands behind slot 0, which takes all elements; put it first or guard that one}}
    vector_fxp add [imm 1, imm 2]
    // expected-error @below {{VE-68: shift amount 32 is outside 0 to 31}}
    vector_fxp shl [imm 32]
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  return
}

// -----

// VE-30, VE-66: the operand of the register file.
#axes = #tmap.axes<A = 8, B = 8, S = 256>
!dm = !visa.dm<i32, slice "1 # 256", element "A", #axes>
!vf = !visa.vrf<f32, slice "1 # 256", element "A", #axes>
!vs = !visa.vrf<i32, slice "S", element "A", #axes>
!fm = !visa.dm<f32, slice "1 # 256", element "A", #axes>
!sm = !visa.dm<i32, slice "S", element "A", #axes>
func.func @operands() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %f = visa.alloc : !fm
  %s = visa.alloc : !sm
  %v0 = visa.chain sub -> !vf {
    fetch %f time "1" packet "A" : !fm
    collect time "1" packet "A"
    to_vrf element "A"
  }
  // expected-note @below {{operand is loaded here}}
  %v1 = visa.chain sub -> !vs {
    fetch %s time "1" packet "A" : !sm
    collect time "1" packet "A"
    to_vrf element "A"
  }
  %r0 = visa.chain main -> !dm {
    fetch %d time "1" packet "A" : !dm
    collect time "1" packet "A"
    vector_init
    vector_tag zero
    // expected-error @below {{VE-30: the operand holds 'f32', the stream is i32}}
    vector_fxp add [vrf %v0] : !vf
    // expected-error @below {{VE-66: slice of the operand does not match the stream: found "S", expected "1 # 256"}}
    vector_fxp mul_int [vrf %v1] : !vs
    // expected-error @below {{VE-66: slice of the operand does not match the stream: found "S", expected "1 # 256"}}
    vector_fxp sar [vrf %v1] : !vs
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  return
}

// -----

// VE-66: the operand lies in the VRF.
#axes = #tmap.axes<A = 8>
!dm = !visa.dm<i32, slice "1 # 256", element "A", #axes>
func.func @operand_tier() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %r0 = visa.chain main -> !dm {
    fetch %d time "1" packet "A" : !dm
    collect time "1" packet "A"
    vector_init
    vector_tag zero
    // expected-error @below {{VE-66: the operand is}}
    vector_fxp add [vrf %d] : !dm
    // expected-error @below {{VE-24: no operand slot}}
    vector_fxp mul_int []
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  return
}

// -----

// TU-61 … TU-64: the cast engine.
#axes = #tmap.axes<A = 8>
!dm = !visa.dm<i32, slice "1 # 256", element "A", #axes>
!out = !visa.dm<i8, slice "1 # 256", element "A", #axes>
func.func @casts() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  // expected-error @below {{TU-72}}
  %r0 = visa.chain main -> !out {
    fetch %d time "1" packet "A" : !dm
    collect time "1" packet "A"
    // expected-error @below {{TU-61: no cast from i32 to 'bf16'}}
    cast to bf16 packet "A # 16"
  }
  // expected-error @below {{TU-72}}
  %r1 = visa.chain main -> !out {
    fetch %d time "1" packet "A" : !dm
    collect time "1" packet "A"
    // expected-error @below {{TU-63: packet has 16 elements, a flit holds 32 of i8: found "A # 16", expected "A # 32"}}
    // expected-note @below {{"A # 16" has 16 positions, "A # 32" has 32}}
    cast to i8 packet "A # 16"
  }
  // expected-error @below {{TU-72}}
  %r2 = visa.chain main -> !out {
    fetch %d time "1" packet "A" : !dm
    collect time "1" packet "A"
    // expected-error @below {{TU-64: packet is not the stream's packet padded to a flit: found "1 # 32", expected "A # 32"}}
    // expected-note @below {{at position 1, "1 # 32" is top padding and "A # 32" is {A: 1}}
    cast to i8 packet "1 # 32"
  }
  return
}
