"""Checks what the kernels of odd-movement.mlir and odd-views.mlir give, by plain
loops.

odd-movement.py FURIOSA_RUN MOVEMENT VIEWS FOLDER
"""

import array
import pathlib
import subprocess
import sys

run, kernels, views, folder = sys.argv[1:5]
pathlib.Path(folder).mkdir(exist_ok=True)
cases = 0


def result(kernel, *arguments, output="result0", code="i"):
    global cases
    cases += 1
    out = pathlib.Path(folder) / "out.npy"
    subprocess.run([run, "--kernel", kernel, "--check", "--out",
                    f"{output}={out}", "--", kernels, *map(str, arguments)],
                   check=True, stdout=subprocess.DEVNULL)
    data = out.read_bytes()
    return list(array.array(code, data[data.index(b"\n") + 1:]))


def cells(count):
    return list(range(count))


a = cells(13 * 7 * 24)
assert result("transpose_slices", "iota") == [
    a[(i * 7 + j) * 24 + k] for j in range(7) for i in range(13)
    for k in range(24)]
assert result("padded", "iota") == a
assert result("zero_trips", "iota") == a
for n in (0, 1, 2, 13):
    expected = list(a)
    for i in range(0, n, 2):
        for j in range(168):
            expected[168 * i + j] = a[168 * (12 - i) + j]
    assert result("even_rows", "iota", n) == expected, n
q = [cells(12 * 24)[24 * i:24 * i + 24] for i in range(12)]
assert result("double_buffer", "iota") == sum(q, [])
assert result("divided", "iota") == sum(
    (q[i // 2 + i % 3] for i in range(12)), [])
assert result("selected", "iota") == sum(
    (q[11 - i if i < 6 else i] for i in range(12)), [])
for n, m in [(0, 0), (10, 3), (4, 1)]:
    expected = cells(13 * 6 * 16)
    for i in range(n, n + 3):
        for j in range(m, m + 3):
            for k in range(16):
                expected[(i * 6 + j) * 16 + k] *= 2
    assert result("block", "iota", n, m) == expected, (n, m)
for n in (0, 47, 20):
    expected = [0] * 768
    for block in range(8):
        for k in range(2):
            expected[96 * block + 4 + k] = 96 * block + 2 * n + k
    assert result("digits", "iota", n) == expected, n
for n, m in [(0, 8), (8, 8), (3, 5), (8, 0)]:
    # As far as bf16 holds them, small numbers are whole.
    expected = [0.0] * 2048
    for i in range(n):
        for j in range(i + 1, m):
            for k in range(32):
                expected[(j * 8 + i) * 32 + k] = 7.0
    assert result("nested", "const:7", "zeros", n, m, output="arg1",
                  code="f") == expected, (n, m)
for n in (0, 12, 5):
    expected = [0] * 256
    for k in range(4):
        for v in range(16):
            expected[16 * (n + k) + v] = 16 * k + v
    assert result("scatter", "iota", "iota:0:64", "zeros", n,
                  output="arg2") == expected, n
rows = [16 * (i * 4 + k) + v for i in range(3) for k in range(4)
        for v in range(16)]
assert result("lists", "iota", "iota:0:64", 0) == rows
kernels = views
R, S, T = 5, 3, 16
a = cells(R * S * T)
rows = [a[48 * r:48 * r + 48] for r in range(R)]
turned = [rows[r][16 * s + t] for s in range(S) for r in range(R)
          for t in range(T)]
assert result("two_results", "iota", code="h") == turned
assert result("two_results", "iota", output="result1", code="h") == a
assert result("mirror", "iota", code="h") == sum(rows[::-1], [])
assert result("columns", "iota", code="h") == [
    rows[r][16 * s + 4 + t] for r in range(R) for s in range(S)
    for u in range(2) for t in range(8)]
assert result("every_second", "iota", code="h") == sum(
    ([-3] * 48 if r % 2 else rows[r] for r in range(R)), [])
assert result("within", "iota", output="arg0", code="h") == sum(
    rows[:3] + rows[:2], [])
for n in (0, 1, 3, 5):
    expected = sum([rows[4 - r] if r < n else rows[r] for r in range(R)], [])
    assert result("last", "iota", n, code="h") == expected, n
assert result("pad", "iota", code="h") == a
assert result("renamed", "iota", code="h") == a
assert result("corner_turn", "iota", code="h") == [
    rows[r][v] for v in range(48) for r in range(R)]
for n in range(4):
    expected = sum(rows[:4] + [rows[1] if n < 2 else rows[n]], [])
    assert result("either", "iota", n, code="h") == expected, n
rows = [list(range(64 * r, 64 * r + 64)) for r in range(8)]
for n, m in [(0, 8), (0, 4), (4, 4), (4, 5), (2, 7)]:
    expected = sum(rows[n:m], []) + [7] * (512 - 64 * (m - n))
    assert result("to_the_front", "iota", "const:7", n, m,
                  output="arg1") == expected, (n, m)
for n in (1, 3, 5):
    expected = sum(rows[8 - n:], []) + [7] * (512 - 64 * n)
    assert result("end_to_the_front", "iota", "const:7", n,
                  output="arg1") == expected, n
print(cases, "cases")
