// Rules of commit adapter and commit.
// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

// TU-72: trim first. MM-27: not straight after fetch.
#axes = #tmap.axes<A = 8, B = 32>
!dm = !visa.dm<i8, slice "1 # 256", element "A, B", #axes>
func.func @order() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %r0 = visa.chain main -> !dm {
    fetch %d time "A" packet "B" : !dm
    collect time "A" packet "B"
    // expected-error @below {{TU-72: this stage may not follow collect; it may follow commit_trim or commit_cast}}
    commit element "A, B"
  }
  %r1 = visa.chain main -> !dm {
    fetch %d time "A" packet "B" : !dm
    // expected-error @below {{MM-27: this stage may not follow fetch}}
    commit_trim packet "B"
    commit element "A, B"
  }
  return
}

// -----

// TU-73: 8, 16, 24 or 32 bytes. TU-74: a prefix of the packet.
#axes = #tmap.axes<W = 8, V = 8>
!dm = !visa.dm<f32, slice "1 # 256", element "W", #axes>
!out = !visa.dm<f32, slice "1 # 256", element "W = 4", #axes>
func.func @trim() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %r0 = visa.chain main -> !dm {
    fetch %d time "1" packet "W" : !dm
    collect time "1" packet "W"
    // expected-error @below {{TU-73: packet "W = 1" of f32 is 4 bytes, a commit writes 8, 16, 24 or 32}}
    commit_trim packet "W = 1"
    commit element "W"
  }
  %r1 = visa.chain main -> !dm {
    fetch %d time "1" packet "W" : !dm
    collect time "1" packet "W"
    // expected-error @below {{TU-74: packet "V" is not the first part of the stream's packet "W"}}
    commit_trim packet "V"
    commit element "W"
  }
  %r2 = visa.chain main -> !out {
    fetch %d time "1" packet "W" : !dm
    collect time "1" packet "W"
    commit_trim packet "W = 4"
    commit element "W = 4"
  }
  return
}

// -----

// MM-24: an axis without a place. MM-25: a cell that stays unwritten.
#axes = #tmap.axes<A = 8, B = 32>
!dm = !visa.dm<i8, slice "1 # 256", element "A, B", #axes>
!small = !visa.dm<i8, slice "1 # 256", element "B", #axes>
func.func @coverage() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %s = visa.alloc : !small
  %r0 = visa.chain main -> !small {
    fetch %d time "A" packet "B" : !dm
    collect time "A" packet "B"
    commit_trim packet "B"
    // expected-error @below {{MM-24 (MA-24)}}
    // expected-note @below {{the stream has time "A" and packet "B"}}
    commit element "B"
  }
  %r1 = visa.chain main -> !dm {
    fetch %s time "1" packet "B" : !small
    collect time "1" packet "B"
    commit_trim packet "B"
    // expected-error @below {{MM-25 (MA-26)}}
    // expected-note @below {{the stream has time "1" and packet "B"}}
    commit element "A, B"
  }
  return
}

// -----

// MM-26: strides of whole words.
#axes = #tmap.axes<A = 8, B = 12>
!dm = !visa.dm<i8, slice "1 # 256", element "A, B # 16", #axes>
!out = !visa.dm<i8, slice "1 # 256", element "A, B", #axes>
func.func @strides() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %r = visa.chain main -> !out {
    fetch %d time "A" packet "B # 16" : !dm
    collect time "A" packet "B # 32"
    // expected-error @below {{TU-73: packet "B" of i8 is 12 bytes}}
    commit_trim packet "B"
    commit element "A, B"
  }
  return
}

// -----

// TU-77: the result type is what the chain stores.
#axes = #tmap.axes<A = 8, B = 32>
!dm = !visa.dm<i8, slice "1 # 256", element "A, B", #axes>
!out = !visa.dm<i32, slice "1 # 256", element "A, B", #axes>
!turned = !visa.dm<i8, slice "1 # 256", element "B, A", #axes>
func.func @result_types() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %r0 = visa.chain main -> !out {
    fetch %d time "A" packet "B" : !dm
    collect time "A" packet "B"
    commit_trim packet "B"
    // expected-error @below {{TU-77: the chain stores 'i8', but its result holds 'i32'}}
    commit element "A, B"
  }
  // expected-note @below {{result type is written here}}
  %r1 = visa.chain main -> !turned {
    fetch %d time "A" packet "B" : !dm
    collect time "A" packet "B"
    commit_trim packet "B"
    // expected-error @below {{TU-77: element of the chain's result does not match the stage: found "B, A", expected "A, B"}}
    commit element "A, B"
  }
  return
}

