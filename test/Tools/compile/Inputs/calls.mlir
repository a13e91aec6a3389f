#axes = #tmap.axes<A = 2048>
!hbm = !visa.hbm<i32, element "A", #axes>
!dm = !visa.dm<i32, slice "A / 8", element "A % 8", #axes>
module @model {
  func.func @alone(%a: !hbm) -> !hbm attributes {visa.kernel} {
    %d = visa.to_dm %a : !hbm -> !dm
    %o = visa.to_hbm %d : !dm -> !hbm
    return %o : !hbm
  }
  func.func @wrong(%a: index) -> i32 {
    return %a : index
  }
  func.func @calls_helper(%a: !hbm, %i: index) -> !hbm attributes {visa.kernel} {
    %n = func.call @wrong(%i) : (index) -> i32
    %d = visa.to_dm %a : !hbm -> !dm
    %o = visa.to_hbm %d : !dm -> !hbm
    return %o : !hbm
  }
}
