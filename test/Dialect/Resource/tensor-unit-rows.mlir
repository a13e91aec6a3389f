// RUN: furiosa-opt-mlir %s -split-input-file --convert-visa-to-lir --convert-lir-to-resource --resource-print-costs -o /dev/null 2>&1 | FileCheck %s --implicit-check-not=error:

// Cycles of the rows of docs/tensor-unit-rows.md that say some: the steps of the
// unit that a row is about, worked out by hand from the rules of the unit.

// A packet of four flits, 64 times.
// CHECK: = max({{.*}}flits 256{{[,)]}}
#axes = #tmap.axes<B = 64, C = 32>
!in = !visa.dm<f32, slice "1 # 256", element "B, C", #axes>
!out = !visa.dm<f32, slice "1 # 256", element "B, C", #axes>
func.func @row5() attributes {visa.kernel} {
  %d = visa.alloc : !in
  %r = visa.chain main -> !out {
    fetch %d time "B" packet "C" : !in
    collect time "B, C / 8" packet "C % 8"
    commit_trim packet "C % 8"
    commit element "B, C"
  }
  return
}

// -----

// A vector register file that is exactly full.
// CHECK: = max({{.*}}flits 256{{[,)]}}
#axes = #tmap.axes<A = 2048>
!in = !visa.dm<i32, slice "1 # 256", element "A", #axes>
!out = !visa.vrf<i32, slice "1 # 256", element "A", #axes>
func.func @row13() attributes {visa.kernel} {
  %d = visa.alloc : !in
  %r = visa.chain sub -> !out {
    fetch %d time "A / 8" packet "A % 8" : !in
    collect time "A / 8" packet "A % 8"
    to_vrf element "A"
  }
  return
}

// -----

// Two flits a row: one batch is filled while the other one leaves.
// CHECK: = max({{.*}}transposed 48{{[,)]}}
#axes = #tmap.axes<B = 2, C = 8, D = 2, E = 8>
!in = !visa.dm<i8, slice "1 # 256", element "B, C, D, E", #axes>
!out = !visa.dm<i8, slice "1 # 256", element "B, D, E, C", #axes>
func.func @row41() attributes {visa.kernel} {
  %d = visa.alloc : !in
  %r = visa.chain main -> !out {
    fetch %d time "B, C, D" packet "E" : !in
    collect time "B, C, D" packet "E # 32"
    transpose time "B, D, E" packet "C # 32"
    commit_trim packet "C"
    commit element "B, D, E, C"
  }
  return
}

// -----

// CHECK: = max({{.*}}transposed 6{{[,)]}}
#axes = #tmap.axes<A = 4, B = 2>
!in = !visa.dm<i8, slice "1 # 256", element "A, B", #axes>
!out = !visa.dm<i8, slice "1 # 256", element "B, A # 8", #axes>
func.func @row42() attributes {visa.kernel} {
  %d = visa.alloc : !in
  %r = visa.chain main -> !out {
    fetch %d time "A" packet "B" : !in
    collect time "A" packet "B # 32"
    transpose time "B" packet "A # 32"
    commit_trim packet "A # 8"
    commit element "B, A # 8"
  }
  return
}

// -----

// Four flits a row fill the whole buffer: batches take turns.
// CHECK: = max({{.*}}transposed 128{{[,)]}}
#axes = #tmap.axes<B = 2, C = 8, D = 4, E = 8>
!in = !visa.dm<i8, slice "1 # 256", element "B, C, D, E", #axes>
!out = !visa.dm<i8, slice "1 # 256", element "B, D, E, C", #axes>
func.func @row43() attributes {visa.kernel} {
  %d = visa.alloc : !in
  %r = visa.chain main -> !out {
    fetch %d time "B, C, D" packet "E" : !in
    collect time "B, C, D" packet "E # 32"
    transpose time "B, D, E" packet "C # 32"
    commit_trim packet "C"
    commit element "B, D, E, C"
  }
  return
}

// -----

// CHECK: = max({{.*}}transposed 68{{[,)]}}
#axes = #tmap.axes<C = 8, D = 4, E = 8>
!in = !visa.dm<bf16, slice "1 # 256", element "C, D, E", #axes>
!out = !visa.dm<bf16, slice "1 # 256", element "C, E, D", #axes>
func.func @row44() attributes {visa.kernel} {
  %d = visa.alloc : !in
  %r = visa.chain main -> !out {
    fetch %d time "C, D" packet "E" : !in
    collect time "C, D" packet "E # 16"
    transpose time "C, E" packet "D # 16"
    commit_trim packet "D"
    commit element "C, E, D"
  }
  return
}

