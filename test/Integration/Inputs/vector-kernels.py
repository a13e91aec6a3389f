"""Checks what the kernels of vector-kernels.mlir give against plain loops.

vector-kernels.py FURIOSA_RUN KERNELS FOLDER

The loops go over logical indices and know nothing of layouts. Floats are
handled as 32-bit patterns, so that the sign of zero, subnormals and what is no
number are compared as well.
"""

import array
import fractions
import math
import pathlib
import struct
import subprocess
import sys

from arrays import words

run, kernels, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
LEAST, MOST = -2**31, 2**31 - 1
NAN = 0x7FC00000
checked = 0


# Patterns and numbers.
def wrap(value):
    return (value - LEAST) % 2**32 + LEAST


def clamp(value):
    return min(max(value, LEAST), MOST)


def value_of(pattern):
    return struct.unpack("<f", struct.pack("<I", pattern))[0]


def pattern_of(value):
    """The nearest f32, ties to even; a fraction is rounded once."""
    if isinstance(value, fractions.Fraction) and value:
        exponent = max(math.frexp(float(value))[1] - 24, -149)
        value = math.ldexp(round(value / fractions.Fraction(2)**exponent),
                           exponent)
    if value != value:
        return NAN
    try:
        return struct.unpack("<I", struct.pack("<f", float(value)))[0]
    except OverflowError:
        return 0x7F800000 if value > 0 else 0xFF800000


def exact(pattern):
    value = value_of(pattern)
    return fractions.Fraction(value) if math.isfinite(value) else value


def floats(function):
    """A function of numbers as one of patterns; f64 holds what is between."""
    return lambda *patterns: pattern_of(function(*map(value_of, patterns)))


add = floats(lambda a, b: a + b)
sub = floats(lambda a, b: a - b)
mul = floats(lambda a, b: a * b)


def fma(a, b, c):
    numbers = [exact(pattern) for pattern in (a, b, c)]
    if any(isinstance(number, float) for number in numbers):
        return floats(lambda a, b, c: a * b + c)(a, b, c)
    total = numbers[0] * numbers[1] + numbers[2]
    # An exact 0 has a sign, which numbers do not tell.
    return pattern_of(total) if total else floats(
        lambda a, b, c: a * b + c)(a, b, c)


def is_nan(pattern):
    return pattern & 0x7FFFFFFF > 0x7F800000


def rank(pattern):
    """Orders like the numbers, -0 below +0."""
    magnitude = pattern & 0x7FFFFFFF
    return -1 - magnitude if pattern >> 31 else magnitude


def pick(choose, a, b):
    """max or min: what is no number is dropped."""
    if is_nan(a) or is_nan(b):
        return NAN if is_nan(a) and is_nan(b) else b if is_nan(a) else a
    return choose(a, b, key=rank)


def to_fixed(pattern, width):
    """Half away from zero; what is no number counts by its sign."""
    value = value_of(pattern)
    if value != value or math.isinf(value):
        return LEAST if pattern >> 31 else MOST
    scaled = exact(pattern) * fractions.Fraction(2)**(31 - width)
    return clamp(int(math.floor(abs(scaled) + fractions.Fraction(1, 2))) *
                 (1 if scaled >= 0 else -1))


def to_bf16(pattern):
    if is_nan(pattern):
        return NAN
    if pattern & 0x7F800000 == 0:
        return pattern & 0x80000000
    return (pattern + 0x7FFF + (pattern >> 16 & 1)) & 0xFFFF0000


def of(value):
    return pattern_of(value)


# Arguments: what is special first, then anything.
SPECIAL_INTEGERS = [0, 1, -1, 7, 3, 4, -3, -4, MOST, LEAST, MOST - 1, LEAST + 1,
                    2**30, -2**30, 100, -100, 8388608, -8388608, 65536, -65537]
SPECIAL_FLOATS = [
    0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, NAN,
    0xFFC00001, 0x7FA00000, 0x00000001, 0x80000001, 0x00400000, 0x80600001,
    0x007FFFFF, 0x00800000, 0x80800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x3E800000,
    0x3F000000, 0xBF000000, 0x33800000, 0x4B800001, 0xC7000000, 0x46FFFFFF]


def integers(seed, count):
    """Special ones, small ones, and any bits."""
    values = []
    for n, word in enumerate(words(seed, count)):
        kind = word >> 8 & 3
        values.append(SPECIAL_INTEGERS[(word >> 10) % len(SPECIAL_INTEGERS)]
                      if kind == 0 else word % 33 - 16 if kind == 1 else
                      wrap(word * 2654435761))
    return values


