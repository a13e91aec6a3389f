// Softmax of 256 rows of 100 in f32, one row a slice, padded to 104: the row's maximum, exponentials, their sum, and the
// division. The valid counts keep the padding out of both reductions.
#axes = #tmap.axes<N = 256, T = 100>
!x = !visa.hbm<f32, element "N, T", #axes>
!xd = !visa.dm<f32, slice "N", element "T # 104", #axes>
!sd = !visa.dm<f32, slice "N", element "1 # 8", #axes>
!sv = !visa.vrf<f32, slice "N", element "1 # 8", #axes>
func.func @softmax(%x: !x) -> !x attributes {visa.kernel} {
  %xd = visa.to_dm %x : !x -> !xd
  %max = visa.chain main -> !sd {
    fetch %xd time "T # 104 / 8" packet "T # 104 % 8" : !xd
    collect time "T # 104 / 8" packet "T # 104 % 8"
    vector_init
    vector_tag zero
    vector_narrow split time "T # 104 / 4" packet "T # 104 % 4"
    vector_reduce max axis "T" time "1" packet "1 # 4"
    vector_widen pad packet "1 # 8"
    vector_final
    commit_trim packet "1 # 8"
    commit element "1 # 8"
  }
  %maxv = visa.chain sub -> !sv {
    fetch %max time "1" packet "1 # 8" : !sd
    collect time "1" packet "1 # 8"
    to_vrf element "1 # 8"
  }
  %ed = visa.chain main -> !xd {
    fetch %xd time "T # 104 / 8" packet "T # 104 % 8" : !xd
    collect time "T # 104 / 8" packet "T # 104 % 8"
    vector_init
    vector_tag zero
    vector_narrow split time "T # 104 / 4" packet "T # 104 % 4"
    vector_fp sub [vrf %maxv] : !sv
    vector_fp exp
    vector_widen concat time "T # 104 / 8" packet "T # 104 % 8"
    vector_final
    commit_trim packet "T # 104 % 8"
    commit element "T # 104"
  }
  %sum = visa.chain main -> !sd {
    fetch %ed time "T # 104 / 8" packet "T # 104 % 8" : !xd
    collect time "T # 104 / 8" packet "T # 104 % 8"
    vector_init
    vector_tag zero
    vector_narrow split time "T # 104 / 4" packet "T # 104 % 4"
    vector_reduce add axis "T" time "1" packet "1 # 4"
    vector_widen pad packet "1 # 8"
    vector_final
    commit_trim packet "1 # 8"
    commit element "1 # 8"
  }
  %sumv = visa.chain sub -> !sv {
    fetch %sum time "1" packet "1 # 8" : !sd
    collect time "1" packet "1 # 8"
    to_vrf element "1 # 8"
  }
  %yd = visa.chain main -> !xd {
    fetch %ed time "T # 104 / 8" packet "T # 104 % 8" : !xd
    collect time "T # 104 / 8" packet "T # 104 % 8"
    vector_init
    vector_tag zero
    vector_narrow split time "T # 104 / 4" packet "T # 104 % 4"
    vector_fp_div [vrf %sumv] : !sv
    vector_widen concat time "T # 104 / 8" packet "T # 104 % 8"
    vector_final
    commit_trim packet "T # 104 % 8"
    commit element "T # 104"
  }
  %y = visa.to_hbm %yd : !xd -> !x
  return %y : !x
}
