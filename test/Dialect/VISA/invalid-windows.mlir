// Rules of a fetch of windows, one broken rule a case.
// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

#axes = #tmap.axes<Y = 12, X = 12, P = 6, R = 3, C = 8>
!t = !visa.dm<i32, slice "1 # 256", element "Y, C", #axes>
!cut = !visa.dm<i32, slice "1 # 256", element "Y / 4, C, Y % 4", #axes>
!spread = !visa.dm<i32, slice "Y # 256", element "C", #axes>
!holds = !visa.dm<i32, slice "1 # 256", element "P, Y, C", #axes>
!out = !visa.dm<i32, slice "1 # 256", element "P, R, C", #axes>
func.func @windows() attributes {visa.kernel} {
  %t = visa.alloc : !t
  %cut = visa.alloc : !cut
  %spread = visa.alloc : !spread
  %holds = visa.alloc : !holds
  // expected-error @below {{TU-72: the chain ends with fetch}}
  %r0 = visa.chain main -> !out {
    // expected-error @below {{TU-79: windows of axis Z, which is not declared}}
    fetch %t window [Z = P + R] time "P, R" packet "C" : !t
  }
  // expected-error @below {{TU-72: the chain ends with fetch}}
  %r1 = visa.chain main -> !out {
    // expected-error @below {{TU-79: axis Y of windows is cut in "Y / 4, C, Y % 4"; store it in one piece}}
    fetch %cut window [Y = P + R] time "P, R" packet "C" : !cut
  }
  // expected-error @below {{TU-72: the chain ends with fetch}}
  %r2 = visa.chain main -> !out {
    // expected-error @below {{TU-79: axis Y of windows is spread over "Y # 256"; give the rows of a slice an axis of their own}}
    fetch %spread window [Y = P + R] time "P, R" packet "C" : !spread
  }
  // expected-error @below {{TU-72: the chain ends with fetch}}
  %r3 = visa.chain main -> !out {
    // expected-error @below {{TU-79: "P, Y, C" holds axis P already, in which the windows of Y are counted}}
    fetch %holds window [Y = P + R] time "P, R" packet "C" : !holds
  }
  // expected-error @below {{TU-72: the chain ends with fetch}}
  %r4 = visa.chain main -> !out {
    // expected-error @below {{TU-79: "P, Y, R" reads axis Y, in place of which there are windows; name those}}
    fetch %t window [Y = P + R] time "P, Y, R" packet "C" : !t
  }
  // expected-error @below {{TU-72: the chain ends with fetch}}
  %r5 = visa.chain main -> !out {
    // expected-error @below {{TU-79: a window is a sum of digits of axes: found "P # 8", expected one like "P" or "P % 7"}}
    fetch %t window [Y = "P # 8" + R] time "P, R" packet "C" : !t
  }
  // expected-error @below {{TU-72: the chain ends with fetch}}
  %r6 = visa.chain main -> !out {
    // expected-error @below {{TU-79: rows are 0 apart along "P", expected at least 1}}
    fetch %t window [Y = P * 0 + R] time "P, R" packet "C" : !t
  }
  // expected-error @below {{TU-72: the chain ends with fetch}}
  %r7 = visa.chain main -> !out {
    // expected-error @below {{TU-79: an axis stands twice in the windows; each has axes of its own}}
    fetch %t window [Y = P + "P % 3"] time "P" packet "C" : !t
  }
  // expected-error @below {{TU-72: the chain ends with fetch}}
  %r8 = visa.chain main -> !out {
    // expected-error @below {{TU-80: windows of axis Y read rows 0 to 12, the source has rows 0 to 11; store those as well, zeros where there are none}}
    fetch %t window [Y = P * 2 + R] time "P, R" packet "C" : !t
  }
  // expected-error @below {{TU-72: the chain ends with fetch}}
  %r9 = visa.chain main -> !out {
    // expected-error @below {{TU-80: windows of axis Y read rows -1 to 6, the source has rows 0 to 11}}
    fetch %t window [Y = P + R - 1] time "P, R" packet "C" : !t
  }
  // expected-error @below {{TU-72: the chain ends with fetch}}
  %r10 = visa.chain main -> !out {
    // expected-error @below {{MM-9: time "P" and packet "C" leave cells of the source unread}}
    fetch %t window [Y = P + R] time "P" packet "C" : !t
  }
  return
}

// -----

#axes = #tmap.axes<Y = 12, P = 6, R = 3, C = 8, I = 2>
!t = !visa.dm<i32, slice "1 # 256", element "Y, C", #axes>
!out = !visa.dm<i32, slice "1 # 256", element "I, P, R, C", #axes>
func.func @pair() attributes {visa.kernel} {
  %t = visa.alloc : !t
  %r = visa.chain main -> !out {
    // expected-error @below {{not yet supported: windows of two tensors in turn}}
    fetch %t interleave %t along "I" window [Y = P + R] time "I, P, R" packet "C" : !t, !t
    collect time "I, P, R" packet "C"
    commit_trim packet "C"
    commit element "I, P, R, C"
  }
  return
}

// -----

#axes = #tmap.axes<Y = 12, P = 6, R = 3, C = 8>
!t = !visa.dm<i32, slice "1 # 256", element "Y, C", #axes>
func.func @text() attributes {visa.kernel} {
  %t = visa.alloc : !t
  %r = visa.chain main -> !t {
    // expected-error @below {{MA-2: }}
    fetch %t window [Y = "P %" + R] time "P" packet "C" : !t
  }
  return
}
