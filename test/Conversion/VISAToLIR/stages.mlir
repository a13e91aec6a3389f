// Fetch, collect, vector, cast and commit, one feature a function.
// RUN: furiosa-opt-mlir %s -convert-visa-to-lir | FileCheck %s

#ab = #tmap.axes<A = 16, B = 8>
!ab_i8 = !visa.dm<i8, slice "1 # 256", element "A, B", #ab>
!ab_i32 = !visa.dm<i32, slice "1 # 256", element "A, B", #ab>
!ab_f32 = !visa.dm<f32, slice "1 # 256", element "A, B", #ab>
!ab_bf16 = !visa.dm<bf16, slice "1 # 256", element "A, B", #ab>
!b_vrf = !visa.vrf<i32, slice "1 # 256", element "B", #ab>
!ab_vrf = !visa.vrf<i32, slice "1 # 256", element "A, B", #ab>

// A packet is 64 elements of i8, as i32 256 bytes and 8 flits. A read may grow
// to 32 bytes, so it takes 8 bytes: 8 reads a packet, 2 packets.
// CHECK-LABEL: func.func @widening_fetch
// CHECK:       fetch_sequencer %{{.*}} loops [2 : 64, 8 : 8] read 8 packet 256 flits 16 : !lir.mem<dm, 128>
// CHECK-NEXT:  fetch_adapter cast i8 to i32
// CHECK-NEXT:  collect flits_per_packet 8
// CHECK-NEXT:  commit_adapter in 32 keep 32
// CHECK-NEXT:  commit_sequencer %{{.*}} loops [16 : 32] write 32 slices [0, 0] : !lir.mem<dm, 512>
func.func @widening_fetch() attributes {visa.kernel} {
  %d = visa.alloc : !ab_i8
  %r = visa.chain main -> !ab_i32 {
    fetch %d time "A / 8" packet "A % 8, B" : !ab_i8
    fetch_cast to i32
    collect time "A / 8, A % 8" packet "B"
    commit_trim packet "B"
    commit element "A, B"
  }
  return
}

// 8 elements of f32 are 32 bytes in front of the adapter, 16 behind it.
// CHECK-LABEL: func.func @narrowing_fetch
// CHECK:       fetch_sequencer %{{.*}} loops [16 : 32] read 32 packet 16 flits 16 : !lir.mem<dm, 512>
// CHECK-NEXT:  fetch_adapter cast f32 to bf16
// CHECK-NEXT:  collect flits_per_packet 1
// CHECK-NEXT:  commit_adapter in 32 keep 16
// CHECK-NEXT:  commit_sequencer %{{.*}} loops [16 : 16] write 16 slices [0, 0] : !lir.mem<dm, 256>
func.func @narrowing_fetch() attributes {visa.kernel} {
  %d = visa.alloc : !ab_f32
  %r = visa.chain main -> !ab_bf16 {
    fetch %d time "A" packet "B" : !ab_f32
    fetch_cast to bf16
    collect time "A" packet "B # 16"
    commit_trim packet "B"
    commit element "A, B"
  }
  return
}

// B runs with stride 1 inside A; read as B outside, A inside, single elements
// of 4 bytes are 32 bytes apart: 16 reads of 4 bytes make a packet.
// CHECK-LABEL: func.func @discrete_fetch
// CHECK:       fetch_sequencer %{{.*}} loops [8 : 4, 16 : 32] read 4 packet 64 flits 16 : !lir.mem<dm, 512>
// CHECK-NEXT:  collect flits_per_packet 2
// CHECK:       commit_sequencer %{{.*}} loops [16 : 32] write 32 slices [0, 0] : !lir.mem<dm, 512>
func.func @discrete_fetch() attributes {visa.kernel} {
  %d = visa.alloc : !ab_i32
  %r = visa.chain main -> !visa.dm<i32, slice "1 # 256", element "B, A", #ab> {
    fetch %d time "B" packet "A" : !ab_i32
    collect time "B, A / 8" packet "A % 8"
    commit_trim packet "A % 8"
    commit element "B, A"
  }
  return
}

