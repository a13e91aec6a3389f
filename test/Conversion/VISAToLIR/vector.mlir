// Vector stages as units.
// RUN: furiosa-opt-mlir %s -convert-visa-to-lir | FileCheck %s

#axes = #tmap.axes<A = 16, I = 2, T = 11, N = 64, R = 4>
!dm = !visa.dm<i32, slice "1 # 256", element "A", #axes>
!fm = !visa.dm<f32, slice "1 # 256", element "A", #axes>
!vf = !visa.vrf<f32, slice "1 # 256", element "A", #axes>

// An open mul takes what is free; a stash that nobody reads and ids that no
// guard asks for are left out.
// CHECK-LABEL: func @chain
func.func @chain() attributes {visa.kernel} {
  %d = visa.alloc : !dm
  %f = visa.alloc : !fm
  %v = visa.chain sub -> !vf {
    fetch %f time "A / 8" packet "A % 8" : !fm
    collect time "A / 8" packet "A % 8"
    to_vrf element "A"
  }
  // CHECK: lir.exec main
  // CHECK: collect flits_per_packet 1
  // CHECK-NEXT: vector_tag i32 [less -1, true]
  // CHECK-NEXT: vector_alu logic_or or [imm 1 if "1---", imm 0x7FFFFFFF]
  // CHECK-NEXT: vector_fxp_to_fp width 23
  // CHECK-NEXT: vector_narrow split
  // CHECK-NEXT: vector_stash
  // CHECK-NEXT: vector_alu fp_mul1 mul [stash]
  // CHECK-NEXT: vector_alu fp_mul0 mul [vrf %{{.*}} loops [16 : 4] if "!1---"] : !lir.mem<vrf, 64>
  // CHECK-NEXT: vector_alu fp_fpu tanh if "-1--"
  // CHECK-NEXT: vector_widen concat
  // CHECK-NEXT: vector_alu clip_max max_f32 [imm 0] mode "00"
  // CHECK-NEXT: commit_adapter
  %r0 = visa.chain main -> !fm {
    fetch %d time "A / 8" packet "A % 8" : !dm
    collect time "A / 8" packet "A % 8"
    vector_init
    vector_tag compare [less -1, true]
    vector_logic or [imm 1 if "1---", imm 0x7FFFFFFF]
    vector_fxp_to_fp width 23
    vector_narrow split time "A / 4" packet "A % 4"
    vector_stash
    vector_fp mul [stash]
    vector_fp mul0 [vrf %v if "!1---"] : !vf
    vector_fp tanh if "-1--"
    vector_widen concat time "A / 8" packet "A % 8"
    vector_clip max [imm 2.5] mode "00"
    vector_final
    commit_trim packet "A % 8"
    commit element "A"
  }
  // CHECK: lir.exec main
  // CHECK: collect flits_per_packet 1
  // CHECK-NEXT: vector_alu fxp_add add [imm 1]
  // CHECK-NEXT: commit_adapter
  %r1 = visa.chain main -> !dm {
    fetch %d time "A / 8" packet "A % 8" : !dm
    collect time "A / 8" packet "A % 8"
    vector_init
    vector_tag compare [less -1]
    vector_stash
    vector_fxp add [imm 1]
    vector_reinterpret to f32
    vector_reinterpret to i32
    vector_final
    commit_trim packet "A % 8"
    commit element "A"
  }
  return
}

!pm = !visa.dm<i32, slice "1 # 256", element "I, A", #axes>
// CHECK-LABEL: func @pair
func.func @pair() attributes {visa.kernel} {
  %d = visa.alloc : !pm
  // CHECK: vector_unzip flits 2
  // CHECK-NEXT: vector_alu fxp_add add [imm 10 if "---0"]
  // CHECK-NEXT: vector_stash if "---0"
  // CHECK-NEXT: vector_alu clip_add add [stash if "---1"] mode "10"
  // CHECK-NEXT: vector_alu clip_max max [imm 0]
  // CHECK-NEXT: vector_compact if "---1"
  // CHECK: commit_sequencer %{{.*}} loops [2 : 32]
  %r = visa.chain main -> !dm {
    fetch %d time "I, A / 8" packet "A % 8" : !pm
    collect time "I, A / 8" packet "A % 8"
    vector_init
    vector_unzip axis "I" time "A / 8"
    vector_fxp add group [imm 10, skip]
    vector_zip clip add
    vector_clip max [imm 0]
    vector_final
    commit_trim packet "A % 8"
    commit element "A"
  }
  return
}

!tm = !visa.dm<i32, slice "1 # 256", element "T # 16", #axes>
!om = !visa.dm<i32, slice "1 # 256", element "1 # 8", #axes>
// CHECK-LABEL: func @reduce
func.func @reduce() attributes {visa.kernel} {
  %d = visa.alloc : !tm
  // CHECK: vector_valid_clip count 11 span 8 loops [2 : 8]
  // CHECK-NEXT: vector_narrow split
  // CHECK-NEXT: vector_reduce max_i32 fold loops [4 : 0] count 4
  // CHECK-NEXT: vector_widen pad
  %r = visa.chain main -> !om {
    fetch %d time "T # 16 / 8" packet "T # 16 % 8" : !tm
    collect time "T # 16 / 8" packet "T # 16 % 8"
    vector_init
    vector_tag zero
    vector_narrow split time "T # 16 / 4" packet "T # 16 % 4"
    vector_reduce max axis "T" time "1" packet "1 # 4"
    vector_widen pad packet "1 # 8"
    vector_final
    commit_trim packet "1 # 8"
    commit element "1 # 8"
  }
  return
}

!sm = !visa.dm<i32, slice "N, R", element "A", #axes>
!sx = !visa.dm<i32, slice "N, 1 # 4", element "A", #axes>
// CHECK-LABEL: func @slices
func.func @slices() attributes {visa.kernel} {
  %d = visa.alloc : !sm
  // CHECK: vector_slice_reduce add add_sat slices 4 mask 0 loops [2 : 0]
  // CHECK: commit_sequencer %{{.*}} slices [0, 0, 4, 4,
  %r = visa.chain main -> !sx {
    fetch %d time "A / 8" packet "A % 8" : !sm
    collect time "A / 8" packet "A % 8"
    vector_init
    vector_inter_slice_reduce add_sat slice "N, 1 # 4" time "A / 8"
    vector_final
    commit_trim packet "A % 8"
    commit element "A"
  }
  return
}