// -----

// CHECK: = max({{.*}}transposed 80{{[,)]}}
#axes = #tmap.axes<B = 4, C = 16, E = 16>
!in = !visa.dm<i4, slice "1 # 256", element "B, C, E", #axes>
!out = !visa.dm<i4, slice "1 # 256", element "B, E, C", #axes>
func.func @row45() attributes {visa.kernel} {
  %d = visa.alloc : !in
  %r = visa.chain main -> !out {
    fetch %d time "B, C" packet "E" : !in
    collect time "B, C" packet "E # 64"
    transpose time "B, E" packet "C # 64"
    commit_trim packet "C"
    commit element "B, E, C"
  }
  return
}

// -----

// CHECK: = max({{.*}}transposed 34{{[,)]}}
#axes = #tmap.axes<B = 4, D = 2, E = 8>
!in = !visa.dm<f32, slice "1 # 256", element "B, D, E", #axes>
!out = !visa.dm<f32, slice "1 # 256", element "B, E, D", #axes>
func.func @row46() attributes {visa.kernel} {
  %d = visa.alloc : !in
  %r = visa.chain main -> !out {
    fetch %d time "B, D" packet "E" : !in
    collect time "B, D" packet "E"
    transpose time "B, E" packet "D # 8"
    commit_trim packet "D"
    commit element "B, E, D"
  }
  return
}

// -----

// One row.
// CHECK: = max({{.*}}transposed 9{{[,)]}}
#axes = #tmap.axes<H = 8>
!in = !visa.dm<bf16, slice "1 # 256", element "H", #axes>
!out = !visa.dm<bf16, slice "1 # 256", element "H, 1 # 4", #axes>
func.func @row47() attributes {visa.kernel} {
  %d = visa.alloc : !in
  %r = visa.chain main -> !out {
    fetch %d time "1" packet "H" : !in
    collect time "1" packet "H # 16"
    transpose time "H" packet "1 # 16"
    commit_trim packet "1 # 4"
    commit element "H, 1 # 4"
  }
  return
}

// -----

// 64 batches.
// CHECK: = max({{.*}}transposed 516{{[,)]}}
#axes = #tmap.axes<D = 128, T = 16>
!in = !visa.dm<bf16, slice "1 # 256", element "D / 8, T, D % 8", #axes>
!out = !visa.dm<bf16, slice "1 # 256", element "D / 8, T / 4, D % 8, T % 4", #axes>
func.func @row48() attributes {visa.kernel} {
  %d = visa.alloc : !in
  %r = visa.chain main -> !out {
    fetch %d time "D / 8, T" packet "D % 8" : !in
    collect time "D / 8, T" packet "D % 8 # 16"
    transpose time "D / 8, T / 4, D % 8" packet "T % 4 # 16"
    commit_trim packet "T % 4"
    commit element "D / 8, T / 4, D % 8, T % 4"
  }
  return
}

// -----

// Rings of 4 slices, 512 flits.
// CHECK: = max({{.*}}switched 2048{{[,)]}}
#axes = #tmap.axes<A = 256, B = 64, C = 64, X = 2, Y = 2>
!in = !visa.dm<f32, slice "A", element "B, C", #axes>
!out = !visa.dm<f32, slice "A / 4, X, Y", element "B / 4, A / 2 % 2, B % 4, A % 2, C", #axes>
func.func @row49() attributes {visa.kernel} {
  %d = visa.alloc : !in
  %r = visa.chain main -> !out {
    fetch %d time "B" packet "C" : !in
    switch broadcast01 [2, 2, 4] slice "A / 4, X, Y" time "B / 4, A / 2 % 2, B % 4, A % 2"
    collect time "B / 4, A / 2 % 2, B % 4, A % 2, C / 8" packet "C % 8"
    commit_trim packet "C % 8"
    commit element "B / 4, A / 2 % 2, B % 4, A % 2, C"
  }
  return
}

// -----

// Rings of 32.
// CHECK: = max({{.*}}switched 4096{{[,)]}}
#axes = #tmap.axes<A = 256, B = 64, C = 64, X = 4>
!in = !visa.dm<i8, slice "A", element "B, C", #axes>
!out = !visa.dm<i8, slice "A / 32, X, A % 8", element "B, A / 8 % 4, C", #axes>
func.func @row50() attributes {visa.kernel} {
  %d = visa.alloc : !in
  %r = visa.chain main -> !out {
    fetch %d time "B" packet "C" : !in
    switch broadcast1 [4, 8] slice "A / 32, X, A % 8" time "B, A / 8 % 4"
    collect time "B, A / 8 % 4, C / 32" packet "C % 32"
    commit_trim packet "C % 32"
    commit element "B, A / 8 % 4, C"
  }
  return
}

