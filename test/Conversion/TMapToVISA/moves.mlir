// Where another axis becomes the innermost one, tiles are turned by the transpose
// engine; else rows are copied in HBM.
// RUN: furiosa-opt-mlir %s --convert-tmap-to-visa | FileCheck %s
// RUN: furiosa-run %s --kernel=turn --check random:1 | FileCheck %s --check-prefix=AGREE
// RUN: furiosa-run %s --kernel=odd --check random:1 | FileCheck %s --check-prefix=AGREE
// RUN: furiosa-run %s --kernel=repeat --check random:1 | FileCheck %s --check-prefix=AGREE
// RUN: furiosa-run %s --kernel=outermost --check quarter:1 | FileCheck %s --check-prefix=AGREE
// AGREE: check: interpreter and simulator agree on {{[0-9]+}} values
// RUN: furiosa-opt-mlir %s --convert-tmap-to-visa=explain=1 -o %t.mlir 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// EXPLAIN: [[#]]:8: remark: {{.*}} cycles
// EXPLAIN: note: a copy in HBM: {{[0-9]+}} cycles

#axes = #tmap.axes<B = 3, I = 256, J = 512, P = 37, Q = 101>
!a = !tmap.tensor<bf16, "I, J", #axes>
!b = !tmap.tensor<bf16, "J, I", #axes>
!p = !tmap.tensor<i8, "P, Q", #axes>
!q = !tmap.tensor<i8, "Q, P", #axes>
!wide = !tmap.tensor<f32, "I, J", #axes>
!sums = !tmap.tensor<f32, "J", #axes>
!rows = !tmap.tensor<f32, "B, I, J", #axes>
!other = !tmap.tensor<f32, "I, B, J", #axes>
!each = !tmap.tensor<bf16, "J, B, I", #axes>

// Four rows of bf16 are a word.
// CHECK-LABEL: @turn
// CHECK: visa.to_dm
// CHECK: fetch %{{.*}} time "{{.*}}, I % 4" packet "J % 8"
// CHECK: transpose time "{{.*}}J % 8" packet "I % 4 # 16"
// CHECK-NEXT: commit_trim packet "I % 4"
// CHECK: visa.to_hbm
func.func @turn(%a: !a) -> !b attributes {visa.kernel} {
  %b = tmap.move %a : !a -> !b
  return %b : !b
}

// Rows that are no whole words lie in words of their own first.
// CHECK-LABEL: @odd
// CHECK: visa.copy
// CHECK: transpose
func.func @odd(%a: !p) -> !q attributes {visa.kernel} {
  %b = tmap.move %a : !p -> !q
  return %b : !q
}

// Copies along a further axis stand in slices of their own.
// CHECK-LABEL: @repeat
// CHECK: transpose
// CHECK: visa.to_hbm
func.func @repeat(%a: !a) -> !each attributes {visa.kernel} {
  %b = tmap.move %a : !a -> !each
  return %b : !each
}

// CHECK-LABEL: @rows
// CHECK-NOT: visa.chain
// CHECK: visa.copy
func.func @rows(%a: !rows) -> !other attributes {visa.kernel} {
  %b = tmap.move %a : !rows -> !other
  return %b : !other
}

// An operand whose order is not that of the chain is turned on its way.
// CHECK-LABEL: @outermost
// CHECK-NOT: visa.copy
// CHECK: transpose
// CHECK: %[[TURNED:.*]] = visa.to_hbm
// CHECK: visa.to_dm %[[TURNED]]
// CHECK: vector_reduce
func.func @outermost(%a: !wide) -> !sums attributes {visa.kernel} {
  %b = tmap.reduce add %a over [I] : !wide -> !sums
  return %b : !sums
}
