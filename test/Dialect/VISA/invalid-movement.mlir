// Rules of tensors, transfers and views.
// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

// MM-1, MM-2 in one run (MM-4).
#axes = #tmap.axes<A = 8>
!hbm = !visa.hbm<i32, element "A", #axes>
!dm = !visa.dm<i32, cluster "1 # 3", slice "1 # 5", element "A", #axes>
// expected-error @below {{MM-1: cluster "1 # 3" has 3 positions, expected 1 or 2}}
// expected-error @below {{MM-2: slice "1 # 5" has 5 positions, expected 64, 128 or 256}}
// expected-error @below {{MM-52: argument 0 is no HBM tensor}}
func.func @grid(%a: !dm) attributes {visa.kernel} {
  return
}

// -----

// MM-3: the device grid of the target.
#axes = #tmap.axes<A = 512>
!hbm = !visa.hbm<i32, element "A", #axes>
!dm = !visa.dm<i32, cluster "1", slice "A / 8", element "A % 8", #axes>
module attributes {visa.target = #visa.target<rngd, release = "0.6", chips = 1, pes = 8>} {
  func.func @device(%a: !hbm) attributes {visa.kernel} {
    // expected-error @below {{MM-3: slice "A / 8" has 64 positions, a target with 8 PEs has 256; pad it with # 256}}
    // expected-error @below {{MM-3: cluster "1" has 1 positions, a target with 8 PEs has 2}}
    %d = visa.to_dm %a : !hbm -> !dm
    return
  }
}

// -----

// MM-5: 512 KiB a slice; exactly that is fine.
#axes = #tmap.axes<A = 131072>
!hbm = !visa.hbm<i32, element "A", #axes>
!fits = !visa.dm<i32, slice "1 # 256", element "A", #axes>
!big = !visa.dm<i32, slice "1 # 256", element "A # 131074", #axes>
func.func @capacity(%a: !hbm) attributes {visa.kernel} {
  %d = visa.to_dm %a : !hbm -> !fits
  // expected-error @below {{MM-5: element "A # 131074" needs 524296 bytes a slice, the data memory has 524288}}
  %e = visa.alloc : !big
  return
}

// -----

// MM-28: the burst would be one element (L9, N1).
#axes = #tmap.axes<A = 65536, B = 1024>
!hbm = !visa.hbm<i8, element "A, B", #axes>
!dm = !visa.dm<i8, slice "B / 4", element "B % 4, A", #axes>
func.func @transpose(%a: !hbm) attributes {visa.kernel} {
  // expected-error @below {{MM-28: a run of 1 bytes is contiguous on both sides}}
  %d = visa.to_dm %a : !hbm -> !dm
  return
}

// -----

// MM-30: HBM strides of whole words (L8, N3).
#axes = #tmap.axes<A = 256, C = 5>
!hbm = !visa.hbm<i32, element "A, C", #axes>
!dm = !visa.dm<i32, slice "A", element "C # 8", #axes>
func.func @dense_rows(%a: !hbm) attributes {visa.kernel} {
  // expected-error @below {{MM-28: a run of 20 bytes is contiguous on both sides}}
  %d = visa.to_dm %a : !hbm -> !dm
  return
}

// -----

#axes = #tmap.axes<A = 256, C = 6, D = 3>
!hbm = !visa.hbm<i16, element "A, C", #axes>
!dm = !visa.dm<i16, slice "A", element "C % 2, C / 2 # 4", #axes>
func.func @inner_transpose(%a: !hbm) attributes {visa.kernel} {
  // expected-error @below {{MM-28: a run of 2 bytes is contiguous on both sides}}
  %d = visa.to_dm %a : !hbm -> !dm
  return
}

// -----

// MM-32: everything is stored.
#axes = #tmap.axes<A = 2048>
!hbm = !visa.hbm<i32, element "A", #axes>
!dm = !visa.dm<i32, slice "A / 8 # 256", element "A % 8 = 6 # 8", #axes>
func.func @store_part() -> !hbm attributes {visa.kernel} {
  %d = visa.alloc : !dm
  // expected-error @below {{MM-32: the target "A" asks for 8 values of axis A where the source "A % 8 = 6 # 8" holds 6}}
  %o = visa.to_hbm %d : !dm -> !hbm
  return %o : !hbm
}

