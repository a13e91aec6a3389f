// RUN: furiosa-opt-mlir %s --convert-lir-to-resource -split-input-file -verify-diagnostics
// RUN: not furiosa-opt-mlir %s --convert-lir-to-resource -split-input-file 2>/dev/null

// Attributes of the kernel.

// expected-error@+1 {{'func.func' op is no lir kernel: it has no integer attribute lir.pes}}
func.func @k(%a: !lir.mem<hbm, 4096>) attributes {visa.kernel, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  return
}

// -----

// Of another kind.

// expected-error@+1 {{has no integer attribute lir.pes}}
func.func @k(%a: !lir.mem<hbm, 4096>) attributes {visa.kernel, lir.pes = "x", lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  return
}

// -----

// Clusters.

// expected-error@+1 {{has no array attribute lir.clusters}}
func.func @k(%a: !lir.mem<hbm, 4096>) attributes {visa.kernel, lir.pes = 1, lir.release = "0.6"} {
  return
}

// -----

// Release.

// expected-error@+1 {{has no string attribute lir.release}}
func.func @k(%a: !lir.mem<hbm, 4096>) attributes {visa.kernel, lir.pes = 1, lir.clusters = array<i64: 0>, lir.release = 6} {
  return
}

// -----

// A declaration.

// expected-error@+1 {{a kernel needs a body}}
func.func private @k() attributes {visa.kernel, lir.pes = 1, lir.clusters = array<i64: 0>, lir.release = "0.6"}

// -----

// An argument that is no buffer.

// expected-error@+1 {{argument 0 is a number, but has no array attribute lir.range}}
func.func @k(%a: index) attributes {visa.kernel, lir.pes = 1, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  return
}

// -----

// An argument that is not in HBM.

// expected-error@+1 {{argument 0 must be a buffer in hbm, found '!lir.mem<dm, 8>'}}
func.func @k(%a: !lir.mem<dm, 8>) attributes {visa.kernel, lir.pes = 1, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  return
}

// -----

// The description of an argument is of another kind.

// expected-error@+1 {{lir.operand of argument 0 must be a #resource.operand, found 1 : i32}}
func.func @k(%a: !lir.mem<hbm, 8> {lir.operand = 1 : i32}) attributes {visa.kernel, lir.pes = 1, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  return
}

// -----

// A returned argument.

func.func @k(%a: !lir.mem<hbm, 4096>) -> !lir.mem<hbm, 4096> attributes {visa.kernel, lir.pes = 1, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  // expected-error@+1 {{not yet supported: a returned argument}}
  return %a : !lir.mem<hbm, 4096>
}

// -----

// A buffer returned twice.

func.func @k(%a: !lir.mem<hbm, 4096>) -> (!lir.mem<hbm, 8>, !lir.mem<hbm, 8>) attributes {visa.kernel, lir.pes = 1, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %o = lir.alloc : !lir.mem<hbm, 8>
  // expected-error@+1 {{not yet supported: a buffer that is returned twice}}
  return %o, %o : !lir.mem<hbm, 8>, !lir.mem<hbm, 8>
}

// -----

// A result in DM.

func.func @k(%a: !lir.mem<hbm, 4096>) -> !lir.mem<dm, 8> attributes {visa.kernel, lir.pes = 1, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %o = lir.alloc : !lir.mem<dm, 8>
  // expected-error@+1 {{a result must be in hbm, found '!lir.mem<dm, 8>'}}
  return %o : !lir.mem<dm, 8>
}

// -----

// A result from elsewhere.

func.func @k(%a: !lir.mem<hbm, 4096>) -> index attributes {visa.kernel, lir.pes = 1, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %c = arith.constant 1 : index
  // expected-error@+1 {{not yet supported: a result that is no lir.alloc}}
  return %c : index
}

// -----

// A branch on what is no number of the host.

func.func @k(%a: !lir.mem<hbm, 4096>) attributes {visa.kernel, lir.pes = 1, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %one = arith.muli %c1, %c1 : index
  %t = arith.cmpi ult, %one, %c4 : index
  // expected-error@+1 {{'scf.if' op not yet supported: a condition other than comparisons of sums of numbers of the host}}
  scf.if %t {
  }
  return
}

