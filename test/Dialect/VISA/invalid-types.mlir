// Parse errors of types and attributes, at the very character.
// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

// expected-error @+1 {{MA-7}}
!t = !visa.hbm<i8, element "N, K", #tmap.axes<N = 8>>

// -----

// expected-error @+1 {{MA-8}}
!t = !visa.hbm<i8, element "N / 3", #tmap.axes<N = 8>>

// -----

// expected-error @+1 {{the chip has no element type 'f64', expected one of}}
!t = !visa.hbm<f64, element "N", #tmap.axes<N = 8>>

// -----

// expected-error @+1 {{unknown dimension 'slice', expected chip, element}}
!t = !visa.hbm<i8, slice "N", element "N", #tmap.axes<N = 8>>

// -----

// expected-error @+1 {{dimension 'element' is given twice}}
!t = !visa.hbm<i8, element "N", element "N", #tmap.axes<N = 8>>

// -----

// expected-error @+1 {{expected dimension 'slice'}}
!t = !visa.dm<i8, element "N", #tmap.axes<N = 8>>

// -----

// expected-error @+1 {{MA-3: escapes are not allowed in a mapping}}
!t = !visa.hbm<i8, element "\4E", #tmap.axes<N = 8>>

// -----

// expected-error @+1 {{MA-12}}
#a = #tmap.axes<N = 8, N = 4>

// -----

// expected-error @+1 {{MA-12: axis N has size 0, expected at least 1}}
#a = #tmap.axes<N = 0>

// -----

// expected-error @+1 {{MA-6}}
#a = #tmap.axes<n = 8>

// -----

// expected-error @+1 {{does not fit in 64 bits}}
#a = #tmap.axes<N = 99999999999999999999>

// -----

// expected-error @+1 {{MA-11}}
!t = !visa.hbm<i8, element "N, N", #tmap.axes<N = 4611686018427387904>>

// -----

// expected-error @+1 {{unknown chip warboy, expected rngd}}
#t = #visa.target<warboy, release = "0.6", chips = 1, pes = 8>

// -----

// expected-error @+1 {{unknown release "0.7", expected one of 0.2, 0.3, 0.4, 0.5, 0.6}}
#t = #visa.target<rngd, release = "0.7", chips = 1, pes = 8>

// -----

// expected-error @+1 {{pes is 3, expected 1, 2, 4 or 8}}
#t = #visa.target<rngd, release = "0.6", chips = 1, pes = 3>

// -----

// expected-error @+1 {{chips is 0, expected at least 1}}
#t = #visa.target<rngd, release = "0.6", chips = 0, pes = 8>

// -----

#axes = #tmap.axes<A = 8>
!dm = !visa.dm<i32, slice "1 # 256", element "A", #axes>
func.func @clause_grammar(%d: !dm) {
  %r = visa.chain main -> !dm {
    // expected-error @below {{MA-2}}
    fetch %d time "A /" packet "1" : !dm
  }
  return
}

// -----

#axes = #tmap.axes<A = 8>
!dm = !visa.dm<i32, slice "1 # 256", element "A", #axes>
func.func @slots(%d: !dm) {
  %r = visa.chain main -> !dm {
    // expected-error @below {{expected an operand slot: 'imm', 'vrf' or 'stash'}}
    vector_fxp add [1]
  }
  return
}

// -----

#axes = #tmap.axes<A = 8>
!dm = !visa.dm<i32, slice "1 # 256", element "A", #axes>
func.func @immediates(%d: !dm) {
  %r = visa.chain main -> !dm {
    // expected-error @below {{immediate 4294967296 does not fit in 32 bits}}
    vector_fxp add [imm 4294967296]
  }
  return
}