// The stream comes in the order of its memory; written, its outer axis moves by
// one packet of 32 bytes, the inner one by two.
// CHECK-LABEL: func.func @permuted_commit
// CHECK:       fetch_sequencer %{{.*}} loops [16 : 32] read 32 packet 32 flits 16 : !lir.mem<dm, 512>
// CHECK:       commit_sequencer %{{.*}} loops [2 : 32, 8 : 64] write 32 slices [0, 0] : !lir.mem<dm, 512>
func.func @permuted_commit() attributes {visa.kernel} {
  %d = visa.alloc : !ab_i32
  %r = visa.chain main -> !visa.dm<i32, slice "1 # 256", element "A % 8, A / 8, B", #ab> {
    fetch %d time "A / 8, A % 8" packet "B" : !ab_i32
    collect time "A / 8, A % 8" packet "B"
    commit_trim packet "B"
    commit element "A % 8, A / 8, B"
  }
  return
}

// 56 bytes a packet: the widest read that divides them is 8. Collect pads each
// packet to two flits, and the memory has room for the padding.
#pad = #tmap.axes<A = 4, B = 56>
!pad_in = !visa.dm<i8, slice "1 # 256", element "A, B", #pad>
!pad_out = !visa.dm<i8, slice "1 # 256", element "A, B # 64", #pad>
// CHECK-LABEL: func.func @padded_packet
// CHECK:       fetch_sequencer %{{.*}} loops [4 : 56, 7 : 8] read 8 packet 56 flits 8 : !lir.mem<dm, 224>
// CHECK-NEXT:  collect flits_per_packet 2
// CHECK-NEXT:  commit_adapter in 32 keep 32
// CHECK-NEXT:  commit_sequencer %{{.*}} loops [8 : 32] write 32 slices [0, 0] : !lir.mem<dm, 256>
func.func @padded_packet() attributes {visa.kernel} {
  %d = visa.alloc : !pad_in
  %r = visa.chain main -> !pad_out {
    fetch %d time "A" packet "B" : !pad_in
    collect time "A, B # 64 / 32" packet "B # 64 % 32"
    commit_trim packet "B # 64 % 32"
    commit element "A, B # 64"
  }
  return
}

// 16 elements of i4 are 8 bytes; 48 packets lie one behind the other.
#nchw = #tmap.axes<N = 4, C = 3, H = 4, W = 16>
!nchw = !visa.dm<i4, slice "1 # 256", element "N, C, H, W", #nchw>
// CHECK-LABEL: func.func @four_bits
// CHECK:       fetch_sequencer %{{.*}} loops [48 : 8] read 8 packet 8 flits 48 : !lir.mem<dm, 384>
// CHECK-NEXT:  collect flits_per_packet 1
// CHECK-NEXT:  commit_adapter in 32 keep 8
// CHECK-NEXT:  commit_sequencer %{{.*}} loops [48 : 8] write 8 slices [0, 0] : !lir.mem<dm, 384>
func.func @four_bits() attributes {visa.kernel} {
  %d = visa.alloc : !nchw
  %r = visa.chain main -> !nchw {
    fetch %d time "N, C, H" packet "W" : !nchw
    collect time "N, C, H" packet "W # 64"
    commit_trim packet "W"
    commit element "N, C, H, W"
  }
  return
}

// A sub fetch of rows of 32 bytes: 4 reads each. 16 rows in the VRF.
// CHECK-LABEL: func.func @vrf_load
// CHECK:       %[[V:.*]] = lir.alloc : !lir.mem<vrf, 512>
// CHECK-NEXT:  lir.exec sub {
// CHECK-NEXT:    fetch_sequencer %{{.*}} loops [16 : 32, 4 : 8] read 8 packet 32 flits 16 : !lir.mem<dm, 512>
// CHECK-NEXT:    collect flits_per_packet 1
// CHECK-NEXT:    vrf_store %[[V]] rows 16 : !lir.mem<vrf, 512>
// CHECK-NEXT:  }
func.func @vrf_load() attributes {visa.kernel} {
  %d = visa.alloc : !ab_i32
  %v = visa.chain sub -> !ab_vrf {
    fetch %d time "A" packet "B" : !ab_i32
    collect time "A" packet "B"
    to_vrf element "A, B"
  }
  return
}

