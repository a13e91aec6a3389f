// Reductions behind a zip: an ALU that no stage holds makes of group 0 what the
// reduction ignores.
// RUN: furiosa-opt-mlir %s --convert-visa-to-lir | FileCheck %s

#axes = #tmap.axes<I = 2, R = 8, A = 8, B = 4>
!f = !visa.dm<f32, slice "1 # 256", element "I, R, A", #axes>
!fr = !visa.dm<f32, slice "1 # 256", element "A", #axes>
!i = !visa.dm<i32, slice "1 # 256", element "I, R, A", #axes>
!ir = !visa.dm<i32, slice "1 # 256", element "A", #axes>
!p = !visa.dm<i32, slice "1 # 256", element "I, R, B # 8", #axes>
!rr = !visa.dm<i32, slice "1 # 256", element "R, 1 # 2", #axes>

// CHECK-LABEL: func.func @floats
// CHECK: vector_unzip
// CHECK: vector_alu fp_mul0 mul
// CHECK-NEXT: vector_alu fp_fma fma
// CHECK-SAME: 0xFF800000
// CHECK-SAME: ---0
// CHECK-SAME: 112
// CHECK-NEXT: vector_reduce max_f32
// CHECK-SAME: count 16
// CHECK-NOT: vector_compact
func.func @floats() attributes {visa.kernel} {
  %d = visa.alloc : !f
  %r = visa.chain main -> !fr {
    fetch %d time "I, R" packet "A" : !f
    collect time "I, R" packet "A"
    vector_init
    vector_unzip axis "I" time "R"
    vector_narrow split time "I, R, A / 4" packet "A % 4"
    vector_zip fp mul0
    vector_reduce max axis "R" time "A / 4" packet "A % 4"
    vector_widen concat time "1" packet "A"
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  return
}

// Twice the largest i32, saturated.
// CHECK-LABEL: func.func @integers
// CHECK: vector_alu logic_or
// CHECK-NEXT: vector_alu fxp_add add_sat
// CHECK-SAME: 0x7FFFFFFF
// CHECK-SAME: ---0
// CHECK-SAME: 11
// CHECK-NEXT: vector_narrow
// CHECK-NEXT: vector_reduce min_i32
// CHECK-NOT: vector_compact
func.func @integers() attributes {visa.kernel} {
  %d = visa.alloc : !i
  %r = visa.chain main -> !ir {
    fetch %d time "I, R" packet "A" : !i
    collect time "I, R" packet "A"
    vector_init
    vector_unzip axis "I" time "R"
    vector_zip logic or
    vector_narrow split time "R, A / 4" packet "A % 4"
    vector_reduce min axis "R" time "A / 4" packet "A % 4"
    vector_widen concat time "1" packet "A"
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  return
}

// A packet folds on its own: no ALU is needed, and group 1 is kept.
// CHECK-LABEL: func.func @packets
// CHECK: vector_alu logic_or
// CHECK-NEXT: vector_narrow
// CHECK-NEXT: vector_reduce max_i32
// CHECK: vector_compact
func.func @packets() attributes {visa.kernel} {
  %d = visa.alloc : !p
  %r = visa.chain main -> !rr {
    fetch %d time "I, R" packet "B # 8" : !p
    collect time "I, R" packet "B # 8"
    vector_init
    vector_unzip axis "I" time "R"
    vector_zip logic or
    vector_narrow trim packet "B"
    vector_reduce max axis "B" time "R" packet "1 # 4"
    vector_widen pad packet "1 # 8"
    vector_final
    commit_trim packet "1 # 2"
    commit element "R, 1 # 2"
  }
  return
}
