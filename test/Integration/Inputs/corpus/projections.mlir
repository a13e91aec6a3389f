// Projections of a decoder block as they are written by hand: a vector of one
// token in every slice, weights in the register file. Sizes of a model of half a
// billion weights. What each costs is frozen in makespans.json.
#axes = #tmap.axes<H = 1024, P = 1024, Q = 2048, L = 3072>
!x = !visa.hbm<bf16, element "H", #axes>

!q_w = !visa.hbm<bf16, element "Q, H", #axes>
!q_y = !visa.hbm<bf16, element "Q", #axes>
!q_wd = !visa.dm<bf16, slice "Q / 32, 1 # 4", element "Q % 32, H", #axes>
!q_xd = !visa.dm<bf16, slice "Q / 32, 1 # 4", element "H", #axes>
!q_t = !visa.trf<bf16, slice "Q / 32, 1 # 4", lane "Q / 4 % 8", element "Q % 4, H", #axes>
!q_yd = !visa.dm<bf16, slice "Q / 32, 1 # 4", element "Q % 32", #axes>
func.func @proj_q(%x: !x, %w: !q_w) -> !q_y attributes {visa.kernel} {
  %wd = visa.to_dm %w : !q_w -> !q_wd
  %t = visa.chain sub -> !q_t {
    fetch %wd time "Q % 32, H / 16" packet "H % 16" : !q_wd
    collect time "Q % 32, H / 16" packet "H % 16"
    to_trf lane "Q / 4 % 8" element "Q % 4, H"
  }
  %xd = visa.to_dm %x : !x -> !q_xd
  %y = visa.chain main -> !q_yd {
    fetch %xd time "H / 16" packet "H % 16" : !q_xd
    collect time "H / 16" packet "H % 16"
    contract_outer %t time "H / 32, Q % 4" packet "H % 32" : !q_t
    contract_packet packet "1"
    contract_time time "Q % 4"
    contract_lane interleaved time "Q % 4" packet "Q / 4 % 8"
    cast to bf16 packet "Q / 4 % 8 # 16"
    transpose time "Q / 4 % 8" packet "Q % 4 # 16"
    commit_trim packet "Q % 4"
    commit element "Q % 32"
  }
  %o = visa.to_hbm %y : !q_yd -> !q_y
  return %o : !q_y
}

!p_w = !visa.hbm<bf16, element "P, H", #axes>
!p_y = !visa.hbm<bf16, element "P", #axes>
!p_wd = !visa.dm<bf16, slice "P / 32, 1 # 8", element "P % 32, H", #axes>
!p_xd = !visa.dm<bf16, slice "P / 32, 1 # 8", element "H", #axes>
!p_t = !visa.trf<bf16, slice "P / 32, 1 # 8", lane "P % 8", element "P / 8 % 4, H", #axes>
!p_yd = !visa.dm<bf16, slice "P / 32, 1 # 8", element "P % 32", #axes>
func.func @proj_kv(%x: !x, %w: !p_w) -> !p_y attributes {visa.kernel} {
  %wd = visa.to_dm %w : !p_w -> !p_wd
  %t = visa.chain sub -> !p_t {
    fetch %wd time "P % 8, P / 8 % 4, H / 16" packet "H % 16" : !p_wd
    collect time "P % 8, P / 8 % 4, H / 16" packet "H % 16"
    to_trf lane "P % 8" element "P / 8 % 4, H"
  }
  %xd = visa.to_dm %x : !x -> !p_xd
  %y = visa.chain main -> !p_yd {
    fetch %xd time "H / 16" packet "H % 16" : !p_xd
    collect time "H / 16" packet "H % 16"
    contract_outer %t time "H / 32, P / 8 % 4" packet "H % 32" : !p_t
    contract_packet packet "1"
    contract_time time "P / 8 % 4"
    contract_lane interleaved time "P / 8 % 4" packet "P % 8"
    cast to bf16 packet "P % 8 # 16"
    commit_trim packet "P % 8"
    commit element "P % 32"
  }
  %o = visa.to_hbm %y : !p_yd -> !p_y
  return %o : !p_y
}

!o_x = !visa.hbm<bf16, element "Q", #axes>
!o_w = !visa.hbm<bf16, element "H, Q", #axes>
!o_y = !visa.hbm<bf16, element "H", #axes>
!o_wd = !visa.dm<bf16, slice "H / 16, 1 # 4", element "H % 16, Q", #axes>
!o_xd = !visa.dm<bf16, slice "H / 16, 1 # 4", element "Q", #axes>
!o_t = !visa.trf<bf16, slice "H / 16, 1 # 4", lane "H / 4 % 4", element "H % 4, Q", #axes>
!o_yd = !visa.dm<bf16, slice "H / 16, 1 # 4", element "H % 16", #axes>
func.func @proj_o(%x: !o_x, %w: !o_w) -> !o_y attributes {visa.kernel} {
  %wd = visa.to_dm %w : !o_w -> !o_wd
  %t = visa.chain sub -> !o_t {
    fetch %wd time "H % 16, Q / 16" packet "Q % 16" : !o_wd
    collect time "H % 16, Q / 16" packet "Q % 16"
    to_trf lane "H / 4 % 4" element "H % 4, Q"
  }
  %xd = visa.to_dm %x : !o_x -> !o_xd
  %y = visa.chain main -> !o_yd {
    fetch %xd time "Q / 16" packet "Q % 16" : !o_xd
    collect time "Q / 16" packet "Q % 16"
    contract_outer %t time "Q / 32, H % 4" packet "Q % 32" : !o_t
    contract_packet packet "1"
    contract_time time "H % 4"
    contract_lane interleaved time "H % 4" packet "H / 4 % 4 # 8"
    cast to bf16 packet "H / 4 % 4 # 16"
    transpose time "H / 4 % 4" packet "H % 4 # 16"
    commit_trim packet "H % 4"
    commit element "H % 16"
  }
  %o = visa.to_hbm %y : !o_yd -> !o_y
  return %o : !o_y
}

