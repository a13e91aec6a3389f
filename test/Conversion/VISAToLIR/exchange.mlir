// Fetch adapter, switch, transpose and commit cast.
// RUN: furiosa-opt-mlir %s -convert-visa-to-lir | FileCheck %s

#axes = #tmap.axes<A = 8, B = 32, C = 256, D = 4>
!e2m1 = !visa.dm<f4E2M1FN, slice "1 # 256", element "A, B", #axes>
!f32 = !visa.dm<f32, slice "1 # 256", element "A, B", #axes>
!bf16 = !visa.dm<bf16, slice "1 # 256", element "A, B", #axes>
!i8 = !visa.dm<i8, slice "C", element "A, B", #axes>

// Eight elements of 4 bits grow to 32 bytes: reads of 4 bytes.
// CHECK-LABEL: func.func @lookup
// CHECK:       fetch_sequencer %{{.*}} loops [8 : 16, 4 : 4] read 4 packet 128 flits 32 : !lir.mem<dm, 128>
// CHECK-NEXT:  table_lookup f4E2M1FN to f8E4M3FN
// CHECK-NEXT:  fetch_adapter cast f8E4M3FN to f32
// CHECK-NEXT:  collect flits_per_packet 4
func.func @lookup() attributes {visa.kernel} {
  %d = visa.alloc : !e2m1
  %r = visa.chain main -> !f32 {
    fetch %d time "A" packet "B" : !e2m1
    table_lookup to f8E4M3FN
    fetch_cast to f32
    collect time "A, B / 8" packet "B % 8"
    commit_trim packet "B % 8"
    commit element "A, B"
  }
  return
}

// 20 bytes are five reads and three words.
#odd = #tmap.axes<A = 8, B = 20>
!odd = !visa.dm<i8, slice "1 # 256", element "A, B", #odd>
!wide = !visa.dm<i8, slice "1 # 256", element "A, B # 24", #odd>
// CHECK-LABEL: func.func @ragged_packet
// CHECK:       fetch_sequencer %{{.*}} loops [8 : 20, 5 : 4] read 4 packet 20 flits 8 : !lir.mem<dm, 160>
// CHECK-NEXT:  collect flits_per_packet 1
func.func @ragged_packet() attributes {visa.kernel} {
  %d = visa.alloc : !odd
  %r = visa.chain main -> !wide {
    fetch %d time "A" packet "B" : !odd
    collect time "A" packet "B # 32"
    commit_trim packet "B # 24"
    commit element "A, B # 24"
  }
  return
}

!slices = !visa.dm<i8, slice "C / 16, D, C % 4", element "A, C / 4 % 4, B", #axes>
// CHECK-LABEL: func.func @broadcast
// CHECK:       fetch_sequencer %{{.*}} loops [8 : 32] read 32 packet 32 flits 8
// CHECK-NEXT:  switch broadcast1 slices [16, 4, 4] time0 1
// CHECK-NEXT:  collect flits_per_packet 1
// CHECK:       commit_sequencer %{{.*}} loops [32 : 32] write 32 slices [0, 255] : !lir.mem<dm, 1024>
func.func @broadcast() attributes {visa.kernel} {
  %d = visa.alloc : !i8
  %r = visa.chain main -> !slices {
    fetch %d time "A" packet "B" : !i8
    switch broadcast1 [4, 4] slice "C / 16, D, C % 4" time "A, C / 4 % 4"
    collect time "A, C / 4 % 4" packet "B"
    commit_trim packet "B"
    commit element "A, C / 4 % 4, B"
  }
  return
}

!swapped = !visa.dm<i8, slice "C / 32, A / 2 % 2, C % 16", element "A / 4, A % 2, C / 16 % 2, B", #axes>
// CHECK-LABEL: func.func @inter_transpose
// CHECK:       switch inter_transpose slices [8, 2, 16] time0 2
func.func @inter_transpose() attributes {visa.kernel} {
  %d = visa.alloc : !i8
  %r = visa.chain main -> !swapped {
    fetch %d time "A" packet "B" : !i8
    switch inter_transpose [2, 16, 2] slice "C / 32, A / 2 % 2, C % 16" time "A / 4, A % 2, C / 16 % 2"
    collect time "A / 4, A % 2, C / 16 % 2" packet "B"
    commit_trim packet "B"
    commit element "A / 4, A % 2, C / 16 % 2, B"
  }
  return
}

