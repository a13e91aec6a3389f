#!/usr/bin/env python3
"""Holds the time to parse, check, print and lower kernels against bounds.

  ir.py BIN [MLIR_OPT]

BIN has furiosa-opt-mlir. Runs that are compared alternate, and each figure is
the least of several. Fails (exit code 1) where

- 100,000 visa ops, in kernels with axes of their own, take more than 0.35 of
  what mlir-opt takes for 100,000 linalg.matmul,
- convert-visa-to-lir grows faster from 1,000 to 16,000 ops than the ops to the
  power of 1.2.

Says beside the ratio what parsing and printing the same text without any check
take. Kernels are checked on other threads while this one prints, so that the ratio
depends on a second core that is free: on two that others share it was 0.28 to 0.41,
and 0.25 to 0.37 without a check. The first touch of memory, which is slow on a virtual
machine, is done ahead of the parser by another thread. All types and mappings of a kernel are over its own
axes, so that the tables of unique attributes grow with the text.
"""

import math
import os
import subprocess
import sys
import tempfile
import time

RATIO, EXPONENT = 0.35, 1.2
REPETITIONS = 3

KERNEL = """\
#axes{n} = #tmap.axes<I{n} = 32, J{n} = 32, K{n} = 64>
!a_hbm{n} = !visa.hbm<i8, element "I{n}, K{n}", #axes{n}>
!b_hbm{n} = !visa.hbm<i8, element "J{n}, K{n}", #axes{n}>
!c_hbm{n} = !visa.hbm<i32, element "I{n}, J{n}", #axes{n}>
!a{n} = !visa.dm<i8, slice "1 # 256", element "I{n}, K{n}", #axes{n}>
!b{n} = !visa.dm<i8, slice "1 # 256", element "J{n}, K{n}", #axes{n}>
!c{n} = !visa.dm<i32, slice "1 # 256", element "I{n}, J{n}", #axes{n}>
!w{n} = !visa.trf<i8, slice "1 # 256", lane "J{n} % 8", element "J{n} / 8, K{n}", #axes{n}>
func.func @gemm{n}(%a: !a_hbm{n}, %b: !b_hbm{n}) -> !c_hbm{n} attributes {{visa.kernel}} {{
  %ad = visa.to_dm %a : !a_hbm{n} -> !a{n}
  %bd = visa.to_dm %b : !b_hbm{n} -> !b{n}
  %w = visa.chain sub -> !w{n} {{
    fetch %bd time "J{n} % 8, J{n} / 8" packet "K{n}" : !b{n}
    collect time "J{n} % 8, J{n} / 8, K{n} / 32" packet "K{n} % 32"
    to_trf lane "J{n} % 8" element "J{n} / 8, K{n}"
  }}
  %c = visa.chain main -> !c{n} {{
    fetch %ad time "I{n}" packet "K{n}" : !a{n}
    collect time "I{n}, K{n} / 32" packet "K{n} % 32"
    contract_outer %w time "I{n}, J{n} / 8" packet "K{n}" : !w{n}
    contract_packet packet "1"
    contract_time time "I{n}, J{n} / 8"
    contract_lane interleaved time "I{n}, J{n} / 8" packet "J{n} % 8"
    commit_trim packet "J{n} % 8"
    commit element "I{n}, J{n}"
  }}
  %o = visa.to_hbm %c : !c{n} -> !c_hbm{n}
  return %o : !c_hbm{n}
}}
"""
OPS = 16  # Of visa in the kernel.
UNCHECKED = ["--mlir-very-unsafe-disable-verifier-on-parsing",
             "--mlir-print-assume-verified"]

LINALG = """\
func.func @matmul{n}(%a: tensor<{m}x64xf32>, %b: tensor<64x32xf32>, %c: tensor<{m}x32xf32>) -> tensor<{m}x32xf32> {{
{body}  return %r{last} : tensor<{m}x32xf32>
}}
"""


def visa(ops):
    return "".join(KERNEL.format(n=n) for n in range(-(-ops // OPS)))


def linalg(ops):
    """The ops in functions of as many ops each, with shapes of their own."""
    text = []
    for n in range(-(-ops // OPS)):
        m, body, last = n + 1, "", "%c"
        for i in range(OPS):
            body += (f"  %r{i} = linalg.matmul ins(%a, %b : tensor<{m}x64xf32>, "
                     f"tensor<64x32xf32>) outs({last} : tensor<{m}x32xf32>) "
                     f"-> tensor<{m}x32xf32>\n")
            last = f"%r{i}"
        text.append(LINALG.format(n=n, m=m, body=body, last=OPS - 1))
    return "".join(text)


def seconds(command):
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def least(commands):
    """The least time of each command, which take turns."""
    times = [[] for _ in commands]
    for _ in range(REPETITIONS):
        for command, list_ in zip(commands, times):
            list_.append(seconds(command))
    return [min(list_) for list_ in times]


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    opt = os.path.join(sys.argv[1], "furiosa-opt-mlir")
    reference = sys.argv[2] if len(sys.argv) == 3 else "mlir-opt"
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        def write(name, text):
            path = os.path.join(folder, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            return path

        texts = [write("visa.mlir", visa(100000)),
                 write("linalg.mlir", linalg(100000))]
        ours, floor, theirs = least([
            [opt, texts[0], "-o", os.devnull],
            [opt, texts[0], *UNCHECKED, "-o", os.devnull],
            [reference, texts[1], "-o", os.devnull]])
        print(f"100,000 ops: visa {ours:.2f} s, linalg.matmul {theirs:.2f} s, "
              f"ratio {ours / theirs:.2f} (at most {RATIO})")
        print(f"parsed and printed without a check: {floor:.2f} s, ratio "
              f"{floor / theirs:.2f}")
        print("bytes an op: " + ", ".join(
            f"{name} {os.path.getsize(text) / 100000:.0f}"
            for name, text in zip(["visa", "linalg.matmul"], texts)))
        if ours > RATIO * theirs:
            faults.append("parse, check and print")

        sizes = [1000, 2000, 4000, 8000, 16000]
        paths = [write(f"visa{size}.mlir", visa(size)) for size in sizes]
        plain = least([[opt, path, "-o", os.devnull] for path in paths])
        lowered = least([[opt, path, "--convert-visa-to-lir", "-o", os.devnull]
                         for path in paths])
        for size, before, after in zip(sizes, plain, lowered):
            print(f"{size:6} ops: parsed in {before:.3f} s, lowered in "
                  f"{after:.3f} s")
        exponent = (math.log(lowered[-1] / lowered[0]) /
                    math.log(sizes[-1] / sizes[0]))
        print(f"convert-visa-to-lir grows with exponent {exponent:.2f} "
              f"(at most {EXPONENT})")
        if exponent > EXPONENT:
            faults.append("growth of convert-visa-to-lir")
    if faults:
        sys.exit("beyond its bound: " + ", ".join(faults))


if __name__ == "__main__":
    main()
