// Where operands are large, slices share the rows of the stream over the switch,
// and exchange columns for rows until a run in HBM is a block. Rows come step by
// step, so that transfers and exchanges run beside the products.
// RUN: furiosa-opt-mlir %s --convert-tmap-to-visa -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// The text goes on from there.
// RUN: furiosa-opt-mlir %t.mlir --furiosa-pipeline -o /dev/null

#axes = #tmap.axes<I = 2048, J = 2048, K = 2048>
!a = !tmap.tensor<bf16, "I, K", #axes>
!b = !tmap.tensor<bf16, "J, K", #axes>
!s = !tmap.tensor<f32, "I, J", #axes>
!c = !tmap.tensor<bf16, "I, J", #axes>

// A short step has fewer rows than slices: they share the sums as well. Groups
// of columns go to the networks of a PE in turn.
// CHECK: !visa.dm<bf16, cluster "I / 1024", slice "I / 512 % 2, J / 1024, J / 128 % 2, J / 256 % 4, J / 16 % 8", element "J % 16, K"
// CHECK: !visa.dm<bf16, cluster "I / 1024", slice "I / 512 % 2, I % 512 = 32, K / 512", element "K % 512"
// CHECK-LABEL: @gemm
// CHECK-NOT: scf.for
// CHECK: %[[W:.*]] = visa.chain sub
// CHECK: visa.tile %{{.*}}[0] along "I % 512" take 344
// CHECK: %[[R:.*]] = visa.chain main
// CHECK-NEXT: fetch %{{.*}} time "I % 512 = 344 / 8" packet "K % 128"
// CHECK-NEXT: switch broadcast1 [128, 1] slice "I / 512 % 2, J / 1024, J / 128 % 2, J / 256 % 4, J / 16 % 8" time "I % 512 = 344 / 8, I % 512 = 344 % 8, K / 128"
// CHECK-NEXT: collect time "I % 512 = 344 / 8, I % 512 = 344 % 8, K / 128, K / 16 % 8" packet "K % 16"
// CHECK-NEXT: contract_outer %[[W]]
// CHECK: visa.chain sub
// CHECK-NEXT: fetch %[[R]] time "I % 512 = 344 % 8, I % 512 = 344 / 8" packet "J % 16"
// CHECK-NEXT: switch inter_transpose [8, 1, 43] slice "I / 512 % 2, J / 1024, J / 128 % 2, J / 256 % 4, I % 512 = 344 % 8" time "I % 512 = 344 / 8, J / 16 % 8"
// CHECK: commit element "I % 512 = 344 / 8, J % 128"
// CHECK: visa.copy
// The weight stays, and steps get shorter.
// CHECK: take 128
// CHECK: contract_outer %[[W]]
// CHECK: take 32
// CHECK: contract_outer %[[W]]
// CHECK: take 8
// CHECK: contract_outer %[[W]]
// CHECK-NOT: contract_outer
func.func @gemm(%a: !a, %b: !b) -> !c attributes {visa.kernel} {
  %s = tmap.contract %a, %b over [K] : !a, !b -> !s
  %c = tmap.cast %s : !s -> !c
  return %c : !c
}

// The weight comes with the summed axis outside: the transpose engine turns it in
// the slice.
// CHECK-LABEL: @turned
// CHECK: visa.chain main
// CHECK-NEXT: fetch %{{.*}} time "{{.*}}K" packet "J % 8"
// CHECK-NEXT: collect time "{{.*}}K" packet "J % 8 # 32"
// CHECK-NEXT: transpose time "{{.*}}K / 8, J % 8" packet "K % 8 # 32"
// CHECK-NEXT: commit_trim packet "K % 8"
// CHECK: visa.chain sub
// CHECK: contract_outer
#turned = #tmap.axes<I = 256, J = 128, K = 192>
func.func @turned(%a: !tmap.tensor<i8, "I, K", #turned>, %b: !tmap.tensor<i8, "K, J", #turned>) -> !tmap.tensor<i32, "I, J", #turned> attributes {visa.kernel} {
  %s = tmap.contract %a, %b over [K] : !tmap.tensor<i8, "I, K", #turned>, !tmap.tensor<i8, "K, J", #turned> -> !tmap.tensor<i32, "I, J", #turned>
  return %s : !tmap.tensor<i32, "I, J", #turned>
}
