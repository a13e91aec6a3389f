// Odd kernels of the Tensor Unit, as docs/visa.md and docs/patterns.md tell to write them.

// i5 by i4; four lanes in turn, a column for each 32 that are summed.
#columns_axes = #tmap.axes<I = 6, J = 4, K = 128>
!columns_h0 = !visa.hbm<i4, element "I, K", #columns_axes>
!columns_d0 = !visa.dm<i4, slice "1 # 256", element "I, K", #columns_axes>
!columns_h1 = !visa.hbm<i4, element "J, K", #columns_axes>
!columns_d1 = !visa.dm<i4, slice "1 # 256", element "J, K", #columns_axes>
!columns_ho = !visa.hbm<i32, element "I, J, K / 32", #columns_axes>
!columns_do = !visa.dm<i32, slice "1 # 256", element "I, J, K / 32 # 8", #columns_axes>
func.func @columns(%h0: !columns_h0, %h1: !columns_h1) -> !columns_ho attributes {visa.kernel} {
  %d0 = visa.to_dm %h0 : !columns_h0 -> !columns_d0
  %d1 = visa.to_dm %h1 : !columns_h1 -> !columns_d1
  %w = visa.chain sub -> !visa.trf<i4, slice "1 # 256", lane "J", element "K", #columns_axes> {
    fetch %d1 time "J" packet "K" : !columns_d1
    collect time "J, K / 64" packet "K % 64"
    to_trf lane "J" element "K"
  }
  %r = visa.chain main -> !columns_do {
    fetch %d0 time "I" packet "K" : !columns_d0
    zero_point_sub -2
    collect time "I, K / 64" packet "K % 64"
    contract_outer %w time "I" packet "K" : !visa.trf<i4, slice "1 # 256", lane "J", element "K", #columns_axes>
    contract_packet packet "K / 32"
    contract_time time "I"
    contract_lane sequential time "I, J" packet "K / 32 # 8"
    commit_trim packet "K / 32 # 8"
    commit element "I, J, K / 32 # 8"
  }
  %ho = visa.to_hbm %r : !columns_do -> !columns_ho
  return %ho : !columns_ho
}

// Five rows, each in a slice of its own, come into all slices of a ring; three of eight rows and two of eight lanes are padding.
#free_pad_axes = #tmap.axes<I = 5, J = 6, K = 64>
!free_pad_h0 = !visa.hbm<i8, element "I, K", #free_pad_axes>
!free_pad_d0 = !visa.dm<i8, slice "I # 256", element "K", #free_pad_axes>
!free_pad_h1 = !visa.hbm<i8, element "J, K", #free_pad_axes>
!free_pad_d1 = !visa.dm<i8, slice "1 # 256", element "J # 8, K", #free_pad_axes>
!free_pad_ho = !visa.hbm<i32, element "I, J", #free_pad_axes>
!free_pad_do = !visa.dm<i32, slice "1 # 256", element "I # 8, J # 8", #free_pad_axes>
func.func @free_pad(%h0: !free_pad_h0, %h1: !free_pad_h1) -> !free_pad_ho attributes {visa.kernel} {
  %d0 = visa.to_dm %h0 : !free_pad_h0 -> !free_pad_d0
  %d1 = visa.to_dm %h1 : !free_pad_h1 -> !free_pad_d1
  %w = visa.chain sub -> !visa.trf<i8, slice "1 # 256", lane "J # 8", element "K", #free_pad_axes> {
    fetch %d1 time "J # 8" packet "K" : !free_pad_d1
    collect time "J # 8, K / 32" packet "K % 32"
    to_trf lane "J # 8" element "K"
  }
  %r = visa.chain main -> !free_pad_do {
    fetch %d0 time "1" packet "K" : !free_pad_d0
    switch custom_broadcast [8] slice "1 # 256" time "I # 8"
    collect time "I # 8, K / 32" packet "K % 32"
    contract_outer %w time "I # 8" packet "K" : !visa.trf<i8, slice "1 # 256", lane "J # 8", element "K", #free_pad_axes>
    contract_packet packet "1"
    contract_time time "I # 8"
    contract_lane interleaved time "I # 8" packet "J # 8"
    commit_trim packet "J # 8"
    commit element "I # 8, J # 8"
  }
  %ho = visa.to_hbm %r : !free_pad_do -> !free_pad_ho
  return %ho : !free_pad_ho
}

