// Long sums are taken in parts, and slices hold one each.
// RUN: furiosa-opt-mlir %s --convert-tmap-to-visa | FileCheck %s

#axes = #tmap.axes<I = 8, J = 8, T = 16384, K = 16384>
!x = !tmap.tensor<f32, "I, T", #axes>
!y = !tmap.tensor<f32, "I", #axes>
!n = !tmap.tensor<i32, "I, T", #axes>
!m = !tmap.tensor<i32, "I", #axes>
!a = !tmap.tensor<bf16, "I, K", #axes>
!b = !tmap.tensor<bf16, "J, K", #axes>
!c = !tmap.tensor<f32, "I, J", #axes>
!v = !tmap.tensor<f32, "J", #axes>
!p = !tmap.tensor<i8, "K", #axes>
!q = !tmap.tensor<i32, "1", #axes>
!k = !tmap.tensor<bf16, "K", #axes>
!t = !tmap.tensor<f32, "T", #axes>
!z = !tmap.tensor<f32, "1", #axes>

// Parts of 2,048 elements.
// CHECK-LABEL: @sum
// CHECK: vector_reduce add axis "T"
// CHECK-NEXT: vector_widen pad
// CHECK-NEXT: vector_inter_slice_reduce add slice "{{.*}}1 # 8"
// CHECK: tmap.placement = #tmap.placement<{{.*}}slice = "{{.*}}T / 2048"
func.func @sum(%x: !x) -> !y attributes {visa.kernel} {
  %y = tmap.reduce add %x over [T] {tmap.placement = #tmap.placement<cluster = "I / 4", slice = "I % 4, 1 # 8, T / 2048">} : !x -> !y
  return %y : !y
}

// CHECK-LABEL: @saturating
// CHECK: vector_inter_slice_reduce add_sat slice "{{.*}}1 # 8"
func.func @saturating(%x: !n) -> !m attributes {visa.kernel} {
  %y = tmap.reduce add_sat %x over [T] {tmap.placement = #tmap.placement<cluster = "I / 4", slice = "I % 4, 1 # 8, T / 2048">} : !n -> !m
  return %y : !m
}

// The order of maxima makes no difference: any number of parts will do.
// CHECK-LABEL: @pinned
// CHECK: vector_inter_slice_reduce max slice "{{.*}}1 # 4"
func.func @pinned(%x: !x) -> !y attributes {visa.kernel} {
  %y = tmap.reduce max %x over [T] {tmap.placement = #tmap.placement<cluster = "I / 4", slice = "I % 4, 1 # 16, T / 4096">} : !x -> !y
  return %y : !y
}

// Parts of 1 KiB; what comes behind the sum comes behind their addition.
// CHECK-LABEL: @tail
// CHECK: contract_time
// CHECK: vector_init
// CHECK-NEXT: vector_inter_slice_reduce add slice "{{.*}}1 # 32"
// CHECK-NEXT: vector_tag zero
// CHECK: vector_fp tanh
func.func @tail(%a: !a, %b: !b, %v: !v) -> !c attributes {visa.kernel} {
  %c = tmap.contract %a, %b over [K] : !a, !b -> !c
  %d = tmap.elementwise add %c, %v : (!c, !v) -> !c
  %e = tmap.elementwise tanh %d : (!c) -> !c
  return %e : !c
}

// Sums of integers wrap in any order: more slices than they need take part.
// CHECK-LABEL: @dot
// CHECK: vector_init
// CHECK-NEXT: vector_inter_slice_reduce add slice "{{.*}}1 # {{[0-9]+}}" time "1"
// CHECK-NEXT: vector_final
func.func @dot(%p: !p, %q: !p) -> !q attributes {visa.kernel} {
  %c = tmap.contract %p, %q over [K] : !p, !p -> !q
  return %c : !q
}

// Parts that lie apart are loaded by all engines; the switch brings their sums
// together, in order of the parts.
// CHECK-LABEL: @apart
// CHECK: contract_lane
// CHECK-NOT: vector_
// CHECK: switch broadcast1 [32, 8] slice "{{.*}}" time "K / 512"
// CHECK: vector_reduce add axis "K" time "I / 4" packet "I % 4"
// CHECK: tmap.placement = #tmap.placement<{{.*}}slice = "K / 512, 1 # 8"
func.func @apart(%a: !a, %b: !k) -> !y attributes {visa.kernel} {
  %y = tmap.contract %a, %b over [K] : !a, !k -> !y
  return %y : !y
}

// CHECK-LABEL: @maximum
// CHECK: vector_reduce max axis "T" time "1"
// CHECK: switch broadcast1 [256, 1] slice "1 # 256" time "T / 64"
// CHECK: vector_reduce max axis "T" time "1"
func.func @maximum(%t: !t) -> !z attributes {visa.kernel} {
  %z = tmap.reduce max %t over [T] {tmap.placement = #tmap.placement<slice = "T / 64">} : !t -> !z
  return %z : !z
}