// Operands are read element by element in stream order: with A broadcast two
// loops, with all axes one. Stages run in the order of the chain; the cast
// leaves 8 elements of i8.
// CHECK-LABEL: func.func @vector
// CHECK:       lir.exec main {
// CHECK-NEXT:    fetch_sequencer %{{.*}} loops [16 : 32] read 32 packet 32 flits 16 : !lir.mem<dm, 512>
// CHECK-NEXT:    collect flits_per_packet 1
// CHECK-NEXT:    vector_alu fxp_add sub_sat [vrf %{{.*}} loops [16 : 0, 8 : 4]] : !lir.mem<vrf, 32>
// CHECK-NEXT:    vector_alu fxp_mul mul_int [vrf %{{.*}} loops [128 : 4]] : !lir.mem<vrf, 512>
// CHECK-NEXT:    vector_alu fxp_right_shift sar [imm 3]
// CHECK-NEXT:    cast i32 to i8
// CHECK-NEXT:    commit_adapter in 32 keep 8
// CHECK-NEXT:    commit_sequencer %{{.*}} loops [16 : 8] write 8 slices [0, 0] : !lir.mem<dm, 128>
// CHECK-NEXT:  }
func.func @vector() attributes {visa.kernel} {
  %d = visa.alloc : !ab_i32
  %bd = visa.alloc : !visa.dm<i32, slice "1 # 256", element "B", #ab>
  %b = visa.chain sub -> !b_vrf {
    fetch %bd time "1" packet "B" : !visa.dm<i32, slice "1 # 256", element "B", #ab>
    collect time "1" packet "B"
    to_vrf element "B"
  }
  %ab = visa.chain sub -> !ab_vrf {
    fetch %d time "A" packet "B" : !ab_i32
    collect time "A" packet "B"
    to_vrf element "A, B"
  }
  %r = visa.chain main -> !ab_i8 {
    fetch %d time "A" packet "B" : !ab_i32
    collect time "A" packet "B"
    vector_init
    vector_tag zero
    vector_fxp sub_sat [vrf %b] : !b_vrf
    vector_fxp mul_int [vrf %ab] : !ab_vrf
    vector_fxp sar [imm 3]
    vector_final
    cast to i8 packet "B # 32"
    commit_trim packet "B"
    commit element "A, B"
  }
  return
}

// Padding of the stream's time reads padding of the memory.
#odd = #tmap.axes<A = 5, B = 8>
!odd = !visa.dm<i32, slice "1 # 256", element "A # 8, B", #odd>
// CHECK-LABEL: func.func @padded_time
// CHECK:       fetch_sequencer %{{.*}} loops [8 : 32] read 32 packet 32 flits 8 : !lir.mem<dm, 256>
// CHECK:       commit_sequencer %{{.*}} loops [8 : 32] write 32 slices [0, 0] : !lir.mem<dm, 256>
func.func @padded_time() attributes {visa.kernel} {
  %d = visa.alloc : !odd
  %r = visa.chain main -> !odd {
    fetch %d time "A # 8" packet "B" : !odd
    collect time "A # 8" packet "B"
    commit_trim packet "B"
    commit element "A # 8, B"
  }
  return
}

// Of 256 slices 100 hold cells.
#slices = #tmap.axes<A = 800, B = 32>
!some = !visa.dm<i32, slice "A / 8 # 256", element "A % 8", #slices>
// CHECK-LABEL: func.func @padded_slices
// CHECK:       commit_sequencer %{{.*}} loops [] write 32 slices [0, 99] : !lir.mem<dm, 32>
func.func @padded_slices() attributes {visa.kernel} {
  %d = visa.alloc : !some
  %r = visa.chain main -> !some {
    fetch %d time "1" packet "A % 8" : !some
    collect time "1" packet "A % 8"
    commit_trim packet "A % 8"
    commit element "A % 8"
  }
  return
}

// Every fourth slice of the first 16 holds cells.
!sparse = !visa.dm<i32, slice "B / 8 # 64, 1 # 4", element "B % 8", #slices>
// CHECK-LABEL: func.func @sparse_slices
// CHECK:       commit_sequencer %{{.*}} loops [] write 32 slices [0, 0, 4, 4, 8, 8, 12, 12] : !lir.mem<dm, 32>
func.func @sparse_slices() attributes {visa.kernel} {
  %d = visa.alloc : !sparse
  %r = visa.chain main -> !sparse {
    fetch %d time "1" packet "B % 8" : !sparse
    collect time "1" packet "B % 8"
    commit_trim packet "B % 8"
    commit element "B % 8"
  }
  return
}