// -----

// Source and target of a copy within one tensor lie apart.
#axes = #tmap.axes<A = 64, B = 8>
!hbm = !visa.hbm<i32, element "A, B", #axes>
!read = !visa.hbm<i32, element "A = 16 # 64, B", #axes>
!write = !visa.hbm<i32, element "A = 16 #{!} 64, B", #axes>
func.func @overlap(%a: !hbm) attributes {visa.kernel} {
  %f = visa.tile %a[0] along "A" take 16 : !hbm -> !read
  %t = visa.tile %a[15] along "A" take 16 : !hbm -> !write
  // expected-error @below {{not yet supported: a copy within one tensor whose source and target may overlap}}
  visa.copy %f into %t : !read, !write
  %u = visa.tile %a[16] along "A" take 16 : !hbm -> !write
  visa.copy %f into %u : !read, !write
  return
}

// -----

// MM-35 … MM-37: windows.
#axes = #tmap.axes<A = 64, B = 8, C = 4>
!hbm = !visa.hbm<i32, element "A, B", #axes>
!one = !visa.hbm<i32, element "1 # 8, A % 8, B", #axes>
// expected-note @below {{the source has element "A, B"}}
func.func @tiles(%a: !hbm) attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  // expected-error @below {{MM-37 (MA-19)}}
  %t0 = visa.tile %a[8] along "A / 8" take 1 : !hbm -> !one
  // expected-error @below {{MM-37 (MA-20)}}
  %t1 = visa.tile %a[7] along "A / 8" take 2 : !hbm -> !one
  // expected-error @below {{MM-35 (MA-17)}}
  %t2 = visa.tile %a[0] along "C" take 1 : !hbm -> !one
  // expected-error @below {{MM-36: the view has element "1 # 8, A % 8, B"}}
  %t3 = visa.tile %a[0] along "A / 8" take 2 : !hbm -> !one
  scf.for %i = %c0 to %c9 step %c1 {
    // expected-error @below {{MM-37 (MA-19)}}
    %t4 = visa.tile %a[%i] along "A / 8" take 1 : !hbm -> !one
  }
  return
}

// -----

// MM-11: what has bottom holes is written, not read.
#axes = #tmap.axes<A = 2048, B = 4>
!hbm = !visa.hbm<i32, element "B, A", #axes>
!view = !visa.hbm<i32, element "1 #{!} 4, A", #axes>
!dm = !visa.dm<i32, slice "A / 8", element "A % 8", #axes>
func.func @read_of_write_view(%a: !hbm) attributes {visa.kernel} {
  %t = visa.tile %a[0] along "B" take 1 : !hbm -> !view
  // expected-error @below {{MM-11: the source "1 #{!} 4, A" has bottom padding}}
  %d = visa.to_dm %t : !view -> !dm
  return
}

// -----

// Structure: element types and axes of a move.
#axes = #tmap.axes<A = 2048>
#other = #tmap.axes<A = 2048, B = 2>
!hbm = !visa.hbm<i32, element "A", #axes>
!f32 = !visa.hbm<f32, element "A", #axes>
!dm = !visa.dm<i32, slice "A / 8", element "A % 8", #axes>
func.func @move_types(%a: !f32) {
  // expected-error @below {{moves 'f32' into a tensor of 'i32'; convert with a chain}}
  %d = visa.to_dm %a : !f32 -> !dm
  return
}

// -----

#axes = #tmap.axes<A = 2048>
#other = #tmap.axes<A = 2048, B = 2>
!hbm = !visa.hbm<i32, element "A", #other>
!dm = !visa.dm<i32, slice "A / 8", element "A % 8", #axes>
func.func @move_axes(%a: !hbm) {
  // expected-error @below {{source is over axes}}
  %d = visa.to_dm %a : !hbm -> !dm
  return
}

// -----

// MM-34: a reshape keeps sizes.
#axes = #tmap.axes<A = 2048, B = 8>
!hbm = !visa.hbm<i32, element "A", #axes>
!less = !visa.hbm<i32, element "B", #axes>
func.func @reshape(%a: !hbm) {
  // expected-error @below {{MM-34: element "B" has 8 positions, the source has 2048}}
  %d = visa.reshape %a : !hbm -> !less
  return
}

// -----

