// Products whose sums go round the slices, as large kernels have them: N2, N7, N11 and N12 of the corpus, with fewer rows
// where those would only repeat.

// N2: a row of weights for two rows of the packet; groups of 128 slices, each of which gets the sum.
#a = #tmap.axes<A = 64, B = 4096, X = 128>
!a_hbm = !visa.hbm<i8, element "A, B", #a>
!a_w_hbm = !visa.hbm<i8, element "B", #a>
!a_dm = !visa.dm<i8, slice "A / 32, B / 32", element "A % 32, B % 32", #a>
!a_w_dm = !visa.dm<i8, slice "A / 32, B / 32", element "B % 32", #a>
!a_trf = !visa.trf<i8, slice "A / 32, B / 32", lane "1", element "B % 32", #a>
!a_out = !visa.dm<i8, slice "A / 32, X", element "A / 2 % 16, A % 2 # 8", #a>
!a_r = !visa.hbm<i8, element "X, A / 2, A % 2 # 8", #a>
func.func @n2(%m: !a_hbm, %w: !a_w_hbm) -> !a_r attributes {visa.kernel} {
  %md = visa.to_dm %m : !a_hbm -> !a_dm
  %wd = visa.to_dm %w : !a_w_hbm -> !a_w_dm
  %wt = visa.chain sub -> !a_trf {
    fetch %wd time "1" packet "B % 32" : !a_w_dm
    fetch_cast to i8
    collect time "1" packet "B % 32"
    to_trf lane "1" element "B % 32"
  }
  %c = visa.chain main -> !a_out {
    fetch %md time "A % 32" packet "B % 32" : !a_dm
    fetch_cast to i8
    collect time "A % 32" packet "B % 32"
    contract_outer %wt time "A / 2 % 16" packet "A % 2, B % 32" : !a_trf
    contract_packet packet "A % 2"
    contract_time time "A / 2 % 16"
    contract_lane sequential time "A / 2 % 16" packet "A % 2 # 8"
    vector_init
    vector_inter_slice_reduce add slice "A / 32, X" time "A / 2 % 16"
    vector_final
    cast to i8 packet "A % 2 # 32"
    commit_trim packet "A % 2 # 8"
    commit element "A / 2 % 16, A % 2 # 8"
  }
  %r = visa.to_hbm %c : !a_out -> !a_r
  return %r : !a_r
}

// N7: eight columns of C in lanes, the sum over 32 slices of each row of slices.
#c = #tmap.axes<A = 64, B = 2048, C = 32, X = 32>
!c_hbm = !visa.hbm<i8, element "A, B", #c>
!c_w_hbm = !visa.hbm<i8, element "C, B", #c>
!c_dm = !visa.dm<i8, slice "A / 8, B / 64", element "A % 8, B % 64", #c>
!c_w_dm = !visa.dm<i8, slice "A / 8, B / 64", element "C, B % 64", #c>
!c_trf = !visa.trf<i8, slice "A / 8, B / 64", lane "C / 4", element "C % 4, B % 64", #c>
!c_out = !visa.dm<i8, slice "A / 8, X", element "C % 4, A % 8, C / 4", #c>
!c_r = !visa.hbm<i8, element "X, A, C % 4, C / 4", #c>
func.func @n7(%m: !c_hbm, %w: !c_w_hbm) -> !c_r attributes {visa.kernel} {
  %md = visa.to_dm %m : !c_hbm -> !c_dm
  %wd = visa.to_dm %w : !c_w_hbm -> !c_w_dm
  %wt = visa.chain sub -> !c_trf {
    fetch %wd time "C" packet "B % 64" : !c_w_dm
    fetch_cast to i8
    collect time "C, B / 32 % 2" packet "B % 32"
    to_trf lane "C / 4" element "C % 4, B % 64"
  }
  %p = visa.chain main -> !c_out {
    fetch %md time "C % 4, A % 8, B / 32 % 2" packet "B % 32" : !c_dm
    fetch_cast to i8
    collect time "C % 4, A % 8, B / 32 % 2" packet "B % 32"
    contract_outer %wt time "C % 4, A % 8" packet "B % 64" : !c_trf
    contract_packet packet "1"
    contract_time time "C % 4, A % 8"
    contract_lane interleaved time "C % 4, A % 8" packet "C / 4"
    vector_init
    vector_inter_slice_reduce add slice "A / 8, X" time "C % 4, A % 8"
    vector_final
    cast to i8 packet "C / 4 # 32"
    commit_trim packet "C / 4"
    commit element "C % 4, A % 8, C / 4"
  }
  %r = visa.to_hbm %p : !c_out -> !c_r
  return %r : !c_r
}

