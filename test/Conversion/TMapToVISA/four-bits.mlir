// Results of four bits are put side by side by the transpose engine: of 16 x n
// numbers n with the same place in a word come together first.
// RUN: furiosa-opt-mlir %s --convert-tmap-to-visa | FileCheck %s
// RUN: furiosa-run %s --kernel=whole --check random:1 | FileCheck %s --check-prefix=AGREE
// RUN: furiosa-run %s --kernel=rest --check random:1 random:2 | FileCheck %s --check-prefix=AGREE
// AGREE: check: interpreter and simulator agree on {{[0-9]+}} values

#axes = #tmap.axes<I = 512, J = 256, P = 38>
!wide = !tmap.tensor<i32, "I, J", #axes>
!x = !tmap.tensor<i4, "I, J", #axes>
!wide_rest = !tmap.tensor<i32, "P", #axes>
!rest = !tmap.tensor<i4, "P", #axes>

// CHECK-LABEL: @whole
// CHECK: fetch %{{.*}} time "{{.*}}J / 8 % 2, J / 16" packet "J % 8"
// CHECK: cast to i4
// CHECK-NEXT: transpose time "{{.*}}J % 16" packet "J / 16 # 64"
// CHECK: visa.chain main
// CHECK: transpose time "{{.*}}J / 16" packet "J % 16 # 64"
// CHECK-NEXT: commit_trim packet "J % 16"
func.func @whole(%a: !wide) -> !x attributes {visa.kernel} {
  %x = tmap.cast %a : !wide -> !x
  return %x : !x
}

// Behind a function, and of an axis that is filled up to whole words.
// CHECK-LABEL: @rest
// CHECK: vector_clip max
// CHECK-NEXT: vector_final
// CHECK-NEXT: cast to i4
func.func @rest(%a: !wide_rest, %b: !wide_rest) -> !rest attributes {visa.kernel} {
  %m = tmap.elementwise max %a, %b : (!wide_rest, !wide_rest) -> !wide_rest
  %x = tmap.cast %m : !wide_rest -> !rest
  return %x : !rest
}
