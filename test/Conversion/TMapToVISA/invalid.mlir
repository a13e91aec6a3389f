// What is not lowered says so.
// RUN: furiosa-opt-mlir %s --convert-tmap-to-visa -split-input-file -verify-diagnostics

#axes = #tmap.axes<I = 8, K = 2097152>
!a = !tmap.tensor<bf16, "I, K", #axes>
!b = !tmap.tensor<bf16, "K", #axes>
!c = !tmap.tensor<f32, "I", #axes>
func.func @long(%a: !a, %b: !b) -> !c attributes {visa.kernel} {
  // expected-error @below {{not yet supported: a sum over 2097152 elements of 'bf16', whose 512 parts are more than the 256 slices of a cluster}}
  %c = tmap.contract %a, %b over [K] : !a, !b -> !c
  return %c : !c
}

// -----

// An engine alone has fewer slices.
#axes = #tmap.axes<T = 262144>
!x = !tmap.tensor<f32, "T", #axes>
!y = !tmap.tensor<f32, "1", #axes>
func.func @fewSlices(%x: !x) -> !y attributes {visa.kernel, visa.target = #visa.target<rngd, release = "0.6", chips = 1, pes = 1>} {
  // expected-error @below {{not yet supported: a sum over 262144 elements, whose 128 parts are more than the 64 slices of a cluster}}
  %y = tmap.reduce add %x over [T] : !x -> !y
  return %y : !y
}

// -----

// The zeros behind the end of one sum are too many for the other.
#axes = #tmap.axes<I = 8, J = 8, T = 5001>
!x = !tmap.tensor<f32, "I, T", #axes>
!y = !tmap.tensor<f32, "I", #axes>
!a = !tmap.tensor<bf16, "I, T", #axes>
!b = !tmap.tensor<bf16, "J, T", #axes>
!c = !tmap.tensor<f32, "I, J", #axes>
func.func @both(%x: !x, %a: !a, %b: !b) -> (!y, !c) attributes {visa.kernel} {
  // expected-error @below {{not yet supported: a sum over 5001 elements, no multiple of 8, along an axis that a contraction sums as well; rename the axis by a tmap.reshape}}
  %y = tmap.reduce add %x over [T] : !x -> !y
  %c = tmap.contract %a, %b over [T] : !a, !b -> !c
  return %y, %c : !y, !c
}

// -----

// Half bytes of HBM cannot be moved.
#axes = #tmap.axes<I = 40, J = 24, C = 3, Y = 5>
!a = !tmap.tensor<i4, "I, C, Y", #axes>
!b = !tmap.tensor<i4, "J, C, Y", #axes>
!c = !tmap.tensor<i32, "I, J", #axes>
func.func @nibbles(%a: !a, %b: !b) -> !c attributes {visa.kernel} {
  // expected-error @below {{not yet supported: no placement of this op fits the chip}}
  // expected-note @below {{candidates the first fails with: 'visa.copy' op not yet supported: a contiguous run of 20 bits}}
  %c = tmap.contract %a, %b over [C, Y] : !a, !b -> !c
  return %c : !c
}

// -----

#axes = #tmap.axes<I = 8, J = 8, K = 64>
!a = !tmap.tensor<i8, "I, K", #axes>
!b = !tmap.tensor<i8, "J, K", #axes>
!c = !tmap.tensor<i32, "I, J", #axes>
func.func @pinned(%a: !a, %b: !b) -> !c attributes {visa.kernel} {
  // expected-error @below {{not yet supported: no placement that the search knows is the pinned one}}
  // expected-note @below {{none has slice "K # 256"}}
  // expected-note-re @below {{one of {{[0-9]+}} that it knows is #tmap.placement<{{.*}}>; a clause that is left out is chosen}}
  %c = tmap.contract %a, %b over [K] {tmap.placement = #tmap.placement<slice = "K # 256">} : !a, !b -> !c
  return %c : !c
}

// -----

#axes = #tmap.axes<I = 8, J = 8, K = 64>
!a = !tmap.tensor<i8, "I, K", #axes>
!b = !tmap.tensor<i8, "J, K", #axes>
!c = !tmap.tensor<i32, "I, J", #axes>
func.func @noMapping(%a: !a, %b: !b) -> !c attributes {visa.kernel} {
  // expected-error @below {{placement has slice "I / 0": }}
  %c = tmap.contract %a, %b over [K] {tmap.placement = #tmap.placement<slice = "I / 0">} : !a, !b -> !c
  return %c : !c
}

// -----

#axes = #tmap.axes<I = 8, J = 8, K = 64>
!a = !tmap.tensor<i8, "I, K", #axes>
!b = !tmap.tensor<i8, "J, K", #axes>
!c = !tmap.tensor<i32, "I, J", #axes>
func.func @noStream(%a: !a, %b: !b) -> !c attributes {visa.kernel} {
  // expected-error @below {{placement has stream "both", expected "lhs" or "rhs"}}
  %c = tmap.contract %a, %b over [K] {tmap.placement = #tmap.placement<stream = "both">} : !a, !b -> !c
  return %c : !c
}

// -----

#axes = #tmap.axes<I = 8>
!a = !tmap.tensor<i32, "I", #axes>
func.func @loop(%a: !a) -> !a attributes {visa.kernel} {
  // expected-error @below {{not yet supported: this op in a kernel of tensors}}
  %c0 = arith.constant 0 : index
  return %a : !a
}

// -----

#axes = #tmap.axes<I = 8>
!a = !tmap.tensor<i32, "I", #axes>
// expected-error @below {{not yet supported: 'index' in a kernel of tensors}}
func.func @scalar(%a: !a, %n: index) -> !a attributes {visa.kernel} {
  return %a : !a
}

// -----

#axes = #tmap.axes<I = 8>
#more = #tmap.axes<I = 8, J = 8>
!a = !tmap.tensor<i32, "I", #axes>
!b = !tmap.tensor<i32, "I", #more>
// expected-error @below {{TM-2: tensors over #tmap.axes<I = 8> and over #tmap.axes<I = 8, J = 8>; declare all axes of a kernel once}}
func.func @axes(%a: !a, %b: !b) -> !a attributes {visa.kernel} {
  return %a : !a
}

// -----

// Nothing divides a prime into steps.
#large = #tmap.axes<I = 9973, J = 9973>
!large = !tmap.tensor<f32, "I, J", #large>
func.func @prime(%a: !large, %b: !large) -> !large attributes {visa.kernel} {
  // expected-error @below {{not yet supported: no placement of this op fits the chip}}
  // expected-note @below {{pad that axis, list another one outermost or do parts of it}}
  %c = tmap.elementwise add %a, %b : (!large, !large) -> !large
  return %c : !large
}

// -----

#odd = #tmap.axes<I = 4, J = 37>
!wide = !tmap.tensor<i32, "I, J", #odd>
!x = !tmap.tensor<i4, "I, J", #odd>
// Half a byte of a row belongs to the next.
func.func @odd(%a: !wide) -> !x attributes {visa.kernel} {
  // expected-error @below {{not yet supported: rows of 37 elements of four bits are no whole bytes; the innermost axis, J, has to be even}}
  %x = tmap.cast %a : !wide -> !x
  return %x : !x
}