// -----

// Bounds at run time.

func.func @k(%a: !lir.mem<hbm, 4096>) attributes {visa.kernel, lir.pes = 1, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %n = arith.divui %c4, %c1 : index
  // expected-error@+1 {{not yet supported: bounds known only at run time}}
  scf.for %i = %c0 to %n step %c1 {
  }
  return
}

// -----

// Bounds that depend on an outer loop.

func.func @k(%a: !lir.mem<hbm, 4096>) attributes {visa.kernel, lir.pes = 1, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    // expected-error@+1 {{not yet supported: bounds known only at run time}}
    scf.for %j = %c0 to %i step %c1 {
    }
  }
  return
}

// -----

// A step of zero.

func.func @k(%a: !lir.mem<hbm, 4096>) attributes {visa.kernel, lir.pes = 1, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // expected-error@+1 {{the step must be positive, found 0}}
  scf.for %i = %c0 to %c4 step %c0 {
  }
  return
}

// -----

// Values carried.

func.func @k(%a: !lir.mem<hbm, 4096>) attributes {visa.kernel, lir.pes = 1, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // expected-error@+1 {{not yet supported: values carried from one iteration to the next}}
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%q = %c0) -> index {
    scf.yield %q : index
  }
  return
}

// -----

// Not affine.

func.func @k(%a: !lir.mem<hbm, 4096>) attributes {visa.kernel, lir.pes = 1, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %d = lir.alloc : !lir.mem<dm, 64>
  scf.for %i = %c0 to %c4 step %c1 {
    // expected-note@+1 {{the offset is computed here}}
    %x = arith.muli %i, %i : index
    // expected-error@+1 {{not yet supported: an offset that is not affine in the counters of loops with constant bounds}}
    lir.dma %a[%x] to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 64>] : !lir.mem<hbm, 4096>, !lir.mem<dm, 64>
  }
  return
}

// -----

// A narrow integer may wrap.

func.func @k(%a: !lir.mem<hbm, 4096>) attributes {visa.kernel, lir.pes = 1, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %d = lir.alloc : !lir.mem<dm, 64>
  %n = arith.constant 100 : i8
  scf.for %i = %c0 to %c4 step %c1 {
    %s = arith.index_cast %i : index to i8
    %w = arith.muli %s, %n : i8
    // expected-note@+1 {{the offset is computed here}}
    %x = arith.index_cast %w : i8 to index
    // expected-error@+1 {{not yet supported: an offset that is not affine}}
    lir.dma %a[%x] to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 64>] : !lir.mem<hbm, 4096>, !lir.mem<dm, 64>
  }
  return
}

// -----

// RES-17: an offset that falls below the buffer.

func.func @k(%a: !lir.mem<hbm, 4096>) attributes {visa.kernel, lir.pes = 1, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %d = lir.alloc : !lir.mem<dm, 64>
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %j = arith.subi %c1, %i : index
    %x = arith.muli %j, %c64 : index
    // expected-error@+1 {{RES-17: source of the engine of cluster 0 pe 0 begins in front of its buffer}}
    lir.dma %a[%x] to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 64>] : !lir.mem<hbm, 4096>, !lir.mem<dm, 64>
  }
  return
}

// -----

// LIR-5: an offset below the buffer.

func.func @k(%a: !lir.mem<hbm, 4096>) attributes {visa.kernel, lir.pes = 1, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %d = lir.alloc : !lir.mem<dm, 64>
  %x = arith.constant -64 : index
  // expected-error@+1 {{LIR-5: bases must not be negative, found -64 and 0}}
  lir.dma %a[%x] to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 64>] : !lir.mem<hbm, 4096>, !lir.mem<dm, 64>
  return
}

// -----

// LIR-8: an offset beyond the buffer.