!u_w = !visa.hbm<bf16, element "L, H", #axes>
!u_y = !visa.hbm<bf16, element "L", #axes>
!u_wd = !visa.dm<bf16, slice "L / 24, 1 # 2", element "L % 24, H", #axes>
!u_xd = !visa.dm<bf16, slice "L / 24, 1 # 2", element "H", #axes>
!u_t = !visa.trf<bf16, slice "L / 24, 1 # 2", lane "L % 8", element "L / 8 % 3, H", #axes>
!u_yd = !visa.dm<bf16, slice "L / 24, 1 # 2", element "L % 24", #axes>
func.func @up(%x: !x, %w: !u_w) -> !u_y attributes {visa.kernel} {
  %wd = visa.to_dm %w : !u_w -> !u_wd
  %t = visa.chain sub -> !u_t {
    fetch %wd time "L % 8, L / 8 % 3, H / 16" packet "H % 16" : !u_wd
    collect time "L % 8, L / 8 % 3, H / 16" packet "H % 16"
    to_trf lane "L % 8" element "L / 8 % 3, H"
  }
  %xd = visa.to_dm %x : !x -> !u_xd
  %y = visa.chain main -> !u_yd {
    fetch %xd time "H / 16" packet "H % 16" : !u_xd
    collect time "H / 16" packet "H % 16"
    contract_outer %t time "H / 32, L / 8 % 3" packet "H % 32" : !u_t
    contract_packet packet "1"
    contract_time time "L / 8 % 3"
    contract_lane interleaved time "L / 8 % 3" packet "L % 8"
    cast to bf16 packet "L % 8 # 16"
    commit_trim packet "L % 8"
    commit element "L % 24"
  }
  %o = visa.to_hbm %y : !u_yd -> !u_y
  return %o : !u_y
}

!d_x = !visa.hbm<bf16, element "L", #axes>
!d_w = !visa.hbm<bf16, element "H, L", #axes>
!d_y = !visa.hbm<f32, element "H", #axes>
!d_wd = !visa.dm<bf16, slice "H / 8, 1 # 2", element "H % 8, L", #axes>
!d_xd = !visa.dm<bf16, slice "H / 8, 1 # 2", element "L", #axes>
!d_t = !visa.trf<bf16, slice "H / 8, 1 # 2", lane "H % 8", element "L", #axes>
!d_yd = !visa.dm<f32, slice "H / 8, 1 # 2", element "H % 8", #axes>
func.func @down(%x: !d_x, %w: !d_w) -> !d_y attributes {visa.kernel} {
  %wd = visa.to_dm %w : !d_w -> !d_wd
  %t = visa.chain sub -> !d_t {
    fetch %wd time "H % 8, L / 16" packet "L % 16" : !d_wd
    collect time "H % 8, L / 16" packet "L % 16"
    to_trf lane "H % 8" element "L"
  }
  %xd = visa.to_dm %x : !d_x -> !d_xd
  %y = visa.chain main -> !d_yd {
    fetch %xd time "L / 16" packet "L % 16" : !d_xd
    collect time "L / 16" packet "L % 16"
    contract_outer %t time "L / 32" packet "L % 32" : !d_t
    contract_packet packet "1"
    contract_time time "1"
    contract_lane interleaved time "1" packet "H % 8"
    commit_trim packet "H % 8"
    commit element "H % 8"
  }
  %o = visa.to_hbm %y : !d_yd -> !d_y
  return %o : !d_y
}

// The dot product of the corpus.
#dot = #tmap.axes<A = 2048>
!v = !visa.hbm<bf16, element "A", #dot>
!s = !visa.hbm<bf16, element "1", #dot>
!vd = !visa.dm<bf16, slice "1 # 256", element "A", #dot>
!vt = !visa.trf<bf16, slice "1 # 256", lane "1", element "A", #dot>
!sd = !visa.dm<bf16, slice "1 # 256", element "1 # 8", #dot>
func.func @dot(%a: !v, %b: !v) -> !s attributes {visa.kernel} {
  %bd = visa.to_dm %b : !v -> !vd
  %t = visa.chain sub -> !vt {
    fetch %bd time "1" packet "A" : !vd
    collect time "A / 16" packet "A % 16"
    to_trf lane "1" element "A"
  }
  %ad = visa.to_dm %a : !v -> !vd
  %r = visa.chain main -> !sd {
    fetch %ad time "1" packet "A" : !vd
    collect time "A / 16" packet "A % 16"
    contract_outer %t time "A / 32" packet "A % 32" : !vt
    contract_packet packet "1"
    contract_time time "1"
    contract_lane interleaved time "1" packet "1 # 8"
    cast to bf16 packet "1 # 16"
    commit_trim packet "1 # 8"
    commit element "1 # 8"
  }
  %o = visa.to_hbm %r : !sd -> !s
  return %o : !s
}
