// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

#axes = #tmap.axes<Y = 8, P = 4, Q = 4, R = 3, C = 16>
func.func @none(%x: !tmap.tensor<i8, "Y, C", #axes>) {
  // expected-error @below {{TM-17: the source has no axis 'Q'}}
  %v = tmap.window %x [Q = P + R] : !tmap.tensor<i8, "Y, C", #axes> -> !tmap.tensor<i8, "P, R, C", #axes>
  return
}

// -----

#axes = #tmap.axes<Y = 8, P = 4, Q = 4, R = 3, C = 16>
func.func @axis(%x: !tmap.tensor<i8, "Y, P", #axes>) {
  // expected-error @below {{TM-17: axis 'P' is of the source already; windows and taps have axes of their own}}
  %v = tmap.window %x [Y = P + R] : !tmap.tensor<i8, "Y, P", #axes> -> !tmap.tensor<i8, "P, R", #axes>
  return
}

// -----

#axes = #tmap.axes<Y = 8, P = 4, Q = 4, R = 3, C = 16>
func.func @apart(%x: !tmap.tensor<i8, "Y, C", #axes>) {
  // expected-error @below {{TM-17: windows of 'Y' are 0 apart and taps 1, expected at least 1}}
  %v = tmap.window %x [Y = P * 0 + R] : !tmap.tensor<i8, "Y, C", #axes> -> !tmap.tensor<i8, "P, R, C", #axes>
  return
}

// -----

#axes = #tmap.axes<Y = 8, P = 4, Q = 4, R = 3, C = 16>
func.func @reach(%x: !tmap.tensor<i8, "Y, C", #axes>) {
  // expected-error @below {{TM-17: windows of 'Y' reach further than 2^31 rows}}
  %v = tmap.window %x [Y = P * 9000000000 + R] : !tmap.tensor<i8, "Y, C", #axes> -> !tmap.tensor<i8, "P, R, C", #axes>
  return
}

// -----

#axes = #tmap.axes<Y = 8, P = 4, Q = 4, R = 3, C = 16>
func.func @result(%x: !tmap.tensor<i8, "Y, C", #axes>) {
  // expected-error @below {{TM-17: the result has axes P, C, expected C, P, R}}
  %v = tmap.window %x [Y = P + R] : !tmap.tensor<i8, "Y, C", #axes> -> !tmap.tensor<i8, "P, C", #axes>
  return
}

// -----

#axes = #tmap.axes<Y = 8, P = 4, Q = 4, R = 3, C = 16>
func.func @listed(%x: !tmap.tensor<i8, "Y, C", #axes>) {
  // expected-error @below {{TM-3: axis 'P' is listed twice}}
  %v = tmap.window %x [Y = P + P] : !tmap.tensor<i8, "Y, C", #axes> -> !tmap.tensor<i8, "P, C", #axes>
  return
}

// -----

#axes = #tmap.axes<Y = 8, P = 4, R = 3>
func.func @types(%x: !tmap.tensor<i8, "Y", #axes>) {
  // expected-error @below {{TM-8: element types 'i8' and 'i16' in one op; cast first}}
  %v = tmap.window %x [Y = P + R] : !tmap.tensor<i8, "Y", #axes> -> !tmap.tensor<i16, "P, R", #axes>
  return
}

// -----

#axes = #tmap.axes<Y = 8, P = 4, R = 3>
func.func @lengths(%x: !tmap.tensor<i8, "Y", #axes>) {
  // expected-error @below {{TM-17: over, at, taps, strides, dilations and starts are of one length}}
  %v = "tmap.window"(%x) {over = ["Y"], at = ["P"], taps = ["R"], strides = array<i64: 1>, dilations = array<i64>, starts = array<i64: 0>} : (!tmap.tensor<i8, "Y", #axes>) -> !tmap.tensor<i8, "P, R", #axes>
  return
}
