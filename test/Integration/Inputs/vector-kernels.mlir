// Kernels of the vector engine as one would write them by hand: see
// vector-kernels.py for what each gives.

#v = #tmap.axes<N = 256, T = 4, A = 8>
!i_h = !visa.hbm<i32, element "N, T, A", #v>
!i_d = !visa.dm<i32, slice "N", element "T, A", #v>
!f_h = !visa.hbm<f32, element "N, T, A", #v>
!f_d = !visa.dm<f32, slice "N", element "T, A", #v>
!f_v = !visa.vrf<f32, slice "N", element "T, A", #v>

// Factors by ranges: the first slot that admits an element counts.
!lane_d = !visa.dm<i32, slice "N", element "A", #v>
!lane_v = !visa.vrf<i32, slice "N", element "A", #v>
!lane_h = !visa.hbm<i32, element "N, A", #v>
func.func @buckets(%x: !i_h, %w: !lane_h) -> !i_h attributes {visa.kernel} {
  %xd = visa.to_dm %x : !i_h -> !i_d
  %wd = visa.to_dm %w : !lane_h -> !lane_d
  %wv = visa.chain sub -> !lane_v {
    fetch %wd time "1" packet "A" : !lane_d
    collect time "1" packet "A"
    to_vrf element "A"
  }
  %yd = visa.chain main -> !i_d {
    fetch %xd time "T" packet "A" : !i_d
    collect time "T" packet "A"
    vector_init
    vector_tag compare [less -3, less 0, less 4, equal 7]
    vector_fxp mul_int [imm 100 if "1---", imm 10 if "-1--", imm 3 if "!--10", vrf %wv if "---0"] : !lane_v
    vector_clip max [imm -500 if "1---", imm 0 if "!-1--"]
    vector_final
    commit_trim packet "A"
    commit element "T, A"
  }
  %y = visa.to_hbm %yd : !i_d -> !i_h
  return %y : !i_h
}

// Exponent and sign of floats, of whatever bits.
func.func @exponents(%x: !f_h) -> !i_h attributes {visa.kernel} {
  %xd = visa.to_dm %x : !f_h -> !f_d
  %yd = visa.chain main -> !i_d {
    fetch %xd time "T" packet "A" : !f_d
    collect time "T" packet "A"
    vector_init
    vector_tag compare [less_unsigned 0x80000000 : f32]
    vector_logic and [imm 0x7F800000 : f32]
    vector_reinterpret to i32
    vector_logic shr [imm 23]
    vector_fxp sub [imm 127]
    vector_clip add [imm 1000 if "0---"]
    vector_final
    commit_trim packet "A"
    commit element "T, A"
  }
  %y = visa.to_hbm %yd : !i_d -> !i_h
  return %y : !i_h
}

// GELU by tanh, with x kept in the stash.
func.func @gelu(%x: !f_h) -> !f_h attributes {visa.kernel} {
  %xd = visa.to_dm %x : !f_h -> !f_d
  %yd = visa.chain main -> !f_d {
    fetch %xd time "T" packet "A" : !f_d
    collect time "T" packet "A"
    vector_init
    vector_tag zero
    vector_narrow split time "T, A / 4" packet "A % 4"
    vector_stash
    vector_fp mul0 [imm 0.5] mode "00"
    vector_fp fma [imm 0.044715 with 0.7978846]
    vector_fp tanh
    vector_fp mul1 [stash]
    vector_widen concat time "T" packet "A"
    vector_final
    commit_trim packet "A"
    commit element "T, A"
  }
  %y = visa.to_hbm %yd : !f_d -> !f_h
  return %y : !f_h
}

