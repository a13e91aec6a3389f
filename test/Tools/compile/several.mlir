// A kernel that fails does not keep the others from compiling; the exit code
// tells. Names hold the modules around.
// RUN: rm -rf %t && not furiosa-opt-mlir compile %s -o %t > %t.out 2> %t.err
// RUN: FileCheck %s < %t.out
// RUN: FileCheck %s --check-prefix=ERR < %t.err
// RUN: ls %t | FileCheck %s --check-prefix=FILES

// CHECK-DAG: compiled  outer::good
// CHECK-DAG: failed    outer::bad
// CHECK: 1 compiled, 0 cached, 1 failed

// FILES: outer::good.edf
// FILES-NOT: bad

#axes = #tmap.axes<A = 2048>
!hbm = !visa.hbm<i32, element "A", #axes>
!dm = !visa.dm<i32, slice "A / 8", element "A % 8", #axes>
module @package {
  module @outer {
    func.func @good(%a: !hbm) -> !hbm attributes {visa.kernel} {
      %d = visa.to_dm %a : !hbm -> !dm
      %o = visa.to_hbm %d : !dm -> !hbm
      return %o : !hbm
    }
    func.func @bad(%a: !hbm) -> !hbm attributes {visa.kernel} {
      %d = visa.to_dm %a : !hbm -> !dm
      %r = visa.chain main -> !dm {
        fetch %d time "1"   packet "A %8" : !dm
        // The caret stands at the term that is wrong, with the file's own blanks.
        // ERR: several.mlir:[[#@LINE+3]]:28: error: 'visa.collect' op TU-29: time is not that of the stream with its outer flits: found "A / 16", expected "1"
        // ERR-NEXT: collect time
        // ERR-NEXT: {{^ +\^$}}
             collect time "A/16" packet "A % 8"
        commit_trim packet "A % 8"
        // ERR: several.mlir:[[#@LINE+1]]:36: error: 'visa.commit' op MA-7
        commit element "A % 8, [1, BB]"
      }
      %o = visa.to_hbm %r : !dm -> !hbm
      return %o : !hbm
    }
  }
}
