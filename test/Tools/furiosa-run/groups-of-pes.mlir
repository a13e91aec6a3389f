// Groups of slices that lie in several PEs, on targets of 2, 4 and 8 PEs; each
// number is that of the last slice of its group.
// RUN: furiosa-run %s --kernel=two --check iota | FileCheck %s --check-prefix=TWO
// RUN: furiosa-run %s --kernel=four --check iota | FileCheck %s --check-prefix=FOUR
// RUN: furiosa-run %s --kernel=eight --check iota | FileCheck %s --check-prefix=EIGHT
// TWO: 1016 1017 1018 1019 1020 1021 1022 1023
// FOUR: i32 [N = 2, A = 8]
// FOUR-NEXT: 1016 1017 1018 1019 1020 1021 1022 1023
// EIGHT: i32 [K = 2, A = 8]
// EIGHT-NEXT: 2040 2041 2042 2043 2044 2045 2046 2047

#two = #tmap.axes<R = 128, A = 8>
!two_i = !visa.hbm<i32, element "R, A", #two>
!two_o = !visa.hbm<i32, element "A", #two>
!two_id = !visa.dm<i32, cluster "1", slice "R", element "A", #two>
!two_od = !visa.dm<i32, cluster "1", slice "1 # 128", element "A", #two>
#four = #tmap.axes<N = 2, R = 128, A = 8>
!four_i = !visa.hbm<i32, element "N, R, A", #four>
!four_o = !visa.hbm<i32, element "N, A", #four>
!four_id = !visa.dm<i32, cluster "1", slice "N, R", element "A", #four>
!four_od = !visa.dm<i32, cluster "1", slice "N, 1 # 128", element "A", #four>
#eight = #tmap.axes<K = 2, R = 256, A = 8>
!eight_i = !visa.hbm<i32, element "K, R, A", #eight>
!eight_o = !visa.hbm<i32, element "K, A", #eight>
!eight_id = !visa.dm<i32, cluster "K", slice "R", element "A", #eight>
!eight_od = !visa.dm<i32, cluster "K", slice "1 # 256", element "A", #eight>

module attributes {visa.target = #visa.target<rngd, release = "0.6", chips = 1, pes = 2>} {
  func.func @two(%i: !two_i) -> !two_o attributes {visa.kernel} {
    %d = visa.to_dm %i : !two_i -> !two_id
    %r = visa.chain main -> !two_od {
      fetch %d time "1" packet "A" : !two_id
      collect time "1" packet "A"
      vector_init
      vector_inter_slice_reduce max slice "1 # 128" time "1"
      vector_final
      commit_trim packet "A"
      commit element "A"
    }
    %o = visa.to_hbm %r : !two_od -> !two_o
    return %o : !two_o
  }
}

module attributes {visa.target = #visa.target<rngd, release = "0.6", chips = 1, pes = 4>} {
  func.func @four(%i: !four_i) -> !four_o attributes {visa.kernel} {
    %d = visa.to_dm %i : !four_i -> !four_id
    %r = visa.chain main -> !four_od {
      fetch %d time "1" packet "A" : !four_id
      collect time "1" packet "A"
      vector_init
      vector_inter_slice_reduce max slice "N, 1 # 128" time "1"
      vector_final
      commit_trim packet "A"
      commit element "A"
    }
    %o = visa.to_hbm %r : !four_od -> !four_o
    return %o : !four_o
  }
}

module attributes {visa.target = #visa.target<rngd, release = "0.6", chips = 1, pes = 8>} {
  func.func @eight(%i: !eight_i) -> !eight_o attributes {visa.kernel} {
    %d = visa.to_dm %i : !eight_i -> !eight_id
    %r = visa.chain main -> !eight_od {
      fetch %d time "1" packet "A" : !eight_id
      collect time "1" packet "A"
      vector_init
      vector_inter_slice_reduce max slice "1 # 256" time "1"
      vector_final
      commit_trim packet "A"
      commit element "A"
    }
    %o = visa.to_hbm %r : !eight_od -> !eight_o
    return %o : !eight_o
  }
}
