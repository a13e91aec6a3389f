// The vector stages as text.
// RUN: furiosa-opt-mlir %s | FileCheck %s
// RUN: furiosa-opt-mlir %s | furiosa-opt-mlir | FileCheck %s
// RUN: furiosa-opt-mlir %s --mlir-print-op-generic | furiosa-opt-mlir | FileCheck %s
// RUN: furiosa-opt-mlir %s --emit-bytecode | furiosa-opt-mlir | FileCheck %s

#axes = #tmap.axes<A = 8, I = 2, R = 4, N = 64>
!dm = !visa.dm<i32, slice "1 # 256", element "A", #axes>
!fm = !visa.dm<f32, slice "1 # 256", element "A", #axes>
!vf = !visa.vrf<f32, slice "1 # 256", element "A", #axes>
!pm = !visa.dm<i32, slice "1 # 256", element "I, A", #axes>
!sm = !visa.dm<i32, slice "N, R", element "A", #axes>
!so = !visa.dm<i32, slice "N, 1 # 4", element "A", #axes>

// CHECK-LABEL: func @chain
func.func @chain() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %f = visa.alloc : !fm
  %v = visa.chain sub -> !vf {
    fetch %f time "1" packet "A" : !fm
    collect time "1" packet "A"
    to_vrf element "A"
  }
  // CHECK: vector_init
  // CHECK-NEXT: vector_tag compare [equal 0, less -5, greater_unsigned 2147483647, true]
  // CHECK-NEXT: vector_logic and [imm 255 if "1---", imm -1 if "!-01-"] mode "10"
  // CHECK-NEXT: vector_stash
  // CHECK-NEXT: vector_fxp mul_int [imm 3]
  // CHECK-NEXT: vector_clip max [stash if "-1--"]
  // CHECK-NEXT: vector_final
  %r0 = visa.chain main -> !dm {
    fetch %d time "1" packet "A" : !dm
    collect time "1" packet "A"
    vector_init
    vector_tag compare [equal 0, less -5, greater_unsigned 2147483647, true]
    vector_logic and [imm 255 if "1---", imm 0xFFFFFFFF if "!-01-"] mode "10"
    vector_stash
    vector_fxp mul_int [imm 3]
    vector_clip max [stash if "-1--"]
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  // CHECK: vector_tag compare [greater 2.5, false]
  // CHECK-NEXT: vector_logic and [imm 0x7FFFFFFF : f32]
  // CHECK-NEXT: vector_reinterpret to i32
  // CHECK-NEXT: vector_fxp_to_fp width 31
  // CHECK-NEXT: vector_narrow split time "A / 4" packet "A % 4"
  // CHECK-NEXT: vector_fp fma [imm -2.0 with 1.0e-06 if "1---", imm 0.1 with 1.0] mode "120"
  // CHECK-NEXT: vector_fp exp if "!--1-"
  // CHECK-NEXT: vector_fp mul [vrf %{{.*}}] : !
  // CHECK-NEXT: vector_fp_div [imm 4.0] mode "10"
  // CHECK-NEXT: vector_widen concat time "1" packet "A"
  // CHECK-NEXT: vector_fp_to_fxp width 0
  %r1 = visa.chain main -> !dm {
    fetch %f time "1" packet "A" : !fm
    collect time "1" packet "A"
    vector_init
    vector_tag compare [greater 2.5, false]
    vector_logic and [imm 0x7FFFFFFF : f32]
    vector_reinterpret to i32
    vector_fxp_to_fp width 31
    vector_narrow split time "A / 4" packet "A % 4"
    vector_fp fma [imm -2.0 with 1.0e-6 if "1---", imm 0.1 with 1.0] mode "120"
    vector_fp exp if "!--1-"
    vector_fp mul [vrf %v] : !vf
    vector_fp_div [imm 4.0] mode "10"
    vector_widen concat time "1" packet "A"
    vector_fp_to_fxp width 0
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  return
}

// CHECK-LABEL: func @shapes
func.func @shapes() attributes {visa.kernel} {
  %p = visa.alloc : !pm
  %s = visa.alloc : !sm
  // CHECK: vector_unzip axis "I" time "1"
  // CHECK-NEXT: vector_fxp add group [imm 10, skip]
  // CHECK-NEXT: vector_zip clip add mode "10"
  %r0 = visa.chain main -> !dm {
    fetch %p time "I" packet "A" : !pm
    collect time "I" packet "A"
    vector_init
    vector_unzip axis "I" time "1"
    vector_fxp add group [imm 10, skip]
    vector_zip clip add mode "10"
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  // CHECK: vector_narrow split time "I, A / 4" packet "A % 4"
  // CHECK-NEXT: vector_reduce max axis "I" time "A / 4" packet "A % 4"
  // CHECK-NEXT: vector_widen concat time "1" packet "A"
  %r1 = visa.chain main -> !dm {
    fetch %p time "I" packet "A" : !pm
    collect time "I" packet "A"
    vector_init
    vector_tag zero
    vector_narrow split time "I, A / 4" packet "A % 4"
    vector_reduce max axis "I" time "A / 4" packet "A % 4"
    vector_widen concat time "1" packet "A"
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  // CHECK: vector_inter_slice_reduce add_sat slice "N, 1 # 4" time "1"
  %r2 = visa.chain main -> !so {
    fetch %s time "1" packet "A" : !sm
    collect time "1" packet "A"
    vector_init
    vector_inter_slice_reduce add_sat slice "N, 1 # 4" time "1"
    vector_final
    commit_trim packet "A"
    commit element "A"
  }
  return
}
