// Axes, mappings and tensors keep their spelling, white space normalised.
// RUN: furiosa-opt-mlir %s --verify-roundtrip | FileCheck %s
// RUN: furiosa-opt-mlir %s --mlir-print-op-generic | furiosa-opt-mlir | FileCheck %s

#axes = #tmap.axes<N = 512, "K_1" = 64, Big = 9223372036854775807>

// CHECK-DAG: #[[NONE:.*]] = #tmap.axes<>
// CHECK-DAG: #[[AXES:.*]] = #tmap.axes<N = 512, K_1 = 64, Big = 9223372036854775807>

// CHECK-LABEL: @axes
// CHECK-SAME: none = #[[NONE]]
// CHECK-SAME: some = #[[AXES]]
func.func private @axes() attributes {none = #tmap.axes<>, some = #axes}

// CHECK-LABEL: @mappings
// CHECK-SAME: a = #tmap.mapping<"N / 8 % 4, K_1 # 96", #[[AXES]]>
// CHECK-SAME: b = #tmap.mapping<"(N, [K_1]) #{!} 65536", #[[AXES]]>
// CHECK-SAME: c = #tmap.mapping<"N #{0} 513, 2 #{*} 3", #[[AXES]]>
// CHECK-SAME: d = #tmap.mapping<"1", #[[AXES]]>
func.func private @mappings() attributes {
  a = #tmap.mapping<" N/8%4 ,K_1#96,", #axes>,
  b = #tmap.mapping<"( N,[ K_1 ] )#{ ! }65536", #axes>,
  c = #tmap.mapping<"N #{0} 513, 2 #{*} 3", #axes>,
  d = #tmap.mapping<"1", #axes>}

// CHECK-LABEL: @tensors
// CHECK-SAME: !tmap.tensor<bf16, "N / 8, K_1 # 96", #[[AXES]]>
// CHECK-SAME: !tmap.tensor<i4, "N = 500 # 512", #[[AXES]]>
// CHECK-SAME: !tmap.tensor<f8E4M3FN, "1", #[[NONE]]>
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