// The real part of complex products: pairs in time, an operand for each.
#c = #tmap.axes<N = 256, T = 4, I = 2, A = 8>
!c_h = !visa.hbm<f32, element "N, T, I, A", #c>
!c_d = !visa.dm<f32, slice "N", element "T, I, A", #c>
!cr_h = !visa.hbm<f32, element "N, T, A", #c>
!cr_d = !visa.dm<f32, slice "N", element "T, A", #c>
!cr_v = !visa.vrf<f32, slice "N", element "T, A", #c>
func.func @complex(%x: !c_h, %re: !cr_h, %im: !cr_h) -> !cr_h attributes {visa.kernel} {
  %xd = visa.to_dm %x : !c_h -> !c_d
  %rd = visa.to_dm %re : !cr_h -> !cr_d
  %md = visa.to_dm %im : !cr_h -> !cr_d
  %rv = visa.chain sub -> !cr_v {
    fetch %rd time "T" packet "A" : !cr_d
    collect time "T" packet "A"
    to_vrf element "T, A"
  }
  %mv = visa.chain sub -> !cr_v {
    fetch %md time "T" packet "A" : !cr_d
    collect time "T" packet "A"
    to_vrf element "T, A"
  }
  %yd = visa.chain main -> !cr_d {
    fetch %xd time "T, I" packet "A" : !c_d
    collect time "T, I" packet "A"
    vector_init
    vector_unzip axis "I" time "T"
    vector_narrow split time "T, I, A / 4" packet "A % 4"
    vector_fp mul0 group [vrf %rv, skip] : !cr_v
    vector_fp mul1 group [skip, vrf %mv] : !cr_v
    vector_zip fp sub
    vector_widen concat time "T" packet "A"
    vector_final
    commit_trim packet "A"
    commit element "T, A"
  }
  %y = visa.to_hbm %yd : !cr_d -> !cr_h
  return %y : !cr_h
}

// Requantised integers: Q31 scale, rounding shift, clamp, bytes.
#g = #tmap.axes<N = 256, T = 4, A = 8>
!b_h = !visa.hbm<i8, element "N, T, A", #g>
!b_d = !visa.dm<i8, slice "N", element "T, A", #g>
!gi_h = !visa.hbm<i32, element "N, T, A", #g>
!gi_d = !visa.dm<i32, slice "N", element "T, A", #g>
func.func @requantise(%x: !gi_h) -> !b_h attributes {visa.kernel} {
  %xd = visa.to_dm %x : !gi_h -> !gi_d
  %yd = visa.chain main -> !b_d {
    fetch %xd time "T" packet "A" : !gi_d
    collect time "T" packet "A"
    vector_init
    vector_tag zero
    vector_fxp mul_fxp [imm 1518500250]
    vector_fxp add_sat [imm 8388608]
    vector_fxp sar [imm 24]
    vector_clip max [imm -128]
    vector_clip min [imm 127]
    vector_final
    cast to i8 packet "A # 32"
    commit_trim packet "A"
    commit element "T, A"
  }
  %y = visa.to_hbm %yd : !b_d -> !b_h
  return %y : !b_h
}

// Sums that saturate: a tree in a packet, then in the order of time.
#s = #tmap.axes<N = 256, R = 28>
!s_h = !visa.hbm<i32, element "N, R", #s>
!s_d = !visa.dm<i32, slice "N", element "R # 32", #s>
!so_h = !visa.hbm<i32, element "N, 1 # 8", #s>
!so_d = !visa.dm<i32, slice "N", element "1 # 8", #s>
func.func @saturating_rows(%x: !s_h) -> !so_h attributes {visa.kernel} {
  %xd = visa.to_dm %x : !s_h -> !s_d
  %yd = visa.chain main -> !so_d {
    fetch %xd time "R # 32 / 8" packet "R # 32 % 8" : !s_d
    collect time "R # 32 / 8" packet "R # 32 % 8"
    vector_init
    vector_tag zero
    vector_narrow split time "R # 32 / 4" packet "R # 32 % 4"
    vector_reduce add_sat axis "R" time "1" packet "1 # 4"
    vector_widen pad packet "1 # 8"
    vector_final
    commit_trim packet "1 # 8"
    commit element "1 # 8"
  }
  %y = visa.to_hbm %yd : !so_d -> !so_h
  return %y : !so_h
}

