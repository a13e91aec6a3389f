// Functions and casts behind a contraction run in its chain: operands that have
// columns, and no rows, lie in the vector register file.
// RUN: furiosa-opt-mlir %s --convert-tmap-to-visa -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: furiosa-run %s --kernel=dense --check quarter:1 quarter:2 quarter:3 | FileCheck %s --check-prefix=AGREE
// RUN: furiosa-run %s --kernel=quantized --check small:1 small:2 small:3 | FileCheck %s --check-prefix=AGREE
// RUN: furiosa-run %s --kernel=ragged --check quarter:1 quarter:2 quarter:3 | FileCheck %s --check-prefix=AGREE
// RUN: furiosa-run %s --kernel=residual --check quarter:1 quarter:2 quarter:3 | FileCheck %s --check-prefix=AGREE
// RUN: furiosa-run %s --kernel=both --check quarter:1 quarter:2 | FileCheck %s --check-prefix=AGREE
// RUN: furiosa-run %s --kernel=dot --check quarter:1 quarter:2 | FileCheck %s --check-prefix=AGREE
// RUN: furiosa-opt-mlir %s --convert-tmap-to-visa=explain=1 -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY
// AGREE: check: interpreter and simulator agree

#axes = #tmap.axes<I = 128, J = 256, K = 64>
!a = !tmap.tensor<bf16, "I, K", #axes>
!b = !tmap.tensor<bf16, "J, K", #axes>
!s = !tmap.tensor<f32, "I, J", #axes>
!h = !tmap.tensor<bf16, "I, J", #axes>
!f = !tmap.tensor<f32, "1", #axes>

// A bias of bf16 is widened on its way to the register file.
// CHECK-LABEL: @dense
// CHECK: visa.chain sub
// CHECK: fetch_cast to f32
// CHECK: to_vrf
// CHECK: contract_lane interleaved {{.*}} packet "J % 8"
// CHECK-NEXT: vector_init
// CHECK-NEXT: vector_tag zero
// CHECK-NEXT: vector_clip add [vrf
// CHECK-NEXT: vector_clip max [imm 0.0]
// CHECK-NEXT: vector_final
// CHECK-NEXT: cast to bf16
// CHECK-NOT: vector_init
// CHECK: return
func.func @dense(%a: !a, %b: !b, %bias: !tmap.tensor<bf16, "J", #axes>) -> !h attributes {visa.kernel} {
  %s = tmap.contract %a, %b over [K] : !a, !b -> !s
  %w = tmap.cast %bias : !tmap.tensor<bf16, "J", #axes> -> !tmap.tensor<f32, "J", #axes>
  %t = tmap.elementwise add %s, %w : (!s, !tmap.tensor<f32, "J", #axes>) -> !s
  %zero = tmap.constant 0.0 : f32 : !f
  %r = tmap.elementwise max %t, %zero : (!s, !f) -> !s
  %h = tmap.cast %r : !s -> !h
  return %h : !h
}

// Sums of i32 are scaled as f32, four at a time.
// CHECK-LABEL: @quantized
// CHECK: contract_lane
// CHECK: vector_fxp_to_fp
// CHECK: vector_narrow split {{.*}} packet "J % 4"
// CHECK: vector_fp mul{{.*}} [vrf
// CHECK: vector_widen concat
// CHECK-NEXT: vector_fp_to_fxp
// CHECK: cast to i8
// CHECK-NOT: vector_init
// CHECK: return
#q = #tmap.axes<I = 64, J = 64, K = 128>
func.func @quantized(%a: !tmap.tensor<i8, "I, K", #q>, %b: !tmap.tensor<i8, "J, K", #q>, %c: !tmap.tensor<f32, "J", #q>) -> !tmap.tensor<i8, "I, J", #q> attributes {visa.kernel} {
  %s = tmap.contract %a, %b over [K] : !tmap.tensor<i8, "I, K", #q>, !tmap.tensor<i8, "J, K", #q> -> !tmap.tensor<i32, "I, J", #q>
  %f = tmap.cast %s : !tmap.tensor<i32, "I, J", #q> -> !tmap.tensor<f32, "I, J", #q>
  %m = tmap.elementwise mul %f, %c : (!tmap.tensor<f32, "I, J", #q>, !tmap.tensor<f32, "J", #q>) -> !tmap.tensor<f32, "I, J", #q>
  %r = tmap.cast %m : !tmap.tensor<f32, "I, J", #q> -> !tmap.tensor<i32, "I, J", #q>
  %y = tmap.cast %r : !tmap.tensor<i32, "I, J", #q> -> !tmap.tensor<i8, "I, J", #q>
  return %y : !tmap.tensor<i8, "I, J", #q>
}

// Sizes that divide nothing, and a batch that the bias has too.
// CHECK-LABEL: @ragged
// CHECK: contract_lane
// CHECK-NEXT: vector_init
#r = #tmap.axes<B = 3, I = 37, J = 53, K = 100>
func.func @ragged(%a: !tmap.tensor<bf16, "B, I, K", #r>, %b: !tmap.tensor<bf16, "B, J, K", #r>, %c: !tmap.tensor<f32, "B, J", #r>) -> !tmap.tensor<f32, "B, I, J", #r> attributes {visa.kernel} {
  %s = tmap.contract %a, %b over [K] : !tmap.tensor<bf16, "B, I, K", #r>, !tmap.tensor<bf16, "B, J, K", #r> -> !tmap.tensor<f32, "B, I, J", #r>
  %t = tmap.elementwise sub %c, %s : (!tmap.tensor<f32, "B, J", #r>, !tmap.tensor<f32, "B, I, J", #r>) -> !tmap.tensor<f32, "B, I, J", #r>
  return %t : !tmap.tensor<f32, "B, I, J", #r>
}

// Rows and columns at a time are a pass of their own.
// WHY: remark: functions behind it are a chain of their own: no register file holds the operands
// CHECK-LABEL: @residual
// CHECK: contract_lane
// CHECK-NEXT: commit_trim
// CHECK: vector_init
func.func @residual(%a: !a, %b: !b, %x: !s) -> !s attributes {visa.kernel} {
  %s = tmap.contract %a, %b over [K] : !a, !b -> !s
  %t = tmap.elementwise add %s, %x : (!s, !s) -> !s
  return %t : !s
}

// Sums that are results too are stored as they are.
// CHECK-LABEL: @both
// CHECK: contract_lane
// CHECK-NEXT: commit_trim
func.func @both(%a: !a, %b: !b) -> (!s, !s) attributes {visa.kernel} {
  %s = tmap.contract %a, %b over [K] : !a, !b -> !s
  %t = tmap.elementwise exp %s : (!s) -> !s
  return %s, %t : !s, !s
}

// A single number passes the engine in a packet of its own.
// CHECK-LABEL: @dot
// CHECK: contract_lane
// CHECK: vector_fp sqrt
#d = #tmap.axes<K = 64>
func.func @dot(%a: !tmap.tensor<bf16, "K", #d>, %b: !tmap.tensor<bf16, "K", #d>) -> !tmap.tensor<f32, "1", #d> attributes {visa.kernel} {
  %s = tmap.contract %a, %b over [K] : !tmap.tensor<bf16, "K", #d>, !tmap.tensor<bf16, "K", #d> -> !tmap.tensor<f32, "1", #d>
  %t = tmap.elementwise sqrt %s : (!tmap.tensor<f32, "1", #d>) -> !tmap.tensor<f32, "1", #d>
  return %t : !tmap.tensor<f32, "1", #d>
}
