// Kernels that only move data, one way each.

// The last slice is partly filled: 17 pairs over slices of 8, and 18 values.
#tail = #tmap.axes<A = 17, B = 2, C = 18>
!tail_h = !visa.hbm<i32, element "A, B", #tail>
!tail_d = !visa.dm<i32, slice "A # 24 / 8 # 256", element "A # 24 % 8, B", #tail>
func.func @tail(%a: !tail_h) -> !tail_h attributes {visa.kernel} {
  %d = visa.to_dm %a : !tail_h -> !tail_d
  %o = visa.to_hbm %d : !tail_d -> !tail_h
  return %o : !tail_h
}
!ragged_h = !visa.hbm<i32, element "C", #tail>
!ragged_d = !visa.dm<i32, slice "C # 24 / 8 # 256", element "C # 24 % 8", #tail>
func.func @ragged(%a: !ragged_h) -> !ragged_h attributes {visa.kernel} {
  %d = visa.to_dm %a : !ragged_h -> !ragged_d
  %o = visa.to_hbm %d : !ragged_d -> !ragged_h
  return %o : !ragged_h
}

// Padding that both sides declare fills words.
#pad = #tmap.axes<P = 256, C = 5>
!pad_h = !visa.hbm<i32, element "P, C # 8", #pad>
!pad_d = !visa.dm<i32, slice "P", element "C # 8", #pad>
func.func @padded(%a: !pad_h) -> !pad_h attributes {visa.kernel} {
  %d = visa.to_dm %a : !pad_h -> !pad_d
  %o = visa.to_hbm %d : !pad_d -> !pad_h
  return %o : !pad_h
}

// HBM to HBM with another order, then read by all PEs: a barrier in between.
#perm = #tmap.axes<A = 8, B = 16, C = 64>
!perm_i = !visa.hbm<i8, element "A, B, C", #perm>
!perm_o = !visa.hbm<i8, element "B, A, C", #perm>
!perm_d = !visa.dm<i8, slice "A, B # 32", element "C", #perm>
func.func @permute(%a: !perm_i) -> !perm_o attributes {visa.kernel} {
  %t = visa.alloc : !perm_o
  visa.copy %a into %t : !perm_i, !perm_o
  %d = visa.to_dm %t : !perm_o -> !perm_d
  %o = visa.to_hbm %d : !perm_d -> !perm_o
  return %o : !perm_o
}

// DM to DM: within a PE, between PEs, between clusters.
#relay = #tmap.axes<A = 256, B = 8>
!relay_h = !visa.hbm<i16, element "A, B", #relay>
!relay_a = !visa.dm<i16, slice "A", element "B", #relay>
!relay_b = !visa.dm<i16, slice "A / 2 # 256", element "A % 2, B", #relay>
!relay_c = !visa.dm<i16, cluster "A / 128", slice "A % 128 # 256", element "B", #relay>
func.func @relayout(%a: !relay_h) -> !relay_h attributes {visa.kernel} {
  %0 = visa.to_dm %a : !relay_h -> !relay_a
  %1 = visa.alloc : !relay_b
  visa.copy %0 into %1 : !relay_a, !relay_b
  %2 = visa.alloc : !relay_c
  visa.copy %1 into %2 : !relay_b, !relay_c
  %o = visa.to_hbm %2 : !relay_c -> !relay_h
  return %o : !relay_h
}

// Windows of slices, clusters and rows trade places.
!half_s = !visa.dm<i16, slice "A = 64 # 256", element "B", #relay>
!half_w = !visa.dm<i16, slice "A = 64 #{!} 256", element "B", #relay>
func.func @slices(%a: !relay_h) -> !relay_h attributes {visa.kernel} {
  %d = visa.to_dm %a : !relay_h -> !relay_a
  %e = visa.to_dm %a : !relay_h -> !relay_a
  %f = visa.tile %d[128] of slice along "A" take 64 : !relay_a -> !half_s
  %t = visa.tile %e[32] of slice along "A" take 64 : !relay_a -> !half_w
  visa.copy %f into %t : !half_s, !half_w
  %o = visa.to_hbm %e : !relay_a -> !relay_h
  return %o : !relay_h
}
!one_c = !visa.dm<i16, cluster "1 # 2", slice "A % 128 # 256", element "B", #relay>
!one_w = !visa.dm<i16, cluster "1 #{!} 2", slice "A % 128 # 256", element "B", #relay>
func.func @clusters(%a: !relay_h) -> !relay_h attributes {visa.kernel} {
  %d = visa.to_dm %a : !relay_h -> !relay_c
  %e = visa.alloc : !relay_c
  %f0 = visa.tile %d[0] of cluster along "A / 128" take 1 : !relay_c -> !one_c
  %f1 = visa.tile %d[1] of cluster along "A / 128" take 1 : !relay_c -> !one_c
  %t0 = visa.tile %e[0] of cluster along "A / 128" take 1 : !relay_c -> !one_w
  %t1 = visa.tile %e[1] of cluster along "A / 128" take 1 : !relay_c -> !one_w
  visa.copy %f0 into %t1 : !one_c, !one_w
  visa.copy %f1 into %t0 : !one_c, !one_w
  %o = visa.to_hbm %e : !relay_c -> !relay_h
  return %o : !relay_h
}