func.func @k(%a: !lir.mem<hbm, 4096>) attributes {visa.kernel, lir.pes = 1, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %d = lir.alloc : !lir.mem<dm, 64>
  %x = arith.constant 4096 : index
  // expected-error@+1 {{LIR-8: source of the engine of cluster 0 pe 0 reaches byte 4160 of a buffer of 4096}}
  lir.dma %a[%x] to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 64>] : !lir.mem<hbm, 4096>, !lir.mem<dm, 64>
  return
}

// -----

// An offset that overflows.

func.func @k(%a: !lir.mem<hbm, 4096>) attributes {visa.kernel, lir.pes = 1, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %d = lir.alloc : !lir.mem<dm, 64>
  %x = arith.constant 9223372036854775807 : index
  // expected-error@+1 {{an offset does not fit in 64 bits}}
  lir.dma %a[%x] to %d engines [#lir.engine<cluster 0 pe 0 from 8 to 0 loops [] packet 64>] : !lir.mem<hbm, 4096>, !lir.mem<dm, 64>
  return
}

// -----

// RES-17: the last iteration leaves the buffer.

func.func @k(%a: !lir.mem<hbm, 4096>) attributes {visa.kernel, lir.pes = 1, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %d = lir.alloc : !lir.mem<dm, 64>
  %c2048 = arith.constant 2048 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %x = arith.muli %i, %c2048 : index
    // expected-error@+1 {{RES-17: source of the engine of cluster 0 pe 0 leaves its buffer of 4096 bytes in the last iteration}}
    lir.dma %a[%x] to %d engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 64>] : !lir.mem<hbm, 4096>, !lir.mem<dm, 64>
  }
  return
}

// -----

// RES-7: a PE that does not run the kernel.

func.func @k(%a: !lir.mem<hbm, 4096>) attributes {visa.kernel, lir.pes = 1, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %d = lir.alloc : !lir.mem<dm, 64>
  %x = arith.constant 0 : index
  // expected-error@+1 {{RES-7: cluster 0 pe 1 does not run the program}}
  lir.dma %a[%x] to %d engines [#lir.engine<cluster 0 pe 1 from 0 to 0 loops [] packet 64>] : !lir.mem<hbm, 4096>, !lir.mem<dm, 64>
  return
}

// -----

// RES-8: a release that is not known.

// expected-error@+1 {{RES-8: unknown release "1.0"}}
func.func @k(%a: !lir.mem<hbm, 4096>) attributes {visa.kernel, lir.pes = 1, lir.clusters = array<i64: 0>, lir.release = "1.0"} {
  return
}

// -----

// A buffer from elsewhere.

func.func @k(%a: !lir.mem<hbm, 4096>) attributes {visa.kernel, lir.pes = 1, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %d = lir.alloc : !lir.mem<dm, 64>
  %t = arith.constant true
  %e = lir.alloc : !lir.mem<dm, 64>
  %x = arith.constant 0 : index
  %s = arith.select %t, %d, %e : !lir.mem<dm, 64>
  // expected-error@+1 {{not yet supported: a buffer that is neither an argument nor a lir.alloc}}
  lir.dma %a[%x] to %s engines [#lir.engine<cluster 0 pe 0 from 0 to 0 loops [] packet 64>] : !lir.mem<hbm, 4096>, !lir.mem<dm, 64>
  return
}

// -----

// Depth.

func.func @k(%a: !lir.mem<hbm, 4096>) attributes {visa.kernel, lir.pes = 1, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i0 = %c0 to %c4 step %c1 {
    scf.for %i1 = %c0 to %c4 step %c1 {
      scf.for %i2 = %c0 to %c4 step %c1 {
        scf.for %i3 = %c0 to %c4 step %c1 {
          scf.for %i4 = %c0 to %c4 step %c1 {
            scf.for %i5 = %c0 to %c4 step %c1 {
              scf.for %i6 = %c0 to %c4 step %c1 {
                scf.for %i7 = %c0 to %c4 step %c1 {
                  // expected-error@+1 {{not yet supported: loops nested more than 8 deep}}
                  scf.for %i8 = %c0 to %c4 step %c1 {
                  }
                }
              }
            }
          }
        }
      }
    }
  }
  return
}
