#!/usr/bin/env python3
"""Large products against their lower bounds.

usage: large-gemm.py FILE.mlir

Each kernel must end within 10 % of the lower bound of its schedule, and keep
the multipliers of all lanes busy for a part of the time that is computed here
from the number of products: 512 slices of 8 lanes do 64 bytes each a cycle.
"""

import re
import subprocess
import sys

PRODUCTS = 2048 ** 3
CYCLES = {"bf16": PRODUCTS // (512 * 8 * 32), "i8": PRODUCTS // (512 * 8 * 64)}
LEAST = {"bf16": 0.60, "i8": 0.56}


def main():
    text = subprocess.run(
        ["furiosa-opt-mlir", sys.argv[1], "--furiosa-pipeline"], check=True,
        stdout=subprocess.PIPE, text=True).stdout
    rows = re.findall(r"resource\.program @(\w+) .*?makespan (\d+) "
                      r"lower_bound (\d+)", text)
    assert {name for name, _, _ in rows} == set(CYCLES), rows
    for name, makespan, bound in rows:
        used = CYCLES[name] / int(makespan)
        assert int(makespan) <= 1.1 * int(bound), (name, makespan, bound)
        assert used >= LEAST[name], (name, used)
        print(f"{name}: {makespan} cycles, lower bound {bound}, "
              f"multipliers {used:.1%}")


if __name__ == "__main__":
    main()
