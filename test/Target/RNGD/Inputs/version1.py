"""Runs the files of version1/ and checks their results against plain loops.

version1.py FURIOSA_RUN FOLDER SCRATCH

The arguments are made here and the results computed here, with nothing of the
project but the program that is under test.
"""

import array
import pathlib
import re
import subprocess
import sys

program, folder, scratch = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])

CODES = {"i": "<i4", "h": "<i2", "b": "|i1", "f": "<f4"}


def write_npy(path, code, shape, values):
    header = f"{{'descr': '{CODES[code]}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little")
                     + header.encode() + array.array(code, values).tobytes())


def read_npy(path):
    data = path.read_bytes()
    assert data[:8] == b"\x93NUMPY\x01\x00", path
    start = 10 + int.from_bytes(data[8:10], "little")
    kind = re.search(rb"'descr': '[<|](..)'", data[:start]).group(1)
    result = array.array({b"i4": "i", b"i2": "h", b"f4": "f"}[kind])
    result.frombytes(data[start:])
    return list(result)


def run(name, *arguments, kernel=None):
    """The first result; an argument is a type, a shape and values."""
    files = []
    for k, (code, shape, values) in enumerate(arguments):
        files.append(scratch / f"{name}.{k}.npy")
        write_npy(files[-1], code, shape, values)
    out = scratch / f"{name}.{kernel}.out"
    subprocess.run([program, folder / f"{name}.edf", *files, "-o", out,
                    *(["--kernel", kernel] if kernel else [])],
                   check=True, stdout=subprocess.DEVNULL)
    return read_npy(out / "result0.npy")


def expect(name, found, wanted):
    assert len(found) == len(wanted), (name, len(found), len(wanted))
    for k, (f, w) in enumerate(zip(found, wanted)):
        assert f == w, f"{name}: element {k} is {f}, not {w}"
    print(name, "ok,", len(found), "elements")


def wrap(value, bits=32):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


# 2,048 numbers over the whole range of i32.
a = [wrap(k * 2654435761 + 12345) for k in range(2048)]
b = [wrap(k * 40503 - 99) for k in range(2048)]

# x + 1, saturating or not: none of these is the largest i32.
assert 2**31 - 1 not in a
expect("constant_add", run("constant_add", ("i", (2048,), a)), [x + 1 for x in a])

# The products of the small numbers fit.
small = [k % 2001 - 1000 for k in range(2048)]
other = [k * 7 % 3001 - 1500 for k in range(2048)]
expect("elementwise_mul", run("elementwise_mul", ("i", (2048,), small), ("i", (2048,), other)),
       [x * y for x, y in zip(small, other)])

# C[i][j] = sum over k of A[i][k] B[j][k]: the plain sum for pairs that take in
# every row and column, and for all elements the sums of rows and of columns.
A = [[wrap(i * 31 + k * 17 + i * k, 8) for k in range(64)] for i in range(512)]
B = [[wrap(j * 13 - k * 29 + j * k * 3, 8) for k in range(64)] for j in range(512)]
C = run("gemm_i8", ("b", (512, 64), sum(A, [])), ("b", (512, 64), sum(B, [])))
pairs = [(i, (i * 5 + n * 77) % 512) for i in range(512) for n in range(16)]
expect("gemm_i8", [C[512 * i + j] for i, j in pairs],
       [sum(x * y for x, y in zip(A[i], B[j])) for i, j in pairs])
sums_of_b = [sum(row[k] for row in B) for k in range(64)]
sums_of_a = [sum(row[k] for row in A) for k in range(64)]
expect("gemm_i8 by rows", [sum(C[512 * i:512 * i + 512]) for i in range(512)],
       [sum(x * y for x, y in zip(row, sums_of_b)) for row in A])
expect("gemm_i8 by columns", [sum(C[j::512]) for j in range(512)],
       [sum(x * y for x, y in zip(sums_of_a, row)) for row in B])

# Two copies in one file; the third kernel has no argument and defines nothing.
expect("several wide", run("several", ("i", (8,), a[:8]), kernel="inner::wide"), a[:8])
numbers = [1.0, -1.0, 0.0, 3.140625, -123.5, 2.0**-126, 255 * 2.0**120, -255 * 2.0**120]
expect("several narrow", run("several", ("f", (8,), numbers), kernel="narrow"), numbers)

# The argument is a constant, packed: 3 k - 1000.
expect("packed", run("packed"), [3 * k - 999 for k in range(2048)])

# constant_add with conditions in front of its last transfer: on PEs 0 and 1,
# by IF and by ELSE, that takes the argument instead of the sum.
expect("condition", run("condition", ("i", (2048,), a)), a[:1024] + [x + 1 for x in a[1024:]])

# y = M x in a loop over four tiles; sums of these numbers are exact in f32.
M = [[float((r * 7 + k * 11 + r * k) % 31 - 15) for k in range(64)] for r in range(8192)]
x = [float(k * 5 % 23 - 11) for k in range(64)]
expect("loop", run("loop", ("f", (8192, 64), [m for row in M for m in row]), ("f", (64,), x)),
       [sum(m * v for m, v in zip(row, x)) for row in M])

# Row k is row index[k] of a table of 256 rows of 16.
table = [float(k * 41 % 255 - 127) * 2.0**(k // 256) for k in range(256 * 16)]
index = [(k * 101 + 7) % 256 for k in range(256)]
expect("gather", run("gather", ("f", (256, 16), table), ("i", (256,), index)),
       sum([table[16 * n:16 * n + 16] for n in index], []))

# All sixteen numbers of f4e2m1 through a table to f8e4m3, and from there to f32.
numbers = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]
numbers += [-x for x in numbers]
f4 = [numbers[(k * 7 + k // 16) % 16] for k in range(4096)]
expect("lookup", run("lookup", ("f", (256, 16), f4)), f4)

# From slice to slice within a PE, between PEs and between the two clusters, with
# barriers in between.
words = [wrap(k * 48271 + 11, 16) for k in range(2048)]
expect("two_clusters", run("two_clusters", ("h", (256, 8), words)), words)
