#axes = #tmap.axes<A = 8>
!i = !visa.hbm<i32, element "A", #axes>
!d = !visa.dm<i32, slice "1 # 256", element "A", #axes>
module @pair {
  func.func @first(%a: !i) -> !i attributes {visa.kernel} {
    %d = visa.to_dm %a : !i -> !d
    %o = visa.to_hbm %d : !d -> !i
    return %o : !i
  }
  func.func @second(%a: !i, %b: !i) -> !i attributes {visa.kernel} {
    %d = visa.to_dm %b : !i -> !d
    %o = visa.to_hbm %d : !d -> !i
    return %o : !i
  }
}
