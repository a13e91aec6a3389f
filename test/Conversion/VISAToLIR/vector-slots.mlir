// Four slots of a mode that uses no operand, and slices that are freed for
// padding outside of an axis.
// RUN: furiosa-opt-mlir %s -convert-visa-to-lir | FileCheck %s
// RUN: furiosa-run --check %s

#axes = #tmap.axes<N = 64, R = 4, V = 2, C = 8>
!ah = !visa.hbm<i32, element "N, R, V, C", #axes>
!rh = !visa.hbm<i32, element "N, V, C", #axes>
!ad = !visa.dm<i32, slice "N, R", element "V, C", #axes>
!rd = !visa.dm<i32, slice "N, 1 # 2, V", element "C", #axes>
!vh = !visa.hbm<i32, element "C", #axes>
!vd = !visa.dm<i32, slice "N, R", element "C", #axes>
!vv = !visa.vrf<i32, slice "N, R", element "C", #axes>

// Three operands that do not count are immediates, the fourth one keeps the
// port of the register file for its guard.
// CHECK: lir.exec main
// CHECK: vector_tag i32
// CHECK-NEXT: vector_alu fxp_add add [imm 0 if "1---", imm 0 if "-1--", imm 0 if "--1-", vrf %{{.*}} loops [{{.*}}] if "---1"] mode "00" : !lir.mem<vrf, 32>
// CHECK-NEXT: vector_stash
// CHECK-NEXT: vector_alu clip_max max [imm 0 if "1---", imm 0 if "-1--", imm 0 if "--1-", stash if "--01"] mode "00"
// CHECK-NEXT: vector_alu clip_min min [imm 0] mode "00"
// CHECK-NEXT: vector_slice_reduce
// CHECK-SAME: 4
func.func @slots(%a: !ah, %v: !vh) -> !rh attributes {visa.kernel} {
  %ad = visa.to_dm %a : !ah -> !ad
  %vd = visa.to_dm %v : !vh -> !vd
  %vv = visa.chain sub -> !vv {
    fetch %vd time "1" packet "C" : !vd
    collect time "1" packet "C"
    to_vrf element "C"
  }
  %rd = visa.chain main -> !rd {
    fetch %ad time "V" packet "C" : !ad
    collect time "V" packet "C"
    vector_init
    vector_tag compare [less 0, greater 3, equal 5, greater 9]
    vector_fxp add [imm 1 if "1---", imm 2 if "-1--", imm 3 if "--1-", vrf %vv if "---1"] mode "00" : !vv
    vector_stash
    vector_clip max [imm 1 if "1---", imm 2 if "-1--", imm 3 if "--1-", stash if "--01"] mode "00"
    vector_clip min [vrf %vv] mode "00" : !vv
    vector_inter_slice_reduce add slice "N, 1 # 2, V" time "1"
    vector_final
    commit_trim packet "C"
    commit element "C"
  }
  %r = visa.to_hbm %rd : !rd -> !rh
  return %r : !rh
}
