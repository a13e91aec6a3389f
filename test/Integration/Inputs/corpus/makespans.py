#!/usr/bin/env python3
"""Automatic kernels against those that are written by hand.

usage: makespans.py FOLDER

Compiles each function of FOLDER/tmap.mlir and holds its makespan against the
frozen one of FOLDER/makespans.json: none may be longer, and those marked
`better` must be shorter. Prints both; exit status 0 if and only if all hold.
"""

import json
import os
import re
import subprocess
import sys


def main():
    folder, = sys.argv[1:]
    with open(os.path.join(folder, "makespans.json"), encoding="utf-8") as file:
        frozen = json.load(file)["kernels"]
    text = subprocess.run(
        ["furiosa-opt-mlir", os.path.join(folder, "tmap.mlir"),
         "--furiosa-pipeline"], check=True, stdout=subprocess.PIPE,
        text=True).stdout
    found = {name: int(cycles) for name, cycles in re.findall(
        r"resource\.program @(\w+) .*?makespan (\d+)", text)}
    if set(found) != set(frozen):
        sys.exit(f"kernels differ: {sorted(set(found) ^ set(frozen))}")
    failed = False
    for name, row in frozen.items():
        limit = row["makespan"] - row.get("better", False)
        holds = found[name] <= limit
        failed |= not holds
        print(f"{name}: {found[name]} cycles, by hand {row['makespan']}: "
              f"{'holds' if holds else 'is too long'}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
