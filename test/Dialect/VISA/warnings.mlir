// What devices hung on: warnings, with --strict errors of the kernel check.
// RUN: furiosa-opt-mlir %s -visa-check -verify-diagnostics | furiosa-opt-mlir -o /dev/null
// RUN: furiosa-opt-mlir %s -convert-visa-to-lir -verify-diagnostics -o /dev/null
// RUN: grep -v expected- %s | furiosa-opt-mlir 2>&1 | FileCheck %s --check-prefix=QUIET
// RUN: grep -v expected- %s | not furiosa-opt-mlir --strict -o /dev/null 2>&1 | FileCheck %s --check-prefix=STRICT

// Parsing alone says nothing: the verifier runs too often.
// QUIET-NOT: warning
// QUIET: visa.chain main
// QUIET-NOT: warning

// STRICT: error: 'visa.to_trf' op W-1: a register-file store from the main context
// STRICT: note: the chain begins here
// STRICT: error: 'visa.to_vrf' op W-1: a register-file store from the main context
// STRICT: error: 'visa.to_vrf' op W-2: a vector chain of the sub context
#axes = #tmap.axes<A = 8, K = 32>
!hbm = !visa.hbm<i8, element "A, K", #axes>
!dm = !visa.dm<i8, slice "1 # 256", element "A, K", #axes>
!trf = !visa.trf<i8, slice "1 # 256", lane "A", element "K", #axes>
!vrf = !visa.vrf<i32, slice "1 # 256", element "A, K", #axes>
func.func @stores(%a: !hbm) attributes {visa.kernel} {
  %d = visa.to_dm %a : !hbm -> !dm
  // expected-note @below {{the chain begins here}}
  %w = visa.chain main -> !trf {
    fetch %d time "A" packet "K" : !dm
    collect time "A" packet "K"
    // expected-warning @below {{W-1: a register-file store from the main context, behind which devices hung or read stale data; load the register file in the sub context, or commit and load what was committed}}
    to_trf lane "A" element "K"
  }
  // expected-note @below {{the chain begins here}}
  %v = visa.chain main -> !vrf {
    fetch %d time "A" packet "K" : !dm
    fetch_cast to i32
    collect time "A, K / 8" packet "K % 8"
    // expected-warning @below {{W-1: a register-file store from the main context}}
    to_vrf element "A, K"
  }
  // expected-note @below {{the chain begins here}}
  %t = visa.chain sub -> !vrf {
    fetch %d time "A" packet "K" : !dm
    fetch_cast to i32
    collect time "A, K / 8" packet "K % 8"
    vector_init
    vector_tag zero
    vector_fxp add [imm 1]
    vector_final
    // expected-warning @below {{W-2: a vector chain of the sub context that ends in the vector register file, behind which devices hung or read stale data; commit, and load what was committed}}
    to_vrf element "A, K"
  }
  // The sub context loads without a word.
  %s = visa.chain sub -> !trf {
    fetch %d time "A" packet "K" : !dm
    collect time "A" packet "K"
    to_trf lane "A" element "K"
  }
  return
}
