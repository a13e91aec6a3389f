// One decoder block of a transformer on 256 tokens: attention with rotary
// positions, a causal mask and two heads of 32, and a gated MLP; both behind an
// RMS norm and around a residual. Every token owns a slice. Products have bf16
// factors and f32 sums; what goes from norm to norm is f32.
//
// S: tokens that ask, T: tokens that are asked (the same ones), H and G: hidden
// units, N: heads, D: a head's units, L: units of the MLP. The tables of sines
// have the sign of the rotation; the mask is a large number, or a very small one.
#axes = #tmap.axes<S = 256, T = 256, H = 64, G = 64, N = 2, D = 32, L = 128>

!hbm_h = !visa.hbm<f32, element "S, H", #axes>
!hbm_norm = !visa.hbm<f32, element "H", #axes>
!hbm_qkv = !visa.hbm<bf16, element "N, D, H", #axes>
!hbm_head = !visa.hbm<f32, element "D", #axes>
!hbm_rope = !visa.hbm<f32, element "S, D", #axes>
!hbm_mask = !visa.hbm<f32, element "S, T", #axes>
!hbm_o = !visa.hbm<bf16, element "G, N, D", #axes>
!hbm_up = !visa.hbm<bf16, element "L, H", #axes>
!hbm_down = !visa.hbm<bf16, element "G, L", #axes>
!hbm_out = !visa.hbm<f32, element "S, G", #axes>

!h = !visa.dm<f32, slice "S", element "H", #axes>
!hb = !visa.dm<bf16, slice "S", element "H", #axes>
!g = !visa.dm<f32, slice "S", element "G", #axes>
!one = !visa.dm<f32, slice "S", element "1 # 8", #axes>
!heads1 = !visa.dm<f32, slice "S", element "N, 1 # 8", #axes>
!heads = !visa.dm<f32, slice "S", element "N, D", #axes>
!headsb = !visa.dm<bf16, slice "S", element "N, D", #axes>
!half = !visa.dm<f32, slice "S", element "N, D = 16 # 32", #axes>
!hole = !visa.dm<f32, slice "S", element "N, D = 16 #{!} 32", #axes>
!head = !visa.dm<f32, slice "S", element "D", #axes>
!keys = !visa.dm<bf16, slice "T", element "N, D", #axes>
!all_keys = !visa.dm<bf16, slice "S", element "T, N, D", #axes>
!all_values = !visa.dm<bf16, slice "S", element "N, D, T", #axes>
!scores = !visa.dm<f32, slice "S", element "N, T", #axes>
!weights = !visa.dm<bf16, slice "S", element "N, T", #axes>
!mask = !visa.dm<f32, slice "S", element "T", #axes>
!mlp = !visa.dm<f32, slice "S", element "L", #axes>
!mlpb = !visa.dm<bf16, slice "S", element "L", #axes>
!w_qkv = !visa.dm<bf16, slice "S", element "N, D, H", #axes>
!w_o = !visa.dm<bf16, slice "S", element "G, N, D", #axes>
!w_up = !visa.dm<bf16, slice "S", element "L, H", #axes>
!w_down = !visa.dm<bf16, slice "S", element "G, L", #axes>

!v_h = !visa.vrf<f32, slice "S", element "H", #axes>
!v_g = !visa.vrf<f32, slice "S", element "G", #axes>
!v_one = !visa.vrf<f32, slice "S", element "1 # 8", #axes>
!v_heads1 = !visa.vrf<f32, slice "S", element "N, 1 # 8", #axes>
!v_heads = !visa.vrf<f32, slice "S", element "N, D", #axes>
!v_head = !visa.vrf<f32, slice "S", element "D", #axes>
!v_mask = !visa.vrf<f32, slice "S", element "T", #axes>
!v_mlp = !visa.vrf<f32, slice "S", element "L", #axes>

!t_qkv = !visa.trf<bf16, slice "S", lane "D % 8", element "N, D / 8, H", #axes>
!t_keys = !visa.trf<bf16, slice "S", lane "T % 8", element "T / 8, N, D", #axes>
!t_values = !visa.trf<bf16, slice "S", lane "D % 8", element "N, D / 8, T", #axes>
!t_o = !visa.trf<bf16, slice "S", lane "G % 8", element "G / 8, N, D", #axes>
!t_up = !visa.trf<bf16, slice "S", lane "L % 8", element "L / 8, H", #axes>
!t_down = !visa.trf<bf16, slice "S", lane "G % 8", element "G / 8, L", #axes>

