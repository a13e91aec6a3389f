// What stands for itself at the level of visa and has no lowering.
// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics -convert-visa-to-lir

#axes = #tmap.axes<A = 2048>
!h = !visa.hbm<i32, element "A", #axes>
// expected-error@+1 {{not yet supported: tensors outside of a kernel; make a helper private, so that it is inlined into its callers, or mark a kernel as visa.kernel}}
func.func @no_kernel(%a: !h) {
  return
}

// -----

#axes = #tmap.axes<A = 4096>
!h = !visa.hbm<i32, chip "A / 2048", element "A % 2048", #axes>
module attributes {visa.target = #visa.target<rngd, release = "0.6", chips = 2, pes = 8>} {
  // expected-error@+1 {{not yet supported: a kernel for 2 chips}}
  func.func @two_chips(%a: !h) attributes {visa.kernel} {
    return
  }
}
