#!/usr/bin/env python3
"""Holds the cost model and the scheduler against published static schedules.

Each kernel of schedules.json is compiled; its commands are compared with the
published ones, line by line. Of a kernel that cannot be compiled, the
transfers alone are. transfers.json adds single transfers. Then

- rows of compute must lie within 5 %;
- the part of the faster side of a transfer that the slower one hides is fitted
  anew to two thirds of the transfers: it must be that of Machine.def, and the
  median error of the third that is held out at most 15 %;
- with the published cycles for its commands our queue must not end later.

usage: schedules.py BIN
"""

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

import kernels

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(sys.argv[1], "furiosa-opt-mlir")
TRANSFERS = ("DmaLoad", "DmaStore")


class Row:
    """A command with the published cycles and ours."""

    def __init__(self, kernel, command, published, instruction, hypothesis=""):
        self.name = f"{kernel}: {command}"
        self.published = published
        self.cycles = instruction["cost"]["cycles"]
        self.formula = instruction["cost"]["formula"]
        self.hypothesis = hypothesis

    def error(self, cycles=None):
        return (self.cycles if cycles is None else cycles) / self.published - 1

    def print(self, mark=""):
        print(f"  {self.name:<44} {self.published:>7} ours {self.cycles:>7} "
              f"{100 * self.error():>+6.1f} %  {mark}{self.formula}")


def compile_kernel(kernel):
    """The schedule, or the reason why there is none."""
    kernel = {"expect": {}, "results": [kernel["ops"][-1]["out"]], **kernel}
    try:
        text = kernels.Writer(kernel).text()
    except kernels.Skip as skip:
        return None, str(skip)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kernel.mlir")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        process = kernels.run([PROGRAM, "compile", path, "--no-cache", "-o",
                               os.path.join(folder, "kernel.edf"),
                               "--dump-schedule", path + ".json"])
        if process.returncode != 0:
            message = kernels.first_error(process.stderr)
            assert kernels.not_yet_supported(message), message
            return None, message
        with open(path + ".json", encoding="utf-8") as file:
            return json.load(file), ""


def transfers_only(kernel):
    """The kernel with each chain replaced by memory with undefined contents."""
    slices, ops, current = {}, [], None
    for op in kernel["ops"]:
        if op["op"].startswith("begin"):
            operands = op["in"] if isinstance(op["in"], list) else [op["in"]]
            current = slices[operands[0]]
        elif op["op"] in ("to_dm", "to_hbm"):
            ops.append(op)
            slices[op["out"]] = op.get("slice")
        elif op["op"] == "commit":
            ops.append({"op": "alloc", "tier": "dm", "dtype": "bf16",
                        "cluster": "1 # 2", "slice": current,
                        "element": op["element"], "out": op["out"]})
        else:
            current = op.get("slice", current)
    return {**kernel, "ops": ops}


def is_command(instruction):
    return instruction["tpe"] != "Core"


def match(kernel, schedule, types):
    """Rows: the n-th command of a type is the n-th of ours, since both begin
    in the order of the program where it matters."""
    rows = []
    for kind in types:
        theirs = [c for c in kernel["schedule"]["commands"] if c["type"] == kind]
        ours = sorted((i for i in schedule["instructions"] if i["tpe"] == kind),
                      key=lambda i: i["lifetime"]["begin"])
        assert len(theirs) == len(ours), (kernel["id"], kind)
        for their, our in zip(theirs, ours):
            rows.append((their, our, Row(kernel["id"], f"{kind} {their['index']}",
                                         their["end"] - their["begin"], our)))
    return rows


def replay(schedule, cycles):
    """End of our queue if its commands take other cycles: commands are issued
    in order, waits block, a transfer starts behind the one before."""
    entries = sorted([*schedule["waits"], *filter(is_command,
                                                  schedule["instructions"])],
                     key=lambda entry: int(entry["index"]))
    clock, end, transfers = 1003, {}, 0
    for entry in entries:
        if "instruction" in entry:
            clock = max(clock, end[entry["instruction"]])
            continue
        start = clock
        if entry["tpe"] in TRANSFERS:
            start = max(start, transfers)
        end[entry["index"]] = start + cycles[entry["index"]]
        if entry["tpe"] in TRANSFERS:
            transfers = end[entry["index"]]
    return max(end.values()) + 600


