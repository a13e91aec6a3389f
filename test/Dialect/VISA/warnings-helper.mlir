// Chains of helpers are warned of, and refused, as those of the kernel itself.
// RUN: furiosa-opt-mlir %s -visa-check -verify-diagnostics -o /dev/null
// RUN: furiosa-opt-mlir compile %s -o %t --no-cache 2>&1 | FileCheck %s --check-prefix=WARN
// RUN: grep -v expected- %s | not furiosa-opt-mlir --strict -o /dev/null 2>&1 | FileCheck %s --check-prefix=STRICT

// WARN: warning: {{.*}}W-1: a register-file store from the main context
// WARN-NOT: W-1:
// STRICT: error: 'visa.to_trf' op W-1: a register-file store from the main context
#axes = #tmap.axes<A = 8, K = 32>
!hbm = !visa.hbm<i8, element "A, K", #axes>
!dm = !visa.dm<i8, slice "1 # 256", element "A, K", #axes>
!trf = !visa.trf<i8, slice "1 # 256", lane "A", element "K", #axes>
func.func private @load(%d: !dm) -> !trf {
  // expected-note @below {{the chain begins here}}
  %w = visa.chain main -> !trf {
    fetch %d time "A" packet "K" : !dm
    collect time "A" packet "K"
    // expected-warning @below {{W-1: a register-file store from the main context}}
    to_trf lane "A" element "K"
  }
  return %w : !trf
}
func.func @kernel(%a: !hbm) attributes {visa.kernel} {
  %d = visa.to_dm %a : !hbm -> !dm
  %w = call @load(%d) : (!dm) -> !trf
  return
}
