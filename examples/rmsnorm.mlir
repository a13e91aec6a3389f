// RMSNorm of 256 rows of 1024 in f32, one row a slice: y = x / sqrt(mean(x x) + 1e-6) * w. The mean is a reduction
// inside the slice, its root comes back through the vector register file.
#axes = #tmap.axes<N = 256, H = 1024>
!x = !visa.hbm<f32, element "N, H", #axes>
!w = !visa.hbm<f32, element "H", #axes>
!xd = !visa.dm<f32, slice "N", element "H", #axes>
!wd = !visa.dm<f32, slice "N", element "H", #axes>
!sd = !visa.dm<f32, slice "N", element "1 # 8", #axes>
!wv = !visa.vrf<f32, slice "N", element "H", #axes>
!sv = !visa.vrf<f32, slice "N", element "1 # 8", #axes>
func.func @rmsnorm(%x: !x, %w: !w) -> !x attributes {visa.kernel} {
  %xd = visa.to_dm %x : !x -> !xd
  %wd = visa.to_dm %w : !w -> !wd
  %wv = visa.chain sub -> !wv {
    fetch %wd time "H / 8" packet "H % 8" : !wd
    collect time "H / 8" packet "H % 8"
    to_vrf element "H"
  }
  %mean = visa.chain main -> !sd {
    fetch %xd time "H / 8" packet "H % 8" : !xd
    collect time "H / 8" packet "H % 8"
    vector_init
    vector_tag zero
    vector_narrow split time "H / 4" packet "H % 4"
    vector_stash
    vector_fp mul [stash]
    vector_reduce add axis "H" time "1" packet "1 # 4"
    vector_fp_div [imm 1024.0]
    vector_widen pad packet "1 # 8"
    vector_clip add [imm 1.0e-06]
    vector_final
    commit_trim packet "1 # 8"
    commit element "1 # 8"
  }
  %root = visa.chain main -> !sd {
    fetch %mean time "1" packet "1 # 8" : !sd
    collect time "1" packet "1 # 8"
    vector_init
    vector_tag zero
    vector_narrow trim packet "1 # 4"
    vector_fp sqrt
    vector_widen pad packet "1 # 8"
    vector_final
    commit_trim packet "1 # 8"
    commit element "1 # 8"
  }
  %sv = visa.chain sub -> !sv {
    fetch %root time "1" packet "1 # 8" : !sd
    collect time "1" packet "1 # 8"
    to_vrf element "1 # 8"
  }
  %yd = visa.chain main -> !xd {
    fetch %xd time "H / 8" packet "H % 8" : !xd
    collect time "H / 8" packet "H % 8"
    vector_init
    vector_tag zero
    vector_narrow split time "H / 4" packet "H % 4"
    vector_fp mul [vrf %wv] : !wv
    vector_fp_div [vrf %sv] : !sv
    vector_widen concat time "H / 8" packet "H % 8"
    vector_final
    commit_trim packet "H % 8"
    commit element "H"
  }
  %y = visa.to_hbm %yd : !xd -> !x
  return %y : !x
}
