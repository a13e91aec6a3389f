// Faults of tensor ops, a rule each.
// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

#axes = #tmap.axes<I = 8, K = 64>
func.func @part(%x: !tmap.tensor<i32, "K / 2", #axes>) {
  // expected-error @below {{TM-1: "K / 2" has 32 live cells, its axes K have 64 indices; a tensor holds each index once}}
  %y = tmap.elementwise add %x, %x : (!tmap.tensor<i32, "K / 2", #axes>, !tmap.tensor<i32, "K / 2", #axes>) -> !tmap.tensor<i32, "K / 2", #axes>
  return
}

// -----

#axes = #tmap.axes<I = 8, K = 64>
func.func @replicated(%x: !tmap.tensor<i32, "I, 2", #axes>) {
  // expected-error @below {{TM-1: "I, 2" has 16 live cells, its axes I have 8 indices}}
  %y = tmap.move %x : !tmap.tensor<i32, "I, 2", #axes> -> !tmap.tensor<i32, "2, I", #axes>
  return
}

// -----

#axes = #tmap.axes<I = 8>
func.func @type(%x: !tmap.tensor<f64, "I", #axes>) {
  // expected-error @below {{TM-1: 'f64' is no element type of tensors of the chip}}
  %y = tmap.move %x : !tmap.tensor<f64, "I", #axes> -> !tmap.tensor<f64, "I", #axes>
  return
}

// -----

#axes = #tmap.axes<I = 8>
func.func @wide(%x: !tmap.tensor<i9, "I", #axes>) {
  // expected-error @below {{TM-1: 'i9' is no element type of tensors of the chip}}
  %y = tmap.move %x : !tmap.tensor<i9, "I", #axes> -> !tmap.tensor<i9, "I", #axes>
  return
}

// -----

#axes = #tmap.axes<I = 8>
#more = #tmap.axes<I = 8, J = 2>
func.func @declarations(%x: !tmap.tensor<i32, "I", #axes>, %y: !tmap.tensor<i32, "I", #more>) {
  // expected-error @below {{TM-2: tensors over #tmap.axes<I = 8> and over #tmap.axes<I = 8, J = 2>; declare all axes of a kernel once}}
  %z = tmap.elementwise add %x, %y : (!tmap.tensor<i32, "I", #axes>, !tmap.tensor<i32, "I", #more>) -> !tmap.tensor<i32, "I", #axes>
  return
}

// -----

#axes = #tmap.axes<I = 8>
func.func @none(%x: !tmap.tensor<i32, "I", #axes>) {
  // expected-error @below {{TM-3: no axis to fold over}}
  %y = tmap.reduce max %x over [] : !tmap.tensor<i32, "I", #axes> -> !tmap.tensor<i32, "I", #axes>
  return
}

// -----

#axes = #tmap.axes<I = 8>
func.func @unknown(%x: !tmap.tensor<i32, "I", #axes>) {
  // expected-error @below {{TM-3: axis 'Q' is not declared; declared are #tmap.axes<I = 8>}}
  %y = tmap.reduce max %x over [Q] : !tmap.tensor<i32, "I", #axes> -> !tmap.tensor<i32, "1", #axes>
  return
}

// -----

#axes = #tmap.axes<I = 8>
func.func @twice(%x: !tmap.tensor<i32, "I", #axes>) {
  // expected-error @below {{TM-3: axis 'I' is listed twice}}
  %y = tmap.reduce max %x over [I, I] : !tmap.tensor<i32, "I", #axes> -> !tmap.tensor<i32, "1", #axes>
  return
}

// -----

#axes = #tmap.axes<I = 8, J = 8, K = 64>
func.func @summed(%a: !tmap.tensor<i8, "I, K", #axes>, %b: !tmap.tensor<i8, "J", #axes>) {
  // expected-error @below {{TM-4: axis 'K' is summed, but rhs "J" does not have it}}
  %c = tmap.contract %a, %b over [K] : !tmap.tensor<i8, "I, K", #axes>, !tmap.tensor<i8, "J", #axes> -> !tmap.tensor<i32, "I, J", #axes>
  return
}

// -----

#axes = #tmap.axes<I = 8, J = 8, K = 64>
func.func @axes(%a: !tmap.tensor<i8, "I, K", #axes>, %b: !tmap.tensor<i8, "J, K", #axes>) {
  // expected-error @below {{TM-4: the result has axes I, expected I, J}}
  %c = tmap.contract %a, %b over [K] : !tmap.tensor<i8, "I, K", #axes>, !tmap.tensor<i8, "J, K", #axes> -> !tmap.tensor<i32, "I", #axes>
  return
}

// -----

#axes = #tmap.axes<I = 8, J = 8, K = 64>
func.func @pair(%a: !tmap.tensor<i8, "I, K", #axes>, %b: !tmap.tensor<i4, "J, K", #axes>) {
  // expected-error @below {{TM-5: the multiplier takes two of i4, i8, f8E4M3FN, f8E5M2 or bf16, found 'i8' and 'i4'; cast first}}
  %c = tmap.contract %a, %b over [K] : !tmap.tensor<i8, "I, K", #axes>, !tmap.tensor<i4, "J, K", #axes> -> !tmap.tensor<i32, "I, J", #axes>
  return
}

// -----

#axes = #tmap.axes<I = 8, J = 8, K = 64>
func.func @sum(%a: !tmap.tensor<bf16, "I, K", #axes>, %b: !tmap.tensor<bf16, "J, K", #axes>) {
  // expected-error @below {{TM-6: products of 'bf16' are summed in 'f32', the result is of 'bf16'; narrow it with tmap.cast}}
  %c = tmap.contract %a, %b over [K] : !tmap.tensor<bf16, "I, K", #axes>, !tmap.tensor<bf16, "J, K", #axes> -> !tmap.tensor<bf16, "I, J", #axes>
  return
}

// -----

#axes = #tmap.axes<I = 8>
func.func @narrow(%x: !tmap.tensor<bf16, "I", #axes>) {
  // expected-error @below {{TM-7: functions are of i32 or f32, found 'bf16'; cast first}}
  %y = tmap.elementwise add %x, %x : (!tmap.tensor<bf16, "I", #axes>, !tmap.tensor<bf16, "I", #axes>) -> !tmap.tensor<bf16, "I", #axes>
  return
}

// -----

#axes = #tmap.axes<I = 8>
func.func @arity(%x: !tmap.tensor<f32, "I", #axes>) {
  // expected-error @below {{TM-7: 'exp' takes 1 operands, found 2}}
  %y = tmap.elementwise exp %x, %x : (!tmap.tensor<f32, "I", #axes>, !tmap.tensor<f32, "I", #axes>) -> !tmap.tensor<f32, "I", #axes>
  return
}

// -----

#axes = #tmap.axes<I = 8>
func.func @function(%x: !tmap.tensor<i32, "I", #axes>) {
  // expected-error @below {{TM-7: no function 'exp' of 'i32'}}
  %y = tmap.elementwise exp %x : (!tmap.tensor<i32, "I", #axes>) -> !tmap.tensor<i32, "I", #axes>
  return
}

// -----

// The multiplier is no choice of this level.
#axes = #tmap.axes<I = 8>
func.func @unit(%x: !tmap.tensor<f32, "I", #axes>) {
  // expected-error @below {{TM-7: no function 'mul1' of 'f32'}}
  %y = tmap.elementwise mul1 %x, %x : (!tmap.tensor<f32, "I", #axes>, !tmap.tensor<f32, "I", #axes>) -> !tmap.tensor<f32, "I", #axes>
  return
}

// -----

func.func @empty() {
  // expected-error @below {{TM-7: a function of no operands}}
  %y = tmap.elementwise add : () -> !tmap.tensor<i32, "1", #tmap.axes<>>
  return
}

// -----

#axes = #tmap.axes<I = 8>
func.func @types(%x: !tmap.tensor<i32, "I", #axes>, %y: !tmap.tensor<f32, "I", #axes>) {
  // expected-error @below {{TM-8: element types 'i32' and 'f32' in one op; cast first}}
  %z = tmap.elementwise add %x, %y : (!tmap.tensor<i32, "I", #axes>, !tmap.tensor<f32, "I", #axes>) -> !tmap.tensor<i32, "I", #axes>
  return
}

// -----

#axes = #tmap.axes<I = 8, J = 4>
func.func @broadcast(%x: !tmap.tensor<i32, "I", #axes>, %y: !tmap.tensor<i32, "J", #axes>) {
  // expected-error @below {{TM-9: the result has axes I, expected I, J}}
  %z = tmap.elementwise add %x, %y : (!tmap.tensor<i32, "I", #axes>, !tmap.tensor<i32, "J", #axes>) -> !tmap.tensor<i32, "I", #axes>
  return
}

// -----

#axes = #tmap.axes<I = 8, J = 4>
func.func @lacks(%x: !tmap.tensor<i32, "I", #axes>) {
  // expected-error @below {{TM-10: axis 'J' is folded, but the source "I" does not have it}}
  %y = tmap.reduce max %x over [J] : !tmap.tensor<i32, "I", #axes> -> !tmap.tensor<i32, "I", #axes>
  return
}

// -----

#axes = #tmap.axes<I = 8, J = 4>
func.func @kept(%x: !tmap.tensor<i32, "I, J", #axes>) {
  // expected-error @below {{TM-10: the result has axes I, J, expected I}}
  %y = tmap.reduce max %x over [J] : !tmap.tensor<i32, "I, J", #axes> -> !tmap.tensor<i32, "I, J", #axes>
  return
}

// -----

#axes = #tmap.axes<I = 8>
func.func @fold(%x: !tmap.tensor<i32, "I", #axes>) {
  // expected-error @below {{TM-11: no reduction 'add' of 'i32'; there are add_sat, max, min of i32 and add, max, min of f32}}
  %y = tmap.reduce add %x over [I] : !tmap.tensor<i32, "I", #axes> -> !tmap.tensor<i32, "1", #axes>
  return
}

// -----

#axes = #tmap.axes<I = 8>
func.func @cast(%x: !tmap.tensor<i8, "I", #axes>) {
  // expected-error @below {{TM-12: no cast from 'i8' to 'f32'}}
  %y = tmap.cast %x : !tmap.tensor<i8, "I", #axes> -> !tmap.tensor<f32, "I", #axes>
  return
}

// -----

#axes = #tmap.axes<I = 8>
func.func @identity(%x: !tmap.tensor<i8, "I", #axes>) {
  // expected-error @below {{TM-12: no cast from 'i8' to 'i8'; a tmap.move keeps the elements}}
  %y = tmap.cast %x : !tmap.tensor<i8, "I", #axes> -> !tmap.tensor<i8, "I", #axes>
  return
}

// -----

#axes = #tmap.axes<I = 8, J = 4>
func.func @dropped(%x: !tmap.tensor<i8, "I, J", #axes>) {
  // expected-error @below {{TM-13: the result "I" lacks axis 'J' of the source}}
  %y = tmap.move %x : !tmap.tensor<i8, "I, J", #axes> -> !tmap.tensor<i8, "I", #axes>
  return
}

// -----

func.func @number() {
  // expected-error @below {{TM-14: a number of 'i32' in a tensor of 'f32'}}
  %y = tmap.constant 1 : i32 : !tmap.tensor<f32, "1", #tmap.axes<>>
  return
}

// -----

#axes = #tmap.axes<I = 8>
func.func @splat() {
  // expected-error @below {{TM-14: a constant has no axes, found "I"; operands of tmap.elementwise are replicated by axis name}}
  %y = tmap.constant 1 : i32 : !tmap.tensor<i32, "I", #axes>
  return
}
