// Rules of a fetch of two tensors in turn, one broken rule a case.
// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

// TU-10: two tensors of one type, told apart by a new axis of size 2 in time.
#axes = #tmap.axes<A = 8, B = 8, I = 2, K = 3>
!t = !visa.dm<i32, slice "1 # 256", element "A, B", #axes>
!turned = !visa.dm<i32, slice "1 # 256", element "B, A", #axes>
!bytes = !visa.dm<i8, slice "1 # 256", element "A, B", #axes>
!held = !visa.dm<i32, slice "1 # 256", element "I, B", #axes>
!spread = !visa.dm<i32, slice "I # 256", element "A, B", #axes>
!out = !visa.dm<i32, slice "1 # 256", element "I, A, B", #axes>
func.func @pairs() attributes {visa.kernel} {
  %a = visa.alloc : !t
  %b = visa.alloc : !t
  // expected-note @below {{the second tensor comes from here}}
  %turned = visa.alloc : !turned
  // expected-note @below {{the second tensor comes from here}}
  %bytes = visa.alloc : !bytes
  %held = visa.alloc : !held
  %spread = visa.alloc : !spread
  // expected-error @below {{TU-72: the chain ends with fetch}}
  %r0 = visa.chain main -> !out {
    // expected-error @below {{TU-10 (MM-18): the two tensors are of one type: found '!visa.dm<i32, slice "1 # 256", element "B, A"}}
    fetch %a interleave %turned along "I" time "I, A" packet "B" : !t, !turned
  }
  // expected-error @below {{TU-72: the chain ends with fetch}}
  %r1 = visa.chain main -> !out {
    // expected-error @below {{TU-10 (MM-18): the two tensors are of one type: found '!visa.dm<i8,}}
    fetch %a interleave %bytes along "I" time "I, A" packet "B" : !t, !bytes
  }
  // expected-error @below {{TU-72: the chain ends with fetch}}
  %r2 = visa.chain main -> !out {
    // expected-error @below {{TU-10 (MM-18): the pair is told apart by an axis of size 2: found "X", which is not declared; declare one in the axes}}
    fetch %a interleave %b along "X" time "I, A" packet "B" : !t, !t
  }
  // expected-error @below {{TU-72: the chain ends with fetch}}
  %r3 = visa.chain main -> !out {
    // expected-error @below {{TU-10 (MM-18): the pair is told apart by an axis of size 2: found "K", which has size 3}}
    fetch %a interleave %b along "K" time "K, A" packet "B" : !t, !t
  }
  // expected-error @below {{TU-72: the chain ends with fetch}}
  %r4 = visa.chain main -> !out {
    // expected-error @below {{TU-10: the tensors hold axis I already, in element "I, B"; take a new axis of size 2}}
    fetch %held interleave %held along "I" time "I" packet "B" : !held, !held
  }
  // expected-error @below {{TU-72: the chain ends with fetch}}
  %r5 = visa.chain main -> !out {
    // expected-error @below {{TU-10: the tensors hold axis I already, in slice "I # 256"}}
    fetch %spread interleave %spread along "I" time "I, A" packet "B" : !spread, !spread
  }
  // expected-error @below {{TU-72: the chain ends with fetch}}
  %r6 = visa.chain main -> !out {
    // expected-error @below {{TU-10: axis I tells the tensors apart: found time "A" and packet "I, B", expected it in time; write it there}}
    fetch %a interleave %b along "I" time "A" packet "I, B" : !t, !t
  }
  // expected-error @below {{TU-72: the chain ends with fetch}}
  %r7 = visa.chain main -> !out {
    // expected-error @below {{TU-10: axis I tells the tensors apart: found time "A" and packet "B", expected it in time}}
    fetch %a interleave %b along "I" time "A" packet "B" : !t, !t
  }
  // expected-error @below {{TU-72: the chain ends with fetch}}
  %r8 = visa.chain main -> !out {
    // expected-error @below {{MM-9: time "I, A / 2" and packet "B" leave cells of the source unread}}
    fetch %a interleave %b along "I" time "I, A / 2" packet "B" : !t, !t
  }
  return
}

// -----

// Padding of the pair is no tensor.
#axes = #tmap.axes<A = 8, B = 8, I = 2>
!t = !visa.dm<i32, slice "1 # 256", element "A, B", #axes>
!out = !visa.dm<i32, slice "1 # 256", element "I # 4, A, B", #axes>
func.func @padded() attributes {visa.kernel} {
  %a = visa.alloc : !t
  %b = visa.alloc : !t
  %r = visa.chain main -> !out {
    // expected-error @below {{TU-10: time "I # 4, A" takes the tensors in another way than one after the other; write axis I as it is}}
    fetch %a interleave %b along "I" time "I # 4, A" packet "B" : !t, !t
    collect time "I # 4, A" packet "B"
    commit_trim packet "B"
    commit element "I # 4, A, B"
  }
  return
}

// -----

// MM-52: the Tensor Unit reads data memory only.
#axes = #tmap.axes<A = 8, B = 8, I = 2>
!hbm = !visa.hbm<i32, element "A, B", #axes>
!out = !visa.dm<i32, slice "1 # 256", element "I, A, B", #axes>
func.func @in_hbm(%a: !hbm) attributes {visa.kernel} {
  // expected-error @below {{TU-72: the chain ends with fetch}}
  %r = visa.chain main -> !out {
    // expected-error @below {{MM-52: the source is}}
    fetch %a interleave %a along "I" time "I, A" packet "B" : !hbm, !hbm
  }
  return
}

// -----

// The axis belongs to the second tensor.
#axes = #tmap.axes<A = 8, B = 8, I = 2>
!t = !visa.dm<i32, slice "1 # 256", element "A, B", #axes>
func.func @structure(%a: !t) {
  %r = visa.chain main -> !t {
    // expected-error @below {{two tensors and the axis of their index (along) come together}}
    "visa.fetch"(%a) {along = "I", time = "I, A", packet = "B"} : (!t) -> ()
  }
  return
}