// -----

// Rings of 64.
// CHECK: = max({{.*}}switched 8192{{[,)]}}
#axes = #tmap.axes<A = 256, B = 64, C = 64>
!in = !visa.dm<i8, slice "A", element "B, C", #axes>
!out = !visa.dm<i8, slice "A / 64, A % 2, A / 2 % 32", element "B, C", #axes>
func.func @row51() attributes {visa.kernel} {
  %d = visa.alloc : !in
  %r = visa.chain main -> !out {
    fetch %d time "B" packet "C" : !in
    switch transpose [32, 2] slice "A / 64, A % 2, A / 2 % 32" time "B"
    collect time "B, C / 32" packet "C % 32"
    commit_trim packet "C % 32"
    commit element "B, C"
  }
  return
}

// -----

// Rings of 32.
// CHECK: = max({{.*}}switched 256{{[,)]}}
#axes = #tmap.axes<A = 256, B = 8, C = 32>
!in = !visa.dm<i8, slice "A", element "B, C", #axes>
!out = !visa.dm<i8, slice "A / 32, B / 2 % 2, A % 16", element "B / 4, B % 2, A / 16 % 2, C", #axes>
func.func @row52() attributes {visa.kernel} {
  %d = visa.alloc : !in
  %r = visa.chain main -> !out {
    fetch %d time "B" packet "C" : !in
    switch inter_transpose [2, 16, 2] slice "A / 32, B / 2 % 2, A % 16" time "B / 4, B % 2, A / 16 % 2"
    collect time "B / 4, B % 2, A / 16 % 2" packet "C"
    commit_trim packet "C"
    commit element "B / 4, B % 2, A / 16 % 2, C"
  }
  return
}

// -----

// Rings of 64.
// CHECK: = max({{.*}}switched 1024{{[,)]}}
#axes = #tmap.axes<A = 256, B = 16, C = 32, Y = 8>
!in = !visa.dm<i8, slice "A", element "B, C", #axes>
!out = !visa.dm<i8, slice "A / 64, Y, A / 8 % 8", element "B, A % 8, C", #axes>
func.func @row53() attributes {visa.kernel} {
  %d = visa.alloc : !in
  %r = visa.chain main -> !out {
    fetch %d time "B" packet "C" : !in
    switch transposed_broadcast1 [8, 8] slice "A / 64, Y, A / 8 % 8" time "B, A % 8"
    collect time "B, A % 8" packet "C"
    commit_trim packet "C"
    commit element "B, A % 8, C"
  }
  return
}

// -----

// The two digits of the slices change places: one ring of all.
// CHECK: = max({{.*}}switched 16384{{[,)]}}
#axes = #tmap.axes<V = 16, W = 16, T = 8, C = 64>
!in = !visa.dm<f32, slice "V, W", element "T, C", #axes>
!out = !visa.dm<f32, slice "W, V", element "T, C", #axes>
func.func @row54() attributes {visa.kernel} {
  %d = visa.alloc : !in
  %r = visa.chain main -> !out {
    fetch %d time "T" packet "C" : !in
    switch custom_broadcast [256] slice "W, V" time "T"
    collect time "T, C / 8" packet "C % 8"
    commit_trim packet "C % 8"
    commit element "T, C"
  }
  return
}

// -----

// Tiles of two axes: rings of 32.
// CHECK: = max({{.*}}switched 2048{{[,)]}}
#axes = #tmap.axes<V = 16, W = 16, T = 8, C = 64, Y = 2, Z = 2>
!in = !visa.dm<f32, slice "V, W", element "T, C", #axes>
!out = !visa.dm<f32, slice "V / 2, Y, W / 2, Z", element "T, V % 2, W % 2, C", #axes>
func.func @row55() attributes {visa.kernel} {
  %d = visa.alloc : !in
  %r = visa.chain main -> !out {
    fetch %d time "T" packet "C" : !in
    switch custom_broadcast [32] slice "V / 2, Y, W / 2, Z" time "T, V % 2, W % 2"
    collect time "T, V % 2, W % 2, C / 8" packet "C % 8"
    commit_trim packet "C % 8"
    commit element "T, V % 2, W % 2, C"
  }
  return
}
