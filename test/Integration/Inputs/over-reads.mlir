// Rows of 24 bytes that are read as packets of 32: the last one runs 8 bytes
// over the end of its tensor, where nothing else may be written meanwhile.
#axes = #tmap.axes<I = 512, K = 24, G = 131072>
!a_hbm = !visa.hbm<i8, element "I, K", #axes>
!a = !visa.dm<i8, cluster "1", slice "I / 8", element "I % 8, K", #axes>
!a1 = !visa.dm<i8, cluster "1", slice "I / 8", element "1, K", #axes>
!r = !visa.dm<i8, cluster "1", slice "I / 8", element "I % 8, K # 32", #axes>
!g_hbm = !visa.hbm<i8, element "G", #axes>
!g = !visa.dm<i8, cluster "1", slice "G / 2048", element "G % 2048", #axes>

module attributes {visa.target = #visa.target<rngd, release = "0.6", chips = 1, pes = 1>} {
  // The second transfer is under way while the rows are read.
  func.func @main_context(%a: !a_hbm, %g: !g_hbm) -> (!a_hbm, !g_hbm) attributes {visa.kernel} {
    %ad = visa.to_dm %a : !a_hbm -> !a
    %gd = visa.to_dm %g : !g_hbm -> !g
    %r = visa.chain main -> !r {
      fetch %ad time "I % 8" packet "K # 32" : !a
      collect time "I % 8" packet "K # 32"
      commit_trim packet "K # 32"
      commit element "I % 8, K # 32"
    }
    %o = visa.to_hbm %r : !r -> !a_hbm
    %go = visa.to_hbm %gd : !g -> !g_hbm
    return %o, %go : !a_hbm, !g_hbm
  }

  // Four reads of 8 bytes a packet: the last one lies wholly behind the end.
  func.func @sub_context(%a: !a_hbm, %g: !g_hbm) -> (!a_hbm, !g_hbm) attributes {visa.kernel} {
    %ad = visa.to_dm %a : !a_hbm -> !a
    %gd = visa.to_dm %g : !g_hbm -> !g
    %r = visa.chain sub -> !r {
      fetch %ad time "I % 8" packet "K # 32" : !a
      collect time "I % 8" packet "K # 32"
      commit_trim packet "K # 32"
      commit element "I % 8, K # 32"
    }
    %o = visa.to_hbm %r : !r -> !a_hbm
    %go = visa.to_hbm %gd : !g -> !g_hbm
    return %o, %go : !a_hbm, !g_hbm
  }
}

// The row that a number of the host chooses, up to the last one. Two tensors
// that are read in turn have the same room.
#rows = #tmap.axes<R = 512, I = 2, K = 24, G = 131072>
!m_hbm = !visa.hbm<i8, element "R, K", #rows>
!m = !visa.dm<i8, cluster "1", slice "R / 8", element "R % 8, K", #rows>
!row = !visa.dm<i8, cluster "1", slice "R / 8", element "1 # 8, K", #rows>
!o = !visa.dm<i8, cluster "1", slice "R / 8", element "K # 32", #rows>
!o_hbm = !visa.hbm<i8, element "R / 8, K", #rows>
!h_hbm = !visa.hbm<i8, element "G", #rows>
!h = !visa.dm<i8, cluster "1", slice "G / 2048", element "G % 2048", #rows>
!p = !visa.dm<i8, cluster "1", slice "R / 8", element "I, R % 8, K # 32", #rows>
!p_hbm = !visa.hbm<i8, element "R, I, K", #rows>

module attributes {visa.target = #visa.target<rngd, release = "0.6", chips = 1, pes = 1>} {
  func.func @chosen_row(%m: !m_hbm, %g: !h_hbm, %i: index {visa.range = array<i64: 0, 7>}) -> (!o_hbm, !h_hbm) attributes {visa.kernel} {
    %md = visa.to_dm %m : !m_hbm -> !m
    %gd = visa.to_dm %g : !h_hbm -> !h
    %t = visa.tile %md[%i] along "R % 8" take 1 : !m -> !row
    %r = visa.chain main -> !o {
      fetch %t time "1" packet "K # 32" : !row
      collect time "1" packet "K # 32"
      commit_trim packet "K # 32"
      commit element "K # 32"
    }
    %o = visa.to_hbm %r : !o -> !o_hbm
    %go = visa.to_hbm %gd : !h -> !h_hbm
    return %o, %go : !o_hbm, !h_hbm
  }

  func.func @in_turn(%m: !m_hbm, %n: !m_hbm, %g: !h_hbm) -> (!p_hbm, !h_hbm) attributes {visa.kernel} {
    %a = visa.to_dm %m : !m_hbm -> !m
    %b = visa.to_dm %n : !m_hbm -> !m
    %gd = visa.to_dm %g : !h_hbm -> !h
    %r = visa.chain main -> !p {
      fetch %a interleave %b along "I" time "I, R % 8" packet "K # 32" : !m, !m
      collect time "I, R % 8" packet "K # 32"
      commit_trim packet "K # 32"
      commit element "I, R % 8, K # 32"
    }
    %o = visa.to_hbm %r : !p -> !p_hbm
    %go = visa.to_hbm %gd : !h -> !h_hbm
    return %o, %go : !p_hbm, !h_hbm
  }
}