// MM-52: arguments and results live in HBM; returned buffers are the kernel's.
#axes = #tmap.axes<A = 2048>
!hbm = !visa.hbm<i32, element "A", #axes>
!dm = !visa.dm<i32, slice "A / 8", element "A % 8", #axes>
// expected-error @below {{MM-52: argument 0 is no HBM tensor}}
// expected-error @below {{MM-52: result 0 of type}}
func.func @interface(%a: !dm) -> !dm attributes {visa.kernel} {
  // expected-error @below {{not yet supported: a kernel that returns its own argument}}
  return %a : !dm
}

// -----

// A run-time scalar as an argument.
#axes = #tmap.axes<A = 64>
!hbm = !visa.hbm<i32, element "A", #axes>
// expected-error @below {{not yet supported: argument 1 of type 'index'}}
func.func @scalar(%a: !hbm, %i: index) attributes {visa.kernel} {
  return
}

// -----

// A stage outside a chain; an op that is no stage inside one.
func.func @lonely_stage() {
  // expected-error @below {{expects parent op 'visa.chain'}}
  visa.vector_init
  return
}

// -----

#axes = #tmap.axes<A = 8>
!dm = !visa.dm<i32, slice "1 # 256", element "A", #axes>
func.func @no_stage() {
  // expected-note @below {{the chain begins here}}
  %r = visa.chain main -> !dm {
    // expected-error @below {{is no stage; a chain holds stages only}}
    %c = arith.constant 0 : index
  }
  return
}

// -----

// expected-error @below {{is a unit attribute of func.func}}
module attributes {visa.kernel} {
}

// -----

// expected-error @below {{visa.alternate_networks is a unit attribute of func.func}}
module attributes {visa.alternate_networks} {
}

// -----

// expected-error @below {{unknown attribute}}
module attributes {visa.unknown} {
}

// -----

// expected-error @below {{expected a #visa.target}}
module attributes {visa.target = "rngd"} {
}

// -----

// expected-error @below {{a kernel needs a body}}
func.func private @declared() attributes {visa.kernel}

// -----

// MA-15: a digit of an axis twice, in the slice and in the element.
#axes = #tmap.axes<A = 2048>
!hbm = !visa.hbm<i32, element "A", #axes>
!dm = !visa.dm<i32, slice "A / 8", element "A % 16", #axes>
func.func @digit_twice(%a: !hbm) attributes {visa.kernel} {
  // expected-error @below {{MA-15}}
  %d = visa.to_dm %a : !hbm -> !dm
  return
}

// -----

// MM-5: HBM holds 48 GiB, 4 MiB of them reserved; sizes beyond 64 bits are told, not wrapped.
#axes = #tmap.axes<A = 9223372036854775807, B = 100000000000>
// expected-error @below {{MM-5: element "A" needs more than 2^60 bytes, HBM has 51535413248}}
// expected-error @below {{MM-5: element "B" needs 100000000000 bytes, HBM has 51535413248}}
func.func @huge(%a: !visa.hbm<i32, element "A", #axes>, %b: !visa.hbm<i8, element "B", #axes>) attributes {visa.kernel} {
  return
}

// -----

// MM-28: of a last slice that is partly filled, a whole word is written.
#axes = #tmap.axes<A = 17>
!hbm = !visa.hbm<i32, element "A", #axes>
!dm = !visa.dm<i32, slice "A # 24 / 8 # 256", element "A # 24 % 8", #axes>
func.func @ragged(%a: !hbm) attributes {visa.kernel} {
  // expected-error @below {{MM-28: a run of 4 bytes is contiguous on both sides}}
  %d = visa.to_dm %a : !hbm -> !dm
  return
}

// -----

// Offsets are bounded through sums and products of loop counters; steps are
// positive.
#axes = #tmap.axes<A = 64>
!hbm = !visa.hbm<i32, element "A", #axes>
!one = !visa.hbm<i32, element "1 # 8, A % 8", #axes>
func.func @offsets(%a: !hbm) attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %j = arith.muli %i, %c3 : index
    // expected-error @below {{MM-37 (MA-19)}}
    %t = visa.tile %a[%j] along "A / 8" take 1 : !hbm -> !one
  }
  // expected-error @below {{a loop step of 0; loops count up by at least 1}}
  scf.for %i = %c0 to %c4 step %c0 {
  }
  return
}
