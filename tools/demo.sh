#!/usr/bin/env bash
# Compiles one kernel with every level written to a file, runs it, and shows
# what came out.
#   demo.sh BIN KERNEL.mlir OUTPUT
set -euo pipefail
bin=$1 kernel=$2 out=$3
name=$(basename "$kernel" .mlir)
mkdir -p "$out"

opt="$bin/furiosa-opt-mlir"
"$opt" "$kernel" -o "$out/$name.visa.mlir"
"$opt" "$kernel" --convert-visa-to-lir --canonicalize -o "$out/$name.lir.mlir"
"$opt" "$out/$name.lir.mlir" --convert-lir-to-resource -o "$out/$name.unscheduled.mlir"
"$opt" "$out/$name.unscheduled.mlir" --resource-schedule --resource-verify-schedule \
  -o "$out/$name.resource.mlir"
"$bin/furiosa-translate" --mlir-to-edf "$out/$name.resource.mlir" -o "$out/$name.edf"
"$bin/furiosa-translate" --disassemble "$out/$name.edf" -o "$out/$name.edf.txt"

echo "$name, level by level (in $out):"
ops() { grep -cE "$1" "$2" || true; }
printf '  %-9s %3d ops    %s\n' \
  visa "$(ops '^ +(%[^=]*= )?(visa\.|fetch|collect|to_|contract_|vector_|cast|commit)' "$out/$name.visa.mlir")" "$name.visa.mlir" \
  lir "$(ops '^ +(%[^=]*= )?(lir\.|fetch_|collect|trf_|vrf_|feed_|packet_|time_|lane_|vector_|cast|commit_)' "$out/$name.lir.mlir")" "$name.lir.mlir" \
  resource "$(ops '^ +(%[^=]*= )?resource\.' "$out/$name.resource.mlir")" "$name.resource.mlir" \
  EDF "$(ops '^ *[0-9]+:? ' "$out/$name.edf.txt")" "$name.edf, disassembled in $name.edf.txt"
echo
echo "EDF size     $(stat -c %s "$out/$name.edf") bytes"
sed -nE 's/.*makespan ([0-9]+) lower_bound ([0-9]+).*/makespan     \1 cycles\nlower bound  \2 cycles/p' \
  "$out/$name.resource.mlir"
echo
echo "interpreter against simulator, arguments random:1 and random:2:"
"$bin/furiosa-run" "$kernel" random:1 random:2 --check
