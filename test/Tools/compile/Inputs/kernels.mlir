// Kernels with names to choose from. A helper is wrong, and nobody calls it.
#axes = #tmap.axes<A = 2048>
!hbm = !visa.hbm<i32, element "A", #axes>
!dm = !visa.dm<i32, slice "A / 8", element "A % 8", #axes>
module @model {
  func.func @foo(%a: !hbm) -> !hbm attributes {visa.kernel} {
    %d = visa.to_dm %a : !hbm -> !dm
    %o = visa.to_hbm %d : !dm -> !hbm
    return %o : !hbm
  }
  func.func @foo_bar(%a: !hbm) -> !hbm attributes {visa.kernel} {
    %d = visa.to_dm %a : !hbm -> !dm
    %o = visa.to_hbm %d : !dm -> !hbm
    return %o : !hbm
  }
  module @attention {
    func.func @decode(%a: !hbm) -> !hbm attributes {visa.kernel} {
      %d = visa.to_dm %a : !hbm -> !dm
      %o = visa.to_hbm %d : !dm -> !hbm
      return %o : !hbm
    }
    func.func @prefill(%a: !hbm) -> !hbm attributes {visa.kernel} {
      %d = visa.to_dm %a : !hbm -> !dm
      %o = visa.to_hbm %d : !dm -> !hbm
      return %o : !hbm
    }
  }
  func.func @wrong_helper(%a: !hbm) -> !dm {
    return %a : !hbm
  }
}
