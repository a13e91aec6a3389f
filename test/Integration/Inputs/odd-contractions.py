#!/usr/bin/env python3
"""Runs the kernels of odd-contractions.mlir in both semantics and compares with
plain loops over indices.

usage: odd-contractions.py RUN KERNELS FOLDER
"""

import os
import struct
import subprocess
import sys

import arrays


def to_bf16(value):
    bits = struct.unpack("I", struct.pack("f", value))[0]
    bits += 0x7FFF + (bits >> 16 & 1)
    return struct.unpack("f", struct.pack("I", bits >> 16 << 16))[0]


def columns(a, b):
    # The result has a place for each k; the ones of each sum stand at its first.
    return {(i * 4 + j) * 97 + 32 * q: sum(
        (a[i * 128 + k] + 2) * b[j * 128 + k] for k in range(32 * q, 32 * q + 32))
        for i in range(6) for j in range(4) for q in range(4)}


def free_pad(a, b):
    return {i * 6 + j: sum(a[i * 64 + k] * b[j * 64 + k] for k in range(64))
            for i in range(5) for j in range(6)}


def pair(a, b, w):
    return {i * 8 + j: sum((x[i * 64 + k] - 5) * w[(j * 2 + p) * 64 + k]
                           for p, x in enumerate((a, b)) for k in range(64))
            for i in range(4) for j in range(8)}


def ring(a, w):
    return {s * 8 + j: to_bf16(sum(
        a[(s * 4 + q) * 32 + k] * w[((s * 8 + j) * 4 + q) * 32 + k]
        for q in range(4) for k in range(32)))
        for s in range(64) for j in range(8)}


def turned(a, b):
    return {j * 16 + i: (sum(a[i * 64 + k] * b[j * 64 + k] for k in range(64))
                         + 128) % 256 - 128
            for j in range(8) for i in range(16)}


def looked_up(a):
    return {(s * 4 + b) * 28 + c * 8 + d: a[(s * 4 + b) * 32 + c * 8 + d]
            for s in range(256) for b in range(4) for c in range(4)
            for d in range(4)}


def levels(count):
    """The fill bits:3 in f4E2M1FN."""
    magnitudes = (0, 0.5, 1, 1.5, 2, 3, 4, 6)
    return [(-1 if bits & 8 else 1) * magnitudes[bits & 7]
            for bits in arrays.low_words(3, count)]


small, quarter = arrays.small, arrays.quarter
CASES = (
    (columns, "i", ("small:1", "small:2"), (small(1, 768), small(2, 512))),
    (free_pad, "i", ("small:1", "small:2"), (small(1, 320), small(2, 384))),
    (pair, "i", ("small:1", "small:2", "small:3"),
     (small(1, 256), small(2, 256), small(3, 1024))),
    (ring, "f", ("quarter:1", "quarter:2"),
     (quarter(1, 8192), quarter(2, 65536))),
    (turned, "b", ("small:1", "small:2"), (small(1, 1024), small(2, 512))),
    (looked_up, "f", ("bits:3",), (levels(256 * 128),)),
)

folder = sys.argv[3]
os.makedirs(folder, exist_ok=True)
compared = 0
for loops, code, fills, inputs in CASES:
    name = loops.__name__
    path = os.path.join(folder, name + ".npy")
    subprocess.run([sys.argv[1], sys.argv[2], "--kernel", name, "--check",
                    *fills, "--out", "result0=" + path],
                   check=True, stdout=subprocess.DEVNULL)
    found = arrays.load(path, code)
    for place, value in loops(*inputs).items():
        assert found[place] == value, (name, place, found[place], value)
        compared += 1
print(f"{len(CASES)} kernels, {compared} values")
