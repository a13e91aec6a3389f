"""Compares the results of corpus/slices.mlir with plain loops.

usage: corpus-slices.py DIR
DIR holds n2.npy, n7.npy, n11.npy and n12.npy; arguments are small:1, small:2.
"""

import struct
import sys

from arrays import load, small


def compare(name, code, expected):
    found = load(f"{sys.argv[1]}/{name}.npy", code)
    assert len(found) == len(expected), (name, len(found), len(expected))
    for i, (a, b) in enumerate(zip(found, expected)):
        assert a == b, f"{name}: element {i} is {a}, expected {b}"


def to_i8(number):
    return (number + 128) % 256 - 128


def to_bf16(number):
    """To the nearest, ties to even."""
    bits = struct.unpack("<I", struct.pack("<f", number))[0]
    bits += 0x7FFF + (bits >> 16 & 1)
    return struct.unpack("<f", struct.pack("<I", bits & 0xFFFF0000))[0]


def dot(a, b):
    return sum(p * q for p, q in zip(a, b))


def rows(values, length):
    return [values[i:i + length] for i in range(0, len(values), length)]


def main():
    m, w = rows(small(1, 64 * 4096), 4096), small(2, 4096)
    compare("n2", "b", [to_i8(dot(row, w)) for row in m] * 128)

    m, w = rows(small(1, 64 * 2048), 2048), rows(small(2, 32 * 2048), 2048)
    products = [to_i8(dot(row, column)) for row in m for column in w]
    compare("n7", "b", products * 32)

    m, n = rows(small(1, 64 * 128), 128), rows(small(2, 128 * 128), 128)
    columns = list(zip(*n))
    compare("n11", "f", [to_bf16(dot(row, column)) for row in m
                         for column in columns])

    compare("n12", "b", [to_i8(dot(small(1, 32768), small(2, 32768)))])


main()
