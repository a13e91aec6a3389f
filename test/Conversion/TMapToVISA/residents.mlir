// What data memory holds in the layout that an op wants is not loaded again, and
// what nothing else reads is not stored.
// RUN: furiosa-opt-mlir %s --convert-tmap-to-visa=explain=1 -o %t.mlir 2> %t.txt
// RUN: FileCheck %s < %t.mlir
// RUN: FileCheck %s --check-prefix=EXPLAIN < %t.txt
// RUN: furiosa-opt-mlir %t.mlir --furiosa-pipeline -o /dev/null
// Without explanations the choice is the same.
// RUN: furiosa-opt-mlir %s --convert-tmap-to-visa | diff %t.mlir -
// RUN: furiosa-run %s --kernel=softmax --check quarter:1 | FileCheck %s --check-prefix=CHECKED
// RUN: furiosa-run %s --kernel=both --check quarter:1 | FileCheck %s --check-prefix=CHECKED
// RUN: furiosa-run %t.mlir --kernel=both --check quarter:1 | FileCheck %s --check-prefix=CHECKED
// CHECKED: check: interpreter and simulator agree

#axes = #tmap.axes<N = 256, T = 96>
!x = !tmap.tensor<f32, "N, T", #axes>
!n = !tmap.tensor<f32, "N", #axes>

// EXPLAIN: remark: #tmap.placement<{{.*}} finds 2 operands in data memory
// EXPLAIN: remark: #tmap.placement<{{.*}} finds 1 operand in data memory
// CHECK-LABEL: @softmax
// CHECK-COUNT-1: visa.to_dm
// CHECK-NOT: visa.to_dm
// The placement of what is not stored stands at its chain.
// CHECK: visa.chain main {tmap.placement = #tmap.placement<{{.*}}>} -> !f32_dm1 {
// CHECK: vector_reduce max
// CHECK-NOT: visa.to_dm
// CHECK: visa.to_hbm
// CHECK-NOT: visa.to_hbm
// CHECK: return
func.func @softmax(%x: !x) -> !x attributes {visa.kernel} {
  %m = tmap.reduce max %x over [T] : !x -> !n
  %d = tmap.elementwise sub %x, %m : (!x, !n) -> !x
  %e = tmap.elementwise exp %d : (!x) -> !x
  %s = tmap.reduce add %e over [T] : !x -> !n
  %y = tmap.elementwise div %e, %s : (!x, !n) -> !x
  return %y : !x
}

// A result of the kernel is stored although another op finds it.
// CHECK-LABEL: @both
// CHECK: visa.to_hbm
// CHECK: visa.to_hbm
// CHECK: return
func.func @both(%x: !x) -> (!x, !n) attributes {visa.kernel} {
  %e = tmap.elementwise exp %x : (!x) -> !x
  %s = tmap.reduce add %e over [T] : !x -> !n
  return %e, %s : !x, !n
}

// Four tensors of 12 MiB do not fit into the 32 MiB of one PE at a time.
// CHECK-LABEL: @large
// CHECK: return
#large = #tmap.axes<I = 1024, J = 3072>
!l = !tmap.tensor<f32, "I, J", #large>
func.func @large(%a: !l) -> !l attributes {visa.kernel, visa.target = #visa.target<rngd, release = "0.6", chips = 1, pes = 1>} {
  %b = tmap.elementwise exp %a : (!l) -> !l
  %c = tmap.elementwise exp %b : (!l) -> !l
  %d = tmap.elementwise exp %c : (!l) -> !l
  %e = tmap.elementwise mul %a, %d : (!l, !l) -> !l
  %f = tmap.elementwise mul %b, %e : (!l, !l) -> !l
  %g = tmap.elementwise mul %c, %f : (!l, !l) -> !l
  return %g : !l
}