// A fill; chains that read and write windows of it, in a loop.
#fill = #tmap.axes<A = 64, B = 8>
!fill_h = !visa.hbm<i32, element "A, B", #fill>
!fill_d = !visa.dm<i32, slice "1 # 256", element "A, B", #fill>
!fill_r = !visa.dm<i32, slice "1 # 256", element "A = 4 # 64, B", #fill>
!fill_w = !visa.dm<i32, slice "1 # 256", element "A = 4 #{!} 64, B", #fill>
func.func @windows(%a: !fill_h) -> !fill_h attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %m = arith.constant -1 : i32
  %d = visa.to_dm %a : !fill_h -> !fill_d
  %r = visa.alloc : !fill_d
  visa.memset %r with %m : !fill_d, i32
  scf.for %i = %c0 to %c3 step %c1 {
    %f = arith.muli %i, %c8 : index
    %t = arith.muli %i, %c16 : index
    %t4 = arith.addi %t, %c4 : index
    %x = visa.tile %d[%f] along "A" take 4 : !fill_d -> !fill_r
    %y = visa.tile %r[%t4] along "A" take 4 : !fill_d -> !fill_w
    %z = visa.chain main -> !fill_w {
      fetch %x time "A = 4" packet "B" : !fill_r
      collect time "A = 4" packet "B"
      commit_trim packet "B"
      commit element "A = 4 #{!} 64, B" into %y : !fill_w
    }
  }
  %o = visa.to_hbm %r : !fill_d -> !fill_h
  return %o : !fill_h
}

// Fills of small types.
#small = #tmap.axes<A = 256, B = 16>
!bf_h = !visa.hbm<bf16, element "A, B", #small>
!bf_d = !visa.dm<bf16, slice "A", element "B", #small>
!i4_h = !visa.hbm<i4, element "A, B", #small>
!i4_d = !visa.dm<i4, slice "A", element "B", #small>
func.func @fills() -> (!bf_h, !i4_h) attributes {visa.kernel} {
  %three = arith.constant 3.0 : bf16
  %minus = arith.constant -1 : i4
  %d = visa.alloc : !bf_d
  visa.memset %d with %three : !bf_d, bf16
  %e = visa.alloc : !i4_d
  visa.memset %e with %minus : !i4_d, i4
  %o = visa.to_hbm %d : !bf_d -> !bf_h
  %p = visa.to_hbm %e : !i4_d -> !i4_h
  return %o, %p : !bf_h, !i4_h
}

// Other names for the same places; padding and back.
#names = #tmap.axes<A = 256, B = 8, C = 4, D = 64>
!names_h = !visa.hbm<i32, element "A, B", #names>
!names_o = !visa.hbm<i32, element "C, D, B", #names>
!names_a = !visa.dm<i32, slice "A", element "B", #names>
!names_p = !visa.dm<i32, slice "A", element "B # 16", #names>
!names_c = !visa.dm<i32, slice "C, D", element "B", #names>
func.func @rename(%a: !names_h) -> !names_o attributes {visa.kernel} {
  %d = visa.to_dm %a : !names_h -> !names_a
  %p = visa.pad %d : !names_a -> !names_p
  %u = visa.unpad %p : !names_p -> !names_a
  %c = visa.reshape %u : !names_a -> !names_c
  %o = visa.to_hbm %c : !names_c -> !names_o
  return %o : !names_o
}

// A window of an argument moves within it; an argument that nothing writes in
// the end is a result all the same.
!place = !visa.hbm<i32, element "A, B", #fill>
!place_r = !visa.hbm<i32, element "A = 16 # 64, B", #fill>
!place_w = !visa.hbm<i32, element "A = 16 #{!} 64, B", #fill>
func.func @in_place(%a: !place, %b: !place) attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = visa.tile %a[8] along "A" take 16 : !place -> !place_r
  %t = visa.tile %a[40] along "A" take 16 : !place -> !place_w
  visa.copy %f into %t : !place_r, !place_w
  scf.for %i = %c0 to %c0 step %c1 {
    visa.copy %a into %b : !place, !place
  }
  return
}

