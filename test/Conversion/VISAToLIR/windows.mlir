// RUN: furiosa-opt-mlir %s --verify-roundtrip -o /dev/null
// RUN: furiosa-opt-mlir %s --convert-visa-to-lir | FileCheck %s
// RUN: furiosa-opt-mlir %s --convert-visa-to-lir --verify-roundtrip -o /dev/null

// Strides of windows and of their taps are those of one axis in memory, and
// may overlap.

#axes = #tmap.axes<Y = 12, X = 12, P = 5, R = 3, Q = 4, S = 3, U = 24, C = 8>
!t = !visa.dm<i32, slice "1 # 256", element "Y, C", #axes>
!out = !visa.dm<i32, slice "1 # 256", element "P, R, C", #axes>

// CHECK-LABEL: func.func @strided
// CHECK: fetch_sequencer %{{.*}} loops [5 : 64, 3 : 32] read 32 packet 32 flits 15
func.func @strided(%t: !visa.hbm<i32, element "Y, C", #axes>) attributes {visa.kernel} {
  %d = visa.to_dm %t : !visa.hbm<i32, element "Y, C", #axes> -> !t
  %r = visa.chain main -> !out {
    fetch %d window [Y = P * 2 + R] time "P, R" packet "C" : !t
    collect time "P, R" packet "C"
    commit_trim packet "C"
    commit element "P, R, C"
  }
  return
}

// The first row that is read moves the base.
// CHECK-LABEL: func.func @begins_later
// CHECK: fetch_sequencer %{{.*}} base 96 loops [5 : 32, 3 : 64] read 32 packet 32 flits 15
func.func @begins_later(%t: !visa.hbm<i32, element "Y, C", #axes>) attributes {visa.kernel} {
  %d = visa.to_dm %t : !visa.hbm<i32, element "Y, C", #axes> -> !t
  %r = visa.chain main -> !out {
    fetch %d window [Y = P + R * 2 + 3] time "P, R" packet "C" : !t
    collect time "P, R" packet "C"
    commit_trim packet "C"
    commit element "P, R, C"
  }
  return
}

// A sum of several digits walks over two dimensions, and taps side by side are
// one run.
!flat = !visa.dm<i32, slice "P / 1 # 256", element "U, C", #axes>
!two = !visa.dm<i32, slice "P / 1 # 256", element "Q, R, S, C", #axes>
// CHECK-LABEL: func.func @two_dimensions
// CHECK: fetch_sequencer %{{.*}} base 32 loops [4 : 32, 3 : 192, 3 : 32] read 32 packet 96 flits 36
func.func @two_dimensions(%t: !visa.hbm<i32, element "P, U, C", #axes>) attributes {visa.kernel} {
  %d = visa.to_dm %t : !visa.hbm<i32, element "P, U, C", #axes> -> !flat
  %r = visa.chain main -> !two {
    fetch %d window [U = R * 6 + S + Q + 1] time "Q, R" packet "S, C" : !flat
    collect time "Q, R, S" packet "C"
    commit_trim packet "C"
    commit element "Q, R, S, C"
  }
  return
}

// Only a digit of the windows lies in a slice.
!rows = !visa.dm<i32, slice "U / 4 # 256", element "Y, C", #axes>
!part = !visa.dm<i32, slice "U / 4 # 256", element "U % 4, R, C", #axes>
// CHECK-LABEL: func.func @digit
// CHECK: fetch_sequencer %{{.*}} loops [4 : 64, 3 : 32] read 32 packet 32 flits 12
func.func @digit(%t: !visa.hbm<i32, element "U / 4, Y, C", #axes>) attributes {visa.kernel} {
  %d = visa.to_dm %t : !visa.hbm<i32, element "U / 4, Y, C", #axes> -> !rows
  %r = visa.chain main -> !part {
    fetch %d window [Y = "U % 4" * 2 + R] time "U % 4, R" packet "C" : !rows
    collect time "U % 4, R" packet "C"
    commit_trim packet "C"
    commit element "U % 4, R, C"
  }
  return
}
