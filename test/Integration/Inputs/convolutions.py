#!/usr/bin/env python3
"""Draws convolutions of random sizes, strides, dilations and zeros around, runs
them as tensor functions, as chains and as binaries, and compares with plain
loops over indices.

usage: convolutions.py RUN OPT FOLDER
"""

import itertools
import os
import random
import subprocess
import sys

import arrays

COUNT = 20


def draw(rng, number):
    """A kernel's text, its arguments' sizes and its loops."""
    kind, total, code = rng.choice((("i8", "i32", "i"), ("bf16", "f32", "f")))
    flit = {"i8": 32, "bf16": 16}[kind]
    axes = {"N": rng.choice((1, 2, 3)), "F": rng.choice((1, 5, 8, 24)),
            "C": rng.choice((flit, flit, 2 * flit, flit // 2, flit // 4, 5))}
    windows, source, rows, taps = [], ["N"], ["N"], []
    for i in range(rng.choice((1, 2, 2, 2, 3))):
        limit = 20 if i < 2 else 4
        size = rng.randint(1, limit)
        count, stride = rng.randint(1, 4), rng.choice((1, 1, 2, 3))
        dilation = rng.choice((1, 1, 2))
        start = -rng.choice((0, 0, 1, 2, 3))
        if rng.random() < 0.1:
            start = rng.randint(0, size - 1)
        end = rng.choice((0, 0, 1, 2))
        reach = (count - 1) * dilation + 1
        steps = max(1, (size + end - start - reach) // stride + 1)
        h, y, r = f"H{i}", f"Y{i}", f"R{i}"
        axes.update({h: size, y: steps, r: count})
        windows.append((h, y, stride, r, dilation, start))
        source.append(h)
        rows.append(y)
        taps.append(r)
    if rng.random() < 0.2:
        rng.shuffle(source)
    if rng.random() < 0.2:
        rng.shuffle(rows)
    over = taps + ["C"]
    weight = ["F"] + over
    if rng.random() < 0.3:
        weight = weight[:-1]
        rng.shuffle(weight)
        weight.append("C")
    source.append("C")
    text = f"#axes{number} = #tmap.axes<{', '.join(f'{n} = {s}' for n, s in axes.items())}>\n"
    for name, dtype, order in (("x", kind, source), ("v", kind, taps + rows + ["C"]),
                               ("w", kind, weight), ("s", total, rows + ["F"])):
        text += f"!{name}{number}_ = !tmap.tensor<{dtype}, \"{', '.join(order)}\", #axes{number}>\n"
    clause = ", ".join(f"{h} = {y} * {s} + {r} * {d} {'-' if b < 0 else '+'} {abs(b)}"
                       for h, y, s, r, d, b in windows)
    text += f"""func.func @k{number}(%x: !x{number}_, %w: !w{number}_) -> !s{number}_ attributes {{visa.kernel}} {{
  %v = tmap.window %x [{clause}] : !x{number}_ -> !v{number}_
  %s = tmap.contract %v, %w over [{', '.join(over)}] : !v{number}_, !w{number}_ -> !s{number}_
  return %s : !s{number}_
}}
"""

    def size_of(order):
        size = 1
        for axis in order:
            size *= axes[axis]
        return size

    def place(order, index):
        at = 0
        for axis in order:
            at = at * axes[axis] + index[axis]
        return at

    def loops(x, w):
        index, result = {}, []
        channels = axes["C"]
        for values in itertools.product(*(range(axes[a]) for a in rows + ["F"])):
            index.update(zip(rows + ["F"], values))
            total = 0
            for tap in itertools.product(*(range(axes[r]) for r in taps)):
                index.update(zip(taps, tap))
                inside = True
                for h, y, s, r, d, b in windows:
                    index[h] = index[y] * s + index[r] * d + b
                    inside &= 0 <= index[h] < axes[h]
                if not inside:
                    continue
                index["C"] = 0
                a, b = place(source, index), place(weight, index)
                total += sum(x[a + c] * w[b + c] for c in range(channels))
            result.append(total)
        return result

    products = size_of(rows) * size_of(over) * axes["F"]
    return text, code, size_of(source), size_of(weight), loops, products


run, opt, folder = sys.argv[1:4]
os.makedirs(folder, exist_ok=True)
rng = random.Random(11)
kernels = []
while len(kernels) < COUNT:
    kernel = draw(rng, len(kernels))
    if kernel[-1] < 400000:
        kernels.append(kernel)
read = 0
for number, (text, code, xs, ws, loops, _) in enumerate(kernels):
    path = os.path.join(folder, f"k{number}.mlir")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    chains = os.path.join(folder, f"chains{number}.mlir")
    subprocess.run([opt, path, "--convert-tmap-to-visa", "-o", chains],
                   check=True)
    with open(chains, encoding="utf-8") as file:
        read += " window [" in file.read()
    wanted = loops(arrays.small(1, xs), arrays.small(2, ws))
    for level in (path, chains):
        out = os.path.join(folder, f"k{number}.npy")
        subprocess.run([run, level, "--check", "small:1", "small:2", "--out",
                        "result0=" + out], check=True, stdout=subprocess.DEVNULL)
        found = list(arrays.load(out, code))
        assert found == wanted, (number, level)
print(f"{COUNT} convolutions, {read} read windows out of data memory")