// The greatest of 13 rows, 4 of them in slices and 4 in time, padded; every
// slice of a group gets it.
#w = #tmap.axes<M = 64, R = 13, X = 4, A = 8>
!w_h = !visa.hbm<f32, element "M, R, A", #w>
!w_d = !visa.dm<f32, slice "M, R # 16 % 4", element "R # 16 / 4, A", #w>
!wo_h = !visa.hbm<f32, element "M, X, A", #w>
!wo_d = !visa.dm<f32, slice "M, X", element "A", #w>
func.func @greatest_of_all(%x: !w_h) -> !wo_h attributes {visa.kernel} {
  %xd = visa.to_dm %x : !w_h -> !w_d
  %yd = visa.chain main -> !wo_d {
    fetch %xd time "R # 16 / 4" packet "A" : !w_d
    collect time "R # 16 / 4" packet "A"
    vector_init
    vector_tag zero
    vector_narrow split time "R # 16 / 4, A / 4" packet "A % 4"
    vector_reduce max axis "R" time "A / 4" packet "A % 4"
    vector_widen concat time "1" packet "A"
    vector_inter_slice_reduce max slice "M, X" time "1"
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  %y = visa.to_hbm %yd : !wo_d -> !wo_h
  return %y : !wo_h
}

// Sums of slices scattered: each of four slices gets its step of time.
#p = #tmap.axes<M = 64, R = 4, T = 8, A = 8>
!p_h = !visa.hbm<i32, element "M, R, T, A", #p>
!p_d = !visa.dm<i32, slice "M, R", element "T, A", #p>
!po_h = !visa.hbm<i32, element "M, T, A", #p>
!po_d = !visa.dm<i32, slice "M, T % 4", element "T / 4, A", #p>
func.func @reduce_scatter(%x: !p_h) -> !po_h attributes {visa.kernel} {
  %xd = visa.to_dm %x : !p_h -> !p_d
  %yd = visa.chain main -> !po_d {
    fetch %xd time "T" packet "A" : !p_d
    collect time "T" packet "A"
    vector_init
    vector_inter_slice_reduce add slice "M, T % 4" time "T / 4"
    vector_tag compare [less 0]
    vector_clip abs_max [imm 0 if "1---", imm -5]
    vector_final
    commit_trim packet "A"
    commit element "T / 4, A"
  }
  %y = visa.to_hbm %yd : !po_d -> !po_h
  return %y : !po_h
}

// Minimum and maximum of what is no number, and of zeros.
func.func @extremes(%x: !f_h, %z: !f_h) -> !f_h attributes {visa.kernel} {
  %xd = visa.to_dm %x : !f_h -> !f_d
  %zd = visa.to_dm %z : !f_h -> !f_d
  %zv = visa.chain sub -> !f_v {
    fetch %zd time "T" packet "A" : !f_d
    collect time "T" packet "A"
    to_vrf element "T, A"
  }
  %yd = visa.chain main -> !f_d {
    fetch %xd time "T" packet "A" : !f_d
    collect time "T" packet "A"
    vector_init
    vector_tag compare [equal 0.0]
    vector_clip max [vrf %zv if "!1---"] : !f_v
    vector_clip min [imm -0.0 if "1---"]
    vector_final
    commit_trim packet "A"
    commit element "T, A"
  }
  %y = visa.to_hbm %yd : !f_d -> !f_h
  return %y : !f_h
}

// Fixed point with 16 bits in front of the point, and back to floats.
func.func @fixed(%x: !f_h) -> !i_h attributes {visa.kernel} {
  %xd = visa.to_dm %x : !f_h -> !f_d
  %yd = visa.chain main -> !i_d {
    fetch %xd time "T" packet "A" : !f_d
    collect time "T" packet "A"
    vector_init
    vector_tag zero
    vector_narrow split time "T, A / 4" packet "A % 4"
    vector_fp mul_fma [imm 1.5]
    vector_widen concat time "T" packet "A"
    vector_fp_to_fxp width 16
    vector_clip add_sat [imm 2147483000] mode "00"
    vector_final
    commit_trim packet "A"
    commit element "T, A"
  }
  %y = visa.to_hbm %yd : !i_d -> !i_h
  return %y : !i_h
}

// Subnormal numbers are kept.
func.func @tiny(%x: !f_h) -> !f_h attributes {visa.kernel} {
  %xd = visa.to_dm %x : !f_h -> !f_d
  %yd = visa.chain main -> !f_d {
    fetch %xd time "T" packet "A" : !f_d
    collect time "T" packet "A"
    vector_init
    vector_tag compare [greater 0.0, less 0.0]
    vector_narrow split time "T, A / 4" packet "A % 4"
    vector_fp mul0 [imm 0.25 if "1---", imm 3.0 if "-1--"]
    vector_fp sub [imm 1.0e-40 if "!00--"] mode "10"
    vector_fp_div [imm 4.0]
    vector_widen concat time "T" packet "A"
    vector_final
    commit_trim packet "A"
    commit element "T, A"
  }
  %y = visa.to_hbm %yd : !f_d -> !f_h
  return %y : !f_h
}

// A pair of integers, scaled by its own factor each, as floats, and fused.
#q = #tmap.axes<N = 256, T = 3, I = 2, A = 8>
!q_h = !visa.hbm<i32, element "N, I, T, A", #q>
!q_d = !visa.dm<i32, slice "N", element "I, T, A", #q>
!qo_h = !visa.hbm<i32, element "N, T, A", #q>
!qo_d = !visa.dm<i32, slice "N", element "T, A", #q>
func.func @mixed_pair(%x: !q_h) -> !qo_h attributes {visa.kernel} {
  %xd = visa.to_dm %x : !q_h -> !q_d
  %yd = visa.chain main -> !qo_d {
    fetch %xd time "I, T" packet "A" : !q_d
    collect time "I, T" packet "A"
    vector_init
    vector_unzip axis "I" time "T"
    vector_logic xor group [imm -1, skip]
    vector_fxp add group [imm 1, imm -3]
    vector_fxp_to_fp width 31
    vector_narrow split time "I, T, A / 4" packet "A % 4"
    vector_fp mul group [imm 0.5, imm 0.125]
    vector_fp fma group [skip, imm 2.0 with 1.0]
    vector_fp sqrt group [skip, apply]
    vector_widen concat time "I, T" packet "A"
    vector_fp_to_fxp width 31
    vector_zip clip max mode "10"
    vector_clip add [imm 7]
    vector_final
    commit_trim packet "A"
    commit element "T, A"
  }
  %y = visa.to_hbm %yd : !qo_d -> !qo_h
  return %y : !qo_h
}

// Rows of four: flits whose upper half is padding.
#t = #tmap.axes<N = 256, T = 4, B = 4>
!t_h = !visa.hbm<f32, element "N, T, B", #t>
!t_d = !visa.dm<f32, slice "N", element "T, B # 8", #t>
!to_h = !visa.hbm<bf16, element "N, T, B", #t>
!to_d = !visa.dm<bf16, slice "N", element "T, B", #t>
func.func @fours(%x: !t_h) -> !to_h attributes {visa.kernel} {
  %xd = visa.to_dm %x : !t_h -> !t_d
  %yd = visa.chain main -> !to_d {
    fetch %xd time "T" packet "B # 8" : !t_d
    collect time "T" packet "B # 8"
    vector_init
    vector_tag zero
    vector_stash
    vector_narrow trim packet "B"
    vector_fp neg_exp
    vector_fp add [imm 1.0]
    vector_widen concat time "T / 2" packet "T % 2, B"
    vector_clip max [stash]
    vector_final
    cast to bf16 packet "[T % 2, B] # 16"
    commit_trim packet "T % 2, B"
    commit element "T, B"
  }
  %y = visa.to_hbm %yd : !to_d -> !to_h
  return %y : !to_h
}

// Slots of fma, each with its second operand.
func.func @lines(%x: !f_h) -> !f_h attributes {visa.kernel} {
  %xd = visa.to_dm %x : !f_h -> !f_d
  %yd = visa.chain main -> !f_d {
    fetch %xd time "T" packet "A" : !f_d
    collect time "T" packet "A"
    vector_init
    vector_tag compare [less -1.0, greater 1.0, equal 0.25, true]
    vector_narrow split time "T, A / 4" packet "A % 4"
    vector_fp fma [imm 2.0 with 10.0 if "1---", imm 3.0 with -20.0 if "-1--", imm 0.5 with 0.25 if "!--1-"] mode "120"
    vector_fp sigmoid if "--1-"
    vector_widen concat time "T" packet "A"
    vector_final
    commit_trim packet "A"
    commit element "T, A"
  }
  %y = visa.to_hbm %yd : !f_d -> !f_h
  return %y : !f_h
}

// A product of matrices whose sums get a bias, and are cut off.
#mm = #tmap.axes<I = 256, J = 8, K = 32>
!ma_h = !visa.hbm<i8, element "I, K", #mm>
!ma_d = !visa.dm<i8, slice "I", element "K", #mm>
!mb_h = !visa.hbm<i8, element "J, K", #mm>
!mb_d = !visa.dm<i8, slice "I", element "J, K", #mm>
!mb_t = !visa.trf<i8, slice "I", lane "J", element "K", #mm>
!mo_h = !visa.hbm<f8E4M3FN, element "I, J", #mm>
!mo_d = !visa.dm<f8E4M3FN, slice "I", element "J", #mm>
!mi_h = !visa.hbm<i32, element "J", #mm>
!mi_d = !visa.dm<i32, slice "I", element "J", #mm>
!mi_v = !visa.vrf<i32, slice "I", element "J", #mm>
func.func @relu6(%a: !ma_h, %b: !mb_h, %bias: !mi_h) -> !mo_h attributes {visa.kernel} {
  %ad = visa.to_dm %a : !ma_h -> !ma_d
  %bd = visa.to_dm %b : !mb_h -> !mb_d
  %id = visa.to_dm %bias : !mi_h -> !mi_d
  %t = visa.chain sub -> !mb_t {
    fetch %bd time "J" packet "K" : !mb_d
    collect time "J" packet "K"
    to_trf lane "J" element "K"
  }
  %v = visa.chain sub -> !mi_v {
    fetch %id time "1" packet "J" : !mi_d
    collect time "1" packet "J"
    to_vrf element "J"
  }
  %od = visa.chain main -> !mo_d {
    fetch %ad time "1" packet "K" : !ma_d
    collect time "1" packet "K"
    contract_outer %t time "1" packet "K" : !mb_t
    contract_packet packet "1"
    contract_time time "1"
    contract_lane interleaved time "1" packet "J"
    vector_init
    vector_tag zero
    vector_fxp add [vrf %v] : !mi_v
    vector_fxp_to_fp width 23
    vector_clip max [imm 0.0]
    vector_clip min [imm 6.0]
    vector_final
    cast to f8E4M3FN packet "J # 32"
    commit_trim packet "J"
    commit element "J"
  }
  %o = visa.to_hbm %od : !mo_d -> !mo_h
  return %o : !mo_h
}

// One digit is split and padded; the stash gives half flits.
#h = #tmap.axes<N = 256, T = 2, A = 8>
!h_h = !visa.hbm<i32, element "N, T, A", #h>
!h_d = !visa.dm<i32, slice "N", element "T, A", #h>
!ho_d = !visa.dm<i32, slice "N", element "T, A / 4, A % 4 # 8", #h>
func.func @halves(%x: !h_h) -> !h_h attributes {visa.kernel} {
  %xd = visa.to_dm %x : !h_h -> !h_d
  %yd = visa.chain main -> !ho_d {
    fetch %xd time "T" packet "A" : !h_d
    collect time "T" packet "A"
    vector_init
    vector_tag compare [greater 3]
    vector_logic or [imm 64 if "1---"]
    vector_stash
    vector_fxp shl [imm 2]
    vector_narrow split time "T, A / 4" packet "A % 4"
    vector_widen pad packet "A % 4 # 8"
    vector_clip abs_min [imm 100 if "1---", stash]
    vector_final
    commit_trim packet "A % 4 # 8"
    commit element "T, A / 4, A % 4 # 8"
  }
  %y = visa.to_hbm %yd : !ho_d -> !h_h
  return %y : !h_h
}

// Rows of two in bf16: of each flit that split and pad make one half is padding.
#o = #tmap.axes<N = 256, T = 3, B = 2>
!o_h = !visa.hbm<f32, element "N, T, B", #o>
!o_d = !visa.dm<f32, slice "N", element "T, B # 8", #o>
!oo_h = !visa.hbm<bf16, element "N, T, B", #o>
!oo_d = !visa.dm<bf16, slice "N", element "T, B # 8 / 4, B # 8 % 4", #o>
func.func @twos(%x: !o_h) -> !oo_h attributes {visa.kernel} {
  %xd = visa.to_dm %x : !o_h -> !o_d
  %yd = visa.chain main -> !oo_d {
    fetch %xd time "T" packet "B # 8" : !o_d
    collect time "T" packet "B # 8"
    vector_init
    vector_tag compare [less 0.0]
    vector_stash
    vector_narrow split time "T, B # 8 / 4" packet "B # 8 % 4"
    vector_fp sub [imm 1.0] mode "10"
    vector_widen pad packet "B # 8 % 4 # 8"
    vector_clip abs_max [stash if "1---"]
    vector_final
    cast to bf16 packet "B # 8 % 4 # 16"
    commit_trim packet "B # 8 % 4"
    commit element "T, B # 8 / 4, B # 8 % 4"
  }
  %y = visa.to_hbm %yd : !oo_d -> !oo_h
  return %y : !oo_h
}

// The reciprocal of the root mean square over slices, time and packets,
// scaled by what each group of slices has in its register file.
#u = #tmap.axes<M = 64, R = 64, G = 4, A = 8>
!u_h = !visa.hbm<f32, element "M, R", #u>
!u_d = !visa.dm<f32, slice "M, R / 16", element "R % 16", #u>
!us_d = !visa.dm<f32, slice "M, G", element "1 # 8", #u>
!us_h = !visa.hbm<f32, element "M, G, 1 # 8", #u>
!ug_d = !visa.dm<f32, slice "M, G", element "1 # 8", #u>
!ug_v = !visa.vrf<f32, slice "M, G", element "1 # 8", #u>
func.func @root_of_groups(%x: !u_h, %g: !us_h) -> !us_h attributes {visa.kernel} {
  %xd = visa.to_dm %x : !u_h -> !u_d
  %gd = visa.to_dm %g : !us_h -> !ug_d
  %gv = visa.chain sub -> !ug_v {
    fetch %gd time "1" packet "1 # 8" : !ug_d
    collect time "1" packet "1 # 8"
    to_vrf element "1 # 8"
  }
  %sd = visa.chain main -> !us_d {
    fetch %xd time "R % 16 / 8" packet "R % 8" : !u_d
    collect time "R % 16 / 8" packet "R % 8"
    vector_init
    vector_tag zero
    vector_narrow split time "R % 16 / 4" packet "R % 4"
    vector_stash
    vector_fp mul [stash]
    vector_reduce add axis "R" time "1" packet "1 # 4"
    vector_fp_div [imm 64.0]
    vector_widen pad packet "1 # 8"
    vector_inter_slice_reduce add slice "M, G" time "1"
    vector_final
    commit_trim packet "1 # 8"
    commit element "1 # 8"
  }
  %yd = visa.chain main -> !us_d {
    fetch %sd time "1" packet "1 # 8" : !us_d
    collect time "1" packet "1 # 8"
    vector_init
    vector_tag zero
    vector_narrow trim packet "1 # 4"
    vector_fp sqrt
    vector_fp_div [vrf %gv] mode "10" : !ug_v
    vector_widen pad packet "1 # 8"
    vector_final
    commit_trim packet "1 # 8"
    commit element "1 # 8"
  }
  %y = visa.to_hbm %yd : !us_d -> !us_h
  return %y : !us_h
}

// Columns of six, two lanes of a flit padding, whose least is looked for
// over time on both sides of what is kept, and its distance to a bound.
#y = #tmap.axes<N = 256, R = 6, T = 3, C = 6>
!y_h = !visa.hbm<i32, element "N, R, T, C", #y>
!y_d = !visa.dm<i32, slice "N", element "R, T, C # 8", #y>
!yo_h = !visa.hbm<i32, element "N, T, C", #y>
!yo_d = !visa.dm<i32, slice "N", element "T, C # 8", #y>
func.func @least_of_columns(%x: !y_h) -> !yo_h attributes {visa.kernel} {
  %xd = visa.to_dm %x : !y_h -> !y_d
  %yd = visa.chain main -> !yo_d {
    fetch %xd time "R / 2, T, R % 2" packet "C # 8" : !y_d
    collect time "R / 2, T, R % 2" packet "C # 8"
    vector_init
    vector_tag compare [greater_unsigned 2147483647]
    vector_logic shr [imm 1 if "1---"]
    vector_fxp sub [imm 5] mode "10"
    vector_narrow split time "R / 2, T, R % 2, C # 8 / 4" packet "C # 8 % 4"
    vector_reduce min axis "R" time "T, C # 8 / 4" packet "C # 8 % 4"
    vector_widen concat time "T" packet "C # 8"
    vector_clip add [imm 1000]
    vector_final
    commit_trim packet "C # 8"
    commit element "T, C # 8"
  }
  %y = visa.to_hbm %yd : !yo_d -> !yo_h
  return %y : !yo_h
}

// Pairs whose groups alternate in the innermost time, with an operand of
// fewer axes for one; behind the zip an axis of time is summed.
#j = #tmap.axes<N = 256, T = 5, I = 2, A = 8>
!j_h = !visa.hbm<f32, element "N, T, I, A", #j>
!j_d = !visa.dm<f32, slice "N", element "T, I, A", #j>
!jw_h = !visa.hbm<f32, element "A", #j>
!jw_d = !visa.dm<f32, slice "N", element "A", #j>
!jw_v = !visa.vrf<f32, slice "N", element "A", #j>
!jo_h = !visa.hbm<f32, element "N, A", #j>
!jo_d = !visa.dm<f32, slice "N", element "A", #j>
func.func @weighted_pairs(%x: !j_h, %w: !jw_h) -> !jo_h attributes {visa.kernel} {
  %xd = visa.to_dm %x : !j_h -> !j_d
  %wd = visa.to_dm %w : !jw_h -> !jw_d
  %wv = visa.chain sub -> !jw_v {
    fetch %wd time "1" packet "A" : !jw_d
    collect time "1" packet "A"
    to_vrf element "A"
  }
  %yd = visa.chain main -> !jo_d {
    fetch %xd time "T, I" packet "A" : !j_d
    collect time "T, I" packet "A"
    vector_init
    vector_unzip axis "I" time "T"
    vector_narrow split time "T, I, A / 4" packet "A % 4"
    vector_fp mul1 group [vrf %wv, imm 0.5] : !jw_v
    vector_fp exp group [skip, apply]
    vector_zip fp mul0
    vector_reduce max axis "T" time "A / 4" packet "A % 4"
    vector_fp_div [imm 8.0]
    vector_widen concat time "1" packet "A"
    vector_clip min [imm 100.0]
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  %y = visa.to_hbm %yd : !jo_d -> !jo_h
  return %y : !jo_h
}

// Eight rows of eight are turned behind the engine.
#z = #tmap.axes<N = 256, R = 8, A = 8>
!z_h = !visa.hbm<i32, element "N, R, A", #z>
!z_d = !visa.dm<i32, slice "N", element "R, A", #z>
!zo_h = !visa.hbm<i32, element "N, A, R", #z>
!zo_d = !visa.dm<i32, slice "N", element "R / 2, A, R % 2", #z>
func.func @turned(%x: !z_h) -> !zo_h attributes {visa.kernel} {
  %xd = visa.to_dm %x : !z_h -> !z_d
  %yd = visa.chain main -> !zo_d {
    fetch %xd time "R" packet "A" : !z_d
    collect time "R" packet "A"
    vector_init
    vector_tag compare [less -1, greater_unsigned 5, false, true]
    vector_stash
    vector_logic and [imm 255 if "11--", imm 15 if "!0---"]
    vector_fxp shl_sat [imm 27 if "-0-1"]
    vector_clip add_sat [imm -2147483647 if "1---", stash if "0---"]
    vector_clip min [imm 1000000000]
    vector_final
    transpose time "R / 2, A" packet "R % 2 # 8"
    commit_trim packet "R % 2"
    commit element "R / 2, A, R % 2"
  }
  %y = visa.to_hbm %yd : !zo_d -> !zo_h
  return %y : !zo_h
}

// Products of the slices of a group, in one slice of it, as bytes.
#l = #tmap.axes<M = 32, R = 8, A = 8>
!l_h = !visa.hbm<f32, element "M, R, A", #l>
!l_d = !visa.dm<f32, slice "M, R", element "A", #l>
!lo_h = !visa.hbm<f8E5M2, element "M, A", #l>
!lo_d = !visa.dm<f8E5M2, slice "M, 1 # 8", element "A", #l>
func.func @products(%x: !l_h) -> !lo_h attributes {visa.kernel} {
  %xd = visa.to_dm %x : !l_h -> !l_d
  %yd = visa.chain main -> !lo_d {
    fetch %xd time "1" packet "A" : !l_d
    collect time "1" packet "A"
    vector_init
    vector_inter_slice_reduce mul slice "M, 1 # 8" time "1"
    vector_tag compare [equal 0.0]
    vector_clip abs_min [imm 3.0 if "!1---"]
    vector_final
    cast to f8E5M2 packet "A # 32"
    commit_trim packet "A"
    commit element "A"
  }
  %y = visa.to_hbm %yd : !lo_d -> !lo_h
  return %y : !lo_h
}