// Two tensors in turn, with one zero point, are summed by one weight.
#pair_axes = #tmap.axes<I = 4, J = 8, K = 64, P = 2>
!pair_h0 = !visa.hbm<i8, element "I, K", #pair_axes>
!pair_d0 = !visa.dm<i8, slice "1 # 256", element "I, K", #pair_axes>
!pair_h1 = !visa.hbm<i8, element "I, K", #pair_axes>
!pair_d1 = !visa.dm<i8, slice "1 # 256", element "I, K", #pair_axes>
!pair_h2 = !visa.hbm<i8, element "J, P, K", #pair_axes>
!pair_d2 = !visa.dm<i8, slice "1 # 256", element "J, P, K", #pair_axes>
!pair_ho = !visa.hbm<i32, element "I, J", #pair_axes>
!pair_do = !visa.dm<i32, slice "1 # 256", element "I, J", #pair_axes>
func.func @pair(%h0: !pair_h0, %h1: !pair_h1, %h2: !pair_h2) -> !pair_ho attributes {visa.kernel} {
  %d0 = visa.to_dm %h0 : !pair_h0 -> !pair_d0
  %d1 = visa.to_dm %h1 : !pair_h1 -> !pair_d1
  %d2 = visa.to_dm %h2 : !pair_h2 -> !pair_d2
  %w = visa.chain sub -> !visa.trf<i8, slice "1 # 256", lane "J", element "P, K", #pair_axes> {
    fetch %d2 time "J, P" packet "K" : !pair_d2
    collect time "J, P, K / 32" packet "K % 32"
    to_trf lane "J" element "P, K"
  }
  %r = visa.chain main -> !pair_do {
    fetch %d0 interleave %d1 along "P" time "I, P" packet "K" : !pair_d0, !pair_d1
    zero_point_sub 5
    collect time "I, P, K / 32" packet "K % 32"
    contract_outer %w time "I, P" packet "K" : !visa.trf<i8, slice "1 # 256", lane "J", element "P, K", #pair_axes>
    contract_packet packet "1"
    contract_time time "I"
    contract_lane interleaved time "I" packet "J"
    commit_trim packet "J"
    commit element "I, J"
  }
  %ho = visa.to_hbm %r : !pair_do -> !pair_ho
  return %ho : !pair_ho
}

// Four slices exchange their parts of a row, weight and stream alike.
#ring_axes = #tmap.axes<S = 64, Q = 4, J = 8, K = 32>
!ring_h0 = !visa.hbm<bf16, element "S, Q, K", #ring_axes>
!ring_d0 = !visa.dm<bf16, slice "S, Q", element "K", #ring_axes>
!ring_h1 = !visa.hbm<bf16, element "S, J, Q, K", #ring_axes>
!ring_d1 = !visa.dm<bf16, slice "S, 1 # 4", element "J, Q, K", #ring_axes>
!ring_ho = !visa.hbm<bf16, element "S, 4, J", #ring_axes>
!ring_do = !visa.dm<bf16, slice "S, 4", element "J", #ring_axes>
func.func @ring(%h0: !ring_h0, %h1: !ring_h1) -> !ring_ho attributes {visa.kernel} {
  %d0 = visa.to_dm %h0 : !ring_h0 -> !ring_d0
  %d1 = visa.to_dm %h1 : !ring_h1 -> !ring_d1
  %w = visa.chain sub -> !visa.trf<bf16, slice "S, 4", lane "J", element "Q, K", #ring_axes> {
    fetch %d1 time "J, Q" packet "K" : !ring_d1
    switch custom_broadcast [4] slice "S, 4" time "J, Q"
    collect time "J, Q, K / 16" packet "K % 16"
    to_trf lane "J" element "Q, K"
  }
  %r = visa.chain main -> !ring_do {
    fetch %d0 time "1" packet "K" : !ring_d0
    switch custom_broadcast [4] slice "S, 4" time "Q"
    collect time "Q, K / 16" packet "K % 16"
    contract_outer %w time "Q" packet "K" : !visa.trf<bf16, slice "S, 4", lane "J", element "Q, K", #ring_axes>
    contract_packet packet "1"
    contract_time time "1"
    contract_lane interleaved time "1" packet "J"
    cast to bf16 packet "J # 16"
    commit_trim packet "J"
    commit element "J"
  }
  %ho = visa.to_hbm %r : !ring_do -> !ring_ho
  return %ho : !ring_ho
}

