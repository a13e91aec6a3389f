// RUN: not furiosa-run %s 2>&1 | FileCheck %s --check-prefix=SEVERAL
// SEVERAL: error: {{.*}} has several kernels; choose one with --kernel: narrow, inner::wide, inner::none
// RUN: furiosa-run %s --kernel inner::wide iota | FileCheck %s --check-prefix=WIDE
// WIDE: result0: i32 [A = 8], 8 elements
// WIDE-NEXT: 0 1 2 3 4 5 6 7{{$}}
// RUN: furiosa-run %s --kernel none | FileCheck %s --check-prefix=NONE
// NONE: result0: i32 [A = 8], 8 elements, hash
// NONE-NEXT: 0 0 0 0 0 0 0 0
// NONE-NEXT: 8 elements are undefined
#axes = #tmap.axes<A = 8>
!f = !visa.hbm<bf16, element "A", #axes>
!fd = !visa.dm<bf16, slice "1 # 256", element "A", #axes>
!i = !visa.hbm<i32, element "A", #axes>
!id = !visa.dm<i32, slice "1 # 256", element "A", #axes>
module @package {
  func.func @narrow(%a: !f) -> !f attributes {visa.kernel} {
    %d = visa.to_dm %a : !f -> !fd
    %o = visa.to_hbm %d : !fd -> !f
    return %o : !f
  }
  module @inner {
    func.func @wide(%a: !i) -> !i attributes {visa.kernel} {
      %d = visa.to_dm %a : !i -> !id
      %o = visa.to_hbm %d : !id -> !i
      return %o : !i
    }
    func.func @none() -> !i attributes {visa.kernel} {
      %o = visa.alloc : !i
      return %o : !i
    }
  }
}
