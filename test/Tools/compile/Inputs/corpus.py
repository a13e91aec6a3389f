#!/usr/bin/env python3
"""Writes kernels of the examples at many sizes.

usage: corpus.py EXAMPLES FOLDER COUNT [--one-file] [--tensors]
Each is a file of its own, or all are modules of FOLDER/corpus.mlir. With
--tensors they are functions of tensors.
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


def scale_axis(name, sizes):
    """Gives an axis of a tensor kernel other sizes."""
    def change(text, i):
        return re.sub(rf"(?<=\b{name} = )\d+", str(sizes[i % len(sizes)]), text)
    return change


SHAPES = [("gemm_i8", "gemm_i8", gemm), ("gemm_bf16", "gemm_bf16", gemm),
          ("constant_add", "constant_add", vector),
          ("elementwise_mul", "elementwise_mul", vector),
          ("gemv_tiled", "gemv_tiled", gemv)]
TENSOR_SHAPES = [
    ("tmap_gemm", "gemm", scale_axis("I", range(64, 1024, 64))),
    ("tmap_mlp", "mlp", scale_axis("N", range(16, 256, 16))),
    ("tmap_softmax", "softmax", scale_axis("N", range(32, 512, 32)))]


def make(examples, count, shapes):
    for i in range(count):
        name, function, change = shapes[i % len(shapes)]
        with open(os.path.join(examples, name + ".mlir"), encoding="utf-8") as file:
            text = change(file.read(), i // len(shapes))
        assert f"@{function}(" in text, name
        yield f"{name}_{i}", text.replace(f"@{function}(", f"@{name}_{i}(")


def main():
    examples, folder, count, *flags = sys.argv[1:]
    shapes = TENSOR_SHAPES if "--tensors" in flags else SHAPES
    os.makedirs(folder, exist_ok=True)
    whole = []
    for i, (name, text) in enumerate(make(examples, int(count), shapes)):
        if "--one-file" not in flags:
            with open(os.path.join(folder, name + ".mlir"), "w",
                      encoding="utf-8") as file:
                file.write(text)
            continue
        # Aliases are of the whole file; a name may not end in a digit.
        whole.append(text)
        for alias in set(re.findall(r"^([#!]\w+) = ", text, re.M)):
            whole[-1] = re.sub(re.escape(alias) + r"\b",
                               f"{alias}_{i}_", whole[-1])
    if whole:
        with open(os.path.join(folder, "corpus.mlir"), "w",
                  encoding="utf-8") as file:
            file.write("".join(whole))


if __name__ == "__main__":
    main()
