// RUN: furiosa-opt-mlir %s --convert-visa-to-lir | FileCheck %s

// Row S19 of the worked sequencers: time walks one memory, the packet another
// one, so that their entries are never one. A fetch has two memories where it
// takes two tensors in turn: the step from tensor to tensor is an entry of its
// own even where the tensors would lie one behind the other.

#axes = #tmap.axes<A = 8, B = 8, I = 2>
!t = !visa.dm<i8, slice "1 # 256", element "B", #axes>
!out = !visa.dm<i8, slice "1 # 256", element "I, B", #axes>

// CHECK-LABEL: func.func @s19
// CHECK: fetch_sequencer %[[A:.*]] interleave %[[B:.*]] from 0 along 0 loops [2 : 0] read 8 packet 8 flits 2 : !lir.mem<dm, 8>, !lir.mem<dm, 8>
func.func @s19() attributes {visa.kernel} {
  %z = arith.constant 0 : i8
  %a = visa.alloc : !t
  %b = visa.alloc : !t
  visa.memset %a with %z : !t, i8
  visa.memset %b with %z : !t, i8
  %r = visa.chain main -> !out {
    fetch %a interleave %b along "I" time "I" packet "B" : !t, !t
    collect time "I" packet "B # 32"
    commit_trim packet "B"
    commit element "I, B"
  }
  return
}

// Of one memory time and packet stay apart, too.
// CHECK-LABEL: func.func @s15
// CHECK: fetch_sequencer %{{.*}} loops [8 : 8] read 8 packet 8 flits 8
!one = !visa.dm<i8, slice "1 # 256", element "A, B", #axes>
func.func @s15() attributes {visa.kernel} {
  %z = arith.constant 0 : i8
  %a = visa.alloc : !one
  visa.memset %a with %z : !one, i8
  %r = visa.chain main -> !one {
    fetch %a time "A" packet "B" : !one
    collect time "A" packet "B # 32"
    commit_trim packet "B"
    commit element "A, B"
  }
  return
}
