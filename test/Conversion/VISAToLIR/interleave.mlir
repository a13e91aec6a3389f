// RUN: furiosa-opt-mlir %s --verify-roundtrip -o /dev/null
// RUN: furiosa-opt-mlir %s --convert-visa-to-lir | FileCheck %s
// RUN: furiosa-opt-mlir %s --convert-visa-to-lir --verify-roundtrip -o /dev/null

// The loop over the two tensors stays one of its own, wherever its axis stands,
// though another one goes on where a tensor ends.

#axes = #tmap.axes<A = 4, B = 8, I = 2>
!t = !visa.dm<i32, slice "1 # 256", element "A, B", #axes>
!out = !visa.dm<i32, slice "1 # 256", element "I, A, B", #axes>

// CHECK-LABEL: func.func @outside
// CHECK: %[[A:.*]] = lir.alloc : !lir.mem<dm, 128>
// CHECK: %[[B:.*]] = lir.alloc : !lir.mem<dm, 128>
// CHECK: fetch_sequencer %[[A]] interleave %[[B]] from 0 along 0 loops [2 : 0, 4 : 32] read 32 packet 32 flits 8 : !lir.mem<dm, 128>, !lir.mem<dm, 128>
func.func @outside() attributes {visa.kernel} {
  %a = visa.alloc : !t
  %b = visa.alloc : !t
  %r = visa.chain main -> !out {
    fetch %a interleave %b along "I" time "I, A" packet "B" : !t, !t
    collect time "I, A" packet "B"
    commit_trim packet "B"
    commit element "I, A, B"
  }
  return
}

// CHECK-LABEL: func.func @inside
// CHECK: fetch_sequencer %{{.*}} interleave %{{.*}} from 0 along 1 loops [4 : 32, 2 : 0, 4 : 8] read 8 packet 32 flits 8
func.func @inside() attributes {visa.kernel} {
  %a = visa.alloc : !t
  %b = visa.alloc : !t
  %r = visa.chain sub -> !out {
    fetch %b interleave %a along "I" time "A, I" packet "B" : !t, !t
    collect time "A, I" packet "B"
    commit_trim packet "B"
    commit element "I, A, B"
  }
  return
}
