// Axes, mappings and tensors keep their spelling, white space normalised.
// RUN: furiosa-opt-mlir %s --verify-roundtrip | FileCheck %s
// RUN: furiosa-opt-mlir %s --mlir-print-op-generic | furiosa-opt-mlir | FileCheck %s

#axes = #tmap.axes<N = 512, "K_1" = 64, Big = 9223372036854775807>

// CHECK-LABEL: @axes
// CHECK-SAME: none = #tmap.axes<>
// CHECK-SAME: some = #tmap.axes<N = 512, K_1 = 64, Big = 9223372036854775807>
func.func private @axes() attributes {none = #tmap.axes<>, some = #axes}

// CHECK-LABEL: @mappings
// CHECK-SAME: a = #tmap.mapping<"N / 8 % 4, K_1 # 96", #tmap.axes<{{[^>]*}}>
// CHECK-SAME: b = #tmap.mapping<"(N, [K_1]) #{!} 65536", #tmap.axes<{{[^>]*}}>
// CHECK-SAME: c = #tmap.mapping<"N #{0} 513, 2 #{*} 3", #tmap.axes<{{[^>]*}}>
// CHECK-SAME: d = #tmap.mapping<"1", #tmap.axes<{{[^>]*}}>
func.func private @mappings() attributes {
  a = #tmap.mapping<" N/8%4 ,K_1#96,", #axes>,
  b = #tmap.mapping<"( N,[ K_1 ] )#{ ! }65536", #axes>,
  c = #tmap.mapping<"N #{0} 513, 2 #{*} 3", #axes>,
  d = #tmap.mapping<"1", #axes>}

// CHECK-LABEL: @tensors
// CHECK-SAME: !tmap.tensor<bf16, "N / 8, K_1 # 96", #tmap.axes<{{[^>]*}}>
// CHECK-SAME: !tmap.tensor<i4, "N = 500 # 512", #tmap.axes<{{[^>]*}}>
// CHECK-SAME: !tmap.tensor<f8E4M3FN, "1", #tmap.axes<>>
func.func private @tensors(!tmap.tensor<bf16, "N/8, K_1 # 96", #axes>,
                           !tmap.tensor<i4, "N=500 # 512", #axes>,
                           !tmap.tensor<f8E4M3FN, "1", #tmap.axes<>>)

// One type for one spelling: the call would not verify otherwise.
// CHECK-LABEL: @interned
func.func private @callee(!tmap.tensor<i8, "N / 2", #axes>)
func.func @interned(%t: !tmap.tensor<i8, " N/2 ", #axes>) {
  call @callee(%t) : (!tmap.tensor<i8, "N /2", #axes>) -> ()
  return
}