def patterns(seed, count):
    """Special ones, quarters, and any bits."""
    values = []
    for word in words(seed, count):
        kind = word >> 8 & 3
        values.append(SPECIAL_FLOATS[(word >> 10) % len(SPECIAL_FLOATS)]
                      if kind == 0 else of((word % 33 - 16) / 4) if kind < 3
                      else word * 2654435761 & 0xFFFFFFFF)
    return values


def quarters(seed, count):
    return [of((word % 33 - 16) / 4) for word in words(seed, count)]


def save(path, values, code, shape):
    text = (f"{{'descr': '{code}', 'fortran_order': False, 'shape': "
            f"({', '.join(map(str, shape))},), }}")
    text += " " * (-(len(text) + 11) % 64) + "\n"
    kind = {"<i4": "i", "<f4": "I", "|i1": "b"}[code]
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) +
                     text.encode() + array.array(kind, values).tobytes())


def check(kernel, arguments, expected, code):
    """Runs a kernel on (values, code, shape) …; f32 and shorter floats are
    patterns of f32."""
    global checked
    files = []
    for k, argument in enumerate(arguments):
        files.append(folder / f"{kernel}.{k}.npy")
        save(files[-1], *argument)
    out = folder / f"{kernel}.out.npy"
    subprocess.run([run, "--kernel", kernel, "--check", "--out",
                    f"result0={out}", "--", kernels, *map(str, files)],
                   check=True, stdout=subprocess.DEVNULL)
    data = out.read_bytes()
    found = array.array(code, data[data.index(b"\n") + 1:]).tolist()
    assert len(found) == len(expected), (kernel, len(found), len(expected))
    for k, (a, b) in enumerate(zip(found, expected)):
        assert a == b, (f"{kernel}: element {k} is {a} ({a:#x}), "
                        f"expected {b} ({b:#x})")
    checked += 1


N, T, A = 256, 4, 8
SHAPE, COUNT = (N, T, A), N * T * A
INDICES = [(n, t, a) for n in range(N) for t in range(T) for a in range(A)]


def of_integers(seed):
    return integers(seed, COUNT), "<i4", SHAPE


def of_floats(seed, fill=patterns):
    return fill(seed, COUNT), "<f4", SHAPE


def buckets():
    x, w = integers(1, COUNT), integers(2, N * A)
    expected = []
    for (n, t, a), value in zip(INDICES, x):
        if value < -3:
            result = value * 100
        elif value < 0:
            result = value * 10
        elif value >= 4:
            # Bit 2 is 0, so that the guard !--10 admits it.
            result = value * 3
        else:
            result = value * w[n * A + a]
        result = wrap(result)
        expected.append(max(result, -500) if value < -3 else result
                        if value < 0 else max(result, 0))
    check("buckets", [(x, "<i4", SHAPE), (w, "<i4", (N, A))], expected, "i")


def exponents():
    x = of_floats(3)
    check("exponents", [x],
          [(p >> 23 & 255) - 127 + (1000 if p >> 31 else 0) for p in x[0]],
          "i")


def gelu():
    x = of_floats(4, quarters)
    tanh = floats(math.tanh)
    check("gelu", [x],
          [mul(tanh(fma(mul(p, p), of(0.044715), of(0.7978846))), p)
           for p in x[0]], "I")


def complex_product():
    x = quarters(5, COUNT * 2)
    re, im = of_floats(6), of_floats(7, quarters)
    expected = []
    for n in range(N):
        for t in range(T):
            for a in range(A):
                at = (n * T + t) * A + a
                expected.append(
                    sub(mul(x[(n * T + t) * 2 * A + a], re[0][at]),
                        mul(x[(n * T + t) * 2 * A + A + a], im[0][at])))
    check("complex", [(x, "<f4", (N, T, 2, A)), re, im], expected, "I")


def requantise():
    x = of_integers(8)
    expected = []
    for value in x[0]:
        product = (value * 1518500250 + 2**30) >> 31
        shifted = clamp(product + 8388608) >> 24
        expected.append(min(max(shifted, -128), 127))
    check("requantise", [x], expected, "b")


