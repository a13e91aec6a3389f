#!/usr/bin/env python3
"""Draws kernels that fetch windows of what a slice holds, runs them in both
semantics and compares with plain loops over indices.

usage: fetch-windows.py RUN FOLDER
"""

import itertools
import os
import random
import subprocess
import sys

import arrays

COUNT = 24


def draw(rng, number):
    """A kernel's text, and where each element of the result comes from."""
    cells = rng.choice((2, 4, 6, 8, 16))
    batch = rng.choice((1, 3, 64))
    axes = [("N", batch), ("C", cells)]
    windows, stored, streamed = [], ["C"], []
    for i in range(rng.randint(1, 2)):
        terms, reach = [], rng.randint(0, 2)
        start = reach
        for letter in "PR" if rng.random() < 0.8 else "PRS":
            size, factor = rng.randint(1, 5), rng.randint(1, 3)
            name, digit = f"{letter}{i}", f"{letter}{i}"
            whole = size
            if letter == "P" and size > 1 and rng.random() < 0.3:
                # The slices, or nothing, hold the rest of the axis.
                whole = 2 * size
                digit = f"{name} % {size}"
            axes.append((name, whole))
            terms.append((digit, name, size, factor))
            reach += (size - 1) * factor
        rows = reach + 1 + rng.randint(0, 2)
        axes.append((f"Y{i}", rows))
        windows.append((f"Y{i}", terms, start))
        stored.insert(rng.randint(0, len(stored) - 1), f"Y{i}")
        streamed += [term[0] for term in terms]
    rng.shuffle(streamed)
    order = list(streamed)
    rng.shuffle(order)
    sizes = dict(axes)
    size_of = {digit: size for _, terms, _ in windows
               for digit, _, size, _ in terms}
    place = "N # 256" if batch > 1 else "1 # 256"
    lead = "N, " if batch > 1 else ""
    clause = ", ".join(
        f"{axis} = " + " + ".join(
            f'"{digit}"' + (f" * {factor}" if factor > 1 else "")
            for digit, _, _, factor in terms) + (f" + {start}" if start else "")
        for axis, terms, start in windows)
    flit = cells if cells >= 8 else 8
    packet = "C" if cells == flit else f"C # {flit}"
    collected = list(streamed)
    if cells == 16:
        collected.append("C / 8")
        packet = "C % 8"
    trim = packet.split(" #")[0]
    text = f"""#axes{number} = #tmap.axes<{", ".join(f"{n} = {s}" for n, s in axes)}>
!h{number}_ = !visa.hbm<i32, element "{lead}{", ".join(stored)}", #axes{number}>
!d{number}_ = !visa.dm<i32, slice "{place}", element "{", ".join(stored)}", #axes{number}>
!o{number}_ = !visa.dm<i32, slice "{place}", element "{", ".join(order)}, C", #axes{number}>
!r{number}_ = !visa.hbm<i32, element "{lead}{", ".join(order)}, C", #axes{number}>
func.func @k{number}(%h: !h{number}_) -> !r{number}_ attributes {{visa.kernel}} {{
  %d = visa.to_dm %h : !h{number}_ -> !d{number}_
  %o = visa.chain {rng.choice(("main", "sub"))} -> !o{number}_ {{
    fetch %d window [{clause}] time "{", ".join(streamed)}" packet "C" : !d{number}_
    collect time "{", ".join(collected)}" packet "{packet}"
    commit_trim packet "{trim}"
    commit element "{", ".join(order)}, C"
  }}
  %r = visa.to_hbm %o : !o{number}_ -> !r{number}_
  return %r : !r{number}_
}}
"""
    # Places in the argument, in the order of the result.
    row_of = {digit: (axis, factor) for axis, terms, _ in windows
              for digit, _, _, factor in terms}
    places = []
    for n in range(batch):
        for values in itertools.product(*(range(size_of[d]) for d in order)):
            rows = {axis: start for axis, _, start in windows}
            for digit, value in zip(order, values):
                axis, factor = row_of[digit]
                rows[axis] += value * factor
            for c in range(cells):
                rows["C"] = c
                place = n
                for axis in stored:
                    place = place * sizes[axis] + rows[axis]
                places.append(place)
    total = batch
    for axis in stored:
        total *= sizes[axis]
    return text, places, total


folder = sys.argv[2]
os.makedirs(folder, exist_ok=True)
rng = random.Random(10)
kernels = [draw(rng, number) for number in range(COUNT)]
path = os.path.join(folder, "kernels.mlir")
with open(path, "w", encoding="utf-8") as file:
    file.write("\n".join(text for text, _, _ in kernels))
compared = 0
for number, (_, places, total) in enumerate(kernels):
    out = os.path.join(folder, f"k{number}.npy")
    subprocess.run([sys.argv[1], path, "--kernel", f"k{number}", "--check",
                    "small:1", "--out", "result0=" + out],
                   check=True, stdout=subprocess.DEVNULL)
    given, found = arrays.small(1, total), arrays.load(out, "i")
    assert list(found) == [given[place] for place in places], number
    compared += len(places)
assert compared > 10000
print(f"{COUNT} kernels")
