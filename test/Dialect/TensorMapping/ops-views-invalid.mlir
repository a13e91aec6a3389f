// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

#axes = #tmap.axes<I = 8, J = 4, A = 32>
func.func @padded(%x: !tmap.tensor<f32, "I, J # 8", #axes>) {
  // expected-error @below {{TM-15: "I, J # 8" does not list whole axes without padding; a tmap.move to "I, J" does}}
  %r = tmap.reshape %x : !tmap.tensor<f32, "I, J # 8", #axes> -> !tmap.tensor<f32, "A", #axes>
  return
}

// -----

#axes = #tmap.axes<I = 8, J = 4>
func.func @count(%x: !tmap.tensor<f32, "I, J", #axes>) {
  // expected-error @below {{TM-15: the source has 32 elements, the result 8}}
  %r = tmap.reshape %x : !tmap.tensor<f32, "I, J", #axes> -> !tmap.tensor<f32, "I", #axes>
  return
}

// -----

#axes = #tmap.axes<I = 8, J = 4>
func.func @types(%x: !tmap.tensor<f32, "I, J", #axes>) {
  // expected-error @below {{TM-8: element types 'f32' and 'i32' in one op; cast first}}
  %r = tmap.reshape %x : !tmap.tensor<f32, "I, J", #axes> -> !tmap.tensor<i32, "I, J", #axes>
  return
}

// -----

#axes = #tmap.axes<W = 8, D = 4, T = 6>
func.func @index(%t: !tmap.tensor<f32, "W, D", #axes>, %i: !tmap.tensor<i16, "T", #axes>) {
  // expected-error @below {{TM-16: the index is of i32, found 'i16'}}
  %r = tmap.gather %t by %i over [W] : !tmap.tensor<f32, "W, D", #axes>, !tmap.tensor<i16, "T", #axes> -> !tmap.tensor<f32, "T, D", #axes>
  return
}

// -----

#axes = #tmap.axes<W = 8, D = 4, T = 6>
func.func @key(%t: !tmap.tensor<f32, "W, D", #axes>, %i: !tmap.tensor<i32, "T", #axes>) {
  // expected-error @below {{TM-16: the table has no axis 'T'}}
  %r = tmap.gather %t by %i over [T] : !tmap.tensor<f32, "W, D", #axes>, !tmap.tensor<i32, "T", #axes> -> !tmap.tensor<f32, "T, D", #axes>
  return
}

// -----

#axes = #tmap.axes<W = 8, D = 4, T = 6>
func.func @shared(%t: !tmap.tensor<f32, "W, D", #axes>, %i: !tmap.tensor<i32, "T, D", #axes>) {
  // expected-error @below {{TM-16: axis 'D' is of the index and of the table; a row is read whole}}
  %r = tmap.gather %t by %i over [W] : !tmap.tensor<f32, "W, D", #axes>, !tmap.tensor<i32, "T, D", #axes> -> !tmap.tensor<f32, "T, D", #axes>
  return
}

// -----

#axes = #tmap.axes<W = 8, D = 4, T = 6>
func.func @result(%t: !tmap.tensor<f32, "W, D", #axes>, %i: !tmap.tensor<i32, "T", #axes>) {
  // expected-error @below {{TM-16: the result has axes T, expected T, D}}
  %r = tmap.gather %t by %i over [W] : !tmap.tensor<f32, "W, D", #axes>, !tmap.tensor<i32, "T", #axes> -> !tmap.tensor<f32, "T", #axes>
  return
}

// -----

#axes = #tmap.axes<W = 8, D = 4, T = 6>
func.func @two(%t: !tmap.tensor<f32, "W, D", #axes>, %i: !tmap.tensor<i32, "T", #axes>) {
  // expected-error @below {{TM-16: rows lie along one axis, found 2}}
  %r = tmap.gather %t by %i over [W, D] : !tmap.tensor<f32, "W, D", #axes>, !tmap.tensor<i32, "T", #axes> -> !tmap.tensor<f32, "T", #axes>
  return
}
