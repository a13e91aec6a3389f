// Comparisons make execution ids, by which a select puts operands in place of
// elements.
// RUN: furiosa-opt-mlir %s --convert-tmap-to-visa | FileCheck %s
// RUN: furiosa-run %s --kernel=clip --check random:1 | FileCheck %s --check-prefix=AGREE
// RUN: furiosa-run %s --kernel=leaky --check quarter:1 quarter:2 | FileCheck %s --check-prefix=AGREE
// RUN: furiosa-run %s --kernel=numbers --check small:1 | FileCheck %s --check-prefix=AGREE
// RUN: furiosa-run %s --kernel=masked --check small:1 quarter:2 quarter:3 | FileCheck %s --check-prefix=AGREE
// RUN: furiosa-run %s --kernel=tensors --check small:1 small:2 | FileCheck %s --check-prefix=AGREE
// RUN: furiosa-run %s --kernel=between --check quarter:1 quarter:2 | FileCheck %s --check-prefix=AGREE
// RUN: furiosa-run %s --kernel=behind --check small:1 small:2 | FileCheck %s --check-prefix=AGREE
// RUN: furiosa-run %s --kernel=infinite --check quarter:1 | FileCheck %s --check-prefix=AGREE
// AGREE: check: interpreter and simulator agree

#axes = #tmap.axes<I = 128, J = 64>
!x = !tmap.tensor<f32, "I, J", #axes>
!c = !tmap.tensor<f32, "J", #axes>
!n = !tmap.tensor<i32, "I, J", #axes>
!i = !tmap.tensor<i32, "I", #axes>
!f = !tmap.tensor<f32, "1", #axes>
!z = !tmap.tensor<i32, "1", #axes>

// Two numbers are slots of one unit: less_equal is not (neither less nor equal).
// CHECK-LABEL: @clip
// CHECK: vector_tag compare [less 100, equal 100]
// CHECK-NEXT: vector_logic or [imm 7 if "!00--", imm -5] mode "11"
// CHECK-NEXT: vector_final
func.func @clip(%x: !n) -> !n attributes {visa.kernel} {
  %h = tmap.constant 100 : i32 : !z
  %a = tmap.constant 7 : i32 : !z
  %b = tmap.constant -5 : i32 : !z
  %t = tmap.elementwise less_equal %x, %h : (!n, !z) -> !n
  %y = tmap.elementwise select %t, %a, %b : (!n, !z, !z) -> !n
  return %y : !n
}

// The arm that is compared stays as it is.
// CHECK-LABEL: @leaky
// CHECK: vector_tag compare [greater 0.0]
// CHECK-NEXT: vector_logic and [vrf %{{.*}} if "!1---"] mode "11"
// CHECK-NEXT: vector_final
func.func @leaky(%x: !x, %o: !x) -> !x attributes {visa.kernel} {
  %zero = tmap.constant 0.0 : f32 : !f
  %t = tmap.elementwise less %zero, %x : (!f, !x) -> !x
  %y = tmap.elementwise select %t, %x, %o : (!x, !x, !x) -> !x
  return %y : !x
}

// A comparison alone is 1 or 0, and what follows goes on in the chain.
// CHECK-LABEL: @numbers
// CHECK: vector_tag compare [equal 3]
// CHECK-NEXT: vector_logic or [imm 1 if "!1---", imm 0] mode "11"
// CHECK-NEXT: vector_fxp add [imm 5]
func.func @numbers(%x: !n) -> !n attributes {visa.kernel} {
  %three = tmap.constant 3 : i32 : !z
  %five = tmap.constant 5 : i32 : !z
  %t = tmap.elementwise not_equal %x, %three : (!n, !z) -> !n
  %y = tmap.elementwise add %t, %five : (!n, !z) -> !n
  return %y : !n
}

// A mask of i32 with fewer axes than the arms of f32, which have fewer axes
// each: two units put them in place, and a function follows.
// CHECK-LABEL: @masked
// CHECK: vector_tag compare [equal 0]
// CHECK-NEXT: vector_reinterpret to f32
// CHECK-NEXT: vector_logic or [vrf %{{.*}} if "!1---"] mode "11"
// CHECK-NEXT: vector_logic and [vrf %{{.*}} if "1---"] mode "11"
// CHECK-NEXT: vector_clip max [imm 0.0]
func.func @masked(%m: !i, %a: !x, %b: !c) -> !x attributes {visa.kernel} {
  %zero = tmap.constant 0.0 : f32 : !f
  %y = tmap.elementwise select %m, %a, %b : (!i, !x, !c) -> !x
  %r = tmap.elementwise max %y, %zero : (!x, !f) -> !x
  return %r : !x
}

// Two tensors: their difference is compared with 0, in a pass of its own.
// CHECK-LABEL: @tensors
// CHECK: vector_fxp sub_sat
// CHECK: vector_tag compare [greater 0, equal 0]
// CHECK-NEXT: vector_logic or [imm 1 if "!00--", imm 0] mode "11"
func.func @tensors(%x: !n, %y: !n) -> !n attributes {visa.kernel} {
  %t = tmap.elementwise greater_equal %x, %y : (!n, !n) -> !n
  return %t : !n
}

// CHECK-LABEL: @between
// CHECK: vector_fp sub [vrf
// CHECK: vector_tag compare [less 0.0]
// CHECK-NEXT: vector_logic and [imm 2.5 if "1---", vrf %{{.*}}] mode "11"
func.func @between(%x: !x, %y: !c) -> !x attributes {visa.kernel} {
  %a = tmap.constant 2.5 : f32 : !f
  %t = tmap.elementwise less %x, %y : (!x, !c) -> !x
  %r = tmap.elementwise select %t, %a, %y : (!x, !f, !c) -> !x
  return %r : !x
}

// What is computed before is a pass of its own.
// CHECK-LABEL: @behind
// CHECK: vector_fxp add
// CHECK: vector_tag compare [less 7]
func.func @behind(%x: !n, %y: !n) -> !n attributes {visa.kernel} {
  %seven = tmap.constant 7 : i32 : !z
  %s = tmap.elementwise add %x, %y : (!n, !n) -> !n
  %t = tmap.elementwise less %s, %seven : (!n, !z) -> !n
  %r = tmap.elementwise select %t, %x, %s : (!n, !n, !n) -> !n
  return %r : !n
}

// An infinity less itself is NaN, so that it is no boundary.
// CHECK-LABEL: @infinite
// CHECK: vector_tag compare [equal 0.0]
func.func @infinite(%x: !x) -> !x attributes {visa.kernel} {
  %big = tmap.constant 0x7F800000 : f32 : !f
  %t = tmap.elementwise equal %x, %big : (!x, !f) -> !x
  return %t : !x
}
