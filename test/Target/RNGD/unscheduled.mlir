// RUN: not furiosa-translate --mlir-to-edf %s -o %t.none 2>&1 | FileCheck %s
// RUN: not ls %t.none

// Not a kernel: nothing in it can be scheduled.
// CHECK: error
module {
  %0 = "arith.constant"() <{value = 1 : i32}> : () -> i32
}