// Forwarding needs no unit.
// CHECK-LABEL: func.func @forwarding
// CHECK-NOT:   switch
// CHECK:       return
func.func @forwarding() attributes {visa.kernel} {
  %d = visa.alloc : !i8
  %r = visa.chain main -> !i8 {
    fetch %d time "A" packet "B" : !i8
    switch forwarding [] slice "C" time "A"
    collect time "A" packet "B"
    commit_trim packet "B"
    commit element "A, B"
  }
  return
}

#t = #tmap.axes<B = 2, C = 8, D = 2, E = 8>
!rows = !visa.dm<i8, slice "1 # 256", element "B, C, D, E", #t>
!columns = !visa.dm<i8, slice "1 # 256", element "B, D, E, C", #t>
// CHECK-LABEL: func.func @transposed
// CHECK:       transpose rows 8 columns 16 out_rows 16 bits 8
// CHECK-NEXT:  commit_adapter in 32 keep 8
// CHECK-NEXT:  commit_sequencer %{{.*}} loops [32 : 8] write 8
func.func @transposed() attributes {visa.kernel} {
  %d = visa.alloc : !rows
  %r = visa.chain main -> !columns {
    fetch %d time "B, C, D" packet "E" : !rows
    collect time "B, C, D" packet "E # 32"
    transpose time "B, D, E" packet "C # 32"
    commit_trim packet "C"
    commit element "B, D, E, C"
  }
  return
}

// CHECK-LABEL: func.func @commit_casts
// CHECK:       commit_adapter in 32 keep 32 cast f32_to_bf16{{$}}
// CHECK-NEXT:  commit_sequencer %{{.*}} loops [32 : 16] write 16
// CHECK:       commit_adapter in 32 keep 32 cast f32_to_bf16_relu
func.func @commit_casts() attributes {visa.kernel} {
  %d = visa.alloc : !f32
  %r0 = visa.chain main -> !bf16 {
    fetch %d time "A" packet "B" : !f32
    collect time "A, B / 8" packet "B % 8"
    commit_trim packet "B % 8"
    commit_cast to bf16
    commit element "A, B"
  }
  %r1 = visa.chain main -> !bf16 {
    fetch %d time "A" packet "B" : !f32
    collect time "A, B / 8" packet "B % 8"
    commit_trim packet "B % 8"
    commit_cast_relu to bf16
    commit element "A, B"
  }
  return
}

// The sub context writes words, wherever they go.
!scattered = !visa.dm<i8, slice "C", element "B / 8, A, B % 8", #axes>
// CHECK-LABEL: func.func @sub_commit
// CHECK:       lir.exec sub
// CHECK:       commit_adapter in 32 keep 32
// CHECK-NEXT:  commit_sequencer %{{.*}} loops [8 : 8, 4 : 64] write 8
func.func @sub_commit() attributes {visa.kernel} {
  %d = visa.alloc : !i8
  %r = visa.chain sub -> !scattered {
    fetch %d time "A" packet "B" : !i8
    collect time "A" packet "B"
    commit_trim packet "B"
    commit element "B / 8, A, B % 8"
  }
  return
}

// Slices that send, within rings of 32.
#rings = #tmap.axes<V = 16, W = 16, T = 4, B = 32, Y = 2, Z = 2>
!grid = !visa.dm<i8, slice "V, W", element "T, B", #rings>
!spread = !visa.dm<i8, slice "V / 2, Y, W / 2, Z", element "T, V % 2, W % 2, B", #rings>
// CHECK-LABEL: func.func @custom
// CHECK:       custom_switch ring 32 slices [8 : 32, 2 : 0, 8 : 2, 2 : 0] packets [2 : 16, 2 : 1]
func.func @custom() attributes {visa.kernel} {
  %d = visa.alloc : !grid
  %r = visa.chain main -> !spread {
    fetch %d time "T" packet "B" : !grid
    switch custom_broadcast [32] slice "V / 2, Y, W / 2, Z" time "T, V % 2, W % 2"
    collect time "T, V % 2, W % 2" packet "B"
    commit_trim packet "B"
    commit element "T, V % 2, W % 2, B"
  }
  return
}
