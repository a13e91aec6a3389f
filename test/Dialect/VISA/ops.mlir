// Every op and every optional clause survives text, generic form and bytecode.
// RUN: furiosa-opt-mlir %s --verify-roundtrip | FileCheck %s
// RUN: furiosa-opt-mlir %s --mlir-print-op-generic | furiosa-opt-mlir | FileCheck %s
// RUN: furiosa-opt-mlir %s --emit-bytecode | furiosa-opt-mlir | FileCheck %s

#axes = #tmap.axes<A = 2048, K = 64>
!hbm = !visa.hbm<i32, element "A", #axes>
!dm = !visa.dm<i32, slice "A / 8", element "A % 8", #axes>
!vrf = !visa.vrf<i32, slice "A / 8", element "A % 8", #axes>
!window = !visa.hbm<i32, element "1 #{!} 2, A % 1024", #axes>

// CHECK-LABEL: func.func @movement
func.func @movement(%a: !hbm, %i: index) -> !hbm {
  // CHECK: visa.alloc : !i32_hbm
  %y = visa.alloc : !hbm
  // CHECK: %[[D:.*]] = visa.to_dm %{{.*}} : !i32_hbm -> !i32_dm
  %d = visa.to_dm %a : !hbm -> !dm
  // CHECK: visa.tile %{{.*}}[%{{.*}}] along "A / 1024" take 1 : !i32_hbm -> !i32_hbm
  %t = visa.tile %y[%i] along "A/1024" take 1 : !hbm -> !window
  // CHECK: visa.tile %{{.*}}[1] along "A / 1024" take 1 {test.x}
  %u = visa.tile %y[1] along "A / 1024" take 1 {test.x} : !hbm -> !window
  // CHECK: visa.reshape %[[D]] : !i32_dm -> !i32_dm
  %s = visa.reshape %d : !dm -> !visa.dm<i32, slice "A / 16, A / 8 % 2", element "A % 8", #axes>
  // CHECK: visa.copy %[[D]] into %{{.*}} : !i32_dm, !i32_hbm
  visa.copy %d into %y : !dm, !hbm
  // CHECK: visa.to_hbm %[[D]] : !i32_dm -> !i32_hbm
  %o = visa.to_hbm %d : !dm -> !hbm
  return %o : !hbm
}

// CHECK-LABEL: func.func @vector
func.func @vector(%d: !dm, %v: !vrf) {
  // CHECK: visa.chain main {test.y} -> !i32_dm {
  %r = visa.chain main {test.y} -> !dm {
    // CHECK-NEXT: fetch %{{.*}} time "1" packet "A % 8" {test.z} : !i32_dm
    fetch %d time "1" packet "A%8" {test.z} : !dm
    // CHECK-NEXT: fetch_cast to i32
    fetch_cast to i32
    // CHECK-NEXT: collect time "1" packet "A % 8"
    collect time "1" packet "A % 8"
    // CHECK-NEXT: vector_init
    vector_init
    // CHECK-NEXT: vector_tag zero
    vector_tag zero
    // CHECK-NEXT: vector_fxp add [imm -1]
    vector_fxp add [imm 4294967295]
    // CHECK-NEXT: vector_fxp mul_int [vrf %{{.*}}] : !i32_vrf
    vector_fxp mul_int [vrf %v] : !vrf
    // CHECK-NEXT: vector_final
    vector_final
    // CHECK-NEXT: cast to i8 packet "A % 8 # 32"
    cast to i8 packet "A % 8 # 32"
    // CHECK-NEXT: commit_trim packet "A % 8"
    commit_trim packet "A % 8"
    // CHECK-NEXT: commit element "A % 8"
    commit element "A % 8"
  }
  return
}

// CHECK-LABEL: func.func @stream
func.func @stream(%d: !visa.dm<f4E2M1FN, slice "A / 8", element "K", #axes>) {
  // CHECK: visa.chain main -> !bf16_dm
  %r = visa.chain main -> !visa.dm<bf16, slice "A / 8", element "K", #axes> {
    fetch %d time "1" packet "K" : !visa.dm<f4E2M1FN, slice "A / 8", element "K", #axes>
    // CHECK: table_lookup to f8E4M3FN
    table_lookup to f8E4M3FN
    // CHECK-NEXT: fetch_cast to f32
    fetch_cast to f32
    // CHECK-NEXT: switch broadcast01 [2, 4, 1] slice "A / 64, 1 # 8" time "A / 8 % 8"
    switch broadcast01 [2, 4, 1] slice "A/64, 1#8" time "A/8%8"
    // CHECK-NEXT: switch forwarding [] slice "A / 8" time "1"
    switch forwarding [] slice "A / 8" time "1"
    collect time "K / 8" packet "K % 8"
    // CHECK: transpose time "K / 16, K % 8" packet "K / 8 % 2 # 8"
    transpose time "K/16, K%8" packet "K/8%2#8"
    commit_trim packet "K % 8"
    // CHECK: commit_cast to bf16
    commit_cast to bf16
    // CHECK-NEXT: commit_cast_relu to bf16
    commit_cast_relu to bf16
    commit element "K"
  }
  // CHECK: visa.chain sub
  %w = visa.chain sub -> !visa.trf<i9, slice "A / 8", lane "1", element "K", #axes> {
    // CHECK: zero_point_sub -3
    zero_point_sub -3
    to_trf lane "1" element "K"
  }
  return
}

