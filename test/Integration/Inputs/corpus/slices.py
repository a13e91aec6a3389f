"""Compares the results of slices.mlir with plain loops.

usage: slices.py DIR
DIR holds n2.npy, n7.npy, n11.npy and n12.npy; arguments are small:1, small:2.
"""

import array
import struct
import sys


def small(seed, count):
    """The fill small:SEED."""
    mask = (1 << 64) - 1
    values = []
    for n in range(count):
        z = (seed + (n + 1) * 0x9E3779B97F4A7C15) & mask
        z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & mask
        values.append(((z ^ z >> 31) >> 32) % 16 - 8)
    return values


def load(name, code):
    with open(f"{sys.argv[1]}/{name}.npy", "rb") as file:
        content = file.read()
    values = array.array(code)
    values.frombytes(content[10 + struct.unpack_from("<H", content, 8)[0]:])
    return values


def compare(name, code, expected):
    found = load(name, code)
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
