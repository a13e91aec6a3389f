// What a tree leaves is written with at most as many columns.
// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

#axes = #tmap.axes<A = 8, C = 8, R = 8>
!dm = !visa.dm<i8, slice "1 # 256", element "A, C", #axes>
!wm = !visa.dm<i8, slice "1 # 256", element "R, A, C", #axes>
!trf = !visa.trf<i8, slice "1 # 256", lane "R", element "A, C", #axes>
!out = !visa.dm<i32, slice "1 # 256", element "A # 16, R", #axes>
func.func @columns() attributes {visa.kernel} {
  %a = visa.alloc : !dm
  %e = visa.alloc : !wm
  %w = visa.chain sub -> !trf {
    fetch %e time "R" packet "A, C" : !wm
    collect time "R, A / 4" packet "A % 4, C"
    to_trf lane "R" element "A, C"
  }
  %r = visa.chain main -> !out {
    fetch %a time "1" packet "A, C" : !dm
    collect time "A / 4" packet "A % 4, C"
    contract_outer %w time "1" packet "A, C" : !trf
    // expected-error @below {{not yet supported: a tree that leaves 8 columns, written with padding as 16; leave the padding out}}
    contract_packet packet "A # 16"
    contract_time time "1"
    contract_lane interleaved time "A # 16" packet "R"
    commit_trim packet "R"
    commit element "A # 16, R"
  }
  return
}