func.func @decoder(%x: !hbm_h, %norm1: !hbm_norm, %wq: !hbm_qkv, %wk: !hbm_qkv,
                   %wv: !hbm_qkv, %normq: !hbm_head, %normk: !hbm_head,
                   %cos: !hbm_rope, %sin: !hbm_rope, %mask: !hbm_mask,
                   %wo: !hbm_o, %norm2: !hbm_norm, %wgate: !hbm_up,
                   %wup: !hbm_up, %wdown: !hbm_down) -> !hbm_out
    attributes {visa.kernel} {
  %xd = visa.to_dm %x : !hbm_h -> !h

  // RMS norm: the mean square, its root in the register file, both factors.
  %a_ms = visa.chain main -> !one {
    fetch %xd time "H / 8" packet "H % 8" : !h
    collect time "H / 8" packet "H % 8"
    vector_init
    vector_tag zero
    vector_narrow split time "H / 4" packet "H % 4"
    vector_stash
    vector_fp mul0 [stash]
    vector_reduce add axis "H" time "1" packet "1 # 4"
    vector_fp_div [imm 64.0]
    vector_widen pad packet "1 # 8"
    vector_clip add [imm 1.0e-6]
    vector_final
    commit_trim packet "1 # 8"
    commit element "1 # 8"
  }
  %a_root = visa.chain sub -> !v_one {
    fetch %a_ms time "1" packet "1 # 8" : !one
    collect time "1" packet "1 # 8"
    vector_init
    vector_tag zero
    vector_narrow trim packet "1 # 4"
    vector_fp sqrt
    vector_widen pad packet "1 # 8"
    vector_final
    to_vrf element "1 # 8"
  }
  %a_nd = visa.to_dm %norm1 : !hbm_norm -> !h
  %a_n = visa.chain sub -> !v_h {
    fetch %a_nd time "H / 8" packet "H % 8" : !h
    collect time "H / 8" packet "H % 8"
    to_vrf element "H"
  }
  %a_xn = visa.chain main -> !hb {
    fetch %xd time "H / 8" packet "H % 8" : !h
    collect time "H / 8" packet "H % 8"
    vector_init
    vector_tag zero
    vector_narrow split time "H / 4" packet "H % 4"
    vector_fp mul0 [vrf %a_n] : !v_h
    vector_fp_div [vrf %a_root] : !v_one
    vector_widen concat time "H / 8" packet "H % 8"
    vector_final
    cast to bf16 packet "H % 8 # 16"
    commit_trim packet "H % 8"
    commit element "H"
  }

  // Queries, keys and values.
  %wqd = visa.to_dm %wq : !hbm_qkv -> !w_qkv
  %tq = visa.chain sub -> !t_qkv {
    fetch %wqd time "D % 8, N, D / 8, H / 16" packet "H % 16" : !w_qkv
    collect time "D % 8, N, D / 8, H / 16" packet "H % 16"
    to_trf lane "D % 8" element "N, D / 8, H"
  }
  %q = visa.chain main -> !heads {
    fetch %a_xn time "H / 16" packet "H % 16" : !hb
    collect time "H / 16" packet "H % 16"
    contract_outer %tq time "H / 32, N, D / 8" packet "H % 32" : !t_qkv
    contract_packet packet "1"
    contract_time time "N, D / 8"
    contract_lane interleaved time "N, D / 8" packet "D % 8"
    commit_trim packet "D % 8"
    commit element "N, D"
  }
  %wkd = visa.to_dm %wk : !hbm_qkv -> !w_qkv
  %tk = visa.chain sub -> !t_qkv {
    fetch %wkd time "D % 8, N, D / 8, H / 16" packet "H % 16" : !w_qkv
    collect time "D % 8, N, D / 8, H / 16" packet "H % 16"
    to_trf lane "D % 8" element "N, D / 8, H"
  }
  %k = visa.chain main -> !heads {
    fetch %a_xn time "H / 16" packet "H % 16" : !hb
    collect time "H / 16" packet "H % 16"
    contract_outer %tk time "H / 32, N, D / 8" packet "H % 32" : !t_qkv
    contract_packet packet "1"
    contract_time time "N, D / 8"
    contract_lane interleaved time "N, D / 8" packet "D % 8"
    commit_trim packet "D % 8"
    commit element "N, D"
  }
  %wvd = visa.to_dm %wv : !hbm_qkv -> !w_qkv
  %tv = visa.chain sub -> !t_qkv {
    fetch %wvd time "D % 8, N, D / 8, H / 16" packet "H % 16" : !w_qkv
    collect time "D % 8, N, D / 8, H / 16" packet "H % 16"
    to_trf lane "D % 8" element "N, D / 8, H"
  }
  %v = visa.chain main -> !headsb {
    fetch %a_xn time "H / 16" packet "H % 16" : !hb
    collect time "H / 16" packet "H % 16"
    contract_outer %tv time "H / 32, N, D / 8" packet "H % 32" : !t_qkv
    contract_packet packet "1"
    contract_time time "N, D / 8"
    contract_lane interleaved time "N, D / 8" packet "D % 8"
    cast to bf16 packet "D % 8 # 16"
    commit_trim packet "D % 8"
    commit element "N, D"
  }

  // Norm of each head and rotary positions, of queries and keys.
  %cosd = visa.to_dm %cos : !hbm_rope -> !head
  %cosv = visa.chain sub -> !v_head {
    fetch %cosd time "D / 8" packet "D % 8" : !head
    collect time "D / 8" packet "D % 8"
    to_vrf element "D"
  }
  %sind = visa.to_dm %sin : !hbm_rope -> !head
  %sinv = visa.chain sub -> !v_head {
    fetch %sind time "D / 8" packet "D % 8" : !head
    collect time "D / 8" packet "D % 8"
    to_vrf element "D"
  }
  %qms = visa.chain main -> !heads1 {
    fetch %q time "N, D / 8" packet "D % 8" : !heads
    collect time "N, D / 8" packet "D % 8"
    vector_init
    vector_tag zero
    vector_narrow split time "N, D / 4" packet "D % 4"
    vector_stash
    vector_fp mul0 [stash]
    vector_reduce add axis "D" time "N" packet "1 # 4"
    vector_fp_div [imm 32.0]
    vector_widen pad packet "1 # 8"
    vector_clip add [imm 1.0e-6]
    vector_final
    commit_trim packet "1 # 8"
    commit element "N, 1 # 8"
  }
  %qroot = visa.chain sub -> !v_heads1 {
    fetch %qms time "N" packet "1 # 8" : !heads1
    collect time "N" packet "1 # 8"
    vector_init
    vector_tag zero
    vector_narrow trim packet "1 # 4"
    vector_fp sqrt
    vector_widen pad packet "1 # 8"
    vector_final
    to_vrf element "N, 1 # 8"
  }
  %qnd = visa.to_dm %normq : !hbm_head -> !head
  %qnv = visa.chain sub -> !v_head {
    fetch %qnd time "D / 8" packet "D % 8" : !head
    collect time "D / 8" packet "D % 8"
    to_vrf element "D"
  }
  %qn = visa.chain main -> !heads {
    fetch %q time "N, D / 8" packet "D % 8" : !heads
    collect time "N, D / 8" packet "D % 8"
    vector_init
    vector_tag zero
    vector_narrow split time "N, D / 4" packet "D % 4"
    vector_fp mul0 [vrf %qnv] : !v_head
    vector_fp_div [vrf %qroot] : !v_heads1
    vector_widen concat time "N, D / 8" packet "D % 8"
    vector_final
    commit_trim packet "D % 8"
    commit element "N, D"
  }
  %qturned = visa.alloc : !heads
  %qfrom0 = visa.tile %qn[0] along "D" take 16 : !heads -> !half
  %qto0 = visa.tile %qturned[16] along "D" take 16 : !heads -> !hole
  %qhalf0 = visa.chain main -> !hole {
    fetch %qfrom0 time "N, D = 16 / 8" packet "D = 16 % 8" : !half
    collect time "N, D = 16 / 8" packet "D = 16 % 8"
    commit_trim packet "D = 16 % 8"
    commit element "N, D = 16 #{!} 32" into %qto0 : !hole
  }
  %qfrom1 = visa.tile %qn[16] along "D" take 16 : !heads -> !half
  %qto1 = visa.tile %qturned[0] along "D" take 16 : !heads -> !hole
  %qhalf1 = visa.chain main -> !hole {
    fetch %qfrom1 time "N, D = 16 / 8" packet "D = 16 % 8" : !half
    collect time "N, D = 16 / 8" packet "D = 16 % 8"
    commit_trim packet "D = 16 % 8"
    commit element "N, D = 16 #{!} 32" into %qto1 : !hole
  }
  %qsin = visa.chain sub -> !v_heads {
    fetch %qturned time "N, D / 8" packet "D % 8" : !heads
    collect time "N, D / 8" packet "D % 8"
    vector_init
    vector_tag zero
    vector_narrow split time "N, D / 4" packet "D % 4"
    vector_fp mul1 [vrf %sinv] : !v_head
    vector_widen concat time "N, D / 8" packet "D % 8"
    vector_final
    to_vrf element "N, D"
  }
  %qr = visa.chain main -> !headsb {
    fetch %qn time "N, D / 8" packet "D % 8" : !heads
    collect time "N, D / 8" packet "D % 8"
    vector_init
    vector_tag zero
    vector_narrow split time "N, D / 4" packet "D % 4"
    vector_fp mul0 [vrf %cosv] : !v_head
    vector_widen concat time "N, D / 8" packet "D % 8"
    vector_clip add [vrf %qsin] : !v_heads
    vector_final
    cast to bf16 packet "D % 8 # 16"
    commit_trim packet "D % 8"
    commit element "N, D"
  }
  %kms = visa.chain main -> !heads1 {
    fetch %k time "N, D / 8" packet "D % 8" : !heads
    collect time "N, D / 8" packet "D % 8"
    vector_init
    vector_tag zero
    vector_narrow split time "N, D / 4" packet "D % 4"
    vector_stash
    vector_fp mul0 [stash]
    vector_reduce add axis "D" time "N" packet "1 # 4"
    vector_fp_div [imm 32.0]
    vector_widen pad packet "1 # 8"
    vector_clip add [imm 1.0e-6]
    vector_final
    commit_trim packet "1 # 8"
    commit element "N, 1 # 8"
  }
  %kroot = visa.chain sub -> !v_heads1 {
    fetch %kms time "N" packet "1 # 8" : !heads1
    collect time "N" packet "1 # 8"
    vector_init
    vector_tag zero
    vector_narrow trim packet "1 # 4"
    vector_fp sqrt
    vector_widen pad packet "1 # 8"
    vector_final
    to_vrf element "N, 1 # 8"
  }
  %knd = visa.to_dm %normk : !hbm_head -> !head
  %knv = visa.chain sub -> !v_head {
    fetch %knd time "D / 8" packet "D % 8" : !head
    collect time "D / 8" packet "D % 8"
    to_vrf element "D"
  }
  %kn = visa.chain main -> !heads {
    fetch %k time "N, D / 8" packet "D % 8" : !heads
    collect time "N, D / 8" packet "D % 8"
    vector_init
    vector_tag zero
    vector_narrow split time "N, D / 4" packet "D % 4"
    vector_fp mul0 [vrf %knv] : !v_head
    vector_fp_div [vrf %kroot] : !v_heads1
    vector_widen concat time "N, D / 8" packet "D % 8"
    vector_final
    commit_trim packet "D % 8"
    commit element "N, D"
  }
  %kturned = visa.alloc : !heads
  %kfrom0 = visa.tile %kn[0] along "D" take 16 : !heads -> !half
  %kto0 = visa.tile %kturned[16] along "D" take 16 : !heads -> !hole
  %khalf0 = visa.chain main -> !hole {
    fetch %kfrom0 time "N, D = 16 / 8" packet "D = 16 % 8" : !half
    collect time "N, D = 16 / 8" packet "D = 16 % 8"
    commit_trim packet "D = 16 % 8"
    commit element "N, D = 16 #{!} 32" into %kto0 : !hole
  }
  %kfrom1 = visa.tile %kn[16] along "D" take 16 : !heads -> !half
  %kto1 = visa.tile %kturned[0] along "D" take 16 : !heads -> !hole
  %khalf1 = visa.chain main -> !hole {
    fetch %kfrom1 time "N, D = 16 / 8" packet "D = 16 % 8" : !half
    collect time "N, D = 16 / 8" packet "D = 16 % 8"
    commit_trim packet "D = 16 % 8"
    commit element "N, D = 16 #{!} 32" into %kto1 : !hole
  }
  %ksin = visa.chain sub -> !v_heads {
    fetch %kturned time "N, D / 8" packet "D % 8" : !heads
    collect time "N, D / 8" packet "D % 8"
    vector_init
    vector_tag zero
    vector_narrow split time "N, D / 4" packet "D % 4"
    vector_fp mul1 [vrf %sinv] : !v_head
    vector_widen concat time "N, D / 8" packet "D % 8"
    vector_final
    to_vrf element "N, D"
  }
  %kr = visa.chain main -> !headsb {
    fetch %kn time "N, D / 8" packet "D % 8" : !heads
    collect time "N, D / 8" packet "D % 8"
    vector_init
    vector_tag zero
    vector_narrow split time "N, D / 4" packet "D % 4"
    vector_fp mul0 [vrf %cosv] : !v_head
    vector_widen concat time "N, D / 8" packet "D % 8"
    vector_clip add [vrf %ksin] : !v_heads
    vector_final
    cast to bf16 packet "D % 8 # 16"
    commit_trim packet "D % 8"
    commit element "N, D"
  }

  // Keys and values of all tokens to every token; values with tokens innermost.
  %kown = visa.reshape %kr : !headsb -> !keys
  %kall = visa.alloc : !all_keys
  visa.copy %kown into %kall : !keys, !all_keys
  %vown = visa.reshape %v : !headsb -> !keys
  %vall = visa.alloc : !all_keys
  visa.copy %vown into %vall : !keys, !all_keys
  %vt = visa.chain main -> !all_values {
    fetch %vall time "N, D / 8, T" packet "D % 8" : !all_keys
    collect time "N, D / 8, T" packet "D % 8 # 16"
    transpose time "N, D / 8, T / 4, D % 8" packet "T % 4 # 16"
    commit_trim packet "T % 4"
    commit element "N, D, T"
  }

  // Scores, scaled and masked.
  %maskd = visa.to_dm %mask : !hbm_mask -> !mask
  %maskv = visa.chain sub -> !v_mask {
    fetch %maskd time "T / 8" packet "T % 8" : !mask
    collect time "T / 8" packet "T % 8"
    to_vrf element "T"
  }
  %tkeys = visa.chain sub -> !t_keys {
    fetch %kall time "T % 8, T / 8, N, D / 16" packet "D % 16" : !all_keys
    collect time "T % 8, T / 8, N, D / 16" packet "D % 16"
    to_trf lane "T % 8" element "T / 8, N, D"
  }
  %s = visa.chain main -> !scores {
    fetch %qr time "N, D / 16" packet "D % 16" : !headsb
    collect time "N, D / 16" packet "D % 16"
    contract_outer %tkeys time "N, T / 8" packet "D" : !t_keys
    contract_packet packet "1"
    contract_time time "N, T / 8"
    contract_lane interleaved time "N, T / 8" packet "T % 8"
    vector_init
    vector_tag zero
    vector_narrow split time "N, T / 4" packet "T % 4"
    vector_fp div [imm 5.656854]
    vector_widen concat time "N, T / 8" packet "T % 8"
    vector_clip min [vrf %maskv] : !v_mask
    vector_final
    commit_trim packet "T % 8"
    commit element "N, T"
  }

  // Softmax over the tokens that are asked.
  %most = visa.chain main -> !heads1 {
    fetch %s time "N, T / 8" packet "T % 8" : !scores
    collect time "N, T / 8" packet "T % 8"
    vector_init
    vector_tag zero
    vector_narrow split time "N, T / 4" packet "T % 4"
    vector_reduce max axis "T" time "N" packet "1 # 4"
    vector_widen pad packet "1 # 8"
    vector_final
    commit_trim packet "1 # 8"
    commit element "N, 1 # 8"
  }
  %mostv = visa.chain sub -> !v_heads1 {
    fetch %most time "N" packet "1 # 8" : !heads1
    collect time "N" packet "1 # 8"
    to_vrf element "N, 1 # 8"
  }
  %e = visa.chain main -> !scores {
    fetch %s time "N, T / 8" packet "T % 8" : !scores
    collect time "N, T / 8" packet "T % 8"
    vector_init
    vector_tag zero
    vector_narrow split time "N, T / 4" packet "T % 4"
    vector_fp sub [vrf %mostv] : !v_heads1
    vector_fp exp
    vector_widen concat time "N, T / 8" packet "T % 8"
    vector_final
    commit_trim packet "T % 8"
    commit element "N, T"
  }
  %sum = visa.chain main -> !heads1 {
    fetch %e time "N, T / 8" packet "T % 8" : !scores
    collect time "N, T / 8" packet "T % 8"
    vector_init
    vector_tag zero
    vector_narrow split time "N, T / 4" packet "T % 4"
    vector_reduce add axis "T" time "N" packet "1 # 4"
    vector_widen pad packet "1 # 8"
    vector_final
    commit_trim packet "1 # 8"
    commit element "N, 1 # 8"
  }
  %sumv = visa.chain sub -> !v_heads1 {
    fetch %sum time "N" packet "1 # 8" : !heads1
    collect time "N" packet "1 # 8"
    to_vrf element "N, 1 # 8"
  }
  %p = visa.chain main -> !weights {
    fetch %e time "N, T / 8" packet "T % 8" : !scores
    collect time "N, T / 8" packet "T % 8"
    vector_init
    vector_tag zero
    vector_narrow split time "N, T / 4" packet "T % 4"
    vector_fp_div [vrf %sumv] : !v_heads1
    vector_widen concat time "N, T / 8" packet "T % 8"
    vector_final
    cast to bf16 packet "T % 8 # 16"
    commit_trim packet "T % 8"
    commit element "N, T"
  }

  // Weighted sum of the values, output projection, residual.
  %tvalues = visa.chain sub -> !t_values {
    fetch %vt time "D % 8, N, D / 8, T / 16" packet "T % 16" : !all_values
    collect time "D % 8, N, D / 8, T / 16" packet "T % 16"
    to_trf lane "D % 8" element "N, D / 8, T"
  }
  %a = visa.chain main -> !headsb {
    fetch %p time "N, T / 16" packet "T % 16" : !weights
    collect time "N, T / 16" packet "T % 16"
    contract_outer %tvalues time "N, T / 32, D / 8" packet "T % 32" : !t_values
    contract_packet packet "1"
    contract_time time "N, D / 8"
    contract_lane interleaved time "N, D / 8" packet "D % 8"
    cast to bf16 packet "D % 8 # 16"
    commit_trim packet "D % 8"
    commit element "N, D"
  }
  %wod = visa.to_dm %wo : !hbm_o -> !w_o
  %to = visa.chain sub -> !t_o {
    fetch %wod time "G % 8, G / 8, N, D / 16" packet "D % 16" : !w_o
    collect time "G % 8, G / 8, N, D / 16" packet "D % 16"
    to_trf lane "G % 8" element "G / 8, N, D"
  }
  %xg = visa.reshape %xd : !h -> !g
  %xv = visa.chain sub -> !v_g {
    fetch %xg time "G / 8" packet "G % 8" : !g
    collect time "G / 8" packet "G % 8"
    to_vrf element "G"
  }
  %y = visa.chain main -> !g {
    fetch %a time "N, D / 16" packet "D % 16" : !headsb
    collect time "N, D / 16" packet "D % 16"
    contract_outer %to time "N, G / 8" packet "D" : !t_o
    contract_packet packet "1"
    contract_time time "G / 8"
    contract_lane interleaved time "G / 8" packet "G % 8"
    vector_init
    vector_tag zero
    vector_clip add [vrf %xv] : !v_g
    vector_final
    commit_trim packet "G % 8"
    commit element "G"
  }
  %yv = visa.chain sub -> !v_g {
    fetch %y time "G / 8" packet "G % 8" : !g
    collect time "G / 8" packet "G % 8"
    to_vrf element "G"
  }
  %yh = visa.reshape %y : !g -> !h

  // RMS norm: the mean square, its root in the register file, both factors.
  %m_ms = visa.chain main -> !one {
    fetch %yh time "H / 8" packet "H % 8" : !h
    collect time "H / 8" packet "H % 8"
    vector_init
    vector_tag zero
    vector_narrow split time "H / 4" packet "H % 4"
    vector_stash
    vector_fp mul0 [stash]
    vector_reduce add axis "H" time "1" packet "1 # 4"
    vector_fp_div [imm 64.0]
    vector_widen pad packet "1 # 8"
    vector_clip add [imm 1.0e-6]
    vector_final
    commit_trim packet "1 # 8"
    commit element "1 # 8"
  }
  %m_root = visa.chain sub -> !v_one {
    fetch %m_ms time "1" packet "1 # 8" : !one
    collect time "1" packet "1 # 8"
    vector_init
    vector_tag zero
    vector_narrow trim packet "1 # 4"
    vector_fp sqrt
    vector_widen pad packet "1 # 8"
    vector_final
    to_vrf element "1 # 8"
  }
  %m_nd = visa.to_dm %norm2 : !hbm_norm -> !h
  %m_n = visa.chain sub -> !v_h {
    fetch %m_nd time "H / 8" packet "H % 8" : !h
    collect time "H / 8" packet "H % 8"
    to_vrf element "H"
  }
  %m_xn = visa.chain main -> !hb {
    fetch %yh time "H / 8" packet "H % 8" : !h
    collect time "H / 8" packet "H % 8"
    vector_init
    vector_tag zero
    vector_narrow split time "H / 4" packet "H % 4"
    vector_fp mul0 [vrf %m_n] : !v_h
    vector_fp_div [vrf %m_root] : !v_one
    vector_widen concat time "H / 8" packet "H % 8"
    vector_final
    cast to bf16 packet "H % 8 # 16"
    commit_trim packet "H % 8"
    commit element "H"
  }

  // MLP: silu of the gate goes to the register file.
  %wgated = visa.to_dm %wgate : !hbm_up -> !w_up
  %tgate = visa.chain sub -> !t_up {
    fetch %wgated time "L % 8, L / 8, H / 16" packet "H % 16" : !w_up
    collect time "L % 8, L / 8, H / 16" packet "H % 16"
    to_trf lane "L % 8" element "L / 8, H"
  }
  %gate = visa.chain main -> !mlp {
    fetch %m_xn time "H / 16" packet "H % 16" : !hb
    collect time "H / 16" packet "H % 16"
    contract_outer %tgate time "H / 32, L / 8" packet "H % 32" : !t_up
    contract_packet packet "1"
    contract_time time "L / 8"
    contract_lane interleaved time "L / 8" packet "L % 8"
    commit_trim packet "L % 8"
    commit element "L"
  }
  %silu = visa.chain sub -> !v_mlp {
    fetch %gate time "L / 8" packet "L % 8" : !mlp
    collect time "L / 8" packet "L % 8"
    vector_init
    vector_tag zero
    vector_narrow split time "L / 4" packet "L % 4"
    vector_stash
    vector_fp sigmoid
    vector_fp mul0 [stash]
    vector_widen concat time "L / 8" packet "L % 8"
    vector_final
    to_vrf element "L"
  }
  %wupd = visa.to_dm %wup : !hbm_up -> !w_up
  %tup = visa.chain sub -> !t_up {
    fetch %wupd time "L % 8, L / 8, H / 16" packet "H % 16" : !w_up
    collect time "L % 8, L / 8, H / 16" packet "H % 16"
    to_trf lane "L % 8" element "L / 8, H"
  }
  %u = visa.chain main -> !mlpb {
    fetch %m_xn time "H / 16" packet "H % 16" : !hb
    collect time "H / 16" packet "H % 16"
    contract_outer %tup time "H / 32, L / 8" packet "H % 32" : !t_up
    contract_packet packet "1"
    contract_time time "L / 8"
    contract_lane interleaved time "L / 8" packet "L % 8"
    vector_init
    vector_tag zero
    vector_narrow split time "L / 4" packet "L % 4"
    vector_fp mul1 [vrf %silu] : !v_mlp
    vector_widen concat time "L / 8" packet "L % 8"
    vector_final
    cast to bf16 packet "L % 8 # 16"
    commit_trim packet "L % 8"
    commit element "L"
  }
  %wdownd = visa.to_dm %wdown : !hbm_down -> !w_down
  %tdown = visa.chain sub -> !t_down {
    fetch %wdownd time "G % 8, G / 8, L / 16" packet "L % 16" : !w_down
    collect time "G % 8, G / 8, L / 16" packet "L % 16"
    to_trf lane "G % 8" element "G / 8, L"
  }
  %r = visa.chain main -> !g {
    fetch %u time "L / 16" packet "L % 16" : !mlpb
    collect time "L / 16" packet "L % 16"
    contract_outer %tdown time "L / 32, G / 8" packet "L % 32" : !t_down
    contract_packet packet "1"
    contract_time time "G / 8"
    contract_lane interleaved time "G / 8" packet "G % 8"
    vector_init
    vector_tag zero
    vector_clip add [vrf %yv] : !v_g
    vector_final
    commit_trim packet "G % 8"
    commit element "G"
  }
  %out = visa.to_hbm %r : !g -> !hbm_out
  return %out : !hbm_out
}
