// RUN: furiosa-opt-mlir %s --convert-visa-to-lir -split-input-file -verify-diagnostics

// MM-5: the tensor fills the data memory of a slice, so that padding behind it
// has no place.
#axes = #tmap.axes<I = 32768, K = 16>
!in = !visa.dm<i8, slice "1 # 256", element "I, K", #axes>
!out = !visa.dm<i8, slice "1 # 256", element "K # 32", #axes>
func.func @full(%o: !visa.hbm<i8, element "K", #axes>) attributes {visa.kernel} {
  %zero = arith.constant 0 : i8
  %d = visa.alloc : !in
  visa.memset %d with %zero : !in, i8
  %t = visa.tile %d[32767] along "I" take 1 : !in -> !visa.dm<i8, slice "1 # 256", element "1 # 32768, K", #axes>
  %r = visa.chain main -> !out {
    // expected-error @below {{MM-5: padding is read behind the end of the data memory: found reads up to byte 524304 of a buffer, expected at most 524288; fetch less padding or make the tensor smaller}}
    fetch %t time "1" packet "K # 32" : !visa.dm<i8, slice "1 # 256", element "1 # 32768, K", #axes>
    collect time "1" packet "K # 32"
    commit_trim packet "K # 32"
    commit element "K # 32"
  }
  return
}
