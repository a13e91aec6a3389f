# threads.sh EXAMPLES OUT
kernels="$1/gemm_i8.mlir $1/gemv_tiled.mlir $1/softmax.mlir $1/rmsnorm.mlir"
furiosa-opt-mlir compile $kernels -j1 --no-cache -o "$2/first" > /dev/null
for run in $(seq 20); do
  for threads in 1 2; do
    rm -rf "$2/again"
    furiosa-opt-mlir compile $kernels "-j$threads" --no-cache -o "$2/again" > /dev/null
    diff -r "$2/first" "$2/again"
  done
done
test "$(ls "$2/first" | wc -l)" = 4
# Passes on the commands of one kernel as well.
for kernel in $kernels; do
  furiosa-opt-mlir "$kernel" --furiosa-pipeline --mlir-disable-threading -o "$2/alone.mlir"
  for run in $(seq 20); do
    furiosa-opt-mlir "$kernel" --furiosa-pipeline -o "$2/threads.mlir"
    cmp "$2/alone.mlir" "$2/threads.mlir"
  done
done
