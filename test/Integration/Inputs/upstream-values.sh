# upstream-values.sh EXAMPLES OUT
for name in constant_add elementwise_mul gemm_bf16 gemm_i8 gemv_tiled; do
  before=$1/$name.mlir after=$2.$name.mlir
  furiosa-opt-mlir "$before" --cse --canonicalize --loop-invariant-code-motion \
    --inline --sccp --symbol-dce --cse -o "$after"
  furiosa-run "$before" random:5 random:6 > "$after.before" 2>&1 ||
    furiosa-run "$before" random:5 > "$after.before"
  furiosa-run "$after" random:5 random:6 > "$after.after" 2>&1 ||
    furiosa-run "$after" random:5 > "$after.after"
  diff "$after.before" "$after.after"
  furiosa-run "$after" --check | grep 'interpreter and simulator agree'
done
