"""Checks what the kernels of parallel-copy.mlir give.

parallel-copy.py FURIOSA_RUN KERNELS FOLDER [EDF_FOLDER]
"""

import array
import pathlib
import subprocess
import sys

run, kernels, folder = sys.argv[1:4]
binaries = pathlib.Path(sys.argv[4]) if len(sys.argv) > 4 else None
cases = 0


def result(kernel, code, *arguments):
    global cases
    cases += 1
    out = pathlib.Path(folder) / "out.npy"
    options = [] if binaries else ["--kernel", kernel, "--check"]
    file = str(binaries / f"{kernel}.edf") if binaries else kernels
    subprocess.run([run, *options, "--out", f"result0={out}", "--", file,
                    *map(str, arguments)], check=True)
    data = out.read_bytes()
    return list(array.array(code, data[data.index(b"\n") + 1:]))


pathlib.Path(folder).mkdir(exist_ok=True)
# As 16 bits hold it.
cells = [(k + 2**15) % 2**16 - 2**15 for k in range(256 * 8 * 24)]
assert result("whole", "h", "iota") == cells
assert result("permute", "h", "iota") == cells
for n, m in [(0, 7), (7, 0), (3, 3), (1, 2), (0, 0), (7, 7)]:
    expected = list(cells)
    for a in range(256):
        row = 24 * (8 * a + n)
        expected[24 * (8 * a + m):24 * (8 * a + m + 1)] = cells[row:row + 24]
    assert result("rows", "h", "iota", n, m) == expected, (n, m)
expected = list(cells)
for a in range(32, 64):
    row = 24 * (8 * a + 1)
    expected[24 * (8 * a + 6):24 * (8 * a + 7)] = cells[row:row + 24]
assert result("slices", "h", "iota") == expected
assert result("ragged", "f", "iota") == [
    8.0 * a + c for a in range(13) for b in range(5) for c in range(8)]
print(cases, "cases")
