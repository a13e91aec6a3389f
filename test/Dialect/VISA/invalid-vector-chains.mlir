// The illegal chains of the vector engine's rules, by their numbers there, and
// what else one chain can get wrong.
// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

#axes = #tmap.axes<A = 8, B = 4, I = 2>
!dm = !visa.dm<i32, slice "1 # 256", element "A", #axes>
!fm = !visa.dm<f32, slice "1 # 256", element "A", #axes>
!half = !visa.dm<f32, slice "1 # 256", element "B # 8", #axes>
!vf = !visa.vrf<f32, slice "1 # 256", element "A", #axes>

// 1: FxpAdd twice.
func.func @alu_twice() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %r = visa.chain main -> !dm {
    fetch %d time "1" packet "A" : !dm
    collect time "1" packet "A"
    vector_init
    vector_tag zero
    // expected-note @below {{it is taken here}}
    vector_fxp add [imm 10]
    vector_fxp mul_int [imm 2]
    // expected-error @below {{VE-8: ALU fxp_add is already taken; split the chain into two}}
    vector_fxp sub [imm 5]
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  return
}

// 2, 3, 11.1: one unit for all functions of one argument, and for division.
func.func @fpu_twice() attributes {visa.kernel} {
  %d = visa.alloc : !fm
  %r = visa.chain main -> !fm {
    fetch %d time "1" packet "A" : !fm
    collect time "1" packet "A"
    vector_init
    vector_tag zero
    vector_narrow split time "A / 4" packet "A % 4"
    // expected-note @below {{it is taken here}}
    vector_fp sqrt
    // expected-error @below {{VE-8: ALU fp_fpu is already taken; split the chain into two}}
    // expected-note @below {{it is taken here}}
    vector_fp tanh
    // expected-error @below {{VE-8: ALU fp_fpu is already taken; use vector_fp_div, or split the chain into two}}
    vector_fp div [imm 2.0]
    vector_widen concat time "1" packet "A"
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  return
}

// Three multipliers, the named ones first. 9: more stages than ALUs.
func.func @multipliers() attributes {visa.kernel} {
  %d = visa.alloc : !fm
  %r = visa.chain main -> !fm {
    fetch %d time "1" packet "A" : !fm
    collect time "1" packet "A"
    vector_init
    vector_tag zero
    vector_narrow split time "A / 4" packet "A % 4"
    // expected-note @below {{it is taken here}}
    vector_fp mul [imm 2.0]
    // expected-note @below {{it is taken here}}
    vector_fp mul0 [imm 2.0]
    // expected-note @below {{it is taken here}}
    vector_fp mul [imm 2.0]
    // expected-error @below {{VE-8: no multiplier is free: fp_mul0, fp_mul1 and fp_fma are taken; split the chain into two}}
    vector_fp mul [imm 2.0]
    vector_fp exp
    // expected-error @below {{VE-9: the fp cluster has 5 ALUs, this is stage 6; split the chain into two}}
    vector_fp mul0 [imm 2.0]
    vector_widen concat time "1" packet "A"
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  return
}

// 8: a free multiplier is named.
func.func @free_multiplier() attributes {visa.kernel} {
  %d = visa.alloc : !fm
  %r = visa.chain main -> !fm {
    fetch %d time "1" packet "A" : !fm
    collect time "1" packet "A"
    vector_init
    vector_tag zero
    vector_narrow split time "A / 4" packet "A % 4"
    // expected-note @below {{it is taken here}}
    vector_fp mul0 [imm 2.0]
    // expected-error @below {{VE-8: ALU fp_mul0 is already taken; use vector_fp mul1 or vector_fp mul_fma, or split the chain into two}}
    vector_fp mul0 [imm 2.0]
    vector_widen concat time "1" packet "A"
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  return
}

// 4: strictly forward. 7: a stage that stands once.
func.func @order() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %r = visa.chain main -> !dm {
    fetch %d time "1" packet "A" : !dm
    collect time "1" packet "A"
    vector_init
    // expected-note @below {{it stands here}}
    vector_tag zero
    // expected-error @below {{VE-7: vector_tag stands once in a chain; split the chain into two}}
    vector_tag zero
    // expected-note @below {{it stands here}}
    vector_fxp add [imm 1]
    // expected-error @below {{VE-6: vector_logic lies before vector_fxp, which the stream has passed; the order is fixed, split the chain into two}}
    vector_logic and [imm 3]
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  return
}

// 5, 6 and their counterpart: ways.
func.func @ways() attributes {visa.kernel} {
  %d = visa.alloc : !fm
  %r0 = visa.chain main -> !fm {
    fetch %d time "1" packet "A" : !fm
    collect time "1" packet "A"
    vector_init
    vector_tag zero
    // expected-error @below {{VE-11: packets have eight elements, this stage takes four; put vector_narrow before it}}
    vector_fp exp
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  %r1 = visa.chain main -> !fm {
    fetch %d time "1" packet "A" : !fm
    collect time "1" packet "A"
    vector_init
    vector_tag zero
    vector_narrow split time "A / 4" packet "A % 4"
    vector_fp mul [imm 2.0]
    // expected-error @below {{VE-10: packets have four elements, this stage takes eight; put vector_widen before it}}
    vector_clip max [imm 0.0]
    // expected-error @below {{VE-12: packets have four elements; put vector_widen before vector_final}}
    vector_final
    commit_trim packet "A % 4"
    commit element "A"
  }
  return
}

// 7 … 9: narrow and widen.
func.func @narrow() attributes {visa.kernel} {
  %d = visa.alloc : !fm
  %h = visa.alloc : !half
  %r0 = visa.chain main -> !fm {
    fetch %d time "1" packet "A" : !fm
    collect time "1" packet "A"
    vector_init
    vector_tag zero
    // expected-error @below {{VE-21: the upper half of packet "A" is no padding and would be lost; use split}}
    vector_narrow trim packet "A = 4"
    // expected-error @below {{VE-23: packet does not follow from the stream: found "A", expected "A % 4 # 8"; write packet "A % 4 # 8"}}
    // expected-note @below {{it stands here}}
    // expected-note @below {{at position 4, "A" is {A: 4} and "A % 4 # 8" is top padding}}
    vector_widen pad packet "A"
    // expected-error @below {{VE-6: vector_narrow lies before vector_widen}}
    vector_narrow trim packet "A % 4"
    // expected-error @below {{VE-7: vector_widen stands once}}
    vector_widen pad packet "A % 4 # 8"
    vector_final
    commit_trim packet "A % 4"
    // expected-error @below {{MM-25}}
    // expected-note @below {{the stream has}}
    commit element "A"
  }
  %r1 = visa.chain main -> !fm {
    fetch %d time "1" packet "A" : !fm
    collect time "1" packet "A"
    vector_init
    vector_tag zero
    // expected-error @below {{VE-16: time does not follow from the stream: found "1", expected "A / 4"; write time "A / 4"}}
    // expected-error @below {{VE-17: packet does not follow from the stream: found "A / 2", expected "A % 4"}}
    // expected-note @below {{"1" has 1 position, "A / 4" has 2}}
    // expected-note @below {{at position 1, "A / 2" is {A: 2} and "A % 4" is {A: 1}}
    vector_narrow split time "1" packet "A / 2"
    // expected-error @below {{VE-19: time does not follow from the stream: found "A / 4", expected "1"}}
    // expected-error @below {{VE-19: packet does not follow from the stream: found "A % 4", expected "A"}}
    // expected-note @below {{"A % 4" has 4 positions, "A" has 8}}
    // expected-note @below {{"A / 4" has 2 positions, "1" has 1}}
    vector_widen concat time "A / 4" packet "A % 4"
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  %r2 = visa.chain main -> !half {
    fetch %h time "1" packet "B # 8" : !half
    collect time "1" packet "B # 8"
    vector_init
    vector_tag zero
    // expected-error @below {{VE-22: packet does not follow from the stream: found "1 # 4"}}
    // expected-note @below {{it stands here}}
    // expected-note @below {{at position 1, "1 # 4" is top padding and "B" is {B: 1}}
    vector_narrow trim packet "1 # 4"
    // expected-error @below {{VE-7: vector_narrow stands once}}
    // expected-error @below {{VE-15: packet "B" has 4 elements, expected a flit of eight}}
    vector_narrow split time "1" packet "B"
    // expected-note @below {{it stands here}}
    vector_widen pad packet "B # 8"
    // expected-error @below {{VE-7: vector_widen stands once}}
    // expected-error @below {{VE-18: packet}}
    vector_widen concat time "1" packet "B # 8"
    vector_final
    commit_trim packet "B # 8"
    commit element "B # 8"
  }
  return
}

// 10 … 14: the stash.
func.func @stash() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %f = visa.alloc : !fm
  %r0 = visa.chain main -> !dm {
    fetch %d time "1" packet "A" : !dm
    collect time "1" packet "A"
    vector_init
    vector_tag zero
    // expected-note @below {{it is written here}}
    vector_stash
    vector_fxp add [imm 1]
    // expected-error @below {{VE-37: the stash is written once in a chain}}
    vector_stash
    // expected-note @below {{it is read here}}
    vector_clip max [stash]
    // expected-error @below {{VE-39: the stash is read once in a chain; load the operand into the VRF for more}}
    vector_clip add [stash]
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  %r1 = visa.chain main -> !fm {
    fetch %f time "1" packet "A" : !fm
    collect time "1" packet "A"
    vector_init
    vector_tag zero
    // expected-note @below {{it is written here}}
    vector_stash
    vector_narrow split time "A / 4" packet "A % 4"
    // expected-error @below {{VE-41: the stash holds packets of 8 elements, the stream has 4}}
    vector_fp mul [stash]
    vector_widen concat time "1" packet "A"
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  %r2 = visa.chain main -> !fm {
    fetch %d time "1" packet "A" : !dm
    collect time "1" packet "A"
    vector_init
    vector_tag zero
    // expected-note @below {{it is written here}}
    vector_stash
    vector_fxp_to_fp width 31
    // expected-error @below {{VE-40: the stash holds i32, the stream is f32; put vector_reinterpret before the stash}}
    vector_clip max [stash]
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  %r3 = visa.chain main -> !fm {
    fetch %f time "1" packet "A" : !fm
    collect time "1" packet "A"
    vector_init
    vector_tag zero
    vector_narrow split time "A / 4" packet "A % 4"
    vector_fp mul [imm 2.0]
    vector_widen concat time "1" packet "A"
    // expected-error @below {{VE-36: vector_widen has no write port for the stash}}
    vector_stash
    // expected-error @below {{VE-38: nothing is stashed; put vector_stash where the operand flows}}
    vector_clip max [stash]
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  // 19: bit 3 alone.
  %r4 = visa.chain main -> !dm {
    fetch %d time "1" packet "A" : !dm
    collect time "1" packet "A"
    vector_init
    vector_tag zero
    vector_stash
    // expected-error @below {{VE-42: a read of the stash that only bit 3 guards cannot be told from a zip; guard another bit, or none}}
    vector_clip min [stash if "---1"]
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  return
}

// 15 … 18: slots.
func.func @slots(%hbm: !visa.hbm<f32, element "A", #axes>) attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %f = visa.alloc : !fm
  %v = visa.chain sub -> !vf {
    fetch %f time "1" packet "A" : !fm
    collect time "1" packet "A"
    to_vrf element "A"
  }
  %r0 = visa.chain main -> !dm {
    fetch %d time "1" packet "A" : !dm
    collect time "1" packet "A"
    vector_init
    vector_tag compare [true, true, true, true]
    // expected-error @below {{VE-28: no execution id passes the guard of slot 0}}
    vector_logic and [imm 1 if "!----"]
    // expected-error @below {{VE-26: a stage has 3 immediates; move one value into the VRF or to another stage}}
    vector_fxp add [imm 1 if "1---", imm 2 if "-1--", imm 3 if "--1-", imm 4 if "---1"]
    // expected-error @below {{VE-29: slot 1 stands behind slot 0, which takes all elements; put it first or guard that one}}
    vector_clip max [imm 1, imm 2 if "1---"]
    // expected-error @below {{VE-24: no operand slot}}
    vector_clip min
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  %r1 = visa.chain main -> !fm {
    fetch %f time "1" packet "A" : !fm
    collect time "1" packet "A"
    vector_init
    vector_tag zero
    vector_stash
    // expected-error @below {{VE-27: the operand from the register file is the last slot; put the immediate before it}}
    vector_clip max [vrf %v if "1---", imm 1.0] : !vf
    // expected-error @below {{VE-27: a stage reads the register file once; VRF and stash share the port}}
    vector_clip min [vrf %v if "1---", stash] : !vf
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  // 37: two operands. 30: the scalar of a constant.
  %r2 = visa.chain main -> !fm {
    fetch %f time "1" packet "A" : !fm
    collect time "1" packet "A"
    vector_init
    vector_tag zero
    vector_narrow split time "A / 4" packet "A % 4"
    // expected-error @below {{VE-31: fma needs a second operand in each slot; write imm 2.0 with 1.0}}
    vector_fp fma [imm 2.0]
    // expected-error @below {{VE-31: mul1 has one operand; drop the constant behind with}}
    vector_fp mul1 [imm 2.0 with 1.0]
    // expected-error @below {{VE-30: an immediate of 'i32', the stream is f32; write it with a point}}
    vector_fp mul0 [imm 2]
    // expected-error @below {{VE-28: no execution id passes the guard}}
    vector_fp exp if "!----"
    vector_widen concat time "1" packet "A"
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  return
}

// 20, 33, 35, 38, 39: tags and scalars.
func.func @scalars() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %f = visa.alloc : !fm
  %r0 = visa.chain main -> !fm {
    fetch %f time "1" packet "A" : !fm
    collect time "1" packet "A"
    vector_init
    // expected-error @below {{VE-33: a boundary of 'i32', the stream is f32}}
    vector_tag compare [less 0]
    // expected-error @below {{VE-13: the stream is f32, shl takes i32; convert the values, or take the bits as they are with vector_reinterpret}}
    vector_logic shl [imm 2]
    // expected-error @below {{VE-13: the stream is f32, this stage takes i32}}
    vector_fxp_to_fp width 31
    // expected-error @below {{VE-14: integer width 32 is outside 0 to 31; 31 is a plain integer}}
    vector_fp_to_fxp width 32
    vector_final
    commit_trim packet "A"
    // expected-error @below {{TU-77}}
    commit element "A"
  }
  %r1 = visa.chain main -> !dm {
    fetch %d time "1" packet "A" : !dm
    collect time "1" packet "A"
    vector_init
    // expected-error @below {{VE-34: tags by the parity of an axis do not lower; use vector_unzip}}
    vector_tag axis_toggle
    // expected-error @below {{not yet supported: VE-71: sar_round}}
    vector_fxp sar_round [imm 2]
    // expected-error @below {{VE-68: shift amount -1 is outside 0 to 31}}
    vector_fxp shl [imm -1]
    // expected-error @below {{VE-13: a stream is i32 or f32, not 'i8'}}
    vector_reinterpret to i8
    // expected-error @below {{not yet supported: VE-71: a filter}}
    vector_filter if "1---"
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  %r2 = visa.chain main -> !dm {
    fetch %d time "1" packet "A" : !dm
    collect time "1" packet "A"
    vector_init
    // expected-error @below {{not yet supported: VE-35: the tag mode valid_count}}
    vector_tag valid_count
    // expected-error @below {{VE-13: the stream is i32, sqrt takes f32}}
    // expected-error @below {{VE-11}}
    vector_fp sqrt
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  return
}

// -----

// 34: strictly forward, through the reducer too; 6: no ids.
#axes = #tmap.axes<A = 8>
!dm = !visa.dm<i32, slice "1 # 256", element "A", #axes>
func.func @no_ids() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %r = visa.chain main -> !dm {
    fetch %d time "1" packet "A" : !dm
    collect time "1" packet "A"
    vector_init
    // expected-error @below {{VE-6: elements have no execution ids yet; write vector_tag zero before this stage}}
    vector_fxp add [imm 1]
    // expected-error @below {{VE-51: there are no groups; put vector_unzip behind vector_init}}
    vector_fxp mul_int group [imm 1, imm 2]
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  return
}

// -----

func.func @structure_guard() {
  visa.chain main -> !visa.dm<i32, slice "1 # 256", element "A", #tmap.axes<A = 8>> {
    // expected-error @below {{VE-32: "1--" is no guard; write 1, 0 or - for each of bits 0 to 3, with ! in front to negate}}
    vector_fxp add [imm 1 if "1--"]
  }
  return
}

// -----

func.func @structure_function() {
  visa.chain main -> !visa.dm<i32, slice "1 # 256", element "A", #tmap.axes<A = 8>> {
    // expected-error @below {{has no function fma; there are add, add_sat, max, abs_max, min, abs_min}}
    vector_clip fma [imm 1.0]
  }
  return
}

// -----

func.func @structure_mode() {
  visa.chain main -> !visa.dm<i32, slice "1 # 256", element "A", #tmap.axes<A = 8>> {
    // expected-error @below {{mode "012" is none of 00, 01, 10, 11}}
    vector_clip max [imm 1.0] mode "012"
  }
  return
}

// -----

func.func @structure_unary() {
  visa.chain main -> !visa.dm<i32, slice "1 # 256", element "A", #tmap.axes<A = 8>> {
    // expected-error @below {{exp takes no operand, found imm}}
    vector_fp exp [imm 1.0]
  }
  return
}

// -----

func.func @structure_guard_place() {
  visa.chain main -> !visa.dm<i32, slice "1 # 256", element "A", #tmap.axes<A = 8>> {
    // expected-error @below {{a guard stands at each slot}}
    vector_fp mul [imm 1.0] if "1---"
  }
  return
}

// -----

func.func @structure_group() {
  visa.chain main -> !visa.dm<i32, slice "1 # 256", element "A", #tmap.axes<A = 8>> {
    // expected-error @below {{group takes one slot for each of the two groups, found 1}}
    vector_fxp add group [imm 1]
  }
  return
}

// -----

func.func @structure_skip() {
  visa.chain main -> !visa.dm<i32, slice "1 # 256", element "A", #tmap.axes<A = 8>> {
    // expected-error @below {{skip stands only in pair mode; write group}}
    vector_fxp add [skip, imm 1]
  }
  return
}

// -----

func.func @structure_tag() {
  visa.chain main -> !visa.dm<i32, slice "1 # 256", element "A", #tmap.axes<A = 8>> {
    // expected-error @below {{VE-32: ids have four bits, found 5 comparisons}}
    vector_tag compare [true, true, true, true, true]
  }
  return
}

// -----

func.func @structure_trim() {
  visa.chain main -> !visa.dm<i32, slice "1 # 256", element "A", #tmap.axes<A = 8>> {
    // expected-error @below {{split changes time, trim does not}}
    vector_narrow split packet "A % 4"
  }
  return
}

// -----

func.func @text_immediate() {
  visa.chain main -> !visa.dm<i32, slice "1 # 256", element "A", #tmap.axes<A = 8>> {
    // expected-error @below {{immediate 4294967296 does not fit in 32 bits}}
    vector_fxp add [imm 4294967296]
  }
  return
}

// -----

func.func @text_comparison() {
  visa.chain main -> !visa.dm<i32, slice "1 # 256", element "A", #tmap.axes<A = 8>> {
    // expected-error @below {{expected a comparison}}
    vector_tag compare [at_least 1]
  }
  return
}