def saturating_rows():
    x = integers(9, N * 28)
    expected = []
    for n in range(N):
        total = 0
        for at in range(0, 28, 4):
            a, b, c, d = x[n * 28 + at:n * 28 + at + 4]
            total = clamp(total + clamp(clamp(a + b) + clamp(c + d)))
        expected.append(total)
    check("saturating_rows", [(x, "<i4", (N, 28))], expected, "i")


def greatest_of_all():
    x = patterns(10, 64 * 13 * A)
    expected = []
    for m in range(64):
        row = []
        for a in range(A):
            best = 0xFF800000
            for r in range(13):
                best = pick(max, best, x[(m * 13 + r) * A + a])
            row.append(best)
        expected += row * 4
    check("greatest_of_all", [(x, "<f4", (64, 13, A))], expected, "I")


def reduce_scatter():
    x = [word % 2001 - 1000 for word in words(11, 64 * 4 * 8 * A)]
    expected = []
    for m in range(64):
        for at in range(8 * A):
            total = sum(x[(m * 4 + r) * 8 * A + at] for r in range(4))
            other = 0 if total < 0 else -5
            expected.append(total if abs(total) > abs(other) else other)
    check("reduce_scatter", [(x, "<i4", (64, 4, 8, A))], expected, "i")


def extremes():
    x, z = of_floats(12), of_floats(13)
    check("extremes", [x, z],
          [0x80000000 if p & 0x7FFFFFFF == 0 else pick(max, p, q)
           for p, q in zip(x[0], z[0])], "I")


def fixed():
    x = of_floats(14)
    check("fixed", [x],
          [clamp(2 * to_fixed(mul(p, of(1.5)), 16)) for p in x[0]], "i")


def tiny():
    x = of_floats(15)
    expected = []
    for p in x[0]:
        value = value_of(p)
        if value > 0:
            p = mul(p, of(0.25))
        elif value < 0:
            p = mul(p, of(3.0))
        if value > 0 or value < 0:
            p = sub(of(1e-40), p)
        expected.append(mul(p, of(0.25)))
    check("tiny", [x], expected, "I")


def mixed_pair():
    x = integers(16, N * 2 * 3 * A)
    expected = []
    for n in range(N):
        for at in range(3 * A):
            first = wrap(-x[n * 48 + at])
            second = wrap(x[n * 48 + 24 + at] - 3)
            left = mul(of(fractions.Fraction(first)), of(0.5))
            right = fma(mul(of(fractions.Fraction(second)), of(0.125)),
                        of(2.0), of(1.0))
            right = floats(lambda v: math.sqrt(v) if v >= 0 else math.nan)(
                right)
            expected.append(wrap(max(to_fixed(left, 31), to_fixed(right, 31)) +
                                 7))
    check("mixed_pair", [(x, "<i4", (N, 2, 3, A))], expected, "i")


def exp(value):
    return math.inf if value > 700 else math.exp(value)


def fours():
    x = patterns(17, N * T * 4)
    check("fours", [(x, "<f4", (N, T, 4))],
          [to_bf16(pick(max, add(floats(lambda v: exp(-v))(p), of(1.0)), p))
           for p in x], "I")


def lines():
    x = of_floats(18)
    expected = []
    for p in x[0]:
        value, result = value_of(p), p
        # Mode 120: operand, second operand, stream.
        if value < -1:
            result = fma(of(2.0), of(10.0), p)
        elif value > 1:
            result = fma(of(3.0), of(-20.0), p)
        elif value != 0.25:
            result = fma(of(0.5), of(0.25), p)
        else:
            result = floats(lambda v: 1 / (1 + math.exp(-v)))(p)
        expected.append(result)
    check("lines", [x], expected, "I")


def relu6():
    a = [word % 256 - 128 for word in words(19, 256 * 32)]
    b = [word % 256 - 128 for word in words(20, 8 * 32)]
    bias = [word % 2001 - 1000 for word in words(21, 8)]
    expected = []
    for i in range(256):
        for j in range(8):
            total = sum(a[i * 32 + k] * b[j * 32 + k] for k in range(32))
            value = min(max((total + bias[j]) / 256, 0.0), 6.0)
            # f8e4m3 has three bits behind the leading one, ties to even; no
            # number here is below 2^-9, its least, other than 0.
            if value:
                step = max(math.frexp(value)[1] - 4, -9)
                value = math.ldexp(round(math.ldexp(value, -step)), step)
            expected.append(of(value))
    check("relu6", [(a, "|i1", (256, 32)), (b, "|i1", (8, 32)),
                    (bias, "<i4", (8,))], expected, "I")


