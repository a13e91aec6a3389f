#!/usr/bin/env python3
"""Writes kernels of the examples at many sizes.

usage: corpus.py EXAMPLES FOLDER COUNT [--one-file]
Each is a file of its own, or all are modules of FOLDER/corpus.mlir.
"""

import os
import re
import sys


def gemm(text, i):
    # The multiplier takes 32 or 64 elements of K.
    return text.replace("K = 64", f"K = {32 * (1 + i % 2)}").replace(
        "I = 512", f"I = {32 * (1 + i % 16)}").replace(
        'slice "I / 32, J / 32"', 'slice "I / 32 # 16, J / 32"')


def vector(text, i):
    return text.replace("A = 2048", f"A = {8 * (1 + i % 256)}")


def gemv(text, i):
    tiles = 2 + i % 63
    return text.replace("131072", str(2048 * tiles)).replace(
        "1 # 64", f"1 # {tiles}").replace("1 #{!} 64", f"1 #{{!}} {tiles}").replace(
        "%c64", "%ctiles").replace("constant 64", f"constant {tiles}")


def make(examples, count):
    shapes = [("gemm_i8", gemm), ("gemm_bf16", gemm), ("constant_add", vector),
              ("elementwise_mul", vector), ("gemv_tiled", gemv)]
    for i in range(count):
        name, change = shapes[i % len(shapes)]
        with open(os.path.join(examples, name + ".mlir"), encoding="utf-8") as file:
            text = change(file.read(), i // len(shapes))
        yield f"{name}_{i}", text.replace(f"@{name}(", f"@{name}_{i}(")


def main():
    examples, folder, count = sys.argv[1:4]
    os.makedirs(folder, exist_ok=True)
    whole = []
    for i, (name, text) in enumerate(make(examples, int(count))):
        if sys.argv[4:] != ["--one-file"]:
            with open(os.path.join(folder, name + ".mlir"), "w",
                      encoding="utf-8") as file:
                file.write(text)
            continue
        # Aliases are of the whole file; a name may not end in a digit.
        whole.append(re.sub(r"([#!])(axes|\w+)\b(?=( = |[,>) ]|$))",
                            lambda m: m.group(0), text))
        for alias in set(re.findall(r"^([#!]\w+) = ", text, re.M)):
            whole[-1] = re.sub(re.escape(alias) + r"\b",
                               f"{alias}_{i}_", whole[-1])
    if whole:
        with open(os.path.join(folder, "corpus.mlir"), "w",
                  encoding="utf-8") as file:
            file.write("".join(whole))


if __name__ == "__main__":
    main()
