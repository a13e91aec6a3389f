"""Checks what the kernels of branches.mlir give, for all numbers or some.

branches.py FURIOSA_RUN KERNELS FOLDER [EDF_FOLDER]
"""

import array
import pathlib
import subprocess
import sys

run, kernels, folder = sys.argv[1:4]
binaries = pathlib.Path(sys.argv[4]) if len(sys.argv) > 4 else None
ROW = 64


def result(kernel, *arguments):
    out = pathlib.Path(folder) / "out.npy"
    file = str(binaries / f"{kernel}.edf") if binaries else kernels
    options = [] if binaries else ["--kernel", kernel, "--check"]
    subprocess.run([run, *options, "--out", f"result0={out}", "--", file,
                    *map(str, arguments)], check=True)
    return list(array.array("i", out.read_bytes()[-4 * 8 * ROW:]))


def row(k):
    return list(range(ROW * k, ROW * (k + 1)))


pathlib.Path(folder).mkdir(exist_ok=True)
cases = 0
for n, m in [(0, -1), (7, 2), (3, 0), (6, 1), (7, -1)]:
    rows = [[0] * ROW for _ in range(8)]
    rows[7 - n] = row(n)
    rows[m + 1] = row(2 * m + 3)
    assert result("starts", "iota", n, m) == sum(rows, []), ("starts", n, m)
    cases += 1
for n, m in [(1, 0), (1, 4), (4, 4), (2, 3)]:
    rows = [row(k) for k in range(8)]
    for k in range(m):
        rows[n + k - 1] = row(n + k)
    assert result("window", "iota", n, m) == sum(rows, []), ("window", n, m)
    cases += 1
assert result("reverse", "iota") == sum(
    [row(7 - k) for k in range(4)] + [row(4 + k) for k in range(4)], [])
cases += 1
for n in range(-4, 5):
    for m in (0, 1, 3):
        both = n <= 0 and m == 1
        tests = [n < 2, 2 >= n, -3 * n + 2 > 3, 2 * n == 3, 2 * n != 2,
                 n <= 0 and m > 0, both, not both]
        expected = sum(([int(test)] * ROW for test in tests), [])
        assert result("tests", n, m) == expected, ("tests", n, m)
        cases += 1
print(cases, "cases")