def halves():
    x = integers(22, N * 2 * A)
    expected = []
    for value in x:
        kept = value | 64 if value > 3 else value
        moved = wrap(kept << 2)
        other = 100 if value > 3 else kept
        # The magnitude of the least number is not defined.
        assert LEAST not in (moved, other) or value == LEAST, value
        expected.append(moved if abs(moved) < abs(other) else other)
    check("halves", [(x, "<i4", (N, 2, A))], expected, "i")


def twos():
    x = patterns(23, N * 3 * 2)
    expected = []
    for p in x:
        result = sub(of(1.0), p)
        if value_of(p) < 0:
            # The greater magnitude; the stash on a tie or without a number.
            result = result if abs(value_of(result)) > abs(value_of(p)) else p
        expected.append(to_bf16(result))
    check("twos", [(x, "<f4", (N, 3, 2))], expected, "I")


def root_of_groups():
    x, g = quarters(24, 64 * 64), quarters(25, 64 * 4)
    expected = []
    for m in range(64):
        row = [value_of(p)**2 for p in x[m * 64:m * 64 + 64]]
        # Sums of squares of quarters are exact in any order.
        root = of(math.sqrt(sum(row) / 64))
        expected += [of(value_of(p) / value_of(root))
                     for p in g[m * 4:m * 4 + 4]]
    check("root_of_groups", [(x, "<f4", (64, 64)), (g, "<f4", (64, 4))],
          expected, "I")


def least_of_columns():
    x = integers(26, N * 6 * 18)
    expected = []
    for n in range(N):
        for at in range(18):
            column = [x[(n * 6 + r) * 18 + at] for r in range(6)]
            expected.append(wrap(1000 + min(
                wrap(5 - (value % 2**32 >> 1 if value < 0 else value))
                for value in column)))
    check("least_of_columns", [(x, "<i4", (N, 6, 3, 6))], expected, "i")


def weighted_pairs():
    x, w = quarters(27, N * 5 * 2 * A), quarters(28, A)
    expected = []
    for n in range(N):
        for a in range(A):
            best = 0xFF800000
            for t in range(5):
                left, right = (x[((n * 5 + t) * 2 + i) * A + a]
                               for i in range(2))
                right = floats(math.exp)(mul(right, of(0.5)))
                best = pick(max, best, mul(mul(left, w[a]), right))
            expected.append(pick(min, mul(best, of(0.125)), of(100.0)))
    check("weighted_pairs", [(x, "<f4", (N, 5, 2, A)), (w, "<f4", (A,))],
          expected, "I")


def turned():
    x = integers(29, N * 8 * A)
    expected = []
    for n in range(N):
        for a in range(A):
            for r in range(8):
                value = x[(n * 8 + r) * A + a]
                # Patterns above 5: all but 0 to 5. Bit 3 is always 1.
                low, above = value < -1, not 0 <= value <= 5
                result = value
                if low and above:
                    result &= 255
                elif low:
                    result &= 15
                if not above:
                    result = clamp(result << 27)
                result = clamp(result + (-2147483647 if low else value))
                expected.append(min(result, 1000000000))
    check("turned", [(x, "<i4", (N, 8, A))], expected, "i")


def products():
    x = quarters(30, 32 * 8 * A)
    expected = []
    for m in range(32):
        for a in range(A):
            # Products of eight quarters are exact.
            result = of(1.0)
            for r in range(8):
                result = mul(result, x[(m * 8 + r) * A + a])
            value = value_of(result)
            if value and abs(value) >= 3:
                value = 3.0
            # f8e5m2 has two bits behind the leading one, half away from zero.
            if value:
                step = max(math.frexp(value)[1] - 3, -16)
                value = math.copysign(math.ldexp(math.floor(
                    abs(math.ldexp(value, -step)) + 0.5), step), value)
            expected.append(of(value))
    check("products", [(x, "<f4", (32, 8, A))], expected, "I")


folder.mkdir(exist_ok=True)
buckets()
exponents()
gelu()
complex_product()
requantise()
saturating_rows()
greatest_of_all()
reduce_scatter()
extremes()
fixed()
tiny()
mixed_pair()
fours()
lines()
relu6()
halves()
twos()
root_of_groups()
least_of_columns()
weighted_pairs()
turned()
products()
print(f"{checked} kernels agree with plain loops")
