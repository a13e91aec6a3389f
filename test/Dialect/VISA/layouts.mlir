// The worked examples of the layout check: HBM to data memory, L1 to L13.
// RUN: furiosa-opt-mlir %s -split-input-file -verify-diagnostics

#axes = #tmap.axes<A = 8, B = 3>
func.func @l1(%a: !visa.hbm<i32, element "A, B", #axes>) attributes {visa.kernel} {
  // The stride of 12 bytes in HBM is what the lowering refuses (L8).
  // expected-error @below {{MM-28: a run of 12 bytes}}
  %d = visa.to_dm %a : !visa.hbm<i32, element "A, B", #axes> -> !visa.dm<i32, slice "1 # 256", element "A, B # 8", #axes>
  return
}

// -----

#axes = #tmap.axes<A = 3>
func.func @l2(%a: !visa.hbm<i32, element "A # 16", #axes>) attributes {visa.kernel} {
  %d = visa.to_dm %a : !visa.hbm<i32, element "A # 16", #axes> -> !visa.dm<i32, slice "1 # 256", element "A # 16", #axes>
  return
}

// -----

#axes = #tmap.axes<A = 1>
func.func @l3(%a: !visa.hbm<i32, element "A", #axes>, %b: !visa.hbm<i32, element "A", #axes>) attributes {visa.kernel} {
  // expected-error @below {{MM-28: a run of 4 bytes}}
  %d = visa.to_dm %a : !visa.hbm<i32, element "A", #axes> -> !visa.dm<i32, slice "1 # 256", element "A", #axes>
  visa.copy %a into %b : !visa.hbm<i32, element "A", #axes>, !visa.hbm<i32, element "A", #axes>
  return
}

// -----

#axes = #tmap.axes<A = 8, B = 4, Cl = 2, Sl = 4>
func.func @l4(%a: !visa.hbm<i32, element "Cl, Sl, A, B", #axes>) attributes {visa.kernel} {
  %d = visa.to_dm %a : !visa.hbm<i32, element "Cl, Sl, A, B", #axes> -> !visa.dm<i32, cluster "Cl", slice "Sl # 256", element "A, B", #axes>
  return
}

// -----

#axes = #tmap.axes<A = 4096, B = 8>
func.func @l6(%a: !visa.hbm<f4E2M1FN, element "A, B", #axes>, %b: !visa.hbm<i8, element "A, B", #axes>) attributes {visa.kernel} {
  %d = visa.to_dm %a : !visa.hbm<f4E2M1FN, element "A, B", #axes> -> !visa.dm<f4E2M1FN, slice "A / 16", element "A / 8 % 2, A % 8, B", #axes>
  // L13.
  %e = visa.to_dm %b : !visa.hbm<i8, element "A, B", #axes> -> !visa.dm<i8, slice "A / 16", element "A / 8 % 2, A % 8, B", #axes>
  return
}

// -----

#axes = #tmap.axes<PA = 256, PC = 5>
func.func @l7(%a: !visa.hbm<i32, element "PA, PC # 8", #axes>, %b: !visa.hbm<i32, element "PA, PC", #axes>) attributes {visa.kernel} {
  %d = visa.to_dm %a : !visa.hbm<i32, element "PA, PC # 8", #axes> -> !visa.dm<i32, slice "PA", element "PC # 8", #axes>
  // L8.
  // expected-error @below {{MM-28: a run of 20 bytes}}
  %e = visa.to_dm %b : !visa.hbm<i32, element "PA, PC", #axes> -> !visa.dm<i32, slice "PA", element "PC # 8", #axes>
  return
}

// -----

#axes = #tmap.axes<A = 16, B = 8, C = 4>
func.func @l10(%a: !visa.hbm<f32, element "A, B, C", #axes>, %b: !visa.hbm<f32, element "A, C, B", #axes>) attributes {visa.kernel} {
  visa.copy %a into %b : !visa.hbm<f32, element "A, B, C", #axes>, !visa.hbm<f32, element "A, C, B", #axes>
  return
}

// -----

#axes = #tmap.axes<Feat = 128, Quad = 4>
func.func @l11(%a: !visa.hbm<bf16, element "Feat, Quad", #axes>) attributes {visa.kernel} {
  %d = visa.to_dm %a : !visa.hbm<bf16, element "Feat, Quad", #axes> -> !visa.dm<bf16, slice "Feat, 2", element "Quad", #axes>
  return
}

// -----

#axes = #tmap.axes<A = 2048>
func.func @l12(%a: !visa.hbm<i8, element "A", #axes>) attributes {visa.kernel} {
  %d = visa.to_dm %a : !visa.hbm<i8, element "A", #axes> -> !visa.dm<i8, slice "A / 8", element "A % 8", #axes>
  return
}
