// Operands that lack axes of the result.
// RUN: furiosa-opt-mlir %s --convert-tmap-to-visa | FileCheck %s
// RUN: furiosa-run %s --kernel=minuend --check random:1 random:2 | FileCheck %s --check-prefix=AGREE
// RUN: furiosa-run %s --kernel=choice --check iota random:1 random:2 | FileCheck %s --check-prefix=AGREE
// RUN: furiosa-run %s --kernel=outer --check random:1 random:2 | FileCheck %s --check-prefix=AGREE
// AGREE: check: interpreter and simulator agree on {{[0-9]+}} values

#axes = #tmap.axes<I = 512, J = 512>
!number = !tmap.tensor<i32, "1", #axes>
!i = !tmap.tensor<f32, "I", #axes>
!j = !tmap.tensor<f32, "J", #axes>
!x = !tmap.tensor<i32, "I, J", #axes>
!y = !tmap.tensor<f32, "I, J", #axes>

// The operand with the most axes streams, though a cast that is part of the pass
// makes the other one.
// CHECK-LABEL: @minuend
// CHECK: to_vrf
// CHECK: visa.chain main
// CHECK-NEXT: fetch %{{.*}} packet "J % 8"
// CHECK: vector_fxp sub [vrf %{{.*}}] mode "10"
func.func @minuend(%n: !tmap.tensor<i16, "1", #axes>, %x: !x) -> !x attributes {visa.kernel} {
  %w = tmap.cast %n : !tmap.tensor<i16, "1", #axes> -> !number
  %y = tmap.elementwise sub %w, %x : (!number, !x) -> !x
  return %y : !x
}

// A condition without the axis along which results lie together takes the place
// of zeros that stream along it; the chain that chooses reads what comes of it.
// CHECK-LABEL: @choice
// CHECK: visa.memset
// CHECK: visa.chain main
// CHECK-NEXT: fetch %{{.*}} packet "J % 8"
// CHECK: vector_logic or [vrf %{{.*}}] mode "11"
// CHECK: commit_trim packet "J % 8"
// CHECK: vector_tag compare
// CHECK: visa.to_hbm
func.func @choice(%c: !number, %a: !i, %b: !j) -> !y attributes {visa.kernel} {
  %y = tmap.elementwise select %c, %a, %b : (!number, !i, !j) -> !y
  return %y : !y
}

// Of two operands without all axes the one streams along which results lie
// together in HBM.
// CHECK-LABEL: @outer
// CHECK: to_vrf
// CHECK: fetch %{{.*}} packet "J % 8"
// CHECK: vector_clip add [vrf %{{.*}}]
// CHECK-NOT: visa.chain
// CHECK: visa.to_hbm
func.func @outer(%a: !i, %b: !j) -> !y attributes {visa.kernel} {
  %y = tmap.elementwise add %a, %b : (!i, !j) -> !y
  return %y : !y
}