// N11: outer products without a tree; rows of time take the place of the slices that are summed.
#k = #tmap.axes<M = 64, K = 128, N = 128>
!k_l_hbm = !visa.hbm<bf16, element "M, K", #k>
!k_r_hbm = !visa.hbm<bf16, element "K, N", #k>
!k_l_dm = !visa.dm<bf16, slice "1 # 4, M / 8, K / 16", element "M % 8, K % 16", #k>
!k_r_dm = !visa.dm<bf16, slice "1 # 4, K / 16, K / 2 % 8", element "K % 2, N", #k>
!k_trf = !visa.trf<bf16, slice "1 # 4, M / 8, K / 16", lane "M % 8", element "K % 16", #k>
!k_out = !visa.dm<bf16, slice "1 # 4, M / 8, M % 8", element "N", #k>
!k_o = !visa.hbm<bf16, element "M, N", #k>
func.func @n11(%l: !k_l_hbm, %n: !k_r_hbm) -> !k_o attributes {visa.kernel} {
  %ld = visa.to_dm %l : !k_l_hbm -> !k_l_dm
  %nd = visa.to_dm %n : !k_r_hbm -> !k_r_dm
  %lt = visa.chain sub -> !k_trf {
    fetch %ld time "M % 8" packet "K % 16" : !k_l_dm
    collect time "M % 8" packet "K % 16"
    to_trf lane "M % 8" element "K % 16"
  }
  %c = visa.chain main -> !k_out {
    fetch %nd time "N / 32, K % 2" packet "N % 32" : !k_r_dm
    switch transposed_broadcast1 [8, 8] slice "1 # 4, M / 8, K / 16" time "N / 32, K % 2, K / 2 % 8"
    collect time "N / 32, K % 2, K / 2 % 8, N / 16 % 2" packet "N % 16"
    contract_outer %lt time "N / 32, K % 2, K / 2 % 8" packet "N % 32" : !k_trf
    contract_packet packet "N % 32"
    contract_time time "N / 32"
    contract_lane sequential time "N / 32, M % 8, N / 8 % 4" packet "N % 8"
    vector_init
    vector_inter_slice_reduce add slice "1 # 4, M / 8, M % 8" time "N / 32, N / 8 % 4"
    vector_final
    cast to bf16 packet "N % 8 # 16"
    commit_trim packet "N % 8"
    commit element "N"
  }
  %o = visa.to_hbm %c : !k_out -> !k_o
  return %o : !k_o
}

// N12: one number out of all slices.
#w = #tmap.axes<A = 4096, B = 8>
!w_hbm = !visa.hbm<i8, element "A, B", #w>
!w_dm = !visa.dm<i8, slice "A / 16", element "A % 16, B", #w>
!w_trf = !visa.trf<i8, slice "A / 16", lane "1", element "A % 16, B", #w>
!w_out = !visa.dm<i8, slice "1 # 256", element "1 # 8", #w>
!w_r = !visa.hbm<i8, element "1 # 8", #w>
func.func @n12(%m: !w_hbm, %w: !w_hbm) -> !w_r attributes {visa.kernel} {
  %md = visa.to_dm %m : !w_hbm -> !w_dm
  %wd = visa.to_dm %w : !w_hbm -> !w_dm
  %wt = visa.chain sub -> !w_trf {
    fetch %wd time "1" packet "A % 16, B" : !w_dm
    fetch_cast to i8
    collect time "A / 4 % 4" packet "A % 4, B"
    to_trf lane "1" element "A % 16, B"
  }
  %c = visa.chain main -> !w_out {
    fetch %md time "A / 4 % 4" packet "A % 4, B" : !w_dm
    fetch_cast to i8
    collect time "A / 4 % 4" packet "A % 4, B"
    contract_outer %wt time "A / 8 % 2" packet "A % 8, B" : !w_trf
    contract_packet packet "1"
    contract_time time "1"
    contract_lane interleaved time "1" packet "1 # 8"
    vector_init
    vector_inter_slice_reduce add slice "1 # 256" time "1"
    vector_final
    cast to i8 packet "1 # 32"
    commit_trim packet "1 # 8"
    commit element "1 # 8"
  }
  %r = visa.to_hbm %c : !w_out -> !w_r
  return %r : !w_r
}