// CHECK-LABEL: func.func @contraction
func.func @contraction(%d: !visa.dm<bf16, slice "1 # 256", element "K", #axes>, %w: !visa.trf<bf16, slice "1 # 256", lane "1", element "K", #axes>) {
  // CHECK: visa.chain main -> !f32_dm
  %r = visa.chain main -> !visa.dm<f32, slice "1 # 256", element "1 # 8", #axes> {
    fetch %d time "1" packet "K" : !visa.dm<bf16, slice "1 # 256", element "K", #axes>
    collect time "K / 16" packet "K % 16"
    // CHECK: contract_outer %{{.*}} time "K / 32" packet "K % 32" : !bf16_trf
    contract_outer %w time "K / 32" packet "K % 32" : !visa.trf<bf16, slice "1 # 256", lane "1", element "K", #axes>
    // CHECK-NEXT: contract_packet packet "1"
    contract_packet packet "1"
    // CHECK-NEXT: contract_time time "1"
    contract_time time "1"
    // CHECK-NEXT: contract_lane sequential time "1" packet "1 # 8"
    contract_lane sequential time "1" packet "1 # 8"
    commit_trim packet "1 # 8"
    commit element "1 # 8"
  }
  return
}

// CHECK-LABEL: func.func @register_files
func.func @register_files(%d: !dm) {
  // CHECK: visa.chain sub -> !i32_vrf
  %v = visa.chain sub -> !vrf {
    fetch %d time "1" packet "A % 8" : !dm
    collect time "1" packet "A % 8"
    // CHECK: to_vrf element "A % 8"
    to_vrf element "A % 8"
  }
  // CHECK: visa.chain sub -> !i32_trf
  %w = visa.chain sub -> !visa.trf<i32, slice "A / 8", lane "1", element "A % 8", #axes> {
    fetch %d time "1" packet "A % 8" : !dm
    collect time "1" packet "A % 8"
    // CHECK: to_trf lane "1" element "A % 8"
    to_trf lane "1" element "A % 8"
  }
  return
}

// Types: what is left out, what is written.
// CHECK-LABEL: func.func private @types
// CHECK-SAME: !i32_hbm
func.func private @types(
  !visa.hbm<i4, chip "1 # 2", element "A", #axes>,
  !visa.dm<f8E4M3FN, cluster "1", slice "A / 32", element "A % 32 # 64", #axes>,
  !visa.hbm<ui8, element "A", #axes>, !visa.hbm<f4E2M1FN, element "A", #axes>,
  !visa.hbm<f8E5M2, element "A", #axes>, !visa.hbm<i16, element "A #{0} 4096", #axes>,
  !hbm) attributes {test.mapping = #tmap.mapping<"A/8, 1 # 2", #axes>}

#rows = #tmap.axes<Y = 12, X = 12, P = 4, R = 3, B = 8>
!rows = !visa.dm<i32, slice "1 # 256", element "Y, X, B", #rows>

// CHECK-LABEL: func.func @windows
func.func @windows(%d: !rows) {
  // CHECK: fetch %{{.*}} window [Y = P * 2 + "R % 3" - 1, X = 3] time "P, R" packet "B" : !i32_dm
  %r = visa.chain main -> !visa.dm<i32, slice "1 # 256", element "P, R, B", #rows> {
    fetch %d window [Y = "P"*2+"R%3" - 1, X = 3] time "P, R" packet "B" : !rows
    commit element "P, R, B"
  }
  // CHECK: fetch %{{.*}} window [Y = P + R + 2] time "P, R, X" packet "B" : !i32_dm
  %s = visa.chain main -> !visa.dm<i32, slice "1 # 256", element "P, R, X, B", #rows> {
    fetch %d window [Y = P * 1 + R + 2] time "P, R, X" packet "B" : !rows
    commit element "P, R, X, B"
  }
  return
}
