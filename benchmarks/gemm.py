#!/usr/bin/env python3
"""Multiplications a second of a GEMM in interpreter and simulator, beside MLIR.

  gemm.py BIN [LLVM_BIN]

BIN has furiosa-run and furiosa-translate, LLVM_BIN mlir-opt and mlir-runner (by
default those of the path). 512 x 512 x 1024 in i8 and in bf16, each program on
one core; runs that are compared alternate, and a figure is the least of three.
They are whole runs: reading, checking, filling arguments, printing. The same
product as linalg.matmul goes through loops to LLVM and runs with -O3, as a user
would. Fails (exit code 1) below 50 million a second in the interpreter and 300
million in the simulator.
"""

import os
import subprocess
import sys
import tempfile
import time

ROWS, COLUMNS, DEPTH = 512, 512, 1024
BOUNDS = {"interpreter": 50e6, "simulator": 300e6}

KERNEL = """\
#axes = #tmap.axes<I = 512, J = 512, K = 1024>
!a_hbm = !visa.hbm<{type}, element "I, K", #axes>
!b_hbm = !visa.hbm<{type}, element "J, K", #axes>
!c_hbm = !visa.hbm<{sum}, element "I, J", #axes>
!a = !visa.dm<{type}, slice "I / 32, J / 32", element "I % 32, K", #axes>
!b = !visa.dm<{type}, slice "I / 32, J / 32", element "J % 32, K", #axes>
!c = !visa.dm<{sum}, slice "I / 32, J / 32", element "I % 32, J % 32", #axes>
!w = !visa.trf<{type}, slice "I / 32, J / 32", lane "J % 8", element "J / 8 % 4, K", #axes>
func.func @gemm(%a: !a_hbm, %b: !b_hbm) -> !c_hbm attributes {{visa.kernel}} {{
  %ad = visa.to_dm %a : !a_hbm -> !a
  %bd = visa.to_dm %b : !b_hbm -> !b
  %w = visa.chain sub -> !w {{
    fetch %bd time "J % 8, J / 8 % 4" packet "K" : !b
    collect time "J % 8, J / 8 % 4, K / {flit}" packet "K % {flit}"
    to_trf lane "J % 8" element "J / 8 % 4, K"
  }}
  %c = visa.chain main -> !c {{
    fetch %ad time "I % 32" packet "K" : !a
    collect time "I % 32, K / {flit}" packet "K % {flit}"
    contract_outer %w time "I % 32, K / {packet}, J / 8 % 4" packet "K % {packet}" : !w
    contract_packet packet "1"
    contract_time time "I % 32, J / 8 % 4"
    contract_lane interleaved time "I % 32, J / 8 % 4" packet "J % 8"
    commit_trim packet "J % 8"
    commit element "I % 32, J % 32"
  }}
  %o = visa.to_hbm %c : !c -> !c_hbm
  return %o : !c_hbm
}}
"""

LINALG = """\
func.func @main() -> i32 {{
  %one = arith.constant {one} : {type}
  %zero = arith.constant {zero} : {sum}
  %a = memref.alloc() : memref<512x1024x{type}>
  %b = memref.alloc() : memref<1024x512x{type}>
  %c = memref.alloc() : memref<512x512x{sum}>
  linalg.fill ins(%one : {type}) outs(%a : memref<512x1024x{type}>)
  linalg.fill ins(%one : {type}) outs(%b : memref<1024x512x{type}>)
  linalg.fill ins(%zero : {sum}) outs(%c : memref<512x512x{sum}>)
  linalg.matmul ins(%a, %b : memref<512x1024x{type}>, memref<1024x512x{type}>)
    outs(%c : memref<512x512x{sum}>)
  %r = arith.constant 0 : i32
  return %r : i32
}}
"""
PIPELINE = ["-convert-linalg-to-loops", "-convert-scf-to-cf", "-arith-expand",
            "-convert-to-llvm", "-reconcile-unrealized-casts"]
TYPES = {"i8": {"type": "i8", "sum": "i32", "flit": 32, "packet": 64,
                "one": "1", "zero": "0"},
         "bf16": {"type": "bf16", "sum": "f32", "flit": 16, "packet": 32,
                  "one": "1.0", "zero": "0.0"}}


def seconds(command):
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL,
                   preexec_fn=lambda: os.sched_setaffinity(
                       0, {min(os.sched_getaffinity(0))}))
    return time.perf_counter() - begin


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    ours = sys.argv[1]
    llvm = sys.argv[2] if len(sys.argv) == 3 else ""
    slow = []
    with tempfile.TemporaryDirectory() as folder:
        for name, words in TYPES.items():
            kernel, binary, product, lowered = (
                os.path.join(folder, name + end)
                for end in (".mlir", ".edf", "-linalg.mlir", "-llvm.mlir"))
            with open(kernel, "w", encoding="utf-8") as file:
                file.write(KERNEL.format(**words))
            with open(product, "w", encoding="utf-8") as file:
                file.write(LINALG.format(**words))
            subprocess.run([os.path.join(ours, "furiosa-translate"),
                            "--mlir-to-edf", kernel, "-o", binary], check=True)
            subprocess.run([os.path.join(llvm, "mlir-opt"), product, "-o",
                            lowered, *PIPELINE], check=True)
            run = os.path.join(ours, "furiosa-run")
            fills = ["small:1", "small:2"]
            commands = {
                "interpreter": [run, kernel, *fills],
                "simulator": [run, binary, *fills],
                "linalg": [os.path.join(llvm, "mlir-runner"), lowered, "-O3",
                           "-e", "main", "-entry-point-result=i32"]}
            times = {who: float("inf") for who in commands}
            for _ in range(3):
                for who, command in commands.items():
                    times[who] = min(times[who], seconds(command))
            for who in BOUNDS:
                rate = ROWS * COLUMNS * DEPTH / times[who]
                print(f"{name:5} {who}: {rate / 1e6:.0f} million a second, "
                      f"{times[who] / times['linalg']:.2f} of linalg")
                if rate < BOUNDS[who]:
                    slow.append(f"{who} in {name}")
    if slow:
        sys.exit("too slow: " + ", ".join(slow))


if __name__ == "__main__":
    main()
