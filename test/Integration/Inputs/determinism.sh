# determinism.sh EXAMPLES OUT
kernels="$1/gemm_i8.mlir $1/gemv_tiled.mlir"
furiosa-opt-mlir compile $kernels -o "$2.0" > /dev/null
for run in 1 2 3 4 5 6 7 8 9 10; do
  furiosa-opt-mlir compile $kernels -o "$2.$run" > /dev/null
  cmp "$2.0/gemm_i8.edf" "$2.$run/gemm_i8.edf"
  cmp "$2.0/gemv_tiled.edf" "$2.$run/gemv_tiled.edf"
done