// Sums are cast to bytes and transposed in eights.
#turned_axes = #tmap.axes<I = 16, J = 8, K = 64>
!turned_h0 = !visa.hbm<i8, element "I, K", #turned_axes>
!turned_d0 = !visa.dm<i8, slice "1 # 256", element "I, K", #turned_axes>
!turned_h1 = !visa.hbm<i8, element "J, K", #turned_axes>
!turned_d1 = !visa.dm<i8, slice "1 # 256", element "J, K", #turned_axes>
!turned_ho = !visa.hbm<i8, element "J, I", #turned_axes>
!turned_do = !visa.dm<i8, slice "1 # 256", element "J, I", #turned_axes>
func.func @turned(%h0: !turned_h0, %h1: !turned_h1) -> !turned_ho attributes {visa.kernel} {
  %d0 = visa.to_dm %h0 : !turned_h0 -> !turned_d0
  %d1 = visa.to_dm %h1 : !turned_h1 -> !turned_d1
  %w = visa.chain sub -> !visa.trf<i8, slice "1 # 256", lane "J", element "K", #turned_axes> {
    fetch %d1 time "J" packet "K" : !turned_d1
    collect time "J, K / 32" packet "K % 32"
    to_trf lane "J" element "K"
  }
  %r = visa.chain main -> !turned_do {
    fetch %d0 time "I" packet "K" : !turned_d0
    collect time "I, K / 32" packet "K % 32"
    contract_outer %w time "I" packet "K" : !visa.trf<i8, slice "1 # 256", lane "J", element "K", #turned_axes>
    contract_packet packet "1"
    contract_time time "I"
    contract_lane interleaved time "I" packet "J"
    cast to i8 packet "J # 32"
    transpose time "I / 8, J" packet "I % 8 # 32"
    commit_trim packet "I % 8"
    commit element "J, I"
  }
  %ho = visa.to_hbm %r : !turned_do -> !turned_ho
  return %ho : !turned_ho
}

// Four bits are looked up, change slices, and leave as bf16 in windows.
#looked_up_axes = #tmap.axes<A = 256, B = 4, C = 32>
!looked_up_h0 = !visa.hbm<f4E2M1FN, element "A, B, C", #looked_up_axes>
!looked_up_d0 = !visa.dm<f4E2M1FN, slice "A", element "B, C", #looked_up_axes>
!looked_up_ho = !visa.hbm<bf16, element "A / 64, A % 16, A / 16 % 4, B, C / 8, C % 8 = 4", #looked_up_axes>
!looked_up_do = !visa.dm<bf16, slice "A / 64, A % 16, A / 16 % 4", element "B, C / 8, C % 8 = 4", #looked_up_axes>
func.func @looked_up(%h0: !looked_up_h0) -> !looked_up_ho attributes {visa.kernel} {
  %d0 = visa.to_dm %h0 : !looked_up_h0 -> !looked_up_d0
  %r = visa.chain main -> !looked_up_do {
    fetch %d0 time "B" packet "C" : !looked_up_d0
    table_lookup to f8E4M3FN
    fetch_cast to f32
    switch transpose [4, 16] slice "A / 64, A % 16, A / 16 % 4" time "B"
    collect time "B, C / 8" packet "C % 8"
    commit_trim packet "C % 8 = 4"
    commit_cast to bf16
    commit element "B, C / 8, C % 8 = 4"
  }
  %ho = visa.to_hbm %r : !looked_up_do -> !looked_up_ho
  return %ho : !looked_up_ho
}
