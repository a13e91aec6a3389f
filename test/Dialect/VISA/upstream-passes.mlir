// Upstream passes leave chains whole.
// RUN: furiosa-opt-mlir %s --cse --canonicalize --loop-invariant-code-motion --sccp --inline --symbol-dce --cse | FileCheck %s

#axes = #tmap.axes<A = 2048>
!hbm = !visa.hbm<i32, element "A", #axes>
!dm = !visa.dm<i32, slice "A / 8", element "A % 8", #axes>

// Two equal chains make two buffers: neither merges with the other.
// CHECK-LABEL: func.func @equal_chains
// CHECK-COUNT-2: vector_fxp add [imm 1]
// CHECK-NOT: vector_fxp
func.func @equal_chains(%a: !hbm) -> (!hbm, !hbm) attributes {visa.kernel} {
  %d = visa.to_dm %a : !hbm -> !dm
  %r0 = visa.chain main -> !dm {
    fetch %d time "1" packet "A % 8" : !dm
    collect time "1" packet "A % 8"
    vector_init
    vector_tag zero
    vector_fxp add [imm 1]
    vector_final
    commit_trim packet "A % 8"
    commit element "A % 8"
  }
  %r1 = visa.chain main -> !dm {
    fetch %d time "1" packet "A % 8" : !dm
    collect time "1" packet "A % 8"
    vector_init
    vector_tag zero
    vector_fxp add [imm 1]
    vector_final
    commit_trim packet "A % 8"
    commit element "A % 8"
  }
  %o0 = visa.to_hbm %r0 : !dm -> !hbm
  %o1 = visa.to_hbm %r1 : !dm -> !hbm
  return %o0, %o1 : !hbm, !hbm
}

// A chain that does not depend on the loop stays in it, with all its stages.
// CHECK-LABEL: func.func @in_a_loop
// CHECK: scf.for
// CHECK-NEXT: visa.chain
// CHECK-NEXT: fetch
// CHECK-NEXT: collect
// CHECK-NEXT: commit_trim
// CHECK-NEXT: commit
func.func @in_a_loop(%a: !hbm, %y: !hbm) attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %d = visa.to_dm %a : !hbm -> !dm
  scf.for %i = %c0 to %c4 step %c1 {
    %r = visa.chain main -> !dm {
      fetch %d time "1" packet "A % 8" : !dm
      collect time "1" packet "A % 8"
      commit_trim packet "A % 8"
      commit element "A % 8"
    }
    visa.copy %r into %y : !dm, !hbm
  }
  return
}

// Helpers inline into kernels.
// CHECK-LABEL: func.func @with_helper
// CHECK-NOT: call
// CHECK: visa.to_dm
// CHECK: visa.chain
// CHECK: visa.to_hbm
func.func private @helper(%d: !dm) -> !dm {
  %r = visa.chain main -> !dm {
    fetch %d time "1" packet "A % 8" : !dm
    collect time "1" packet "A % 8"
    commit_trim packet "A % 8"
    commit element "A % 8"
  }
  return %r : !dm
}
func.func @with_helper(%a: !hbm) -> !hbm attributes {visa.kernel} {
  %d = visa.to_dm %a : !hbm -> !dm
  %r = func.call @helper(%d) : (!dm) -> !dm
  %o = visa.to_hbm %r : !dm -> !hbm
  return %o : !hbm
}