// Rows of a table by an index: in data memory it counts rows, in HBM bytes.
#rows = #tmap.axes<K = 256, T = 256, D = 16, C = 300>
!table = !visa.hbm<bf16, element "T, D", #rows>
!index = !visa.hbm<i32, element "K", #rows>
!list = !visa.dm<i32, slice "1 # 256", element "K", #rows>
!rows = !visa.dm<bf16, slice "K", element "D", #rows>
!pairs = !visa.dm<bf16, slice "K / 2 # 256", element "K % 2, D", #rows>
!rows_h = !visa.hbm<bf16, element "K, D", #rows>
!into = !visa.hbm<bf16, element "C, D", #rows>
func.func @gather(%t: !table, %i: !index) -> !rows_h attributes {visa.kernel} {
  %l = visa.to_dm %i : !index -> !list
  %g = visa.gather %t by %l : !table, !list -> !rows
  %o = visa.to_hbm %g : !rows -> !rows_h
  return %o : !rows_h
}
func.func @gather_scaled(%t: !table, %i: !index) -> !rows_h attributes {visa.kernel} {
  %g = visa.gather scaled %t by %i : !table, !index -> !pairs
  %o = visa.to_hbm %g : !pairs -> !rows_h
  return %o : !rows_h
}
func.func @scatter(%x: !rows_h, %i: !index, %c: !into) attributes {visa.kernel} {
  %d = visa.to_dm %x : !rows_h -> !pairs
  visa.scatter scaled %d by %i into %c : !pairs, !index, !into
  return
}

// A helper that is inlined.
func.func private @load(%a: !fill_h) -> !fill_d {
  %d = visa.to_dm %a : !fill_h -> !fill_d
  return %d : !fill_d
}
func.func @helped(%a: !fill_h) -> !fill_h attributes {visa.kernel} {
  %d = func.call @load(%a) : (!fill_h) -> !fill_d
  %o = visa.to_hbm %d : !fill_d -> !fill_h
  return %o : !fill_h
}

// A branch on the counter of a loop.
func.func @branch(%a: !fill_h) -> !fill_h attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c2 = arith.constant 2 : index
  %m = arith.constant -1 : i32
  %d = visa.to_dm %a : !fill_h -> !fill_d
  %r = visa.alloc : !fill_d
  visa.memset %r with %m : !fill_d, i32
  scf.for %i = %c0 to %c4 step %c1 {
    %at = arith.muli %i, %c8 : index
    %late = arith.cmpi sge, %i, %c2 : index
    %y = visa.tile %r[%at] along "A" take 4 : !fill_d -> !fill_w
    scf.if %late {
      %x = visa.tile %d[%at] along "A" take 4 : !fill_d -> !fill_r
      visa.copy %x into %y : !fill_r, !fill_w
    } else {
      %x = visa.tile %d[60] along "A" take 4 : !fill_d -> !fill_r
      visa.copy %x into %y : !fill_r, !fill_w
    }
  }
  %o = visa.to_hbm %r : !fill_d -> !fill_h
  return %o : !fill_h
}

// Rows of two a slice go to slices of another PE, one each and one further on: a
// descriptor goes on in the middle of another slice.
#across = #tmap.axes<A = 130, B = 4>
!across_h = !visa.hbm<i32, element "A, B", #across>
!across_s = !visa.dm<i32, slice "A / 2 # 256", element "A % 2, B", #across>
!across_t = !visa.dm<i32, slice "A # 256", element "B", #across>
!across_r = !visa.dm<i32, slice "A / 2 = 64 # 65 # 256", element "A % 2, B", #across>
!across_w = !visa.dm<i32, slice "A = 128 #{!} 130 # 256", element "B", #across>
func.func @across(%a: !across_h) -> !across_h attributes {visa.kernel} {
  %m = arith.constant -1 : i32
  %s = visa.to_dm %a : !across_h -> !across_s
  %t = visa.alloc : !across_t
  visa.memset %t with %m : !across_t, i32
  %r = visa.tile %s[0] of slice along "A / 2" take 64 : !across_s -> !across_r
  %w = visa.tile %t[1] of slice along "A" take 128 : !across_t -> !across_w
  visa.copy %r into %w : !across_r, !across_w
  %o = visa.to_hbm %t : !across_t -> !across_h
  return %o : !across_h
}

// An axis of one cell, padded alike on both sides.
#one = #tmap.axes<A = 1, B = 256>
!one_h = !visa.hbm<i32, element "B, A # 2", #one>
!one_d = !visa.dm<i32, slice "B", element "A # 2", #one>
func.func @one_cell(%a: !one_h) -> !one_h attributes {visa.kernel} {
  %d = visa.to_dm %a : !one_h -> !one_d
  %o = visa.to_hbm %d : !one_d -> !one_h
  return %o : !one_h
}
