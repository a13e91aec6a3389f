// RUN: furiosa-opt-mlir %s --visa-check --verify-roundtrip -o /dev/null
// RUN: not furiosa-opt-mlir %s --convert-visa-to-lir -o /dev/null 2>&1 | FileCheck %s

// W20: chip i takes what chip i + 1 has. Tiles of chips are checked as all others;
// several chips have no lowering.
// CHECK: not yet supported: a kernel for 4 chips
#axes = #tmap.axes<A = 16, B = 64>
!h = !visa.hbm<i32, chip "A / 4", element "A % 4, B", #axes>
!r = !visa.hbm<i32, chip "1 # 4", element "A % 4, B", #axes>
!w = !visa.hbm<i32, chip "1 #{!} 4", element "A % 4, B", #axes>
func.func @shuffle(%a: !h) -> !h attributes {visa.kernel, visa.target = #visa.target<rngd, release = "0.6", chips = 4, pes = 8>} {
  %o = visa.alloc : !h
  %r0 = visa.tile %a[0] of chip along "A / 4" take 1 : !h -> !r
  %r1 = visa.tile %a[1] of chip along "A / 4" take 1 : !h -> !r
  %r2 = visa.tile %a[2] of chip along "A / 4" take 1 : !h -> !r
  %r3 = visa.tile %a[3] of chip along "A / 4" take 1 : !h -> !r
  %w0 = visa.tile %o[0] of chip along "A / 4" take 1 : !h -> !w
  %w1 = visa.tile %o[1] of chip along "A / 4" take 1 : !h -> !w
  %w2 = visa.tile %o[2] of chip along "A / 4" take 1 : !h -> !w
  %w3 = visa.tile %o[3] of chip along "A / 4" take 1 : !h -> !w
  visa.copy %r1 into %w0 : !r, !w
  visa.copy %r2 into %w1 : !r, !w
  visa.copy %r3 into %w2 : !r, !w
  visa.copy %r0 into %w3 : !r, !w
  return %o : !h
}
