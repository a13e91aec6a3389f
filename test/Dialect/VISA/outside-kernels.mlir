// Tensors of a function that is no kernel: nothing would lower it. A private one
// may be a helper of a kernel.
// RUN: furiosa-opt-mlir %s -split-input-file -visa-check -verify-diagnostics -o /dev/null

#axes = #tmap.axes<A = 2048>
!h = !visa.hbm<i32, element "A", #axes>
// expected-error@+1 {{not yet supported: tensors outside of a kernel; make a helper private, so that it is inlined into its callers, or mark a kernel as visa.kernel}}
func.func @no_kernel(%a: !h) {
  return
}

// -----

#axes = #tmap.axes<A = 2048>
!h = !visa.hbm<i32, element "A", #axes>
!d = !visa.dm<i32, slice "A / 8", element "A % 8", #axes>
func.func @inside() {
  // expected-error@+1 {{not yet supported: tensors outside of a kernel}}
  %d = visa.alloc : !d
  return
}
func.func private @helper(%a: !h) -> !d {
  %d = visa.to_dm %a : !h -> !d
  return %d : !d
}
func.func @no_tensors() {
  return
}
