// Contractions, one feature a function. Weights come as TRF tensors of a load.
// RUN: furiosa-opt-mlir %s -convert-visa-to-lir | FileCheck %s

#gemm = #tmap.axes<I = 4, J = 32, K = 64>
!a = !visa.dm<i8, slice "1 # 256", element "I, K", #gemm>
!b = !visa.dm<i8, slice "1 # 256", element "J, K", #gemm>
!c = !visa.dm<i32, slice "1 # 256", element "I, J", #gemm>
!w = !visa.trf<i8, slice "1 # 256", lane "J % 8", element "J / 8, K", #gemm>

// Each packet of K is used for the 4 groups of J: two loops that stay apart at
// the border of the broadcast, 4 steps with one packet. 4 packets of 2 flits.
// CHECK-LABEL: func.func @broadcast_inside
// CHECK:       lir.exec main {
// CHECK-NEXT:    fetch_sequencer %{{.*}} loops [4 : 64, 2 : 32] read 32 packet 64 flits 8 : !lir.mem<dm, 256>
// CHECK-NEXT:    collect flits_per_packet 2
// CHECK-NEXT:    feed_buffer RawInt8 Flit2 stream [time 16, packet 64] weight RawInt8 [lane 8, element 256] promoted RawInt9 lane_broadcast 8 time_broadcast 4
// CHECK-NEXT:    trf_sequencer %{{.*}} loops [4 : 0, 4 : 64] read 64 broadcast 1 : !lir.mem<trf, 2048, lanes 8>
// CHECK-NEXT:    packet_reducer add depth 6 columns 1 to i32
// CHECK-NEXT:    time_reducer slots 1 count 1 strides [0, 0]
// CHECK-NEXT:    lane_folder interleaved live 8
// CHECK-NEXT:    commit_adapter in 32 keep 32
// CHECK-NEXT:    commit_sequencer %{{.*}} loops [16 : 32] write 32 slices [0, 0] : !lir.mem<dm, 512>
func.func @broadcast_inside() attributes {visa.kernel} {
  %ad = visa.alloc : !a
  %bd = visa.alloc : !b
  %w = visa.chain sub -> !w {
    fetch %bd time "J % 8, J / 8" packet "K" : !b
    collect time "J % 8, J / 8, K / 32" packet "K % 32"
    to_trf lane "J % 8" element "J / 8, K"
  }
  %r = visa.chain main -> !c {
    fetch %ad time "I" packet "K" : !a
    collect time "I, K / 32" packet "K % 32"
    contract_outer %w time "I, J / 8" packet "K" : !w
    contract_packet packet "1"
    contract_time time "I, J / 8"
    contract_lane interleaved time "I, J / 8" packet "J % 8"
    commit_trim packet "J % 8"
    commit element "I, J"
  }
  return
}

#deep = #tmap.axes<J = 32, K = 128>
!deep_a = !visa.dm<i8, slice "1 # 256", element "K", #deep>
!deep_b = !visa.dm<i8, slice "1 # 256", element "J, K", #deep>
!deep_c = !visa.dm<i32, slice "1 # 256", element "J", #deep>
!deep_w = !visa.trf<i8, slice "1 # 256", lane "J % 8", element "J / 8, K", #deep>

// K is cut into 2 packets and summed outermost; the 4 groups of J inside are
// kept: 4 sums open at a time, 2 steps each. K moves 64 bytes in the lane, a
// group 128.
// CHECK-LABEL: func.func @sum_outside
// CHECK:       lir.exec main {
// CHECK-NEXT:    fetch_sequencer %{{.*}} loops [2 : 64, 2 : 32] read 32 packet 64 flits 4 : !lir.mem<dm, 128>
// CHECK-NEXT:    collect flits_per_packet 2
// CHECK-NEXT:    feed_buffer RawInt8 Flit2 stream [time 8, packet 64] weight RawInt8 [lane 8, element 512] promoted RawInt9 lane_broadcast 8 time_broadcast 4
// CHECK-NEXT:    trf_sequencer %{{.*}} loops [2 : 64, 4 : 128] read 64 broadcast 1 : !lir.mem<trf, 4096, lanes 8>
// CHECK-NEXT:    packet_reducer add depth 6 columns 1 to i32
// CHECK-NEXT:    time_reducer slots 4 count 2 strides [0, 1]
// CHECK-NEXT:    lane_folder interleaved live 8
// CHECK-NEXT:    commit_adapter in 32 keep 32
// CHECK-NEXT:    commit_sequencer %{{.*}} loops [4 : 32] write 32 slices [0, 0] : !lir.mem<dm, 128>
func.func @sum_outside() attributes {visa.kernel} {
  %ad = visa.alloc : !deep_a
  %bd = visa.alloc : !deep_b
  %w = visa.chain sub -> !deep_w {
    fetch %bd time "J % 8, J / 8" packet "K" : !deep_b
    collect time "J % 8, J / 8, K / 32" packet "K % 32"
    to_trf lane "J % 8" element "J / 8, K"
  }
  %r = visa.chain main -> !deep_c {
    fetch %ad time "K / 64" packet "K % 64" : !deep_a
    collect time "K / 64, K / 32 % 2" packet "K % 32"
    contract_outer %w time "K / 64, J / 8" packet "K % 64" : !deep_w
    contract_packet packet "1"
    contract_time time "J / 8"
    contract_lane interleaved time "J / 8" packet "J % 8"
    commit_trim packet "J % 8"
    commit element "J"
  }
  return
}

