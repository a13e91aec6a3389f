// Casts and functions that follow each other are one chain; other operands lie in
// the vector register file.
// RUN: furiosa-opt-mlir %s --convert-tmap-to-visa | FileCheck %s

#axes = #tmap.axes<N = 512, H = 64>
!x = !tmap.tensor<bf16, "N, H", #axes>
!w = !tmap.tensor<f32, "N, H", #axes>
!b = !tmap.tensor<bf16, "H", #axes>
!v = !tmap.tensor<f32, "H", #axes>
!n = !tmap.tensor<f32, "N", #axes>
!f = !tmap.tensor<f32, "1", #axes>

// relu(x + b) in one chain: bf16 in and out, the bias widened on its way to the
// registers.
// CHECK-LABEL: @fused
// CHECK: visa.chain sub
// CHECK: fetch_cast to f32
// CHECK: to_vrf
// CHECK: visa.chain main
// CHECK: fetch_cast to f32
// CHECK: vector_clip add [vrf %{{.*}}]
// CHECK-NEXT: vector_clip max [imm 0.0]
// CHECK-NEXT: vector_final
// CHECK-NEXT: cast to bf16
// CHECK-NOT: visa.chain
// CHECK: return
func.func @fused(%x: !x, %b: !b) -> !x attributes {visa.kernel} {
  %w = tmap.cast %x : !x -> !w
  %v = tmap.cast %b : !b -> !v
  %s = tmap.elementwise add %w, %v : (!w, !v) -> !w
  %zero = tmap.constant 0.0 : f32 : !f
  %m = tmap.elementwise max %s, %zero : (!w, !f) -> !w
  %y = tmap.cast %m : !w -> !x
  return %y : !x
}

// An add in front of a product is one of the four-wide unit.
// CHECK-LABEL: @units
// CHECK: vector_narrow split
// CHECK-NEXT: vector_fp add [imm 1.0]
// CHECK-NEXT: vector_fp mul0 [imm 0.0] mode "00"
// CHECK-NEXT: vector_widen concat
// CHECK-NEXT: vector_clip add [imm 2.0]
func.func @units(%x: !w) -> !w attributes {visa.kernel} {
  %one = tmap.constant 1.0 : f32 : !f
  %two = tmap.constant 2.0 : f32 : !f
  %a = tmap.elementwise add %x, %one : (!w, !f) -> !w
  %b = tmap.elementwise mul %a, %a : (!w, !w) -> !w
  %c = tmap.elementwise add %two, %b : (!f, !w) -> !w
  return %c : !w
}

// What one pass cannot do is two: a value that two ops read, a second exponential.
// CHECK-LABEL: @apart
// CHECK-COUNT-2: visa.chain main
// CHECK-NOT: visa.chain main
// CHECK: return
func.func @apart(%x: !w) -> !w attributes {visa.kernel} {
  %a = tmap.elementwise exp %x : (!w) -> !w
  %b = tmap.elementwise exp %a : (!w) -> !w
  return %b : !w
}

// An operand that lacks the axis of the flits: the transpose engine gives each of
// its numbers a flit.
// CHECK-LABEL: @rows
// CHECK: fetch %{{.*}} time "1" packet "N % 8"
// CHECK-NEXT: collect time "1" packet "N % 8"
// CHECK-NEXT: transpose time "N % 8" packet "1 # 8"
// CHECK: to_vrf
// CHECK: vector_fp div [vrf %{{.*}}]
func.func @rows(%x: !w, %n: !n) -> !w attributes {visa.kernel} {
  %y = tmap.elementwise div %x, %n : (!w, !n) -> !w
  return %y : !w
}

// The register file holds 2048 numbers: the rest comes pass by pass.
// CHECK-LABEL: @passes
// CHECK: scf.for
// CHECK: visa.chain sub
// CHECK: visa.chain main
// CHECK: commit element "{{.*}}#{!}{{.*}}" into
#large = #tmap.axes<A = 4194304>
!large = !tmap.tensor<i32, "A", #large>
func.func @passes(%x: !large, %y: !large) -> !large attributes {visa.kernel} {
  %z = tmap.elementwise add %x, %y : (!large, !large) -> !large
  return %z : !large
}

// Where a slice has less than a word of it, copies of a number fill one.
// CHECK-LABEL: @odd
// CHECK: visa.tile %{{.*}}[0] along "Copy % 2" take 1
// CHECK: to_vrf
#odd = #tmap.axes<N = 3, H = 64>
!odd = !tmap.tensor<f32, "N, H", #odd>
func.func @odd(%x: !odd, %n: !tmap.tensor<f32, "N", #odd>) -> !odd attributes {visa.kernel} {
  %y = tmap.elementwise div %x, %n : (!odd, !tmap.tensor<f32, "N", #odd>) -> !odd
  return %y : !odd
}