// -----

// The end of a chain.
#axes = #tmap.axes<A = 8>
!dm = !visa.dm<i32, slice "1 # 256", element "A", #axes>
func.func @ends() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  // expected-error @below {{TU-72: the chain ends with collect; its last stage must be commit, to_trf or to_vrf}}
  %r0 = visa.chain main -> !dm {
    fetch %d time "1" packet "A" : !dm
    collect time "1" packet "A"
  }
  // expected-error @below {{TU-72: the chain ends with no stage}}
  %r1 = visa.chain main -> !dm {
  }
  %r2 = visa.chain main -> !dm {
    fetch %d time "1" packet "A" : !dm
    collect time "1" packet "A"
    commit_trim packet "A"
    commit element "A"
    // expected-error @below {{TU-72: a stage behind the end of the chain}}
    commit element "A"
  }
  return
}

// -----

// TU-75: whole words behind the cast. TU-76: f32 to bf16, main context only.
#axes = #tmap.axes<A = 8, B = 8>
!dm = !visa.dm<f32, slice "1 # 256", element "A, B", #axes>
!i32 = !visa.dm<i32, slice "1 # 256", element "A, B", #axes>
!out = !visa.dm<bf16, slice "1 # 256", element "A, B", #axes>
func.func @commit_casts() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %i = visa.alloc : !i32
  %r0 = visa.chain main -> !out {
    fetch %d time "A" packet "B" : !dm
    collect time "A" packet "B"
    commit_trim packet "B = 6"
    // expected-error @below {{TU-75: packet "B = 6" is 24 bytes of f32, a commit cast takes 16 or 32}}
    commit_cast to bf16
    commit element "A, B"
  }
  %r1 = visa.chain main -> !out {
    fetch %d time "A" packet "B" : !dm
    collect time "A" packet "B"
    commit_trim packet "B = 2"
    // expected-error @below {{TU-75: packet "B = 2" is 8 bytes of f32}}
    commit_cast_relu to bf16
    commit element "A, B"
  }
  %r2 = visa.chain main -> !out {
    fetch %i time "A" packet "B" : !i32
    collect time "A" packet "B"
    commit_trim packet "B"
    // expected-error @below {{TU-76: no commit cast from i32 to 'bf16', there is f32 to bf16}}
    commit_cast to bf16
    commit element "A, B"
  }
  %r3 = visa.chain sub -> !out {
    fetch %d time "A" packet "B" : !dm
    collect time "A" packet "B"
    commit_trim packet "B"
    // expected-error @below {{TU-76: a commit cast in the sub context, only main converts on the way out}}
    commit_cast to bf16
    commit element "A, B"
  }
  %r4 = visa.chain main -> !out {
    fetch %d time "A" packet "B" : !dm
    collect time "A" packet "B"
    // expected-error @below {{TU-72: this stage may not follow collect; it may follow commit_trim}}
    commit_cast to bf16
    commit element "A, B"
  }
  return
}

// -----

// MM-26: main writes a packet at once, the sub context in words of 8 bytes.
#axes = #tmap.axes<A = 8, B = 32>
!dm = !visa.dm<i8, slice "1 # 256", element "A, B", #axes>
!out = !visa.dm<i8, slice "1 # 256", element "B / 8, A, B % 8", #axes>
!bytes = !visa.dm<i8, slice "1 # 256", element "B / 4, A, B % 4", #axes>
func.func @scattered_packets() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %r0 = visa.chain main -> !out {
    fetch %d time "A" packet "B" : !dm
    collect time "A" packet "B"
    commit_trim packet "B"
    // expected-error @below {{MM-26: packet "B" of 32 bytes is not contiguous in data memory, and main writes it at once; trim to runs, or commit in the sub context}}
    commit element "B / 8, A, B % 8"
  }
  %r1 = visa.chain sub -> !out {
    fetch %d time "A" packet "B" : !dm
    collect time "A" packet "B"
    commit_trim packet "B"
    commit element "B / 8, A, B % 8"
  }
  %r2 = visa.chain sub -> !bytes {
    fetch %d time "A" packet "B" : !dm
    collect time "A" packet "B"
    commit_trim packet "B"
    // expected-error @below {{MM-26: a stride of 4 elements of i8 is no multiple of 8 bytes; pad the element mapping}}
    commit element "B / 4, A, B % 4"
  }
  return
}
