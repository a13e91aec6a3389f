"""Checks what the kernels of starts.mlir give, for many numbers.

starts.py FURIOSA_RUN KERNELS FOLDER [EDF_FOLDER]
"""

import array
import pathlib
import subprocess
import sys

run, kernels, folder = sys.argv[1:4]
binaries = pathlib.Path(sys.argv[4]) if len(sys.argv) > 4 else None
ROW = 64
cases = 0


def results(kernel, count, *arguments):
    global cases
    cases += 1
    outs = [pathlib.Path(folder) / f"out{k}.npy" for k in range(count)]
    options = [] if binaries else ["--kernel", kernel, "--check"]
    for k, out in enumerate(outs):
        options += ["--out", f"result{k}={out}"]
    file = str(binaries / f"{kernel}.edf") if binaries else kernels
    subprocess.run([run, *options, "--", file, *map(str, arguments)],
                   check=True)
    # The header of a .npy ends in a line feed.
    return [list(array.array("i", data[data.index(b"\n") + 1:]))
            for data in (out.read_bytes() for out in outs)]


def row(k, more=0):
    return [value + more for value in range(ROW * k, ROW * (k + 1))]


pathlib.Path(folder).mkdir(exist_ok=True)
for n, m in [(1, -1), (5, 2), (3, 0), (1, 2), (5, -1)]:
    rows = [[-1] * ROW for _ in range(8)]
    rows[7 - n] = row(n)
    rows[m + 1] = row(n + m)
    assert results("transfers", 1, "iota", n, m) == [sum(rows, [])], (n, m)
for n, m in [(0, 0), (7, 7), (0, 7), (7, 0), (3, 4)]:
    rows = [row(k) for k in range(8)]
    rows[m] = row(n, 1)
    assert results("chains", 1, "iota", n, m) == [sum(rows, [])], (n, m)
    if m == 7:
        continue
    rows = [a + b for a, b in zip(row(n), row(m + 1))]
    assert results("register_file", 1, "iota", n, m) == [rows], (n, m)
for n in range(9):
    rows = [row(k, 1000 * (k < n)) for k in range(8)]
    assert results("loop", 1, "iota", n) == [sum(rows, [])], n
for n, m in [(0, 0), (0, 8), (7, 8), (7, 2), (1, 6), (2, 7)]:
    steps, rest, corner, between = (
        [[0] * ROW for _ in range(8)] for _ in range(4))
    for i in range(1, m, 2):
        steps[i] = row(i)
    for i in range(n, m):
        between[i] = row(i)
    for i in range(n, 8):
        rest[i] = row(i)
    for i in range(4):
        for j in range(i + 1):
            corner[i - j + 4] = row(j)
        for j in range(m - 4 - i):
            corner[i] = row(j)
    expected = [sum(rows, []) for rows in (steps, rest, corner, between)]
    assert results("bounds", 4, "iota", n, m) == expected, (n, m)
for n in range(-2, 3):
    for m in range(4):
        either = 2 * m - 3 * n > 1 or n == -2
        tests = [n < m, n == m, n != m, either, not either,
                 not (n < m and m < 3), (n < m) != (m < 3), 0 <= n < m]
        expected = sum(([int(test)] * ROW for test in tests), [])
        assert results("tests", 1, n, m) == [expected], (n, m)
for n in range(5):
    got = [16 * (2 * n + k) + v for k in range(4) for v in range(16)]
    assert results("gather", 1, "iota", "iota:0:64", n) == [got], n
print(cases, "cases")