// I outside of the sum and J inside: the two steps of I use the same 4 slots
// one after the other.
#two = #tmap.axes<I = 2, J = 32, K = 128>
!two_a = !visa.dm<i8, slice "1 # 256", element "I, K", #two>
!two_b = !visa.dm<i8, slice "1 # 256", element "J, K", #two>
!two_c = !visa.dm<i32, slice "1 # 256", element "I, J", #two>
!two_w = !visa.trf<i8, slice "1 # 256", lane "J % 8", element "J / 8, K", #two>
// CHECK-LABEL: func.func @sum_between
// CHECK:         trf_sequencer %{{.*}} loops [2 : 0, 2 : 64, 4 : 128] read 64 broadcast 1 : !lir.mem<trf, 4096, lanes 8>
// CHECK-NEXT:    packet_reducer add depth 6 columns 1 to i32
// CHECK-NEXT:    time_reducer slots 4 count 2 strides [0, 0, 1]
// CHECK:         commit_sequencer %{{.*}} loops [8 : 32] write 32
func.func @sum_between() attributes {visa.kernel} {
  %ad = visa.alloc : !two_a
  %bd = visa.alloc : !two_b
  %w = visa.chain sub -> !two_w {
    fetch %bd time "J % 8, J / 8" packet "K" : !two_b
    collect time "J % 8, J / 8, K / 32" packet "K % 32"
    to_trf lane "J % 8" element "J / 8, K"
  }
  %r = visa.chain main -> !two_c {
    fetch %ad time "I, K / 64" packet "K % 64" : !two_a
    collect time "I, K / 64, K / 32 % 2" packet "K % 32"
    contract_outer %w time "I, K / 64, J / 8" packet "K % 64" : !two_w
    contract_packet packet "1"
    contract_time time "I, J / 8"
    contract_lane interleaved time "I, J / 8" packet "J % 8"
    commit_trim packet "J % 8"
    commit element "I, J"
  }
  return
}

// Two lanes one after the other, one result in a flit of 8; 8 bytes of it are
// kept. A sum leaves one flit per lane: 4 packets, 8 flits.
#seq = #tmap.axes<I = 4, J = 2, K = 64>
!seq_a = !visa.dm<i8, slice "1 # 256", element "I, K", #seq>
!seq_b = !visa.dm<i8, slice "1 # 256", element "J, K", #seq>
!seq_c = !visa.dm<i32, slice "1 # 256", element "I, J, 1 # 2", #seq>
!seq_w = !visa.trf<i8, slice "1 # 256", lane "J", element "K", #seq>
// CHECK-LABEL: func.func @sequential
// CHECK:         trf_store %{{.*}} rows_per_lane 2 : !lir.mem<trf, 128, lanes 2>
// CHECK:         feed_buffer RawInt8 Flit2 stream [time 4, packet 64] weight RawInt8 [lane 2, element 64] promoted RawInt9 lane_broadcast 2 time_broadcast 1
// CHECK-NEXT:    trf_sequencer %{{.*}} loops [4 : 0] read 64 broadcast 0 : !lir.mem<trf, 128, lanes 2>
// CHECK-NEXT:    packet_reducer add depth 6 columns 1 to i32
// CHECK-NEXT:    time_reducer slots 1 count 1 strides [0]
// CHECK-NEXT:    lane_folder sequential live 2
// CHECK-NEXT:    commit_adapter in 32 keep 8
// CHECK-NEXT:    commit_sequencer %{{.*}} loops [8 : 8] write 8 slices [0, 0] : !lir.mem<dm, 64>
func.func @sequential() attributes {visa.kernel} {
  %ad = visa.alloc : !seq_a
  %bd = visa.alloc : !seq_b
  %w = visa.chain sub -> !seq_w {
    fetch %bd time "J" packet "K" : !seq_b
    collect time "J, K / 32" packet "K % 32"
    to_trf lane "J" element "K"
  }
  %r = visa.chain main -> !seq_c {
    fetch %ad time "I" packet "K" : !seq_a
    collect time "I, K / 32" packet "K % 32"
    contract_outer %w time "I" packet "K" : !seq_w
    contract_packet packet "1"
    contract_time time "I"
    contract_lane sequential time "I, J" packet "1 # 8"
    commit_trim packet "1 # 2"
    commit element "I, J, 1 # 2"
  }
  return
}