def load(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return json.load(file)


compute, moves = [], []
print("Schedules, with the published cycles for the commands:")
for kernel in load("schedules.json")["kernels"]:
    schedule, reason = compile_kernel(kernel)
    published = kernel["schedule"]["makespan"]
    if schedule is None:
        schedule, why = compile_kernel(transfers_only(kernel))
        assert schedule, why
        moves += [row for _, _, row in match(kernel, schedule, TRANSFERS)]
        print(f"  {kernel['id']:<20} {published:>7}, transfers only: {reason}")
        continue
    rows = match(kernel, schedule, (*TRANSFERS, "Main", "Sub"))
    compute += [row for their, _, row in rows if their["type"] not in TRANSFERS]
    moves += [row for their, _, row in rows if their["type"] in TRANSFERS]
    cycles = {our["index"]: row.published for _, our, row in rows}
    ours = replay(schedule, cycles)
    print(f"  {kernel['id']:<20} {published:>7} ours {ours:>7}")
    assert ours <= published, kernel["id"]
assert len(compute) >= 6

print("Compute:")
for row in compute:
    row.print()
    assert abs(row.error()) <= 0.05, row.name

for transfer in load("transfers.json")["transfers"]:
    kernel = {"id": transfer["id"], "axes": transfer["axes"],
              "args": [{"name": "a", "dtype": "bf16",
                        "element": transfer["hbm"]}],
              "ops": [{"op": "to_dm", "in": "a", "cluster": "1 # 2",
                       "slice": transfer["slice"],
                       "element": transfer["element"], "out": "d"},
                      {"op": "to_hbm", "in": "d", "element": transfer["hbm"],
                       "out": "o"}]}
    schedule, reason = compile_kernel(kernel)
    assert schedule, reason
    for kind, field in ("DmaLoad", "load"), ("DmaStore", "store"):
        if field in transfer:
            instruction, = (i for i in schedule["instructions"]
                            if i["tpe"] == kind)
            moves.append(Row(transfer["id"], kind, transfer[field], instruction,
                             transfer.get("hypothesis", "")))

for transfer in load("transfers.json")["descriptors"]:
    requests = transfer["bytes"] // 256
    read, write = round(requests / 32 * 16 / 3), requests // transfer["engines"]
    hidden = min(read, write) // 2
    moves.append(Row(transfer["id"], "DmaLoad", transfer["load"], {"cost": {
        "cycles": read + write - hidden + 500,
        "formula": f"read hbm {read} + write dm {write} - overlap {hidden} + "
                   "start 500"}}))

# Rows of the same cycles and formula are one row.
moves = list({(row.published, row.formula): row for row in moves}.values())
moves.sort(key=lambda row: (row.published, row.name))
# What has a hypothesis is known not to lie as we lay it.
known = [row for row in moves if not row.hypothesis]
held_out, fitted = known[1::3], [row for i, row in enumerate(known) if i % 3 != 1]


def cycles_with(row, overlap):
    """Cycles of a transfer with another part of the faster side hidden."""
    read, write, start = (int(re.search(pattern, row.formula).group(1))
                          for pattern in (r"read \w+ (\d+)", r"write \w+ (\d+)",
                                          r"start (\d+)"))
    return max(read, write) + min(read, write) * (100 - overlap) / 100 + start


def get_overlap(row):
    """The percentage in the formula of a row."""
    numbers = [int(re.search(pattern, row.formula).group(1)) for pattern in
               (r"read \w+ (\d+)", r"write \w+ (\d+)", r"overlap (\d+)")]
    return 100 * numbers[2] / min(numbers[:2])


print("Transfers, by published cycles; each third one is held out of the fit:")
for row in moves:
    row.print("held out  " if row in held_out else
              "" if row in known else "outlier   ")
fit = min(range(101), key=lambda overlap: sum(
    row.error(cycles_with(row, overlap)) ** 2 for row in fitted))
errors = [abs(row.error()) for row in moves]
held = [abs(row.error()) for row in held_out]
model = get_overlap(moves[-2])
print(f"overlap fitted to {len(fitted)} rows: {fit} %, in the model {model:.0f} %")
print(f"median error: all {100 * statistics.median(errors):.1f} %, "
      f"held out ({len(held)} rows) {100 * statistics.median(held):.1f} %")
for row in moves:
    if row.hypothesis:
        print(f"outlier: {row.name}: {row.hypothesis}")
    assert row.hypothesis or abs(row.error()) <= 0.15, row.name
# The squares are flat there: a fit to other rows moves by as much.
assert abs(fit - model) <= 10
assert statistics.median(errors) <= 0.15
assert statistics.median(held) <= 0.15
