// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

// MM-5: arguments and results are in HBM together; each alone is fine. Exactly
// 48 GiB without the 4 MiB that are reserved fit.
#axes = #tmap.axes<A = 6441926656>
!hbm = !visa.hbm<i32, element "A", #axes>
func.func @fits(%a: !hbm, %b: !hbm) attributes {visa.kernel} {
  return
}
// expected-error @below {{MM-5: arguments and results need 77303119872 bytes together, HBM has 51535413248; split them over several kernels}}
// expected-note @below {{argument 0 needs 25767706624 bytes}}
// expected-note @below {{argument 1 needs 25767706624 bytes}}
// expected-note @below {{argument 2 needs 25767706624 bytes}}
func.func @arguments(%a: !hbm, %b: !hbm, %c: !hbm) attributes {visa.kernel} {
  return
}
// expected-error @below {{MM-5: arguments and results need 77303119872 bytes together}}
// expected-note @below {{argument 0}}
// expected-note @below {{argument 1}}
// expected-note @below {{result 0 needs 25767706624 bytes}}
func.func @results(%a: !hbm, %b: !hbm) -> !hbm attributes {visa.kernel} {
  %o = visa.alloc : !hbm
  return %o : !hbm
}

// -----

// TU-6, TU-5: the stage that does the conversion is named.
#axes = #tmap.axes<A = 2048>
!hbm = !visa.hbm<f8E4M3FN, element "A", #axes>
!dm = !visa.dm<f8E4M3FN, slice "A / 8", element "A % 8", #axes>
func.func @f8(%a: !hbm) attributes {visa.kernel} {
  %d = visa.to_dm %a : !hbm -> !dm
  %r = visa.chain main -> !dm {
    fetch %d time "1" packet "A % 8" : !dm
    // expected-error @below {{TU-6: no fetch_cast from f8e4m3 to bf16; there are i4, i8, i16 to i32, f8e4m3, f8e5m2, bf16 to f32, f32 to bf16, and the identity; table_lookup does this one}}
    fetch_cast to bf16
    collect time "1" packet "A % 8 # 32"
    commit_trim packet "A % 8"
    commit element "A % 8"
  }
  return
}

// -----

// VE-30: immediates are i32 or f32; nothing wraps.
#axes = #tmap.axes<A = 2048>
!dm = !visa.dm<i32, slice "A / 8", element "A % 8", #axes>
func.func @narrow(%d: !dm) {
  %r = visa.chain main -> !dm {
    fetch %d time "1" packet "A % 8" : !dm
    collect time "1" packet "A % 8"
    // expected-error @below {{VE-30: an immediate of 'i8'; immediates are i32 or f32, write the number without a type}}
    vector_fxp add [imm 1 : i8]
  }
  return
}

// -----

#axes = #tmap.axes<A = 2048>
!dm = !visa.dm<i32, slice "A / 8", element "A % 8", #axes>
func.func @wide(%d: !dm) {
  %r = visa.chain main -> !dm {
    fetch %d time "1" packet "A % 8" : !dm
    collect time "1" packet "A % 8"
    // expected-error @below {{VE-30: immediate 4294967296 does not fit in 32 bits}}
    vector_fxp add [imm 4294967296]
  }
  return
}

// -----

#axes = #tmap.axes<A = 2048>
!dm = !visa.dm<f32, slice "A / 8", element "A % 8", #axes>
func.func @float(%d: !dm) {
  %r = visa.chain main -> !dm {
    fetch %d time "1" packet "A % 8" : !dm
    collect time "1" packet "A % 8"
    // expected-error @below {{VE-30: immediate does not fit in f32}}
    vector_fp add [imm 1.0e40]
  }
  return
}

// -----

// A type that is written is kept to, also where the number would fit.
#axes = #tmap.axes<A = 2048>
!dm = !visa.dm<i32, slice "A / 8", element "A % 8", #axes>
func.func @small_of_64_bits(%d: !dm) {
  %r = visa.chain main -> !dm {
    fetch %d time "1" packet "A % 8" : !dm
    collect time "1" packet "A % 8"
    // expected-error @below {{VE-30: an immediate of 'i64'; immediates are i32 or f32, write the number without a type}}
    vector_fxp add [imm 1 : i64]
  }
  return
}

// -----

#axes = #tmap.axes<A = 2048>
!dm = !visa.dm<f32, slice "A / 8", element "A % 8", #axes>
func.func @boundary_of_64_bits(%d: !dm) {
  %r = visa.chain main -> !dm {
    fetch %d time "1" packet "A % 8" : !dm
    collect time "1" packet "A % 8"
    vector_init
    // expected-error @below {{VE-30: an immediate of 'f64'; immediates are i32 or f32, write the number without a type}}
    vector_tag compare [less 1.0 : f64]
  }
  return
}

// -----

// What would become 0 is refused, with and without a type.
#axes = #tmap.axes<A = 2048>
!dm = !visa.dm<f32, slice "A / 8", element "A % 8", #axes>
func.func @vanishes(%d: !dm) {
  %r = visa.chain main -> !dm {
    fetch %d time "1" packet "A % 8" : !dm
    collect time "1" packet "A % 8"
    // expected-error @below {{VE-30: immediate is too small for f32 and would be 0; write 0.0}}
    vector_fp add [imm 1.0e-320]
  }
  return
}

// -----

#axes = #tmap.axes<A = 2048>
!dm = !visa.dm<f32, slice "A / 8", element "A % 8", #axes>
func.func @vanishes_even_in_64_bits(%d: !dm) {
  %r = visa.chain main -> !dm {
    fetch %d time "1" packet "A % 8" : !dm
    collect time "1" packet "A % 8"
    // expected-error @below {{VE-30: immediate is too small for f32 and would be 0; write 0.0}}
    vector_fp add [imm -1.0e-400 : f32]
  }
  return
}
