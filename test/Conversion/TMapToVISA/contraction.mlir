// A contraction becomes a register load and a chain; what is summed is filled up
// with zeros, and the choice stands at the store.
// RUN: furiosa-opt-mlir %s --convert-tmap-to-visa -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// A placement is printed as it is pinned, and the text goes on from there.
// RUN: furiosa-opt-mlir %t.mlir --furiosa-pipeline -o /dev/null
// RUN: furiosa-opt-mlir %s --convert-tmap-to-visa | diff %t.mlir -

#axes = #tmap.axes<I = 512, J = 512, K = 64>
!a = !tmap.tensor<i8, "I, K", #axes>
!b = !tmap.tensor<i8, "J, K", #axes>
!c = !tmap.tensor<i32, "I, J", #axes>
!h = !tmap.tensor<i8, "I, J", #axes>

// CHECK-LABEL: @gemm
// CHECK-SAME: (%[[A:.*]]: !i8_hbm, %[[B:.*]]: !i8_hbm{{.*}}) -> !i32_hbm attributes {visa.alternate_networks, visa.kernel}
// CHECK: %[[AD:.*]] = visa.to_dm %[[A]]
// CHECK: %[[BD:.*]] = visa.to_dm %[[B]]
// CHECK: %[[W:.*]] = visa.chain sub
// CHECK-NEXT: fetch %[[BD]] time "J % 8, J / 8 % 8" packet "K"
// CHECK-NEXT: collect time "J % 8, J / 8 % 8, K / 32" packet "K % 32"
// CHECK-NEXT: to_trf lane "J % 8" element "J / 8 % 8, K"
// CHECK: %[[R:.*]] = visa.chain main
// CHECK-NEXT: fetch %[[AD]] time "I % 32" packet "K"
// CHECK-NEXT: collect time "I % 32, K / 32" packet "K % 32"
// CHECK-NEXT: contract_outer %[[W]] time "I % 32, J / 8 % 8" packet "K"
// CHECK-NEXT: contract_packet packet "1"
// CHECK-NEXT: contract_time time "I % 32, J / 8 % 8"
// CHECK-NEXT: contract_lane interleaved time "I % 32, J / 8 % 8" packet "J % 8"
// CHECK-NEXT: commit_trim packet "J % 8"
// CHECK-NEXT: commit element "I % 32, J % 64"
// CHECK: visa.to_hbm %[[R]] {tmap.placement = #tmap.placement<cluster = "I / 256", slice = "I / 32 % 8, J / 64, 1 # 4", lane = "J % 8", time = "I % 32, J / 8 % 8", packet = "K", stream = "lhs">}
func.func @gemm(%a: !a, %b: !b) -> !c attributes {visa.kernel} {
  %c = tmap.contract %a, %b over [K] : !a, !b -> !c
  return %c : !c
}

// The cast rides along; the pins hold, in whatever spelling.
// CHECK-LABEL: @pinned
// CHECK: contract_lane
// CHECK-NEXT: cast to i8 packet "J % 8 # 32"
// CHECK: tmap.placement = #tmap.placement<cluster = "I / 256", slice = "I / 16 % 16, J / 128, 1 # 4",
// CHECK-SAME: stream = "lhs"
func.func @pinned(%a: !a, %b: !b) -> !h attributes {visa.kernel} {
  %s = tmap.contract %a, %b over [K] {tmap.placement = #tmap.placement<slice = "I / 16 % 16, J / 64 / 2, 1 # 4", stream = "lhs">} : !a, !b -> !c
  %c = tmap.cast %s : !c -> !h
  return %c : !h
}

// Sizes that divide nothing: K in a window of 128, zeros behind it.
// CHECK-LABEL: @ragged
// CHECK: %[[Z:.*]] = visa.alloc
// CHECK: visa.memset %[[Z]]
// CHECK: %[[V:.*]] = visa.tile %[[Z]][0] along "K" take 100
// CHECK: visa.copy %{{.*}} into %[[V]]
#ragged = #tmap.axes<I = 37, J = 53, K = 100>
func.func @ragged(%a: !tmap.tensor<bf16, "I, K", #ragged>, %b: !tmap.tensor<bf16, "J, K", #ragged>)
    -> !tmap.tensor<f32, "I, J", #ragged> attributes {visa.kernel} {
  %c = tmap.contract %a, %b over [K] : !tmap.tensor<bf16, "I, K", #ragged>, !tmap.tensor<bf16, "J, K", #ragged> -> !tmap.tensor<f32, "I, J", #ragged>
  return %c : !tmap.tensor<f32, "I, J", #ragged>
}

// What does not fit in the register file at once is loaded pass by pass.
// CHECK-LABEL: @passes
// CHECK: scf.for %[[N:.*]] = %{{.*}} to %{{.*}} step
// CHECK: visa.tile %{{.*}}[%[[N]]] along "J / 16 % 4" take 1
// CHECK: visa.chain sub
// CHECK: visa.chain main
// CHECK: commit element "{{.*}}1 #{!} 4, {{.*}}" into
#long = #tmap.axes<I = 64, J = 1024, K = 1024>
func.func @passes(%a: !tmap.tensor<bf16, "I, K", #long>, %b: !tmap.tensor<bf16, "J, K", #long>)
    -> !tmap.tensor<f32, "I, J", #long> attributes {visa.kernel} {
  %c = tmap.contract %a, %b over [K] {tmap.placement = #tmap.placement<slice = "I / 2 % 16, J / 64">} : !tmap.tensor<bf16, "I, K", #long>, !tmap.tensor<bf16, "J, K", #long> -> !tmap.tensor<f32, "I, J", #long>
  return %c : !tmap.tensor<f32, "I, J", #long>
}

// An argument that is returned, and a result that is returned twice, are copied.
// CHECK-LABEL: @returned
// CHECK: visa.copy %{{.*}} into %{{.*}}
func.func @returned(%a: !a) -> !a attributes {visa.kernel} {
  return %a : !a
}
