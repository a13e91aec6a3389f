#axes = #tmap.axes<A = 48000>
!hbm = !visa.hbm<i32, element "A", #axes>
!dm = !visa.dm<i32, slice "1 # 256", element "A", #axes>
func.func @too_large(%a: !hbm, %b: !hbm) -> (!hbm, !hbm) attributes {visa.kernel} {
  %d = visa.to_dm %a : !hbm -> !dm
  %e = visa.to_dm %b : !hbm -> !dm
  %f = visa.to_dm %a : !hbm -> !dm
  %r = visa.chain main -> !dm {
    fetch %d time "1" packet "A" : !dm
    collect time "A / 8" packet "A % 8"
    commit_trim packet "A % 8"
    commit element "A"
  }
  %s = visa.chain main -> !dm {
    fetch %e time "1" packet "A" : !dm
    collect time "A / 8" packet "A % 8"
    commit_trim packet "A % 8"
    commit element "A"
  }
  %t = visa.chain main -> !dm {
    fetch %f time "1" packet "A" : !dm
    collect time "A / 8" packet "A % 8"
    commit_trim packet "A % 8"
    commit element "A"
  }
  %o = visa.to_hbm %r : !dm -> !hbm
  %p = visa.to_hbm %s : !dm -> !hbm
  return %o, %p : !hbm, !hbm
}
