"""Compares the results of the vector examples with plain loops.

usage: vector-examples.py DIR
DIR holds rmsnorm.npy, softmax.npy and linear.npy.
"""

import math
import sys

from arrays import load, quarter


def read(name):
    return load(f"{sys.argv[1]}/{name}.npy", "f")


def compare(name, expected, tolerance):
    found = read(name)
    assert len(found) == len(expected), name
    for i, (a, b) in enumerate(zip(found, expected)):
        assert math.isclose(a, b, rel_tol=tolerance, abs_tol=1e-30), (
            f"{name}: element {i} is {a}, expected {b}")


def main():
    x, w = quarter(1, 256 * 1024), quarter(2, 1024)
    expected = []
    for n in range(256):
        row = x[1024 * n:1024 * (n + 1)]
        root = math.sqrt(math.fsum(v * v for v in row) / 1024 + 1e-6)
        expected += [v * f / root for v, f in zip(row, w)]
    compare("rmsnorm", expected, 1e-6)

    x = quarter(3, 256 * 100)
    expected = []
    for n in range(256):
        row = x[100 * n:100 * (n + 1)]
        powers = [math.exp(v - max(row)) for v in row]
        expected += [v / math.fsum(powers) for v in powers]
    compare("softmax", expected, 1e-6)

    a, b, bias = quarter(4, 512 * 64), quarter(5, 512 * 64), quarter(6, 512)
    expected = []
    rows = [a[64 * i:64 * (i + 1)] for i in range(512)]
    columns = [b[64 * j:64 * (j + 1)] for j in range(512)]
    for row in rows[::16]:
        for j, column in enumerate(columns):
            total = sum(p * q for p, q in zip(row, column)) + bias[j]
            expected.append(max(total, 0.0))
    found = read("linear")
    picked = [found[512 * i + j] for i in range(0, 512, 16)
              for j in range(512)]
    # bf16 keeps eight bits.
    for i, (f, e) in enumerate(zip(picked, expected)):
        assert abs(f - e) <= abs(e) / 256, f"linear: {i} is {f}, expected {e}"


main()