// One lane. The weight holds 8 elements, 16 bytes, which are repeated for the 4
// columns of the packet; a tree of depth 3 leaves the columns, one flit each.
#cols = #tmap.axes<I = 2, N = 4, K = 8>
!cols_a = !visa.dm<bf16, slice "1 # 256", element "I, N, K", #cols>
!cols_b = !visa.dm<bf16, slice "1 # 256", element "K", #cols>
!cols_c = !visa.dm<f32, slice "1 # 256", element "I, N, 1 # 2", #cols>
!cols_w = !visa.trf<bf16, slice "1 # 256", lane "1", element "K # 16", #cols>
// CHECK-LABEL: func.func @columns
// CHECK:         fetch_sequencer %{{.*}} loops [2 : 8] read 8 packet 16 flits 1 : !lir.mem<dm, 16>
// CHECK-NEXT:    collect flits_per_packet 1
// CHECK-NEXT:    trf_store %{{.*}} rows_per_lane 1 : !lir.mem<trf, 32>
// CHECK:         fetch_sequencer %{{.*}} loops [2 : 64, 2 : 32] read 32 packet 64 flits 4 : !lir.mem<dm, 128>
// CHECK-NEXT:    collect flits_per_packet 2
// CHECK-NEXT:    feed_buffer RawBF16 Flit2 stream [time 2, packet 32] weight RawBF16 [lane 1, element 16] promoted RawBF16 lane_broadcast 1 time_broadcast 1
// CHECK-NEXT:    trf_sequencer %{{.*}} loops [2 : 0] read 16 broadcast 0 : !lir.mem<trf, 32>
// CHECK-NEXT:    packet_reducer add depth 3 columns 4 to f32
// CHECK-NEXT:    time_reducer slots 1 count 1 strides [0]
// CHECK-NEXT:    lane_folder interleaved live 1
// CHECK-NEXT:    commit_adapter in 32 keep 8
// CHECK-NEXT:    commit_sequencer %{{.*}} loops [8 : 8] write 8 slices [0, 0] : !lir.mem<dm, 64>
func.func @columns() attributes {visa.kernel} {
  %ad = visa.alloc : !cols_a
  %bd = visa.alloc : !cols_b
  %w = visa.chain sub -> !cols_w {
    fetch %bd time "1" packet "K" : !cols_b
    collect time "1" packet "K # 16"
    to_trf lane "1" element "K # 16"
  }
  %r = visa.chain main -> !cols_c {
    fetch %ad time "I" packet "N, K" : !cols_a
    collect time "I, N / 2" packet "N % 2, K"
    contract_outer %w time "I" packet "N, K" : !cols_w
    contract_packet packet "N"
    contract_time time "I"
    contract_lane interleaved time "I, N" packet "1 # 8"
    commit_trim packet "1 # 2"
    commit element "I, N, 1 # 2"
  }
  return
}

// One flit of 16 bf16 makes a packet; four lanes are half a flit of results.
#one = #tmap.axes<I = 4, J = 4, K = 16>
!one_a = !visa.dm<bf16, slice "1 # 256", element "I, K", #one>
!one_b = !visa.dm<bf16, slice "1 # 256", element "J, K", #one>
!one_c = !visa.dm<f32, slice "1 # 256", element "I, J", #one>
!one_w = !visa.trf<bf16, slice "1 # 256", lane "J", element "K", #one>
// CHECK-LABEL: func.func @one_flit
// CHECK:         fetch_sequencer %{{.*}} loops [4 : 32, 4 : 8] read 8 packet 32 flits 4 : !lir.mem<dm, 128>
// CHECK:         trf_store %{{.*}} rows_per_lane 1 : !lir.mem<trf, 128, lanes 4>
// CHECK:         fetch_sequencer %{{.*}} loops [4 : 32] read 32 packet 32 flits 4 : !lir.mem<dm, 128>
// CHECK-NEXT:    collect flits_per_packet 1
// CHECK-NEXT:    feed_buffer RawBF16 Flit1 stream [time 4, packet 16] weight RawBF16 [lane 4, element 16] promoted RawBF16 lane_broadcast 4 time_broadcast 1
// CHECK-NEXT:    trf_sequencer %{{.*}} loops [4 : 0] read 32 broadcast 0 : !lir.mem<trf, 128, lanes 4>
// CHECK-NEXT:    packet_reducer add depth 4 columns 1 to f32
// CHECK-NEXT:    time_reducer slots 1 count 1 strides [0]
// CHECK-NEXT:    lane_folder interleaved live 4
// CHECK-NEXT:    commit_adapter in 32 keep 16
// CHECK-NEXT:    commit_sequencer %{{.*}} loops [4 : 16] write 16 slices [0, 0] : !lir.mem<dm, 64>
func.func @one_flit() attributes {visa.kernel} {
  %ad = visa.alloc : !one_a
  %bd = visa.alloc : !one_b
  %w = visa.chain sub -> !one_w {
    fetch %bd time "J" packet "K" : !one_b
    collect time "J" packet "K"
    to_trf lane "J" element "K"
  }
  %r = visa.chain main -> !one_c {
    fetch %ad time "I" packet "K" : !one_a
    collect time "I" packet "K"
    contract_outer %w time "I" packet "K" : !one_w
    contract_packet packet "1"
    contract_time time "I"
    contract_lane interleaved time "I" packet "J # 8"
    commit_trim packet "J"
    commit element "I, J"
  }
  return
}
